"""Files that are joined by key columns: one per model, or decisions and their labels.

Keys are compared as texts: the number 1 of JSON Lines, which is also 1.0 there, is the text 1 of
CSV; 01 and the text 1.0 are others. All values but scores become texts, as in CSV. Rows without a
match lack the columns of other files, so that the audit leaves them out and counts them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import click

from ..auditing import read_texts
from ..confusion import MISSING_WORDS
from ..data import PUBLIC_FACTS, Key, count, first_rows, spool
from ..errors import InvalidInput, brief, escaped
from ..wording import join_and, several
from .inputs import Files
from .options import Options

_KEY = "Join files, named by other options, by this column; may be repeated."
_JOIN = (
    click.Option(["--key"], multiple=True, metavar="COLUMN", help=_KEY),
    click.Option(
        ["--allow-unmatched"], is_flag=True, help="With --key: leave out rows without a match."
    ),
)
_LABELS = "With --key: the file with the labels of FILE."
_RESULT = "With --key: the column of each --result file."
JOIN_LABELS = (*_JOIN, click.Option(["--labels-from"], metavar="FILE", help=_LABELS))
JOIN_MODELS = (*_JOIN, click.Option(["--result-column"], metavar="COLUMN", help=_RESULT))

# What names one file per model, and its column in each; columns that files share; and numbers.
_ROLES = {"models": "y_pred", "results": "result_column"}
_SHARED = ("y_true", "sample_weight", "count", "cluster")
_NUMBERS = ("y_score", "results")

Name = str | tuple[str, str]
"""A shared column, or what takes a column of one file, and this file."""
Rows = dict[Key, dict[Name, str | None]]


def files_to_join(options: Options) -> tuple[str, dict[str, str]]:
    """What names files, and these by model or as labels; nothing without `key`."""
    role = next((role for role in _ROLES if options.get(role)), "")
    if not options["key"]:
        for name in ("labels_from", "result_column", "allow_unmatched"):
            if options.get(name):
                raise InvalidInput(f"`{name}` needs `key`, the column by which files are joined")
        return "", {}
    if "labels_from" in options:
        if options["labels_from"] and options["y_true"]:
            return "", {"labels": options["labels_from"]}
        must = "pass their file as `labels_from`, and their column as `y_true`"
        raise InvalidInput(f"`key` joins a FILE with labels: {must}")
    if role and options[_ROLES[role]]:
        return role, read_texts(role, options[role])
    must = "pass `models` and `y_pred`, or `results` and `result_column`"
    raise InvalidInput(f"`key` joins one file for each model: {must}")


def join_inputs(data: Files, arguments: Options, options: Options) -> tuple[Any, Options, Options]:
    """The columns that files share, the arguments, and what the provenance says of the files."""
    role, files = files_to_join(options)
    paths: dict[str, Files] = {**files} if role else {"data": data, **files}
    shared = [arguments[name] for name in _SHARED if name in arguments]
    shared += chain(*(arguments.get(name, ()) for name in ("groups", "strata")))
    if role:
        own: dict[Name, str] = {(role, model): options[_ROLES[role]] for model in paths}
    else:
        own = {(x, "data"): arguments[x] for x in ("y_pred", "y_score") if x in arguments}
        own["y_true", "labels"] = shared.pop(0)
    columns = {part: {name: own[name] for name in own if name[1] == part} for part in paths}
    with spool([*paths.values()]) as copies:
        paths = dict(zip(paths, copies, strict=True))
        known = {part: first_rows(path, 1)[0] for part, path in paths.items()}
        for name in shared:
            has = [p for p in paths if name in known[p] and name not in columns[p].values()]
            # A key of JSON Lines may first occur after the first records.
            for part in has or [*paths][:1]:
                columns[part].setdefault(name, name)
        read = {p: _read_rows(p, paths[p], options["key"], columns[p]) for p in paths}
    tables = {part: rows for part, (rows, _) in read.items()}
    _check_matches(tables, options["allow_unmatched"])
    keys = dict.fromkeys(chain(*tables.values()))
    numbers = {*arguments.get("bins", ()), *(name for name in own if name[0] in _NUMBERS)}
    joined: dict[Any, list[Any]] = {}
    for name in chain(*columns.values()):
        values = [_value(tables, key, name) for key in keys]
        joined[name] = list(map(_as_number, values)) if name in numbers else values
    if role:
        arguments = arguments | {role: {model: joined.pop((role, model)) for model in paths}}
        arguments.pop("y_pred", None)
    else:
        arguments = arguments | {name[0]: joined.pop(name) for name in own}
    source = _describe({part: one for part, (_, one) in read.items()}, "protect" in arguments)
    return joined, arguments, source


def _read_rows(
    part: str, path: Files, keys: Sequence[str], columns: Mapping[Name, str]
) -> tuple[Rows, Options]:
    """The values of columns by key, and the source."""
    counted = count(path, [(name, name) for name in (*keys, *columns.values())], {})
    rows: Rows = {}
    wrong: dict[str, list[Key]] = {}
    for row, n in counted.rows.items():
        texts = [None if value is None else str(value) for value in row]
        key = tuple(texts[: len(keys)])
        if None in key:
            wrong.setdefault("must have a value in each row", []).append(key)
        elif n > 1 or key in rows:
            wrong.setdefault("must occur once, or be repeated to name more columns", []).append(key)
        rows[key] = dict(zip(columns, texts[len(keys) :], strict=True))
    for must, found in wrong.items():
        raise InvalidInput(f"`key` {must}; this fails for {_list('key', part, found)}")
    return rows, counted.source


def _list(noun: str, part: str, keys: Collection[Key]) -> str:
    """How many keys there are, with an example."""
    first = brief(", ".join(map(str, min(keys, key=str))), 60)
    return f"{several(len(keys), noun)} of {escaped(part)} (such as {first})"


def _check_matches(tables: Mapping[str, Rows], allows_unmatched: bool) -> None:
    """Refuse rows whose key some file lacks, and files without a key in common."""
    first, *others = map(set, tables.values())
    common = first.intersection(*others)
    unmatched = [(part, rows.keys() - common) for part, rows in tables.items()]
    listed = [_list("row", part, keys) for part, keys in unmatched if keys]
    if listed and not (common and allows_unmatched):
        hint = "; pass `allow_unmatched` to leave them out" if common else ""
        must = "must have the same values in all files"
        raise InvalidInput(f"`key` {must}; {join_and(listed)} have no match{hint}")


def _value(tables: Mapping[str, Rows], key: Key, name: Name) -> str | None:
    """The value of a column; all files that have one must agree."""
    by_part = {part: rows[key].get(name) for part, rows in tables.items() if key in rows}
    given = {part: value for part, value in by_part.items() if value is not None}
    if len({*given.values()}) > 1:
        got = join_and([f"{brief(value, 60)} in {escaped(part)}" for part, value in given.items()])
        must = f"must be the same in all files for the key {brief(', '.join(map(str, key)), 60)}"
        raise InvalidInput(f"{brief(name)} {must}; got {got}")
    return next(iter(given.values()), None)


def _as_number(value: str | None) -> float | str | None:
    """The number that a text spells; other texts are refused where numbers are needed."""
    if value is None or value.strip().casefold() in MISSING_WORDS:
        return None
    with suppress(ValueError):
        return float(value)
    return value


def _describe(sources: Mapping[str, Options], is_protected: bool) -> Options:
    """What the provenance says; of protected data, nothing that depends on single rows."""
    names = list(dict.fromkeys(str(source["name"]) for source in sources.values()))
    name = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
    facts = PUBLIC_FACTS if is_protected else (*PUBLIC_FACTS, "size", "sha256")
    joined = {p: {fact: one[fact] for fact in facts if fact in one} for p, one in sources.items()}
    source = {"kind": "joined files", "name": name, "joined": joined}
    digest = hashlib.sha256("".join(one["sha256"] for one in sources.values()).encode())
    return source if is_protected else source | {"sha256": digest.hexdigest()}
