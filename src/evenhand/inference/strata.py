"""Do groups differ once another feature is taken into account? Exact tests of a rate, pooled over strata.

Within a stratum, alike groups divide the successes as a random order of the cases would, so the group's count is
hypergeometric. Strata are independent, so the law of the sum of these counts is the convolution of their laws. Under a
common odds ratio ψ, a sum of s has that probability times ψ**s, up to a factor; this gives the exact interval. Counts
that are too many to convolve have Mantel and Haenszel's normal approximation, which is close at that size.

Strata are arrays with one row each: the group's successes and cases, and those of the reference.
"""

from __future__ import annotations

from math import exp, inf, log, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stratified", "informative", "stratified"]

Floats = NDArray[np.float64]

# The products of probabilities that a convolution may take.
_MOST_PRODUCTS, _MOST_COUNTS = 5e8, 2e6
# Counts further from the most probable one are left out of a stratum's law: together they have a probability below
# 1e-50.
_SPREADS, _LEAST_WIDTH = 16.0, 60.0
# The logarithm of the largest odds ratio that is looked for.
_REACH = 500.0
_EXACT = "exact, conditional on the margins of each stratum"
_APPROXIMATE = "Mantel-Haenszel, normal approximation"


class Stratified(NamedTuple):
    """A group beside its reference within strata, pooled over them, and without strata.

    Attributes
    ----------
    odds_ratio : float
        Mantel and Haenszel's estimate of a common odds ratio; nan if undefined.
    low, high : float
        The interval of a common odds ratio, conditional on the margins of each stratum.
    pvalue : float
        Twice the smaller tail, if the odds ratio is 1 in every stratum; nan if no stratum is informative.
    method : str
        How interval and p-value were found; "none" if no stratum is informative.
    excess : float
        The group's successes minus those that are expected of it: above 0 if its rate is higher within strata.
    crude_odds_ratio, crude_pvalue : float
        The same without strata: all cases in one.
    """

    odds_ratio: float
    low: float
    high: float
    pvalue: float
    method: str
    excess: float
    crude_odds_ratio: float
    crude_pvalue: float


def stratified(strata: Floats, level: float) -> Stratified:
    """Test a group against its reference within strata, from an array of shape (strata, 4)."""
    everybody = strata.sum(axis=0, keepdims=True)
    pvalue, method, law = _tested(strata)
    low, high = (0.0, inf) if method == "none" else _interval(strata, law, level)
    return Stratified(
        odds_ratio=_mantel_haenszel(strata),
        low=low,
        high=high,
        pvalue=pvalue,
        method=method,
        excess=_excess(strata[informative(strata)]),
        crude_odds_ratio=_mantel_haenszel(everybody),
        crude_pvalue=pvalue if len(strata) == 1 else _tested(everybody)[0],
    )


def informative(strata: Floats) -> NDArray[np.bool_]:
    """Which strata can say anything: group and reference both have cases, and not all have the same outcome."""
    part, whole, other, of_other = strata.T
    return np.asarray((whole > 0) & (of_other > 0) & (part + other > 0) & (part + other < whole + of_other))


def _excess(strata: Floats) -> float:
    part, whole, other, of_other = strata.T
    return float((part - whole * (part + other) / (whole + of_other)).sum())


def _mantel_haenszel(strata: Floats) -> float:
    """The common odds ratio; inf or nan if a sum is 0."""
    above, below = _cross_products(strata)
    return above / below if below else inf if above else nan


def _cross_products(strata: Floats) -> tuple[float, float]:
    """The numerator and the denominator of Mantel and Haenszel's odds ratio."""
    a, n, c, k = strata.T
    total = np.maximum(n + k, 1.0)
    return float((a * (k - c) / total).sum()), float((c * (n - a) / total).sum())


# The logarithms of the probabilities of the group's total, and the place of the observed one.
_Law = tuple[Floats, int]


