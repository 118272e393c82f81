"""One split of ``m`` cases into two parts, under each law of the cells.

A split says how many of ``m`` cases fall into the first part. Sizes and values are arrays that
broadcast. All probabilities come from one formula: a binomial term with real arguments in the
saddle-point form of Loader (2000), with a relative accuracy of about 1e-13 even in the far tails. A
ratio of such terms is a hypergeometric probability, a ratio of negative binomial terms a
beta-binomial one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Integers
from ..errors import check_cost

#: The first and the last of some counts; none if the first is larger.
Interval = tuple[Floats, Floats]

# Terms of a sum that are smaller than this, relative to the largest, are left out.
_NEGLIGIBLE = 1e-18
_HINT = "condition on the margin (`given='margin'`), take fewer cases, or simulate"
# Entries of arrays that are computed at once, and the most terms of all sums together.
_BLOCK, _MAX_TERMS = 2**20, 2**25


class Split(ABC):
    """How many of ``m`` cases fall into the first of two parts."""

    __slots__ = ()

    @abstractmethod
    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log P(K = k); -inf outside the support."""

    @abstractmethod
    def support(self, m: Floats) -> Interval:
        """The smallest and the largest value with positive probability, which limit all sums."""

    @abstractmethod
    def step(self, k: Floats, m: Floats) -> Floats:
        """P(K = k + 1) / P(K = k) inside the support, by which neighbouring terms follow."""

    @abstractmethod
    def mode(self, m: Floats) -> Floats:
        """The value from which probabilities fall on both sides; nan if there is none."""

    @abstractmethod
    def reach(self, m: Floats, eps: float) -> Floats:
        """A distance from the mode exceeded with probability ``eps`` at most, to cut sums."""

    @abstractmethod
    def sample(self, m: Integers, rng: np.random.Generator) -> Integers:
        """One random value per size, for simulations."""

    def pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """P(K = k)."""
        return np.exp(self.log_pmf(k, m))

    def window(self, m: Floats, eps: float) -> Interval:
        """The range of K, except for a probability of at most ``eps`` on either side.

        Sums are cut to it. Where there is no mode, it is the support.
        """
        low, high = self.support(m)
        mode, reach = self.mode(m), self.reach(m, eps)
        return np.fmax(low, mode - reach), np.fmin(high, mode + reach)

    def widths(self, m: Floats, eps: float) -> Floats:
        """The number of likely values for each size: those but for ``eps`` on either side.

        Callers refuse or divide up what would be too many.
        """
        low, high = self.window(m, eps)
        return high - low + 1

    def table(self, m: Floats, eps: float) -> SplitTable:
        """The probabilities for each size, except for at most ``eps`` on either side.

        For many sums over splits of the same sizes; `interval_sum` computes each anew.
        """
        low, high = self.window(m, eps)
        width = int((high - low).max(initial=0)) + 1
        subject = f"a table of the likely counts of {m.max(initial=0):,.0f} cases"
        hint = "take fewer cases, or simulate"
        check_cost(width * len(m), 2**24, subject + " has {} entries", hint)
        return SplitTable(low, self._terms(m, low, high, self.mode(m)))

    def interval_sum(self, low: Floats, high: Floats, m: Floats) -> Floats:
        """P(low <= K <= high), with full relative accuracy even in the far tails.

        It is 0 if no value of the support lies between them.
        """
        first, last = self.support(m)
        first, last = np.maximum(first, low), np.minimum(last, high)
        total = np.zeros(len(m))
        single, several = np.flatnonzero(first == last), np.flatnonzero(first < last)
        total[single] = self.pmf(first[single], m[single])
        total[several] = self._range_sum(first[several], last[several], m[several])
        return total

    def _range_sum(self, low: Floats, high: Floats, m: Floats) -> Floats:
        """P(low <= K <= high) for several values inside the support.

        Each sum begins at its largest term and ends where terms become negligible. Probabilities
        fall at least as fast from there as from the mode.
        """
        largest, reach = np.clip(self.mode(m), low, high), self.reach(m, _NEGLIGIBLE)
        low, high = np.fmax(low, largest - reach), np.fmin(high, largest + reach)
        widths = high - low + 1
        cases = f"{m.max(initial=0):,.0f} cases"
        subject = f"an exact sum over up to {cases} has {{}} terms"
        check_cost(widths.sum(), _MAX_TERMS, subject, _HINT)
        total = np.zeros(len(m))
        rows = np.argsort(widths, kind="stable")
        for places in row_blocks(widths[rows], _BLOCK):
            block = rows[places]
            terms = self._terms(m[block], low[block], high[block], largest[block])
            total[block] = terms.sum(axis=1)
        return total

    def _terms(self, m: Floats, low: Floats, high: Floats, largest: Floats) -> Floats:
        """P(K = low), P(K = low + 1), ..., P(K = high), one row per size, padded with zeros.

        Each row has one accurate value, at ``largest``, or at ``low`` if that is nan (no mode); the
        others follow from the ratios of neighbours, which cost less than probabilities do.
        """
        width = int((high - low).max(initial=0)) + 1
        k = low[:, None] + np.arange(width - 1)
        is_inside = k < high[:, None]
        anchor = np.clip(np.where(np.isnan(largest), low, largest), low, high)
        is_right = k >= anchor[:, None]
        with np.errstate(all="ignore"):
            steps = np.where(is_inside, self.step(k, m[:, None]), 0.0)
            terms = np.ones((len(m), width))
            np.cumprod(np.where(is_right, steps, 1.0), axis=1, out=terms[:, 1:])
            ratios = 1 / np.where(is_right, 1.0, steps)
            terms[:, :-1] *= np.cumprod(ratios[:, ::-1], axis=1)[:, ::-1]
            return terms * self.pmf(anchor, m)[:, None]


