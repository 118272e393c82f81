"""How many cases an inconclusive comparison needs, for arrays of comparisons of a score of one rate.

The reference is the one at hand, and the group's true score lies a gap below or above its score. A
gap upwards is one downwards of the failures. Let j be the largest number of successes that K cases
have with a probability of at least 20%, the quantile that is exceeded by 1 - power. If Fisher's test
rejects j, it rejects at least 80% of such groups, so K cases suffice. This is almost monotone in K:
K is found by bisection, and the smallest of the 32 sizes before it that suffices is returned. That
is within -10 to +10% of the smallest size with this power.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..distributions import Binomial, binomial_cdf
from ..inference import ROUNDING, TwoRates, count_successes, fisher_tails
from ..metrics import OneGroupMetric
from .planned_tests import last_true

_MAX_CASES, _NEIGHBOURS, _ROUNDING = 1e6, 32, 1e-12


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
    limits = levels / 2 * ROUNDING

    def suffices(size: Floats, rows: Integers) -> Bools:
        is_enough = np.ones(len(rows), bool)
        for successes, rates in (sides[:2], sides[2:]):
            tested = np.flatnonzero(is_enough & (rates[rows] >= 0))
            row = rows[tested]
            pairs = _worst_pairs(size[tested], successes[row], cases[row], rates[row], power)
            is_enough[tested] = fisher_tails(pairs).lower <= limits[row]
        return is_enough

    last = np.full(len(cases), _MAX_CASES - 1)
    guess = np.floor(2 / (sides[0] / np.maximum(cases, 1) - sides[1]) ** 2)
    sizes = 2 + last_true(lambda k, rows: ~suffices(k + 1, rows), guess, last)
    has_gap = (sides[1] >= 0) | (sides[3] >= 0)
    sizes[~has_gap | (sizes > _MAX_CASES)] = np.nan
    rows = np.flatnonzero(sizes > 1)
    first = np.maximum(sizes[rows] - _NEIGHBOURS, 1)
    is_enough = np.ones((_NEIGHBOURS, len(rows)), bool)
    for successes, rates in (sides[:2], sides[2:]):
        has_side = rates[rows] >= 0
        some = rows[has_side]
        pairs = _worst_pairs(first[has_side], successes[some], cases[some], rates[some], power)
        tails = _follow_tails(pairs, rates[some], power)
        is_enough[:, has_side] &= tails <= limits[some]
    places = np.where(is_enough.any(axis=0), is_enough.argmax(axis=0), np.inf)
    sizes[rows] = np.minimum(sizes[rows], first + places)
    return sizes


def _worst_pairs(
    size: Floats, successes: Floats, cases: Floats, rates: Floats, power: float
) -> TwoRates:
    """Groups with the largest number of successes that they have with a probability of 1 - power."""

    def is_short(j: Floats, rows: Integers) -> Bools:
        # A probability that rounding leaves just short counts.
        return np.asarray(binomial_cdf(j, size[rows], rates[rows]) < power - _ROUNDING)

    guess = np.round(size * rates + 0.84 * np.sqrt(size * rates * (1 - rates)) - 1)
    return TwoRates(1 + last_true(is_short, guess, size), size, successes, cases)


def _follow_tails(pairs: TwoRates, rates: Floats, power: float) -> Floats:
    """The lower tails of such groups, and of those with 1, 2, ... cases more, in rows.

    A case more lowers P(X <= j) by P(X = j) times the probability that it is a success.
    """
    j, size, successes, cases = pairs
    p, q = np.clip(rates, 1e-15, None), np.clip(1 - rates, 1e-15, None)
    below, at = binomial_cdf(j, size, rates), Binomial(p, q).pmf(j, size)
    tail, chance = fisher_tails(pairs).lower, np.exp(pairs.log_probability(j))
    tails = [tail]
    for _ in range(_NEIGHBOURS - 1):
        total, size = size + cases + 1, size + 1
        below, tail = below - p * at, tail - chance * successes / total
        at = at * size / (size - j) * q
        chance = chance * size / (size - j) * (total - j - successes) / total
        # The quantile rises by a success.
        is_short = below < power - _ROUNDING
        ratio = np.where(is_short, (size - j) / (j + 1), 0.0)
        failures = np.where(is_short, total - j - successes, 1.0)
        below, tail = below + at * ratio * p / q, tail + chance * ratio * successes / failures
        at = np.where(is_short, at * ratio * p / q, at)
        chance = np.where(is_short, chance * ratio * (j + successes + 1) / failures, chance)
        j = j + is_short
        tails.append(tail)
    return np.array(tails)
