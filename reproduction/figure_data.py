"""The numbers behind the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from pandas import DataFrame, concat

import evenhand as eh

from .exact import Floats, cumulative
from .study import Study

CUMULATIVE = ("acc", "ppr", "mcc", "mcc_limit", "tpr")
DENSITIES = (*CUMULATIVE, "ppv", "f1", "pt", "te_part", "mb")
# FN/FP is unbounded; the figure shows it up to here.
LARGEST_SHOWN = 4.0
QUANTILES = {"p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9}


def compute_variability(study: Study) -> DataFrame:
    """Figure 1: exact quantiles of the predicted positive rate for each n, sampled with and without replacement."""
    rows = []
    levels = list(QUANTILES.values())
    groups = ("Multiracial", "White", "Pacific Islander")
    for group, replacement, n in product(groups, ("with", "without"), range(5, 50)):
        cm = study.folktables[group]
        if replacement == "with":
            distribution = eh.distribution("ppr", n, cm)
        else:
            distribution = eh.distribution("ppr", n, cm, law="without_replacement")
        quantiles = distribution.quantile(levels)
        rows.append((group, replacement, n, *quantiles, eh.metric("ppr")(cm)))
    return DataFrame(rows, columns=["group", "replacement", "n", *QUANTILES, "population"])


def compute_shifts(study: Study) -> DataFrame:
    """Figure 2: P(S ≤ s) on a grid of scores, under the two distributions that the paper equates (E22)."""
    curves = []
    points = list(product(("multinomial", "uniform"), sorted(DENSITIES), (5, 25, 100, 1000)))
    for law, metric, n in study.track(points, "distributions of figure 2"):
        scores, probabilities = shift_curve(law, metric, n)
        curve = {"law": law, "metric": metric, "n": n, "score": scores, "probability": probabilities}
        curves.append(DataFrame(curve))
    return concat(curves)


def shift_curve(law: str, metric: str, n: int) -> tuple[Floats, Floats]:
    """Scores and P(S ≤ s), for four cells of probability 1/4 or equally likely configurations."""
    rates = None if law == "uniform" else [0.25, 0.25, 0.25, 0.25]
    distribution = eh.distribution(metric, n, rates)
    low, high = eh.metric(metric).range
    high = min(high, LARGEST_SHOWN)
    if n <= 100:
        scores = np.linspace(low, high, 151)
        return scores, cumulative(distribution, scores)
    # Curves of a thousand cases are smooth, and each of their points is expensive, most of all in the tails.
    if law == "multinomial":
        mean, reach = distribution.mean, 5 * distribution.std
        low, high = max(low, mean - reach), min(high, mean + reach)
    scores = np.linspace(low, high, 11 if metric in ("mcc", "mcc_limit", "pt") else 21)
    return scores, np.asarray(distribution.cdf(scores))


def compute_errors(study: Study, metrics: Sequence[str], estimators: Sequence[str], by_group: bool = True) -> DataFrame:
    """Figures 3 to 7: mean squared errors over n, averaged over the groups and for each group."""
    curves = []
    for metric, estimator in product(metrics, estimators):
        errors = {"average": study.average(metric, estimator)}
        if by_group:
            errors |= dict(zip(study.groups, study.curves(metric, estimator), strict=True))
        for group, mse in errors.items():
            curve = {"group": group, "metric": metric, "estimator": estimator, "n": study.sizes, "mse": mse}
            curves.append(DataFrame(curve))
    return concat(curves)
