"""Which columns are meant, and who counts them: a file, a dataframe, or Python for values that were passed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .files import count_file
from .frames import Counted, Cuts, count_columns, count_frame, plain
from .streams import as_stream, count_stream, is_stream
from .tables import Table, brief, shown, unknown_column
from .values import fields, is_xarray, one_column, positive_scores, several_columns

__all__ = ["check_second_class", "count", "finite", "group_columns"]

Given = tuple[str, Any]


def finite(value: Any, what: str = "threshold") -> float:
    """Check a threshold or another cut.

    Parameters
    ----------
    value : object
        What was passed as one.
    what : str
        What error messages call it.

    Returns
    -------
    float
        The number, if it is finite.

    Examples
    --------
    >>> finite(Decimal("0.5"))
    0.5
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    try:
        number = float(value) if isinstance(value, (Real, Decimal)) and not isinstance(value, bool) else nan
    except (OverflowError, ValueError):
        number = nan
    if not isfinite(number):
        raise InvalidInput(f"{what} must be a finite number; got {brief(value)}")
    return number


def group_columns(groups: Any, data: Any) -> dict[str, Any]:
    """Name the group columns.

    Parameters
    ----------
    groups : hashable, list of hashable, sequence, mapping, array or dataframe
        One or more names of columns of ``data``, or their values.
    data : dataframe, mapping of columns, path or None
        The table.

    Returns
    -------
    dict of str to object
        By name, the name of a column of the table, or values. Values without a name are called ``group``, or
        ``group_1``, ``group_2`` and so on if there are several columns.

    Examples
    --------
    >>> group_columns(["race", "sex"], {"race": ["A"], "sex": ["F"]})
    {'race': 'race', 'sex': 'sex'}
    >>> group_columns(["A", "B"], None)
    {'group': ['A', 'B']}
    """
    columns = list(_named_groups(groups, data))
    if not columns or any(column is None for _, column in columns):
        raise InvalidInput(f"groups must be the name of a column or its values; got {brief(groups)}")
    by = dict(columns)
    if len(by) < len(columns):
        titles = [title for title, _ in columns]
        twice = next(title for title in titles if titles.count(title) > 1)
        raise InvalidInput(f"group columns must have distinct names; got {twice!r} twice")
    return by


def _named_groups(groups: Any, data: Any) -> Iterable[Given]:
    if isinstance(groups, Mapping) and not is_xarray(groups):
        return ((_title(name), column) for name, column in groups.items())
    if data is not None and isinstance(groups, tuple) and _has(data, groups):
        if groups and all(_has(data, name) for name in groups):
            raise InvalidInput(
                f"groups is {shown(groups)}, which is the name of a column, and each of its parts is one too; pass "
                f"[{shown(groups)}] for the column, or {list(groups)!r} for the columns"
            )
        return [(_title(groups), groups)]
    if _is_name(groups):
        return [(_title(groups), groups)]
    if data is not None and isinstance(groups, (list, tuple)) and groups and _are_names(groups, data):
        return ((_title(name), name) for name in groups)
    columns = several_columns(groups, "groups")
    if columns is None and isinstance(groups, (list, tuple)) and groups and all(_is_array(one) for one in groups):
        columns = [(getattr(one, "name", None), one) for one in groups]
    if columns is None:
        return [(_title(getattr(groups, "name", None), "group"), groups)]
    if len(columns) == 1:
        return [(_title(columns[0][0], "group"), columns[0][1])]
    return [(_title(name, f"group_{i}"), column) for i, (name, column) in enumerate(columns, start=1)]


def _is_array(given: Any) -> bool:
    return hasattr(type(given), "__len__") and (hasattr(type(given), "shape") or hasattr(type(given), "to_pylist"))


def _is_name(given: Any) -> bool:
    """Whether something that is no tuple can only be the name of a column."""
    if isinstance(given, (str, bytes, np.generic)):
        return True
    values = any(hasattr(type(given), name) for name in ("__iter__", "columns", "shape"))
    return given is not None and isinstance(given, Hashable) and not values


