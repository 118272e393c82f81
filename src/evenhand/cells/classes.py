"""From a column of labels and a column of predictions, of any number of classes, to a table of counts.

Labels stay as they are given, unless one column contains text and the other does not, or they come from a file, in
which everything is text: then text is read as numbers or booleans if all of it can be.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, TooLarge, brief
from .labels import (
    MISSING_WORDS,
    _are_scores,
    _distinct,
    _not_a_label,
    _one_kind,
    _order,
    both,
    both_columns,
    codes,
    is_missing,
    listed,
    read_texts,
)

__all__ = ["MOST_CLASSES", "ClassReading", "as_classes", "count_classes", "read_classes"]

MOST_CLASSES = 2_000
# Texts that stand for a missing label unless they are asked for; "none" is the name of a class too often.
_MISSING = {"", *MISSING_WORDS} - {"none"}


@dataclass(frozen=True, slots=True)
class ClassReading:
    """Which class each value of a column of labels or predictions stands for.

    Attributes
    ----------
    labels : tuple
        The classes in order.
    meanings : dict of str to dict
        By column and value, the position of the class; None if the value stands for a missing one.
    """

    labels: tuple[Any, ...]
    meanings: dict[str, dict[Any, int | None]]


def count_classes(
    y_true: Iterable[object], y_pred: Iterable[object], labels: Iterable[Hashable] | None = None
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The classes, and the number of cases by label and prediction.

    >>> labels, counts = count_classes(["a", "b", "c"], ["a", "a", "c"])
    >>> labels
    ('a', 'b', 'c')
    >>> counts.tolist()
    [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    """
    columns = both_columns(y_true, y_pred)
    reading = read_classes({name: _distinct(column, name) for name, column in columns.items()}, labels)
    true, pred = (codes(name, column, reading.meanings[name]) for name, column in columns.items())
    k = len(reading.labels)
    return reading.labels, np.bincount(true * k + pred, minlength=k * k).reshape(k, k)


def read_classes(
    columns: Mapping[str, Iterable[Any]], labels: Iterable[Hashable] | None = None, *, parse: bool = False
) -> ClassReading:
    """Which class each of the distinct values of ``y_true`` and ``y_pred`` stands for.

    A class of ``labels`` may be one that does not occur; every value must belong to one. With ``parse``, text is read
    as numbers or booleans even if both columns are text.

    >>> read_classes({"y_true": {1, 2}, "y_pred": {"2", "3", ""}})
    ClassReading(labels=(1, 2, 3), meanings={'y_true': {1: 0, 2: 1}, 'y_pred': {...}})
    """
    asked = None if labels is None else as_classes(labels)
    given = {name: _present(values, asked or ()) for name, values in columns.items()}
    for name, values in given.items():
        if all(label is None for label in values.values()):
            raise InvalidInput(f"every value of `{name}` is missing; there is nothing to count")
    given = _of_one_kind(given, parse)
    found = {label: label for values in given.values() for label in values.values() if label is not None}
    if asked is None:
        if len(found) > 2 and _are_scores(set(found)):
            raise InvalidInput(
                f"{both(given)} contain {len(found)} distinct numbers that are not whole ({listed(found)}); "
                "classes must be labels, not scores"
            )
        order = tuple(sorted(found, key=_order))
    else:
        order = asked
        unknown = [label for label in found if label not in set(order)]
        if unknown:
            lacks = "occurs and is" if len(unknown) == 1 else "occur and are"
            raise InvalidInput(
                argument="labels",
                must="contain every class that occurs",
                hint=f"{listed(unknown)} {lacks} not among them",
            )
    if len(order) > MOST_CLASSES:
        raise TooLarge(f"there are {len(order):,} classes, more than the limit of {MOST_CLASSES:,}")
    place = {label: i for i, label in enumerate(order)}
    return ClassReading(
        order,
        {
            name: {value: None if label is None else place[label] for value, label in values.items()}
            for name, values in given.items()
        },
    )


def as_classes(labels: Any) -> tuple[Any, ...]:
    """The classes in order, checked: plain values of one kind, each once."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InvalidInput(argument="labels", must="be a sequence of classes", got=labels)
    order = tuple(_plain(value) for value in labels)
    if not order:
        raise InvalidInput(argument="labels", must="name at least one class", hint="got none")
    for value in order:
        if not isinstance(value, Hashable):
            raise _not_a_label("labels", type(value).__name__)
    _one_kind("labels", set(order))
    if len(set(order)) < len(order):
        given = ", ".join(map(brief, order[:20]))
        raise InvalidInput(argument="labels", must="name each class once", hint=f"got {given}")
    return order


def _present(values: Iterable[Any], asked: tuple[Any, ...]) -> dict[Any, Any]:
    """The label of each value, None if it is missing; whole numbers are integers."""
    present: dict[Any, Any] = {}
    for value in values:
        if is_missing(value) or (
            isinstance(value, str) and value not in asked and value.strip().casefold() in _MISSING
        ):
            present[value] = None
        else:
            label = _plain(value)
            present[value] = int(label) if isinstance(label, float) and label.is_integer() else label
    return present


def _plain(value: Any) -> Any:
    """A label as a plain number, text or boolean."""
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == int(value) else float(value)
    return value.item() if isinstance(value, np.generic) else value


def _of_one_kind(given: dict[str, dict[Any, Any]], parse: bool) -> dict[str, dict[Any, Any]]:
    """The labels of both columns as one kind: text is read as numbers or booleans if the other column is."""
    labels = {name: set(values.values()) - {None} for name, values in given.items()}
    kinds = {name: _one_kind(name, found) for name, found in labels.items()}
    if len(set(kinds.values())) == 1 and not (parse and "text" in kinds.values()):
        return given
    read = {name: read_texts(values) if kinds[name] == "text" else values for name, values in given.items()}
    everything = {label for values in read.values() for label in values.values() if label is not None}
    numeric = not any(isinstance(label, str) for label in everything)
    if numeric and (everything <= {0, 1} or not any(isinstance(label, bool) for label in everything)):
        return read
    if len(set(kinds.values())) == 1:
        return given
    first, second = (f"`{name}` contains {kinds[name]} ({listed(found)})" for name, found in labels.items())
    raise InvalidInput(f"{first} but {second}; labels and predictions must name the same classes")
