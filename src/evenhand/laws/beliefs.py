"""What is believed of true scores given counts, for many matrices at once: posteriors, and confidence distributions.

Each split of a tree has a law of its rate. With a prior it is a beta posterior. Without one it is a confidence
distribution of a binomial rate: Beta(x, n - x + 1) where the rate counts low, Beta(x + 1, n - x) where it counts high,
or an even mixture of the two, which gives mid-p intervals. With x = 0 or x = n one of them is an atom at 0 or at 1.

A score that depends on one split has a law in closed form. Any other score is averaged by quadrature over all splits
but one, the one with which it varies most among those in which it is monotone: on each path along that split the
quantiles of the score are the scores of the split's quantiles, and its cumulative probability is obtained by
interpolating normal scores. The result is a table of normal scores over the range of the metric, mapped to the whole
real line; every later question is a look-up. Atoms are averaged by themselves, so that no quadrature crosses one.
Nothing is random.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS
from ..metrics import Curve, OneGroup, Tree

__all__ = ["ROW_TREE", "Atoms", "Belief", "End", "betas_of", "confidence_of", "posterior_of", "quadrature"]

Floats = NDArray[np.float64]
Beta = tuple[float, float]

End = Literal["low", "mid", "high"]
"""Whether the score counts low, for lower ends of intervals, high, for upper ones, or both evenly."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the law of a split's rate: an even mixture of betas, or without any an atom at 0 or 1."""

    weight: float
    betas: tuple[Beta, ...]
    at: float = 0.5


_Law = tuple[_Part, ...]
_Laws = tuple[_Law, _Law, _Law]
"""The laws of margin, side and last."""
_ANYTHING: _Law = (_Part(1.0, (), 0.5),)
"""The law of a split that makes no difference."""

ROW_TREE = Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

_SPOTS, _EVEN = 61, 31
# Nodes along a path, and over the splits that are averaged over, by how much the score varies with them.
_ALONG, _NODES = 24, (24, 12)
# With few cases on one side of a split, quantile functions bend sharply and need more nodes.
_MANY_ALONG, _MANY_NODES = 64, (64, 24)
# Along a path that rises and falls, scores are sorted instead of interpolated.
_UNSORTED_ALONG = 1_024
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
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Atoms:
    """Scores that have a probability of their own: values and masses of shape (matrices, k), masses 0 where unused."""

    values: Floats
    masses: Floats


