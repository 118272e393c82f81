"""The paper's own way, a million random groups for each point, beside the exact error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import evenhand as eh

from .study import ESTIMATORS, Study, estimators
from .table import Table

__all__ = ["DRAWN_ESTIMATORS", "DRAWN_SIZES", "compare"]

DRAWN_SIZES = (5, 10, 20, 50, 100, 149)
DRAWN_ESTIMATORS = ("raw", "cps5")


class Draw(NamedTuple):
    """One point to draw, with a stream of random numbers of its own."""

    metric: str
    pair: tuple[eh.ConfusionMatrix, eh.ConfusionMatrix]
    estimator: str
    n: int
    draws: int
    seed: np.random.SeedSequence


def compare(study: Study, metrics: Sequence[str], *, draws: int, seed: int) -> Table:
    """Drawn and exact mean squared errors of each group, with the standard error of the drawn one."""
    keys = [
        (group, metric, estimator, n)
        for group in study.groups
        for metric in metrics
        for estimator in DRAWN_ESTIMATORS
        for n in DRAWN_SIZES
    ]
    streams = np.random.SeedSequence(seed).spawn(len(keys))
    tasks = [
        Draw(metric, study.groups[group], estimator, n, draws, stream)
        for (group, metric, estimator, n), stream in zip(keys, streams, strict=True)
    ]
    found = study.workers.each(_drawn, tasks, "random groups, point by point")
    columns = ("group", "metric", "estimator", "n", "exact_mse", "drawn_mse", "standard_error", "z")
    return Table(columns, [(*key, *result) for key, result in zip(keys, found, strict=True)])


def _drawn(task: Draw) -> tuple[float, float, float, float]:
    truth, reference = task.pair
    how = estimators(reference)[ESTIMATORS.index(task.estimator)]
    exact = eh.risk_curve(task.metric, truth, [task.n], how)[0].mse
    rng = np.random.default_rng(task.seed)
    drawn = eh.monte_carlo_risk(task.metric, truth, task.n, how, draws=task.draws, rng=rng)
    z = (drawn.mse - exact) / drawn.standard_error if drawn.standard_error else 0.0
    return exact, drawn.mse, drawn.standard_error, z
