"""Every metric for all comparisons that it reads, and for all cases together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..confusion import CELLS
from ..errors import check_cost
from ..metrics import Metric, RankingMetric
from ..progress import progress
from ..wording import several
from .comparisons import Comparisons, compare_everybody
from .evaluate_changes import evaluate_changes
from .evaluate_counts import evaluate_counts
from .evaluate_rows import evaluate_classes, evaluate_rows
from .evaluate_strata import evaluate_strata
from .metric_selection import Function, Measurable, select_averages
from .results_table import Evaluation, ResultsTable
from .settings import WITHOUT_LABELS, Settings

_MAX_COMPARISONS = 100_000


def evaluate_metrics(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable], settings: Settings
) -> ResultsTable:
    """The table of all metrics, before p-values are adjusted."""
    parts = [part for part in comparisons if len(part)]
    return ResultsTable.concatenate(
        [evaluation for part in parts for evaluation in _evaluate(part, metrics, settings)]
    )


def _evaluate(
    comparisons: Comparisons, metrics: Sequence[Measurable], settings: Settings
) -> Iterator[Evaluation]:
    """The columns of the metrics that read such comparisons."""
    if comparisons.source == "classes":
        averages = select_averages(metrics) if comparisons.tally.rule is None else []
        columns = evaluate_classes(averages, comparisons, settings)
        yield from (Evaluation(*one, comparisons) for one in zip(averages, columns, strict=True))
        return
    evaluate: Any = evaluate_strata if comparisons.is_pooled else evaluate_counts
    evaluate = {"rows": evaluate_rows, "models": evaluate_changes}.get(comparisons.source, evaluate)
    selected = [metric for metric in metrics if _reads(metric, comparisons)]
    for metric in progress(selected, f"auditing {several(len(comparisons), 'comparison')}"):
        yield Evaluation(metric, evaluate(metric, comparisons, settings), comparisons)


def _reads(metric: Measurable, comparisons: Comparisons) -> bool:
    """Whether a metric reads such comparisons; selection rates count unlabelled cases, too."""
    if not isinstance(metric, Metric) or comparisons.source == "rows":
        return comparisons.source == "rows" and isinstance(metric, RankingMetric | Function)
    if comparisons.is_pooled and (metric.comparisons or metric.base.curve is None):
        return False
    has_selections = comparisons.tally.selections is not None
    of_selections = has_selections and metric.key in WITHOUT_LABELS
    return comparisons.source in ("models", "selections" if of_selections else "counts")


def evaluate_overall(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable], settings: Settings
) -> ResultsTable:
    """The table of all cases at each place, those of unknown group included."""
    everybody = [compare_everybody(part) for part in comparisons if not part.is_pooled]
    table = evaluate_metrics(everybody, metrics, settings)
    tp, fn, fp, tn = (table[cell] for cell in CELLS)
    for key, choose in (("acc", np.maximum), ("inacc", np.minimum)):
        rows = np.flatnonzero((table["metric"] == key) & (tp + fn + fp + tn > 0))
        shares = choose(tp + fn, fp + tn)[rows] / (tp + fn + fp + tn)[rows]
        table.fill(rows, baseline=shares)
    is_of_one_group = [not getattr(block.metric, "comparisons", ()) for block in table.blocks]
    lengths = [len(block.comparisons) for block in table.blocks]
    return table.take(np.repeat(is_of_one_group, lengths).astype(bool))


def check_size(comparisons: Sequence[Comparisons], metrics: Sequence[Measurable]) -> None:
    """Refuse more than can be evaluated in about half a minute before anything is evaluated."""
    number = sum(len(part) for part in comparisons if part.source != "selections")
    subject = f"auditing {several(len(metrics), 'metric')} of {number:,} groups at all places"
    hint = "ask for fewer `metrics`, groups, `classes` or thresholds"
    check_cost(len(metrics) * number, _MAX_COMPARISONS, f"{subject} takes {{}} comparisons", hint)
