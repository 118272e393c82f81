"""Scores of counts: intervals, gaps, tests, smoothed scores and the MATCH percentile of each comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix
from ..errors import EvenhandError
from ..inference import (
    CrossPrior,
    Effects,
    EqualityTest,
    Gaps,
    NullDistribution,
    Strength,
    counts_of,
    effects_of,
    equal_scores,
    fisher,
    gap_intervals,
    gaps_of,
    learn_spread,
    limited_strengths,
    match_test,
    melded_gaps,
    score_intervals,
)
from ..laws import log_hypergeometric
from ..metrics import Kind, Metric, OneGroup
from ..tabulate import UnitMatrix
from .comparisons import Comparison
from .measures import Measures
from .rounded_measures import allowing, has_corners, unverified
from .rows import GapKind, Sketch
from .settings import ReferenceKind, Settings

__all__ = ["CellTable", "cells_of", "kept_share", "measure_cells", "rests_on"]

Floats = NDArray[np.float64]
_BARS = 41
# For more cases than this, MATCH percentiles of scores made of several rates are not computed.
_MOST_MATCHED = 10**6


def measure_cells(metric: Metric, table: CellTable, how: Settings, *, gaps: bool = True) -> Measures:
    """Everything that one metric says of comparisons of counts; without ``gaps``, nothing but tests."""
    if how.rule is None:
        return _Cells(metric, table, how).measures(gaps)

    def measured(comparisons: Sequence[Comparison]) -> Measures:
        own = table if comparisons is table.comparisons else CellTable(comparisons)
        return _Cells(metric, own, how).measures(gaps)

    if not has_corners(metric):
        return unverified(_Cells(metric, table, how).measures(gaps=False, tests=False), how.rule)
    return allowing(measured, metric, table.comparisons, how.rule, how.alpha)


def rests_on(metric: Metric, cells: Floats) -> list[tuple[int, ...]]:
    """How many cases the score of each group rests on: one number for each rate that it is made of."""
    return [tuple(int(n) for n in counts) for counts in metric.basis(cells)]


def cells_of(parts: Sequence[Any]) -> Floats:
    """The cells of several parts as an array of shape (M, 4)."""
    return np.array([part.cells for part in parts], dtype=np.float64).reshape(-1, 4)


class CellTable:
    """Comparisons of counts as arrays, which all metrics share."""

    def __init__(self, comparisons: Sequence[Comparison], strength: Strength | None = None) -> None:
        self.comparisons, self._strength = comparisons, strength
        self._effects: dict[str, list[Effects | None]] = {}

    @cached_property
    def groups(self) -> Floats:
        """The cells of the groups."""
        return cells_of([who.own for who in self.comparisons])

    @cached_property
    def against(self) -> Floats:
        """The cells that the groups are tested against."""
        return cells_of([who.against for who in self.comparisons])

    @cached_property
    def everybody(self) -> NDArray[np.bool_]:
        """Which groups are compared with all cases, themselves included."""
        return np.array([who.kind is ReferenceKind.ALL for who in self.comparisons], dtype=bool)

    @cached_property
    def shown(self) -> Floats:
        """The cells of the references as reported."""
        return self.against + np.where(self.everybody[:, None], self.groups, 0.0)

    @cached_property
    def is_reference(self) -> NDArray[np.bool_]:
        """Which groups are the reference of the others."""
        return np.array([who.is_reference for who in self.comparisons], dtype=bool)

    @cached_property
    def testable(self) -> NDArray[np.bool_]:
        """Which groups and references both have cases, and are not the same."""
        filled = (self.groups.sum(axis=1) > 0) & (self.against.sum(axis=1) > 0)
        return np.asarray(filled & ~self.is_reference)

    def effects(self, m: OneGroup) -> list[Effects | None]:
        """The design effects of units on a score; None where cases are independent, or there is nothing to test."""
        if m.key not in self._effects:
            self._effects[m.key] = [
                effects_of(m, who.own.units, who.against.units)
                if isinstance(who.own, UnitMatrix) and isinstance(who.against, UnitMatrix) and who.own.n
                else None
                for who in self.comparisons
            ]
        return self._effects[m.key]

    def effective(self, m: OneGroup) -> tuple[Floats, Floats]:
        """The cells of groups and references, divided by the design effects of their units."""
        pairs = [(1.0, 1.0) if one is None else (one.group, one.reference) for one in self.effects(m)]
        mine, theirs = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return self.groups / mine[:, None], self.against / theirs[:, None]

    @cached_property
    def strengths(self) -> list[Strength] | None:
        """How strongly each group is smoothed; None if none is, or if cells are not known."""
        if self._strength is None or not all(who.labelled for who in self.comparisons):
            return None
        if self._strength != "auto":
            return [self._strength] * len(self.comparisons)
        by_column = {(who.at, who.by): who.peers for who in self.comparisons}
        learnt = {column: learn_spread(peers) for column, peers in by_column.items()}
        return [limited_strengths(learnt[who.at, who.by], who.own, who.against) for who in self.comparisons]

    @cached_property
    def smoothed(self) -> Floats:
        """The cells after smoothing; nan for a reference, and if there is nothing to smooth with."""
        cells = np.full_like(self.groups, nan)
        strengths = self.strengths or []
        for i in np.flatnonzero((self.against.sum(axis=1) > 0) & ~self.is_reference).tolist():
            cells[i] = CrossPrior(self.comparisons[i].against, strengths[i]).smooth(self.groups[i])
        return cells


class _Cells:
    """One metric of the comparisons of a table."""

    def __init__(self, m: Metric, table: CellTable, how: Settings) -> None:
        self.m, self.base, self.how = m, m.base, how
        self.table, self.comparisons = table, table.comparisons
        self.groups, self.against, self.shown = table.groups, table.against, table.shown
        self.effective = table.effective(m.base)

    def measures(self, gaps: bool, tests: bool = True) -> Measures:
        """Everything about the comparisons; without ``tests``, nothing but scores."""
        m, base = self.m, self.base
        itself = bool(m.comparisons)
        scores = m.scores(self.groups, self.against) if itself else base.scores(self.groups)
        theirs = np.full(len(scores), nan) if itself else self._reference_scores()
        lacking = np.isnan(scores) | (False if itself else np.isnan(theirs) | np.isnan(base.scores(self.against)))
        reasons = [self._reason(who) if lacks else None for who, lacks in zip(self.comparisons, lacking, strict=True)]
        low = high = np.full(len(scores), nan)
        if not itself and gaps:
            low, high = self._intervals()
        tested = self._tested(gaps, self.table.testable if tests else np.zeros(len(scores), dtype=bool))
        defined = np.array([reason is None for reason in reasons], dtype=bool)
        kind: GapKind = "ratio" if m.kind == "ratio" or (not itself and base.unbounded) else "difference"
        found: dict[str, Any] = tested | {"pvalue": np.where(defined, tested["pvalue"], nan)}
        if itself:
            low, high = found["gap_low"], found["gap_high"]
            found |= {"gap": scores}
        else:
            found |= self._gaps(scores, theirs, kind, found["gap_low"], found["gap_high"])
        return Measures.of(
            m,
            self.comparisons,
            score=scores,
            low=low,
            high=high,
            reference=found.pop("theirs", theirs),
            reason=reasons,
            rests_on=rests_on(m, self.groups),
            kind=kind,
            smoothed=self._smoothed(self.table.strengths is not None),
            strengths=self.table.strengths or [0.0] * len(scores),
            bounds=self._bounds if gaps else None,
            effects=self.table.effects(base),
            **found,
        )

    def _intervals(self) -> tuple[Floats, Floats]:
        """The ends of the intervals of the groups' scores."""
        whole = np.array([_is_whole(one) for one in self.table.effects(self.base)], dtype=bool)
        low, high = np.empty(len(whole)), np.empty(len(whole))
        for some, is_whole in ((whole, True), (~whole, False)):
            if some.any():
                cells = self.effective[0][some]
                low[some], high[some] = score_intervals(self.base, cells, self.how.level, whole=is_whole)
        return low, high

    def _bounds(self, rows: list[int], level: float) -> tuple[Floats, Floats]:
        """The ends of melded intervals of some gaps; of a distance, those of its simultaneous intervals."""
        groups, against = (cells[rows] for cells in self.effective)
        if self.m.is_distance:
            return _farthest(self._components(rows), level)
        kind: Kind = self.m.kind or ("ratio" if self.base.unbounded else "difference")
        low, high = melded_gaps(self.base, groups, against, kind).interval(level)
        if self.m.comparisons:
            return low, high
        return self._to_everybody(low, high, rows)

    def _components(self, rows: Any) -> list[tuple[OneGroup, Floats, Floats]]:
        """The rates that a distance is made of, with effective counts."""
        each = [(c.base, self.table.effective(c.base)) for c in self.m.comparisons]
        return [(base, mine[rows], theirs[rows]) for base, (mine, theirs) in each]

    def _gaps(self, scores: Floats, theirs: Floats, kind: GapKind, low: Floats, high: Floats) -> dict[str, Floats]:
        """The gaps, which the reference itself does not have."""
        others = ~self.table.is_reference
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = np.where(others, scores - theirs, nan)
            ratio = np.where(others, scores / theirs, nan) if self.base.low >= 0 else np.full(len(scores), nan)
        low, high = self._to_everybody(low, high)
        return {
            "theirs": np.where(others, theirs, nan),
            "difference": difference,
            "ratio": ratio,
            "gap": difference if kind == "difference" else ratio,
            "gap_low": np.where(others, low, nan),
            "gap_high": np.where(others, high, nan),
        }

    def _smoothed(self, smooths: bool) -> Floats:
        """The scores of smoothed cells."""
        found = np.full(len(self.groups), nan)
        if smooths and not self.m.comparisons:
            cells = self.table.smoothed
            known = ~np.isnan(cells).any(axis=1)
            found[known] = self.base.scores(cells[known])
        return found

    def _reference_scores(self) -> Floats:
        """The scores of the references.

        A rate over all cases lies between those of the group and of the rest. Other scores need not, so that the gap to
        all cases could contradict the test; for these scores, "all" means all other cases.
        """
        return self.base.scores(self.shown if self.base.is_rate else self.against)

    def _to_everybody(self, low: Floats, high: Floats, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        """The ends of the intervals of the gap to all cases, which include the group.

        A rate over all cases is a weighted mean of those of the group and of the rest, so the gap to it is a share of
        the gap to the rest. Other scores are compared with the rest, and their intervals are unchanged.
        """
        everybody = self.table.everybody[rows]
        if not everybody.any() or not self.base.is_rate:
            return low, high
        mine, all_ = (self.base.basis(cells[rows])[:, 0] for cells in (self.groups, self.shown))
        share = np.where(all_ > 0, 1 - mine / np.maximum(all_, 1.0), 0.0)
        return np.where(everybody, low * share, low), np.where(everybody, high * share, high)

    def _reason(self, who: Comparison) -> str | None:
        """Why there is no comparison: the score of the group or of the reference is undefined."""
        m = self.m
        if m.comparisons:
            return m.why_undefined(who.own, who.against)
        own = m.why_undefined(who.own)
        if own or who.is_reference:
            return own
        theirs = m.why_undefined(who.shown) or m.why_undefined(who.against)
        return f"the reference's score is undefined, {theirs}" if theirs else None

    def _tested(self, gaps: bool, testable: NDArray[np.bool_]) -> dict[str, Any]:
        """The tests and the intervals of the gaps, each distinct comparison once."""
        n = len(self.groups)
        found: dict[str, Any] = {
            **{name: np.full(n, nan) for name in ("pvalue", "gap_low", "gap_high", "percentile", "p_undefined")},
            **{name: [None] * n for name in ("method", "reachable", "sketches")},
            "higher": np.zeros(n, dtype=bool),
        }
        rows = np.flatnonzero(testable)
        if not len(rows):
            return found
        bases = [c.base for c in self.m.comparisons] if self.m.is_distance else [self.base]
        whole = np.all([[_is_whole(one) for one in self.table.effects(base)] for base in bases], axis=0)
        for some, is_whole in ((rows[whole[rows]], True), (rows[~whole[rows]], False)):
            if not len(some):
                continue
            cells = np.hstack([cells[some] for cells in self.effective])
            which = np.arange(len(some))
            if is_whole:
                # What is counted alike is tested once.
                _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
                cells, some_rows = cells[first], some[first]
            else:
                some_rows = some
            if self.m.is_distance:
                tested = _distances(self.m, self._components(some_rows), cells, self.how, gaps, is_whole)
            else:
                tested = _compared(self.m, cells[:, :4], cells[:, 4:], self.how, gaps, is_whole)
            for name, values in tested.items():
                if isinstance(values, list):
                    for row, i in zip(some.tolist(), which.tolist(), strict=True):
                        found[name][row] = values[i]
                else:
                    found[name][some] = values[which]
        return found


def _is_whole(effects: Effects | None) -> bool:
    return effects is None or effects.independent


def _compared(
    m: Metric, groups: Floats, against: Floats, how: Settings, with_gaps: bool, whole: bool
) -> dict[str, Any]:
    """The tests and the ends of the intervals of the gaps, for distinct comparisons."""
    base = m.base
    kind: Kind = m.kind or ("ratio" if base.unbounded else "difference")
    gaps = gaps_of(base, groups, against, kind, mid_p=how.mid_p)
    tests = equal_scores(base, groups, against, test=how.test, mid_p=how.mid_p, whole=whole)
    found = {"pvalue": tests.pvalue, "higher": tests.higher, "method": list(tests.method)}
    found |= {"reachable": list(tests.reachable)}
    if not with_gaps:
        return found
    mine, theirs = base.scores(groups), base.scores(against)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = mine - theirs if kind == "difference" else mine / theirs
    ends = gap_intervals(gaps, np.where(np.isfinite(estimates), estimates, nan), how.level)
    # MATCH takes cases for independent ones.
    nothing = np.full(len(groups), nan)
    percentile, empty = _matched(m, groups, against, tests, how) if whole else (nothing, nothing)
    return found | {
        "gap_low": ends[0],
        "gap_high": ends[1],
        "percentile": percentile,
        "p_undefined": empty,
        "sketches": _sketches(m, groups, against, tests, gaps, ends),
    }


def _distances(
    m: Metric,
    rates: Sequence[tuple[OneGroup, Floats, Floats]],
    cells: Floats,
    how: Settings,
    with_gaps: bool,
    whole: bool,
) -> dict[str, Any]:
    """The tests of the largest of several gaps, and its interval from simultaneous intervals of all of them."""
    groups, against = cells[:, :4], cells[:, 4:]
    if whole:
        tested = [_by_match(m, g, r, how) for g, r in zip(groups, against, strict=True)]
    else:
        each = [equal_scores(base, mine, theirs, mid_p=how.mid_p, whole=False).pvalue for base, mine, theirs in rates]
        smallest = np.minimum(1.0, len(rates) * np.min(each, axis=0))
        tested = [(float(p), "effective counts", nan, nan) for p in smallest]
    found: dict[str, Any] = {
        "higher": np.ones(len(groups), dtype=bool),
        "method": [method for _, method, _, _ in tested],
        "reachable": [None] * len(groups),
    }
    for i, name in ((0, "pvalue"), (2, "percentile"), (3, "p_undefined")):
        found[name] = np.array([one[i] for one in tested], dtype=np.float64)
    if not with_gaps:
        return found
    low, high = _farthest(rates, how.level)
    # Rounding must not leave the observed distance outside.
    observed = m.scores(groups, against)
    return found | {
        "gap_low": np.fmin(low, observed),
        "gap_high": np.fmax(high, observed),
        "sketches": [None] * len(groups),
    }


def _farthest(rates: Sequence[tuple[OneGroup, Floats, Floats]], level: float) -> tuple[Floats, Floats]:
    """The interval of the largest of several gaps, from simultaneous intervals of all of them."""
    each = 1 - (1 - level) / len(rates)
    ends = [melded_gaps(base, mine, theirs, "difference").interval(each) for base, mine, theirs in rates]
    nearest = [np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high))) for low, high in ends]
    farthest = [np.maximum(np.abs(low), np.abs(high)) for low, high in ends]
    return np.max(nearest, axis=0), np.max(farthest, axis=0)


