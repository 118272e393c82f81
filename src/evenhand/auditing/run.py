"""From a tally to an audit: comparisons, scores, tests, verdicts, and what is worth saying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data import Tally
from .comparisons import Comparisons, build_comparisons
from .evaluate import check_size, evaluate_metrics, evaluate_overall
from .findings import find
from .impact_ratios import add_impact_ratios
from .leave_one_out import add_drivers
from .metric_selection import Measurable
from .multiplicity import adjust_pvalues
from .provenance import provenance_of, versions
from .result import Audit
from .results_table import ResultsTable
from .settings import Settings
from .unknown_groups import add_unknown_groups
from .verdict import Verdict
from .verdicts import add_required_n, assign_verdicts, bound_gaps, gap_size

# Each takes the table and the settings, and returns the table with more columns.
_STEPS = (
    adjust_pvalues,
    assign_verdicts,
    bound_gaps,
    add_required_n,
    add_drivers,
    add_impact_ratios,
    add_unknown_groups,
)


def run_audit(
    tally: Tally,
    metrics: Sequence[Measurable],
    settings: Settings,
    function: str,
    data: Any,
    strata: Sequence[str] = (),
) -> Audit:
    """Compare every group of a tally with its reference and assign verdicts.

    ``function`` and ``data`` say what was called, for the provenance.
    """
    comparisons = build_comparisons(tally, settings, strata)
    check_size(comparisons, metrics)
    table = evaluate_metrics(comparisons, metrics, settings)
    for step in _STEPS:
        table = step(table, settings)
    table = most_important_first(table)
    keys = [metric.key for metric in metrics]
    columns = [column for column in tally.columns if column not in strata]
    groupings = comparisons[0].groupings
    order = {grouping.name: grouping.groups for grouping in groupings}
    facts = provenance_of(function, data, settings, tally, keys, order)
    asked = {"metrics": keys, "groups": columns, "strata": list(strata)}
    return Audit(
        table=table,
        findings=find(table, tally, comparisons, settings, metrics),
        overall_table=evaluate_overall(comparisons, metrics, settings),
        n=tally.n,
        left_out=tally.left_out,
        settings=settings.recorded() | asked | {"labelled": tally.labelled},
        provenance=facts
        | {"axes": list_axes(comparisons), "unknown": count_unknown(comparisons[0])},
        versions=versions(),
        library=tally.library,
    )


def most_important_first(table: ResultsTable) -> ResultsTable:
    """The rows by verdict, bound of the gap, p-value, metric, place, column and group."""
    places = list(zip(*(table[axis] for axis in table.axes), strict=True)) or [()] * len(table)
    rank = {place: i for i, place in enumerate(dict.fromkeys(places))}
    # Two groups that are each other's rest have the same gap up to rounding.
    size = np.round(gap_size(table), 9)
    pvalue = np.round(np.nan_to_num(table["p_adjusted"], nan=2.0), 12)
    keys = list(
        zip(
            [Verdict(verdict).rank for verdict in table["verdict"]],
            (-size).tolist(),
            pvalue.tolist(),
            table["metric"],
            [rank[place] for place in places],
            table["by"],
            table["group"],
            strict=True,
        )
    )
    return table.take(np.array(sorted(range(len(table)), key=keys.__getitem__), dtype=np.int64))


def list_axes(comparisons: Sequence[Comparisons]) -> dict[str, list[Any]]:
    """The axes and their values, in order."""
    axes: dict[str, dict[Any, None]] = {}
    for part in comparisons:
        for axis, values in part.axes.items():
            axes.setdefault(axis, {}).update(dict.fromkeys(values))
    return {axis: list(values) for axis, values in axes.items()}


def count_unknown(comparisons: Comparisons) -> dict[str, int]:
    """How many cases have no known group, by column or intersection."""
    sizes = comparisons.sizes_of_keys
    counts = {by.name: int(sizes[by.codes < 0].sum()) for by in comparisons.groupings}
    return {name: n for name, n in counts.items() if n}
