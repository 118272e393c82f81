"""The groups of a table, and the reference that each is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from numbers import Real
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..metrics import metric as find_metric
from ..tabulate import Key, Tally, in_order
from .settings import MISSING, Chosen, ReferenceKind, Settings, code_text

__all__ = ["EMPTY", "MISSING", "Compared", "Grouping", "compared", "favourable_rates", "groupings_of", "reference_of"]

EMPTY = ConfusionMatrix(0, 0, 0, 0)
_KINDS = (ReferenceKind.REST, ReferenceKind.ALL, Chosen.LARGEST, Chosen.BEST)


@dataclass(frozen=True, slots=True)
class Compared:
    """A group and its reference.

    Attributes
    ----------
    by, group, cm
        The column, the group, and its counts.
    kind, reference
        The kind of reference, and its name.
    against : ConfusionMatrix
        The counts that the group is tested against, which never include the group itself.
    is_reference : bool
        Whether the group is the reference of the others.
    only_two : bool
        Whether there are only two groups, each of which is the rest of the other.
    peers : mapping of str to ConfusionMatrix
        All groups of the column, this one included.
    labelled : bool
        Whether the counts have labels, so that all four cells mean something.
    """

    by: str
    group: str
    cm: ConfusionMatrix
    kind: ReferenceKind
    reference: str
    against: ConfusionMatrix
    is_reference: bool = False
    only_two: bool = False
    peers: Mapping[str, ConfusionMatrix] = field(default_factory=dict, repr=False, compare=False)
    labelled: bool = True

    @property
    def shown(self) -> ConfusionMatrix:
        """The counts of the reference as reported: "all" includes the group."""
        return self.against + self.cm if self.kind is ReferenceKind.ALL else self.against

    @property
    def testable(self) -> bool:
        """Whether group and reference both have cases, and the group is not the reference."""
        return not self.is_reference and self.cm.n > 0 and self.against.n > 0


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of one column, or of a crossing of several.

    Attributes
    ----------
    columns : tuple of str
        The columns.
    name : str
        The column, or ``race & sex``.
    members : dict of str to ConfusionMatrix
        The counts by group.
    parts : dict of tuple to str
        The group by its values in the columns, each by its name and as it is written in the data.
    """

    columns: tuple[str, ...]
    name: str
    members: dict[str, ConfusionMatrix]
    parts: dict[tuple[str, ...], str]

    def find(self, wanted: Any) -> str | None:
        """The group that is meant by its name, or by the name or value in each of the columns."""
        if str(wanted) in self.members:
            return str(wanted)
        parts = tuple(map(code_text, wanted)) if isinstance(wanted, (tuple, list)) else (code_text(wanted),)
        return self.parts.get(parts)


def groupings_of(
    tally: Tally, crossings: int, names: Mapping[str, Mapping[str, str]], cells: Mapping[Key, ConfusionMatrix]
) -> list[Grouping]:
    """The groups of each column and of the crossings of up to so many columns.

    Parameters
    ----------
    tally : Tally
        The columns and the order of their values.
    crossings : int
        The largest number of columns that are crossed.
    names : mapping of str to mapping
        Names for the values of columns.
    cells : mapping of tuple to ConfusionMatrix
        The counts by value in each column.

    Returns
    -------
    list of Grouping
        Single columns first.
    """
    values = [
        in_order({key[i] for key in cells}, tally.orders.get(column, ())) for i, column in enumerate(tally.columns)
    ]
    called = [_names(column, values[i], names.get(column, {})) for i, column in enumerate(tally.columns)]
    ranks = [{value: i for i, value in enumerate(ordered)} for ordered in values]
    groupings: list[Grouping] = []
    for width in range(1, min(crossings, len(tally.columns)) + 1):
        for chosen in combinations(range(len(tally.columns)), width):
            sums: dict[Key, ConfusionMatrix] = {}
            for key, cm in cells.items():
                part = tuple(key[i] for i in chosen)
                sums[part] = sums.get(part, EMPTY) + cm
            ordered = sorted(sums, key=lambda part: [ranks[i][v] for i, v in zip(chosen, part, strict=True)])
            spelled = {part: tuple(called[i][v] for i, v in zip(chosen, part, strict=True)) for part in ordered}
            joined = _distinct({part: " & ".join(named) for part, named in spelled.items()})
            parts = {tuple(map(code_text, part)): joined[part] for part in ordered}
            parts |= {spelled[part]: joined[part] for part in ordered}
            columns = tuple(tally.columns[i] for i in chosen)
            groupings.append(
                Grouping(columns, _title(columns, groupings), {joined[part]: sums[part] for part in ordered}, parts)
            )
    return groupings


def _title(columns: tuple[str, ...], taken: list[Grouping]) -> str:
    """The name of a crossing; a column may be called like one."""
    names = {grouping.name for grouping in taken}
    return next(name for sign in (" & ", " × ", " by ") if (name := sign.join(columns)) not in names)


def _names(column: str, values: list[Any], given: Mapping[str, str]) -> dict[Any, str]:
    """A name for each value; values with the same text, such as 1 and "1", get different names."""
    own = _distinct({value: MISSING if value is None else str(value) for value in values})
    names = {value: given.get(MISSING if value is None else str(value), own[value]) for value in values}
    for name, n in Counter(names.values()).items():
        if n > 1:
            alike = [str(value) for value in values if names[value] == name]
            raise InvalidInput(
                f"labels of {column!r} must give different names to different groups; {' and '.join(alike)} are both "
                f"called {name!r}"
            )
    return names


