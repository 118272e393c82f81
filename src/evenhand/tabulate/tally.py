"""What an audit is made of: cases by axes and by combination of groups, as counts or, where a metric needs them, rows.

A `Tally` has one `Slice` per place on the axes (a threshold, a class, a stratum) and kind of part. A part is what a
metric reads of a group: four cells, in all or by unit, a matrix of all classes, or rows. Parts can be added and
subtracted, so that groups, crossings and references are formed in the same way whatever a metric reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from .looks import Repeated
from .ordering import Key, ordered

__all__ = ["Part", "PartKind", "Place", "RowTable", "Rows", "Slice", "Tally", "UnitMatrix", "UnitTable", "total"]

Place = tuple[tuple[str, Any], ...]
"""A place on the axes: pairs of axis and value."""
PartKind = Literal["cells", "selections", "classes", "rows", "models"]
"""What a part is: four cells of cases with a label, of all with a prediction, a matrix of all classes, rows, or counts
of pairs of models."""


class Part(Protocol):
    """What a metric reads of a group."""

    @property
    def n(self) -> float:
        """The number of cases."""

    def __add__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, eq=False)
class RowTable:
    """Rows of cases, in an order that does not depend on how they were given.

    ``of`` is the number of each row's combination of groups. Columns are ``positive`` (whether the label is),
    ``y_true``, ``y_pred`` and ``y_score``, as far as they were asked for.
    """

    of: NDArray[np.int64]
    columns: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Rows:
    """The rows of some combinations of groups."""

    table: RowTable
    keys: frozenset[int]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Which rows of the table they are."""
        return np.isin(self.table.of, np.fromiter(self.keys, dtype=np.int64, count=len(self.keys)))

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(np.count_nonzero(self.mask))

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.table, self.keys | other.keys)

    def __sub__(self, other: Rows) -> Rows:
        return Rows(self.table, self.keys - other.keys)


@dataclass(frozen=True, eq=False)
class UnitTable:
    """The cells of every unit, of shape (units, 4), and the number of its combination of groups in ``of``."""

    of: NDArray[np.int64]
    cells: NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class UnitMatrix(ConfusionMatrix):
    """A confusion matrix of cases that belong to units, which are independent where cases are not.

    Only matrices of the same table can be added and subtracted.
    """

    table: UnitTable
    keys: frozenset[int]

    @classmethod
    def of(cls, table: UnitTable, keys: frozenset[int]) -> UnitMatrix:
        """The matrix of some combinations of groups."""
        tp, fn, fp, tn = table.cells[_chosen(table, keys)].sum(axis=0).tolist()
        return cls(tp, fn, fp, tn, table=table, keys=keys)

    @property
    def units(self) -> NDArray[np.float64]:
        """The cells of each unit, of shape (units, 4)."""
        return np.asarray(self.table.cells[_chosen(self.table, self.keys)], dtype=np.float64)

    def __add__(self, other: ConfusionMatrix) -> UnitMatrix:
        return self.of(self.table, self.keys | self._of(other))

    def __sub__(self, other: ConfusionMatrix) -> UnitMatrix:
        return self.of(self.table, self.keys - self._of(other))

    def _of(self, other: ConfusionMatrix) -> frozenset[int]:
        if not isinstance(other, UnitMatrix) or other.table is not self.table:
            raise InvalidInput("matrices of units can be added to matrices of the same units only")
        return other.keys


def _chosen(table: UnitTable, keys: frozenset[int]) -> NDArray[np.bool_]:
    return np.isin(table.of, np.fromiter(keys, dtype=np.int64, count=len(keys)))


@dataclass(frozen=True, slots=True)
class Slice:
    """The parts at one place on the axes, by combination of groups."""

    of: PartKind
    at: Place
    parts: Mapping[Key, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Cases by axes and groups, and how they were read.

    Attributes
    ----------
    columns : tuple of str
        The group columns.
    slices : tuple of Slice
        The parts by place.
    labelled : bool
        Whether there are labels; if not, cells count every case as actually negative.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    positive, negative : dict of str to tuple
        The positive and negative values of "label" and "prediction".
    absent : tuple
        Positive labels that were given and do not occur.
    words : dict of str to tuple of str
        Texts of each column that were read as missing.
    orders : dict of str to tuple
        Declared orders of the values of group columns.
    source, library
        Where the data came from, and the dataframe library.
    threshold : float or None
        The threshold, if there is one only.
    classes : tuple
        All classes, if there may be more than two.
    weight : dict of str to float
        If cases are weighted: how many there are (``n``), their total ``weight``, and how many they are worth
        (``effective``).
    unit : str or None
        The column of units, if cases of the same one are not independent.
    repeated : Repeated or None
        A column that looks like an identifier and repeats, so that rows may not be independent.
    rule : Rule or None
        The rule by which counts were rounded.
    """

    columns: tuple[str, ...]
    slices: tuple[Slice, ...]
    labelled: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    positive: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    negative: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    absent: tuple[Any, ...] = ()
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    library: str | None = None
    threshold: float | None = None
    classes: tuple[Any, ...] = ()
    weight: dict[str, float] = field(default_factory=dict)
    unit: str | None = None
    repeated: Repeated | None = None
    rule: Any = None

    @property
    def keys(self) -> list[Key]:
        """All combinations of groups, in a stable order."""
        return ordered(dict.fromkeys(key for one in self.slices for key in one.parts))

    @property
    def n(self) -> int:
        """The number of cases: those of the first slice that counts labelled cases."""
        counted = [one for one in self.slices if one.of != "selections"] or list(self.slices)
        first = counted[0]
        same = [one for one in counted if one.of == first.of and _without(one.at) == _without(first.at)]
        return int(sum(part.n for one in same for part in one.parts.values()))

    @property
    def units(self) -> int | None:
        """The number of units, if there are any."""
        part = next(iter(self.slices[0].parts.values()))
        return len(part.table.of) if isinstance(part, UnitMatrix) else None

    def within(self, strata: Sequence[str], names: Mapping[Key, str]) -> Tally:
        """The tally with these columns as the axis ``stratum``, whose values are called by ``names``."""
        at = [self.columns.index(column) for column in strata]
        rest = [i for i in range(len(self.columns)) if i not in at]
        slices = []
        for one in self.slices:
            split: dict[Key, dict[Key, Any]] = {key: {} for key in names}
            for key, part in one.parts.items():
                inside = split[tuple(key[i] for i in at)]
                group = tuple(key[i] for i in rest)
                inside[group] = inside[group] + part if group in inside else part
            slices += [Slice(one.of, (*one.at, ("stratum", names[key])), parts) for key, parts in split.items()]
        return replace(
            self,
            columns=tuple(self.columns[i] for i in rest),
            slices=tuple(slices),
            orders={column: order for column, order in self.orders.items() if column not in strata},
        )

    def over_strata(self) -> Tally:
        """The tally without the axis ``stratum``: its slices added up."""
        sums: dict[tuple[PartKind, Place], dict[Key, Any]] = {}
        for one in self.slices:
            inside = sums.setdefault((one.of, _without(one.at)), {})
            for key, part in one.parts.items():
                inside[key] = inside[key] + part if key in inside else part
        return replace(self, slices=tuple(Slice(of, at, parts) for (of, at), parts in sums.items()))


def _without(at: Place) -> Place:
    return tuple(pair for pair in at if pair[0] != "stratum")


def total(parts: Iterable[Any]) -> Any:
    """The sum of parts; no cells if there is none."""
    summed: Any = None
    for part in parts:
        summed = part if summed is None else summed + part
    return ConfusionMatrix(0, 0, 0, 0) if summed is None else summed
