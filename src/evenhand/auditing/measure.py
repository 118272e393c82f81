"""The scores, intervals, gaps and tests of one metric for all comparisons, before p-values are adjusted.

They are computed on arrays of matrices. Equal comparisons, which are common among tiny groups, are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix
from ..errors import EvenhandError
from ..inference import (
    CrossPrior,
    EqualityTest,
    Gaps,
    NullDistribution,
    Strength,
    counts_of,
    equality_of_gaps,
    fisher,
    gap_intervals,
    gaps_of,
    learn_strengths,
    match_test,
    posterior,
    score_intervals,
)
from ..laws import log_hypergeometric
from ..metrics import Kind, Metric, OneGroup
from .adjust import Reachable
from .groups import Compared
from .row import Sketch
from .settings import ReferenceKind, Settings

__all__ = ["Comparisons", "Measured", "measure"]

Floats = NDArray[np.float64]

_BARS = 41
# For more cases than this, MATCH percentiles of scores made of several rates are not computed.
_MOST_MATCHED = 10**6


@dataclass(frozen=True)
class Comparisons:
    """Groups and their references as arrays, one row per comparison."""

    pairs: Sequence[Compared]
    strengths: Sequence[Strength]
    smooths: bool = True

    @classmethod
    def of(cls, pairs: Sequence[Compared], strength: Strength) -> Comparisons:
        """The comparisons; a strength of "auto" is learnt within each column."""
        if not all(who.labelled for who in pairs):
            return cls.plain(pairs)
        if strength != "auto":
            return cls(pairs, [strength] * len(pairs))
        learnt = {by: learn_strengths(peers) for by, peers in {who.by: who.peers for who in pairs}.items()}
        return cls(pairs, [learnt[who.by][who.group] for who in pairs])

    @classmethod
    def plain(cls, pairs: Sequence[Compared]) -> Comparisons:
        """The comparisons without smoothing."""
        return cls(pairs, [0.0] * len(pairs), smooths=False)

    @cached_property
    def groups(self) -> Floats:
        """The groups' cells."""
        return np.array([who.cm.cells for who in self.pairs], dtype=np.float64)

    @cached_property
    def against(self) -> Floats:
        """The cells that the groups are tested against."""
        return np.array([who.against.cells for who in self.pairs], dtype=np.float64)

    @cached_property
    def shown(self) -> Floats:
        """The cells of the references as reported."""
        return np.array([who.shown.cells for who in self.pairs], dtype=np.float64)

    @cached_property
    def testable(self) -> NDArray[np.bool_]:
        """Which comparisons can be tested."""
        return np.array([who.testable for who in self.pairs])

    @cached_property
    def smoothed(self) -> Floats:
        """The groups' cells after smoothing; nan if the reference is empty."""
        cells = np.full_like(self.groups, np.nan)
        for i, (who, strength) in enumerate(zip(self.pairs, self.strengths, strict=True)):
            if who.against.n and not who.is_reference:
                cells[i] = CrossPrior(who.against, strength).smooth(self.groups[i])
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measures of one comparison and one metric, before adjustment; None for nan."""

    who: Compared
    metric: Metric
    score: float | None
    low: float | None
    high: float | None
    reason: str | None
    numerator: int | None
    denominator: int | None
    basis: int
    reference_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    pvalue: float | None
    higher: bool
    test: str | None
    reachable: Reachable
    percentile: float | None
    p_undefined: float | None
    smoothed: float | None
    strength: Strength
    sketch: Sketch | None


def measure(m: Metric, table: Comparisons, how: Settings, gaps: bool = True) -> list[Measured]:
    """Measure every comparison with one metric; without ``gaps``, only test."""
    base, groups, against = m.base, table.groups, table.against
    everyone = np.arange(len(table.pairs))
    compares = bool(m.comparisons)
    scores = m.scores(groups, against) if compares else base.scores(groups)
    theirs = np.full(len(everyone), np.nan) if compares else _reference_scores(base, table)
    lacking = np.isnan(scores) if compares else np.isnan(scores) | np.isnan(theirs) | np.isnan(base.scores(against))
    counts = np.full((2, len(everyone)), np.nan)
    if not compares and base.quotient is not None:
        counts = np.array(base.quotient.counts(groups))
    basis = base.basis(groups)
    low = high = np.full(len(everyone), np.nan)
    if not compares and gaps:
        low, high = score_intervals(base, groups, posterior(base, groups), how.level)
    gap_low, gap_high = (np.full(len(everyone), np.nan) for _ in range(2))
    rows = np.flatnonzero(table.testable)
    tests: dict[int, _Tested] = {}
    if len(rows):
        distinct, which = np.unique(np.hstack([groups[rows], against[rows]]), axis=0, return_inverse=True)
        tested, ends = _compared(m, distinct[:, :4], distinct[:, 4:], how, gaps)
        tests = {int(row): tested[int(i)] for row, i in zip(rows, which, strict=True)}
        gap_low[rows], gap_high[rows] = ends[0][which], ends[1][which]
    if compares:
        low, high = gap_low, gap_high
    else:
        gap_low, gap_high = _to_everybody(base, table, gap_low, gap_high)
    steadied = np.full(len(everyone), np.nan)
    if table.smooths and not compares:
        known = ~np.isnan(table.smoothed).any(axis=1)
        steadied[known] = base.scores(table.smoothed[known])
    return [
        _measured(
            *(table.pairs[i], m, scores[i], theirs[i], low[i], high[i], gap_low[i], gap_high[i]),
            tests.get(i),
            steadied[i],
            table.strengths[i],
            _reason(table.pairs[i], m) if lacking[i] else None,
            (counts[0, i], counts[1, i], basis[i]),
        )
        for i in everyone.tolist()
    ]


@dataclass(frozen=True, slots=True)
class _Tested:
    pvalue: float
    higher: bool
    method: str
    reachable: Reachable
    percentile: float
    p_undefined: float
    sketch: Sketch | None

    @classmethod
    def only(cls, tests: EqualityTest, i: int) -> _Tested:
        """The test without percentile and sketch."""
        p, higher = float(tests.pvalue[i]), bool(tests.higher[i])
        return cls(p, higher, tests.method[i], tests.reachable[i], np.nan, np.nan, None)


def _compared(
    m: Metric, groups: Floats, against: Floats, how: Settings, with_gaps: bool
) -> tuple[list[_Tested], tuple[Floats, Floats]]:
    """The tests and the ends of the intervals of the gaps, for distinct comparisons."""
    base = m.base
    kind: Kind = m.kind or ("ratio" if base.unbounded else "difference")
    nothing = np.full(len(groups), np.nan)
    if m.is_distance:
        ends = _distances(m, groups, against, how.level) if with_gaps else (nothing, nothing)
        return [_by_match(m, g, r, how) for g, r in zip(groups, against, strict=True)], ends
    gaps = gaps_of(base, groups, against, kind)
    tests = equality_of_gaps(base, groups, against, how.test, how.mid_p, gaps)
    if not with_gaps:
        return [_Tested.only(tests, i) for i in range(len(groups))], (nothing, nothing)
    mine, theirs = base.scores(groups), base.scores(against)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = mine - theirs if kind == "difference" else mine / theirs
    ends = gap_intervals(gaps, np.where(np.isfinite(estimates), estimates, np.nan), how.level)
    matched = _matched(m, groups, against, tests, how)
    sketches = _sketches(m, groups, against, tests, gaps, ends)
    return [
        _Tested(float(p), bool(up), method, reach, percentile, empty, sketch)
        for p, up, method, reach, (percentile, empty), sketch in zip(
            tests.pvalue, tests.higher, tests.method, tests.reachable, matched, sketches, strict=True
        )
    ], ends


def _distances(m: Metric, groups: Floats, against: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of an interval of the largest of several gaps, from simultaneous intervals of all of them."""
    each = 1 - (1 - level) / len(m.comparisons)
    ends = [gaps_of(c.base, groups, against, "difference").interval(each) for c in m.comparisons]
    nearest = [np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high))) for low, high in ends]
    farthest = [np.maximum(np.abs(low), np.abs(high)) for low, high in ends]
    # Rounding must not leave the observed distance outside.
    observed = m.scores(groups, against)
    return np.fmin(np.max(nearest, axis=0), observed), np.fmax(np.max(farthest, axis=0), observed)


