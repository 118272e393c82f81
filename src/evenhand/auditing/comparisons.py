"""Who is compared with whom: every group of every column and crossing, at every place on the axes, and its reference.

Groups are named here, once, for the whole audit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from math import comb
from numbers import Real
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, TooLarge, UnknownName, brief, escaped
from ..metrics import metric as find_metric
from ..tabulate import Key, PartKind, Place, Rule, Slice, Tally, UnitMatrix, in_order, total
from ..wording import several
from .settings import Chosen, ReferenceKind, Settings, code_text

__all__ = [
    "Comparison",
    "Grouped",
    "Grouping",
    "favourable_rates",
    "grouped",
    "groupings_of",
    "reference_of",
    "strata_names",
]

_SHOWN = 12
# How many values are looked at to say exactly how many groups are too many, and how many columns are named then.
_MOST_COUNTED, _MOST_SHOWN = 1_000_000, 6
_KINDS = (ReferenceKind.REST, ReferenceKind.ALL, Chosen.LARGEST, Chosen.BEST)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A group and its reference at one place.

    Attributes
    ----------
    at, by, group, own
        Where on the axes, the column, the group, and its part.
    kind, reference
        The kind of reference, and its name.
    against
        The part that the group is tested against, which never includes the group itself.
    is_reference : bool
        Whether the group is the reference of the others.
    is_chosen : bool
        Whether the reference was chosen by its rate of favourable predictions.
    only_two : bool
        Whether there are only two groups, each of which is the rest of the other.
    peers : mapping of str to part
        All groups of the column, this one included.
    labelled : bool
        Whether the parts have labels, so that all four cells mean something.
    strata : tuple of (part, part)
        If it is pooled over strata, the group and its reference in each.
    unknown : part or None
        The cases whose group is unknown, which are in no part.
    """

    at: Place
    by: str
    group: str
    own: Any
    kind: ReferenceKind
    reference: str
    against: Any
    is_reference: bool = False
    is_chosen: bool = False
    only_two: bool = False
    peers: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    labelled: bool = True
    strata: tuple[tuple[Any, Any], ...] = ()
    unknown: Any = None

    @property
    def shown(self) -> Any:
        """The part of the reference as reported: "all" includes the group."""
        return self.against + self.own if self.kind is ReferenceKind.ALL else self.against

    @property
    def is_of_counts(self) -> bool:
        """Whether the parts are counts of two classes."""
        return isinstance(self.own, ConfusionMatrix)

    @property
    def testable(self) -> bool:
        """Whether group and reference both have cases, and the group is not the reference."""
        return not self.is_reference and self.own.n > 0 and self.against.n > 0


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of one column, or of a crossing of several, at one place.

    Attributes
    ----------
    columns, name : tuple of str, str
        The columns, and what they are called together: ``race & sex``.
    members : dict of str to part
        The parts by group.
    codes : dict of tuple to str
        The group by its values in the columns, each by its name and as it is written in the data.
    unknown : part or None
        The cases without a value in one of the columns, which belong to no group.
    hidden : part or None
        The cases of groups that rounding leaves nothing of. They are no members, but belong to the rest of the others.
    """

    columns: tuple[str, ...]
    name: str
    members: dict[str, Any]
    codes: dict[tuple[str, ...], str]
    unknown: Any = None
    hidden: Any = None

    @property
    def everybody(self) -> Any:
        """All cases whose group is known."""
        known = total(self.members.values())
        return known if self.hidden is None else known + self.hidden if self.members else self.hidden

    def find(self, wanted: Any) -> str | None:
        """The group that is meant by its name, or by the name or value in each of the columns."""
        if str(wanted) in self.members:
            return str(wanted)
        parts = tuple(map(code_text, wanted)) if isinstance(wanted, (tuple, list)) else (code_text(wanted),)
        return self.codes.get(parts) or self.codes.get(tuple(map(code_text, str(wanted).split(" & "))))


@dataclass(frozen=True, slots=True)
class Grouped:
    """The groupings of a slice, and its comparisons."""

    of: PartKind
    at: Place
    groupings: list[Grouping]
    comparisons: list[Comparison]


def grouped(tally: Tally, how: Settings, within: Sequence[str] = ()) -> list[Grouped]:
    """The comparisons at every place and, if ``within`` names columns of strata, pooled over the strata."""
    for by in how.names:
        if by not in tally.columns:
            raise UnknownName.among("group column in `group_names`", by, tally.columns)
    if not within:
        found = _Naming.of(tally, how)
        parts = [_compared(one, found, how, tally.labelled) for one in tally.slices]
        if tally.rule is not None and not any(one.comparisons for one in parts):
            raise InvalidInput(f"rounded by the rule {tally.rule.name}, no group is left that could be shown")
        return parts
    split = tally.within(within, strata_names(tally, within, how))
    found = _Naming.of(split, how, times=len({at for one in split.slices for at in one.at if at[0] == "stratum"}))
    overall = [_compared(one, found, how, tally.labelled) for one in split.over_strata().slices]
    references = {(one.of, one.at): _resolved(one.comparisons) for one in overall}
    chosen = {who.by for one in overall for who in one.comparisons if who.is_chosen}
    strata = [
        _compared(one, found, replace(how, reference=references[one.of, one.at[:-1]]), tally.labelled, strict=False)
        for one in split.slices
    ]
    # In a stratum, a reference that was chosen over all strata is a named one.
    strata = [
        replace(one, comparisons=[replace(who, is_chosen=who.by in chosen) for who in one.comparisons])
        for one in strata
    ]
    return strata + [_pooled(one, strata) for one in overall if one.of in ("cells", "selections")]


def groupings_of(tally: Tally, how: Settings) -> list[Grouping]:
    """The groups of each column and crossing of the first slice, without references."""
    return _Naming.of(tally, how).groupings(tally.slices[0].parts)


def _pooled(overall: Grouped, strata: Sequence[Grouped]) -> Grouped:
    """The comparisons of all strata together, each with the parts of its strata."""
    inside = [one for one in strata if one.of == overall.of and one.at[:-1] == overall.at]
    parts = [{(who.by, who.group): who for who in one.comparisons} for one in inside]

    def of_strata(who: Comparison) -> tuple[tuple[Any, Any], ...]:
        nothing = who.own - who.own
        found = []
        for one, known in zip(inside, parts, strict=True):
            mine = known.get((who.by, who.group))
            found.append((mine.own, mine.against) if mine is not None else (nothing, _rest(who, one, nothing)))
        return tuple(found)

    at = (*overall.at, ("stratum", "pooled"))
    pairs = [replace(who, at=at, strata=of_strata(who)) for who in overall.comparisons if not who.is_reference]
    return Grouped(overall.of, at, overall.groupings, pairs)


def _rest(who: Comparison, stratum: Grouped, nothing: Any) -> Any:
    """The reference in a stratum in which the group has no cases."""
    grouping = next((one for one in stratum.groupings if one.name == who.by), None)
    if grouping is None:
        return nothing
    if who.kind is ReferenceKind.GROUP:
        return grouping.members.get(who.reference, nothing)
    return nothing + grouping.everybody


@dataclass(frozen=True, slots=True)
class _Naming:
    """What columns and groups are called, over all places."""

    columns: tuple[str, ...]
    ranks: list[dict[Any, int]]
    called: list[dict[Any, str]]
    crossed: list[tuple[tuple[int, ...], str, dict[Key, str]]]
    hidden: Mapping[str, set[Key]] = field(default_factory=dict)

    @classmethod
    def of(cls, tally: Tally, how: Settings, times: int = 1) -> _Naming:
        """The names for a tally; ``times`` is the number of strata in which each group may occur."""
        keys = tally.keys
        values = [
            in_order({key[i] for key in keys} - {None}, tally.orders.get(name, ()))
            for i, name in enumerate(tally.columns)
        ]
        _check_number(tally, keys, times, how)
        called = [_names(name, values[i], how.names.get(name, {})) for i, name in enumerate(tally.columns)]
        ranks = [{value: i for i, value in enumerate(some)} for some in values]
        crossed: list[tuple[tuple[int, ...], str, dict[Key, str]]] = []
        taken: set[str] = set()
        for chosen in _crossings(len(tally.columns), how.widest(tally.columns)):
            places = {i: ranks[i] for i in chosen}
            ordered = sorted(
                _parts(keys, chosen), key=lambda part: [places[i][v] for i, v in zip(places, part, strict=True)]
            )
            spelled = {part: tuple(called[i][v] for i, v in zip(chosen, part, strict=True)) for part in ordered}
            title = _title([tally.columns[i] for i in chosen], taken)
            taken.add(title)
            crossed.append((chosen, title, _distinct({part: " & ".join(names) for part, names in spelled.items()})))
        return cls(tally.columns, ranks, called, crossed, _hidden(tally, crossed) if tally.rule else {})

    def groupings(self, parts: Mapping[Key, Any]) -> list[Grouping]:
        """The groups of each column and crossing that have a part."""
        found = []
        for chosen, title, names in self.crossed:
            sums: dict[Key, Any] = {}
            unknown: Any = None
            for key, part in parts.items():
                own = tuple(key[i] for i in chosen)
                if None in own:
                    unknown = part if unknown is None else unknown + part
                else:
                    sums[own] = sums[own] + part if own in sums else part
            swallowed = [own for own in sums if own in self.hidden.get(title, ())]
            hidden = total(sums.pop(own) for own in swallowed) if swallowed else None
            present = [own for own in names if own in sums]
            codes = {tuple(map(code_text, own)): names[own] for own in present}
            codes |= {tuple(self.called[i][v] for i, v in zip(chosen, own, strict=True)): names[own] for own in present}
            columns = tuple(self.columns[i] for i in chosen)
            members = {names[own]: sums[own] for own in present}
            found.append(Grouping(columns, title, members, codes, unknown, hidden))
        return found


def _hidden(tally: Tally, crossed: Iterable[tuple[tuple[int, ...], str, Any]]) -> dict[str, set[Key]]:
    """The groups of each column and crossing that are small over all strata, at every other place."""
    slices = tally.over_strata().slices
    found: dict[str, set[Key]] = {}
    for chosen, title, _ in crossed:
        shown: set[Key] = set()
        every: set[Key] = set()
        for one in slices:
            sums: dict[Key, Any] = {}
            for key, part in one.parts.items():
                own = tuple(key[i] for i in chosen)
                sums[own] = sums[own] + part if own in sums else part
            every |= set(sums)
            shown |= {own for own, part in sums.items() if not _is_small(part, tally.rule)}
        found[title] = every - shown
    return found


def _is_small(part: Any, rule: Rule) -> bool:
    """Whether no count of a group is left that is not small."""
    cells = part.cells if isinstance(part, ConfusionMatrix) else part.counts.ravel().tolist()
    return all(cell < rule.least for cell in cells)


def _crossings(columns: int, widest: int) -> Iterator[tuple[int, ...]]:
    """The positions of every column, then of every pair of columns, and so on."""
    return chain.from_iterable(combinations(range(columns), width) for width in range(1, widest + 1))


def _parts(keys: Iterable[Key], chosen: tuple[int, ...]) -> set[Key]:
    """The groups of a column or crossing: every combination of known values that occurs."""
    return {part for key in keys if None not in (part := tuple(key[i] for i in chosen))}


def _check_number(tally: Tally, keys: Sequence[Key], times: int, how: Settings) -> None:
    """Refuse too many groups before any is built; ``times`` is the number of strata."""
    columns = tally.columns
    widest = how.widest(columns)
    many = sum(comb(len(columns), width) for width in range(1, widest + 1))
    sizes: dict[tuple[int, ...], int] = {}
    groups = 0
    for chosen in _crossings(len(columns), widest):
        sizes[chosen] = len(_parts(keys, chosen))
        groups += sizes[chosen]
        if times * groups > how.max_groups and many * len(keys) > _MOST_COUNTED:
            break
    if times * groups <= how.max_groups:
        return
    shown = list(sizes.items())[: _MOST_SHOWN if many > _MOST_SHOWN + 1 else many]
    each = ", ".join(f"{n:,} by {_brief_name([columns[i] for i in chosen])}" for chosen, n in shown)
    others = f", and those by {many - len(shown):,} other columns and crossings" if many > len(shown) else ""
    least = "more than " if len(sizes) < many else ""
    strata = f" in each of {times:,} strata" if times > 1 else ""
    raise TooLarge(
        f"there are {least}{groups:,} groups ({each}{others}){strata}, more than `max_groups={how.max_groups:,}`; "
        "choose a coarser column or fewer `crossings`, cut numbers with `bins=`, or raise `max_groups`"
    )


def _brief_name(columns: Sequence[str]) -> str:
    name = " & ".join(columns)
    return escaped(name if len(name) <= 60 else f"{name[:60]}…")


def _title(columns: Sequence[str], taken: set[str]) -> str:
    """The name of a crossing; a column may be called like one."""
    return next(name for sign in (" & ", " × ", " by ") if (name := sign.join(columns)) not in taken)


def _names(column: str, values: Sequence[Any], given: Mapping[str, str]) -> dict[Any, str]:
    """A name for each value; values with the same text, such as 1 and "1", get different names."""
    texts = {value: code_text(value) for value in values}
    unknown = [code for code in given if code not in texts.values()]
    if unknown:
        shown = ", ".join(list(texts.values())[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
        raise InvalidInput(
            f"`group_names` of {column!r} must name values that occur; {brief(unknown[0])} does not: {escaped(shown)}"
        )
    # A code says nothing without its column.
    own = _distinct({value: f"{column} {text}" if _is_code(text) else text for value, text in texts.items()})
    names = {value: given.get(texts[value], own[value]) for value in values}
    for name, n in Counter(names.values()).items():
        if n > 1:
            alike = [str(value) for value in values if names[value] == name]
            raise InvalidInput(
                f"`group_names` of {column!r} must give different names to different groups; {' and '.join(alike)} "
                "are both "
                f"called {name!r}"
            )
    return names


def _is_code(text: str) -> bool:
    return text in ("True", "False") or bool(re.fullmatch(r"[+-]?\d+(?:\.\d+)?", text))


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


def strata_names(tally: Tally, within: Sequence[str], how: Settings) -> dict[Key, str]:
    """What the strata are called, by their values in the columns, in order."""
    at = [tally.columns.index(column) for column in within]
    found = {tuple(key[i] for i in at) for key in tally.keys}
    values = [in_order({key[i] for key in found}, tally.orders.get(column, ())) for i, column in enumerate(within)]
    called = [_names(column, values[i], how.names.get(column, {})) for i, column in enumerate(within)]
    ranks = [{value: i for i, value in enumerate(some)} for some in values]
    ordered = sorted(found, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])
    names = _distinct({key: " & ".join(name[v] for name, v in zip(called, key, strict=True)) for key in ordered})
    # All strata together have that name.
    free = next(name for name in ("'pooled'", '"pooled"', "(pooled)") if name not in names.values())
    return {key: free if name == "pooled" else name for key, name in names.items()}


def _compared(one: Slice, names: _Naming, how: Settings, labelled: bool, strict: bool = True) -> Grouped:
    """The comparisons of a slice; unless ``strict``, a group without a reference is compared with no cases."""
    groupings = names.groupings(one.parts)
    known = {name: grouping for grouping in groupings for name in (grouping.name, grouping.columns)}
    known |= {grouping.columns[0]: grouping for grouping in groupings if len(grouping.columns) == 1}
    if isinstance(how.reference, Mapping):
        for column in how.reference:
            if column not in known:
                raise UnknownName.among("group column", column, [grouping.name for grouping in groupings])
    pairs = [
        replace(
            pair,
            at=one.at,
            peers=grouping.members,
            labelled=labelled and one.of != "selections",
            unknown=grouping.unknown,
        )
        for grouping in groupings
        if grouping.members or strict
        for pair in _pairs(grouping, reference_of(grouping, how.reference), how, strict)
    ]
    return Grouped(one.of, one.at, groupings, pairs)


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


def _resolved(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The reference of each column, chosen over all strata."""
    if any(pair.kind is ReferenceKind.MATRIX for pair in comparisons):
        raise InvalidInput(
            "`reference` must be 'rest', 'all', 'largest', 'best' or the name of a group; a matrix has no strata"
        )
    return {pair.by: pair.reference if pair.kind is ReferenceKind.GROUP else pair.kind for pair in comparisons}


