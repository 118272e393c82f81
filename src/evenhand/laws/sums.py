"""Sums of a split's probabilities over intervals, for many sizes and intervals at once.

Each sum adds positive terms from the far end inwards, so that it keeps its relative accuracy in the tails, where
``1 - cdf`` would lose it. For few distinct sizes, probabilities are tabulated or, if there are too many of them,
integrated (`wide`). For many sizes, binomial splits use SciPy's incomplete beta function, and other splits a recurrence
from size to size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from .budget import MOST_ENTRIES, check_cost
from .splits import Binomial, Split
from .wide import WideTails, is_wide

__all__ = ["SplitTable", "binomial_cdf", "interval_sums", "similar_tables", "some_widths", "split_table"]

Floats = NDArray[np.float64]
Span = tuple[Floats, Floats]

# Above this many entries of a table, cumulative probabilities are cheaper; and the largest table computed in one piece.
_MOST_ENTRIES, _LARGEST_TABLE = 2**16, 2**21
# The most entries of all tables together, which are made one after the other.
_MOST_TABULATED = 2**28
# Up to this many sums over windows with too many values to list are integrals.
_MOST_WIDE = 2**10
# Rows of a table for similar sizes follow from the value at one column, unless that is as unlikely as this.
_ANCHORED = 1e-30
_SMALLER = "take fewer cases, or simulate"


class SplitTable:
    """Probabilities of a split, one row per size, each row starting at its own value."""

    def __init__(self, sizes: Floats, start: Floats, pmf: Floats) -> None:
        self.sizes, self.start, self.pmf = sizes, start, pmf

    @cached_property
    def left(self) -> Floats:
        """The probability of all values before each column."""
        left = np.zeros((len(self.pmf), self.pmf.shape[1] + 1))
        np.cumsum(self.pmf, axis=1, out=left[:, 1:])
        return left

    @cached_property
    def right(self) -> Floats:
        """The probability of all values from each column on."""
        right = np.zeros((len(self.pmf), self.pmf.shape[1] + 1))
        np.cumsum(self.pmf[:, ::-1], axis=1, out=right[:, -2::-1])
        return right

    def clear(self, value: float | Floats) -> None:
        """Leave out a value, or one value per row."""
        column = value - self.start
        row = np.flatnonzero((column >= 0) & (column < self.pmf.shape[1]))
        self.pmf[row, column[row].astype(np.int64)] = 0.0

    def sums(self, row: NDArray[np.int64], low: Floats, high: Floats) -> Floats:
        """P(low <= K <= high), 0 if the interval is empty."""
        width = self.pmf.shape[1]
        start = self.start[row]
        first = np.clip(low - start, 0, width).astype(np.int64)
        after = np.maximum(np.clip(high + 1 - start, 0, width).astype(np.int64), first)
        single = np.flatnonzero(after - first == 1)
        value = self.pmf[row[single], first[single]]
        first += row * (width + 1)
        after += row * (width + 1)
        left, right = self.left.ravel(), self.right.ravel()
        up_to, from_on = left[after], right[first]
        total: Floats = np.where(up_to <= from_on, up_to - left[first], from_on - right[after])
        total[single] = value
        return total


def split_table(split: Split, m: Floats, eps: float) -> SplitTable:
    """The probabilities of a split for each size in ``m``, except for at most ``eps`` on either side.

    Each row has one accurate value at its peak; the others follow from the ratios of neighbours.
    """
    low, high = split.window(m, eps)
    columns = int((high - low).max()) + 1 if len(m) else 1
    check_cost(
        columns * len(m), MOST_ENTRIES,
        f"a table of the likely counts of {m.max(initial=0):,.0f} cases has {{}} entries", _SMALLER,
    )  # fmt: skip
    k = low[:, None] + np.arange(columns - 1)
    inside = k < high[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(inside, split.step(k, m[:, None]), 0.0)
    peak = split.peak(m)
    peak = np.clip(np.where(np.isnan(peak), low, peak), low, high)
    # The peaks of all rows lie between these two columns.
    first, last = (int(end(peak - low)) for end in (np.min, np.max)) if len(m) else (0, 0)
    pmf = np.ones((len(m), columns))
    with np.errstate(divide="ignore", under="ignore"):
        ratios = np.where(k[:, first:] >= peak[:, None], steps[:, first:], 1.0)
        np.cumprod(ratios, axis=1, out=pmf[:, first + 1 :])
        ratios = 1 / np.where(k[:, :last] >= peak[:, None], 1.0, steps[:, :last])
        pmf[:, :last] *= np.cumprod(ratios[:, ::-1], axis=1)[:, ::-1]
        pmf *= split.pmf(peak, m)[:, None]
    return SplitTable(m, low, pmf)


def similar_tables(split: Split, blocks: list[Floats], eps: Floats) -> Iterator[SplitTable]:
    """The table of each block of similar sizes, whose rows begin at the same value; ``eps`` is that of each block.

    With one more case, the first part has as many cases as before or one more. Its window therefore lies between the
    beginning of the window of the smallest size and the end of that of the largest.
    """
    low, _ = split.window(np.array([block.min() for block in blocks]), eps)
    _, high = split.window(np.array([block.max() for block in blocks]), eps)
    for m, first, last in zip(blocks, low, high, strict=True):
        k, rows = np.arange(first, last + 1), m[:, None]
        anchor = np.clip(split.peak(m).min(), first, last)
        at_anchor = split.pmf(anchor, m)
        if not (at_anchor > _ANCHORED).all():
            # The sizes are not that similar, or probabilities rise towards both ends.
            yield SplitTable(m, np.full_like(m, first), split.pmf(k, rows))
            continue
        here = int(anchor - first)
        pmf = np.empty((len(m), len(k)))
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            steps = split.step(k[:-1], rows)
            pmf[:, here] = at_anchor
            pmf[:, here + 1 :] = steps[:, here:]
            np.cumprod(pmf[:, here:], axis=1, out=pmf[:, here:])
            np.divide(1.0, steps[:, :here], out=pmf[:, :here])
            left = pmf[:, here::-1]
            np.cumprod(left, axis=1, out=left)
        # Outside the support, a step may have been 0 / 0.
        low_end, high_end = split.support(m)
        if first < low_end.max() or last > high_end.min():
            pmf[(k < low_end[:, None]) | (k > high_end[:, None])] = 0.0
        yield SplitTable(m, np.full_like(m, first), pmf)


def interval_sums(split: Split, m: Floats, intervals: list[Span], eps: float, *, relative: bool = True) -> list[Floats]:
    """P(low <= K <= high) for each size in ``m`` and each interval.

    With ``relative=False``, small sums need not be accurate in proportion to themselves.
    """
    sizes, _ = _distinct(m)
    width = float(some_widths(split, sizes, eps).max(initial=1))
    if width * len(sizes) > _MOST_ENTRIES and len(m) * len(intervals) <= _MOST_WIDE and is_wide(width, eps):
        tails = WideTails(split, m, eps)
        return [tails.sums(m, *interval) for interval in intervals]
    if width * len(sizes) > _MOST_ENTRIES and 2 * len(sizes) > len(m):
        consecutive = len(sizes) == len(m) and bool((np.diff(m) == 1).all())
        if isinstance(split, Binomial) and not (consecutive and is_wide(width, eps)):
            p, q = split.p, split.q

            def both(k: Floats) -> tuple[Floats, Floats]:
                return binomial_cdf(k, m, p, q), binomial_cdf(m - k - 1, m, q, p)

            return [_from_cumulative(split, m, interval, both) for interval in intervals]
        if consecutive:
            chain = Chain(split, m, eps, width, relative)
            return [_from_cumulative(split, m, interval, chain) for interval in intervals]
    return _by_table(split, m, intervals, eps)


def some_widths(split: Split, sizes: Floats, eps: float) -> Floats:
    """The widths of the windows of some of these sizes, which grow and shrink slowly with the size."""
    some = sizes[np.unique(np.linspace(0, len(sizes) - 1, 33).astype(np.int64))] if len(sizes) else sizes
    low, high = split.window(some, eps)
    widths: Floats = high - low + 1
    return widths


def _by_table(split: Split, m: Floats, intervals: list[Span], eps: float) -> list[Floats]:
    sizes, row = _distinct(m)
    entries = float(some_widths(split, sizes, eps).max(initial=1)) * len(sizes)
    sums = [np.zeros(len(m)) for _ in intervals]
    some = [np.flatnonzero(a <= b) for a, b in intervals]
    check_cost(
        entries, _MOST_TABULATED, f"an exact sum over up to {m.max(initial=0):,.0f} cases has {{}} terms", _SMALLER
    )
    # A block has at least one size, however wide its row is.
    blocks = np.array_split(np.arange(len(sizes)), max(1, min(len(sizes), int(np.ceil(entries / _LARGEST_TABLE)))))
    for chosen in blocks:
        table = split_table(split, sizes[chosen], eps)
        for total, (a, b), full in zip(sums, intervals, some, strict=True):
            here = full if len(blocks) == 1 else full[(row[full] >= chosen[0]) & (row[full] <= chosen[-1])]
            total[here] = table.sums(row[here] - chosen[0], a[here], b[here])
    return sums


def _distinct(m: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct sizes, in ascending order, and the position of each size among them."""
    if not len(m) or np.ptp(m) > 16 * len(m):
        return np.unique(m, return_inverse=True)
    place = (m - m.min()).astype(np.int64)
    present = np.zeros(int(place.max()) + 1, dtype=bool)
    present[place] = True
    return m.min() + np.flatnonzero(present), (np.cumsum(present) - 1)[place]


