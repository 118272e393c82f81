"""P-values from tails and from random scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pytest import approx

from evenhand.inference.tail_pvalues import drawn_tail, tail_pvalue

shares = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any).map(lambda w: [x / sum(w) for x in w])


@given(shares, st.booleans())
def test_a_tail_counts_the_observed_score_once_or_half(tails: list[float], mid_p: bool) -> None:
    below, at, above = tails
    low, high = (side + at * (0.5 if mid_p else 1) for side in (below, above))
    assert tail_pvalue(below, at, above, "less", mid_p) == approx(min(1, low))
    assert tail_pvalue(below, at, above, "greater", mid_p) == approx(min(1, high))
    assert tail_pvalue(below, at, above, "two-sided", mid_p) == approx(min(1, 2 * low, 2 * high))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40), st.integers(-3, 3), st.booleans())
def test_random_scores_are_counted_with_the_observed_one_among_them(drawn: list[int], at: int, mid_p: bool) -> None:
    """p = (1 + r) / (1 + B), ties counting half with mid-p; rounding breaks no tie."""
    rng = np.random.default_rng(0)
    scores = np.array(drawn) * (1 + 1e-13 * rng.standard_normal(len(drawn))) / 7
    ties, n = drawn.count(at), len(drawn)
    low, high = sum(x <= at for x in drawn), sum(x >= at for x in drawn)
    for alternative, extreme in (("less", low), ("greater", high), ("two-sided", min(low, high))):
        chosen: Any = alternative
        percentile, p, error = drawn_tail(scores, at / 7, chosen, mid_p)
        factor = 2 if alternative == "two-sided" else 1
        tail = (1 + extreme - (ties / 2 if mid_p else 0)) / (1 + n)
        assert percentile == approx(low / n)
        assert p == approx(min(1, factor * tail))
        # The variance of a mean of 0, 1/2 and 1 is a quarter of the ties less than that of one of 0 and 1.
        variance = max(tail * (1 - tail) - (ties / n / 4 if mid_p else 0), 0) / n
        assert error == approx(factor * variance**0.5, abs=1e-12)


@pytest.mark.parametrize("observed", [0.0, 1e-17, -1e-17])
def test_a_score_of_nothing_but_rounding_is_tied_with_0(observed: float) -> None:
    """MCC is a difference: 0 and 1e-17 are the same score."""
    percentile, p, _ = drawn_tail(np.array([0.0, 1e-17, -1e-17, 0.5]), observed, "greater")
    assert (percentile, p) == (0.75, 1.0)
