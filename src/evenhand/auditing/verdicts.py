"""What follows from tests and intervals: verdicts, bounds of gaps, and how many cases are needed."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Floats, choose, is_none
from ..inference import ROUNDING
from ..planning import required_n
from .evaluate_goals import AT_LEAST
from .metric_selection import lookup_metric
from .results_table import ResultsTable, Row
from .settings import DEFAULT_MARGIN, Settings
from .verdict import Verdict

# Ratios are equivalent if they are between 4/5 and 5/4.
RATIO_MARGIN = 1.25
_MAX_LOG = 690.0


def assign_verdicts(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with verdicts, from adjusted p-values and intervals of gaps."""
    verdict = choose_verdicts(table, table["p_adjusted"], settings)
    for block in table.blocks:
        is_defined = is_none(table["reason"][block.rows])
        verdict[block.rows][block.comparisons.is_chosen & is_defined] = Verdict.NOT_TESTED.value
        if block.comparisons.tally.clusters is not None:
            is_untested = np.isfinite(table["gap"] + table["score"]) & np.isnan(table["pvalue"])
            verdict[block.rows][is_untested[block.rows]] = Verdict.NOT_TESTED.value
        verdict[block.rows][block.comparisons.is_reference] = Verdict.REFERENCE.value
    is_change = table["question"] == "change"
    verdict[is_change & (verdict == gain_directions(table))] = Verdict.BETTER.value
    verdict[is_change & (verdict == gain_directions(table, -1))] = Verdict.WORSE.value
    mark_equivalent(table, verdict, settings, simultaneous_level(table, settings))
    mark_goals(table, verdict)
    table.fill(slice(None), verdict=verdict)
    return table


def choose_verdicts(table: ResultsTable, p_adjusted: Floats, settings: Settings) -> Array:
    """The verdicts from adjusted p-values alone."""
    verdict = np.full(len(table), Verdict.INCONCLUSIVE.value, dtype=object)
    is_rejected, is_higher = p_adjusted <= settings.alpha, table["direction"] == "higher"
    verdict[np.isnan(p_adjusted)] = Verdict.UNDEFINED.value
    verdict[is_rejected & is_higher] = Verdict.HIGHER.value
    verdict[is_rejected & ~is_higher] = Verdict.LOWER.value
    verdict[is_rejected & (table["question"] == "same distribution")] = Verdict.UNLIKE.value
    return verdict


def gain_directions(table: ResultsTable, sign: int = 1) -> Array:
    """The direction that is good, or with -1 the bad one; None where neither is."""
    direction = np.full(len(table), None, dtype=object)
    names = ("higher", "lower")
    for block in table.blocks:
        if (better := getattr(block.metric, "better", None)) in names:
            direction[block.rows] = names[(better == "lower") ^ (sign < 0)]
    return direction


def mark_equivalent(
    table: ResultsTable, verdict: Array, settings: Settings, simultaneous: float
) -> None:
    """Mark inconclusive rows as equivalent if the whole interval of the gap lies within the margin.

    Changes whose interval excludes one for the worse beyond the margin are marked as not worse.
    With ``family="audit"``, these intervals are simultaneous, too.
    """
    margins = list_margins(table, settings), table.is_ratio
    is_open = verdict == Verdict.INCONCLUSIVE
    is_within = is_open & is_within_margin(*margins, table["gap_low"], table["gap_high"])
    level = settings.confidence_level
    if settings.family == "audit":
        level = 1 - (1 - level) / settings.alpha * (1 - simultaneous)
    # Melded intervals, from which bounds are, are the wider ones.
    ends = bound_rows(table, is_within, level)
    is_within &= is_within_margin(*margins, *ends)
    table.fill(slice(None), margin=margins[0])
    verdict[is_within] = Verdict.EQUIVALENT.value
    is_open &= (table["question"] == "change") & ~is_within
    low, high = bound_rows(table, is_open, level)
    # The half of the interval on the good side may be as long as it will.
    good = gain_directions(table)
    high, low = np.where(good == "higher", 0.0, high), np.where(good == "lower", 0.0, low)
    is_open &= (good != np.array(None)) & is_within_margin(*margins, low, high)
    verdict[is_open] = Verdict.NOT_WORSE.value


