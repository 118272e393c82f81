"""What the first rows of a table look like: counts of cases, several models' decisions, or the same people again.

Counts and tests take every row for one independent case. Where a table seems to say otherwise, it is asked about before
anything is computed. Only names of columns and the first rows are looked at, never the data a second time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, brief
from .files import first_rows
from .frames import plain
from .tables import Table
from .values import is_foreign

__all__ = [
    "Repeated",
    "Stacked",
    "are_counts",
    "check_is_not_counted",
    "check_is_not_stacked",
    "first_columns",
    "is_identifier",
    "model_of_rows",
    "repeated_identifier",
]

_MOST_ROWS, _MOST_VALUES = 10_000, 100_000
# To look at the first rows may compute all of them there.
_COSTLY = ("dask", "pyspark", "pyspark_connect")
_MOST_MODELS, _FEWEST_CASES = 20, 10
# Fewer consecutive numbers may be counts by chance.
_FEWEST_NUMBERED = 4
_IDENTIFIER = re.compile(
    r"(?:^|[_\W])(?:id|ids|uid|uuid|guid|key|ssn|mrn|patient|person|subject|participant|applicant|customer|client|user"
    r"|student|defendant|borrower|individual|respondent)(?:[_\W]?(?:id|no|nr|number|key|code))?$",
    re.IGNORECASE,
)
_ID_AT_THE_END = re.compile(r"[a-z]I[dD]$")
_MODEL = re.compile(r"model|algorithm|classifier|version|vendor|system|variant", re.IGNORECASE)


class Repeated(NamedTuple):
    """A column that looks like an identifier and repeats: its name, and how many rows and values were looked at."""

    column: str
    rows: int
    values: int


class Stacked(NamedTuple):
    """A column that tells the decisions of several models on the same cases apart, and how many were seen.

    One model was seen if its decisions are more than the rows that are looked at, and the column is called a model.
    """

    column: str
    models: int


def first_columns(data: Any) -> dict[str, list[Any]]:
    """The first rows of a table by column; nothing if it has no names, or is costly to look at.

    >>> first_columns({"race": ["A", "B"], "n": [2, 3]})
    {'race': ['A', 'B'], 'n': [2, 3]}
    """
    if data is None:
        return {}
    if isinstance(data, (str, PathLike, list, tuple)):
        names, rows = first_rows(data, _MOST_ROWS)
        some = rows[: _rows(len(names))]
        return {name: list(values) for name, values in zip(names, zip(*some, strict=True), strict=True)} if some else {}
    if isinstance(data, Mapping) and not is_foreign(data):
        most = _rows(len(data))
        return {str(name): [plain(value) for value in _first(column, most)] for name, column in data.items()}
    table = Table(data)
    names = list(dict.fromkeys(table.names))
    if table.engine in _COSTLY or len(set(map(str, names))) < len(names):
        return {}
    try:
        held, called = table.select(names)
    except InvalidInput:  # Columns of the same name differ.
        return {}
    head = held.head(_rows(len(called))).collect()
    columns = (head.get_column(name).to_list() for name in called)
    return {str(name): list(map(plain, values)) for name, values in zip(names, columns, strict=True)}


def _rows(columns: int) -> int:
    """How many rows are looked at: fewer of a wide table."""
    return min(_MOST_ROWS, _MOST_VALUES // max(columns, 1) + 1)


def _first(column: Any, most: int) -> Iterable[Any]:
    values = column[:most] if hasattr(type(column), "__getitem__") else ()
    return values.tolist() if hasattr(values, "tolist") else list(values)


def check_is_not_counted(columns: Mapping[str, list[Any]], once: bool, used: Collection[str], weights: Any) -> None:
    """Refuse a table whose rows seem to stand for several cases each.

    ``once`` is whether every combination of label, prediction and groups occurs once; ``used`` are the columns that
    have another meaning. Whole numbers that were passed as weights are asked about, too.
    """
    if not once:
        return
    counting = next((name for name, values in columns.items() if name not in used and are_counts(values)), None)
    if isinstance(weights, str) and are_counts(columns.get(weights, ())):
        counting = weights
    if counting is not None:
        name = brief(counting)
        raise InvalidInput(
            f"every combination of groups, label and prediction occurs once, and {name} contains whole numbers: if it "
            f"says how many cases a row stands for, pass `count={name}`; if every row is one case, pass `count=1`"
        )


def are_counts(values: Collection[Any]) -> bool:
    """Whether all values are whole numbers, and neither only 0 and 1 nor the numbers of rows.

    >>> are_counts([12, 7, 12]), are_counts([0, 1, 1]), are_counts([1, 2, 3, 4, 5])
    (True, False, False)
    """
    numbers = [_whole(value) for value in values]
    whole = [number for number in numbers if number is not None]
    if not whole or len(whole) < len(numbers) or max(whole) <= 1:
        return False
    steps = {after - before for before, after in pairwise(whole)}
    return len(whole) <= _FEWEST_NUMBERED or len(steps) > 1 or not steps <= {1, -1}


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"\s*[0-9]{1,18}\s*", value) else None
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and value == int(value)
    return int(value) if whole else None


def check_is_not_stacked(columns: Mapping[str, list[Any]], decisions: Collection[str], used: Collection[str]) -> None:
    """Refuse a table in which several models' decisions on the same cases stand below each other."""
    found = model_of_rows(columns, decisions, used)
    if found is not None and found.models > 1:
        raise InvalidInput(
            f"the rows are equal in everything but the predictions and {brief(found.column)}, as if {found.models} "
            "models had decided on the same cases, which are then not independent; compare the models with "
            "`compare_models` and `model_column=`, or audit the rows of one of them"
        )


