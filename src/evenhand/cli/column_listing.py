"""What a command prints of a FILE if no column is named: its columns, and a command to type."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..confusion import CELLS, read_labels
from ..data import guess_positive, guess_roles, kind_of, read_first_columns
from ..errors import EvenhandError, printable
from ..text_layout import text_table, tied, wrapped
from ..wording import join_and, legible, percent, several

_MAX_COLUMNS, _MAX_VALUES, _MAX_NAME, _MAX_CLASSES = 200, 4, 24, 12
_PLACEHOLDERS = ("COLUMN", "VALUE", "NUMBER")
_ROLES = ("y_true", "y_pred", "y_score", "groups", "model_column", "cluster", "count")
_HEADER = ("column", "guess", "most frequent values")
_FAVOURABLE = "Say which outcome is favourable with --favourable positive or negative."

Columns = Mapping[str, list[Any]]
Pairs = list[tuple[str, str]]


def list_columns(
    data: str | list[str], files: Sequence[str], command: str = "audit", width: int = 80
) -> str:
    """The columns of files with their most frequent values and guesses, and a command."""
    columns = read_first_columns(data)
    if set(CELLS) <= {name.strip().lower() for name in columns}:
        typed = _typed("audit", "--counts", *files)
        return f"This is a table of counts, with tp, fn, fp and tn. Type:\n\n{typed}"
    roles = guess_roles(columns)
    command = "compare" if roles["model_column"] else command
    options, hints = _suggest_options(columns, roles, command)
    guesses = {value: name for name, value in options if "positive" not in name}
    rows = several(len(next(iter(columns.values()), [])), "row")
    has = f"{printable(', '.join(files))} has {several(len(columns), 'column')}."
    table = text_table(_HEADER, _list_rows(columns, guesses), width=width, after="")
    lines = [*wrapped(f"{has} In its first {rows}:", width), "", table]
    if len(columns) > _MAX_COLUMNS:
        lines.append(f"and {several(len(columns) - _MAX_COLUMNS, 'more column')}")
    values = {value.rpartition("=")[2] for _, value in options}
    missing = [word for word in _PLACEHOLDERS if word in values]
    fill_in = f"fill in {join_and(missing)}, and " if missing else ""
    words: list[str] = []
    for name, value in options:
        words += [f"{name}={value}"] if value.startswith("-") else [name, value]
    lines += ["", f"If the guesses are right, {fill_in}type:", "", _typed(command, *files, *words)]
    for hint in (*hints, _FAVOURABLE):
        lines += ["", "\n  ".join(wrapped(f"- {printable(hint)}", width - 2))]
    return "\n".join(lines)


def _typed(*words: str) -> str:
    """A command as it is typed."""
    return f"  {printable(shlex.join(['evenhand', *words]))}"


def _list_rows(columns: Columns, guesses: Mapping[str, str]) -> Iterator[Sequence[str]]:
    for name, values in list(columns.items())[:_MAX_COLUMNS]:
        kind = kind_of(values)
        examples = [tied(_shorten(value)) for value in kind.examples[:_MAX_VALUES]]
        text = ", ".join(examples) or "(none)"
        if kind.distinct > len(examples):
            text += tied(f" and {kind.distinct - len(examples):,} more")
        share = round(values.count(None) / max(1, len(values)), 2)
        if share and examples:
            text += tied(f" ({percent(share)} missing)")
        yield _shorten(name), guesses.get(name, ""), text


def _shorten(value: object) -> str:
    text = legible(str(value))
    return text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…"


def _suggest_options(
    columns: Columns, roles: dict[str, Any], command: str
) -> tuple[Pairs, list[str]]:
    """The options for what the columns seem to be, and hints on what is left to choose."""
    label, prediction, score, groups, models, cluster, count = (roles[role] for role in _ROLES)
    more, hints = Pairs(), list[str]()
    if command == "compare":
        label, score, count = label or "COLUMN", None, None
        if models:
            cluster = cluster or "COLUMN"
        else:
            prediction = cluster = None
            more = [("--model", "OLD=COLUMN"), ("--model", "NEW=COLUMN")]
    elif score and not prediction:
        more = [("--threshold", "0.5" if kind_of(columns[score]).unit else "NUMBER")]
    else:
        more, hints = _suggest_positive(columns, label, prediction)
        prediction, score = prediction or "COLUMN", None
    options = [("--label", label), ("--prediction", prediction), ("--score", score)]
    options += [("--model-column", models), *more]
    options += [("--group", name) for name in groups or ["COLUMN"]]
    options += [("--cluster", cluster), ("--count", count)]
    return [(name, value) for name, value in options if value], hints


def _suggest_positive(
    columns: Columns, label: str | None, prediction: str | None
) -> tuple[Pairs, list[str]]:
    """The options that say what is positive, where that cannot be inferred."""
    named = {"y_true": label, "y_pred": prediction}
    values = {role: set(columns[name]) - {None} for role, name in named.items() if name}
    if not values or _is_clear(values):
        return [], []
    options = {"y_true": "--positive-label", "y_pred": "--positive-prediction"}
    # Each column may be clear by itself, but they do not agree.
    unclear = [role for role in values if not _is_clear({role: values[role]})] or list(values)
    if len(values) == 2 and values["y_true"] == values["y_pred"]:
        if 2 < len(values["y_true"]) <= _MAX_CLASSES:
            return [("--class", "all")], []
        unclear, options = ["y_true"], {"y_true": "--positive"}
    chosen: Pairs = []
    hints = []
    for role in unclear:
        positive = guess_positive(values[role]) or ["VALUE"]
        chosen += [(options[role], str(value)) for value in positive]
        listed = ", ".join(map(_shorten, sorted(values[role], key=str)[:_MAX_CLASSES]))
        choose = f"Choose the positive values of {named[role]} ({listed})"
        hints.append(f"{choose} with {options[role]}.")
    return chosen, hints


def _is_clear(values: Mapping[str, set[Any]]) -> bool:
    """Whether the library would infer what is positive."""
    try:
        read_labels(values)
    except EvenhandError:
        return False
    return True
