"""A CSV table of confusion matrices, one row for each group."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput

__all__ = ["read_counts"]


def read_counts(lines: Iterable[str], name: str) -> tuple[tuple[str, ...], dict[Any, ConfusionMatrix]]:
    """The group columns, and a matrix for each row; every column but tp, fn, fp and tn is a group column.

    >>> read_counts(["race,tp,fn,fp,tn", "A,1,2,3,4"], "counts.csv")
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)})
    """
    text = list(lines)
    head = text[0].lstrip("\ufeff") if text else ""
    separator = max(",;\t", key=head.count)
    try:
        rows = [row for row in csv.reader([head, *text[1:]], delimiter=separator) if row]
    except csv.Error as refusal:
        raise InvalidInput(f"{name} cannot be read: {refusal}") from None
    if len(rows) < 2:
        raise InvalidInput(f"{name} has no rows; a table of counts has a line for each group")
    titles = [title.strip() for title in rows[0]]
    at = {title.casefold(): i for i, title in enumerate(titles)}
    twice = [title for title in titles if sum(title.casefold() == other.casefold() for other in titles) > 1]
    if twice:
        raise InvalidInput(f"{name} has the column {twice[0]} twice")
    missing = [cell for cell in CELLS if cell not in at]
    if missing:
        raise InvalidInput(f"{name} must have columns tp, fn, fp and tn; {missing[0]} is not among {', '.join(titles)}")
    by = tuple(title for title in titles if title.casefold() not in CELLS)
    if not by:
        raise InvalidInput(f"{name} must have a column that names the groups, beside tp, fn, fp and tn")
    found: dict[Any, ConfusionMatrix] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(titles):
            raise InvalidInput(f"row {line} of {name} has {len(row)} values, its head {len(titles)}")
        key = tuple(row[at[title.casefold()]].strip() or None for title in by)
        if key in found:
            raise InvalidInput(f"row {line} of {name} gives the group {' & '.join(map(str, key))} a second time")
        try:
            found[key] = ConfusionMatrix(*(int(row[at[cell]]) for cell in CELLS))
        except ValueError as refusal:
            raise InvalidInput(f"row {line} of {name} has no counts: {refusal}") from None
    return by, found
