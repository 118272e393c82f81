"""One group-by count, run by the engine that holds the data.

The engine does nothing else. Comparisons, nulls and labels mean different things in different engines, so they are
interpreted in Python on the counted rows. Only these are fetched; a lazy frame or a Spark table is never collected.
Numbers such as scores or ages have too many distinct values to be counted. They are cut: such a column is replaced by
its level, the number of cuts that are at or below the value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from ..cells import is_missing, is_sequence
from ..errors import InvalidInput, TooLarge, brief
from .tables import Table, first_line

__all__ = [
    "MOST_ROWS",
    "Counted",
    "Cuts",
    "count_columns",
    "count_frame",
    "gathered",
    "level",
    "plain",
]

# No audit has more distinct rows; if there are more, a column contains scores or identifiers.
MOST_ROWS = 200_000
# A decimal number with more digits stays one: it is neither a float nor worth that many digits.
_MOST_DIGITS = 300
# How many rows of values are counted at once.
_BLOCK = 1 << 16

Key = tuple[Any, ...]
Cuts = Mapping[int, tuple[float, ...]]


class Counted(NamedTuple):
    """Counted rows.

    Attributes
    ----------
    rows : Counter
        How often each combination of values occurs.
    library : str or None
        The dataframe library of the data, for results in the same library.
    source : dict of str to object
        Where the rows come from. Its ``kind`` is "file" (with name, files, size, sha256, format, and separator if it is
        text), "frame" (with library and shape) or "columns" (with shape). The shape is rows and columns; a lazy frame
        has None for rows, which are not known without computing it. If scores had two columns, ``score_column`` is 2,
        the one that was taken. If columns of the same name differ in a file, ``same_name`` says which, and in how many
        rows.
    orders : mapping of int to tuple
        By position, the values of columns that have an order of their own, such as an ordered categorical.
    """

    rows: Counter[Key]
    library: str | None
    source: dict[str, Any]
    orders: Mapping[int, tuple[Any, ...]] = MappingProxyType({})


def count_frame(native: Any, columns: Sequence[Hashable], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of a dataframe, each given by its name.

    A column with cuts, by its position, is counted by level: how many cuts are at or below the value, None if it is
    missing.
    """
    import narwhals.stable.v2 as nw

    table = Table(native)
    frame, called = table.select(columns)
    schema = frame.collect_schema()
    chosen = [
        _level(nw, schema[name], columns[i], name, cuts[i]) if i in cuts else nw.col(name)
        for i, name in enumerate(called)
    ]
    # With names of our own, a column can be selected twice, and no name is a keyword of an engine.
    names = [f"evenhand_{i}" for i in range(len(columns))]
    named = frame.select(*(c.alias(name) for c, name in zip(chosen, names, strict=True)))
    try:
        rows = _rows(named.group_by(*names).agg(nw.len().alias("evenhand_n")).head(MOST_ROWS + 1))
    except (ArithmeticError, NotImplementedError, TypeError) as error:
        raise InvalidInput(f"columns must contain numbers, text, booleans or dates; {first_line(error)}") from None
    orders = {i: order for i, name in enumerate(called) if (order := _order(schema[name]))}
    return Counted(gathered(rows), table.library, table.source, orders)


def count_columns(columns: Sequence[tuple[str, Any]], cuts: Cuts) -> Counted:
    """Count the combinations of values in columns that are lists or arrays, each with its name for messages.

    >>> count_columns([("race", ["A", "A"]), ("y_score", [0.7, 0.9])], {1: (0.5,)}).rows
    Counter({('A', 1): 2})
    """
    held = [_held(column, name) for name, column in columns]
    lengths = [(name, len(column)) for (name, _), column in zip(columns, held, strict=True)]
    if len({length for _, length in lengths}) > 1:
        listed = ", ".join(f"{name} {length:,}" for name, length in lengths)
        raise InvalidInput(f"columns must have the same length; got {listed}")
    indexes = [(name, column.index) for name, column in columns if hasattr(column, "iloc")]
    for name, index in indexes[1:]:
        if not index.equals(indexes[0][1]):
            raise InvalidInput(
                f"{indexes[0][0]} and {name} must have the same index; align them, or pass their values without it"
            )
    counts: Counter[Key] = Counter()
    for start in range(0, lengths[0][1], _BLOCK):
        parts = [_part(column, start) for column in held]
        values = [_levels(part, cuts[i], columns[i][0]) if i in cuts else _values(part) for i, part in enumerate(parts)]
        try:
            counts.update(zip(*values, strict=True))
        except TypeError as error:
            raise InvalidInput(f"columns must contain numbers, text, booleans or dates; {first_line(error)}") from None
        if len(counts) > MOST_ROWS:
            break
    source = {"kind": "columns", "shape": [lengths[0][1], len(columns)]}
    orders = {i: order for i, (_, column) in enumerate(columns) if (order := _order(getattr(column, "dtype", None)))}
    return Counted(gathered((*key, n) for key, n in counts.items()), None, source, orders)


def _order(dtype: Any) -> tuple[Any, ...]:
    """The values of an ordered categorical or an enumeration, in their order."""
    categories = getattr(dtype, "categories", None)
    if categories is None or not getattr(dtype, "ordered", True) or not hasattr(categories, "__iter__"):
        return ()
    return tuple(map(plain, categories))


