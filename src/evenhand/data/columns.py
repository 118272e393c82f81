"""Which columns are meant: names of columns of a table, or values as lists, Series, arrays and frames.

A table is a dataframe, a mapping of columns, or one or more paths. A file, a dataframe, or Python for values that were
passed, counts.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from numbers import Real
from os import PathLike
from typing import Any, TypeGuard

import numpy as np

from ..arrays import is_sequence
from ..errors import InvalidInput, brief
from .files import Paths, count_file
from .frames import Column, Counted, Cuts, Table, count_columns, count_frame, unknown_column

Named = tuple[Any, Any]
"""The name of a column, None if it has none, and its values or where they are."""

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
    with suppress(OverflowError, ValueError):
        if is_number and isfinite(number := float(value)):
            return number
    raise InvalidInput(f"{what} must be a finite number; got {brief(value)}")


#: In place of group columns, if all cases are one group.
NO_GROUPS: dict[str, Any] = {}


def group_columns(groups: object, data: object) -> dict[str, Any]:
    """The group columns: by name, the name of a column of the table, or values.

    Values without a name are called ``group``, or ``group_1``, ``group_2`` and so on if there are several columns.

    >>> group_columns(["race", "sex"], {"race": ["A"], "sex": ["F"]})
    {'race': 'race', 'sex': 'sex'}
    >>> group_columns(["A", "B"], None)
    {'group': ['A', 'B']}
    """
    if groups is NO_GROUPS:
        return {}
    found = _find_groups(groups, data)
    if not found or any(column is None for _, column in found):
        must = "be the name of a column or its values"
        raise InvalidInput(argument="groups", must=must, got=groups)
    columns: dict[str, Any] = {}
    for i, (given, column) in enumerate(found, start=1):
        default = f"group_{i}" if len(found) > 1 else "group"
        name = default if given is None or given == "" else str(given)
        if name in columns:
            raise InvalidInput(f"group columns must have distinct names; got {brief(name)} twice")
        columns[name] = column
    return columns


def _find_groups(groups: Any, data: object) -> list[Named]:
    if is_mapping(groups):
        return list(groups.items())
    if _is_name(groups):
        return [(groups, groups)]
    if not isinstance(groups, (list, tuple)) or not groups:
        return split_columns(groups, "`groups`")
    if data is not None and _are_names(groups, data):
        return [(name, name) for name in groups]
    if not any(map(_is_array, groups)):
        return split_columns(groups, "`groups`")
    columns: list[Named] = []
    for one in groups:
        columns += [(one, one)] if isinstance(one, str) else split_columns(one, "`groups`")
    return columns


def _is_name(given: object) -> bool:
    """Whether something can only be the name of a column."""
    if isinstance(given, (str, bytes, np.generic)):
        return True
    # Frames, columns, and expressions of polars, which have an alias, are none.
    values = ("__iter__", "__array__", "columns", "shape", "alias")
    has_values = any(hasattr(type(given), name) for name in values)
    with suppress(TypeError):
        # Signalling NaNs claim to be hashable.
        return given is not None and hash(given) is not None and not has_values
    return False


def _is_array(given: object) -> bool:
    """Whether something can only be a column: an array, a Series or an expression."""
    is_array = is_sequence(given) and not isinstance(given, (list, tuple))
    return is_array or hasattr(type(given), "alias")


def _are_names(given: Sequence[object], data: object) -> bool:
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
    if len(given) == rows and (not any(known) if are_texts else all(known)):
        raise InvalidInput(
            f"`groups` must be an array if it has the values of {rows} rows, since a list contains "
            f"names of columns; got {brief(given)}"
        )
    return are_texts or all(known)


def count(
    data: object, columns: Sequence[Column], cuts: Cuts, scores: Collection[int] = ()
) -> Counted:
    """Count the combinations of values in columns: what messages call a column, and its name or its values.

    A column with cuts, by its position, is counted by level. Of scores, also by position, the second of two columns is
    counted, and ``score_column`` in the source says so.

    >>> table = {"race": ["A", "A", "B"], "score": [1, 4, 9]}
    >>> count(table, [("race", "race"), ("y_score", "score")], {1: (4, 8)}).rows
    Counter({('A', 0): 1, ('A', 1): 1, ('B', 2): 1})
    """
    if is_path(data):
        _check_names(columns, "is in a file")
        return count_file(data, [name for _, name in columns], cuts)
    held = data if data is None or is_mapping(data) else Table(data)
    source = {}
    if isinstance(held, Table):
        if all(_is_name(given) for _, given in columns):
            return count_frame(data, [name for _, name in columns], cuts)
        if held.is_lazy:
            _check_names(columns, "is a lazy frame, whose rows are not in memory")
        source = held.source
    values = []
    for i, (title, given) in enumerate(columns):
        parts = split_columns(_find(given, held) if _is_name(given) else given, title)
        if i in scores and len(parts) > 1:
            _check_probabilities(parts, title)
            parts = parts[1:]
            source["score_column"] = 2
        if len(parts) != 1:
            raise InvalidInput(f"{title} must be one column; got {len(parts)}")
        values.append((title, parts[0][1]))
    counted = count_columns(values, cuts)
    library = held.library if isinstance(held, Table) else None
    return counted._replace(library=library, source=counted.source | source)


def _find(name: Hashable, data: Table | Mapping[Any, Any] | None) -> object:
    """The values of a column of a frame or a mapping."""
    if data is None:
        raise InvalidInput(
            f"{brief(name)} is the name of a column, but `data` is None; pass the table, or the values"
        )
    if isinstance(data, Table):
        return data.column(name)
    if name not in data:
        raise unknown_column(name, list(data))
    return data[name]


def is_path(data: object) -> TypeGuard[Paths]:
    """Whether data is a path or a list of paths."""
    paths = data if isinstance(data, (list, tuple)) and data else [data]
    return all(isinstance(path, (str, PathLike)) for path in paths)


def is_mapping(data: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether data is a mapping of columns, and no data set of xarray."""
    return isinstance(data, Mapping) and not hasattr(type(data), "dims")


