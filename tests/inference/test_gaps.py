"""Intervals of the gap between two scores: against draws, and against Fisher's test."""

from __future__ import annotations

from math import inf
from typing import Any, cast

import numpy as np
import pytest
from oracle import drawn_scores
from pytest import approx

from evenhand import ConfusionMatrix, disparity, metric
from evenhand.inference import equal_scores, fisher, gap_intervals, gaps_of, melded_gaps
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


@pytest.mark.many
@pytest.mark.parametrize(
    ("m", "kind"),
    [(m, kind) for m in CATALOGUE.one_group for kind in ("difference", "ratio") if kind == "difference" or m.low == 0],
    ids=lambda x: getattr(x, "key", x),
)
def test_the_interval_of_a_gap_leaves_out_as_much_on_either_side(m: Any, kind: Any) -> None:
    """P(gap <= low) = P(gap > high) = 0.025, or 0.1, within 0.006 of 400,000 draws of either score."""
    groups, references = (np.array([pair[i] for pair in GAPS], dtype=np.float64) for i in (0, 1))
    gaps = gaps_of(m, groups, references, kind, prior=0.5)
    ends = {level: gaps.interval(level) for level in (0.8, 0.95)}
    for i, (g, h) in enumerate(GAPS):
        mine, theirs = drawn_scores(m.key, g, 1, DRAWS), drawn_scores(m.key, h, 2, DRAWS)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = mine - theirs if kind == "difference" else mine / theirs
        for level, (low, high) in ends.items():
            beyond = np.mean(drawn <= low[i]), np.mean(drawn > high[i])
            assert beyond == approx((0.5 - level / 2,) * 2, abs=0.006), (g, h, level)


def test_a_gap_lies_in_its_own_interval() -> None:
    gaps = gaps_of(
        cast("Any", metric("mcc")),
        np.array([[100_000.0, 3, 3, 0]]),
        np.array([[10.0, 5, 5, 10]]),
        "difference",
        prior=0.5,
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


def pairs_of_rates() -> Any:
    """Counts of many sizes, at all edges: none, all, one case, a reference smaller than the group."""
    rng = np.random.default_rng(2)
    found = []
    for of_a, of_b in ((1, 1), (2, 400), (5, 50), (10, 50), (24, 500), (40, 400), (100, 7), (2_000, 5_000)):
        for rate in (0.0, 0.03, 0.5, 0.97, 1.0):
            other = rng.choice([rate, rng.random()])
            found.append((rng.binomial(of_a, rate), of_a, rng.binomial(of_b, other), of_b))
    return np.array(found, dtype=np.float64).T


def test_melded_intervals_and_fishers_test_agree() -> None:
    """One-sided p-values are equal to 1e-7, so an interval contains no difference if and only if p exceeds its tail."""
    a, of_a, b, of_b = pairs_of_rates()
    nothing = np.zeros_like(a)
    groups = np.column_stack([a, of_a - a, nothing, nothing])
    references = np.column_stack([b, of_b - b, nothing, nothing])
    tails = fisher(a, of_a, b, of_b)
    tpr = cast("Any", metric("tpr"))
    for kind, none in (("difference", 0.0), ("ratio", 1.0)):
        gaps = melded_gaps(tpr, groups, references, cast("Any", kind))
        below, above = gaps.tails(none)
        assert below == approx(tails.upper, abs=1e-7)
        assert above == approx(tails.lower, abs=1e-7)
        for level in (0.95, 0.9999):
            low, high = gaps.interval(level)
            assert ((low <= none + 1e-9) == (tails.upper > (1 - level) / 2)).all()
            assert ((high >= none - 1e-9) == (tails.lower > (1 - level) / 2)).all()


@pytest.mark.parametrize("key", ["mcc", "kappa", "informedness", "mb", "lr_plus", "balanced_accuracy"])
def test_gaps_of_several_rates_are_those_of_mid_p_draws(key: str) -> None:
    """P(gap <= 0) and P(gap >= 0), with what is undefined, within 0.006 of 400,000 draws."""
    m = cast("Any", metric(key))
    pairs: list[Any] = [((3, 2, 1, 9), (116, 177, 554, 2429)), ((5, 0, 0, 5), (30, 10, 12, 48)),
                        ((0, 2, 8, 30), (300, 100, 120, 480)), ((1, 0, 0, 9), (9, 0, 0, 1))]  # fmt: skip
    groups, references = (np.array([pair[i] for pair in pairs], dtype=np.float64) for i in (0, 1))
    found = gaps_of(m, groups, references, "difference").tails(0.0)
    for i, (g, h) in enumerate(pairs):
        mine, theirs = (drawn_scores(key, c, seed, DRAWS, prior=None) for c, seed in ((g, 1), (h, 2)))
        lost = np.isnan(mine) | np.isnan(theirs)
        with np.errstate(invalid="ignore"):
            drawn = np.mean((mine <= theirs + 1e-9) | lost), np.mean((mine >= theirs - 1e-9) | lost)
        assert (found[0][i], found[1][i]) == approx(drawn, abs=0.006), (g, h)


@pytest.mark.parametrize("key", ["mcc", "kappa", "informedness", "mb", "lr_plus", "dor", "pt", "g_mean"])
def test_the_test_of_several_rates_is_that_of_its_interval(key: str) -> None:
    """p is at most 0.05 if and only if the mid-p interval of the gap excludes none."""
    m = cast("Any", metric(key))
    cells = np.random.default_rng(4).integers(0, 30, (2, 25, 4)).astype(np.float64)
    p = equal_scores(m, *cells).pvalue
    kind, none = ("ratio", 1.0) if m.unbounded else ("difference", 0.0)
    low, high = gaps_of(m, cells[0], cells[1], cast("Any", kind)).interval(0.95)
    for i in np.flatnonzero(~np.isnan(p) & (p < 1)):
        assert (p[i] <= 0.05) == (not low[i] < none < high[i]) or abs(p[i] - 0.05) < 1e-6, cells[:, i]


def test_a_ratio_that_may_be_infinite_or_0_has_no_such_end_as_a_number() -> None:
    """No successes in the reference of 20: 3 of 3 may be any number of times as many, and 0 of 3 none."""
    some, none, reference = (ConfusionMatrix(*cells) for cells in ((3, 0, 0, 5), (0, 3, 0, 5), (0, 20, 0, 5)))
    assert disparity(some, reference, "tpr", kind="ratio").high == inf
    found = disparity(none, reference, "tpr", kind="ratio")
    assert (found.low, found.high) == (0.0, inf)


def test_ends_far_out_are_exact() -> None:
    """30 of 30 against 4 of 5, the reference at 1 with certainty: P(ratio <= r) = r^30 / 7 at the level 0.99995."""
    low = disparity(ConfusionMatrix(30, 0, 0, 0), ConfusionMatrix(4, 1, 0, 0), "tpr", kind="ratio", level=0.99995).low
    assert low == pytest.approx((2.5e-5 * 7) ** (1 / 30), abs=5e-4)
