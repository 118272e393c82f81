"""Metrics of scores: the area under the ROC curve (AUC), the Brier score and the log loss.

The area is the share of pairs of a positive and a negative case in which the positive has the higher
score; ties count half. The two losses are means over cases. Areas have Newcombe's interval (2006,
method 5), mean losses a t interval of their logarithm, and gaps Newcombe's square-and-add of both.
All intervals are approximate.

Gaps are tested by permutation. For areas, group and others exchange positives with positives and
negatives with negatives, so that base rates do not matter; for losses, they exchange all cases. A gap
is divided by its standard error (DeLong's for areas, Welch's for losses), so that the test is exact,
but for simulation, if both come from one distribution, and close for large groups if only their true
scores are equal. Where the draws would take too long (`Effort`), the p-value is approximate, and its
method says so: DeLong's or Welch's test. With few cases of a class DeLong's rejects far too often, so
that areas are then tested by fewer draws.
"""

from __future__ import annotations

from math import exp, hypot, inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..arrays import Bools, Floats
from ..wording import several
from .permutation import EFFORT, Effort, PValue, drawn_test, permuted

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


def ranking_score(
    key: str, positive: Bools, scores: Floats, confidence_level: float
) -> RankingScore:
    """The "auc", "brier" score or "log_loss" of some cases, and its confidence interval."""
    m, n = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    if key == "auc":
        if not m or not n:
            sizes = {"positives": m, "negatives": n}
            reason = " and ".join(f"no actual {name}" for name, k in sizes.items() if not k)
            return RankingScore(nan, nan, nan, reason)
        area = float(_count_wins(positive, scores)[positive].sum()) / (m * n)
        return RankingScore(area, *_area_interval(area, m, n, confidence_level), None)
    if not m + n:
        return RankingScore(nan, nan, nan, "no cases")
    losses = _losses(key, positive, scores)
    if infinite := int(np.count_nonzero(np.isinf(losses))):
        what = "what it is" if infinite == 1 else "what they are"
        reason = f"infinite: {several(infinite, 'case')} had probability 0 of being {what}"
        return RankingScore(nan, nan, nan, reason)
    low, high = _loss_interval(losses, confidence_level)
    if key == "brier":
        high = min(high, 1.0)
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
    effort: Effort = EFFORT,
) -> RankingGap:
    """Compare the cases of a group with all other cases."""
    group, reference = (
        ranking_score(key, positive[side], scores[side], confidence_level)
        for side in (member, ~member)
    )
    for name, side in {"group": group, "reference": reference}.items():
        if side.reason:
            verb = "'s log loss is" if side.reason.startswith("infinite") else " has"
            reason = f"the {name}{verb} {side.reason}"
            return RankingGap(group, reference, nan, nan, nan, nan, "none", None, reason)
    gap = group.score - reference.score
    low = gap - hypot(group.score - group.low, reference.high - reference.score)
    high = gap + hypot(group.high - group.score, reference.score - reference.low)
    # The test of the others is the same, and drawing the smaller side is faster.
    if 2 * np.count_nonzero(member) > len(member):
        member = ~member
    if key == "auc":
        test = _area_test(member, positive, scores, draws, rng, effort)
    else:
        test = _loss_test(member, _losses(key, positive, scores), draws, rng, effort)
    return RankingGap(group, reference, gap, low, high, *test, None)


# Areas


def _count_wins(positive: Bools, scores: Floats) -> Floats:
    """How many pairs of each case with the other class are in the right order; ties count half."""
    wins = np.empty(len(scores))
    for cases in (positive, ~positive):
        others = np.sort(scores[~cases])
        below, upto = (
            others.searchsorted(scores[cases], side) for side in ("left", "right")
        )
        wins[cases] = (below + upto) / 2
    wins[~positive] = np.count_nonzero(positive) - wins[~positive]
    return wins


