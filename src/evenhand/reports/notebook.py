"""Results as notebooks show them: text as a small table, and an audit as its first section and its scores.

Notebooks are light or dark and may drop style sheets, so text keeps the notebook's own colour and styles
stand inline. Text from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

from ..auditing import Audit, Monitor, Row, Verdict
from ..errors import printable
from ..wording import several
from .monitor_summary import MonitorSummary
from .narrative import describe_row, driver_mark, score_text
from .summary import Summary

MOST_LINES = 40
_CELL = (
    "padding:2px 8px;text-align:left;vertical-align:top;border:0;"
    "border-bottom:1px solid rgba(128,128,128,.4)"
)
_TABLE = "border-collapse:collapse;border:0;margin:4px 0;font-size:inherit;color:inherit"
_COLOURS = {Verdict.HIGHER: "#c05510", Verdict.LOWER: "#2277bb", Verdict.EQUIVALENT: "#1f8a64"}
_COLOURS |= {Verdict.MISSES: "#c05510", Verdict.MEETS: "#1f8a64"}


@singledispatch
def as_html(result: object) -> str:
    """The HTML of a result: its text, with labelled lines as a table."""
    head, *lines = str(result).strip("\n").splitlines()
    labelled = [found for line in lines if (found := re.fullmatch(r"  (\S.*?)\s{2,}(.+)", line))]
    if lines and len(labelled) == len(lines):
        return _box(head, _table([], [list(map(_text, found.groups())) for found in labelled]))
    return f'<pre style="white-space:pre-wrap;color:inherit">{_text(str(result))}</pre>'


@as_html.register
def _(audit: Audit) -> str:
    summary = Summary(audit)
    notes = [f"{note.severity.capitalize()}: {summary.note_text(note)}" for note in summary.notes]
    said = filter(None, [summary.verdict_line if summary.rows else "", summary.goal_line])
    opening = ". ".join([summary.opening, *said])
    parts = [_div(f"{text}.") for text in (opening, *notes)]
    for name, rows in summary.key_groups.items():
        parts.append(_div(name, "margin-top:4px;font-weight:bold"))
        texts = [f"{_mark(row)} {_text(summary.sentence_with_harm(row))}" for row in rows]
        items = "".join(f"<li>{text}</li>" for text in texts)
        parts.append(f'<ul style="margin:0;list-style:none;padding-left:0">{items}</ul>')
    varied = list(summary.variation.items())[:MOST_LINES]
    parts += [_div(f"{across}: {'; '.join(texts)}.", "margin-top:4px") for across, texts in varied]
    goals = summary.goals[:MOST_LINES]
    parts += [f"<div>{_mark(row)} {_text(summary.describe(row))}</div>" for row in goals]
    keys = [metric.key for metric in summary.metrics]
    lines = [
        [
            _text(line.name),
            f"{line.first.n:,}",
            *(_score(line.rows.get(key), summary) for key in keys),
        ]
        for line in summary.lines[:MOST_LINES]
    ]
    parts += [_table(["group", "n", *keys], lines)] * bool(lines)
    if more := len(summary.lines) - len(lines):
        parts.append(_div(f"… and {several(more, 'more group')}"))
    parts.append(_div(summary.caution, "opacity:.85"))
    return _box(summary.title, *parts)


@as_html.register
def _(monitor: Monitor) -> str:
    summary = MonitorSummary(monitor)
    rows = [list(map(_text, summary.cells(row))) for row in summary.rows[:MOST_LINES]]
    said = map(_div, (summary.opening, *summary.alarms))
    return _box(summary.title, *said, _table(summary.head, rows))


@as_html.register
def _(row: Row) -> str:
    settings = {"confidence_level": 0.95, "alpha": 0.05, "adjust": "holm"}
    return f"<div>{_mark(row)} {_text(f'{row.group}: {describe_row(row, settings)}.')}</div>"


def _text(text: str) -> str:
    return escape(printable(text, keep="\n"))


def _div(text: str, style: str = "") -> str:
    return f'<div style="{style}">{_text(text)}</div>'


def _box(head: str, *parts: str) -> str:
    """A box that is scrolled if it is wider than the page, also with the keyboard."""
    content = _div(head, "font-weight:bold") + "".join(parts)
    return f'<div tabindex="0" style="max-width:100%;overflow-x:auto">{content}</div>'


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML, whose first column names the rows."""
    head = "".join(f'<th scope="col" style="{_CELL}">{_text(title)}</th>' for title in titles)
    start = f'<th scope="row" style="{_CELL};font-weight:normal;overflow-wrap:anywhere">'
    body = ""
    for first, *others in rows:
        cells = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in others)
        body += f"<tr>{start}{first}</th>{cells}</tr>"
    thead = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<table style="{_TABLE}">{thead}<tbody>{body}</tbody></table>'


def _mark(row: Row) -> str:
    colour = _COLOURS.get(row.verdict, "inherit")
    return f'<span style="color:{colour}">{row.verdict.sign}</span>'


def _score(row: Row | None, summary: Summary) -> str:
    """A score with the mark of its verdict; all numbers stand in its tooltip."""
    if row is None:
        return ""
    about = escape(printable(describe_row(row, summary.settings)))
    score = f"{_mark(row)}{driver_mark(row)} {score_text(row)}"
    return f'<span title="{about}" style="white-space:nowrap">{score}</span>'
