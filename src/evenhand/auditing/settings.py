"""The settings of an audit: everything except the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from math import inf, isfinite
from numbers import Real
from typing import Any, Literal, get_args

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..inference import NullName, Strength, Test, as_strength
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..tabulate import plain

__all__ = [
    "METRICS",
    "MISSING",
    "WITHOUT_LABELS",
    "Adjust",
    "Chosen",
    "Family",
    "Favourable",
    "Labels",
    "Reference",
    "ReferenceKind",
    "Selection",
    "Settings",
    "code_text",
]

MISSING = "(missing)"
"""The name of the group of those without a value."""
METRICS = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")
WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")

Adjust = Literal["holm", "bh", "none"]
Family = Literal["metric", "audit"]
Favourable = Literal["positive", "negative"]
Selection = Literal["labelled", "all"]
Reference = str | ConfusionMatrix | Mapping[Any, Any]
Labels = Mapping[str, Mapping[Any, str]]
_CHOICES = {
    "adjust": Adjust,
    "family": Family,
    "test": Test,
    "null": NullName,
    "favourable": Favourable,
    "selection": Selection,
}


class ReferenceKind(StrEnum):
    """What a group is compared with."""

    REST = "rest"
    ALL = "all"
    GROUP = "group"
    MATRIX = "matrix"


class Chosen(StrEnum):
    """A reference group that the data choose."""

    LARGEST = "largest"
    BEST = "best"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of `audit` and `audit_counts`, with the same names and defaults.

    Parameters
    ----------
    metrics, reference, level, alpha, adjust, family, margin, test, mid_p, null, strength, favourable, impact_share
        As for `audit`.
    replace_undefined_by, crossings, labels, selection, max_groups, title, system, author
        As for `audit`.

    Examples
    --------
    >>> settings = Settings(metrics=["tpr", "fpr"], alpha=0.01)
    >>> settings.alpha, settings.adjust
    (0.01, 'holm')
    """

    metrics: Sequence[str | Metric] | str | Metric | None = None
    reference: Reference = ReferenceKind.REST
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
    crossings: int | str = 2
    labels: Labels | None = None
    selection: Selection = "labelled"
    max_groups: int = 1_000
    title: str | None = None
    system: str | None = None
    author: str | None = None

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
        if not _is_number(self.max_groups) or not self.max_groups > 0 or self.max_groups != int(self.max_groups):
            raise InvalidInput(f"max_groups must be a whole number above 0; got {self.max_groups!r}")
        whole = type(self.crossings) is int and self.crossings > 0
        if not whole and self.crossings != "all":
            raise InvalidInput(f"crossings must be 1, 2, 3, … or 'all'; got {self.crossings!r}")
        for what in ("title", "system", "author"):
            if not isinstance(getattr(self, what), str | None):
                raise InvalidInput(f"{what} must be text; got {getattr(self, what)!r}")
        _check_labels(self.labels)
        _check_reference(self.reference)

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """The names of groups by column and by the text of the value.

        Examples
        --------
        >>> Settings(labels={"RAC1P": {1: "White"}}).names
        {'RAC1P': {'1': 'White'}}
        """
        given = self.labels or {}
        return {str(by): {code_text(code): name for code, name in names.items()} for by, names in given.items()}

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
        for name in names if isinstance(names, (list, tuple, set, frozenset)) else [names]:
            if callable(name) and not isinstance(name, Metric):
                raise InvalidInput(
                    "metrics must be names of metrics; pass a function of labels and predictions to audit_callable, "
                    "which compares groups by permutation"
                )
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
        refused = [] if labelled else [m.key for m in metrics if m.key not in WITHOUT_LABELS]
        if refused:
            raise InvalidInput(
                f"{refused[0]} needs labels (y_true); without them only {', '.join(WITHOUT_LABELS)} can be audited"
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
        values["labels"] = self.names
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


def code_text(code: Any) -> str:
    """The text by which a value of a group column is known: 1 and 1.0 are the same value."""
    return MISSING if plain(code) is None else str(plain(code))


def _check_reference(reference: Any) -> None:
    if isinstance(reference, Mapping):
        for one in reference.values():
            _check_reference(one)
    elif not isinstance(reference, (str, Real, bool, ConfusionMatrix, tuple, list)):
        raise InvalidInput(
            "reference must be 'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix, or a mapping of column to "
            f"one of these; got {reference!r}"
        )


def _check_labels(labels: Any) -> None:
    given = labels if labels is not None else {}
    if not isinstance(given, Mapping) or not all(isinstance(names, Mapping) for names in given.values()):
        raise InvalidInput(
            f"labels must map group columns to the names of their values, as {{'race': {{1: 'White'}}}}; got {labels!r}"
        )
    for by, names in given.items():
        for code, name in names.items():
            if not isinstance(name, str) or not name.strip():
                raise InvalidInput(f"the name of {code!r} in labels of {by!r} must be text; got {name!r}")
        if len({code_text(code) for code in names}) < len(names):
            raise InvalidInput(f"labels of {by!r} must name each value once; got {dict(names)!r}")


def _described(reference: Any) -> Any:
    """A reference as JSON can hold it: text, four cells, or a table of these by column."""
    if isinstance(reference, ConfusionMatrix):
        return [int(cell) if cell == int(cell) else cell for cell in reference.cells]
    if isinstance(reference, Mapping):
        return {_joined(by): _described(value) for by, value in reference.items()}
    return _joined(reference)


def _joined(name: Any) -> str:
    return " & ".join(map(str, name)) if isinstance(name, (tuple, list)) else str(name)
