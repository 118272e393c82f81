"""The parts of a row in words: score, interval, gap, p-value, smoothed score, and the table of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Any

from ..auditing import Row, Verdict, lookup_metric
from ..inference import SPLITS
from ..metrics import Metric
from ..wording import counts_text, decided, legible, number, percent, pvalue, several, span_text
from .document import Cell, Column, Table
from .narrative import turning_text

__all__ = [
    "cases_text",
    "gap_text",
    "has_score",
    "is_gap",
    "row_table",
    "score_cell",
    "smoothing_text",
    "strength_text",
    "tallied",
    "tally_text",
]


def tallied(rows: Iterable[Row]) -> dict[Verdict, int]:
    """How many scores got each verdict; those that are the reference's own or unlike are left out if there are none."""
    counts = dict.fromkeys(Verdict, 0)
    for row in rows:
        counts[row.verdict] += 1
    return {v: n for v, n in counts.items() if n or v not in (Verdict.REFERENCE, Verdict.UNLIKE, Verdict.NOT_TESTED)}


def tally_text(rows: Iterable[Row]) -> str:
    """The verdicts that occur, in words."""
    return ", ".join(f"{n:,} {verdict}" for verdict, n in tallied(rows).items() if n)


def has_score(row: Row | None) -> bool:
    """Whether a row has a score of its own, rather than none or a number in place of an undefined one."""
    return row is not None and not isnan(row.score) and not row.lacks_score


def cases_text(row: Row) -> str:
    """How many cases the score rests on: ``1 case``, ``998 and 2 cases``."""
    return f"{counts_text(row.denominators)} {'case' if row.denominators == (1,) else 'cases'}"


def is_gap(row: Row) -> bool:
    """Whether the score is a gap itself, of a metric of two groups."""
    m = lookup_metric(row.metric)
    return isinstance(m, Metric) and bool(m.comparisons)


def gap_text(row: Row) -> str:
    """The gap: a difference with its sign, or a factor; nothing if there is none, or if the score is a gap itself."""
    if isnan(row.gap) or is_gap(row):
        return ""
    return f"x{number(row.gap)}" if row.is_ratio else _signed(row.gap)


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 100 else number(value)


def smoothing_text(row: Row) -> str:
    """A smoothed score with its strength, and the share of a gap that remains."""
    if isnan(row.smoothed):
        return ""
    keeps = "" if isnan(row.shrinkage) else f", keeps {row.shrinkage:.0%}"
    return f"{number(row.smoothed)} (λ {strength_text(row)}{keeps})"


def strength_text(row: Row) -> str:
    """The strength of smoothing, one for each split if there are several."""
    if not isnan(row.strength):
        return f"{row.strength:g}"
    return ", ".join(f"{split} {getattr(row, f'strength_{split}'):.3g}" for split in SPLITS)


def score_cell(row: Row | None, alpha: float) -> Cell:
    """A score with the mark of its verdict; one that is undefined is called so."""
    if row is None:
        return Cell()
    p = "" if isnan(row.p_adjusted) else f"adjusted p {pvalue(row.p_adjusted, alpha)}"
    theirs = "" if isnan(row.reference_score) else f"reference {number(row.reference_score)}"
    beside = span_text(row.low, row.high) or "; ".join(part for part in (theirs, p) if part)
    gap, span = gap_text(row), span_text(row.gap_low, row.gap_high)
    parts = [
        str(row.verdict),
        f"rests on {cases_text(row)}",
        row.reason or "",
        theirs,
        f"gap {gap}" if gap else "",
        f"interval {span}" if span else "",
        p,
        driver_text(row),
    ]
    return Cell(
        number(row.score) if has_score(row) else _range(row) if row.reason is None else "undefined",
        row.verdict,
        row.driver is not None,
        row.reason or beside,
        "; ".join(part for part in parts if part),
    )


def driver_text(row: Row) -> str:
    """The verdict without the group that it depends on."""
    return f"{row.driver_verdict} without {legible(row.driver)}" if row.driver else ""


def _end(value: float) -> str:
    """An end of an interval, with three decimals unless it is large."""
    return decided(value, [0.0], lambda more: f"{value + 0.0:.{3 + more}f}") if abs(value) < 100 else number(value)


def _p(value: float, alpha: float) -> str:
    """A p-value without the blanks and zeros that a table has no room for."""
    return "-" if isnan(value) else pvalue(value, alpha).removeprefix("= ").removeprefix("0").replace("< 0", "<")


def _score(row: Row) -> Cell:
    if isnan(row.score):
        return Cell(row.reason or _range(row) or "-", long=row.reason is not None)
    return Cell(_own(row, row.score))


def _range(row: Row) -> str:
    """Where a score lies that rounded counts do not give."""
    return "" if isnan(row.low + row.high) else f"{row.low:.2f}–{row.high:.2f}"


