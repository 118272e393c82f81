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
from .frames import Counted, Cuts, Table, count_columns, count_frame, plain, unknown_column

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
    try:
        number = (
            float(value)
            if isinstance(value, (Real, Decimal)) and not isinstance(value, bool)
            else nan
        )
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
        raise InvalidInput(
            f"group columns must have distinct names; got {brief(repeated[0])} twice"
        )
    return dict(columns)


def _named_groups(groups: Any, data: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(groups, Mapping) and not hasattr(type(groups), "dims"):
        return groups.items()
    if _is_name(groups):
        return [(groups, groups)]
    is_list = isinstance(groups, (list, tuple)) and len(groups) > 0
    if is_list and data is not None and _are_names(groups, data):
        return [(name, name) for name in groups]
    if is_list and any(map(_is_column, groups)):
        parts = [
            [(one, one)] if isinstance(one, str) else split_columns(one, "`groups`")
            for one in groups
        ]
        columns = [column for part in parts for column in part]
    else:
        columns = split_columns(groups, "`groups`")
    several = len(columns) > 1
    return [
        (f"group_{i}" if several else "group", column) if name in (None, "") else (name, column)
        for i, (name, column) in enumerate(columns, start=1)
    ]


def _is_name(given: Any) -> bool:
    """Whether something can only be the name of a column."""
    if isinstance(given, (str, bytes, np.generic)):
        return True
    # Frames, columns, and expressions of polars, which have an alias, are none.
    values = ("__iter__", "__array__", "columns", "shape", "alias")
    return (
        given is not None
        and isinstance(given, Hashable)
        and not any(hasattr(type(given), name) for name in values)
    )


def _is_column(given: Any) -> bool:
    """Whether something can only be a column: an array, a Series or an expression."""
    return hasattr(type(given), "alias") or (
        is_sequence(given) and not isinstance(given, (list, tuple))
    )


def _are_names(given: Sequence[Any], data: Any) -> bool:
    """Whether a list contains names of columns; a list of texts always does."""
    are_texts = all(isinstance(name, str) for name in given)
    if is_path(data):
        return are_texts
    table = None if is_mapping(data) else Table(data)
    names = list(data) if table is None else table.names
    known = [_is_name(name) and name in names for name in given]
    first: Any = next(iter(data.values()), None) if table is None else None
    rows = (
        table.source["shape"][0]
        if table is not None
        else len(first)
        if hasattr(first, "__len__")
        else None
    )
    if len(given) == rows and are_texts and not any(known):
        raise InvalidInput(
            f"no column is called {brief(given[0])}; a list of texts contains names of columns: pass values as an array"
        )
    if len(given) == rows and not are_texts and all(known):
        raise InvalidInput(
            f"`groups` may be the names of {rows} columns or the values of {rows} rows; got {brief(given)}: pass "
            "values as an array"
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
        name = columns[named.index(True)][1]
        raise InvalidInput(
            f"{brief(name)} is the name of a column, but `data` is None; pass the table, or the values"
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
        column = given
        if named[i] and table is None and given not in data:
            raise unknown_column(given, list(data))
        if named[i]:
            column = data[given] if table is None else table.column(given)
        if i in scores or (title == "`y_score`" and i in cuts):
            second = second_column(column, title)
            source |= {} if second is column else {"score_column": 2}
            column = second
        values.append((title, _one_column(column, title)))
    counted = count_columns(values, cuts)
    library = None if table is None else table.library
    return counted._replace(library=library, source=counted.source | source)


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
            raise InvalidInput(
                f"{title} must be the name of a column, since `data` {where}; got {brief(given)}"
            )
    return [name for _, name in columns]


def split_columns(given: Any, title: str) -> list[tuple[Hashable, Any]]:
    """The columns of what was passed as values, each with its name or None.

    >>> split_columns(np.array([["a", "F"], ["b", "M"]]), "groups")
    [(None, array(['a', 'b'], dtype='<U1')), (None, array(['F', 'M'], dtype='<U1'))]
    >>> split_columns(["a", "b"], "groups")
    [(None, ['a', 'b'])]
    """
    kind = type(given)
    # What only offers to become an array.
    if hasattr(kind, "__array__") and not any(
        hasattr(kind, name) for name in ("__iter__", "columns", "shape")
    ):
        given = np.asarray(given)
    structured = isinstance(given, np.ndarray) and given.dtype.names
    unsupported = (
        structured or np.ma.isMaskedArray(given) or (hasattr(kind, "nlevels") and given.nlevels > 1)
    )
    # Lazy columns and frames, expressions of polars, arrays of xarray, and a MultiIndex of pandas.
    lazy = any(hasattr(kind, name) for name in ("compute", "collect", "fetchall", "meta", "dims"))
    if unsupported or lazy:
        raise InvalidInput(
            f"{title} must be a list, an array or a Series; got {kind.__name__}; pass a dataframe as `data`, and names "
            "of columns"
        )
    if not isinstance(given, np.ndarray) and hasattr(kind, "columns"):
        table = Table(given)
        return [(name, table.column(name)) for name in table.names]
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) > 2:
        raise InvalidInput(f"{title} must have one or two dimensions; got shape {shape}")
    if len(shape) == 2:
        array = np.asarray(given)
        return [(None, array[:, i]) for i in range(shape[1])]
    return [(getattr(given, "name", None), given)]


def _one_column(given: Any, title: str) -> Any:
    """What was passed as a column, with a single dimension and the index that it had."""
    columns = split_columns(given, title)
    if len(columns) != 1:
        raise InvalidInput(f"{title} must be one column; got {len(columns)}")
    return columns[0][1]


def second_column(scores: Any, title: str = "`y_score`") -> Any:
    """The scores of the positive class, if there are two columns as ``predict_proba`` of scikit-learn gives them.

    >>> second_column(np.array([[0.9, 0.1], [0.25, 0.75]]))
    array([0.1 , 0.75])
    """
    columns = split_columns(scores, title)
    if len(columns) == 1:
        return scores
    if len(columns) != 2 or columns[0][0] is not None:
        raise InvalidInput(
            f"{title} has {len(columns)} columns; pass the column of the positive class"
        )
    try:
        first, second = (np.asarray(values, dtype=float) for _, values in columns)
    except (TypeError, ValueError):
        raise InvalidInput(f"{title} must contain numbers; got {brief(scores)}") from None
    are_probabilities = (np.abs(first + second - 1) <= _ROUNDING) & (first >= 0) & (second >= 0)
    are_missing = np.isnan(first) & np.isnan(second)
    for row in np.flatnonzero(~(are_probabilities | are_missing))[:1]:
        raise InvalidInput(
            f"{title} has two columns, so each row must contain the probabilities of two classes, which add up to 1; "
            f"row {row + 1:,} contains {first[row]:g} and {second[row]:g}"
        )
    return columns[1][1]


def check_second_class(labels: Iterable[Any], positive: Any) -> None:
    """Refuse scores whose second column is not that of the positive class, as scikit-learn orders the labels.

    >>> check_second_class({"no", "yes"}, "yes")
    """
    several = isinstance(positive, (list, tuple, set, frozenset))
    classes = {plain(label) for label in labels} - {None}
    # A text such as "1" may have been read as a number.
    spelled = {label.strip().casefold(): label for label in classes if isinstance(label, str)}
    chosen = {
        spelled.get(str(plain(one)).casefold(), plain(one))
        for one in (positive if several else [positive])
    }
    classes |= chosen
    if (
        len(classes) != 2
        or len(chosen) != 1
        or len({isinstance(label, str) for label in classes}) != 1
    ):
        raise InvalidInput("`y_score` has two columns; pass the column of the positive class")
    if max(classes) not in chosen:
        raise InvalidInput(
            "`y_score` has two columns, and as scikit-learn orders classes the second is that of "
            f"{brief(max(classes))}, but the positive label is {brief(chosen.pop())}; pass the column of the positive "
            "class"
        )
