"""How rates of groups change from one model to another, and how their gaps to the reference do.

The change of a rate is the marginal benefit of wins and losses: (wins - losses) / cases. So changes
are scores of counts, and gaps between changes are tested as gaps between such scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Integers, choose
from ..inference import (
    count_pairs,
    equality_test,
    mcnemar_pvalue,
    melded_gaps,
    score_gaps,
    score_intervals,
)
from ..metrics import Metric, metric as find_metric
from .comparisons import Comparisons
from .settings import Settings

_NO_CASE = "no case in the denominator"


def evaluate_changes(
    metric: Metric, comparisons: Comparisons, settings: Settings
) -> dict[str, Any]:
    """The columns of a rate for comparisons of two models."""
    pairs = [count_pairs(metric, side) for side in comparisons.split(comparisons.values)]
    change, level = find_metric("mb").base, settings.confidence_level
    cells, is_reference = [_change_cells(side) for side in pairs], comparisons.is_reference
    scores, reference_scores = (change.scores(side) for side in cells)
    reference_scores[is_reference] = np.nan
    gap = scores - reference_scores
    n, reference_n = (side.sum(axis=1) for side in pairs)
    lacking = choose(is_reference | (reference_n > 0), None, f"the reference has {_NO_CASE}")

    def bound_gaps(rows: Integers, level: float, law: Any = melded_gaps) -> tuple[Floats, Floats]:
        gaps = law(change, cells[0][rows], cells[1][rows], "difference")
        ends: tuple[Floats, Floats] = gaps.interval(level, gap[rows])
        return ends

    pvalue, *gap_ends = np.full((3, len(n)), np.nan)
    method, direction = np.full((2, len(n)), None, dtype=object)
    rows = np.flatnonzero((n > 0) & (reference_n > 0) & ~is_reference & ~comparisons.is_chosen)
    if len(rows):
        test = equality_test(change, *(side[rows] for side in cells))
        pvalue[rows], method[rows] = test.pvalues, test.method
        direction[rows] = np.where(test.is_higher, "higher", "lower")
        gap_ends[0][rows], gap_ends[1][rows] = bound_gaps(rows, level, score_gaps)
    low, high = score_intervals(change, cells[0], level)
    before, reference_before = map(_first_rates, pairs)
    own = [mcnemar_pvalue(side) if side.sum() else np.nan for side in pairs[0]]
    return {
        **{"question": "change", "support": n, "reason": choose(n > 0, lacking, _NO_CASE)},
        **{"score": scores, "low": low, "high": high, "before": before, "change_pvalue": own},
        **{"reference_score": reference_scores, "reference_before": reference_before},
        **{"gap": gap, "gap_low": gap_ends[0], "gap_high": gap_ends[1]},
        **{"pvalue": pvalue, "method": method, "direction": direction, "bound_gaps": bound_gaps},
    }


def _change_cells(pairs: Floats) -> Floats:
    """Pairs as cells: unchanged cases as TP, losses as FN, and wins as FP."""
    both, first, second, neither = pairs.T
    return np.stack([both + neither, first, second, np.zeros(len(pairs))], axis=1)


def _first_rates(pairs: Floats) -> Floats:
    """The rates with the first of two models."""
    with np.errstate(invalid="ignore"):
        return np.asarray(pairs[:, :2].sum(axis=1) / pairs.sum(axis=1))
