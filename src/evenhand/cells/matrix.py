"""The 2x2 confusion matrix, which every other part of the library reads.

Its cells are counts, or real numbers after smoothing. Whole numbers are stored as ``int``, and
`ConfusionMatrix.is_whole` tells the two apart: hypothesis tests need counts, metrics accept either.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import InvalidInput, brief
from ..text_layout import aligned
from .labels import count_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "CELLS",
    "LARGEST_CELL",
    "SMALLEST_CELL",
    "Cells",
    "ConfusionMatrix",
    "as_cells",
    "count_text",
    "html_table",
    "whole_counts",
]

CELLS = ("tp", "fn", "fp", "tn")

# Beyond this, float64 cannot represent every count, and whether a score is defined must be decided exactly.
LARGEST_CELL = 2**53
_COUNT_LABELS = "to count labels, use ConfusionMatrix.from_labels"
# Below this, the product of four cells could underflow to zero.
SMALLEST_CELL = 1e-75


@dataclass(frozen=True, slots=True, repr=False)
class ConfusionMatrix:
    """The true and false positives and negatives of one group.

    Matrices are immutable and hashable. They can be added, subtracted and passed to ``sum``.

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
        for name in CELLS:
            object.__setattr__(self, name, _cell(name, getattr(self, name)))

    @classmethod
    def from_labels(
        cls,
        y_true: Iterable[object],
        y_pred: Iterable[object],
        positive: object = None,
        *,
        positive_label: object = None,
        positive_prediction: object = None,
    ) -> ConfusionMatrix:
        """Count labels against predictions.

        Parameters
        ----------
        y_true, y_pred : sequence
            Labels and predictions of the same length, without missing values: numbers, texts or booleans. Lists,
            arrays and columns of any dataframe library are accepted.
        positive : label or list of labels, optional
            The positive labels; all others are negative. It can be left out for 0/1, -1/1, booleans, no/yes, n/y,
            negative/positive and false/true.
        positive_label, positive_prediction : label or list of labels, optional
            The positive labels of ``y_true`` and of ``y_pred``, if they differ.

        Returns
        -------
        ConfusionMatrix
            The counts.

        Examples
        --------
        >>> ConfusionMatrix.from_labels(["good", "bad", "bad"], ["good", "good", "bad"], positive="good")
        ConfusionMatrix(tp=1, fn=0, fp=1, tn=1)
        """
        return cls(*count_labels(y_true, y_pred, positive, positive_label, positive_prediction))

    @classmethod
    def from_array(cls, array: ArrayLike) -> ConfusionMatrix:
        """Create a matrix from ``[[tp, fn], [fp, tn]]``, the layout of the paper and of `to_array`.

        Parameters
        ----------
        array : array_like of shape (2, 2)
            Actual positives in the first row, predicted positives in the first column.

        Returns
        -------
        ConfusionMatrix
            The same cells.

        Examples
        --------
        >>> ConfusionMatrix.from_array([[1, 2], [3, 4]])
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        (tp, fn), (fp, tn) = _two_by_two(array, "[[tp, fn], [fp, tn]]")
        return cls(tp, fn, fp, tn)

    @classmethod
    def from_sklearn(cls, array: ArrayLike) -> ConfusionMatrix:
        """Create a matrix from ``[[tn, fp], [fn, tp]]``, the layout of scikit-learn.

        Parameters
        ----------
        array : array_like of shape (2, 2)
            What ``sklearn.metrics.confusion_matrix`` returns for two classes, the positive one last.

        Returns
        -------
        ConfusionMatrix
            The same cells.

        Examples
        --------
        >>> ConfusionMatrix.from_sklearn([[4, 3], [2, 1]])
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        if isinstance(array, ConfusionMatrix):
            raise InvalidInput(f"`array` must be [[tn, fp], [fn, tp]]; got {array!r}, which has another layout")
        (tn, fp), (fn, tp) = _two_by_two(array, "[[tn, fp], [fn, tp]]")
        return cls(tp, fn, fp, tn)

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
        >>> ConfusionMatrix(tp=1.0, fn=2, fp=3, tn=4).is_whole, ConfusionMatrix(tp=1.5, fn=2, fp=3, tn=4).is_whole
        (True, False)
        """
        return all(isinstance(cell, int) for cell in self.cells)

    @property
    def proportions(self) -> NDArray[np.float64]:
        """The cells divided by `n`, in the order ``tp, fn, fp, tn``.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).proportions
        array([0.1, 0.2, 0.3, 0.4])
        """
        if self.n == 0:
            raise InvalidInput("an empty matrix (n = 0) has no proportions")
        return np.array(self.cells, dtype=np.float64) / self.n

    def to_array(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the matrix as an array, in the layout that `from_array` reads.

        Returns
        -------
        ndarray of shape (2, 2)
            ``[[tp, fn], [fp, tn]]``; integers if every cell is whole, floats otherwise.

        Examples
        --------
        >>> ConfusionMatrix(tp=1, fn=2, fp=3, tn=4).to_array()
        array([[1, 2],
               [3, 4]])
        """
        return np.array([[self.tp, self.fn], [self.fp, self.tn]])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a ConfusionMatrix holds no array, so that one cannot be made of it without a copy")
        return np.array(self.to_array(), dtype=dtype)

    def __add__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        return ConfusionMatrix(*(a + b for a, b in zip(self.cells, other.cells, strict=True)))

    def __radd__(self, other: object) -> ConfusionMatrix:
        # `sum(matrices)` starts from 0.
        return self if other == 0 else NotImplemented

    def __sub__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        left = {c: _remaining(getattr(self, c), getattr(other, c)) for c in CELLS}
        negative = [f"{c} = {value:g}" for c, value in left.items() if value < 0]
        if negative:
            raise InvalidInput(f"cannot subtract a matrix with larger cells; the result has {', '.join(negative)}")
        return ConfusionMatrix(**left)

    def __repr__(self) -> str:
        return "ConfusionMatrix({})".format(", ".join(f"{c}={getattr(self, c)!r}" for c in CELLS))

    def __str__(self) -> str:
        rows = [("", "predicted +", "predicted -", "total"), *self._rows()]
        return "\n".join(aligned(rows, right=range(4)))

    def _repr_html_(self) -> str:
        return html_table([("", "predicted +", "predicted −", "total"), *self._rows()])

    def _rows(self) -> list[tuple[str, str, str, str]]:
        tp, fn, fp, tn = self.cells
        rows = (("actual +", tp, fn), ("actual -", fp, tn), ("total", tp + fp, fn + tn))
        return [(label, count_text(a), count_text(b), count_text(a + b)) for label, a, b in rows]


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML, with titles in the first row and the first column."""
    titles, *body = rows
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(v)}</td>" for v in values) + "</tr>"
        for first, *values in body
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


Cells: TypeAlias = "ConfusionMatrix | Sequence[ConfusionMatrix] | ArrayLike"
"""What a metric accepts: one matrix, several, or an array of shape (..., 4)."""


def as_cells(cells: Cells, what: str = "cells") -> NDArray[np.float64]:
    """Cells as an array of shape (..., 4), checked; error messages call them ``what``.

    The columns of a dataframe are found by their names.

    >>> as_cells(ConfusionMatrix(1, 2, 3, 4))
    array([1., 2., 3., 4.])
    """
    if isinstance(cells, ConfusionMatrix):
        return np.array(cells.cells, dtype=np.float64)
    if isinstance(cells, (list, tuple)) and cells and all(isinstance(c, ConfusionMatrix) for c in cells):
        return np.array([c.cells for c in cells], dtype=np.float64)
    array = _numbers(_in_order(cells, what), what)
    if array.ndim == 0 or array.shape[-1] != 4:
        raise InvalidInput(
            f"{what} must have shape (..., 4), in the order tp, fn, fp, tn; got shape {array.shape}"
            + ("; for a 2x2 array, use ConfusionMatrix.from_array" if array.shape == (2, 2) else "")
        )
    bad = ~((array == 0) | ((array >= SMALLEST_CELL) & (array <= LARGEST_CELL)))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        _cell(CELLS[where[-1]], float(array[where]))
    return array.astype(np.float64)


def whole_counts(cm: Any, who: str) -> NDArray[np.float64]:
    """The cells of a matrix of whole counts, checked; ``who`` is it in the message."""
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"{who} must be a ConfusionMatrix of counts; got {brief(cm)}")
    if not cm.is_whole:
        raise InvalidInput(
            f"{who} must hold whole counts, since a test counts cases; got {cm!r}: smoothed cells are not tested"
        )
    return np.asarray(cm.cells, dtype=np.float64)


def _cell(name: str, value: Any) -> float:
    """Check one cell; a whole number is returned as ``int``, any other as ``float``."""
    if value is np.ma.masked:
        raise InvalidInput(argument=name, must="be a number", hint="got a masked value")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        raise InvalidInput(argument=name, must="be a count", hint=f"got {value} ({_COUNT_LABELS})")
    if isinstance(value, Decimal):
        value = math.nan if value.is_nan() else float(value)
    if not isinstance(value, numbers.Real):
        got = f"got {brief(value)} of type {type(value).__name__}"
        raise InvalidInput(argument=name, must="be a number", hint=got)
    # A fraction may be too large for a float, and so may an integer.
    exact: Any = value
    large = isinstance(value, numbers.Rational) and exact > LARGEST_CELL
    number = int(exact) if large or isinstance(value, numbers.Integral) else float(exact)
    if isinstance(number, float) and not math.isfinite(number):
        raise InvalidInput(argument=name, must="be finite", got=number)
    got = f"got {count_text(number)}"
    if number < 0:
        raise InvalidInput(argument=name, must="not be negative", hint=got)
    if number > LARGEST_CELL:
        raise InvalidInput(argument=name, must="be at most 2**53, beyond which float64 is not exact", hint=got)
    if 0 < number < SMALLEST_CELL:
        raise InvalidInput(argument=name, must=f"be 0 or at least {SMALLEST_CELL:g}", hint=got)
    return int(number) if number == int(number) else number


def _remaining(whole: float, part: float) -> float:
    """``whole - part``; 0 where only the rounding of real cells makes it negative."""
    left = whole - part
    return 0 if isinstance(left, float) and -1e-12 * whole < left < 0 else left


def _in_order(cells: Any, what: str) -> Any:
    """``cells`` with named columns in the order of this library; other names are an error."""
    names = getattr(cells, "columns", None) if getattr(cells, "ndim", 2) != 1 else getattr(cells, "index", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return cells
    if sorted(name.casefold() for name in names) != sorted(CELLS):
        raise InvalidInput(f"{what} with named columns must have the columns tp, fn, fp and tn; got {', '.join(names)}")
    given = {name.casefold(): name for name in names}
    return np.stack([np.asarray(cells[given[c]]) for c in CELLS], axis=-1)


def _numbers(array: Any, what: str) -> NDArray[Any]:
    """``array`` as numbers; booleans, text and masked values are errors, not converted."""
    if np.ma.is_masked(array) or (isinstance(array, (list, tuple)) and any(item is np.ma.masked for item in array)):
        raise InvalidInput(f"{what} must not contain masked values; fill or drop them first")
    try:
        given = np.asarray(array)
        if given.dtype.kind == "O" or not isinstance(array, np.ndarray):
            items = np.asarray(array, dtype=object).ravel()
            if any(isinstance(item, (bool, np.bool_)) for item in items):
                given = np.array([True])
        if given.dtype.kind == "O":
            given = given.astype(np.float64)
    except OverflowError:
        raise InvalidInput(f"{what} must be at most 2**53, beyond which float64 is not exact") from None
    except (TypeError, ValueError, MemoryError):
        raise InvalidInput(f"{what} must be an array of numbers; got {brief(array)}") from None
    if given.dtype.kind == "b":
        raise InvalidInput(f"{what} must contain counts; got booleans ({_COUNT_LABELS})")
    if given.dtype.kind not in "iuf":
        raise InvalidInput(
            f"{what} must contain numbers; got {'text' if given.dtype.kind in 'US' else given.dtype.name}"
        )
    return given


def _two_by_two(array: ArrayLike, layout: str) -> list[list[float]]:
    given = _numbers(array, "`array`")
    if given.shape != (2, 2):
        raise InvalidInput(
            f"`array` must have shape (2, 2), as {layout}; got shape {given.shape}"
            + ("; for four cells, use ConfusionMatrix(tp, fn, fp, tn)" if given.shape == (4,) else "")
        )
    rows: list[list[float]] = given.tolist()
    return rows


def count_text(value: float) -> str:
    """A cell as text: a whole number in full unless it is huge, any other with six digits."""
    if isinstance(value, int):
        return str(value) if value <= 4 * LARGEST_CELL else f"{Decimal(value).normalize():.6g}"
    return f"{value:.6g}"
