"""The 2x2 confusion matrix.

Its cells are counts, or real numbers after smoothing. Whole numbers are stored as
``int``, and `ConfusionMatrix.is_whole` tells the two apart: hypothesis tests need
counts, metrics accept either.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..arrays import Array, Floats
from ..errors import InvalidInput, brief
from ..text_layout import aligned
from ..wording import format_count
from .labels import count_pairs, read_labels

CELLS = ("tp", "fn", "fp", "tn")
# Beyond this, float64 cannot represent every count.
LARGEST_CELL = 2**53
# Below this, the product of four cells could underflow to zero.
SMALLEST_CELL = 1e-75
_NOT_COUNTS = "to count labels, use ConfusionMatrix.from_labels"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConfusionMatrix:
    """The true and false positives and negatives of one group.

    Matrices are immutable and hashable. They can be added, subtracted and passed to
    ``sum``.

    Parameters
    ----------
    tp, fn, fp, tn : int or float
        Non-negative and finite. Whole numbers are stored as ``int``.

    Examples
    --------
    >>> cm = ConfusionMatrix(tp=77, fn=129, fp=380, tn=1679)
    >>> cm.n
    2265
    >>> print(cm)
              predicted +  predicted -  total
    actual +           77          129    206
    actual -          380         1679   2059
       total          457         1808   2265
    >>> cm + ConfusionMatrix(tp=1, fn=0, fp=0, tn=0)
    ConfusionMatrix(tp=78, fn=129, fp=380, tn=1679)
    """

    tp: float
    fn: float
    fp: float
    tn: float

    def __post_init__(self) -> None:
        """Check each cell, and store whole numbers as ``int``, also in a frozen dataclass."""
        for name in CELLS:
            object.__setattr__(self, name, as_cell(name, getattr(self, name)))

    @classmethod
    def from_labels(
        cls, y_true: Iterable[object], y_pred: Iterable[object], positive: object = None
    ) -> ConfusionMatrix:
        """Count labels against predictions.

        Parameters
        ----------
        y_true, y_pred : sequence
            Labels and predictions of the same length, without missing values: numbers,
            text or booleans. Lists, arrays and columns of any dataframe library are
            accepted.
        positive : label, list of labels, or dict, optional
            The positive labels; all others are negative. Optional for 0/1, -1/1,
            booleans, no/yes, n/y, negative/positive and false/true. If those of
            ``y_true`` and ``y_pred`` differ, ``{"label": ..., "prediction": ...}``.

        Returns
        -------
        ConfusionMatrix
            The counts.

        Examples
        --------
        >>> labels, predictions = ["good", "bad", "bad"], ["good", "good", "bad"]
        >>> ConfusionMatrix.from_labels(labels, predictions, positive="good")
        ConfusionMatrix(tp=1, fn=0, fp=1, tn=1)
        """
        counts, _ = count_pairs(y_true, y_pred, lambda v: read_labels(v, positive))
        # Codes are 0 for negative and 1 for positive labels.
        (tn, fp), (fn, tp) = counts.tolist()
        return cls(tp=tp, fn=fn, fp=fp, tn=tn)

    @classmethod
    def from_array(cls, cells: ArrayLike) -> ConfusionMatrix:
        """Create a matrix from four cells in the order ``tp, fn, fp, tn``.

        Parameters
        ----------
        cells : array_like of shape (4,)
            The cells. A 2x2 array is refused, since libraries differ in its layout:
            use `from_sklearn` for that of scikit-learn.

        Returns
        -------
        ConfusionMatrix
            The same cells.

        Examples
        --------
        >>> ConfusionMatrix.from_array([1, 2, 3, 4])
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        if isinstance(cells, cls):
            return cells
        given = as_numbers(cells, "`cells`")
        if given.shape != (4,):
            must = "be four numbers in the order tp, fn, fp, tn"
            raise InvalidInput(argument="cells", must=must, hint=_got_shape(given))
        return cls(**dict(zip(CELLS, given.tolist(), strict=True)))

    @classmethod
    def from_sklearn(cls, array: ArrayLike) -> ConfusionMatrix:
        """Create a matrix from ``[[tn, fp], [fn, tp]]``, the layout of scikit-learn.

        Parameters
        ----------
        array : array_like of shape (2, 2)
            What ``sklearn.metrics.confusion_matrix`` returns for two classes, the
            positive one last.

        Returns
        -------
        ConfusionMatrix
            The same cells.

        Examples
        --------
        >>> ConfusionMatrix.from_sklearn([[4, 3], [2, 1]])
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        given = as_numbers(array, "`array`")
        if given.shape != (2, 2):
            must, hint = "be [[tn, fp], [fn, tp]]", f"got shape {given.shape}"
            raise InvalidInput(argument="array", must=must, hint=hint)
        (tn, fp), (fn, tp) = given.tolist()
        return cls(tp=tp, fn=fn, fp=fp, tn=tn)

    @property
    def cells(self) -> tuple[float, float, float, float]:
        """The four cells in the order ``tp, fn, fp, tn``.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).cells
        (1, 2, 3, 4)
        """
        return self.tp, self.fn, self.fp, self.tn

    @property
    def n(self) -> float:
        """The number of cases.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).n
        10
        """
        return self.tp + self.fn + self.fp + self.tn

    @property
    def is_whole(self) -> bool:
        """Whether every cell is a whole number.

        Examples
        --------
        >>> ConfusionMatrix(tp=1.0, fn=2, fp=3, tn=4).is_whole
        True
        >>> ConfusionMatrix(tp=1.5, fn=2, fp=3, tn=4).is_whole
        False
        """
        return all(isinstance(cell, int) for cell in self.cells)

    @property
    def proportions(self) -> Floats:
        """The cells divided by `n`, in the order ``tp, fn, fp, tn``.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).proportions
        array([0.1, 0.2, 0.3, 0.4])
        """
        if self.n == 0:
            raise InvalidInput("an empty matrix (n = 0) has no proportions")
        return self.to_array() / self.n

    def to_array(self) -> Array:
        """Return the cells as an array, in the order that `from_array` reads.

        Returns
        -------
        ndarray of shape (4,)
            ``[tp, fn, fp, tn]``; integers if every cell is whole, floats otherwise.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).to_array()
        array([1, 2, 3, 4])
        """
        return np.array(self.cells)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """The cells for ``np.asarray``, as `to_array` returns them."""
        if copy is False:
            raise ValueError("a ConfusionMatrix cannot become an array without a copy")
        return np.array(self.cells, dtype=dtype)

    def __add__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        """The matrix of the cases of both; NotImplemented for other types, as Python expects."""
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        return ConfusionMatrix.from_array(list(map(add, self.cells, other.cells)))

    def __radd__(self, other: object) -> ConfusionMatrix:
        """The matrix itself if it is added to 0, so that ``sum`` works."""
        # `sum(matrices)` starts from 0.
        return self if other == 0 else NotImplemented

    def __sub__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        """The matrix of the cases that are not in ``other``; no cell may become negative."""
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        rest = list(map(_subtract, self.cells, other.cells))
        if min(rest) < 0:
            raise InvalidInput("cannot subtract a matrix with larger cells")
        return ConfusionMatrix.from_array(rest)

    def __repr__(self) -> str:
        return "ConfusionMatrix(tp={!r}, fn={!r}, fp={!r}, tn={!r})".format(*self.cells)

    def __str__(self) -> str:
        """A table with totals, actual labels in rows."""
        tp, fn, fp, tn = self.cells
        table = [["", "predicted +", "predicted -", "total"]]
        rows = (("actual +", tp, fn), ("actual -", fp, tn), ("total", tp + fp, fn + tn))
        for name, first, second in rows:
            table.append([name, *map(format_count, [first, second, first + second])])
        return "\n".join(aligned(table, right=range(4)))


#: What a metric accepts: one matrix, several, or an array of shape (..., 4).
Cells: TypeAlias = "ConfusionMatrix | Sequence[ConfusionMatrix] | ArrayLike"


def as_cells(cells: Cells, name: str = "cells") -> Floats:
    """Check cells and return them as an array of shape (..., 4).

    The columns of a dataframe are found by their names. ``name`` is what error messages call the
    argument. Every metric reads its arguments by it.

    >>> as_cells(ConfusionMatrix(tp=1, fn=2, fp=3, tn=4))
    array([1., 2., 3., 4.])
    """
    if isinstance(cells, ConfusionMatrix):
        return np.array(cells.cells, dtype=float)
    array = as_numbers(_order_columns(cells, name), name)
    if array.ndim == 0 or array.shape[-1] != 4:
        must = "must have shape (..., 4), in the order tp, fn, fp, tn"
        raise InvalidInput(f"{name} {must}; {_got_shape(array)}")
    if invalid := first_invalid_cell(array):
        # This raises the error for that value.
        as_cell(CELLS[invalid[-1]], float(array[invalid]))
    return array.astype(float)


def first_invalid_cell(array: Array) -> tuple[int, ...] | None:
    """The index of the first number that `as_cell` refuses; None if there is none.

    It checks whole arrays at once; `as_cell` then raises the error for that number.
    """
    in_range = (array >= SMALLEST_CELL) & (array <= LARGEST_CELL)
    # The negated condition also finds nan, for which every comparison is false.
    invalid = np.argwhere(~((array == 0) | in_range))
    return tuple(invalid[0]) if len(invalid) else None


def require_counts(cm: object, name: str) -> Floats:
    """Return the cells of a matrix; raise unless they are whole counts, as exact tests need."""
    if not isinstance(cm, ConfusionMatrix):
        must = "must be a ConfusionMatrix of counts"
        raise InvalidInput(f"{name} {must}; got {brief(cm)}")
    if not cm.is_whole:
        raise InvalidInput(f"{name} must hold whole counts, not smoothed cells; got {cm!r}")
    return np.asarray(cm.cells, dtype=float)


def require_cases(reference: Any) -> None:
    """Raise an error if a matrix to compare with has no cases."""
    if getattr(reference, "n", None) == 0:
        raise InvalidInput("the `reference` is empty (n = 0); the group cannot be compared with it")


def as_numbers(array: Any, name: str) -> Array:
    """Convert to an array of integers or floats; error messages call it ``name``.

    Arguments with cells are read by it. Booleans are refused: whoever passes them probably means
    labels, not counts.
    """
    # NumPy would turn booleans and masked values in a list into numbers.
    types = _types_in(array)
    if np.ma.is_masked(array) or type(np.ma.masked) in types:
        raise InvalidInput(f"{name} must not be masked; fill or drop masked values first")
    try:
        given = np.asarray(array)
        # Objects are Decimals and Fractions, among others.
        if given.dtype.kind == "O":
            given = given.astype(float)
    except (TypeError, ValueError, OverflowError, MemoryError):
        must = f"{name} must be an array of numbers"
        raise InvalidInput(f"{must}; got {brief(array)}") from None
    kind = given.dtype.kind
    if kind == "b" or bool in types:
        raise InvalidInput(f"{name} must contain counts; got booleans ({_NOT_COUNTS})")
    if kind not in "iuf":
        shown = "text" if kind in "US" else given.dtype.name
        raise InvalidInput(f"{name} must contain numbers; got {shown}")
    return given


def _types_in(array: Any) -> set[type]:
    """The types of all values in nested lists, before NumPy converts them to a common one.

    `as_numbers` looks for booleans and masked values among them, which NumPy would turn into
    numbers.
    """
    if not isinstance(array, (list, tuple)):
        return {type(array)}
    return set().union(*map(_types_in, array))


def as_cell(name: str, value: Any) -> float:
    """Check the cell ``name``; return a whole number as ``int``, any other as ``float``.

    Every matrix is created by it. Values that are negative, not finite, or too large or small for
    exact arithmetic are errors.
    """
    # A masked value is an array without dimensions, too, and must not become 0.
    if isinstance(value, np.ndarray) and value.ndim == 0 and value is not np.ma.masked:
        value = value.item()
    # A signalling NaN cannot be compared or converted.
    if isinstance(value, Decimal) and value.is_nan():
        value = math.nan
    if isinstance(value, (bool, np.bool_)):
        hint = f"got {value} ({_NOT_COUNTS})"
        raise InvalidInput(argument=name, must="be a count", hint=hint)
    if value is np.ma.masked or not isinstance(value, (numbers.Real, Decimal)):
        hint = f"got {brief(value)} of type {type(value).__name__}"
        raise InvalidInput(argument=name, must="be a number", hint=hint)
    number: Any = value
    # Integers and fractions are finite, but `isfinite` fails for those too large for a float.
    if not isinstance(number, numbers.Rational) and not math.isfinite(number):
        raise InvalidInput(argument=name, must="be finite", got=float(number))
    if number < 0:
        must = "not be negative"
    elif number > LARGEST_CELL:
        must = "be at most 2**53, beyond which float64 is not exact"
        number = int(number)
    elif 0 < number < SMALLEST_CELL:
        must = f"be 0 or at least {SMALLEST_CELL:g}"
    else:
        return int(number) if number == int(number) else float(number)
    raise InvalidInput(argument=name, must=must, hint=f"got {format_count(number)}")


def _subtract(whole: float, part: float) -> float:
    """``whole - part``, with tiny negative results of rounding set to 0.

    It is a cell of the difference of two matrices, where a negative cell is an error.
    """
    rest = whole - part
    return 0 if isinstance(rest, float) and -1e-12 * whole < rest < 0 else rest


def _got_shape(array: Array) -> str:
    """The end of an error message for an array of another shape than four cells."""
    text = f"got shape {array.shape}"
    if array.shape != (2, 2):
        return text
    return f"{text}; for a 2x2 array of scikit-learn, use ConfusionMatrix.from_sklearn"


def _order_columns(cells: Any, name: str) -> Any:
    """Cells with named columns (or a series with a named index) in the order of `CELLS`.

    A list of matrices becomes a list of their cells. Cells without names are returned unchanged.
    Names other than those of the cells, in any case, are an error. So users can pass columns of a
    dataframe in any order.
    """
    if isinstance(cells, (list, tuple)):
        is_matrices = all(isinstance(cm, ConfusionMatrix) for cm in cells)
        return [cm.cells for cm in cells] if is_matrices else cells
    axis = "index" if getattr(cells, "ndim", 2) == 1 else "columns"
    names = getattr(cells, axis, None)
    if names is None or not all(isinstance(column, str) for column in names):
        return cells
    column_of = {column.casefold(): column for column in names}
    if sorted(map(str.casefold, names)) != sorted(CELLS):
        must = "must have the columns tp, fn, fp and tn"
        raise InvalidInput(f"{name} with named columns {must}; got {', '.join(names)}")
    return np.stack([np.asarray(cells[column_of[cell]]) for cell in CELLS], axis=-1)
