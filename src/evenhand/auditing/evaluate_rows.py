"""Scores that are tested one comparison after the other, mostly by random draws.

Ranking scores and functions need every case, and are tested by permutation. Averages over classes are
tested by MATCH: whether group and reference come from one distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from math import nan
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Floats, Integers, choose
from ..confusion import MulticlassConfusion
from ..data import RowTable
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

Columns = dict[str, Any]
#: The score of some cases.
Score = Callable[[Bools], RankingScore]
#: The test of the group's cases among those compared, and the score and ends that go with it.
Compare = Callable[[Bools, Bools, np.random.Generator], tuple[Any, dict[str, float]]]

# Values of all permuted rows together, for a function that may take as long as it likes.
_MAX_PERMUTED = 5 * 10**8
_NO_REFERENCE = "the reference has no cases"
_NUMBERS = ("score", "low", "high", "reference_score", "gap_low", "gap_high", "pvalue", "p_error")


class _Tests:
    """The columns of a metric, which are filled one comparison after the other."""

    def __init__(self, comparisons: Comparisons) -> None:
        n = len(comparisons)
        self.columns: Columns = {name: np.full(n, nan) for name in _NUMBERS}
        self.columns |= {name: np.full(n, None, dtype=object) for name in ("reason", "method")}
        self.comparisons = comparisons

    def fill(self, row: int, **values: Any) -> None:
        """Write the values of a comparison."""
        for name, value in values.items():
            self.columns[name][row] = value

    def mirror(self, row: int, first: int) -> None:
        """The test of the other of two groups that are each other's rest."""
        columns = self.columns
        subjects = ("the group", "the reference")
        if reason := columns["reason"][first]:
            own, other = subjects[:: -1 if reason.startswith(subjects[1]) else 1]
            reason = other + reason.removeprefix(own)
        same = {name: columns[name][first] for name in ("pvalue", "p_error", "method")}
        ends = {"gap_low": -columns["gap_high"][first], "gap_high": -columns["gap_low"][first]}
        self.fill(row, reason=reason, reference_score=columns["score"][first], **same | ends)

    def finish(self, question: str, level: float) -> Columns:
        """All columns, with intervals at other levels as wide as those of a normal distribution."""
        columns = self.columns
        gap = columns["score"] - columns["reference_score"]
        columns["pvalue"][self.comparisons.is_chosen] = nan
        columns["method"][np.isnan(columns["pvalue"])] = None

        def bound_gaps(rows: Integers, other: float) -> tuple[Floats, Floats]:
            from scipy.special import ndtri

            wider = ndtri((1 + other) / 2) / ndtri((1 + level) / 2)
            low, high = (gap[rows] - columns[name][rows] for name in ("gap_low", "gap_high"))
            return gap[rows] - low * wider, gap[rows] - high * wider

        direction = choose(gap > 0, "higher", "lower")
        beside = {"direction": direction, "question": question, "bound_gaps": bound_gaps}
        return columns | beside | {"gap": gap}


# Averages over classes


def evaluate_classes(
    averages: Sequence[ClassAverage], comparisons: Comparisons, settings: Settings
) -> Iterator[Columns]:
    """The columns of each average; all averages of a group are tested on the same draws."""
    sides = [side.astype(np.int64) for side in comparisons.split(comparisons.values)]
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    tests = [_Tests(comparisons) for _ in averages]
    n = len(comparisons)
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"testing averages of {several(n, 'group')}"):
        group, other = (MulticlassConfusion(side[row], comparisons.tally.classes) for side in sides)
        is_reference = comparisons.is_reference[row]
        lacks = None if is_reference or other.n else _NO_REFERENCE
        for average, test in zip(averages, tests, strict=True):
            reference_score = nan if is_reference else float(average.scores(other.counts))
            scores = {"score": float(average.scores(group.counts))}
            scores |= {"reference_score": reference_score}
            test.fill(row, **scores, reason=average.why_undefined(group) or lacks)
        if comparisons.is_testable[row]:
            results = match_many(group, other, averages, MatchSettings(rng=rng, draws=draws))
            for test, result in zip(tests, results, strict=True):
                reason = test.columns["reason"][row] or result.reason
                error = result.error if result.draws else None
                test.fill(row, pvalue=result.pvalue, p_error=error, reason=reason)
                test.fill(row, method=result.method)
    for test in tests:
        yield test.finish("same distribution", settings.confidence_level)


