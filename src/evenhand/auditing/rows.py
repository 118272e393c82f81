"""One row of an audit: everything about one group and one metric at one place on the axes.

A row is small and nested: the group's score, its reference, the gap between them, and the test of the gap. Missing
values are None, never 0 or nan. `Row.flat` gives the same as one level of columns, for frames and CSV files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import inf, log
from typing import Any, Literal, Protocol

from ..confusion import CELLS
from ..errors import InvalidInput, printable
from ..inference import FOUR_FIFTHS
from ..records import Record, plain_value, read_record
from ..wording import Few, legible, number, numbered, pvalue, several, span_text
from .settings import ReferenceKind
from .verdict import Verdict

__all__ = [
    "COLUMNS",
    "Asks",
    "Driver",
    "Estimate",
    "Gap",
    "GapKind",
    "Impact",
    "Place",
    "Reference",
    "Row",
    "SmoothedScore",
    "Strata",
    "Test",
    "Unknown",
    "in_few_digits",
    "place_text",
    "read_row",
    "shown_names",
    "told_apart",
]

GapKind = Literal["difference", "ratio", "odds ratio"]
Asks = Literal["equal scores", "drawn alike"]
Place = dict[str, Any]
"""Where a row is on the axes: its threshold, class, stratum or models, by the name of the axis; empty without axes."""

_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate(Record):
    """A score and its interval.

    Attributes
    ----------
    value, low, high : float or None
        The score, and the ends of its interval. An undefined score may have an interval, which mostly reflects the
        prior.
    pvalue : float or None
        In comparisons of models, where the score is a change: the p-value of the test that it is 0.
    before : float or None
        In comparisons of models: the score that it is the change from.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0].score)
    0.000, interval 0.000 to 0.776
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    before: float | None = None

    @property
    def after(self) -> float | None:
        """In comparisons of models: the score that it is the change to.

        Examples
        --------
        >>> Estimate(value=0.25, before=0.5).after
        0.75
        """
        return None if self.value is None or self.before is None else self.before + self.value

    def __str__(self) -> str:
        text = "undefined" if self.value is None else number(self.value)
        return text if self.low is None and self.high is None else f"{text}, interval {span_text(self.low, self.high)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Reference(Record):
    """What a group is compared with.

    Attributes
    ----------
    kind : ReferenceKind
        All cases outside the group ("rest"), all cases ("all"), another group ("group") or given counts ("matrix").
    name : str
        The name of the group, or the kind.
    n : int
        The number of cases.
    cells : tuple of int or None
        Its cells in the order tp, fn, fp, tn; None if there are no labels, or more than two classes.
    score : float or None
        Its score or, in comparisons of models, the change of its score.
    before : float or None
        In comparisons of models: the score that it is the change from.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0].reference)
    rest of 1,000 cases, score 0.750
    """

    kind: ReferenceKind
    name: str
    n: int
    cells: tuple[int, int, int, int] | None
    score: float | None
    before: float | None = None

    @property
    def after(self) -> float | None:
        """In comparisons of models: the score that it is the change to.

        Examples
        --------
        >>> from evenhand.auditing.settings import ReferenceKind
        >>> Reference(kind=ReferenceKind.REST, name="rest", n=8, cells=None, score=0.25, before=0.5).after
        0.75
        """
        return None if self.score is None or self.before is None else self.before + self.score

    def __str__(self) -> str:
        return printable(f"{self.name} of {several(self.n, 'case')}, score {number(self.score)}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Gap(Record):
    """The group's score against the reference's.

    Attributes
    ----------
    kind : {"difference", "ratio", "odds ratio"}
        What ``value``, ``low`` and ``high`` are. Unbounded scores, such as likelihood ratios, are compared by their
        ratio, rates pooled over strata by their odds ratio, and all others by their difference. A metric of two groups
        is a gap itself.
    value, low, high : float or None
        The gap and its interval.
    difference, ratio : float or None
        The group's score minus the reference's, and divided by it, whatever the kind.
    at_least, at_most : float or None
        If the verdict is higher or lower: bounds of the size of the gap, a difference or a factor above 1. They hold
        for all comparisons of the audit together, whatever their verdicts. None where no bound is left.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0].gap)
    difference -0.750, interval -0.792 to 0.095
    """

    kind: GapKind
    value: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def is_ratio(self) -> bool:
        """Whether 1 rather than 0 means no gap.

        Examples
        --------
        >>> Gap(kind="odds ratio").is_ratio
        True
        """
        return self.kind != "difference"

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the interval on a scale on which 0 means no gap: logarithms of ratios. None if there is none.

        Examples
        --------
        >>> Gap(kind="difference", low=-0.1, high=0.2).ends
        (-0.1, 0.2)
        """
        if self.low is None or self.high is None:
            return None
        return (log(max(self.low, _TINY)), log(max(self.high, _TINY))) if self.is_ratio else (self.low, self.high)

    @property
    def beyond(self) -> float:
        """How far the gap is from none at least, on the scale of `ends`; 0 if no bound is left.

        Examples
        --------
        >>> Gap(kind="difference", low=-0.3, high=-0.1, at_least=0.05).beyond
        0.05
        """
        return 0.0 if self.at_least is None else log(self.at_least) if self.is_ratio else self.at_least

    @property
    def within(self) -> float:
        """How far the gap is from none at most, on the scale of `ends`; infinite if no bound is left.

        Examples
        --------
        >>> Gap(kind="ratio", at_most=1.0).within
        0.0
        """
        return inf if self.at_most is None else log(self.at_most) if self.is_ratio else self.at_most

    def __str__(self) -> str:
        text = f"{self.kind} {number(self.value)}"
        return text if self.low is None and self.high is None else f"{text}, interval {span_text(self.low, self.high)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Test(Record):
    """The test behind a verdict.

    Attributes
    ----------
    pvalue, p_adjusted : float or None
        The p-value, and that adjusted for multiple comparisons; None if there is nothing to test.
    method : str or None
        How the p-value was computed, such as ``"fisher"`` or ``"permutation"``.
    asks : {"equal scores", "drawn alike"}
        Whether the two true scores are equal, or whether the group is drawn like the reference. Only the first says
        which of them is higher.
    error : float or None
        The standard error of a p-value from random draws; None if it is exact, or if its error is not known.
    effective, correlation : float or None
        With clusters: how many independent cases those that the group's score rests on are worth, and the intra-class
        correlation by which that was computed.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0].test)
    p = 0.128, adjusted p = 0.128 (fisher)
    """

    pvalue: float | None = None
    p_adjusted: float | None = None
    method: str | None = None
    asks: Asks = "equal scores"
    error: float | None = None
    effective: float | None = None
    correlation: float | None = None

    # Not a class of tests.
    __test__ = False

    def __str__(self) -> str:
        if self.pvalue is None:
            return "no test"
        return f"p {pvalue(self.pvalue)}, adjusted p {pvalue(self.p_adjusted)} ({self.method})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmoothedScore(Record):
    """A score after Cross-Prior Smoothing.

    Attributes
    ----------
    score : float
        The smoothed score.
    strength : float or dict of str to float
        How many pseudo-cases the reference is worth for this group: in all, or for each split of the matrix.
    kept : float or None
        The share of the gap that smoothing leaves, for a rate; other scores have no rule.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0].smoothed)
    0.452 with strength prev 3.6, tpr 3.03, fpr 5
    """

    score: float
    strength: float | dict[str, float]
    kept: float | None

    def __str__(self) -> str:
        strength = self.strength
        text = (
            ", ".join(f"{name} {value:.3g}" for name, value in strength.items())
            if isinstance(strength, dict)
            else f"{strength:g}"
        )
        return f"{number(self.score)} with strength {text}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Impact(Record):
    """The rate of favourable predictions, divided by the highest rate among groups with enough cases.

    Attributes
    ----------
    ratio, low, high : float or None
        The ratio and its interval, which holds for whichever group has the highest rate; none for that group itself.
    at_most : float or None
        A bound of the ratio that holds for all claims of the audit together.
    group, n : str, int
        The group with the highest rate, and its number of cases.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="ppr", favourable="positive")
    >>> print(a.rows[0].impact)
    0.476 of B
    """

    ratio: float
    low: float | None
    high: float | None
    at_most: float | None = None
    group: str
    n: int

    @property
    def is_below(self) -> bool:
        """Whether the ratio is below four fifths, by the bound that holds for all claims together.

        Examples
        --------
        >>> Impact(ratio=0.5, low=0.4, high=0.6, at_most=0.7, group="B", n=100).is_below
        True
        """
        # A ratio of exactly 4/5 may be computed as a little less.
        return self.at_most is not None and self.at_most < FOUR_FIFTHS * (1 - 1e-12)

    def __str__(self) -> str:
        return printable(f"{number(self.ratio)} of {self.group}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Unknown(Record):
    """What the comparison would be if cases whose group is unknown belonged to it, or to the reference.

    Attributes
    ----------
    n : int
        The number of unknown cases that the score could count.
    turns : int or None
        How many of them, at least, would leave no difference if they were in the group or in the reference; None if
        nothing was found, if no number of them would, or for scores made of several rates.
    score_low, score_high : float or None
        The group's score over all ways to assign them.
    difference_low, difference_high, ratio_low, ratio_high : float or None
        The gap to the reference over all ways to assign them.
    likely_low, likely_high : float or None
        The central 95% of the gap, if each belongs to groups as often as known cases with the same label and
        prediction do.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> counts = {"A": (10, 10, 0, 0), "B": (80, 20, 0, 0), None: (5, 5, 0, 0)}
    >>> print(audit_counts(counts, metrics="tpr").rows[0].unknown)
    4 of 10 unknown cases would turn it; difference -0.410 to -0.162
    """

    n: int
    turns: int | None = None
    score_low: float | None = None
    score_high: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    likely_low: float | None = None
    likely_high: float | None = None

    def __str__(self) -> str:
        turns = "" if self.turns is None else f"{self.turns:,} of "
        would = "" if self.turns is None else " would turn it"
        span = span_text(self.difference_low, self.difference_high)
        return f"{turns}{several(self.n, 'unknown case')}{would}" + (f"; difference {span}" if span else "")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Driver(Record):
    """The most influential group of the rest, if the verdict changes without it.

    Attributes
    ----------
    group : str
        The group that is left out of the rest.
    verdict : Verdict
        What the verdict would be.
    gap : Gap
        What the gap would be.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> from evenhand.examples import compas
    >>> row = next(row for row in audit_counts(compas(), metrics="ppr").rows if row.group == "Hispanic")
    >>> print(row.driver)
    equivalent without African-American
    """

    group: str
    verdict: Verdict
    gap: Gap

    def __str__(self) -> str:
        return printable(f"{self.verdict} without {self.group}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Strata(Record):
    """What the strata of a control feature say of a row that is pooled over them.

    Attributes
    ----------
    higher, lower, silent : int
        The number of strata in which the group's rate is higher or lower, and of those that say nothing.
    crude_odds_ratio, crude_pvalue : float or None
        The odds ratio and the p-value without strata.

    Examples
    --------
    >>> print(Strata(higher=3, lower=1, silent=2, crude_odds_ratio=1.5, crude_pvalue=0.04))
    higher in 3, lower in 1 and silent in 2; without strata: odds ratio 1.5, p = 0.040
    """

    higher: int
    lower: int
    silent: int
    crude_odds_ratio: float | None
    crude_pvalue: float | None

    def __str__(self) -> str:
        crude = "undefined" if self.crude_odds_ratio is None else f"{self.crude_odds_ratio:.4g}"
        test = "no p-value" if self.crude_pvalue is None else f"p {pvalue(self.crude_pvalue)}"
        return (
            f"higher in {self.higher:,}, lower in {self.lower:,} and silent in {self.silent:,}; without strata: odds "
            f"ratio {crude}, {test}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row(Record):
    """The results of an audit for one group and one metric; missing values are None, never 0 or nan.

    Attributes
    ----------
    at : dict of str to object
        Where on the axes it is: ``threshold``, ``class``, ``stratum`` (``"pooled"`` for all strata together) or
        ``model`` and ``against``. Empty if nothing but groups and metrics was asked for.
    by, group : str
        The column that the group comes from, and its value there.
    metric : str
        The key of the metric, or the name of the function.
    verdict : Verdict
        Higher, lower, unlike, equivalent, inconclusive, undefined or reference. Each can be checked from the row.
    reason : str or None
        Why the verdict is "undefined": the score of the group or of the reference is.
    cells : tuple of int or None
        The group's cells in the order tp, fn, fp, tn, rounded sums of weights if cases are weighted; None if there are
        no labels, or more than two classes.
    n : int
        The group's number of cases.
    rests_on : tuple of int
        How many of them the score rests on: the denominator of a rate, and one number for each rate of a score that is
        made of several, such as the actual positives and the actual negatives for balanced accuracy.
    score : Estimate
        The group's score and its interval.
    reference : Reference
        What the group is compared with.
    gap : Gap
        The group's score against the reference's.
    test : Test
        The test behind the verdict.
    percentile : float or None
        P(S <= observed) of the MATCH test.
    p_undefined : float or None
        The probability that the score of such a group is undefined.
    needed : int or None
        If there are too few cases to tell: how many the score must rest on to find a gap of the margin with a
        probability of 80%.
    smoothed : SmoothedScore or None
        The score after Cross-Prior Smoothing.
    impact : Impact or None
        For predicted positive rates: the impact ratio.
    driver : Driver or None
        The group of the rest without which the verdict would be another.
    unknown : Unknown or None
        What cases whose group is unknown could change.
    strata : Strata or None
        For rows that are pooled over strata: what single strata say.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(a.rows[0])
    group A, tpr 0.000: inconclusive
    """

    at: Place
    by: str
    group: str
    metric: str
    verdict: Verdict
    reason: str | None
    cells: tuple[int, int, int, int] | None
    n: int
    rests_on: tuple[int, ...]
    score: Estimate
    reference: Reference
    gap: Gap
    test: Test
    percentile: float | None = None
    p_undefined: float | None = None
    needed: int | None = None
    smoothed: SmoothedScore | None = None
    impact: Impact | None = None
    driver: Driver | None = None
    unknown: Unknown | None = None
    strata: Strata | None = None

    @property
    def differs(self) -> bool:
        """Whether the verdict is higher, lower or unlike.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0].differs
        False
        """
        return self.verdict.differs

    @property
    def is_change(self) -> bool:
        """Whether the score is the change from one model to another, which has a test of its own.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0].is_change
        False
        """
        return self.score.pvalue is not None

    @property
    def gap_before(self) -> float | None:
        """In comparisons of models: the gap to the reference that ``gap`` is the change from.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0].gap_before
        """
        own, theirs = self.score.before, self.reference.before
        return None if own is None or theirs is None else own - theirs

    @property
    def lacks_own_score(self) -> bool:
        """Whether it is the group, not the reference, that has no score.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> rows = audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows
        >>> [(row.group, row.lacks_own_score) for row in rows]
        [('A', True), ('B', False)]
        """
        return self.reason is not None and not self.reason.startswith(("the reference", "in the reference"))

    @property
    def _fewest(self) -> int:
        """The smallest number of cases that a rate of the score rests on, so that the column stays one of numbers."""
        return min(self.rests_on)

    def flat(self) -> dict[str, Any]:
        """The row as plain values in one level of columns, as frames and CSV files have it.

        Returns
        -------
        dict
            The places on the axes, then the columns that ``COLUMNS`` lists, whose names do not change. If a score rests
            on several numbers of cases, the column ``rests_on`` has the smallest.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> row = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
        >>> {name: value for name, value in row.flat().items() if name in ("group", "tp", "fn", "gap", "p_adjusted")}
        {'group': 'A', 'tp': 0, 'fn': 2, 'gap': -0.75, 'p_adjusted': 0.1278...}
        """
        return {**self.at, **{name: plain_value(_read(self, path)) for name, path in _PATHS.items()}}

    def __str__(self) -> str:
        score = "undefined" if self.score.value is None else number(self.score.value)
        place = f"{place_text(self.at)}, " if self.at else ""
        return printable(f"{place}{self.by} {self.group}, {self.metric} {score}: {self.verdict}")


_PATHS: dict[str, str] = {
    **{name: name for name in ("by", "group", "metric", "verdict", "reason", "n")},
    **{cell: f"cells.{i}" for i, cell in enumerate(CELLS)},
    "rests_on": "_fewest",
    **{"score": "score.value", "score_low": "score.low", "score_high": "score.high"},
    **{"score_pvalue": "score.pvalue", "score_before": "score.before"},
    **{"reference_kind": "reference.kind", "reference": "reference.name", "reference_n": "reference.n"},
    **{f"reference_{cell}": f"reference.cells.{i}" for i, cell in enumerate(CELLS)},
    **{"reference_score": "reference.score", "reference_before": "reference.before"},
    **{"gap_kind": "gap.kind", "gap": "gap.value", "gap_low": "gap.low", "gap_high": "gap.high"},
    **{"difference": "gap.difference", "ratio": "gap.ratio"},
    **{"gap_at_least": "gap.at_least", "gap_at_most": "gap.at_most"},
    **{name: f"test.{name}" for name in ("pvalue", "p_adjusted")},
    **{"test": "test.method", "test_asks": "test.asks", "pvalue_error": "test.error"},
    **{name: name for name in ("percentile", "p_undefined", "needed")},
    **{"smoothed": "smoothed.score", "strength": "smoothed.strength", "shrinkage": "smoothed.kept"},
    **{f"impact_{name}": f"impact.{name}" for name in ("ratio", "low", "high", "at_most", "group", "n")},
    **{"driver": "driver.group", "without_verdict": "driver.verdict", "without_gap": "driver.gap.value"},
    **{"without_low": "driver.gap.low", "without_high": "driver.gap.high"},
    **{f"unknown_{name}": f"unknown.{name}" for name in (f.name for f in fields(Unknown))},
    **{f"strata_{name}": f"strata.{name}" for name in ("higher", "lower", "silent")},
    **{"crude_odds_ratio": "strata.crude_odds_ratio", "crude_pvalue": "strata.crude_pvalue"},
    **{name: f"test.{name}" for name in ("effective", "correlation")},
}
COLUMNS = tuple(_PATHS)
"""The columns of `Row.flat` after the places on the axes."""


def _read(row: Row, path: str) -> Any:
    """What a path of names and positions leads to; None if it ends early."""
    found: Any = row
    for step in path.split("."):
        if found is None:
            return None
        found = found[int(step)] if step.isdigit() else getattr(found, step)
    # A column holds one kind of values: strengths of several splits are a text.
    return ", ".join(f"{k}={v:g}" for k, v in found.items()) if isinstance(found, dict) else found


def read_row(values: Any, what: str, *, is_weighted: bool = False) -> Row:
    """The row that `Row.to_dict` gave, checked; ``what`` is it in error messages.

    Cells of a weighted row are sums of weights, which need not add up to the number of cases.
    """
    row = read_record(Row, values, what)
    for n, cells, whose in ((row.n, row.cells, "n"), (row.reference.n, row.reference.cells, "reference.n")):
        if cells is not None and sum(cells) != n and not is_weighted:
            raise InvalidInput(f"{what} has {whose} = {n}, but its cells add up to {sum(cells)}")
    if not row.rests_on or max(row.rests_on) > row.n:
        raise InvalidInput(f"rests_on of {what} must be a list of numbers up to n = {row.n}; got {list(row.rests_on)}")
    return row


def in_few_digits(row: Row) -> Row:
    """A row of rounded counts, whose scores and gaps are written with no more decimals than they have."""
    return replace(
        row,
        score=replace(row.score, value=_few(row.score.value)),
        reference=replace(row.reference, score=_few(row.reference.score)),
        gap=_few_of(row.gap, "value", "difference", "ratio"),
        smoothed=row.smoothed and _few_of(row.smoothed, "score"),
        impact=row.impact and _few_of(row.impact, "ratio"),
        driver=row.driver and replace(row.driver, gap=_few_of(row.driver.gap, "value", "difference", "ratio")),
    )


def _few_of(record: Any, *names: str) -> Any:
    return replace(record, **{name: _few(getattr(record, name)) for name in names})


def _few(value: float | None) -> float | None:
    return None if value is None else Few(value)


def place_text(at: Mapping[str, Any]) -> str:
    """Where on the axes something is, in words: ``threshold 0.5, stratum A``."""
    pooled = {("stratum", "pooled"): "over all strata"}
    return ", ".join(pooled.get(one, f"{one[0]} {_value_text(one[1])}") for one in at.items())


def _value_text(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


class OfGroup(Protocol):
    """A row of a group."""

    @property
    def by(self) -> str:
        """The column."""

    @property
    def group(self) -> str:
        """The group."""


def told_apart(rows: Iterable[OfGroup]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people; the column is added if several have a group of that name."""
    shown = shown_names(rows)
    times = Counter(shown.values())
    return numbered({who: f"{legible(who[0])}: {name}" if times[name] > 1 else name for who, name in shown.items()})


def shown_names(rows: Iterable[OfGroup]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people: nothing is hidden, and no two of a column look alike."""
    groups: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row.by, set()).add(row.group)
    # In an order that does not depend on that of the rows, so that a name is the same everywhere.
    return {
        (by, group): name
        for by in sorted(groups)
        for group, name in numbered({group: legible(group) for group in sorted(groups[by])}).items()
    }


assert len(fields(Row)) <= 21
