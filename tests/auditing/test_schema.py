"""The JSON schema of saved audits: published, valid, and as strict as the reader.

``python tests/auditing/test_schema.py`` writes it into the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from random_audits import random_audits
from shown_audits import AUDITS

import evenhand as eh
from evenhand.auditing import audit_schema
from evenhand.errors import InvalidInput

PUBLISHED = Path(__file__).parents[2] / "docs/reference/audit.schema.json"
VALIDATOR = Draft202012Validator(audit_schema())


def text() -> str:
    return json.dumps(audit_schema(), indent=2) + "\n"


def saved() -> Iterator[eh.Audit]:
    yield from AUDITS.values()
    yield from random_audits()
    data: dict[str, Any] = {"g": list("ab") * 20, "y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10, "who": list(range(20)) * 2}
    yield eh.audit(data, y_true="y", y_pred="p", groups="g", cluster="who", metrics="tpr")
    yield eh.audit(data | {"g": ["a", None, "b", "b"] * 10}, y_pred="p", groups="g")


def test_the_schema_in_the_documentation_is_that_of_the_code() -> None:
    Draft202012Validator.check_schema(audit_schema())
    assert PUBLISHED.read_text("utf-8") == text(), "run: make schema"


@pytest.mark.slow
def test_every_saved_audit_is_valid() -> None:
    many = 0
    for a in saved():
        errors = [error.message for error in VALIDATOR.iter_errors(json.loads(a.to_json()))]
        assert errors == []
        many += 1
    assert many > 20


def changed(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    new = deepcopy(content)
    inside: Any = new
    for step in path[:-1]:
        inside = inside[step]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return new


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "evenhand.audit/2"),
        (("n",), "many"),
        (("rows",), {}),
        (("rows", 0, "verdict"), "biased"),
        (("rows", 0, "cells"), [1, 2, 3]),
        (("rows", 0, "cells"), [1, 2, 3, -4]),
        (("rows", 0, "score", "value"), "0.5"),
        (("rows", 0, "score"), ...),
        (("rows", 0, "more"), 1),
        (("rows", 0, "rests_on"), 3),
        (("findings", 0, "kind"), "other"),
        (("findings", 0, "severity"), "fatal"),
        (("left_out",), {"y_true": -1}),
        (("settings", "alpha"), ...),
        (("settings", "groups"), []),
        (("versions",), {"evenhand": 1}),
        (("provenance", "source", "rows"), "many"),
        (("provenance", "made"), 1),
        (("provenance", "order"), {"race": [1]}),
        (("provenance", "cluster"), {"column": "who"}),
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(path: tuple[Any, ...], value: Any) -> None:
    content = json.loads(AUDITS["plain"].to_json())
    new = changed(content, path, value)
    assert not VALIDATOR.is_valid(new)
    with pytest.raises(InvalidInput):
        eh.Audit.from_json(json.dumps(new))


if __name__ == "__main__":
    PUBLISHED.write_text(text(), "utf-8")
