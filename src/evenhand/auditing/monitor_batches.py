"""Batches of a monitor: how they are read, and what is kept: counts and, salted, which clusters were counted."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np

from ..data import Answers, Tally, build_tally, group_columns
from ..errors import InvalidInput, brief
from .groupings import build_groupings, sum_groups
from .requests import refuse_unknown
from .settings import Settings

__all__ = [
    "MOST_CASES",
    "READ",
    "Batch",
    "Counts",
    "LabelCoding",
    "counts_of_groups",
    "digest",
    "read_batch",
    "refused",
]

Counts = dict[str, dict[str, tuple[int, int, int, int]]]
"""Cells by column and group."""
_COLUMNS = ("y_true", "y_pred", "groups", "y_score", "threshold", "count", "cluster", "bins")
READ = (*_COLUMNS, "positive")
"""The arguments that say how a batch is read."""
_HASH = 16
MOST_CASES = 10**12
"""The most cases of a batch; the evidence of more is lost in rounding."""
_REFUSED = {
    "classes": "evidence is gathered of two classes; say which are `positive`, and keep a monitor of each class",
    "strata": "evidence pooled over strata is not known; make the strata the groups, or keep a monitor of each stratum",
    "sample_weight": "evidence is gathered of whole cases; rows that stand for several can have a `count`",
    "protect": "rounded batches are no fair bet, so that alarms would not keep their promise; protect what you publish",
    "intersections": "each column of groups is monitored by itself; to monitor an intersection, pass it as a column",
}


def refused(asked: Mapping[str, Any], call: str, known: Collection[str]) -> None:
    """Refuse what an audit takes and a monitor does not, with the reason."""
    refuse_unknown(call, asked, {*known, *_REFUSED})
    for name, value in asked.items():
        if value is not None and not (name == "intersections" and value == 1):
            raise InvalidInput(f"`{name}` cannot be monitored: {_REFUSED[name]}")


_LEFT_OUT = ("lacking", "unknown", "repeated", "before")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is kept of a batch.

    ``lacking`` cases had no label, prediction or cluster, and ``unknown`` ones no
    known group in some column. With clusters, ``repeated`` cases stood beside another one of their
    cluster, ``before`` belonged to clusters that an earlier batch counted, and ``clusters`` are hashes of those
    counted.
    """

    counts: Counts
    lacking: int = 0
    unknown: int = 0
    repeated: int = 0
    before: int = 0
    clusters: frozenset[str] = frozenset()

    @property
    def cases(self) -> int:
        """How many cases were counted."""
        return max((sum(map(sum, groups.values())) for groups in self.counts.values()), default=0)

    def same(self, other: Batch) -> bool:
        """Whether the same cases were counted."""
        return (self.counts, self.clusters) == (other.counts, other.clusters)

    def to_dict(self) -> dict[str, Any]:
        """The batch as the state keeps it."""
        left = {name: getattr(self, name) for name in _LEFT_OUT}
        kept: dict[str, Any] = {"counts": self.counts} | {name: n for name, n in left.items() if n}
        return kept | ({"clusters": " ".join(sorted(self.clusters))} if self.clusters else {})

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Batch:
        """The batch that a state keeps; a ValueError if none would be kept so."""
        counts = {
            by: {who: _cells(map(_whole, cells)) for who, cells in of.items()} for by, of in kept["counts"].items()
        }
        left = {name: _whole(kept.get(name, 0)) for name in _LEFT_OUT}
        return cls(counts=counts, clusters=frozenset(kept.get("clusters", "").split()), **left)