Cumulative = Callable[[Floats], tuple[Floats, Floats]]
"""P(K <= k) and P(K > k), for one k per size."""


def _from_cumulative(split: Split, m: Floats, interval: Span, cumulative: Cumulative) -> Floats:
    low, high = interval
    sums = np.zeros(len(m))
    single, wide = high == low, high > low
    sums[single] = split.pmf(low[single], m[single])
    if wide.any():
        below_low, from_low = _both_tails(split, m, low - 1, cumulative)
        up_to_high, above_high = _both_tails(split, m, np.maximum(high, low - 1), cumulative)
        total = np.where(up_to_high <= from_low, up_to_high - below_low, from_low - above_high)
        sums[wide] = np.maximum(total[wide], 0.0)
    return sums


def _both_tails(split: Split, m: Floats, k: Floats, cumulative: Cumulative) -> tuple[Floats, Floats]:
    low, high = split.support(m)
    if (k < low).all() or (k >= high).all():
        everything = (k >= low).astype(np.float64)
        return everything, 1 - everything
    return cumulative(np.clip(k, low - 1, high))


def binomial_cdf(k: Floats, m: Floats, p: float | Floats, q: float | Floats | None = None) -> Floats:
    """P(K <= k) of ``m`` cases, from the incomplete beta function; ``q`` is 1 - p, if that is known better."""
    from scipy.special import betainc

    inside = np.clip(k, 0, np.maximum(m - 1, 0))
    below = betainc(np.maximum(m - inside, 1), inside + 1, 1 - np.asarray(p) if q is None else q)
    return np.where(k < 0, 0.0, np.where(k >= m, 1.0, below))


