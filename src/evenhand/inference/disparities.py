"""The gap between two groups: an estimate, an interval, and a test that the two scores are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ..cells import ConfusionMatrix, whole_counts
from ..errors import InvalidInput, UnknownName, printable
from ..metrics import Kind, Metric, OneGroup, difference, ratio
from ..records import Record
from ..wording import number, percent, pvalue, several
from .equality import Test, counts_of, equal_scores, gaps_of
from .gaps import Gaps
from .intervals import Floats, check_level, one_group
from .strata import informative, stratified

__all__ = ["FOUR_FIFTHS", "Disparity", "Stratum", "disparity", "gap_intervals"]

FOUR_FIFTHS = 0.8
Counts = ConfusionMatrix | Mapping[Any, ConfusionMatrix]
"""The counts of a group, or those of each stratum."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
        Whether the stratum can say anything: group and reference both have cases, and not all of these have the same
        outcome.

    Examples
    --------
    >>> young = {"young": ConfusionMatrix(3, 1, 0, 6)}, {"young": ConfusionMatrix(30, 30, 9, 40)}
    >>> print(disparity(*young, "tpr").strata[0])
    young: 3/4 against 30/60
    """

    name: Any
    part: int
    whole: int
    reference_part: int
    reference_whole: int
    informative: bool

    def __str__(self) -> str:
        counts = f"{self.part:,}/{self.whole:,} against {self.reference_part:,}/{self.reference_whole:,}"
        return f"{printable(str(self.name))}: {counts}" + ("" if self.informative else ", not informative")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Disparity(Record):
    """The gap between a group's score and the reference's.

    Attributes
    ----------
    metric : Metric
        The comparison, such as equal opportunity; of an odds ratio, the rate.
    kind : {"difference", "ratio", "odds ratio"}
        Group minus reference, or group over reference; of strata, the odds of the group over those of the reference.
    estimate : float
        The gap; nan if either score is undefined. Of strata, Mantel and Haenszel's estimate of a common odds ratio.
    low, high, level : float
        The interval of the true gap and its level. The interval of an odds ratio is conditional on the margins of each
        stratum; if it is exact, it covers at least at the level.
    pvalue : float
        The p-value of the test that the two true scores are equal, in every stratum; nan if either is undefined.
    method : str
        The test: ``"fisher"`` (conditional on the pooled count) or ``"unconditional"``, both exact, for scores that
        depend on one rate; ``"mid-p"``, which is approximate, for scores made of several rates. Of strata, whether
        interval and p-value are exact or, of millions of cases, a normal approximation.
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
    >>> d = disparity(ConfusionMatrix(12, 18, 9, 61), ConfusionMatrix(300, 200, 150, 350), "tpr")
    >>> round(d.estimate, 3), round(d.low, 3), round(d.high, 3)
    (-0.2, -0.38, 0.0)
    """

    metric: Metric
    kind: Kind | Literal["odds ratio"]
    estimate: float
    low: float
    high: float
    level: float
    pvalue: float
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
        """Whether a ratio satisfies the four-fifths rule (at least 0.8 of the reference); None for other gaps.

        Examples
        --------
        >>> disparity(ConfusionMatrix(10, 0, 0, 10), ConfusionMatrix(60, 0, 0, 40), "ppr", "ratio").four_fifths
        True
        """
        # A ratio of 0.8 may be rounded to just below it.
        return None if self.kind != "ratio" or isnan(self.estimate) else self.estimate >= FOUR_FIFTHS * (1 - 1e-12)

    def __str__(self) -> str:
        name = self.metric.base.key.upper()
        span = f"{percent(self.level)} interval {number(self.low)} to {number(self.high)}"
        if self.reason:
            return f"{name}: the {self.kind} is undefined, {self.reason} ({span})"
        rule = "" if self.four_fifths is None else f", four-fifths rule {'kept' if self.four_fifths else 'not kept'}"
        found = f"{span}, p {pvalue(self.pvalue)}{rule}"
        if self.kind == "odds ratio":
            crude = f"without strata {number(self.crude_estimate)}, p {pvalue(self.crude_pvalue)}"
            strata = several(len(self.strata), "stratum", "strata")
            return f"{name}: the odds ratio within {strata} is {number(self.estimate)} ({found}; {crude})"
        if self.kind == "ratio":
            return f"{name} is {number(self.estimate)} times the reference's ({found})"
        way = "higher" if self.estimate > 0 else "lower"
        gap = f"{name} is {number(abs(self.estimate))} {way}" if self.estimate else f"{name} is the same"
        return f"{gap} ({found})"


def disparity(
    cm: Counts,
    reference: Counts,
    metric: str | Metric,
    kind: Kind | Literal["odds ratio"] | None = None,
    *,
    level: float = 0.95,
    test: Test = "fisher",
    mid_p: bool = False,
    prior: float | None = None,
) -> Disparity:
    """Estimate the gap between a group and a reference, and test whether their true scores are equal.

    Do group and reference still differ once another feature, such as the department, is accounted for? Pass their
    counts per stratum: they are then compared within each stratum only, and the strata are pooled by the exact form of
    Mantel and Haenszel's test. It has most power if the odds ratio has the same direction in all strata; opposite
    differences cancel. Where millions of cases make the exact law too long to list, Mantel and Haenszel's normal
    approximation takes its place, and ``method`` says so.

    Parameters
    ----------
    cm, reference : ConfusionMatrix or mapping of stratum to ConfusionMatrix
        The counts of the group and of the reference. A stratum that one of them lacks is empty there.
    metric : str or Metric
        A metric of one group; with strata, a rate or another score that depends on one rate, such as F1.
    kind : {"difference", "ratio", "odds ratio"}, optional
        Group minus reference, which is the default, or group over reference. Strata have an odds ratio, and nothing
        else has one.
    level : float
        The level of the interval. For scores that depend on one rate (shares, rates, F1, Jaccard) it is a melded one,
        which contains no difference if and only if Fisher's p-value is above 1 - level; scores made of several rates
        have a mid-p interval, with which their p-value agrees in the same way. With strata, the level of the
        conditional interval of a common odds ratio.
    test : {"fisher", "unconditional"}
        For scores that depend on one rate: Fisher's central test, or Boschloo's, which is more powerful, keeps its
        level over a Berger-Boos interval of common rates, cannot have a p-value below 1e-9, and can find a difference
        beside an interval that contains none. If both samples have more than 400 cases, Fisher's test is used, and
        ``method`` says so. Scores made of several rates, such as MCC, have no exact test; theirs is approximate. Strata
        have a single test, given the successes in each of them.
    mid_p : bool
        Of scores that depend on one rate, count half of the probability of the observed outcome, in interval and
        p-value: less conservative, but the level is no longer guaranteed.
    prior : float, optional
        Pseudo-counts added to both sides of every split, for a posterior interval; the test is unchanged.

    Returns
    -------
    Disparity
        Prints as one sentence.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> print(disparity(ConfusionMatrix(12, 18, 9, 61), ConfusionMatrix(300, 200, 150, 350), "tpr"))
    TPR is 0.200 lower (95 % interval -0.380 to 0.00029, p = 0.0504)

    Most of the women apply where few are selected. In each department they are selected as often as men.

    >>> women = {"easy": ConfusionMatrix(0, 0, 6, 2), "hard": ConfusionMatrix(0, 0, 18, 54)}
    >>> men = {"easy": ConfusionMatrix(0, 0, 60, 20), "hard": ConfusionMatrix(0, 0, 5, 15)}
    >>> d = disparity(women, men, "ppr")
    >>> print(d)
    PPR: the odds ratio within 2 strata is 1.000
    (95 % interval 0.366 to 3.049, p = 1.000; without strata 0.231, p < 0.001)
    >>> for stratum in d.strata:
    ...     print(stratum)
    easy: 6/8 against 60/80
    hard: 18/72 against 5/20
    """
    strata = isinstance(cm, Mapping) and isinstance(reference, Mapping)
    if kind is not None and kind not in (*get_args(Kind), "odds ratio"):
        raise UnknownName.among("kind", kind, (*get_args(Kind), "odds ratio"))
    if kind is not None and (kind == "odds ratio") != strata:
        must = "be 'odds ratio' with strata" if strata else "be 'difference' or 'ratio' without strata"
        raise InvalidInput(argument="kind", must=must, got=kind)
    if test not in get_args(Test):
        raise UnknownName.among("test", test, get_args(Test))
    check_level(level)
    m = one_group(metric)
    if isinstance(cm, Mapping) and isinstance(reference, Mapping):
        if mid_p or prior is not None:
            raise InvalidInput("`mid_p` and `prior` must be left out with strata, which are tested given their margins")
        return _within_strata(cm, reference, m, level)
    if isinstance(cm, Mapping) or isinstance(reference, Mapping):
        raise InvalidInput("`cm` and `reference` must both map strata to matrices, or neither")
    compared = ratio(m) if kind == "ratio" else difference(m)
    counts = [whole_counts(c, who)[None] for c, who in ((cm, "the group"), (reference, "the reference"))]
    if counts[1].sum() == 0:
        raise InvalidInput("the reference is empty (n = 0); the group cannot be compared with it")
    gaps = gaps_of(m, counts[0], counts[1], compared.kind, mid_p=mid_p, prior=prior)
    tested = equal_scores(m, counts[0], counts[1], test=test, mid_p=mid_p)
    estimate = float(compared(cm, reference))
    low, high = gap_intervals(gaps, np.array([estimate]), level)
    return Disparity(
        metric=compared,
        kind=compared.kind,
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


def _within_strata(
    cm: Mapping[Any, ConfusionMatrix], reference: Mapping[Any, ConfusionMatrix], m: OneGroup, level: float
) -> Disparity:
    """The odds ratio of a group and its reference within strata."""
    if m.curve is None:
        raise InvalidInput(f"{m.key} does not depend on one rate only, so strata cannot be pooled exactly; use a rate")
    names = list(dict.fromkeys([*cm, *reference]))
    if not names:
        raise InvalidInput("`cm` and `reference` must contain at least one stratum; got none")
    empty = ConfusionMatrix(0, 0, 0, 0)
    sides = [
        np.array([whole_counts(side.get(name, empty), f"{who} in stratum {name!r}") for name in names])
        for side, who in ((cm, "the group"), (reference, "the reference"))
    ]
    strata = np.stack([counts for side in sides for counts in counts_of(m, side)], axis=1)
    found = stratified(strata, level)
    scores = [float(m.scores(side.sum(axis=0))) for side in sides]
    reason = "no stratum is informative: each lacks the group or the reference, or has a single outcome"
    return Disparity(
        metric=m,
        kind="odds ratio",
        estimate=found.odds_ratio,
        low=found.low,
        high=found.high,
        level=level,
        pvalue=found.pvalue,
        method=found.method,
        group_score=scores[0],
        reference_score=scores[1],
        reason=reason if isnan(found.pvalue) else None,
        strata=tuple(
            Stratum(name=name, part=a, whole=n, reference_part=b, reference_whole=k, informative=tells)
            for name, (a, n, b, k), tells in zip(
                names, strata.astype(int).tolist(), informative(strata).tolist(), strict=True
            )
        ),
        crude_estimate=found.crude_odds_ratio,
        crude_pvalue=found.crude_pvalue,
    )


def gap_intervals(gaps: Gaps, estimates: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of the intervals of several gaps; an estimate always lies inside its interval."""
    low, high = gaps.interval(level)
    return np.fmin(low, estimates), np.fmax(high, estimates)
