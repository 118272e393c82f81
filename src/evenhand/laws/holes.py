"""How likely a law makes the holes of a metric."""

from __future__ import annotations

from functools import lru_cache

from ..metrics import Holes
from ..metrics.products import proportional_matrices
from .families import Law

__all__ = ["hole_probability"]


@lru_cache(maxsize=256)
def hole_probability(holes: Holes, law: Law) -> float:
    """The probability that a group drawn from ``law`` falls into a hole."""
    p = holes.measure(law.p_empty)
    if holes.apart:
        p += float(law.pmf(proportional_matrices(law.n)).sum())
    return min(p, 1.0)
