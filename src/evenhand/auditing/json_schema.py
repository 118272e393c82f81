"""The part of JSON Schema that saved audits and states of monitors use, and a check against it.

Saved files may have been changed by somebody: what a schema refuses, reading refuses, in a
sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from ..errors import InvalidInput, brief

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
TEXT: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
TABLE: Schema = {"type": "object"}

# What plain values of a type are called, and their Python types.
_TYPES: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "object": ("a table", dict),
    "array": ("a list", list),
    "string": ("text", str),
    "integer": ("a whole number", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "null": ("null", type(None)),
}


def list_of(items: Schema, **limits: int) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": items, **limits}


def table_of(values: Schema) -> Schema:
    """The schema of a table with any names."""
    return TABLE | {"additionalProperties": values}


def closed(properties: Schema) -> Schema:
    """The schema of a table with these names and no others."""
    required = {"properties": properties, "required": [*properties]}
    return TABLE | required | {"additionalProperties": False}


def check_schema(value: object, schema: Schema, what: str) -> None:
    """Raise an error unless a plain value has a schema.

    >>> whole = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> check_schema({"n": "many"}, whole, "the audit")
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: n of the audit must be a whole number; got 'many'
    """
    types = schema.get("type", _TYPES)
    types = [types] if isinstance(types, str) else types
    words = [_TYPES[name][0] for name in types if name != "null"]
    is_valid = any(_has_type(value, name) for name in types)
    if "enum" in schema:
        words = [repr(choice) for choice in schema["enum"] if choice is not None]
        is_valid = value in schema["enum"]
    if not is_valid:
        raise InvalidInput(f"{what} must be {' or '.join(words)}; got {brief(value)}")
    size, of = (len(value), "Items") if isinstance(value, list) else (value, "imum")
    low, high = schema.get(f"min{of}", -inf), schema.get(f"max{of}", inf)
    if isinstance(size, int | float) and not low <= size <= high:
        verb = "have a length" if of == "Items" else "lie"
        must = f"{verb} between {low:g} and {high:g}; got {str(size)[:20]}"
        raise InvalidInput(f"{what} must {must}")
    if isinstance(value, list) and "items" in schema:
        for item in value:
            check_schema(item, schema["items"], f"an item of {what}")
    if isinstance(value, dict) and schema.keys() & {"properties", "additionalProperties"}:
        _check_properties(value, schema, what)


def _has_type(value: object, name: str) -> bool:
    """Whether a plain value has a type; true and false are no numbers."""
    return isinstance(value, _TYPES[name][1]) and isinstance(value, bool) == (name == "boolean")


def _check_properties(values: Mapping[str, object], schema: Schema, what: str) -> None:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name, value in values.items():
        if name not in properties and others is False:
            raise InvalidInput(f"{what} must not have {brief(name)}")
        check_schema(value, properties.get(name, others), f"{name} of {what}")
    for name in schema.get("required", ()):
        if name not in values:
            raise InvalidInput(f"{what} must have {name}")
