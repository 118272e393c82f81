"""The settings of an audit: everything except the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite
from numbers import Real
from typing import Any, Literal, get_args

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..inference import NullName, Strength, Test, as_strength
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..tabulate import plain
from .groups import ReferenceKind

__all__ = ["METRICS", "Adjust", "Family", "Favourable", "Settings"]

METRICS = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")
_WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")

Adjust = Literal["holm", "bh", "none"]
Family = Literal["metric", "audit"]
Favourable = Literal["positive", "negative"]
_CHOICES = {"adjust": Adjust, "family": Family, "test": Test, "null": NullName, "favourable": Favourable}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of `audit` and `audit_counts`, with the same names and defaults.

    Parameters
    ----------
    metrics, reference, level, alpha, adjust, family, margin, test, mid_p, null, strength, favourable, impact_share
        As for `audit`.
    replace_undefined_by, intersections, max_groups
        As for `audit`.

    Examples
    --------
    >>> settings = Settings(metrics=["tpr", "fpr"], alpha=0.01)
    >>> settings.alpha, settings.adjust
    (0.01, 'holm')
    """

    metrics: Sequence[str | Metric] | str | Metric | None = None
    reference: str | ConfusionMatrix | Mapping[str, Any] = ReferenceKind.REST
    level: float = 0.95
    alpha: float = 0.05
    adjust: Adjust = "holm"
    family: Family = "metric"
    margin: float = 0.1
    test: Test = "fisher"
    mid_p: bool = False
    null: NullName = "pooled"
    strength: Strength = 10.0
    favourable: Favourable = "positive"
    impact_share: float = 0.02
    replace_undefined_by: float | None = None
    intersections: bool = True
    max_groups: int = 1_000

    def __post_init__(self) -> None:
        for what, known in _CHOICES.items():
            if not isinstance(getattr(self, what), str) or getattr(self, what) not in get_args(known):
                raise UnknownName.among(what, getattr(self, what), get_args(known))
        for what, low, high in (("level", 0, 1), ("alpha", 0, 1), ("margin", 0, inf)):
            value = getattr(self, what)
            if not _is_number(value) or not low < value < high:
                between = "between 0 and 1" if high == 1 else "above 0"
                raise InvalidInput(f"{what} must be a number {between}; got {value!r}")
        if not _is_number(self.impact_share) or not 0 <= self.impact_share < 1:
            raise InvalidInput(f"impact_share must be a number from 0 to below 1; got {self.impact_share!r}")
        replaced = self.replace_undefined_by
        if replaced is not None and not (_is_number(replaced) and isfinite(replaced)):
            raise InvalidInput(f"replace_undefined_by must be a finite number; got {replaced!r}")
        # Checked before any work is done; "auto" is learnt later.
        as_strength(self.strength)
        if not _is_number(self.max_groups) or not self.max_groups > 0:
            raise InvalidInput(f"max_groups must be a number above 0; got {self.max_groups!r}")

    def chosen(self, labelled: bool) -> list[Metric]:
        """The metrics, without duplicates.

        Parameters
        ----------
        labelled : bool
            Whether there are labels.

        Returns
        -------
        list of Metric
            The metrics.

        Examples
        --------
        >>> [m.key for m in Settings(metrics=["tpr", "recall", "fpr"]).chosen(labelled=True)]
        ['tpr', 'fpr']
        """
        names = self.metrics
        if names is None:
            names = METRICS if labelled else ("ppr",)
        elif isinstance(names, (str, Metric)):
            names = [names]
        if isinstance(names, Mapping) or not isinstance(names, Sequence):
            raise InvalidInput(f"metrics must be a list of metrics, such as ['tpr', 'ppv']; got {names!r}")
        metrics = list(dict.fromkeys(find_metric(name) for name in names))
        if not metrics:
            raise InvalidInput("metrics must contain at least one metric")
        for m in metrics:
            if not _is_known(m):
                raise InvalidInput(
                    f"{m.key!r} is not a metric of the catalogue, by which rows, reports and saved audits know "
                    "metrics; CONTRIBUTING.md says how to add it"
                )
        refused = [] if labelled else [m.key for m in metrics if m.key not in _WITHOUT_LABELS]
        if refused:
            raise InvalidInput(
                f"{refused[0]} needs labels (y_true); without them only {', '.join(_WITHOUT_LABELS)} can be audited"
            )
        return metrics

    def recorded(self, labelled: bool) -> dict[str, Any]:
        """The settings as an audit records them, as plain values that can be written as JSON.

        Parameters
        ----------
        labelled : bool
            Whether there are labels.

        Returns
        -------
        dict
            The values by name.

        Examples
        --------
        >>> Settings(metrics="recall").recorded(labelled=True)["metrics"]
        ['tpr']
        """
        values = {f.name: plain(getattr(self, f.name)) for f in fields(self)}
        values["metrics"] = [m.key for m in self.chosen(labelled)]
        values["reference"] = _described(self.reference)
        return values


def _is_known(m: Metric) -> bool:
    """Whether the metric is the one that is found by its key."""
    try:
        return find_metric(m.key) == m
    except UnknownName:
        return False


def _is_number(value: Any) -> bool:
    """Whether it is a number that a float can represent."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _described(reference: Any) -> Any:
    if isinstance(reference, ConfusionMatrix):
        return "tp {}, fn {}, fp {}, tn {}".format(*reference.cells)
    if isinstance(reference, Mapping):
        return {str(by): _described(value) for by, value in reference.items()}
    return str(reference)
