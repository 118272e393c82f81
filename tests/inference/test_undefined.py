"""Undefined cases: their number and their probability, against listing every matrix."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP, TWO_GROUPS, dirichlet_multinomial, golden, hypergeometric, matrices, multinomial
from pytest import approx

from evenhand import ConfusionMatrix, count_matrices, count_undefined, metric, undefined_probability, undefined_table
from evenhand.errors import InvalidInput, TooLarge
from evenhand.metrics import CATALOGUE
from evenhand.metrics.products import sum_of_gcds

one_group = pytest.mark.parametrize("key", ONE_GROUP)
two_groups = pytest.mark.parametrize("key", TWO_GROUPS)
GOLDEN = {
    "JRM": ["tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for"],
    "binomial": ["acc", "prev", "ppr", "inacc", "nprev", "pnr"],
    "F1_simplified": ["f1"],
    "F1_original": ["f1_original"],
    "MCC": ["mcc"],
    "MCC_with_limits": ["mcc_limit"],
    "PT": ["pt"],
    "PT_simplified_formula": ["pt_limit"],
    "MB": ["mb"],
    "TE_one_group": ["te_part"],
}


def holes(key: str, n: int) -> list[tuple[int, ...]]:
    return [c for c in matrices(n) if ONE_GROUP[key](*c) is None]


@pytest.mark.parametrize("case", golden("metrics")["hole_counts"], ids=lambda c: f"n={c['n']}")
def test_golden_hole_counts(case: dict[str, Any]) -> None:
    for name, keys in GOLDEN.items():
        for key in keys:
            assert count_undefined(key, case["n"]) == case[name], key


@pytest.mark.parametrize("case", golden("metrics")["treatment_equality_pairs"], ids=lambda c: f"{c['n1']},{c['n2']}")
def test_golden_treatment_equality_pairs(case: dict[str, Any]) -> None:
    """E3: TE is a function of a pair, and its holes are counted in pairs."""
    n = case["n1"], case["n2"]
    assert count_undefined("te", n) == case["exact"]
    assert count_matrices(n[0]) * count_matrices(n[1]) == case["total_pairs"]


@one_group
def test_counts_are_what_listing_every_matrix_gives(key: str) -> None:
    for n in (*range(11), 30):
        assert count_undefined(key, n) == len(holes(key, n))


@two_groups
def test_counts_of_pairs_are_what_listing_every_pair_gives(key: str) -> None:
    for n1, n2 in ((0, 1), (1, 1), (1, 3), (3, 2)):
        listed = [(g, r) for g in matrices(n1) for r in matrices(n2) if TWO_GROUPS[key](g, r) is None]
        assert count_undefined(key, (n1, n2)) == len(listed)


def test_a_ratio_is_undefined_where_its_denominator_vanishes() -> None:
    """Every ratio over two groups, by brute force: the denominator must be defined and not 0."""
    for m in CATALOGUE.one_group:
        if m.vanishes is None:
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
    p, q = 1_000_003, 998_244_353
    assert sum_of_gcds(p * q) == (2 * p - 1) * (2 * q - 1)
    assert sum_of_gcds(p**2) == p * (3 * p - 2)
    assert count_undefined("pt", 10**12) == 2 * 10**12 + 1 + 2**11 * 14 * 5**11 * 53


probabilities = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def expected_probability(key: str, n: int, weight: Any) -> float:
    return float(sum((weight(c) for c in holes(key, n)), Fraction(0)))


@one_group
@settings(max_examples=30)
@given(w=probabilities)
def test_probability_is_the_weight_of_the_holes(key: str, w: list[int]) -> None:
    n, ref = 5, ConfusionMatrix(*w)
    alpha = [Fraction(1, 2) + x for x in w]

    assert undefined_probability(key, n, ref) == approx(
        expected_probability(key, n, lambda c: multinomial(c, w)), rel=1e-12, abs=1e-15
    )
    assert undefined_probability(key, n, ref, law="predictive") == approx(
        expected_probability(key, n, lambda c: dirichlet_multinomial(c, alpha)), rel=1e-12
    )
    if ref.n >= n:
        assert undefined_probability(key, n, ref, law="without_replacement") == approx(
            expected_probability(key, n, lambda c: hypergeometric(c, w)), rel=1e-11, abs=1e-15
        )


@one_group
def test_under_the_uniform_law_probability_is_the_share_of_holes(key: str) -> None:
    for n in (1, 2, 7, 12):
        assert undefined_probability(key, n) == approx(count_undefined(key, n) / count_matrices(n), rel=1e-12)


@two_groups
def test_two_groups_are_undefined_if_either_is(key: str) -> None:
    w1, w2 = [3, 1, 2, 4], [1, 0, 5, 2]
    expected = sum(
        (
            multinomial(g, w1) * multinomial(r, w2)
            for g in matrices(3)
            for r in matrices(2)
            if TWO_GROUPS[key](g, r) is None
        ),
        Fraction(0),
    )
    found = undefined_probability(key, (3, 2), [ConfusionMatrix(*w1), ConfusionMatrix(*w2)])
    assert found == approx(float(expected), rel=1e-12, abs=1e-15)


def test_probability_agrees_with_the_papers_data() -> None:
    """E8: P(TPR undefined) at n = 5 is .626 with the COMPAS non-Black reference."""
    assert undefined_probability("tpr", 5, ConfusionMatrix(116, 177, 554, 2429)) == approx(0.626, abs=5e-4)


def test_table_1_puts_metrics_that_are_undefined_equally_often_together() -> None:
    """E1 and E3: 113 matrices for PT and 764,841 pairs for TE, where the paper has at most 50 and 461."""
    rows = {row.metrics[0]: row for row in undefined_table(20)}

    assert rows["tpr"].metrics == ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for")
    assert [rows[k].growth for k in ("acc", "tpr", "f1_original", "te", "pt")] == [
        "Θ(1)", "Θ(n)", "Θ(n²)", "Θ(n⁵)", "Θ(n log n) on average",
    ]  # fmt: skip
    assert rows["pt"].count == 113
    assert rows["te"].count == 764841
    assert rows["te"].share == approx(764841 / 1771**2)
    assert rows["pt"].to_dict() == {
        "metrics": ["pt"], "count": 113, "total": 1771, "growth": "Θ(n log n) on average", "probability": None,
        "share": 113 / 1771,
    }  # fmt: skip


def test_counts_and_probabilities_stay_cheap_at_any_size() -> None:
    assert undefined_probability("pt", 10**12) == approx(count_undefined("pt", 10**12) / count_matrices(10**12))
    assert 0 < undefined_probability("pt", 10**6, ConfusionMatrix(1, 1, 1, 1)) < 1e-4
    assert undefined_table(10**400, "mcc")[0].count == 4 * 10**400
    for call in (
        lambda: metric("pt").undefined_cases(10**9),
        lambda: metric("f1_original").undefined_cases(10**4),
        lambda: metric("te").undefined_cases((40, 40)),
        lambda: count_undefined("pt", 10**40),
    ):
        with pytest.raises(TooLarge):
            call()


def test_growth_of_pairs_carries_the_other_group() -> None:
    assert undefined_table(20, "pt_difference")[0].growth == "Θ(n⁴ log n) on average"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: count_undefined("te", 5), "te compares two groups, so n must be a pair (n1, n2); got 5"),
        (lambda: count_undefined("tpr", (5, 5)), "tpr is a metric of one group, so n must be one number; got (5, 5)"),
        (lambda: undefined_probability("tpr", 5, [1, 2, 3, 4]),
         "the four probabilities tp, fn, fp, tn must sum to 1; got 10; pass counts as a ConfusionMatrix"),
        (lambda: undefined_probability("tpr", 5, [0.1, 0.2, 0.3, 0.3]),
         "the four probabilities tp, fn, fp, tn must sum to 1; got 0.9"),
        (lambda: undefined_probability("tpr", 5, [0.25] * 4, law="predictive"),
         "law='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities"),
        (lambda: undefined_probability("tpr", 5, [0.25] * 4, law=cast("Any", "binomial")),
         "no law is called 'binomial'; did you mean 'multinomial'?"),
        (lambda: undefined_probability("tpr", 5, ConfusionMatrix(1, 1, 1, 1), law="without_replacement"),
         "cannot sample n = 5 cases without replacement from a reference of 4"),
        (lambda: undefined_probability("tpr", 1, ConfusionMatrix(1.5, 1, 1, 1), law="without_replacement"),
         "sampling without replacement needs whole counts; got ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
        (lambda: undefined_probability("tpr", 5, ConfusionMatrix(0, 0, 0, 0)),
         "the reference is empty (n = 0); pass one with cases, or None for the uniform law"),
        (lambda: undefined_probability("tpr", 5, ConfusionMatrix(1, 1, 1, 1), law="predictive", prior=0),
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 0"),
        (lambda: undefined_probability("tpr", 5, np.ones((2, 4)) / 4),
         "the reference must be one matrix or four probabilities; got shape (2, 4)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
