"""How many cases many comparisons need, all at once: what an audit says where there are too few to tell.

A gap upwards is treated as one downwards of the complement, so the group's true rate is below the reference's. Let K
be the group's denominator. There are two exact ways to the smallest K with enough power:

- Successes: let K(j) be the first K at which j successes are few enough to be rejected. More than K(j) cases with the
  same limit j have less power. So the answer is K(j) for the smallest j such that K(j) cases have at most j successes
  with the wanted probability.
- Failures: let K(f) be the first K with at least f failures with the wanted probability. Among more cases f failures
  are weaker evidence. So the answer is K(f) for the smallest f that is rejected at K(f).

Both conditions would hold from one place on if K were a real number. Rounding K up lets them hold or fail by chance
around that place. The search ends below it, where the condition fails even without the rounding. Successes are counted
if the reference's rate is at most one half, failures otherwise, since that leaves few places to look at. A normal
approximation says where to start; what is returned is found by exact tails.

A gap may be one in either direction. Where one direction first has enough power the other one may have lost it again,
so K grows from the larger of the two answers until both have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..inference import counts_of, fisher
from ..metrics import OneGroup
from .regions import binomial_cdf, binomial_sf
from .truths import Floats

__all__ = ["Wanted", "cases_needed"]

Rows = NDArray[np.int64]

# More cases than this are not looked for.
_MOST = 1e6
# The side that needs fewer cases by far, according to the normal approximation, is not computed exactly.
_CLEARLY_FEWER, _SMALL = 0.6, 60.0
# The search starts at most here.
_FAR = 1e4
_TERMS = 32
# So many denominators are looked at together, per comparison.
_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of one comparison.

    Attributes
    ----------
    metric : OneGroup
        The metric.
    reference : array of four
        The reference's counts, which are what the test sees.
    level : float
        The level of the test.
    gap : float
        How far the true score lies from the reference's, on either side that the range allows.
    ratio : bool
        Whether the gap is a factor rather than a difference.
    """

    metric: OneGroup
    reference: Floats
    level: float
    gap: float
    ratio: bool = False


def cases_needed(wanted: Sequence[Wanted], *, mid_p: bool = False, power: float = 0.8) -> list[int | None]:
    """The smallest denominators with which Fisher's test finds a gap with a given power, one per comparison.

    A gap is found if the p-value is at most the level and the scores differ in the right direction.

    Parameters
    ----------
    wanted : sequence of Wanted
        The comparisons; equal ones are computed once.
    mid_p : bool
        Whether the test counts half of the probability of the observed outcome.
    power : float
        The probability that a gap is found, whether the true score is lower or higher.

    Returns
    -------
    list of int or None
        None if the score has no exact test, is undefined for the reference, leaves its range on both sides, or if no
        number up to a million is enough because the reference is too small.

    Examples
    --------
    >>> from evenhand import metric
    >>> rest = np.array([300.0, 100, 120, 480])
    >>> cases_needed([Wanted(metric("tpr").base, rest, 0.05, 0.2), Wanted(metric("acc").base, rest, 0.05, 0.2)])
    [50, 44]
    """
    table, rows = _sides(wanted)
    worst = np.zeros(len(wanted))
    if len(rows):
        distinct, which = np.unique(table, axis=0, return_inverse=True)
        start = _approximate(distinct, power)
        larger = np.zeros(len(wanted))
        np.maximum.at(larger, rows, start[which])
        exact = (start[which] >= _CLEARLY_FEWER * larger[rows]) | (start[which] < _SMALL)
        answers = np.full(len(distinct), np.nan)

        def look(lines: Rows) -> None:
            chosen = np.unique(which[lines])
            answers[chosen] = _smallest(distinct[chosen], start[chosen], power, mid_p)
            np.maximum.at(worst, rows[lines], np.nan_to_num(answers[which[lines]], nan=np.inf))

        look(np.flatnonzero(exact))
        search = _Successes(table, power, mid_p)
        behind = np.flatnonzero(np.isfinite(worst[rows]) & ~(answers[which] == worst[rows]))
        behind = behind[~search.enough(behind, worst[rows[behind]])]
        # Those that seemed to need fewer cases by far.
        unknown = behind[~exact[behind]]
        if len(unknown):
            look(unknown)
        again = np.unique(rows[behind])
        again = again[np.isfinite(worst[again])]
        worst[again] = _both(search, rows, again, worst[again])
    return [int(k) if 0 < k < np.inf else None for k in worst]


