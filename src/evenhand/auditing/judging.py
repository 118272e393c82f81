"""From measures to rows: verdicts, and everything about each comparison in one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..inference import Strength
from ..metrics import Metric
from ..planning import Wanted, cases_needed
from .cell_measures import kept_share
from .comparisons import Comparison
from .families import Families
from .impacts import impacts_of
from .influence import drivers_of
from .measures import Measures
from .rows import Driver, Estimate, Gap, Impact, Reference, Row, SmoothedScore, Test
from .settings import ReferenceKind, Settings
from .verdicts import Verdict

__all__ = ["LOG_MARGIN", "judged", "margin_of"]

Floats = NDArray[np.float64]

LOG_MARGIN = log(1.25)
"""Ratios are alike if they lie between 4/5 and 5/4."""


def judged(measures: Sequence[Measures], how: Settings) -> tuple[Row, ...]:
    """The rows of all measures with adjusted p-values and verdicts, most important first."""
    families = Families.of(measures, how)
    adjusted = families.adjusted(measures)
    starts = np.cumsum([0, *map(len, measures)])
    verdicts = [
        verdict
        for measured, start in zip(measures, starts[:-1], strict=True)
        for verdict in _verdicts(measured, adjusted[start : start + len(measured)], how)
    ]
    drivers = drivers_of(measures, verdicts, how, _verdicts, _gap)
    needed = _needed(measures, verdicts, families, how)
    rows: list[Row] = []
    for measured, start in zip(measures, starts[:-1].tolist(), strict=True):
        impacts = impacts_of(measured, how)
        for i in range(len(measured)):
            at = start + i
            p, verdict = float(adjusted[at]), verdicts[at]
            rows.append(_row(measured, i, p, verdict, drivers.get(at), impacts.get(i), needed.get(at), how))
    places = list(dict.fromkeys(who.at for measured in measures for who in measured.comparisons))
    rank = {place: i for i, place in enumerate(places)}
    return tuple(sorted(rows, key=lambda row: _importance(row, rank[tuple(row.at.items())])))


def _importance(row: Row, place: int) -> tuple[int, float, float, str, int, str, str]:
    p = row.test.p_adjusted if row.test.p_adjusted is not None else 2.0
    # Two groups that are each other's rest have the same gap up to rounding.
    return row.verdict.rank, -round(row.gap.at_least, 9), round(p, 12), row.metric, place, row.by, row.group


def _verdicts(measured: Measures, adjusted: Floats, how: Settings) -> list[Verdict]:
    """The verdicts on comparisons, from adjusted p-values and the intervals of the gaps."""
    return [_verdict(measured, i, p, how) for i, p in enumerate(adjusted.tolist())]


def _verdict(measured: Measures, i: int, p: float, how: Settings) -> Verdict:
    if measured.comparisons[i].is_reference:
        return Verdict.REFERENCE
    if measured.reason[i] is not None or isnan(p):
        return Verdict.UNDEFINED
    if p <= how.alpha:
        if measured.asks != "equal scores":
            return Verdict.UNLIKE
        return Verdict.HIGHER if measured.higher[i] else Verdict.LOWER
    gap = _gap(measured, i)
    ends, margin = gap.ends, margin_of(gap, measured.metric, how.margin)
    within = ends is not None and -margin <= ends[0] and ends[1] <= margin
    return Verdict.ALIKE if within else Verdict.TOO_FEW


def margin_of(gap: Gap, metric: Any, margin: float) -> float:
    """The gap that does not matter, on the scale of the gap's ends."""
    return LOG_MARGIN if gap.is_ratio else margin * float(getattr(metric, "margin_scale", 1.0))


