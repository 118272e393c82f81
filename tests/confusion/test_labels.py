"""Columns of labels and predictions: how they are counted, which labels are positive, and what is refused."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
from engines import pl
from hypothesis import assume, given, strategies as st
from oracle import refusal

from evenhand import ConfusionMatrix, MulticlassConfusion
from evenhand.confusion import is_missing, read_classes, read_labels

count, count_classes = ConfusionMatrix.from_labels, MulticlassConfusion.from_labels
pairs_of_letters = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=30)
Pairs = list[tuple[str, str]]
letters = st.sets(st.sampled_from("abcd"), min_size=1, max_size=3)


@given(pairs_of_letters, letters, letters)
def test_cases_are_counted_by_what_is_positive(pairs: Pairs, label: set[str], prediction: set[str]) -> None:
    true, pred = zip(*pairs, strict=True)
    expected = Counter((a in label, b in prediction) for a, b in pairs)
    assume(all(len(set(y)) == 1 or positive & set(y) for y, positive in ((true, label), (pred, prediction))))
    cm = count(true, pred, {"label": label, "prediction": sorted(prediction)})
    assert cm.cells == tuple(expected[a, b] for a in (True, False) for b in (True, False))


@given(pairs_of_letters)
def test_classes_are_counted_by_label_and_prediction(pairs: Pairs) -> None:
    true, pred = zip(*pairs, strict=True)
    cm, counts = count_classes(true, pred), Counter(pairs)
    assert cm.labels == tuple(sorted({*true, *pred}))
    assert cm.counts.tolist() == [[counts[a, b] for b in cm.labels] for a in cm.labels]
    codes = [["abcd".index(letter) for letter in column] for column in (true, pred)]
    for coded in (count_classes(*codes), count_classes(np.array(codes[0]) * 1.0, codes[1])):
        assert coded.labels == tuple(map("abcd".index, cm.labels)) and (coded.counts == cm.counts).all()


def test_labels_are_read_from_any_kind_of_column() -> None:
    columns: list[Any] = [list, tuple, iter, np.array, lambda v: np.array(v, dtype=object), pd.Series,
                          lambda v: pd.Series(v, dtype="category"), pl.Series]  # fmt: skip
    kinds: list[tuple[Any, Any]] = [(0, 1), (-1, 1), (False, True), ("no", "yes"), (0.0, 1.0), (2, 7)]
    for column, (no, yes) in product(columns, kinds):
        true, pred = column([yes, yes, no, no, no]), column([yes, no, yes, no, no])
        assert count(true, pred, yes).cells == (1, 1, 1, 2), (column, yes)
    not_columns: list[Any] = ["10", b"10", {1, 0}, {1: 0}, list, 3, None, np.array(1)]
    for values in not_columns:
        assert refusal(count, values, [1, 0]) == f"InvalidInput: y_true must be a sequence of labels; got {values!r}"


def test_an_unambiguous_positive_label_is_inferred() -> None:
    known: list[tuple[Any, Any]] = [
        (0, 1), (-1, 1), (False, True), ("no", "yes"), ("NO", "YES"), ("n", "y"), ("N", "Y"), ("0", "1"), (" 0", "1 "),
        ("false", "true"), ("False", "True"), ("negative", "positive"), ("Negative", "Positive")]  # fmt: skip
    for no, yes in known:
        assert count([yes, yes, no, no, no], [yes, no, yes, no, no]).cells == (1, 1, 1, 2), yes
        # A small group may have no positives.
        assert count([no], [no]).cells == count([no], [no], yes).cells == (0, 0, 0, 1), no
    assert count([1, 0], ["yes", "no"]).cells == count([True, False], [1, 0], "1").cells == (1, 0, 0, 1)
    assert count(["low", "high", "mid"], ["mid", "high", "low"], np.array(["high", "mid"])).cells == (1, 1, 1, 0)


def test_text_is_read_as_numbers_or_booleans_where_the_other_column_is() -> None:
    rows: list[tuple[list[Any], list[Any], tuple[Any, ...]]] = [
        (["1", "2"], ["2", "2"], ("1", "2")), (["1", "2"], [2, 3], (1, 2, 3)), ([True, False], [1, 1], (False, True)),
        (["True", "false"], [True, True], (False, True)), (["none", "mild"], ["none", "none"], ("mild", "none")),
        ([Decimal(1), Decimal("2.00")], [1, 1], (1, 2)), ([Decimal("0.5"), 2], [2, 2], (0.5, 2))]  # fmt: skip
    for true, pred, labels in rows:
        assert repr(count_classes(true, pred).labels) == repr(labels)
    columns = {"y_true": {"1", "2"}, "y_pred": {"10", ""}}
    assert read_classes(columns).classes == ("1", "10", "2") and read_classes(columns, parse=True).classes == (1, 2, 10)
    # Given classes may be unused, or be called NA.
    assert count_classes(["b", "a"], ["a", "a"], ["c", "b", "a"]).counts.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert count_classes(["NA", "b"], ["b", "b"], ["NA", "b"]).counts.tolist() == [[0, 1], [0, 1]]


def test_a_coding_says_how_each_value_was_read() -> None:
    """Words such as NA are missing where two classes remain without them; if positives are given, none is a label."""
    coding = read_labels({"y_true": {"yes", "no", "NA", ""}, "y_pred": {0, 1, None}})
    assert coding.codes == {"y_true": {"yes": 1, "no": 0, "NA": None, "": None}, "y_pred": {0: 0, 1: 1, None: None}}
    assert coding.missing_words == {"y_true": ("NA",), "y_pred": ()}
    coding = read_labels({"y_true": {"low", "mid", "high"}, "y_pred": {"low", "high"}}, positive=["high", "top"])
    expected = ("high", "top"), ("low", "mid"), ("top",)
    assert (coding.positive["y_pred"], coding.negative["y_true"], coding.absent) == expected
    assert read_labels({"y_true": {True, False}, "y_pred": {0, 1}}, positive="1").positive["y_true"] == (True,)
    for word, others in (("NA", {"EU"}), ("none", {"EU", "US"})):
        columns = dict.fromkeys(("y_true", "y_pred"), {word} | others)
        assert read_labels(columns, positive="EU").codes["y_true"][word] == 0
    assert read_labels({"y_true": {"NA", "yes"}, "y_pred": {"no", "yes"}}).codes["y_true"]["NA"] is None


def test_missing_values_are_told_from_others() -> None:
    assert all(map(is_missing, [None, nan, np.float32(nan), np.datetime64("NaT"), Decimal("sNaN"), pd.NA, pd.NaT]))
    assert is_missing(np.timedelta64("NaT"))
    assert not any(map(is_missing, [0, "", "NA", False, inf, np.datetime64("2020-01-01"), date(2020, 1, 1)]))


def test_dates_and_durations_are_not_read_as_integers() -> None:
    """NumPy converts those in nanoseconds to integers, and its durations are a type of integers."""
    for code, kind in (("M", "datetime64"), ("m", "timedelta64")):
        column = np.array([0, 1, 1], f"{code}8[ns]")
        for values in (column, list(column), pd.Series(column)):
            for counted in (count, count_classes):
                assert refusal(counted, values, values) == f"InvalidInput: {NOT_LABELS} {kind}", (counted, values)
        message = NOT_LABELS.replace("y_true", "labels")
        assert refusal(count_classes, [0, 1], [0, 1], column[:2]) == f"InvalidInput: {message} {kind}"


EACH = "pass the positive labels of each as positive['label'] and positive['prediction']"
ONE_MISSING, TWO_MISSING = "1 missing value; drop that row first", "2 missing values; drop those rows first"
ALIKE = "look like one label; pass all of them as positive=, or unify their spelling"
ONE_OF, LABEL_OR_LIST = "positive must be one of the labels", "positive must be a label or a list of labels; got"
NOT_LABELS = "y_true must contain numbers, text or booleans; got values of type"
INFER, SAME = "the positive label cannot be inferred from", "labels and predictions must name the same classes"
SCORES = "if these are scores, pass them as y_score= with a threshold="
AB, NUMBERS = "y_true contains text ('a', 'b')", "y_pred contains numbers"
BOOLEANS = f"y_true contains booleans (False, True) but {NUMBERS} (1, 2)"
# fmt: off
REFUSED: list[tuple[Any, Any, Any, str]] = [
    ([], [], 1, "y_true and y_pred must contain at least one label; got none"),
    ([1, 0], [1], 1, "y_true and y_pred must have the same length; got 2 and 1"),
    (np.ones((2, 2)), np.ones((2, 2)), 1, "y_true must be one-dimensional; got shape (2, 2)"),
    ([Decimal("sNaN"), 1], [1, 0], 1, f"y_true contains {ONE_MISSING}"),
    (np.ma.masked_equal([1, 0], 0), np.array([1.0, 0]), 1, f"y_true contains {ONE_MISSING}"),
    (["NA", "yes", "no"], ["yes", "no", "no"], None, f"y_true contains {ONE_MISSING}"),
    ([1, 0], [nan, None], 1, f"y_pred contains {TWO_MISSING}"),
    (["", " "], ["", ""], None, "every value of y_true is missing; there is nothing to audit"),
    ([1, "a"], [1, 1], 1, "y_true must contain labels of one type; got numbers and text"),
    (np.array(["2020"], "M8[ns]"), [1], 1, f"{NOT_LABELS} datetime64"), ([1, [0]], [1, 0], 1, f"{NOT_LABELS} list"),
    ([(1, 0)], [(1, 0)], (1, 0), f"{NOT_LABELS} tuple"), ([1j, 1], [1, 0], 1, f"{NOT_LABELS} complex"),
    ([True, False], [1, 2], 1, f"{BOOLEANS}; {EACH}"), (["a", "b"], [0, 1], 1, f"{AB} but {NUMBERS} (0, 1); {EACH}"),
    (["a", "b"], [0.2, 1], "a", f"{AB} but {NUMBERS} (0.2, 1); {SCORES}; otherwise {EACH}"),
    (["x", "y"], ["a", "b"], "x",
     f"labels and predictions have no value in common: y_true 'x', 'y' and y_pred 'a', 'b'; {EACH}"),
    ([0, 1, 2], [0, 1, 1], None, "y_true and y_pred contain 3 distinct labels (0, 1, 2); pass the positive ones as "
     "positive=, or audit each class with classes='all'"),
    ([0, 1, 1], [0.2, 0.7, 0.9], 1, f"y_true and y_pred contain 5 distinct labels (0, 0.2, 0.7, 0.9, 1); {SCORES}"),
    ([1, inf], [1, 0], None, f"y_true and y_pred contain 3 distinct labels (0, 1, inf); {SCORES}"),
    ([1, 1], [1, 1], None, f"{INFER} 1; pass it as positive="),
    (["`n`", "\x1b[2J"], ["`n`", "`n`"], None, f"{INFER} '`n`', '\\x1b[2J'; pass it as positive="),
    (["yes", "Yes", "no"], ["yes", "no", "no"], "yes",
     f"'Yes', 'yes' {ALIKE}"),
    (["yes"], ["yes"], "Yes", f"'Yes', 'yes' {ALIKE}"), ([2, 4], [2, 4], [5, 3], f"{ONE_OF} (2, 4); got 3, 5"),
    (["low", "HIGH"], ["low", "low"], ["low", "high"], f"'HIGH', 'high' {ALIKE}"),
    (["a", "1"], ["a", "1"], 1, f"{ONE_OF}, which are text ('1', 'a'); got 1"),
    ([False, True], [True, True], 2, f"{ONE_OF}, which are booleans (False, True); got 2"),
    ([1, 2], [1, 2], True, f"{ONE_OF}, which are numbers (1, 2); got True"),
    ([1, 2], [1, 2], [], f"{LABEL_OR_LIST} []"), ([1, 2], [1, 2], [[1]], f"{LABEL_OR_LIST} [[1]]"),
]
REFUSED_CLASSES: list[tuple[Any, Any, Any, str]] = [
    (["a", "b"], ["NA", " "], None, "every value of y_pred is missing; there is nothing to count"),
    (["a", "b", "c"], ["b", "n/a", ""], None, f"y_pred contains {TWO_MISSING}"),
    (["a", "b"], [1, 1], None, f"{AB} but {NUMBERS} (1); {SAME}"), ([True, False], [1, 2], None, f"{BOOLEANS}; {SAME}"),
    ([0, 1, 2], [0.2, 0.7, 0.1], None, "y_true and y_pred contain 6 distinct numbers that are not whole (0, 0.1, 0.2, "
     "0.7, 1, 2); classes must be labels, not scores"),
    (["b"], ["c"], ["a"], "labels must contain every class that occurs; got labels without 'b', 'c'"),
]
# fmt: on


def test_labels_that_cannot_be_counted_are_explained() -> None:
    for true, pred, positive, message in REFUSED:
        assert refusal(count, true, pred, positive) == f"InvalidInput: {message}"
    for true, pred, labels, message in REFUSED_CLASSES:
        assert refusal(count_classes, true, pred, labels) == f"InvalidInput: {message}"
    same_index = "y_true and y_pred must have the same index; align them, or pass plain arrays"
    assert refusal(count, pd.Series([1, 0]), pd.Series([1, 0], index=[1, 0])) == f"InvalidInput: {same_index}"
    too_many = "TooLarge: there are 2,001 classes, more than the limit of 2,000; merge rare ones"
    assert refusal(count_classes, range(2001), range(2001)) == too_many
    for part in ("label", "prediction"):
        message = f"InvalidInput: positive['{part}'] must be one of the labels ('a', 'b'); got 'x'"
        assert refusal(count, ["a", "b"], ["a", "b"], {part: ["x"]}) == message
    no_labels = "InvalidInput: positive['label'] is for the labels of y_true, and there are none; leave it out"
    assert refusal(read_labels, {"y_pred": {0, 1}}, {"label": 1}) == no_labels
    unknown = "UnknownName: no part of positive is called 'lable'; did you mean 'label'?"
    assert refusal(count, [1, 0], [1, 0], {"lable": 1}) == unknown


def test_a_message_shows_a_few_short_labels() -> None:
    assert "(0, 1, 2, 3, 4, 5, …)" in refusal(count, range(7), range(7))
    assert len(refusal(count, ["x" * 10_000, "y"], ["y", "y"])) < 200
    # Python refuses to parse an integer of more than 4,300 digits.
    assert "but y_pred contains numbers (0, 1)" in refusal(count, ["9" * 5_000, "0"], ["1", "0"], "0")


def test_signs_tell_labels_apart_and_spellings_do_not() -> None:
    for positive, negative in (("HER2+", "HER2-"), ("+", "-"), ("C++", "C"), ("-1 unit", "1 unit")):
        cm = ConfusionMatrix.from_labels([positive, negative], [positive, positive], positive=positive)
        assert cm.cells == (1, 0, 1, 0)
    assert "look like one label" in refusal(
        lambda: ConfusionMatrix.from_labels(["Re-offended", "reoffended"], ["no", "no"], positive="reoffended")
    )
