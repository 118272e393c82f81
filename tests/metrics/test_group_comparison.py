"""Metrics that compare a group with a reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from oracle import ONE_GROUP, TWO_GROUPS, golden, matrices, minus, over, refusal
from pytest import approx

from evenhand import ConfusionMatrix, difference, metric, ratio
from evenhand.metrics import CATALOGUE, ONE_GROUP_METRICS, LargestGap, Metric

LISTED = list(matrices(3))


def assert_scores(m: Metric, expected: Any) -> None:
    """All pairs of matrices of three cases have the expected scores."""
    scores = m(np.array(LISTED)[:, None], np.array(LISTED)[None])
    exact = [[expected(group, reference) for reference in LISTED] for group in LISTED]
    floats = np.array([[math.nan if score is None else float(score) for score in row] for row in exact])
    assert scores == approx(floats, abs=1e-14, nan_ok=True), m.key


def test_scores_of_two_groups_are_those_of_the_definition() -> None:
    for m in CATALOGUE:
        if m.groups == 2:
            assert_scores(m, TWO_GROUPS[m.key])
    for case in golden("metrics")["pairs"]:
        for key in ("OFI", "TE"):
            assert metric(key)(case["g1"], case["g2"]) == approx(float(case[key]), rel=1e-14)


def test_every_metric_of_one_group_has_a_difference_and_a_ratio_if_it_cannot_be_negative() -> None:
    for m in ONE_GROUP_METRICS:
        score, gap = ONE_GROUP[m.key], difference(m)
        assert_scores(gap, lambda g, r, score=score: minus(score(*g), score(*r)))
        assert (gap.kind, gap.base, gap.comparisons, gap.null_value(0.3)) == ("difference", m, (gap,), 0)
        assert gap.range == (m.low - m.high, m.high - m.low)
        if m.low < 0:
            negative = f"{m.key} can be negative, so a ratio of two groups is meaningless; use {m.key}_difference"
            assert refusal(ratio, m) == refusal(metric, f"{m.key}_ratio") == f"InvalidInput: {negative}"
            continue
        gap = ratio(m.key)
        assert_scores(gap, lambda g, r, score=score: over(score(*g), score(*r)))
        assert (gap.kind, gap.base, gap.null_value(0.3), gap.range) == ("ratio", m, 1, (0, math.inf))


def test_a_gap_has_the_name_of_the_literature_or_that_of_its_metric() -> None:
    keys = {difference(m).key for m in ONE_GROUP_METRICS} | {ratio(m).key for m in ONE_GROUP_METRICS if m.low == 0}
    assert {key for key in keys if not key.endswith(("_difference", "_ratio"))} == {
        "ofi", "te", "equal_opportunity", "predictive_equality", "predictive_parity", "demographic_parity",
        "disparate_impact"}  # fmt: skip
    npv, over_npv = difference("npv"), ratio("npv")
    assert (npv.key, npv.name) == ("npv_difference", "Negative predictive value difference")
    assert (npv.description, npv.better) == ("npv of the group minus that of its reference", "closer to 0")
    assert (npv.formula, over_npv.better) == ("npv_1 - npv_2, npv = TN / (TN + FN)", "closer to 1")
    assert over_npv.formula == "npv_1 / npv_2, npv = TN / (TN + FN)" and npv is difference("npv")


def test_equalized_odds_is_the_largest_of_two_gaps() -> None:
    odds = metric("equalized_odds")
    assert isinstance(odds, LargestGap) and odds.is_distance and not difference("tpr").is_distance
    assert [gap.key for gap in odds.comparisons] == ["equal_opportunity", "predictive_equality"]
    assert (odds.base.key, odds.kind, odds.formula) == ("tpr", None, "max(|tpr_1 - tpr_2|, |fpr_1 - fpr_2|)")
    assert [part.name for part in odds.denominators] == ["actual positives", "actual negatives"]
    assert (odds.null_value(0.3), metric("tpr").null_value(0.3), metric("tpr").comparisons) == (0, 0.3, ())


def test_a_reason_says_in_which_of_the_groups() -> None:
    empty, full = ConfusionMatrix(tp=0, fn=0, fp=0, tn=5), ConfusionMatrix(tp=1, fn=1, fp=1, tn=1)
    no_positives, gap = "no actual positives (TP + FN = 0)", difference("tpr")
    assert gap.why_undefined(full, full) is ratio("ppr").why_undefined(empty, full) is None
    assert gap.why_undefined(full, empty) == f"in the reference: {no_positives}"
    assert gap.why_undefined(empty, empty) == f"in the group: {no_positives}; in the reference: {no_positives}"
    assert ratio("ppr").why_undefined(full, empty) == "in the reference: no predicted positives (TP + FP = 0)"


def test_what_cannot_be_compared_is_explained() -> None:
    for name, compare in (("te", difference), ("ofi", ratio)):
        message = f"{name} compares two groups; a metric of one group is needed"
        assert refusal(compare, name) == refusal(metric, f"{name}_{compare.__name__}") == f"InvalidInput: {message}"
    message = "the cells of group and reference must broadcast; got shapes (2, 4) and (3, 4)"
    assert refusal(metric("ofi"), np.ones((2, 4)), np.ones((3, 4))) == f"InvalidInput: {message}"
