"""How much probability lies below, at and above a score.

The tree of a metric is followed down to its last split. Each way down is a path with a weight.
Scores are monotone in the last count, so that on each path the groups below, at and above a score
are intervals of that count, found by bisection, and their probability is a sum over one split.
Paths of negligible weight are left out: at most ``eps`` on either side of each split, so that the
error of a result is at most ``8 * eps``. If that is too much for a small result, it is computed
again with a smaller ``eps``, until the error is below 1e-10 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ..arrays import Floats, Integers
from ..errors import check_cost
from ..metrics import OneGroupMetric, Tree
from .cell_laws import Law
from .exact_ties import Threshold, equal_rates_count, score_excess
from .splits import Interval, Split, bisect, row_blocks

_COARSE, _FINE = 1e-18, 1e-300
_RELATIVE_ERROR = 1e-10
_MAX_PATHS, _MAX_LISTED = 2**21, 2**24
_BLOCK = 2**17
_HINT = (
    "simulate (`method='montecarlo'`), or condition on the margin (`given='margin'`)"
)

#: Cells along the last axis or their scores, and the probability of each.
Weighted = tuple[Floats, Floats]
#: The scores of cells along the last axis; nan where undefined.
ScoreFunction = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Tails:
    """The probability of a score below, at and above a threshold, given that it is defined.

    ``defined`` is the probability that the score is defined; ``error`` bounds what was left out.
    """

    below: float
    at: float
    above: float
    defined: float
    error: float

    @classmethod
    def given_defined(cls, joint: Floats, eps: float) -> Tails:
        """Tails from the joint probabilities of being defined and below, at or above.

        ``eps`` is what was left out on either side of each split, from which the error follows. All
        are nan if the score is never defined.
        """
        defined = float(joint.sum())
        if defined == 0:
            return cls(np.nan, np.nan, np.nan, 0.0, 8 * eps)
        below, at, above = (joint / defined).tolist()
        return cls(below, at, above, defined, 8 * eps / defined)


@dataclass(frozen=True, slots=True)
class Paths:
    """Ways down a tree to its last split: their counts and weights, and what is left to split."""

    tree: Tree
    n: float
    margin: Floats
    side: Floats
    weight: Floats

    @property
    def size(self) -> Floats:
        """How many cases the last split divides, on each path."""
        return np.asarray(self.tree.last_size(self.n, self.margin) + 0 * self.margin)

    def columns(
        self, last: Floats, rows: Integers | slice = slice(None)
    ) -> list[Floats]:
        """The four cells on the paths ``rows``, given their last counts, to score them."""
        return self.tree.columns(self.n, self.margin[rows], self.side[rows], last)

    def cells(self, last: Floats, rows: Integers) -> Floats:
        """`columns` as an array with the cells along the last axis."""
        return np.stack(np.broadcast_arrays(*self.columns(last, rows)), axis=-1)


def score_tails(
    metric: OneGroupMetric,
    law: Law,
    threshold: Threshold,
    margin: float | None = None,
    *,
    point: bool = False,
    relative: bool = True,
) -> Tails:
    """How much probability lies below, at and above a threshold.

    With ``margin``, they are conditional on that number of cases in the margin of the metric's
    tree, such as actual positives for TPR. With ``point``, the probability of the threshold itself
    has the same relative accuracy as the tails. With ``relative=False``, all of them are only
    accurate to 1e-12 in absolute terms.
    """
    return _refine(partial(_sum_paths, metric, law, threshold, margin), point, relative)


def listed_tails(
    scores_of: ScoreFunction,
    tree: Tree,
    law: Law,
    score: float,
    margin: float | None = None,
    *,
    point: bool = False,
    relative: bool = True,
) -> Tails:
    """`score_tails` of any score, by listing all groups; equal means within 1e-12.

    Any score: it need not be monotone, such as that of a group minus that of the rest of a pool.
    """
    near = 1e-12 * max(1.0, abs(score)) if np.isfinite(score) else 0.0

    def compute(eps: float) -> Tails:
        """Tails without the groups outside the windows of splits, which leave out ``eps``."""
        total = np.zeros(3)
        leaves = walk(tree, law, margin=margin, eps=eps)
        for scores, weights in _defined_scores(scores_of, leaves):
            place = np.searchsorted([score - near, score + near], scores)
            # An infinite score is near nothing, but may equal others.
            place = np.where(scores == score, 1, place)
            total += np.bincount(place, weights, minlength=3)
        return Tails.given_defined(total, eps)

    return _refine(compute, point, relative)


def _refine(compute: Callable[[float], Tails], point: bool, relative: bool) -> Tails:
    """Compute tails with smaller and smaller ``eps`` until their relative errors are small.

    With ``point``, the probability of the score itself counts, too; without ``relative``, the
    first result will do.
    """
    eps = _COARSE
    while True:
        tails = compute(eps)
        smallest = tails.at if point else tails.at + min(tails.below, tails.above)
        # nan, if the score is never defined, ends the search as well.
        is_accurate = not tails.error > _RELATIVE_ERROR * smallest
        if is_accurate or not relative or eps <= _FINE:
            return tails
        # Errors are divided by the probability that the score is defined.
        wanted = 0.01 * _RELATIVE_ERROR * smallest * tails.defined
        eps = max(_FINE, min(eps * 1e-3, wanted))


def _sum_paths(
    metric: OneGroupMetric,
    law: Law,
    threshold: Threshold,
    margin: float | None,
    eps: float,
) -> Tails:
    """Add up, over all paths, the probability that the score is below, at and above a threshold.

    On each path the score is monotone in the last count, so that each is an interval of it. ``eps``
    is left out on either side of each split. `score_tails` repeats this with a smaller one if that
    is too much.
    """
    tree = metric.tree
    split = law.split(tree.last, tree.last_of)
    total = np.zeros(3)
    for paths in list_paths(tree, law, eps, margin):
        first, last = _defined_interval(metric, split, paths)
        below, up_to = _count_below(metric, paths, (first, last), threshold)
        # Counted from the end at which scores are lowest: below, at and above the threshold.
        counts = [0 * below, below, up_to, np.maximum(last - first + 1, 0)]
        if metric.rises:
            pieces = [(first + low, first + high - 1) for low, high in pairwise(counts)]
        else:
            pieces = [(last - high + 1, last - low) for low, high in pairwise(counts)]
        probability = _interval_probability(split, paths, eps)
        total += [(paths.weight * probability(*piece)).sum() for piece in pieces]
        if metric.undefined_at_equal_rates:
            # The score is also undefined at the one count that makes TPR and FPR equal.
            count = equal_rates_count(paths.n, paths.margin, paths.side)
            weight = paths.weight * split.pmf(np.nan_to_num(count, nan=-1), paths.size)
            regions = [(low <= count) & (count <= high) for low, high in pieces]
            total -= [weight[region].sum() for region in regions]
    return Tails.given_defined(np.maximum(total, 0.0), eps)


def list_paths(
    tree: Tree,
    law: Law,
    eps: float,
    margin: float | None = None,
    limit: int = _MAX_PATHS,
) -> Iterator[Paths]:
    """The outcomes of the first splits of a tree with their probabilities, in blocks.

    A path has a count of the margin, such as the actual positives, and one of the side, such as
    TP; the last split stays open, since its tails are sums in closed form. With a ``margin``,
    probabilities are conditional on it. Outcomes of total probability below ``eps`` may be left
    out, and more than ``limit`` paths are an error.
    """
    subject = f"an exact sum over n = {law.n:,} cases has {{}} paths"
    n, margins, weights = float(law.n), np.full(1, float(margin or 0)), np.ones(1)
    if tree.margin and margin is None:
        split, sizes = law.split(tree.margin), np.array([n])
        check_cost(split.widths(sizes, eps).sum(), limit, subject, _HINT)
        table = split.table(sizes, eps)
        weights = table.pmf[0]
        margins = table.start[0] + np.arange(len(weights))
    if not tree.side:
        for rows in row_blocks(np.ones(len(margins)), _BLOCK):
            yield Paths(tree, n, margins[rows], np.zeros(len(rows)), weights[rows])
        return
    split = law.split(tree.side, tree.margin)
    total = float(split.widths(margins, eps).sum())
    check_cost(total, limit, subject, _HINT)
    negligible = eps / max(1.0, total)
    for row, side, weight in _expand(split, margins, weights, eps, negligible):
        yield Paths(tree, n, margins[row], side, weight)


def _expand(
    split: Split, sizes: Floats, weights: Floats, eps: float, negligible: float
) -> Iterator[tuple[Integers, Floats, Floats]]:
    """The likely outcomes of a split, in blocks: index of the size, count, and weight.

    The weight is that of the size times the probability of the count. Left out are tails of at most
    ``eps`` of a split, and outcomes of at most ``negligible`` weight.
    """
    for rows in row_blocks(split.widths(sizes, eps), _BLOCK):
        distinct, place = np.unique(sizes[rows], return_inverse=True)
        table = split.table(distinct, eps)
        weight = weights[rows, None] * table.pmf[place]
        row, column = np.nonzero(weight > negligible)
        yield rows[row], table.start[place[row]] + column, weight[row, column]


def _interval_probability(
    split: Split, paths: Paths, eps: float
) -> Callable[[Floats, Floats], Floats]:
    """A function that gives P(low <= K <= high) on each path, where K is the last count.

    If a side was split off from the margin, many paths are left with the same number of cases to
    split, so that the probabilities are tabulated once for each such number. With one path per
    number, sums are computed directly.
    """
    if not paths.tree.side:
        return lambda low, high: split.interval_sum(low, high, paths.size)
    sizes, row = np.unique(paths.size, return_inverse=True)
    return partial(split.table(sizes, eps).interval_sum, row=row)


def _defined_interval(metric: OneGroupMetric, split: Split, paths: Paths) -> Interval:
    """The last counts with which the score is defined: all but one at either end, or none.

    A needed part, such as a denominator, is empty only at an end, or on the whole path; then the
    interval is empty, too, such as from 1 to 0.
    """
    has_empty_part = metric.undefined_sets[0].has_empty_part
    low, high = split.support(paths.size)
    at_low, at_high = (has_empty_part(*paths.columns(end)) for end in (low, high))
    first, last = low + at_low, high - at_high
    both = np.flatnonzero(at_low & at_high & (high - low >= 2))
    nowhere = both[has_empty_part(*paths.columns(low[both] + 1, both))]
    first[nowhere], last[nowhere] = 1.0, 0.0
    return first, last


def _count_below(
    metric: OneGroupMetric, paths: Paths, defined: Interval, threshold: Threshold
) -> tuple[Floats, Floats]:
    """On each path, how many values of the last count score below the threshold, and up to it.

    All other counts of a path are fixed, and the score is monotone in the last one. So both are
    found by bisection, counted from the end of the interval at which scores are lowest.
    """
    first, last = defined
    start, sign = (first, 1) if metric.rises else (last, -1)
    length = np.maximum(last - first + 1, 0)

    def excess(rows: Integers, steps: Floats) -> Floats:
        """The score minus the threshold, so many steps from where scores are lowest."""
        columns = paths.columns(start[rows] + sign * steps, rows)
        return score_excess(metric, columns, threshold)

    def sign_above(rows: Integers, steps: Floats) -> Floats:
        """1 above the threshold and -1 up to it, so that `bisect` finds where ties end."""
        return np.where(excess(rows, steps) > 0, 1.0, -1.0)

    below = bisect(0 * length, length, excess)
    highest, inside = below.copy(), np.flatnonzero(below < length)
    tied = inside[excess(inside, below[inside]) == 0]
    highest[tied] = length[tied]
    return below, bisect(below, highest, sign_above)


def extreme_cells(
    metric: OneGroupMetric, law: Law, margin: float | None = None
) -> Floats:
    """Groups with the lowest and with the highest score that can occur, shape (2, 4).

    The smallest attainable p-value and the bounds of quantiles follow from them. There are none if
    the score is never defined.
    """
    split = law.split(metric.tree.last, metric.tree.last_of)
    extremes = np.empty((0, 4))
    for paths in list_paths(metric.tree, law, _FINE, margin):
        # A monotone score takes its lowest and its highest value at the end of some path.
        first, last = _defined_interval(metric, split, paths)
        rows = np.flatnonzero(first <= last)
        ends = [paths.cells(end[rows], rows) for end in (first, last)]
        cells = np.concatenate([extremes, *ends])
        scores = metric.scores(cells)
        if not np.isnan(scores).all():
            extremes = cells[[np.nanargmin(scores), np.nanargmax(scores)]]
    return extremes


def walk(
    tree: Tree,
    law: Law,
    *,
    margin: float | None = None,
    eps: float = _COARSE,
    negligible: float = 0.0,
    limit: int = _MAX_LISTED,
) -> Iterator[Weighted]:
    """Every matrix of a tree and its probability, in blocks of cells and weights.

    Each split is cut to a window that leaves out a probability of at most ``eps`` in either tail.
    Matrices with a probability of at most ``negligible`` are left out, too. Cells that the tree
    does not distinguish are merged. It is for scores that must be listed; `score_tails` needs no
    list.
    """
    split = law.split(tree.last, tree.last_of)
    blocks = list(list_paths(tree, law, eps, margin, limit))
    steps = sum(float(split.widths(paths.size, eps).sum()) for paths in blocks)
    subject = f"listing every score of n = {law.n:,} cases takes {{}} steps"
    check_cost(
        steps, limit, subject, "use cdf, sf, pmf or quantile, which need no list"
    )
    for paths in blocks:
        leaves = _expand(split, paths.size, paths.weight, eps, negligible)
        for row, last, weight in leaves:
            yield paths.cells(last, row), weight


def list_scores(
    scores_of: ScoreFunction, tree: Tree, law: Law, margin: float | None = None
) -> Weighted:
    """The scores of all groups and their probabilities, but for negligible ones.

    A score may be listed more than once. Undefined scores are left out, so that probabilities may
    add up to less than 1. `Distribution` takes its support and moments from them.
    """
    leaves = walk(tree, law, margin=margin, limit=2**22)
    scores, weights = zip(*_defined_scores(scores_of, leaves), strict=True)
    return np.concatenate(scores), np.concatenate(weights)


def _defined_scores(
    scores_of: ScoreFunction, leaves: Iterator[Weighted]
) -> Iterator[Weighted]:
    """The scores of groups where they are defined, and their probabilities, in blocks."""
    for cells, weights in leaves:
        scores = scores_of(cells)
        is_defined = ~np.isnan(scores)
        yield scores[is_defined], weights[is_defined]
