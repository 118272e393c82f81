"""Rising curves through given points."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st
from pytest import approx

from evenhand.laws.interpolation import Curves


def points(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.exponential(size=count) + 1e-3) - count / 2, np.cumsum(rng.exponential(size=count) ** 3 + 1e-6)


@given(seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_curves_rise_through_their_points_and_stay_straight_beyond(seeds: list[int]) -> None:
    """f(x_i) = y_i, f is non-decreasing, and f(x) - f(x_0) is proportional to x - x_0 for x < x_0."""
    known = [points(seed, 2 + seed % 9) for seed in seeds]
    curves = Curves([x for x, _ in known], [y for _, y in known])
    for row, (x, y) in enumerate(known):
        assert curves(x[None], [row])[0] == approx(y)
        assert (np.diff(curves(np.linspace(x[0] - 5, x[-1] + 5, 500)[None], [row])) >= -1e-9).all()
        first = (y[1] - y[0]) / (x[1] - x[0])
        assert curves(np.array([[x[0] - 2.0]]), [row])[0, 0] == approx(y[0] - 2 * first)


def test_a_parabola_is_met_between_evenly_spaced_points() -> None:
    """Slopes of parabolas are exact inside, so the cubics are the parabola itself."""
    x = np.linspace(2, 6, 9)
    at = np.linspace(2.5, 5.5, 50)[None]
    assert Curves([x], [x * x])(at)[0] == approx(at[0] ** 2, rel=1e-12)


def test_rows_of_different_lengths_do_not_touch_each_other() -> None:
    short, long = np.array([0.0, 1.0]), np.linspace(-100, 100, 30)
    curves = Curves([short, long], [short, long])
    at = np.array([[-3.0, 0.25, 7.0], [-200.0, 33.0, 150.0]])
    assert curves(at) == approx(at)
    assert curves(at[1:], [1]) == approx(at[1:])
    assert np.isposinf(curves(np.array([[np.inf]]), [0]))