def _tested(strata: Floats) -> tuple[float, str, _Law | None]:
    """The p-value that the odds ratio is 1 in every stratum, how it was found, and the law of the group's total."""
    if not informative(strata).any():
        return nan, "none", None
    law = _law(strata)
    if law is None:
        return _normal_pvalue(strata), _APPROXIMATE, None
    logs, at = law
    # The tail beyond the observed total is accurate. The other one may have lost outcomes, and is larger all the same.
    below, above = (float(np.exp(logs[part]).sum()) for part in (slice(at + 1), slice(at, None)))
    return min(1.0, 2 * min(below, above)), _EXACT, law


def _interval(strata: Floats, law: _Law | None, level: float) -> tuple[float, float]:
    """The interval of a common odds ratio."""
    if law is None:
        return _normal_interval(strata, level)
    least, most = (float(sum(side)) for side in zip(*map(_support, *_margins(strata)), strict=True))
    observed = float(strata[:, 0].sum())
    tail = (1 - level) / 2
    low = 0.0 if observed == least else _odds(*law, tail, above=True)
    high = inf if observed == most else _odds(*law, tail, above=False)
    return low, high


def _normal_pvalue(strata: Floats) -> float:
    """Mantel and Haenszel's p-value, for large counts."""
    from scipy.special import ndtr

    whole, successes, total = _margins(strata[informative(strata)])
    variance = whole * (total - whole) * successes * (total - successes) / (total**2 * (total - 1))
    z = _excess(strata[informative(strata)]) / sqrt(float(variance.sum()))
    return min(1.0, 2 * float(ndtr(-abs(z))))


def _normal_interval(strata: Floats, level: float) -> tuple[float, float]:
    """Robins, Breslow and Greenland's interval, for large counts."""
    from scipy.special import ndtri

    a, n, c, k = strata.T
    b, d, total = n - a, k - c, np.maximum(n + k, 1.0)
    r, s, p, q = (x / total for x in (a * d, b * c, a + d, b + c))
    above, below = float(r.sum()), float(s.sum())
    if not above or not below:
        # An odds ratio of 0 or inf has no logarithm: half a case is added to each cell.
        return _normal_interval(strata + np.array([0.5, 1.0, 0.5, 1.0]), level)
    ratio = log(above / below)
    terms = (p * r).sum() / above**2 + (p * s + q * r).sum() / (above * below) + (q * s).sum() / below**2
    reach = float(ndtri((1 + level) / 2)) * sqrt(float(terms) / 2)
    return exp(ratio - reach), exp(ratio + reach)


def _margins(strata: Floats) -> tuple[Floats, Floats, Floats]:
    """The group's cases, the successes and the cases of each stratum."""
    part, whole, other, of_other = strata.T
    return whole, part + other, whole + of_other


def _law(strata: Floats) -> _Law | None:
    """The law of the group's total; None if it is too long.

    Laws are tilted towards the observed odds ratio before they are convolved, so that the probabilities near the
    observed total do not underflow, however unlikely they are.
    """
    margins = list(zip(*_margins(strata), strict=True))
    if any(_widest(*margin) > _MOST_COUNTS for margin in margins):
        return None
    tilt = _tilt(strata)
    parts = [_hypergeometric(*margin, tilt) for margin in margins]
    length, products = 1, 0.0
    for _, logs in parts:
        products += float(length) * len(logs)
        length += len(logs) - 1
    if products > _MOST_PRODUCTS:
        return None
    least, scale, law = 0.0, 0.0, np.ones(1)
    for start, logs in parts:
        tilted = logs + tilt * np.arange(len(logs))
        factor = _log_total(tilted)
        law = np.convolve(law, np.exp(tilted - factor))
        least, scale = least + start, scale + factor
    with np.errstate(divide="ignore"):
        logs = np.log(law) - tilt * np.arange(len(law)) + scale
    return logs, int(strata[:, 0].sum() - least)


