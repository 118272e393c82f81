"""Rates of groups against their references within strata, pooled over all strata (Mantel and Haenszel)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference import counts_of, informative, stratified
from ..metrics import Metric, OneGroup
from .cell_measures import cells_of, rests_on
from .comparisons import Comparison
from .measures import Measures
from .rounded_measures import allowing
from .rows import Strata
from .settings import Settings

__all__ = ["measure_strata"]

Floats = NDArray[np.float64]
_SILENT = "no stratum has cases of both with different outcomes"


def measure_strata(m: Metric, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """A rate of groups against their references within strata, pooled over all of them (Mantel and Haenszel)."""
    if how.rule is None:
        return _measured(m, comparisons, how)
    return allowing(lambda some: _measured(m, some, how), m, comparisons, how.rule, how.alpha)


def _measured(m: Metric, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    base = m.base
    own, theirs = (cells_of([getattr(who, name) for who in comparisons]) for name in ("own", "against"))
    tables = [_strata_counts(base, who) for who in comparisons]
    found = [stratified(table, how.level) for table in tables]
    columns = {name: np.array([getattr(one, name) for one in found], dtype=np.float64) for name in _STRATIFIED}
    return Measures.of(
        m,
        comparisons,
        score=base.scores(own),
        reference=base.scores(theirs),
        reason=[_SILENT if one.method == "none" else None for one in found],
        rests_on=rests_on(m, own),
        kind="odds ratio",
        gap=columns["odds_ratio"],
        gap_low=columns["low"],
        gap_high=columns["high"],
        pvalue=columns["pvalue"],
        higher=np.array([one.excess > 0 for one in found], dtype=bool),
        method=[None if one.method == "none" else one.method for one in found],
        strata=[_strata(table, one) for table, one in zip(tables, found, strict=True)],
        bounds=lambda rows, level: _ends([stratified(tables[i], level) for i in rows]),
    )


def _ends(found: Sequence[Any]) -> tuple[Floats, Floats]:
    return np.array([one.low for one in found]), np.array([one.high for one in found])


_STRATIFIED = ("odds_ratio", "low", "high", "pvalue")


def _strata_counts(m: OneGroup, who: Comparison) -> Floats:
    """Part and whole of the group and of its reference in each stratum."""
    mine, theirs = (cells_of([pair[i] for pair in who.strata]) for i in (0, 1))
    return np.column_stack([*counts_of(m, mine), *counts_of(m, theirs)])


def _strata(table: Floats, found: Any) -> Strata:
    part, whole, other, of_other = table.T
    telling = informative(table)
    excess = np.where(telling, part * of_other - other * whole, 0.0)
    crude = found.crude_odds_ratio
    return Strata(
        higher=int((excess > 0).sum()),
        lower=int((excess < 0).sum()),
        silent=int((~telling).sum()),
        crude_odds_ratio=crude if np.isfinite(crude) else None,
        crude_pvalue=found.crude_pvalue if np.isfinite(found.crude_pvalue) else None,
    )
