"""The sample size needed to detect a difference."""

from __future__ import annotations

from math import ceil

import numpy as np

from ..cells import ConfusionMatrix
from ..metrics import OneGroup

__all__ = ["cases_needed"]


def cases_needed(m: OneGroup, reference: ConfusionMatrix, difference: float, alpha: float = 0.05) -> int | None:
    """The approximate number of cases in the denominator of a rate that is needed to detect a difference.

    It is based on the normal approximation, for a power of one half.

    Parameters
    ----------
    m : OneGroup
        The metric.
    reference : ConfusionMatrix
        The reference.
    difference : float
        The distance between the two rates.
    alpha : float
        The level of the test.

    Returns
    -------
    int or None
        The number of cases; None if the score is not a rate, is undefined for the reference, or if no number is
        enough because the reference is too small.

    Examples
    --------
    >>> from evenhand import metric
    >>> cases_needed(metric("tpr").base, ConfusionMatrix(300, 100, 120, 480), difference=0.2)
    19
    """
    from scipy.special import ndtri

    if not m.is_rate or m.quotient is None:
        return None
    numerator, denominator = (float(x) for x in m.quotient.counts(np.array(reference.cells)))
    if denominator == 0:
        return None
    rate = min(max(numerator / denominator, 0.5 / denominator), 1 - 0.5 / denominator)
    spread = rate * (1 - rate) * float(ndtri(1 - alpha / 2)) ** 2
    left = difference**2 / spread - 1 / denominator
    return ceil(1 / left) if left > 0 else None