def _check_names(columns: Sequence[Column], where: str) -> None:
    for title, given in columns:
        if not isinstance(given, str):
            must = f"be the name of a column, since `data` {where}"
            raise InvalidInput(f"{title} must {must}; got {brief(given)}")


def split_columns(given: Any, title: str) -> list[Named]:
    """The columns of what was passed as values, each with its name or None.

    >>> split_columns(np.array([["a", "F"], ["b", "M"]]), "groups")
    [(None, array(['a', 'b'], dtype='<U1')), (None, array(['F', 'M'], dtype='<U1'))]
    >>> split_columns(["a", "b"], "groups")
    [(None, ['a', 'b'])]
    """
    kind = type(given)
    # Structured and masked arrays, and a MultiIndex of pandas.
    has_names = getattr(getattr(given, "dtype", None), "names", None)
    has_levels = hasattr(kind, "nlevels") and given.nlevels > 1
    # Lazy columns and frames, expressions of polars, and arrays of xarray.
    lazy = ("compute", "collect", "fetchall", "meta", "dims")
    is_lazy = any(hasattr(kind, name) for name in lazy)
    if has_names or has_levels or is_lazy or np.ma.isMaskedArray(given):
        raise InvalidInput(
            f"{title} must be a list, an array or a Series; got {kind.__name__}; pass a dataframe "
            "as `data`, and names of columns"
        )
    if hasattr(kind, "columns"):
        table = Table(given)
        return [(name, table.column(name)) for name in table.names]
    if not hasattr(kind, "__iter__") and hasattr(kind, "__array__"):
        given = np.asarray(given)
    shape = getattr(given, "shape", ())
    if len(shape) > 2:
        raise InvalidInput(f"{title} must have one or two dimensions; got shape {shape}")
    if len(shape) == 2:
        return [(None, column) for column in np.asarray(given).T]
    return [(getattr(given, "name", None), given)]


def _check_probabilities(columns: Sequence[Named], title: str) -> None:
    """Of two columns of scores as ``predict_proba`` of scikit-learn gives them, the second is of the positive class."""
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
