"""The gap between a group's true score and its reference's, for many comparisons at once.

Group and reference have independent posteriors. The cumulative probability of a gap is an average over the quantiles of
whichever posterior is narrower: the averaged function is then smooth, and few nodes suffice. The ends of the intervals
are computed for all comparisons together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..laws import Posterior, quadrature
from ..metrics import Kind

__all__ = ["Gaps"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Largest absolute value of the inverse hyperbolic sine of a difference, or of the logarithm of a ratio.
_REACH = 60.0
_NODES, _FEW_NODES, _MUCH_BETTER = 40, 24, 0.25
# Differences of scores without upper end are averaged over more: they vary over orders of magnitude.
_MANY_NODES = 160
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Gaps:
    """The posteriors of the gaps between groups and their references: differences or ratios, group first."""

    group: Posterior
    reference: Posterior
    kind: Kind

    def tails(self, at: float) -> tuple[Floats, Floats]:
        """P(gap <= at) and P(gap > at), per comparison."""
        rows = np.arange(sum(len(part.rows) for part in self._parts))
        gap = np.full(len(rows), float(at))
        return self.cumulative(gap, rows), self.cumulative(gap, rows, above=True)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The ends of the equal-tailed intervals, per comparison."""
        from scipy.special import ndtri

        levels = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
        down, middle, up = self._roughly(levels)
        ends = []
        for q, start in ((levels[0], down), (levels[2], up)):

            def excess(place: Floats, rows: Rows, q: float = q) -> Floats:
                # Normal scores are nearly linear in the gap, so a secant converges fast.
                reached = np.clip(self.cumulative(self._unfolded(place), rows), 1e-290, 1 - 1e-16)
                return np.asarray(ndtri(reached) - ndtri(q))

            ends.append(self._unfolded(_roots(excess, start, np.abs(start - middle) / 6 + 1e-9)))
        return ends[0], ends[1]

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        """The comparisons, by the side that is averaged over and the number of nodes."""
        ends = np.array([0.05, 0.95])
        mine, theirs = (np.ptp(self._lined(p.quantile(ends)), axis=1) for p in (self.group, self.reference))
        over_theirs = theirs <= mine
        # If one posterior is much narrower than the other, few nodes are enough.
        heavy = np.maximum(mine, theirs) > (2 if self.kind == "difference" else np.inf)
        easy = ~heavy & (np.where(over_theirs, theirs, mine) < _MUCH_BETTER * np.where(over_theirs, mine, theirs))
        parts = []
        for side in (True, False):
            for nodes, wanted in ((_FEW_NODES, easy), (_MANY_NODES, heavy), (_NODES, ~easy & ~heavy)):
                rows = np.flatnonzero((over_theirs == side) & wanted)
                if len(rows):
                    u, w = quadrature(nodes)
                    parts.append(_Part(rows, side, (self.reference if side else self.group).quantile(u, rows), w))
        return tuple(parts)

    def cumulative(self, gap: Floats, rows: Rows, above: bool = False) -> Floats:
        """P(gap <= g), or P(gap > g) with ``above``, for some rows."""
        total = np.empty(len(rows))
        for part in self._parts:
            where = np.searchsorted(part.rows, rows)
            at = np.flatnonzero(part.rows[np.minimum(where, len(part.rows) - 1)] == rows)
            if len(at):
                nodes = part.nodes[where[at]]
                total[at] = self._averaged(gap[at, None], rows[at], nodes, part.over_theirs, above) @ part.weights
        return total

    def _averaged(self, gap: Floats, rows: Rows, nodes: Floats, over_theirs: bool, above: bool) -> Floats:
        if over_theirs:
            scores = nodes + gap if self.kind == "difference" else nodes * gap
            return (self.group.sf if above else self.group.cdf)(scores, rows)
        with np.errstate(divide="ignore", over="ignore"):
            scores = nodes - gap if self.kind == "difference" else nodes / gap
        return (self.reference.cdf if above else self.reference.sf)(scores, rows)

    def _lined(self, scores: Floats) -> Floats:
        """Scores on the scale on which the gap is a difference: logarithms for a ratio."""
        return scores if self.kind == "difference" else np.log(np.maximum(scores, 1e-300))

    def _roughly(self, levels: Floats) -> tuple[Floats, Floats, Floats]:
        """Initial guesses of lower end, median and upper end of each gap, folded, from the quantiles of both sides."""
        mine, theirs = (self._lined(p.quantile(levels)) for p in (self.group, self.reference))
        middle = mine[:, 1] - theirs[:, 1]
        down = np.hypot(mine[:, 1] - mine[:, 0], theirs[:, 2] - theirs[:, 1])
        up = np.hypot(mine[:, 2] - mine[:, 1], theirs[:, 1] - theirs[:, 0])
        ends = (middle - down, middle, middle + up)
        folded = [np.arcsinh(e) if self.kind == "difference" else e for e in ends]
        first, second, third = (np.clip(np.nan_to_num(e), -_REACH, _REACH) for e in folded)
        return first, second, third

    def _unfolded(self, place: Floats) -> Floats:
        return np.sinh(place) if self.kind == "difference" else np.exp(place)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some comparisons, in ascending order, with the quantiles of the side that is averaged over."""

    rows: Rows
    over_theirs: bool
    nodes: Floats
    weights: Floats


def _roots(excess: Callable[[Floats, Rows], Floats], start: Floats, step: Floats) -> Floats:
    """The root of an increasing function per row, bracketed by ``start`` ± ``step`` if possible.

    Illinois variant of regula falsi, with a bisection every sixth step for functions that bend sharply.
    """
    every = np.arange(len(start))
    low, high = (np.clip(start + sign * step, -_REACH, _REACH) for sign in (-1, 1))
    at_low, at_high = excess(low, every), excess(high, every)
    for ends, values, wrong, limit in ((low, at_low, at_low > 0, -_REACH), (high, at_high, at_high < 0, _REACH)):
        missed = np.flatnonzero(wrong)
        if len(missed):
            ends[missed] = limit
            values[missed] = excess(ends[missed], missed)
    best = np.where(np.abs(at_low) < np.abs(at_high), low, high)
    open_, stayed = (at_low < 0) & (at_high > 0), np.zeros(len(start))
    for turn in range(120):
        rows = np.flatnonzero(open_)
        if not len(rows):
            break
        left, right, below, above = low[rows], high[rows], at_low[rows], at_high[rows]
        middle = (left + right) / 2
        cut = middle if turn % 6 == 5 else right - above * (right - left) / (above - below)
        place = np.where((cut > left) & (cut < right), cut, middle)
        value = excess(place, rows)
        up = value <= 0
        # The value at an end that is kept twice in a row is halved, so that the end soon moves.
        low[rows], high[rows] = np.where(up, place, left), np.where(up, right, place)
        at_low[rows] = np.where(up, value, np.where(stayed[rows] < 0, below / 2, below))
        at_high[rows] = np.where(up, np.where(stayed[rows] > 0, above / 2, above), value)
        stayed[rows] = np.where(up, 1.0, -1.0)
        best[rows] = place
        narrow = high[rows] - low[rows] <= _TOLERANCE * np.maximum(1.0, np.abs(place))
        open_[rows] = (np.abs(value) > _TOLERANCE) & ~narrow
    return best
