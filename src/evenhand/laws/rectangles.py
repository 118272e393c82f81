"""Rectangles of margins and sides, on most of which a score is reached in closed form between two last counts.

On such a path the last count that the score lies above is certain, and what lies on either side of it is one entry of a
table of cumulative probabilities. A path then costs a few operations instead of a search. The others, on which the
crossing is close to a whole number or the score may be undefined, are left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .families import Law
from .ordering import Order, OrderPart
from .paths import Paths, check_paths, margins_of
from .sums import SplitTable, similar_tables, some_widths

__all__ = ["CLOSE", "Rectangle", "crossing", "rectangles"]

Floats = NDArray[np.float64]
Span = tuple[Floats, Floats]

# Up to this n, a last count in closed form is accurate enough unless it is as close as this to a whole number.
_SOLVED_UP_TO, CLOSE = 2**20, 0.001
# Fewer paths are searched at once; more are refused. Entries of a rectangle fit a processor's cache.
_FEWEST, _MOST, _ENTRIES = 2**13, 2**28, 2**17


@dataclass(frozen=True, slots=True)
class Rectangle:
    """The probability below and above a score on some paths, and the paths on which it is not known yet.

    ``row`` is the row of ``table``, the last split's probabilities, that belongs to each of these.
    """

    below: float
    above: float
    rest: Paths
    row: NDArray[np.int64]
    table: SplitTable

    def sums(self, intervals: list[Span]) -> list[Floats]:
        """The probability of each interval of last counts on the paths that are left."""
        return [self.table.sums(self.row, low, high) for low, high in intervals]


def rectangles(order: Order, law: Law, score: float, *, margin: float | None, eps: float) -> Iterator[Rectangle] | None:
    """All paths of an order, in rectangles; None if they are few, or if its score has no closed form."""
    if margin is not None or not order.tree.side or len(order.parts) > 1:
        return None
    if crossing(order.parts[0], score, law.n, np.full(1, 2.0), np.ones(1)) is None:
        return None
    margins, weight = margins_of(order.tree, law, eps, None, _MOST)
    sides, lasts = law.split(order.tree.side, order.tree.margin), law.split(order.tree.last, order.tree.last_of)
    sizes = order.tree.last_size(float(law.n), margins)
    width = float(some_widths(sides, margins, eps).mean())
    if width * len(margins) < _FEWEST:
        return None
    others = float(some_widths(lasts, sizes, eps).mean())
    check_paths(max(width, others) * len(margins), law.n, None, _MOST)
    first = np.arange(0, len(margins), max(1, int(min(_ENTRIES / width, width / 4))))
    # Of unlikely margins, less has to be summed.
    enough = eps / np.maximum(len(margins) * np.maximum.reduceat(weight, first), eps)
    tables = zip(
        similar_tables(sides, np.split(margins, first[1:]), np.minimum(enough, 0.01)),
        similar_tables(lasts, np.split(sizes, first[1:]), np.minimum(enough, 0.01)),
        np.split(weight, first[1:]),
        strict=True,
    )
    return (_rectangle(order, law.n, score, inner, last, weights) for inner, last, weights in tables)


def crossing(part: OrderPart, score: float, n: int, margin: Floats, side: Floats) -> Floats | None:
    """The last count at which a score is reached, if a closed form is accurate enough."""
    if n > _SOLVED_UP_TO:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return part.crossing(np.float64(score), float(n), margin, side)


def _undefined_ends(order: Order) -> tuple[bool, bool]:
    """Whether a score is undefined at the first and at the last of the last counts, on paths with no empty cell."""
    ends = [order.parts[0].undefined(order.tree.columns(4.0, 2.0, 1.0, np.array([last]))) for last in (0.0, 2.0)]
    return bool(ends[0][0]), bool(ends[1][0])


def _rectangle(order: Order, n: int, score: float, inner: SplitTable, table: SplitTable, weight: Floats) -> Rectangle:
    part, margins = order.parts[0], inner.sizes[:, None]
    side = inner.start[:, None] + np.arange(inner.pmf.shape[1])
    place = crossing(part, score, n, margins, side)
    assert place is not None
    np.clip(place, -0.5, table.sizes[:, None] + 0.5, out=place)
    last = np.floor(place)
    place -= last
    place -= 0.5
    open_ = ~(np.abs(place, out=place) < 0.5 - CLOSE)
    open_ |= (side < 1) | (side > margins - 1)
    for hole in order.filled_holes(float(n), margins, side):
        open_ |= ~np.isnan(hole)
    row, column = np.nonzero(open_)
    rest = Paths(n, inner.sizes[row], side[row, column], weight[row] * inner.pmf[row, column], table.sizes[row])
    inner.pmf[row, column], last[row, column] = 0.0, 0.0
    no_first, no_last = _undefined_ends(order)
    if no_first:
        table.clear(0.0)
    if no_last:
        table.clear(table.sizes)
    width = table.pmf.shape[1]
    last += 1 - table.start[:, None]
    index = np.clip(last, 0, width, out=last).astype(np.int64)
    index += np.arange(len(index))[:, None] * (width + 1)
    ends = [float(np.einsum("ij,ij->i", inner.pmf, each.ravel()[index]) @ weight) for each in (table.left, table.right)]
    below, above = ends if part.rises else ends[::-1]
    return Rectangle(below, above, rest, row, table)
