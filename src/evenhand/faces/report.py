"""An audit as a self-contained HTML page, which shows only what the audit contains.

Everything is inline and nothing is fetched, which a strict content security policy enforces. The template engine
escapes all text from data. Without JavaScript the page shows everything; with it, readers can filter and sort the
scores and change the strength of smoothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from typing import Any

import numpy as np

from ..auditing import Audit, ReferenceKind, Row, Sketch, Verdict, labels, number, several
from ..cells import CELLS
from ..errors import MissingExtra, printable
from ..metrics import metric as find_metric
from .tables import adjustment, smoothing_text

__all__ = ["as_page"]

_LEFT, _WIDTH, _LINE = 210, 480, 26


def as_page(audit: Audit) -> str:
    """The whole page."""
    metrics = [_Forest.of(audit, key) for key in audit.settings["metrics"]]
    return str(
        _template().render(
            audit=audit,
            settings=audit.settings,
            metrics=metrics,
            cards=list(_cards(audit)),
            left=_LEFT,
            width=_WIDTH,
            line=_LINE,
            style=_inline("report.css") + _verdict_style(),
            script=_inline("report.js"),
            data=_data(audit),
            verdicts=[(verdict, sum(row.verdict is verdict for row in audit.rows)) for verdict in Verdict],
            called=labels(audit.rows),
            against=_against(audit),
            adjusted=adjustment(audit),
            approximate=any(row.test == "posterior" for row in audit.rows),
        )
    )


@lru_cache(maxsize=1)
def _template() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None
    environment = Environment(
        loader=PackageLoader("evenhand.faces"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "shown": printable, "smoothing": smoothing_text, "setting": _setting}
    environment.globals |= {"several": several}
    return environment.get_template("report.html")


def _setting(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_setting(part)}" for name, part in value.items())
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)


def _inline(name: str) -> str:
    return (files("evenhand.faces") / "templates" / name).read_text("utf-8")


def _verdict_style() -> str:
    """The colours of the verdicts on light and dark backgrounds."""

    def rules(dark: bool) -> str:
        colours = [(v, v.dark if dark else v.colour) for v in Verdict]
        return "".join(
            f".{v.css}{{stroke:{colour}}}" + (f".mark.{v.css}{{fill:{colour}}}" if v.filled else "")
            for v, colour in colours
        )

    return f"{rules(False)}@media (prefers-color-scheme: dark){{{rules(True)}}}"


def _against(audit: Audit) -> str:
    """What the groups are compared with, in words."""
    kinds = {(row.reference_kind, row.reference) for row in audit.rows}
    words = {ReferenceKind.REST: "all cases outside it", ReferenceKind.ALL: "all cases"}
    said = sorted(
        {words.get(kind, f"the group {name}" if kind is ReferenceKind.GROUP else name) for kind, name in kinds}
    )
    return " or ".join(said)


@dataclass(frozen=True, slots=True)
class _Forest:
    """A forest plot: the rows of a metric, and their scale."""

    key: str
    name: str
    formula: str
    rows: list[tuple[int, Row]]
    low: float
    high: float

    @classmethod
    def of(cls, audit: Audit, key: str) -> _Forest:
        m = find_metric(key)
        rows = [(i, row) for i, row in enumerate(audit.rows) if row.metric == key]
        low, high = m.range
        if not (isfinite(low) and isfinite(high)):
            places = [(row.score, row.reference_score, row.smoothed, row.high) for _, row in rows]
            seen = [v for place in places for v in place if v is not None]
            low, high = min([0.0, *seen]), max([1.0, *seen]) * 1.05
        return cls(key, m.name, m.formula, rows, low, high)

    def x(self, value: float) -> float:
        """The horizontal position of a score."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_LEFT + 8 + share * (_WIDTH - 16), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and texts of the ticks."""
        return [(self.x(v), f"{v:g}") for v in np.linspace(self.low, self.high, 6).round(3)]


