"""The gap between a group and a reference: an estimate, an interval, and a test of equal scores.

The test is Fisher's for scores of one rate, and the interval is melded from Clopper and Pearson's, so
that it contains no gap if and only if the two-sided p-value is above 1 - confidence level. Scores of
several rates have an approximate mid-p interval and a p-value that agrees with it in the same way.
Counts by stratum are compared within strata, by the exact form of Mantel and Haenszel's test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isnan, nan
from typing import Any, ClassVar, Literal

import numpy as np

from ..confusion import ConfusionMatrix, require_cases, require_counts
from ..errors import InvalidInput, printable
from ..metrics import Metric, OneGroupMetric, difference, ratio
from ..records import Record
from ..wording import number, percent, pvalue, several
from .gaps import score_gaps
from .score_tests import (
    Alternative,
    check_choice,
    check_confidence_level,
    compared_rates,
    equality_test,
    one_group_metric,
)
from .strata import is_informative, pooled_odds_ratio

FOUR_FIFTHS = 0.8
#: The counts of a group, or those of each stratum.
Counts = ConfusionMatrix | Mapping[Any, ConfusionMatrix]
DisparityKind = Literal["difference", "ratio", "odds ratio"]
# The metrics of two groups that compare a score; the catalogue is searched once.
_GAPS = {"difference": cache(difference), "ratio": cache(ratio)}


@dataclass(frozen=True, slots=True, repr=False)
class Stratum(Record):
    """The counts of one stratum, for the rate that is compared.

    Attributes
    ----------
    name : object
        The stratum.
    part, whole : int
        The group's successes and cases.
    reference_part, reference_whole : int
        Those of the reference.
    informative : bool
        Whether group and reference both have cases, and not all of these have the same outcome.

    Examples
    --------
    >>> group = {"young": ConfusionMatrix(tp=3, fn=1, fp=0, tn=6)}
    >>> rest = {"young": ConfusionMatrix(tp=30, fn=30, fp=9, tn=40)}
    >>> print(disparity(group, rest, "tpr").strata[0])
    young: 3/4 against 30/60
    """

    name: Any
    part: int
    whole: int
    reference_part: int
    reference_whole: int
    informative: bool

    def __str__(self) -> str:
        reference = f"{self.reference_part:,}/{self.reference_whole:,}"
        counts = f"{self.part:,}/{self.whole:,} against {reference}"
        note = "" if self.informative else ", not informative"
        return f"{printable(str(self.name))}: {counts}{note}"


@dataclass(frozen=True, slots=True, repr=False)
class Disparity(Record):
    """The gap between a group's score and the reference's.

    Attributes
    ----------
    metric : Metric
        The comparison, such as equal opportunity; of an odds ratio, the rate.
    kind : {"difference", "ratio", "odds ratio"}
        Group minus reference, or group over reference; of strata, the odds of the group over those
        of the reference.
    estimate : float
        The gap; nan if either score is undefined. Of strata, Mantel and Haenszel's estimate of a
        common odds ratio.
    low, high, confidence_level : float
        The interval of the true gap and its level. The interval of an odds ratio is conditional on
        the margins of each stratum.
    pvalue : float
        The p-value of the test that the two true scores are equal, in every stratum; nan if either
        is undefined.
    alternative : {"two-sided", "less", "greater"}
        The alternative of the test; interval and p-value are one-sided unless it is "two-sided".
    method : str
        The test: ``"fisher"``, which is exact, for scores of one rate; ``"mid-p"``, which is
        approximate, for scores of several rates. Of strata, whether interval and p-value are exact
        or, of millions of cases, a normal approximation.
    group_score, reference_score : float
        The two scores, of all strata together.
    reason : str or None
        Why the gap is undefined; None if it is defined.
    strata : tuple of Stratum
        The counts per stratum; empty without strata.
    crude_estimate, crude_pvalue : float or None
        Odds ratio and p-value of all strata together, as if there were none; None without strata.

    Examples
    --------
    >>> group = ConfusionMatrix(tp=12, fn=18, fp=9, tn=61)
    >>> rest = ConfusionMatrix(tp=300, fn=200, fp=150, tn=350)
    >>> d = disparity(group, rest, "tpr")
    >>> round(d.estimate, 3), round(d.low, 3), round(d.high, 3)
    (-0.2, -0.38, 0.0)
    """

    metric: Metric
    kind: DisparityKind
    estimate: float
    low: float
    high: float
    confidence_level: float
    pvalue: float
    alternative: Alternative
    method: str
    group_score: float
    reference_score: float
    reason: str | None
    strata: tuple[Stratum, ...] = ()
    crude_estimate: float | None = None
    crude_pvalue: float | None = None
    _derived: ClassVar[tuple[str, ...]] = ("four_fifths",)

    @property
    def four_fifths(self) -> bool | None:
        """Whether a ratio is at least 0.8, the four-fifths rule; None for other gaps.

        Examples
        --------
        >>> group = ConfusionMatrix(tp=10, fn=0, fp=0, tn=10)
        >>> rest = ConfusionMatrix(tp=60, fn=0, fp=0, tn=40)
        >>> disparity(group, rest, "ppr", "ratio").four_fifths
        True
        """
        if self.kind != "ratio" or isnan(self.estimate):
            return None
        # A ratio of 0.8 may be rounded to just below it.
        return self.estimate >= FOUR_FIFTHS * (1 - 1e-12)

    def __str__(self) -> str:
        none = 0.0 if self.kind == "difference" else 1.0
        name = self.metric.base.key.upper()
        ends = f"{number(self.low, none)} to {number(self.high, none)}"
        notes = f"{percent(self.confidence_level)} interval {ends}"
        if self.reason:
            return f"{name}: the {self.kind} is undefined, {self.reason} ({notes})"
        notes += f", p {pvalue(self.pvalue)}"
        if self.alternative != "two-sided":
            notes += f", one-sided ({self.alternative})"
        gap = number(abs(self.estimate))
        if self.kind == "odds ratio":
            strata = several(len(self.strata), "stratum", "strata")
            crude = f"{number(self.crude_estimate)}, p {pvalue(self.crude_pvalue)}"
            text = f"the odds ratio within {strata} is {gap}"
            return f"{name}: {text} ({notes}; without strata {crude})"
        if self.kind == "ratio":
            rule = "kept" if self.four_fifths else "not kept"
            return f"{name} is {gap} times the reference's ({notes}, four-fifths rule {rule})"
        if self.estimate == 0:
            return f"{name} is the same ({notes})"
        return f"{name} is {gap} {'higher' if self.estimate > 0 else 'lower'} ({notes})"


def disparity(
    cm: Counts,
    reference: Counts,
    metric: str | Metric,
    kind: DisparityKind | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    prior: float | None = None,
) -> Disparity:
    """Estimate the gap between a group and a reference, and test whether true scores are equal.

    To account for another feature, such as the department, pass counts per stratum: groups are then
    compared within each stratum only, and the strata are pooled by the exact form of Mantel and
    Haenszel's test. It has most power if the odds ratio has the same direction in all strata;
    opposite differences cancel. For millions of cases, Mantel and Haenszel's normal approximation
    takes its place, and ``method`` says so.

    Parameters
    ----------
    cm, reference : ConfusionMatrix or mapping of stratum to ConfusionMatrix
        The counts of the group and of the reference. A stratum that one of them lacks is empty there.
    metric : str or Metric
        A metric of one group; with strata, a rate or another score of one rate, such as F1.
    kind : {"difference", "ratio", "odds ratio"}, optional
        Group minus reference, which is the default, or group over reference. Strata have an odds
        ratio, and nothing else has one.
    alternative : {"two-sided", "less", "greater"}
        The alternative hypothesis: the group's true score differs from the reference's, is less, or
        is greater. One-sided intervals have one end at the limit of possible gaps. Strata have a
        two-sided test only.
    confidence_level : float
        The confidence level of the interval, which agrees with the p-value: it contains no gap if
        and only if the p-value is above 1 - confidence_level.
    prior : float, optional
        Pseudo-counts added to both sides of every split, for a posterior interval; the test is
        unchanged.

    Returns
    -------
    Disparity
        Prints as one sentence.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> group = ConfusionMatrix(tp=12, fn=18, fp=9, tn=61)
    >>> rest = ConfusionMatrix(tp=300, fn=200, fp=150, tn=350)
    >>> print(disparity(group, rest, "tpr"))
    TPR is 0.200 lower (95% interval -0.380 to 0.00029, p = 0.0504)
    >>> round(disparity(group, rest, "tpr", alternative="less").pvalue, 4)
    0.0252

    Most of the women apply where few are selected. In each department they are selected as often as
    men.

    >>> women = {"easy": ConfusionMatrix(tp=0, fn=0, fp=6, tn=2), "hard": ConfusionMatrix(tp=0, fn=0, fp=18, tn=54)}
    >>> men = {"easy": ConfusionMatrix(tp=0, fn=0, fp=60, tn=20), "hard": ConfusionMatrix(tp=0, fn=0, fp=5, tn=15)}
    >>> d = disparity(women, men, "ppr")
    >>> print(d)
    PPR: the odds ratio within 2 strata is 1.000
    (95% interval 0.366 to 3.049, p = 1.000; without strata 0.231, p < 0.001)
    >>> for stratum in d.strata:
    ...     print(stratum)
    easy: 6/8 against 60/80
    hard: 18/72 against 5/20
    """
    check_choice("kind", kind or "difference", DisparityKind)
    check_choice("alternative", alternative, Alternative)
    m = one_group_metric(metric)
    check_confidence_level(confidence_level)
    if isinstance(cm, Mapping) and isinstance(reference, Mapping):
        if kind not in (None, "odds ratio"):
            raise InvalidInput(argument="kind", must="be 'odds ratio' with strata", got=kind)
        if prior is not None or alternative != "two-sided":
            raise InvalidInput("`alternative` and `prior` must be left out with strata")
        return _compare_within_strata(cm, reference, m, confidence_level)
    if isinstance(cm, Mapping) or isinstance(reference, Mapping):
        raise InvalidInput("`cm` and `reference` must both map strata to matrices, or neither")
    if kind == "odds ratio":
        must = "be 'difference' or 'ratio' without strata"
        raise InvalidInput(argument="kind", must=must, got=kind)
    group = require_counts(cm, "the group")[None]
    others = require_counts(reference, "the reference")[None]
    require_cases(reference)
    comparison = _GAPS[kind or "difference"](m)
    scores = float(m.scores(group)[0]), float(m.scores(others)[0])
    estimate = scores[0] - scores[1]
    if comparison.kind == "ratio":
        estimate = scores[0] / scores[1] if scores[1] else nan
    test = equality_test(m, group, others)
    pvalues = {"two-sided": test.pvalues, "less": test.lower, "greater": test.upper}
    # A one-sided interval is half of a two-sided one with twice the tail.
    level = confidence_level if alternative == "two-sided" else 2 * confidence_level - 1
    gaps = score_gaps(m, group, others, comparison.kind, prior=prior)
    low, high = np.ravel(gaps.interval(level, estimate)).tolist()
    low = comparison.low if alternative == "less" else low
    high = comparison.high if alternative == "greater" else high
    pvalue = float(pvalues[alternative][0])
    reason = comparison.why_undefined(cm, reference) if isnan(estimate) else None
    facts: Any = low, high, confidence_level, pvalue, alternative, test.method, *scores, reason
    return Disparity(comparison, comparison.kind, estimate, *facts)


def _compare_within_strata(
    cm: Mapping[Any, ConfusionMatrix],
    reference: Mapping[Any, ConfusionMatrix],
    metric: OneGroupMetric,
    confidence_level: float,
) -> Disparity:
    """The odds ratio of a group and its reference within strata."""
    if metric.curve is None:
        raise InvalidInput(f"strata of {metric.key} cannot be pooled exactly; use a rate")
    names = list(dict.fromkeys([*cm, *reference]))
    if not names:
        raise InvalidInput("`cm` and `reference` must contain at least one stratum")
    empty = ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)
    group, others = (
        np.array([require_counts(side.get(k, empty), f"{who} in stratum {k!r}") for k in names])
        for side, who in ((cm, "the group"), (reference, "the reference"))
    )
    counts = np.column_stack(compared_rates(metric, group, others))
    columns: Any = *counts.astype(int).T.tolist(), is_informative(counts).tolist()
    strata = tuple(Stratum(*values) for values in zip(names, *columns, strict=True))
    estimate, low, high, p, method, _, *crude = pooled_odds_ratio(counts, confidence_level)
    scores = [float(metric.scores(side.sum(axis=0))) for side in (group, others)]
    reason = "no stratum has cases of both, with both outcomes" if isnan(p) else None
    facts: Any = (
        low,
        high,
        confidence_level,
        p,
        "two-sided",
        method,
        *scores,
        reason,
        strata,
        *crude,
    )
    return Disparity(metric, "odds ratio", estimate, *facts)
