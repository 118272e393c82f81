"""Results as notebooks show them: an audit as its summary and a map of groups and metrics, others as small tables.

Notebooks are light or dark and may drop style sheets, so text keeps the notebook's own colour, styles stand inline, and
the colours of marks are legible on both. Text from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from math import isfinite, isnan
from typing import Any

import numpy as np

from ..auditing import Audit, Finding, Monitor, Row, Verdict, place_text
from ..distributions import Distribution
from ..errors import InvalidInput, TooLarge, printable
from ..inference import Disparity, Interval, MatchResult, Risk, Smoothed, StressTest, format_strength
from ..metrics import Metric
from ..wording import counts_text, number, pvalue, several, span_text
from .audit_document import document_of
from .document import Cell, Heading, Listing, Paragraph, Table, Tally
from .monitor_document import monitor_document
from .row_words import gap_text, smoothing_text

__all__ = ["as_html"]

_MOST_LINES, _MOST_IN_EACH = 40, 12
_LINE = "1px solid rgba(128,128,128,.4)"
# What is wider than the page is scrolled, also with the keyboard.
_WIDE = '<div tabindex="0" style="max-width:100%;overflow-x:auto">'
_CELL = f"padding:2px 8px;text-align:left;vertical-align:top;border:0;border-bottom:{_LINE}"
_WRAPS = ";overflow-wrap:anywhere"
_TABLE = "border-collapse:collapse;border:0;margin:4px 0;font-size:inherit;color:inherit"
# Pictures list every score, which takes long for large groups, longest if scores are made of several rates.
_MOST_CASES, _MOST_CASES_OF_PAIRS, _BARS = 300, 60, 60


@singledispatch
def as_html(result: Any) -> str:
    """The HTML of a result: its text, with labelled lines as a table and lines behind dashes as a list."""
    head, *lines = str(result).strip("\n").splitlines()
    labelled = [re.fullmatch(r"  (\S.*?)\s{2,}(.+)", line) for line in lines]
    if lines and all(labelled):
        return _box(_text(head), _pairs((found[1], _text(found[2])) for found in labelled if found))
    if lines and all(line.startswith("  - ") for line in lines):
        return _box(_text(head), _list(_text(line[4:]) for line in lines))
    return f'<pre style="white-space:pre-wrap;color:inherit">{_text(str(result))}</pre>'


def _text(text: str) -> str:
    return escape(printable(text, keep="\n"))


def _box(head: str, *parts: str) -> str:
    return f'{_WIDE}<div style="font-weight:bold">{head}</div>{"".join(parts)}</div>'


def _list(items: Iterable[str], bullets: bool = True) -> str:
    style = "padding-left:1.4em" if bullets else "list-style:none;padding-left:0"
    entries = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul style="margin:4px 0;{style}">{entries}</ul>' if entries else ""


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """A table of labels and of values, which are HTML."""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;opacity:.75">{_text(label)}</th>'
        f'<td style="{_CELL}{_WRAPS}">{value}</td></tr>'
        for label, value in pairs
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def _grid(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names the rows; all of it is HTML, and a cell may bring its own tag."""
    head = "".join(f'<th scope="col" style="{_CELL};font-weight:bold">{title}</th>' for title in titles)
    body = "".join(
        f'<tr><th scope="row" style="{_CELL}{_WRAPS};font-weight:normal;max-width:24em">{first}</th>'
        + "".join(
            cell if cell.startswith("<td") else f'<td style="{_CELL};white-space:nowrap">{cell}</td>' for cell in others
        )
        + "</tr>"
        for first, *others in rows
    )
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _colour(verdict: Verdict) -> str:
    """A colour of the verdict that is legible on light and on dark."""
    if verdict is Verdict.REFERENCE:
        return "inherit"
    parts = [(int(verdict.colour[i : i + 2], 16), int(verdict.dark[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(0.9 * light + 0.1 * dark):02x}" for light, dark in parts)


def _mark(verdict: Verdict) -> str:
    return f'<span style="color:{_colour(verdict)}">{verdict.sign}</span>'


@as_html.register
def _(audit: Audit) -> str:
    document = document_of(audit)
    sections = document.named("opening", "matters", "overall", "places", *("scores" if audit.axes else "map",), "next")
    most = _MOST_IN_EACH if audit.axes else _MOST_LINES
    parts = []
    for section in sections:
        if section.name in ("places", "scores"):
            parts.append(f'<div style="font-weight:bold;margin-top:6px">{_text(section.title)}</div>')
        parts += [_table(block, most) if isinstance(block, Table) else _block(block) for block in section.blocks]
    more = (
        "Point at a score for its cases, gap and p-value; everything is in .to_html(path), .to_text() and .to_frame()."
    )
    parts += [_block(block) for section in document.named("legend", "claims") for block in section.blocks]
    return _box(_text(document.title), *parts, f'<div style="opacity:.85">{more}</div>')


@as_html.register
def _(monitor: Monitor) -> str:
    document = monitor_document(monitor)
    blocks = [block for section in document.named("opening", "rows", "notes") for block in section.blocks]
    parts = [_table(block, _MOST_LINES) if isinstance(block, Table) else _block(block) for block in blocks]
    return _box(_text(document.title), *parts)


@singledispatch
def _block(block: Any) -> str:
    """A block of a document; nothing of what only a page can show."""
    return ""


@_block.register
def _(block: Paragraph) -> str:
    return f"<div>{_text(block.text)}</div>"


@_block.register
def _(block: Heading) -> str:
    return f'<div style="margin-top:4px" title="{_text(block.beside)}">{_text(block.text)}</div>'


@_block.register
def _(block: Tally) -> str:
    counts = (
        f'<span title="{_text(block.meanings[verdict])}">{_mark(verdict)} {n:,} {verdict}</span>'
        for verdict, n in block.counts.items()
    )
    return f"<div>{' &nbsp; '.join(counts)}</div>"


@_block.register
def _(block: Listing) -> str:
    items = (f"{_mark(item.verdict) if item.verdict else '–'} {_text(item.whole)}" for item in block.items)
    return _list(items, bullets=False)


def _table(table: Table, most: int) -> str:
    """The most important lines, and columns for which there is room."""
    shown = [column for column in table.columns if not column.extra]
    titles = [
        f'<span title="{_text(column.means)}">{_text(column.title)}</span>' if column.means else _text(column.title)
        for column in shown
    ]
    drawn = _grid(titles, ([_cell(column.read(line)) for column in shown] for line in table.lines[:most]))
    left = table.lines[most:]
    said = [*([table.left(left)] if left else []), *([table.omitted] if table.omitted else [])]
    return drawn + "".join(f"<div>{_text(one)}</div>" for one in said)


def _cell(cell: Cell) -> str:
    if cell.verdict is None:
        return _text(cell.text)
    tint = f";background:{_colour(cell.verdict)}26" if cell.verdict.differs else ""
    return (
        f'<td style="{_CELL};white-space:nowrap{tint}" title="{_text(cell.told)}">'
        f"{_mark(cell.verdict)}{'*' if cell.starred else ''} {_text(cell.text)}</td>"
    )


@as_html.register
def _(row: Row) -> str:
    pairs = [
        ("verdict", f"{_mark(row.verdict)} {row.verdict}"),
        ("score", _text(_score(row))),
        ("rests on", f"{counts_text(row.denominators)} of {several(row.n, 'case')}"),
    ]
    pairs += [("reason", _text(row.reason))] if row.reason else []
    span, reference = span_text(row.gap_low, row.gap_high), f"{number(row.reference_score)} ({row.reference})"
    pairs += [("reference", _text(reference))] if not isnan(row.reference_score) else []
    pairs += [("gap", f"{gap_text(row)} ({span})")] if gap_text(row) and span else []
    pairs += [("adjusted p", escape(pvalue(row.p_adjusted)))] if not isnan(row.p_adjusted) else []
    pairs += [("smoothed", _text(smoothing_text(row)))] if not isnan(row.smoothed) else []
    if row.is_pooled:
        parts = (f"{part} in {getattr(row, f'strata_{part}'):,.0f}" for part in ("higher", "lower", "silent"))
        pairs.append(("strata", ", ".join(parts)))
    place = f"{place_text(row.at)}, " if row.at else ""
    return _box(_text(f"{place}{row.by}: {row.group}, {row.metric}"), _pairs(pairs))


def _score(row: Row) -> str:
    """A score with its interval."""
    span = span_text(row.low, row.high)
    score = "undefined" if isnan(row.score) or row.lacks_score else number(row.score)
    return f"{score}, interval {span}" if span else score


@as_html.register
def _(finding: Finding) -> str:
    return f"<div>{_text(str(finding))}</div>"


@as_html.register
def _(result: Interval) -> str:
    return _box(_text(str(result)), _span(result.low, result.high, result.estimate, result.metric.range))


@as_html.register
def _(result: Disparity) -> str:
    none = 0.0 if result.kind == "difference" else 1.0
    reach = 1.1 * max(abs(result.low - none), abs(result.high - none))
    ends = (none - reach, none + reach) if result.kind == "difference" else (0.0, none + reach)
    scores = [("group", result.group_score), ("reference", result.reference_score)]
    return _box(
        _text(str(result)),
        _span(result.low, result.high, result.estimate, ends, none),
        _pairs((label, number(score) if isfinite(score) else "undefined") for label, score in scores),
    )


@as_html.register
def _(result: Risk) -> str:
    head = f"{result.metric.name} of {several(result.n, 'case')}, {result.estimator.label}"
    numbers = {
        "true score": f"{result.true_score:.4g}",
        "root mean squared error": f"{result.rmse:.4g}",
        "bias": f"{round(result.bias, 12) + 0.0:+.4g}",
        "standard deviation": f"{result.variance**0.5:.4g}",
        "undefined": f"{100 * result.p_undefined:.3g}%",
    }
    if result.method != "exact":
        numbers["method"] = f"{result.method} (standard error {result.standard_error:.2g})"
    return _box(_text(head), _pairs((label, _text(text)) for label, text in numbers.items()))


@as_html.register
def _(result: StressTest) -> str:
    sizes, strengths = (sorted({getattr(row, name) for row in result.rows}) for name in ("n", "strength"))
    shown = {(row.n, row.strength): f"{row.mean_ratio:.2f} ({row.worst_ratio:.2f})" for row in result.rows}
    head, *lines = str(result).splitlines()
    return _box(
        _text(head),
        _grid(
            ["n", *(f"λ = {s:g}" for s in strengths)], [[f"{n:,}", *(shown[n, s] for s in strengths)] for n in sizes]
        ),
        *(f"<div>{_text(line)}</div>" for line in lines[1 + len(sizes) :]),
    )


@as_html.register
def _(result: Smoothed) -> str:
    raw, cells = result.raw.cells, result.cells
    names = ("TP", "FN", "FP", "TN")
    what = "Cells of the prior only: the group is empty" if result.prior_only else "Smoothed cells"
    kept = f"{result.shrinkage:.0%} of a share's gap remains"
    return _box(
        f"{what} (strength {_text(format_strength(result.strength))}; {kept})",
        _grid(
            ["cell", "raw", "smoothed"], [[n, f"{a:g}", f"{b:.6g}"] for n, a, b in zip(names, raw, cells, strict=True)]
        ),
    )


@as_html.register
def _(result: MatchResult) -> str:
    whole: str = as_html.registry[object](result)
    if result.reason or not _is_small(result.metric, result.n):
        return whole
    try:
        picture = _bars(result.distribution.support, result.distribution.probabilities, result.statistic)
    except (InvalidInput, TooLarge):
        return whole
    return f"{_WIDE}{whole}{picture}</div>"


@as_html.register
def _(d: Distribution) -> str:
    n = (d.n,) if isinstance(d.n, int) else d.n
    head = f"{d.metric.name} of {' and '.join(f'{size:,}' for size in n)} cases"
    pairs = [("undefined", f"with probability {d.p_undefined:.3g}")]
    if not _is_small(d.metric, *n):
        return _box(_text(head), _pairs(pairs))
    scores, probabilities = d.support, d.probabilities
    if not len(scores):
        return _box(_text(head), _pairs(pairs))
    pairs.append(("mean", f"{d.mean:.4g} (standard deviation {d.std:.4g})"))
    pairs.append(("scores", f"{len(scores):,}, from {scores[0]:.4g} to {scores[-1]:.4g}"))
    return _box(_text(head), _bars(scores, probabilities), _pairs(pairs))


def _is_small(m: Metric, *n: int) -> bool:
    """Whether all scores are listed fast."""
    return sum(n) <= (_MOST_CASES if m.shape in ("share", "ratio", "contrast") else _MOST_CASES_OF_PAIRS)


def _svg(width: int, height: int, label: str, *shapes: str) -> str:
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{_text(label)}" style="display:block;margin:4px 0">{"".join(shapes)}</svg>'
    )


def _span(low: float, high: float, at: float, ends: tuple[float, float], none: float | None = None) -> str:
    """An interval on its scale, with the estimate as a dot and no gap as a tick; nothing if the scale has no end."""
    if not all(map(isfinite, (low, high, *ends))) or not ends[0] < ends[1]:
        return ""

    def x(value: float) -> float:
        return 8 + 244 * (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0])

    shapes = [
        '<line x1="8" y1="12" x2="252" y2="12" stroke="currentColor" stroke-opacity=".3"/>',
        f'<line x1="{x(low):.1f}" y1="12" x2="{x(high):.1f}" y2="12" stroke="{_colour(Verdict.LOWER)}" '
        'stroke-width="4"/>',
    ]
    if none is not None:
        shapes.append(f'<line x1="{x(none):.1f}" y1="3" x2="{x(none):.1f}" y2="21" stroke="currentColor"/>')
    if isfinite(at):
        shapes.append(f'<circle cx="{x(at):.1f}" cy="12" r="4.5" fill="currentColor"/>')
    scale = f"scale from {ends[0]:.3g} to {ends[1]:.3g}"
    shapes += _ends((8, ends[0]), (252, ends[1]), 34)
    return _svg(260, 38, f"interval from {low:.3g} to {high:.3g} on a {scale}", *shapes)


def _ends(left: tuple[float, float], right: tuple[float, float], y: int) -> list[str]:
    """The numbers at the ends of a scale, each at its place."""
    return [
        f'<text x="{x:g}" y="{y}" font-size="10" text-anchor="{anchor}" fill="currentColor">{value:.3g}</text>'
        for (x, value), anchor in ((left, "start"), (right, "end"))
    ]


def _bars(scores: Any, probabilities: Any, observed: float | None = None) -> str:
    """A distribution as bars on a scale from its lowest to its highest score, and a line at the observed one."""
    low, high = float(scores[0]), float(scores[-1])
    if not isfinite(low) or not isfinite(high):
        return ""
    if observed is not None and isfinite(observed):
        low, high = min(low, observed), max(high, observed)
    span = (high - low) or 1.0
    heights = np.zeros(_BARS)
    np.add.at(heights, np.minimum(((scores - low) / span * _BARS).astype(int), _BARS - 1), probabilities)
    shapes = [
        f'<rect x="{8 + 4 * i}" y="{50 - 46 * h / heights.max():.1f}" width="3.4" '
        f'height="{46 * h / heights.max():.1f}" fill="{_colour(Verdict.LOWER)}"/>'
        for i, h in enumerate(heights)
        if h > 0
    ]
    shapes.append('<line x1="8" y1="50.5" x2="248" y2="50.5" stroke="currentColor" stroke-opacity=".5"/>')
    if observed is not None:
        at = 8 + 4 * min(int((observed - low) / span * _BARS), _BARS - 1) + 1.7
        shapes.append(f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="56" stroke="currentColor" stroke-width="1.5"/>')
    where = "" if observed is None else f", observed {observed:.3g}"
    shapes += _ends((8, low), (248, high), 64)
    return _svg(256, 68, f"distribution of scores from {low:.3g} to {high:.3g}{where}", *shapes)
