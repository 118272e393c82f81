"""One row of an audit: everything about one group and one metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import log
from typing import Any, ClassVar

from ..cells import CELLS
from ..errors import InvalidInput, printable
from ..metrics import metric as find_metric
from ..records import Record
from .settings import ReferenceKind
from .verdict import Verdict

__all__ = ["Row", "Sketch", "check_types", "labels"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sketch(Record):
    """A distribution as a few bars, for a small picture.

    Attributes
    ----------
    of : {"null", "gap"}
        The distribution of the score under the null, or the posterior of the gap.
    low, high : float
        The range of the bars.
    heights : tuple of int
        The heights of the bars, from 0 to 99.
    at : float
        The observed score, or the value that means no gap.
    """

    of: str
    low: float
    high: float
    heights: tuple[int, ...]
    at: float

    def __str__(self) -> str:
        return f"{self.of}, {self.low:.3g} to {self.high:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row(Record):
    """The results of an audit for one group and one metric; missing values are None, never 0 or nan.

    Attributes
    ----------
    by, group : str
        The column that the group comes from, and its value there.
    metric : str
        The key of the metric.
    verdict : Verdict
        Higher, lower, alike, too few to tell, undefined or reference. Each can be checked from the row.
    n, tp, fn, fp, tn : int
        The group's number of cases and its cells; cells are None in an audit without labels.
    numerator, denominator, basis : int
        The counts that are divided, if the score is a quotient of counts, and the number of cases it is based on.
    score, low, high : float
        The score and its interval. An undefined score has an interval too, which mostly reflects the prior.
    reason : str
        Why the verdict is "undefined": the score of the group or of the reference is.
    reference_kind, reference : str
        The kind of reference (rest, all, group or matrix) and its name.
    reference_n, reference_tp, reference_fn, reference_fp, reference_tn, reference_score
        The reference's number of cases, its cells and its score.
    difference, difference_low, difference_high, ratio, ratio_low, ratio_high : float
        The group's score minus the reference's, and divided by it. Unbounded scores have an interval of the ratio, all
        others of the difference.
    pvalue, p_adjusted : float
        The p-value of the test that the two true scores are equal, and that adjusted for multiple comparisons.
    test : str
        The test: ``"fisher"``, ``"unconditional"``, ``"posterior"`` (approximate) or ``"match"``.
    percentile : float
        The share of groups drawn like the reference that score this or lower (MATCH test). It is not computed for
        scores made of several rates if there are more than a million cases.
    p_undefined : float
        The probability of an undefined score for a group of this size drawn like the reference.
    needed : int
        If there are too few to tell: the number of cases behind the score, to compare with ``basis``, with which a true
        gap of ``margin`` to the cases that the group is tested against (for ratios, a factor of 1.25) would be found,
        in its direction, with a probability of at least 0.8, whatever the other comparisons show. It is exact for
        Fisher's test. None for scores made of several rates, and if the reference is too small for any number to be
        enough.
    smoothed, strength, strength_tpr, strength_fpr, shrinkage : float
        The score after Cross-Prior Smoothing, the strength (if there is one per split: those of prevalence, TPR and
        FPR), and the share of an expected gap that remains, if known.
    impact_ratio, impact_low, impact_high, impact_group, impact_n
        For the predicted positive rate: the ratio of the rate of the favourable outcome to the highest one among groups
        with enough cases, its interval, and the group with that rate and its size.
    driver, without_verdict, without_difference, without_low, without_high
        If the verdict against the rest changes without the most influential other group: that group, and the verdict
        and the gap without it.
    sketch : Sketch
        The distribution behind the p-value.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> row = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
    >>> row.group, row.score, row.reference_score, row.basis, row.verdict.value
    ('A', 0.0, 0.75, 2, 'too few to tell')
    """

    by: str
    group: str
    metric: str
    verdict: Verdict
    n: int
    tp: int | None
    fn: int | None
    fp: int | None
    tn: int | None
    numerator: int | None
    denominator: int | None
    basis: int
    score: float | None
    low: float | None
    high: float | None
    reason: str | None
    reference_kind: ReferenceKind
    reference: str
    reference_n: int
    reference_tp: int | None
    reference_fn: int | None
    reference_fp: int | None
    reference_tn: int | None
    reference_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    pvalue: float | None
    p_adjusted: float | None
    test: str | None
    percentile: float | None
    p_undefined: float | None
    needed: int | None
    smoothed: float | None
    strength: float | None
    strength_tpr: float | None
    strength_fpr: float | None
    shrinkage: float | None
    impact_ratio: float | None
    impact_low: float | None
    impact_high: float | None
    impact_group: str | None
    impact_n: int | None
    driver: str | None
    without_verdict: Verdict | None
    without_difference: float | None
    without_low: float | None
    without_high: float | None
    sketch: Sketch | None

    columns: ClassVar[tuple[str, ...]]

    @property
    def differs(self) -> bool:
        """Whether the verdict is higher or lower.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 20, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0].differs
        True
        """
        return self.verdict.differs

    @property
    def gap(self) -> tuple[float, float] | None:
        """The interval of the gap, on a scale on which 0 means no gap: the logarithm for ratios.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> row = audit_counts({"A": (0, 20, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
        >>> row.gap == (row.difference_low, row.difference_high)
        True
        """
        m = find_metric(self.metric)
        if m.comparisons and self.low is not None and self.high is not None:
            return (_log(self.low), _log(self.high)) if m.kind == "ratio" else (self.low, self.high)
        if self.ratio_low is not None and self.ratio_high is not None:
            return _log(self.ratio_low), _log(self.ratio_high)
        if self.difference_low is not None and self.difference_high is not None:
            return self.difference_low, self.difference_high
        return None

    @property
    def sure_gap(self) -> float:
        """The size of the gap that is certain: the end of its interval closest to 0, or 0 if the interval contains 0.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> row = audit_counts({"A": (0, 20, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
        >>> row.sure_gap == -row.difference_high
        True
        """
        gap = self.gap
        return 0.0 if gap is None or gap[0] <= 0 <= gap[1] else min(abs(gap[0]), abs(gap[1]))

    @property
    def lacks_own_score(self) -> bool:
        """Whether it is the group, and not only the reference, that has no score.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> rows = audit_counts({"A": (3, 0, 0, 997), "B": (0, 0, 0, 8)}, metrics="tpr").rows
        >>> [(row.group, row.lacks_own_score) for row in rows]
        [('A', False), ('B', True)]
        """
        return self.reason is not None and not self.reason.startswith(("the reference's", "in the reference"))

    @property
    def status(self) -> str:
        """``ok``, or ``undefined:`` and the reason.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0].status
        'undefined: no actual positives (TP + FN = 0)'
        """
        return "ok" if self.reason is None else f"undefined: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values that can be written as JSON.

        Returns
        -------
        dict
            The values by name.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> row = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
        >>> row.to_dict()["verdict"]
        'too few to tell'
        """
        return Record.to_dict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Row:
        """Create a row from the result of `to_dict`.

        Parameters
        ----------
        values : mapping
            The values by name.

        Returns
        -------
        Row
            The row.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> row = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
        >>> Row.from_dict(row.to_dict()) == row
        True
        """
        return cls.checked(values, "a row")

    @classmethod
    def checked(cls, values: Any, what: str) -> Row:
        """The row that `to_dict` gave; ``what`` is it in error messages."""
        names = {f.name for f in fields(cls)}
        if not isinstance(values, Mapping) or set(values) != names:
            odd = sorted(set(values) ^ names)[0] if isinstance(values, Mapping) else "all of it"
            raise InvalidInput(f"a row must have the fields {', '.join(cls.columns)}; missing or unknown: {odd}")
        check_types(cls, values, what)
        find_metric(values["metric"])
        for n, cells in (("n", CELLS), ("reference_n", tuple(f"reference_{cell}" for cell in CELLS))):
            counts = [values[cell] for cell in cells]
            if None not in counts and sum(counts) != values[n]:
                raise InvalidInput(f"{what} has {n} = {values[n]}, but its cells add up to {sum(counts)}")
        sketch, without = values["sketch"], values["without_verdict"]
        if sketch is not None:
            check_types(Sketch, sketch, f"the sketch of {what}")
            if sketch["of"] not in ("null", "gap") or any(height > 99 for height in sketch["heights"]):
                raise InvalidInput(f"the sketch of {what} must have heights from 0 to 99, of null or gap")
        if (values["strength_tpr"] is None) != (values["strength_fpr"] is None):
            raise InvalidInput(f"{what} must have both strength_tpr and strength_fpr, or neither")
        return cls(
            **{
                **values,
                "verdict": Verdict(values["verdict"]),  # type: ignore[call-arg]
                "reference_kind": ReferenceKind(values["reference_kind"]),
                "without_verdict": Verdict(without) if without else None,  # type: ignore[call-arg]
                "sketch": Sketch(**{**sketch, "heights": tuple(sketch["heights"])}) if sketch else None,
            }
        )

    def __str__(self) -> str:
        score = "undefined" if self.score is None else f"{self.score:.3f}"
        return printable(f"{self.by} {self.group}, {self.metric} {score}: {self.verdict}")


_LARGEST = 1e300
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "None": (type(None),),
    "Verdict": (str,),
    "ReferenceKind": (str,),
    "Severity": (str,),
    "Sketch": (Mapping,),
    "Average": (str,),
    "Method": (str,),
}


def check_types(cls: type, values: Any, what: str) -> None:
    """Check values read from JSON against the fields of a dataclass; ``what`` is their owner in error messages."""
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{what} must be a table; got {values!r}")
    for f in fields(cls):
        if f.name not in values:
            raise InvalidInput(f"{what} must have the field {f.name}")
        value: Any = values[f.name]
        if not _fits(value, str(f.type)):
            raise InvalidInput(f"{f.name} of {what} must be {f.type}; got {value!r}")
        if str(f.type).startswith("int") and value is not None and value < 0:
            raise InvalidInput(f"{f.name} of {what} must not be negative; got {value}")
        if isinstance(value, (int, float)) and not -_LARGEST <= value <= _LARGEST:
            raise InvalidInput(f"{f.name} of {what} must be a number from -1e300 to 1e300; got {str(value)[:20]}")


def _fits(value: Any, annotation: str) -> bool:
    if annotation == "Any":
        return True
    if annotation.startswith("dict["):
        return isinstance(value, Mapping)
    if annotation.startswith("tuple["):
        inside = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return isinstance(value, (list, tuple)) and all(_fits(item, inside) for item in value)
    kinds = [kind for part in annotation.split(" | ") for kind in _TYPES[part]]
    return not isinstance(value, bool) and any(isinstance(value, kind) for kind in kinds)


Row.columns = tuple(f.name for f in fields(Row) if f.name != "sketch")


def _log(ratio: float) -> float:
    return log(max(ratio, 1e-300))


def labels(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """The label of each group, by column and name; it includes the column if a name occurs in several."""
    columns: dict[str, set[str]] = {}
    for row in rows:
        columns.setdefault(row.group, set()).add(row.by)
    return {
        (by, group): f"{by}: {group}" if len(several) > 1 else group
        for group, several in columns.items()
        for by in several
    }
