"""The K x K matrix: an immutable value, printed, and collapsed to two classes."""

from __future__ import annotations

import json
import operator
import pickle
from copy import deepcopy
from math import nan
from typing import Any

import numpy as np
import pytest
from class_oracle import Table, against_rest, cases, tables
from hypothesis import given
from oracle import refusal

from evenhand import ConfusionMatrix, MulticlassConfusion
from evenhand.confusion import one_vs_rest, require_same_labels

NOT_COUNTS = "(to count labels, use ConfusionMatrix.from_labels)"
TABLE = [[3, 1, 0], [5, 2, 7], [1, 9, 4]]
CM = MulticlassConfusion(TABLE, labels=["a", "b", "c"])
from_array = MulticlassConfusion.from_array


def test_a_matrix_has_counts_labels_and_totals() -> None:
    assert (CM.counts.tolist(), CM.labels, CM.n, CM.k, CM.is_whole) == (TABLE, ("a", "b", "c"), 32, 3, True)
    assert CM.proportions.tolist() == [[cell / 32 for cell in row] for row in TABLE]
    assert from_array(TABLE).labels == (0, 1, 2)
    assert (from_array([[1.0]]).is_whole, from_array([[0.5]]).is_whole) == (True, False)
    assert refusal(lambda: (CM - CM).proportions) == "InvalidInput: an empty matrix (n = 0) has no proportions"


def test_counts_that_are_not_a_matrix_are_refused() -> None:
    shape, two, ab = "have shape (K, K), actual classes in rows; got shape", [[1, 2], [3, 4]], ["a", "b"]
    not_labels = "contain numbers, text or booleans; got values of type"
    for_counts: list[tuple[Any, str]] = [
        ([[1, 2]], f"{shape} (1, 2)"), ([], f"{shape} (0,)"),
        ([[1, 2], [3]], "be an array of numbers; got [[1, 2], [3]]"),
        ([["1", "2"], ["3", "4"]], "contain numbers; got text"), ([[1, -2], [0, 0]], "not be negative; got -2"),
        ([[True, False], [True, True]], f"contain counts; got booleans {NOT_COUNTS}"),
        (np.ma.masked_equal(two, 3), "not be masked; fill or drop masked values first"),
        ([[1, nan], [0, 0]], "be finite; got nan"),
        ([[2**53, 2], [0, 0]], "add up to at most 2**53, beyond which float64 is not exact"),
        ([[1e-80, 1], [0, 0]], "be 0 or at least 1e-75; got 1e-80")]  # fmt: skip
    for_labels: list[tuple[Any, str]] = [
        (["a"], "name each of the 2 classes; got 1"), (["a", "a"], "name each class once; got 'a', 'a'"),
        ("ab", "be a sequence of classes; got 'ab'"), ([], "name at least one class; got none"),
        ([None, "a"], f"{not_labels} missing"), ([["a"], "b"], f"{not_labels} list"),
        ([1, "a"], "contain labels of one type; got numbers and text")]  # fmt: skip
    for counts, message in for_counts:
        assert refusal(MulticlassConfusion, counts, ab) == f"InvalidInput: counts must {message}"
    for labels, message in for_labels:
        assert refusal(MulticlassConfusion, two, labels) == f"InvalidInput: labels must {message}"
    too_many = "TooLarge: there are 2,001 classes, more than the limit of 2,000; merge rare ones"
    assert refusal(from_array, np.zeros((2001, 2001))) == too_many


def test_a_matrix_is_a_frozen_value() -> None:
    given_counts = np.array(TABLE)
    cm = MulticlassConfusion(given_counts, ["a", "b", "c"])
    assert len({CM, cm}) == 1 and CM not in (from_array(TABLE), CM + CM, TABLE)
    given_counts[0, 0] = cm.to_array()[0, 0] = 7
    assert cm == CM
    with pytest.raises(ValueError, match="read-only"):
        cm.counts[0, 0] = 7
    with pytest.raises(AttributeError):
        cm.labels = ()  # type: ignore[misc]
    for copied in (pickle.loads(pickle.dumps(CM)), deepcopy(CM)):
        assert copied == CM and not copied.counts.flags.writeable


