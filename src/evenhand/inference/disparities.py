"""The gap between two groups: an estimate, an interval, and a test that the two scores are equal."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import ClassVar, get_args

import numpy as np

from ..cells import ConfusionMatrix, whole_counts
from ..errors import InvalidInput, UnknownName
from ..laws import as_prior
from ..metrics import Kind, Metric, OneGroup, difference, ratio
from ..records import Record
from .equality import EqualityTest, Test, equal_scores
from .gaps import Gaps
from .intervals import Floats, check_level, one_group, posterior

__all__ = ["Disparity", "disparity", "gap_intervals", "gaps_of"]

FOUR_FIFTHS = 0.8


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Disparity(Record):
    """The gap between a group's score and the reference's.

    Attributes
    ----------
    metric : Metric
        The comparison, such as equal opportunity.
    kind : {"difference", "ratio"}
        Group minus reference, or group over reference.
    estimate : float
        The gap; nan if either score is undefined.
    low, high, level : float
        The interval of the true gap and its posterior probability.
    pvalue : float
        The p-value of the test that the two true scores are equal; nan if either is undefined.
    method : {"unconditional", "fisher", "posterior"}
        The test: exact for scores that depend on one rate (unconditional, or conditional on the pooled count),
        approximate (``"posterior"``) for scores made of several rates.
    group_score, reference_score : float
        The two scores.
    reason : str or None
        Why the gap is undefined; None if it is defined.

    Examples
    --------
    >>> d = disparity(ConfusionMatrix(12, 18, 9, 61), ConfusionMatrix(300, 200, 150, 350), "tpr")
    >>> round(d.estimate, 3), round(d.low, 3), round(d.high, 3)
    (-0.2, -0.365, -0.017)
    """

    metric: Metric
    kind: Kind
    estimate: float
    low: float
    high: float
    level: float
    pvalue: float
    method: str
    group_score: float
    reference_score: float
    reason: str | None
    _derived: ClassVar[tuple[str, ...]] = ("four_fifths",)

    @property
    def four_fifths(self) -> bool | None:
        """Whether a ratio satisfies the four-fifths rule (at least 0.8 of the reference); None for a difference.

        Examples
        --------
        >>> disparity(ConfusionMatrix(10, 0, 0, 10), ConfusionMatrix(60, 0, 0, 40), "ppr", "ratio").four_fifths
        True
        """
        # A ratio of 0.8 may be rounded to just below it.
        return None if self.kind == "difference" or isnan(self.estimate) else self.estimate >= FOUR_FIFTHS * (1 - 1e-12)

    def __str__(self) -> str:
        name = self.metric.base.key.upper()
        span = f"{100 * self.level:g} % interval {_brief(self.low)} to {_brief(self.high)}"
        if self.reason:
            return f"{name}: the {self.kind} is undefined, {self.reason} ({span})"
        if self.kind == "difference":
            way = "higher" if self.estimate > 0 else "lower"
            gap = f"{name} is {_brief(abs(self.estimate))} {way}" if self.estimate else f"{name} is the same"
        else:
            gap = f"{name} is {_brief(self.estimate)} times the reference's"
        rule = "" if self.four_fifths is None else f", four-fifths rule {'kept' if self.four_fifths else 'not kept'}"
        p = f"p = {self.pvalue:.2g}" if self.pvalue > 0 else "p below 1e-300"
        return f"{gap} ({span}, {p}{rule})"


def disparity(
    cm: ConfusionMatrix,
    reference: ConfusionMatrix,
    metric: str | Metric,
    kind: Kind = "difference",
    *,
    level: float = 0.95,
    test: Test = "unconditional",
    mid_p: bool = False,
    prior: float = 0.5,
) -> Disparity:
    """Estimate the gap between a group and a reference, and test whether their true scores are equal.

    Parameters
    ----------
    cm, reference : ConfusionMatrix
        The counts of the group and of the reference.
    metric : str or Metric
        A metric of one group.
    kind : {"difference", "ratio"}
        Group minus reference, or group over reference.
    level : float
        The posterior probability that the interval contains the true gap; by default every split of either tree has a
        Beta(1/2, 1/2) prior.
    test : {"unconditional", "fisher"}
        For scores that depend on one rate (shares, rates, F1, Jaccard): Boschloo's test, which keeps its level for
        every common rate, or Fisher's exact test, which is conservative. If both samples have more than 400 cases,
        Fisher's test is used, and ``method`` says so. Scores made of several rates, such as MCC, have no exact test;
        their p-value is the larger of that from the posterior of the gap and that of a studentised normal test, for
        likelihood and odds ratios also of the test that both rates are equal.
    mid_p : bool
        With ``test="fisher"``, count half of the probability of the observed outcome: less conservative, but the level
        is no longer guaranteed.
    prior : float
        Pseudo-counts added to both sides of every split.

    Returns
    -------
    Disparity
        Prints as one sentence.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> print(disparity(ConfusionMatrix(12, 18, 9, 61), ConfusionMatrix(300, 200, 150, 350), "tpr"))
    TPR is 0.20 lower (95 % interval -0.37 to -0.02, p = 0.033)
    """
    for what, value, known in (("kind", kind, Kind), ("test", test, Test)):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    check_level(level)
    m = one_group(metric)
    compared = difference(m) if kind == "difference" else ratio(m)
    counts = [whole_counts(c, who)[None] for c, who in ((cm, "the group"), (reference, "the reference"))]
    if counts[1].sum() == 0:
        raise InvalidInput("the reference is empty (n = 0); the group cannot be compared with it")
    gaps = gaps_of(m, counts[0], counts[1], kind, prior)
    tested = equality_of_gaps(m, counts[0], counts[1], test, mid_p, gaps, prior)
    estimate = float(compared(cm, reference))
    low, high = gap_intervals(gaps, np.array([estimate]), level)
    return Disparity(
        metric=compared,
        kind=kind,
        estimate=estimate,
        low=float(low[0]),
        high=float(high[0]),
        level=level,
        pvalue=float(tested.pvalue[0]),
        method=tested.method[0],
        group_score=float(m(cm)),
        reference_score=float(m(reference)),
        reason=compared.why_undefined(cm, reference),
    )


def equality_of_gaps(
    m: OneGroup,
    groups: Floats,
    references: Floats,
    test: Test,
    mid_p: bool = False,
    gaps: Gaps | None = None,
    prior: float = 0.5,
) -> EqualityTest:
    """Test for equal scores, on the ratio scale if the metric is unbounded; ``gaps`` are reused if on that scale."""
    kind: Kind = "ratio" if m.unbounded else "difference"
    if gaps is None or gaps.kind != kind:
        gaps = gaps_of(m, groups, references, kind, prior)
    return equal_scores(m, groups, references, gaps, test=test, mid_p=mid_p)


def gaps_of(m: OneGroup, groups: Floats, references: Floats, kind: Kind, prior: float = 0.5) -> Gaps:
    """The posteriors of the gaps between groups and references."""
    return Gaps(posterior(m, groups, as_prior(prior)), posterior(m, references, as_prior(prior)), kind)


def gap_intervals(gaps: Gaps, estimates: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of the intervals of several gaps; an estimate always lies inside its interval."""
    low, high = gaps.interval(level)
    return np.fmin(low, estimates), np.fmax(high, estimates)


def _brief(value: float) -> str:
    """Two decimals, or two significant digits of very small and very large values."""
    return f"{value:.2f}" if 0.005 <= abs(value) < 1000 or value == 0 else f"{value:.2g}"
