"""The scores of all cases together, beside which those of groups are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..confusion import CELLS
from .comparisons import Comparisons, compare_everybody
from .results_table import ResultsTable

_ACCURACIES = {"acc": max, "inacc": min}


def evaluate_overall(
    comparisons: Sequence[Comparisons], evaluate: Callable[[Sequence[Comparisons]], ResultsTable]
) -> ResultsTable:
    """The table of all cases at each place, those of unknown group included."""
    table = evaluate([compare_everybody(part) for part in comparisons if not part.is_pooled])
    is_kept = np.ones(len(table), dtype=bool)
    for block in table.blocks:
        is_kept[block.rows] = not getattr(block.metric, "comparisons", ())
        choose = _ACCURACIES.get(block.metric.key)
        for i in range(block.rows.start, block.rows.stop):
            tp, fn, fp, tn = (table[cell][i] for cell in CELLS)
            if choose and tp + fn + fp + tn > 0:
                table["baseline"][i] = choose(tp + fn, fp + tn) / (tp + fn + fp + tn)
    return table.take(np.flatnonzero(is_kept))
