"""Whether rates vary: exact p-values by listing all tables, and coverage of spreads."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from pytest import approx

from evenhand.inference import equal_rates_pvalue, spread_interval


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def statistic(x: tuple[int, ...], n: tuple[int, ...]) -> Fraction:
    """Pearson's chi-square of groups by outcome."""
    p = Fraction(sum(x), sum(n))
    return sum(((k - m * p) ** 2 / (m * p * (1 - p)) for k, m in zip(x, n, strict=True)), Fraction(0))


def exact_pvalue(x: tuple[int, ...], n: tuple[int, ...]) -> float:
    """P(Q >= q) given the pooled successes, by all tables."""
    tables = [t for t in product(*(range(m + 1) for m in n)) if sum(t) == sum(x)]
    extreme = [t for t in tables if statistic(t, n) >= statistic(x, n)]
    ways = sum(prod(comb(m, k) for m, k in zip(n, t, strict=True)) for t in extreme)
    return ways / comb(sum(n), sum(x))


def true_spread(rates: Any, n: Any) -> float:
    mean = np.average(rates, weights=n)
    return float(np.sqrt(np.average((rates - mean) ** 2, weights=n)))


@pytest.mark.parametrize(
    ("x", "n"),
    [((2, 0, 0), (2, 2, 2)), ((5, 1, 0, 3), (6, 7, 3, 9)), ((3, 3, 3), (9, 9, 9)), ((4, 9, 1), (5, 11, 20))],
)
def test_permutations_have_the_exact_p_value(x: tuple[int, ...], n: tuple[int, ...]) -> None:
    p = equal_rates_pvalue(np.array(x), np.array(n), rng())
    exact = exact_pvalue(x, n)
    assert p == approx(exact, abs=5 * (exact * (1 - exact) / 9_999) ** 0.5 + 1e-4)
    failures = np.subtract(n, x).astype(np.int64)
    assert equal_rates_pvalue(failures, np.array(n), rng()) == p, "failures have the same p-value"


def test_many_cases_have_the_p_value_of_chi_square() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    x, n = np.array([100, 130, 90]), np.array([300, 320, 310])
    expected = scipy_stats.chi2_contingency([x, n - x], correction=False).pvalue
    assert equal_rates_pvalue(x, n, rng()) == approx(expected, rel=1e-12)


def test_p_is_one_without_variation_and_never_zero() -> None:
    n = np.array([5, 5, 5])
    for x in ([0, 0, 0], [5, 5, 5], [2, 2, 2]):
        assert equal_rates_pvalue(np.array(x), n, rng()) == 1
    assert equal_rates_pvalue(np.array([20, 0, 0]), np.array([20, 20, 20]), rng(), draws=99) == 0.01
    assert 0 < equal_rates_pvalue(np.array([3, 0, 2 * 10**8]), np.array([3, 5, 2 * 10**9]), rng(), draws=99) < 1


def test_a_small_group_beside_a_large_one_is_not_left_to_chi_square() -> None:
    """3 of 3 successes at a rate of 1 in 1,000: chi-square says p = 0."""
    p = equal_rates_pvalue(np.array([1, 0, 100]), np.array([3, 3, 100_000]), rng())
    assert p == approx(1 - (1 - 0.00101) ** 6, abs=0.004)


def test_moments_of_the_squared_spread_are_exact() -> None:
    """The mean and the variance of S**2, by listing all counts with exact fractions."""
    from evenhand.inference.heterogeneity import _square_moments

    n, rates = (2, 3, 1), (Fraction(1, 5), Fraction(1, 2), Fraction(2, 3))
    mean = square = Fraction(0)
    for x in product(*(range(m + 1) for m in n)):
        weight = prod(
            (comb(m, k) * p**k * (1 - p) ** (m - k) for m, k, p in zip(n, x, rates, strict=True)), start=Fraction(1)
        )
        pooled = Fraction(sum(x), sum(n))
        value = sum((m * (Fraction(k, m) - pooled) ** 2 for k, m in zip(x, n, strict=True)), Fraction(0)) / sum(n)
        mean, square = mean + weight * value, square + weight * value**2
    found = _square_moments(np.array([rates], dtype=float), np.array(n))
    assert [float(one[0]) for one in found] == approx([float(mean), float(square - mean**2)], rel=1e-12)


def test_the_spread_has_edges() -> None:
    n = np.array([20, 20, 20])
    for x in ([0, 0, 0], [20, 20, 20]):
        assert np.isnan(spread_interval(np.array(x), n, 0.95)).all()
    low, high = spread_interval(np.array([6, 6, 6]), n, 0.95)
    assert low == 0 and 0.03 < high < 0.2, "equal rates could still differ"
    low, high = spread_interval(np.array([0, 20, 20]), n, 0.95)
    assert 0.3 < low < high <= 0.5
    wide = spread_interval(np.array([4, 9, 14]), n, 0.99)
    narrow = spread_interval(np.array([4, 9, 14]), n, 0.9)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert all(type(end) is float for end in (*wide, equal_rates_pvalue(np.array([1, 2, 3]), n, rng(), 9)))


@pytest.mark.parametrize(
    ("n", "rates"),
    [
        ([20, 20, 20], [0.1, 0.3, 0.5]),
        ([100, 100, 100], [0.01, 0.01, 0.1]),
        ([5] * 10 + [200] * 10, [0.1] * 10 + [0.5] * 10),
        ([20] * 60, [0.3] * 60),
        ([20] * 60, list(np.linspace(0.1, 0.5, 60))),
    ],
)
def test_intervals_cover_the_spread(n: list[int], rates: list[float]) -> None:
    """At least 91.5% of 600: four standard errors below 95%."""
    sizes, true = np.array(n), np.array(rates)
    ends = np.array([spread_interval(x, sizes, 0.95) for x in rng().binomial(sizes, true, (600, len(n)))])
    low, high = ends[~np.isnan(ends[:, 0])].T
    spread = true_spread(true, sizes)
    assert np.mean((low <= spread + 1e-12) & (spread <= high + 1e-9)) > 0.915
