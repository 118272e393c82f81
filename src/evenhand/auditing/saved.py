"""Saved audits: what is written as JSON, its schema, and how it is read back and checked.

A saved audit has the columns of its table. It may come from a file that somebody changed: it
must have the schema, and numbers that follow from others must agree.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

import numpy as np

from ..arrays import Array
from ..confusion import CELLS
from ..errors import InvalidInput, brief
from ..metrics import Metric
from ..records import plain_value
from .findings import KINDS, SEVERITIES, Finding
from .json_schema import COUNT, STRING, TABLE, TEXT, Schema, check_schema, closed, list_of, table_of
from .metric_selection import lookup_metric
from .result import Audit
from .results_table import AXES, KIND_OF, ResultsTable
from .settings import WITHOUT_LABELS, ReferenceKind, Settings, settings_of
from .verdict import Verdict

SCHEMA = "evenhand.audit/1"
_VERDICTS = [verdict.value for verdict in Verdict]
# Columns with one of a few texts, and those that may lack it.
_CHOICES: dict[str, list[str | None]] = {
    "question": ["equal scores", "same distribution", "change", "change of gap", "goal"],
    "reference_kind": [kind.value for kind in ReferenceKind],
    "gap_kind": ["difference", "ratio", "odds ratio"],
    "verdict": [*_VERDICTS],
    "driver_verdict": [*_VERDICTS, None],
    "direction": ["higher", "lower", None],
}
_COPIED = ("n", "left_out", "provenance", "settings", "versions")


def audit_content(audit: Audit) -> dict[str, object]:
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


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _read_table(columns: Mapping[str, list[object]], what: str) -> ResultsTable:
    """A table, whose columns are equally long."""
    length = len(columns["metric"])
    for name, values in columns.items():
        if len(values) != length:
            raise InvalidInput(f"{name} of {what} must have {length} values; got {len(values)}")
    axes = tuple(axis for axis in AXES if axis in columns)
    kinds = dict.fromkeys(axes, "text") | KIND_OF
    dtypes: dict[str, type] = {"text": object, "count": np.int64, "number": np.float64}
    arrays: dict[str, Array] = {
        name: np.array(columns[name], dtypes[kind]) for name, kind in kinds.items()
    }
    return ResultsTable(axes, arrays)


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
    places = [place for finding in audit.findings for place in finding.at.items()]
    for table in (audit.table, audit.overall_table):
        places += [(axis, value) for axis in table.axes for value in table[axis]]
    for axis, value in places:
        if value is not None and value not in audit.axes.get(axis, ()):
            raise InvalidInput(f"the axes of the audit must contain {axis} {brief(value)}")


def _check_cells(table: ResultsTable) -> None:
    """Cells add up to numbers of cases, and no score has more cases than there are."""
    if (table["support"] > table["n"]).any():
        raise InvalidInput("support of rows must be at most n")
    for prefix in ("", "reference_"):
        n, cells = table[f"{prefix}n"], [table[prefix + cell] for cell in CELLS]
        if (np.abs(np.sum(cells, axis=0) - n) > 1e-9 * n).any():
            raise InvalidInput(f"{prefix}n of rows must be the sum of the cells")


def _check_sizes(audit: Audit) -> None:
    """The rows of a group have the same n, and the groups of a column together all cases."""
    unlabelled, part = audit.left_out.get("y_true", 0), audit.provenance.get("at") or {}
    sizes: defaultdict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    for row in audit.rows:
        at = part | row.at
        # Ranking metrics and functions may leave out other cases than cells.
        has_cells = isinstance(lookup_metric(row.metric), Metric)
        selects = unlabelled > 0 and row.metric in WITHOUT_LABELS
        place = [at.get(axis) for axis in ("threshold", "class", "stratum")]
        groups = sizes[row.by, has_cells, selects, *place]
        if groups.setdefault(row.group, row.n) != row.n:
            of = f"the group {row.group!r} of {row.by!r}"
            raise InvalidInput(f"the rows of {of} must have the same n")
    for (by, has_cells, selects, *_, stratum), groups in sizes.items():
        total, known = audit.n + unlabelled * selects, sum(groups.values())
        left = total - known - audit.unknown.get(by, 0)
        # Cases without a group may be without a label, too, and groups of which rounding
        # leaves nothing have no rows.
        is_open = audit.settings["protect"] is not None
        fits = known <= total if selects else left == 0 or (is_open and left > 0)
        if not fits and has_cells and stratum is None:
            raise InvalidInput(f"the groups of {by!r} have {known} cases, but there are {total}")


# The schema


@cache
def audit_schema() -> Schema:
    """The JSON schema of saved audits: what it refuses, `Audit.from_json` refuses, too.

    >>> audit_schema()["properties"]["schema"]
    {'enum': ['evenhand.audit/1']}
    """
    texts = list_of(STRING)
    names = dict.fromkeys(("kind", "name", "sha256", "format", "separator", "library"), TEXT)
    sizes = dict.fromkeys(("files", "skipped", "size", "rows", "groups"), COUNT)
    cluster = closed({"column": STRING, "clusters": COUNT})
    provenance: Schema = {
        **dict.fromkeys(("made", "protection", "function"), TEXT),
        **dict.fromkeys(("positive", "negative", "at"), TABLE),
        "call": TABLE | {"properties": {"metrics": texts}},
        "unknown": table_of(COUNT),
        "source": TABLE | {"properties": names | sizes | {"paths": texts}},
        "columns": TABLE | {"properties": {"groups": texts}},
        "order": table_of(texts),
        "axes": table_of({"type": "array"}),
        "cluster": cluster | {"type": ["object", "null"]},
    }
    settings: Schema = {name: {} for name in settings_of(Settings)}
    settings |= {"groups": texts, "metrics": list_of(STRING, minItems=1)}
    settings |= {"strata": texts, "labelled": {"type": "boolean"}}
    finding: Schema = {
        **{"kind": {"enum": [*KINDS]}, "code": STRING},
        **{"severity": {"enum": [*SEVERITIES]}, "sentence": STRING},
        **{"at": TABLE, "by": TEXT, "group": TEXT, "metrics": texts},
    }
    columns = closed({name: list_of(_value_schema(name)) for name in KIND_OF})
    axis = {"type": ["string", "number", "boolean", "null"]}
    columns["properties"] |= dict.fromkeys(AXES, list_of(axis))
    whole = {
        "schema": {"enum": [SCHEMA]},
        "n": COUNT,
        "left_out": table_of(COUNT),
        "provenance": TABLE | {"properties": provenance},
        "settings": TABLE | {"properties": settings, "required": sorted(settings)},
        "versions": table_of(STRING),
        "overall": columns,
        "findings": list_of(closed(finding)),
        "rows": columns,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('.', ':').replace('/', ':')}",
        "title": "An audit saved by evenhand",
        **TABLE,
        "properties": whole,
        "required": [*whole],
    }


def _value_schema(name: str) -> Schema:
    """The schema of the values of a column."""
    if name in _CHOICES:
        return {"enum": _CHOICES[name]}
    if KIND_OF[name] == "count":
        return COUNT | {"maximum": 2**62}
    if KIND_OF[name] == "number":
        low = 0 if name.removeprefix("reference_") in CELLS else -1e300
        return {"type": ["number", "null"], "minimum": low, "maximum": 1e300}
    return STRING if name in ("by", "group", "metric", "reference") else TEXT
