"""The paper's approximations of tails, corrected: normal for shares and contrasts, beta for ratios.

They are for comparison only: the exact sum costs no more, and their error is not known in advance.
"""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from ..arrays import Floats
from ..errors import InvalidInput
from ..metrics import Metric
from .cell_laws import (
    DirichletMultinomial,
    Law,
    Multinomial,
    MultivariateHypergeometric,
)
from .tails import Tails


def approximate_tails(
    method: str, metric: Metric, law: Law, cells: Floats, margin: float | None
) -> Tails:
    """Tails by the method ``"normal"`` or ``"beta"``; the latter depends on the ``margin``."""
    if method == "normal":
        return normal_tails(metric, law, cells)
    return beta_tails(metric, law, cells, margin)


def normal_tails(metric: Metric, law: Law, cells: Floats) -> Tails:
    """Tails of a normal with the exact mean and variance, and a continuity correction.

    For `approximate_tails`. See correction E7 of the paper, which standardises a sum by the mean
    and variance of one summand, and does not correct for continuity.
    """
    from scipy.special import ndtr

    key = metric.key
    if metric.comparisons or metric.base.linear is None:
        text = f"`method='normal'` is for shares and marginal benefit, not for {key}"
        raise InvalidInput(f"{text}; use `method='exact'`")
    weights = np.array(metric.base.linear)
    mean = float(weights @ law.rates)
    variance = float(law.rates @ (weights - mean) ** 2)
    sd = np.sqrt(law.n * variance * _variance_inflation(law))
    if sd == 0:
        text = f"{key} cannot vary under this null, so it has no normal approximation"
        raise InvalidInput(f"{text}; use `method='exact'`")
    # Scores lie on a grid. If every case counts as -1 or 1, and none as 0, its step is 2.
    step = float(np.diff(np.unique(weights[law.rates > 0]), append=np.inf).min())
    half_step = step / 2 if isfinite(step) else 0.5
    deviation = float(weights @ cells) - law.n * mean
    low, high = deviation - half_step, deviation + half_step
    below, up_to, above = ndtr(np.array([low, high, -high]) / sd).tolist()
    return Tails(below, up_to - below, above, 1.0, nan)


def beta_tails(metric: Metric, law: Law, cells: Floats, margin: float | None) -> Tails:
    """Tails of a beta distribution with the expected counts as parameters.

    ``margin`` is the size of the ratio's denominator if the test conditions on it, else None. See
    correction E10 of the paper, which uses the observed counts, and so ignores the reference. Of
    the alternatives this one is the least inaccurate. A beta has no atoms, so that both tails add
    up to 1.
    """
    from scipy.special import betainc

    key, base = metric.key, metric.base
    if metric.comparisons or not base.is_rate or base.linear is not None:
        text = f"`method='beta'` is for ratios of two parts, not for {key}"
        raise InvalidInput(f"{text}; use `method='exact'`")
    if not isinstance(law, Multinomial):
        text = "`method='beta'` takes the reference's rates as known"
        raise InvalidInput(f"{text}; use `null='known'`, or `method='exact'`")
    whole, _, part = metric.tree.counts(law.rates)
    size = law.n if margin is None else margin / whole
    a, b = size * part, size * (whole - part)
    if a == 0 or b == 0:
        text = f"the reference's {key} is 0 or 1, so it has no beta approximation"
        raise InvalidInput(f"{text}; use `method='exact'`")
    score = float(metric.scores(cells))
    below, above = betainc([a, b], [b, a], [score, 1 - score]).tolist()
    return Tails(below, 0.0, above, 1.0, nan)


def _variance_inflation(law: Law) -> float:
    """The variance of a cell, relative to that under the multinomial law, for `normal_tails`.

    Below 1 without replacement, above 1 if the rates are random.
    """
    total = sum(law.weights)
    if isinstance(law, MultivariateHypergeometric):
        return (total - law.n) / max(total - 1, 1)
    if isinstance(law, DirichletMultinomial):
        return (total + law.n) / (total + 1)
    return 1.0
