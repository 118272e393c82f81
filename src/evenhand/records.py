"""What every result has in common: `Record`, plain values for JSON, cells for CSV, and files.

Methods such as `Audit.to_html` are carried out by packages above the one of the result. They are
listed in `REACHES` and imported when called.
"""

from __future__ import annotations

import csv
import os
import re
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from enum import Enum
from importlib import import_module
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .errors import EvenhandError, InvalidInput

REACHES = {
    "Audit.plot": "reports.draw_audit",
    "Audit.to_html": "reports.as_page",
    "Audit.to_markdown": "reports.as_markdown",
    "Audit.to_text": "reports.as_text",
    "Distribution.plot": "reports.draw_distribution",
    "ExploitableSizes.__str__": "reports.exploitable_text",
    "ExploitableSizes.plot": "reports.draw_exploitable",
    "Finding.sentence": "reports.finding_sentence",
    "Jaggedness.__str__": "reports.jaggedness_text",
    "Jaggedness.plot": "reports.draw_jaggedness",
    "MatchResult.plot": "reports.draw_match",
    "Monitor.plot": "reports.draw_monitor",
    "Monitor.to_html": "reports.monitor_page",
    "Monitor.to_text": "reports.monitor_text",
    "MulticlassConfusion.scores": "metrics.score_classes",
    "Plan.__str__": "reports.plan_text",
    "Plan.plot": "reports.draw_plan",
    "Record._repr_html_": "reports.as_html",
    "Risks.plot": "reports.draw_risks",
}
"""The packages and functions that carry out methods of results below them."""


def reach(method: str) -> Callable[..., Any]:
    """The function that carries out a method, imported now."""
    package, _, name = REACHES[method].partition(".")
    function: Callable[..., Any] = getattr(import_module(f"evenhand.{package}"), name)
    return function


class Record:
    """Mixin of frozen dataclasses that are results.

    Fields whose names begin with an underscore are private. ``_derived`` names the properties that
    `to_dict` contains, too.
    """

    __slots__ = ()
    _derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, fit for JSON: None for what is not a finite number."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        public = [name for name in (*names, *self._derived) if not name.startswith("_")]
        values: dict[str, Any] = dict.fromkeys(public)
        for name in public:
            # Some derived values are undefined.
            with suppress(EvenhandError):
                values[name] = plain_value(getattr(self, name))
        return values

    def __repr__(self) -> str:
        first = str(self).strip().splitlines()[0]
        short = first if len(first) <= 100 else f"{first[:99]}…"
        return f"<{type(self).__name__}: {short}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))


def plain_value(value: Any) -> Any:
    """``value`` as JSON can hold it: a matrix as the list of its cells, a metric as its key."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, dict):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain_value(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "cells") and not hasattr(value, "key"):
        return plain_value(value.cells)
    return str(getattr(value, "key", value))


# A tab or CR at the start moves what follows into a cell of its own; some spreadsheets take full-width signs for the
# usual ones.
_FORMULA = re.compile(r"[\t\r]|\s*[=+\-@＝＋－＠]")


def spreadsheet_value(value: object) -> object:
    """``value`` for a CSV cell; text that a spreadsheet would run as a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, one line each; before Python 3.13, only this quotes all kinds of line breaks."""
    lines = []
    for row in rows:
        line = StringIO(newline="")
        csv.writer(line, lineterminator="\r\n").writerow(row)
        lines.append(line.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def _replace(target: Path, content: bytes) -> None:
    """Write a new file, which only its owner can read until it is whole, and rename it.

    Its permissions are those of the file that it replaces or, if there is none, the usual ones, which it has itself as
    long as it is empty.
    """
    beside = target.with_name(f".evenhand-{secrets.token_hex(8)}.tmp")
    replaces = target.exists()
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if replaces else 0o666)
        with open(made, "wb") as file:
            mode = (target if replaces else beside).stat().st_mode & 0o7777
            beside.chmod(0o600)
            file.write(content)
        beside.chmod(mode)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: write a new file beside it and rename that.

    Permissions are kept, links are followed, and devices are written to.
    """
    try:
        target = Path(os.path.realpath(path))
        content = text.encode("utf-8")
        if not target.name:
            why = "it is a folder"
        elif target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        else:
            _replace(target, content)
            return
    except UnicodeEncodeError:
        why = "the data contain characters that UTF-8 lacks"
    except (OSError, ValueError) as refusal:
        why = getattr(refusal, "strerror", None) or str(refusal)
    raise InvalidInput(f"{path} cannot be written: {why}")
