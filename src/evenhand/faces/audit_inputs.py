"""From the options of ``evenhand audit`` to an audit: files, counts, examples, config files and saved audits."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .. import auditing as library
from .. import examples
from ..auditing import AVERAGES, Audit, ClassAudit, ReferenceKind, Sweep, command_of, saved_audit, spelled
from ..errors import InvalidInput, UnknownName, printable
from ..tabulate import decoded, input_files, read_counts, read_counts_file
from .count_commands import as_strength_option

__all__ = [
    "EXAMPLES",
    "arguments",
    "configured",
    "from_counts",
    "from_example",
    "from_files",
    "reference_of_texts",
    "repeated",
    "say_changes",
]

EXAMPLES = ("compas", "compas_violent", "folktables_income")
# Options by their name in the library, where a config file may use either.
_ALIASES = {
    **{"labels": "group-name", "groups": "group", "metrics": "metric"},
    **{"classes": "class", "averages": "average", "rng": "seed"},
}


def configured(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Use the values in a TOML file as the defaults of the other options."""
    if path is None:
        return
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except RecursionError:
        raise click.BadParameter(f"{path} cannot be read: it is nested too deeply") from None
    except (OSError, ValueError) as refusal:
        why = refusal.strerror if isinstance(refusal, OSError) else refusal
        raise click.BadParameter(f"{path if len(path) <= 200 else path[:200] + '…'} cannot be read: {why}") from None
    known = {name: p for p in ctx.command.params for name in _names(p) if name != "config"}
    table = content.get("audit", content)
    if not isinstance(table, dict):
        raise click.BadParameter(f"audit in {path} must be a table of options; got {table!r}")
    ctx.default_map = dict(_default(known, path, key.replace("_", "-"), value) for key, value in table.items())


def _default(known: dict[str, click.Parameter], path: str, key: str, value: Any) -> tuple[str, Any]:
    if key not in known and key in _ALIASES:
        key = _ALIASES[key]
    if key not in known:
        raise click.BadParameter(str(UnknownName.among(f"setting in {path}", key, sorted(known))))
    parameter = known[key]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise click.BadParameter(f"{key} in {path} must be true or false; got {value!r}")
        return str(parameter.name), not value if f"--{key}" in parameter.secondary_opts else value
    several = parameter.multiple
    if isinstance(value, dict):
        value = _from_table(path, key, value)
    values = value if isinstance(value, list) else [value]
    valid = all(isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in values)
    if not valid or (isinstance(value, list) and not several):
        raise click.BadParameter(
            f"{key} in {path} must be {'a list of values' if several else 'one value'}; got {value!r}"
        )
    if key == "average" and not values:
        values = ["none"]
    return str(parameter.name), values if several else value


def _from_table(path: str, key: str, value: dict[str, Any]) -> Any:
    """The values of an option that a table gives by column, as the command reads them."""
    nested = all(isinstance(names, dict) for names in value.values())
    if key not in ("bins", "group-name", "reference", "strength") or (key == "group-name") != nested:
        raise click.BadParameter(f"{key} in {path} must not be a table of that form; got {value!r}")
    texts = spelled("labels" if key == "group-name" else key, value)
    return texts[0] if key == "strength" else texts


def _names(parameter: click.Parameter) -> list[str]:
    return [option.lstrip("-").lower() for option in (*parameter.opts, *parameter.secondary_opts)]


