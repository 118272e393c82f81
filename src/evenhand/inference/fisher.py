"""Fisher's exact test of equal rates, for arrays of comparisons, and the p-values it can attain.

Let x1 of n1 cases of a group and x2 of n2 cases of its reference be successes. If both have the
same rate, then given the pooled number of successes s = x1 + x2 the group's count is hypergeometric,

    P(X1 = k) = C(s, k) C(f, n1 - k) / C(n1 + n2, n1)   with f = n1 + n2 - s failures,

whatever that rate is. The two-sided p-value is twice the smaller of the two tails, at most 1
(`scipy.stats.fisher_exact` adds up all tables that are no more probable than this one instead).

With an odds ratio ψ instead of equal rates, this probability is multiplied by ψ**k, up to a factor:
Fisher's noncentral hypergeometric distribution.

With few cases only a few p-values can occur, so that P(p <= x) is often far below x. Holm's method
for discrete tests multiplies no p-value by the number of tests, but adds up P(p_j <= x) over the
tests j that are left. `attainable_tails` has these probabilities given the pooled successes. Where
several groups are compared with the same cases, tests are dependent in a way that this does not
cover, and `unconditional_sizes` has P(p <= x) at its largest over common rates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Bools, Floats, Integers
from ..distributions import Binomial, log_hypergeometric

# Tails that differ by no more than rounding are equal.
ROUNDING = 1 + 1e-9
# A test with more outcomes than this is treated as continuous: P(p <= x) = x.
_MAX_OUTCOMES = 2_048
# About this many probabilities are computed at once.
_BATCH = 2**14
# P(p <= x) is taken to be x if x is above this level, if the smaller or the larger sample has more
# cases than this, or once the smaller samples, in ascending order, have more than this in all.
_HIGHEST_LEVEL = 0.1
_MAX_CASES, _MAX_TOTAL = (100, 5_000), 3_000
# The number of common rates that are tried, and what may be missed between two of them.
_RATES, _BETWEEN_RATES = 257, 1.005


class TwoRates(NamedTuple):
    """Comparisons of x1 of n1 cases of a group with x2 of n2 cases of its reference.

    All fields are arrays with one value per comparison.
    """

    x1: Floats
    n1: Floats
    x2: Floats
    n2: Floats

    @property
    def successes(self) -> Floats:
        """The pooled number of successes."""
        return self.x1 + self.x2

    @property
    def failures(self) -> Floats:
        """The pooled number of failures."""
        return self.n1 + self.n2 - self.successes

    def log_probability(self, k: Floats) -> Floats:
        """log P(X1 = k), given the pooled number of successes and equal rates."""
        return log_hypergeometric(k, self.n1, self.successes, self.failures)

    def take(self, rows: Any) -> TwoRates:
        """Some of the comparisons."""
        return TwoRates(*(column[rows] for column in self))


class FisherTails(NamedTuple):
    """P(X1 <= x1) and P(X1 >= x1), given the pooled number of successes."""

    lower: Floats
    upper: Floats

    @property
    def pvalues(self) -> Floats:
        """Twice the smaller tail, at most 1."""
        return np.asarray(np.minimum(1.0, 2 * np.minimum(self.lower, self.upper)))


def fisher_tails(pairs: TwoRates) -> FisherTails:
    """Compute both tails of Fisher's test for each comparison.

    Let 2 of 2 cases of the group and 0 of 2 of the reference be successes. There are 6 ways to
    choose two of four cases, and 1 of them gives the group 2.

    >>> pairs = TwoRates(*np.array([[2.0], [2.0], [0.0], [2.0]]))
    >>> fisher_tails(pairs).upper.round(6)
    array([0.166667])
    """
    x1, n1, x2, n2 = np.broadcast_arrays(*pairs)
    cells = np.stack([x1, n2 - x2, x2, n1 - x1])
    # The smaller tail is a sum of its terms, of successes or of failures.
    is_lower = x1 * (n1 + n2) <= n1 * (x1 + x2)
    p_observed = np.exp(TwoRates(x1, n1, x2, n2).log_probability(x1))
    tail = np.minimum(p_observed * _falling_terms(np.where(is_lower, cells, cells[::-1])), 1.0)
    other = np.minimum(1 - tail + p_observed, 1.0)
    return FisherTails(np.where(is_lower, tail, other), np.where(is_lower, other, tail))


def _falling_terms(cells: Floats) -> Floats:
    """The sums of P(X = a - i) / P(X = a) over i = 0, 1, ..., for columns of cells a, b, c, d.

    The ratios of neighbours are (a - i) (b - i) / ((c + i + 1) (d + i + 1)), so that one of a and d
    is the count of successes of the group, and b and c are those of the reference.
    """
    totals, columns, first, count = np.ones(cells.shape[1]), np.arange(cells.shape[1]), 0, 16
    term = totals.copy()
    while len(columns):
        i = np.arange(first, first + count)[:, None]
        a, b, c, d = cells[:, columns]
        terms = np.maximum(a - i, 0.0) * np.maximum(b - i, 0.0)
        terms /= (c + (i + 1)) * (d + (i + 1))
        terms[0] *= term
        np.cumprod(terms, axis=0, out=terms)
        totals[columns] += terms.sum(axis=0)
        is_open = terms[-1] > 1e-17 * totals[columns]
        columns, term = columns[is_open], terms[-1, is_open]
        first += count
        count = max(16, min(2 * count, _BATCH // max(len(columns), 1)))
    return totals


class AttainableTails(NamedTuple):
    """The tails that tests can attain, in no particular order.

    Attributes
    ----------
    row : array of int
        The comparison that a tail belongs to.
    tail, probability : array
        P(X1 <= k) or P(X1 >= k), and P(X1 = k).
    is_listed : array of bool, one value per comparison
        Whether a comparison has few enough outcomes to list its tails.
    """

    row: Integers
    tail: Floats
    probability: Floats
    is_listed: Bools


def attainable_tails(pairs: TwoRates, largest: Floats) -> AttainableTails:
    """List the attainable tails of each comparison, up to the ``largest`` tail of interest.

    Given the pooled number of successes, P(p <= x) is the sum of all probabilities whose tail is at
    most x / 2.
    """
    lowest, highest = attainable_counts(pairs)
    is_listed = highest - lowest < _MAX_OUTCOMES
    rows = np.flatnonzero(is_listed)
    # Batches of rows with similarly many outcomes.
    rows = rows[np.argsort(lowest[rows] - highest[rows])]
    parts = [(rows[:0], np.empty(0), np.empty(0))]
    while len(rows):
        width = int(highest[rows[0]] - lowest[rows[0]]) + 1
        batch, rows = np.split(rows, [1 + _BATCH // width])
        probability = _list_probabilities(pairs.take((batch, None)), lowest[batch, None], width)
        lower = np.cumsum(probability, axis=1)
        upper = np.cumsum(probability[:, ::-1], axis=1)[:, ::-1]
        for tail in np.minimum([lower, upper], 1.0):
            is_kept = (tail <= largest[batch, None]) & (probability > 0)
            parts.append((batch[np.nonzero(is_kept)[0]], tail[is_kept], probability[is_kept]))
    row, tail, probability = map(np.concatenate, zip(*parts, strict=True))
    return AttainableTails(row, tail, probability, is_listed)


def attainable_counts(pairs: TwoRates) -> tuple[Floats, Floats]:
    """The smallest and the largest possible X1, given the pooled number of successes."""
    lowest = np.maximum(0.0, pairs.successes - pairs.n2)
    return lowest, np.minimum(pairs.n1, pairs.successes)


def noncentral_modes(log_odds: ArrayLike, pairs: TwoRates) -> Floats:
    """The modes, plus a fraction (Liao and Rosen 2001).

    There, the probabilities of neighbours are equal, which is a quadratic equation.
    """
    odds, rest = np.exp(log_odds), pairs.n2 - pairs.successes
    least, rest = np.maximum(0.0, -rest), np.abs(rest)
    n, s = pairs.n1 - least + 1, pairs.successes - least + 1
    # The discriminant as a sum of positive terms, which loses no digits.
    cross = 2 * odds * (rest * (n + s) + 2 * n * s)
    root = np.sqrt((odds * (n - s)) ** 2 + rest**2 + cross)
    return np.asarray(least + 2 * odds * n * s / (odds * (n + s) + rest + root))


def likely_counts(odds: ArrayLike, pairs: TwoRates, reach: int = 10) -> tuple[Floats, ...]:
    """The mode, and the first and the last count whose probability is not negligible.

    They lie a number of standard deviations from the mode, and a few cases more for skewed
    distributions. The odds ratio is given as its logarithm.
    """
    least, most = attainable_counts(pairs)
    mode = np.clip(np.floor(noncentral_modes(odds, pairs)), least, most)
    others = pairs.successes - mode
    cells = np.stack([mode, others, pairs.n1 - mode, pairs.n2 - others])
    deviation = 1 / np.sqrt((1 / (cells + 1)).sum(axis=0))
    step = np.ceil(reach * (deviation + 4))
    return mode, np.maximum(least, mode - step), np.minimum(most, mode + step)


def _list_probabilities(pairs: TwoRates, first: Floats, count: int) -> Floats:
    """P(X1 = k) of so many outcomes k from the first one, which are all, in rows.

    The terms follow from the ratios of neighbours,

        P(X1 = k + 1) / P(X1 = k) = (s - k) (n1 - k) / ((k + 1) (f - n1 + k + 1)),

    and are divided by their sum.
    """
    k = first + np.arange(count - 1)
    # The ratio is 0 at the largest possible count, and so are all terms beyond.
    rising = np.maximum((pairs.successes - k) * (pairs.n1 - k), 0.0)
    with np.errstate(divide="ignore"):
        steps = np.log(rising / ((k + 1) * (pairs.failures - pairs.n1 + k + 1)))
    log_terms = np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)
    terms = np.exp(log_terms - log_terms.max(axis=1, keepdims=True))
    return np.asarray(terms / terms.sum(axis=1, keepdims=True))


def select_small_samples(n1: Floats, n2: Floats) -> Bools:
    """Select the pairs of sample sizes for which `unconditional_sizes` is computed.

    The smallest samples gain most.
    """
    smaller, larger = np.minimum(n1, n2), np.maximum(n1, n2)
    is_small = (smaller <= _MAX_CASES[0]) & (larger <= _MAX_CASES[1])
    order = np.argsort(np.where(is_small, smaller, np.inf), kind="stable")
    is_small[order[np.cumsum(smaller[order]) > _MAX_TOTAL]] = False
    return is_small


def unconditional_sizes(n1: int, n2: int, levels: Floats) -> Floats:
    """An approximation of the largest P(p <= x) over common rates, for each level x; at most x.

    It is the largest over 257 rates, or more if a sample is large, and half a percent more for those
    between them; levels above 0.1 are returned as they are. It depends on nothing but the two numbers
    of cases. Of 1 case against 1 case, p is always 1, and no smaller level is ever reached.

    >>> unconditional_sizes(1, 1, np.array([0.05])).round(6)
    array([0.])
    """
    smaller, larger = min(n1, n2), max(n1, n2)
    is_low, sizes = levels <= _HIGHEST_LEVEL * ROUNDING, levels.copy()
    limits = _rejection_limits(smaller, larger, levels[is_low] / 2 * ROUNDING)
    # The largest probability is found if rates are closer than counts of the larger sample vary.
    rates = max(_RATES, int(6 * larger**0.5))
    probability = _binomial_probabilities(smaller, rates)
    # P(X < k) for k = 0, 1, ...
    below = np.cumsum(_binomial_probabilities(larger, rates), axis=1)
    below = np.pad(below, ((0, 0), (1, 0)))
    for i, end, start in zip(np.flatnonzero(is_low), *limits, strict=True):
        rejected = np.minimum(below[:, end] + 1 - below[:, start], 1)
        largest = (probability * rejected).sum(axis=1).max()
        sizes[i] = min(sizes[i], largest * _BETWEEN_RATES)
    return sizes


def _rejection_limits(smaller: int, larger: int, tails: Floats) -> tuple[Integers, Integers]:
    """Counts of the larger sample below which, and from which, a tail is at most each of ``tails``.

    Both arrays have the shape (tails, smaller + 1): a column for each count of the smaller sample.
    """
    count, pooled = np.arange(smaller + 1.0)[:, None], np.arange(smaller + larger + 1.0)
    margins = np.full(1, smaller), pooled, pooled[::-1]
    probability = np.exp(log_hypergeometric(count, *margins))
    lower = np.cumsum(probability, axis=0)
    upper = np.cumsum(probability[::-1], axis=0)[::-1]
    below, start = np.empty((2, len(tails), smaller + 1), np.int64)
    for k in range(smaller + 1):
        # As the other count rises, P(X >= k) rises and P(X <= k) falls.
        others = slice(k, k + larger + 1)
        below[:, k] = np.searchsorted(upper[k, others], tails, side="right")
        start[:, k] = np.searchsorted(-lower[k, others], -tails, side="left")
    return below, start


@lru_cache(maxsize=32)
def _binomial_probabilities(n: int, number: int) -> Floats:
    """P(X = 0), ..., P(X = n) of binomial counts, with one row for each rate that is tried."""
    rates: Any = np.sin(np.linspace(0, np.pi / 2, number))[:, None] ** 2
    return Binomial(rates, 1 - rates).pmf(np.arange(n + 1), n)
