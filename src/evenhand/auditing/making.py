"""From counts to the parts of an audit: groups, measures, verdicts and record."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import TooLarge, UnknownName
from ..progress import progress
from ..tabulate import Tally
from .findings import find
from .groups import EMPTY, Grouping, compared, groupings_of
from .judge import judge
from .measure import Comparisons, Measured, measure
from .provenance import record_of
from .result import Audit
from .row import Row
from .settings import WITHOUT_LABELS, Settings

__all__ = ["Called", "audited", "audits_together"]

Called = tuple[str, Any, Mapping[str, Any]]
"""The function that was called, its data, and what says how they are read."""
# Marks the columns of a table while several are judged together; no name of a column begins with it.
_MARK = "\0{}\0"


def audited(tally: Tally, how: Settings, called: Called) -> Audit:
    """The audit of a table."""
    (found,) = audits_together([tally], [how], called)
    return found


def audits_together(
    tallies: Sequence[Tally],
    hows: Sequence[Settings],
    called: Called,
    comparable: Callable[[int, Grouping], bool] = lambda _, grouping: True,
) -> list[Audit]:
    """Audit several tables, with p-values that are adjusted over all of them.

    Parameters
    ----------
    tallies : sequence of Tally
        The tables.
    hows : sequence of Settings
        The settings of each, which may differ in reference and labels.
    called : tuple
        The function that was called, the data, and what says how they are read.
    comparable : callable, optional
        Whether to audit the groups of a column or crossing, given the place of the table.

    Returns
    -------
    list of Audit
        One per table.
    """
    marks = [_MARK.format(i) if len(tallies) > 1 else "" for i in range(len(tallies))]
    found = [
        _measured(tally, how, mark, partial(comparable, i))
        for i, (tally, how, mark) in enumerate(zip(tallies, hows, marks, strict=True))
    ]
    rows = judge([one for _, some in found for one in some], hows[0])
    audits = []
    for tally, how, mark, (groupings, _) in zip(tallies, hows, marks, found, strict=True):
        own = tuple(replace(row, by=row.by.removeprefix(mark)) for row in rows if row.by.startswith(mark))
        audits.append(_audit_of(tally, how, called, groupings, own))
    return audits


def _measured(
    tally: Tally, how: Settings, mark: str, comparable: Callable[[Grouping], bool]
) -> tuple[list[Grouping], list[Measured]]:
    """The groups of a table, and the measures of all of them; ``mark`` is put before the names of their columns."""
    chosen = how.chosen(tally.labelled)
    for by in how.names:
        if by not in tally.columns:
            raise UnknownName.among("group column in labels", by, tally.columns)
    crossings = len(tally.columns) if how.crossings == "all" else int(how.crossings)
    selects = how.selection == "all" and tally.labelled and bool(tally.unlabelled)
    labelled_cells = {key: tally.cells.get(key, EMPTY) for key in tally.keys} if selects else tally.cells
    groupings = [one for one in groupings_of(tally, crossings, how.names, labelled_cells) if comparable(one)]
    _check_number(groupings, how)
    batches = [([m for m in chosen if not (selects and m.key in WITHOUT_LABELS)], groupings, tally.labelled)]
    if selects:
        everybody = {key: tally.cells.get(key, EMPTY) + tally.unlabelled.get(key, EMPTY) for key in tally.keys}
        batches.append(
            (
                [m for m in chosen if m.key in WITHOUT_LABELS],
                [one for one in groupings_of(tally, crossings, how.names, everybody) if comparable(one)],
                False,
            )
        )
    work = [
        (m, table)
        for metrics, members, labelled in batches
        for pairs in [compared(members, how, labelled)]
        for table in [Comparisons.of([replace(who, by=f"{mark}{who.by}") for who in pairs], how.strength)]
        for m in metrics
    ]
    total = sum(len(grouping.members) for grouping in groupings)
    measured = [one for m, table in progress(work, f"auditing {total:,} groups") for one in measure(m, table, how)]
    return groupings, measured


def _audit_of(
    tally: Tally, how: Settings, called: Called, groupings: Sequence[Grouping], rows: tuple[Row, ...]
) -> Audit:
    """The audit with these rows."""
    return Audit(
        rows=rows,
        findings=find(rows, tally, groupings, how),
        n=int(tally.total.n),
        left_out=tally.left_out,
        settings=how.recorded(tally.labelled) | {"groups": list(tally.columns), "labelled": tally.labelled},
        record=record_of(*called, tally, how, {grouping.name: grouping.members for grouping in groupings}),
        versions=_versions(),
        library=tally.library,
    )


def _check_number(groupings: Sequence[Grouping], how: Settings) -> None:
    total = sum(len(grouping.members) for grouping in groupings)
    if total > how.max_groups:
        each = ", ".join(f"{len(grouping.members):,} by {grouping.name}" for grouping in groupings)
        raise TooLarge(
            f"there are {total:,} groups ({each}), more than max_groups={how.max_groups:,}; choose a coarser column or "
            "fewer crossings, or raise max_groups"
        )


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    packages = {name: version(name) for name in ("evenhand", "numpy", "scipy")}
    return packages | {"python": platform.python_version()}
