"""What one metric says of many comparisons, as arrays, before p-values are adjusted.

Whatever a metric reads of a group, its measure gives these arrays: see `cell_measures`, `strata_measures`,
`class_measures`, `row_measures` and `model_measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference import Attainable, Effects, Strength
from .comparisons import Comparison
from .rows import Asks, GapKind, Sketch, Strata

__all__ = ["Measures"]

Floats = NDArray[np.float64]
Bounds = Callable[[list[int], float], tuple[Floats, Floats]]
"""The ends of the intervals of the gaps of some comparisons at a level, of which claims may be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What one metric says of many comparisons: arrays and lists with one item per comparison, nan for nothing.

    ``higher`` is the direction of the test, ``reachable`` where its attainable p-values are looked up, and ``error``
    the standard error of p-values from random draws. ``strengths`` belong to smoothed scores. In comparisons of models,
    scores are changes, ``changes`` the p-values of the groups' own, and ``before`` and ``reference_before`` the scores
    with the first of the two models. ``effects`` are the design effects of units.
    ``bounds`` gives intervals at other levels, melded where that is possible; without it they are scaled as those of a
    normal law.
    """

    metric: Any
    comparisons: Sequence[Comparison]
    score: Floats
    low: Floats
    high: Floats
    reference: Floats
    reason: list[str | None]
    rests_on: list[tuple[int, ...]]
    kind: GapKind
    gap: Floats
    gap_low: Floats
    gap_high: Floats
    difference: Floats
    ratio: Floats
    pvalue: Floats
    higher: NDArray[np.bool_]
    method: list[str | None]
    asks: Asks = "equal scores"
    reachable: list[tuple[Attainable, int] | None]
    error: Floats
    percentile: Floats
    p_undefined: Floats
    smoothed: Floats
    strengths: Sequence[Strength]
    sketches: list[Sketch | None]
    strata: list[Strata | None]
    changes: Floats
    before: Floats
    reference_before: Floats
    effects: list[Effects | None]
    bounds: Bounds | None = None

    @classmethod
    def of(cls, metric: Any, comparisons: Sequence[Comparison], **known: Any) -> Measures:
        """Measures in which what is not given is nothing."""
        n = len(comparisons)
        nothing: dict[str, Any] = {
            **{name: np.full(n, nan) for name in _ARRAYS},
            **{name: [None] * n for name in ("reason", "method", "reachable", "sketches", "strata", "effects")},
            "kind": "difference",
            "higher": np.zeros(n, dtype=bool),
            "strengths": [0.0] * n,
        }
        if "rests_on" not in known:
            nothing["rests_on"] = [(int(who.own.n),) for who in comparisons]
        found = nothing | known
        # A reference that was chosen by outcomes is no reference for a test.
        chosen = np.array([who.is_chosen for who in comparisons], dtype=bool)
        found["pvalue"] = np.where(chosen, nan, found["pvalue"])
        found["method"] = [None if one else how for how, one in zip(found["method"], chosen.tolist(), strict=True)]
        return cls(metric=metric, comparisons=comparisons, **found)

    def __len__(self) -> int:
        return len(self.comparisons)

    def bounded(self, rows: list[int], level: float, known: float) -> tuple[Floats, Floats]:
        """The ends of the intervals of the gaps of some comparisons at a level, given those at a ``known`` one."""
        from scipy.special import ndtri

        if self.bounds is not None:
            return self.bounds(rows, level)
        gap, low, high = self.gap[rows], self.gap_low[rows], self.gap_high[rows]
        wider = ndtri((1 + level) / 2) / ndtri((1 + known) / 2)
        return gap - (gap - low) * wider, gap + (high - gap) * wider


_ARRAYS = (
    *("score", "low", "high", "reference", "gap", "gap_low", "gap_high", "difference", "ratio", "pvalue", "error"),
    *("percentile", "p_undefined", "smoothed", "changes", "before", "reference_before"),
)
