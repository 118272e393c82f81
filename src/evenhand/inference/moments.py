"""The moments of an estimate's error, as sums over all matrices that a group of ``n`` cases can have.

Sums are in closed form for shares and contrasts, and over one count for ratios. Pairs of rates have three counts: the
actual positives and, given these, two independent ones, so that a sum over both is a product of a row, a table of
errors and a column. Scores that are linear in TP given all margins, such as MCC and kappa, only need the mean and the
variance of TP given two margins, and their sums are over the margins alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..laws import ROW_TREE, Multinomial, Split, check_cost, interval_sums, law_of, split_table, walk
from ..metrics import RATE, OneGroup, Tree
from ..progress import progress
from .smoothing import Estimator

__all__ = ["Task", "error_moments"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The probability left out on either side of a split, and that of matrices left out of a sum.
_EPS, _NEGLIGIBLE = 1e-17, 1e-18
# A value of a margin is left out, at each size, if its probability is below this.
_LEFT_OUT = 1e-22
_LARGEST_BLOCK, _LARGEST_SHEET = 2**21, 2**15
# The most matrices of a sum over three counts, terms of one over two, and matrices that are listed.
_MOST_MATRICES, _MOST_STEPS, _MOST_LISTED = 2**30, 2**28, 2**23


@dataclass(frozen=True, slots=True)
class Task:
    """A metric to estimate: its true rates and score, and the estimators."""

    metric: OneGroup
    rates: Floats
    true_score: float
    estimators: list[Estimator]

    def added(self, how: Estimator) -> Floats | None:
        """The pseudo-counts in the cells of the metric's tree; None if they depend on the cells."""
        more = how.pseudo_counts
        return None if more is None else self.metric.tree.collapse(more)

    @property
    def law(self) -> Multinomial:
        """The law of a single case."""
        tp, fn, fp, tn = (float(r) for r in self.rates)
        return Multinomial(1, (tp, fn, fp, tn))


Estimate = tuple[Floats, Floats]
"""The pseudo-counts of an estimator, and its moments, which are to be filled in."""


def error_moments(tasks: list[Task], sizes: Ints, absolute: bool) -> list[Floats]:
    """Per task, P(defined) and the sums of errors, squared and absolute errors; shape (estimators, 4, sizes)."""
    moments = [np.empty((len(task.estimators), 4, len(sizes))) for task in tasks]
    long: list[tuple[Task, list[Estimate]]] = []
    walked: list[tuple[Task, Estimator, Floats]] = []
    for task, curves in zip(tasks, moments, strict=True):
        m = task.metric
        rows: list[Estimate] = []
        for how, curve in zip(task.estimators, curves, strict=True):
            more = task.added(how)
            if more is None:
                walked.append((task, how, curve))
            elif m.linear is not None:
                curve[:] = _closed(task, sizes, more)
                if absolute:
                    curve[3] = _absolute_linear(task, sizes, more)
            else:
                rows.append((more, curve))
        if m.curve is not None and rows:
            _by_denominators(task, sizes, rows, absolute)
        elif rows:
            long.append((task, rows))
    for task, rows in progress(long, "computing risks") if long else ():
        # Margins grow by one case at a time, which does not pay for a single large size.
        if task.metric.linear_in_tp and not absolute and sizes.max() <= (16 * len(sizes) * len(rows)) ** 2:
            _by_margins(task, sizes, rows)
        else:
            _by_rows(task, sizes, rows, absolute)
    if walked:
        for i, size in enumerate(progress(sizes.tolist(), "computing risks")):
            for task, how, curve in walked:
                curve[:, i] = _by_matrix(task, how, size, absolute)
    return moments


def _closed(task: Task, n: Ints, more: Floats) -> Floats:
    """The moments of scores that are linear in the cells, from the mean and variance of one case."""
    weights, rates = np.array(task.metric.linear), task.rates
    score, variance = float(weights @ rates), float(rates @ (weights - weights @ rates) ** 2)
    total = n + more.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(total > 0, (n * score + weights @ more) / total - task.true_score, 0.0)
        squares = np.where(total > 0, n * variance / total / total, 0.0) + errors**2
    return np.stack([(total > 0).astype(np.float64), errors, squares, np.full(len(n), np.nan)])


