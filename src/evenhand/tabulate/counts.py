"""Counted rows to a matrix for each combination of groups, with word of every row that was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from ..cells import ConfusionMatrix, listed, positive_label
from ..errors import InvalidInput, UnknownName
from .files import count_file
from .frames import Counted, count_columns, count_frame, plain

__all__ = ["Tally", "as_counts", "tabulate"]

Key = tuple[Any, ...]

# What stands for a missing label in text, unless it is one of the two classes; a group may well be called NA.
_NOTHING = {"na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True, slots=True)
class Tally:
    """A matrix for each combination of values in the group columns; None is the value of a missing group.

    Without labels a matrix holds only predictions: predicted positives as ``fp``, negatives as ``tn``.
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
    y_true: Any,
    y_pred: Any = None,
    groups: Any,
    y_score: Any = None,
    threshold: float = 0.5,
    positive: Any = None,
) -> Tally:
    """Count labels against predictions for every combination of groups.

    >>> tally = tabulate(None, y_true=[1, 0, 1], y_pred=[1, 0, 0], groups=["a", "a", "b"])
    >>> tally.cells
    {('a',): ConfusionMatrix(tp=1, fn=0, fp=0, tn=1), ('b',): ConfusionMatrix(tp=0, fn=1, fp=0, tn=0)}
    """
    if (y_pred is None) == (y_score is None):
        raise InvalidInput("give predictions as y_pred=, or scores as y_score= with a threshold, and not both")
    if isinstance(threshold, (str, bool)) or not isfinite(threshold):
        raise InvalidInput(f"threshold must be a finite number; got {threshold!r}")
    by = _group_columns(groups, named=data is not None)
    answer = y_score if y_pred is None else y_pred
    wanted = [*by.values(), *([] if y_true is None else [y_true]), answer]
    counted = _count(data, list(by), wanted, scored=y_pred is None, threshold=threshold)
    return _read(counted, tuple(by), labelled=y_true is not None, scored=y_pred is None, positive=positive)


def _group_columns(groups: Any, *, named: bool) -> dict[str, Any]:
    """Group columns by the names they go by: column names go by themselves, bare columns are given one."""
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
        raise InvalidInput("groups must name the column that says who belongs to which group")
    return by


def _count(data: Any, names: list[str], wanted: list[Any], *, scored: bool, threshold: float) -> Counted:
    if data is None or (isinstance(data, Mapping) and not hasattr(data, "columns")):
        labels = [*names, *(["y_true"] if len(wanted) > len(names) + 1 else []), "y_score" if scored else "y_pred"]
        columns = [(name, _column_of(data, column)) for name, column in zip(labels, wanted, strict=True)]
        return count_columns(columns, scored=scored, threshold=threshold)
    for column in wanted:
        if not isinstance(column, str):
            raise InvalidInput(f"columns of data go by their names; got {_brief(column)}")
    score = wanted[-1] if scored else None
    if isinstance(data, (str, Path)):
        return count_file(data, wanted, score, threshold)
    return count_frame(data, wanted, score, threshold)


def _column_of(data: Any, column: Any) -> Any:
    if not isinstance(column, str):
        return column
    if data is None:
        raise InvalidInput(f"{column!r} names a column, but no data were given; pass the table first, or the values")
    if column not in data:
        raise UnknownName.among("column", column, map(str, data))
    return data[column]


def _brief(value: Any) -> str:
    return repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"


