"""Two models on the same cases: pairs counted by hand, and McNemar's test by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import binomtest

from evenhand import metric
from evenhand.errors import InvalidInput
from evenhand.inference import count_pairs, mcnemar_pvalue

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


@given(cases=st.lists(case, max_size=12))
@settings(max_examples=25, deadline=None)
def test_pairs_are_those_of_counting_by_hand(cases: list[tuple[int, int, int]]) -> None:
    joint = np.zeros((2, 2, 2))
    for label_and_predictions in cases:
        joint[label_and_predictions] += 1
    for key, success in SUCCESS.items():
        outcomes = [(success(y, a), success(y, b)) for y, a, b in cases if success(y, a) is not None]
        pairs = count_pairs(metric(key), joint)
        kinds = [(True, True), (True, False), (False, True), (False, False)]
        assert pairs.tolist() == [outcomes.count(kind) for kind in kinds]


def test_mcnemars_test_is_a_binomial_test_of_the_disagreements() -> None:
    for pairs in ((20, 3, 9, 4), (0, 0, 5, 1), (5, 1, 1, 5), (100, 44, 61, 7), (0, 30, 2, 0)):
        expected = binomtest(pairs[1], pairs[1] + pairs[2]).pvalue
        assert mcnemar_pvalue(np.array(pairs, dtype=float)) == approx(expected)
    assert mcnemar_pvalue(np.array([5.0, 0, 0, 5])) == 1


def test_rates_whose_cases_depend_on_the_model_are_refused() -> None:
    for key in ("ppv", "f1", "mcc", "prev", "equal_opportunity"):
        with pytest.raises(InvalidInput) as refusal:
            count_pairs(metric(key), np.ones((2, 2, 2)))
        assert str(refusal.value) == (
            f"{key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or "
            "what these leave to 1"
        )
