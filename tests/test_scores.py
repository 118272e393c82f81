"""Areas under the ROC curve, Brier scores and log losses by group; callables; effective counts."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom, mannwhitneyu, norm, ttest_ind
from scipy.stats import t as t_law
from sklearn.metrics import brier_score_loss, f1_score, log_loss, roc_auc_score

import evenhand as eh

SMALL = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=2, max_size=9).filter(
    lambda cases: len({label for label, _ in cases}) == 2
)


def counted_area(positives: list[Any], negatives: list[Any]) -> Fraction:
    wins = sum(2 * (p > q) + (p == q) for p in positives for q in negatives)
    return Fraction(wins, 2 * len(positives) * len(negatives))


def listed_pvalue(cases: list[tuple[bool, int]], alternative: str) -> Fraction:
    """The share of all choices of positives whose area is as extreme, from a list of them."""
    scores = [score for _, score in cases]
    chosen = [i for i, (label, _) in enumerate(cases) if label]

    def value(positives: tuple[int, ...]) -> Fraction:
        rest = [scores[i] for i in range(len(scores)) if i not in positives]
        return counted_area([scores[i] for i in positives], rest) - Fraction(1, 2)

    observed = value(tuple(chosen))
    every = [value(some) for some in combinations(range(len(scores)), len(chosen))]
    extreme = {
        "two-sided": [abs(v) >= abs(observed) for v in every],
        "greater": [v >= observed for v in every],
        "less": [v <= observed for v in every],
    }[alternative]
    return Fraction(sum(extreme), len(every))


@given(cases=SMALL, alternative=st.sampled_from(["two-sided", "greater", "less"]))
@settings(max_examples=150, deadline=None)
def test_the_test_of_chance_is_what_listing_every_choice_of_positives_gives(
    cases: list[tuple[bool, int]], alternative: Any
) -> None:
    """p = #{choices as extreme} / C(m + n, m), with ties."""
    found = eh.auc([label for label, _ in cases], [score for _, score in cases], alternative=alternative)
    assert found.method == "exact"
    assert found.error == 0
    assert found.pvalue == pytest.approx(float(listed_pvalue(cases, alternative)), rel=1e-12)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (9, 2), (12, 20), (40, 30)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_without_ties_the_test_of_chance_is_scipys(m: int, n: int, alternative: Any) -> None:
    rng = np.random.default_rng(m + n)
    scores, labels = rng.permutation(m + n), np.repeat([1, 0], [m, n])
    found = eh.auc(labels, scores, alternative=alternative)
    expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative=alternative, method="exact")
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.estimate == pytest.approx(expected.statistic / (m * n), rel=1e-12)


def test_two_large_classes_get_a_labelled_normal_approximation_with_ties() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [300, 2000])
    scores = np.round(rng.normal(size=2300) + 0.1 * labels, 1)
    for alternative in ("two-sided", "greater", "less"):
        found = eh.auc(labels, scores, alternative=alternative)
        expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative=alternative, method="asymptotic")
        assert found.method == "normal approximation"
        assert np.isnan(found.error)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("sizes", [(1500, 3, 2000), (4, 3000, 2, 1), (1100, 1100, 1100)])
@pytest.mark.parametrize("most", [0, 1])
def test_large_ties_are_counted_without_overflow(sizes: tuple[int, ...], most: int) -> None:
    """p = Σ Π C(t_i, j_i) / C(N, m) over the numbers j_i of positives per score, in whole numbers."""
    chosen = (2, 1, 2, 1)[: len(sizes)]
    m, total = sum(chosen), sum(sizes)

    def doubled(js: tuple[int, ...]) -> int:
        minus = [t - j for t, j in zip(sizes, js, strict=True)]
        return sum(j * (2 * sum(minus[:i]) + minus[i]) for i, j in enumerate(js))

    labels: list[bool] = []
    for t, j in zip(sizes, chosen, strict=True):
        labels += [True] * j + [False] * (t - j)
    scores = [i for i, t in enumerate(sizes) for _ in range(t)]
    every = [js for js in product(*(range(min(t, m) + 1) for t in sizes)) if sum(js) == m]
    ways = {js: prod(comb(t, j) for t, j in zip(sizes, js, strict=True)) for js in every}
    assert sum(ways.values()) == comb(total, m)
    expected = Fraction(sum(w for js, w in ways.items() if doubled(js) >= doubled(chosen)), comb(total, m))
    # With the classes exchanged, the larger one is positive and the area is that of the other end.
    found = eh.auc([label != bool(most) for label in labels], scores, alternative="less" if most else "greater")
    assert (found.method, found.error) == ("exact", 0)
    assert found.pvalue == pytest.approx(float(expected), rel=1e-10)


def test_scores_of_decisions_have_a_hypergeometric_law_at_any_size() -> None:
    """P(at least x of m positives are among the h cases with the higher score), also far out in the tail."""
    for m, n, high, x in ((40, 200_000, 100_040, 40), (500, 700, 300, 180), (700, 500, 300, 180), (3, 4, 4, 1)):
        labels = np.repeat([1, 0], [m, n])
        scores = np.concatenate([np.arange(m) < x, np.arange(n) < high - x]).astype(int)
        found = eh.auc(labels, scores, alternative="greater")
        assert found.method == "exact"
        assert found.pvalue == pytest.approx(hypergeom.sf(x - 1, m + n, high, m), rel=1e-9)
        assert eh.auc(labels, -scores, alternative="less").pvalue == pytest.approx(found.pvalue, rel=1e-12)


