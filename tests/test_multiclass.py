"""More than two classes, against loops over cases, exact enumeration and scikit-learn."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, isnan, nan, prod
from pathlib import Path
from re import escape
from typing import Any

import mpmath
import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from pytest import approx

import evenhand as eh
from evenhand.faces.cli import evenhand
from evenhand.multiclass import match_each, multiclass_tables, one_against_rest, parsed

ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]
OVERALL = ("acc", "inacc", "balanced_accuracy", "mcc", "kappa")
Table = list[list[int]]


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


def tables(k: int, most: int = 6) -> st.SearchStrategy[Table]:
    cell = st.integers(0, most) | st.just(0)
    return st.lists(st.lists(cell, min_size=k, max_size=k), min_size=k, max_size=k)


def cases(table: Table) -> list[tuple[int, int]]:
    """Every case as actual and predicted class."""
    return [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def against_rest(table: Table, c: int) -> oracle.Cells:
    """The four cells of a class, counted case by case."""
    tp = fn = fp = tn = 0
    for actual, predicted in cases(table):
        tp += actual == c == predicted
        fn += actual == c != predicted
        fp += actual != c == predicted
        tn += c not in (actual, predicted)
    return tp, fn, fp, tn


def class_score(key: str, table: Table, c: int) -> Any:
    cells = against_rest(table, c)
    return oracle.ONE_GROUP[key](*cells) if sum(cells) else None


def averaged(key: str, table: Table, average: str, omit: bool = False) -> Any:
    """An average by its definition; None if undefined."""
    k = len(table)
    each = [class_score(key, table, c) for c in range(k)]
    if average == "micro":
        cells = [sum(column) for column in zip(*(against_rest(table, c) for c in range(k)), strict=True)]
        return oracle.ONE_GROUP[key](*cells) if sum(cells) else None
    weights = [1 if average == "macro" else sum(table[c]) for c in range(k)]
    used = [(w, s) for w, s in zip(weights, each, strict=True) if w and not (omit and s is None)]
    if not used or not cases(table) or any(s is None for _, s in used):
        return None
    return sum(mpmath.mpf(w) * _mp(s) for w, s in used) / sum(w for w, _ in used)


def overall(key: str, table: Table) -> Any:
    """A score of all classes by its definition, from one-hot vectors of labels and predictions; None if undefined."""
    rows, k = cases(table), len(table)
    n = len(rows)
    if not n:
        return None
    if key in ("acc", "inacc"):
        right = Fraction(sum(a == b for a, b in rows), n)
        return right if key == "acc" else 1 - right
    if key == "balanced_accuracy":
        return averaged("tpr", table, "macro")
    x, y = ([[int(pair[side] == c) for c in range(k)] for pair in rows] for side in (0, 1))
    if key == "kappa":
        chance = sum(Fraction(sum(v[c] for v in x), n) * Fraction(sum(v[c] for v in y), n) for c in range(k))
        return None if chance == 1 else (Fraction(sum(a == b for a, b in rows), n) - chance) / (1 - chance)

    def covariance(u: list[list[int]], v: list[list[int]]) -> Fraction:
        return sum(
            (
                Fraction(sum(a[c] * b[c] for a, b in zip(u, v, strict=True)), n)
                - Fraction(sum(a[c] for a in u), n) * Fraction(sum(b[c] for b in v), n)
                for c in range(k)
            ),
            Fraction(0),
        )

    spread = covariance(x, x) * covariance(y, y)
    return None if spread == 0 else _mp(covariance(x, y)) / mpmath.sqrt(_mp(spread))


def _mp(value: Any) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, (int, Fraction)) else value


def same(found: float, expected: Any) -> bool:
    return isnan(found) if expected is None else found == approx(float(expected), rel=1e-12, abs=1e-12)


def all_tables(n: int, k: int) -> Iterator[Table]:
    """All matrices of n cases and k classes."""
    for chosen in combinations_with_replacement(range(k * k), n):
        flat = [chosen.count(i) for i in range(k * k)]
        yield [flat[i * k : (i + 1) * k] for i in range(k)]


# Counting ---------------------------------------------------------------------------------------------------------


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
    with pytest.raises(eh.InvalidInput, match=r"^y_true contains 1 missing value; drop that row first$"):
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
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
        eh.MulticlassConfusion.from_labels(true, pred, labels)


def test_identifiers_are_not_classes() -> None:
    with pytest.raises(eh.TooLarge, match=r"^there are 2,001 classes, more than the limit of 2,000$"):
        eh.MulticlassConfusion.from_labels(range(2001), range(2001))
    with pytest.raises(eh.TooLarge, match=r"^there are 2,001 classes, more than the limit of 2,000$"):
        matrix(np.zeros((2001, 2001)))


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
        ([[1, 2], [3, 4]], "ab", "labels must be a sequence of 2 classes; got 'ab'"),
        ([[1, 2], [3, 4]], [None, "a"], "labels must be numbers, text or booleans; got None, 'a'"),
    ],
)
def test_counts_that_are_no_matrix_are_refused(counts: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
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
    with pytest.raises(eh.InvalidInput, match=r"^cannot subtract a matrix with larger cells$"):
        one - (one + other)
    sentence = "the other matrix must have the same labels in the same order ('a', 'b', 'c'); got 0, 1, 2"
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
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
        with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
            cm.collapsed(wrong)
    sentence = "binary takes a matrix of 2 classes; this one has 3: use against_rest or collapsed"
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
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


# Scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ONE_GROUP)
@given(table=tables(3))
def test_a_class_scores_as_its_matrix_against_the_rest_does(key: str, table: Table) -> None:
    """S_c = S(tp_c, fn_c, fp_c, tn_c) for every metric of the catalogue, undefined in the same cases."""
    cm = matrix(table)
    scores = eh.class_scores(cm, key)
    for c in range(3):
        expected = class_score(key, table, c)
        assert same(scores[c, key], expected)
        one = eh.multiclass_score(cm, key, label=c)
        assert same(float(one), expected)
        assert (one.reason is None) == (expected is not None) == (scores.why_undefined(c, key) is None)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("key", ONE_GROUP)
@given(table=tables(3, 3), omit=st.booleans())
def test_averages_are_what_their_definitions_say(key: str, average: Any, table: Table, omit: bool) -> None:
    """An average over classes is undefined if a class that counts is, unless such classes are left out."""
    cm = matrix(table)
    found = eh.multiclass_score(cm, key, average, undefined="omit" if omit else "propagate")
    expected = averaged(key, table, average, omit)
    assert same(float(found), expected)
    assert (found.reason is None) == (expected is not None)
    if average != "micro" and expected is not None:
        counted = [c for c in range(3) if average == "macro" or sum(table[c])]
        scored = [c for c in counted if class_score(key, table, c) is not None]
        assert list(found.classes) == scored
        assert set(found.left_out) == set(range(3)) - set(scored)


@pytest.mark.parametrize("key", OVERALL)
@given(table=tables(3, 4) | tables(4, 3))
def test_scores_of_all_classes_are_what_their_definitions_say(key: str, table: Table) -> None:
    """R_K = cov(X, Y) / sqrt(cov(X, X) cov(Y, Y)) of one-hot vectors, kappa = (p_o - p_e) / (1 - p_e), and so on."""
    found = eh.multiclass_score(matrix(table), key)
    expected = overall(key, table)
    assert same(float(found), expected)
    assert (found.reason is None) == (expected is not None)


@given(table=tables(3) | tables(5, 2))
def test_micro_recall_precision_and_f1_are_accuracy(table: Table) -> None:
    cm = matrix(table)
    accuracy = float(eh.multiclass_score(cm, "acc"))
    for key in ("tpr", "ppv", "f1"):
        assert float(eh.multiclass_score(cm, key, "micro")) == approx(accuracy, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("key", ONE_GROUP)
@given(table=tables(2, 3) | tables(3, 3))
def test_micro_averages_depend_only_on_the_number_of_correct_cases(key: str, table: Table) -> None:
    n, k, correct = len(cases(table)), len(table), sum(table[i][i] for i in range(len(table)))
    if n:
        found = parsed(f"micro {key}", range(k)).of_correct(np.array([float(correct)]), n, k)
        assert found is not None
        assert same(float(found[0]), averaged(key, table, "micro"))


@given(table=tables(2, 20), other=tables(2, 20))
def test_binary_is_the_case_of_two_classes(table: Table, other: Table) -> None:
    """All scores, smoothed cells and exact p-values of K = 2 are those of the 2x2 matrix, to 1e-12."""
    cm, reference = matrix(table, ["no", "yes"]), matrix(other, ["no", "yes"])
    (tn, fp), (fn, tp) = table
    binary = eh.ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)
    (rtn, rfp), (rfn, rtp) = other
    rest = eh.ConfusionMatrix(tp=rtp, fn=rfn, fp=rfp, tn=rtn)
    assert cm.binary("yes") == binary
    assert eh.ConfusionMatrix.from_sklearn(cm.to_array()) == binary
    for key in ONE_GROUP:
        expected = float(eh.metric(key)(binary))
        assert eh.class_scores(cm, key)["yes", key] == approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
        if key in OVERALL:
            found = eh.multiclass_score(cm, key)
            assert float(found) == approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
            assert (found.reason is None) == (eh.metric(key).why_undefined(binary) is None)
    if rest.n:
        smoothed, raw = eh.cross_prior_smooth(cm, reference, 7), eh.cross_prior_smooth(binary, rest, 7)
        assert smoothed.binary("yes").cells == approx(raw.cells, rel=1e-12, abs=1e-12)
        assert smoothed.shrinkage == approx(raw.shrinkage, rel=1e-12)
        for key in ("acc", "tpr", "mcc", "kappa", "balanced_accuracy"):
            label = "yes" if key == "tpr" else None
            ours = eh.multiclass_match(cm, reference, key, label=label)
            theirs = eh.match_test(binary, rest, key)
            assert ours.method == "exact"
            assert ours.pvalue == approx(theirs.pvalue, rel=1e-9, abs=1e-12, nan_ok=True)
            assert ours.percentile == approx(theirs.percentile, rel=1e-9, abs=1e-12, nan_ok=True)
            assert ours.p_undefined == approx(theirs.p_undefined, rel=1e-9, abs=1e-12)


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
        for average in ("micro", "macro", "weighted", None):
            theirs = sk.precision_recall_fscore_support(true, pred, labels=range(3), average=average, zero_division=nan)
            jaccard = sk.jaccard_score(true, pred, labels=range(3), average=average, zero_division=0)
            for key, value in zip(("ppv", "tpr", "f1", "jaccard"), (*theirs[:3], jaccard), strict=True):
                if average is None:
                    found = [eh.class_scores(cm, key)[c, key] for c in range(3)]
                else:
                    found = [float(eh.multiclass_score(cm, key, average))]
                for ours, his in zip(found, np.atleast_1d(value), strict=True):
                    assert isnan(ours) or ours == approx(his, rel=1e-12)
        coefficient, kappa = eh.multiclass_score(cm, "mcc"), eh.multiclass_score(cm, "kappa")
        his = sk.matthews_corrcoef(true, pred)
        assert float(coefficient) == approx(his, abs=1e-12) if coefficient.reason is None else his == 0
        if kappa.reason is None:
            assert float(kappa) == approx(sk.cohen_kappa_score(true, pred), abs=1e-12)
        balanced = eh.multiclass_score(cm, "balanced_accuracy", undefined="omit")
        assert float(balanced) == approx(sk.balanced_accuracy_score(true, pred), rel=1e-12)
        assert float(eh.multiclass_score(cm, "acc")) == approx(sk.accuracy_score(true, pred), rel=1e-12)


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
    found = eh.multiclass_score(matrix(np.reshape(cells, (3, 3))), key)
    if (squares if key == "mcc" else n * n - both) == 0:
        assert isnan(float(found)) and found.reason is not None
        return
    assert found.reason is None
    # The numerator is a difference; beside its parts, it may be nothing but rounding.
    below = mpmath.sqrt(_mp(squares)) if key == "mcc" else _mp(n * n - both)
    parts = sum(x[i][i] * (n - rows[i] - columns[i] + x[i][i]) for i in range(3))
    assert float(found) == approx(float(_mp(above) / below), rel=1e-12, abs=1e-14 * float(_mp(parts) / below))


def test_scores_of_huge_counts_do_not_overflow() -> None:
    """Multiplying all counts leaves every score unchanged."""
    table = np.array([[3, 1, 0], [0, 2, 5], [1, 0, 4]])
    for key in OVERALL:
        small, large = (float(eh.multiclass_score(matrix(t), key)) for t in (table, table * 2**48))
        assert large == approx(small, rel=1e-15)


def test_what_is_undefined_says_why() -> None:
    cm = matrix([[3, 1, 0], [0, 2, 0], [0, 0, 0]], ["cat", "dog", "fox"])
    why = "undefined for 1 of 3 classes: 'fox', no actual positives (TP + FN = 0)"
    assert eh.multiclass_score(cm, "tpr", "macro").reason == why
    assert eh.multiclass_score(cm, "balanced_accuracy").reason == why
    assert str(eh.multiclass_score(cm, "tpr", "macro")) == f"macro tpr undefined: {why}"
    score = eh.multiclass_score(cm, "tpr", "macro", undefined="omit")
    assert str(score) == ("macro tpr 0.875, over 2 of 3 classes; left out: 'fox' (no actual positives (TP + FN = 0))")
    assert str(eh.multiclass_score(cm, "tpr", "weighted")) == (
        "weighted tpr 0.8333, over 2 of 3 classes; left out: 'fox' (no cases, so no weight)"
    )
    assert str(eh.multiclass_score(cm, "tpr", label="fox")) == (
        "tpr of 'fox' against the rest undefined: no actual positives (TP + FN = 0)"
    )
    assert str(eh.multiclass_score(cm, "acc")) == "acc 0.8333"
    one = matrix([[3, 1, 2], [0, 0, 0], [0, 0, 0]], list("abc"))
    assert eh.multiclass_score(one, "mcc").reason == "every case is of class 'a'"
    assert eh.multiclass_score(matrix(one.counts.T, list("abc")), "mcc").reason == "every case is predicted 'a'"
    sure = matrix([[0, 0], [0, 4]])
    assert eh.multiclass_score(sure, "mcc").reason == "every case is of class 1 and every case is predicted 1"
    assert eh.multiclass_score(sure, "kappa").reason == "every case is of class 1 and predicted so"
    for key, average in (("acc", None), ("mcc", None), ("kappa", None), ("f1", "macro"), ("f1", "micro")):
        empty = eh.multiclass_score(matrix([[0, 0], [0, 0]]), key, average)  # type: ignore[arg-type]
        assert (empty.reason, isnan(empty.value)) == ("no cases (n = 0)", True)
    many = matrix(np.diag([1, 0, 0, 0, 0]))
    assert str(eh.multiclass_score(many, "tpr", "macro")).endswith("; and 1 more")
    assert eh.multiclass_score(many, "ppv", "macro", undefined="omit").value == 1.0
    none = eh.multiclass_score(matrix([[0, 3], [2, 0]]), "f1_original", "macro", undefined="omit")
    assert none.reason is not None and isnan(none.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"metric": "tpr"}, "tpr scores one class against the rest; pass a class as label= or an average=; only acc, "
         "inacc, balanced_accuracy, mcc, kappa have a definition for all classes at once"),
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
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
        eh.multiclass_score(matrix([[1, 2], [3, 4]]), **arguments)


def test_scores_of_classes_print_as_a_table() -> None:
    cm = matrix([[3, 1], [0, 0]], ["a", "b"])
    scores = eh.class_scores(cm)
    assert scores.metrics == tuple(ONE_GROUP)
    assert str(eh.class_scores(cm, ["recall"])).splitlines() == ["class   tpr  n", "a      0.75  4", "b         -  0"]
    assert {"label": "b", "metric": "tpr", "reason": "no actual positives (TP + FN = 0)"} in scores.undefined
    large = eh.class_scores(matrix([[1234567, 0], [0, 2]], ["a", "b"]), "tpr")
    assert str(large).splitlines()[1:] == ["a        1  1234567", "b        1        2"]
    halves = eh.class_scores(matrix([[1.5, 0], [0, 2]], ["a", "b"]), "tpr")
    assert str(halves).splitlines()[1:] == ["a        1  1.5", "b        1    2"]
    with pytest.raises(eh.UnknownName, match=r"^no metric of these scores is called 'ppv'; known: tpr$"):
        eh.class_scores(cm, "tpr")["a", "ppv"]
    with pytest.raises(eh.InvalidInput, match=r"^cm must be a MulticlassConfusion; got 3$"):
        eh.class_scores(3)  # type: ignore[arg-type]
    with pytest.raises(eh.InvalidInput, match=r"^metrics must contain at least one metric$"):
        eh.class_scores(cm, [])


def test_summaries_are_found_by_name() -> None:
    assert [parsed(name, "ab").key for name in ("mcc", "Macro recall", "weighted F1 score", "micro ppv")] == [
        "mcc", "macro tpr", "weighted f1", "micro ppv"]  # fmt: skip
    with pytest.raises(eh.InvalidInput, match=r"^an average must be text such as 'macro f1' or 'mcc'; got 3$"):
        parsed(3, "ab")  # type: ignore[arg-type]


# Smoothing --------------------------------------------------------------------------------------------------------


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
        with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
            eh.cross_prior_smooth(*arguments)
    assert eh.cross_prior_smooth(cm, rest, "auto").strength == 5
    text = str(eh.cross_prior_smooth(cm, rest, 4))
    assert text.endswith("smoothed, strength 4; 60% of a share's gap remains")
    empty = eh.cross_prior_smooth(matrix([[0, 0], [0, 0]], ["a", "b"]), rest, 4)
    assert str(empty).endswith("the prior only: the group is empty, strength 4; 0% of a share's gap remains")
    assert repr(empty) == "<SmoothedClasses: 2 classes, n = 1, the prior only, strength 4>"


# Tests ------------------------------------------------------------------------------------------------------------


GROUP: Table = [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
REST: Table = [[4, 1, 1], [0, 3, 2], [1, 0, 5]]


def null_law(
    null: str, n: int, group: Table, rest: Table, prior: Fraction = Fraction(1, 2)
) -> dict[tuple[tuple[int, ...], ...], Fraction]:
    """The exact probability of every matrix of n cases under a null."""
    k = len(group)
    mine, theirs = ([cell for row in t for cell in row] for t in (group, rest))
    law: dict[tuple[tuple[int, ...], ...], Fraction] = {}
    for table in all_tables(n, k):
        flat = tuple(cell for row in table for cell in row)
        if null == "pooled":
            pooled = [a + b for a, b in zip(mine, theirs, strict=True)]
            p = Fraction(prod(comb(t, c) for t, c in zip(pooled, flat, strict=True)), comb(sum(pooled), n))
        elif null == "known":
            p = oracle.multinomial(flat, theirs)
        else:
            p = oracle.dirichlet_multinomial(flat, [Fraction(t) + prior for t in theirs])
        if p:
            law[tuple(map(tuple, table))] = p
    assert sum(law.values()) == 1
    return law


def exact_test(score: Any, observed: Table, law: Any, alternative: str) -> tuple[float, float, float]:
    """The p-value, the percentile and the probability of an undefined score, by listing every matrix."""
    at = score(observed)
    below = same_ = above = gone = Fraction(0)
    for table, p in law.items():
        value = score([list(row) for row in table])
        if value is None:
            gone += p
        elif abs(value - at) < mpmath.mpf(10) ** -40:
            same_ += p
        elif value < at:
            below += p
        else:
            above += p
    low, high = ((below + same_) / (1 - gone), (above + same_) / (1 - gone))
    p = {"less": low, "greater": high, "two-sided": min(Fraction(1), 2 * min(low, high))}[alternative]
    return float(p), float(low), float(gone)


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_test_of_accuracy_and_of_micro_averages_is_exact(null: Any, alternative: Any) -> None:
    """The p-value is that of listing all matrices of n cases, for every metric of the catalogue."""
    cm, reference = matrix(GROUP), matrix(REST)
    law = null_law(null, 5, GROUP, REST)
    expected = exact_test(lambda t: overall("acc", t), GROUP, law, alternative)
    found = eh.multiclass_match(cm, reference, "acc", null=null, alternative=alternative)
    assert (found.method, found.given, found.standard_error, found.draws) == ("exact", "n", 0.0, None)
    assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
    for key in ONE_GROUP:
        found = eh.multiclass_match(cm, reference, key, "micro", null=null, alternative=alternative)
        assert found.method == "exact"
        if averaged(key, GROUP, "micro") is None:
            assert isnan(found.pvalue) and found.reason is not None
        else:
            expected = exact_test(lambda t, key=key: averaged(key, t, "micro"), GROUP, law, alternative)
            assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize(
    ("key", "average"), [("acc", "macro"), ("inacc", "macro"), ("tpr", "weighted"), ("fnr", "weighted")]
)
def test_means_that_depend_only_on_correct_cases_are_tested_exactly(null: Any, key: str, average: Any) -> None:
    """Macro accuracy is 1 - 2 (1 - accuracy) / K, and weighted recall is accuracy."""
    law = null_law(null, 5, GROUP, REST)
    for alternative in ("two-sided", "less", "greater"):
        expected = exact_test(lambda t: averaged(key, t, average), GROUP, law, alternative)
        for undefined in ("propagate", "omit"):
            found = eh.multiclass_match(
                matrix(GROUP), matrix(REST), key, average, null=null, alternative=alternative, undefined=undefined
            )
            assert (found.method, found.given) == ("exact", "n")
            assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
            assert found.statistic == approx(float(averaged(key, GROUP, average)), rel=1e-12)


def test_a_mean_of_two_classes_that_omits_one_is_not_tested_as_one_of_both() -> None:
    """Balanced accuracy over the classes with cases is defined where that of the 2x2 matrix is not."""
    cm, reference = matrix([[3, 2], [0, 0]]), matrix([[20, 5], [3, 6]])
    found = eh.multiclass_match(cm, reference, "balanced_accuracy", undefined="omit", draws=500)
    assert (found.method, found.statistic, found.reason) == ("simulated", 0.6, None)
    assert 0 < found.pvalue <= 1
    assert isnan(eh.multiclass_match(cm, reference, "balanced_accuracy").pvalue)


def test_a_score_that_no_simulated_group_has_is_not_tested() -> None:
    """One case of each of 8 classes beside thousands of one: random groups of 8 lack a class."""
    group, rest = np.eye(8, dtype=int), np.zeros((8, 8), dtype=int)
    rest[0, 0] = 5_000
    found = eh.multiclass_match(matrix(group), matrix(rest), "tpr", "macro", draws=50)
    assert (found.statistic, found.p_undefined, isnan(found.pvalue)) == (1.0, 1.0, True)
    why = "not tested: no simulated group of 50 has a defined macro tpr; use more draws, or undefined='omit'"
    assert found.reason == why
    assert str(found).splitlines()[1:] == ["  score         1", f"  p-value       none: {why}"]
    kappa = eh.multiclass_match(matrix(group[:3, :3]), matrix(rest[:3, :3] * 10**5), "kappa", draws=9)
    assert kappa.reason == "not tested: no simulated group of 9 has a defined kappa; use more draws"
    data = {"y": [*range(8)] + [0] * 5_000, "p": [*range(8)] + [0] * 5_000, "g": ["a"] * 8 + ["b"] * 5_000}
    rows = eh.audit_classes(data, y_true="y", y_pred="p", groups="g", metrics="tpr", averages=["macro tpr", "acc"],
                            draws=50).averages  # fmt: skip
    assert (rows[0].score, rows[0].pvalue, rows[0].p_adjusted, rows[0].method, rows[0].reason) == (
        1.0, None, None, None, why)  # fmt: skip
    assert str(rows[0]) == f"g a, macro tpr 1.000: {why}"
    assert rows[2].pvalue == 1.0


@pytest.mark.parametrize("mid_p", [False, True])
def test_the_standard_error_is_that_of_the_p_value_over_seeds(mid_p: bool) -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    for alternative in ("less", "greater"):
        found = [
            eh.multiclass_match(
                cm, reference, "f1", "weighted", alternative=alternative, mid_p=mid_p, rng=seed, draws=100
            )
            for seed in range(300)
        ]
        spread = float(np.std([r.pvalue for r in found]))
        assert np.mean([r.standard_error for r in found]) == approx(spread, rel=0.15)


@pytest.mark.parametrize("key", ["tpr", "ppv", "f1", "mcc", "acc"])
def test_the_test_of_a_class_is_that_of_its_matrix_against_the_rest(key: str) -> None:
    cm, reference = matrix(GROUP, list("abc")), matrix(REST, list("abc"))
    for c, label in enumerate("abc"):
        mine, theirs = (eh.ConfusionMatrix(*against_rest(t, c)) for t in (GROUP, REST))
        for given_ in ("margin", "n"):
            ours = eh.multiclass_match(cm, reference, key, label=label, given=given_)
            binary = eh.match_test(mine, theirs, key, given=given_)
            for name in ("pvalue", "percentile", "statistic", "reference_score", "p_undefined"):
                assert getattr(ours, name) == approx(getattr(binary, name), nan_ok=True, rel=1e-12), name
            assert (ours.method, ours.reason) == ("exact", binary.reason)
            assert ours.given == ("n" if binary.denominator is None else "margin")
        for settings in (
            {"null": "known"}, {"null": "predictive", "prior": 3}, {"mid_p": True}, {"alternative": "less"},
            {"alternative": "greater", "given": "n"},
        ):  # fmt: skip
            chosen: Any = settings
            ours = eh.multiclass_match(cm, reference, key, label=label, **chosen)
            binary = eh.match_test(mine, theirs, key, **chosen)
            assert ours.pvalue == approx(binary.pvalue, nan_ok=True, rel=1e-12), settings


def test_the_prior_of_the_predictive_null_counts_in_every_cell() -> None:
    """Three cases in each of the 9 cells: 9 in correct cells and 18 in the others."""
    law = null_law("predictive", 5, GROUP, REST, Fraction(3))
    options: Any = {"null": "predictive", "prior": 3, "draws": 20_000}
    expected = exact_test(lambda t: overall("acc", t), GROUP, law, "less")
    found = eh.multiclass_match(matrix(GROUP), matrix(REST), "acc", alternative="less", **options)
    assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
    kappa, _, gone = exact_test(lambda t: overall("kappa", t), GROUP, law, "less")
    found = eh.multiclass_match(matrix(GROUP), matrix(REST), "kappa", alternative="less", **options)
    assert abs(found.pvalue - kappa) <= 4 * found.standard_error
    assert abs(found.p_undefined - gone) < 0.01


@pytest.mark.parametrize(("key", "average"), [("acc", None), ("f1", "micro"), ("tpr", "weighted"), ("f1", "weighted")])
def test_mid_p_counts_half_of_the_observed_score(key: str, average: Any) -> None:
    """Mid-p of one side is half of P(S <= s) - P(S >= s) + 1; the draws are those of the plain p-value."""
    cm, reference = matrix(GROUP), matrix(REST)

    def p(alternative: Any, mid_p: bool) -> float:
        found = eh.multiclass_match(cm, reference, key, average, alternative=alternative, mid_p=mid_p, draws=5_000)
        return found.pvalue

    for one, other in (("less", "greater"), ("greater", "less")):
        assert p(one, True) == approx((p(one, False) - p(other, False) + 1) / 2, abs=3e-4)
    assert p("two-sided", True) == approx(2 * min(p("less", True), p("greater", True)), rel=1e-12)


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
def test_what_is_simulated_comes_close_to_listing_every_matrix(null: Any) -> None:
    """|p - exact p| <= 4 standard errors, with the seed, the draws and the standard error in the result."""
    cm, reference = matrix(GROUP), matrix(REST)
    law = null_law(null, 5, GROUP, REST)
    group = GROUP
    scores: Any = [("mcc", None), ("kappa", None), ("f1", "weighted"), ("jaccard", "macro"), ("acc", "weighted")]
    for key, average in scores:

        def score(t: Table, key: str = key, average: Any = average) -> Any:
            found = averaged(key, t, average) if average else overall(key, t)
            return None if found is None else _mp(found)

        for alternative in ("two-sided", "less", "greater"):
            p, percentile, gone = exact_test(score, group, law, alternative)
            found = eh.multiclass_match(
                cm,
                reference,
                key,
                average,
                null=null,
                alternative=alternative,
                rng=3,
                draws=20_000,
            )
            assert (found.method, found.draws, found.seed) == ("simulated", 20_000, 3)
            assert abs(found.pvalue - p) <= 4 * found.standard_error + 1e-4
            assert 0 < found.standard_error < 0.01
            assert abs(found.percentile - percentile) < 0.015
            assert abs(found.p_undefined - gone) < 0.015


def test_a_simulated_p_value_is_never_0_and_repeats_with_its_seed() -> None:
    """p = (r + 1) / (B + 1), doubled if two-sided."""
    good, bad = matrix(np.eye(3, dtype=int) * 300), matrix((1 - np.eye(3, dtype=int)) * 20)
    found = eh.multiclass_match(bad, good, "mcc", draws=99, alternative="less")
    assert found.pvalue == approx(1 / 100, rel=1e-12)
    assert eh.multiclass_match(bad, good, "mcc", draws=99).pvalue == approx(2 / 100, rel=1e-12)
    assert eh.multiclass_match(bad, good, "mcc", draws=99, alternative="greater").pvalue == 1.0
    cm, reference = matrix(GROUP), matrix(REST)
    one = eh.multiclass_match(cm, reference, "mcc", draws=500, rng=5)
    assert one == eh.multiclass_match(cm, reference, "mcc", draws=500, rng=5)
    assert one.pvalue == eh.multiclass_match(cm, reference, "mcc", draws=500, rng=np.random.default_rng(5)).pvalue
    assert eh.multiclass_match(cm, reference, "mcc", draws=500, rng=np.random.default_rng(5)).seed is None
    fresh = eh.multiclass_match(cm, reference, "mcc", draws=500, rng=None)
    assert fresh == eh.multiclass_match(cm, reference, "mcc", draws=500, rng=fresh.seed)


def test_scores_that_are_simulated_together_are_the_same_as_alone() -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    scores: Any = [("mcc", None, None), ("acc", None, None), ("f1", "weighted", None), ("tpr", None, 0)]
    together = match_each(cm, reference, scores, draws=300, rng=1)
    alone = [eh.multiclass_match(cm, reference, m, a, label=c, draws=300, rng=1) for m, a, c in scores]
    assert together == alone
    assert [r.method for r in together] == ["simulated", "exact", "simulated", "exact"]


def test_a_class_without_cases_leaves_a_mean_untested_or_left_out() -> None:
    cm, reference = matrix([[2, 1, 0], [0, 3, 0], [0, 0, 0]]), matrix(REST)
    found = eh.multiclass_match(cm, reference, "tpr", "macro", draws=200)
    assert isnan(found.pvalue) and isnan(found.statistic)
    assert found.reason == "undefined for 1 of 3 classes: 2, no actual positives (TP + FN = 0)"
    assert "undefined for 1 of 3 classes" in str(found)
    omitted = eh.multiclass_match(cm, reference, "tpr", "macro", undefined="omit", draws=200)
    assert 0 < omitted.pvalue <= 1
    assert isnan(eh.multiclass_match(matrix(np.zeros((3, 3))), reference, "acc").pvalue)
    assert isnan(eh.multiclass_match(matrix(np.zeros((3, 3))), reference, "mcc", draws=10).pvalue)


def test_the_result_of_a_test_says_how_it_was_found() -> None:
    cm, reference = matrix(GROUP, list("abc")), matrix(REST, list("abc"))
    text = str(eh.multiclass_match(cm, reference, "mcc", draws=500, rng=7))
    assert text.splitlines()[0] == "MATCH test of mcc, group of 5 against 17"
    assert "method        simulated with 500 draws (seed 7), standard error" in text
    assert str(eh.multiclass_match(cm, reference, "acc")).endswith("method        exact")
    assert "given the denominator" in str(eh.multiclass_match(cm, reference, "tpr", label="a"))
    assert eh.multiclass_match(cm, reference, "tpr", label="a").name == "tpr of 'a' against the rest"


def test_groups_that_cannot_be_tested_are_refused() -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    whole = "must be a MulticlassConfusion of whole counts; got"
    for change, sentence in (
        ({"cm": matrix([[1, 2], [3, 4]])},
         "the reference must have the same labels in the same order (0, 1); got 0, 1, 2"),
        ({"reference": matrix(np.zeros((3, 3)))},
         "the reference is empty (n = 0); the group cannot be compared with it"),
        ({"cm": eh.cross_prior_smooth(cm, reference, 5)},
         f"the group {whole} <SmoothedClasses: 3 classes, n = 5, strength 5>"),
        ({"reference": 3}, f"the reference {whole} 3"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"rng": -1}, "rng must be a numpy Generator or a non-negative seed; got -1"),
        ({"null": "xyz"}, "no null is called 'xyz'; known: pooled, known, predictive"),
        ({"metric": "acc", "null": "known", "reference": matrix(np.eye(3))},
         "the group's acc is impossible under the reference's rates, since the reference has only correct cases; use "
         "null='pooled' or null='predictive'"),
        ({"metric": "acc", "null": "known", "reference": matrix(1 - np.eye(3))},
         "the group's acc is impossible under the reference's rates, since the reference has no correct cases; use "
         "null='pooled' or null='predictive'"),
    ):  # fmt: skip
        arguments: Any = {"cm": cm, "reference": reference, "metric": "mcc"} | change
        with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
            eh.multiclass_match(**arguments)


# Undefined cases --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_counts_of_undefined_matrices_are_those_of_listing_them(k: int) -> None:
    """For every metric: of one class, of averages, and of all classes at once, among C(n + K² - 1, n) matrices."""
    for n in range(4 if k < 4 else 3):
        every = list(all_tables(n, k))
        assert len(every) == comb(n + k * k - 1, n)
        counts = np.array(every)
        cells = one_against_rest(counts)
        for key in ONE_GROUP:
            holes = np.array([[oracle.ONE_GROUP[key](*map(int, c)) is None or not n for c in row] for row in cells])
            assert eh.count_undefined_classes(key, n, k) == holes[:, 0].sum()
            micro = [averaged(key, table, "micro") is None for table in every]
            assert eh.count_undefined_classes(key, n, k, "micro") == sum(micro), key
            if key != "pt" or k <= 2 or n == 0:
                weighty = counts.sum(axis=2) > 0
                weighted = (holes & weighty).any(axis=1) | (n == 0)
                assert eh.count_undefined_classes(key, n, k, "macro") == (holes.any(axis=1) | (n == 0)).sum(), key
                assert eh.count_undefined_classes(key, n, k, "weighted") == weighted.sum(), key
        for key in OVERALL:
            assert eh.count_undefined_classes(key, n, k, "all") == sum(overall(key, t) is None for t in every), key


def test_counts_for_two_classes_are_those_of_the_binary_metrics() -> None:
    for key in ONE_GROUP:
        for n in (1, 7, 30):
            assert eh.count_undefined_classes(key, n, 2) == eh.count_undefined(key, n)
    for key in OVERALL:
        assert eh.count_undefined_classes(key, 30, 2, "all") == eh.count_undefined(key, 30)


def test_counts_of_balanced_accuracy_have_a_closed_form() -> None:
    """Σ_j (-1)^(j+1) C(K, j) C(n + K² - jK - 1, n): some of K classes have no cases."""
    for n, k in ((1000, 3), (50, 10), (5, 100)):
        expected = sum(
            (-1) ** (j + 1) * comb(k, j) * (comb(n + k * k - j * k - 1, n) if j < k else 0) for j in range(1, k + 1)
        )
        assert eh.count_undefined_classes("balanced_accuracy", n, k, "all") == expected
        assert eh.count_undefined_classes("ppv", n, k, "macro") == expected


@pytest.mark.parametrize(("n", "k"), [(6, 5), (40, 12), (300, 3), (310, 300)])
def test_counts_of_matrices_with_an_empty_row_follow_from_adding_rows(n: int, k: int) -> None:
    """Without an empty row: f(i, m) = Σ_j C(j + K, j + 1) f(i - 1, m - j), with j cases more than one in row i."""
    more = [comb(j + k, j + 1) for j in range(max(n - k, 0) + 1)]
    full = [1] + [0] * max(n - k, 0)
    for _ in range(k):
        full = [sum(more[j] * full[m - j] for j in range(m + 1)) for m in range(len(full))]
    assert eh.count_undefined_classes("tpr", n, k, "macro") == comb(n + k * k - 1, n) - full[-1]


def test_counts_that_are_not_in_closed_form_are_refused() -> None:
    for error, arguments, sentence in (
        (eh.InvalidInput, ("pt", 3, 3, "macro"), "there is no closed form for the macro average of pt over more than "
         "two classes, which is also undefined where TPR equals FPR"),
        (eh.InvalidInput, ("tpr", 3, 3, "all"), "only acc, inacc, balanced_accuracy, mcc, kappa have a definition for "
         "all classes at once; got tpr"),
        (eh.InvalidInput, ("tpr", 3, 0, "macro"), "k must be at least 1"),
        (eh.UnknownName, ("tpr", 3, 3, "each"), "no choice for of is called 'each'; known: class, micro, macro, "
         "weighted, all"),
        (eh.TooLarge, ("mcc", 3, 60, "macro"), "inclusion and exclusion over 60 classes takes 56,672,074,888 terms, "
         "more than 50,000"),
    ):  # fmt: skip
        with pytest.raises(error, match=f"^{escape(sentence)}$"):
            eh.count_undefined_classes(*arguments)  # type: ignore[arg-type]


# Tables -----------------------------------------------------------------------------------------------------------


def test_rows_are_added_up_by_group_with_one_set_of_classes() -> None:
    rows = {("A", 1, "x", "y"): 2, ("A", 1, "x", "x"): 1, ("B", None, "z", "z"): 4, ("B", None, None, "z"): 3,
            ("B", None, "x", ""): 5, ("A", 1, None, None): 6}  # fmt: skip
    found = multiclass_tables(rows)
    assert found.labels == ("x", "y", "z")
    assert {key: cm.counts.tolist() for key, cm in found.matrices.items()} == {
        ("A", 1): [[1, 2, 0], [0, 0, 0], [0, 0, 0]],
        ("B", None): [[0, 0, 0], [0, 0, 0], [0, 0, 4]],
    }
    assert found.unlabelled == {("B", None): (0, 0, 3)}
    assert found.left_out == {"y_true": 3, "y_pred": 5, "y_true and y_pred": 6}


# Audits -----------------------------------------------------------------------------------------------------------


def decisions(n: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """Decisions between three classes; group A is decided worse, and C has no case of class z."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], size=n, p=[0.35, 0.55, 0.1])
    y = rng.choice(["x", "y", "z"], size=n, p=[0.5, 0.3, 0.2])
    y[(race == "C") & (y == "z")] = "y"
    right = rng.random(n) < np.where(race == "A", 0.5, 0.85)
    p = np.where(right, y, rng.choice(["x", "y", "z"], size=n))
    return {"race": race.tolist(), "y": y.tolist(), "p": p.tolist()}


