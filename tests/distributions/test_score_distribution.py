"""Distributions of scores, and the probability that there is none: against enumeration, golden values and SciPy."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, product
from math import comb, inf, nan
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracle import ONE_GROUP, TWO_GROUPS, golden, matrices, probabilities, rank_scores, ranked_matrices, refusal
from pytest import approx
from scipy import stats

from evenhand import ConfusionMatrix, distribution, metric
from evenhand.distributions import OneGroupDistribution, law_of, undefined_probability_of

GOLDEN = golden("distributions")
# One metric of each shape; the tails of all of them are in test_tails.
SHAPES = ("acc", "mb", "f1", "te_part", "mcc", "pt")
REFERENCE = ConfusionMatrix(tp=30, fn=10, fp=12, tn=48)


def p_undefined(key: str, law: Any) -> float:
    return undefined_probability_of(metric(key).undefined_sets[0], law)


def check(d: Any, values: list[float], ranks: Any, p: Any) -> None:
    """The distribution is that of matrices with these ranks among values (-1: undefined) and exact probabilities."""
    undefined, *exact = np.bincount(ranks + 1, p, len(values) + 1)
    assert d.p_undefined == approx(undefined, rel=1e-12, abs=1e-15), d.metric
    if not sum(exact):
        assert np.isnan([d.mean, d.std]).all() and len(d.support) == 0
        never = f"InvalidInput: {d.metric.key} is never defined under this law; p_undefined is 1"
        assert refusal(d.quantile, 0.5) == refusal(d.cdf, 0.5) == refusal(d.plot) == never
        return
    x, weights = (np.array(each)[np.array(exact) > 0] for each in (values, np.array(exact) / sum(exact)))
    up_to, i = np.minimum(np.cumsum(weights), 1), len(x) // 2
    assert d.support == approx(x, abs=1e-13) and d.probabilities == approx(weights, abs=1e-14)
    if d.metric.key in SHAPES or d.metric.groups == 2:
        expected = [weights[i], up_to[i], weights[i + 1 :].sum()]
        assert [d.pmf(x[i]), d.cdf(x[i]), d.sf(x[i])] == approx(expected, rel=1e-12, abs=1e-15)
    # At exact levels, and between them, the smallest score that reaches the level.
    assert d.quantile(np.append(0, up_to)) == approx(np.append(x[0], x), abs=1e-13)
    assert d.quantile(up_to - weights / 2) == approx(x, abs=1e-13)
    mean = weights @ x
    assert (d.mean, d.std**2) == approx((mean, weights @ (x - mean) ** 2), rel=1e-10, abs=1e-10)


def test_the_distribution_of_one_group_is_what_listing_every_matrix_gives() -> None:
    """Nobody; cells that are never filled; two cells that are all there is; and plenty."""
    cases = [("multinomial", 0, (1, 1, 1, 1)), ("multinomial", 3, (0, 2, 1, 5)), ("uniform", 4, (1, 1, 1, 1))]
    cases += [("without_replacement", 5, counts) for counts in ((4, 0, 0, 3), (3, 1, 2, 6))]
    for (name, n, counts), key in product([*cases, ("predictive", 5, (3, 0, 2, 6))], ONE_GROUP):
        law: Any = {} if name == "uniform" else {"law": name, "reference": ConfusionMatrix.from_array(counts)}
        check(distribution(key, n, **law), *ranked_matrices(key, n), probabilities(name, n, counts))


def test_the_distribution_of_two_groups_is_what_listing_every_pair_gives() -> None:
    first, second = (3, 1, 2, 4), (1, 2, 5, 2)
    for n in [(1, 1), (3, 4)]:
        p = np.outer(probabilities("multinomial", n[0], first), probabilities("multinomial", n[1], second)).ravel()
        for key, score in TWO_GROUPS.items():
            d = distribution(key, n, [ConfusionMatrix.from_array(first), ConfusionMatrix.from_array(second)])
            assert d.n == n
            values, ranks = rank_scores([score(g, r) for g, r in product(matrices(n[0]), matrices(n[1]))])
            check(d, values, np.array(ranks), p)


def test_a_distribution_can_be_given_the_margin() -> None:
    """Given 4 actual positives of 6, TPR is binomial, and LR+ is undefined without a false positive among 2."""
    law, tp, fp = law_of([0.1, 0.3, 0.2, 0.4], 6), stats.binom(4, 0.25), stats.binom(2, 1 / 3)
    d = OneGroupDistribution(metric("tpr"), law, 4.0)
    assert d.support == approx(np.arange(5) / 4) and d.probabilities == approx(tp.pmf(range(5)))
    lr_plus = OneGroupDistribution(metric("lr_plus"), law, 4.0)
    assert lr_plus.cdf(0.25) == approx(tp.cdf(0) + tp.pmf(1) * fp.pmf(2) / fp.sf(0))


def test_golden_shares_contrasts_and_ratios() -> None:
    cases = [("acc", [c["p"]], c["n"], c["k"] / c["n"], c) for c in GOLDEN["binomial"]]
    cases += [("mb", ["0", c["p_fn"], c["p_fp"]], c["n"], c["k"] / c["n"], c) for c in GOLDEN["marginal_benefit"]]
    for c in GOLDEN["marginal_benefit_pmf"]:
        cases += [("mb", ["0", c["p_fn"], c["p_fp"]], c["n"], k / c["n"], {"pmf": p}) for k, p in c["pmf"][::3]]
    for c in GOLDEN["jrm"]:
        expected = {"p_undefined": c["p_undefined"]} | c["unconditional_given_defined"]
        cases.append(("tpr", [c["p_i"], c["p_j"]], c["n"], float(Fraction(c["score"])), expected))
    for key, rates, n, x, expected in cases:
        p = [Fraction(rate) for rate in rates]
        d = distribution(key, n, [*map(float, p), float(1 - sum(p)), *[0] * (3 - len(p))])
        found = {"le": d.cdf(x), "gt": d.sf(x), "pmf": d.pmf(x), "p_undefined": d.p_undefined}
        for name in found.keys() & expected.keys():
            assert found[name] == approx(float(expected[name]), rel=1e-10, abs=1e-300), (d, x, name)


def test_no_tie_of_a_share_or_contrast_is_lost_to_rounding() -> None:
    for k, n in GOLDEN["floor_traps_binomial_mb_[k,n]"][::25]:
        assert distribution("mb", n, [0, 0.5, 0.5, 0]).pmf(k / n) > 0 or (k - n) % 2
        if k >= 0:
            assert distribution("acc", n, [0.5, 0.5, 0, 0]).pmf(k / n) == approx(stats.binom.pmf(k, n, 0.5), rel=1e-11)
    for case in GOLDEN["floor_traps_decimal"]:
        d = distribution("acc", case["n"], [0.5, 0.5, 0, 0])
        assert d.cdf(float(case["S"])) == approx(stats.binom.cdf(case["true"], case["n"], 0.5), rel=1e-11)
    # Quantiles at exact levels: under the uniform law, P(ACC = k/n) = (k + 1)(n - k + 1) / C(n + 3, 3).
    for n in (3, 10, 49, 100):
        levels = accumulate(Fraction((k + 1) * (n - k + 1), comb(n + 3, 3)) for k in range(n + 1))
        assert distribution("acc", n).quantile([float(q) for q in levels]) == approx(np.arange(n + 1) / n)


SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in (("mcc", 1000, 0.9), ("lr_plus", 1000, 0.0))]


@pytest.mark.parametrize(("key", "n", "q"), [("tpr", 10**5, 0.025), *SLOW])
def test_a_quantile_of_too_many_scores_to_list_is_the_smallest_at_its_level(key: str, n: int, q: float) -> None:
    d = distribution(key, n, REFERENCE)
    assert refusal(lambda: d.support).startswith(f"TooLarge: listing every score of n = {n:,} cases takes ")
    assert d.cdf((s := d.quantile(q)) + 1e-12) >= q and (d.cdf(s - 2e-12) < q or s == q == 0), key


def test_rates_are_exact_among_a_million_cases() -> None:
    """A share is binomial; TPR is a mean of binomials over the number of positives."""
    acc, tpr = (distribution(key, 10**6, [0.3, 0.1, 0.2, 0.4]) for key in ("acc", "tpr"))
    k, m = np.array([695_000, 699_000, 700_000, 702_000]), np.arange(395_000, 405_001)
    assert acc.cdf(k / 10**6) == approx(stats.binom.cdf(k, 10**6, 0.7), rel=1e-9)
    assert acc.quantile(0.2) == stats.binom.ppf(0.2, 10**6, 0.7) / 10**6
    for part, of in ((748, 1000), (3, 4), (751, 1000)):
        expected = stats.binom.pmf(m, 10**6, 0.4) @ stats.binom.cdf(part * m // of, m, 0.75)
        assert tpr.cdf(part / of) == approx(expected, rel=1e-8)
    assert tpr.mean == approx(0.75, rel=1e-12) and tpr.p_undefined == 0


def test_large_groups_are_compared_without_listing_their_pairs() -> None:
    """P(TPR_1 - TPR_2 <= x) from 500,000 random pairs, and symmetry of TE in two groups alike."""
    d = distribution("equal_opportunity", (400, 300), [[0.2, 0.1, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])
    rng = np.random.default_rng(0)
    first, second = rng.binomial(400, 0.3, 500_000), rng.binomial(300, 0.3, 500_000)
    gaps = rng.binomial(first, 2 / 3) / first - rng.binomial(second, 1 / 3) / second
    for x in (0.25, 0.33, 0.4):
        assert d.cdf(x) == approx(np.mean(gaps <= x + 1e-12), abs=0.003) == approx(1 - d.sf(x), abs=0.003)
    assert (d.mean, d.std) == approx((gaps.mean(), gaps.std()), abs=5e-4) and d.cdf(d.quantile(0.2)) == approx(
        0.2, abs=1e-5
    )
    ratio = distribution("tpr_ratio", (400, 300), [[0.2, 0.1, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])
    ratios = rng.binomial(first, 2 / 3) / first / (rng.binomial(second, 1 / 3) / second)
    assert (ratio.mean, ratio.std) == approx((ratios.mean(), ratios.std()), abs=3e-3)
    assert np.mean(ratios <= ratio.quantile(0.9)) == approx(0.9, abs=0.003)
    assert (d.cdf(-inf), d.sf(-inf), d.cdf(inf)) == (0, 1, 1) and d.cdf(0.3) + d.sf(0.3) == approx(1, rel=1e-12)
    te = distribution("te", (200, 200), [0.2, 0.1, 0.3, 0.4])
    assert te.cdf(0.0) == approx(te.sf(0.0) + te.pmf(0.0), rel=1e-9)


def test_moments_have_closed_forms_and_no_score_is_infinite() -> None:
    """E22: under the uniform law Var(ACC) = (n + 4) / (20 n). E19: rates and contrasts are unbiased given defined."""
    for n in (5, 25, 100, 1000):
        assert distribution("acc", n).std ** 2 == approx((n + 4) / (20 * n), rel=1e-10)
    for key, unbiased in (("acc", 1), ("mb", 1), ("tpr", 1), ("npv", 1), ("jaccard", 1), ("mcc", 0), ("lr_plus", 0)):
        d = distribution(key, 9, [0.1, 0.2, 0.3, 0.4])
        assert (d.mean == approx(float(metric(key)([0.1, 0.2, 0.3, 0.4])), rel=1e-12)) == unbiased
        assert [f(x) for f in (d.pmf, d.cdf, d.sf) for x in (-inf, inf)] == approx([0, 0, 0, 1, 1, 0])


def test_what_cannot_be_answered_is_explained() -> None:
    d = distribution("tpr", 5, [0.25] * 4)
    for call, argument, message in (
        (d.quantile, 1.5, "q must lie between 0 and 1; got 1.5"),
        (d.quantile, [0.5, nan], "q must lie between 0 and 1; got [0.5, nan]"),
        (d.cdf, nan, "x must be a number; got nan"),
        (d.pmf, "a", "x must be a number or an array of numbers; got 'a'"),
    ):
        assert refusal(call, argument) == f"InvalidInput: {message}"
    assert refusal(distribution, "te", 5) == "InvalidInput: n of te must be a pair (n1, n2), one per group; got 5"


@given(n=st.integers(0, 3000), share=st.sampled_from([0.01, 0.25, 0.5, 0.9]), other=st.floats(0.01, 0.99))
def test_tpr_is_undefined_exactly_when_there_is_no_actual_positive(n: int, share: float, other: float) -> None:
    """(p_fp + p_tn)**n, with full relative accuracy."""
    p = [share * other, share * (1 - other), (1 - share) / 2, (1 - share) / 2]
    assert p_undefined("tpr", law_of(p, n)) == approx(float(mpmath.mpf(1 - share) ** n), rel=1e-10, abs=1e-300)


def test_small_probabilities_keep_their_digits_under_every_law() -> None:
    """No actual positive: B(a, b + n) / B(a, b) of a and b, and C(b, n) / C(a + b, n) ways."""
    predictive = law_of(ConfusionMatrix(tp=19, fn=29, fp=2, tn=3), 500, "predictive", prior=1)
    assert p_undefined("tpr", predictive) == approx(float(mpmath.beta(50, 507) / mpmath.beta(50, 7)), rel=1e-10, abs=0)
    sampled = law_of(ConfusionMatrix(tp=90, fn=60, fp=30, tn=40), 60, "without_replacement")
    assert p_undefined("tpr", sampled) == approx(comb(70, 60) / comb(220, 60), rel=1e-10, abs=0)
    assert p_undefined("tpr", law_of(None, 10**6)) == approx((10**6 + 1) / comb(10**6 + 3, 3), rel=1e-12)
    # No actual positive, or no actual negative.
    assert p_undefined("informedness", law_of([0.25] * 4, 40)) == approx(2 * 0.5**40, rel=1e-12)


def test_pt_is_also_undefined_where_tpr_equals_fpr() -> None:
    p, n = [0.2, 0.1, 0.4, 0.3], 40
    tp, fn, fp, tn = cells = np.array(list(matrices(n))).T
    equal = (tp * tn == fp * fn) | ((tp + fn) * (fp + tn) == 0)
    expected = stats.multinomial.pmf(cells.T, n, p)[equal].sum()
    assert p_undefined("pt", law_of(p, n)) == approx(expected, rel=1e-10)
    assert p_undefined("pt_limit", law_of(p, n)) < 1e-6 < p_undefined("pt", law_of(p, n))
    # Half of 2**30 cases are positive: 2**29 pairs of equal rates.
    message = refusal(p_undefined, "pt", law_of([0.25] * 4, 2**30))
    assert message.startswith("TooLarge: the probability that TPR equals FPR in n = 1,073,741,824 cases is a sum ")
    assert message.endswith("terms, more than the limit of 33,554,432; use pt_limit, which has a score there")
