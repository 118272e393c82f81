"""Previews of files: columns, values with their counts, and bins of numbers.

The engine that reads a file counts; nothing else of it is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..confusion import read_labels
from ..data import (
    count,
    count_rows,
    guess_positive,
    guess_roles,
    kind_of,
    read_counts,
    read_first_columns,
    sort_values,
)
from ..errors import EvenhandError, InvalidInput
from ..records import plain_value
from .form import FIELD_NAMES, Asked, read_cuts

Files = str | list[str]
Sizes = Counter[Any]
ROWS, COLUMNS, VALUES, LONGEST = 8, 200, 50, 80


def preview_file(data: Files) -> dict[str, Any]:
    """The columns of a file with their first values, and what each seems to be."""
    columns = read_first_columns(data)
    if not columns:
        name = data if isinstance(data, str) else data[0]
        raise InvalidInput(f"{name} has no rows; there is nothing to audit")
    kinds = {name: kind_of(values) for name, values in columns.items()}
    shown = [values[:ROWS] for values in list(columns.values())[:COLUMNS]]
    return {
        "columns": {name: "probabilities" if k.unit else k.kind for name, k in kinds.items()},
        "rows": [list(map(shorten, row)) for row in zip(*shown, strict=True)],
        "guesses": guess_roles(columns),
    }


def shorten(value: object) -> str:
    """The beginning of a value, which may have gigabytes."""
    part = value[: 4 * LONGEST] if isinstance(value, (str, bytes)) else value
    text = "" if part is None else str(part)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def preview_counts(data: str) -> dict[str, Any]:
    """The group columns of a table of counts with the sizes of their groups."""
    by, matrices, _ = read_counts(data)
    groups = {}
    for i, name in enumerate(by[:COLUMNS]):
        sizes: Sizes = Counter()
        for group, cm in matrices.items():
            sizes[group[i]] += int(cm.n)
        groups[name] = list_values(sizes)
    return {"groups": groups, "cases": int(sum(cm.n for cm in matrices.values()))}


def count_values(data: Files, asked: Asked) -> dict[str, Any]:
    """The values of columns by role, each with how often it occurs.

    Of labels and predictions, also those that the library takes for positive.
    """
    answers: dict[str, Any] = {}
    labels: dict[str, Sizes] = {}
    for role, column in asked["columns"].items():
        try:
            rows = count(data, [(column, column)], {}).rows
        except EvenhandError as error:
            answers[role] = {"error": error.spelled(FIELD_NAMES)}
            continue
        sizes = Counter({value: n for (value,), n in rows.items()})
        answers[role] = list_values(sizes)
        if role in ("y_true", "y_pred"):
            labels[role] = sizes
    for role in labels:
        answers[role] |= find_positive(labels, role)
    return answers


def list_values(sizes: Sizes, order: Sequence[str] = ()) -> dict[str, Any]:
    """The values that occur most often, in their order, and how many there are."""
    most = {value for value, _ in sizes.most_common(VALUES)} - {None}
    values = [{"value": plain_value(v), "n": sizes[v]} for v in sort_values(most, order)]
    distinct = len(sizes) - (None in sizes)
    return {"values": values, "distinct": distinct, "missing": sizes[None]}


def find_positive(labels: Mapping[str, Sizes], role: str) -> dict[str, Any]:
    """Which values of a column are positive, and which are taken for missing ones.

    They are inferred from both columns or from one; otherwise they are a guess, perhaps of none.
    """
    known = [value for value in labels[role] if value is not None]
    for columns in (labels, {role: labels[role]}):
        with suppress(EvenhandError):
            codes = read_labels(columns).codes[role]
            positive = [plain_value(value) for value in known if codes.get(value)]
            lacking = [plain_value(value) for value in known if codes.get(value, 0) is None]
            return {"positive": positive, "lacking": lacking, "is_guess": False}
    return {"positive": plain_value(guess_positive(known)), "lacking": [], "is_guess": True}


def count_bins(data: Files, asked: Asked) -> dict[str, Any]:
    """How many rows each bin of a column has, by its name."""
    column, cuts = asked["column"], read_cuts(asked["cuts"])
    counted = count_rows(data, [column], {}, bins={column: cuts})
    sizes = Counter({name: n for (name,), n in counted.rows.items()})
    return list_values(sizes, counted.orders[column])
