"""How often each combination of group values and answers occurs; bins, variants of names, and the order of values.

A value stays what it is in the data, and values that differ are never merged: None and ``'missing'``, or 1 and ``'1'``,
are two groups. A missing value is None, and so is an empty text; a whole number is an ``int``, however it is stored.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..errors import InvalidInput, UnknownName, brief, escaped
from .columns import as_finite, count, group_columns
from .frames import Key

#: Where to cut group columns of numbers.
Bins = Mapping[str, Sequence[float]] | None
_NUMBERS = ("y_score", "sample_weight", "count")
# Letters of other scripts that look like Latin ones, in the case in which they do.
_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЈЅаеорсухіјѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορι",
    "ABEKMHOPCTYXIJSaeopcyxijsdhABEZHIKMNOPTYXavopi",
)


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

    @property
    def keys(self) -> list[Key]:
        """The group values of each row."""
        return [row[: len(self.columns)] for row in self.rows]

    @property
    def n(self) -> Floats:
        """How often each row occurs."""
        return np.array(list(self.rows.values()), dtype=np.float64)

    def answer(self, name: str) -> list[Any]:
        """The value of an answer in each row."""
        place = len(self.columns) + self.answers.index(name)
        return [row[place] for row in self.rows]

    def index_keys(self, keys: Iterable[Key]) -> Integers:
        """The index of each row's key, -1 if it is none of these."""
        return code_values(self.keys, {key: i for i, key in enumerate(keys)})

    def find_complete(self, lacks: Mapping[str, Bools]) -> tuple[Bools, dict[str, int]]:
        """Which rows lack nothing, and how many cases were left out, by what they lack."""
        complete = ~np.any(list(lacks.values()), axis=0)
        if not complete.any():
            what = "every row lacks a label or a prediction"
            raise InvalidInput(f"{what}; there is nothing to audit")
        n, left_out = self.n, Counter[str]()
        for row in np.flatnonzero(~complete):
            left_out[" and ".join(name for name in lacks if lacks[name][row])] += int(n[row])
        return complete, dict(left_out)


def code_values(values: Iterable[object], codes: Mapping[Any, int | None]) -> Integers:
    """The code of each value; -1 if it has none.

    >>> code_values(["b", None, "a"], {"a": 0, "b": 1, None: None})
    array([ 1, -1,  0])
    """
    coded = map(codes.get, values)
    return np.array([-1 if code is None else code for code in coded], dtype=np.int64)


