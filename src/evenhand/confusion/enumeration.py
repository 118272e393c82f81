"""The set of all confusion matrices of ``n`` cases."""

from __future__ import annotations

import operator
from math import comb
from typing import SupportsIndex

import numpy as np

from ..arrays import Integers
from ..errors import InvalidInput, check_cost

# 2 GiB of int64; n = 736 is the largest number of cases below it.
_MAX_ROWS = 2**26


def as_size(n: SupportsIndex, name: str = "n") -> int:
    """Validate a number of cases and return it as ``int``; ``name`` is the argument in errors.

    NumPy integers are accepted; booleans and floats are not.

    >>> as_size(np.int64(3))
    3
    """
    try:
        # `operator.index` would read True as 1.
        if isinstance(n, (bool, np.bool_)):
            raise TypeError
        size = operator.index(n)
    except TypeError:
        must = "be a whole number of cases"
        raise InvalidInput(argument=name, must=must, got=n) from None
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
    One case can be in any of four cells. Two cases are in the same cell in 4 ways, and
    in different cells in 6:

    >>> count_matrices(1), count_matrices(2)
    (4, 10)
    """
    return comb(as_size(n) + 3, 3)


def count_cell_value(x: SupportsIndex, n: SupportsIndex) -> int:
    """Count the confusion matrices in which a given cell equals ``x``: C(n-x+2, 2).

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
    # The other n - x cases can be in any of the three other cells.
    size, value = as_size(n), as_size(x, "x")
    return comb(size - value + 2, 2) if value <= size else 0


def enumerate_matrices(n: SupportsIndex) -> Integers:
    """List all confusion matrices of ``n`` cases.

    Parameters
    ----------
    n : int
        The number of cases, at most 736.

    Returns
    -------
    ndarray of int, of shape (count_matrices(n), 4)
        One matrix per row, in the order ``tp, fn, fp, tn``; the rows are in
        lexicographic order.

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
    size = as_size(n)
    rows = comb(size + 3, 3)
    subject = f"a list of the matrices of n = {size:,} cases has {{}} rows"
    check_cost(rows, _MAX_ROWS, subject, "counts and probabilities need no list")
    # Append one cell at a time, in the order tp, fn, fp; tn is what remains of n.
    table = np.empty((1, 0), dtype=np.int64)
    remaining = np.array([size])
    for _ in range(3):
        # Each row branches into one for every value 0, 1, ..., remaining of the next cell.
        branches = remaining + 1
        start = np.repeat(np.cumsum(branches) - branches, branches)
        value = np.arange(len(start)) - start
        remaining = np.repeat(remaining, branches) - value
        table = np.column_stack([np.repeat(table, branches, axis=0), value])
    return np.column_stack([table, remaining])
