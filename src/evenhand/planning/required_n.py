"""How many cases an inconclusive comparison needs, for arrays of comparisons of a score of one rate.

The reference is the one at hand, and the group's true score lies a gap below or above its score. A
gap upwards is one downwards of the failures. Let j be the largest number of successes that K cases
have with a probability of at least 20%, the quantile that is exceeded by 1 - power. If Fisher's test
rejects j, it rejects at least 80% of such groups, so K cases suffice. This is almost monotone in K:
K is found by bisection, and the smallest of the 32 sizes before it that suffices is returned. That
is within -10 to +10% of the smallest size with this power.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..distributions import Binomial, binomial_cdf
from ..inference import ROUNDING, TwoRates, count_successes, fisher_tails
from ..metrics import OneGroupMetric
from .planned_tests import last_true

_MAX_CASES, _NEIGHBOURS, _ROUNDING = 1e6, 32, 1e-12
_MAX_GOAL_CASES = 2e5


def required_n(
    metric: OneGroupMetric,
    references: Floats,
    levels: Floats,
    gap: float,
    *,
    is_ratio: bool = False,
    power: float = 0.8,
) -> Floats:
    """The denominators with which Fisher's test finds a gap in either direction.

    References have the shape (comparisons, 4), and each test its own level. The result is nan if
    the score has no exact test, the gap leaves its range on both sides, or the reference is too
    small for any number of cases up to a million.

    >>> from evenhand.metrics import metric
    >>> rest = np.array([[300.0, 100, 120, 480]])
    >>> required_n(metric("tpr"), rest, np.array([0.05]), 0.2)
    array([50.])
    """
    if metric.curve is None or not metric.defined_by_denominator:
        return np.full(len(references), np.nan)
    successes, cases = count_successes(metric, references)
    scores, columns = metric.scores(references), [cases, levels]
    for sign in (-1, 1):
        with np.errstate(over="ignore"):
            truth = scores * gap**sign if is_ratio else scores + sign * gap
        inside = np.clip(truth, metric.low, metric.high)
        # A ratio leaves a score of 0 where it is.
        is_possible = (np.abs(truth - inside) <= 1e-12) & (truth != scores)
        rates = np.where(is_possible, metric.curve.rate(inside), np.nan)
        columns += [successes, rates] if sign < 0 else [cases - successes, 1 - rates]
    # Comparisons with the same reference are often equal, and computed once.
    table = np.nan_to_num(np.stack(columns), nan=-1.0)
    distinct, inverse = np.unique(table, axis=1, return_inverse=True)
    return _search(distinct, power)[np.ravel(inverse)]


def _search(columns: Floats, power: float) -> Floats:
    """The smallest sizes for columns of cases, levels, and successes and true rates of both sides.

    A rate of -1 means that there is no gap on that side.
    """
    cases, levels, *sides = columns
    count = len(cases)
    guess = np.floor(2 / (sides[0] / np.maximum(cases, 1) - sides[1]) ** 2)
    # The sides of all rows, one after the other.
    cases, limits = np.tile([cases, levels / 2 * ROUNDING], 2)
    successes, rates = np.concatenate([sides[:2], sides[2:]], axis=1)
    limits, rates = np.where(rates < 0, np.inf, limits), np.maximum(rates, 0.0)

    def suffices(size: Floats, rows: Integers) -> Bools:
        both, sizes = np.concatenate([rows, rows + count]), np.tile(size, 2)
        j = _quantiles(power, sizes, rates[both])
        tails = fisher_tails(TwoRates(j, sizes, successes[both], cases[both])).lower
        return np.asarray((tails <= limits[both]).reshape(2, -1).all(axis=0))

    last = np.full(count, _MAX_CASES - 1)
    found = 2 + last_true(lambda k, rows: ~suffices(k + 1, rows), guess, last)
    found[np.isinf(limits).reshape(2, -1).all(axis=0) | (found > _MAX_CASES)] = np.nan
    rows = np.flatnonzero(found > 1)
    both, first = np.concatenate([rows, rows + count]), np.maximum(found[rows] - _NEIGHBOURS, 1)
    tails = _follow_tails(power, np.tile(first, 2), successes[both], cases[both], rates[both])
    is_enough = (tails <= limits[both]).reshape(_NEIGHBOURS, 2, -1).all(axis=1)
    places = np.where(is_enough.any(axis=0), is_enough.argmax(axis=0), np.inf)
    found[rows] = np.minimum(found[rows], first + places)
    return found


def _quantiles(power: float, size: Floats, rates: Floats) -> Floats:
    """The smallest counts with P(X <= j) >= power; a probability that rounding leaves short counts."""

    def is_short(j: Floats, rows: Integers) -> Bools:
        return np.asarray(binomial_cdf(j, size[rows], rates[rows]) < power - _ROUNDING)

    guess = np.round(size * rates + 0.84 * np.sqrt(size * rates * (1 - rates)) - 1)
    return 1 + last_true(is_short, guess, size)


def _follow_tails(power: float, size: Floats, x2: Floats, n2: Floats, rates: Floats) -> Floats:
    """The lower tails of the quantiles of these sizes, and of those of 1, 2, ... cases more, in rows.

    A case more lowers P(X <= j) by P(X = j) times the probability that it is a success.
    """
    j, total = _quantiles(power, size, rates), size + n2
    p: Any = np.maximum(rates, 1e-15)
    q: Any = np.maximum(1 - rates, 1e-15)
    pairs = TwoRates(j, size, x2, n2)
    below, at = binomial_cdf(j, size, rates), Binomial(p, q).pmf(j, size)
    tail, chance = fisher_tails(pairs).lower, np.exp(pairs.log_probability(j))
    tails = [tail]
    for _ in range(_NEIGHBOURS - 1):
        size, total = size + 1, total + 1
        below, tail = below - p * at, tail - chance * x2 / total
        change, failures = size / (size - j), total - j - x2
        at, chance = at * change * q, chance * change * failures / total
        is_short = below < power - _ROUNDING
        # Where the quantile rises by 1.
        change = np.where(is_short, (size - j) / (j + 1), 0.0)
        more, failures = at * change * p / q, np.where(is_short, failures, 1.0)
        below, tail = below + more, tail + chance * change * x2 / failures
        j = j + is_short
        at = np.where(is_short, more, at)
        chance *= np.where(is_short, change * (j + x2) / failures, 1.0)
        tails.append(tail)
    return np.array(tails)


@lru_cache(maxsize=1_000)
def required_n_of_goal(goal: float, rate: float, level: float, power: float = 0.8) -> float:
    """The cases from which on an exact binomial test finds that a rate is better than a goal.

    The test is two-sided. Its power is not monotone in the number of cases: the result is the smallest
    number from which on it stays above ``power``, or nan if that is more than 200,000.

    >>> required_n_of_goal(0.8, 0.9, 0.05)
    113.0
    """
    from scipy.special import ndtri

    if goal > rate:
        goal, rate = 1 - goal, 1 - rate
    scores = zip((ndtri(1 - level / 2), ndtri(power)), (goal, rate), strict=True)
    spread = sum(z * np.sqrt(p * (1 - p)) for z, p in scores)
    guess = (spread / max(rate - goal, 1e-9)) ** 2
    last = 2 * guess + 100 + 2 * np.log(level / 2) / np.log(goal)
    if not last <= _MAX_GOAL_CASES:
        return np.nan
    n, q = np.arange(1.0, last), 1 - goal
    # The largest number with P(X > k) above the level of one side, and two more.
    critical = 2 + last_true(
        lambda k, rows: binomial_cdf(n[rows] - k - 1, n[rows], q, goal) > level / 2,
        np.floor(n * goal),
        n,
    )
    found = binomial_cdf(n - critical, n, 1 - rate, rate)
    return float(n[np.flatnonzero(found < power - _ROUNDING)[-1]] + 1)
