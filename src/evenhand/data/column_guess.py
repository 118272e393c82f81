"""What the columns of a table seem to be, from their names and the values in the first rows.

A guess fills in the form of the web app and the command that is suggested; whoever knows the table corrects it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..confusion import MISSING_WORDS, read_labels
from ..errors import EvenhandError
from .input_checks import are_counts, find_model_column, find_repeated_identifier, is_identifier

Columns = Mapping[str, list[Any]]

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
_NEGATIVE = "low, no, none, false, negative, declined, denied, rejected, refused, fail, failed, bad"


class Kind(NamedTuple):
    """What a sample of a column contains: numbers, text or nothing, how many distinct values, and the most frequent.

    ``unit`` is whether all are numbers from 0 to 1, and not only these two.
    """

    kind: str
    distinct: int
    unit: bool
    examples: list[Any]


def kind_of(values: Sequence[object]) -> Kind:
    """What a sample of a column contains; None stands for a missing value.

    >>> kind_of(["0.5", "0.25", None, "0.25"])
    Kind(kind='numbers', distinct=2, unit=True, examples=['0.25', '0.5'])
    """
    sizes = Counter(map(_shorten, values))
    del sizes[None]
    kind, numbers = "text" if sizes else "empty", set[float]()
    with suppress(TypeError, ValueError, OverflowError):
        numbers = set(map(float, sizes))
        kind = "numbers" if numbers else kind
    is_unit = all(0 <= number <= 1 for number in numbers) and not numbers <= {0, 1}
    return Kind(kind, len(sizes), is_unit, [value for value, _ in sizes.most_common(_EXAMPLES)])


def _shorten(value: object) -> Any:
    text = str(value) if isinstance(value, (list, dict)) else value
    return text[:_MAX_LENGTH] if isinstance(text, (str, bytes)) else text


def guess_roles(columns: Columns) -> dict[str, Any]:
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
    units = [name for name, kind in kinds.items() if kind.unit]
    many = [name for name in kinds if kinds[name].kind == "numbers" and kinds[name].distinct > 2]
    roles: dict[str, Any] = {}
    for role, names in (("y_true", few), ("y_pred", few), ("y_score", [*many, *units])):
        free = [name for name in names if name not in roles.values()]
        roles[role] = next(iter(_rank(role, free)), None)
    if not (roles["y_pred"] or roles["y_score"]):
        roles["y_score"] = _only([name for name in units if name != roles["y_true"]])
    decided = roles["y_pred"] or roles["y_score"]
    # Of a single column of two values nobody can say which of them it is.
    if bool(roles["y_true"]) != bool(decided):
        others = {name: values for name, values in columns.items() if name not in roles.values()}
        roles["y_true" if decided else "y_pred"] = _only(_find_two_values(others))
    used = {*roles.values()} - {None}
    varied = [name for name, kind in kinds.items() if 1 < kind.distinct <= _MAX_GROUPS]
    groups = _rank("groups", [n for n in varied if n not in used])[:_MAX_GROUP_COLUMNS]
    used |= {*groups}
    repeated = find_repeated_identifier(columns, used)
    cluster = repeated.column if repeated else None
    if cluster and len(_combine(columns, cluster, *groups)) > len(_combine(columns, cluster)):
        # Its rows are in several groups.
        cluster = None
    stacked = find_model_column(columns, {roles["y_pred"], roles["y_score"]}, used, cluster)
    combined = [name for name in (roles["y_true"], roles["y_pred"], *groups) if name]
    free = [name for name in columns if name not in {*used, cluster}]
    counts = [name for name in free if are_counts(columns[name])]
    # One column of few values says nothing.
    once = len(combined) > 1 and len(_combine(columns, *combined)) == len(columns[combined[0]]) > 1
    unnamed = [name for name in counts if once and not is_identifier(name)]
    return roles | {
        "groups": groups,
        "cluster": cluster,
        "model_column": stacked[0] if stacked else None,
        "count": next(iter([*_rank("count", counts), *unnamed]), None),
    }


def _find_two_values(columns: Columns) -> list[str]:
    """The columns whose two values say which is positive, such as yes and no, and that name no groups.

    >>> _find_two_values({"sex": ["0", "1"], "ill": ["yes", "no"], "site": ["north", "south"]})
    ['ill']
    """
    names = []
    for name, values in columns.items():
        kind = kind_of(values)
        if not _rank("groups", [name]) and kind.distinct == 2:
            with suppress(EvenhandError):
                names += [name] if read_labels({"y_true": kind.examples}).positive else []
    return names


def guess_positive(values: Collection[object]) -> list[Any]:
    """All values but one that is a word for a negative decision, if there is one such value.

    Words for missing values, such as N/A, are neither.

    >>> guess_positive(["Low", "Medium", "High"]), guess_positive(["cat", "dog"]), guess_positive(["no", "yes", "N/A"])
    (['High', 'Medium'], [], ['yes'])
    """
    words = {value: str(value).strip().casefold() for value in sorted(values, key=str)}
    negative = _NEGATIVE.split(", ")
    no_positives = {"", *negative, *MISSING_WORDS}
    others = [value for value, word in words.items() if word not in no_positives]
    return others if sum(word in negative for word in words.values()) == 1 else []


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _combine(columns: Columns, *names: str) -> set[tuple[str, ...]]:
    """The combinations of values that occur in some columns."""
    return set(zip(*(map(str, columns[name]) for name in names), strict=True))


def _rank(role: str, names: Iterable[str]) -> list[str]:
    """The names that suggest a role, the clearest first: as a whole, at the end, or anywhere.

    Only a whole name suggests counts.
    """
    ranks: dict[str, tuple[int, int]] = {}
    for name in names:
        words = " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)).lower()
        for i, known in enumerate(_NAMES[role].split(", ")):
            place = 0 if words == known else 1 if words.endswith(f" {known}") else 2
            if place == 0 or (role != "count" and f" {known} " in f" {words} "):
                ranks[name] = min(ranks.get(name, (place, i)), (place, i))
    return sorted(ranks, key=lambda name: ranks[name])
