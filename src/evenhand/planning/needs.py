"""How many cases many comparisons need, all at once: what an audit says where there are too few to tell.

A gap upwards is treated as one downwards of the complement, so the group's true rate is below the reference's. Of K
cases at most j are successes with the wanted probability, for the smallest such j. So K cases have the power if j
successes are few enough to be rejected. If not even j - 1 are, no smaller number of cases has it: the first number that
rejects j is larger than K, has less power with this limit than K cases would have, and from there down the power at the
first number that rejects a limit falls with the limit. A normal approximation says where to start; what is returned is
found by exact tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..inference import counts_of, fisher_rejects
from ..laws import binomial_cdf
from ..metrics import OneGroup
from .regions import reference_tail
from .search import bracketed, smallest
from .truths import Floats

__all__ = ["Wanted", "cases_needed"]

Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]

# More cases than this are not looked for.
_MOST = 1e6
# The side that needs fewer cases by far, according to the normal approximation, is only checked at the end.
_CLEARLY_FEWER, _SMALL = 0.6, 60.0
# The search starts at most here, and looks at so many sizes at first.
_FAR, _WIDTH = 1e4, 8
# A power that rounding leaves just short of the target counts.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of one comparison.

    The reference's counts are what the test sees. The true score lies ``gap`` from the reference's, on either side that
    the range allows, or at that ``ratio``.
    """

    metric: OneGroup
    reference: Floats
    alpha: float
    gap: float
    ratio: bool = False


def cases_needed(wanted: Sequence[Wanted], *, mid_p: bool = False, power: float = 0.8) -> list[int | None]:
    """The smallest denominators with which Fisher's test finds a gap with a given power, one per comparison.

    A gap is found if the p-value is at most alpha and the scores differ in the right direction. It may be one in either
    direction, and must be found in both. None if the score has no exact test, is undefined for the reference, leaves
    its range on both sides, or if no number up to a million is enough because the reference is too small.

    >>> from evenhand import metric
    >>> rest = np.array([300.0, 100, 120, 480])
    >>> cases_needed([Wanted(metric("tpr").base, rest, 0.05, 0.2), Wanted(metric("acc").base, rest, 0.05, 0.2)])
    [50, 44]
    """
    # Comparisons with the same reference are often equal, and computed once.
    distinct, which = np.unique(_sides(wanted).reshape(-1, 8), axis=0, return_inverse=True)
    sides = _Sides(distinct.reshape(-1, 4), power, mid_p)
    there, possible = sides.there.reshape(-1, 2), sides.possible.reshape(-1, 2)
    chosen = np.flatnonzero(there.any(axis=1) & (possible | ~there).all(axis=1))
    answers = np.full(len(distinct), np.inf)
    answers[chosen] = sides.smallest(2 * chosen)
    return [int(k) if np.isfinite(k) else None for k in answers[which.ravel()]]


def _sides(wanted: Sequence[Wanted]) -> Floats:
    """The true score below the reference's and the one above it, as if lower, shape (comparisons, 2, 4).

    Each is the reference's count and size, the true rate, and alpha; -1 where the range has no such score.
    """
    table = np.full((len(wanted), 2, 4), -1.0)
    by_metric: dict[int, list[int]] = {}
    for i, one in enumerate(wanted):
        by_metric.setdefault(id(one.metric), []).append(i)
    for members in by_metric.values():
        m = wanted[members[0]].metric
        if m.curve is None or not m.defined_by_denominator:
            continue
        own = np.array(members)
        references = np.array([wanted[i].reference for i in members], dtype=np.float64)
        count, size = counts_of(m, references)
        scores, alphas = m.scores(references), np.array([wanted[i].alpha for i in members])
        gaps, ratios = np.array([wanted[i].gap for i in members]), np.array([wanted[i].ratio for i in members])
        for side, sign in enumerate((-1.0, 1.0)):
            with np.errstate(over="ignore"):  # a gap of next to nothing; what is beyond the range is not looked at
                true = np.where(ratios, scores * gaps**sign, scores + sign * gaps)
            within = (true >= m.low - 1e-12) & (true <= m.high + 1e-12)
            # A factor leaves a score of 0 where it is.
            at = np.flatnonzero(within & (true != scores))
            rate = np.asarray(m.curve.rate(np.clip(true[at], m.low, m.high)))
            lower = (count[at], rate) if sign < 0 else (size[at] - count[at], 1 - rate)
            table[own[at], side] = np.stack([lower[0], size[at], lower[1], alphas[at]], axis=1)
    return table


