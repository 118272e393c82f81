"""The cells and notes that tables of an audit share, and the audit as Markdown for a document.

Names come from data and are not trusted: control characters are escaped, and markup is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from ..auditing import Audit, Row, compared_with, number
from ..errors import printable
from ..inference import FOUR_FIFTHS, strength_text
from ..metrics import metric as find_metric
from .overview import metrics_of, names_of, opening, tally_text

__all__ = [
    "adjustment",
    "as_markdown",
    "gap_ends",
    "gap_text",
    "marked",
    "metric_lines",
    "notes",
    "settings_text",
    "smoothing_text",
]

_TITLES = (
    *("group", "metric", "n", "cases", "score", "interval"),
    *("reference", "gap", "p", "p adjusted", "smoothed", "verdict"),
)
_NAMED = 4
# Where GitHub begins to see a person or an e-mail address, an issue (#1, GH-1), an emoji (:+1:) and a formula ($x$).
_NOTICED = re.compile(r"(?<=@)|(?<=#)(?=\w)|(?<=\bgh-)(?=\d)|(?<=:)(?=[\w+-]+:)|(?=\$)", re.IGNORECASE)
# Where an address becomes a link.
_ADDRESSES = re.compile(r"(?<=www)(?=\.)|(?=://)", re.IGNORECASE)


def gap_text(row: Row) -> tuple[str, str]:
    """The gap and its interval: a difference, or a ratio for unbounded scores."""
    ends = " ".join(map(number, gap_ends(row))) or "-"
    if find_metric(row.metric).comparisons:
        return "-", ends
    if row.ratio_low is not None:
        return "-" if row.ratio is None else f"x{number(row.ratio)}", ends
    if row.difference is None:
        return "-", ends
    return f"{row.difference:+.3f}" if abs(row.difference) < 100 else number(row.difference), ends


def gap_ends(row: Row) -> tuple[float, ...]:
    """The ends of the gap's interval, or nothing if there is none."""
    if find_metric(row.metric).comparisons:
        low, high = row.low, row.high
    elif row.ratio_low is not None:
        low, high = row.ratio_low, row.ratio_high
    else:
        low, high = row.difference_low, row.difference_high
    return () if low is None or high is None else (low, high)


def adjustment(audit: Audit) -> str:
    """How p-values are adjusted, in words."""
    s = audit.settings
    together = ["groups"]
    together += ["classes"] * ("class" in audit.record) + ["levels"] * ("level" in audit.record)
    together += ["metrics"] * (s["family"] != "metric")
    *others, last = together
    over = f"{', '.join(others)} and {last}" if others else last
    method = {"holm": "Holm", "bh": "Benjamini-Hochberg"}.get(str(s["adjust"]))
    return f"adjusted over {over} ({method})" if method else "not adjusted"


def notes(audit: Audit) -> list[str]:
    """What columns, verdicts and marks mean in this audit, and what the table cannot show."""
    s = audit.settings
    exact = "exact" if all(row.test != "posterior" for row in audit.rows) else "of equal scores"
    said = [
        f"cases: those that the score rests on. p: {exact}, {adjustment(audit)}; at or below {s['alpha']:g} a score is "
        f"higher or lower. Alike: the whole interval of the gap lies within ±{s['margin']:g} (a ratio within 0.8 to "
        "1.25). Too few to tell: neither.",
    ]
    names = names_of(audit)
    driven = [row for row in audit.rows if row.driver]
    if driven:
        shown = "; ".join(
            f"{names[row.by, row.group]} {row.metric} {row.without_verdict} without {printable(row.driver or '')}"
            for row in driven[:_NAMED]
        )
        said.append(f"* The verdict depends on one group of the reference: {shown}{_more(driven)}.")
    below = [row for row in audit.rows if row.impact_high is not None and row.impact_high < FOUR_FIFTHS]
    if below:
        shown = ", ".join(f"{names[row.by, row.group]} {number(row.impact_ratio)}" for row in below[:_NAMED])
        best = printable(str(below[0].impact_group))
        rate = f"rate of {audit.settings['favourable']} predictions"
        said.append(
            f"Below four fifths of the highest {rate} ({best}), even at the upper end of the interval: "
            f"{shown}{_more(below)}."
        )
    return said


def metric_lines(audit: Audit) -> list[tuple[str, str]]:
    """Each metric's key, and its name, formula and better scores in words."""
    return [
        (m.key, f"{m.name} = {m.formula}{'' if m.better == 'neither' else f'; better: {m.better}'}")
        for m in metrics_of(audit)
    ]


def settings_text(audit: Audit) -> list[tuple[str, str]]:
    """The settings and versions, by name."""
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    return [*((name, _setting(value)) for name, value in audit.settings.items()), ("versions", versions)]


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_setting(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    words = {"None": "none", "True": "yes", "False": "no"}
    return words.get(str(value), str(value))


def _more(rows: Sequence[Row]) -> str:
    return f", and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""


def as_markdown(audit: Audit) -> str:
    """The findings as a list, and all rows as a table."""
    compared = f"Each group is compared with {marked(compared_with(audit.rows))}."
    lines = ["# " + marked(opening(audit)), "", f"{compared} Scores: {tally_text(audit.rows)}."]
    lines += ["", "## Findings", ""]
    lines += [f"- **{f.severity}** ({f.code}) {marked(f.sentence)}." for f in audit.findings] or ["- none"]
    lines += ["", "## All scores", ""]
    lines.append("| " + " | ".join(_TITLES) + " |")
    lines.append("|" + "---|" * len(_TITLES))
    lines += ["| " + " | ".join(marked(cell) for cell in _cells(row)) + " |" for row in audit.rows]
    lines += ["", *(marked(note) for note in notes(audit)), "", "## Metrics", ""]
    lines += [*(f"- {marked(key)}: {marked(text)}" for key, text in metric_lines(audit)), ""]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    gap, ends = gap_text(row)
    return (
        f"{row.by}: {row.group}",
        row.metric,
        str(row.n),
        str(row.basis),
        row.status if row.reason else "-" if row.score is None else number(row.score),
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


def marked(text: str) -> str:
    r"""Text from data, escaped for Markdown, also as GitHub shows it.

    GitHub looks for people, issues, emoji and formulas in the text that is left once backslashes are gone. A zero-width
    space keeps them apart; none can come from the data, where it would be escaped.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Markdown that shows the text, on one line, and nothing else.

    Examples
    --------
    >>> print(marked("<b> @ada #7 www.example.org"))
    &lt;b&gt; @&#8203;ada \#&#8203;7 www\.example.org
    """
    shown = escape(_NOTICED.sub("\u200b", printable(text)), quote=False)
    shown = "".join("\\" + c if c in "\\`*_[]|#~$" else c for c in shown)
    return _ADDRESSES.sub(r"\\", shown).replace("\u200b", "&#8203;")
