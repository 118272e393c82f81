"""Where metrics are undefined: which matrices, how many, with which probability and for which reason."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd, log2, prod
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP, TWO_GROUPS, matrices, multinomial, refusal

from evenhand import metric
from evenhand.metrics import ONE_GROUP_METRICS, Part, UndefinedSet, proportional_matrices

CELLS = ("tp", "fn", "fp", "tn")
(PT,) = metric("pt").undefined_sets


def undefined(key: str, n: int) -> list[tuple[int, ...]]:
    return [c for c in matrices(n) if ONE_GROUP[key](*c) is None]


def test_the_set_contains_what_listing_every_matrix_finds() -> None:
    for m, n in product(ONE_GROUP_METRICS, (0, 1, 2, 3, 4, 6, 12)):
        table, listed, (holes,) = np.array(list(matrices(n))), undefined(m.key, n), m.undefined_sets
        assert [tuple(c) for c in table[holes.contains(*table.T)].tolist()] == listed, (m.key, n)
        assert holes.count(n) == len(listed), (m.key, n)


def test_a_pair_is_undefined_where_group_or_reference_is() -> None:
    for (key, score), sizes in product(TWO_GROUPS.items(), ((0, 1), (1, 3), (3, 2))):
        of_group, of_reference = metric(key).undefined_sets
        for group, reference in product(*map(matrices, sizes)):
            found = of_group.contains(*group) or of_reference.contains(*reference)
            assert found == (score(group, reference) is None), (key, group, reference)


def test_prevalence_threshold_is_undefined_as_often_as_the_gcd_sum_says() -> None:
    """E1: 2n + 1 + Σ gcd(k, n), k = 1, ..., n, which is multiplicative: p**(a-1) * ((a+1)*p - a) at p**a."""
    for n in (1, 2, 97, 360, 5040):
        assert PT.count(n) == 2 * n + 1 + sum(gcd(k, n) for k in range(1, n + 1))
    for powers in ({999_983: 1, 10_007: 1}, {1_000_003: 1, 2: 3}, {999_983: 2}, {2: 12, 5: 12}):
        n = prod(p**a for p, a in powers.items())
        assert PT.count(n) == 2 * n + 1 + prod(p ** (a - 1) * ((a + 1) * p - a) for p, a in powers.items())
    message = "TooLarge: counting equal rates needs the prime factors of n, which must be at most 1e12; got "
    assert refusal(PT.count, 10**13) == message + "10,000,000,000,000"


def test_matrices_with_equal_rates_and_no_empty_cell_are_listed() -> None:
    for n, step in product(range(1, 25), (1, 3)):
        positives = range(1, n, step)
        listed = [tuple(c) for c in proportional_matrices(n, np.array(positives, dtype=int)).tolist()]
        expected = [c for c in matrices(n) if 0 < c[0] * c[3] == c[1] * c[2] and c[0] + c[1] in positives]
        assert sorted(listed) == expected, (n, step)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), st.integers(0, 5))
def test_the_probability_of_an_empty_part_follows_by_inclusion_and_exclusion(weights: list[int], n: int) -> None:
    weight_of = dict(zip(CELLS, weights, strict=True))

    def all_empty(cells: frozenset[str]) -> Any:
        return (1 - Fraction(sum(weight_of[cell] for cell in cells), sum(weights))) ** n

    for m in ONE_GROUP_METRICS:
        if not m.undefined_at_equal_rates:
            expected = sum((multinomial(c, weights) for c in undefined(m.key, n)), Fraction(0))
            assert m.undefined_sets[0].measure_empty(all_empty) == expected, m.key


def test_the_degree_is_the_power_of_n_in_the_count() -> None:
    for m in ONE_GROUP_METRICS:
        (holes,) = m.undefined_sets
        once, twice = holes.count(10**6), holes.count(2 * 10**6)
        assert holes.degree == (round(log2(twice / once)) if once else None), m.key


def test_equal_rates_of_real_cells_are_told_from_nearly_equal_ones() -> None:
    """Rounding alone makes 0.1 * 0.9 and 0.3 * 0.3 differ; pseudo-counts of 1e-10 make 1 * 4 and 2 * 2 differ."""
    assert 0.1 * 0.9 != 0.3 * 0.3 and PT.contains(0.1, 0.3, 0.3, 0.9)
    assert not PT.contains(*np.array([1, 2, 2, 4]) + 1e-10)
    n = 10**8
    assert PT.contains(n, np.array([n, n + 1]), np.array([n, n - 1]), n).tolist() == [True, False]


def test_parts_and_sets_explain_themselves() -> None:
    positives, text = Part(("tp", "fn"), "actual positives"), "no actual positives (TP + FN = 0)"
    assert [positives.format_count(n) for n in (1, 2000)] == ["1 actual positive", "2,000 actual positives"]
    assert positives.count(np.array([[1.0, 2, 3, 4], [0, 0, 1, 1]])).tolist() == [3, 0]
    assert str(UndefinedSet((positives,), undefined_at_equal_rates=True)) == f"{text}, or TPR equals FPR"
    impact = "in the group: {0}; in the reference: {0}, or no predicted positives (TP + FP = 0)"
    assert metric("disparate_impact").undefined_if == impact.format("no cases (n = 0)")
    assert metric("equal_opportunity").undefined_if == f"in either group: {text}"
