"""P-values adjusted for having tested several groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["ADJUSTMENTS", "benjamini_hochberg", "holm"]


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm: the chance of a single false alarm among all groups stays below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    found, largest = [0.0] * len(pvalues), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(pvalues) - rank) * pvalues[i]))
        found[i] = largest
    return found


def benjamini_hochberg(pvalues: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg: the expected share of false alarms among all alarms stays below the level.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__, reverse=True)
    found, least = [0.0] * len(pvalues), 1.0
    for above, i in enumerate(order):
        least = min(least, len(pvalues) / (len(pvalues) - above) * pvalues[i])
        found[i] = least
    return found


ADJUSTMENTS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
}
