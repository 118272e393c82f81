"""Sums of a split's probabilities over more values than can be listed.

A probability that changes little from one value to the next is a smooth function, and its sum is an integral with a
correction at either end (Euler and Maclaurin): the sum over a..b is the integral from a - 1/2 to b + 1/2, less 1/24 of
the change of the slope between the two. The integral is computed by Gauss-Legendre quadrature. Within a few hundred
values of the ends of its support a probability can change fast, and values are added one by one. The relative error is
about 1e-13, and grows in proportion to the number of cases beyond 10^9 or so: at 10^15 it is about 1e-8.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from .splits import Split

__all__ = ["WideTails", "is_wide"]

Floats = NDArray[np.float64]

# Values next to the ends of a support, which are added one by one; as many are added in place of a shorter integral.
_ONE_BY_ONE = 2**10
# A probability must not change by more than about 1/256 of itself from one value to the next.
_SLOWLY = 2**8
_PANELS, _NODES = 128, 16


def is_wide(width: float, eps: float) -> bool:
    """Whether probabilities change slowly over a window of this width, outside of which at most ``eps`` remains."""
    # A normal with so many values within its window changes by 4 log(1/eps) / width per value at the edge of it.
    return width >= _SLOWLY * 4 * -log(eps)


class WideTails:
    """P(K <= k) and P(K > k), for one k per size, of a split whose windows are wide."""

    __slots__ = ("_high", "_low", "_split", "_support")

    def __init__(self, split: Split, m: Floats, eps: float) -> None:
        self._split = split
        self._low, self._high = split.window(m, eps)
        self._support = split.support(m)

    def sums(self, m: Floats, low: Floats, high: Floats) -> Floats:
        """P(low <= K <= high), one size after the other."""
        rows = zip(m, low, high, self._low, self._high, *self._support, strict=True)
        return np.array([self._sum(*map(float, row)) for row in rows])

    def _sum(self, m: float, low: float, high: float, first: float, last: float, start: float, end: float) -> float:
        low, high = max(low, first), min(high, last)
        if low > high:
            return 0.0
        a, b = max(low, start + _ONE_BY_ONE), min(high, end - _ONE_BY_ONE)
        if b - a < _ONE_BY_ONE:
            return self._listed(m, low, high)
        return self._listed(m, low, a - 1) + self._integral(m, a, b, start, end) + self._listed(m, b + 1, high)

    def _listed(self, m: float, low: float, high: float) -> float:
        values = self._split.pmf(np.arange(low, high + 1), m)
        return float(np.sort(values).sum())

    def _integral(self, m: float, a: float, b: float, start: float, end: float) -> float:
        low, high = a - 0.5, b + 0.5
        # Near the ends of the support, panels are not longer than their distance from it.
        apart = 2.0 ** np.arange(9, max(10.0, np.log2(end - start + 2)))
        cuts = np.concatenate([np.linspace(low, high, _PANELS + 1), start + apart, end - apart])
        cuts = np.unique(cuts[(cuts >= low) & (cuts <= high)])
        nodes, weights = _legendre()
        half = np.diff(cuts) / 2
        places = (cuts[:-1] + half)[:, None] + half[:, None] * nodes
        area = float(half @ (self._split.pmf(places, m) @ weights))
        at = self._split.pmf(np.array([a - 1, a, b, b + 1]), m)
        return area - float((at[3] - at[2]) - (at[1] - at[0])) / 24


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights
