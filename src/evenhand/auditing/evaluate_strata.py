"""Rates of groups against their references within strata, pooled over all strata (Mantel and Haenszel)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats, choose
from ..inference import PooledOddsRatio, compared_rates, is_informative, pooled_odds_ratio
from ..metrics import Metric
from .comparisons import Comparisons
from .evaluate_counts import cell_columns, reference_columns
from .settings import Settings

_SILENT = "no stratum has cases of both with different outcomes"


def evaluate_strata(metric: Metric, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """The columns of a rate for comparisons that are pooled over strata."""
    base, level = metric.base, settings.confidence_level
    group, reference = comparisons.cells
    tables = strata_tables(metric, comparisons)
    pooled = [pooled_odds_ratio(table, level) for table in tables]
    columns = {
        name: np.array([getattr(one, name) for one in pooled], dtype=np.float64)
        for name in ("pvalue", "low", "high", "odds_ratio", "excess", "crude_odds_ratio", "crude_pvalue")
    }
    is_silent = np.array([one.method == "none" for one in pooled])
    methods = np.array([one.method for one in pooled], dtype=object)
    for name, counts in _count_strata(tables).items():
        columns[f"strata_{name}"] = counts
    if comparisons.tally.weighted:
        columns["n_effective"] = np.array([table[:, 1].sum() for table in tables])
    is_untested = is_silent | comparisons.is_chosen
    columns["pvalue"][comparisons.is_chosen] = np.nan
    excess, odds_ratio = columns.pop("excess"), columns.pop("odds_ratio")
    low, high = columns.pop("low"), columns.pop("high")
    columns |= cell_columns(comparisons, group, reference)
    return columns | reference_columns(metric, comparisons) | {
        "score": base.scores(group),
        "reference_score": base.scores(reference),
        "support": base.support(comparisons.cases[0]).min(axis=-1),
        "reason": choose(is_silent, _SILENT, None),
        "gap_kind": "odds ratio",
        "gap": odds_ratio,
        "gap_low": low,
        "gap_high": high,
        "direction": np.where(excess > 0, "higher", "lower").astype(object),
        "method": choose(is_untested, None, methods),
        "bound_gaps": lambda rows, level: _ends([pooled_odds_ratio(tables[i], level) for i in rows]),
    }  # fmt: skip


def strata_tables(metric: Metric, comparisons: Comparisons) -> list[Floats]:
    """Successes and cases of group and reference in each stratum, for each comparison."""
    counts = comparisons.counts
    group, reference = comparisons.strata_tables(counts.cells)
    if comparisons.tally.weighted:
        # Weighted cases count as many whole cases as they are worth (Kish).
        squares = comparisons.strata_tables(counts.squares)
        group, reference = (
            np.round(cells * cells.sum(-1, keepdims=True) / np.maximum(square.sum(-1, keepdims=True), 1e-300))
            for cells, square in zip((group, reference), squares, strict=True)
        )
    return [np.column_stack(compared_rates(metric.base, g, r)) for g, r in zip(group, reference, strict=True)]


def _count_strata(tables: Sequence[Floats]) -> dict[str, Floats]:
    """In how many strata a group's rate is higher or lower, and how many are not informative."""
    numbers = np.empty((3, len(tables)))
    for i, table in enumerate(tables):
        x1, n1, x2, n2 = table.T
        is_telling = is_informative(table)
        excess = np.where(is_telling, x1 * n2 - x2 * n1, 0.0)
        numbers[:, i] = (excess > 0).sum(), (excess < 0).sum(), (~is_telling).sum()
    return dict(zip(("higher", "lower", "silent"), numbers, strict=True))


def _ends(pooled: Sequence[PooledOddsRatio]) -> tuple[Floats, Floats]:
    return np.array([one.low for one in pooled]), np.array([one.high for one in pooled])
