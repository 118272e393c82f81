"""What the columns of a table seem to be, from their names and the values in the first rows.

A guess fills in the form of the web app and the command that is suggested; whoever knows the table corrects it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..confusion import MISSING_WORDS, read_labels
from ..errors import EvenhandError
from .input_checks import are_counts, find_model_column, find_repeated_identifier, is_identifier

_EXAMPLES, _MAX_LABELS, _MAX_GROUPS, _MAX_GROUP_COLUMNS = 6, 12, 30, 2
# What is looked at of a value, which may have gigabytes.
_MAX_LENGTH = 1_000
# In the order of preference; a name is split into words at punctuation and changes of case.
_NAMES = {
    "y_true": (
        "y true, label, labels, target, actual, outcome, truth, ground truth, y, two year recid, recid, reoffended, "
        "true, default, defaulted, repaid, fraud, churn, diagnosis, ill"
    ),
    "y_pred": (
        "y pred, y hat, yhat, prediction, predicted, pred, decision, predictions, approved, hired, score text, "
        "high risk, flagged, selected, accepted, admitted, output"
    ),
    "y_score": "y score, score, probability, proba, prob, risk score, p hat, risk",
    "groups": (
        "race, sex, gender, ethnicity, ethnic, age group, age cat, group, sensitive, religion, nationality, "
        "disability, region, sex label, rac1p, age, female, male, minority, disabled, marital status, married"
    ),
    "count": "n, count, counts, cases, freq, frequency, n cases, num cases, number of cases",
}
# Words for decisions against a person, or for little of something; the others of such a column are positive.
_NEGATIVE = frozenset(
    {
        "low",
        "no",
        "none",
        "false",
        "negative",
        "declined",
        "denied",
        "rejected",
        "refused",
        "fail",
        "failed",
        "bad",
    }
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
    texts = [str(value) if isinstance(value, (list, dict)) else value for value in values]
    sizes = Counter(
        text[:_MAX_LENGTH] if isinstance(text, (str, bytes)) else text
        for text in texts
        if text is not None
    )
    kind, numbers = "text" if sizes else "empty", set()
    with suppress(TypeError, ValueError, OverflowError):
        numbers = {float(value) for value in sizes}
        kind = "numbers" if numbers else kind
    is_unit = all(0 <= number <= 1 for number in numbers) and bool(numbers - {0.0, 1.0})
    return Kind(kind, len(sizes), is_unit, [value for value, _ in sizes.most_common(_EXAMPLES)])


def guess_roles(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Guess the columns of labels, predictions, scores and groups, by the name of the argument, from their first rows.

    Where only labels or only predictions have a name that suggests them, the only other column of two values is taken
    for the other. ``cluster`` is a column that identifies people or things, each in one group, and repeats,
    ``model_column`` one that tells the decisions of several models on the same cases apart, and ``count`` one that says
    how many cases a row stands for.

    >>> guess_roles({"race": ["A", "B"] * 9, "y": ["0", "1"] * 9, "risk_score": ["0.2", "0.9"] * 9})
    {'y_true': 'y', 'y_pred': None, 'y_score': 'risk_score', 'groups': ['race'], 'cluster': None, 'model_column': None,
     'count': None}
    """
    kinds = {name: kind_of(values) for name, values in columns.items()}
    few = [name for name, kind in kinds.items() if 0 < kind.distinct <= _MAX_LABELS]
    numbers = [name for name, kind in kinds.items() if kind.kind == "numbers"]
    many = [name for name in numbers if kinds[name].distinct > 2 or kinds[name].unit]
    roles: dict[str, Any] = {}
    for role, names in (("y_true", few), ("y_pred", few), ("y_score", many)):
        free = [name for name in names if name not in roles.values()]
        roles[role] = next(iter(_rank(role, free)), None)
    if not (roles["y_pred"] or roles["y_score"]):
        units = [name for name, kind in kinds.items() if kind.unit and name != roles["y_true"]]
        roles["y_score"] = _only(units)
    decided = roles["y_pred"] or roles["y_score"]
    # Of a single column of two values nobody can say which of them it is.
    if bool(roles["y_true"]) != bool(decided):
        roles["y_true" if decided else "y_pred"] = _only(has_two_values(columns, roles.values()))
    used = {*roles.values()} - {None}
    varied = [name for name, kind in kinds.items() if 1 < kind.distinct <= _MAX_GROUPS]
    groups = _rank("groups", [name for name in varied if name not in used])[:_MAX_GROUP_COLUMNS]
    used |= {*groups}
    repeated = find_repeated_identifier(columns, used)
    cluster = repeated.column if repeated else None
    if cluster is not None and not _lie_in_one_group(columns, cluster, groups):
        cluster = None
    decisions = {str(roles["y_pred"]), str(roles["y_score"])}
    stacked = find_model_column(columns, decisions, used, cluster)
    combined = [name for name in (roles["y_true"], roles["y_pred"], *groups) if name]
    free = [name for name in columns if name not in {*used, cluster}]
    return roles | {
        "groups": groups,
        "cluster": cluster,
        "model_column": stacked.column if stacked else None,
        "count": _guess_count(columns, free, combined),
    }


