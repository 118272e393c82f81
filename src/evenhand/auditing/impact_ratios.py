"""Impact ratios: rates of favourable predictions divided by the highest of them.

The data chose the highest of several rates. Intervals therefore hold for all groups at once that
could have been chosen (Bonferroni).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, choose
from ..metrics import metric as find_metric
from .comparisons import Comparisons, favourable_metric, favourable_rates
from .evaluate_counts import ComparedCounts
from .results_table import ResultsTable
from .settings import Settings
from .verdicts import simultaneous_level


def add_impact_ratios(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with impact ratios in rows of predicted positive rates."""
    for block in table.blocks if settings.favourable is not None else ():
        comparisons = block.comparisons
        if block.metric.key == "ppr" and comparisons.is_of_cells:
            level = simultaneous_level(table, settings)
            for rows, cells in comparisons.columns(comparisons.counts.cells):
                rates = favourable_rates(cells[comparisons.group[rows]], settings)
                if np.nanmax(rates, initial=0.0) > 0:
                    columns = impact_columns(comparisons.take(rows), rates, settings, level)
                    table.fill(block.rows.start + rows, **columns)
    return table


def impact_columns(
    comparisons: Comparisons, rates: Floats, settings: Settings, level: float
) -> dict[str, Any]:
    """The impact ratios of a column, whose groups have these rates, or nan if they are small."""
    metric, best = favourable_metric(settings), int(np.nanargmax(rates))
    name = comparisons.name_groups(comparisons.group)[best]
    highest = comparisons.group * 0 + comparisons.group[best]
    comparisons = comparisons.take(..., reference=highest, given_cells=comparisons.given_cells * 0)
    scored = [(find_metric(f"{metric.key}_ratio"), comparisons)]
    counts, _ = ComparedCounts.of(scored, settings)
    has_cases = comparisons.sizes[0] > 0
    ratios = metric.scores(comparisons.cells[0]) / rates[best]
    is_eligible = ~np.isnan(rates)
    choices = np.maximum(1, is_eligible.sum() - is_eligible)
    low, high, at_most = np.full((3, len(rates)), np.nan)
    for number in np.unique(choices):
        rows = np.flatnonzero((choices == number) & has_cases & ~comparisons.is_reference)
        each, bound = (1 - (1 - one) / number for one in (settings.confidence_level, level))
        low[rows], high[rows] = counts.gap_intervals(rows, each, ratios[rows])
        _, at_most[rows] = counts.gap_intervals(rows, bound, ratios[rows])
    return {
        **{"impact_ratio": ratios, "impact_low": low, "impact_high": high},
        **{"impact_at_most": at_most, "impact_group": choose(has_cases, name, None)},
        "impact_n": np.where(has_cases, comparisons.sizes[0][best], np.nan),
    }
