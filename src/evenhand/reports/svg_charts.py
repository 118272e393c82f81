"""Pictures of reports as SVG: gaps, scores, impact ratios, shares and evidence over batches.

x is in percent of the width and y in pixels, so that one picture fits every width and neither text nor
marks are scaled. Text from data never occurs in a picture but in its label, which is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from itertools import pairwise
from math import isnan, log10

from ..auditing import Row, Verdict
from ..errors import printable
from .narrative import gap_text, points

ROW = 30
# The share of the width of a panel that the scale takes; the rest is for values.
_SCALE = 82
_CODES = {
    Verdict.HIGHER: "hi",
    Verdict.LOWER: "lo",
    Verdict.UNLIKE: "ul",
    Verdict.EQUIVALENT: "eq",
    Verdict.INCONCLUSIVE: "in",
}
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.5)
SHAPES = (
    '<path id="hi" d="M0-3.8 3.5 3H-3.5Z"/><path id="lo" d="M0 3.8 3.5-3H-3.5Z"/><circle id="eq" r="3.3"/>'
    '<rect id="in" x="-2.8" y="-2.8" width="5.6" height="5.6"/><path id="un" d="M-3-3 3 3M3-3-3 3"/>'
    '<path id="ul" d="M-4-1.5H4M-4 1.5H4M-2 4 2-4"/><path id="rf" d="M0-4 4 0 0 4-4 0Z"/>'
    '<path id="end" d="M-4-3.5 0 0-4 3.5" fill="none"/><path id="start" d="M4-3.5 0 0 4 3.5" fill="none"/>'
)
"""The marks, which other pictures refer to by their names."""


def code(verdict: Verdict) -> str:
    """The name of a verdict's mark and class."""
    return _CODES.get(verdict, "rf" if verdict is Verdict.REFERENCE else "un")


def mark(verdict: Verdict) -> str:
    """The mark of a verdict."""
    name = code(verdict)
    return f'<svg class="m {name}" viewBox="-4.3 -4.3 8.6 8.6" aria-hidden="true"><use href="#{name}"/></svg>'


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    """A line between two points, x in percent."""
    return f'<line class="{css}" x1="{x1:.1f}%" x2="{x2:.1f}%" y1="{y1:g}" y2="{y2:g}"/>'


def _svg(content: str, height: float, label: str = "", css: str = "") -> str:
    """A picture with a label, or one that is hidden from screen readers since its cell says the same."""
    about = f'role="img" aria-label="{escape(printable(label))}"' if label else 'aria-hidden="true"'
    return f'<svg {about} class="{css}" height="{height:g}">{content}</svg>'


def choose_domain(rows: Sequence[Row], key_rows: Collection[Row]) -> float:
    """The smallest scale that holds all gaps, and the intervals of the groups in the key sentences (or of all)."""
    groups = {(row.by, row.group) for row in key_rows or rows}
    rows = [row for row in rows if not row.is_ratio]
    ends = [abs(row.gap) for row in rows]
    ends += [
        abs(end)
        for row in rows
        if (row.by, row.group) in groups
        for end in (row.gap_low, row.gap_high)
    ]
    return 1.05 * max(0.02, *(float(end) for end in ends if not isnan(end)), 0.0)


