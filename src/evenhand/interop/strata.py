"""Do groups differ once another feature is taken into account? Exact tests of a rate, pooled over the levels.

Within a level, alike groups divide the successes as a random order of the cases would, so the group's count is
hypergeometric. Levels are independent, so the law of the sum of these counts is the convolution of their laws. Under a
common odds ratio ψ, a sum of s has that probability times ψ**s, up to a factor; this gives the exact interval. Counts
that are too many to convolve have Mantel and Haenszel's normal approximation, which is close at that size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName, printable
from ..inference import counts_of
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import as_counts
from .aggregates import check_level, named

__all__ = [
    "StratifiedTest",
    "Stratum",
    "fields_of",
    "shown_pvalue",
    "stratified_test",
    "stratum_of",
    "within_levels",
]

Floats = NDArray[np.float64]

# The products of probabilities that a convolution may take.
_MOST_PRODUCTS, _MOST_COUNTS = 5e8, 2e6
# Counts further from the most probable one are left out of a level's law: together they have a probability below 1e-50.
_SPREADS, _LEAST_WIDTH = 16.0, 60.0
# The logarithm of the largest odds ratio that is looked for.
_REACH = 500.0
_EXACT = "exact, conditional on the margins of each level"
_APPROXIMATE = "Mantel-Haenszel, normal approximation"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Stratum(Record):
    """The counts of one level.

    Attributes
    ----------
    level : str
        The level.
    part, whole : int
        The group's successes and cases.
    reference_part, reference_whole : int
        Those of the reference.
    informative : bool
        Whether the level can say anything: group and reference both have cases, and not all of these have the same
        outcome.

    Examples
    --------
    >>> found = stratified_test({"young": {"f": (3, 1, 0, 6), "m": (30, 30, 9, 40)}}, "tpr", "f")
    >>> print(found.strata[0])
    young: 3/4 against 30/60
    """

    level: str
    part: int
    whole: int
    reference_part: int
    reference_whole: int
    informative: bool

    def __str__(self) -> str:
        counts = f"{self.part:,}/{self.whole:,} against {self.reference_part:,}/{self.reference_whole:,}"
        return f"{printable(self.level)}: {counts}" + ("" if self.informative else ", says nothing")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StratifiedTest(Record):
    """An exact test that a group's rate equals its reference's within every level.

    Attributes
    ----------
    metric, group, reference : str
        The key of the rate, the group, and what it is compared with.
    pvalue : float or None
        The p-value that the odds ratio is 1 in every level: twice the smaller tail. None if no level can say anything.
    test : str or None
        How p-value and interval were found: exactly, or by a normal approximation if there are millions of cases.
    odds_ratio : float
        Mantel and Haenszel's estimate of a common odds ratio; nan if undefined.
    low, high : float
        The conditional interval of the odds ratio, if it is the same in all levels.
    level : float
        The level of the interval. If the test is exact, it covers at least at this level.
    crude_odds_ratio, crude_pvalue : float, float or None
        The same without levels: all cases in one.
    strata : tuple of Stratum
        The counts per level.

    Examples
    --------
    >>> found = stratified_test({"young": {"f": (3, 1, 0, 6), "m": (30, 30, 9, 40)}}, "tpr", "f")
    >>> round(found.odds_ratio, 3), round(found.pvalue, 3)
    (3.0, 0.661)
    """

    metric: str
    group: str
    reference: str
    pvalue: float | None
    test: str | None
    odds_ratio: float
    low: float
    high: float
    level: float
    crude_odds_ratio: float
    crude_pvalue: float | None
    strata: tuple[Stratum, ...]

    def __str__(self) -> str:
        who = f"{self.metric} of {printable(self.group)} against {printable(self.reference)}"
        if self.pvalue is None:
            return "\n".join([f"{who}: no level says anything", *map(str, self.strata)])
        crude = f"p-value {shown_pvalue(self.crude_pvalue)}" if self.crude_pvalue is not None else "no p-value"
        return "\n".join(
            [
                who,
                f"within levels: {within_levels(self)}",
                f"without levels: odds ratio {_shown(self.crude_odds_ratio)}, {crude}",
                *map(str, self.strata),
            ]
        )


def within_levels(found: Any) -> str:
    """The odds ratio, its interval and the p-value, as text."""
    approximate = " (approximate)" if found.test == _APPROXIMATE else ""
    return (
        f"odds ratio {_shown(found.odds_ratio)}, {100 * found.level:g} % interval {found.low:.4g} to {found.high:.4g}, "
        f"p-value {shown_pvalue(found.pvalue)}{approximate}"
    )


def shown_pvalue(p: float) -> str:
    """A p-value; one that a float cannot hold is not 0."""
    return f"{p:.3g}" if p > 0 else "below 1e-300"


def stratified_test(
    counts: Mapping[Any, Mapping[Any, Any]],
    metric: str | Metric,
    group: object,
    *,
    reference: object = None,
    level: float = 0.95,
) -> StratifiedTest:
    """Test whether a group's rate differs from its reference's once the levels of another feature are accounted for.

    The group is compared with its reference within each level only. The test is exact, conditional on the number of
    successes in each level: the exact form of Mantel and Haenszel's test. It has most power if the odds ratio has the
    same direction in all levels; opposite differences cancel. Where millions of cases make the exact law too long to
    list, Mantel and Haenszel's normal approximation takes its place, and ``test`` says so.

    Parameters
    ----------
    counts : mapping of level to mapping of group to ConfusionMatrix or to tp, fn, fp, tn
        The groups of each level, such as an age band. A group may be missing in a level.
    metric : str or Metric
        A rate, or another score that depends on one rate, such as F1.
    group : object
        The group, as it is called in ``counts``.
    reference : object, optional
        The group to compare with; by default all other groups together.
    level : float
        The level of the interval.

    Returns
    -------
    StratifiedTest
        The test within levels, and the crude one beside it.

    Examples
    --------
    More of the women apply where few are selected. In each department they are selected as often as men.

    >>> counts = {
    ...     "easy": {"f": (0, 0, 6, 2), "m": (0, 0, 60, 20)},
    ...     "hard": {"f": (0, 0, 18, 54), "m": (0, 0, 5, 15)},
    ... }
    >>> print(stratified_test(counts, "ppr", "f"))
    ppr of f against rest
    within levels: odds ratio 1, 95 % interval 0.366 to 3.049, p-value 1
    without levels: odds ratio 0.2308, p-value 5.04e-06
    easy: 6/8 against 60/80
    hard: 18/72 against 5/20
    """
    m = find_metric(metric)
    if m.comparisons or m.base.curve is None:
        raise InvalidInput(f"{m.key} does not depend on one rate only, so levels cannot be pooled exactly; use a rate")
    check_level(level)
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput("counts must map levels to the counts of their groups")
    levels = {str(name): _by_group(groups) for name, groups in counts.items()}
    if len(levels) < len(counts):
        raise InvalidInput(f"levels must have different names; got {', '.join(map(repr, counts))}")
    known = dict.fromkeys(who for groups in levels.values() for who in groups)
    for asked in [group] if reference is None else [group, reference]:
        if named((asked,)) not in known:
            raise UnknownName.among("group", named((asked,)), known)
    mine = named((group,))
    theirs = None if reference is None else named((reference,))
    if mine == theirs:
        raise InvalidInput(f"group and reference must differ; got {mine!r} twice")
    empty = ConfusionMatrix(0, 0, 0, 0)
    strata = []
    for name, groups in levels.items():
        others = [cm for who, cm in groups.items() if (who != mine if theirs is None else who == theirs)]
        strata.append(stratum_of(m.base, name, groups.get(mine, empty), sum(others, empty)))
    return StratifiedTest(
        metric=m.key,
        group=mine,
        reference="rest" if theirs is None else theirs,
        **fields_of(strata, level),
    )


def fields_of(strata: Sequence[Stratum], level: float) -> dict[str, Any]:
    """The fields of a test that are found from the counts of all levels."""
    merged = np.array([(s.part, s.whole, s.reference_part, s.reference_whole) for s in strata], dtype=np.float64)
    everybody = merged.sum(axis=0, keepdims=True)
    low, high, pvalue, test = _inferred(merged, level)
    crude = pvalue if len(merged) == 1 else _inferred(everybody, None)[2]
    return {
        "pvalue": pvalue,
        "test": test,
        "odds_ratio": _mantel_haenszel(merged),
        "low": low,
        "high": high,
        "level": level,
        "crude_odds_ratio": _mantel_haenszel(everybody),
        "crude_pvalue": crude,
        "strata": tuple(strata),
    }


def _by_group(groups: Mapping[Any, Any]) -> dict[str, ConfusionMatrix]:
    return {named(key): cm for key, cm in as_counts(groups, "group").cells.items()}


def stratum_of(m: OneGroup, name: str, mine: ConfusionMatrix, theirs: ConfusionMatrix) -> Stratum:
    """The counts of one level, from the matrices of a group and of what it is compared with."""
    cells = np.array([mine.cells, theirs.cells], dtype=np.float64)
    (part, other), (whole, of_other) = (counts.astype(int).tolist() for counts in counts_of(m, cells))
    return Stratum(
        level=name,
        part=part,
        whole=whole,
        reference_part=other,
        reference_whole=of_other,
        informative=bool(whole and of_other and 0 < part + other < whole + of_other),
    )


def _mantel_haenszel(strata: Floats) -> float:
    """The common odds ratio; inf or nan if a sum is 0."""
    above, below = _cross_products(strata)
    return above / below if below else inf if above else nan


def _cross_products(strata: Floats) -> tuple[float, float]:
    """The numerator and the denominator of Mantel and Haenszel's odds ratio."""
    a, n, c, k = strata.T
    total = np.maximum(n + k, 1.0)
    return float((a * (k - c) / total).sum()), float((c * (n - a) / total).sum())