@dataclass(frozen=True, slots=True)
class Binomial(Split):
    """Each case falls into the first part with probability ``p``, otherwise with ``q`` = 1 - p."""

    p: float
    q: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log C(m, k) p^k q^(m-k)."""
        k, m = _as_floats(k, m)
        is_inside = (k >= 0) & (k <= m)
        return np.where(is_inside, _log_binomial(k, m, self.p, self.q), -np.inf)

    def support(self, m: Floats) -> Interval:
        """0 to m, unless one part is impossible."""
        return (m if self.q == 0 else 0 * m), (0 * m if self.p == 0 else m)

    def step(self, k: Floats, m: Floats) -> Floats:
        """P(K = k + 1) / P(K = k) = (m-k)/(k+1) p/q."""
        return (m - k) * self.p / ((k + 1) * self.q)

    def mode(self, m: Floats) -> Floats:
        """The mode of a binomial count of m trials."""
        return np.minimum(np.floor((m + 1) * self.p), m)

    def reach(self, m: Floats, eps: float) -> Floats:
        """A distance from the mode that is rarely exceeded, by Bernstein's inequality."""
        return _bernstein(m * self.p * self.q, eps)

    def sample(self, m: Integers, rng: np.random.Generator) -> Integers:
        """Binomial variates."""
        return rng.binomial(m, min(self.p, 1.0))

    def _range_sum(self, low: Floats, high: Floats, m: Floats) -> Floats:
        """P(low <= K <= high) from the incomplete beta function.

        Where the range lies above the mean, failures are counted instead of successes, so that a
        small tail is never 1 minus a large one.
        """
        is_lower = high <= m * self.p
        last = np.where(is_lower, high, m - low)
        p, q = np.where(is_lower, self.p, self.q), np.where(is_lower, self.q, self.p)
        before = np.where(is_lower, low, m - high) - 1
        total = binomial_cdf(last, m, p, q) - binomial_cdf(before, m, p, q)
        return np.maximum(total, 0.0)


