"""A document as text for a terminal: a summary, tables that fit the width, and what their words mean.

Long names are wrapped. If several share a long beginning or end, that is left out, and said once; what tells them
apart is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import Any

from ..auditing import Audit, Monitor, Verdict
from ..errors import printable
from ..text_layout import aligned, columns, folded_text, wrapped
from ..wording import numbered
from .audit_document import document_of
from .document import Cell, Column, Heading, Listing, Pairs, Paragraph, Section, Table, Tally
from .monitor_document import monitor_document

__all__ = ["as_text", "monitor_text"]

_WIDTH, _NARROWEST = 80, 60
_ROWS, _FEWEST = 12, 4
_NAME, _SHORTEST_NAME, _WIDEST_NAME = 16, 8, 30
_KEY = 12
_LONG = 8


def as_text(
    audit: Audit,
    most: int | None = _ROWS,
    *,
    width: int = _WIDTH,
    colour: bool = False,
    verbose: bool = False,
    ways: tuple[str, str] = ("", ""),
) -> str:
    """What matters, the scores of all cases, what differs in tables of at most ``most`` lines, and what to do next.

    Without a limit, tables have all rows. ``verbose`` adds all findings, formulas, notes and the settings. ``ways`` say
    how to see the lines and findings that are left out.
    """
    document = document_of(audit)
    write = _Writer(max(width, _NARROWEST), most, colour, ways[0])
    title = [write.bold(line) for line in write.wrapped(document.title)]
    parts = [[*title, *write.section(section)] for section in document.named("opening")]
    parts += [write.section(section, ways[1]) for section in document.named("findings" if verbose else "matters")]
    parts += [write.section(section) for section in document.named("overall")]
    for section in document.named("scores"):
        lines = write.section(section)
        # Tables under headings of their own need no title, and a single table is the audit.
        untitled = not audit.axes or isinstance(section.blocks[0], Heading)
        parts.append(lines[lines[:1] == [""] :] if untitled else [write.bold(write.plain(section.title)), *lines])
    parts += [write.section(section) for section in document.named("next")]
    long = verbose or most is None
    parts += [write.section(section) for section in document.named("formulas") if long]
    names = ("notes", "claims") if long else ("legend",)
    notes = [line for section in document.named(*names) for line in write.section(section)]
    elided = [line for note in dict.fromkeys(write.elided) for line in write.wrapped(note)]
    parts.append([write.dim(line) for line in (*elided, *notes)])
    if verbose:
        parts += [[write.bold(one.title), *write.section(one)] for one in document.named("settings")]
    return "\n\n".join("\n".join(part) for part in parts if part)


def monitor_text(monitor: Monitor, most: int | None = _ROWS, *, way: str = "") -> str:
    """The alarms that a monitor raised, a table of at most ``most`` lines, and notes; ``way`` says how to see all."""
    document = monitor_document(monitor)
    write = _Writer(_WIDTH, most, False, way)
    parts = [line for section in document.named("opening", "rows", "notes") for line in write.section(section)]
    return "\n".join([*write.wrapped(document.title), *parts])


class _Writer:
    """Renders blocks as lines of a width, in the colours of a terminal or without."""

    def __init__(self, width: int, most: int | None, colour: bool, way: str) -> None:
        self.width, self.most, self._colour, self._way = width, most, colour, way
        self.elided: list[str] = []

    def plain(self, text: str) -> str:
        """Text from data, in which nothing controls the terminal."""
        return printable(text)

    def wrapped(self, text: str, width: int = 0) -> list[str]:
        return wrapped(self.plain(text), width or self.width)

    def _code(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def bold(self, text: str) -> str:
        return self._code(text, 1)

    def dim(self, text: str) -> str:
        return self._code(text, 2)

    def of_verdict(self, text: str, verdict: Verdict) -> str:
        """The text in that of the terminal's own colours which is nearest to the verdict's; dim for greys."""
        red, green, blue = (int(verdict.colour[i : i + 2], 16) > 127 for i in (1, 3, 5))
        nearest = red + 2 * green + 4 * blue
        return self._code(text, 30 + nearest if nearest else 2)

    def section(self, section: Section, way: str = "") -> list[str]:
        """The lines of all blocks that text can show; ``way`` stands behind a paragraph at the end."""
        *blocks, last = section.blocks
        ended = Paragraph(f"{last.text}{way}") if isinstance(last, Paragraph) else last
        return [line for block in (*blocks, ended) for line in self.lines(block)]

    @singledispatchmethod
    def lines(self, block: Any) -> list[str]:
        """The lines of a block; none of what only a page can show."""
        return []

    @lines.register
    def _(self, block: Heading) -> list[str]:
        return ["", *(self.bold(line) for line in self.wrapped(block.text))]

    @lines.register
    def _(self, block: Paragraph) -> list[str]:
        return self.wrapped(block.text)

    @lines.register
    def _(self, block: Listing) -> list[str]:
        lines: list[str] = []
        for item in block.items:
            mark = self.of_verdict(item.verdict.sign, item.verdict) if item.verdict else "-"
            text = f"{item.tag}: {item.whole}" if item.tag else item.whole
            first, *others = self.wrapped(text, self.width - 2)
            lines += [f"{mark} {first}", *(f"  {line}" for line in others)]
        return lines

    @lines.register
    def _(self, block: Tally) -> list[str]:
        lines: list[str] = []
        used = self.width
        for verdict, n in block.counts.items():
            text = f"{verdict.sign} {n:,} {verdict}"
            if used + len(text) + 3 > self.width:
                lines.append(self.of_verdict(text, verdict))
                used = len(text)
            else:
                lines[-1] += "   " + self.of_verdict(text, verdict)
                used += len(text) + 3
        return lines

    @lines.register
    def _(self, block: Pairs) -> list[str]:
        listed = [(self.plain(word), self.plain(text)) for word, text in block.pairs]
        left = max((columns(word) for word, _ in listed), default=0)
        room = max(self.width - left - 2, 20)
        return aligned([[word, "\n".join(wrapped(text, room))] for word, text in listed])

    @lines.register
    def _(self, table: Table) -> list[str]:
        lines = table.lines
        if self.most is not None:
            main = len(lines) if table.main is None else max(table.main, _FEWEST)
            lines = lines[: max(min(self.most, main), 0)]
        shown = [column for column in table.columns if not column.extra]
        drawn = self._drawn(table, shown, lines)
        if len(lines) < len(table.lines):
            drawn += self.wrapped(f"{table.left(table.lines[len(lines) :])}{self._way}")
        drawn += self.wrapped(table.omitted) if table.omitted else []
        return [*drawn, *(line for note in table.notes for line in self.wrapped(note))]

    def _drawn(self, table: Table, shown: Sequence[Column], lines: Sequence[Any]) -> list[str]:
        """The lines of a table: columns give way until it fits; what still does not fit goes on below."""
        cells = [[column.read(line) for column in shown] for line in lines]
        name = next(i for i, column in enumerate(shown) if column.kind == "name")
        texts = [[self._cell(cell) for cell in row] for row in cells]
        widths = _widths(shown, cells, texts)
        narrow = _widths(shown, cells, [list(map(_folded, row)) for row in texts])
        longest = max(map(columns, [shown[name].title, *(shown[name].read(line).text for line in table.lines)]))
        parts = self._parts(shown, widths, narrow, name, longest)
        folding = [i for i, column in enumerate(shown) if column.folds and widths[i] == narrow[i]]
        called = self._called(dict.fromkeys(row[name].text for row in cells), widths[name])
        for row, text in zip(cells, texts, strict=True):
            text[name] = called[row[name].text]
            for i in folding:
                text[i] = _folded(text[i])
        drawn = []
        for part in parts:
            rows = [[_spanned(row, text, i) for i in part] for row, text in zip(cells, texts, strict=True)]
            title, *others = aligned(
                [[shown[i].title for i in part], *rows],
                right=[k for k, i in enumerate(part) if shown[i].kind == "number"],
                widths={k: widths[i] for k, i in enumerate(part)},
                between=" ",
            )
            drawn += [self.bold(title), *others]
        return drawn

    def _cell(self, cell: Cell) -> str:
        text = self.plain(cell.text)
        if cell.verdict is None:
            return text
        return self.of_verdict(f"{cell.verdict.sign}{'*' if cell.starred else ' '}{text}", cell.verdict)

    def _parts(
        self, shown: Sequence[Column], widths: dict[int, int], narrow: dict[int, int], name: int, longest: int
    ) -> list[list[int]]:
        """The columns that stand beside each other, in one or several parts; the name takes the width that remains."""
        for i, column in enumerate(shown):
            if column.kind == "key":
                widths[i] = min(widths[i], max(_KEY, self.width // 5))
        kept = list(range(len(shown)))
        wanted = min(longest, _NAME)

        def room(beside: Sequence[int]) -> int:
            return self.width - sum(widths[i] + 1 for i in beside if i != name)

        giving = sorted((column.gives_way or column.folds, i) for i, column in enumerate(shown))
        giving = [(step, i) for step, i in giving if step]
        for _, i in giving:
            if room(kept) >= wanted:
                break
            if shown[i].folds:
                widths[i] = narrow[i]
            else:
                kept.remove(i)
        # What gave way before a wider column may fit beside what is left.
        for _, i in reversed(giving):
            if i not in kept and room([*kept, i]) >= wanted:
                kept = sorted([*kept, i])
        if giving or room(kept) >= wanted:
            widths[name] = min(longest, max(room(kept), _SHORTEST_NAME))
            return [kept]
        widths[name] = min(longest, _WIDEST_NAME)
        first = [i for i in kept if i == name or shown[i].title == "n"]
        parts = [first[:]]
        for i in kept:
            if i not in first:
                if len(parts[-1]) > len(first) and room([*parts[-1], i]) < widths[name]:
                    parts.append(first[:])
                parts[-1].append(i)
        return parts

    def _called(self, names: Iterable[str], room: int) -> dict[str, str]:
        """Names without the beginning and the end that all long ones share, told apart as they are wrapped."""
        long = sorted({name for name in names if len(folded_text(name, room)) > 2})
        short: dict[str, str] = {}
        if len(long) > 1:
            start = _shared(long)
            end = _shared([name[len(start) :][::-1] for name in long])[::-1]
            self.elided += [
                f"… at the {place} of a name stands for '{part}'."
                for place, part in (("start", start), ("end", end))
                if part
            ]
            short = {
                name: f"{'…' * bool(start)}{name[len(start) : len(name) - len(end)]}{'…' * bool(end)}" for name in long
            }
        return numbered({name: short.get(name, name) for name in names}, lambda name: tuple(folded_text(name, room)))


def _widths(shown: Sequence[Column], cells: Sequence[Sequence[Cell]], texts: Sequence[Sequence[str]]) -> dict[int, int]:
    """How wide each column is; a long text does not widen its own."""
    widths = {}
    for i, column in enumerate(shown):
        own = [text[i] for text, row in zip(texts, cells, strict=True) if not row[i].long]
        widths[i] = max(columns(line) for text in (column.title, *own) for line in text.split("\n"))
    return widths


def _folded(text: str) -> str:
    return text.replace(" and ", " and\n")


def _spanned(row: Sequence[Cell], texts: Sequence[str], i: int) -> str | None:
    """The text of a cell; None if a long text before it stands in its place."""
    before = next((cell for cell in reversed(row[:i]) if cell.text), None)
    return None if not row[i].text and before is not None and before.long else texts[i]


def _shared(texts: Sequence[str]) -> str:
    """The beginning that all texts share, up to the end of a word, if it is long; something remains of each."""
    # What the first and the last in alphabetical order share, all share.
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    end = next((i for i, (a, b) in pairs if a != b), min(map(len, texts)))
    word = re.match(r".*[\s/_&,;:-]", min(texts)[: min(end, min(map(len, texts)) - 1)], re.DOTALL)
    found = word.group() if word else ""
    return found if len(found) >= _LONG else ""
