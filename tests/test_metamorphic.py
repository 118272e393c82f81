"""What must not change, or must change in a known way, if counts are doubled, mirrored or swapped.

Each test makes the same computation twice, on counts that mean the same or are mirrored, and states the theorem that
relates the two results. Only the order of floating-point sums may differ. Audits of the same data told differently are
in auditing/test_run.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_oracle import same
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from oracle import CLASSES_SWAPPED, SIDES_SWAPPED, both_ways
from pytest import approx

import evenhand as eh

FEW = settings(max_examples=12, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
cells = st.tuples(*[st.integers(0, 12)] * 4)
some_cells = cells.filter(any)


# Counts.


@given(a=some_cells, b=some_cells, metric=st.sampled_from([m.key for m in eh.list_metrics() if m.groups == 1]))
@settings(FEW, max_examples=60)
def test_doubling_all_counts_changes_no_score(a: Any, b: Any, metric: str) -> None:
    """Every score is a function of the shares of the cells, and so is whether it exists."""
    m = eh.metric(metric)
    one, two = eh.ConfusionMatrix.from_array(a), eh.ConfusionMatrix.from_array([2 * cell for cell in a])
    assert same(float(m(one)), float(m(two)))
    assert (m.why_undefined(one) is None) == (m.why_undefined(two) is None)
    other, twice = eh.ConfusionMatrix.from_array(b), eh.ConfusionMatrix.from_array([2 * cell for cell in b])
    assert same(float(m(other)), float(m(twice)))


@pytest.mark.parametrize("metric", ["tpr", "fpr", "ppv", "npv", "tnr", "fdr"])
@given(n=st.integers(0, 40), p=some_cells)
@settings(FEW, max_examples=8)
def test_twice_as_many_cases_square_the_chance_that_a_rate_has_no_denominator(metric: str, n: int, p: Any) -> None:
    """P(undefined, 2n) = P(undefined, n)**2, since the cases are independent."""
    rates = [cell / sum(p) for cell in p]
    once = eh.undefined_probability(metric, n, rates)
    assert eh.undefined_probability(metric, 2 * n, rates) == approx(once**2, rel=1e-9, abs=1e-300)


@given(a=some_cells)
@FEW
def test_smoothing_twice_as_strongly_with_twice_the_cases_is_the_same(a: Any) -> None:
    """The smoothed shares depend on strength / n only."""
    ref = eh.ConfusionMatrix(tp=30, fn=10, fp=12, tn=48)
    once = eh.cross_prior_smooth(eh.ConfusionMatrix.from_array(a), ref, 7)
    twice = eh.cross_prior_smooth(eh.ConfusionMatrix.from_array([2 * cell for cell in a]), ref, 14)
    assert [2 * cell for cell in once.cells] == approx(list(twice.cells))


# Mirrors.

MIRRORS = [
    *((key, other, (3, 2, 1, 0)) for key, other in both_ways(CLASSES_SWAPPED)),
    *((key, other, (0, 2, 1, 3)) for key, other in both_ways(SIDES_SWAPPED)),
]


@pytest.mark.parametrize(("key", "mirrored", "order"), MIRRORS)
def test_a_mirrored_metric_of_mirrored_cells_is_the_metric(key: str, mirrored: str, order: tuple[int, ...]) -> None:
    """Swapping classes turns TPR into TNR, swapping labels and predictions turns it into PPV; tests follow."""
    a, b = (3, 2, 1, 6), (20, 10, 15, 40)
    one, ref = eh.ConfusionMatrix.from_array(a), eh.ConfusionMatrix.from_array(b)
    other, back = (eh.ConfusionMatrix.from_array([given[i] for i in order]) for given in (a, b))
    assert same(float(eh.metric(key)(one)), float(eh.metric(mirrored)(other)))
    left, right = (eh.distribution(k, 7, r) for k, r in ((key, ref), (mirrored, back)))
    assert left.p_undefined == approx(right.p_undefined, rel=1e-9)
    at = [-0.5, 0.0, 0.25, 0.3, 0.5, 0.9]
    assert np.asarray(left.cdf(at)) == approx(np.asarray(right.cdf(at)), rel=1e-9, abs=1e-12)
    pairs = ((one, ref, key), (other, back, mirrored))
    # The pooled test of a pair of rates, its gap and its interval are given the labels: predictions do not mirror it.
    mirror = order == (3, 2, 1, 0) or eh.metric(key).shape != "pair"
    for fixed in ("margin", "n") if mirror else ("n",):
        null = "pooled" if mirror else "known"
        first, second = (eh.match_test(x, r, k, given=fixed, null=null) for x, r, k in pairs)  # type: ignore[arg-type]
        assert (first.pvalue, first.percentile) == approx((second.pvalue, second.percentile), rel=1e-9)
    if mirror:
        gap, wide = (eh.disparity(x, r, k) for x, r, k in pairs)
        # What is known of a score of several rates is approximate: ends to 1% of the width.
        share, rel = (0.01, 0.01) if eh.metric(key).shape == "pair" else (1e-6, 1e-4)
        for found, expected in ((gap, wide), (eh.interval(one, key), eh.interval(other, mirrored))):
            near = share * np.nan_to_num(expected.high - expected.low)
            assert (found.low, found.high) == approx((expected.low, expected.high), rel=1e-4, abs=near, nan_ok=True)
        assert gap.pvalue == approx(wide.pvalue, rel=rel, abs=1e-6, nan_ok=True)


@given(a=cells, b=cells, metric=st.sampled_from(["tpr", "ppv", "acc", "f1", "mcc", "ppr", "kappa", "mb"]))
@settings(FEW, max_examples=10)
def test_swapping_group_and_reference_mirrors_the_gap(a: Any, b: Any, metric: str) -> None:
    """The difference changes its sign, its interval its ends, and the test of equality is the same."""
    one, other = eh.ConfusionMatrix.from_array(a), eh.ConfusionMatrix.from_array(b)
    assume(one.n and other.n)
    there, back = eh.disparity(one, other, metric), eh.disparity(other, one, metric)
    assert there.estimate == approx(-back.estimate, nan_ok=True)
    assert (there.low, there.high) == approx((-back.high, -back.low), rel=1e-5, abs=1e-6, nan_ok=True)
    assert there.pvalue == approx(back.pvalue, rel=1e-7, abs=1e-12, nan_ok=True)


@given(a=cells, b=cells, metric=st.sampled_from(["tpr", "fpr", "ppv", "npv", "acc", "ppr"]))
@settings(FEW, max_examples=30)
def test_given_the_pooled_counts_a_group_is_as_low_as_the_other_is_high(a: Any, b: Any, metric: str) -> None:
    """P(group's score <= observed) = P(reference's score >= observed), as one count decides both."""
    one, other = eh.ConfusionMatrix.from_array(a), eh.ConfusionMatrix.from_array(b)
    m = eh.metric(metric)
    assume(one.n and other.n and m.why_undefined(one) is None and m.why_undefined(other) is None)
    less = eh.match_test(one, other, m, alternative="less")
    greater = eh.match_test(other, one, m, alternative="greater")
    assert less.pvalue == approx(greater.pvalue, rel=1e-9)
    sides = [eh.match_test(x, y, m).pvalue for x, y in ((one, other), (other, one))]
    assert sides[0] == approx(sides[1], rel=1e-9)


@given(n=st.integers(0, 9), p=some_cells, x=st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 0.7, 1.0]))
@settings(FEW, max_examples=30)
def test_a_rate_and_its_complement_are_one_distribution(n: int, p: Any, x: float) -> None:
    """P(FNR <= x) = P(TPR >= 1 - x), and both are undefined together."""
    rates = [cell / sum(p) for cell in p]
    for key, other in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for"), ("acc", "inacc")):
        one, rest = eh.distribution(key, n, rates), eh.distribution(other, n, rates)
        assert one.p_undefined == approx(rest.p_undefined, rel=1e-9)
        if one.p_undefined < 1:
            above = float(one.sf(1 - x)) + float(one.pmf(1 - x))
            assert float(rest.cdf(x)) == approx(above, rel=1e-9, abs=1e-12)
