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
from functools import lru_cache, partial
from math import inf, sqrt
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import ConfusionMatrix, as_size
from ..distributions import Binomial, binomial_cdf, sample_cells, undefined_probability_of
from ..errors import InvalidInput, TooLarge, UnknownName, check_cost
from ..inference import (
    ROUNDING,
    Given,
    MatchSettings,
    NullDistribution,
    NullName,
    TwoRates,
    count_successes,
    equality_test,
    fisher_tails,
    one_group_metric,
)
from ..metrics import Metric, OneGroupMetric
from ..progress import ProgressLine
from ..randomness import Rng, check_draws, generator, seed_of
from ..records import Record, reach
from ..wording import decided, several
from .scenario import Scenario, Side, check_between, multinomial, reachable_scores

TestName = Literal["fisher", "match"]
Number = TypeVar("Number", int, float)

DRAWS = 1_000
# Cases of a group, tested draws, and cases of simulated MATCH tests, at most.
MAX_CASES, _MAX_DRAWS, _MAX_MATCH_CASES = 10**15, 10_000, 2_000
# Probability that windows of counts leave out on either side: of known rates, and of samples.
_EPS, _SAMPLE_EPS = 1e-16, 1e-11
# Tests of an exact power, at most, how many are computed at once, and the largest spread of counts.
_MAX_TESTS, _BLOCK, _MAX_SPREAD = 2**17, 2**15, 2**14
# Draws of the normal test, and how many are tested between two looks at the standard error; standard
# errors that are enough for an answer, and on the way to it.
_NORMAL_DRAWS, _STEP, _ENOUGH, _ROUGHLY = 20_000, 128, 0.01, 0.02
# The probability of a draw to be tested is at least this share of the largest one.
_FAR = 0.1
# Known rates stand for a reference of this many cases where a test needs counts.
_KNOWN_CASES = 1e9
# Scores without an upper limit are looked at up to so many times the reference's.
_TIMES = 1e3
_TEST_NAMES = {
    "fisher": "Fisher's exact test of equal rates",
    "binomial": "the exact binomial test",
    "mid-p": "the approximate test of equal scores",
    "match": "the MATCH test",
}
# First lines of plans by their question, or by another goal than power.
_HEADLINES = {
    "power": "Power {value} to find a difference in {key} {difference}",
    "sample_size": "{cases} find{s} a difference in {key} {difference} with a power of {value}",
    "half-width": "{cases} give{s} a {level} interval of {key} within ±{width:g} in {value} of groups",
    "undefined": "{cases} leave{s} {key} undefined with probability {value}",
    "detectable_difference": "Smallest differences in {key} that {cases} show{s} with a power of {target:g}",
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
        The largest number of simulated groups that are tested; fewer if the standard error of the
        power is at most 1 percentage point.
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
    scenario = Scenario.of(one_group_metric(metric), reference, difference, truth)
    match = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    planned = PlannedTest.of(scenario, test, match, alpha, comparisons)
    size, margin = _check_size(scenario, n, denominator)
    result = planned.power(scenario, size, margin)
    return make_plan(
        scenario,
        rng,
        planned,
        question="power",
        n=size,
        denominator=margin,
        true_score=scenario.true_score,
        **result._asdict(),
    )


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
    target = check_between(power, "power")
    target = check_between(power, "power")
    scenario = Scenario.of(one_group_metric(metric), reference, 0.0)
    match = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    planned = PlannedTest.of(scenario, test, match, alpha, comparisons)
    size, margin = _check_size(scenario, n, denominator)
    no_difference = planned.power(scenario, size, margin)
    if no_difference.method != "exact":
        planned = replace(planned, is_exact=False)
    ends = reachable_scores(scenario.metric, scenario.reference_rates)
    if ends[0] == ends[1]:
        raise InvalidInput(
            f"the true {scenario.metric.key} cannot move away from the reference's: rates of "
            "exactly 0 or 1 stay where they are; pass the group's `truth` to power()"
        )
    (lower, error), (higher, other_error) = (_detect(planned, scenario, size, margin, target, end) for end in ends)
    if no_difference.value < 1e-9 and not lower and not higher:
        text = f"no likely outcome of n = {size:,} cases reaches p <= {planned.level:g}"
        raise InvalidInput(f"{text}, so no difference is detectable")
    return make_plan(
        scenario,
        rng,
        planned,
        question="detectable_difference",
        method=no_difference.method,
        target=target,
        n=size,
        denominator=margin,
        lower=lower,
        higher=higher,
        value=target,
        error=max(error, other_error),
    )


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
    _scenario: Scenario = field(compare=False)
    _test: PlannedTest | None = field(default=None, compare=False)
    _derived: ClassVar[tuple[str, ...]] = (
        *("difference", "lower_score", "higher_score"),
        *("power", "expected_denominator"),
    )

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
        expected = self.n * self._scenario.denominator_rate
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
        test = self._require_power()
        scenarios = (self._scenario.at(float(score)) for score in scores)
        return [test.power(scenario, self.n, self.denominator).value for scenario in scenarios]

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
        ends = reachable_scores(self._scenario.metric, self._scenario.reference_rates)
        detected = [1.5 * (gap or 0.0) for gap in (self.lower, self.higher)]
        reach = max(0.1, *map(abs, (2 * (self.difference or 0.0), *detected)))
        low, high = np.clip([-reach, reach], *np.subtract(ends, self.reference_score))
        count = 65 if self.method == "exact" else 9
        scores = (self.reference_score + np.linspace(low, high, count)).tolist()
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

    def _require_power(self) -> PlannedTest:
        if self._test is None:
            raise InvalidInput("the plan is one of an interval or of a score that exists, so it has no power")
        return self._test

    def __str__(self) -> str:
        target, value = self.target or 0.0, 100 * self.value
        # With the digits that show on which side of the target it is.
        limits = [] if self.target is None else [100 * target]
        headline = _HEADLINES[self.question if self.goal == "power" else self.goal].format(
            key=self.metric.key,
            cases=several(self.n, "case"),
            s="s" if self.n == 1 else "",
            difference=f"of {self.difference:+.4g}" if self.difference else "where none is",
            value=decided(value, limits, lambda more: f"{value:.{3 + more}g}") + "%",
            target=target,
            width=self.half_width or 0.0,
            level=f"{100 * (self.confidence_level or 0.0):g}%",
        )
        return block(headline, self._facts())

    def _facts(self) -> dict[str, str]:
        """The lines below the first one: labels and texts, of which some are empty."""
        facts, part, level = {}, self.metric.base.denominator, f"{self.alpha or 0:g}"
        if self.comparisons not in (None, 1):
            level += f" / {self.comparisons:,}"
        if self.question == "power":
            given = "" if self.denominator is None or not part else f", {part.format_count(self.denominator)}"
            facts["group"] = f"{several(self.n, 'case')}{given}, true score {self.true_score:.4g}"
        elif self.question == "sample_size":
            limit = "at most" if self.goal == "undefined" else "at least"
            facts["goal"] = f"{limit} {self.target:g}{self._stays()}"
            facts["of them"] = f"about {part.format_count(round(self.expected_denominator or 0))}" if part else ""
        else:
            for side, gap in (("lower", self.lower), ("higher", self.higher)):
                score = self.reference_score + (gap or 0.0)
                facts[side] = "none" if gap is None else f"{gap:+.4g}, to a true score of {score:.4g}"
        reference = "known rates" if self.reference_n is None else several(self.reference_n, "case")
        facts["reference"] = f"{reference}, score {self.reference_score:.4g}"
        facts["test"] = f"{self.test_name}, p <= {level}" if self.test else ""
        if self.wrong_way is not None and self.difference:
            facts["wrong way"] = f"{percent(self.wrong_way)} of groups differ significantly in the wrong direction"
        if self.question == "power":
            facts["undefined"] = f"{percent(self.p_undefined or 0.0)} of groups have no score"
        is_exact = self.method == "exact"
        facts["method"] = "exact" if is_exact else f"simulation, standard error {self.error:.2g}"
        if self.p_undefined == 1:
            facts["caution"] = "every possible outcome has an undefined score"
        elif self.test and self.value == 0 and is_exact:
            facts["caution"] = f"no outcome that this truth allows reaches p <= {level}"
        return facts

    def _stays(self) -> str:
        """From which number of cases on the goal is reached, in words."""
        if self.n_stays is None:
            return ""
        larger = "larger number" if self.n_stays == self.n else f"number from {self.n_stays:,}"
        looked = "" if self.n_looked is None else f" up to {self.n_looked:,}"
        return f"; so does every {larger}{looked}"


def block(head: str, facts: dict[str, str]) -> str:
    """Format a result: a sentence, and a line with its label for each fact that is not empty."""
    return "\n".join([head, *(f"  {label:<11} {text}" for label, text in facts.items() if text)])


def percent(probability: float) -> str:
    """Format a probability as a percentage with three digits."""
    return f"{100 * probability:.3g}%"


def make_plan(scenario: Scenario, rng: Rng, test: PlannedTest | None, **facts: Any) -> Plan:
    """A plan with what follows from its scenario and its test, if it has one."""
    if test:
        facts |= {"alpha": test.alpha, "comparisons": test.comparisons, "test": test.name, "null": test.null}
    return Plan(
        metric=scenario.metric,
        reference_n=scenario.reference_n,
        reference_score=scenario.reference_score,
        rng=None if facts["method"] == "exact" else seed_of(rng),
        _scenario=scenario,
        _test=test,
        **facts,
    )


def _check_size(scenario: Scenario, n: Any, denominator: Any) -> tuple[int, int | None]:
    """Check a number of cases and a denominator, such that the score can be defined."""
    m, size = scenario.metric, as_size(n)
    margin = None if denominator is None else as_size(denominator, "denominator")
    if size > MAX_CASES:
        raise TooLarge(f"`n` must be at most {MAX_CASES:,} cases; got {size:,}")
    if margin is not None and m.denominator is None:
        raise InvalidInput(f"{m.key} is a score of all n cases, so it has no `denominator` to give")
    if margin is not None and margin > size:
        raise InvalidInput(f"`denominator` must be at most n = {size:,}; got {margin:,}")
    reason = m.why_undefined(scenario.rates)
    if not reason and margin == 0:
        reason = "its denominator is 0"
    if not reason and undefined_probability_of(m.undefined_sets[0], multinomial(scenario.rates, size)) >= 1:
        reason = "it needs more cases"
    if reason:
        raise InvalidInput(f"{m.key} is always undefined at n = {size:,}: {reason}")
    return size, margin


# Tests


class TestPower(NamedTuple):
    """The probability of a rejection, and of one in the wrong direction."""

    value: float
    wrong_way: float
    p_undefined: float
    method: str
    error: float


@dataclass(frozen=True)
class PlannedTest:
    """A test whose power is computed, at one level.

    If ``is_exact``, it is Fisher's test of one rate, or the binomial test against known rates.
    """

    name: str
    is_exact: bool
    match: MatchSettings
    alpha: float
    comparisons: int
    seed: int

    @classmethod
    def of(cls, scenario: Scenario, test: str, match: MatchSettings, alpha: float, comparisons: int) -> PlannedTest:
        """The test against the reference of a scenario, from arguments that are checked."""
        if test not in get_args(TestName):
            raise UnknownName.among("test", test, get_args(TestName))
        if not 1 <= as_size(comparisons, "comparisons") <= 10**9:
            must = "be a whole number from 1 to 1e9"
            raise InvalidInput(argument="comparisons", must=must, got=comparisons)
        if check_draws(match.draws, 2) > _MAX_DRAWS:
            raise InvalidInput(argument="draws", must=f"be at most {_MAX_DRAWS:,}", got=match.draws)
        m, is_known = scenario.metric, scenario.reference_counts is None
        is_exact = m.curve is not None
        name = "mid-p" if not is_exact else "binomial" if is_known else "fisher"
        if test == "match":
            if is_known and match.null == "predictive":
                text = "`null='predictive'` needs the reference's counts, as a ConfusionMatrix"
                raise InvalidInput(f"{text}; got known rates")
            name, match = "match", replace(match, null="known") if is_known else match
            is_given = match.given == "margin" or not m.tree.margin
            is_exact &= m.defined_by_denominator and is_given and match.null != "predictive"
        # A search draws the same groups again and again.
        seed = seed_of(match.rng)
        if seed is None:
            seed = int(generator(match.rng).integers(2**63))
        return cls(name, is_exact, match, check_between(alpha, "alpha"), int(comparisons), seed)

    @property
    def null(self) -> NullName | None:
        """The null of MATCH."""
        return self.match.null if self.name == "match" else None

    @property
    def level(self) -> float:
        """The level of a single test."""
        return self.alpha / self.comparisons

    def power(self, scenario: Scenario, n: int, denominator: int | None = None, enough: float = _ENOUGH) -> TestPower:
        """The exact power, or a simulated one if there are too many terms."""
        if not self.is_exact:
            return self._simulate(scenario, n, denominator, enough)
        m = scenario.metric
        try:
            if denominator is None:
                parts = mean_over_denominators(scenario, np.array([n]), partial(self.rejected, scenario))
                undefined = undefined_probability_of(m.undefined_sets[0], multinomial(scenario.rates, n))
            else:
                size = np.array([float(denominator)])
                parts, counts = self.rejected(scenario, size), np.append(0.0, size)
                p = Binomial(scenario.rate, 1 - scenario.rate).pmf(counts, size)
                undefined = float(p @ lacks_score(m, 0 * counts + size, counts))
        except TooLarge:
            if scenario.reference_counts is None:
                raise
            return self._simulate(scenario, n, denominator, enough)
        lower, higher = parts[:, 0].tolist()
        gap = scenario.true_score - scenario.reference_score
        wrong_way = lower + higher if gap == 0 else lower if gap > 0 else higher
        error = 0.0 if scenario.reference_counts is None else 4 * _SAMPLE_EPS
        return TestPower(min(lower + higher, 1.0), wrong_way, undefined, "exact", error)

    def rejected(self, scenario: Scenario, sizes: Floats) -> Floats:
        """P(rejected as lower) and P(rejected as higher), given each denominator."""
        m, rate, d = scenario.metric, scenario.rate, sizes[:, None]
        counts = scenario.reference_counts
        cases = None if counts is None else float(count_successes(m, counts)[1])
        x, weights = _reference_outcomes(m, scenario.reference_rate, cases)
        # Against known rates, the reference's rates stand for its counts.
        is_known = cases is None or self.null == "known"
        x, total = (x / (cases or 1.0), 1.0) if is_known else (x, cases or 0.0)
        bounds = _rejection_bounds(x.tobytes(), None if is_known else total, sizes.tobytes(), self.level)
        parts = []
        for bound, p, none in zip(bounds, (rate, 1 - rate), (0 * d, d), strict=True):
            tails = binomial_cdf(bound, d, p, 1 - p)
            without_score = np.where(lacks_score(m, d, none), Binomial(p, 1 - p).pmf(0.0, d), 0.0)
            parts.append(np.maximum(tails - without_score * (bound >= 0), 0.0) @ weights)
        return np.stack(parts)

    def normal_power(self, scenario: Scenario, n: int, denominator: int | None = None) -> float:
        """The power of the normal test, which is cheap."""
        pvalues = _normal_pvalues(scenario.metric, *self._draw(scenario, n, denominator))
        return float((pvalues <= self.level).mean())

    def _simulate(self, scenario: Scenario, n: int, denominator: int | None, enough: float) -> TestPower:
        """The simulated power; fewer draws are tested if its standard error is small ``enough``."""
        if self.name == "match" and n > _MAX_MATCH_CASES:
            text = f"the power of MATCH is simulated for at most {_MAX_MATCH_CASES:,} cases"
            raise TooLarge(f"{text}; got n = {n:,}; use `test='fisher'`")
        m, level = scenario.metric, self.level
        if m.curve is not None:
            spread = sqrt(n / (1 + n / (scenario.reference_n or inf)))
            subject = f"tests of n = {n:,} cases are sums over {{}} terms"
            check_cost(spread, _MAX_SPREAD, subject, "take fewer cases")
        groups, references = self._draw(scenario, n, denominator)
        normal = np.maximum(_normal_pvalues(m, groups, references), 1e-300)
        closeness = np.maximum(np.sqrt(np.minimum(normal / level, level / normal)), _FAR)
        chances = closeness / closeness.sum()
        rows = np.random.default_rng([self.seed, 1]).choice(len(normal), self.match.draws, p=chances)
        weights = 1 / (len(normal) * chances[rows])
        rejected, error = np.empty(0, bool), 1.0
        with ProgressLine() as report:
            while error > enough and len(rejected) < self.match.draws:
                report("testing simulated groups", len(rejected), self.match.draws)
                step = rows[len(rejected) :][:_STEP]
                pvalues = self._pvalues(m, groups[step], references[step])
                rejected = np.append(rejected, pvalues <= level * ROUNDING)
                k = len(rejected)
                terms = weights[:k] * (rejected * 1.0 - (normal[rows[:k]] <= level))
                error = sqrt(terms.var() / k + 0.25 / len(normal) + 1 / k**2)
        value = float(np.clip((normal <= level).mean() + terms.mean(), 0.0, 1.0))
        direction = np.sign(scenario.true_score - scenario.reference_score)
        gaps = (m.scores(groups) - m.scores(references))[rows[:k]] * direction
        is_wrong = rejected & ((gaps < 0) | (direction == 0))
        if denominator is None:
            undefined = undefined_probability_of(m.undefined_sets[0], multinomial(scenario.rates, n))
        else:
            undefined = float(np.isnan(m.scores(groups)).mean())
        wrong_way = min(float((weights[:k] * is_wrong).mean()), value)
        return TestPower(value, wrong_way, undefined, "simulation", error)

    def _draw(self, scenario: Scenario, n: int, denominator: int | None) -> tuple[Floats, Floats]:
        """Groups, and their references."""
        rng, tree = np.random.default_rng(self.seed), scenario.metric.tree
        law, counts = multinomial(scenario.rates, n), scenario.reference_counts
        groups = sample_cells(tree, law, rng, _NORMAL_DRAWS, denominator)
        if counts is None:
            known = tree.collapse(np.round(scenario.reference_rates * _KNOWN_CASES))
            return groups, np.broadcast_to(known, groups.shape)
        law, margin = multinomial(scenario.reference_rates, int(counts.sum())), float(tree.counts(counts)[0])
        return groups, sample_cells(tree, law, rng, _NORMAL_DRAWS, margin)

    def _pvalues(self, metric: OneGroupMetric, groups: Floats, references: Floats) -> Floats:
        if self.null is None:
            return equality_test(metric, groups, references).pvalues
        pvalues = []
        for cells in zip(groups, references, strict=True):
            group, rest = map(ConfusionMatrix.from_array, cells)
            null = NullDistribution.of(group, rest, metric, self.match)
            tails = null.tails(null.observed(group), relative=False)
            pvalues.append(null.pvalue(tails, "two-sided"))
        return np.array(pvalues)


def lacks_score(metric: OneGroupMetric, sizes: Floats, counts: Floats) -> Bools:
    """Whether so many successes of a denominator have no score, such as F1 without any TP."""
    cells = metric.tree.columns(sizes, sizes, 0 * sizes, counts)
    return np.asarray(metric.undefined_sets[0].contains(*cells) | (sizes == 0))


def _reference_outcomes(metric: OneGroupMetric, rate: float, cases: float | None) -> tuple[Floats, Floats]:
    """The likely counts of a reference and their probabilities; its rate if that is known."""
    if cases is None:
        return np.array([rate]), np.ones(1)
    split = Binomial(rate, 1 - rate)
    low, high = (float(end[0]) for end in split.window(np.array([cases]), _SAMPLE_EPS))
    subject = f"a reference of {cases:,.0f} cases has {{}} likely counts"
    check_cost(high - low + 1, _MAX_TESTS, subject, "pass its rates in place of its counts")
    counts = np.arange(low, high + 1)
    is_lost = lacks_score(metric, np.full_like(counts, cases), counts)
    return counts, np.where(is_lost, 0.0, split.pmf(counts, cases))


@lru_cache(maxsize=1)
def _rejection_bounds(reference: bytes, cases: float | None, sizes: bytes, level: float) -> tuple[Floats, Floats]:
    """The largest numbers of successes rejected as lower, and of failures rejected as higher.

    There is a row for each denominator, and a column for each count (without ``cases``, each rate) of
    the reference. Both arrays of floats come as bytes. What is rejected does not depend on the truth,
    so that a search over true scores computes it once.
    """
    from scipy.special import ndtri

    x, d = (np.frombuffer(values) for values in (reference, sizes))
    shape, largest, total = (len(d), len(x)), float(d.max(initial=0.0)), cases or 1.0
    # Tails of Fisher's test are sums over about so many terms.
    spread = sqrt(largest * total / max(largest + total, 1.0))
    cost = len(d) * len(x) * (1 + spread / 128 if cases else 2)
    subject = f"an exact power of up to {largest:,.0f} cases needs {{}} tests"
    check_cost(cost, _MAX_TESTS, subject, "take fewer cases, or give the `denominator`")
    d, x = np.repeat(d, shape[1]), np.tile(x, shape[0])
    inflation = 1 + d / cases if cases else 1.0

    def largest_rejected(x: Floats) -> Floats:
        def rejects(k: Floats, rows: Integers) -> Bools:
            if cases:
                tails = fisher_tails(TwoRates(k, d[rows], x[rows], np.asarray(cases))).lower
            else:
                tails = binomial_cdf(k, d[rows], x[rows])
            return np.asarray(2 * tails <= level * ROUNDING)

        rate = x / total
        deviation = np.sqrt(d * rate * (1 - rate) * inflation)
        guess = np.floor(d * rate + float(ndtri(level / 2)) * deviation)
        return last_true(rejects, guess, d).reshape(shape)

    return largest_rejected(x), largest_rejected(total - x)


def last_true(holds: Callable[[Floats, Integers], Bools], guess: Floats, highest: Floats) -> Floats:
    """The largest whole numbers from 0 to ``highest`` up to which ``holds``; -1 if it never does.

    ``holds`` gets numbers, and their places in the arrays. The search gallops away from a guess,
    and then bisects.

    >>> last_true(lambda k, rows: k * k <= 30, np.array([2.0]), np.array([9.0]))
    array([5.])
    """
    low, high = np.full(len(highest), -1.0), highest + 1
    k, step, rows = np.clip(guess, 0, highest), 1.0, np.arange(len(highest))
    while len(rows):
        parts = np.array_split(rows, 1 + len(rows) // _BLOCK)
        is_true = np.concatenate([holds(k[part], part) for part in parts])
        low[rows[is_true]] = k[rows[is_true]]
        high[rows[~is_true]] = k[rows[~is_true]]
        rows = rows[high[rows] - low[rows] > 1]
        middle = np.floor((low[rows] + high[rows]) / 2)
        k[rows] = np.clip(middle, k[rows] - step, k[rows] + step)
        step *= 2
    return low


def mean_over_denominators(scenario: Scenario, sizes: Integers, given: Callable[[Floats], Floats]) -> Floats:
    """Means over groups of each size of what is ``given`` the denominator, in rows."""
    n, rate = sizes.astype(np.float64), scenario.denominator_rate
    if rate == 1:
        return given(n)
    split = Binomial(rate, 1 - rate)
    low, high = split.window(n, _EPS)
    first, width = low.min(), int((high - low).max()) + 1
    subject = f"the denominator of up to {n.max():,.0f} cases has {{}} likely values"
    hint = "take fewer cases, or give the `denominator`"
    check_cost(high.max() - first + 1, 2**22, subject, hint)
    values, parts = given(np.arange(first, high.max() + 1)), []
    for part in np.array_split(n, 1 + width * len(n) // 2**20):
        table = split.table(part, _EPS)
        columns = (table.start[:, None] - first).astype(np.int64) + np.arange(table.pmf.shape[1])
        columns = np.minimum(columns, values.shape[1] - 1)
        parts.append((values[:, columns] * table.pmf).sum(axis=-1))
    return np.concatenate(parts, axis=1)


def _normal_pvalues(metric: OneGroupMetric, groups: Floats, references: Floats) -> Floats:
    """P-values of the gap divided by its standard error; 1 where a score is undefined."""
    from scipy.special import ndtr

    sides = (groups, references)
    (score, variance), (reference_score, reference_variance) = (_delta_method(metric, side) for side in sides)
    z = np.abs(score - reference_score) / np.sqrt(variance + reference_variance)
    is_undefined = np.logical_or(*(metric.undefined_sets[0].contains(*side.T) for side in sides))
    return np.where(is_undefined, 1.0, np.nan_to_num(2 * ndtr(-z), nan=1.0))


def _delta_method(metric: OneGroupMetric, cells: Floats) -> tuple[Floats, Floats]:
    """Scores with 1/2 added to each cell, and their variances; of unbounded scores, of the logs."""
    n = cells.sum(axis=-1, keepdims=True)
    p = (cells + 0.5) / (n + 2)

    def score(rates: Floats) -> Floats:
        values = metric.score(*rates.T)
        return np.asarray(np.log(values) if metric.is_unbounded else values)

    steps = 1 + 1e-5 * np.eye(4)
    # The slopes times p. Scores do not depend on the scale of the cells, so the mean slope is 0.
    slopes = np.stack([score(p * step) - score(p * (2 - step)) for step in steps], axis=-1) / 2e-5
    return score(p), (slopes**2 / p).sum(axis=-1) / np.maximum(n[..., 0], 1.0)


def search_simulated(
    test: PlannedTest,
    sides: Callable[[Number], tuple[Scenario, int, int | None]],
    search: Callable[[Callable[[Number], bool]], Number | None],
    target: float,
) -> dict[Number, TestPower]:
    """Simulated powers of two or three places, the last of which has the target.

    ``sides`` has the scenario of a place, and ``search`` the first place where a condition holds.
    The power that is searched is that of the normal test, and then corrected: the normal quantiles
    of both tests differ by about the same amount everywhere. Without such a place, it is empty.
    """
    from scipy.special import ndtr, ndtri

    goal = target
    results: dict[Number, TestPower] = {}

    def is_enough(place: Number) -> bool:
        return test.normal_power(*sides(place)) >= goal

    for enough in (_ROUGHLY, _ENOUGH, _ENOUGH):
        place = search(is_enough)
        if place is None:
            return {}
        results.pop(place, None)
        results[place] = result = test.power(*sides(place), enough=enough)
        if enough == _ENOUGH and abs(result.value - target) <= 2 * result.error:
            break
        powers = np.clip([test.normal_power(*sides(place)), target, result.value], 1e-6, 1 - 1e-6)
        goal = float(ndtr(ndtri(powers) @ [1, 1, -1]))
    return results


def _detect(
    test: PlannedTest, scenario: Scenario, n: int, denominator: int | None, target: float, end: float
) -> tuple[float | None, float]:
    """The difference closest to 0 that has the power, on the way to an end of the range.

    If it is lost again near the end, where some scores become undefined, it starts from before. The
    second number is the error of the power there.
    """
    start = scenario.reference_score
    distance = (_TIMES * max(start, 1.0) if np.isinf(end) else end) - start
    precision = 1e-8 if test.is_exact else 1e-4

    def sides(share: float) -> tuple[Scenario, int, int | None]:
        return scenario.at(start + share * distance), n, denominator

    def search(is_enough: Callable[[float], bool]) -> float | None:
        high = next((share for share in (0.999, 0.97, 0.9, 0.75, 0.5) if is_enough(share)), None)
        low = 0.0
        while high and high - low > precision * high:
            middle = (low + high) / 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high

    if distance == 0:
        return None, 0.0
    if test.is_exact:
        share = search(lambda share: test.power(*sides(share)).value >= target)
        return (share * distance, test.power(*sides(share)).error) if share else (None, 0.0)
    results = search_simulated(test, sides, search, target)
    return next(((share * distance, result.error) for share, result in reversed(results.items())), (None, 0.0))
