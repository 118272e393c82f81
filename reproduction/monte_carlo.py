"""The paper's method, random groups at every point, compared with the exact errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from pandas import DataFrame

import evenhand as eh

from .study import ESTIMATORS, Study, estimators


def compare_with_draws(study: Study, metrics: Sequence[str], draws: int, rng: int) -> DataFrame:
    """Simulated and exact mean squared errors for every group, with the standard error of the simulation."""
    sizes = (5, 10, 20, 50, 100, 149)
    points = list(product(study.groups, metrics, ("raw", "cps5"), sizes))
    # Each point has its own random stream.
    streams = iter(np.random.default_rng(rng).spawn(len(points)))
    rows = []
    for point in study.track(points, "Monte Carlo points"):
        group, metric, estimator, n = point
        truth, reference = study.groups[group]
        estimate = estimators(reference)[ESTIMATORS.index(estimator)]
        exact = eh.risk(metric, truth, n, estimate).mse
        drawn = eh.risk(metric, truth, n, estimate, method="montecarlo", draws=draws, rng=next(streams))
        error = drawn.standard_error
        z = (drawn.mse - exact) / error if error else 0.0
        rows.append((*point, exact, drawn.mse, error, z))
    columns = "group metric estimator n exact_mse drawn_mse standard_error z"
    return DataFrame(rows, columns=columns.split())
