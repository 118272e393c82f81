"""The gap between a group's true score and its reference's, for many comparisons at once.

What is believed of group and reference is independent. The probability of a gap is an average over the scores of
whichever side is narrower: the averaged function is then smooth, and few nodes suffice. Atoms are paired with
everything by themselves, so that no average crosses one. The ends of all intervals are computed together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..laws import Belief, Bracket, narrowed, normal_score
from ..metrics import Kind

__all__ = ["Gaps", "PairedBeliefs"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Largest absolute value of the inverse hyperbolic sine of a difference, or of the logarithm of a ratio.
_REACH = 60.0
_NODES, _FEW_NODES, _MUCH_BETTER = 40, 24, 0.25
# Differences of scores without upper end are averaged over more: they vary over orders of magnitude.
_MANY_NODES = 160
# Ends beyond which less than this lies are computed with as many.
_FAR_OUT = 0.01
_TOLERANCE = 1e-8
# Guesses are not finer than this.
_ROUGH = 1e-3
# Gaps of atoms that differ by less are equal.
_SAME = 1e-12


@dataclass(frozen=True)
class Gaps:
    """What is believed of gaps between groups and their references: differences or ratios, group first.

    ``low`` are the beliefs from which gaps count low, for lower ends, and ``high`` those for upper ends.
    """

    low: PairedBeliefs
    high: PairedBeliefs

    def tails(self, at: float) -> tuple[Floats, Floats]:
        """P(gap <= at) and P(gap >= at), per comparison."""
        rows = np.arange(len(self.low.group.undefined))
        gap = np.full(len(rows), float(at))
        return self.low.tail(gap, rows), self.high.tail(gap, rows, above=True)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The ends of the equal-tailed intervals, per comparison; infinite where too much is undefined."""
        tail = (1 - level) / 2
        return self.low.end(tail, above=False), self.high.end(tail, above=True)


