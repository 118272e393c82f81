"""What every result has in common: it prints well, shows itself in a notebook, and has one way out, `to_dict`.

Files are written whole or not at all.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from io import StringIO
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .errors import EvenhandError, InvalidInput, UnknownName, brief

__all__ = [
    "REACHES",
    "Record",
    "csv_text",
    "plain_value",
    "reach",
    "read_record",
    "record_schema",
    "spreadsheet_value",
    "write_whole",
]

Found = TypeVar("Found")

REACHES = {
    "Audit.__rich__": "evenhand.views:as_rich",
    "Audit.plot": "evenhand.views:draw_audit",
    "Audit.to_html": "evenhand.views:as_page",
    "Audit.to_markdown": "evenhand.views:as_markdown",
    "Audit.to_text": "evenhand.views:as_text",
    "Distribution.plot": "evenhand.views:draw_distribution",
    "ExploitableSizes.plot": "evenhand.views:draw_exploitable",
    "Jaggedness.plot": "evenhand.views:draw_jaggedness",
    "MatchResult.plot": "evenhand.views:draw_match",
    "MulticlassConfusion.scores": "evenhand.metrics:score_classes",
    "Plan.plot": "evenhand.views:draw_plan",
    "Monitor.plot": "evenhand.views:draw_monitor",
    "Monitor.to_html": "evenhand.views:monitor_page",
    "Monitor.to_text": "evenhand.views:monitor_text",
    "Record._repr_html_": "evenhand.views:as_html",
    "Risks.plot": "evenhand.views:draw_risks",
}
"""The methods that higher rooms carry out, and where. There is no other way up."""


def reach(method: str) -> Callable[..., Any]:
    """The function of a higher room that carries out a method; it is imported when it is called."""
    module, _, name = REACHES[method].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


class Record:
    """Mixin of frozen dataclasses that are results.

    Fields whose names begin with an underscore stay inside. ``_derived`` names properties that belong to the result as
    much as its fields do.
    """

    __slots__ = ()
    _derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, fit for JSON: None for what is not a finite number."""
        names = [f.name for f in fields(self) if not f.name.startswith("_")]  # type: ignore[arg-type]
        return {name: plain_value(self._valued(name)) for name in (*names, *self._derived)}

    def _valued(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except EvenhandError:
            return None

    def __repr__(self) -> str:
        first = str(self).strip().splitlines()[0]
        return f"<{type(self).__name__}: {first if len(first) <= 100 else first[:99] + '…'}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))


def plain_value(value: Any) -> Any:
    """``value`` as JSON can hold it: a matrix as the list of its cells tp, fn, fp, tn, a metric as its key."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(cells := getattr(value, "cells", None), tuple) and not hasattr(value, "key"):
        return plain_value(cells)
    if isinstance(value, dict):
        return {str(k): plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain_value(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(getattr(value, "key", value))


_LARGEST = 1e300


def read_record(cls: type[Found], values: Any, what: str) -> Found:
    """The record that `Record.to_dict` gave as plain values, which may come from a file that somebody changed.

    ``what`` is the record in error messages. Fields have the types that the class declares: numbers, texts,
    enumerations, records, tuples and dictionaries of them, or None.
    """
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{what} must be a table; got {brief(values)}")
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    for name in names:
        if name not in values:
            raise InvalidInput(f"{what} must have the field {name}")
    for name in values:
        if name not in names:
            raise InvalidInput(f"{what} has an unknown field: {brief(name)}")
    types = _types_of(cls)  # type: ignore[arg-type]
    return cls(**{name: _read(types[name], values[name], f"{name} of {what}") for name in names})


@cache
def _types_of(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _read(kind: Any, value: Any, what: str) -> Any:
    """A value of a declared type from its plain value."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in inside:
            return None
        fitting = [one for one in inside if one is not NoneType and _fits(one, value)]
        return _read(fitting[0] if fitting else next(one for one in inside if one is not NoneType), value, what)
    if origin is Literal and (not isinstance(value, str) or value not in inside):
        raise InvalidInput(f"{what} must be {' or '.join(map(repr, inside))}; got {brief(value)}")
    if not _fits(kind, value):
        raise InvalidInput(f"{what} must be {_named(kind)}; got {brief(value)}")
    if is_dataclass(kind) and isinstance(kind, type):
        return read_record(kind, value, f"the {what}")
    if isinstance(kind, type) and issubclass(kind, Enum):
        if value not in {member.value for member in kind}:
            raise UnknownName.among(what, value, [str(member.value) for member in kind])
        return kind(value)
    if origin is tuple:
        each = [inside[0]] * len(value) if inside[-1] is Ellipsis else inside
        if len(each) != len(value):
            raise InvalidInput(f"{what} must have {len(each)} values; got {len(value)}")
        return tuple(_read(one, item, what) for one, item in zip(each, value, strict=True))
    if kind is int and value < 0:
        raise InvalidInput(f"{what} must not be negative; got {value}")
    if kind in (int, float) and not -_LARGEST <= value <= _LARGEST:
        raise InvalidInput(f"{what} must be a number from -1e300 to 1e300; got {str(value)[:20]}")
    if origin is dict:
        return {name: _read(inside[1], one, f"{name} in {what}") for name, one in value.items()}
    return value


def record_schema(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of what `read_record` reads; those of the records inside are added to ``definitions``.

    >>> definitions = {}
    >>> record_schema(bool, definitions), record_schema(float | None, definitions)
    ({'type': 'boolean'}, {'anyOf': [{'type': 'number'}, {'type': 'null'}]})
    """
    origin, inside = get_origin(cls), get_args(cls)
    if origin in (Union, UnionType):
        return {"anyOf": [record_schema(one, definitions) for one in inside]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is tuple and inside[-1] is Ellipsis:
        return {"type": "array", "items": record_schema(inside[0], definitions)}
    if origin is tuple:
        items = [record_schema(one, definitions) for one in inside]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin is dict:
        return {"type": "object", "additionalProperties": record_schema(inside[1], definitions)}
    if is_dataclass(cls):
        if cls.__name__ not in definitions:
            types = _types_of(cls)
            definitions[cls.__name__] = {}
            definitions[cls.__name__] |= {
                "description": (cls.__doc__ or "").partition("\n")[0],
                "type": "object",
                "properties": {f.name: record_schema(types[f.name], definitions) for f in fields(cls)},
                "required": [f.name for f in fields(cls)],
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{cls.__name__}"}
    if isinstance(cls, type) and issubclass(cls, Enum):
        return {"enum": [member.value for member in cls]}
    return dict(_SCHEMAS[cls])


_SCHEMAS: dict[Any, dict[str, Any]] = {
    Any: {},
    NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    str: {"type": "string"},
}
_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _named(kind: Any) -> str:
    """What a plain value of a type is called."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "text"
    return _NAMES.get(kind, "a list" if get_origin(kind) is tuple else "a table")


def _fits(kind: Any, value: Any) -> bool:
    """Whether a plain value can be of a type."""
    origin = get_origin(kind)
    if kind is Any:
        return True
    if is_dataclass(kind) or origin is dict:
        return isinstance(value, Mapping)
    if origin is tuple:
        return isinstance(value, (list, tuple))
    if origin is Literal:
        return isinstance(value, str)
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return isinstance(value, str)
    return isinstance(value, (int, float) if kind is float else kind)


# Some spreadsheets take full-width signs for the usual ones.
_FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def spreadsheet_value(value: Any) -> Any:
    """``value`` for a cell of a CSV file; text that a spreadsheet would take for a formula follows an apostrophe."""
    if not isinstance(value, str):
        return value
    # A tab or CR at the start moves what follows into a cell of its own.
    formula = value.startswith(("\t", "\r")) or value.lstrip().startswith(_FORMULA_SIGNS)
    return f"'{value}" if formula else value


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV, one line each; a value with a line break of any kind is quoted, which Python does from 3.13 on."""
    lines = []
    for row in rows:
        out = StringIO(newline="")
        csv.writer(out, lineterminator="\r\n").writerow(row)
        lines.append(out.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


@contextmanager
def _private(beside: Path, target: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A new file that only its owner can read, and the permissions of the one whose place it takes, or the usual ones.

    To know the usual ones, it has them as long as it is empty; not if it replaces a file, which may be private.
    """
    replaces = target.exists()
    made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if replaces else 0o666)
    with open(made, "wb") as file:
        mode = (target if replaces else beside).stat().st_mode & 0o7777
        beside.chmod(0o600)
        yield file, mode


def write_whole(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: to a file beside it, which then takes its place.

    Permissions are those of the file that is there, or the usual ones. Links are followed; a device is written to.
    """
    target = Path(os.path.realpath(path))
    if not target.name:
        raise InvalidInput(f"{path} cannot be written: it is a folder")
    beside = target.with_name(f".evenhand-{secrets.token_hex(8)}.tmp")
    try:
        content = text.encode("utf-8")
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        try:
            with _private(beside, target) as (file, mode):
                file.write(content)
            beside.chmod(mode)
            os.replace(beside, target)
        finally:
            with suppress(FileNotFoundError):
                beside.unlink()
    except UnicodeEncodeError:
        raise InvalidInput(f"{path} cannot be written: the data contain characters that UTF-8 lacks") from None
    except OSError as refusal:
        raise InvalidInput(f"{path} cannot be written: {refusal.strerror or refusal}") from None
    except ValueError as refusal:
        raise InvalidInput(f"{str(path)!r} cannot be written: {refusal}") from None
