"""Results as notebooks show them: an audit as its summary and a map of groups and metrics, others as small tables.

Notebooks are light or dark and may drop style sheets, so text keeps the notebook's own colour, styles stand inline, and
the colours of marks are legible on both. Text from data is escaped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from math import isfinite
from typing import Any

import numpy as np

from ..auditing import Audit, Finding, Row, Verdict, compared_with, number, pvalue, several
from ..errors import TooLarge, printable
from ..inference import Disparity, Interval, MatchResult, Risk, Smoothed, StressTest, strength_text
from ..laws import Distribution
from ..metrics import Metric
from .overview import headlines, metrics_of, names_of, opening, tally
from .tables import gap_text, smoothing_text

__all__ = ["as_html"]

_MOST_GROUPS, _MOST_METRICS = 40, 12
_LINE = "1px solid rgba(128,128,128,.4)"
# What is wider than the page is scrolled, also with the keyboard.
_WIDE = '<div tabindex="0" style="max-width:100%;overflow-x:auto">'
_CELL = f"padding:2px 8px;text-align:left;vertical-align:top;border:0;border-bottom:{_LINE};overflow-wrap:anywhere"
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
        f'<td style="{_CELL}">{value}</td></tr>'
        for label, value in pairs
    )
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def _grid(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names the rows; all of it is HTML, and a cell may bring its own tag."""
    head = "".join(f'<th scope="col" style="{_CELL};font-weight:bold">{title}</th>' for title in titles)
    body = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;max-width:24em">{first}</th>'
        + "".join(cell if cell.startswith("<td") else f'<td style="{_CELL}">{cell}</td>' for cell in others)
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
    counts = " &nbsp; ".join(f"{_mark(verdict)} {n:,} {verdict}" for verdict, n in tally(audit.rows).items())
    chosen = headlines(audit)
    sentences = [f"{_mark(h.verdict)} {_text(h.sentence)}" if h.verdict else f"– {_text(h.sentence)}" for h in chosen]
    if audit.findings:
        kinds = Counter(finding.kind for finding in audit.findings)
        counted = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        sentences.append(_text(f"{several(len(audit.findings), 'finding')}: {counted} (in .findings)"))
    return _box(
        _text(opening(audit)),
        f"<div>Each group is compared with {_text(compared_with(audit.rows))}.</div><div>{counts}</div>",
        _list(sentences, bullets=False),
        *_map(audit),
    )


def _map(audit: Audit) -> list[str]:
    """The scores by group and metric, most important groups first, and what is left out."""
    rows = {(row.by, row.group, row.metric): row for row in audit.rows}
    names = names_of(audit)
    groups = list(dict.fromkeys((row.by, row.group) for row in audit.rows))
    metrics = metrics_of(audit)
    sizes = {(row.by, row.group): row.n for row in audit.rows}
    titles = ["group", "n", *(f'<span title="{_text(_explained(m))}">{_text(m.key)}</span>' for m in metrics)]
    table = _grid(
        titles[: 2 + _MOST_METRICS],
        (
            [_text(names[key]), f"{sizes[key]:,}", *(_cell(rows.get((*key, m.key))) for m in metrics[:_MOST_METRICS])]
            for key in groups[:_MOST_GROUPS]
        ),
    )
    hidden = [
        several(len(all_of) - most, what)
        for all_of, most, what in ((groups, _MOST_GROUPS, "more group"), (metrics, _MOST_METRICS, "more metric"))
        if len(all_of) > most
    ]
    said = f"Not shown: {' and '.join(hidden)}. " if hidden else ""
    meanings = "; ".join(f"{_mark(v)} {v}" for v in tally(audit.rows))
    return [
        table,
        f'<div style="opacity:.85">{said}{meanings}. Point at a score for its cases, gap and p-value; everything is in '
        ".to_html(path), .to_text() and .to_frame().</div>",
    ]


def _explained(m: Metric) -> str:
    return f"{m.name} = {m.formula}"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    gap, ends = gap_text(row)
    parts = [str(row.verdict), f"rests on {several(row.basis, 'case')}"]
    parts += [row.reason] if row.reason else []
    parts += [f"reference {number(row.reference_score)}"] if row.reference_score is not None else []
    parts += [f"gap {gap}"] if gap != "-" else []
    parts += [f"interval {ends.replace(' ', ' to ')}"] if ends != "-" else []
    parts += [f"adjusted p {pvalue(row.p_adjusted)}"] if row.p_adjusted is not None else []
    parts += [f"{row.without_verdict} without {row.driver}"] if row.driver else []
    score = "undefined" if row.score is None else number(row.score)
    tint = f";background:{_colour(row.verdict)}26" if row.differs else ""
    star = "*" if row.driver else ""
    return (
        f'<td style="{_CELL};white-space:nowrap{tint}" title="{_text("; ".join(parts))}">'
        f"{_mark(row.verdict)}{star} {score}</td>"
    )


@as_html.register
def _(row: Row) -> str:
    gap, ends = gap_text(row)
    span = "" if row.low is None else f" ({number(row.low)} to {number(row.high)})"
    score = "undefined" if row.score is None else number(row.score)
    pairs = [
        ("verdict", f"{_mark(row.verdict)} {row.verdict}"),
        ("score", _text(row.status if row.reason else f"{score}{span}")),
        ("cases", f"{row.basis:,} of {row.n:,}"),
    ]
    pairs += (
        [("reference", _text(f"{number(row.reference_score)} ({row.reference})"))]
        if row.reference_score is not None
        else []
    )
    pairs += [("gap", f"{gap} ({ends.replace(' ', ' to ')})")] if gap != "-" and ends != "-" else []
    pairs += [("adjusted p", escape(pvalue(row.p_adjusted)))] if row.p_adjusted is not None else []
    pairs += [("smoothed", _text(smoothing_text(row)))] if row.smoothed is not None else []
    return _box(_text(f"{row.by}: {row.group}, {row.metric}"), _pairs(pairs))


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
        "undefined": f"{100 * result.p_undefined:.3g} %",
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
        f"{what} (strength {_text(strength_text(result.strength))}; {kept})",
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
    except TooLarge:
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
