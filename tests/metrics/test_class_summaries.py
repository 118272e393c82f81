"""Scores of K classes, against loops over cases, exact fractions and scikit-learn."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import isnan, nan
from re import escape
from typing import Any

import mpmath
import numpy as np
import pytest
from class_oracle import Table, as_mp, averaged, cases, class_score, overall, same, tables
from hypothesis import example, given, settings, strategies as st
from pytest import approx

import evenhand as eh
from evenhand.metrics import CATALOGUE, parsed

ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]
OVERALL = ("acc", "inacc", "balanced_accuracy", "mcc", "kappa")


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@pytest.mark.many
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("key", ONE_GROUP)
@settings(max_examples=50)
@given(table=tables(3, 3), omit=st.booleans())
def test_averages_are_what_their_definitions_say(key: str, average: Any, table: Table, omit: bool) -> None:
    """An average over classes is undefined if a class that counts is, unless such classes are left out."""
    cm = matrix(table)
    undefined: Any = "omit" if omit else "propagate"
    expected = averaged(key, table, average, omit)
    assert same(eh.metric(key)(cm, average=average, undefined=undefined), expected)
    why = eh.metric(key).why_undefined(cm, average=average, undefined=undefined)
    assert (why is None) == (expected is not None)
    if average != "micro" and expected is not None:
        counted = [c for c in range(3) if average == "macro" or sum(table[c])]
        scored = [c for c in counted if class_score(key, table, c) is not None]
        left_out = parsed(f"{average} {key}", cm.labels, undefined).left_out(cm)
        assert set(left_out) == set(range(3)) - set(scored)


@pytest.mark.parametrize("key", OVERALL)
@given(table=tables(3, 4) | tables(4, 3))
def test_scores_of_all_classes_are_what_their_definitions_say(key: str, table: Table) -> None:
    """R_K = cov(X, Y) / sqrt(cov(X, X) cov(Y, Y)) of one-hot vectors, kappa = (p_o - p_e) / (1 - p_e), and so on."""
    m, cm, expected = eh.metric(key), matrix(table), overall(key, table)
    assert same(m(cm), expected)
    assert (m.why_undefined(cm) is None) == (expected is not None)


@given(table=tables(3) | tables(5, 2))
def test_micro_recall_precision_and_f1_are_accuracy(table: Table) -> None:
    cm = matrix(table)
    accuracy = eh.metric("acc")(cm)
    for key in ("tpr", "ppv", "f1"):
        assert eh.metric(key)(cm, average="micro") == approx(accuracy, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("key", ONE_GROUP)
@settings(max_examples=50)
@given(table=tables(2, 3) | tables(3, 3))
def test_micro_averages_depend_only_on_the_number_of_correct_cases(key: str, table: Table) -> None:
    n, k, correct = len(cases(table)), len(table), sum(table[i][i] for i in range(len(table)))
    if n:
        found = parsed(f"micro {key}", range(k)).of_correct(np.array([float(correct)]), n, k)
        assert found is not None
        assert same(float(found[0]), averaged(key, table, "micro"))


@pytest.mark.slow
@given(table=tables(3, 5))
def test_scores_agree_with_scikit_learn_where_both_are_defined(table: Table) -> None:
    """scikit-learn gives 0 where a class has no score; with undefined="omit" its balanced accuracy is ours."""
    from sklearn import metrics as sk

    rows = cases(table)
    if not rows:
        return
    true, pred = ([pair[side] for pair in rows] for side in (0, 1))
    cm = eh.MulticlassConfusion.from_labels(true, pred, labels=range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        averages: Any = ("micro", "macro", "weighted", None)
        for average in averages:
            theirs = sk.precision_recall_fscore_support(true, pred, labels=range(3), average=average, zero_division=nan)
            jaccard = sk.jaccard_score(true, pred, labels=range(3), average=average, zero_division=0)
            for key, value in zip(("ppv", "tpr", "f1", "jaccard"), (*theirs[:3], jaccard), strict=True):
                if average is None:
                    found = [cm.scores(key)[c, key] for c in range(3)]
                else:
                    found = [eh.metric(key)(cm, average=average)]
                for ours, his in zip(found, np.atleast_1d(value), strict=True):
                    assert isnan(ours) or ours == approx(his, rel=1e-12)
        coefficient, kappa = eh.metric("mcc")(cm), eh.metric("kappa")(cm)
        his = sk.matthews_corrcoef(true, pred)
        assert his == 0 if isnan(coefficient) else coefficient == approx(his, abs=1e-12)
        if not isnan(kappa):
            assert kappa == approx(sk.cohen_kappa_score(true, pred), abs=1e-12)
        balanced = eh.metric("balanced_accuracy")(cm, undefined="omit")
        assert balanced == approx(sk.balanced_accuracy_score(true, pred), rel=1e-12)
        assert eh.metric("acc")(cm) == approx(sk.accuracy_score(true, pred), rel=1e-12)


@given(
    cells=st.lists(st.just(0.0) | st.integers(-60, 12).map(lambda e: 1.37 * 10.0**e), min_size=9, max_size=9),
    key=st.sampled_from(["mcc", "kappa"]),
)
@example(cells=[4, 1e-20, 0, 2e-20, 1e-20, 0, 0, 1e-20, 3e-20], key="mcc")
@example(cells=[1, 1e-20, 0, 1e-20, 0, 0, 0, 0, 0], key="kappa")
def test_real_cells_of_any_size_keep_their_digits(cells: list[float], key: str) -> None:
    """R_K and kappa of real cells by exact fractions, also where one cell is 10^70 times another."""
    x = [[Fraction(cell) for cell in cells[i : i + 3]] for i in (0, 3, 6)]
    n, rows, columns = sum(map(sum, x)), [sum(row) for row in x], [sum(column) for column in zip(*x, strict=True)]
    both = sum(r * c for r, c in zip(rows, columns, strict=True))
    above = n * sum(x[i][i] for i in range(3)) - both
    squares = (n * n - sum(r * r for r in rows)) * (n * n - sum(c * c for c in columns))
    cm = matrix(np.reshape(cells, (3, 3)))
    found, why = eh.metric(key)(cm), eh.metric(key).why_undefined(cm)
    if (squares if key == "mcc" else n * n - both) == 0:
        assert isnan(found) and why is not None
        return
    assert why is None
    # The numerator is a difference; beside its parts, it may be nothing but rounding.
    below = mpmath.sqrt(as_mp(squares)) if key == "mcc" else as_mp(n * n - both)
    parts = sum(x[i][i] * (n - rows[i] - columns[i] + x[i][i]) for i in range(3))
    assert found == approx(float(as_mp(above) / below), rel=1e-12, abs=1e-14 * float(as_mp(parts) / below))


def test_scores_of_huge_counts_do_not_overflow() -> None:
    """Multiplying all counts leaves every score unchanged."""
    table = np.array([[3, 1, 0], [0, 2, 5], [1, 0, 4]])
    for key in OVERALL:
        small, large = (eh.metric(key)(matrix(t)) for t in (table, table * 2**48))
        assert large == approx(small, rel=1e-15)


def test_what_is_undefined_says_why() -> None:
    tpr, ppv, mcc, kappa = (eh.metric(key) for key in ("tpr", "ppv", "mcc", "kappa"))
    cm = matrix([[3, 1, 0], [0, 2, 0], [0, 0, 0]], ["cat", "dog", "fox"])
    why = "undefined for 1 of 3 classes: 'fox', no actual positives (TP + FN = 0)"
    assert tpr.why_undefined(cm, average="macro") == why and isnan(tpr(cm, average="macro"))
    assert eh.metric("balanced_accuracy").why_undefined(cm) == why
    assert tpr.why_undefined(cm, average="macro", undefined="omit") is None
    assert tpr(cm, average="macro", undefined="omit") == 0.875
    assert tpr(cm, average="weighted") == approx(5 / 6)
    assert tpr.why_undefined(cm, label="fox") == "no actual positives (TP + FN = 0)"
    one = matrix([[3, 1, 2], [0, 0, 0], [0, 0, 0]], list("abc"))
    assert mcc.why_undefined(one) == "every case is of class 'a'"
    assert mcc.why_undefined(matrix(one.counts.T, list("abc"))) == "every case is predicted 'a'"
    sure = matrix([[0, 0], [0, 4]])
    assert mcc.why_undefined(sure) == "every case is of class 1 and every case is predicted 1"
    assert kappa.why_undefined(sure) == "every case is of class 1 and predicted so"
    averages: Any = (("acc", None), ("mcc", None), ("kappa", None), ("f1", "macro"), ("f1", "micro"))
    for key, average in averages:
        m, empty = eh.metric(key), matrix([[0, 0], [0, 0]])
        assert isnan(m(empty, average=average))
        assert m.why_undefined(empty, average=average) == "no cases (n = 0)"
    many = matrix(np.diag([1, 0, 0, 0, 0]))
    assert str(tpr.why_undefined(many, average="macro")).endswith("; and 1 more")
    assert ppv(many, average="macro", undefined="omit") == 1.0
    none = matrix([[0, 3], [2, 0]])
    assert isnan(eh.metric("f1_original")(none, average="macro", undefined="omit"))
    assert eh.metric("f1_original").why_undefined(none, average="macro", undefined="omit") is not None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"metric": "tpr"}, "tpr scores one class against the rest; pass a class as label= or an average=; only acc, "
         "inacc, mcc, balanced_accuracy, kappa have a definition for all classes at once"),
        ({"metric": "tpr", "average": "mean"}, "no average is called 'mean'; known: micro, macro, weighted"),
        ({"metric": "tpr", "average": "macro", "label": 0}, "pass either a class as label= or an average=, not both"),
        ({"metric": "tpr", "label": 7}, "no class is called '7'; known: 0, 1"),
        ({"metric": "ofi", "average": "macro"}, "ofi compares two groups; a score of classes takes a metric of one "
         "group"),
        ({"metric": "f1", "average": "macro", "undefined": "zero"}, "no choice for undefined is called 'zero'; known: "
         "propagate, omit"),
    ],
)  # fmt: skip
def test_scores_that_are_not_defined_for_classes_are_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        eh.metric(arguments.pop("metric"))(matrix([[1, 2], [3, 4]]), **arguments)


@given(table=tables(2, 20))
def test_two_classes_score_as_the_2x2_matrix_does(table: Table) -> None:
    """Every metric of K = 2, of one class and of both at once, is that of the 2x2 matrix."""
    cm = matrix(table, ["no", "yes"])
    (tn, fp), (fn, tp) = table
    binary = eh.ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)
    assert cm.binary("yes") == binary
    assert eh.ConfusionMatrix.from_sklearn(cm.to_array()) == binary
    for key in ONE_GROUP:
        m, expected = eh.metric(key), float(eh.metric(key)(binary))
        assert m(cm, label="yes") == approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
        if key in OVERALL:
            assert m(cm) == approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
            assert (m.why_undefined(cm) is None) == (m.why_undefined(binary) is None)


def test_the_metrics_that_are_defined_for_all_classes_say_so_in_their_records() -> None:
    assert {m.key for m in CATALOGUE.one_group if m.overall} == set(OVERALL)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.metric("tpr")([1, 2, 3, 4], average="macro"),
         "average and label are for a MulticlassConfusion, which counts several classes"),
        (lambda: eh.metric("tpr")([1, 0], [1, 1], label=1),
         "average and label are for a MulticlassConfusion, which counts several classes"),
        (lambda: eh.metric("tpr")(matrix([[1, 2], [3, 4]]), label=1, positive=1),
         "tpr of several classes takes a class as label=, not as positive="),
        (lambda: eh.metric("acc")(matrix([[1, 2], [3, 4]]), matrix([[1, 2], [3, 4]])), "acc takes one group; got 2"),
        (lambda: eh.metric("acc").why_undefined(matrix([[1]]), matrix([[1]])), "acc takes one group; got 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_together_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
        call()
