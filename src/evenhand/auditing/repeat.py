"""Making an audit again from its record, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, brief
from ..inference import equality_test
from ..metrics import Metric
from ..wording import number, pvalue, several
from .metric_selection import Function, lookup_metric
from .multiplicity import adjust_holm
from .rows import place_text
from .settings import settings_of

if TYPE_CHECKING:
    from .result import Audit

__all__ = ["changes_between", "protection_cost", "repeated"]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9


def repeated(record: Mapping[str, Any], data: Any) -> Audit:
    """The audit that the call in a record makes, which may come from a file that somebody changed."""
    from . import audits, models, settings

    functions: dict[str, tuple[Callable[..., Audit], Any]] = {
        "audit": (audits.audit, settings.AuditRequest),
        "audit_counts": (audits.audit_counts, settings.CountsRequest),
        "compare": (models.compare, settings.ModelsRequest),
    }
    name = str(record.get("function"))
    if name not in functions or record.get("at"):
        raise InvalidInput("the provenance must be that of a whole audit; a part of one cannot be repeated by itself")
    function, request = functions[name]
    given, arguments = _arguments(record, data, settings_of(request).keys())
    return function(given, **arguments)


def _arguments(record: Mapping[str, Any], data: Any, allowed: Any) -> tuple[Any, dict[str, Any]]:
    """The data and the other arguments of a call."""
    source, call = record.get("source"), record.get("call")
    if not isinstance(source, Mapping) or not isinstance(call, Mapping):
        raise InvalidInput("the provenance must have the tables source and call")
    paths = source.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidInput(f"paths in the provenance must be a list of texts; got {brief(paths)}")
    for name in call:
        if name not in allowed:
            raise InvalidInput(f"the provenance has an argument that the audit does not take: {name!r}")
    unknown = [name for name, value in call.items() if value is None]
    if unknown:
        raise InvalidInput(
            f"the audit was made from values of {', '.join(unknown)}, which the provenance does not contain; audit "
            "them again"
        )
    metrics = call.get("metrics", [])
    own = [
        key for key in (metrics if isinstance(metrics, list) else []) if isinstance(lookup_metric(str(key)), Function)
    ]
    if own:
        raise InvalidInput(
            f"the audit was made with functions ({', '.join(map(str, own))}), which the provenance does not contain; "
            "audit the "
            "data again"
        )
    if data is None and call.get("protect") is not None:
        raise InvalidInput("a protected audit does not say which data it is of; pass them")
    if data is None and not paths:
        raise InvalidInput("the provenance does not contain the data; pass them")
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
        raise InvalidInput(f"the reference in the provenance must be a name or four counts; got {value!r}")
    return ConfusionMatrix.from_array(value)


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Say what changed between two audits, each as `Audit.to_dict` gives it: verdicts first, then what else is new.

    Of other data, the same number of every row changes, which one sentence says; of the same data each change is said.
    """
    old, new = before["provenance"], after["provenance"]
    pairs = _paired(before["rows"], after["rows"])
    yield from _verdicts(pairs)
    data = list(_of_data(before, after))
    if data and after["settings"].get("protect") is None:
        yield from _beyond_chance(pairs, after["settings"])
    for package in sorted(before["versions"].keys() | after["versions"].keys()):
        was, now = before["versions"].get(package), after["versions"].get(package)
        if was != now:
            yield f"{package} was {_shown(was)} and is {_shown(now)}"
    for name in ("columns", "positive", "negative", "classes", "threshold", "axes"):
        if _of(old, name) != _of(new, name):
            yield f"{name} in the provenance was {_shown(_of(old, name))} and is {_shown(_of(new, name))}"
    for name in sorted(before["settings"].keys() | after["settings"].keys()):
        was, now = before["settings"].get(name), after["settings"].get(name)
        if was != now:
            yield f"the setting {name} was {_shown(was)} and is {_shown(now)}"
    changed = {what: found for what, was, now in pairs if was and now and (found := next(_changed(was, now), None))}
    if data:
        numbers = f"; other numbers of {several(len(changed), 'row')} changed" if changed else ""
        yield f"{'; '.join(data)}{numbers}"
    else:
        for what, (name, was, now) in changed.items():
            if name != "verdict":
                yield f"{what} has another {name}: it was {was} and is {now}"
    said, says = ([finding["sentence"] for finding in each["findings"]] for each in (before, after))
    if said != says and not changed and not data:
        yield f"the findings differ: there were {len(said)}, and there are {len(says)}, or their sentences changed"


