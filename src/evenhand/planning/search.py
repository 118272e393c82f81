"""The search for the smallest size that reaches a goal, for many goals at once.

What is reached goes up and down as the size grows, so a size that reaches the goal says nothing about smaller ones. The
sizes are looked at one after the other from a place below which none can reach it: from 1 on, or from where `bracketed`
says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Look", "bracketed", "smallest"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Look = Callable[[Rows, Floats], NDArray[np.bool_]]
"""Says of sizes, one or several per goal, whether something holds for the goals with these numbers."""

# The place from which the sizes are looked at is at most so far below the first one that may reach the goal.
_CLOSE = 4


def smallest(reached: Look, start: Floats, most: float, width: int) -> Floats:
    """The smallest sizes from ``start`` on that reach their goals; infinite if none up to ``most`` does.

    The first ``width`` sizes are looked at together, then as many again, then twice as many, and so on.
    """
    answers, first, looked = np.full(len(start), np.inf), start.copy(), 0
    open_ = np.flatnonzero(first <= most)
    while len(open_):
        width = int(min(max(width, looked), most - first[open_].min() + 1))
        sizes = first[open_, None] + np.arange(width)
        good = reached(open_, sizes) & (sizes <= most)
        found = good.any(axis=1)
        answers[open_[found]] = sizes[found, np.argmax(good[found], axis=1)]
        first[open_] += width
        looked += width
        open_ = open_[~found & (first[open_] <= most)]
    return answers


def bracketed(hopeless: Look, start: Floats, step: Floats, most: float) -> Floats:
    """Sizes from which to look for the smallest ones, starting at approximate ones.

    ``hopeless`` says that neither a size nor any smaller one reaches the goal. The distance doubles until such a size
    and one that is not are found, and is then halved.
    """
    low, high = np.zeros(len(start)), np.full(len(start), np.inf)
    at, step, open_ = np.maximum(start, 1.0), step.copy(), np.arange(len(start))
    while len(open_):
        no = hopeless(open_, at[open_])
        low[open_[no]], high[open_[~no]] = at[open_[no]], at[open_[~no]]
        open_ = open_[(high[open_] - low[open_] > _CLOSE) & (low[open_] <= most)]
        lows, highs = low[open_], high[open_]
        below = np.where(lows > 0, np.floor((lows + highs) / 2), np.maximum(highs - step[open_], 1.0))
        at[open_] = np.where(np.isinf(highs), lows + step[open_], below)
        step[open_] *= 2
    return low + 1
