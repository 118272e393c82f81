"""The strength of a prior: learnt from all groups of a kind, or in closed form if the truth is known.

How far a group is from its reference is unknown, but all groups together show how much groups of
this kind usually differ. If their rates spread widely, the prior should be weak; if they agree,
strong. Base rates usually spread more than conditional rates, so that each split of the tree
(prevalence, TPR, FPR) has a strength of its own.

The model of a split: a group's count x of m cases is beta-binomial with the parameters h r and
h (1 - r), where r = (X + 1/2) / (M + 1) is the rate of the other groups, X of M, and h is the
strength, lognormal around 12 with σ = 1. The smoothed rate depends on h through the share
h / (m + h), so that not the mean of h is taken but 1 / E[1/h], its harmonic posterior mean, a sum over
a grid of strengths.

Limited translation (Efron and Morris): one group may differ from all others, and a strong prior
would hide it. Smoothing with strength h moves a count x of m cases by h |m r - x| / (m + h). It may
be moved by at most a = 3/4 + s/4 cases, where s is its standard error at the rate (x + 1) / (m + 2),
so that 0 of 3 cases are not taken as certain. Therefore h is at most m a / (|m r - x| - a).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from ..arrays import Floats
from ..confusion import CELLS, as_size
from ..errors import InvalidInput
from ..metrics import Metric, metric as find_metric
from ..records import Record
from .smoothing import (
    CAUTIOUS_STRENGTH,
    SPLITS,
    Groups,
    Rates,
    as_rates,
    check_amount,
    require_matrix,
    rests_of,
    split_counts,
)

# The lognormal prior of a strength, and the fewest groups to learn from.
_CENTRE, _SIGMA, _MIN_GROUPS = 12.0, 1.0, 5
# A count is moved by at most this many cases plus this many of its standard errors.
_CASES, _ERRORS = 0.75, 0.25
# Below this overall strength, smoothing may do more harm than good.
_MIN_OVERALL = 3.0


@dataclass(frozen=True, slots=True, repr=False)
class Spread(Record):
    """How much the rates of groups spread: the strength that the rest has as a prior of each group.

    Attributes
    ----------
    prev, tpr, fpr : float
        The strength per split: small if the rates of the groups differ widely.

    Examples
    --------
    >>> print(Spread(prev=4, tpr=10, fpr=20))
    groups spread like priors of strength prev 4, tpr 10, fpr 20
    """

    prev: float
    tpr: float
    fpr: float

    @property
    def overall(self) -> float:
        """The harmonic mean of the three strengths.

        Examples
        --------
        >>> Spread(prev=4, tpr=4, fpr=4).overall
        4.0
        """
        return 3 / (1 / self.prev + 1 / self.tpr + 1 / self.fpr)

    @property
    def too_much(self) -> bool:
        """Whether the groups spread so much that smoothing may do more harm than good.

        Examples
        --------
        >>> Spread(prev=4, tpr=4, fpr=4).too_much
        False
        """
        return self.overall < _MIN_OVERALL

    @property
    def widest(self) -> str:
        """The split whose rates spread most.

        Examples
        --------
        >>> Spread(prev=4, tpr=10, fpr=20).widest
        'prev'
        """
        return min(SPLITS, key=lambda split: getattr(self, split))

    def __str__(self) -> str:
        strengths = f"prev {self.prev:.2g}, tpr {self.tpr:.2g}, fpr {self.fpr:.2g}"
        return f"groups spread like priors of strength {strengths}"


def learn_spread(groups: Groups) -> Spread:
    """How much the rates of groups spread; a cautious 5 if there are fewer than five groups."""
    return Spread(*learn_split_strengths(_stack_cells(groups)).tolist())


def learn_split_strengths(cells: Floats) -> Floats:
    """One strength per split from the cells of groups; a cautious 5 if there are fewer than five."""
    too_few = len(cells) < _MIN_GROUPS
    return np.full(3, CAUTIOUS_STRENGTH) if too_few else estimate_strengths(cells)


def estimate_strengths(cells: Floats) -> Floats:
    """The harmonic posterior mean of the strength of each split, however few groups there are."""
    from scipy.special import betaln

    h = np.geomspace(0.25, 2000.0, 49)
    log_prior = -0.5 * (np.log(h / _CENTRE) / _SIGMA) ** 2
    strengths = []
    for parts, totals in np.stack(split_counts(cells)).T.swapaxes(1, 2):
        x, m = parts[totals > 0, None], totals[totals > 0, None]
        rate = (x.sum() - x + 0.5) / (m.sum() - m + 1)
        a, b = rate * h, (1 - rate) * h
        log_likelihood = (betaln(x + a, m - x + b) - betaln(a, b)).sum(axis=0)
        log_posterior = log_likelihood + log_prior
        weight = np.exp(log_posterior - log_posterior.max())
        strengths.append(weight.sum() / (weight / h).sum())
    return np.array(strengths)


def _stack_cells(groups: Groups) -> Floats:
    """The cells of all groups, one row each."""
    cells = [require_matrix(cm).cells for cm in groups.values()]
    return np.array(cells, dtype=np.float64).reshape(-1, 4)


def learn_strengths(groups: Groups) -> dict[str, dict[str, float]]:
    """Learn the strength of smoothing for each group from the spread of all groups.

    For each split, each group is predicted from the rest by a beta-binomial law with strength h,
    which has a lognormal prior around 12; the strength is the harmonic posterior mean of h. It is
    lowered for a group whose smoothed count would be more than 3/4 of a case plus 1/4 of a standard
    error away from its raw count.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        All groups of one kind.

    Returns
    -------
    dict of name to strengths
        One strength per split. With fewer than five groups it is 5 instead of a learnt one, lowered
        likewise.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> learnt = learn_strengths(compas())
    >>> {split: round(value, 1) for split, value in learnt["Other"].items()}
    {'prev': 14.4, 'tpr': 5.5, 'fpr': 6.5}

    The 32 Asian defendants have fewer actual positives than the rest, and a prior of 14 cases would
    move them too far:

    >>> {split: round(value, 1) for split, value in learnt["Asian"].items()}
    {'prev': 11.0, 'tpr': 5.5, 'fpr': 6.0}
    """
    references, cells = _stack_cells(rests_of(groups)), _stack_cells(groups)
    strengths = limit_strengths(learn_split_strengths(cells), cells, references)
    rows = zip(groups, strengths.tolist(), strict=True)
    return {name: dict(zip(SPLITS, row, strict=True)) for name, row in rows}


def limit_strengths(strengths: Floats, cells: Floats, reference_cells: Floats) -> Floats:
    """Lower the strengths (..., 3) that would move a count of a group (..., 4) too far."""
    (x, m), (reference_x, reference_m) = map(split_counts, (cells, reference_cells))
    rate = (x + 1) / (m + 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed = _CASES + _ERRORS * np.sqrt(m * rate * (1 - rate))
        # Without cases of the reference, the gap is nan, and nothing is limited.
        gap = np.abs(m * (reference_x / reference_m) - x)
        limit = np.where(gap > allowed, m * allowed / (gap - allowed), inf)
    return np.minimum(strengths, limit)


@dataclass(frozen=True, slots=True, repr=False)
class BiasVariance(Record):
    """The result of `bias_variance`.

    Attributes
    ----------
    bias, variance : float
        Exact bias and variance of the smoothed score.
    raw_mse : float
        The mean squared error without smoothing.

    Examples
    --------
    >>> print(bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10))
    bias +0.05, variance 0.006, mse 0.0085 (raw 0.024)
    """

    bias: float
    variance: float
    raw_mse: float

    @property
    def mse(self) -> float:
        """The mean squared error of the smoothed score.

        Examples
        --------
        >>> BiasVariance(bias=0.5, variance=0.25, raw_mse=1.0).mse
        0.5
        """
        return self.bias**2 + self.variance

    def __str__(self) -> str:
        moments = f"bias {self.bias:+.4g}, variance {self.variance:.4g}"
        return f"{moments}, mse {self.mse:.4g} (raw {self.raw_mse:.4g})"


def bias_variance(
    metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float
) -> BiasVariance:
    """Bias λ/(n+λ)·d and variance n·v/(n+λ)² of a smoothed linear score (the paper's Theorem 6.1).

    Parameters
    ----------
    metric : str or Metric
        A share, marginal benefit, or one of the cells "tp", "fn", "fp", "tn".
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior; d is the difference of their scores, v the variance of
        one case.
    n : int
        The number of cases in the group.
    strength : float
        The strength λ.

    Returns
    -------
    BiasVariance
        Bias and variance.

    Examples
    --------
    >>> b = bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10)
    >>> round(b.bias, 12), round(b.variance, 12), round(b.raw_mse, 12)
    (0.05, 0.006, 0.024)
    """
    d, v = _difference_and_variance(metric, truth, reference)
    size, weight = as_size(n), check_amount(strength)
    if size == 0:
        raise InvalidInput(argument="n", must="be at least 1")
    total = size + weight
    return BiasVariance(weight / total * d, size * v / total**2, v / size)


def optimal_strength(metric: str | Metric | None, truth: Rates, reference: Rates) -> float:
    """The strength λ* = v/d² with the smallest mean squared error, for every n (E15).

    Parameters
    ----------
    metric : str, Metric or None
        A metric that is linear in the cells, or a cell; None for all four cells together, with
        (1 - Σp²)/Σ(p'-p)².
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior.

    Returns
    -------
    float
        The optimal strength; infinite if the scores do not differ.

    Examples
    --------
    >>> round(optimal_strength("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3]), 12)
    24.0
    """
    # The squared error of all cells is the sum over the cells.
    metrics = CELLS if metric is None else (metric,)
    d, v = np.transpose([_difference_and_variance(m, truth, reference) for m in metrics])
    square, variance = float(d @ d), float(v.sum())
    # Rounding errors can cause a difference of this size.
    return variance / square if square > 1e-28 else inf


def _difference_and_variance(
    metric: str | Metric, truth: Rates, reference: Rates
) -> tuple[float, float]:
    """Reference minus truth, and the variance of one case, of a score that is linear in the cells."""
    linear: Any = dict(zip(CELLS, np.eye(4), strict=True)).get(str(metric))
    if linear is None:
        m = find_metric(metric)
        linear = None if m.comparisons else m.base.linear
        if linear is None:
            raise InvalidInput(f"{m.key} is not linear in the cells; use risk()")
    weights, rates, prior = np.array(linear), as_rates(truth), as_rates(reference)
    variance = rates @ (weights - weights @ rates) ** 2
    return float(weights @ (prior - rates)), float(variance)
