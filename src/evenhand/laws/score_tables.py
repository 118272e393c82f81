"""Tables of the distributions of scores that depend on several splits, for many matrices at once.

A score is averaged by quadrature over all splits but one, the one with which it varies most among those in which it is
monotone. On each path along that split the quantiles of the score are the scores of the split's quantiles, and its
cumulative probability is obtained by interpolating normal scores. The result is a table of normal scores over the range
of the metric, mapped to the whole real line; every later question is a look-up. Atoms are averaged by themselves, so
that no quadrature crosses one. Nothing is random.

Matrices whose laws have parts of the same kinds are worked off together. Errors of probabilities depend on the smallest
parameter of the betas, about the number of cases in the smallest cell. In trials with many extreme matrices, half of
the errors were below 1e-5 from 2 on and below 3e-5 with less; 98 of 100 were below 1e-4 from 4 on, 2e-4 from 2 on, and
1.5e-3 below, and the largest were 3e-4, 5e-4 and 3e-3.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics import OneGroup, Tree

__all__ = ["Law", "Laws", "Mixed", "Part", "from_line", "quadrature", "slopes_of", "tabulated", "to_line"]

Floats = NDArray[np.float64]
Beta = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the law of a split's rate: an even mixture of betas, or without any an atom at 0 or 1."""

    weight: float
    betas: tuple[Beta, ...]
    at: float = 0.5


Law = tuple[Part, ...]
Laws = tuple[Law, Law, Law]
"""The laws of margin, side and last."""
_ANYTHING: Law = (Part(1.0, (), 0.5),)
"""The law of a split that makes no difference."""


class _Detail(NamedTuple):
    """How finely a distribution is computed.

    That is the number of nodes along a path and over the splits that are averaged over, by how much the score varies
    with them, and the number of places in a table at equal steps of the normal score and at equal distances.
    """

    along: int
    beside: tuple[int, int]
    spots: int
    even: int


# With few cases on one side of a split, pseudo-counts included, quantile functions bend sharply and need more nodes.
_DETAILS = (
    (4.0, _Detail(20, (12, 8), 41, 8)),
    (2.0, _Detail(32, (24, 10), 61, 16)),
    (1.0, _Detail(48, (48, 16), 81, 31)),
    (0.0, _Detail(64, (64, 24), 101, 41)),
)
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
# Entries of arrays that are worked on at a time, so that they stay in the processor's cache.
_BLOCK = 2**18
_REMEMBERED = 8192


class Mixed(NamedTuple):
    """The distribution of one matrix: normal scores of its smooth part over places, its mass, and atoms with theirs."""

    places: Floats
    normal: Floats
    mass: float
    atoms: tuple[tuple[float, float], ...]
    undefined: float


def tabulated(m: OneGroup, tree: Tree, laws: Sequence[Laws]) -> list[Mixed]:
    """The distributions of matrices with these laws of their splits; the latest are remembered."""
    margin, side, last = _used(m, tree)
    needed = [(a if margin else _ANYTHING, b if side else _ANYTHING, c if last else _ANYTHING) for a, b, c in laws]
    known = _remembered(m, tree)
    found = {one: known[one] for one in set(needed) if one in known}
    for same in _of_a_kind(m, tree, [one for one in dict.fromkeys(needed) if one not in found]):
        found.update(zip(same.laws, _built(m, tree, same), strict=True))
    known.update(found)
    while len(known) > _REMEMBERED:
        known.popitem(last=False)
    return [found[one] for one in needed]


@lru_cache(maxsize=64)
def _remembered(m: OneGroup, tree: Tree) -> OrderedDict[Laws, Mixed]:
    return OrderedDict()


@dataclass(frozen=True, slots=True)
class _Roles:
    """The splits by their roles: the one along which paths lead, and two that are averaged over."""

    first: int
    second: int
    third: int
    monotone: bool


class _Combination(NamedTuple):
    """One part of each split, for several matrices, with the role of each."""

    parts: tuple[_Parts, _Parts, _Parts]
    roles: _Roles


class _Same(NamedTuple):
    """Matrices whose laws have parts of the same kinds in the same roles."""

    laws: list[Laws]
    combinations: list[_Combination]
    detail: _Detail


