"""Random groups, sampled split by split down a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..metrics import Tree
from .families import Law, MultivariateHypergeometric

__all__ = ["sample_cells"]


def sample_cells(
    tree: Tree, law: Law, rng: np.random.Generator, draws: int, margin: float | None = None
) -> NDArray[np.float64]:
    """``draws`` random groups, shape (draws, 4), with the tree's merged cells; all have the ``margin``, if given."""
    if isinstance(law, MultivariateHypergeometric) and sum(law.totals) > 10**9:
        raise InvalidInput(
            "`method='montecarlo'` samples from at most 1e9 pooled cases; use `null='predictive'`, or `method='exact'`"
        )
    n = np.full(draws, law.n, dtype=np.int64)
    of_margin, of_side = np.zeros_like(n), np.zeros_like(n)
    if tree.margin:
        of_margin = law.split(tree.margin).sample(n, rng) if margin is None else np.full_like(n, int(margin))
    if tree.side:
        of_side = law.split(tree.side, tree.margin).sample(of_margin, rng)
    last = law.split(tree.last, tree.last_of).sample(tree.last_size(n, of_margin), rng)
    return tree.cells(n, of_margin, of_side, last).astype(np.float64)
