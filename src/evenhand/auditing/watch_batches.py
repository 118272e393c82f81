"""Batches of a watch: how they are read, and what is kept of them: counts and, salted, which units were counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np

from ..errors import InvalidInput, brief
from ..tabulate import Answers, Tally, group_columns, tabulated
from .comparisons import groupings_of
from .settings import Settings

__all__ = ["MOST_CASES", "Batch", "Counts", "Reading", "counts_of_groups", "digest", "read_batch", "refused"]

Counts = dict[str, dict[str, tuple[int, int, int, int]]]
"""Cells by column and group."""
_POSITIVE = ("positive", "positive_label", "positive_prediction")
_COLUMNS = ("y_true", "y_pred", "groups", "y_score", "threshold", "count", "unit", "bins")
_HASH = 16
MOST_CASES = 10**12
"""The most cases of a batch; the evidence of more is lost in rounding."""
_REFUSED = {
    "classes": "evidence is gathered of two classes; say which are `positive`, and keep a watch of each class",
    "within": "evidence pooled over strata is not known; make the strata the groups, or keep a watch of each stratum",
    "weights": "evidence is gathered of whole cases; rows that stand for several can have a `count`",
    "protect": "rounded batches are no fair bet, so that alarms would not keep their promise; protect what you publish",
    "crossings": "each column of groups is watched by itself; to watch a crossing, pass it as a column of its own",
}


def refused(asked: Mapping[str, Any], call: str) -> None:
    """Refuse what an audit takes and a watch does not, with the reason."""
    for name, value in asked.items():
        if name not in _REFUSED:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")
        if value is not None and not (name == "crossings" and value == 1):
            raise InvalidInput(f"`{name}` cannot be watched: {_REFUSED[name]}")


_LEFT_OUT = ("lacking", "unknown", "repeated", "before")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is kept of a batch.

    ``lacking`` cases had no label, prediction or unit, and ``unknown`` ones no
    known group in some column. With units, ``repeated`` cases stood beside another one of their
    unit, ``before`` belonged to units that an earlier batch counted, and ``units`` are hashes of those counted.
    """

    counts: Counts
    lacking: int = 0
    unknown: int = 0
    repeated: int = 0
    before: int = 0
    units: frozenset[str] = frozenset()

    @property
    def cases(self) -> int:
        """How many cases were counted."""
        return max((sum(map(sum, groups.values())) for groups in self.counts.values()), default=0)

    def same(self, other: Batch) -> bool:
        """Whether the same cases were counted."""
        return (self.counts, self.units) == (other.counts, other.units)

    def to_dict(self) -> dict[str, Any]:
        """The batch as the state keeps it."""
        left = {name: getattr(self, name) for name in _LEFT_OUT}
        kept: dict[str, Any] = {"counts": self.counts} | {name: n for name, n in left.items() if n}
        return kept | ({"units": " ".join(sorted(self.units))} if self.units else {})

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Batch:
        """The batch that a state keeps; a ValueError if none would be kept so."""
        counts = {
            by: {who: _cells(map(_whole, cells)) for who, cells in of.items()} for by, of in kept["counts"].items()
        }
        left = {name: _whole(kept.get(name, 0)) for name in _LEFT_OUT}
        return cls(counts=counts, units=frozenset(kept.get("units", "").split()), **left)


