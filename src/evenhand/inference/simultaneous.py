"""Intervals of all groups at once, and what they say about the largest and the smallest score.

The scores of ``k`` groups are independent given the sizes of their denominators. If each has an interval that contains
its true score with probability ``level ** (1 / k)``, all of them do so together with probability ``level``. Whatever
follows from the intervals, such as how far apart the largest and the smallest true score can be, then holds with at
least that probability, and all such statements hold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..metrics import OneGroup
from .equality import counts_of
from .intervals import score_intervals

__all__ = ["Box", "Method", "box_of"]

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Method = Literal["between_groups", "to_overall"]


@dataclass(frozen=True, slots=True)
class Box:
    """Simultaneous intervals of the true scores of several groups.

    Attributes
    ----------
    low, high : array
        The ends, one per group.
    share : array
        The share of each group in the cases that the score divides by.
    """

    low: Floats
    high: Floats
    share: Floats

    @property
    def smallest(self) -> Ends:
        """The interval of the smallest true score."""
        return float(self.low.min()), float(self.high.min())

    @property
    def largest(self) -> Ends:
        """The interval of the largest true score."""
        return float(self.low.max()), float(self.high.max())

    def difference(self, method: Method) -> Ends:
        """The interval of the largest difference between two groups, or between a group and all cases."""
        if method == "to_overall":
            down, up = self._from_overall()
            return float(np.maximum(0.0, np.maximum(down, -up)).max()), float(np.maximum(up, -down).max())
        apart = self.high[:, None] - self.low
        np.fill_diagonal(apart, 0.0)
        return max(0.0, float(self.low.max() - self.high.min())), float(apart.max())

    def ratio(self, method: Method) -> Ends:
        """The interval of the smallest ratio of two groups, or of a group and all cases, the larger one below."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if method == "to_overall":
                others = (self.share * self.low).sum() - self.share * self.low
                others_high = (self.share * self.high).sum() - self.share * self.high
                down = np.nan_to_num(self.low / (self.share * self.low + others_high), nan=0.0)
                up = np.nan_to_num(self.high / (self.share * self.high + others), nan=np.inf)
                below = np.minimum(down, 1 / up)
                above = np.where((down <= 1) & (up >= 1), 1.0, np.minimum(up, 1 / down))
                return float(below.min()), float(above.min())
            pairs = self.low[:, None] / self.high
            np.fill_diagonal(pairs, 1.0)
            at_most = self.high.min() / self.low.max() if self.low.max() > 0 else 1.0
        return min(1.0, float(np.nan_to_num(pairs, nan=0.0).min())), min(1.0, float(at_most))

    def _from_overall(self) -> tuple[Floats, Floats]:
        """The ends of each group's score minus that of all cases, which is the mean of the scores by share."""
        lows, highs = (self.share * ends for ends in (self.low, self.high))
        return (
            (1 - self.share) * self.low - (highs.sum() - highs),
            (1 - self.share) * self.high - (lows.sum() - lows),
        )


def box_of(m: OneGroup, cells: Floats, level: float) -> Box:
    """Simultaneous intervals of groups for which the score is defined, from matrices of shape (groups, 4).

    Scores that depend on one rate have Clopper and Pearson's exact intervals, whose coverage is never below the level.
    Others have mid-p intervals, whose coverage is about the level.
    """
    each = level ** (1 / len(cells))
    part, whole = counts_of(m, cells)
    share = whole / whole.sum()
    if m.curve is None:
        return Box(*score_intervals(m, cells, each), share)
    low, high = clopper_pearson(part, whole, each)
    reached = m.curve.score(high)
    return Box(m.curve.score(low), np.where(high >= 1, m.high, reached), share)


def clopper_pearson(part: Floats, whole: Floats, level: float) -> tuple[Floats, Floats]:
    """The exact intervals of rates, which cover at least at the level."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = np.where(part > 0, betaincinv(np.maximum(part, 0.5), whole - part + 1, tail), 0.0)
    high = np.where(part < whole, betaincinv(part + 1, np.maximum(whole - part, 0.5), 1 - tail), 1.0)
    return np.asarray(low), np.asarray(high)
