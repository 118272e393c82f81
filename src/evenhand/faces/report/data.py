"""The rows of an audit as compact columns, from which the page's script draws everything.

A cell of the page is a group and a metric; columns hold one value per cell, group by group, with the metrics in the
order of the settings. Numbers are rounded to what is shown, texts that repeat are numbered, and a column whose values
are all equal is that value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...auditing import Audit, ReferenceKind, Row, Sketch, Tier, Verdict, meaning, needed_text, of_people, tier
from ...cells import CELLS
from ...inference import strength_text
from ...metrics import metric as find_metric
from .names import shown, told_apart

__all__ = ["Group", "grouped", "packed"]

_LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_LEVEL_OF = [_LEVELS[round(height * 63 / 99)] for height in range(100)]
_WIDEST = 1e6
_FOUR_FIFTHS = ("four-fifths", "may-be-below-four-fifths")
_VERDICTS, _TIERS = list(Verdict), list(Tier)


class Group:
    """A group with its rows by metric, in the order in which the audit mentions it first."""

    __slots__ = ("by", "first", "group", "name", "rows")

    def __init__(self, first: Row) -> None:
        self.by, self.group, self.first = first.by, first.group, first
        self.name = first.group
        self.rows: dict[str, Row] = {}


def grouped(audit: Audit) -> list[Group]:
    """The groups of an audit, most important first, with names that can be told apart."""
    groups: dict[tuple[str, str], Group] = {}
    for row in audit.rows:
        who = row.by, row.group
        if who not in groups:
            groups[who] = Group(row)
        groups[who].rows[row.metric] = row
        if groups[who].first.tp is None and row.tp is not None:
            # Selection rates may count rows without a label, whose cells are not known.
            groups[who].first = row
    for by in {one.by for one in groups.values()}:
        members = [one for one in groups.values() if one.by == by]
        for one, name in zip(members, told_apart(one.group for one in members), strict=True):
            one.name = name
    return list(groups.values())


def packed(audit: Audit, groups: Sequence[Group]) -> dict[str, Any]:
    """Everything that the page's script needs."""
    s = audit.settings
    keys = list(s["metrics"])
    columns = list(dict.fromkeys(one.by for one in groups))
    names = {(one.by, one.group): one.name for one in groups}
    strength = s["strength"] if isinstance(s["strength"], (int, float)) else None
    four = {(f.by, f.group): f for f in audit.findings if f.kind in _FOUR_FIFTHS}
    said = [four.get((one.by, one.group)) for one in groups]
    return {
        "margin": s["margin"],
        "level": f"{100 * audit.level:g} %",
        "adjusted": s["adjust"] != "none",
        "strength": strength,
        "verdicts": [{"words": v.value, "css": v.css, "sign": v.sign} for v in Verdict],
        "tiers": [{"words": t.value, "meaning": t.meaning.format(margin=s["margin"])} for t in Tier],
        "columns": [shown(column) for column in columns],
        "metrics": [_metric(key, s["favourable"]) for key in keys],
        "groups": {
            "by": _column([columns.index(one.by) for one in groups]),
            "name": [one.name for one in groups],
            "n": [one.first.n for one in groups],
            "place": _places(audit, groups),
            "own": [_cells(one.first, "") for one in groups] if s["labelled"] else None,
            "theirs": [_prior(one.first) for one in groups] if s["labelled"] else None,
            "reference": _column([_reference(one, names) for one in groups]),
            "reference_n": [_others(one.first) for one in groups],
            "four": _column([f and shown(f.sentence) for f in said]),
            "below": _column([f is not None and f.kind == "four-fifths" for f in said]),
        },
        "rows": _rows([one.rows.get(key) for one in groups for key in keys], s["margin"], names),
    }


def _places(audit: Audit, groups: Sequence[Group]) -> list[int]:
    """Where each group stands in its column: numbers by value, bins and categories as they are declared."""
    order = audit.record.get("order", {})
    places = {(by, group): i for by, members in order.items() for i, group in enumerate(members)}
    return [places.get((one.by, one.group), len(places)) for one in groups]


def _metric(key: str, favourable: Any) -> dict[str, Any]:
    """A metric: its names, what it means, and its formula as a tree with the sets of cells that must not be empty."""
    m = find_metric(key)
    words = meaning(m, favourable)
    base = m.base
    formula = {}
    if not m.comparisons:
        rate = base.quotient if base.is_rate else None
        formula = {
            "tree": base.expression,
            "needs": [[CELLS.index(c) for c in part.cells] for part in m.holes[0].needs],
            "whole": [CELLS.index(c) for c in rate.of.cells] if rate else None,
        }
    return {
        "key": key,
        "name": m.name,
        "formula": m.formula,
        "means": words.means,
        "good": words.good,
        "people": of_people(m),
        "cases": base.denominator.name if base.denominator else "cases",
        "base": base.key,
        "bounded": not base.unbounded,
        "ratio": m.kind == "ratio" or (not m.kind and base.unbounded),
        **formula,
    }


def _cells(row: Row, of: str) -> list[int]:
    return [getattr(row, f"{of}{c}") for c in CELLS]


def _prior(row: Row) -> list[int]:
    """The cells of the reference without the group itself, which it is smoothed with."""
    theirs = _cells(row, "reference_")
    if row.reference_kind is not ReferenceKind.ALL:
        return theirs
    return [a - b for a, b in zip(theirs, _cells(row, ""), strict=True)]


def _others(row: Row) -> int:
    return row.reference_n - (row.n if row.reference_kind is ReferenceKind.ALL else 0)


