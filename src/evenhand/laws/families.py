"""The laws of the four cells, each a tree of independent splits.

Under each of these laws the splits of any tree are independent. A law therefore only says how a set of cells splits off
from a larger one; the probability of a matrix, and that of empty cells, follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import CELLS
from .splits import BetaBinomial, Binomial, Hypergeometric, Split

__all__ = ["DirichletMultinomial", "Law", "Multinomial", "MultivariateHypergeometric"]

FourNumbers = tuple[float, float, float, float]


class Law(ABC):
    """A probability law of the cells of a group of ``n`` cases."""

    __slots__ = ()
    n: int

    @abstractmethod
    def split(self, part: Iterable[str], of: Iterable[str] = CELLS) -> Split:
        """How the cells ``part`` split off from the cells ``of``."""

    @property
    @abstractmethod
    def rates(self) -> NDArray[np.float64]:
        """The expected share of each cell."""

    def p_empty(self, cells: Iterable[str]) -> float:
        """The probability that all these cells are zero."""
        return self.split(cells).none(self.n)

    def pmf(self, cells: ArrayLike) -> NDArray[np.float64]:
        """The probability of each matrix, for cells along the last axis."""
        return np.exp(self.log_pmf(cells))

    def log_pmf(self, cells: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of `pmf`."""
        tp, fn, fp, tn = np.moveaxis(np.asarray(cells, dtype=np.float64), -1, 0)
        log = (
            self.split(("tp", "fn")).log_pmf(tp + fn, self.n)
            + self.split(("tp",), ("tp", "fn")).log_pmf(tp, tp + fn)
            + self.split(("fp",), ("fp", "tn")).log_pmf(fp, fp + tn)
        )
        return np.where(tp + fn + fp + tn == self.n, log, -np.inf)


@dataclass(frozen=True, slots=True)
class Multinomial(Law):
    """Cases fall into the cells independently, with known probabilities."""

    n: int
    p: FourNumbers

    @property
    def rates(self) -> NDArray[np.float64]:
        """The probabilities."""
        return np.asarray(self.p)

    def split(self, part: Iterable[str], of: Iterable[str] = CELLS) -> Split:
        """A binomial split."""
        inside, outside = _weigh(self.p, part, of)
        total = inside + outside
        # Cells with probability 0 are never split, so any probability will do.
        return Binomial(inside / total, outside / total) if total else Binomial(0.5, 0.5)


@dataclass(frozen=True, slots=True)
class DirichletMultinomial(Law):
    """A multinomial with Dirichlet(alpha) probabilities; if alpha is 1, all configurations are equally likely."""

    n: int
    alpha: FourNumbers

    @property
    def rates(self) -> NDArray[np.float64]:
        """The prior's mean."""
        return np.asarray(self.alpha) / sum(self.alpha)

    def split(self, part: Iterable[str], of: Iterable[str] = CELLS) -> Split:
        """A beta-binomial split."""
        return BetaBinomial(*_weigh(self.alpha, part, of))


@dataclass(frozen=True, slots=True)
class MultivariateHypergeometric(Law):
    """``n`` cases sampled without replacement from a population with these counts."""

    n: int
    totals: FourNumbers

    @property
    def rates(self) -> NDArray[np.float64]:
        """The population's proportions."""
        return np.asarray(self.totals) / max(sum(self.totals), 1)

    def split(self, part: Iterable[str], of: Iterable[str] = CELLS) -> Split:
        """A hypergeometric split."""
        return Hypergeometric(*_weigh(self.totals, part, of))


def _weigh(weights: FourNumbers, part: Iterable[str], of: Iterable[str]) -> tuple[float, float]:
    """The weights of ``part`` and of the rest of ``of``, each summed separately so that neither is a rounded 1 - p."""
    chosen = frozenset(part)
    named = dict(zip(CELLS, weights, strict=True))
    return sum(named[c] for c in of if c in chosen), sum(named[c] for c in of if c not in chosen)
