"""Permutation tests: ties, draws, limits of effort, and functions of the user's own."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pytest import approx
from sklearn.metrics import f1_score

from evenhand.inference import function_gap, function_score
from evenhand.inference.permutation import Effort, FunctionGap, drawn_test, permuted

# Ties


@pytest.mark.parametrize(("observed", "scale"), [(3.0, None), (3e-7, None), (3e12, None), (1e-12, 1.0), (0.0, 0.5)])
def test_statistics_that_differ_by_rounding_are_ties_and_others_are_not(observed: float, scale: float | None) -> None:
    """Relative to the observed statistic, or to the numbers whose difference it is: 1e-9."""
    unit = scale or observed
    close = [observed, observed - 0.5e-9 * unit, observed + unit]
    far = [observed - 2e-9 * unit, observed - unit]
    found = drawn_test(close + far, observed, scale=scale)
    assert found.pvalue == (1 + len(close)) / (1 + 5)


def test_the_data_count_as_one_more_draw() -> None:
    """p = (1 + r) / (1 + B), with the standard error √(p (1 - p) / B), and never 0."""
    nothing = drawn_test([0.0] * 99, 1.0)
    assert (nothing.pvalue, nothing.method) == (0.01, "permutation")
    assert nothing.error == approx((0.01 * 0.99 / 99) ** 0.5)
    assert drawn_test([2.0] * 99, 1.0) == (1.0, "permutation", 0.0)
    assert drawn_test([np.nan, np.nan, 0.0], 1.0).pvalue == 0.75
    assert drawn_test([np.inf, 5.0, np.inf], np.inf).pvalue == 0.75


# Draws


def test_members_are_permuted_within_sets_of_cases_in_blocks() -> None:
    member = np.zeros(1_500, dtype=bool)
    member[[0, 5, 700, 701, 1400]] = True
    first = np.arange(1_500) < 700
    blocks = list(permuted(member, [first, ~first], 1_700, np.random.default_rng(0)))
    assert len(blocks) > 1 and sum(map(len, blocks)) == 1_700
    every = np.concatenate(blocks)
    assert (every[:, first].sum(axis=1) == 2).all() and (every[:, ~first].sum(axis=1) == 3).all()
    assert every.mean(axis=0)[first] == approx(2 / 700, abs=0.02)


def test_the_effort_decides_who_is_drawn_and_when_approximations_take_over() -> None:
    def group(inside: int, cases: int) -> Any:
        return np.arange(cases) < inside

    effort = Effort(most=10_000, large=100, few=500, times=5)
    assert not effort.draws_group(group(100, 500), 10)
    assert effort.draws_group(group(100, 501), 10)
    assert not effort.draws_group(group(101, 504), 10)
    assert effort.draws_group(group(99, 400), 100)
    assert not effort.draws_group(group(100, 400), 100)
    assert effort.approximates(group(100, 400), 100)
    assert not effort.approximates(group(99, 400), 100)
    assert not effort.approximates(group(100, 400), 25)
    assert not effort.approximates(group(100, 600), 100)
    assert effort.approximates(group(100, 600), 101)


# Functions of the user's own


def gap_of(function: Any, first: Any, second: Any, group: str, *, draws: int = 9, rng: int = 0) -> FunctionGap:
    """Cases whose letter is a, beside all others."""
    member = np.array(list(group)) == "a"
    columns = np.asarray(first), np.asarray(second)
    return function_gap(function, member, *columns, draws=draws, rng=np.random.default_rng(rng))


def test_a_function_gets_the_pvalue_of_all_splits() -> None:
    """p is within 5 standard errors of the share of all C(9, 4) splits with so large a gap."""
    y, p = [1, 0, 1, 0, 1, 1, 0, 0, 1], [0.1, 0.7, 0.4, 0.8, 0.9, 0.8, 0.3, 0.35, 0.7]

    def error(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).mean())

    far = np.abs(np.array(y) - p)
    gaps = [abs(far[list(some)].mean() - np.delete(far, some).mean()) for some in combinations(range(9), 4)]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    found = gap_of(error, y, p, "aaaabbbbb", draws=1_999)
    assert (found.method, found.reason, found.undefined_draws) == ("permutation", None, 0)
    assert (found.score, found.reference_score) == approx((far[:4].mean(), far[4:].mean()))
    assert found.error is not None and abs(found.pvalue - exact) < 5 * found.error
    assert (found.pvalue * 2000) % 1 == approx(0, abs=1e-6)
    assert found == gap_of(error, y, p, "aaaabbbbb", draws=1_999)
    assert len({gap_of(error, y, p, "aaaabbbbb", draws=1_999, rng=rng).pvalue for rng in range(4)}) > 1


def test_draws_whose_gap_differs_by_rounding_are_as_extreme() -> None:
    """Both sides add up to 1.3, and only the order of the numbers makes the gap 2e-16 instead of 0: p is 1."""

    def total(first: Any, second: Any) -> float:
        return float(np.cumsum(first)[-1])

    found = gap_of(total, [0.3, 0.3, 0.7, 0.7, 0.3, 0.3], [0] * 6, "aaabbb", draws=200)
    assert 0 < abs(found.score - found.reference_score) < 1e-15
    assert found.pvalue == 1.0


def test_a_function_of_scikit_learn_scores_the_group_and_its_rest() -> None:
    rng = np.random.default_rng(4)
    y, p, member = rng.integers(0, 2, 90), rng.integers(0, 2, 90), rng.random(90) < 0.3
    found = function_gap(f1_score, member, y, p, draws=19, rng=rng)
    assert found.score == f1_score(y[member], p[member]) == function_score(f1_score, y[member], p[member]).score
    assert found.reference_score == f1_score(y[~member], p[~member])


def test_warnings_of_a_function_are_silenced() -> None:
    def noisy(first: Any, second: Any) -> float:
        warnings.warn("look at me", stacklevel=1)
        return float(first.mean())

    # Warnings that are not silenced are errors.
    assert gap_of(noisy, [1, 2, 3, 4], [0] * 4, "aabb").reason is None
    assert function_score(noisy, np.array([1, 2, 3, 4]), np.zeros(4)) == (2.5, None)


def test_a_function_without_a_value_is_undefined_with_the_reason() -> None:
    def fails(first: Any, second: Any) -> Any:
        if "bad" in first:
            raise ValueError("no such label\nsecond line")
        return {2: float("nan"), 3: [1, 2]}.get(len(first), 1.0)

    labels = ["bad", *"xxxxx"]
    said = [gap_of(fails, labels, labels, group).reason for group in ("abbbbb", "bbbbaa", "bbbaaa", "bbaaaa")]
    assert said == [
        "the group has no value: the function raised ValueError: no such label",
        "the group has no value: the function returned nan",
        "the group has no value: the function returned a value of type list, not a number",
        "the reference has no value: the function raised ValueError: no such label",
    ]
    found = gap_of(fails, labels, labels, "bbaaaa")
    assert (found.score, found.method, found.error, found.undefined_draws) == (1.0, "none", None, 0)
    assert np.isnan([found.reference_score, found.pvalue]).all()


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    def __float__(self) -> float:
        raise RuntimeError("no number")


def test_a_function_may_return_or_raise_anything() -> None:
    for returned, reason in (
        ("0.5", "returned a value of type str, not a number"),
        (b"1", "returned a value of type bytes, not a number"),
        (None, "returned a value of type NoneType, not a number"),
        (1j, "returned a value of type complex, not a number"),
        (np.array([1.0, 2.0]), "returned a value of type ndarray, not a number"),
        (Unreadable(), "returned a value of type Unreadable, not a number"),
        (10**400, "returned a number that is too large"),
        (float("-inf"), "returned -inf"),
        (np.float32("nan"), "returned nan"),
    ):
        found = gap_of(lambda *_, value=returned: value, [1, 0, 1], [1, 1, 1], "aab")
        assert found.reason == f"the group has no value: the function {reason}"
        assert np.isnan([found.score, found.pvalue]).all()

    def fails(*_: Any) -> float:
        raise Unreadable

    assert function_score(fails, np.ones(2), np.ones(2)).reason == "the function raised Unreadable"
    for number in (True, np.float32(1), np.array(1.0), Fraction(1), 1):
        found = gap_of(lambda *_, value=number: value, [1, 0, 1], [1, 1, 1], "aab")
        assert (found.score, found.pvalue, found.reason) == (1.0, 1.0, None)


def test_what_stops_a_program_stops_a_function() -> None:
    def stops(*_: Any) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gap_of(stops, [1, 0, 1], [1, 1, 1], "aab")


def test_draws_without_a_value_count_as_extreme_and_are_counted() -> None:
    def picky(first: Any, second: Any) -> float:
        return float("nan") if 0 not in first else float(first.mean())

    found = gap_of(picky, [0, 1, 1, 0, 9, 9, 9], [0] * 7, "aaabbbb", draws=199)
    assert found.undefined_draws > 60
    assert found.pvalue * 200 >= found.undefined_draws + 1