def model_of_rows(
    columns: Mapping[str, list[Any]], decisions: Collection[str], used: Collection[str], unit: str | None = None
) -> Stacked | None:
    """The column that names the model, if the decisions of several on the same cases stand below each other.

    The rows of a case are equal in everything but the decisions and that column or, if there is a column of units, in
    what that says. One of the columns must be called like a model, or like what identifies a case, so that a table that
    was laid out by design is none.
    """
    identified = any(map(is_identifier, columns))
    rows = len(next(iter(columns.values()), []))
    hashes = {name: _hashed(values, i) for i, (name, values) in enumerate(columns.items()) if name not in decisions}
    everything = sum(hashes.values(), np.zeros(rows, dtype=np.uint64))
    for model, own in hashes.items():
        models = len(np.unique(own))
        if models == 1 and rows >= _rows(len(columns)) and _MODEL.fullmatch(model) and model not in used:
            # One of several models may have more rows than were looked at.
            return Stacked(model, 1)
        if model in used or model == unit or not 2 <= models <= _MOST_MODELS or rows < _FEWEST_CASES * models:
            continue
        if (unit is not None or not identified) and not _MODEL.search(model):
            continue
        # Sums of hashes wrap around, so that a column can be taken out again.
        case = everything - own if unit is None else hashes[unit]
        _, decisions_on = np.unique(case, return_counts=True)
        # The last case that was looked at may have been cut off.
        whole = np.count_nonzero(decisions_on == models)
        # Of models below each other, the last one that was looked at may have been cut off, too.
        nearly = whole if rows < _rows(len(columns)) else np.count_nonzero(decisions_on >= models - 1)
        enough = whole >= max(_FEWEST_CASES, len(decisions_on) // 10) and nearly >= len(decisions_on) - 1
        if enough and len(np.unique(case + own)) == rows:
            return Stacked(model, models)
    return None


def _hashed(values: Iterable[Any], column: int) -> NDArray[np.uint64]:
    texts = list(map(str, values))
    hashes = {text: hash((column, text)) for text in set(texts)}
    return np.array([hashes[text] for text in texts], dtype=np.int64).view(np.uint64)


def is_identifier(name: str) -> bool:
    """Whether a column is called like one that identifies people or things."""
    return bool(_IDENTIFIER.search(name) or _ID_AT_THE_END.search(name))


def repeated_identifier(columns: Mapping[str, list[Any]], used: Collection[str]) -> Repeated | None:
    """A column that looks like an identifier by its name and whose values repeat."""
    for name, values in columns.items():
        if name in used or not is_identifier(name):
            continue
        known = [str(value) for value in values if value is not None]
        if known and 1 < len(set(known)) < len(known):
            return Repeated(name, len(known), len(set(known)))
    return None
