"""How many cases McNemar's test needs to find a change."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import inf

import numpy as np

from ..inference import ROUNDING

# Numbers of discordant cases further than so many standard deviations away are negligible.
_REACH = 8
_MAX_CASES = 10**7


@lru_cache(maxsize=10_000)
def pairs_needed(change: float, discordant_share: float, alpha: float, power: float = 0.8) -> float:
    """The number of cases with which McNemar's test finds a change; inf if it takes too many.

    With a share of 0.1 all discordant cases are wins. At least 6 are needed (2 / 2**6 <= 0.05), and
    78 cases have 6 or more discordant ones with a probability of 80%.

    >>> pairs_needed(change=0.1, discordant_share=0.1, alpha=0.05)
    78
    """
    if change > 1:
        return inf

    def suffices(n: int) -> bool:
        return _mcnemar_power(n, change, discordant_share, alpha) >= power

    many = 1
    while not suffices(many):
        many *= 2
        if many > _MAX_CASES:
            return inf
    return many // 2 + bisect_left(range(many // 2, many), True, key=suffices)


def _mcnemar_power(n: int, change: float, discordant_share: float, alpha: float) -> float:
    """The probability that McNemar's test of n cases rejects, in either direction."""
    from scipy.special import bdtr, bdtrik, gammaln, xlog1py, xlogy

    mean = n * discordant_share
    reach = _REACH * np.sqrt(mean * (1 - discordant_share)) + _REACH**2
    k = np.arange(max(0, int(mean - reach)), min(n, int(mean + reach)) + 1)
    log_ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_chance = xlogy(k, discordant_share) + xlog1py(n - k, -discordant_share)
    # The test rejects if the smaller count is at most this, or never if it is -1.
    limit = np.floor(bdtrik(alpha / 2, k, 0.5))
    limit -= bdtr(limit, k, 0.5) > alpha / 2 * ROUNDING
    win = (1 + change / discordant_share) / 2
    rejected = bdtr(limit, k, win) + bdtr(limit, k, 1 - win)
    return float(np.exp(log_ways + log_chance) @ np.where(limit >= 0, rejected, 0.0))
