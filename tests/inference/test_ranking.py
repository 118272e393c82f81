"""Areas under the ROC curve, Brier scores and log losses: their laws, their intervals, and tests of two groups."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import hypergeom, mannwhitneyu, norm, t as t_law, ttest_ind
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import evenhand as eh
from evenhand.inference import RankingGap, ranking_gap, ranking_score
from evenhand.inference.permutation import Effort
from evenhand.ranking import auc, auc_test

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
    found = auc([label for label, _ in cases], [score for _, score in cases], alternative=alternative)
    assert found.method == "exact"
    assert found.error is None
    assert found.pvalue == pytest.approx(float(listed_pvalue(cases, alternative)), rel=1e-12)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (9, 2), (12, 20), (40, 30)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_without_ties_the_test_of_chance_is_scipys(m: int, n: int, alternative: Any) -> None:
    rng = np.random.default_rng(m + n)
    scores, labels = rng.permutation(m + n), np.repeat([1, 0], [m, n])
    found = auc(labels, scores, alternative=alternative)
    expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative=alternative, method="exact")
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.estimate == pytest.approx(expected.statistic / (m * n), rel=1e-12)


def test_two_large_classes_get_a_labelled_normal_approximation_with_ties() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [300, 2000])
    scores = np.round(rng.normal(size=2300) + 0.1 * labels, 1)
    for alternative in ("two-sided", "greater", "less"):
        found = auc(labels, scores, alternative=alternative)
        expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative=alternative, method="asymptotic")
        assert found.method == "normal approximation"
        assert found.error is None
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
    found = auc([label != bool(most) for label in labels], scores, alternative="less" if most else "greater")
    assert (found.method, found.error) == ("exact", None)
    assert found.pvalue == pytest.approx(float(expected), rel=1e-10)


def test_scores_of_decisions_have_a_hypergeometric_law_at_any_size() -> None:
    """P(at least x of m positives are among the h cases with the higher score), also far out in the tail."""
    for m, n, high, x in ((40, 200_000, 100_040, 40), (500, 700, 300, 180), (700, 500, 300, 180), (3, 4, 4, 1)):
        labels = np.repeat([1, 0], [m, n])
        scores = np.concatenate([np.arange(m) < x, np.arange(n) < high - x]).astype(int)
        found = auc(labels, scores, alternative="greater")
        assert found.method == "exact"
        assert found.pvalue == pytest.approx(hypergeom.sf(x - 1, m + n, high, m), rel=1e-9)
        assert auc(labels, -scores, alternative="less").pvalue == pytest.approx(found.pvalue, rel=1e-12)


def test_scores_that_are_all_equal_say_nothing() -> None:
    for cases in (1, 3, 700, 20_000):
        found = auc([0, 1] * cases, [0.5] * 2 * cases)
        assert (found.estimate, found.pvalue, found.method) == (0.5, 1.0, "exact")


@pytest.mark.parametrize("few", [1, 0])
def test_a_few_cases_beside_very_many_get_a_simulated_pvalue(few: int) -> None:
    """One case of a class at rank r of N: P(as extreme) is a count of ranks."""
    labels = np.full(40_000, 1 - few)
    labels[39_000] = few
    found = auc(labels, np.arange(40_000))
    assert found.method == "permutation, 99,999 draws"
    assert found.error is not None
    assert abs(found.pvalue - 2 * 1000 / 40_000) < 5 * found.error < 0.005


def test_simulated_choices_of_positives_are_without_replacement() -> None:
    """45 of 445 cases: with replacement the rank sum would have a variance larger by 11 %."""
    rng = np.random.default_rng(4)
    labels = np.repeat([1, 0], [45, 400])
    scores = rng.permutation(445) + 45 * labels
    scores = np.argsort(np.argsort(scores, kind="stable"))
    found = auc(labels, scores, alternative="greater")
    expected = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative="greater", method="asymptotic")
    assert found.method == "permutation, 99,999 draws"
    assert 0.01 < expected.pvalue < 0.1
    assert found.error is not None and abs(found.pvalue - expected.pvalue) < 4 * found.error


@given(cases=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_area_is_scikit_learns(cases: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in cases], [score for _, score in cases]
    found = auc(labels, scores, positive=True)
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
    found = auc([1] * m + [0] * n, np.r_[plus, minus], level=0.9)
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
        found = auc([1] * 5 + [0] * 10, np.r_[rng.normal(size=5) + shift, rng.normal(size=10)])
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
    found = auc_test(y, s, y2, s2, draws=4_999)
    assert found.method == "permutation"
    exact = sum(gap >= gaps[0] for gap in gaps) / len(gaps)
    assert 0.01 < exact < 0.5
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error
    assert found.difference == pytest.approx(found.score - found.reference_score)
    assert found.low < found.difference < found.high
    assert found == auc_test(y, s, y2, s2, draws=4_999)
    assert found.pvalue != auc_test(y, s, y2, s2, draws=4_999, rng=1).pvalue


def test_two_areas_are_compared_by_their_studentised_gap() -> None:
    """|A − B| / √(V(A) + V(B)) over all exchanges within classes, V by DeLong plus 1 / (4 m n)."""
    plus, minus = np.array([0.5, 0.8, 0.4, 1.0, 0.9, 0.3]), np.array([0.0, 0.2, 0.6, 0.1, 0.7])

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
    found = auc_test(labels, [*plus[:3], *minus[:2]], others, [*plus[3:], *minus[2:]], draws=4_999)
    # Of the gaps alone, 71 % are as large.
    assert exact == pytest.approx(0.44)
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error


def test_comparing_areas_rejects_true_nulls_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    labels, other = [1] * 6 + [0] * 6, [1] * 12 + [0] * 9
    rejected = sum(
        auc_test(labels, rng.normal(size=12) + labels, other, rng.normal(size=21) + other, draws=99).pvalue <= 0.1
        for _ in range(300)
    )
    assert 0.05 < rejected / 300 < 0.16


# Large groups

SLOW = 1_000
"""So few values may be permuted that groups of 100 cases have approximations."""


def compared(
    key: Any, y: Any, s: Any, y2: Any, s2: Any, *, draws: int = 999, rng: int = 0, effort: Effort | None = None
) -> RankingGap:
    """A group beside a reference, with limits of its own."""
    member = np.repeat([True, False], [len(y), len(y2)])
    labels, scores = np.r_[y, y2].astype(bool), np.r_[s, s2].astype(float)
    how: dict[str, Any] = {"level": 0.95, "draws": draws, "rng": np.random.default_rng(rng)}
    return ranking_gap(key, member, labels, scores, **how, effort=effort or Effort())


@pytest.mark.parametrize("key", ["auc", "brier", "log_loss"])
def test_a_small_group_beside_many_others_gets_the_pvalue_that_permuting_all_gives(key: str) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 700)
    s = np.round(rng.random(700) * 0.7 + 0.3 * y, 2)
    s[:130] = np.round(s[:130] - 0.12 * (y[:130] - 0.5), 2)
    s = np.clip(s, 0.01, 0.99)
    columns = y[:130], s[:130], y[130:], s[130:]
    drawn, permuted = (compared(key, *columns, draws=2_999, effort=Effort(few=few)) for few in (500, 10_000))
    assert drawn.method == permuted.method == "permutation"
    assert drawn.pvalue < 0.9
    assert abs(drawn.pvalue - permuted.pvalue) < 5 * 2**0.5 * max(permuted.error or 0, 1 / 3000)


@pytest.mark.parametrize(("key", "who"), [("auc", "DeLong"), ("brier", "Welch"), ("log_loss", "Welch")])
def test_too_much_work_gets_a_labelled_approximation(key: str, who: str) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 600)
    s = np.clip(0.3 * y + 0.7 * rng.random(600), 0.01, 0.99)
    columns = y[:200], s[:200], y[200:], s[200:]
    slow = compared(key, *columns, draws=1_999)
    fast = compared(key, *columns, draws=1_999, effort=Effort(most=SLOW))
    assert (slow.method, fast.method, fast.error) == ("permutation", f"{who}, approximate", None)
    assert fast.pvalue == pytest.approx(slow.pvalue, abs=0.05)


@pytest.mark.parametrize("others", [110, 700])
def test_the_approximation_of_two_mean_losses_is_welchs(others: int) -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 100 + others)
    s = np.clip(0.3 * y + 0.6 * rng.random(100 + others), 0.01, 0.99)
    losses = (s - y) ** 2
    found = compared("brier", y[:100], s[:100], y[100:], s[100:], effort=Effort(most=SLOW))
    assert found.method == "Welch, approximate"
    assert found.pvalue == pytest.approx(ttest_ind(losses[:100], losses[100:], equal_var=False).pvalue, rel=1e-9)
    low, high = (np.exp(np.log(losses[:100].mean()) + sign * t_law.ppf(0.975, 99) * losses[:100].std(ddof=1) / 10
                        / losses[:100].mean()) for sign in (-1, 1))  # fmt: skip
    assert (found.group.low, found.group.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("others", [110, 700])
def test_the_normal_approximation_of_two_areas_is_delongs(others: int) -> None:
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
    found = compared("auc", y, s, y2, s2, effort=Effort(most=SLOW))
    assert found.method == "DeLong, approximate"
    assert found.pvalue == pytest.approx(2 * norm.sf(abs(area - other) / (own + theirs) ** 0.5), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 150, 20, 250), (150, 4, 250, 30), (2, 250, 300, 9)])
def test_large_groups_with_few_cases_of_a_class_are_not_compared_by_a_normal_law(
    sizes: tuple[int, int, int, int],
) -> None:
    """The approximation is close to permuting all, whichever class differs, and true nulls are rejected as seldom."""
    rng = np.random.default_rng(0)
    y, y2 = (np.repeat([1, 0], pair) for pair in (sizes[:2], sizes[2:]))
    drawn = [(rng.normal(size=len(y)) + y, rng.normal(size=len(y2)) + y2) for _ in range(120)]
    for i in range(4):
        s, s2 = drawn[i][0] + 0.9 * (y == i % 2), drawn[i][1]
        expected = auc_test(y, s, y2, s2, draws=1_999)
        found = compared("auc", y, s, y2, s2, draws=1_999, effort=Effort(most=SLOW))
        assert expected.method == "permutation"
        assert found.method == "permutation of few cases, approximate"
        assert found.group.score == expected.score
        assert found.pvalue == pytest.approx(expected.pvalue, abs=0.05)
        assert found.error is not None and 0 < found.error < 0.02
    fast = Effort(most=SLOW)
    rejected = sum(
        compared("auc", y, s, y2, s2, draws=99, rng=i, effort=fast).pvalue <= 0.1 for i, (s, s2) in enumerate(drawn)
    )
    assert 0.02 < rejected / 120 < 0.2


def test_a_small_group_that_is_told_apart_perfectly_is_compared_by_its_standard_error() -> None:
    """Random groups with so large a gap are far less certain of it; beside many others as when all are permuted."""
    rng = np.random.default_rng(0)
    y2 = np.repeat([1, 0], 300)
    y, s, s2 = np.repeat([1, 0], 6), np.r_[2 + np.arange(6) / 100, -1 - np.arange(6) / 100], rng.normal(size=600)
    found = [compared("auc", y, s, y2, s2 + 0.8 * y2, effort=Effort(few=few)) for few in (500, 10_000)]
    assert [one.method for one in found] == ["permutation"] * 2
    assert max(one.pvalue for one in found) < 0.01
    assert found[0] != found[1]


def test_a_few_positives_that_agree_are_compared_by_their_standard_error() -> None:
    rng = np.random.default_rng(0)
    y, y2 = np.repeat([1, 0], [5, 200]), np.repeat([1, 0], [40, 300])
    s, s2 = rng.normal(size=205), rng.normal(size=340) + y2
    s[:5] = 2.2 + np.arange(5) / 100
    exact = compared("auc", y, s, y2, s2)
    found = compared("auc", y, s, y2, s2, effort=Effort(most=SLOW))
    assert (exact.method, found.method) == ("permutation", "permutation of few cases, approximate")
    assert max(exact.pvalue, found.pvalue) < 0.015


def test_a_single_case_of_another_class_on_either_side_is_drawn_on_its_own_side() -> None:
    """1 + 200 cases against 250 + 1: p is near that of all 251 x 201 exchanges, whose gaps are skewed."""
    rng = np.random.default_rng(2)
    plus, minus = rng.normal(size=251) + 2.3, rng.normal(size=201)
    # The group's positive has a low score and the reference's negative a usual one.
    plus = np.r_[np.quantile(plus, 0.03), plus[1:]]
    below = (plus[:, None] > minus).astype(float)
    rows, columns = below.sum(axis=1)[:, None], below.sum(axis=0)[None, :]
    gaps = np.abs((rows - below) / 200 - (columns - below) / 250)
    exact = np.mean(gaps >= gaps[0, 200] - 1e-12)
    y, y2 = np.repeat([1, 0], [1, 200]), np.repeat([1, 0], [250, 1])
    s, s2 = np.r_[plus[0], minus[:200]], np.r_[plus[1:], minus[200]]
    found = compared("auc", y, s, y2, s2, draws=4_999, effort=Effort(most=SLOW))
    assert found.method == "permutation of few cases, approximate"
    assert 0.1 < exact < 0.3
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error


def test_a_group_of_one_case_is_never_compared_by_an_approximation() -> None:
    """p is within 5 standard errors of the share of cases that are as far from the mean of the others."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    s = np.clip(0.3 * y + 0.6 * rng.random(60), 0.01, 0.99)
    losses = (s - y) ** 2
    gaps = [abs(losses[i] - np.delete(losses, i).mean()) for i in range(60)]
    found = compared("brier", y[:1], s[:1], y[1:], s[1:], draws=2_999, effort=Effort(most=100))
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    assert found.method == "permutation"
    assert 0.05 < exact < 0.95
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error
    y = np.array([0, 1] * 20)
    for key in ("auc", "brier", "log_loss"):
        assert compared(key, y[:6], s[:6], y[6:], s[6:40], effort=Effort(most=100)).method == "permutation"


