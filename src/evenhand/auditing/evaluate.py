"""Every metric for all comparisons that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import check_cost
from ..metrics import Metric, RankingMetric
from ..progress import progress
from ..wording import several
from .comparisons import Comparisons
from .evaluate_changes import evaluate_changes
from .evaluate_classes import evaluate_classes
from .evaluate_counts import evaluate_counts
from .evaluate_rows import evaluate_rows
from .evaluate_strata import evaluate_strata
from .metric_selection import Function, Measurable, select_averages
from .results_table import ResultsTable
from .settings import WITHOUT_LABELS, Settings

_MAX_COMPARISONS = 100_000


def evaluate_metrics(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable], settings: Settings
) -> ResultsTable:
    """The table of all metrics, before p-values are adjusted."""
    parts = [part for one in comparisons if len(one) for part in _evaluate(one, metrics, settings)]
    return ResultsTable.concatenate(parts)


def _evaluate(
    comparisons: Comparisons, metrics: Sequence[Measurable], settings: Settings
) -> Iterator[tuple[Any, Comparisons, dict[str, Any]]]:
    """Metric, comparisons and columns of the metrics that read such comparisons."""
    source = comparisons.source
    if source == "classes":
        averages = select_averages(metrics) if comparisons.tally.rule is None else []
        found = evaluate_classes(averages, comparisons, settings) if averages else []
        yield from ((average, comparisons, columns) for average, columns in zip(averages, found, strict=True))
    elif source == "rows":
        for metric in metrics:
            if isinstance(metric, RankingMetric | Function):
                yield metric, comparisons, evaluate_rows(metric, comparisons, settings)
    else:
        selected = [metric for metric in metrics if isinstance(metric, Metric) and _reads(metric, comparisons)]
        for metric in progress(selected, f"auditing {several(len(comparisons), 'comparison')}"):
            if source == "models":
                yield metric, comparisons, evaluate_changes(metric, comparisons, settings)
            elif comparisons.is_pooled:
                yield metric, comparisons, evaluate_strata(metric, comparisons, settings)
            else:
                yield metric, comparisons, evaluate_counts(metric, comparisons, settings)


def _reads(metric: Metric, comparisons: Comparisons) -> bool:
    """Whether a metric reads such comparisons; selection rates count cases without a label, too."""
    if comparisons.is_pooled and (metric.comparisons or metric.base.curve is None):
        return False
    has_selections = comparisons.tally.selections is not None
    of_selections = has_selections and metric.key in WITHOUT_LABELS
    return comparisons.source == "models" or of_selections == (comparisons.source == "selections")


def check_size(comparisons: Sequence[Comparisons], metrics: Sequence[Measurable]) -> None:
    """Refuse more than can be evaluated in about half a minute before anything is evaluated."""
    number = sum(len(one) for one in comparisons if one.source != "selections")
    check_cost(
        len(metrics) * number,
        _MAX_COMPARISONS,
        f"auditing {several(len(metrics), 'metric')} of {number:,} groups at all places takes {{}} comparisons",
        "ask for fewer `metrics`, groups, `classes` or thresholds",
    )
