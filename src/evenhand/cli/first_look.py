"""What a command prints of a FILE if no column is named: the columns, what they seem to be, and a command."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..auditing import AuditRequest, ModelsRequest, flat_settings
from ..confusion import CELLS, read_labels
from ..data import (
    find_repeated_identifier,
    guess_positive,
    guess_roles,
    has_two_values,
    kind_of,
    read_first_columns,
)
from ..errors import EvenhandError, printable
from ..text_layout import text_table, tied, wrapped
from ..wording import join_and, legible, percent, several

__all__ = ["NAMED", "NAMED_MODELS", "first_look"]

NAMED = ("y_true", "y_pred", "y_score", "groups")
"""The settings that name columns to audit; without any of them, a file is looked at."""
NAMED_MODELS = (*NAMED, "models", "model_column", "cluster")
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
    columns = read_first_columns(data)
    if set(CELLS) <= {name.strip().lower() for name in columns}:
        said = f"{printable(' '.join(words))} looks like a table of counts: it has the columns tp, fn, fp and tn. Type:"
        return "\n".join([*wrapped(said, width), "", f"  evenhand audit --counts {printable(shlex.join(words))}"])
    roles = guess_roles(columns)
    of_models = compares or roles["model_column"] is not None
    found = _suggested_comparison(columns, roles) if of_models else _suggestion(columns, roles)
    request = ModelsRequest if found.command == "compare" else AuditRequest
    options = {name: str(known.option) for name, (_, known) in flat_settings(request).items()}
    command = _command_line(words, found, options)
    guesses = {column: options[role] for role, given in found.call.items() for column in _columns(role, given)}
    rows = len(next(iter(columns.values()), []))
    name = printable(" ".join(Path(word).name or word for word in words))
    has = several(len(columns), "column")
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


def _command_line(words: Sequence[str], found: Suggestion, options: Mapping[str, str]) -> str:
    """The command that is suggested."""
    line = ["evenhand", found.command, *words]
    for name, value in found.call.items():
        named = [f"{key}={one}" for key, one in value.items()] if isinstance(value, dict) else value
        texts = [str(one) for one in (named if isinstance(named, list) else [named])]
        line += [word for text in texts for word in _typed_option(options[name], text)]
    return shlex.join(line)


def _typed_option(option: str, text: str) -> list[str]:
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def _typed(call: Mapping[str, Any]) -> str:
    """What to do with the command: words in capitals are to be replaced."""
    nested = (list(value.values()) if isinstance(value, dict) else value for value in call.values())
    given = [one for value in nested for one in (value if isinstance(value, list) else [value])]
    left = [word for word in _PLACEHOLDERS if word in given]
    return f"If the guesses are right, {f'fill in {join_and(left)}, and ' if left else ''}type:"


def _columns(role: str, given: Any) -> list[str]:
    """The columns that a setting names."""
    if role in ("y_true", "y_pred", "y_score", "cluster", "model_column", "count"):
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
    if roles["cluster"] is not None:
        call["cluster"] = roles["cluster"]
        choices.append(
            f"{roles['cluster']} repeats, so that rows are not independent; --cluster takes that into account. Leave "
            "it out if every row is an independent case."
        )
    elif (repeated := find_repeated_identifier(columns, _used(roles))) is not None:
        choices.append(
            f"{repeated.column} repeats, so that rows may not be independent, but some of its values are in several "
            "groups. If one case has several rows, correct its group, or join spellings with --merge-variants, and add "
            f"--cluster {repeated.column}."
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
        f"{roles['model_column']} seems to tell the decisions of several models on the same cases apart. --cluster is "
        "the column that says which rows are about the same case. All others are compared with the first model by "
        "name, unless --baseline names another."
    )
    return Suggestion("compare", call | groups | {"cluster": roles["cluster"] or "COLUMN"}, [*choices, said])


def _used(roles: Mapping[str, Any]) -> set[str]:
    """The columns that seem to be something."""
    return {one for given in roles.values() for one in (given if isinstance(given, list) else [given]) if one}


def _no_labels(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> str:
    example = _example("--label", has_two_values(columns, _used(roles)))
    return f"No column has a name that suggests labels; name them with --label{example}, or audit selection rates only."


def _no_predictions(columns: Mapping[str, list[Any]], roles: Mapping[str, Any]) -> str:
    example = _example("--prediction", has_two_values(columns, _used(roles)))
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
    call, said = {}, []
    for name, held in asked.items():
        call[name] = guess_positive(held) or ["VALUE"]
        whose = {"positive_label": label, "positive_prediction": prediction}.get(name) or f"{label} and {prediction}"
        listed = ", ".join(_short(value) for value in sorted(held, key=str)[:_FEW_CLASSES])
        said.append(
            f"Choose the positive values of {whose}: {listed}. Repeat --{name.replace('_', '-')} for each positive one."
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
