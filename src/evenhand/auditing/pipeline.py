"""From a tally to an audit: who is compared with whom, what that measures, what it shows, and what is worth saying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..metrics import Metric, RankingMetric
from ..progress import progress
from ..tabulate import Tally
from ..wording import several
from .asked import Function, Measurable, asked_averages, recorded_metrics
from .cell_measures import CellTable, measure_cells
from .class_measures import measure_averages
from .comparisons import Grouped, grouped
from .findings import find
from .judging import judged
from .measures import Measures
from .model_measures import measure_models
from .record import record_of, versions
from .result import Audit
from .row_measures import measure_rows
from .settings import WITHOUT_LABELS, Settings
from .strata_measures import measure_strata

__all__ = ["Called", "audited"]

Called = tuple[str, Any]
"""The function that was called, and its data."""


def audited(
    tally: Tally, metrics: Sequence[Measurable], settings: Settings, called: Called, within: Sequence[str] = ()
) -> Audit:
    """Compare every group of a tally with its reference, and judge what that shows."""
    groups = grouped(tally, settings, within)
    measured = [one for part in groups for one in _measured(part, metrics, tally, settings)]
    rows = judged(measured, settings)
    keys = recorded_metrics(metrics)
    order = {grouping.name: grouping.members for part in reversed(groups) for grouping in part.groupings}
    columns = [column for column in tally.columns if column not in within]
    return Audit(
        rows=rows,
        findings=find(rows, tally, groups, settings, metrics),
        n=tally.n,
        left_out=tally.left_out,
        settings=settings.recorded()
        | {"metrics": keys, "groups": columns, "within": list(within), "labelled": tally.labelled},
        record=record_of(*called, settings, tally, keys, order) | {"axes": _axes(groups), "unknown": _unknown(groups)},
        versions=versions(),
        library=tally.library,
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


def _measured(part: Grouped, metrics: Sequence[Measurable], tally: Tally, how: Settings) -> list[Measures]:
    """The measures of the metrics that read this kind of part."""
    who = part.comparisons
    counted = [m for m in metrics if isinstance(m, Metric)]
    if part.of == "rows":
        return [measure_rows(m, who, how) for m in metrics if isinstance(m, (RankingMetric, Function))]
    if part.of == "models":
        return [measure_models(m, who, how) for m in counted]
    if part.of == "classes":
        return measure_averages(asked_averages(how, tally.classes), who, how)
    selects = any(one.of == "selections" for one in tally.slices)
    read = [m for m in counted if (selects and m.key in WITHOUT_LABELS) == (part.of == "selections")]
    if ("stratum", "pooled") in part.at:
        return [measure_strata(m, who, how) for m in read if not m.comparisons and m.base.curve is not None]
    table = CellTable(who, how.strength)
    return [measure_cells(m, table, how) for m in progress(read, f"auditing {several(len(who), 'group')}")]
