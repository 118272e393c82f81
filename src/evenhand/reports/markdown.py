"""An audit as Markdown. Names come from data and are not trusted: markup is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from math import isnan

from ..auditing import Audit
from ..errors import printable
from ..wording import number, percent, pvalue
from .narrative import gap_interval, interval_text
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
    level = percent(audit.settings["confidence_level"])
    compared = f"Each group against {summary.compared_with}; {summary.independence}"
    about = ". ".join([compared, summary.tests, summary.verdict_line])
    parts = [f"# {_escape(summary.title)}", _escape(f"{about}.")]
    parts += [_escape(summary.protection)] if summary.protection else []
    for name, rows in summary.key_groups.items():
        sentences = (
            " ".join(filter(None, [summary.sentence(row), summary.harm(row)])) for row in rows
        )
        items = (
            f"- {row.verdict.sign} {_escape(text)}"
            for row, text in zip(rows, sentences, strict=True)
        )
        parts.append("\n".join([f"**{_escape(name)}**", "", *items]))
    parts.append("## Scores")
    parts += [_escape(f"{place or 'Overall'}: {scores}.") for place, scores in summary.overall]
    head = [
        "group",
        "metric",
        "n",
        "score",
        f"{level} CI",
        "reference",
        "gap",
        f"{level} CI",
        "p",
        "verdict",
    ]
    lines = [_row(head), "|---|---|---:|---:|---|---:|---:|---|---:|---|"]
    for line in summary.lines:
        for row in line.rows.values():
            p = (
                ""
                if isnan(row.p_adjusted)
                else pvalue(row.p_adjusted, audit.settings["alpha"]).removeprefix("= ")
            )
            verdict = f"{row.verdict.sign} {row.reason or row.verdict}"
            gap = f"×{number(row.gap)}" if row.is_ratio else f"{row.gap:+.3f}"
            scores = [
                number(row.score),
                interval_text(row.low, row.high),
                number(row.reference_score),
            ]
            gaps = ["" if isnan(row.gap) else gap, gap_interval(row)]
            lines.append(
                _row([line.name, row.metric, f"{row.support:,}", *scores, *gaps, p, verdict])
            )
    parts.append("\n".join(lines))
    findings = [f"- {_escape(sentence)}" for sentence in summary.findings()]
    if findings:
        parts.append("\n".join(["## Findings", "", *findings]))
    parts.append(
        "\n".join(
            [
                "## Methods",
                "",
                *(f"- {_escape(word)}: {_escape(text)}" for word, text in summary.facts),
            ]
        )
    )
    cautions = ". ".join(summary.cautions)
    return "\n\n".join([*parts, *([_escape(f"{cautions}.")] if cautions else [])]) + "\n"


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
    shown = "".join(
        "\\" + character if character in "\\`*_[]|#~$" else character for character in shown
    )
    return _ADDRESSES.sub(r"\\", shown).replace("\u200b", "&#8203;")