def _distinct(names: dict[Any, str]) -> dict[Any, str]:
    """The names with those that occur twice replaced by how Python writes the value, and numbered if need be."""
    spelled = {value: repr(value) for value in names if value is not None}
    while twice := {name for name, n in Counter(names.values()).items() if n > 1}:
        clearer = {value: spelled[value] for value, name in names.items() if name in twice and value in spelled}
        if clearer == {value: names[value] for value in clearer}:
            numbered = {value: f"{name} ({i})" for i, (value, name) in enumerate(clearer.items(), start=1)}
            return names | numbered
        names = names | clearer
    return names


def compared(groupings: Sequence[Grouping], how: Settings, labelled: bool) -> list[Compared]:
    """Each group with its reference."""
    known = {name: grouping for grouping in groupings for name in (grouping.name, grouping.columns)}
    known |= {grouping.columns[0]: grouping for grouping in groupings if len(grouping.columns) == 1}
    reference = how.reference
    if isinstance(reference, Mapping):
        for column in reference:
            if column not in known:
                raise UnknownName.among("group column", column, [grouping.name for grouping in groupings])
    return [
        replace(pair, peers=grouping.members, labelled=labelled)
        for grouping in groupings
        for pair in _compared(grouping, reference_of(grouping, reference), how)
    ]


def reference_of(grouping: Grouping, reference: Any) -> Any:
    """The reference of a column or crossing; that of a crossing is the crossing of its columns' references."""
    if not isinstance(reference, Mapping):
        return reference
    for name in (grouping.name, grouping.columns):
        if name in reference:
            return reference[name]
    single = [reference.get(column, ReferenceKind.REST) for column in grouping.columns]
    named = [not isinstance(one, (ReferenceKind, ConfusionMatrix)) and one not in _KINDS for one in single]
    return tuple(single) if len(single) > 1 and all(named) else ReferenceKind.REST


def _compared(grouping: Grouping, reference: Any, how: Settings) -> list[Compared]:
    by, members = grouping.name, grouping.members
    if isinstance(reference, ConfusionMatrix):
        return [
            Compared(by, group, cm, ReferenceKind.MATRIX, "given matrix", reference) for group, cm in members.items()
        ]
    everybody = sum(members.values(), EMPTY)
    if len(members) < 2:
        only = next(iter(members))
        raise InvalidInput(f"{by!r} has only one group with cases ({only!r}), so there is nothing to compare it with")
    # If a group is called "rest" or "all", a reference passed by that name is the group; the default never is.
    name = None if isinstance(reference, ReferenceKind) else grouping.find(reference)
    if name is None and reference in (Chosen.LARGEST, Chosen.BEST):
        name = _chosen(members, how if reference == Chosen.BEST else None)
    if name is None and (matrix := _as_matrix(reference)) is not None:
        return _compared(grouping, matrix, how)
    if name is not None:
        against = members[name]
        return [
            Compared(
                *(by, group, cm, ReferenceKind.GROUP, name),
                everybody - cm if group == name else against,
                is_reference=group == name,
            )
            for group, cm in members.items()
        ]
    if reference in (ReferenceKind.REST, ReferenceKind.ALL):
        kind = ReferenceKind(reference)
        two = sum(cm.n > 0 for cm in members.values()) == 2
        return [
            Compared(by, group, cm, kind, kind.value, everybody - cm, only_two=two) for group, cm in members.items()
        ]
    if isinstance(reference, (tuple, list)) and not all(isinstance(part, Real) for part in reference):
        raise InvalidInput(
            f"the reference of {by!r} must be a group that has cases; {' & '.join(map(str, reference))} has none"
        )
    if isinstance(reference, (tuple, list)):
        raise InvalidInput(f"counts as reference must be ConfusionMatrix(tp, fn, fp, tn); got {reference!r}")
    raise UnknownName.among(f"group of {by!r}", str(reference), members, see=f"groups: {', '.join(list(members)[:8])}")


def _as_matrix(reference: Any) -> ConfusionMatrix | None:
    """The matrix that a text such as ``10,2,3,40`` gives; None for other texts."""
    parts = reference.split(",") if isinstance(reference, str) and len(reference) < 200 else []
    try:
        return ConfusionMatrix(*map(float, parts)) if len(parts) == 4 else None
    except ValueError:
        return None


def _chosen(members: Mapping[str, ConfusionMatrix], how: Settings | None) -> str:
    """The largest group or, given settings, the one with the highest rate of favourable predictions.

    As for impact ratios, only groups with enough cases count.
    """
    if how is None:
        return max(members, key=lambda name: members[name].n)
    rates = favourable_rates(members, how)
    return max(rates, key=lambda name: rates[name])


def favourable_rates(members: Mapping[str, ConfusionMatrix], how: Settings) -> dict[str, float]:
    """The rate of favourable predictions of each group that has enough cases to be compared with.

    Nobody is compared with the cases whose group is missing, unless there is no other group.
    """
    m = find_metric("ppr" if how.favourable == "positive" else "pnr")
    everybody = sum(cm.n for cm in members.values())
    enough = {name: float(m(cm)) for name, cm in members.items() if cm.n >= max(1, how.impact_share * everybody)}
    return {name: rate for name, rate in enough.items() if MISSING not in name.split(" & ")} or enough