def _read(counted: Counted, by: tuple[str, ...], *, labelled: bool, scored: bool, positive: Any) -> Tally:
    """Settle which label is positive on the counted rows, and add the rows up."""
    width = len(by)
    names = {width: "y_true", width + labelled: "y_pred"} if labelled else {width: "y_pred"}
    if not counted.rows:
        raise InvalidInput("the data have no rows; there is nothing to audit")
    values = {i: {row[i] for row in counted.rows} for i in names}
    nothing = _words_for_nothing(set().union(*values.values()))
    readings = {i: _reading(values[i], nothing) for i in names}
    seen = {
        name: {readings[i][row[i]] for row in counted.rows} - {None}
        for i, name in names.items()
        if not (scored and name == "y_pred")
    }
    empty = [name for name, values in seen.items() if not values]
    if empty:
        raise InvalidInput(f"every value of {empty[0]} is missing; there is nothing to audit")
    if labelled and len(seen["y_true"]) == 1:
        raise InvalidInput(f"y_true holds one class only ({listed(seen['y_true'])}); an audit compares two")
    chosen = positive_label(seen, _as_label(positive, seen)) if seen else 1
    left_out: Counter[str] = Counter()
    cells: dict[Key, list[int]] = {}
    for row, n in counted.rows.items():
        true, pred = (readings[i][row[i]] for i in names) if labelled else (None, readings[width][row[width]])
        missing = [name for name, value in (("y_true", true), ("y_pred", pred)) if value is None]
        if not labelled:
            missing = [name for name in missing if name == "y_pred"]
        if missing:
            left_out[" and ".join(missing)] += n
            continue
        actual = labelled and true == chosen
        predicted = pred == (1 if scored else chosen)
        at = (0 if predicted else 1) if actual else (2 if predicted else 3)
        cells.setdefault(row[:width], [0, 0, 0, 0])[at] += n
    if not cells:
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    ordered = sorted(cells, key=lambda key: [(value is None, str(value)) for value in key])
    matrices = {key: ConfusionMatrix(*cells[key]) for key in ordered}
    return Tally(by, matrices, dict(left_out), labelled, plain(chosen), counted.library)


def _words_for_nothing(values: set[Any]) -> set[Any]:
    """Texts that stand for a missing label: empty ones, and words such as NA if there are two classes without them."""
    texts = {value for value in values if isinstance(value, str)}
    empty = {text for text in texts if not text.strip()}
    words = {text for text in texts if text.strip().casefold() in _NOTHING}
    return empty | words if len(values - empty - words - {None}) > 1 else empty


def _reading(values: set[Any], nothing: set[Any]) -> dict[Any, Any]:
    """What each value of a label column means: text that spells numbers or booleans throughout is read as such."""
    found = {value: None if value in nothing else value for value in values}
    spelled = {value for value in found.values() if value is not None}
    if not spelled or not all(isinstance(value, str) for value in spelled):
        return found
    for parse in (_as_number, _as_boolean):
        parsed = {text: parse(text) for text in spelled}
        if None not in parsed.values():
            return found | parsed
    return found


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if not isfinite(number) else int(number) if number.is_integer() else number


def _as_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip().casefold())


def _as_label(positive: Any, seen: dict[str, set[Any]]) -> Any:
    """The positive label as given; as text, read the way the labels were."""
    labels = set().union(*seen.values())
    if isinstance(positive, str) and not any(isinstance(label, str) for label in labels):
        parsed = _as_boolean(positive) if any(isinstance(v, bool) for v in labels) else _as_number(positive)
        return positive if parsed is None else parsed
    return positive


def as_counts(counts: Any, by: str | Sequence[str]) -> Tally:
    """Matrices that are known already, by group or, for several columns, by the tuple of its values."""
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput(f"counts must map groups to confusion matrices; got {_brief(counts)}")
    columns = (by,) if isinstance(by, str) else tuple(by)
    cells: dict[Key, ConfusionMatrix] = {}
    for group, given in counts.items():
        key = group if isinstance(group, tuple) and not isinstance(by, str) else (group,)
        if len(key) != len(columns):
            raise InvalidInput(f"group {group!r} must have a value for each of {', '.join(columns)}")
        cells[key] = _matrix(group, given)
    return Tally(columns, cells)


def _matrix(group: Any, given: Any) -> ConfusionMatrix:
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