def _needed(
    measures: Sequence[Measures], verdicts: Sequence[Verdict], families: Families, how: Settings
) -> dict[int, int | None]:
    """How many cases a score must rest on to find a gap of the margin, where there are too few to tell."""
    levels = families.levels()
    wanted: dict[int, Wanted] = {}
    start = 0
    for measured in measures:
        m = measured.metric
        for i, who in enumerate(measured.comparisons):
            at = start + i
            plans = isinstance(m, Metric) and not m.is_distance and isinstance(who.own, ConfusionMatrix)
            if plans and at in levels and verdicts[at] is Verdict.TOO_FEW and not who.strata:
                ratio = m.kind == "ratio"
                cells = np.array(who.against.cells, dtype=np.float64)
                wanted[at] = Wanted(m.base, cells, levels[at], 1.25 if ratio else how.margin, ratio)
        start += len(measured)
    return dict(zip(wanted, cases_needed(list(wanted.values()), mid_p=how.mid_p), strict=True))


def _row(
    measured: Measures,
    i: int,
    p: float,
    verdict: Verdict,
    driver: Driver | None,
    impact: Impact | None,
    needed: int | None,
    how: Settings,
) -> Row:
    who, m = measured.comparisons[i], measured.metric
    score = _number(measured.score[i])
    if score is None and how.replace_undefined_by is not None:
        score = float(how.replace_undefined_by)
    return Row(
        at=dict(who.at),
        by=who.by,
        group=who.group,
        metric=m.key,
        verdict=verdict,
        reason=measured.reason[i],
        cells=_cells(who.own, who),
        n=int(who.own.n),
        rests_on=measured.rests_on[i],
        score=Estimate(
            value=score,
            low=_number(measured.low[i]),
            high=_number(measured.high[i]),
            pvalue=_number(measured.changes[i]),
        ),
        reference=_reference(measured, i),
        gap=_gap(measured, i),
        test=_test(measured, i, p),
        percentile=_number(measured.percentile[i]),
        p_undefined=_number(measured.p_undefined[i]),
        needed=needed,
        smoothed=_smoothed(measured, i),
        impact=impact,
        driver=driver,
        strata=measured.strata[i],
        sketch=measured.sketches[i],
    )


def _cells(part: Any, who: Comparison) -> tuple[int, int, int, int] | None:
    """The cells of a part as whole numbers, if it has them and labels mean something."""
    if not who.labelled or not hasattr(part, "cells"):
        return None
    tp, fn, fp, tn = (int(cell) for cell in part.cells)
    return tp, fn, fp, tn


def _reference(measured: Measures, i: int) -> Reference:
    """What the group is compared with; only rates are compared with everybody, see `measures`."""
    who, m = measured.comparisons[i], measured.metric
    mixes = who.kind is ReferenceKind.ALL and (not isinstance(m, Metric) or (m.base.is_rate and not m.comparisons))
    kind = ReferenceKind.REST if who.kind is ReferenceKind.ALL and not mixes else who.kind
    part = who.shown if mixes else who.against
    return Reference(
        kind=kind,
        name=kind.value if kind in (ReferenceKind.REST, ReferenceKind.ALL) else who.reference,
        n=int(part.n),
        cells=_cells(part, who),
        score=_number(measured.reference[i]),
    )


def _gap(measured: Measures, i: int) -> Gap:
    return Gap(
        kind=measured.kind,
        value=_number(measured.gap[i]),
        low=_number(measured.gap_low[i]),
        high=_number(measured.gap_high[i]),
        difference=_number(measured.difference[i]),
        ratio=_number(measured.ratio[i]),
    )


def _test(measured: Measures, i: int, p: float) -> Test:
    return Test(
        pvalue=_number(measured.pvalue[i]),
        p_adjusted=_number(p),
        method=measured.method[i],
        asks=measured.asks,
        error=_number(measured.error[i]),
    )


def _smoothed(measured: Measures, i: int) -> SmoothedScore | None:
    score, who = _number(measured.smoothed[i]), measured.comparisons[i]
    if score is None or who.is_reference:
        return None
    strength: Strength = measured.strengths[i]
    return SmoothedScore(
        score=score,
        strength={k: float(v) for k, v in strength.items()} if isinstance(strength, Mapping) else float(strength),
        kept=kept_share(measured.metric, who, strength),
    )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
