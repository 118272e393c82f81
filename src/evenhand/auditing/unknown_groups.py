"""Cases without a group: what a comparison would be, however they belonged.

They are in no group and in no reference. A rate of x of n cases, with s unknown successes and f
unknown failures, lies between x / (n + f) and (x + s) / (n + s). A gap is largest if the group has all
unknown successes and the reference all failures. Scores of several rates are searched over the counts
of each cell. Where the same cases would have to be in group and reference at once, the range of the
gap is wider than any assignment allows.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np

from ..arrays import Floats
from ..confusion import CELLS
from ..inference import TwoRates, count_successes, fisher_tails
from ..metrics import Metric, OneGroupMetric
from .evaluate_counts import rounding_corners
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
        if not comparisons.is_of_cells or not isinstance(metric, Metric) or metric.comparisons:
            continue
        unknown = comparisons.unknown(comparisons.counts.high)
        rows = np.flatnonzero(unknown.any(axis=1) & ~comparisons.is_reference)
        if len(rows):
            # Given counts have no unknown cases.
            is_given = comparisons.has_kind(ReferenceKind.MATRIX)[:, None]
            added = np.stack([unknown, np.where(is_given, 0.0, unknown)])
            columns = range_columns(block, added)
            columns["tipping_point"] = find_tipping_points(table, block, added, settings)
            cases = comparisons.unknown(comparisons.counts.cases)
            is_counted = np.isin(CELLS, metric.base.tree.last_of) | (metric.base.curve is None)
            columns["unknown_n"] = cases[:, is_counted].sum(axis=1)
            of_rows = {name: values[rows] for name, values in columns.items()}
            table.fill(block.rows.start + rows, **of_rows)
    return table


def range_columns(block: Block, added: Floats) -> dict[str, Floats]:
    """The ranges of scores and gaps, from the cases that may be added to groups and references."""
    metric, comparisons = block.metric.base, block.comparisons
    lowest = highest = np.stack(comparisons.cells)
    if comparisons.tally.rule is not None and metric.curve is not None:
        least, most = rounding_corners(metric, comparisons)
        # The reference's lowest rate is at the corner of the group's highest.
        lowest = np.stack([least.group, most.reference])
        highest = np.stack([most.group, least.reference])
    low, high = score_ranges(metric, lowest, highest, added)
    # The gap to all cases is not that to the others.
    gap = np.where(comparisons.includes_group(block.metric), np.nan, 1.0)
    ratio = gap if metric.low >= 0 else gap * np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        ranges = {
            "score": (low[0], high[0]),
            "difference": ((low[0] - high[1]) * gap, (high[0] - low[1]) * gap),
            "ratio": (low[0] / high[1] * ratio, high[0] / low[1] * ratio),
        }
    return {
        f"unknown_{name}_{end}": values
        for name, ends in ranges.items()
        for end, values in zip(("low", "high"), ends, strict=True)
    }


def score_ranges(
    metric: OneGroupMetric, lowest: Floats, highest: Floats, unknown: Floats
) -> tuple[Floats, Floats]:
    """The lowest and the highest scores over all ways to add unknown cases, or none, to cells."""
    if metric.curve is None:
        search = np.vectorize(partial(_search, metric), "d", signature="(c),(c),()->()")
        return search(lowest, unknown, -1), search(highest, unknown, 1)
    # The score rises with the share of the last split.
    is_success = np.isin(CELLS, metric.tree.last)
    is_failure = np.isin(CELLS, metric.tree.last_of) & ~is_success
    low = metric.scores(lowest + unknown * is_failure)
    high = metric.scores(highest + unknown * is_success)
    # A rate that no known case counts is defined by those that are added.
    return np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)


def _search(metric: OneGroupMetric, cells: Floats, unknown: Floats, sign: float) -> float:
    """The lowest (-1) or highest (1) score with some unknown cases, on a grid that is refined."""
    best, step = np.nan, np.inf
    low, high = np.zeros(4), unknown
    while step > 1:
        axes = [np.unique(axis) for axis in np.linspace(low, high, _GRID).round().T]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)
        scores = sign * metric.scores(cells + grid)
        if np.isnan(scores).all():
            break
        best = np.fmax(best, np.nanmax(scores))
        step = max(np.diff(axis).max(initial=0.0) for axis in axes)
        center = grid[np.nanargmax(scores)]
        low, high = np.maximum(center - step, 0.0), np.minimum(center + step, unknown)
    return float(sign * best)


def find_tipping_points(
    table: ResultsTable, block: Block, added: Floats, settings: Settings
) -> Floats:
    """How few unknown cases would leave no difference, where exact tests of counts found one."""
    metric, tally = block.metric.base, block.comparisons.tally
    points = np.full(len(block.comparisons), np.nan)
    if tally.weighted or tally.clusters is not None or tally.rule or metric.curve is None:
        return points
    cells = np.concatenate([block.comparisons.cells, added])
    successes, cases = count_successes(metric, cells)
    verdict, p, adjusted = (table[name][block.rows] for name in ("verdict", "pvalue", "p_adjusted"))
    for row in np.flatnonzero(np.isin(verdict, [Verdict.HIGHER, Verdict.LOWER])):
        x, n = successes[:, row], cases[:, row]
        # The largest p-value that the adjustment, as it is, leaves at or below alpha.
        share = p[row] / adjusted[row] if adjusted[row] > 0 else 1.0
        x = n - x if verdict[row] == Verdict.LOWER else x
        points[row] = _tipping_point(x, n, settings.alpha * share)
    return points


def _tipping_point(successes: Floats, cases: Floats, level: float) -> float:
    """The fewest unknown cases that, put into group and reference, leave p above the level.

    Successes and cases are those of a group whose rate is higher, of its reference, and of the
    unknown cases that may be in either. Those that end "higher" are failures of the group and
    successes of the reference. The result is nan if there are too few of them.
    """
    to_group, to_reference = cases[2] - successes[2], successes[3]

    def ends(moved: int) -> bool:
        group = np.arange(max(0, moved - to_reference), min(moved, to_group) + 1)
        if len(group) > _MAX_LISTED:
            group = np.unique(np.linspace(group[0], group[-1], _MAX_LISTED // 8).round())
        reference = moved - group
        x2, n2 = successes[1] + reference, cases[1] + reference
        tails = fisher_tails(TwoRates(successes[0], cases[0] + group, x2, n2))
        return bool((2 * tails.upper > level * (1 + 1e-9)).any())

    most = int(to_group + to_reference)
    fewest = bisect_left(range(most + 1), True, key=ends)
    return fewest if fewest <= most else np.nan