def test_scores_that_are_all_equal_say_nothing() -> None:
    for cases in (1, 3, 700, 20_000):
        found = eh.auc([0, 1] * cases, [0.5] * 2 * cases)
        assert (found.estimate, found.pvalue, found.method) == (0.5, 1.0, "exact")


@pytest.mark.parametrize("few", [1, 0])
def test_a_few_cases_beside_very_many_get_a_simulated_pvalue(few: int) -> None:
    """One case of a class at rank r of N: P(as extreme) is a count of ranks."""
    labels = np.full(40_000, 1 - few)
    labels[39_000] = few
    found = eh.auc(labels, np.arange(40_000))
    assert found.method == "permutation, 99,999 draws"
    assert abs(found.pvalue - 2 * 1000 / 40_000) < 5 * found.error < 0.005


def test_simulated_choices_of_positives_are_without_replacement() -> None:
    """45 of 445 cases: with replacement the rank sum would have a variance larger by 11 %."""
    rng = np.random.default_rng(4)
    labels = np.repeat([1, 0], [45, 400])
    scores = rng.permutation(445) + 45 * labels
    scores = np.argsort(np.argsort(scores, kind="stable"))
    found = eh.auc(labels, scores, alternative="greater")
    expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative="greater", method="asymptotic")
    assert found.method == "permutation, 99,999 draws"
    assert 0.01 < expected.pvalue < 0.1
    assert abs(found.pvalue - expected.pvalue) < 4 * found.error


@given(cases=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_area_is_scikit_learns(cases: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in cases], [score for _, score in cases]
    found = eh.auc(labels, scores, positive=True)
    if len(set(labels)) < 2:
        assert np.isnan(found.estimate)
        assert np.isnan(found.pvalue)
        assert found.reason == f"no actual {'negatives' if labels[0] else 'positives'}"
    else:
        assert found.estimate == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
        assert 0 <= found.low <= found.estimate + 1e-12
        assert found.estimate - 1e-12 <= found.high <= 1


@pytest.mark.parametrize(("m", "n", "wins"), [(5, 5, 25), (3, 9, 20), (20, 4, 41), (1, 1, 0), (30, 30, 450)])
def test_the_ends_of_the_interval_are_z_standard_errors_away(m: int, n: int, wins: int) -> None:
    """(A − a)² = z² V(a) at both ends, V by Hanley and McNeil with classes of mean size (Newcombe 2006, method 5)."""
    minus = np.arange(n) + 0.0
    plus = np.full(m, -1.0)
    plus[: wins // n] = n
    if wins // n < m:
        plus[wins // n] = wins % n - 0.5
    found = eh.auc([1] * m + [0] * n, np.r_[plus, minus], level=0.9)
    assert found.estimate == pytest.approx(wins / (m * n))
    for end in (found.low, found.high):
        q1, q2, size = end / (2 - end), 2 * end**2 / (1 + end), (m + n) / 2
        variance = (end * (1 - end) + (size - 1) * (q1 - end**2) + (size - 1) * (q2 - end**2)) / (m * n)
        assert (found.estimate - end) ** 2 == pytest.approx(norm.ppf(0.95) ** 2 * variance, abs=1e-9)


def test_the_interval_covers_at_small_sizes() -> None:
    """5 positives and 10 negatives, true area 0.9: at least 92 % of 95 % intervals contain it."""
    rng, true, hits = np.random.default_rng(3), 0.9, 0
    shift = norm.ppf(true) * 2**0.5
    for _ in range(400):
        found = eh.auc([1] * 5 + [0] * 10, np.r_[rng.normal(size=5) + shift, rng.normal(size=10)])
        hits += found.low <= true <= found.high
    assert hits / 400 >= 0.92


def exchanged(group: list[tuple[int, float]], others: list[tuple[int, float]]) -> list[Fraction]:
    """The gaps of areas over all exchanges of cases within classes, the observed one first."""
    pools = {k: [s for label, s in group + others if label == k] for k in (1, 0)}
    sizes = {k: sum(label == k for label, _ in group) for k in (1, 0)}
    gaps = []
    for first in combinations(range(len(pools[1])), sizes[1]):
        for second in combinations(range(len(pools[0])), sizes[0]):
            inside = counted_area([pools[1][i] for i in first], [pools[0][i] for i in second])
            outside = counted_area(
                [s for i, s in enumerate(pools[1]) if i not in first],
                [s for i, s in enumerate(pools[0]) if i not in second],
            )
            gaps.append(abs(inside - outside))
    return gaps


def test_two_areas_with_a_single_case_in_a_class_are_compared_by_their_gap() -> None:
    """p is within 5 standard errors of the share of all exchanges within classes with so large a gap."""
    group = [(1, 0.2), (0, 0.6), (0, 0.7), (0, 0.2)]
    others = [(1, 0.9), (1, 0.8), (1, 0.6), (0, 0.1), (0, 0.3), (0, 0.5), (0, 0.85)]
    gaps = exchanged(group, others)
    (y, s), (y2, s2) = (zip(*cases, strict=True) for cases in (group, others))
    found = eh.auc_test(y, s, y2, s2, draws=4_999)
    assert found.method == "permutation"
    exact = sum(gap >= gaps[0] for gap in gaps) / len(gaps)
    assert 0.01 < exact < 0.5
    assert abs(found.pvalue - exact) < 5 * found.error
    assert found.difference == pytest.approx(found.score - found.reference_score)
    assert found.difference_low < found.difference < found.difference_high
    assert found == eh.auc_test(y, s, y2, s2, draws=4_999)
    assert found.pvalue != eh.auc_test(y, s, y2, s2, draws=4_999, seed=1).pvalue


def test_two_areas_are_compared_by_their_studentised_gap() -> None:
    """|A − B| / √(V(A) + V(B)) over all exchanges within classes, V by DeLong plus 1 / (4 m n)."""
    plus, minus = np.array([0.2, 0.7, 0.4, 0.9, 0.8, 0.6]), np.array([0.6, 0.7, 0.1, 0.3, 0.5])

    def measured(first: list[int], second: list[int]) -> tuple[float, float]:
        wins = np.array([[(p > q) + (p == q) / 2 for q in minus[second]] for p in plus[first]])
        m, n = wins.shape
        spread = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
        return float(wins.mean()), float(spread + 1 / (4 * m * n))

    every = []
    for first in combinations(range(6), 3):
        for second in combinations(range(5), 2):
            inside = measured(list(first), list(second))
            outside = measured([i for i in range(6) if i not in first], [i for i in range(5) if i not in second])
            every.append(abs(inside[0] - outside[0]) / (inside[1] + outside[1]) ** 0.5)
    exact = np.mean(np.array(every) >= every[0] - 1e-9)
    labels, others = [1] * 3 + [0] * 2, [1] * 3 + [0] * 3
    found = eh.auc_test(labels, [*plus[:3], *minus[:2]], others, [*plus[3:], *minus[2:]], draws=4_999)
    assert 0.001 < exact < 0.5
    assert abs(found.pvalue - exact) < 5 * found.error


def test_comparing_areas_rejects_true_nulls_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    labels, other = [1] * 6 + [0] * 6, [1] * 12 + [0] * 9
    rejected = sum(
        eh.auc_test(labels, rng.normal(size=12) + labels, other, rng.normal(size=21) + other, draws=99).pvalue <= 0.1
        for _ in range(300)
    )
    assert 0.05 < rejected / 300 < 0.16


def test_a_small_group_beside_many_others_gets_the_pvalue_that_permuting_all_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 700)
    s = np.round(rng.random(700) * 0.7 + 0.3 * y, 2)
    s[:130] = np.round(s[:130] - 0.12 * (y[:130] - 0.5), 2)
    s = np.clip(s, 0.01, 0.99)
    table = {"y": y, "s": s, "g": ["a"] * 130 + ["b"] * 570}
    audits = [eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=2_999)]
    monkeypatch.setattr("evenhand.scores.permutations._FEW", 10_000)
    audits.append(eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=2_999))
    for drawn, permuted in zip(audits[0].rows, audits[1].rows, strict=True):
        assert drawn.method == permuted.method == "permutation"
        assert drawn.pvalue < 0.9
        assert abs(drawn.pvalue - permuted.pvalue) < 5 * 2**0.5 * max(permuted.error, 1 / 3000)


