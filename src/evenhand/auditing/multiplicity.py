"""Adjusted p-values: Holm's method for discrete tests, and Benjamini and Hochberg's.

Let p_1 <= p_2 <= ... be the p-values of a family. Holm's method multiplies p_k by the number of
hypotheses j >= k, which bounds the sum of P(p_j <= p_k) over them. Exact tests of few cases attain few
p-values, so that the sum itself,

    S_k = sum over j >= k of P(p_j <= p_k),    adjusted p_k = max(S_1, ..., S_k),

is smaller: the method is valid, and never less powerful. P(p_j <= p_k) is given the pooled successes
if each group is compared with its own rest, and at its largest over all common rates if groups share
a reference or differ in who is counted. See docs/reference/evidence.md.

A family is one metric, at one threshold, over groups, classes and strata, or the whole audit, over
which gates are always adjusted. Rows that are pooled over strata are a family of their own, and so
are the goals of each metric. No bound is known over several classes, so that each has a share of the
level of a metric.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..inference import (
    ROUNDING,
    TwoRates,
    attainable_tails,
    select_small_samples,
    unconditional_sizes,
)
from .results_table import ResultsTable
from .settings import ReferenceKind, Settings


@dataclass(frozen=True, eq=False)
class Families:
    """The families of the rows of a table, which do not depend on outcomes.

    Attributes
    ----------
    family, block : array of int
        The family of each row, and the part of it whose p-values are adjusted together.
    twin : array of int
        The first of two rows that are one comparison: two groups that are each other's rest.
    stratum : array of int, is_named : array of bool
        The stratum, and whether several groups are compared with the same cases.
    pairs : TwoRates
        The counts of exact tests, nan for other tests.
    """

    family: Integers
    block: Integers
    twin: Integers
    stratum: Integers
    is_named: Bools
    pairs: TwoRates

    def take(self, rows: Integers, pairs: TwoRates) -> Families:
        """The families of some rows with other counts."""
        return Families(
            family=self.family[rows],
            block=self.block[rows],
            twin=np.arange(len(rows)),
            stratum=self.stratum[rows],
            is_named=self.is_named[rows],
            pairs=pairs,
        )

    def adjust(self, pvalues: Floats, method: str, *, given_pooled: bool = False) -> Floats:
        """Adjusted p-values; nan for rows that were not tested."""
        tested = np.flatnonzero(~np.isnan(pvalues))
        # Twins can have different p-values; the larger one is valid for both.
        largest = np.full(len(pvalues), -np.inf)
        np.maximum.at(largest, self.twin[tested], pvalues[tested])
        members = np.flatnonzero(np.isfinite(largest))
        is_exact = ~np.isnan(self.pairs.n1) & (method == "holm")
        blocks = np.where(is_exact, self.block, -1)
        for family in np.unique(self.family[members]) if method != "none" else ():
            of_family = members[self.family[members] == family]
            for block in np.unique(blocks[of_family]):
                rows = of_family[blocks[of_family] == block]
                if method == "bh":
                    values = adjust_benjamini_hochberg(largest[rows])
                elif block < 0:
                    values = adjust_holm(largest[rows])
                else:
                    shares = not given_pooled and self._share_cases(rows)
                    values = adjust_holm(largest[rows], self.pairs.take(rows), shares)
                largest[rows] = np.minimum(1.0, values * (len(of_family) / len(rows)))
        adjusted = pvalues.copy()
        if method != "none":
            adjusted[tested] = largest[self.twin[tested]]
        return adjusted

    def _share_cases(self, rows: Integers) -> bool:
        """Whether tests share a reference or differ in who is counted, within a stratum."""
        pairs = self.pairs.take(rows)
        margins = np.stack([self.stratum[rows], pairs.successes, pairs.n1 + pairs.n2])
        is_mixed = np.unique(margins, axis=1).shape[1] > len(np.unique(self.stratum[rows]))
        return is_mixed or (len(rows) > 1 and bool(self.is_named[rows].any()))

    def levels(self, pvalues: Floats, settings: Settings) -> Floats:
        """The level at which Bonferroni's method would test each row, for planning."""
        counted = np.unique(self.twin[~np.isnan(pvalues)])
        sizes = np.bincount(self.family[counted], minlength=int(self.family.max(initial=0)) + 1)
        tests = 1 if settings.adjust == "none" else np.maximum(sizes[self.family], 1)
        return np.full(len(pvalues), settings.alpha) / tests


