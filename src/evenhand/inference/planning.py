"""What a group would need before a difference could be told."""

from __future__ import annotations

from math import ceil

import numpy as np

from ..cells import ConfusionMatrix
from ..metrics import OneGroup

__all__ = ["cases_needed"]


def cases_needed(m: OneGroup, reference: ConfusionMatrix, difference: float, alpha: float = 0.05) -> int | None:
    """About how many cases a rate must rest on to tell a difference, by the normal approximation.

    Parameters
    ----------
    m : OneGroup
        The metric.
    reference : ConfusionMatrix
        Whom the group is compared with.
    difference : float
        The distance between the two rates.
    alpha : float
        The level of the test.

    Returns
    -------
    int or None
        The size at which the difference would be seen half of the time; None where the score is no rate, the
        reference has none, or no number would do because the reference itself is too small.
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
