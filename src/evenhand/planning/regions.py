"""Which outcomes a test of one rate rejects, for many group sizes at once.

Given the denominator, the test rejects if the group's count is at most ``low`` or at least ``high``. The two ends do
not depend on the truth, so the probability of a rejection is a sum of two binomial tails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..inference import boschloo, fisher_rejects
from ..laws import Binomial, Split, binomial_cdf, check_cost, split_table
from ..metrics import OneGroup
from .truths import Floats

__all__ = [
    "FisherRegion",
    "Region",
    "SplitRegion",
    "UnconditionalRegion",
    "over_denominators",
    "reference_tail",
    "rejections",
]

# A p-value within rounding of the level counts as reaching it.
_ROUNDING = 1 + 1e-9
# Windows of splits leave out at most this on either side.
_EPS = 1e-16
_LARGEST_TABLE, _MOST_ENTRIES = 2**21, 2**28
# For more sizes than this, the ends are found at some of them and interpolated before they are checked.
_FEW = 64
# Tails that bounds are checked with have at most this many rows at a time.
_BLOCK = 2**15

Holds = Callable[[Floats, Floats], NDArray[np.bool_]]


class Region(ABC):
    """The outcomes that a test of one rate rejects."""

    size: float
    """The reference's denominator, of tests that see its counts."""

    @abstractmethod
    def bounds(self, sizes: Floats) -> tuple[Floats, Floats]:
        """``low`` and ``high`` for each denominator, in ascending order; -1 and size + 1 if there are none."""

    def smallest_pvalue(self, rate: float) -> float:
        """What the p-value of a group with this true rate approaches as the group grows; 0 if that is not known."""
        return 0.0


@dataclass(frozen=True)
class FisherRegion(Region):
    """Fisher's exact test against ``count`` of ``size``, which doubles the smaller tail."""

    count: float
    size: float
    alpha: float
    mid_p: bool = False

    def bounds(self, sizes: Floats) -> tuple[Floats, Floats]:
        """The ends, from the tails given the pooled counts."""
        # Read from the other end, the upper tail is the lower one of what is not counted.
        low, other = (_last(self._rejects(count), sizes) for count in (self.count, self.size - self.count))
        return low, sizes - other

    def smallest_pvalue(self, rate: float) -> float:
        """Twice the smaller tail of the reference's count."""
        return 2 * _smaller_tail(self.count, self.size, rate, self.mid_p)

    def _rejects(self, count: float) -> Holds:
        def rejects(k: Floats, of: Floats) -> NDArray[np.bool_]:
            return fisher_rejects(k, of, np.array(count), np.array(self.size), self.alpha, self.mid_p)

        return rejects


