"""Columns that were passed as values: lists, arrays with one or more dimensions, frames, and xarray's arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from .tables import Table, brief

__all__ = ["fields", "is_xarray", "one_column", "positive_scores", "several_columns"]

# How far the two probabilities of a row may be from adding up to 1, by rounding.
_ROUNDING = 1e-6


def one_column(given: Any, title: str) -> Any:
    """Turn what was passed as a column into one with a single dimension.

    Parameters
    ----------
    given : object
        A sequence, or an array, frame or table with one column.
    title : str
        What error messages call it.

    Returns
    -------
    object
        A sequence, a one-dimensional array or a Series, with the index that it had.

    Examples
    --------
    >>> one_column(np.array([[1], [0]]), "y_true")
    array([1, 0])
    """
    columns = several_columns(given, title)
    if columns is None:
        return given
    if len(columns) != 1:
        raise InvalidInput(f"{title} must be one column; got {len(columns)}")
    return one_column(columns[0][1], title)


def several_columns(given: Any, title: str) -> list[tuple[Hashable, Any]] | None:
    """Split what was passed as values into its columns.

    Parameters
    ----------
    given : object
        A sequence, an array with one or two dimensions, a structured array, a frame, a pandas index, or an array or
        data set of xarray.
    title : str
        What error messages call it.

    Returns
    -------
    list of (hashable, object), or None
        Names, None for columns that have none, and values; None if there is nothing to split.

    Examples
    --------
    >>> several_columns(np.array([["a", "F"], ["b", "M"]]), "groups")
    [(None, array(['a', 'b'], dtype='<U1')), (None, array(['F', 'M'], dtype='<U1'))]
    >>> several_columns(["a", "b"], "groups")
    """
    if is_xarray(given):
        return _of_xarray(given, title)
    if isinstance(given, (str, bytes, Mapping, list, tuple)):
        return None
    if isinstance(given, np.ndarray):
        given = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)
        if given.dtype.names:
            return list(fields(given).items())
        if given.ndim > 2:
            raise InvalidInput(f"{title} must have one or two dimensions; got shape {given.shape}")
        return [(None, given[:, i]) for i in range(given.shape[1])] if given.ndim == 2 else None
    if hasattr(given, "get_level_values") and len(given.names) > 1:
        return [(name, given.get_level_values(i)) for i, name in enumerate(given.names)]
    if hasattr(given, "compute") or hasattr(given, "collect"):
        raise _not_in_memory(given, title)
    if hasattr(given, "columns"):
        table = Table(given)
        if table.is_lazy:
            raise _not_in_memory(given, title)
        return [(name, table.column(name)) for name in table.names]
    if len(getattr(given, "shape", ())) > 1 and hasattr(given, "__array__"):
        return several_columns(np.asarray(given), title)
    return None


def _not_in_memory(given: Any, title: str) -> InvalidInput:
    library = type(given).__module__.partition(".")[0].strip("_")
    return InvalidInput(
        f"{title} must be values in memory; got a {type(given).__name__} of {library}: pass its frame as data, and "
        "names of columns"
    )


def fields(array: Any) -> dict[Hashable, Any]:
    """The fields of a structured array as columns.

    Parameters
    ----------
    array : numpy.ndarray
        With one dimension, or a second of length 1.

    Returns
    -------
    dict of str to numpy.ndarray
        The columns by name.

    Examples
    --------
    >>> fields(np.array([("a", 1), ("b", 0)], dtype=[("race", "U1"), ("label", int)]))["label"]
    array([1, 0])
    """
    if array.ndim != 1 and array.shape[1:] != (1,):
        raise InvalidInput(f"a structured array must have one dimension; got shape {array.shape}")
    return {name: array[name].reshape(len(array), *array.dtype[name].shape) for name in array.dtype.names}


def is_xarray(given: Any) -> bool:
    """Return whether a value is an array or a data set of xarray.

    Parameters
    ----------
    given : object
        Any value.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_xarray([1, 2])
    False
    """
    return type(given).__module__.partition(".")[0] == "xarray" and hasattr(given, "dims")


def _of_xarray(given: Any, title: str) -> list[tuple[Hashable, Any]]:
    if hasattr(given, "data_vars"):
        return [(name, _flat(given[name], str(name))) for name in given.data_vars]
    if len(given.dims) == 2:
        across = given.dims[1]
        names = given.indexes[across] if across in given.indexes else [None] * given.shape[1]
        return [(name, _flat(given[:, i], title)) for i, name in enumerate(names)]
    return [(given.name, _flat(given, title))]


def _flat(array: Any, title: str) -> Any:
    """The values of a one-dimensional array of xarray, with its index if it has one."""
    if len(array.dims) != 1:
        dimensions = ", ".join(map(str, array.dims)) or "none"
        raise InvalidInput(f"{title} must have one dimension; it has {dimensions}")
    if array.chunks is not None:
        raise InvalidInput(f"{title} must be values in memory; it is a dask array: compute it first")
    return array.to_series() if array.dims[0] in array.indexes else array.values


def positive_scores(scores: Any) -> Any:
    """The scores of the positive class, if there are two columns as ``predict_proba`` of scikit-learn gives them.

    Parameters
    ----------
    scores : array-like of shape (n, 2)
        The probabilities of the negative and of the positive class.

    Returns
    -------
    object
        The second column; whatever has no two columns is returned as it is.

    Examples
    --------
    >>> positive_scores(np.array([[0.9, 0.1], [0.25, 0.75]]))
    array([0.1 , 0.75])
    """
    if isinstance(scores, (str, bytes)) or not hasattr(scores, "shape"):
        return scores
    columns = several_columns(scores, "y_score")
    if columns is None or len(columns) == 1:
        return scores
    if len(columns) != 2 or columns[0][0] is not None:
        raise InvalidInput(f"y_score has {len(columns)} columns; pass the column of the positive class")
    try:
        both: NDArray[Any] = np.column_stack(
            [np.ma.filled(np.ma.asarray(values, dtype=float), np.nan) for _, values in columns]
        )
    except (TypeError, ValueError):
        raise InvalidInput(f"y_score must contain numbers; got {brief(scores)}") from None
    off = ~(np.abs(both.sum(axis=1) - 1) <= _ROUNDING) | (both < 0).any(axis=1)
    off &= ~np.isnan(both).all(axis=1)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise InvalidInput(
            "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; "
            f"row {row + 1:,} contains {both[row, 0]:g} and {both[row, 1]:g}"
        )
    return both[:, 1]
