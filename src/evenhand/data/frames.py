"""One group-by, run by the engine that holds the data, or by Python for lists and arrays.

The engine does nothing else. Comparisons, nulls and labels mean different things in different engines, so they are
interpreted in Python on the counted rows. Only these are fetched; a lazy frame or a Spark table is never collected.
Numbers such as scores or ages have too many distinct values to be counted. They are cut: such a column is replaced by
its level, the number of cuts that are at or below the value.

Values that differ are never merged: what Python cannot hold exactly, such as nanoseconds, is refused. Values that are
equal but for their representation are one: 1 and 1.0, 0.0 and -0.0, 0.1 in 32 and in 64 bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import inf
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import is_sequence
from ..confusion import is_missing
from ..errors import InvalidInput, TooLarge, UnknownName, brief, escaped

if TYPE_CHECKING:
    from narwhals.stable.v2 import Expr, LazyFrame
    from narwhals.stable.v2.dtypes import DType

    Lazy = LazyFrame[Any]

# No audit has more distinct rows; if there are more, a column contains scores or identifiers.
MOST_ROWS = 200_000
# How many rows of values are counted at once: as Python objects, all of them would take much more memory.
_BLOCK = 1 << 16
# A decimal number with more digits is neither a float nor worth that many digits.
_MOST_DIGITS = 300
_KINDS = "columns must contain numbers, text, booleans or dates"
# Types of fewer than 64 bits, as NumPy, pandas, polars, Arrow and narwhals call them.
_SHORT = {"float": "f4", "float32": "f4", "halffloat": "f2", "float16": "f2"}

Key = tuple[Any, ...]
Cuts = Mapping[int, tuple[float, ...]]
Column = tuple[str, Any]
"""What messages call a column, and its name or its values."""


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
        the one that was taken.
    orders : mapping of int to tuple
        By position, the values of columns that have an order of their own, such as an ordered categorical.
    """

    rows: Counter[Key]
    library: str | None
    source: dict[str, Any]
    orders: Mapping[int, Key] = MappingProxyType({})


class Table:
    """A dataframe of any library that narwhals supports, with names of columns that no engine interprets.

    Attributes
    ----------
    frame : narwhals.DataFrame or narwhals.LazyFrame
        The dataframe itself.
    engine : str
        The name of the library that holds it.
    is_lazy : bool
        Whether its rows are not in memory.
    names : list of hashable
        The names of its columns.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"race": ["A", "B"], "label": [1, 0]}))
    >>> table.source
    {'kind': 'frame', 'library': 'polars', 'shape': [2, 2]}
    """

    def __init__(self, native: object) -> None:
        import narwhals.stable.v2 as nw

        if hasattr(type(native), "unify_dictionaries"):
            # An Arrow table can have one dictionary per chunk, and cannot be grouped by such a column.
            native = native.unify_dictionaries()  # type: ignore[attr-defined]
        try:
            self.frame: Any = nw.from_native(native)
            self.names: list[Any] = self.frame.collect_schema().names()
        except TypeError:
            raise InvalidInput(
                "`data` must be a dataframe, a mapping of columns or a path to a file; got "
                f"{type(native).__name__}; pass a dataframe made of it"
            ) from None
        except nw.exceptions.NarwhalsError as error:
            why = escaped(" ".join(str(error).split()))
            raise InvalidInput(f"`data` cannot be read: {why}") from None
        self.engine: str = self.frame.implementation.name.lower()
        self.is_lazy = not isinstance(self.frame, nw.DataFrame)

    @property
    def library(self) -> str | None:
        """The library in which results are returned; None for engines without tables in memory."""
        library = "pandas" if self.engine in ("dask", "modin") else self.engine
        return library if library in ("pandas", "polars", "pyarrow") else None

    @property
    def source(self) -> dict[str, Any]:
        """Its library and shape."""
        rows = None if self.is_lazy else len(self.frame)
        return {"kind": "frame", "library": self.engine, "shape": [rows, len(self.names)]}

    def column(self, name: Hashable) -> Any:
        """The values of a column, which must be in memory."""
        return self.frame[:, self.place(name)].to_native()

    def select(self, columns: Sequence[Hashable]) -> Lazy:
        """These columns, which may repeat, called ``evenhand_0`` and so on."""
        import narwhals.stable.v2 as nw

        native = self.frame.to_native()
        # Spark and DuckDB would interpret names.
        unique = [f"evenhand_x{i}" for i in range(len(self.names))]
        if "pyspark" in self.engine:
            native = native.toDF(*unique)
        elif self.engine == "duckdb":
            native = native.project(", ".join(f"#{i} AS {x}" for i, x in enumerate(unique, 1)))
        chosen = [nw.nth(self.place(name)).alias(f"evenhand_{i}") for i, name in enumerate(columns)]
        frame: Lazy = nw.from_native(native).lazy().select(*chosen)
        return frame

    def place(self, name: Hashable) -> int:
        """The position of a column."""
        for i, known in enumerate(self.names):
            # 1 and True are two names.
            if known == name and isinstance(known, bool) == isinstance(name, bool):
                return i
        raise unknown_column(name, self.names)


