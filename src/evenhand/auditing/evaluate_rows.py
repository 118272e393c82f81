"""Scores that are tested one comparison after the other, mostly by random draws.

Ranking scores and functions need every case, and are tested by permutation. Averages over classes are
tested by MATCH: whether group and reference come from one distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Integers, choose
from ..confusion import MulticlassConfusion
from ..errors import InvalidInput, check_cost, escaped
from ..inference import (
    MatchSettings,
    RankingScore,
    function_gap,
    function_score,
    match_many,
    ranking_gap,
    ranking_score,
)
from ..metrics import ClassAverage, RankingMetric
from ..progress import progress
from ..randomness import streams
from ..wording import several
from .comparisons import Comparisons
from .metric_selection import Function
from .settings import Settings

# Values of all permuted rows together, for a function that may take as long as it likes.
_MAX_PERMUTED = 5 * 10**8
_NO_REFERENCE = "the reference has no cases"


class TestedScore(NamedTuple):
    """The columns of one comparison."""

    score: float
    low: float = nan
    high: float = nan
    reason: str | None = None
    reference_score: float = nan
    gap_low: float = nan
    gap_high: float = nan
    pvalue: float = nan
    p_error: float | None = None
    method: str | None = None

    def add(self, result: Any, error: float | None, **ends: float) -> TestedScore:
        """The score with the result of a test."""
        reason = self.reason or result.reason
        test: dict[str, Any] = {"pvalue": result.pvalue, "p_error": error, "reason": reason}
        return self._replace(**test | ends, method=result.method)


def list_columns(
    metric: Any, comparisons: Comparisons, tests: Sequence[TestedScore], settings: Settings
) -> dict[str, Any]:
    """The columns of a metric, from those of all comparisons."""
    columns: dict[str, Any] = {
        name: np.array(values, dtype=object if name in ("reason", "method") else float)
        for name, values in zip(TestedScore._fields, zip(*tests, strict=True), strict=True)
    }
    gap = columns["score"] - columns["reference_score"]
    columns["gap"], columns["direction"] = gap, choose(gap > 0, "higher", "lower")
    columns["pvalue"][comparisons.is_chosen] = nan
    columns["method"][np.isnan(columns["pvalue"])] = None
    is_ranking = isinstance(metric, RankingMetric)
    columns["question"] = "equal scores" if is_ranking else "same distribution"
    columns["bound_gaps"] = bound_by_normal(columns, settings)
    return columns


def bound_by_normal(
    columns: Mapping[str, Any], settings: Settings
) -> Callable[[Integers, float], tuple[Floats, Floats]]:
    """Intervals of gaps at other levels, as wide as those of a normal distribution would be."""

    def bound_gaps(rows: Integers, level: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        gap, low, high = (columns[name][rows] for name in ("gap", "gap_low", "gap_high"))
        wider = ndtri((1 + level) / 2) / ndtri((1 + settings.confidence_level) / 2)
        return gap - (gap - low) * wider, gap + (high - gap) * wider

    return bound_gaps


# Averages over classes


def evaluate_classes(
    averages: Sequence[ClassAverage], comparisons: Comparisons, settings: Settings
) -> Iterator[dict[str, Any]]:
    """The columns of each average; all averages of a group are tested on the same draws."""
    sides = [side.astype(np.int64) for side in comparisons.split(comparisons.values)]
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    tests: list[list[TestedScore]] = [[] for _ in averages]
    n = len(comparisons)
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"testing averages of {several(n, 'group')}"):
        group, other = (MulticlassConfusion(side[row], comparisons.tally.classes) for side in sides)
        is_reference = comparisons.is_reference[row]
        results: Sequence[Any] = [None] * len(averages)
        if comparisons.is_testable[row]:
            results = match_many(group, other, averages, MatchSettings(rng=rng, draws=draws))
        for average, result, of_average in zip(averages, results, tests, strict=True):
            reason = average.why_undefined(group)
            if not (is_reference or other.n):
                reason = reason or _NO_REFERENCE
            scores = [float(average.scores(matrix.counts)) for matrix in (group, other)]
            test = TestedScore(scores[0], reason=reason)
            if not is_reference:
                test = test._replace(reference_score=scores[1])
            if result is not None:
                test = test.add(result, result.error if result.draws else None)
            of_average.append(test)
    for average, of_average in zip(averages, tests, strict=True):
        yield list_columns(average, comparisons, of_average, settings)


# Ranking scores and functions


def evaluate_rows(
    metric: RankingMetric | Function, comparisons: Comparisons, settings: Settings
) -> dict[str, Any]:
    """The columns of a ranking score or a function; two groups are permuted once."""
    rows, n = comparisons.tally.rows, len(comparisons)
    assert rows is not None
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    if isinstance(metric, RankingMetric):
        score, compare = _rank(metric, rows.columns, settings.confidence_level, draws)
    else:
        _check_permutations(metric, comparisons, draws)
        score, compare = _call(metric, rows.columns, draws)
    tests: list[TestedScore] = []
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"permuting {metric.key}"):
        group, reference = comparisons.masks(row, rows.key)
        own, low, high, lack = score(group)
        test, first = TestedScore(own, low, high), comparisons.mirror[row]
        if not comparisons.is_testable[row]:
            is_compared = not comparisons.is_reference[row] and group.any()
            reason = f"the group has {lack}" if lack else _NO_REFERENCE if is_compared else None
            test = test._replace(reason=reason)
        elif first < row:
            test = _mirror(tests[first], test)
        else:
            ends, result = compare(group, group | reference, rng)
            names = ("reference_score", "gap_low", "gap_high")
            test = test.add(result, result.error, **dict(zip(names, ends, strict=True)))
        tests.append(test)
    return list_columns(metric, comparisons, tests, settings)


def _mirror(test: TestedScore, other: TestedScore) -> TestedScore:
    """The test of the other of two groups."""
    reason = test.reason
    if reason is not None:
        subjects = ("the group", "the reference")
        first, second = subjects[:: -1 if reason.startswith(subjects[1]) else 1]
        reason = second + reason.removeprefix(first)
    ends = (test.score, -test.gap_high, -test.gap_low)
    return TestedScore(*other[:3], reason, *ends, *test[7:])


Score = Callable[[Bools], RankingScore]
# From the cases of the group, those compared, and a generator: the reference's score, the ends of the
# gap, and the result of the test.
Compare = Callable[[Bools, Bools, np.random.Generator], tuple[tuple[float, float, float], Any]]


def _rank(
    metric: RankingMetric, columns: Mapping[str, Any], level: float, draws: int
) -> tuple[Score, Compare]:
    """How AUC, Brier score or log loss are computed and tested; losses take probabilities."""
    positive, scores = columns["positive"], columns["y_score"]
    outside = scores[(scores < 0) | (scores > 1)]
    if metric.better == "lower" and len(outside):
        must = "contain probabilities from 0 to 1 for brier and log_loss"
        hint = "use `metrics='auc'` for other scores"
        raise InvalidInput(f"`y_score` must {must}; got {outside[0]:g}: {hint}")

    def compare(group: Bools, among: Bools, rng: np.random.Generator) -> Any:
        gap = ranking_gap(
            metric.key, group[among], positive[among], scores[among],
            confidence_level=level, draws=draws, rng=rng,
        )  # fmt: skip
        return (gap.reference.score, gap.low, gap.high), gap

    return lambda rows: ranking_score(metric.key, positive[rows], scores[rows], level), compare


def _call(metric: Function, columns: Mapping[str, Any], draws: int) -> tuple[Score, Compare]:
    """How a user's function is computed and tested: whether the group is drawn like the reference."""
    function: Any = metric.function
    labels, second = columns["y_true"], columns[_second_argument(function, columns)]

    def score(rows: Bools) -> RankingScore:
        value, reason = function_score(function, labels[rows], second[rows])
        return RankingScore(value, nan, nan, reason and f"no value: {reason}")

    def compare(group: Bools, among: Bools, rng: np.random.Generator) -> Any:
        sides = labels[among], second[among]
        gap = function_gap(function, group[among], *sides, draws=draws, rng=rng)
        return (gap.reference_score, nan, nan), gap

    return score, compare


def _check_permutations(metric: Function, comparisons: Comparisons, draws: int) -> None:
    """Refuse a function that would be called on more rows than half a minute allows."""
    tested = np.unique(comparisons.mirror[comparisons.is_testable])
    values = sum(float(side[tested].sum()) for side in comparisons.sizes) * draws
    subject = f"permuting rows for {escaped(metric.key)} takes {{}} values"
    check_cost(int(values), _MAX_PERMUTED, subject, "audit fewer groups, or a sample of the rows")


def _second_argument(function: Any, columns: Mapping[str, Any]) -> str:
    """What a function takes beside labels: predictions unless it says scores, or has no other."""
    if "y_pred" not in columns or "y_score" not in columns:
        return "y_pred" if "y_pred" in columns else "y_score"
    try:
        names = list(signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return "y_score" if names[1:2] == ["y_score"] else "y_pred"