def _reference(one: Group, names: dict[tuple[str, str], str]) -> str:
    """Whom the group is compared with, in words; with "all", some scores are compared with all others."""
    kinds = {row.reference_kind for row in one.rows.values()}
    words = {ReferenceKind.ALL: "all cases", ReferenceKind.REST: "all others", ReferenceKind.MATRIX: "the given matrix"}
    return next((text for kind, text in words.items() if kind in kinds), None) or (
        names.get((one.by, one.first.reference)) or shown(one.first.reference)
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
    if value is None:
        return None
    size = abs(value)
    if size < 100 and (size >= 0.001 or size == 0):
        return round(value, 3)
    return float(f"{value:.2g}" if size < 0.001 else f"{value:.3g}")


def _difference(value: float | None) -> float | None:
    """A difference of equal scores is 0, whatever rounding left of it."""
    return 0.0 if value is not None and abs(value) < 1e-12 else _rounded(value)


def _rows(rows: list[Row | None], margin: float, names: dict[tuple[str, str], str]) -> dict[str, Any]:
    def each(read: Callable[[Row], Any]) -> list[Any]:
        return [None if row is None else read(row) for row in rows]

    def numbers(read: Callable[[Row], float | None]) -> Any:
        return _column([None if row is None else _rounded(read(row)) for row in rows])

    gaps = [None if row is None else _gap(row) for row in rows]
    sketches = each(_sketch)
    return {
        "verdict": _column(each(lambda row: _VERDICTS.index(row.verdict))),
        "tier": _column(each(lambda row: None if (t := tier(row, margin)) is None else _TIERS.index(t))),
        "score": numbers(lambda row: row.score),
        "low": numbers(lambda row: row.low),
        "high": numbers(lambda row: row.high),
        "reference": numbers(lambda row: row.reference_score),
        "gap": _column([None if gap is None else _difference(gap[0]) for gap in gaps]),
        "gap_low": _column([None if gap is None else _rounded(gap[1]) for gap in gaps]),
        "gap_high": _column([None if gap is None else _rounded(gap[2]) for gap in gaps]),
        "p": numbers(lambda row: row.pvalue),
        "q": numbers(lambda row: row.p_adjusted),
        "test": _numbered(each(lambda row: row.test)),
        "percentile": _column(each(lambda row: row.percentile and float(f"{100 * row.percentile:.3g}"))),
        "empty": _column(each(_empty)),
        "smoothed": numbers(lambda row: row.smoothed),
        "strength": _numbered(each(_strength)),
        "kept": _column(each(lambda row: None if row.shrinkage is None else int(f"{100 * row.shrinkage:.0f}"))),
        "counted": _column(each(lambda row: row.numerator if row.denominator == row.basis else None)),
        "basis": _column(each(lambda row: row.basis)),
        "reason": _numbered(each(lambda row: row.reason)),
        "everybody": _column(each(lambda row: row.reference_kind is ReferenceKind.ALL)),
        "needed": _numbered(each(lambda row: needed_text(row, margin) or None)),
        "driver": _numbered(each(lambda row: _driver(row, names))),
        "then": _column(each(lambda row: row.without_verdict and _VERDICTS.index(row.without_verdict))),
        "without": numbers(lambda row: row.without_difference),
        "sketch": _column([s and "".join([_LEVEL_OF[height] for height in s.heights]) for s in sketches]),
        "of_gap": _column([s and s.of == "gap" for s in sketches]),
        "sketch_low": _column([s and _rounded(s.low) for s in sketches]),
        "sketch_high": _column([s and _rounded(s.high) for s in sketches]),
        "observed": _column(each(_observed)),
        "sketch_at": _column([s and _share(s) for s in sketches]),
    }


def _gap(row: Row) -> tuple[float | None, float | None, float | None]:
    """The gap and its interval: the score of a metric of two groups, a ratio of an unbounded score, or a difference."""
    if row.reference_score is None and row.difference is None:
        return (row.score, row.low, row.high) if find_metric(row.metric).comparisons else (None, None, None)
    if row.ratio_low is not None:
        return row.ratio, row.ratio_low, row.ratio_high
    return row.difference, row.difference_low, row.difference_high


def _empty(row: Row) -> float | None:
    """How probable it was that the group's own score is undefined, in per cent."""
    return float(f"{100 * row.p_undefined:.3g}") if row.p_undefined and row.lacks_own_score else None


def _strength(row: Row) -> str | None:
    if row.smoothed is None or row.strength is None:
        return None
    if row.strength_tpr is None or row.strength_fpr is None:
        return strength_text(row.strength)
    return strength_text({"prev": row.strength, "tpr": row.strength_tpr, "fpr": row.strength_fpr})


def _driver(row: Row, names: dict[tuple[str, str], str]) -> str | None:
    return None if row.driver is None else names.get((row.by, row.driver)) or shown(row.driver)


def _sketch(row: Row) -> Sketch | None:
    """The distribution behind the p-value; none if its range is too wide to be drawn."""
    return None if row.sketch is None or row.sketch.high > _WIDEST else row.sketch


def _observed(row: Row) -> float | None:
    """What the mark of the null distribution stands for, if that is not the score: a metric of two groups is a gap."""
    compared = row.sketch is not None and row.sketch.of != "gap" and find_metric(row.metric).comparisons
    return _rounded(row.sketch.at) if row.sketch is not None and compared else None


def _share(sketch: Sketch) -> float:
    """Where the mark of a sketch stands between its ends."""
    return round(min(max((sketch.at - sketch.low) / (sketch.high - sketch.low), 0.0), 1.0), 3)
