"""Exact tests of equal rates, ``a`` of ``A`` against ``b`` of ``B``, for arrays of comparisons.

`fisher` conditions on the pooled count; the group's count is then hypergeometric under the null. `boschloo` takes
Fisher's p-value as its statistic. Its p-value is the largest probability, over all common rates, of a statistic that is
at most as large. It keeps its level without conditioning, and is more powerful. Both double the smaller tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..laws import Hypergeometric, interval_sums, log_hypergeometric

__all__ = [
    "Attainable",
    "FisherTails",
    "LargestSizes",
    "Sizes",
    "boschloo",
    "boschloo_rows",
    "fisher",
    "fisher_rejects",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# The maximum is over a confidence interval of the common rate. The probability that it misses the rate is added to the
# p-value (Berger and Boos 1994).
_MISSED = 1e-9
_COARSE_GRID, _FINE_GRID, _REFINEMENTS = 40, 9, 2
# If the smaller sample is larger than this, the unconditional test is slow and hardly better than the conditional one.
_LARGEST_SAMPLE = 400
# About this many outcomes are computed at once.
_BLOCK = 2**12
# Sums over a tail stop at terms that are smaller than this, relative to the sum.
_NEGLIGIBLE = 1e-18
# Tails of a count with a larger standard deviation than this are integrals; windows leave out at most this.
_WIDE, _FINEST = 2**15, 1e-300
# A test with more outcomes than this is treated as continuous.
_MOST_OUTCOMES = 2_048
# Above this level, and for larger samples (the smaller, the larger one), the size of a test is not computed.
_HIGH_LEVEL, _MOST_SHARED, _MOST_LISTED = 0.1, (100, 5_000), 3_000
# The number of rates over which it is the largest, and what may be left out between them.
_SHARED_GRID, _BETWEEN_RATES = 257, 1.005
# A p-value within rounding of the level counts as reaching it.
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class FisherTails:
    """P(X <= a), P(X = a) and P(X >= a) of the group's count, given the pooled count."""

    lower: Floats
    at: Floats
    upper: Floats

    def pvalue(self, mid_p: bool = False) -> Floats:
        """Twice the smaller tail, at most 1; with ``mid_p``, the observed count contributes half of its probability."""
        half = self.at / 2 if mid_p else 0.0
        return np.minimum(1.0, 2 * (np.minimum(self.lower, self.upper) - half))


def fisher(a: Floats, of_a: Floats, b: Floats, of_b: Floats) -> FisherTails:
    """The tails of Fisher's exact test."""
    first, second = a + b, of_a + of_b - a - b
    at = np.exp(log_hypergeometric(a, of_a, first, second))
    mean = of_a * first / np.maximum(first + second, 1.0)
    # The tail that does not contain the mean is summed; the other one follows without loss of accuracy.
    below = a <= mean
    count, kind, other_kind = (np.where(below, *sides) for sides in ((a, of_a - a), (first, second), (second, first)))
    spread = np.sqrt(mean * (second / np.maximum(first + second, 1.0)))
    wide = np.broadcast_to(spread > _WIDE, np.shape(at))
    tail = np.where(wide, 0.0, at * (1 + _falling(np.where(wide, 0.0, count), of_a, kind, other_kind)))
    for i in np.argwhere(wide):
        k, m, x, y = (np.broadcast_to(v, np.shape(at))[tuple(i)][None] for v in (count, of_a, kind, other_kind))
        tail[tuple(i)] = interval_sums(Hypergeometric(float(x[0]), float(y[0])), m, [(0 * k, k)], _FINEST)[0][0]
    other = np.minimum(1.0, 1 - tail + at)
    return FisherTails(np.where(below, tail, other), at, np.where(below, other, tail))


