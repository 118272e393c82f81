"""Changes on the same cases: McNemar's exact test and its interval.

Of n cases, w are wins (wrong before, right now) and l are losses; d = w + l are discordant. If wins
and losses are equally likely, w is binomial given d with the rate 1/2, and McNemar's p-value is twice
the smaller tail.

The change (w - l) / n is the product of the discordant share T and of 2 W - 1, where W is the share
of wins among discordant cases. Fay and Lumbard (2021) meld the confidence distributions of both: the
lower limit q has P(T (2 W - 1) <= q) = tail for independent

    W ~ Beta(w, l + 1),   T ~ Beta(d, n - d + 1) where 2 W > 1, and Beta(d + 1, n - d) elsewhere.

At q = 0 this is P(W <= 1/2), McNemar's one-sided p-value, so that the interval and the test agree. The
limit is positive if that p-value is below the tail, and then only the first T counts; otherwise only
the second does, and -q is the limit of T (2 L - 1) for the share of losses L = 1 - W. The upper limit
is minus the lower one with wins and losses exchanged.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..arrays import Floats, Integers
from ..distributions import find_roots, normal_scores

# Nodes of the quadrature, and the probability that it neglects at either end.
_NODES, _NEGLIGIBLE = 64, 1e-15


def mcnemar_pvalues(wins: Floats, losses: Floats) -> Floats:
    """McNemar's exact two-sided p-values; 1 if no case is discordant.

    Of 4 discordant cases all are wins: 1 / 16, doubled.

    >>> mcnemar_pvalues(np.array([4.0]), np.array([0.0]))
    array([0.125])
    """
    from scipy.special import bdtr

    smaller, discordant = np.minimum(wins, losses), (wins + losses).astype(int)
    return np.minimum(1.0, 2 * bdtr(smaller, discordant, 0.5))


def change_intervals(
    wins: Floats, losses: Floats, n: Floats, confidence_level: float
) -> tuple[Floats, Floats]:
    """Fay and Lumbard's intervals of changes.

    Without discordant cases, T ~ Beta(1, n) limits the change to both sides: 1 - 0.025**(1 / 10).

    >>> low, high = change_intervals(*np.array([[0.0], [0.0], [10.0]]), 0.95)
    >>> low.round(4), high.round(4)
    (array([-0.3085]), array([0.3085]))
    """
    tail = (1 - confidence_level) / 2
    return _lower_limits(wins, losses, n, tail), -_lower_limits(losses, wins, n, tail)


def _lower_limits(wins: Floats, losses: Floats, n: Floats, tail: float) -> Floats:
    from scipy.special import betainc, betaincinv

    discordant = wins + losses
    is_gain = (wins > 0) & (betainc(np.maximum(wins, 1), losses + 1, 0.5) < tail)
    # The parameters of the share of wins (losses, if the limit is not positive), and of T.
    more, fewer = np.where(is_gain, wins, losses + 1), np.where(is_gain, losses + 1, wins)
    inside = discordant + ~is_gain
    outside = n - discordant + is_gain
    level = np.where(is_gain, 1 - tail, tail)
    # A parameter of 0 means that the share is 1.
    share, direction = (
        np.where(b > 0, 1 - betaincinv(np.maximum(b, 1), a, level), 1.0)
        for a, b in ((inside, outside), (more, fewer))
    )
    size = share * (2 * direction - 1)
    rows = np.flatnonzero((outside > 0) & (fewer > 0))
    size[rows] = _product_limits(more[rows], fewer[rows], inside[rows], outside[rows], level[rows])
    return np.asarray(np.where(is_gain, size, -size))


def _product_limits(
    more: Floats, fewer: Floats, inside: Floats, outside: Floats, level: Floats
) -> Floats:
    """The q > 0 with P(T (2 W - 1) >= q) = level, for W ~ Beta(more, fewer), T ~ Beta(inside, outside).

    The probability is a mean over T, at angles v with T = sin(v)**2, whose density is smooth.
    """
    from scipy.special import betainc, betaincc, betaincinv, ndtri

    least, most = np.array(
        [betaincinv(inside, outside, p) for p in (_NEGLIGIBLE, 1 - _NEGLIGIBLE)], dtype=np.float64
    )
    stop = np.arcsin(np.sqrt(most))
    nodes, weights = _nodes()

    def excess(q: Floats, rows: Integers) -> Floats:
        a, b, x, y = (values[rows, None] for values in (more, fewer, inside, outside))
        # The product cannot reach q with a smaller T.
        start = np.arcsin(np.sqrt(np.maximum(q, least[rows])))
        width = np.maximum(stop[rows] - start, 0.0)
        share = np.sin(start[:, None] + width[:, None] * nodes) ** 2
        share = np.clip(share, 1e-300, 1 - 1e-16)
        log_density = (x - 0.5) * np.log(share) + (y - 0.5) * np.log1p(-share)
        masses = weights * np.exp(log_density - log_density.max(axis=1, keepdims=True))
        reached = betaincc(a, b, np.minimum((1 + q[:, None] / share) / 2, 1.0))
        mean = (reached * masses).sum(axis=1) / masses.sum(axis=1)
        exceeded = (1 - betainc(inside[rows], outside[rows], q)) * mean
        return normal_scores(1 - exceeded) - ndtri(1 - level[rows])

    return find_roots(excess, np.zeros(len(level)), most)


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre quadrature from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights
