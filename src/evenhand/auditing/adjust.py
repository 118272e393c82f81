"""P-values adjusted for having tested several comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reachable", "benjamini_hochberg", "holm"]

Floats = NDArray[np.float64]
Reachable = Callable[[Floats], Floats] | None
"""P(p <= x) under a comparison's null, if it is less than ``x``."""

# In larger families, p-values above this are adjusted to 1 straight away.
_LARGE_FAMILY, _HOPELESS = 1_000, 0.2


def holm(pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None) -> list[float]:
    """Holm's method: the chance of a single false alarm among all comparisons stays below the level.

    Parameters
    ----------
    pvalues : several float
        The p-values of the comparisons.
    reachable : several functions, optional
        P(p <= x) under each comparison's null. A test of few cases cannot reach every small p-value, so it takes less
        of the level than its share: with the p-values in ascending order the adjusted ones are the running maximum of
        min(1, Σ over j >= l of P(p_j <= p_l)). Where a function is missing, P(p <= x) = x, as in Holm's own method.

    Returns
    -------
    list of float

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    levels = p[order]
    kept = len(p) if len(p) <= _LARGE_FAMILY else int(np.searchsorted(levels, _HOPELESS, side="right"))
    sums = np.ones(len(p))
    sums[:kept] = 0.0
    plain = np.zeros(len(p))
    for position, i in enumerate(order):
        size = reachable[i] if reachable is not None else None
        upto = min(position + 1, kept)
        if size is None:
            plain[position] = 1.0
        else:
            sums[:upto] += size(levels[:upto])
    # What has no function of its own counts its p-value, once for each place up to its own.
    sums[:kept] += (np.cumsum(plain[::-1])[::-1] * levels)[:kept]
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, sums))
    return [float(x) for x in np.maximum(adjusted, p)]


def benjamini_hochberg(pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None) -> list[float]:
    """Benjamini and Hochberg's method: the expected share of false alarms among all alarms stays below the level.

    Parameters
    ----------
    pvalues : several float
        The p-values of the comparisons.
    reachable : ignored
        So that both methods can be called alike.

    Returns
    -------
    list of float

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(np.minimum(steps, 1.0)[::-1])[::-1]
    return [float(x) for x in adjusted]
