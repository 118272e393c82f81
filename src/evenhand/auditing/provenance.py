"""The record of an audit: what was audited and how, and the calls that repeat it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from types import NoneType
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from ..tabulate import Tally
from .settings import ReferenceKind, Settings

__all__ = ["check_record", "command_of", "counts_source", "recalled", "record_of", "spelled"]

# The columns and labels that `audit` reads, and the options of the command with the same meaning.
_READING = {
    "y_true": "--label",
    "y_pred": "--prediction",
    "y_score": "--score",
    "threshold": "--threshold",
    "groups": "--group",
    "positive": "--positive",
    "positive_label": "--positive-label",
    "positive_prediction": "--positive-prediction",
    "bins": "--bins",
    "classes": "--class",
    "averages": "--average",
    "rng": "--seed",
}
_RENAMED = {"metrics": "--metric", "labels": "--group-name"}
_COLUMNS = {"label": "y_true", "prediction": "y_pred", "score": "y_score"}


def record_of(
    function: str,
    data: Any,
    reading: Mapping[str, Any],
    tally: Tally,
    how: Settings,
    order: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """The record of an audit, as plain values that can be written as JSON.

    Parameters
    ----------
    function : {"audit", "audit_counts", "audit_classes"}
        What was called.
    data : object
        The data that were passed; a path is recorded, anything else only described.
    reading : mapping
        The other arguments that say how the data are read, such as ``y_true`` and ``positive``.
    tally : Tally
        What was counted.
    how : Settings
        The settings.
    order : mapping of str to iterable of str
        The groups of each column and crossing, in their order.

    Returns
    -------
    dict
        Title, system, author and time; source, columns, labels and threshold; the call, in Python and as a command.
    """
    settings = how.recorded(tally.labelled)
    defaults = Settings().recorded(tally.labelled)
    if how.metrics is None:
        defaults["metrics"] = settings["metrics"]
    passed = {name: value for name, value in reading.items() if value is not None}
    call = {
        name: _names(value, data, several=name == "groups")
        if name in ("y_true", "y_pred", "y_score", "groups")
        else plainly(value)
        for name, value in passed.items()
    }
    call |= {f.name: settings[f.name] for f in fields(Settings) if settings[f.name] != defaults[f.name]}
    if not isinstance(how.reference, ReferenceKind):
        # A group may be called "rest", too.
        call["reference"] = settings["reference"]
    paths = paths_of(data)
    columns = {what: _column_name(passed[name], name) for what, name in _COLUMNS.items() if name in passed}
    return {
        "title": how.title,
        "system": how.system,
        "author": how.author,
        "made": _now(),
        "source": tally.source | ({"paths": paths} if paths else {}),
        "columns": columns | {"groups": list(tally.columns)},
        "positive": {column: plainly(labels) for column, labels in tally.positive.items()},
        "negative": {column: plainly(labels)[:20] for column, labels in tally.negative.items()},
        "threshold": tally.threshold,
        "order": {by: list(groups) for by, groups in order.items()},
        "function": function,
        "call": call,
        "python": _python(function, paths, data is not None, call),
        "command": _command(function, paths, call),
    }


def check_record(record: Mapping[str, Any]) -> None:
    """Check a record that was read from a file, which somebody may have changed; what it lacks is not recorded.

    Parameters
    ----------
    record : mapping
        The record.

    Examples
    --------
    >>> check_record({"source": {"rows": "many"}})
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: rows in the source of the record must be a number of them; got 'many'
    """
    for name in ("source", "columns", "positive", "negative", "order", "call"):
        if not isinstance(record.get(name, {}), dict):
            raise InvalidInput(f"{name} in the record must be a table; got {_brief(record[name])}")
    for name in ("title", "system", "author", "made", "function", "python", "command"):
        if not isinstance(record.get(name), (str, NoneType)):
            raise InvalidInput(f"{name} in the record must be text; got {_brief(record[name])}")
    source = record.get("source", {})
    for name in ("kind", "name", "sha256", "format", "separator", "library"):
        if not isinstance(source.get(name), (str, NoneType)):
            raise InvalidInput(f"{name} in the source of the record must be text; got {_brief(source[name])}")
    for name in ("files", "size", "rows", "groups"):
        if name in source and (type(source[name]) is not int or source[name] < 0):
            raise InvalidInput(
                f"{name} in the source of the record must be a number of them; got {_brief(source[name])}"
            )
    columns = record.get("columns", {})
    lists = {"paths in the source of": source.get("paths", []), "groups in the columns of": columns.get("groups", [])}
    lists |= {f"the order of {by!r} in": groups for by, groups in record.get("order", {}).items()}
    for what, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"{what} the record must be a list of texts; got {_brief(names)}")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def paths_of(data: Any) -> list[str]:
    """The paths that were passed as data."""
    each = data if isinstance(data, (list, tuple)) else [data]
    return [str(path) for path in each] if each and all(isinstance(path, (str, os.PathLike)) for path in each) else []


def counts_source(cells: Mapping[Any, ConfusionMatrix], by: Iterable[str]) -> dict[str, Any]:
    """A description of counts that were passed: how many groups and cases, and a digest that changes with them."""
    lines = sorted(f"{key!r} {cm.cells!r}" for key, cm in cells.items())
    digest = sha256("\n".join([repr(tuple(by)), *lines]).encode("utf-8", "backslashreplace")).hexdigest()
    return {
        "kind": "counts",
        "groups": len(cells),
        "rows": int(sum(cm.n for cm in cells.values())),
        "sha256": digest,
    }


def _now() -> str:
    """The time, or that of SOURCE_DATE_EPOCH for builds that must be reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    made = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return made.isoformat(timespec="seconds")


