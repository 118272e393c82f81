from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import golden, matrices

from evenhand import (
    ConfusionMatrix,
    InvalidInput,
    TooLarge,
    count_cell_value,
    count_matrices,
    enumerate_matrices,
    metric,
)
from evenhand.cells import is_missing, listed

counts = st.integers(0, 10**12)
any_matrix = st.builds(ConfusionMatrix, counts, counts, counts, counts)


def refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


# Matrices


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


# Labels


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_labels_are_counted_as_they_are(pairs: list[tuple[bool, bool]]) -> None:
    true, pred = [a for a, _ in pairs], [b for _, b in pairs]
    expected = tuple(pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False)))

    assert ConfusionMatrix.from_labels(true, pred).cells == expected


@pytest.mark.parametrize(
    "column",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda v: pd.Series(v, dtype="category"),
        lambda v: np.array(v, dtype=object),
        lambda v: (x for x in v),
    ],
)
@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([-1, 1], 1), ([False, True], True), (["no", "yes"], "yes"), ([0.0, 1.0], 1), ([2, 7], 7)],
)
def test_labels_come_in_any_column(column: Callable[[list[Any]], Any], labels: list[Any], positive: Any) -> None:
    no, yes = labels
    true, pred = [yes, yes, no, no, no], [yes, no, yes, no, no]

    assert ConfusionMatrix.from_labels(column(true), column(pred), positive) == ConfusionMatrix(1, 1, 1, 2)


def test_the_positive_class_may_be_absent_from_a_small_group() -> None:
    assert ConfusionMatrix.from_labels([0, 0], [0, 0], positive=1) == ConfusionMatrix(0, 0, 0, 2)
    assert ConfusionMatrix.from_labels(["no", "no"], ["no", "no"], positive="yes") == ConfusionMatrix(0, 0, 0, 2)
    assert ConfusionMatrix.from_labels([0, 0], [0, 0]) == ConfusionMatrix(0, 0, 0, 2)


@pytest.mark.parametrize(
    ("negative", "positive"),
    [(0, 1), (-1, 1), (False, True), ("no", "yes"), ("NO", "YES"), ("n", "y"), ("N", "Y"), ("0", "1"),
     ("false", "true"), ("False", "True"), ("negative", "positive"), ("Negative", "Positive")],
)  # fmt: skip
def test_an_unambiguous_positive_label_is_inferred(negative: Any, positive: Any) -> None:
    true, pred = [positive, positive, negative, negative, negative], [positive, negative, positive, negative, negative]
    assert ConfusionMatrix.from_labels(true, pred) == ConfusionMatrix(1, 1, 1, 2)
    assert ConfusionMatrix.from_labels([negative], [negative]) == ConfusionMatrix(0, 0, 0, 1)


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), np.datetime64("NaT", "D"), Decimal("nan"), pd.NA, pd.NaT]
)
def test_a_missing_value_is_known_as_such(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "NA", False, float("inf"), np.datetime64("2020-01-01")])
def test_any_other_value_is_not_missing(value: Any) -> None:
    assert not is_missing(value)


def test_a_list_of_many_labels_is_cut_short() -> None:
    assert listed(range(6)) == "0, 1, 2, 3, 4, 5"
    assert listed(range(7)) == "0, 1, 2, 3, 4, 5, …"


