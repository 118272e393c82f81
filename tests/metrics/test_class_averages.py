"""Scores of K classes, against loops over cases, exact fractions and scikit-learn."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from math import isnan, nan
from typing import Any

import mpmath
import numpy as np
from class_oracle import Table, all_tables, as_mp, averaged, cases, class_score, overall, same, tables
from hypothesis import example, given, settings, strategies as st
from oracle import refusal
from pytest import approx

from evenhand import ConfusionMatrix, MulticlassConfusion, metric
from evenhand.metrics import ONE_GROUP_METRICS, class_average, score_classes

ALL_AT_ONCE = ("acc", "inacc", "balanced_accuracy", "mcc", "kappa")
AVERAGES: tuple[Any, ...] = ("micro", "macro", "weighted")
UNDEFINED: tuple[Any, ...] = ("propagate", "omit")
matrix = MulticlassConfusion.from_array


@settings(max_examples=6)
@given(table=tables(3, 3))
def test_classes_and_averages_score_as_their_definitions_say(table: Table) -> None:
    """S_c = S(tp_c, fn_c, fp_c, tn_c); a mean is undefined if a class that counts is, unless it is left out."""
    cm = matrix(table)
    scores = cm.scores()
    for m, c in product(ONE_GROUP_METRICS, range(3)):
        expected = class_score(m.key, table, c)
        assert same(scores[c][m.key], expected) and same(m(cm, label=c), expected), (m.key, c)
        assert (m.why_undefined(cm, label=c) is None) == (expected is not None), (m.key, c)
    for m, average, undefined in product(ONE_GROUP_METRICS, AVERAGES, UNDEFINED):
        expected = averaged(m.key, table, average, undefined == "omit")
        assert same(m(cm, average=average, undefined=undefined), expected), (m.key, average, undefined)
        why = m.why_undefined(cm, average=average, undefined=undefined)
        assert (why is None) == (expected is not None), (m.key, average, undefined)


@settings(max_examples=50)
@given(table=tables(3, 4) | tables(4, 3))
def test_all_classes_score_at_once_as_the_definitions_say(table: Table) -> None:
    """R_K = cov(X, Y) / sqrt(cov(X, X) cov(Y, Y)) of one-hot vectors, kappa = (p_o - p_e) / (1 - p_e), and so on."""
    for key in ALL_AT_ONCE:
        m, cm, expected = metric(key), matrix(table), overall(key, table)
        assert same(m(cm), expected) and (m.why_undefined(cm) is None) == (expected is not None), key
    assert {m.key for m in ONE_GROUP_METRICS if m.multiclass} == set(ALL_AT_ONCE)


def test_two_classes_score_as_their_2x2_matrix_does() -> None:
    """The matrix is a class against the rest, the correct cases of accuracy, or both of two classes."""
    for table, m in product(all_tables(3, 2), ONE_GROUP_METRICS):
        cm = matrix(table, ["a", "b"])
        for label in ("a", None) if m.multiclass else ("b",):
            binary = class_average(m, "ab", label=label).equivalent_binary(cm)
            assert binary is not None and m(cm, label=label) == approx(m(binary), nan_ok=True), (m.key, table)
            assert (m.why_undefined(cm, label=label) is None) == (m.why_undefined(binary) is None), (m.key, table)
            assert label is None or binary == cm.binary(label)
    two, three, halves = matrix(np.eye(2)), matrix(np.eye(3)), ConfusionMatrix(tp=1.5, fn=0, fp=0, tn=1.5)
    assert class_average(metric("acc"), range(3)).equivalent_binary(three) == halves
    assert class_average(metric("mcc"), range(3)).equivalent_binary(three) is None
    assert class_average(metric("balanced_accuracy"), range(2), undefined="omit").equivalent_binary(two) is None
    assert class_average(metric("f1"), range(2), "macro").equivalent_binary(two) is None


def test_micro_averages_depend_on_the_number_of_correct_cases_only() -> None:
    """Of all tables of four cases and three classes; micro recall, precision and F1 are accuracy."""
    listed = np.array(list(all_tables(4, 3)))
    correct = np.trace(listed, axis1=1, axis2=2)
    for m in ONE_GROUP_METRICS:
        summary = class_average(m, range(3), "micro")
        cells = summary.cells_of_correct(correct, 4 - correct, 3)
        assert m.scores(cells) == approx(summary.scores(listed), nan_ok=True), m.key
        if m.key in ("tpr", "ppv", "f1"):
            assert summary.scores(listed) == approx(correct / 4)


def test_scores_agree_with_scikit_learn_where_both_are_defined() -> None:
    """scikit-learn gives 0 where a class has no score; with undefined="omit" its balanced accuracy is ours."""
    from sklearn import metrics as sk

    at_once: dict[str, Any] = {"mcc": sk.matthews_corrcoef, "kappa": sk.cohen_kappa_score, "acc": sk.accuracy_score}
    averaged: dict[str, Any] = {"ppv": sk.precision_score, "tpr": sk.recall_score, "jaccard": sk.jaccard_score}
    rng = np.random.default_rng(4)
    for table in rng.integers(0, 4, (6, 3, 3)) * (rng.random((6, 3, 3)) < 0.7):
        cm, (true, pred) = matrix(table), zip(*cases(table.tolist()), strict=True)
        with warnings.catch_warnings(action="ignore"):
            pairs = [(metric(key)(cm), function(true, pred)) for key, function in at_once.items()]
            for (key, function), average in product(averaged.items(), AVERAGES):
                value = function(true, pred, labels=range(3), average=average, zero_division=0)
                pairs.append((metric(key)(cm, average=average), value))
            pairs.append((metric("balanced_accuracy")(cm, undefined="omit"), sk.balanced_accuracy_score(true, pred)))
        assert all(isnan(ours) or ours == approx(his, abs=1e-12) for ours, his in pairs), table
        assert sum(isnan(ours) for ours, _ in pairs) < 6


@settings(max_examples=50)
@given(cells=st.lists(st.just(0.0) | st.integers(-60, 12).map(lambda e: 1.37 * 10.0**e), min_size=9, max_size=9))
@example(cells=[4, 1e-20, 0, 2e-20, 1e-20, 0, 0, 1e-20, 3e-20])
@example(cells=[1, 1e-20, 0, 1e-20, 0, 0, 0, 0, 0])
def test_real_cells_of_any_size_keep_their_digits(cells: list[float]) -> None:
    """R_K and kappa of real cells by exact fractions, also where one cell is 10**70 times another."""
    x = [[Fraction(cell) for cell in cells[i : i + 3]] for i in (0, 3, 6)]
    n, rows, columns = sum(map(sum, x)), [sum(row) for row in x], [sum(column) for column in zip(*x, strict=True)]
    both = sum(r * c for r, c in zip(rows, columns, strict=True))
    squares = (n * n - sum(r * r for r in rows)) * (n * n - sum(c * c for c in columns))
    # The numerator is a difference; beside its parts, it may be nothing but rounding.
    parts = sum(x[i][i] * (n - rows[i] - columns[i] + x[i][i]) for i in range(3))
    cm = matrix(np.reshape(cells, (3, 3)))
    for key, below in (("mcc", mpmath.sqrt(as_mp(squares))), ("kappa", as_mp(n * n - both))):
        assert (metric(key).why_undefined(cm) is None) == (below != 0)
        expected = as_mp(n * sum(x[i][i] for i in range(3)) - both) / below if below else nan
        most = float(as_mp(parts) / below) if below else 0
        assert metric(key)(cm) == approx(float(expected), rel=1e-12, abs=1e-14 * most, nan_ok=True)


def test_real_cells_without_errors_have_exactly_none() -> None:
    """The sum of twenty tenths less their trace is not 0."""
    assert isnan(metric("dor")(matrix(np.eye(20) / 10), average="micro"))
    assert metric("inacc")(matrix(np.eye(20) / 10)) == 0


def test_multiplying_huge_counts_does_not_overflow() -> None:
    table = np.array([[3, 1, 0], [0, 2, 5], [1, 0, 4]])
    for key in ALL_AT_ONCE:
        assert metric(key)(matrix(table * 2**48)) == approx(metric(key)(matrix(table)), rel=1e-15)


def test_a_reason_names_the_classes() -> None:
    tpr, mcc, kappa, original = map(metric, ("tpr", "mcc", "kappa", "f1_original"))
    cm = matrix([[3, 1, 0], [0, 2, 0], [0, 0, 0]], ["cat", "dog", "fox"])
    why = "undefined for 1 of 3 classes: 'fox', no actual positives (TP + FN = 0)"
    assert tpr.why_undefined(cm, average="macro") == why == metric("balanced_accuracy").why_undefined(cm)
    assert tpr(cm, average="macro", undefined="omit") == 0.875 and tpr(cm, average="weighted") == approx(5 / 6)
    one = np.array([[3, 1, 2], [0, 0, 0], [0, 0, 0]])
    assert mcc.why_undefined(matrix(one)) == "every case is of class 0"
    assert mcc.why_undefined(matrix(one.T, ["a", "b", "c"])) == "every case is predicted 'a'"
    both, perfect = "every case is of class 1 and every case is predicted 1", matrix([[0, 0], [0, 4]])
    assert mcc.why_undefined(perfect) == both == kappa.why_undefined(perfect)
    for m, average in (*product((metric("acc"), mcc, kappa), [None]), *product([metric("f1")], AVERAGES)):
        assert m.why_undefined(matrix([[0, 0], [0, 0]]), average=average) == "no cases (n = 0)"
    many = str(tpr.why_undefined(matrix(np.diag([1, 0, 0, 0, 0])), average="macro"))
    assert many.endswith("; 3, no actual positives (TP + FN = 0); …")
    # A class without cases has no weight.
    unused = matrix([[3, 0, 0], [1, 0, 0], [0, 0, 0]])
    why = "undefined for 1 of 3 classes: 1, no predicted positives (TP + FP = 0)"
    assert metric("ppv").why_undefined(unused, average="weighted") == why
    none = "undefined for 2 of 2 classes: 0, no true positives (TP = 0); 1, no true positives (TP = 0)"
    assert original.why_undefined(matrix([[0, 3], [2, 0]]), average="macro", undefined="omit") == none


def test_a_summary_describes_itself() -> None:
    macro, mcc = class_average(metric("tpr"), "ab", "macro"), class_average(metric("mcc"), "ab")
    assert (macro.key, macro.name) == ("macro tpr", "True positive rate, macro average")
    assert macro.description == f"Mean over classes: {metric('tpr').description}"
    assert (macro.formula, macro.better, macro.range) == ("mean over classes: TP / (TP + FN)", "higher", (0, 1))
    assert (mcc.key, mcc.name, mcc.formula, mcc.range) == ("mcc", metric("mcc").name, "", (-1, 1))


def test_scores_of_classes_are_chosen_by_name() -> None:
    cm = matrix([[3, 1], [0, 0]], ["a", "b"])
    assert list(cm.scores()["a"]) == [m.key for m in ONE_GROUP_METRICS]
    for names in ("recall", metric("tpr"), ["recall"], (metric("tpr"),)):
        assert str(score_classes(cm, names)) == "{'a': {'tpr': 0.75}, 'b': {'tpr': nan}}"


def test_what_is_not_defined_for_classes_is_explained() -> None:
    cm, tpr = matrix([[1, 2], [3, 4]]), metric("tpr")
    wrong, only = "InvalidInput:", "only together with labels and predictions"
    two_groups = f"{wrong} ofi compares two groups; a metric of one group is needed"
    several = f"{wrong} average and label are for a MulticlassConfusion, which counts several classes"
    one_group = f"{wrong} tpr takes one group; got 2"
    for error, message in (
        (refusal(tpr, cm), f"{wrong} tpr scores one class against the rest; pass a class as label=, or an average="),
        (refusal(tpr, cm, average="mean"), "UnknownName: no average is called 'mean'; known: micro, macro, weighted"),
        (refusal(tpr, cm, average="macro", label=0), f"{wrong} pass either a class as label= or an average=, not both"),
        (refusal(tpr, cm, label=7), "UnknownName: no class is called '7'; known: 0, 1"),
        (refusal(tpr, cm, average="macro", undefined="zero"),
         "UnknownName: no choice for undefined is called 'zero'; known: propagate, omit"),
        (refusal(tpr, cm, label=1, positive=1), f"{wrong} tpr takes a positive label {only}"),
        (refusal(metric("ofi"), cm, average="macro"), two_groups), (refusal(cm.scores, "ofi"), two_groups),
        (refusal(tpr, [1, 2, 3, 4], average="macro"), several), (refusal(tpr, [1, 0], [1, 1], label=1), several),
        (refusal(tpr, cm, cm, label=1), one_group), (refusal(tpr.why_undefined, cm, cm, label=1), one_group),
    ):  # fmt: skip
        assert error == message
