"""How rates of groups change from one model to another, and how their gaps to the reference do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from ..inference import contrast, mcnemar, pairs_of
from ..metrics import Metric, metric as find_metric
from .cell_measures import CellTable, measure_cells
from .comparisons import Comparison
from .measures import Floats, Measures
from .settings import Settings

__all__ = ["measure_models"]


def measure_models(m: Metric, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """How a rate of each group changes from one model to another, and how its gap to the reference does.

    Both are scores of counts: the change of a rate is the marginal benefit of wins and losses.
    """
    mine, theirs = ([pairs_of(m, getattr(who, side).counts) for who in comparisons] for side in ("own", "against"))
    contrasts = [
        replace(who, own=contrast(own), against=contrast(against), peers={})
        for who, own, against in zip(comparisons, mine, theirs, strict=True)
    ]
    found = measure_cells(find_metric("mb"), CellTable(contrasts), how)
    return replace(
        found,
        metric=m,
        comparisons=comparisons,
        reason=[_reason(who) for who in contrasts],
        rests_on=[(int(who.own.n),) for who in contrasts],
        ratio=np.full(len(comparisons), nan),
        changes=np.array([mcnemar(pairs) if pairs.sum() else nan for pairs in mine]),
        before=_first_rates(mine),
        reference_before=_first_rates(theirs),
    )


def _first_rates(pairs: Sequence[Floats]) -> Floats:
    """The rates with the first of two models."""
    return np.array(
        [
            (both + first) / n if (n := both + first + second + neither) else nan
            for both, first, second, neither in pairs
        ]
    )


def _reason(who: Comparison) -> str | None:
    if not who.own.n:
        return "no case that the score rests on"
    return None if who.against.n or who.is_reference else "the reference has no case that the score rests on"
