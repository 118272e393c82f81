"""Undefined cases: their number and their probability, against listing every matrix."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from matrices import matrix
from oracle import ONE_GROUP, TWO_GROUPS, dirichlet_multinomial, hypergeometric, matrices, multinomial, refusal
from pytest import approx

from evenhand import ConfusionMatrix, count_matrices, count_undefined, undefined_probability, undefined_table
from evenhand.distributions import LawName
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.metrics.undefined_sets import sum_of_gcds


def undefined_matrices(key: str, n: int) -> list[tuple[int, ...]]:
    return [c for c in matrices(n) if ONE_GROUP[key](*c) is None]


def test_counts_are_what_listing_every_matrix_or_pair_gives() -> None:
    for key in ONE_GROUP:
        for n in (*range(9), 16):
            count = count_undefined(key, n)
            assert count == len(undefined_matrices(key, n)), (key, n)
            assert undefined_probability(key, n) == approx(count / count_matrices(n), rel=1e-12)
    for key, score in TWO_GROUPS.items():
        for n1, n2 in ((0, 1), (1, 1), (1, 3), (3, 2)):
            pairs = [score(g, r) for g in matrices(n1) for r in matrices(n2)]
            assert count_undefined(key, (n1, n2)) == sum(one is None for one in pairs), key


def test_a_ratio_is_undefined_where_its_denominator_vanishes() -> None:
    """Every ratio over two groups, by brute force: the denominator must be defined and not 0."""
    for m in ONE_GROUP_METRICS:
        if m.zero_if_empty is None:
            continue
        value = ONE_GROUP[m.key]
        undefined = sum(value(*c) is None for c in matrices(4)), sum(not value(*c) for c in matrices(4))
        total = count_matrices(4)
        expected = total**2 - (total - undefined[0]) * (total - undefined[1])
        assert count_undefined(f"{m.key}_ratio", (4, 4)) == expected, m.key


def test_prevalence_threshold_holes_follow_the_gcd_sum_at_any_size() -> None:
    """E1: 2n + 1 + sum of gcd(k, n)."""
    for n in (1, 2, 97, 360, 5040):
        assert sum_of_gcds(n) == sum(np.gcd(np.arange(1, n + 1), n).tolist())
        assert count_undefined("pt", n) == 2 * n + 1 + sum_of_gcds(n)
    p, q, r = 997, 998_244_353, 999_983
    assert sum_of_gcds(p * q) == (2 * p - 1) * (2 * q - 1)
    assert sum_of_gcds(r**2) == r * (3 * r - 2)
    assert count_undefined("pt", 10**12) == 2 * 10**12 + 1 + 2**11 * 14 * 5**11 * 53


@settings(max_examples=12, deadline=None)
@given(w=st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any))
def test_probability_is_the_weight_of_the_undefined_matrices(w: list[int]) -> None:
    n, ref = 4, ConfusionMatrix.from_array(w)
    alpha = [Fraction(1, 2) + x for x in w]
    weights: dict[LawName, Any] = {
        "multinomial": lambda c: multinomial(c, w),
        "predictive": lambda c: dirichlet_multinomial(c, alpha),
    }
    if ref.n >= n:
        weights["without_replacement"] = lambda c: hypergeometric(c, w)
    for law, weight in weights.items():
        weight_of: dict[Any, Any] = {c: weight(c) for c in matrices(n)}
        for key in ONE_GROUP:
            expected = float(sum((weight_of[c] for c in undefined_matrices(key, n)), Fraction(0)))
            assert undefined_probability(key, n, ref, law=law) == approx(expected, rel=1e-11, abs=1e-15), (key, law)


def test_two_groups_are_undefined_if_either_is() -> None:
    w1, w2 = [3, 1, 2, 4], [1, 0, 5, 2]
    pairs = {(g, r): multinomial(g, w1) * multinomial(r, w2) for g in matrices(3) for r in matrices(2)}
    references = [ConfusionMatrix.from_array(w1), ConfusionMatrix.from_array(w2)]
    for key, score in TWO_GROUPS.items():
        expected = sum((p for (g, r), p in pairs.items() if score(g, r) is None), Fraction(0))
        assert undefined_probability(key, (3, 2), references) == approx(float(expected), rel=1e-12, abs=1e-15), key
    # E8: 0.626 at n = 5 with the COMPAS non-Black reference.
    assert undefined_probability("tpr", 5, matrix(116, 177, 554, 2429)) == approx(0.626, abs=5e-4)


def test_table_1_puts_metrics_that_are_undefined_equally_often_together() -> None:
    """E1 and E3: 113 matrices for PT and 764,841 pairs for TE, where the paper has at most 50 and 461."""
    rows = {row.metrics[0]: row for row in undefined_table(20)}

    assert rows["tpr"].metrics == ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for")
    assert [rows[k].growth for k in ("acc", "tpr", "f1_original", "te", "pt")] == [
        "Θ(1)", "Θ(n)", "Θ(n²)", "Θ(n⁵)", "Θ(n log n) on average",
    ]  # fmt: skip
    assert undefined_table(20, "pt_difference")[0].growth == "Θ(n⁴ log n) on average"
    assert rows["te"].count == 764841
    assert rows["te"].share == approx(764841 / 1771**2)
    assert rows["pt"].to_dict() == {
        "metrics": ["pt"], "count": 113, "total": 1771, "growth": "Θ(n log n) on average", "probability": None,
        "share": 113 / 1771,
    }  # fmt: skip


def test_counts_and_probabilities_stay_cheap_at_any_size_and_are_refused_beyond() -> None:
    assert undefined_probability("pt", 10**12) == approx(count_undefined("pt", 10**12) / count_matrices(10**12))
    assert 0 < undefined_probability("pt", 10**6, matrix(1, 1, 1, 1)) < 1e-4
    assert count_undefined("mcc", 10**400) == 4 * 10**400
    assert undefined_table(10**15, "mcc")[0].count == 4 * 10**15
    factors = "counting equal rates needs the prime factors of n, which must be at most 1e12; got 10,000,000,000,000"
    assert refusal(count_undefined, "pt", 10**13) == f"TooLarge: {factors}"
    limit = "n must be at most 1e15; got 10,000,000,000,000,000,000"
    for call in (undefined_table, partial(undefined_probability, "tpr"), partial(undefined_table, metrics="tpr")):
        assert refusal(call, 10**19) == f"TooLarge: {limit}"


def test_what_cannot_be_meant_is_explained() -> None:
    sums = "the four probabilities tp, fn, fp, tn must sum to 1; got"
    calls = {
        "n of te must be a pair (n1, n2), one per group; got 5": lambda: count_undefined("te", 5),
        "n of tpr must be one number; got (5, 5)": lambda: count_undefined("tpr", (5, 5)),
        f"{sums} 10; pass counts as a ConfusionMatrix": lambda: undefined_probability("tpr", 5, [1, 2, 3, 4]),
        f"{sums} 0.9": lambda: undefined_probability("tpr", 5, [0.1, 0.2, 0.3, 0.3]),
    }
    for sentence, call in calls.items():
        assert refusal(call) == f"InvalidInput: {sentence}"