def _are_names(given: Sequence[Any], data: Any) -> bool:
    """Whether a list contains names of columns; a list of texts always does."""
    many = len(given) == _rows(data)
    if all(isinstance(name, str) for name in given):
        if many and not any(_has(data, name) for name in set(given)):
            raise InvalidInput(
                f"no column is called {shown(given[0])}; a list of texts contains names of columns: pass values as an "
                "array"
            )
        return True
    if not all(_is_name(name) or isinstance(name, tuple) for name in given):
        return False
    if not all(_has(data, name) for name in given):
        return False
    if many:
        raise InvalidInput(
            f"groups may be the names of {len(given)} columns or the values of {len(given)} rows; got {brief(given)}: "
            "pass values as an array"
        )
    return True


def _has(data: Any, name: Any) -> bool:
    """Whether a table in Python has a column of that name; the names in files are texts."""
    if _is_path(data) or is_stream(data):
        return isinstance(name, str)
    try:
        _locate(data, name)
    except (InvalidInput, TypeError):
        return False
    return True


def _rows(data: Any) -> int | None:
    """How many rows a table in memory has."""
    if _is_path(data) or is_stream(data) or is_xarray(data):
        return None
    if _is_mapping(data):
        try:
            return len(next(iter(data.values())) if isinstance(data, Mapping) else data)
        except (TypeError, StopIteration):
            return None
    rows: int | None = Table(data).source["shape"][0]
    return rows


def _title(name: Any, otherwise: str = "") -> str:
    """What a column is called: ``race, 2020`` for the pandas column ``("race", 2020)``."""
    if isinstance(name, tuple):
        return ", ".join(str(part) for part in name if part != "") or otherwise
    return otherwise if name is None or (name == "" and otherwise) else str(name)


