"""Where the data of an audit came from, how they were read, and the arguments that repeat it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from inspect import signature
from typing import Any, cast

import numpy as np

from .. import __version__
from ..data import Tally
from ..errors import InvalidInput
from .metric_selection import Function, lookup_metric
from .result import Audit
from .settings import Settings, settings_of, to_plain

_COLUMNS = {"label": "y_true", "prediction": "y_pred", "score": "y_score"}


def versions() -> dict[str, str]:
    """The versions of what computed the audit."""
    import scipy

    libraries = {"evenhand": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return libraries | {"python": platform.python_version()}


def provenance_of(
    function: str,
    data: object,
    request: Settings,
    tally: Tally,
    metrics: list[str],
    order: Mapping[str, Iterable[str]],
) -> dict[str, object]:
    """Where the data came from, how they were read, and the call that makes the audit again."""
    columns = {
        what: _column_name(column, name)
        for what, name in _COLUMNS.items()
        if (column := getattr(request, name, None)) is not None
    }
    paths = _paths_of(data)
    made, rule = _now(), request.rule
    return {
        # The time would tell protected audits of different data apart.
        "made": made if rule is None else made.partition("T")[0],
        "protection": None if rule is None else rule.sentence,
        "source": tally.source | ({"paths": paths} if paths else {}),
        "columns": columns | {"groups": list(tally.columns)},
        "positive": to_plain(tally.positive),
        "negative": {column: to_plain(labels[:20]) for column, labels in tally.negative.items()},
        "classes": to_plain(tally.classes or None),
        "threshold": tally.threshold,
        "weight": tally.weighted or None,
        "cluster": tally.cluster and {"column": tally.cluster, "clusters": tally.n_clusters},
        "order": {by: list(groups) for by, groups in order.items()},
        "function": function,
        "call": _record_call(data, request, metrics),
    }


def _record_call(data: object, request: Settings, metrics: list[str]) -> dict[str, object]:
    """The arguments that are not defaults as plain values; None for what cannot be recorded."""
    recorded = request.recorded() | {"metrics": metrics}
    call: dict[str, object] = {}
    for name, (default, known) in settings_of(cast("type", type(request))).items():
        given = getattr(request, name)
        # A group may be called "rest", which is no `ReferenceKind`.
        if type(given) is type(default) and given == default:
            continue
        if name in recorded:
            call[name] = recorded[name]
        elif known.metavar in ("COLUMN", "NAME=COLUMN"):
            call[name] = None if data is None else _names(given, known.many)
        else:
            call[name] = to_plain(given)
    return call


def _names(given: object, many: bool) -> object:
    """The names of columns; None if values were passed, which must not be recorded."""
    if isinstance(given, Mapping):
        return {str(name): _names(column, many=False) for name, column in given.items()}
    is_list = many and isinstance(given, list) and all(isinstance(one, str) for one in given)
    return given if is_list or isinstance(given, str | int) else None


def _column_name(given: object, otherwise: str) -> str:
    is_name = isinstance(given, str | int | tuple)
    return str(given if is_name else getattr(given, "name", None) or otherwise)


def _paths_of(data: object) -> list[str]:
    """The paths that were passed as data."""
    paths = data if isinstance(data, list | tuple) else [data]
    are_paths = all(isinstance(path, str | os.PathLike) for path in paths)
    return [str(path) for path in paths] if are_paths else []


def counts_source(tally: Tally) -> dict[str, object]:
    """What is known of counts that were passed, with a digest that changes with them."""
    assert tally.counts is not None
    cells = tally.counts.cells[0].astype(int)
    lines = [f"{key!r} {tuple(row)!r}" for key, row in zip(tally.keys, cells.tolist(), strict=True)]
    text = "\n".join([repr(tally.columns), *sorted(lines)])
    digest = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return {"kind": "counts", "groups": len(cells), "rows": int(cells.sum()), "sha256": digest}


def _now() -> str:
    """The time, or that of SOURCE_DATE_EPOCH for builds that must be reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    made = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return made.isoformat(timespec="seconds")


# Repeating an audit


def repeat_audit(provenance: Mapping[str, Any], data: object) -> Audit:
    """Make the audit of a provenance again, which may come from a file that somebody changed."""
    from . import audits

    name, call = provenance.get("function"), provenance.get("call") or {}
    if name not in ("audit", "audit_counts", "compare") or provenance.get("at"):
        raise InvalidInput("the provenance must be that of a whole audit, not of a part of one")
    function: Callable[..., Audit] = getattr(audits, name)
    _, *known = signature(function).parameters
    if unknown := sorted(call.keys() - set(known)):
        raise InvalidInput(f"the provenance has an argument that is unknown: {unknown[0]!r}")
    keys = map(str, call.get("metrics") or ())
    given = {
        name: [*one.values()] if isinstance(one, Mapping) else [one] for name, one in call.items()
    }
    lacking = [name for name, values in given.items() if None in values]
    lacking += [key for key in keys if isinstance(lookup_metric(key), Function)]
    if lacking:
        problem = f"the provenance does not contain the values of {', '.join(lacking)}"
        raise InvalidInput(f"{problem}; audit the data again")
    if data is None:
        data = provenance["source"].get("paths")
        if not data or call.get("protect") is not None:
            raise InvalidInput("the provenance does not contain the data; pass them")
    return function(data[0] if isinstance(data, list) and len(data) == 1 else data, **call)
