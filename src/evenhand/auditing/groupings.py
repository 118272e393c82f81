"""The groups of every column and intersection, and what they are called.

Groups are integer codes: a grouping has, for each key of a tally, the code of its group, or -1 if a
value is missing. Counts of groups are sums over keys with the same code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Floats, Integers
from ..data import Tally, sort_values
from ..errors import InvalidInput, TooLarge, UnknownName, brief, escaped
from .settings import Settings, code_text

MAX_GROUPS = 10_000
_SHOWN = 12
# Numbers and booleans say nothing without their column.
_CODE = re.compile(r"True|False|[+-]?\d+(?:\.\d+)?")


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of a column, or of an intersection of several.

    Attributes
    ----------
    columns, name : tuple of str, str
        The columns, and what they are called together: ``race & sex``.
    groups : sequence of str
        The names of the groups, in order.
    codes : array of int
        For each key of the tally the index of its group, -1 if it is unknown.
    index_of : mapping of tuple of str to int
        Groups by their names, and by the texts and the names of their values.
    is_hidden : array of bool
        Which groups are not shown, since rounding leaves nothing of them. They are part of the rest
        of other groups.
    """

    columns: tuple[str, ...]
    name: str
    groups: Sequence[str]
    codes: Integers
    index_of: Mapping[tuple[str, ...], int]
    is_hidden: Bools

    def list_shown(self, occurs: Bools) -> Integers:
        """The codes of keys that occur and whose group is shown, -1 for others."""
        is_shown = occurs & ~np.append(self.is_hidden, True)[self.codes]
        return np.where(is_shown, self.codes, -1)

    def find(self, group: Any) -> int:
        """The index of a group by its name, or by the name or value in each column, or -1."""
        parts = group if isinstance(group, (tuple, list)) else (group,)
        name, texts = str(group), tuple(map(code_text, parts))
        spellings = ((name,), texts, tuple(name.split(" & ")))
        return next((self.index_of[s] for s in spellings if s in self.index_of), -1)


class _Column(NamedTuple):
    """A column: the rank of the value of each key, -1 if it is missing, and labels of the values.

    Labels are texts and names, of shape (values, 2).
    """

    name: str
    ranks: Integers
    labels: Array


def build_groupings(tally: Tally, settings: Settings, strata: Sequence[str] = ()) -> list[Grouping]:
    """The groupings of a tally by every column but those of strata, and by intersections."""
    for name in settings.names:
        if name not in tally.columns:
            raise UnknownName.among("group column in `group_names`", name, tally.columns)
    names = [name for name in tally.columns if name not in strata]
    columns = [_name_values(tally, name, settings) for name in names]
    widths = range(1, settings.widest(names) + 1)
    groupings: dict[str, Grouping] = {}
    for crossed in chain.from_iterable(combinations(columns, width) for width in widths):
        # A column may be called like an intersection.
        by = [column.name for column in crossed]
        titles = (sign.join(by) for sign in (" & ", " × ", " by "))
        title = next(title for title in titles if title not in groupings)
        groupings[title] = _cross(tally, crossed, title)
        if sum(len(grouping.groups) for grouping in groupings.values()) > MAX_GROUPS:
            number = len(groupings[title].groups)
            raise TooLarge(
                f"there are more than {MAX_GROUPS:,} groups, with {number:,} by {brief(title)}; "
                "choose a coarser column or fewer `intersections`, or cut numbers with `bins=`"
            )
    return list(groupings.values())


def name_strata(
    tally: Tally, strata: Sequence[str], settings: Settings
) -> tuple[Sequence[str], Integers]:
    """The names of the strata, in order, and the stratum of each key."""
    if not strata:
        return (), np.zeros(len(tally.keys), dtype=np.int64)
    columns = [_name_values(tally, name, settings, allows_missing=True) for name in strata]
    grouping = _cross(tally, columns, "")
    # All strata together are called "pooled".
    names = unique_names(["pooled", *grouping.groups], [None, *grouping.groups])
    return names[1:], grouping.codes


