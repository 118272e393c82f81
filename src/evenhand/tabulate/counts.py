"""From counted rows to one confusion matrix per combination of groups.

Rows without a label or a prediction are left out, and the result says how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite, nan
from numbers import Real
from pathlib import Path
from typing import Any

from ..cells import ConfusionMatrix, listed, positive_label
from ..errors import InvalidInput, UnknownName
from .files import count_file
from .frames import Counted, count_columns, count_frame, plain

__all__ = ["Tally", "as_counts", "tabulate"]

Key = tuple[Any, ...]

# Texts that stand for a missing label, unless one of them is one of the two classes. A group may well be called NA.
_MISSING_WORDS = {"na", "n/a", "nan", "null", "none"}


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
    labelled : bool
        Whether there were labels.
    positive : object
        The positive label; None if the counts were given.
    library : str or None
        The dataframe library of the data, for results in the same library.
    """

    columns: tuple[str, ...]
    cells: dict[Key, ConfusionMatrix]
    left_out: dict[str, int] = field(default_factory=dict)
    labelled: bool = True
    positive: Any = None
    library: str | None = None


def tabulate(
    data: Any,
    *,
    y_true: Iterable[object] | None,
    y_pred: Iterable[object] | None = None,
    groups: Iterable[object],
    y_score: Iterable[object] | None = None,
    threshold: float = 0.5,
    positive: object = None,
) -> Tally:
    """Count labels against predictions for every combination of groups.

    Parameters
    ----------
    data : dataframe, mapping of columns, path or None
        The table; None if the columns themselves are passed.
    y_true : str or sequence, or None
        The labels: the name of a column of ``data``, or the values. None if there are none.
    y_pred : str or sequence, optional
        The predictions.
    groups : str, list of str, sequence, mapping or dataframe
        One or more columns that say which group a row belongs to.
    y_score : str or sequence, optional
        Scores, in place of ``y_pred``.
    threshold : float
        Scores at or above it are positive predictions.
    positive : object, optional
        The positive label. By default it is inferred where it is unambiguous.

    Returns
    -------
    Tally
        One matrix per combination, and the number of rows that were left out.

    Examples
    --------
    >>> tally = tabulate(None, y_true=[1, 0, 1], y_pred=[1, 0, 0], groups=["a", "a", "b"])
    >>> tally.cells
    {('a',): ConfusionMatrix(tp=1, fn=0, fp=0, tn=1), ('b',): ConfusionMatrix(tp=0, fn=1, fp=0, tn=0)}
    """
    if (y_pred is None) == (y_score is None):
        raise InvalidInput(
            f"pass either y_pred (predictions) or y_score (scores); got {'neither' if y_pred is None else 'both'}"
        )
    threshold = _finite(threshold)
    by = _group_columns(groups, named=data is not None)
    answer = y_score if y_pred is None else y_pred
    columns = [*by.values(), *([] if y_true is None else [y_true]), answer]
    counted = _count(data, list(by), columns, scored=y_pred is None, threshold=threshold)
    return _tally(counted, tuple(by), labelled=y_true is not None, scored=y_pred is None, positive=positive)


def _finite(threshold: Any) -> float:
    try:
        number = float(threshold) if isinstance(threshold, (Real, Decimal)) and not isinstance(threshold, bool) else nan
    except (OverflowError, ValueError):
        number = nan
    if not isfinite(number):
        raise InvalidInput(f"threshold must be a finite number; got {_brief(threshold)}")
    return number


def _group_columns(groups: Any, *, named: bool) -> dict[str, Any]:
    """Group columns by name; a column that is passed as values and has no name is called ``group``."""
    if isinstance(groups, str):
        return {groups: groups}
    if isinstance(groups, Mapping):
        by = {str(name): column for name, column in groups.items()}
    elif hasattr(groups, "columns"):
        by = {str(name): groups[name] for name in groups.columns}
    elif named and isinstance(groups, (list, tuple)) and groups and all(isinstance(name, str) for name in groups):
        by = {name: name for name in groups}
    else:
        by = {str(getattr(groups, "name", None) or "group"): groups}
    if not by or any(column is None for column in by.values()):
        raise InvalidInput(f"groups must be the name of a column or its values; got {_brief(groups)}")
    return by


def _count(data: Any, names: list[str], columns: list[Any], *, scored: bool, threshold: float) -> Counted:
    if data is None or (isinstance(data, Mapping) and not hasattr(data, "columns")):
        titles = [*names, *(["y_true"] if len(columns) > len(names) + 1 else []), "y_score" if scored else "y_pred"]
        titled = [(title, _column_of(data, column)) for title, column in zip(titles, columns, strict=True)]
        return count_columns(titled, scored=scored, threshold=threshold)
    for column in columns:
        if not isinstance(column, str):
            raise InvalidInput(f"columns of data must be given by name; got {_brief(column)}")
    score = columns[-1] if scored else None
    if isinstance(data, (str, Path)):
        return count_file(data, columns, score, threshold)
    return count_frame(data, columns, score, threshold)


def _column_of(data: Any, column: Any) -> Any:
    if not isinstance(column, str):
        return column
    if data is None:
        raise InvalidInput(f"{column!r} is the name of a column, but data is None; pass the table, or the values")
    if column not in data:
        raise UnknownName.among("column", column, map(str, data))
    return data[column]


def _brief(value: object) -> str:
    return repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"


