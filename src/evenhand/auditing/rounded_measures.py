"""Measures of rounded counts, which hold for every table that is rounded to the published one.

A cell of a rounded table stands for every count of a block. The share behind a rate rises with each success and falls
with each failure, and so do Fisher's tails and the melded ends of its gap to a reference; in the reference's cells it
is the other way round. So over all tables the smallest and the largest score, the ends of intervals and the largest
p-value lie at two corners: few successes and many failures of the group with many successes and few failures of the
reference, and the opposite. Scores made of several rates have no such corners, and get no interval and no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, log10, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix
from ..inference import counts_of
from ..metrics import Metric, OneGroup
from ..tabulate import Rule, ends_of
from .comparisons import Comparison
from .measures import Measures

__all__ = ["Measure", "allowing", "corners", "has_corners", "in_steps", "unverified"]

Floats = NDArray[np.float64]
Measure = Callable[[Sequence[Comparison]], Measures]
_MOST_DIGITS = 6
_VAGUE = 0.1
_GAPS = ("gap", "difference", "ratio")
_SHORTENED = ("score", "reference", "gap", "difference", "ratio", "smoothed")


def allowing(measure: Measure, metric: Metric, comparisons: Sequence[Comparison], rule: Rule, alpha: float) -> Measures:
    """What a metric says of comparisons of rounded counts, whatever the counts were before.

    A score that could be nearly anything is hidden, unless it is found to differ at the level ``alpha``.
    """
    published = measure(comparisons)
    base = metric.base
    least, most = (measure([_at_corner(who, base, side) for who in comparisons]) for side in (False, True))
    nothing = np.full(len(comparisons), nan)
    found = replace(
        published,
        low=_wider(published.low, least.low, base.low),
        high=_wider(published.high, most.high, base.high),
        gap_low=least.gap_low,
        gap_high=most.gap_high,
        pvalue=np.where(np.isnan(published.pvalue), nan, _largest(least, most)),
        higher=least.higher & (least.pvalue < 1),
        reachable=[None] * len(comparisons),
        percentile=nothing,
        strata=[one and replace(one, crude_odds_ratio=None, crude_pvalue=None) for one in published.strata],
        bounds=lambda rows, level: (_end(least, rows, level, 0), _end(most, rows, level, 1)),
    )
    if not rule.shows_zero:
        found = _without_reasons(found)
    vague = _is_vague(published.score, least.score, most.score) & ~(found.pvalue <= alpha)
    found = _hidden(found, vague if metric.comparisons else vague | _both_small(base, comparisons, rule))
    # A gap to a reference of which little is known could have the other sign.
    open_ = ~(found.pvalue <= alpha)
    unclear = _is_vague(published.difference, least.difference, most.difference) & open_
    gaps: dict[str, Any] = {name: np.where(unclear, nan, getattr(found, name)) for name in _GAPS}
    unknown = _is_vague(published.reference, most.reference, least.reference) & open_
    found = replace(found, **gaps, reference=np.where(unknown, nan, found.reference))
    ends_of_each = {name: (getattr(least, name), getattr(most, name)) for name in _SHORTENED}
    return _shortened(found, ends_of_each | {"smoothed": ends_of_each["score"]})


def _wider(published: Floats, end: Floats, limit: float) -> Floats:
    """The end of an interval at a corner, or of all scores where that is undefined."""
    return np.where(np.isnan(published), nan, np.where(np.isnan(end), limit, end))


def _end(measured: Measures, rows: list[int], level: float, side: int) -> Floats:
    return measured.bounded(rows, level, nan)[side]


def _largest(least: Measures, most: Measures) -> Floats:
    """The largest p-value over all tables, or 1 if they do not agree on a direction."""
    up = np.where(least.higher, least.pvalue, 1.0)
    down = np.where(~most.higher, most.pvalue, 1.0)
    return np.asarray(np.fmin(np.nan_to_num(up, nan=1.0), np.nan_to_num(down, nan=1.0)))


def has_corners(metric: Metric) -> bool:
    """Whether the extremes over all tables lie at two corners."""
    return not metric.is_distance and metric.base.curve is not None


def unverified(scores: Measures, rule: Rule) -> Measures:
    """The scores of a metric without corners: without interval, and with p-values that find nothing."""
    found = scores if rule.shows_zero else _without_reasons(scores)
    whos = found.comparisons
    silent = [1.0 if who.testable and reason is None else nan for who, reason in zip(whos, found.reason, strict=True)]
    ends = _spread(found.metric, whos)
    found = _hidden(replace(found, pvalue=np.array(silent)), _is_vague(found.score, *ends))
    return _shortened(found, dict.fromkeys(_SHORTENED, ends))


def corners(part: ConfusionMatrix, m: OneGroup, high: bool) -> ConfusionMatrix:
    """The counts with the highest share behind a rate among all that are rounded to a part, or with the lowest."""
    low_ends, high_ends = ends_of(part)
    most, fewest = (high_ends, low_ends) if high else (low_ends, high_ends)
    return ConfusionMatrix(*(a if c in m.tree.last else b for c, a, b in zip(CELLS, most, fewest, strict=True)))


def _at_corner(who: Comparison, m: OneGroup, high: bool) -> Comparison:
    def pair(own: Any, against: Any) -> tuple[ConfusionMatrix, ConfusionMatrix]:
        return corners(own, m, high), corners(against, m, not high)

    own, against = pair(who.own, who.against)
    return replace(who, own=own, against=against, strata=tuple(pair(*one) for one in who.strata), peers={})


def _is_vague(scores: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Which scores could be nearly anything: the ends differ by a fifth, or are not known."""
    return np.asarray(~(high - low <= 2 * _VAGUE * np.fmax(1.0, np.abs(scores))))


