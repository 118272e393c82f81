"""Making an audit again from its record, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from ..records import plain_value
from .row import Row

__all__ = ["arguments_of", "changes_between"]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9


def arguments_of(record: Mapping[str, Any], data: Any) -> tuple[Any, dict[str, Any]]:
    """The data and the other arguments of the call that made an audit.

    Parameters
    ----------
    record : mapping
        The record of the audit.
    data : object
        The data, if the record does not say where they are or they have moved.

    Returns
    -------
    data : object
        The data to audit.
    arguments : dict
        The arguments by name.
    """
    paths = record.get("source", {}).get("paths")
    if data is None:
        data = paths[0] if paths and len(paths) == 1 else paths
    call = dict(record.get("call", {}))
    unknown = [name for name, value in call.items() if value is None]
    if unknown:
        raise InvalidInput(
            f"the audit was made from values of {', '.join(unknown)}, which the record does not contain; audit them "
            "again"
        )
    if data is None:
        raise InvalidInput("the record does not contain the data; pass them")
    if "reference" in call:
        call["reference"] = _reference(call["reference"])
    return data, call


def _reference(value: Any) -> Any:
    if isinstance(value, dict):
        return {by: _reference(one) for by, one in value.items()}
    return ConfusionMatrix(*value) if isinstance(value, list) else value


def changes_between(
    before: tuple[Mapping[str, Any], Mapping[str, Any], tuple[Row, ...]],
    after: tuple[Mapping[str, Any], Mapping[str, Any], tuple[Row, ...]],
) -> Iterator[str]:
    """Say what changed between two audits, each given as record, versions and rows."""
    (old, versions, rows), (new, versions_now, rows_now) = before, after
    for what, sign in (("sha256", "the SHA-256 of the data"), ("rows", "the number of rows")):
        was, now = old.get("source", {}).get(what), new.get("source", {}).get(what)
        if was != now and None not in (was, now):
            yield f"{sign} was {was} and is {now}"
    for package in versions.keys() | versions_now.keys():
        if versions.get(package) != versions_now.get(package):
            yield f"{package} was {versions.get(package)} and is {versions_now.get(package)}"
    yield from _changed_rows(rows, rows_now)


def _changed_rows(rows: tuple[Row, ...], rows_now: tuple[Row, ...]) -> Iterator[str]:
    first, second = ({(row.by, row.group, row.metric): row for row in each} for each in (rows, rows_now))
    for key in sorted(first.keys() | second.keys()):
        by, group, metric = key
        what = f"{metric} of {group} ({by})"
        if key not in second:
            yield f"{what} is no longer audited"
        elif key not in first:
            yield f"{what} was not audited before"
        elif first[key].verdict is not second[key].verdict:
            yield f"{what} was {first[key].verdict} and is {second[key].verdict}"
        else:
            differing = [name for name in Row.columns if not _same(first[key], second[key], name)]
            if differing:
                name = differing[0]
                was, now = (getattr(each[key], name) for each in (first, second))
                yield f"{what} has another {name}: it was {was} and is {now}"


def _same(first: Row, second: Row, name: str) -> bool:
    a, b = (plain_value(getattr(row, name)) for row in (first, second))
    if isinstance(a, float) and isinstance(b, float):
        return isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-300)
    return bool(a == b)
