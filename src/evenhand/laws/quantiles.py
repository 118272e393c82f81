"""The search for quantiles of distributions with too many scores to list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import NamedTuple

import numpy as np

__all__ = ["Bracket", "brackets"]

# How close the score below a quantile is, relative to scores above 1.
_PRECISION = 1e-12
# Normal scores of probabilities of 0 and 1.
_FARTHEST = 38.0
# So many steps begin a search, and so far beyond the level does the second lead, in spreads.
_STEPS, _BEYOND = 3, 3e-4
# After so many steps by slope the bracket is halved once, and after so many in all it always is: a staircase has none.
_SLOPES_IN_A_ROW, _MOST_SLOPES = 3, 12


class Bracket(NamedTuple):
    """Two scores between which a quantile lies, and the probabilities up to them; nan where not yet known."""

    low: float
    high: float
    below: float = nan
    up_to: float = nan


def brackets(
    cdf: Callable[[float], float], level: float, start: Bracket, guess: float, spread: float
) -> Iterator[Bracket]:
    """Ever narrower brackets of the smallest score at which ``cdf`` reaches a level, down to 1e-12.

    Normal scores of the probabilities are nearly linear in the score. From a guess, a step by their slope leads close
    to the level, and the next a little beyond it, so that it lies between two close scores; if not, farther beyond.
    Then regula falsi (in the Illinois variant) takes over, at first with a bisection every fourth time and later with
    nothing else, for close up the distribution is a staircase. The slope is at first 1 over the ``spread``.
    """
    wanted, found = _normal(level), start
    # How far the normal scores at both ends are from the one that is wanted.
    under, over = _normal(start.below) - wanted, _normal(start.up_to) - wanted
    at, stayed, turn, slope, beyond = guess, 0, 0, 1 / spread, 0.0
    before: tuple[float, float] | None = None
    while found.high - found.low > _PRECISION * max(1.0, abs(found.high)):
        if not found.low < at < found.high:
            at = (found.low + found.high) / 2
        reached = cdf(at)
        excess = _normal(reached) - wanted
        if reached >= level:
            found = found._replace(high=at, up_to=reached)
            under, over, stayed = (under / 2 if stayed > 0 else under), excess, 1
        else:
            found = found._replace(low=at, below=reached)
            under, over, stayed = excess, (over / 2 if stayed < 0 else over), -1
        yield found
        turn += 1
        if isnan(under) or isnan(over) or turn < _STEPS:
            if before is not None and (excess - before[1]) * (at - before[0]) > 0:
                slope = (excess - before[1]) / (at - before[0])
            before = at, excess
            at -= excess / slope + stayed * beyond
            beyond = max(4 * beyond, _BEYOND * spread)
        elif turn > _MOST_SLOPES or turn % (_SLOPES_IN_A_ROW + 1) == 0 or over <= under:
            at = (found.low + found.high) / 2
        else:
            at = found.low - under * (found.high - found.low) / (over - under)


def _normal(probability: float) -> float:
    from scipy.special import ndtri

    return float(np.clip(ndtri(probability), -_FARTHEST, _FARTHEST))
