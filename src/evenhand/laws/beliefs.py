"""What is believed of true scores given counts, for many matrices at once: posteriors, and confidence distributions.

Each split of a tree has a law of its rate. With a prior it is a beta posterior. Without one it is a confidence
distribution of a binomial rate: Beta(x, n - x + 1) where the rate counts low, Beta(x + 1, n - x) where it counts high,
or an even mixture of the two, which gives mid-p intervals. With x = 0 or x = n one of them is an atom at 0 or at 1.

A score that depends on one split has a law in closed form. The distribution of any other score is a table
(`score_tables`), and every later question is a look-up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS
from ..metrics import Curve, OneGroup, Tree
from .interpolation import Curves
from .roots import Bracket, narrowed, normal_score
from .score_tables import Law, Laws, Part, from_line, quadrature, slopes_of, tabulated, to_line

__all__ = ["ROW_TREE", "Atoms", "Belief", "End", "betas_of", "confidence_of", "posterior_of", "quadrature"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

End = Literal["low", "mid", "high"]
"""Whether the score counts low, for lower ends of intervals, high, for upper ones, or both evenly."""


ROW_TREE = Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

# Ends of intervals are found to this share of their size, on a scale on which the largest finite one is this far out.
_SAME, _FAR = 1e-14, 1e200


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
        values, column = self.atoms.values[rows], scores[:, None]
        within = values >= column if above else values <= column
        smooth = (self.sf if above else self.cdf)(column, rows)[:, 0]
        return np.asarray(smooth + (self.atoms.masses[rows] * within).sum(axis=1) + self.undefined[rows])

    def end(self, tail: float, above: bool, tolerance: float = _SAME) -> Floats:
        """The scores beyond which lies this probability; infinite where more than that is undefined."""
        from scipy.special import ndtri

        def excess(places: Floats, rows: Rows) -> Floats:
            return normal_score(self.tail(np.sinh(places), above, rows)) - ndtri(tail)

        atoms = np.where(self.atoms.masses > 0, self.atoms.values, np.nan)
        places = np.column_stack([*self.reach(1 - tail if above else tail), atoms])
        outer, inner = (np.nanmax, np.nanmin) if above else (np.nanmin, np.nanmax)
        out, found = outer(places, axis=1), inner(places, axis=1)
        reached = self.tail(out, above) >= tail
        found[reached] = out[reached]
        rows = np.flatnonzero(out != found)
        if len(rows):
            ends = [np.arcsinh(np.minimum(np.maximum(each[rows], -_FAR), _FAR)) for each in (found, out)]
            bracket = Bracket(*ends, *(excess(end, rows) for end in ends))
            narrow = narrowed(lambda at, some: excess(at, rows[some]), bracket, tolerance)
            found[rows] = np.where(narrow.inside == bracket.inside, found[rows], np.sinh(narrow.inside))
        found[self.undefined >= tail] = np.inf if above else -np.inf
        return np.asarray(found)


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
    slopes = slopes_of(m, m.tree)
    return _Tabulated.of(m, m.tree, [_laws(row, slopes, end) for row in counts])


def _added(end: End, slope: int) -> tuple[Floats, ...]:
    """What is added to successes and failures of a split with whose rate the score rises or falls."""
    low, high = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    if end == "mid" or not slope:
        return low, high
    return (low if (end == "low") == (slope > 0) else high,)


def _laws(counts: Floats, slopes: tuple[int, int, int], end: End) -> Laws:
    splits = zip(counts, slopes, strict=True)
    return _three(_law([split + more for more in _added(end, slope)]) for split, slope in splits)


def _law(betas: Sequence[Floats]) -> Law:
    """An even mixture of betas, of which those with a parameter of 0 are atoms."""
    smooth = tuple((float(a), float(b)) for a, b in betas if min(a, b) > 0)
    atoms = [Part(1 / len(betas), (), 0.0 if a <= 0 else 1.0) for a, b in betas if min(a, b) <= 0]
    return (*([Part(len(smooth) / len(betas), smooth)] if smooth else []), *atoms)


def _three(laws: Iterable[Law]) -> Laws:
    margin, side, last = laws
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

    def end(self, tail: float, above: bool, tolerance: float = _SAME) -> Floats:
        return np.asarray(self.curve.score(self.rates.end(tail, above, tolerance)))

    def _rate(self, scores: Floats) -> Floats:
        return np.asarray(self.curve.rate(np.minimum(np.maximum(scores, 0.0), self.metric.high)))


@dataclass(frozen=True, slots=True)
class _Tabulated(Belief):
    """A score that depends on several splits, looked up in a table per matrix."""

    metric: OneGroup
    normal_at: Curves
    place_of: Curves
    masses: Floats

    @classmethod
    def of(cls, m: OneGroup, tree: Tree, laws: Sequence[Laws]) -> _Tabulated:
        """The tables of matrices with these laws of their splits."""
        mixed = tabulated(m, tree, laws)
        most = max((len(one.atoms) for one in mixed), default=0)
        padded = np.array([[*one.atoms, *[(0.0, 0.0)] * (most - len(one.atoms))] for one in mixed])
        atoms = Atoms(*np.moveaxis(padded.reshape(len(mixed), most, 2), 2, 0))
        undefined, masses = (np.array([getattr(one, name) for one in mixed]) for name in ("undefined", "mass"))
        places, normals = [one.places for one in mixed], [one.normal for one in mixed]
        return cls(atoms, undefined, m, Curves(places, normals), Curves(normals, places), masses)

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

        z = np.broadcast_to(ndtri(u), (len(self.masses[rows]), len(u)))
        return from_line(self.metric, self.place_of(z, rows))

    def _normal(self, scores: Floats, rows: Any) -> Floats:
        return self.normal_at(to_line(self.metric, scores), rows)
