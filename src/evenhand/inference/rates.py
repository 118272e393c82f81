"""Are two rates equal? Exact tests of ``a`` of ``A`` against ``b`` of ``B``, for arrays of comparisons.

`fisher` conditions on the pooled count, given which the group's count is hypergeometric under the null. `boschloo`
takes Fisher's p-value as its statistic and finds the largest probability, over all common rates, of one as small: it
keeps its level without conditioning, and rejects more. Both double the smaller tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..laws import log_hypergeometric

__all__ = ["Attainable", "FisherTails", "boschloo", "fisher"]

Floats = NDArray[np.float64]

# The common rate is sought in a confidence interval that misses it this rarely, which is added to the p-value
# (Berger and Boos 1994).
_MISSED = 1e-9
_COARSE_GRID, _FINE_GRID, _REFINEMENTS = 40, 9, 2
# Above this the smaller sample makes the unconditional test slow, and hardly any better than the conditional one.
_LARGEST_SAMPLE = 400
# Sums over a tail stop where a term is this small a part of them.
_NEGLIGIBLE = 1e-18
# With more outcomes than this a discrete test is as good as continuous.
_MOST_OUTCOMES = 2_048


@dataclass(frozen=True, slots=True)
class FisherTails:
    """P(X <= a), P(X = a) and P(X >= a) of the group's count, given the pooled count."""

    lower: Floats
    at: Floats
    upper: Floats

    def pvalue(self, mid_p: bool = False) -> Floats:
        """Twice the smaller tail, at most 1; with ``mid_p`` the observed count counts half."""
        half = self.at / 2 if mid_p else 0.0
        return np.minimum(1.0, 2 * (np.minimum(self.lower, self.upper) - half))


def fisher(a: Floats, of_a: Floats, b: Floats, of_b: Floats) -> FisherTails:
    """The tails of Fisher's exact test.

    >>> t = fisher(np.array([0.0]), np.array([2.0]), np.array([300.0]), np.array([400.0]))
    >>> round(float(t.pvalue()[0]), 4)
    0.1278
    """
    first, second = a + b, of_a + of_b - a - b
    at = np.exp(log_hypergeometric(a, of_a, first, second))
    mean = of_a * first / np.maximum(first + second, 1.0)
    # The tail that does not contain the mean is summed; the other follows from it without loss.
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
    """The tails that the groups' counts can have given the pooled counts, for many comparisons.

    Parameters
    ----------
    of_a, pooled, total : arrays
        The sizes of the groups, the pooled counts, and the sizes of both samples together.
    """

    def __init__(self, of_a: Floats, pooled: Floats, total: Floats) -> None:
        self._low = np.maximum(0.0, of_a - (total - pooled))
        self._width = np.minimum(of_a, pooled) - self._low + 1
        self._of_a, self._pooled, self._rest = of_a, pooled, total - pooled

    @cached_property
    def _tails(self) -> list[tuple[Floats, Floats] | None]:
        """All lower and all upper tails of each comparison, ascending; None where there are too many."""
        tails: list[tuple[Floats, Floats] | None] = [None] * len(self._width)
        # Comparisons with about as many outcomes are computed together.
        bucket = np.ceil(np.log2(np.maximum(self._width, 1)))
        for power in np.unique(bucket[self._width <= _MOST_OUTCOMES]):
            rows = np.flatnonzero(bucket == power)
            k = self._low[rows, None] + np.arange(2.0**power)
            pmf = np.exp(
                log_hypergeometric(k, self._of_a[rows, None], self._pooled[rows, None], self._rest[rows, None])
            )
            lower, upper = np.cumsum(pmf, axis=1), np.cumsum(pmf[:, ::-1], axis=1)
            for row, up, down in zip(rows.tolist(), lower, upper, strict=True):
                width = int(self._width[row])
                tails[row] = np.minimum(up[:width], 1.0), np.minimum(down[len(down) - width :], 1.0)
        return tails

    def size(self, row: int, levels: Floats) -> Floats:
        """P(p <= x) of a comparison under its null, for each level x; x itself where outcomes are too many to list."""
        tails = self._tails[row]
        if tails is None:
            return levels
        sizes = np.zeros_like(levels)
        for tail in tails:
            at = np.searchsorted(tail, levels / 2 * (1 + 1e-9), side="right")
            sizes += np.where(at > 0, tail[np.maximum(at - 1, 0)], 0.0)
        return np.minimum(sizes, levels)


def boschloo(a: float, of_a: float, b: float, of_b: float) -> tuple[float, str]:
    """The p-value of Boschloo's test ordered by Fisher's central p-value, and how it was found.

    The largest probability is found on a grid with two refinements, to a relative error of about 1e-4. If the smaller
    sample has more than 400 cases, Fisher's p-value is given, which is larger by at most some per cent.
    """
    from scipy.special import betaincinv

    known = float(fisher(*(np.array([float(x)]) for x in (a, of_a, b, of_b))).pvalue()[0])
    if known >= 1:
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
    """For each count of the group, up to and from which counts of the reference a tail is at most ``level``."""
    counts = np.arange(of_a + 1)
    ends = []
    for upper in (True, False):
        low, high = np.full(len(counts), -1.0), np.full(len(counts), of_b + 1.0)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            at = np.clip(middle, 0, of_b)
            tails = fisher(counts, np.full_like(counts, of_a), at, np.full_like(counts, of_b))
            # The more the reference has, the larger is P(X >= a), and the smaller P(X <= a).
            to_the_left = (tails.upper <= level) if upper else (tails.lower > level)
            moving = high - low > 1
            low = np.where(moving & to_the_left, middle, low)
            high = np.where(moving & ~to_the_left, middle, high)
        ends.append(low if upper else high)
    return ends[0], ends[1]


def _rejection(rates: Floats, of_a: float, of_b: float, lows: Floats, highs: Floats) -> Floats:
    """How likely each common rate makes a rejected pair of counts."""
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    counts = np.arange(of_a + 1)

    ways = gammaln(of_a + 1) - gammaln(counts + 1) - gammaln(of_a - counts + 1)
    p = rates[:, None]
    weight = np.exp(ways + xlogy(counts, p) + xlog1py(of_a - counts, -p))
    below = np.where(lows >= 0, bdtr(np.maximum(lows, 0), int(of_b), p), 0.0)
    above = np.where(highs <= of_b, np.where(highs <= 0, 1.0, bdtrc(np.maximum(highs - 1, 0), int(of_b), p)), 0.0)
    # Where both tails of a count are rejected all of it is, once.
    return np.asarray((weight * np.minimum(below + above, 1.0)).sum(axis=1))
