"""Rates of groups against references within strata, pooled over strata (Mantel and Haenszel)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, Floats, Integers, choose
from ..inference import compared_rates, is_informative, pooled_odds_ratio
from ..metrics import Metric
from .comparisons import Comparisons
from .settings import Settings

_SILENT = "no stratum has cases of both with different outcomes"


def evaluate_strata(metric: Metric, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """The columns of a rate for comparisons that are pooled over strata."""
    tables, is_chosen = list_tables(metric, comparisons), comparisons.is_chosen

    def pool(rows: Integers, level: float) -> list[Array]:
        pooled = [pooled_odds_ratio(tables[row], level) for row in rows]
        return [np.array(values) for values in zip(*pooled, strict=True)]

    gap, low, high, pvalue, method, excess, crude_gap, crude_pvalue = pool(
        np.arange(len(tables)), settings.confidence_level
    )
    method, is_silent = method.astype(object), method == "none"
    x1, n1, x2, n2 = np.moveaxis(tables, -1, 0)
    informative = np.stack([is_informative(table) for table in tables])
    signs = np.where(informative, np.sign(x1 * n2 - x2 * n1), 0.0)
    columns = {
        "score": metric.base.scores(comparisons.cells[0]),
        "reference_score": metric.base.scores(comparisons.cells[1]),
        "reason": choose(is_silent, _SILENT, None),
        **{"gap_kind": "odds ratio", "gap": gap, "gap_low": low, "gap_high": high},
        "bound_gaps": lambda rows, level: pool(rows, level)[1:3],
        "direction": choose(excess > 0, "higher", "lower"),
        "pvalue": np.where(is_chosen, np.nan, pvalue),
        "method": choose(is_silent | is_chosen, None, method),
        **{"crude_odds_ratio": crude_gap, "crude_pvalue": crude_pvalue},
        "strata_higher": (signs > 0).sum(axis=1),
        "strata_lower": (signs < 0).sum(axis=1),
        "strata_silent": (~informative).sum(axis=1),
    }
    if comparisons.tally.weighted:
        columns["n_effective"] = n1.sum(axis=1)
    return columns


def list_tables(metric: Metric, comparisons: Comparisons) -> Floats:
    """Successes and cases of group and reference by comparison and stratum."""
    group, reference = comparisons.split_strata(comparisons.counts.cells)
    if comparisons.tally.weighted:
        # Weighted cases count as many whole cases as they are worth (Kish).
        squares = comparisons.split_strata(comparisons.counts.squares)
        group, reference = (
            np.round(cells * _sum(cells) / np.maximum(_sum(square), 1e-300))
            for cells, square in zip((group, reference), squares, strict=True)
        )
    return np.stack(compared_rates(metric.base, group, reference), axis=-1)


def _sum(cells: Floats) -> Floats:
    return np.asarray(cells.sum(axis=-1, keepdims=True))
