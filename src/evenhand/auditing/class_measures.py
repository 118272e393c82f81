"""Averages over classes, tested by MATCH: whether a group is drawn like its reference."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import Any, cast

import numpy as np

from ..inference import Question, match_each
from ..metrics import Summary
from ..progress import progress
from ..randomness import streams
from ..wording import several
from .comparisons import Comparison
from .measures import Measures
from .settings import Settings

__all__ = ["measure_averages"]


def measure_averages(metrics: Sequence[Summary], comparisons: Sequence[Comparison], how: Settings) -> list[Measures]:
    """Several averages over classes; all of a group are tested on the same draws."""
    work = list(zip(comparisons, streams(how.rng, len(comparisons)), strict=True))
    tested = [
        match_each(who.own, who.against, metrics, Question(mid_p=how.mid_p, rng=rng, draws=how.draws))
        if who.testable
        else [None] * len(metrics)
        for who, rng in progress(work, f"testing averages of {several(len(work), 'group')}")
    ]
    return [_average(one, comparisons, [each[i] for each in tested]) for i, one in enumerate(metrics)]


def _average(s: Summary, comparisons: Sequence[Comparison], tests: Sequence[Any]) -> Measures:
    mine = np.array([float(s.values(who.own.counts)) for who in comparisons])
    theirs = np.array([nan if who.is_reference else float(s.values(who.shown.counts)) for who in comparisons])
    reasons = [_why_not(s, who, test) for who, test in zip(comparisons, tests, strict=True)]
    pvalue = np.array([nan if test is None else test.pvalue for test in tests])
    return Measures.of(
        s,
        comparisons,
        score=mine,
        reference=theirs,
        reason=reasons,
        gap=mine - theirs,
        difference=mine - theirs,
        pvalue=pvalue,
        method=[None if isnan(p) else cast("Any", test).method for p, test in zip(pvalue, tests, strict=True)],
        error=np.array([_error(test) for test in tests]),
        asks="drawn alike",
    )


def _error(test: Any) -> float:
    found = None if test is None else test.error
    return nan if found is None or found == 0 else float(found)


def _why_not(s: Summary, who: Comparison, test: Any) -> str | None:
    reason = s.reason(who.own)
    if reason is None and not who.is_reference and who.against.n == 0:
        return "the reference has no cases"
    return test.reason if reason is None and test is not None else reason
