"""What benchmarks share: CPU seconds of work, and made-up groups."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Counts", "made_up", "seconds"]

Counts = dict[str, tuple[int, ...]]


def made_up(groups: int, seed: int = 0) -> Counts:
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, np.exp(rng.normal(4.5, 1.6, groups))).astype(int)
    prev, tpr, fpr = rng.beta(12, 28, groups), rng.beta(24, 16, groups), rng.beta(8, 32, groups)
    rates = np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=1)
    return {f"group {i}": tuple(rng.multinomial(sizes[i], rates[i]).tolist()) for i in range(groups)}


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """CPU seconds of this process, the best of some runs."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)
