"""What the columns of a table seem to be, from their names and the values in the first rows.

A guess fills in the form of the page and the command that is suggested; whoever knows the table corrects it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..cells import read_labels
from ..errors import EvenhandError
from .looks import are_counts, is_identifier, model_of_rows, repeated_identifier

__all__ = ["Kind", "guessed_positive", "guessed_roles", "kind_of", "two_valued"]

_EXAMPLES, _MOST_LABELS, _MOST_GROUPS = 6, 12, 30
# What is looked at of a value, which may have gigabytes.
_LOOKED_AT = 1_000
# In the order of preference; a name is split into words at punctuation and changes of case.
_WORDS = {
    "y_true": (
        *("y true", "label", "labels", "target", "actual", "outcome", "truth", "ground truth", "y", "two year recid"),
        *("recid", "reoffended", "true", "default", "defaulted", "repaid", "fraud", "churn", "diagnosis", "ill"),
    ),
    "y_pred": (
        *("y pred", "y hat", "yhat", "prediction", "predicted", "pred", "decision", "predictions", "approved"),
        *("hired", "score text", "high risk", "flagged", "selected", "accepted", "admitted", "output"),
    ),
    "y_score": ("y score", "score", "probability", "proba", "prob", "risk score", "p hat", "risk"),
    "groups": (
        *("race", "sex", "gender", "ethnicity", "ethnic", "age group", "age cat", "group", "sensitive", "religion"),
        *("nationality", "disability", "region", "sex label", "rac1p", "age", "female", "male", "minority"),
        *("disabled", "marital status", "married"),
    ),
}
_COUNTS = ("n", "count", "counts", "cases", "freq", "frequency", "n cases", "num cases", "number of cases")
_MOST_GROUP_COLUMNS = 2
# Words for decisions against a person, or for little of something; the others of such a column are positive.
_NEGATIVE = frozenset(
    {"low", "no", "none", "false", "negative", "declined", "denied", "rejected", "refused", "fail", "failed", "bad"}
)


class Kind(NamedTuple):
    """What a sample of a column contains: numbers, text or nothing, how many distinct values, and the most frequent.

    ``unit`` is whether all are numbers from 0 to 1, and not only these two.
    """

    kind: str
    distinct: int
    unit: bool
    examples: list[Any]


def kind_of(values: Sequence[Any]) -> Kind:
    """What a sample of a column contains; None stands for a missing value.

    >>> kind_of(["0.5", "0.25", None, "0.25"])
    Kind(kind='numbers', distinct=2, unit=True, examples=['0.25', '0.5'])
    """
    present = Counter(_short(v) for v in values if v is not None)
    numbers = [_number(v) for v in present]
    numeric = bool(present) and None not in numbers
    unit = numeric and all(0 <= v <= 1 for v in numbers if v is not None) and bool(set(numbers) - {0.0, 1.0})
    most = [value for value, _ in present.most_common(_EXAMPLES)]
    return Kind("numbers" if numeric else "text" if present else "empty", len(present), unit, most)


def _short(value: Any) -> Any:
    value = str(value) if isinstance(value, (list, dict)) else value
    return value[:_LOOKED_AT] if isinstance(value, (str, bytes)) else value


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def guessed_roles(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Guess the columns of labels, predictions, scores and groups, by the name of the argument, from their first rows.

    Where no name suggests labels or predictions, the only other column of two values is taken for them. ``unit`` is a
    column that identifies people or things, each in one group, and repeats, ``model_column`` one that tells the
    decisions of several models on the same cases apart, and ``count`` one that says how many cases a row stands for.

    >>> guessed_roles({"race": ["A", "B"] * 9, "y": ["0", "1"] * 9, "risk_score": ["0.2", "0.9"] * 9})
    {'y_true': 'y', 'y_pred': None, 'y_score': 'risk_score', 'groups': ['race'], 'unit': None, 'model_column': None,
     'count': None}
    """
    kinds = {name: kind_of(values) for name, values in columns.items()}
    few = [name for name, kind in kinds.items() if 0 < kind.distinct <= _MOST_LABELS]
    many = [n for n, k in kinds.items() if k.kind == "numbers" and (k.distinct > 2 or k.unit)]
    found: dict[str, Any] = {}
    for role, among in (("y_true", few), ("y_pred", few), ("y_score", many)):
        ranked = _ranked(role, [name for name in among if name not in found.values()])
        found[role] = ranked[0] if ranked else None
    if found["y_pred"] is None and found["y_score"] is None:
        found["y_score"] = _only([name for name, kind in kinds.items() if kind.unit and name != found["y_true"]])
    for role, known in (("y_pred", ("y_pred", "y_score")), ("y_true", ("y_true",))):
        if all(found[one] is None for one in known):
            found[role] = _only(two_valued(columns, found.values()))
    grouping = [n for n, k in kinds.items() if 1 < k.distinct <= _MOST_GROUPS and n not in found.values()]
    found["groups"] = _ranked("groups", grouping)[:_MOST_GROUP_COLUMNS]
    used = {found["y_true"], found["y_pred"], found["y_score"], *found["groups"]} - {None}
    found["unit"] = _unit(columns, used, found["groups"])
    stacked = model_of_rows(columns, {str(found["y_pred"]), str(found["y_score"])}, used, found["unit"])
    found["model_column"] = None if stacked is None else stacked.column
    found["count"] = _counting(columns, used | {found["unit"]}, [found["y_true"], found["y_pred"], *found["groups"]])
    return found