def fisher_rejects(a: Floats, of_a: Floats, b: Floats, of_b: Floats, level: ArrayLike, mid_p: bool = False) -> Bools:
    """Whether twice P(X <= a) is at most the level: Fisher's test finds the group's rate lower.

    Terms are added only until that is clear, which is many times faster than `fisher`.
    """
    a, of_a, b, of_b, limit = np.broadcast_arrays(a, of_a, b, of_b, np.asarray(level) / 2 * _ROUNDING)
    first, second = a + b, of_a + of_b - a - b
    at = np.exp(log_hypergeometric(a, of_a, first, second))
    own = 0.5 if mid_p else 1.0
    variance = of_a * (first / np.maximum(first + second, 1.0)) * (second / np.maximum(first + second, 1.0))
    wide = variance > _WIDE**2

    def clear(rows: NDArray[np.int64], total: Floats, more: Floats) -> Bools:
        at_, limit_ = at.ravel()[rows], limit.ravel()[rows]
        return np.asarray((at_ * (own + total) > limit_) | (at_ * (own + total + more) <= limit_))

    tail = at * (own + _falling(np.where(wide, 0.0, a), of_a, first, second, clear))
    if wide.any():
        tails = fisher(a[wide], of_a[wide], b[wide], of_b[wide])
        tail[wide] = tails.lower - (1 - own) * tails.at
    return np.asarray((tail <= limit) & (a >= 0))


def _falling(
    k: Floats,
    m: Floats,
    first: Floats,
    second: Floats,
    clear: Callable[[NDArray[np.int64], Floats, Floats], Bools] | None = None,
) -> Floats:
    """The sum of P(X = j) / P(X = k) over j < k, or as much of it as makes the matter ``clear``.

    ``clear`` is told which rows are summed, their sums so far, and bounds on what is left.
    """
    shape = np.broadcast_shapes(k.shape, m.shape, first.shape, second.shape)
    k, m, first, second = (np.broadcast_to(x, shape).ravel() for x in (k, m, first, second))
    total, term = np.zeros(len(k)), np.ones(len(k))
    rows, done, width = np.arange(len(k)), 0.0, 32 if clear is None else 16
    while len(rows):
        j = k[rows, None] - done - np.arange(width)
        rest = second[rows, None] - m[rows, None] + j
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(
                (j > 0) & (rest > 0), j * rest / ((first[rows, None] - j + 1) * (m[rows, None] - j + 1)), 0.0
            )
        terms = term[rows, None] * np.cumprod(steps, axis=1)
        total[rows] += terms.sum(axis=1)
        term[rows] = terms[:, -1]
        open_ = term[rows] > _NEGLIGIBLE * (1 + total[rows])
        if clear is not None:
            # Ratios of neighbours fall, so what is left is less than a geometric series.
            with np.errstate(divide="ignore", invalid="ignore"):
                more = np.where(steps[:, -1] < 1, term[rows] * steps[:, -1] / (1 - steps[:, -1]), np.inf)
            open_ &= ~clear(rows, total[rows], more)
        rows = rows[open_]
        done += width
        width = min(2 * width, 8192)
    return total.reshape(shape)


