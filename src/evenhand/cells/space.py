"""The space M(n) of all confusion matrices of ``n`` cases."""

from __future__ import annotations

import operator
from math import comb
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, TooLarge

__all__ = ["as_size", "compositions", "count_cell_value", "count_matrices", "enumerate_matrices"]

_MOST_ROWS = 2**26


def as_size(n: SupportsIndex, name: str = "n") -> int:
    """A number of cases, checked; ``name`` is the argument that it was passed as.

    >>> as_size(np.int64(3))
    3
    """
    try:
        if isinstance(n, (bool, np.bool_)):
            raise TypeError
        size = operator.index(n)
    except TypeError:
        raise InvalidInput(argument=name, must="be a whole number of cases", got=n) from None
    if size < 0:
        raise InvalidInput(argument=name, must="not be negative", got=size)
    return size


def count_matrices(n: SupportsIndex) -> int:
    """Count the confusion matrices of ``n`` cases: C(n+3, 3).

    Parameters
    ----------
    n : int
        The number of cases.

    Returns
    -------
    int
        The number of different matrices.

    Examples
    --------
    One case can be in any of four cells. Two cases are in the same cell in 4 ways, and in different cells in 6:

    >>> count_matrices(1), count_matrices(2)
    (4, 10)
    """
    return comb(as_size(n) + 3, 3)


def count_cell_value(x: SupportsIndex, n: SupportsIndex) -> int:
    """Count the confusion matrices of ``n`` cases in which a given cell equals ``x``: C(n-x+2, 2).

    Parameters
    ----------
    x : int
        The value of the cell. The count is the same for every cell.
    n : int
        The number of cases.

    Returns
    -------
    int
        The number of such matrices; 0 if ``x`` is larger than ``n``.

    Examples
    --------
    Of the 10 matrices of two cases, 6 have no true positive, 3 have one and 1 has two:

    >>> [count_cell_value(x, 2) for x in range(3)]
    [6, 3, 1]
    """
    size, value = as_size(n), as_size(x, "x")
    return comb(size - value + 2, 2) if value <= size else 0


def enumerate_matrices(n: SupportsIndex) -> NDArray[np.int64]:
    """List all confusion matrices of ``n`` cases.

    Parameters
    ----------
    n : int
        The number of cases, at most 736.

    Returns
    -------
    ndarray of int, of shape (count_matrices(n), 4)
        One matrix per row, in the order ``tp, fn, fp, tn``; the rows in lexicographic order.

    Raises
    ------
    TooLarge
        If the array would have more than 2**26 rows.

    Examples
    --------
    >>> enumerate_matrices(1)
    array([[0, 0, 0, 1],
           [0, 0, 1, 0],
           [0, 1, 0, 0],
           [1, 0, 0, 0]])
    """
    return compositions(as_size(n), 4)


def compositions(n: int, parts: int) -> NDArray[np.int64]:
    """All ways to write ``n`` as an ordered sum of non-negative integers, one per row, in lexicographic order.

    >>> compositions(2, 2)
    array([[0, 2],
           [1, 1],
           [2, 0]])
    """
    rows = comb(n + parts - 1, parts - 1) if parts else int(n == 0)
    if rows > _MOST_ROWS:
        raise TooLarge(
            f"enumerating n = {n:,} takes {rows:,} rows, more than the limit of {_MOST_ROWS:,}; "
            "counts, probabilities and distributions are available without enumeration"
        )
    table = np.empty((rows, parts), dtype=np.int64)
    left = np.full(1, n, dtype=np.int64)
    for column in range(parts - 1):
        # Each row so far branches into 0, 1, ..., left.
        sizes = left + 1
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        value = np.arange(len(starts)) - starts
        left = np.repeat(left, sizes) - value
        below = _count_tails(left, parts - column - 2)
        table[:, column] = np.repeat(value, below)
    if parts:
        table[:, -1] = n - table[:, :-1].sum(axis=1)
    return table


def _count_tails(left: NDArray[np.int64], more: int) -> NDArray[np.int64]:
    """The number of rows that share a beginning, with ``left`` to divide among ``more`` columns and the last one."""
    count = np.ones_like(left)
    for j in range(1, more + 1):
        count = count * (left + j) // j
    return count
