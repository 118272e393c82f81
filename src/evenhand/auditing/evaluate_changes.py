"""How scores of groups change from one model to another, and how their gaps to the reference do.

A change of a rate is tested by McNemar's test, and its interval agrees with the test. Results of
several runs per item, and other numbers than 0 and 1, are tested by flipping the signs of the changes
of items. The change of a gap is that of a rate, the marginal benefit of wins and losses: (wins -
losses) / cases. So it is tested as a gap between such scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, Floats, Integers, choose
from ..inference import (
    change_intervals,
    count_pairs,
    item_change_interval,
    mcnemar_pvalues,
    score_intervals,
    sign_flip_test,
)
from ..metrics import Metric, metric as find_metric
from ..planning import pairs_needed
from ..randomness import generator
from .comparisons import Comparisons
from .evaluate_counts import Columns, ComparedCounts, Sides
from .settings import Settings

_NO_CASE = "no case in the denominator"


def evaluate_changes(metric: Any, comparisons: Comparisons, settings: Settings) -> Columns:
    """The columns of scores with one model, against those of the same cases with another."""
    if comparisons.tally.items is not None:
        return _evaluate_items(comparisons, settings)
    pairs = count_pairs(metric, comparisons.split(comparisons.values)[0])
    both, losses, wins, _ = pairs.T
    n, level = pairs.sum(axis=1), settings.confidence_level
    tpr = find_metric("tpr").base
    before, after = (
        np.stack([k, n - k, n * 0, n * 0], axis=1) for k in (both + losses, both + wins)
    )
    low, high = score_intervals(tpr, after, level, whole=True)
    sums = count_pairs(metric, comparisons.values.sum(axis=1))
    shares = sums[:, 1:3].sum(axis=1) / np.maximum(sums.sum(axis=1), 1)

    def bound(rows: Integers, level: float) -> tuple[Floats, Floats]:
        return change_intervals(wins[rows], losses[rows], n[rows], level)

    def search(rows: Integers, levels: Floats, gap: float) -> Floats:
        of_rows = np.maximum(shares[comparisons.place[rows]], gap)
        pairs = zip(of_rows.tolist(), levels[rows].tolist(), strict=True)
        return np.array([pairs_needed(gap, *pair) for pair in pairs])

    gap_ends = np.where(n > 0, bound(np.arange(len(n)), level), np.nan)
    return _change_columns(tpr.scores(before), tpr.scores(after)) | {
        **{"support": n, "reference_n": n, "low": low, "high": high},
        **{"gap_low": gap_ends[0], "gap_high": gap_ends[1], "gained": wins, "lost": losses},
        "pvalue": np.where(n > 0, mcnemar_pvalues(wins, losses), np.nan),
        "method": choose(n > 0, "mcnemar", None),
        "bound_gaps": bound,
        "search_n": search,
    }


def _change_columns(before: Floats, after: Floats) -> Columns:
    """The columns that follow from the scores with both models."""
    change, is_defined = after - before, ~np.isnan(after)
    return {
        **{"question": "change", "score": after, "before": before, "reference_score": before},
        "gap": change,
        "direction": choose(is_defined, choose(change > 0, "higher", "lower"), None),
        "reason": choose(is_defined, None, _NO_CASE),
    }


def _evaluate_items(comparisons: Comparisons, settings: Settings) -> Columns:
    """The columns of mean results, from the totals of items."""
    items, count = comparisons.tally.items, len(comparisons)
    assert items is not None
    before, after, pvalue, error, low, high = np.full((6, count), np.nan)
    support, method = np.zeros(count), np.full(count, None, dtype=object)
    rng = generator(settings.rng)
    selected: list[Array] = [comparisons.masks(row, items.key)[0] for row in range(count)]

    def bound(rows: Integers, level: float) -> tuple[Floats, Floats]:
        ends = np.full((2, len(rows)), np.nan)
        for i, row in enumerate(rows if items.is_binary else ()):
            place, mask = comparisons.place[row], selected[row]
            change = items.second[place, mask] - items.first[place, mask]
            ends[:, i] = item_change_interval(change, items.runs[mask], level)
        return ends[0], ends[1]

    for row, mask in enumerate(selected):
        if not mask.any():
            continue
        place = comparisons.place[row]
        first, second, runs = items.first[place, mask], items.second[place, mask], items.runs[mask]
        before[row], after[row] = first.sum() / runs.sum(), second.sum() / runs.sum()
        support[row] = runs.sum()
        test = sign_flip_test(second - first, settings.draws_for(count), rng)
        pvalue[row], error[row], method[row] = test
    low, high = bound(np.arange(count), settings.confidence_level)
    return _change_columns(before, after) | {
        **{"support": support, "reference_n": support, "pvalue": pvalue, "p_error": error},
        **{"method": method, "gap_low": low, "gap_high": high, "bound_gaps": bound},
    }


def evaluate_gap_changes(metric: Metric, comparisons: Comparisons, settings: Settings) -> Columns:
    """The columns of changes of a rate, against those of the reference."""
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
    lacking = choose(is_reference | (reference_n > 0), None, f"the reference has {_NO_CASE}")
    return counts.run_tests(is_tested, comparisons.is_chosen) | {
        **{"question": "change of gap", "support": n, "gained": wins, "lost": losses},
        **{"score": scores, "low": low, "high": high, "before": before},
        **{"reference_score": reference_scores, "reference_before": reference_before},
        **{"gap": gap, "gap_low": gap_ends[0], "gap_high": gap_ends[1]},
        **{"reason": choose(n > 0, lacking, _NO_CASE), "bound_gaps": counts.gap_intervals},
    }


def _change_cells(pairs: Floats) -> Floats:
    """Pairs as cells: unchanged cases as TP, losses as FN, and wins as FP."""
    both, first, second, neither = pairs.T
    return np.stack([both + neither, first, second, np.zeros(len(pairs))], axis=1)


def _first_rates(pairs: Floats) -> Floats:
    """The rates with the first of two models."""
    with np.errstate(invalid="ignore"):
        return np.asarray(pairs[:, :2].sum(axis=1) / pairs.sum(axis=1))