@dataclass(slots=True)
class _Once:
    """Each cluster counts once: with one of its cases in a batch, drawn by salt and cluster, unless seen before."""

    salt: str
    seen: frozenset[str]
    repeated: int = 0
    before: int = 0
    clusters: set[str] = field(default_factory=set)

    def __call__(self, cluster: Any, cases: int) -> int | None:
        """Which of the cases of a cluster counts; None if none does."""
        drawn = sha256(f"{self.salt} {cluster}".encode("utf-8", "surrogatepass")).hexdigest()
        if drawn[:_HASH] in self.seen:
            self.before += cases
            return None
        self.repeated += cases - 1
        self.clusters.add(drawn[:_HASH])
        # Other digits than those that are kept.
        return int(drawn[_HASH:], 16) * cases >> 4 * (64 - _HASH)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCoding:
    """How batches are read, as the first one fixed it: columns by argument, None for values, and positive labels."""

    columns: Mapping[str, Any]
    positive: Mapping[str, list[Any]]

    @classmethod
    def of(cls, given: Mapping[str, Any], tally: Tally, has_data: bool) -> LabelCoding:
        """The reading of the first batch; without data, columns are values."""
        kept = {name: _named(name, value, has_data) for name, value in given.items() if name != "positive"}
        return cls(columns=kept, positive={what: list(values) for what, values in tally.positive.items() if values})

    @classmethod
    def from_dict(cls, columns: Mapping[str, Any], positive: Mapping[str, Any]) -> LabelCoding:
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
            if name == "positive":
                self._check_positive(value)
            elif name not in self.columns and not (name == "count" and str(value) == "1"):
                raise InvalidInput(f"`{name}` was not given with the first batch and cannot be; got {brief(value)}")
            elif (kept := self.columns.get(name)) is not None and _named(name, value, has_data) != kept:
                raise InvalidInput(f"`{name}` was {brief(kept)} in the first batch and must stay; got {brief(value)}")
        for name, kept in self.columns.items():
            if kept is None and name not in given:
                raise InvalidInput(f"`{name}` was given as values with the first batch; pass those of this one, too")
        return {**self.columns, **given, "positive": dict(self.positive) or None}

    def _check_positive(self, value: Any) -> None:
        parts = value if isinstance(value, Mapping) else dict.fromkeys(self.positive, value)
        for name, labels in parts.items():
            kept = self.positive.get(name, [])
            asked = {str(one) for one in (labels if isinstance(labels, (list, tuple, set)) else [labels])}
            if {str(one) for one in kept} != asked:
                argument = f"positive['{name}']" if parts is value else "positive"
                raise InvalidInput(
                    f"`{argument}` was {brief(kept)} in the first batch and must stay; got {brief(labels)}"
                )


def read_batch(data: Any, how: Mapping[str, Any], salt: str, seen: frozenset[str]) -> tuple[Batch, Tally]:
    """A batch and its tally; ``seen`` are the hashes of clusters that earlier batches counted."""
    if how.get("groups") is None:
        raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
    if how.get("threshold") is not None and np.ndim(how["threshold"]):
        raise InvalidInput(
            "`threshold` must be one number: decisions at several thresholds are those of several systems, each of "
            f"which needs a monitor of its own; got {brief(how['threshold'])}"
        )
    once = _Once(salt, seen) if how.get("cluster") is not None else None
    names = ("y_true", "y_pred", "y_score", "threshold", "positive", "count", "cluster")
    answers = Answers(**{name: how.get(name) for name in names}, draw_case=once)
    tally = build_tally(data, group_columns(how["groups"], data), answers, {"cells"}, bins=how.get("bins"))
    batch = Batch(
        counts=counts_of_groups(tally),
        lacking=sum(tally.left_out.values()),
        unknown=int(tally.sizes[[None in key for key in tally.keys]].sum()),
        repeated=once.repeated if once else 0,
        before=once.before if once else 0,
        clusters=frozenset(once.clusters) if once else frozenset(),
    )
    return batch, tally


def counts_of_groups(tally: Tally) -> Counts:
    """The cells of every group of every column."""
    assert tally.counts is not None
    counts: Counts = {}
    for grouping in build_groupings(tally, Settings(intersections=1)):
        cells = sum_groups(tally.counts.cells, grouping.codes, len(grouping.groups))[0]
        counts[grouping.name] = dict(zip(grouping.groups, map(_cells, cells), strict=True))
    return counts


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