class Attainable:
    """The attainable tail probabilities of the groups' counts given the pooled counts, for many comparisons.

    ``of_a`` are the sizes of the groups, ``total`` those of both samples together.
    """

    def __init__(self, of_a: Floats, pooled: Floats, total: Floats) -> None:
        self._low = np.maximum(0.0, of_a - (total - pooled))
        self._width = np.minimum(of_a, pooled) - self._low + 1
        self._of_a, self._pooled, self._rest = of_a, pooled, total - pooled

    def take(self, rows: NDArray[np.int64]) -> Attainable:
        """Those of some comparisons."""
        return Attainable(self._of_a[rows], self._pooled[rows], (self._pooled + self._rest)[rows])

    def steps(self) -> tuple[Steps, Steps]:
        """The lower and the upper tails of every comparison, in ascending order."""
        starts = np.zeros((2, len(self._width)), dtype=np.int64)
        tails: list[list[Floats]] = [[], []]
        end = 0
        # Comparisons with a similar number of outcomes are computed together.
        bucket = np.where(self._width <= _MOST_OUTCOMES, np.ceil(np.log2(np.maximum(self._width, 1))), np.inf)
        for power in np.unique(bucket):
            rows = np.flatnonzero(bucket == power)
            listed = bool(np.isfinite(power))
            pmf = self._probabilities(rows, int(2**power)) if listed else np.zeros((len(rows), 0))
            places = pmf.shape[1]
            beyond = np.arange(places) >= self._width[rows, None]
            sides = np.where(beyond, np.inf, np.cumsum(pmf, axis=1)), np.cumsum(pmf[:, ::-1], axis=1)
            first = end + np.arange(len(rows)) * (places + 1)
            # Read from the other end, the places beyond the support come first, and are skipped.
            skipped = places - self._width[rows].astype(np.int64) if listed else np.zeros(len(rows), dtype=np.int64)
            for side, skip, values in zip((0, 1), (0, skipped), sides, strict=True):
                starts[side, rows] = first + skip
                tails[side].append(np.hstack([values, np.full((len(rows), 1), np.inf)]).ravel())
            end += len(rows) * (places + 1)
        lower, upper = (Steps(np.concatenate(side), start) for side, start in zip(tails, starts, strict=True))
        return lower, upper

    @property
    def sizes(self) -> Floats:
        """The sizes of both samples, of shape (comparisons, 2)."""
        return np.column_stack([self._of_a, self._pooled + self._rest - self._of_a])

    @property
    def margins(self) -> Floats:
        """The pooled counts of successes and failures, of shape (comparisons, 2)."""
        return np.column_stack([self._pooled, self._rest])

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Whether a comparison has few enough outcomes to list."""
        return np.asarray(self._width <= _MOST_OUTCOMES)

    def _probabilities(self, rows: NDArray[np.int64], width: int) -> Floats:
        """P(X = low), P(X = low + 1), …: one accurate value at the mode, the others from the ratios of neighbours."""
        m, first, second, low = (x[rows, None] for x in (self._of_a, self._pooled, self._rest, self._low))
        mode = np.floor((m + 1) * ((first + 1) / (first + second + 2)))
        mode = np.clip(mode, low, low + self._width[rows, None] - 1)
        k = low + np.arange(width - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.maximum((first - k) * (m - k), 0.0) / ((k + 1) * (second - m + k + 1))
            right = k >= mode
            rise = np.cumprod(np.where(right, ratio, 1.0), axis=1)
            fall = np.cumprod(np.where(right, 1.0, 1 / np.where(right, 1.0, ratio))[:, ::-1], axis=1)[:, ::-1]
        pmf = np.ones((len(rows), width))
        pmf[:, 1:] *= rise
        pmf[:, :-1] *= fall
        return pmf * np.exp(log_hypergeometric(mode, m, first, second))


class Steps:
    """Attainable tails of many comparisons in ascending order, and the position reached in each."""

    def __init__(self, tails: Floats, starts: NDArray[np.int64]) -> None:
        self._tails, self._next = tails, starts.copy()
        self.reached = np.zeros(len(starts))

    def walk(self, limit: float) -> Floats:
        """The largest tail of each comparison that is at most ``limit``, or 0; successive limits must ascend."""
        moving = np.flatnonzero(self._tails[self._next] <= limit)
        while len(moving):
            self.reached[moving] = self._tails[self._next[moving]]
            self._next[moving] += 1
            moving = moving[self._tails[self._next[moving]] <= limit]
        return self.reached


class Sizes:
    """P(p <= x) under the nulls of some comparisons, the chosen ``rows``, for levels x in ascending order."""

    def __init__(self, attainable: Attainable, rows: NDArray[np.int64]) -> None:
        chosen = attainable.take(rows)
        self._lower, self._upper = chosen.steps()
        self._listed = chosen.listed

    def at(self, level: float) -> Floats:
        """P(p <= level) per row; the level itself if there are too many outcomes to list."""
        half = level / 2 * (1 + 1e-9)
        size = np.minimum(self._lower.walk(half) + self._upper.walk(half), level)
        return np.asarray(np.where(self._listed, size, level))


class LargestSizes:
    """P(p <= x) under the nulls of some comparisons, the chosen ``rows``, at its largest over all common rates.

    It depends on nothing but the two sizes, so it bounds tests that share a reference, however they depend on each
    other.
    """

    def __init__(self, attainable: Attainable, rows: NDArray[np.int64]) -> None:
        self._sizes, self._which = np.unique(attainable.sizes[rows], axis=0, return_inverse=True)
        small = (self._sizes.min(axis=1) <= _MOST_SHARED[0]) & (self._sizes.max(axis=1) <= _MOST_SHARED[1])
        # The smallest samples gain most.
        work = np.cumsum(np.where(small, self._sizes.min(axis=1), np.inf)[order := np.argsort(self._sizes.min(axis=1))])
        self._few = np.sort(order[work <= _MOST_LISTED])

    def at(self, level: float) -> Floats:
        """P(p <= level) per row; the level itself if it is high, or if the samples are large."""
        size = np.full(len(self._sizes), float(level))
        if level <= _HIGH_LEVEL and len(self._few):
            size[self._few] = np.minimum(level, self._largest(level))
        return np.asarray(size[self._which])

    def _largest(self, level: float) -> Floats:
        smaller, larger = self._sizes[self._few].min(axis=1), self._sizes[self._few].max(axis=1)
        row = np.repeat(np.arange(len(smaller)), (smaller + 1).astype(np.int64))
        counts = (np.arange(len(row)) - np.searchsorted(row, np.arange(len(smaller)))[row]).astype(np.float64)
        lows, highs = _rejected(counts, smaller[row], larger[row], np.full(len(row), level / 2 * _ROUNDING))
        found = []
        for i, (few, many) in enumerate(zip(smaller.tolist(), larger.tolist(), strict=True)):
            up_to = np.cumsum(_binomials(many), axis=1)
            low, high = (ends[row == i].astype(np.int64) for ends in (lows, highs))
            # The probability of the larger sample's counts that are rejected beside each count of the smaller one.
            rejected = np.where(low >= 0, up_to[:, low], 0.0) + 1 - np.where(high > 0, up_to[:, high - 1], 0.0)
            found.append(float((_binomials(few) * np.minimum(rejected, 1.0)).sum(axis=1).max()))
        return np.array(found) * _BETWEEN_RATES


@lru_cache(maxsize=32)
def _binomials(n: float) -> Floats:
    """The probabilities of 0 to n successes, for a grid of rates."""
    from scipy.special import gammaln, xlog1py, xlogy

    rate = np.sin(np.linspace(0, np.pi / 2, _SHARED_GRID))[:, None] ** 2
    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate)))


def boschloo(a: float, of_a: float, b: float, of_b: float) -> tuple[float, str]:
    """The p-value of Boschloo's test, based on Fisher's central p-value, and the method used.

    The maximum is computed on a grid with two refinements, with a relative error of about 1e-4. If the smaller sample
    has more than 400 cases, Fisher's p-value is returned, which is larger by at most a few per cent.
    """
    (p,), (how,) = boschloo_rows(*(np.array([float(x)]) for x in (a, of_a, b, of_b)))
    return float(p), how


def boschloo_rows(a: Floats, of_a: Floats, b: Floats, of_b: Floats) -> tuple[Floats, list[str]]:
    """`boschloo` for arrays of comparisons."""
    p = fisher(a, of_a, b, of_b).pvalue()
    # A tail of exactly 1/2 may be computed as slightly less.
    certain = p * (1 + 1e-7) >= 1
    conditional = ~certain & (np.minimum(of_a, of_b) > _LARGEST_SAMPLE)
    p = np.where(certain, 1.0, p)
    open_ = np.flatnonzero(~certain & ~conditional)
    outcomes = np.cumsum(np.minimum(of_a, of_b)[open_] + 1)
    for rows in np.split(open_, np.searchsorted(outcomes, np.arange(_BLOCK, outcomes.max(initial=0), _BLOCK))):
        if len(rows):
            p[rows] = _Unconditional.of(a[rows] + b[rows], of_a[rows], of_b[rows], p[rows]).pvalues()
    return p, np.where(conditional, "fisher", "unconditional").tolist()


@dataclass(frozen=True, slots=True)
class _Unconditional:
    """The outcomes of some comparisons, all possible counts of the smaller samples, one comparison after the other.

    Per outcome, ``lows`` and ``highs`` are the other sample's counts up to which, and from which, a tail is as small as
    the observed one.
    """

    pooled: Floats
    sizes: tuple[Floats, Floats]
    counts: Floats
    row: NDArray[np.int64]
    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, pooled: Floats, of_a: Floats, of_b: Floats, known: Floats) -> _Unconditional:
        """The outcomes whose Fisher p-values are at most these."""
        smaller, larger = np.minimum(of_a, of_b), np.maximum(of_a, of_b)
        row = np.repeat(np.arange(len(pooled)), (smaller + 1).astype(np.int64))
        counts = (np.arange(len(row)) - np.searchsorted(row, np.arange(len(pooled)))[row]).astype(np.float64)
        level = known / 2 * (1 + 1e-7)
        ends = _rejected(counts, smaller[row], larger[row], level[row])
        return cls(pooled, (smaller, larger), counts, row, *ends)

    def pvalues(self) -> Floats:
        """The largest probability of a rejected outcome, over common rates that are not implausible."""
        from scipy.special import betaincinv

        count, total = self.pooled, self.sizes[0] + self.sizes[1]
        low = np.where(count > 0, betaincinv(np.maximum(count, 1), total - count + 1, _MISSED / 2), 0.0)
        high = np.where(count < total, betaincinv(count + 1, np.maximum(total - count, 1), 1 - _MISSED / 2), 1.0)
        return np.minimum(1.0, self.largest(low, high) + _MISSED)

    def largest(self, low: Floats, high: Floats) -> Floats:
        """The largest probability of a rejected outcome, over common rates from ``low`` to ``high``."""
        grid = np.linspace(np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)), _COARSE_GRID)
        largest, rows = np.zeros(len(low)), np.arange(len(low))
        for _ in range(_REFINEMENTS + 1):
            reached = self._rejection(np.sin(grid) ** 2)
            best = np.argmax(reached, axis=0)
            largest = np.maximum(largest, reached[best, rows])
            before, after = np.maximum(best - 1, 0), np.minimum(best + 1, len(grid) - 1)
            grid = np.linspace(grid[before, rows], grid[after, rows], _FINE_GRID)
        return largest

    def _rejection(self, rates: Floats) -> Floats:
        """The probability of a rejected pair of counts, for common rates of shape (rates, comparisons)."""
        from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

        p, counts = rates[:, self.row], self.counts
        of_a, of_b = (size[self.row] for size in self.sizes)
        ways = gammaln(of_a + 1) - gammaln(counts + 1) - gammaln(of_a - counts + 1)
        weight = np.exp(ways + xlogy(counts, p) + xlog1py(of_a - counts, -p))
        trials = of_b.astype(np.int64)
        below = np.where(self.lows >= 0, bdtr(np.maximum(self.lows, 0), trials, p), 0.0)
        at_least = np.where(self.highs <= 0, 1.0, bdtrc(np.maximum(self.highs - 1, 0), trials, p))
        above = np.where(self.highs <= of_b, at_least, 0.0)
        # If the two rejected ranges of a count overlap, they cover all outcomes; these count once.
        rejected = weight * np.minimum(below + above, 1.0)
        starts = np.searchsorted(self.row, np.arange(len(self.pooled)))
        return np.asarray(np.add.reduceat(rejected, starts, axis=1))


def _rejected(counts: Floats, of_a: Floats, of_b: Floats, level: Floats) -> tuple[Floats, Floats]:
    """Per count of the group, the reference's counts up to which, and from which, a tail is at most ``level``."""
    ends = []
    for upper in (True, False):
        low, high = np.full(len(counts), -1.0), of_b + 1
        while len(moving := np.flatnonzero(high - low > 1)):
            middle = np.floor((low[moving] + high[moving]) / 2)
            tails = fisher(counts[moving], of_a[moving], middle, of_b[moving])
            # As the reference's count rises, P(X >= a) rises and P(X <= a) falls.
            to_the_left = (tails.upper <= level[moving]) if upper else (tails.lower > level[moving])
            low[moving] = np.where(to_the_left, middle, low[moving])
            high[moving] = np.where(to_the_left, high[moving], middle)
        ends.append(low if upper else high)
    return ends[0], ends[1]
