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
    name, source = "the table of counts", dict[str, Any]()
    if is_path(data):
        name = escaped(data)
        with spool(data) as path:
            (titles, rows), source = described_rows(path, _MAX_GROUPS + 1)
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
    folded = [title.casefold() for title in titles]
    repeated = [title for title in titles if folded.count(title.casefold()) > 1]
    by = [i for i, title in enumerate(folded) if title not in CELLS]
    for is_refused, must, got in (
        (repeated, "distinct column names", " and ".join(repeated)),
        (not {*CELLS} <= {*folded}, "the columns tp, fn, fp and tn", ", ".join(titles)),
        (not by, "a column of groups besides tp, fn, fp and tn", "none"),
        (not rows, "one row per group", "no rows"),
    ):
        if is_refused:
            raise InvalidInput(f"{name} must have {must}; got {escaped(got)}")
    matrices: dict[Key, ConfusionMatrix] = {}
    for line, row in enumerate(rows, start=1):
        texts = (value.strip() or None if isinstance(value, str) else value for value in row)
        values = list(map(plain, texts))
        key = tuple(values[i] for i in by)
        if key in matrices:
            group = escaped(" & ".join(map(str, key)))
            raise InvalidInput(f"row {line} of {name} repeats the group {group}")
        try:
            cells = [_read_count(values[folded.index(cell)]) for cell in CELLS]
            matrices[key] = ConfusionMatrix.from_array(cells)
        except ValueError as error:
            why = escaped(error)
            raise InvalidInput(f"row {line} of {name} has an invalid count: {why}") from None
    return tuple(titles[i] for i in by), matrices, source


def _read_count(value: Any) -> int:
    """A count as it is stored: texts are read."""
    if value is None or isinstance(value, float | Decimal):
        raise ValueError("nothing" if value is None else f"{value} is not a whole number")
    return int(value)
