"""How groups are ordered by a score: in floating point where that decides, exactly in close cases.

An order is a metric with a fixed reference. It is made of parts, each monotone in the last split of the tree; a group
scores below ``s`` if all of its parts do. Every metric has one part, except the worst of several differences, which has
two (plus and minus) per difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..metrics import Comparison, Metric, OneGroup, Tree

__all__ = ["Order", "Threshold", "order_of"]

Floats = NDArray[np.float64]

# Roots and their differences are computed to this many digits; if they agree in half of them, they are equal.
_DIGITS = 200


class OrderPart(Protocol):
    """A score that is monotone in the last count of a tree."""

    @property
    def rises(self) -> bool:
        """Whether it rises with the last count; if not, it falls."""

    def undefined(self, columns: list[Any]) -> NDArray[np.bool_]:
        """Whether each score is undefined, for columns of cells."""

    def crossing(self, score: float, n: float, margin: Floats, side: Floats) -> Floats | None:
        """The last count at which the score is reached, not rounded; None if there is no closed form."""

    def inside(self, columns: list[Any]) -> Floats:
        """The scores of columns of cells on which they are defined."""

    def sides(self, cells: Floats, key: Any) -> NDArray[np.int64]:
        """On which side of ``key`` each score lies, exactly: -1 below, 0 equal, 1 above."""

    def key(self, cells: Floats) -> Any:
        """The exact score of one matrix, to compare with."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score to compare with: a float and, if it is the score of a matrix, its exact key.

    Without a key, scores within rounding of the value count as equal to it.
    """

    value: float
    key: Any = None


@dataclass(frozen=True, slots=True)
class Order:
    """Matrices of a tree, ordered by a score."""

    tree: Tree
    parts: tuple[OrderPart, ...]
    scored: Metric
    against: Against | None = None

    def scores(self, cells: Floats) -> Floats:
        """The scores of a group's cells, nan where undefined."""
        return self.scored.scores(cells, self.against.reference(cells)) if self.against else self.scored.scores(cells)

    def threshold(self, cells: Floats) -> Threshold:
        """The score of one matrix, exactly."""
        collapsed = self.tree.collapse(cells)
        value = float(self.scores(collapsed))
        if np.isnan(value):
            return Threshold(value)
        # The score is the largest of its parts, and each of them is compared with it.
        return Threshold(value, max(part.key(collapsed) for part in self.parts))

    def filled_holes(self, n: float, margin: Floats, side: Floats) -> list[Floats]:
        """The last counts, inside their range, where the parts have a value but the metric has none; nan if none.

        Only the prevalence threshold has such holes, where TPR equals FPR in the group or in the reference.
        """
        if not any(each.apart for each in self.scored.holes):
            return []
        holes = [_proportional(side, margin, n - margin)]
        if self.against is not None and self.against.remains:
            tp, fn, fp, tn = self.against.cells
            left = _proportional(tp - side, tp + fn - margin, fp + tn - (n - margin))
            holes.append(np.where(fp - left == holes[0], np.nan, fp - left))
        return holes


