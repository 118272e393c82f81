"""Gaps between scores, and tests of no gap: against adaptive quadrature, Fisher's test and random draws."""

from __future__ import annotations

from math import inf
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from matrices import matrix
from oracle import drawn_scores
from pytest import approx
from scipy.integrate import quad
from scipy.stats import beta, hypergeom

from evenhand import disparity, match_test, metric
from evenhand.inference import equality_test, melded_gaps, score_gaps

TPR: Any = metric("tpr")
SMALL, REFERENCE = matrix(3, 2, 1, 9), matrix(116, 177, 554, 2429)


def cells_of(x: Any, n: Any) -> Any:
    """Cells with x of n actual positives found."""
    x, n = np.atleast_1d(x).astype(float), np.atleast_1d(n).astype(float)
    return np.column_stack([x, n - x, 0 * x, 0 * x])


def random_rates(count: int, seed: int, largest: int = 400) -> Any:
    """Random x1, n1, x2, n2; half of the counts are 0, 1, n - 1 or n."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(2):
        n = np.exp(rng.uniform(0, np.log(largest), count)).astype(int)
        edges = np.stack([0 * n, np.minimum(1, n), n - 1, n])[rng.integers(0, 4, count), np.arange(count)]
        columns += [np.where(rng.random(count) < 0.5, edges, rng.binomial(n, rng.random(count))), n]
    return columns


def p_below(gap: float, first: Any, second: Any, kind: str) -> float:
    """P(T1 - T2 <= gap) or P(T1 / T2 <= gap) of betas, by adaptive quadrature between kinks."""

    def cdf(x: Any) -> Any:
        if first[0] == 0:
            return int(x >= 0)
        return mpmath.betainc(*first, 0, min(max(x, 0), 1), regularized=True)

    def limit(t: Any) -> Any:
        return t + gap if kind == "difference" else t * gap

    if second[1] == 0:
        return float(cdf(limit(1)))
    a, b = second
    mean, gap = mpmath.mpf(a) / (a + b), mpmath.mpf(gap)
    spread = mpmath.sqrt(mean * (1 - mean) / (a + b + 1))
    places = {0, 1, *(mean + k * spread for k in (-12, -6, -3, 0, 3, 6, 12))}
    places |= {-gap, 1 - gap} if kind == "difference" else {1 / gap}
    density = mpmath.beta(a, b)
    return float(mpmath.quad(
        lambda t: cdf(limit(t)) * t ** (a - 1) * (1 - t) ** (b - 1) / density,
        sorted(place for place in places if 0 <= place <= 1),
    ))  # fmt: skip


def test_ends_have_the_tail_of_adaptive_quadrature() -> None:
    x1, n1, x2, n2 = random_rates(12, 5, 60)
    with mpmath.workdps(20):
        for kind in ("difference", "ratio"):
            gaps = melded_gaps(TPR, cells_of(x1, n1), cells_of(x2, n2), cast("Any", kind))
            low, _ = gaps.interval(0.95)
            for i in np.flatnonzero(np.isfinite(low) & (low > (-1 if kind == "difference" else 0))):
                first = int(x1[i]), int(n1[i] - x1[i] + 1)
                second = int(x2[i] + 1), int(n2[i] - x2[i])
                if first[0] or second[1]:
                    assert p_below(low[i], first, second, kind) == approx(0.025, abs=1e-9), i


def test_probabilities_count_what_lies_beyond_a_kink() -> None:
    """P(T1 - T2 <= 0.6) where T2 may exceed 0.4, so that no T1 is too large; the mean is over either."""
    for x1, n1, x2, n2 in ((3, 4, 2, 5), (3, 4, 20, 50), (30, 40, 2, 5)):
        gaps = melded_gaps(TPR, cells_of(x1, n1), cells_of(x2, n2), "difference")
        for gap in (0.6, -0.3):
            expected = p_below(gap, (x1, n1 - x1 + 1), (x2 + 1, n2 - x2), "difference")
            assert gaps.tails(gap)[0] == approx(expected, abs=1e-9)


def test_one_of_four_against_none_of_five_has_the_exact_lower_end() -> None:
    """Formerly -0.39546, with a tail of .0253, since quadrature crossed a kink."""
    d = disparity(matrix(1, 3, 0, 0), matrix(0, 5, 0, 0), "tpr")
    assert d.low == approx(-0.39671, abs=5e-6)
    assert p_below(d.low, (1, 4), (1, 5), "difference") == approx(0.025, abs=1e-10)
    assert p_below(-0.39546, (1, 4), (1, 5), "difference") == approx(0.0253, abs=5e-5)


def test_one_sided_pvalues_are_fishers() -> None:
    x1, n1, x2, n2 = random_rates(2_000, 7)
    law = hypergeom(n1 + n2, x1 + x2, n1)
    for kind, none in (("difference", 0.0), ("ratio", 1.0)):
        gaps = melded_gaps(TPR, cells_of(x1, n1), cells_of(x2, n2), cast("Any", kind))
        upper, lower = gaps.tails(none)
        assert upper == approx(law.sf(x1 - 1), abs=1e-8)
        assert lower == approx(law.cdf(x1), abs=1e-8)


def test_an_interval_contains_no_gap_if_and_only_if_p_exceeds_alpha() -> None:
    x1, n1, x2, n2 = random_rates(1_000, 8)
    group, reference = cells_of(x1, n1), cells_of(x2, n2)
    pvalues = equality_test(TPR, group, reference).pvalues
    for kind, none in (("difference", 0.0), ("ratio", 1.0)):
        gaps = melded_gaps(TPR, group, reference, cast("Any", kind))
        for alpha in (0.2, 0.05, 1e-4):
            low, high = gaps.interval(1 - alpha)
            is_clear = np.abs(pvalues / alpha - 1) > 1e-6
            contains = (low <= none) & (none <= high)
            assert (contains == (pvalues > alpha))[is_clear].all()
            assert 0.01 < contains.mean() < 0.99


def test_the_test_of_several_rates_agrees_with_its_interval() -> None:
    cells = np.random.default_rng(4).integers(0, 30, (2, 12, 4)).astype(float)
    for key in ("mcc", "kappa", "informedness", "mb", "lr_plus", "dor", "g_mean"):
        m = cast("Any", metric(key))
        kind, none = ("ratio", 1.0) if m.is_unbounded else ("difference", 0.0)
        pvalues = equality_test(m, *cells).pvalues
        low, high = score_gaps(m, cells[0], cells[1], cast("Any", kind)).interval(0.95)
        for i in np.flatnonzero((pvalues < 1) & (np.abs(pvalues - 0.05) > 1e-6)):
            assert (pvalues[i] > 0.05) == (low[i] < none < high[i]), (key, cells[:, i])


def test_posterior_gaps_leave_out_as_much_on_either_side() -> None:
    """Within 0.008 of 100,000 draws of either score."""
    pairs: list[Any] = [
        ((3, 2, 1, 9), (116, 177, 554, 2429)), ((0, 2, 8, 30), (300, 100, 120, 480)), ((9, 0, 0, 7), (1, 1, 1, 1)),
    ]  # fmt: skip
    groups, references = (np.array([pair[i] for pair in pairs], float) for i in (0, 1))
    for key, kind in (("tpr", "difference"), ("f1", "ratio"), ("acc", "ratio"), ("mcc", "difference")):
        gaps = score_gaps(cast("Any", metric(key)), groups, references, cast("Any", kind), prior=0.5)
        low, high = gaps.interval(0.8)
        for i, (g, h) in enumerate(pairs):
            first, second = drawn_scores(key, g, 1, 100_000), drawn_scores(key, h, 2, 100_000)
            drawn = first - second if kind == "difference" else first / second
            assert (np.mean(drawn <= low[i]), np.mean(drawn > high[i])) == approx((0.1, 0.1), abs=0.008), (key, g)


@pytest.mark.filterwarnings("error")
def test_betas_with_an_infinite_density_have_gaps() -> None:
    """Effective counts below 1/2 gave nan or infinite ends, since a node fell on the end of the density."""
    rng = np.random.default_rng(1)
    for x1, n1, x2, n2 in ((0.37, 12.3, 3.1, 40.2), (38_850, 38_850.37, 300, 340), (0.05, 3, 2, 7)):
        gaps = melded_gaps(TPR, cells_of(x1, n1), cells_of(x2, n2), "difference")
        high = gaps.interval(0.8)[1][0]
        draws = rng.beta(x1 + 1, n1 - x1, 200_000) - rng.beta(x2, n2 - x2 + 1, 200_000)
        assert np.mean(draws >= high) == approx(0.1, abs=0.005)
    jeffreys = score_gaps(TPR, cells_of(0, 9), cells_of(4, 9), "difference", prior=0.5)
    reference = beta(4.5, 5.5).rvs(100_000, random_state=1)
    assert jeffreys.tails(0.0)[1] == approx(np.mean(beta(0.5, 9.5).sf(reference)), abs=0.003)
    assert np.isfinite(jeffreys.tails(-0.5)).all()


def test_priors_and_effective_counts_below_1_have_exact_gaps() -> None:
    """Formerly wrong by up to 0.02: the complement of a rate of 1e-18 is 1, and its density is infinite.

    By quadrature over u**(1 / a) and 1 - u**(1 / b), whose densities are finite.
    """

    def p_steep(gap: Any, first: Any, second: Any, kind: str) -> float:
        (a, b), half = map(mpmath.mpf, second), mpmath.mpf("0.5")

        def cdf(t: Any) -> Any:
            limit = t + gap if kind == "difference" else t * gap
            return mpmath.betainc(*first, 0, min(max(limit, 0), 1), regularized=True)

        def lower(u: Any) -> Any:
            return cdf(u ** (1 / a)) * (1 - u ** (1 / a)) ** (b - 1) / a

        def upper(u: Any) -> Any:
            return cdf(1 - u ** (1 / b)) * (1 - u ** (1 / b)) ** (a - 1) / b

        kinks = [-gap, 1 - gap] if kind == "difference" else [1 / gap]
        inner = [t for t in (*kinks, 1e-3, 0.05, 0.95, 0.999) if 0 < t < 1]
        below = sorted({mpmath.mpf(0), half**a, *(mpmath.mpf(t) ** a for t in inner if t < half)})
        above = sorted({mpmath.mpf(0), half**b, *((1 - mpmath.mpf(t)) ** b for t in inner if t > half)})
        return float((mpmath.quad(lower, below) + mpmath.quad(upper, above)) / mpmath.beta(a, b))

    with mpmath.workdps(20):
        for prior, counts in ((0.05, (0, 40, 0, 50)), (0.05, (0, 2, 1, 3)), (0.2, (3, 3, 0, 1))):
            x1, n1, x2, n2 = counts
            betas = (x1 + prior, n1 - x1 + prior), (x2 + prior, n2 - x2 + prior)
            for kind, gap in (("difference", 0.1), ("difference", -0.003), ("ratio", 1.5), ("ratio", 0.2)):
                gaps = score_gaps(TPR, cells_of(x1, n1), cells_of(x2, n2), cast("Any", kind), prior=prior)
                expected = p_steep(gap, *betas, kind)
                assert np.ravel(gaps.tails(gap)) == approx([expected, 1 - expected], abs=1e-7), (prior, kind, gap)
        for x, m, y, n in ((0.05, 3, 2, 7), (0.9, 40, 4.8, 5)):
            gaps = melded_gaps(TPR, cells_of(x, m), cells_of(y, n), "difference")
            expected = p_steep(-0.2, (x, m - x + 1), (y + 1, n - y), "difference")
            assert gaps.tails(-0.2)[0] == approx(expected, abs=1e-9)


def test_a_gap_lies_in_its_interval() -> None:
    gaps = melded_gaps(TPR, cells_of(5, 10), cells_of(50, 100), "difference")
    low, high = gaps.interval(0.95)
    for observed in (-0.9, 0.0, 0.9):
        ends = gaps.interval(0.95, np.array([observed]))
        assert ends == (min(low, observed), max(high, observed))
    assert gaps.interval(0.95, np.array([np.nan])) == (low, high)


def test_ratios_to_no_successes_have_no_upper_end_and_ends_far_out_are_exact() -> None:
    """30 of 30 against 5 of 5, whose upper limit is 1: P(ratio <= r) = r**30."""
    assert disparity(matrix(3, 0, 0, 5), matrix(0, 20, 0, 5), "tpr", "ratio").high == inf
    d = disparity(matrix(0, 3, 0, 5), matrix(0, 20, 0, 5), "tpr", "ratio")
    assert (d.low, d.high) == (0.0, inf)
    low = disparity(matrix(30, 0, 0, 0), matrix(5, 0, 0, 0), "tpr", "ratio", confidence_level=0.99995).low
    assert low == approx(2.5e-5 ** (1 / 30), rel=1e-9)


# Tests of equal scores


def test_a_score_of_one_rate_is_tested_by_that_rate() -> None:
    counts = {
        "acc": (12, 15, 2545, 3276), "ppr": (4, 15, 670, 3276), "tpr": (3, 5, 116, 293), "fpr": (1, 10, 554, 2983),
        "ppv": (3, 4, 116, 670), "npv": (9, 11, 2429, 2606), "f1": (3, 6, 116, 847), "jaccard": (3, 6, 116, 847),
        "te_part": (2, 3, 177, 731),
    }  # fmt: skip
    for key, (x1, n1, x2, n2) in counts.items():
        law = hypergeom(n1 + n2, x1 + x2, n1)
        d = disparity(SMALL, REFERENCE, key)
        assert d.pvalue == approx(min(1, 2 * min(law.cdf(x1), law.sf(x1 - 1))), rel=1e-9), key
        assert d.method == "fisher"


def test_equal_scores_with_different_rates_do_not_differ() -> None:
    """E30: informedness is 0.4 in both groups, while all rates differ."""
    g, h = matrix(180, 20, 400, 400), matrix(400, 400, 20, 180)
    d = disparity(g, h, "informedness")
    assert d.estimate == approx(0, abs=1e-12)
    assert d.pvalue > 0.5
    assert d.low < 0 < d.high
    assert d.method == "mid-p"
    assert match_test(g, h, "informedness", given="n").pvalue != approx(d.pvalue, abs=0.01)


def test_different_scores_with_equal_rates_differ() -> None:
    """MCC is 0.25 against 0.6, although TPR and FPR are equal: only prevalence differs."""
    d = disparity(matrix(400, 100, 1900, 7600), matrix(4000, 1000, 1000, 4000), "mcc")
    assert d.pvalue < 1e-6
    assert d.high < 0


def test_a_pvalue_of_several_rates_is_twice_the_smaller_tail_of_the_gap() -> None:
    """In 400,000 mid-p draws."""
    g, h = (30, 20, 10, 60), (300, 100, 120, 480)
    for key in ("informedness", "mcc"):
        first, second = (drawn_scores(key, c, i, 400_000, prior=None) for i, c in ((1, g), (2, h)))
        tail = 2 * min(np.mean(first <= second), np.mean(first >= second))
        assert disparity(matrix(*g), matrix(*h), key).pvalue == approx(tail, abs=4e-3)


def test_undefined_scores_have_no_pvalue() -> None:
    groups, references = np.array([[0.0, 0, 2, 6], [3, 1, 2, 6]]), np.array([[5.0, 5, 5, 5], [5, 5, 5, 5]])
    for key in ("tpr", "mcc"):
        test = equality_test(cast("Any", metric(key)), groups, references)
        assert np.isnan([test.lower, test.upper, test.pvalues])[:, 0].all()
        assert np.isfinite(test.pvalues[1])


def test_effective_counts_are_tested_by_the_interval_of_the_gap() -> None:
    """For whole counts that is Fisher's test."""
    rng = np.random.default_rng(2)
    groups, references = rng.integers(1, 30, (2, 40, 4)).astype(float)
    exact, effective = (equality_test(TPR, groups, references, whole=whole) for whole in (True, False))
    assert effective.method == "effective counts"
    is_low = exact.pvalues < 0.9
    assert effective.pvalues[is_low] == approx(exact.pvalues[is_low], abs=1e-8)
    assert (effective.is_higher == exact.is_higher)[is_low].all()


