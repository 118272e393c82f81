"""Verdicts that depend on one group of the rest: what they would be without it.

The most influential group is the one whose removal moves the rest's score most, against the verdict
if there is one. Comparisons are tested again without it, and p-values are adjusted as before.
Intervals are computed again only for the few rows whose test changes.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Integers
from ..metrics import Metric
from .comparisons import NOBODY
from .evaluate_counts import Wanted, evaluate_counts, group_by_curve
from .results_table import Block, Evaluation, ResultsTable
from .settings import ReferenceKind, Settings
from .verdict import Verdict
from .verdicts import choose_verdicts, mark_equivalent, simultaneous_level

# If there are more groups, only the largest can be the most influential one.
_MAX_CANDIDATES, _BATCH = 201, 500


def add_drivers(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with the groups of the rest without which verdicts would be others."""
    left_out = np.full(len(table), NOBODY)
    for block in table.blocks:
        left_out[block.rows] = find_influential_groups(table, block)
    rows = np.flatnonzero(left_out >= 0)
    if not len(rows) or table.families is None:
        return table
    tests = evaluate_without(table, left_out, settings, "tests")
    # What is left of a rest shares no count, but is sharpened as the whole rest was.
    families = table.families.take(rows, tests.pairs)
    p_adjusted = families.adjust(tests["pvalue"], settings.adjust, given_pooled=True)
    verdict = choose_verdicts(table, table["p_adjusted"], settings)[rows]
    without = choose_verdicts(tests, p_adjusted, settings)
    is_defined = (verdict != Verdict.UNDEFINED) & (without != Verdict.UNDEFINED)
    is_changed = is_defined & (verdict != without)
    left_out[rows[~is_changed]] = NOBODY
    again, without = evaluate_without(table, left_out, settings, "gaps"), without[is_changed]
    mark_equivalent(again, without, settings, simultaneous_level(table, settings))
    parts = [block.comparisons for block in again.blocks]
    table.fill(
        rows[is_changed],
        driver=[name for part in parts for name in part.name_groups(part.left_out)],
        driver_verdict=without,
        **{f"driver_{name}": again[name] for name in ("gap", "gap_low", "gap_high")},
    )
    return table


def evaluate_without(
    table: ResultsTable, left_out: Integers, settings: Settings, wanted: Wanted
) -> ResultsTable:
    """The table of those rows whose references lack a group, given by its code."""
    scored = []
    for metric, comparisons, rows in table.blocks:
        codes = left_out[rows]
        selected = np.flatnonzero(codes >= 0)
        if len(selected):
            scored.append((metric, comparisons.take(selected, left_out=codes[selected])))
    return ResultsTable.concatenate(
        [
            Evaluation(same, *evaluate_counts(same, settings, wanted))
            for same in group_by_curve(scored)
        ]
    )


def find_influential_groups(table: ResultsTable, block: Block) -> Integers:
    """The group of the rest whose removal moves the rest's score most; `NOBODY` if none can."""
    comparisons, metric = block.comparisons, block.metric
    left_out = np.full(len(comparisons), NOBODY)
    if not comparisons.is_of_cells or not isinstance(metric, Metric) or metric.is_distance:
        return left_out
    can_depend = comparisons.is_testable & comparisons.has_kind(ReferenceKind.REST)
    verdict = table["verdict"][block.rows]
    sign = 1 * (verdict == Verdict.HIGHER) - (verdict == Verdict.LOWER)
    for column, cells in comparisons.columns(comparisons.counts.cells):
        groups = comparisons.group[column]
        by_size = groups[np.argsort(-cells[groups].sum(axis=1), kind="stable")]
        candidates = by_size[:_MAX_CANDIDATES]
        is_empty = cells[candidates].sum(axis=1) == 0
        rows = column[can_depend[column] & (len(column) > 2)]
        for batch in np.array_split(rows, 1 + len(rows) // _BATCH):
            rest = comparisons.cells[1][batch, None]
            smaller = np.maximum(rest - cells[candidates], 0.0)
            moved = metric.base.scores(smaller) - metric.base.scores(rest)
            against = sign[batch, None]
            moved = np.where(against == 0, np.abs(moved), against * moved)
            is_itself = comparisons.group[batch, None] == candidates
            moved[is_itself | is_empty | np.isnan(moved)] = -np.inf
            most = candidates[moved.argmax(axis=1)]
            left_out[batch] = np.where(moved.max(axis=1) > -np.inf, most, NOBODY)
    return left_out