def _by_match(m: Metric, group: Floats, against: Floats, how: Settings) -> tuple[float, str, float, float]:
    """Test a distance, which is 0 only if all of its rates are equal, by MATCH given the pooled counts.

    For very many cases, the p-value is the smallest one of its rates times their number (Bonferroni).
    """
    if group.sum() + against.sum() > _MOST_MATCHED:
        pairs = ([*counts_of(c.base, group[None]), *counts_of(c.base, against[None])] for c in m.comparisons)
        p = min(float(fisher(*counts).pvalue(how.mid_p)[0]) for counts in pairs)
        return min(1.0, len(m.comparisons) * p), "fisher", nan, nan
    result = match_test(_matrix(group), _matrix(against), m, mid_p=how.mid_p)
    return result.pvalue, "match", *_percentile(m, _matrix(group), _matrix(against), how)


def _matched(m: Metric, groups: Floats, against: Floats, tests: EqualityTest, how: Settings) -> tuple[Floats, Floats]:
    """The percentile of the MATCH test and the probability of an undefined score; nan if too costly."""
    if tests.fisher is not None and how.null == "pooled" and not m.kind and m.base.defined_by_denominator:
        # Given the denominator and the pooled counts, MATCH is Fisher's test.
        defined = ~np.isnan(tests.pvalue)
        cells, pooled_ = groups.sum(axis=1), groups.sum(axis=1) + against.sum(axis=1)
        whole = counts_of(m.base, groups)[1] + counts_of(m.base, against)[1]
        empty = np.exp(log_hypergeometric(np.zeros_like(cells), cells, whole, pooled_ - whole))
        return np.where(defined, tests.fisher.lower, nan), empty
    each = [_percentile(m, _matrix(g), _matrix(r), how) for g, r in zip(groups, against, strict=True)]
    percentile, empty = np.array(each, dtype=np.float64).reshape(-1, 2).T
    return percentile, empty


