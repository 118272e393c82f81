"""What every face says of an audit before its details, and the names under which groups appear.

Names come from data and are not trusted: control characters, also those that reverse text, are escaped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ..auditing import Audit, Row, Verdict, labels, several, untold
from ..auditing import headlines as told
from ..errors import printable
from ..metrics import Metric
from ..metrics import metric as find_metric

__all__ = [
    "Headline",
    "headlines",
    "metrics_of",
    "names_of",
    "opening",
    "tally",
    "tally_text",
    "told_apart",
]

Key = TypeVar("Key")

_LONGEST = 400
_OF_DATA = ("spread", "left-out", "missing-group", "absent-label", "chosen-reference")


def opening(audit: Audit) -> str:
    """How many cases and groups were audited, and by which columns."""
    groups = {(row.by, row.group) for row in audit.rows}
    used = {row.by for row in audit.rows}
    asked = [by for by in map(str, audit.settings["groups"]) if by in used]
    by = ", ".join(printable(column) for column in dict.fromkeys([*asked, *sorted(used)]))
    of = f", class {printable(repr(audit.record['class']))} against the rest" if "class" in audit.record else ""
    if "level" in audit.record:
        of = f", within level {printable(repr(audit.record['level']))}"
    return f"Audit of {audit.n:,} cases in {several(len(groups), 'group')} by {by}{of}"


def tally(rows: Sequence[Row]) -> dict[Verdict, int]:
    """How many scores got each verdict; the reference's own are left out if there are none."""
    counts = Counter(row.verdict for row in rows)
    return {v: counts[v] for v in Verdict if counts[v] or v is not Verdict.REFERENCE}


def tally_text(rows: Sequence[Row]) -> str:
    """The tally in words."""
    return ", ".join(f"{n} {verdict}" for verdict, n in tally(rows).items())


class Headline(NamedTuple):
    """A sentence of the summary, with the verdict that it is about, if any."""

    verdict: Verdict | None
    sentence: str


def headlines(audit: Audit) -> list[Headline]:
    """What is wrong with the data as such, the differences that matter most, and what could not be told."""
    verdicts = {(row.by, row.group, row.metric): row.verdict for row in audit.rows}
    first = [f.sentence + "." for f in audit.findings if f.kind == "constant"]
    differ = [Headline(verdicts[h.by, h.group, h.metric], printable(str(h))) for h in told(audit.rows, audit.settings)]
    last = [*untold(audit.rows, audit.settings), *(f.sentence + "." for f in audit.findings if f.kind in _OF_DATA)]
    return [
        *(Headline(None, printable(sentence)) for sentence in first),
        *differ,
        *(Headline(None, printable(sentence)) for sentence in last),
    ]


def names_of(audit: Audit) -> dict[tuple[str, str], str]:
    """The text that stands for each group; no two are alike, and those that would be are numbered.

    Blanks that would be lost from sight, at an end or beside each other, are shown as ␣.
    """
    return told_apart({key: _legible(name) for key, name in labels(audit.rows).items()})


def told_apart(names: Mapping[Key, str], look: Callable[[str], object] = str) -> dict[Key, str]:
    """The names, with a number behind those that look the same as one before."""
    taken = {look(name) for name in names.values()}
    shown: dict[Key, str] = {}
    used: set[object] = set()
    for key, name in names.items():
        unique, i = name, 1
        while look(unique) in used or (i > 1 and look(unique) in taken):
            i += 1
            unique = f"{name} ({i})"
        used.add(look(unique))
        shown[key] = unique
    return shown


def _legible(name: str) -> str:
    text = printable(name)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return re.sub(r"^ +| +$| {2,}", lambda blanks: "␣" * len(blanks[0]), text) or "''"


def metrics_of(audit: Audit) -> list[Metric]:
    """The metrics in the order in which they were asked for."""
    keys = dict.fromkeys(row.metric for row in audit.rows)
    asked = audit.settings.get("metrics")
    first = [key for key in asked if key in keys] if isinstance(asked, list) else []
    return [find_metric(key) for key in dict.fromkeys([*first, *keys])]
