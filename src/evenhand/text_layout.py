"""Text in columns: how wide it is, how it is wrapped, and tables of aligned columns, as terminals show them.

Every table of text in this library is laid out here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from unicodedata import category, east_asian_width

__all__ = ["aligned", "columns", "folded_text", "text_table", "tied", "wrapped"]

_COLOURS = re.compile(r"\x1b\[\d+m")
_NARROWEST = 12
_BREAKS = "/_&,;:-"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide ones, none for colours and accents that combine."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    shown = _COLOURS.sub("", text)
    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in shown)


def folded_text(text: str, width: int, after: str = _BREAKS) -> list[str]:
    """The text on lines of at most ``width`` columns, broken behind blanks and some other characters if possible."""
    if columns(text) <= width:
        return [text.rstrip()]
    lines = [""]
    for piece in re.findall(rf"[^\s{after}]*[\s{after}]*", text):
        if columns(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines.append("")
        # Short pieces stay whole, and with them the codes of colours.
        if columns(piece.rstrip()) <= width:
            lines[-1] += piece
            continue
        for character in piece:
            if columns(lines[-1] + character) > width and not character.isspace():
                lines.append("")
            lines[-1] += character
    return [line.rstrip() for line in lines]


def wrapped(text: str, width: int) -> list[str]:
    """A sentence on lines of at most ``width`` columns; formulas in brackets, percentages and p-values stay whole."""
    return [_loose(line) for line in folded_text(_tied(text), width, after="")]


_TIE = "\x00"


def tied(text: str) -> str:
    """The text with blanks at which no line of a table is broken."""
    return text.replace(" ", _TIE)


def _tied(text: str) -> str:
    return re.sub(r"\([A-Z]{2}[^()]{0,20}\)|\d %|p [<=] [\d.]+", lambda found: found[0].replace(" ", _TIE), text)


def _loose(text: str) -> str:
    return text.replace(_TIE, " ")


def aligned(
    rows: Iterable[Sequence[str | None]],
    *,
    right: Collection[int] = (),
    widths: Mapping[int, int] | None = None,
    between: str = "  ",
    after: str = _BREAKS,
) -> list[str]:
    """Rows as lines of aligned columns; those in ``right`` to the right.

    A cell that is wider than its column goes on below, behind a blank or one of ``after`` if possible, and so does one
    with line breaks. None means that the cell before it takes the place of this one, too.

    >>> for line in aligned([["group", "n"], ["A", "7"], ["B, C", "12"]], right=[1]):
    ...     print(line)
    group   n
    A       7
    B, C   12
    """
    listed = [list(row) for row in rows]
    limits = dict(widths or {})
    last = max(map(len, listed), default=0) - 1
    for i in range(last + 1):
        if i not in limits:
            parts = [part for row in listed for part in (row[i] or "").split("\n") if not _spans(row, i)]
            limits[i] = max(map(columns, parts), default=0)
    return [line for row in listed for line in _lines(row, right, limits, between, after)]


def _spans(row: Sequence[str | None], i: int) -> bool:
    return row[i] is None or (i + 1 < len(row) and row[i + 1] is None)


def _lines(
    row: list[str | None], right: Collection[int], widths: Mapping[int, int], between: str, after: str
) -> list[str]:
    """One row, on as many lines as its highest cell takes."""
    cells: list[tuple[str, int, bool, bool]] = []
    for i, cell in enumerate(row):
        if cell is None:
            text, width, _, _ = cells[-1]
            cells[-1] = text, width + len(between) + widths[i], False, True
        else:
            cells.append((cell, widths[i], i in right, False))
    folded = [
        ([line for part in text.split("\n") for line in _folded(part, width, after, spans)], width, to_right)
        for text, width, to_right, spans in cells
    ]
    height = max(len(lines) for lines, _, _ in folded)
    return [
        between.join(
            _padded(lines[i] if i < len(lines) else "", width, to_right) for lines, width, to_right in folded
        ).rstrip()
        for i in range(height)
    ]


def _folded(text: str, width: int, after: str, sentence: bool) -> list[str]:
    return [_loose(line) for line in folded_text(_tied(text) if sentence else text, width, after)]


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * max(width - columns(text), 0)
    return blanks + text if right else text + blanks


def text_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    width: int = 80,
    after: str = _BREAKS,
) -> str:
    """A table as text; the widest columns to the left become narrower until it fits, and their cells go on below.

    >>> print(text_table(["metric", "score"], [["tpr", "0.5"], ["accuracy", "0.75"]], right=[1]))
    metric    score
    tpr         0.5
    accuracy   0.75
    """
    listed = [list(header), *map(list, rows)]
    widths = {i: max(columns(part) for row in listed for part in row[i].split("\n")) for i in range(len(header))}
    foldable = [i for i in widths if i not in right]
    while foldable and sum(widths.values()) + 2 * (len(widths) - 1) > width:
        widest = max(foldable, key=lambda i: widths[i])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return "\n".join(aligned(listed, right=right, widths=widths, after=after))
