"""From a column of labels and a column of predictions to four counts.

Labels are not converted, so ``1`` is never mistaken for ``"1"`` or ``True``. The positive label is inferred only where
it is unambiguous.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["count_labels", "is_missing", "listed", "positive_label"]

# Pairs (negative, positive). The negative label must occur: 1 alone may be paired with 2 rather than 0.
_UNAMBIGUOUS = ((0, 1), (-1, 1), ("no", "yes"), ("false", "true"), ("n", "y"), ("negative", "positive"), ("0", "1"))
_KINDS = ("booleans", "numbers", "text")


def count_labels(
    y_true: Iterable[object], y_pred: Iterable[object], positive: object = None
) -> tuple[int, int, int, int]:
    """Count true and false positives and negatives.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions: two numbers, two texts or booleans.
    positive : object, optional
        The positive label. It can be left out for 0/1, -1/1, booleans, no/yes, n/y, negative/positive and
        false/true.

    Returns
    -------
    tp, fn, fp, tn : int
        The four counts.

    Examples
    --------
    >>> count_labels([1, 1, 0, 0, 0], [1, 0, 1, 0, 0])
    (1, 1, 1, 2)
    """
    true, pred = _column(y_true, "y_true"), _column(y_pred, "y_pred")
    if len(true) != len(pred):
        raise InvalidInput(f"y_true and y_pred must have the same length; got {len(true)} and {len(pred)}")
    if len(true) == 0:
        raise InvalidInput("y_true and y_pred must contain at least one label; got none")
    if all(hasattr(column, "iloc") for column in (y_true, y_pred)) and not y_true.index.equals(y_pred.index):  # type: ignore[attr-defined]
        raise InvalidInput("y_true and y_pred must have the same index; align them, or pass their values without it")
    for name, column in (("y_true", true), ("y_pred", pred)):
        missing = _count_missing(column)
        if missing:
            values, rows = ("value", "that row") if missing == 1 else ("values", "those rows")
            raise InvalidInput(f"{name} contains {missing} missing {values}; drop {rows} first")
    chosen = positive_label({"y_true": _distinct(true, "y_true"), "y_pred": _distinct(pred, "y_pred")}, positive)
    actual, predicted = true == chosen, pred == chosen
    tp = int(np.count_nonzero(actual & predicted))
    fn = int(np.count_nonzero(actual)) - tp
    fp = int(np.count_nonzero(predicted)) - tp
    return tp, fn, fp, len(true) - tp - fn - fp


def positive_label(labels_by_column: Mapping[str, set[Any]], positive: object = None) -> Any:
    """Check the labels of one or two columns, and return the positive one.

    Parameters
    ----------
    labels_by_column : mapping of str to set
        The distinct labels of each column, none of them missing.
    positive : object, optional
        The positive label. By default it is inferred where it is unambiguous.

    Returns
    -------
    object
        The positive label.

    Examples
    --------
    >>> positive_label({"y_true": {0, 1}, "y_pred": {0}})
    1
    """
    kinds = {name: _one_kind(name, labels) for name, labels in labels_by_column.items()}
    labels = set().union(*labels_by_column.values())
    if len(set(kinds.values())) > 1:
        first, second = (f"{name} contains {kinds[name]} ({listed(v)})" for name, v in labels_by_column.items())
        raise InvalidInput(f"{first} but {second}; convert one of them to the type of the other")
    kind = next(iter(kinds.values()))
    if len(labels) > 2:
        columns = f"{' and '.join(kinds)} contain{'s' * (len(kinds) == 1)}"
        scores = kind == "numbers" and not all(map(_is_whole, labels))
        raise InvalidInput(
            f"{columns} {len(labels)} distinct labels ({listed(labels)}), but a confusion matrix has two classes; "
            + (
                "if these are scores, apply a threshold first"
                if scores
                else "to compare one class c with the rest, pass [y == c for y in labels]"
            )
        )
    if positive is None:
        return _inferred(labels, kind)
    if _kind(positive) != kind:
        raise InvalidInput(f"positive must be one of the labels, which are {kind} ({listed(labels)}); got {positive!r}")
    # If only one label occurs, positive may be the other one, unless the two differ only in case or spaces.
    similar = {str(label).strip().casefold() for label in labels}
    if positive not in labels and (len(labels) == 2 or str(positive).strip().casefold() in similar):
        raise InvalidInput(f"positive must be one of the labels ({listed(labels)}); got {positive!r}")
    return positive


def _inferred(labels: set[Any], kind: str) -> Any:
    if kind == "booleans":
        return True
    spelled = {label.casefold() if isinstance(label, str) else label: label for label in labels}
    for negative, positive in _UNAMBIGUOUS:
        if negative in spelled and set(spelled) <= {negative, positive}:
            return spelled.get(positive, positive)
    one = len(labels) == 1
    raise InvalidInput(
        f"the positive label cannot be inferred from the label{'s' * (not one)} {listed(labels)}; pass it as positive="
    )


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one: None, NaN, NA or NaT.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    bool
        Whether it is missing.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    return _kind(value) == "missing"


def _column(values: Iterable[object], name: str) -> NDArray[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InvalidInput(f"{name} must be a sequence of labels; got {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()
    # A list becomes an array of objects, since numpy would turn [1, "a"] into text and [True, 1] into numbers.
    column = np.asarray(values) if hasattr(values, "__array__") else np.fromiter(values, dtype=object)
    if column.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional; got shape {column.shape}")
    return column


def _one_kind(name: str, labels: set[Any]) -> str:
    """The kind of the labels in a column; an error if there is more than one."""
    kinds = {_kind(label) for label in labels}
    if other := sorted(kinds - {*_KINDS}):
        raise _not_a_label(name, other[0])
    if len(kinds) > 1:
        raise InvalidInput(f"{name} must contain labels of one type; got {' and '.join(sorted(kinds))}")
    return kinds.pop()


def _not_a_label(name: str, kind: str) -> InvalidInput:
    return InvalidInput(f"{name} must contain numbers, text or booleans; got values of type {kind}")


def _count_missing(column: NDArray[Any]) -> int:
    if column.dtype.kind in "biuUTSM":
        return 0
    if column.dtype.kind == "f":
        return int(np.isnan(column).sum())
    return sum(map(is_missing, column.tolist()))


def _kind(value: object) -> str:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, Decimal):
        # A signalling NaN cannot even be compared.
        return "missing" if value.is_nan() else "numbers"
    if isinstance(value, (numbers.Number, np.datetime64)) and bool(value != value):
        return "missing"
    if isinstance(value, numbers.Real):
        return "numbers"
    if isinstance(value, (np.datetime64, datetime.date)):
        return "date"
    return "text" if isinstance(value, str) else type(value).__name__


def _is_whole(label: Any) -> bool:
    return isinstance(label, numbers.Integral) or (isfinite(label) and label == int(label))


def _distinct(column: NDArray[Any], name: str) -> set[Any]:
    values = column if column.dtype.kind == "O" else np.unique(column)
    try:
        # `tolist` would turn dates into integers, their nanoseconds.
        return set(values if column.dtype.kind == "M" else values.tolist())
    except TypeError:
        raise _not_a_label(name, next(kind for kind in map(_kind, values) if kind not in _KINDS)) from None


def listed(values: Iterable[object], most: int = 6) -> str:
    """List a few values for an error message.

    Parameters
    ----------
    values : iterable
        The values, in any order.
    most : int
        How many to list before an ellipsis.

    Returns
    -------
    str
        Their representations in ascending order.

    Examples
    --------
    >>> listed({"b", "a", "c"}, most=2)
    "'a', 'b', …"
    """
    shown = sorted(map(repr, values))
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")
