"""From measures to rows: adjusted p-values, verdicts, impact ratios, and influential groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ..inference import gap_intervals, gaps_of
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..planning import Wanted, cases_needed
from .adjust import benjamini_hochberg, holm
from .groups import Compared, favourable_rates
from .measure import Comparisons, Measured, kept_share, measure
from .row import Row
from .settings import ReferenceKind, Settings
from .verdict import Verdict

__all__ = ["judge"]

Floats = NDArray[np.float64]

# Unbounded scores are alike if their ratio lies between 4/5 and 5/4.
_LOG_MARGIN = log(1.25)
_SIGNS = {Verdict.HIGHER: 1.0, Verdict.LOWER: -1.0}
_ADJUST: dict[str, Callable[..., list[float]]] = {"holm": holm, "bh": benjamini_hochberg}
# If there are more groups than this, only the largest can be the most influential one.
_MOST_INFLUENTIAL = 200
_BLOCK = 500


def judge(measured: Sequence[Measured], how: Settings) -> tuple[Row, ...]:
    """Rows with adjusted p-values and verdicts, most important first."""
    adjusted = _adjusted(measured, how)
    verdicts = [_verdict(one, p, how) for one, p in zip(measured, adjusted, strict=True)]
    drivers = _drivers(measured, verdicts, how)
    impacts = _impacts(measured, how)
    needed = _needed(measured, verdicts, how)
    rows = [
        _row(one, p, verdict, drivers.get(i), impacts.get(i), needed.get(i), how)
        for i, (one, p, verdict) in enumerate(zip(measured, adjusted, verdicts, strict=True))
    ]
    return tuple(sorted(rows, key=_importance))


def _importance(row: Row) -> tuple[int, float, float, str, str, str]:
    """Verdict, certain gap, p-value, and then names, so that the order of the data does not matter."""
    p = row.p_adjusted if row.p_adjusted is not None else 2.0
    # Two groups that are each other's rest have the same gap up to rounding.
    return row.verdict.rank, -round(row.sure_gap, 9), round(p, 12), row.metric, row.by, row.group


def _adjusted(measured: Sequence[Measured], how: Settings) -> list[float | None]:
    """P-values adjusted per metric, or over the whole audit; two groups that are each other's rest count once."""
    p: list[float | None] = [one.pvalue for one in measured]
    if how.adjust == "none":
        return p
    for comparisons in _families(measured, how).values():
        firsts = [at[0] for at in comparisons.values()]
        # The two groups can have different p-values; the larger one is valid for both.
        values = [max(p[i] or 0.0 for i in at) for at in comparisons.values()]
        results = _ADJUST[how.adjust](values, [measured[i].reachable for i in firsts])
        for at, value in zip(comparisons.values(), results, strict=True):
            for i in at:
                p[i] = value
    return p


def _families(measured: Sequence[Measured], how: Settings) -> dict[str, dict[tuple[str, str, str], list[int]]]:
    """The comparisons that are adjusted for together, each with its rows: two if they are each other's rest."""
    families: dict[str, dict[tuple[str, str, str], list[int]]] = {}
    for i, one in enumerate(measured):
        if one.pvalue is not None:
            family = one.metric.key if how.family == "metric" else ""
            whose = (one.metric.key, one.who.by, "" if one.who.only_two else one.who.group)
            families.setdefault(family, {}).setdefault(whose, []).append(i)
    return families


def _needed(measured: Sequence[Measured], verdicts: Sequence[Verdict], how: Settings) -> dict[int, int | None]:
    """How many cases the comparisons need that have too few to tell.

    A p-value of at most alpha over the number of comparisons is enough for every adjustment, whatever the others are.
    """
    wanted: dict[int, Wanted] = {}
    for comparisons in _families(measured, how).values():
        level = how.alpha if how.adjust == "none" else how.alpha / len(comparisons)
        for i in (i for rows in comparisons.values() for i in rows):
            m, against = measured[i].metric, measured[i].who.against
            if verdicts[i] is Verdict.TOO_FEW and not m.is_distance:
                ratio = m.kind == "ratio"
                cells = np.array(against.cells, dtype=np.float64)
                wanted[i] = Wanted(m.base, cells, level, 1.25 if ratio else how.margin, ratio)
    return dict(zip(wanted, cases_needed(list(wanted.values()), mid_p=how.mid_p), strict=True))


