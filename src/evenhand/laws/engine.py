"""The engine: how much probability lies below, at and above a score.

The tree of a metric is walked down to its last split. Each way down is a path with a weight. Scores are monotone in the
last count, so on each path the groups below, at and above the score are intervals of it, and their probability is a sum
over one split. Paths of negligible weight are left out: at most ``eps`` on either side of each split, so the error of a
result is at most ``8 * eps``. If that is too much for a small result, it is computed again with a smaller ``eps``,
until the error is below 1e-10 of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TooLarge
from ..metrics import Tree
from .budget import MOST_PATHS, check_cost
from .families import Law
from .ordering import Order, OrderPart, Threshold
from .paths import Paths, path_blocks
from .rectangles import CLOSE, crossing, rectangles
from .splits import Split
from .sums import interval_sums, split_table

__all__ = ["Leaves", "Tails", "extremes", "score_blocks", "scores_and_weights", "scores_between", "tails", "walk"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Span = tuple[Floats, Floats]
Sums = Callable[[list[Span]], list[Floats]]
"""The probability of each of some intervals of last counts, on each path."""

_COARSE, _FINE = 1e-18, 1e-300
_MOST_LISTED, _MOST_WALKED = 2**22, 2**24
_GUESS_ABOVE = 2**12
_EXACT_BELOW = 1e-12


@dataclass(frozen=True, slots=True)
class Tails:
    """The probability of a score below, at and above a threshold, given that it is defined.

    ``defined`` is the probability that the score is defined, and ``error`` bounds what was left out.
    """

    below: float
    at: float
    above: float
    defined: float
    error: float


def tails(
    order: Order,
    law: Law,
    threshold: Threshold,
    *,
    margin: float | None = None,
    point: bool = False,
    relative: bool = True,
) -> Tails:
    """How much probability lies below, at and above a score.

    With ``point``, the probability of the score itself has the same relative accuracy as the tails. With
    ``relative=False``, all of them are only accurate to 1e-12 in absolute terms, at less cost.
    """
    eps = _COARSE
    while True:
        result = _tails(order, law, threshold, margin, eps, relative)
        if not relative:
            return result
        small = min(result.below + result.at, result.above + result.at, result.at if point else 1.0)
        if not small < 1e10 * result.error or eps <= _FINE:
            return result
        eps = max(_FINE, min(eps * 1e-3, small * result.defined * 1e-12))


def _tails(order: Order, law: Law, threshold: Threshold, margin: float | None, eps: float, relative: bool) -> Tails:
    split = law.split(order.tree.last, order.tree.last_of)
    known = rectangles(order, law, threshold.value, margin=margin, eps=eps)
    if known is not None:
        blocks = (
            np.add((each.below, 0.0, each.above), _parts(order, split, each.rest, threshold, each.sums))
            for each in known
        )
    else:
        sums = partial(interval_sums, split, eps=eps, relative=relative)
        blocks = (
            np.array(_parts(order, split, paths, threshold, partial(sums, paths.size)))
            for paths in path_blocks(order.tree, law, eps, margin, most=MOST_PATHS // len(order.parts))
        )
    parts = sum(blocks, np.zeros(3)).tolist()
    defined = sum(parts)
    if defined == 0:
        return Tails(np.nan, np.nan, np.nan, 0.0, 8 * eps)
    return Tails(parts[0] / defined, parts[1] / defined, parts[2] / defined, defined, 8 * eps / defined)


def _parts(order: Order, split: Split, paths: Paths, threshold: Threshold, sums_of: Sums) -> list[float]:
    """The probability of some paths with a score below, at and above a threshold."""
    first, final = _defined_range(order, paths, *split.support(paths.size))
    below, up_to = _intervals(order, paths, first, final, threshold)
    filled = order.filled_holes(paths.n, paths.margin, paths.side)
    holes = [np.where(_in(k, (first, final)), k, np.nan) for k in filled]
    # The counts at the score surround those below it, and the counts above it surround both.
    intervals = [below, *_around(up_to, below), *_around((first, final), up_to), *(_points(h) for h in holes)]
    sums = [paths.weight * s for s in sums_of(intervals)]
    totals = [float(s.sum()) for s in sums]
    parts = [totals[0], totals[1] + totals[2], totals[3] + totals[4]]
    for at, gone in zip(holes, sums[5:], strict=True):
        region = np.where(_in(at, below), 0, np.where(_in(at, up_to), 1, 2))
        parts = [max(0.0, part - float(gone[region == i].sum())) for i, part in enumerate(parts)]
    return parts


def _points(k: Floats) -> Span:
    """Single counts as intervals; an empty interval for nan."""
    return np.nan_to_num(k, nan=1.0), np.nan_to_num(k, nan=0.0)


def _in(k: Floats, interval: Span) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (k >= interval[0]) & (k <= interval[1])
    return inside


def _around(outer: Span, inner: Span) -> tuple[Span, Span]:
    """The parts of ``outer`` to the left and right of ``inner``; all of ``outer``, once, if ``inner`` is empty."""
    empty = inner[1] < inner[0]
    left = outer[0], np.where(empty, outer[1], inner[0] - 1)
    right = np.where(empty, 1.0, inner[1] + 1), np.where(empty, 0.0, outer[1])
    return left, right


def _defined_range(order: Order, paths: Paths, low: Floats, high: Floats) -> Span:
    """The range of last counts in which the score is defined on each path; holes lie at its ends, or fill a path."""

    def undefined(path: Any, last: Floats) -> NDArray[np.bool_]:
        columns = order.tree.columns(float(paths.n), paths.margin[path], paths.side[path], last)
        missing: NDArray[np.bool_] = np.any([part.undefined(columns) for part in order.parts], axis=0)
        return missing

    at_low, at_high = undefined(slice(None), low), undefined(slice(None), high)
    first, final = low + at_low, high - at_high
    both = np.flatnonzero(at_low & at_high & (high - low >= 2))
    filled = both[undefined(both, low[both] + 1)]
    first[filled], final[filled] = 1.0, 0.0
    return first, final


def _intervals(order: Order, paths: Paths, first: Floats, final: Floats, threshold: Threshold) -> tuple[Span, Span]:
    """On each path, the last counts that score below the threshold, and those that score at or below it."""
    below, up_to = (first, final), (first, final)
    for part in order.parts:
        less, not_more = _counts(order, part, paths, first, final, threshold)
        if part.rises:
            below = below[0], np.minimum(below[1], first + less - 1)
            up_to = up_to[0], np.minimum(up_to[1], first + not_more - 1)
        else:
            below = np.maximum(below[0], final - less + 1), below[1]
            up_to = np.maximum(up_to[0], final - not_more + 1), up_to[1]
    return below, up_to


def _counts(
    order: Order, part: OrderPart, paths: Paths, first: Floats, final: Floats, threshold: Threshold
) -> tuple[Floats, Floats]:
    """How many last counts, starting with the lowest score, lie below the threshold, and at or below it."""
    value, key = threshold.value, threshold.key
    start, sign = (first, 1) if part.rises else (final, -1)

    # Products of two counts are exact in int64 up to this n; beyond it, floats are close enough.
    kind = np.int64 if paths.n < 2**31 else np.float64
    counts = [c.astype(kind) for c in (paths.margin, paths.side, start)]

    def columns(path: Indices, t: Floats) -> list[Any]:
        margin, side, last = (c[path] for c in counts)
        return order.tree.columns(paths.n, margin, side, last + sign * t.astype(kind))

    def below(path: Indices, t: Floats, limit: float) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return part.inside(columns(path, t)) <= limit

    def side(path: Indices, t: Floats) -> NDArray[np.int64]:
        return part.sides(np.stack(np.broadcast_arrays(*columns(path, t)), axis=-1), key)

    length = np.maximum(final - first + 1, 0)
    less, high, open_ = _crossed(part, paths, start, sign, length, value)
    not_more = less.copy()
    # Closer than this, floats cannot decide. A number without a key stands for every score that rounds to it.
    near = (_EXACT_BELOW if key is not None else 1e-14) * max(1.0, abs(value)) if np.isfinite(value) else 0.0
    less[open_] = _search(open_, less[open_], high[open_], lambda p, t: below(p, t, value - near))
    not_more[open_] = less[open_]
    more = open_[less[open_] < high[open_]]
    more = more[below(more, less[more], value + near)]
    not_more[more] = _search(more, less[more] + 1, high[more], lambda p, t: below(p, t, value + near))
    if key is not None and len(more):
        low, up_to = less[more], not_more[more]
        less[more] = _search(more, low, up_to, lambda p, t: side(p, t) < 0)
        not_more[more] = _search(more, less[more], up_to, lambda p, t: side(p, t) <= 0)
    return less, not_more


def _crossed(
    part: OrderPart, paths: Paths, start: Floats, sign: int, length: Floats, value: float
) -> tuple[Floats, Floats, Indices]:
    """Bounds of the number of last counts that score below a value, and the paths on which they are not certain.

    Where the score is reached in closed form, between two counts and not close to either, the number is certain.
    """
    last = crossing(part, value, paths.n, paths.margin, paths.side)
    if last is None:
        return 0 * length, length, np.arange(len(length))
    # With nothing on one side, a score may be the same whatever the last count is.
    varies = (paths.side > 0) & (paths.side < paths.margin)
    place = np.where(varies, sign * (last - start), np.nan)
    nearest = np.rint(place)
    with np.errstate(invalid="ignore"):
        certain = np.abs(place - nearest) > CLOSE
    low = np.where(certain, np.ceil(place), np.where(np.isfinite(place), nearest - 1, 0))
    high = np.where(certain, low, np.where(np.isfinite(place), nearest + 2, length))
    open_ = np.flatnonzero(~certain)
    return np.clip(low, 0, length), np.clip(high, 0, length), open_


Holds = Callable[[Indices, Floats], NDArray[np.bool_]]


def _search(path: Indices, low: Floats, high: Floats, holds: Holds) -> Floats:
    """The first position on each path at which ``holds`` is false."""
    low, high = low.copy(), high.copy()
    if len(path) > _GUESS_ABOVE:
        # Neighbouring paths have similar answers: those of a few narrow the search on the others.
        some = np.arange(0, len(path), 16)
        guess = np.interp(np.arange(len(path)), some, _bisect(path[some], low[some], high[some], holds))
        before, after = np.clip(np.floor(guess) - 2, low, high), np.clip(np.floor(guess) + 2, low, high)
        for at, rest in ((before - 1, np.flatnonzero(before > low)), (after, np.flatnonzero(after < high))):
            yes = holds(path[rest], at[rest])
            low[rest] = np.where(yes, np.maximum(low[rest], at[rest] + 1), low[rest])
            high[rest] = np.where(yes, high[rest], np.minimum(high[rest], at[rest]))
    return _bisect(path, low, high, holds)


def _bisect(path: Indices, low: Floats, high: Floats, holds: Holds) -> Floats:
    low, high = low.copy(), high.copy()
    while True:
        open_ = np.flatnonzero(low < high)
        if not len(open_):
            return low
        middle = np.floor((low[open_] + high[open_]) / 2)
        yes = holds(path[open_], middle)
        low[open_] = np.where(yes, middle + 1, low[open_])
        high[open_] = np.where(yes, high[open_], middle)


def extremes(order: Order, law: Law, *, margin: float | None = None) -> tuple[Threshold, Threshold]:
    """The lowest and the highest score that can occur."""
    if len(order.parts) > 1:
        scores, _ = scores_and_weights(order, law, margin=margin, eps=_FINE)
        return Threshold(float(scores.min())), Threshold(float(scores.max()))
    split = law.split(order.tree.last, order.tree.last_of)
    ends = [
        cells
        for paths in path_blocks(order.tree, law, _FINE, margin)
        if (cells := _ends_of_paths(order, split, paths)) is not None
    ]
    cells = np.concatenate(ends)
    scores = order.scores(cells)
    return order.threshold(cells[np.nanargmin(scores)]), order.threshold(cells[np.nanargmax(scores)])


def _ends_of_paths(order: Order, split: Split, paths: Paths) -> Floats | None:
    """The matrices with the lowest and the highest score of some paths; None if none of them has a score."""
    first, final = _defined_range(order, paths, *split.support(paths.size))
    kept = np.flatnonzero(first <= final)
    if not len(kept):
        return None
    # A monotone score takes its lowest and its highest value at the end of some path.
    cells = np.concatenate(
        [order.tree.cells(paths.n, paths.margin[kept], paths.side[kept], last[kept]) for last in (first, final)]
    )
    scores = order.scores(cells)
    return cells[[np.nanargmin(scores), np.nanargmax(scores)]]


@dataclass(frozen=True, slots=True)
class Leaves:
    """Matrices at the end of a walk down a tree: four columns of cells, and the weight of each matrix."""

    columns: list[Floats]
    weight: Floats


def walk(
    tree: Tree,
    law: Law,
    *,
    margin: float | None = None,
    eps: float = _COARSE,
    negligible: float = 0.0,
    most: int = _MOST_WALKED,
) -> Iterator[Leaves]:
    """Every matrix of a tree with its probability, in blocks, so that memory stays bounded.

    The windows of the splits leave out at most ``eps`` on either side. Matrices whose probability is at most
    ``negligible`` are left out too. Cells that the tree does not distinguish are merged.
    """
    split = law.split(tree.last, tree.last_of)
    every = list(path_blocks(tree, law, eps, margin, negligible, most))
    check_cost(
        sum(_leaves(split, paths, eps) for paths in every),
        most,
        f"listing every score of n = {law.n:,} cases takes {{}} steps",
        "use cdf, sf, pmf or quantile, which need no list",
    )
    for paths in every:
        sizes, row = np.unique(paths.size, return_inverse=True)
        low, high = split.window(sizes, eps)
        width = int((high - low).max(initial=0)) + 1
        for block in np.array_split(np.arange(len(row)), max(1, len(row) * width // 2**20)):
            used, inner = np.unique(row[block], return_inverse=True)
            table = split_table(split, sizes[used], eps)
            weight = paths.weight[block, None] * table.pmf[inner]
            i, j = np.nonzero(weight > negligible)
            where = block[i]
            columns = tree.columns(float(paths.n), paths.margin[where], paths.side[where], table.start[inner[i]] + j)
            yield Leaves([np.ascontiguousarray(np.broadcast_to(c, i.shape)) for c in columns], weight[i, j])


def _leaves(split: Split, paths: Paths, eps: float) -> float:
    """How many matrices the paths lead to."""
    sizes, row = np.unique(paths.size, return_inverse=True)
    low, high = split.window(sizes, eps)
    return float((high - low + 1)[row].sum())


def score_blocks(
    order: Order, law: Law, *, margin: float | None = None, eps: float = _COARSE, most: int = _MOST_WALKED
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of possible scores and their probabilities; undefined scores are left out, equal ones may recur."""
    for leaves in walk(order.tree, law, margin=margin, eps=eps, most=most):
        scores = order.scores(np.stack(leaves.columns, axis=-1))
        defined = ~np.isnan(scores)
        yield scores[defined], leaves.weight[defined]