def _by_match(m: Metric, group: Floats, against: Floats, how: Settings) -> _Tested:
    """Test a distance, which is 0 only if all of its rates are equal, by MATCH given the pooled counts.

    For very many cases, the p-value is the smallest one of its rates times their number (Bonferroni).
    """
    if group.sum() + against.sum() > _MOST_MATCHED:
        pairs = ([*counts_of(c.base, group[None]), *counts_of(c.base, against[None])] for c in m.comparisons)
        p = min(float(fisher(*counts).pvalue(how.mid_p)[0]) for counts in pairs)
        return _Tested(min(1.0, len(m.comparisons) * p), True, "fisher", None, np.nan, np.nan, None)
    result = match_test(_matrix(group), _matrix(against), m, mid_p=how.mid_p)
    percentile, empty = _percentile(m, _matrix(group), _matrix(against), how)
    return _Tested(result.pvalue, True, "match", None, percentile, empty, None)


def _matched(
    m: Metric, groups: Floats, against: Floats, tests: EqualityTest, how: Settings
) -> list[tuple[float, float]]:
    """The percentile of the MATCH test and the probability of an undefined score; nan if too costly."""
    if tests.fisher is not None and how.null == "pooled" and not m.kind and m.base.defined_by_denominator:
        # Given the denominator and the pooled counts, MATCH is Fisher's test.
        defined = ~np.isnan(tests.pvalue)
        cells, pooled = groups.sum(axis=1), groups.sum(axis=1) + against.sum(axis=1)
        whole = counts_of(m.base, groups)[1] + counts_of(m.base, against)[1]
        empty = np.exp(log_hypergeometric(np.zeros_like(cells), cells, whole, pooled - whole))
        lower = np.where(defined, tests.fisher.lower, np.nan)
        return list(zip(lower.tolist(), empty.tolist(), strict=True))
    return [_percentile(m, _matrix(g), _matrix(r), how) for g, r in zip(groups, against, strict=True)]


