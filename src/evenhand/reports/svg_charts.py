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
from .narrative import driver_mark, gap_points, points

ROW = 30
# The share of the width of a panel that the scale takes; the rest is for values.
_SCALE = 82
_CODES = {
    Verdict.HIGHER: "hi",
    Verdict.LOWER: "lo",
    Verdict.UNLIKE: "ul",
    Verdict.BETTER: "be",
    Verdict.WORSE: "wo",
    Verdict.NOT_WORSE: "nw",
    Verdict.EQUIVALENT: "eq",
    Verdict.INCONCLUSIVE: "in",
    Verdict.REFERENCE: "rf",
    Verdict.MISSES: "mi",
    Verdict.MEETS: "me",
}
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.5)


class Picture(str):
    """Markup, which templates do not escape."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


SHAPES = Picture(
    '<path id="hi" d="M0-3.8 3.5 3H-3.5Z"/><path id="lo" d="M0 3.8 3.5-3H-3.5Z"/>'
    '<path id="be" d="M0-4 3 0H-3ZM0 0 3 4H-3Z"/><path id="wo" d="M0 4 3 0H-3ZM0 0 3-4H-3Z"/>'
    '<path id="nw" d="M-3-3 3 0-3 3Z"/><circle id="eq" r="3.3"/>'
    '<rect id="in" x="-2.8" y="-2.8" width="5.6" height="5.6"/><path id="un" d="M-3-3 3 3M3-3-3 3"/>'
    '<path id="ul" d="M-4-1.5H4M-4 1.5H4M-2 4 2-4"/><path id="rf" d="M0-4 4 0 0 4-4 0Z"/>'
    '<path id="mi" d="M-3-3 3 3M3-3-3 3"/><path id="me" d="M-3.5 0-1 2.8 3.5-3" fill="none"/>'
    '<path id="end" d="M-4-3.5 0 0-4 3.5" fill="none"/><path id="start" d="M4-3.5 0 0 4 3.5" fill="none"/>'
)
"""The marks, which other pictures refer to by their names."""


def code(verdict: Verdict) -> str:
    """The name of a verdict's mark and class."""
    return _CODES.get(verdict, "un")


def mark(verdict: Verdict) -> Picture:
    """The mark of a verdict."""
    name = code(verdict)
    box = 'viewBox="-4.3 -4.3 8.6 8.6" aria-hidden="true"'
    return Picture(f'<svg class="m {name}" {box}><use href="#{name}"/></svg>')


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    """A line between two points, x in percent."""
    return f'<line class="{css}" x1="{x1:.1f}%" x2="{x2:.1f}%" y1="{y1:g}" y2="{y2:g}"/>'


def _interval(name: str, x1: float, x2: float, y: float) -> str:
    """An interval, x in percent; "" if an end does not exist."""
    return "" if isnan(x1 + x2) else _line(f"iv {name}", x1, x2, y, y)


def _mark(css: str, name: str, x: float, y: float) -> str:
    return f'<use class="{css}" href="#{name}" x="{x:.1f}%" y="{y:g}"/>'


def _text(text: str, x: float, y: float, attributes: str) -> str:
    return f'<text x="{x:.1f}%" y="{y:g}" {attributes}>{text}</text>'


def _svg(parts: Sequence[str], height: float, label: str = "", css: str = "") -> Picture:
    """A picture with a label, or one that is hidden from screen readers since its cell says the same."""
    about = f'role="img" aria-label="{escape(printable(label))}"' if label else 'aria-hidden="true"'
    return Picture(f'<svg {about} class="{css}" height="{height:g}">{"".join(parts)}</svg>')


def choose_domain(rows: Sequence[Row], key_rows: Collection[Row]) -> float:
    """The smallest scale that holds all gaps, and the intervals of the groups in the key sentences (or of all)."""
    groups = {(row.by, row.group) for row in key_rows or rows}
    ends = [0.02]
    for row in rows:
        if not row.is_ratio:
            is_key = (row.by, row.group) in groups
            ends += [row.gap, *((row.gap_low, row.gap_high) if is_key else ())]
    return 1.05 * max(abs(end) for end in ends if not isnan(end))


