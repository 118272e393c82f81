"""The form: its fields from the records of settings, what messages call them, and what they give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from ..auditing import (
    REPORT,
    AuditRequest,
    ModelsRequest,
    Setting,
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


def read_settings(request: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the fields give; one that is empty has its default."""
    values = {
        name: read_setting(name, setting, asked[name])
        for name, (_, setting) in flat_settings(request).items()
        if setting.page and asked.get(name) not in (None, "", [], [""], {}, False)
    }
    if any(asked.get("cells", [])):
        values["reference"] = ConfusionMatrix.from_array(read_cells(asked["cells"]))
    return join_parts(request, values)


def read_setting(name: str, setting: Setting, value: Any) -> Any:
    """A setting as the library takes it, from the texts of its field."""
    if isinstance(value, Mapping):
        return read_columns(name, value)
    texts = value if isinstance(value, list) else [value]
    if setting.reads == "labels" or setting.reads == "flag":
        return texts if setting.many else True
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput(argument=name, must="be text", got=value)
    if setting.reads in ("number", "whole"):
        kind = int if setting.reads == "whole" else float
        numbers = [read_number(part, f"`{name}`", kind) for part in split_numbers(" ".join(texts))]
        return numbers if len(numbers) > 1 else numbers[0]
    if setting.reads == "special" and name != "reference":
        return read_texts(name, texts)
    return texts if setting.many else texts[0]


def read_columns(name: str, value: Mapping[str, Any]) -> Any:
    """A setting that has a value for each column; an empty one has none."""
    given = {column: one for column, one in value.items() if one}
    if name == "bins":
        return {column: read_cuts(text) for column, text in given.items()}
    if name != "reference":
        return given
    # One kind for all columns holds for their intersections, too.
    if len(set(given.values())) == 1 and set(given.values()) <= KINDS:
        return next(iter(given.values()))
    return {column: kind for column, kind in given.items() if kind != "rest"}


def read_cuts(text: Any) -> list[float]:
    """Where numbers are cut into bins."""
    return [read_number(part, "a cut of bins") for part in split_numbers(str(text))]


def split_numbers(text: str) -> list[str]:
    """Texts of numbers that commas, semicolons or blanks separate."""
    return re.split(r"[\s,;]+", text.strip())


def read_number(text: Any, what: str, kind: type[int] | type[float] = float) -> Any:
    """A finite number from the text of a field, which messages call ``what``.

    >>> read_number("0.05", "the level"), read_number("12", "a count", int)
    (0.05, 12)
    """
    try:
        number = kind(str(text))
        if "_" in str(text) or not str(text).isascii() or not isfinite(number):
            raise ValueError
    except (OverflowError, ValueError):
        noun = "whole number" if kind is int else "number"
        raise InvalidInput(f"{what} must be a {noun}; got {str(text)[:20]!r}") from None
    return number


def read_cells(texts: Any) -> list[float]:
    """The four cells of a reference; an empty one is 0."""
    if not isinstance(texts, list) or len(texts) != 4:
        raise InvalidInput("the reference must have four cells: TP, FN, FP and TN")
    return [read_number(text or 0, "a cell") for text in texts]
