"""Posterior intervals of the gap between two scores, against draws."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from oracle import posterior_draws
from pytest import approx

from evenhand import ConfusionMatrix, disparity, metric
from evenhand.inference import gap_intervals, gaps_of
from evenhand.metrics import CATALOGUE

# The cases, small and lopsided ones, and some with 0, 1 and 100,000 at random.
_random = np.random.default_rng(3).choice([0, 0, 1, 2, 5, 20, 300, 1000, 100_000], (4, 2, 4)).tolist()
GAPS: list[Any] = [
    ((1000, 1, 20, 1000), (1000, 2, 0, 0)),
    ((1000, 0, 100, 2), (5, 1000, 0, 1)),
    ((3, 2, 1, 9), (116, 177, 554, 2429)),
    ((0, 2, 8, 30), (300, 100, 120, 480)),
    ((0, 0, 0, 0), (1, 1, 1, 1)),
    ((20, 20, 5, 100_000), (100_000, 0, 20, 20)),
    *((tuple(g), tuple(h)) for g, h in _random),
]
DRAWS = 400_000


@pytest.mark.parametrize(
    ("m", "kind"),
    [(m, kind) for m in CATALOGUE.one_group for kind in ("difference", "ratio") if kind == "difference" or m.low == 0],
    ids=lambda x: getattr(x, "key", x),
)
def test_the_interval_of_a_gap_leaves_out_as_much_on_either_side(m: Any, kind: Any) -> None:
    """P(gap <= low) = P(gap > high) = 0.025, or 0.1, within 0.006 of 400,000 draws of either score."""
    groups, references = (np.array([pair[i] for pair in GAPS], dtype=np.float64) for i in (0, 1))
    gaps = gaps_of(m, groups, references, kind)
    ends = {level: gaps.interval(level) for level in (0.8, 0.95)}
    for i, (g, h) in enumerate(GAPS):
        mine, theirs = posterior_draws(m.key, g, 1, DRAWS), posterior_draws(m.key, h, 2, DRAWS)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = mine - theirs if kind == "difference" else mine / theirs
        for level, (low, high) in ends.items():
            beyond = np.mean(drawn <= low[i]), np.mean(drawn > high[i])
            assert beyond == approx((0.5 - level / 2,) * 2, abs=0.006), (g, h, level)


def test_a_gap_lies_in_its_own_interval() -> None:
    gaps = gaps_of(
        cast("Any", metric("mcc")), np.array([[100_000.0, 3, 3, 0]]), np.array([[10.0, 5, 5, 10]]), "difference"
    )
    low, high = gap_intervals(gaps, np.array([-0.33336]), 0.05)
    assert low[0] <= -0.33336 <= high[0]
    plain = gaps.interval(0.05)
    assert not plain[0][0] <= -0.33336 <= plain[1][0]
    undefined = gap_intervals(gaps, np.array([np.nan]), 0.05)
    assert (float(undefined[0][0]), float(undefined[1][0])) == approx((float(plain[0][0]), float(plain[1][0])))


def test_small_gaps_keep_their_digits() -> None:
    d = disparity(
        ConfusionMatrix(150_001, 99_999, 200_000, 550_000), ConfusionMatrix(1_500_000, 1_000_000, 2, 5), "tpr"
    )
    assert str(d).startswith("TPR is 4e-06 higher (95 % interval -0.002")
