"""Power: how likely a test is to find a difference, and the smallest differences that it finds.

How it is computed, see `planned_tests`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import InvalidInput
from ..inference import Given, NullName
from ..metrics import Metric
from ..randomness import Rng, seed_of
from ..records import Record, reach
from .planned_tests import DRAWS, PlannedTest, TestName, first_place, plan_test, search_power
from .scenario import Side, check_number, reachable_scores

# Scores without an upper limit are looked at up to so many times the reference's.
_TIMES = 1e3
# Differences that are told apart.
_STEPS = 2**27
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
    settings = alpha, comparisons, test, null, given, draws, rng
    planned = plan_test(metric, reference, difference, truth, *settings).of_size(n, denominator)
    result = planned.power()._asdict()
    return make_plan(planned, "power", true_score=planned.true_score, **result)


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
    settings = alpha, comparisons, test, null, given, draws, rng
    planned = plan_test(metric, reference, 0.0, None, *settings).of_size(n, denominator)
    result = planned.power()
    planned = replace(planned, is_exact=result.method == "exact")
    ends = reachable_scores(planned.metric, planned.reference_rates)
    (lower, error), (higher, other_error) = (_detect(planned, target, end) for end in ends)
    if result.value < 1e-9 and not lower and not higher:
        reached = f"n = {n:,} cases reaches p <= {planned.level:g}"
        raise InvalidInput(f"no likely outcome of {reached}, so no difference is detectable")
    facts = {"method": result.method, "error": max(error, other_error) or result.error}
    facts |= {"target": target, "value": target}
    return make_plan(planned, "detectable_difference", lower=lower, higher=higher, **facts)


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
        return [self._planned.at(float(score)).power().value for score in scores]

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
        reach = max(
            0.1, *(2 * abs(gap or 0.0) for gap in (self.difference, self.lower, self.higher))
        )
        low, high = reachable_scores(planned.metric, planned.reference_rates)
        count = 65 if self.method == "exact" else 9
        scores = np.linspace(max(start - reach, low), min(start + reach, high), count).tolist()
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
        return str(reach("Plan.__str__")(self))


def make_plan(planned: PlannedTest, question: Any, **facts: Any) -> Plan:
    """A plan with what it assumes; one of another goal than power has no test."""
    names = ["metric", "n", "denominator", "reference_n", "reference_score"]
    if facts.get("goal", "power") == "power":
        names += ["alpha", "comparisons", "test", "null"]
    facts |= {name: getattr(planned, name) for name in names}
    seed = None if facts["method"] == "exact" else seed_of(planned.settings.rng)
    return Plan(question=question, rng=seed, _planned=planned, **facts)


def _detect(planned: PlannedTest, target: float, end: float) -> tuple[float | None, float]:
    """The difference closest to 0 that has the power, on the way to an end of the range.

    If it is lost again near the end, where some scores become undefined, it starts from before. The
    second number is the standard error of a simulated power.
    """
    start = planned.reference_score
    step = (min(end, start + _TIMES * max(start, 1.0)) - start) / _STEPS
    limits = [int(share * _STEPS) for share in (0.999, 0.97, 0.9, 0.75, 0.5) if step]

    def at(place: int) -> PlannedTest:
        return planned.at(start + place * step)

    if planned.is_exact:
        place = first_place(lambda place: at(place).power().value >= target, limits)
        return place and place * step, 0.0
    results = search_power(at, limits, target)
    if not results:
        return None, 0.0
    place, result = [*results.items()][-1]
    return place * step, result.error
