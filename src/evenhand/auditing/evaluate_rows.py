"""Scores that need every case: ranking scores and functions, compared by permutation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..errors import InvalidInput, check_cost, escaped
from ..inference import RankingScore, function_gap, function_score, ranking_gap, ranking_score
from ..metrics import RankingMetric
from ..progress import progress
from ..randomness import streams
from .comparisons import Comparisons
from .evaluate_counts import reference_columns
from .metric_selection import Function
from .settings import Settings

# Values of all permuted rows together, for a function that may take as long as it likes.
_MAX_PERMUTED = 5 * 10**8


class _Test(NamedTuple):
    """The score of a reference, the interval of the gap to it, and the test of the gap."""

    reference: float
    low: float
    high: float
    pvalue: float
    method: str
    error: float | None
    reason: str | None


def evaluate_rows(metric: RankingMetric | Function, comparisons: Comparisons, settings: Settings) -> dict[str, Any]:
    """The columns of a ranking score or a function; two groups are permuted once."""
    rows, n = comparisons.tally.rows, len(comparisons)
    assert rows is not None
    is_function = isinstance(metric, Function)
    scorer: Any = _FunctionScorer if is_function else _RankingScorer
    draws = settings.draws_for(int(comparisons.is_testable.sum()))
    score = scorer(metric, rows.columns, settings, draws)
    score.check(comparisons)
    names = ("score", "low", "high", "reference_score", "gap_low", "gap_high", "pvalue", "p_error")
    columns: dict[str, Any] = {name: np.full(n, nan) for name in names}
    columns |= {name: np.full(n, None, dtype=object) for name in ("reason", "method")}
    columns["question"] = "same distribution" if is_function else "equal scores"
    tests: dict[int, _Test] = {}
    work = list(zip(range(n), streams(settings.rng, n), strict=True))
    for row, rng in progress(work, f"permuting {metric.key}"):
        group, reference = comparisons.masks(row, rows.key)
        own = score.alone(group)
        reason = own.reason and f"the group has {own.reason}"
        columns["score"][row], columns["low"][row], columns["high"][row] = own[:3]
        if comparisons.is_testable[row]:
            first = tests.get(int(comparisons.mirror[row]))
            test = score.compare(group, reference, rng) if first is None else _mirror(first, score.alone(reference))
            tests.setdefault(int(comparisons.mirror[row]), test)
            reason = test.reason
            columns["method"][row] = None if reason else test.method
            values = (test.reference, test.low, test.high, test.pvalue, nan if test.error is None else test.error)
            for name, value in zip(names[3:], values, strict=True):
                columns[name][row] = value
        elif not comparisons.is_reference[row] and group.any():
            reason = reason or "the reference has no cases"
        columns["reason"][row] = reason
    columns["gap"] = columns["score"] - columns["reference_score"]
    columns["direction"] = np.where(columns["gap"] > 0, "higher", "lower").astype(object)
    for name, empty in (("pvalue", nan), ("method", None)):
        columns[name][comparisons.is_chosen] = empty
    columns["bound_gaps"] = bound_by_normal(columns, settings)
    return columns | reference_columns(metric, comparisons)


def bound_by_normal(columns: Mapping[str, Any], settings: Settings) -> Callable[..., tuple[Floats, Floats]]:
    """Intervals of gaps at other levels, as wide as those of a normal distribution would be."""

    def bound_gaps(rows: Integers, level: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        gap, low, high = (columns[name][rows] for name in ("gap", "gap_low", "gap_high"))
        wider = ndtri((1 + level) / 2) / ndtri((1 + settings.confidence_level) / 2)
        return gap - (gap - low) * wider, gap + (high - gap) * wider

    return bound_gaps


class _RankingScorer:
    """AUC, Brier score or log loss, tested by permutation."""

    def __init__(self, metric: RankingMetric, columns: Mapping[str, Any], settings: Settings, draws: int) -> None:
        self.metric, self.level, self.draws = metric, settings.confidence_level, draws
        self.positive, self.scores = columns["positive"], columns["y_score"]

    def check(self, comparisons: Comparisons) -> None:
        """Refuse losses of scores that are not probabilities."""
        outside = self.scores[(self.scores < 0) | (self.scores > 1)]
        if self.metric.better == "lower" and len(outside):
            must = "contain probabilities from 0 to 1 for brier and log_loss"
            hint = "use `metrics='auc'` for other scores"
            raise InvalidInput(f"`y_score` must {must}; got {outside[0]:g}: {hint}")

    def alone(self, rows: Bools) -> RankingScore:
        """The score of some rows."""
        return ranking_score(self.metric.key, self.positive[rows], self.scores[rows], self.level)

    def compare(self, group: Bools, reference: Bools, rng: np.random.Generator) -> _Test:
        """The test of a group against its reference."""
        among = group | reference
        found = ranking_gap(
            self.metric.key, group[among], self.positive[among], self.scores[among],
            confidence_level=self.level, draws=self.draws, rng=rng,
        )  # fmt: skip
        ends = (found.reference.score, found.low, found.high)
        return _Test(*ends, found.pvalue, found.method, found.error, found.reason)


class _FunctionScorer:
    """A user's function, tested by permutation: whether group and reference are drawn alike."""

    def __init__(self, metric: Function, columns: Mapping[str, Any], settings: Settings, draws: int) -> None:
        assert metric.function is not None
        self.metric, self.function, self.draws = metric, metric.function, draws
        self.labels = columns["y_true"]
        self.second = columns[_second_argument(metric.function, columns)]

    def check(self, comparisons: Comparisons) -> None:
        """Refuse a function that would be called on more rows than half a minute allows."""
        tested = np.unique(comparisons.mirror[comparisons.is_testable])
        values = sum(float(side[tested].sum()) for side in comparisons.sizes) * self.draws
        subject = f"permuting rows for {escaped(self.metric.key)} takes {{}} values"
        check_cost(int(values), _MAX_PERMUTED, subject, "audit fewer groups, or a sample of the rows")

    def alone(self, rows: Bools) -> RankingScore:
        """The value of the function for some rows."""
        score, reason = function_score(self.function, self.labels[rows], self.second[rows])
        return RankingScore(score, nan, nan, reason and f"no value: {reason}")

    def compare(self, group: Bools, reference: Bools, rng: np.random.Generator) -> _Test:
        """The test of a group against its reference."""
        among = group | reference
        columns = self.labels[among], self.second[among]
        found = function_gap(self.function, group[among], *columns, draws=self.draws, rng=rng)
        return _Test(found.reference_score, nan, nan, found.pvalue, found.method, found.error, found.reason)


def _second_argument(function: Any, columns: Mapping[str, Any]) -> str:
    """What a function takes beside labels: predictions unless it says scores, or there are none."""
    if "y_pred" not in columns or "y_score" not in columns:
        return "y_pred" if "y_pred" in columns else "y_score"
    try:
        names = list(signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return "y_score" if names[1:2] == ["y_score"] else "y_pred"


def _mirror(test: _Test, reference: RankingScore) -> _Test:
    """The test of the other of two groups."""
    reason = test.reason
    if reason is not None:
        subjects = ("the group", "the reference")
        first, other = subjects[::-1] if reason.startswith("the reference") else subjects
        reason = other + reason.removeprefix(first)
    return test._replace(reference=reference.score, low=-test.high, high=-test.low, reason=reason)
