"""What the columns of a file seem to be, from their names and a sample of their values.

A guess only fills in a form; whoever knows the file corrects it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Kind", "guessed_roles", "kind_of"]

_EXAMPLES, _MOST_LABELS, _MOST_GROUPS = 6, 12, 30
# In the order of preference; a name is split into words at punctuation and changes of case.
_WORDS = {
    "y_true": (
        *("y true", "label", "labels", "target", "actual", "outcome", "truth", "ground truth", "y", "two year recid"),
        *("recid", "true"),
    ),
    "y_pred": (
        *("y pred", "y hat", "yhat", "prediction", "predicted", "pred", "decision", "predictions", "approved"),
        *("hired", "score text", "output"),
    ),
    "y_score": ("y score", "score", "probability", "proba", "prob", "risk score", "p hat", "risk"),
    "groups": (
        *("race", "sex", "gender", "ethnicity", "ethnic", "age group", "age cat", "group", "sensitive", "religion"),
        *("nationality", "disability", "region", "sex label", "rac1p"),
    ),
}
_MOST_GROUP_COLUMNS = 2


class Kind(NamedTuple):
    """What a sample of a column contains: numbers, text or nothing, how many distinct values, and some of them.

    ``unit`` is whether all are numbers from 0 to 1, and not only these two.
    """

    kind: str
    distinct: int
    unit: bool
    examples: list[Any]


def kind_of(values: Sequence[Any]) -> Kind:
    """What a sample of a column contains; None stands for a missing value.

    >>> kind_of(["0.5", "0.25", None])
    Kind(kind='numbers', distinct=2, unit=True, examples=['0.5', '0.25'])
    """
    present = list(dict.fromkeys(str(v) if isinstance(v, (list, dict)) else v for v in values if v is not None))
    numbers = [_number(v) for v in present]
    numeric = bool(present) and None not in numbers
    unit = numeric and all(0 <= v <= 1 for v in numbers if v is not None) and bool(set(numbers) - {0.0, 1.0})
    return Kind("numbers" if numeric else "text" if present else "empty", len(present), unit, present[:_EXAMPLES])


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def guessed_roles(columns: Mapping[str, Kind]) -> dict[str, Any]:
    """Guess the column of labels, of predictions and of scores, and the columns of groups, by the name of the argument.

    >>> columns = {"race": kind_of(["A", "B"]), "y": kind_of(["0", "1"]), "risk_score": kind_of(["0.2", "0.9"])}
    >>> guessed_roles(columns)
    {'y_true': 'y', 'y_pred': None, 'y_score': 'risk_score', 'groups': ['race']}
    """
    few = {name: kind for name, kind in columns.items() if 0 < kind.distinct <= _MOST_LABELS}
    many = {n: k for n, k in columns.items() if k.kind == "numbers" and (k.distinct > 2 or k.unit)}
    grouping = {name: kind for name, kind in columns.items() if 1 < kind.distinct <= _MOST_GROUPS}
    found: dict[str, Any] = {}
    for role, among in (("y_true", few), ("y_pred", few), ("y_score", many)):
        taken = set(found.values())
        ranked = _ranked(role, [name for name in among if name not in taken])
        found[role] = ranked[0] if ranked else None
    taken = set(found.values())
    found["groups"] = _ranked("groups", [name for name in grouping if name not in taken])[:_MOST_GROUP_COLUMNS]
    return found


def _ranked(role: str, names: Sequence[str]) -> list[str]:
    """The names that suggest a role, the clearest first: as a whole, at the end, or anywhere."""
    ranks: dict[str, tuple[int, int]] = {}
    for name in names:
        spelled = " ".join(part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", name))
        for place, word in enumerate(_WORDS[role]):
            here = 0 if spelled == word else 1 if f" {spelled}".endswith(f" {word}") else 2
            if here < 2 or f" {word} " in f" {spelled} ":
                ranks[name] = min(ranks.get(name, (9, 9)), (here, place))
    return sorted(ranks, key=lambda name: ranks[name])
