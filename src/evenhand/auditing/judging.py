"""From measures to rows: verdicts, and everything about each comparison in one record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, exp, isnan, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..inference import Strength
from ..metrics import Metric
from ..planning import Wanted, cases_needed
from .asked import described
from .cell_measures import kept_share
from .comparisons import Comparison
from .families import Families
from .impacts import impacts_of
from .influence import drivers_of
from .measures import Measures
from .rows import Driver, Estimate, Gap, Impact, Reference, Row, SmoothedScore, Test, in_few_digits
from .settings import ReferenceKind, Settings
from .unknowns import unknowns_of
from .verdicts import Verdict

__all__ = ["LOG_MARGIN", "judged", "margin_of", "margins_text"]

Floats = NDArray[np.float64]

_LARGEST_LOG = 690.0
LOG_MARGIN = log(1.25)
"""Ratios are alike if they lie between 4/5 and 5/4."""


def judged(measures: Sequence[Measures], how: Settings) -> tuple[Row, ...]:
    """The rows of all measures with adjusted p-values and verdicts, most important first."""
    families = Families.of(measures, how)
    adjusted = families.adjusted(measures)
    # What is claimed of gaps holds for everything that could have been claimed, whatever the outcomes are.
    every = 1 - how.alpha / max(1, claims_of(measures, how))
    starts = np.cumsum([0, *map(len, measures)])
    parts = [adjusted[start : start + len(one)] for one, start in zip(measures, starts[:-1], strict=True)]
    each = [_verdicts(measured, part, how, every) for measured, part in zip(measures, parts, strict=True)]
    verdicts = [verdict for some in each for verdict in some]
    drivers = drivers_of(measures, verdicts, how, partial(_verdicts, how=how, every=every), _gap)
    needed = _needed(measures, verdicts, families, how)
    rows: list[Row] = []
    for measured, start, own in zip(measures, starts[:-1].tolist(), each, strict=True):
        impacts = impacts_of(measured, how, every)
        unknown = unknowns_of(measured, own, adjusted[start : start + len(measured)], how)
        sizes = _sizes(measured, own, every, how)
        for i in range(len(measured)):
            at = start + i
            p, gap = float(adjusted[at]), replace(_gap(measured, i), **sizes.get(i, {}))
            row = _row(measured, i, p, own[i], gap, drivers.get(at), impacts.get(i), needed.get(at), how)
            row = replace(row, unknown=unknown.get(i))
            rows.append(row if how.rule is None else in_few_digits(row))
    places = list(dict.fromkeys(who.at for measured in measures for who in measured.comparisons))
    rank = {place: i for i, place in enumerate(places)}
    return tuple(sorted(rows, key=lambda row: _importance(row, rank[tuple(row.at.items())])))


def _importance(row: Row, place: int) -> tuple[int, float, float, str, int, str, str]:
    p = row.test.p_adjusted if row.test.p_adjusted is not None else 2.0
    # Two groups that are each other's rest have the same gap up to rounding.
    return row.verdict.rank, -round(row.gap.beyond, 9), round(p, 12), row.metric, place, row.by, row.group


def claims_of(measures: Sequence[Measures], how: Settings) -> int:
    """The number of gaps and impact ratios of which something could be claimed; it does not depend on outcomes.

    Two groups that are each other's rest have one gap.
    """
    gaps = {
        (measured.metric.key, who.at, who.by, "" if who.only_two else who.group)
        for measured in measures
        for who in measured.comparisons
        if not who.is_reference
    }
    selections = [one for one in measures if one.metric.key == "ppr" and how.favourable is not None]
    of_counts = [who for one in selections for who in one.comparisons if who.is_of_counts]
    return len(gaps) + len(of_counts)


def _sizes(measured: Measures, verdicts: Sequence[Verdict], level: float, how: Settings) -> dict[int, dict[str, Any]]:
    """What is left of the gaps that were found, at the level of the whole audit: at least, and at most."""
    rows = [i for i, verdict in enumerate(verdicts) if verdict in (Verdict.HIGHER, Verdict.LOWER)]
    if not rows:
        return {}
    ratio = measured.kind != "difference"
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.column_stack(measured.bounded(rows, level, how.level))
        ends = np.log(np.maximum(ends, 0.0)) if ratio else ends
    sign = np.where(measured.higher[rows], 1.0, -1.0)
    nearest, farthest = (ends * sign[:, None]).min(axis=1).tolist(), np.abs(ends).max(axis=1).tolist()

    def named(size: float) -> float:
        return exp(min(size, _LARGEST_LOG)) if ratio else size

    return {
        i: {"at_least": named(near) if near > 0 else None, "at_most": named(far) if np.isfinite(far) else None}
        for i, near, far in zip(rows, nearest, farthest, strict=True)
    }


def _verdicts(measured: Measures, adjusted: Floats, how: Settings, every: float) -> list[Verdict]:
    """The verdicts on comparisons, from adjusted p-values and, if no difference was found, what gaps are possible."""
    verdicts = [_verdict(measured, i, p, how) for i, p in enumerate(adjusted.tolist())]
    few = [i for i, verdict in enumerate(verdicts) if verdict is Verdict.TOO_FEW]
    # Melded intervals are the wider ones.
    open_ = [i for i in few if _is_within(_gap(measured, i), measured, how)]
    level = how.level if how.family == "metric" else 1 - (1 - how.level) / how.alpha * (1 - every)
    low, high = measured.bounded(open_, level, how.level) if open_ else (np.empty(0), np.empty(0))
    for i, a, b in zip(open_, low.tolist(), high.tolist(), strict=True):
        if _is_within(Gap(kind=measured.kind, low=_number(a), high=_number(b)), measured, how):
            verdicts[i] = Verdict.ALIKE
    return verdicts


def _is_within(gap: Gap, measured: Measures, how: Settings) -> bool:
    """Whether the whole interval of a gap lies within the margin."""
    margin = margin_of(gap, measured.metric, how.margin)
    return gap.ends is not None and -margin <= gap.ends[0] and gap.ends[1] <= margin


def _verdict(measured: Measures, i: int, p: float, how: Settings) -> Verdict:
    """The verdict from the p-value alone."""
    who = measured.comparisons[i]
    if who.is_reference:
        return Verdict.REFERENCE
    if measured.reason[i] is not None:
        return Verdict.UNDEFINED
    if who.is_chosen:
        return Verdict.NOT_TESTED
    if isnan(p):
        return Verdict.UNDEFINED
    if p > how.alpha:
        return Verdict.TOO_FEW
    if measured.asks != "equal scores":
        return Verdict.UNLIKE
    return Verdict.HIGHER if measured.higher[i] else Verdict.LOWER


def margin_of(gap: Gap, metric: Any, margin: float) -> float:
    """The gap that does not matter, on the scale of the gap's ends."""
    return LOG_MARGIN if gap.is_ratio else margin * _scale(metric)