def _pairs(grouping: Grouping, reference: Any, how: Settings, strict: bool) -> list[Comparison]:
    by, members = grouping.name, grouping.members
    if isinstance(reference, ConfusionMatrix):
        _check_matrix(members, reference)
        return [
            Comparison((), by, group, own, ReferenceKind.MATRIX, "given matrix", reference)
            for group, own in members.items()
        ]
    if not members and grouping.hidden is not None:
        return []
    if not members:
        raise InvalidInput(f"no case has a value in {by!r}, so that there are no groups")
    everybody = grouping.everybody
    if len(members) < 2 and strict and grouping.hidden is None:
        only = next(iter(members))
        n = 0 if grouping.unknown is None else int(grouping.unknown.n)
        besides = f"; {several(n, 'case')} without a value {'is' if n == 1 else 'are'} in no group" if n else ""
        raise InvalidInput(
            f"{by!r} has only one group with cases ({brief(only)}), so there is nothing to compare it with{besides}"
        )
    # If a group is called "rest" or "all", a reference passed by that name is the group; the default never is.
    name = None if isinstance(reference, ReferenceKind) else grouping.find(reference)
    is_chosen = name is None and reference == Chosen.BEST
    if name is None and reference in (Chosen.LARGEST, Chosen.BEST):
        name = _chosen(members, how if is_chosen else None)
    if name is None and (matrix := _as_matrix(reference)) is not None:
        return _pairs(grouping, matrix, how, strict)
    if name is None and not strict and not isinstance(reference, ReferenceKind):
        # The reference has no cases in this stratum.
        nothing = everybody - everybody
        return [
            Comparison((), by, group, own, ReferenceKind.GROUP, str(reference), nothing)
            for group, own in members.items()
        ]
    if name is not None:
        against = members[name]
        return [
            Comparison(
                *((), by, group, own, ReferenceKind.GROUP, name),
                everybody - own if group == name else against,
                is_reference=group == name,
                is_chosen=is_chosen,
            )
            for group, own in members.items()
        ]
    if reference in (ReferenceKind.REST, ReferenceKind.ALL):
        kind = ReferenceKind(reference)
        two = sum(own.n > 0 for own in members.values()) == 2 and grouping.hidden is None
        return [
            Comparison((), by, group, own, kind, kind.value, everybody - own, only_two=two)
            for group, own in members.items()
        ]
    if isinstance(reference, (tuple, list)) and not all(isinstance(part, Real) for part in reference):
        raise InvalidInput(
            f"the `reference` of {by!r} must be a group that has cases; {' & '.join(map(str, reference))} has none"
        )
    if isinstance(reference, (tuple, list)):
        raise InvalidInput(f"counts as `reference` must be ConfusionMatrix(tp, fn, fp, tn); got {reference!r}")
    raise UnknownName.among(f"group of {by!r}", str(reference), members, see=f"groups: {', '.join(list(members)[:8])}")