class _Parts(NamedTuple):
    """The same part of one split's law for several matrices; betas have the shape (matrices, betas, 2)."""

    weight: Floats
    betas: Floats
    at: Floats

    @classmethod
    def of(cls, parts: Sequence[Part]) -> _Parts:
        betas = np.array([part.betas for part in parts]).reshape(len(parts), -1, 2)
        return cls(np.array([part.weight for part in parts]), betas, np.array([part.at for part in parts]))

    @property
    def smooth(self) -> bool:
        return bool(self.betas.shape[1] > 0)

    def take(self, rows: Any) -> _Parts:
        return _Parts(self.weight[rows], self.betas[rows], self.at[rows])


def _of_a_kind(m: OneGroup, tree: Tree, laws: Sequence[Laws]) -> Iterator[_Same]:
    """Matrices that can be worked off together, in blocks."""
    kinds: dict[tuple[Any, ...], list[Laws]] = defaultdict(list)
    for one in laws:
        kinds[_detail(one), *(tuple(len(part.betas) for part in law) for law in one)].append(one)
    for (detail, *_), alike in kinds.items():
        combined = [_parted(list(chosen)) for chosen in zip(*(product(*one) for one in alike), strict=True)]
        roles = [_roles(m, tree, parts) for parts in combined]
        casts: dict[tuple[_Roles, ...], list[int]] = defaultdict(list)
        for row, cast in enumerate(zip(*roles, strict=True)):
            casts[cast].append(row)
        for cast, rows in casts.items():
            for block in _blocks(
                np.array(rows), sum(_size(*each, detail) for each in zip(combined, cast, strict=True))
            ):
                some = [
                    _Combination((a.take(block), b.take(block), c.take(block)), role)
                    for (a, b, c), role in zip(combined, cast, strict=True)
                ]
                yield _Same([alike[row] for row in block], some, detail)


def _detail(laws: Laws) -> _Detail:
    """The detail that the smallest parameter of all betas asks for."""
    fewest = min((min(beta) for law in laws for part in law for beta in part.betas), default=np.inf)
    return next(detail for least, detail in _DETAILS if fewest >= least)


def _parted(chosen: Sequence[tuple[Part, ...]]) -> tuple[_Parts, _Parts, _Parts]:
    margin, side, last = (_Parts.of(parts) for parts in zip(*chosen, strict=True))
    return margin, side, last