def _absolute_linear(task: Task, sizes: Ints, more: Floats) -> Floats:
    """The expected absolute errors of a score that is linear in the cells.

    Given the cases that count at all, all of them or those in either of two cells, the score rises with one count.
    """
    m, tree = task.metric, task.metric.tree
    weights = np.array(m.linear)
    split = task.law.split(tree.last, tree.last_of)
    total = sizes + more.sum()
    # The score is (plus - minus + added) / total, where minus is 0 for a share.
    added, two = float(weights @ more), 2.0 if (weights < 0).any() else 1.0
    wanted = task.true_score * total - added
    if not tree.margin:
        errors = _distances(split, sizes.astype(np.float64), wanted)
    else:
        errors = np.empty(len(sizes))
        for i, (k, pmf) in enumerate(_denominators(task, sizes)):
            errors[i] = two * float(pmf @ _distances(split, k, (wanted[i] + k) / two))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, errors / total, 0.0)


def _distances(split: Split, k: Floats, centre: Floats) -> Floats:
    """E|K - c| for K binomial of k cases: (c - kp)(2 P(K <= c) - 1) + 2kpq P(one of k - 1 cases fewer is the floor)."""
    p, q = (float(split.pmf(x, 1.0)) for x in (1.0, 0.0))
    floor = np.floor(centre)
    (below,) = interval_sums(split, k, [(0 * k, np.minimum(floor, k))], _EPS)
    below = np.where(floor >= k, 1.0, np.where(floor < 0, 0.0, below))
    at = np.where(k > 0, split.pmf(floor, np.maximum(k - 1, 0.0)), 0.0)
    distances: Floats = (centre - k * p) * (2 * below - 1) + 2 * k * p * q * at
    return distances


def _denominators(task: Task, sizes: Ints) -> Iterator[tuple[Floats, Floats]]:
    """For each size, the values of the tree's margin that are not improbable, and their probabilities."""
    split, n = task.law.split(task.metric.tree.margin), sizes.astype(np.float64)
    low, high = split.window(n, _EPS)
    _check_steps(task, float((high - low + 1).sum()), sizes)
    table = split_table(split, n, _EPS)
    for start, pmf, many in zip(table.start, table.pmf, (high - low + 1).astype(int).tolist(), strict=True):
        yield start + np.arange(many), pmf[:many]


def _by_denominators(task: Task, sizes: Ints, estimates: list[Estimate], absolute: bool) -> None:
    """The moments of a score that depends on one rate: means over its denominators, each of which is computed once."""
    each = list(_denominators(task, sizes))
    k = np.unique(np.concatenate([values for values, _ in each]))
    for more, curve in estimates:
        moments = _given_denominator(task, k, more, absolute)
        for i, (values, pmf) in enumerate(each):
            start = int(np.searchsorted(k, values[0]))
            curve[:, i] = moments[:, start : start + len(values)] @ pmf


