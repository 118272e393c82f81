"""Exact tests of equal rates: Fisher's, Boschloo's, and the tails that they can attain."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from pytest import approx
from scipy.stats import beta, binom, hypergeom

from evenhand import ConfusionMatrix, disparity
from evenhand.inference.rates import Attainable, boschloo, boschloo_rows, fisher


def tails_of(*counts: int) -> tuple[float, float, float]:
    """Fisher's tails of one comparison of a of A with b of B."""
    found = fisher(*(np.array([float(c)]) for c in counts))
    return float(found.lower[0]), float(found.at[0]), float(found.upper[0])


# Fisher's exact test


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (4, 6), (7, 3), (5, 12)])
def test_fishers_tails_are_those_of_fractions(n: int, m: int) -> None:
    """P(X <= a), P(X = a), P(X >= a) with X of A drawn from A + B cases of which a + b count."""
    for a, b in product(range(n + 1), range(m + 1)):
        ways = [comb(a + b, k) * comb(n + m - a - b, n - k) for k in range(n + 1)]
        total = comb(n + m, n)
        expected = [float(Fraction(sum(part), total)) for part in (ways[: a + 1], ways[a : a + 1], ways[a:])]
        assert tails_of(a, n, b, m) == approx(expected, rel=1e-12, abs=0)


@settings(max_examples=150)
@given(n=st.integers(1, 3000), m=st.integers(1, 3000), a=st.floats(0, 1), b=st.floats(0, 1))
@example(n=3000, m=3000, a=0.0, b=0.9)
def test_fishers_tails_are_scipys(n: int, m: int, a: float, b: float) -> None:
    k, j = round(a * n), round(b * m)
    law = hypergeom(n + m, k + j, n)
    expected = law.cdf(k), law.pmf(k), law.sf(k - 1)
    assert tails_of(k, n, j, m) == approx(expected, rel=1e-8, abs=1e-290)


@pytest.mark.parametrize(
    ("a", "n", "b", "m"),
    [
        (100, 10**9, 220, 10**9),
        (40, 10**9, 260, 10**9),
        (0, 10**9, 300, 2 * 10**9),
        (1_000, 10**6, 1_200_000, 10**9),
        (500_670_000, 10**9, 500_000_000, 10**9),
    ],
)
def test_fishers_tails_of_a_billion_cases_keep_their_digits(a: int, n: int, b: int, m: int) -> None:
    """The smaller tail, term by term in 60 digits, down to 1e-190."""
    pooled, rest = a + b, n + m - a - b

    def term(k: int) -> Any:
        return mpmath.exp(
            sum(
                mpmath.loggamma(x + 1) - mpmath.loggamma(y + 1) - mpmath.loggamma(x - y + 1)
                for x, y in ((pooled, k), (rest, n - k))
            )
            - mpmath.loggamma(n + m + 1)
            + mpmath.loggamma(n + 1)
            + mpmath.loggamma(m + 1)
        )

    mean = n * pooled / (n + m)
    step = -1 if a <= mean else 1
    p, total, k = term(a), mpmath.mpf(0), a
    while p > total * mpmath.mpf(10) ** -20 and 0 <= k <= min(n, pooled):
        total += p
        up = mpmath.mpf(pooled - k) * (n - k) / ((k + 1) * mpmath.mpf(rest - n + k + 1))
        down = mpmath.mpf(k) * (rest - n + k) / (mpmath.mpf(pooled - k + 1) * (n - k + 1))
        p, k = p * (up if step > 0 else down), k + step
    lower, _, upper = tails_of(a, n, b, m)
    # The saddle-point form of a binomial coefficient of 1e9 keeps about 8 digits.
    assert (upper if step > 0 else lower) == approx(float(total), rel=1e-6, abs=0)
    assert min(lower, upper) == (upper if step > 0 else lower)


def test_mid_p_counts_the_observed_outcome_half() -> None:
    """Against the definition: 2 (P(X < a) + P(X = a)/2)."""
    law = hypergeom(30, 11, 10)
    found = fisher(*(np.array([x]) for x in (1.0, 10.0, 10.0, 20.0)))
    assert found.pvalue(mid_p=True)[0] == approx(2 * (law.cdf(1) - law.pmf(1) / 2), rel=1e-12)
    d = disparity(ConfusionMatrix(1, 9, 0, 0), ConfusionMatrix(10, 10, 0, 0), "tpr", test="fisher", mid_p=True)
    assert d.pvalue == approx(2 * (law.cdf(1) - law.pmf(1) / 2), rel=1e-12)
    assert d.method == "fisher"


# Boschloo's test


@cache
def central(n: int, m: int) -> Any:
    """Fisher's central p-value of every outcome."""
    table = np.empty((n + 1, m + 1))
    for a, b in product(range(n + 1), range(m + 1)):
        law = hypergeom(n + m, a + b, n)
        table[a, b] = min(1.0, 2 * min(law.cdf(a), law.sf(a - 1)))
    return table


