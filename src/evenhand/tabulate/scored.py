"""Rows of labels and scores, for metrics that need every score rather than four counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import is_sequence, read_labels
from ..errors import InvalidInput, TooLarge
from .columns import check_second_class, count, group_columns
from .frames import MOST_ROWS, plain
from .tables import brief
from .tally import Key, ordered
from .values import one_column, positive_scores

__all__ = ["ScoredRows", "grouped_values", "scored_rows"]


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Rows of labels and scores, in an order that does not depend on how they were given.

    Attributes
    ----------
    columns : tuple of str
        The names of the group columns.
    keys : list of tuple
        The distinct combinations of groups.
    of : numpy.ndarray of int
        By row, the position of its combination in ``keys``.
    positive : numpy.ndarray of bool
        By row, whether the label is positive.
    scores : numpy.ndarray of float
        By row, the score.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    labels : tuple
        The labels that are positive.
    orders : dict of str to tuple
        The values of group columns that have an order of their own.
    """

    columns: tuple[str, ...]
    keys: list[Key]
    of: NDArray[np.int64]
    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    left_out: dict[str, int] = field(default_factory=dict)
    labels: tuple[Any, ...] = ()
    orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)


def scored_rows(
    data: Any, *, y_true: Iterable[object], y_score: Iterable[object], groups: Any, positive: object = None
) -> ScoredRows:
    """Read labels and scores.

    Parameters
    ----------
    data : dataframe, mapping of columns, path or None
        The table.
    y_true, y_score : name of a column, or sequence
        The labels of two classes, and numbers that are higher for cases that are rather positive.
    groups : name of a column, sequence or several of them
        The group columns.
    positive : label or list of labels, optional
        The positive labels.

    Returns
    -------
    ScoredRows
        The rows that have a label and a score.

    Examples
    --------
    >>> rows = scored_rows(None, y_true=[1, 0, 1], y_score=[0.9, 0.2, None], groups=["a", "a", "b"])
    >>> rows.scores, rows.left_out
    (array([0.2, 0.9]), {'y_score': 1})
    """
    by = group_columns(groups, data)
    given = positive_scores(y_score)
    counted = _counted(data, [*by.items(), ("y_true", y_true), ("y_score", given)])
    width = len(by)
    if not counted.rows:
        raise InvalidInput("data must have at least one row; got none")
    reading = read_labels({"y_true": {row[width] for row in counted.rows}}, positive)
    if given is not y_score:
        check_second_class({row[width] for row in counted.rows}, list(reading.positive["y_true"]))
    left_out: Counter[str] = Counter()
    kept: dict[tuple[Key, bool, float], int] = {}
    for row, n in counted.rows.items():
        meant, score = reading.meanings["y_true"][row[width]], _number(row[-1])
        missing = [name for name, value in (("y_true", meant), ("y_score", score)) if value is None]
        if meant is None or score is None:
            left_out[" and ".join(missing)] += n
        else:
            at = row[:width], meant, score
            kept[at] = kept.get(at, 0) + n
    if not kept:
        raise InvalidInput("every row lacks a label or a score; there is nothing to audit")
    keys = ordered(dict.fromkeys(key for key, _, _ in kept))
    place = {key: i for i, key in enumerate(keys)}
    rows = sorted((place[key], meant, score, n) for (key, meant, score), n in kept.items())
    repeats = [n for *_, n in rows]
    return ScoredRows(
        tuple(by),
        keys,
        np.repeat(np.array([i for i, *_ in rows], dtype=np.int64), repeats),
        np.repeat(np.array([meant for _, meant, _, _ in rows], dtype=bool), repeats),
        np.repeat(np.array([score for _, _, score, _ in rows], dtype=np.float64), repeats),
        dict(left_out),
        reading.positive["y_true"],
        {name: counted.orders[i] for i, name in enumerate(by) if i in counted.orders},
    )


def _counted(data: Any, columns: list[tuple[str, Any]]) -> Any:
    try:
        return count(data, columns, {})
    except TooLarge:
        raise TooLarge(
            f"the data have more than {MOST_ROWS:,} distinct combinations of group, label and score; round the scores "
            "to fewer decimals, or audit a random part of the rows"
        ) from None


def _number(value: Any) -> float | None:
    """A score, None if it is missing."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"y_score must contain numbers; got {brief(value)}") from None
    return None if number != number else number


def grouped_values(groups: Any, **columns: Any) -> tuple[dict[str, NDArray[np.object_]], dict[str, NDArray[Any]]]:
    """Check columns of values and of groups that were passed without a table, in the order of their rows.

    Parameters
    ----------
    groups : sequence, mapping, array or dataframe
        The values of the group columns.
    **columns : sequence
        Other columns by name.

    Returns
    -------
    by : dict of str to numpy.ndarray
        The group columns by name, with None for missing values.
    values : dict of str to numpy.ndarray
        The other columns as arrays.

    Examples
    --------
    >>> by, values = grouped_values(["a", "b"], weights=[1, 2.5])
    >>> by["group"].tolist(), values["weights"]
    (['a', 'b'], array([1. , 2.5]))
    """
    values = {}
    for name, given in columns.items():
        column = one_column(given, name)
        if not is_sequence(column):
            raise InvalidInput(f"{name} must be a sequence of values; got {brief(given)}")
        values[name] = _array(column)
    by = {}
    for name, given in group_columns(groups, None).items():
        column = one_column(given, name)
        if not is_sequence(column):
            raise InvalidInput(f"groups must be values, one per row; got {brief(given)}")
        listed = [plain(value) for value in (column.tolist() if hasattr(column, "tolist") else column)]
        by[name] = _objects(listed)
        try:
            set(listed)
        except TypeError as error:
            raise InvalidInput(f"groups must contain numbers, text, booleans or dates; {error}") from None
    lengths = {name: len(column) for name, column in (values | by).items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(
            f"columns must have the same length; got {', '.join(f'{name} {n:,}' for name, n in lengths.items())}"
        )
    if not next(iter(lengths.values())):
        raise InvalidInput("data must have at least one row; got none")
    return by, values


def _array(column: Any) -> NDArray[Any]:
    """A column as an array of one dimension; of objects, if its values are sequences themselves."""
    if hasattr(column, "__array__"):
        return np.asarray(column)
    listed = list(column)
    try:
        array = np.asarray(listed)
    except ValueError:
        return _objects(listed)
    return array if array.ndim == 1 else _objects(listed)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    return np.fromiter(values, dtype=object, count=len(values))
