"""Probabilities by enumeration, which figures and claims are computed with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

import evenhand as eh

Floats = NDArray[np.float64]


def cumulative(distribution: eh.results.Distribution, scores: Floats) -> Floats:
    """P(S ≤ s) for every score, summed over the support: faster than ``cdf`` for many scores."""
    reached: Floats = np.r_[0.0, np.cumsum(distribution.probabilities)]
    return reached[np.searchsorted(distribution.support, scores + 1e-12, side="right")]


def multinomial_probabilities(n: int, rates: ArrayLike) -> Floats:
    """The probability of every matrix of n cases, in the order of ``enumerate_matrices``."""
    matrices = eh.enumerate_matrices(n)
    log_ways = gammaln(n + 1) - gammaln(matrices + 1).sum(axis=1)
    probabilities: Floats = np.exp(log_ways + matrices @ np.log(rates))
    return probabilities
