"""Rates within strata: against listing all tables of all strata, hypergeometric laws, and statsmodels."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
from engines import optional
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import hypergeom
from scipy.stats.contingency import odds_ratio

from evenhand.inference import is_informative, pooled_odds_ratio
from evenhand.inference.strata import PooledOddsRatio

StratifiedTable = optional("statsmodels.stats.contingency_tables").StratifiedTable

Stratum = tuple[int, int, int, int]
EXACT = "exact, conditional on the margins of each stratum"
# The group's successes and cases, and those of the reference.
stratum = st.integers(0, 8).flatmap(
    lambda n: st.integers(0, 8).flatmap(
        lambda m: st.tuples(st.integers(0, n), st.just(n), st.integers(0, m), st.just(m))
    )
)


def pooled(strata: list[Stratum], level: float = 0.95) -> PooledOddsRatio:
    return pooled_odds_ratio(np.array(strata, dtype=float), level)


def listed(strata: list[Stratum]) -> dict[int, Fraction]:
    """The law of the group's total if it is like its reference in every stratum."""
    law: dict[int, Fraction] = {0: Fraction(1)}
    for k, n, other, m in strata:
        total = math.comb(n + m, k + other)
        here = {x: Fraction(math.comb(n, x) * math.comb(m, k + other - x), total)
                for x in range(n + 1) if 0 <= k + other - x <= m}  # fmt: skip
        joint: dict[int, Fraction] = {}
        for (s, p), (x, q) in product(law.items(), here.items()):
            joint[s + x] = joint.get(s + x, Fraction(0)) + p * q
        law = joint
    return law


def twice_the_smaller_tail(law: dict[int, Fraction], observed: int) -> float:
    tails = [sum(p for s, p in law.items() if sign * s >= sign * observed) for sign in (1, -1)]
    return float(min(Fraction(1), 2 * min(tails)))


@given(strata=st.lists(stratum, min_size=1, max_size=4), level=st.sampled_from([0.8, 0.95]))
@settings(max_examples=80, deadline=None)
def test_the_pvalue_and_the_interval_are_those_of_listing_all_tables_of_all_strata(
    strata: list[Stratum], level: float
) -> None:
    """Twice the smaller tail of the group's total, in fractions; at the ends of the interval it is 1 - level."""
    law, observed = listed(strata), sum(k for k, *_ in strata)
    found = pooled(strata, level)
    if len(law) == 1:
        assert math.isnan(found.pvalue)
        assert (found.low, found.high, found.method, found.excess) == (0.0, math.inf, "none", 0.0)
        return
    assert found.pvalue == approx(twice_the_smaller_tail(law, observed))
    assert found.method == EXACT
    expected = sum(Fraction(n * (k + other), n + m) for k, n, other, m in strata if n + m)
    assert found.excess == approx(float(observed - expected), abs=1e-9)
    for end, sign in ((found.low, 1), (found.high, -1)):
        if 0 < end < math.inf:
            tilted = {s: float(p) * end**s for s, p in law.items()}
            beyond = sum(p for s, p in tilted.items() if sign * s >= sign * observed)
            assert beyond / sum(tilted.values()) == approx((1 - level) / 2, rel=1e-6)
        else:
            assert observed == (min(law) if sign == 1 else max(law))


def test_strata_that_say_nothing_change_nothing() -> None:
    """No group, no reference, only successes, only failures."""
    told = [(3, 9, 20, 30), (5, 6, 2, 8)]
    silent = [(0, 0, 3, 7), (2, 5, 0, 0), (4, 4, 6, 6), (0, 4, 0, 6), (0, 0, 0, 0)]
    assert is_informative(np.array(told + silent, dtype=float)).tolist() == [True, True] + [False] * 5
    mixed, plain = pooled([*silent[:3], *told, *silent[3:]]), pooled(told)
    assert (*mixed[:4], mixed.excess) == approx((*plain[:4], plain.excess))
    crude = pooled([(14, 28, 31, 57)])
    assert mixed[-2:] == approx((crude.odds_ratio, crude.pvalue)) == crude[-2:]


def test_one_stratum_is_fishers_test_and_several_have_mantel_and_haenszels_odds_ratio() -> None:
    one = pooled([(7, 12, 20, 60)])
    ends = odds_ratio([[7, 5], [20, 40]]).confidence_interval(0.95)
    assert (one.low, one.high) == approx((ends.low, ends.high), rel=1e-5)
    assert one.odds_ratio == one.crude_odds_ratio == approx(7 * 40 / (5 * 20))
    law = hypergeom(72, 27, 12)
    assert one.pvalue == one.crude_pvalue == approx(2 * law.sf(6))
    tables = [((7, 5), (20, 40)), ((3, 9), (2, 11)), ((30, 2), (8, 1))]
    several = pooled([(a, a + b, c, c + d) for (a, b), (c, d) in tables])
    theirs = StratifiedTable([np.array(table, dtype=float) for table in tables])
    assert several.odds_ratio == approx(theirs.oddsratio_pooled)


