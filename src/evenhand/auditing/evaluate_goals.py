"""Goals: whether the score of each group, and of all cases together, is good enough.

A score of one rate, such as F1, reaches a goal if and only if the rate reaches the rate that has this
score. Given its n cases, the number X of successes is binomial, so that the test of x successes at the
goal's rate is exact: p = 2 min(P(X <= x), P(X >= x)), at most 1. Clopper and Pearson's interval has the
same tails, and excludes the goal if and only if p is below 1 - confidence level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Integers, choose
from ..confusion import CELLS
from ..distributions import binomial_cdf
from ..errors import InvalidInput
from ..inference import count_successes, score_intervals
from ..metrics import Metric
from ..planning import required_n_of_goal
from .comparisons import NOBODY, Comparisons, compare_everybody
from .metric_selection import select_metrics
from .results_table import Evaluation
from .settings import ReferenceKind, Settings, parse_goals

AT_LEAST = "at least"
#: The group of the rows of all cases, whose column has no name.
ALL_CASES = "all cases"
_LACKING = "only rates, shares and scores of one rate such as F1 have an exact test of a goal"
_APPROXIMATE = "only whole numbers of independent cases have an exact test of a goal"


class Goal(NamedTuple):
    """A score of a metric of one rate that is to be reached, from below or from above."""

    metric: Any
    is_least: bool
    score: float


def select_goals(settings: Settings, labelled: bool) -> list[Goal]:
    """The goals asked for, if they can be tested exactly."""
    goals: dict[str, Goal] = {}
    for name, (sign, score) in parse_goals(settings.goal).items():
        (found,) = select_metrics(replace(settings, metrics=name), labelled, classes=True)
        metric: Any = found if isinstance(found, Metric) and not found.comparisons else None
        # Functions of one binomial rate, between 0 and 1.
        is_exact = metric and metric.curve and metric.defined_by_denominator and metric.high == 1
        if not is_exact:
            raise InvalidInput(f"{found.key} cannot have a `goal`: {_LACKING}")
        if not sign and metric.better not in ("higher", "lower"):
            must = "begin with >= or <=, since neither direction is better"
            raise InvalidInput(argument=f"goal[{name!r}]", must=must, got=score)
        if metric.key in goals:
            raise InvalidInput(f"`goal` names {metric.key} twice")
        goals[metric.key] = Goal(metric, (sign or metric.better) in (">=", "higher"), score)
    for name in ("sample_weight", "cluster", "protect") if goals else ():
        if getattr(settings, name, None) is not None:
            raise InvalidInput(f"`goal` and `{name}` cannot be combined: {_APPROXIMATE}")
    return list(goals.values())


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
        yield part.take(first, stratum=first * 0, is_pooled=True)


def _evaluate(goal: Goal, part: Comparisons, level: float) -> Evaluation:
    """The columns of a goal for the groups of comparisons."""
    metric, score, cells = goal.metric, goal.score, part.cells[0]
    successes, cases = count_successes(metric, cells)
    rate, is_defined, scores = metric.curve.rate(score), cases > 0, metric.scores(cells)
    lower = binomial_cdf(successes, cases, rate)
    upper = binomial_cdf(cases - successes, cases, 1 - rate, rate)
    pvalue = np.minimum(1.0, 2 * np.minimum(lower, upper))
    # Without mid-p, intervals are Clopper and Pearson's.
    ends = score_intervals(metric, cells, level, whole=False)
    low, high = np.where(is_defined, ends, np.nan)
    columns: dict[str, Any] = {
        **{"question": "goal", "support": cases, "score": scores, "low": low, "high": high},
        "reference": f"{AT_LEAST if goal.is_least else 'at most'} {score:.15g}",
        **{"reference_n": 0, "reference_score": score, "gap": scores - score},
        **{"gap_low": low - score, "gap_high": high - score},
        **{"pvalue": np.where(is_defined, pvalue, np.nan)},
        "method": choose(is_defined, "binomial", None),
        "direction": choose(is_defined, np.where(upper < lower, "higher", "lower"), None),
        "reason": np.array([metric.why_undefined(one) for one in cells], dtype=object),
        "search_n": partial(_search_n, goal),
    }
    if not part.groupings[0].columns:
        columns["group"] = ALL_CASES
    if part.source == "counts" and part.tally.labelled:
        columns |= dict(zip(CELLS, cells.T, strict=True))
    full = partial(np.full, len(part))
    kind = full(ReferenceKind.GOAL.value, dtype=object)
    fields = {"reference": full(NOBODY), "reference_kind": kind, "is_chosen": full(False)}
    return Evaluation([(metric, part.take(..., source="goals", **fields))], columns)


def _search_n(goal: Goal, rows: Integers, levels: Floats, margin: float) -> Floats:
    """The cases that show a score a margin better than the goal, at levels by row."""
    better = np.clip(goal.score + (margin if goal.is_least else -margin), 0.0, 1.0)
    rate, truth = map(float, map(goal.metric.curve.rate, (goal.score, better)))
    return np.array([required_n_of_goal(rate, truth, level) for level in levels[rows].tolist()])