def test_matrices_of_the_same_labels_are_added_and_subtracted() -> None:
    assert (CM + CM).counts.tolist() == [[2 * cell for cell in row] for row in TABLE]
    assert sum([CM, CM]) == sum([CM, CM], ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)) == CM + CM and CM + CM - CM == CM
    assert refusal(lambda: CM - (CM + CM)) == "InvalidInput: cannot subtract a matrix with larger cells"
    same_labels = "must have the same labels in the same order"
    one: Any = ConfusionMatrix(tp=1, fn=0, fp=0, tn=0)
    for combine in (operator.add, operator.sub):
        other = f"InvalidInput: the other matrix {same_labels} (['a', 'b', 'c']); got [0, 1, 2]"
        assert refusal(combine, CM, from_array(TABLE)) == other
        for arguments in ((CM, 1), (1, CM), (CM, one), (one, CM)):
            with pytest.raises(TypeError):
                combine(*arguments)
    message = f"InvalidInput: the reference {same_labels} ([{', '.join(map(str, range(17)))}, 1…); got ['a', 'b', 'c']"
    assert refusal(require_same_labels, from_array(np.eye(50)), CM, "the reference") == message


def test_a_matrix_prints_as_a_table_without_control_characters() -> None:
    cm = MulticlassConfusion(np.array([[3, 1], [0, 2.5]]), labels=["x" * 30, "\x1b[2J"])
    assert str(cm).splitlines() == [
        "actual                    predicted xxxxxxxxxxxxxxxxxxxxxxxx  predicted \\x1b[2J  total",
        "xxxxxxxxxxxxxxxxxxxxxxxx                                   3                  1      4",
        "\\x1b[2J                                                    0                2.5    2.5",
        "total                                                      3                3.5    6.5",
    ]
    assert repr(from_array([[1, 2], [3, 4]])) == "MulticlassConfusion([[1, 2], [3, 4]], labels=(0, 1))"
    assert str(from_array(np.eye(20))).splitlines()[-1].split() == ["total", *["1"] * 20, "20"]
    assert str(from_array(np.eye(21))) == "<MulticlassConfusion: 21 classes, n = 21>"
    assert json.loads(json.dumps(CM.to_dict())) == {"labels": ["a", "b", "c"], "counts": TABLE}


def test_some_classes_are_compared_with_the_rest() -> None:
    for c, label in enumerate(CM.labels):
        assert CM.binary(label).cells == against_rest(TABLE, c) == tuple(CM.one_vs_rest[c])
    expected = [0, 0, 0, 0]
    for actual, predicted in cases(TABLE):
        expected[2 * (actual == 1) + (predicted == 1)] += 1
    assert CM.binary(["c", "a"]).cells == CM.binary({"a", "c"}).cells == tuple(expected)
    message = "InvalidInput: positive must name at least one class, and each once; got"
    assert [refusal(CM.binary, each) for each in ([], ["a", "a"])] == [f"{message} []", f"{message} ['a', 'a']"]
    assert refusal(CM.binary, ["a", "d"]) == "UnknownName: no class is called 'd'; known: a, b, c"


def test_an_empty_part_of_real_cells_is_exactly_empty() -> None:
    """All of class 1 and nothing else is predicted as 1: however other cells round, it has no FN and no FP."""
    cm = from_array(np.array([[0.1, 0, 0.2], [0, 0.3, 0], [0.7, 0, 0.1]]))
    assert cm.binary(1).cells[:3] == (0.3, 0, 0) == tuple(cm.one_vs_rest[1][:3])
    assert from_array(np.array([[0.1, 0.2], [0, 0]])).one_vs_rest[:, 3].tolist() == [0, 0.1]


@given(table=tables(3) | tables(5, 2))
def test_counts_and_real_cells_are_collapsed_in_the_same_way(table: Table) -> None:
    """Of many matrices at once; a part of real cells is 0 only if all of its cells are."""
    expected = np.array([against_rest(table, c) for c in range(len(table))])
    assert (one_vs_rest(np.array(table)) == expected).all()
    for cells, part in zip(one_vs_rest(np.array([table, table]) / [[[4]], [[3]]]), (4, 3), strict=True):
        assert cells == pytest.approx(expected / part, rel=1e-14, abs=0)


def test_the_layout_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import confusion_matrix

    true, pred = np.random.default_rng(1).integers(5, size=(2, 300))
    for labels in (None, [3, 0, 4, 1, 2]):
        theirs = from_array(confusion_matrix(true, pred, labels=labels), labels)
        assert MulticlassConfusion.from_labels(true, pred, labels) == theirs
