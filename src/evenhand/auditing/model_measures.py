"""How rates of groups change from one model to another, and how their gaps to the reference do."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from ..inference import paired_change, paired_gap, pairs_of
from ..metrics import Metric
from ..randomness import streams
from .comparisons import Comparison
from .measures import Measures
from .settings import Settings

__all__ = ["measure_models"]

_ARRAYS = ("score", "low", "high", "reference", "gap", "gap_low", "gap_high", "pvalue", "error", "changes")


def measure_models(m: Metric, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """How a rate of each group changes from one model to another, and how its gap to the reference does.

    The test of the gap takes the two models as exchangeable for every case, so that it claims no direction.
    """
    n = len(comparisons)
    found: dict[str, Any] = {name: np.full(n, nan) for name in _ARRAYS}
    reasons: list[str | None] = [None] * n
    methods: list[str | None] = [None] * n
    rests_on: list[tuple[int, ...]] = []
    for i, (who, rng) in enumerate(zip(comparisons, streams(how.rng, n), strict=True)):
        mine, theirs = pairs_of(m, who.own.counts), pairs_of(m, who.against.counts)
        rests_on.append((int(mine.sum()),))
        options: Any = {"level": how.level, "draws": how.draws, "rng": rng}
        own = paired_change(mine, **options)
        found["score"][i], found["low"][i], found["high"][i], found["changes"][i] = own[2:]
        if not mine.sum():
            reasons[i] = "no case that the score rests on"
        if who.is_reference:
            continue
        if not theirs.sum():
            reasons[i] = reasons[i] or "the reference has no case that the score rests on"
            continue
        gap = paired_gap(mine, theirs, **options)
        found["reference"][i] = own.change - gap.change
        found["gap"][i], found["gap_low"][i], found["gap_high"][i] = gap.change, gap.low, gap.high
        found["pvalue"][i], methods[i] = gap.pvalue, gap.method
        found["error"][i] = nan if gap.error is None else gap.error
    return Measures.of(
        m,
        comparisons,
        **found,
        difference=found["gap"],
        reason=reasons,
        method=methods,
        higher=found["gap"] > 0,
        rests_on=rests_on,
        asks="changed alike",
    )
