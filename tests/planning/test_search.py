"""The one search: the smallest size that reaches a goal, whatever lies below it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, strategies as st

from evenhand.planning.search import bracketed, smallest

goals = st.lists(st.sets(st.integers(1, 200), max_size=20), min_size=1, max_size=5)


@given(goals=goals, most=st.integers(1, 220), width=st.integers(1, 70))
def test_the_smallest_size_is_the_first_that_reaches_its_goal(goals: Any, most: int, width: int) -> None:
    """min {k: k reaches the goal, 1 <= k <= most}, and no size beyond ``most`` is looked at for one goal alone."""
    looked: list[float] = []

    def reached(chosen: Any, sizes: Any) -> Any:
        looked.extend(sizes.ravel().tolist())
        return np.array([[k in goals[i] for k in row] for i, row in zip(chosen, sizes.tolist(), strict=True)])

    found = smallest(reached, np.ones(len(goals)), most, width)
    wanted = [min((k for k in goal if k <= most), default=np.inf) for goal in goals]
    assert found.tolist() == wanted
    assert max(looked) <= most


@given(goals=goals, start=st.integers(1, 10**4), step=st.integers(1, 50))
def test_sizes_that_cannot_reach_the_goal_are_left_out_and_no_others(goals: Any, start: int, step: int) -> None:
    """Below the smallest size that reaches a goal all are hopeless, and the search begins close to it."""
    first = [min(goal, default=10**6) for goal in goals]

    def hopeless(chosen: Any, sizes: Any) -> Any:
        return np.array([k < first[i] for i, k in zip(chosen, sizes.tolist(), strict=True)], dtype=bool)

    begin = bracketed(hopeless, np.full(len(goals), float(start)), np.full(len(goals), float(step)), 10**5)
    for low, wanted in zip(begin.tolist(), first, strict=True):
        assert low <= wanted
        assert low > wanted - 5 or low > 10**5
