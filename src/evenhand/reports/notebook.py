"""Results as notebooks show them: text as a small table, and an audit as its first section and its scores.

Notebooks are light or dark and may drop style sheets, so text keeps the notebook's own colour and styles
stand inline. Text from data is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from typing import Any

from ..auditing import Audit, Monitor, Row, Verdict
from ..errors import printable
from ..wording import several
from .monitor_summary import MonitorSummary
from .narrative import describe_row, score_text
from .summary import Summary

MOST_LINES = 40
_LINE = "1px solid rgba(128,128,128,.4)"
_CELL = f"padding:2px 8px;text-align:left;vertical-align:top;border:0;border-bottom:{_LINE}"
# What is wider than the page is scrolled, also with the keyboard.
_WIDE = '<div tabindex="0" style="max-width:100%;overflow-x:auto">'


@singledispatch
def as_html(result: Any) -> str:
    """The HTML of a result: its text, with labelled lines as a table."""
    head, *lines = str(result).strip("\n").splitlines()
    labelled = [re.fullmatch(r"  (\S.*?)\s{2,}(.+)", line) for line in lines]
    if lines and all(labelled):
        return _box(
            head, _table([], [[_text(found[1]), _text(found[2])] for found in labelled if found])
        )
    return f'<pre style="white-space:pre-wrap;color:inherit">{_text(str(result))}</pre>'


@as_html.register
def _(audit: Audit) -> str:
    summary = Summary(audit)
    about = f"Each group against {summary.compared_with}; {summary.independence}. {summary.verdict_line}."
    parts = [f"<div>{_text(about)}</div>"]
    parts += [
        f"<div>{_text(f'{note.severity.capitalize()}: {summary.note_text(note)}.')}</div>"
        for note in summary.notes
    ]
    for name, rows in summary.key_groups.items():
        sentences = (
            " ".join(filter(None, [summary.sentence(row), summary.harm(row)])) for row in rows
        )
        items = "".join(
            f"<li>{_mark(row.verdict)} {_text(said)}</li>"
            for row, said in zip(rows, sentences, strict=True)
        )
        parts.append(f'<div style="margin-top:4px;font-weight:bold">{_text(name)}</div>')
        parts.append(f'<ul style="margin:0;list-style:none;padding-left:0">{items}</ul>')
    titles = ["group", "n", *(metric.key for metric in summary.metrics)]
    lines = summary.lines[:MOST_LINES]
    cells = [
        [
            _text(line.name),
            f"{line.first.n:,}",
            *(_cell(line.rows.get(metric.key), summary) for metric in summary.metrics),
        ]
        for line in lines
    ]
    parts.append(_table(titles, cells))
    if len(summary.lines) > len(lines):
        parts.append(f"<div>… and {several(len(summary.lines) - len(lines), 'more group')}</div>")
    cautions = ". ".join(summary.cautions)
    parts.append(f'<div style="opacity:.85">{_text(f"{cautions}." if cautions else "")}</div>')
    return _box(summary.title, *parts)


@as_html.register
def _(monitor: Monitor) -> str:
    summary = MonitorSummary(monitor)
    parts = [f"<div>{_text(text)}</div>" for text in (summary.opening, *summary.alarms)]
    rows = [[_text(cell) for cell in summary.cells(row)] for row in summary.rows[:MOST_LINES]]
    return _box(summary.title, *parts, _table(summary.head, rows))


@as_html.register
def _(row: Row) -> str:
    settings = {"confidence_level": 0.95, "alpha": 0.05, "adjust": "holm"}
    return (
        f"<div>{_mark(row.verdict)} {_text(f'{row.group}: {describe_row(row, settings)}.')}</div>"
    )


def _text(text: str) -> str:
    return escape(printable(text, keep="\n"))


def _box(head: str, *parts: str) -> str:
    return f'{_WIDE}<div style="font-weight:bold">{_text(head)}</div>{"".join(parts)}</div>'


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML, whose first column names the rows."""
    head = "".join(f'<th scope="col" style="{_CELL}">{_text(title)}</th>' for title in titles)
    body = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;overflow-wrap:anywhere">{first}</th>'
        + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in others)
        + "</tr>"
        for first, *others in rows
    )
    style = "border-collapse:collapse;border:0;margin:4px 0;font-size:inherit;color:inherit"
    return f'<table style="{style}">{f"<thead><tr>{head}</tr></thead>" if head else ""}<tbody>{body}</tbody></table>'


def _mark(verdict: Verdict) -> str:
    colours = {Verdict.HIGHER: "#c05510", Verdict.LOWER: "#2277bb", Verdict.EQUIVALENT: "#1f8a64"}
    return f'<span style="color:{colours.get(verdict, "inherit")}">{verdict.sign}</span>'


def _cell(row: Row | None, summary: Summary) -> str:
    """A score with the mark of its verdict; all numbers stand in its tooltip."""
    if row is None:
        return ""
    star = "*" if row.driver is not None and row.differs else ""
    about = escape(printable(describe_row(row, summary.settings)))
    return f'<span title="{about}" style="white-space:nowrap">{_mark(row.verdict)}{star} {score_text(row)}</span>'
