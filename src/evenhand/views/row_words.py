"""The parts of a row in words: score, interval, gap, p-value, smoothed score, and the table of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from ..auditing import Row, Verdict, lookup_metric, turning_text
from ..metrics import Metric
from ..wording import counts_text, decided, number, percent, pvalue, several, span_text
from .document import Cell, Column, Table

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
    return row is not None and row.score.value is not None and isfinite(row.score.value) and not row.lacks_own_score


def cases_text(row: Row) -> str:
    """How many cases the score rests on: ``1 case``, ``998 and 2 cases``."""
    return f"{counts_text(row.rests_on)} {'case' if row.rests_on == (1,) else 'cases'}"


def is_gap(row: Row) -> bool:
    """Whether the score is a gap itself, of a metric of two groups."""
    m = lookup_metric(row.metric)
    return isinstance(m, Metric) and bool(m.comparisons)


def gap_text(row: Row) -> str:
    """The gap: a difference with its sign, or a factor; nothing if there is none, or if the score is a gap itself."""
    value = row.gap.value
    if value is None or is_gap(row):
        return ""
    return f"x{number(value)}" if row.gap.is_ratio else _signed(value)


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 100 else number(value)


def smoothing_text(row: Row) -> str:
    """A smoothed score with its strength, and the share of a gap that remains."""
    if row.smoothed is None:
        return ""
    keeps = "" if row.smoothed.kept is None else f", keeps {row.smoothed.kept:.0%}"
    return f"{number(row.smoothed.score)} (λ {strength_text(row)}{keeps})"


def strength_text(row: Row) -> str:
    """The strength of smoothing, one for each split if there are several."""
    strength = row.smoothed.strength if row.smoothed else 0.0
    if isinstance(strength, Mapping):
        return ", ".join(f"{split} {value:.3g}" for split, value in strength.items())
    return f"{strength:g}"


def score_cell(row: Row | None, alpha: float) -> Cell:
    """A score with the mark of its verdict; one that is undefined is called so."""
    if row is None:
        return Cell()
    p = "" if row.test.p_adjusted is None else f"adjusted p {pvalue(row.test.p_adjusted, alpha)}"
    theirs = "" if row.reference.score is None else f"reference {number(row.reference.score)}"
    beside = span_text(row.score.low, row.score.high) or "; ".join(part for part in (theirs, p) if part)
    gap, span = gap_text(row), span_text(row.gap.low, row.gap.high)
    parts = [
        str(row.verdict),
        f"rests on {cases_text(row)}",
        row.reason or "",
        theirs,
        f"gap {gap}" if gap else "",
        f"interval {span}" if span else "",
        p,
        str(row.driver or ""),
    ]
    return Cell(
        number(row.score.value) if has_score(row) else _range(row) if row.reason is None else "undefined",
        row.verdict,
        row.driver is not None,
        row.reason or beside,
        "; ".join(part for part in parts if part),
    )


def _end(value: float) -> str:
    """An end of an interval, with three decimals unless it is large."""
    return decided(value, [0.0], lambda more: f"{value + 0.0:.{3 + more}f}") if abs(value) < 100 else number(value)


def _p(value: float | None, alpha: float) -> str:
    """A p-value without the blanks and zeros that a table has no room for."""
    return "-" if value is None else pvalue(value, alpha).removeprefix("= ").removeprefix("0").replace("< 0", "<")


def _score(row: Row) -> Cell:
    if row.score.value is None:
        return Cell(row.reason or _range(row) or "-", long=row.reason is not None)
    return Cell(_own(row, row.score.value))


def _range(row: Row) -> str:
    """Where a score lies that rounded counts do not give."""
    ends = row.score.low, row.score.high
    return "" if None in ends else "–".join(f"{end:.2f}" for end in ends)


def _own(row: Row, value: float) -> str:
    """A score, or its change between two models."""
    return _signed(value) if "model" in row.at else number(value)


def _beside_reason(read: Callable[[Row], str]) -> Callable[[Row], Cell]:
    """A cell that is empty if a reason stands in place of the gap and its test."""
    return lambda row: Cell() if row.reason else Cell(read(row))


def _versus(row: Row) -> Cell:
    if row.score.value is None and row.reason:
        return Cell()
    return Cell("-" if row.reference.score is None else _own(row, row.reference.score))


def _gap(row: Row) -> Cell:
    if row.reason:
        return Cell() if row.score.value is None else Cell(row.reason, long=True)
    return Cell(gap_text(row).removeprefix("x" if row.gap.kind == "odds ratio" else "") or "-")


def _ends(row: Row) -> str:
    low, high = row.gap.low, row.gap.high
    if low is None and high is None:
        return "-"
    return f"{'-∞' if low is None else _end(low)} {'∞' if high is None else _end(high)}"


def unknown_text(row: Row, settings: Mapping[str, Any]) -> str | None:
    """What cases without a group could change, in words."""
    unknown = row.unknown
    if unknown is None or unknown.difference_low is None or not unknown.n:
        return None
    ratio = row.gap.is_ratio
    ends = (unknown.ratio_low, unknown.ratio_high) if ratio else (unknown.difference_low, unknown.difference_high)
    likely = span_text(unknown.likely_low, unknown.likely_high)
    gap = f"Over all ways to assign them, the {'ratio' if ratio else 'gap'} could be {span_text(*ends)}"
    said = (
        turning_text(row, settings) or f"The {row.by} of {several(unknown.n, 'case')} that could count here is unknown."
    )
    return f"{said} {gap}" + (f", most likely {likely}." if likely else ".")


def _strata(row: Row) -> Cell:
    if row.strata is None:
        return Cell()
    silent = f" {row.strata.silent:,} –" if row.strata.silent else ""
    return Cell(f"{row.strata.higher:,} ▲ {row.strata.lower:,} ▼{silent}")


def _crude(row: Row) -> Cell:
    return Cell("-" if row.strata is None else number(row.strata.crude_odds_ratio))


def _crude_p(row: Row, alpha: float) -> Cell:
    return Cell("-" if row.strata is None else _p(row.strata.crude_pvalue, alpha))


def _adjusted(row: Row) -> float | None:
    """The adjusted p-value of a row that was tested."""
    return None if row.test.method is None else row.test.p_adjusted


def _left(rows: Sequence[Row]) -> str:
    return f"… and {several(len(rows), 'more row')}: {tally_text(rows)}"


def row_table(caption: str, rows: Sequence[Row], names: Mapping[Any, str], settings: Mapping[str, Any]) -> Table:
    """Everything about each row on a line, most important first.

    Changes between models are scores whose own p-value counts; rates pooled over strata have an odds ratio.
    """
    changes = any("model" in row.at for row in rows)
    pooled = any(row.strata is not None for row in rows)
    alpha = settings["alpha"]
    gap = "gap change" if changes else "odds ratio" if pooled else "gap"
    found = [
        Column("group", lambda row: Cell(names[row.by, row.group]), "name"),
        Column("metric", lambda row: Cell(row.metric), "key"),
        Column("n", lambda row: Cell(f"{row.n:,}"), extra=True),
        Column("rests on", lambda row: Cell(counts_text(row.rests_on)), folds=3),
        Column("change" if changes else "score", _score, gives_way=3 if pooled else 0),
        Column("its interval", lambda row: Cell(span_text(row.score.low, row.score.high)), extra=True),
        Column("its p", lambda row: Cell(_p(row.score.pvalue, alpha)), gives_way=6),
        Column("versus", _versus, gives_way=2),
        Column(gap, _gap),
        Column(f"{percent(settings['confidence_level'])} interval", _beside_reason(_ends), gives_way=7),
        Column("p unadjusted", _beside_reason(lambda row: _p(row.test.pvalue, alpha)), extra=True),
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