def count_frame(
    native: object, columns: Sequence[Hashable], cuts: Cuts, titles: Sequence[Hashable] = ()
) -> Counted:
    """Count the combinations of values in some columns of a dataframe, each given by its name.

    A column with cuts, by its position, is counted by level: how many cuts are at or below the value, None if it is
    missing. Messages call the columns by their ``titles``, if there are any.
    """
    import narwhals.stable.v2 as nw

    table = Table(native)
    frame = table.select(columns)
    types = frame.collect_schema()
    keys, nanoseconds = [], []
    for i, (name, dtype) in enumerate(types.items()):
        key = nw.col(name)
        title = brief((titles or columns)[i])
        if i in cuts:
            key = _level_expression(dtype, key, title, cuts[i]).alias(name)
        elif isinstance(dtype, (nw.Duration, nw.Time)):
            raise InvalidInput(f"{_KINDS}; {title} contains {dtype}")
        elif _has_nanoseconds(dtype):
            # Libraries cut nanoseconds off when rows are fetched.
            nanoseconds.append((key.dt.nanosecond() % 1000).alias(f"evenhand_ns{i}"))
        keys.append(key)
    frame = frame.select(*keys, *nanoseconds)
    try:
        groups = frame.group_by(*frame.collect_schema()).agg(nw.len().alias("evenhand_n"))
        rows = _fetch_rows(groups.head(MOST_ROWS + 1), table.engine)
    except (ArithmeticError, NotImplementedError, TypeError) as error:
        raise InvalidInput(f"{_KINDS}; {first_line(error)}") from None
    width = len(columns)
    if any(plain(part) for row in rows for part in row[width:-1]):
        raise InvalidInput("times must not have nanoseconds; round them to microseconds")
    dtypes = list(types.values())
    counts = collect_rows(((*row[:width], row[-1]) for row in rows), dtypes)
    return Counted(counts, table.library, table.source, _declared_orders(dtypes))


def _fetch_rows(frame: Lazy, engine: str) -> Sequence[Key]:
    """All rows; narwhals would need pyarrow to fetch those of DuckDB and Spark."""
    native: Any = frame.to_native()
    if engine == "duckdb":
        return native.fetchall()  # type: ignore[no-any-return]
    return native.collect() if "pyspark" in engine else frame.collect().rows()


