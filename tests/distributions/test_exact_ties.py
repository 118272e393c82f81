"""Groups ordered by their scores: as exact fractions and 60 digits order them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
from hypothesis import example, given, strategies as st
from oracle import ONE_GROUP, Cells, matrices, rank_scores
from pytest import approx

from evenhand import metric
from evenhand.distributions import Threshold, observed_threshold
from evenhand.distributions.exact_ties import equal_rates_count, score_excess
from evenhand.metrics import ONE_GROUP_METRICS


def columns(listed: Any) -> list[Any]:
    return list(np.array(listed, dtype=np.float64).T)


def compare(key: str, cells: Any, others: Any) -> list[int]:
    """Whether the scores of other matrices are lower (-1) than that of the first, equal (0) or higher (1)."""
    threshold = observed_threshold(metric(key).base, np.array(cells, dtype=np.float64))
    return [int(sign) for sign in np.sign(score_excess(metric(key).base, columns(others), threshold))]


def test_every_metric_is_monotone_in_the_last_count_of_its_tree() -> None:
    """Given the counts before the last, scores never fall as the last count moves in the metric's direction."""
    for m in ONE_GROUP_METRICS:
        for margin in range(8) if m.tree.margin else [0]:
            for side in range(margin + 1) if m.tree.side else [0]:
                last = np.arange(m.tree.last_size(7, margin) + 1)
                cells = m.tree.cells(7.0, margin, side, last)[:: 1 if m.rises else -1]
                scores = [ONE_GROUP[m.key](*map(int, each)) for each in cells]
                defined = [score for score in scores if score is not None]
                assert defined == sorted(defined), (m.key, margin, side)


def test_matrices_are_ordered_as_their_exact_scores_are() -> None:
    """Every third matrix of 5 and 6 cases, and multiples of some, which have the same scores."""
    listed = [*matrices(5), *matrices(6)][::3]
    multiples = [tuple(3 * cell for cell in cells) for cells in listed[::4]]
    for key, score in ONE_GROUP.items():
        defined = [cells for cells in listed + multiples if score(*cells) is not None]
        _, ranks = rank_scores([score(*cells) for cells in defined])
        for i in range(0, len(defined), 7):
            assert compare(key, defined[i], defined) == np.sign(np.subtract(ranks, ranks[i])).tolist(), key


@given(
    key=st.sampled_from(sorted(ONE_GROUP)),
    cells=st.tuples(*[st.integers(1, 10**6)] * 4),
    steps=st.tuples(*[st.integers(-1, 1)] * 4),
    times=st.integers(2, 9),
)
# 1000001/2000003 and 1000002/2000005 differ by 2.5e-13.
@example(key="tpr", cells=(1000001, 1000002, 1, 1), steps=(1, 1, 0, 0), times=2)
@example(key="mcc", cells=(999999, 999998, 10**6, 10**6 - 1), steps=(-1, 1, 0, 0), times=7)
def test_ties_are_exact_among_millions_of_cases(key: str, cells: Cells, steps: Cells, times: int) -> None:
    """A multiple of a matrix has its score; one case more or less may change it by less than rounding does."""
    near = tuple(cell + step for cell, step in zip(cells, steps, strict=True))
    first, second = ONE_GROUP[key](*cells), ONE_GROUP[key](*near)
    if first is not None:
        assert compare(key, cells, [tuple(times * cell for cell in cells)]) == [0]
        if second is not None:
            gap = second - first
            assert compare(key, cells, [near]) == [0 if abs(gap) < 1e-40 else 1 if gap > 0 else -1]


def test_a_number_is_equal_to_scores_that_round_to_it() -> None:
    """0.1 + 0.2 is 3/10, and 0.29 is 29/100; a number that is off by 1e-13 is not."""
    for k, n, x, sign in (
        *((3, 10, 0.1 + 0.2, 0), (29, 100, 0.29, 0), (29, 100, 0.29 + 1e-13, -1), (29, 100, 0.29 - 1e-13, 1)),
        *((10, 10, inf, -1), (0, 10, -inf, 1)),
    ):
        assert np.sign(score_excess(metric("acc").base, columns([(k, n - k, 0, 0)]), Threshold(x))) == sign
    assert observed_threshold(metric("tpr").base, np.array([3.0, 1, 0, 6])) == Threshold(0.75, (3, 4))
    assert np.isnan(observed_threshold(metric("tpr").base, np.array([0.0, 0, 4, 6])).value)


def test_equal_rates_are_found_at_whole_counts_strictly_between_0_and_1() -> None:
    """Of n cases with P positives, FP / (n - P) = TP / P at FP = TP (n - P) / P, if that is whole."""
    for n, positives in product((6, 12), range(1, 12)):
        tp = np.arange(positives + 1.0)
        found = equal_rates_count(float(n), np.full(positives + 1, float(positives)), tp)
        expected = [Fraction(k * (n - positives), positives) for k in range(positives + 1)]
        whole = [float(fp) if fp.denominator == 1 and 0 < k < positives else nan for k, fp in enumerate(expected)]
        assert found == approx(whole, nan_ok=True), (n, positives)


def test_a_number_that_is_no_score_equals_scores_within_rounding_only() -> None:
    cells = columns([[1, 1, 0, 0]])
    for distance, sign in ((0.4e-14, 0), (1.5e-14, -1), (-1.5e-14, 1)):
        excess = score_excess(metric("acc").base, cells, Threshold(0.5 + distance))
        assert np.sign(excess).tolist() == [sign], distance