def _inferred(strata: Floats, level: float | None) -> tuple[float, float, float | None, str | None]:
    """The interval of a common odds ratio, the p-value that it is 1, and how they were found.

    There is no p-value if no level says anything, and no interval without its level.
    """
    ends = [_support(whole, part + other, whole + of_other) for part, whole, other, of_other in strata]
    least, most = (float(sum(side)) for side in zip(*ends, strict=True))
    if least == most:
        return 0.0, inf, None, None
    found = _law(strata)
    if found is None:
        return *_approximate(strata, level or 0.5), _APPROXIMATE
    logs, at = found
    # The tail beyond the observed total is accurate. The other one may have lost outcomes, and is larger all the same.
    below, above = (float(np.exp(logs[part]).sum()) for part in (slice(at + 1), slice(at, None)))
    pvalue = min(1.0, 2 * min(below, above))
    if level is None:
        return nan, nan, pvalue, _EXACT
    tail = (1 - level) / 2
    observed = float(strata[:, 0].sum())
    low = 0.0 if observed == least else _odds(logs, at, tail, above=True)
    high = inf if observed == most else _odds(logs, at, tail, above=False)
    return low, high, pvalue, _EXACT


def _approximate(strata: Floats, level: float) -> tuple[float, float, float]:
    """The interval and the p-value of large counts: Robins, Breslow and Greenland's, and Mantel and Haenszel's."""
    from scipy.special import ndtr, ndtri

    a, n, c, k = strata.T
    b, d, total, successes = n - a, k - c, n + k, a + c
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.nan_to_num(n * k * successes * (total - successes) / (total**2 * (total - 1)))
        expected = np.nan_to_num(n * successes / total)
        r, s, p, q = (np.nan_to_num(x / total) for x in (a * d, b * c, a + d, b + c))
    z = float((a - expected).sum()) / sqrt(float(variance.sum()))
    above, below = float(r.sum()), float(s.sum())
    ratio = log(above / below)
    terms = (p * r).sum() / above**2 + (p * s + q * r).sum() / (above * below) + (q * s).sum() / below**2
    reach = float(ndtri((1 + level) / 2)) * sqrt(float(terms) / 2)
    return exp(ratio - reach), exp(ratio + reach), min(1.0, 2 * float(ndtr(-abs(z))))