def count_columns(columns: Sequence[Column], cuts: Cuts) -> Counted:
    """Count the combinations of values in columns that are lists or arrays, each with its name for messages.

    >>> count_columns([("race", ["A", "A"]), ("y_score", [0.7, 0.9])], {1: (0.5,)}).rows
    Counter({('A', 1): 2})
    """
    names = [name for name, _ in columns]
    indexes = [(name, column.index) for name, column in columns if hasattr(column, "iloc")]
    for name, index in indexes[1:]:
        if not index.equals(indexes[0][1]):
            must = "must have the same index; align them, or pass their values without it"
            raise InvalidInput(f"{indexes[0][0]} and {name} {must}")
    held = [_sliceable(column, name) for name, column in columns]
    rows = len(held[0])
    if any(len(column) != rows for column in held):
        got = ", ".join(f"{name} {len(held[i]):,}" for i, name in enumerate(names))
        raise InvalidInput(f"columns must have the same length; got {got}")
    dtypes = [getattr(column, "dtype", getattr(column, "type", None)) for _, column in columns]

    def read_keys() -> Iterator[Key]:
        for start in range(0, rows, _BLOCK):
            parts = [getattr(c, "iloc", c)[start : start + _BLOCK] for c in held]
            values = [
                _levels(part, dtypes[i], cuts[i], names[i]) if i in cuts else _values(part)
                for i, part in enumerate(parts)
            ]
            yield from zip(*values, strict=True)

    source = {"kind": "columns", "shape": [rows, len(columns)]}
    return Counted(count_keys(read_keys(), dtypes), None, source, _declared_orders(dtypes))


def count_keys(keys: Iterator[Key], dtypes: Sequence[object] = ()) -> Counter[Key]:
    """Count rows of values, a block at a time."""
    blocks = iter(lambda: Counter(islice(keys, _BLOCK)), Counter())
    try:
        return collect_rows(((*key, n) for block in blocks for key, n in block.items()), dtypes)
    except TypeError as error:
        raise InvalidInput(f"{_KINDS}; {first_line(error)}") from None


def collect_rows(rows: Iterable[Key], dtypes: Sequence[object] = ()) -> Counter[Key]:
    """Add up counted rows by plain values, so that rows that differ only in how a value is represented are one.

    An empty text is missing, as it is in a file. Engines give floats of 32 bits as longer ones, hence the types.

    >>> collect_rows([("A", 1.0, 3), ("A", 1, 2)])
    Counter({('A', 1): 5})
    """
    short = [(i, kind) for i, dtype in enumerate(dtypes) if (kind := _short_float(dtype))]
    counts: Counter[Key] = Counter()
    for *values, n in rows:
        for i, kind in short:
            if isinstance(values[i], float):
                values[i] = kind.type(values[i])
        key = tuple(None if value == "" else value for value in map(plain, values))
        for value in key:
            if isinstance(value, (list, dict, Fraction)):
                raise InvalidInput(f"{_KINDS}; got a {type(value).__name__}")
        counts[key] += int(n)
        if len(counts) > MOST_ROWS:
            raise TooLarge(
                f"the columns have more than {MOST_ROWS:,} distinct combinations of values; choose "
                "others for identifiers, round scores to fewer decimals or pass a `threshold`, or "
                "audit a random part of the rows or clusters"
            )
    return counts


def plain(value: Any) -> Any:
    """A value of any library as a plain Python object: None if it is missing, ``int`` for a whole number.

    A number that no float holds stays what it is, and a time with nanoseconds is a text.

    >>> plain(np.float64(2.0)), plain(float("nan")), plain("A"), plain(np.float32(0.1))
    (2, None, 'A', 0.1)
    """
    if is_missing(value):
        return None
    if hasattr(value, "as_py"):
        return plain(value.as_py())
    if isinstance(value, np.datetime64):
        moment = value.astype("datetime64[us]")
        return moment.item() if moment == value else str(value)
    if hasattr(value, "to_pydatetime"):
        return str(value) if value.nanosecond else value.to_pydatetime()
    if isinstance(value, (np.float16, np.float32)):
        # The shortest number that is stored so: 0.1, not 0.10000000149011612.
        value = float(str(value))
    elif hasattr(value, "item"):
        value = list(value) if getattr(value, "shape", ()) else value.item()
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < _MOST_DIGITS:
        number = int(value) if value == value.to_integral_value() else float(value)
        value = number if Decimal(str(number)) == value else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def level(value: float | None, cuts: Sequence[float]) -> int | None:
    """How many of the ascending cuts are at or below a number; None if it is missing.

    >>> level(25.0, (25, 45)), level(24.9, (25, 45)), level(float("nan"), (25, 45))
    (1, 0, None)
    """
    return None if value is None or value != value else bisect_right(cuts, value)