def two_valued(columns: Mapping[str, list[Any]], used: Collection[Any] = ()) -> list[str]:
    """The other columns whose two values say which is positive, such as yes and no, and that name no groups.

    >>> two_valued({"sex": ["0", "1"], "ill": ["yes", "no"], "site": ["north", "south"]})
    ['ill']
    """
    return [
        name
        for name, values in columns.items()
        if name not in used and not _ranked("groups", [name]) and _is_two_valued(kind_of(values))
    ]


def _is_two_valued(kind: Kind) -> bool:
    try:
        return kind.distinct == 2 and bool(read_labels({"y_true": kind.examples}).positive)
    except EvenhandError:
        return False


def guessed_positive(values: Collection[Any]) -> list[Any]:
    """All values but one that is a word for a negative decision, if there is one such value.

    >>> guessed_positive(["Low", "Medium", "High"]), guessed_positive(["cat", "dog"])
    (['High', 'Medium'], [])
    """
    known = sorted((value for value in values if str(value).strip()), key=str)
    negative = [value for value in known if str(value).strip().casefold() in _NEGATIVE]
    return [value for value in known if value not in negative] if len(negative) == 1 and len(known) > 1 else []


def _unit(columns: Mapping[str, list[Any]], used: Collection[str], groups: Sequence[str]) -> str | None:
    """An identifier that repeats, if everyone whom it identifies is in one group."""
    repeated = repeated_identifier(columns, used)
    if repeated is None:
        return None
    whose = [tuple(map(str, row)) for row in zip(*(columns[name] for name in (repeated.column, *groups)), strict=True)]
    return repeated.column if len(set(whose)) == len({unit for unit, *_ in whose}) else None


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _counting(columns: Mapping[str, list[Any]], used: Collection[Any], combined: Sequence[str | None]) -> str | None:
    """A column of whole numbers that is called a count, or beside which every combination of the others occurs once."""
    counts = [name for name, values in columns.items() if name not in used and are_counts(values)]
    called = [name for name in counts if _words_of(name) in _COUNTS]
    others = [columns[name] for name in combined if name is not None]
    rows = len(next(iter(columns.values()), []))
    # One column of few values says nothing.
    once = len(others) > 1 and rows > 1 and len(set(zip(*(map(str, one) for one in others), strict=True))) == rows
    unnamed = [name for name in counts if not is_identifier(name)] if once else []
    return next(iter([*called, *unnamed]), None)


def _ranked(role: str, names: Sequence[str]) -> list[str]:
    """The names that suggest a role, the clearest first: as a whole, at the end, or anywhere."""
    ranks: dict[str, tuple[int, int]] = {}
    for name in names:
        spelled = _words_of(name)
        for place, word in enumerate(_WORDS[role]):
            here = 0 if spelled == word else 1 if f" {spelled}".endswith(f" {word}") else 2
            if here < 2 or f" {word} " in f" {spelled} ":
                ranks[name] = min(ranks.get(name, (9, 9)), (here, place))
    return sorted(ranks, key=lambda name: ranks[name])


def _words_of(name: str) -> str:
    return " ".join(part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", name))