def arguments(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of an audit, and how its data are read, from the values of the options.

    ``reference`` and ``labels`` are still texts, since only the columns tell where their parts end.
    """
    settings = dict(options)
    reading = {
        "y_true": settings.pop("label"),
        "y_pred": settings.pop("prediction"),
        "y_score": settings.pop("score"),
        "bins": _all_bins(settings.pop("bins")),
    }
    for name in ("positive", "positive_label", "positive_prediction", "threshold"):
        values = settings.pop(name)
        reading[name] = None if not values else values[0] if len(values) == 1 else list(values)
    of_classes = {name: settings.pop(name) for name in ("classes", "averages", "undefined", "rng", "draws")}
    if of_classes["classes"]:
        reading = _of_classes(reading, of_classes)
    crossings = settings["crossings"]
    settings |= {
        "metrics": settings.pop("metric") or None,
        "strength": as_strength_option(settings["strength"]),
        "crossings": int(crossings) if crossings.isdecimal() and len(crossings) < 10 else crossings,
        "labels": settings.pop("group_name"),
    }
    return settings, reading


def _of_classes(reading: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """How the data are read if there are several classes."""
    kept = dict(reading)
    for name in ("y_score", "threshold", "positive", "positive_label", "positive_prediction"):
        if kept.pop(name) is not None:
            raise InvalidInput(f"{name}= is for two classes and cannot be combined with classes=")
    classes = list(given["classes"])
    averages = list(given["averages"]) or AVERAGES
    averages = [] if averages == ["none"] else averages
    return kept | given | {"classes": "all" if classes == ["all"] else classes, "averages": averages}


def _all_bins(texts: Sequence[str]) -> dict[str, list[float]] | None:
    bins: dict[str, list[float]] = {}
    for column, cuts in map(_bins, texts):
        if column in bins:
            raise InvalidInput(f"--bins cuts the column {column!r} twice")
        bins[column] = cuts
    return bins or None


def _bins(text: str) -> tuple[str, list[float]]:
    column, sign, cuts = text.rpartition("=")
    try:
        if sign:
            return column, [float(cut) for cut in cuts.split(",")]
    except ValueError:
        pass
    raise InvalidInput(f"--bins must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got {text!r}")


def _by_columns(settings: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The settings with the references and the names of groups that the texts give for these columns."""
    return settings | {
        "reference": reference_of_texts(settings["reference"], columns),
        "labels": _group_names(settings["labels"], columns),
    }


def _group_names(texts: Sequence[str], columns: Sequence[str]) -> dict[str, dict[str, str]] | None:
    names: dict[str, dict[str, str]] = {}
    for text in texts:
        column = max((name for name in columns if text.startswith(f"{name}:")), key=len, default=None)
        value, name = _value_and_name(text[len(column) + 1 :]) if column is not None else ("", "")
        if column is None and ":" in text and "=" in text:
            raise UnknownName.among("group column in --group-name", text.partition(":")[0], columns)
        if column is None or not name:
            raise InvalidInput(
                "--group-name must be COLUMN:VALUE=NAME, such as RAC1P:1=White, with a value that contains = in double "
                f"quotes; got {text!r}"
            )
        if value in names.setdefault(column, {}):
            raise InvalidInput(f"--group-name names {value!r} of {column!r} twice")
        names[column][value] = name
    return names or None


def _value_and_name(text: str) -> tuple[str, str]:
    """The parts of VALUE=NAME; the value may be in double quotes, as JSON writes it."""
    if text.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
            if isinstance(value, str) and text[end : end + 1] == "=":
                return value, text[end + 1 :]
        except ValueError:
            pass
    value, _, name = text.partition("=")
    return value, name


def from_files(files: Sequence[str], reading: dict[str, Any], settings: dict[str, Any]) -> Audit | Sweep | ClassAudit:
    """The audit of files; ``-`` is standard input."""
    settings = _by_columns(settings, reading["groups"])
    if "-" in files and len(files) > 1:
        raise InvalidInput("standard input (-) cannot be audited together with other files")
    if files[0] == "-":
        with _copied() as path:
            result = _audited(path, reading | settings)
        if isinstance(result, Audit):
            return _with_source(result, ["-"])
        return result.with_records(lambda record: _sourced(record, ["-"]))
    return _audited(files[0] if len(files) == 1 else list(files), reading | settings)


def _audited(data: str | list[str], given: dict[str, Any]) -> Audit | Sweep | ClassAudit:
    if "classes" in given:
        return library.audit_classes(data, **given)
    found: Audit | Sweep = library.audit(data, **given)
    return found


@contextmanager
def _copied() -> Iterator[str]:
    """Standard input, copied to a temporary file."""
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        head = sys.stdin.buffer.read(4)
        path = Path(folder) / ("input.parquet" if head == b"PAR1" else "input.csv")
        with path.open("wb") as copy:
            copy.write(head)
            copyfileobj(sys.stdin.buffer, copy)
        yield str(path)


def _with_source(audit: Audit, words: list[str], **source: Any) -> Audit:
    return replace(audit, record=_sourced(audit.record, words, **source))


def _sourced(record: dict[str, Any], words: list[str], **source: Any) -> dict[str, Any]:
    """The record with the words that name its data on the command line, in place of a path."""
    call = {name: value for name, value in record["call"].items() if name != "by"}
    kept = {name: value for name, value in record["source"].items() if name not in ("paths", "name")}
    named = {"command": command_of(words, call), "source": kept | {"name": words[-1]} | source, "python": None}
    return record | named


def from_counts(file: str, settings: dict[str, Any]) -> Audit:
    """The audit of a table of counts; ``-`` is standard input."""
    if file == "-":
        by, matrices = read_counts(decoded(sys.stdin.buffer.read(), "standard input"), "standard input")
        result = library.audit_counts(matrices, by=by, **_by_columns(settings, by))
        return _with_source(result, ["--counts", "-"])
    if not settings["reference"] and not settings["labels"]:
        return library.audit_counts(file, **_by_columns(settings, ()))
    by, _, _ = read_counts_file(file)
    return library.audit_counts(file, **_by_columns(settings, by))


def from_example(name: str, settings: dict[str, Any]) -> Audit:
    """The audit of a data set that comes with evenhand."""
    result = library.audit_counts(getattr(examples, name)(), by="race", **_by_columns(settings, ("race",)))
    return _with_source(result, ["--example", name], kind="example")


def reference_of_texts(given: Sequence[str], columns: Sequence[str]) -> Any:
    """One reference for all columns, or one per column or crossing that is named before a ``=``."""
    named = {}
    for text in given:
        column, sign, name = _split(text, columns)
        if sign:
            if column in named:
                raise InvalidInput(f"--reference names the column {column!r} twice")
            named[column] = name
        elif len(given) > 1:
            raise InvalidInput(f"if --reference is repeated, it must be COLUMN=GROUP; got {text!r}")
        else:
            return text
    return named or ReferenceKind.REST


def _split(text: str, columns: Sequence[str]) -> tuple[str, str, str]:
    """A text before and after the ``=`` that follows a column or a crossing; names can contain one, too."""
    places = [i for i, sign in enumerate(text) if sign == "="]
    for i in reversed(places):
        parts = text[:i].split(" & ")
        if text[:i] in columns or (len(parts) > 1 and all(part in columns for part in parts)):
            return text[:i], "=", text[i + 1 :]
    return text, "", ""


def repeated(
    file: str, files: Sequence[str], check: Callable[[Callable[[], list[Path]]], None]
) -> tuple[Audit | Sweep | ClassAudit, list[str]]:
    """The audit in a JSON file made again, of the same files or of others, and what changed."""
    try:
        saved = saved_audit(Path(file).read_text("utf-8"))
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise InvalidInput(f"{file} cannot be read: {why}") from None
    source = saved.record.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("paths", []), list):
        raise InvalidInput(f"{file} cannot be repeated: its record must say where the data came from")
    check(lambda: [Path(file), *(path for one in files or source.get("paths", ()) for path in _known(str(one)))])
    given = (files[0] if len(files) == 1 else list(files)) if files else None
    if source.get("kind") == "example" and not files and isinstance(saved, Audit):
        name = _example(source.get("name"))
        again = _with_source(saved.repeat(getattr(examples, name)()), ["--example", name], kind="example")
        return again, saved.changes(again)
    made: Any = saved.repeat(given)
    return made, saved.changes(made)


def _known(path: str) -> list[Path]:
    return [Path(path), *input_files(path)] if not Path(path).is_file() else [Path(path)]


def _example(name: Any) -> str:
    if name not in EXAMPLES:
        raise UnknownName.among("example", str(name), EXAMPLES)
    return str(name)


def say_changes(changes: Sequence[str]) -> None:
    """Say on standard error whether anything changed."""
    click.echo("Nothing changed." if not changes else "Changed:", err=True)
    for change in changes:
        click.echo(f"- {printable(change)}", err=True)
