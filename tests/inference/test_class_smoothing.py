"""Smoothing of K x K cells, by its formula."""

from __future__ import annotations

from itertools import product
from re import escape
from typing import Any

import pytest
from class_oracle import Table, tables
from hypothesis import given, strategies as st
from pytest import approx

import evenhand as eh


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@given(table=tables(3), other=tables(3), strength=st.just(0.0) | st.floats(1e-6, 50))
def test_smoothing_adds_cases_in_the_reference_s_proportions(table: Table, other: Table, strength: float) -> None:
    """cell = (x + λ p) n / (n + λ); the reference's proportions if there are no cases."""
    n, total = sum(map(sum, table)), sum(map(sum, other))
    if total == 0:
        return
    smoothed = eh.cross_prior_smooth(matrix(table), matrix(other), strength)
    for i, j in product(range(3), repeat=2):
        p = other[i][j] / total
        expected = (table[i][j] + strength * p) * n / (n + strength) if n else p
        assert smoothed.counts[i, j] == approx(expected, rel=1e-12, abs=1e-12)
    assert smoothed.n == approx(n or 1, rel=1e-12)
    assert smoothed.raw == matrix(table) and smoothed.strength == strength
    assert not smoothed.is_whole and smoothed.prior_only == (n == 0)


def test_smoothing_needs_a_reference_of_the_same_classes_and_one_strength() -> None:
    cm, other = matrix([[4, 0], [0, 2]], ["a", "b"]), matrix([[1, 1], [1, 1]], ["a", "c"])
    rest = matrix([[1, 1], [1, 1]], ["a", "b"])
    for arguments, sentence in (
        ((cm, other), "the reference must have the same labels in the same order ('a', 'b'); got 'a', 'c'"),
        ((cm, matrix([[0, 0], [0, 0]], ["a", "b"])),
         "the reference is empty (n = 0), so it has no proportions to smooth with"),
        ((cm, [0.25] * 4), "the reference must be a MulticlassConfusion as the group is; got [0.25, 0.25, 0.25, 0.25]"),
        ((cm, rest, {"prev": 1, "tpr": 1, "fpr": 1}),
         "one strength per split is for 2x2 matrices; pass one number for K x K cells"),
    ):  # fmt: skip
        with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
            eh.cross_prior_smooth(*arguments)
    assert eh.cross_prior_smooth(cm, rest, "auto").strength == 5
    text = str(eh.cross_prior_smooth(cm, rest, 4))
    assert text.endswith("smoothed, strength 4; 60% of a share's gap remains")
    empty = eh.cross_prior_smooth(matrix([[0, 0], [0, 0]], ["a", "b"]), rest, 4)
    assert str(empty).endswith("the prior only: the group is empty, strength 4; 0% of a share's gap remains")
    assert repr(empty) == "<SmoothedClasses: 2 classes, n = 1, the prior only, strength 4>"
