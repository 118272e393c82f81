"""The area under the ROC curve as a count of pairs, and its exact law when labels have nothing to do with scores.

A pair is a positive and a negative case. It counts 2 if the positive has the higher score, 1 if the scores are equal,
0 otherwise; the area is the total over twice the number of pairs. Totals are whole numbers, so ties are exact.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..laws import Binomial, Hypergeometric
from .permutation import PValue, drawn_test, exact_test

__all__ = ["Alternative", "Ties", "area", "area_interval", "chance_test", "ties_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Alternative = Literal["two-sided", "greater", "less"]

# How many additions the exact law may take, about a second, and how many numbers it may keep.
_MOST_WORK = 600_000_000
_MOST_KEPT = 20_000_000
# From this many cases in the smaller class on, a normal law is close where the exact one takes too long.
_MANY = 50
_DRAWS = 99_999


class Ties(NamedTuple):
    """How many positive and negative cases have each distinct score, in ascending order of scores."""

    positives: Ints
    negatives: Ints


def ties_of(positive: Bools, scores: Floats) -> Ties:
    """Count positive and negative cases per distinct score."""
    distinct, at = np.unique(scores, return_inverse=True)
    positives = np.bincount(at[positive], minlength=len(distinct))
    return Ties(positives, np.bincount(at, minlength=len(distinct)) - positives)


def _doubled(ties: Ties) -> int:
    """Twice the number of pairs in the right order, ties counted half."""
    below = np.cumsum(ties.negatives) - ties.negatives
    return int((ties.positives * (2 * below + ties.negatives)).sum())


def area(ties: Ties) -> float:
    """The area under the ROC curve; nan without cases of one class."""
    pairs = int(ties.positives.sum()) * int(ties.negatives.sum())
    return _doubled(ties) / (2 * pairs) if pairs else float("nan")


def area_interval(estimate: float, positives: int, negatives: int, level: float) -> tuple[float, float]:
    """Newcombe's score interval of an area (2006, method 5), which has a positive width at 0 and 1 too."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    return _lower(estimate, positives, negatives, z), 1 - _lower(1 - estimate, positives, negatives, z)


def _lower(estimate: float, positives: int, negatives: int, z: float) -> float:
    extra = (positives + negatives) / 2 - 1

    def variance(a: float) -> float:
        return a * (1 - a) / (positives * negatives) * (1 + extra * ((1 - a) / (2 - a) + a / (1 + a)))

    low, high = 0.0, estimate
    # The standard error is concave and 0 at 0, so there is one root; bisection finds it to the bit.
    for _ in range(100):
        middle = (low + high) / 2
        if estimate - middle > z * variance(middle) ** 0.5:
            low = middle
        else:
            high = middle
    return low


