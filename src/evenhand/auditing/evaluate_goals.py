"""Goals: whether the score of each group, and of all cases together, is good enough.

A score of one rate, such as F1, reaches a goal if and only if the rate reaches the rate that has this
score. Given its n cases, the number X of successes is binomial, so that the test of x successes at the
goal's rate is exact: p = 2 min(P(X <= x), P(X >= x)), at most 1. Clopper and Pearson's interval has the
same tails, and excludes the goal if and only if p is below 1 - confidence level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Integers, choose
from ..confusion import CELLS
from ..distributions import binomial_cdf
from ..errors import InvalidInput
from ..inference import count_successes
from ..metrics import Metric, OneGroupMetric, metric as find_metric
from ..planning import required_n_of_goal
from .comparisons import NOBODY, Comparisons, compare_everybody
from .metric_selection import Function, lookup_metric
from .results_table import Evaluation
from .settings import WITHOUT_LABELS, ReferenceKind, Settings

AT_LEAST, AT_MOST = "at least", "at most"
#: The group of the rows of all cases, whose column has no name.
ALL_CASES = "all cases"
_SIGNS = {"higher": ">=", "lower": "<="}


class Goal(NamedTuple):
    """A score that is to be reached: at least, or at most, ``score``."""

    metric: OneGroupMetric
    is_least: bool
    score: float

    @property
    def text(self) -> str:
        """What a group is compared with."""
        return f"{AT_LEAST if self.is_least else AT_MOST} {self.score:g}"


# Requests


def select_goals(settings: Settings, labelled: bool) -> list[Goal]:
    """The goals asked for, if they can be tested exactly."""
    goals: dict[str, Goal] = {}
    for name, (given, score) in settings.goals.items():
        metric, what = _find_rate(name, labelled), f"goal[{name!r}]"
        sign = given or _SIGNS.get(metric.better, "")
        if not sign:
            must = "begin with >= or <=, since neither direction is better"
            raise InvalidInput(argument=what, must=must, got=score)
        if metric.key in goals:
            raise InvalidInput(f"`goal` names {metric.key} twice")
        goals[metric.key] = Goal(metric, sign == ">=", score)
    for name in ("sample_weight", "cluster", "protect"):
        if goals and getattr(settings, name, None) is not None:
            reason = "only whole numbers of independent cases have an exact test of a goal"
            raise InvalidInput(f"`goal` and `{name}` cannot be combined: {reason}")
    return list(goals.values())


def _find_rate(name: str, labelled: bool) -> OneGroupMetric:
    """The metric of a goal, which must be a function of one binomial rate between 0 and 1."""
    metric = lookup_metric(name)
    if isinstance(metric, Function):
        metric = find_metric(name)
    base = metric.base if isinstance(metric, Metric) and not metric.comparisons else None
    is_exact = base is not None and base.curve is not None and base.defined_by_denominator
    if base is None or not is_exact or (base.low, base.high) != (0, 1):
        reason = "only rates, shares and scores of one rate such as F1 have an exact test of a goal"
        raise InvalidInput(f"{metric.key} cannot have a `goal`: {reason}")
    if not labelled and base.key not in WITHOUT_LABELS:
        raise InvalidInput(f"{base.key} needs labels (`y_true`), and so does its goal")
    return base


# Evaluation


def evaluate_goals(
    comparisons: Sequence[Comparisons],
    goals: Sequence[Goal],
    reads: Callable[[Metric, Comparisons], bool],
    level: float,
) -> Iterator[Evaluation]:
    """The columns of goals: of all cases, and of each group, in each stratum and over all."""
    for part in comparisons:
        for goal in goals:
            if not part.is_pooled and reads(goal.metric, part):
                parts = [compare_everybody(part), part, *_pool_strata(part)]
                yield from (_evaluate(goal, some, level) for some in parts if len(some))


def _pool_strata(part: Comparisons) -> Iterator[Comparisons]:
    """The groups over all strata, if there are any."""
    if part.strata:
        where = np.stack([part.place, part.grouping, part.group])
        _, first = np.unique(where, axis=1, return_index=True)
        yield part.take(first, stratum=np.zeros_like(first), is_pooled=True)


def _evaluate(goal: Goal, part: Comparisons, level: float) -> Evaluation:
    """The columns of a goal for the groups of comparisons."""
    metric, cells = goal.metric, part.cells[0]
    successes, cases = count_successes(metric, cells)
    rate: Any = metric.curve.rate(goal.score) if metric.curve else np.nan
    lower = binomial_cdf(successes, cases, rate)
    upper = binomial_cdf(cases - successes, cases, 1 - rate, rate)
    is_defined, scores = cases > 0, metric.scores(cells)
    low, high = _clopper_pearson(metric, successes, cases, level)
    reasons = np.full(len(part), None, dtype=object)
    for row in np.flatnonzero(~is_defined):
        reasons[row] = metric.why_undefined(cells[row])
    columns: dict[str, Any] = {
        **{"question": _texts(part, "goal"), "support": cases.astype(np.int64)},
        **{"score": scores, "low": low, "high": high},
        **{"reference_score": np.full(len(part), goal.score), "gap": scores - goal.score},
        **{"gap_low": low - goal.score, "gap_high": high - goal.score},
        "pvalue": np.where(is_defined, np.minimum(1.0, 2 * np.minimum(lower, upper)), np.nan),
        "method": choose(is_defined, "binomial", None),
        "direction": choose(is_defined, np.where(upper < lower, "higher", "lower"), None),
        "reason": reasons,
        "search_n": partial(_search_n, goal),
    }
    if not part.groupings[0].columns:
        columns["group"] = _texts(part, ALL_CASES)
    if part.source == "counts" and part.tally.labelled:
        columns |= dict(zip(CELLS, cells.T, strict=True))
    compared = part.take(
        ...,
        source="goals",
        reference=np.full(len(part), NOBODY),
        reference_name=_texts(part, goal.text),
        reference_kind=_texts(part, ReferenceKind.GOAL.value),
        is_chosen=np.zeros(len(part), dtype=bool),
        given_cells=np.zeros((len(part), 4)),
    )
    return Evaluation([(metric, compared)], columns)


def _texts(part: Comparisons, text: str) -> Any:
    return np.full(len(part), text, dtype=object)


def _clopper_pearson(
    metric: OneGroupMetric, successes: Floats, cases: Floats, level: float
) -> tuple[Floats, Floats]:
    """Clopper and Pearson's intervals of scores of one rate; nan without cases."""
    from scipy.special import betaincinv

    tail, failures = (1 - level) / 2, cases - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    ends = np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)
    score: Any = metric.curve.score if metric.curve else None
    low, high = np.where(cases > 0, score(np.stack(ends)), np.nan)
    return low, high


def _search_n(goal: Goal, rows: Integers, levels: Floats, margin: float) -> Floats:
    """The cases that show a score a margin better than the goal, at levels by row."""
    better = np.clip(goal.score + (margin if goal.is_least else -margin), 0.0, 1.0)
    curve: Any = goal.metric.curve
    rate, truth = (float(curve.rate(score)) for score in (goal.score, better))
    distinct = set(levels[rows].tolist())
    sizes = {level: required_n_of_goal(rate, truth, level) for level in distinct}
    return np.array([sizes[level] for level in levels[rows].tolist()])
