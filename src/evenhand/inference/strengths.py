"""How strong a prior should be: closed forms where the truth is known, and strengths learnt from other groups.

Nobody knows how far a group is from its reference. But the *other groups* show how far apart groups of this kind
usually are: rates that spread widely call for a weak prior, rates that agree for a strong one, and base rates usually
spread more than conditional rates do. So every split of the tree learns a strength of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, as_size
from ..errors import InvalidInput
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..records import Record
from .smoothing import CAUTIOUS, SPLITS, Groups, Rates, _checked, matrix_of, rates_of

__all__ = [
    "BiasVariance",
    "Spread",
    "bias_variance",
    "learn_strengths",
    "optimal_strength",
    "smoothing_helps",
    "spread_of",
]

Floats = NDArray[np.float64]

# A lognormal prior of the strength around 8; what is learnt from fewer than four other groups is not worth having.
_CENTRE, _SIGMA, _FEWEST = 8.0, 1.0, 4
# A learnt strength h is discounted to h² / (h + 3): weak ones are less certain than they look.
_DISCOUNT = 3.0
# Below this harmonic mean over the splits, groups spread so much that smoothing may do more harm than good.
SPREADS_TOO_MUCH = 3.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spread(Record):
    """How much the rates of groups spread, as the strength that the rest would be worth as a prior.

    Attributes
    ----------
    prev, tpr, fpr : float
        The strength of each split: small if the groups' rates differ widely.
    """

    prev: float
    tpr: float
    fpr: float

    @property
    def overall(self) -> float:
        """The harmonic mean of the three."""
        return 3 / (1 / self.prev + 1 / self.tpr + 1 / self.fpr)

    @property
    def too_much(self) -> bool:
        """Whether smoothing may do more harm than good."""
        return self.overall < SPREADS_TOO_MUCH

    @property
    def widest(self) -> str:
        """The split whose rates spread most."""
        return min(SPLITS, key=lambda split: float(getattr(self, split)))

    def __str__(self) -> str:
        return f"groups spread like priors of strength prev {self.prev:.2g}, tpr {self.tpr:.2g}, fpr {self.fpr:.2g}"


def spread_of(groups: Groups) -> Spread:
    """How much the rates of some groups spread."""
    cells = np.array([matrix_of(cm).cells for cm in groups.values()], dtype=np.float64)
    prev, tpr, fpr = (_spread(part, whole) for part, whole in _splits(cells))
    return Spread(prev=prev, tpr=tpr, fpr=fpr)


def learn_strengths(groups: Groups) -> dict[str, float | dict[str, float]]:
    """The strength of smoothing for each of several groups, learnt from how much the others spread.

    For each split, each other group is predicted from the rest of them by a beta-binomial law of strength h with a
    lognormal prior around 8; the harmonic posterior mean of h is discounted to h²/(h+3). The group's own counts are
    not used, so that its smoothed score has an exact risk.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        All groups of one kind.

    Returns
    -------
    dict of name to strengths
        One strength per split, or a cautious 5 for all cells where there are fewer than five groups.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> {split: round(value, 1) for split, value in learn_strengths(compas())["Asian"].items()}
    {'prev': 10.1, 'tpr': 2.7, 'fpr': 4.3}
    """
    cells = np.array([matrix_of(cm).cells for cm in groups.values()], dtype=np.float64)
    if len(cells) < _FEWEST + 1:
        return dict.fromkeys(groups, CAUTIOUS)
    learnt: dict[str, float | dict[str, float]] = {}
    for i, name in enumerate(groups):
        others = np.delete(cells, i, axis=0)
        learnt[name] = {
            split: _discounted(_spread(part, whole))
            for split, (part, whole) in zip(SPLITS, _splits(others), strict=True)
        }
    return learnt


def _splits(cells: Floats) -> tuple[tuple[Floats, Floats], ...]:
    tp, fn, fp, tn = cells.T
    return (tp + fn, tp + fn + fp + tn), (tp, tp + fn), (fp, fp + tn)


def _discounted(h: float) -> float:
    return h * h / (h + _DISCOUNT)


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats]:
    """Strengths, and the log of their prior."""
    strengths = np.exp(np.linspace(log(0.25), log(2000.0), 49))
    return strengths, -0.5 * (np.log(strengths / _CENTRE) / _SIGMA) ** 2


def _spread(part: Floats, whole: Floats) -> float:
    """The harmonic posterior mean of the strength with which each group's rate follows from the others'."""
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
    """Exact bias and variance of a smoothed share, for groups of ``n`` cases; ``raw_mse`` is the unsmoothed error."""

    bias: float
    variance: float
    raw_mse: float

    @property
    def mse(self) -> float:
        """The mean squared error."""
        return self.bias**2 + self.variance

    def __str__(self) -> str:
        return f"bias {self.bias:+.4g}, variance {self.variance:.4g}, mse {self.mse:.4g} (raw {self.raw_mse:.4g})"


def bias_variance(metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float) -> BiasVariance:
    """Bias λ/(n+λ)·d and variance n·v/(n+λ)² of a smoothed linear metric or cell (Theorem 6.1).

    Parameters
    ----------
    metric : str or Metric
        A share, marginal benefit, or one of the cells "tp", "fn", "fp", "tn".
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and the prior's; d is the gap between them, v the variance of one case.
    n : int
        The size of the group.
    strength : float
        The strength λ.

    Returns
    -------
    BiasVariance

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


def smoothing_helps(metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float) -> bool:
    """Whether smoothing has a smaller mean squared error than the raw score: d² < v(2/λ + 1/n), exactly (E15).

    Parameters
    ----------
    metric, truth, reference, n, strength
        As for `bias_variance`.

    Returns
    -------
    bool

    Examples
    --------
    >>> smoothing_helps("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10)
    True
    """
    d, v = _gap_and_variance(metric, truth, reference)
    weight = _checked(strength)
    return weight > 0 and d * d < v * (2 / weight + 1 / _cases(n))


def optimal_strength(metric: str | Metric | None, truth: Rates, reference: Rates) -> float:
    """The strength λ* = v/d² with the least mean squared error, whatever n; infinite if there is no gap (E15).

    Parameters
    ----------
    metric : str, Metric or None
        A metric that is linear in the cells, or a cell; None for all four cells together: (1 - Σp²)/Σ(p'-p)².
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and the prior's.

    Returns
    -------
    float

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
    # Rounding leaves a gap of this size where there is none.
    return v / gap if gap > 1e-28 else inf


def _cases(n: int) -> int:
    size = as_size(n)
    if size == 0:
        raise InvalidInput("n must be at least 1")
    return size


def _gap_and_variance(name: str | Metric, truth: Rates, reference: Rates) -> tuple[float, float]:
    """The gap between reference and truth, and the variance of one case, of a metric that is linear in the cells."""
    w, p, prior = _weights(name), rates_of(truth), rates_of(reference)
    mean = float(w @ p)
    return float(w @ (prior - p)), float(p @ (w - mean) ** 2)


def _weights(name: str | Metric) -> Floats:
    """What each cell counts for in a linear metric."""
    if isinstance(name, str) and name in CELLS:
        return np.array([float(c == name) for c in CELLS])
    m = find_metric(name)
    if m.comparisons or m.base.linear is None:
        raise InvalidInput(f"{m.key} is not linear in the cells; risk() has its exact error")
    return np.array(m.base.linear)
