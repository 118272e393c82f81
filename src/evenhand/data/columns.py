"""Which columns are meant: names of columns of a table, or values as lists, Series, arrays and frames.

A table is a dataframe, a mapping of columns, or one or more paths. A file, a dataframe, or Python for values that were
passed, counts.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..arrays import is_sequence
from ..errors import InvalidInput, brief
from .files import count_file
from .frames import Counted, Cuts, Table, count_columns, count_frame, unknown_column

Column = tuple[str, Any]
"""What messages call a column, and its name or its values."""

# How far the two probabilities of a row may be from adding up to 1, by rounding.
_ROUNDING = 1e-6


def as_finite(value: Any, what: str = "`threshold`") -> float:
    """A threshold or another cut, which must be a finite number.

    >>> as_finite(Decimal("0.5"))
    0.5
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    is_number = isinstance(value, (Real, Decimal)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else nan
    except (OverflowError, ValueError):
        number = nan
    if not isfinite(number):
        raise InvalidInput(f"{what} must be a finite number; got {brief(value)}")
    return number


def group_columns(groups: Any, data: Any) -> dict[str, Any]:
    """The group columns: by name, the name of a column of the table, or values.

    Values without a name are called ``group``, or ``group_1``, ``group_2`` and so on if there are several columns.

    >>> group_columns(["race", "sex"], {"race": ["A"], "sex": ["F"]})
    {'race': 'race', 'sex': 'sex'}
    >>> group_columns(["A", "B"], None)
    {'group': ['A', 'B']}
    """
    columns = [(str(name), column) for name, column in _named_groups(groups, data)]
    if not columns or any(column is None for _, column in columns):
        raise InvalidInput(
            argument="groups", must="be the name of a column or its values", got=groups
        )
    names = [name for name, _ in columns]
    if repeated := [name for name in names if names.count(name) > 1]:
        got = f"{brief(repeated[0])} twice"
        raise InvalidInput(f"group columns must have distinct names; got {got}")
    return dict(columns)


def _named_groups(groups: Any, data: Any) -> Iterable[tuple[Any, Any]]:
    if is_mapping(groups):
        return list(groups.items())
    if _is_name(groups):
        return [(groups, groups)]
    is_list = isinstance(groups, (list, tuple)) and len(groups) > 0
    if is_list and data is not None and _are_names(groups, data):
        return [(name, name) for name in groups]
    columns: list[tuple[Any, Any]] = []
    if is_list and any(_is_array(one) for one in groups):
        for one in groups:
            columns += [(one, one)] if isinstance(one, str) else split_columns(one, "`groups`")
    else:
        columns = split_columns(groups, "`groups`")
    unnamed = [f"group_{i}" for i, _ in enumerate(columns, start=1)] if columns[1:] else ["group"]
    return [
        (default if name in (None, "") else name, column)
        for default, (name, column) in zip(unnamed, columns, strict=False)
    ]


def _is_name(given: Any) -> bool:
    """Whether something can only be the name of a column."""
    if isinstance(given, (str, bytes, np.generic)):
        return True
    # Frames, columns, and expressions of polars, which have an alias, are none.
    values = ("__iter__", "__array__", "columns", "shape", "alias")
    has_values = any(hasattr(type(given), name) for name in values)
    return given is not None and isinstance(given, Hashable) and not has_values


def _is_array(given: Any) -> bool:
    """Whether something can only be a column: an array, a Series or an expression."""
    return hasattr(type(given), "alias") or (
        is_sequence(given) and not isinstance(given, (list, tuple))
    )


def _are_names(given: Sequence[Any], data: Any) -> bool:
    """Whether a list contains names of columns; a list of texts always does."""
    are_texts = all(isinstance(name, str) for name in given)
    if is_path(data):
        return are_texts
    if is_mapping(data):
        names, rows = list(data), len(next(iter(data.values()), ()))
    else:
        table = Table(data)
        names, rows = table.names, table.source["shape"][0]
    known = [_is_name(name) and name in names for name in given]
    if len(given) == rows and (all(known) if not are_texts else not any(known)):
        raise InvalidInput(
            f"`groups` must be an array if it has the values of {rows} rows, since a list contains "
            f"names of columns; got {brief(given)}"
        )
    return are_texts or all(known)


def count(
    data: Any, columns: Sequence[Column], cuts: Cuts, scores: Collection[int] = ()
) -> Counted:
    """Count the combinations of values in columns: what messages call a column, and its name or its values.

    A column with cuts, by its position, is counted by level. Of scores, also by position, the second of two columns is
    counted, and ``score_column`` in the source says so.

    >>> table = {"race": ["A", "A", "B"], "score": [1, 4, 9]}
    >>> count(table, [("race", "race"), ("y_score", "score")], {1: (4, 8)}).rows
    Counter({('A', 0): 1, ('A', 1): 1, ('B', 2): 1})
    """
    named = [_is_name(given) for _, given in columns]
    if data is None and any(named):
        raise InvalidInput(
            f"{brief(columns[named.index(True)][1])} is the name of a column, but `data` is None; "
            "pass the table, or the values"
        )
    if is_path(data):
        return count_file(data, _only_names(columns, "is in a file"), cuts)
    table = None if data is None or is_mapping(data) else Table(data)
    if table is not None and all(named):
        return count_frame(data, [name for _, name in columns], cuts)
    if table is not None and table.is_lazy:
        _only_names(columns, "is a lazy frame, whose rows are not in memory")
    source = {} if table is None else table.source
    values = []
    for i, (title, given) in enumerate(columns):
        parts = split_columns(_find(given, data, table) if named[i] else given, title)
        if i in scores and len(parts) > 1:
            parts = [_second_column(parts, title)]
            source["score_column"] = 2
        if len(parts) != 1:
            raise InvalidInput(f"{title} must be one column; got {len(parts)}")
        values.append((title, parts[0][1]))
    counted = count_columns(values, cuts)
    library = None if table is None else table.library
    return counted._replace(library=library, source=counted.source | source)


def _find(name: Any, data: Any, table: Table | None) -> Any:
    """The values of a column of a frame or a mapping."""
    if table is not None:
        return table.column(name)
    if name not in data:
        raise unknown_column(name, list(data))
    return data[name]


def is_path(data: Any) -> bool:
    """Whether data is a path or a list of paths."""
    paths = data if isinstance(data, (list, tuple)) and data else [data]
    return all(isinstance(path, (str, PathLike)) for path in paths)


def is_mapping(data: Any) -> bool:
    """Whether data is a mapping of columns, and no data set of xarray."""
    return isinstance(data, Mapping) and not hasattr(type(data), "dims")


def _only_names(columns: Sequence[Column], where: str) -> list[str]:
    for title, given in columns:
        if not isinstance(given, str):
            must = f"be the name of a column, since `data` {where}"
            raise InvalidInput(f"{title} must {must}; got {brief(given)}")
    return [name for _, name in columns]


def split_columns(given: Any, title: str) -> list[tuple[Hashable, Any]]:
    """The columns of what was passed as values, each with its name or None.

    >>> split_columns(np.array([["a", "F"], ["b", "M"]]), "groups")
    [(None, array(['a', 'b'], dtype='<U1')), (None, array(['F', 'M'], dtype='<U1'))]
    >>> split_columns(["a", "b"], "groups")
    [(None, ['a', 'b'])]
    """
    kind = type(given)
    # Structured and masked arrays, and a MultiIndex of pandas.
    is_structured = bool(getattr(getattr(given, "dtype", None), "names", None))
    has_levels = hasattr(kind, "nlevels") and given.nlevels > 1
    # Lazy columns and frames, expressions of polars, and arrays of xarray.
    lazy = ("compute", "collect", "fetchall", "meta", "dims")
    is_lazy = any(hasattr(kind, name) for name in lazy)
    if is_structured or np.ma.isMaskedArray(given) or has_levels or is_lazy:
        raise InvalidInput(
            f"{title} must be a list, an array or a Series; got {kind.__name__}; pass a dataframe "
            "as `data`, and names of columns"
        )
    if hasattr(kind, "columns"):
        table = Table(given)
        return [(name, table.column(name)) for name in table.names]
    if not hasattr(kind, "__iter__") and hasattr(kind, "__array__"):
        given = np.asarray(given)
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) > 2:
        raise InvalidInput(f"{title} must have one or two dimensions; got shape {shape}")
    if len(shape) == 2:
        return [(None, column) for column in np.asarray(given).T]
    return [(getattr(given, "name", None), given)]


def _second_column(columns: Sequence[tuple[Any, Any]], title: str) -> tuple[None, Any]:
    """The scores of the positive class, of two columns as ``predict_proba`` of scikit-learn gives them."""
    if len(columns) != 2 or columns[0][0] is not None:
        raise InvalidInput(
            f"{title} has {len(columns)} columns; pass the column of the positive class"
        )
    scores = [scores for _, scores in columns]
    try:
        first, second = np.asarray(scores, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{title} must contain numbers; got {brief(scores[0])}") from None
    are_probabilities = (np.abs(first + second - 1) <= _ROUNDING) & (first >= 0) & (second >= 0)
    are_missing = np.isnan(first) & np.isnan(second)
    for row in np.flatnonzero(~(are_probabilities | are_missing))[:1]:
        raise InvalidInput(
            f"{title} has two columns, so each row must contain the probabilities of two classes, "
            f"which add up to 1; row {row + 1:,} contains {first[row]:g} and {second[row]:g}"
        )
    return None, scores[1]
