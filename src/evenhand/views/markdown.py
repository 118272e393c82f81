"""A document as Markdown. Names come from data and are not trusted: markup is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch
from html import escape
from typing import Any

from ..auditing import Audit
from ..errors import printable
from .audit_document import document_of
from .document import Cell, Heading, Listing, Pairs, Paragraph, Table, Tally

__all__ = ["as_markdown"]

# Where GitHub begins to see a person or an e-mail address, an issue (#1, GH-1), an emoji (:+1:) and a formula ($x$).
_NOTICED = re.compile(r"(?<=@)|(?<=#)(?=\w)|(?<=\bgh-)(?=\d)|(?<=:)(?=[\w+-]+:)|(?=\$)", re.IGNORECASE)
# Where an address becomes a link.
_ADDRESSES = re.compile(r"(?<=www)(?=\.)|(?=://)", re.IGNORECASE)


_SECTIONS = ("opening", "matters", "findings", "places", "scores", "next", "notes", "claims", "formulas")


def as_markdown(audit: Audit) -> str:
    """The summary, the findings as a list, and all scores as tables."""
    document = document_of(audit)
    parts = [f"# {_text(document.title)}"]
    for section in document.named(*_SECTIONS):
        blocks = [text for block in section.blocks if (text := _block(block))]
        parts += [f"## {_text(section.title)}", *blocks] if section.title else blocks
    return "\n\n".join(parts) + "\n"


def _text(text: str) -> str:
    r"""Text from data, escaped for Markdown, also as GitHub shows it.

    GitHub looks for people, issues, emoji and formulas in the text that is left once backslashes are gone. A zero-width
    space keeps them apart; none can come from the data, where it would be escaped.

    >>> print(_text("<b> @ada #7 www.example.org"))
    &lt;b&gt; @&#8203;ada \#&#8203;7 www\.example.org
    """
    shown = escape(_NOTICED.sub("\u200b", printable(text)), quote=False)
    shown = "".join("\\" + c if c in "\\`*_[]|#~$" else c for c in shown)
    return _ADDRESSES.sub(r"\\", shown).replace("\u200b", "&#8203;")


@singledispatch
def _block(block: Any) -> str:
    """A block as Markdown; nothing of what only a page can show."""
    return ""


@_block.register
def _(block: Heading) -> str:
    return f"### {_text(block.text)}"


@_block.register
def _(block: Paragraph) -> str:
    return _text(block.text)


@_block.register
def _(block: Listing) -> str:
    items = []
    for item in block.items:
        severity, _, code = item.tag.partition(" ")
        tag = f"**{_text(severity)}** ({_text(code)}) " if item.tag else ""
        items.append(f"- {tag}{f'{item.verdict.sign} ' if item.verdict else ''}{_text(item.whole)}")
    title = f"{_text(block.title)}:\n\n" if block.title and items else ""
    return title + "\n".join(items)


@_block.register
def _(block: Tally) -> str:
    return f"Scores: {', '.join(f'{n:,} {verdict} {verdict.sign}' for verdict, n in block.counts.items())}."


@_block.register
def _(block: Pairs) -> str:
    return "\n".join(f"- {_text(word)}: {_text(text)}" for word, text in block.pairs)


@_block.register
def _(table: Table) -> str:
    head = _row(column.title for column in table.columns)
    marks = "".join("---:|" if column.kind == "number" else "---|" for column in table.columns)
    rows = [_row(_cell(column.read(line)) for column in table.columns) for line in table.lines]
    return "\n".join([head, f"|{marks}", *rows, *(f"\n{_text(note)}" for note in table.notes)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _cell(cell: Cell) -> str:
    mark = f"{cell.verdict.sign}{'*' if cell.starred else ''} " if cell.verdict else ""
    return f"{mark}{cell.text}"
