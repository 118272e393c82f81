"""The data behind a figure, on its way to a CSV file. A figure is drawn from its table and from nothing else."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import Any

__all__ = ["Table", "Value"]

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]

    def by(self, *columns: str) -> dict[Any, Table]:
        """Split the rows by their value in one column, or by their tuple of values in several."""
        key = itemgetter(*(self.columns.index(name) for name in columns))
        rows: dict[Any, list[tuple[Value, ...]]] = {}
        for row in self.rows:
            rows.setdefault(key(row), []).append(row)
        return {value: Table(self.columns, chosen) for value, chosen in rows.items()}

    def __getitem__(self, column: str) -> list[Any]:
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def distinct(self, column: str) -> list[Any]:
        """The distinct values of a column, in order of first appearance."""
        return list(dict.fromkeys(self[column]))

    def texts(self) -> Iterator[tuple[str, ...]]:
        """The rows as text: numbers with ten significant digits, missing values empty."""
        return (tuple(map(_text, row)) for row in self.rows)

    def write(self, path: Path) -> Path:
        """Write the table as CSV and return the path."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.texts())
        return path


def _text(value: Value) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    return f"{value + 0.0:.10g}" if isinstance(value, float) else str(value)