def mark_goals(table: ResultsTable, verdict: Array) -> None:
    """Say of scores that are higher or lower than their goals whether they meet these."""
    is_found = table.is_goal & np.isin(verdict, [Verdict.HIGHER, Verdict.LOWER])
    is_least = [str(reference).startswith(AT_LEAST) for reference in table["reference"]]
    is_met = (verdict == Verdict.HIGHER) == is_least
    verdict[is_found] = choose(is_met, Verdict.MEETS.value, Verdict.MISSES.value)[is_found]


def is_within_margin(margin: Floats, is_ratio: Bools, low: Floats, high: Floats) -> Bools:
    """Whether whole intervals of gaps lie within the margin."""
    lowest = np.where(is_ratio, 1 / np.maximum(margin, 1e-300), -margin)
    return np.asarray((low >= lowest) & (high <= margin))


# Margins


def list_margins(table: ResultsTable, settings: Settings) -> Floats:
    """The margins of all rows: gaps or, for ratios, factors that do not matter."""
    margin = np.empty(len(table))
    for block in table.blocks:
        margin[block.rows] = settings.planned_gap * margin_scale(block.metric)
    for part in table.evaluations if settings.margin is None else ():
        if part.counts is not None:
            margin[part.rows] = np.fmin(margin[part.rows], part.counts.reference_margins())
    return np.where(table.is_ratio, RATIO_MARGIN, margin)


def margin_scale(metric: Any) -> float:
    """How large the margin of a metric is, relative to that of a rate."""
    return float(getattr(metric, "margin_scale", 1.0))


def margin_of(row: Row) -> float:
    """The gap that does not matter, on the scale of `Row.smallest_gap`."""
    return float(log(row.margin) if row.is_ratio else row.margin)


def margins_text(rows: Iterable[Row], margin: float | None) -> str:
    """The gaps that do not matter, in words, of the scores in these rows."""
    kinds = {(row.is_ratio, row.metric) for row in rows}
    largest = DEFAULT_MARGIN if margin is None else margin
    scales = {key: margin_scale(lookup_metric(key)) for _, key in sorted(kinds)}
    apart = ["less for rates near 0 or 1"] if margin is None else []
    apart += [f"{key}: ±{largest * scale:g}" for key, scale in scales.items() if scale != 1]
    apart += ["ratios: 0.8 to 1.25"] if any(is_ratio for is_ratio, _ in kinds) else []
    return f"±{largest:g}" + (f" ({'; '.join(apart)})" if apart else "")


# Bounds


def count_claims(table: ResultsTable) -> int:
    """The number of gaps of which something could be claimed, whatever the outcomes are."""
    blocks = [block.comparisons for block in table.blocks if block.comparisons.source != "goals"]
    return max(1, sum(len(np.unique(part.mirror[~part.is_reference])) for part in blocks))


def simultaneous_level(table: ResultsTable, settings: Settings) -> float:
    """The level at which bounds of all gaps and impact ratios hold together (Bonferroni)."""
    ratios = sum(
        len(part.comparisons)
        for part in table.blocks
        if part.metric.key == "ppr" and part.comparisons.source in ("counts", "selections")
    )
    return 1 - settings.alpha / (count_claims(table) + ratios * (settings.favourable is not None))


def select_claims(table: ResultsTable, is_found: Bools, settings: Settings) -> tuple[Bools, float]:
    """The gaps whose sizes are claimed, and the level of their intervals.

    Of m gaps that could be found, the sizes of r are claimed: r is the largest number such that r
    of those that were found have p <= alpha r / m. On average, at most a share alpha of their
    intervals at the level 1 - alpha r / m is wrong (Benjamini and Yekutieli 2005).
    """
    assert table.families is not None
    twin, pvalue, m = table.families.twin, table["pvalue"].copy(), count_claims(table)
    found = np.flatnonzero(is_found)
    # Twins are one claim, and can have different p-values.
    np.maximum.at(pvalue, twin[found], pvalue[found])
    ascending = np.sort(pvalue[np.unique(twin[found])])
    limits = settings.alpha / m * ROUNDING * np.arange(1, len(ascending) + 1)
    r = np.flatnonzero(ascending <= limits).max(initial=-1) + 1
    is_claimed = is_found & (pvalue[twin] <= settings.alpha / m * ROUNDING * r)
    return is_claimed, 1 - settings.alpha * r / m


