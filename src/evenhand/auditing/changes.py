"""What changed between two audits, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose, isnan, nan
from operator import itemgetter
from typing import Any

import numpy as np

from ..inference import equality_test
from ..metrics import Metric
from ..wording import number, pvalue, several
from .metric_selection import lookup_metric
from .multiplicity import adjust_holm
from .result import Audit
from .results_table import Row, place_text

Facts = dict[str, Any]

_LONGEST, _DIGEST = 200, "the SHA-256 of the data"
_RECORDED = ("axes", "classes", "columns", "negative", "positive", "threshold")


def list_changes(before: Audit, after: Audit) -> Iterator[str]:
    """Say what changed between two audits: verdicts first, then scores, settings and numbers.

    Of other data, the numbers of every row change, which one sentence says; of the same data,
    each change is named.
    """
    first, second = _name_rows(before), _name_rows(after)
    for name in first | second:
        if name not in second:
            yield f"{name} is no longer audited"
        elif name not in first:
            yield f"{name} was not audited before"
        elif first[name].verdict != second[name].verdict:
            yield f"{name} was {first[name].verdict} and is {second[name].verdict}"
    pairs = {name: (row, second[name]) for name, row in first.items() if name in second}
    known = _facts_of_data(before), _facts_of_data(after)
    data = list(_changes_of_facts(*known))
    cells = ([row.cells for row in rows.values()] for rows in (first, second))
    if None in (facts[_DIGEST] for facts in known) and next(cells) != next(cells):
        data.append("the counts changed")
    if data and after.settings.get("protect") is None:
        yield from _changes_beyond_chance(pairs, after.settings["alpha"])
    yield from _changes_of_facts(_facts_of(before), _facts_of(after))
    differences = {name: _first_difference(*pair) for name, pair in pairs.items()}
    changed = {name: found for name, found in differences.items() if found}
    if data:
        others = f"other numbers of {several(len(changed), 'row')} changed"
        yield "; ".join([*data, others] if changed else data)
        return
    for name, (column, was, value) in changed.items():
        if column != "verdict":
            yield f"{name} has another {column}: it was {was} and is {value}"
    said, says = ([finding.sentence for finding in audit.findings] for audit in (before, after))
    if said != says and not changed:
        yield f"the findings changed: there were {len(said)} and are {len(says)}"


def protection_cost(protected: Audit, exact: Audit) -> str:
    """How many verdicts of an exact audit its protected one does not give, in words."""
    rows, shown = _name_rows(exact), _name_rows(protected)
    kept = [
        row for name, row in rows.items() if name in shown and row.verdict == shown[name].verdict
    ]
    hidden = len(rows.keys() - shown)
    differ = len(rows) - hidden - len(kept)
    left, found = (sum(row.differs for row in part) for part in (kept, rows.values()))
    return (
        f"of {several(len(rows), 'verdict')} of the exact audit, {hidden:,} are not shown "
        f"and {differ:,} differ; {left:,} of {several(found, 'difference')} found are left"
    )


def _name_rows(audit: Audit) -> dict[str, Row]:
    """The rows by place, metric and group, in words."""
    rows = {
        (place_text(row.at), row.by, row.group, "goal of " * row.is_goal + row.metric): row
        for row in audit.rows
    }
    return {
        f"{f'{place}: ' if place else ''}{metric} of {group}{f' ({by})' if by else ''}": row
        for (place, by, group, metric), row in sorted(rows.items(), key=itemgetter(0))
    }


def _facts_of(audit: Audit) -> Facts:
    """Versions, what the provenance says of the columns, and settings, by what they are called."""
    known, settings = audit.provenance, audit.settings
    facts = {f"{name} in the provenance": known.get(name) for name in _RECORDED}
    facts |= {f"the setting {name}": settings[name] for name in sorted(settings)}
    return audit.versions | facts


def _changes_of_facts(before: Facts, after: Facts) -> Iterator[str]:
    for name in before | after:
        then, now = before.get(name), after.get(name)
        if then != now:
            yield f"{name} was {_shorten(then)} and is {_shorten(now)}"


def _shorten(value: object) -> str:
    text = "not recorded" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _facts_of_data(audit: Audit) -> Facts:
    source = audit.provenance.get("source") or {}
    facts = {_DIGEST: source.get("sha256"), "the number of rows": source.get("rows")}
    return facts | {"left_out": audit.left_out}


def _changes_beyond_chance(pairs: Mapping[str, tuple[Row, Row]], alpha: float) -> Iterator[str]:
    """Which scores changed by more than chance: each group then against the same group now."""
    pvalues = {name: _change_pvalue(then, now) for name, (then, now) in pairs.items()}
    names = [name for name, p in pvalues.items() if not isnan(p)]
    adjusted = adjust_holm(np.array([pvalues[name] for name in names]))
    for i in np.argsort(adjusted, kind="stable"):
        if adjusted[i] <= alpha:
            scores = " to ".join(number(row.score) for row in pairs[names[i]])
            said = f"by more than chance (adjusted p {pvalue(adjusted[i], alpha)})"
            yield f"{names[i]} changed from {scores}, {said}"
    if names and adjusted.min() > alpha:
        smallest = f"smallest adjusted p {pvalue(adjusted.min(), alpha)}"
        said = "no score changed by more than chance, each group's then against now"
        yield f"{said} ({smallest}, over {several(len(names), 'score')})"


def _change_pvalue(then: Row, now: Row) -> float:
    """The p-value of equal scores of a group then and now; nan if it is not tested."""
    metric = lookup_metric(now.metric)
    is_tested = isinstance(metric, Metric) and not metric.comparisons
    is_apart = now.is_change or now.is_pooled or now.is_goal
    if not is_tested or is_apart or None in (then.cells, now.cells):
        return nan
    # How many independent cases one of a row is worth.
    sizes = [row.n_effective / max(1, row.support) for row in (now, then)]
    now_share, then_share = np.nan_to_num(sizes, nan=1.0)
    cells = np.array([now.cells]) * now_share, np.array([then.cells]) * then_share
    is_whole = now_share == then_share == 1
    if not is_whole and not np.isnan([now.correlation, then.correlation]).all():
        return nan  # Rows have no clusters.
    return float(equality_test(metric.base, *cells, whole=is_whole).pvalues[0])


def _first_difference(then: Row, now: Row) -> tuple[str, object, object] | None:
    """The first column in which two rows differ by more than rounding, and its values."""
    before, after = then.to_dict(), now.to_dict()
    for name in ("verdict", *before):
        was: Any = before[name]
        value: Any = after.get(name)
        # Another machine may round the last digits differently.
        are_numbers = isinstance(was, float) and isinstance(value, float)
        if was != value and not (are_numbers and isclose(was, value, abs_tol=1e-300)):
            return name, was, value
    return None
