"""A dataframe of any library, with names of columns that no engine interprets."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any

from ..errors import InvalidInput, UnknownName, brief, escaped

__all__ = ["Table", "first_line", "identifier", "unknown_column", "unused"]

_RESULTS_IN = {"pandas": "pandas", "dask": "pandas", "modin": "pandas", "polars": "polars", "pyarrow": "pyarrow"}
_PANDAS_LIKE = ("pandas", "modin", "cudf", "dask")
_SPARK = ("pyspark", "pyspark_connect")


class Table:
    """A dataframe of any library that narwhals supports.

    Attributes
    ----------
    native : dataframe
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

    def __init__(self, native: Any) -> None:
        import narwhals.stable.v2 as nw
        from narwhals.dependencies import is_pandas_like_dataframe

        # An Arrow table can have one dictionary per chunk, and cannot be grouped by such a column.
        native = native.unify_dictionaries() if hasattr(type(native), "unify_dictionaries") else native
        pandas_like = is_pandas_like_dataframe(native)
        try:
            # narwhals would refuse a frame with two columns of the same name, whichever are asked for.
            held = nw.from_native(native.iloc[:0, :0] if pandas_like else native)
        except TypeError:
            raise InvalidInput(
                "`data` must be a dataframe, a mapping of columns or a path to a file; got "
                f"{type(native).__name__}; pass a dataframe made of it"
            ) from None
        except nw.exceptions.NarwhalsError as error:
            raise InvalidInput(f"`data` cannot be read: {first_line(error)}") from None
        self.native = native if pandas_like else held.to_native()
        if pandas_like and native.columns.nlevels > 1:
            raise InvalidInput(f"`data` has {native.columns.nlevels} levels of column names; pass a dataframe with one")
        self.engine = str(held.implementation).lower().rsplit(".", maxsplit=1)[-1]
        self.is_lazy = not isinstance(held, nw.DataFrame)
        self.names: list[Any] = (
            list(self.native.columns) if self.engine in _PANDAS_LIKE else list(held.collect_schema().names())
        )

    @property
    def library(self) -> str | None:
        """The library in which results are returned; None for engines without tables in memory."""
        return _RESULTS_IN.get(self.engine)

    @property
    def source(self) -> dict[str, Any]:
        """Its library and shape."""
        rows = None if self.is_lazy else len(self.native)
        return {"kind": "frame", "library": self.engine, "shape": [rows, len(self.names)]}

    def column(self, name: Hashable) -> Any:
        """The values of a column, which must be in memory."""
        place = self.place(name)
        if self.engine in _PANDAS_LIKE:
            return self.native.iloc[:, place]
        if self.engine == "pyarrow":
            return self.native.column(place)
        return self.native.get_column(name)

    def select(self, columns: Sequence[Hashable]) -> tuple[Any, list[str]]:
        """A lazy narwhals frame, and what the columns are called in it."""
        import narwhals.stable.v2 as nw

        places = {name: self.place(name) for name in dict.fromkeys(columns)}
        called = {name: f"evenhand_c{i}" for i, name in enumerate(places)}
        by_place = {place: called[name] for name, place in places.items()}
        if self.engine == "dask":
            native = self.native.copy()
            native.columns = [by_place.get(i, f"evenhand_x{i}") for i in range(len(self.names))]
            native = native[list(by_place.values())]
        elif self.engine in _PANDAS_LIKE:
            native = self.native.iloc[:, list(by_place)].set_axis(list(by_place.values()), axis=1)
        elif self.engine == "duckdb":
            chosen = (f"{identifier(self.names[place])} AS {new}" for place, new in by_place.items())
            native = self.native.project(", ".join(chosen))
        elif self.engine in _SPARK:
            native = self.native.toDF(*(by_place.get(i, f"evenhand_x{i}") for i in range(len(self.names))))
        else:
            native = _without_views(self.native, by_place) if self.engine == "pyarrow" else self.native
            return self._renamed(nw.from_native(native).lazy(), called, columns)
        return nw.from_native(native).lazy(), [called[name] for name in columns]

    def _renamed(self, frame: Any, called: dict[Any, str], columns: Sequence[Hashable]) -> tuple[Any, list[str]]:
        """Only names that an engine could interpret, as polars does ``*``, are changed."""
        special = {
            name: unused(new, self.names) for name, new in called.items() if name == "*" or str(name).startswith("^")
        }
        known = {name: str(name) for name in called} | special
        return (frame.rename(special) if special else frame), [known[name] for name in columns]

    def place(self, name: Hashable) -> int:
        """The position of a column; columns of the same name that are equal in every row are one."""
        found = [i for i, other in enumerate(self.names) if _is_called(other, name)]
        if len(found) > 1:
            self._check_equal(name, found)
        if found:
            return found[0]
        if self.engine in _PANDAS_LIKE and name in _levels(self.native.index):
            raise UnknownName(f"no column is called {brief(name)}, but the index is; pass `data` with reset_index()")
        raise unknown_column(name, self.names)

    def _check_equal(self, name: Hashable, places: Sequence[int]) -> None:
        """Refuse columns of the same name that differ, or that would have to be computed."""
        differ = ""
        if self.engine in _PANDAS_LIKE and not self.is_lazy:
            first, *others = (self.native.iloc[:, place] for place in places)
            if all(first.equals(other) for other in others):
                return
            differ = ", which differ"
        raise InvalidInput(f"`data` has {len(places)} columns called {brief(name)}{differ}; rename all but one")


def _levels(index: Any) -> list[Any]:
    """The names of the levels of an index of pandas or Dask."""
    return list(getattr(index, "names", [index.name]))


def _without_views(table: Any, places: Iterable[int]) -> Any:
    """An Arrow table whose texts in some columns are no views: pyarrow 23 cannot group by them, nor 16 cast them."""
    import pyarrow as pa

    text = pa.large_string()
    for place in places:
        field, column = table.schema.field(place), table.column(place)
        if str(field.type) != "string_view":
            continue
        try:
            plain = column.cast(text)
        except pa.ArrowNotImplementedError:
            plain = pa.chunked_array([pa.array(chunk.to_pylist(), text) for chunk in column.chunks], text)
        table = table.set_column(place, field.with_type(text), plain)
    return table


def _is_called(name: Any, given: Any) -> bool:
    """Whether a column has the given name; 1 and True are two names."""
    return isinstance(name, bool) == isinstance(given, bool) and bool(name == given)


def unknown_column(name: Hashable, names: Sequence[Any]) -> UnknownName:
    """The error for a column that does not exist.

    >>> str(unknown_column("1", [0, 1]))
    "no column is called '1'; did you mean 1?"
    """
    if isinstance(name, str) and all(isinstance(known, str) for known in names):
        return UnknownName.among("column", name, names)
    alike = [known for known in names if str(known) == str(name)]
    hint = f"did you mean {' or '.join(map(brief, alike[:3]))}?" if alike else f"known: {', '.join(map(brief, names))}"
    return UnknownName(f"no column is called {brief(name)}; {hint}")


def identifier(name: str) -> str:
    """The name of a column in SQL.

    >>> identifier("group")
    '"group"'
    """
    return '"' + name.replace('"', '""') + '"'


def unused(name: str, names: Container[Any]) -> str:
    """The name, with underscores at its end until it is none of those that exist."""
    while name in names:
        name += "_"
    return name


def first_line(error: object) -> str:
    """The first line of another library's error, or its type if it says nothing."""
    return escaped(next(iter(str(error).strip().splitlines()), type(error).__name__))
