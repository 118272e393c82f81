"""Design effects: of clusters against pairs of cases, of weights against loops over cases."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given, strategies as st
from pytest import approx

from evenhand.arrays import Floats
from evenhand.confusion import CELLS
from evenhand.inference import clustering_effect, weighting_effects
from evenhand.inference.design_effect import score_slopes
from evenhand.metrics import metric

TPR, MCC = metric("tpr").base, metric("mcc").base
Clusters = list[tuple[int, int]]
some_clusters = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


def cells(clusters: Clusters) -> Floats:
    """Clusters with so many true positives and false negatives."""
    return np.array([(tp, fn, 0, 0) for tp, fn in clusters], dtype=np.float64)


def sample(n: int, correlation: float, rate: float = 2 / 3, size: int = 5) -> Clusters:
    rng, spread = np.random.default_rng(3), (1 - correlation) / correlation
    x = rng.binomial(size, rng.beta(rate * spread, (1 - rate) * spread, n))
    return [(int(successes), size - int(successes)) for successes in x]


def test_the_correlation_is_that_of_pairs_of_cases_of_a_cluster() -> None:
    """By a loop over all ordered pairs; one mean cluster is added for the rate that is estimated."""
    clusters = sample(30, correlation=0.25)
    cases = [[1.0] * tp + [0.0] * fn for tp, fn in clusters]
    every = np.concatenate(cases)
    p = every.mean()
    products = sum((a - p) * (b - p) for case in cases for a, b in permutations(case, 2))
    expected = (products + 4 * p * (1 - p)) / (30 * 20 * p * (1 - p))
    effect = clustering_effect(TPR, cells(clusters), cells(clusters))
    assert effect.correlation == approx(expected, abs=1e-3)
    assert effect.effect == approx(1 + 4 * expected, abs=5e-3)


@given(clusters=some_clusters, others=some_clusters)
def test_a_group_is_worth_between_its_clusters_and_its_cases(clusters: Clusters, others: Clusters) -> None:
    effect = clustering_effect(TPR, cells(clusters), cells(others))
    sizes = cells(clusters).sum(axis=1)
    assert 0 <= effect.correlation <= 1
    assert 1 <= effect.effect <= max(1.0, (sizes**2).sum() / max(sizes.sum(), 1)) + 1e-12


def test_clusters_of_one_case_or_of_equal_cases() -> None:
    """Single cases are worth themselves; of equal cases a cluster counts once."""
    single = np.eye(4)[np.arange(40) % 4]
    for m in (TPR, MCC):
        assert clustering_effect(m, single, single[:20]) == (1.0, 0.0, True)
        assert clustering_effect(m, 5 * single, 5 * single).effect == approx(5, rel=1e-9)
    assert clustering_effect(TPR, cells([(5, 0)] * 4), cells([(5, 0)] * 9)).correlation == 1.0
    # Negatives of a cluster do not count for a true positive rate.
    assert clustering_effect(TPR, single + np.array([0, 0, 3, 3]), single).independent


def test_slopes_are_the_derivatives_by_cell_centred_over_the_cases() -> None:
    """Marginal benefit is (FP - FN) / n, here of n cases plus half a case per cell."""
    counts, weights = np.array([8.0, 3.0, 5.0, 20.0]), np.array([0.0, -1.0, 1.0, 0.0])
    expected = (weights - weights @ counts / 36) / 38
    assert score_slopes(metric("mb").base, counts) == approx(expected, rel=1e-6)


# Weights

RATES = {"acc": ("tp tn", "tp fn fp tn"), "tpr": ("tp", "tp fn"), "ppv": ("tp", "tp fp"), "fpr": ("fp", "fp tn")}


def sums(cases: list[tuple[str, float]]) -> tuple[Floats, Floats]:
    """Sums of weights, and of squared weights, by cell."""
    first, second = (
        np.array([[sum(w**power for cell, w in cases if cell == name) for name in CELLS]]) for power in (1, 2)
    )
    return first, second


def test_the_effect_is_the_larger_of_kish_and_of_the_linearised_variance() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 30))
        cases = list(zip(rng.choice(CELLS, n), rng.uniform(0.1, 20, n), strict=True))
        for key, (successes, denominator) in RATES.items():
            counted = [(cell in successes.split(), w) for cell, w in cases if cell in denominator.split()]
            total = sum(w for _, w in counted)
            effect = weighting_effects(metric(key).base, *sums(cases))[0]
            if not counted:
                assert effect == 1
                continue
            rate = sum(w for success, w in counted if success) / total
            kish = sum(w * w for _, w in counted) / total
            variance = sum((w * (success - rate)) ** 2 for success, w in counted) / total**2
            expected = max(kish, variance / (rate * (1 - rate)) * total) if 0 < rate < 1 else kish
            assert effect == approx(expected, rel=1e-9)


def test_mcc_is_moved_by_heavy_errors_more_than_kish_says() -> None:
    counts, squares = np.array([[40.0, 20, 10, 100]]), np.array([[40.0, 400, 10, 100]])
    kish = squares.sum() / counts.sum()
    assert weighting_effects(metric("mcc").base, counts, squares)[0] > 1.5 * kish
