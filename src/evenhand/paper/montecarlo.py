"""The paper's method, a million random groups per point, compared with the exact errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import evenhand as eh

from .study import ESTIMATORS, Study, estimators
from .table import Table

__all__ = ["Rng", "compare"]

Rng = int | np.random.Generator | None

_SIZES = (5, 10, 20, 50, 100, 149)
_ESTIMATORS = ("raw", "cps5")


class MonteCarloTask(NamedTuple):
    """One point to simulate, with its own random stream."""

    metric: str
    pair: tuple[eh.ConfusionMatrix, eh.ConfusionMatrix]
    estimator: str
    n: int
    draws: int
    rng: np.random.Generator


def compare(study: Study, metrics: Sequence[str], *, draws: int, rng: Rng) -> Table:
    """Simulated and exact mean squared errors for every group, with the standard error of the simulation."""
    points = [
        (group, metric, estimator, n)
        for group in study.groups
        for metric in metrics
        for estimator in _ESTIMATORS
        for n in _SIZES
    ]
    streams = np.random.default_rng(rng).spawn(len(points))
    tasks = [
        MonteCarloTask(metric, study.groups[group], estimator, n, draws, stream)
        for (group, metric, estimator, n), stream in zip(points, streams, strict=True)
    ]
    errors = study.workers.each(_simulate, tasks, "Monte Carlo points")
    columns = ("group", "metric", "estimator", "n", "exact_mse", "drawn_mse", "standard_error", "z")
    return Table(columns, [(*point, *error) for point, error in zip(points, errors, strict=True)])


def _simulate(task: MonteCarloTask) -> tuple[float, float, float, float]:
    truth, reference = task.pair
    estimator = estimators(reference)[ESTIMATORS.index(task.estimator)]
    exact = eh.risk(task.metric, truth, task.n, estimator, absolute=False).mse
    drawn = eh.risk(task.metric, truth, task.n, estimator, method="montecarlo", draws=task.draws, rng=task.rng)
    z = (drawn.mse - exact) / drawn.standard_error if drawn.standard_error else 0.0
    return exact, drawn.mse, drawn.standard_error, z