def _blocks(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return np.array_split(rows, min(len(rows), -(-len(rows) * size // _BLOCK)))


def _size(parts: Sequence[_Parts], roles: _Roles, detail: _Detail) -> int:
    """The entries that one matrix takes at a time."""
    along, *beside = _counts(parts, roles, detail)
    return int(np.prod(beside)) * max(along, detail.spots + detail.even)


def _counts(parts: Sequence[_Parts], roles: _Roles, detail: _Detail) -> list[int]:
    """How many nodes the splits have in their roles."""
    wanted = (detail.along if roles.monotone else _UNSORTED_ALONG, *detail.beside)
    order = (roles.first, roles.second, roles.third)
    return [count if parts[i].smooth else 1 for i, count in zip(order, wanted, strict=True)]


def _roles(m: OneGroup, tree: Tree, parts: Sequence[_Parts]) -> list[_Roles]:
    """Margin, side and last (0, 1, 2) by how much the score varies with each, and whether it is monotone in the first.

    It is, unless it is in none that has a law: kappa, if all errors are certain, falls and rises with the margin.

    Paths along the widest split overlap, so that few of them give a smooth average.
    """
    some = [_about(part, _DECILES) for part in parts]
    lines = np.nan_to_num(to_line(m, _scores_at(m, tree, some)))
    widths = np.stack(
        [
            np.abs(np.diff(lines, axis=1 + i)).mean(axis=(1, 2, 3)) if part.smooth else np.full(len(lines), -1.0)
            for i, part in enumerate(parts)
        ],
        axis=1,
    )
    order = np.argsort(-widths, axis=1, kind="stable")
    rising = np.array(slopes_of(m, tree)) != 0
    wavy = np.zeros(widths.shape, dtype=bool)
    for i, part in enumerate(parts):
        rows = np.flatnonzero((order[:, 0] == i) & ~rising[i]) if part.smooth and i < 2 else np.empty(0, np.int64)
        if len(rows):
            wavy[rows, i] = _falls_and_rises(m, tree, [each.take(rows) for each in parts], i)
    return [_cast(list(map(int, row)), wavy[k], widths[k]) for k, row in enumerate(order)]


def _cast(order: list[int], wavy: NDArray[np.bool_], widths: Floats) -> _Roles:
    """Roles in this order, or with the next split first in which the score is monotone."""
    if wavy[order[0]] and widths[order[1]] >= 0:
        order = [order[1], order[0], order[2]]
    first, second, third = order
    return _Roles(first, second, third, not bool(wavy[first]))


def _falls_and_rises(m: OneGroup, tree: Tree, parts: Sequence[_Parts], i: int) -> NDArray[np.bool_]:
    """Whether the score is not monotone in split ``i`` within the laws of the splits."""
    rates = [_about(part, _EXTREMES) for part in parts]
    rates[i] = _nodes(parts[i], _DETAILS[-1][1].along).rates
    steps = np.diff(np.nan_to_num(to_line(m, _scores_at(m, tree, rates))), axis=1 + i)
    return np.asarray((steps < -1e-9).any(axis=(1, 2, 3)) & (steps > 1e-9).any(axis=(1, 2, 3)))


_DECILES, _EXTREMES = np.array([-1.28, 1.28]), np.array([-3.0, -1.0, 1.0, 3.0])


def _about(part: _Parts, z: Floats) -> Floats:
    """The rates whose log odds lie ``z`` standard deviations from their mean; of an atom, its own."""
    from scipy.special import digamma, expit, polygamma

    if not part.smooth:
        return part.at[:, None]
    a, b = part.betas[:, 0, 0, None], part.betas[:, 0, 1, None]
    odds = digamma(a) - digamma(b) + z * np.sqrt(polygamma(1, a) + polygamma(1, b))
    return np.clip(expit(odds), _EDGE, 1 - _EDGE)


def _scores_at(m: OneGroup, tree: Tree, rates: Sequence[Floats]) -> Floats:
    """The scores of all combinations of rates of margin, side and last, shape (matrices, margin, side, last)."""
    margin, side, last = rates
    return _scores_of_rates(m, tree, margin[:, :, None, None], side[:, None, :, None], last[:, None, None, :])


def _scores_of_rates(m: OneGroup, tree: Tree, margin: Floats, side: Floats, last: Floats) -> Floats:
    """The scores of rates; nan where there is none."""
    size = tree.last_size(1.0, margin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = m.score(*np.broadcast_arrays(*tree.columns(1.0, margin, margin * side, size * last)))
    return np.asarray(np.clip(scores, m.low, m.high))


@lru_cache(maxsize=128)
def slopes_of(m: OneGroup, tree: Tree) -> tuple[int, int, int]:
    """Whether the score rises (1) or falls (-1) with margin, side and last, whatever the other rates are; else 0."""
    rates = np.linspace(0.03, 0.97, 12)
    scores = _scores_of_rates(m, tree, *np.ix_(rates, rates, rates))
    steps = [np.diff(scores, axis=i) for i in range(3)]
    margin, side, last = (int((step > 1e-12).any()) - int((step < -1e-12).any()) for step in steps)
    return margin, side, last


@lru_cache(maxsize=128)
def _used(m: OneGroup, tree: Tree) -> tuple[bool, bool, bool]:
    """Whether the score depends on margin, side and last."""
    deep = not tree.side
    if tree.side:
        scores = [m.score(*tree.columns(1.0, p, p * 0.7, (1 - p) * 0.2)) for p in (0.3, 0.6)]
        deep = bool(abs(scores[0] - scores[1]) > 1e-9)
    return bool(tree.margin) and deep, bool(tree.side), True


class _Paths(NamedTuple):
    """Paths of one combination of parts for several matrices.

    ``lines`` are the scores on the line along rising paths, nan where there is none, shape (matrices, paths, nodes),
    ``normal`` the normal scores of their nodes, shape (matrices, nodes), and ``weights`` those of the paths.
    """

    lines: Floats
    normal: Floats
    weights: Floats


def _paths(m: OneGroup, tree: Tree, combined: _Combination, detail: _Detail) -> _Paths:
    """The paths along the split with which the score varies most, at the nodes of the others."""
    parts, roles = combined
    order = roles.first, roles.second, roles.third
    along, *beside = _counts(parts, roles, detail)
    first = _nodes(parts[roles.first], along)
    second, third = (_beside(parts[i], count) for i, count in zip(order[1:], beside, strict=True))
    rates = [rates for _, rates in sorted(zip(order, (first.rates, second.rates, third.rates), strict=True), key=_role)]
    lines = to_line(m, _scores_at(m, tree, rates))
    lines = np.moveaxis(lines, [1 + i for i in order], (3, 2, 1)).reshape(len(lines), -1, along)
    weights = (third.weights[:, :, None] * second.weights[:, None, :]).reshape(len(lines), -1)
    weights = weights * np.prod([part.weight for part in parts], axis=0)[:, None]
    normal = first.normal
    if not roles.monotone:
        return _sorted(lines, first.weights, weights)
    falls = np.nansum(lines[:, :, -1] - lines[:, :, 0], axis=1) < 0
    lines[falls] = lines[falls, :, ::-1]
    normal = np.where(falls[:, None], -normal[:, ::-1], normal)
    # Rounding must not make a path non-monotone.
    return _Paths(np.maximum.accumulate(lines, axis=2), normal, weights)


def _role(pair: tuple[int, Floats]) -> int:
    return pair[0]


def _sorted(lines: Floats, weights: Floats, weight: Floats) -> _Paths:
    """A path per matrix that rises and falls, its scores in ascending order."""
    from scipy.special import ndtri

    order = np.argsort(lines[:, 0], axis=1)
    sizes = np.take_along_axis(weights, order, axis=1)
    below = (np.cumsum(sizes, axis=1) - sizes / 2) / sizes.sum(axis=1, keepdims=True)
    return _Paths(
        np.take_along_axis(lines[:, 0], order, axis=1)[:, None],
        ndtri(np.clip(below, 1e-16, 1 - 1e-16)),
        weight.sum(axis=1, keepdims=True),
    )


def _built(m: OneGroup, tree: Tree, same: _Same) -> list[Mixed]:
    """The distributions of matrices of one kind."""
    found = [_paths(m, tree, combined, same.detail) for combined in same.combinations]
    atoms: list[dict[float, float]] = [{} for _ in same.laws]
    undefined = np.zeros(len(atoms))
    moving = []
    for paths in found:
        lost = np.isnan(paths.lines).any(axis=2)
        still = ~lost & (paths.lines[:, :, -1] - paths.lines[:, :, 0] <= _NARROWEST)
        undefined += (paths.weights * lost).sum(axis=1)
        for row, path in zip(*np.nonzero(still), strict=True):
            place = round(float(paths.lines[row, path, 0]), 9)
            atoms[row][place] = atoms[row].get(place, 0.0) + float(paths.weights[row, path])
        if not (lost | still).all():
            moving.append(paths._replace(lines=np.nan_to_num(paths.lines), weights=paths.weights * ~(lost | still)))
    mass = np.sum([paths.weights.sum(axis=1) for paths in moving], axis=0) if moving else np.zeros(len(atoms))
    tables = _tables(moving, mass, same.detail)
    return [
        Mixed(*table, float(mass[row]), _scored(m, own), float(undefined[row]))
        for row, (table, own) in enumerate(zip(tables, atoms, strict=True))
    ]


def _scored(m: OneGroup, atoms: dict[float, float]) -> tuple[tuple[float, float], ...]:
    """Atoms at places as (score, mass)."""
    return tuple(zip(from_line(m, np.array(list(atoms))).tolist(), atoms.values(), strict=True))


_NO_TABLE = np.array([-1.0, 1.0])


def _tables(moving: Sequence[_Paths], mass: Floats, detail: _Detail) -> list[tuple[Floats, Floats]]:
    """Places and normal scores of matrices whose paths all rise."""
    from scipy.special import ndtri

    if not moving:
        return [(_NO_TABLE, _NO_TABLE)] * len(mass)
    grid = _grid(moving, detail)
    below, above = np.zeros(grid.shape), np.zeros(grid.shape)
    for paths in moving:
        lower, upper = _tails(paths, grid)
        below += lower
        above += upper
    with np.errstate(divide="ignore", invalid="ignore"):
        below, above = below / mass[:, None], above / mass[:, None]
    smaller = ndtri(np.maximum(np.minimum(below, above), 1e-300))
    values = np.maximum.accumulate(np.where(below < above, smaller, -smaller), axis=1)
    return [_table(*each) for each in zip(grid, values, mass, strict=True)]


def _table(grid: Floats, values: Floats, mass: float) -> tuple[Floats, Floats]:
    """A table without places that are one, or at which the normal score does not rise."""
    if mass <= 0:
        return _NO_TABLE, _NO_TABLE
    apart = np.diff(grid, prepend=-np.inf) > _NARROWEST * max(1.0, grid[-1] - grid[0])
    new = apart & (np.diff(values, prepend=-np.inf) > 1e-9)
    if np.count_nonzero(new) <= 1:
        # All of it lies closer together than places on the line are told apart.
        middle = (grid[0] + grid[-1]) / 2
        around = _NARROWEST * max(1.0, abs(float(middle))) * np.array([-1.0, 1.0])
        return middle + around, np.array([-_FARTHEST, _FARTHEST])
    return grid[new], values[new]


def _grid(moving: Sequence[_Paths], detail: _Detail) -> Floats:
    """Places on the line per matrix: some at roughly equal steps of the normal score, some at equal distances."""
    from scipy.special import ndtr

    places, weights = [], []
    for paths in moving:
        middles = (paths.normal[:, 1:] + paths.normal[:, :-1]) / 2
        shares = np.diff(ndtr(middles), axis=1, prepend=0.0, append=1.0)
        places.append(paths.lines.reshape(len(middles), -1))
        weights.append((paths.weights[:, :, None] * shares[:, None, :]).reshape(len(middles), -1))
    place, weight = np.concatenate(places, axis=1), np.concatenate(weights, axis=1)
    order = np.argsort(np.where(weight > 0, place, np.inf), axis=1)
    reached = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    reached /= np.maximum(reached[:, -1:], 1e-300)
    # Shares of different matrices lie in ranges of their own, so that one search finds all.
    rows = 2.0 * np.arange(len(place))[:, None]
    wanted = ndtr(np.linspace(-_FARTHEST, _FARTHEST, detail.spots))
    at = np.searchsorted((reached + rows).ravel(), (wanted + rows).ravel()).reshape(len(rows), -1)
    at = np.clip(at - place.shape[1] * np.arange(len(place))[:, None], 0, place.shape[1] - 1)
    last = (weight > 0).sum(axis=1)[:, None] - 1
    spots = np.take_along_axis(place, np.take_along_axis(order, np.minimum(at, np.maximum(last, 0)), axis=1), axis=1)
    even = np.linspace(spots[:, 0], spots[:, -1], detail.even, axis=1)
    return np.sort(np.concatenate([spots, even], axis=1), axis=1)


def _tails(paths: _Paths, grid: Floats) -> tuple[Floats, Floats]:
    """The probabilities below and above the places of the grid, per matrix, averaged over paths."""
    from scipy.special import ndtr

    z = _path_normals(paths.lines, paths.normal, grid)
    small = ndtr(-np.abs(z))
    large = 1 - small
    low = z < 0
    weights = paths.weights[:, None, :]
    lower, upper = weights @ np.where(low, small, large), weights @ np.where(low, large, small)
    return lower[:, 0], upper[:, 0]


def _path_normals(lines: Floats, normal: Floats, grid: Floats) -> Floats:
    """The normal score of each path at each place of the grid, by cubic interpolation of the four nearest nodes.

    Lines have the shape (matrices, paths, nodes), the result (matrices, paths, places).
    """
    matrices, paths, k = lines.shape
    # Places of different paths lie in ranges of their own, so that one search finds all.
    apart = 8 * _LINE * np.arange(matrices * paths).reshape(matrices, paths, 1)
    at = np.searchsorted((lines + apart).ravel(), (grid[:, None, :] + apart).ravel()).reshape(matrices, paths, -1)
    starts = k * np.arange(matrices * paths).reshape(matrices, paths, 1)
    at = np.clip(at - starts, 0, k)
    first = np.clip(at - 2, 0, k - 4)
    offset = first + starts
    y, z = lines, np.broadcast_to(normal[:, None, :], lines.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Newton's form: divided differences of the normal score over the places of the nodes.
        one, two, three = (each.ravel() for each in _divided(y, z))
        places, value = y.ravel(), three[offset]
        for i, difference in ((2, two), (1, one)):
            value = difference[offset] + (grid[:, None, :] - places[offset + i]) * value
        own = first + k * np.arange(matrices)[:, None, None]
        flat = normal.ravel()
        value = flat[own] + (grid[:, None, :] - places[offset]) * value
    rows = k * np.arange(matrices)[:, None, None]
    bounds = flat[np.maximum(at - 1, 0) + rows], flat[np.minimum(at, k - 1) + rows]
    # Between two nodes the normal score lies between theirs; where nodes coincide, it is halfway.
    value = np.where(np.isfinite(value), np.clip(value, *bounds), (bounds[0] + bounds[1]) / 2)
    for outside, end, inner in ((at == 0, 0, 3), (at == k, k - 1, k - 4)):
        if outside.any():
            width = np.maximum(np.abs(lines[:, :, end] - lines[:, :, inner]), 1e-12)
            slope = np.abs(normal[:, end] - normal[:, inner])[:, None] / width
            beyond = normal[:, end, None, None] + slope[:, :, None] * (grid[:, None, :] - lines[:, :, [end]])
            value = np.where(outside, beyond, value)
    return np.asarray(np.clip(value, -_STEEPEST, _STEEPEST))


def _divided(y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """First, second and third divided differences of z over y along the last axis, padded to its length."""
    differences = []
    for order in (1, 2, 3):
        z = (z[..., 1:] - z[..., :-1]) / (y[..., order:] - y[..., :-order])
        differences.append(np.pad(z, ((0, 0), (0, 0), (0, order))))
    first, second, third = differences
    return first, second, third


class _Nodes(NamedTuple):
    """Rates that stand for the laws of a split, their weights, and normal scores of cumulative probabilities."""

    rates: Floats
    weights: Floats
    normal: Floats


def _beside(part: _Parts, count: int) -> _Nodes:
    """The nodes of even mixtures of betas: those of the beta with the smallest parameters, weighted anew."""
    from scipy.special import betaincinv, betaln

    if not part.smooth:
        one = np.ones((len(part.at), 1))
        return _Nodes(part.at[:, None], one, 0 * one)
    u, w = quadrature(count)
    a, b = part.betas[:, :, 0, None], part.betas[:, :, 1, None]
    least = a.min(axis=1), b.min(axis=1)
    rates = np.clip(betaincinv(*least, u), _EDGE, 1 - _EDGE)
    if part.betas.shape[1] == 1:
        return _Nodes(rates, np.broadcast_to(w, rates.shape), rates)
    more, others = (a - least[0][:, None]), (b - least[1][:, None])
    density = more * np.log(rates)[:, None] + others * np.log1p(-rates)[:, None]
    density += betaln(*least)[:, None] - betaln(a, b)
    return _Nodes(rates, w * np.exp(density).mean(axis=1), rates)


def _nodes(part: _Parts, count: int) -> _Nodes:
    """The same with the normal scores of the mixture's cumulative probability."""
    from scipy.special import betainc, ndtri

    nodes = _beside(part, count)
    if not part.smooth:
        return nodes
    a, b = part.betas[:, :, 0, None], part.betas[:, :, 1, None]
    # Each tail is computed where it is the smaller one.
    low = np.broadcast_to((quadrature(count)[0] < 0.5)[None, None], (*a.shape[:2], count))
    rates = nodes.rates[:, None]
    tail = betainc(np.where(low, a, b), np.where(low, b, a), np.where(low, rates, 1 - rates)).mean(axis=1)
    normal = ndtri(np.clip(tail, 1e-300, 1 - 1e-16))
    return nodes._replace(normal=np.where(low[:, 0], normal, -normal))


@lru_cache(maxsize=16)
def quadrature(nodes: int) -> tuple[Floats, Floats]:
    """Quadrature nodes and weights for the mean over (0, 1); nodes are denser near the ends."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    t, w = (t + 1) / 2, w / 2
    # u = 10t³ - 15t⁴ + 6t⁵ has a zero of third order at either end, where beta quantiles bend.
    return np.minimum(t**3 * (10 - 15 * t + 6 * t * t), 1.0), w * 30 * t**2 * (1 - t) ** 2


def to_line(m: OneGroup, scores: Any) -> Floats:
    """Places on the real line: the log odds within the range, or the logarithm of an unbounded score."""
    with np.errstate(divide="ignore"):
        if m.unbounded:
            place = np.log(np.maximum(scores, 0.0))
        else:
            share = np.clip((np.asarray(scores) - m.low) / (m.high - m.low), 0.0, 1.0)
            place = np.log(share) - np.log1p(-share)
    limit = 2 * _LINE if m.unbounded else _LINE
    return np.asarray(np.clip(place, -limit, limit))


def from_line(m: OneGroup, place: Floats) -> Floats:
    """The scores at places on the real line."""
    from scipy.special import expit

    if m.unbounded:
        inside = np.exp(np.minimum(place, _LARGEST_LOG))
        return np.where(np.abs(place) < 2 * _LINE, inside, np.where(place < 0, 0.0, np.inf))
    within = m.low + (m.high - m.low) * expit(place)
    return np.where(np.abs(place) < _LINE, within, np.where(place < 0, m.low, m.high))
