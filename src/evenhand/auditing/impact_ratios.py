"""Impact ratios: rates of favourable predictions divided by the highest of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Integers, choose
from ..inference import melded_gaps
from ..metrics import metric as find_metric
from .comparisons import Comparisons, favourable_rates
from .evaluate_counts import Sides, corner_cells, effective_cells
from .results_table import ResultsTable
from .settings import Settings
from .verdicts import simultaneous_level


def add_impact_ratios(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with impact ratios in rows of predicted positive rates."""
    if settings.favourable is None:
        return table
    level = simultaneous_level(table, settings)
    for block in table.blocks:
        comparisons = block.comparisons
        is_of_counts = comparisons.source in ("counts", "selections") and not comparisons.is_pooled
        if block.metric.key == "ppr" and is_of_counts:
            counts = comparisons.counts.cells
            for rows, cells in comparisons.columns(counts):
                columns = _impact_columns(comparisons, rows, cells, settings, level)
                table.fill(block.rows.start + rows, **columns)
    return table


def _impact_columns(
    comparisons: Comparisons, rows: Integers, cells: Floats, settings: Settings, level: float
) -> dict[str, Any]:
    """The impact ratios of the groups of a column."""
    metric = find_metric("ppr" if settings.favourable == "positive" else "pnr").base
    present = comparisons.group[rows]
    rates = favourable_rates(cells[present], settings)
    if not np.nanmax(rates, initial=0.0) > 0:
        return {}
    best = int(np.nanargmax(rates))
    group = comparisons.cells[0][rows]
    ratios = metric.scores(group) / rates[best]
    with_best = _Against(comparisons, rows, int(present[best]))
    corners = with_best.corners(metric)
    # The data chose the highest of several rates, so that an interval holds for all of them at once.
    is_eligible = ~np.isnan(rates)
    choices = np.maximum(1, is_eligible.sum() - is_eligible)
    low, high, at_most = np.full((3, len(rows)), np.nan)
    for number in np.unique(choices):
        some = np.flatnonzero((choices == number) & (group.sum(axis=1) > 0))
        lowest, highest = (melded_gaps(metric, *side.take(some)[:2], "ratio") for side in corners)
        each = 1 - (1 - settings.confidence_level) / number
        low[some] = lowest.interval(each, ratios[some])[0]
        high[some] = highest.interval(each, ratios[some])[1]
        at_most[some] = highest.interval(1 - (1 - level) / number, ratios[some])[1]
    grouping = comparisons.groupings[comparisons.grouping[rows[0]]]
    is_best = np.arange(len(rows)) == best
    ends = {"impact_low": low, "impact_high": high, "impact_at_most": at_most}
    columns = {name: np.where(is_best | ~np.isfinite(end), np.nan, end) for name, end in ends.items()}
    is_empty = group.sum(axis=1) == 0
    columns |= {"impact_ratio": ratios, "impact_n": np.full(len(rows), with_best.cases)}
    columns = {name: np.where(is_empty, np.nan, values) for name, values in columns.items()}
    names = np.full(len(rows), grouping.groups[present[best]], dtype=object)
    return columns | {"impact_group": choose(is_empty, None, names)}


class _Against:
    """Groups of a column against the one with the highest rate."""

    def __init__(self, comparisons: Comparisons, rows: Integers, best: int) -> None:
        arrays = {name: getattr(comparisons, name)[rows] for name in ("place", "stratum", "grouping", "group")}
        reference = comparisons.references[0]._replace(code=best, cells=None)
        known = {name: getattr(comparisons, name) for name in comparisons.__dataclass_fields__} | arrays
        known |= {"references": (reference,), "reference_index": np.zeros(len(rows), dtype=np.int64)}
        self.comparisons = Comparisons(**known)
        place = np.flatnonzero(self.comparisons.group == best)
        self.cases = float(self.comparisons.sizes[0][place[0]])

    def corners(self, metric: Any) -> list[Sides]:
        """The cells behind the smallest and the largest ratios; the same unless counts are rounded."""
        comparisons = self.comparisons
        best = comparisons.references[0].code
        sides, _ = effective_cells(metric, comparisons)
        # The best group itself is compared with its own cells.
        is_best = (comparisons.group == best)[:, None]
        if comparisons.tally.rule is None:
            reference = np.where(is_best, sides.group, sides.reference)
            return [sides._replace(reference=reference)] * 2
        lows, highs = (comparisons.split(array) for array in (comparisons.counts.low, comparisons.counts.high))
        lows, highs = ((group, np.where(is_best, group, rest)) for group, rest in (lows, highs))
        return [corner_cells(metric, lows, highs, is_high) for is_high in (False, True)]
