"""The part of JSON Schema that saved audits and states of monitors use, and a check against it.

Saved files may have been changed by somebody: what a schema refuses, reading refuses, in a
sentence.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ..errors import InvalidInput, brief

Schema = dict[str, Any]

# What plain values of a type are called, and their Python types.
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "object": ("a table", (dict,)),
    "array": ("a list", (list,)),
    "string": ("text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
}


def closed_object(properties: Schema) -> Schema:
    """The schema of an object with these properties and no others."""
    closed = {"properties": properties, "required": [*properties]}
    return {"type": "object", **closed, "additionalProperties": False}


def check_schema(value: Any, schema: Schema, what: str) -> None:
    """Raise an error unless a plain value has a schema.

    >>> whole = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> check_schema({"n": "many"}, whole, "the audit")
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: n of the audit must be a whole number; got 'many'
    """
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    must = " or ".join(_TYPES[name][0] for name in types if name != "null")
    is_valid = not types or any(_has_type(value, name) for name in types)
    if "enum" in schema:
        is_valid = value in schema["enum"]
        must = " or ".join(repr(choice) for choice in schema["enum"] if choice is not None)
    if not is_valid:
        raise InvalidInput(f"{what} must be {must}; got {brief(value)}")
    is_list = isinstance(value, list)
    if is_list or isinstance(value, int | float):
        size = len(value) if is_list else value
        ends = ("minItems", "maxItems") if is_list else ("minimum", "maximum")
        low, high = schema.get(ends[0], -inf), schema.get(ends[1], inf)
        if not low <= size <= high:
            must = f"{'have a length' if is_list else 'lie'} between {low:g} and {high:g}"
            raise InvalidInput(f"{what} must {must}; got {str(size)[:20]}")
    if is_list and "items" in schema:
        for item in value:
            check_schema(item, schema["items"], f"an item of {what}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", {})
        for name, item in value.items():
            if name not in properties and others is False:
                raise InvalidInput(f"{what} must not have {brief(name)}")
            check_schema(item, properties.get(name, others), f"{name} of {what}")
        for name in schema.get("required", ()):
            if name not in value:
                raise InvalidInput(f"{what} must have {name}")


def _has_type(value: Any, name: str) -> bool:
    """Whether a plain value has a type; true and false are no numbers."""
    return isinstance(value, _TYPES[name][1]) and isinstance(value, bool) == (name == "boolean")
