"""Outcomes of planned groups: listed, drawn, and counted."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from evenhand import ConfusionMatrix, metric, power
from evenhand.planning.outcomes import EqualScores, _distinct
from evenhand.planning.truths import Scenario

REFERENCE = ConfusionMatrix(300, 100, 120, 480)


@pytest.mark.parametrize("n", [1, 30, 10**6, 2**21, 2**23])
def test_distinct_matrices_are_counted(n: int) -> None:
    """As np.unique counts rows, in the same order."""
    cells = np.random.default_rng(n).multinomial(n, [0.1, 0.2, 0.3, 0.4], 300).astype(float)
    cells = np.concatenate([cells, cells[:50]])
    found, counts = _distinct(cells, n)
    expected = np.unique(cells, axis=0, return_counts=True)
    assert (found == expected[0]).all() and (counts == expected[1]).all()


@pytest.mark.parametrize("truth", [None, [0.3, 0.0, 0.2, 0.5]])
def test_p_values_that_are_kept_give_the_power_that_a_walk_gives(truth: list[float] | None) -> None:
    """P(normal p <= alpha), over all matrices of 20 cases with their multinomial probabilities."""
    m = metric("mcc").base
    scenario = Scenario.of(m, REFERENCE, None if truth else -0.2, truth)
    test = EqualScores.of(scenario, 0.05, 1_000, 0)
    found, *_, normal = test._candidates(scenario, 20, None)
    assert test.quick(scenario, 20) == approx(float(found.weight[normal <= 0.05].sum()), abs=1e-10)


@pytest.mark.parametrize(("key", "n", "difference"), [("mcc", 60, -0.2), ("kappa", 40, -0.3)])
def test_few_tested_outcomes_give_the_power_within_the_stated_error(key: str, n: int, difference: float) -> None:
    """Beside five times as many, from several starts."""
    reference = ConfusionMatrix(300, 100, 120, 480)
    fine = power(key, n, reference, difference=difference, draws=5_000, rng=9)
    for seed in range(3):
        found = power(key, n, reference, difference=difference, rng=seed)
        assert 0.002 < found.error <= 0.01
        assert abs(found.power - fine.power) <= 2 * found.error


@pytest.mark.slow
def test_the_start_of_what_is_tested_does_not_move_the_power() -> None:
    """Averaged over starts, and beside all outcomes: neither up nor down by more than chance."""
    reference = ConfusionMatrix(50, 20, 25, 80)
    exact = power("lr_plus", 30, reference, difference=-0.1, draws=10**6)
    assert exact.method == "exact"
    found = [power("lr_plus", 30, reference, difference=-0.1, draws=200, rng=seed) for seed in range(8)]
    away = np.array([one.power for one in found]) - exact.power
    stated = np.array([one.error for one in found])
    assert abs(away.mean()) < stated.mean() / 2
    assert (away**2).mean() < 1.5 * (stated**2).mean()


def test_drawn_outcomes_have_a_small_error() -> None:
    found = power("mcc", 3_000, ConfusionMatrix(300, 100, 120, 480), difference=-0.05, draws=100)
    assert found.method == "simulation"
    assert 0 < found.error < 0.05
