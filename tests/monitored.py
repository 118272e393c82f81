"""Batches of decisions for tests of monitors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def make_batch(seed: int, n: int = 120, gap: float = 0.0) -> pd.DataFrame:
    """Decisions on people of three regions, those of the first decided worse by a gap."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.2, 0.4, 0.4])
    y = rng.integers(0, 2, n)
    right = rng.random(n) < np.where(group == "a", 0.8 - gap, 0.8)
    return pd.DataFrame({"region": group, "y": y, "p": np.where(right, y, 1 - y)})


def make_visits(persons: Sequence[int], seed: int = 0) -> pd.DataFrame:
    """Decisions on actual positives, several of the same person."""
    rng = np.random.default_rng(seed)
    who = np.array(persons)
    return pd.DataFrame(
        {"person": who, "region": np.where(who % 3, "a", "b"), "y": np.ones(len(who), int),
         "p": rng.integers(0, 2, len(who))}
    )  # fmt: skip
