"""The record of an audit: what was audited and how, and the calls that repeat it."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from types import NoneType
from typing import Any

import numpy as np

from .. import __version__
from ..cells import ConfusionMatrix
from ..errors import InvalidInput, brief
from ..tabulate import Tally
from .settings import ReferenceKind, Settings, settings_of
from .spelling import is_matrix, spelled

__all__ = ["check_record", "command_of", "counts_source", "options_of", "paths_of", "record_of", "versions"]

_COLUMNS = {"label": "y_true", "prediction": "y_pred", "score": "y_score"}
_NAMED = ("y_true", "y_pred", "y_score", "groups", "within", "weights", "count", "models", "model_column", "unit")


def options_of(request: Any) -> dict[str, str]:
    """The options of the command for the arguments of a request."""
    return {name: known.option for name, (_, known) in settings_of(request).items() if known.option}


def versions() -> dict[str, str]:
    """The versions of what computed the audit."""
    import scipy

    found = {"evenhand": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return found | {"python": platform.python_version()}


def record_of(
    function: str,
    data: Any,
    request: Settings,
    tally: Tally,
    metrics: list[str],
    order: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Where the data came from, how they were read, and the calls that make the audit again."""
    call = _call(data, request, metrics)
    paths = paths_of(data)
    given = {what: getattr(request, name, None) for what, name in _COLUMNS.items()}
    columns = {what: _column_name(column, _COLUMNS[what]) for what, column in given.items() if column is not None}
    # The time would tell runs on different data apart.
    made = _now() if request.rule is None else _now().partition("T")[0]
    return {
        "title": request.title,
        "system": request.system,
        "author": request.author,
        "made": made,
        "protection": None if request.rule is None else request.rule.sentence,
        "source": tally.source | ({"paths": paths} if paths else {}),
        "columns": columns | {"groups": list(tally.columns)},
        "positive": {column: plainly(labels) for column, labels in tally.positive.items()},
        "negative": {column: plainly(labels)[:20] for column, labels in tally.negative.items()},
        "classes": plainly(tally.classes) if tally.classes else None,
        "threshold": tally.threshold,
        "weight": tally.weight or None,
        "unit": None if tally.unit is None else {"column": tally.unit, "units": tally.units},
        "order": {by: list(groups) for by, groups in order.items()},
        "function": function,
        "call": call,
        "python": _python(function, paths, data is not None, call),
        "command": _command(function, paths, call, options_of(type(request))),
    }


def _call(data: Any, request: Settings, metrics: list[str]) -> dict[str, Any]:
    """The arguments that differ from the defaults, as plain values; None for what the record does not contain."""
    recorded = request.recorded() | {"metrics": metrics}
    defaults = Settings().recorded()
    call: dict[str, Any] = {}
    for name, (field, _) in settings_of(type(request)).items():
        given = getattr(request, name)
        if name in recorded:
            default = metrics if name == "metrics" and request.metrics is None else defaults.get(name)
            if recorded[name] != default:
                call[name] = recorded[name]
        elif given is not None and given != field.default if _comparable(given) else given is not None:
            call[name] = _names(given, data, name) if name in _NAMED else plainly(given)
    if not isinstance(request.reference, ReferenceKind):
        # A group may be called "rest", too.
        call["reference"] = recorded["reference"]
    return call


def _comparable(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool, list, tuple, dict))


def check_record(record: Mapping[str, Any]) -> None:
    """Check a record that was read from a file, which somebody may have changed; what it lacks is not recorded.

    >>> check_record({"source": {"rows": "many"}})
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: rows in the source of the record must be a number of them; got 'many'
    """
    for name in ("source", "columns", "positive", "negative", "order", "call", "axes", "at", "unknown"):
        if not isinstance(record.get(name, {}), dict):
            raise InvalidInput(f"{name} in the record must be a table; got {brief(record[name])}")
    unit = record.get("unit")
    known = isinstance(unit, dict) and isinstance(unit.get("column"), str) and type(unit.get("units")) is int
    if unit is not None and not known:
        raise InvalidInput(f"unit in the record must name a column and a number of units; got {brief(unit)}")
    for name in ("title", "system", "author", "made", "protection", "function", "python", "command"):
        if not isinstance(record.get(name), (str, NoneType)):
            raise InvalidInput(f"{name} in the record must be text; got {brief(record[name])}")
    source = record.get("source", {})
    for name in ("kind", "name", "sha256", "format", "separator", "library"):
        if not isinstance(source.get(name), (str, NoneType)):
            raise InvalidInput(f"{name} in the source of the record must be text; got {brief(source[name])}")
    for name in ("files", "skipped", "size", "rows", "groups"):
        if name in source and (type(source[name]) is not int or source[name] < 0):
            raise InvalidInput(
                f"{name} in the source of the record must be a number of them; got {brief(source[name])}"
            )
    if not isinstance(source.get("same_name", {}), dict):
        raise InvalidInput(f"same_name in the source of the record must be a table; got {brief(source['same_name'])}")
    for axis, values in record.get("axes", {}).items():
        if not isinstance(values, list):
            raise InvalidInput(f"{axis} in the axes of the record must be a list; got {brief(values)}")
    columns = record.get("columns", {})
    lists = {"paths in the source of": source.get("paths", []), "groups in the columns of": columns.get("groups", [])}
    lists |= {f"the order of {by!r} in": groups for by, groups in record.get("order", {}).items()}
    for what, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"{what} the record must be a list of texts; got {brief(names)}")


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


def _names(given: Any, data: Any, argument: str) -> Any:
    """The names of columns; None if values were passed, which the record does not contain."""
    if data is None:
        return None
    if isinstance(given, Mapping) and argument == "models":
        return {str(name): _names(column, data, "") for name, column in given.items()}
    if argument in ("groups", "within") and isinstance(given, list) and all(isinstance(name, str) for name in given):
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
    if name == "reference" and is_matrix(value):
        return "evenhand.ConfusionMatrix({}, {}, {}, {})".format(*value)
    if name == "reference" and isinstance(value, dict):
        return "{" + ", ".join(f"{by!r}: {_written(name, one)}" for by, one in value.items()) + "}"
    return repr(value)


def _command(function: str, paths: list[str], call: Mapping[str, Any], options: Mapping[str, str]) -> str | None:
    if not paths or None in call.values():
        return None
    if function == "compare_models":
        return command_of(paths, call, options, "compare")
    return command_of(["--counts", *paths] if function == "audit_counts" else paths, call, options)


def command_of(
    source: Iterable[str], call: Mapping[str, Any], options: Mapping[str, str], command: str = "audit"
) -> str:
    """The command line that makes the same audit; ``source`` are the words that name the data."""
    words = ["evenhand", command, *source]
    for name, value in call.items():
        option = options.get(name) or f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        else:
            for text in spelled(name, value):
                words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return shlex.join(words)
