"""Weighted cases as effective counts.

Weights change the law of the cells, so no exact test applies to weighted counts. Kish's effective size is the number of
equally weighted cases whose mean would vary as much; matrices of that size with the weighted shares can be audited
approximately. It accounts for unequal weights only, not for strata or clusters, and treats weights as unrelated to what
is measured.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

__all__ = ["EffectiveCounts", "checked_weights", "effective_counts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class EffectiveCounts(NamedTuple):
    """What weighted cases are worth, per group.

    Attributes
    ----------
    counts : array of shape (groups, 4)
        The weighted shares of the cells times the effective size, rounded to whole counts that add up.
    n : array of int
        The number of cases with a weight above 0.
    weight : array
        The sum of their weights.
    effective_n : array
        The squared sum of weights over the sum of squared weights.
    design_effect : array
        How many cases are worth one, ``n / effective_n``; nan without cases.
    """

    counts: Ints
    n: Ints
    weight: Floats
    effective_n: Floats
    design_effect: Floats


def effective_counts(cells: Ints, weights: Floats, group: Ints, groups: int) -> EffectiveCounts:
    """What the cases of each group are worth, from each case's cell (0 for tp to 3 for tn), weight and group."""
    counts, n = np.zeros((groups, 4), dtype=np.int64), np.zeros(groups, dtype=np.int64)
    weight, size = np.zeros(groups), np.zeros(groups)
    kept = np.flatnonzero(weights > 0)
    kept = kept[np.argsort(group[kept], kind="stable")]
    starts = np.searchsorted(group[kept], np.arange(groups + 1))
    for i, (start, end) in enumerate(pairwise(starts.tolist())):
        if start == end:
            continue
        own = weights[kept[start:end]]
        # Relative to the largest, so that no square underflows or overflows.
        relative = own / own.max()
        total = float(relative.sum())
        n[i], weight[i], size[i] = end - start, own.sum(), total**2 / float((relative**2).sum())
        shares = np.bincount(cells[kept[start:end]], weights=relative, minlength=4) / total
        counts[i] = _rounded(shares, round(size[i]))
    with np.errstate(invalid="ignore"):
        return EffectiveCounts(counts, n, weight, size, n / size)


def _rounded(shares: Floats, total: int) -> Ints:
    """Whole counts that add up to the total: the largest remainders are rounded up."""
    exact = shares * total
    whole = np.floor(exact).astype(np.int64)
    whole[np.argsort(-(exact - whole), kind="stable")[: total - int(whole.sum())]] += 1
    return whole


def checked_weights(given: NDArray[Any]) -> Floats:
    """A column of weights as numbers, if they are finite, at least 0 and not all 0."""
    try:
        # Dates would become the integers of their nanoseconds, and complex numbers would lose a part.
        held = given.astype("O" if given.dtype.kind not in "mM" else "U").tolist()
        weights = given.astype(np.float64) if given.dtype.kind in "biuf" else np.array([float(one) for one in held])
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(argument="weights", must="contain numbers that fit into a float64") from None
    odd = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(odd):
        raise InvalidInput(f"`weights` must be finite and at least 0; got {odd[0]:g}")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise InvalidInput(
                argument="weights", must="add up to a finite number", hint="divide them by a common factor"
            )
    if not weights.any():
        raise InvalidInput(argument="weights", must="not all be 0")
    return weights