def _percentile(m: Metric, group: ConfusionMatrix, reference: ConfusionMatrix, how: Settings) -> tuple[float, float]:
    """The same for one comparison, with an absolute error of 1e-16; relative accuracy in far tails is not needed."""
    if group.n + reference.n > _MOST_MATCHED:
        return np.nan, np.nan
    try:
        null = NullDistribution.of(how.null, m, group, reference)
        tails = null.tails(null.observed(group), relative=False)
        return tails.below + tails.at, null.p_undefined
    except EvenhandError:
        return np.nan, np.nan


def _sketches(
    m: Metric, groups: Floats, against: Floats, tests: EqualityTest, gaps: Gaps, ends: tuple[Floats, Floats]
) -> list[Sketch | None]:
    """The distribution behind each p-value: the null distribution of the score, or the posterior of the gap."""
    if tests.fisher is not None:
        return _null_sketches(m.base, groups, against)
    span = ends[1] - ends[0]
    middle = (ends[0] + ends[1]) / 2
    edges = middle + np.linspace(-1, 1, _BARS)[:, None] * span
    if gaps.kind == "ratio":
        edges = np.maximum(edges, 0.0)
    rows = np.arange(len(groups))
    reached = np.array([gaps.cumulative(edge, rows) for edge in edges])
    heights = np.diff(reached, axis=0).T
    none = 0.0 if gaps.kind == "difference" else 1.0
    return [_sketch("gap", low, high, bars, none) for low, high, bars in zip(edges[0], edges[-1], heights, strict=True)]


def _null_sketches(m: OneGroup, groups: Floats, against: Floats) -> list[Sketch | None]:
    assert m.curve is not None
    a, of_a = counts_of(m, groups)
    b, of_b = counts_of(m, against)
    first, second = a + b, of_a + of_b - a - b
    total = np.maximum(first + second, 1.0)
    mean = of_a * first / total
    reach = 5 * np.sqrt(of_a * first / total * second / total) + 3
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


def _sketch(of: str, low: float, high: float, heights: Floats, at: float) -> Sketch | None:
    if not (np.isfinite([low, high, at]).all() and high > low) or heights.max() <= 0:
        return None
    bars = tuple(int(h) for h in np.round(99 * heights / heights.max()))
    return Sketch(of=of, low=float(low), high=float(high), heights=bars, at=float(at))