def draw_gaps(
    rows: Sequence[Row | None], domain: float, margin: float, label: str, strong: Collection[Row]
) -> str:
    """Gaps with intervals, a row per group, on a scale from -domain to domain; longer intervals end in an arrowhead."""

    def x(gap: float) -> float:
        return (min(max(gap, -domain), domain) + domain) / (2 * domain) * _SCALE

    height = len(rows) * ROW
    step = next((step for step in _STEPS if domain / step < 3), 1.0)
    ticks = [i * step for i in range(-int(domain / step), int(domain / step) + 1)]
    band = f'<rect class="band" x="{x(-margin):.1f}%" width="{x(margin) - x(-margin):.1f}%" height="{height}"/>'
    parts = [
        band,
        *(_line("zero" if tick == 0 else "grid", x(tick), x(tick), 0, height) for tick in ticks),
    ]
    for i, row in enumerate(rows):
        y = i * ROW + ROW / 2
        if row is None:
            continue
        if isnan(row.gap):
            parts.append(f'<text x="{x(0):.1f}%" y="{y + 4:g}" dx="8">{row.verdict}</text>')
            continue
        star = "*" if row.driver is not None and row.differs else ""
        bold = " strong" if row in strong else ""
        value = f"{gap_text(row)}{star}"
        parts.append(
            f'<text class="val{bold}" x="100%" y="{y + 4:g}" text-anchor="end">{value}</text>'
        )
        if row.is_ratio:
            continue
        name = code(row.verdict)
        if not isnan(row.gap_low + row.gap_high):
            parts.append(_line(f"iv {name}", x(row.gap_low), x(row.gap_high), y, y))
        for end, is_beyond in (("start", row.gap_low < -domain), ("end", row.gap_high > domain)):
            if is_beyond:
                parts.append(
                    f'<use class="iv {name}" href="#{end}" x="{0 if end == "start" else _SCALE}%" y="{y:g}"/>'
                )
        parts.append(f'<use class="pt {name}" href="#{name}" x="{x(row.gap):.1f}%" y="{y:g}"/>')
    parts += [
        f'<text x="{x(tick):.1f}%" y="{height + 16}" text-anchor="middle">{points(tick)}</text>'
        for tick in ticks
    ]
    return _svg("".join(parts), height + 22, label)


def draw_score(row: Row) -> str:
    """The interval of a score on a scale from 0 to 1, with a tick at the reference's score."""
    low, high = (min(max(end, 0.0), 1.0) * 100 for end in (row.low, row.high))
    parts = [_line("grid", 0, 100, 6, 6)]
    if not isnan(row.low + row.high):
        parts.append(_line(f"iv {code(row.verdict)}", low, high, 6, 6))
    if not isnan(row.reference_score):
        tick = min(max(row.reference_score, 0.0), 1.0) * 100
        parts.append(_line("ref", tick, tick, 1, 11))
    return _svg("".join(parts), 12, css="ci")


def draw_impact(row: Row) -> str:
    """An impact ratio with its interval on a scale from 0 to 1.2, with a line at 0.8."""
    name = "lo" if row.is_below_four_fifths else "in"

    def x(ratio: float) -> float:
        return min(ratio, 1.2) / 1.2 * 100

    parts = [_line("grid", 0, 100, 8, 8), _line("ref", x(0.8), x(0.8), 0, 16)]
    if not isnan(row.impact_low + row.impact_high):
        parts.append(_line(f"iv {name}", x(row.impact_low), x(row.impact_high), 8, 8))
    parts.append(f'<use class="pt {name}" href="#{name}" x="{x(row.impact_ratio):.1f}%" y="8"/>')
    return _svg("".join(parts), 16)


def draw_share(share: float) -> str:
    """How much of what is needed there is."""
    bar = '<rect width="100%" height="8" rx="2"/>'
    return _svg(
        f'{bar}<rect class="have" width="{100 * min(share, 1):.0f}%" height="8" rx="2"/>',
        8,
        css="bar",
    )


def draw_evidence(
    values: Sequence[float | None], threshold: float, alarm: int | None, label: str
) -> str:
    """Evidence over batches on a logarithmic scale from 0.01 to a million, with the line of alarms."""
    height, low, high = 80, -2.0, 6.0

    def y(value: float) -> float:
        exponent = min(max(log10(max(value, 1e-300)), low), high)
        return round(height - (exponent - low) / (high - low) * height, 1)

    xs = [100 * (i + 0.5) / len(values) for i in range(len(values))]
    parts = [_line("grid", 0, 100, y(1), y(1)), _line("alarm", 0, 100, y(threshold), y(threshold))]
    known = [(x, y(value)) for x, value in zip(xs, values, strict=True) if value is not None]
    parts += [_line("curve", x1, x2, y1, y2) for (x1, y1), (x2, y2) in pairwise(known)]
    if alarm is not None and values[alarm] is not None:
        parts.append(
            f'<circle class="pt hi" cx="{xs[alarm]:.1f}%" cy="{y(values[alarm] or 1.0)}" r="4"/>'
        )
    return _svg("".join(parts), height, label, "evidence")
