"""The p-value of a score from the probability below, at and above it, or from random scores."""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..randomness import drawn_error, drawn_pvalue, reaches

__all__ = ["Alternative", "drawn_tail", "tail_pvalue"]

Alternative = Literal["two-sided", "less", "greater"]


def tail_pvalue(below: float, at: float, above: float, alternative: Alternative, mid_p: bool = False) -> float:
    """The probability of a score at least as extreme; two-sided, it is twice that of the smaller tail."""
    weight = 0.5 if mid_p else 1.0
    low, high = below + weight * at, above + weight * at
    return min(1.0, {"less": low, "greater": high, "two-sided": 2 * min(low, high)}[alternative])


def drawn_tail(
    scores: NDArray[np.float64], observed: float, alternative: Alternative, mid_p: bool = False
) -> tuple[float, float, float]:
    """The share of random scores up to the observed one, the p-value, never 0, and its standard error."""
    drawn, scale = len(scores), max(1.0, abs(observed))
    low = int(np.count_nonzero(reaches(-scores, -observed, scale)))
    high = int(np.count_nonzero(reaches(scores, observed, scale)))
    at = low + high - drawn
    two = alternative == "two-sided"
    extreme = min(low, high) if two else low if alternative == "less" else high
    tail = drawn_pvalue(extreme, drawn)
    variance = drawn_error(tail, drawn) ** 2
    if mid_p:
        # A group that counts half varies less than one that counts or does not.
        tail = (tail + drawn_pvalue(extreme - at, drawn)) / 2
        variance = max(drawn_error(tail, drawn) ** 2 - at / drawn**2 / 4, 0.0)
    factor = 2 if two else 1
    return low / drawn, min(1.0, factor * tail), factor * sqrt(variance)
