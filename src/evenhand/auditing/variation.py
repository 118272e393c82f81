"""Whether scores vary between the groups of a column at all, and by how much.

Each metric of one rate has a row of the overall table for each column of at least three groups with
cases. P-values are adjusted over the metrics and columns of a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import Integers
from ..inference import count_successes, equal_rates_pvalue, spread_interval
from ..metrics import Metric
from ..randomness import generator
from .comparisons import Comparisons
from .multiplicity import adjust_holm
from .results_table import ResultsTable
from .settings import Settings

_FEWEST_GROUPS = 3
# Permutations per test: so many for each test of a place, and more if all draw few counts.
_DRAWS_PER_TEST, _MIN_DRAWS, _MAX_DRAWS, _MAX_COUNTS = 40, 199, 2_999, 2**22


def add_variation(
    overall: ResultsTable, comparisons: Sequence[Comparisons], settings: Settings
) -> ResultsTable:
    """The overall table, with rows about the groups of each column below those of all cases.

    Tests are those of counts of independent cases: not of weights, clusters, rounded counts, strata
    or changes of models.
    """
    tests = list(_list_tests(overall, comparisons))
    if not tests:
        return overall.take(...)
    counts: Sequence[tuple[Integers, Integers]]
    rows, is_rate, names, place, counts = zip(*tests, strict=True)
    least = max(_MIN_DRAWS, _DRAWS_PER_TEST * np.bincount(place).max())
    most = _MAX_COUNTS // sum(n.size for _, n in counts)
    draws = int(min(max(least, most), _MAX_DRAWS))
    # The same generator, so that TPR and FNR have the same p-value.
    pvalue = np.array([equal_rates_pvalue(x, n, generator(settings.rng), draws) for x, n in counts])
    adjusted = pvalue.copy()
    for of_place in (np.equal(place, i) for i in set(place)):
        adjusted[of_place] = adjust_holm(pvalue[of_place])
    spreads = np.array([spread_interval(x, n, settings.confidence_level) for x, n in counts])
    # Scores such as F1 are no rates, and vary differently.
    low, high = np.where(is_rate, spreads.T, np.nan)
    table = overall.take(np.append(np.arange(len(overall)), rows))
    columns = {"varies_groups": [n.size for _, n in counts], "spread_low": low, "spread_high": high}
    columns |= {"by": names, "varies_pvalue": pvalue, "varies_adjusted": adjusted}
    table.fill(slice(len(overall), None), **columns)
    return table


def _list_tests(overall: ResultsTable, comparisons: Sequence[Comparisons]) -> Iterator[Any]:
    """The overall row, whether the score is a rate, the column, the place and counts of each test."""
    parts = {part.source: part for part in comparisons if part.is_of_cells and not part.strata}
    for metric, everybody, of_metric in overall.blocks:
        part, tally = parts.get(everybody.source, everybody), everybody.tally
        is_plain = not tally.weighted and tally.clusters is None and tally.rule is None
        is_tested = isinstance(metric, Metric) and metric.base.curve is not None
        if not (everybody.source in parts and is_plain and is_tested):
            continue
        for rows, cells in part.columns(part.counts.cells):
            x, n = np.array(count_successes(metric.base, cells[part.group[rows]]), dtype=np.int64)
            place, name = part.place[rows[0]], part.groupings[part.grouping[rows[0]]].name
            if np.count_nonzero(n) >= _FEWEST_GROUPS:
                row, counts = of_metric.start + place, (x[n > 0], n[n > 0])
                yield row, metric.base.is_rate, name, place, counts