# Losses


def table_of(n: int = 90, seed: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y, inside = rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n) == "a"
    return y, np.clip(np.round(0.4 * y + 0.6 * rng.random(n), 3), 0.001, 0.999), inside


@pytest.mark.parametrize(
    ("key", "theirs"), [("auc", roc_auc_score), ("brier", brier_score_loss), ("log_loss", log_loss)]
)
def test_the_scores_are_scikit_learns(key: Any, theirs: Any) -> None:
    y, s, inside = table_of()
    found = compared(key, y[inside], s[inside], y[~inside], s[~inside], draws=9)
    for side, of in ((inside, found.group), (~inside, found.reference)):
        assert of.score == pytest.approx(theirs(y[side], s[side]), rel=1e-9)
        assert of.low < of.score < of.high
        assert of == ranking_score(key, y[side].astype(bool), s[side], 0.95)
    assert found.gap == found.group.score - found.reference.score


def test_the_interval_of_a_gap_is_made_of_those_of_both_sides() -> None:
    """Newcombe's square-and-add: low = d - √((S - l)² + (u' - S')²), high = d + √((u - S)² + (S' - l')²)."""
    y, s, inside = table_of()
    for key in ("auc", "brier", "log_loss"):
        found = compared(key, y[inside], s[inside], y[~inside], s[~inside], draws=9)
        (score, low, high, *_), (other, other_low, other_high, *_) = found.group, found.reference
        below = ((score - low) ** 2 + (other_high - other) ** 2) ** 0.5
        above = ((high - score) ** 2 + (other - other_low) ** 2) ** 0.5
        assert (found.low, found.high) == pytest.approx((found.gap - below, found.gap + above), rel=1e-12)