def audited(data: Any, **settings: Any) -> eh.ClassAudit:
    columns: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "draws": 200}
    return eh.audit_classes(data, **columns | settings)


def plain_holm(pvalues: list[float]) -> list[float]:
    """Holm's method, step by step."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    adjusted, worst = [0.0] * len(pvalues), 0.0
    for done, i in enumerate(order):
        worst = max(worst, min(1.0, (len(pvalues) - done) * pvalues[i]))
        adjusted[i] = worst
    return adjusted


def plain_bh(pvalues: list[float]) -> list[float]:
    """min over q >= p of m q / rank(q)."""
    m, order = len(pvalues), sorted(pvalues)
    return [min(min(1.0, m * q / (k + 1)) for k, q in enumerate(order) if q >= p) for p in pvalues]


def test_a_class_is_audited_as_two_classes_are() -> None:
    """Rows of a class are those of audit(positive=class), but for what follows from adjusted p-values."""
    data = decisions()
    found = audited(data, adjust="none")
    for label in "xyz":
        alone = eh.audit(data, y_true="y", y_pred="p", groups="race", positive=label, adjust="none")
        assert found.audits[label].changes(alone) == []
        assert found.audits[label].findings == alone.findings
        assert eh.Audit.from_json(found.audits[label].to_json()) == found.audits[label]
    places = [place for place, _ in found.placed_findings()]
    assert places == sorted(places) and set(places) <= {"class 'x'", "class 'y'", "class 'z'"}


@pytest.mark.parametrize("family", ["metric", "audit"])
def test_p_values_are_adjusted_over_classes_and_groups(family: Any) -> None:
    """Benjamini and Hochberg over the union of all classes; Holm between the raw and the plain method."""
    data = decisions()
    step_up, holm = (audited(data, family=family, adjust=adjust) for adjust in ("bh", "holm"))
    every = [(label, row) for label, one in step_up.audits.items() for row in one.rows if row.pvalue is not None]
    families: dict[str, list[Any]] = {}
    for label, row in every:
        families.setdefault(row.metric if family == "metric" else "", []).append((label, row))
    assert len(families) == (8 if family == "metric" else 1)
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "family": family}
    alone = {label: eh.audit(data, positive=label, **columns) for label in "xyz"}
    stricter = 0
    for members in families.values():
        p = [row.pvalue for _, row in members]
        for (label, row), bh, plain in zip(members, plain_bh(p), plain_holm(p), strict=True):
            assert row.p_adjusted == approx(bh, rel=1e-9)
            same_row = next(r for r in holm.audits[label].rows if (r.group, r.metric) == (row.group, row.metric))
            assert row.pvalue is not None and same_row.p_adjusted is not None
            assert row.pvalue <= same_row.p_adjusted <= plain * (1 + 1e-9)
            one = next(r for r in alone[label].rows if (r.group, r.metric) == (row.group, row.metric))
            assert one.p_adjusted is not None and same_row.p_adjusted >= one.p_adjusted * (1 - 1e-9)
            stricter += same_row.p_adjusted > one.p_adjusted
            assert same_row.differs == (same_row.p_adjusted <= 0.05)
    assert stricter > len(every) / 2


def test_averages_are_those_of_the_groups_matrices() -> None:
    """Scores by definition, accuracy by the hypergeometric law, and simulated p-values that their seed repeats."""
    from scipy.stats import hypergeom

    data = decisions()
    names = ["acc", "macro ppv", "weighted f1", "micro jaccard", "mcc", "kappa", "balanced_accuracy"]
    found = audited(data, metrics="tpr", averages=names, draws=300)
    assert [row.name for row in found.averages] == [name for name in names for _ in "ABC"]
    rows = list(zip(data["race"], data["y"], data["p"], strict=True))
    tables = {race: [[sum(row == (race, a, b) for row in rows) for b in "xyz"] for a in "xyz"] for race in "ABC"}
    for row in found.averages:
        table = tables[row.group]
        rest = np.sum([tables[race] for race in "ABC" if race != row.group], axis=0).tolist()
        assert found.matrices["race", row.group].counts.tolist() == table
        score, other = (
            averaged(row.metric, t, row.average) if row.average else overall(row.metric, t) for t in (table, rest)
        )
        assert row.score == (None if score is None else approx(float(score), rel=1e-12))
        assert row.reference_score == approx(float(other), rel=1e-12)
        assert (row.n, row.reference_n) == (sum(map(sum, table)), sum(map(sum, rest)))
        if score is None:
            assert (row.pvalue, row.p_adjusted, row.method) == (None, None, None)
            assert row.reason == "undefined for 1 of 3 classes: 'z', no actual positives (TP + FN = 0)"
        elif row.name == "acc":
            right, all_right = (sum(t[i][i] for i in range(3)) for t in (table, rest))
            law = hypergeom(row.n + row.reference_n, right + all_right, row.n)
            tail = min(law.cdf(right), law.sf(right - 1))
            assert row.pvalue == approx(min(1.0, 2 * tail), rel=1e-9)
            assert (row.method, row.draws, row.seed, row.standard_error) == ("exact", None, None, 0.0)
        elif row.average != "micro":
            again = eh.multiclass_match(
                matrix(table, list("xyz")), matrix(rest, list("xyz")), row.metric, row.average, rng=row.seed, draws=300
            )
            assert (row.pvalue, row.standard_error) == (again.pvalue, again.standard_error)
            assert (row.method, row.draws) == ("simulated", 300)
    assert found == audited(data, metrics="tpr", averages=names, draws=300)


@pytest.mark.parametrize("family", ["metric", "audit"])
def test_averages_are_adjusted_in_families_of_their_own(family: Any) -> None:
    found = audited(decisions(), family=family, averages=["acc", "mcc"])
    for part in ([row.name for row in found.averages[:3]], [row.name for row in found.averages[3:]]):
        assert len(set(part)) == 1
    batches = [found.averages[:3], found.averages[3:]] if family == "metric" else [found.averages]
    for batch in batches:
        expected = plain_holm([row.pvalue or 0.0 for row in batch])
        assert [row.p_adjusted for row in batch] == approx(expected, rel=1e-12)
    assert [r.p_adjusted for r in audited(decisions(), adjust="none").averages] == [
        r.pvalue for r in audited(decisions(), adjust="none").averages
    ]


def test_two_groups_that_are_each_other_s_rest_count_once() -> None:
    data = decisions()
    data["race"] = ["A" if race == "A" else "B" for race in data["race"]]
    for row in (rows := audited(data, averages=["mcc", "acc"]).averages):
        pair = [other.pvalue or 0.0 for other in rows if other.name == row.name]
        assert row.p_adjusted == max(pair)


def test_a_class_without_a_score_is_left_out_only_if_asked() -> None:
    strict, lenient = (audited(decisions(), averages=["macro tpr"], undefined=how) for how in ("propagate", "omit"))
    (row,) = (r for r in strict.averages if r.group == "C")
    assert (row.score, row.left_out) == (None, {})
    (row,) = (r for r in lenient.averages if r.group == "C")
    assert row.score is not None and row.pvalue is not None
    assert (row.classes, row.left_out) == (("x", "y"), {"z": "no actual positives (TP + FN = 0)"})
    assert "undefined for 1 of 3 classes" in str(strict)


def test_classes_and_averages_can_be_chosen() -> None:
    found = audited(decisions(), classes=["z", "x"], averages=[])
    assert list(found.audits) == ["z", "x"]
    assert found.labels == ("x", "y", "z") and found.averages == ()
    assert found.settings["classes"] == ["z", "x"]
    columns = "y_true='y', y_pred='p', groups='race'"
    call = f"evenhand.audit_classes(data, {columns}, classes=['z', 'x'], averages=[], draws=200)"
    record = found.audits["z"].record
    assert (record["python"], record["command"], record["class"]) == (call, None, "z")
    assert record["positive"] == {"label": ["z"], "prediction": ["z"]}
    sentence = ("this is the audit of one of several classes, over which its p-values are adjusted; repeat all of them "
                "with audit_classes")  # fmt: skip
    with pytest.raises(eh.InvalidInput, match=f"^{escape(sentence)}$"):
        found.audits["z"].repeat(decisions())
    assert (
        str(found.audits["z"]).splitlines()[0] == "Audit of 400 cases in 3 groups by race, class 'z' against the rest"
    )
    assert "adjusted over groups and classes (Holm)" in " ".join(str(found.audits["z"]).split())


def test_rows_without_a_label_or_a_prediction_are_left_out_and_counted() -> None:
    data = {
        "race": ["A", "A", "B", "B", "A", "B"],
        "y": ["x", None, "z", "y", "", "x"],
        "p": ["x", "y", "z", "NA", None, "y"],
    }
    found = audited(data, metrics=["ppr", "tpr"], selection="all")
    assert (found.n, found.left_out) == (3, {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1})
    rates = {row.group: (row.n, row.score) for row in found.audits["y"].rows if row.metric == "ppr"}
    assert rates == {"A": (2, 0.5), "B": (2, 0.5)}
    assert {row.n for row in found.averages} == {1, 2}


def test_files_numbers_crossings_and_bins(tmp_path: Any) -> None:
    rng = np.random.default_rng(8)
    n = 300
    rows = {"age": rng.integers(18, 80, n), "sex": rng.choice(["F", "M"], n), "y": rng.integers(1, 4, n)}
    rows["p"] = np.where(rng.random(n) < 0.7, rows["y"], rng.integers(1, 4, n))
    path = tmp_path / "decisions.csv"
    lines = ["age,sex,y,p", *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    options: Any = {"y_true": "y", "y_pred": "p", "groups": ["age", "sex"], "bins": {"age": [30, 50]}, "draws": 100}
    from_file, from_columns = (eh.audit_classes(data, metrics=["tpr"], **options) for data in (path, rows))
    assert from_file.labels == (1, 2, 3)
    assert from_file.audits[1].rows == from_columns.audits[1].rows
    assert from_file.averages == from_columns.averages
    assert {by for by, _ in from_file.matrices} == {"age", "sex", "age & sex"}
    assert from_file.matrices["age & sex", "below 30 & F"].n == sum(
        age < 30 and sex == "F" for age, sex in zip(rows["age"], rows["sex"], strict=True)
    )
    assert len(from_file.to_frame("pandas")) == 3 * 11
    assert sum(cm.n for (by, _), cm in from_file.matrices.items() if by == "sex") == n
    text = str(from_file)
    head = "Audit of 300 cases in 11 groups by age, sex, age & sex, 3 of 3 classes against the rest "
    assert " ".join(text.split()).startswith(head)
    cases = ", ".join(f"{c} {(rows['y'] == c).sum()}" for c in (1, 2, 3))
    assert f"Cases of each: {cases}." in " ".join(text.split())


@pytest.mark.parametrize("reference", ["B", "largest", "all"])
def test_groups_may_have_another_reference(reference: str) -> None:
    data = decisions()
    found = audited(data, reference=reference, averages=["mcc"])
    alone = eh.audit(data, y_true="y", y_pred="p", groups="race", positive="x", reference=reference)
    assert {(r.group, r.reference) for r in found.averages} == {
        (r.group, r.reference) for r in alone.rows if r.metric == "tpr"
    }
    if reference != "all":
        (own,) = (row for row in found.averages if row.group == "B")
        assert (own.pvalue, own.reason) == (None, None) and own.score is not None
    else:
        everybody = eh.MulticlassConfusion.from_labels(data["y"], data["p"])
        assert {r.reference_score for r in found.averages} == {float(eh.multiclass_score(everybody, "mcc"))}


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"classes": ["w"]}, eh.UnknownName, "no class is called 'w'; known: x, y, z"),
        ({"classes": "x"}, eh.InvalidInput, "classes must be a list of classes or 'all'; got 'x'"),
        ({"classes": []}, eh.InvalidInput, "classes must name at least one class"),
        ({"y_true": None}, eh.InvalidInput, "y_true must be the name of a column or its values; got None"),
        ({"averages": ["macro"]}, eh.UnknownName, "no metric is called 'macro'; list_metrics() or 'evenhand metrics' "
         "lists them all"),
        ({"averages": ["tpr"]}, eh.InvalidInput, "tpr scores one class against the rest; pass a class as label= or an "
         "average=; only acc, inacc, balanced_accuracy, mcc, kappa have a definition for all classes at once"),
        ({"reference": "best"}, eh.InvalidInput, "the reference of classes must be 'rest', 'all', 'largest' or the "
         "name of a group; got 'best', which is of two classes"),
        ({"reference": {"race": eh.ConfusionMatrix(1, 2, 3, 4)}}, eh.InvalidInput, "the reference of classes must be "
         "'rest', 'all', 'largest' or the name of a group; got a ConfusionMatrix, which is of two classes"),
        ({"rng": -1}, eh.InvalidInput, "rng must be a non-negative seed; got -1"),
        ({"positive": "x"}, TypeError, "audit_classes() got an unexpected keyword argument 'positive'"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_by_class_is_refused(change: Any, error: Any, sentence: str) -> None:
    with pytest.raises(error, match=f"^{escape(sentence)}$"):
        audited(decisions(), **change)


def test_two_classes_can_be_audited_as_classes() -> None:
    """The audit of the positive class is that of audit, up to the adjustment."""
    rng = np.random.default_rng(0)
    data = {
        "race": rng.choice(["A", "B", "C"], 90).tolist(),
        "y": rng.integers(2, size=90),
        "p": rng.integers(2, size=90),
    }
    found = audited(data, adjust="none")
    assert found.audits[1].changes(eh.audit(data, y_true="y", y_pred="p", groups="race", adjust="none")) == []


# The command


def test_the_command_audits_classes_as_the_library_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "d.csv"
    rows = [
        (rng.choice(list("xyz")), rng.choice(list("xyz")), rng.choice(["A", "B"]), rng.choice(["F", "M"]))
        for _ in range(300)
    ]
    path.write_text("y,p,g,s\n" + "".join(",".join(row) + "\n" for row in rows))
    words = ["audit", str(path), "--label", "y", "--prediction", "p", "--group", "g", "--group", "s", "--draws", "99"]
    words += ["--metric", "tpr", "--average", "acc", "--average", "macro f1", "--reference", "g=A", "--class", "x"]
    expected = eh.audit_classes(
        path, y_true="y", y_pred="p", groups=["g", "s"], metrics=["tpr"], averages=["acc", "macro f1"], draws=99,
        reference={"g": "A"}, classes=["x"],
    )  # fmt: skip
    typed = CliRunner().invoke(evenhand, [*words, "--json", "-"])
    assert typed.exit_code == 0, typed.output
    assert eh.ClassAudit.from_json(typed.stdout) == expected
    assert CliRunner().invoke(evenhand, words).stdout == f"{expected}\n"
    files = {kind: tmp_path / f"a.{kind}" for kind in ("json", "html", "markdown", "csv")}
    CliRunner().invoke(evenhand, [*words, *(word for kind, file in files.items() for word in (f"--{kind}", str(file)))])
    assert eh.ClassAudit.from_json(files["json"].read_text("utf-8")) == expected
    assert files["csv"].read_text("utf-8") == expected.to_csv()
    assert files["markdown"].read_text("utf-8") == expected.to_markdown()
    assert "<title>Audit of 300 cases" in files["html"].read_text("utf-8")
    assert CliRunner().invoke(evenhand, ["audit", "--repeat", str(files["json"])]).exit_code == 0
    path.write_text(path.read_text().replace("x,y,", "x,x,", 1))
    changed = CliRunner().invoke(evenhand, ["audit", "--repeat", str(files["json"])])
    assert changed.exit_code == 1 and "- acc of " in changed.stderr


def test_the_command_names_its_options(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("y,p,g\nx,x,A\ny,z,B\nz,y,A\n")
    columns = [str(path), "--label", "y", "--prediction", "p", "--group", "g"]
    refused = CliRunner().invoke(evenhand, ["audit", *columns])
    assert refused.stderr.endswith("or audit each class with --class all\n")
    for words in (["--class", "q"], ["--average", "nonsense"], ["--crossings", "x"], ["--reference", "best"]):
        again = CliRunner().invoke(evenhand, ["audit", *columns, "--class", "all", *words])
        assert (again.exit_code, again.stderr[:7]) == (2, "Error: "), words
