"""Impact ratios: rates of favourable predictions beside the highest of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inference import effects_of, gap_intervals, melded_gaps
from ..metrics import metric as find_metric
from ..tabulate import UnitMatrix
from .cell_measures import cells_of
from .comparisons import Comparison, favourable_rates
from .measures import Measures
from .rounded_measures import corners, in_steps
from .rows import Impact
from .settings import Settings

__all__ = ["impacts_of"]


def impacts_of(measured: Measures, how: Settings, every: float) -> dict[int, Impact]:
    """The impact ratios of a measure of predicted positive rates, by the place of their comparison in it.

    ``every`` is the level at which a bound holds for the whole audit.
    """
    if measured.metric.key != "ppr" or how.favourable is None:
        return {}
    columns: dict[Any, list[int]] = {}
    for i, who in enumerate(measured.comparisons):
        if who.is_of_counts and who.own.n and not who.strata:
            columns.setdefault((who.at, who.by), []).append(i)
    found: dict[int, Impact] = {}
    for places in columns.values():
        found |= _of_column(places, [measured.comparisons[i] for i in places], how, every)
    return found


def _effects(m: Any, own: Any, best: Any) -> tuple[float, float]:
    """The design effects of units, if there are any."""
    if not isinstance(own, UnitMatrix):
        return 1.0, 1.0
    found = effects_of(m, own.units, best.units)
    return found.group, found.reference


def _at_corner(m: Any, whos: Sequence[Comparison], best: Any, high: int) -> tuple[Any, Any]:
    """The smallest or the largest ratio over all tables that are rounded to the same counts, as two arrays of cells."""
    mine = cells_of([corners(who.own, m, bool(high)) for who in whos])
    return mine, np.broadcast_to(cells_of([corners(best, m, not high)]), mine.shape)


def _of_column(places: Sequence[int], whos: Sequence[Comparison], how: Settings, every: float) -> dict[int, Impact]:
    m = find_metric("ppr" if how.favourable == "positive" else "pnr").base
    members = whos[0].peers
    rates = favourable_rates(members, how)
    if not rates or max(rates.values()) == 0:
        return {}
    best = max(rates, key=lambda name: rates[name])
    mine = np.array([who.own.cells for who in whos], dtype=np.float64)
    theirs = np.broadcast_to(np.array(members[best].cells, dtype=np.float64), mine.shape)
    ratios = m.scores(mine) / rates[best]
    worth = np.array([_effects(m, who.own, members[best]) for who in whos])
    # The data chose the highest of several rates, so a group's interval holds for all of them at once.
    choices = np.array([max(1, len(rates) - (who.group in rates)) for who in whos])
    low, high, at_most = np.empty(len(whos)), np.empty(len(whos)), np.empty(len(whos))
    sides = [(mine, theirs)] * 2 if how.rule is None else [_at_corner(m, whos, members[best], high) for high in (0, 1)]
    for k in np.unique(choices):
        at = choices == k
        least, most = (melded_gaps(m, a[at] / worth[at, :1], b[at] / worth[at, 1:], "ratio") for a, b in sides)
        level = 1 - (1 - how.level) / k
        low[at], high[at] = gap_intervals(least, ratios[at], level)[0], gap_intervals(most, ratios[at], level)[1]
        at_most[at] = gap_intervals(most, ratios[at], 1 - (1 - every) / k)[1]
    if how.rule is not None:
        ends = zip(*(m.scores(a) / m.scores(b) for a, b in sides), strict=True)
        ratios = np.array([in_steps(ratio, *pair) for ratio, pair in zip(ratios, ends, strict=True)])
    n = int(members[best].n)
    return {
        place: Impact(
            ratio=float(ratio),
            low=None if who.group == best else float(a),
            high=None if who.group == best or not np.isfinite(b) else float(b),
            at_most=None if who.group == best or not np.isfinite(most) else float(most),
            group=best,
            n=n,
        )
        for place, who, ratio, a, b, most in zip(places, whos, ratios, low, high, at_most, strict=True)
    }
