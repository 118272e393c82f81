"""Sample sizes: how many cases a test, an interval or a score needs.

What is reached goes up and down as n grows, since a small group has few possible scores. For scores
of one rate it is exact, and every size is looked at from where it is clearly missed to where it is
clearly reached. Beyond a thousand cases the ups and downs are small: at most about 1/sd, where sd is
the standard deviation of the count. Other scores are simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from ..arrays import Floats
from ..distributions import Binomial, Multinomial, sample_cells
from ..errors import InvalidInput, TooLarge, check_cost
from ..inference import Given, NullName, check_confidence_level, score_intervals
from ..metrics import Metric
from ..randomness import Rng
from ..wording import several
from .planned_tests import DRAWS, PlannedTest, TestName, first_place, plan_test, search_power
from .power import Plan, make_plan
from .scenario import Side, check_number, check_whole, success_rate

#: What is found of a plan, by its name in `Plan`.
Facts = dict[str, Any]

# All sizes up to this one are looked at, and so many at once at first.
_SMALL, _BLOCK = 512, 64
# A goal must hold over this share of the sizes that were looked at before it is said to stay.
_STAYS = 0.3
# Simulated intervals, points of a plot, and intervals that are computed for an exact answer.
_INTERVALS, _MAX_POINTS, _MAX_INTERVALS = 200, 300, 2**17
_MAX_CASES = 10**7
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
    most = check_whole(most, "most")
    goals = [goal for goal in (difference, half_width, undefined_below) if goal is not None]
    if len(goals) > 1 or not (goals or truth is not None):
        text = "a `difference` or the group's `truth`, `half_width`, or `undefined_below`"
        raise InvalidInput(f"pass one goal: {text}")
    if truth is None and difference is None:
        difference = 0.0
    settings = alpha, comparisons, test, null, given, draws, rng
    planned = plan_test(metric, reference, difference, truth, *settings)
    m, target = planned.metric, check_number(power, "power", 0, 1)
    if reason := m.why_undefined(planned.rates):
        raise InvalidInput(f"{m.key} is always undefined at any n: {reason}")
    if undefined_below is not None:
        target = check_number(undefined_below, "undefined_below", 0, 1)
        facts = _size_for_defined(planned, target, most)
    elif half_width is not None:
        width = check_number(half_width, "half_width", 0)
        facts = _size_for_interval(planned, width, confidence_level, target, most)
    elif planned.true_score == planned.reference_score:
        no_gap = f"the true {m.key} is that of the reference"
        raise InvalidInput(f"{no_gap}, so there is no difference to find")
    else:
        facts = _size_for_power(planned, target, most)
    n, values = facts.pop("n"), facts.pop("values")
    sizes = sorted({n, *list(values)[:: 1 + len(values) // _MAX_POINTS]})
    facts |= {"sizes": tuple(sizes), "values": tuple(values[size] for size in sizes)}
    facts |= {"value": values[n], "true_score": planned.true_score, "target": target}
    return make_plan(replace(planned, n=n), "sample_size", **facts)


def _size_for_power(planned: PlannedTest, target: float, most: int) -> Facts:
    """A size whose test has the power; the smallest one if it is exact."""

    def at(n: int) -> PlannedTest:
        return replace(planned, n=n)

    def reach(first: int, last: int) -> Floats:
        means = planned.mean_over_denominators(first, last, planned.p_rejected)
        return np.asarray(means.sum(axis=0))

    if planned.is_exact:
        guess = first_place(lambda n: at(n).normal_power() >= target, [most]) or most
        try:
            return _search_sizes(planned, reach, guess, target, most)
        except TooLarge:
            if planned.reference_n is None:
                raise
            planned = replace(planned, is_exact=False)
    results = search_power(at, [most], target)
    if not results:
        raise _not_reached(most, at(most).normal_power(), target, most)
    values = {n: result.value for n, result in results.items()}
    return _check_simulated(values, [*results.values()][-1].error, target, most)


def _search_sizes(
    planned: PlannedTest, reach: Callable[[int, int], Floats], guess: int, target: float, most: int
) -> Facts:
    """The smallest size that reaches the target, and the one from which on all do.

    ``reach`` says what is reached from one size to another. Below the first size that is looked
    at, the target is clearly missed.
    """
    p, rate = success_rate(planned.metric, planned.rates), planned.denominator_rate
    # Power rises by about 0.4 times the relative change of n, and jumps by about 1 / sd.
    jump = 1 / sqrt(max(guess * rate * p * (1 - p), 1.0))
    first = int(guess * (1 - min(0.5, 4 * jump + 0.05)))
    # Against a small reference, the guess can be far too large.
    while first > _SMALL and reach(first, first)[0] >= target:
        first //= 2
    first = 1 if first <= _SMALL else first
    last, reached = first - 1, np.empty(0)
    while True:
        start, length = last + 1, max(len(reached), _BLOCK, first // 16)
        last = min(last + length, most)
        reached = np.append(reached, reach(start, last))
        is_missed = reached < target - _ROUNDING * abs(target)
        n_below = int(np.flatnonzero(is_missed).max(initial=-1)) + 1
        if n_below <= (1 - _STAYS) * len(reached) or (last == most and not is_missed[-1]):
            break
        if last == most:
            best = int(np.argmax(reached))
            raise _not_reached(first + best, reached[best], target, most)
    values = dict(enumerate(np.minimum(reached, 1.0).tolist(), first))
    n, stays = first + int(np.argmin(is_missed)), {"n_stays": first + n_below, "n_looked": last}
    return stays | {"n": n, "values": values, "method": "exact", "error": 0.0}


def _check_simulated(values: dict[int, float], error: float, target: float, most: int) -> Facts:
    """The last of the simulated sizes; an error if it clearly misses the target."""
    n = [*values][-1]
    if values[n] < target - 2 * error:
        raise _not_reached(n, values[n], target, most)
    return {"n": n, "values": values, "method": "simulation", "error": error}


def _not_reached(n: int, value: float, target: float, most: int) -> InvalidInput:
    """The error for a target that is not reached, or not by all sizes, up to the largest one."""
    text = f"no number of cases up to {most:,} reaches {target:g} and stays there"
    hint = "raise `most`, add cases to the reference, or look for a larger difference"
    return InvalidInput(f"{text}; {several(n, 'case')} can reach {value:.3g}; {hint}")


def _size_for_interval(
    planned: PlannedTest, half_width: float, level: float, target: float, most: int
) -> Facts:
    """A size whose intervals are narrow; the smallest one for a score of one rate.

    It is simulated first: widths are about proportional to 1 / sqrt(n).
    """
    m, limit = planned.metric, half_width * (1 + _ROUNDING)
    values: dict[int, float] = {}
    goal = {"goal": "half-width", "half_width": half_width, "confidence_level": level}

    def half_widths(cells: Floats) -> Floats:
        low, high = score_intervals(m, cells, level)
        return np.where(np.isnan(m.scores(cells)), inf, (high - low) / 2)

    size = 4 * ((planned.true_score if m.is_unbounded else 1.0) / half_width) ** 2
    for _ in range(3):
        n = int(np.clip(np.ceil(size), 2, most))
        check_cost(n, _MAX_CASES, "simulated intervals have n = {} cases", "lower `most`")
        law, rng = Multinomial(n, tuple(planned.rates)), np.random.default_rng(planned.seed)
        halves = np.sort(half_widths(sample_cells(m.tree, law, rng, _INTERVALS)))
        values.pop(n, None)
        values[n] = value = float((halves <= limit).mean())
        quantile = float(halves[ceil(target * _INTERVALS) - 1])
        size = n * min((quantile / half_width) ** 2, 100.0)

    def p_narrow(first: float, last: float) -> Floats:
        d, p = np.arange(first, last + 1)[:, None], success_rate(m, planned.rates)
        table = Binomial(p, 1 - p).table(d[:, 0], 1e-12)
        subject = "an exact answer takes {} intervals"
        check_cost(table.pmf.size, _MAX_INTERVALS, subject, "take a larger `half_width`")
        counts = table.start[:, None] + np.arange(table.pmf.shape[1])
        cells = m.tree.cells(d, d, 0.0, np.minimum(counts, d))
        is_narrow = half_widths(cells.reshape(-1, 4)).reshape(counts.shape) <= limit
        return np.asarray((table.pmf * is_narrow).sum(axis=1))[None]

    def reach(first: int, last: int) -> Floats:
        return np.ravel(planned.mean_over_denominators(first, last, p_narrow))

    if m.curve is not None:
        try:
            return goal | _search_sizes(planned, reach, n, target, most)
        except TooLarge:
            pass
    error = sqrt(max(value * (1 - value), 1 / _INTERVALS) / _INTERVALS)
    return goal | _check_simulated(values, error, target, most)


def _size_for_defined(planned: PlannedTest, target: float, most: int) -> Facts:
    """The smallest size with a small probability of an undefined score.

    Where TPR may equal FPR by chance, it goes up and down, and all sizes are looked at.
    """
    key, is_jagged = planned.metric.key, planned.metric.undefined_at_equal_rates
    most = min(most, 2_000) if is_jagged else most

    def p_undefined(n: int) -> float:
        return replace(planned, n=n).p_undefined

    def reach(first: int, last: int) -> Floats:
        return np.array([-p_undefined(n) for n in range(first, last + 1)])

    powers = [2**k for k in range(most.bit_length() - 1)]
    guess = first_place(lambda n: p_undefined(n) <= target, [*powers, most])
    if guess is None:
        text = f"no number of cases up to {most:,} leaves {key} undefined with a probability"
        hint = f"of at most {target:g}; {most:,} cases do with {p_undefined(most):.3g}"
        raise InvalidInput(f"{text} {hint}")
    facts = _search_sizes(planned, reach, guess, -target, most)
    facts["values"] = {n: -value for n, value in facts["values"].items()}
    if not is_jagged:
        facts["n_looked"] = None
    return facts | {"goal": "undefined", "p_undefined": facts["values"][facts["n"]]}