@dataclass(frozen=True)
class PairedBeliefs:
    """Independent beliefs of groups and their references, and of their gaps."""

    group: Belief
    reference: Belief
    kind: Kind

    def end(self, tail: float, above: bool) -> Floats:
        """The gaps beyond which lies this probability."""
        from scipy.special import ndtri

        start, step = self._roughly(tail, above)
        fine = tail < _FAR_OUT
        sign = -1.0 if above else 1.0

        def excess(place: Floats, rows: Rows) -> Floats:
            return sign * (normal_score(self.tail(self._unfolded(place), rows, above, fine)) - ndtri(tail))

        found = self._unfolded(_roots(excess, start, step))
        nowhere = np.inf if above else (-np.inf if self.kind == "difference" else 0.0)
        every = np.arange(len(start))
        farthest = self._unfolded(np.full(len(start), _REACH if above else -_REACH))
        return np.where(self.tail(farthest, every, above) >= tail, nowhere, found)

    def tail(self, gap: Floats, rows: Rows, above: bool = False, fine: bool = False) -> Floats:
        """P(gap <= g), or P(gap >= g) with ``above``, for some rows; what is undefined counts to both.

        ``fine`` averages over many nodes, for tails far out.
        """
        total = self._undefined[rows] + self._atoms_of_both(gap, rows, above)
        total += self._atoms_of_one(gap, rows, above, theirs=True) + self._atoms_of_one(gap, rows, above, theirs=False)
        for part in self._fine_parts if fine else self._parts:
            where = np.searchsorted(part.rows, rows)
            at = np.flatnonzero(part.rows[np.minimum(where, len(part.rows) - 1)] == rows)
            if len(at):
                nodes, masses = part.nodes[where[at]], part.masses[where[at]]
                total[at] += self._averaged(gap[at, None], rows[at], nodes, masses, part.over_theirs, above)
        return total

    @cached_property
    def _undefined(self) -> Floats:
        return 1 - (1 - self.group.undefined) * (1 - self.reference.undefined)

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        return self._parted(fine=False)

    @cached_property
    def _fine_parts(self) -> tuple[_Part, ...]:
        return self._parted(fine=True)

    def _parted(self, fine: bool) -> tuple[_Part, ...]:
        """The comparisons, by the side that is averaged over and the number of nodes."""
        mine, theirs = (np.ptp(self._lined(belief.nodes(8)[0]), axis=1) for belief in (self.group, self.reference))
        over_theirs = theirs <= mine
        # If one side is much narrower than the other, few nodes are enough.
        heavy = fine | (np.maximum(mine, theirs) > (2 if self.kind == "difference" else np.inf))
        easy = ~heavy & (np.where(over_theirs, theirs, mine) < _MUCH_BETTER * np.where(over_theirs, mine, theirs))
        parts = []
        for side in (True, False):
            for nodes, wanted in ((_FEW_NODES, easy), (_MANY_NODES, heavy), (_NODES, ~easy & ~heavy)):
                rows = np.flatnonzero((over_theirs == side) & wanted)
                if len(rows):
                    parts.append(_Part(rows, side, *(self.reference if side else self.group).nodes(nodes, rows)))
        return tuple(parts)

    def _atoms_of_both(self, gap: Floats, rows: Rows, above: bool) -> Floats:
        (mine, own), (others, other) = (
            (belief.atoms.values[rows], belief.atoms.masses[rows]) for belief in (self.group, self.reference)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            if self.kind == "difference":
                beyond = mine[:, :, None] - others[:, None, :] - gap[:, None, None]
            else:
                beyond = mine[:, :, None] - others[:, None, :] * gap[:, None, None]
        # An infinite gap of infinite scores is any gap.
        reached = ~((-beyond if above else beyond) > _SAME)
        return np.asarray(np.einsum("ri,rj,rij->r", own, other, reached))

    def _atoms_of_one(self, gap: Floats, rows: Rows, above: bool, theirs: bool) -> Floats:
        """Atoms of one side against the smooth part of the other."""
        atoms = (self.reference if theirs else self.group).atoms
        masses = atoms.masses[rows]
        if not masses.any():
            return np.zeros(len(rows))
        return self._averaged(gap[:, None], rows, atoms.values[rows], masses, theirs, above)

    def _averaged(
        self, gap: Floats, rows: Rows, nodes: Floats, masses: Floats, over_theirs: bool, above: bool
    ) -> Floats:
        """The probability of gaps if one side is at its nodes, and the other anywhere in its smooth part."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if over_theirs:
                scores = nodes + gap if self.kind == "difference" else nodes * gap
                reached = (self.group.sf if above else self.group.cdf)(_known(scores), rows)
            else:
                scores = nodes - gap if self.kind == "difference" else nodes / gap
                reached = (self.reference.cdf if above else self.reference.sf)(_known(scores), rows)
        return np.asarray((reached * masses).sum(axis=1))

    def _lined(self, scores: Floats) -> Floats:
        """Scores on the scale on which the gap is a difference: logarithms for a ratio."""
        return scores if self.kind == "difference" else np.log(np.maximum(scores, 1e-300))

    def _roughly(self, tail: float, above: bool) -> tuple[Floats, Floats]:
        """Guesses of the ends, folded, and how far they may be off, from the ends of both sides."""
        mine, theirs = (
            [np.nan_to_num(self._lined(belief.end(q, over, _ROUGH)), posinf=1e6, neginf=-1e6) for q, over in asked]
            for belief, asked in (
                (self.group, ((tail, above), (0.5, above))),
                (self.reference, ((tail, not above), (0.5, above))),
            )
        )
        middle = mine[1] - theirs[1]
        away = np.hypot(mine[1] - mine[0], theirs[0] - theirs[1])
        folded = [self._folded(end) for end in (middle + (away if above else -away), middle)]
        return folded[0], np.abs(folded[0] - folded[1]) / 6 + 1e-9

    def _folded(self, gap: Floats) -> Floats:
        return _clipped(np.arcsinh(gap) if self.kind == "difference" else gap)

    def _unfolded(self, place: Floats) -> Floats:
        return np.sinh(place) if self.kind == "difference" else np.exp(place)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some comparisons, in ascending order, with the scores of the side that is averaged over, and their masses."""

    rows: Rows
    over_theirs: bool
    nodes: Floats
    masses: Floats


def _known(scores: Floats) -> Floats:
    """Scores that can be looked up: none is infinite, and one that may be any is 0."""
    return scores if np.isfinite(scores).all() else np.nan_to_num(scores)


def _clipped(places: Floats) -> Floats:
    return np.minimum(np.maximum(places, -_REACH), _REACH)


def _roots(excess: Callable[[Floats, Rows], Floats], start: Floats, step: Floats) -> Floats:
    """The root of an increasing function per row, bracketed by ``start`` ± ``step`` if possible."""
    every = np.arange(len(start))
    low, high = (_clipped(start + sign * step) for sign in (-1, 1))
    at_low, at_high = excess(low, every), excess(high, every)
    for ends, values, wrong, limit in ((low, at_low, at_low > 0, -_REACH), (high, at_high, at_high < 0, _REACH)):
        missed = np.flatnonzero(wrong)
        if len(missed):
            ends[missed] = limit
            values[missed] = excess(ends[missed], missed)
    found = narrowed(excess, Bracket(high, low, at_high, at_low), _TOLERANCE, least=1.0, enough=_TOLERANCE)
    return np.where(np.abs(found.at_outside) < np.abs(found.at_inside), found.outside, found.inside)
