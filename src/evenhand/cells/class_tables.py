"""From counted rows of groups, labels and predictions to one K x K matrix per combination of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .class_matrix import MulticlassConfusion
from .classes import read_classes

__all__ = ["ClassTables", "multiclass_tables"]

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ClassTables:
    """Matrices of the same classes per combination of groups.

    Attributes
    ----------
    labels : tuple
        The classes.
    matrices : dict of tuple to MulticlassConfusion
        One per combination of group values.
    unlabelled : dict of tuple to tuple of int
        The number of predictions of each class among the rows that lack a label.
    left_out : dict of str to int
        How many rows were left out, by what they lack: ``"y_true"``, ``"y_pred"`` or ``"y_true and y_pred"``.
    """

    labels: tuple[Any, ...]
    matrices: dict[Key, MulticlassConfusion]
    unlabelled: dict[Key, tuple[int, ...]]
    left_out: dict[str, int]


def multiclass_tables(rows: Mapping[Key, int], labels: Iterable[Hashable] | None = None) -> ClassTables:
    """Add up rows of group values, label and prediction, in this order, each with how often it occurs.

    Labels that are text but all spell numbers or booleans are read as such, since files contain only text.

    >>> tables = multiclass_tables({("A", "x", "x"): 3, ("A", "y", "z"): 1, ("B", "y", "y"): 2, ("B", None, "y"): 1})
    >>> tables.matrices[("A",)].counts.tolist(), tables.left_out
    ([[3, 0, 0], [0, 0, 1], [0, 0, 0]], {'y_true': 1})
    """
    if not rows:
        raise InvalidInput(argument="data", must="have at least one row", hint="got none")
    reading = read_classes(
        {"y_true": {row[-2] for row in rows}, "y_pred": {row[-1] for row in rows}}, labels, parse=True
    )
    true, pred = reading.meanings["y_true"], reading.meanings["y_pred"]
    actual_classes, predicted_classes = ({at for at in meant.values() if at is not None} for meant in (true, pred))
    if min(len(actual_classes), len(predicted_classes)) > 1 and not actual_classes & predicted_classes:
        raise InvalidInput(
            "`y_true` and `y_pred` have no class in common; predictions must be of the same classes as labels"
        )
    k = len(reading.labels)
    counts: dict[Key, Any] = {}
    unlabelled: dict[Key, list[int]] = {}
    left_out: Counter[str] = Counter()
    for row, n in rows.items():
        key, actual, predicted = row[:-2], true[row[-2]], pred[row[-1]]
        lacks = [name for name, at in (("y_true", actual), ("y_pred", predicted)) if at is None]
        if lacks:
            left_out[" and ".join(lacks)] += n
        if actual is not None and predicted is not None:
            counts.setdefault(key, np.zeros((k, k), dtype=np.int64))[actual, predicted] += n
        elif predicted is not None:
            unlabelled.setdefault(key, [0] * k)[predicted] += n
    if not counts:
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    return ClassTables(
        reading.labels,
        {key: MulticlassConfusion(table, reading.labels) for key, table in counts.items()},
        {key: tuple(predictions) for key, predictions in unlabelled.items()},
        dict(left_out),
    )
