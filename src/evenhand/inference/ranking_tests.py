"""Permutation tests of two groups: areas under the ROC curve, and means of losses.

A statistic is divided by its standard error, so that the test is exact if both groups are drawn from the same law, and
close for large groups if only the two true scores are equal.
"""

from __future__ import annotations

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from .permutation import EFFORT, Effort, PValue, drawn_test, permuted

__all__ = ["area_test", "loss_test"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.int64]

# From this many cases of a class on both sides on, the normal law is close.
_MANY = 50


def area_test(
    member: Bools, positive: Bools, scores: Floats, draws: int, rng: np.random.Generator, effort: Effort = EFFORT
) -> PValue:
    """Test that a group's area under the ROC curve equals that of the others.

    Group and others exchange positives with positives, and negatives with negatives, so that base rates do not matter.
    If that would take too long, the p-value is approximate: by DeLong's normal approximation or, if a side has fewer
    than 50 cases of a class, by drawing those.
    """
    # The statistic is that of the others too, so the smaller side may be the group.
    member = member if 2 * np.count_nonzero(member) <= len(member) else ~member
    sizes = _class_sizes(member, positive) + _class_sizes(~member, positive)
    approximates = effort.approximates(member, draws)
    if approximates and min(sizes) < _MANY:
        return _area_of_few(member, positive, scores, draws, rng)
    if effort.draws_group(member, draws):
        return _area_beside_many(member, positive, scores, draws, rng, approximates)
    order = np.argsort(scores, kind="stable")
    member, positive, scores = member[order], positive[order], scores[order]
    starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
    # With a single case in a class there is no standard error.
    single = min(sizes) < 2

    def statistics(members: Bools) -> Floats:
        inside = _areas(members, positive, starts)
        outside = _areas(~members, positive, starts)
        gaps = np.abs(inside[0] - outside[0])
        studentised: Floats = gaps if single else gaps / np.sqrt(inside[1] + outside[1])
        return studentised

    if approximates:
        (inside, own), (outside, theirs) = (_areas(some[None], positive, starts) for some in (member, ~member))
        return _normal(abs(float(inside[0] - outside[0])), float(own[0] + theirs[0]), inf, "DeLong")
    observed = float(statistics(member[None])[0])
    drawn = [statistics(members) for members in permuted(member, [positive, ~positive], draws, rng)]
    return drawn_test(np.concatenate(drawn), observed)


def _class_sizes(member: Bools, positive: Bools) -> list[int]:
    return [int(np.count_nonzero(member & positive)), int(np.count_nonzero(member & ~positive))]


def _area_beside_many(
    member: Bools, positive: Bools, scores: Floats, draws: int, rng: np.random.Generator, approximates: bool
) -> PValue:
    """The test for a small group: its cases are drawn, and pairs of the others are all pairs less those with a member.

    The variance of the others is taken to be that of all cases.
    """
    _, ranks = np.unique(scores, return_inverse=True)
    plus, minus = np.sort(ranks[positive]), np.sort(ranks[~positive])
    m, n = _class_sizes(member, positive)
    # By case, the share of the other class on the right side of it.
    of_plus, of_minus = _placed(plus, minus), 1 - _placed(minus, plus)
    whole = float(of_plus.mean())
    steady = _variance(of_plus, of_minus)
    others = (len(plus) - m) * (len(minus) - n)
    single = min(m, n, len(plus) - m, len(minus) - n) < 2

    def statistic(first: Indices, second: Indices) -> float:
        a, b = plus[first], minus[second]
        inside, above = _placed(a, b), 1 - _placed(b, a)
        found = float(inside.mean())
        pairs = whole * len(plus) * len(minus) - of_plus[first].sum() * len(minus) - of_minus[second].sum() * len(plus)
        gap = abs(found - float(pairs + inside.sum() * n) / others)
        return gap if single else float(gap / (_variance(inside, above) + steady) ** 0.5)

    # Members in the order of ranks within each class.
    at = [
        np.flatnonzero(member[some][np.argsort(ranks[some], kind="stable")]).astype(np.int64)
        for some in (positive, ~positive)
    ]
    if approximates:
        from_group = _placed(plus[at[0]], minus[at[1]]), 1 - _placed(minus[at[1]], plus[at[0]])
        gap = statistic(*at) * (1.0 if single else (_variance(*from_group) + steady) ** 0.5)
        return _normal(gap, _variance(*from_group) + steady, inf, "DeLong")
    drawn = np.empty(draws)
    for i in range(draws):
        chosen = (
            np.sort(rng.choice(len(some), k, replace=False, shuffle=False)) for some, k in ((plus, m), (minus, n))
        )
        drawn[i] = statistic(*chosen)
    return drawn_test(drawn, statistic(*at))


