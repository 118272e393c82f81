"""Confidence intervals of the gap between two scores: a difference or a ratio, group first.

**Model.** The true scores S1 of a group and S2 of its reference have independent confidence
distributions (see `confidence_distributions.py`), and a score is an increasing function of one rate,
its `curve`, or depends on several. The lower limit g of a difference has
P(S1 - S2 <= g) = a, where a is half of 1 - confidence level. The upper limit is minus the lower
limit of the reference against the group. A ratio is the difference of the logarithms of scores, so
that all below is about differences of scores on a line, which are either scores or their logarithms.

**Scores of one rate** are melded (Fay, Proschan and Brittain, 2015): lower limits take the rate of
the group from Beta(x1, n1 - x1 + 1) and that of the reference from Beta(x2 + 1, n2 - x2), as Clopper
and Pearson's lower and upper limits do. The probability is

    P(S1 - S2 <= g) = E F1(S2 + g) = E (1 - F2(S1 - g)),

where F1 and F2 are the distribution functions. The mean is taken by quadrature over the score that
varies less: the distribution function of the other is smooth there, and few nodes are enough. It has
kinks where the other score would be the lowest or the highest possible one; nodes lie between them.

**Agreement with Fisher's test.** P(S1 - S2 <= 0) equals P(X1 >= x1) given the pooled successes, the
p-value of Fisher's one-sided test, so that a lower limit is above 0 exactly if that is below a.

**Numerical error.** Limits of differences of rates: below 1e-9. Probabilities with effective counts or
priors below 1: below 1e-7.

**Scores of several rates**, such as MCC, have samples of points from a lattice rule in place of beta
distributions (`confidence_distributions.py`; "mid" takes the beta distributions between low and high),
and the mean is over the points of the score that varies less, merged into at most 1,024. The error in
probability is that of the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Integers
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

#: A function of places and of the rows that they belong to.
Excess = Callable[[Floats, Integers], Floats]

# Inverse hyperbolic sines of gaps are searched up to this.
_RANGE = 60.0
# About this many means are computed at once.
_BATCH = 2_048
# Nodes of quadrature, and the probability beyond them on either side.
_NODES, _BEYOND = 64, 1e-13
# Points that stand for a sample of scores of several rates; scores that differ by less are equal.
_SAMPLED, _SAME = 1_024, 1e-12
# Secant steps before a root is bracketed, and the largest error of a normal score after them.
_STEPS, _CLOSE = 8, 1e-9


def count_successes(metric: OneGroupMetric, cells: Floats) -> tuple[Floats, Floats]:
    """The successes and cases of the rate that a score depends on, for cells along the last axis.

    >>> from evenhand.metrics import metric
    >>> count_successes(metric("tpr"), np.array([[3.0, 2.0, 1.0, 9.0]]))
    (array([3.]), array([5.]))
    """
    return sum_cells(cells, metric.tree.last), sum_cells(cells, metric.tree.last_of)


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
    if prior is None and metric.curve is not None:
        return melded_gaps(metric, groups, references, kind)
    law: Any = "mid" if prior is None else as_prior(prior)
    return _make_gaps(metric, groups, references, kind, law, law)


def melded_gaps(metric: OneGroupMetric, groups: Floats, references: Floats, kind: GapKind) -> Gaps:
    """Gaps whose lower limits take the group's score low and the reference's score high.

    The upper limits take the group's score high and the reference's low.

    >>> from evenhand.metrics import metric
    >>> groups, references = np.array([[1.0, 3, 0, 0]]), np.array([[0.0, 5, 0, 0]])
    >>> low, high = melded_gaps(metric("tpr"), groups, references, "difference").interval(0.95)
    >>> low.round(5), high.round(5)
    (array([-0.39671]), array([0.80588]))
    """
    return _make_gaps(metric, groups, references, kind, "low", "high")


def _make_gaps(
    metric: OneGroupMetric,
    groups: Floats,
    references: Floats,
    kind: GapKind,
    *laws: Literal["low", "mid", "high"] | float,
) -> Gaps:
    """Gaps of scores under two laws: ends of confidence distributions, or pseudo-counts."""
    sides, half = np.concatenate([groups, references]), len(groups)
    scores: dict[object, Any] = {}
    for law in laws:
        if isinstance(law, str):
            scores[law] = confidence_distribution(metric, sides, law)
        else:
            scores[law] = posterior_distribution(metric, beta_parameters(metric.tree, sides, law))
    first, second = (scores[law] for law in laws)
    if metric.curve is None:
        samples = second.samples[half:] + second.samples[:half]
        return Gaps(kind, SampledScores(kind, first.samples), SampledScores(kind, samples))
    betas = first.parameters[:, 0], np.roll(second.parameters[:, 0], half, axis=0)
    return Gaps(kind, *(BetaScores(metric, kind, parameters.T) for parameters in betas))


@dataclass(frozen=True)
class Gaps:
    """Distributions of gaps, between first and second scores.

    The first half is for lower limits. In the second half, for upper limits, group and reference
    have changed places.
    """

    kind: GapKind
    first: Any
    second: Any

    def tails(self, gap: float) -> tuple[Floats, Floats]:
        """P(G <= gap) and P(G >= gap), per comparison."""
        rows = np.arange(len(self.first.spreads))
        place = _to_line(np.array(gap), self.kind)
        places = np.where(rows < len(rows) // 2, place, -place)
        below, above = np.split(_gap_cdf(self.first, self.second, places, rows), 2)
        return below, above

    def interval(self, confidence_level: float, observed: ArrayLike = nan) -> tuple[Floats, Floats]:
        """Equal-tailed intervals; they contain the ``observed`` gaps, whatever the rounding.

        Limits are infinite (0 for ratios) if too much of the distribution is undefined.
        """
        limits = _lower_limits(self.first, self.second, (1 - confidence_level) / 2)
        low, high = np.split(limits, 2)
        low, high = _from_line(low, self.kind), _from_line(-high, self.kind)
        return np.fmin(low, observed), np.fmax(high, observed)


def _to_line(scores: Floats, kind: GapKind) -> Floats:
    """Scores on the line where gaps are differences: for ratios, their logarithms."""
    with np.errstate(divide="ignore"):
        return np.log(scores) if kind == "ratio" else scores


def _from_line(places: Floats, kind: GapKind) -> Floats:
    """The scores at places on the line; those of large logarithms are infinite."""
    with np.errstate(over="ignore"):
        return np.exp(places) if kind == "ratio" else places


def _gap_cdf(first: Any, second: Any, gaps: Floats, rows: Integers) -> Floats:
    """P(S1 - S2 <= gap) for some rows, as a mean over the score that varies less.

    It is that of P(S1 <= S2 + gap) over S2, or of P(S2 >= S1 - gap) over S1. A gap that is
    undefined counts as reached.
    """
    p = np.empty(len(rows))
    # Ratios are compared with scores of the reference that are multiplied.
    scale = _from_line(gaps, "ratio") if first.is_scaled else 1.0
    with np.errstate(invalid="ignore"):
        varies_less = first.spreads[rows] < second.spreads[rows] * scale
    for is_above, narrow, wide in ((False, second, first), (True, first, second)):
        places = np.flatnonzero(varies_less == is_above)
        for start in range(0, len(places), _BATCH):
            batch = places[start : start + _BATCH]
            step = -gaps[batch] if is_above else gaps[batch]
            points, masses, *beyond = narrow.points(rows[batch], wide, step)
            reached = wide.tails(rows[batch], points + step[:, None], is_above)
            # Beyond one of the kinks, the gap is reached whatever the other score is.
            p[batch] = (reached * masses).sum(axis=1) + beyond[not is_above]
    p_defined = (first.p_defined * second.p_defined)[rows]
    return np.asarray(p + (1 - p_defined) * (1 - p))


def _lower_limits(first: Any, second: Any, tail: float) -> Floats:
    """The gaps below which lies this probability; -inf if there is none.

    They are searched from a guess: the distances of limits from medians are added like those of
    independent normal variables. That is the limit itself if one of the scores is known.
    """
    from scipy.special import ndtri

    z = ndtri(tail)
    low, median = (first.quantiles(p) for p in (tail, 0.5))
    high, other_median = (second.quantiles(p, above=True) for p in (tail, 0.5))
    is_known = first.is_known | second.is_known
    with np.errstate(invalid="ignore"):
        middle = median - other_median
        guess = middle - np.hypot(median - low, high - other_median)
        limits = np.where(is_known, low - high, guess)
        start, middle = np.arcsinh([guess, middle])
    rows = np.flatnonzero(~is_known)

    def excess(places: Floats, some: Integers) -> Floats:
        p = _gap_cdf(first, second, np.sinh(places), rows[some])
        return np.asarray(ndtri(np.clip(p, 1e-290, 1 - 1e-16)) - z)

    start = np.clip(np.nan_to_num(start[rows]), -_RANGE, _RANGE)
    slope = max(-z, 0.1) / (np.abs(np.nan_to_num(middle[rows] - start)) + 1e-9)
    places = _find_roots(excess, start, slope)
    limits[rows] = np.where(places > -_RANGE, np.sinh(places), -np.inf)
    return np.asarray(limits)


class BetaScores:
    """Scores of one rate on the line, from betas of shape (2, comparisons).

    A beta with a parameter of 0 means that the rate is known to be 0 or 1. It is replaced by one that
    cannot be told from it.
    """

    def __init__(self, metric: OneGroupMetric, kind: GapKind, betas: Floats) -> None:
        self.metric, self.kind = metric, kind
        self.curve: Any = metric.curve
        self.betas: Any = np.maximum(betas, 1e-300)
        self.smallest = self.betas.min(axis=0)
        self.is_known, self.p_defined = self.smallest <= 1e-300, np.ones(betas.shape[1])
        self.ends = self._scores(np.array([0.0, 1.0]))
        self.is_scaled = kind == "ratio"
        low, high = (_from_line(self.quantiles(0.1, above), kind) for above in (False, True))
        # Of known scores that are infinite, it is not known.
        with np.errstate(invalid="ignore"):
            self.spreads = high - low
        likely = [self.quantiles(_BEYOND, above) for above in (False, True)]
        self.angles = np.arcsin(np.sqrt(self._rates(np.array(likely))))

    def quantiles(self, level: float, above: bool = False) -> Floats:
        """The scores below which, or above which, lies this probability."""
        from scipy.special import betainccinv, betaincinv

        alpha, beta = self.betas
        rates = (betainccinv if above else betaincinv)(alpha, beta, level)
        return self._scores(np.where(rates > 1e-300, rates, 0.0))

    def tails(self, rows: Integers, limits: Floats, above: bool) -> Floats:
        """P(S <= limit) or, if above, P(S >= limit)."""
        from scipy.special import betainc, betaincc

        rates, (alpha, beta) = self._rates(limits), self.betas[:, rows, None]
        if not above:
            return np.asarray(betainc(alpha, beta, rates))
        # The complement of a rate near 0 loses digits, which matter where the density is infinite.
        p = np.asarray(betainc(beta, alpha, 1 - rates))
        return betaincc(alpha, beta, rates, out=p, where=alpha < 1)

    def points(self, rows: Integers, wide: Any, steps: Floats) -> tuple[Floats, ...]:
        """Nodes, the masses that they stand for, and those below and above all nodes.

        Nodes cover the scores s for which s + step lies between the lowest and the highest score of
        the other side.
        With a = alpha - 1/2 and b = beta - 1/2, the angle v of a rate p = sin(v)**2 has the log
        density

            2 a log(sin v) + 2 b log(cos v) + constant.

        It is about normal and, for alpha and beta from 1/2 on, finite at both ends. Nodes are
        angles between two quantiles far out. With parameters below 1 other than 1/2, which have no
        smooth density of angles, and with distribution functions of the other score whose slope is
        infinite at a kink, they are quantiles.
        """
        from scipy.special import betainc, betaincc, betainccinv, betaincinv, xlogy

        low, high = (self._rates(end - steps) for end in wide.ends)
        alpha, beta = betas = self.betas[:, rows]
        below, above = betainc(alpha, beta, low), betaincc(alpha, beta, high)
        start, stop = np.clip(np.arcsin(np.sqrt([low, high])), *self.angles[:, rows])[..., None]
        (nodes, weights), (denser, denser_weights) = _nodes()
        rates = np.sin(start + np.maximum(stop - start, 0.0) * nodes) ** 2
        mean = (alpha / (alpha + beta))[:, None]
        with np.errstate(all="ignore"):
            log_density = xlogy(alpha[:, None] - 0.5, rates / mean)
            log_density += xlogy(beta[:, None] - 0.5, (1 - rates) / (1 - mean))
            log_density -= log_density.max(axis=1, keepdims=True)
        # All nodes may be the same end of the density.
        masses = weights * np.exp(np.nan_to_num(log_density, nan=0.0))
        inner = np.maximum(1 - below - above, 0.0)[:, None]
        is_steep = (wide.smallest < 1) & ~wide.is_known
        is_steep |= (self.smallest < 1) & (self.smallest != 0.5)
        steep = np.flatnonzero(is_steep[rows] | self.metric.is_unbounded)
        if len(steep):
            masses[steep], width = denser_weights, inner[steep]
            alpha, beta = betas[:, steep, None]
            # Nodes are symmetric, so that probabilities above a rate keep their digits, too.
            levels = below[steep, None] + width * denser
            rests = above[steep, None] + width * denser[::-1]
            lower, upper = betaincinv(alpha, beta, levels), betainccinv(alpha, beta, rests)
            rates[steep] = np.where(levels < rests, lower, upper)
        masses *= inner / np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
        return self._scores(rates), masses, below, above

    def _scores(self, rates: Floats) -> Floats:
        """The scores of rates, on the line."""
        scores = np.where(rates < 1, self.curve.score(rates), self.metric.high)
        return _to_line(scores, self.kind)

    def _rates(self, places: Floats) -> Floats:
        """The rates of scores on the line, or the nearest possible ones."""
        scores = np.clip(_from_line(places, self.kind), 0.0, self.metric.high)
        return np.asarray(self.curve.rate(scores))


class SampledScores:
    """Scores of several rates on the line, from a sample of points per score."""

    is_scaled = False

    def __init__(self, kind: GapKind, samples: list[ScoreSample]) -> None:
        self.samples = samples
        self.scores = [_to_line(sample.scores, kind) for sample in samples]
        self.p_defined = np.array([1 - sample.p_undefined for sample in samples])
        self.is_known = np.zeros(len(samples), bool)
        with np.errstate(invalid="ignore"):
            self.spreads = np.nan_to_num(self.quantiles(0.9) - self.quantiles(0.1))

    def quantiles(self, level: Any, above: bool = False) -> Floats:
        """The defined scores below which, or above which, lies this probability; nan if none is."""
        level = 1 - level if above else level
        return np.array([self._find(row, level) for row in range(len(self.samples))])

    def _find(self, row: int, levels: Any) -> Floats:
        """Quantiles of the defined scores of a sample."""
        cumulative, scores = self.samples[row].cumulative, self.scores[row]
        places = np.searchsorted(cumulative[1:-1], levels * cumulative[-1])
        return scores[places] if len(scores) else np.full(np.shape(levels), np.nan)

    def points(self, rows: Integers, *_: Any) -> tuple[Any, ...]:
        """Points that stand for a sample and are denser in its tails, and their masses."""
        levels, masses = towards_ends((np.arange(_SAMPLED) + 0.5) / _SAMPLED)
        points = np.reshape([self._find(row, levels) for row in rows], (-1, _SAMPLED))
        return points, masses / masses.sum(), 0.0, 0.0

    def tails(self, rows: Integers, limits: Floats, above: bool) -> Floats:
        """P(S <= limit) or, if above, P(S >= limit), given that the score is defined."""
        slack = _SAME * np.clip(np.abs(limits), 1.0, 1e9)
        limits = limits - slack if above else limits + slack
        p = np.empty(limits.shape)
        for i, row in enumerate(rows):
            sample = self.samples[row]
            masses = sample.remaining if above else sample.cumulative
            places = self.scores[row].searchsorted(limits[i], "left" if above else "right")
            p[i] = masses[places] / max(sample.cumulative[-1], 1e-300)
        return p


@cache
def _nodes() -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Nodes and weights, up to a factor, of Gauss-Legendre quadrature; and ones denser at the ends."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    nodes = (nodes + 1) / 2
    denser, density = towards_ends(nodes)
    return (nodes, weights), (denser, weights * density)


def _find_roots(function: Excess, start: Floats, slope: Floats) -> Floats:
    """The root of an increasing function in each row, by the secant method.

    ``start`` and ``slope`` are guesses of the root and of the slope there, which are so good that a
    few steps are enough. Where they are not, the root is bracketed.
    """
    roots, rows = start.copy(), np.arange(len(start))
    place, value = start, function(start, rows)
    for _ in range(_STEPS):
        with np.errstate(all="ignore"):
            new_place = np.clip(place - value / slope, -_RANGE, _RANGE)
            new_value = function(new_place, rows)
            slope = (new_value - value) / (new_place - place)
            step = np.where(slope > 0, new_value / slope, 0.0)
        roots[rows] = np.clip(new_place - step, -_RANGE, _RANGE)
        # The error of a secant step is about the product of the last two values.
        is_open = ~(np.abs(new_value * value) <= _CLOSE)
        rows, slope = rows[is_open], slope[is_open]
        place, value = new_place[is_open], new_value[is_open]
        if not len(rows):
            return roots
    limit = np.full(len(rows), _RANGE)
    roots[rows] = find_roots(lambda places, i: function(places, rows[i]), -limit, limit)
    return roots
