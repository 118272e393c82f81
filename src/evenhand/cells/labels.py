"""From a column of labels and a column of predictions to four counts.

Booleans are 0 and 1, and texts that spell numbers or booleans are read as such, since files contain only text. Which
labels are positive is inferred only where it is unambiguous.
"""

from __future__ import annotations

import datetime
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, brief

__all__ = [
    "MISSING_WORDS",
    "Reading",
    "both",
    "both_columns",
    "codes",
    "count_labels",
    "is_missing",
    "is_sequence",
    "listed",
    "read_labels",
    "read_texts",
]

# Pairs (negative, positive). The negative label must occur: 1 alone may be paired with 2 rather than 0.
_UNAMBIGUOUS = ((0, 1), (-1, 1), ("no", "yes"), ("false", "true"), ("n", "y"), ("negative", "positive"))
_KINDS = ("booleans", "numbers", "text")
# Texts that stand for a missing label, unless one of them is one of the two classes. A group may well be called NA.
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
_THRESHOLD = "if these are scores, pass them as `y_score=` with a `threshold=`"
# So many values are looked for one by one.
_FEW_VALUES = 8
_OPTIONS = {"y_true": "positive_label", "y_pred": "positive_prediction"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What the values of columns of labels stand for.

    Attributes
    ----------
    meanings : dict of str to dict
        By column and value, whether the value is positive; None if it stands for a missing one.
    positive, negative : dict of str to tuple
        By column, the positive labels, and the others that occur.
    absent : tuple
        The labels that were given as positive and do not occur.
    words : dict of str to tuple
        By column, the words that were read as missing, such as NA.
    """

    meanings: dict[str, dict[Any, bool | None]]
    positive: dict[str, tuple[Any, ...]]
    negative: dict[str, tuple[Any, ...]]
    absent: tuple[Any, ...] = ()
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)


def count_labels(
    y_true: Iterable[object],
    y_pred: Iterable[object],
    positive: object = None,
    positive_label: object = None,
    positive_prediction: object = None,
) -> tuple[int, int, int, int]:
    """The numbers of true positives, false negatives, false positives and true negatives.

    >>> count_labels([1, 1, 0, 0, 0], [1, 0, 1, 0, 0])
    (1, 1, 1, 2)
    >>> count_labels([1, 0, 0], ["high", "medium", "low"], positive_label=1, positive_prediction=["medium", "high"])
    (1, 0, 1, 1)
    """
    columns = both_columns(y_true, y_pred)
    distinct = {name: _distinct(column, name) for name, column in columns.items()}
    reading = read_labels(distinct, positive, positive_label, positive_prediction)
    actual, predicted = (codes(name, column, reading.meanings[name]) for name, column in columns.items())
    tn, fp, fn, tp = np.bincount(2 * actual + predicted, minlength=4).tolist()
    return tp, fn, fp, tn


def both_columns(y_true: Iterable[object], y_pred: Iterable[object]) -> dict[str, NDArray[Any]]:
    """Labels and predictions as arrays of the same length, without missing values, by their names.

    >>> both_columns([1, 0], [1, 1])["y_pred"]
    array([1, 1], dtype=object)
    """
    columns = {"y_true": _column(y_true, "y_true"), "y_pred": _column(y_pred, "y_pred")}
    true, pred = columns.values()
    if len(true) != len(pred):
        raise InvalidInput(f"`y_true` and `y_pred` must have the same length; got {len(true)} and {len(pred)}")
    if len(true) == 0:
        raise InvalidInput("`y_true` and `y_pred` must contain at least one label; got none")
    if all(hasattr(column, "iloc") for column in (y_true, y_pred)) and not y_true.index.equals(y_pred.index):  # type: ignore[attr-defined]
        raise InvalidInput(
            "`y_true` and `y_pred` must have the same index; align them, or pass their values without it"
        )
    for name, column in columns.items():
        _refuse_missing(name, _count_missing(column))
    return columns


def codes(name: str, column: NDArray[Any], meanings: Mapping[Any, int | None]) -> NDArray[np.int64]:
    """What every value of a column stands for, as a number; an error if that is nothing."""
    coded = {value: -1 if meaning is None else int(meaning) for value, meaning in meanings.items()}
    if len(coded) <= _FEW_VALUES:
        found = np.full(len(column), -1, dtype=np.int64)
        for value, code in coded.items():
            found += (code + 1) * (column == value)
    elif column.dtype.kind in "biuf":
        values = np.unique(column)
        found = np.array([coded[value] for value in values.tolist()], dtype=np.int64)[np.searchsorted(values, column)]
    else:
        found = np.fromiter(map(coded.__getitem__, column.tolist()), dtype=np.int64, count=len(column))
    _refuse_missing(name, int(np.count_nonzero(found < 0)))
    return found


def _refuse_missing(name: str, missing: int) -> None:
    if missing:
        values, rows = ("value", "that row") if missing == 1 else ("values", "those rows")
        raise InvalidInput(f"`{name}` contains {missing} missing {values}; drop {rows} first", argument=name)


def read_labels(
    columns: Mapping[str, Iterable[Any]],
    positive: object = None,
    positive_label: object = None,
    positive_prediction: object = None,
) -> Reading:
    """Which of the distinct values of ``y_true``, ``y_pred`` or both are positive.

    Without any of the options, 0/1, -1/1, booleans, no/yes, n/y, negative/positive and false/true are understood.

    >>> read_labels({"y_true": {0, 1}, "y_pred": {"true", "false"}}).positive
    {'y_true': (1,), 'y_pred': (True,)}
    """
    shared = _several("positive", positive)
    options = {"y_true": positive_label, "y_pred": positive_prediction}
    own = {name: _several(_OPTIONS[name], options[name]) for name in columns}
    _refuse_unused(columns, shared, own, options)
    given = {name: set(values) for name, values in columns.items()}
    missing = {name: _missing_texts(name, given, own[name] or shared) for name in given}
    read = {name: _read(given[name], missing[name]) for name in given}
    labels = {name: set(meanings.values()) - {None} for name, meanings in read.items()}
    for name, distinct in labels.items():
        if not distinct:
            raise InvalidInput(f"every value of `{name}` is missing; there is nothing to audit", argument=name)
    kinds = {name: _one_kind(name, distinct) for name, distinct in labels.items()}
    chosen = {name: _checked(_OPTIONS[name], values, labels[name]) for name, values in own.items() if values}
    undecided = {name: labels[name] for name in labels if name not in chosen}
    if len(undecided) == 2 and not _comparable(labels, kinds):
        chosen = {name: _each(name, labels, kinds, shared) for name in labels}
    elif undecided:
        together = set().union(*undecided.values())
        _refuse_apart(undecided, shared)
        _refuse_many(undecided, shared)
        decided = _checked("positive", shared, together) if shared else _inferred(together)
        chosen |= dict.fromkeys(undecided, decided)
    for name, distinct in labels.items():
        _refuse_variants(chosen[name], distinct, _OPTIONS[name] if own[name] else "positive")
    everywhere = set().union(*labels.values())
    return Reading(
        {
            name: {value: None if label is None else label in chosen[name] for value, label in meanings.items()}
            for name, meanings in read.items()
        },
        {name: _as_spelled(chosen[name], labels[name]) for name in labels},
        {name: tuple(sorted(labels[name] - set(chosen[name]), key=_order)) for name in labels},
        tuple(
            dict.fromkeys(
                v
                for name in labels
                if own[name] or shared
                for v in chosen[name]
                if v not in (labels[name] if own[name] else everywhere)
            )
        ),
        {name: tuple(sorted(text for text in texts if text.strip())) for name, texts in missing.items()},
    )


def _refuse_unused(
    columns: Mapping[str, Any], shared: tuple[Any, ...], own: Mapping[str, tuple[Any, ...]], options: Mapping[str, Any]
) -> None:
    """An option that says nothing about the columns is a mistake."""
    for name, option in _OPTIONS.items():
        if name not in columns and options[name] is not None:
            raise InvalidInput(f"`{option}` is for the labels of `{name}`, and there are none; leave it out")
    if shared and all(own.values()):
        raise InvalidInput("`positive` is not needed beside `positive_label` and `positive_prediction`; leave it out")


def _refuse_variants(chosen: tuple[Any, ...], labels: set[Any], option: str) -> None:
    """A negative label that differs from a positive one only in case, spaces or signs is likely to mean the same."""
    positive = {_folded(label) for label in chosen if isinstance(label, str)}
    for label in sorted((label for label in labels - set(chosen) if isinstance(label, str)), key=str):
        if _folded(label) and _folded(label) in positive:
            spelled = listed({label, *(v for v in chosen if _folded(v) == _folded(label))})
            raise InvalidInput(f"{spelled} look like one label; pass all of them as `{option}=`, or make them one")


def _several(option: str, given: object) -> tuple[Any, ...]:
    """The labels that were given: one of them, or a list, tuple, set or array of them."""
    if given is None:
        return ()
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__") or getattr(given, "ndim", 1) == 0:
        one: Any = given.item() if getattr(given, "ndim", 1) == 0 and hasattr(given, "item") else given
        labels: tuple[Any, ...] = (one,)
    elif isinstance(given, (Mapping, type)):
        labels = ()
    else:
        labels = tuple(given.tolist() if hasattr(given, "tolist") else given)
    if not labels or not _can_be_hashed(labels):
        raise InvalidInput(argument=option, must="be a label or a list of labels", got=given)
    return labels


def _can_be_hashed(labels: tuple[Any, ...]) -> bool:
    try:
        return bool(set(labels))
    except TypeError:
        return False


def _missing_texts(name: str, given: Mapping[str, set[Any]], asked: tuple[Any, ...]) -> set[str]:
    """The texts in a column that stand for a missing label.

    Blank ones do; words such as NA do if two classes remain without them, in this column or, if they share a label, in
    both.
    """
    texts = {value for value in given[name] if isinstance(value, str)} - set(asked)
    blank = {text for text in texts if not text.strip()}
    # If the positive labels are given, none is a level like any other.
    known = MISSING_WORDS - ({"none"} if asked else set())
    words = {text for text in texts - blank if text.strip().casefold() in known}
    classes = given[name] - blank - words - {None}
    for other, values in given.items():
        if other != name and (not classes or values & given[name] - {None}):
            classes |= {v for v in values if not _is_missing_text(v)}
    return blank | words if len(classes) > 1 else blank


def _is_missing_text(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in {"", *MISSING_WORDS})


def _read(values: set[Any], missing_texts: set[str]) -> dict[Any, Any]:
    """The label that each value of a column stands for, None if it is missing."""
    as_given = {value: None if value in missing_texts else value for value in values}
    texts = all(isinstance(value, str) for value in as_given.values() if value is not None)
    return read_texts(as_given) if texts else as_given


def read_texts(labels: dict[Any, Any]) -> dict[Any, Any]:
    """The labels of values as numbers or booleans, if all that are not missing are texts that spell them."""
    for parse in (_as_number, _as_boolean):
        read = {value: None if label is None else parse(label) for value, label in labels.items()}
        if all(read[value] is not None for value, label in labels.items() if label is not None):
            return read
    return labels


def _as_number(text: str) -> float | None:
    try:
        return int(text) if len(text) < 300 else None
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return None if not isfinite(number) else int(number) if number.is_integer() else number


def _as_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip().casefold())


def _comparable(labels: Mapping[str, set[Any]], kinds: Mapping[str, str]) -> bool:
    """Whether the labels of all columns are of one kind; booleans are 0 and 1."""
    if len(set(kinds.values())) == 1:
        return True
    return "text" not in kinds.values() and set().union(*labels.values()) <= {0, 1}


def _each(
    name: str, labels: Mapping[str, set[Any]], kinds: Mapping[str, str], shared: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The positive label of a column whose labels are of another kind than those of the other column."""
    if not shared:
        try:
            return _inferred(labels[name])
        except InvalidInput:
            pass
    first, second = (f"`{column}` contains {kinds[column]} ({listed(v)})" for column, v in labels.items())
    scored = _are_scores(labels.get("y_pred", set()))
    raise InvalidInput(
        f"{first} but {second}; "
        + (f"{_THRESHOLD}; otherwise " if scored else "")
        + "pass the positive labels of each as `positive_label=` and `positive_prediction=`"
    )


def _refuse_apart(labels: Mapping[str, set[Any]], asked: tuple[Any, ...]) -> None:
    """Labels and predictions without a value in common need positive labels of their own."""
    apart = len(labels) == 2 and not set.intersection(*labels.values()) and min(map(len, labels.values())) > 1
    if not apart or _are_scores(set().union(*labels.values())):
        return
    decided = _checked("positive", asked, set().union(*labels.values())) if asked else ()
    if not all(values & set(decided) for values in labels.values()):
        each = " and ".join(f"`{name}` {listed(values)}" for name, values in labels.items())
        raise InvalidInput(
            f"labels and predictions have no value in common: {each}; pass the positive labels of each as "
            "`positive_label=` and `positive_prediction=`"
        )


def _refuse_many(labels: Mapping[str, set[Any]], asked: tuple[Any, ...]) -> None:
    """More than two labels need to be told apart, and scores need a threshold."""
    distinct = set().union(*labels.values())
    columns = f"{both(labels)} contain{'s' * (len(labels) == 1)} {len(distinct)} distinct labels"
    if len(distinct) > 2 and not asked:
        several = "pass the positive ones as `positive=`, or audit each class with `classes='all'`"
        raise InvalidInput(f"{columns} ({listed(distinct)}); {_THRESHOLD if _are_scores(distinct) else several}")
    if len(distinct) > 2 and _are_scores(distinct - set(asked)):
        raise InvalidInput(f"{columns} ({listed(distinct)}); {_THRESHOLD}")


def _are_scores(labels: set[Any]) -> bool:
    return not any(isinstance(label, str) for label in labels) and not all(map(_is_whole, labels))


def _checked(option: str, asked: tuple[Any, ...], labels: set[Any]) -> tuple[Any, ...]:
    """The labels that were given as positive, as labels of the column or columns; at least one must occur."""
    kinds = {_kind(label) for label in labels}
    wanted = tuple(dict.fromkeys(_as_label(option, value, labels, kinds) for value in asked))
    absent = [value for value in wanted if value not in labels]
    others = {_folded(label) for label in labels if label not in wanted}
    # If only one label occurs, the positive one may be the other; neither may be a variant spelling of the other.
    if len(absent) == len(wanted) and len(labels) > 1:
        occurring = f"be one of the labels ({listed(labels)})"
        raise InvalidInput(argument=option, must=occurring, hint=f"got {listed(wanted)}")
    for value in absent:
        if _folded(value) in others:
            raise InvalidInput(argument=option, must=f"be one of the labels ({listed(labels)})", got=value)
    return wanted


def _folded(label: Any) -> Any:
    return "".join(filter(str.isalnum, label.casefold())) if isinstance(label, str) else label


def _as_label(option: str, value: Any, labels: set[Any], kinds: set[str]) -> Any:
    """A label that was given, as the labels are: a text is read as a number or a boolean if they are."""
    if isinstance(value, str) and "text" not in kinds:
        parsed = _as_number(value) if _as_boolean(value) is None else _as_boolean(value)
        value = value if parsed is None else parsed
    kind = _kind(value)
    if kind in kinds or (kind != "text" and "text" not in kinds and {value, *labels} <= {0, 1}):
        return value
    which = f"{' and '.join(sorted(kinds))} ({listed(labels)})"
    raise InvalidInput(argument=option, must=f"be one of the labels, which are {which}", got=value)


def _as_spelled(chosen: tuple[Any, ...], labels: set[Any]) -> tuple[Any, ...]:
    """The labels as they occur in the column, such as True for 1."""
    spelled = {label: label for label in labels}
    return tuple(spelled.get(label, label) for label in chosen)


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _inferred(labels: set[Any]) -> tuple[Any]:
    if any(isinstance(label, bool) for label in labels):
        return (True,)
    spelled = {label.casefold() if isinstance(label, str) else label: label for label in labels}
    for negative, positive in _UNAMBIGUOUS:
        if negative in spelled and set(spelled) <= {negative, positive}:
            return (spelled.get(positive, positive),)
    given = "label" if len(labels) == 1 else "labels"
    raise InvalidInput(
        f"the positive label cannot be inferred from the {given} {listed(labels)}; pass it as `positive=`"
    )


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, NA or NaT.

    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    return _kind(value) == "missing"


def is_sequence(values: object) -> bool:
    """Whether something can be the values of a column, in the order of its rows.

    Text, a mapping, a set, a class and an array without dimensions cannot, although they may be iterable. What NumPy
    can make an array of can, although it may not be iterable.

    >>> is_sequence([1, 0]), is_sequence({1, 0}), is_sequence("10")
    (True, False, False)
    """
    if isinstance(values, (str, bytes, Mapping, Set, type)) or getattr(values, "shape", None) == ():
        return False
    return hasattr(values, "__iter__") or hasattr(values, "__array__")


def _column(values: Iterable[object], name: str) -> NDArray[Any]:
    if not is_sequence(values):
        raise InvalidInput(argument=name, must="be a sequence of labels", got=values)
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()
    # A list becomes an array of objects, since numpy would turn [1, "a"] into text and [True, 1] into numbers.
    column = np.asarray(values) if hasattr(values, "__array__") else np.fromiter(values, dtype=object)
    if column.ndim != 1:
        raise InvalidInput(argument=name, must="be one-dimensional", hint=f"got shape {column.shape}")
    return column


def _one_kind(name: str, labels: set[Any]) -> str:
    """The kind of the labels in a column; an error if there is more than one."""
    kinds = {_kind(label) for label in labels}
    if other := sorted(kinds - {*_KINDS}):
        raise _not_a_label(name, other[0])
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InvalidInput(argument=name, must="contain labels of one type", hint=f"got {found}")
    return kinds.pop()


def _not_a_label(name: str, kind: str) -> InvalidInput:
    found = f"got values of type {kind}"
    return InvalidInput(argument=name, must="contain numbers, text or booleans", hint=found)


def _count_missing(column: NDArray[Any]) -> int:
    if column.dtype.kind in "biuUTSM":
        return 0
    if column.dtype.kind == "f":
        return int(np.isnan(column).sum())
    values = column.tolist()
    try:
        return sum(n for value, n in Counter(values).items() if is_missing(value))
    except TypeError:
        # Values that cannot be hashed are refused later, with their type.
        return sum(map(is_missing, values))


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
    """A few values for an error message, in ascending order of their texts.

    >>> listed({"b", "a", "c"}, most=2)
    "'a', 'b', …"
    """
    shown = sorted(brief(value, 60) for value in values)
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


def both(names: Iterable[str]) -> str:
    """The names of arguments for an error message."""
    return " and ".join(f"`{name}`" for name in names)
