"""What every result has in common: it prints well, shows itself in a notebook, and has one way out, `to_dict`.

Files are written whole or not at all.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from enum import Enum
from importlib import import_module
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import IO, Any, ClassVar, TypeVar

import numpy as np

from .errors import EvenhandError, InvalidInput

__all__ = [
    "REACHES",
    "Record",
    "csv_text",
    "plain_value",
    "reach",
    "spreadsheet_value",
    "write_whole",
]

Found = TypeVar("Found")

REACHES = {
    "Audit.plot": "evenhand.reports:draw_audit",
    "Audit.to_html": "evenhand.reports:as_page",
    "Finding.sentence": "evenhand.reports:finding_sentence",
    "Audit.to_markdown": "evenhand.reports:as_markdown",
    "Audit.to_text": "evenhand.reports:as_text",
    "Distribution.plot": "evenhand.reports:draw_distribution",
    "ExploitableSizes.plot": "evenhand.reports:draw_exploitable",
    "Jaggedness.plot": "evenhand.reports:draw_jaggedness",
    "MatchResult.plot": "evenhand.reports:draw_match",
    "MulticlassConfusion.scores": "evenhand.metrics:score_classes",
    "Plan.plot": "evenhand.reports:draw_plan",
    "Monitor.plot": "evenhand.reports:draw_monitor",
    "Monitor.to_html": "evenhand.reports:monitor_page",
    "Monitor.to_text": "evenhand.reports:monitor_text",
    "Record._repr_html_": "evenhand.reports:as_html",
    "Risks.plot": "evenhand.reports:draw_risks",
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
