"""The order in which the cases of a matrix are split into cells.

First a margin, such as the actual positives, is split off from all cases, then possibly a side,
such as TP, from the margin. Given these, a metric is monotone in the count of the last split,
so that the probabilities of its scores are sums over ranges of that count. Cells that a metric
does not distinguish are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..confusion import CELLS

CellNames = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Which cells are split off from which.

    ``margin`` is split off from all cells, ``side`` from the margin, and ``last`` from
    ``last_of``, which is the margin, the other cells, or all cells. An empty ``margin`` or
    ``side`` means that there is no such split.
    """

    margin: CellNames
    side: CellNames
    last: CellNames
    last_of: CellNames

    def last_size(self, n: Any, margin: Any) -> Any:
        """How many cases the last split divides, given ``n`` and the size of the margin.

        Without a margin, it divides all ``n``.
        """
        if not self.margin:
            return n
        return margin if self.last_of == self.margin else n - margin

    def columns(self, n: Any, margin: Any, side: Any, last: Any) -> list[Any]:
        """The four cells of ``n`` cases, given the counts of the splits; arrays broadcast.

        Of cells that the tree merges, the first holds their sum and the others are 0.

        >>> ROW_TREE.columns(n=10, margin=4, side=3, last=1)
        [3, 1, 1, 5]
        """
        parts = self._parts(n, margin, side, last)
        # A set is empty if nothing is left of a split, such as of all cells.
        count_of = {cells[0]: count for cells, count in parts if cells}
        return [count_of.get(cell, 0.0) for cell in CELLS]

    @property
    def merged_cells(self) -> tuple[CellNames, ...]:
        """Sets of cells of which only sums matter; one is empty if the tree has no such part.

        Scores do not depend on how the cases of a set are spread over its cells.
        """
        return tuple(cells for cells, _ in self._parts(0, 0, 0, 0))

    def _parts(
        self, n: Any, margin: Any, side: Any, last: Any
    ) -> list[tuple[CellNames, Any]]:
        """The sets of cells that the tree distinguishes, and the counts of each.

        ``margin``, ``side`` and ``last`` are the counts that are split off, of ``n`` cases.
        `columns` puts the counts into cells, and `merged_cells` only needs the sets.
        """
        rest = self.last_size(n, margin) - last
        ends = [(self.last, last), (without(self.last_of, self.last), rest)]
        # There is only the last split, of all cells.
        if not self.margin:
            return ends
        # The last split divides the margin; the cells outside it are one set.
        if self.last_of == self.margin:
            return [(without(CELLS, self.margin), n - margin), *ends]
        # The margin is split into the side and its rest, the other cells by the last split.
        others = without(self.margin, self.side)
        return [(self.side, side), (others, margin - side), *ends]

    def cells(self, n: Any, margin: Any, side: Any, last: Any) -> Array:
        """`columns` as an array with the cells along the last axis, such as metrics score."""
        columns = self.columns(n, margin, side, last)
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def collapse(self, cells: Array) -> Array:
        """Merge the cells of matrices as the tree does: the first of each set holds the sum.

        The score stays the same, and is then that of a matrix as `cells` lists them.
        """
        merged = np.zeros_like(cells)
        # Sets without cells are left out.
        for names in filter(None, self.merged_cells):
            merged[..., CELLS.index(names[0])] = sum_cells(cells, names)
        return merged

    def counts(self, cells: Array) -> tuple[Any, ...]:
        """The counts of the splits (margin, side, last) of matrices; the inverse of `cells`.

        A split that the tree lacks has a count of 0.
        """
        parts = (self.margin, self.side, self.last)
        return tuple(sum_cells(cells, part) for part in parts)


#: Prevalence, then TPR, then FPR.
ROW_TREE = Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))
#: Predicted positive rate, then PPV, then FOR.
COLUMN_TREE = Tree(
    margin=("tp", "fp"), side=("tp",), last=("fn",), last_of=("fn", "tn")
)


def sum_cells(cells: Array, names: CellNames) -> Any:
    """The sum of some cells, which lie along the last axis; 0 without names."""
    return cells[..., [CELLS.index(name) for name in names]].sum(axis=-1)


def without(cells: CellNames, removed: CellNames) -> CellNames:
    """The cells but for those that are removed: the other side of a split."""
    return tuple(cell for cell in cells if cell not in removed)