class _Sides:
    """The two sides of comparisons, one after the other, and the search for denominators with enough power on both."""

    def __init__(self, table: Floats, power: float, mid_p: bool) -> None:
        from scipy.special import ndtri

        self.count, self.size, self.rate, self.alpha = table.T
        self.there = self.rate >= 0
        self._power, self._aim, self._mid_p = power, float(ndtri(power)), mid_p

    @property
    def possible(self) -> Bools:
        """Whether any denominator is enough."""
        return np.asarray(2 * reference_tail(self.count, self.size, self.rate, self._mid_p) <= self.alpha)

    def smallest(self, pairs: Rows) -> Floats:
        """The smallest denominators with enough power on both sides, for pairs that begin at these places."""
        start = self._approximate()
        second = (start[pairs + 1] > start[pairs]) | ~self.there[pairs]
        harder, easier = pairs + second, pairs + ~second
        most, least = start[harder], start[easier]
        close = self.there[easier] & ((least >= _CLEARLY_FEWER * most) | (most < _SMALL))

        def hopeless(chosen: Rows, k: Floats) -> Bools:
            no = self._hopeless(harder[chosen], k)
            other = np.flatnonzero(close[chosen] & ~no)
            no[other] = self._hopeless(easier[chosen[other]], k[other])
            return no

        def enough(chosen: Rows, sizes: Floats) -> Bools:
            good = self._enough(harder[chosen], sizes)
            row, place = np.nonzero(good & self.there[easier[chosen], None])
            good[row, place] = self._enough(easier[chosen[row]], sizes[row, place][:, None])[:, 0]
            return good

        gap = self.count[harder] / self.size[harder] - self.rate[harder]
        step = np.ceil(1 / np.maximum(gap, 1 / _FAR))
        return smallest(enough, bracketed(hopeless, np.round(np.minimum(most, _FAR)), step, _MOST), _MOST, _WIDTH)

    def _approximate(self) -> Floats:
        """Where the power is reached according to the normal approximation; infinite if never."""
        from scipy.special import ndtri

        b, size, rate, alpha = (np.where(self.there, x, 0.5) for x in (self.count, self.size, self.rate, self.alpha))
        theirs, z = b / size, -ndtri(alpha / 2)
        low, high = np.zeros(len(b)), np.full(len(b), np.log(4 * _MOST))
        for _ in range(30):
            log_k = (low + high) / 2
            k = np.exp(log_k)
            pooled = (k * rate + b) / (k + size)
            own = np.sqrt(rate * (1 - rate) / k)
            enough = theirs - rate >= z * np.sqrt(pooled * (1 - pooled) * (1 / k + 1 / size)) + self._aim * own
            low, high = np.where(enough, low, log_k), np.where(enough, log_k, high)
        return np.where(~self.there, -1.0, np.where(high < np.log(3.9 * _MOST), np.exp(high), np.inf))

    def _enough(self, lines: Rows, sizes: Floats) -> Bools:
        """Whether consecutive denominators, shape (lines, sizes), have the power.

        Of denominators with the same number of successes the last one has the strongest evidence, and of those with the
        same number of failures the first one. The others are looked at only if that one has the power.
        """
        rare, j = self.rate[lines, None] <= 0.5, self._not_exceeded(lines, sizes)
        k, j = (np.where(rare, x, x[:, ::-1]) for x in (sizes, j))
        run = np.where(rare, j, k - j)
        best = np.c_[run[:, 1:] != run[:, :-1], np.ones(len(k), dtype=bool)]
        good, row = np.zeros(k.shape, dtype=bool), np.broadcast_to(lines[:, None], k.shape)
        good[best] = self._rejects(row[best], j[best], k[best])
        # For each denominator the place of the best one among those like it.
        place = np.where(best, np.arange(k.shape[1]), k.shape[1])
        place = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
        others = ~best & np.take_along_axis(good, place, axis=1)
        good[others] = self._rejects(row[others], j[others], k[others])
        return np.where(rare, good, good[:, ::-1])

    def _hopeless(self, lines: Rows, k: Floats) -> Bools:
        """Whether neither denominators nor smaller ones have the power."""
        j = self._not_exceeded(lines, k[:, None])[:, 0] - 1
        return (j >= 0) & ~self._rejects(lines, j, k)

    def _rejects(self, lines: Rows, j: Floats, k: Floats) -> Bools:
        return fisher_rejects(j, k, self.count[lines], self.size[lines], self.alpha[lines], self._mid_p)

    def _not_exceeded(self, lines: Rows, sizes: Floats) -> Floats:
        """The smallest counts that are not exceeded with the wanted probability, for consecutive denominators."""
        rate, y, aim, k = self.rate[lines], self._aim, self._power - _ROUNDING, sizes[:, 0]
        guess = k * rate + y * np.sqrt(k * rate * (1 - rate)) + (y * y - 1) * (1 - 2 * rate) / 6 - 0.5
        j = np.clip(np.ceil(guess), 0.0, k)
        below, up_to = binomial_cdf(j - 1, k, rate), binomial_cdf(j, k, rate)
        while len(moving := np.flatnonzero((up_to < aim) | (below >= aim))):
            up = up_to[moving] < aim
            j[moving] += np.where(up, 1.0, -1.0)
            p = binomial_cdf(j[moving] - ~up, k[moving], rate[moving])
            below[moving], up_to[moving] = np.where(up, up_to[moving], p), np.where(up, p, below[moving])
        counts = [j]
        for k in sizes.T[1:]:
            # With one more case a count is exceeded if it was before, or was reached and the case is a success.
            at = up_to - below
            up_to, at = up_to - rate * at, at * ((1 - rate) * k / (k - j))
            more = up_to < aim
            at = np.where(more, at * (k - j) / (j + 1) * (rate / (1 - rate)), at)
            j, up_to = j + more, up_to + more * at
            below = up_to - at
            counts.append(j)
        return np.stack(counts, axis=1)
