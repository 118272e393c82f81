"""A dataframe of any library, with names of columns that no engine interprets."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any

from ..errors import InvalidInput, UnknownName

__all__ = ["Table", "brief", "first_line", "identifier", "shown", "unknown_column", "unused"]

_RESULTS_IN = {"pandas": "pandas", "dask": "pandas", "modin": "pandas", "polars": "polars", "pyarrow": "pyarrow"}
_PANDAS_LIKE = ("pandas", "modin", "cudf", "dask")
_SPARK = ("pyspark", "pyspark_connect")


class Table:
    """A dataframe of any library, with names of columns that no engine interprets.

    Parameters
    ----------
    native : dataframe
        Any that narwhals supports.

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

        # An Arrow table can have one dictionary per chunk, and cannot be grouped by such a column.
        native = native.unify_dictionaries() if hasattr(native, "unify_dictionaries") else native
        pandas_like = _is_pandas_like(native)
        try:
            # narwhals would refuse a frame with two columns of the same name, whichever are asked for.
            held = nw.from_native(native.iloc[:0, :0] if pandas_like else native)
        except TypeError:
            raise InvalidInput(
                f"data must be a dataframe, a mapping of columns or a path to a file; got {type(native).__name__}"
            ) from None
        except nw.exceptions.NarwhalsError as error:
            raise InvalidInput(f"data cannot be read: {first_line(error)}") from None
        self.native = native if pandas_like else held.to_native()
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
        place, level_name = self.place(name)
        if place is None:
            found = self.native.index.get_level_values(level_name)
            return found.to_series(index=self.native.index)
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
        by_place = {place: called[name] for name, (place, _) in places.items() if place is not None}
        levels = {called[name]: level for name, (place, level) in places.items() if place is None}
        if self.engine == "dask":
            native = self._renamed_in_dask(by_place, levels)
        elif self.engine in _PANDAS_LIKE:
            native = self.native.iloc[:, list(by_place)].set_axis(list(by_place.values()), axis=1)
            native = native.assign(**{new: self.native.index.get_level_values(level) for new, level in levels.items()})
            native = native.reset_index(drop=True) if levels else native
        elif self.engine == "duckdb":
            chosen = (f"{identifier(self.names[place])} AS {new}" for place, new in by_place.items())
            native = self.native.project(", ".join(chosen))
        elif self.engine in _SPARK:
            native = self.native.toDF(*(by_place.get(i, f"evenhand_x{i}") for i in range(len(self.names))))
        else:
            return self._renamed(nw.from_native(self.native).lazy(), called, columns)
        return nw.from_native(native).lazy(), [called[name] for name in columns]

    def _renamed(self, frame: Any, called: dict[Any, str], columns: Sequence[Hashable]) -> tuple[Any, list[str]]:
        """Only names that an engine could interpret, as polars does ``*``, are changed."""
        special = {
            name: unused(new, self.names) for name, new in called.items() if name == "*" or str(name).startswith("^")
        }
        known = {name: str(name) for name in called} | special
        return (frame.rename(special) if special else frame), [known[name] for name in columns]

    def _renamed_in_dask(self, by_place: dict[int, str], levels: dict[str, Any]) -> Any:
        native = self.native.reset_index() if levels else self.native.copy()
        names = {i + bool(levels): new for i, new in by_place.items()} | dict.fromkeys([0] * bool(levels), *levels)
        native.columns = [names.get(i, f"evenhand_x{i}") for i in range(len(native.columns))]
        return native[list(names.values())]

    def place(self, name: Hashable) -> tuple[int | None, Any]:
        """The position of a column, or else the name of a level of the index."""
        found = [i for i, other in enumerate(self.names) if _is_called(other, name)]
        if len(found) > 1:
            raise InvalidInput(f"data has {len(found)} columns called {shown(name)}; rename all but one")
        levels = list(self._levels())
        at = [i for i, other in enumerate(levels) if other is not None and _is_called(other, name)]
        if len(at) > 1 or (found and at and not self._is_repeated(found[0], at[0])):
            raise InvalidInput(
                f"{shown(name)} is the name of more than one column or level of the index; rename all but one"
            )
        if found:
            return found[0], None
        if at:
            return None, levels[at[0]]
        raise unknown_column(name, [*self.names, *(other for other in levels if other is not None)])

    def _levels(self) -> Iterable[Any]:
        if self.engine == "dask":
            return [self.native.index.name]
        return self.native.index.names if self.engine in _PANDAS_LIKE else []

    def _is_repeated(self, place: int, level: int) -> bool:
        """Whether a level of the index has the values of a column, as ``set_index(name, drop=False)`` leaves it."""
        if self.engine == "dask":
            return False
        import pandas as pd

        return bool(pd.Index(self.native.iloc[:, place]).equals(pd.Index(self.native.index.get_level_values(level))))


