"""A CSV table of confusion matrices, one row per group."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput, escaped
from ..wording import several
from .sources import unreadable

__all__ = ["decoded", "read_counts", "read_counts_file"]

Group = tuple[str | None, ...]


def read_counts(lines: Iterable[str], name: str) -> tuple[tuple[str, ...], dict[Group, ConfusionMatrix]]:
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
        rows = [row for row in csv.reader([header, *text[1:]], delimiter=separator, strict=True) if row]
    except csv.Error as error:
        raise unreadable(name, error) from None
    if len(rows) < 2:
        raise InvalidInput(f"{escaped(name)} must have one row per group below its header; got no rows")
    titles = [title.strip() for title in rows[0]]
    by = _group_columns(titles, name)
    at = {title.casefold(): i for i, title in enumerate(titles)}
    matrices: dict[Group, ConfusionMatrix] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(titles):
            raise InvalidInput(
                f"row {line} of {escaped(name)} must have {len(titles)} values, as its header has; got "
                f"{several(len(row), 'value')}"
            )
        group = tuple(row[at[title.casefold()]].strip() or None for title in by)
        if group in matrices:
            raise InvalidInput(
                f"row {line} of {escaped(name)} repeats the group {escaped(' & '.join(map(str, group)))}"
            )
        try:
            matrices[group] = ConfusionMatrix(*(int(row[at[cell]]) for cell in CELLS))
        except ValueError as error:
            raise InvalidInput(f"row {line} of {escaped(name)} has an invalid count: {escaped(error)}") from None
    return by, matrices


def read_counts_file(path: str | Path) -> tuple[tuple[str, ...], dict[Group, ConfusionMatrix], dict[str, Any]]:
    """Read a CSV file of confusion matrices as `read_counts` does, and record its name, size and SHA-256."""
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
        raise unreadable(name, "it is not UTF-8 text; save it as UTF-8") from None


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
