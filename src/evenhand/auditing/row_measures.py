"""Scores that need every case: ranking scores and functions, compared by permutation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from math import nan
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, escaped
from ..inference import RankingScore, function_gap, function_score, ranking_gap, ranking_score
from ..laws import check_cost
from ..metrics import RankingMetric
from ..progress import progress
from ..randomness import streams
from ..wording import several
from .asked import Function
from .comparisons import Comparison
from .measures import Measures
from .rows import Asks
from .settings import Settings

__all__ = ["measure_rows"]

# Values of all permuted rows together, for a function that may take as long as it likes.
_MOST_PERMUTED = 5 * 10**8


def measure_rows(metric: RankingMetric | Function, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """Everything that one metric says of comparisons of rows."""
    if isinstance(metric, RankingMetric):
        return _of_ranking(metric, comparisons, how)
    return _of_function(metric, comparisons, how)


def _of_ranking(metric: RankingMetric, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """AUC, Brier score or log loss, tested by permutation."""
    if metric.better == "lower" and comparisons:
        _check_probabilities(comparisons[0].own.table.columns["y_score"])

    def alone(part: Any) -> RankingScore:
        positive, scores = (part.table.columns[name][part.mask] for name in ("positive", "y_score"))
        return ranking_score(cast("Any", metric.key), positive, scores, how.level)

    def against(who: Comparison, rng: np.random.Generator) -> _Compared:
        among = who.own.mask | who.against.mask
        columns = who.own.table.columns
        parts = who.own.mask[among], columns["positive"][among], columns["y_score"][among]
        found = ranking_gap(cast("Any", metric.key), *parts, level=how.level, draws=how.draws, rng=rng)
        ends = found.reference.score, found.low, found.high
        return _Compared(*ends, found.pvalue, found.method, found.error, found.reason)

    return _of_rows(metric, comparisons, how, alone, against, "equal scores")


def _check_probabilities(scores: NDArray[np.float64]) -> None:
    """Losses compare scores with what came true."""
    outside = scores[(scores < 0) | (scores > 1)]
    if len(outside):
        raise InvalidInput(
            f"`y_score` must contain probabilities from 0 to 1 for brier and log_loss; got {outside[0]:g}: pass "
            "`metrics='auc'` for other scores"
        )


def _of_function(metric: Function, comparisons: Sequence[Comparison], how: Settings) -> Measures:
    """A function of the user's own, tested by permutation: whether the group is drawn like its reference."""
    function = metric.function
    assert function is not None

    def columns(part: Any, some: Any) -> tuple[Any, Any]:
        held = part.table.columns
        return held["y_true"][some], held[_second(function, held)][some]

    def alone(part: Any) -> RankingScore:
        score, reason = function_score(function, *columns(part, part.mask))
        return RankingScore(score, nan, nan, "none", reason and f"no value: {reason}")

    def against(who: Comparison, rng: np.random.Generator) -> _Compared:
        among = who.own.mask | who.against.mask
        found = function_gap(function, who.own.mask[among], *columns(who.own, among), draws=how.draws, rng=rng)
        return _Compared(found.reference_score, nan, nan, found.pvalue, found.method, found.error, found.reason)

    _check_draws(metric, comparisons, how.draws)
    return _of_rows(metric, comparisons, how, alone, against, "drawn alike")


def _check_draws(metric: Function, comparisons: Sequence[Comparison], draws: int) -> None:
    """Refuse a function that would be called on more rows than half a minute allows; two groups are permuted once."""
    tested = {(who.at, who.by, None if who.only_two else who.group): who for who in comparisons if who.testable}
    rows = int(sum(who.own.n + who.against.n for who in tested.values()))
    check_cost(
        rows * draws,
        _MOST_PERMUTED,
        f"permuting the rows of {several(len(tested), 'comparison')} for {escaped(metric.key)} with `draws={draws:,}` "
        "takes {} values",
        f"pass at most `draws={_MOST_PERMUTED // max(rows, 1):,}`, or a sample of the rows",
    )


def _second(function: Any, columns: Mapping[str, Any]) -> str:
    """What a function takes beside labels: predictions or, if there are none or it says so, scores."""
    if "y_pred" not in columns or "y_score" not in columns:
        return "y_pred" if "y_pred" in columns else "y_score"
    try:
        names = list(signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return "y_score" if names[1:2] == ["y_score"] else "y_pred"


class _Compared(NamedTuple):
    """A reference's score, the interval of the gap to it, and the test of the gap."""

    reference: float
    low: float
    high: float
    pvalue: float
    method: str
    error: float | None
    reason: str | None


def _of_rows(
    metric: Any,
    comparisons: Sequence[Comparison],
    how: Settings,
    alone: Callable[[Any], RankingScore],
    against: Callable[[Comparison, np.random.Generator], _Compared],
    asks: Asks,
) -> Measures:
    """What permuting rows says of each comparison.

    Two groups that are each other's rest are permuted once: the test of one is that of the other.
    """
    n = len(comparisons)
    found: dict[str, Any] = {name: np.full(n, nan) for name in _OF_ROWS}
    reasons: list[str | None] = [None] * n
    methods: list[str | None] = [None] * n
    tested: dict[tuple[Any, str], _Compared] = {}
    work = list(zip(range(n), comparisons, streams(how.rng, n), strict=True))
    for i, who, rng in progress(work, f"permuting {metric.key}"):
        own = alone(who.own)
        found["score"][i], found["low"][i], found["high"][i] = own.score, own.low, own.high
        reasons[i] = own.reason and f"the group has {own.reason}"
        if not who.testable:
            if not who.is_reference and who.own.n:
                reasons[i] = reasons[i] or "the reference has no cases"
            continue
        first = tested.get((who.at, who.by)) if who.only_two else None
        test = against(who, rng) if first is None else _mirrored(first, alone(who.against).score)
        tested.setdefault((who.at, who.by), test)
        reasons[i], methods[i] = test.reason, None if test.reason else test.method
        found["reference"][i], found["pvalue"][i] = test.reference, test.pvalue
        found["gap_low"][i], found["gap_high"][i] = test.low, test.high
        found["error"][i] = nan if test.error is None else test.error
    difference = found["score"] - found["reference"]
    return Measures.of(
        metric,
        comparisons,
        **found,
        gap=difference,
        difference=difference,
        reason=reasons,
        method=methods,
        higher=difference > 0,
        asks=asks,
    )


def _mirrored(test: _Compared, reference: float) -> _Compared:
    """The test of the other of two groups."""
    reason = test.reason
    if reason is not None:
        who, other = (
            ("the reference", "the group") if reason.startswith("the reference") else ("the group", "the reference")
        )
        reason = other + reason.removeprefix(who)
    return test._replace(reference=reference, low=-test.high, high=-test.low, reason=reason)


_OF_ROWS = ("score", "low", "high", "reference", "gap_low", "gap_high", "pvalue", "error")