def bound_rows(table: ResultsTable, is_selected: Bools, level: float) -> tuple[Floats, Floats]:
    """The intervals of some gaps at another level; nan for others."""
    low, high = np.full((2, len(table)), np.nan)
    for part in table.evaluations:
        rows, bound_gaps = np.flatnonzero(is_selected[part.rows]), part.columns.get("bound_gaps")
        if len(rows) and bound_gaps:
            low[part.rows][rows], high[part.rows][rows] = bound_gaps(rows, level)
    return low, high


def bound_gaps(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with bounds of the sizes of gaps that were found."""
    is_found = table.differs & ~table.is_goal & (table["verdict"] != Verdict.UNLIKE)
    level = simultaneous_level(table, settings)
    at_least, at_most = bound_sizes(table, is_found, level)
    table.fill(slice(None), simultaneous_bound=at_least)
    if settings.bounds == "fcr":
        at_least, at_most = bound_sizes(table, *select_claims(table, is_found, settings))
    table.fill(slice(None), at_least=at_least, at_most=at_most)
    return table


def bound_sizes(table: ResultsTable, is_selected: Bools, level: float) -> tuple[Floats, Floats]:
    """The least and the largest sizes of some gaps, from intervals at a level; nan for others."""
    is_higher, is_ratio = table["direction"] == "higher", table.is_ratio
    ends = bound_rows(table, is_selected, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.where(is_ratio, np.log(np.maximum(end, 0.0)), end) for end in ends)
    sizes = np.stack([np.where(is_higher, low, -high), np.maximum(np.abs(low), np.abs(high))])
    sizes[0][~(sizes[0] > 0)] = np.nan
    sizes[~np.isfinite(sizes)] = np.nan
    at_least, at_most = np.where(is_ratio, np.exp(np.minimum(sizes, _MAX_LOG)), sizes)
    return at_least, at_most


def gap_size(table: ResultsTable) -> Floats:
    """The least distances of gaps from none, of ratios in logarithms; 0 without a bound."""
    with np.errstate(invalid="ignore"):
        size = np.where(table.is_ratio, np.log(table["at_least"]), table["at_least"])
    return np.nan_to_num(size)


# Required cases


def add_required_n(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with the support that a gap of the margin needs, for inconclusive rows."""
    assert table.families is not None
    levels = table.families.levels(table["pvalue"], settings)
    for part in table.evaluations:
        counts, rows = (
            part.counts,
            np.flatnonzero(table["verdict"][part.rows] == Verdict.INCONCLUSIVE),
        )
        if len(rows) and (search := part.columns.get("search_n")):
            sizes = search(rows, levels[part.rows], settings.planned_gap)
            table.fill(part.rows.start + rows, required_n=sizes)
            continue
        if counts is None or counts.metric.is_distance or len(counts.corners) != 1:
            continue
        # Planned tests are of independent cases.
        rows = rows[~counts.is_clustered[rows]]
        if not len(rows):
            continue
        is_ratio = counts.metric.kind == "ratio"
        gap = RATIO_MARGIN if is_ratio else settings.planned_gap
        # Planning takes whole counts, and an effective case stands for several.
        reference = np.round(counts.corners[0].reference[rows])
        of_rows = levels[part.rows][rows]
        sizes = required_n(counts.metric.base, reference, of_rows, gap, is_ratio=is_ratio)
        sizes = np.ceil(sizes * counts.worth[rows] - 1e-9)
        table.fill(part.rows.start + rows, required_n=sizes)
    return table
