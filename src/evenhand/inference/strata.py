"""Exact Mantel-Haenszel tests: the odds ratio of a group and its reference, pooled over strata.

If the odds ratio is 1 in every stratum then, given the margins of a stratum, the group's number of
successes is hypergeometric. Strata are independent, so that the distribution of the sum of these
numbers is the convolution of theirs. Under a common odds ratio ψ, a sum of s has that probability
times ψ**s, up to a factor. Two-sided p-values are twice the smaller tail of the observed sum; the
limits of the interval are the odds ratios at which a tail is (1 - confidence_level) / 2.

The cost is that of a convolution. If that is too long, as with millions of cases, p-values are
those of the normal approximation of Mantel and Haenszel (1959), and intervals those of Robins,
Breslow and Greenland (1986).

Strata are an array with one row each: successes and cases of the group, then of the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Floats
from .fisher import TwoRates, attainable_counts, likely_counts, noncentral_modes

# The longest distribution, and the most products of a convolution.
_MAX_COUNTS, _MAX_PRODUCTS = 2e6, 5e8
# Counts this many standard deviations from the mode have a probability below 1e-50.
_DEVIATIONS = 16
# Logarithms of odds ratios are between plus and minus this.
_MAX_LOG_ODDS = 300.0


class PooledOddsRatio(NamedTuple):
    """The odds ratio of a group and its reference within strata, and without strata.

    Attributes
    ----------
    odds_ratio : float
        Mantel and Haenszel's estimate of a common odds ratio; nan if undefined.
    low, high : float
        The confidence interval of a common odds ratio.
    pvalue : float
        The two-sided p-value of an odds ratio of 1 in every stratum; nan if no stratum is
        informative.
    method : str
        How interval and p-value were computed; "none" if no stratum is informative.
    excess : float
        The group's successes minus their expected number: above 0 if its rate is higher.
    crude_odds_ratio, crude_pvalue : float
        The same without strata.
    """

    odds_ratio: float
    low: float
    high: float
    pvalue: float
    method: str
    excess: float
    crude_odds_ratio: float
    crude_pvalue: float


def pooled_odds_ratio(strata: Floats, confidence_level: float) -> PooledOddsRatio:
    """Pool the odds ratio of a group and its reference over strata, and test whether it is 1.

    One of 2 cases of the group and none of 2 of the reference, in each of two strata: with
    probability 1/4 the group has both successes.

    >>> round(pooled_odds_ratio(np.array([[1.0, 2.0, 0.0, 2.0]] * 2), 0.95).pvalue, 12)
    0.5
    """
    crude = strata.sum(axis=0, keepdims=True)
    test = _test_odds_ratio(strata, (1 - confidence_level) / 2)
    # With tails of 0 the interval, which is not needed, costs nothing.
    crude_pvalue = _test_odds_ratio(crude, 0.0)[2]
    estimate, crude_estimate = _mantel_haenszel(strata), _mantel_haenszel(crude)
    return PooledOddsRatio(estimate, *test, _excess(strata), crude_estimate, crude_pvalue)


def is_informative(strata: Floats) -> Bools:
    """Whether both have cases in a stratum, and not all of them the same outcome."""
    pairs = TwoRates(*strata.T)
    needed = [pairs.n1, pairs.n2, pairs.successes, pairs.failures]
    return np.asarray(np.all(needed, axis=0))


def _mantel_haenszel(strata: Floats) -> float:
    """Mantel and Haenszel's estimate; inf or nan if the denominator is 0."""
    x1, n1, x2, n2 = strata.T
    total = np.maximum(n1 + n2, 1.0)
    above = float((x1 * (n2 - x2) / total).sum())
    below = float((x2 * (n1 - x1) / total).sum())
    return above / below if below else inf if above else nan


def _excess(strata: Floats) -> float:
    """The group's successes minus their expected number."""
    x1, n1, x2, n2 = strata.T
    return float((x1 - n1 * (x1 + x2) / np.maximum(n1 + n2, 1.0)).sum())


