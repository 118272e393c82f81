"""P-values adjusted for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..inference import Attainable, Sizes

__all__ = ["Reachable", "benjamini_hochberg", "holm"]

Floats = NDArray[np.float64]
Reachable = tuple[Attainable, int] | None
"""Where to look up P(p <= x) under the null of a comparison, a table and its row; None if it is ``x``."""


def holm(pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None) -> list[float]:
    """Holm's method, which controls the probability of any false positive among all comparisons.

    Parameters
    ----------
    pvalues : sequence of float
        The p-values of the comparisons.
    reachable : sequence of Reachable, optional
        Where to look up P(p <= x) under the null of each comparison. A test with few cases cannot attain every small
        p-value, so it uses less than its share of the level: with p-values in ascending order, the adjusted ones are
        the running maximum of min(1, Σ over j >= l of P(p_j <= p_l)). If it is None, P(p <= x) = x, as in Holm's
        original method.

    Returns
    -------
    list of float
        Adjusted p-values.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    given = list(reachable) if reachable is not None else [None] * len(p)
    tables: dict[int, tuple[Attainable, list[int], list[int]]] = {}
    for i, where in enumerate(given):
        if where is not None:
            _, members, rows = tables.setdefault(id(where[0]), (where[0], [], []))
            members.append(i)
            rows.append(where[1])
    sizes = [(Sizes(table, np.array(rows)), np.array(members)) for table, members, rows in tables.values()]
    left = np.ones(len(p))
    plain = float(sum(where is None for where in given))
    adjusted, running = np.ones(len(p)), 0.0
    for i in order.tolist():
        total = plain * p[i] + sum(float((size.at(p[i]) * left[members]).sum()) for size, members in sizes)
        running = max(running, total)
        if running >= 1:
            break
        adjusted[i] = max(running, p[i])
        left[i] = 0.0
        plain -= given[i] is None
    return [float(x) for x in adjusted]


def benjamini_hochberg(pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None) -> list[float]:
    """Benjamini and Hochberg's method, which controls the false discovery rate.

    Parameters
    ----------
    pvalues : sequence of float
        The p-values of the comparisons.
    reachable : ignored
        For the same signature as `holm`.

    Returns
    -------
    list of float
        Adjusted p-values.

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
