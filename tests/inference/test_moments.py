"""Errors of scores by sums over two margins, for many sizes at once: against listing every matrix."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import ONE_GROUP, matrices, multinomial
from pytest import approx

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, Raw
from evenhand.metrics import CATALOGUE

PAIRS = [m for m in CATALOGUE.one_group if m.shape == "pair"]
pairs = pytest.mark.parametrize("m", PAIRS, ids=lambda m: m.key)


def with_the_same_margins(tp: int) -> tuple[int, int, int, int]:
    """Matrices of 20 cases with 9 actual and 12 predicted positives."""
    return tp, 9 - tp, 12 - tp, tp - 1


@pairs
def test_a_score_is_linear_in_tp_given_all_margins_exactly_if_it_says_so(m: Any) -> None:
    """S(tp + 1) - S(tp) is the same for every tp."""
    scores = [float(ONE_GROUP[m.key](*with_the_same_margins(tp))) for tp in range(2, 8)]
    assert m.linear_in_tp == bool(np.ptp(np.diff(scores)) < 1e-12)


@pytest.mark.parametrize("m", [m for m in PAIRS if m.linear_in_tp], ids=lambda m: m.key)
def test_whether_a_score_that_is_linear_in_tp_is_defined_depends_on_the_margins_only(m: Any) -> None:
    defined: dict[tuple[int, int], set[bool]] = {}
    for tp, fn, fp, tn in matrices(6):
        defined.setdefault((tp + fn, tp + fp), set()).add(ONE_GROUP[m.key](tp, fn, fp, tn) is not None)
    assert all(len(either) == 1 for either in defined.values())


PRIOR = (1, 2, 3, 2)
TINY = Fraction(1, 10**10)
HOWS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "raw": (Raw(), (0, 0, 0, 0)),
    "tiny": (Additive(1e-10), (TINY,) * 4),
    "add1": (Additive(1), (1, 1, 1, 1)),
    "cps": (CrossPrior(ConfusionMatrix(*PRIOR), 3), tuple(Fraction(3 * x, 8) for x in PRIOR)),
    "an empty cell": (CrossPrior(ConfusionMatrix(3, 0, 1, 4), 4), (Fraction(3, 2), 0, Fraction(1, 2), 2)),
}


@pytest.mark.many
@pairs
@pytest.mark.parametrize("how", HOWS)
def test_the_errors_of_many_sizes_are_what_listing_every_matrix_gives(m: Any, how: str) -> None:
    """E[(S - s)^2; defined] / P(defined), for unsorted sizes and one of them twice."""
    w, (estimator, added), sizes = [3, 1, 2, 5], HOWS[how], [10, 3, 10]
    true = float(ONE_GROUP[m.key](*w))
    curve = eh.risk(m, ConfusionMatrix(*w), sizes, estimator)
    assert [r.n for r in curve] == sizes
    for r in curve:
        sums = np.zeros(3)
        for c in matrices(r.n):
            value = ONE_GROUP[m.key](*(k + a for k, a in zip(c, added, strict=True)))
            if value is not None:
                error = float(value) - true
                sums += float(multinomial(c, w)) * np.array([1, error, error**2])
        assert 1 - r.p_undefined == approx(sums[0], rel=1e-12)
        assert (r.bias, r.mse) == approx((sums[1] / sums[0], sums[2] / sums[0]), rel=1e-10, abs=1e-13)


def test_two_ways_to_sum_agree_for_larger_sizes() -> None:
    """Sums over two margins, and sums over all matrices (which also give absolute errors)."""
    truth, how = [0.12, 0.08, 0.2, 0.6], CrossPrior(ConfusionMatrix(30, 20, 40, 110), 10)
    for n in (40, 149):
        for key in ("mcc", "kappa", "f2"):
            (by_margins,) = eh.risk(key, truth, [n], how)
            by_matrices = eh.risk(key, truth, n, how)
            assert (by_margins.bias, by_margins.mse) == approx((by_matrices.bias, by_matrices.mse), rel=1e-10)


def test_an_error_that_would_take_too_long_is_refused_with_a_way_out() -> None:
    sentence = r"the exact error of pt at n = 100,000 is a sum over up to [\d,]+ matrices, more than the limit of "
    with pytest.raises(eh.errors.TooLarge, match=rf"^{sentence}1,073,741,824; use method='montecarlo'$"):
        eh.risk("pt", [0.3, 0.1, 0.2, 0.4], 100_000)
