"""Confidence intervals of the gap between two scores: a difference or a ratio, group first.

The true scores S1 of a group and S2 of its reference have independent confidence distributions (see
`confidence_distributions`). The lower limit g of a difference has P(S1 - S2 <= g) = a, where a is
half of 1 - confidence level. The upper limit is minus the lower limit of the reference against the
group. A ratio is the difference of the logarithms of scores, so that all below is about differences
of scores on a line, which are either scores or their logarithms.

**Scores of one rate** are melded (Fay, Proschan and Brittain, 2015): lower limits take the rate of
the group from Beta(x1, n1 - x1 + 1) and that of the reference from Beta(x2 + 1, n2 - x2), as Clopper
and Pearson's lower and upper limits do. P(S1 - S2 <= 0) is then the p-value of Fisher's one-sided
test, so that interval and test agree. The probability is

    P(S1 - S2 <= g) = E F1(S2 + g) = E (1 - F2(S1 - g)),

where F1 and F2 are the distribution functions. The mean is taken by quadrature over the score that
varies less: the distribution function of the other is smooth there, and few nodes are enough. It has
kinks where the other score would be the lowest or the highest possible one; nodes lie between them.
The error of limits of differences of rates is below 1e-9.

**Scores of several rates** have samples of points from a lattice, and the mean is over those of the
score that varies less, merged into few. The error in probability is that of the samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..distributions import (
    ScoreSample,
    as_prior,
    beta_parameters,
    confidence_distribution,
    find_roots,
    posterior_distribution,
    towards_ends,
)
from ..metrics import GapKind, OneGroupMetric, sum_cells

#: Sides and rows.
Index = tuple[Integers, Integers]

# Inverse hyperbolic sines of gaps are searched up to this.
_RANGE = 60.0
# Scores that differ by less are equal.
_SAME = 1e-12
# Points that stand for a sample of scores of several rates, denser in the tails, and their weights.
_LEVELS, _DENSITY = towards_ends((np.arange(1_024) + 0.5) / 1_024)
_WEIGHTS = _DENSITY / _DENSITY.sum()
# About this many means are computed at once.
_BATCH = 2_048
# Nodes of quadrature, and the probability beyond them on either side; nodes if a score varies over
# orders of magnitude, or has a density that is infinite at an end.
_FEW, _BEYOND, _MANY = 40, 1e-13, 160
# Secant steps before a root is bracketed.
_STEPS = 8


def count_successes(metric: OneGroupMetric, cells: Floats) -> tuple[Floats, Floats]:
    """The successes and cases of the rate that a score depends on, for cells along the last axis.

    >>> from evenhand.metrics import metric
    >>> count_successes(metric("tpr"), np.array([[3.0, 2.0, 1.0, 9.0]]))
    (array([3.]), array([5.]))
    """
    successes = sum_cells(cells, metric.tree.last)
    return np.asarray(successes), np.asarray(sum_cells(cells, metric.tree.last_of))


def score_gaps(
    metric: OneGroupMetric,
    groups: Floats,
    references: Floats,
    kind: GapKind,
    *,
    prior: float | None = None,
) -> Gaps:
    """Distributions of the gaps between true scores, for cells of shape (comparisons, 4).

    Scores of one rate are melded, scores of several rates mid-p. With a ``prior``, added to both
    sides of every split, distributions are posteriors.
    """
    sides: Any = groups, references
    if metric.curve is not None:
        if prior is None:
            return melded_gaps(metric, groups, references, kind)
        more = as_prior(prior)
        betas = [_betas(metric, cells, more, more) for cells in sides]
        return Gaps(
            kind, RateGaps(metric, kind, *betas), RateGaps(metric, kind, *betas[::-1])
        )
    if prior is None:
        samples = [_samples(metric, cells, "mid") for cells in sides]
    else:
        betas = [beta_parameters(metric.tree, cells, as_prior(prior)) for cells in sides]
        scores: Any = [posterior_distribution(metric, parameters) for parameters in betas]
        samples = [distribution.samples for distribution in scores]
    return Gaps(kind, LatticeGaps(kind, *samples), LatticeGaps(kind, *samples[::-1]))


def melded_gaps(
    metric: OneGroupMetric, groups: Floats, references: Floats, kind: GapKind
) -> Gaps:
    """Gaps whose lower limits take the group's score low and the reference's score high.

    The upper limits take the group's score high and the reference's low.

    >>> from evenhand.metrics import metric
    >>> groups, references = np.array([[1.0, 3, 0, 0]]), np.array([[0.0, 5, 0, 0]])
    >>> low, high = melded_gaps(metric("tpr"), groups, references, "difference").interval(0.95)
    >>> low.round(5), high.round(5)
    (array([-0.39671]), array([0.80588]))
    """
    sides = (groups, references)
    if metric.curve is None:
        first, last = (
            [_samples(metric, cells, end) for cells in sides] for end in ("low", "high")
        )
        forward = LatticeGaps(kind, first[0], last[1])
        return Gaps(kind, forward, LatticeGaps(kind, first[1], last[0]))
    low, high = ([_betas(metric, cells, a, 1 - a) for cells in sides] for a in (0, 1))
    return Gaps(
        kind,
        RateGaps(metric, kind, low[0], high[1]),
        RateGaps(metric, kind, low[1], high[0]),
    )


def _samples(metric: OneGroupMetric, cells: Floats, end: Any) -> list[ScoreSample]:
    """Samples of the confidence distributions of scores of several rates."""
    distribution: Any = confidence_distribution(metric, cells, end)
    return list(distribution.samples)


def _betas(metric: OneGroupMetric, cells: Floats, more1: float, more2: float) -> Floats:
    """The parameters of betas: successes and failures, and what is added to them."""
    x, n = count_successes(metric, cells)
    return np.stack([x + more1, n - x + more2], axis=1)


@dataclass(frozen=True)
class Gaps:
    """Distributions of gaps, one per comparison: group against reference, and the reverse."""

    kind: GapKind
    forward: GapDistribution
    backward: GapDistribution

    def cdf(self, gaps: Floats) -> Floats:
        """P(G <= gap), with one gap per comparison."""
        return self.forward.cdf(_on_line(gaps, self.kind), np.arange(len(gaps)))

    def tails(self, gap: float) -> tuple[Floats, Floats]:
        """P(G <= gap) and P(G >= gap), per comparison."""
        rows = np.arange(self.forward.count)
        gaps = _on_line(np.full(len(rows), gap), self.kind)
        return self.forward.cdf(gaps, rows), self.backward.cdf(-gaps, rows)

    def interval(
        self, confidence_level: float, observed: Floats | float = np.nan
    ) -> tuple[Floats, Floats]:
        """Equal-tailed intervals; they contain the ``observed`` gaps, whatever the rounding.

        Limits are infinite (0 for ratios) if too much of the distribution is undefined.
        """
        tail = (1 - confidence_level) / 2
        low, high = self.forward.lower_limits(tail), -self.backward.lower_limits(tail)
        if self.kind == "ratio":
            with np.errstate(over="ignore"):
                low, high = np.exp(low), np.exp(high)
        return np.fmin(low, observed), np.fmax(high, observed)


def _on_line(scores: Floats, kind: GapKind) -> Floats:
    """Scores on the line where gaps are differences: for ratios, their logarithms."""
    with np.errstate(divide="ignore"):
        return np.log(scores) if kind == "ratio" else scores


class GapDistribution(ABC):
    """Distributions of the gaps of scores on the line, one per comparison.

    ``is_known`` says in which of them a score is known, so that limits are those of the other.
    """

    count: int
    kind: GapKind
    is_known: Bools

    @abstractmethod
    def cdf(self, gaps: Floats, rows: Integers) -> Floats:
        """P(G <= gap) for some rows; what is undefined counts."""

    @abstractmethod
    def quantiles(self, level: float) -> tuple[Floats, Floats]:
        """Quantiles of groups and, with 1 - level, of references."""

    def lower_limits(self, tail: float) -> Floats:
        """The gaps below which lies this probability; -inf if there is none.

        They are searched from a guess: the distances of limits from medians are added like those of
        independent normal variables. That is the limit itself if one of the scores is known.
        """
        from scipy.special import ndtri

        z = ndtri(tail)
        low, high = self.quantiles(tail)
        group, reference = self.quantiles(0.5)
        with np.errstate(invalid="ignore"):
            middle = group - reference
            limits = middle - np.hypot(group - low, high - reference)
            limits = np.where(self.is_known, low - high, limits)
            start, middle = np.arcsinh(limits), np.arcsinh(middle)

        def excess(places: Floats, some: Integers) -> Floats:
            p = self.cdf(np.sinh(places), rows[some])
            return np.asarray(ndtri(np.clip(p, 1e-290, 1 - 1e-16)) - z)

        rows = np.flatnonzero(~self.is_known)
        start = np.clip(np.nan_to_num(start[rows]), -_RANGE, _RANGE)
        slope = max(-z, 0.1) / (np.abs(np.nan_to_num(middle[rows] - start)) + 1e-9)
        places = _find_roots(excess, start, slope)
        limits[rows] = np.where(places > -_RANGE, np.sinh(places), -np.inf)
        return limits


class RateGaps(GapDistribution):
    """Gaps of scores of one rate, from the betas of groups and of references, shape (rows, 2).

    A beta with a parameter of 0 means that the rate is known to be 0 or 1. It is replaced by one that
    cannot be told from it.

    With a = alpha - 1/2 and b = beta - 1/2, the angle v of a rate p = sin(v)**2 has the log density

        2 a log(sin v) + 2 b log(cos v) + constant.

    It is about normal and, for alpha and beta from 1/2 on, finite at both ends. Nodes of quadrature
    are angles between two quantiles far out. Other densities have nodes that are quantiles.
    """

    def __init__(
        self, metric: OneGroupMetric, kind: GapKind, group: Floats, reference: Floats
    ) -> None:
        from scipy.special import betainccinv, betaincinv

        assert metric.curve is not None
        self.curve, self.highest, self.kind = metric.curve, metric.high, kind
        self.count = len(group)
        # The first axis is that of the side: group or reference.
        self.betas: Any = np.maximum([group, reference], 1e-300)
        smallest = self.betas.min(axis=2)
        self.is_known = smallest.min(axis=0) <= 1e-300
        # Distribution functions with an infinite slope at a kink need more nodes, too.
        is_hard = (smallest < 0.5) | ((smallest < 1) & (smallest > 1e-300))[::-1]
        is_hard |= metric.is_unbounded
        self.nodes = np.where(is_hard, _MANY, _FEW)
        self.nodes[smallest <= 1e-300] = 1
        ends = np.array([self.quantiles(0.1), self.quantiles(0.9)])
        with np.errstate(invalid="ignore"):
            spreads = np.abs(np.diff(np.exp(ends) if kind == "ratio" else ends, axis=0)[0])
        self.spreads = np.nan_to_num(spreads, posinf=1e200)
        alpha, beta = np.moveaxis(self.betas, 2, 0)
        self.first = np.arcsin(np.sqrt(betaincinv(alpha, beta, _BEYOND)))
        self.last = np.arcsin(np.sqrt(betainccinv(alpha, beta, _BEYOND)))
        self.total = np.ones((2, self.count))
        regular = np.argwhere(~is_hard)
        for start in range(0, len(regular), _BATCH):
            sides, rows = regular[start : start + _BATCH].T
            masses = self._nodes_between(0.0, 1.0, (sides, rows))[1]
            self.total[sides, rows] = masses.sum(axis=1)

    def quantiles(self, level: float) -> tuple[Floats, Floats]:
        """Quantiles of groups and, with 1 - level, of references."""
        from scipy.special import betainccinv, betaincinv

        alpha, beta = np.moveaxis(self.betas, 2, 0)
        rates = [betaincinv(alpha[0], beta[0], level), betainccinv(alpha[1], beta[1], level)]
        low, high = (self._scores(np.where(rate > 1e-300, rate, 0.0)) for rate in rates)
        return low, high

    def cdf(self, gaps: Floats, rows: Integers) -> Floats:
        """P(G <= gap) for some rows, as a mean over the score that varies less at this gap."""
        ratios = np.exp(np.minimum(gaps, _RANGE)) if self.kind == "ratio" else 1.0
        group, reference = self.spreads[:, rows]
        sides = (reference * ratios <= group).astype(int)
        p = np.empty(len(rows))
        for some in _batches(self.nodes[sides, rows]):
            p[some] = self._mean(gaps[some], (sides[some], rows[some]))
        return p

    def _mean(self, gaps: Floats, index: Index) -> Floats:
        """P(G <= gap), as a mean over the scores of these sides and rows."""
        from scipy.special import betainc, betaincc

        sides, rows = index
        of_reference = sides == 1
        # What leads from the score that varies less to the limit of the other one.
        steps = np.where(of_reference, gaps, -gaps)
        # Between kinks that limit is neither below the lowest nor above the highest score.
        low, high = (self._rates(self._scores(np.array(end)) - steps) for end in (0.0, 1.0))
        rates, masses = self._nodes_between(low, high, index)
        limits = self._rates(self._scores(rates) + steps[:, None])
        # A reference is above the limit if its rate of failures is below that of the limit.
        limits = np.where(of_reference[:, None], limits, 1 - limits)
        wide = self.betas[1 - sides, rows]
        wide = np.where(of_reference[:, None], wide, wide[:, ::-1])
        alpha, beta = wide.T[..., None]
        reached = betainc(alpha, beta, limits)
        # Beyond one of the kinks, the gap is reached whatever the other score is.
        alpha, beta = self.betas[index].T
        above, below = betaincc(alpha, beta, high), betainc(alpha, beta, low)
        return np.asarray(
            (reached * masses).sum(axis=1) + np.where(of_reference, above, below)
        )

    def _nodes_between(self, low: Any, high: Any, index: Index) -> tuple[Floats, Floats]:
        """Rates between two limits, and the masses that they stand for, of shape (rows, nodes).

        All rows need equally many nodes.
        """
        from scipy.special import xlogy

        alpha, beta = self.betas[index].T[..., None]
        count = int(self.nodes[index][0])
        if count != _FEW:
            return _quantiles_between(count, alpha, beta, low[:, None], high[:, None])
        nodes, weights = _gauss_legendre(count)
        start = np.maximum(np.arcsin(np.sqrt(low)), self.first[index])
        stop = np.minimum(np.arcsin(np.sqrt(high)), self.last[index])
        width = np.maximum(stop - start, 0.0)
        rates = np.sin(start[:, None] + width[:, None] * nodes) ** 2
        mean = alpha / (alpha + beta)
        log_density = xlogy(alpha - 0.5, rates / mean)
        log_density += xlogy(beta - 0.5, (1 - rates) / (1 - mean))
        share = (width / self.total[index])[:, None]
        return rates, share * weights * np.exp(log_density)

    def _scores(self, rates: Floats) -> Floats:
        """The scores of rates, on the line."""
        scores = np.where(rates < 1, self.curve.score(rates), self.highest)
        return _on_line(scores, self.kind)

    def _rates(self, places: Floats) -> Floats:
        """The rates of scores on the line, or the nearest possible ones."""
        with np.errstate(over="ignore"):
            scores = np.exp(places) if self.kind == "ratio" else places
        return np.asarray(self.curve.rate(np.clip(scores, 0.0, self.highest)))


def _batches(nodes: Integers) -> Iterator[Integers]:
    """Batches of rows with equally many nodes."""
    for count in np.unique(nodes):
        rows = np.flatnonzero(nodes == count)
        yield from np.array_split(rows, 1 + len(rows) // _BATCH)


def _quantiles_between(
    count: int, alpha: Floats, beta: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Quantiles of betas between two rates, and their masses."""
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    nodes, weights = _dense_nodes(count)
    start, rest = betainc(alpha, beta, low), betaincc(alpha, beta, high)
    width = np.maximum(betainc(alpha, beta, high) - start, 0.0)
    # Nodes are symmetric, so that probabilities above a rate keep their digits, too.
    below, above = start + width * nodes, rest + width * nodes[::-1]
    lower, upper = betaincinv(alpha, beta, below), betainccinv(alpha, beta, above)
    return np.where(below < above, lower, upper), width * weights


