"""The rows of an audit as compact columns, from which the page's script draws the map, findings and cards.

A cell of the page is a group and a metric; columns hold one value per cell, group by group, with the metrics in the
order of the settings. Numbers are rounded to what is shown, texts that repeat are numbered, and a column whose values
are all equal is that value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from ..auditing import (
    Audit,
    ReferenceKind,
    Row,
    Verdict,
    lookup_metric,
    shown_names,
)
from ..confusion import CELLS
from ..metrics import Metric
from ..wording import decided, legible, percent
from .expressions import COMPUTED_FORMULAS, expression
from .narrative import Tier, needed_text, tier
from .row_words import strength_text, unknown_text
from .words import Words

__all__ = ["Group", "grouped", "packed"]

_VERDICTS, _TIERS = list(Verdict), list(Tier)


@dataclass(slots=True)
class Group:
    """A group with its name and its rows by metric; the first row knows its cells, if any does."""

    name: str
    first: Row
    rows: dict[str, Row] = field(default_factory=dict)


def grouped(audit: Audit) -> dict[tuple[str, str], Group]:
    """The groups by column and group, most important first, with names that can be told apart within a column."""
    groups: dict[tuple[str, str], Group] = {}
    for row in audit.rows:
        one = groups.setdefault((row.by, row.group), Group(row.group, row))
        one.rows[row.metric] = row
        if one.first.cells is None and row.cells is not None:
            # Selection rates may count rows without a label, whose cells are not known.
            one.first = row
    for who, name in shown_names(audit.rows).items():
        groups[who].name = name
    return groups


def packed(audit: Audit, held: Mapping[tuple[str, str], Group]) -> dict[str, Any]:
    """Everything that the page's script needs of the groups that it holds."""
    s, groups = audit.settings, list(held.values())
    keys = [key for key in s["metrics"] if any(key in one.rows for one in groups)]
    columns = list(dict.fromkeys(one.first.by for one in groups))
    names = {who: one.name for who, one in held.items()}
    four = {(f.by, f.group): f for f in audit.findings if f.kind == "four-fifths"}
    said = [four.get((one.first.by, one.first.group)) for one in groups]
    has_cells = any(one.first.cells for one in groups)
    return {
        "margin": s["margin"],
        "protected": s["protect"] is not None,
        "level": percent(s["confidence_level"]),
        "adjusted": s["adjust"] != "none",
        "strength": s["strength"] if isinstance(s["strength"], (int, float)) else None,
        "verdicts": [{"words": v.value, "css": v.css, "sign": v.sign} for v in Verdict],
        "tiers": [{"words": t.value, "meaning": t.meaning.format(margin=s["margin"])} for t in Tier],
        "columns": [legible(column) for column in columns],
        "metrics": [_metric(key, groups, Words.of(s)) for key in keys],
        "groups": {
            "by": _column([columns.index(one.first.by) for one in groups]),
            "name": [one.name for one in groups],
            "n": [one.first.n for one in groups],
            "place": _places(audit, groups),
            "own": [one.first.cells for one in groups] if has_cells else None,
            "theirs": [_prior(one.first) for one in groups] if has_cells else None,
            "reference": _column([_reference(one, names) for one in groups]),
            "reference_n": [_others(one.first) for one in groups],
            "four": _column([f and legible(f.sentence) for f in said]),
            "below": _column([f is not None and f.kind == "four-fifths" for f in said]),
        },
        "rows": _rows([one.rows.get(key) for one in groups for key in keys], s, names),
    }


def _places(audit: Audit, groups: Sequence[Group]) -> list[int]:
    """Where each group stands in its column: numbers by value, bins and categories as they are declared."""
    order = audit.provenance.get("order", {})
    places = {(by, group): i for by, members in order.items() for i, group in enumerate(members)}
    return [places.get((one.first.by, one.first.group), len(places)) for one in groups]


def _metric(key: str, groups: Sequence[Group], words: Words) -> dict[str, Any]:
    """A metric: its names, what it means, and its formula as a tree with the sets of cells that must not be empty."""
    m = lookup_metric(key)
    rows = [one.rows[key] for one in groups if key in one.rows]
    known: dict[str, Any] = {"compares": False, "people": False, "cases": ["cases"], "base": key, "bounded": True}
    if isinstance(m, Metric):
        base = m.base
        known |= {
            "compares": bool(m.comparisons),
            "people": m.is_base_rate,
            "cases": _cases(m, rows, words),
            "base": base.key,
            "bounded": not base.is_unbounded,
        }
        if not m.comparisons:
            known |= {
                "tree": expression(COMPUTED_FORMULAS.get(base.key, base.formula)),
                "needs": [[CELLS.index(c) for c in part.cells] for part in m.undefined_sets[0].needs],
                "whole": [CELLS.index(c) for c in base.denominators[0].cells] if base.is_rate else None,
            }
    return {
        "key": key,
        "name": m.name,
        "means": words.description(m),
        "ratio": any(row.is_ratio for row in rows),
        **known,
    }


def _cases(m: Metric, rows: Sequence[Row], words: Words) -> list[str]:
    """What the cases are that the score rests on, one name for each number; a score of K classes rests on all."""
    names = [words.part(part.name) for part in m.denominators]
    return names if all(len(row.denominators) == len(names) for row in rows) else [words.cases]


def _prior(row: Row) -> list[float] | None:
    """The cells of the reference without the group itself, which it is smoothed with."""
    if row.reference_cells is None:
        return None
    is_all = row.reference_kind == ReferenceKind.ALL
    return [b - a * is_all for a, b in zip(row.cells or (0,) * 4, row.reference_cells, strict=True)]


