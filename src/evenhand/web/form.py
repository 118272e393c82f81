"""The form: its fields from the records of settings, what messages call them, and what they give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, TypeVar

from ..auditing import (
    REPORT,
    AuditRequest,
    ModelsRequest,
    Setting,
    Settings,
    flat_settings,
    join_parts,
    part_names,
    read_texts,
)
from ..confusion import ConfusionMatrix
from ..errors import InvalidInput

SETTINGS = flat_settings(ModelsRequest) | flat_settings(AuditRequest)
SETTINGS |= {name: ("", setting) for name, setting in REPORT.items()}
"""Defaults and records of all settings, by name."""
LABELS = {name: setting.page for name, (_, setting) in SETTINGS.items()}
"""What settings are called in the web app."""
FIELD_NAMES = {
    **{name: f"“{label}”" for name, label in LABELS.items() if label},
    **{key: f"“{LABELS[name]}”" for key, name in part_names(AuditRequest).items()},
    "at": "“Name of this batch”",
    "data": "the data",
    "text": "the file",
    "compare": "“several models”",
}
"""What messages call the arguments of the library in the web app."""
KINDS = {"rest", "all", "largest", "best"}
"""What groups can be compared with, other than one of them."""
CUT = "a cut of bins"
Asked = Mapping[str, Any]
Number = TypeVar("Number", int, float)


def read_settings(request: type[Settings], asked: Asked) -> dict[str, Any]:
    """The arguments that the fields give; one that is empty has its default."""
    values = {
        name: read_setting(name, setting, asked[name])
        for name, (_, setting) in flat_settings(request).items()
        if setting.page and asked.get(name) not in (None, "", [], [""], {}, False)
    }
    if any(asked.get("cells", [])):
        values["reference"] = ConfusionMatrix.from_array(read_cells(asked["cells"]))
    return join_parts(request, values)


def read_setting(name: str, setting: Setting, value: object) -> object:
    """A setting as the library takes it, from the texts of its field."""
    if isinstance(value, Mapping):
        return read_columns(name, value)
    texts = value if isinstance(value, list) else [value]
    if setting.reads == "flag":
        return True
    if setting.reads == "labels":
        return texts
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput(argument=name, must="be text", got=value)
    if setting.reads in ("number", "whole"):
        kind = int if setting.reads == "whole" else float
        numbers = read_numbers(" ".join(texts), f"`{name}`", kind)
        return numbers if len(numbers) > 1 else numbers[0]
    if setting.reads == "special" and name != "reference":
        return read_texts(name, texts)
    return texts if setting.many else texts[0]


def read_columns(name: str, value: Mapping[str, object]) -> object:
    """A setting that has a value for each column; an empty one has none."""
    given = {column: one for column, one in value.items() if one}
    if name == "bins":
        return {column: read_numbers(text, CUT) for column, text in given.items()}
    if name != "reference":
        return given
    # One kind for all columns holds for their intersections, too.
    if len(kinds := set(given.values())) == 1 and kinds <= KINDS:
        return kinds.pop()
    return {column: kind for column, kind in given.items() if kind != "rest"}


def read_numbers(text: object, what: str, kind: type[Number] = float) -> list[Number]:
    """Numbers that commas, semicolons or blanks separate."""
    return [read_number(part, what, kind) for part in re.split(r"[\s,;]+", str(text).strip())]


def read_number(text: object, what: str, kind: type[Number] = float) -> Number:
    """A finite number from the text of a field, which messages call ``what``.

    >>> read_number("0.05", "the level"), read_number("12", "a count", int)
    (0.05, 12)
    """
    shown = str(text)
    with suppress(OverflowError, ValueError):
        number = kind(shown)
        if "_" not in shown and shown.isascii() and isfinite(number):
            return number
    noun = "whole number" if kind is int else "number"
    raise InvalidInput(f"{what} must be a {noun}; got {shown[:20]!r}")


def read_cells(texts: object) -> list[float]:
    """The four cells of a reference; an empty one is 0."""
    if not isinstance(texts, list) or len(texts) != 4:
        raise InvalidInput("the reference must have four cells: TP, FN, FP and TN")
    return [read_number(text or 0, "a cell") for text in texts]
