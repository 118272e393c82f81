"""Permutation tests: ties, draws, limits of effort, and functions of the user's own."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pytest import approx

from evenhand.inference import function_gap, function_score
from evenhand.inference.permutation import FunctionGap, drawn_test, permutation_test, takes_too_long


def test_statistics_that_differ_by_rounding_are_ties_and_others_are_not() -> None:
    """Relative to the observed statistic, or to the numbers whose difference it is: 1e-9."""
    for observed, scale in ((3.0, None), (3e-7, None), (3e12, None), (1e-12, 1.0), (0.0, 0.5)):
        unit = scale or observed
        close = [observed, observed - 0.5e-9 * unit, observed + unit]
        far = [observed - 2e-9 * unit, observed - unit]
        assert drawn_test(close + far, observed, scale).pvalue == (1 + len(close)) / (1 + 5)


@pytest.mark.parametrize(("cases", "draws"), [(80, 20_000), (1_500, 1_700)])
def test_groups_are_random_with_as_many_cases_of_each_class(cases: int, draws: int) -> None:
    """Up to 500 cases all are permuted; from more, a small group is drawn. The data come first."""
    member, first, blocks = np.zeros(cases, dtype=bool), np.arange(cases) < 10, []
    member[[0, 5, 40, 41, 45]] = True

    def statistics(groups: Any, others: Any) -> Any:
        blocks.append(groups)
        if cases <= 500:
            assert (np.sort(np.c_[groups, others], axis=1) == np.arange(cases)).all()
        else:
            assert (others == np.arange(cases)).all()
        return np.ones(len(groups))

    test = permutation_test(statistics, member, [first, ~first], draws, np.random.default_rng(0))
    assert test == (1.0, "permutation", 0.0)
    assert blocks[0].tolist() == [[0, 5, 40, 41, 45]]
    drawn = np.concatenate(blocks[1:])
    assert drawn.shape == (draws, 5) and (np.diff(drawn) > 0).all()
    assert (drawn[:, :2] < 10).all() and (drawn[:, 2:] >= 10).all()
    assert np.bincount(drawn[:, :2].ravel()) / draws == approx(np.full(10, 0.2), abs=0.05)
    assert drawn[:, 2:].mean() == approx((9 + cases) / 2, rel=0.05)


def test_only_large_groups_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.inference.permutation.MAX_VALUES", 10_000)
    for inside, cases, draws, expected in (
        (100, 400, 100, True), (99, 400, 1_000, False), (100, 400, 25, False),
        (100, 500, 21, True), (100, 501, 21, False), (101, 504, 21, True),
        (100, 600, 100, False), (100, 600, 101, True),
    ):  # fmt: skip
        assert takes_too_long(np.arange(cases) < inside, draws) == expected, (inside, cases, draws)


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
    assert (found.method, found.reason) == ("permutation", None)
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


def test_warnings_of_a_function_are_silenced() -> None:
    def noisy(first: Any, second: Any) -> float:
        warnings.warn("look at me", stacklevel=1)
        return float(first.mean())

    # Warnings that are not silenced are errors.
    assert function_score(noisy, np.array([1, 2, 3, 4]), np.zeros(4)) == (2.5, None)


def test_a_function_without_a_value_is_undefined_with_the_reason() -> None:
    def fails(first: Any, second: Any) -> Any:
        if "bad" in first:
            raise ValueError("no such label\nsecond line")
        return 1.0 if len(first) == 4 else float("nan")

    labels, raised = ["bad", *"xxxxx"], "the function raised ValueError: no such label"
    for group, reason in (("abbbbb", f"the group has no value: {raised}"),
                          ("bbbbaa", "the group has no value: the function returned nan"),
                          ("bbaaaa", f"the reference has no value: {raised}")):  # fmt: skip
        found = gap_of(fails, labels, labels, group)
        assert (found.reason, found.method, found.error) == (reason, "none", None)
    assert found.score == 1.0 and np.isnan([found.reference_score, found.pvalue]).all()


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    def __float__(self) -> float:
        raise RuntimeError("no number")


def test_a_function_may_return_or_raise_anything() -> None:
    reasons: list[tuple[Any, str]] = [
        (value, f"a value of type {type(value).__name__}, not a number")
        for value in ("0.5", b"1", None, 1j, np.array([1.0, 2.0]), Unreadable())
    ]
    reasons += [(10**400, "a number that is too large"), (float("-inf"), "-inf"), (np.float32("nan"), "nan")]
    for returned, reason in reasons:
        found = gap_of(lambda *_, value=returned: value, [1, 0, 1], [1, 1, 1], "aab")
        assert found.reason == f"the group has no value: the function returned {reason}"
        assert np.isnan([found.score, found.pvalue]).all()
    for number in (True, np.float32(1), np.array(1.0), Fraction(1), 1):
        found = gap_of(lambda *_, value=number: value, [1, 0, 1], [1, 1, 1], "aab")
        assert (found.score, found.pvalue, found.reason) == (1.0, 1.0, None)

    def fails(error: Any, *_: Any) -> float:
        raise error

    raised = function_score(partial(fails, Unreadable), np.ones(2), np.ones(2))[1]
    assert raised == "the function raised Unreadable"
    # What stops a program stops a function.
    with pytest.raises(KeyboardInterrupt):
        gap_of(partial(fails, KeyboardInterrupt), [1, 0, 1], [1, 1, 1], "aab")


def test_draws_without_a_value_count_as_extreme() -> None:
    def picky(first: Any, second: Any) -> float:
        return float("nan") if 0 not in first else 1.0

    found = gap_of(picky, [0, 1, 1, 0, 9, 9, 9], [0] * 7, "aaabbbb", draws=199)
    assert found.pvalue == 1.0
