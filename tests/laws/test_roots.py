"""Roots of many functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.laws import Bracket, narrowed, normal_score

Floats = NDArray[np.float64]
TARGETS = np.array([1e-9, 0.2, 1.0, 7.0, 50.0])


def bracket_of(function: Callable[..., Floats], low: Floats, high: Floats) -> Bracket:
    rows = np.arange(len(low))
    return Bracket(high, low, function(high, rows), function(low, rows))


@pytest.mark.parametrize("power", [1, 3, 5])
def test_the_root_of_a_smooth_function_is_found_in_few_steps(power: int) -> None:
    """x^p = t at x = t^(1/p)."""
    asked: list[int] = []

    def excess(x: Floats, rows: NDArray[np.int64]) -> Floats:
        asked.append(len(rows))
        return np.asarray(x**power - TARGETS[rows])

    found = narrowed(excess, bracket_of(excess, np.zeros(5), np.full(5, 60.0)), 1e-14)
    assert found.inside == pytest.approx(TARGETS ** (1 / power), rel=2e-14)
    assert (found.at_inside >= 0).all() and (found.at_outside < 0).all()
    # Halving would take more than 45 for each.
    assert sum(asked[2:]) < 5 * 25
    assert asked[-1] < 5, "rows that are done are not asked for"


def test_a_jump_is_found_by_halving_from_the_side_where_the_function_is_not_negative() -> None:
    def excess(x: Floats, rows: NDArray[np.int64]) -> Floats:
        return np.where(x >= TARGETS[rows], 3.0, -1e-3)

    found = narrowed(excess, bracket_of(excess, np.zeros(5), np.full(5, 60.0)), 1e-14, least=1e-9, steps=100)
    assert (found.inside >= TARGETS).all() and (found.outside < TARGETS).all()
    assert found.inside == pytest.approx(TARGETS, rel=2e-14)


def test_values_that_are_small_enough_end_the_search() -> None:
    def excess(x: Floats, rows: NDArray[np.int64]) -> Floats:
        return np.asarray(x**3 - TARGETS[rows])

    found = narrowed(excess, bracket_of(excess, np.zeros(5), np.full(5, 60.0)), 1e-14, enough=1e-3)
    nearest = np.minimum(np.abs(found.at_inside), np.abs(found.at_outside))
    assert (nearest <= 1e-3).all() and (nearest[1:] > 0).any()


def test_what_is_no_bracket_stays_as_it_is() -> None:
    given = Bracket(*(np.array([each]) for each in (2.0, 1.0, -1.0, -2.0)))
    assert narrowed(lambda x, rows: x, given, 1e-14) == given
    none = Bracket(*(np.empty(0) for _ in range(4)))
    assert len(narrowed(lambda x, rows: x, none, 1e-14).inside) == 0


def test_a_bracket_is_not_changed_in_place() -> None:
    given = Bracket(*(np.array([each]) for each in (4.0, -1.0, 4.0, -1.0)))
    narrowed(lambda x, rows: x, given, 1e-3, least=1.0)
    assert (given.inside[0], given.outside[0]) == (4.0, -1.0)


def test_normal_scores_are_finite() -> None:
    assert normal_score(np.array([0.0, 0.025, 0.5, 1.0])) == pytest.approx([-36.4, -1.96, 0.0, 8.2], abs=0.05)
