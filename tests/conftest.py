"""Shared by all tests: repeatable Hypothesis runs, and no test that touches the global random state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("evenhand", deadline=None, derandomize=True, database=None)
settings.load_profile("evenhand")


@pytest.fixture(autouse=True)
def _global_random_state_is_left_alone() -> Iterator[None]:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    yield
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert str(before) == str(after), "the code under test drew from numpy's global random state"
