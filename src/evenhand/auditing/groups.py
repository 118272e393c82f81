"""Who is compared with whom: the groups of a table, and the reference of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..tabulate import Tally

__all__ = ["Compared", "Reference", "compared", "groups_of"]

Reference = str | ConfusionMatrix | Mapping[str, Any]
Groups = dict[str, dict[str, ConfusionMatrix]]

MISSING = "(missing)"
_EMPTY = ConfusionMatrix(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Compared:
    """A group and whom it is compared with.

    ``part_of`` if the group belongs to its reference, ``only_two`` if its rest is a single group, compared with it.
    """

    by: str
    group: str
    cm: ConfusionMatrix
    reference: str
    against: ConfusionMatrix
    part_of: bool = False
    is_reference: bool = False
    only_two: bool = False


def groups_of(tally: Tally, intersections: bool) -> Groups:
    """The groups of each column and, of several columns, of their intersection; matrices by name."""
    found: Groups = {}
    for i, column in enumerate(tally.columns):
        sums: dict[Any, ConfusionMatrix] = {}
        for key, cm in tally.cells.items():
            sums[key[i]] = sums.get(key[i], _EMPTY) + cm
        names = _names(list(sums))
        found[column] = {names[value]: cm for value, cm in sums.items()}
    if intersections and len(tally.columns) > 1:
        parts = [_names(list({key[i]: None for key in tally.cells})) for i in range(len(tally.columns))]
        joined = {key: " & ".join(names[value] for names, value in zip(parts, key, strict=True)) for key in tally.cells}
        often = Counter(joined.values())
        found[" & ".join(tally.columns)] = {
            repr(key) if often[name] > 1 else name: tally.cells[key] for key, name in joined.items()
        }
    return found


def _names(values: list[Any]) -> dict[Any, str]:
    """A name for each value; values that look alike, such as 1 and "1", are told apart."""
    plain = {value: MISSING if value is None else str(value) for value in values}
    often = Counter(plain.values())
    return {value: repr(value) if often[name] > 1 and value is not None else name for value, name in plain.items()}


def compared(groups: Groups, reference: Reference) -> list[Compared]:
    """Each group with its reference."""
    if isinstance(reference, Mapping):
        for column in reference:
            if column not in groups:
                raise UnknownName.among("group column", column, groups)
    found = []
    for by, members in groups.items():
        chosen = reference.get(by, "rest") if isinstance(reference, Mapping) else reference
        found += _compared(by, members, chosen)
    return found


def _compared(by: str, members: dict[str, ConfusionMatrix], reference: Any) -> list[Compared]:
    if isinstance(reference, ConfusionMatrix):
        return [Compared(by, group, cm, "given matrix", reference) for group, cm in members.items()]
    everybody = sum(members.values(), _EMPTY)
    name = str(reference)
    if len(members) < 2:
        only = next(iter(members))
        raise InvalidInput(f"{by!r} has one group only ({only!r}), so there is nobody to compare it with")
    # Whoever calls a group "rest" or "all" means the group.
    if name in members:
        against = members[name]
        label = f"group {name!r}" if name in ("rest", "all") else name
        return [
            Compared(by, group, cm, label, everybody - cm if group == name else against, is_reference=group == name)
            for group, cm in members.items()
        ]
    if name in ("rest", "all"):
        return [
            Compared(by, group, cm, name, everybody - cm, part_of=name == "all", only_two=len(members) == 2)
            for group, cm in members.items()
        ]
    raise UnknownName.among(f"group of {by!r}", reference, members, see=f"groups: {', '.join(list(members)[:8])}")
