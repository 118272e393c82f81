"""Making an audit again from its record, and what changed since."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from .row import Row

__all__ = ["arguments_of", "changes_between", "same_value"]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9


def arguments_of(record: Mapping[str, Any], data: Any, allowed: Container[str]) -> tuple[Any, dict[str, Any]]:
    """The data and the other arguments of the call that made an audit.

    Parameters
    ----------
    record : mapping
        The record of the audit, which may come from a file that somebody changed.
    data : object
        The data, if the record does not say where they are or they have moved.
    allowed : container of str
        The arguments that the function takes.

    Returns
    -------
    data : object
        The data to audit.
    arguments : dict
        The arguments by name.
    """
    source, call = record.get("source"), record.get("call")
    if not isinstance(source, Mapping) or not isinstance(call, Mapping):
        raise InvalidInput("the record must have the tables source and call")
    paths = source.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidInput(f"paths in the record must be a list of texts; got {paths!r}")
    for name in call:
        if name not in allowed:
            raise InvalidInput(f"the record has an argument that the audit does not take: {name!r}")
    unknown = [name for name, value in call.items() if value is None]
    if unknown:
        raise InvalidInput(
            f"the audit was made from values of {', '.join(unknown)}, which the record does not contain; audit them "
            "again"
        )
    if data is None and not paths:
        raise InvalidInput("the record does not contain the data; pass them")
    arguments = dict(call)
    if "reference" in arguments:
        arguments["reference"] = _reference(arguments["reference"])
    return (paths[0] if len(paths) == 1 else paths) if data is None else data, arguments


def _reference(value: Any) -> Any:
    if isinstance(value, dict):
        return {by: _reference(one) for by, one in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) != 4 or not all(isinstance(cell, (int, float)) for cell in value):
        raise InvalidInput(f"the reference in the record must be a name or four counts; got {value!r}")
    return ConfusionMatrix(*value)


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Say what changed between two audits, each as `Audit.to_dict` gives it."""
    old, new = before["record"], after["record"]
    for what, sign in (("sha256", "the SHA-256 of the data"), ("rows", "the number of rows")):
        was, now = (_of(_of(record, "source"), what) for record in (old, new))
        if was != now:
            yield f"{sign} was {_shown(was)} and is {_shown(now)}"
    for package in sorted(before["versions"].keys() | after["versions"].keys()):
        was, now = before["versions"].get(package), after["versions"].get(package)
        if was != now:
            yield f"{package} was {_shown(was)} and is {_shown(now)}"
    for name in ("columns", "positive", "negative", "threshold", "title", "system", "author"):
        if _of(old, name) != _of(new, name):
            yield f"{name} in the record was {_shown(_of(old, name))} and is {_shown(_of(new, name))}"
    for name in sorted(before["settings"].keys() | after["settings"].keys()):
        was, now = before["settings"].get(name), after["settings"].get(name)
        if was != now:
            yield f"the setting {name} was {_shown(was)} and is {_shown(now)}"
    if before["left_out"] != after["left_out"]:
        yield f"rows left out were {_shown(before['left_out'])} and are {_shown(after['left_out'])}"
    changed = list(_changed_rows(before["rows"], after["rows"]))
    yield from changed
    said, says = ([finding["sentence"] for finding in each["findings"]] for each in (before, after))
    if said != says and not changed:
        yield f"the findings differ: there were {len(said)}, and there are {len(says)}, or their sentences changed"


def _of(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else None


def _shown(value: Any) -> str:
    text = "not recorded" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _changed_rows(rows: Sequence[Mapping[str, Any]], rows_now: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first, second = ({(row["by"], row["group"], row["metric"]): row for row in each} for each in (rows, rows_now))
    for key in sorted(first.keys() | second.keys()):
        by, group, metric = key
        what = f"{metric} of {group} ({by})"
        if key not in second:
            yield f"{what} is no longer audited"
        elif key not in first:
            yield f"{what} was not audited before"
        elif first[key]["verdict"] != second[key]["verdict"]:
            yield f"{what} was {first[key]['verdict']} and is {second[key]['verdict']}"
        else:
            differing = [name for name in Row.columns if not same_value(first[key][name], second[key][name])]
            if differing:
                name = differing[0]
                yield f"{what} has another {name}: it was {first[key][name]} and is {second[key][name]}"


def same_value(first: Any, second: Any) -> bool:
    """Whether two values are the same, but for the last digits of numbers."""
    if isinstance(first, float) and isinstance(second, float):
        return isclose(first, second, rel_tol=_RELATIVE, abs_tol=1e-300)
    return bool(first == second)