def _both_small(m: OneGroup, comparisons: Sequence[Comparison], rule: Rule) -> NDArray[np.bool_]:
    """Where both counts behind a rate are small, so that the rate could be nearly anything."""
    cells = np.array([who.own.cells for who in comparisons], dtype=np.float64).reshape(-1, 4)
    count, size = counts_of(m, cells)
    return np.asarray((count < rule.least) & (size - count < rule.least) & ((size > 0) | (not rule.shows_zero)))


def _without_reasons(measured: Measures) -> Measures:
    """The measures of counts among which 0 may stand for others, so that no score is known to be undefined."""
    unknown = np.array([reason is not None for reason in measured.reason], dtype=bool)
    return replace(measured, reason=[None] * len(measured), pvalue=np.where(unknown, 1.0, measured.pvalue))


def _hidden(measured: Measures, hidden: NDArray[np.bool_]) -> Measures:
    """The measures without the scores that are hidden, of which nothing is found."""
    names = ("score", "gap", "difference", "ratio", "smoothed")
    found: dict[str, Any] = {name: np.where(hidden, nan, getattr(measured, name)) for name in names}
    return replace(measured, **found, pvalue=np.where(hidden & ~np.isnan(measured.pvalue), 1.0, measured.pvalue))


def _spread(metric: Metric, comparisons: Sequence[Comparison]) -> tuple[Floats, Floats]:
    """The smallest and the largest score at the corners of the blocks, nan where it is undefined at one."""
    if metric.comparisons:
        nothing = np.full(len(comparisons), nan)
        return nothing, nothing
    ends = np.array([ends_of(who.own) for who in comparisons], dtype=np.float64).reshape(-1, 2, 4)
    each = np.array([metric.base.scores(ends[:, at, range(4)]) for at in map(list, product((0, 1), repeat=4))])
    return each.min(axis=0), each.max(axis=0)


def _shortened(measured: Measures, ends: Mapping[str, tuple[Floats, Floats]]) -> Measures:
    """The measures with no more digits than the rounding of counts bears, given the ends between which each may lie."""
    found: dict[str, Any] = {}
    for name, (low, high) in ends.items():
        each = zip(getattr(measured, name).tolist(), low.tolist(), high.tolist(), strict=True)
        found[name] = np.array([in_steps(value, a, b) for value, a, b in each])
    return replace(measured, **found)


def in_steps(value: float, low: float, high: float) -> float:
    """A number between two ends with few decimals: its last one is a step no longer than from end to end.

    It stays between the ends. Infinity and nan stay, and a number without ends has one decimal.

    >>> in_steps(0.3453, 0.31, 0.38), in_steps(0.5, 0.1, 0.9), in_steps(0.3453, 0.3453, 0.3453)
    (0.35, 0.5, 0.3453)
    >>> in_steps(0.9964, 0.9951, 0.9969)
    0.996
    """
    if not np.isfinite(value):
        return value
    width = abs(high - low)
    fewest = 1 if not np.isfinite(width) else _MOST_DIGITS if width <= 0 else max(1, ceil(-log10(width)))
    for digits in range(min(fewest, _MOST_DIGITS), _MOST_DIGITS):
        # There is no negative zero.
        found = round(value, digits) + 0.0
        if not (found < low <= value or found > high >= value):
            return found
    return round(value, _MOST_DIGITS) + 0.0
