"""Design effects: how many clustered or weighted cases are worth one independent case.

**Clusters**

Cases of a cluster, such as a patient's images, share an intra-class correlation ρ, so that counts
of clusters of m cases vary 1 + (m - 1)ρ times as much as independent ones. Counts divided by this
design effect, with m the mean size of the cluster of a case, carry as much information about a rate
as the dependent ones. Clusters are never split between a group and its reference.

The correlation of a rate is that of a beta-binomial law, by maximum likelihood under equal rates,
which is the hypothesis tested. Few clusters that all agree can come from equal rates and a high
correlation, or from different rates and a low one; assuming the latter rejected up to 12% of true
hypotheses. The correlation is at most what different rates leave plausible (the upper limit of a
one-sided 97.5% likelihood interval), so that a gap shown by many clusters is not mistaken for
correlation. If the data say nothing about it, each cluster counts as one case. A side whose own
clusters are more alike has its own correlation: otherwise 8 clusters with a correlation of .5 beside
200 with none were taken as independent.

Scores made of several rates have the largest of the correlations of their rates, and of their linear
approximation, from products of pairs of cases of a cluster, plus one standard error. The latter
alone rejected up to 14%.

**Weights**

Weighted cases carry as much information about a score as W / d independent ones, where W is the sum
of their weights and d the larger of two design effects: Kish's, the sum of squared weights over W,
and that of the linearised variance, in which each case counts by how much it moves the score. Kish's
alone rejected up to 6.7% of true hypotheses at a level of 5%, the second alone up to 22%, and both
together 5.3%; up to 41% where rare cases weigh 50 times as much, so that results are approximate.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..confusion import CELLS
from ..metrics import OneGroupMetric
from .score_tests import count_successes

# Successes and sizes of clusters.
Counts = tuple[Floats, Floats]

# Correlations that are tried, closer together near 0.
_CORRELATIONS: Floats = np.linspace(0, 1, 57) ** 2
# Half of the square of a normal score of 1.96.
_PLAUSIBLE = 1.92
_RATES, _TOLERANCE = 15, 1e-9
# Where blocks of j start: single ones at first, then as wide as a fiftieth of their place.
_STARTS = [0]
while _STARTS[-1] < 2**53:
    _STARTS.append(_STARTS[-1] + max(1, _STARTS[-1] // 50))


@dataclass(frozen=True, slots=True)
class DesignEffects:
    """The design effects of a group and of its reference, and the correlation in the group.

    ``independent`` says that no cluster has more than one case, so that the effects are exactly 1.
    """

    group: float
    reference: float
    correlation: float
    independent: bool


def design_effects(metric: OneGroupMetric, group: Floats, reference: Floats) -> DesignEffects:
    """The design effects of a group and its reference, from cells of shape (clusters, 4).

    >>> from evenhand.metrics import metric
    >>> images = np.array([[5, 0, 0, 0], [0, 5, 0, 0], [5, 0, 0, 0], [4, 1, 0, 0]])
    >>> effects = design_effects(metric("tpr").base, images, images)
    >>> round(effects.correlation, 2), round(effects.group, 2)
    (0.7, 3.82)
    """
    sides = [np.asarray(cells, dtype=np.float64) for cells in (group, reference)]
    rates = [_list_rates(metric, cells) for cells in sides]
    sizes = [n for (_, n), *_ in rates]
    shared = max(_rate_correlation(pair) for pair in zip(*rates, strict=True))
    if metric.curve is None:
        sizes = [cells.sum(axis=1) for cells in sides]
        shared = max(shared, _score_correlation(metric, sides))
    own = [max(shared, *(_side_correlation(*counts) for counts in side)) for side in rates]
    effect, other = map(_design_effect, sizes, own)
    is_independent = all((n <= 1).all() for n in sizes)
    return DesignEffects(effect, other, own[0], is_independent)


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


def _list_rates(metric: OneGroupMetric, cells: Floats) -> list[Counts]:
    """The counts of the rates that a score is made of: one, or two if the tree has a side."""
    margin, side, _ = map(np.asarray, metric.tree.counts(cells))
    rate = count_successes(metric, cells)
    return [rate, (side, margin)] if metric.tree.side else [rate]


def _design_effect(sizes: Floats, correlation: float) -> float:
    """The design effect of clusters of these sizes."""
    total = float(sizes.sum())
    return 1 + (float(sizes @ sizes) / total - 1) * correlation if total else 1.0


def _rate_correlation(sides: Sequence[Counts]) -> float:
    """The correlation of the rates of two sides."""
    filled = [(x[n > 0], n[n > 0]) for x, n in sides if (n > 0).any()]
    if not any((n > 1).any() for _, n in filled):
        return 0.0
    ends = [end for counts in filled for end in _rate_span(*counts)]
    span = min(ends), max(ends)
    equal = np.sum([_log_likelihoods(*counts, span) for counts in filled], axis=0).max(axis=0)
    different = np.sum([_profile(counts) for counts in filled], axis=0)
    # Of equally likely correlations the last, so that what is not known is taken to be high.
    likely = [_most_likely(each)[-1] for each in (equal, different)]
    plausible = _most_likely(different, _PLAUSIBLE)[-1]
    return float(_CORRELATIONS[max(likely[1], min(likely[0], plausible))])


def _side_correlation(x: Floats, n: Floats) -> float:
    """The most likely correlation of one side; of several, the lowest, as the other may tell."""
    profile = _profile((x[n > 0], n[n > 0])) if (n > 1).any() else np.zeros(1)
    return float(_CORRELATIONS[_most_likely(profile)[0]])


def _profile(counts: Counts) -> Floats:
    """The log likelihoods of correlations, each at its most likely rate."""
    return np.asarray(_log_likelihoods(*counts, _rate_span(*counts)).max(axis=0))


def _most_likely(log_likelihoods: Floats, within: float = _TOLERANCE) -> Integers:
    """The indices of log likelihoods that are close to the largest."""
    return np.flatnonzero(log_likelihoods >= log_likelihoods.max() - within)


def _rate_span(x: Floats, n: Floats) -> tuple[float, float]:
    """Rates between which the most likely one lies: that of cases, and the mean of clusters."""
    low, high = sorted([float(x.sum() / n.sum()), float((x / n).mean())])
    return low, high


def _log_likelihoods(x: Floats, n: Floats, span: tuple[float, float]) -> Floats:
    """The log likelihoods of rates within a span and of all correlations.

    The product of the beta-binomial probabilities of clusters with x of m successes is that of
    p(1 - ρ) + jρ over j < x, of q(1 - ρ) + jρ over j < m - x, divided by that of 1 - ρ + jρ over
    j < m. So it needs only the numbers of clusters with more than j of each.
    """
    from scipy.special import xlogy

    width = int(n.max()) + 1
    counts = [np.bincount(c.astype(np.int64), minlength=width) for c in (x, n - x, n)]
    # How many clusters have more than 0, 1, 2, … successes, failures and cases.
    successes, failures, cases = (c[:0:-1].cumsum()[::-1] for c in counts)
    p = np.linspace(*span, _RATES)[:, None]
    first = xlogy(successes[0], p) + xlogy(failures[0], 1 - p)
    total = first + xlogy(successes[0] + failures[0] - cases[0], 1 - _CORRELATIONS)
    # Large j with nearly the same logarithm are taken together.
    starts = np.array(_STARTS[: bisect_left(_STARTS, width - 2)], dtype=np.int64)
    middle = (starts + np.append(starts, width - 2)[1:] + 1) / 2
    rho = _CORRELATIONS[:, None]
    with np.errstate(divide="ignore"):
        for tail, rate in ((successes, p), (failures, 1 - p), (-cases, np.ones((1, 1)))):
            clusters = np.add.reduceat(tail[1:].astype(np.float64), starts)
            used = np.flatnonzero(clusters)
            factors = rate[..., None] * (1 - rho) + middle[used] * rho
            # With no correlation, a rate of 0 has a likelihood only if it has no successes.
            total = total + np.log(factors) @ clusters[used]
    return np.asarray(np.where(np.isnan(total), -np.inf, total))


def _score_correlation(metric: OneGroupMetric, sides: Sequence[Floats]) -> float:
    """The correlation of a score's linear approximation, from products of pairs of cases."""
    moments = np.zeros(4)
    for cells in sides:
        sizes, slopes = cells.sum(axis=1), score_slopes(metric, cells.sum(axis=0))
        n, pairs = sizes.sum(), (sizes * (sizes - 1)).sum()
        if pairs and np.isfinite(slopes).all() and slopes.any():
            squares = (cells * slopes**2).sum()
            # Slopes are 0 on average over the cases of a side, which removes one mean cluster.
            removed = squares / n * (sizes @ sizes / n - 1)
            products = ((cells @ slopes) ** 2).sum() - squares + removed
            weighted = (sizes**2 * (sizes - 1)).sum()
            moments += [products, squares / n * pairs, pairs, weighted]
    products, expected, pairs, weighted = moments.tolist()
    if not pairs:
        has_clusters = any((cells.sum(axis=1) > 1).any() for cells in sides)
        return 1.0 if has_clusters else 0.0
    correlation = min(max(products / expected, 0.0), 1.0) if expected > 0 else 1.0
    inflation = 1 + (weighted / pairs - 1) * correlation
    error = (1 - correlation) * inflation * np.sqrt(2 / pairs)
    return float(min(1.0, correlation + error))