def _held(column: Any, name: str) -> Any:
    """The column, or a list of its values if it has no length or no parts."""
    if not is_sequence(column):
        raise InvalidInput(f"{name} must be a sequence of values; got {brief(column)}")
    in_parts = isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "iloc") or hasattr(column, "to_pylist")
    return column if in_parts else _values(column)


def _part(column: Any, start: int) -> Any:
    """The values of some rows: as Python objects, those of all rows would take many times the memory of an array."""
    if hasattr(column, "to_pylist"):
        return column.slice(start, _BLOCK)
    rows = slice(start, start + _BLOCK)
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def _values(column: Any) -> list[Any]:
    if np.ma.is_masked(column):
        unmasked = _values(column.data)
        return [None if masked else value for value, masked in zip(unmasked, np.ma.getmaskarray(column), strict=True)]
    if getattr(getattr(column, "dtype", None), "kind", "") == "M":
        # `tolist` would turn dates into integers, their nanoseconds.
        return [None if np.isnat(value) else str(value) for value in np.asarray(column, dtype="datetime64[s]")]
    if hasattr(column, "tolist"):
        return list(column.tolist())
    listed = column.to_pylist() if hasattr(column, "to_pylist") else column
    return [None if value is np.ma.masked else value for value in listed]


def _levels(column: Any, cuts: tuple[float, ...], name: str) -> list[int | None]:
    if isinstance(column, np.ndarray) and not np.ma.is_masked(column) and column.dtype.kind in "biuf":
        numbers = column.astype(float)
        found: list[int | None] = np.searchsorted(cuts, numbers, side="right").tolist()
        for i in np.flatnonzero(np.isnan(numbers)):
            found[i] = None
        return found
    return [_level_of(value, cuts, name) for value in _values(column)]


def _level_of(value: Any, cuts: tuple[float, ...], name: str) -> int | None:
    if is_missing(value):
        return None
    if not isinstance(value, (Real, Decimal, np.bool_)):
        raise InvalidInput(f"{name} must contain numbers; got {brief(value)}")
    try:
        return level(float(value), cuts)
    except OverflowError:
        return len(cuts) if cast("float", value) > 0 else 0


def level(value: float, cuts: tuple[float, ...]) -> int | None:
    """How many of the ascending cuts are at or below a number; None for NaN.

    >>> level(25.0, (25, 45)), level(24.9, (25, 45)), level(float("nan"), (25, 45))
    (1, 0, None)
    """
    return None if value != value else bisect_right(cuts, value)


def _level(nw: Any, dtype: Any, name: Hashable, called: str, cuts: tuple[float, ...]) -> Any:
    """The level of a number; null if it is missing, since engines compare nulls and NaN differently.

    The number becomes a float of 64 bits, since engines differ in whether they round the cut to the type of the column.
    """
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise InvalidInput(f"{brief(name)} must contain numbers; it contains {dtype}")
    value = nw.col(called)
    missing = value.is_null()
    if dtype.is_float():
        missing = missing | value.is_nan()
    return nw.when(~missing).then(_added_up([(value.cast(nw.Float64) >= cut).cast(nw.Int32) for cut in cuts]))


def _added_up(terms: list[Any]) -> Any:
    """The sum of expressions, nested as little as possible: DuckDB and narwhals do not go down very deep."""
    half = len(terms) // 2
    return _added_up(terms[:half]) + _added_up(terms[half:]) if half else terms[0]


def _rows(frame: Any) -> list[Key]:
    """The counted rows as tuples; narwhals would need pyarrow to fetch those of DuckDB and Spark."""
    native, engine = frame.to_native(), str(frame.implementation).lower()
    if "duckdb" in engine:
        rows = native.fetchall()
    elif "pyspark" in engine:
        rows = [tuple(row) for row in native.collect()]
    else:
        rows = frame.collect().rows()
    return cast("list[Key]", rows)


def gathered(rows: Iterable[Key]) -> Counter[Key]:
    """Add up counted rows by plain values, so that rows that differ only in how a value is represented are one.

    >>> gathered([("A", 1.0, 3), ("A", 1, 2)])
    Counter({('A', 1): 5})
    """
    counts: Counter[Key] = Counter()
    for *values, n in rows:
        key = tuple(plain(value) for value in values)
        if any(isinstance(value, (list, dict)) for value in key):
            raise InvalidInput("columns must contain numbers, text, booleans or dates; got lists or structs")
        counts[key] += int(n)
        if len(counts) > MOST_ROWS:
            raise TooLarge(
                f"the columns have more than {MOST_ROWS:,} distinct combinations of values, so one of them contains "
                "scores or identifiers; choose another column, or pass scores as `y_score` with a `threshold`"
            )
    return counts


def plain(value: Any) -> Any:
    """A value of any library as a plain Python object: None if it is missing, ``int`` for a whole number.

    >>> plain(np.float64(2.0)), plain(float("nan")), plain("A")
    (2, None, 'A')
    """
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        # Nanoseconds would become an integer.
        value = value.astype("datetime64[us]").item()
    elif hasattr(value, "item"):
        value = list(value) if getattr(value, "shape", ()) else value.item()
    elif hasattr(value, "as_py"):
        return plain(value.as_py())
    elif hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, Decimal) and value.adjusted() < _MOST_DIGITS:
        value = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, Fraction) and abs(value) < 10**_MOST_DIGITS:
        value = value.numerator if value.denominator == 1 else float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
