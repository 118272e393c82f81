"""The catalogue, whole: a metric left out of the tables fails."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracle import CLASSES_SWAPPED, ONE_GROUP, SIDES_SWAPPED, TWO_GROUPS, golden, matrices
from pytest import approx

from evenhand import ConfusionMatrix, difference, f_beta, list_metrics, metric, ratio
from evenhand.errors import InvalidInput, UnknownName
from evenhand.metrics import CATALOGUE, Catalogue, OneGroup

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
cells = st.tuples(*[st.integers(0, 10**12)] * 4).filter(any)
small = [(n, list(matrices(n))) for n in (0, 1, 2, 5, 8)]
COMPLEMENTS = {"acc": "inacc", "prev": "nprev", "ppr": "pnr", "tpr": "fnr", "tnr": "fpr", "ppv": "fdr", "npv": "for"}
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


@one_group
def test_scores_are_those_of_the_definition(m: OneGroup) -> None:
    for n, listed in small:
        scores = m(np.array(listed))
        for c, found in zip(listed, scores, strict=True):
            expected = ONE_GROUP[m.key](*c)
            assert math.isnan(found) == (expected is None), (n, c)
            assert expected is None or found == approx(float(expected), rel=1e-13, abs=1e-15), (n, c)


@pytest.mark.parametrize("case", golden("metrics")["metrics"], ids=lambda c: str(c["cm"]))
def test_golden_scores(case: dict[str, Any]) -> None:
    keys = {"B": "mb", "PTs": "pt_limit", "MCC_with_limits": "mcc_limit", "TE_part_FN_over_FP": "te_part"}
    for name, value in case["values"].items():
        found = score(keys.get(name, name.lower()), case["cm"])
        assert math.isnan(found) if value is None else found == approx(float(value), rel=1e-14, abs=1e-15)


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


def test_the_smallest_beta_is_allowed_in_either_form() -> None:
    assert f_beta(Fraction(1, 1000)) is f_beta(0.001)