@dataclass(frozen=True, slots=True)
class Belief(ABC):
    """The distributions of a metric's true scores, one per matrix: a smooth part, atoms, and a mass without a score.

    Scores are arrays of shape (matrices, k). What is undefined counts to both tails.
    """

    atoms: Atoms
    undefined: Floats

    @abstractmethod
    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        """The mass of the smooth part up to scores, for the matrices ``rows``."""

    @abstractmethod
    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        """The mass of the smooth part above scores, for the matrices ``rows``."""

    @abstractmethod
    def nodes(self, count: int, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        """Scores and masses that stand for the smooth part in averages."""

    @abstractmethod
    def reach(self, q: float) -> tuple[Floats, Floats]:
        """Scores between which the quantile ``q`` of the smooth part lies."""

    def tail(self, scores: Floats, above: bool, rows: Any = slice(None)) -> Floats:
        """The probability of scores up to these, or from them on, one per matrix of ``rows``."""
        sign = -1.0 if above else 1.0
        with np.errstate(invalid="ignore"):
            within = np.nan_to_num(sign * (self.atoms.values[rows] - scores[:, None])) <= 0
        smooth = (self.sf if above else self.cdf)(scores[:, None], rows)[:, 0]
        return np.asarray(smooth + (self.atoms.masses[rows] * within).sum(axis=1) + self.undefined[rows])

    def end(self, tail: float, above: bool) -> Floats:
        """The scores beyond which lies this probability; infinite where more than that is undefined."""
        atoms = np.where(self.atoms.masses > 0, self.atoms.values, np.nan)
        places = np.column_stack([*self.reach(1 - tail if above else tail), atoms])
        outer, inner = (np.nanmax, np.nanmin) if above else (np.nanmin, np.nanmax)
        out, found = outer(places, axis=1), inner(places, axis=1)
        reached = self.tail(out, above) >= tail
        found[reached] = out[reached]
        rows = np.flatnonzero(out != found)
        for _ in range(_HALVINGS if len(rows) else 0):
            middle = _between(out[rows], found[rows])
            enough = self.tail(middle, above, rows) >= tail
            found[rows], out[rows] = np.where(enough, middle, found[rows]), np.where(enough, out[rows], middle)
        found[self.undefined >= tail] = np.inf if above else -np.inf
        return np.asarray(found)


def _between(out: Floats, in_: Floats) -> Floats:
    """The middle of ranges, on a scale on which an infinite end is finite."""
    return np.asarray(np.sinh((np.arcsinh(np.clip(out, -1e200, 1e200)) + np.arcsinh(np.clip(in_, -1e200, 1e200))) / 2))


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


def posterior_of(m: OneGroup, betas: Floats, tree: Tree | None = None) -> Belief:
    """The posterior of a metric, given the beta parameters of the splits of its own tree, or of another ``tree``."""
    if m.curve is not None and tree is None:
        return _OneSplit.of(m, betas[:, 2, None, :])
    return _Tabulated.of(m, tree or m.tree, [_three(_law([split]) for split in row) for row in betas])


def confidence_of(m: OneGroup, cells: Floats, end: End) -> Belief:
    """The confidence distributions of a metric: of true scores that count low, high, or both evenly."""
    counts = betas_of(m.tree, cells, 0.0)
    if m.curve is not None:
        return _OneSplit.of(m, np.stack([counts[:, 2] + added for added in _added(end, 1)], axis=1))
    slopes = _slopes(m, m.tree)
    return _Tabulated.of(m, m.tree, [_laws(row, slopes, end) for row in counts])


def _added(end: End, slope: int) -> tuple[Floats, ...]:
    """What is added to successes and failures of a split with whose rate the score rises or falls."""
    low, high = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    if end == "mid" or not slope:
        return low, high
    return (low if (end == "low") == (slope > 0) else high,)


def _laws(counts: Floats, slopes: tuple[int, int, int], end: End) -> _Laws:
    splits = zip(counts, slopes, strict=True)
    return _three(_law([split + more for more in _added(end, slope)]) for split, slope in splits)


def _law(betas: Sequence[Floats]) -> _Law:
    """An even mixture of betas, of which those with a parameter of 0 are atoms."""
    smooth = tuple((float(a), float(b)) for a, b in betas if min(a, b) > 0)
    atoms = [_Part(1 / len(betas), (), 0.0 if a <= 0 else 1.0) for a, b in betas if min(a, b) <= 0]
    return (*([_Part(len(smooth) / len(betas), smooth)] if smooth else []), *atoms)


def _three(laws: Iterable[_Law]) -> _Laws:
    margin, side, last = laws
    return margin, side, last


@lru_cache(maxsize=128)
def _slopes(m: OneGroup, tree: Tree) -> tuple[int, int, int]:
    """Whether the score rises (1) or falls (-1) with margin, side and last, whatever the other rates are; else 0."""
    rates = np.linspace(0.03, 0.97, 12)
    scores = _scores(m, tree, *np.ix_(rates, rates, rates))
    steps = [np.diff(scores, axis=i) for i in range(3)]
    margin, side, last = (int((step > 1e-12).any()) - int((step < -1e-12).any()) for step in steps)
    return margin, side, last


@dataclass(frozen=True, slots=True)
class _Rates(Belief):
    """The rates of one split, each a mixture of betas; parameters are of shape (matrices, betas)."""

    a: Floats
    b: Floats
    weights: Floats

    @classmethod
    def of(cls, betas: Floats) -> _Rates:
        """From parameters of shape (matrices, betas, 2); a beta with a parameter of 0 is an atom."""
        # A rate with nothing on either side is an atom at 0.
        atom = betas <= 0
        mass = np.where(atom.any(axis=2), 1.0, 0.0) / betas.shape[1]
        smooth = np.where(atom.any(axis=2, keepdims=True), 1.0, betas)
        atoms = Atoms(np.where(atom[:, :, 0], 0.0, 1.0), mass)
        return cls(atoms, np.zeros(len(betas)), smooth[:, :, 0], smooth[:, :, 1], 1 / betas.shape[1] - mass)

    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betainc

        return self._mixed(betainc(self.a[rows, :, None], self.b[rows, :, None], scores[:, None, :]), rows)

    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betainc

        # The complement of the incomplete beta function is an order of magnitude slower than its mirror image.
        return self._mixed(betainc(self.b[rows, :, None], self.a[rows, :, None], 1 - scores[:, None, :]), rows)

    def nodes(self, count: int, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        u, w = quadrature(count)
        rates, masses = self._quantiles(u, rows), self.weights[rows, :, None] * w
        return rates.reshape(len(rates), -1), masses.reshape(len(rates), -1)

    def reach(self, q: float) -> tuple[Floats, Floats]:
        used = np.where(self.weights > 0, self._quantiles(np.array([q]))[:, :, 0], np.nan)
        known = np.where(np.isnan(used).all(axis=1, keepdims=True), self.atoms.values, used)
        return np.nanmin(known, axis=1), np.nanmax(known, axis=1)

    def _quantiles(self, u: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.a[rows, :, None], self.b[rows, :, None], u))

    def _mixed(self, each: Any, rows: Any) -> Floats:
        return np.asarray(np.einsum("mc,mck->mk", self.weights[rows], each))


@dataclass(frozen=True, slots=True)
class _OneSplit(Belief):
    """A score that rises with the rate of one split; what is asked of it is asked of the rate."""

    rates: _Rates
    metric: OneGroup
    curve: Curve

    @classmethod
    def of(cls, m: OneGroup, betas: Floats) -> _OneSplit:
        assert m.curve is not None
        rates = _Rates.of(betas)
        atoms = Atoms(np.asarray(m.curve.score(rates.atoms.values)), rates.atoms.masses)
        return cls(atoms, rates.undefined, rates, m, m.curve)

    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        return self.rates.cdf(self._rate(scores), rows)

    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        return self.rates.sf(self._rate(scores), rows)

    def nodes(self, count: int, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        rates, masses = self.rates.nodes(count, rows)
        return np.asarray(self.curve.score(rates)), masses

    def reach(self, q: float) -> tuple[Floats, Floats]:
        low, high = (np.asarray(self.curve.score(rates)) for rates in self.rates.reach(q))
        return low, high

    def end(self, tail: float, above: bool) -> Floats:
        return np.asarray(self.curve.score(self.rates.end(tail, above)))

    def _rate(self, scores: Floats) -> Floats:
        return np.asarray(self.curve.rate(np.clip(scores, 0.0, self.metric.high)))


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
class _Mixed:
    """The distribution of one matrix: a table of its smooth part, with its mass, and atoms as (score, mass)."""

    table: _Table
    mass: float
    atoms: tuple[tuple[float, float], ...]
    undefined: float


@dataclass(frozen=True, slots=True)
class _Tabulated(Belief):
    """A score that depends on several splits, looked up in a table per matrix."""

    metric: OneGroup
    tables: Sequence[_Table]
    masses: Floats

    @classmethod
    def of(cls, m: OneGroup, tree: Tree, laws: Sequence[_Laws]) -> _Tabulated:
        """The tables of matrices with these laws of their splits."""
        mixed = [_tabulated(m, tree, one) for one in laws]
        most = max((len(one.atoms) for one in mixed), default=0)
        padded = np.array([[*one.atoms, *[(0.0, 0.0)] * (most - len(one.atoms))] for one in mixed])
        atoms = Atoms(*np.moveaxis(padded.reshape(len(mixed), most, 2), 2, 0))
        undefined, masses = (np.array([getattr(one, name) for one in mixed]) for name in ("undefined", "mass"))
        return cls(atoms, undefined, m, [one.table for one in mixed], masses)

    def cdf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(self._normal(scores, rows)) * self.masses[rows, None])

    def sf(self, scores: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(-self._normal(scores, rows)) * self.masses[rows, None])

    def nodes(self, count: int, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        u, w = quadrature(count)
        return self._quantiles(u, rows), self.masses[rows, None] * w

    def reach(self, q: float) -> tuple[Floats, Floats]:
        # Only a share of the mass is smooth, so that the quantile may be anywhere within it.
        narrow = (self.masses > 1 - 1e-12)[:, None]
        ends = np.where(narrow, self._quantiles(np.array([q, q])), self._quantiles(np.array([1e-12, 1 - 1e-12])))
        return ends[:, 0], ends[:, 1]

    def _quantiles(self, u: Floats, rows: Any = slice(None)) -> Floats:
        from scipy.special import ndtri

        z = ndtri(u)
        places = [self.tables[i].place_of(z) for i in np.arange(len(self.tables))[rows]]
        return _from_line(self.metric, np.array(places).reshape(-1, len(u)))

    def _normal(self, scores: Floats, rows: Any) -> Floats:
        chosen = np.arange(len(self.tables))[rows]
        places = _to_line(self.metric, scores)
        normals = [self.tables[i].normal_at(y) for i, y in zip(chosen, places, strict=True)]
        return np.array(normals).reshape(np.shape(scores))


@lru_cache(maxsize=8192)
def _tabulated(m: OneGroup, tree: Tree, laws: _Laws) -> _Mixed:
    """The distribution of one matrix."""
    laws = _three(law if use else _ANYTHING for law, use in zip(laws, _used(m, tree), strict=True))
    many = any(min(beta) < 2 for law in laws for part in law for beta in part.betas)
    found = [paths for parts in product(*laws) for paths in _paths(m, tree, parts, many)]
    atoms: dict[float, float] = {}
    undefined, moving = 0.0, []
    for paths in found:
        lost = np.isnan(paths.lines).any(axis=1)
        still = ~lost & (paths.lines[:, -1] - paths.lines[:, 0] <= _NARROWEST)
        undefined += float(paths.weights[lost].sum())
        for place, weight in zip(paths.lines[still, 0].tolist(), paths.weights[still].tolist(), strict=True):
            atoms[round(place, 9)] = atoms.get(round(place, 9), 0.0) + weight
        if (rises := ~lost & ~still).any():
            moving.append(_Paths(paths.lines[rises], paths.normal, paths.weights[rises]))
    scores = _from_line(m, np.array(list(atoms))).tolist()
    mass = float(sum(paths.weights.sum() for paths in moving))
    return _Mixed(_table(moving, mass), mass, tuple(zip(scores, atoms.values(), strict=True)), undefined)


class _Paths(NamedTuple):
    """Scores on the line along rising paths, nan where there is none, the normal scores of their nodes, and weights."""

    lines: Floats
    normal: Floats
    weights: Floats


def _paths(m: OneGroup, tree: Tree, parts: Sequence[_Part], many: bool) -> list[_Paths]:
    """The paths along the split with which the score varies most, at the nodes of the others."""
    along, *beside = (_MANY_ALONG, *_MANY_NODES) if many else (_ALONG, *_NODES)
    (first, second, third), monotone = _by_spread(m, tree, parts, along)
    counts = dict(zip((first, second, third), (along if monotone else _UNSORTED_ALONG, *beside), strict=True))
    nodes = [_nodes(part.betas, counts[i]) if part.betas else _atom(part) for i, part in enumerate(parts)]
    scores = _scores(m, tree, *np.ix_(*(one.rates for one in nodes)))
    lines = np.moveaxis(_to_line(m, scores), (third, second, first), (0, 1, 2)).reshape(-1, len(nodes[first].rates))
    weights = np.outer(nodes[third].weights, nodes[second].weights).ravel() * np.prod([part.weight for part in parts])
    if not monotone:
        return [_sorted(line, nodes[first].weights, weights[[i]]) for i, line in enumerate(lines)]
    normal = nodes[first].normal
    if np.nansum(lines[:, -1]) < np.nansum(lines[:, 0]):
        lines, normal = lines[:, ::-1], -normal[::-1]
    # Rounding must not make a path non-monotone.
    return [_Paths(np.maximum.accumulate(lines, axis=1), normal, weights)]


def _sorted(line: Floats, weights: Floats, weight: Floats) -> _Paths:
    """One path that rises and falls, its scores in ascending order."""
    from scipy.special import ndtri

    order = np.argsort(line)
    below = np.cumsum(weights[order]) - weights[order] / 2
    return _Paths(line[order][None], ndtri(np.clip(below / weights.sum(), 1e-16, 1 - 1e-16)), weight)


def _table(moving: Sequence[_Paths], mass: float) -> _Table:
    """The table of paths that all rise."""
    from scipy.special import ndtr, ndtri

    if not moving:
        return _Table(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]))
    grid = _grid(moving)
    normals = [_path_normals(paths.lines, paths.normal, grid) for paths in moving]
    below, above = (
        np.sum([paths.weights @ ndtr(sign * z) for paths, z in zip(moving, normals, strict=True)], axis=0) / mass
        for sign in (1, -1)
    )
    values = np.where(below < 0.5, ndtri(np.maximum(below, 1e-300)), -ndtri(np.maximum(above, 1e-300)))
    values = np.maximum.accumulate(values)
    new = np.r_[True, np.diff(values) > 1e-9]
    if np.count_nonzero(new) == 1:
        # All of it lies closer together than places on the line are told apart.
        middle = (grid[0] + grid[-1]) / 2
        around = _NARROWEST * max(1.0, abs(float(middle))) * np.array([-1.0, 1.0])
        return _Table(middle + around, np.array([-_FARTHEST, _FARTHEST]))
    return _Table(grid[new], values[new])


