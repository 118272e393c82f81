"""How an audit is made: everything but the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import Any, Literal, get_args

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..inference.match import Null
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..tabulate import plain

__all__ = ["METRICS", "Adjust", "Settings"]

METRICS = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")
_WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")

Adjust = Literal["holm", "bh", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `audit` and `audit_counts` take beside the data.

    Parameters
    ----------
    metrics : names of metrics
        Any of the catalogue; by default ppr, tpr, fpr, ppv, npv, acc, f1 and prev.
    reference : "rest", "all", the name of a group, a ConfusionMatrix, or a mapping of group column to one of these
        Whom each group is compared with; by default all cases outside it.
    level : float
        Of the intervals.
    alpha : float
        At which a difference counts as found.
    adjust : {"holm", "bh", "none"}
        How p-values are adjusted over the groups that a metric is tested in.
    null, mid_p
        As for `match_test`.
    strength : float or "auto"
        Of Cross-Prior Smoothing.
    detect : float
        A group that would miss a difference of this size more often than not is too small to tell. Of a metric that has
        no upper end, such as a likelihood ratio, it is that share of the reference's score, if this is above 1.
    replace_undefined_by : float
        A number in place of scores that do not exist, for those who must have one; status and verdict stay.
    intersections : bool
        Whether several group columns are crossed too.
    max_groups : int
        More groups than this are refused.
    """

    metrics: Any = None
    reference: Any = "rest"
    level: float = 0.95
    alpha: float = 0.05
    adjust: Adjust = "holm"
    null: Null = "pooled"
    mid_p: bool = False
    strength: Any = 10.0
    detect: float = 0.1
    replace_undefined_by: float | None = None
    intersections: bool = True
    max_groups: int = 1_000

    def __post_init__(self) -> None:
        for what, known in (("adjust", Adjust), ("null", Null)):
            if getattr(self, what) not in get_args(known):
                raise UnknownName.among(what, getattr(self, what), get_args(known))
        for what in ("level", "alpha"):
            if not 0 < getattr(self, what) < 1:
                raise InvalidInput(f"{what} must lie between 0 and 1; got {getattr(self, what)!r}")
        if not 0 < self.detect < inf:
            raise InvalidInput(f"detect must be a difference of scores above 0; got {self.detect!r}")
        if self.replace_undefined_by is not None and not isfinite(self.replace_undefined_by):
            raise InvalidInput(f"replace_undefined_by must be a finite number; got {self.replace_undefined_by!r}")

    @classmethod
    def named(cls, given: Mapping[str, Any]) -> Settings:
        """Settings by their names; a name that is none is refused with the nearest ones."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownName.among("setting of an audit", name, known)
        return cls(**given)

    def chosen(self, labelled: bool) -> list[Metric]:
        """The metrics, each once."""
        names = self.metrics
        if names is None:
            names = METRICS if labelled else ("ppr",)
        elif isinstance(names, (str, Metric)):
            names = [names]
        found = list(dict.fromkeys(find_metric(name) for name in names))
        if not found:
            raise InvalidInput("metrics must name at least one metric")
        refused = [] if labelled else [m.key for m in found if m.key not in _WITHOUT_LABELS]
        if refused:
            raise InvalidInput(
                f"{refused[0]} needs labels (y_true); without them only {', '.join(_WITHOUT_LABELS)} can be audited"
            )
        return found

    def recorded(self, labelled: bool) -> dict[str, Any]:
        """The settings as an audit records them, fit for JSON."""
        found = {f.name: plain(getattr(self, f.name)) for f in fields(self)}
        found["metrics"] = [m.key for m in self.chosen(labelled)]
        found["reference"] = _described(self.reference)
        return found


def _described(reference: Any) -> Any:
    if isinstance(reference, ConfusionMatrix):
        return "tp {}, fn {}, fp {}, tn {}".format(*reference.cells)
    if isinstance(reference, Mapping):
        return {str(by): _described(value) for by, value in reference.items()}
    return str(reference)
