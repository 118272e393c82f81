"""The probability that a metric is undefined, under a law of the cells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, count_matrices
from ..metrics import Holes
from .budget import check_cost
from .families import DirichletMultinomial, Law, MultivariateHypergeometric
from .splits import Hypergeometric

__all__ = ["hole_probability", "pooled_hole_probability"]

# Numbers of actual positives that are looked at, and matrices with TPR = FPR that are listed.
_MOST_MARGINS, _MOST_LISTED = 2**25, 2**24
_BLOCK, _MANY = 2**18, 64


@lru_cache(maxsize=256)
def hole_probability(holes: Holes, law: Law) -> float:
    """The probability that a group sampled from ``law`` falls into a hole."""
    n = law.n
    if isinstance(law, DirichletMultinomial) and law.alpha == (1.0, 1.0, 1.0, 1.0):
        return holes.count(n) / count_matrices(n)
    if not holes.apart and holes.count(n) == count_matrices(n):
        return 1.0
    p = holes.measure(law.p_empty)
    if holes.apart:
        p += sum(float(law.pmf(cells).sum()) for cells in _proportional(law))
    return min(p, 1.0)


def _proportional(law: Law) -> Iterator[NDArray[np.int64]]:
    """The matrices with no empty cell and TPR = FPR, except for improbable ones, in blocks."""
    low, high = law.split(("tp", "fn")).window(np.array([float(law.n)]), 1e-18)
    start, end = max(1, int(low[0])), min(law.n - 1, int(high[0]))
    _check_cost(end - start + 1, _MOST_MARGINS, law.n)
    listed = 0
    for begin in range(start, end + 1, _BLOCK):
        positives = np.arange(begin, min(begin + _BLOCK, end + 1))
        # Both rates are j / g, for the same j.
        g = np.gcd(positives, law.n)
        positives, g = positives[g > 1], g[g > 1]
        length, first = _shared_rates(law, positives, g)
        listed += int(length.sum())
        _check_cost(listed, _MOST_LISTED, law.n)
        for rows in np.array_split(np.arange(len(g)), max(1, int(length.sum()) // _BLOCK)):
            row = np.repeat(rows, length[rows])
            before = np.repeat(np.cumsum(length[rows]) - length[rows], length[rows])
            j = first[row] + np.arange(len(row)) - before
            tp, fp = (size[row] // g[row] * j for size in (positives, law.n - positives))
            yield np.stack([tp, positives[row] - tp, fp, law.n - positives[row] - fp], axis=1)


def _shared_rates(law: Law, positives: NDArray[np.int64], g: NDArray[np.int64]) -> tuple[Any, Any]:
    """How many rates j / g are not improbable, for each number of positives, and the first j."""
    first, last = np.ones_like(g), g - 1
    # For few rates, looking for the improbable ones costs more than they do.
    many = np.flatnonzero(g > _MANY)
    for part, whole, size in (("tp", ("tp", "fn"), positives), ("fp", ("fp", "tn"), law.n - positives)):
        low, high = law.split((part,), whole).window(size[many].astype(np.float64), 1e-300)
        step = size[many] // g[many]
        first[many] = np.maximum(first[many], -(-low.astype(np.int64) // step))
        last[many] = np.minimum(last[many], high.astype(np.int64) // step)
    return np.maximum(last - first + 1, 0), first


def _check_cost(cost: float, most: int, n: int) -> None:
    check_cost(
        cost,
        most,
        f"the probability that TPR equals FPR in n = {n:,} cases is a sum over {{}} terms or more",
        "use pt_limit, which has a score there",
    )


def pooled_hole_probability(group: Holes, reference: Holes, law: MultivariateHypergeometric) -> float:
    """The probability that a random subset of the pooled cases, or the rest of them, falls into a hole of empty parts.

    Inclusion and exclusion over the parts of both: the group lacks the cells ``z`` and the reference the cells ``w`` if
    the group contains all cases of ``w`` and none of ``z``.
    """
    totals = dict(zip(CELLS, (int(t) for t in law.totals), strict=True))
    everything = sum(totals.values())
    events = [(frozenset(p.cells), frozenset[str]()) for p in group.needs]
    events += [(frozenset[str](), frozenset(p.cells)) for p in reference.needs]
    signs: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    for size in range(1, len(events) + 1):
        for chosen in combinations(events, size):
            union = frozenset[str]().union(*(z for z, _ in chosen)), frozenset[str]().union(*(w for _, w in chosen))
            signs[union] = signs.get(union, 0) + (-1) ** (size + 1)
    total = 0.0
    for (lacking, whole), sign in signs.items():
        if sign and not any(totals[c] for c in lacking & whole):
            taken = sum(totals[c] for c in whole)
            rest = everything - sum(totals[c] for c in lacking | whole)
            # The group contains all of `whole`; its other cases come from the rest.
            total += sign * _drawn_exactly(taken, rest, everything, law.n)
    return min(max(total, 0.0), 1.0)


def _drawn_exactly(taken: int, rest: int, everything: int, n: int) -> float:
    """The probability that ``n`` sampled cases include all of ``taken``, and otherwise only cases of ``rest``."""
    if not 0 <= n - taken <= rest:
        return 0.0
    first = Hypergeometric(taken + rest, everything - taken - rest).pmf(n, n)
    return float(first * Hypergeometric(taken, rest).pmf(taken, n))
