"""Whether the rates of several groups vary at all, and by how much.

Group g has x of n successes; p is the pooled rate. The statistic

    Q = sum over groups of (x - n p)**2 / (n p (1 - p))

is about chi-square with G - 1 degrees of freedom if all rates are equal. Given the pooled successes,
the counts are then multivariate hypergeometric whatever that rate is, so that permutations give an
exact p-value.

The spread is the case-weighted standard deviation of the true rates of these groups. That of the
observed rates, S, is inverted: counts are binomial with the rates

    p + c (r - mean of r),   r = (x + 1/2) / (n + 1),   clipped to [0, 1],

for growing c. S**2 is a quadratic form of such counts, whose mean and variance are known, and about
gamma distributed. The ends of the interval are the spreads of those rates with which S is as large,
or as small, as observed with the probability of a tail. The interval is approximate; see
docs/reference/evidence.md. (Q does not serve: it also depends on p, and intervals by it cover 85%
for rates of .01, .01 and .1.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..randomness import drawn_pvalue, reaches

# Chi-square's p-value is used if each group expects so many successes and failures.
_FEWEST_EXPECTED = 50
# NumPy permutes fewer cases; of more, binomial counts are as good.
_MAX_PERMUTED = 10**9
_SPREADS = 64


def equal_rates_pvalue(
    x: Integers, n: Integers, rng: np.random.Generator, draws: int = 9_999
) -> float:
    """The p-value of equal rates of groups with x of n > 0 successes.

    Of 3 groups of 2 cases, one has 2 successes and the others none. There are 15 ways to choose 2 of
    6 cases, and 3 of them are as extreme: p is about 3 / 15.

    >>> x, n = np.array([2, 0, 0]), np.array([2, 2, 2])
    >>> round(equal_rates_pvalue(x, n, np.random.default_rng(0)), 2)
    0.2
    """
    from scipy.special import chdtrc

    observed, total = float(_statistics(x, n)), n.sum()
    # Q is the same for failures, and drawing the rarer outcome is faster.
    rarer = min(x.sum(), total - x.sum())
    if n.min() * (rarer / total) >= _FEWEST_EXPECTED:
        return float(chdtrc(len(n) - 1, observed))
    if total < _MAX_PERMUTED:
        drawn = rng.multivariate_hypergeometric(n, rarer, draws)
    else:
        drawn = rng.binomial(n, rarer / total, (draws, len(n)))
    extreme = np.count_nonzero(reaches(_statistics(drawn, n), observed))
    return drawn_pvalue(int(extreme), draws)


def spread_interval(x: Integers, n: Integers, confidence_level: float) -> tuple[float, float]:
    """The interval of the spread of true rates; nan if no case is a success, or all are.

    >>> low, high = spread_interval(np.array([5, 12, 18]), np.array([20, 20, 20]), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.138, 0.33)
    """
    from scipy.special import gammainc, gammaincinv, ndtr, ndtri

    if not 0 < x.sum() < n.sum():
        return np.nan, np.nan
    tail, weights, rates = ndtri((1 - confidence_level) / 2), n / n.sum(), _list_rates(x, n)
    mean, variance = _square_moments(rates, n)
    shape = mean**2 / np.maximum(variance, 1e-300)
    scale = np.maximum(mean, 1e-300) / shape
    # If S is too small even for equal rates, the upper end is still above 0.
    smallest = gammaincinv(shape[0], ndtr(tail + 0.5)) * scale[0]
    observed = max(_weighted_spread(x / n, weights) ** 2, smallest)
    below = gammainc(shape, observed / scale)
    # S rises with the spread; what contradicts this is approximation error.
    rising = -np.minimum.accumulate(ndtri(np.clip(below, 1e-300, 1 - 1e-16)))
    low, high = np.interp((tail, -tail), rising, _weighted_spread(rates, weights)).tolist()
    return low, high


def _statistics(x: Integers, n: Integers) -> Floats:
    """Q of counts of shape (..., groups); 0 if all cases are successes, or none is."""
    rate = x.sum(axis=-1, keepdims=True) / n.sum()
    squares = np.square(x - n * rate) @ (1 / n)
    variance = (rate * (1 - rate))[..., 0]
    return np.asarray(squares / np.where(variance > 0, variance, 1.0))


def _weighted_spread(rates: Any, weights: Floats) -> Any:
    """The weighted standard deviations of rates of shape (..., groups)."""
    mean = rates @ weights
    return np.sqrt((rates - mean[..., None]) ** 2 @ weights)


def _square_moments(rates: Floats, n: Integers) -> tuple[Floats, Floats]:
    """The mean and the variance of S**2 for binomial counts with rates of shape (..., groups).

    S**2 is r' A r for the observed rates r and A = diag(w) - w w', w being shares of cases.
    """
    weights = n / n.sum()
    diagonal = weights - weights**2
    second = rates * (1 - rates) / n
    third = second * (1 - 2 * rates) / n
    fourth = second * (1 - 6 * rates * (1 - rates)) / n**2
    slope = weights * (rates - (rates @ weights)[..., None])
    mean = (slope * rates).sum(axis=-1) + second @ diagonal
    variance = 2 * (second**2 @ (diagonal**2 - weights**4) + (second @ weights**2) ** 2)
    variance += 4 * (slope**2 * second + slope * diagonal * third).sum(axis=-1)
    return mean, variance + fourth @ diagonal**2


def _list_rates(x: Integers, n: Integers) -> Floats:
    """Rates p + c (r - mean of r) of growing spread, of shape (spreads, groups).

    Q is about noncentral chi-square. Its lower tail at the observed Q is negligible if the square
    root of the noncentrality is sqrt(Q) + 5.
    """
    pooled, shrunk = x.sum() / n.sum(), (x + 0.5) / (n + 1)
    shape = shrunk - np.average(shrunk, weights=n)
    if np.ptp(shape) < 1e-9:
        # All rates are equal, so that any direction is as good as another.
        shape = np.linspace(-1, 1, len(n))
    unit = np.sqrt(pooled * (1 - pooled) / n.sum()) / _weighted_spread(shape, n / n.sum())
    c = np.linspace(0, unit * (np.sqrt(_statistics(x, n)) + 5), _SPREADS)[:, None]
    return np.asarray(np.clip(pooled + c * shape, 0, 1))
