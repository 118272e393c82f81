"""Rates of clustered cases: Gaffke's bound of a mean (2005), by random draws.

Cluster i has x[i] successes among n[i] cases. Clusters are independent, cases within them need not
be. With independent exponential weights w[0], w[1], ..., and the size m of the largest cluster of
this side, the rate has the confidence distributions

    low:   sum of w[i] x[i]          / (sum of w[i] n[i] + w[0] m),
    high: (sum of w[i] x[i] + w[0] m) / (sum of w[i] n[i] + w[0] m).

A pseudo-cluster of the largest size fails (succeeds) throughout, and stands for the clusters that
were not drawn. If all clusters have one case, low is Beta(x, n - x + 1) and high is
Beta(x + 1, n - x) with the total x and n: the limits are Clopper and Pearson's. Gaps meld both
sides as those of independent cases (see `gaps.py`), and are then Fisher's test and its interval.

That the bound is valid is a conjecture, and measured. It assumes that no cluster is larger than
those seen, or that rates do not depend on sizes. Probabilities are shares of draws.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from ..randomness import drawn_error

#: With fewer clusters on a side, bounds were not measured.
FEWEST_CLUSTERS = 5


class RateDraws(NamedTuple):
    """Draws of both confidence distributions of rates, along the last axis."""

    low: Floats
    high: Floats


def count_alike(clusters: Floats) -> tuple[Floats, Floats]:
    """The different clusters, as rows such as their cells, and how many are like each.

    >>> count_alike(np.array([[1.0, 0], [0, 2], [1, 0]]))
    (array([[0., 2.],
           [1., 0.]]), array([1., 2.]))
    """
    kinds, times = np.unique(clusters, axis=0, return_counts=True)
    return kinds, times.astype(np.float64)


def draw_weights(times: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The sums of the weights of clusters that are alike, of shape (kinds, draws).

    A sum of k exponential weights is a gamma variable of shape k.
    """
    is_single = times == 1
    weights = np.empty((len(times), draws))
    weights[is_single] = rng.standard_exponential((is_single.sum(), draws))
    several = times[~is_single, None]
    weights[~is_single] = rng.standard_gamma(several, (len(several), draws))
    return weights


def bound_rates(sums: Floats, pseudo: Floats) -> RateDraws:
    """Draws of rates from weighted successes and failures, and from weighted pseudo-clusters.

    >>> rng = np.random.default_rng(0)
    >>> sums = np.eye(2) @ draw_weights(np.array([4.0, 1]), rng, 20_000)
    >>> drawn = bound_rates(sums, rng.standard_exponential(20_000))
    >>> drawn.low.mean().round(2), drawn.high.mean().round(2)  # 4 / 6 and 5 / 6
    (np.float64(0.67), np.float64(0.83))
    """
    successes, failures = np.moveaxis(np.maximum(sums, 0.0), -2, 0)
    # Products, not subtractions: a rate of 1 stays exactly 1.
    with np.errstate(invalid="ignore"):
        low = successes / (successes + (failures + pseudo))
        high = (successes + pseudo) / ((successes + pseudo) + failures)
    return RateDraws(low, high)


def count_tail(tail: float, draws: int) -> int:
    """How many draws lie beyond an end, so that it excludes what the test rejects at twice the tail.

    >>> count_tail(0.025, 19_999), count_tail(0.001, 99)
    (500, 0)
    """
    return floor(tail * (draws + 1) * (1 + 1e-12))


def tail_pvalue(beyond: Floats, draws: int) -> tuple[Floats, Floats]:
    """Twice the probability of a tail with so many draws, never 0, and its standard error.

    >>> pvalue, error = tail_pvalue(np.array([0, 249]), draws=9_999)
    >>> pvalue, error.round(4)
    (array([0.0002, 0.05  ]), array([0.0002, 0.0031]))
    """
    tail = (1 + np.asarray(beyond)) / (1 + draws)
    tail = np.minimum(tail, 0.5)
    return 2 * tail, np.array([2 * drawn_error(float(one), draws) for one in tail])