def draw_gaps(
    rows: Sequence[Row | None], domain: float, margin: float, label: str, strong: Collection[Row]
) -> Picture:
    """Gaps with intervals, a row per group, on a scale from -domain to domain; longer intervals end in an arrowhead."""

    def x(gap: float) -> float:
        inside = gap if isnan(gap) else min(max(gap, -domain), domain)
        return (inside + domain) / (2 * domain) * _SCALE

    height, width = len(rows) * ROW, x(margin) - x(-margin)
    step = next((step for step in _STEPS if domain / step < 3), 1.0)
    ticks = [i * step for i in range(-int(domain / step), int(domain / step) + 1)]
    parts = [f'<rect class="band" x="{x(-margin):.1f}%" width="{width:.1f}%" height="{height}"/>']
    parts += [_line("grid" if tick else "zero", x(tick), x(tick), 0, height) for tick in ticks]
    for i, row in enumerate(rows):
        y = i * ROW + ROW / 2
        if row is None:
            continue
        if isnan(row.gap):
            parts.append(_text(row.verdict, x(0), y + 4, 'dx="8"'))
            continue
        css = "val strong" if row in strong else "val"
        value = f"{gap_points(row)}{driver_mark(row)}"
        parts.append(_text(value, 100, y + 4, f'class="{css}" text-anchor="end"'))
        if row.is_ratio:
            continue
        name = code(row.verdict)
        parts.append(_interval(name, x(row.gap_low), x(row.gap_high), y))
        parts += [_mark(f"iv {name}", "start", 0, y)] if row.gap_low < -domain else []
        parts += [_mark(f"iv {name}", "end", _SCALE, y)] if row.gap_high > domain else []
        parts.append(_mark(f"pt {name}", name, x(row.gap), y))
    parts += [_text(points(tick), x(tick), height + 16, 'text-anchor="middle"') for tick in ticks]
    return _svg(parts, height + 22, label)


def draw_score(row: Row) -> Picture:
    """The interval of a score on a scale from 0 to 1, with a tick at the reference's score."""
    low, high, tick = (
        100 * end if isnan(end) else 100 * min(max(end, 0.0), 1.0)
        for end in (row.low, row.high, row.reference_score)
    )
    interval = _interval(code(row.verdict), low, high, 6)
    reference = "" if isnan(tick) else _line("ref", tick, tick, 1, 11)
    return _svg([_line("grid", 0, 100, 6, 6), interval, reference], 12, css="ci")


def draw_impact(row: Row) -> Picture:
    """An impact ratio with its interval on a scale from 0 to 1.2, with a line at 0.8."""
    name = "lo" if row.is_below_four_fifths else "in"
    ends = (row.impact_ratio, row.impact_low, row.impact_high, 0.8)
    ratio, low, high, limit = (end if isnan(end) else min(end, 1.2) / 1.2 * 100 for end in ends)
    scale = [_line("grid", 0, 100, 8, 8), _line("ref", limit, limit, 0, 16)]
    return _svg([*scale, _interval(name, low, high, 8), _mark(f"pt {name}", name, ratio, 8)], 16)


def draw_share(share: float) -> Picture:
    """How much of what is needed there is."""
    width = 100 * min(share, 1)
    bar = '<rect{} width="{:.0f}%" height="8" rx="2"/>'.format
    return _svg([bar("", 100), bar(' class="have"', width)], 8, css="bar")


def draw_evidence(
    values: Sequence[float | None], threshold: float, alarm: int | None, label: str
) -> Picture:
    """Evidence over batches on a logarithmic scale from 0.01 to a million, with the line of alarms."""
    height, low, high = 80, -2.0, 6.0

    def y(value: float) -> float:
        exponent = min(max(log10(max(value, 1e-300)), low), high)
        return round(height - (exponent - low) / (high - low) * height, 1)

    heights = [None if value is None else y(value) for value in values]
    parts = [_line("grid", 0, 100, y(1), y(1)), _line("alarm", 0, 100, y(threshold), y(threshold))]
    parts += _curve("curve", heights)
    if alarm is not None:
        cx, cy = 100 * (alarm + 0.5) / len(values), heights[alarm]
        parts.append(f'<circle class="pt hi" cx="{cx:.1f}%" cy="{cy}" r="4"/>')
    return _svg(parts, height, label, "evidence")


def draw_scores(lines: Sequence[Sequence[float | None]], label: str) -> Picture:
    """Scores over batches on a scale from 0 to 1, a line for the reference and for each group."""
    height = 100
    parts = [_line("grid", 0, 100, y, y) for y in (0, height / 2, height)]
    for i, line in enumerate(lines):
        heights = [None if score is None else round(height * (1 - score), 1) for score in line]
        parts += _curve(f"curve line-{i}", heights)
    return _svg(parts, height, label, "scores")


def _curve(css: str, heights: Sequence[float | None]) -> list[str]:
    """A line through what is known of each batch; a dot if that is one batch."""
    width = 100 / max(1, len(heights))
    known = [(width * (i + 0.5), y) for i, y in enumerate(heights) if y is not None]
    ends = pairwise([*known[:1], *known])
    return [_line(css, x1, x2, y1, y2) for (x1, y1), (x2, y2) in ends]