# Ranking scores and functions


def evaluate_rows(
    metric: RankingMetric | Function, comparisons: Comparisons, settings: Settings
) -> Columns:
    """The columns of a ranking score or a function; two groups are permuted once."""
    rows, n = comparisons.tally.rows, len(comparisons)
    assert rows is not None
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    if isinstance(metric, RankingMetric):
        question = "equal scores"
        score, compare = _rank(metric, rows, settings.confidence_level, draws)
    else:
        question = "same distribution"
        _check_permutations(metric, comparisons, draws)
        score, compare = _call(metric, rows, draws)
    tests = _Tests(comparisons)
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"permuting {metric.key}"):
        group, reference = comparisons.masks(row, rows.key)
        own, low, high, lack = score(group)
        tests.fill(row, score=own, low=low, high=high)
        first = comparisons.mirror[row]
        if not comparisons.is_testable[row]:
            is_compared = not comparisons.is_reference[row] and group.any()
            reason = f"the group has {lack}" if lack else _NO_REFERENCE if is_compared else None
            tests.fill(row, reason=reason)
        elif first < row:
            tests.mirror(row, first)
        else:
            result, values = compare(group, group | reference, rng)
            tests.fill(row, pvalue=result.pvalue, p_error=result.error, reason=result.reason)
            tests.fill(row, method=result.method, **values)
    return tests.finish(question, settings.confidence_level)


def _rank(metric: RankingMetric, rows: RowTable, level: float, draws: int) -> tuple[Score, Compare]:
    """How AUC, Brier score or log loss are computed and tested; losses take probabilities."""
    positive, scores = rows.columns["positive"], rows.columns["y_score"]
    outside = scores[(scores < 0) | (scores > 1)]
    if metric.better == "lower" and len(outside):
        must = "contain probabilities from 0 to 1 for brier and log_loss"
        hint = "use `metrics='auc'` for other scores"
        raise InvalidInput(f"`y_score` must {must}; got {outside[0]:g}: {hint}")

    def compare(group: Bools, among: Bools, rng: np.random.Generator) -> Any:
        sides = group[among], positive[among], scores[among]
        gap = ranking_gap(metric.key, *sides, confidence_level=level, draws=draws, rng=rng)
        ends = {"gap_low": gap.low, "gap_high": gap.high}
        return gap, {"reference_score": gap.reference.score} | ends

    return lambda cases: ranking_score(metric.key, positive[cases], scores[cases], level), compare


def _call(metric: Function, rows: RowTable, draws: int) -> tuple[Score, Compare]:
    """How a user's function is computed and tested: whether the group is drawn like the reference."""
    function: Any = metric.function
    labels, second = rows.columns["y_true"], _second_argument(function, rows)

    def score(cases: Bools) -> RankingScore:
        value, reason = function_score(function, labels[cases], second[cases])
        return RankingScore(value, nan, nan, reason and f"no value: {reason}")

    def compare(group: Bools, among: Bools, rng: np.random.Generator) -> Any:
        sides = labels[among], second[among]
        gap = function_gap(function, group[among], *sides, draws=draws, rng=rng)
        return gap, {"reference_score": gap.reference_score}

    return score, compare


def _second_argument(function: Any, rows: RowTable) -> Array:
    """What a function takes beside labels: predictions unless it says scores, or has no other."""
    columns = [rows.columns[name] for name in ("y_pred", "y_score") if name in rows.columns]
    try:
        is_of_scores = list(signature(function).parameters)[1:2] == ["y_score"]
    except (TypeError, ValueError):
        is_of_scores = False
    return columns[-1 if is_of_scores else 0]


def _check_permutations(metric: Function, comparisons: Comparisons, draws: int) -> None:
    """Refuse a function that would be called on more rows than half a minute allows."""
    tested = np.unique(comparisons.mirror[comparisons.is_testable])
    values = sum(float(side[tested].sum()) for side in comparisons.sizes) * draws
    subject = f"permuting rows for {escaped(metric.key)} takes {{}} values"
    check_cost(int(values), _MAX_PERMUTED, subject, "audit fewer groups, or a sample of the rows")