def _law(strata: Floats) -> tuple[Floats, int] | None:
    """The logarithms of the probabilities of the group's total and the place of the observed one; None if too long.

    Laws are tilted towards the observed odds ratio before they are convolved, so that the probabilities near the
    observed total do not underflow, however unlikely they are.
    """
    if any(_widest(whole, part + other, whole + of_other) > _MOST_COUNTS for part, whole, other, of_other in strata):
        return None
    tilt = _tilt(strata)
    parts = [_hypergeometric(whole, part + other, whole + of_other, tilt) for part, whole, other, of_other in strata]
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
    levels = [(whole, part + other, whole + of_other) for part, whole, other, of_other in strata]
    if all(most - least <= 2 * _LEAST_WIDTH for least, most in (_support(*level) for level in levels)):
        return tilt
    observed = float(strata[:, 0].sum())

    def excess(log_odds: float) -> float:
        total = 0.0
        for level in levels:
            start, logs = _hypergeometric(*level, log_odds)
            tilted = logs + log_odds * np.arange(len(logs))
            weights = np.exp(tilted - tilted.max())
            total += start + float(weights @ np.arange(len(logs)) / weights.sum())
        return total - observed

    # An observed total at an end has no such odds ratio; there the one above is far enough.
    ends = [sum(side) for side in zip(*(_support(*level) for level in levels), strict=True)]
    if observed in ends:
        return tilt
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
    """The smallest count of a group and the log-probabilities from it on, if the group is like the rest of its level.

    In large levels, only counts that are not negligible under the odds ratio ``exp(tilt)`` are listed.
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


def _shown(ratio: float) -> str:
    return "undefined" if isnan(ratio) else f"{ratio:.4g}"