def drawn_mcc(cells: tuple[int, ...], draws: int = 400_000) -> Any:
    """True MCC given counts, or 0: each rate is an even mixture of Beta(x, n - x + 1) and Beta(x + 1, n - x)."""
    tp, fn, fp, tn = cells
    rng, rates = np.random.default_rng(5), []
    for x, rest in ((tp + fn, fp + tn), (tp, fn), (fp, tn)):
        first = rng.random(draws) < 0.5
        a, b = x + first, rest + ~first
        drawn = rng.beta(np.maximum(a, 1e-9), np.maximum(b, 1e-9))
        rates.append(np.where(a == 0, 0.0, np.where(b == 0, 1.0, drawn)))
    prev, tpr, fpr = rates
    positive = prev * tpr + (1 - prev) * fpr
    with np.errstate(invalid="ignore", divide="ignore"):
        score = (tpr - fpr) * np.sqrt(prev * (1 - prev) / (positive * (1 - positive)))
    return np.where((positive == 0) | (positive == 1), 0.0, score)


@pytest.mark.parametrize(
    ("group", "reference"),
    [((0, 3, 2, 0), (3000, 200, 300, 2000)), ((3, 0, 0, 2), (200, 3000, 2000, 300))],
)
def test_tails_of_a_group_that_is_always_wrong_are_those_of_its_mirror(group: Any, reference: Any) -> None:
    """MCC has an atom at -1 or at 1; the tail of a limit at 80% was .1132 in place of .1."""
    gaps = drawn_mcc(group) - drawn_mcc(reference)
    for level in (0.8, 0.95):
        found = disparity(matrix(*group), matrix(*reference), "mcc", confidence_level=level)
        tails = np.mean(gaps <= found.low), np.mean(gaps >= found.high)
        assert tails == approx(((1 - level) / 2,) * 2, abs=0.0025)


