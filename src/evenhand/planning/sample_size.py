"""Sample sizes: how many cases a test, an interval or a score needs.

What is reached goes up and down as n grows, since a small group has few possible scores. For scores
of one rate it is exact, and every size is looked at from where it is clearly missed to where it is
clearly reached. Beyond a thousand cases the ups and downs are small: at most about 1/sd, where sd is
the standard deviation of the count. Other scores are simulated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from ..arrays import Bools, Floats
from ..confusion import as_size
from ..distributions import Binomial, binomial_cdf, sample_cells
from ..errors import InvalidInput, TooLarge, check_cost
from ..inference import (
    Given,
    MatchSettings,
    NullName,
    check_confidence_level,
    one_group_metric,
    score_intervals,
    undefined_probability,
)
from ..metrics import Metric
from ..progress import ProgressLine
from ..randomness import Rng
from ..wording import several
from .power import (
    DRAWS,
    MAX_CASES,
    Plan,
    PlannedTest,
    TestName,
    lacks_score,
    last_true,
    make_plan,
    mean_over_denominators,
    search_simulated,
)
from .scenario import Scenario, Side, check_between, multinomial

# All sizes up to this one are looked at, and so many at once at first.
_SMALL, _BLOCK = 512, 64
# A goal must hold over this share of the sizes that were looked at before it is said to stay.
_STAYS = 0.3
# Simulated intervals, and denominators whose intervals are computed at once, at most.
_INTERVALS, _MAX_INTERVALS = 200, 2**15
_MAX_POINTS = 200
# A value that rounding leaves just short of the target counts.
_ROUNDING = 1e-12


def sample_size(
    metric: str | Metric,
    reference: Side,
    difference: float | None = None,
    *,
    power: float = 0.8,
    truth: Side | None = None,
    half_width: float | None = None,
    undefined_below: float | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    confidence_level: float = 0.95,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    draws: int = DRAWS,
    rng: Rng = 0,
    most: int = 100_000,
) -> Plan:
    """Compute the smallest number of cases that finds a difference, or reaches another goal.

    For scores of one rate there are two exact answers, since power goes up and down as ``n`` grows:
    the smallest ``n`` that reaches the goal, and the ``n`` from which on all do. For other scores
    the answer is simulated, and may be missed by the standard error of the power.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    reference : ConfusionMatrix, four probabilities or float
        A sample, known rates, or a known score, as for `power`. Without a difference or a truth,
        the group is drawn with these rates.
    difference : float
        The difference to be found, the group's true score minus the reference's.
    power : float
        The power to reach or, with ``half_width``, the probability of a narrow interval.
    truth : ConfusionMatrix, four probabilities or float
        The group's true rates; in place of a difference if a difference is to be found.
    half_width : float
        In place of a difference: half of the width that the interval of `interval` may have.
    undefined_below : float
        In place of a difference: a bound on the probability of an undefined score.
    alpha, comparisons
        The significance level, and the number of tests that share it.
    confidence_level : float
        The confidence level of the interval.
    test, null, given, draws, rng
        As for `power`.
    most : int
        The largest number of cases to look at.

    Returns
    -------
    Plan
        With ``n`` and ``n_stays``. Prints as a short block.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    >>> print(sample_size("tpr", rest, difference=-0.2))
    137 cases find a difference in tpr of -0.2 with a power of 80.3%
      goal        at least 0.8; so does every larger number up to 256
      of them     about 55 actual positives
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      method      exact

    For an interval of ±0.1 in at least 8 of 10 groups, and for a TPR that exists in all but 1 of
    1,000:

    >>> sample_size("tpr", rest, half_width=0.1).n
    201
    >>> sample_size("tpr", rest, undefined_below=0.001).n
    14
    """
    check_confidence_level(confidence_level)
    if as_size(most, "most") < 1:
        raise InvalidInput(argument="most", must="be a whole number of cases above 0", got=most)
    target, most = check_between(power, "power"), min(most, MAX_CASES)
    other_goals = [goal for goal in (half_width, undefined_below) if goal is not None]
    has_gap = difference is not None
    if len(other_goals) + has_gap > 1 or not (other_goals or has_gap or truth is not None):
        goals = "a `difference` or the group's `truth`, `half_width`, or `undefined_below`"
        raise InvalidInput(f"pass one goal: {goals}")
    if other_goals and truth is None:
        difference = 0.0
    scenario = Scenario.of(one_group_metric(metric), reference, difference, truth)
    m = scenario.metric
    match = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    planned = PlannedTest.of(scenario, test, match, alpha, comparisons)
    if np.isnan(scenario.true_score):
        reason = m.why_undefined(scenario.rates)
        raise InvalidInput(f"{m.key} is always undefined at any n: {reason}")
    facts: dict[str, Any] = {}
    if undefined_below is not None:
        target = check_between(undefined_below, "undefined_below")
        facts = {"goal": "undefined"} | _size_for_defined(scenario, target, most)
        facts["p_undefined"] = facts["value"]
    elif half_width is not None:
        width = check_between(half_width, "half_width", 0, inf)
        facts = {"goal": "half-width", "half_width": width, "confidence_level": confidence_level}
        settings = (scenario, width, confidence_level, target, most)
        facts |= _simulate_intervals(*settings, planned.seed) if m.curve is None else _size_for_interval(*settings)
    elif scenario.true_score == scenario.reference_score:
        text = f"the true {m.key} is that of the reference"
        raise InvalidInput(f"{text}, so there is no difference to find")
    else:
        facts = _size_for_power(planned, scenario, target, most)
    values = facts.pop("values")
    sizes = np.array(list(values))
    near = np.flatnonzero(np.abs(sizes - facts["n"]) <= 20)
    spread = np.linspace(0, len(sizes) - 1, min(_MAX_POINTS, len(sizes))).astype(np.int64)
    shown = sizes[np.unique(np.append(near, spread))].tolist()
    return make_plan(
        scenario,
        rng,
        None if other_goals else planned,
        question="sample_size",
        target=target,
        true_score=scenario.true_score,
        sizes=tuple(shown),
        values=tuple(values[size] for size in shown),
        **{"method": "exact", "error": 0.0} | facts,
    )


def _size_for_power(test: PlannedTest, scenario: Scenario, target: float, most: int) -> dict[str, Any]:
    if test.is_exact:
        try:
            return _search_sizes(scenario, partial(test.rejected, scenario), target, most, "computing power")
        except TooLarge:
            if scenario.reference_counts is None:
                raise
            test = replace(test, is_exact=False)

    def search(is_enough: Callable[[int], bool]) -> int:
        def lacks(k: Floats, _: Any) -> Bools:
            return np.array([not is_enough(int(size) + 1) for size in k])

        return int(last_true(lacks, np.zeros(1), np.array([most - 2.0]))[0]) + 2

    results = search_simulated(test, lambda n: (scenario, n, None), search, target)
    values = {n: result.value for n, result in sorted(results.items())}
    n, result = list(results.items())[-1]
    if result.value < target - 2 * result.error:
        raise _not_reached({n: result.value}, target, most)
    return {"n": n, "value": result.value, "values": values, "method": result.method, "error": result.error}


def _search_sizes(
    scenario: Scenario, given: Callable[[Floats], Floats], target: float, most: int, what: str
) -> dict[str, Any]:
    """The smallest size that reaches the target, and the one from which on all do.

    The rows of what is ``given`` the denominator add up to what is reached.
    """
    first = _first_size(scenario, given, target, most)
    reached, width = np.empty(0), max(_BLOCK, first // 16)
    with ProgressLine() as report:
        while True:
            start = first + len(reached)
            last = min(start + max(width, len(reached)) - 1, most)
            report(what, last, most)
            means = mean_over_denominators(scenario, np.arange(start, last + 1), given)
            reached = np.append(reached, means.sum(axis=0))
            is_missed = reached < target - _ROUNDING
            below = len(reached) - int(np.argmax(is_missed[::-1])) if is_missed.any() else 0
            if not is_missed[-1] and (below <= (1 - _STAYS) * len(reached) or last >= most):
                break
            if last >= most:
                raise _not_reached(dict(enumerate(reached.tolist(), first)), target, most)
    place = int(np.argmin(is_missed))
    values = dict(enumerate(reached.tolist(), first))
    value = min(float(reached[place]), 1.0)
    return {"n": first + place, "n_stays": first + below, "n_looked": last, "value": value, "values": values}


def _first_size(scenario: Scenario, given: Callable[[Floats], Floats], target: float, most: int) -> int:
    """A size below which the target is clearly missed, judged by expected denominators."""

    def value(n: int) -> float:
        return float(given(np.array([np.round(n * scenario.denominator_rate)])).sum())

    low, high = 1, _SMALL
    if most <= high or value(high) >= target:
        return 1
    while high < most and value(high) < target:
        low, high = high, min(2 * high, most)
    # What is missed by so much at the largest size is missed at all others.
    if high == most and value(most) < target - 0.1:
        raise _not_reached({most: value(most)}, target, most)
    while high - low > max(1, low // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) >= target else (middle, high)
    variance = low * scenario.denominator_rate * scenario.rate * (1 - scenario.rate)
    # Power rises by about 0.4 times the relative change of n.
    return max(1, int(low * (1 - min(0.5, 4 / sqrt(max(variance, 1.0)) + 0.02))))


def _not_reached(values: dict[int, float], target: float, most: int) -> InvalidInput:
    """The error for a target that is not reached, or not by all sizes, up to the largest one."""
    enough = [size for size, value in values.items() if value >= target - _ROUNDING]
    best = max(values, key=lambda size: values[size])
    text = f"no number of cases up to {most:,} reaches {target:g}"
    if enough:
        text = f"{several(enough[0], 'case')} can reach {target:g}, but {most:,} do not"
        text += f"; look at more than {most:,} cases to find the number from which on all do"
    elif values[best] == 0:
        text += ", nor anything above 0"
    else:
        text += f"; {several(best, 'case')} can reach {values[best]:.3g}"
        text += "; collect more cases of the reference, or look for a larger difference"
    return InvalidInput(text)


# Intervals and undefined scores


def _simulate_intervals(
    scenario: Scenario, half_width: float, level: float, target: float, most: int, seed: int
) -> dict[str, Any]:
    """A size whose simulated intervals are narrow; their widths are proportional to 1 / sqrt(n)."""
    m, values = scenario.metric, {}
    size = 4 * ((scenario.true_score if m.is_unbounded else 1.0) / half_width) ** 2
    for _ in range(3):
        n = int(np.clip(np.ceil(size), 2, most))
        rng = np.random.default_rng(seed)
        groups = sample_cells(m.tree, multinomial(scenario.rates, n), rng, _INTERVALS)
        low, high = score_intervals(m, groups, level)
        is_undefined = m.undefined_sets[0].contains(*groups.T)
        halves = np.sort(np.where(is_undefined, inf, (high - low) / 2))
        values[n] = value = float((halves <= half_width * (1 + _ROUNDING)).mean())
        quantile = float(halves[min(ceil(target * _INTERVALS), _INTERVALS) - 1])
        size = n * min((quantile / half_width) ** 2, 100.0)
    error = sqrt(max(value * (1 - value), 1 / _INTERVALS) / _INTERVALS)
    if value < target - 2 * error:
        raise _not_reached({n: value}, target, most)
    values = dict(sorted(values.items()))
    return {"n": n, "value": value, "values": values, "method": "simulation", "error": error}


def _size_for_interval(scenario: Scenario, half_width: float, level: float, target: float, most: int) -> dict[str, Any]:
    """The exact size for a score of one rate, whose intervals narrow on either side of a rate."""
    m, split = scenario.metric, Binomial(scenario.rate, 1 - scenario.rate)
    assert m.curve is not None
    rates = np.linspace(0, 1, 1_001)[1:-1]
    slopes = np.gradient(m.curve.score(rates), rates)
    widest_rate = float(rates[np.argmax(slopes * np.sqrt(rates * (1 - rates)))])

    def is_narrow(counts: Floats, sizes: Floats) -> Bools:
        low, high = score_intervals(m, m.tree.cells(sizes, sizes, 0.0, counts), level)
        return np.asarray(high - low <= 2 * half_width * (1 + _ROUNDING))

    def given(sizes: Floats) -> Floats:
        subject = "the denominator has {} likely values"
        check_cost(len(sizes), _MAX_INTERVALS, subject, "take a larger `half_width`")
        widest = np.floor(sizes * widest_rate)
        low = last_true(lambda k, i: is_narrow(k, sizes[i]), 0 * sizes, widest)
        rest = sizes - widest - 1
        high = last_true(lambda k, i: is_narrow(sizes[i] - k, sizes[i]), 0 * sizes, rest)
        p = binomial_cdf(low, sizes, split.p, split.q)
        p = p + binomial_cdf(high, sizes, split.q, split.p)
        for count, bound in ((0 * sizes, low), (sizes, high)):
            p = p - split.pmf(count, sizes) * (lacks_score(m, sizes, count) & (bound >= 0))
        return np.maximum(p, 0.0)[None]

    return _search_sizes(scenario, given, target, most, "computing intervals")


def _size_for_defined(scenario: Scenario, target: float, most: int) -> dict[str, Any]:
    """The smallest size with a small probability of an undefined score.

    Where TPR may equal FPR by chance, it goes up and down, and all sizes are looked at.
    """
    m, is_jagged = scenario.metric, scenario.metric.undefined_at_equal_rates
    most = min(most, 2_000) if is_jagged else most

    def undefined(n: int) -> float:
        return undefined_probability(m, n, scenario.rates)

    high = 1
    while high < most and undefined(high) > target:
        high = min(2 * high, most)
    if undefined(high) > target:
        text = f"no number of cases up to {most:,} leaves {m.key} undefined with a probability of"
        hint = f"{most:,} cases still do with {undefined(most):.3g}"
        raise InvalidInput(f"{text} at most {target:g}; {hint}")
    sizes: Sequence[int] = range(1, min(4 * high, most) + 1)
    if not is_jagged:
        first = bisect_left(range(high), True, key=lambda n: undefined(n) <= target)
        sizes = sorted({first, *np.linspace(1, max(2 * first, 10), 60).astype(int).tolist()})
    values = {n: undefined(n) for n in sizes}
    n = next(n for n, value in values.items() if value <= target)
    lacking = [size for size, value in values.items() if value > target]
    stays = n if not is_jagged else max(lacking, default=0) + 1
    looked = sizes[-1] if is_jagged else None
    return {"n": n, "n_stays": stays, "n_looked": looked, "value": values[n], "values": values}
