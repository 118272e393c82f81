"""The K x K matrix: a frozen value, printed, collapsed to two classes."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from itertools import product
from math import nan
from re import escape
from typing import Any

import numpy as np
import pytest
from class_oracle import Table, against_rest, cases, tables
from hypothesis import given, strategies as st
from pytest import approx

import evenhand as eh
from evenhand.cells import one_against_rest


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@pytest.mark.parametrize(
    ("counts", "labels", "sentence"),
    [
        ([[1, 2]], ["a"], "counts must have shape (K, K), actual classes in rows; got shape (1, 2)"),
        ([], [], "counts must have shape (K, K), actual classes in rows; got shape (0,)"),
        ([[1, -2], [0, 0]], "ab", "counts must not be negative; got -2"),
        ([[1, nan], [0, 0]], ["a", "b"], "counts must be finite"),
        ([["1", "2"], ["3", "4"]], ["a", "b"], "counts must be numbers; got an array of str32"),
        ([[True, False], [True, True]], ["a", "b"], "counts must be numbers; got an array of bool"),
        ([[2**53, 2], [0, 0]], ["a", "b"], "counts must add up to at most 2**53, beyond which float64 is not exact"),
        ([[1e-80, 1], [0, 0]], ["a", "b"], "counts must be 0 or at least 1e-75"),
        ([[1, 2], [3, 4]], ["a"], "labels must name each of the 2 classes; got 1"),
        ([[1, 2], [3, 4]], ["a", "a"], "labels must name each class once; got 'a', 'a'"),
        ([[1, 2], [3, 4]], "ab", "labels must be a sequence of classes; got 'ab'"),
        ([[1, 2], [3, 4]], [None, "a"], "labels must contain numbers, text or booleans; got values of type missing"),
    ],
)
def test_counts_that_are_no_matrix_are_refused(counts: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        eh.MulticlassConfusion(counts, labels)


def test_a_matrix_is_a_frozen_value() -> None:
    """Equal matrices are equal and hash alike; nothing can be changed; sums and differences are cell by cell."""
    table = [[3, 1, 0], [0, 2, 0], [1, 0, 4]]
    one, other = matrix(table, list("abc")), matrix(table, list("abc"))
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != matrix(table) and one != table
    with pytest.raises(ValueError, match="read-only"):
        one.counts[0, 0] = 7
    with pytest.raises(AttributeError):
        one.labels = ()  # type: ignore[misc]
    array = one.to_array()
    array[0, 0] = 7
    assert one.counts[0, 0] == 3
    assert (one + other).counts.tolist() == [[6, 2, 0], [0, 4, 0], [2, 0, 8]]
    assert sum([one, other]) == one + other
    assert one + other - one == other
    assert (one.n, one.k, one.is_whole) == (11, 3, True)
    with pytest.raises(eh.errors.InvalidInput, match=r"^cannot subtract a matrix with larger cells$"):
        one - (one + other)
    sentence = "the other matrix must have the same labels in the same order ('a', 'b', 'c'); got 0, 1, 2"
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        one + matrix(table)
    with pytest.raises(TypeError):
        one + 1  # type: ignore[operator]
    smoothed = eh.cross_prior_smooth(one, one, 3)
    for value in (one, smoothed):
        for twin in (pickle.loads(pickle.dumps(value)), deepcopy(value)):
            assert twin == value and type(twin) is type(value) and not twin.counts.flags.writeable
    assert deepcopy(smoothed).raw == one


def test_a_matrix_prints_as_a_table_and_escapes_its_labels() -> None:
    cm = matrix([[3, 1], [0, 2.5]], ["<b>x</b>", "\x1b[2J"])
    assert str(cm).splitlines() == [
        "actual    predicted <b>x</b>  predicted \\x1b[2J  total",
        "<b>x</b>                   3                  1      4",
        "\\x1b[2J                    0                2.5    2.5",
        "total                      3                3.5    6.5",
    ]
    assert "&lt;b&gt;" in cm._repr_html_() and "<b>" not in cm._repr_html_() and "\x1b" not in cm._repr_html_()
    large = matrix(np.eye(25, dtype=int))
    assert str(large).splitlines()[-1] == "5 more classes are not shown but in the totals; see to_array()"
    assert str(large).splitlines()[-2].split()[-1] == "25"
    assert repr(large) == "<MulticlassConfusion: 25 classes, n = 25>"
    assert json.loads(json.dumps(cm.to_dict())) == cm.to_dict()


def test_classes_are_collapsed_to_two() -> None:
    table = [[3, 1, 0], [5, 2, 7], [1, 9, 4]]
    cm = matrix(table, list("abc"))
    for c, label in enumerate(cm.labels):
        assert cm.against_rest(label).cells == against_rest(table, c) == tuple(cm.one_against_rest[c])
    positive = {0, 2}
    expected = [0, 0, 0, 0]
    for a, b in cases(table):
        expected[2 * (a not in positive) + (b not in positive)] += 1
    assert cm.collapsed(["c", "a"]).cells == tuple(expected)
    for wrong, sentence in (
        ("a", "positive must be a list of classes; got 'a'"),
        ([], "positive must name at least one class, and each once"),
        (["a", "a"], "positive must name at least one class, and each once"),
        (["d"], "no class is called 'd'; known: a, b, c"),
    ):
        with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
            cm.collapsed(wrong)
    sentence = "binary takes a matrix of 2 classes; this one has 3: use against_rest or collapsed"
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        cm.binary("a")


def test_an_empty_part_of_real_cells_is_exactly_empty() -> None:
    """Without cases of c other than true ones, FN of c is 0 however the other cells round."""
    cm = matrix([[0.1, 0, 0.2], [0, 0.3, 0], [0.7, 0, 0.1]])
    assert cm.against_rest(1).cells[:3] == (0.3, 0, 0)
    assert tuple(cm.one_against_rest[1][1:3]) == (0.0, 0.0)
    assert (matrix([[0.1, 0.2], [0, 0]]).one_against_rest[:, 3] == [0.0, 0.1]).all()


@given(table=tables(3))
def test_real_cells_are_collapsed_as_counts_are(table: Table) -> None:
    """A quarter of every cell gives a quarter of every one-against-rest cell."""
    quarters = np.array(table) / 4
    expected = np.array([against_rest(table, c) for c in range(3)]) / 4
    assert (one_against_rest(quarters) == expected).all()
    assert (matrix(quarters).one_against_rest == expected).all()


@given(k=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_what_is_outside_the_row_and_the_column_of_a_class_is_added_up(k: int, seed: int) -> None:
    """TN_c = Σ of cells (i, j), i and j other than c, of many matrices at once; 0 if all of them are 0."""
    rng = np.random.default_rng(seed)
    real = rng.random((2, k, k)) * (rng.random((2, k, k)) < 0.5)
    found = one_against_rest(real)
    for m, c in product(range(2), range(k)):
        expected = sum(real[m, i, j] for i, j in product(range(k), repeat=2) if c not in (i, j))
        assert found[m, c, 3] == approx(expected, rel=1e-14, abs=0)
