"""The order in which cells are split, of every metric of the catalogue."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from oracle import ONE_GROUP, matrices

from evenhand.metrics import ONE_GROUP_METRICS, ROW_TREE, Tree, sum_cells

CELLS = ("tp", "fn", "fp", "tn")


def test_a_score_does_not_depend_on_how_merged_cells_are_divided() -> None:
    """The merged cells of a tree are disjoint, a merged matrix has its score, and its counts give it back."""
    for m in ONE_GROUP_METRICS:
        assert sorted(cell for merged in m.tree.merged_cells for cell in merged) == sorted(CELLS)
        for cells in matrices(5):
            merged, (margin, side, last) = m.tree.collapse(np.array(cells)), m.tree.counts(np.array(cells))
            assert ONE_GROUP[m.key](*merged.tolist()) == ONE_GROUP[m.key](*cells), (m.key, cells)
            assert m.tree.cells(5, margin, side, last).tolist() == merged.tolist(), (m.key, cells)
            assert m.tree.last_size(5, margin) == sum_cells(merged, m.tree.last_of)


def test_every_score_is_monotone_in_the_last_split() -> None:
    for m in ONE_GROUP_METRICS:
        tree, sign, steps = m.tree, 1 if m.rises else -1, 0
        for margin in range(8 if tree.margin else 1):
            for side in range(margin + 1 if tree.side else 1):
                path = [tree.cells(7, margin, side, last) for last in range(int(tree.last_size(7, margin)) + 1)]
                scores = [s for cells in path if (s := ONE_GROUP[m.key](*map(int, cells))) is not None]
                assert all(sign * (b - a) >= 0 for a, b in pairwise(scores)), m.key
                steps += sum(a != b for a, b in pairwise(scores))
        assert steps > 5, m.key


def test_a_tree_splits_many_matrices_at_once() -> None:
    cells = np.array([[0.1, 0.7, 0, 0.2], [3, 0, 0, 5]])
    margin, side, last = ROW_TREE.counts(cells)
    assert ROW_TREE.collapse(cells).tolist() == cells.tolist()
    assert ROW_TREE.cells(np.array([1, 8]), margin, side, last)[:, :3].tolist() == cells[:, :3].tolist()
    share = Tree(margin=(), side=(), last=("tp", "tn"), last_of=CELLS)
    assert share.collapse(cells[1:]).tolist() == share.cells(8, 0, 0, np.array([8])).tolist() == [[8, 0, 0, 0]]
