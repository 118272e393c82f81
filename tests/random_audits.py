"""Audits of random counts: groups of every size, rates near 0 and 1, equal groups, and every kind of reference."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from audit_oracle import Cells

import evenhand as eh
from evenhand.auditing import Audit, Row

METRICS = (
    *("tpr", "ppr", "f1", "mcc", "mb", "lr_plus", "dor"),
    *("equal_opportunity", "disparate_impact", "equalized_odds", "te"),
)


@cache
def random_audits() -> tuple[Audit, ...]:
    """Groups down to no case, alphas, margins, levels and adjustments in turn."""
    rng = np.random.default_rng(2033)
    made = []
    for turn in range(9):
        groups: dict[str, Cells] = {}
        rates = rng.dirichlet([0.6, 0.6, 0.6, 0.6])
        for name in "ABCDE"[: 2 + turn % 4]:
            size = int(rng.choice([0, 1, 8, 40, 150, 300]))
            own = rates if rng.random() < 0.5 else rng.dirichlet([0.8, 0.8, 0.8, 0.8])
            groups[name] = tuple(int(x) for x in rng.multinomial(size, own))  # type: ignore[assignment]
        groups["Z"] = tuple(int(x) for x in rng.multinomial(200, rates))  # type: ignore[assignment]
        if turn % 5 == 0:
            groups["Y"] = groups["Z"]
        reference: Any = ("rest", "Z", "all", eh.ConfusionMatrix(tp=100, fn=30, fp=20, tn=150))[turn % 4]
        made.append(
            eh.audit_counts(
                groups,
                metrics=METRICS,
                reference=reference,
                alpha=(0.05, 0.2)[turn % 2],
                margin=(0.1, 0.25)[turn % 3 == 0],
                adjust=("holm", "bh", "none")[turn % 3],
                confidence_level=(0.95, 0.8)[turn % 3 == 0],
                favourable=("positive", "negative")[turn % 2],
            )
        )
    return tuple(made)


def every_row() -> Iterator[tuple[Row, dict[str, Any]]]:
    """Each row with the settings of its audit."""
    return ((r, a.settings) for a in random_audits() for r in a.rows)
