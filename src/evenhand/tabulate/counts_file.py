"""A CSV table of confusion matrices, one row per group."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput

__all__ = ["read_counts"]

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