@dataclass(frozen=True, slots=True)
class BetaBinomial(Split):
    """A binomial split with a random probability, Beta(a, b)."""

    a: float
    b: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """Log of the beta-binomial pmf, C(m, k) B(k+a, m-k+b) / B(a, b).

        It is a negative binomial term given the sum of two. Any p cancels; this one puts the mean
        of the sum at m, so that no large terms cancel.
        """
        k, m = _as_floats(k, m)
        total = self.a + self.b
        p, q = total / (total + m), m / (total + m)
        value = _log_negative_binomial(k, self.a, p, q)
        value += _log_negative_binomial(m - k, self.b, p, q)
        value -= _log_negative_binomial(m, total, p, q)
        return np.where((k >= 0) & (k <= m), value, -np.inf)

    def support(self, m: Floats) -> Interval:
        """0 to m: either part can have all cases."""
        return 0 * m, m

    def step(self, k: Floats, m: Floats) -> Floats:
        """P(K = k + 1) / P(K = k) = (m-k)(a+k) / ((k+1)(b+m-k-1))."""
        return (m - k) * (self.a + k) / ((k + 1) * (self.b + m - k - 1))

    def mode(self, m: Floats) -> Floats:
        """The most likely count, where sums begin; nan if no parameter exceeds 1 (no peak)."""
        if max(self.a, self.b) <= 1:
            return np.full_like(m, np.nan)
        if min(self.a, self.b) <= 1:
            return 0 * m if self.a <= 1 else m
        mode = np.ceil((m * (self.a - 1) - self.b + 1) / (self.a + self.b - 2))
        return np.clip(mode, 0, m)

    def reach(self, m: Floats, eps: float) -> Floats:
        """Where the probability falls below eps / (m + 1), by bisection; infinite without a mode.

        If a parameter is below 1, tails are not log-concave, and every value counts.
        """
        if min(self.a, self.b) < 1:
            return np.full_like(m, np.inf)
        mode, cut = self.mode(m), np.log(eps) - np.log(m + 1)

        def excess(rows: Integers, distance: Floats) -> Floats:
            """At least 0 where the pmf at both distances from the mode is below the cut."""
            ends = mode[rows] - distance, mode[rows] + distance
            low, high = (self.log_pmf(end, m[rows]) for end in ends)
            return np.asarray(cut[rows] - np.maximum(low, high))

        return bisect(0 * m + 1, np.maximum(mode, m - mode) + 1, excess)

    def sample(self, m: Integers, rng: np.random.Generator) -> Integers:
        """Binomial variates with beta-distributed probabilities."""
        return rng.binomial(m, rng.beta(self.a, self.b, size=m.shape))


