"""One split of ``m`` cases into two parts, under each law of the cells.

A split says how many of ``m`` cases fall into the first part. Sizes and values are arrays that broadcast. Point
probabilities come from one formula, a binomial term with real arguments in the saddle-point form of Loader (2000),
accurate to about 1e-13 relative even in the far tails; a ratio of such terms is a hypergeometric probability, and
of negative binomial ones a beta-binomial probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BetaBinomial", "Binomial", "Hypergeometric", "Split"]

Floats = NDArray[np.float64]


class Split(ABC):
    """How many of ``m`` cases fall into the first of two parts."""

    __slots__ = ()

    @abstractmethod
    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """Log P(K = k); -inf outside the support."""

    def pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """P(K = k)."""
        return np.exp(self.log_pmf(k, m))


@dataclass(frozen=True, slots=True)
class Binomial(Split):
    """Each case falls into the first part with probability ``p``, into the second with ``q`` = 1 - p."""

    p: float
    q: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """Log C(m, k) p^k q^(m-k)."""
        k, m = _floats(k, m)
        return _inside(_log_binomial_term(k, m, self.p, self.q), k, m)


@dataclass(frozen=True, slots=True)
class BetaBinomial(Split):
    """A binomial split whose probability is itself drawn from Beta(a, b)."""

    a: float
    b: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """Log C(m, k) B(k+a, m-k+b) / B(a, b)."""
        k, m = _floats(k, m)
        total = self.a + self.b
        p, q = total / (total + m), m / (total + m)
        value = (
            _log_negative_binomial_term(k, self.a, p, q)
            + _log_negative_binomial_term(m - k, self.b, p, q)
            - _log_negative_binomial_term(m, total, p, q)
        )
        return _inside(value, k, m)


@dataclass(frozen=True, slots=True)
class Hypergeometric(Split):
    """``m`` cases drawn without replacement from ``first`` of one kind and ``second`` of the other."""

    first: float
    second: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """Log C(first, k) C(second, m-k) / C(first+second, m)."""
        k, m = _floats(k, m)
        total = self.first + self.second
        p, q = (m / total, (total - m) / total) if total else (0.0 * m, 1.0 + 0.0 * m)
        value = (
            _log_binomial_term(k, self.first, p, q)
            + _log_binomial_term(m - k, self.second, p, q)
            - _log_binomial_term(m, total, p, q)
        )
        return _inside(value, k, m, np.maximum(0, m - self.second), np.minimum(m, self.first))


def _floats(k: ArrayLike, m: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(k, dtype=np.float64), np.asarray(m, dtype=np.float64)


def _inside(value: Floats, k: Floats, m: Floats, low: Any = 0.0, high: Any = None) -> Floats:
    return np.where((k >= low) & (k <= (m if high is None else high)), value, -np.inf)


def _log_negative_binomial_term(k: Floats, a: float, p: Floats, q: Floats) -> Floats:
    """Log Γ(k+a) / (Γ(a) k!) p^a q^k."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.log(a / (a + k)) if a > 0 else np.where(k == 0, 0.0, -np.inf)
    return weight + _log_binomial_term(np.asarray(a), a + k, p, q)


def _log_binomial_term(x: ArrayLike, n: ArrayLike, p: ArrayLike, q: ArrayLike) -> Floats:
    """Log Γ(n+1)/(Γ(x+1)Γ(n-x+1)) p^x q^(n-x) for real 0 <= x <= n, without loss for large n."""
    x, n, p, q = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (x, n, p, q)))
    y = n - x
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            _stirling_error(n) - _stirling_error(x) - _stirling_error(y) - _deviance(x, n * p) - _deviance(y, n * q)
        ) - 0.5 * np.log(2 * np.pi * x * (y / n))
        none = np.where(n == 0, 0.0, n * _log(q, p))
        every = n * _log(p, q)
    return np.where(x == 0, none, np.where(y == 0, every, inner))


def _log(p: Floats, q: Floats) -> Floats:
    """Log p, taken from q = 1 - p where that is the more accurate."""
    return np.where(q < 0.5, np.log1p(-np.minimum(q, 0.5)), np.log(p))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """X log(x/mean) + mean - x, which is near 0 when x is near its mean."""
    d = (x - mean) / mean
    return np.where(mean == 0, np.inf, mean * ((1 + d) * np.log1p(d) - d))


def _stirling_error(x: Floats) -> Floats:
    """Log Γ(x+1) minus Stirling's formula."""
    from scipy.special import gammaln

    large = np.maximum(x, 16.0)
    t = 1 / (large * large)
    series = (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t / 1188)))) / large
    small: Any = np.clip(x, 1e-300, 16.0)
    direct = gammaln(small + 1) - ((small + 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi))
    return np.where(x >= 16, series, direct)