def _percentile(m: Metric, group: ConfusionMatrix, reference: ConfusionMatrix, how: Settings) -> tuple[float, float]:
    """The same for one comparison, with an absolute error of 1e-16; relative accuracy in far tails is not needed."""
    if group.n + reference.n > _MOST_MATCHED:
        return nan, nan
    try:
        null = NullDistribution.of(how.null, m, group, reference)
        tails = null.tails(null.observed(group), relative=False)
        return tails.below + tails.at, null.p_undefined
    except EvenhandError:
        return nan, nan


def _sketches(
    m: Metric, groups: Floats, against: Floats, tests: EqualityTest, gaps: Gaps, ends: tuple[Floats, Floats]
) -> list[Sketch | None]:
    """The distribution behind each p-value: the null distribution of the score, or what is believed of the gap."""
    if tests.fisher is not None:
        return _null_sketches(m.base, groups, against)
    known = np.isfinite(ends[0]) & np.isfinite(ends[1])
    low, high = (np.where(known, end, nan) for end in ends)
    edges = (low + high) / 2 + np.linspace(-1, 1, _BARS)[:, None] * (high - low)
    if gaps.low.kind == "ratio":
        edges = np.maximum(edges, 0.0)
    rows = np.arange(len(groups))
    reached = np.array([gaps.low.tail(edge, rows) for edge in edges])
    heights = np.diff(reached, axis=0).T
    none = 0.0 if gaps.low.kind == "difference" else 1.0
    return [_sketch("gap", low, high, bars, none) for low, high, bars in zip(edges[0], edges[-1], heights, strict=True)]


