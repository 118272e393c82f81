"""Text in columns: the width of text, line breaks, and tables of aligned columns for terminals.

All tables of text in this library are laid out here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from unicodedata import category, east_asian_width

_COLOURS = re.compile(r"\x1b\[\d+m")
# Formulas in brackets, percentages and p-values are not broken.
_UNBROKEN = re.compile(r"\([A-Z]{2}[^()]{0,20}\)|\d %|p [<=] [\d.]+")
_TIE = "\x00"
_MIN_WIDTH = 12
_BREAKS = "/_&,;:-"

Row = Sequence[str | None]


def columns(text: str) -> int:
    """The width of a text in a terminal: wide characters count twice, colours and accents not."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    drawn = [c for c in _COLOURS.sub("", text) if category(c) not in ("Mn", "Me")]
    return len(drawn) + sum(east_asian_width(c) in ("W", "F") for c in drawn)


def folded_text(text: str, width: int, after: str = _BREAKS) -> list[str]:
    """The text on lines of at most ``width`` columns, broken after blanks and ``after`` if possible."""
    if columns(text) <= width:
        return [text.rstrip()]
    lines = [""]
    for piece in re.findall(rf"[^\s{after}]*[\s{after}]*", text):
        if lines[-1] and columns(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        # Short pieces stay whole, and with them the codes of colours.
        for part in [piece] if columns(piece.rstrip()) <= width else piece:
            if columns(lines[-1] + part.rstrip()) > width:
                lines.append("")
            lines[-1] += part
    return [line.rstrip() for line in lines]


def tied(text: str) -> str:
    """The text with blanks at which no line is broken."""
    return text.replace(" ", _TIE)


def wrapped(text: str, width: int, after: str = "") -> list[str]:
    """A sentence on lines of at most ``width`` columns; formulas and p-values stay whole."""
    sentence = _UNBROKEN.sub(lambda part: tied(part[0]), text)
    return [line.replace(_TIE, " ") for line in folded_text(sentence, width, after)]


def aligned(
    rows: Iterable[Row],
    *,
    right: Collection[int] = (),
    widths: Mapping[int, int] | None = None,
    between: str = "  ",
    after: str = _BREAKS,
) -> list[str]:
    """Rows as lines of aligned columns; those in ``right`` are aligned to the right.

    A cell that is wider than its column, or that has line breaks, continues on the next line. A
    cell followed by None extends over the next column, too.

    >>> for line in aligned([["group", "n"], ["A", "7"], ["B, C", "12"]], right=[1]):
    ...     print(line)
    group   n
    A       7
    B, C   12
    """
    listed = [list(row) for row in rows]
    limits = dict(widths or {})
    for i in range(max(map(len, listed), default=0)):
        texts = [row[i] or "" for row in listed if None not in row[i : i + 2]]
        parts = [part for text in texts for part in text.split("\n")]
        limits.setdefault(i, max(map(columns, parts), default=0))
    lines = []
    for row in listed:
        cells: list[list[str]] = []
        for i, text in enumerate(row):
            if text is None:
                continue
            end = next((k for k in range(i + 1, len(row)) if row[k] is not None), len(row))
            width = sum(limits[k] for k in range(i, end)) + len(between) * (end - i - 1)
            fold = wrapped if end > i + 1 else folded_text
            folded = [line for part in text.split("\n") for line in fold(part, width, after)]
            to_right = i in right and end == i + 1
            cells.append([_pad(line.replace(_TIE, " "), width, to_right) for line in folded])
        height = max(map(len, cells))
        padded = [cell + [" " * columns(cell[0])] * (height - len(cell)) for cell in cells]
        lines += [between.join(line).rstrip() for line in zip(*padded, strict=True)]
    return lines


def _pad(text: str, width: int, to_right: bool) -> str:
    blanks = " " * (width - columns(text))
    return blanks + text if to_right else text + blanks


def text_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    width: int = 80,
    after: str = _BREAKS,
) -> str:
    """A table as text; the widest columns to the left become narrower until it fits.

    >>> print(text_table(["metric", "score"], [["tpr", "0.5"], ["accuracy", "0.75"]], right=[1]))
    metric    score
    tpr         0.5
    accuracy   0.75
    """
    listed = [list(header), *map(list, rows)]
    by_column = enumerate(zip(*listed, strict=True))
    widths = {i: max(map(columns, "\n".join(cells).split("\n"))) for i, cells in by_column}
    foldable = [i for i in widths if i not in right]
    while foldable and sum(widths.values()) + 2 * (len(widths) - 1) > width:
        widest = max(foldable, key=lambda i: widths[i])
        if widths[widest] <= _MIN_WIDTH:
            break
        widths[widest] -= 1
    return "\n".join(aligned(listed, right=right, widths=widths, after=after))
