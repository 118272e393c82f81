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
from ..distributions import binomial_cdf
from ..inference import ROUNDING, TwoRates, count_successes, fisher_tails
from ..metrics import OneGroupMetric
from .power import last_true

_MAX_CASES, _NEIGHBOURS = 1e6, 32


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
            true_scores = scores * gap**sign if is_ratio else scores + sign * gap
        clipped = np.clip(true_scores, metric.low, metric.high)
        # A ratio leaves a score of 0 where it is.
        is_possible = (np.abs(true_scores - clipped) <= 1e-12) & (true_scores != scores)
        rates = np.where(is_possible, metric.curve.rate(clipped), np.nan)
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

    def suffices(k: Floats, rows: Integers) -> Bools:
        is_enough = np.ones(len(rows), bool)
        for successes, rates in (sides[:2], sides[2:]):
            tested = np.flatnonzero(is_enough & (rates[rows] >= 0))
            row, size = rows[tested], k[tested]
            j = _binomial_quantiles(power, size, rates[row])
            tails = fisher_tails(TwoRates(j, size, successes[row], cases[row])).lower
            is_enough[tested] = 2 * tails <= levels[row] * ROUNDING
        return is_enough

    last = np.full(len(cases), _MAX_CASES - 1)
    sizes = 2 + last_true(
        lambda k, rows: ~suffices(k + 1, rows), _normal_sizes(columns, power), last
    )
    has_gap = (sides[1] >= 0) | (sides[3] >= 0)
    sizes[~has_gap | (sizes > _MAX_CASES)] = np.nan
    rows, steps = np.nonzero(sizes[:, None] - np.arange(_NEIGHBOURS, 0, -1) >= 1)
    before = sizes[rows] - _NEIGHBOURS + steps
    is_enough = suffices(before, rows)
    np.minimum.at(sizes, rows[is_enough], before[is_enough])
    return sizes


def _binomial_quantiles(probability: float, k: Floats, rates: Floats) -> Floats:
    """The smallest counts that are not exceeded with a probability."""
    from scipy.special import ndtri

    deviation = np.sqrt(k * rates * (1 - rates))
    guess = np.floor(k * rates + float(ndtri(probability)) * deviation) - 1
    # A probability that rounding leaves just short counts.
    return 1 + last_true(
        lambda j, i: binomial_cdf(j, k[i], rates[i]) < probability - 1e-12, guess, k
    )


def _normal_sizes(columns: Floats, power: float) -> Floats:
    """About the sizes, by the delta method."""
    from scipy.special import ndtri

    cases, levels, *sides = columns
    total, sizes = np.maximum(cases, 1.0), np.zeros(len(cases))
    for successes, rates in (sides[:2], sides[2:]):
        rate = successes / total
        error = np.maximum(rate - rates, 1e-6) / (float(ndtri(power)) - ndtri(levels / 2))
        left = np.maximum(error**2 - rate * (1 - rate) / total, 1e-12)
        sizes = np.fmax(sizes, np.where(rates >= 0, rates * (1 - rates) / left, 0.0))
    return np.clip(np.floor(sizes), 0, _MAX_CASES - 1)