def test_a_group_seen_from_the_other_side_has_the_same_test() -> None:
    y, s, inside = table_of()
    for key in ("auc", "brier", "log_loss"):
        one = compared(key, y[inside], s[inside], y[~inside], s[~inside], draws=1_999)
        other = compared(key, y[~inside], s[~inside], y[inside], s[inside], draws=1_999)
        assert (one.gap, one.low, one.high) == pytest.approx((-other.gap, -other.high, -other.low), rel=1e-12)
        assert one.error is not None and one.pvalue == pytest.approx(other.pvalue, abs=5 * 2**0.5 * one.error)


def test_losses_that_are_all_equal_are_no_more_extreme_than_others() -> None:
    y, s = [1, 0] * 10, [0.7, 0.3] * 10
    for key in ("brier", "log_loss"):
        assert compared(key, y[:6], s[:6], y[6:], s[6:], draws=99).pvalue == 1.0


def test_without_a_class_there_is_no_area_and_without_cases_no_loss() -> None:
    found = compared("auc", [1, 1], [0.2, 0.3], [1, 0, 1], [0.4, 0.1, 0.9])
    assert np.isnan([found.gap, found.low, found.high, found.pvalue]).all()
    assert (found.method, found.error, found.reason) == ("none", None, "the group has no actual negatives")
    mirrored = compared("auc", [1, 0, 1], [0.4, 0.1, 0.9], [0, 0], [0.2, 0.3])
    assert mirrored.reason == "the reference has no actual positives"
    assert mirrored.group.score == 1.0
    nobody = compared("auc", [], [], [1, 0], [0.4, 0.1])
    assert nobody.reason == "the group has no actual positives and no actual negatives"
    assert compared("brier", [], [], [1, 0], [0.4, 0.1]).reason == "the group has no cases"


