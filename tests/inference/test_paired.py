"""Two models on the same cases: pairs of outcomes counted by hand, McNemar's test, and the change as a contrast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pytest import approx
from statsmodels.stats.contingency_tables import mcnemar as theirs

from evenhand import metric
from evenhand.errors import InvalidInput
from evenhand.inference import contrast, mcnemar, pairs_of

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


@pytest.mark.parametrize("key", SUCCESS)
@given(cases=st.lists(case, max_size=12))
@settings(max_examples=25, deadline=None)
def test_pairs_and_changes_are_those_of_counting_by_hand(key: str, cases: list[tuple[int, int, int]]) -> None:
    joint = np.zeros((2, 2, 2))
    for one in cases:
        joint[one] += 1
    outcomes = [(SUCCESS[key](y, a), SUCCESS[key](y, b)) for y, a, b in cases if SUCCESS[key](y, a) is not None]
    pairs = pairs_of(metric(key), joint)
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    assert pairs.tolist() == [outcomes.count(kind) for kind in kinds]
    if outcomes:
        change = sum(bool(b) - bool(a) for a, b in outcomes) / len(outcomes)
        assert metric("mb")(contrast(pairs)) == approx(change)


@pytest.mark.parametrize("table", [(20, 3, 9, 4), (0, 0, 5, 1), (5, 0, 0, 5), (100, 44, 61, 7), (0, 30, 2, 0)])
def test_mcnemars_test_is_that_of_statsmodels(table: Any) -> None:
    both, first, second, neither = table
    expected = theirs([[both, first], [second, neither]], exact=True).pvalue
    assert mcnemar(np.array(table, dtype=float)) == approx(expected)
    assert mcnemar(np.array((both, second, first, neither), dtype=float)) == approx(expected)


@pytest.mark.parametrize("key", ["ppv", "f1", "mcc", "prev", "equal_opportunity"])
def test_rates_whose_cases_depend_on_the_model_are_refused(key: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        pairs_of(metric(key), np.ones((2, 2, 2)))
    assert str(refusal.value) == (
        f"{key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )
