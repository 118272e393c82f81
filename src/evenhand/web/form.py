"""The form: its fields from the records of settings, what messages call them, and what they give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

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
Asked = Mapping[str, Any]


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
    texts: list[Any] = value if isinstance(value, list) else [value]
    if setting.reads == "flag":
        return True
    if setting.reads == "labels":
        return texts
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput(argument=name, must="be text", got=value)
    if setting.reads in ("number", "whole"):
        read = read_whole if setting.reads == "whole" else read_number
        numbers = [read(part, f"`{name}`") for part in split_numbers(" ".join(texts))]
        return numbers if len(numbers) > 1 else numbers[0]
    if setting.reads == "special" and name != "reference":
        return read_texts(name, texts)
    return texts if setting.many else texts[0]


def read_columns(name: str, value: Mapping[str, object]) -> object:
    """A setting that has a value for each column; an empty one has none."""
    given = {column: one for column, one in value.items() if one}
    if name == "bins":
        return {column: read_cuts(text) for column, text in given.items()}
    if name != "reference":
        return given
    # One kind for all columns holds for their intersections, too.
    if len(kinds := set(given.values())) == 1 and kinds <= KINDS:
        return kinds.pop()
    return {column: kind for column, kind in given.items() if kind != "rest"}


def split_numbers(text: str) -> list[str]:
    """Texts of numbers that commas, semicolons or blanks separate."""
    return re.split(r"[\s,;]+", text.strip())


def read_cuts(text: object) -> list[float]:
    """Where numbers are cut into bins."""
    return [read_number(part, "a cut of bins") for part in split_numbers(str(text))]


def read_number(text: object, what: str, noun: str = "number") -> float:
    """A finite number from the text of a field, which messages call ``what``.

    >>> read_number("0.05", "the level"), read_whole("12", "a count")
    (0.05, 12)
    """
    shown = str(text)
    with suppress(OverflowError, ValueError):
        number = int(shown) if noun == "whole number" else float(shown)
        if "_" not in shown and shown.isascii() and isfinite(number):
            return number
    raise InvalidInput(f"{what} must be a {noun}; got {shown[:20]!r}")


def read_whole(text: object, what: str) -> int:
    """A whole number from the text of a field."""
    return int(read_number(text, what, "whole number"))


def read_cells(texts: object) -> list[float]:
    """The four cells of a reference; an empty one is 0."""
    if not isinstance(texts, list) or len(texts) != 4:
        raise InvalidInput("the reference must have four cells: TP, FN, FP and TN")
    return [read_number(text or 0, "a cell") for text in texts]
