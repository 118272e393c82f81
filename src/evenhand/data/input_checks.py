"""Tables whose rows may not be one independent case each: counts of cases, stacked models, repeated identifiers.

Counts and tests take every row for one independent case. Where a table seems to say otherwise, it is asked about before
anything is computed. Only names of columns and the first rows are looked at, and the data a second time only if a
column that is called a model has one value in all of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput, TooLarge, brief
from .columns import count, is_mapping, is_path
from .counted_rows import CountedRows
from .files import first_rows
from .frames import Table, plain

_MAX_ROWS, _MAX_VALUES = 10_000, 100_000
# To look at the first rows may compute all of them there.
_COSTLY = ("dask", "pyspark", "pyspark_connect")
_MAX_MODELS, _MIN_CASES = 20, 10
# Fewer consecutive numbers may be counts by chance.
_MIN_NUMBERED = 4
_IDENTIFIER = re.compile(
    r"(?:^|[_\W])(?:id|ids|uid|uuid|guid|key|ssn|mrn|patient|person|subject|participant|applicant|customer|client|user"
    r"|student|defendant|borrower|individual|respondent)(?:[_\W]?(?:id|no|nr|number|key|code))?$|[a-z]I[dD]$"
)
_MODEL = re.compile(r"model|algorithm|classifier|version|vendor|system|variant", re.IGNORECASE)
_ONLY_MODEL = re.compile(rf"(?:{_MODEL.pattern})(?:[_\W]?(?:name|id|version))?", re.IGNORECASE)


Columns = Mapping[str, list[Any]]
Answers = Mapping[str, object]


class Repeated(NamedTuple):
    """A column that looks like an identifier and repeats: its name, and how many rows and values were looked at."""

    column: str
    rows: int
    values: int


def read_first_columns(data: Any) -> dict[str, list[Any]]:
    """The first rows of a table by column; nothing if it has no names, or is costly to look at.

    >>> read_first_columns({"race": ["A", "B"], "n": [2, 3]})
    {'race': ['A', 'B'], 'n': [2, 3]}
    """
    if data is None:
        return {}
    if is_path(data):
        names, rows = first_rows(data, _MAX_ROWS)
        columns = map(list, zip(*rows[: _row_limit(len(names))], strict=True))
        return dict(zip(names, columns, strict=False))
    if is_mapping(data):
        limit = _row_limit(len(data))
        table = {k: v[:limit] for k, v in data.items() if hasattr(type(v), "__getitem__")}
        return {str(name): list(map(plain, table.get(name, ()))) for name in data}
    frame = Table(data)
    names = list(map(str, frame.names))
    if frame.engine in _COSTLY or len(set(names)) < len(names):
        return {}
    head = frame.select(frame.names).head(_row_limit(len(names))).collect()
    values = ([plain(value) for value in column] for column in head.iter_columns())
    return dict(zip(names, values, strict=True))


def _row_limit(columns: int) -> int:
    """How many rows are looked at: fewer of a wide table."""
    return min(_MAX_ROWS, _MAX_VALUES // max(columns, 1) + 1)


def check_cases(
    data: object, rows: CountedRows, groups: Iterable[object], answers: Answers, asks: bool
) -> Repeated | None:
    """Refuse stacked models and, if it ``asks``, counts; a column that looks like an identifier and repeats."""
    columns = read_first_columns(data)
    used = _names_in([*groups, *answers.values()])
    decisions = _names_in(answers[name] for name in ("y_pred", "y_score", "level"))
    _check_not_stacked(data, columns, decisions, used)
    if asks:
        _check_not_counts(columns, rows, used - _names_in([answers["sample_weight"]]))
    return find_repeated_identifier(columns, used)


def _names_in(columns: Iterable[object]) -> set[str]:
    return {str(column) for column in columns if isinstance(column, (str, int))}


def _check_not_counts(columns: Columns, rows: CountedRows, used: set[str]) -> None:
    """Refuse a table whose rows seem to stand for several cases each.

    Every combination of label, prediction and groups occurs once, beside whole numbers that have no other meaning, or
    were passed as weights.
    """
    names = [name for name in rows.answers if name not in ("sample_weight", "cluster")]
    combinations = set(zip(rows.keys, *map(rows.answer, names), strict=True))
    counting = [brief(name) for name in columns if name not in used and are_counts(columns[name])]
    if counting and len(combinations) == sum(rows.rows.values()) > 1:
        raise InvalidInput(
            f"every combination of groups, label and prediction occurs once, and {counting[0]} "
            "contains whole numbers: if it says how many cases a row stands for, pass "
            f"`count={counting[0]}`; if every row is one case, pass `count=1`"
        )


def are_counts(values: Collection[Any]) -> bool:
    """Whether all values are whole numbers, and neither only 0 and 1 nor the numbers of rows.

    >>> are_counts([12, 7, 12]), are_counts([0, 1, 1]), are_counts([1, 2, 3, 4, 5])
    (True, False, False)
    """
    try:
        numbers = np.array([float(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        return False
    are_whole = (numbers >= 0) & (numbers < 1e18) & (numbers == np.floor(numbers))
    if not are_whole.all() or not (numbers > 1).any():
        return False
    return len(numbers) <= _MIN_NUMBERED or set(np.diff(numbers)) not in ({1}, {-1})


def _check_not_stacked(data: object, columns: Columns, decisions: set[str], used: set[str]) -> None:
    """Refuse a table in which several models' decisions on the same cases stand below each other."""
    stacked = find_model_column(columns, decisions, used)
    if stacked is None:
        return
    name, models = stacked
    rows_are = "are equal in everything but the predictions and"
    if models == 1:
        models = _count_models(data, [name, *(c for c in columns if c in used - decisions)])
        rows_are = "have the same labels and groups for each"
    if models > 1:
        raise InvalidInput(
            f"the rows {rows_are} {brief(name)}, as if {models} models had decided on the same "
            "cases, which are then not independent; compare the models with `compare` and "
            "`model_column=`, or audit the rows of one of them"
        )


