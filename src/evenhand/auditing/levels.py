"""The audit of each level of a control feature, and each group's counts in all levels.

P-values are adjusted over the levels too: one family holds the comparisons of a metric in all of them. A group, or the
reference of a column, may be missing in a level; what cannot be compared there is not audited there, and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, TooLarge, UnknownName
from ..tabulate import Key, Tally, in_order
from .groups import EMPTY, Compared, Grouping, compared, groupings_of
from .making import Called, audits_together
from .provenance import counts_source
from .result import Audit
from .settings import ReferenceKind, Settings, code_text

__all__ = ["AuditedLevels", "Level", "audit_levels"]

Cells = Mapping[Key, ConfusionMatrix]


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the control features.

    Attributes
    ----------
    name : str
        The level, such as ``40 and above``, or ``40 and above & high`` of two features.
    n : int
        Its number of cases.
    left_out : dict of str to int
        How many of its rows were left out, by what they lack.
    audit : Audit or None
        The audit; None if nothing can be compared.
    not_audited : dict of str to str
        By column or crossing, why its groups cannot be compared.
    pairs, selections : list of Compared
        Every group of the data with its reference, by their counts in this level: of cases, and of all rows that
        selection rates count.
    """

    name: str
    n: int
    left_out: dict[str, int]
    audit: Audit | None
    not_audited: dict[str, str]
    pairs: list[Compared]
    selections: list[Compared]


@dataclass(frozen=True, slots=True)
class AuditedLevels:
    """All levels, and the groups over all of them.

    Attributes
    ----------
    levels : list of Level
        The levels in their order.
    pairs : list of Compared
        Every group with its reference, by their counts in all levels together, in the order of those of a level.
    settings : dict
        The settings, as an audit records them.
    """

    levels: list[Level]
    pairs: list[Compared]
    settings: dict[str, Any]


def audit_levels(tally: Tally, control: Sequence[str], how: Settings, called: Called) -> AuditedLevels:
    """Audit every level of the control features.

    Parameters
    ----------
    tally : Tally
        Counts by group columns and control features.
    control : sequence of str
        Which of its columns are control features.
    how : Settings
        The settings. ``"largest"`` and ``"best"`` are chosen over all levels together.
    called : tuple
        The function that was called, the data, and what says how they are read.

    Returns
    -------
    AuditedLevels
        The audits and the counts.
    """
    groups = tuple(column for column in tally.columns if column not in control)
    if not tally.source:
        tally = replace(tally, source=counts_source(tally.cells, tally.columns))
    for by in how.names:
        if by not in tally.columns:
            raise UnknownName.among("column in labels", by, tally.columns)
    everybody = _projected(tally, groups, {})
    names = {by: names for by, names in how.names.items() if by in groups}
    crossings = len(groups) if how.crossings == "all" else int(how.crossings)
    selects = how.selection == "all" and tally.labelled and bool(tally.unlabelled)
    total = groupings_of(everybody, crossings, names, _cases(everybody, selects))
    pairs = compared(total, how, tally.labelled)
    resolved = replace(how, reference=_resolved(pairs))
    tables = {name: _projected(tally, groups, values) for name, values in _levels(tally, control, how).items()}
    _check_number(tables, total, control, how)

    planned: dict[str, tuple[Tally, Settings, set[str]]] = {}
    refused: dict[str, dict[str, str]] = {}
    for name, table in tables.items():
        refused[name] = _not_comparable(table, crossings, names, selects, resolved)
        kept = tuple(column for column in groups if column not in refused[name])
        if kept:
            narrowed = _projected(table, kept, {})
            inside = groupings_of(narrowed, crossings, names, _cases(narrowed, selects))
            comparable = {one.name for one in inside if one.name not in refused[name]}
            assert isinstance(resolved.reference, Mapping)
            reference: Any = {by: one for by, one in resolved.reference.items() if by in comparable}
            if isinstance(how.reference, ReferenceKind):
                reference = how.reference
            labels = {by: given for by, given in (how.labels or {}).items() if by in kept}
            planned[name] = narrowed, replace(how, reference=reference, labels=labels), comparable
    kept_names = [comparable for _, _, comparable in planned.values()]
    audits = (
        audits_together(
            [table for table, _, _ in planned.values()],
            [settings for _, settings, _ in planned.values()],
            called,
            lambda i, grouping: grouping.name in kept_names[i],
        )
        if planned
        else []
    )
    audited = dict(zip(planned, audits, strict=True))

    def counted(cells: Cells, labelled: bool) -> list[Compared]:
        present = {key: cells.get(key, EMPTY) for key in _cases(everybody, selects)}
        return compared(groupings_of(everybody, crossings, names, present), resolved, labelled)

    levels = []
    for name, table in tables.items():
        of_cases = counted(table.cells, tally.labelled)
        levels.append(
            Level(
                name=name,
                n=int(table.total.n),
                left_out=table.left_out,
                audit=_marked(audited.get(name), name),
                not_audited=refused[name],
                pairs=of_cases,
                selections=counted(_selections(table), False) if selects else of_cases,
            )
        )
    settings = how.recorded(tally.labelled) | {"groups": list(groups), "control": list(control)}
    return AuditedLevels(levels, pairs, settings | {"labelled": tally.labelled})