def _area_of_few(member: Bools, positive: Bools, scores: Floats, draws: int, rng: np.random.Generator) -> PValue:
    """The test of large groups of which one has few cases of a class, which the normal law does not fit.

    The gap of areas is close to a sum of two: of positives' mean ranks among all negatives, and of negatives' among all
    positives. Where a side has few cases of a class, they are drawn; otherwise the gap of means is normal.
    """
    _, ranks = np.unique(scores, return_inverse=True)
    gaps, variances = np.zeros(draws), np.zeros(draws)
    gap = variance = 0.0
    single = False
    for some, sign in ((positive, 1.0), (~positive, -1.0)):
        inside = member[some]
        placed = sign * _placed(ranks[some], np.sort(ranks[~some]))
        k = int(np.count_nonzero(inside))
        single = single or min(k, len(inside) - k) < 2
        # Of the data, ranks among the other class of the same side.
        for side, way in ((member, 1.0), (~member, -1.0)):
            own = _placed(ranks[some & side], np.sort(ranks[~some & side]))
            gap += way * sign * float(own.mean()) / 2
            variance += _variance_of_mean(own)
        if min(k, len(inside) - k) < _MANY:
            drawn, spread = _drawn_gaps(placed, k, draws, rng)
        else:
            spread = np.full(draws, float(placed.var(ddof=1)) * (1 / k + 1 / (len(inside) - k)))
            drawn = rng.normal(0.0, spread**0.5)
        gaps, variances = gaps + drawn, variances + spread
    ends = [_class_sizes(side, positive) for side in (member, ~member)]
    least = sum(1 / (4 * m * n) for m, n in ends)
    found = np.abs(gaps) if single else np.abs(gaps) / np.sqrt(variances + least)
    observed = abs(gap) if single else abs(gap) / (variance + least) ** 0.5
    return drawn_test(found, observed, method="permutation of few cases, approximate")


