"""An audit as one HTML page that opens offline: words and pictures, nothing that is not in the audit.

Everything is inline, nothing is fetched, and a strict policy in the page holds it to that. Text from data is escaped by
the template engine wherever it stands. Without JavaScript the page shows everything; with it, it can be narrowed down
and the strength of smoothing moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import EvenhandError, MissingExtra, printable
from ..inference.match import match_test
from ..metrics import Contrast, OneGroup, Ratio, Share
from ..metrics import metric as find_metric
from .findings import number
from .needs import cases_needed
from .row import Row, labels

if TYPE_CHECKING:
    from .audit import Audit

__all__ = ["as_page"]

_LEFT, _WIDTH, _LINE = 210, 480, 26
_BINS = 41
_SHAPES = {
    "differs (higher)": "M0,-6L6,5H-6Z",
    "differs (lower)": "M0,6L6,-5H-6Z",
    "no evidence of a difference": "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "too small to tell": "M-4.5,-4.5H4.5V4.5H-4.5Z",
    "undefined": "M-5,-5L5,5M-5,5L5,-5",
    "reference": "M0,-6L6,0L0,6L-6,0Z",
}


def as_page(audit: Audit) -> str:
    """The whole page."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None
    environment = Environment(
        loader=PackageLoader("evenhand.auditing"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "shown": printable}
    inline = {name: (files("evenhand.auditing") / "templates" / name).read_text("utf-8") for name in _INLINE}
    return environment.get_template("report.html").render(
        audit=audit,
        settings=audit.settings,
        metrics=[_Metric.of(audit, key) for key in audit.settings["metrics"]],
        cards=list(_cards(audit)),
        shapes=_SHAPES,
        left=_LEFT,
        width=_WIDTH,
        line=_LINE,
        style=inline["report.css"],
        script=inline["report.js"],
        data=_data(audit),
        verdicts=_verdicts(audit),
        called=labels(audit.rows),
        against=_against(audit),
    )


_INLINE = ("report.css", "report.js")


def _against(audit: Audit) -> str:
    """Whom the groups were compared with, in words; a group may be called "rest" or "all"."""
    names = {row.reference for row in audit.rows}
    if names == {"rest"}:
        return "everybody outside it"
    return "everybody" if names == {"all"} else str(audit.settings["reference"])


def _verdicts(audit: Audit) -> list[tuple[str, int]]:
    return [(verdict, sum(row.verdict == verdict for row in audit.rows)) for verdict in _SHAPES]


@dataclass(frozen=True, slots=True)
class _Metric:
    """A forest plot: the rows of a metric, and the scale that they are drawn on."""

    key: str
    name: str
    formula: str
    rows: list[tuple[int, Row]]
    low: float
    high: float

    @classmethod
    def of(cls, audit: Audit, key: str) -> _Metric:
        m = find_metric(key)
        rows = [(i, row) for i, row in enumerate(audit.rows) if row.metric == key]
        low, high = m.range
        if not (isfinite(low) and isfinite(high)):
            places = [(row.score, row.reference_score, row.smoothed, row.high) for _, row in rows]
            seen = [v for place in places for v in place if v is not None]
            low, high = min([0.0, *seen]), max([1.0, *seen]) * 1.05
        return cls(key, m.name, m.formula, rows, low, high)

    def x(self, value: float) -> float:
        """Where a score stands."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_LEFT + 8 + share * (_WIDTH - 16), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of the scale."""
        return [(self.x(v), f"{v:g}") for v in np.linspace(self.low, self.high, 6).round(3)]


@dataclass(frozen=True, slots=True)
class _Card:
    """What is said of a group: its matrix, and for each metric a row with its null distribution."""

    by: str
    group: str
    first: Row
    label: str
    rows: list[tuple[int, Row, _Null | None, str]]


@dataclass(frozen=True, slots=True)
class _Null:
    """A null distribution as the path of its bars, 120 wide and 30 high, and where the observed score stands."""

    bars: str
    at: float


def _cards(audit: Audit) -> Iterable[_Card]:
    groups: dict[tuple[str, str], list[tuple[int, Row]]] = {}
    for i, row in enumerate(audit.rows):
        groups.setdefault((row.by, row.group), []).append((i, row))
    order, called = audit.settings["metrics"], labels(audit.rows)
    for (by, group), rows in groups.items():
        ordered = sorted(rows, key=lambda found: order.index(found[1].metric))
        shown = [(i, row, _null(row, audit), _needs(row, audit)) for i, row in ordered]
        yield _Card(by, group, rows[0][1], called[by, group], shown)


def _needs(row: Row, audit: Audit) -> str:
    """What "too small to tell" would need, in words."""
    if row.verdict != "too small to tell":
        return ""
    detect = audit.settings["detect"]
    found = cases_needed(row, detect, audit.settings["alpha"])
    if found is None:
        return ""
    return f"about {found[0]:,} {found[1]} would tell a difference of {detect:g}; there are {row.denominator or 0:,}"


def _null(row: Row, audit: Audit) -> _Null | None:
    """The null distribution behind a p-value; none where there is none, or where it has too many scores to list."""
    m, others = find_metric(row.metric), _others(row)
    if row.pvalue is None or others is None or not isinstance(m, OneGroup):
        return None
    group = ConfusionMatrix(*(row.tp, row.fn, row.fp, row.tn))  # type: ignore[arg-type]
    try:
        test = match_test(group, others, m, null=audit.settings["null"])
        scores, weights = test.distribution.support, test.distribution.probabilities
    except EvenhandError:
        return None
    kept = weights > 1e-5 * weights.max()
    low, high = float(scores[kept].min()), float(scores[kept].max())
    low, high = min(low, test.statistic), max(high, test.statistic)
    if high <= low:
        return None
    heights, edges = np.histogram(scores, np.linspace(low, high + 1e-9, _BINS), weights=weights)
    tall = heights / heights.max() * 26
    x = (edges - low) / (high - low) * 116 + 2
    bars = "".join(f"M{a:.0f},30v-{h:.0f}h{b - a:.0f}V30" for a, b, h in zip(x, x[1:], tall, strict=False) if h >= 0.5)
    at = (test.statistic - low) / (high - low) * 116 + 2
    return _Null(bars, round(at, 1))


def _others(row: Row) -> ConfusionMatrix | None:
    """Those whom the group was tested against: its reference without the group itself."""
    theirs = (row.reference_tp, row.reference_fn, row.reference_fp, row.reference_tn)
    if row.tp is None or None in theirs:
        return None
    reference = ConfusionMatrix(*theirs)  # type: ignore[arg-type]
    own = ConfusionMatrix(*(row.tp, row.fn, row.fp, row.tn))  # type: ignore[arg-type]
    return reference - own if row.reference == "all" else reference


def _data(audit: Audit) -> dict[str, Any]:
    """What the page computes with: cells, and how each metric follows from them."""
    return {
        "metrics": {key: _formula(key) for key in audit.settings["metrics"]},
        "strength": audit.settings["strength"] if isinstance(audit.settings["strength"], (int, float)) else 10,
        "rows": [
            {
                "metric": row.metric,
                "group": row.group,
                "n": row.n,
                "score": row.score,
                "cells": [row.tp, row.fn, row.fp, row.tn],
                "prior": list(others.cells) if (others := _others(row)) and row.smoothed is not None else None,
            }
            for row in audit.rows
        ],
    }


def _formula(key: str) -> dict[str, Any]:
    """A quotient of two sums of cells by its coefficients; pairs of rates go by their names."""
    m = find_metric(key)
    if not isinstance(m, (Share, Ratio, Contrast)):
        return {"name": key}
    unit = [m.rank(*cells) for cells in np.eye(4)]
    return {"over": [float(a) for a, _ in unit], "under": [float(b) for _, b in unit]}
