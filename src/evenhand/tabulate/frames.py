"""One group-by count, pushed to the engine that holds the data.

Nothing else is asked of the engine: comparisons, nulls and labels mean different things in different engines, so they
are settled in Python on the counted rows. Only those come back; a lazy frame or a Spark table is never collected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ..cells import is_missing
from ..errors import InvalidInput, TooLarge, UnknownName

__all__ = ["MOST_ROWS", "Counted", "count_columns", "count_frame", "plain"]

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
    except nw.exceptions.NarwhalsError as refusal:
        raise InvalidInput(f"data cannot be read: {str(refusal).strip().splitlines()[0]}") from None
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


def count_columns(columns: Sequence[tuple[str, Any]], *, scored: bool, threshold: float) -> Counted:
    """Count the combinations of values in columns held in memory, as lists or arrays; scores come last."""
    values = [_values(column, name) for name, column in columns]
    lengths = [(name, len(column)) for (name, _), column in zip(columns, values, strict=True)]
    if len({length for _, length in lengths}) > 1:
        shown = ", ".join(f"{name} {length:,}" for name, length in lengths)
        raise InvalidInput(f"columns must be equally long; got {shown}")
    indexes = [(name, column.index) for name, column in columns if hasattr(column, "iloc")]
    for name, index in indexes[1:]:
        if not index.equals(indexes[0][1]):
            raise InvalidInput(
                f"{indexes[0][0]} and {name} have different indexes, so their rows do not belong together"
            )
    if scored:
        values[-1] = [_at_or_above(v, threshold) for v in values[-1]]
    try:
        return Counted(_gathered((*key, n) for key, n in Counter(zip(*values, strict=True)).items()), None)
    except TypeError as refusal:
        raise InvalidInput(f"columns must hold plain values; {refusal}") from None


def _values(column: Any, name: str) -> list[Any]:
    if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
        raise InvalidInput(f"{name} must be a column of values; got {column!r}")
    if getattr(getattr(column, "dtype", None), "kind", "") == "M":
        # Python would take the nanoseconds of a date for a number.
        return [None if np.isnat(value) else str(value) for value in np.asarray(column, dtype="datetime64[s]")]
    if np.ma.isMaskedArray(column) or hasattr(column, "tolist"):
        return list(column.tolist())
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


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
        key = tuple(plain(value) for value in values)
        if any(isinstance(value, (list, dict)) for value in key):
            raise InvalidInput("columns must hold plain values; got lists")
        counts[key] += int(n)
        if len(counts) > MOST_ROWS:
            raise TooLarge(
                f"the columns have more than {MOST_ROWS:,} different combinations of values, so one of them holds "
                "scores or identifiers rather than labels or groups; pass scores as y_score= with a threshold"
            )
    return counts


def plain(value: Any) -> Any:
    """A value as Python knows it: None for what is missing, and no whole number as a float."""
    if is_missing(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value) if value % 1 or not value.is_finite() else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
