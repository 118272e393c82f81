"""Columns of labels and predictions as class codes, for two or more classes.

Booleans are 0 and 1. Text that spells numbers or booleans is read as such, since files contain
only text. Which labels are positive is inferred only where it is unambiguous.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

from ..arrays import Integers, is_sequence
from ..errors import InvalidInput, UnknownName, brief, check_cost, format_values

Labels = tuple[Any, ...]
#: The distinct values of ``y_true``, ``y_pred`` or both.
Columns = Mapping[str, Collection[Any]]
#: The label of each value of a column; None if the value is missing.
LabelOf = dict[Any, Any]

MAX_CLASSES = 2_000
# Words that stand for a missing label. A group may well be called NA, though.
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
# The positive label of each negative one. A positive label is only inferred if the negative one
# occurs: labels that are all 1 could also be the negative ones of 1 and 2.
_PAIRS = {0: 1, -1: 1, "no": "yes", "false": "true", "n": "y", "negative": "positive"}
# Kinds of values that can be labels.
_KINDS = ("booleans", "numbers", "text")
# The part of `positive` that has the positive labels of each column alone.
_PARTS = {"y_true": "label", "y_pred": "prediction"}
_NAME_POSITIVE = "pass the positive ones as `positive=`, or audit each class with `classes='all'`"
_USE_THRESHOLD = "if these are scores, pass them as `y_score=` with a `threshold=`"
_NAME_BOTH = "pass the positive labels of each as `positive['label']` and `positive['prediction']`"


@dataclass(frozen=True, slots=True)
class LabelCoding:
    """Which class each value of the columns stands for.

    Attributes
    ----------
    classes : tuple
        The classes in the order of their codes; ``(False, True)`` if labels are positive or
        negative.
    codes : dict of str to dict
        By column and value, the code of the class; None if the value is missing.
    positive, negative : dict of str to tuple
        By column, the positive labels, and the others that occur.
    absent : tuple
        The labels that were given as positive and do not occur. (Values without a label are
        "missing", not "absent".)
    missing_words : dict of str to tuple
        By column, the words that were read as missing, such as NA.
    """

    classes: Labels
    codes: dict[str, dict[Any, int | None]]
    positive: dict[str, Labels] = field(default_factory=dict)
    negative: dict[str, Labels] = field(default_factory=dict)
    absent: Labels = ()
    missing_words: dict[str, tuple[str, ...]] = field(default_factory=dict)


def count_pairs(
    y_true: Any, y_pred: Any, read: Callable[[Columns], LabelCoding]
) -> tuple[Integers, LabelCoding]:
    """Cross-tabulate actual against predicted classes; return the counts and the coding.

    Element [i, j] counts the cases of class i that are predicted as class j. ``read`` codes the
    distinct values of both columns, as `read_labels` and `read_classes` do. Missing values and
    columns that do not fit together are errors.

    >>> counts, coding = count_pairs(["a", "b", "b"], ["a", "a", "b"], read_classes)
    >>> counts.tolist(), coding.classes
    ([[1, 0], [1, 1]], ('a', 'b'))
    """
    given = {"y_true": y_true, "y_pred": y_pred}
    columns = {name: _as_list(values, name) for name, values in given.items()}
    n, n_pred = map(len, columns.values())
    # Pandas columns with different indices would be paired by position, not by index.
    are_pandas = hasattr(y_true, "iloc") and hasattr(y_pred, "iloc")
    for is_refused, must in (
        (n != n_pred, f"have the same length; got {n} and {n_pred}"),
        (n == 0, "contain at least one label; got none"),
        (
            are_pandas and n == n_pred and not y_true.index.equals(y_pred.index),
            "have the same index; align them, or pass plain arrays",
        ),
    ):
        if is_refused:
            raise InvalidInput(f"`y_true` and `y_pred` must {must}")
    for name, column in columns.items():
        _refuse_missing(name, sum(map(is_missing, column)))
    coding = read({name: _distinct_values(name, y) for name, y in columns.items()})
    codes = []
    for name, column in columns.items():
        # Only `read` knows which texts, such as "" and "NA", mean a missing label (None).
        coded = [coding.codes[name][value] for value in column]
        _refuse_missing(name, coded.count(None))
        codes.append(np.array(coded))
    # Each pair of codes is one number from 0 to k*k - 1, so that one pass counts them all.
    k = len(coding.classes)
    counts = np.bincount(codes[0] * k + codes[1], minlength=k * k)
    return counts.reshape(k, k), coding


def read_labels(columns: Columns, positive: object = None) -> LabelCoding:
    """Code the values of columns as positive (1), negative (0) or missing (None).

    Text that spells numbers or booleans is read as such. Without ``positive``, the positive label
    is inferred from 0/1, -1/1, booleans, no/yes, n/y, negative/positive or false/true.

    Parameters
    ----------
    columns : dict of str to collection
        The distinct values of ``y_true``, ``y_pred`` or both.
    positive : label, list of labels, or dict, optional
        The positive labels of both columns, or by "label" and "prediction" those of each.

    Examples
    --------
    >>> coding = read_labels({"y_true": {0, 1}, "y_pred": {"true", "false", ""}})
    >>> coding.positive
    {'y_true': (1,), 'y_pred': (True,)}
    >>> coding.codes["y_pred"][""] is None
    True
    """
    by_part = positive if isinstance(positive, Mapping) else {}
    for part in by_part:
        if part not in _PARTS.values():
            raise UnknownName.among("part of `positive`", part, _PARTS.values())
    shared = () if by_part else _as_labels("positive", positive)
    options = {name: f"positive['{part}']" for name, part in _PARTS.items()}
    separate = {name: _as_labels(options[name], by_part.get(part)) for name, part in _PARTS.items()}
    for name in _PARTS:
        if separate[name] and name not in columns:
            hint = f"is for the labels of `{name}`, and there are none; leave it out"
            raise InvalidInput(f"`{options[name]}` {hint}")
    missing, label_of = {}, {}
    for name, values in columns.items():
        missing[name] = _missing_texts(name, columns, separate[name] or shared)
        read = {value: None if value in missing[name] else value for value in values}
        label_of[name] = _parse_texts(read)
    labels = _distinct_labels(label_of, "audit")
    chosen = {
        name: _check_positive(options[name], separate[name], labels[name])
        for name in columns
        if separate[name]
    }
    undecided = {name: labels[name] for name in columns if name not in chosen}
    chosen |= _choose_positive(undecided, shared)
    coding = LabelCoding((False, True), {})
    absent: dict[Any, None] = {}
    for name, occurring in labels.items():
        positives = chosen[name]
        _refuse_variants(positives, occurring, options[name] if separate[name] else "positive")
        # A label of `positive=` need only occur in one of the columns.
        known = occurring if separate[name] else set().union(*labels.values())
        if separate[name] or shared:
            absent |= dict.fromkeys(label for label in positives if label not in known)
        codes = {label: int(label in positives) for label in occurring} | {None: None}
        coding.codes[name] = {v: codes[label] for v, label in label_of[name].items()}
        # Labels with their type in the column: True for 1 among booleans, since 1 == True.
        label_in_column = {label: label for label in occurring}
        coding.positive[name] = tuple(label_in_column.get(v, v) for v in positives)
        coding.negative[name] = tuple(sorted(occurring - set(positives)))
        # Blank texts are missing, too, but there is no word to report.
        coding.missing_words[name] = tuple(sorted(filter(str.strip, missing[name])))
    return replace(coding, absent=tuple(absent))


def read_classes(
    columns: Columns, labels: Iterable[Hashable] | None = None, *, parse: bool = False
) -> LabelCoding:
    """Code the values of ``y_true`` and ``y_pred`` as classes; None if a value is missing.

    ``labels`` are the classes in the order of their codes; by default those that occur, sorted.
    They may contain classes that do not occur, but every value must belong to one. Text is read
    as numbers or booleans if the other column contains them, and with ``parse`` also if both
    are text.

    >>> read_classes({"y_true": {1, 2}, "y_pred": {"2", "3", ""}}).classes
    (1, 2, 3)
    """
    asked = () if labels is None else as_classes(labels)
    read = {name: {v: _as_class(v, asked) for v in y} for name, y in columns.items()}
    label_of = _to_one_kind(read, parse)
    occurring = set().union(*_distinct_labels(label_of, "count").values())
    if not asked and len(occurring) > 2 and _are_scores(occurring):
        text = f"{len(occurring)} distinct numbers that are not whole ({format_values(occurring)})"
        hint = "classes must be labels, not scores"
        raise InvalidInput(f"{_argument_names(columns)} contain {text}; {hint}")
    classes = asked or tuple(sorted(occurring))
    if unknown := occurring - set(classes):
        hint = f"got labels without {format_values(unknown)}"
        must = "contain every class that occurs"
        raise InvalidInput(argument="labels", must=must, hint=hint)
    check_cost(len(classes), MAX_CLASSES, "there are {} classes", "merge rare ones")
    code_of = {label: code for code, label in enumerate(classes)} | {None: None}
    codes = {name: {v: code_of[label] for v, label in of.items()} for name, of in label_of.items()}
    return LabelCoding(classes, codes)


def as_classes(labels: Any) -> Labels:
    """Check the classes given by a user, and return them as plain values (no NumPy scalars).

    They must be of one kind (numbers, text or booleans), and each must occur once.
    """
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        must = "be a sequence of classes"
        raise InvalidInput(argument="labels", must=must, got=labels)
    classes = tuple(map(_as_plain, labels))
    distinct = _distinct_values("labels", classes)
    if len(distinct) < max(1, len(classes)):
        must = "name each class once" if classes else "name at least one class"
        got = ", ".join(map(brief, classes[:20])) or "none"
        raise InvalidInput(argument="labels", must=must, hint=f"got {got}")
    _common_kind("labels", distinct)
    return classes


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NA or NaT. Texts never are; `_missing_texts` reads those.

    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    return _kind_of(value) == "missing"


def _as_list(values: Any, name: str) -> list[Any]:
    """A column as a list of Python values, to be counted; ``name`` is the argument in errors."""
    if not is_sequence(values):
        raise InvalidInput(argument=name, must="be a sequence of labels", got=values)
    # Masked arrays stay masked.
    if not hasattr(values, "__array__"):
        return list(values)
    array = np.asanyarray(values)
    if array.ndim != 1:
        hint = f"got shape {array.shape}"
        raise InvalidInput(argument=name, must="be one-dimensional", hint=hint)
    # Dates and durations cannot be labels, and are refused later by their type. `tolist` would
    # turn those in nanoseconds into integers, which would be accepted.
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def _distinct_values(name: str, column: Collection[Any]) -> set[Any]:
    """The distinct values of a column; an error if some are not hashable, such as lists.

    Labels are read once per distinct value, not once per case.
    """
    try:
        return set(column)
    except TypeError:
        kind = next(kind for kind in map(_kind_of, column) if kind not in _KINDS)
        raise _not_labels(name, kind) from None


def _refuse_missing(name: str, count: int) -> None:
    """Raise if a column contains missing values; ``count`` is their number (0 is fine)."""
    if count:
        values = "value; drop that row" if count == 1 else "values; drop those rows"
        raise InvalidInput(f"`{name}` contains {count} missing {values} first", argument=name)


def _as_labels(option: str, given: Any) -> Labels:
    """The value of an option as a tuple of labels: one label or a collection; () for None."""
    if given is None or isinstance(given, Mapping):
        return ()
    values = given.tolist() if hasattr(given, "tolist") else given
    is_collection = isinstance(values, Set) or is_sequence(values)
    labels = tuple(values) if is_collection else (values,)
    # Labels are looked up in sets and dicts.
    with suppress(TypeError):
        if set(labels):
            return labels
    must = "be a label or a list of labels"
    raise InvalidInput(argument=option, must=must, got=given)


def _missing_texts(name: str, columns: Columns, positive: Labels) -> set[str]:
    """The texts in the column ``name`` that mean a missing label; never one given as positive.

    Blank texts always do. Words such as NA may be classes of their own, so they do only if two or
    more other classes remain. The classes of the other column are included in this count if both
    columns share a value, or if this one has no class left. ``positive`` are the labels given as
    positive for this column.
    """
    values = set(columns[name]) - {None}
    texts = {value for value in values if isinstance(value, str)} - set(positive)
    blank = {text for text in texts if not text.strip()}
    words = {text for text in texts - blank if _spells_missing(text)}
    if positive:
        # With explicit positive labels, the word "none" is an ordinary label.
        words = {word for word in words if word.strip().casefold() != "none"}
    classes = values - blank - words
    for other, other_values in columns.items():
        if other != name and (not classes or values.intersection(other_values)):
            classes |= {v for v in other_values if not _spells_missing(v)} - {None}
    return blank | words if len(classes) > 1 else blank


def _spells_missing(value: Any) -> bool:
    """Whether a value is a blank text or a word such as NA, which may mean a missing label."""
    return isinstance(value, str) and value.strip().casefold() in {"", *MISSING_WORDS}


def _parse_texts(label_of: LabelOf) -> LabelOf:
    """Labels as numbers or booleans, if all are missing or texts that spell them; or unchanged.

    Files contain only text, and so do their numbers.
    """
    texts = set(label_of.values()) - {None}
    if not all(isinstance(text, str) for text in texts):
        return label_of
    booleans = {"true": True, "false": False}
    numbers_of = {text: _parse_number(text) for text in texts}
    booleans_of = {text: booleans.get(text.strip().casefold()) for text in texts}
    for parsed in (numbers_of, booleans_of):
        if None not in parsed.values():
            return {value: parsed.get(text) for value, text in label_of.items()}
    return label_of


def _parse_number(text: str) -> float | None:
    """The finite number that a text spells, as ``int`` if it is whole; None for other text."""
    # `int` comes first, since it is exact for large numbers.
    for parse in (int, float):
        # Integers may be too large for a float.
        with suppress(ValueError, OverflowError):
            number = parse(text)
            if isfinite(number):
                return int(number) if number == int(number) else number
    return None


def _distinct_labels(label_of: Mapping[str, LabelOf], verb: str) -> dict[str, set[Any]]:
    """The distinct labels of each column, which must have some, all of one kind.

    ``verb`` ends the error message if every value is missing.
    """
    labels = {name: set(of.values()) - {None} for name, of in label_of.items()}
    for name, distinct in labels.items():
        if not distinct:
            text = f"every value of `{name}` is missing; there is nothing to {verb}"
            raise InvalidInput(text, argument=name)
        _common_kind(name, distinct)
    return labels


def _choose_positive(labels: Mapping[str, set[Any]], shared: Labels) -> dict[str, Labels]:
    """The positive labels of columns: ``shared`` if given, otherwise inferred.

    ``labels`` has the labels of the columns without a `positive_label` or
    `positive_prediction`.
    """
    together = set().union(*labels.values())
    if not together:
        return {}
    if not _are_comparable(labels):
        if not shared:
            with suppress(InvalidInput):
                return {name: _infer_positive(labels[name]) for name in labels}
        # Labels that are shared cannot fit columns of different kinds, such as text and numbers.
        hint = f"{_USE_THRESHOLD}; otherwise " if _are_scores(labels["y_pred"]) else ""
        raise InvalidInput(f"{_describe_contents(labels)}; {hint}{_NAME_BOTH}")
    chosen = _check_positive("positive", shared, together) if shared else ()
    # One label in a column may be chance. Two that the other column lacks are another coding,
    # unless they are scores, for which there is a better message below.
    is_recoded = not set.intersection(*labels.values()) and min(map(len, labels.values())) > 1
    has_positives = all(distinct & set(chosen) for distinct in labels.values())
    if is_recoded and not has_positives and not _are_scores(together):
        shown = " and ".join(f"`{k}` {format_values(v)}" for k, v in labels.items())
        text = "labels and predictions have no value in common"
        raise InvalidInput(f"{text}: {shown}; {_NAME_BOTH}")
    if len(together) > 2 and (not shared or _are_scores(together - set(shared))):
        verb = "contains" if len(labels) == 1 else "contain"
        contents = f"{verb} {len(together)} distinct labels ({format_values(together)})"
        are_scores = _are_scores(together - set(shared))
        hint = _USE_THRESHOLD if are_scores else _NAME_POSITIVE
        raise InvalidInput(f"{_argument_names(labels)} {contents}; {hint}")
    return dict.fromkeys(labels, chosen or _infer_positive(together))


def _describe_contents(labels: Mapping[str, set[Any]]) -> str:
    """The kinds and labels of two columns, as the beginning of an error message.

    It is for columns whose labels cannot be compared, such as text and numbers.
    """
    return " but ".join(
        f"`{name}` contains {_common_kind(name, distinct)} ({format_values(distinct)})"
        for name, distinct in labels.items()
    )


def _refuse_variants(chosen: Labels, labels: set[Any], option: str) -> None:
    """Raise if a negative label differs from a positive one only in spelling.

    "Yes" beside "yes" would be counted as negative. ``chosen`` are the positive labels, ``labels``
    all that occur, and ``option`` the argument that would change them.
    """
    for label in sorted(labels - set(chosen), key=str):
        similar = [other for other in chosen if _fold(other) == _fold(label)]
        if similar and _fold(label):
            shown = format_values({label, *similar})
            hint = f"pass all of them as `{option}=`, or unify their spelling"
            raise InvalidInput(f"{shown} look like one label; {hint}")


def _check_positive(option: str, given: Labels, labels: set[Any]) -> Labels:
    """The labels given as positive in an option, each once and of the kind of the others.

    It is an error if a kind differs, except for 0 and 1 among booleans and the other way round.
    At least one must be among the ``labels`` that occur. If only one label occurs, the positive
    one may be another, since all cases may be negative.
    """
    kinds = {_kind_of(label) for label in labels}
    chosen: dict[Any, None] = {}
    for value in given:
        # Options on a command line are text, also where the labels are numbers.
        label = value if "text" in kinds else _parse_texts({value: value})[value]
        if _kind_of(label) not in kinds and not {label, *labels} <= {0, 1}:
            contents = f"{' and '.join(sorted(kinds))} ({format_values(labels)})"
            must = f"be one of the labels, which are {contents}"
            raise InvalidInput(argument=option, must=must, got=label)
        chosen[label] = None
    if labels.isdisjoint(chosen) and len(labels) > 1:
        must = f"be one of the labels ({format_values(labels)})"
        hint = f"got {format_values(chosen)}"
        raise InvalidInput(argument=option, must=must, hint=hint)
    return tuple(chosen)


def _infer_positive(labels: set[Any]) -> Labels:
    """The positive label, alone in a tuple, of booleans or of a known pair such as no/yes.

    An error unless the negative label of the pair occurs: "yes" alone could also be negative.
    """
    if any(isinstance(label, bool) for label in labels):
        return (True,)
    spelling_of = {v.casefold() if isinstance(v, str) else v: v for v in labels}
    for negative, positive in _PAIRS.items():
        if negative in spelling_of and set(spelling_of) <= {negative, positive}:
            return (spelling_of.get(positive, positive),)
    text = f"the positive label cannot be inferred from {format_values(labels)}"
    raise InvalidInput(f"{text}; pass it as `positive=`")


def _to_one_kind(label_of: dict[str, LabelOf], parse: bool) -> dict[str, LabelOf]:
    """Convert the labels of both columns to one kind, or raise if that is not possible.

    Text is read as numbers or booleans if the other column contains them. If both are text, they
    are read so only with ``parse``, and stay text where that does not succeed for both. So a class
    1 in one column is "1" in the other.
    """
    labels = _distinct_labels(label_of, "count")
    is_same_kind = len({_common_kind(name, of) for name, of in labels.items()}) == 1
    parsed = {name: _parse_texts(of) for name, of in label_of.items()}
    distinct = _distinct_labels(parsed, "count")
    has_text = "text" in map(_kind_of, set().union(*distinct.values()))
    if _are_comparable(distinct) and not has_text and (parse or not is_same_kind):
        return parsed
    if is_same_kind:
        return label_of
    hint = "labels and predictions must name the same classes"
    raise InvalidInput(f"{_describe_contents(labels)}; {hint}")


def _as_class(value: Any, asked: Labels) -> Any:
    """The class of a value, None if it is missing; whole numbers become integers.

    Words such as NA mean a missing value, unless they are among the classes that were ``asked``
    for.
    """
    # "none" is often the name of a class.
    is_word = _spells_missing(value) and value.strip().casefold() != "none"
    if is_missing(value) or (is_word and value not in asked):
        return None
    label = _as_plain(value)
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _as_plain(value: Any) -> Any:
    """A label as a plain number, text or boolean, if it is a Decimal or a NumPy scalar.

    Others are unchanged. Classes are shown and written to files as plain values.
    """
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == int(value) else float(value)
    # As in `_as_list`, dates and durations must not become integers.
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        return value.item()
    return value


def _fold(label: Any) -> Any:
    """Text without case, spaces and punctuation, to compare spellings; other labels unchanged.

    Signs at its end and in front of a number tell labels apart: "HER2+" is not "HER2-".
    """
    if not isinstance(label, str):
        return label
    text = label.casefold().strip()
    sign = next((end for end in (text[-1:], text[:1]) if end in ("+", "-")), "")
    return sign + "".join(filter(str.isalnum, text))


def _are_scores(labels: set[Any]) -> bool:
    """Whether any numeric label is not a whole number, as scores passed as labels are not."""
    given = [label for label in labels if not isinstance(label, str)]
    return not all(isfinite(label) and label == int(label) for label in given)


def _common_kind(name: str, labels: set[Any]) -> str:
    """The kind of the labels in a column; an error unless it is one of `_KINDS`.

    Labels of different kinds in one column are an error, too. Some callers call it for its errors
    only. There must be at least one label.
    """
    kinds = sorted({_kind_of(label) for label in labels})
    for kind in kinds:
        if kind not in _KINDS:
            raise _not_labels(name, kind)
    if len(kinds) > 1:
        hint = f"got {' and '.join(kinds)}"
        raise InvalidInput(argument=name, must="contain labels of one type", hint=hint)
    return kinds[0]


def _not_labels(name: str, kind: str) -> InvalidInput:
    """The error for a column with values, such as dates, that cannot be labels."""
    must = "contain numbers, text or booleans"
    return InvalidInput(argument=name, must=must, hint=f"got values of type {kind}")


def _are_comparable(labels: Mapping[str, set[Any]]) -> bool:
    """Whether all labels can be compared: they are of one kind, or booleans, 0 and 1.

    Otherwise labels and predictions cannot share a positive label.
    """
    kinds = {_kind_of(label) for distinct in labels.values() for label in distinct}
    return len(kinds) == 1 or set().union(*labels.values()) <= {0, 1}


def _kind_of(value: object) -> str:
    """The kind of a value: one of `_KINDS`, "missing", or the name of any other type.

    That name is for errors, since such values cannot be labels.
    """
    # The types of pandas' NA and NaT, by name since pandas may not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, Decimal):
        # A signalling NaN cannot even be compared.
        return "missing" if value.is_nan() else "numbers"
    # NaN and NaT are the values that differ from themselves.
    if isinstance(value, (numbers.Number, np.datetime64)) and value != value:
        return "missing"
    # NumPy's durations are a type of integers.
    if isinstance(value, numbers.Real) and not isinstance(value, np.timedelta64):
        return "numbers"
    return "text" if isinstance(value, str) else type(value).__name__


def _argument_names(names: Iterable[object]) -> str:
    """Names of arguments in a sentence: "`y_true` and `y_pred`"."""
    return " and ".join(f"`{name}`" for name in names)
