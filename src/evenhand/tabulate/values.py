"""Columns that were passed as values: lists, Series, arrays with one or two dimensions, and frames."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, brief
from .tables import Table

__all__ = ["arrayed", "is_foreign", "named_columns", "one_column", "positive_scores", "several_columns"]

# How far the two probabilities of a row may be from adding up to 1, by rounding.
_ROUNDING = 1e-6
_MOST_COLUMNS = 1_000


def arrayed(given: Any) -> Any:
    """What was passed as a column; an array, if all that it offers is to become one."""
    kind = type(given)
    only = hasattr(kind, "__array__") and not any(hasattr(kind, name) for name in ("__iter__", "columns", "shape"))
    return np.asarray(given) if only else given


def one_column(given: Any, title: str) -> Any:
    """What was passed as a column, with a single dimension and the index that it had.

    >>> one_column(np.array([[1], [0]]), "y_true")
    array([1, 0])
    """
    given = arrayed(given)
    columns = several_columns(given, title)
    if columns is None:
        return given
    if len(columns) != 1:
        raise InvalidInput(f"{title} must be one column; got {len(columns)}")
    return one_column(columns[0][1], title)


def named_columns(given: Any, argument: str) -> Any:
    """What was passed as one or more columns, with the names of columns for plain expressions of polars.

    >>> import polars as pl
    >>> named_columns([pl.col("race"), "sex"], "groups")
    ['race', 'sex']
    """
    if isinstance(given, (list, tuple)):
        # A list of values is left alone, however long it is.
        if any(map(_is_expression, given[:_MOST_COLUMNS])):
            return [named_columns(one, argument) for one in given]
        return given
    if type(given) is dict and any(map(_is_expression, given.values())):
        return {name: named_columns(one, argument) for name, one in given.items()}
    if not _is_expression(given):
        return given
    names = given.meta.root_names()
    if len(names) == 1 and given.meta.eq(sys.modules["polars"].col(names[0])):
        return names[0]
    raise InvalidInput(
        f"`{argument}` must be the name of a column or its values; got the expression {brief(str(given))}: add it to "
        "the data with data.with_columns(name=...), and pass its name"
    )


def _is_expression(given: Any) -> bool:
    kind = type(given)
    return kind.__name__ == "Expr" and kind.__module__.partition(".")[0] == "polars"


def several_columns(given: Any, title: str) -> list[tuple[Hashable, Any]] | None:
    """The columns of what was passed as values, with their names or None; None if there is nothing to split.

    >>> several_columns(np.array([["a", "F"], ["b", "M"]]), "groups")
    [(None, array(['a', 'b'], dtype='<U1')), (None, array(['F', 'M'], dtype='<U1'))]
    >>> several_columns(["a", "b"], "groups")
    """
    if is_foreign(given):
        raise InvalidInput(
            f"{title} must be a list, an array or a Series; got {type(given).__name__}; pass a dataframe as `data`, "
            "and names of columns"
        )
    if isinstance(given, (str, bytes, Mapping, list, tuple)):
        return None
    if isinstance(given, np.ndarray):
        given = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)
        if given.ndim > 2:
            raise InvalidInput(f"{title} must have one or two dimensions; got shape {given.shape}")
        return [(None, given[:, i]) for i in range(given.shape[1])] if given.ndim == 2 else None
    if hasattr(type(given), "compute") or hasattr(type(given), "collect"):
        raise _not_in_memory(given, title)
    if hasattr(type(given), "columns"):
        table = Table(given)
        if table.is_lazy:
            raise _not_in_memory(given, title)
        return [(name, table.column(name)) for name in table.names]
    if len(getattr(given, "shape", ())) > 1 and hasattr(given, "__array__"):
        return several_columns(np.asarray(given), title)
    return None


def is_foreign(given: Any) -> bool:
    """Whether something holds columns in its own way, as structured arrays, a pandas MultiIndex and xarray do."""
    if isinstance(given, np.ndarray):
        return given.dtype.names is not None
    # A column of a frame is also its attribute, so that only the type tells.
    kind = type(given)
    return hasattr(kind, "dims") or (hasattr(kind, "nlevels") and given.nlevels > 1)


def _not_in_memory(given: Any, title: str) -> InvalidInput:
    library = type(given).__module__.partition(".")[0].strip("_")
    return InvalidInput(
        f"{title} must be values in memory; got a {type(given).__name__} of {library}: pass its frame as `data`, and "
        "names of columns"
    )


def positive_scores(scores: Any, title: str = "`y_score`") -> Any:
    """The scores of the positive class, if there are two columns as ``predict_proba`` of scikit-learn gives them.

    >>> positive_scores(np.array([[0.9, 0.1], [0.25, 0.75]]))
    array([0.1 , 0.75])
    """
    scores = arrayed(scores)
    if isinstance(scores, (str, bytes)) or not hasattr(scores, "shape"):
        return scores
    columns = several_columns(scores, title)
    if columns is None or len(columns) == 1:
        return scores
    if len(columns) != 2 or columns[0][0] is not None:
        raise InvalidInput(f"{title} has {len(columns)} columns; pass the column of the positive class")
    try:
        both: NDArray[Any] = np.column_stack(
            [np.ma.filled(np.ma.asarray(values, dtype=float), np.nan) for _, values in columns]
        )
    except (TypeError, ValueError):
        raise InvalidInput(f"{title} must contain numbers; got {brief(scores)}") from None
    off = ~(np.abs(both.sum(axis=1) - 1) <= _ROUNDING) | (both < 0).any(axis=1)
    off &= ~np.isnan(both).all(axis=1)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise InvalidInput(
            f"{title} has two columns, so each row must contain the probabilities of two classes, which add up to 1; "
            f"row {row + 1:,} contains {both[row, 0]:g} and {both[row, 1]:g}"
        )
    return both[:, 1]
