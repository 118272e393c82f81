"""One group-by count, pushed to the engine that holds the data.

Nothing else is asked of the engine: comparisons, nulls and labels mean different things in different engines, so they
are settled in Python on the counted rows. Only those come back; a lazy frame or a Spark table is never collected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..cells.labels import is_missing
from ..errors import InvalidInput, TooLarge, UnknownName

__all__ = ["MOST_ROWS", "Counted", "count_columns", "count_frame"]

# More different rows than any audit has; beyond it a column holds scores or identifiers.
MOST_ROWS = 200_000

Key = tuple[Any, ...]


class Counted(NamedTuple):
    """How often each combination of values occurs, and the dataframe library to answer in."""

    rows: Counter[Key]
    library: str | None


def count_frame(native: Any, columns: Sequence[str], score: str | None, threshold: float) -> Counted:
    """Count the combinations of values in ``columns``; those of ``score`` as at or above ``threshold``, or below."""
    import narwhals.stable.v2 as nw

    native = _with_one_dictionary(native)
    try:
        frame = nw.from_native(native).lazy()
    except TypeError:
        raise InvalidInput(
            f"data must be a dataframe, a mapping of columns or a path to a file; got {type(native).__name__}"
        ) from None
    schema = frame.collect_schema()
    for name in columns:
        if name not in schema:
            raise UnknownName.among("column", name, schema.names())
    chosen = [_reached(nw, schema, name, threshold) if name == score else nw.col(name) for name in columns]
    # Under names of our own, a column may be asked for twice, and no name is a keyword anywhere.
    names = [f"evenhand_{i}" for i in range(len(columns))]
    named = frame.select(*(c.alias(name) for c, name in zip(chosen, names, strict=True)))
    counted = named.group_by(*names).agg(nw.len().alias("evenhand_n")).head(MOST_ROWS + 1)
    return Counted(_gathered(_rows(counted)), _library(nw.from_native(native)))


def count_columns(columns: Mapping[str, Any], score: str | None, threshold: float) -> Counted:
    """Count the combinations of values in columns held in memory, as lists or arrays."""
    values = {name: _values(column, name) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InvalidInput(f"columns must be equally long; got {shown}")
    if score is not None:
        values[score] = [_at_or_above(v, threshold) for v in values[score]]
    return Counted(_gathered((*key, n) for key, n in Counter(zip(*values.values(), strict=True)).items()), None)


def _values(column: Any, name: str) -> list[Any]:
    if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
        raise InvalidInput(f"{name} must be a column of values; got {column!r}")
    if np.ma.isMaskedArray(column) or hasattr(column, "tolist"):
        found = column.tolist()
    elif hasattr(column, "to_pylist"):
        found = column.to_pylist()
    else:
        found = list(column)
    if any(isinstance(value, (list, dict, set)) for value in found[:1]):
        raise InvalidInput(f"{name} must be one column of plain values; got rows of {type(found[0]).__name__}")
    return list(found)


def _at_or_above(value: Any, threshold: float) -> int | None:
    if is_missing(value):
        return None
    if isinstance(value, (str, bytes)):
        raise InvalidInput(f"y_score must hold numbers; got {value!r}")
    return int(value >= threshold)


def _reached(nw: Any, schema: Any, name: str, threshold: float) -> Any:
    """Whether a score reaches the threshold; nothing where there is no score, which engines rank in different ways."""
    if not schema[name].is_numeric():
        raise InvalidInput(f"y_score must be a column of numbers; {name!r} holds {schema[name]}")
    score = nw.col(name)
    missing = score.is_null()
    if schema[name].is_float():
        missing = missing | score.is_nan()
    return nw.when(~missing).then((score >= threshold).cast(nw.Int8))


def _with_one_dictionary(native: Any) -> Any:
    """An Arrow table may have a dictionary for each chunk, and cannot be grouped by them."""
    return native.unify_dictionaries() if hasattr(native, "unify_dictionaries") else native


def _rows(frame: Any) -> Any:
    """The counted rows as tuples; DuckDB and Spark give them without pyarrow if asked themselves."""
    native, engine = frame.to_native(), str(frame.implementation).lower()
    if "duckdb" in engine:
        return native.fetchall()
    if "pyspark" in engine:
        return [tuple(row) for row in native.collect()]
    return frame.collect().rows()


def _library(frame: Any) -> str | None:
    name = str(frame.implementation).lower().rsplit(".", maxsplit=1)[-1]
    return {"dask": "pandas", "modin": "pandas"}.get(name, name) if name in _ANSWERS else None


_ANSWERS = ("pandas", "polars", "pyarrow", "dask", "modin")


def _gathered(rows: Any) -> Counter[Key]:
    """Counts by values as Python knows them: one None for what is missing, and no whole number as a float."""
    counts: Counter[Key] = Counter()
    for *values, n in rows:
        counts[tuple(_plain(value) for value in values)] += int(n)
        if len(counts) > MOST_ROWS:
            raise TooLarge(
                f"the columns have more than {MOST_ROWS:,} different combinations of values, so one of them holds "
                "scores or identifiers rather than labels or groups; pass scores as y_score= with a threshold"
            )
    return counts


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value).__name__ == "Decimal":
        return int(value) if value == int(value) else float(value)
    return value
