"""The groups of every column and intersection, and what they are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import ConfusionMatrix
from ..data import Tally, sort_values
from ..errors import InvalidInput, TooLarge, UnknownName, brief, escaped
from .settings import Settings, code_text

MAX_GROUPS = 10_000
_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of a column, or of an intersection of several.

    Attributes
    ----------
    columns, name : tuple of str, str
        The columns, and what they are called together: ``race & sex``.
    groups : tuple of str
        The names of the groups, in order.
    codes : array of int
        For each key of the tally the index of its group, -1 if it is unknown.
    index_of : dict of tuple to int
        Groups by the texts and by the names of their values.
    is_hidden : array of bool
        Which groups are not shown, since rounding leaves nothing of them. They are part of the rest
        of other groups.
    """

    columns: tuple[str, ...]
    name: str
    groups: tuple[str, ...]
    codes: Integers
    index_of: Mapping[tuple[str, ...], int]
    is_hidden: Bools

    def find(self, group: Any) -> int | None:
        """The index of a group by its name, or by the name or value in each of the columns."""
        if str(group) in self.groups:
            return self.groups.index(str(group))
        parts = group if isinstance(group, (tuple, list)) else (group,)
        texts = tuple(map(code_text, parts))
        return self.index_of.get(texts, self.index_of.get(tuple(str(group).split(" & "))))


def build_groupings(tally: Tally, settings: Settings, strata: Sequence[str] = ()) -> list[Grouping]:
    """The groupings of a tally by every column but those of strata, and by their intersections."""
    for by in settings.names:
        if by not in tally.columns:
            raise UnknownName.among("group column in `group_names`", by, tally.columns)
    columns = [i for i, column in enumerate(tally.columns) if column not in strata]
    names, ranks = zip(*(_name_values(tally, i, settings) for i in columns), strict=True)
    groupings: list[Grouping] = []
    number = 0
    for chosen in _intersections(len(columns), settings.widest([tally.columns[i] for i in columns])):
        places = [columns[i] for i in chosen]
        parts = [tuple(key[place] for place in places) for key in tally.keys]
        known = {part for part in parts if None not in part}
        number += len(known)
        if number > MAX_GROUPS:
            title = " & ".join(tally.columns[i] for i in places)
            raise TooLarge(
                f"there are more than {MAX_GROUPS:,} groups, with {len(known):,} by {brief(title)}; choose a "
                "coarser column or fewer `intersections`, or cut numbers with `bins=`"
            )
        order = sorted(known, key=lambda part: [ranks[i][v] for i, v in zip(chosen, part, strict=True)])
        spelled = {part: tuple(names[i][v] for i, v in zip(chosen, part, strict=True)) for part in order}
        index_of = {part: i for i, part in enumerate(order)}
        codes = np.array([index_of.get(part, -1) for part in parts], dtype=np.int64)
        title = _title([tally.columns[i] for i in places], {one.name for one in groupings})
        groups = unique_names({part: " & ".join(texts) for part, texts in spelled.items()})
        lookup = {tuple(map(code_text, part)): i for part, i in index_of.items()}
        lookup |= {spelled[part]: i for part, i in index_of.items()}
        titles = tuple(tally.columns[i] for i in places)
        is_hidden = _find_hidden(tally, codes, len(order))
        groupings.append(Grouping(titles, title, tuple(groups.values()), codes, lookup, is_hidden))
    return groupings


def name_strata(tally: Tally, strata: Sequence[str], settings: Settings) -> tuple[list[str], Integers]:
    """The names of the strata, in order, and the stratum of each key."""
    places = [tally.columns.index(column) for column in strata]
    names, ranks = zip(*(_name_values(tally, i, settings, allows_missing=True) for i in places), strict=True)
    parts = [tuple(key[place] for place in places) for key in tally.keys]
    order = sorted(set(parts), key=lambda part: [rank[v] for rank, v in zip(ranks, part, strict=True)])
    texts = {part: " & ".join(name[v] for name, v in zip(names, part, strict=True)) for part in order}
    named = unique_names(texts)
    # All strata together are called "pooled".
    free = next(name for name in ("'pooled'", '"pooled"', "(pooled)") if name not in named.values())
    index_of = {part: i for i, part in enumerate(order)}
    codes = np.array([index_of[part] for part in parts], dtype=np.int64)
    return [free if name == "pooled" else name for name in named.values()], codes