def _tally(counted: Counted, by: tuple[str, ...], *, labelled: bool, scored: bool, positive: object) -> Tally:
    """Interpret the labels of the counted rows, and add the rows up."""
    width = len(by)
    names = {width: "y_true", width + labelled: "y_pred"} if labelled else {width: "y_pred"}
    if not counted.rows:
        raise InvalidInput("data must have at least one row; got none")
    values = {i: {row[i] for row in counted.rows} for i in names}
    missing_texts = _missing_texts(set().union(*values.values()))
    meanings = {i: _meanings(values[i], missing_texts) for i in names}
    labels = {
        name: set(meanings[i].values()) - {None} for i, name in names.items() if not (scored and name == "y_pred")
    }
    empty = [name for name, distinct in labels.items() if not distinct]
    if empty:
        raise InvalidInput(f"every value of {empty[0]} is missing; there is nothing to audit")
    if labelled and len(labels["y_true"]) == 1:
        raise InvalidInput(f"y_true must contain two classes; got one class only ({listed(labels['y_true'])})")
    chosen = positive_label(labels, _as_label(positive, labels)) if labels else 1
    left_out: Counter[str] = Counter()
    cells: dict[Key, list[int]] = {}
    for row, n in counted.rows.items():
        meant = {name: meanings[i][row[i]] for i, name in names.items()}
        missing = [name for name, label in meant.items() if label is None]
        if missing:
            left_out[" and ".join(missing)] += n
            continue
        actual = labelled and meant["y_true"] == chosen
        predicted = meant["y_pred"] == (1 if scored else chosen)
        at = (0 if predicted else 1) if actual else (2 if predicted else 3)
        cells.setdefault(row[:width], [0, 0, 0, 0])[at] += n
    if not cells:
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    matrices = {key: ConfusionMatrix(*cells[key]) for key in _ordered(cells)}
    return Tally(by, matrices, dict(left_out), labelled, plain(chosen), counted.library)


def _ordered(cells: Mapping[Key, Any]) -> list[Key]:
    """The groups in an order that does not depend on how they were given, so that sums over them do not either."""
    return sorted(cells, key=lambda key: [(value is None, str(value), repr(value)) for value in key])


def _missing_texts(values: set[Any]) -> set[str]:
    """The texts that stand for a missing label: blank ones, and words such as NA if two classes remain without them."""
    texts = {value for value in values if isinstance(value, str)}
    blank = {text for text in texts if not text.strip()}
    words = {text for text in texts if text.strip().casefold() in _MISSING_WORDS}
    return blank | words if len(values - blank - words - {None}) > 1 else blank


def _meanings(values: set[Any], missing_texts: set[str]) -> dict[Any, Any]:
    """The label that each value of a column stands for, None if it is missing.

    If all of them are texts that spell numbers, or all of them are texts that spell booleans, they are read as such.
    """
    as_given = {value: None if value in missing_texts else value for value in values}
    present = {value for value in as_given.values() if value is not None}
    if not present or not all(isinstance(value, str) for value in present):
        return as_given
    for parse in (_as_number, _as_boolean):
        parsed = {text: parse(text) for text in present}
        if None not in parsed.values():
            return as_given | parsed
    return as_given


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if not isfinite(number) else int(number) if number.is_integer() else number


def _as_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip().casefold())


def _as_label(positive: object, labels: Mapping[str, set[Any]]) -> object:
    """The positive label; if it is a text and the labels are not, it is read as they were."""
    distinct = set().union(*labels.values())
    if isinstance(positive, str) and not any(isinstance(label, str) for label in distinct):
        parsed = _as_boolean(positive) if any(isinstance(v, bool) for v in distinct) else _as_number(positive)
        return positive if parsed is None else parsed
    return positive


def as_counts(counts: Mapping[Any, Any], by: str | Sequence[str]) -> Tally:
    """Check confusion matrices that are already known, per group.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn
        Whole counts per group. If there are several group columns, a group is the tuple of its values.
    by : str or sequence of str
        The names of the group columns.

    Returns
    -------
    Tally
        The matrices by tuple of values.

    Examples
    --------
    >>> as_counts({"A": (1, 2, 3, 4)}, by="race").cells
    {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)}
    """
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput(f"counts must map groups to confusion matrices; got {_brief(counts)}")
    columns = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, Iterable) else ()
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InvalidInput(f"by must be the name of a group column, or several; got {_brief(by)}")
    cells: dict[Key, ConfusionMatrix] = {}
    for group, given in counts.items():
        key = group if isinstance(group, tuple) and not isinstance(by, str) else (group,)
        if len(key) != len(columns):
            raise InvalidInput(
                f"group {group!r} must have one value per column ({', '.join(columns)}); got {len(key)} "
                f"value{'s' * (len(key) != 1)}"
            )
        cells[key] = _matrix(group, given)
    return Tally(columns, {key: cells[key] for key in _ordered(cells)})


def _matrix(group: object, given: Any) -> ConfusionMatrix:
    try:
        if isinstance(given, Mapping):
            cm = ConfusionMatrix(**{str(name).casefold(): value for name, value in given.items()})
        else:
            cm = given if isinstance(given, ConfusionMatrix) else ConfusionMatrix(*given)
    except TypeError:
        raise InvalidInput(f"group {group!r} must have tp, fn, fp and tn; got {_brief(given)}") from None
    if not cm.is_whole:
        raise InvalidInput(f"group {group!r} must have whole counts; got {cm!r}")
    return cm
