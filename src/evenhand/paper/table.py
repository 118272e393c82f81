"""A table on its way to a CSV file: the data behind a figure, and all that the figure is drawn from."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import Any

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def by(self, *columns: str) -> dict[Any, Table]:
        """The rows that share a value in this column, or a tuple of values in these, as they come."""
        key = itemgetter(*(self.columns.index(name) for name in columns))
        parts: dict[Any, Table] = {}
        for row in self.rows:
            parts.setdefault(key(row), Table(self.columns, [])).rows.append(row)
        return parts

    def __getitem__(self, column: str) -> list[Any]:
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def distinct(self, column: str) -> list[Any]:
        """The values of a column, each once, in the order in which they come."""
        return list(dict.fromkeys(self[column]))

    def texts(self) -> Iterator[tuple[str, ...]]:
        """The rows as they are printed: ten digits, and nothing where there is no number."""
        return (tuple(map(_text, row)) for row in self.rows)

    def write(self, path: Path) -> Path:
        """Write the table as CSV, and say where."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.texts())
        return path


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    return f"{value + 0.0:.10g}" if isinstance(value, float) else str(value)