def _test_odds_ratio(strata: Floats, tail: float) -> tuple[float, float, float, str]:
    """The ends of the interval with these tails, the p-value, and the method.

    Exact, or normal if that takes too long. Distributions are tilted to an odds ratio under which
    the observed total is about the expected one. Then probabilities near it do not underflow,
    however improbable they are, and only counts near the modes matter. Neither tail of the observed
    total needs the counts that are left out.
    """
    strata = strata[is_informative(strata)]
    if not len(strata):
        return 0.0, inf, nan, "none"
    pairs, observed = TwoRates(*strata.T), float(strata[:, 0].sum())
    tilt = _root(lambda t: float((noncentral_modes(t, pairs) - 0.5).sum()) - observed)
    _, first, last = likely_counts(tilt, pairs, _DEVIATIONS)
    lengths = last - first + 1
    if lengths.max() > _MAX_COUNTS or lengths @ np.cumsum(lengths) > _MAX_PRODUCTS:
        return (*_normal_test(strata, tail), "Mantel-Haenszel, normal approximation")
    pmf, scale = np.ones(1), 0.0
    for i, (low, length) in enumerate(zip(first, lengths, strict=True)):
        steps = np.arange(length)
        tilted = pairs.take(i).log_probability(low + steps) + tilt * steps
        pmf = np.convolve(pmf, np.exp(tilted - tilted.max()))
        scale += tilted.max()
    counts, place = np.arange(len(pmf)), int(observed - first.sum())
    with np.errstate(divide="ignore"):
        log_pmf = np.log(pmf) - tilt * counts + scale
    pmf, lower, upper = np.exp(log_pmf), slice(place + 1), slice(place, None)
    pvalue = min(1.0, 2 * float(min(pmf[lower].sum(), pmf[upper].sum())))

    def excess(log_odds: float, part: slice) -> float:
        """The probability of a part of the totals under a common odds ratio, minus the tail."""
        tilted = log_pmf + log_odds * counts
        weights = np.exp(tilted - tilted.max())
        return float(weights[part].sum() / weights.sum()) - tail

    least, most = (ends.sum() for ends in attainable_counts(pairs))
    low = exp(_root(partial(excess, part=upper))) if tail and observed > least else 0.0
    high = exp(_root(partial(excess, part=lower))) if tail and observed < most else inf
    return low, high, pvalue, "exact, conditional on the margins of each stratum"


def _normal_test(strata: Floats, tail: float) -> tuple[float, float, float]:
    """The interval of Robins, Breslow and Greenland, and the p-value of Mantel and Haenszel."""
    from scipy.special import ndtr, ndtri

    x1, n1, x2, n2 = strata.T
    total, successes, failures = n1 + n2, x1 + x2, n1 + n2 - x1 - x2
    variance = (n1 / total) @ (n2 / total * successes * failures / (total - 1))
    pvalue = 2 * float(ndtr(-abs(_excess(strata)) / sqrt(variance)))
    if _mantel_haenszel(strata) in (0, inf):
        # Its logarithm is infinite: half a case is added to each cell.
        x1, n1, x2, n2 = (strata + np.array([0.5, 1.0, 0.5, 1.0])).T
    a, b, c, d = x1, n1 - x1, x2, n2 - x2
    p, q, r, s = (x / (n1 + n2) for x in (a + d, b + c, a * d, b * c))
    above, below = r.sum(), s.sum()
    variance = p @ r / above**2 + q @ s / below**2
    variance += (p @ s + q @ r) / (above * below)
    odds_ratio, reach = float(above / below), -float(ndtri(tail)) * sqrt(variance / 2)
    return odds_ratio * exp(-reach), odds_ratio * exp(reach), pvalue


def _root(function: Callable[[float], float]) -> float:
    """The root of a monotone function of a log odds ratio."""
    from scipy.optimize import brentq

    return float(brentq(function, -_MAX_LOG_ODDS, _MAX_LOG_ODDS, xtol=1e-12))