@pytest.mark.parametrize(
    ("true", "pred", "positive", "sentence"),
    [
        ([], [], 1, "y_true and y_pred must contain at least one label; got none"),
        ([1, 0], [1], 1, "y_true and y_pred must have the same length; got 2 and 1"),
        ([1, 0], ["a", "b"], 1, "y_true contains numbers (0, 1) but y_pred contains text ('a', 'b'); pass the positive "
                                "labels of each as positive_label= and positive_prediction="),
        ([True, False], [1, 2], 1, "y_true contains booleans (False, True) but y_pred contains numbers (1, 2); pass "
                                   "the positive labels of each as positive_label= and positive_prediction="),
        ([1, "a"], [1, 1], 1, "y_true must contain labels of one type; got numbers and text"),
        ([1, None], [1, 0], 1, "y_true contains 1 missing value; drop that row first"),
        ([1, 0], [float("nan"), None], 1, "y_pred contains 2 missing values; drop those rows first"),
        (np.array([1.0, np.nan]), [1, 0], 1, "y_true contains 1 missing value; drop that row first"),
        ([0, 1, 2], [0, 1, 1], None, "y_true and y_pred contain 3 distinct labels (0, 1, 2); pass the positive ones as "
                                     "positive=, or audit each class with audit_classes"),
        ([0, 1, 1], [0.2, 0.7, 0.9], 1, "y_true and y_pred contain 5 distinct labels (0, 0.2, 0.7, 0.9, 1); if these "
                                        "are scores, pass them as y_score= with a threshold="),
        ([1, 1], [1, 1], None, "the positive label cannot be inferred from the label 1; pass it as positive="),
        (["yes", "yes"], ["yes", "yes"], "Yes", "positive must be one of the labels ('yes'); got 'Yes'"),
        ([np.float32("nan"), 1.0], [1.0, 1.0], 1, "y_true contains 1 missing value; drop that row first"),
        ([Decimal("nan"), Decimal(1)], [1, 1], 1, "y_true contains 1 missing value; drop that row first"),
        (np.ma.array([1, 0], mask=[False, True]), [1, 0], 1, "y_true contains 1 missing value; drop that row first"),
        ([(1, 0), (2, 0)], [(1, 0), (1, 0)], (1, 0), "y_true must contain numbers, text or booleans; got values of "
                                                     "type tuple"),
        ([[1], [0]], [[1], [0]], 1, "y_true must contain numbers, text or booleans; got values of type list"),
        ([1, [0]], [1, 0], 1, "y_true must contain numbers, text or booleans; got values of type list"),
        (np.array(["2020-01-01"], "M8[ns]"), [1], 1, "y_true must contain numbers, text or booleans; got values of "
                                                     "type date"),
        (["a", "b"], ["a", "b"], None, "the positive label cannot be inferred from the labels 'a', 'b'; pass it as "
                                       "positive="),
        ([1, 2], [1, 2], None, "the positive label cannot be inferred from the labels 1, 2; pass it as positive="),
        (["a", "b"], ["a", "b"], "c", "positive must be one of the labels ('a', 'b'); got 'c'"),
        (["a", "1"], ["a", "1"], 1, "positive must be one of the labels, which are text ('1', 'a'); got 1"),
        ([False, True], [True, True], 2, "positive must be one of the labels, which are booleans (False, True); got 2"),
        ([1, 2], [1, 2], True, "positive must be one of the labels, which are numbers (1, 2); got True"),
        (["a", "b"], ["a", "b"], [], "positive must be a label or a list of labels; got []"),
        (["a", "b"], ["a", "b"], ["c", "d"], "positive must be one of the labels ('a', 'b'); got 'c', 'd'"),
        (["low", "HIGH"], ["low", "low"], ["low", "high"], "positive must be one of the labels ('HIGH', 'low'); got "
                                                           "'high'"),
        ("abc", "abc", "a", "y_true must be a sequence of labels; got 'abc'"),
        (3, 3, 1, "y_true must be a sequence of labels; got 3"),
        (np.ones((2, 2)), np.ones((2, 2)), 1, "y_true must be one-dimensional; got shape (2, 2)"),
    ],
)  # fmt: skip
def test_bad_labels_are_explained(true: Any, pred: Any, positive: Any, sentence: str) -> None:
    refused(lambda: ConfusionMatrix.from_labels(true, pred, positive), sentence)


# The space of matrices


@pytest.mark.parametrize("n", range(13))
def test_the_space_is_what_four_loops_list(n: int) -> None:
    assert [tuple(row) for row in enumerate_matrices(n).tolist()] == list(matrices(n))
    assert count_matrices(n) == len(enumerate_matrices(n)) == comb(n + 3, 3)


@pytest.mark.parametrize("case", golden("metrics")["cell_value_counts_C(x;n)"], ids=lambda c: f"n={c['n']}")
def test_each_cell_takes_each_value_as_often_as_the_theorem_says(case: dict[str, Any]) -> None:
    """C(x; n) = C(n-x+2, 2)."""
    n = case["n"]
    assert [count_cell_value(x, n) for x in range(n + 1)] == case["counts"]
    for cell in enumerate_matrices(n).T:
        assert np.bincount(cell, minlength=n + 1).tolist() == case["counts"]


def test_a_value_above_n_never_occurs() -> None:
    assert count_cell_value(4, 3) == 0


def test_a_list_past_the_budget_is_refused_with_the_way_out() -> None:
    sentence = (
        "enumerating n = 1,000 takes 167,668,501 rows, more than the limit of 67,108,864; "
        "counts, probabilities and distributions are available without enumeration"
    )
    with pytest.raises(TooLarge, match=f"^{re.escape(sentence)}$"):
        enumerate_matrices(1000)


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (-1, "n must not be negative; got -1"),
        (2.5, "n must be a whole number of cases; got 2.5"),
        (True, "n must be a whole number of cases; got True"),
        ("3", "n must be a whole number of cases; got '3'"),
    ],
)
def test_a_bad_n_is_explained(n: Any, sentence: str) -> None:
    refused(lambda: count_matrices(n), sentence)


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
