"""Metrics of scores: the area under the ROC curve (AUC), the Brier score and the log loss.

The area is the share of pairs of a positive and a negative case in which the positive has the higher
score; ties count half. The two losses are means over cases. Areas have Newcombe's interval (2006,
method 5), mean losses a t interval of their logarithm, and gaps Newcombe's square-and-add of both.
All intervals are approximate.

Gaps are tested by permutation. For areas, group and others exchange positives with positives and
negatives with negatives, so that base rates do not matter; for losses, they exchange all cases. A gap
is divided by its standard error (DeLong's for areas, Welch's for losses), so that the test is exact,
but for simulation, if both come from one distribution, and close for large groups if only their true
scores are equal. Where the draws would take too long (`takes_too_long`), the p-value is approximate, and its
method says so: DeLong's or Welch's test. With few cases of a class DeLong's rejects far too often, so
that areas are then tested by fewer draws.

Both statistics are functions of an array with one group per row, the indices of its cases. What is
known of all cases, such as how many of the others a case beats, is computed once.
"""

from __future__ import annotations

from functools import partial
from math import exp, hypot, inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..arrays import Bools, Floats, Integers
from ..wording import several
from .permutation import MAX_VALUES, PValue, permutation_test, takes_too_long

#: Gaps of groups, their variances, and the degrees of freedom of these.
Moments = tuple[Floats, Floats, Floats]

# From this many cases of each class on, DeLong's approximation is close; otherwise at least so many
# draws are made.
_MANY, _FEWEST_DRAWS = 50, 199
# Losses that differ by less than this share of their mean differ by rounding.
_ROUNDING = 1e-12


class RankingScore(NamedTuple):
    """A score and its interval; nan where undefined, and the reason if the score is."""

    score: float
    low: float
    high: float
    reason: str | None


class RankingGap(NamedTuple):
    """A group compared with all other cases: scores, their gap with its interval, and the test.

    ``error`` is the standard error of a p-value from draws, otherwise None. If a score is undefined,
    so are gap and p-value, with the ``reason``.
    """

    group: RankingScore
    reference: RankingScore
    gap: float
    low: float
    high: float
    pvalue: float
    method: str
    error: float | None
    reason: str | None


def ranking_score(key: str, positive: Bools, scores: Floats, level: float) -> RankingScore:
    """The "auc", "brier" score or "log_loss" of some cases, and its confidence interval."""
    if key == "auc":
        classes = {"positives": positive, "negatives": ~positive}
        m, n = (int(cases.sum()) for cases in classes.values())
        if missing := [f"no actual {name}" for name in classes if not classes[name].any()]:
            return RankingScore(nan, nan, nan, " and ".join(missing))
        area = float(_count_wins(positive, scores)[positive].sum()) / (m * n)
        return RankingScore(area, *_area_interval(area, m, n, level), None)
    losses = _losses(key, positive, scores)
    if infinite := int(np.isinf(losses).sum()):
        outcome = "what it is" if infinite == 1 else "what they are"
        reason = f"infinite: {several(infinite, 'case')} had probability 0 of being {outcome}"
        return RankingScore(nan, nan, nan, reason)
    if not len(losses):
        return RankingScore(nan, nan, nan, "no cases")
    low, high = _loss_interval(losses, level)
    high = min(high, 1.0) if key == "brier" else high
    return RankingScore(float(losses.mean()), low, high, None)


