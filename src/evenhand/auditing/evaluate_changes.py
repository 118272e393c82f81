"""How rates of groups change from one model to another, and how their gaps to the reference do.

The change of a rate is the marginal benefit of wins and losses: (wins - losses) / cases. So changes
are scores of counts, and gaps between changes are tested as gaps between such scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, choose
from ..inference import count_pairs, equality_test, mcnemar_pvalue, melded_gaps, score_gaps, score_intervals
from ..metrics import Metric, metric as find_metric
from .comparisons import Comparisons
from .evaluate_counts import reference_columns
from .settings import Settings

_NO_CASE = "no case in the denominator"


def evaluate_changes(metric: Metric, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """The columns of a rate for comparisons of two models."""
    joint, n = comparisons.tally.model_counts, len(comparisons)
    assert joint is not None
    pairs = [count_pairs(metric, side) for side in comparisons.split(joint)]
    # As a matrix with wins as FP and losses as FN, marginal benefit is the change of the rate.
    group, reference = (_change_cells(side) for side in pairs)
    change, level = find_metric("mb").base, settings.confidence_level
    has_cases = [side.sum(axis=1) > 0 for side in pairs]
    reason = choose(has_cases[1], None, f"the reference has {_NO_CASE}")
    reason[~has_cases[0]] = _NO_CASE
    reason[comparisons.is_reference & has_cases[0]] = None
    scores, reference_scores = change.scores(group), change.scores(reference)
    reference_scores[comparisons.is_reference] = np.nan
    rows = np.flatnonzero(has_cases[0] & has_cases[1] & ~comparisons.is_reference & ~comparisons.is_chosen)
    low, high = score_intervals(change, group, level)
    columns: dict[str, Any] = {name: np.full(n, np.nan) for name in ("pvalue", "gap_low", "gap_high")}
    method, direction = np.full((2, n), None, dtype=object)

    gap = scores - reference_scores

    def bound_gaps(some: Any, at: float) -> tuple[Floats, Floats]:
        gaps = melded_gaps(change, group[some], reference[some], "difference")
        return gaps.interval(at, gap[some])

    if len(rows):
        test = equality_test(change, group[rows], reference[rows])
        columns["pvalue"][rows], method[rows] = test.pvalues, test.method
        direction[rows] = np.where(test.is_higher, "higher", "lower")
        gaps = score_gaps(change, group[rows], reference[rows], "difference")
        columns["gap_low"][rows], columns["gap_high"][rows] = gaps.interval(level, gap[rows])
    own = [mcnemar_pvalue(side) if side.sum() else np.nan for side in pairs[0]]
    return columns | reference_columns(metric, comparisons) | {
        "question": "change",
        "score": scores,
        "low": low,
        "high": high,
        "support": pairs[0].sum(axis=1),
        "before": _first_rates(pairs[0]),
        "change_pvalue": np.array(own),
        "reference_score": reference_scores,
        "reference_before": _first_rates(pairs[1]),
        "gap": gap,
        "reason": reason,
        "method": method,
        "direction": direction,
        "bound_gaps": bound_gaps,
    }  # fmt: skip


def _change_cells(pairs: Floats) -> Floats:
    """Pairs as cells: unchanged cases as TP, losses as FN, and wins as FP."""
    both, first, second, neither = pairs.T
    return np.stack([both + neither, first, second, np.zeros(len(pairs))], axis=1)


def _first_rates(pairs: Floats) -> Floats:
    """The rates with the first of two models."""
    with np.errstate(invalid="ignore"):
        return np.asarray(pairs[:, :2].sum(axis=1) / pairs.sum(axis=1))
