"""Scores of counts: intervals, gaps, tests, smoothed scores and MATCH percentiles of comparisons.

Weighted or clustered cases have scores of their weighted cells. Intervals and tests use effective
counts, and are approximate. Of rounded counts, they hold for every table that is rounded to the same
one: the rate of a group rises with its successes and falls with its failures, and so do the ends of
its gap to a reference, in whose counts it is the other way round. So they lie at two corners: many
successes and few failures of the group with the opposite of the reference, and the reverse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Integers, choose
from ..confusion import CELLS, ConfusionMatrix
from ..distributions import log_hypergeometric
from ..errors import EvenhandError
from ..inference import (
    SPLITS,
    EqualityTest,
    MatchSettings,
    NullDistribution,
    TwoRates,
    compared_rates,
    count_successes,
    design_effects,
    equality_test,
    fisher_tails,
    limit_strengths,
    match_test,
    melded_gaps,
    score_gaps,
    score_intervals,
    smooth_cells,
    weighting_effects,
)
from ..metrics import GapKind, Metric, OneGroupMetric
from .comparisons import Comparisons
from .settings import ReferenceKind, Settings

# MATCH percentiles of scores of several rates are not computed for more cases.
_MAX_MATCH_CASES = 10**6
# A score of rounded counts that could be further off than this is hidden, unless it differs.
_VAGUE = 0.2


class Sides(NamedTuple):
    """The cells behind a comparison, which are whole numbers of independent cases if ``is_whole``."""

    group: Floats
    reference: Floats
    is_whole: Bools

    def take(self, rows: Any) -> Sides:
        """Some of the comparisons."""
        return Sides(*(array[rows] for array in self))


def evaluate_counts(
    metric: Metric, comparisons: Comparisons, settings: Settings, *, test_only: bool = False
) -> dict[str, Any]:
    """The columns of one metric for comparisons of counts; with ``test_only`` those of the test."""
    if comparisons.tally.rule is not None:
        return evaluate_rounded(metric, comparisons, settings)
    group, reference = comparisons.cells
    sides, effects = effective_cells(metric.base, comparisons)
    columns = score_columns(metric, comparisons, group, reference)
    is_tested = comparisons.is_testable & (columns["reason"] == None)  # noqa: E711
    columns |= run_tests(metric, comparisons, sides, is_tested)
    if test_only:
        return columns
    columns |= interval_columns(metric, comparisons, sides, columns, settings)
    columns |= effects | smoothing_columns(metric, comparisons, settings)
    columns |= match_columns(metric, sides, columns, comparisons.is_testable)
    columns["bound_gaps"] = partial(gap_intervals, metric, comparisons, sides)
    return columns


# Scores


def score_columns(metric: Metric, comparisons: Comparisons, group: Floats, reference: Floats) -> dict[str, Any]:
    """Scores, gaps, and why they are undefined."""
    base = metric.base
    shown = shown_references(metric, comparisons, reference, group)
    cases = comparisons.cases
    columns: dict[str, Any] = {"support": metric.support(cases[0]).min(axis=-1)}
    columns |= cell_columns(comparisons, group, shown) | reference_columns(metric, comparisons)
    if metric.comparisons:
        scores, reference_scores = metric.scores(group, reference), np.full(len(group), np.nan)
        is_lacking = np.isnan(scores)
        columns |= {"gap_kind": metric.kind or "difference", "gap": scores}
    else:
        scores, reference_scores = base.scores(group), base.scores(shown)
        is_lacking = np.isnan(scores) | np.isnan(reference_scores) | np.isnan(base.scores(reference))
        kind = gap_kind(metric)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = scores - reference_scores if kind == "difference" else scores / reference_scores
        columns |= {"gap_kind": kind, "gap": np.where(comparisons.is_reference, np.nan, gap)}
    reasons = np.full(len(group), None, dtype=object)
    for row in np.flatnonzero(is_lacking):
        is_reference = bool(comparisons.is_reference[row])
        reasons[row] = _why_undefined(metric, group[row], reference[row], shown[row], is_reference)
    reference_scores = np.where(comparisons.is_reference, np.nan, reference_scores)
    return columns | {"score": scores, "reference_score": reference_scores, "reason": reasons}


def cell_columns(comparisons: Comparisons, group: Floats, reference: Floats) -> dict[str, Floats]:
    """The cells of groups and references; none without labels."""
    if not comparisons.tally.labelled or comparisons.source != "counts":
        return {}
    columns = {cell: group[:, i] for i, cell in enumerate(CELLS)}
    return columns | {f"reference_{cell}": reference[:, i] for i, cell in enumerate(CELLS)}


def gap_kind(metric: Metric) -> GapKind:
    """How groups are compared: scores without an upper bound by their ratio."""
    return metric.kind or ("ratio" if metric.base.is_unbounded else "difference")


def _why_undefined(metric: Metric, group: Floats, reference: Floats, shown: Floats, is_reference: bool) -> str | None:
    if metric.comparisons:
        return metric.why_undefined(group, reference)
    reason = metric.why_undefined(group)
    if reason or is_reference:
        return reason
    reason = metric.why_undefined(shown) or metric.why_undefined(reference)
    return f"the reference's score is undefined, {reason}" if reason else None


def compares_with_all(metric: Any, comparisons: Comparisons) -> Bools:
    """Which groups are compared with all cases, themselves included.

    A rate over all cases lies between those of the group and of the rest. Other scores need not, so
    that the gap to all cases could contradict the test: they are compared with the rest.
    """
    of_counts = comparisons.source in ("counts", "selections") and not comparisons.is_pooled
    is_rate = isinstance(metric, Metric) and not metric.comparisons and metric.base.is_rate
    return comparisons.has_kind(ReferenceKind.ALL) & (is_rate and of_counts)


def reference_columns(metric: Any, comparisons: Comparisons) -> dict[str, Any]:
    """What references are called, where "all" means the rest for this metric."""
    is_all = comparisons.has_kind(ReferenceKind.ALL)
    if not is_all.any():
        return {}
    if compares_with_all(metric, comparisons).any():
        group, reference = comparisons.sizes
        return {"reference_n": np.where(is_all, group + reference, reference)}
    names = np.array([one.name for one in comparisons.references], dtype=object)
    kinds = np.array([one.kind.value for one in comparisons.references], dtype=object)
    return {
        name: np.where(is_all, "rest", values[comparisons.reference_index])
        for name, values in (("reference", names), ("reference_kind", kinds))
    }


def shown_references(metric: Metric, comparisons: Comparisons, reference: Floats, group: Floats) -> Floats:
    """The cells of the references as reported: all cases include the group."""
    with_all = compares_with_all(metric, comparisons)
    return reference + np.where(with_all[:, None], group, 0.0)


# Effective counts


def effective_cells(metric: OneGroupMetric, comparisons: Comparisons) -> tuple[Sides, dict[str, Floats]]:
    """The cells divided by the design effects of weights or clusters, and columns that say so."""
    (group, reference), tally = comparisons.cells, comparisons.tally
    n = len(group)
    if not tally.weighted and tally.clusters is None:
        return Sides(group, reference, np.ones(n, dtype=bool)), {}
    effects, correlation = np.ones((2, n)), np.full(n, np.nan)
    is_whole = np.zeros(n, dtype=bool)
    if tally.clusters is None:
        squares = comparisons.split(comparisons.counts.squares)
        pairs = zip((group, reference), squares, strict=True)
        effects[:] = [weighting_effects(metric, cells, square) for cells, square in pairs]
    else:
        clusters, keys = tally.clusters.cells, tally.clusters.key
        for row in range(n):
            masks = comparisons.masks(row, keys)
            sides = [clusters[comparisons.place[row]][mask] for mask in masks]
            if len(sides[0]):
                found = design_effects(metric, *sides)
                effects[:, row] = found.group, found.reference
                correlation[row], is_whole[row] = found.correlation, found.independent
    support = metric.support(comparisons.cases[0]).min(axis=-1)
    if tally.weighted:
        support = metric.support(group).min(axis=-1)
    columns = {"n_effective": support / effects[0], "correlation": correlation}
    return Sides(group / effects[0][:, None], reference / effects[1][:, None], is_whole), columns


# Tests


def run_tests(metric: Metric, comparisons: Comparisons, sides: Sides, is_tested: Bools) -> dict[str, Any]:
    """P-values, methods and directions; comparisons with the same counts are tested once."""
    n = len(is_tested)
    pvalue, method = np.full(n, np.nan), np.full(n, None, dtype=object)
    direction, pairs = np.full(n, None, dtype=object), np.full((4, n), np.nan)
    for is_whole in (True, False):
        rows = np.flatnonzero(is_tested & (sides.is_whole == is_whole))
        if not len(rows):
            continue
        cells = np.hstack([sides.group[rows], sides.reference[rows]])
        _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        distinct = sides.take(rows[first])
        if metric.is_distance:
            parts = [effective_cells(one.base, comparisons)[0].take(rows[first]) for one in metric.comparisons]
            pvalue[rows], methods = (values[which] for values in _test_distance(metric, parts, distinct))
            method[rows], direction[rows] = methods, "higher"
            continue
        test = equality_test(metric.base, distinct.group, distinct.reference, whole=is_whole)
        pvalue[rows], method[rows] = test.pvalues[which], test.method
        direction[rows] = np.where(test.is_higher, "higher", "lower")[which]
        if test.pairs is not None:
            pairs[:, rows] = np.stack(test.pairs)[:, which]
    # A reference that was chosen by outcomes is no reference for a test.
    pvalue[comparisons.is_chosen] = np.nan
    method[np.isnan(pvalue)] = None
    return {"pvalue": pvalue, "method": method, "direction": direction, "pairs": TwoRates(*pairs)}


def _test_distance(metric: Metric, parts: Sequence[Sides], sides: Sides) -> tuple[Floats, Any]:
    """Test a distance, which is 0 only if all of its rates are equal, by MATCH given the pooled counts.

    For effective counts, and for very many cases, the p-value is the smallest of those of its rates
    times their number (Bonferroni).
    """
    names = np.full(len(sides.group), "match", dtype=object)
    pvalues = np.empty(len(names))
    bases = [comparison.base for comparison in metric.comparisons]
    for row, (group, reference) in enumerate(zip(sides.group, sides.reference, strict=True)):
        if sides.is_whole[row] and group.sum() + reference.sum() <= _MAX_MATCH_CASES:
            matrix, other = (ConfusionMatrix.from_array(cells) for cells in (group, reference))
            pvalues[row] = match_test(matrix, other, metric).pvalue
            continue
        names[row] = "fisher" if sides.is_whole[row] else "effective counts"
        each = [
            equality_test(base, part.group[[row]], part.reference[[row]], whole=bool(sides.is_whole[row])).pvalues[0]
            for base, part in zip(bases, parts, strict=True)
        ]
        pvalues[row] = min(1.0, len(each) * np.nanmin(each))
    return pvalues, names


# Intervals


def interval_columns(
    metric: Metric, comparisons: Comparisons, sides: Sides, columns: Mapping[str, Any], settings: Settings
) -> dict[str, Any]:
    """The intervals of scores and gaps."""
    n, level = len(sides.group), settings.confidence_level
    low, high, gap_low, gap_high = np.full((4, n), np.nan)
    for is_whole in (True, False):
        rows = np.flatnonzero(sides.is_whole == is_whole)
        if len(rows) and not metric.comparisons:
            low[rows], high[rows] = score_intervals(metric.base, sides.group[rows], level, whole=is_whole)
    rows = np.flatnonzero(comparisons.is_testable)
    if len(rows):
        observed = np.where(np.isfinite(columns["gap"]), columns["gap"], np.nan)[rows]
        with_all = compares_with_all(metric, comparisons)[rows]
        observed = np.where(with_all, np.nan, observed)
        gap_low[rows], gap_high[rows] = gap_intervals(
            metric, comparisons, sides, rows, level, observed, is_melded=False
        )
    if metric.comparisons:
        low, high = gap_low, gap_high
    return {"low": low, "high": high, "gap_low": gap_low, "gap_high": gap_high}


def gap_intervals(
    metric: Metric,
    comparisons: Comparisons,
    sides: Sides,
    rows: Integers,
    confidence_level: float,
    observed: Floats | float = np.nan,
    *,
    is_melded: bool = True,
) -> tuple[Floats, Floats]:
    """The intervals of the gaps of some comparisons; those with the same counts are computed once.

    Bounds are melded from exact intervals. Of scores of several rates, these are wider.
    """
    if metric.is_distance:
        low, high = _distance_intervals(metric, comparisons, rows, confidence_level)
        return np.fmin(low, observed), np.fmax(high, observed)
    cells = np.hstack([sides.group[rows], sides.reference[rows]])
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    group, reference = cells[first, :4], cells[first, 4:]
    law = melded_gaps if is_melded else score_gaps
    gaps = law(metric.base, group, reference, gap_kind(metric))
    low, high = (end[which] for end in gaps.interval(confidence_level))
    low, high = np.fmin(low, observed), np.fmax(high, observed)
    return _to_all_cases(metric, comparisons, rows, low, high)


def _to_all_cases(
    metric: Metric, comparisons: Comparisons, rows: Integers, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """The ends of gaps to all cases, which include the group.

    A rate over all cases is a weighted mean of those of the group and of the rest, so that the gap
    to it is a share of the gap to the rest.
    """
    with_all = compares_with_all(metric, comparisons)[rows]
    if not with_all.any():
        return low, high
    group, reference = (metric.base.support(cells[rows])[:, 0] for cells in comparisons.cells)
    share = np.where(with_all, reference / np.maximum(group + reference, 1e-300), 1.0)
    return low * share, high * share


def _distance_intervals(
    metric: Metric, comparisons: Comparisons, rows: Integers, confidence_level: float
) -> tuple[Floats, Floats]:
    """Intervals of the largest of several gaps, from simultaneous intervals of all of them."""
    level = 1 - (1 - confidence_level) / len(metric.comparisons)
    ends = []
    for comparison in metric.comparisons:
        sides = effective_cells(comparison.base, comparisons)[0].take(rows)
        gaps = melded_gaps(comparison.base, sides.group, sides.reference, "difference")
        ends.append(gaps.interval(level))
    nearest = [np.where((low <= 0) & (high >= 0), 0.0, np.minimum(abs(low), abs(high))) for low, high in ends]
    farthest = [np.maximum(abs(low), abs(high)) for low, high in ends]
    return np.max(nearest, axis=0), np.max(farthest, axis=0)


# Smoothing and MATCH


def smoothing_columns(metric: Metric, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """Smoothed scores, with their strengths; a rate of a cases keeps a / (a + b) of its gap."""
    labelled = comparisons.tally.labelled and comparisons.source == "counts"
    if metric.comparisons or not labelled:
        return {}
    group, reference = comparisons.cells
    rows = np.flatnonzero((reference.sum(axis=1) > 0) & ~comparisons.is_reference)
    strengths = smoothing_strengths(comparisons, settings)
    base, columns = metric.base, {}
    cells = np.full_like(group, np.nan)
    if strengths.ndim == 1:
        prior = reference[rows] / reference[rows].sum(axis=1, keepdims=True)
        cells[rows] = smooth_cells(group[rows], prior, strengths[rows, None])
        added = strengths * base.support(reference)[:, 0] / np.maximum(reference.sum(axis=1), 1e-300)
        columns["strength"] = strengths.copy()
    else:
        by_split = dict(zip(SPLITS, strengths[rows].T, strict=True))
        cells[rows] = smooth_cells(group[rows], reference[rows], by_split)
        split = {CELLS: "prev", ("tp", "fn"): "tpr", ("fp", "tn"): "fpr"}.get(base.tree.last_of)
        if split is None or (split == "prev" and not base.is_base_rate):
            added = np.full(len(group), np.nan)
        else:
            added = strengths[:, SPLITS.index(split)]
        columns |= {f"strength_{name}": values.copy() for name, values in zip(SPLITS, strengths.T, strict=True)}
    smoothed = base.scores(np.nan_to_num(cells)) if len(cells) else np.empty(0)
    smoothed = np.where(np.isnan(cells).any(axis=1), np.nan, smoothed)
    columns["smoothed"] = smoothed
    if base.is_rate:
        cases = base.support(group)[:, 0]
        columns["shrinkage"] = np.where(cases + added > 0, cases / np.maximum(cases + added, 1e-300), 0.0)
        columns["shrinkage"][np.isnan(added)] = np.nan
    for name in columns:
        columns[name][~np.isfinite(smoothed)] = np.nan
    return columns


def smoothing_strengths(comparisons: Comparisons, settings: Settings) -> Floats:
    """One strength per comparison, or one per split: given, or learnt from all groups of the column."""
    group, reference = comparisons.cells
    if isinstance(settings.strength, Mapping):
        return np.tile([float(settings.strength[split]) for split in SPLITS], (len(group), 1))
    if settings.strength != "auto":
        return np.full(len(group), float(settings.strength))
    return limit_strengths(comparisons.spreads, group, reference)


def match_columns(metric: Metric, sides: Sides, columns: Mapping[str, Any], is_testable: Bools) -> dict[str, Any]:
    """The percentile of the MATCH test, and the probability of an undefined score."""
    n = len(is_testable)
    percentile, p_undefined = np.full((2, n), np.nan)
    rows = np.flatnonzero(is_testable & sides.is_whole)
    base = metric.base
    if base.curve is not None and not metric.comparisons and base.defined_by_denominator:
        # Given the denominator and the pooled counts, MATCH is Fisher's test.
        group, reference = sides.group[rows], sides.reference[rows]
        tails = fisher_tails(compared_rates(base, group, reference))
        is_defined = ~np.isnan(base.scores(group)) & ~np.isnan(base.scores(reference))
        percentile[rows] = np.where(is_defined, tails.lower, np.nan)
        n1, pooled = group.sum(axis=1), group.sum(axis=1) + reference.sum(axis=1)
        cases = count_successes(base, group)[1] + count_successes(base, reference)[1]
        p_undefined[rows] = np.exp(log_hypergeometric(np.zeros_like(n1), n1, cases, pooled - cases))
    else:
        for row in rows:
            matrices = [ConfusionMatrix.from_array(cells[row]) for cells in (sides.group, sides.reference)]
            percentile[row], p_undefined[row] = _match_percentile(metric, *matrices)
    return {"percentile": percentile, "p_undefined": p_undefined}


def _match_percentile(metric: Metric, group: ConfusionMatrix, reference: ConfusionMatrix) -> tuple[float, float]:
    """The same for one comparison, with an absolute error of 1e-16; nan if it is too costly."""
    if group.n + reference.n > _MAX_MATCH_CASES:
        return np.nan, np.nan
    try:
        null = NullDistribution.of(group, reference, metric, MatchSettings())
        tails = null.tails(null.observed(group), relative=False)
        return tails.below + tails.at, null.p_undefined
    except EvenhandError:
        return np.nan, np.nan


# Rounded counts


def evaluate_rounded(metric: Metric, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """The columns of one metric for comparisons of rounded counts.

    Scores of several rates have no two corners: they are shown, and not tested.
    """
    rule, base = comparisons.tally.rule, metric.base
    assert rule is not None
    group, reference = comparisons.cells
    columns = score_columns(metric, comparisons, group, reference)
    columns |= smoothing_columns(metric, comparisons, settings)
    if not rule.shows_zero:
        # 0 may stand for other counts, so that no score is known to be undefined.
        columns["reason"] = np.full(len(group), None, dtype=object)
    columns["bound_gaps"] = lambda rows, level: np.full((2, len(rows)), np.nan)
    # Bounds over all tables hold for no single count, so that Holm's method is the plain one.
    columns["pairs"] = TwoRates(*np.full((4, len(group)), np.nan))
    columns["direction"] = np.full(len(group), None, dtype=object)
    is_testable = comparisons.is_testable & (columns["reason"] == None)  # noqa: E711
    columns["pvalue"] = np.where(is_testable, 1.0, np.nan)
    if metric.is_distance or base.curve is None:
        return _hide_scores(columns, np.zeros(len(group), dtype=bool))
    lows, highs = (comparisons.split(array) for array in (comparisons.counts.low, comparisons.counts.high))
    corners = [corner_cells(base, lows, highs, side) for side in (False, True)]
    tests, ends = [], []
    for sides in corners:
        test = equality_test(base, sides.group, sides.reference)
        tests.append(test)
        ends.append(score_intervals(base, sides.group, settings.confidence_level))
    pvalue, is_higher = _combine_tests(*tests)
    columns["pvalue"] = np.where(is_testable, pvalue, np.nan)
    columns["pvalue"][comparisons.is_chosen] = np.nan
    columns["method"] = choose(np.isnan(columns["pvalue"]), None, "fisher")
    columns["direction"] = np.where(is_higher, "higher", "lower").astype(object)
    columns["low"] = np.where(np.isnan(ends[0][0]), base.low, ends[0][0])
    columns["high"] = np.where(np.isnan(ends[1][1]), base.high, ends[1][1])

    def bound_gaps(rows: Integers, level: float) -> tuple[Floats, Floats]:
        low, high = (gap_intervals(metric, comparisons, sides, rows, level) for sides in corners)
        return low[0], high[1]

    rows = np.flatnonzero(comparisons.is_testable)
    columns["gap_low"], columns["gap_high"] = np.full((2, len(group)), np.nan)
    if len(rows):
        columns["gap_low"][rows], columns["gap_high"][rows] = bound_gaps(rows, settings.confidence_level)
    if metric.comparisons:
        columns |= {"low": columns["gap_low"], "high": columns["gap_high"]}
    columns["bound_gaps"] = bound_gaps
    if metric.comparisons:
        score_ends = [metric.scores(sides.group, sides.reference) for sides in corners]
    else:
        score_ends = [base.scores(sides.group) for sides in corners]
    is_vague = ~(score_ends[1] - score_ends[0] <= _VAGUE * np.maximum(1.0, np.abs(columns["score"])))
    return _hide_scores(columns, is_vague & ~(columns["pvalue"] <= settings.alpha))


def corner_cells(
    metric: OneGroupMetric, low: tuple[Floats, Floats], high: tuple[Floats, Floats], is_high: bool
) -> Sides:
    """The cells with the highest rates of groups and the lowest of references, or the reverse."""
    is_success = np.array([cell in metric.tree.last for cell in CELLS])
    group = np.where(is_success == is_high, high[0], low[0])
    reference = np.where(is_success == is_high, low[1], high[1])
    return Sides(group, reference, np.ones(len(group), dtype=bool))


def _combine_tests(lowest: EqualityTest, highest: EqualityTest) -> tuple[Floats, Bools]:
    """The largest p-value over all tables: 1 unless both corners point the same way.

    A group is higher in all tables if it is where its rate is lowest.
    """
    low, high = (np.nan_to_num(test.pvalues, nan=1.0) for test in (lowest, highest))
    is_higher = lowest.is_higher & (low < 1)
    is_lower = ~highest.is_higher & (high < 1)
    return np.where(is_higher, low, np.where(is_lower, high, 1.0)), is_higher


def _hide_scores(columns: dict[str, Any], is_hidden: Bools) -> dict[str, Any]:
    """The columns without scores that could be nearly anything."""
    for name, values in columns.items():
        if name in ("score", "gap", "smoothed", "shrinkage") or name.startswith("strength"):
            columns[name] = np.where(is_hidden, np.nan, values)
    return columns