def _intersections(columns: int, widest: int) -> Iterator[tuple[int, ...]]:
    """The positions of every column, then of every pair of columns, and so on."""
    return chain.from_iterable(combinations(range(columns), width) for width in range(1, widest + 1))


def _name_values(
    tally: Tally, place: int, settings: Settings, allows_missing: bool = False
) -> tuple[dict[Any, str], dict[Any, int]]:
    """A name for each value of a column, and its rank; equal texts such as 1 and "1" get different names."""
    column = tally.columns[place]
    present = {key[place] for key in tally.keys} - (set() if allows_missing else {None})
    values = sort_values(present, tally.orders.get(column, ()))
    given = settings.names.get(column, {})
    texts = {value: code_text(value) for value in values}
    unknown = [code for code in given if code not in texts.values()]
    if unknown:
        shown = ", ".join(list(texts.values())[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
        raise InvalidInput(
            f"`group_names` of {column!r} must name values that occur; {brief(unknown[0])} does not: {escaped(shown)}"
        )
    # A number or a boolean says nothing without its column.
    clear = {value: f"{column} {text}" if _is_code(text) else text for value, text in texts.items()}
    names = {value: given.get(texts[value], name) for value, name in unique_names(clear).items()}
    for name, times in Counter(names.values()).items():
        if times > 1:
            same = " and ".join(str(value) for value in values if names[value] == name)
            raise InvalidInput(
                f"`group_names` of {column!r} must give different names to different groups; {same} "
                f"are both called {name!r}"
            )
    return names, {value: rank for rank, value in enumerate(values)}


def _is_code(text: str) -> bool:
    return text in ("True", "False") or bool(re.fullmatch(r"[+-]?\d+(?:\.\d+)?", text))


def unique_names(names: dict[Any, str]) -> dict[Any, str]:
    """Names in which those that occur twice are written as in Python, and numbered if need be."""
    spelled = {value: repr(value) for value in names if value is not None}
    while twice := {name for name, times in Counter(names.values()).items() if times > 1}:
        clearer = {v: spelled[v] for v, name in names.items() if name in twice and v in spelled}
        if clearer == {value: names[value] for value in clearer}:
            numbered = enumerate(clearer.items(), start=1)
            return names | {value: f"{name} ({i})" for i, (value, name) in numbered}
        names = names | clearer
    return names


def _title(columns: Sequence[str], taken: set[str]) -> str:
    """The name of an intersection; a column may be called like one."""
    return next(name for sign in (" & ", " × ", " by ") if (name := sign.join(columns)) not in taken)


def _find_hidden(tally: Tally, codes: Integers, groups: int) -> Bools:
    """Which groups have nothing but small counts, at every place."""
    if tally.rule is None:
        return np.zeros(groups, dtype=bool)
    is_large = np.zeros(groups, dtype=bool)
    for counts in (tally.counts, tally.selections):
        if counts is not None:
            sums = sum_groups(counts.cells, codes, groups)
            is_large |= (sums >= tally.rule.least).any(axis=(0, 2))
    return ~is_large


def sum_groups(values: Floats, codes: Integers, groups: int) -> Floats:
    """The sums of groups, of shape (places, groups, ...), of an array by place and key."""
    # The last group is the unknown one.
    sums = np.zeros((len(values), groups + 1, *values.shape[2:]))
    np.add.at(sums.swapaxes(0, 1), codes, values.swapaxes(0, 1))
    return sums[:, :-1]


def cells_by_group(tally: Tally, settings: Settings) -> dict[str, ConfusionMatrix]:
    """The confusion matrices of the groups of the widest intersection."""
    assert tally.counts is not None
    grouping = build_groupings(tally, settings)[-1]
    sums = sum_groups(tally.counts.cells, grouping.codes, len(grouping.groups))[0]
    return {name: ConfusionMatrix.from_array(cells) for name, cells in zip(grouping.groups, sums, strict=True)}