def test_strata_can_explain_a_difference_away_and_overwhelming_ones_do_not_underflow() -> None:
    found = pooled([(6, 8, 60, 80), (18, 72, 5, 20)])
    assert found.pvalue == 1.0
    assert found.excess == approx(0, abs=1e-12)
    assert found.crude_pvalue < 1e-5
    huge = pooled([(3000, 3010, 10, 3010)])
    assert 0 <= huge.pvalue < 1e-300
    assert 30_000 < huge.low < 90_000 < huge.high


def test_large_strata_have_the_exact_law_too() -> None:
    """One stratum is a hypergeometric law, whatever its size."""
    for k, n, other, m in ((7, 20_000, 400, 99_980_000), (5_000, 10_000, 5_200, 10_000), (40, 90_000, 0, 300)):
        found, law = pooled([(k, n, other, m)]), hypergeom(n + m, k + other, n)
        assert found.pvalue == approx(min(1.0, 2 * min(law.cdf(k), law.sf(k - 1))), rel=1e-5)
        assert found.method == EXACT


def tail_under_an_odds_ratio(table: Stratum, odds: float, above: bool) -> Any:
    """P(X >= k) or P(X <= k) of Fisher's noncentral law, term by term in 40 digits, over ± 40 standard deviations."""
    with mpmath.workdps(40):
        k, n, other, m = table
        successes = k + other
        terms, p = {}, mpmath.mpf(1)
        reach = 40 * math.isqrt(min(n, m, successes))
        for x in range(k, min(n, successes, k + reach) + 1):
            terms[x] = p
            p *= mpmath.mpf(odds) * (successes - x) * (n - x) / (mpmath.mpf(x + 1) * (m - successes + x + 1))
        p = mpmath.mpf(1)
        for x in range(k, max(0, successes - m, k - reach), -1):
            p *= mpmath.mpf(x) * (m - successes + x) / (mpmath.mpf(odds) * (successes - x + 1) * (n - x + 1))
            terms[x - 1] = p
        side = [p for x, p in terms.items() if (x >= k if above else x <= k)]
        return float(sum(side) / sum(terms.values()))


def test_the_interval_of_a_large_stratum_needs_its_far_tails() -> None:
    """At a level near 1 the ends lie 5 standard deviations away, so a law that is cut at 6 would move them."""
    for table in ((26_000, 50_000, 25_400, 50_000), (3_000, 400_000, 9_000, 1_000_000)):
        found = pooled([table], 0.999999)
        for end, above in ((found.low, True), (found.high, False)):
            assert tail_under_an_odds_ratio(table, end, above) == approx(0.5e-6, rel=1e-6)


def test_millions_of_cases_have_mantel_and_haenszels_approximation_and_say_so() -> None:
    tables = [(2_500_000, 2_500_000, 2_503_000, 2_497_000)] * 8
    found = pooled([(a, a + b, c, c + d) for a, b, c, d in tables])
    theirs = StratifiedTable([np.array([[a, b], [c, d]], dtype=float) for a, b, c, d in tables])
    assert found.method == "Mantel-Haenszel, normal approximation"
    assert (found.low, found.high) == approx(theirs.oddsratio_pooled_confint())
    assert found.pvalue == approx(theirs.test_null_odds().pvalue, rel=1e-6)
    silent = pooled([*[(a, a + b, c, c + d) for a, b, c, d in tables], (0, 0, 5, 9), (3, 3, 8, 8)])
    assert silent[1:4] == approx(found[1:4], rel=1e-5)


def test_billions_of_cases_without_a_failure_have_an_interval_too() -> None:
    """The exact one, unless there are several strata; there, half a case is added to each cell."""
    n = 10_000_000_000
    one, mirrored = pooled([(n, n, n // 2, n)]), pooled([(0, n, n // 2, n)])
    assert (one.odds_ratio, one.pvalue, one.high, one.method) == (math.inf, 0.0, math.inf, EXACT)
    # All of the group's n cases succeed with probability 0.025: the odds of a failure are -log(0.025) in n.
    assert one.low == approx(n / -math.log(0.025), rel=1e-4)
    assert (mirrored.odds_ratio, mirrored.low, mirrored.high) == approx((0.0, 0.0, 1 / one.low))
    both = pooled([(n, n, n // 2, n)] * 2 + [(n, n, 1, n)] * 1_000)
    assert both.odds_ratio == math.inf and 1e8 < both.low < both.high <= math.inf
    apart = pooled([(10**6, 10**6, 0, 10**6)])
    assert (apart.odds_ratio, apart.high, apart.pvalue) == (math.inf, math.inf, 0.0) and 1e11 < apart.low < 1e12
