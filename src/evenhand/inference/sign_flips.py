"""Changes of items that were answered several times, or graded: a sign-flip test and an interval.

The change of an item is the sum of its results with the new model, minus that with the old one. If
both models' runs are exchangeable within each item, every change is as likely with either sign. The
p-value is the probability that the sum of changes is as far from 0 as the observed one. With one run
of 0 or 1 per item this is McNemar's test.

The interval is that of a rate of clusters (see `cluster_bounds.py`), with x = (change + runs) / 2
successes among the runs of an item; the change is 2 rate - 1. It is about changes in other items like
these, assumes nothing of runs within an item, and need not agree with the test.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from ..arrays import Floats
from ..randomness import drawn_error, drawn_pvalue, reaches
from .cluster_bounds import FEWEST_CLUSTERS, bound_rates, count_alike

# Sums up to this are listed; sums of others are drawn, in batches of so many signs.
_MAX_SUM, _BATCH = 50_000, 2_000_000
# Changes are whole numbers of one of these units, or anything.
_UNITS = (1, 2, 3, 4, 5, 10, 100, 1000)
_DRAWS, _LEAST_DRAWN = 20_000, 10


def sign_flip_test(
    changes: Floats, draws: int, rng: np.random.Generator
) -> tuple[float, float, str]:
    """The p-value, its standard error (nan if it is exact), and the method.

    Of 8 ways to sign 2, 1 and 1, those with a sum of 4 or -4 are 2.

    >>> sign_flip_test(np.array([2.0, 1.0, 1.0]), 9, np.random.default_rng(0))
    (0.25, nan, 'sign flips')
    """
    sizes, observed = np.abs(changes[changes != 0]), abs(float(changes.sum()))
    for unit in _UNITS:
        whole = np.round(sizes * unit)
        is_whole = np.allclose(whole, sizes * unit, rtol=0, atol=1e-9)
        if is_whole and whole.sum() <= _MAX_SUM:
            return _sum_tails(whole, round(observed * unit)), np.nan, "sign flips"
    extreme, batch = 0, max(1, _BATCH // len(sizes))
    for size in np.diff(np.append(np.arange(0, draws, batch), draws)):
        signs = rng.integers(0, 2, (size, len(sizes)), dtype=np.int8) * 2.0 - 1
        extreme += int(reaches(np.abs(signs @ sizes), observed, sizes.sum()).sum())
    pvalue = drawn_pvalue(extreme, draws)
    return pvalue, drawn_error(pvalue, draws), "sign flips, drawn"


def _sum_tails(sizes: Floats, observed: int) -> float:
    """The probability that the sum of whole numbers with random signs is as far from 0."""
    from scipy.special import bdtr

    chances = np.ones(1)
    for size, count in zip(*np.unique(sizes.astype(int), return_counts=True), strict=True):
        # The sum of those with the sign +, in steps of the size.
        steps = np.zeros(size * count + 1)
        steps[::size] = np.diff(bdtr(np.arange(count + 1), count, 0.5), prepend=0.0)
        chances = np.convolve(chances, steps)
    # A sum of signs is s if those with + sum to (total + s) / 2.
    reached = (int(sizes.sum()) + observed + 1) // 2
    return float(min(1.0, 2 * chances[: len(chances) - reached].sum())) if observed else 1.0


def item_change_interval(
    changes: Floats, runs: Floats, confidence_level: float
) -> tuple[float, float]:
    """Gaffke's interval of the mean change per run of results of 0 and 1; nan with few items.

    >>> low, high = item_change_interval(np.ones(20), np.ones(20), 0.95)
    >>> round(low, 1), round(high, 1)
    (0.7, 1.0)
    """
    tail = (1 - confidence_level) / 2
    draws = max(_DRAWS, min(1_000_000, ceil(_LEAST_DRAWN / tail)))
    if len(changes) < FEWEST_CLUSTERS or draws * tail < _LEAST_DRAWN:
        return np.nan, np.nan
    rng = np.random.default_rng(0)
    sums = np.zeros((2, draws))
    for kind, times in zip(
        *count_alike(np.stack([runs + changes, runs - changes], axis=1) / 2), strict=True
    ):
        # One kind at a time, since there may be a million draws.
        sums += kind[:, None] * rng.standard_gamma(times, draws)
    rates = bound_rates(sums, rng.standard_exponential(draws) * runs.max())
    low, high = np.quantile(rates.low, tail), np.quantile(rates.high, 1 - tail)
    return float(2 * low - 1), float(2 * high - 1)
