"""Two models on the same cases: the change of a rate in a group, and of its gap to all others.

Cases for which the models agree say nothing about which is better. Among those for which they disagree, models that are
exchangeable for every case are right equally often: this is McNemar's exact test. The same law, for a group and for all
others, gives the exact law of the change of the gap between them. If one model is better by as much in all groups, this
law is wider than chance, so the test of the gap is conservative in large samples.

Pairs are counts of the cases of a rate: successes with both models, only the first, only the second, and neither.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..metrics import Metric
from .permutation import PValue, drawn_test, exact_test

__all__ = ["PairedChange", "PairedGap", "paired_change", "paired_gap", "pairs_of"]

Floats = NDArray[np.float64]

_MOST_PAIRS = 4_000_000


class PairedChange(NamedTuple):
    """The rates of both models, and the second minus the first with its interval and McNemar's exact p-value.

    All are nan if the rate has no cases.
    """

    first: float
    second: float
    change: float
    low: float
    high: float
    pvalue: float


class PairedGap(NamedTuple):
    """The gaps of both models, and how the gap changes: with its interval and the p-value that it does not.

    ``error`` is the standard error of a p-value from draws, None if it is exact. All are nan if either side has no
    cases.
    """

    first: float
    second: float
    change: float
    low: float
    high: float
    pvalue: float
    method: str
    error: float | None


def pairs_of(m: Metric, joint: Floats) -> Floats:
    """The pairs of a rate, from counts of cases of shape (..., 2, 2, 2) by label, first and second prediction."""
    quotient = None if m.comparisons or not m.base.is_rate else m.base.quotient
    if quotient is not None:
        # By label and prediction: whether a case is a success, and whether it counts.
        over, under = (
            np.array(cells[::-1], dtype=np.float64).reshape(2, 2) for cells in (quotient.over, quotient.under)
        )
        if (under[:, 0] == under[:, 1]).all() and (over[:, 0] != over[:, 1]).any():
            outcomes = np.stack([over, 1 - over])
            pairs = np.einsum("...lab,l,ula,vlb->...uv", joint, under[:, 0], outcomes, outcomes)
            return np.asarray(pairs.reshape(*pairs.shape[:-2], 4))
    raise InvalidInput(
        f"{m.key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )


def paired_change(pairs: Floats, *, level: float, draws: int, rng: np.random.Generator) -> PairedChange:
    """The change of a group's own rate, from its pairs."""
    from scipy.stats import binom

    if not pairs.sum():
        return PairedChange(nan, nan, nan, nan, nan, nan)
    first, second = _rates(pairs)
    drawn = _drawn_rates(pairs, draws, rng)
    low, high = _ends(drawn[1] - drawn[0], level, second - first)
    _, only_first, only_second, _ = pairs.tolist()
    # Twice the smaller tail of the number of disagreements that one model wins.
    tail = float(binom.cdf(min(only_first, only_second), only_first + only_second, 0.5))
    return PairedChange(first, second, second - first, low, high, min(1.0, 2 * tail))


def paired_gap(pairs: Floats, others: Floats, *, level: float, draws: int, rng: np.random.Generator) -> PairedGap:
    """The change of the gap between a group and all others, from their pairs."""
    if not pairs.sum() or not others.sum():
        return PairedGap(nan, nan, nan, nan, nan, nan, "none", None)
    first, second = (own - other for own, other in zip(_rates(pairs), _rates(others), strict=True))
    own, theirs = _drawn_rates(pairs, draws, rng), _drawn_rates(others, draws, rng)
    drawn = (own[1] - theirs[1]) - (own[0] - theirs[0])
    low, high = _ends(drawn, level, second - first)
    return PairedGap(first, second, second - first, low, high, *_exchanged(pairs, others, draws, rng))


def _exchanged(pairs: Floats, others: Floats, draws: int, rng: np.random.Generator) -> PValue:
    """The test of the change of the gap, if the two predictions of each case are exchanged at random.

    Models that disagree on d cases, of which the second wins x, change a rate of n cases by (2x - d) / n.
    """
    from scipy.stats import binom

    sides = [(int(side[1] + side[2]), float(side.sum())) for side in (pairs, others)]
    changes = [float(side[2] - side[1]) / float(side.sum()) for side in (pairs, others)]
    observed, scale = abs(changes[0] - changes[1]), max(map(abs, changes))
    if (sides[0][0] + 1) * (sides[1][0] + 1) <= _MOST_PAIRS:
        (mine, p), (theirs, q) = (((2 * x - d) / n, binom.pmf(x, d, 0.5)) for d, n in sides for x in [np.arange(d + 1)])
        gaps = np.abs(mine[:, None] - theirs)
        return exact_test(gaps, p[:, None] * q, observed, scale=scale, method="exact paired permutation")
    mine, theirs = ((2 * rng.binomial(d, 0.5, draws) - d) / n for d, n in sides)
    return drawn_test(np.abs(mine - theirs), observed, scale=scale, method="paired permutation")


def _rates(pairs: Floats) -> tuple[float, float]:
    both, only_first, only_second, _ = pairs.tolist()
    n = float(pairs.sum())
    return (both + only_first) / n, (both + only_second) / n


def _drawn_rates(pairs: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """True rates of both models, drawn from the posterior with a Dirichlet(1/2, 1/2, 1/2, 1/2) prior."""
    both, only_first, only_second, _ = rng.dirichlet(pairs + 0.5, size=draws).T
    return both + only_first, both + only_second


def _ends(drawn: Floats, level: float, estimate: float) -> tuple[float, float]:
    """The equal-tailed interval of draws, which contains the estimate."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return min(low, estimate), max(high, estimate)
