"""The strength of a prior: closed forms if the truth is known, and strengths learnt from all groups of a kind.

How far a group is from its reference is unknown, but all groups together show how much groups of this kind usually
differ. If their rates spread widely, the prior should be weak; if they agree, strong. Base rates usually spread more
than conditional rates, so each split of the tree has its own strength. One group may differ from all others, though,
and a strong prior would hide it. So a learnt strength is lowered where it would move a rate too far (Efron and Morris's
limited translation).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, as_size
from ..errors import InvalidInput
from ..metrics import Metric, metric as find_metric
from ..records import Record
from .smoothing import CAUTIOUS, SPLITS, Groups, Rates, _checked, check_groups, matrix_of, rates_of

__all__ = [
    "BiasVariance",
    "Spread",
    "bias_variance",
    "learn_spread",
    "learn_strengths",
    "limited_strengths",
    "optimal_strength",
    "spread_of",
]

Floats = NDArray[np.float64]

# The lognormal prior of the strength, around 12, and the smallest number of groups that is worth learning from.
_CENTRE, _SIGMA, FEWEST_GROUPS = 12.0, 1.0, 5
# No count is moved by more than this many cases and this many of its standard errors.
_CASES, _ERRORS = 0.75, 0.25
# If the harmonic mean over the splits is smaller than this, smoothing may do more harm than good.
SPREADS_TOO_MUCH = 3.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spread(Record):
    """How much the rates of groups spread, expressed as the strength that the rest has as a prior for each of them.

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
        return self.overall < SPREADS_TOO_MUCH

    @property
    def widest(self) -> str:
        """The split whose rates spread most.

        Examples
        --------
        >>> Spread(prev=4, tpr=10, fpr=20).widest
        'prev'
        """
        return min(SPLITS, key=lambda split: float(getattr(self, split)))

    def __str__(self) -> str:
        return f"groups spread like priors of strength prev {self.prev:.2g}, tpr {self.tpr:.2g}, fpr {self.fpr:.2g}"


def spread_of(groups: Groups) -> Spread:
    """How much the rates of some groups spread."""
    cells = np.array([matrix_of(cm).cells for cm in groups.values()], dtype=np.float64)
    prev, tpr, fpr = (_spread(part, whole) for part, whole in _splits(cells))
    return Spread(prev=prev, tpr=tpr, fpr=fpr)


def learn_spread(groups: Groups) -> Spread:
    """How much the rates of some groups spread; a cautious 5 for each split if they are too few to learn from."""
    if len(groups) < FEWEST_GROUPS:
        return Spread(prev=CAUTIOUS, tpr=CAUTIOUS, fpr=CAUTIOUS)
    return spread_of(groups)


def learn_strengths(groups: Groups) -> dict[str, dict[str, float]]:
    """Learn the strength of smoothing for each group from the spread of all groups.

    For each split, each group is predicted from the rest by a beta-binomial law with strength h, which has a lognormal
    prior around 12; the strength is the harmonic posterior mean of h. It is lowered for a group whose smoothed rate
    would be more than 3/4 of a case and 1/4 of a standard error away from its raw rate.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        All groups of one kind.

    Returns
    -------
    dict of name to strengths
        One strength per split. With fewer than five groups it is 5 instead of a learnt one, lowered likewise.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> learnt = learn_strengths(compas())
    >>> {split: round(value, 1) for split, value in learnt["Other"].items()}
    {'prev': 14.4, 'tpr': 5.5, 'fpr': 6.5}

    The 32 Asian defendants have fewer actual positives than the rest, and a prior of 14 cases would move them too far:

    >>> {split: round(value, 1) for split, value in learnt["Asian"].items()}
    {'prev': 11.0, 'tpr': 5.5, 'fpr': 6.0}
    """
    check_groups(groups)
    spread = learn_spread(groups)
    everybody = sum((matrix_of(cm) for cm in groups.values()), ConfusionMatrix(0, 0, 0, 0))
    return {name: limited_strengths(spread, cm, everybody - cm) for name, cm in groups.items()}


def limited_strengths(spread: Spread, group: ConfusionMatrix, reference: ConfusionMatrix) -> dict[str, float]:
    """The strengths of groups that spread so much, lowered where they would move a rate of this group too far."""
    own, theirs = (_splits(np.array(cm.cells, dtype=np.float64)) for cm in (group, reference))
    return {
        split: _limited(getattr(spread, split), *map(float, (*mine, *rest)))
        for split, mine, rest in zip(SPLITS, own, theirs, strict=True)
    }


