"""The order in which a matrix is split for a metric, so that its score is monotone in the last split.

First a margin is split off from all cases, then possibly a side from the margin; the last split remains to be summed
over. Cells that a metric does not distinguish are merged, so a tree has at most three counts: margin, side and last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS

__all__ = ["Tree"]

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Which cells are split off from which.

    ``margin`` is split off from all cells, ``side`` from the margin, and ``last`` from ``last_of``, which is the
    margin, the other cells, or all cells. If ``margin`` or ``side`` is empty, there is no such step.
    """

    margin: Names
    side: Names
    last: Names
    last_of: Names

    def last_size(self, n: Any, margin: Any) -> Any:
        """How many cases the last split divides."""
        if not self.margin:
            return n
        return margin if self.last_of == self.margin else n - margin

    def columns(self, n: Any, margin: Any, side: Any, last: Any) -> list[Any]:
        """The four cells with these counts; cells that the tree does not distinguish are merged into the first."""
        size = self.last_size(n, margin)
        counts = dict(zip(self.merged, self._counted(n, margin, side, last, size), strict=True))
        first = {names[0]: count for names, count in counts.items() if names}
        return [first.get(c, 0.0) for c in CELLS]

    @property
    def merged(self) -> tuple[Names, ...]:
        """The sets of cells that the tree does not distinguish."""
        ends = (self.last, _without(self.last_of, self.last))
        if not self.margin:
            return ends
        if self.last_of == self.margin:
            return (_without(CELLS, self.margin), *ends)
        return (self.side, _without(self.margin, self.side), *ends)

    def _counted(self, n: Any, margin: Any, side: Any, last: Any, size: Any) -> tuple[Any, ...]:
        """The number of cases in each merged set."""
        if not self.margin:
            return last, size - last
        if self.last_of == self.margin:
            return n - margin, last, size - last
        return side, margin - side, last, size - last

    def cells(self, n: Any, margin: Any, side: Any, last: Any) -> NDArray[Any]:
        """The same as an array with the cells along the last axis."""
        return np.stack(np.broadcast_arrays(*self.columns(n, margin, side, last)), axis=-1)

    def collapse(self, cells: NDArray[Any]) -> NDArray[Any]:
        """A matrix with the same cells merged; each set is summed separately, so that empty ones stay empty."""
        merged = np.zeros_like(cells)
        for names in self.merged:
            if names:
                merged[..., CELLS.index(names[0])] = self._sum(cells, names)
        return merged

    def counts(self, cells: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Margin, side and last count of a matrix."""
        return self._sum(cells, self.margin), self._sum(cells, self.side), self._sum(cells, self.last)

    @staticmethod
    def _sum(cells: NDArray[Any], names: Names) -> Any:
        return cells[..., [CELLS.index(c) for c in names]].sum(axis=-1)


def _without(cells: Names, some: Names) -> Names:
    return tuple(c for c in cells if c not in some)