def _by_spread(m: OneGroup, tree: Tree, parts: Sequence[_Part], along: int) -> tuple[list[int], bool]:
    """Margin, side and last (0, 1, 2) by how much the score varies with each, and whether it is monotone in the first.

    It is, unless it is in none that has a law: kappa, if all errors are certain, falls and rises with the margin.

    Paths along the widest split overlap, so that few of them give a smooth average.
    """
    # Only the margin has to be looked at as closely as along a path: scores rise or fall with the others.
    some = [_nodes(part.betas, 8 if i else along) if part.betas else _atom(part) for i, part in enumerate(parts)]
    lines = np.nan_to_num(_to_line(m, _scores(m, tree, *np.ix_(*(one.rates for one in some)))))
    spread = []
    for i, part in enumerate(parts):
        steps = np.diff(lines, axis=i)
        monotone = i == 2 or not ((steps < -1e-9).any() and (steps > 1e-9).any())
        # The third and the sixth of eight nodes are about the first and the last decile.
        inner = [round(k / 7 * (lines.shape[i] - 1)) for k in (2, 5)]
        width = np.abs(np.diff(np.take(lines, inner, axis=i), axis=i)).mean() if part.betas else -1.0
        spread.append((bool(part.betas) and monotone, float(width)))
    first = max(range(3), key=lambda i: spread[i])
    monotone = spread[first][0] or not parts[first].betas
    return [first, *sorted({0, 1, 2} - {first}, key=lambda i: -spread[i][1])], monotone


