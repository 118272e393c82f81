"""Saved audits: what is written as JSON, its schema, and how it is read back and checked.

A saved audit has the columns of its table. It may come from a file that somebody changed: it
must have the schema, and numbers that follow from others must agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..confusion import CELLS
from ..errors import InvalidInput, brief
from ..metrics import Metric
from ..records import plain_value
from .findings import KINDS, SEVERITIES, Finding
from .json_schema import Schema, check_schema, closed_object
from .metric_selection import lookup_metric
from .result import Audit
from .results_table import AXES, KIND_OF, ResultsTable
from .settings import WITHOUT_LABELS, ReferenceKind, Settings, settings_of
from .verdict import Verdict

SCHEMA = "evenhand.audit/1"
_VERDICTS = [verdict.value for verdict in Verdict]
# Columns with one of a few texts, and those that may lack it.
_CHOICES: dict[str, list[str | None]] = {
    "question": ["equal scores", "same distribution", "change"],
    "reference_kind": [kind.value for kind in ReferenceKind],
    "gap_kind": ["difference", "ratio", "odds ratio"],
    "verdict": [*_VERDICTS],
    "driver_verdict": [*_VERDICTS, None],
    "direction": ["higher", "lower", None],
}
_COPIED = ("n", "left_out", "provenance", "settings", "versions")


def audit_content(audit: Audit) -> dict[str, Any]:
    """An audit as plain values."""
    return {
        "schema": SCHEMA,
        **{name: plain_value(getattr(audit, name)) for name in _COPIED},
        "overall": audit.overall_table.to_dict(),
        "findings": [finding.to_dict() for finding in audit.findings],
        "rows": audit.table.to_dict(),
    }


def read_audit(text: str) -> Audit:
    """The audit that `Audit.to_json` wrote."""
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
        if "schema" not in dict(content):
            raise ValueError("it has no schema")
    except (TypeError, ValueError, RecursionError) as problem:
        must = "be an audit written by to_json()"
        raise InvalidInput(f"`text` must {must}: {problem}") from None
    check_schema(content, audit_schema(), "the audit")
    known = settings_of(Settings).keys() - {"reference", "metrics"}
    Settings(**{name: content["settings"][name] for name in known})
    audit = Audit(
        table=_read_table(content["rows"], "rows"),
        overall_table=_read_table(content["overall"], "overall"),
        findings=tuple(map(_read_finding, content["findings"])),
        **{name: content[name] for name in _COPIED},
    )
    _check_places(audit)
    if not audit.provenance.get("weight"):
        _check_cells(audit.table)
    _check_sizes(audit)
    return audit


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number in JSON")


def _read_table(columns: Mapping[str, list[Any]], what: str) -> ResultsTable:
    """A table, whose columns are equally long."""
    length = len(columns["metric"])
    arrays = {}
    for name in (*AXES, *KIND_OF):
        if name not in columns:
            continue
        values = columns[name]
        if len(values) != length:
            raise InvalidInput(f"{name} of {what} must have {length} values; got {len(values)}")
        kind = KIND_OF.get(name)
        if kind == "number":
            arrays[name] = np.array(values, dtype=np.float64)
        else:
            arrays[name] = np.fromiter(values, np.int64 if kind == "count" else object, length)
    return ResultsTable(tuple(axis for axis in AXES if axis in columns), arrays)


def _read_finding(values: Mapping[str, Any]) -> Finding:
    """A finding, whose code and severity are those of its kind."""
    finding = Finding(**{**values, "metrics": tuple(values["metrics"])})
    code, severity = KINDS[finding.kind]
    if (finding.code, finding.severity) != (code, severity):
        must = f"must have code {code} and severity {severity}"
        raise InvalidInput(f"a finding of the kind {finding.kind} {must}")
    return finding


# Numbers that must agree


def _check_places(audit: Audit) -> None:
    """All that has a place is on the axes of the audit."""
    tables = (audit.table, audit.overall_table)
    places = [(axis, value) for table in tables for axis in table.axes for value in table[axis]]
    places += [place for finding in audit.findings for place in finding.at.items()]
    for axis, value in places:
        if value is not None and value not in audit.axes.get(axis, ()):
            raise InvalidInput(f"the axes of the audit must contain {axis} {brief(value)}")


def _check_cells(table: ResultsTable) -> None:
    """Cells add up to numbers of cases, and no score has more cases than there are."""
    if (table["support"] > table["n"]).any():
        raise InvalidInput("support of rows must be at most n")
    for prefix in ("", "reference_"):
        n = table[f"{prefix}n"]
        sums = np.sum([table[prefix + cell] for cell in CELLS], axis=0)
        for row in np.flatnonzero(np.abs(sums - n) > 1e-9 * n)[:1]:
            problem = f"{prefix}n of rows is {n[row]}, but the cells add up to {sums[row]:g}"
            raise InvalidInput(problem)


def _check_sizes(audit: Audit) -> None:
    """The rows of a group have the same n, and the groups of a column together all cases."""
    sizes: dict[Any, dict[str, int]] = {}
    unlabelled, part = audit.left_out.get("y_true", 0), audit.provenance.get("at") or {}
    for row in audit.rows:
        at = row.at
        place = tuple(at.get(axis) for axis in ("threshold", "class", "stratum"))
        # Ranking metrics and functions may leave out other cases than cells.
        has_cells = isinstance(lookup_metric(row.metric), Metric)
        is_whole = has_cells and "stratum" not in (part | at)
        selects = unlabelled > 0 and row.metric in WITHOUT_LABELS
        groups = sizes.setdefault((is_whole, selects, has_cells, place, row.by), {})
        if groups.setdefault(row.group, row.n) != row.n:
            of = f"the group {row.group!r} of {row.by!r}"
            raise InvalidInput(f"the rows of {of} must have the same n")
    for (is_whole, selects, _, _, by), groups in sizes.items():
        total, known = audit.n + unlabelled * selects, sum(groups.values())
        left = total - known - audit.unknown.get(by, 0)
        # Cases without a group may be without a label, too, and groups of which rounding
        # leaves nothing have no rows.
        is_open = audit.settings["protect"] is not None
        fits = known <= total if selects else left == 0 or (is_open and left > 0)
        if is_whole and not fits:
            raise InvalidInput(f"the groups of {by!r} have {known} cases, but there are {total}")


# The schema


@cache
def audit_schema() -> Schema:
    """The JSON schema of saved audits: what it refuses, `Audit.from_json` refuses, too.

    >>> audit_schema()["properties"]["schema"]
    {'enum': ['evenhand.audit/1']}
    """
    text: Schema = {"type": ["string", "null"]}
    count: Schema = {"type": "integer", "minimum": 0}
    table: Schema = {"type": "object"}
    texts: Schema = {"type": "array", "items": {"type": "string"}}
    source = dict.fromkeys(("kind", "name", "sha256", "format", "separator", "library"), text)
    source |= dict.fromkeys(("files", "skipped", "size", "rows", "groups"), count)
    cluster = closed_object({"column": {"type": "string"}, "clusters": count})
    provenance: Schema = {
        **dict.fromkeys(("made", "protection", "function"), text),
        **dict.fromkeys(("positive", "negative", "at"), table),
        "call": table | {"properties": {"metrics": texts}},
        "unknown": table | {"additionalProperties": count},
        "source": table | {"properties": source | {"paths": texts}},
        "columns": table | {"properties": {"groups": texts}},
        "order": table | {"additionalProperties": texts},
        "axes": table | {"additionalProperties": {"type": "array"}},
        "cluster": cluster | {"type": ["object", "null"]},
    }
    settings: Schema = {name: {} for name in settings_of(Settings)}
    settings |= dict.fromkeys(("groups", "metrics"), texts | {"minItems": 1})
    settings |= {"strata": texts, "labelled": {"type": "boolean"}}
    finding: Schema = {
        **{"kind": {"enum": [*KINDS]}, "code": {"type": "string"}},
        **{"severity": {"enum": [*SEVERITIES]}, "sentence": {"type": "string"}},
        **{"at": table, "by": text, "group": text, "metrics": texts},
    }
    columns = closed_object({name: _column_schema(name) for name in KIND_OF})
    axis = {"type": ["string", "number", "boolean", "null"]}
    columns["properties"] |= {name: {"type": "array", "items": axis} for name in AXES}
    whole = {
        "schema": {"enum": [SCHEMA]},
        "n": count,
        "left_out": table | {"additionalProperties": count},
        "provenance": table | {"properties": provenance},
        "settings": table | {"properties": settings, "required": sorted(settings)},
        "versions": table | {"additionalProperties": {"type": "string"}},
        "overall": columns,
        "findings": {"type": "array", "items": closed_object(finding)},
        "rows": columns,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('.', ':').replace('/', ':')}",
        "title": "An audit saved by evenhand",
        **{"type": "object", "properties": whole, "required": [*whole]},
    }


def _column_schema(name: str) -> Schema:
    """The schema of a column."""
    value: Schema = {"type": ["string", "null"]}
    if name in _CHOICES:
        value = {"enum": _CHOICES[name]}
    elif name in ("by", "group", "metric", "reference"):
        value = {"type": "string"}
    elif KIND_OF[name] == "count":
        value = {"type": "integer", "minimum": 0, "maximum": 2**62}
    elif KIND_OF[name] == "number":
        low = 0 if name.removeprefix("reference_") in CELLS else -1e300
        value = {"type": ["number", "null"], "minimum": low, "maximum": 1e300}
    return {"type": "array", "items": value}
