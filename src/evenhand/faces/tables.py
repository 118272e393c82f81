"""An audit as text for a terminal, Markdown for a document and HTML for a notebook.

Names come from data and are not trusted: control characters are escaped, and markup is shown as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from ..auditing import Audit, Row, Verdict, labels, number, several
from ..errors import printable
from ..inference import FOUR_FIFTHS, strength_text
from ..metrics import metric as find_metric

__all__ = ["adjustment", "as_html", "as_markdown", "as_text", "smoothing_text"]

_TITLES = (
    *("group", "metric", "n", "cases", "score", "interval"),
    *("reference", "gap", "p", "p adjusted", "smoothed", "verdict"),
)
_WIDTH = 80
_ROWS, _NAMED = 24, 8


def as_text(audit: Audit, most: int | None = _ROWS) -> str:
    """A heading, a table of at most ``most`` rows, 80 columns wide, and notes."""
    rows = audit.rows if most is None else audit.rows[:most]
    called = labels(audit.rows)
    table = [("group", "metric", "score", "versus", "gap", f"{100 * audit.level:g} % interval", "p", "verdict")]
    table += [
        (
            printable(called[row.by, row.group]),
            printable(row.metric),
            _or_dash(row.score),
            _or_dash(row.reference_score),
            *_gap(row),
            "-" if row.p_adjusted is None else "<0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}",
            f"{row.verdict}{' *' if row.driver else ''}",
        )
        for row in rows
    ]
    head = [line for text in _head(audit) for line in _wrapped(text)]
    lines = [*head, "", *_columns(table)]
    if left := len(audit.rows) - len(rows):
        lines.append(f"… and {several(left, 'more row')}")
    return "\n".join([*lines, "", *_notes(audit)])


def _or_dash(value: float | None) -> str:
    return "-" if value is None else number(value)


def _gap(row: Row) -> tuple[str, str]:
    """The gap and its interval: a difference, or a ratio for unbounded scores."""
    if find_metric(row.metric).comparisons:
        return "-", _ends(row.low, row.high)
    if row.ratio_low is not None:
        return "-" if row.ratio is None else f"x{number(row.ratio)}", _ends(row.ratio_low, row.ratio_high)
    gap = (
        "-"
        if row.difference is None
        else f"{row.difference:+.3f}"
        if abs(row.difference) < 100
        else number(row.difference)
    )
    return gap, _ends(row.difference_low, row.difference_high)


def _ends(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{number(low)} {number(high)}"


def _columns(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    widths[0] = max(8, min(widths[0], _WIDTH - sum(widths[1:]) - len(widths) + 1))
    right = {2, 3, 4, 5, 6}
    lines = []
    for row in table:
        texts = zip((_shortened(row[0], widths[0]), *row[1:]), widths, strict=True)
        cells = [text.rjust(w) if i in right else text.ljust(w) for i, (text, w) in enumerate(texts)]
        lines.append(" ".join(cells).rstrip())
    return lines


def _shortened(text: str, width: int) -> str:
    """A long name without its middle, since names of intersections differ at both ends."""
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def _head(audit: Audit) -> list[str]:
    groups = {(row.by, row.group) for row in audit.rows}
    by = ", ".join(dict.fromkeys(printable(row.by) for row in audit.rows))
    counts = {verdict: sum(row.verdict is verdict for row in audit.rows) for verdict in Verdict}
    shown = [f"{n} {verdict}" for verdict, n in counts.items() if n or verdict is not Verdict.REFERENCE]
    return [f"Audit of {audit.n:,} cases in {several(len(groups), 'group')} by {by}", f"Scores: {', '.join(shown)}"]


def adjustment(audit: Audit) -> str:
    """How p-values are adjusted, in words."""
    s = audit.settings
    over = "groups" if s["family"] == "metric" else "groups and metrics"
    method = {"holm": "Holm", "bh": "Benjamini-Hochberg"}.get(str(s["adjust"]))
    return f"adjusted over {over} ({method})" if method else "not adjusted"


def _notes(audit: Audit) -> list[str]:
    s = audit.settings
    exact = "exact" if all(row.test != "posterior" for row in audit.rows) else "of equal scores"
    notes = [
        f"Reference: {printable(str(s['reference']))}. p: {exact}, {adjustment(audit)}; at or below {s['alpha']:g} a "
        f"score is higher or lower. Alike: the whole interval of the gap lies within ±{s['margin']:g} (a ratio within "
        "0.8 to 1.25). Too few to tell: neither.",
    ]
    driven = [row for row in audit.rows if row.driver]
    if driven:
        shown = "; ".join(
            f"{printable(row.group)} {row.metric} {row.without_verdict} without {printable(row.driver or '')}"
            for row in driven[:_NAMED]
        )
        notes.append(f"* The verdict depends on one group of the reference: {shown}{_more(driven)}.")
    notes += [printable(f.sentence) + "." for f in audit.findings if f.kind in ("left-out", "missing-group", "spread")]
    below = [row for row in audit.rows if row.impact_high is not None and row.impact_high < FOUR_FIFTHS]
    if below:
        shown = ", ".join(f"{printable(row.group)} {number(row.impact_ratio)}" for row in below[:_NAMED])
        best = printable(str(below[0].impact_group))
        notes.append(f"Below four fifths of the highest rate ({best}), interval and all: {shown}{_more(below)}.")
    return [line for note in notes for line in _wrapped(note)]


def _more(rows: Sequence[Row]) -> str:
    return f", and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""


def _wrapped(text: str) -> list[str]:
    return wrap(text, _WIDTH, break_on_hyphens=False) or [""]


def as_markdown(audit: Audit) -> str:
    """The findings as a list, and all rows as a table."""
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
    gap, ends = _gap(row)
    return (
        f"{row.by}: {row.group}",
        row.metric,
        str(row.n),
        str(row.basis),
        row.status if row.reason else _or_dash(row.score),
        "" if row.low is None else f"{number(row.low)} to {number(row.high)}",
        "" if row.reference_score is None else number(row.reference_score),
        "" if gap == "-" else f"{gap} ({ends.replace(' ', ' to ')})" if ends != "-" else gap,
        "" if row.pvalue is None else f"{row.pvalue:.3g}",
        "" if row.p_adjusted is None else f"{row.p_adjusted:.3g}",
        smoothing_text(row),
        str(row.verdict),
    )


def smoothing_text(row: Row) -> str:
    """A smoothed score with its strength, and the share of a gap that remains."""
    if row.smoothed is None or row.strength is None:
        return ""
    by_split = {"prev": row.strength, "tpr": row.strength_tpr, "fpr": row.strength_fpr}
    strength = strength_text(by_split if row.strength_tpr is not None else row.strength)  # type: ignore[arg-type]
    keeps = "" if row.shrinkage is None else f", keeps {row.shrinkage:.0%}"
    return f"{number(row.smoothed)} (λ {strength}{keeps})"


def _marked(text: str) -> str:
    """Text from data, escaped for Markdown."""
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