def scores_and_weights(
    order: Order, law: Law, *, margin: float | None = None, eps: float = _COARSE
) -> tuple[Floats, Floats]:
    """All of `score_blocks` at once."""
    blocks = list(score_blocks(order, law, margin=margin, eps=eps, most=_MOST_LISTED))
    return np.concatenate([s for s, _ in blocks]), np.concatenate([w for _, w in blocks])


def scores_between(
    order: Order, law: Law, low: float, high: float, *, margin: float | None = None
) -> tuple[Floats, Floats]:
    """The scores above ``low`` and up to ``high`` and their probabilities; equal scores may recur."""
    if len(order.parts) > 1:
        raise TooLarge(f"scores made of {len(order.parts)} others are not listed between two scores")
    split = law.split(order.tree.last, order.tree.last_of)
    scores, weights, listed = [np.zeros(0)], [np.zeros(0)], 0.0
    for paths in path_blocks(order.tree, law, _COARSE, margin):
        first, final = _defined_range(order, paths, *split.support(paths.size))
        _, up_to_low = _intervals(order, paths, first, final, Threshold(low))
        _, up_to_high = _intervals(order, paths, first, final, Threshold(high))
        left, right = _around(up_to_high, up_to_low)
        for start, end in (left, right):
            count = np.maximum(end - start + 1, 0).astype(np.int64)
            listed += float(count.sum())
            check_cost(listed, _MOST_LISTED, f"listing scores of n = {law.n:,} cases takes {{}} steps", "take fewer")
            path = np.repeat(np.arange(len(count)), count)
            last = start[path] + np.arange(len(path)) - np.repeat(np.cumsum(count) - count, count)
            cells = order.tree.cells(float(paths.n), paths.margin[path], paths.side[path], last)
            found = order.scores(cells)
            weight = paths.weight[path] * split.pmf(last, paths.size[path])
            scores.append(found[~np.isnan(found)])
            weights.append(weight[~np.isnan(found)])
    return np.concatenate(scores), np.concatenate(weights)