@dataclass(frozen=True, slots=True)
class _Card:
    """A group: its matrix, and one row per metric with the distribution behind its p-value."""

    by: str
    group: str
    first: Row
    label: str
    rows: list[tuple[int, Row, _Bars | None, str]]


@dataclass(frozen=True, slots=True)
class _Bars:
    """A sketch as the path of its bars, 120 wide and 30 high, with the position of the observed score or of no gap."""

    path: str
    at: float
    words: str


def _cards(audit: Audit) -> Iterable[_Card]:
    groups: dict[tuple[str, str], list[tuple[int, Row]]] = {}
    for i, row in enumerate(audit.rows):
        groups.setdefault((row.by, row.group), []).append((i, row))
    order, called = {key: i for i, key in enumerate(audit.settings["metrics"])}, labels(audit.rows)
    for (by, group), rows in groups.items():
        ordered = sorted(rows, key=lambda pair: order[pair[1].metric])
        shown = [(i, row, _bars(row.sketch, row), _needed(row, audit)) for i, row in ordered]
        yield _Card(by, group, rows[0][1], called[by, group], shown)


def _needed(row: Row, audit: Audit) -> str:
    """How many cases would be needed if there are too few to tell, in words."""
    if row.needed is None or row.needed <= row.basis:
        return ""
    m = find_metric(row.metric)
    name = m.base.denominator.name if m.base.denominator else "cases"
    gap = "a ratio of 0.8 or 1.25" if m.kind == "ratio" else f"a gap of {audit.settings['margin']:g}"
    return f"with {row.needed:,} {name}, {gap} would be found with a probability of 80 %"


def _bars(sketch: Sketch | None, row: Row) -> _Bars | None:
    if sketch is None:
        return None
    step = 116 / len(sketch.heights)
    bars = "".join(
        f"M{2 + i * step:.0f},30v-{h * 26 / 99:.0f}h{step:.0f}V30" for i, h in enumerate(sketch.heights) if h > 1
    )
    share = min(max((sketch.at - sketch.low) / (sketch.high - sketch.low), 0.0), 1.0)
    if sketch.of == "gap":
        words = "Posterior distribution of the gap; the line marks no gap"
    else:
        higher = "" if row.percentile is None else f", at least as high as {100 * row.percentile:.3g} % of them"
        words = f"Scores of groups like the reference; the line marks the observed {number(row.score)}{higher}"
    return _Bars(bars, round(2 + share * 116, 1), words)


def _data(audit: Audit) -> dict[str, Any]:
    """The data with which the page computes smoothed scores: cells and formulas."""
    strength = audit.settings["strength"]
    return {
        "metrics": {key: _formula(key) for key in audit.settings["metrics"]},
        "strength": strength if isinstance(strength, (int, float)) else 10,
        "rows": [
            {
                "metric": row.metric,
                "group": row.group,
                "n": row.n,
                "score": row.score,
                "cells": [row.tp, row.fn, row.fp, row.tn],
                "prior": _prior(row),
            }
            for row in audit.rows
        ],
    }


def _prior(row: Row) -> list[int] | None:
    """The cells that the group is smoothed with: its reference without the group itself."""
    if row.smoothed is None:
        return None
    theirs = [getattr(row, f"reference_{c}") for c in CELLS]
    if row.reference_kind is not ReferenceKind.ALL:
        return theirs
    return [a - getattr(row, c) for a, c in zip(theirs, CELLS, strict=True)]


def _formula(key: str) -> dict[str, Any] | None:
    """The formula of a one-group metric as a tree, and the sets of cells that must not be empty."""
    m = find_metric(key)
    if m.comparisons:
        return None
    needs = [[CELLS.index(c) for c in part.cells] for part in m.holes[0].needs]
    rate = m.base.quotient if m.base.is_rate else None
    whole = [CELLS.index(c) for c in rate.of.cells] if rate else None
    return {"tree": m.base.expression, "needs": needs, "whole": whole}