def _both(search: _Successes, rows: Rows, which: Rows, k: Floats) -> Floats:
    """The first denominators from ``k`` on at which all sides of each comparison have enough power."""
    answers, open_ = np.full(len(k), np.inf), np.arange(len(k))
    lines = [np.flatnonzero(rows == one) for one in which]
    k = k.copy()
    while len(open_):
        sides = np.concatenate([lines[i] for i in open_])
        owner = np.repeat(np.arange(len(open_)), [len(lines[i]) for i in open_])
        sizes = k[open_][:, None] + np.arange(_TOGETHER)
        enough = search.enough(np.repeat(sides, _TOGETHER), sizes[owner].ravel()).reshape(-1, _TOGETHER)
        every = np.ones(sizes.shape, dtype=bool)
        np.logical_and.at(every, owner, enough)
        found = every.any(axis=1)
        answers[open_[found]] = sizes[found, np.argmax(every[found], axis=1)]
        k[open_] += _TOGETHER
        open_ = open_[~found & (k[open_] <= _MOST)]
    return np.where(answers <= _MOST, answers, np.inf)


def _sides(wanted: Sequence[Wanted]) -> tuple[Floats, Rows]:
    """One line for each true score: the reference's count and size, the true rate, and the level, as if lower."""
    lines, rows = [np.empty((0, 4))], [np.empty(0, dtype=np.int64)]
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
        scores, levels = m.scores(references), np.array([wanted[i].level for i in members])
        gaps, ratios = np.array([wanted[i].gap for i in members]), np.array([wanted[i].ratio for i in members])
        for sign in (-1.0, 1.0):
            with np.errstate(over="ignore"):  # a gap of next to nothing; what is beyond the range is not looked at
                true = np.where(ratios, scores * gaps**sign, scores + sign * gaps)
            within = (true >= m.low - 1e-12) & (true <= m.high + 1e-12)
            # A factor leaves a score of 0 where it is.
            at = np.flatnonzero(within & (true != scores))
            rate = np.asarray(m.curve.rate(np.clip(true[at], m.low, m.high)))
            flipped = (count[at], rate) if sign < 0 else (size[at] - count[at], 1 - rate)
            lines.append(np.stack([flipped[0], size[at], flipped[1], levels[at]], axis=1))
            rows.append(own[at])
    return np.concatenate(lines), np.concatenate(rows)


def _approximate(table: Floats, power: float) -> Floats:
    """Where the power is reached according to the normal approximation; infinite if never."""
    from scipy.special import ndtri

    b, size, rate, level = table.T
    theirs, z, y = b / size, -ndtri(level / 2), ndtri(power)
    low, high = np.zeros(len(table)), np.full(len(table), np.log(4 * _MOST))
    for _ in range(30):
        log_k = (low + high) / 2
        k = np.exp(log_k)
        pooled = (k * rate + b) / (k + size)
        own = np.sqrt(rate * (1 - rate) / k)
        enough = theirs - rate >= z * np.sqrt(pooled * (1 - pooled) * (1 / k + 1 / size)) + y * own
        low, high = np.where(enough, low, log_k), np.where(enough, log_k, high)
    return np.where(high < np.log(3.9 * _MOST), np.exp(high), np.inf)


def _smallest(table: Floats, start: Floats, power: float, mid_p: bool) -> Floats:
    """The smallest denominators for differences downwards; columns: the reference's count and size, rate, level."""
    b, size, rate, level = table.T
    # As the group grows without bound, the test becomes one of the reference's count against the group's rate.
    answers = np.full(len(table), np.nan)
    tail = binomial_sf(b, size, rate)
    if mid_p:
        tail = (tail + binomial_sf(b + 1, size, rate)) / 2
    rows = np.flatnonzero(2 * tail <= level)
    if not len(rows):
        return answers
    successes = b[rows] <= size[rows] / 2
    for kind, chosen in ((_Successes, rows[successes]), (_Failures, rows[~successes])):
        if len(chosen):
            answers[chosen] = kind(table[chosen], power, mid_p).run(np.clip(start[chosen], 1.0, _FAR))
    return answers


