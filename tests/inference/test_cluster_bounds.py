"""Bounds of rates of clusters: against exact distributions, Fisher's test, and in simulations."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from pytest import approx
from scipy.stats import beta, fisher_exact

from evenhand.arrays import Floats
from evenhand.inference import bound_rates, count_alike, count_tail, draw_weights, tail_pvalue
from evenhand.inference.cluster_bounds import RateDraws

Law = Callable[[np.random.Generator, int], Floats]


def draw_rates(x: Floats, n: Floats, rng: np.random.Generator, draws: int = 10_000) -> RateDraws:
    """Draws of the rate of clusters with x of n successes."""
    kinds, times = count_alike(np.stack([x, n - x], axis=1).astype(float))
    sums = kinds.T @ draw_weights(times, rng, draws)
    return bound_rates(sums, rng.standard_exponential(draws) * n.max())


def single(successes: int, cases: int) -> tuple[Floats, Floats]:
    """Clusters of one case."""
    return np.where(np.arange(cases) < successes, 1.0, 0.0), np.full(cases, 1.0)


def pvalue(group: RateDraws, reference: RateDraws) -> tuple[float, float]:
    """The p-value of equal rates, and its error."""
    beyond = min((group.low <= reference.high).sum(), (group.high >= reference.low).sum())
    p, error = tail_pvalue(np.array([beyond]), len(group.low))
    return float(p[0]), float(error[0])


def exact_share_above(coefficients: list[float]) -> float:
    """P(sum of a w > 0) of exponential weights w and different coefficients a, by partial fractions."""
    a = [mpmath.mpf(one) for one in coefficients]
    return float(sum(one ** (len(a) - 1) / mpmath.fprod(one - b for b in a if b != one) for one in a if one > 0))


@pytest.mark.parametrize("rate", [0.2, 0.45, 0.7, 0.9])
def test_distributions_of_three_clusters_are_exact(rate: float) -> None:
    """Low is above a rate if the sum of w (x - rate n), less the failing pseudo-cluster, is above 0."""
    x, n = np.array([3.0, 1.0, 6.0]), np.array([4.0, 5.0, 7.0])
    drawn = draw_rates(x, n, np.random.default_rng(1), 200_000)
    own = (x - rate * n).tolist()
    assert (drawn.low > rate).mean() == approx(exact_share_above([*own, -rate * 7]), abs=0.005)
    assert (drawn.high > rate).mean() == approx(exact_share_above([*own, (1 - rate) * 7]), abs=0.005)


def test_clusters_of_one_case_have_clopper_and_pearsons_limits_and_fishers_test() -> None:
    rng = np.random.default_rng(2)
    for a, n1, b, n2 in ((3, 9, 30, 40), (0, 12, 9, 60), (20, 20, 50, 70), (5, 50, 40, 200)):
        group, reference = (draw_rates(*single(*one), rng, 100_000) for one in ((a, n1), (b, n2)))
        for tail in (0.025, 0.5, 0.975):
            if a:
                assert np.quantile(group.low, tail) == approx(beta(a, n1 - a + 1).ppf(tail), abs=0.005)
            if a < n1:
                assert np.quantile(group.high, tail) == approx(beta(a + 1, n1 - a).ppf(tail), abs=0.005)
        table = [[a, n1 - a], [b, n2 - b]]
        exact = 2 * min(fisher_exact(np.array(table), alternative=side).pvalue for side in ("less", "greater"))
        p, error = pvalue(group, reference)
        assert p == approx(min(1.0, exact), abs=5 * error)


def test_a_rate_of_no_or_all_successes_stays_there() -> None:
    rng, n = np.random.default_rng(3), np.array([3.0, 5, 2, 9, 1])
    none, every = draw_rates(0 * n, n, rng), draw_rates(n, n, rng)
    assert (none.low == 0).all() and (every.high == 1).all()
    assert (none.high > 0).all() and (every.low < 1).all()


def test_ends_exclude_what_tests_reject() -> None:
    """The end is so far out as the draws that a p-value of twice the tail allows."""
    for draws in (99, 999, 9_999, 20_000):
        for tail in (0.025, 0.001, 0.0004):
            beyond = count_tail(tail, draws)
            p, _ = tail_pvalue(np.array([beyond - 1, beyond]), draws)
            assert beyond == 0 or p[0] <= 2 * tail * (1 + 1e-9)
            assert p[1] > 2 * tail


def test_failures_that_were_not_drawn_are_allowed_for() -> None:
    """30 clusters of 20 cases, none of which fails, beside a rate of .937: one in 30 may always fail."""
    n = np.full(30, 20.0)
    group = draw_rates(n, n, np.random.default_rng(4))
    reference = draw_rates(*single(1874, 2000), np.random.default_rng(5))
    assert pvalue(group, reference)[0] > 0.2
    assert fisher_exact(np.array([[600, 0], [1874, 126]])).pvalue < 1e-12


def failing(one_in: int) -> tuple[Law, float]:
    """One in so many clusters always fails, and the others succeed at .97."""
    return lambda rng, k: np.where(rng.random(k) < 1 / one_in, 0.0, 0.97), 0.97 * (1 - 1 / one_in)


def beta_rates(a: float, b: float) -> tuple[Law, float]:
    return lambda rng, k: rng.beta(a, b, k), a / (a + b)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "size", "law", "single_cases"),
    [
        *((30, 20, failing(one_in), 2_000) for one_in in (6, 20, 30)),
        *((clusters, 20, failing(one_in), 2_000) for clusters, one_in in ((60, 40), (100, 60))),
        *((clusters, 20, beta_rates(0.9, 0.1), 500) for clusters in (5, 30)),
    ],
)
def test_equal_rates_of_clusters_are_rarely_found_to_differ(
    clusters: int, size: int, law: tuple[Law, float], single_cases: int
) -> None:
    """Reference clusters have one case each; today's design effects had 23 to 31% in some of these."""
    (rates, mean), rng = law, np.random.default_rng(21)
    runs, rejected = 400, 0
    for _ in range(runs):
        n = np.full(clusters, float(size))
        x = rng.binomial(size, rates(rng, clusters)).astype(float)
        group = draw_rates(x, n, rng, 2_000)
        reference = draw_rates(*single(int(rng.binomial(single_cases, mean)), single_cases), rng, 2_000)
        rejected += pvalue(group, reference)[0] <= 0.05
    assert rejected / runs <= 0.05
