"""Averages over classes, tested by MATCH: whether group and reference come from one distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from ..confusion import MulticlassConfusion
from ..inference import MatchSettings, match_many
from ..metrics import ClassAverage
from ..progress import progress
from ..randomness import streams
from ..wording import several
from .comparisons import Comparisons
from .evaluate_counts import reference_columns
from .evaluate_rows import bound_by_normal
from .settings import Settings


def evaluate_classes(
    averages: Sequence[ClassAverage], comparisons: Comparisons, settings: Settings
) -> list[dict[str, Any]]:
    """The columns of each average; all averages of a group are tested on the same draws."""
    tally, n = comparisons.tally, len(comparisons)
    assert tally.class_counts is not None
    group, reference = (side.astype(np.int64) for side in comparisons.split(tally.class_counts[None]))
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    columns = [_empty(average, comparisons) for average in averages]
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"testing averages of {several(n, 'group')}"):
        matrix, other = (MulticlassConfusion(side[row], tally.classes) for side in (group, reference))
        tests: Sequence[Any] = [None] * len(averages)
        if comparisons.is_testable[row]:
            tests = match_many(matrix, other, averages, MatchSettings(rng=rng, draws=draws))
        for average, found, test in zip(averages, columns, tests, strict=True):
            found["score"][row] = average.scores(matrix.counts)
            if not comparisons.is_reference[row]:
                found["reference_score"][row] = average.scores(other.counts)
            found["reason"][row] = average.why_undefined(matrix)
            if test is not None:
                found["pvalue"][row], found["p_error"][row] = test.pvalue, test.error if test.draws else nan
                found["reason"][row] = found["reason"][row] or test.reason
                found["method"][row] = None if np.isnan(test.pvalue) else test.method
            elif not comparisons.is_reference[row] and not other.n:
                found["reason"][row] = found["reason"][row] or "the reference has no cases"
    for found in columns:
        found["gap"] = found["score"] - found["reference_score"]
        found["bound_gaps"] = bound_by_normal(found, settings)
    return columns


def _empty(average: ClassAverage, comparisons: Comparisons) -> dict[str, Any]:
    n = len(comparisons)
    return {
        "question": "same distribution",
        "reason": np.full(n, None, dtype=object),
        "method": np.full(n, None, dtype=object),
        **{name: np.full(n, nan) for name in ("score", "reference_score", "pvalue", "p_error", "gap_low", "gap_high")},
        **reference_columns(average, comparisons),
    }
