"""What changed between two audits, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

import numpy as np

from ..inference import equality_test
from ..metrics import Metric
from ..wording import number, pvalue, several
from .metric_selection import lookup_metric
from .multiplicity import adjust_holm
from .result import Audit
from .results_table import Row, place_text

#: The rows of two audits by what they are called; None if one of them has no such row.
Pairs = Mapping[str, tuple[Row | None, Row | None]]

# Another machine may round the last digits differently.
_RELATIVE = 1e-9
_LONGEST = 200
_RECORDED = ("columns", "positive", "negative", "classes", "threshold", "axes")


def list_changes(before: Audit, after: Audit) -> Iterator[str]:
    """Say what changed between two audits: verdicts first, then scores, settings and numbers.

    Of other data, the numbers of every row change, which one sentence says; of the same data,
    each change is named.
    """
    pairs = pair_rows(before, after)
    for name, (then, now) in pairs.items():
        if now is None:
            yield f"{name} is no longer audited"
        elif then is None:
            yield f"{name} was not audited before"
        elif then.verdict != now.verdict:
            yield f"{name} was {then.verdict} and is {now.verdict}"
    both = {name: (then, now) for name, (then, now) in pairs.items() if then and now}
    data = list(_changes_of_data(before, after))
    if data and after.settings.get("protect") is None:
        yield from _changes_beyond_chance(both, float(after.settings["alpha"]))
    yield from _changes_of_items(_facts(before), _facts(after))
    changed = {
        name: column
        for name, (then, now) in both.items()
        if (column := _differing_column(then, now)) is not None
    }
    if data:
        others = f"; other numbers of {several(len(changed), 'row')} changed" if changed else ""
        yield f"{'; '.join(data)}{others}"
        return
    for name, column in changed.items():
        value, new = (row.to_dict()[column] for row in both[name])
        if column != "verdict":
            yield f"{name} has another {column}: it was {value} and is {new}"
    first, second = ([finding.sentence for finding in audit.findings] for audit in (before, after))
    if first != second and not changed:
        counts = f"there were {len(first)}, and there are {len(second)}"
        yield f"the findings differ: {counts}, or their sentences changed"


def protection_cost(protected: Audit, exact: Audit) -> str:
    """How many verdicts of an exact audit its protected one does not give, in words."""
    pairs = pair_rows(exact, protected).values()
    shown = [(row, other) for row, other in pairs if row and other]
    hidden = len(exact.rows) - len(shown)
    differ = sum(row.verdict != other.verdict for row, other in shown)
    left = sum(row.differs and row.verdict == other.verdict for row, other in shown)
    differences = sum(row.differs for row in exact.rows)
    return (
        f"of {several(len(exact.rows), 'verdict')} of the exact audit, {hidden:,} are not shown "
        f"and {differ:,} differ; {left:,} of {several(differences, 'difference')} found are left"
    )


def pair_rows(before: Audit, after: Audit) -> Pairs:
    """The rows of two audits by place, metric and group, in words."""
    first, second = ({_key(row): row for row in audit.rows} for audit in (before, after))
    pairs = {}
    for key in dict.fromkeys([*sorted(first), *sorted(second)]):
        place, by, group, metric = key
        name = f"{f'{place}: ' if place else ''}{metric} of {group} ({by})"
        pairs[name] = first.get(key), second.get(key)
    return pairs


def _key(row: Row) -> tuple[str, str, str, str]:
    return place_text(row.at), row.by, row.group, row.metric


def _facts(audit: Audit) -> dict[str, Any]:
    """Versions, what the provenance says of the columns, and settings, by what they are called."""
    names = sorted(_RECORDED)
    return {
        **audit.versions,
        **{f"{name} in the provenance": audit.provenance.get(name) for name in names},
        **{f"the setting {name}": audit.settings[name] for name in sorted(audit.settings)},
    }


def _changes_of_items(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        then, now = before.get(name), after.get(name)
        if then != now:
            yield f"{name} was {_shorten(then)} and is {_shorten(now)}"


def _shorten(value: Any) -> str:
    text = "not recorded" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _changes_of_data(before: Audit, after: Audit) -> Iterator[str]:
    """What is known to differ between the data of two audits."""
    first, second = (audit.provenance.get("source") or {} for audit in (before, after))
    names = {"sha256": "the SHA-256 of the data", "rows": "the number of rows"}
    facts = ({said: source.get(name) for name, said in names.items()} for source in (first, second))
    yield from _changes_of_items(*facts)
    cells = ([row.cells for row in sorted(audit.rows, key=_key)] for audit in (before, after))
    if not (first.get("sha256") and second.get("sha256")) and next(cells) != next(cells):
        yield "the counts changed"
    if before.left_out != after.left_out:
        then, now = _shorten(before.left_out), _shorten(after.left_out)
        yield f"rows left out were {then} and are {now}"


def _changes_beyond_chance(pairs: Mapping[str, tuple[Row, Row]], alpha: float) -> Iterator[str]:
    """Which scores changed by more than chance: each group then against the same group now."""
    pvalues = {name: _change_pvalue(then, now) for name, (then, now) in pairs.items()}
    names = [name for name, p in pvalues.items() if not np.isnan(p)]
    if not names:
        return
    adjusted = adjust_holm(np.array([pvalues[name] for name in names]))
    for i in np.argsort(adjusted, kind="stable"):
        if adjusted[i] <= alpha:
            scores = " to ".join(number(row.score) for row in pairs[names[i]])
            said = f"by more than chance (adjusted p {pvalue(adjusted[i], alpha)})"
            yield f"{names[i]} changed from {scores}, {said}"
    if adjusted.min() > alpha:
        smallest = f"smallest adjusted p {pvalue(float(adjusted.min()), alpha)}"
        over = f"over {several(len(names), 'score')}"
        said = "no score changed by more than chance, each group's then against now"
        yield f"{said} ({smallest}, {over})"


def _change_pvalue(then: Row, now: Row) -> float:
    """The p-value of equal scores of a group then and now; nan if it is not tested."""
    metric = lookup_metric(now.metric)
    is_tested = isinstance(metric, Metric) and not metric.comparisons
    if not is_tested or now.is_change or now.is_pooled or None in (then.cells, now.cells):
        return np.nan
    shares = [_independent_share(row) for row in (now, then)]
    cells = [np.array([row.cells]) * share for row, share in zip((now, then), shares, strict=True)]
    return float(equality_test(metric.base, *cells, whole=shares == [1.0, 1.0]).pvalues[0])


def _independent_share(row: Row) -> float:
    """How many independent cases one of a row is worth."""
    return 1.0 if np.isnan(row.n_effective) else row.n_effective / max(1, row.support)


def _differing_column(then: Row, now: Row) -> str | None:
    """The first column in which two rows differ by more than rounding; the verdict first."""
    before, after = then.to_dict(), now.to_dict()
    for name in ("verdict", *before):
        first: Any = before[name]
        second: Any = after.get(name)
        is_same = first == second
        if isinstance(first, float) and isinstance(second, float):
            is_same = isclose(first, second, rel_tol=_RELATIVE, abs_tol=1e-300)
        if not is_same:
            return name
    return None
