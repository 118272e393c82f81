"""One split of m cases: against 60-digit arithmetic, SciPy and plain sums."""

from __future__ import annotations

from itertools import product
from typing import Any

import mpmath
import numpy as np
from oracle import refusal
from pytest import approx
from scipy import stats

from evenhand.distributions import Binomial, Hypergeometric, Split, binomial_cdf, log_hypergeometric
from evenhand.distributions.splits import BetaBinomial, SplitTable

SPLITS: list[Split] = [Binomial(p, 1 - p) for p in (0.25, 2.0**-20, 0.0, 1.0)]
SPLITS += [BetaBinomial(a, b) for a, b in ((400.5, 900.5), (0.5, 17.5), (0.5, 0.5), (1.0, 1.0), (30.0, 1.0))]
SPLITS += [Hypergeometric(first, second) for first, second in ((3000, 7000), (12, 4000), (4000, 0))]


def exact(split: Split, k: int, m: int) -> Any:
    """P(K = k) in 60 digits."""
    if isinstance(split, Binomial):
        return mpmath.binomial(m, k) * mpmath.mpf(split.p) ** k * mpmath.mpf(split.q) ** (m - k)
    if isinstance(split, BetaBinomial):
        return mpmath.binomial(m, k) * mpmath.beta(k + split.a, m - k + split.b) / mpmath.beta(split.a, split.b)
    assert isinstance(split, Hypergeometric)
    ways = mpmath.binomial(split.first, k) * mpmath.binomial(split.second, m - k)
    return ways / mpmath.binomial(split.first + split.second, m)


def column(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


def test_probabilities_have_12_digits_and_are_0_outside_the_support() -> None:
    for split, m in product(SPLITS, (0, 1, 7, 60, 3900)):
        low, high = (int(end[0]) for end in split.support(column(m)))
        for k in {low, low + 1, (2 * low + high) // 3, (low + high) // 2, high - 1, high} & {*range(low, high + 1)}:
            expected = exact(split, k, m)
            assert float(split.log_pmf(k, m)) == approx(float(mpmath.log(expected)), rel=1e-13, abs=2e-13)
            assert float(split.pmf(k, m)) == approx(float(expected), rel=5e-13, abs=1e-300)
        assert split.pmf([low - 1, high + 1], m).tolist() == [0, 0], (split, m)


def test_functions_of_arrays_agree_with_scipy() -> None:
    k, m, first, second = column(2, 0, 9, 3), column(5, 4, 9, 2), column(7, 3, 9, 9), column(9, 1, 2, 9)
    expected = stats.hypergeom.logpmf(k, first + second, first, m)
    assert log_hypergeometric(k, m, first, second) == approx(expected, rel=1e-12)
    assert log_hypergeometric(*np.zeros((4, 1))).tolist() == [0], "nobody of nobody; SciPy has nan"
    k, m = column(-1, 0, 3, 10, 11, 0), column(10, 10, 10, 10, 10, 0)
    assert binomial_cdf(k, m, 0.3) == approx(stats.binom.cdf(k, m, 0.3), rel=1e-12)
    assert binomial_cdf(column(9), column(10), 1.0, 1e-20)[0] == approx(1e-19, rel=1e-12), "where p rounds to 1"


def test_a_table_lists_all_probabilities_but_eps_on_either_side() -> None:
    for split, eps in product(SPLITS, (1e-18, 1e-6)):
        m = column(0, 3, 80, 1000, 1003)
        table = split.table(m, eps)
        for i, size in enumerate(m):
            k = np.arange(size + 1)
            p = split.pmf(k, size)
            listed = table.start[i] + np.flatnonzero(table.pmf[i])
            assert table.pmf[i][table.pmf[i] > 0] == approx(split.pmf(listed, size), rel=1e-11, abs=1e-300)
            assert max(p[k < listed.min()].sum(), p[k > listed.max()].sum()) <= eps


def test_every_way_to_add_up_a_split_gives_the_same_sum() -> None:
    """Sums, and tables that many rows share, agree with adding up single probabilities; empty intervals have none."""
    m, rows = np.arange(2500.0, 3300.0, 2), np.arange(400)
    for split in SPLITS:
        low, high = split.support(m)
        table = split.table(m, 1e-300)
        for share in (0.05, 0.28):
            cut = np.clip(np.floor(m * share), low, high)
            for first, last in ((low - 3, cut), (cut + 1, high + 3), (cut, cut), (cut, cut + 40), (cut + 1, cut)):
                sums, shared = split.interval_sum(first, last, m), table.interval_sum(first, last, rows)
                for i in (0, 199, 399):
                    k = np.arange(max(first[i], low[i]), min(last[i], high[i]) + 1)
                    expected = split.pmf(k, m[i]).sum()
                    assert (sums[i], shared[i]) == approx((expected, expected), rel=1e-10, abs=1e-200), (split, share)


def test_samples_have_the_probabilities_of_the_split() -> None:
    for split in SPLITS:
        counts = np.bincount(split.sample(np.full(20_000, 12), np.random.default_rng(0)), minlength=13)
        expected = 20_000 * split.pmf(np.arange(13), 12)
        likely = expected > 5
        assert counts[expected == 0].sum() == 0
        statistic = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
        assert stats.chi2.sf(statistic, max(likely.sum() - 1, 1)) > 1e-3, split


def test_sums_and_tables_of_too_many_terms_are_refused() -> None:
    flat, m = BetaBinomial(0.5, 0.5), column(1e10)
    terms, entries = refusal(flat.interval_sum, m / 4, m, m), refusal(flat.table, m, 1e-18)
    assert terms.startswith(
        "TooLarge: an exact sum over up to 10,000,000,000 cases has 7,500,000,001 terms, more than "
    )
    assert terms.endswith("; condition on the margin (given='margin'), take fewer cases, or simulate")
    assert entries.startswith(
        "TooLarge: a table of the likely counts of 10,000,000,000 cases has 10,000,000,001 entries"
    )


def test_sums_over_an_interval_are_those_of_its_probabilities_and_a_single_one_is_exact() -> None:
    """A difference of cumulative sums would lose the digits of small probabilities in the middle."""
    pmf = np.array([[0.4, 1e-18, 3e-9, 0.2, 0.4 - 3e-9]])
    table, row = SplitTable(np.array([2.0]), pmf), np.zeros(1, dtype=np.int64)
    for low in range(7):
        for high in range(low, 8):
            terms = [float(pmf[0, k - 2]) for k in range(max(low, 2), min(high, 6) + 1)]
            total = float(table.interval_sum(np.array([float(low)]), np.array([float(high)]), row)[0])
            assert total == (terms[0] if len(terms) == 1 else approx(sum(terms), abs=1e-15))
