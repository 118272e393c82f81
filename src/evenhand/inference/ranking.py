"""Scores that need every score of a group: the area under the ROC curve, the Brier score and the log loss.

Areas are compared by exchanging cases within classes, so that base rates do not matter. A mean loss depends on the base
rate, and its test exchanges all cases. Intervals are approximate.
"""

from __future__ import annotations

from math import isnan, nan
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..wording import several
from .permutation import EFFORT, Effort, PValue
from .ranking_tests import area_test, loss_test
from .ranks import area, area_interval, ties_of

__all__ = ["AREA_INTERVAL", "RANKING_KEYS", "RankingGap", "RankingKey", "RankingScore", "ranking_gap", "ranking_score"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
RankingKey = Literal["auc", "brier", "log_loss"]
RANKING_KEYS: tuple[RankingKey, ...] = get_args(RankingKey)
AREA_INTERVAL = "Newcombe's score interval, approximate"
_T_INTERVAL = "Student's t for the logarithm, approximate"


class RankingScore(NamedTuple):
    """A score, its interval and how that was found; nan where there is none, and then perhaps the ``reason``."""

    score: float
    low: float
    high: float
    method: str
    reason: str | None


class RankingGap(NamedTuple):
    """A group beside all other cases: both scores, their difference with its interval, and the test of equal scores.

    ``error`` is the standard error of a p-value from draws, else None. What is undefined is nan, with a ``reason``.
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


def ranking_score(key: RankingKey, positive: Bools, scores: Floats, level: float) -> RankingScore:
    """The score of some cases, from whether each is positive and its score."""
    if key == "auc":
        m = int(np.count_nonzero(positive))
        n = len(positive) - m
        if not m or not n:
            missing = " and ".join(f"no actual {name}" for name, k in (("positives", m), ("negatives", n)) if not k)
            return RankingScore(nan, nan, nan, AREA_INTERVAL, missing)
        found = area(ties_of(positive, scores))
        return RankingScore(found, *area_interval(found, m, n, level), AREA_INTERVAL, None)
    losses = _losses(key, positive, scores)
    if not len(losses):
        return RankingScore(nan, nan, nan, _T_INTERVAL, "no cases")
    if infinite := int(np.count_nonzero(~np.isfinite(losses))):
        they = "it is" if infinite == 1 else "they are"
        reason = f"infinite: {several(infinite, 'case')} had probability 0 of being what {they}"
        return RankingScore(nan, nan, nan, _T_INTERVAL, reason)
    mean = float(losses.mean())
    low, high = _mean_interval(losses, level)
    if isnan(low):
        return RankingScore(mean, nan, nan, "none: fewer than two cases, or losses without spread", None)
    return RankingScore(mean, low, min(high, 1.0) if key == "brier" else high, _T_INTERVAL, None)


def ranking_gap(
    key: RankingKey,
    member: Bools,
    positive: Bools,
    scores: Floats,
    *,
    level: float,
    draws: int,
    rng: np.random.Generator,
    effort: Effort = EFFORT,
) -> RankingGap:
    """Compare the cases of a group with all other cases that are given."""
    group, reference = (ranking_score(key, positive[some], scores[some], level) for some in (member, ~member))
    for who, found in (("group", group), ("reference", reference)):
        if found.reason:
            verb = "'s log loss is" if found.reason.startswith("infinite") else " has"
            reason = f"the {who}{verb} {found.reason}"
            return RankingGap(group, reference, nan, nan, nan, nan, "none", None, reason)
    gap = group.score - reference.score
    # Newcombe's square-and-add of the two intervals; nan if one of them is missing.
    low = gap - float(np.hypot(group.score - group.low, reference.high - reference.score))
    high = gap + float(np.hypot(group.high - group.score, reference.score - reference.low))
    tested: PValue
    if key == "auc":
        tested = area_test(member, positive, scores, draws, rng, effort)
    else:
        tested = loss_test(member, _losses(key, positive, scores), draws, rng, effort)
    return RankingGap(group, reference, gap, low, high, *tested, None)


def _losses(key: RankingKey, positive: Bools, scores: Floats) -> Floats:
    """The loss of each case: the squared distance of its probability to its label, or minus its logarithm."""
    if key == "brier":
        return (scores - positive) ** 2
    with np.errstate(divide="ignore"):
        return np.where(positive, -np.log(scores), -np.log1p(-scores))


def _mean_interval(losses: Floats, level: float) -> tuple[float, float]:
    """The t interval of the logarithm of a mean loss, since losses are skewed; nan without any spread."""
    from scipy.special import stdtrit

    mean, cases = float(losses.mean()), len(losses)
    spread = float(losses.std(ddof=1)) if cases > 1 else 0.0
    # Losses that are all equal say nothing about their own error.
    if spread <= 1e-12 * mean:
        return nan, nan
    factor = float(np.exp(min(stdtrit(cases - 1, (1 + level) / 2) * spread / cases**0.5 / mean, 700.0)))
    return mean / factor, mean * factor
