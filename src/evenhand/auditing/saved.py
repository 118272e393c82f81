"""Saved audits: what is written as JSON, its schema, and how it is read back and checked.

A saved audit has the columns of its table. It may come from a file that somebody changed: it must have
the schema, and numbers that follow from others must agree.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..confusion import CELLS
from ..errors import InvalidInput, brief
from ..metrics import Metric
from ..records import plain_value
from .findings import KINDS, SEVERITIES, Finding
from .json_schema import Schema, check_schema, closed_object
from .metric_selection import lookup_metric
from .result import Audit
from .results_table import AXES, KIND_OF, ResultsTable
from .settings import WITHOUT_LABELS, ReferenceKind, Settings
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
_AXIS = ["string", "number", "boolean", "null"]
_NAMES = ("by", "group", "metric", "reference")


def audit_content(audit: Audit) -> dict[str, Any]:
    """An audit as plain values."""
    return {
        "schema": SCHEMA,
        "n": audit.n,
        "left_out": audit.left_out,
        "provenance": plain_value(audit.provenance),
        "settings": plain_value(audit.settings),
        "versions": audit.versions,
        "overall": audit.overall_table.to_dict(),
        "findings": [finding.to_dict() for finding in audit.findings],
        "rows": audit.table.to_dict(),
    }


def read_audit(text: str) -> Audit:
    """The audit that `Audit.to_json` wrote."""
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _not_an_audit("it is nested too deeply") from None
    except (TypeError, ValueError) as problem:
        raise _not_an_audit(problem) from None
    if not isinstance(content, dict) or "schema" not in content:
        raise _not_an_audit("it has no schema")
    check_schema(content, audit_schema(), "the audit")
    known = {one.name for one in fields(Settings)} - {"reference", "metrics"}
    Settings(**{name: content["settings"][name] for name in known})
    findings = [_read_finding(finding) for finding in content["findings"]]
    audit = Audit(
        table=_read_table(content["rows"], "rows"),
        overall_table=_read_table(content["overall"], "overall"),
        findings=tuple(findings),
        **{name: content[name] for name in ("n", "left_out", "provenance", "settings", "versions")},
    )
    _check_places(audit)
    if not audit.provenance.get("weight"):
        _check_cells(audit.table)
    _check_sizes(audit)
    return audit


def _not_an_audit(why: object) -> InvalidInput:
    return InvalidInput(f"`text` must be an audit written by to_json(): {why}")


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number in JSON")


def _read_finding(values: dict[str, Any]) -> Finding:
    """A finding, whose code and severity are those of its kind."""
    finding = Finding(**values | {"metrics": tuple(values["metrics"])})
    code, severity = KINDS[finding.kind]
    if (finding.code, finding.severity) != (code, severity):
        raise InvalidInput(
            f"a finding of the kind {finding.kind} must have code {code} and severity {severity}"
        )
    return finding


def _read_table(columns: dict[str, list[Any]], what: str) -> ResultsTable:
    """A table, whose columns are equally long."""
    axes = tuple(axis for axis in AXES if axis in columns)
    length = len(columns["metric"])
    for name, values in columns.items():
        if len(values) != length:
            raise InvalidInput(f"{name} of {what} must have {length} values; got {len(values)}")
    return ResultsTable(axes, {name: _as_column(name, columns[name]) for name in (*axes, *KIND_OF)})


def _as_column(name: str, values: list[Any]) -> NDArray[Any]:
    kind = KIND_OF.get(name, "text")
    if kind == "number":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kind == "count":
        return np.array(values, dtype=np.int64)
    return np.fromiter(values, dtype=object, count=len(values))


# Numbers that must agree


def _check_places(audit: Audit) -> None:
    """All that has a place is on the axes of the audit."""
    tables = (audit.table, audit.overall_table)
    places = [
        (axis, value) for table in tables for axis in table.axes for value in table.values(axis)
    ]
    places += [place for finding in audit.findings for place in finding.at.items()]
    for axis, value in places:
        if value is not None and value not in audit.axes.get(axis, ()):
            raise InvalidInput(f"the axes of the audit must contain {axis} {brief(value)}")


def _check_cells(table: ResultsTable) -> None:
    """Cells add up to numbers of cases, and no score is computed from more cases than there are."""
    if (table["support"] > table["n"]).any():
        raise InvalidInput("support of rows must be at most n")
    for prefix in ("", "reference_"):
        n = table[f"{prefix}n"]
        sums = np.sum([table[prefix + cell] for cell in CELLS], axis=0)
        for row in np.flatnonzero(np.abs(sums - n) > 1e-9 * n)[:1]:
            raise InvalidInput(
                f"{prefix}n of rows is {n[row]}, but the cells add up to {sums[row]:g}"
            )


def _check_sizes(audit: Audit) -> None:
    """The rows of a group have the same n, and the groups of a column together all cases."""
    sizes: dict[Any, dict[str, int]] = {}
    counts_selections = bool(audit.left_out.get("y_true"))
    in_stratum = "stratum" in (audit.provenance.get("at") or {})
    for row in audit.rows:
        selects = counts_selections and row.metric in WITHOUT_LABELS
        # Ranking scores and functions may leave out other cases than cells.
        has_cells = isinstance(lookup_metric(row.metric), Metric)
        place = tuple(
            (axis, value) for axis, value in row.at.items() if axis in ("threshold", "class")
        )
        groups = sizes.setdefault((selects, has_cells, place, row.at.get("stratum"), row.by), {})
        if groups.setdefault(row.group, row.n) != row.n:
            raise InvalidInput(
                f"the rows of the group {row.group!r} of {row.by!r} must have the same n"
            )
    for (selects, has_cells, _, stratum, by), groups in sizes.items():
        total = audit.n + (audit.left_out.get("y_true", 0) if selects else 0)
        known = sum(groups.values())
        # Cases without a group may be without a label, too.
        left = total - known - audit.unknown.get(by, 0)
        # Groups of which rounding leaves nothing have no rows.
        fits = (
            known <= total
            if selects
            else left == 0 or (left > 0 and audit.settings["protect"] is not None)
        )
        if has_cells and stratum is None and not in_stratum and not fits:
            raise InvalidInput(f"the groups of {by!r} have {known} cases, but there are {total}")


# The schema


@cache
def audit_schema() -> Schema:
    """The JSON schema of saved audits: everything that it refuses, `Audit.from_json` refuses, too.

    >>> audit_schema()["properties"]["schema"]
    {'const': 'evenhand.audit/1'}
    """
    text: Schema = {"type": ["string", "null"]}
    count: Schema = {"type": "integer", "minimum": 0}
    table: Schema = {"type": "object"}
    texts: Schema = {"type": "array", "items": {"type": "string"}}
    source = dict.fromkeys(("kind", "name", "sha256", "format", "separator", "library"), text)
    source |= dict.fromkeys(("files", "skipped", "size", "rows", "groups"), count) | {
        "paths": texts
    }
    cluster = {"column": {"type": "string"}, "clusters": {"type": "integer"}}
    provenance: Schema = {
        **dict.fromkeys(("made", "protection", "function"), text),
        **dict.fromkeys(("positive", "negative", "call", "at"), table),
        "unknown": table | {"additionalProperties": count},
        "source": table | {"properties": source},
        "columns": table | {"properties": {"groups": texts}},
        "order": table | {"additionalProperties": texts},
        "axes": table | {"additionalProperties": {"type": "array"}},
        "cluster": {"type": ["object", "null"], "properties": cluster, "required": [*cluster]},
    }
    settings: Schema = {one.name: {} for one in fields(Settings)}
    settings |= {name: texts | {"minItems": 1} for name in ("groups", "metrics")}
    settings |= {"strata": texts, "labelled": {"type": "boolean"}}
    finding: Schema = {
        **{
            "kind": {"enum": [*KINDS]},
            "code": {"type": "string"},
            "severity": {"enum": [*SEVERITIES]},
        },
        **{
            "at": table,
            "by": text,
            "group": text,
            "metrics": texts,
            "sentence": {"type": "string"},
        },
    }
    columns = closed_object(
        {name: {"type": "array", "items": _value_schema(name)} for name in KIND_OF}
    )
    columns["properties"] |= {axis: {"type": "array", "items": {"type": _AXIS}} for axis in AXES}
    whole: Schema = {
        "schema": {"const": SCHEMA},
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


def _value_schema(column: str) -> Schema:
    """The schema of the values of a column."""
    if column in _CHOICES:
        return {"enum": _CHOICES[column]}
    if KIND_OF[column] == "text":
        return {"type": "string" if column in _NAMES else ["string", "null"]}
    if KIND_OF[column] == "count":
        return {"type": "integer", "minimum": 0, "maximum": 2**62}
    is_cell = column.removeprefix("reference_") in CELLS
    return {"type": ["number", "null"], "minimum": 0 if is_cell else -1e300, "maximum": 1e300}