def count_rows(
    data: object,
    groups: object,
    answers: Mapping[str, object],
    *,
    bins: Bins = None,
    cuts: Mapping[str, Sequence[float]] = MappingProxyType({}),
    merge: bool | str = False,
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
        several answers. ``y_score`` and ``sample_weight`` are counted as floats, also if they are texts. ``count``
        says how many cases a row stands for, and is no answer of the result.
    bins : mapping of str to numbers, optional
        Where to cut group columns of numbers; values become names such as ``"25 to below 45"``.
    cuts : mapping of str to ascending numbers
        Answers that are counted by level: how many of the cuts a number reaches, None if it is missing.
    merge : bool or "first"
        Whether variants of the name of a group are merged, into the most frequent one or the first of them; see
        `merge_variants`.

    Returns
    -------
    CountedRows
        At least one row. Two columns of probabilities, as scikit-learn gives them, are taken for their second where
        numbers are expected.

    Examples
    --------
    >>> table = {"race": ["B", "A", "A"], "label": [1, 0, 0], "p": [0.7, 0.4, 0.2], "q": [0.1, None, 0.6]}
    >>> counted = count_rows(table, "race", {"y_true": "label", "old": "p", "new": "q"}, cuts={"old": [0.3, 0.6]})
    >>> counted.answers, counted.rows
    (('y_true', 'old', 'new'), {('A', 0, 0, 0.6): 1, ('A', 0, 1, None): 1, ('B', 1, 2, 0.1): 1})
    """
    has_groups = not isinstance(groups, dict) or bool(groups)
    by = group_columns(groups, data) if has_groups else {}
    given = {name: column for name, column in answers.items() if column is not None}
    columns = [(escaped(name), column) for name, column in by.items()]
    columns += [(_title(name), column) for name, column in given.items()]
    names, width = [*by, *given], len(by)
    places = {name: i for i, name in enumerate(given, start=width)}
    levels = {places[name]: tuple(cuts[name]) for name in given if name in cuts}
    floats = [places[name] for name in given if name in _NUMBERS and name not in cuts]
    edges = {names.index(name): where for name, where in _read_bins(bins, list(by)).items()}
    counted = count(data, columns, edges | levels, [*levels, *floats])
    if not counted.rows:
        raise InvalidInput("`data` must have at least one row; got none")
    bin_names = {i: _name_bins(where) for i, where in edges.items()}
    rows: Counter[Key] = Counter()
    for row, n in counted.rows.items():
        values = [*map(_unsigned, row[:width]), *row[width:]]
        for i, bins_of in bin_names.items():
            values[i] = None if row[i] is None else bins_of[row[i]]
        for i in floats:
            values[i] = _read_number(row[i], names[i])
        rows[tuple(values)] += n
    lines = rows.total()
    if "count" in given:
        rows = _multiply(rows, places["count"])
        del given["count"]
    if merge:
        rows = Counter(merge_variants(rows, width, first=merge == "first"))
    orders = dict(counted.orders) | bin_names
    answer_places = {*places.values()} - {*levels}
    return CountedRows(
        columns=tuple(by),
        answers=tuple(given),
        rows={row: rows[row] for row in sort_keys(rows)},
        orders={names[i]: order for i, order in orders.items() if i < width},
        answer_orders={names[i]: order for i, order in orders.items() if i in answer_places},
        source=counted.source | {"rows": lines},
        library=counted.library,
    )


def _title(name: str) -> str:
    """An answer in messages: an argument, unless it is called what no argument can be."""
    name = "y_score" if name == "level" else name
    return f"`{name}`" if re.fullmatch("[a-z][a-z_]*", name) else escaped(name)


def _multiply(rows: Counter[Key], place: int) -> Counter[Key]:
    """The rows without the number of cases that each stands for, as often as it says."""
    multiplied: Counter[Key] = Counter()
    for row, n in rows.items():
        cases = row[place]
        if cases is None or not 0 <= cases < inf or cases != int(cases):
            got = "nothing" if cases is None else f"{cases:g}"
            hint = "other numbers can be `sample_weight=`"
            raise InvalidInput(f"`count` must contain whole numbers of cases; got {got}; {hint}")
        multiplied[*row[:place], *row[place + 1 :]] += n * int(cases)
    # Adding nothing keeps what is above 0.
    multiplied = +multiplied
    if not multiplied:
        raise InvalidInput(argument="count", must="not be 0 in every row")
    return multiplied


def _unsigned(value: object) -> object:
    """A zero with a sign, as a file may have it, as zero."""
    return value[1:] if isinstance(value, str) and re.fullmatch(r"-0+(\.0*)?", value) else value


def _read_number(value: Any, name: str) -> float | None:
    try:
        number = nan if value is None or str(value).isspace() else float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{_title(name)} must contain numbers; got {brief(value)}") from None
    return None if isnan(number) else number


def _read_bins(bins: Bins, by: list[str]) -> dict[str, tuple[float, ...]]:
    """Where to cut group columns, in ascending order."""
    if not isinstance(bins, Mapping | None):
        must = "map group columns to the numbers at which to cut them"
        raise InvalidInput(argument="bins", must=must, got=bins)
    edges = {}
    for name, given in (bins or {}).items():
        if name not in by:
            raise UnknownName.among("group column to cut into bins", name, by)
        title = f"`bins` of {brief(name)}"
        if isinstance(given, str):
            raise InvalidInput(f"{title} must be numbers; got {brief(given)}")
        cuts = given if isinstance(given, Iterable) else [given]
        edges[name] = tuple(sorted({as_finite(cut, title) for cut in cuts}))
        if not edges[name]:
            raise InvalidInput(f"{title} must contain at least one number")
    return edges


def _name_bins(cuts: Sequence[float]) -> tuple[str, ...]:
    """The names of bins by level."""
    between = [f"{low:.15g} to below {high:.15g}" for low, high in pairwise(cuts)]
    return f"below {cuts[0]:.15g}", *between, f"{cuts[-1]:.15g} and above"


def merge_variants(rows: Mapping[Key, Any], width: int, *, first: bool = False) -> dict[Key, Any]:
    r"""The rows with all variants of a name in the first columns as the one that occurs in most rows.

    With ``first``, it is the first one in order, which says nothing of how often it occurs. Variants are the same in
    what NFKC, case and white space leave of them. Rows that become the same are added.

    >>> merge_variants({("White", 1): 5, ("white ", 1): 2, ("Black", 0): 1, ("Black\u00a0", 0): 1}, 1)
    {('White', 1): 7, ('Black', 0): 2}
    """
    for i in range(width):
        sizes: Counter[str] = Counter()
        for row, n in rows.items():
            if isinstance(row[i], str):
                sizes[row[i]] += 0 if first else getattr(n, "n", n)
        kept: dict[str, str] = {}
        frequent = sorted(sizes, key=lambda text: (-sizes[text], text))
        name_of = {text: kept.setdefault(_fold(text), text) for text in frequent}
        merged: dict[Key, Any] = {}
        for row, n in rows.items():
            key = (*row[:i], name_of.get(row[i], row[i]), *row[i + 1 :])
            merged[key] = merged.get(key, 0) + n
        rows = merged
    return dict(rows)


def similar_names(values: Iterable[object]) -> list[list[str]]:
    """The texts that differ in case, white space, the way they are encoded, or letters of other scripts only.

    >>> similar_names(["White", "Black", "white ", 1])
    [['White', 'white ']]
    """
    similar: dict[str, list[str]] = {}
    for text in sorted(value for value in values if isinstance(value, str)):
        # Characters that take no space are not seen.
        visible = (c for c in text.translate(_LOOKALIKES) if unicodedata.category(c) != "Cf")
        similar.setdefault(_fold("".join(visible)), []).append(text)
    return [texts for texts in similar.values() if len(texts) > 1]


def _fold(text: str) -> str:
    """A text without the differences that encodings, case and white space make."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def sort_keys(keys: Iterable[Key]) -> list[Key]:
    """Groups in an order that does not depend on how they were given, so that sums over them do not either.

    >>> sort_keys([("b",), (None,), ("a",)])
    [('a',), ('b',), (None,)]
    """
    return sorted(keys, key=lambda key: [(value is None, str(value), repr(value)) for value in key])


def sort_values(values: Iterable[object], declared: Sequence[object] = ()) -> list[Any]:
    """The values of a group column as declared, or else with numbers in them as numbers; missing values last.

    >>> sort_values(["10 years", "9 years", None, "1 year"])
    ['1 year', '9 years', '10 years', None]
    >>> sort_values(["high", "low"], declared=["low", "medium", "high"])
    ['low', 'high']
    """
    rank = {value: i for i, value in enumerate(declared)}
    # Equal keys stay in the order of their texts.
    texts = sorted(values, key=lambda value: (str(value), repr(value)))
    return sorted(texts, key=lambda v: (v is None, rank.get(v, len(rank)), _natural_key(v)))


def _natural_key(value: Any) -> list[tuple[bool, float, str]]:
    """The numbers and the other parts of a value, in a form that sorts as people would."""
    with suppress(TypeError, ValueError, OverflowError):
        number = float(value)
        if not isnan(number):
            return [(False, number, "")]
    parts = re.split(r"([0-9]{1,300}(?:\.[0-9]{1,300})?)", str(value))
    # Every second part is a number.
    return [
        (False, float(part), "") if i % 2 else (True, 0.0, part.casefold())
        for i, part in enumerate(parts)
        if part
    ]