def _given_denominator(task: Task, k: Floats, more: Floats, absolute: bool) -> Floats:
    """The moments given each denominator, shape (4, denominators); they do not depend on ``n``."""
    m, rates, tree = task.metric, task.rates, task.metric.tree
    whole, _, part = tree.counts(rates)
    theta = float(part / whole)
    split = task.law.split(tree.last, tree.last_of)
    if m.curve is RATE:
        size, added = k + tree.counts(more)[0], tree.counts(more)[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.where(size > 0, (k * theta + added) / size - task.true_score, 0.0)
            squares = np.where(size > 0, k * theta * (1 - theta) / size / size, 0.0) + errors**2
            far = np.full(len(k), np.nan)
            if absolute:
                far = np.where(size > 0, _distances(split, k, task.true_score * size - added) / size, 0.0)
        return np.stack([(size > 0).astype(np.float64), errors, squares, far])
    low, high = split.window(k, _EPS)
    width = float((high - low + 1).max(initial=1))
    _check_steps(task, width * len(k), k)
    moments = np.empty((4, len(k)))
    blocks = np.array_split(np.arange(len(k)), max(1, int(width * len(k)) // _LARGEST_BLOCK))
    for rows in progress(blocks, "computing risks"):
        table = split_table(split, k[rows], _EPS)
        last = np.minimum(table.start[:, None] + np.arange(table.pmf.shape[1]), k[rows, None])
        columns = tree.columns(k[rows, None], k[rows, None], 0.0, last)
        moments[:, rows] = _sums(task, columns, table.pmf, more, absolute)
    return moments


def _check_steps(task: Task, steps: float, sizes: NDArray[Any]) -> None:
    check_cost(
        steps,
        _MOST_STEPS,
        f"the exact error of {task.metric.key} at n = {sizes.max():,.0f} is a sum over {{}} terms",
        "use `method='montecarlo'`",
    )


# Pairs of rates, row by row


@dataclass(frozen=True, slots=True)
class _Counts:
    """The relevant counts of a split, one size after the other; ``starts`` and ``lengths`` are per size."""

    count: Floats
    weight: Floats
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, task: Task, part: tuple[str, ...], whole: tuple[str, ...], sizes: Ints) -> _Counts:
        """The counts of ``part`` among cases of ``whole``; sizes up to the largest that are not listed have none."""
        table = split_table(task.law.split(part, whole), sizes.astype(np.float64), _EPS)
        row, place = np.nonzero(table.pmf > _NEGLIGIBLE)
        lengths = np.bincount(sizes[row], minlength=int(sizes[-1]) + 1)
        return cls(table.start[row] + place, table.pmf[row, place], np.cumsum(lengths) - lengths, lengths)

    def at(self, sizes: Ints) -> Ints:
        """The positions of the counts of some sizes."""
        return np.concatenate([np.arange(self.starts[k], self.starts[k] + self.lengths[k]) for k in sizes])


def _by_rows(task: Task, sizes: Ints, estimates: list[Estimate], absolute: bool) -> None:
    """The moments of a pair of rates, as sums over a margin, a side within it, and a last count outside it.

    Given the margin and ``n``, side and last count are independent: moments are products of the probabilities of the
    sides, a table of errors and the probabilities of the last counts. The last counts of all sizes are in one table.
    """
    tree = task.metric.tree
    distinct, place = np.unique(sizes, return_inverse=True)
    _check_budget(task, distinct)
    margins = _margins_by_size(task, distinct)
    margin_of, size_of = np.nonzero(margins > _NEGLIGIBLE)
    rest_of = distinct[size_of] - margin_of
    sides = _Counts.of(task, tree.side, tree.margin, np.unique(margin_of))
    lasts = _Counts.of(task, tree.last, tree.last_of, np.unique(rest_of))
    totals = np.zeros((len(estimates), 4, len(distinct)))
    for margin in np.unique(margin_of):
        at, others = size_of[margin_of == margin], rest_of[margin_of == margin]
        columns, size_at = lasts.at(others), np.repeat(at, lasts.lengths[others])
        weight = lasts.weight[columns] * margins[margin, size_at]
        kept = weight > _NEGLIGIBLE
        if not kept.any():
            continue
        columns, size_at, weight = columns[kept], size_at[kept], weight[kept]
        here, size = sides.at(margin[None]), (distinct[size_at] - margin).astype(np.float64)
        sheet = _Sheet(tree, float(margin), sides.count[here], sides.weight[here], lasts.count[columns], size)
        at, starts = np.unique(size_at, return_index=True)
        for (more, _), total in zip(estimates, totals, strict=True):
            total[:, at] += np.add.reduceat(weight * sheet.moments(task, more, absolute), starts, axis=1)
    for (_, curve), total in zip(estimates, totals, strict=True):
        curve[:] = total[:, place]


def _margins_by_size(task: Task, sizes: Ints) -> Floats:
    """The probability of each value of the tree's margin (rows) at each size (columns)."""
    probabilities = np.zeros((int(sizes.max()) + 1, len(sizes)))
    for i, (values, pmf) in enumerate(_denominators(task, sizes)):
        start = int(values[0])
        probabilities[start : start + len(pmf), i] = pmf[: sizes[i] + 1 - start]
    return probabilities


def _check_budget(task: Task, sizes: Ints) -> None:
    tree, n = task.metric.tree, sizes.astype(np.float64)
    low, high = task.law.split(tree.margin).window(n, _EPS)
    matrices = high - low + 1
    for part, whole, most in ((tree.side, tree.margin, high), (tree.last, tree.last_of, n - low)):
        first, final = task.law.split(part, whole).window(most, _EPS)
        matrices *= final - first + 1
    check_cost(
        float(matrices.sum()),
        _MOST_MATRICES,
        f"the exact error of {task.metric.key} at n = {sizes[-1]:,} is a sum over up to {{}} matrices",
        "use `method='montecarlo'`",
    )
    _check_steps(task, float(sizes[-1] + 1) * len(sizes) * 2**4, sizes)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """All matrices with the same margin: sides along the rows, last counts and their sizes along the columns."""

    tree: Tree
    margin: float
    side: Floats
    weight: Floats
    last: Floats
    size: Floats

    def moments(self, task: Task, more: Floats, absolute: bool) -> Floats:
        """P(defined) and the expected errors, squared and absolute errors in each column."""
        cells = self._cells(self.side[:, None], self.last, self.size, more)
        row, column = self._holes(task.metric, cells, more)
        moments = np.full((4, len(self.last)), np.nan)
        moments[0] = self.weight.sum() - np.bincount(column, self.weight[row], minlength=len(self.last))
        width = max(1, _LARGEST_SHEET // len(self.side))
        for start in range(0, len(self.last), width):
            block = slice(start, start + width)
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = task.metric.score(*(c[block] if c.ndim == 1 else c for c in cells))
                errors -= task.true_score
            first, last = np.searchsorted(column, [start, start + width])
            errors[row[first:last], column[first:last] - start] = 0.0
            moments[1, block] = self.weight @ errors
            if absolute:
                moments[3, block] = self.weight @ np.abs(errors)
            # The square of a score that pseudo-counts of almost 0 have made huge is infinite.
            with np.errstate(over="ignore"):
                errors *= errors
            moments[2, block] = self.weight @ errors
        return moments

    def _cells(self, side: Floats, last: Floats, size: Floats, more: Floats) -> list[Floats]:
        cells = self.tree.columns(self.margin + size, self.margin, side, last)
        return [c + a for c, a in zip(cells, more, strict=True)]

    def _holes(self, m: OneGroup, cells: list[Floats], more: Floats) -> tuple[Ints, Ints]:
        """Rows and columns at which the estimate is undefined, in the order of the columns."""
        holes = m.holes[0]
        row = column = np.empty(0, dtype=np.int64)
        if holes.apart:
            row, column = self._level(more)
            level = self._cells(self.side[row], self.last[column], self.size[column], more)
            equal = holes.at_columns(level, filled=True)
            row, column = row[equal], column[equal]
        if (more > 0).all():
            order = np.argsort(column)
            return row[order], column[order]
        empty = replace(holes, apart=False).at_columns(cells).T
        empty[column, row] = True
        column, row = np.nonzero(empty)
        return row, column

    def _level(self, more: Floats) -> tuple[Ints, Ints]:
        """Where both rates may be equal, which is the case for at most one last count per side and size."""
        margin, side, last = self.tree.counts(more)
        rest = float(more.sum() - margin)
        others, starts, lengths = np.unique(self.size, return_index=True, return_counts=True)
        if self.margin + margin == 0:
            return starts[:0], starts[:0]
        equal = (self.side[:, None] + side) * ((others + rest) / (self.margin + margin)) - last
        nearest = np.rint(equal)
        place = nearest - self.last[starts]
        row, other = np.nonzero((np.abs(equal - nearest) <= 1e-9 * (others + 1)) & (place >= 0) & (place < lengths))
        return row, (starts[other] + place[row, other]).astype(np.int64)


# Scores that are linear in TP given the margins


def _by_margins(task: Task, sizes: Ints, estimates: list[Estimate]) -> None:
    """The moments of a score that is linear in TP given all margins, as sums over two margins.

    At the mean of TP given the margins the score is the conditional mean, and its slope gives the conditional variance.
    """
    distinct, place = np.unique(sizes, return_inverse=True)
    sums: list[list[Floats]] = [[] for _ in estimates]
    blocks: list[_Margins] = []
    for margins in _by_size(task.rates, distinct):
        blocks.append(margins)
        if margins.n == distinct[-1] or sum(len(b.weight) for b in blocks) > _LARGEST_SHEET:
            together = _Margins.joined(blocks)
            starts = np.cumsum([0, *(len(b.weight) for b in blocks[:-1])])
            for (more, _), found in zip(estimates, sums, strict=True):
                found.append(np.add.reduceat(together.moments(task, more), starts, axis=1))
            blocks = []
    for (_, curve), found in zip(estimates, sums, strict=True):
        curve[:] = np.concatenate(found, axis=1)[:, place]


@dataclass(frozen=True, slots=True)
class _Margins:
    """Pairs of margins, actual and predicted positives, with the mean and the variance of TP given both."""

    n: Any
    actual: Floats
    predicted: Floats
    weight: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def joined(cls, blocks: list[_Margins]) -> _Margins:
        """The margins of several sizes, one after the other."""
        n = np.repeat([b.n for b in blocks], [len(b.weight) for b in blocks])
        names = ("actual", "predicted", "weight", "mean", "variance")
        return cls(n, *(np.concatenate([getattr(b, name) for b in blocks]) for name in names))

    def moments(self, task: Task, more: Floats) -> Floats:
        """Weighted P(defined), errors and squared errors of each pair of margins."""
        m = task.metric
        with np.errstate(divide="ignore", invalid="ignore"):
            score = m.score(*self._cells(self.mean, more))
            slope = m.score(*self._cells(self.mean + 1, more)) - score
        defined, errors = self.weight, score - task.true_score
        with np.errstate(over="ignore", invalid="ignore"):
            squares = errors**2 + np.where(self.variance > 0, slope**2 * self.variance, 0.0)
        if not (more > 0).all():
            hole = m.holes[0].at_columns(self._cells(np.maximum(0.0, self.actual + self.predicted - self.n), more))
            defined, errors, squares = (np.where(hole, 0.0, x) for x in (defined, errors, squares))
        return np.stack([defined, self.weight * errors, self.weight * squares, np.full_like(errors, np.nan)])

    def _cells(self, tp: Floats, more: Floats) -> list[Floats]:
        rest = self.n - self.actual - self.predicted
        columns = (tp, self.actual - tp, self.predicted - tp, rest + tp)
        return [c + a for c, a in zip(columns, more, strict=True)]


def _by_size(rates: Floats, sizes: Ints) -> Iterator[_Margins]:
    """The margins of groups of each size, in ascending order.

    With one more case, the margins change in one of four ways. The probabilities of n - 1 and n - 2 cases also give the
    moments of TP: E[TP; margins] = n p P(n - 1 cases have one fewer of both), and likewise for TP (TP - 1).
    """
    tp = float(rates[0])
    tables = [_Table(0, 0, np.ones((1, 1)))]
    for n in range(int(sizes[-1]) + 1):
        if n:
            tables = [tables[0].one_more(rates), *tables[:2]]
        if n in sizes:
            now = tables[0]
            i, j = np.nonzero(now.weight > _NEGLIGIBLE)
            weight, actual, predicted = now.weight[i, j], now.first + i, now.second + j
            mean, pairs = (
                scale * table.at(actual - k, predicted - k) / weight
                for k, scale, table in zip((1, 2), (n * tp, n * (n - 1) * tp**2), [*tables[1:], now, now], strict=False)
            )
            low, high = np.maximum(0, actual + predicted - n), np.minimum(actual, predicted)
            mean = np.clip(mean, low, high)
            # Where a margin is empty, slopes can be huge; TP is certain, and no rounding error may remain.
            variance = np.where(low < high, np.maximum(pairs + mean - mean**2, 0.0), 0.0)
            yield _Margins(n, actual.astype(np.float64), predicted.astype(np.float64), weight, mean, variance)


@dataclass(frozen=True, slots=True)
class _Table:
    """The joint probabilities of two margins, from ``first`` and ``second`` on."""

    first: int
    second: int
    weight: Floats

    def at(self, first: Ints, second: Ints) -> Floats:
        """The probabilities of some values; 0 outside the table."""
        i, j = first - self.first, second - self.second
        inside = (i >= 0) & (j >= 0) & (i < self.weight.shape[0]) & (j < self.weight.shape[1])
        return np.where(inside, self.weight[np.where(inside, i, 0), np.where(inside, j, 0)], 0.0)

    def one_more(self, rates: Floats) -> _Table:
        """The table for one more case, without margins of negligible probability."""
        tp, fn, fp, tn = rates
        rows, columns = self.weight.shape
        weight = np.zeros((rows + 1, columns + 1))
        weight[:-1, :-1] = tn * self.weight
        weight[:-1, 1:] += fp * self.weight
        weight[1:, :-1] += fn * self.weight
        weight[1:, 1:] += tp * self.weight
        i, j = (np.flatnonzero(weight.sum(axis=axis) > _LEFT_OUT) for axis in (1, 0))
        kept = weight[i[0] : i[-1] + 1, j[0] : j[-1] + 1]
        return _Table(self.first + int(i[0]), self.second + int(j[0]), kept)


# All matrices


def _by_matrix(task: Task, how: Estimator, n: int, absolute: bool) -> Floats:
    """The moments at one size, as sums over all matrices; pseudo-counts may depend on the cells."""
    more = task.added(how)
    weight, columns = _leaves(task.metric.tree if more is not None else ROW_TREE, tuple(task.rates.tolist()), n)
    if more is None:
        columns = list(np.moveaxis(how.smooth(np.stack(columns, axis=-1)), -1, 0))
        more = np.zeros(4)
    return _sums(task, columns, weight, more, absolute)


def _sums(task: Task, columns: list[Any], weight: Floats, more: Floats, absolute: bool) -> Floats:
    """P(defined) and the sums of errors, squared and absolute errors over matrices, along the last axis."""
    m = task.metric
    cells = [c + a for c, a in zip(columns, more, strict=True)] if more.any() else columns
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = m.score(*cells) - task.true_score
    defined = weight.sum(axis=-1)
    filled = bool((more > 0).all())
    if m.apart or not filled:
        hole = m.holes[0].at_columns(cells, filled=filled)
        defined = defined - (weight * hole).sum(axis=-1)
        errors[hole] = 0.0
    weighed = weight * errors
    size = (weight * np.abs(errors)).sum(axis=-1) if absolute else np.full_like(defined, np.nan)
    return np.stack([defined, weighed.sum(axis=-1), np.einsum("...i,...i->...", weighed, errors), size])


@lru_cache(maxsize=2)
def _leaves(tree: Tree, rates: tuple[float, ...], n: int) -> tuple[Floats, list[Floats]]:
    """All matrices of a tree with a relevant probability, and their weights; cached for metrics with the same tree."""
    blocks = list(walk(tree, law_of(list(rates), n), eps=_EPS, negligible=_NEGLIGIBLE, most=_MOST_LISTED))
    weight = np.concatenate([leaves.weight for leaves in blocks])
    return weight, [np.concatenate(column) for column in zip(*(leaves.columns for leaves in blocks), strict=True)]