def _verdict(one: Measured, p: float | None, how: Settings) -> Verdict:
    if one.who.is_reference:
        return Verdict.REFERENCE
    if one.reason is not None or p is None:
        return Verdict.UNDEFINED
    if p <= how.alpha:
        return Verdict.HIGHER if one.higher else Verdict.LOWER
    return Verdict.ALIKE if _within_margin(one, how) else Verdict.TOO_FEW


def _within_margin(one: Measured, how: Settings) -> bool:
    """Whether the whole interval of the gap lies within the margin."""
    if one.metric.comparisons:
        low, high, ratio = one.low, one.high, one.metric.kind == "ratio"
    elif one.metric.base.unbounded:
        low, high, ratio = one.ratio_low, one.ratio_high, True
    else:
        low, high, ratio = one.difference_low, one.difference_high, False
    if low is None or high is None:
        return False
    if ratio:
        return low > 0 and log(low) >= -_LOG_MARGIN and log(high) <= _LOG_MARGIN
    return low >= -how.margin and high <= how.margin


@dataclass(frozen=True, slots=True)
class _Driver:
    """A verdict that changes if the most influential other group is left out of the rest."""

    group: str
    verdict: Verdict
    without: Measured


def _drivers(measured: Sequence[Measured], verdicts: Sequence[Verdict], how: Settings) -> dict[int, _Driver]:
    """Verdicts against the rest that change without the other group that moves the rest's score most."""
    by_metric: dict[str, list[int]] = {}
    for i, one in enumerate(measured):
        many = len(one.who.peers) > 2
        if one.who.kind is ReferenceKind.REST and many and one.who.testable and not one.metric.is_distance:
            by_metric.setdefault(one.metric.key, []).append(i)
    kept: list[tuple[int, str]] = []
    tested: list[Measured] = []
    for rows in by_metric.values():
        m = measured[rows[0]].metric
        chosen = _most_influential(m, [measured[i].who for i in rows], [verdicts[i] for i in rows])
        named = [(i, name) for i, name in zip(rows, chosen, strict=True) if name is not None]
        if named:
            pairs = [_without(measured[i].who, name) for i, name in named]
            tested += measure(m, Comparisons.plain(pairs), how, gaps=False)
            kept += named
    # Adjusted over the same families as the verdicts.
    p = _adjusted(tested, how)
    changed: dict[str, list[int]] = {}
    for at, ((i, _), one, value) in enumerate(zip(kept, tested, p, strict=True)):
        if _changes(verdicts[i], measured[i], one, value, how.alpha):
            changed.setdefault(one.metric.key, []).append(at)
    drivers: dict[int, _Driver] = {}
    for places in changed.values():
        table = Comparisons.plain([tested[at].who for at in places])
        for at, one in zip(places, measure(tested[places[0]].metric, table, how), strict=True):
            i, name = kept[at]
            drivers[i] = _Driver(name, _verdict(one, p[at], how), one)
    return drivers


def _changes(verdict: Verdict, before: Measured, after: Measured, p: float | None, alpha: float) -> bool:
    """Whether a difference appears, disappears or changes direction."""
    if p is None or after.reason is not None or verdict is Verdict.UNDEFINED:
        return False
    return (p <= alpha) != verdict.differs or (verdict.differs and before.higher != after.higher)


def _most_influential(m: Metric, whos: Sequence[Compared], verdicts: Sequence[Verdict]) -> list[str | None]:
    """Per comparison, the other group whose removal moves the rest's score most.

    If the scores differ, only moves towards the group's score count.
    """
    chosen: list[str | None] = [None] * len(whos)
    for by, peers in {who.by: who.peers for who in whos}.items():
        members = sorted(peers.items(), key=lambda member: -member[1].n)[: _MOST_INFLUENTIAL + 1]
        names = [name for name, cm in members if cm.n]
        cells = np.array([cm.cells for _, cm in members if cm.n], dtype=np.float64)
        rows = [i for i, who in enumerate(whos) if who.by == by]
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


def _without(who: Compared, name: str) -> Compared:
    return Compared(who.by, who.group, who.cm, who.kind, who.reference, who.against - who.peers[name])


@dataclass(frozen=True, slots=True)
class _Impact:
    """The ratio of a selection rate to the highest rate among groups with enough cases."""

    ratio: float
    low: float | None
    high: float | None
    group: str
    n: int


