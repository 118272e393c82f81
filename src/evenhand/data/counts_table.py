"""Tables of confusion matrices, one row per group: mappings of columns, dataframes and files."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ..confusion import CELLS, ConfusionMatrix
from ..errors import InvalidInput, TooLarge, escaped
from .columns import is_mapping, is_path
from .files import described_rows, spool
from .frames import Key, Table, plain

_MAX_GROUPS = 100_000

CountsTable = tuple[tuple[str, ...], dict[Key, ConfusionMatrix], dict[str, Any]]


def read_counts(data: Any) -> CountsTable:
    """Read a table of confusion matrices: its group columns, one matrix per group, and the source of a file.

    All columns other than tp, fn, fp and tn are group columns; an empty value is None.

    >>> read_counts({"race": ["A"], "tp": [1], "fn": [2], "fp": [3], "tn": [4]})
    (('race',), {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)}, {})
    """
    name = "the table of counts"
    source: dict[str, Any] = {}
    if is_path(data):
        name = str(data)
        with spool(data) as path:
            titles, rows, source = described_rows(path, _MAX_GROUPS + 1)
        source |= {"format": "counts"}
    elif is_mapping(data):
        titles, rows = list(data), list(zip(*data.values(), strict=True))
    else:
        table = Table(data)
        titles = table.names
        rows = table.select(titles).head(_MAX_GROUPS + 1).collect().rows()
    if len(rows) > _MAX_GROUPS:
        raise TooLarge(f"a table of counts may have at most {_MAX_GROUPS:,} rows, one per group")
    titles = [str(title).strip() for title in titles]
    by, cells = _split_titles(titles, escaped(name))
    matrices: dict[Key, ConfusionMatrix] = {}
    for line, row in enumerate(rows, start=1):
        values = [
            value.strip() or None if isinstance(value, str) else value for value in map(plain, row)
        ]
        key = tuple(values[i] for i in by)
        if key in matrices:
            raise InvalidInput(
                f"row {line} of {escaped(name)} repeats the group {escaped(' & '.join(map(str, key)))}"
            )
        try:
            matrices[key] = ConfusionMatrix.from_array([_read_count(values[i]) for i in cells])
        except ValueError as error:
            raise InvalidInput(
                f"row {line} of {escaped(name)} has an invalid count: {escaped(error)}"
            ) from None
    if not matrices:
        raise InvalidInput(f"{escaped(name)} must have one row per group; got no rows")
    return tuple(titles[i] for i in by), matrices, source


def _split_titles(titles: list[str], name: str) -> tuple[list[int], list[int]]:
    """The positions of group columns and of the cells, each of which must have one column."""
    # A name that a file has twice ends in a number.
    folded = [title.casefold() for title in titles]
    stems = [title.rpartition(".")[0] or title for title in folded]
    repeated = [
        t
        for t, f, s in zip(titles, folded, stems, strict=True)
        if folded.count(f) > 1 or (s != f and s in CELLS)
    ]
    if repeated:
        raise InvalidInput(
            f"{name} must have distinct column names; got {escaped(' and '.join(repeated))}"
        )
    if not set(CELLS) <= set(folded):
        raise InvalidInput(
            f"{name} must have the columns tp, fn, fp and tn; got {escaped(', '.join(titles))}"
        )
    by = [i for i, title in enumerate(folded) if title not in CELLS]
    if not by:
        raise InvalidInput(
            f"{name} must have a column of groups besides tp, fn, fp and tn; got none"
        )
    return by, [folded.index(cell) for cell in CELLS]


def _read_count(value: Any) -> int:
    """A count as it is stored: texts are read."""
    if value is None or isinstance(value, float | Decimal):
        raise ValueError("nothing" if value is None else f"{value} is not a whole number")
    return int(value)