def _proportional(part: Floats, whole: Floats, other: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        count = part * other / whole
        whole_number = (count == np.floor(count)) & (count * whole == part * other) & (part > 0) & (part < whole)
    return np.where(whole_number, count, np.nan)


@dataclass(frozen=True, slots=True)
class Against:
    """What a group is compared with: fixed cells or, with ``remains``, these cells minus the group's."""

    cells: tuple[float, float, float, float]
    remains: bool

    def reference(self, group: NDArray[Any]) -> NDArray[Any]:
        """The reference's cells for each group."""
        cells = np.asarray(self.cells, dtype=group.dtype) if group.dtype.kind == "f" else _decimals(self.cells)
        return cells - group if self.remains else np.broadcast_to(cells, group.shape)


@dataclass(frozen=True, slots=True)
class _ByMetric:
    """The score of the group alone, compared exactly as a fraction."""

    metric: OneGroup

    @property
    def rises(self) -> bool:
        return self.metric.rises

    def undefined(self, columns: list[Any]) -> NDArray[np.bool_]:
        return self.metric.holes[0].at_columns(columns)

    def crossing(self, score: float, n: float, margin: Floats, side: Floats) -> Floats | None:
        low, high = self.metric.range
        last: Floats | None = self.metric.crossing(score, n, margin, side) if low < score < high else None
        return last

    def inside(self, columns: list[Any]) -> Floats:
        scores: Floats = self.metric.score(*columns)
        return scores

    def key(self, cells: Floats) -> Any:
        return _fraction(self.metric.rank(*(int(c) for c in cells)))

    def sides(self, cells: Floats, key: Any) -> NDArray[np.int64]:
        return _compared(self.metric, cells, key) if isinstance(key, Fraction) else _beyond(self.metric, cells, key)


def _compared(m: OneGroup, cells: Floats, other: Fraction | Floats) -> NDArray[np.int64]:
    """The signs of the ranks of matrices minus a fraction, or minus the ranks of other matrices, without rounding."""
    many = [cells] if isinstance(other, Fraction) else [cells, other]
    floats = [m.rank(*np.moveaxis(c, -1, 0)) for c in many]
    largest = [max(float(np.max(np.abs(x), initial=1.0)) for x in rank) for rank in floats]
    if isinstance(other, Fraction):
        largest.append(float(max(abs(other.numerator), other.denominator)))
    # Beyond this, products are computed in Python's integers.
    kind = np.int64 if largest[0] * largest[1] < 2**62 else object
    ranks = [m.rank(*(_whole(c, kind) for c in np.moveaxis(each, -1, 0))) for each in many]
    above, below = ranks[0]
    over, under = (other.numerator, other.denominator) if isinstance(other, Fraction) else ranks[1]
    first, second = above * under, below * over
    return np.asarray(np.greater(first, second), dtype=np.int64) - np.asarray(np.less(first, second), dtype=np.int64)


def _whole(column: Floats, kind: Any) -> NDArray[Any]:
    whole = np.asarray(column).astype(np.int64)
    return whole if kind is np.int64 else np.array([*whole.tolist(), None], dtype=object)[:-1]


def _beyond(m: OneGroup, cells: Floats, key: float) -> NDArray[np.int64]:
    """The signs of ranks minus infinity."""
    _, below = m.rank(*np.moveaxis(cells, -1, 0))
    return np.asarray(np.where(below == 0, 0, -1), dtype=np.int64)


def _fraction(rank: tuple[Any, Any]) -> Any:
    above, below = rank
    return Fraction(above, below) if below else float("inf")


@dataclass(frozen=True, slots=True)
class _ByComparison:
    """The comparison of the group's score with the reference's, times ``sign``."""

    metric: Comparison
    against: Against
    sign: int = 1

    @property
    def rises(self) -> bool:
        return self.metric.base.rises == (self.sign > 0)

    def undefined(self, columns: list[Any]) -> NDArray[np.bool_]:
        cells = np.stack(np.broadcast_arrays(*columns), axis=-1)
        return np.isnan(self.metric.scores(cells, self.against.reference(cells)))

    def crossing(self, score: float, n: float, margin: Floats, side: Floats) -> Floats | None:
        return None

    def inside(self, columns: list[Any]) -> Floats:
        first = self.metric.base.score(*columns)
        others = self.against.cells
        left = [o - c for o, c in zip(others, columns, strict=True)] if self.against.remains else others
        second = self.metric.base.score(*left)
        scores: Floats = self.sign * (first - second if self.metric.kind == "difference" else first / second)
        return scores

    def key(self, cells: Floats) -> Any:
        with localcontext(_CONTEXT):
            return self._exact(cells[None])[0]

    def sides(self, cells: Floats, key: Any) -> NDArray[np.int64]:
        with localcontext(_CONTEXT):
            none = 0 if self.metric.kind == "difference" else 1
            if abs(key - none * self.sign) < Decimal(10) ** (-_DIGITS // 2):
                # No difference: both scores are equal if their ranks are, and ranks are fractions.
                return self.sign * _compared(self.metric.base, cells, self.against.reference(cells))
            gaps = self._exact(cells) - key
            close = Decimal(10) ** (-_DIGITS // 2)
            return np.array([0 if abs(gap) < close else (1 if gap > 0 else -1) for gap in gaps], dtype=np.int64)

    def _exact(self, cells: Floats) -> NDArray[Any]:
        group = _decimals(cells)
        first, second = (self.metric.base.exact(*np.moveaxis(c, -1, 0)) for c in (group, self.against.reference(group)))
        score = first - second if self.metric.kind == "difference" else first / second
        return np.asarray(self.sign * score, dtype=object)


_CONTEXT = Context(prec=_DIGITS, traps=[])


def _decimals(cells: Any) -> NDArray[Any]:
    array = np.asarray(cells)
    whole = [Decimal(int(c)) for c in array.ravel()]
    return np.array([*whole, None], dtype=object)[:-1].reshape(array.shape)


def order_of(m: Metric, reference: Sequence[float] | None = None, *, remains: bool = False) -> Order:
    """The order of groups by a metric.

    A two-group metric needs the cells of the ``reference`` or, with ``remains``, the pooled cells, of which the group
    and the reference are the two parts.
    """
    if not m.comparisons:
        return Order(m.tree, (_ByMetric(_filled(m.base)),), m)
    assert reference is not None
    against = _against(m.tree, reference, remains)
    # A distance is the largest of its differences and of their negatives.
    signs = (1, -1) if m.is_distance else (1,)
    parts = [
        _ByComparison(replace(c, compared=_filled(c.base)), against, sign) for c in m.comparisons for sign in signs
    ]
    return Order(m.tree, tuple(parts), m, against)


def _filled(m: OneGroup) -> OneGroup:
    return replace(m, apart=False) if m.apart else m


def _against(tree: Tree, reference: Sequence[float], remains: bool) -> Against:
    tp, fn, fp, tn = (float(c) for c in tree.collapse(np.asarray(reference, dtype=np.float64)))
    return Against((tp, fn, fp, tn), remains)