def rejection(chosen: Any, rates: Any) -> Any:
    """The probability of the chosen outcomes at each common rate."""
    n, m = chosen.shape[0] - 1, chosen.shape[1] - 1
    first, second = (binom.pmf(np.arange(k + 1)[:, None], k, rates) for k in (n, m))
    return np.einsum("ar,ab,br->r", first, chosen.astype(float), second)


FINE = np.sin(np.linspace(0, np.pi / 2, 2001)) ** 2


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(3, 4), (6, 20), (10, 30), (12, 12)])
def test_boschloo_is_the_largest_probability_of_as_small_a_p_value(n: int, m: int) -> None:
    """sup P(Fisher's p <= p observed) over common rates in a 1 - 1e-9 interval, and 1e-9; never above Fisher's."""
    table = central(n, m)
    for a, b in product(range(n + 1), range(0, m + 1, 4)):
        found, how = boschloo(a, n, b, m)
        assert how == "unconditional"
        low = beta.ppf(5e-10, a + b, n + m - a - b + 1) if a + b else 0.0
        high = beta.ppf(1 - 5e-10, a + b + 1, n + m - a - b) if a + b < n + m else 1.0
        inside = FINE[(low <= FINE) & (high >= FINE)]
        expected = min(1.0, float(rejection(table <= table[a, b] * (1 + 1e-7), inside).max()) + 1e-9)
        assert found == approx(expected, rel=1e-3)
        assert found <= table[a, b] * (1 + 1e-12) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(6, 20), (10, 30), (1, 50), (15, 15)])
@pytest.mark.parametrize("test", ["unconditional", "fisher"])
def test_tests_of_equal_rates_keep_their_level(n: int, m: int, test: Any) -> None:
    """P(p <= alpha) <= alpha at every common rate, by listing every outcome."""
    outcomes = list(product(range(n + 1), range(m + 1)))
    p = (
        np.array([boschloo(a, n, b, m)[0] for a, b in outcomes]).reshape(n + 1, m + 1)
        if test == "unconditional"
        else fisher(*(np.array(x, dtype=float) for x in zip(*[(a, n, b, m) for a, b in outcomes], strict=True)))
        .pvalue()
        .reshape(n + 1, m + 1)
    )
    for alpha in (0.01, 0.05, 0.1):
        assert rejection(p <= alpha, FINE[::4]).max() <= alpha * (1 + 1e-9)


@settings(max_examples=60)
@given(n=st.integers(1, 25), m=st.integers(1, 40), a=st.floats(0, 1), b=st.floats(0, 1))
def test_neither_group_is_the_first_and_neither_outcome_the_better(n: int, m: int, a: float, b: float) -> None:
    """p(a of A, b of B) = p(b of B, a of A) = p(A - a of A, B - b of B)."""
    k, j = round(a * n), round(b * m)
    p = boschloo(k, n, j, m)[0]
    assert boschloo(j, m, k, n)[0] == approx(p, rel=1e-3)
    assert boschloo(n - k, n, m - j, m)[0] == approx(p, rel=1e-3)


def test_large_samples_are_tested_by_fisher() -> None:
    """Up to 400 cases in the smaller sample the test is unconditional, and says so."""
    assert boschloo(150, 400, 480, 1000)[1] == "unconditional"
    p, how = boschloo(150, 401, 480, 1000)
    assert how == "fisher"
    law = hypergeom(1401, 630, 401)
    assert p == approx(2 * law.cdf(150), rel=1e-9)
    assert boschloo(150, 400, 480, 1000)[0] == approx(2 * hypergeom(1400, 630, 400).cdf(150), rel=0.2)


def test_attainable_tails_are_those_of_every_outcome() -> None:
    """The largest P(X <= k), and the largest P(X >= k), that is at most each limit."""
    rows = [(8, 12, 20), (3, 0, 9), (40, 70, 90), (1, 500, 1000)]
    lower, upper = Attainable(*np.array(rows, dtype=np.float64).T).steps()
    for limit in (1e-6, 0.001, 0.025, 0.3, 0.51):
        below, above = [], []
        for n, pooled, total in rows:
            law, k = hypergeom(total, pooled, n), np.arange(max(0, n + pooled - total), min(n, pooled) + 1)
            below.append(max((p for p in law.cdf(k) if p <= limit), default=0))
            above.append(max((p for p in law.sf(k - 1) if p <= limit), default=0))
        assert lower.walk(limit) == approx(np.array(below), rel=1e-9)
        assert upper.walk(limit) == approx(np.array(above), rel=1e-9)


def test_boschloos_test_of_many_comparisons_is_that_of_each() -> None:
    rng = np.random.default_rng(2)
    of_a, of_b = (rng.integers(1, top, 60).astype(np.float64) for top in (500, 900))
    a, b = (np.floor(of * rng.random(60)) for of in (of_a, of_b))
    pvalues, methods = boschloo_rows(a, of_a, b, of_b)
    assert set(methods) == {"unconditional", "fisher"}
    for i, (p, how) in enumerate(zip(pvalues, methods, strict=True)):
        assert (p, how) == boschloo(a[i], of_a[i], b[i], of_b[i])