def _marked(audit: Audit | None, name: str) -> Audit | None:
    """The audit with its level in the record; the command knows no levels."""
    return None if audit is None else replace(audit, record=audit.record | {"level": name, "command": None})


def _cases(tally: Tally, selects: bool) -> Cells:
    return {key: tally.cells.get(key, EMPTY) for key in tally.keys} if selects else tally.cells


def _selections(tally: Tally) -> Cells:
    return {key: tally.cells.get(key, EMPTY) + tally.unlabelled.get(key, EMPTY) for key in tally.keys}


def _projected(tally: Tally, columns: tuple[str, ...], where: Mapping[str, Any]) -> Tally:
    """The counts by some of the columns, of rows that have these values in others."""
    at = [tally.columns.index(column) for column in columns]
    chosen = [(tally.columns.index(column), value) for column, value in where.items()]

    def summed(cells: Cells) -> dict[Key, ConfusionMatrix]:
        sums: dict[Key, ConfusionMatrix] = {}
        for key, cm in cells.items():
            if all(key[i] == value for i, value in chosen):
                part = tuple(key[i] for i in at)
                sums[part] = sums.get(part, EMPTY) + cm
        return sums

    left_out_by: dict[Key, dict[str, int]] = {}
    for key, lacking in tally.left_out_by.items():
        if all(key[i] == value for i, value in chosen):
            part = tuple(key[i] for i in at)
            left_out_by[part] = dict(Counter(left_out_by.get(part, {})) + Counter(lacking))
    return replace(
        tally,
        columns=columns,
        cells=summed(tally.cells),
        unlabelled=summed(tally.unlabelled),
        left_out=dict(sum(map(Counter, left_out_by.values()), Counter[str]())),
        left_out_by=left_out_by,
        orders={column: order for column, order in tally.orders.items() if column in columns},
    )


def _levels(tally: Tally, control: Sequence[str], how: Settings) -> dict[str, dict[str, Any]]:
    """The values of the control features by the name of their level, in the order of the values."""
    at = [tally.columns.index(column) for column in control]
    found = {tuple(key[i] for i in at) for key in tally.keys}
    ranks = [
        {value: place for place, value in enumerate(in_order({key[i] for key in found}, tally.orders.get(column, ())))}
        for i, column in enumerate(control)
    ]
    ordered = sorted(found, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])
    own = {key: " & ".join(map(code_text, key)) for key in ordered}
    spelled = Counter(own.values())
    called = [how.names.get(column, {}) for column in control]
    levels: dict[str, dict[str, Any]] = {}
    for key in ordered:
        named = " & ".join(
            names.get(code_text(value), code_text(value)) for names, value in zip(called, key, strict=True)
        )
        # Values with the same text, such as 1 and "1".
        name = named if spelled[own[key]] == 1 else " & ".join(map(repr, key))
        if name in levels:
            raise InvalidInput(f"labels must give different names to different levels; two are called {name!r}")
        levels[name] = dict(zip(control, key, strict=True))
    return levels


def _resolved(pairs: Sequence[Compared]) -> dict[str, str]:
    """The reference of each column and crossing, the same in all levels."""
    for pair in pairs:
        if pair.kind is ReferenceKind.MATRIX:
            raise InvalidInput(
                "the reference must be 'rest', 'all', 'largest', 'best' or the name of a group; a matrix has no levels"
            )
    return {pair.by: pair.reference if pair.kind is ReferenceKind.GROUP else pair.kind for pair in pairs}


def _not_comparable(
    table: Tally, crossings: int, names: Mapping[str, Mapping[str, str]], selects: bool, how: Settings
) -> dict[str, str]:
    """By column or crossing, why the groups of a level cannot be compared."""
    assert isinstance(how.reference, Mapping)
    cells = _cases(table, selects)
    if not cells:
        return dict.fromkeys(table.columns, "no group has cases")
    refused: dict[str, str] = {}
    for grouping in groupings_of(table, crossings, names, cells):
        reference = how.reference[grouping.name]
        if any(column in refused for column in grouping.columns):
            continue
        if len(grouping.members) < 2:
            refused[grouping.name] = f"only one group has cases ({next(iter(grouping.members))})"
        elif not isinstance(reference, ReferenceKind) and grouping.find(reference) is None:
            refused[grouping.name] = f"its reference {reference} has no cases"
    return refused


def _check_number(
    tables: Mapping[str, Tally], groupings: Sequence[Grouping], control: Sequence[str], how: Settings
) -> None:
    total = len(tables) * sum(len(grouping.members) for grouping in groupings)
    if total > how.max_groups:
        raise TooLarge(
            f"there are {len(tables):,} levels of {' & '.join(control)} with {total // len(tables):,} groups each, "
            f"more than max_groups={how.max_groups:,} in all; cut numbers with bins=, choose coarser columns or fewer "
            "crossings, or raise max_groups"
        )
