"""From counted rows to one confusion matrix per combination of groups.

Rows without a label or a prediction are left out, and the result says how many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from ..cells import ConfusionMatrix, Reading, listed, read_labels
from ..errors import InvalidInput
from .frames import Counted, plain

__all__ = ["Key", "Tally", "in_order", "ordered", "tallied"]

Key = tuple[Any, ...]
_EMPTY = ConfusionMatrix(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Tally:
    """Confusion matrices per combination of groups.

    Attributes
    ----------
    columns : tuple of str
        The names of the group columns.
    cells : dict of tuple to ConfusionMatrix
        One matrix per combination of values in these columns. A missing value is None, and a group of its own.
        Without labels there are only predictions: positive ones are counted as ``fp``, negative ones as ``tn``.
    left_out : dict of str to int
        How many rows were left out, by what they lack: ``"y_true"``, ``"y_pred"`` or ``"y_true and y_pred"``.
    left_out_by : dict of tuple to dict of str to int
        The same per combination of values.
    labelled : bool
        Whether there were labels.
    unlabelled : dict of tuple to ConfusionMatrix
        The predictions of rows that were left out because they lack a label, as ``fp`` and ``tn``.
    positive, negative : dict of str to tuple
        Which labels are positive and which occur besides, for ``"label"`` and ``"prediction"``; empty if counts were
        given.
    absent : tuple
        The labels that were given as positive and do not occur.
    words : dict of str to tuple
        The words that were read as missing labels, for ``"y_true"`` and ``"y_pred"``.
    threshold : float or None
        Scores at or above it are positive predictions.
    orders : dict of str to tuple
        The values of columns that have an order of their own, such as bins.
    source : dict
        Where the rows come from.
    library : str or None
        The dataframe library of the data, for results in the same library.
    """

    columns: tuple[str, ...]
    cells: dict[Key, ConfusionMatrix]
    left_out: dict[str, int] = field(default_factory=dict)
    labelled: bool = True
    unlabelled: dict[Key, ConfusionMatrix] = field(default_factory=dict)
    positive: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    negative: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    absent: tuple[Any, ...] = ()
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    threshold: float | None = None
    orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    library: str | None = None
    left_out_by: dict[Key, dict[str, int]] = field(default_factory=dict)

    @property
    def keys(self) -> list[Key]:
        """The combinations of groups that have any prediction, with or without a label."""
        return list(dict.fromkeys([*self.cells, *self.unlabelled]))

    @property
    def total(self) -> ConfusionMatrix:
        """All cases together."""
        return sum(self.cells.values(), _EMPTY)


def tallied(
    counted: Counted,
    by: tuple[str, ...],
    *,
    labelled: bool,
    levels: Mapping[int, float] | None = None,
    positive: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
) -> list[Tally]:
    """Interpret the labels of counted rows, and add the rows up.

    Parameters
    ----------
    counted : Counted
        Rows of group values, of the label if there is one, and of the prediction or the level of the score.
    by : tuple of str
        The names of the group columns.
    labelled : bool
        Whether there is a label.
    levels : mapping of int to float, optional
        The thresholds by the level that they demand, if the last value of a row is the level of a score.
    positive : mapping, optional
        ``positive``, ``positive_label`` and ``positive_prediction`` as for `read_labels`.
    orders : mapping, optional
        The values of group columns that have an order of their own.

    Returns
    -------
    list of Tally
        One per threshold; a single one for predictions.
    """
    width = len(by)
    if not counted.rows:
        raise InvalidInput("data must have at least one row; got none")
    places = ({"y_true": width} if labelled else {}) | ({} if levels else {"y_pred": width + labelled})
    asked = dict(positive or {})
    reading = _reading({name: {row[i] for row in counted.rows} for name, i in places.items()}, asked)
    names = {"y_true": "label", "y_pred": "prediction"}
    spelled = {
        what: {names[name]: tuple(map(plain, labels)) for name, labels in getattr(reading, what).items()}
        for what in ("positive", "negative")
    }
    tallies = []
    each: Mapping[int, float | None] = levels or {0: None}
    for reached, threshold in each.items():
        cells, unlabelled, left_out_by = _added(counted.rows, places, reading, width, reached)
        if not cells:
            raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
        left_out: Counter[str] = Counter()
        for lacking in left_out_by.values():
            left_out.update(lacking)
        tallies.append(
            Tally(
                by,
                cells,
                dict(left_out),
                labelled,
                unlabelled,
                **spelled,
                absent=reading.absent,
                words=reading.words,
                threshold=threshold,
                orders={name: tuple(values) for name, values in (orders or {}).items()},
                source=counted.source | {"rows": counted.rows.total()},
                library=counted.library,
                left_out_by=left_out_by,
            )
        )
    return tallies


def _reading(values: Mapping[str, set[Any]], asked: dict[str, Any]) -> Reading:
    if not values:
        read_labels({}, **asked)
        return Reading({}, {}, {})
    reading = read_labels(values, **asked)
    labels = [*reading.positive.get("y_true", ()), *reading.negative.get("y_true", ())]
    seen = {meaning for meaning in reading.meanings.get("y_true", {}).values() if meaning is not None}
    told = asked.get("positive") is not None or asked.get("positive_label") is not None
    if len(seen) == 1 and not told:
        occurring = [label for label in labels if label in set(reading.meanings["y_true"])] or labels
        raise InvalidInput(
            f"y_true contains one class only ({listed(occurring)}); if that is right, pass the positive label as "
            "positive_label="
        )
    return reading


def _added(
    rows: Mapping[Key, int], places: Mapping[str, int], reading: Reading, width: int, reached: int
) -> tuple[dict[Key, ConfusionMatrix], dict[Key, ConfusionMatrix], dict[Key, dict[str, int]]]:
    """The cells of each combination of groups, the predictions without a label, and how many rows were left out."""
    left_out: dict[Key, Counter[str]] = {}
    cells: dict[Key, list[int]] = {}
    unlabelled: dict[Key, list[int]] = {}
    for row, n in rows.items():
        meant = {name: reading.meanings[name][row[i]] for name, i in places.items()}
        if "y_pred" not in meant:
            meant["y_pred"] = None if row[-1] is None else row[-1] >= reached
        missing = [name for name, positive in meant.items() if positive is None]
        if missing:
            left_out.setdefault(row[:width], Counter())[" and ".join(missing)] += n
        if meant["y_pred"] is None:
            continue
        into, actual = (unlabelled, False) if missing else (cells, meant.get("y_true", False))
        at = (0 if meant["y_pred"] else 1) if actual else (2 if meant["y_pred"] else 3)
        into.setdefault(row[:width], [0, 0, 0, 0])[at] += n
    return _sorted(cells), _sorted(unlabelled), {key: dict(left_out[key]) for key in ordered(left_out)}


def _sorted(cells: Mapping[Key, list[int]]) -> dict[Key, ConfusionMatrix]:
    return {key: ConfusionMatrix(*cells[key]) for key in ordered(cells)}


def ordered(cells: Mapping[Key, Any]) -> list[Key]:
    """Sort groups in an order that does not depend on how they were given, so that sums over them do not either.

    Parameters
    ----------
    cells : mapping of tuple to object
        Anything by group.

    Returns
    -------
    list of tuple
        The groups in order.

    Examples
    --------
    >>> ordered({("b",): 1, (None,): 2, ("a",): 3})
    [('a',), ('b',), (None,)]
    """
    return sorted(cells, key=lambda key: [(value is None, str(value), repr(value)) for value in key])


def in_order(values: Iterable[Any], declared: Sequence[Any] = ()) -> list[Any]:
    """Sort the values of a group column: as declared, or numbers in them as numbers and the rest as text.

    Missing values come last.

    Parameters
    ----------
    values : iterable
        Distinct values.
    declared : sequence
        The order of values that have one of their own.

    Returns
    -------
    list
        The values in order.

    Examples
    --------
    >>> in_order(["10 years", "9 years", None, "1 year"])
    ['1 year', '9 years', '10 years', None]
    >>> in_order(["high", "low"], declared=["low", "medium", "high"])
    ['low', 'high']
    """
    rank = {value: i for i, value in enumerate(declared)}

    def key(value: Any) -> tuple[Any, ...]:
        return value is None, rank.get(value, len(rank)), _natural(value), str(value), repr(value)

    return sorted(values, key=key)


def _natural(value: Any) -> list[tuple[bool, float, str]]:
    """The numbers and the other parts of a value, in a form that sorts as people would."""
    try:
        whole = float(value)
    except (TypeError, ValueError, OverflowError):
        whole = nan
    if whole == whole:
        return [(False, whole, "")]
    parts = re.split(r"([0-9]{1,300}(?:\.[0-9]{1,300})?)", str(value))
    # Every other part is a number.
    return [(False, float(part), "") if i % 2 else (True, 0.0, part.casefold()) for i, part in enumerate(parts) if part]
