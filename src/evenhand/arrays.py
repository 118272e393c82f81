"""Types of NumPy arrays, and what can be a column."""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


def choose(condition: Bools, values: Any, otherwise: Any) -> NDArray[Any]:
    """Values where a condition holds, and others elsewhere, as objects such as texts and None.

    >>> choose(np.array([True, False]), None, "fisher")
    array([None, 'fisher'], dtype=object)
    """
    chosen = np.full(condition.shape, None, dtype=object)
    np.copyto(chosen, otherwise)
    np.copyto(chosen, values, where=condition)
    return chosen


def is_none(values: Array) -> Bools:
    """Which objects are None.

    >>> is_none(np.array(["a", None], dtype=object))
    array([False,  True])
    """
    return np.asarray(values == None)  # noqa: E711


def is_sequence(values: object) -> bool:
    """Whether an object can be a column: values in the order of rows.

    Text, mappings, sets, classes and arrays without dimensions cannot, although they may be
    iterable.

    >>> is_sequence([1, 0]), is_sequence({1, 0}), is_sequence("10")
    (True, False, False)
    """
    is_unordered = isinstance(values, (str, bytes, Mapping, Set, type))
    if is_unordered or getattr(values, "shape", None) == ():
        return False
    return hasattr(values, "__iter__") or hasattr(values, "__array__")
