"""One split of ``m`` cases into two parts, under each law of the cells.

A split says how many of ``m`` cases fall into the first part. Sizes and values are arrays that broadcast. All point
probabilities come from one formula: a binomial term with real arguments in the saddle-point form of Loader (2000),
with a relative accuracy of about 1e-13 even in the far tails. A ratio of such terms is a hypergeometric probability, a
ratio of negative binomial terms a beta-binomial probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BetaBinomial", "Binomial", "Hypergeometric", "Split", "log_hypergeometric"]

Floats = NDArray[np.float64]

# A probability of so few factors is computed from them.
_FEW = 2**10


class Split(ABC):
    """How many of ``m`` cases fall into the first of two parts."""

    __slots__ = ()

    @abstractmethod
    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log P(K = k); -inf outside the support."""

    @abstractmethod
    def support(self, m: Floats) -> tuple[Floats, Floats]:
        """The smallest and the largest value with positive probability."""

    @abstractmethod
    def step(self, k: Floats, m: Floats) -> Floats:
        """P(K = k + 1) / P(K = k), for neighbours inside the support."""

    @abstractmethod
    def next(self, k: Floats, m: Floats) -> Floats:
        """The probability that one more case falls into the first part, after ``k`` of ``m`` did."""

    @abstractmethod
    def peak(self, m: Floats) -> Floats:
        """The value from which probabilities fall off on both sides; nan if there is none."""

    @abstractmethod
    def sample(self, m: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """One random value per size."""

    def pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """P(K = k)."""
        return np.exp(self.log_pmf(k, m))

    def none(self, m: float) -> float:
        """P(K = 0), for one size."""
        return float(self.pmf(0, m))

    def window(self, m: Floats, eps: float | Floats) -> tuple[Floats, Floats]:
        """The range of K, except for a probability of at most ``eps`` on either side."""
        low, high = self.support(m)
        peak = self.peak(m)
        if np.isnan(peak).any():
            return low, high
        cut = np.log(eps) - np.log(m + 1)
        return _reach(self, peak, low, m, cut), _reach(self, peak, high, m, cut)


@dataclass(frozen=True, slots=True)
class Binomial(Split):
    """Each case falls into the first part with probability ``p``, into the second with ``q`` = 1 - p."""

    p: float
    q: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log C(m, k) p^k q^(m-k)."""
        k, m = _floats(k, m)
        return _inside(_log_binomial_term(k, m, self.p, self.q), k, m)

    def support(self, m: Floats) -> tuple[Floats, Floats]:
        """0 to m, unless one part is impossible."""
        return (m if self.q == 0 else 0 * m), (0 * m if self.p == 0 else m)

    def step(self, k: Floats, m: Floats) -> Floats:
        """(m-k)/(k+1) p/q."""
        return (m - k) * self.p / ((k + 1) * self.q) if self.q else 0 * m * k

    def next(self, k: Floats, m: Floats) -> Floats:
        """p."""
        return np.full_like(m, self.p)

    def peak(self, m: Floats) -> Floats:
        """The mode."""
        return np.minimum(np.floor((m + 1) * self.p), m)

    def sample(self, m: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Binomial variates."""
        return rng.binomial(m, min(self.p, 1.0))

    def window(self, m: Floats, eps: float | Floats) -> tuple[Floats, Floats]:
        """By Bernstein's inequality, at no cost."""
        low, high = self.support(m)
        reach = _bernstein(m * self.p * self.q, eps)
        return np.maximum(low, np.floor(m * self.p - reach)), np.minimum(high, np.ceil(m * self.p + reach))


@dataclass(frozen=True, slots=True)
class BetaBinomial(Split):
    """A binomial split with a random probability, Beta(a, b)."""

    a: float
    b: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log C(m, k) B(k+a, m-k+b) / B(a, b)."""
        k, m = _floats(k, m)
        if self.a == self.b == 1:
            return _inside(-np.log1p(m), k, m)
        total = self.a + self.b
        p, q = total / (total + m), m / (total + m)
        value = (
            _log_negative_binomial_term(k, self.a, p, q)
            + _log_negative_binomial_term(m - k, self.b, p, q)
            - _log_negative_binomial_term(m, total, p, q)
        )
        return _inside(value, k, m)

    def none(self, m: float) -> float:
        """A ratio per case, if these are few."""
        b = self.b + np.arange(min(m, _FEW + 1))
        return _product(b / (self.a + b)) if m <= _FEW and self.b > 0 else Split.none(self, m)

    def support(self, m: Floats) -> tuple[Floats, Floats]:
        """0 to m."""
        return 0 * m, m

    def step(self, k: Floats, m: Floats) -> Floats:
        """(m-k)(a+k) / ((k+1)(b+m-k-1))."""
        return (m - k) * (self.a + k) / ((k + 1) * (self.b + m - k - 1))

    def next(self, k: Floats, m: Floats) -> Floats:
        """(a+k) / (a+b+m)."""
        return (self.a + k) / (self.a + self.b + m)

    def peak(self, m: Floats) -> Floats:
        """The mode; none if both parameters are at most 1, where probabilities rise towards both ends."""
        if self.a <= 1 and self.b <= 1:
            return np.full_like(m, np.nan)
        if self.a <= 1 or self.b <= 1:
            return 0 * m if self.a <= 1 else m
        return np.clip(np.ceil((m * (self.a - 1) - self.b + 1) / (self.a + self.b - 2)), 0, m)

    def sample(self, m: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Binomial variates with beta-distributed probabilities."""
        return rng.binomial(m, rng.beta(self.a, self.b, size=m.shape))


@dataclass(frozen=True, slots=True)
class Hypergeometric(Split):
    """``m`` cases sampled without replacement from ``first`` of one kind and ``second`` of the other."""

    first: float
    second: float

    def log_pmf(self, k: ArrayLike, m: ArrayLike) -> Floats:
        """log C(first, k) C(second, m-k) / C(first+second, m)."""
        return log_hypergeometric(*_floats(k, m), *_floats(self.first, self.second))

    def none(self, m: float) -> float:
        """A ratio per case that is drawn or could be, if these are few."""
        fewer, others = sorted((self.first, m))
        left = self.first + self.second - np.arange(min(fewer, _FEW + 1))
        return _product((left - others) / left) if fewer <= _FEW and m <= self.second else Split.none(self, m)

    def support(self, m: Floats) -> tuple[Floats, Floats]:
        """max(0, m-second) to min(m, first)."""
        return np.maximum(0, m - self.second), np.minimum(m, self.first)

    def step(self, k: Floats, m: Floats) -> Floats:
        """(first-k)(m-k) / ((k+1)(second-m+k+1))."""
        return (self.first - k) * (m - k) / ((k + 1) * (self.second - m + k + 1))

    def next(self, k: Floats, m: Floats) -> Floats:
        """(first-k) / (first+second-m); 0 if no case is left."""
        return (self.first - k) / np.maximum(self.first + self.second - m, 1)

    def peak(self, m: Floats) -> Floats:
        """The mode."""
        mode = np.floor((m + 1) * ((self.first + 1) / (self.first + self.second + 2)))
        return np.clip(mode, *self.support(m))

    def sample(self, m: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Hypergeometric variates."""
        return rng.hypergeometric(int(self.first), int(self.second), m)

    def window(self, m: Floats, eps: float | Floats) -> tuple[Floats, Floats]:
        """By Bernstein's inequality, which also holds without replacement (Hoeffding 1963)."""
        low, high = self.support(m)
        total = max(self.first + self.second, 1)
        p, q = self.first / total, self.second / total
        # Sampling m cases leaves total - m; the smaller of the two bounds the variance.
        reach = _bernstein(np.minimum(m, total - m) * p * q, eps)
        return np.maximum(low, np.floor(m * p - reach)), np.minimum(high, np.ceil(m * p + reach))


def log_hypergeometric(k: Floats, m: Floats, first: Floats, second: Floats) -> Floats:
    """log C(first, k) C(second, m-k) / C(first+second, m) for arrays that broadcast; -inf outside the support."""
    total = np.maximum(first + second, 1.0)
    p, q = m / total, (total - m) / total
    value = (
        _log_binomial_term(k, first, p, q)
        + _log_binomial_term(m - k, second, p, q)
        - _log_binomial_term(m, first + second, p, q)
    )
    return _inside(value, k, m, np.maximum(0.0, m - second), np.minimum(m, first))


def _bernstein(variance: Floats, eps: float | Floats) -> Floats:
    """The distance from its mean that a sum of independent 0-1 variables exceeds with probability at most ``eps``."""
    bits = -np.log(eps)
    reach: Floats = bits / 3 + np.sqrt(bits * bits / 9 + 2 * bits * variance)
    return reach


def _reach(split: Split, peak: Floats, end: Floats, m: Floats, cut: Floats) -> Floats:
    """A value beyond which, from the peak towards ``end``, log probabilities are below ``cut``; the nearest, or close.

    They fall off about as a square of the distance, so that one of them says about where the next should be looked at.
    """
    sign, top = np.where(end >= peak, 1.0, -1.0), split.log_pmf(peak, m)
    inside, outside = np.zeros_like(peak), np.abs(end - peak) + 1
    at = np.minimum(np.ceil(np.sqrt(m + 1)), outside - 1)
    turn = 0
    while (open_ := outside - inside > 1 + outside / 32).any():
        level = split.log_pmf(peak + sign * at, m)
        kept = level >= cut
        inside, outside = np.where(open_ & kept, at, inside), np.where(open_ & ~kept, at, outside)
        turn += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            aim = at * np.sqrt((top - cut) / (top - level)) * np.where(kept, 1.01, 0.99)
        middle = (inside + outside) / 2
        aim = np.where((aim > inside) & (aim < outside) & (turn % 3 > 0), aim, middle)
        at = np.clip(np.floor(aim), inside, np.maximum(outside - 1, inside))
        at = np.where((at == inside) & (outside - inside > 1), inside + 1, at)
    reached: Floats = peak + sign * (outside - 1)
    return reached


def _product(ratios: Floats) -> float:
    """A product of many ratios, none of which underflows on the way."""
    return float(np.exp(np.log(ratios).sum()))


def _floats(k: ArrayLike, m: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(k, dtype=np.float64), np.asarray(m, dtype=np.float64)


def _inside(value: Floats, k: Floats, m: Floats, low: Any = 0.0, high: Any = None) -> Floats:
    return np.where((k >= low) & (k <= (m if high is None else high)), value, -np.inf)


def _log_negative_binomial_term(k: Floats, a: float, p: Floats, q: Floats) -> Floats:
    """log Γ(k+a) / (Γ(a) k!) p^a q^k."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.log(a / (a + k)) if a > 0 else np.where(k == 0, 0.0, -np.inf)
    return weight + _log_binomial_term(np.asarray(a), a + k, p, q)


def _log_binomial_term(x: ArrayLike, n: ArrayLike, p: ArrayLike, q: ArrayLike) -> Floats:
    """log Γ(n+1)/(Γ(x+1)Γ(n-x+1)) p^x q^(n-x) for real 0 <= x <= n, without loss for large n."""
    x, n, p, q = (np.asarray(v, dtype=np.float64) for v in (x, n, p, q))
    y = n - x
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Floats = (
            _stirling_error(n) - _stirling_error(x) - _stirling_error(y) - _deviance(x, n * p) - _deviance(y, n * q)
        ) - 0.5 * np.log(2 * np.pi * x * (y / n))
        if not np.all(x):
            value = np.where(x == 0, np.where(n == 0, 0.0, n * _log(q, p)), value)
        if not np.all(y):
            value = np.where((y == 0) & (x != 0), n * _log(p, q), value)
    return value


def _log(p: Floats, q: Floats) -> Floats:
    """log p, computed from q = 1 - p where that is more accurate."""
    return np.where(q < 0.5, np.log1p(-np.minimum(q, 0.5)), np.log(p))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x/mean) + mean - x, without cancellation when x is near its mean."""
    d = (x - mean) / mean
    return np.where(mean == 0, np.inf, mean * ((1 + d) * np.log1p(d) - d))


def _stirling_error(x: Floats) -> Floats:
    """log Γ(x+1) minus Stirling's formula."""
    from scipy.special import gammaln

    if np.min(x, initial=np.inf) >= 16:
        return _stirling_series(x)
    error = np.asarray(_stirling_series(np.maximum(x, 16.0)))
    few = x < 16
    small = np.maximum(x[few], 1e-300)
    error[few] = gammaln(small + 1) - ((small + 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi))
    return error


def _stirling_series(x: Floats) -> Floats:
    t = 1 / (x * x)
    series: Floats = (1 / 12 - t * (1 / 360 - t * (1 / 1260 - t * (1 / 1680 - t / 1188)))) / x
    return series