def _reference_scores(m: OneGroup, table: Comparisons) -> Floats:
    """The scores of the references.

    A rate over all cases lies between those of the group and of the rest. Other scores need not, so that the gap to all
    cases could contradict the test; for these scores, "all" means all other cases.
    """
    return m.scores(table.shown if m.is_rate else table.against)


def _to_everybody(m: OneGroup, table: Comparisons, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The ends of the intervals of the gap to all cases, which include the group.

    A rate over all cases is a weighted mean of those of the group and of the rest, so the gap to it is a share of the
    gap to the rest. Other scores are compared with the rest, and their intervals are unchanged.
    """
    everybody = np.array([who.kind is ReferenceKind.ALL for who in table.pairs])
    if not everybody.any() or not m.is_rate:
        return low, high
    mine, all_ = m.basis(table.groups), m.basis(table.shown)
    share = np.where(all_ > 0, 1 - mine / np.maximum(all_, 1.0), 0.0)
    return np.where(everybody, low * share, low), np.where(everybody, high * share, high)


def _measured(
    who: Compared,
    m: Metric,
    score: float,
    theirs: float,
    low: float,
    high: float,
    gap_low: float,
    gap_high: float,
    tested: _Tested | None,
    smoothed: float,
    strength: Strength,
    reason: str | None,
    counts: tuple[float, float, float],
) -> Measured:
    compares = bool(m.comparisons)
    gapped = not compares and not who.is_reference
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(score, theirs) if m.base.low >= 0 else np.nan
    on_ratio = m.base.unbounded
    return Measured(
        who=who,
        metric=m,
        score=_number(score),
        low=_number(low),
        high=_number(high),
        reason=reason,
        numerator=None if np.isnan(counts[0]) else int(counts[0]),
        denominator=None if np.isnan(counts[1]) else int(counts[1]),
        basis=int(counts[2]),
        reference_score=_number(theirs) if gapped else None,
        difference=_number(score - theirs) if gapped else None,
        difference_low=_number(gap_low) if gapped and not on_ratio else None,
        difference_high=_number(gap_high) if gapped and not on_ratio else None,
        ratio=_number(float(ratio)) if gapped else None,
        ratio_low=_number(gap_low) if gapped and on_ratio else None,
        ratio_high=_number(gap_high) if gapped and on_ratio else None,
        pvalue=_number(tested.pvalue) if tested and reason is None else None,
        higher=tested.higher if tested else False,
        test=tested.method if tested else None,
        reachable=tested.reachable if tested else None,
        percentile=_number(tested.percentile) if tested else None,
        p_undefined=_number(tested.p_undefined) if tested else None,
        smoothed=_number(smoothed) if not who.is_reference else None,
        strength=strength,
        sketch=tested.sketch if tested else None,
    )


def _reason(who: Compared, m: Metric) -> str | None:
    """Why there is no comparison: the score of the group or of the reference is undefined."""
    if m.comparisons:
        return m.why_undefined(who.cm, who.against)
    own = m.why_undefined(who.cm)
    if own or who.is_reference:
        return own
    theirs = m.why_undefined(who.shown) or m.why_undefined(who.against)
    return f"the reference's score is undefined, {theirs}" if theirs else None


def kept_share(m: Metric, who: Compared, strength: Strength) -> float | None:
    """The share of an expected gap that smoothing leaves, for a rate; None for other scores, which have no rule.

    A rate of ``a`` cases that is smoothed with ``b`` cases of the reference keeps a / (a + b) of the gap.
    """
    if m.comparisons or not m.base.is_rate:
        return None
    cases = float(m.base.basis(np.array(who.cm.cells, dtype=np.float64)))
    if isinstance(strength, Mapping):
        by_whole = {CELLS: "prev", ("tp", "fn"): "tpr", ("fp", "tn"): "fpr"}
        split = by_whole.get(m.tree.last_of)
        if split is None or (split == "prev" and m.key not in ("prev", "nprev")):
            return None
        added = strength[split]
    else:
        assert not isinstance(strength, str)
        theirs = np.array(who.against.cells, dtype=np.float64)
        added = strength * float(m.base.basis(theirs)) / max(float(theirs.sum()), 1.0)
    return cases / (cases + added) if cases + added else 0.0


def _matrix(cells: Floats) -> ConfusionMatrix:
    return ConfusionMatrix(*(int(c) for c in cells))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