@dataclass(slots=True)
class _Once:
    """Each unit counts once: with one of its cases in a batch, drawn by salt and unit, unless it was seen before."""

    salt: str
    seen: frozenset[str]
    repeated: int = 0
    before: int = 0
    units: set[str] = field(default_factory=set)

    def __call__(self, unit: Any, cases: int) -> int | None:
        """Which of the cases of a unit counts; None if none does."""
        drawn = sha256(f"{self.salt} {unit}".encode("utf-8", "surrogatepass")).hexdigest()
        if drawn[:_HASH] in self.seen:
            self.before += cases
            return None
        self.repeated += cases - 1
        self.units.add(drawn[:_HASH])
        # Other digits than those that are kept.
        return int(drawn[_HASH:], 16) * cases >> 4 * (64 - _HASH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How batches are read, as the first one fixed it: columns by argument, None for values, and positive labels."""

    columns: Mapping[str, Any]
    positive: Mapping[str, list[Any]]

    @classmethod
    def of(cls, given: Mapping[str, Any], tally: Tally, has_data: bool) -> Reading:
        """The reading of the first batch; without data, columns are values."""
        kept = {name: _named(name, value, has_data) for name, value in given.items() if name not in _POSITIVE}
        return cls(columns=kept, positive={what: list(values) for what, values in tally.positive.items() if values})

    @classmethod
    def from_dict(cls, columns: Mapping[str, Any], positive: Mapping[str, Any]) -> Reading:
        """The reading that a state keeps; a ValueError if none would be kept so."""
        if not set(columns) <= set(_COLUMNS) or not set(positive) <= {"label", "prediction"}:
            raise ValueError
        for name, kept in columns.items():
            if not (kept is None or (_is_number(kept) if name == "threshold" else _named(name, kept, True) == kept)):
                raise ValueError
        if not all(isinstance(one, (str, int, float)) for labels in positive.values() for one in labels):
            raise ValueError
        return cls(columns=columns, positive={what: list(labels) for what, labels in positive.items()})

    def asked(self, given: Mapping[str, Any], has_data: bool) -> dict[str, Any]:
        """What a later batch is read with; what differs from the first is refused."""
        for name, value in given.items():
            if name in _POSITIVE:
                self._check_positive(name, value)
            elif name not in self.columns and not (name == "count" and str(value) == "1"):
                raise InvalidInput(f"`{name}` was not given with the first batch and cannot be; got {brief(value)}")
            elif (kept := self.columns.get(name)) is not None and _named(name, value, has_data) != kept:
                raise InvalidInput(f"`{name}` was {brief(kept)} in the first batch and must stay; got {brief(value)}")
        for name, kept in self.columns.items():
            if kept is None and name not in given:
                raise InvalidInput(f"`{name}` was given as values with the first batch; pass those of this one, too")
        fixed = {f"positive_{what}": values for what, values in self.positive.items()}
        return {**self.columns, **{n: v for n, v in given.items() if n not in _POSITIVE}, **fixed}

    def _check_positive(self, name: str, value: Any) -> None:
        asked = {str(one) for one in (value if isinstance(value, (list, tuple, set)) else [value])}
        concerned = self.positive if name == "positive" else {name: self.positive.get(name.partition("_")[2], [])}
        for kept in concerned.values():
            if {str(one) for one in kept} != asked:
                raise InvalidInput(f"`{name}` was {brief(kept)} in the first batch and must stay; got {brief(value)}")


def read_batch(data: Any, how: Mapping[str, Any], salt: str, seen: frozenset[str]) -> tuple[Batch, Tally]:
    """A batch and its tally; ``seen`` are the hashes of units that earlier batches counted."""
    if how.get("groups") is None:
        raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
    if how.get("threshold") is not None and np.ndim(how["threshold"]):
        raise InvalidInput(
            "`threshold` must be one number: decisions at several thresholds are those of several systems, each of "
            f"which needs a watch of its own; got {brief(how['threshold'])}"
        )
    once = _Once(salt, seen) if how.get("unit") is not None else None
    names = ("y_true", "y_pred", "y_score", "threshold", "count", "unit")
    answers = Answers(
        **{name: how.get(name) for name in names}, once=once, positive={name: how.get(name) for name in _POSITIVE}
    )
    tally = tabulated(data, group_columns(how["groups"], data), answers, {"cells"}, bins=how.get("bins"))
    batch = Batch(
        counts=counts_of_groups(tally),
        lacking=sum(tally.left_out.values()),
        unknown=sum(int(part.n) for key, part in tally.slices[0].parts.items() if None in key),
        repeated=once.repeated if once else 0,
        before=once.before if once else 0,
        units=frozenset(once.units) if once else frozenset(),
    )
    return batch, tally


def counts_of_groups(tally: Tally) -> Counts:
    """The cells of every group of every column."""
    return {
        grouping.name: {group: _cells(part.cells) for group, part in grouping.members.items()}
        for grouping in groupings_of(tally, Settings(crossings=1, max_groups=10_000))
    }


def _cells(cells: Iterable[float]) -> tuple[int, int, int, int]:
    tp, fn, fp, tn = (int(cell) for cell in cells)
    return tp, fn, fp, tn


def _whole(kept: Any) -> int:
    """A number of cases that a state keeps."""
    if type(kept) is not int or not 0 <= kept <= MOST_CASES:
        raise ValueError
    return kept


def _is_number(kept: Any) -> bool:
    return isinstance(kept, (int, float)) and isfinite(kept)


def _named(name: str, value: Any, has_data: bool) -> Any:
    """A column as the state can keep it, by its name or names; None for values."""
    if name == "bins":
        cuts = {str(by): list(at) if isinstance(at, Iterable) else [at] for by, at in value.items()}
        return {by: [float(one) for one in at] for by, at in cuts.items()}
    if name == "threshold" or (name == "count" and str(value) == "1"):
        return value
    if not has_data:
        return None
    if name == "groups" and isinstance(value, (list, tuple)):
        return list(value) if all(isinstance(one, (str, int)) for one in value) else None
    return value if isinstance(value, (str, int)) else None


def digest(state: Mapping[str, Any]) -> str:
    """The digest of a state, by which a change is seen."""
    return sha256(json.dumps(state, ensure_ascii=True, sort_keys=True).encode()).hexdigest()