def plainly(value: Any) -> Any:
    """An argument as JSON can hold it; None for values such as columns, which are not recorded."""
    if isinstance(value, Mapping):
        return {str(name): plainly(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= 1_000:
        return [plainly(part) for part in value]
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, (str, int, float)) else None


def _names(given: Any, data: Any, several: bool) -> Any:
    """The name of a column of the data, or names of group columns; None for values, which are not recorded."""
    if data is None:
        return None
    if several and isinstance(given, list) and all(isinstance(name, str) for name in given):
        return list(given)
    return given if isinstance(given, (str, int)) else None


def _column_name(given: Any, otherwise: str) -> str:
    if isinstance(given, (str, int, tuple)):
        return str(given)
    return str(getattr(given, "name", None) or otherwise)


def _python(function: str, paths: list[str], has_data: bool, call: Mapping[str, Any]) -> str:
    """The call in Python; what is not recorded is written as a variable."""
    first = repr(paths[0]) if len(paths) == 1 else repr(paths) if paths else "data" if has_data else ""
    arguments = [first] if first else []
    for name, value in call.items():
        written = name if value is None else _written(name, value)
        arguments.append(f"{name}={written}")
    return f"evenhand.{function}({', '.join(arguments)})"


def _written(name: str, value: Any) -> str:
    if name == "reference" and _is_matrix(value):
        return "evenhand.ConfusionMatrix({}, {}, {}, {})".format(*value)
    if name == "reference" and isinstance(value, dict):
        return "{" + ", ".join(f"{by!r}: {_written(name, one)}" for by, one in value.items()) + "}"
    return repr(value)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and not any(isinstance(cell, str) for cell in value)


def _command(function: str, paths: list[str], call: Mapping[str, Any]) -> str | None:
    if not paths or None in call.values():
        return None
    return command_of(["--counts", *paths] if function == "audit_counts" else paths, call)


def recalled(record: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """The record with other arguments in its call, in Python and as a command.

    Parameters
    ----------
    record : mapping
        A record, which may come from a file that somebody changed.
    **changed
        The arguments.

    Returns
    -------
    dict
        The record, without what cannot be told from it.
    """
    source, call = record.get("source"), record.get("call")
    python = command = None
    if isinstance(source, Mapping) and isinstance(call, Mapping):
        call = {**call, **changed}
        function, paths = str(record.get("function")), paths_of(source.get("paths") or [])
        if record.get("python"):
            python = _python(function, paths, f"{function}(data" in str(record["python"]), call)
        if record.get("command") and None not in call.values():
            command = command_of(paths or [str(source.get("name"))], call)
    return {**record, **changed, "call": call, "python": python, "command": command}


def command_of(source: Iterable[str], call: Mapping[str, Any]) -> str:
    """The command line that makes the same audit; ``source`` are the words that name the data."""
    words = ["evenhand", "audit", *source]
    for name, value in call.items():
        option = _READING.get(name) or _RENAMED.get(name) or f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        else:
            for text in spelled(name, value):
                words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return shlex.join(words)


def spelled(name: str, value: Any) -> list[str]:
    """The values of an option, each as the command reads it."""
    if name == "labels":
        return [f"{by}:{_quoted(code)}={called}" for by, names in value.items() for code, called in names.items()]
    if name == "bins":
        return [f"{by}={','.join(map(_text, _listed(cuts)))}" for by, cuts in value.items()]
    if name == "strength" and isinstance(value, dict):
        return [",".join(f"{split}={_text(strength)}" for split, strength in value.items())]
    if name == "averages" and not value:
        return ["none"]
    if name == "classes" and value == ["all"]:
        # Once, the word means every class.
        return ["all", "all"]
    if name == "reference":
        if isinstance(value, dict):
            return [f"{by}={_reference(one)}" for by, one in value.items()]
        return [_reference(value)]
    return [_text(one) for one in _listed(value)]


def _quoted(code: str) -> str:
    """A value before a ``=``; in quotes if it contains one."""
    return json.dumps(code, ensure_ascii=False) if "=" in code or code.startswith('"') else code


def _reference(value: Any) -> str:
    return ",".join(map(_text, value)) if _is_matrix(value) else str(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)
