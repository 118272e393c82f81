"""How likely a law makes the holes of a metric."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..cells import count_matrices
from ..metrics import Holes
from ..metrics.products import proportional_matrices
from .families import DirichletMultinomial, Law

__all__ = ["hole_probability"]


@lru_cache(maxsize=256)
def hole_probability(holes: Holes, law: Law) -> float:
    """The probability that a group drawn from ``law`` falls into a hole."""
    n = law.n
    if isinstance(law, DirichletMultinomial) and law.alpha == (1.0, 1.0, 1.0, 1.0):
        return holes.count(n) / count_matrices(n)
    if not holes.apart and holes.count(n) == count_matrices(n):
        return 1.0
    p = holes.measure(law.p_empty)
    if holes.apart:
        low, high = law.split(("tp", "fn")).window(np.array([float(n)]), 1e-18)
        p += float(law.pmf(proportional_matrices(n, int(low[0]), int(high[0]))).sum())
    return min(p, 1.0)
