"""Labels and predictions counted: what they may be, which are positive, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from evenhand import ConfusionMatrix
from evenhand.cells import is_missing, listed
from evenhand.errors import InvalidInput


def refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


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
                                     "positive=, or audit each class with classes='all'"),
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