def has_two_values(columns: Mapping[str, list[Any]], used: Collection[Any] = ()) -> list[str]:
    """The other columns whose two values say which is positive, such as yes and no, and that name no groups.

    >>> has_two_values({"sex": ["0", "1"], "ill": ["yes", "no"], "site": ["north", "south"]})
    ['ill']
    """
    names = []
    for name, values in columns.items():
        kind = kind_of(values)
        if name not in used and not _rank("groups", [name]) and kind.distinct == 2:
            with suppress(EvenhandError):
                names += [name] if read_labels({"y_true": kind.examples}).positive else []
    return names


def guess_positive(values: Collection[Any]) -> list[Any]:
    """All values but one that is a word for a negative decision, if there is one such value.

    Words for missing values, such as N/A, are neither.

    >>> guess_positive(["Low", "Medium", "High"]), guess_positive(["cat", "dog"]), guess_positive(["no", "yes", "N/A"])
    (['High', 'Medium'], [], ['yes'])
    """
    words = {value: str(value).strip().casefold() for value in sorted(values, key=str)}
    negative = [word for word in words.values() if word in _NEGATIVE]
    others = [
        value for value, word in words.items() if word not in {"", *_NEGATIVE, *MISSING_WORDS}
    ]
    return others if len(negative) == 1 else []


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _lie_in_one_group(
    columns: Mapping[str, list[Any]], cluster: str, groups: Sequence[str]
) -> bool:
    """Whether all rows of an identifier are in one group."""
    keys = set(zip(*(map(str, columns[name]) for name in (cluster, *groups)), strict=True))
    return len(keys) == len({key[0] for key in keys})


def _guess_count(
    columns: Mapping[str, list[Any]], free: Sequence[str], combined: Sequence[str]
) -> str | None:
    """A column that is called a count, or beside which every combination of the others occurs once."""
    counts = [name for name in free if are_counts(columns[name])]
    named = _rank("count", counts, whole=True)
    rows = len(next(iter(columns.values()), []))
    # One column of few values says nothing.
    keys = set(zip(*(map(str, columns[name]) for name in combined), strict=True))
    if len(combined) > 1 and len(keys) == rows > 1:
        named += [name for name in counts if not is_identifier(name)]
    return next(iter(named), None)


def _rank(role: str, names: Sequence[str], whole: bool = False) -> list[str]:
    """The names that suggest a role, the clearest first: as a whole, at the end, or anywhere."""
    ranks: dict[str, tuple[int, int]] = {}
    for name in names:
        words = " ".join(part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", name))
        for i, known in enumerate(_NAMES[role].split(", ")):
            place = 0 if words == known else 1 if words.endswith(f" {known}") else 2
            if place == 0 or (not whole and f" {known} " in f" {words} "):
                ranks[name] = min(ranks.get(name, (place, i)), (place, i))
    return sorted(ranks, key=lambda name: ranks[name])
