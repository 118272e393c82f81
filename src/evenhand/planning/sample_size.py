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
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from ..arrays import Bools, Floats
from ..confusion import as_size
from ..distributions import Binomial, Multinomial, sample_cells
from ..errors import InvalidInput, TooLarge
from ..inference import (
    Given,
    MatchSettings,
    NullName,
    check_confidence_level,
    score_intervals,
)
from ..metrics import Metric
from ..progress import ProgressLine
from ..randomness import Rng
from ..wording import several
from .power import (
    DRAWS,
    Plan,
    PlannedTest,
    TestName,
    lacks_score,
    last_true,
    search_simulated,
)
from .scenario import MAX_CASES, Scenario, Side, check_number, success_rate

# All sizes up to this one are looked at, and so many at once at first.
_SMALL, _BLOCK = 512, 64
# A goal must hold over this share of the sizes that were looked at before it is said to stay.
_STAYS = 0.3
# Simulated intervals, and points of a plot.
_INTERVALS, _MAX_POINTS = 200, 200
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
        raise InvalidInput(
            argument="most", must="be a whole number of cases above 0", got=most
        )
    target, most = check_number(power, "power", 0, 1), min(most, MAX_CASES)
    goals = [goal for goal in (half_width, undefined_below, difference) if goal is not None]
    if len(goals) > 1 or not (goals or truth is not None):
        text = "a `difference` or the group's `truth`, `half_width`, or `undefined_below`"
        raise InvalidInput(f"pass one goal: {text}")
    if difference is None and truth is None:
        difference = 0.0
    scenario = Scenario.of(metric, reference, difference, truth)
    m, settings = (
        scenario.metric,
        MatchSettings(null=null, given=given, draws=draws, rng=rng),
    )
    planned = PlannedTest.of_test(scenario, test, settings, alpha, comparisons)
    if reason := m.why_undefined(planned.rates):
        raise InvalidInput(f"{m.key} is always undefined at any n: {reason}")
    facts: dict[str, Any] = {"method": "exact", "error": 0.0}
    if undefined_below is not None:
        target = check_number(undefined_below, "undefined_below", 0, 1)
        facts |= {"goal": "undefined"} | _size_for_defined(planned, target, most)
        facts["p_undefined"] = facts["value"]
    elif half_width is not None:
        width = check_number(half_width, "half_width", 0)
        facts |= {"goal": "half-width", "half_width": width}
        facts["confidence_level"] = confidence_level
        find_size = _simulate_intervals if m.curve is None else _size_for_interval
        facts |= find_size(planned, width, confidence_level, target, most)
    elif planned.true_score == planned.reference_score:
        text = f"the true {m.key} is that of the reference"
        raise InvalidInput(f"{text}, so there is no difference to find")
    else:
        facts |= _size_for_power(planned, target, most)
    n, values = facts.pop("n"), facts.pop("values")
    sizes = np.array(sorted(values))
    is_shown = np.abs(sizes - n) <= 20
    is_shown[:: -1 - len(sizes) // _MAX_POINTS] = True
    facts["sizes"] = tuple(sizes[is_shown].tolist())
    facts["values"] = tuple(values[size] for size in facts["sizes"])
    facts |= {"target": target, "true_score": planned.true_score}
    return replace(planned, n=n).plan("sample_size", **facts)


def _size_for_power(planned: PlannedTest, target: float, most: int) -> dict[str, Any]:
    if planned.is_exact:
        try:
            return _search_sizes(planned, planned.p_rejected, target, most)
        except TooLarge:
            if planned.reference_counts is None:
                raise
            planned = replace(planned, is_exact=False)

    def at(n: int) -> PlannedTest:
        return replace(planned, n=n)

    def search(is_enough: Callable[[int], bool]) -> int:
        return 1 + bisect_left(range(1, most), True, key=is_enough)

    results = search_simulated(at, search, target)
    n, result = list(results.items())[-1]
    if result.value < target - 2 * result.error:
        raise _not_reached(n, result.value, target, most)
    values = {n: result.value for n, result in results.items()}
    facts = {"method": result.method, "error": result.error}
    return {"n": n, "value": result.value, "values": values, **facts}


def _search_sizes(
    planned: PlannedTest, given: Callable[[float, float], Floats], target: float, most: int
) -> dict[str, Any]:
    """The smallest size that reaches the target, and the one from which on all do.

    The rows of what is ``given`` the denominator add up to what is reached.
    """
    first = _first_size(planned, given, target, most)
    last, reached = min(first - 1 + max(_BLOCK, first // 16), most), np.empty(0)
    with ProgressLine() as report:
        while True:
            report("looking at sizes", last, most)
            start = first + len(reached)
            means = planned.mean_over_denominators(start, last, given)
            reached = np.append(reached, means.sum(axis=0))
            missed = np.flatnonzero(reached < target - _ROUNDING)
            below = int(missed[-1]) + 1 if len(missed) else 0
            is_long = below <= (1 - _STAYS) * len(reached) or last == most
            if below < len(reached) and is_long:
                break
            if last == most:
                best = int(np.argmax(reached))
                raise _not_reached(first + best, reached[best], target, most)
            last = min(last + len(reached), most)
    place = int(np.argmax(reached >= target - _ROUNDING))
    value = min(float(reached[place]), 1.0)
    values = dict(enumerate(reached.tolist(), first))
    sizes = {"n": first + place, "n_stays": first + below, "n_looked": last}
    return {**sizes, "value": value, "values": values}


def _first_size(
    planned: PlannedTest, given: Callable[[float, float], Floats], target: float, most: int
) -> int:
    """A size below which the target is clearly missed, judged by expected denominators."""

    def value(n: int) -> float:
        d = np.round(n * planned.denominator_rate)
        return float(given(d, d).sum())

    high = min(_SMALL, most)
    while value(high) < target and high < most:
        high = min(2 * high, most)
    # What is missed by so much at the largest size is missed at all others.
    if value(high) < target - 0.1:
        raise _not_reached(high, value(high), target, most)
    if high <= _SMALL:
        return 1
    steps = range(high // 2, high, max(1, high // 128))
    low = steps[
        bisect_left(steps, True, hi=len(steps) - 1, key=lambda n: value(n) >= target)
    ]
    p = success_rate(planned.metric, planned.rates)
    variance = low * planned.denominator_rate * p * (1 - p)
    # Power rises by about 0.4 times the relative change of n.
    return max(1, int(low * (1 - min(0.5, 4 / sqrt(max(variance, 1.0)) + 0.02))))


def _not_reached(n: int, value: float, target: float, most: int) -> InvalidInput:
    """The error for a target that is not reached, or not by all sizes, up to the largest one."""
    text = f"no number of cases up to {most:,} reaches {target:g} to stay"
    hint = "raise `most`, add cases to the reference, or look for a larger difference"
    return InvalidInput(f"{text}; {several(n, 'case')} can reach {value:.3g}; {hint}")


def _simulate_intervals(
    planned: PlannedTest, half_width: float, level: float, target: float, most: int
) -> dict[str, Any]:
    """A size whose simulated intervals are narrow; their widths are proportional to 1 / sqrt(n)."""
    m, values = planned.metric, {}
    size = 4 * ((planned.true_score if m.is_unbounded else 1.0) / half_width) ** 2
    for _ in range(3):
        n = int(np.clip(np.ceil(size), 2, most))
        law, rng = Multinomial(n, tuple(planned.rates)), np.random.default_rng(planned.seed)
        groups = sample_cells(m.tree, law, rng, _INTERVALS)
        low, high = score_intervals(m, groups, level)
        is_undefined = m.undefined_sets[0].contains(*groups.T)
        halves = np.sort(np.where(is_undefined, inf, (high - low) / 2))
        values[n] = value = float((halves <= half_width * (1 + _ROUNDING)).mean())
        quantile = float(halves[min(ceil(target * _INTERVALS), _INTERVALS) - 1])
        size = n * min((quantile / half_width) ** 2, 100.0)
    error = sqrt(max(value * (1 - value), 1 / _INTERVALS) / _INTERVALS)
    if value < target - 2 * error:
        raise _not_reached(n, value, target, most)
    facts = {"method": "simulation", "error": error}
    return {"n": n, "value": value, "values": values, **facts}


def _size_for_interval(
    planned: PlannedTest, half_width: float, level: float, target: float, most: int
) -> dict[str, Any]:
    """The exact size for a score of one rate, whose intervals narrow on either side of a rate."""
    m, rate = planned.metric, success_rate(planned.metric, planned.rates)
    assert m.curve is not None
    rates = np.linspace(0, 1, 1_001)[1:-1]
    slopes = np.gradient(m.curve.score(rates), rates)
    widest_rate = float(rates[np.argmax(slopes * np.sqrt(rates * (1 - rates)))])

    def is_narrow(counts: Floats, sizes: Floats) -> Bools:
        low, high = score_intervals(m, m.tree.cells(sizes, sizes, 0.0, counts), level)
        return np.asarray(high - low <= 2 * half_width * (1 + _ROUNDING))

    def given(first: float, last: float) -> Floats:
        d, split = np.arange(first, last + 1), Binomial(rate, 1 - rate)
        widest = np.floor(d * widest_rate)
        few = last_true(lambda k, i: is_narrow(k, d[i]), 0 * d, widest)
        rest = d - widest - 1
        many = d - last_true(lambda k, i: is_narrow(d[i] - k, d[i]), 0 * d, rest)
        least, most = 0.0 + lacks_score(m, d, 0 * d), d - lacks_score(m, d, d)
        narrow = split.interval_sum(least, few, d) + split.interval_sum(many, most, d)
        return narrow[None]

    return _search_sizes(planned, given, target, most)


def _size_for_defined(planned: PlannedTest, target: float, most: int) -> dict[str, Any]:
    """The smallest size with a small probability of an undefined score.

    Where TPR may equal FPR by chance, it goes up and down, and all sizes are looked at.
    """
    m, is_jagged = planned.metric, planned.metric.undefined_at_equal_rates
    most = min(most, 2_000) if is_jagged else most

    def undefined(n: int) -> float:
        return replace(planned, n=n).p_undefined

    high = 1
    while undefined(high) > target:
        if high == most:
            text = f"no number of cases up to {most:,} leaves {m.key} undefined with a probability of"
            hint = f"{most:,} cases still do with {undefined(most):.3g}"
            raise InvalidInput(f"{text} at most {target:g}; {hint}")
        high = min(2 * high, most)
    sizes: Sequence[int] = range(1, min(4 * high, most) + 1)
    if not is_jagged:
        first = bisect_left(range(high), True, key=lambda n: undefined(n) <= target)
        sizes = sorted({first, *np.linspace(1, max(2 * first, 10), 60).astype(int).tolist()})
    values = {n: undefined(n) for n in sizes}
    n = next(n for n, value in values.items() if value <= target)
    missed = max((n for n, value in values.items() if value > target), default=0)
    facts = {"n_stays": missed + 1, "n_looked": sizes[-1]} if is_jagged else {"n_stays": n}
    return {"n": n, "value": values[n], "values": values, **facts}
