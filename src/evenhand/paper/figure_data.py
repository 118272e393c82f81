"""The numbers behind the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from .study import Study
from .table import Table

__all__ = ["DENSITIES", "SHIFTED", "error_curves", "shift", "variability"]

Floats = NDArray[np.float64]

SHIFTED = ("acc", "ppr", "mcc", "mcc_limit", "tpr")
DENSITIES = ("ppv", "f1", "pt", "te_part", "mb")
_SHIFT_SIZES = (5, 25, 100, 1000)
_QUARTER = (0.25, 0.25, 0.25, 0.25)
_PROBABILITIES = (0.1, 0.25, 0.5, 0.75, 0.9)
# FN/FP is unbounded; the figure shows it up to here.
_RATIO_SHOWN = 4.0
# Curves for a thousand cases are smooth, and each of their points is more expensive.
_POINTS, _POINTS_OF_MANY, _POINTS_OF_MANY_PAIRS = 151, 21, 11


def variability(study: Study) -> Table:
    """Figure 1: exact quantiles of the predicted positive rate for each n, sampled with and without replacement."""
    rows = []
    for group in ("Multiracial", "White", "Pacific Islander"):
        cm = study.folktables[group]
        for label, law in (("with", "multinomial"), ("without", "without_replacement")):
            for n in range(5, 50):
                d = eh.distribution("ppr", n, cm, law=law)  # type: ignore[arg-type]
                rows.append((group, label, n, *map(float, d.quantile(_PROBABILITIES)), eh.metric("ppr")(cm)))
    return Table(("group", "replacement", "n", "p10", "p25", "median", "p75", "p90", "population"), rows)


class ShiftTask(NamedTuple):
    """One curve of Figure 2."""

    law: str
    metric: str
    n: int


def shift(study: Study) -> Table:
    """Figure 2: P(S ≤ s) on a grid of scores, under the two distributions that the paper equates (E22)."""
    tasks = [
        ShiftTask(law, metric, n)
        for n in reversed(_SHIFT_SIZES)
        for law in ("uniform", "multinomial")
        for metric in (*SHIFTED, *DENSITIES)
    ]
    curves = study.workers.each(_cumulative, tasks, "distributions of figure 2")
    rows = [
        (*task, float(s), float(p))
        for task, curve in sorted(zip(tasks, curves, strict=True), key=lambda pair: pair[0])
        for s, p in zip(*curve, strict=True)
    ]
    return Table(("law", "metric", "n", "score", "probability"), rows)


def _cumulative(task: ShiftTask) -> tuple[Floats, Floats]:
    m = eh.metric(task.metric)
    d = eh.distribution(m, task.n, None if task.law == "uniform" else _QUARTER)
    low, high = m.range
    high = min(high, _RATIO_SHOWN)
    if task.n <= 100:
        scores = np.linspace(low, high, _POINTS)
        reached = np.r_[0.0, np.cumsum(d.probabilities)]
        return scores, reached[np.searchsorted(d.support, scores + 1e-12, side="right")]
    if task.law == "multinomial":
        # Beyond five standard deviations there is nothing to see, and exact tails are expensive.
        low, high = max(low, d.mean - 5 * d.std), min(high, d.mean + 5 * d.std)
    scores = np.linspace(low, high, _POINTS_OF_MANY_PAIRS if m.shape == "pair" else _POINTS_OF_MANY)
    return scores, np.asarray(d.cdf(scores))


def error_curves(study: Study, metrics: Sequence[str], estimators: Sequence[str], by_group: bool = True) -> Table:
    """Figures 3 to 7: mean squared errors over n, averaged over the groups and for each group."""
    rows = [
        (group, metric, estimator, int(n), float(mse))
        for metric in metrics
        for estimator in estimators
        for group, curve in [
            ("average", study.average(metric, estimator)),
            *(zip(study.groups, study.curves(metric, estimator), strict=True) if by_group else ()),
        ]
        for n, mse in zip(study.sizes, curve, strict=True)
    ]
    return Table(("group", "metric", "estimator", "n", "mse"), rows)
