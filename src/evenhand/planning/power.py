"""Power: how likely a test is to find a difference, and the smallest differences that it finds.

**Tests of one rate** are exact. Given the group's denominator and the reference's count, Fisher's
test (against known rates, the binomial test) rejects if the group's count is at most one bound, or
at least another one. The bounds are found by integer bisection. Power is a sum of binomial tails
beyond them, over the reference's counts and the group's denominators. A reference given as counts
keeps its denominator, and its successes are drawn anew with its rate.

**Other tests** are simulated: groups, and the reference if it is given as counts, are drawn, and the
audit's own test is run on them. Its p-values are costly, and mostly on the same side of the level as
those of a normal test, which are cheap. So power is that of the normal test in many draws, plus the
mean difference of both tests in a few. These are sampled with probabilities that are the larger, the
closer the normal p-value is to the level, and weighted by their inverse; the standard error is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import ConfusionMatrix, as_size
from ..distributions import Binomial, Multinomial, binomial_cdf, sample_cells
from ..errors import InvalidInput, TooLarge, UnknownName, check_cost
from ..inference import (
    ROUNDING,
    Given,
    MatchSettings,
    NullName,
    TwoRates,
    count_successes,
    equality_test,
    fisher_tails,
    match_test,
    score_slopes,
)
from ..metrics import Metric, OneGroupMetric
from ..progress import progress
from ..randomness import Rng, check_draws, generator, seed_of
from ..records import Record, reach
from ..wording import decided, several
from .scenario import Scenario, Side, check_number, reachable_scores, success_rate

TestName = Literal["fisher", "match"]
Number = TypeVar("Number", int, float)

# Draws that are tested, and cases of simulated MATCH tests, at most.
DRAWS, _MAX_DRAWS, _MAX_MATCH_CASES = 256, 10_000, 2_000
# Probability that windows of counts leave out on either side: of known rates, and of samples.
_EPS, _SAMPLE_EPS = 1e-16, 1e-11
# Tests of an exact power, at most, and the largest spread of counts in simulated ones.
_MAX_TESTS, _MAX_SPREAD = 2**17, 2**14
# Draws of the normal test. The probability of one to be tested is at least this share of the
# largest probability.
_NORMAL_DRAWS, _FAR = 20_000, 0.1
# Known rates stand for a reference of this many cases where a test needs counts.
_KNOWN_CASES = 10**9
# Scores without an upper limit are looked at up to so many times the reference's.
_TIMES = 1e3
_HINT = "take fewer cases, or give the `denominator`"
_TEST_NAMES = {
    "fisher": "Fisher's exact test of equal rates",
    "binomial": "the exact binomial test",
    "mid-p": "the approximate test of equal scores",
    "match": "the MATCH test",
}


def power(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    difference: float | None = None,
    truth: Side | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    draws: int = DRAWS,
    rng: Rng = 0,
) -> Plan:
    """Compute how likely a test of ``n`` cases is to find a true difference from a reference.

    The group is drawn with its true rates, so that its denominator, such as the number of actual
    positives, is random too. Tests are two-sided. Power is exact for scores of one rate (shares,
    rates, F1, Jaccard), and simulated for others, or where exact sums would be too long.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    n : int
        The group's number of cases; with a single score as reference, the cases in its denominator.
    reference : ConfusionMatrix, four probabilities or float
        Counts are a sample: planning draws it anew, with its denominator (of scores of two rates,
        its actual positives) and the rates that the counts show. Probabilities are known, and so is
        a single score, for metrics of one rate.
    difference : float
        The group's true score minus the reference's. The rate that the score depends on moves, and
        others stay. For marginal benefit, the share of false positives among errors moves. For
        scores of two rates, the log odds of TPR and FPR (for markedness: of PPV and the false
        omission rate) move by the same amount in opposite directions.
    truth : ConfusionMatrix, four probabilities or float
        The group's true rates, in place of a difference.
    alpha : float
        The significance level.
    comparisons : int
        How many tests share the level: each rejects if its p-value is at most alpha / comparisons.
    test : {"fisher", "match"}
        The test of equal scores that `audit` and `disparity` use, or `match_test`. The first is
        approximate for scores of several rates; known rates then stand for a billion cases.
    null, given
        For ``test="match"``, as in `match_test`.
    denominator : int, optional
        The group's denominator, if it is not random: for TPR, the actual positives of ``n`` cases.
    draws : int
        The number of simulated groups that are tested.
    rng : int, numpy.random.Generator or None
        The source of random numbers, for simulations.

    Returns
    -------
    Plan
        Prints as a short block.

    Examples
    --------
    A group of 40, about 16 of them positive, of which the classifier finds 55% rather than 75%:

    >>> from evenhand import ConfusionMatrix
    >>> print(power("tpr", 40, ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), difference=-0.2))
    Power 31.4% to find a difference in tpr of -0.2
      group       40 cases, true score 0.55
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      wrong way   0.00901% of groups differ significantly in the wrong direction
      undefined   1.34e-07% of groups have no score
      method      exact

    50 actual positives, against a known TPR of 0.7:

    >>> round(power("tpr", 50, 0.7, difference=-0.2).power, 3)
    0.76
    """
    settings = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    scenario = Scenario.of(metric, reference, difference, truth)
    planned = PlannedTest.of_test(scenario, test, settings, alpha, comparisons)
    planned = planned.of_size(n, denominator)
    result = planned.power()._asdict()
    return planned.plan("power", true_score=planned.true_score, **result)


def detectable_difference(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    draws: int = DRAWS,
    rng: Rng = 0,
) -> Plan:
    """Compute the smallest true differences that a test of ``n`` cases finds with a given power.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    n : int
        The group's number of cases; with a single score as reference, the cases in its denominator.
    reference : ConfusionMatrix, four probabilities or float
        A sample, known rates, or a known score, as for `power`.
    power : float
        The power to reach.
    alpha, comparisons, test, null, given, denominator, draws, rng
        As for `power`, which also says how the truth moves with the score.

    Returns
    -------
    Plan
        With ``lower`` and ``higher``. Prints as a short block.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    >>> print(detectable_difference("tpr", 40, rest))
    Smallest differences in tpr that 40 cases show with a power of 0.8
      lower       -0.3734, to a true score of 0.3766
      higher      none
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      method      exact
    """
    target = check_number(power, "power", 0, 1)
    settings = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    scenario = Scenario.of(metric, reference, 0.0, None)
    planned = PlannedTest.of_test(scenario, test, settings, alpha, comparisons)
    planned = planned.of_size(n, denominator)
    no_difference = planned.power()
    method = no_difference.method
    planned = replace(planned, is_exact=method == "exact")
    ends = reachable_scores(planned.metric, planned.reference_rates)
    (lower, error), (higher, other_error) = (_detect(planned, target, end) for end in ends)
    if no_difference.value < 1e-9 and not lower and not higher:
        reached = f"n = {n:,} cases reaches p <= {planned.level:g}"
        raise InvalidInput(f"no likely outcome of {reached}, so no difference is detectable")
    facts = {"lower": lower, "higher": higher, "error": max(error, other_error)}
    facts |= {"target": target, "value": target, "method": method}
    return planned.plan("detectable_difference", **facts)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Record):
    """The answer of `power`, `sample_size` or `detectable_difference`, and what it assumes.

    Attributes
    ----------
    question : {"power", "sample_size", "detectable_difference"}
        Which of them was asked. What it neither assumes nor answers is None.
    goal : {"power", "half-width", "undefined"}
        What the cases are for: to find a difference, to narrow an interval, or to have a score.
    target : float or None
        The power to reach, the probability of an interval that is narrow enough, or the largest
        probability of an undefined score; None if the power itself is asked for.
    metric : Metric
        The metric.
    n : int
        The group's number of cases. Of `sample_size`: the smallest that reaches the goal if the
        score depends on one rate; about the smallest if ``method`` is a simulation.
    n_stays : int or None
        Of `sample_size`: the number from which on every number up to ``n_looked`` reaches the goal.
        Exact power goes up and down with ``n``, so it can be larger than ``n``. None of simulations.
    n_looked : int or None
        The largest number that was looked at; None if every larger one reaches the goal.
    denominator : int or None
        The group's denominator, such as its number of actual positives, if it is given.
    reference_n : int or None
        The reference's number of cases; None if its rates are known.
    reference_score : float
        The reference's score.
    true_score : float or None
        The group's true score.
    lower, higher : float or None
        Of `detectable_difference`: the smallest differences, one negative, one positive; None if no
        true score on that side has the power.
    half_width, confidence_level : float or None
        The half-width of the interval, and its confidence level.
    alpha, comparisons : float, int or None
        The significance level, and the number of tests that share it.
    test : {"fisher", "binomial", "mid-p", "match"} or None
        The test. ``"binomial"`` is the exact test against known rates, ``"mid-p"`` the approximate
        test for scores of several rates.
    null : str or None
        The null of MATCH; None for other tests.
    value : float
        What ``n`` cases reach: the power, the probability of an interval that is narrow enough, or
        that of an undefined score.
    wrong_way : float or None
        Of `power`: the part of it in which the difference is found in the wrong direction.
    p_undefined : float or None
        The probability that the group's score is undefined.
    method : {"exact", "simulation"}
        How ``value`` was computed.
    error : float
        A bound on the error (exact), or the standard error (simulation).
    rng : int or None
        The seed that repeats a simulation; None without one, or with a generator.
    sizes, values : tuple
        Of `sample_size`: some of the sizes that were looked at, and what they reach, for a plot.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, power, sample_size
    >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    >>> p = power("tpr", 100, rest, difference=-0.2)
    >>> round(p.power, 3), p.test, p.method
    (0.675, 'fisher', 'exact')
    >>> s = sample_size("tpr", rest, difference=-0.2)
    >>> s.n, s.n_stays, round(s.power, 3)
    (137, 137, 0.803)
    """

    question: Literal["power", "sample_size", "detectable_difference"]
    goal: Literal["power", "half-width", "undefined"] = "power"
    target: float | None = None
    metric: Metric
    n: int
    n_stays: int | None = None
    n_looked: int | None = None
    denominator: int | None = None
    reference_n: int | None
    reference_score: float
    true_score: float | None = None
    lower: float | None = None
    higher: float | None = None
    half_width: float | None = None
    confidence_level: float | None = None
    alpha: float | None = None
    comparisons: int | None = None
    test: str | None = None
    null: str | None = None
    value: float
    wrong_way: float | None = None
    p_undefined: float | None = None
    method: str
    error: float
    rng: int | None
    sizes: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    _planned: PlannedTest = field(compare=False)
    _derived: ClassVar[tuple[str, ...]] = (
        "difference", "lower_score", "higher_score", "power", "expected_denominator",
    )  # fmt: skip

    @property
    def difference(self) -> float | None:
        """The difference to be found: the group's true score minus the reference's.

        Examples
        --------
        >>> from evenhand import power
        >>> round(power("acc", 40, [0.4, 0.1, 0.1, 0.4], difference=-0.2).difference, 12)
        -0.2
        """
        if self.true_score is None or self.goal != "power":
            return None
        return self.true_score - self.reference_score

    @property
    def lower_score(self) -> float | None:
        """The highest true score below the reference's that is found with this power.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> round(detectable_difference("tpr", 100, rest).lower_score, 3)
        0.517
        """
        return None if self.lower is None else self.reference_score + self.lower

    @property
    def higher_score(self) -> float | None:
        """The lowest true score above the reference's that is found with this power.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> round(detectable_difference("tpr", 100, rest).higher_score, 3)
        0.932
        """
        return None if self.higher is None else self.reference_score + self.higher

    @property
    def power(self) -> float:
        """The probability of a rejection; an undefined score is not tested, and does not count.

        Examples
        --------
        >>> from evenhand import power
        >>> round(power("tpr", 50, 0.7, difference=-0.2).power, 3)
        0.76
        """
        self._require_power()
        return self.value

    @property
    def expected_denominator(self) -> float | None:
        """The denominator of ``n`` cases, given or expected; None for scores of all cases.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> round(power("tpr", 100, rest, difference=-0.2).expected_denominator, 9)
        40.0
        """
        if self.metric.base.denominator is None:
            return None
        expected = self.n * self._planned.denominator_rate
        return expected if self.denominator is None else float(self.denominator)

    def curve(self, scores: Iterable[float]) -> list[float]:
        """The power of the same test, with the same number of cases, for other true scores.

        Parameters
        ----------
        scores : iterable of float
            True scores of the group.

        Returns
        -------
        list of float
            One power per score.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> p = power("tpr", 100, ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), difference=-0.2)
        >>> [round(x, 2) for x in p.curve([0.45, 0.55, 0.65])]
        [0.95, 0.67, 0.22]
        """
        self._require_power()
        planned = self._planned
        return [planned.at(float(score)).power().value for score in scores]

    def profile(self) -> tuple[list[float], list[float]]:
        """True scores around the reference's, and the power for each.

        Returns
        -------
        (list of float, list of float)
            Scores in ascending order, and powers.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> scores, powers = power("tpr", 100, rest, difference=-0.2).profile()
        >>> round(scores[0], 3), round(powers[0], 3)
        (0.35, 0.997)
        """
        planned, start = self._planned, self.reference_score
        gaps = (self.difference, self.lower, self.higher)
        reach = max(0.1, *(2 * abs(gap or 0.0) for gap in gaps))
        ends = reachable_scores(planned.metric, planned.reference_rates)
        low, high = np.clip([start - reach, start + reach], *ends)
        count = 65 if self.method == "exact" else 9
        scores = np.linspace(low, high, count).tolist()
        return scores, self.curve(scores)

    def plot(self, ax: Any = None) -> Any:
        """Plot the power by true score or, of `sample_size`, what is reached by number of cases.

        It needs the extra ``plots``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power, sample_size
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> ax = power("tpr", 100, rest, difference=-0.2).plot()
        >>> ax = sample_size("tpr", rest, difference=-0.2).plot()
        """
        return reach("Plan.plot")(self, ax=ax)

    @property
    def test_name(self) -> str:
        """The test in words, and its null if it is MATCH.

        Examples
        --------
        >>> from evenhand import power
        >>> power("acc", 40, [0.4, 0.1, 0.1, 0.4], difference=-0.2).test_name
        'the exact binomial test'
        """
        return _TEST_NAMES[self.test or ""] + (f", {self.null} null" if self.null else "")

    def _require_power(self) -> None:
        if self.goal != "power":
            goal = "the plan is one of an interval or of a score that exists"
            raise InvalidInput(f"{goal}, so it has no power")

    def __str__(self) -> str:
        return block(self._headline(), self._facts())

    def _headline(self) -> str:
        """The answer as a sentence."""
        key, cases = self.metric.key, several(self.n, "case")
        s, value = "s" if self.n == 1 else "", 100 * self.value
        # With the digits that show on which side of the target it is.
        limits = [] if self.target is None else [100 * self.target]
        share = decided(value, limits, lambda more: f"{value:.{3 + more}g}") + "%"
        gap = f"of {self.difference:+.4g}" if self.difference else "where none is"
        if self.goal == "undefined":
            return f"{cases} leave{s} {key} undefined with probability {share}"
        if self.half_width and self.confidence_level:
            interval = f"{100 * self.confidence_level:g}% interval of {key}"
            width = f"within ±{self.half_width:g}"
            return f"{cases} give{s} a {interval} {width} in {share} of groups"
        if self.question == "power":
            return f"Power {share} to find a difference in {key} {gap}"
        if self.question == "sample_size":
            found = f"find{s} a difference in {key} {gap}"
            return f"{cases} {found} with a power of {share}"
        shown = f"in {key} that {cases} show{s} with a power of {self.target:g}"
        return f"Smallest differences {shown}"

    def _facts(self) -> dict[str, str]:
        """The lines below the first one: labels and texts, of which some are empty."""
        facts, part = {}, self.metric.base.denominator
        level = f"{self.alpha or 0:g}"
        if self.comparisons not in (None, 1):
            level += f" / {self.comparisons:,}"
        if self.question == "power":
            given = self.denominator
            count = f", {part.format_count(given)}" if part and given else ""
            truth = f"true score {self.true_score:.4g}"
            facts["group"] = f"{several(self.n, 'case')}{count}, {truth}"
        elif self.question == "sample_size":
            limit = "at most" if self.goal == "undefined" else "at least"
            facts["goal"] = f"{limit} {self.target:g}{self._stays()}"
            expected = round(self.expected_denominator or 0)
            facts["of them"] = f"about {part.format_count(expected)}" if part else ""
        else:
            for side in ("lower", "higher"):
                gap, score = getattr(self, side), getattr(self, f"{side}_score")
                text = gap and f"{gap:+.4g}, to a true score of {score:.4g}"
                facts[side] = text or "none"
        known, cases = "known rates", self.reference_n
        reference = known if cases is None else several(cases, "case")
        facts["reference"] = f"{reference}, score {self.reference_score:.4g}"
        facts["test"] = f"{self.test_name}, p <= {level}" if self.test else ""
        if self.wrong_way is not None and self.difference:
            differ = "of groups differ significantly in the wrong direction"
            facts["wrong way"] = f"{percent(self.wrong_way)} {differ}"
        if self.p_undefined is not None and self.question == "power":
            undefined = percent(self.p_undefined)
            facts["undefined"] = f"{undefined} of groups have no score"
        facts["method"] = self.method
        if self.method == "simulation":
            facts["method"] += f", standard error {self.error:.2g}"
        elif self.test and self.value == 0:
            facts["caution"] = f"no outcome that this truth allows reaches p <= {level}"
        return facts

    def _stays(self) -> str:
        """From which number of cases on the goal is reached, in words."""
        if self.n_stays is None:
            return ""
        number = f"number from {self.n_stays:,}"
        larger = "larger number" if self.n_stays == self.n else number
        looked = "" if self.n_looked is None else f" up to {self.n_looked:,}"
        return f"; so does every {larger}{looked}"


def block(head: str, facts: dict[str, str]) -> str:
    """Format a result: a sentence, and a line with its label for each fact that is not empty."""
    lines = [f"  {label:<11} {text}" for label, text in facts.items() if text]
    return "\n".join([head, *lines])


def percent(probability: float) -> str:
    """Format a probability as a percentage with three digits."""
    return f"{100 * probability:.3g}%"


class TestPower(NamedTuple):
    """The probability of a rejection, and of one in the wrong direction."""

    value: float
    wrong_way: float
    p_undefined: float
    method: str
    error: float


@dataclass(frozen=True, kw_only=True)
class PlannedTest(Scenario):
    """A scenario, and the test whose power is computed, at one level.

    If ``is_exact``, it is Fisher's test of one rate, or the binomial test against known rates.
    ``null`` is that of MATCH, and None for other tests.
    """

    test: str
    null: NullName | None
    is_exact: bool
    settings: MatchSettings
    alpha: float
    comparisons: int
    seed: int

    @classmethod
    def of_test(
        cls,
        scenario: Scenario,
        name: str,
        settings: MatchSettings,
        alpha: float,
        comparisons: int,
    ) -> Self:
        """The test with this name against the reference of a scenario."""
        if name not in get_args(TestName):
            raise UnknownName.among("test", name, get_args(TestName))
        if not 1 <= as_size(comparisons, "comparisons") <= 10**9:
            must = "be a whole number from 1 to 1e9"
            raise InvalidInput(argument="comparisons", must=must, got=comparisons)
        if check_draws(settings.draws, 2) > _MAX_DRAWS:
            must = f"be at most {_MAX_DRAWS:,}"
            raise InvalidInput(argument="draws", must=must, got=settings.draws)
        m, is_known = scenario.metric, scenario.reference_counts is None
        is_exact, null = m.curve is not None, None
        test = "mid-p" if not is_exact else "binomial" if is_known else "fisher"
        if name == "match":
            test, null = name, "known" if is_known else settings.null
            if is_known and settings.null == "predictive":
                needs = "needs the reference's counts, as a ConfusionMatrix"
                raise InvalidInput(f"`null='predictive'` {needs}; got known rates")
            is_given = settings.given == "margin" or not m.tree.margin
            is_exact &= m.defined_by_denominator and is_given and null != "predictive"
        return cls(
            **vars(scenario),
            test=test,
            null=null,
            is_exact=is_exact,
            settings=settings,
            alpha=check_number(alpha, "alpha", 0, 1),
            comparisons=int(comparisons),
            # A search draws the same groups again and again.
            seed=int(generator(settings.rng).integers(2**63)),
        )

    @property
    def level(self) -> float:
        """The level of a single test."""
        return self.alpha / self.comparisons

    def plan(self, question: Any, **facts: Any) -> Plan:
        """A plan with what it assumes; one of another goal than power has no test."""
        if facts.get("goal", "power") == "power":
            names = ("alpha", "comparisons", "test", "null")
            facts |= {name: getattr(self, name) for name in names}
        counts, is_exact = self.reference_counts, facts["method"] == "exact"
        return Plan(
            question=question,
            metric=self.metric,
            n=self.n,
            denominator=self.denominator,
            reference_n=None if counts is None else int(counts.sum()),
            reference_score=self.reference_score,
            rng=None if is_exact else seed_of(self.settings.rng),
            _planned=self,
            **facts,
        )

    def power(self) -> TestPower:
        """The exact power, or a simulated one if there are too many terms."""
        if not self.is_exact:
            return self._simulate()
        try:
            if self.denominator is None:
                parts = self.mean_over_denominators(self.n, self.n, self.p_rejected)
            else:
                parts = self.p_rejected(self.denominator, self.denominator)
        except TooLarge:
            if self.reference_counts is None:
                raise
            return self._simulate()
        lower, higher = parts[:, 0].tolist()
        gap, power = self.true_score - self.reference_score, min(lower + higher, 1.0)
        wrong_way = power if gap == 0 else lower if gap > 0 else higher
        error = 0.0 if self.reference_counts is None else 4 * _SAMPLE_EPS
        return TestPower(power, wrong_way, self.p_undefined, "exact", error)

    def p_rejected(self, first: float, last: float) -> Floats:
        """P(rejected as lower) and P(rejected as higher), for denominators from first to last."""
        m, counts, parts = self.metric, self.reference_counts, []
        cases = None if counts is None else float(count_successes(m, counts)[1])
        is_known = cases is None or self.null == "known"
        rate = success_rate(m, self.reference_rates)
        weights, *bounds = _rejection_bounds(
            m, rate, cases, is_known, first, last, self.level
        )
        p, d = success_rate(m, self.rates), np.arange(first, last + 1.0)[:, None]
        for bound, rate, count in zip(bounds, (p, 1 - p), (0 * d, d), strict=True):
            # An undefined score is not rejected.
            lost = binomial_cdf(lacks_score(m, d, count) - 1.0, d, rate)
            part = np.maximum(binomial_cdf(bound, d, rate) - lost, 0.0)
            parts.append(part @ weights)
        return np.stack(parts)

    def mean_over_denominators(
        self, first: int, last: int, given: Callable[[float, float], Floats]
    ) -> Floats:
        """Means over groups of first to last cases of what is ``given`` the denominator, in rows."""
        check_cost(last - first, _MAX_TESTS, "there are {} sizes to look at", _HINT)
        rate = self.denominator_rate
        if rate == 1:
            return given(first, last)
        split, n = Binomial(rate, 1 - rate), np.arange(first, last + 1.0)
        low, high = split.window(n, _EPS)
        values, parts = given(low[0], high[-1]), []
        for part in np.array_split(n, 1 + int((high - low)[-1]) * len(n) // 2**20):
            table = split.table(part, _EPS)
            start = (table.start - low[0]).astype(np.int64)
            columns = start[:, None] + np.arange(table.pmf.shape[1])
            chosen = values.take(columns, axis=1, mode="clip")
            parts.append((chosen * table.pmf).sum(axis=-1))
        return np.concatenate(parts, axis=1)

    def normal_power(self) -> float:
        """The power of the normal test, as if cells were as expected."""
        from scipy.special import ndtr, ndtri

        counts = self.reference_counts
        total = _KNOWN_CASES if counts is None else counts.sum()
        group, reference = self.n * self.rates, total * self.reference_rates
        z = _normal_scores(self.metric, group[None], reference[None])[0]
        power = ndtr(z + ndtri(self.level / 2)) + ndtr(ndtri(self.level / 2) - z)
        return float(power * (1 - self.p_undefined))

    def _simulate(self) -> TestPower:
        """The simulated power."""
        from scipy.special import ndtr

        m, level = self.metric, self.level
        if self.test == "match" and self.n > _MAX_MATCH_CASES:
            limit = f"is simulated for at most {_MAX_MATCH_CASES:,} cases"
            raise TooLarge(f"the power of MATCH {limit}; use `test='fisher'`")
        if m.curve is not None:
            # Tails of Fisher's test are sums over about so many terms.
            counts = self.reference_counts
            share = 0 if counts is None else self.n / counts.sum()
            subject = f"tests of n = {self.n:,} cases are sums over {{}} terms"
            check_cost(sqrt(self.n / (1 + share)), _MAX_SPREAD, subject, _HINT)
        groups, references = self._draw()
        normal = np.maximum(2 * ndtr(-_normal_scores(m, groups, references)), 1e-300)
        closeness = np.sqrt(np.minimum(normal / level, level / normal))
        chances = np.maximum(closeness, _FAR)
        chances /= chances.sum()
        draws, rng = self.settings.draws, np.random.default_rng([self.seed, 1])
        rows = rng.choice(len(normal), draws, p=chances)
        weights = 1 / (len(normal) * chances[rows])
        parts = np.array_split(rows, 1 + draws // 32)
        pvalues = [
            self._pvalues(groups[part], references[part])
            for part in progress(parts, "testing simulated groups")
        ]
        rejected = np.concatenate(pvalues) <= level * ROUNDING
        terms = weights * (rejected * 1.0 - (normal[rows] <= level))
        value = float(np.clip((normal <= level).mean() + terms.mean(), 0.0, 1.0))
        error = sqrt(terms.var() / draws + 0.25 / len(normal) + 1 / draws**2)
        scores, direction = m.scores(groups), self.true_score - self.reference_score
        gaps = (scores - m.scores(references))[rows] * direction
        is_wrong = rejected & ((gaps < 0) | (direction == 0))
        wrong_way = min(float((weights * is_wrong).mean()), value)
        p_undefined = self.p_undefined
        if self.denominator is not None:
            p_undefined = float(np.isnan(scores).mean())
        return TestPower(value, wrong_way, p_undefined, "simulation", error)

    def _draw(self) -> tuple[Floats, Floats]:
        """Groups, and their references."""
        rng, tree = np.random.default_rng(self.seed), self.metric.tree
        law, counts = Multinomial(self.n, tuple(self.rates)), self.reference_counts
        groups = sample_cells(tree, law, rng, _NORMAL_DRAWS, self.denominator)
        if counts is None:
            known = tree.collapse(np.round(self.reference_rates * _KNOWN_CASES))
            return groups, np.broadcast_to(known, groups.shape)
        law = Multinomial(int(counts.sum()), tuple(self.reference_rates))
        margin = float(tree.counts(counts)[0])
        return groups, sample_cells(tree, law, rng, _NORMAL_DRAWS, margin)

    def _pvalues(self, groups: Floats, references: Floats) -> Floats:
        """P-values of the test itself."""
        m, null, given = self.metric, self.null, self.settings.given
        if null is None:
            return equality_test(m, groups, references).pvalues
        pairs = [
            map(ConfusionMatrix.from_array, pair)
            for pair in zip(groups, references, strict=True)
        ]
        tests = (match_test(*pair, m, null=null, given=given) for pair in pairs)
        return np.array([test.pvalue for test in tests])


def lacks_score(metric: OneGroupMetric, sizes: Floats, counts: Floats) -> Bools:
    """Whether so many successes of a denominator have no score, such as F1 without any TP."""
    cells = metric.tree.columns(sizes, sizes, 0 * sizes, counts)
    return np.asarray(metric.undefined_sets[0].contains(*cells) | (sizes == 0))


@lru_cache(maxsize=1)
def _rejection_bounds(
    metric: OneGroupMetric,
    rate: float,
    cases: float | None,
    is_known: bool,
    first: float,
    last: float,
    level: float,
) -> tuple[Floats, Floats, Floats]:
    """The largest numbers of successes rejected as lower, and of failures rejected as higher.

    There is a row for each denominator, and a column for each likely count of the reference, whose
    probabilities come first. Without ``cases``, its rate is known; if it ``is_known``, the test
    takes that of the counts as known. What is rejected does not depend on the truth, so that a
    search over true scores computes it once.
    """
    x, weights, total = np.array([rate]), np.ones(1), cases or 1.0
    # Tails of Fisher's test are sums over about so many terms.
    spread = 128.0 if is_known else sqrt(last / (1 + last / total))
    cost = (last - first + 1) * (1 + spread / 128)
    if cases is not None:
        split = Binomial(rate, 1 - rate)
        (low,), (high,) = split.window(np.array([cases]), _SAMPLE_EPS)
        cost *= high - low + 1
    subject = f"an exact power of up to {last:,.0f} cases needs {{}} tests"
    check_cost(cost, _MAX_TESTS, subject, _HINT)
    if cases is not None:
        x = np.arange(low, high + 1)
        is_lost = lacks_score(metric, np.full_like(x, cases), x)
        weights = np.where(is_lost, 0.0, split.pmf(x, cases))
    d = np.repeat(np.arange(first, last + 1.0), len(x))

    def largest_rejected(x: Floats) -> Floats:
        def rejects(k: Floats, rows: Integers) -> Bools:
            if is_known:
                tails = binomial_cdf(k, d[rows], p[rows])
            else:
                pairs = TwoRates(k, d[rows], counts[rows], np.array(total))
                tails = fisher_tails(pairs).lower
            return np.asarray(2 * tails <= level * ROUNDING)

        counts = np.tile(x, len(d) // len(x))
        p = counts / total
        variance = d * p * (1 - p) * (1 if is_known else 1 + d / total)
        bounds = last_true(rejects, np.floor(d * p - 2 * np.sqrt(variance)), d)
        return bounds.reshape(-1, len(x))

    return weights, largest_rejected(x), largest_rejected(total - x)


def last_true(
    holds: Callable[[Floats, Integers], Bools], guess: Floats, highest: Floats
) -> Floats:
    """The largest whole numbers from 0 to ``highest`` up to which ``holds``; -1 if it never does.

    ``holds`` gets numbers, and their places in the arrays. The search gallops away from a guess,
    and then bisects.

    >>> last_true(lambda k, rows: k * k <= 30, np.array([2.0]), np.array([9.0]))
    array([5.])
    """
    low, high = np.full(len(highest), -1.0), highest + 1
    k, step, rows = np.clip(guess, 0, highest), 1.0, np.arange(len(highest))
    while len(rows):
        is_true = holds(k[rows], rows)
        low[rows[is_true]] = k[rows[is_true]]
        high[rows[~is_true]] = k[rows[~is_true]]
        rows = rows[high[rows] - low[rows] > 1]
        middle = np.floor((low[rows] + high[rows]) / 2)
        k[rows] = np.clip(middle, k[rows] - step, k[rows] + step)
        step *= 2
    return low


def _normal_scores(metric: OneGroupMetric, groups: Floats, references: Floats) -> Floats:
    """Gaps in standard errors, by the delta method; 0 where a score is undefined."""
    gap, variance, is_defined = 0.0, 0.0, True
    for cells, sign in ((groups, 1), (references, -1)):
        score, slopes = metric.scores(cells + 0.5), score_slopes(metric, cells)
        if metric.is_unbounded:
            score, slopes = np.log(score), slopes / score[:, None]
        gap += sign * score
        variance += (slopes**2 * (cells + 0.5)).sum(axis=1)
        is_defined &= ~metric.undefined_sets[0].contains(*cells.T)
    z = np.abs(gap) / np.sqrt(variance)
    return np.nan_to_num(np.where(is_defined, z, 0.0))


def search_simulated(
    at: Callable[[Number], PlannedTest],
    search: Callable[[Callable[[Number], bool]], Number | None],
    target: float,
) -> dict[Number, TestPower]:
    """Simulated powers of up to three places, the last of which has the target.

    ``search`` finds the first place where a condition holds. The power that is searched is that of
    the normal test, and then corrected: the normal quantiles of both tests differ by about the same
    amount everywhere. Without such a place, it is empty.
    """
    from scipy.special import ndtr, ndtri

    goal = target
    results: dict[Number, TestPower] = {}

    def is_enough(place: Number) -> bool:
        return at(place).normal_power() >= goal

    for _ in range(3):
        place = search(is_enough)
        if place is None:
            return {}
        results.pop(place, None)
        results[place] = result = at(place).power()
        if abs(result.value - target) <= 2 * result.error:
            break
        powers = [at(place).normal_power(), target, result.value]
        goal = float(ndtr(ndtri(np.clip(powers, 1e-6, 1 - 1e-6)) @ [1, 1, -1]))
    return results


def _detect(planned: PlannedTest, target: float, end: float) -> tuple[float | None, float]:
    """The difference closest to 0 that has the power, on the way to an end of the range.

    If it is lost again near the end, where some scores become undefined, it starts from before. The
    second number is the error of the power there.
    """
    start = planned.reference_score
    distance = min(end - start, _TIMES * max(start, 1.0))
    shares = (0.999, 0.97, 0.9, 0.75, 0.5) if distance else ()

    def at(share: float) -> PlannedTest:
        return planned.at(start + share * distance)

    def search(is_enough: Callable[[float], bool]) -> float | None:
        high = next((share for share in shares if is_enough(share)), None)
        low = 0.0
        while high and high - low > 1e-8 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high

    if planned.is_exact:
        share = search(lambda share: at(share).power().value >= target)
        results = {share: at(share).power()} if share else {}
    else:
        results = search_simulated(at, search, target)
    if not results:
        return None, 0.0
    share, result = results.popitem()
    return share * distance, result.error