def protection_cost(protected: Audit, exact: Audit) -> str:
    """How many verdicts of an exact audit its protected one does not give, in words."""
    shown = {_whose(row.to_dict()): row.verdict for row in protected.rows}
    lost = [row for row in exact.rows if shown.get(_whose(row.to_dict())) != row.verdict]
    found = [row for row in exact.rows if row.differs]
    left = sum(row.differs and shown.get(_whose(row.to_dict())) == row.verdict for row in exact.rows)
    hidden = sum(_whose(row.to_dict()) not in shown for row in exact.rows)
    return (
        f"of {several(len(exact.rows), 'verdict')} of the exact audit, {hidden:,} are not shown and "
        f"{len(lost) - hidden:,} differ; {left:,} of {several(len(found), 'difference')} found are left"
    )


Pair = tuple[str, Mapping[str, Any] | None, Mapping[str, Any] | None]
"""What a row is called, and what it was and is; None if there was or is none."""


def _paired(rows: Sequence[Mapping[str, Any]], rows_now: Sequence[Mapping[str, Any]]) -> list[Pair]:
    first, second = ({_whose(row): row for row in each} for each in (rows, rows_now))
    found = []
    for key in dict.fromkeys([*sorted(first), *sorted(second)]):
        place, by, group, metric = key
        what = f"{f'{place}: ' if place else ''}{metric} of {group} ({by})"
        found.append((what, first.get(key), second.get(key)))
    return found


def _verdicts(pairs: Sequence[Pair]) -> Iterator[str]:
    for what, was, now in pairs:
        if now is None:
            yield f"{what} is no longer audited"
        elif was is None:
            yield f"{what} was not audited before"
        elif was["verdict"] != now["verdict"]:
            yield f"{what} was {was['verdict']} and is {now['verdict']}"


def _of_data(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """What is known to differ between the data of two audits."""
    (old, left_out, cells), (new, left_out_now, cells_now) = (
        (each["provenance"], each["left_out"], [row["cells"] for row in sorted(each["rows"], key=_whose)])
        for each in (before, after)
    )
    for what, sign in (("sha256", "the SHA-256 of the data"), ("rows", "the number of rows")):
        was, now = (_of(_of(record, "source"), what) for record in (old, new))
        if was != now:
            yield f"{sign} was {_shown(was)} and is {_shown(now)}"
    known = all(_of(_of(record, "source"), "sha256") for record in (old, new))
    if not known and cells != cells_now:
        yield "the counts changed"
    if left_out != left_out_now:
        yield f"rows left out were {_shown(left_out)} and are {_shown(left_out_now)}"


def _beyond_chance(pairs: Sequence[Pair], settings: Mapping[str, Any]) -> Iterator[str]:
    """Which groups' scores changed by more than chance: each group then against the same group now, adjusted."""
    tests: dict[str, tuple[float, Mapping[str, Any], Mapping[str, Any]]] = {}
    for what, was, now in pairs:
        m = lookup_metric(str(now["metric"])) if was and now else None
        if was is None or now is None or not isinstance(m, Metric) or m.comparisons or "model" in now["at"]:
            continue
        if was["cells"] is None or now["cells"] is None or "pooled" in now["at"].values():
            continue
        worth = [_worth(one) for one in (now, was)]
        cells = (np.array([one["cells"]], dtype=np.float64) * w for one, w in zip((now, was), worth, strict=True))
        whole = worth == [1.0, 1.0]
        p = float(equality_test(m.base, *cells, whole=whole).pvalues[0])
        if not isnan(p):
            tests[what] = p, was, now
    adjusted = adjust_holm(np.array([p for p, *_ in tests.values()])).tolist()
    alpha = float(settings.get("alpha", 0.05))
    found = [(p, what, *tests[what][1:]) for p, what in zip(adjusted, tests, strict=True)]
    for p, what, was, now in sorted(found, key=lambda each: each[0]):
        if p <= alpha:
            scores = (number(one["score"]["value"]) for one in (was, now))
            yield f"{what} changed from {' to '.join(scores)}, by more than chance (adjusted p {pvalue(p, alpha)})"
    if found and min(adjusted) > alpha:
        yield (
            f"no score changed by more than chance, each group's then against now (smallest adjusted p "
            f"{pvalue(min(adjusted), alpha)}, over {several(len(found), 'score')})"
        )


def _worth(row: Mapping[str, Any]) -> float:
    """How many independent cases one of a row is worth, by its clusters."""
    effective = (row.get("test") or {}).get("effective")
    return 1.0 if effective is None else float(effective) / max(1, min(row["rests_on"]))


def _of(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else None


def _shown(value: Any) -> str:
    text = "not recorded" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _whose(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return place_text(row["at"]), row["by"], row["group"], row["metric"]


def _changed(was: Any, now: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The values that differ, by the path that leads to them."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for part in was:
            yield from _changed(was[part], now.get(part), f"{name}.{part}" if name else part)
    elif not _same(was, now):
        yield name, was, now


def _same(first: Any, second: Any) -> bool:
    """Whether two values are the same, but for the last digits of numbers."""
    if isinstance(first, float) and isinstance(second, float):
        return isclose(first, second, rel_tol=_RELATIVE, abs_tol=1e-300)
    return bool(first == second)
