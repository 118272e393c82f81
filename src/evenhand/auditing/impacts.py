"""Impact ratios: rates of favourable predictions beside the highest of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inference import gap_intervals, melded_gaps
from ..metrics import metric as find_metric
from .comparisons import Comparison, favourable_rates
from .measures import Measures
from .rows import Impact
from .settings import Settings

__all__ = ["impacts_of"]


def impacts_of(measured: Measures, how: Settings, every: float) -> dict[int, Impact]:
    """The impact ratios of a measure of predicted positive rates, by the place of their comparison in it.

    ``every`` is the level at which a bound holds for the whole audit.
    """
    if measured.metric.key != "ppr":
        return {}
    columns: dict[Any, list[int]] = {}
    for i, who in enumerate(measured.comparisons):
        if who.is_of_counts and who.own.n and not who.strata:
            columns.setdefault((who.at, who.by), []).append(i)
    found: dict[int, Impact] = {}
    for places in columns.values():
        found |= _of_column(places, [measured.comparisons[i] for i in places], how, every)
    return found


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
    # The data chose the highest of several rates, so a group's interval holds for all of them at once.
    choices = np.array([max(1, len(rates) - (who.group in rates)) for who in whos])
    low, high, at_most = np.empty(len(whos)), np.empty(len(whos)), np.empty(len(whos))
    for k in np.unique(choices):
        at = choices == k
        gaps = melded_gaps(m, mine[at], theirs[at], "ratio")
        low[at], high[at] = gap_intervals(gaps, ratios[at], 1 - (1 - how.level) / k)
        at_most[at] = gap_intervals(gaps, ratios[at], 1 - (1 - every) / k)[1]
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