def test_the_p_value_of_mcc_with_limits_is_that_of_its_gap() -> None:
    """P = .4796; it was .4671."""
    group, reference = (0, 2, 0, 28), (118_316, 90_857, 459_781, 331_046)
    gaps = drawn_mcc(group) - drawn_mcc(reference)
    expected = 2 * min(np.mean(gaps <= 0), np.mean(gaps >= 0))
    found = disparity(matrix(*group), matrix(*reference), "mcc_limit").pvalue
    assert found == approx(expected, abs=0.004) and found == approx(0.4796, abs=0.002)


def test_far_ends_of_melded_gaps_are_those_of_quadrature() -> None:
    """Of 48 of 52 against 17 of 18, P(G <= end) is the tail, however small; ends were off by 6.5e-4."""
    for x, n in (((48, 17), (52, 18)), ((17, 48), (18, 52))):
        group, reference = (cells_of(x[i], n[i]) for i in range(2))
        gaps = melded_gaps(TPR.base, group, reference, "difference")
        for tail in (0.025, 5e-4, 5e-6, 5e-9):
            low, high = (float(end[0]) for end in gaps.interval(1 - 2 * tail))
            first, second = beta(x[0], n[0] - x[0] + 1), beta(x[1] + 1, n[1] - x[1])
            assert quadrature(first.cdf, second.pdf, low) == approx(tail, rel=1e-6)
            first, second = beta(x[0] + 1, n[0] - x[0]), beta(x[1], n[1] - x[1] + 1)
            assert quadrature(first.sf, second.pdf, high) == approx(tail, rel=1e-6)


def quadrature(tail: Any, density: Any, gap: float) -> float:
    points = sorted({0.5, 0.9, 0.97, min(max(-gap, 0.0), 1.0), min(max(1 - gap, 0.0), 1.0)})
    return float(quad(lambda s: tail(s + gap) * density(s), 0, 1, points=points, limit=500, epsabs=1e-14)[0])
