"""Design effects of weights: how many weighted cases are worth one independent case.

Weighted cases carry as much information about a score as W / d independent ones, where W is the sum
of their weights and d the larger of two design effects: Kish's, the sum of squared weights over W,
and that of the linearised variance, in which each case counts by how much it moves the score. Kish's
alone rejected up to 6.7% of true hypotheses at a level of 5%, the second alone up to 22%, and both
together 5.3%; up to 41% where rare cases weigh 50 times as much, so that results are approximate.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..confusion import CELLS
from ..metrics import OneGroupMetric


def weighting_effects(metric: OneGroupMetric, cells: Floats, squares: Floats) -> Floats:
    """The design effects of sums of weights and of squared weights, of shape (comparisons, 4).

    Two cases of weight 1 and one of weight 2, all of them successes, are worth 16 / 6 cases:

    >>> from evenhand.metrics import metric
    >>> weighting_effects(metric("acc"), np.array([[4.0, 0, 0, 0]]), np.array([[6.0, 0, 0, 0]]))
    array([1.5])
    """
    slopes = _slopes(metric, cells)
    counts = (
        np.array([cell in metric.tree.last_of for cell in CELLS])
        if metric.curve
        else np.ones(4)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        kish = (squares * counts).sum(axis=1) / (cells * counts).sum(axis=1)
        linearised = (squares * slopes**2).sum(axis=1) / (cells * slopes**2).sum(axis=1)
    effects = np.fmax(kish, linearised)
    return np.where(np.isfinite(effects), effects, 1.0)


def _slopes(metric: OneGroupMetric, cells: Floats) -> Floats:
    """How much a case in each cell moves the score, up to a factor."""
    if metric.curve is not None:
        is_success = np.array([cell in metric.tree.last for cell in CELLS])
        is_counted = np.array([cell in metric.tree.last_of for cell in CELLS])
        total = (cells * is_counted).sum(axis=1, keepdims=True)
        rate = (cells * is_success).sum(axis=1, keepdims=True) / np.where(
            total > 0, total, 1.0
        )
        return np.where(is_counted, is_success - rate, 0.0)
    at = cells + 0.5
    steps = np.eye(4) * (at * 1e-4)[:, None, :]
    forward, backward = (metric.scores(at[:, None, :] + sign * steps) for sign in (1, -1))
    slopes = (forward - backward) / (2e-4 * at)
    # Scores do not depend on the scale, so that the mean over all cases is nearly 0.
    total = np.maximum(cells.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(
        np.nan_to_num(slopes - (slopes * cells).sum(axis=1, keepdims=True) / total)
    )
