"""Distributions of true scores given counts: posteriors, and confidence distributions.

Each split of a tree has a distribution of its rate. With a prior it is a beta posterior. Without
one it is a confidence distribution of a binomial rate, x of n: Beta(x, n - x + 1) for lower ends of
intervals, Beta(x + 1, n - x) for upper ends, or an even mixture of both, which gives mid-p
intervals. A beta parameter of 0 means an atom at 0 or 1.

The distribution of a score that depends on one rate follows from that of the rate. Any other score
is evaluated at the 16,381 points of a lattice in three dimensions, mapped through the quantile
functions of the three rates. Such probabilities are approximate: over whole distributions, the
largest error is usually 0.001, in one of ten 0.002, and the largest that was found is 0.007.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from ..arrays import Floats, Integers
from ..confusion import CELLS
from ..metrics import Curve, OneGroupMetric, Tree, sum_cells

#: Whether a distribution is for lower ends of intervals, for upper ends, or for both (mid-p).
End = Literal["low", "mid", "high"]
#: The parameters of an even mixture of betas.
Betas = tuple[tuple[float, float], ...]

# A Korobov lattice rule in three dimensions, and where quantile functions are tabulated.
_POINTS, _GENERATOR = 16_381, 3_630
_LEVELS = np.linspace(-8.2, 8.2, 97)
# The tail of the other rates where the first one has the lowest score.
_LOW_LEVEL = 0.1
# Rates of exactly 0 or 1 are atoms.
_EDGE = 1e-15


def beta_parameters(tree: Tree, cells: Floats, added: float | Floats) -> Floats:
    """The beta parameters of every split, shape (matrices, 3, 2): counts plus pseudo-counts.

    If ``added`` is a number, it is added to both sides of every split; four pseudo-counts are added
    to the cells before they are split, as with a Dirichlet prior. A split that the tree lacks has
    zeros.
    """
    if isinstance(added, np.ndarray):
        cells, added = cells + added, 0.0
    counts = np.atleast_2d(cells)
    parameters = np.zeros((len(counts), 3, 2))
    splits = ((tree.margin, CELLS), (tree.side, tree.margin), (tree.last, tree.last_of))
    for i, (part, whole) in enumerate(splits):
        if part:
            rest = tuple(cell for cell in whole if cell not in part)
            sides = [sum_cells(counts, names) for names in (part, rest)]
            parameters[:, i] = np.stack(sides, axis=1) + added
    return parameters


def posterior_distribution(
    metric: OneGroupMetric, parameters: Floats, tree: Tree | None = None
) -> RateScores | LatticeScores:
    """The posteriors of a metric, given the beta parameters of its own tree or of another.

    Limits of credible intervals are their `ends`. With another tree, the score is sampled, since it
    follows by a curve only from the last rate of its own tree.
    """
    if metric.curve is not None and tree is None:
        return RateScores(metric, metric.curve, parameters[:, 2, None, :])
    splits = [tuple((tuple(pair),) for pair in row) for row in parameters.tolist()]
    chosen = tree or metric.tree
    return LatticeScores([score_sample(metric, chosen, *row) for row in splits])


def confidence_distribution(
    metric: OneGroupMetric, cells: Floats, end: End
) -> RateScores | LatticeScores:
    """The confidence distributions of a metric's score, one per matrix.

    Lower limits of intervals are read from those for the ``end`` "low", upper ones from "high", as
    in Clopper and Pearson's intervals; "mid" mixes both, for mid-p intervals.
    """
    counts = beta_parameters(metric.tree, cells, 0.0)
    if metric.curve is not None:
        # The score depends on the last split only, and rises with its rate.
        added = _added_counts(end, 1)
        mixture = np.stack([counts[:, 2] + pair for pair in added], axis=1)
        return RateScores(metric, metric.curve, mixture)
    samples = []
    for row in counts:
        splits = []
        for split, direction in zip(row, _directions_at(metric, end), strict=True):
            pairs = (split + added for added in _added_counts(end, direction))
            splits.append(tuple(tuple(pair.tolist()) for pair in pairs))
        samples.append(score_sample(metric, metric.tree, *splits))
    return LatticeScores(samples)


def _added_counts(end: End, direction: int | None) -> tuple[Floats, ...]:
    """The pairs that are added to both counts of a split, for a confidence distribution.

    Lower ends of a score need lower ends of the rates with which it rises, and upper ends of those
    with which it falls. Both are mixed for mid-p, and where the score does either or neither.
    ``direction`` says how the score depends on the rate: see `_directions`.
    """
    low, high = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    if end == "mid" or not direction:
        return low, high
    return (low,) if (end == "low") == (direction > 0) else (high,)


@dataclass(frozen=True)
class RateScores:
    """Distributions of scores that rise with one rate, a mixture of betas per matrix.

    ``curve`` gives the score from the rate. ``parameters`` has the shape (matrices, betas, 2).
    """

    metric: OneGroupMetric
    curve: Curve
    parameters: Floats

    def ends(self, tail: float, above: bool) -> Floats:
        """Limits of intervals, per matrix: the scores with the probability ``tail`` beyond them."""
        # Upper ends of rates are lower ends of their complements.
        betas = self.parameters[..., ::-1] if above else self.parameters
        rates = _lower_ends(betas, tail)
        return np.asarray(self.curve.score(1 - rates if above else rates))


def _lower_ends(parameters: Floats, tail: float) -> Floats:
    """The rates below which lies this probability, one per mixture of betas.

    They are the quantiles behind `RateScores.ends`. An atom at 0 or 1 that has the probability is
    the result itself.
    """
    from scipy.special import betainc, betaincinv, ndtri

    # Betas with a parameter of 0 are atoms, and have no weight in the smooth part.
    is_atom = np.asarray((parameters <= 0).any(axis=2))
    alpha, beta = np.moveaxis(np.where(is_atom[..., None], 1.0, parameters), 2, 0)
    weights = np.where(is_atom, 0.0, 1 / is_atom.shape[1])
    atom, smooth = (parameters[:, :, 0] <= 0).mean(axis=1), weights.sum(axis=1)
    ends = np.where(atom >= tail, 0.0, 1.0)
    rows = np.flatnonzero((atom < tail) & (tail - atom < smooth))
    alpha, beta, weights, smooth = alpha[rows], beta[rows], weights[rows], smooth[rows]
    share = ((tail - atom[rows]) / smooth)[:, None]
    quantiles = np.where(weights > 0, betaincinv(alpha, beta, share), np.nan)

    def excess(rate: Floats, row: Integers) -> Floats:
        """How far the distribution function at a rate is above the level sought; 0 at the end."""
        terms = weights[row] * betainc(alpha[row], beta[row], rate[:, None])
        below = terms.sum(axis=1) / smooth[row]
        return np.asarray(normal_scores(below) - ndtri(share[row, 0]))

    low, high = np.nanmin(quantiles, axis=1), np.nanmax(quantiles, axis=1)
    ends[rows] = find_roots(excess, low, high)
    return ends


@dataclass(frozen=True)
class ScoreSample:
    """A distribution of scores as points in ascending order with weights.

    It stands for that of a score of several rates, which has no closed form. The weights of
    undefined scores are missing from 1; they count to both tails.
    """

    scores: Floats
    weights: Floats

    @cached_property
    def cumulative(self) -> Floats:
        """The weight of the first k points of the sample, for k = 0, 1, ...: its lower tails."""
        return np.append(0.0, np.cumsum(self.weights))

    @cached_property
    def remaining(self) -> Floats:
        """The weight of all points but the first k, for k = 0, 1, ...: its upper tails.

        They are added up from the other end, so that small ones keep their digits.
        """
        return np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)

    @property
    def p_undefined(self) -> float:
        """The probability that the score is undefined."""
        return max(0.0, 1 - float(self.cumulative[-1]))

    def end(self, tail: float, above: bool) -> float:
        """The score beyond which lies the probability ``tail``: a limit of an interval.

        It is infinite if more is undefined, and interpolated between points otherwise.
        """
        if self.p_undefined >= tail:
            return np.inf if above else -np.inf
        weight = tail - self.p_undefined
        middle = (self.cumulative[1:] + self.cumulative[:-1]) / 2
        level = self.cumulative[-1] - weight if above else weight
        score = float(np.interp(level, middle, np.minimum(self.scores, 1e300)))
        return score if score < 1e299 else np.inf


@dataclass(frozen=True)
class LatticeScores:
    """Approximate distributions of scores of several rates, one sample per matrix."""

    samples: list[ScoreSample]

    def ends(self, tail: float, above: bool) -> Floats:
        """Limits of intervals, per matrix: the scores with the probability ``tail`` beyond them."""
        return np.array([sample.end(tail, above) for sample in self.samples])


@lru_cache(maxsize=512)
def score_sample(
    metric: OneGroupMetric, tree: Tree, margin: Betas, side: Betas, last: Betas
) -> ScoreSample:
    """The distribution of a score, given those of the rates of the three splits of a tree.

    The score is evaluated at the points of `_lattice`, since it has no closed form. The rate of a
    split that the tree lacks is not used.
    """
    weights = _lattice()[1]
    rates = [_rate_quantiles(betas, i) for i, betas in enumerate((margin, side, last))]
    if tree == metric.tree and _directions(metric)[0] is None:
        # The score does not depend on the margin, and an empty one makes no score undefined.
        rates[0] = np.full(_POINTS, 0.5)
    scores = _score_at_rates(metric, tree, *rates)
    order = np.argsort(scores, kind="stable")  # nan comes last
    order = order[: np.count_nonzero(~np.isnan(scores))]
    return ScoreSample(scores[order], weights[order])


@lru_cache(maxsize=1)
def _lattice() -> tuple[Floats, Floats]:
    """Points of a Korobov lattice, a coordinate per split, denser in the tails; and weights.

    Coordinates are probabilities; `_rate_quantiles` turns them into rates.
    """
    steps = [1, _GENERATOR, _GENERATOR**2 % _POINTS]
    t = (np.outer(np.arange(_POINTS), steps) % _POINTS + 0.5) / _POINTS
    u, density = towards_ends(t)
    weights = np.prod(density, axis=1)
    return np.clip(u, 1e-16, 1 - 1e-16), weights / weights.sum()


@lru_cache(maxsize=384)
def _rate_quantiles(betas: Betas, axis: int) -> Floats:
    """Quantiles of an even mixture of betas, at one coordinate of the lattice points.

    They are the rates of one split at which `score_sample` evaluates a score, interpolated in a
    table of the mixture's distribution function, on the scale of log odds and normal scores. A beta
    with a parameter of 0 is an atom at 0 or 1.
    """
    from scipy.special import betainc, betaincinv, expit, logit, ndtr, ndtri

    u = _lattice()[0][:, axis]
    smooth = np.array([pair for pair in betas if min(pair) > 0])
    at_zero = sum(alpha <= 0 for alpha, _ in betas) / len(betas)
    if not len(smooth):
        return np.where(u < at_zero, 0.0, 1.0)
    level = (u - at_zero) * len(betas) / len(smooth)
    # A grid wide enough for every beta: quantiles of one with the smallest of both parameters.
    grid = betaincinv(smooth[:, 0].min(), smooth[:, 1].min(), ndtr(_LEVELS))
    rates = np.clip(grid, 1e-300, 1 - 1e-16)
    below = np.mean([betainc(a, b, rates) for a, b in smooth], axis=0)
    above = np.mean([betainc(b, a, 1 - rates) for a, b in smooth], axis=0)
    z_scores = np.where(below < above, ndtri(below), -ndtri(above))
    inside = expit(np.interp(normal_scores(level), z_scores, logit(rates)))
    inside = np.clip(inside, _EDGE, 1 - _EDGE)
    return np.where(level <= 0, 0.0, np.where(level >= 1, 1.0, inside))


def _score_at_rates(
    metric: OneGroupMetric, tree: Tree, margin: Floats, side: Floats, last: Floats
) -> Floats:
    """The scores of populations with these rates of the three splits of a tree.

    They are nan where undefined, and limited to the range of the metric.
    """
    # With n = 1, counts are shares of the population.
    size = tree.last_size(1.0, margin)
    columns = tree.columns(1.0, margin, margin * side, size * last)
    with np.errstate(all="ignore"):
        scores = metric.score(*np.broadcast_arrays(*columns))
        return np.asarray(np.clip(scores, metric.low, metric.high))


@lru_cache(maxsize=128)
def _directions(metric: OneGroupMetric) -> tuple[int | None, ...]:
    """For each rate of the tree: 1 if the score rises with it, -1 if it falls, 0 if it does both.

    None if it does not depend on the rate. Found on a grid, so that it holds for any metric. It
    says which ends of the rates make the ends of the score: see `_added_counts`.
    """
    rates = np.linspace(0.03, 0.97, 12)
    scores = _score_at_rates(metric, metric.tree, *np.ix_(rates, rates, rates))
    steps = [np.diff(scores, axis=axis) for axis in range(3)]
    changes = [((step > 1e-9).any(), (step < -1e-9).any()) for step in steps]
    return tuple(int(up) - int(down) if up or down else None for up, down in changes)


@lru_cache(maxsize=256)
def _directions_at(metric: OneGroupMetric, end: End) -> tuple[int | None, ...]:
    """The same for one end, by the other rates at that end where the score does both.

    Marginal benefit falls with the rate of errors if all are false negatives. So the case that is
    added for the lower end is one of these, and with errors of one kind the end is that of a rate.
    """
    directions = list(_directions(metric))
    sign = {"low": -1, "mid": 0, "high": 1}[end]
    corner = [0.97 if sign * (one or 0) > 0 else 0.03 for one in directions]
    for i in [i for i, one in enumerate(directions) if one == 0 and sign]:
        rates: list[Any] = [*corner]
        rates[i] = np.linspace(0.03, 0.97, 12)
        steps = np.diff(_score_at_rates(metric, metric.tree, *rates))
        directions[i] = int((steps > 1e-9).any()) - int((steps < -1e-9).any())
    return tuple(directions)


@lru_cache(maxsize=128)
def has_inner_minimum(metric: OneGroupMetric) -> bool:
    """Whether wrong predictions have their lowest score inside the range of the first rate.

    So has kappa, which is -1 if half of the labels are positive, but not MCC, which is always -1.
    """
    directions = _directions(metric)
    others: Any = [float((direction or 0) < 0) for direction in directions[1:]]
    scores = _score_at_rates(metric, metric.tree, np.linspace(0.1, 0.9, 9), *others)
    return directions[0] == 0 and bool(scores[4] < min(scores[0], scores[-1]) - 1e-9)


def lowest_scores(metric: OneGroupMetric, cells: Floats, tail: float) -> Floats:
    """The lowest scores over the interval of the first rate, with low scores by the other two.

    Quantiles of scores never reach an inner minimum, so that no interval would contain it.
    """
    from scipy.special import betaincinv

    counts, rates = beta_parameters(metric.tree, cells, 0.0), []
    steps = np.linspace(0, 1, 33)
    for i, direction in enumerate(_directions(metric)):
        a, b = counts[:, i].T[..., None]
        level = _LOW_LEVEL if i else tail
        low = np.where(a > 0, betaincinv(np.maximum(a, 1.0), b + 1, level), 0.0)
        high = np.where(b > 0, betaincinv(a + 1, np.maximum(b, 1.0), 1 - level), 1.0)
        inner = np.hstack([low + (high - low) * steps, np.clip(0.5, low, high)])
        rates.append((high if (direction or 0) < 0 else low) if i else inner)
    scores = _score_at_rates(metric, metric.tree, *rates)
    return np.asarray(np.nan_to_num(scores, nan=metric.high).min(axis=1))


def towards_ends(t: Floats) -> tuple[Floats, Floats]:
    """u = 10t³ - 15t⁴ + 6t⁵, with a zero of third order at either end, and its derivative.

    Substituted for t in a numerical integral from 0 to 1, it puts more points near the ends; the
    derivative is their weight.
    """
    return t**3 * (10 - 15 * t + 6 * t * t), 30 * t**2 * (1 - t) ** 2


def find_roots(
    function: Callable[[Floats, Integers], Floats], low: Floats, high: Floats
) -> Floats:
    """The root between ``low`` and ``high`` of a monotone function per row.

    ``function(x, rows)`` has the values at x of some of the rows, since SciPy drops those that have
    converged. If the function does not change its sign, because the root lies at an end or beyond
    it, the end whose value is closer to 0 is returned. Quantiles of mixtures and limits of
    intervals are found by it.
    """
    from scipy.optimize.elementwise import find_root

    if not len(low):
        return low
    rows = np.arange(len(low))
    limits: Any = {"xatol": 1e-15, "xrtol": 1e-15, "fatol": 0.0}
    root = find_root(function, (low, high), args=(rows,), tolerances=limits)
    is_low_closer = np.abs(function(low, rows)) <= np.abs(function(high, rows))
    return np.where(root.success, root.x, np.where(is_low_closer, low, high))


def normal_scores(probabilities: Floats) -> Floats:
    """Standard normal quantiles, in which distribution functions are nearly straight lines.

    They are interpolated and searched on this scale. Probabilities of 0 and 1 stay finite.
    """
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(probabilities, 1e-290, 1 - 1e-16)))
