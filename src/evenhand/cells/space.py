"""The space M(n) of all confusion matrices of ``n`` cases."""

from __future__ import annotations

import operator
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, TooLarge

__all__ = ["as_size", "compositions", "count_cell_value", "count_matrices", "enumerate_matrices"]

_MOST_ROWS = 2**26


def as_size(n: Any, name: str = "n") -> int:
    """``n`` as a whole number of cases, checked."""
    try:
        if isinstance(n, (bool, np.bool_)):
            raise TypeError
        size = operator.index(n)
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number of cases; got {n!r}") from None
    if size < 0:
        raise InvalidInput(f"{name} must not be negative; got {size}")
    return size


def count_matrices(n: int) -> int:
    """|M(n)| = C(n+3, 3), the number of confusion matrices of ``n`` cases.

    One case can fall into any of four cells; two cases into 4 pairs of the same cell and 6 of different ones:

    >>> count_matrices(1), count_matrices(2)
    (4, 10)
    """
    return comb(as_size(n) + 3, 3)


def count_cell_value(x: int, n: int) -> int:
    """C(x; n) = C(n-x+2, 2), in how many matrices of ``n`` cases a given cell equals ``x``.

    >>> [count_cell_value(x, 2) for x in range(3)]
    [6, 3, 1]
    """
    size, value = as_size(n), as_size(x, "x")
    return comb(size - value + 2, 2) if value <= size else 0


def enumerate_matrices(n: int) -> NDArray[np.int64]:
    """All confusion matrices of ``n`` cases, one a row, in lexicographic order of ``tp, fn, fp, tn``.

    >>> enumerate_matrices(1)
    array([[0, 0, 0, 1],
           [0, 0, 1, 0],
           [0, 1, 0, 0],
           [1, 0, 0, 0]])
    """
    return compositions(as_size(n), 4)


def compositions(n: int, parts: int) -> NDArray[np.int64]:
    """All ways to write ``n`` as an ordered sum of ``parts`` non-negative numbers, one a row."""
    rows = comb(n + parts - 1, parts - 1) if parts else int(n == 0)
    if rows > _MOST_ROWS:
        raise TooLarge(
            f"a list of {rows:,} rows for n = {n:,} is past the budget of {_MOST_ROWS:,}; "
            "counts, probabilities and distributions need no list"
        )
    table = np.empty((rows, parts), dtype=np.int64)
    left = np.full(1, n, dtype=np.int64)
    for column in range(parts - 1):
        # Each row so far continues with 0, 1, ..., left.
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
    """How many rows continue a row with ``left`` to place, when ``more`` columns are still to be chosen."""
    count = np.ones_like(left)
    for j in range(1, more + 1):
        count = count * (left + j) // j
    return count