def _drawn_gaps(values: Floats, k: int, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The mean of k values drawn at random less that of the others, and the variance of that gap."""
    sign, few = (1.0, k) if 2 * k <= len(values) else (-1.0, len(values) - k)
    many = len(values) - few
    centred = values - values.mean()
    squared = centred**2
    chosen = (rng.choice(len(values), few, replace=False, shuffle=False) for _ in range(draws))
    sums, squares = np.array([(centred[some].sum(), squared[some].sum()) for some in chosen]).T
    # Centred values add up to 0.
    within = np.maximum(squares - sums**2 / few, 0.0) / max(few - 1, 1) / few
    without = np.maximum(squared.sum() - squares - sums**2 / many, 0.0) / max(many - 1, 1) / many
    return sign * sums * (1 / few + 1 / many), within + without


def _variance_of_mean(values: Floats) -> float:
    return float(((values - values.mean()) ** 2).sum()) / max(len(values) - 1, 1) / len(values)


def _placed(of: Indices, among: Indices) -> Floats:
    """The share of sorted values that each value exceeds, ties counted half."""
    found: Floats = (among.searchsorted(of, "left") + among.searchsorted(of, "right")) / (2 * len(among))
    return found


def _variance(of_plus: Floats, of_minus: Floats) -> float:
    """DeLong's variance of an area, with one more term of the order of one pair, so that it is not 0 at 0 and 1."""
    m, n = len(of_plus), len(of_minus)
    return _variance_of_mean(of_plus) + _variance_of_mean(of_minus) + 1 / (4 * m * n)


def _areas(members: Bools, positive: Bools, starts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The area of each row of members, and its variance by DeLong; cases are sorted, distinct scores begin at starts.

    The variance has one more term, of the order of one pair, so that it is not 0 where the area is 0 or 1.
    """
    plus = np.add.reduceat(members & positive, starts, axis=1, dtype=np.float64)
    minus = np.add.reduceat(members & ~positive, starts, axis=1, dtype=np.float64)
    m, n = plus.sum(axis=1), minus.sum(axis=1)
    # For a positive of each score, the share of negatives below it; for a negative, the share of positives above it.
    below = (np.cumsum(minus, axis=1) - minus / 2) / n[:, None]
    above = 1 - (np.cumsum(plus, axis=1) - plus / 2) / m[:, None]
    found = (plus * below).sum(axis=1) / m
    centre = found[:, None]
    spread = (plus * (below - centre) ** 2).sum(axis=1) / np.maximum(m - 1, 1) / m
    spread += (minus * (above - centre) ** 2).sum(axis=1) / np.maximum(n - 1, 1) / n
    return found, spread + 1 / (4 * m * n)


def loss_test(member: Bools, losses: Floats, draws: int, rng: np.random.Generator, effort: Effort = EFFORT) -> PValue:
    """Test that a group's mean loss equals that of the others; by Welch's t test if draws would take too long."""
    member = member if 2 * np.count_nonzero(member) <= len(member) else ~member
    cases, inside = len(losses), int(np.count_nonzero(member))
    outside = cases - inside
    # Centred, so that sums of squares lose no digits.
    centred = losses - losses.mean()
    squared = centred**2
    total, total_squared = float(centred.sum()), float(squared.sum())

    def moments(sums: Floats, squares: Floats) -> tuple[Floats, Floats, Floats]:
        a, b = sums / inside, (total - sums) / outside
        within = np.maximum(squares - inside * a**2, 0) / max(inside - 1, 1)
        without = np.maximum(total_squared - squares - outside * b**2, 0) / max(outside - 1, 1)
        return np.abs(a - b), within / inside, without / outside

    def statistics(sums: Floats, squares: Floats) -> Floats:
        gaps, first, second = moments(sums, squares)
        if min(inside, outside) < 2:
            return gaps
        # Losses without any spread on both sides: a gap between them is as extreme as gaps can be.
        none = first + second <= 1e-14 * total_squared / cases
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(none, np.where(gaps > 0, np.inf, 0.0), gaps / np.sqrt(first + second))
        return np.asarray(found, dtype=np.float64)

    data = np.array([centred[member].sum()]), np.array([squared[member].sum()])
    if effort.approximates(member, draws):
        gap, first, second = (float(found[0]) for found in moments(*data))
        freedom = first**2 / (inside - 1) + second**2 / (outside - 1)
        freedom = (first + second) ** 2 / freedom if freedom > 0 else inf
        return _normal(gap, first + second, freedom, "Welch")
    if effort.draws_group(member, draws):
        chosen = (rng.choice(cases, inside, replace=False, shuffle=False) for _ in range(draws))
        sums = np.array([(centred[some].sum(), squared[some].sum()) for some in chosen]).T
        drawn = statistics(sums[0], sums[1])
    else:
        blocks = permuted(member, [np.ones(cases, dtype=bool)], draws, rng)
        drawn = np.concatenate([statistics(members @ centred, members @ squared) for members in blocks])
    return drawn_test(drawn, float(statistics(*data)[0]))


def _normal(gap: float, variance: float, freedom: float, who: str) -> PValue:
    """The two-sided p-value of a gap divided by its standard error, by the normal or by Student's law."""
    from scipy.special import ndtr, stdtr

    t = gap / variance**0.5 if variance > 0 else inf if gap else 0.0
    p = float(2 * (stdtr(freedom, -t) if isfinite(freedom) else ndtr(-t)))
    return PValue(min(1.0, p), f"{who}, approximate", None)
