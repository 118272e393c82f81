"""What a document is made of: sections of paragraphs, lists, pairs, tables and pictures.

An audit becomes a document once, and text, Markdown, notebooks and pages render it. Text in it is plain, as it is in
the data; each renderer escapes it in one place. A renderer chooses sections by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..auditing import Audit, Verdict
from ..wording import legible

__all__ = [
    "Block",
    "Cell",
    "Chart",
    "Code",
    "Column",
    "Curve",
    "Curves",
    "Document",
    "Heading",
    "Interactive",
    "Item",
    "Listing",
    "Pairs",
    "Paragraph",
    "Section",
    "Table",
    "Tally",
]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section, and what is said beside it."""

    text: str
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A command or a call, after the words that introduce it."""

    introduction: str
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list: its text, behind the mark of a verdict or a tag such as the code of a finding.

    ``group`` is the column and the group that it is about, ``harms`` whether it is to the disadvantage of the group.
    """

    text: str
    verdict: Verdict | None = None
    tag: str = ""
    group: tuple[str, str] | None = None
    harms: bool = False

    @property
    def worse(self) -> str:
        """For whom it is worse, in words; nothing if that is not said."""
        return f"Worse for {legible(self.group[1])}." if self.harms and self.group else ""

    @property
    def whole(self) -> str:
        """The text, and for whom it is worse."""
        return f"{self.text} {self.worse}".rstrip()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple[Item, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Words, and what they mean or what they are."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many scores got each verdict, and what the verdicts mean."""

    counts: Mapping[Verdict, int]
    meanings: Mapping[Verdict, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: text behind the mark of a verdict, with a star if one group of the reference decides it.

    ``detail`` is for views with more room, ``told`` everything about it. A ``long`` text also takes the place of the
    empty cells behind it.
    """

    text: str = ""
    verdict: Verdict | None = None
    starred: bool = False
    detail: str = ""
    told: str = ""
    long: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, and how a line is read into its cell.

    Columns that give way are left out of narrow tables, those with the lowest number first; ``extra`` columns are left
    out of all views with little room. The texts of one that ``folds`` go on below, after "and", once the columns with
    lower numbers have given way.
    """

    title: str
    read: Callable[[Any], Cell]
    kind: Literal["name", "key", "text", "number"] = "number"
    gives_way: int = 0
    extra: bool = False
    means: str = ""
    folds: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Columns over lines, which are read when they are shown.

    ``left`` says what is in lines that are left out, ``omitted`` what holds if extra columns are left out. The first
    ``main`` lines are those that a short text shows.
    """

    caption: str
    columns: tuple[Column, ...]
    lines: Sequence[Any]
    left: Callable[[Sequence[Any]], str]
    notes: tuple[str, ...] = ()
    omitted: str = ""
    main: int | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """The scores of groups of one column along thresholds; a table beside it has the same scores."""

    metric: str
    by: str
    thresholds: tuple[float, ...]
    lines: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Curve:
    """The evidence of a comparison after each batch, None before its first, and the place of its alarm."""

    name: str
    values: tuple[float | None, ...]
    alarm: int | None


@dataclass(frozen=True, slots=True)
class Curves:
    """Evidence over batches on a logarithmic scale, one small picture per comparison, with the line of alarms."""

    batches: tuple[str, ...]
    lines: tuple[Curve, ...]
    threshold: float


@dataclass(frozen=True, slots=True)
class Interactive:
    """The map of groups and metrics, findings and cards of an audit, which only a page can show."""

    audit: Audit


Block = Heading | Paragraph | Code | Listing | Pairs | Tally | Table | Chart | Curves | Interactive


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document, by whose name renderers choose it."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Sections under a title."""

    title: str
    sections: tuple[Section, ...]

    def named(self, *names: str) -> Iterator[Section]:
        """The sections with these names, in the order of the names."""
        return (section for name in names for section in self.sections if section.name == name)