def _scores(m: OneGroup, tree: Tree, margin: Floats, side: Floats, last: Floats) -> Floats:
    """The scores of rates; nan where there is none."""
    size = tree.last_size(1.0, margin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = m.score(*np.broadcast_arrays(*tree.columns(1.0, margin, margin * side, size * last)))
    return np.asarray(np.clip(scores, m.low, m.high))


def _grid(moving: Sequence[_Paths]) -> Floats:
    """Places on the line: some at roughly equal steps of the normal score, some at equal distances."""
    from scipy.special import ndtr

    masses = [np.diff(ndtr(np.r_[-np.inf, (z[1:] + z[:-1]) / 2, np.inf])) for z in (paths.normal for paths in moving)]
    weight = np.concatenate([np.outer(paths.weights, mass).ravel() for paths, mass in zip(moving, masses, strict=True)])
    places = np.concatenate([paths.lines.ravel() for paths in moving])
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
def _used(m: OneGroup, tree: Tree) -> tuple[bool, bool, bool]:
    """Whether the score depends on margin, side and last."""
    deep = not tree.side
    if tree.side:
        scores = [m.score(*tree.columns(1.0, p, p * 0.7, (1 - p) * 0.2)) for p in (0.3, 0.6)]
        deep = bool(abs(scores[0] - scores[1]) > 1e-9)
    return bool(tree.margin) and deep, bool(tree.side), True


class _Nodes(NamedTuple):
    """Rates that stand for the law of a split, their weights, and the normal scores of its cumulative probability."""

    rates: Floats
    weights: Floats
    normal: Floats


def _atom(part: _Part) -> _Nodes:
    return _Nodes(np.array([part.at]), np.ones(1), np.zeros(1))


@lru_cache(maxsize=4096)
def _nodes(betas: tuple[Beta, ...], count: int) -> _Nodes:
    """The nodes of an even mixture of betas: those of the beta with the smallest parameters, weighted anew."""
    from scipy.special import betainc, betaincinv, betaln, ndtri

    a, b = (np.array(each)[:, None] for each in zip(*betas, strict=True))
    u, w = quadrature(count)
    rates = np.clip(betaincinv(a.min(), b.min(), u), _EDGE, 1 - _EDGE)
    density = (a - a.min()) * np.log(rates) + (b - b.min()) * np.log1p(-rates) - betaln(a, b) + betaln(a.min(), b.min())
    below, above = betainc(a, b, rates).mean(axis=0), betainc(b, a, 1 - rates).mean(axis=0)
    normal = np.where(below < 0.5, ndtri(np.maximum(below, 1e-300)), -ndtri(np.maximum(above, 1e-300)))
    return _Nodes(rates, w * np.exp(density).mean(axis=0), normal)


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
        inside = np.exp(np.minimum(place, _LARGEST_LOG))
        return np.where(np.abs(place) < 2 * _LINE, inside, np.where(place < 0, 0.0, np.inf))
    within = m.low + (m.high - m.low) * expit(place)
    return np.where(np.abs(place) < _LINE, within, np.where(place < 0, m.low, m.high))
