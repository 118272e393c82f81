"""Making an audit again from its record, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, brief
from .asked import Function, described
from .rows import place_text
from .settings import settings_of

if TYPE_CHECKING:
    from .result import Audit

__all__ = ["changes_between", "repeated"]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9


def repeated(record: Mapping[str, Any], data: Any) -> Audit:
    """The audit that the call in a record makes, which may come from a file that somebody changed."""
    from . import audits, models, requests

    functions: dict[str, tuple[Callable[..., Audit], Any]] = {
        "audit": (audits.audit, requests.AuditRequest),
        "audit_counts": (audits.audit_counts, requests.CountsRequest),
        "compare_models": (models.compare_models, requests.ModelsRequest),
    }
    name = str(record.get("function"))
    if name not in functions or record.get("at"):
        raise InvalidInput("the record must be that of a whole audit; a part of one cannot be repeated by itself")
    function, request = functions[name]
    given, arguments = _arguments(record, data, settings_of(request).keys())
    return function(given, **arguments)


def _arguments(record: Mapping[str, Any], data: Any, allowed: Any) -> tuple[Any, dict[str, Any]]:
    """The data and the other arguments of a call."""
    source, call = record.get("source"), record.get("call")
    if not isinstance(source, Mapping) or not isinstance(call, Mapping):
        raise InvalidInput("the record must have the tables source and call")
    paths = source.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidInput(f"paths in the record must be a list of texts; got {brief(paths)}")
    for name in call:
        if name not in allowed:
            raise InvalidInput(f"the record has an argument that the audit does not take: {name!r}")
    unknown = [name for name, value in call.items() if value is None]
    if unknown:
        raise InvalidInput(
            f"the audit was made from values of {', '.join(unknown)}, which the record does not contain; audit them "
            "again"
        )
    metrics = call.get("metrics", [])
    own = [key for key in (metrics if isinstance(metrics, list) else []) if isinstance(described(str(key)), Function)]
    if own:
        raise InvalidInput(
            f"the audit was made with functions ({', '.join(map(str, own))}), which the record does not contain; "
            "audit the "
            "data again"
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
    for name in ("columns", "positive", "negative", "classes", "threshold", "axes", "title", "system", "author"):
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
    first, second = ({_whose(row): row for row in each} for each in (rows, rows_now))
    for key in dict.fromkeys([*sorted(first), *sorted(second)]):
        was, now = first.get(key), second.get(key)
        place, by, group, metric = key
        what = f"{f'{place}: ' if place else ''}{metric} of {group} ({by})"
        if now is None:
            yield f"{what} is no longer audited"
        elif was is None:
            yield f"{what} was not audited before"
        elif was["verdict"] != now["verdict"]:
            yield f"{what} was {was['verdict']} and is {now['verdict']}"
        else:
            changed = next(_changed(was, now), None)
            if changed:
                yield f"{what} has another {changed[0]}: it was {changed[1]} and is {changed[2]}"


def _whose(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return place_text(row["at"]), row["by"], row["group"], row["metric"]


def _changed(was: Any, now: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The values that differ, by the path that leads to them; pictures are not compared."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for part in was:
            if part != "sketch":
                yield from _changed(was[part], now.get(part), f"{name}.{part}" if name else part)
    elif not _same(was, now):
        yield name, was, now


def _same(first: Any, second: Any) -> bool:
    """Whether two values are the same, but for the last digits of numbers."""
    if isinstance(first, float) and isinstance(second, float):
        return isclose(first, second, rel_tol=_RELATIVE, abs_tol=1e-300)
    return bool(first == second)
