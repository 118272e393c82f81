"""An audit as Markdown. Names come from data and are not trusted: markup is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from ..auditing import Audit, Row
from ..errors import printable
from ..wording import number
from .narrative import gap_interval, gap_text, goal_text, interval_text, pvalue_text
from .summary import Summary

# Where GitHub begins to see a person or an e-mail address, an issue (#1, GH-1), an emoji (:+1:) and a formula ($x$).
_NOTICED = re.compile(
    r"(?<=@)|(?<=#)(?=\w)|(?<=\bgh-)(?=\d)|(?<=:)(?=[\w+-]+:)|(?=\$)", re.IGNORECASE
)
# Where an address becomes a link.
_ADDRESSES = re.compile(r"(?<=www)(?=\.)|(?=://)", re.IGNORECASE)


def as_markdown(audit: Audit) -> str:
    """The key sentences, all scores as a table, the findings and how the audit was made."""
    summary = Summary(audit)
    tests = [summary.tests, summary.verdict_line] if summary.rows else []
    said = filter(None, [summary.opening, *tests, summary.goal_line])
    about = "".join(f"{text}. " for text in said).rstrip()
    parts = [f"# {_escape(summary.title)}", _escape(about), _escape(summary.protection)]
    for name, rows in summary.key_groups.items():
        texts = [f"{row.verdict.sign} {summary.sentence_with_harm(row)}" for row in rows]
        parts.append(_list(f"**{_escape(name)}**", texts))
    parts.append("## Scores")
    overall = summary.overall.items()
    parts += [_escape(f"{place or 'Overall'}: {scores}.") for place, scores in overall]
    parts += [_list(_escape(f"{across}:"), texts) for across, texts in summary.variation.items()]
    ci = f"{summary.level} CI"
    compared = [(line.name, row) for line in summary.lines for row in line.rows.values()]
    goals = [(summary.name_row(row), row) for row in summary.goals]
    lines = [_row(["group", "metric", "n", "score", ci, "reference", "gap", ci, "p", "verdict"])]
    lines += ["|---|---|---:|---:|---|---:|---:|---|---:|---|"]
    for head, some in (("", compared), ("## Goals", goals)):
        if some:
            of_rows = (_row(_cells(row, name, summary)) for name, row in some)
            parts += [head, "\n".join([*lines, *of_rows])]
    if audit.findings:
        parts.append(_list("## Findings", [f"{finding}." for finding in audit.findings]))
    parts.append(_list("## Methods", [f"{word}: {text}" for word, text in summary.facts]))
    parts.append(_escape(summary.caution))
    return "\n\n".join(filter(None, parts)) + "\n"


def _list(head: str, items: Iterable[str]) -> str:
    return "\n".join([head, "", *(f"- {_escape(item)}" for item in items)])


def _cells(row: Row, name: str, summary: Summary) -> list[str]:
    interval = interval_text(row.low, row.high)
    gap = [gap_text(row), gap_interval(row), pvalue_text(row, summary.settings)]
    verdict = f"{row.verdict.sign} {row.reason or row.verdict}"
    scores = [number(row.score), interval, goal_text(row) or number(row.reference_score)]
    return [name, row.metric, f"{row.support:,}", *scores, *gap, verdict]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escape, cells))} |"


def _escape(text: str) -> str:
    r"""Text from data, escaped for Markdown, also as GitHub shows it.

    GitHub looks for people, issues, emoji and formulas in the text that is left once backslashes are gone. A zero-width
    space keeps them apart; none can come from the data, where it would be escaped.

    >>> print(_escape("<b> @ada #7 www.example.org"))
    &lt;b&gt; @&#8203;ada \#&#8203;7 www\.example.org
    """
    shown = escape(_NOTICED.sub("\u200b", printable(text)), quote=False)
    shown = re.sub(r"[\\`*_\[\]|#~$]", r"\\\g<0>", shown)
    return _ADDRESSES.sub(r"\\", shown).replace("\u200b", "&#8203;")
