"""The 2x2 matrix: a frozen value, and what cannot be one."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from evenhand import ConfusionMatrix, metric
from evenhand.errors import InvalidInput

counts = st.integers(0, 10**12)
any_matrix = st.builds(ConfusionMatrix, counts, counts, counts, counts)


def refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


def test_a_matrix_knows_its_cells_total_and_proportions() -> None:
    cm = ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)

    assert cm.cells == (1, 2, 3, 4)
    assert cm.n == 10
    assert cm.proportions.tolist() == [0.1, 0.2, 0.3, 0.4]


@given(any_matrix, any_matrix)
def test_subtraction_undoes_addition(a: ConfusionMatrix, b: ConfusionMatrix) -> None:
    """(a + b) - b = a."""
    assert (a + b) - b == a
    assert sum([a, b]) == a + b


@given(any_matrix)
def test_an_array_goes_there_and_back(cm: ConfusionMatrix) -> None:
    assert ConfusionMatrix.from_array(cm.to_array()) == cm


def test_scikit_learn_turns_the_matrix_around() -> None:
    assert ConfusionMatrix.from_sklearn([[4, 3], [2, 1]]) == ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)


def test_whole_counts_are_known_as_such_however_they_come() -> None:
    scalars: list[Any] = [np.int64(1), 2.0, np.float32(3), Fraction(4)]
    others: list[Any] = [Decimal(1), np.array(2), np.array(3.0), 4]
    for cells in (scalars, others):
        assert ConfusionMatrix(*cells) == ConfusionMatrix(1, 2, 3, 4)
        assert ConfusionMatrix(*cells).is_whole

    assert not ConfusionMatrix(1.5, 2, 3, 4).is_whole
    assert ConfusionMatrix(1.0, 2, 3, 4).to_array().dtype.kind == "i"


def test_a_matrix_is_frozen_and_can_be_a_key() -> None:
    cm = ConfusionMatrix(1, 2, 3, 4)
    with pytest.raises(AttributeError):
        cm.tp = 5  # type: ignore[misc]
    assert {cm: "a"}[ConfusionMatrix(1, 2, 3, 4)] == "a"


def test_a_matrix_reads_at_a_glance() -> None:
    cm = ConfusionMatrix(2.118030118, 0.846764346, 0, 6)

    assert repr(cm) == "ConfusionMatrix(tp=2.118030118, fn=0.846764346, fp=0, tn=6)"
    assert "2.11803  " in str(cm)
    assert '<th scope="row">actual +</th><td>2.11803</td>' in cm._repr_html_()


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (-1, "fp must not be negative; got -1"),
        (float("nan"), "fp must be finite; got nan"),
        (float("inf"), "fp must be finite; got inf"),
        (True, "fp must be a count; got True (to count labels, use ConfusionMatrix.from_labels)"),
        (np.True_, "fp must be a count; got True (to count labels, use ConfusionMatrix.from_labels)"),
        ("3", "fp must be a number; got '3' of type str"),
        (None, "fp must be a number; got None of type NoneType"),
        (1 + 2j, "fp must be a number; got (1+2j) of type complex"),
        (2**53 + 1, "fp must be at most 2**53, beyond which float64 is not exact; got 9007199254740993"),
    ],
)
def test_a_bad_cell_is_named(cell: Any, sentence: str) -> None:
    refused(lambda: ConfusionMatrix(1, 2, cell, 4), sentence)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        ([1, 2, 3, 4], "array must have shape (2, 2), as [[tp, fn], [fp, tn]]; got shape (4,); for four cells, use "
                       "ConfusionMatrix(tp, fn, fp, tn)"),
        (np.ones((3, 3)), "array must have shape (2, 2), as [[tp, fn], [fp, tn]]; got shape (3, 3)"),
        ([[True, False], [False, True]], "array must contain counts; got booleans (to count labels, use "
                                         "ConfusionMatrix.from_labels)"),
        ([["1", "2"], ["3", "4"]], "array must contain numbers; got text"),
        ([[1, 2], [3]], "array must be an array of numbers; got [[1, 2], [3]]"),
        ([[1, -2], [3, 4]], "fn must not be negative; got -2"),
        ([[True, 2], [3, 4]], "array must contain counts; got booleans (to count labels, use "
                              "ConfusionMatrix.from_labels)"),
        ([[1e-80, 2], [3, 4]], "tp must be 0 or at least 1e-75; got 1e-80"),
    ],
)  # fmt: skip
def test_a_bad_array_is_explained(array: Any, sentence: str) -> None:
    refused(lambda: ConfusionMatrix.from_array(array), sentence)


def test_the_smallest_and_the_largest_cell_are_cells() -> None:
    assert ConfusionMatrix(2**53, 1e-75, 0, 0.0).cells == (2**53, 1e-75, 0, 0)
    assert metric("tpr")([2**53, 0, 1e-75, 1]) == 1


def test_rounding_does_not_make_a_real_cell_negative() -> None:
    left = ConfusionMatrix(0.3, 1, 1, 1) - ConfusionMatrix(0.1, 0, 0, 0) - ConfusionMatrix(0.2, 0, 0, 0)
    assert left.tp == 0


def test_named_columns_are_read_by_name() -> None:
    frame = pd.DataFrame({"tn": [6], "FP": [0], "fn": [1], "tp": [3]})
    assert metric("tpr")(frame).tolist() == [0.75]
    assert metric("tpr")(frame.iloc[0]) == 0.75
    assert metric("tpr")(pd.DataFrame([[3, 1, 0, 6]])).tolist() == [0.75]
    refused(
        lambda: metric("tpr")(frame.rename(columns={"tn": "n"})),
        "cells with named columns must have the columns tp, fn, fp and tn; got n, FP, fn, tp",
    )


def test_a_difference_that_would_be_negative_is_refused() -> None:
    refused(
        lambda: ConfusionMatrix(1, 2, 3, 4) - ConfusionMatrix(0, 3, 0, 9),
        "cannot subtract a matrix with larger cells; the result has fn = -1, tn = -5",
    )


def test_an_empty_matrix_has_no_proportions() -> None:
    refused(lambda: ConfusionMatrix(0, 0, 0, 0).proportions, "an empty matrix (n = 0) has no proportions")


def test_matrices_are_added_to_matrices_only() -> None:
    cm: Any = ConfusionMatrix(1, 2, 3, 4)
    for combine in (operator.add, operator.sub):
        with pytest.raises(TypeError):
            combine(cm, 1)
        with pytest.raises(TypeError):
            combine(1, cm)


def untyped(value: Any) -> Any:
    """A value that a type checker would refuse."""
    return value


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ConfusionMatrix(untyped(np.array(True)), 1, 1, 1),
         "tp must be a count; got True (to count labels, use ConfusionMatrix.from_labels)"),
        (lambda: ConfusionMatrix(untyped(np.array("1")), 1, 1, 1), "tp must be a number; got '1' of type str"),
        (lambda: ConfusionMatrix(untyped(np.ma.masked), 1, 1, 1), "tp must be a number; got a masked value"),
        (lambda: ConfusionMatrix(10**400, 1, 1, 1),
         "tp must be at most 2**53, beyond which float64 is not exact; got 1e+400"),
        (lambda: ConfusionMatrix(untyped(Fraction(10**400, 3)), 1, 1, 1),
         "tp must be at most 2**53, beyond which float64 is not exact; got 3.33333e+399"),
        (lambda: ConfusionMatrix(untyped(Decimal("sNaN")), 1, 1, 1), "tp must be finite; got nan"),
        (lambda: metric("tpr")(np.ma.array([1, 2, 3, 4], mask=[False, True, False, False])),
         "cells must not contain masked values; fill or drop them first"),
        (lambda: metric("tpr")(untyped([np.ma.masked, 1, 1, 1])),
         "cells must not contain masked values; fill or drop them first"),
        (lambda: metric("tpr")([10**400, 1, 1, 1]), "cells must be at most 2**53, beyond which float64 is not exact"),
        (lambda: ConfusionMatrix.from_array(np.ma.array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])),
         "array must not contain masked values; fill or drop them first"),
        (lambda: ConfusionMatrix.from_labels(pd.Series([1, 0, 1]), pd.Series([1, 0, 0], index=[2, 1, 0])),
         "y_true and y_pred must have the same index; align them, or pass their values without it"),
        (lambda: ConfusionMatrix.from_labels([Decimal("sNaN"), 1], [1, 0]),
         "y_true contains 1 missing value; drop that row first"),
        (lambda: ConfusionMatrix.from_labels([1, np.ma.masked], [1, 0]),
         "y_true contains 1 missing value; drop that row first"),
        (lambda: ConfusionMatrix.from_labels([1j, 1], [1, 0]),
         "y_true must contain numbers, text or booleans; got values of type complex"),
        (lambda: ConfusionMatrix.from_labels([1, float("inf")], [1, 0]),
         "y_true and y_pred contain 3 distinct labels (0, 1, inf); if these are scores, pass them as y_score= with a "
         "threshold="),
    ],
)  # fmt: skip
def test_what_no_count_or_label_can_be_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as found:
        call()
    assert str(found.value) == sentence


def test_masked_arrays_without_masked_values_and_equal_indexes_are_fine() -> None:
    assert metric("tpr")(np.ma.array([1, 3, 0, 0])) == 0.25
    labels = pd.Series([1, 0], index=["a", "b"])
    assert ConfusionMatrix.from_labels(labels, labels) == ConfusionMatrix(1, 0, 0, 1)
    assert ConfusionMatrix(untyped(np.array(2)), 1, 1, 1) == ConfusionMatrix(2, 1, 1, 1)


def test_a_matrix_is_an_array_to_numpy() -> None:
    """np.asarray(cm) is what `to_array` gives, and is read back by `from_array`."""
    cm = ConfusionMatrix(1, 2, 3, 4)
    assert np.array_equal(np.asarray(cm), cm.to_array()) and np.asarray(cm).dtype == np.int64
    assert np.asarray(cm, dtype=np.float32).dtype == np.float32
    assert np.asarray(ConfusionMatrix(1.5, 2, 3, 4)).tolist() == [[1.5, 2], [3, 4]]
    assert ConfusionMatrix.from_array(cm) == cm
    assert np.stack([cm, cm]).shape == (2, 2, 2)
    array = np.array(cm, copy=True)
    array[0, 0] = 9
    assert cm.tp == 1


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="copy=False means if needed before NumPy 2")
def test_an_array_cannot_be_made_without_a_copy() -> None:
    with pytest.raises(
        ValueError, match=r"^a ConfusionMatrix holds no array, so that one cannot be made of it without"
    ):
        np.array(ConfusionMatrix(1, 2, 3, 4), copy=False)


def test_a_matrix_is_not_taken_for_that_of_scikit_learn() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"^array must be \[\[tn, fp\], \[fn, tp\]\]; got ConfusionMatrix\(tp=1, fn=2, fp=3, tn=4\), which has "
        r"another layout$",
    ):
        ConfusionMatrix.from_sklearn(ConfusionMatrix(1, 2, 3, 4))
