"""Scores of counts: intervals, gaps, tests, smoothed scores and MATCH percentiles of comparisons.

Weighted cases have scores of their weighted cells. Intervals and tests use effective counts, and
are approximate. Those of clusters use draws (see `evaluate_clusters.py`).

Intervals and tests of rounded counts hold for every table that is rounded to the same one: the rate
of a group rises with its successes and falls with its failures, and so do the ends of its gap to a
reference, in whose counts it is the other way round. So they lie at two corners: few successes and
many failures of the group with the opposite of the reference, and the reverse.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Floats, Integers, choose, is_none
from ..confusion import CELLS, ConfusionMatrix
from ..distributions import log_hypergeometric
from ..errors import EvenhandError
from ..inference import (
    SPLITS,
    MatchSettings,
    NullDistribution,
    TwoRates,
    clustering_effect,
    compared_rates,
    count_successes,
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
from .evaluate_clusters import ClusteredRates
from .settings import Settings

Columns = dict[str, Any]
#: A metric, and the comparisons that it is computed for.
Scored = tuple[Metric, Comparisons]
Wanted = Literal["all", "gaps", "tests"]

# MATCH percentiles of scores of several rates are not computed for more cases.
_MAX_MATCH_CASES = 10**6
# A score of rounded counts that could be further off than this is hidden, unless it differs.
_VAGUE = 0.2


class Sides(NamedTuple):
    """The cells behind comparisons, which are whole numbers of independent cases if ``is_whole``."""

    group: Floats
    reference: Floats
    is_whole: Bools

    def take(self, rows: Any) -> Sides:
        """Some of the comparisons."""
        return Sides(*(array[rows] for array in self))

    def distinct(self, rows: Integers) -> tuple[Integers, Integers]:
        """Rows with different counts, and which of them each row is like."""
        cells = np.hstack([self.group[rows], self.reference[rows]])
        _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        return rows[first], which.reshape(-1)

    def score_intervals(self, metric: OneGroupMetric, cells: Floats, level: float) -> Floats:
        """The intervals of the scores of cells, which are as whole as those of the comparisons."""
        ends = np.empty((2, len(cells)))
        for is_whole in np.unique(self.is_whole).tolist():
            rows = self.is_whole == is_whole
            ends[:, rows] = score_intervals(metric, cells[rows], level, whole=is_whole)
        return ends

    def recast(self, metric: OneGroupMetric, other: OneGroupMetric) -> Sides:
        """Cells that have the successes and cases of one metric as those of another."""
        if metric is other:
            return self
        success = CELLS.index(other.tree.last[0])
        failures = set(other.tree.last_of) - set(other.tree.last)
        failure = next(i for i, cell in enumerate(CELLS) if cell in failures)
        group, reference = np.zeros_like(self.group), np.zeros_like(self.reference)
        for recast, cells in ((group, self.group), (reference, self.reference)):
            successes, cases = count_successes(metric, cells)
            recast[:, success], recast[:, failure] = successes, cases - successes
        return Sides(group, reference, self.is_whole)


def group_by_curve(scored: Sequence[Scored]) -> Iterator[list[Scored]]:
    """Metrics that stand together and whose scores are the same function of one rate.

    Their tests and intervals are the same for the same counts, so that they are computed at once.
    """
    for _, same in groupby(scored, key=lambda one: _curve_key(one[0])):
        yield list(same)


def _curve_key(metric: Metric) -> Hashable:
    base = metric.base
    is_alone = metric.comparisons or base.curve is None or not base.defined_by_denominator
    return metric.key if is_alone else (base.curve, gap_kind(metric))


def evaluate_counts(
    scored: Sequence[Scored], settings: Settings, wanted: Wanted = "all"
) -> tuple[Columns, ComparedCounts]:
    """The columns of metrics with the same curve, one below the other, and their counts.

    Of "gaps", columns are those of scores, tests and gaps, of "tests" those of scores and tests.
    """
    counts, effects = ComparedCounts.of(scored, settings)
    columns = stack_columns([score_columns(*one) for one in scored])
    is_testable, is_chosen = (
        np.concatenate([getattr(comparisons, name) for _, comparisons in scored])
        for name in ("is_testable", "is_chosen")
    )
    reasons = choose(is_testable & is_none(columns["reason"]), counts.why_untested, None)
    columns["reason"] = np.where(is_none(reasons), columns["reason"], reasons)
    columns |= counts.run_tests(is_testable & is_none(columns["reason"]), is_chosen)
    if wanted == "tests":
        return columns, counts
    level, metric = settings.confidence_level, scored[0][0]
    gap_ends, rows = np.full((2, len(is_testable)), np.nan), np.flatnonzero(is_testable)
    gap_ends[:, rows] = counts.gap_intervals(rows, level, columns["gap"][rows])
    columns |= {"gap_low": gap_ends[0], "gap_high": gap_ends[1]}
    columns["bound_gaps"] = counts.gap_intervals
    if wanted == "gaps":
        return columns, counts
    columns["low"], columns["high"] = (
        gap_ends if metric.comparisons else counts.score_intervals(level)
    )
    columns |= effects | stack_columns([smoothing_columns(*one, settings) for one in scored])
    if counts.comparisons.tally.rule is not None:
        return hide_vague_scores(metric, counts.corners, columns, settings), counts
    lengths = np.cumsum([len(comparisons) for _, comparisons in scored])
    whole = np.split(counts.corners[0].is_whole, lengths[:-1])
    matched = [match_columns(*one, is_whole) for one, is_whole in zip(scored, whole, strict=True)]
    return columns | stack_columns(matched), counts


def stack_columns(parts: Sequence[Columns]) -> Columns:
    """Columns of several metrics, one below the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


