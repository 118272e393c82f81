"""Exact tests of equal rates, ``a`` of ``A`` against ``b`` of ``B``, for arrays of comparisons.

`fisher` conditions on the pooled count; the group's count is then hypergeometric under the null. `boschloo` takes
Fisher's p-value as its statistic. Its p-value is the largest probability, over all common rates, of a statistic that is
at most as large. It keeps its level without conditioning, and is more powerful. Both double the smaller tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..laws import log_hypergeometric

__all__ = ["Attainable", "FisherTails", "Sizes", "boschloo", "fisher"]

Floats = NDArray[np.float64]

# The maximum is over a confidence interval of the common rate. The probability that it misses the rate is added to the
# p-value (Berger and Boos 1994).
_MISSED = 1e-9
_COARSE_GRID, _FINE_GRID, _REFINEMENTS = 40, 9, 2
# If the smaller sample is larger than this, the unconditional test is slow and hardly better than the conditional one.
_LARGEST_SAMPLE = 400
# Sums over a tail stop at terms that are smaller than this, relative to the sum.
_NEGLIGIBLE = 1e-18
# A test with more outcomes than this is treated as continuous.
_MOST_OUTCOMES = 2_048


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
    """The tails of Fisher's exact test.

    Examples
    --------
    >>> t = fisher(np.array([0.0]), np.array([2.0]), np.array([300.0]), np.array([400.0]))
    >>> round(float(t.pvalue()[0]), 4)
    0.1278
    """
    first, second = a + b, of_a + of_b - a - b
    at = np.exp(log_hypergeometric(a, of_a, first, second))
    mean = of_a * first / np.maximum(first + second, 1.0)
    # The tail that does not contain the mean is summed; the other one follows without loss of accuracy.
    below = a <= mean
    count, kind, other_kind = (np.where(below, *sides) for sides in ((a, of_a - a), (first, second), (second, first)))
    tail = at * (1 + _falling(count, of_a, kind, other_kind))
    other = np.minimum(1.0, 1 - tail + at)
    return FisherTails(np.where(below, tail, other), at, np.where(below, other, tail))


def _falling(k: Floats, m: Floats, first: Floats, second: Floats) -> Floats:
    """The sum of P(X = j) / P(X = k) over j < k."""
    shape = np.broadcast_shapes(k.shape, m.shape, first.shape, second.shape)
    k, m, first, second = (np.broadcast_to(x, shape).ravel() for x in (k, m, first, second))
    total, term = np.zeros(len(k)), np.ones(len(k))
    rows, done, width = np.arange(len(k)), 0.0, 32
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
        rows = rows[term[rows] > _NEGLIGIBLE * (1 + total[rows])]
        done += width
        width = min(2 * width, 8192)
    return total.reshape(shape)


class Attainable:
    """The attainable tail probabilities of the groups' counts given the pooled counts, for many comparisons.

    Parameters
    ----------
    of_a, pooled, total : arrays
        The sizes of the groups, the pooled counts, and the sizes of both samples together.
    """

    def __init__(self, of_a: Floats, pooled: Floats, total: Floats) -> None:
        self._low = np.maximum(0.0, of_a - (total - pooled))
        self._width = np.minimum(of_a, pooled) - self._low + 1
        self._of_a, self._pooled, self._rest = of_a, pooled, total - pooled

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
    """P(p <= x) under the nulls of some comparisons, for levels x in ascending order.

    Parameters
    ----------
    attainable : Attainable
        The comparisons.
    rows : array of int
        The chosen rows of them.
    """

    def __init__(self, attainable: Attainable, rows: NDArray[np.int64]) -> None:
        self._lower, self._upper = attainable.steps()
        self._rows, self._listed = rows, attainable.listed

    def at(self, level: float) -> Floats:
        """P(p <= level) per row; the level itself if there are too many outcomes to list."""
        half = level / 2 * (1 + 1e-9)
        size = np.minimum(self._lower.walk(half) + self._upper.walk(half), level)
        return np.asarray(np.where(self._listed, size, level)[self._rows])


def boschloo(a: float, of_a: float, b: float, of_b: float) -> tuple[float, str]:
    """The p-value of Boschloo's test, based on Fisher's central p-value, and the method used.

    The maximum is computed on a grid with two refinements, with a relative error of about 1e-4. If the smaller sample
    has more than 400 cases, Fisher's p-value is returned, which is larger by at most a few per cent.
    """
    from scipy.special import betaincinv

    known = float(fisher(*(np.array([float(x)]) for x in (a, of_a, b, of_b))).pvalue()[0])
    # A tail of exactly 1/2 may be computed as slightly less.
    if known * (1 + 1e-7) >= 1:
        return 1.0, "unconditional"
    if min(of_a, of_b) > _LARGEST_SAMPLE:
        return known, "fisher"
    if of_b < of_a:
        a, of_a, b, of_b = b, of_b, a, of_a
    lows, highs = _rejected(of_a, of_b, known / 2 * (1 + 1e-7))
    count, total = a + b, of_a + of_b
    low = float(betaincinv(count, total - count + 1, _MISSED / 2)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - _MISSED / 2)) if count < total else 1.0
    first, last = np.arcsin(np.sqrt([low, high])).tolist()
    grid = np.linspace(first, last, _COARSE_GRID)
    largest = 0.0
    for _ in range(_REFINEMENTS + 1):
        reached = _rejection(np.sin(grid) ** 2, of_a, of_b, lows, highs)
        best = int(np.argmax(reached))
        largest = max(largest, float(reached[best]))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], _FINE_GRID)
    return min(1.0, largest + _MISSED), "unconditional"


def _rejected(of_a: float, of_b: float, level: float) -> tuple[Floats, Floats]:
    """Per count of the group, the reference's counts up to which, and from which, a tail is at most ``level``."""
    counts = np.arange(of_a + 1)
    ends = []
    for upper in (True, False):
        low, high = np.full(len(counts), -1.0), np.full(len(counts), of_b + 1.0)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            at = np.clip(middle, 0, of_b)
            tails = fisher(counts, np.full_like(counts, of_a), at, np.full_like(counts, of_b))
            # As the reference's count rises, P(X >= a) rises and P(X <= a) falls.
            to_the_left = (tails.upper <= level) if upper else (tails.lower > level)
            moving = high - low > 1
            low = np.where(moving & to_the_left, middle, low)
            high = np.where(moving & ~to_the_left, middle, high)
        ends.append(low if upper else high)
    return ends[0], ends[1]


def _rejection(rates: Floats, of_a: float, of_b: float, lows: Floats, highs: Floats) -> Floats:
    """The probability of a rejected pair of counts, per common rate."""
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    counts = np.arange(of_a + 1)

    ways = gammaln(of_a + 1) - gammaln(counts + 1) - gammaln(of_a - counts + 1)
    p = rates[:, None]
    weight = np.exp(ways + xlogy(counts, p) + xlog1py(of_a - counts, -p))
    below = np.where(lows >= 0, bdtr(np.maximum(lows, 0), int(of_b), p), 0.0)
    above = np.where(highs <= of_b, np.where(highs <= 0, 1.0, bdtrc(np.maximum(highs - 1, 0), int(of_b), p)), 0.0)
    # If the two rejected ranges of a count overlap, they cover all outcomes; these count once.
    return np.asarray((weight * np.minimum(below + above, 1.0)).sum(axis=1))
