"""What every metric is: a score, its rank and range, where it is undefined, and what else its record says."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from class_oracle import as_mp
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP, golden, matrices, refusal
from pytest import approx

import evenhand as eh
from evenhand import ConfusionMatrix, metric
from evenhand.metrics import CATALOGUE, ONE_GROUP_METRICS, Part
from evenhand.metrics.record import contrast_metric, ratio_metric, two_rates_metric

CELLS = ("tp", "fn", "fp", "tn")
TP, POSITIVES = Part(("tp",), "true positives"), Part(("tp", "fn"), "actual positives")
NEGATIVES = Part(("fp", "tn"), "actual negatives")
# Of scores of two rates; all others are computed from both rows.
OTHER_DENOMINATORS = {"markedness": ["TP + FP", "FN + TN"], "fowlkes_mallows": ["TP + FN", "TP + FP"],
                      "f0.5": ["TP + FN + FP"], "f2": ["TP + FN + FP"]}  # fmt: skip


def test_scores_are_those_of_the_definition() -> None:
    """And a reason is given exactly where a score is undefined."""
    for m in ONE_GROUP_METRICS:
        for listed in [list(matrices(n)) for n in (0, 1, 2, 6)]:
            for cells, score in zip(listed, m(np.array(listed)), strict=True):
                expected = ONE_GROUP[m.key](*cells)
                assert math.isnan(score) == (expected is None) == bool(m.why_undefined(cells)), (m.key, cells)
                assert expected is None or score == approx(float(expected), rel=1e-13, abs=1e-15), (m.key, cells)


def test_scores_are_those_of_60_digit_arithmetic() -> None:
    keys = {"B": "mb", "PTs": "pt_limit", "MCC_with_limits": "mcc_limit", "TE_part_FN_over_FP": "te_part"}
    for case in golden("metrics")["metrics"]:
        for name, value in case["values"].items():
            score, expected = metric(keys.get(name, name))(case["cm"]), math.nan if value is None else float(value)
            assert score == approx(expected, rel=1e-14, abs=1e-15, nan_ok=True), (name, case["cm"])


@settings(max_examples=25)
@given(st.tuples(*[st.integers(0, 10**12)] * 4).filter(any), st.sampled_from([0.5, 2, 1024]))
def test_counts_up_to_a_trillion_lose_no_digits(cells: tuple[int, int, int, int], factor: float) -> None:
    """S(cells) is exact and in range, and S(a * cells) = S(cells), so that smoothing may scale cells."""
    for m in ONE_GROUP_METRICS:
        expected, score = ONE_GROUP[m.key](*cells), m(cells)
        assert score == approx(math.nan if expected is None else float(expected), rel=1e-12, abs=1e-15, nan_ok=True)
        assert math.isnan(score) or m.low <= score <= m.high
        assert m(np.array(cells) * factor) == approx(score, rel=1e-12, abs=1e-15, nan_ok=True), m.key


def test_products_of_counts_do_not_overflow() -> None:
    """E25: the Folktables total, of which int64 silently makes an MCC of .8564; and TP*TN - FP*FN = 1 at 10**12."""
    assert metric("mcc")([26318, 16189, 20071, 93854]) == approx(0.43144273538192635, rel=1e-14)
    assert metric("mcc")([0, 4, 18, 0]) == -1  # not less, by rounding
    n = 10**12
    assert metric("pt")([n, n + 1, n - 1, n]) == approx(0.5, abs=1e-12) and math.isnan(metric("pt")([n, n, n, n]))
    assert metric("mcc")([n, n + 1, n - 1, n]) == approx(0, abs=1e-16)


def test_the_rank_is_an_exact_fraction_that_orders_matrices_as_the_score_does() -> None:
    """rank(a) < rank(b) iff S(a) < S(b), by cross-multiplication of integers; a denominator of 0 means infinity."""
    for m in ONE_GROUP_METRICS:
        scored = [(score, m.rank(*c)) for c in matrices(7) if (score := ONE_GROUP[m.key](*c)) is not None]
        for (low, (a, b)), (high, (c, d)) in pairwise(sorted(scored, key=lambda pair: as_mp(pair[0]))):
            assert {type(x) for x in (a, b, c, d)} == {int} and min(b, d) >= 0
            assert np.sign(c * b - a * d) == (high - low > 1e-50), m.key


def test_what_a_record_says_about_its_score_is_true() -> None:
    """Of all matrices of 6 cases: what it is computed from, when it is defined and when it is 0, weights and curve."""

    def count(names: tuple[str, ...]) -> int:
        return sum(cell_of[name] for name in names)

    for m in ONE_GROUP_METRICS:
        by_denominator = True
        for cells in matrices(6):
            cell_of, score = dict(zip(CELLS, cells, strict=True)), ONE_GROUP[m.key](*cells)
            assert m.support(cells).tolist() == [count(part.cells) for part in m.denominators]
            by_denominator &= (score is None) == (count(m.denominator.cells if m.denominator else CELLS) == 0)
            if score is None:
                continue
            if m.zero_if_empty is not None:
                assert (score == 0) == (0 in [count(part.cells) for part in m.zero_if_empty]), (m.key, cells)
            if m.linear is not None:
                assert float(score) == approx(np.dot(m.linear, cells) / 6)
            if m.quotient is not None:
                assert float(score) == approx(np.dot(m.quotient[0], cells) / np.dot(m.quotient[1], cells))
            if m.curve is not None:
                rate = count(m.tree.last) / count(m.tree.last_of)
                assert float(score) == approx(m.curve.score(rate)) and m.curve.rate(float(score)) == approx(rate)
        assert m.defined_by_denominator == by_denominator, m.key
        rows = OTHER_DENOMINATORS.get(m.key, [POSITIVES.formula, NEGATIVES.formula])
        if m.shape == "pair":
            assert [part.formula for part in m.denominators] == rows, m.key
        assert (m.zero_if_empty is None) == (m.low < 0) and m.is_unbounded == math.isinf(m.high)


def test_a_reason_names_what_is_missing() -> None:
    no_positives, no_cases = "no actual positives (TP + FN = 0)", "no cases (n = 0)"
    for key, cells, reason in (
        ("tpr", (0, 0, 2, 6), no_positives), ("fpr", (3, 2, 0, 0), "no actual negatives (FP + TN = 0)"),
        ("mcc", (0, 0, 0, 4), f"{no_positives} and no predicted positives (TP + FP = 0)"),
        ("mcc_limit", (0, 0, 0, 4), "no cases other than true negatives (TP + FN + FP = 0)"),
        ("f1_original", (0, 1, 2, 3), "no true positives (TP = 0)"), ("tpr", (0, 0, 0, 0), no_cases),
        ("pt", (1, 2, 3, 6), "TPR equals FPR (TP * TN = FP * FN)"), ("acc", (0, 0, 0, 0), no_cases),
    ):  # fmt: skip
        assert metric(key).why_undefined(ConfusionMatrix.from_array(cells)) == reason


def test_many_matrices_or_labels_are_scored_at_once() -> None:
    tpr, y_true, y_pred = metric("tpr"), [1, 0, 1, 1], [1, 1, 0, 0]
    assert tpr([ConfusionMatrix(tp=1, fn=fn, fp=0, tn=0) for fn in (1, 3)]).tolist() == [0.5, 0.25]
    assert tpr(np.ones((2, 3, 4))).shape == (2, 3) and isinstance(tpr([1, 1, 0, 0]), float)
    assert tpr(y_true, y_pred) == tpr(np.array(y_true), np.array(y_pred)) == approx(1 / 3)
    assert tpr(["a", "a", "b"], ["a", "b", "b"], positive="a") == metric("acc")(["no", "yes"], ["no", "no"]) == 0.5


def test_what_cannot_be_scored_is_explained() -> None:
    cm, tpr, te = ConfusionMatrix(tp=1, fn=2, fp=3, tn=4), metric("tpr"), metric("te")
    for error, message in (
        (refusal(tpr), "tpr takes one group; got 0"),
        (refusal(tpr, cm, cm), "tpr takes one group; got 2"),
        (refusal(tpr.why_undefined, cm, cm), "tpr takes one group; got 2"),
        (refusal(te, cm), "te takes two groups, the group and the reference; got 1"),
        (refusal(tpr, [[1, 2, 3, -4]]), "tn must not be negative; got -4"),
        (refusal(tpr, cm, positive=1), "tpr takes a positive label only together with labels and predictions"),
        (refusal(tpr.why_undefined, np.ones((2, 4))),
         "why_undefined takes one matrix at a time; got cells of shape (2, 4)"),
        (refusal(tpr.sizes, (5, 5)), "n of tpr must be one number; got (5, 5)"),
        (refusal(te.sizes, 5), "n of te must be a pair (n1, n2), one per group; got 5"),
        (refusal(te.sizes, (5, -1)), "n must not be negative; got -1"),
    ):  # fmt: skip
        assert error == f"InvalidInput: {message}"
    assert (tpr.sizes(5), te.sizes([5, 6])) == ((5,), (5, 6))


def test_a_record_can_be_printed_and_sent_to_another_process() -> None:
    for m in (*CATALOGUE, eh.f_beta(3), eh.difference("npv")):
        assert pickle.loads(pickle.dumps(m)) is m
    assert repr(metric("tpr")) == "<tpr: True positive rate = TP / (TP + FN)>" and metric("tpr").__name__ == "tpr"
    assert [metric(key).range for key in ("tpr", "mcc", "dor")] == [(0, 1), (-1, 1), (0, math.inf)]
    assert {m.key for m in CATALOGUE if m.is_base_rate} == {"prev", "nprev"} and metric("prev_ratio").is_base_rate


def test_a_metric_of_ones_own_behaves_as_those_of_the_catalogue_do() -> None:
    facts: dict[str, Any] = {"key": "own", "name": "Own", "description": "The same once more", "better": "higher"}
    own = two_rates_metric(
        **facts, formula="TP", needs=(POSITIVES, Part(("tp", "fp"), "predicted positives")), zero_if_empty=(TP,),
        rank=lambda tp, fn, fp, tn: (tp * tp, (tp + fn) * (tp + fp)),
        score=lambda tp, fn, fp, tn: tp / np.sqrt(tp + fn) / np.sqrt(tp + fp))  # fmt: skip
    group, reference = ConfusionMatrix(tp=3, fn=2, fp=1, tn=2), ConfusionMatrix(tp=6, fn=5, fp=4, tn=9)

    def results(m: Any) -> list[float]:
        tests = [eh.disparity(group, reference, m).high, eh.match_test(group, reference, eh.difference(m)).pvalue]
        return [*m(list(matrices(6))), *tests, eh.interval(group, m).low, eh.distribution(m, 6, reference).cdf(0.4)]

    assert results(own) == approx(results(metric("fowlkes_mallows")), rel=1e-12, abs=1e-15, nan_ok=True)
    for cells in matrices(3):
        assert own.why_undefined(cells) == metric("fowlkes_mallows").why_undefined(cells)
    message = "'own' is not a metric of the catalogue"
    error = refusal(eh.audit_counts, {"A": group, "B": reference}, metrics=[own])
    assert error == f"InvalidInput: {message}; CONTRIBUTING.md says how to add it"


def test_a_new_rate_gets_its_words_from_its_cells() -> None:
    facts: dict[str, Any] = {"key": "spec_err", "name": "Specificity error", "better": "lower"}
    part = Part(("fp",), "false positives")
    m = ratio_metric(**facts, description="How many are missed", part=part, whole=NEGATIVES)
    assert (m.formula, m.counted, m.error) == ("FP / (FP + TN)", "predicted positive", ("positive", "higher"))
    share = ratio_metric(**facts, description="How many are found", part=TP)
    assert (share.formula, share.counted, share.given_prediction, share.error) == ("(TP) / n", None, None, None)
    predicted, most = Part(("tp", "fp"), "predicted positives"), Part(("tp", "fp", "tn"), "most")
    wide = ratio_metric(**facts, description="Of three cells", part=predicted, whole=most)
    assert (wide.counted, wide.error, wide.given_prediction) == ("predicted positive", None, None)
    assert wide.undefined_if == "no most (TP + FP + TN = 0)"
    assert contrast_metric(**facts, description="More", plus="tp", minus="tn", low=-1.0)([4, 0, 0, 1]) == 0.6
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'description'"):
        ratio_metric(**facts, part=part)
