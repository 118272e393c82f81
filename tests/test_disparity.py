"""Gaps between two groups: exact tests of equal rates, tests of equal scores, intervals, and how they agree."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, isnan
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import posterior_draws
from pytest import approx
from scipy.stats import beta, binom, hypergeom, norm

from evenhand import ConfusionMatrix, InvalidInput, UnknownName, disparity, match_test, metric
from evenhand.inference import equality_of_gaps, gap_intervals, gaps_of
from evenhand.inference.rates import Attainable, boschloo, fisher
from evenhand.metrics import CATALOGUE

SMALL, REFERENCE = ConfusionMatrix(3, 2, 1, 9), ConfusionMatrix(116, 177, 554, 2429)
PAIRS_AND_CONTRASTS = [m for m in CATALOGUE.one_group if m.curve is None]


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


# Equal scores


@pytest.mark.parametrize("key", ["acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "jaccard", "te_part"])
def test_a_score_that_follows_from_one_rate_is_tested_by_that_rate(key: str) -> None:
    counts = {
        "acc": (12, 15, 2545, 3276), "ppr": (4, 15, 670, 3276), "tpr": (3, 5, 116, 293), "fpr": (1, 10, 554, 2983),
        "ppv": (3, 4, 116, 670), "npv": (9, 11, 2429, 2606), "f1": (3, 6, 116, 847), "jaccard": (3, 6, 116, 847),
        "te_part": (2, 3, 177, 731),
    }[key]  # fmt: skip
    d = disparity(SMALL, REFERENCE, key)
    assert (d.pvalue, d.method) == boschloo(*counts)
    by_fisher = disparity(SMALL, REFERENCE, key, test="fisher")
    law = hypergeom(counts[1] + counts[3], counts[0] + counts[2], counts[1])
    assert by_fisher.pvalue == approx(min(1, 2 * min(law.cdf(counts[0]), law.sf(counts[0] - 1))), rel=1e-9)
    assert by_fisher.method == "fisher"


def test_scores_that_are_equal_are_not_told_apart_by_other_rates() -> None:
    """E30: informedness is 0.4 in both groups, while every rate differs."""
    g, h = ConfusionMatrix(180, 20, 400, 400), ConfusionMatrix(400, 400, 20, 180)
    d = disparity(g, h, "informedness")
    assert d.estimate == approx(0, abs=1e-12)
    assert d.pvalue > 0.5
    assert d.low < 0 < d.high
    assert d.method == "posterior"
    assert match_test(g, h, "informedness", given="n").pvalue != approx(d.pvalue, abs=0.01)


def test_scores_that_differ_are_told_apart_where_match_cannot() -> None:
    """MCC is 0.25 against 0.6, although TPR and FPR are equal: only prevalence differs."""
    d = disparity(ConfusionMatrix(400, 100, 1900, 7600), ConfusionMatrix(4000, 1000, 1000, 4000), "mcc")
    assert d.pvalue < 1e-6
    assert d.estimate < -0.2
    assert d.high < 0


def test_one_case_is_no_evidence() -> None:
    """F1 = 0 from a single miss, against 0.73."""
    d = disparity(ConfusionMatrix(0, 1, 0, 74), ConfusionMatrix(300, 100, 120, 480), "f1")
    assert d.pvalue > 0.05
    assert d.pvalue == approx(boschloo(0, 1, 300, 520)[0], rel=1e-12)


def test_a_posterior_p_value_is_the_larger_of_two() -> None:
    """Twice the smaller tail of the gap in a million draws, or |z| of the delta method with 1/2 added, if larger."""
    g, h = (30, 20, 10, 60), (300, 100, 120, 480)
    draws = posterior_draws("informedness", g, 1, 10**6) - posterior_draws("informedness", h, 2, 10**6)
    tail = 2 * min(np.mean(draws <= 0), np.mean(draws > 0))

    def estimate(tp: int, fn: int, fp: int, tn: int) -> tuple[float, float]:
        n = tp + fn + fp + tn
        p = np.array([tp + 0.5, fn + 0.5, fp + 0.5, tn + 0.5]) / (n + 2)
        tpr, fpr = p[0] / (p[0] + p[1]), p[2] / (p[2] + p[3])
        return tpr - fpr, (tpr * (1 - tpr) / (p[0] + p[1]) + fpr * (1 - fpr) / (p[2] + p[3])) / n

    (s, v), (t, w) = estimate(*g), estimate(*h)
    normal = 2 * norm.sf(abs(s - t) / np.sqrt(v + w))
    found = disparity(ConfusionMatrix(*g), ConfusionMatrix(*h), "informedness").pvalue
    assert found == approx(max(tail, normal), abs=2e-3)


counts = st.sampled_from([0, 1, 2, 5, 12, 40, 300, 5000])


@settings(max_examples=12)
@given(g=st.tuples(*[counts] * 4).filter(any), h=st.tuples(*[counts] * 4).filter(any))
@example(g=(20, 1, 2, 40), h=(300, 300, 300, 300))
def test_a_score_that_is_told_apart_has_a_gap_that_excludes_none(g: Any, h: Any) -> None:
    """p <= 0.05 implies that the 95 % interval of the gap excludes 0 (or, of a ratio, 1), for pairs and contrasts."""
    group, reference = np.array([g], dtype=np.float64), np.array([h], dtype=np.float64)
    for m in PAIRS_AND_CONTRASTS:
        p = equality_of_gaps(m, group, reference, "unconditional").pvalue[0]
        if not p <= 0.05:
            continue
        kind, none = ("ratio", 1.0) if m.unbounded else ("difference", 0.0)
        low, high = gaps_of(m, group, reference, cast("Any", kind)).interval(0.95)
        assert not low[0] < none < high[0], m.key


# Intervals of gaps

# The cases, small and lopsided ones, and some with 0, 1 and 100,000 at random.
_random = np.random.default_rng(3).choice([0, 0, 1, 2, 5, 20, 300, 1000, 100_000], (4, 2, 4)).tolist()
GAPS: list[Any] = [
    ((1000, 1, 20, 1000), (1000, 2, 0, 0)),
    ((1000, 0, 100, 2), (5, 1000, 0, 1)),
    ((3, 2, 1, 9), (116, 177, 554, 2429)),
    ((0, 2, 8, 30), (300, 100, 120, 480)),
    ((0, 0, 0, 0), (1, 1, 1, 1)),
    ((20, 20, 5, 100_000), (100_000, 0, 20, 20)),
    *((tuple(g), tuple(h)) for g, h in _random),
]
DRAWS = 400_000


@pytest.mark.parametrize(
    ("m", "kind"),
    [(m, kind) for m in CATALOGUE.one_group for kind in ("difference", "ratio") if kind == "difference" or m.low == 0],
    ids=lambda x: getattr(x, "key", x),
)
def test_the_interval_of_a_gap_leaves_out_as_much_on_either_side(m: Any, kind: Any) -> None:
    """P(gap <= low) = P(gap > high) = 0.025, or 0.1, within 0.006 of 400,000 draws of either score."""
    groups, references = (np.array([pair[i] for pair in GAPS], dtype=np.float64) for i in (0, 1))
    gaps = gaps_of(m, groups, references, kind)
    ends = {level: gaps.interval(level) for level in (0.8, 0.95)}
    for i, (g, h) in enumerate(GAPS):
        mine, theirs = posterior_draws(m.key, g, 1, DRAWS), posterior_draws(m.key, h, 2, DRAWS)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = mine - theirs if kind == "difference" else mine / theirs
        for level, (low, high) in ends.items():
            beyond = np.mean(drawn <= low[i]), np.mean(drawn > high[i])
            assert beyond == approx((0.5 - level / 2,) * 2, abs=0.006), (g, h, level)


def test_a_gap_lies_in_its_own_interval() -> None:
    gaps = gaps_of(
        cast("Any", metric("mcc")), np.array([[100_000.0, 3, 3, 0]]), np.array([[10.0, 5, 5, 10]]), "difference"
    )
    low, high = gap_intervals(gaps, np.array([-0.33336]), 0.05)
    assert low[0] <= -0.33336 <= high[0]
    plain = gaps.interval(0.05)
    assert not plain[0][0] <= -0.33336 <= plain[1][0]
    undefined = gap_intervals(gaps, np.array([np.nan]), 0.05)
    assert (float(undefined[0][0]), float(undefined[1][0])) == approx((float(plain[0][0]), float(plain[1][0])))


def test_small_gaps_keep_their_digits() -> None:
    d = disparity(
        ConfusionMatrix(150_001, 99_999, 200_000, 550_000), ConfusionMatrix(1_500_000, 1_000_000, 2, 5), "tpr"
    )
    assert str(d).startswith("TPR is 4e-06 higher (95 % interval -0.002")


# Words


def test_a_gap_is_one_sentence() -> None:
    d = disparity(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
    assert d.pvalue == boschloo(0, 2, 300, 400)[0]
    assert str(d) == f"TPR is 0.75 lower (95 % interval {d.low:.2f} to {d.high:.2f}, p = {d.pvalue:.2g})"
    assert d.four_fifths is None


def test_disparate_impact_comes_with_the_four_fifths_rule() -> None:
    d = disparity(ConfusionMatrix(10, 5, 2, 33), ConfusionMatrix(100, 50, 60, 90), "ppr", "ratio", test="fisher")
    assert d.estimate == approx((12 / 50) / (160 / 300))
    assert d.four_fifths is False
    assert str(d) == (
        "PPR is 0.45 times the reference's (95 % interval 0.26 to 0.71, p = 0.00017, four-fifths rule not kept)"
    )


@pytest.mark.parametrize(
    ("k", "n", "j", "m", "kept"),
    [
        (4, 10, 5, 10, True),
        # 4/5 exactly, but 0.7999999999999999 in floats.
        (3, 5, 6, 8, True),
        (3, 5, 18, 24, True),
        (3999, 10_000, 5, 10, False),
        (4001, 10_000, 5, 10, True),
    ],
)
def test_exactly_four_fifths_keep_the_rule(k: int, n: int, j: int, m: int, kept: bool) -> None:
    d = disparity(ConfusionMatrix(k, n - k, 0, 0), ConfusionMatrix(j, m - j, 0, 0), "ppr", "ratio")
    assert d.four_fifths is kept
    assert d.to_dict()["four_fifths"] is kept


def test_an_undefined_gap_says_so() -> None:
    d = disparity(ConfusionMatrix(0, 0, 2, 6), REFERENCE, "tpr")
    assert isnan(d.estimate)
    assert isnan(d.pvalue)
    assert d.reason == "in the group: no actual positives (TP + FN = 0)"
    assert str(d).startswith("TPR: the difference is undefined, in the group: no actual positives (TP + FN = 0)")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: disparity(SMALL, REFERENCE, "mcc", "ratio"), InvalidInput,
         "mcc can be negative, so a ratio of two groups is meaningless; use mcc_difference"),
        (lambda: disparity(SMALL, REFERENCE, "tpr", cast("Any", "gap")), UnknownName,
         "no kind is called 'gap'; known: difference, ratio"),
        (lambda: disparity(SMALL, REFERENCE, "tpr", test=cast("Any", "fischer")), UnknownName,
         "no test is called 'fischer'; did you mean 'fisher'?"),
        (lambda: disparity(SMALL, ConfusionMatrix(0, 0, 0, 0), "tpr"), InvalidInput,
         "the reference is empty (n = 0); the group cannot be compared with it"),
        (lambda: disparity(SMALL, REFERENCE, "tpr", level=1), InvalidInput, "level must lie between 0 and 1; got 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_explained(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()
