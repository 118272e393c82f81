"""Verdicts that hang on one group of the rest: what they would be without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..metrics import Metric
from .cell_measures import CellTable, measure_cells
from .comparisons import Comparison
from .families import Families
from .measures import Measures
from .rows import Driver
from .settings import ReferenceKind, Settings
from .verdicts import Verdict

__all__ = ["drivers_of"]

Floats = NDArray[np.float64]
_SIGNS = {Verdict.HIGHER: 1.0, Verdict.LOWER: -1.0}
# If there are more groups than this, only the largest can be the most influential one.
_MOST_INFLUENTIAL = 200
_BLOCK = 500


def drivers_of(
    measures: Sequence[Measures], verdicts: Sequence[Verdict], how: Settings, judge: Any, gap: Any
) -> dict[int, Driver]:
    """The verdicts that change without the most influential group of the rest, by their place among all measures.

    ``judge`` gives verdicts of measures and adjusted p-values, ``gap`` the gap of one of the measures. P-values without
    the group are adjusted over the same families.
    """
    kept: list[tuple[int, int, str]] = []
    tested: list[Measures] = []
    start = 0
    for measured in measures:
        rows = [i for i, who in enumerate(measured.comparisons) if _may_hang(measured.metric, who)]
        own = [verdicts[start + i] for i in rows]
        chosen = _most_influential(measured.metric, [measured.comparisons[i] for i in rows], own) if rows else []
        named = [(i, name) for i, name in zip(rows, chosen, strict=True) if name is not None]
        if named:
            pairs = [_without(measured.comparisons[i], name) for i, name in named]
            tested.append(measure_cells(measured.metric, CellTable(pairs), how, gaps=False))
            kept += [(start + i, start, name) for i, name in named]
        start += len(measured)
    before = {place: (measured, i) for place, measured, i in _places(measures)}
    # The groups of a rest without one of them share no count, but are sharpened as they were with it.
    adjusted = Families.of(tested, how).adjusted(tested, given_pooled=True)
    changed: dict[str, list[int]] = {}
    for place, after, i in _places(tested):
        was = before[kept[place][0]]
        if _changes(verdicts[kept[place][0]], was, (after, i), float(adjusted[place]), how.alpha):
            changed.setdefault(after.metric.key, []).append(place)
    drivers: dict[int, Driver] = {}
    flat = [(after, i) for _, after, i in _places(tested)]
    for places in changed.values():
        again = measure_cells(
            flat[places[0]][0].metric,
            CellTable([flat[p][0].comparisons[flat[p][1]] for p in places]),
            how,
        )
        for j, (place, verdict) in enumerate(zip(places, judge(again, adjusted[places]), strict=True)):
            drivers[kept[place][0]] = Driver(group=kept[place][2], verdict=verdict, gap=gap(again, j))
    return drivers


def _places(measures: Sequence[Measures]) -> list[tuple[int, Measures, int]]:
    """Every comparison with its place among all measures."""
    found, start = [], 0
    for measured in measures:
        found += [(start + i, measured, i) for i in range(len(measured))]
        start += len(measured)
    return found


def _may_hang(metric: Any, who: Comparison) -> bool:
    """Whether a verdict can hang on one of several other groups: one that is of counts and against the rest."""
    counts = isinstance(metric, Metric) and isinstance(who.own, ConfusionMatrix) and not metric.is_distance
    counts = counts and not who.strata
    return counts and who.kind is ReferenceKind.REST and len(who.peers) > 2 and who.testable


def _changes(verdict: Verdict, was: tuple[Measures, int], now: tuple[Measures, int], p: float, alpha: float) -> bool:
    (before, i), (after, j) = was, now
    if isnan(p) or after.reason[j] is not None or verdict is Verdict.UNDEFINED:
        return False
    return (p <= alpha) != verdict.differs or (verdict.differs and bool(before.higher[i] != after.higher[j]))


def _most_influential(m: Metric, whos: Sequence[Comparison], verdicts: Sequence[Verdict]) -> list[str | None]:
    """The group of the rest that moves the rest's score most, against the verdict if there is one."""
    chosen: list[str | None] = [None] * len(whos)
    for column, peers in {(who.at, who.by): who.peers for who in whos}.items():
        members = sorted(peers.items(), key=lambda member: -member[1].n)[: _MOST_INFLUENTIAL + 1]
        names = [name for name, cm in members if cm.n]
        cells = np.array([cm.cells for _, cm in members if cm.n], dtype=np.float64)
        rows = [i for i, who in enumerate(whos) if (who.at, who.by) == column]
        for block in np.array_split(np.array(rows), len(rows) // _BLOCK + 1):
            rest = np.array([whos[i].against.cells for i in block], dtype=np.float64)[:, None]
            moved = m.base.scores(np.maximum(rest - cells, 0.0)) - m.base.scores(rest)
            way = np.array([[_SIGNS.get(verdicts[i], 0.0)] for i in block])
            moved = np.where(way == 0, np.abs(moved), way * moved)
            own = np.array([[whos[i].group == name for name in names] for i in block])
            moved = np.where(own, np.nan, moved)
            for i, row in zip(block.tolist(), moved, strict=True):
                if not np.isnan(row).all():
                    chosen[i] = names[int(np.nanargmax(row))]
    return chosen


def _without(who: Comparison, name: str) -> Comparison:
    return replace(who, against=who.against - who.peers[name], peers={}, only_two=False)
