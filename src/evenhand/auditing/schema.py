"""The JSON schema of a saved audit, from the records that it consists of."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..records import record_schema
from .findings import KINDS, Finding
from .overall import Overall
from .result import SCHEMA
from .rows import Row
from .settings import Settings

__all__ = ["audit_schema"]

_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_TABLE: dict[str, Any] = {"type": "object"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}


def audit_schema() -> dict[str, Any]:
    """What `Audit.to_json` writes: everything that this schema refuses, `Audit.from_json` refuses, too.

    >>> audit_schema()["properties"]["schema"]
    {'const': 'evenhand.audit/4'}
    """
    definitions: dict[str, Any] = {}
    row, finding, overall = (record_schema(one, definitions) for one in (Row, Finding, Overall))
    definitions["Finding"]["properties"]["kind"] = {"enum": list(KINDS)}
    parts = {
        "schema": {"const": SCHEMA},
        "n": {"type": "integer"},
        "left_out": {"type": "object", "additionalProperties": _COUNT},
        "provenance": _record(),
        "settings": _settings(),
        "versions": {"type": "object", "additionalProperties": {"type": "string"}},
        "overall": {"type": "array", "items": overall},
        "findings": {"type": "array", "items": finding},
        "rows": {"type": "array", "items": row},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('.', ':').replace('/', ':')}",
        "title": "An audit saved by evenhand",
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "$defs": dict(sorted(definitions.items())),
    }


def _settings() -> dict[str, Any]:
    """Settings are checked by their own rules; the schema says which there are."""
    names = sorted({*(f.name for f in fields(Settings)), "groups", "strata", "labelled"})
    lists = {"groups": _TEXTS | {"minItems": 1}, "metrics": _TEXTS | {"minItems": 1}, "strata": _TEXTS}
    return {"type": "object", "properties": lists, "required": names}


def _record() -> dict[str, Any]:
    """What was audited; an older or shorter record is a record."""
    source = dict.fromkeys(("kind", "name", "sha256", "format", "separator", "library"), _TEXT)
    source |= dict.fromkeys(("files", "size", "rows", "groups"), _COUNT) | {"paths": _TEXTS}
    tables = dict.fromkeys(("positive", "negative", "call", "at", "unknown"), _TABLE)
    cluster = {"type": "object", "properties": {"column": {"type": "string"}, "clusters": {"type": "integer"}}}
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(("made", "function"), _TEXT),
            **tables,
            "source": {"type": "object", "properties": source},
            "columns": {"type": "object", "properties": {"groups": _TEXTS}},
            "order": {"type": "object", "additionalProperties": _TEXTS},
            "axes": {"type": "object", "additionalProperties": {"type": "array"}},
            "cluster": {"anyOf": [cluster | {"required": ["column", "clusters"]}, {"type": "null"}]},
        },
    }