def _null_sketches(m: OneGroup, groups: Floats, against: Floats) -> list[Sketch | None]:
    assert m.curve is not None
    a, of_a = counts_of(m, groups)
    b, of_b = counts_of(m, against)
    first, second = a + b, of_a + of_b - a - b
    whole = np.maximum(first + second, 1.0)
    mean = of_a * first / whole
    reach = 5 * np.sqrt(of_a * first / whole * second / whole) + 3
    low = np.maximum(np.maximum(0.0, of_a - second), np.floor(np.minimum(mean - reach, a)))
    high = np.minimum(np.minimum(of_a, first), np.ceil(np.maximum(mean + reach, a)))
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right, at = (np.asarray(m.curve.score(k / of_a)) for k in (low, high, a))
        # Bars are at even distances of the score, which is not proportional to the count for every metric.
        scores = left[:, None] + np.linspace(0, 1, _BARS) * (right - left)[:, None]
        counts = np.floor(np.asarray(m.curve.rate(scores)) * of_a[:, None] + 1e-9)
    counts = np.clip(np.nan_to_num(counts), low[:, None], high[:, None])
    heights = np.exp(log_hypergeometric(counts, of_a[:, None], first[:, None], second[:, None]))
    return [
        _sketch("null", first, last, bars, seen) if some else None
        for first, last, bars, seen, some in zip(left, right, heights, at, (of_a > 0) & (high > low), strict=True)
    ]


