"""Fisher's exact test: its tails, the p-values it can attain, and its size over common rates."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import mpmath
import numpy as np
from pytest import approx
from scipy.stats import binom, fisher_exact, hypergeom

from evenhand.inference import TwoRates, attainable_tails, fisher_tails, select_small_samples, unconditional_sizes


def pairs_of(rows: Any) -> TwoRates:
    """Comparisons from rows of (x1, n1, x2, n2)."""
    return TwoRates(*np.array(rows, dtype=np.float64).T)


def exact_tails(x1: int, n1: int, x2: int, n2: int) -> tuple[Fraction, Fraction]:
    """P(X1 <= x1) and P(X1 >= x1), by counting."""
    ways = [comb(x1 + x2, k) * comb(n1 + n2 - x1 - x2, n1 - k) for k in range(n1 + 1)]
    total = comb(n1 + n2, n1)
    return Fraction(sum(ways[: x1 + 1]), total), Fraction(sum(ways[x1:]), total)


def test_tails_are_those_of_fractions() -> None:
    for n1, n2 in ((0, 3), (1, 1), (4, 6), (7, 3), (5, 12)):
        rows = [(x1, n1, x2, n2) for x1, x2 in product(range(n1 + 1), range(n2 + 1))]
        expected = np.array([[float(tail) for tail in exact_tails(*row)] for row in rows])
        assert np.column_stack(fisher_tails(pairs_of(rows))) == approx(expected, rel=1e-12, abs=0)
        failures = [(n1 - x1, n1, n2 - x2, n2) for x1, _, x2, _ in rows]
        assert np.column_stack(fisher_tails(pairs_of(failures))) == approx(expected[:, ::-1], rel=1e-12, abs=0)


def test_tails_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    n1, n2 = rng.integers(1, 3000, (2, 150))
    x1, x2 = rng.binomial(n1, rng.random(150)), rng.binomial(n2, rng.random(150))
    x1[:4], x2[:4] = (0, n1[1], 0, n1[3]), (0, n2[1], n2[2], 0)
    tails = fisher_tails(pairs_of(np.column_stack([x1, n1, x2, n2])))
    for i in range(150):
        table = np.array([[x1[i], n1[i] - x1[i]], [x2[i], n2[i] - x2[i]]])
        less, greater = (fisher_exact(table, alternative=side).pvalue for side in ("less", "greater"))
        assert (tails.lower[i], tails.upper[i]) == approx((less, greater), rel=1e-7, abs=1e-290)
        assert tails.pvalues[i] == approx(min(1, 2 * min(less, greater)), rel=1e-7, abs=1e-290)


def test_tails_of_a_billion_cases_keep_their_digits() -> None:
    """The smaller tail, term by term in 60 digits, down to 1e-190."""
    rows = [
        (100, 10**9, 220, 10**9),
        (40, 10**9, 260, 10**9),
        (0, 10**9, 300, 2 * 10**9),
        (1_000, 10**6, 1_200_000, 10**9),
        (500_670_000, 10**9, 500_000_000, 10**9),
    ]
    tails = fisher_tails(pairs_of(rows))
    for i, (x1, n1, x2, n2) in enumerate(rows):
        s, f = x1 + x2, n1 + n2 - x1 - x2
        is_low = x1 * (n1 + n2) <= n1 * s
        # Count failures instead of successes for an upper tail.
        k, s, f = (x1, s, f) if is_low else (n1 - x1, f, s)
        term = mpmath.binomial(s, k) * mpmath.binomial(f, n1 - k) / mpmath.binomial(s + f, n1)
        total = mpmath.mpf(0)
        while term > total * mpmath.mpf(10) ** -20:
            total += term
            term *= mpmath.mpf(k * (f - n1 + k)) / ((s - k + 1) * (n1 - k + 1))
            k -= 1
        # The saddle-point form of a binomial coefficient of 1e9 keeps about 8 digits.
        assert (tails.lower if is_low else tails.upper)[i] == approx(float(total), rel=1e-6, abs=0)


def test_attainable_tails_are_those_of_all_outcomes() -> None:
    rows = [(8, 12, 12, 20), (0, 3, 5, 9), (40, 70, 30, 90), (1, 1, 499, 999), (2, 2, 3, 3), (5, 9000, 4000, 9000)]
    largest = np.array([0.3, 0.05, 0.001, 1.0, 1.0, 1.0])
    listed = attainable_tails(pairs_of(rows), largest)
    assert listed.is_listed.tolist() == [True] * 5 + [False]
    for i, (x1, n1, x2, n2) in enumerate(rows[:5]):
        law = hypergeom(n1 + n2, x1 + x2, n1)
        k = np.arange(max(0, x1 + x2 - n2), min(n1, x1 + x2) + 1)
        expected = [*zip(law.cdf(k), law.pmf(k), strict=True), *zip(law.sf(k - 1), law.pmf(k), strict=True)]
        expected = sorted(pair for pair in expected if pair[0] <= largest[i] * (1 + 1e-12))
        rows_of = listed.row == i
        found = sorted(zip(listed.tail[rows_of], listed.probability[rows_of], strict=True))
        assert np.array(found) == approx(np.array(expected), rel=1e-9), rows[i]


def test_the_size_is_the_largest_probability_of_a_small_pvalue_over_common_rates() -> None:
    """All outcomes listed in fractions; at most half a percent is added for rates between those tried."""
    rates: Any = np.sin(np.linspace(0, np.pi / 2, 1001)) ** 2
    levels = np.array([1e-4, 0.01, 0.03, 0.05, 0.1])
    for n1, n2 in ((1, 1), (3, 4), (12, 5), (1, 19), (6, 20), (15, 15)):
        reached = np.zeros((len(levels), len(rates)))
        for x1, x2 in product(range(n1 + 1), range(n2 + 1)):
            lower, upper = exact_tails(x1, n1, x2, n2)
            is_small = [2 * min(lower, upper) <= Fraction(str(level)) for level in levels]
            probability = binom.pmf(x1, n1, rates) * binom.pmf(x2, n2, rates)
            reached[is_small] += probability
        largest = reached.max(axis=1)
        sizes = unconditional_sizes(n1, n2, levels)
        assert (sizes <= np.minimum(levels, 1.0051 * largest + 1e-14)).all(), (n1, n2)
        assert (sizes >= np.minimum(levels, 0.9999 * largest)).all(), (n1, n2)


def test_a_pvalue_of_one_tenth_is_not_lost_to_rounding() -> None:
    """19 of 19 against 0 of 1: p = 2 / 20, a level up to which sizes are computed, whatever its last digit."""
    pvalue = fisher_tails(pairs_of([(19, 19, 0, 1)])).pvalues[0]
    assert pvalue == approx(0.1, rel=1e-12)
    # p is 0.1 if the single case differs from all 19: r**19 (1 - r) + (1 - r)**19 r, at most 0.0189.
    rates = np.linspace(0, 1, 100_001)
    largest = (rates**19 * (1 - rates) + (1 - rates) ** 19 * rates).max()
    for level in (0.1, np.nextafter(0.1, 0), np.nextafter(0.1, 1), pvalue):
        for sizes in ((19, 1), (1, 19)):
            size = unconditional_sizes(*sizes, np.array([level]))[0]
            assert largest * 0.9999 <= size <= largest * 1.0051
    assert unconditional_sizes(19, 1, np.array([0.1001])) == 0.1001


def test_sizes_are_computed_for_the_smallest_samples() -> None:
    """Up to 100 cases in the smaller and 5,000 in the larger sample, and 3,000 in all smaller ones."""
    n1, n2 = np.array([5, 101, 4000.0]), np.array([9, 300, 100.0])
    assert select_small_samples(n1, n2).tolist() == [True, False, True]
    many = np.append(np.full(35, 100.0), 3)
    assert select_small_samples(many, many).tolist() == [True] * 29 + [False] * 6 + [True]


def test_sizes_of_large_samples_are_not_understated() -> None:
    """The largest P(p <= x) over 1,501 rates; with 257 rates, sizes above 2,000 cases were 1.4% too small."""
    n1, n2 = 2, 3_000
    levels = np.array([0.001, 0.01, 0.03])
    x1, x2 = np.meshgrid(np.arange(n1 + 1.0), np.arange(n2 + 1.0), indexing="ij")
    pairs = TwoRates(*(np.ravel(part) for part in (x1, x1 * 0 + n1, x2, x2 * 0 + n2)))
    pvalue = np.reshape(2 * np.min(fisher_tails(pairs), axis=0), x1.shape)
    rates = np.sin(np.linspace(0, np.pi / 2, 1_501))[:, None] ** 2
    first, second = binom.pmf(np.arange(n1 + 1), n1, rates), binom.pmf(np.arange(n2 + 1), n2, rates)
    for level, size in zip(levels, unconditional_sizes(n1, n2, levels), strict=True):
        exact = np.einsum("ri,rj,ij->r", first, second, pvalue <= level * (1 + 1e-9)).max()
        assert exact * (1 - 1e-9) <= size <= min(level, exact * 1.006)