class _Search(ABC):
    """The search over counts of successes or failures, for many rows at once."""

    def __init__(self, table: Floats, power: float, mid_p: bool) -> None:
        from scipy.special import gammaln, ndtri

        self.b, self.size, self.rate, self.level = table.T
        self._power, self._aim, self.mid_p = power, float(ndtri(power)), mid_p
        self.share = self.b / self.size
        self._z = np.maximum(-ndtri(self.level / 2), 0.5)
        self._constant = gammaln(self.size + 1) - gammaln(self.b + 1) - gammaln(self.size - self.b + 1)

    @abstractmethod
    def start(self, k: Floats) -> Floats:
        """The count that belongs to a denominator, approximately."""

    @abstractmethod
    def place(self, rows: Rows, count: Floats, guess: Floats) -> tuple[Floats, Floats, Floats]:
        """The denominator of each count, and by how much the condition holds there, and without the rounding."""

    @abstractmethod
    def apart(self, k: Floats, rows: Rows) -> Floats:
        """About how far one more count is away."""

    def run(self, k: Floats) -> Floats:
        """The smallest denominators, starting from approximate ones."""
        rows = np.arange(len(k))
        count = np.maximum(np.round(self.start(k)), 0.0)
        # The first place shows how far the start was off; the second one is close.
        k, margin, _ = self.place(rows, count, k)
        k = np.clip(k, 1.0, _MOST)
        apart = self.apart(k, rows)
        variance = np.maximum(self.rate * (1 - self.rate), 1e-4)
        rise = np.maximum(self.share - self.rate, 1e-6) / np.sqrt(4 * k * variance) * apart
        jump = np.clip(np.round(-margin / rise), -np.maximum(count // 2, 1), np.maximum(count, 8))
        moved = np.maximum(count + jump, 0.0)
        k, count = np.maximum(k + (moved - count) * apart, 1.0), moved
        # Counts at which the condition fails and holds come closer, until one is next to the other; then the search
        # goes down from there, until the condition fails without the rounding too.
        low, high = np.full((2, len(k)), -1.0), np.full((2, len(k)), np.inf)
        best, step = np.full(len(k), np.nan), np.ones(len(k))
        surely, descends = np.zeros(len(k), dtype=bool), np.zeros(len(k), dtype=bool)
        while len(rows):
            k[rows], margin, unrounded = self.place(rows, count[rows], k[rows])
            k[rows] = np.minimum(k[rows], 4 * _MOST)
            good, fails = margin >= -1e-12, unrounded < -1e-12
            best[rows[good]] = np.fmin(best[rows[good]], k[rows[good]])
            near, far = rows[descends[rows]], rows[~descends[rows]]
            over = np.zeros(len(rows), dtype=bool)
            over[descends[rows]] = fails[descends[rows]]
            # Beyond the largest denominator of interest nothing has to hold.
            up = (good | (k[rows] > _MOST))[~descends[rows]]
            high[:, far[up]] = count[far[up]], k[far[up]]
            low[:, far[~up]] = count[far[~up]], k[far[~up]]
            surely[far[~up]] = fails[~descends[rows]][~up]
            met = far[high[0, far] - low[0, far] <= 1]
            descends[met] = True
            over[np.isin(rows, met)] |= surely[met]
            count[met] = low[0, met] - 1
            k[met] = np.maximum(low[1, met] - self.apart(np.maximum(low[1, met], 1.0), met), 1.0)
            count[near] -= 1
            k[near] = np.maximum(k[near] - self.apart(k[near], near), 1.0)
            self._closer(np.setdiff1d(far, met), count, k, low, high, step)
            rows = rows[~(over | (count[rows] < 0))]
        return np.where(best <= _MOST, best, np.nan)

    def enough(self, rows: Rows, k: Floats) -> NDArray[np.bool_]:
        """Whether denominators have the power: the count that is not exceeded with that probability is rejected."""
        rate = self.rate[rows]
        spread = np.sqrt(k * rate * (1 - rate))
        low, high = np.full(len(k), -1.0), k.copy()
        j, step = np.clip(np.round(k * rate + self._aim * spread), 0.0, k), np.ones(len(k))
        open_ = np.flatnonzero(high - low > 1)
        while len(open_):
            at = j[open_]
            yes = binomial_cdf(at, k[open_], rate[open_]) >= self._power - 1e-12
            low[open_], high[open_] = np.where(yes, low[open_], at), np.where(yes, at, high[open_])
            j[open_] = np.clip(at + np.where(yes, -step[open_], step[open_]), low[open_] + 1, high[open_] - 1)
            step[open_] *= 2
            open_ = open_[high[open_] - low[open_] > 1]
        return np.asarray(self._excess(rows, high, k) <= 0)

    def _closer(self, rows: Rows, count: Floats, k: Floats, low: Floats, high: Floats, step: Floats) -> None:
        """The next count: in the middle or, as long as one end is not known, twice as far as before."""
        middle = np.floor((low[0, rows] + high[0, rows]) / 2)
        down, up = np.maximum(high[0, rows] - step[rows], 0.0), low[0, rows] + step[rows]
        no_low, no_high = low[1, rows] < 0, np.isinf(high[0, rows])
        following = np.where(no_high, up, np.where(no_low & (down > 0), down, np.where(no_low, 0.0, middle)))
        k[rows] = np.clip(
            k[rows] + (following - count[rows]) * self.apart(np.maximum(k[rows], 1.0), rows), 1.0, 2 * _MOST
        )
        count[rows] = following
        step[rows] *= 2

    def _first(self, rows: Rows, j: Floats, guess: Floats) -> Floats:
        """The first denominator at which ``j`` is rejected; the tail falls as the denominator grows."""
        share = np.clip(self.share[rows], 1e-9, 1 - 1e-9)
        low, high = j - 1, np.full(len(rows), np.inf)
        k = np.maximum(np.round(guess), np.maximum(j, 1.0))
        open_ = np.arange(len(rows))
        slope = self._z[rows] * share / np.sqrt(np.maximum(k * share * (1 - share), 0.25))
        last_k, last_f = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        while len(open_):
            at = k[open_]
            f = self._excess(rows[open_], j[open_], at)
            low[open_] = np.where(f > 0, at, low[open_])
            high[open_] = np.where(f > 0, high[open_], at)
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = -(f - last_f[open_]) / (at - last_k[open_])
            slope[open_] = np.where(np.isfinite(seen) & (seen > 0), seen, slope[open_])
            last_k[open_], last_f[open_] = at, f
            # Never outside of what is known, and at most four times as far at once.
            move = np.clip(np.ceil(at + f / slope[open_]), low[open_] + 1, np.maximum(4 * at, 16.0))
            k[open_] = np.where(np.isfinite(high[open_]), np.minimum(move, high[open_] - 1), move)
            open_ = open_[(high[open_] - low[open_] > 1) & (low[open_] < _MOST)]
        return high

    def _excess(self, rows: Rows, j: Floats, k: Floats) -> Floats:
        """By how much the logarithm of twice the tail exceeds that of the level."""
        limit = np.log(self.level[rows] / 2 * (1 + 1e-9))
        tail, error = self._log_tail(rows, j, k)
        f = tail - limit
        # Where rounding could decide, the accurate tail does.
        close = np.flatnonzero(~(np.abs(f) > error))
        if len(close):
            tails = fisher(j[close], k[close], self.b[rows[close]], self.size[rows[close]])
            exact = tails.lower - (tails.at / 2 if self.mid_p else 0.0)
            f[close] = np.log(np.maximum(exact, 1e-300)) - limit[close]
        return np.asarray(f)

    def _log_tail(self, rows: Rows, j: Floats, k: Floats) -> tuple[Floats, Floats]:
        """log P(X <= j) given the pooled count, and a bound on its error; infinite if more terms are needed."""
        from scipy.special import gammaln

        b, rest = self.b[rows], self.size[rows] - self.b[rows]
        pooled = gammaln(k + self.size[rows] + 1)
        log = (
            gammaln(j + b + 1) - gammaln(j + 1) + gammaln(k - j + rest + 1) - gammaln(k - j + 1)
            - pooled + gammaln(k + 1) + self._constant[rows]
        )  # fmt: skip
        below = j[:, None] - np.arange(_TERMS)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = below * (rest - j)[:, None] + below * below
            steps /= ((j + b + 1)[:, None] - below) * ((k + 1)[:, None] - below)
        terms = np.cumprod(np.where((below > 0) & (steps > 0), steps, 0.0), axis=1)
        total = terms.sum(axis=1) + (0.5 if self.mid_p else 1.0)
        # Ratios of neighbours fall, so what is left out is less than a geometric series.
        last = np.clip(terms[:, -1] / np.maximum(terms[:, -2], 1e-300), 0.0, 1 - 1e-9)
        error = terms[:, -1] * last / (1 - last) / total + 1e-9 + 1e-14 * pooled
        return log + np.log(total), error


class _Successes(_Search):
    """The search over the largest rejected number of successes."""

    def start(self, k: Floats) -> Floats:
        """The number of successes that is not exceeded with the wanted probability."""
        return np.asarray(k * self.rate + self._aim * np.sqrt(k * self.rate * (1 - self.rate)))

    def place(self, rows: Rows, count: Floats, guess: Floats) -> tuple[Floats, Floats, Floats]:
        """The first denominator at which a count is rejected; the condition is on the power, as a normal score."""
        k = self._first(rows, count, guess)
        finite = np.where(np.isfinite(k), k, 4 * _MOST)
        at, before = (self._normal_score(binomial_cdf(count, size, self.rate[rows])) for size in (finite, finite - 1))
        return k, at, before

    def _normal_score(self, power: Floats) -> Floats:
        from scipy.special import ndtri

        return np.asarray(ndtri(np.clip(power, 1e-300, 1 - 1e-16)) - self._aim)

    def apart(self, k: Floats, rows: Rows) -> Floats:
        """The slope of the denominator in the largest rejected count."""
        share = self.share[rows]
        rise = share - self._z[rows] * np.sqrt(share * (1 - share) / np.maximum(4 * k, 1.0))
        return np.asarray(1 / np.maximum(rise, np.maximum(share / 4, 1e-6)))


class _Failures(_Search):
    """The search over the smallest rejected number of failures."""

    def start(self, k: Floats) -> Floats:
        """The number of failures that is reached with the wanted probability."""
        return np.asarray(k * (1 - self.rate) - self._aim * np.sqrt(k * self.rate * (1 - self.rate)))

    def place(self, rows: Rows, count: Floats, guess: Floats) -> tuple[Floats, Floats, Floats]:
        """The first denominator with enough failures; the condition is on the p-value, as a normal score."""
        k = self._enough(rows, count, guess)
        z = [self._normal_score(rows, size - count, size) for size in (k, np.maximum(k - 1, count))]
        return k, z[0], z[1]

    def _normal_score(self, rows: Rows, j: Floats, k: Floats) -> Floats:
        from scipy.special import ndtri_exp

        half = np.log(self.level[rows] / 2)
        tail = np.minimum(self._excess(rows, j, k) + half + np.log1p(1e-9), -1e-12)
        # A tail within rounding of the level counts as reaching it.
        return np.asarray(-ndtri_exp(tail) + ndtri_exp(np.minimum(half + np.log1p(1e-9), -1e-12)))

    def _enough(self, rows: Rows, count: Floats, guess: Floats) -> Floats:
        rate = 1 - self.rate[rows]
        low, high = count - 1, np.full(len(rows), np.inf)
        k = np.maximum(np.round(guess), np.maximum(count, 1.0))
        open_ = np.arange(len(rows))
        while len(open_):
            at = k[open_]
            p = binomial_sf(count[open_], at, rate[open_])
            yes = p >= self._power - 1e-12
            low[open_], high[open_] = np.where(yes, low[open_], at), np.where(yes, at, high[open_])
            off = self._off(count[open_], at, rate[open_])
            move = np.clip(np.ceil(at + off), low[open_] + 1, np.maximum(4 * at, 16.0))
            k[open_] = np.where(np.isfinite(high[open_]), np.minimum(move, high[open_] - 1), move)
            open_ = open_[(high[open_] - low[open_] > 1) & (low[open_] < _MOST)]
        return np.where(np.isfinite(high), high, 4 * _MOST)

    def _off(self, count: Floats, k: Floats, rate: Floats) -> Floats:
        """How many cases are missing, according to the normal approximation."""
        spread = np.sqrt(k * rate * (1 - rate))
        return np.asarray((count - 0.5 + self._aim * spread - k * rate) / np.maximum(rate, 1e-9))

    def apart(self, k: Floats, rows: Rows) -> Floats:
        """The slope of the denominator in the number of failures."""
        return np.asarray(1 / np.maximum(1 - self.rate[rows], 1e-6))
