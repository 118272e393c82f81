"""From a tally to an audit: comparisons, scores, tests, verdicts, and what is worth saying."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..data import Tally
from .comparisons import Comparisons, build_comparisons
from .evaluate import check_size, evaluate_metrics
from .findings import find
from .impact_ratios import add_impact_ratios
from .leave_one_out import add_drivers
from .metric_selection import Measurable
from .multiplicity import adjust_pvalues
from .overall import evaluate_overall
from .provenance import provenance_of, versions
from .result import Audit
from .results_table import ResultsTable
from .settings import Settings
from .unknown_groups import add_unknown_groups
from .verdict import Verdict
from .verdicts import add_required_n, assign_verdicts, bound_gaps, gap_size


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
    evaluate = partial(evaluate_metrics, metrics=metrics, settings=settings)
    table, families = adjust_pvalues(evaluate(comparisons), settings)
    table = assign_verdicts(table, settings)
    table = bound_gaps(table, settings)
    table = add_required_n(table, families, settings)
    table = add_drivers(table, families, settings)
    table = add_impact_ratios(table, settings)
    table = add_unknown_groups(table, settings)
    table = most_important_first(table)
    keys = [metric.key for metric in metrics]
    columns = [column for column in tally.columns if column not in strata]
    order = {grouping.name: grouping.groups for grouping in comparisons[0].groupings}
    facts = provenance_of(function, data, settings, tally, keys, order)
    return Audit(
        table=table,
        findings=find(table, tally, comparisons, settings, metrics),
        overall_table=evaluate_overall(comparisons, evaluate),
        n=tally.n,
        left_out=tally.left_out,
        settings=settings.recorded()
        | {"metrics": keys, "groups": columns, "strata": list(strata), "labelled": tally.labelled},
        provenance=facts | {"axes": list_axes(comparisons), "unknown": count_unknown(comparisons[0])},
        versions=versions(),
        library=tally.library,
    )


def most_important_first(table: ResultsTable) -> ResultsTable:
    """The rows in order of verdict, bound of the gap, p-value, metric, place, column and group."""
    places = [tuple(table[axis][row] for axis in table.axes) for row in range(len(table))]
    rank = {place: i for i, place in enumerate(dict.fromkeys(places))}
    # Two groups that are each other's rest have the same gap up to rounding.
    size, p = np.round(gap_size(table), 9), np.round(np.nan_to_num(table["p_adjusted"], nan=2.0), 12)
    order = sorted(
        range(len(table)),
        key=lambda row: (
            Verdict(str(table["verdict"][row])).rank,
            -size[row],
            p[row],
            table["metric"][row],
            rank[places[row]],
            table["by"][row],
            table["group"][row],
        ),
    )
    return table.take(np.array(order, dtype=np.int64))


def list_axes(comparisons: Sequence[Comparisons]) -> dict[str, list[Any]]:
    """The axes and their values, in order."""
    axes: dict[str, dict[Any, None]] = {}
    for part in comparisons:
        for row in range(len(part)):
            for axis, value in part.axis_values(row).items():
                axes.setdefault(axis, {})[value] = None
    return {axis: list(values) for axis, values in axes.items()}


def count_unknown(comparisons: Comparisons) -> dict[str, int]:
    """How many cases have no known group, by column or intersection."""
    numbers = comparisons.sizes_of_keys
    counts = {one.name: int(numbers[one.codes < 0].sum()) for one in comparisons.groupings}
    return {name: n for name, n in counts.items() if n}
