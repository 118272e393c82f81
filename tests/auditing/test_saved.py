"""Saved audits: what is written is read back, the schema is published, and what somebody changed is refused.

``python tests/auditing/test_saved.py`` writes the schema into the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from random_audits import random_audits
from shown_audits import AUDITS

import evenhand as eh
from evenhand.auditing import Audit, audit_schema
from evenhand.auditing.json_schema import check_schema
from evenhand.errors import EvenhandError, InvalidInput

PUBLISHED = Path(__file__).parents[2] / "docs/reference/audit.schema.json"
VALIDATOR = Draft202012Validator(audit_schema())
SCHEMA = "evenhand.audit/1"
COUNTS = {"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}


def text() -> str:
    return json.dumps(audit_schema(), indent=2) + "\n"


def saved() -> Iterator[Audit]:
    yield from AUDITS.values()
    yield from random_audits()
    data: dict[str, Any] = {"g": list("ab") * 20, "y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10, "who": list(range(20)) * 2}
    yield eh.audit(data, y_true="y", y_pred="p", groups="g", cluster="who", metrics="tpr")
    yield eh.audit(data | {"w": [0.5, 2.25] * 20}, y_true="y", y_pred="p", groups="g", sample_weight="w", metrics="acc")
    yield eh.audit(data | {"g": ["a", None, "b", "b"] * 10}, y_pred="p", groups="g")


def test_the_schema_in_the_documentation_is_that_of_the_code() -> None:
    Draft202012Validator.check_schema(audit_schema())
    assert PUBLISHED.read_text("utf-8") == text(), "run: make schema"


def test_every_saved_audit_is_valid_and_read_back() -> None:
    for a in saved():
        content = json.loads(a.to_json())
        assert [error.message for error in VALIDATOR.iter_errors(content)] == []
        again = Audit.from_json(a.to_json())
        assert again == a and again.rows == a.rows and again.overall == a.overall
        assert again.to_json() == a.to_json()


def test_an_audit_and_its_parts_survive_json() -> None:
    content = json.loads(eh.audit_counts(COUNTS, metrics=["tpr", "ppr"]).to_json())
    assert content["schema"] == SCHEMA and content["versions"]["evenhand"] == eh.__version__
    assert " ".join(content) == "schema n left_out provenance settings versions overall findings rows"
    assert content["rows"]["verdict"] == ["inconclusive"] * 4
    for a in AUDITS.values():
        for axis, values in a.axes.items():
            part = a.at(**{axis: values[-1]})
            again = Audit.from_json(part.to_json())
            assert again == part and again.axes == part.axes
    for name in ("x" * 200, "\x1b[31mred", "<script>alert(1)</script>", "=cmd()", "a|b\nc", "日本語"):
        a = eh.audit_counts({name: (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr")
        assert name in {r.group for r in Audit.from_json(a.to_json()).rows} and "\x1b" not in repr(a)


def put(path: str, value: Any, *more: tuple[str, Any]) -> str:
    """The audit with another value at a path such as ``rows.n.0``; ``...`` removes what is there."""
    content = json.loads(eh.audit_counts(COUNTS, metrics=["tpr", "ppr"]).to_json())
    for place, new in ((path, value), *more):
        *steps, last = [int(step) if step.isdigit() else step for step in place.split(".")]
        inner = content
        for step in steps:
            inner = inner[step]
        if new is ...:
            del inner[last]
        else:
            inner[last] = new
    return json.dumps(content)


NO_AUDIT = "text must be an audit written by to_json(): "
REFUSED: list[tuple[Any, str]] = [
    (put("schema", ["x"]), f"schema of the audit must be '{SCHEMA}'; got ['x']"),
    ('{"schema": "x"}', f"schema of the audit must be '{SCHEMA}'; got 'x'"),
    (put("n", 35), "the groups of 'group' have 36 cases, but there are 35"),
    (put("n", "36"), "n of the audit must be a whole number; got '36'"),
    (put("n", True), "n of the audit must be a whole number; got True"),
    (put("rows", []), "rows of the audit must be a table; got []"),
    (put("rows.n", ...), "rows of the audit must have n"),
    (put("rows.more", [1, 2, 3, 4]), "rows of the audit must not have 'more'"),
    (put("rows.n", [10]), "n of rows must have 4 values; got 1"),
    (put("rows.n.0", 27), "n of rows must be the sum of the cells"),
    (put("rows.reference_n.0", 3), "reference_n of rows must be the sum of the cells"),
    (put("rows.tp.0", -1), "an item of tp of rows of the audit must lie between 0 and 1e+300; got -1"),
    (put("rows.tp", 7), "tp of rows of the audit must be a list; got 7"),
    (put("rows.n.0", -1), "an item of n of rows of the audit must lie between 0 and "),
    (put("rows.n.0", 2.5), "an item of n of rows of the audit must be a whole number; got 2.5"),
    (put("rows.score.0", True), "an item of score of rows of the audit must be a number; got True"),
    (put("rows.score.0", 10**400), "an item of score of rows of the audit must lie between -1e+300 and 1e+300; got 1"),
    (put("rows.support.0", 99), "support of rows must be at most n"),
    (
        put("rows.n.0", 12, ("rows.n.2", 28), ("rows.tp", [None] * 4)),
        "the rows of the group 'A' of 'group' must have the same n",
    ),
    (put("rows.group.0", None), "an item of group of rows of the audit must be text; got None"),
    (put("rows.verdict.0", "fair"), "an item of verdict of rows of the audit must be 'higher' or 'lower' or "),
    (put("rows.gap_kind.0", "sum"), "an item of gap_kind of rows of the audit must be 'difference' or 'ratio' or "),
    (put("rows.threshold", [0.5] * 4), "the axes of the audit must contain threshold 0.5"),
    (put("rows.threshold", [[0.5]] * 4), "an item of threshold of rows of the audit must be text or a number or "),
    (put("overall.score.0", "x"), "an item of score of overall of the audit must be a number; got 'x'"),
    (put("findings.0.at", {"threshold": {}}), "the axes of the audit must contain threshold {}"),
    (put("findings.0.code", 5), "code of an item of findings of the audit must be text; got 5"),
    (put("findings.0.code", "EH999"), "a finding of the kind inconclusive must have code EH202 and severity note"),
    (put("findings.0.kind", "other"), "kind of an item of findings of the audit must be 'constant' or "),
    (put("left_out", {"y_true": -1}), "y_true of left_out of the audit must lie between 0 and inf; got -1"),
    (put("versions", []), "versions of the audit must be a table; got []"),
    (put("versions.numpy", 2), "numpy of versions of the audit must be text; got 2"),
    (put("settings.confidence_level", ...), "settings of the audit must have confidence_level"),
    (put("settings.confidence_level", "x"), "confidence_level must be a number between 0 and 1; got 'x'"),
    (put("settings.metrics", []), "metrics of settings of the audit must have a length between 1 and inf; got 0"),
    (put("settings.strata", "town"), "strata of settings of the audit must be a list; got 'town'"),
    (put("settings.labelled", 1), "labelled of settings of the audit must be true or false; got 1"),
    (put("provenance.source", 5), "source of provenance of the audit must be a table; got 5"),
    (put("provenance.source.rows", "many"), "rows of source of provenance of the audit must be a whole number; "),
    (put("provenance.at", 5), "at of provenance of the audit must be a table; got 5"),
    (put("provenance.order", {"race": [1]}), "an item of race of order of provenance of the audit must be text; got 1"),
    (put("provenance.made", 5), "made of provenance of the audit must be text; got 5"),
    (put("provenance.source.sha256", 5), "sha256 of source of provenance of the audit must be text; got 5"),
    (put("provenance.source.size", True), "size of source of provenance of the audit must be a whole number; "),
    (put("provenance.source.paths", "d.csv"), "paths of source of provenance of the audit must be a list; "),
    (put("provenance.columns.groups", [1]), "an item of groups of columns of provenance of the audit must be text; "),
    (put("provenance.call", None), "call of provenance of the audit must be a table; got None"),
    (put("provenance.call.metrics", 5), "metrics of call of provenance of the audit must be a list; got 5"),
    (put("provenance.order", {"race": "ab"}), "race of order of provenance of the audit must be a list; got 'ab'"),
    (put("provenance.cluster", {"column": "who"}), "cluster of provenance of the audit must have clusters"),
    (put("settings", ...), "the audit must have settings"),
    ("{", NO_AUDIT),
    ("[1]", NO_AUDIT),
    ("{}", f"{NO_AUDIT}it has no schema"),
    ("[" * 100_000, NO_AUDIT),
    ('{"schema": NaN}', f"{NO_AUDIT}NaN is not a number in JSON"),
    (None, NO_AUDIT),
]


def test_what_is_no_audit_is_refused_in_a_sentence_and_by_the_schema() -> None:
    of_sums = ("the groups", "the rows", "n of rows", "reference_n", "support", "the axes", "a finding", "confidence")
    for content, sentence in REFUSED:
        with pytest.raises(EvenhandError) as found:
            Audit.from_json(content)
        assert str(found.value).startswith(sentence)
        if not sentence.startswith((NO_AUDIT, *of_sums)):
            assert not VALIDATOR.is_valid(json.loads(content)), sentence


def test_own_checks_agree_with_the_standard_on_small_documents() -> None:
    """Every value against every schema, checked here and by jsonschema."""
    values: list[Any] = [None, True, 0, -1, 1.5, "x", [], [1], ["x", None], {}, {"a": 1}, {"a": "x", "b": 2}]
    schemas: list[dict[str, Any]] = [
        {"type": "integer", "minimum": 0}, {"type": ["number", "null"], "maximum": 1}, {"type": "boolean"},
        {"enum": ["x", None, 1.5]}, {"enum": ["x"]}, {"type": "array", "maxItems": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ]  # fmt: skip
    for schema in schemas:
        for value in values:
            try:
                check_schema(value, schema, "it")
                accepted = True
            except InvalidInput:
                accepted = False
            assert accepted == Draft202012Validator(schema).is_valid(value), (schema, value)


if __name__ == "__main__":
    PUBLISHED.write_text(text(), "utf-8")
