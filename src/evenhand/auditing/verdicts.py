"""What follows from tests and intervals: verdicts, bounds of gaps, and how many cases are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..metrics import Metric
from ..planning import required_n
from .multiplicity import Families
from .results_table import Block, ResultsTable
from .settings import Settings
from .verdict import Verdict

# Ratios are equivalent if they are between 4/5 and 5/4.
RATIO_MARGIN = 1.25
_MAX_LOG = 690.0


def assign_verdicts(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with verdicts, from adjusted p-values and intervals of gaps.

    With ``family="audit"``, intervals that must lie within the margin are simultaneous, too.
    """
    verdict = choose_verdicts(table, table["p_adjusted"], settings)
    for block in table.blocks:
        rows = np.arange(block.rows.start, block.rows.stop)
        verdict[rows[block.comparisons.is_chosen & (table["reason"][rows] == None)]] = Verdict.NOT_TESTED.value  # noqa: E711
        verdict[rows[block.comparisons.is_reference]] = Verdict.REFERENCE.value
    mark_equivalent(table, verdict, settings, simultaneous_level(table, settings))
    return table.with_columns(verdict=verdict)


def choose_verdicts(table: ResultsTable, p_adjusted: Floats, settings: Settings) -> Any:
    """The verdicts from adjusted p-values alone."""
    verdict = np.full(len(table), Verdict.UNDEFINED.value, dtype=object)
    is_tested = ~np.isnan(p_adjusted)
    verdict[is_tested] = Verdict.INCONCLUSIVE.value
    is_rejected = is_tested & (p_adjusted <= settings.alpha)
    is_higher = table["direction"] == "higher"
    verdict[is_rejected & is_higher] = Verdict.HIGHER.value
    verdict[is_rejected & ~is_higher] = Verdict.LOWER.value
    verdict[is_rejected & (table["question"] == "same distribution")] = Verdict.UNLIKE.value
    return verdict


def mark_equivalent(table: ResultsTable, verdict: Any, settings: Settings, simultaneous: float) -> None:
    """Mark inconclusive rows as equivalent if the whole interval of the gap lies within the margin."""
    is_open = verdict == Verdict.INCONCLUSIVE
    is_within = is_open & within_margin(table, table["gap_low"], table["gap_high"], settings)
    level = settings.confidence_level
    if settings.family == "audit":
        level = 1 - (1 - level) / settings.alpha * (1 - simultaneous)
    # Melded intervals, from which bounds are, are the wider ones.
    low, high = bound_rows(table, is_within, level)
    verdict[is_within & within_margin(table, low, high, settings)] = Verdict.EQUIVALENT.value


def within_margin(table: ResultsTable, low: Floats, high: Floats, settings: Settings) -> Bools:
    """Whether whole intervals of gaps lie within the margin."""
    scale = np.ones(len(table))
    for block in table.blocks:
        scale[block.rows] = margin_scale(block.metric)
    margin = settings.margin * scale
    is_ratio = table.is_ratio
    lowest = np.where(is_ratio, 1 / RATIO_MARGIN, -margin)
    highest = np.where(is_ratio, RATIO_MARGIN, margin)
    return (low >= lowest) & (high <= highest)


def margin_scale(metric: Any) -> float:
    """How large the margin of a metric is, relative to that of a rate."""
    return float(getattr(metric, "margin_scale", 1.0))


# Bounds


def count_claims(table: ResultsTable, settings: Settings) -> int:
    """The number of gaps and impact ratios of which something could be claimed, whatever the outcomes are."""
    claims = 0
    for block in table.blocks:
        comparisons = block.comparisons
        claims += len(np.unique(comparisons.mirror[~comparisons.is_reference]))
        if block.metric.key == "ppr" and settings.favourable is not None:
            claims += len(comparisons) if comparisons.source in ("counts", "selections") else 0
    return claims


def simultaneous_level(table: ResultsTable, settings: Settings) -> float:
    """The confidence level at which bounds of all gaps of an audit hold together (Bonferroni)."""
    return 1 - settings.alpha / max(1, count_claims(table, settings))


def bound_rows(table: ResultsTable, is_selected: Bools, level: float) -> tuple[Floats, Floats]:
    """The intervals of some gaps at another level; nan for others."""
    low, high = np.full((2, len(table)), np.nan)
    for block in table.blocks:
        rows = np.flatnonzero(is_selected[block.rows])
        if len(rows):
            low[block.rows.start + rows], high[block.rows.start + rows] = block.bound_gaps(rows, level)
    return low, high


def bound_gaps(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with bounds of the sizes of gaps that were found, which hold for the whole audit."""
    verdicts = table["verdict"]
    is_higher, is_found = verdicts == Verdict.HIGHER, (verdicts == Verdict.HIGHER) | (verdicts == Verdict.LOWER)
    low, high = bound_rows(table, is_found, simultaneous_level(table, settings))
    is_ratio = table.is_ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.where(is_ratio, np.log(np.maximum(end, 0.0)), end) for end in (low, high))
    nearest = np.where(is_higher, low, -high)
    farthest = np.maximum(np.abs(low), np.abs(high))
    at_least, at_most = (np.where(is_ratio, np.exp(np.minimum(size, _MAX_LOG)), size) for size in (nearest, farthest))
    return table.with_columns(
        at_least=np.where(nearest > 0, at_least, np.nan),
        at_most=np.where(np.isfinite(farthest), at_most, np.nan),
    )


def gap_size(table: ResultsTable) -> Floats:
    """How far gaps are from none at least, on a scale of differences or logarithms; 0 without a bound."""
    with np.errstate(invalid="ignore"):
        size = np.where(table.is_ratio, np.log(table["at_least"]), table["at_least"])
    return np.nan_to_num(size)


# Required cases


def add_required_n(table: ResultsTable, families: Families, settings: Settings) -> ResultsTable:
    """The table with the support that a gap of the margin needs, for inconclusive rows."""
    required = np.full(len(table), np.nan)
    levels = families.levels(table["pvalue"], settings)
    for block in table.blocks:
        rows = _rows_to_plan(table, block)
        if len(rows):
            required[block.rows.start + rows] = _required(block, rows, levels[block.rows][rows], settings)
    return table.with_columns(required_n=required)


def _rows_to_plan(table: ResultsTable, block: Block) -> Integers:
    """Inconclusive comparisons of exact counts."""
    comparisons, metric = block.comparisons, block.metric
    is_of_counts = comparisons.source in ("counts", "selections") and not comparisons.is_pooled
    if not isinstance(metric, Metric) or metric.is_distance or not is_of_counts or comparisons.tally.rule is not None:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(table["verdict"][block.rows] == Verdict.INCONCLUSIVE)


def _required(block: Block, rows: Integers, levels: Floats, settings: Settings) -> Floats:
    from .evaluate_counts import effective_cells

    metric, base = block.metric, block.metric.base
    sides, _ = effective_cells(base, block.comparisons)
    group, _ = block.comparisons.cells
    is_ratio = metric.kind == "ratio"
    gap = RATIO_MARGIN if is_ratio else settings.margin
    # Planning takes whole counts.
    sizes = required_n(base, np.round(sides.reference[rows]), levels, gap, is_ratio=is_ratio)
    # An effective case stands for several.
    worth = group[rows].sum(axis=1) / np.maximum(sides.group[rows].sum(axis=1), 1e-300)
    return np.asarray(np.ceil(sizes * worth - 1e-9))