@dataclass(frozen=True)
class UnconditionalRegion(Region):
    """Boschloo's test against ``count`` of ``size``; it rejects a little more than Fisher's."""

    count: float
    size: float
    alpha: float
    _known: dict[float, tuple[float, float]] = field(default_factory=dict)

    def bounds(self, sizes: Floats) -> tuple[Floats, Floats]:
        """The ends, found by stepping from those of Fisher's test."""
        new = np.array([s for s in np.unique(sizes).tolist() if s not in self._known])
        if len(new):
            for of, low, high in zip(
                new.tolist(), *FisherRegion(self.count, self.size, self.alpha).bounds(new), strict=True
            ):
                self._known[of] = self._stepped(low, of, 1.0), self._stepped(high, of, -1.0)
        ends = np.array([self._known[s] for s in sizes.tolist()]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def smallest_pvalue(self, rate: float) -> float:
        """The smaller tail of the reference's count with half of the count itself, if the other tail is empty."""
        return _smaller_tail(self.count, self.size, rate, mid_p=True)

    def _stepped(self, end: float, of: float, inwards: float) -> float:
        """The last rejected count, starting from Fisher's."""
        while 0 <= end <= of and not self._rejects(end, of):
            end -= inwards
        while 0 <= end + inwards <= of and self._rejects(end + inwards, of):
            end += inwards
        return end

    def _rejects(self, k: float, of: float) -> bool:
        return boschloo(k, of, self.count, self.size)[0] <= self.alpha * _ROUNDING


@dataclass(frozen=True)
class SplitRegion(Region):
    """A test against a law of the count: known rates, or rates that a reference is evidence of."""

    split: Split
    alpha: float
    mid_p: bool = False

    def bounds(self, sizes: Floats) -> tuple[Floats, Floats]:
        """The ends, from cumulative sums."""
        low, high = np.empty(len(sizes)), np.empty(len(sizes))
        first, last = self.split.window(sizes, _EPS)
        entries = float((last - first + 1).max(initial=1.0)) * max(len(sizes), 1)
        check_cost(
            entries,
            _MOST_ENTRIES,
            f"what a test of up to {sizes.max(initial=0.0):,.0f} cases rejects is read from {{}} probabilities",
            "look at fewer cases, or use `test='fisher'`",
        )
        for rows in np.array_split(np.arange(len(sizes)), max(1, int(np.ceil(entries / _LARGEST_TABLE)))):
            if not len(rows):
                continue
            table = split_table(self.split, sizes[rows], _EPS)
            half = table.pmf / 2 if self.mid_p else 0.0
            limit = self.alpha / 2 * _ROUNDING
            below = np.cumsum(table.pmf, axis=1) - half
            above = np.cumsum(table.pmf[:, ::-1], axis=1)[:, ::-1] - half
            low[rows] = table.start + np.cumprod(below <= limit, axis=1).sum(axis=1) - 1
            width = table.pmf.shape[1]
            high[rows] = table.start + width - np.cumprod((above <= limit)[:, ::-1], axis=1).sum(axis=1)
        return low, np.minimum(high, sizes + 1)


def _last(holds: Holds, sizes: Floats) -> Floats:
    """The largest count up to which ``holds``, per size; -1 if it never does."""
    if len(sizes) <= _FEW:
        return _bisected(holds, sizes)
    some = np.unique(np.linspace(0, len(sizes) - 1, _FEW // 2).astype(np.int64))
    guess = np.floor(np.interp(sizes, sizes[some], _bisected(holds, sizes[some])))
    end = np.clip(guess, -1, sizes)
    for step in (1.0, -1.0):
        moving = np.arange(len(sizes))
        while len(moving):
            at = end[moving] + (1.0 if step > 0 else 0.0)
            inside = (at >= 0) & (at <= sizes[moving])
            moving, at = moving[inside], at[inside]
            moving = moving[_checked(holds, at, sizes[moving]) == (step > 0)]
            end[moving] += step
    return end


def _bisected(holds: Holds, sizes: Floats) -> Floats:
    low, high = np.full(len(sizes), -1.0), sizes + 1
    while True:
        open_ = np.flatnonzero(high - low > 1)
        if not len(open_):
            return low
        middle = np.floor((low[open_] + high[open_]) / 2)
        yes = _checked(holds, middle, sizes[open_])
        low[open_] = np.where(yes, middle, low[open_])
        high[open_] = np.where(yes, high[open_], middle)


def _checked(holds: Holds, k: Floats, of: Floats) -> NDArray[np.bool_]:
    if len(k) <= _BLOCK:
        return holds(k, of)
    blocks = np.array_split(np.arange(len(k)), -(-len(k) // _BLOCK))
    return np.concatenate([holds(k[rows], of[rows]) for rows in blocks])


def _binomial_sf(k: Floats, size: Floats, rate: float | Floats) -> Floats:
    """P(X >= k) for X binomial."""
    return binomial_cdf(size - k, size, 1 - np.asarray(rate), rate)


def reference_tail(count: Floats, size: Floats, rate: float | Floats, mid_p: bool) -> Floats:
    """P(X >= count) for the reference's count, if its rate is that of the group; half of the count with ``mid_p``.

    This is what the tail of a test becomes as the group grows without bound and its rate becomes known.
    """
    tail = _binomial_sf(count, size, rate)
    return (tail + _binomial_sf(count + 1, size, rate)) / 2 if mid_p else tail


def _smaller_tail(count: float, size: float, rate: float, mid_p: bool) -> float:
    counts, rates = np.array([count, size - count]), np.array([rate, 1 - rate])
    return float(reference_tail(counts, np.array(size), rates, mid_p).min())


def rejections(m: OneGroup, sizes: Floats, bounds: tuple[Floats, Floats], rate: float) -> tuple[Floats, Floats]:
    """The probabilities that a group with this true rate is rejected as lower, and as higher, per denominator.

    Outcomes without a score are not tested: F1 in its original form has none without a true positive.
    """
    low, high = bounds
    lower, upper = binomial_cdf(low, sizes, rate), _binomial_sf(high, sizes, rate)
    none = _without_score(m, sizes, 0 * sizes) & (low >= 0)
    every = _without_score(m, sizes, sizes) & (high <= sizes)
    lower = lower - np.where(none, binomial_cdf(0 * sizes, sizes, rate), 0.0)
    upper = upper - np.where(every, _binomial_sf(sizes, sizes, rate), 0.0)
    return np.where(sizes > 0, np.maximum(lower, 0.0), 0.0), np.where(sizes > 0, np.maximum(upper, 0.0), 0.0)


def _without_score(m: OneGroup, sizes: Floats, counts: Floats) -> NDArray[np.bool_]:
    return np.asarray(m.holes[0].at(m.tree.cells(sizes, sizes, 0 * sizes, counts)))


def over_denominators(n: NDArray[np.int64], rate: float, values: Floats) -> Floats:
    """The means of ``values``, one per denominator 0, 1, …, for groups of each size in ``n``.

    A case counts in the denominator with probability ``rate``. ``values`` may have several rows.
    """
    split = Binomial(rate, 1 - rate)
    sizes = n.astype(np.float64)
    means = np.empty((*values.shape[:-1], len(n)))
    first, last = split.window(sizes, _EPS)
    entries = float((last - first + 1).max(initial=1.0)) * max(len(n), 1)
    for rows in np.array_split(np.arange(len(n)), max(1, int(np.ceil(entries / _LARGEST_TABLE)))):
        if len(rows):
            table = split_table(split, sizes[rows], _EPS)
            at = table.start[:, None].astype(np.int64) + np.arange(table.pmf.shape[1])
            picked = values[..., np.minimum(at, values.shape[-1] - 1)]
            means[..., rows] = (picked * table.pmf).sum(axis=-1)
    return means