@dataclass(frozen=True, slots=True)
class Hypergeometric(Split):
    """``m`` cases sampled without replacement from ``first`` and ``second`` of two kinds."""

    first: float
    second: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log C(first, k) C(second, m-k) / C(first+second, m)."""
        return log_hypergeometric(*_as_floats(k, m, self.first, self.second))

    def support(self, m: Floats) -> Interval:
        """max(0, m-second) to min(m, first): no more cases of either kind than there are."""
        return np.maximum(0, m - self.second), np.minimum(m, self.first)

    def step(self, k: Floats, m: Floats) -> Floats:
        """P(K = k + 1) / P(K = k) = (first-k)(m-k) / ((k+1)(second-m+k+1))."""
        return (self.first - k) * (m - k) / ((k + 1) * (self.second - m + k + 1))

    def mode(self, m: Floats) -> Floats:
        """The mode of a hypergeometric count of m cases."""
        mode = np.floor((m + 1) * ((self.first + 1) / (self.first + self.second + 2)))
        return np.clip(mode, *self.support(m))

    def reach(self, m: Floats, eps: float) -> Floats:
        """A distance from the mode that is rarely exceeded, by Bernstein's inequality.

        It also holds without replacement (Hoeffding 1963). The cases drawn or those left are
        counted, whichever are fewer.
        """
        total = max(self.first + self.second, 1)
        drawn = np.minimum(m, total - m)
        return _bernstein(drawn * (self.first / total) * (self.second / total), eps)

    def sample(self, m: Integers, rng: np.random.Generator) -> Integers:
        """Hypergeometric variates."""
        return rng.hypergeometric(int(self.first), int(self.second), m)


class SplitTable:
    """Probabilities of a split, one row per size, each row starting at its own value."""

    def __init__(self, start: Floats, pmf: Floats) -> None:
        """Keep P(K = start[i] + j) of the i-th size as pmf[i, j]."""
        self.start, self.pmf = start, pmf

    @cached_property
    def left(self) -> Floats:
        """The probability of all values before each column, for differences in lower tails."""
        return np.cumsum(np.pad(self.pmf, ((0, 0), (1, 0))), axis=1)

    @cached_property
    def right(self) -> Floats:
        """P(K >= value) for each column, whose differences cancel little in upper tails."""
        padded = np.pad(self.pmf, ((0, 0), (0, 1)))
        return np.cumsum(padded[:, ::-1], axis=1)[:, ::-1]

    def interval_sum(self, low: Floats, high: Floats, row: Integers) -> Floats:
        """P(low <= K <= high) for the sizes in these rows, from the sums that cancel less."""
        width, start = self.pmf.shape[1], self.start[row]
        first = np.clip(low - start, 0, width).astype(np.int64)
        after = np.clip(high + 1 - start, first, width).astype(np.int64)
        up_to, from_first = self.left[row, after], self.right[row, first]
        by_left = up_to - self.left[row, first]
        by_right = from_first - self.right[row, after]
        total = np.where(up_to <= from_first, by_left, by_right)
        single = self.pmf[row, np.minimum(first, width - 1)]
        return np.where(after - first == 1, single, total)


def bisect(
    low: Floats, high: Floats, excess: Callable[[Integers, Floats], Floats]
) -> Floats:
    """Row by row, the first integer x in [low, high) with excess(row, x) >= 0; ``high`` if none.

    The function must not decrease in x. It finds how many counts score below a threshold, and where
    tails become negligible.
    """
    low, high = low.copy(), high.copy()
    while len(rows := np.flatnonzero(low < high)):
        middle = np.floor((low[rows] + high[rows]) / 2)
        is_below = excess(rows, middle) < 0
        low[rows] = np.where(is_below, middle + 1, low[rows])
        high[rows] = np.where(is_below, high[rows], middle)
    return low


def row_blocks(widths: Floats, size: int) -> list[Integers]:
    """Neighbouring rows in blocks whose widths add up to about ``size``.

    Arrays are computed for one block at a time, to limit their memory.

    >>> [block.tolist() for block in row_blocks(np.array([2.0, 2.0, 3.0, 9.0]), 4)]
    [[0, 1], [2], [3]]
    """
    ends = np.cumsum(widths)
    cuts = np.searchsorted(ends, np.arange(size, widths.sum(), size), side="right")
    return np.split(np.arange(len(widths)), np.unique(cuts[cuts > 0]))


def log_hypergeometric(k: Floats, m: Floats, first: Floats, second: Floats) -> Floats:
    """log C(first, k) C(second, m-k) / C(first+second, m); -inf outside the support.

    It is a ratio of binomial terms, in which any p cancels; with this one, no large terms do.
    """
    total = np.maximum(first + second, 1.0)
    p, q = m / total, (total - m) / total
    value = _log_binomial(k, first, p, q) + _log_binomial(m - k, second, p, q)
    value -= _log_binomial(m, first + second, p, q)
    is_inside = (k >= np.maximum(0.0, m - second)) & (k <= np.minimum(m, first))
    return np.where(is_inside, value, -np.inf)


def binomial_cdf(k: Floats, m: Floats, p: Any, q: Any = None) -> Floats:
    """P(K <= k) of ``m`` cases; ``q`` is 1 - p, if that is known better.

    From the incomplete beta function; it is 0 for k < 0, and 1 for k >= m.
    """
    from scipy.special import betainc

    q = 1 - np.asarray(p) if q is None else q
    inside = np.clip(k, 0, np.maximum(m - 1, 0))
    below = betainc(np.maximum(m - inside, 1), inside + 1, q)
    return np.where(k < 0, 0.0, np.where(k >= m, 1.0, below))


def _bernstein(variance: Floats, eps: float) -> Floats:
    """A distance from the mode that a sum of 0-1 variables exceeds with probability ``eps``.

    At most ``eps`` on either side, by Bernstein's inequality for the distance from the mean. It is
    for `reach`, which says where to cut a sum.
    """
    t = -np.log(eps) / 3
    # The mode is less than 1 away from the mean.
    return np.asarray(np.ceil(t + np.sqrt(t * t + 6 * t * variance)) + 1)


def _as_floats(*values: ArrayLike) -> list[Floats]:
    """Arguments as float arrays, so that counts of any type can be passed."""
    return [np.asarray(value, dtype=float) for value in values]


def _log_negative_binomial(k: Floats, a: float, p: Floats, q: Floats) -> Floats:
    """log Γ(k+a) / (Γ(a) k!) p^a q^k.

    A beta-binomial probability is a product of two of these over a third. If a is 0, all
    probability is at k = 0.
    """
    if a <= 0:
        return np.where(k == 0, 0.0, -np.inf)
    with np.errstate(all="ignore"):
        return np.asarray(np.log(a / (a + k)) + _log_binomial(a, a + k, p, q))


def _log_binomial(x: ArrayLike, n: ArrayLike, p: ArrayLike, q: ArrayLike) -> Floats:
    """log Γ(n+1)/(Γ(x+1)Γ(n-x+1)) p^x q^(n-x) for real 0 <= x <= n.

    The probabilities of all splits are made of it. In the form of Loader (2000), no large terms
    cancel; it has no value at x = 0 and x = n, where the term is q^n or p^n.
    """
    x, n, p, q = _as_floats(x, n, p, q)
    y = n - x
    with np.errstate(all="ignore"):
        corrections = _stirling_error(n) - _stirling_error(x) - _stirling_error(y)
        deviances = _deviance(x, n * p) + _deviance(y, n * q)
        value = corrections - deviances - 0.5 * np.log(2 * np.pi * x * (y / n))
        if not np.all(x):
            value = np.where(x == 0, np.where(n == 0, 0.0, n * _log(q, p)), value)
        if not np.all(y):
            value = np.where((y == 0) & (x != 0), n * _log(p, q), value)
    return value


def _log(p: Floats, q: Floats) -> Floats:
    """log p, computed from q = 1 - p where that is more accurate, for `_log_binomial`."""
    return np.where(q < 0.5, np.log1p(-np.minimum(q, 0.5)), np.log(p))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x/mean) + mean - x, without cancellation where x is near its mean.

    A part of `_log_binomial`. If the mean is 0, it is infinite, and the probability 0.
    """
    d = (x - mean) / mean
    return np.where(mean == 0, np.inf, mean * ((1 + d) * np.log1p(d) - d))


def _stirling_error(x: Floats) -> Floats:
    """log Γ(x+1) minus Stirling's formula, so that no large log-gammas cancel (Loader 2000).

    At x = 0 it is infinite; a large number stands for it, which callers replace.
    """
    from scipy.special import gammaln

    large = np.maximum(x, 16.0)
    t = 1 / (large * large)
    series = 1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t / 1188)))
    if np.min(x, initial=np.inf) >= 16:
        return series / large
    small = np.clip(x, 1e-300, 16.0)
    formula = (small + 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi)
    return np.where(x < 16, gammaln(small + 1) - formula, series / large)
