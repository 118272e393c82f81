"""The posterior distribution of true scores given counts, for many matrices at once.

Each split of a tree has a beta posterior. A score that depends on one split has a posterior in closed form. Any other
score is averaged by quadrature over all splits but one, the one with which it varies most among those in which it is
monotone: on each path along that split the quantiles of the score are the scores of the split's quantiles, and its
cumulative probability is obtained by interpolating normal scores. The result is a table of normal scores over the range
of the metric, mapped to the whole real line; every later question is a look-up. Nothing is random.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS
from ..metrics import Curve, OneGroup, Tree

__all__ = ["ROW_TREE", "Betas", "Posterior", "betas_of", "posterior_of", "quadrature"]

Floats = NDArray[np.float64]
Beta = tuple[float, float]
Betas = tuple[Beta, Beta, Beta]
"""The parameters of the splits of a tree: margin, side and last; (0, 0) where the tree has no such split."""

ROW_TREE = Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

_SPOTS, _EVEN = 61, 31
# A split that makes no difference.
_SINGLE = np.array([0.5]), np.ones(1)
# Rates of exactly 0 or 1 have probability 0, and possibly no score.
_EDGE = 1e-15
# Scores are mapped to places within this distance of 0, that is to within 1e-17 of the ends of their range.
_LINE = 40.0
# Largest normal score in a table; beyond it lies a probability of about 1e-12 on either side.
_FARTHEST = 7.0
# Normal scores are clipped here: far from a path, a larger one makes no difference.
_STEEPEST = 1e3
# Places on the line that are closer together are one.
_NARROWEST = 1e-9
# The logarithm of about the largest float.
_LARGEST_LOG = 709.0


class Posterior(ABC):
    """The distributions of a metric's true scores, one per matrix.

    Scores are arrays of shape (matrices, k), probabilities of shape (k,) or (matrices, k).
    """

    @abstractmethod
    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        """P(S <= s) for the matrices ``rows``."""

    @abstractmethod
    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        """P(S > s) for the matrices ``rows``."""

    @abstractmethod
    def quantile(self, q: Floats, rows: Any = slice(None)) -> Floats:
        """The quantiles of the true scores of the matrices ``rows``."""


def betas_of(tree: Tree, cells: Floats, added: float | Floats) -> Floats:
    """The beta parameters of every split, shape (matrices, 3, 2): its counts plus pseudo-counts.

    If ``added`` is a number, it is added to both sides of every split. Four pseudo-counts are added to the cells before
    they are split, as with a Dirichlet prior.
    """
    counts = np.atleast_2d(cells) + (added if isinstance(added, np.ndarray) else 0.0)
    half = 0.0 if isinstance(added, np.ndarray) else added
    splits = ((tree.margin, CELLS), (tree.side, tree.margin), (tree.last, tree.last_of))
    parameters = np.zeros((len(counts), 3, 2))
    for i, (part, whole) in enumerate(splits):
        if part:
            rest = tuple(c for c in whole if c not in part)
            for j, names in enumerate((part, rest)):
                parameters[:, i, j] = counts[:, [CELLS.index(c) for c in names]].sum(axis=1) + half
    return parameters


def posterior_of(m: OneGroup, betas: Floats, tree: Tree | None = None) -> Posterior:
    """The posterior of a metric, given the beta parameters of the splits of its own tree, or of another ``tree``."""
    if m.curve is not None and tree is None:
        return _OneSplit(m.curve, m.high, betas[:, 2, 0], betas[:, 2, 1])
    keys = [tuple((float(a), float(b)) for a, b in row) for row in betas]
    return _Tabulated(m, [_tabulated(m, tree or m.tree, key) for key in keys])


@dataclass(frozen=True, slots=True)
class _OneSplit(Posterior):
    """A score that rises with the rate of one split, which is Beta(a, b)."""

    curve: Curve
    high: float
    a: Floats
    b: Floats

    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betainc

        return np.asarray(betainc(self.a[rows, None], self.b[rows, None], self._rate(scores)))

    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betainc

        # The complement of the incomplete beta function is an order of magnitude slower than its mirror image.
        return np.asarray(betainc(self.b[rows, None], self.a[rows, None], 1 - self._rate(scores)))

    def quantile(self, q: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betaincinv

        return np.asarray(self.curve.score(betaincinv(self.a[rows, None], self.b[rows, None], q)))

    def _rate(self, scores: Floats) -> Floats:
        return np.asarray(self.curve.rate(np.clip(scores, 0.0, self.high)))


class _Table:
    """Normal scores of cumulative probabilities, over a grid of places on the line."""

    def __init__(self, grid: Floats, normal: Floats) -> None:
        self.normal_at, self.place_of = _Interpolator(grid, normal), _Interpolator(normal, grid)


class _Interpolator:
    """Monotone cubic interpolation; linear extrapolation beyond the ends."""

    def __init__(self, x: Floats, y: Floats) -> None:
        from scipy.interpolate import PchipInterpolator

        self._ends = float(x[0]), float(x[-1])
        self._slopes = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
        self._inside = PchipInterpolator(x, y)

    def __call__(self, at: Floats) -> Floats:
        inside = np.clip(at, *self._ends)
        values = np.asarray(self._inside(inside), dtype=np.float64)
        return np.asarray(values + np.where(at < inside, *self._slopes) * (at - inside))


@dataclass(frozen=True, slots=True)
class _Tabulated(Posterior):
    """A score that depends on several splits, looked up in a table per matrix."""

    metric: OneGroup
    tables: Sequence[_Table]

    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(self._normal(scores, rows)))

    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(-self._normal(scores, rows)))

    def quantile(self, q: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtri

        tables = [self.tables[i] for i in np.arange(len(self.tables))[rows]]
        wanted = np.broadcast_to(ndtri(q), (len(tables), np.shape(q)[-1]))
        places = [t.place_of(z) for t, z in zip(tables, wanted, strict=True)]
        return _from_line(self.metric, np.array(places).reshape(wanted.shape))

    def _normal(self, scores: Floats, rows: Any) -> Floats:
        chosen = np.arange(len(self.tables))[rows]
        places = _to_line(self.metric, scores)
        normals = [self.tables[i].normal_at(y) for i, y in zip(chosen, places, strict=True)]
        return np.array(normals).reshape(np.shape(scores))


@lru_cache(maxsize=4096)
def _tabulated(m: OneGroup, tree: Tree, betas: Betas) -> _Table:
    """The table of one matrix."""
    from scipy.special import ndtr, ndtri

    # The quantile function of a split with a nearly empty part bends sharply and needs more nodes.
    smallest = min(min(beta) for beta, part in zip(betas, (tree.margin, tree.side, tree.last), strict=True) if part)
    few, deep = smallest < 4, bool(tree.side) and _depends_on_margin(m, tree)
    used = (bool(tree.margin) and (deep or not tree.side), bool(tree.side), True)
    first, second, third = _by_spread(m, tree, betas, used)
    nodes = {first: 64 if few else 24, second: (64 if deep else 128) if few else 24, third: 24 if few else 12}
    splits = [_nodes(beta, nodes[i]) if used[i] else _SINGLE for i, beta in enumerate(betas)]
    scores = _scores(m, tree, *np.ix_(*(values for values, _ in splits)))
    lines = np.moveaxis(_to_line(m, scores), (third, second, first), (0, 1, 2)).reshape(-1, nodes[first])
    normal = ndtri(quadrature(nodes[first])[0])
    if lines[:, -1].sum() < lines[:, 0].sum():
        lines, normal = lines[:, ::-1], -normal[::-1]
    # Rounding must not make a path non-monotone.
    lines = np.maximum.accumulate(lines, axis=1)
    paths = np.outer(splits[third][1], splits[second][1]).ravel()
    grid = _grid(lines, paths, normal)
    z = _path_normals(lines, normal, grid)
    below, above = paths @ ndtr(z), paths @ ndtr(-z)
    values = np.where(below < 0.5, ndtri(np.maximum(below, 1e-300)), -ndtri(np.maximum(above, 1e-300)))
    values = np.maximum.accumulate(values)
    new = np.r_[True, np.diff(values) > 1e-9]
    if np.count_nonzero(new) == 1:
        # All of it lies closer together than places on the line are told apart.
        middle = (grid[0] + grid[-1]) / 2
        around = _NARROWEST * max(1.0, abs(float(middle))) * np.array([-1.0, 1.0])
        return _Table(middle + around, np.array([-_FARTHEST, _FARTHEST]))
    return _Table(grid[new], values[new])


def _by_spread(m: OneGroup, tree: Tree, betas: Betas, used: tuple[bool, bool, bool]) -> list[int]:
    """Margin, side and last (0, 1, 2) by how much the score varies with each; the score is monotone in the first.

    The last split always qualifies. Paths along the widest split overlap, so that few of them give a smooth average.
    """
    some = [_nodes(beta, 8)[0] if use else _SINGLE[0] for beta, use in zip(betas, used, strict=True)]
    lines = _to_line(m, _scores(m, tree, *np.ix_(*some)))
    spread = []
    for i, use in enumerate(used):
        steps = np.diff(lines, axis=i)
        monotone = i == 2 or not ((steps < -1e-9).any() and (steps > 1e-9).any())
        # The third and the sixth of the eight nodes are about the first and the last decile.
        width = np.abs(np.diff(np.take(lines, [2, 5], axis=i), axis=i)).mean() if use else -1.0
        spread.append((use and monotone, float(width)))
    first = max(range(3), key=lambda i: spread[i])
    return [first, *sorted({0, 1, 2} - {first}, key=lambda i: -spread[i][1])]


def _scores(m: OneGroup, tree: Tree, margin: Floats, side: Floats, last: Floats) -> Floats:
    size = tree.last_size(1.0, margin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = m.score(*np.broadcast_arrays(*tree.columns(1.0, margin, margin * side, size * last)))
    return np.asarray(np.clip(np.nan_to_num(scores, posinf=m.high, neginf=m.low), m.low, m.high))


def _grid(lines: Floats, paths: Floats, normal: Floats) -> Floats:
    """Places on the line: some at roughly equal steps of the normal score, some at equal distances."""
    from scipy.special import ndtr

    mass = np.diff(ndtr(np.r_[-np.inf, (normal[1:] + normal[:-1]) / 2, np.inf]))
    weight = (paths[:, None] * mass).ravel()
    places = lines.ravel()
    order = np.argsort(places)
    reached = np.cumsum(weight[order])
    wanted = ndtr(np.linspace(-_FARTHEST, _FARTHEST, _SPOTS)) * reached[-1]
    spots = places[order][np.minimum(np.searchsorted(reached, wanted), len(order) - 1)]
    even = np.linspace(spots[0], spots[-1], _EVEN)
    grid = np.unique(np.r_[spots, even])
    return grid[np.r_[True, np.diff(grid) > _NARROWEST * max(1.0, grid[-1] - grid[0])]]


def _path_normals(lines: Floats, normal: Floats, grid: Floats) -> Floats:
    """The normal score of each path at each place of the grid, by cubic interpolation of the four nearest nodes."""
    k = lines.shape[1]
    at = np.stack([np.searchsorted(path, grid) for path in lines])
    first = np.clip(at - 2, 0, k - 4)
    offset = first + k * np.arange(len(lines))[:, None]
    y = lines.ravel()
    z = np.broadcast_to(normal, lines.shape)
    away = [grid - y[offset + i] for i in range(3)]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Newton's form: divided differences of the normal score over the places of the nodes.
        one, two, three = _divided(lines, z)
        value = normal[first] + away[0] * (
            one.ravel()[offset] + away[1] * (two.ravel()[offset] + away[2] * three.ravel()[offset])
        )
    bounds = normal[np.maximum(at - 1, 0)], normal[np.minimum(at, k - 1)]
    # Between two nodes the normal score lies between theirs; where nodes coincide, it is halfway.
    value = np.where(np.isfinite(value), np.clip(value, *bounds), (bounds[0] + bounds[1]) / 2)
    for outside, end, inner in ((at == 0, 0, 3), (at == k, k - 1, k - 4)):
        if outside.any():
            slope = (normal[end] - normal[inner]) / np.maximum(np.abs(lines[:, end] - lines[:, inner]), 1e-12)
            beyond = normal[end] + np.abs(slope)[:, None] * (grid - lines[:, [end]])
            value = np.where(outside, beyond, value)
    return np.asarray(np.clip(value, -_STEEPEST, _STEEPEST))


def _divided(y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """First, second and third divided differences of z over y along the last axis, padded to its length."""
    differences = []
    for order in (1, 2, 3):
        z = (z[:, 1:] - z[:, :-1]) / (y[:, order:] - y[:, :-order])
        differences.append(np.pad(z, ((0, 0), (0, order))))
    first, second, third = differences
    return first, second, third


@lru_cache(maxsize=128)
def _depends_on_margin(m: OneGroup, tree: Tree) -> bool:
    scores = [m.score(*tree.columns(1.0, p, p * 0.7, (1 - p) * 0.2)) for p in (0.3, 0.6)]
    return bool(abs(scores[0] - scores[1]) > 1e-9)


@lru_cache(maxsize=1024)
def _nodes(beta: Beta, nodes: int) -> tuple[Floats, Floats]:
    """Quadrature nodes and weights for the mean of a function of a beta variable."""
    from scipy.special import betaincinv

    u, w = quadrature(nodes)
    return np.clip(betaincinv(*beta, u), _EDGE, 1 - _EDGE), w


@lru_cache(maxsize=16)
def quadrature(nodes: int) -> tuple[Floats, Floats]:
    """Quadrature nodes and weights for the mean over (0, 1); nodes are denser near the ends."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    t, w = (t + 1) / 2, w / 2
    # u = 10t³ - 15t⁴ + 6t⁵ has a zero of third order at either end, where beta quantiles bend.
    return np.minimum(t**3 * (10 - 15 * t + 6 * t * t), 1.0), w * 30 * t**2 * (1 - t) ** 2


def _to_line(m: OneGroup, scores: Any) -> Floats:
    """Places on the real line: the log odds within the range, or the logarithm of an unbounded score."""
    with np.errstate(divide="ignore"):
        if m.unbounded:
            place = np.log(np.maximum(scores, 0.0))
        else:
            share = np.clip((np.asarray(scores) - m.low) / (m.high - m.low), 0.0, 1.0)
            place = np.log(share) - np.log1p(-share)
    limit = 2 * _LINE if m.unbounded else _LINE
    return np.asarray(np.clip(place, -limit, limit))


def _from_line(m: OneGroup, place: Floats) -> Floats:
    from scipy.special import expit

    if m.unbounded:
        return np.exp(np.minimum(place, _LARGEST_LOG))
    return np.asarray(m.low + (m.high - m.low) * expit(place))