def test_an_infinite_log_loss_is_undefined_with_its_reason() -> None:
    y, s = [1, 0, 1, 0], [0.0, 1.0, 0.5, 0.4]
    found = compared("log_loss", y, s, [1, 0], [0.6, 0.3])
    assert found.reason == "the group's log loss is infinite: 2 cases had probability 0 of being what they are"
    one = compared("log_loss", [1, 0], [0.6, 0.3], y[1:], s[1:])
    assert one.reason == "the reference's log loss is infinite: 1 case had probability 0 of being what it is"
    assert compared("brier", y, s, [1, 0], [0.6, 0.3]).reason is None


def test_losses_without_spread_have_no_interval() -> None:
    found = compared("brier", [1, 0, 0], [0.5, 0.5, 0.5], [1, 0, 1], [0.7, 0.1, 0.9], draws=99)
    assert (found.group.score, found.reason) == (0.25, None)
    assert found.group.method == "none: fewer than two cases, or losses without spread"
    assert np.isnan([found.group.low, found.group.high, found.low, found.high]).all()


def test_the_interval_of_a_brier_score_ends_at_1_and_that_of_a_log_loss_does_not() -> None:
    """Two cases with losses of 0.81 and 0.0001; the t interval of the logarithm reaches far beyond."""
    y, s = np.array([True, False]), np.array([0.1, 0.01])
    brier, log = (ranking_score(key, y, s, 0.95) for key in ("brier", "log_loss"))
    losses = np.array([0.81, 0.0001])
    factor = np.exp(t_law.ppf(0.975, 1) * losses.std(ddof=1) / 2**0.5 / losses.mean())
    assert losses.mean() * factor > 1000
    assert (brier.low, brier.high) == pytest.approx((losses.mean() / factor, 1.0), rel=1e-9)
    assert log.high > 1000


