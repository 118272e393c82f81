"""From a tally to an audit: who is compared with whom, what that measures, what it shows, and what is worth saying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..laws import check_cost
from ..metrics import Metric, RankingMetric
from ..progress import progress
from ..tabulate import Tally
from ..wording import several
from .asked import Function, Measurable, asked_averages, recorded_metrics
from .cell_measures import CellTable, measure_cells
from .class_measures import measure_averages
from .comparisons import Grouped, grouped, strata_names
from .findings import find
from .judging import judged
from .measures import Measures
from .model_measures import measure_models
from .overall import overall_of
from .record import record_of, versions
from .result import Audit
from .row_measures import measure_rows
from .settings import WITHOUT_LABELS, Settings
from .strata_measures import measure_strata

__all__ = ["Called", "audited"]

_MOST_COMPARISONS = 100_000

Called = tuple[str, Any]
"""The function that was called, and its data."""
# Beyond this, larger arrays take more memory and hardly less time.
_MOST_AT_ONCE = 1_000


def audited(
    tally: Tally, metrics: Sequence[Measurable], settings: Settings, called: Called, within: Sequence[str] = ()
) -> Audit:
    """Compare every group of a tally with its reference, and judge what that shows."""
    groups = grouped(tally, settings, within)
    _check_size(groups, metrics)
    over_all = tally if not within else tally.within(within, strata_names(tally, within, settings)).over_strata()
    measured = _measured(groups, metrics, tally, settings)
    rows = judged(measured, settings)
    keys = recorded_metrics(metrics)
    order = {grouping.name: grouping.members for part in reversed(groups) for grouping in part.groupings}
    columns = [column for column in tally.columns if column not in within]
    return Audit(
        rows=rows,
        findings=find(rows, tally, groups, settings, metrics),
        overall=overall_of(over_all, lambda parts: _measured(parts, metrics, tally, settings)),
        n=tally.n,
        left_out=tally.left_out,
        settings=settings.recorded()
        | {"metrics": keys, "groups": columns, "within": list(within), "labelled": tally.labelled},
        record=record_of(*called, settings, tally, keys, order) | {"axes": _axes(groups), "unknown": _unknown(groups)},
        versions=versions(),
        library=tally.library,
    )


def _check_size(groups: Sequence[Grouped], metrics: Sequence[Measurable]) -> None:
    """Refuse more than can be measured in about half a minute before anything is measured."""
    groups_at = sum(len(part.comparisons) for part in groups if part.of != "selections")
    check_cost(
        len(metrics) * groups_at,
        _MOST_COMPARISONS,
        f"auditing {several(len(metrics), 'metric')} of {groups_at:,} groups at all places of the axes takes "
        "{} comparisons",
        "ask for fewer `metrics`, groups, `classes` or thresholds",
    )


def _axes(groups: Sequence[Grouped]) -> dict[str, list[Any]]:
    """The axes and their values, in order."""
    found: dict[str, dict[Any, None]] = {}
    for part in groups:
        for axis, value in part.at:
            found.setdefault(axis, {})[value] = None
    return {axis: list(values) for axis, values in found.items()}


def _unknown(groups: Sequence[Grouped]) -> dict[str, int]:
    """How many cases have no known group, by column or crossing."""
    found: dict[str, int] = {}
    for part in groups:
        # Strata share the cases; places on other axes have the same.
        share = {one.name: int(one.unknown.n) for one in part.groupings if one.unknown is not None and one.unknown.n}
        first = part.of == groups[0].of and dict(part.at).get("stratum") != "pooled"
        elsewhere = [pair for pair in groups[0].at if pair[0] != "stratum"]
        if first and [pair for pair in part.at if pair[0] != "stratum"] == elsewhere:
            found = {name: found.get(name, 0) + share.get(name, 0) for name in (*found, *share)}
    return found


def _measured(parts: Sequence[Grouped], metrics: Sequence[Measurable], tally: Tally, how: Settings) -> list[Measures]:
    """The measures of all parts, each by the metrics that read its kind."""
    return [one for together in _together(parts) for one in _measured_at_once(together, metrics, tally, how)]


def _together(parts: Sequence[Grouped]) -> list[list[Grouped]]:
    """The parts that are measured at once: those of counts, at whatever place, up to some number of comparisons."""
    found: list[list[Grouped]] = []
    latest: dict[Any, int] = {}
    for part in parts:
        joins = part.of in ("cells", "selections") and not _is_pooled(part)
        at = latest.get(part.of)
        if joins and at is not None and sum(len(one.comparisons) for one in found[at]) < _MOST_AT_ONCE:
            found[at].append(part)
            continue
        if joins:
            latest[part.of] = len(found)
        found.append([part])
    return found


def _is_pooled(part: Grouped) -> bool:
    return ("stratum", "pooled") in part.at


def _measured_at_once(
    parts: Sequence[Grouped], metrics: Sequence[Measurable], tally: Tally, how: Settings
) -> list[Measures]:
    """The measures of parts of one kind, by the metrics that read them."""
    of, who = parts[0].of, [one for part in parts for one in part.comparisons]
    counted = [m for m in metrics if isinstance(m, Metric)]
    if of == "rows":
        return [measure_rows(m, who, how) for m in metrics if isinstance(m, (RankingMetric, Function))]
    if of == "models":
        return [measure_models(m, who, how) for m in counted]
    if of == "classes":
        # Averages have no bound over all tables that are rounded to the same counts.
        return measure_averages(asked_averages(how, tally.classes), who, how) if how.rule is None else []
    selects = any(one.of == "selections" for one in tally.slices)
    read = [m for m in counted if (selects and m.key in WITHOUT_LABELS) == (of == "selections")]
    if _is_pooled(parts[0]):
        return [measure_strata(m, who, how) for m in read if not m.comparisons and m.base.curve is not None]
    table = CellTable(who, how.strength)
    groups = len({(one.by, one.group) for one in who})
    return [measure_cells(m, table, how) for m in progress(read, f"auditing {several(groups, 'group')}")]