def _scale(metric: Any) -> float:
    return float(getattr(metric, "margin_scale", 1.0))


def margins_text(rows: Iterable[Row], margin: float) -> str:
    """The gaps that do not matter, in words, of the scores in these rows."""
    kinds = {(row.gap.is_ratio, row.metric if (m := described(row.metric)) and _scale(m) != 1 else "") for row in rows}
    apart = [f"{key}: ±{margin * _scale(described(key)):g}" for _, key in sorted(kinds) if key]
    apart += ["ratios: 0.8 to 1.25"] if any(ratio for ratio, _ in kinds) else []
    return f"±{margin:g}" + (f" ({'; '.join(apart)})" if apart else "")


def _needed(
    measures: Sequence[Measures], verdicts: Sequence[Verdict], families: Families, how: Settings
) -> dict[int, int | None]:
    """How many cases a score must rest on to find a gap of the margin, where there are too few to tell."""
    # Power is that of exact counts.
    if how.rule is not None:
        return {}
    levels = families.levels()
    wanted: dict[int, Wanted] = {}
    worth: dict[int, tuple[float, float]] = {}
    start = 0
    for measured in measures:
        m = measured.metric
        for i, who in enumerate(measured.comparisons):
            at = start + i
            plans = isinstance(m, Metric) and not m.is_distance and isinstance(who.own, ConfusionMatrix)
            if plans and at in levels and verdicts[at] is Verdict.TOO_FEW and not who.strata:
                ratio = m.kind == "ratio"
                cells = np.array(who.against.cells, dtype=np.float64)
                worth[at] = (1.0, 1.0) if (one := measured.effects[i]) is None else (one.group, one.reference)
                # Planning takes whole counts.
                theirs = np.round(cells / worth[at][1])
                wanted[at] = Wanted(m.base, theirs, levels[at], 1.25 if ratio else how.margin, ratio)
        start += len(measured)
    found = cases_needed(list(wanted.values()), mid_p=how.mid_p)
    return {at: None if n is None else ceil(n * worth[at][0]) for at, n in zip(wanted, found, strict=True)}


def _row(
    measured: Measures,
    i: int,
    p: float,
    verdict: Verdict,
    gap: Gap,
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
            before=_number(measured.before[i]),
        ),
        reference=_reference(measured, i),
        gap=gap,
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
    """What the group is compared with; only rates are compared with everybody, see `cell_measures`."""
    who, m = measured.comparisons[i], measured.metric
    is_rate = not isinstance(m, Metric) or (m.base.is_rate and not m.comparisons and "model" not in dict(who.at))
    mixes = who.kind is ReferenceKind.ALL and is_rate
    kind = ReferenceKind.REST if who.kind is ReferenceKind.ALL and not mixes else who.kind
    part = who.shown if mixes else who.against
    return Reference(
        kind=kind,
        name=kind.value if kind in (ReferenceKind.REST, ReferenceKind.ALL) else who.reference,
        n=int(part.n),
        cells=_cells(part, who),
        score=_number(measured.reference[i]),
        before=_number(measured.reference_before[i]),
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
    effects = measured.effects[i]
    return Test(
        pvalue=_number(measured.pvalue[i]),
        p_adjusted=_number(p),
        method=measured.method[i],
        asks=measured.asks,
        error=_number(measured.error[i]),
        effective=None if effects is None else min(measured.rests_on[i]) / effects.group,
        correlation=None if effects is None else effects.correlation,
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