def test_a_mean_loss_is_tested_as_listing_every_split_does() -> None:
    """|t| of Welch over all C(8, 3) splits."""
    y, s = [1, 0, 1, 0, 1, 0, 1, 1], [0.35, 0.6, 0.5, 0.2, 0.8, 0.15, 0.9, 0.7]
    losses = np.array([(a - b) ** 2 for a, b in zip(y, s, strict=True)])

    def statistic(inside: tuple[int, ...]) -> float:
        a, b = losses[list(inside)], np.delete(losses, inside)
        return float(abs(a.mean() - b.mean()) / (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)) ** 0.5)

    every = [statistic(split) for split in combinations(range(8), 3)]
    exact = np.mean(np.array(every) >= every[0] - 1e-12)
    found = compared("brier", y[:3], s[:3], y[3:], s[3:], draws=4_999)
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error


# Plain arrays


def test_labels_and_scores_come_as_generators_and_as_two_columns() -> None:
    y, s, _ = table_of()
    both = np.column_stack([1 - s, s])
    assert auc(y, both) == auc(iter(y), iter(s)) == auc(y, s)


def test_the_source_of_random_numbers_is_recorded_if_it_is_an_int() -> None:
    labels = np.zeros(40_000, dtype=int)
    labels[39_000] = 1
    drawn = auc(labels, np.arange(40_000), rng=3)
    assert (drawn.rng, auc(labels, np.arange(40_000), rng=np.random.default_rng(3)).rng) == (3, None)
    assert auc([0, 1], [0.1, 0.2], rng=3).rng is None
    columns = [0, 1, 1], [0.1, 0.9, 0.3], [0, 1, 0, 1], [0.2, 0.6, 0.4, 0.3]
    found = auc_test(*columns, draws=np.int64(99), rng=np.int64(3))  # type: ignore[arg-type]
    assert (found.rng, found.draws) == (3, 99)
    assert found.pvalue == auc_test(*columns, draws=99, rng=np.random.default_rng(3)).pvalue
    assert auc_test(*columns, draws=99, rng=None).rng is None


