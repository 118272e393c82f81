"""Which columns are meant, and who counts them: a file, a dataframe, or Python for values that were passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, UnknownName
from .files import count_file
from .frames import Counted, Cuts, count_columns, count_frame

__all__ = ["brief", "count", "finite", "group_columns"]


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
    try:
        number = float(value) if isinstance(value, (Real, Decimal)) and not isinstance(value, bool) else nan
    except (OverflowError, ValueError):
        number = nan
    if not isfinite(number):
        raise InvalidInput(f"{what} must be a finite number; got {brief(value)}")
    return number


def group_columns(groups: Any, *, named: bool) -> dict[str, Any]:
    """Name the group columns; one that is passed as values and has no name is called ``group``.

    Parameters
    ----------
    groups : str, list of str, sequence, mapping or dataframe
        One or more names of columns, or their values.
    named : bool
        Whether there is a table, so that a list of texts is a list of names.

    Returns
    -------
    dict of str to object
        By name, the name of a column of the table, or values.

    Examples
    --------
    >>> group_columns(["race", "sex"], named=True)
    {'race': 'race', 'sex': 'sex'}
    >>> group_columns(["A", "B"], named=False)
    {'group': ['A', 'B']}
    """
    if isinstance(groups, str):
        return {groups: groups}
    if isinstance(groups, Mapping):
        by = {str(name): column for name, column in groups.items()}
    elif hasattr(groups, "columns"):
        by = {str(name): groups[name] for name in groups.columns}
    elif named and isinstance(groups, (list, tuple)) and groups and all(isinstance(name, str) for name in groups):
        by = {name: name for name in groups}
    else:
        by = {str(getattr(groups, "name", None) or "group"): groups}
    if not by or any(column is None for column in by.values()):
        raise InvalidInput(f"groups must be the name of a column or its values; got {brief(groups)}")
    return by


def count(data: Any, columns: Sequence[tuple[str, Any]], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns.

    Parameters
    ----------
    data : dataframe, mapping of columns, path or None
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
    if data is None or (isinstance(data, Mapping) and not hasattr(data, "columns")):
        return count_columns([(title, _column_of(data, column)) for title, column in columns], cuts)
    for _, column in columns:
        if not isinstance(column, str):
            raise InvalidInput(f"columns of data must be given by name; got {brief(column)}")
    names = [name for _, name in columns]
    return count_file(data, names, cuts) if isinstance(data, (str, Path)) else count_frame(data, names, cuts)


def _column_of(data: Any, column: Any) -> Any:
    if not isinstance(column, str):
        return column
    if data is None:
        raise InvalidInput(f"{column!r} is the name of a column, but data is None; pass the table, or the values")
    if column not in data:
        raise UnknownName.among("column", column, map(str, data))
    return data[column]


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
    return repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"
