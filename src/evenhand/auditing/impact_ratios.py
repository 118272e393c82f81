"""Impact ratios: rates of favourable predictions divided by the highest of them.

The data chose the highest of several rates. Intervals therefore hold for all groups at once that
could have been chosen (Bonferroni).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, choose
from ..inference import melded_gaps
from .comparisons import Comparisons, Reference, favourable_metric, favourable_rates
from .evaluate_counts import corner_cells, effective_cells
from .results_table import ResultsTable, finite_or_nan
from .settings import ReferenceKind, Settings
from .verdicts import simultaneous_level


def add_impact_ratios(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with impact ratios in rows of predicted positive rates."""
    if settings.favourable is None:
        return table
    level = simultaneous_level(table, settings)
    for block in table.blocks:
        comparisons = block.comparisons
        if block.metric.key == "ppr" and comparisons.is_of_cells:
            for rows, cells in comparisons.columns(comparisons.counts.cells):
                rates = favourable_rates(cells[comparisons.group[rows]], settings)
                if np.nanmax(rates, initial=0.0) > 0:
                    columns = impact_columns(comparisons.take(rows), rates, settings, level)
                    table.fill(block.rows.start + rows, **columns)
    return table


def impact_columns(comparisons: Comparisons, rates: Floats, settings: Settings, level: float) -> dict[str, Any]:
    """The impact ratios of a column, whose groups have these rates, or nan if they are small."""
    metric, best = favourable_metric(settings), int(np.nanargmax(rates))
    name = comparisons.group_names(comparisons.group)[best]
    highest = Reference(ReferenceKind.GROUP, name, int(comparisons.group[best]))
    index = comparisons.group * 0
    comparisons = comparisons.take(..., references=(highest,), reference_index=index)
    sides = [effective_cells(metric, comparisons)[0]] * 2
    if comparisons.tally.rule is not None:
        low, high = map(comparisons.split, (comparisons.counts.low, comparisons.counts.high))
        sides = [corner_cells(metric, low, high, is_high) for is_high in (False, True)]
    has_cases = comparisons.cells[0].sum(axis=1) > 0
    ratios = metric.scores(comparisons.cells[0]) / rates[best]
    is_eligible = ~np.isnan(rates)
    choices = np.maximum(1, is_eligible.sum() - is_eligible)
    ends = np.full((3, len(rates)), np.nan)
    for number in np.unique(choices):
        rows = (choices == number) & has_cases & ~comparisons.is_reference
        least, most = (melded_gaps(metric, *side.take(rows)[:2], "ratio") for side in sides)
        each, bound = (1 - (1 - one) / number for one in (settings.confidence_level, level))
        ends[0, rows] = least.interval(each, ratios[rows])[0]
        ends[1, rows] = most.interval(each, ratios[rows])[1]
        ends[2, rows] = most.interval(bound, ratios[rows])[1]
    names = ("impact_low", "impact_high", "impact_at_most")
    return dict(zip(names, finite_or_nan(ends), strict=True)) | {
        "impact_ratio": ratios,
        "impact_group": choose(has_cases, name, None),
        "impact_n": np.where(has_cases, comparisons.sizes[0][best], np.nan),
    }
