"""How rates of groups change from one model to another, and how their gaps to the reference do.

A group's own change is tested by McNemar's test, and its interval agrees with the test. The change of
a rate is the marginal benefit of wins and losses: (wins - losses) / cases. So changes are scores of
counts, and gaps between changes are tested as gaps between such scores.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, choose
from ..inference import change_intervals, count_pairs, mcnemar_pvalues
from ..metrics import Metric, metric as find_metric
from .comparisons import Comparisons
from .evaluate_counts import Columns, ComparedCounts, Sides
from .settings import Settings

_NO_CASE = "no case in the denominator"


def evaluate_changes(metric: Metric, comparisons: Comparisons, settings: Settings) -> Columns:
    """The columns of a rate for comparisons of two models."""
    pairs = [count_pairs(metric, side) for side in comparisons.split(comparisons.values)]
    (n, reference_n), is_reference = (side.sum(axis=1) for side in pairs), comparisons.is_reference
    change, ones = find_metric("mb").base, np.ones(len(n))
    group, reference = map(_change_cells, pairs)
    sides = Sides(group, reference, ones > 0)
    counts = ComparedCounts(change, comparisons, [sides], ones, ones, is_melded=True)
    scores, reference_scores = (change.scores(cells) for cells in (group, reference))
    reference_scores[is_reference] = np.nan
    gap, level = scores - reference_scores, settings.confidence_level
    _, losses, wins, _ = pairs[0].T
    low, high = np.where(n > 0, change_intervals(wins, losses, n, level), np.nan)
    is_tested = (n > 0) & (reference_n > 0) & ~is_reference
    rows = np.flatnonzero(is_tested & ~comparisons.is_chosen)
    gap_ends = np.full((2, len(n)), np.nan)
    gap_ends[:, rows] = counts.gap_intervals(rows, level, gap[rows])
    before, reference_before = map(_first_rates, pairs)
    own = np.where(n > 0, mcnemar_pvalues(wins, losses), np.nan)
    lacking = choose(is_reference | (reference_n > 0), None, f"the reference has {_NO_CASE}")
    return counts.run_tests(is_tested, comparisons.is_chosen) | {
        **{"question": "change", "support": n, "reason": choose(n > 0, lacking, _NO_CASE)},
        **{"score": scores, "low": low, "high": high, "before": before, "change_pvalue": own},
        **{"reference_score": reference_scores, "reference_before": reference_before},
        **{"gap": gap, "gap_low": gap_ends[0], "gap_high": gap_ends[1]},
        "bound_gaps": counts.gap_intervals,
    }


def _change_cells(pairs: Floats) -> Floats:
    """Pairs as cells: unchanged cases as TP, losses as FN, and wins as FP."""
    both, first, second, neither = pairs.T
    return np.stack([both + neither, first, second, np.zeros(len(pairs))], axis=1)


def _first_rates(pairs: Floats) -> Floats:
    """The rates with the first of two models."""
    with np.errstate(invalid="ignore"):
        return np.asarray(pairs[:, :2].sum(axis=1) / pairs.sum(axis=1))
