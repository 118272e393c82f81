"""From a column of labels and a column of predictions to four counts.

Labels are taken as they come: nothing is converted, so that ``1`` never passes for ``"1"`` or ``True``,
and the positive class is inferred only where it cannot be mistaken.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["count_labels", "is_missing", "listed", "positive_label"]

# Pairs of labels that name the positive one, which comes second; its being alone would not: 1 may stand beside 2.
_UNMISTAKABLE = ((0, 1), (-1, 1), ("no", "yes"), ("false", "true"), ("n", "y"), ("negative", "positive"), ("0", "1"))
_KINDS = ("booleans", "numbers", "text")


def count_labels(y_true: Any, y_pred: Any, positive: Any = None) -> tuple[int, int, int, int]:
    """Count ``tp, fn, fp, tn``.

    >>> count_labels([1, 1, 0, 0, 0], [1, 0, 1, 0, 0])
    (1, 1, 1, 2)
    """
    true, pred = _column(y_true, "y_true"), _column(y_pred, "y_pred")
    if len(true) != len(pred):
        raise InvalidInput(f"y_true and y_pred must be equally long; got {len(true)} and {len(pred)}")
    if len(true) == 0:
        raise InvalidInput("y_true and y_pred are empty; there is nothing to count")
    for name, column in (("y_true", true), ("y_pred", pred)):
        missing = _count_missing(column)
        if missing:
            raise InvalidInput(f"{name} has {missing} missing value{'s' * (missing != 1)}; leave those rows out first")
    chosen = positive_label({"y_true": _distinct(true, "y_true"), "y_pred": _distinct(pred, "y_pred")}, positive)
    actual, predicted = true == chosen, pred == chosen
    tp = int(np.count_nonzero(actual & predicted))
    fn = int(np.count_nonzero(actual)) - tp
    fp = int(np.count_nonzero(predicted)) - tp
    return tp, fn, fp, len(true) - tp - fn - fp


def positive_label(seen: Mapping[str, set[Any]], positive: Any = None) -> Any:
    """The label that counts as positive among those seen in each named column.

    >>> positive_label({"y_true": {0, 1}, "y_pred": {0}})
    1
    """
    kinds = {name: _one_kind(name, values) for name, values in seen.items()}
    labels = set().union(*seen.values())
    names = " and ".join(seen)
    if len(set(kinds.values())) > 1:
        (first, one), (second, other) = seen.items()
        raise InvalidInput(
            f"{first} holds {kinds[first]} ({listed(one)}) but {second} holds {kinds[second]} ({listed(other)}); "
            "convert one of them so that equal labels are equal"
        )
    kind = next(iter(kinds.values()))
    if len(labels) > 2:
        raise InvalidInput(
            f"{names} hold{'s' * (len(seen) == 1)} {len(labels)} different labels ({listed(labels)}), and a confusion "
            "matrix here has two classes; "
            + (
                "these look like scores: apply a threshold first"
                if kind == "numbers" and any(v != int(v) for v in labels)
                else "multiclass is separate: compare one class c with the rest, as [y == c for y in labels]"
            )
        )
    if positive is None:
        return _inferred(labels, kind)
    if _kind(positive) != kind:
        raise InvalidInput(f"positive={positive!r} is not one of the labels, which are {kind}: {listed(labels)}")
    # With a single label seen, the other one may simply not have occurred, unless it is the same but for its spelling.
    alike = {str(label).strip().casefold() for label in labels}
    if positive not in labels and (len(labels) == 2 or str(positive).strip().casefold() in alike):
        raise InvalidInput(f"positive={positive!r} is not one of the labels: {listed(labels)}")
    return positive


def _inferred(labels: set[Any], kind: str) -> Any:
    if kind == "booleans":
        return True
    spelled = {label.casefold() if isinstance(label, str) else label: label for label in labels}
    for negative, positive in _UNMISTAKABLE:
        if negative in spelled and set(spelled) <= {negative, positive}:
            return spelled.get(positive, positive)
    raise InvalidInput(f"say which label is the positive one with positive=; the labels are {listed(labels)}")


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, nan, NA or NaT."""
    return _kind(value) == "missing"


def _column(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InvalidInput(f"{name} must be a column of labels; got {values!r}")
    if np.ma.isMaskedArray(values):
        values = values.tolist()
    # A plain list goes in as objects: numpy would turn [1, "a"] into text and [True, 1] into numbers.
    column = np.asarray(values) if hasattr(values, "__array__") else np.fromiter(values, dtype=object)
    if column.ndim != 1:
        raise InvalidInput(f"{name} must be one column; got shape {column.shape}")
    return column


def _one_kind(name: str, values: set[Any]) -> str:
    """The kind of label that a column holds; an error if there is more than one."""
    found = {_kind(value) for value in values}
    if other := sorted(found - {*_KINDS}):
        raise InvalidInput(f"{name} holds values of type {other[0]}; labels are numbers, text or booleans")
    if len(found) > 1:
        raise InvalidInput(f"{name} mixes {' and '.join(sorted(found))}; labels must be of one type")
    return found.pop()


def _count_missing(column: NDArray[Any]) -> int:
    if column.dtype.kind in "biuUTSM":
        return 0
    if column.dtype.kind == "f":
        return int(np.isnan(column).sum())
    return sum(map(is_missing, column.tolist()))


def _kind(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, (numbers.Number, np.datetime64)) and bool(value != value):
        return "missing"
    if isinstance(value, numbers.Number):
        return "numbers"
    if isinstance(value, (np.datetime64, datetime.date)):
        return "date"
    return "text" if isinstance(value, str) else type(value).__name__


def _distinct(column: NDArray[Any], name: str) -> set[Any]:
    values = column if column.dtype.kind == "O" else np.unique(column)
    try:
        # Python would take the nanoseconds of a date for numbers.
        return set(values if column.dtype.kind == "M" else values.tolist())
    except TypeError:
        kind = type(values[0]).__name__
        raise InvalidInput(f"{name} holds values of type {kind}; labels are numbers, text or booleans") from None


def listed(values: set[Any], most: int = 6) -> str:
    """The first few of some values, for a message."""
    shown = sorted(map(repr, values))
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")
