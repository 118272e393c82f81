"""The form of the page: its fields from the records of settings, what messages call them, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..auditing import (
    REPORT,
    AuditRequest,
    ModelsRequest,
    ReferenceKind,
    Setting,
    Settings,
    flat_settings,
    join_parts,
    part_names,
    read_texts,
)
from ..errors import InvalidInput
from .parsing import typed_cells, typed_number, typed_whole

__all__ = ["FIELD_NAMES", "LABELS", "form_fields", "given_settings"]

# What has a control of its own on the page.
_CONTROLS = ("metrics", "reference", "group_names")
_KNOWN = (
    flat_settings(ModelsRequest) | flat_settings(AuditRequest) | {name: (None, one) for name, one in REPORT.items()}
)
LABELS = {name: known.page for name, (_, known) in _KNOWN.items()}
"""What settings are called on the page."""
FIELD_NAMES = {
    **{name: f"“{label}”" for name, label in LABELS.items() if label},
    **{part: f"“{LABELS[name]}”" for part, name in part_names(AuditRequest).items()},
    **{"data": "the data", "text": "the file", "reference": "reference", "compare": "“several models”"},
}
"""What messages call the arguments of the library on the page."""


def form_fields() -> list[dict[str, Any]]:
    """The fields of settings: name, label, how it is read, default as text, choices with their words, and hint."""
    return [
        {
            "name": name,
            "label": known.page,
            "reads": known.reads,
            "value": str(default) if _is_text(default) else "",
            "choices": [[value, known.named.get(value, value)] for value in known.named or known.choices],
            "hint": known.hint,
        }
        for name, (default, known) in (flat_settings(Settings) | {name: _KNOWN[name] for name in REPORT}).items()
        if known.page and name not in _CONTROLS
    ]


def _is_text(default: Any) -> bool:
    return default is not None and not isinstance(default, bool)


def given_settings(request: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the fields give; an empty one has its default."""
    typed = {name: known for name, (_, known) in flat_settings(request).items() if known.page and name in asked}
    values = {
        name: _given(name, known, asked[name])
        for name, known in typed.items()
        if asked[name] is not None and asked[name] is not False and asked[name] not in ("", [], {})
    }
    return join_parts(request, values)


def _given(name: str, known: Setting, value: Any) -> Any:
    """A setting as the library takes it: typed texts are read, and what was chosen is passed on."""
    if name == "reference":
        return _reference(value)
    if known.reads == "special" and isinstance(value, str):
        return read_texts(name, [part.strip() for part in value.split(",")] if known.many else [value])
    if known.reads in ("number", "whole"):
        read = typed_number if known.reads == "number" else typed_whole
        values = [read(one, f"`{name}`") if isinstance(one, str) else one for one in _listed(value)]
        return values[0] if len(values) == 1 else values
    if known.reads == "text" and not all(isinstance(one, str) for one in _listed(value)):
        raise InvalidInput(argument=name, must="be text", got=value)
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _reference(asked: Mapping[str, Any]) -> Any:
    """What groups are compared with: ``{"cells": [...]}``, or by column ``{"kind": ...}`` or ``{"group": ...}``.

    The crossing of two columns may have a reference of its own.
    """
    if "cells" in asked:
        return typed_cells(asked["cells"], "the reference")
    crossing, columns = asked.get("crossing"), asked["columns"]
    kinds = {one.get("kind") for one in columns.values()}
    if crossing is None and len(kinds) == 1 and None not in kinds:
        # One kind for all columns holds for crossings, too.
        return _one_reference(next(iter(columns.values())))
    named = {column: _one_reference(one) for column, one in columns.items() if one.get("kind") != ReferenceKind.REST}
    return named if crossing is None else named | {str(crossing["name"]): _one_reference(crossing)}


def _one_reference(one: Mapping[str, Any]) -> Any:
    kind = one.get("kind")
    if kind in (ReferenceKind.REST, ReferenceKind.ALL):
        return ReferenceKind(str(kind))
    return str(one["group"] if kind is None else kind)