def _tilt(strata: Floats) -> float:
    """A log odds ratio under which the observed total is about what is expected."""
    from scipy.optimize import brentq

    for_group, against = _cross_products(strata)
    tilt = log((for_group + 0.5) / (against + 0.5))
    margins = list(zip(*_margins(strata), strict=True))
    supports = [_support(*margin) for margin in margins]
    observed = float(strata[:, 0].sum())
    narrow = all(most - least <= 2 * _LEAST_WIDTH for least, most in supports)
    # An observed total at an end has no such odds ratio; there the one above is far enough.
    if narrow or observed in [sum(side) for side in zip(*supports, strict=True)]:
        return tilt

    def excess(log_odds: float) -> float:
        total = 0.0
        for margin in margins:
            start, logs = _hypergeometric(*margin, log_odds)
            tilted = logs + log_odds * np.arange(len(logs))
            weights = np.exp(tilted - tilted.max())
            total += start + float(weights @ np.arange(len(logs)) / weights.sum())
        return total - observed

    reach = 0.25
    while reach < _REACH and not excess(tilt - reach) < 0 < excess(tilt + reach):
        reach *= 4
    return float(brentq(excess, max(tilt - reach, -_REACH), min(tilt + reach, _REACH), xtol=1e-3))


def _support(whole: float, successes: float, total: float) -> tuple[float, float]:
    """The smallest and the largest count that a group can have."""
    return max(0.0, successes - (total - whole)), min(whole, successes)


def _widest(whole: float, successes: float, total: float) -> float:
    """At least as many counts as `_hypergeometric` lists, without listing them."""
    least, most = _support(whole, successes, total)
    smallest = min(whole, total - whole, successes, total - successes)
    return min(most - least, 2 * (_SPREADS * sqrt(smallest + 1) + _LEAST_WIDTH))


def _hypergeometric(whole: float, successes: float, total: float, tilt: float) -> tuple[float, Floats]:
    """The smallest count of a group and the log-probabilities from it on, if the group is like the rest of its stratum.

    In large strata, only counts that are not negligible under the odds ratio ``exp(tilt)`` are listed.
    """
    from scipy.special import betaln

    least, most = _support(whole, successes, total)
    rest = total - whole
    low, high = least, most
    if most - least > 2 * _LEAST_WIDTH:
        while low < high:
            x = (low + high) // 2
            rises = log((successes - x) * (whole - x)) + tilt > log((x + 1) * (rest - successes + x + 1))
            low, high = (x + 1, high) if rises else (low, x)
        around = [low + 1, whole - low + 1, successes - low + 1, rest - successes + low + 1]
        width = _SPREADS / sqrt(sum(1 / cell for cell in around)) // 1 + _LEAST_WIDTH
        low, high = max(least, low - width), min(most, low + width)
    counts = np.arange(low, high + 1)
    logs = -(betaln(counts + 1, whole - counts + 1) + betaln(successes - counts + 1, rest - successes + counts + 1))
    return low, logs + betaln(successes + 1, total - successes + 1) + log(total + 1) - log(whole + 1) - log(rest + 1)


def _odds(logs: Floats, at: int, tail: float, above: bool) -> float:
    """The odds ratio under which the observed count, or one further ``above`` or below, has probability ``tail``."""
    from scipy.optimize import brentq

    s = np.arange(len(logs))

    def excess(log_odds: float) -> float:
        tilted = logs + s * log_odds
        part = tilted[at:] if above else tilted[: at + 1]
        return exp(_log_total(part) - _log_total(tilted)) - tail

    return exp(float(brentq(excess, -_REACH, _REACH, xtol=1e-12)))


def _log_total(logs: Floats) -> float:
    """The logarithm of a sum of numbers, of which at least one is not 0, from their logarithms."""
    most = float(logs.max())
    return most + log(float(np.exp(logs - most).sum()))