def _impacts(measured: Sequence[Measured], how: Settings) -> dict[int, _Impact]:
    """The ratio of each group's favourable rate to the highest one among groups with enough cases."""
    m = find_metric("ppr" if how.favourable == "positive" else "pnr").base
    impacts: dict[int, _Impact] = {}
    columns: dict[str, list[int]] = {}
    for i, one in enumerate(measured):
        if one.metric.key == "ppr" and one.who.cm.n:
            columns.setdefault(one.who.by, []).append(i)
    for rows in columns.values():
        members = measured[rows[0]].who.peers
        rates = favourable_rates(members, how)
        if not rates or max(rates.values()) == 0:
            continue
        best = max(rates, key=lambda name: rates[name])
        mine = np.array([measured[i].who.cm.cells for i in rows], dtype=np.float64)
        theirs = np.broadcast_to(np.array(members[best].cells, dtype=np.float64), mine.shape)
        ratios = m.scores(mine) / rates[best]
        # The data chose the highest of several rates, so a group's interval holds for all of them at once.
        choices = np.array([max(1, len(rates) - (measured[i].who.group in rates)) for i in rows])
        low, high = np.empty(len(rows)), np.empty(len(rows))
        for k in np.unique(choices):
            at = choices == k
            level = 1 - (1 - how.level) / k
            low[at], high[at] = gap_intervals(gaps_of(m, mine[at], theirs[at], "ratio"), ratios[at], level)
        for i, ratio, a, b in zip(rows, ratios, low, high, strict=True):
            itself = measured[i].who.group == best
            low_, high_ = (None, None) if itself else (float(a), float(b))
            impacts[i] = _Impact(float(ratio), low_, high_, best, int(members[best].n))
    return impacts


def _row(
    one: Measured,
    p: float | None,
    verdict: Verdict,
    driver: _Driver | None,
    impact: _Impact | None,
    needed: int | None,
    how: Settings,
) -> Row:
    who, m = one.who, one.metric
    cells = who.cm.cells if who.labelled else (None,) * 4
    # Only a rate is compared with everybody; see `measure`.
    mixes = who.kind is ReferenceKind.ALL and m.base.is_rate and not m.comparisons
    kind = ReferenceKind.REST if who.kind is ReferenceKind.ALL and not mixes else who.kind
    reference = who.shown if mixes else who.against
    theirs = reference.cells if who.labelled else (None,) * 4
    smoothed = one.smoothed is not None
    by_split = isinstance(one.strength, Mapping)
    return Row(
        by=who.by,
        group=who.group,
        metric=m.key,
        verdict=verdict,
        n=int(who.cm.n),
        tp=_count(cells[0]),
        fn=_count(cells[1]),
        fp=_count(cells[2]),
        tn=_count(cells[3]),
        numerator=one.numerator,
        denominator=one.denominator,
        basis=one.basis,
        score=float(how.replace_undefined_by)
        if one.score is None and how.replace_undefined_by is not None
        else one.score,
        low=one.low,
        high=one.high,
        reason=one.reason,
        reference_kind=kind,
        reference=kind.value if kind in (ReferenceKind.REST, ReferenceKind.ALL) else who.reference,
        reference_n=int(reference.n),
        reference_tp=_count(theirs[0]),
        reference_fn=_count(theirs[1]),
        reference_fp=_count(theirs[2]),
        reference_tn=_count(theirs[3]),
        reference_score=one.reference_score,
        difference=one.difference,
        difference_low=one.difference_low,
        difference_high=one.difference_high,
        ratio=one.ratio,
        ratio_low=one.ratio_low,
        ratio_high=one.ratio_high,
        pvalue=one.pvalue,
        p_adjusted=p,
        test=one.test,
        percentile=one.percentile,
        p_undefined=one.p_undefined,
        needed=needed,
        smoothed=one.smoothed if smoothed else None,
        strength=_strength(one, "prev") if smoothed else None,
        strength_tpr=_strength(one, "tpr") if smoothed and by_split else None,
        strength_fpr=_strength(one, "fpr") if smoothed and by_split else None,
        shrinkage=kept_share(m, who, one.strength) if smoothed else None,
        impact_ratio=impact.ratio if impact else None,
        impact_low=impact.low if impact else None,
        impact_high=impact.high if impact else None,
        impact_group=impact.group if impact else None,
        impact_n=impact.n if impact else None,
        driver=driver.group if driver else None,
        without_verdict=driver.verdict if driver else None,
        without_difference=driver.without.difference if driver else None,
        without_low=driver.without.difference_low if driver else None,
        without_high=driver.without.difference_high if driver else None,
        sketch=one.sketch,
    )


def _strength(one: Measured, split: str) -> float:
    given = one.strength
    return float(given[split] if isinstance(given, Mapping) else given)


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)
