"""Cross-Prior Smoothing and what it costs: a score steadied by the reference, and the gap that this hides.

Smoothing with strength λ adds λ cases in the proportions of the reference. Every cell is pulled towards the reference
by the share λ/(n+λ), which trades variance for bias (the paper's Theorem 6.1), and an expected gap shrinks to
n/(n+λ) of itself (E20). Smoothed cells are for reporting beside the raw score; they are never tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import CELLS, ConfusionMatrix, as_size
from ..errors import InvalidInput
from ..laws import DirichletMultinomial, as_probabilities
from ..metrics import Contrast, Metric, Share
from ..metrics import metric as find_metric

__all__ = [
    "BiasVariance",
    "Smoothed",
    "StrengthChoice",
    "additive_smooth",
    "as_epsilon",
    "as_strength",
    "bias_variance",
    "choose_strength",
    "cross_prior_smooth",
    "helps",
    "optimal_strength",
    "rates_of",
    "rest_of",
]

Groups = Mapping[str, ConfusionMatrix]
Rates = ConfusionMatrix | ArrayLike
Strength = float | Literal["auto"]

_STRENGTHS = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChoice:
    """A strength chosen from the data: its value, the range that holds 90 % of the belief, and why."""

    value: float
    low: float
    high: float
    reasoning: str

    def __str__(self) -> str:
        return f"strength {self.value:.3g} (90 % between {self.low:g} and {self.high:g}): {self.reasoning}"


@dataclass(frozen=True, slots=True, repr=False)
class Smoothed(ConfusionMatrix):
    """A smoothed matrix: real cells of the same n, with what they were made from.

    ``shrinkage`` is the share n/(n+λ) of an expected gap that remains. If the group is empty, ``prior_only`` is true
    and the cells are the reference's proportions: nothing in them comes from the group.
    """

    raw: ConfusionMatrix = field(kw_only=True)
    strength: float = field(kw_only=True)
    choice: StrengthChoice | None = field(default=None, kw_only=True)

    @property
    def prior_only(self) -> bool:
        """Whether there was no case to smooth, so that only the prior speaks."""
        return self.raw.n == 0

    @property
    def shrinkage(self) -> float:
        """The share of an expected gap to the reference that smoothing leaves, n/(n+λ)."""
        total = self.raw.n + self.strength
        return self.raw.n / total if total else 0.0

    def __repr__(self) -> str:
        mark = "prior only, " if self.prior_only else ""
        return f"{ConfusionMatrix.__repr__(self)[:-1]}, {mark}strength={self.strength:g})"

    def __str__(self) -> str:
        what = "the prior only: the group is empty" if self.prior_only else f"smoothed from {self.raw!r}"
        note = f"{what}, {self.choice or f'strength {self.strength:g}'}; {self.shrinkage:.0%} of a gap remains"
        return f"{ConfusionMatrix.__str__(self)}\n{note}"


@overload
def cross_prior_smooth(cm: ConfusionMatrix, reference: Rates, strength: Strength = 10.0) -> Smoothed: ...
@overload
def cross_prior_smooth(cm: Groups, reference: None = None, strength: Strength = 10.0) -> dict[str, Smoothed]: ...
def cross_prior_smooth(cm: Any, reference: Any = None, strength: Strength = 10.0) -> Any:
    """Smooth a group's cells with the reference's proportions (the paper's Algorithm 1).

    Parameters
    ----------
    cm : ConfusionMatrix, or a mapping of names to them
        The group; or all groups at once, each smoothed with the rest as its reference.
    reference : ConfusionMatrix or four probabilities
        Where the prior comes from. Left out for a mapping.
    strength : float or "auto"
        How many cases λ the reference is worth; "auto" lets the group's own counts choose (`choose_strength`).

    Examples
    --------
    Four cases in one cell, and a reference worth four more, one in each cell: 5/8, 1/8, 1/8, 1/8 of 4.

    >>> from evenhand import ConfusionMatrix
    >>> cross_prior_smooth(ConfusionMatrix(4, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), strength=4)
    ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
    """
    if isinstance(cm, Mapping):
        if reference is not None:
            raise InvalidInput("several groups are each smoothed with the rest of them; leave out reference")
        return {name: _smoothed(group, rest_of(cm, name), strength) for name, group in cm.items()}
    if reference is None:
        raise InvalidInput("give a reference, or a mapping of groups to smooth each with the rest")
    return _smoothed(cm, reference, strength)


def additive_smooth(cm: ConfusionMatrix, epsilon: float) -> ConfusionMatrix:
    """Add ``epsilon`` to every cell: 1 is Laplace's rule, the paper's "bashful" smoothing is 1e-10.

    A tiny epsilon is not unnoticeable: it turns every 0/0 into a fixed value, 1/2 for a rate (E26).
    """
    added = as_epsilon(epsilon)
    return ConfusionMatrix(*(c + added for c in _matrix(cm).cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasVariance:
    """Exact bias and variance of a smoothed share, for groups of ``n`` cases; ``raw_mse`` is the unsmoothed error."""

    bias: float
    variance: float
    raw_mse: float

    @property
    def mse(self) -> float:
        """The mean squared error."""
        return self.bias**2 + self.variance


def bias_variance(metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float) -> BiasVariance:
    """Bias λ/(n+λ)·d and variance n·v/(n+λ)² of a smoothed linear metric or cell (Theorem 6.1).

    ``metric`` is a share, marginal benefit, or one of the cells "tp", "fn", "fp", "tn"; d is the gap between reference
    and truth, v the variance of one case.

    >>> from evenhand import ConfusionMatrix
    >>> b = bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10)
    >>> round(b.bias, 12), round(b.variance, 12), round(b.raw_mse, 12)
    (0.05, 0.006, 0.024)
    """
    d, v = _gap_and_variance(metric, truth, reference)
    size, weight = _cases(n), as_strength(strength)
    total = size + weight
    return BiasVariance(bias=weight / total * d, variance=size * v / total**2, raw_mse=v / size)


def helps(metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float) -> bool:
    """Whether smoothing has a smaller mean squared error than the raw score: d² < v(2/λ + 1/n), exactly (E15).

    >>> helps("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10)
    True
    """
    d, v = _gap_and_variance(metric, truth, reference)
    weight = as_strength(strength)
    return weight > 0 and d * d < v * (2 / weight + 1 / _cases(n))


def optimal_strength(metric: str | Metric | None, truth: Rates, reference: Rates) -> float:
    """The strength λ* = v/d² with the least mean squared error, whatever n; infinite if there is no gap (E15).

    Without a ``metric``, the one for all four cells together: (1 - Σp²)/Σ(p'-p)².

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


def rest_of(groups: Groups, name: str) -> ConfusionMatrix:
    """All groups but one, added up."""
    others = [_matrix(cm) for other, cm in groups.items() if other != name]
    if not others:
        raise InvalidInput(f"{name!r} is the only group, so there is no rest to be its reference")
    return sum(others[1:], others[0])


def as_strength(strength: Any) -> float:
    """A strength, checked."""
    if isinstance(strength, bool) or not isinstance(strength, Real) or not 0 <= float(strength) <= 1e9:
        raise InvalidInput(f"strength must be a number of cases from 0 to 1e9; got {strength!r}")
    return float(strength)


def as_epsilon(epsilon: Any) -> float:
    """What is added to a cell, checked."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not 0 <= float(epsilon) <= 1e9:
        raise InvalidInput(f"epsilon must be a number from 0 to 1e9; got {epsilon!r}")
    return float(epsilon)


def rates_of(given: Rates) -> NDArray[np.float64]:
    """The four proportions of counts, or four probabilities checked."""
    if not isinstance(given, ConfusionMatrix):
        return np.array(as_probabilities(given))
    if given.n == 0:
        raise InvalidInput("the reference is empty (n = 0), so it has no proportions to smooth with")
    return given.proportions


def choose_strength(cm: ConfusionMatrix, reference: Rates) -> StrengthChoice:
    """A strength that the group's own counts speak for.

    Strengths of 2, 4, 8, 16 and 32 start alike; each is weighed by how likely it makes the group's counts (the
    Dirichlet-multinomial likelihood), and the prior's pull λ/(n+λ) is averaged. A group that looks like the reference
    is pulled harder, one that does not is left alone. In groups of a few cases the counts can say little, and the
    choice stays near 8. docs/smoothing.md has its error beside that of fixed strengths.

    >>> from evenhand import ConfusionMatrix
    >>> near = choose_strength(ConfusionMatrix(4, 6, 20, 70), ConfusionMatrix(40, 60, 200, 700))
    >>> far = choose_strength(ConfusionMatrix(40, 6, 20, 34), ConfusionMatrix(40, 60, 200, 700))
    >>> round(near.value, 1), round(far.value, 1)
    (24.6, 5.7)
    """
    if not _matrix(cm).is_whole:
        raise InvalidInput(f"a strength is chosen from whole counts; got {cm!r}")
    prior, n = rates_of(reference), int(cm.n)
    counts = np.asarray(cm.cells, dtype=np.float64)
    if (counts[prior == 0] > 0).any():
        return StrengthChoice(
            value=0.0, low=0.0, high=0.0, reasoning="the group has cases in a cell that the prior rules out"
        )
    # A cell that neither has does not matter; it only must not be 0.
    alphas = [np.maximum(strength * prior, 1e-9) for strength in _STRENGTHS]
    logs = np.array([float(DirichletMultinomial(n, _four(a)).log_pmf(counts)) for a in alphas])
    belief = np.exp(logs - logs.max())
    belief /= belief.sum()
    pull = float(belief @ (_STRENGTHS / (n + _STRENGTHS)))
    reached = np.cumsum(belief)
    low, high = (float(_STRENGTHS[int(np.searchsorted(reached, q))]) for q in (0.05, 0.95))
    lean = float(belief @ np.log2(_STRENGTHS)) - 3
    words = "the counts look like the reference" if lean > 0.5 else "the counts differ from the reference"
    return StrengthChoice(
        value=n * pull / (1 - pull) if n else float(_STRENGTHS[2]),
        low=low,
        high=high,
        reasoning=words if abs(lean) > 0.5 else "the counts say little about it",
    )


def _four(values: NDArray[np.float64]) -> tuple[float, float, float, float]:
    tp, fn, fp, tn = (float(v) for v in values)
    return tp, fn, fp, tn


def _matrix(cm: Any) -> ConfusionMatrix:
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"a group must be a ConfusionMatrix; got {cm!r}")
    return cm


def _cases(n: Any) -> int:
    size = as_size(n)
    if size == 0:
        raise InvalidInput("n must be at least 1")
    return size


def _smoothed(cm: ConfusionMatrix, reference: Rates, given: Strength) -> Smoothed:
    _matrix(cm)
    if isinstance(given, str) and given != "auto":
        raise InvalidInput(f"strength must be a number of cases from 0 to 1e9, or 'auto'; got {given!r}")
    choice = choose_strength(cm, reference) if isinstance(given, str) else None
    strength = as_strength(given if choice is None else choice.value)
    prior = rates_of(reference)
    counts = np.asarray(cm.cells, dtype=np.float64)
    total = cm.n + strength
    cells = (counts + strength * prior) * (cm.n / total) if cm.n else prior
    return Smoothed(*(float(c) for c in cells), raw=cm, strength=strength, choice=choice)


def _gap_and_variance(name: str | Metric, truth: Rates, reference: Rates) -> tuple[float, float]:
    """The gap between reference and truth, and the variance of one case, of a metric that is linear in the cells."""
    w, p, prior = _weights(name), rates_of(truth), rates_of(reference)
    mean = float(w @ p)
    return float(w @ (prior - p)), float(p @ (w - mean) ** 2)


def _weights(name: str | Metric) -> NDArray[np.float64]:
    """What each cell counts for in a linear metric."""
    if isinstance(name, str) and name in CELLS:
        return np.array([float(c == name) for c in CELLS])
    m = find_metric(name)
    if isinstance(m, Share):
        return np.array([float(c in m.part.cells) for c in CELLS])
    if isinstance(m, Contrast):
        return np.array([float(c == m.plus) - float(c == m.minus) for c in CELLS])
    raise InvalidInput(f"{m.key} is not linear in the cells; risk() has its exact error")