def _check_matrix(members: Mapping[str, Any], reference: ConfusionMatrix) -> None:
    if not all(isinstance(own, type(reference)) for own in members.values()):
        raise InvalidInput(
            "`reference` must be 'rest', 'all', 'largest' or the name of a group; a ConfusionMatrix is of two "
            "classes and "
            "has no rows"
        )
    if any(isinstance(own, UnitMatrix) for own in members.values()):
        raise InvalidInput("`reference` must be 'rest', 'all', 'largest' or the name of a group; counts have no units")


def _as_matrix(reference: Any) -> ConfusionMatrix | None:
    """The matrix that a text such as ``10,2,3,40`` gives; None for other texts."""
    parts = reference.split(",") if isinstance(reference, str) and len(reference) < 200 else []
    try:
        return ConfusionMatrix(*map(float, parts)) if len(parts) == 4 else None
    except ValueError:
        return None


def _chosen(members: Mapping[str, Any], how: Settings | None) -> str:
    """The largest group or, given settings, the one with the highest rate of favourable predictions.

    As for impact ratios, only groups with enough cases count.
    """
    if how is None:
        return max(members, key=lambda name: members[name].n)
    if not all(isinstance(own, ConfusionMatrix) for own in members.values()):
        raise InvalidInput(
            "`reference` must be 'rest', 'all', 'largest' or the name of a group; 'best' takes predictions of two "
            "classes"
        )
    if how.favourable is None:
        raise InvalidInput("`reference='best'` needs `favourable=`: which prediction is good for a person")
    rates = favourable_rates(members, how)
    return max(rates, key=lambda name: rates[name])


def favourable_rates(members: Mapping[str, ConfusionMatrix], how: Settings) -> dict[str, float]:
    """The rate of favourable predictions of each group that has enough cases to be compared with."""
    m = find_metric("ppr" if how.favourable == "positive" else "pnr")
    everybody = sum(cm.n for cm in members.values())
    return {name: float(m(cm)) for name, cm in members.items() if cm.n >= max(1, how.impact_share * everybody)}
