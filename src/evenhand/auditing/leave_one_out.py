"""Verdicts that depend on one group of the rest: what they would be without it.

The most influential group is the one whose removal moves the rest's score most, against the verdict
if there is one. Comparisons are tested again without it, and p-values are adjusted as before.
Intervals are computed again only for the few rows whose test changes.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..inference import TwoRates
from ..metrics import Metric
from .comparisons import Comparisons
from .evaluate_counts import evaluate_counts
from .multiplicity import Families
from .results_table import Block, ResultsTable
from .settings import ReferenceKind, Settings
from .verdict import Verdict
from .verdicts import choose_verdicts, mark_equivalent, simultaneous_level

# If there are more groups, only the largest can be the most influential one.
_MAX_CANDIDATES, _BATCH = 201, 500


def add_drivers(table: ResultsTable, families: Families, settings: Settings) -> ResultsTable:
    """The table with the groups of the rest without which verdicts would be others."""
    parts = [(block, *_choose_left_out(table, block)) for block in table.blocks]
    parts = [part for part in parts if len(part[1])]
    if not parts:
        return table
    tests = [evaluate_without(block, rows, left_out, settings) for block, rows, left_out in parts]
    rows = np.concatenate([block.rows.start + rows for block, rows, _ in parts])
    pvalues = np.concatenate([test["pvalue"] for test in tests])
    pairs = TwoRates(*np.hstack([np.stack(test["pairs"]) for test in tests]))
    # What is left of a rest shares no count, but is sharpened as the whole rest was.
    p_adjusted = families.take(rows, pairs).adjust(pvalues, settings.adjust, given_pooled=True)
    direction = np.concatenate([test["direction"] for test in tests])
    is_rejected = p_adjusted <= settings.alpha
    turns_round = is_rejected & (direction != table["direction"][rows])
    is_changed = (is_rejected != table.differs[rows]) | (is_rejected & table.differs[rows] & turns_round)
    is_changed &= ~np.isnan(p_adjusted) & (table["verdict"][rows] != Verdict.UNDEFINED)
    start = 0
    for block, some, left_out in parts:
        changed = np.flatnonzero(is_changed[start : start + len(some)])
        if len(changed):
            found = p_adjusted[start + changed]
            _write_drivers(table, block, some[changed], left_out[changed], found, settings)
        start += len(some)
    return table


def _write_drivers(
    table: ResultsTable, block: Block, rows: Integers, left_out: Integers, p_adjusted: Floats, settings: Settings
) -> None:
    """Write the verdicts and gaps without the groups that are left out."""
    columns = evaluate_without(block, rows, left_out, settings, test_only=False)
    part = ResultsTable.concatenate([(block.metric, columns.pop("comparisons"), columns)])
    verdict = choose_verdicts(part, p_adjusted, settings)
    mark_equivalent(part, verdict, settings, simultaneous_level(table, settings))
    groupings = block.comparisons.groupings
    names = [groupings[g].groups[i] for g, i in zip(block.comparisons.grouping[rows], left_out, strict=True)]
    table.fill(
        block.rows.start + rows,
        driver=np.array(names, dtype=object),
        driver_verdict=verdict,
        driver_gap=part["gap"],
        driver_gap_low=part["gap_low"],
        driver_gap_high=part["gap_high"],
    )


def evaluate_without(
    block: Block, rows: Integers, left_out: Integers, settings: Settings, *, test_only: bool = True
) -> dict[str, Any]:
    """The columns of some comparisons without one group of the rest."""
    comparisons = leave_out(block.comparisons, rows, left_out)
    columns = evaluate_counts(block.metric, comparisons, settings, test_only=test_only)
    return columns if test_only else columns | {"comparisons": comparisons}


def leave_out(comparisons: Comparisons, rows: Integers, left_out: Integers) -> Comparisons:
    """Some comparisons whose references lack one group each."""
    arrays = {"place", "stratum", "grouping", "group", "reference_index"}
    known = {field.name: getattr(comparisons, field.name) for field in fields(Comparisons)}
    known |= {name: known[name][rows] for name in arrays}
    smaller = _Smaller(**known)
    object.__setattr__(smaller, "left_out", left_out)
    return smaller


class _Smaller(Comparisons):
    """Comparisons whose references lack the groups with the codes ``left_out``."""

    left_out: Integers

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of groups and of references without one group each."""
        group, reference = super().split(values)
        for rows, sums in self._sums(values):
            reference[rows] -= sums[self.place[rows], self.stratum[rows], self.left_out[rows]]
        return group, reference

    def masks(self, row: int, keys: Integers) -> Any:
        """Which items are in the group and in the reference."""
        group, reference = super().masks(row, keys)
        codes = self.groupings[self.grouping[row]].codes[keys]
        return group, reference & (codes != self.left_out[row])


def _choose_left_out(table: ResultsTable, block: Block) -> tuple[Integers, Integers]:
    """The comparisons that can depend on one other group, and the most influential one of each."""
    comparisons, metric = block.comparisons, block.metric
    nothing = np.empty(0, dtype=np.int64)
    is_of_counts = comparisons.source in ("counts", "selections") and not comparisons.is_pooled
    if not is_of_counts or not isinstance(metric, Metric) or metric.is_distance:
        return nothing, nothing
    can_depend = comparisons.is_testable & comparisons.has_kind(ReferenceKind.REST)
    left_out = np.full(len(comparisons), -1)
    for column, sums in comparisons.columns(comparisons.counts.cells):
        present = comparisons.group[column]
        rows = column[can_depend[column]]
        if len(column) > 2 and len(rows):
            verdicts = table["verdict"][block.rows.start + rows]
            for batch in np.array_split(np.arange(len(rows)), 1 + len(rows) // _BATCH):
                some = rows[batch]
                left_out[some] = _most_influential(metric, comparisons, some, sums, present, verdicts[batch])
    rows = np.flatnonzero(left_out >= 0)
    return rows, left_out[rows]


def _most_influential(
    metric: Metric, comparisons: Comparisons, rows: Integers, sums: Floats, present: Integers, verdicts: Any
) -> Integers:
    """The group of the rest whose removal moves the rest's score most; -1 if there is none."""
    sizes = sums.sum(axis=1)
    candidates = present[np.argsort(-sizes[present], kind="stable")][:_MAX_CANDIDATES]
    candidates = candidates[sizes[candidates] > 0]
    rest = comparisons.cells[1][rows][:, None]
    moved = metric.base.scores(np.maximum(rest - sums[candidates], 0.0)) - metric.base.scores(rest)
    sign = np.array([{Verdict.HIGHER: 1.0, Verdict.LOWER: -1.0}.get(verdict, 0.0) for verdict in verdicts])
    moved = np.where(sign[:, None] == 0, np.abs(moved), sign[:, None] * moved)
    moved[comparisons.group[rows][:, None] == candidates] = np.nan
    is_possible = ~np.isnan(moved).all(axis=1)
    most = np.argmax(np.where(np.isnan(moved), -np.inf, moved), axis=1)
    return np.where(is_possible, candidates[most], -1) if len(candidates) else np.full(len(rows), -1)
