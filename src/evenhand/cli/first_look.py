"""What a command prints of a FILE if no column is named: the columns, what they seem to be, and a command."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..auditing import AuditRequest, ModelsRequest, command_of, options_of
from ..cells import CELLS, read_labels
from ..errors import EvenhandError, printable
from ..tabulate import (
    columns_again,
    first_columns,
    guessed_positive,
    guessed_roles,
    kind_of,
    repeated_identifier,
    two_valued,
)
from ..text_layout import text_table, tied, wrapped
from ..wording import join_and, legible, percent, several

__all__ = ["NAMED", "NAMED_MODELS", "first_look"]

NAMED = ("y_true", "y_pred", "y_score", "groups")
"""The settings that name columns to audit; without any of them, a file is looked at."""
NAMED_MODELS = (*NAMED, "models", "model_column", "unit")
"""The same for columns to compare."""

_MOST_COLUMNS, _MOST_VALUES, _LONGEST = 200, 4, 24
_FEW_CLASSES = 12
_YOURS = (
    "Only you know which decision is good for a person: add --favourable positive or --favourable negative. Sentences "
    "use your words with --cases, --outcome and --decision."
)
_PLACEHOLDERS = ("COLUMN", "VALUE", "NUMBER")


class Suggestion(NamedTuple):
    """A command with its arguments, and sentences on what is left to choose."""

    command: str
    call: dict[str, Any]
    choices: list[str]


def first_look(data: str | list[str], words: Sequence[str], width: int = 80, compares: bool = False) -> str:
    """The columns of a file with their most frequent values, guesses, and a command; ``words`` name the file in it.

    The command is ``compare`` if that is asked for, or if a column seems to name models.
    """
    columns = first_columns(data)
    if set(CELLS) <= {name.strip().lower() for name in columns}:
        said = f"{printable(' '.join(words))} looks like a table of counts: it has the columns tp, fn, fp and tn. Type:"
        return "\n".join([*wrapped(said, width), "", f"  evenhand audit --counts {printable(shlex.join(words))}"])
    roles = guessed_roles(columns)
    of_models = compares or roles["model_column"] is not None
    found = _suggested_comparison(columns, roles) if of_models else _suggestion(columns, roles)
    request = ModelsRequest if found.command == "compare" else AuditRequest
    options = options_of(request)
    command = command_of(words, found.call, options, found.command)
    guesses = {column: options[role] for role, given in found.call.items() for column in _columns(role, given)}
    rows = len(next(iter(columns.values()), []))
    name = printable(" ".join(Path(word).name or word for word in words))
    again = columns_again(data)
    has = several(len({*columns, *again}), "column") + _same_names(columns, again)
    lines = [*wrapped(f"{name} has {has}. In its first {several(rows, 'row')}:", width), ""]
    table = _table(columns, guesses)
    lines.append(text_table(("column", "guess", "most frequent values"), table, width=width, after=""))
    if len(columns) > _MOST_COLUMNS:
        lines.append(f"and {several(len(columns) - _MOST_COLUMNS, 'more column')}")
    lines += ["", _typed(found.call), "", f"  {printable(command)}"]
    for sentence in (*found.choices, _YOURS):
        first, *rest = wrapped(printable(sentence), width - 2)
        lines += ["", f"- {first}", *(f"  {line}" for line in rest)]
    return "\n".join(lines)


def _same_names(columns: Collection[str], again: Mapping[str, str]) -> str:
    """The names that several columns have, and whether these are equal in the first rows."""
    said = []
    for first in dict.fromkeys(again.values()):
        others = [name for name, known in again.items() if known == first]
        times = "twice" if len(others) == 1 else f"{len(others) + 1} times"
        differ = [_short(name) for name in others if name in columns]
        verb = "differs" if len(differ) == 1 else "differ"
        are = f"; {join_and(differ)} {verb} from the first" if differ else ", equal"
        said.append(f"{_short(first)} {times}{are}")
    return f" ({'; '.join(said)})" if said else ""


def _typed(call: Mapping[str, Any]) -> str:
    """What to do with the command: words in capitals are to be replaced."""
    nested = (list(value.values()) if isinstance(value, dict) else value for value in call.values())
    given = [one for value in nested for one in (value if isinstance(value, list) else [value])]
    left = [word for word in _PLACEHOLDERS if word in given]
    return f"If the guesses are right, {f'fill in {join_and(left)}, and ' if left else ''}type:"


def _columns(role: str, given: Any) -> list[str]:
    """The columns that a setting names."""
    if role in ("y_true", "y_pred", "y_score", "unit", "model_column", "count"):
        return [given]
    return list(given) if role == "groups" else []


def _table(columns: Mapping[str, list[Any]], guesses: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, values in list(columns.items())[:_MOST_COLUMNS]:
        kind = kind_of(values)
        shown = [_short(value) for value in kind.examples[:_MOST_VALUES]]
        more = f" and {kind.distinct - len(shown):,} more" if kind.distinct > len(shown) else ""
        missing = sum(value is None for value in values)
        lacks = tied(f" ({percent(round(missing / len(values), 2))} missing)") if missing and shown else ""
        said = ", ".join(map(tied, shown)) + tied(more) if shown else "(none)"
        yield _short(name), guesses.get(name, ""), said + lacks


def _short(value: Any) -> str:
    text = legible(str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _suggestion(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> Suggestion:
    """The command for what the columns seem to be; words in capitals stand for what nobody can guess."""
    call: dict[str, Any] = {"y_true": roles["y_true"]} if roles["y_true"] is not None else {}
    choices = [] if call else [_no_labels(columns, roles)]
    scored = roles["y_pred"] is None and roles["y_score"] is not None
    if scored:
        unit = kind_of(columns[roles["y_score"]]).unit
        call |= {"y_score": roles["y_score"], "threshold": 0.5 if unit else "NUMBER"}
        choices.append("Scores at or above --threshold count as positive; choose the one that decisions are made by.")
    else:
        call["y_pred"] = roles["y_pred"] or "COLUMN"
        choices += [] if roles["y_pred"] else [_no_predictions(columns, roles)]
    if not scored:
        positive, said = _positive(columns, call.get("y_true"), roles["y_pred"])
        call |= positive
        choices += said
    call["groups"] = roles["groups"] or ["COLUMN"]
    choices += [] if roles["groups"] else [_no_groups(columns, roles)]
    if roles["unit"] is not None:
        call["unit"] = roles["unit"]
        choices.append(
            f"{roles['unit']} repeats, so that rows are not independent; --unit takes that into account. Leave it out "
            "if every row is an independent case."
        )
    elif (repeated := repeated_identifier(columns, _used(roles))) is not None:
        choices.append(
            f"{repeated.column} repeats, so that rows may not be independent, but some of its values are in several "
            "groups. If one case has several rows, correct its group, or join spellings with --merge-variants, and add "
            f"--unit {repeated.column}."
        )
    if roles["count"] is not None:
        call["count"] = roles["count"]
        choices.append(f"{roles['count']} seems to say how many cases a row stands for; --count 1 if each is one.")
    return Suggestion("audit", call, choices)


def _suggested_comparison(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> Suggestion:
    """The command that compares models: named by a column, or each with a column of its own."""
    call: dict[str, Any] = {"y_true": roles["y_true"] or "COLUMN"}
    groups = {"groups": roles["groups"] or ["COLUMN"]}
    choices = [] if roles["groups"] else [_no_groups(columns, roles)]
    if roles["model_column"] is None:
        said = (
            "Repeat --model for each model, with a name of your choice and the column of its predictions. All others "
            "are compared with the first, unless --baseline names another."
        )
        return Suggestion("compare", call | {"models": {"OLD": "COLUMN", "NEW": "COLUMN"}} | groups, [*choices, said])
    call |= {"y_pred": roles["y_pred"] or "COLUMN", "model_column": roles["model_column"]}
    said = (
        f"{roles['model_column']} seems to tell the decisions of several models on the same cases apart. --unit is the "
        "column that says which rows are about the same case. All others are compared with the first model by name, "
        "unless --baseline names another."
    )
    return Suggestion("compare", call | groups | {"unit": roles["unit"] or "COLUMN"}, [*choices, said])


def _used(roles: Mapping[str, Any]) -> set[str]:
    """The columns that seem to be something."""
    return {one for given in roles.values() for one in (given if isinstance(given, list) else [given]) if one}


def _no_labels(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> str:
    example = _example("--label", two_valued(columns, _used(roles)))
    return f"No column has a name that suggests labels; name them with --label{example}, or audit selection rates only."


def _no_predictions(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> str:
    example = _example("--prediction", two_valued(columns, _used(roles)))
    return f"No column has a name that suggests predictions; name them in place of COLUMN{example}."


def _no_groups(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> str:
    others = {name: kind_of(values).distinct for name, values in columns.items() if name not in _used(roles)}
    few = [name for name, distinct in others.items() if 1 < distinct <= _FEW_CLASSES]
    return (
        f"No column has a name that suggests groups of people; name one or more with --group{_example('--group', few)}."
    )


def _example(option: str, names: Sequence[str]) -> str:
    return f", such as {option} {_short(names[0])}" if names else ""


def _positive(
    columns: Mapping[str, list[Any]], label: str | None, prediction: str | None
) -> tuple[dict[str, Any], list[str]]:
    """The settings that say what is positive, and how to choose, where it cannot be inferred from the first rows."""
    named = {"y_true": label, "y_pred": prediction}
    values = {role: _present(columns[name]) for role, name in named.items() if name is not None}
    if not values or _is_clear(values):
        return {}, []
    shared = len(values) == 2 and values["y_true"] == values["y_pred"]
    if shared and 2 < len(values["y_true"]) <= _FEW_CLASSES:
        return {"classes": "all"}, ["Each class is audited against the others; --positive chooses one of them."]
    if shared:
        asked = {"positive": values["y_true"]}
    else:
        settings = {"y_true": "positive_label", "y_pred": "positive_prediction"}
        asked = {settings[role]: held for role, held in values.items() if not _is_clear({role: held})}
        # Each is clear by itself, but they do not agree.
        asked = asked or {settings[role]: held for role, held in values.items()}
    options = options_of(AuditRequest)
    call, said = {}, []
    for name, held in asked.items():
        call[name] = guessed_positive(held) or ["VALUE"]
        whose = {"positive_label": label, "positive_prediction": prediction}.get(name) or f"{label} and {prediction}"
        listed = ", ".join(_short(value) for value in sorted(held, key=str)[:_FEW_CLASSES])
        said.append(
            f"Which values of {whose} are positive is yours to say: {listed}. Repeat {options[name]} for each positive "
            "one."
        )
    return call, said


def _present(values: Iterable[Any]) -> set[Any]:
    return {value for value in values if value is not None}


def _is_clear(values: Mapping[str, Collection[Any]]) -> bool:
    """Whether the library would infer what is positive."""
    try:
        read_labels(values)
    except EvenhandError:
        return False
    return True