def _cross(tally: Tally, columns: Sequence[_Column], title: str) -> Grouping:
    """The grouping by those combinations of the values of columns that occur."""
    ranks = np.stack([column.ranks for column in columns])
    is_known = (ranks >= 0).all(axis=0)
    crossed, index = np.unique(ranks[:, is_known], axis=1, return_inverse=True)
    codes = np.full(len(tally.keys), -1)
    codes[is_known] = index.reshape(-1)
    labels = [column.labels[values].T for column, values in zip(columns, crossed, strict=True)]
    texts, names = (list(zip(*part, strict=True)) for part in zip(*labels, strict=True))
    groups = unique_names(map(" & ".join, names), names)
    spellings = texts, names, [(group,) for group in groups]
    index_of = {spelling: i for part in spellings for i, spelling in enumerate(part)}
    by = tuple(column.name for column in columns)
    is_hidden = _find_hidden(tally, codes, len(groups))
    return Grouping(by, title, groups, codes, index_of, is_hidden)


def _name_values(
    tally: Tally, column: str, settings: Settings, *, allows_missing: bool = False
) -> _Column:
    """The values of a column in order, with distinct names."""
    of_keys = [key[tally.columns.index(column)] for key in tally.keys]
    present = {value for value in of_keys if value is not None or allows_missing}
    values = sort_values(present, tally.orders.get(column, ()))
    texts = list(map(code_text, values))
    clear = [f"{column} {text}" if _CODE.fullmatch(text) else text for text in texts]
    given = settings.names.get(column, {})
    pairs = zip(texts, unique_names(clear, values), strict=True)
    names = [given.get(text, name) for text, name in pairs]
    must = f"`group_names` of {column!r} must"
    if wrong := [code for code in given if code not in texts]:
        shown = escaped(", ".join(texts[:_SHOWN]) + ", …" * (len(texts) > _SHOWN))
        text = f"name values that occur; {brief(wrong[0])} does not: {shown}"
        raise InvalidInput(f"{must} {text}")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        pairs = zip(values, names, strict=True)
        same = " and ".join(str(value) for value, name in pairs if name == twice[0])
        text = f"different groups; {same} are both called {twice[0]!r}"
        raise InvalidInput(f"{must} give different names to {text}")
    rank = {value: i for i, value in enumerate(values)}
    ranks = np.array([rank.get(value, -1) for value in of_keys], dtype=np.int64)
    return _Column(column, ranks, np.array([texts, names], dtype=object).T)


def unique_names(names: Iterable[str], values: Sequence[Any]) -> list[str]:
    """Names, of which those that occur twice are values as in Python, or all are numbered.

    >>> unique_names(["1", "1", "2"], [1, "1", 2])
    ['1', "'1'", '2']
    """
    names = list(names)
    while len(set(names)) < len(names):
        times, pairs = Counter(names), zip(names, values, strict=True)
        spelled = [
            repr(value) if times[name] > 1 and value is not None else name for name, value in pairs
        ]
        numbered = [f"{name} ({i})" for i, name in enumerate(names, 1)]
        names = numbered if spelled == names else spelled
    return names


def _find_hidden(tally: Tally, codes: Integers, groups: int) -> Bools:
    """Which groups have nothing but small counts, at every place."""
    is_shown = np.full(groups, tally.rule is None)
    for counts in (tally.counts, tally.selections):
        if tally.rule is not None and counts is not None:
            sums = sum_groups(counts.cells, codes, groups)
            is_shown |= (sums >= tally.rule.least).any(axis=(0, 2))
    return ~is_shown


def sum_groups(values: Floats, codes: Integers, groups: int) -> Floats:
    """The sums of groups, of shape (places, groups, ...), of an array by place and key."""
    # The last group is the unknown one.
    sums = np.zeros((len(values), groups + 1, *values.shape[2:]))
    np.add.at(sums.swapaxes(0, 1), codes, values.swapaxes(0, 1))
    return sums[:, :-1]