def _area_interval(
    area: float, m: int, n: int, confidence_level: float
) -> tuple[float, float]:
    """The true areas from which the observed one differs by z standard errors.

    The variance is that of Hanley and McNeil, with (m + n) / 2 cases in each class.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence_level) / 2))

    def lower_limit(observed: float) -> float:
        low, high = 0.0, observed
        # The standard error is concave and 0 at 0, so that there is one solution.
        for _ in range(100):
            a = (low + high) / 2
            extra = ((m + n) / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a))
            if observed - a > z * sqrt(a * (1 - a) / (m * n) * (1 + extra)):
                low = a
            else:
                high = a
        return low

    return lower_limit(area), 1 - lower_limit(1 - area)


def _area_test(
    member: Bools,
    positive: Bools,
    scores: Floats,
    draws: int,
    rng: Generator,
    effort: Effort,
) -> PValue:
    """Test that a group's area equals that of the others, by exchanges within classes."""
    from scipy.special import ndtr

    order = np.argsort(scores, kind="stable")
    member, positive, scores = member[order], positive[order], scores[order]
    classes = positive, ~positive
    smallest = min(np.count_nonzero(a & b) for a in (member, ~member) for b in classes)

    def statistics(members: Bools) -> Floats:
        areas, variances = _areas(members, positive, scores)
        other_areas, other_variances = _areas(~members, positive, scores)
        gaps = np.abs(areas - other_areas)
        # A single case has no variance.
        return gaps / np.sqrt(variances + other_variances) if smallest > 1 else gaps

    observed = float(statistics(member[None])[0])
    if effort.approximates(member, draws):
        if smallest >= _MANY:
            return PValue(2 * float(ndtr(-observed)), "DeLong, approximate", None)
        draws = min(draws, max(_FEWEST_DRAWS, effort.most // len(member)))
    if effort.draws_group(member, draws):
        gaps, variances = _draw_groups(member, positive, scores, draws, rng)
        observed, *drawn = gaps / np.sqrt(variances) if smallest > 1 else gaps
        return drawn_test(drawn, observed)
    blocks = permuted(member, list(classes), draws, rng)
    return drawn_test(np.concatenate([statistics(members) for members in blocks]), observed)


def _areas(members: Bools, positive: Bools, scores: Floats) -> tuple[Floats, Floats]:
    """The area of each row of members, and its variance by DeLong; scores are sorted.

    The variance has one more term, of the order of one pair, so that it is not 0 at 0 and 1.
    """
    starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
    plus = np.add.reduceat(members & positive, starts, axis=1, dtype=np.float64)
    minus = np.add.reduceat(members & ~positive, starts, axis=1, dtype=np.float64)
    m, n = plus.sum(axis=1), minus.sum(axis=1)
    # By score: the share of negatives below a positive, and of positives above a negative.
    below = (np.cumsum(minus, axis=1) - minus / 2) / n[:, None]
    above = 1 - (np.cumsum(plus, axis=1) - plus / 2) / m[:, None]
    areas = (plus * below).sum(axis=1) / m
    variances = 1 / (4 * m * n)
    for counts, shares, size in ((plus, below, m), (minus, above, n)):
        squares = (counts * (shares - areas[:, None]) ** 2).sum(axis=1)
        variances += squares / np.maximum(size - 1, 1) / size
    return areas, variances


def _draw_groups(
    member: Bools, positive: Bools, scores: Floats, draws: int, rng: Generator
) -> tuple[Floats, Floats]:
    """Gaps of the group and of random groups beside many others, and their variances.

    The pairs of the others are all pairs but those of the group's cases. The variance of their area
    is taken to be that of all cases.
    """
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    m, n = (np.count_nonzero(member[cases]) for cases in classes)
    other_pairs = (len(classes[0]) - m) * (len(classes[1]) - n)
    wins = _count_wins(positive, scores)
    all_cases = np.ones((1, len(member)), dtype=bool)
    variance = _areas(all_cases, positive, scores)[1][0]
    gaps, variances = np.empty((2, draws + 1))
    group = np.flatnonzero(member)
    for i in range(draws + 1):
        areas, group_variances = _areas(
            all_cases[:, : m + n], positive[group], scores[group]
        )
        pairs = wins[positive].sum() - wins[group].sum() + areas[0] * m * n
        gaps[i] = abs(areas[0] - pairs / other_pairs)
        variances[i] = group_variances[0] + variance
        chosen = [
            rng.choice(cases, k, replace=False, shuffle=False)
            for cases, k in zip(classes, (m, n), strict=True)
        ]
        group = np.sort(np.concatenate(chosen))
    return gaps, variances


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


def _loss_test(
    member: Bools, losses: Floats, draws: int, rng: Generator, effort: Effort
) -> PValue:
    """Test that a group's mean loss equals that of the others, by exchanges of all cases."""
    from scipy.special import stdtr

    # Centred, so that sums of squares lose no digits.
    centred = losses - losses.mean()
    if np.ptp(losses) <= _ROUNDING * losses.mean():
        centred[:] = 0.0
    columns = np.stack([centred, centred**2], axis=1)
    n, others = np.count_nonzero(member), np.count_nonzero(~member)

    def moments(sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Gaps and the variances of both means, from sums and sums of squares of groups."""
        sizes = np.array([n, others])[:, None]
        both = np.stack([sums, columns.sum(axis=0) - sums])
        means = both[..., 0] / sizes
        squares = np.maximum(both[..., 1] - both[..., 0] ** 2 / sizes, 0)
        within, without = squares / np.maximum(sizes - 1, 1) / sizes
        return np.abs(means[0] - means[1]), within, without

    def statistics(sums: Floats) -> Floats:
        gaps, within, without = moments(sums)
        if n < 2:
            return gaps
        # Without spread on both sides, any gap is as extreme as gaps can be.
        variances = within + without
        constant = variances <= 1e-14 * centred.var()
        ratios = gaps / np.sqrt(np.where(constant, 1, variances))
        return np.where(constant & (gaps > 0), inf, ratios)

    sums = columns[member].sum(axis=0)[None]
    observed = float(statistics(sums)[0])
    if effort.approximates(member, draws):
        _, (within,), (without,) = moments(sums)
        squares = within**2 / (n - 1) + without**2 / (others - 1)
        freedom = (within + without) ** 2 / squares if squares else inf
        return PValue(2 * float(stdtr(freedom, -observed)), "Welch, approximate", None)
    if effort.draws_group(member, draws):
        groups = (
            rng.choice(len(member), n, replace=False, shuffle=False) for _ in range(draws)
        )
        drawn = np.array([columns[group].sum(axis=0) for group in groups])
    else:
        blocks = permuted(member, [np.ones(len(member), dtype=bool)], draws, rng)
        drawn = np.concatenate([members @ columns for members in blocks])
    return drawn_test(statistics(drawn), observed)