def _own(row: Row, value: float) -> str:
    """A score, or its change between two models."""
    return _signed(value) if "model" in row.at else number(value)


def _beside_reason(read: Callable[[Row], str]) -> Callable[[Row], Cell]:
    """A cell that is empty if a reason stands in place of the gap and its test."""
    return lambda row: Cell() if row.reason else Cell(read(row))


def _versus(row: Row) -> Cell:
    if isnan(row.score) and row.reason:
        return Cell()
    return Cell("-" if isnan(row.reference_score) else _own(row, row.reference_score))


def _gap(row: Row) -> Cell:
    if row.reason:
        return Cell() if isnan(row.score) else Cell(row.reason, long=True)
    return Cell(gap_text(row).removeprefix("x" if row.is_pooled else "") or "-")


def _ends(row: Row) -> str:
    low, high = row.gap_low, row.gap_high
    if isnan(low) and isnan(high):
        return "-"
    return f"{'-∞' if isnan(low) else _end(low)} {'∞' if isnan(high) else _end(high)}"


def unknown_text(row: Row, settings: Mapping[str, Any]) -> str | None:
    """What cases without a group could change, in words."""
    if isnan(row.unknown_difference_low) or not row.unknown_n > 0:
        return None
    ratio = row.is_ratio
    ends = (row.unknown_ratio_low, row.unknown_ratio_high)
    ends = ends if ratio else (row.unknown_difference_low, row.unknown_difference_high)
    gap = f"Over all ways to assign them, the {'ratio' if ratio else 'gap'} could be {span_text(*ends)}."
    cases = several(int(row.unknown_n), "case")
    said = turning_text(row, settings) or f"The {row.by} of {cases} that could count here is unknown."
    return f"{said} {gap}"


def _strata(row: Row) -> Cell:
    if not row.is_pooled:
        return Cell()
    silent = f" {row.strata_silent:,.0f} –" if row.strata_silent else ""
    return Cell(f"{row.strata_higher:,.0f} ▲ {row.strata_lower:,.0f} ▼{silent}")


def _crude(row: Row) -> Cell:
    return Cell(number(row.crude_odds_ratio) if row.is_pooled else "-")


def _crude_p(row: Row, alpha: float) -> Cell:
    return Cell(_p(row.crude_pvalue, alpha) if row.is_pooled else "-")


def _adjusted(row: Row) -> float:
    """The adjusted p-value of a row that was tested."""
    return nan if row.method is None else float(row.p_adjusted)


def _left(rows: Sequence[Row]) -> str:
    return f"… and {several(len(rows), 'more row')}: {tally_text(rows)}"


def row_table(caption: str, rows: Sequence[Row], names: Mapping[Any, str], settings: Mapping[str, Any]) -> Table:
    """Everything about each row on a line, most important first.

    Changes between models are scores whose own p-value counts; rates pooled over strata have an odds ratio.
    """
    changes = any("model" in row.at for row in rows)
    pooled = any(row.is_pooled for row in rows)
    alpha = settings["alpha"]
    gap = "gap change" if changes else "odds ratio" if pooled else "gap"
    found = [
        Column("group", lambda row: Cell(names[row.by, row.group]), "name"),
        Column("metric", lambda row: Cell(row.metric), "key"),
        Column("n", lambda row: Cell(f"{row.n:,}"), extra=True),
        Column("rests on", lambda row: Cell(counts_text(row.denominators)), folds=3),
        Column("change" if changes else "score", _score, gives_way=3 if pooled else 0),
        Column("its interval", lambda row: Cell(span_text(row.low, row.high)), extra=True),
        Column("its p", lambda row: Cell(_p(row.change_pvalue, alpha)), gives_way=6),
        Column("versus", _versus, gives_way=2),
        Column(gap, _gap),
        Column(f"{percent(settings['confidence_level'])} interval", _beside_reason(_ends), gives_way=7),
        Column("p unadjusted", _beside_reason(lambda row: _p(row.pvalue, alpha)), extra=True),
        Column("p", _beside_reason(lambda row: _p(_adjusted(row), alpha)), gives_way=5),
        Column("smoothed", lambda row: Cell(smoothing_text(row)), "text", extra=True),
        Column("strata", _strata, gives_way=8),
        Column("crude", _crude, gives_way=4),
        Column("crude p", lambda row: _crude_p(row, alpha), extra=True),
        Column("verdict", lambda row: Cell(str(row.verdict), row.verdict, row.driver is not None), "text"),
    ]
    unused = {"smoothed"} if changes or pooled else set()
    unused |= (set() if changes else {"its p"}) | (set() if pooled else {"strata", "crude", "crude p"})
    main = sum(row.differs for row in rows)
    return Table(caption, tuple(one for one in found if one.title not in unused), rows, _left, main=main)