def _limited(strength: float, part: float, whole: float, their_part: float, their_whole: float) -> float:
    """The largest strength, up to the given one, that moves a count of the group no further than allowed.

    The standard error is that of the rate (part + 1) / (whole + 2), so that 0 of 3 cases are not taken for certain.
    """
    if whole == 0 or their_whole == 0:
        return strength
    likely = (part + 1) / (whole + 2)
    allowed = _CASES + _ERRORS * sqrt(whole * likely * (1 - likely))
    gap = abs(whole * (their_part / their_whole) - part)
    return min(strength, whole * allowed / (gap - allowed)) if gap > allowed else strength


def _splits(cells: Floats) -> tuple[tuple[Floats, Floats], ...]:
    """The part and the whole of each split, for the cells of one group or of many."""
    tp, fn, fp, tn = cells.T
    return (tp + fn, tp + fn + fp + tn), (tp, tp + fn), (fp, fp + tn)


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats]:
    """A grid of strengths, and their log prior up to a constant."""
    strengths = np.exp(np.linspace(log(0.25), log(2000.0), 49))
    return strengths, -0.5 * (np.log(strengths / _CENTRE) / _SIGMA) ** 2


def _spread(part: Floats, whole: Floats) -> float:
    """The harmonic posterior mean of the strength with which the rest of the groups predicts each group's rate."""
    from scipy.special import betaln

    kept = whole > 0
    a, m = part[kept], whole[kept]
    strengths, log_weight = _grid()
    mean = (a.sum() - a + 0.5) / (m.sum() - m + 1)
    first, second = np.outer(mean, strengths), np.outer(1 - mean, strengths)
    likelihood = betaln(a[:, None] + first, (m - a)[:, None] + second) - betaln(first, second)
    logs = likelihood.sum(axis=0) + log_weight
    weight = np.exp(logs - logs.max())
    return float(weight.sum() / (weight / strengths).sum())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
        return f"bias {self.bias:+.4g}, variance {self.variance:.4g}, mse {self.mse:.4g} (raw {self.raw_mse:.4g})"


def bias_variance(metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float) -> BiasVariance:
    """Bias λ/(n+λ)·d and variance n·v/(n+λ)² of a smoothed linear metric or cell (the paper's Theorem 6.1).

    Parameters
    ----------
    metric : str or Metric
        A share, marginal benefit, or one of the cells "tp", "fn", "fp", "tn".
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior; d is the gap between their scores, v the variance of one case.
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
    d, v = _gap_and_variance(metric, truth, reference)
    size, weight = _cases(n), _checked(strength)
    total = size + weight
    return BiasVariance(bias=weight / total * d, variance=size * v / total**2, raw_mse=v / size)


def optimal_strength(metric: str | Metric | None, truth: Rates, reference: Rates) -> float:
    """The strength λ* = v/d² with the smallest mean squared error, for every n; infinite if there is no gap (E15).

    Parameters
    ----------
    metric : str, Metric or None
        A metric that is linear in the cells, or a cell; None for all four cells together: (1 - Σp²)/Σ(p'-p)².
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior.

    Returns
    -------
    float
        The optimal strength.

    Examples
    --------
    >>> round(optimal_strength("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3]), 12)
    24.0
    """
    if metric is None:
        p, prior = rates_of(truth), rates_of(reference)
        gap, v = float(((prior - p) ** 2).sum()), float(1 - p @ p)
    else:
        d, v = _gap_and_variance(metric, truth, reference)
        gap = d * d
    # Rounding errors can cause a gap of this size.
    return v / gap if gap > 1e-28 else inf


def _cases(n: int) -> int:
    size = as_size(n)
    if size == 0:
        raise InvalidInput(argument="n", must="be at least 1")
    return size


def _gap_and_variance(name: str | Metric, truth: Rates, reference: Rates) -> tuple[float, float]:
    """The gap between reference and truth, and the variance of one case, for a metric that is linear in the cells."""
    w, p, prior = _weights(name), rates_of(truth), rates_of(reference)
    mean = float(w @ p)
    return float(w @ (prior - p)), float(p @ (w - mean) ** 2)


def _weights(name: str | Metric) -> Floats:
    """The weight of each cell in a linear metric."""
    if isinstance(name, str) and name in CELLS:
        return np.array([float(c == name) for c in CELLS])
    m = find_metric(name)
    if m.comparisons or m.base.linear is None:
        raise InvalidInput(f"{m.key} is not linear in the cells; use risk() for its exact error")
    return np.array(m.base.linear)
