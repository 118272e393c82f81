"""The one way from data to counted rows: how often each combination of group values and answers occurs.

A value stays what it is in the data, and values that differ are never merged: None and ``'missing'``, or 1 and ``'1'``,
are two groups. A missing value is None; a whole number is an ``int``, however it is stored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ..errors import InvalidInput, TooLarge, UnknownName, brief, escaped
from .columns import count, finite, group_columns
from .frames import MOST_ROWS, Counted, Cuts
from .ordering import Key, ordered
from .spellings import joined

__all__ = ["CountedRows", "counted", "tabulate_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRows:
    """Rows of group values and answers, as they are in the data.

    Attributes
    ----------
    columns : tuple of str
        The names of the group columns.
    answers : tuple of str
        The names of the answers, such as ``"y_true"``.
    rows : dict of tuple to int
        How often each combination occurs, group values first, in an order that does not depend on that of the data.
    orders, answer_orders : dict of str to tuple
        The values of group columns and of answers that have an order of their own, such as bins.
    source : dict
        Where the rows come from, as `Counted.source`; ``rows`` is how many there are. If scores had two columns,
        ``score_column`` is 2: see `check_second_class`.
    library : str or None
        The dataframe library of the data, for results in the same library.
    """

    columns: tuple[str, ...]
    answers: tuple[str, ...]
    rows: dict[Key, int]
    orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    answer_orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    library: str | None = None

    def values(self, answer: str) -> set[Any]:
        """The distinct values of an answer."""
        at = len(self.columns) + self.answers.index(answer)
        return {row[at] for row in self.rows}


def counted(
    data: Any,
    groups: Any,
    answers: Mapping[str, Any],
    *,
    bins: Mapping[str, Sequence[float]] | None = None,
    cuts: Mapping[str, Sequence[float]] = MappingProxyType({}),
    numbers: Collection[str] = (),
    times: str | None = None,
    join: bool | str = False,
) -> CountedRows:
    """Count the combinations of group values and answers.

    Parameters
    ----------
    data : dataframe, mapping of columns, path, list of paths, or None
        The table; None if the columns themselves are passed.
    groups : hashable, list of hashable, sequence, mapping, array or dataframe
        One or more group columns, as names or values.
    answers : mapping of str to object
        By what messages call it, the name of a column or its values; what is None is left out. The same column may be
        several answers.
    bins : mapping of str to numbers, optional
        Where to cut group columns of numbers; values become names such as ``"25 to below 45"``.
    cuts : mapping of str to ascending numbers
        Answers that are counted by level: how many of the cuts a number reaches, None if it is missing.
    numbers : collection of str
        Answers that are counted as floats, None if they are missing; texts are read.
    times : str, optional
        The answer that says how many cases a row stands for. It is no answer of the result.
    join : bool or "first"
        Whether the spellings of a group are joined, by the first of them or the most frequent one; see `joined`.

    Returns
    -------
    CountedRows
        At least one row. Two columns of probabilities, as scikit-learn gives them, are taken for their second where
        numbers are expected.

    Examples
    --------
    >>> table = {"race": ["B", "A", "A"], "label": [1, 0, 0], "p": [0.7, 0.4, 0.2], "q": [0.1, None, 0.6]}
    >>> found = counted(table, "race", {"y_true": "label", "old": "p", "new": "q"}, cuts={"old": [0.3, 0.6]})
    >>> found.answers, found.rows
    (('y_true', 'old', 'new'), {('A', 0, 0, 0.6): 1, ('A', 0, 1, None): 1, ('B', 1, 2, 0.1): 1})
    """
    by = group_columns(groups, data)
    given = {name: column for name, column in answers.items() if column is not None}
    names = [*by, *given]
    columns = [(escaped(name), column) for name, column in by.items()]
    columns += [(_marked(name), column) for name, column in given.items()]
    places = {i: tuple(cuts[name]) for i, name in enumerate(given, start=len(by)) if name in cuts}
    floats = {*numbers, times}
    uncut = [i for i, name in enumerate(given, start=len(by)) if name in floats and name not in cuts]
    in_bins = {list(by).index(name): where for name, where in _bins(bins, list(by)).items()}
    what = "score" if uncut else "prediction and unit" if "unit" in given else ""
    found = _count(data, columns, in_bins | places, [*places, *uncut], what)
    if not found.rows:
        raise InvalidInput("`data` must have at least one row; got none")
    called = {i: _bin_names(where) for i, where in in_bins.items()}
    read: dict[int, Callable[[Any], Any]] = {i: _bin_reader(bin_names) for i, bin_names in called.items()}
    read |= {i: _number_reader(names[i]) for i in uncut}
    rows = _with(found.rows, read)
    lines = rows.total()
    if times in given:
        rows = _multiplied(rows, names.index(times))
        given.pop(times)
    if join:
        rows = Counter(joined(rows, len(by), first=join == "first"))
    orders = {i: tuple(order) for i, order in (dict(found.orders) | called).items()}
    return CountedRows(
        columns=tuple(by),
        answers=tuple(given),
        rows={row: rows[row] for row in ordered(rows)},
        orders={names[i]: order for i, order in orders.items() if i < len(by)},
        answer_orders={names[i]: order for i, order in orders.items() if i >= len(by) and i not in places},
        source=found.source | {"rows": lines},
        library=found.library,
    )


def tabulate_rows(
    data: Any, *, y_true: Any, y_pred: Any, groups: Any, bins: Mapping[str, Sequence[float]] | None = None
) -> CountedRows:
    """Count labels against predictions of any number of classes for every combination of groups.

    >>> tabulate_rows(None, y_true=["x", "y", "x"], y_pred=["z", "y", "z"], groups=["a", "b", "a"]).rows
    {('a', 'x', 'z'): 2, ('b', 'y', 'y'): 1}
    """
    return counted(data, groups, {"y_true": y_true, "y_pred": y_pred}, bins=bins)


def _count(data: Any, columns: Sequence[tuple[str, Any]], cuts: Cuts, scores: Collection[int], what: str) -> Counted:
    """The counts; ``what`` has many values, and is named if there are too many."""
    try:
        return count(data, columns, cuts, scores)
    except TooLarge:
        if not what:
            raise
        fewer = "round the scores to fewer decimals, or " if what == "score" else ""
        part = "rows" if what == "score" else "units"
        of = "label and score" if what == "score" else f"label, {what}"
        raise TooLarge(
            f"the data have more than {MOST_ROWS:,} distinct combinations of group, {of}; {fewer}audit a "
            f"random part of the {part}"
        ) from None


def _with(rows: Counter[Key], read: Mapping[int, Callable[[Any], Any]]) -> Counter[Key]:
    """The rows with some of their values read, which may make several rows the same."""
    if not read:
        return rows
    found: Counter[Key] = Counter()
    for row, n in rows.items():
        found[tuple(read[i](value) if i in read else value for i, value in enumerate(row))] += n
    return found


def _multiplied(rows: Counter[Key], at: int) -> Counter[Key]:
    """The rows without the number of cases that each stands for, as often as it says."""
    found: Counter[Key] = Counter()
    for row, n in rows.items():
        cases = row[at]
        if cases is None or not cases >= 0 or cases != int(cases):
            got = "nothing" if cases is None else f"{cases:g}"
            raise InvalidInput(
                f"`count` must contain whole numbers of cases; got {got}; numbers that are not counts can be `weights=`"
            )
        if cases:
            found[*row[:at], *row[at + 1 :]] += n * int(cases)
    if not found:
        raise InvalidInput(argument="count", must="not be 0 in every row")
    return found


def _number_reader(name: str) -> Callable[[Any], float | None]:
    def number(value: Any) -> float | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            found = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"{_marked(name)} must contain numbers; got {brief(value)}") from None
        return None if found != found else found

    return number


def _marked(name: str) -> str:
    """An answer in messages: an argument, unless it is called what no argument can be."""
    return f"`{name}`" if re.fullmatch("[a-z][a-z_]*", name) else escaped(name)


def _bins(bins: Mapping[str, Sequence[float]] | None, by: list[str]) -> dict[str, tuple[float, ...]]:
    """Where to cut group columns, in ascending order."""
    found: dict[str, tuple[float, ...]] = {}
    if bins is not None and not isinstance(bins, Mapping):
        raise InvalidInput(f"`bins` must map group columns to the numbers at which to cut them; got {brief(bins)}")
    for name, places in (bins or {}).items():
        if name not in by:
            raise UnknownName.among("group column to cut into bins", name, by)
        given = [places] if isinstance(places, (int, float)) else places
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidInput(f"`bins` of {brief(name)} must be numbers; got {brief(places)}")
        found[name] = tuple(sorted({finite(place, f"`bins` of {brief(name)}") for place in given}))
        if not found[name]:
            raise InvalidInput(f"`bins` of {brief(name)} must contain at least one number")
    return found


def _bin_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """The names of bins by level."""
    between = [f"{low:.15g} to below {high:.15g}" for low, high in pairwise(cuts)]
    return f"below {cuts[0]:.15g}", *between, f"{cuts[-1]:.15g} and above"


def _bin_reader(names: Sequence[str]) -> Callable[[Any], str | None]:
    return lambda level: None if level is None else names[level]
