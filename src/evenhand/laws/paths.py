"""The ways down a tree to its last split, in blocks, and how many of them there may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import Tree
from .budget import MOST_PATHS, check_cost
from .families import Law
from .sums import split_table

__all__ = ["Paths", "check_paths", "margins_of", "path_blocks"]

Floats = NDArray[np.float64]

# The most values of a margin, which are held at once.
_MOST_MARGINS = 2**23
# Paths with the same margin share a table, whose rows are as wide as there are such paths.
_MOST_AT_A_MARGIN = 2**21
_BLOCK, _LONG_BLOCK = 2**16, 2**20


@dataclass(frozen=True, slots=True)
class Paths:
    """Ways down a tree to its last split: the counts, the weight, and the size of the last split."""

    n: int
    margin: Floats
    side: Floats
    weight: Floats
    size: Floats


def path_blocks(
    tree: Tree, law: Law, eps: float, margin: float | None = None, negligible: float = 0.0, most: int = MOST_PATHS
) -> Iterator[Paths]:
    """The paths of a tree under a law, in blocks; with a ``margin``, those with that margin, whose weights sum to 1.

    Blocks are small enough for a processor's cache, and paths with the same margin stay together.
    """
    n = law.n

    def block(margins: Floats, side: Floats, weight: Floats) -> Paths:
        return Paths(n, margins, side, weight, tree.last_size(float(n), margins) + 0 * margins)

    margins, weight = margins_of(tree, law, eps, margin, most)
    kept = weight > negligible
    margins, weight = margins[kept], weight[kept]
    if not tree.side:
        # There is one path per margin; sums over consecutive margins follow from each other, and blocks are longer.
        for at in _pieces(np.arange(1, len(margins) + 1), _LONG_BLOCK):
            yield block(margins[at], np.zeros_like(margins[at]), weight[at])
        return
    split = law.split(tree.side, tree.margin)
    low, high = split.window(margins, eps)
    check_paths((high - low + 1).sum(), n, margin, most)
    width = (high - low + 1).max(initial=1)
    check_paths(width, n, margin, _MOST_AT_A_MARGIN)
    least = max(negligible, eps / max(width * len(margins), 1))
    for at in _pieces(np.cumsum(high - low + 1), _BLOCK):
        inner = split_table(split, margins[at], eps)
        rows, columns = np.nonzero(inner.pmf * weight[at, None] > least)
        # A single margin can have more paths than a block.
        for start in range(0, len(rows), _LONG_BLOCK):
            row, column = rows[start : start + _LONG_BLOCK], columns[start : start + _LONG_BLOCK]
            yield block(margins[at][row], inner.start[row] + column, weight[at][row] * inner.pmf[row, column])


def margins_of(tree: Tree, law: Law, eps: float, margin: float | None, most: int) -> tuple[Floats, Floats]:
    """The values of a tree's margin and their probabilities; without a margin, a single path."""
    if not tree.margin:
        return np.zeros(1), np.ones(1)
    if margin is not None:
        return np.array([float(margin)]), np.ones(1)
    split, n = law.split(tree.margin), np.array([float(law.n)])
    low, high = split.window(n, eps)
    check_paths(float(high[0] - low[0] + 1), law.n, margin, min(most, _MOST_MARGINS))
    table = split_table(split, n, eps)
    return table.start[0] + np.arange(table.pmf.shape[1]), table.pmf[0]


def _pieces(reached: NDArray[Any], size: int) -> Iterator[slice]:
    """Consecutive slices, each of about ``size``, from the running total of the sizes of the elements."""
    wanted = np.arange(size, float(reached[-1]) if len(reached) else 0.0, size)
    cuts = np.unique(np.searchsorted(reached, wanted) + 1)
    for start, end in pairwise([0, *cuts[cuts < len(reached)].tolist(), len(reached)]):
        yield slice(start, end)


def check_paths(paths: float, n: int, margin: float | None, most: int) -> None:
    """Refuse a sum over too many paths."""
    condition = "condition on the margin (`given='margin'`) or " if margin is None else ""
    check_cost(
        paths,
        most,
        f"an exact sum over n = {n:,} cases has {{}} paths",
        f"a test can {condition}simulate (`method='montecarlo'`)",
    )
