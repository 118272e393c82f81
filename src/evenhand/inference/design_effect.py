"""Design effects: how many clustered or weighted cases are worth one independent case.

**Clusters**

Cases of a cluster, such as a patient's images, share an intra-class correlation ρ, so that counts
of clusters of m cases vary 1 + (m - 1)ρ times as much as independent ones, with m the mean size of
the cluster of a case. The correlation is that of the products of pairs of cases of a cluster, each a
case's share in the score's linear approximation, pooled over the group and its reference. It
describes the data: tests and intervals of clusters do not use it (see `cluster_bounds.py`).

**Weights**

Weighted cases carry as much information about a score as W / d independent ones, where W is the sum
of their weights and d the larger of two design effects: Kish's, the sum of squared weights over W,
and that of the linearised variance, in which each case counts by how much it moves the score. Kish's
alone rejected up to 6.7% of true hypotheses at a level of 5%, the second alone up to 22%, and both
together 5.3%; up to 41% where rare cases weigh 50 times as much, so that results are approximate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..confusion import CELLS
from ..metrics import OneGroupMetric


class DesignEffect(NamedTuple):
    """The design effect of a group of clusters, and the correlation within clusters.

    ``independent`` says that no cluster has more than one case that counts.
    """

    effect: float
    correlation: float
    independent: bool


def clustering_effect(metric: OneGroupMetric, group: Floats, reference: Floats) -> DesignEffect:
    """The design effect of a group beside a reference, from cells of shape (clusters, 4).

    >>> from evenhand.metrics import metric
    >>> images = np.array([[5, 0, 0, 0], [0, 5, 0, 0], [5, 0, 0, 0], [4, 1, 0, 0]])
    >>> effect = clustering_effect(metric("tpr").base, images, images)
    >>> round(effect.correlation, 2), round(effect.effect, 2)
    (0.81, 4.25)
    """
    counted = np.isin(CELLS, metric.tree.last_of if metric.curve is not None else CELLS)
    sides = [np.asarray(cells, dtype=np.float64) * counted for cells in (group, reference)]
    sizes = [cells.sum(axis=1) for cells in sides]
    correlation, total = _pair_correlation(metric, sides), max(1.0, float(sizes[0].sum()))
    effect = 1 + max(0.0, float(sizes[0] @ sizes[0]) / total - 1) * correlation
    return DesignEffect(effect, correlation, all((n <= 1).all() for n in sizes))


def weighting_effects(metric: OneGroupMetric, cells: Floats, squares: Floats) -> Floats:
    """The design effects of sums of weights and of squared weights, of shape (comparisons, 4).

    Two cases of weight 1 and one of weight 2, all of them successes, are worth 16 / 6 cases:

    >>> from evenhand.metrics import metric
    >>> weighting_effects(metric("acc"), np.array([[4.0, 0, 0, 0]]), np.array([[6.0, 0, 0, 0]]))
    array([1.5])
    """
    counted: Any = np.ones(4)
    slopes: Any = np.nan_to_num(score_slopes(metric, cells))
    if metric.curve is not None:
        success = np.isin(CELLS, metric.tree.last) * 1.0
        counted = np.isin(CELLS, metric.tree.last_of) * 1.0
        total = np.maximum(cells @ counted, 1e-300)[:, None]
        # How a case moves a rate, up to a factor.
        slopes = counted * (success - (cells @ success)[:, None] / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        kish = squares @ counted / (cells @ counted)
        linearised = (squares * slopes**2).sum(axis=1) / (cells * slopes**2).sum(axis=1)
    effects = np.fmax(kish, linearised)
    return np.where(np.isfinite(effects), effects, 1.0)


def score_slopes(metric: OneGroupMetric, cells: Floats) -> Floats:
    """The derivatives of scores by cell, centred over the cases; nan where undefined.

    Half a case is added to each cell.
    """
    at = cells + 0.5
    steps = np.eye(4) * at[..., None] * 1e-4
    scores = [metric.scores(at[..., None, :] + sign * steps) for sign in (1, -1)]
    slopes = (scores[0] - scores[1]) / (2e-4 * at)
    # Scores do not depend on the scale, so that the mean over all cases is nearly 0.
    total = np.maximum(cells.sum(axis=-1, keepdims=True), 1e-300)
    slopes -= (slopes * cells).sum(axis=-1, keepdims=True) / total
    return np.where(np.isfinite(metric.scores(at))[..., None], slopes, np.nan)


def _pair_correlation(metric: OneGroupMetric, sides: Sequence[Floats]) -> float:
    """The correlation of a score's linear approximation, from products of pairs of cases.

    It is 0 without pairs, and 1 if nothing varies.
    """
    products = expected = 0.0
    for cells in sides:
        sizes, slopes = cells.sum(axis=1), score_slopes(metric, cells.sum(axis=0))
        n, pairs = sizes.sum(), (sizes * (sizes - 1)).sum()
        if pairs and np.isfinite(slopes).all():
            squares = (cells * slopes**2).sum()
            # Slopes are 0 on average over the cases of a side, which removes one mean cluster.
            removed = squares / n * (sizes @ sizes / n - 1)
            products += ((cells @ slopes) ** 2).sum() - squares + removed
            expected += squares / n * pairs
    if expected > 0:
        return float(np.clip(products / expected, 0.0, 1.0))
    return float(any((cells.sum(axis=1) > 1).any() for cells in sides))