def _count_models(data: object, columns: list[str]) -> int:
    """How many models the first column names, if each has the same values of the others, equally often; else 1."""
    try:
        rows = count(data, [(name, name) for name in columns], {}).rows
    except (InvalidInput, TooLarge):
        return 1
    cases: dict[Any, dict[Any, int]] = {}
    for (model, *values), n in rows.items():
        cases.setdefault(model, {})[tuple(values)] = n
    first, *others = cases.values()
    return len(cases) if len(cases) <= _MAX_MODELS and others.count(first) == len(others) else 1


def find_model_column(
    columns: Columns, decisions: Collection[str], used: Collection[str], cluster: str | None = None
) -> tuple[str, int] | None:
    """The column that names the model, if decisions of several on the same cases stand below each other, and how many.

    One is seen if its decisions are more than the rows that are looked at, and the column is called a model.

    The rows of a case are equal in everything but the decisions and that column or, if there is one of clusters, in
    what that says. One of the columns must be called like a model, or like what identifies a case, so that a table that
    was laid out by design is none.
    """
    rows = len(next(iter(columns.values()), []))
    is_cut_off = rows >= _row_limit(len(columns))
    needs_name = cluster is not None or not any(map(is_identifier, columns))
    texts = {name: list(map(str, columns[name])) for name in columns if name not in decisions}
    for name in [name for name in texts if name not in {*used, cluster}]:
        models = len(set(texts[name]))
        if models == 1 and is_cut_off and _ONLY_MODEL.fullmatch(name):
            # One of several models may have more rows than were looked at.
            return name, 1
        is_model = _MODEL.search(name) or not needs_name
        if not is_model or not 2 <= models <= _MAX_MODELS or rows < _MIN_CASES * models:
            continue
        others = [values for other, values in texts.items() if other != name]
        cases = list(zip(*others, strict=True)) if cluster is None else texts[cluster]
        decided = list(Counter(cases).values())
        # The last case that was looked at may have been cut off, and the last of models below each other, too.
        incomplete = sum(n < models - is_cut_off for n in decided)
        is_decided_once = len(set(zip(cases, texts[name], strict=False))) == rows
        enough = max(_MIN_CASES, len(decided) // 10)
        if is_decided_once and incomplete <= 1 and decided.count(models) >= enough:
            return name, models
    return None


def is_identifier(name: str) -> bool:
    """Whether a column is called like one that identifies people or things."""
    return bool(_IDENTIFIER.search(name) or _IDENTIFIER.search(name.lower()))


def find_repeated_identifier(columns: Columns, used: Collection[str]) -> Repeated | None:
    """A column that looks like an identifier by its name and whose values repeat."""
    for name in filter(is_identifier, columns):
        present = [str(value) for value in columns[name] if value is not None]
        if name not in used and 1 < len(set(present)) < len(present):
            return Repeated(name, len(present), len(set(present)))
    return None
