"""From a tally to an audit: comparisons, scores, tests, verdicts, and what is worth saying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..confusion import CELLS
from ..data import Tally
from ..errors import check_cost
from ..metrics import Metric, RankingMetric
from ..progress import progress
from ..wording import several
from .comparisons import Comparisons, build_comparisons, compare_everybody
from .evaluate_changes import evaluate_changes, evaluate_gap_changes
from .evaluate_counts import evaluate_counts, group_by_curve
from .evaluate_goals import Goal, evaluate_goals
from .evaluate_rows import evaluate_classes, evaluate_rows
from .evaluate_strata import evaluate_strata
from .findings import find
from .impact_ratios import add_impact_ratios
from .leave_one_out import add_drivers
from .metric_selection import Function, Measurable, select_averages
from .multiplicity import adjust_pvalues
from .provenance import provenance_of, versions
from .result import Audit
from .results_table import Evaluation, ResultsTable
from .settings import WITHOUT_LABELS, Settings
from .unknown_groups import add_unknown_groups
from .variation import add_variation
from .verdict import Verdict
from .verdicts import add_required_n, assign_verdicts, bound_gaps, gap_size

_MAX_COMPARISONS = 100_000


def run_audit(
    tally: Tally,
    metrics: Sequence[Measurable],
    settings: Settings,
    function: str,
    data: Any,
    strata: Sequence[str] = (),
    goals: Sequence[Goal] = (),
) -> Audit:
    """Compare every group of a tally with its reference and assign verdicts.

    ``function`` and ``data`` say what was called, for the provenance.
    """
    comparisons = build_comparisons(tally, settings, strata)
    check_size(comparisons, [*metrics, *(goal.metric for goal in goals)])
    evaluations = list(evaluate_all(comparisons, metrics, settings))
    evaluations += evaluate_goals(comparisons, goals, _reads, settings.confidence_level)
    table = ResultsTable.concatenate(evaluations)
    table = assign_verdicts(adjust_pvalues(table, settings), settings)
    table = bound_gaps(table, settings)
    table = add_required_n(table, settings)
    table = add_drivers(table, settings)
    if settings.favourable is not None:
        table = add_impact_ratios(table, settings)
    if any((grouping.codes < 0).any() for grouping in comparisons[0].groupings):
        table = add_unknown_groups(table, settings)
    table = most_important_first(table)
    overall = evaluate_overall(comparisons, metrics, settings)
    keys = [metric.key for metric in metrics]
    columns = [column for column in tally.columns if column not in strata]
    groupings = [grouping for grouping in comparisons[0].groupings if grouping.columns]
    order = {grouping.name: grouping.groups for grouping in groupings}
    facts = provenance_of(function, data, settings, tally, keys, order)
    asked = {"metrics": keys, "groups": columns, "strata": list(strata)}
    return Audit(
        table=table,
        findings=find(table, overall, tally, comparisons, settings, metrics),
        overall_table=overall,
        n=tally.n,
        left_out=tally.left_out,
        settings=settings.recorded() | asked | {"labelled": tally.labelled},
        provenance=facts
        | {"axes": list_axes(comparisons), "unknown": count_unknown(comparisons[0])},
        versions=versions(),
        library=tally.library,
    )


def check_size(comparisons: Sequence[Comparisons], metrics: Sequence[Measurable]) -> None:
    """Refuse more than can be evaluated in about half a minute before anything is evaluated."""
    number = sum(len(part) for part in comparisons if part.source != "selections")
    subject = f"auditing {several(len(metrics), 'metric')} of {number:,} groups at all places"
    hint = "ask for fewer `metrics`, groups, `classes` or thresholds"
    check_cost(len(metrics) * number, _MAX_COMPARISONS, f"{subject} takes {{}} comparisons", hint)


# Every metric for all comparisons that it reads


def evaluate_all(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable], settings: Settings
) -> Iterator[Evaluation]:
    """The columns of all metrics, before p-values are adjusted."""
    for part in comparisons:
        if len(part):
            yield from _evaluate(part, metrics, settings)


def _evaluate(
    comparisons: Comparisons, metrics: Sequence[Measurable], settings: Settings
) -> Iterator[Evaluation]:
    """The columns of the metrics that read such comparisons."""
    source = comparisons.source
    if source == "classes":
        averages = select_averages(metrics) if comparisons.tally.rule is None else []
        columns = evaluate_classes(averages, comparisons, settings)
        for average, of_average in zip(averages, columns, strict=True):
            yield Evaluation([(average, comparisons)], of_average)
        return
    selected: Any = [(metric, comparisons) for metric in metrics if _reads(metric, comparisons)]
    description = f"auditing {several(len(comparisons), 'comparison')}"
    if comparisons.is_of_cells:
        for same in progress(list(group_by_curve(selected)), description):
            yield Evaluation(same, *evaluate_counts(same, settings))
        return
    by_source: dict[str, Any] = {"rows": evaluate_rows, "models": evaluate_changes}
    by_source["gaps"] = evaluate_gap_changes
    evaluate = by_source.get(source, evaluate_strata)
    for one in progress(selected, description):
        yield Evaluation([one], evaluate(*one, settings))


def _reads(metric: Measurable, comparisons: Comparisons) -> bool:
    """Whether a metric reads such comparisons; selection rates count unlabelled cases, too."""
    if comparisons.source in ("models", "gaps"):
        return True
    if not isinstance(metric, Metric) or comparisons.source == "rows":
        return comparisons.source == "rows" and isinstance(metric, RankingMetric | Function)
    if comparisons.is_pooled and (metric.comparisons or metric.base.curve is None):
        return False
    has_selections = comparisons.tally.selections is not None
    of_selections = has_selections and metric.key in WITHOUT_LABELS
    return comparisons.source == ("selections" if of_selections else "counts")


def evaluate_overall(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable], settings: Settings
) -> ResultsTable:
    """The table of all cases at each place, those of unknown group included, and of columns."""
    of_one_group = [metric for metric in metrics if not getattr(metric, "comparisons", ())]
    parts = [part for part in comparisons if not part.is_pooled and part.source != "gaps"]
    everybody = list(map(compare_everybody, parts))
    table = ResultsTable.concatenate(list(evaluate_all(everybody, of_one_group, settings)))
    tp, fn, fp, tn = (table[cell] for cell in CELLS)
    for key, choose in (("acc", np.maximum), ("inacc", np.minimum)):
        rows = np.flatnonzero((table["metric"] == key) & (tp + fn + fp + tn > 0))
        shares = choose(tp + fn, fp + tn)[rows] / (tp + fn + fp + tn)[rows]
        table.fill(rows, baseline=shares)
    return add_variation(table, comparisons, settings)


# The order of rows, and what is recorded


def most_important_first(table: ResultsTable) -> ResultsTable:
    """The rows by verdict, bound of the gap, p-value, metric, place, column and group."""
    places = list(zip(*(table[axis] for axis in table.axes), strict=True)) or [()] * len(table)
    rank = {place: i for i, place in enumerate(dict.fromkeys(places))}
    # Two groups that are each other's rest have the same gap up to rounding.
    size = np.round(gap_size(table), 9)
    pvalue = np.round(np.nan_to_num(table["p_adjusted"], nan=2.0), 12)
    keys = zip(
        [Verdict(verdict).rank for verdict in table["verdict"]],
        (-size).tolist(),
        pvalue.tolist(),
        table["metric"],
        [rank[place] for place in places],
        table["by"],
        table["group"],
        range(len(table)),
        strict=True,
    )
    return table.take(np.array([key[-1] for key in sorted(keys)], dtype=np.int64))


def list_axes(comparisons: Sequence[Comparisons]) -> dict[str, list[Any]]:
    """The axes and their values, in order."""
    axes: dict[str, dict[Any, None]] = {}
    for part in (*comparisons, *map(compare_everybody, comparisons)):
        for axis, values in part.axes.items():
            axes.setdefault(axis, {}).update(dict.fromkeys(values))
    return {axis: list(values) for axis, values in axes.items()}


def count_unknown(comparisons: Comparisons) -> dict[str, int]:
    """How many cases have no known group, by column or intersection."""
    sizes = comparisons.sizes_of_keys
    counts = {by.name: int(sizes[by.codes < 0].sum()) for by in comparisons.groupings}
    return {name: n for name, n in counts.items() if n}