@lru_cache(maxsize=8)
def _gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """The nodes and weights of Gauss-Legendre quadrature from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


@lru_cache(maxsize=2)
def _dense_nodes(count: int) -> tuple[Floats, Floats]:
    """Nodes from 0 to 1 that are denser at both ends, and their weights."""
    nodes, weights = _gauss_legendre(count)
    for _ in range(2):
        nodes, density = towards_ends(nodes)
        weights = weights * density
    return nodes, weights / weights.sum()


class LatticeGaps(GapDistribution):
    """Gaps of scores of several rates, from a sample of points per score."""

    def __init__(self, kind: GapKind, *sides: list[ScoreSample]) -> None:
        self.kind, self.sides, self.count = kind, sides, len(sides[0])
        self.is_known = np.zeros(self.count, bool)
        with np.errstate(invalid="ignore"):
            spreads = np.abs(np.subtract(self.quantiles(0.1), self.quantiles(0.9)))
        over_reference = ~(spreads[0] < spreads[1])
        self.rows = [
            self._prepare(*row) for row in zip(*self.sides, over_reference, strict=True)
        ]

    def _prepare(
        self, group: ScoreSample, reference: ScoreSample, over_reference: bool
    ) -> tuple[Floats, Floats, Floats, float]:
        """Scores of the wider sample, the probabilities up to them, and points of the other one.

        Over groups, scores are exchanged and have the opposite sign. With P(both are defined).
        """
        p_defined = (1 - group.p_undefined) * (1 - reference.p_undefined)
        wide, narrow = (group, reference) if over_reference else (reference, group)
        scores, points = _on_line(wide.scores, self.kind), self._find(narrow, _LEVELS)
        reached = wide.cumulative
        if not over_reference:
            scores, points, reached = -scores[::-1], -points, wide.remaining[::-1]
        return scores, reached / max(reached[-1], 1e-300), points, p_defined

    def quantiles(self, level: float) -> tuple[Floats, Floats]:
        """Quantiles of groups and, with 1 - level, of references."""
        group, reference = (
            np.array([self._find(sample, p) for sample in samples])
            for samples, p in zip(self.sides, (level, 1 - level), strict=True)
        )
        return group, reference

    def _find(self, sample: ScoreSample, level: Any) -> Floats:
        """Quantiles of the defined scores of a sample, on the line; nan if there are none."""
        places = np.searchsorted(sample.cumulative[1:-1], level * sample.cumulative[-1])
        scores = sample.scores if len(sample.scores) else np.array([np.nan])
        return _on_line(scores[places], self.kind)

    def cdf(self, gaps: Floats, rows: Integers) -> Floats:
        """P(G <= gap), one comparison after the other."""
        p = np.empty(len(rows))
        for i, row in enumerate(rows):
            scores, reached, points, p_defined = self.rows[row]
            limits = points + gaps[i]
            limits += _SAME * np.clip(np.abs(limits), 1.0, 1e9)
            mean = reached[np.searchsorted(scores, limits, "right")] @ _WEIGHTS
            p[i] = 1 - p_defined * (1 - mean)
        return p


def _find_roots(
    function: Callable[[Floats, Integers], Floats], start: Floats, slope: Floats
) -> Floats:
    """The root of an increasing function in each row, by the secant method.

    ``start`` and ``slope`` are guesses of the root and of the slope there, which are so good that
    two or three evaluations are enough. Where they are not, the root is bracketed.
    """
    roots, rows = start.copy(), np.arange(len(start))
    place, value = start, function(start, rows)
    for _ in range(_STEPS):
        before, value_before = place, value
        with np.errstate(all="ignore"):
            place = np.clip(place - value / slope, -_RANGE, _RANGE)
            value = function(place, rows)
            slope = (value - value_before) / (place - before)
            steps = np.where(slope > 0, value / slope, 0.0)
        roots[rows] = np.clip(place - steps, -_RANGE, _RANGE)
        # The error of a secant step is about the product of the last two values.
        is_open = ~(np.abs(value * value_before) <= 1e-9)
        rows, place = rows[is_open], place[is_open]
        value, slope = value[is_open], slope[is_open]
        if not len(rows):
            return roots
    limit = np.full(len(rows), _RANGE)
    roots[rows] = find_roots(lambda places, i: function(places, rows[i]), -limit, limit)
    return roots
