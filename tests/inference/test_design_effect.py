"""Design effects: of clusters against beta-binomial likelihoods of SciPy, of weights against loops over cases."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st
from pytest import approx
from scipy.optimize import minimize_scalar
from scipy.stats import betabinom, binom

from evenhand.arrays import Floats
from evenhand.confusion import CELLS
from evenhand.inference import design_effects, weighting_effects
from evenhand.inference.design_effect import _CORRELATIONS, _log_likelihoods, score_slopes
from evenhand.metrics import metric

TPR, MCC = metric("tpr").base, metric("mcc").base
Clusters = list[tuple[int, int]]
some_clusters = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


def cells(clusters: Clusters) -> Floats:
    """Clusters with so many true positives and false negatives."""
    return np.array([(tp, fn, 0, 0) for tp, fn in clusters], dtype=np.float64)


def log_likelihood(clusters: Clusters, p: float, correlation: float) -> float:
    """Of a beta-binomial law, by SciPy, without its binomial coefficients."""
    x, n = np.array(clusters).T[0], np.array(clusters).sum(axis=1)
    spread = (1 - correlation) / max(correlation, 1e-12)
    law = binom(n, p) if correlation == 0 else betabinom(n, p * spread, (1 - p) * spread)
    return float((law.logpmf(x) - binom.logpmf(x, n, 0.5) + n * np.log(0.5)).sum())


def profile(clusters: Clusters, correlation: float) -> float:
    """The log likelihood of a correlation at the most likely rate."""
    cost = lambda p: -log_likelihood(clusters, p, correlation)  # noqa: E731
    return -float(minimize_scalar(cost, bounds=(0.01, 0.99), method="bounded").fun)


def most_likely(clusters: Clusters) -> float:
    cost = lambda correlation: -profile(clusters, correlation)  # noqa: E731
    return float(minimize_scalar(cost, bounds=(0.001, 0.9), method="bounded").x)


def sample(n: int, correlation: float, rate: float = 2 / 3, size: int = 5) -> Clusters:
    rng, spread = np.random.default_rng(3), (1 - correlation) / correlation
    x = rng.binomial(size, rng.beta(rate * spread, (1 - rate) * spread, n))
    return [(int(successes), size - int(successes)) for successes in x]


@given(clusters=some_clusters, p=st.floats(0.05, 0.95))
def test_likelihoods_are_those_of_beta_binomial_laws(clusters: Clusters, p: float) -> None:
    x, failures = np.array(clusters, dtype=np.float64).T
    if (x + failures).any():
        computed = _log_likelihoods(x, x + failures, (p, p))[0]
        for i in (0, 10, 30, 50):
            assert computed[i] == approx(log_likelihood(clusters, p, _CORRELATIONS[i]), abs=1e-8)


def test_blocks_of_large_clusters_change_little() -> None:
    """Neighbouring j of large clusters share a logarithm."""
    large = sample(20, correlation=1 / 11, rate=0.8, size=2_000)
    x, failures = np.array(large, dtype=np.float64).T
    computed = _log_likelihoods(x, x + failures, (0.8, 0.8))[0]
    exact = [log_likelihood(large, 0.8, _CORRELATIONS[i]) for i in (12, 16)]
    assert computed[12] - computed[16] == approx(exact[0] - exact[1], abs=0.05)


def test_the_correlation_is_the_most_likely_one_of_a_common_rate() -> None:
    """Both sides are the same, so that neither different rates nor one side bounds it."""
    clusters = sample(30, correlation=0.25)
    effects = design_effects(TPR, cells(clusters), cells(clusters))
    assert effects.correlation == approx(most_likely(clusters), abs=0.02)


def test_a_gap_shown_by_many_clusters_is_not_mistaken_for_correlation() -> None:
    """It is at most the largest one within 1.92 of the best log likelihood of different rates."""
    high, low = sample(40, correlation=0.05, rate=0.9), sample(40, correlation=0.05, rate=0.3)
    curve = np.array([profile(high, r) + profile(low, r) for r in _CORRELATIONS[1:40]])
    limit = _CORRELATIONS[1:40][np.flatnonzero(curve >= curve.max() - 1.92)[-1]]
    assert most_likely(high + low) > limit + 0.1
    assert design_effects(TPR, cells(low), cells(high)).correlation == approx(limit, abs=0.02)


def test_a_side_whose_clusters_are_more_alike_has_its_own_correlation() -> None:
    alike, independent = sample(30, correlation=0.6), sample(40, correlation=0.01)
    own = design_effects(TPR, cells(alike), cells(independent)).correlation
    assert own == approx(most_likely(alike), abs=0.03)
    other = design_effects(TPR, cells(independent), cells(alike)).correlation
    assert most_likely(independent) + 0.1 < other < own - 0.1


@given(clusters=some_clusters, others=some_clusters)
def test_a_group_is_worth_between_its_clusters_and_its_cases(clusters: Clusters, others: Clusters) -> None:
    effects = design_effects(TPR, cells(clusters), cells(others))
    sizes = cells(clusters).sum(axis=1)
    assert 0 <= effects.correlation <= 1
    assert 1 <= effects.group <= max(1.0, (sizes**2).sum() / max(sizes.sum(), 1)) + 1e-12


def test_clusters_of_one_case_or_of_equal_cases() -> None:
    """Single cases are worth themselves; of equal cases a cluster counts once, as if unknown."""
    single = np.eye(4)[np.arange(40) % 4]
    for m in (TPR, MCC):
        effects = design_effects(m, single, single[:20])
        assert (effects.group, effects.reference, effects.independent) == (1.0, 1.0, True)
        assert design_effects(m, 5 * single, 5 * single).group == approx(5, rel=1e-9)
    pairs = cells([(2, 0)] * 10 + [(0, 2)] * 10)
    assert design_effects(TPR, pairs, cells(sample(40, 0.01))).group == approx(2, rel=1e-9)
    assert design_effects(TPR, cells([(5, 0)] * 4), cells([(5, 0)] * 9)).correlation == 1.0


def test_what_one_cluster_leaves_open_the_other_side_tells() -> None:
    many = cells(sample(200, correlation=0.01))
    assert design_effects(TPR, cells([(5, 0)]), many).correlation < 0.1


def test_slopes_are_the_derivatives_by_cell_centred_over_the_cases() -> None:
    """Marginal benefit is (FP - FN) / n, here of n cases plus half a case per cell."""
    counts, weights = np.array([8.0, 3.0, 5.0, 20.0]), np.array([0.0, -1.0, 1.0, 0.0])
    expected = (weights - weights @ counts / 36) / 38
    assert score_slopes(metric("mb").base, counts) == approx(expected, rel=1e-6)


def test_a_score_of_several_rates_has_at_least_the_correlation_of_each() -> None:
    clusters = np.array([(5, 0, 1, 4), (0, 5, 1, 4)] * 6, dtype=np.float64)
    by_rate = design_effects(TPR, clusters, clusters).correlation
    assert design_effects(MCC, clusters, clusters).correlation >= by_rate > 0.9


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
