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
from math import exp, inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Floats
from ..distributions import log_hypergeometric

# The longest distribution, and the most products of a convolution.
_MAX_COUNTS, _MAX_PRODUCTS = 2e6, 5e8
# Counts this many standard deviations plus this many cases from the mode have a probability below
# 1e-50.
_REACH_DEVIATIONS, _REACH_CASES = 16.0, 60.0
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
    strata = strata[is_informative(strata)]
    test = _test_odds_ratio(strata, (1 - confidence_level) / 2)
    # With tails of 0 the interval, which is not needed, costs nothing.
    crude_pvalue = _test_odds_ratio(crude[is_informative(crude)], 0.0)[2]
    estimate, crude_estimate = _mantel_haenszel(strata), _mantel_haenszel(crude)
    return PooledOddsRatio(estimate, *test, _excess(strata), crude_estimate, crude_pvalue)


def is_informative(strata: Floats) -> Bools:
    """Whether both have cases in a stratum, and not all of them the same outcome."""
    group, successes, total = _margins(strata)
    has_both = (group > 0) & (group < total)
    return np.asarray(has_both & (successes > 0) & (successes < total))


def _margins(strata: Floats) -> tuple[Floats, Floats, Floats]:
    """The group's cases, all successes and all cases of each stratum."""
    x1, n1, x2, n2 = strata.T
    return n1, x1 + x2, n1 + n2


def _mantel_haenszel(strata: Floats) -> float:
    """Mantel and Haenszel's estimate; inf or nan if the denominator is 0."""
    x1, n1, x2, n2 = strata.T
    total = np.maximum(n1 + n2, 1.0)
    above = float((x1 * (n2 - x2) / total).sum())
    below = float((x2 * (n1 - x1) / total).sum())
    return above / below if below else inf if above else nan


def _excess(strata: Floats) -> float:
    """The group's successes minus their expected number."""
    group, successes, total = _margins(strata)
    return float((strata[:, 0] - group * successes / total).sum())


def _test_odds_ratio(strata: Floats, tail: float) -> tuple[float, float, float, str]:
    """The ends of the interval with these tails, the p-value, and the method.

    Exact, or normal if that takes too long. Distributions are tilted to an odds ratio under which
    the observed total is about the expected one. Then probabilities near it do not underflow,
    however improbable they are, and only counts near the modes matter. Neither tail of the observed
    total needs the counts that are left out.
    """
    if not len(strata):
        return 0.0, inf, nan, "none"
    group, successes, total = margins = _margins(strata)
    least, most = np.maximum(0.0, successes + group - total), np.minimum(group, successes)
    observed = float(strata[:, 0].sum())
    tilt = _root(lambda t: float((_find_modes(t, *margins) - 0.5).sum()) - observed)
    mode = np.clip(np.floor(_find_modes(tilt, *margins)), least, most)
    cells = mode, group - mode, successes - mode, total - group - successes + mode
    deviation = 1 / np.sqrt(sum(1 / (cell + 1) for cell in cells))
    reach = np.floor(_REACH_DEVIATIONS * deviation) + _REACH_CASES
    first, last = np.maximum(least, mode - reach), np.minimum(most, mode + reach)
    lengths = last - first + 1
    if lengths.max() > _MAX_COUNTS or lengths @ np.cumsum(lengths) > _MAX_PRODUCTS:
        return (*_normal_test(strata, tail), "Mantel-Haenszel, normal approximation")
    pmf, scale = np.ones(1), 0.0
    laws = zip(first, lengths, group, successes, total - successes, strict=True)
    for low, length, *law in laws:
        steps = np.arange(length)
        tilted = log_hypergeometric(low + steps, *law) + tilt * steps
        pmf, scale = np.convolve(pmf, np.exp(tilted - tilted.max())), scale + tilted.max()
    counts, place = np.arange(len(pmf)), int(observed - first.sum())
    with np.errstate(divide="ignore"):
        log_pmf = np.log(pmf) - tilt * counts + scale

    def tail_excess(part: slice, log_odds: float) -> float:
        """The probability of a part of the totals under a common odds ratio, minus the tail."""
        tilted = log_pmf + log_odds * counts
        weights = np.exp(tilted - tilted.max())
        return float(weights[part].sum() / weights.sum()) - tail

    lower, upper = slice(place + 1), slice(place, None)
    has_low, has_high = tail and observed > least.sum(), tail and observed < most.sum()
    low = exp(_root(lambda t: tail_excess(upper, t))) if has_low else 0.0
    high = exp(_root(lambda t: tail_excess(lower, t))) if has_high else inf
    pmf = np.exp(log_pmf)
    pvalue = min(1.0, 2 * float(min(pmf[lower].sum(), pmf[upper].sum())))
    return low, high, pvalue, "exact, conditional on the margins of each stratum"


def _normal_test(strata: Floats, tail: float) -> tuple[float, float, float]:
    """The interval of Robins, Breslow and Greenland, and the p-value of Mantel and Haenszel."""
    from scipy.special import ndtr, ndtri

    group, successes, total = _margins(strata)
    share, rate = group / total, successes / total
    variance = total**2 * share * (1 - share) * rate * (1 - rate) / (total - 1)
    pvalue = 2 * float(ndtr(-abs(_excess(strata)) / sqrt(float(variance.sum()))))
    if _mantel_haenszel(strata) in (0, inf):
        # Its logarithm is infinite: half a case is added to each cell.
        strata = strata + np.array([0.5, 1.0, 0.5, 1.0])
    odds_ratio = _mantel_haenszel(strata)
    x1, n1, x2, n2 = strata.T
    y1, y2 = n1 - x1, n2 - x2
    p, q, r, s = (x / (n1 + n2) for x in (x1 + y2, y1 + x2, x1 * y2, y1 * x2))
    variance = (p * r).sum() / r.sum() ** 2 + (q * s).sum() / s.sum() ** 2
    variance += (p * s + q * r).sum() / (r.sum() * s.sum())
    reach = -float(ndtri(tail)) * sqrt(float(variance) / 2)
    return odds_ratio * exp(-reach), odds_ratio * exp(reach), pvalue


def _find_modes(log_odds: float, group: Floats, successes: Floats, total: Floats) -> Floats:
    """The modes of noncentral hypergeometric distributions, plus a fraction (Liao and Rosen 2001).

    There, the probabilities of neighbours are equal, which is a quadratic equation.
    """
    odds, rest = exp(log_odds), total - group - successes
    least, rest = np.maximum(0.0, -rest), np.abs(rest)
    n, s = group - least + 1, successes - least + 1
    # The discriminant as a sum of positive terms, which loses no digits.
    discriminant = (odds * (n - s)) ** 2 + rest**2 + 2 * odds * (rest * (n + s) + 2 * n * s)
    denominator = odds * (n + s) + rest + np.sqrt(discriminant)
    return np.asarray(least + 2 * odds * n * s / denominator)


def _root(function: Callable[[float], float]) -> float:
    """The root of a monotone function of a log odds ratio."""
    from scipy.optimize import brentq

    return float(brentq(function, -_MAX_LOG_ODDS, _MAX_LOG_ODDS, xtol=1e-12))