def count(data: Any, columns: Sequence[Given], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns.

    Parameters
    ----------
    data : dataframe, mapping of columns, structured array, Arrow stream, path, list of paths, or None
        The table; None if the columns themselves are passed.
    columns : sequence of (str, object)
        What error messages call a column, and its name in ``data`` or its values.
    cuts : mapping of int to tuple of float
        By position, the cuts of columns of numbers that are counted by level.

    Returns
    -------
    Counted
        How often each combination occurs.

    Examples
    --------
    >>> table = {"race": ["A", "A", "B"], "score": [1, 4, 9]}
    >>> count(table, [("race", "race"), ("y_score", "score")], {1: (4, 8)}).rows
    Counter({('A', 0): 1, ('A', 1): 1, ('B', 2): 1})
    """
    if data is None:
        for _, given in columns:
            if _is_name(given):
                raise InvalidInput(
                    f"{shown(given)} is the name of a column, but data is None; pass the table, or the values"
                )
        return _count_values(columns, cuts)
    if _is_path(data):
        return count_file(data, _only_names(columns, "is in a file"), cuts)
    if _is_mapping(data):
        return _count_mapping(data, columns, cuts)
    if is_stream(data):
        return count_stream(as_stream(data), _only_names(columns, "is a stream"), cuts)
    table = Table(data)
    named = [_is_name(given) or (isinstance(given, tuple) and _has(table, given)) for _, given in columns]
    if all(named):
        return count_frame(data, [name for _, name in columns], cuts)
    if table.is_lazy:
        _only_names(columns, "is a lazy frame, whose rows are not in memory")
    found = [
        (title, table.column(given) if is_name else given)
        for (title, given), is_name in zip(columns, named, strict=True)
    ]
    counted = _count_values(found, cuts)
    return counted._replace(library=table.library, source=counted.source | table.source)


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, PathLike)) or (
        isinstance(data, (list, tuple)) and bool(data) and all(isinstance(path, (str, PathLike)) for path in data)
    )


def _is_mapping(data: Any) -> bool:
    """Whether data are columns by name, rather than a frame that is a mapping as well."""
    if isinstance(data, np.ndarray):
        return bool(data.dtype.names)
    return is_xarray(data) or (isinstance(data, Mapping) and not hasattr(data, "columns"))


def _only_names(columns: Sequence[Given], where: str) -> list[str]:
    for title, given in columns:
        if not isinstance(given, str):
            raise InvalidInput(f"{title} must be the name of a column, since data {where}; got {brief(given)}")
    return [name for _, name in columns]


def _count_mapping(data: Any, columns: Sequence[Given], cuts: Cuts) -> Counted:
    """Count columns of a mapping, a structured array or a data set of xarray."""
    library = None
    if isinstance(data, np.ndarray):
        library, data = "numpy", fields(data)
    elif is_xarray(data):
        library, data = "xarray", _as_dataset(data)
        _check_dimension(data, columns)
    found = [
        (title, _locate(data, given) if _is_name(given) or (isinstance(given, tuple) and _has(data, given)) else given)
        for title, given in columns
    ]
    counted = _count_values(found, cuts)
    if library is None:
        return counted
    shape = [counted.source["shape"][0], len(data)]
    return counted._replace(source=counted.source | {"kind": "frame", "library": library, "shape": shape})


def _as_dataset(data: Any) -> Any:
    """A data set of xarray; the columns of an array are those that the coordinate of its second dimension names."""
    if hasattr(data, "data_vars"):
        return data
    if len(data.dims) != 2 or data.dims[1] not in data.indexes:
        raise InvalidInput(
            "a DataArray must have two dimensions, and names of columns as the coordinate of the second; got "
            f"{', '.join(map(str, data.dims)) or 'none'}"
        )
    return data.to_dataset(dim=data.dims[1])


def _check_dimension(data: Any, columns: Sequence[Given]) -> None:
    along = {title: data[given].dims for title, given in columns if _is_name(given) and _has(data, given)}
    if len(set(along.values())) > 1:
        listed = ", ".join(f"{title} has {', '.join(map(str, dims)) or 'none'}" for title, dims in along.items())
        raise InvalidInput(f"columns must have the same dimension; {listed}")


def _locate(data: Any, name: Hashable) -> Any:
    """The column of that name; where it is suffices for a frame."""
    if isinstance(data, Table):
        return data.place(name)
    if isinstance(data, np.ndarray):
        data = fields(data) if data.dtype.names else {}
    if isinstance(data, Mapping) and not hasattr(data, "columns"):
        if name not in data:
            raise unknown_column(name, list(data))
        return data[name]
    return Table(data).place(name)


def _count_values(columns: Sequence[Given], cuts: Cuts) -> Counted:
    found = []
    two_columns = False
    for i, (title, given) in enumerate(columns):
        scores = positive_scores(given) if title == "y_score" and i in cuts else given
        two_columns = two_columns or scores is not given
        found.append((title, one_column(scores, title)))
    counted = count_columns(found, cuts)
    if two_columns:
        counted.source["score_column"] = 2
    return counted


def check_second_class(labels: Iterable[Any], positive: Any) -> None:
    """Refuse scores whose second column is not that of the positive class.

    Parameters
    ----------
    labels : iterable
        The distinct labels, which scikit-learn orders.
    positive : object
        The positive label, or several.

    Examples
    --------
    >>> check_second_class({"no", "yes"}, "yes")
    """
    several = isinstance(positive, (list, tuple, set, frozenset))
    chosen = {plain(one) for one in (positive if several else [positive])}
    classes = {plain(label) for label in labels} - {None}
    # A text such as "1" may have been read as a number.
    chosen = {next((label for label in classes if _reads(label, one)), one) for one in chosen}
    classes |= chosen
    if len(classes) == 2 and len(chosen) == 1 and len({isinstance(label, str) for label in classes}) == 1:
        if max(classes) in chosen:
            return
        raise InvalidInput(
            f"y_score has two columns, and as scikit-learn orders classes the second is that of {max(classes)!r}, but "
            f"the positive label is {chosen.pop()!r}; pass the column of the positive class"
        )
    raise InvalidInput("y_score has two columns; pass the column of the positive class")


def _reads(label: Any, positive: Any) -> bool:
    return isinstance(label, str) and label.strip().casefold() == str(positive).casefold()