# Scores


def score_columns(metric: Metric, comparisons: Comparisons) -> Columns:
    """Scores, gaps, and why they are undefined."""
    base, is_reference = metric.base, comparisons.is_reference
    group, reference = comparisons.cells
    shown = reference + np.where(comparisons.includes_group(metric)[:, None], group, 0.0)
    reference_scores = base.scores(shown)
    if metric.comparisons:
        scores = gap = metric.scores(group, reference)
        reference_scores = np.full(len(group), np.nan)
        is_lacking = np.isnan(scores)
    else:
        scores = base.scores(group)
        is_lacking = np.isnan(scores + reference_scores + base.scores(reference))
        with np.errstate(divide="ignore", invalid="ignore"):
            is_ratio = gap_kind(metric) == "ratio"
            gap = scores / reference_scores if is_ratio else scores - reference_scores
        gap = np.where(is_reference, np.nan, gap)
    reasons = np.full(len(group), None, dtype=object)
    rule = comparisons.tally.rule
    # Of some rounded counts, 0 may stand for others, so that no score is known to be undefined.
    for row in np.flatnonzero(is_lacking & (rule is None or rule.shows_zero)):
        references = [shown[row], reference[row]]
        if metric.comparisons:
            reasons[row] = metric.why_undefined(group[row], references[-1])
            continue
        lacking = [] if is_reference[row] else map(metric.why_undefined, references)
        reason = next(filter(None, lacking), None)
        reason = reason and f"the reference's score is undefined, {reason}"
        reasons[row] = metric.why_undefined(group[row]) or reason
    return {
        "score": scores,
        "reference_score": np.where(is_reference, np.nan, reference_scores),
        "gap_kind": np.full(len(group), gap_kind(metric), dtype=object),
        "gap": gap,
        "reason": reasons,
    }


def gap_kind(metric: Metric) -> GapKind:
    """How groups are compared: scores without an upper bound by their ratio."""
    return metric.kind or ("ratio" if metric.base.is_unbounded else "difference")


# The counts that are tested