def _sketch(of: Any, low: float, high: float, heights: Floats, at: float) -> Sketch | None:
    if not (np.isfinite([low, high, at]).all() and high > low) or heights.max() <= 0:
        return None
    bars = tuple(int(h) for h in np.round(99 * heights / heights.max()))
    return Sketch(of=of, low=float(low), high=float(high), heights=bars, at=float(at))


def kept_share(m: Metric, who: Comparison, strength: Strength) -> float | None:
    """The share of the gap that smoothing leaves, for a rate; None for other scores, which have no rule.

    A rate of ``a`` cases that is smoothed with ``b`` cases of the reference keeps a / (a + b) of the gap.
    """
    if m.comparisons or not m.base.is_rate:
        return None
    cases = float(m.base.basis(who.own.cells)[0])
    if isinstance(strength, Mapping):
        by_whole = {CELLS: "prev", ("tp", "fn"): "tpr", ("fp", "tn"): "fpr"}
        split = by_whole.get(m.tree.last_of)
        if split is None or (split == "prev" and m.key not in ("prev", "nprev")):
            return None
        added = strength[split]
    else:
        assert not isinstance(strength, str)
        theirs = np.array(who.against.cells, dtype=np.float64)
        added = strength * float(m.base.basis(theirs)[0]) / max(float(theirs.sum()), 1.0)
    return cases / (cases + added) if cases + added else 0.0


def _matrix(cells: Floats) -> ConfusionMatrix:
    return ConfusionMatrix(*(int(c) for c in cells))
