"""What every metric does, whatever its shape."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP, matrices
from pytest import approx

from evenhand import (
    ConfusionMatrix,
    difference,
    f_beta,
    metric,
)
from evenhand.metrics import CATALOGUE, OneGroup, Pair

one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
cells = st.tuples(*[st.integers(0, 10**12)] * 4).filter(any)
small = [(n, list(matrices(n))) for n in (0, 1, 2, 5, 8)]


def score(key: str, c: tuple[int, ...]) -> float:
    return float(metric(key)(ConfusionMatrix(*c)))


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == approx(b, rel=1e-12, abs=1e-12)


def swapped_sides(c: tuple[int, ...]) -> tuple[int, ...]:
    tp, fn, fp, tn = c
    return tp, fp, fn, tn


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


@pytest.mark.parametrize("m", [*CATALOGUE, f_beta(3), difference("npv")], ids=lambda m: m.key)
def test_a_record_survives_a_trip_to_another_process(m: Any) -> None:
    assert pickle.loads(pickle.dumps(m)) == m


def test_a_record_shows_its_formula() -> None:
    assert repr(metric("tpr")) == "<tpr: True positive rate = TP / (TP + FN)>"
    assert metric("mcc").range == (-1, 1)


def test_a_list_of_matrices_is_scored_at_once() -> None:
    tpr = metric("tpr")
    assert tpr([ConfusionMatrix(1, 1, 0, 0), ConfusionMatrix(3, 1, 0, 0)]).tolist() == [0.5, 0.75]
    assert tpr(np.ones((2, 3, 4))).shape == (2, 3)


@pytest.mark.parametrize("key", ["mcc", "pt", "pt_limit"])
def test_the_last_count_in_closed_form_is_that_of_the_matrix(key: str) -> None:
    """From the score, n, the actual positives and TP follows FP, where the score depends on FP."""
    found = 0
    for tp, fn, fp, tn in matrices(11):
        score = ONE_GROUP[key](tp, fn, fp, tn)
        if score is None or tp == 0 or (key == "mcc" and fn == 0):
            continue
        last = metric(key).base.crossing(float(score), 11.0, np.array([float(tp + fn)]), np.array([float(tp)]))
        assert last[0] == approx(fp, abs=1e-9)
        found += 1
    assert found > 100