@dataclass(frozen=True, eq=False)
class ComparedCounts:
    """The counts that tests and intervals use, of metrics whose scores have the same curve.

    Attributes
    ----------
    metric, comparisons : Metric, Comparisons
        The first of the metrics, in whose cells the counts of the others are, and its comparisons.
    corners : list of Sides
        The counts. Of rounded ones these are two: with the lowest rates of groups and the highest
        of references, and the reverse. Rounded scores of several rates have none.
    share : array
        The gap to the reference as a share of the gap to the rest, of which all cases are a part.
    worth : array
        How many cases an effective one stands for.
    clusters : ClusteredRates or None
        What is tested in place of counts of cases that depend on each other, of scores of one rate.
    is_melded : bool
        Whether scores of several rates have melded tests and intervals, not mid-p ones.
    """

    metric: Metric
    comparisons: Comparisons
    corners: list[Sides]
    share: Floats
    worth: Floats
    clusters: ClusteredRates | None = None
    is_melded: bool = False

    @classmethod
    def of(cls, scored: Sequence[Scored], settings: Settings) -> tuple[ComparedCounts, Columns]:
        """The counts of metrics and comparisons, and columns about effective ones."""
        first = scored[0][0].base
        corners: list[list[Sides]] = []
        effects, shares, worths = [], [], []
        for metric, comparisons in scored:
            sides, columns = find_corners(metric, comparisons)
            group, reference = (metric.base.support(cells)[:, 0] for cells in comparisons.cells)
            # A rate over all cases is a weighted mean of those of the group and of the rest.
            share = reference / np.maximum(group + reference, 1e-300)
            shares.append(np.where(comparisons.includes_group(metric), share, 1.0))
            total = comparisons.cells[0].sum(axis=1)
            effective = sides[0].group.sum(axis=1) if sides else total
            worths.append(total / np.maximum(effective, 1e-300))
            effects.append(columns)
            corners.append([side.recast(metric.base, first) for side in sides])
        stacked = [
            Sides(*map(np.concatenate, zip(*same, strict=True)))
            for same in zip(*corners, strict=True)
        ]
        arrays = np.concatenate(shares), np.concatenate(worths)
        counts = cls(*scored[0], stacked, *arrays)
        is_of_one_rate = first.curve is not None and not counts.metric.is_distance
        if counts.is_clustered.any() and is_of_one_rate:
            clusters = ClusteredRates.of(scored, gap_kind(counts.metric), settings)
            counts = replace(counts, clusters=clusters)
        return counts, stack_columns(effects)

    @cached_property
    def is_clustered(self) -> Bools:
        """Whether cases depend on each other, so that their counts are not tested."""
        if self.comparisons.tally.clusters is None:
            return np.zeros(len(self.share), dtype=bool)
        return ~self.corners[0].is_whole

    # Tests

    @property
    def why_untested(self) -> Array:
        """Why comparisons of clusters are not tested; None for those that are."""
        reasons: Any = "scores of several rates are not tested with clusters"
        reasons = reasons if self.clusters is None else self.clusters.why_untested
        return choose(self.is_clustered, reasons, None)

    def run_tests(self, is_tested: Bools, is_chosen: Bools) -> Columns:
        """P-values, methods and directions, of which those over all corners are the most cautious.

        The p-value over all tables that are rounded alike is 1 unless both corners point the same
        way; a group is higher in all tables if it is where its rate is lowest.
        """
        n = len(is_tested)
        pvalue = np.where(is_tested, 1.0, np.nan)
        method, direction = np.full((2, n), None, dtype=object)
        error = np.full(n, np.nan)
        pairs = TwoRates(*np.full((4, n), np.nan))
        if self.corners:
            tests = [self._test_sides(sides, is_tested) for sides in self.corners]
            pvalue, is_higher, method, pairs = tests[0]
            if len(tests) == 2:
                # These p-values hold for no single count, so that Holm's method is the plain one.
                pairs = TwoRates(*np.full((4, n), np.nan))
                low, high = (np.nan_to_num(test[0], nan=1.0) for test in tests)
                is_lower, is_higher = ~tests[1][1] & (high < 1), is_higher & (low < 1)
                pvalue = np.where(is_higher, low, np.where(is_lower, high, 1.0))
                pvalue[~is_tested], method = np.nan, choose(is_tested, "fisher", None)
            direction = choose(is_tested, np.where(is_higher, "higher", "lower"), None)
        if self.clusters is not None:
            error = np.where(
                self.is_clustered, self.clusters.meld(self.clusters.level).errors, error
            )
        # A reference that was chosen by outcomes is no reference for a test.
        pvalue[is_chosen] = np.nan
        method[np.isnan(pvalue)], error[np.isnan(pvalue)] = None, np.nan
        columns = {"pvalue": pvalue, "p_error": error, "method": method}
        return columns | {"direction": direction, "pairs": pairs}

    def _test_sides(self, sides: Sides, is_tested: Bools) -> tuple[Floats, Bools, Array, TwoRates]:
        """P-values, whether groups are higher, methods, and the counts of exact tests."""
        n = len(is_tested)
        pvalue, pairs = np.full(n, np.nan), np.full((4, n), np.nan)
        method, is_higher = np.full(n, None, dtype=object), np.zeros(n, dtype=bool)
        for is_whole in (True, False):
            rows = np.flatnonzero(is_tested & (sides.is_whole == is_whole))
            if not len(rows):
                continue
            if not is_whole and self.clusters is not None:
                melded = self.clusters.meld(self.clusters.level)
                pvalue[rows], method[rows] = melded.pvalues[rows], "cluster bound"
                is_higher[rows] = melded.is_higher[rows]
                continue
            first, which = sides.distinct(rows)
            if self.metric.is_distance:
                pvalues, methods = self._test_distance(sides, first)
                pvalue[rows], method[rows], is_higher[rows] = pvalues[which], methods[which], True
                continue
            group, reference, _ = sides.take(first)
            law = {"whole": is_whole, "melded": self.is_melded}
            test = equality_test(self.metric.base, group, reference, **law)
            pvalue[rows], method[rows] = test.pvalues[which], test.method
            is_higher[rows] = test.is_higher[which]
            if test.pairs is not None:
                pairs[:, rows] = np.stack(test.pairs)[:, which]
        return pvalue, is_higher, method, TwoRates(*pairs)

    def _test_distance(self, sides: Sides, rows: Integers) -> tuple[Floats, Array]:
        """Test a distance, which is 0 only if all of its rates are equal, by MATCH given the pooled counts.

        For effective counts, and for very many cases, the p-value is the smallest of those of its
        rates times their number (Bonferroni).
        """
        is_whole = bool(sides.is_whole[rows[0]])
        pvalues = []
        for part in self.metric.comparisons:
            group, reference, _ = effective_cells(part.base, self.comparisons)[0].take(rows)
            pvalues.append(equality_test(part.base, group, reference, whole=is_whole).pvalues)
        smallest = np.minimum(1.0, len(pvalues) * np.nanmin(pvalues, axis=0))
        methods = np.full(len(rows), "fisher" if is_whole else "effective counts", dtype=object)
        n = (sides.group + sides.reference)[rows].sum(axis=1)
        for i in np.flatnonzero(is_whole & (n <= _MAX_MATCH_CASES)):
            pair = sides.take(rows[i])[:2]
            group_matrix, rest = map(ConfusionMatrix.from_array, pair)
            smallest[i], methods[i] = match_test(group_matrix, rest, self.metric).pvalue, "match"
        return smallest, methods

    # Intervals

    def score_intervals(self, level: float) -> Floats:
        """The intervals of scores; any score is possible at an undefined corner."""
        metric, ends = self.metric.base, []
        if not self.corners:
            return np.full((2, len(self.share)), np.nan)
        for sides in self.corners:
            of_sides = sides.score_intervals(metric, sides.group, level)
            of_sides[:, self.is_clustered] = np.nan
            if self.clusters is not None:
                known = self.clusters.score_intervals(level, metric.scores(sides.group))
                of_sides = np.where(self.is_clustered, known, of_sides)
            ends.append(of_sides)
        low, high = ends[0][0], ends[-1][1]
        if len(ends) == 2:
            low, high = np.nan_to_num(low, nan=metric.low), np.nan_to_num(high, nan=metric.high)
        return np.stack([low, high])

    def reference_margins(self) -> Floats:
        """Half of the distances of the references' 95% intervals from 0 and 1, if scores are rates.

        Of rounded counts, it is that of the nearer corner; nan for other scores.
        """
        margins = np.full((max(1, len(self.corners)), len(self.share)), np.nan)
        if self.metric.comparisons or not self.metric.base.is_rate:
            return np.full(len(self.share), np.nan)
        with_all = (self.share < 1)[:, None]
        for margin, sides in zip(margins, self.corners, strict=True):
            cells = sides.reference + np.where(with_all, sides.group, 0.0)
            low, high = sides.score_intervals(self.metric.base, cells, 0.95)
            margin[:] = np.minimum(low, 1 - high) / 2
        if self.clusters is not None:
            low, high = self.clusters.reference_intervals(0.95)
            margins = np.where(self.is_clustered, np.minimum(low, 1 - high) / 2, margins)
        nearest: Floats = margins.min(axis=0)
        return nearest

    def gap_intervals(
        self, rows: Integers, level: float, gaps: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """The intervals of some gaps, which contain the observed ``gaps`` if these are given.

        Without them, they are melded from exact intervals. Of scores of several rates, such ones
        are wider.
        """
        low, high = np.full((2, len(rows)), np.nan)
        if not self.corners or not len(rows):
            return low, high
        ends = []
        for sides in self.corners:
            first, which = sides.distinct(rows)
            if self.metric.is_distance:
                low, high = self._bound_distances(first, level)
            else:
                group, reference, _ = sides.take(first)
                law = melded_gaps if gaps is None or self.is_melded else score_gaps
                kind = gap_kind(self.metric)
                low, high = law(self.metric.base, group, reference, kind).interval(level)
            ends.append((low[which], high[which]))
        low, high = ends[0][0], ends[-1][1]
        is_clustered = self.is_clustered[rows]
        low, high = np.where(is_clustered, np.nan, [low, high])
        if self.clusters is not None:
            known = self.clusters.gap_intervals(rows, level)
            low, high = np.where(is_clustered, known, [low, high])
        share = self.share[rows]
        if gaps is not None:
            is_known = np.isfinite(gaps) & (share == 1) & ~(is_clustered & np.isnan(low))
            observed = np.where(is_known, gaps, np.nan)
            low, high = np.fmin(low, observed), np.fmax(high, observed)
        return low * share, high * share

    def _bound_distances(self, rows: Integers, confidence_level: float) -> tuple[Floats, Floats]:
        """Intervals of the largest of several gaps, from simultaneous intervals of all of them."""
        level = 1 - (1 - confidence_level) / len(self.metric.comparisons)
        nearest, farthest = [], []
        for part in self.metric.comparisons:
            group, reference, _ = effective_cells(part.base, self.comparisons)[0].take(rows)
            low, high = melded_gaps(part.base, group, reference, "difference").interval(level)
            nearest.append(np.maximum(0.0, np.maximum(low, -high)))
            farthest.append(np.maximum(np.abs(low), np.abs(high)))
        return np.max(nearest, axis=0), np.max(farthest, axis=0)


def find_corners(metric: Metric, comparisons: Comparisons) -> tuple[list[Sides], Columns]:
    """The counts that tests and intervals use, and columns about effective ones.

    Of rounded counts these are two: with the lowest rates of groups and the highest of references,
    and the reverse. Rounded scores of several rates have none, and are not tested.
    """
    if comparisons.tally.rule is None:
        sides, effects = effective_cells(metric.base, comparisons)
        return [sides], effects
    if metric.is_distance or metric.base.curve is None:
        return [], {}
    return rounding_corners(metric.base, comparisons), {}


def rounding_corners(metric: OneGroupMetric, comparisons: Comparisons) -> list[Sides]:
    """The corners of rounded counts: first the one with the lowest rates of groups."""
    low, high = map(comparisons.split, (comparisons.counts.low, comparisons.counts.high))
    is_success = np.isin(CELLS, metric.tree.last)
    is_whole = np.ones(len(comparisons), dtype=bool)
    return [
        Sides(np.where(is_most, high[0], low[0]), np.where(is_most, low[1], high[1]), is_whole)
        for is_most in (~is_success, is_success)
    ]


def effective_cells(metric: OneGroupMetric, comparisons: Comparisons) -> tuple[Sides, Columns]:
    """The cells, divided by the design effects of weights, and columns about effective ones.

    Those of clusters are whole if no cluster of theirs has several cases that count.
    """
    cells, tally = comparisons.cells, comparisons.tally
    n = len(comparisons)
    support = metric.support(cells[0]).min(axis=-1)
    if tally.clusters is not None:
        found = np.empty((3, n))
        for row, place in enumerate(comparisons.place):
            masks = comparisons.masks(row, tally.clusters.key)
            sides = (comparisons.cluster_cells[place][mask] for mask in masks)
            found[:, row] = clustering_effect(metric, *sides)
        columns = {"n_effective": support / found[0], "correlation": found[1]}
        return Sides(*cells, found[2] == 1), columns
    if not tally.weighted:
        return Sides(*cells, np.ones(n, dtype=bool)), {}
    squares = comparisons.split(comparisons.counts.squares)
    effects = [weighting_effects(metric, *pair) for pair in zip(cells, squares, strict=True)]
    group, reference = (side / effect[:, None] for side, effect in zip(cells, effects, strict=True))
    columns = {"n_effective": support / effects[0], "correlation": np.full(n, np.nan)}
    return Sides(group, reference, np.zeros(n, dtype=bool)), columns


def hide_vague_scores(
    metric: Metric, corners: Sequence[Sides], columns: Columns, settings: Settings
) -> Columns:
    """The columns of rounded counts without scores that could be nearly anything."""
    if not corners:
        return columns
    compared = [[corner.group, corner.reference][: metric.groups] for corner in corners]
    low, high = (metric.scores(*cells) for cells in compared)
    is_vague = ~(high - low <= _VAGUE * np.maximum(1.0, np.abs(columns["score"])))
    is_vague &= ~(columns["pvalue"] <= settings.alpha)
    for name, values in columns.items():
        if name in ("score", "gap", "smoothed", "shrinkage") or name.startswith("strength"):
            columns[name] = np.where(is_vague, np.nan, values)
    return columns


# Smoothing and MATCH


def smoothing_columns(metric: Metric, comparisons: Comparisons, settings: Settings) -> Columns:
    """Smoothed scores, with their strengths; a rate of a cases keeps a / (a + b) of its gap."""
    labelled = comparisons.tally.labelled and comparisons.source == "counts"
    if metric.comparisons or not labelled:
        return {}
    base, (group, reference) = metric.base, comparisons.cells
    n = reference.sum(axis=1)
    strength: Any = settings.strength
    # How many cases are added to the denominator of a rate.
    added = np.full(len(n), np.nan)
    if strength == "auto" or isinstance(strength, Mapping):
        if strength == "auto":
            strengths = limit_strengths(comparisons.spreads, group, reference)
        else:
            strengths = np.tile([float(strength[split]) for split in SPLITS], (len(n), 1))
        by_split = dict(zip(SPLITS, strengths.T, strict=True))
        cells = smooth_cells(group, reference, by_split)
        last_of = base.tree.last_of
        if base.is_base_rate or last_of in (("tp", "fn"), ("fp", "tn")):
            added = by_split[{CELLS: "prev", ("tp", "fn"): "tpr"}.get(last_of, "fpr")]
        columns = {f"strength_{split}": values.copy() for split, values in by_split.items()}
    else:
        shares = reference / np.maximum(n, 1e-300)[:, None]
        cells = smooth_cells(group, shares, float(strength))
        added = float(strength) * base.support(shares)[:, 0]
        columns = {"strength": np.full(len(n), float(strength))}
    smoothed = columns["smoothed"] = base.scores(cells)
    if base.is_rate:
        total = base.support(group)[:, 0] + added
        columns["shrinkage"] = base.support(group)[:, 0] / np.where(total == 0, 1.0, total)
    is_lacking = ~((n > 0) & ~comparisons.is_reference & np.isfinite(smoothed))
    return {name: np.where(is_lacking, np.nan, values) for name, values in columns.items()}


def match_columns(metric: Metric, comparisons: Comparisons, is_whole: Bools) -> Columns:
    """The percentile of the MATCH test, and the probability of an undefined score."""
    percentile, p_undefined = np.full((2, len(comparisons)), np.nan)
    rows, base = np.flatnonzero(comparisons.is_testable & is_whole), metric.base
    group, reference = (cells[rows] for cells in comparisons.cells)
    if metric.comparisons or base.curve is None or not base.defined_by_denominator:
        for i, row in enumerate(rows):
            matrices = map(ConfusionMatrix.from_array, (group[i], reference[i]))
            percentile[row], p_undefined[row] = _match_percentile(metric, *matrices)
        return {"percentile": percentile, "p_undefined": p_undefined}
    # Given the denominator and the pooled counts, MATCH is Fisher's test.
    is_undefined = np.isnan(base.scores(group) + base.scores(reference))
    tails = fisher_tails(compared_rates(base, group, reference))
    percentile[rows] = np.where(is_undefined, np.nan, tails.lower)
    n1, pooled = group.sum(axis=1), (group + reference).sum(axis=1)
    cases = count_successes(base, group + reference)[1]
    none = np.zeros_like(n1)
    p_undefined[rows] = np.exp(log_hypergeometric(none, n1, cases, pooled - cases))
    return {"percentile": percentile, "p_undefined": p_undefined}


def _match_percentile(
    metric: Metric, group: ConfusionMatrix, reference: ConfusionMatrix
) -> tuple[float, float]:
    """The same for one comparison, with an absolute error of 1e-16; nan if it is too costly."""
    if group.n + reference.n > _MAX_MATCH_CASES:
        return np.nan, np.nan
    try:
        null = NullDistribution.of(group, reference, metric, MatchSettings())
        tails = null.observed_tails(group, relative=False)
        return tails.below + tails.at, null.p_undefined
    except EvenhandError:
        return np.nan, np.nan