def chance_test(ties: Ties, alternative: Alternative, rng: np.random.Generator) -> PValue:
    """Test that labels have nothing to do with scores: the rank-sum test given the ties.

    Under the null, every choice of as many positives among the cases is equally likely. The number of choices by rank
    sum is counted score by score: of the t cases that share one, j can be positive in C(t, j) ways. One small class
    beside a very large one is drawn instead, and two large classes have a normal approximation.
    """
    m, n = int(ties.positives.sum()), int(ties.negatives.sum())
    observed = _doubled(ties)

    def statistic(totals: Ints | int) -> Any:
        if alternative == "two-sided":
            return np.abs(totals - m * n)
        return totals if alternative == "greater" else -totals

    def exact(totals: Ints, chances: Floats) -> PValue:
        # Totals are whole numbers.
        return exact_test(statistic(totals), chances, statistic(observed), scale=0.0, method="exact")

    if len(ties.positives) == 1:
        return PValue(1.0, "exact", None)
    if len(ties.positives) == 2:
        return exact(*_two_scores(ties, m))
    # The smaller class is counted; if that is the negative one, the total is read from the other end.
    flipped = n < m
    fewer = n if flipped else m
    sizes = ties.positives + ties.negatives
    # Twice the midrank of each score.
    ranks = 2 * np.cumsum(sizes) - sizes + 1
    # Every rank sum is a multiple of the step, which is 2 without ties.
    step = int(np.gcd.reduce(ranks))
    largest = (2 * m * n + fewer * (fewer + 1)) // step
    if _is_countable(sizes, ranks // step, fewer, largest):
        sums = step * np.arange(largest + 1) - fewer * (fewer + 1)
        return exact(2 * m * n - sums if flipped else sums, _rank_sums(sizes, ranks // step, fewer, largest))
    if fewer >= _MANY:
        return PValue(_normal(sizes, m, n, observed, alternative), "normal approximation", None)
    drawn = _drawn_sums(np.repeat(ranks, sizes), fewer, rng) - fewer * (fewer + 1)
    totals = 2 * m * n - drawn if flipped else drawn
    return drawn_test(statistic(totals), statistic(observed), scale=0.0, method=f"permutation, {_DRAWS:,} draws")


def _two_scores(ties: Ties, m: int) -> tuple[Ints, Floats]:
    """Doubled numbers of pairs in the right order and their probabilities, if there are two scores, as of decisions.

    How many positives have the higher one is hypergeometric.
    """
    low, high = (ties.positives + ties.negatives).tolist()
    above = np.arange(max(0, m - low), min(m, high) + 1)
    below = m - above
    totals = above * (2 * (low - below) + high - above) + below * (low - below)
    return totals, Hypergeometric(high, low).pmf(above, m)


def _is_countable(sizes: Ints, ranks: Ints, chosen: int, largest: int) -> bool:
    """Whether the law of rank sums can be counted in about a second."""
    if (chosen + 1) * (largest + 1) > _MOST_KEPT:
        return False
    work = 0
    for size, rank in zip(sizes.tolist(), ranks.tolist(), strict=True):
        taken = np.arange(min(size, chosen) + 1)
        work += int(((chosen + 1 - taken) * np.maximum(largest + 1 - taken * rank, 0)).sum())
        if work > _MOST_WORK:
            return False
    return True


def _rank_sums(sizes: Ints, ranks: Ints, chosen: int, largest: int) -> Floats:
    """The probability of each rank sum of so many cases, drawn at random.

    Choosing each case with the same probability, whatever it is, makes all choices of the same number equally likely;
    with the share of chosen cases, that number is among the likely ones and nothing under- or overflows.
    """
    share = chosen / int(sizes.sum())
    law = Binomial(share, 1 - share)
    # ways[a, s] is the probability of a chosen cases so far with sum s.
    ways = np.zeros((chosen + 1, largest + 1))
    ways[0, 0] = 1.0
    for size, rank in zip(sizes.tolist(), ranks.tolist(), strict=True):
        taken = np.arange(min(size, chosen, largest // rank) + 1)
        chances = law.pmf(taken, size) if size > 1 else np.array([1 - share, share])
        added = chances[0] * ways
        for j in taken[1:].tolist():
            added[j:, j * rank :] += chances[j] * ways[: chosen + 1 - j, : largest + 1 - j * rank]
        ways = added
    found: Floats = ways[chosen] / ways[chosen].sum()
    return found


def _normal(sizes: Ints, m: int, n: int, observed: int, alternative: Alternative) -> float:
    """The p-value of the normal law with the mean and the variance of the exact one, corrected for continuity."""
    from scipy.special import ndtr

    cases = m + n
    tied = float((sizes.astype(float) ** 3 - sizes).sum()) / (cases * (cases - 1))
    spread = (m * n / 3 * (cases + 1 - tied)) ** 0.5
    if spread == 0:
        return 1.0
    z = (observed - m * n) / spread
    step = 1 / spread
    if alternative == "two-sided":
        return min(1.0, 2 * float(ndtr(step - abs(z))))
    return float(ndtr(step - z if alternative == "greater" else step + z))


def _drawn_sums(ranks: Ints, chosen: int, rng: np.random.Generator) -> Ints:
    """Rank sums of random choices without replacement, by Floyd's method in all draws at once."""
    picked = np.empty((chosen, _DRAWS), dtype=np.int64)
    for i in range(chosen):
        last = len(ranks) - chosen + i
        drawn = rng.integers(last + 1, size=_DRAWS)
        picked[i] = np.where((picked[:i] == drawn).any(axis=0), last, drawn)
    sums: Ints = ranks[picked].sum(axis=0)
    return sums