def _level_expression(dtype: DType, value: Expr, title: str, cuts: tuple[float, ...]) -> Expr:
    """The level of a number; null if it is missing, since engines compare nulls and NaN differently.

    Both sides become floats of 64 bits, since engines differ in whether they round a cut to the type of the column.
    """
    import narwhals.stable.v2 as nw

    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise InvalidInput(f"{title} must contain numbers; it contains {dtype}")
    number = value.cast(nw.Float64)
    reached = [(number >= cut).cast(nw.Int32) for cut in _round_cuts(cuts, dtype)]
    return nw.when(~(number.is_null() | number.is_nan())).then(_total(reached))


def _total(terms: list[Expr]) -> Expr:
    """The sum of expressions, nested as little as possible: DuckDB and narwhals do not go down very deep."""
    half = len(terms) // 2
    return _total(terms[:half]) + _total(terms[half:]) if half else terms[0]


def _levels(values: Any, dtype: object, cuts: tuple[float, ...], name: str) -> list[int | None]:
    cuts = _round_cuts(cuts, dtype)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        given = values.astype(float)
        levels = np.where(np.isnan(given), -1, np.searchsorted(cuts, given, side="right"))
        return [None if n < 0 else n for n in levels.tolist()]
    numbers = list(map(plain, _values(values)))
    for number in numbers:
        if not isinstance(number, (Real, Decimal, type(None))):
            raise InvalidInput(f"{name} must contain numbers; got {brief(number)}")
    return [level(number, cuts) for number in numbers]


def _round_cuts(cuts: tuple[float, ...], dtype: object) -> tuple[float, ...]:
    """The cuts in the type of the column, in which 0.7 may be another number.

    One just above a number, such as ``nextafter(1, 2)``, stays above it.
    """
    short = _short_float(dtype)
    if short is None:
        return cuts
    with np.errstate(over="ignore"):
        near = np.array(cuts, dtype=short)
    is_above = near.astype(float) == np.nextafter(cuts, -inf)
    return tuple(np.where(is_above, np.nextafter(near, short.type(inf)), near).tolist())


def _short_float(dtype: object) -> np.dtype[np.floating] | None:
    """The type of floats with fewer than 64 bits."""
    name = _SHORT.get(str(dtype).lower().removesuffix("[pyarrow]"))
    return np.dtype(name) if name else None


def _declared_orders(dtypes: Sequence[object]) -> dict[int, Key]:
    """By position, the values of ordered categoricals and enumerations, in their order."""
    orders = {}
    for i, dtype in enumerate(dtypes):
        categories: Any = getattr(dtype, "categories", None)
        if getattr(dtype, "ordered", True) and hasattr(categories, "__iter__"):
            orders[i] = tuple(map(plain, categories))
    return orders


def _sliceable(column: Any, name: str) -> Any:
    """The column, or a list of its values if it cannot be sliced by position."""
    if not is_sequence(column):
        raise InvalidInput(f"{name} must be a sequence of values; got {brief(column)}")
    is_array = isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "to_pylist")
    return column if is_array or hasattr(column, "iloc") else _values(column)


def _values(column: Any) -> list[Any]:
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "kind", "") == "M" or _has_nanoseconds(dtype):
        # As integers or Python's times, these would lose their unit or their nanoseconds.
        return list(np.asarray(column))
    as_list = getattr(column, "tolist", getattr(column, "to_pylist", None))
    return list(as_list() if as_list else column)


def _has_nanoseconds(dtype: object) -> bool:
    return str(dtype).startswith("Datetime(time_unit='ns'")


def unknown_column(name: Hashable, names: Sequence[Hashable]) -> UnknownName:
    """The error for a column that does not exist.

    >>> str(unknown_column("1", [0, 1]))
    "no column is called '1'; known: 0, 1"
    """
    if all(isinstance(one, str) for one in (name, *names)):
        return UnknownName.among("column", name, map(str, names))
    known = ", ".join(map(brief, names))
    return UnknownName(f"no column is called {brief(name)}; known: {known}")


def first_line(error: object) -> str:
    """The first line of another library's error, or its type if it says nothing."""
    return escaped(next(iter(str(error).strip().splitlines()), type(error).__name__))