def test_too_much_work_gets_a_labelled_approximation(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 600)
    table = {"y": y, "s": np.clip(0.3 * y + 0.7 * rng.random(600), 0.01, 0.99), "g": ["a", "b", "b"] * 200}
    slow = eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=1_999)
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    fast = eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=1_999)
    methods = {row.metric: row.method for row in fast.rows}
    assert methods == {"auc": "DeLong, approximate", "brier": "Welch, approximate", "log_loss": "Welch, approximate"}
    for one, other in zip(fast.rows, slow.rows, strict=True):
        assert np.isnan(one.error)
        assert one.pvalue == pytest.approx(other.pvalue, abs=0.05)


@pytest.mark.parametrize("others", [110, 700])
def test_the_approximation_of_two_mean_losses_is_welchs(others: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 100 + others)
    s = np.clip(0.3 * y + 0.6 * rng.random(100 + others), 0.01, 0.99)
    losses = (s - y) ** 2
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    table = {"y": y, "s": s, "g": ["a"] * 100 + ["b"] * others}
    row = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="brier").rows[0]
    assert row.method == "Welch, approximate"
    assert row.pvalue == pytest.approx(ttest_ind(losses[:100], losses[100:], equal_var=False).pvalue, rel=1e-9)
    low, high = (np.exp(np.log(losses[:100].mean()) + sign * t_law.ppf(0.975, 99) * losses[:100].std(ddof=1) / 10
                        / losses[:100].mean()) for sign in (-1, 1))  # fmt: skip
    assert (row.low, row.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("others", [110, 700])
def test_the_normal_approximation_of_two_areas_is_delongs(others: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """p = 2 Φ(-|A - B| / √(V(A) + V(B))), V by DeLong plus 1 / (4 m n); V(B) of all cases beside many others."""
    rng = np.random.default_rng(6)
    y, y2 = (np.repeat([1, 0], [60, n]) for n in (50, others))
    s, s2 = np.round(rng.normal(size=110) + y, 1), np.round(rng.normal(size=60 + others) + 1.3 * y2, 1)

    def measured(labels: Any, scores: Any) -> tuple[float, float]:
        wins = np.array([[(p > q) + (p == q) / 2 for q in scores[labels == 0]] for p in scores[labels == 1]])
        m, n = wins.shape
        spread = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
        return float(wins.mean()), float(spread + 1 / (4 * m * n))

    (area, own), (other, theirs) = measured(y, s), measured(y2, s2)
    if others == 700:
        theirs = measured(np.r_[y, y2], np.r_[s, s2])[1]
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    found = eh.auc_test(y, s, y2, s2)
    assert found.method == "DeLong, approximate"
    assert found.pvalue == pytest.approx(2 * norm.sf(abs(area - other) / (own + theirs) ** 0.5), rel=1e-9)


@pytest.mark.parametrize("sizes", [(1, 150, 20, 250), (150, 4, 250, 30), (2, 250, 300, 9)])
def test_large_groups_with_few_cases_of_a_class_are_not_compared_by_a_normal_law(
    sizes: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The approximation is close to permuting all, whichever class differs, and true nulls are rejected as seldom."""
    rng = np.random.default_rng(0)
    y, y2 = (np.repeat([1, 0], pair) for pair in (sizes[:2], sizes[2:]))
    drawn = [(rng.normal(size=len(y)) + y, rng.normal(size=len(y2)) + y2) for _ in range(120)]
    moved = [(drawn[i][0] + 0.9 * (y == i % 2), drawn[i][1]) for i in range(4)]
    permuted = [eh.auc_test(y, s, y2, s2, draws=1_999) for s, s2 in moved]
    assert {found.method for found in permuted} == {"permutation"}
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    for (s, s2), expected in zip(moved, permuted, strict=True):
        found = eh.auc_test(y, s, y2, s2, draws=1_999)
        assert found.method == "permutation of few cases, approximate"
        assert found.score == expected.score
        assert found.pvalue == pytest.approx(expected.pvalue, abs=0.05)
        assert 0 < found.error < 0.02
    rejected = sum(eh.auc_test(y, one[0], y2, one[1], draws=99, seed=i).pvalue <= 0.1 for i, one in enumerate(drawn))
    assert 0.02 < rejected / 120 < 0.2


def test_a_small_group_that_is_told_apart_perfectly_is_compared_by_its_standard_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Random groups with so large a gap are far less certain of it; beside many others as when all are permuted."""
    rng = np.random.default_rng(0)
    y2 = np.repeat([1, 0], 300)
    y, s, s2 = np.repeat([1, 0], 6), np.r_[2 + np.arange(6) / 100, -1 - np.arange(6) / 100], rng.normal(size=600)
    found = [eh.auc_test(y, s, y2, s2 + 0.8 * y2, draws=999)]
    monkeypatch.setattr("evenhand.scores.permutations._FEW", 10_000)
    found.append(eh.auc_test(y, s, y2, s2 + 0.8 * y2, draws=999))
    assert [one.method for one in found] == ["permutation"] * 2
    assert max(one.pvalue for one in found) < 0.01
    assert found[0] != found[1]


def test_a_few_positives_that_agree_are_compared_by_their_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y, y2 = np.repeat([1, 0], [5, 200]), np.repeat([1, 0], [40, 300])
    s, s2 = rng.normal(size=205), rng.normal(size=340) + y2
    s[:5] = 2.2 + np.arange(5) / 100
    exact = eh.auc_test(y, s, y2, s2, draws=999)
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    found = eh.auc_test(y, s, y2, s2, draws=999)
    assert (exact.method, found.method) == ("permutation", "permutation of few cases, approximate")
    assert max(exact.pvalue, found.pvalue) < 0.015


def test_a_single_case_of_another_class_on_either_side_is_drawn_on_its_own_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """1 + 200 cases against 250 + 1: p is near that of all 251 x 201 exchanges, whose gaps are skewed."""
    rng = np.random.default_rng(2)
    plus, minus = rng.normal(size=251) + 2.3, rng.normal(size=201)
    # The group's positive has a low score and the reference's negative a usual one.
    plus = np.r_[np.quantile(plus, 0.03), plus[1:]]
    below = (plus[:, None] > minus).astype(float)
    rows, columns = below.sum(axis=1)[:, None], below.sum(axis=0)[None, :]
    gaps = np.abs((rows - below) / 200 - (columns - below) / 250)
    exact = np.mean(gaps >= gaps[0, 200] - 1e-12)
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 1_000)
    y, y2 = np.repeat([1, 0], [1, 200]), np.repeat([1, 0], [250, 1])
    found = eh.auc_test(y, np.r_[plus[0], minus[:200]], y2, np.r_[plus[1:], minus[200]], draws=4_999)
    assert found.method == "permutation of few cases, approximate"
    assert 0.1 < exact < 0.3
    assert abs(found.pvalue - exact) < 5 * found.error


def test_losses_that_are_all_equal_are_no_more_extreme_than_others() -> None:
    table = {"y": [1, 0] * 10, "s": [0.7, 0.3] * 10, "g": ["a"] * 6 + ["b"] * 14}
    rows = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics=["brier", "log_loss"], draws=99).rows
    assert [(row.pvalue, row.verdict.value) for row in rows] == [(1.0, "too few to tell")] * 4


def test_a_group_of_one_case_is_never_compared_by_an_approximation(monkeypatch: pytest.MonkeyPatch) -> None:
    """p is within 5 standard errors of the share of cases that are as far from the mean of the others."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    s = np.clip(0.3 * y + 0.6 * rng.random(60), 0.01, 0.99)
    losses = (s - y) ** 2
    gaps = [abs(losses[i] - np.delete(losses, i).mean()) for i in range(60)]
    monkeypatch.setattr("evenhand.scores.permutations._MOST_WORK", 100)
    table = {"y": y, "s": s, "g": ["a"] + ["b"] * 59}
    row = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="brier", draws=2_999).rows[0]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    assert row.method == "permutation"
    assert 0.05 < exact < 0.95
    assert abs(row.pvalue - exact) < 5 * row.error
    small = {"y": [0, 1] * 20, "s": s[:40], "g": ["a"] * 6 + ["b"] * 34}
    rows = eh.audit_scores(small, y_true="y", y_score="s", groups="g", draws=999).rows
    assert {row.method for row in rows} == {"permutation"}


def table_of(n: int = 90, seed: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n)
    return {"y": y, "s": np.clip(np.round(0.4 * y + 0.6 * rng.random(n), 3), 0.001, 0.999), "g": g}


def test_the_scores_of_an_audit_are_scikit_learns() -> None:
    table = table_of()
    audit = eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=9)
    theirs = {"auc": roc_auc_score, "brier": brier_score_loss, "log_loss": log_loss}
    assert [(row.metric, row.group) for row in audit.rows] == [(m, g) for m in theirs for g in "abc"]
    for row in audit.rows:
        inside = table["g"] == row.group
        assert row.score == pytest.approx(theirs[row.metric](table["y"][inside], table["s"][inside]), rel=1e-9)
        assert row.reference_score == pytest.approx(theirs[row.metric](table["y"][~inside], table["s"][~inside]))
        assert row.n == inside.sum()
        assert row.positives == table["y"][inside].sum()
        assert row.low < row.score < row.high


def test_adjusted_pvalues_are_holms_per_metric_and_verdicts_follow() -> None:
    table = table_of(150)
    table["s"] = np.where(table["g"] == "b", 1 - table["s"], table["s"])
    audit = eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=999)
    for metric in ("auc", "brier", "log_loss"):
        rows = sorted((row for row in audit.rows if row.metric == metric), key=lambda row: row.pvalue)
        expected = np.maximum.accumulate([min(1, (3 - i) * row.pvalue) for i, row in enumerate(rows)])
        assert [row.p_adjusted for row in rows] == pytest.approx(list(expected))
        for row in rows:
            assert row.verdict.differs == (row.p_adjusted <= 0.05)
    verdicts = {(row.metric, row.group): row.verdict for row in audit.rows}
    assert verdicts["auc", "b"] == "lower"
    assert verdicts["brier", "b"] == verdicts["log_loss", "b"] == "higher"
    assert verdicts["auc", "a"] == "higher"


def test_two_groups_are_one_comparison_seen_from_both_sides() -> None:
    table = table_of()
    table["g"] = np.where(table["g"] == "c", "b", table["g"])
    rows = eh.audit_scores(table, y_true="y", y_score="s", groups="g", draws=99).rows
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first.pvalue == first.p_adjusted == second.pvalue == second.p_adjusted
        assert (first.score, first.difference) == (second.reference_score, -second.difference)
        assert (first.difference_low, first.difference_high) == (-second.difference_high, -second.difference_low)


def test_equal_groups_with_many_cases_are_alike_and_the_margin_decides() -> None:
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 1000)
    table = {"y": y, "s": np.round(0.3 * y + 0.7 * rng.random(2000), 2), "g": np.repeat(["a", "b"], 1000)}
    options: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "g", "draws": 99}
    assert {row.verdict for row in eh.audit_scores(table, **options, metrics=["auc", "brier"]).rows} == {"alike"}
    tight = eh.audit_scores(table, **options, metrics=["auc", "brier"], margin={"auc": 0.001})
    assert {row.metric: row.verdict.value for row in tight.rows} == {"auc": "too few to tell", "brier": "alike"}
    ends = [abs(end) for row in tight.rows[:1] for end in (row.difference_low, row.difference_high)]
    for margin, verdict in (
        (min(ends) - 1e-9, "too few to tell"),
        (sum(ends) / 2, "too few to tell"),
        (max(ends), "alike"),
    ):
        rows = eh.audit_scores(table, **options, metrics="auc", margin=margin).rows
        assert [row.verdict for row in rows] == [verdict, verdict]


def test_a_group_without_a_class_is_undefined_and_so_is_its_mirror_image() -> None:
    table = {"y": [1, 1, 0, 1, 0], "s": [0.5, 0.6, 0.2, 0.7, 0.1], "g": list("aabbb")}
    first, second = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="roc_auc").rows
    assert (first.verdict, first.reason) == ("undefined", "the group has no actual negatives")
    assert (second.verdict, second.reason) == ("undefined", "the reference has no actual negatives")
    assert second.score == 1
    assert json.loads(eh.audit_scores(table, y_true="y", y_score="s", groups="g").to_json())["rows"][0]["score"] is None


def test_an_infinite_log_loss_is_undefined_with_its_reason() -> None:
    table = {"y": [1, 0, 0, 1, 0], "s": [0.0, 0.6, 0.2, 0.7, 0.1], "g": list("aabbb")}
    row = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="log_loss").rows[0]
    assert row.reason == "the group's log loss is infinite: 1 case had probability 0 of being what it is"
    assert row.verdict == "undefined"


def test_losses_without_spread_have_no_interval() -> None:
    table = {"y": [1, 0, 0, 1, 0, 1], "s": [0.5, 0.5, 0.5, 0.7, 0.1, 0.9], "g": list("aaabbb")}
    row = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="brier", draws=99).rows[0]
    assert (row.score, row.verdict) == (0.25, "too few to tell")
    assert np.isnan([row.low, row.high, row.difference_low, row.difference_high]).all()


def test_a_mean_loss_is_tested_as_listing_every_split_does() -> None:
    """|t| of Welch over all C(8, 3) splits."""
    y, s = [1, 0, 1, 0, 1, 0, 1, 1], [0.35, 0.6, 0.5, 0.2, 0.8, 0.15, 0.9, 0.7]
    losses = np.array([(a - b) ** 2 for a, b in zip(y, s, strict=True)])

    def statistic(inside: tuple[int, ...]) -> float:
        a, b = losses[list(inside)], np.delete(losses, inside)
        return float(abs(a.mean() - b.mean()) / (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)) ** 0.5)

    every = [statistic(split) for split in combinations(range(8), 3)]
    exact = np.mean(np.array(every) >= every[0] - 1e-12)
    audit = eh.audit_scores(
        {"y": y, "s": s, "g": list("aaabbbbb")}, y_true="y", y_score="s", groups="g", metrics="brier", draws=4_999
    )
    assert abs(audit.rows[0].pvalue - exact) < 5 * audit.rows[0].error


def test_a_named_reference_is_compared_with_each_other_group_only() -> None:
    table = table_of()
    audit = eh.audit_scores(table, y_true="y", y_score="s", groups="g", metrics="auc", reference="b", draws=99)
    rows = {row.group: row for row in audit.rows}
    assert rows["b"].verdict == "reference"
    assert rows["a"].reference_n == (table["g"] == "b").sum()
    pair = {k: v[table["g"] != "c"] for k, v in table.items()}
    of_two = eh.audit_scores(pair, y_true="y", y_score="s", groups="g", metrics="auc", draws=99).rows[0]
    assert rows["a"].difference == of_two.difference
    assert "Each group is compared with b." in str(audit)


def test_each_column_may_have_a_reference_of_its_own() -> None:
    table = table_of() | {"h": np.random.default_rng(0).choice(["u", "v", "w"], 90)}
    said = {}
    for reference in ({"g": "b"}, {"g": "rest"}, {"g": "b", "h": "v"}, "rest"):
        audit = eh.audit_scores(
            table, y_true="y", y_score="s", groups=["g", "h"], metrics="auc", reference=reference, draws=9
        )
        said[str(reference)] = str(audit).splitlines()[1]
        asked = reference if isinstance(reference, dict) else {}
        for row in audit.rows:
            assert row.reference == asked.get(row.by, "rest")
            other = table[row.by] == row.reference if row.reference != "rest" else table[row.by] != row.group
            assert row.reference_n == other.sum()
    assert list(said.values()) == [
        "Each group is compared with b (g) and the rest (h).",
        "Each group is compared with all cases outside it.",
        "Each group is compared with b (g) and v (h).",
        "Each group is compared with all cases outside it.",
    ]


def test_scores_come_in_from_files_frames_generators_and_two_columns(tmp_path: Any) -> None:
    import polars as pl

    table = table_of()
    frame = pl.DataFrame(table)
    frame.write_csv(tmp_path / "d.csv")
    options: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "g", "draws": 9}
    rows = eh.audit_scores(table, **options).rows
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "d.csv"):
        assert eh.audit_scores(data, **options).rows == rows
    both = np.column_stack([1 - table["s"], table["s"]])
    assert eh.auc(table["y"], both) == eh.auc(iter(table["y"]), iter(table["s"]))


def test_the_order_of_rows_does_not_matter_and_rows_without_a_score_are_left_out() -> None:
    table = table_of()
    order = np.random.default_rng(1).permutation(90)
    options: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "g", "draws": 99}
    shuffled = {k: v[order] for k, v in table.items()}
    assert eh.audit_scores(table, **options).to_dict() == eh.audit_scores(shuffled, **options).to_dict()
    longer = {"y": [*table["y"], 1], "s": [*table["s"], None], "g": [*table["g"], "a"]}
    found = eh.audit_scores(longer, **options)
    assert found.left_out == {"y_score": 1}
    assert found.rows == eh.audit_scores(table, **options).rows
    assert "1 row without y_score left out." in str(found)


def test_a_callable_gets_the_pvalue_of_all_splits() -> None:
    """p is within 5 standard errors of the share of all C(9, 4) splits with so large a gap."""
    y, p, g = [1, 0, 1, 0, 1, 1, 0, 0, 1], [0.1, 0.7, 0.4, 0.8, 0.9, 0.8, 0.3, 0.35, 0.7], list("aaaabbbbb")

    def error(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).mean())

    audit = eh.audit_callable(error, y, p, g, draws=1_999)
    far = np.abs(np.array(y) - p)
    gaps = [abs(far[list(some)].mean() - np.delete(far, some).mean()) for some in combinations(range(9), 4)]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    row, mirror = audit.rows
    assert (row.metric, row.method) == ("error", "permutation")
    assert row.score == pytest.approx(far[:4].mean())
    assert abs(row.pvalue - exact) < 5 * row.error
    assert (row.pvalue * 2000) % 1 == pytest.approx(0, abs=1e-6)
    assert row.pvalue == row.p_adjusted == mirror.pvalue
    assert audit.to_dict() == eh.audit_callable(error, y, p, g, draws=1_999).to_dict()
    assert row.verdict == "higher"


def test_a_callable_of_scikit_learn_scores_each_group_and_its_rest() -> None:
    table = table_of()
    predicted = (table["s"] > 0.5).astype(int)
    for row in eh.audit_callable(f1_score, table["y"], predicted, table["g"], draws=19, name="F1").rows:
        inside = table["g"] == row.group
        assert row.score == f1_score(table["y"][inside], predicted[inside])
        assert row.reference_score == f1_score(table["y"][~inside], predicted[~inside])
        assert row.metric == "F1"


def test_a_callable_without_a_value_is_undefined_with_the_reason() -> None:
    def fails(y_true: Any, y_pred: Any) -> Any:
        if "bad" in y_true:
            raise ValueError("no such label\nsecond line")
        return {2: float("nan"), 3: [1, 2], 4: 0.5}.get(len(y_true), 1.0)

    labels = ["bad", "x", "x", "x", "x", "x", "x", "x", "x"]
    reasons = [row.reason for row in eh.audit_callable(fails, labels, labels, list("abbcccddd"), draws=9).rows]
    assert reasons == [
        "the group has no value: the function raised ValueError: no such label",
        "the group has no value: the function returned nan",
        "the group has no value: the function returned a value of type list, not a number",
        "the group has no value: the function returned a value of type list, not a number",
    ]
    others = eh.audit_callable(fails, labels, labels, list("aaaaabbbb"), draws=9).rows
    assert others[1].reason == "the reference has no value: the function raised ValueError: no such label"


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    def __float__(self) -> float:
        raise RuntimeError("no number")


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("0.5", "returned a value of type str, not a number"),
        (b"1", "returned a value of type bytes, not a number"),
        (None, "returned a value of type NoneType, not a number"),
        (1j, "returned a value of type complex, not a number"),
        (np.array([1.0, 2.0]), "returned a value of type ndarray, not a number"),
        (Unreadable(), "returned a value of type Unreadable, not a number"),
        (10**400, "returned a number that is too large"),
        (float("-inf"), "returned -inf"),
        (np.float32("nan"), "returned nan"),
    ],
)
def test_a_callable_may_return_anything(returned: Any, reason: str) -> None:
    rows = eh.audit_callable(lambda *_: returned, [1, 0, 1], [1, 1, 1], list("aab"), draws=9).rows
    assert rows[0].reason == f"the group has no value: the function {reason}"
    assert np.isnan([rows[0].score, rows[0].pvalue, rows[1].score]).all()


def test_a_callable_may_raise_anything() -> None:
    def fails(*_: Any) -> float:
        raise Unreadable

    reason = eh.audit_callable(fails, [1, 0, 1], [1, 1, 1], list("aab"), draws=9).rows[0].reason
    assert reason == "the group has no value: the function raised Unreadable"


@pytest.mark.parametrize("value", [True, np.float32(1), np.array(1.0), Fraction(1), 1])
def test_a_callable_may_return_any_kind_of_number(value: Any) -> None:
    row = eh.audit_callable(lambda *_: value, [1, 0, 1], [1, 1, 1], list("aab"), draws=9).rows[0]
    assert (row.score, row.pvalue, row.reason) == (1.0, 1.0, None)


def test_draws_without_a_value_count_as_extreme_and_are_said() -> None:
    def picky(y_true: Any, y_pred: Any) -> float:
        return float("nan") if 0 not in y_true else float(y_true.mean())

    audit = eh.audit_callable(picky, [0, 1, 1, 0, 9, 9, 9], [0] * 7, list("aaabbbb"), draws=199)
    row = audit.rows[0]
    assert row.undefined_draws > 60
    assert row.pvalue * 200 >= row.undefined_draws + 1
    assert f"no value in {row.undefined_draws} of 199 draws, which count as extreme" in str(audit)


def test_effective_counts_are_kishs() -> None:
    """(Σw)² / Σw², weighted shares, rounded to whole counts that add up."""
    rng = np.random.default_rng(0)
    y, p, g, w = rng.integers(0, 2, 80), rng.integers(0, 2, 80), rng.choice(["a", "b"], 80), rng.exponential(size=80)
    found = eh.effective_counts(y, p, g, w)
    for one in found.groups:
        inside = g == one.group
        size = w[inside].sum() ** 2 / (w[inside] ** 2).sum()
        assert one.effective_n == pytest.approx(size)
        assert one.design_effect == pytest.approx(inside.sum() / size)
        assert one.matrix.n == round(size)
        shares = [w[inside & (y == a) & (p == b)].sum() / w[inside].sum() for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert np.abs(np.array(one.matrix.cells) - np.array(shares) * round(size)).max() < 1
    assert [row.n for row in eh.audit_counts(found.counts, metrics="acc").rows] == [
        int(o.matrix.n) for o in found.groups
    ]
    assert "approximate" in found.method
    assert found.counts == eh.effective_counts(y, p, g, 1e-200 * w).counts


def test_equal_weights_change_nothing_and_weight_zero_leaves_a_case_out() -> None:
    y, p, g = [1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 1], list("aaabbb")
    plain = {k: eh.ConfusionMatrix.from_labels(y[s], p[s], 1) for k, s in (("a", slice(3)), ("b", slice(3, 6)))}
    assert eh.effective_counts(y, p, g, [2.5] * 6).counts == plain
    assert eh.effective_counts([*y, 1], [*p, 0], [*g, "c"], [1] * 6 + [0]).counts == plain
    several = eh.effective_counts(y, p, {"g": g, "h": list("xyxyxy")}, [1] * 6)
    assert several.by == ("g", "h")
    assert list(several.counts) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert eh.audit_counts(several.counts, by=several.by, metrics="acc").n == 6


TABLE: dict[str, Any] = {"y_true": [1, 0, 1, 0], "y_score": [0.2, 0.1, 0.8, 0.3], "groups": list("aabb")}
REFUSED: list[tuple[Any, str]] = [
    (lambda: eh.auc([1, 0], [0.1, 0.2], level=2), "level must be a number between 0 and 1; got 2"),
    (lambda: eh.auc([1, 0], [0.1, 0.2], alternative="more"),  # type: ignore[arg-type]
     "no alternative is called 'more'; known: "
     "two-sided, greater, less"),
    (lambda: eh.auc([1, 0], [0.1, "high"]), "y_score must contain numbers; got 'high'"),
    (lambda: eh.auc([1, 0, 1], [0.1, 0.3, None]), "1 row has no y_score; drop it first"),
    (lambda: eh.auc([1, 0], [0.1]), "y_true and y_score must have the same length; got 2 and 1"),
    (lambda: eh.auc_test([1], [0.1, 0.2], [1], [0.1]), "y_true and y_score must have the same length; got 1 and 2"),
    (lambda: eh.auc_test([], [], [1], [0.1]), "y_true must contain at least one label; got none"),
    (lambda: eh.audit_scores(None, **TABLE, draws=0), "draws must be a whole number above 0; got 0"),
    (lambda: eh.audit_scores(None, **TABLE, seed=-1), "seed must be a whole number of at least 0; got -1"),
    (lambda: eh.audit_scores(None, **TABLE, margin=0), "margin must be a number above 0; got 0"),
    (lambda: eh.audit_scores(None, **TABLE, metrics=["tpr"]), "no metric of scores is called 'tpr'; known: auc, "
     "brier, log_loss"),
    (lambda: eh.audit_scores(None, **TABLE, metrics=[max]),  # type: ignore[list-item]
     "metrics must be names; pass a function of your "
     "own to audit_callable"),
    (lambda: eh.audit_scores(None, **TABLE, metrics=[]), "metrics must contain at least one metric"),
    (lambda: eh.audit_scores(None, **TABLE, reference={"grupo": "a"}), "no group column is called 'grupo'; did you "
     "mean 'group'?"),
    (lambda: eh.audit_scores(None, **TABLE, reference="c"), "no group of 'group' is called 'c'; known: a, b"),
    (lambda: eh.audit_scores(None, **(TABLE | {"groups": list("aaaa")})), "'group' has only one group ('a'), so "
     "there is nothing to compare it with"),
    (lambda: eh.audit_scores(None, **(TABLE | {"y_score": [1, 2, 3, 4]})), "y_score must contain probabilities "
     "from 0 to 1 for brier and log_loss; got 2: pass metrics='auc' for other scores"),
    (lambda: eh.audit_callable("acc", [1], [1], [1]), "metric must be a function of y_true and y_pred; got 'acc'"),  # type: ignore[arg-type]
    (lambda: eh.audit_callable(max, [1, 0], [1], list("ab")), "columns must have the same length; got "
     "y_true 2, y_pred 1, group 2"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [1, -2]), "weights must be finite and at least 0; got -2"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [0, 0]), "weights must not all be 0"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [1, float("nan")]), "weights must be finite and at least "
     "0; got nan"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [1, float("inf")]), "weights must be finite and at least "
     "0; got inf"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [1e308, 1e308]), "weights must add up to a finite number; "
     "divide them by a common factor"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), np.array([1j, 1])), "weights must contain numbers that "
     "fit into a float64"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), [10**400, 1]), "weights must contain numbers that fit "
     "into a float64"),
    (lambda: eh.effective_counts([1, 0], [1, 0], list("ab"), ["x", 1]),  # type: ignore[list-item]
     "weights must contain numbers that fit into a float64"),
    (lambda: eh.effective_counts([1, 0], [1, None], list("ab"), [1, 1]), "y_pred contains 1 missing "
     "value; drop that row first"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_bad_input_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        call()
    assert str(found.value) == sentence
