"""Where the data of an audit came from, how they were read, and the arguments that repeat it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from types import NoneType
from typing import Any

import numpy as np

from .. import __version__
from ..data import Tally
from ..errors import InvalidInput, brief
from .settings import ReferenceKind, Settings, settings_of

__all__ = ["check_provenance", "counts_source", "paths_of", "provenance_of", "versions"]

_COLUMNS = {"label": "y_true", "prediction": "y_pred", "score": "y_score"}
_NAMED = (
    "y_true",
    "y_pred",
    "y_score",
    "groups",
    "strata",
    "sample_weight",
    "count",
    "models",
    "model_column",
    "cluster",
)
_TABLES = ("source", "columns", "positive", "negative", "order", "call", "axes", "at", "unknown")


def versions() -> dict[str, str]:
    """The versions of what computed the audit."""
    import scipy

    found = {"evenhand": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return found | {"python": platform.python_version()}


def provenance_of(
    function: str,
    data: Any,
    request: Settings,
    tally: Tally,
    metrics: list[str],
    order: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Where the data came from, how they were read, and the call that makes the audit again."""
    paths = paths_of(data)
    given = {what: getattr(request, name, None) for what, name in _COLUMNS.items()}
    columns = {what: _column_name(column, _COLUMNS[what]) for what, column in given.items() if column is not None}
    # The time would tell runs on different data apart.
    made = _now() if request.rule is None else _now().partition("T")[0]
    return {
        "made": made,
        "protection": None if request.rule is None else request.rule.sentence,
        "source": tally.source | ({"paths": paths} if paths else {}),
        "columns": columns | {"groups": list(tally.columns)},
        "positive": {column: plainly(labels) for column, labels in tally.positive.items()},
        "negative": {column: plainly(labels)[:20] for column, labels in tally.negative.items()},
        "classes": plainly(tally.classes) if tally.classes else None,
        "threshold": tally.threshold,
        "weight": tally.weighted or None,
        "cluster": None if tally.cluster is None else {"column": tally.cluster, "clusters": tally.n_clusters},
        "order": {by: list(groups) for by, groups in order.items()},
        "function": function,
        "call": _call(data, request, metrics),
    }


def _call(data: Any, request: Settings, metrics: list[str]) -> dict[str, Any]:
    """The arguments that differ from the defaults, as plain values; None for what the provenance does not contain."""
    recorded = request.recorded() | {"metrics": metrics}
    defaults = Settings().recorded()
    call: dict[str, Any] = {}
    for name, (field, _) in settings_of(type(request)).items():
        given = getattr(request, name)
        if name in recorded:
            default = metrics if name == "metrics" and request.metrics is None else defaults.get(name)
            if recorded[name] != default:
                call[name] = recorded[name]
        elif given is not None and (not _is_comparable(given) or given != field.default):
            call[name] = _names(given, data, name) if name in _NAMED else plainly(given)
    if not isinstance(request.reference, ReferenceKind):
        # A group may be called "rest", too.
        call["reference"] = recorded["reference"]
    return call


def _is_comparable(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool, list, tuple, dict))


def check_provenance(provenance: Mapping[str, Any]) -> None:
    """Check what was read from a file, which somebody may have changed; what it lacks is not recorded.

    >>> check_provenance({"source": {"rows": "many"}})
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: rows in the source of the provenance must be a number of them; got 'many'
    """
    whole = "the provenance"
    for name in _TABLES:
        _require(provenance.get(name, {}), dict, f"{name} in {whole}", "a table")
    for name in ("made", "protection", "function"):
        _require(provenance.get(name), (str, NoneType), f"{name} in {whole}", "text")
    cluster = provenance.get("cluster")
    known = isinstance(cluster, dict) and [type(cluster.get(name)) for name in ("column", "clusters")] == [str, int]
    if cluster is not None and not known:
        raise InvalidInput(f"cluster in {whole} must name a column and a number of clusters; got {brief(cluster)}")
    source, columns = provenance.get("source", {}), provenance.get("columns", {})
    for name in ("kind", "name", "sha256", "format", "separator", "library"):
        _require(source.get(name), (str, NoneType), f"{name} in the source of {whole}", "text")
    for name in ("files", "skipped", "size", "rows", "groups"):
        if name in source and (type(source[name]) is not int or source[name] < 0):
            raise InvalidInput(f"{name} in the source of {whole} must be a number of them; got {brief(source[name])}")
    for axis, values in provenance.get("axes", {}).items():
        _require(values, list, f"{axis} in the axes of {whole}", "a list")
    lists = {"paths in the source of": source.get("paths", []), "groups in the columns of": columns.get("groups", [])}
    lists |= {f"the order of {by!r} in": groups for by, groups in provenance.get("order", {}).items()}
    for what, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"{what} {whole} must be a list of texts; got {brief(names)}")


def _require(value: Any, kind: Any, what: str, named: str) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"{what} must be {named}; got {brief(value)}")


def paths_of(data: Any) -> list[str]:
    """The paths that were passed as data."""
    each = data if isinstance(data, (list, tuple)) else [data]
    return [str(path) for path in each] if each and all(isinstance(path, (str, os.PathLike)) for path in each) else []


def counts_source(tally: Tally) -> dict[str, Any]:
    """A description of counts that were passed: how many groups and cases, and a digest that changes with them."""
    assert tally.counts is not None
    cells = tally.counts.cells[0]
    lines = sorted(f"{key!r} {tuple(map(int, row))!r}" for key, row in zip(tally.keys, cells, strict=True))
    digest = sha256("\n".join([repr(tally.columns), *lines]).encode("utf-8", "backslashreplace")).hexdigest()
    return {"kind": "counts", "groups": len(cells), "rows": int(cells.sum()), "sha256": digest}


def _now() -> str:
    """The time, or that of SOURCE_DATE_EPOCH for builds that must be reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    made = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return made.isoformat(timespec="seconds")


def plainly(value: Any) -> Any:
    """An argument as JSON can hold it; None for values such as columns, which are not recorded."""
    if isinstance(value, Mapping):
        return {str(name): plainly(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= 1_000:
        return [plainly(part) for part in value]
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, (str, int, float)) else None


def _names(given: Any, data: Any, argument: str) -> Any:
    """The names of columns; None if values were passed, which the provenance does not contain."""
    if data is None:
        return None
    if isinstance(given, Mapping) and argument == "models":
        return {str(name): _names(column, data, "") for name, column in given.items()}
    if argument in ("groups", "strata") and isinstance(given, list) and all(isinstance(name, str) for name in given):
        return list(given)
    return given if isinstance(given, (str, int)) else None


def _column_name(given: Any, otherwise: str) -> str:
    if isinstance(given, (str, int, tuple)):
        return str(given)
    return str(getattr(given, "name", None) or otherwise)
