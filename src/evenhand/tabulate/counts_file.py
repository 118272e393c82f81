"""A table of confusion matrices, one row per group: a file or a dataframe."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from decimal import Decimal
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput, TooLarge, escaped
from ..wording import several
from .delimited import csv_problem, csv_reader
from .files import described_rows
from .frames import plain
from .sources import NOT_UTF_8, unreadable
from .tables import Table

__all__ = ["counts_frame", "decoded", "read_counts", "read_counts_file"]

Group = tuple[Any, ...]
Read = tuple[tuple[str, ...], dict[Group, ConfusionMatrix]]
_MOST_GROUPS = 100_000


def read_counts(lines: Iterable[str], name: str) -> Read:
    """Read a CSV table of confusion matrices: its group columns, and one matrix per group.

    Values are separated by commas, semicolons or tabs. All columns other than tp, fn, fp and tn are group columns; an
    empty value is None.

    >>> read_counts(["race,tp,fn,fp,tn", "A,1,2,3,4"], "counts.csv")
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)})
    """
    text = list(lines)
    header = text[0].lstrip("\ufeff") if text else ""
    separator = max(",;\t", key=header.count)
    try:
        rows = [row for row in csv_reader([header, *text[1:]], separator, strict=True) if row]
    except csv.Error as error:
        raise unreadable(name, csv_problem(error)) from None
    if len(rows) < 2:
        raise InvalidInput(f"{escaped(name)} must have one row per group below its header; got no rows")
    titles = [title.strip() for title in rows[0]]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(titles):
            raise InvalidInput(
                f"row {line} of {escaped(name)} must have {len(titles)} values, as its header has; got "
                f"{several(len(row), 'value')}"
            )
    return _matrices(titles, [[text.strip() or None for text in row] for row in rows[1:]], name, first=2)


def _matrices(titles: list[str], rows: Iterable[Sequence[Any]], name: str, first: int = 1) -> Read:
    """The group columns of a table, and one matrix per row; ``first`` is the number of the first row in messages."""
    by = _group_columns(titles, name)
    at = {title.casefold(): i for i, title in enumerate(titles)}
    matrices: dict[Group, ConfusionMatrix] = {}
    for line, row in enumerate(rows, start=first):
        group = tuple(row[at[title.casefold()]] for title in by)
        if group in matrices:
            raise InvalidInput(
                f"row {line} of {escaped(name)} repeats the group {escaped(' & '.join(map(str, group)))}"
            )
        try:
            matrices[group] = ConfusionMatrix(*(_count(row[at[cell]]) for cell in CELLS))
        except ValueError as error:
            raise InvalidInput(f"row {line} of {escaped(name)} has an invalid count: {escaped(error)}") from None
    if not matrices:
        raise InvalidInput(f"{escaped(name)} must have one row per group; got no rows")
    return by, matrices


def _count(value: Any) -> int:
    """A count as it is stored: whole numbers may be floats or texts."""
    if isinstance(value, float | Decimal) and value == int(value):
        return int(value)
    if value is None or isinstance(value, float | Decimal):
        raise ValueError("nothing" if value is None else f"{value} is not a whole number")
    return int(value)


def counts_frame(data: Any) -> Read:
    """Read a dataframe of confusion matrices, one row per group; its columns are those of `read_counts`.

    >>> import polars as pl
    >>> counts_frame(pl.DataFrame({"race": ["A"], "tp": [1], "fn": [2], "fp": [3], "tn": [4]}))
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)})
    """
    table = Table(data)
    frame, called = table.select(table.names)
    found = frame.head(_MOST_GROUPS + 1).collect()
    if len(found) > _MOST_GROUPS:
        raise TooLarge(f"a table of counts may have at most {_MOST_GROUPS:,} rows, one per group")
    columns = [[plain(value) for value in found.get_column(name).to_list()] for name in called]
    return _matrices([str(name) for name in table.names], list(zip(*columns, strict=True)), "the table of counts")


def read_counts_file(path: str | Path) -> tuple[tuple[str, ...], dict[Group, ConfusionMatrix], dict[str, Any]]:
    """Read a file of confusion matrices as `read_counts` does, and record its name, size and SHA-256.

    A CSV file is read as it is; any other kind is read as `audit` reads it.
    """
    if Path(path).suffix.lower() not in ("", ".csv", ".tsv", ".txt"):
        titles, rows, source = described_rows(path, _MOST_GROUPS + 1)
        if len(rows) > _MOST_GROUPS:
            raise TooLarge(f"a table of counts may have at most {_MOST_GROUPS:,} rows, one per group")
        columns, counts = _matrices(titles, [list(map(plain, row)) for row in rows], str(path))
        return columns, counts, source | {"format": "counts"}
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {escaped(path)}") from None
    except OSError as refusal:
        shown = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}…"
        raise unreadable(shown, refusal.strerror) from None
    except ValueError as refusal:
        raise unreadable(repr(str(path)), refusal) from None
    columns, counts = read_counts(decoded(content, str(path)), str(path))
    source = {"kind": "file", "name": Path(path).name, "size": len(content), "sha256": sha256(content).hexdigest()}
    return columns, counts, source | {"format": "counts"}


def decoded(content: bytes, name: str) -> list[str]:
    """The lines of a text in UTF-8, with their ends."""
    try:
        return list(StringIO(content.decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError:
        raise unreadable(name, NOT_UTF_8) from None


def _group_columns(titles: list[str], name: str) -> tuple[str, ...]:
    """The columns other than the cells, after checking that each cell has one column."""
    folded = [title.casefold() for title in titles]
    twice = [title for title in titles if folded.count(title.casefold()) > 1]
    if twice:
        raise InvalidInput(f"{escaped(name)} must have distinct column names; got {escaped(' and '.join(twice))}")
    if not set(CELLS) <= set(folded):
        raise InvalidInput(f"{escaped(name)} must have the columns tp, fn, fp and tn; got {escaped(', '.join(titles))}")
    by = tuple(title for title in titles if title.casefold() not in CELLS)
    if not by:
        raise InvalidInput(f"{escaped(name)} must have a column of groups besides tp, fn, fp and tn; got none")
    return by
