"""The paper's approximations, corrected: a normal for shares and marginal benefit, a beta for ratios.

They are for comparison only. The exact sum costs no more, and the error of an approximation is not known in advance.
"""

from __future__ import annotations

from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..metrics import Metric
from .engine import Tails
from .families import DirichletMultinomial, Law, MultivariateHypergeometric

__all__ = ["beta_tails", "normal_tails", "spread_of"]


def normal_tails(m: Metric, law: Law, cells: NDArray[np.float64]) -> Tails:
    """Tails of a normal with the exact mean and variance, with a continuity correction of half a step.

    E7: the paper standardises a sum with the mean and variance of one summand, and drops the correction.
    """
    from scipy.special import ndtr

    if m.comparisons or m.base.linear is None:
        raise InvalidInput(
            f"`method='normal'` is for shares and marginal benefit, not for {m.key}; use `method='exact'`"
        )
    n, rates, weights = law.n, law.rates, np.array(m.base.linear)
    value, mean = float(weights @ cells), float(weights @ rates)
    variance, spread = float(rates @ (weights - mean) ** 2), spread_of(law)
    # Scores lie on a grid. If every case counts as -1 or 1, with none that counts as 0, its step is 2.
    step = float(np.diff(np.unique(weights[rates > 0]), append=np.inf).min())
    step = step if isfinite(step) else 1.0
    sd = np.sqrt(n * variance * spread)
    if sd == 0:
        raise InvalidInput(
            f"{m.key} cannot vary under this null, so it has no normal approximation; use `method='exact'`"
        )
    up_to = float(ndtr((value + step / 2 - n * mean) / sd))
    below = float(ndtr((value - step / 2 - n * mean) / sd))
    above = float(ndtr(-(value + step / 2 - n * mean) / sd))
    return Tails(below, up_to - below, above, 1.0, nan)


def beta_tails(m: Metric, law: Law, cells: NDArray[np.float64], margin: float | None) -> Tails:
    """Tails of a beta distribution with the expected counts as parameters.

    E10: the paper's version uses the observed counts, and so ignores the reference. Of the alternatives this one, with
    nothing added to the counts, is the least inaccurate. A beta has no atoms, so both tails add up to 1.
    """
    from scipy.special import betainc

    if m.comparisons or not m.base.is_rate or m.base.linear is not None:
        raise InvalidInput(f"`method='beta'` is for ratios of two parts, not for {m.key}; use `method='exact'`")
    rates = law.rates
    whole, _, part = m.tree.counts(rates)
    size = law.n if margin is None else margin / whole
    a, b = size * part, size * (whole - part)
    if a == 0 or b == 0:
        raise InvalidInput(f"the reference's {m.key} is 0 or 1, so it has no beta approximation; use `method='exact'`")
    score = float(m.scores(cells))
    return Tails(float(betainc(a, b, score)), 0.0, float(betainc(b, a, 1 - score)), 1.0, nan)


def spread_of(law: Law) -> float:
    """The variance of a cell, relative to that under the multinomial."""
    if isinstance(law, MultivariateHypergeometric):
        total = sum(law.totals)
        return (total - law.n) / max(total - 1, 1)
    if isinstance(law, DirichletMultinomial):
        total = sum(law.alpha)
        return (total + law.n) / (total + 1)
    return 1.0
