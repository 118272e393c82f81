"""Scores compared with a threshold: in floating point where that decides, else exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..metrics import OneGroupMetric

# Scores closer than this are compared exactly; those of a number that is not the score of a
# matrix are equal to it if they are closer than the second.
_CLOSE, _EQUAL = 1e-12, 1e-14


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score to compare with and, if it is that of a matrix, its rank.

    The ``rank`` is the exact fraction (numerator, denominator) that orders matrices as the score
    does. Without one, scores are compared with ``value`` within rounding.
    """

    value: float
    rank: tuple[int, int] | None = None


def observed_threshold(metric: OneGroupMetric, cells: Floats) -> Threshold:
    """The score of one matrix, exactly, to find which others score less, the same or more.

    It has no rank if the score is undefined.
    """
    merged = metric.tree.collapse(cells)
    value = float(metric.scores(merged))
    return Threshold(value, None if np.isnan(value) else metric.rank(*map(int, merged)))


def score_excess(
    metric: OneGroupMetric, columns: list[Any], threshold: Threshold
) -> Floats:
    """The scores minus a threshold, with exact signs; 0 means that they are equal.

    ``columns`` are the four cells, of matrices on which the score is defined, as arrays that
    broadcast. Only signs matter. Close scores are compared as exact fractions (`Metric.rank`), so
    that ties do not depend on rounding. It tells `tails` on which side of an observed score other
    matrices lie.
    """
    scale = max(1.0, abs(threshold.value)) if np.isfinite(threshold.value) else 0.0
    tolerance = scale * (_EQUAL if threshold.rank is None else _CLOSE)
    with np.errstate(all="ignore"):
        gap = np.asarray(metric.score(*columns) - threshold.value)
    # Infinity minus infinity is nan, and means that both are equal.
    is_close = ~(np.abs(gap) > tolerance)
    gap = np.where(is_close, 0.0, gap)
    close = np.nonzero(is_close)
    if threshold.rank is not None and len(close[0]):
        # The products of Python's integers do not overflow.
        whole = [np.broadcast_to(c, gap.shape)[close].astype(np.int64) for c in columns]
        numerator, denominator = metric.rank(*(c.astype(object) for c in whole))
        first, second = numerator * threshold.rank[1], denominator * threshold.rank[0]
        gap[close] = tolerance * np.sign(first - second)
    return gap


def equal_rates_count(n: float, margin: Floats, side: Floats) -> Floats:
    """The number of false positives at which FPR equals TPR, strictly between 0 and 1.

    It is for ``margin`` actual positives with ``side`` true positives. The prevalence threshold is
    undefined there, so that the probability of this count is taken off its tails. It is nan if
    there is no such whole number.
    """
    negatives = n - margin
    with np.errstate(all="ignore"):
        count = side * negatives / margin
        is_whole = (count == np.floor(count)) & (count * margin == side * negatives)
    return np.where(is_whole & (side > 0) & (side < margin), count, np.nan)
