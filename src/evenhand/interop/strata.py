"""Do groups differ once another feature is taken into account? Exact tests of a rate, pooled over the levels.

Within a level, alike groups divide the successes as a random order of the cases would, so the group's count is
hypergeometric. Levels are independent, so the law of the sum of these counts is the convolution of their laws. Under a
common odds ratio ψ, a sum of s has that probability times ψ**s, up to a factor; this gives the exact interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, TooLarge, UnknownName, printable
from ..inference import counts_of
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import as_counts
from .aggregates import check_level, named

__all__ = ["StratifiedTest", "Stratum", "stratified_test"]

Floats = NDArray[np.float64]

_MOST_OUTCOMES = 100_000
# The logarithm of the largest odds ratio that is looked for.
_REACH = 500.0


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
        The exact p-value that the odds ratio is 1 in every level: twice the smaller tail. None if no level can say
        anything.
    odds_ratio : float
        Mantel and Haenszel's estimate of a common odds ratio; nan if undefined.
    low, high : float
        The exact conditional interval of the odds ratio, if it is the same in all levels.
    level : float
        The level of the interval, which covers at least at it.
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
        within = (
            f"within levels: odds ratio {_shown(self.odds_ratio)}, {100 * self.level:g} % interval {self.low:.4g} to "
            f"{self.high:.4g}, p-value {self.pvalue:.3g}"
        )
        crude = f"p-value {self.crude_pvalue:.3g}" if self.crude_pvalue is not None else "no p-value"
        return "\n".join(
            [
                who,
                within,
                f"without levels: odds ratio {_shown(self.crude_odds_ratio)}, {crude}",
                *map(str, self.strata),
            ]
        )


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
    same direction in all levels; opposite differences cancel.

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
    strata = tuple(_stratum(m.base, name, groups, mine, theirs) for name, groups in levels.items())
    merged = np.array([(s.part, s.whole, s.reference_part, s.reference_whole) for s in strata], dtype=np.float64)
    low, high, pvalue = _exact(merged, level)
    _, _, crude = _exact(merged.sum(axis=0, keepdims=True), level)
    return StratifiedTest(
        metric=m.key,
        group=mine,
        reference="rest" if theirs is None else theirs,
        pvalue=pvalue,
        odds_ratio=_mantel_haenszel(merged),
        low=low,
        high=high,
        level=level,
        crude_odds_ratio=_mantel_haenszel(merged.sum(axis=0, keepdims=True)),
        crude_pvalue=crude,
        strata=strata,
    )


def _by_group(groups: Mapping[Any, Any]) -> dict[str, ConfusionMatrix]:
    return {named(key): cm for key, cm in as_counts(groups, "group").cells.items()}


def _stratum(m: OneGroup, name: str, groups: Mapping[str, ConfusionMatrix], mine: str, theirs: str | None) -> Stratum:
    empty = ConfusionMatrix(0, 0, 0, 0)
    others = [cm for who, cm in groups.items() if (who != mine if theirs is None else who == theirs)]
    cells = np.array([groups.get(mine, empty).cells, sum(others, empty).cells], dtype=np.float64)
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


def _exact(strata: Floats, level: float) -> tuple[float, float, float | None]:
    """The interval of a common odds ratio and the p-value that it is 1; None if no level says anything."""
    logs, at = _law(strata)
    if len(logs) == 1:
        return 0.0, inf, None
    # The tail beyond the observed total is accurate; the other one may have lost outcomes, and is larger all the same.
    below, above = (float(np.exp(logs[part]).sum()) for part in (slice(at + 1), slice(at, None)))
    tail = (1 - level) / 2
    low = 0.0 if at == 0 else _odds(logs, at, tail, above=True)
    high = inf if at == len(logs) - 1 else _odds(logs, at, tail, above=False)
    return low, high, min(1.0, 2 * min(below, above))


def _law(strata: Floats) -> tuple[Floats, int]:
    """The logarithms of the probabilities of the group's total, from the smallest on, and the place of the observed.

    Laws are tilted towards the observed odds ratio before they are convolved, so that the probabilities near the
    observed total do not underflow, however unlikely they are.
    """
    from scipy.special import logsumexp

    for_group, against = _cross_products(strata)
    tilt = float(np.log((for_group + 0.5) / (against + 0.5)))
    least, scale, law = 0.0, 0.0, np.ones(1)
    for part, whole, other, of_other in strata:
        if len(law) + min(whole, part + other) - max(0.0, part + other - of_other) > _MOST_OUTCOMES:
            raise TooLarge(
                f"the group's count has more than {_MOST_OUTCOMES:,} outcomes over all levels, too many to list; with "
                "so many cases, audit() each level"
            )
        start, logs = _hypergeometric(whole, part + other, whole + of_other)
        tilted = logs + tilt * np.arange(len(logs))
        factor = float(logsumexp(tilted))
        law = np.convolve(law, np.exp(tilted - factor))
        least, scale = least + start, scale + factor
    with np.errstate(divide="ignore"):
        logs = np.log(law) - tilt * np.arange(len(law)) + scale
    return logs, int(strata[:, 0].sum() - least)


def _hypergeometric(whole: float, successes: float, total: float) -> tuple[float, Floats]:
    """The smallest count of a group and the log-probabilities of all counts, if it is like the rest of its level."""
    from scipy.special import gammaln, logsumexp

    start = max(0.0, successes - (total - whole))
    x = np.arange(start, min(whole, successes) + 1)
    rest = total - whole
    logs = -(gammaln(x + 1) + gammaln(whole - x + 1) + gammaln(successes - x + 1) + gammaln(rest - successes + x + 1))
    return start, logs - logsumexp(logs)


def _odds(logs: Floats, at: int, tail: float, above: bool) -> float:
    """The odds ratio under which the observed count, or one further ``above`` or below, has probability ``tail``."""
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    s = np.arange(len(logs))

    def excess(log_odds: float) -> float:
        tilted = logs + s * log_odds
        part = tilted[at:] if above else tilted[: at + 1]
        return float(np.exp(logsumexp(part) - logsumexp(tilted))) - tail

    return exp(float(brentq(excess, -_REACH, _REACH, xtol=1e-12)))


def _shown(ratio: float) -> str:
    return "undefined" if isnan(ratio) else f"{ratio:.4g}"
