"""The part of JSON Schema that saved audits and states of monitors use, and a check of plain values against it.

Saved files may have been changed by somebody: what a schema refuses, reading refuses, in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    required = list(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def check_schema(value: Any, schema: Schema, what: str) -> None:
    """Raise an error unless a plain value has a schema, in the part of JSON Schema that is used above.

    >>> check_schema({"n": "many"}, {"type": "object", "properties": {"n": {"type": "integer"}}}, "the audit")
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: n of the audit must be a whole number; got 'many'
    """
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices is not None and value not in choices:
        listed = ", ".join(repr(choice) for choice in choices if choice is not None)
        raise InvalidInput(
            f"{what} must be {'one of ' * (len(choices) > 1)}{listed}; got {brief(value)}"
        )
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_has_type(value, name) for name in types):
        names = " or ".join(_TYPES[name][0] for name in types if name != "null")
        raise InvalidInput(f"{what} must be {names}; got {brief(value)}")
    if isinstance(value, int | float):
        low, high = schema.get("minimum", -inf), schema.get("maximum", inf)
        if not low <= value <= high:
            raise InvalidInput(
                f"{what} must lie between {low:g} and {high:g}; got {str(value)[:20]}"
            )
    if isinstance(value, list):
        low, high = schema.get("minItems", 0), schema.get("maxItems", inf)
        if not low <= len(value) <= high:
            raise InvalidInput(
                f"{what} must have {'more' if len(value) < low else 'fewer'} than {len(value)} items"
            )
        if items := schema.get("items"):
            for item in value:
                check_schema(item, items, f"an item of {what}")
    if isinstance(value, dict):
        _check_object(value, schema, what)


def _check_object(value: Mapping[str, Any], schema: Schema, what: str) -> None:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
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
