"""Which columns are meant, and who counts them: a file, a dataframe, or Python for values that were passed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InvalidInput, brief
from .files import count_file
from .frames import Counted, Cuts, count_columns, count_frame, plain
from .tables import Table, unknown_column
from .values import arrayed, is_foreign, one_column, positive_scores, several_columns

__all__ = ["check_second_class", "count", "finite", "group_columns"]

Given = tuple[str, Any]


def finite(value: Any, what: str = "`threshold`") -> float:
    """A threshold or another cut, which must be a finite number.

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
    """The group columns: by name, the name of a column of the table, or values.

    Values without a name are called ``group``, or ``group_1``, ``group_2`` and so on if there are several columns.

    >>> group_columns(["race", "sex"], {"race": ["A"], "sex": ["F"]})
    {'race': 'race', 'sex': 'sex'}
    >>> group_columns(["A", "B"], None)
    {'group': ['A', 'B']}
    """
    columns = list(_named_groups(groups, data))
    if not columns or any(column is None for _, column in columns):
        raise InvalidInput(argument="groups", must="be the name of a column or its values", got=groups)
    by = dict(columns)
    if len(by) < len(columns):
        titles = [title for title, _ in columns]
        twice = next(title for title in titles if titles.count(title) > 1)
        raise InvalidInput(f"group columns must have distinct names; got {brief(twice)} twice")
    return by


def _named_groups(groups: Any, data: Any) -> Iterable[Given]:
    if isinstance(groups, Mapping) and not is_foreign(groups):
        return ((str(name), column) for name, column in groups.items())
    if _is_name(groups):
        return [(str(groups), groups)]
    if data is not None and isinstance(groups, (list, tuple)) and groups and _are_names(groups, data):
        return ((str(name), name) for name in groups)
    groups = arrayed(groups)
    columns = several_columns(groups, "`groups`")
    if columns is None and isinstance(groups, (list, tuple)) and groups and all(_is_array(one) for one in groups):
        columns = [(getattr(one, "name", None), one) for one in groups]
    if columns is None:
        columns = [(getattr(groups, "name", None), groups)]
    if len(columns) == 1:
        return [(_title(columns[0][0], "group"), columns[0][1])]
    return [(_title(name, f"group_{i}"), column) for i, (name, column) in enumerate(columns, start=1)]


def _is_array(given: Any) -> bool:
    return hasattr(type(given), "__len__") and (hasattr(type(given), "shape") or hasattr(type(given), "to_pylist"))


def _is_name(given: Any) -> bool:
    """Whether something can only be the name of a column."""
    if isinstance(given, (str, bytes, np.generic)):
        return True
    values = any(hasattr(type(given), name) for name in ("__iter__", "__array__", "columns", "shape"))
    return given is not None and isinstance(given, Hashable) and not values


def _are_names(given: Sequence[Any], data: Any) -> bool:
    """Whether a list contains names of columns; a list of texts always does."""
    many = len(given) == _rows(data)
    if all(isinstance(name, str) for name in given):
        if many and not any(_has(data, name) for name in set(given)):
            raise InvalidInput(
                f"no column is called {brief(given[0])}; a list of texts contains names of columns: pass values as an "
                "array"
            )
        return True
    if not all(_is_name(name) and _has(data, name) for name in given):
        return False
    if many:
        raise InvalidInput(
            f"`groups` may be the names of {len(given)} columns or the values of {len(given)} rows; got "
            f"{brief(given)}: pass values as an array"
        )
    return True


def _has(data: Any, name: Any) -> bool:
    """Whether a table has a column of that name; the names in files are texts."""
    if _is_path(data):
        return isinstance(name, str)
    try:
        _locate(data, name)
    except InvalidInput:
        return False
    return True


def _rows(data: Any) -> int | None:
    """How many rows a table in memory has."""
    if _is_path(data):
        return None
    if _is_mapping(data):
        first: Any = next(iter(data.values()), None)
        return len(first) if hasattr(first, "__len__") else None
    rows: int | None = Table(data).source["shape"][0]
    return rows


def _title(name: Any, otherwise: str) -> str:
    return otherwise if name is None or name == "" else str(name)


def count(data: Any, columns: Sequence[Given], cuts: Cuts, scores: Collection[int] = ()) -> Counted:
    """Count the combinations of values in columns: what messages call a column, and its name or its values.

    A column with cuts, by its position, is counted by level. Of scores, also by position, the second of two columns is
    counted, and ``score_column`` in the source says so.

    >>> table = {"race": ["A", "A", "B"], "score": [1, 4, 9]}
    >>> count(table, [("race", "race"), ("y_score", "score")], {1: (4, 8)}).rows
    Counter({('A', 0): 1, ('A', 1): 1, ('B', 2): 1})
    """
    if data is None:
        for _, given in columns:
            if _is_name(given):
                raise InvalidInput(
                    f"{brief(given)} is the name of a column, but `data` is None; pass the table, or the values"
                )
        return _count_values(columns, cuts, scores)
    if _is_path(data):
        return count_file(data, _only_names(columns, "is in a file"), cuts)
    if _is_mapping(data):
        return _count_values([(title, _column(data, given)) for title, given in columns], cuts, scores)
    table = Table(data)
    if all(_is_name(given) for _, given in columns):
        return count_frame(data, [name for _, name in columns], cuts)
    if table.is_lazy:
        _only_names(columns, "is a lazy frame, whose rows are not in memory")
    counted = _count_values([(title, _column(table, given)) for title, given in columns], cuts, scores)
    return counted._replace(library=table.library, source=counted.source | table.source)


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, PathLike)) or (
        isinstance(data, (list, tuple)) and bool(data) and all(isinstance(path, (str, PathLike)) for path in data)
    )


def _is_mapping(data: Any) -> bool:
    return isinstance(data, Mapping) and not is_foreign(data)


def _only_names(columns: Sequence[Given], where: str) -> list[str]:
    for title, given in columns:
        if not isinstance(given, str):
            raise InvalidInput(f"{title} must be the name of a column, since `data` {where}; got {brief(given)}")
    return [name for _, name in columns]


def _column(data: Any, given: Any) -> Any:
    """The column of a table in memory that has the given name, or the values that were given."""
    return given if not _is_name(given) else data.column(given) if isinstance(data, Table) else _locate(data, given)


def _locate(data: Any, name: Hashable) -> Any:
    """The column of that name; where it is suffices for a frame."""
    if _is_mapping(data):
        if name not in data:
            raise unknown_column(name, list(data))
        return data[name]
    return Table(data).place(name)


def _count_values(columns: Sequence[Given], cuts: Cuts, scores: Collection[int]) -> Counted:
    found = []
    second: dict[str, Any] = {}
    for i, (title, given) in enumerate(columns):
        column = positive_scores(given, title) if i in scores or (title == "y_score" and i in cuts) else given
        if column is not given:
            second["score_column"] = 2
        found.append((title, one_column(column, title)))
    counted = count_columns(found, cuts)
    return counted._replace(source=counted.source | second)


def check_second_class(labels: Iterable[Any], positive: Any) -> None:
    """Refuse scores whose second column is not that of the positive class, as scikit-learn orders the labels.

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
            "`y_score` has two columns, and as scikit-learn orders classes the second is that of "
            f"{brief(max(classes))}, but the positive label is {brief(chosen.pop())}; pass the column of the positive "
            "class"
        )
    raise InvalidInput("`y_score` has two columns; pass the column of the positive class")


def _reads(label: Any, positive: Any) -> bool:
    return isinstance(label, str) and label.strip().casefold() == str(positive).casefold()
