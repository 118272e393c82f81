"""People with given counts, for tests of what fairlearn computes too."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

Counts = dict[str, tuple[int, int, int, int]]

cells = st.tuples(*[st.integers(0, 6)] * 4)
counts = st.lists(cells, min_size=2, max_size=4).map(lambda rows: dict(zip("abcd", rows, strict=False)))


def people(groups: Counts) -> tuple[list[int], list[int], list[str]]:
    """Labels, predictions and groups with these counts."""
    rows = [
        (label, prediction, group)
        for group, matrix in groups.items()
        for n, (label, prediction) in zip(matrix, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True)
        for _ in range(n)
    ]
    y_true, y_pred, who = zip(*rows, strict=True)
    return list(y_true), list(y_pred), list(who)


def share(key: str, matrix: Sequence[int]) -> tuple[int, int]:
    """Successes and cases of a rate."""
    tp, fn, fp, tn = matrix
    return {
        "ppr": (tp + fp, tp + fn + fp + tn),
        "tpr": (tp, tp + fn),
        "fpr": (fp, fp + tn),
        "acc": (tp + tn, tp + fn + fp + tn),
    }[key]