class Chain:
    """Cumulative probabilities for consecutive sizes, each from the one before.

    One more case lowers P(K <= k) by the probability that K is k and the case falls into the first part. The chain
    restarts from a direct sum at intervals, before probabilities can have changed so much that the rounding errors of
    the larger ones would matter for the smaller; without ``relative``, they need not be accurate, and it never does.
    """

    __slots__ = ("eps", "links", "m", "split", "starts", "table", "wide")

    def __init__(self, split: Split, m: Floats, eps: float, width: float, relative: bool) -> None:
        self.split, self.m, self.eps = split, m, eps
        # Within the window, log P changes by less than 4 log(1/eps) / width per case.
        self.links = max(1, int(width / (-log(eps)))) if relative else len(m)
        self.starts = np.arange(0, len(m), self.links)
        self.wide = is_wide(width, eps)
        small = not self.wide and width * len(self.starts) <= _LARGEST_TABLE
        self.table = split_table(split, m[self.starts], eps) if small else None

    def __call__(self, k: Floats) -> tuple[Floats, Floats]:
        """Both tails."""
        split, m = self.split, self.m
        jumps = np.diff(k)
        if (np.abs(jumps) > 1).any():
            low, high = split.support(m)
            below, above = _by_table(split, m, [(low, k), (k + 1, high)], self.eps)
            return below, above
        at = split.pmf(k, m)
        taken = at * split.next(k, m)
        gained = at[1:] * (jumps == 1) - split.pmf(k[1:] + 1, m[1:]) * (jumps == -1)
        moves = np.zeros(self.links * len(self.starts))
        moves[1 : len(m)] = gained - taken[:-1]
        grid = moves.reshape(len(self.starts), self.links)
        grid[:, 0] = 0.0
        moved = np.cumsum(grid, axis=1)
        start_below, start_above = self._at_starts(k[self.starts])
        below, above = start_below[:, None] + moved, start_above[:, None] - moved
        return tuple(np.clip(t.ravel()[: len(m)], 0.0, 1.0) for t in (below, above))  # type: ignore[return-value]

    def _at_starts(self, k: Floats) -> tuple[Floats, Floats]:
        """Both tails at the sizes from which the chain goes on, computed directly."""
        m = self.m[self.starts]
        low, high = self.split.support(m)
        if self.table is not None:
            rows = np.arange(len(m))
            return self.table.sums(rows, low, k), self.table.sums(rows, k + 1, high)
        if self.wide:
            tails = WideTails(self.split, m, self.eps)
            return tails.sums(m, low, k), tails.sums(m, k + 1, high)
        below, above = _by_table(self.split, m, [(low, k), (k + 1, high)], self.eps)
        return below, above
