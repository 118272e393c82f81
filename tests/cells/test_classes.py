"""Labels and predictions of any number of classes, counted."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from re import escape
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import evenhand as eh


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_labels_are_counted_by_actual_and_predicted_class(rows: list[tuple[int, int]]) -> None:
    """counts[i, j] = #{cases of class i that are predicted j}, whatever holds the labels."""
    names = ["ant", "bee", "cat", "dog"]
    true, pred = ([names[pair[side]] for pair in rows] for side in (0, 1))
    found = eh.MulticlassConfusion.from_labels(true, pred)
    assert found.labels == tuple(sorted({*true, *pred}))
    for a, b in product(found.labels, repeat=2):
        expected = sum(pair == (a, b) for pair in zip(true, pred, strict=True))
        assert found.counts[found.place(a), found.place(b)] == expected
    assert eh.MulticlassConfusion.from_labels(np.array(true), np.array(pred)) == found
    numbers = np.array(rows)
    coded = eh.MulticlassConfusion.from_labels(numbers[:, 0], numbers[:, 1])
    assert [names[i] for i in coded.labels] == list(found.labels)
    assert (coded.counts == found.counts).all()
    assert (eh.MulticlassConfusion.from_labels(numbers[:, 0] * 1.0, numbers[:, 1]) == coded) is True


def test_the_layout_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import confusion_matrix

    rng = np.random.default_rng(1)
    true, pred = rng.integers(5, size=(2, 300))
    ours = eh.MulticlassConfusion.from_labels(true, pred)
    assert ours == eh.MulticlassConfusion.from_sklearn(confusion_matrix(true, pred))
    order = [3, 0, 4, 1, 2]
    assert eh.MulticlassConfusion.from_labels(true, pred, order) == eh.MulticlassConfusion.from_sklearn(
        confusion_matrix(true, pred, labels=order), order
    )


def test_classes_that_nobody_has_may_be_named() -> None:
    cm = eh.MulticlassConfusion.from_labels(["b", "a"], ["a", "a"], labels=["c", "b", "a"])
    assert cm.actual == {"c": 0, "b": 1, "a": 1}
    assert cm.predicted == {"c": 0, "b": 0, "a": 2}
    assert cm.counts.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_text_is_read_as_numbers_only_beside_numbers() -> None:
    read = eh.MulticlassConfusion.from_labels
    assert read(["1", "2"], ["2", "2"]).labels == ("1", "2")
    assert read(["1", "2"], [2, 3]).labels == (1, 2, 3)
    assert read(["True", "false"], [True, True]).labels == (False, True)
    assert read([True, False], [1, 1]).labels == (False, True)
    assert read(["none", "mild"], ["none", "none"]).labels == ("mild", "none")
    assert read(["NA", "b"], ["b", "b"], labels=["NA", "b"]).counts.tolist() == [[0, 1], [0, 1]]


def test_decimals_are_numbers() -> None:
    one, two, half = Decimal(1), Decimal("2.00"), Decimal("0.5")
    assert repr(eh.MulticlassConfusion.from_labels([one, two], [1, 1]).labels) == "(1, 2)"
    assert repr(eh.MulticlassConfusion.from_labels([one, half], [one, one], [half, one]).labels) == "(0.5, 1)"
    with pytest.raises(eh.errors.InvalidInput, match=r"^y_true contains 1 missing value; drop that row first$"):
        eh.MulticlassConfusion.from_labels([one, Decimal("nan")], [one, one])


@pytest.mark.parametrize(
    ("true", "pred", "labels", "sentence"),
    [
        (["a", "b"], ["a"], None, "y_true and y_pred must have the same length; got 2 and 1"),
        (["a", None], ["a", "b"], None, "y_true contains 1 missing value; drop that row first"),
        (["a", "b"], ["NA", " "], None, "every value of y_pred is missing; there is nothing to count"),
        (["a", "b", "c"], ["b", "n/a", ""], None, "y_pred contains 2 missing values; drop those rows first"),
        (["a", "b"], [1, 2], None, "y_true contains text ('a', 'b') but y_pred contains numbers (1, 2); labels and "
         "predictions must name the same classes"),
        ([True, False], [1, 2], None, "y_true contains booleans (False, True) but y_pred contains numbers (1, 2); "
         "labels and predictions must name the same classes"),
        ([0, 1, 2], [0.2, 0.7, 0.1], None, "y_true and y_pred contain 6 distinct numbers that are not whole (0, 0.1, "
         "0.2, 0.7, 1, 2); classes must be labels, not scores"),
        (["a", "b"], ["a", "c"], ["a", "b"], "labels must contain every class that occurs; 'c' occurs and is not among "
         "them"),
        (["a"], ["a"], "a", "labels must be a sequence of classes; got 'a'"),
        (["a"], ["a"], ["a", "a"], "labels must name each class once; got 'a', 'a'"),
        (["a"], ["a"], [], "labels must name at least one class; got none"),
        (["a"], ["a"], [["a"]], "labels must contain numbers, text or booleans; got values of type list"),
        (["a"], ["a"], ["a", None], "labels must contain numbers, text or booleans; got values of type missing"),
        ([], [], None, "y_true and y_pred must contain at least one label; got none"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_counted_are_refused(true: Any, pred: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        eh.MulticlassConfusion.from_labels(true, pred, labels)


def test_identifiers_are_not_classes() -> None:
    with pytest.raises(eh.errors.TooLarge, match=r"^there are 2,001 classes, more than the limit of 2,000$"):
        eh.MulticlassConfusion.from_labels(range(2001), range(2001))
    with pytest.raises(eh.errors.TooLarge, match=r"^there are 2,001 classes, more than the limit of 2,000$"):
        matrix(np.zeros((2001, 2001)))
