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
from .planned_tests import last_true

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
    from scipy.special import bdtrik

    cases, levels, *sides = columns

    def suffices(k: Floats, rows: Integers) -> Bools:
        is_enough = np.ones(len(rows), bool)
        for successes, rates in (sides[:2], sides[2:]):
            tested = np.flatnonzero(is_enough & (rates[rows] >= 0))
            row, size = rows[tested], k[tested]
            rate = np.clip(rates[row], 1e-15, 1 - 1e-15)
            j = np.ceil(bdtrik(power, size, rate))
            # A probability that rounding leaves just short counts.
            j -= binomial_cdf(j - 1, size, rate) >= power - 1e-12
            tails = fisher_tails(TwoRates(j, size, successes[row], cases[row])).lower
            is_enough[tested] = 2 * tails <= levels[row] * ROUNDING
        return is_enough

    last = np.full(len(cases), _MAX_CASES - 1)
    guess = np.floor(2 / (sides[0] / np.maximum(cases, 1) - sides[1]) ** 2)
    sizes = 2 + last_true(lambda k, rows: ~suffices(k + 1, rows), guess, last)
    has_gap = (sides[1] >= 0) | (sides[3] >= 0)
    sizes[~has_gap | (sizes > _MAX_CASES)] = np.nan
    before = sizes[:, None] - np.arange(1, _NEIGHBOURS + 1)
    rows, places = np.nonzero(before >= 1)
    smaller = before[rows, places]
    is_enough = suffices(smaller, rows)
    np.minimum.at(sizes, rows[is_enough], smaller[is_enough])
    return sizes