def _others(row: Row) -> int:
    return int(row.reference_n - (row.n if row.reference_kind == ReferenceKind.ALL else 0))


def _reference(one: Group, names: dict[tuple[str, str], str]) -> str:
    """Whom the group is compared with, in words; with "all", some scores are compared with all others."""
    kinds = {row.reference_kind for row in one.rows.values()}
    words = {ReferenceKind.ALL: "all cases", ReferenceKind.REST: "all others", ReferenceKind.MATRIX: "the given matrix"}
    return next((text for kind, text in words.items() if kind in kinds), None) or (
        names.get((one.first.by, one.first.reference)) or legible(one.first.reference)
    )


def _column(values: list[Any]) -> Any:
    """A column, or its value if there is only one."""
    return {"all": values[0]} if values and all(v == values[0] for v in values) else values


def _numbered(values: list[str | None]) -> dict[str, Any]:
    """Texts that repeat, once each, and which one stands where."""
    texts = [text for text in dict.fromkeys(values) if text is not None]
    places = {text: i for i, text in enumerate(texts)}
    return {"texts": texts, "at": _column([None if v is None else places[v] for v in values])}


def _rounded(value: float | None) -> float | None:
    """A number as it is shown: three decimals, or fewer significant digits of tiny and large ones."""
    if value is None or isnan(value):
        return None
    size = abs(value)
    if size < 100 and (size >= 0.001 or size == 0):
        return round(value, 3)
    return float(f"{value:.2g}" if size < 0.001 else f"{value:.3g}")


def _decided(p: float | None, alpha: float) -> float | None:
    """A p-value as it is shown, on its side of alpha."""
    shown = _rounded(p)
    if p is None or shown is None or p < 0.001 <= alpha:
        return shown
    return float(decided(p, [alpha], lambda more: f"{shown:g}" if not more else f"{p:.{3 + more}g}"))


def _gap(row: Row) -> float | None:
    """A difference of equal scores is 0, whatever rounding left of it."""
    return 0.0 if abs(row.gap) < 1e-12 else _rounded(row.gap)


def _rows(rows: list[Row | None], s: Mapping[str, Any], names: dict[tuple[str, str], str]) -> dict[str, Any]:
    margin, alpha = s["margin"], s["alpha"]

    def each(read: Callable[[Row], Any]) -> list[Any]:
        return [None if row is None else read(row) for row in rows]

    def numbers(read: Callable[[Row], float | None]) -> Any:
        return _column([None if row is None else _rounded(read(row)) for row in rows])

    def pvalues(read: Callable[[Row], float | None]) -> Any:
        return _column([None if row is None else _decided(read(row), alpha) for row in rows])

    return {
        "verdict": _column(each(lambda row: _VERDICTS.index(row.verdict))),
        "tier": _column(each(lambda row: None if (t := tier(row, margin)) is None else _TIERS.index(t))),
        "score": numbers(lambda row: row.score),
        "low": numbers(lambda row: row.low),
        "high": numbers(lambda row: row.high),
        "reference": numbers(lambda row: row.reference_score),
        "gap": _column(each(_gap)),
        "gap_low": numbers(lambda row: row.gap_low),
        "gap_high": numbers(lambda row: row.gap_high),
        "p": pvalues(lambda row: row.pvalue),
        "q": pvalues(lambda row: row.p_adjusted),
        "about": _numbered(each(_about_test)),
        "percentile": _column(each(lambda row: _percentage(row.percentile))),
        "empty": _column(each(_empty)),
        "smoothed": numbers(lambda row: row.smoothed),
        "strength": _numbered(each(lambda row: None if isnan(row.smoothed) else strength_text(row))),
        "kept": _column(each(_kept)),
        "counted": _column(each(_counted)),
        "basis": _column(each(lambda row: list(row.denominators))),
        "reason": _numbered(each(lambda row: row.reason)),
        "everybody": _column(each(lambda row: row.reference_kind == ReferenceKind.ALL)),
        "needed": _numbered(each(lambda row: needed_text(row, s) or None)),
        "unknown": _numbered(each(lambda row: unknown_text(row, s))),
        "driver": _numbered(each(lambda row: row.driver and (names.get((row.by, row.driver)) or legible(row.driver)))),
        "then": _column(each(lambda row: row.driver and _VERDICTS.index(row.driver_verdict))),
        "without": numbers(lambda row: nan if row.is_ratio else row.driver_gap),
    }


def _about_test(row: Row) -> str | None:
    """What a reader must know of a p-value that is not exact, or does not compare scores."""
    if row.method is None:
        return None
    if row.question == "same distribution":
        return "that groups are drawn alike"
    if row.method in ("mid-p", "effective counts"):
        return "approximate"
    return None if isnan(row.p_error) else "by permutation"


def _percentage(share: float) -> float | None:
    return None if isnan(share) else float(f"{100 * share:.3g}")


def _empty(row: Row) -> float | None:
    """How probable it was that the group's own score is undefined, in per cent."""
    return _percentage(row.p_undefined) if row.p_undefined > 0 and row.lacks_score else None


def _kept(row: Row) -> int | None:
    return None if isnan(row.shrinkage) else int(f"{100 * row.shrinkage:.0f}")


def _counted(row: Row) -> int | None:
    """How many of the cases that a rate rests on it counts; None for other scores."""
    m = lookup_metric(row.metric)
    is_rate = isinstance(m, Metric) and not m.comparisons and m.base.is_rate
    if isnan(row.score) or row.lacks_score or not is_rate:
        return None
    counted = row.score * row.denominators[0]
    return round(counted) if abs(counted - round(counted)) < 1e-6 * max(counted, 1.0) else None
