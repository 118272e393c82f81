"""Repeating an audit from its provenance, and what changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isclose
from typing import Any

import numpy as np

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, brief
from ..inference import equality_test
from ..metrics import Metric
from ..wording import number, pvalue, several
from .metric_selection import Function, lookup_metric
from .multiplicity import adjust_holm
from .result import Audit
from .results_table import Row, place_text
from .settings import settings_of

#: The rows of two audits by what they are called; None if one of them has no such row.
Pairs = Mapping[str, tuple[Row | None, Row | None]]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9
_LONGEST = 200
_RECORDED = ("columns", "positive", "negative", "classes", "threshold", "axes")


def repeat_audit(provenance: Mapping[str, Any], data: Any) -> Audit:
    """The audit that the call in a provenance makes, which may come from a file that somebody changed."""
    from . import audits, models, settings

    functions: dict[str, tuple[Callable[..., Audit], Any]] = {
        "audit": (audits.audit, settings.AuditRequest),
        "audit_counts": (audits.audit_counts, settings.CountsRequest),
        "compare": (models.compare, settings.ModelsRequest),
    }
    name = str(provenance.get("function"))
    if name not in functions or provenance.get("at"):
        raise InvalidInput("the provenance must be that of a whole audit; a part of one cannot be repeated by itself")
    function, request = functions[name]
    arguments = _check_call(provenance.get("call"), settings_of(request).keys())
    if data is None:
        data = _recorded_data(provenance.get("source"), arguments)
    return function(data, **arguments)


def _check_call(call: Any, allowed: Any) -> dict[str, Any]:
    """The arguments of a recorded call."""
    if not isinstance(call, Mapping):
        raise InvalidInput(f"call in the provenance must be a table; got {brief(call)}")
    for name in call:
        if name not in allowed:
            raise InvalidInput(f"the provenance has an argument that the audit does not take: {name!r}")
    values = [name for name, value in call.items() if value is None]
    if values:
        lacks = f"values of {', '.join(values)}, which the provenance does not contain"
        raise InvalidInput(f"the audit was made from {lacks}; audit them again")
    metrics = call.get("metrics", [])
    keys = [str(key) for key in metrics] if isinstance(metrics, list) else []
    functions = [key for key in keys if isinstance(lookup_metric(key), Function)]
    if functions:
        lacks = f"functions ({', '.join(functions)}), which the provenance does not contain"
        raise InvalidInput(f"the audit was made with {lacks}; audit the data again")
    arguments = dict(call)
    if "reference" in arguments:
        arguments["reference"] = _read_reference(arguments["reference"])
    return arguments


def _recorded_data(source: Any, arguments: Mapping[str, Any]) -> str | list[str]:
    """The paths that were audited."""
    paths = source.get("paths", []) if isinstance(source, Mapping) else None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidInput(f"paths in the provenance must be a list of texts; got {brief(paths)}")
    if arguments.get("protect") is not None:
        raise InvalidInput("a protected audit does not say which data it is of; pass them")
    if not paths:
        raise InvalidInput("the provenance does not contain the data; pass them")
    return paths[0] if len(paths) == 1 else paths


def _read_reference(value: Any) -> Any:
    """A reference from its plain value; four counts are a matrix."""
    if isinstance(value, dict):
        return {by: _read_reference(one) for by, one in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) != 4 or not all(isinstance(cell, (int, float)) for cell in value):
        raise InvalidInput(f"the reference in the provenance must be a name or four counts; got {value!r}")
    return ConfusionMatrix.from_array(value)


# Changes


def list_changes(before: Audit, after: Audit) -> Iterator[str]:
    """Say what changed between two audits: verdicts first, then scores, settings and numbers.

    Of other data, the numbers of every row change, which one sentence says; of the same data, each change is named.
    """
    pairs = pair_rows(before, after)
    yield from _changes_of_verdicts(pairs)
    data = list(_changes_of_data(before, after))
    if data and after.settings.get("protect") is None:
        yield from _changes_beyond_chance(pairs, after.settings)
    yield from _changes_of_items("", before.versions, after.versions)
    recorded = [
        {f"{name} in the provenance": audit.provenance.get(name) for name in _RECORDED} for audit in (before, after)
    ]
    yield from _changes_of_items("", *recorded)
    yield from _changes_of_items("the setting ", before.settings, after.settings)
    columns = {name: _differing_column(then, now) for name, (then, now) in pairs.items() if then and now}
    changed = {name: column for name, column in columns.items() if column is not None}
    if data:
        others = f"; other numbers of {several(len(changed), 'row')} changed" if changed else ""
        yield f"{'; '.join(data)}{others}"
        return
    for name, (column, value, new) in changed.items():
        if column != "verdict":
            yield f"{name} has another {column}: it was {value} and is {new}"
    sentences = [[finding.sentence for finding in audit.findings] for audit in (before, after)]
    if sentences[0] != sentences[1] and not changed:
        counts = f"there were {len(sentences[0])}, and there are {len(sentences[1])}"
        yield f"the findings differ: {counts}, or their sentences changed"


def _changes_of_items(prefix: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        then, now = before.get(name), after.get(name)
        if then != now:
            yield f"{prefix}{name} was {_shorten(then)} and is {_shorten(now)}"


def protection_cost(protected: Audit, exact: Audit) -> str:
    """How many verdicts of an exact audit its protected one does not give, in words."""
    pairs = pair_rows(exact, protected)
    shown = [(row, other) for row, other in pairs.values() if row and other]
    hidden = len(exact.rows) - len(shown)
    differ = sum(row.verdict != other.verdict for row, other in shown)
    left = sum(row.differs and row.verdict == other.verdict for row, other in shown)
    differences = sum(row.differs for row in exact.rows)
    return (
        f"of {several(len(exact.rows), 'verdict')} of the exact audit, {hidden:,} are not shown and "
        f"{differ:,} differ; {left:,} of {several(differences, 'difference')} found are left"
    )


def pair_rows(before: Audit, after: Audit) -> Pairs:
    """The rows of two audits by place, metric and group, in words."""
    keyed = [{_key(row): row for row in audit.rows} for audit in (before, after)]
    pairs = {}
    for key in dict.fromkeys([*sorted(keyed[0]), *sorted(keyed[1])]):
        place, by, group, metric = key
        name = f"{f'{place}: ' if place else ''}{metric} of {group} ({by})"
        pairs[name] = keyed[0].get(key), keyed[1].get(key)
    return pairs


def _key(row: Row) -> tuple[str, str, str, str]:
    return place_text(row.at), row.by, row.group, row.metric


def _changes_of_verdicts(pairs: Pairs) -> Iterator[str]:
    for name, (then, now) in pairs.items():
        if now is None:
            yield f"{name} is no longer audited"
        elif then is None:
            yield f"{name} was not audited before"
        elif then.verdict != now.verdict:
            yield f"{name} was {then.verdict} and is {now.verdict}"


def _changes_of_data(before: Audit, after: Audit) -> Iterator[str]:
    """What is known to differ between the data of two audits."""
    sources = [audit.provenance.get("source") or {} for audit in (before, after)]
    for name, words in (("sha256", "the SHA-256 of the data"), ("rows", "the number of rows")):
        then, now = (source.get(name) for source in sources)
        if then != now:
            yield f"{words} was {_shorten(then)} and is {_shorten(now)}"
    is_known = all(source.get("sha256") for source in sources)
    cells = [[row.cells for row in sorted(audit.rows, key=_key)] for audit in (before, after)]
    if not is_known and cells[0] != cells[1]:
        yield "the counts changed"
    if before.left_out != after.left_out:
        yield f"rows left out were {_shorten(before.left_out)} and are {_shorten(after.left_out)}"


def _changes_beyond_chance(pairs: Pairs, settings: Mapping[str, Any]) -> Iterator[str]:
    """Which scores changed by more than chance: each group then against the same group now, adjusted."""
    names, pvalues = [], []
    for name, (then, now) in pairs.items():
        metric = lookup_metric(now.metric) if then and now else None
        if not then or not now or not isinstance(metric, Metric) or metric.comparisons or now.is_change:
            continue
        if then.cells is None or now.cells is None or now.is_pooled:
            continue
        shares = [_independent_share(row) for row in (now, then)]
        cells = [np.array([row.cells]) * share for row, share in zip((now, then), shares, strict=True)]
        test = equality_test(metric.base, *cells, whole=shares == [1.0, 1.0])
        if not np.isnan(test.pvalues[0]):
            names.append(name)
            pvalues.append(float(test.pvalues[0]))
    if not names:
        return
    adjusted, alpha = adjust_holm(np.array(pvalues)), float(settings["alpha"])
    for i in np.argsort(adjusted, kind="stable"):
        then, now = pairs[names[i]]
        if adjusted[i] <= alpha and then and now:
            scores = f"{number(then.score)} to {number(now.score)}"
            yield f"{names[i]} changed from {scores}, by more than chance (adjusted p {pvalue(adjusted[i], alpha)})"
    if adjusted.min() > alpha:
        smallest = f"smallest adjusted p {pvalue(float(adjusted.min()), alpha)}, over {several(len(names), 'score')}"
        yield f"no score changed by more than chance, each group's then against now ({smallest})"


def _independent_share(row: Row) -> float:
    """How many independent cases one of a row is worth."""
    return 1.0 if np.isnan(row.n_effective) else row.n_effective / max(1, row.support)


def _shorten(value: Any) -> str:
    text = "not recorded" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _differing_column(then: Row, now: Row) -> tuple[str, Any, Any] | None:
    """The first column in which two rows differ by more than rounding, and its values; the verdict before others."""
    if then.verdict != now.verdict:
        return "verdict", then.verdict, now.verdict
    new = now.to_dict()
    for name, value in then.to_dict().items():
        other = new.get(name)
        if isinstance(value, float) and isinstance(other, float):
            is_same = isclose(value, other, rel_tol=_RELATIVE, abs_tol=1e-300)
        else:
            is_same = value == other
        if not is_same:
            return name, value, other
    return None
