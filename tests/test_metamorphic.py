"""What must not change, or must change in a known way, if counts are doubled, mirrored, swapped or driven to extremes.

Each test makes the same computation twice, on counts that mean the same or are mirrored, and states the theorem that
relates the two results. Only the order of floating-point sums may differ. Audits of the same data told differently are
in auditing/test_run.py.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import isfinite, isnan
from typing import Any

import numpy as np
import pytest
from audit_oracle import same
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from matrices import matrix
from oracle import CLASSES_SWAPPED, SIDES_SWAPPED, both_ways
from pytest import approx

import evenhand as eh

FEW = settings(max_examples=12, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]
counts = st.tuples(*[st.integers(0, 12)] * 4)
some_counts = counts.filter(any)
of_counts = eh.ConfusionMatrix.from_array


def doubled(cells: Any) -> eh.ConfusionMatrix:
    return of_counts([2 * cell for cell in cells])


@given(a=some_counts, metric=st.sampled_from(ONE_GROUP))
@settings(FEW, max_examples=60)
def test_doubling_all_counts_changes_no_score(a: Any, metric: str) -> None:
    """Every score is a function of the shares of the cells, and so are whether it exists and what smoothing gives."""
    m, one, two = eh.metric(metric), of_counts(a), doubled(a)
    assert same(float(m(one)), float(m(two)))
    assert (m.why_undefined(one) is None) == (m.why_undefined(two) is None)
    once, twice = (eh.cross_prior_smooth(cm, matrix(30, 10, 12, 48), 7 * cm.n / sum(a)) for cm in (one, two))
    assert [2 * cell for cell in once.cells] == approx(list(twice.cells))


@given(n=st.integers(0, 40), p=some_counts, metric=st.sampled_from(["tpr", "fpr", "ppv", "npv", "tnr", "fdr"]))
@settings(FEW, max_examples=40)
def test_twice_as_many_cases_square_the_chance_that_a_rate_has_no_denominator(n: int, p: Any, metric: str) -> None:
    """P(undefined, 2n) = P(undefined, n)**2, since the cases are independent."""
    rates = [cell / sum(p) for cell in p]
    once = eh.undefined_probability(metric, n, rates)
    assert eh.undefined_probability(metric, 2 * n, rates) == approx(once**2, rel=1e-9, abs=1e-300)


@given(n=st.integers(0, 9), p=some_counts, x=st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 0.7, 1.0]))
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


# Mirrors

MIRRORS = [
    *((key, other, (3, 2, 1, 0)) for key, other in both_ways(CLASSES_SWAPPED)),
    *((key, other, (0, 2, 1, 3)) for key, other in both_ways(SIDES_SWAPPED)),
]


@pytest.mark.parametrize(("key", "mirrored", "order"), MIRRORS)
def test_a_mirrored_metric_of_mirrored_cells_is_the_metric(key: str, mirrored: str, order: tuple[int, ...]) -> None:
    """Swapping classes turns TPR into TNR, swapping labels and predictions turns it into PPV; tests follow."""
    a, b = (3, 2, 1, 6), (20, 10, 15, 40)
    one, ref = of_counts(a), of_counts(b)
    other, back = (of_counts([given[i] for i in order]) for given in (a, b))
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


@given(a=some_counts, b=some_counts, metric=st.sampled_from(["tpr", "ppv", "acc", "f1", "mcc", "ppr", "kappa", "mb"]))
@settings(FEW, max_examples=24)
def test_swapping_group_and_reference_mirrors_the_gap(a: Any, b: Any, metric: str) -> None:
    """The difference changes its sign, its interval its ends, and the test of equality is the same.

    Of a rate, P(group's score <= observed) = P(reference's score >= observed), as one count decides both.
    """
    one, other, m = of_counts(a), of_counts(b), eh.metric(metric)
    there, back = eh.disparity(one, other, metric), eh.disparity(other, one, metric)
    assert there.estimate == approx(-back.estimate, nan_ok=True)
    assert (there.low, there.high) == approx((-back.high, -back.low), rel=1e-5, abs=1e-6, nan_ok=True)
    assert there.pvalue == approx(back.pvalue, rel=1e-7, abs=1e-12, nan_ok=True)
    assume(metric in ("tpr", "ppv", "acc", "ppr") and m.why_undefined(one) is None and m.why_undefined(other) is None)
    less = eh.match_test(one, other, m, alternative="less")
    greater = eh.match_test(other, one, m, alternative="greater")
    assert less.pvalue == approx(greater.pvalue, rel=1e-9)


# Extremes: counts of 0, 1 and 10**12, probabilities below every normal float, strengths at both ends of their range

HUGE = 10**12
SHARES = [
    [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1e-75, 0.0, 0.0, 1.0], [0.5, 1e-75, 1e-70, 0.5],
    [1e-17, 1e-75, 1e-75, 1.0],
]  # fmt: skip
COUNTS = [(0, 0, 0, HUGE), (1, 0, 0, HUGE), (HUGE, 1, 0, 0), (HUGE, HUGE, 1, HUGE), (0, HUGE, HUGE, 1), (0, 0, 0, 1)]


@pytest.mark.many(8)
@pytest.mark.parametrize("key", ONE_GROUP)
def test_extreme_counts_and_shares_have_distributions_and_intervals(key: str) -> None:
    """0 <= F <= 1 rises, F + (1 - F) = 1 given that the score is defined, and quantiles rise within the range.

    P(undefined) falls as n grows if only parts must not be empty; an interval holds the score and lies in the range.
    """
    m = eh.metric(key)
    low, high = m.range
    at = [-1.0, -0.5, 0.0, 5e-324, 0.25, 0.5, 1 - 2**-53, 1.0, 2.0]
    for shares in SHARES:
        chances = [eh.undefined_probability(key, n, shares) for n in (0, 1, 2, 30)]
        assert all(0 <= chance <= 1 for chance in chances)
        if m.shape in ("share", "ratio"):
            assert all(more <= less + 1e-15 for less, more in pairwise(chances))
        d = eh.distribution(key, 3, shares)
        if d.p_undefined < 1:
            below, above, exactly = (np.asarray(f(at), dtype=float) for f in (d.cdf, d.sf, d.pmf))
            assert (np.diff(below) >= -1e-15).all() and below + above == approx(1.0, abs=1e-12)
            assert ((below >= 0) & (below <= 1 + 1e-12) & (exactly >= 0) & np.isfinite(above)).all()
            quantiles = np.asarray(d.quantile([0, 1e-300, 0.5, 1]), dtype=float)
            assert (np.diff(quantiles) >= 0).all() and (quantiles >= low).all() and (quantiles <= high).all()
    for cells, (level, prior) in product(COUNTS[1:4], [(0.95, 0.5), (1 - 1e-12, 1e-3)]):
        found = eh.interval(of_counts(cells), key, level, prior=prior)
        assert low <= found.low <= found.high <= high, cells
        if not isnan(found.estimate):
            slack = 1e-9 * max(1.0, abs(found.estimate) if isfinite(found.estimate) else 1.0)
            assert found.low - slack <= found.estimate <= found.high + slack, cells


def test_smoothing_extreme_counts_keeps_their_total() -> None:
    """Cells are never negative, and add up to the number of cases."""
    strengths: list[Any] = [0, 1e-9, 1.0, 1e9, {"prev": 0, "tpr": 1e-9, "fpr": 1e9}]
    for group, reference, strength in product(COUNTS, COUNTS, strengths):
        smoothed = eh.cross_prior_smooth(of_counts(group), of_counts(reference), strength)
        assert all(cell >= 0 and isfinite(cell) for cell in smoothed.cells)
        assert smoothed.n == approx(sum(group), rel=1e-12)


@pytest.mark.parametrize("key", ["tpr", "ppv", "acc", "f1", "ppr"])
def test_one_sided_p_values_of_extreme_counts_cover_everything(key: str) -> None:
    """P(S <= s) + P(S >= s) >= 1, and each is a probability."""
    for group, reference in product([(1, 2, 0, 3), (0, 1, 1, 0), (3, 0, 0, 0)], COUNTS):
        sides = [eh.match_test(of_counts(group), of_counts(reference), key, alternative=a) for a in ("less", "greater")]
        if sides[0].reason is None and not isnan(sides[0].pvalue):
            assert all(0 <= side.pvalue <= 1 for side in sides)
            assert sides[0].pvalue + sides[1].pvalue >= 1 - 1e-9