def adjust_pvalues(table: ResultsTable, settings: Settings) -> ResultsTable:
    """The table with adjusted p-values and its families."""
    # The whole audit is family 0.
    n, ids = len(table), dict[Hashable, int]()
    family, block, twin, stratum = np.zeros((4, n), dtype=np.int64)
    is_named = np.zeros(n, dtype=bool)
    for part in table.blocks:
        comparisons, rows = part.comparisons, part.rows
        twin[rows] = rows.start + comparisons.mirror
        stratum[rows] = comparisons.stratum
        is_named[rows] = comparisons.has_kind(ReferenceKind.GROUP, ReferenceKind.MATRIX)
        # Goals never change other verdicts.
        if settings.family == "audit" and comparisons.source != "goals":
            continue
        # Changes and changes of gaps are one family.
        question = table["question"][rows.start].removesuffix(" of gap")
        kind = part.metric.key, question, comparisons.is_pooled
        for place, values in enumerate(comparisons.places):
            of_place = rows.start + np.flatnonzero(comparisons.place == place)
            key = (*kind, dict(values).get("threshold"))
            family[of_place] = ids.setdefault(key, 1 + len(ids))
            block[of_place] = ids.setdefault((*key, values), 1 + len(ids))
    families = Families(family, block, twin, stratum, is_named, table.pairs)
    p_adjusted = families.adjust(table["pvalue"], settings.adjust)
    p_gate = p_adjusted
    if settings.family == "metric":
        # Each family has a share of the level: as powerful as one family, and quickly computed.
        p_holm = p_adjusted
        if settings.adjust != "holm":
            p_holm = families.adjust(table["pvalue"], "holm")
        p_gate = np.minimum(1.0, p_holm * len(np.unique(family[~table.is_goal])))
    elif settings.adjust != "holm":
        # Goals are a family of their own.
        whole = replace(families, family=1 * table.is_goal, block=block * 0)
        p_gate = whole.adjust(table["pvalue"], "holm")
    p_gate = np.where(table.is_goal, np.nan, p_gate)
    table.fill(slice(None), p_adjusted=p_adjusted, p_gate=p_gate)
    return replace(table, families=families)


def adjust_benjamini_hochberg(pvalues: Floats) -> Floats:
    """Adjust p-values so that they control the false discovery rate.

    >>> adjust_benjamini_hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    count = len(pvalues)
    descending = np.argsort(pvalues)[::-1]
    scaled = pvalues[descending] * (count / np.arange(count, 0, -1))
    adjusted = np.empty(count)
    adjusted[descending] = np.clip(np.minimum.accumulate(scaled), 0.0, 1.0)
    return adjusted


def adjust_holm(
    pvalues: Floats, pairs: TwoRates | None = None, share_cases: bool = False
) -> Floats:
    """Adjust p-values by Holm's method, for discrete tests if the counts of exact tests are given.

    >>> adjust_holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(pvalues, kind="stable")
    ascending = pvalues[order]
    if pairs is None:
        sums = ascending * np.arange(len(pvalues), 0, -1)
    elif share_cases:
        sums = _sum_unconditional_sizes(ascending, pairs.take(order))
    else:
        sums = _sum_conditional_sizes(ascending, pairs.take(order))
    adjusted = np.empty(len(pvalues))
    # A sum can exceed 1; a p-value that is larger than its sum stays as it is.
    adjusted[order] = np.clip(np.maximum.accumulate(sums), ascending, 1.0)
    return adjusted


def _sum_conditional_sizes(pvalues: Floats, pairs: TwoRates) -> Floats:
    """S_k of ascending p-values, each probability given the pooled number of successes.

    An attainable tail t of test j counts in S_k from the first k with t <= p_k / 2 up to k = j. Its
    probability is added where that range starts and removed behind its end, and S is the running sum.
    """
    halves = pvalues / 2 * ROUNDING
    tails = attainable_tails(pairs, halves)
    count = len(pvalues)
    change = np.bincount(np.searchsorted(halves, tails.tail), tails.probability, count + 1)
    change[1:] -= np.bincount(tails.row, tails.probability, count)
    return np.asarray(np.cumsum(change)[:-1] + pvalues * _count_from(~tails.is_listed))


def _sum_unconditional_sizes(pvalues: Floats, pairs: TwoRates) -> Floats:
    """S_k of ascending p-values, each probability at its largest over all common rates."""
    sizes, which = np.unique(np.stack([pairs.n1, pairs.n2]), axis=1, return_inverse=True)
    is_selected = select_small_samples(*sizes)
    sums = pvalues * _count_from(~is_selected[which])
    for i in np.flatnonzero(is_selected):
        remaining = _count_from(which == i)
        levels = pvalues[remaining > 0]
        n1, n2 = sizes[:, i].astype(int).tolist()
        sums[: len(levels)] += remaining[: len(levels)] * unconditional_sizes(n1, n2, levels)
    return sums


def _count_from(is_member: Bools) -> Floats:
    """The number of members from each position on."""
    return np.cumsum(is_member[::-1])[::-1].astype(np.float64)
