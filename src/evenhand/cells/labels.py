"""From a column of labels and a column of predictions to four counts.

Labels are taken as they come: nothing is converted, so that ``1`` never passes for ``"1"`` or ``True``,
and the positive class is inferred only where it cannot be mistaken.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["count_labels"]

# Pairs of labels that name the positive one; its being alone would not: 1 may stand beside 2.
_UNMISTAKABLE = (({0, 1}, 0), ({-1, 1}, -1))
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
    kind = _one_kind(true, pred)
    seen = _distinct(true) | _distinct(pred)
    if len(seen) > 2:
        raise InvalidInput(
            f"y_true and y_pred hold {len(seen)} different labels ({_listed(seen)}), and a confusion matrix here "
            "has two classes; "
            + (
                "these look like scores: apply a threshold first"
                if kind == "numbers" and any(v != int(v) for v in seen)
                else "multiclass is separate: compare one class c with the rest, as in "
                "from_labels([y == c for y in y_true], [y == c for y in y_pred])"
            )
        )
    chosen = _positive(positive, seen, kind)
    actual, predicted = true == chosen, pred == chosen
    tp = int(np.count_nonzero(actual & predicted))
    fn = int(np.count_nonzero(actual)) - tp
    fp = int(np.count_nonzero(predicted)) - tp
    return tp, fn, fp, len(true) - tp - fn - fp


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


def _one_kind(true: NDArray[Any], pred: NDArray[Any]) -> str:
    """The kind of label that both columns hold; an error if there is more than one."""
    kinds = {}
    for name, column in (("y_true", true), ("y_pred", pred)):
        found = _kinds(column)
        if "missing" in found:
            count = sum(_kind(v) == "missing" for v in column.tolist())
            raise InvalidInput(f"{name} has {count} missing value{'s' * (count != 1)}; leave those rows out first")
        if other := sorted(found - {*_KINDS}):
            raise InvalidInput(f"{name} holds values of type {other[0]}; labels are numbers, text or booleans")
        if len(found) > 1:
            raise InvalidInput(f"{name} mixes {' and '.join(sorted(found))}; labels must be of one type")
        kinds[name] = found.pop()
    if kinds["y_true"] != kinds["y_pred"]:
        raise InvalidInput(
            f"y_true holds {kinds['y_true']} ({_listed(_distinct(true))}) but y_pred holds {kinds['y_pred']} "
            f"({_listed(_distinct(pred))}); convert one of them so that equal labels are equal"
        )
    return kinds["y_true"]


def _kinds(column: NDArray[Any]) -> set[str]:
    kinds = {"b": "booleans", "i": "numbers", "u": "numbers", "U": "text", "T": "text", "M": "date", "S": "bytes"}
    known = kinds.get(column.dtype.kind)
    if known:
        return {known}
    if column.dtype.kind == "f":
        return {"numbers", "missing"} if np.isnan(column).any() else {"numbers"}
    return {_kind(value) for value in column.tolist()}


def _kind(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, (numbers.Number, np.datetime64)) and bool(value != value):
        return "missing"
    if isinstance(value, numbers.Number):
        return "numbers"
    return "text" if isinstance(value, str) else type(value).__name__


def _distinct(column: NDArray[Any]) -> set[Any]:
    values = column.tolist() if column.dtype.kind == "O" else np.unique(column).tolist()
    return set(values)


def _positive(positive: Any, seen: set[Any], kind: str) -> Any:
    if positive is None:
        if kind == "booleans" or (kind == "numbers" and any(seen <= pair and no in seen for pair, no in _UNMISTAKABLE)):
            return kind == "booleans" or 1
        raise InvalidInput(f"say which label is the positive one with positive=; the labels are {_listed(seen)}")
    if _kind(positive) != kind:
        raise InvalidInput(f"positive={positive!r} is not one of the labels, which are {kind}: {_listed(seen)}")
    # With a single label seen, the other one may simply not have occurred, unless it is the same but for its spelling.
    alike = {str(label).strip().casefold() for label in seen}
    if positive not in seen and (len(seen) == 2 or str(positive).strip().casefold() in alike):
        raise InvalidInput(f"positive={positive!r} is not one of the labels: {_listed(seen)}")
    return positive


def _listed(values: set[Any], most: int = 6) -> str:
    shown = sorted(map(repr, values))
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")
