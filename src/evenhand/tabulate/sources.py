"""What a path stands for, and what a file format is: the records that readers, doors and documentation share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, UnknownName, brief, escaped
from .frames import Counted, Cuts
from .tables import first_line

__all__ = ["NOT_UTF_8", "Format", "Packing", "Source", "check_columns", "check_types", "nothing", "unreadable"]

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """A compression that a format may come in.

    Attributes
    ----------
    ending : str
        What follows the ending of the format.
    name : str
        What DuckDB calls it.
    magic : bytes
        What such a file begins with.
    """

    ending: str
    name: str
    magic: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: all that any room knows about it.

    Attributes
    ----------
    key : str
        Its name in records.
    names : tuple of str
        What people call it.
    endings : tuple of str
        What names of files end in, in lower case; the first is the usual one.
    count : callable
        Takes a Source, names of columns, and cuts by position, and returns the counted rows; ``source`` has what is to
        be recorded besides the file itself.
    first_rows : callable
        Takes a Source and a number of rows, and returns the names of the columns and the rows.
    again : callable
        Takes a Source, and returns the columns whose name was there before, and the first column of that name.
    magic : bytes
        What such a file begins with; nothing for text.
    packings : tuple of Packing
        How it may be compressed.
    is_text : bool
        Whether all of its values are texts.
    one : str
        What a single file is called.
    together : bool
        Whether several files can be one table, and a glob stand for them.
    in_folders : bool
        Whether a folder stands for all such files below it.
    choice : str
        The word that chooses one of several tables in a file, as in ``people.db?table=NAME``.
    beside : str
        What is added to the name of a file for the one beside it that has what was written last.
    needs : str
        The library that reads it; nothing if Python does.
    """

    key: str
    names: tuple[str, ...]
    endings: tuple[str, ...]
    count: Callable[[Source, Sequence[str], Cuts], Counted]
    first_rows: Callable[[Source, int], tuple[list[str], Rows]]
    again: Callable[[Source], dict[str, str]] = lambda source: {}
    magic: bytes = b""
    packings: tuple[Packing, ...] = ()
    is_text: bool = False
    one: str = "file"
    together: bool = True
    in_folders: bool = False
    choice: str = ""
    beside: str = ""
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What a path stands for.

    Attributes
    ----------
    path : Path
        The path as it was given.
    format : Format
        What the files contain.
    files : list of Path
        At least one.
    root : Path
        The folder below which the names of folders may partition a table.
    name : str
        What the files are called together.
    table : str or None
        The table of a database, if it was named.
    skipped : int or None
        How many other files are in the folders that were given; None if none was.
    """

    path: Path
    format: Format
    files: list[Path]
    root: Path
    name: str
    table: str | None = None
    skipped: int | None = None


NOT_UTF_8 = (
    "it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: iconv -f latin1 -t utf-8), or read it "
    "with pandas and its encoding= and pass the frame"
)
"""Why a file of another encoding cannot be read, and what to do."""


def unreadable(path: object, why: object) -> InvalidInput:
    """The error for a file that cannot be read, with the first line of another library's error."""
    return InvalidInput(f"{escaped(path)} cannot be read: {first_line(why)}")


def nothing(path: object, has: str) -> InvalidInput:
    """The error for a file without rows."""
    return InvalidInput(f"{escaped(path)} {has}; there is nothing to audit")


def check_columns(found: Mapping[Path, Sequence[str]], columns: Sequence[str] | None) -> None:
    """Every file must have the columns; by default those of the first."""
    first = next(iter(found.values()))
    for name in first if columns is None else columns:
        if not any(name in there for there in found.values()):
            raise UnknownName.among("column", name, first)
        for file, there in found.items():
            times = there.count(name)
            if columns is not None and times > 1:
                raise InvalidInput(
                    f"{escaped(file)} must have the column {brief(name)} once; it is there {times} times"
                )
            if not times:
                listed = escaped(", ".join(there))
                raise InvalidInput(
                    f"{escaped(file)} must have the column {brief(name)}, as other files have; got {listed}"
                )


def check_types(types: Mapping[Path, Mapping[str, str]], columns: Sequence[str]) -> None:
    """Numbers of different types are widened; numbers and text are not mixed. Types are those of SQL."""
    for name in columns:
        kinds: dict[str, Path] = {}
        for file, there in types.items():
            if name in there:
                kinds.setdefault(_kind(there[name]), file)
        if len(kinds) > 1:
            listed = " and ".join(f"{kind} in {escaped(file)}" for kind, file in list(kinds.items())[:2])
            raise InvalidInput(f"{brief(name)} must have one type in all files; it contains {listed}")


def _kind(sql_type: str) -> str:
    base = sql_type.partition("(")[0].upper()
    if base in ("VARCHAR", "ENUM"):
        return "text"
    numeric = base in ("FLOAT", "DOUBLE", "DECIMAL") or base.endswith("INT") or base in ("INTEGER", "UINTEGER")
    return "numbers" if numeric else f"{sql_type.lower()}s"