def ranking_gap(
    key: str,
    member: Bools,
    positive: Bools,
    scores: Floats,
    *,
    confidence_level: float,
    draws: int,
    rng: Generator,
) -> RankingGap:
    """Compare the cases of a group with all other cases."""
    group, reference = (
        ranking_score(key, positive[side], scores[side], confidence_level)
        for side in (member, ~member)
    )
    if reason := group.reason or reference.reason:
        side = "group" if group.reason else "reference"
        verb = "'s log loss is" if reason.startswith("infinite") else " has"
        nothing = (nan, nan, nan, nan, "none", None)
        return RankingGap(group, reference, *nothing, f"the {side}{verb} {reason}")
    gap = group.score - reference.score
    low = gap - hypot(group.score - group.low, reference.high - reference.score)
    high = gap + hypot(group.high - group.score, reference.score - reference.low)
    test = _test_gap(key, member, positive, scores, draws, rng)
    return RankingGap(group, reference, gap, low, high, *test, None)


def _test_gap(
    key: str, member: Bools, positive: Bools, scores: Floats, draws: int, rng: Generator
) -> PValue:
    """Test that a group's score equals that of the others, by a gap over its standard error."""
    from scipy.special import stdtr

    # The test of the others is the same, and drawing the smaller side is faster.
    member = ~member if 2 * member.sum() > len(member) else member
    if key == "auc":
        order = np.argsort(scores, kind="stable")
        member, positive, scores = member[order], positive[order], scores[order]
        classes, fewest, method = [positive, ~positive], _MANY, "DeLong, approximate"
        compare = partial(_compare_areas, positive, scores, _count_wins(positive, scores))
    else:
        classes, fewest, method = [member | True], 1, "Welch, approximate"
        losses = _losses(key, positive, scores)
        # Centred, so that sums of squares lose no digits.
        centred = losses - losses.mean()
        centred *= np.ptp(losses) > _ROUNDING * losses.mean()
        compare = partial(_compare_losses, np.stack([centred, centred**2]))
    smallest = min(side[c].sum() for side in (member, ~member) for c in classes)

    def statistics(groups: Integers, others: Integers) -> Floats:
        gaps, variances, _ = compare(groups, others)
        # A single case has no variance.
        if smallest == 1:
            return gaps
        # Without spread on both sides, any gap is as extreme as gaps can be.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(gaps > 0, gaps / np.sqrt(variances), 0.0)

    if takes_too_long(member, draws):
        if smallest >= fewest:
            sides = np.flatnonzero(member)[None], np.flatnonzero(~member)[None]
            (statistic,), (freedom,) = statistics(*sides), compare(*sides)[2]
            return PValue(2 * float(stdtr(freedom, -statistic)), method, None)
        draws = min(draws, max(_FEWEST_DRAWS, MAX_VALUES // len(member)))
    return permutation_test(statistics, member, classes, draws, rng)


# Areas


def _count_wins(positive: Bools, scores: Floats) -> Floats:
    """How many pairs of each case with the other class are in the right order; ties count half."""
    wins = np.empty(len(scores))
    for cases in (positive, ~positive):
        others = np.sort(scores[~cases])
        below = others.searchsorted(scores[cases], "left")
        wins[cases] = (below + others.searchsorted(scores[cases], "right")) / 2
    wins[~positive] = positive.sum() - wins[~positive]
    return wins


def _area_interval(area: float, m: int, n: int, confidence_level: float) -> tuple[float, float]:
    """The true areas from which the observed one differs by z standard errors.

    The variance is that of Hanley and McNeil, with (m + n) / 2 cases in each class.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence_level) / 2))

    def lower_limit(observed: float) -> float:
        def excess(a: float) -> float:
            pairs = ((m + n) / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a))
            return observed - a - z * sqrt(a * (1 - a) / (m * n) * (1 + pairs))

        # The standard error is concave and 0 at 0, so that there is one solution.
        return float(brentq(excess, 0.0, float(np.nextafter(observed, 0.0)), xtol=1e-15))

    return lower_limit(area), 1 - lower_limit(1 - area)


def _compare_areas(
    positive: Bools, scores: Floats, wins: Floats, groups: Integers, others: Integers
) -> Moments:
    """Gaps of areas, their variances by DeLong, and the degrees of freedom of these.

    Each group has as many cases of a class. The pairs of the others are all pairs but those of the
    group's cases.
    """
    won, variances = _count_pairs(positive, scores, groups)
    others_won = wins[positive].sum() - wins[groups].sum(axis=1) + won
    m, n = np.bincount(~positive[groups[0]])
    other_pairs = (positive.sum() - m) * ((~positive).sum() - n)
    gaps = np.abs(won / (m * n) - others_won / other_pairs)
    variances = variances + _count_pairs(positive, scores, others)[1]
    return gaps, variances, np.full(1, inf)


def _count_pairs(positive: Bools, scores: Floats, groups: Integers) -> tuple[Floats, Floats]:
    """The pairs in the right order of each group, and the variance of its area by DeLong.

    Cases are in order of their scores, and each group has as many of a class. The variance has one
    more term, of the order of one pair, so that it is not 0 at 0 and 1.
    """
    rows, size = groups.shape
    is_positive, scores = positive[groups.ravel()], scores[groups.ravel()]
    is_last = np.append(scores[1:] != scores[:-1], True)
    is_last[size - 1 :: size] = True
    # By group and score: positives and negatives, and those up to the score.
    ends = np.flatnonzero(is_last)
    row, plus_upto = ends // size, np.cumsum(is_positive)[ends]
    minus_upto = ends + 1 - plus_upto
    plus, minus = np.diff([plus_upto, minus_upto], prepend=0)
    m, n = plus_upto[-1] // rows, minus_upto[-1] // rows
    # How many negatives are below a positive, and positives above a negative.
    below = minus_upto - minus / 2 - row * n
    above = (row + 1) * m - plus_upto + plus / 2
    pairs = np.bincount(row, plus * below).astype(np.float64)
    variances = np.full(rows, 1 / (4 * m * n))
    for counts, shares, k in ((plus, below / n, m), (minus, above / m, n)):
        deviations = shares - pairs[row] / (m * n)
        squares = np.bincount(row, counts * deviations**2)
        variances += squares / max(k - 1, 1) / k
    return pairs, variances


# Mean losses


def _losses(key: str, positive: Bools, scores: Floats) -> Floats:
    """The squared error of each case's probability, or minus its logarithm."""
    if key == "brier":
        return (scores - positive) ** 2
    with np.errstate(divide="ignore"):
        return np.where(positive, -np.log(scores), -np.log1p(-scores))


def _loss_interval(losses: Floats, confidence_level: float) -> tuple[float, float]:
    """The t interval of the logarithm of a mean, since losses are skewed; nan without spread."""
    from scipy.special import stdtrit

    mean, n = float(losses.mean()), len(losses)
    deviation = float(losses.std(ddof=1)) if n > 1 else 0.0
    if deviation <= _ROUNDING * mean:
        return nan, nan
    t = float(stdtrit(n - 1, (1 + confidence_level) / 2))
    factor = exp(min(t * deviation / sqrt(n) / mean, 700.0))
    return mean / factor, mean * factor


def _compare_losses(columns: Floats, groups: Integers, _: Integers) -> Moments:
    """Gaps of mean losses, their variances by Welch, and the degrees of freedom of these.

    The columns are losses and their squares.
    """
    n = groups.shape[1]
    sizes = np.array([[n], [columns.shape[1] - n]])
    sums = columns[:, groups].sum(axis=-1)
    rests = columns.sum(axis=1, keepdims=True) - sums
    totals, squares = np.stack([sums, rests], axis=1)
    least = np.maximum(sizes - 1, 1)
    variances = np.maximum(squares - totals**2 / sizes, 0) / least / sizes
    variance, squares = variances.sum(axis=0), (variances**2 / least).sum(axis=0)
    freedom = np.where(squares > 0, variance**2 / np.where(squares > 0, squares, 1), inf)
    variance[variance <= 1e-14 * columns[1].mean()] = 0.0
    return np.abs(np.subtract(*totals / sizes)), variance, freedom