def test_a_comparison_prints_what_it_found_and_how() -> None:
    found = auc_test([0, 1, 0, 1], [0.2, 0.6, 0.4, 0.3], [0, 1, 0, 1, 1], [0.1, 0.9, 0.2, 0.7, 0.8], draws=99)
    assert str(found) == (
        "AUC of a group of 4 against a reference of 5\n"
        "  score       0.750\n"
        "  reference   1.000\n"
        f"  difference  -0.250, 95 % interval {found.low:.3f} to {found.high:.3f}, approximate\n"
        f"  p-value     = {found.pvalue:.3f} (two-sided)\n"
        f"  method      permutation, 99 draws, standard error {found.error:.2g}"
    )


REFUSED: list[tuple[Any, str]] = [
    (lambda: auc([1, 0], [0.1, 0.2], level=2), "level must lie between 0 and 1; got 2"),
    (lambda: auc([1, 0], [0.1, 0.2], alternative="more"),  # type: ignore[arg-type]
     "no alternative is called 'more'; known: two-sided, greater, less"),
    (lambda: auc([1, 0], [0.1, 0.2], rng=-1),
     "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
    (lambda: auc([1, 0], [0.1, "high"]), "y_score must contain numbers; got 'high'"),
    (lambda: auc([1, 0, 1], [0.1, 0.3, None]), "1 row has no y_score; drop it first"),
    (lambda: auc([1, 0, None, None], [0.1, 0.3, 0.2, None]), "1 row has no y_true; drop it first"),
    (lambda: auc([1, 0], [0.1]), "y_true and y_score must have the same length; got 2 and 1"),
    (lambda: auc(7, [0.1]),  # type: ignore[arg-type]
     "y_true must be a sequence of values; got 7"),
    (lambda: auc_test([1], [0.1, 0.2], [1], [0.1]), "y_true and y_score must have the same length; got 1 and 2"),
    (lambda: auc_test([1], [0.1], [1], [0.1, 0.2]),
     "reference_true and reference_score must have the same length; got 1 and 2"),
    (lambda: auc_test([], [], [1], [0.1]), "y_true must contain at least one label; got none"),
    (lambda: auc_test([1], [0.1], "ab", [0.1, 0.2]), "reference_true must be one column of values"),
    (lambda: auc_test([1, 0], [0.1, 0.2], [1, 0], [0.1, 0.2], draws=0), "draws must be a whole number above 0; got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_bad_input_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as found:
        call()
    assert str(found.value) == sentence