def _is_pandas_like(native: Any) -> bool:
    from narwhals.dependencies import is_pandas_like_dataframe

    return bool(is_pandas_like_dataframe(native))


def _is_called(name: Any, given: Any) -> bool:
    """Whether a column has the given name; pandas calls ``("race", "")`` race."""
    if isinstance(name, tuple) and not isinstance(given, tuple):
        name = name[0] if all(part == "" for part in name[1:]) else name
    if name != name and given != given:
        return True
    return isinstance(name, bool) == isinstance(given, bool) and bool(name == given)


def shown(name: Hashable) -> str:
    """A name in an error message.

    Parameters
    ----------
    name : hashable
        The name of a column.

    Returns
    -------
    str
        Its representation, cut if it is long.

    Examples
    --------
    >>> shown(("race", 1))
    "('race', 1)"
    """
    text = repr(name)
    return text if len(text) <= 62 else f"{text[:60]}…"


def unknown_column(name: Hashable, names: Sequence[Any]) -> UnknownName:
    """Create the error for a column that does not exist.

    Parameters
    ----------
    name : hashable
        The name that was given.
    names : sequence of hashable
        The names that exist.

    Returns
    -------
    UnknownName
        The error, to be raised by the caller.

    Examples
    --------
    >>> str(unknown_column("1", [0, 1]))
    "no column is called '1'; did you mean 1?"
    """
    if isinstance(name, str) and all(isinstance(known, str) for known in names):
        return UnknownName.among("column", name, names)
    alike = [known for known in names if str(known) == str(name) or (isinstance(known, tuple) and name in known)]
    hint = f"did you mean {' or '.join(map(shown, alike[:3]))}?" if alike else f"known: {', '.join(map(shown, names))}"
    return UnknownName(f"no column is called {shown(name)}; {hint}")


def identifier(name: str) -> str:
    """Quote the name of a column for SQL.

    Parameters
    ----------
    name : str
        Any name.

    Returns
    -------
    str
        An identifier that means this column and no other.

    Examples
    --------
    >>> identifier("group")
    '"group"'
    """
    return '"' + name.replace('"', '""') + '"'


def unused(name: str, names: Container[Any]) -> str:
    """Change a name until it is none of those that exist.

    Parameters
    ----------
    name : str
        The name.
    names : container of str
        The names that exist.

    Returns
    -------
    str
        The name, with underscores at its end if need be.

    Examples
    --------
    >>> unused("n", ["m", "n"])
    'n_'
    """
    while name in names:
        name += "_"
    return name


def brief(value: object) -> str:
    """Describe a value in an error message: by its representation, or by its type if that is long.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        At most about 60 characters.

    Examples
    --------
    >>> brief([1, 2]), brief(list(range(100)))
    ('[1, 2]', 'a list')
    """
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def first_line(error: Exception) -> str:
    r"""The first line of another library's error.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
        Its message, or its type if it has none.

    Examples
    --------
    >>> first_line(ValueError("no such file\nat line 3"))
    'no such file'
    """
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
