"""Cases without a group: what a comparison would be, however they belonged.

They are in no group and in no reference. A rate of x of n cases, with s unknown successes and f
unknown failures, lies between x / (n + f) and (x + s) / (n + s). A gap is largest if the group has all
unknown successes and the reference all failures. Scores of several rates are searched over the counts
of each cell. Where the same cases would have to be in group and reference at once, the range of the
gap is wider than any assignment allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Floats
from ..confusion import CELLS
from ..inference import TwoRates, count_successes, fisher_tails
from ..metrics import Metric, OneGroupMetric
from .evaluate_counts import compares_with_all, corner_cells
from .results_table import Block, ResultsTable
from .settings import ReferenceKind, Settings
from .verdict import Verdict

_GRID = 9
# Up to so many cases that are moved, every way to move them is looked at; of more, some.
_MAX_LISTED = 4_096


def add_unknown_groups(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with what cases of unknown group could change."""
    for block in table.blocks:
        comparisons, metric = block.comparisons, block.metric
        is_of_counts = comparisons.source in ("counts", "selections") and not comparisons.is_pooled
        if is_of_counts and isinstance(metric, Metric) and not metric.comparisons:
            unknown = comparisons.unknown(comparisons.counts.high)
            rows = np.flatnonzero((unknown.sum(axis=1) > 0) & ~comparisons.is_reference)
            if len(rows):
                columns = _unknown_columns(table, block, unknown, settings)
                some = {name: values[rows] for name, values in columns.items()}
                table.fill(block.rows.start + rows, **some)
    return table


def _unknown_columns(table: ResultsTable, block: Block, unknown: Floats, settings: Settings) -> dict[str, Any]:
    """The ranges of scores and gaps, and the tipping points."""
    metric, comparisons = block.metric.base, block.comparisons
    cells = comparisons.cells
    # Given counts have no unknown cases.
    beside = unknown * ~comparisons.has_kind(ReferenceKind.MATRIX)[:, None]
    lowest, highest = cells, cells
    if comparisons.tally.rule is not None and metric.curve is not None:
        lows, highs = (comparisons.split(array) for array in (comparisons.counts.low, comparisons.counts.high))
        # The reference's lowest rate is at the corner of the group's highest.
        corners = [corner_cells(metric, lows, highs, is_high) for is_high in (False, True)]
        lowest, highest = (corners[0].group, corners[1].reference), (corners[1].group, corners[0].reference)
    least, most = score_range(metric, lowest[0], highest[0], unknown)
    other_least, other_most = score_range(metric, lowest[1], highest[1], beside)
    # The gap to all cases is not that to the others.
    is_apart = ~compares_with_all(block.metric, comparisons)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (least / other_most, most / other_least)
    ranges = {
        "unknown_score_low": least,
        "unknown_score_high": most,
        "unknown_difference_low": np.where(is_apart, least - other_most, np.nan),
        "unknown_difference_high": np.where(is_apart, most - other_least, np.nan),
        "unknown_ratio_low": np.where(is_apart & (metric.low >= 0), ratios[0], np.nan),
        "unknown_ratio_high": np.where(is_apart & (metric.low >= 0), ratios[1], np.nan),
    }
    published = comparisons.unknown(comparisons.counts.cases)
    numbers = published.sum(axis=1) if metric.curve is None else count_successes(metric, published)[1]
    tipping = _tipping_points(table, block, published, published * (beside > 0), settings)
    return ranges | {"unknown_n": numbers, "tipping_point": tipping}


def score_range(metric: OneGroupMetric, lowest: Floats, highest: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score over all ways to add unknown cases, or none."""
    if metric.curve is None:
        return _search(metric, lowest, unknown, np.nanmin), _search(metric, highest, unknown, np.nanmax)
    # The score rises with the share of the last split.
    is_counted, is_success = (
        np.array([cell in names for cell in CELLS]) for names in (metric.tree.last_of, metric.tree.last)
    )
    low = metric.scores(lowest + unknown * (is_counted & ~is_success))
    high = metric.scores(highest + unknown * is_success)
    # A rate that no known case counts is defined by those that are added.
    return np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)


def _search(metric: OneGroupMetric, cells: Floats, unknown: Floats, best: Callable[..., Floats]) -> Floats:
    """The best score with some of the unknown cases of each cell, on a grid that is refined."""
    scores = np.full(len(cells), np.nan)
    for row, (group, more) in enumerate(zip(cells, unknown, strict=True)):
        low, high = np.zeros(4), more.copy()
        while True:
            steps = [np.unique(np.linspace(a, b, _GRID).round()) for a, b in zip(low, high, strict=True)]
            grid = np.stack([axis.ravel() for axis in np.meshgrid(*steps, indexing="ij")], axis=1)
            values = metric.scores(group + grid)
            if np.isnan(values).all():
                break
            scores[row] = best([scores[row], best(values)])
            widest = max(float(np.diff(axis).max(initial=0.0)) for axis in steps)
            if widest <= 1:
                break
            at = grid[int(np.nanargmin(np.abs(values - best(values))))]
            low, high = np.maximum(at - widest, 0.0), np.minimum(at + widest, more)
    return scores


def _tipping_points(table: ResultsTable, block: Block, unknown: Floats, beside: Floats, settings: Settings) -> Floats:
    """How few unknown cases would leave no difference, where exact tests of counts found one."""
    comparisons, metric, tally = block.comparisons, block.metric.base, block.comparisons.tally
    points = np.full(len(comparisons), np.nan)
    if metric.curve is None or tally.weighted or tally.clusters is not None or tally.rule is not None:
        return points
    verdict, pvalue, adjusted = (table[name][block.rows] for name in ("verdict", "pvalue", "p_adjusted"))
    for row in np.flatnonzero((verdict == Verdict.HIGHER) | (verdict == Verdict.LOWER)):
        # The largest p-value that the adjustment, as it is, leaves at or below alpha.
        level = settings.alpha * pvalue[row] / adjusted[row] if adjusted[row] > 0 else settings.alpha
        counts = [cells[row] for cells in (*comparisons.cells, unknown, beside)]
        points[row] = _tipping_point(metric, counts, verdict[row] == Verdict.HIGHER, level)
    return points


def _tipping_point(metric: OneGroupMetric, counts: list[Floats], is_higher: bool, level: float) -> float:
    """The fewest unknown cases that, put into group and reference, leave p above the level; nan if none do.

    Those that end "higher" are failures of the group and successes of the reference.
    """
    pairs = [count_successes(metric, cells[None]) for cells in counts]
    (x1, n1), (x2, n2), (s1, m1), (s2, m2) = ((float(x[0]), float(n[0])) for x, n in pairs)
    to_group, to_reference = (m1 - s1, s2) if is_higher else (s1, m2 - s2)

    def ends(moved: int) -> bool:
        added = np.arange(max(0, moved - int(to_reference)), min(moved, int(to_group)) + 1, dtype=np.float64)
        if len(added) > _MAX_LISTED:
            added = np.unique(np.linspace(added[0], added[-1], _MAX_LISTED // 8).round())
        others = moved - added
        group, reference = (x1 + 0 * added, x2 + others) if is_higher else (x1 + added, x2 + 0 * added)
        tails = fisher_tails(TwoRates(group, n1 + added, reference, n2 + others))
        beyond = tails.upper if is_higher else tails.lower
        return bool((2 * beyond > level * (1 + 1e-9)).any())

    high = int(to_group + to_reference)
    if not high or not ends(high):
        return np.nan
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle) else (middle, high)
    return high
