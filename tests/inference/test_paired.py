"""Two models on the same cases: changes of a rate and of its gap, against exchanging predictions case by case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import beta, binom
from statsmodels.stats.contingency_tables import mcnemar

from evenhand import metric
from evenhand.errors import InvalidInput
from evenhand.inference import PairedChange, PairedGap, paired_change, paired_gap, pairs_of

SUCCESS: dict[str, Callable[[int, int], bool | None]] = {
    "acc": lambda y, p: y == p,
    "inacc": lambda y, p: y != p,
    "ppr": lambda y, p: p == 1,
    "tpr": lambda y, p: p == 1 if y else None,
    "fnr": lambda y, p: p == 0 if y else None,
    "fpr": lambda y, p: None if y else p == 1,
    "tnr": lambda y, p: None if y else p == 0,
}
case = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))


def change(pairs: Any, level: float = 0.95, draws: int = 50, rng: int = 0) -> PairedChange:
    return paired_change(np.array(pairs, dtype=float), level=level, draws=draws, rng=np.random.default_rng(rng))


def gap(pairs: Any, others: Any, level: float = 0.95, draws: int = 50, rng: int = 0) -> PairedGap:
    sides = np.array(pairs, dtype=float), np.array(others, dtype=float)
    return paired_gap(*sides, level=level, draws=draws, rng=np.random.default_rng(rng))


def counted(rows: list[tuple[int, int, int]]) -> Any:
    """How many cases have each label and predictions."""
    joint = np.zeros((2, 2, 2))
    for row in rows:
        joint[row] += 1
    return joint


@pytest.mark.parametrize("key", SUCCESS)
@given(group=st.lists(case, max_size=6), others=st.lists(case, max_size=6))
@settings(max_examples=25, deadline=None)
def test_tests_of_two_models_are_those_of_exchanging_their_predictions_case_by_case(
    key: str, group: list[tuple[int, int, int]], others: list[tuple[int, int, int]]
) -> None:
    """All 2**n exchanges; McNemar's test is that of the group's change."""
    pairs = pairs_of(metric(key), np.stack([counted(group), counted(others)]))
    outcomes = [
        [(bool(first), bool(second)) for y, p, q in rows
         for first, second in [(SUCCESS[key](y, p), SUCCESS[key](y, q))] if first is not None]
        for rows in (group, others)
    ]  # fmt: skip
    for own, found in zip(outcomes, pairs.tolist(), strict=True):
        assert found == [own.count(both) for both in ((True, True), (True, False), (False, True), (False, False))]
    mine, theirs = ([Fraction(second - first) for first, second in own] for own in outcomes)
    exchanges: Any
    changed, compared = change(pairs[0]), gap(*pairs)
    if not mine:
        assert all(map(math.isnan, changed))
        assert math.isnan(compared.pvalue) and compared.method == "none"
        return
    exchanges = [[sum(s * x for s, x in zip(signs, side, strict=True)) for signs in product((1, -1), repeat=len(side))]
                 for side in (mine, theirs)]  # fmt: skip
    assert changed.change == approx(float(sum(mine) / len(mine)))
    assert changed.low <= changed.change <= changed.high
    assert changed.pvalue == approx(sum(abs(s) >= abs(sum(mine)) for s in exchanges[0]) / len(exchanges[0]))
    if not theirs:
        assert math.isnan(compared.pvalue) and math.isnan(compared.change)
        return
    moved: Any = sum(mine) / len(mine) - sum(theirs) / len(theirs)
    assert compared.change == approx(float(moved), abs=1e-12)
    assert (compared.first, compared.second) == approx(
        tuple(float(Fraction(sum(o[i] for o in outcomes[0]), len(mine))
                    - Fraction(sum(o[i] for o in outcomes[1]), len(theirs))) for i in (0, 1)), abs=1e-12
    )  # fmt: skip
    law: Counter[Any] = Counter(Fraction(s) / len(mine) - Fraction(t) / len(theirs) for s, t in product(*exchanges))
    assert compared.pvalue == approx(sum(n for x, n in law.items() if abs(x) >= abs(moved)) / law.total())
    assert (compared.method, compared.error) == ("exact paired permutation", None)


@pytest.mark.parametrize("table", [(20, 3, 9, 4), (0, 0, 5, 1), (5, 0, 0, 5), (100, 44, 61, 7), (0, 30, 2, 0)])
def test_mcnemars_test_is_that_of_statsmodels(table: tuple[int, int, int, int]) -> None:
    both, only_first, only_second, neither = table
    expected = mcnemar([[both, only_first], [only_second, neither]], exact=True).pvalue
    assert change(table).pvalue == approx(expected)
    assert change((both, only_second, only_first, neither)).pvalue == approx(expected)


def test_models_and_sides_can_be_exchanged() -> None:
    pairs, others = (14, 3, 9, 4), (20, 11, 5, 8)
    found = gap(pairs, others)
    backwards = gap((14, 9, 3, 4), (20, 5, 11, 8))
    assert (backwards.change, backwards.pvalue) == approx((-found.change, found.pvalue))
    mirrored = gap(others, pairs)
    assert (mirrored.change, mirrored.pvalue) == approx((-found.change, found.pvalue))


def test_changes_that_are_equal_up_to_rounding_are_ties() -> None:
    """2/4 - 4/6 = 2/6 - 2/4 = -1/6, but not in floating point."""
    pairs, others = (0, 3, 1, 0), (0, 4, 2, 0)
    assert abs(-2 / 4 + 2 / 6) > abs(2 / 4 - 4 / 6)
    law: dict[Fraction, Fraction] = {}
    for x, y in product(range(5), range(7)):
        value = abs(Fraction(2 * x - 4, 4) - Fraction(2 * y - 6, 6))
        law[value] = law.get(value, Fraction(0)) + Fraction(math.comb(4, x) * math.comb(6, y), 2**10)
    expected = sum(p for value, p in law.items() if value >= Fraction(1, 6))
    assert gap(pairs, others).pvalue == approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("pairs", "others"),
    [((9_000, 1_040, 960, 4_000), (50_000, 2_000, 2_050, 9_000)), ((500, 2_500, 2_650, 900), (800, 2_090, 2_010, 70))],
)
def test_a_gap_of_many_disagreements_is_drawn_from_the_law_of_two_binomials(
    pairs: tuple[int, ...], others: tuple[int, ...]
) -> None:
    """p is within 5 standard errors of Σ P(X = x) P(|(2x - d) / n - (2Y - e) / m| >= |observed|)."""
    found = gap(pairs, others, draws=4_000)
    d, n, e, m = pairs[1] + pairs[2], sum(pairs), others[1] + others[2], sum(others)
    observed = abs((pairs[2] - pairs[1]) / n - (others[2] - others[1]) / m)
    x = np.arange(d + 1)
    moved = (2 * x - d) / n
    # The others' change must be at most moved - observed, or at least moved + observed.
    below = np.floor((m * (moved - observed) * (1 + 1e-12) + e) / 2 + 1e-9)
    above = np.ceil((m * (moved + observed) + e) / 2 - 1e-9)
    tails = binom.cdf(below, e, 0.5) + binom.sf(above - 1, e, 0.5)
    exact = float(binom.pmf(x, d, 0.5) @ np.minimum(tails, 1.0))
    assert (d + 1) * (e + 1) > 4_000_000
    assert found.method == "paired permutation"
    assert 0.001 < exact < 0.5
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error
    assert (4_001 * found.pvalue) % 1 == approx(0, abs=1e-6)
    assert found.pvalue > 0


def test_a_drawn_pvalue_is_never_0() -> None:
    """6,000 disagreements that one model wins: no draw comes close, and the data count as one more."""
    found = gap((0, 0, 6_000, 0), (0, 6_000, 0, 0), draws=99)
    assert (found.pvalue, found.method) == (0.01, "paired permutation")
    assert found.error == approx((0.01 * 0.99 / 99) ** 0.5)


def test_the_interval_of_a_change_is_that_of_a_dirichlet_posterior() -> None:
    """If the first model never wins alone, the change is nearly a Beta(k + 1/2, n - k + 1) share."""
    found = change((40, 0, 20, 40), level=0.9, draws=200_000)
    low, high = (float(beta.ppf(q, 20.5, 81.5)) for q in (0.05, 0.95))
    other = beta.ppf(0.95, 0.5, 101.5)
    assert low - other < found.low < low + 0.002
    assert high - other < found.high < high + 0.002


def test_intervals_of_changes_cover_about_at_the_level() -> None:
    """300 samples of 40 and 60 pairs; the true changes are 0.2 and 0.1."""
    rng = np.random.default_rng(8)
    laws = (40, [0.4, 0.1, 0.3, 0.2]), (60, [0.5, 0.1, 0.2, 0.2])
    inside = Counter[str]()
    for i in range(300):
        pairs, others = (rng.multinomial(n, law) for n, law in laws)
        own, compared = change(pairs, draws=1_000, rng=i), gap(pairs, others, draws=1_000, rng=i)
        inside["change"] += own.low <= 0.2 <= own.high
        inside["gap"] += compared.low <= 0.1 <= compared.high
    assert all(0.91 <= hits / 300 <= 0.99 for hits in inside.values()), inside


@pytest.mark.parametrize("key", ["ppv", "f1", "mcc", "prev", "equal_opportunity"])
def test_rates_whose_cases_depend_on_the_model_are_refused(key: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        pairs_of(metric(key), np.ones((2, 2, 2)))
    assert str(refusal.value) == (
        f"{key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )
