"""Changes of items: against all sign flips, Clopper and Pearson's interval, and McNemar's power by a sum."""

from __future__ import annotations

from itertools import product
from math import comb, isnan
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from pytest import approx, mark
from scipy.stats import beta, binomtest, wilcoxon

from evenhand.inference import item_change_interval, sign_flip_test
from evenhand.planning import pairs_needed

RNG = np.random.default_rng(1)


def flipped(changes: list[float]) -> float:
    """The share of all ways to sign the changes whose sum is as far from 0."""
    sums = [
        abs(sum(s * c for s, c in zip(signs, changes, strict=True))) for signs in product((-1, 1), repeat=len(changes))
    ]
    return float(np.mean(np.array(sums) >= abs(sum(changes)) - 1e-9))


@given(
    st.lists(st.sampled_from([-3, -2, -1, 0, 1, 2, 3, 5]), min_size=1, max_size=9),
    st.sampled_from([1, 0.5, 0.1, 1 / 3]),
)
@settings(max_examples=60, deadline=None)
def test_the_test_is_that_of_all_sign_flips(changes: list[int], unit: float) -> None:
    p, error, method = sign_flip_test(np.array(changes) * unit, 99, RNG)
    assert p == approx(flipped([float(c) for c in changes]))
    assert isnan(error) and method == "sign flips"


def test_one_run_of_0_or_1_is_mcnemars_test() -> None:
    for wins, losses in ((0, 0), (1, 0), (5, 30), (7, 7), (19, 61), (400, 480)):
        changes = np.r_[np.ones(wins), -np.ones(losses), np.zeros(9)]
        expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert sign_flip_test(changes, 99, RNG)[0] == approx(expected, rel=1e-9)


def test_other_numbers_are_drawn_and_say_so() -> None:
    changes: Any = np.random.default_rng(4).normal(0.4, 1, 11)
    p, error, method = sign_flip_test(changes, 40_000, RNG)
    assert method == "sign flips, drawn" and 0 < error < 0.003
    assert p == approx(flipped(changes.tolist()), abs=4 * error)
    ranks: Any = np.arange(1, 13) * np.where(np.arange(12) % 4, 1, -1)
    exact = wilcoxon(ranks, method="exact").pvalue
    assert sign_flip_test(ranks * 1.0, 9, RNG)[0] == approx(exact)


def test_the_interval_of_single_runs_is_clopper_and_pearsons() -> None:
    """Without ties: of wins among all items."""
    for wins, losses in ((12, 0), (10, 5), (3, 17)):
        changes, runs = np.r_[np.ones(wins), -np.ones(losses)], np.ones(wins + losses)
        low, high = item_change_interval(changes, runs, 0.95)
        ends = beta.ppf([0.025, 0.975], [wins, wins + 1], [losses + 1, losses])
        expected = 2 * np.nan_to_num(ends, nan=1.0) - 1
        assert (low, high) == approx(expected, abs=0.02)
    assert all(map(isnan, item_change_interval(np.ones(4), np.ones(4), 0.95)))
    assert all(map(isnan, item_change_interval(np.ones(9), np.ones(9), 1 - 1e-9)))


def power_of_all_tables(n: int, change: float, share: float, alpha: float) -> float:
    """P(McNemar's p <= alpha) as a sum over all numbers of wins and losses."""
    win, lose, total = (share + change) / 2, (share - change) / 2, 0.0
    for w in range(n + 1):
        for k in range(n + 1 - w):
            tail = min(1.0, 2 * sum(comb(w + k, i) for i in range(min(w, k) + 1)) / 2 ** (w + k))
            ways = comb(n, w) * comb(n - w, k)
            total += (tail <= alpha) * ways * win**w * lose**k * (1 - share) ** (n - w - k)
    return total


@mark.parametrize(("share", "needed"), [(0.1, 78), (0.3, 249), (0.5, 408)])
def test_needed_cases_of_a_change_of_a_tenth(share: float, needed: int) -> None:
    assert pairs_needed(0.1, share, 0.05) == needed


def test_needed_cases_have_the_power() -> None:
    n = int(pairs_needed(0.4, 0.5, 0.05))
    assert power_of_all_tables(n, 0.4, 0.5, 0.05) >= 0.8 > power_of_all_tables(n - 1, 0.4, 0.5, 0.05)
    assert pairs_needed(1e-5, 0.5, 0.05) == np.inf
