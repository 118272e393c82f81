"""The catalogue, whole: every test here runs over every metric, and a metric left out of the tables fails."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ONE_GROUP, TWO_GROUPS, golden, hypergeometric, matrices, minus, multinomial, over
from pytest import approx

from evenhand import (
    ConfusionMatrix,
    InvalidInput,
    UnknownName,
    audit_counts,
    difference,
    disparity,
    distribution,
    f_beta,
    interval,
    list_metrics,
    match_test,
    metric,
    ratio,
)
from evenhand.metrics import CATALOGUE, Catalogue, OneGroup, Pair, Part, TwoGroups
from evenhand.metrics.links import signed_root

PAPER = [
    "acc",
    "prev",
    "ppr",
    "inacc",
    "nprev",
    "pnr",
    "tpr",
    "fpr",
    "tnr",
    "fnr",
    "ppv",
    "npv",
    "fdr",
    "for",
    "f1_original",
    "f1",
    "mcc",
    "pt",
    "mb",
    "ofi",
    "te",
]
one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
two_groups = pytest.mark.parametrize("m", [m for m in CATALOGUE if isinstance(m, TwoGroups)], ids=lambda m: m.key)
cells = st.tuples(*[st.integers(0, 10**12)] * 4).filter(any)
small = [(n, list(matrices(n))) for n in (0, 1, 2, 5, 8)]

COMPLEMENTS = {"acc": "inacc", "prev": "nprev", "ppr": "pnr", "tpr": "fnr", "tnr": "fpr", "ppv": "fdr", "npv": "for"}
# Swapping the classes exchanges TP with TN and FN with FP.
CLASSES_SWAPPED = {
    "acc": "acc", "inacc": "inacc", "prev": "nprev", "ppr": "pnr", "tpr": "tnr", "fpr": "fnr", "ppv": "npv",
    "fdr": "for", "mcc": "mcc", "mcc_limit": "mcc_limit", "balanced_accuracy": "balanced_accuracy",
    "informedness": "informedness", "markedness": "markedness", "kappa": "kappa", "g_mean": "g_mean", "dor": "dor",
}  # fmt: skip
# Swapping truth and prediction exchanges FN with FP.
SIDES_SWAPPED = {
    "acc": "acc", "inacc": "inacc", "prev": "ppr", "nprev": "pnr", "tpr": "ppv", "fnr": "fdr", "tnr": "npv",
    "fpr": "for", "f1": "f1", "f1_original": "f1_original", "jaccard": "jaccard", "f2": "f0.5",
    "fowlkes_mallows": "fowlkes_mallows", "mcc": "mcc", "mcc_limit": "mcc_limit", "kappa": "kappa", "dor": "dor",
    "informedness": "markedness",
}  # fmt: skip
# Scores that such a swap negates or inverts.
NEGATED, INVERTED = {"mb"}, {"te_part": "te_part", "lr_plus": "lr_minus"}
# The second is the first with its removable holes filled.
FILLED = {"mcc": "mcc_limit", "pt": "pt_limit", "f1_original": "f1"}


def score(key: str, c: tuple[int, ...]) -> float:
    return float(metric(key)(ConfusionMatrix(*c)))


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == approx(b, rel=1e-12, abs=1e-12)


def swapped_classes(c: tuple[int, ...]) -> tuple[int, ...]:
    tp, fn, fp, tn = c
    return tn, fp, fn, tp


def swapped_sides(c: tuple[int, ...]) -> tuple[int, ...]:
    tp, fn, fp, tn = c
    return tp, fp, fn, tn


# Nothing is forgotten


def test_the_papers_21_come_first_and_in_its_order() -> None:
    assert [m.key for m in CATALOGUE.paper] == [m.key for m in list_metrics()][:21] == PAPER


def test_every_metric_has_an_oracle() -> None:
    assert {m.key for m in CATALOGUE} == set(ONE_GROUP) | set(TWO_GROUPS)


def test_every_one_group_metric_is_placed_under_an_identity() -> None:
    """A metric added to the catalogue is placed under the identities below, or this fails."""
    placed = NEGATED.union(
        *({*table, *table.values()} for table in (COMPLEMENTS, CLASSES_SWAPPED, SIDES_SWAPPED, INVERTED, FILLED))
    )
    assert placed == {m.key for m in CATALOGUE.one_group}


def test_a_name_used_twice_fails_at_construction() -> None:
    tpr = metric("tpr")
    with pytest.raises(InvalidInput, match=r" names both tpr and tpr$"):
        Catalogue(tpr, tpr)


# Values


@one_group
def test_scores_are_those_of_the_definition(m: OneGroup) -> None:
    for n, listed in small:
        scores = m(np.array(listed))
        for c, found in zip(listed, scores, strict=True):
            expected = ONE_GROUP[m.key](*c)
            assert math.isnan(found) == (expected is None), (n, c)
            assert expected is None or found == approx(float(expected), rel=1e-13, abs=1e-15), (n, c)


@two_groups
def test_scores_of_two_groups_are_those_of_the_definition(m: TwoGroups) -> None:
    listed = list(matrices(3))
    scores = m(np.array(listed)[:, None], np.array(listed)[None])
    for i, g in enumerate(listed):
        for j, r in enumerate(listed):
            expected = TWO_GROUPS[m.key](g, r)
            assert math.isnan(scores[i, j]) == (expected is None), (g, r)
            assert expected is None or scores[i, j] == approx(float(expected), abs=1e-14), (g, r)


@pytest.mark.parametrize("case", golden("metrics")["metrics"], ids=lambda c: str(c["cm"]))
def test_golden_scores(case: dict[str, Any]) -> None:
    keys = {"B": "mb", "PTs": "pt_limit", "MCC_with_limits": "mcc_limit", "TE_part_FN_over_FP": "te_part"}
    for name, value in case["values"].items():
        found = score(keys.get(name, name.lower()), case["cm"])
        assert math.isnan(found) if value is None else found == approx(float(value), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("case", golden("metrics")["pairs"], ids=lambda c: str(c["g1"]))
def test_golden_pairs(case: dict[str, Any]) -> None:
    g1, g2 = ConfusionMatrix(*case["g1"]), ConfusionMatrix(*case["g2"])
    for name in ("OFI", "TE"):
        assert metric(name)(g1, g2) == approx(float(case[name]), rel=1e-14)


def test_counts_that_overflow_int64_give_the_right_mcc() -> None:
    """E25: the Folktables total; int64 silently gives .8564."""
    assert score("mcc", (26318, 16189, 20071, 93854)) == approx(0.43144273538192635, rel=1e-14)


@one_group
@settings(max_examples=50)
@given(cells)
def test_counts_up_to_a_trillion_lose_nothing(m: OneGroup, c: tuple[int, int, int, int]) -> None:
    expected, found = ONE_GROUP[m.key](*c), score(m.key, c)
    assert math.isnan(found) == (expected is None)
    assert expected is None or found == approx(float(expected), rel=1e-12, abs=1e-15)


def test_neighbouring_huge_counts_are_told_apart() -> None:
    """TP*TN - FP*FN = 1 at counts of 10**12: PT is defined, and MCC is not 0."""
    n = 10**12
    assert metric("pt").why_undefined(ConfusionMatrix(n, n + 1, n - 1, n)) is None
    assert score("mcc", (n, n + 1, n - 1, n)) > 0
    assert math.isnan(score("pt", (n, n, n, n)))


# Identities


@given(cells)
def test_complements_add_up_to_one(c: tuple[int, ...]) -> None:
    for a, b in COMPLEMENTS.items():
        assert same(score(a, c) + score(b, c), score(a, c) * 0 + 1)


@given(cells)
def test_swapping_the_classes_exchanges_the_metrics(c: tuple[int, ...]) -> None:
    for a, b in CLASSES_SWAPPED.items():
        assert same(score(a, swapped_classes(c)), score(b, c))
        assert same(score(b, swapped_classes(c)), score(a, c))
    for key in NEGATED:
        assert same(score(key, swapped_classes(c)), -score(key, c))


@given(cells)
def test_swapping_truth_and_prediction_exchanges_the_metrics(c: tuple[int, ...]) -> None:
    for a, b in SIDES_SWAPPED.items():
        assert same(score(a, swapped_sides(c)), score(b, c))
        assert same(score(b, swapped_sides(c)), score(a, c))


@given(st.tuples(*[st.integers(1, 10**12)] * 4))
def test_swapping_the_classes_inverts_the_odds(c: tuple[int, ...]) -> None:
    for a, b in INVERTED.items():
        assert score(a, swapped_classes(c)) == approx(1 / score(b, c))


@given(cells)
def test_a_filled_metric_agrees_with_the_printed_one(c: tuple[int, ...]) -> None:
    for printed, filled in FILLED.items():
        assert math.isnan(score(printed, c)) or same(score(printed, c), score(filled, c))


@one_group
@settings(max_examples=50)
@given(c=st.tuples(*[st.integers(0, 10**6)] * 4).filter(any), factor=st.sampled_from([0.5, 2, 8, 1024]))
def test_scores_do_not_depend_on_scale(m: OneGroup, c: tuple[int, ...], factor: float) -> None:
    """S(a * cells) = S(cells): smoothing may scale back to n or not."""
    scaled = m(np.array(c) * factor)
    assert same(float(scaled), score(m.key, c))


@one_group
@settings(max_examples=50)
@given(cells)
def test_scores_stay_in_range(m: OneGroup, c: tuple[int, ...]) -> None:
    assert not (score(m.key, c) < m.low or score(m.key, c) > m.high)


@one_group
def test_the_rank_orders_matrices_as_the_score_does(m: OneGroup) -> None:
    """rank(a) < rank(b) iff S(a) < S(b), decided by cross-multiplication in integers."""
    listed = [c for c in matrices(7) if ONE_GROUP[m.key](*c) is not None]
    exact = [ONE_GROUP[m.key](*c) for c in listed]
    ranks = [m.rank(*c) for c in listed]
    for i, (above, below) in enumerate(ranks):
        assert below >= 0
        for j in range(i):
            cross = above * ranks[j][1] - ranks[j][0] * below
            gap = exact[i] - exact[j]
            assert (cross > 0) == (gap > 1e-50), (listed[i], listed[j])
            assert (cross == 0) == (abs(gap) < 1e-50), (listed[i], listed[j])


@pytest.mark.parametrize("m", [m for m in CATALOGUE if isinstance(m, Pair)], ids=lambda m: m.key)
def test_a_pair_is_monotone_in_its_last_split(m: Pair) -> None:
    """Given the row totals and TP, a pair never rises (or never falls) as FP grows; by columns, as FN grows."""
    sign = 1 if m.rises else -1
    for positives in range(8):
        for tp in range(positives + 1):
            path = [(tp, positives - tp, fp, 7 - positives - fp) for fp in range(8 - positives)]
            rows = [swapped_sides(c) for c in path] if m.columns else path
            scores = [s for s in m(np.array(rows)) if not math.isnan(s)]
            assert all(sign * (b - a) >= -1e-15 for a, b in pairwise(scores))


# Formulas and words


@one_group
def test_the_printed_formula_gives_the_score(m: OneGroup) -> None:
    for tp, fn, fp, tn in matrices(9):
        if 0 in (tp, fn, fp, tn) or math.isnan(score(m.key, (tp, fn, fp, tn))):
            continue
        names = {"TP": tp, "FN": fn, "FP": fp, "TN": tn, "n": 9, "sqrt": math.sqrt}
        names |= {
            key.upper(): score(key, (tp, fn, fp, tn)) for key in ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "mcc")
        }
        assert eval(m.formula, {"__builtins__": {}}, names) == approx(score(m.key, (tp, fn, fp, tn)))


OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "==": lambda a, b: a == b,
    "sqrt": math.sqrt,
}


def evaluate(tree: Any, cells: dict[str, int]) -> Any:
    """The value of a tree of operators, as a program without Python would find it."""
    if isinstance(tree, str):
        return cells[tree]
    if not isinstance(tree, list):
        return tree
    head, *arguments = tree
    if head == "if":
        test, then, otherwise = arguments
        return evaluate(then if evaluate(test, cells) else otherwise, cells)
    return OPERATORS[head](*(evaluate(a, cells) for a in arguments))


@one_group
def test_the_expression_gives_the_score(m: OneGroup) -> None:
    """Wherever the score is defined, also where cells are empty."""
    for c in matrices(7):
        expected = ONE_GROUP[m.key](*c)
        if expected is not None:
            found = evaluate(m.expression, dict(zip(("TP", "FN", "FP", "TN"), c, strict=True)))
            assert found == approx(float(expected), rel=1e-12, abs=1e-12), c


@pytest.mark.parametrize("m", [m for m in CATALOGUE if isinstance(m, Pair)], ids=lambda m: m.key)
def test_the_link_of_the_rank_is_the_score_in_many_digits(m: Pair) -> None:
    """link(rank) in 50 digits of Decimal, against 60 digits of another arithmetic, and the float score."""
    listed = [c for c in matrices(7) if ONE_GROUP[m.key](*c) is not None]
    with localcontext(prec=50):
        columns = [np.array([Decimal(c[i]) for c in listed], dtype=object) for i in range(4)]
        exact = m.link(*m.ranked(*columns))
    scores = m(np.array(listed))
    for c, digits, found in zip(listed, exact, scores, strict=True):
        expected = ONE_GROUP[m.key](*c)
        with mpmath.workdps(60):
            value = (
                mpmath.mpf(expected.numerator) / expected.denominator if isinstance(expected, Fraction) else expected
            )
            assert abs(mpmath.mpf(str(digits)) - value) < mpmath.mpf(10) ** -40, c
        assert found == approx(float(digits), rel=1e-13, abs=1e-15), c


@one_group
def test_the_reason_is_given_exactly_where_the_score_is_missing(m: OneGroup) -> None:
    for _, listed in small:
        for c in listed:
            reason = m.why_undefined(ConfusionMatrix(*c))
            assert (reason is None) == (not math.isnan(score(m.key, c)))
            assert reason != ""


@pytest.mark.parametrize(
    ("key", "c", "reason"),
    [
        ("tpr", (0, 0, 2, 6), "no actual positives (TP + FN = 0)"),
        ("fpr", (3, 2, 0, 0), "no actual negatives (FP + TN = 0)"),
        ("ppv", (0, 3, 0, 5), "no predicted positives (TP + FP = 0)"),
        ("mcc", (0, 0, 0, 4), "no actual positives (TP + FN = 0) and no predicted positives (TP + FP = 0)"),
        ("mcc_limit", (0, 0, 0, 4), "no cases other than true negatives (TP + FN + FP = 0)"),
        ("f1_original", (0, 1, 2, 3), "no true positives (TP = 0)"),
        ("pt", (1, 2, 3, 6), "TPR equals FPR (TP * TN = FP * FN)"),
        ("acc", (0, 0, 0, 0), "no cases (n = 0)"),
        ("tpr", (0, 0, 0, 0), "no cases (n = 0)"),
    ],
)
def test_reasons_name_what_is_missing(key: str, c: tuple[int, int, int, int], reason: str) -> None:
    assert metric(key).why_undefined(ConfusionMatrix(*c)) == reason


def test_a_reason_says_in_which_of_two_groups() -> None:
    empty, full = ConfusionMatrix(0, 0, 0, 5), ConfusionMatrix(1, 1, 1, 1)
    equal_opportunity = difference("tpr")

    assert equal_opportunity.why_undefined(full, full) is None
    assert equal_opportunity.why_undefined(full, empty) == "in the reference: no actual positives (TP + FN = 0)"
    assert equal_opportunity.why_undefined(empty, empty) == (
        "in the group: no actual positives (TP + FN = 0); in the reference: no actual positives (TP + FN = 0)"
    )
    assert ratio("ppr").why_undefined(full, empty) == "in the reference: no predicted positives (TP + FP = 0)"


# Finding a metric

SYNONYMS = {
    "acc": ["ACC", "Accuracy"],
    "prev": ["PREV", "Prevalence", "P"],
    "ppr": ["PPR", "Predicted Positive Rate", "P̂", "PP"],
    "inacc": ["INACC", "Inaccuracy", "Error Rate", "Misclassification Rate"],
    "nprev": ["NPREV", "Negative Prevalence", "Complement of Prevalence", "N"],
    "pnr": ["PNR", "Predicted Negative Rate", "N̂", "PN"],
    "tpr": ["TPR", "True Positive Rate", "Sensitivity", "Recall", "Hit Rate"],
    "fpr": ["FPR", "False Positive Rate", "Fall-Out"],
    "tnr": ["TNR", "True Negative Rate", "Specificity"],
    "fnr": ["FNR", "False Negative Rate", "Miss Rate"],
    "ppv": ["PPV", "Positive Predictive Value", "Precision"],
    "npv": ["NPV", "Negative Predictive Value"],
    "fdr": ["FDR", "False Discovery Rate"],
    "for": ["FOR", "False Omission Rate", "False Reassurance Rate"],
    "f1_original": ["Original F1 Score", "Original F₁ score", "F₁ Measure", "Dice-Sørensen Coefficient"],
    "f1": ["F1", "F₁", "Simplified F1 Score"],
    "mcc": ["MCC", "Matthews Correlation Coefficient", "Phi Coefficient", "φ", "r_φ"],
    "pt": ["PT", "Prevalence Threshold"],
    "mb": ["Marginal Benefit", "B", "𝓑"],
    "ofi": ["OFI", "Objective Fairness Index"],
    "te": ["TE", "Treatment Equality"],
    "equal_opportunity": ["equal opportunity", "tpr_difference", "recall difference"],
    "predictive_parity": ["predictive parity", "precision-difference"],
    "demographic_parity": ["demographic parity", "statistical parity"],
    "disparate_impact": ["disparate impact", "ppr_ratio", "selection rate ratio"],
    "equalized_odds": ["equalized odds", "equalised odds"],
    "lr_plus": ["LR+"],
    "lr_minus": ["LR-"],
    "f3": ["F3", "f_beta 3", "F-3"],
    "f2": ["f2", "F-beta 2"],
    "npv_difference": ["NPV difference"],
    "f1_ratio": ["f1_ratio"],
    "f3_difference": ["f3_difference"],
}


@pytest.mark.parametrize(("key", "names"), SYNONYMS.items(), ids=SYNONYMS)
def test_every_synonym_finds_its_metric(key: str, names: list[str]) -> None:
    for name in [key, *names]:
        assert metric(name).key == key, name


def test_every_metric_of_the_paper_is_looked_up_by_its_synonyms() -> None:
    assert set(PAPER) <= set(SYNONYMS)


@pytest.mark.parametrize("m", [*CATALOGUE, f_beta(3), difference("npv")], ids=lambda m: m.key)
def test_a_record_survives_a_trip_to_another_process(m: Any) -> None:
    assert pickle.loads(pickle.dumps(m)) == m


def test_a_record_shows_its_formula() -> None:
    assert repr(metric("tpr")) == "<tpr: True positive rate = TP / (TP + FN)>"
    assert metric("mcc").range == (-1, 1)


def test_f_beta_of_one_is_f1() -> None:
    assert f_beta(1) is metric("f1")
    assert f_beta(2) == metric("f2")
    assert metric(f_beta(1 / 3).key) is f_beta(Fraction(1, 3))
    assert f_beta(0.1)(ConfusionMatrix(3, 1, 2, 4)) == approx(float(Fraction(303, 100) / Fraction(504, 100)))


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: metric("recal"), UnknownName, "no metric is called 'recal'; did you mean 'recall'?"),
        (lambda: metric("zzzz"), UnknownName,
         "no metric is called 'zzzz'; list_metrics() or 'evenhand metrics' lists them all"),
        (lambda: metric(cast("Any", 3)), InvalidInput, "metric must be a name or a Metric; got 3 of type int"),
        (lambda: ratio("mcc"), InvalidInput,
         "mcc can be negative, so a ratio of two groups is meaningless; use mcc_difference"),
        (lambda: difference("te"), InvalidInput,
         "te already compares two groups; difference() takes a metric of one group"),
        (lambda: f_beta(0), InvalidInput, "beta must be a number from 0.001 to 1000; got 0"),
        (lambda: f_beta(float("inf")), InvalidInput, "beta must be a number from 0.001 to 1000; got inf"),
        (lambda: metric("tpr")([[1, 2], [3, 4]]), InvalidInput,
         "cells must have shape (..., 4), in the order tp, fn, fp, tn; got shape (2, 2); for a 2x2 array, use "
         "ConfusionMatrix.from_array"),
        (lambda: metric("tpr")([[1, 2, 3, -4]]), InvalidInput, "tn must not be negative; got -4"),
        (lambda: metric("tpr")([1, float("nan"), 3, 4]), InvalidInput, "fn must be finite; got nan"),
        (lambda: metric("tpr")([True, False, True, True]), InvalidInput,
         "cells must contain counts; got booleans (to count labels, use ConfusionMatrix.from_labels)"),
        (lambda: metric("tpr")(ConfusionMatrix(1, 2, 3, 4), ConfusionMatrix(1, 2, 3, 4)), InvalidInput,
         "tpr takes one group; got 2"),
        (lambda: metric("ofi")(ConfusionMatrix(1, 2, 3, 4)), InvalidInput,
         "ofi takes two groups, the group and the reference; got 1"),
        (lambda: metric("ofi")(np.ones((2, 4)), np.ones((3, 4))), InvalidInput,
         "the cells of group and reference must broadcast; got shapes (2, 4) and (3, 4)"),
        (lambda: metric("tpr").why_undefined(np.ones((2, 4))), InvalidInput,
         "why_undefined takes one matrix at a time; got cells of shape (2, 4)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()


def test_a_list_of_matrices_is_scored_at_once() -> None:
    tpr = metric("tpr")
    assert tpr([ConfusionMatrix(1, 1, 0, 0), ConfusionMatrix(3, 1, 0, 0)]).tolist() == [0.5, 0.75]
    assert tpr(np.ones((2, 3, 4))).shape == (2, 3)


# A metric of one's own, as CONTRIBUTING says, without a place in the catalogue

_POSITIVES, _NEGATIVES = Part(("tp", "fn"), "actual positives"), Part(("fp", "tn"), "actual negatives")
_PREDICTED = Part(("tp", "fp"), "predicted positives")
OWN: dict[str, tuple[Pair, Any]] = {
    "product": (
        Pair(
            key="product", name="Recall times precision", better="higher", needs=(_POSITIVES, _PREDICTED),
            printed="TPR * PPV", ranked=lambda tp, fn, fp, tn: (tp * tp, (tp + fn) * (tp + fp)),
            zero_if=(Part(("tp",), "true positives"),),
        ),
        lambda tp, fn, fp, tn: over(tp * tp, (tp + fn) * (tp + fp)),
    ),
    "root": (
        Pair(
            key="root", name="Signed root of informedness", better="higher", low=-1.0, needs=(_POSITIVES, _NEGATIVES),
            printed="0 if TPR == FPR else (TPR - FPR) / sqrt(sqrt((TPR - FPR)*(TPR - FPR)))", link=signed_root,
            ranked=lambda tp, fn, fp, tn: (tp * tn - fp * fn, (tp + fn) * (fp + tn)),
        ),
        lambda tp, fn, fp, tn: (
            None if (tp + fn) * (fp + tn) == 0
            else mpmath.sign(tp * tn - fp * fn)
            * mpmath.sqrt(mpmath.mpf(abs(tp * tn - fp * fn)) / ((tp + fn) * (fp + tn)))
        ),
    ),
}  # fmt: skip
own = pytest.mark.parametrize(("m", "exact"), OWN.values(), ids=OWN)


@own
def test_a_metric_of_ones_own_is_scored(m: Pair, exact: Any) -> None:
    for c in matrices(6):
        expected, found = exact(*c), m(ConfusionMatrix(*c))
        assert math.isnan(found) == (expected is None) == (m.why_undefined(ConfusionMatrix(*c)) is not None)
        if expected is not None:
            assert found == approx(float(expected), abs=1e-14)
            names = dict(zip(("TP", "FN", "FP", "TN"), c, strict=True))
            assert evaluate(m.expression, names) == approx(found, abs=1e-12)


@own
def test_a_metric_of_ones_own_has_a_distribution(m: Pair, exact: Any) -> None:
    w, n = [3, 1, 2, 4], 6
    d = distribution(m, n, ConfusionMatrix(*w))
    weights = [(exact(*c), multinomial(c, w)) for c in matrices(n)]
    defined = sum(p for s, p in weights if s is not None)
    assert d.p_undefined == approx(float(1 - defined))
    for x in (0.1, 0.4, 0.7):
        expected = sum(p for s, p in weights if s is not None and s <= x) / defined
        assert d.cdf(x) == approx(float(expected), rel=1e-12)


@own
def test_a_metric_of_ones_own_is_tested_by_its_difference(m: Pair, exact: Any) -> None:
    group, reference = (3, 2, 1, 2), (6, 5, 4, 9)
    pooled = [a + b for a, b in zip(group, reference, strict=True)]
    observed = minus(exact(*group), exact(*reference))
    lower = total = Fraction(0)
    for c in matrices(8):
        left = tuple(p - k for p, k in zip(pooled, c, strict=True))
        if c[0] + c[1] == 5 and min(left) >= 0 and (gap := minus(exact(*c), exact(*left))) is not None:
            total += hypergeometric(c, pooled)
            lower += hypergeometric(c, pooled) if gap <= observed + Fraction(1, 10**15) else 0
    r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), difference(m), alternative="less")
    assert r.pvalue == approx(float(lower / total), rel=1e-10)
    assert r.metric.key == f"{m.key}_difference"


@own
def test_a_metric_of_ones_own_has_intervals_and_gaps(m: Pair, exact: Any) -> None:
    group, reference = (13, 12, 11, 22), (60, 5, 4, 90)
    rng = np.random.default_rng(2)
    drawn = []
    for tp, fn, fp, tn in (group, reference):
        p, t, f = (rng.beta(a + 0.5, b + 0.5, 200_000) for a, b in ((tp + fn, fp + tn), (tp, fn), (fp, tn)))
        drawn.append(
            p * t * t / (p * t + (1 - p) * f) if m.key == "product" else np.sign(t - f) * np.sqrt(np.abs(t - f))
        )
    i = interval(ConfusionMatrix(*group), m, 0.9)
    assert (np.mean(drawn[0] < i.low), np.mean(drawn[0] > i.high)) == approx((0.05, 0.05), abs=0.004)
    d = disparity(ConfusionMatrix(*group), ConfusionMatrix(*reference), m, level=0.9)
    gaps = drawn[0] - drawn[1]
    assert (np.mean(gaps < d.low), np.mean(gaps > d.high)) == approx((0.05, 0.05), abs=0.004)
    assert d.estimate == approx(float(exact(*group) - exact(*reference)))
    assert d.to_dict()["metric"] == f"{m.key}_difference"


@own
def test_an_audit_knows_metrics_by_their_keys(m: Pair, exact: Any) -> None:
    sentence = (
        f"{m.key!r} is not a metric of the catalogue, by which rows, reports and saved audits know metrics; "
        "CONTRIBUTING.md says how to add it"
    )
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        audit_counts({"A": ConfusionMatrix(13, 12, 11, 22), "B": ConfusionMatrix(60, 5, 4, 90)}, metrics=[m, "tpr"])
