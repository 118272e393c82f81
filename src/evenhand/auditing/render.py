"""An audit as text for a terminal, Markdown for a document and HTML for a notebook.

Names come from data and are hostile: signs that steer a terminal are shown as escapes, and markup as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..errors import printable
from .findings import FOUR_FIFTHS, number
from .row import Row, labels

if TYPE_CHECKING:
    from .audit import Audit

__all__ = ["as_html", "as_markdown", "as_text"]

_SHORT = {"no evidence of a difference": "no evidence"}
_TITLES = (
    *("group", "metric", "n", "of", "score", "interval"),
    *("reference", "difference", "p", "p adjusted", "smoothed", "verdict"),
)
_WIDTH = 80
_ROWS, _NAMED = 24, 8


def as_text(audit: Audit, most: int | None = _ROWS) -> str:
    """A head, a table of at most ``most`` rows that is 80 columns wide, worst first, and what to know of it."""
    rows = audit.rows if most is None else audit.rows[:most]
    called = labels(audit.rows)
    table = [("group", "metric", "score", "interval", "reference", "p", "verdict")]
    table += [
        (
            printable(called[row.by, row.group]),
            printable(row.metric),
            number(row.score) if row.score is not None else "-",
            f"{number(row.low)} {number(row.high)}" if row.low is not None else "-",
            number(row.reference_score) if row.reference_score is not None else "-",
            "-" if row.p_adjusted is None else "<0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}",
            _SHORT.get(row.verdict, row.verdict),
        )
        for row in rows
    ]
    head = [line for text in _head(audit) for line in _wrapped(text)]
    lines = [*head, "", *_columns(table)]
    if len(rows) < len(audit.rows):
        lines.append(f"… and {len(audit.rows) - len(rows)} more rows, less worrying than these")
    return "\n".join([*lines, "", *_notes(audit)])


def _columns(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    widths[0] = min(widths[0], _WIDTH - sum(widths[1:]) - len(widths) + 1)
    right = {2, 3, 4, 5}
    lines = []
    for row in table:
        texts = zip((_shortened(row[0], widths[0]), *row[1:]), widths, strict=True)
        cells = [text.rjust(w) if i in right else text.ljust(w) for i, (text, w) in enumerate(texts)]
        lines.append(" ".join(cells).rstrip())
    return lines


def _shortened(text: str, width: int) -> str:
    """A long name without its middle: intersections differ at either end."""
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def _head(audit: Audit) -> list[str]:
    groups = {(row.by, row.group) for row in audit.rows}
    by = ", ".join(dict.fromkeys(printable(row.by) for row in audit.rows))
    counts = {kind: sum(f.kind == kind for f in audit.findings) for kind in ("differs", "undefined")}
    small = sum(row.verdict == "too small to tell" for row in audit.rows)
    calm = sum(row.verdict == "no evidence of a difference" for row in audit.rows)
    return [
        f"Audit of {audit.n:,} cases in {len(groups)} groups by {by}",
        f"Scores: {counts['differs']} differ, {counts['undefined']} undefined, {small} too small to tell, "
        f"{calm} no evidence of a difference",
    ]


def _notes(audit: Audit) -> list[str]:
    s = audit.settings
    adjusted = {
        "holm": "adjusted over groups (Holm)",
        "bh": "adjusted over groups (Benjamini-Hochberg)",
        "none": "not adjusted",
    }[str(s["adjust"])]
    notes = [
        f"Reference: {printable(str(s['reference']))}. Intervals {100 * audit.level:g} %. p: exact, level "
        f"{s['alpha']:g}, {adjusted}.",
        "No evidence of a difference does not mean that there is none. Too small to tell: a difference of "
        f"{s['detect']:g} would be seen less than half of the time.",
    ]
    notes += [printable(f.sentence) + "." for f in audit.findings if f.kind in ("left-out", "missing-group")]
    unequal = [row for row in audit.rows if row.impact_ratio is not None and row.impact_ratio < FOUR_FIFTHS]
    if unequal:
        shown = ", ".join(f"{printable(row.group)} {number(row.impact_ratio)}" for row in unequal[:_NAMED])
        more = f", and {len(unequal) - _NAMED} more" if len(unequal) > _NAMED else ""
        notes.append(f"Below four fifths of the highest predicted positive rate: {shown}{more}.")
    return [line for note in notes for line in _wrapped(note)]


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, _WIDTH, break_on_hyphens=False) or [""]


def as_markdown(audit: Audit) -> str:
    """Findings as a list, and every row as a table."""
    head, tally = _head(audit)
    lines = ["# " + _marked(head), "", tally + ".", "", "## Findings", ""]
    lines += [f"- **{f.severity}** ({f.code}) {_marked(f.sentence)}." for f in audit.findings] or ["- none"]
    lines += ["", "## All scores", ""]
    lines.append("| " + " | ".join(_TITLES) + " |")
    lines.append("|" + "---|" * len(_TITLES))
    lines += ["| " + " | ".join(_marked(cell) for cell in _cells(row)) + " |" for row in audit.rows]
    lines += ["", *(_marked(note) for note in _notes(audit)), ""]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    score = "undefined" if row.score is None else number(row.score)
    return (
        f"{row.by}: {row.group}",
        row.metric,
        str(row.n),
        "" if row.denominator is None else str(row.denominator),
        score if row.status == "ok" else row.status,
        _span(row.low, row.high),
        "" if row.reference_score is None else number(row.reference_score),
        ""
        if row.difference is None
        else f"{number(row.difference)} ({_span(row.difference_low, row.difference_high)})",
        "" if row.pvalue is None else f"{row.pvalue:.3g}",
        "" if row.p_adjusted is None else f"{row.p_adjusted:.3g}",
        "" if row.smoothed is None else f"{number(row.smoothed)} (λ {row.strength:g}, keeps {row.shrinkage:.0%})",
        row.verdict,
    )


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"


def _marked(text: str) -> str:
    """Text from data as text in Markdown."""
    shown = escape(printable(text), quote=False)
    return "".join("\\" + c if c in "\\`*_[]|#" else c for c in shown)


def as_html(audit: Audit) -> str:
    """A table for a notebook."""
    head, tally = _head(audit)
    titles = "".join(f'<th scope="col">{title}</th>' for title in _TITLES)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(printable(c))}</td>" for c in _cells(row)) + "</tr>" for row in audit.rows
    )
    caption = f"<caption>{escape(printable(head))}. {escape(tally)}.</caption>"
    return f"<table>{caption}<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
