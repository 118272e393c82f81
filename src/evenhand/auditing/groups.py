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
        often = Counter(joined.values())
        groups[" & ".join(tally.columns)] = {
            repr(key) if often[name] > 1 else name: tally.cells[key] for key, name in joined.items()
        }
    return groups


def _names(values: list[Any]) -> dict[Any, str]:
    """A name for each value; values with the same text, such as 1 and "1", get different names."""
    plain = {value: MISSING if value is None else str(value) for value in values}
    often = Counter(plain.values())
    return {value: repr(value) if often[name] > 1 and value is not None else name for value, name in plain.items()}


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
            Compared(by, group, cm, ReferenceKind(name), name, everybody - cm, only_two=len(members) == 2)
            for group, cm in members.items()
        ]
    raise UnknownName.among(f"group of {by!r}", reference, members, see=f"groups: {', '.join(list(members)[:8])}")
