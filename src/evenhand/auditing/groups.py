"""The groups of a table, and the reference that each is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..tabulate import Tally

__all__ = ["MISSING", "Compared", "Groups", "ReferenceKind", "compared", "groups_of"]

Groups = dict[str, dict[str, ConfusionMatrix]]
"""Matrices by group column and group."""

MISSING = "(missing)"
_EMPTY = ConfusionMatrix(0, 0, 0, 0)


class ReferenceKind(StrEnum):
    """What a group is compared with."""

    REST = "rest"
    ALL = "all"
    GROUP = "group"
    MATRIX = "matrix"


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
    """

    by: str
    group: str
    cm: ConfusionMatrix
    kind: ReferenceKind
    reference: str
    against: ConfusionMatrix
    is_reference: bool = False
    only_two: bool = False

    @property
    def shown(self) -> ConfusionMatrix:
        """The counts of the reference as reported: "all" includes the group."""
        return self.against + self.cm if self.kind is ReferenceKind.ALL else self.against

    @property
    def testable(self) -> bool:
        """Whether group and reference both have cases, and the group is not the reference."""
        return not self.is_reference and self.cm.n > 0 and self.against.n > 0


def groups_of(tally: Tally, intersections: bool) -> Groups:
    """The matrices of the groups of each column and, if there are several columns, of their intersection."""
    groups: Groups = {}
    for i, column in enumerate(tally.columns):
        sums: dict[Any, ConfusionMatrix] = {}
        for key, cm in tally.cells.items():
            sums[key[i]] = sums.get(key[i], _EMPTY) + cm
        names = _names(list(sums))
        groups[column] = {names[value]: cm for value, cm in sums.items()}
    if intersections and len(tally.columns) > 1:
        parts = [_names(list({key[i]: None for key in tally.cells})) for i in range(len(tally.columns))]
        joined = {key: " & ".join(names[value] for names, value in zip(parts, key, strict=True)) for key in tally.cells}
        names_of = _distinct(joined)
        groups[" & ".join(tally.columns)] = {names_of[key]: cm for key, cm in tally.cells.items()}
    return groups


def _names(values: list[Any]) -> dict[Any, str]:
    """A name for each value; values with the same text, such as 1 and "1", get different names."""
    return _distinct({value: MISSING if value is None else str(value) for value in values})


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


def compared(groups: Groups, reference: str | ConfusionMatrix | Mapping[str, Any]) -> list[Compared]:
    """Each group with its reference."""
    if isinstance(reference, Mapping):
        for column in reference:
            if column not in groups:
                raise UnknownName.among("group column", column, groups)
    pairs = []
    for by, members in groups.items():
        chosen = reference.get(by, ReferenceKind.REST) if isinstance(reference, Mapping) else reference
        pairs += _compared(by, members, chosen)
    return pairs


def _compared(by: str, members: dict[str, ConfusionMatrix], reference: Any) -> list[Compared]:
    if isinstance(reference, ConfusionMatrix):
        return [
            Compared(by, group, cm, ReferenceKind.MATRIX, "given matrix", reference) for group, cm in members.items()
        ]
    everybody = sum(members.values(), _EMPTY)
    name = str(reference)
    if len(members) < 2:
        only = next(iter(members))
        raise InvalidInput(f"{by!r} has only one group ({only!r}), so there is nothing to compare it with")
    # If a group is called "rest" or "all", a reference passed by that name is the group; the default never is.
    if name in members and not isinstance(reference, ReferenceKind):
        against = members[name]
        return [
            Compared(
                *(by, group, cm, ReferenceKind.GROUP, name),
                everybody - cm if group == name else against,
                is_reference=group == name,
            )
            for group, cm in members.items()
        ]
    if name in (ReferenceKind.REST, ReferenceKind.ALL):
        return [
            Compared(
                by,
                group,
                cm,
                ReferenceKind(name),
                name,
                everybody - cm,
                only_two=sum(cm.n > 0 for cm in members.values()) == 2,
            )
            for group, cm in members.items()
        ]
    raise UnknownName.among(f"group of {by!r}", reference, members, see=f"groups: {', '.join(list(members)[:8])}")
