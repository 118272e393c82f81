"""A CSV table of confusion matrices, one row per group."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput

__all__ = ["decoded", "read_counts", "read_counts_file"]

Group = tuple[str | None, ...]


def read_counts(lines: Iterable[str], name: str) -> tuple[tuple[str, ...], dict[Group, ConfusionMatrix]]:
    """Read a CSV table of confusion matrices.

    Parameters
    ----------
    lines : iterable of str
        The header and one line per group, with their ends if values contain line breaks. Values are separated by
        commas, semicolons or tabs. All columns other than tp, fn, fp and tn are group columns.
    name : str
        What error messages call the table.

    Returns
    -------
    columns : tuple of str
        The names of the group columns.
    counts : dict of tuple to ConfusionMatrix
        One matrix per group; an empty value is None.

    Examples
    --------
    >>> read_counts(["race,tp,fn,fp,tn", "A,1,2,3,4"], "counts.csv")
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)})
    """
    text = list(lines)
    header = text[0].lstrip("\ufeff") if text else ""
    separator = max(",;\t", key=header.count)
    try:
        rows = [row for row in csv.reader([header, *text[1:]], delimiter=separator, strict=True) if row]
    except csv.Error as error:
        raise InvalidInput(f"{name} cannot be read: {error}") from None
    if len(rows) < 2:
        raise InvalidInput(f"{name} must have one row per group below its header; got no rows")
    titles = [title.strip() for title in rows[0]]
    by = _group_columns(titles, name)
    at = {title.casefold(): i for i, title in enumerate(titles)}
    matrices: dict[Group, ConfusionMatrix] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(titles):
            values = f"{len(row)} value{'s' * (len(row) != 1)}"
            raise InvalidInput(f"row {line} of {name} must have {len(titles)} values, as its header has; got {values}")
        group = tuple(row[at[title.casefold()]].strip() or None for title in by)
        if group in matrices:
            raise InvalidInput(f"row {line} of {name} repeats the group {' & '.join(map(str, group))}")
        try:
            matrices[group] = ConfusionMatrix(*(int(row[at[cell]]) for cell in CELLS))
        except ValueError as error:
            raise InvalidInput(f"row {line} of {name} has an invalid count: {error}") from None
    return by, matrices


def read_counts_file(path: str | Path) -> tuple[tuple[str, ...], dict[Group, ConfusionMatrix], dict[str, Any]]:
    r"""Read a CSV file of confusion matrices.

    Parameters
    ----------
    path : str or Path
        The file, in UTF-8.

    Returns
    -------
    columns, counts
        As for `read_counts`.
    source : dict
        The name of the file, its size and its SHA-256.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "counts.csv")
    ...     _ = path.write_text("race,tp,fn,fp,tn\nA,1,2,3,4\n")
    ...     columns, counts, source = read_counts_file(path)
    >>> columns, counts, source["size"]
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)}, 27)
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {path}") from None
    except OSError as refusal:
        raise InvalidInput(f"{_short(str(path))} cannot be read: {refusal.strerror}") from None
    except ValueError as refusal:
        raise InvalidInput(f"{str(path)!r} cannot be read: {refusal}") from None
    columns, counts = read_counts(decoded(content, str(path)), str(path))
    source = {"kind": "file", "name": Path(path).name, "size": len(content), "sha256": sha256(content).hexdigest()}
    return columns, counts, source | {"format": "counts"}


def decoded(content: bytes, name: str) -> list[str]:
    r"""The lines of a text in UTF-8, with their ends.

    Parameters
    ----------
    content : bytes
        The text.
    name : str
        What error messages call it.

    Returns
    -------
    list of str
        The lines.

    Examples
    --------
    >>> decoded(b"a\r\nb", "counts.csv")
    ['a\r\n', 'b']
    """
    try:
        return list(StringIO(content.decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} cannot be read: it is not UTF-8 text; save it as UTF-8") from None


def _short(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:200]}…"


def _group_columns(titles: list[str], name: str) -> tuple[str, ...]:
    """The columns other than the cells, after checking that each cell has one column."""
    folded = [title.casefold() for title in titles]
    twice = [title for title in titles if folded.count(title.casefold()) > 1]
    if twice:
        raise InvalidInput(f"{name} must have distinct column names; got {' and '.join(twice)}")
    if not set(CELLS) <= set(folded):
        raise InvalidInput(f"{name} must have the columns tp, fn, fp and tn; got {', '.join(titles)}")
    by = tuple(title for title in titles if title.casefold() not in CELLS)
    if not by:
        raise InvalidInput(f"{name} must have a column of groups besides tp, fn, fp and tn; got none")
    return by
