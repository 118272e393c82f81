"""Evidence that two rates differ, gathered batch by batch, valid at every look.

Given a batch's margins and equal rates, the group's count is hypergeometric; with an odds ratio it is noncentral
hypergeometric. The ratio of the two likelihoods has mean 1 under equal rates, whatever the common rate is in that
batch, so that its product over batches is a test martingale: the probability that it ever reaches 1/alpha is at most
alpha (Ville). It is mixed over odds ratios, and over the batch at which the difference begins, so that a late change is
found as well:

    M(θ) ← (M(θ) + w) · LR(θ),   R ← R − w,   E = Σ π(θ) M(θ) + R,

with weights w, fixed in advance, that sum to 1. Sizes of a batch may depend on earlier ones, but not on its outcomes.

Several processes are judged together by closed testing with weighted means (Vovk and Wang, 2021): for each, the
smallest weighted mean over all sets that contain it. Weights are fixed by the order in which processes begin, and what
is left for those that have not begun yet counts as evidence of 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..laws import log_hypergeometric

__all__ = ["LOG_ODDS", "Evidence", "Gathered", "joint"]

Floats = NDArray[np.float64]

_POINTS, _REACH, _SPREAD = 97, 4.5, 1.0
LOG_ODDS: Floats = np.linspace(-_REACH, _REACH, _POINTS)
"""The log odds ratios over which evidence is mixed."""
_LOG_PRIOR: Floats = -(LOG_ODDS**2) / (2 * _SPREAD**2)
_LOG_PRIOR -= np.log(np.exp(_LOG_PRIOR).sum())
# The share of the weight of differences that begin with the first batch.
_FIRST = 0.5
# The share of the weight of processes that begin later than the first ones.
_LATER = 0.1
_MOST_AT_ONCE = 2_000_000


def started(batch: int) -> float:
    """The weight of differences that begin with a batch, of which the first is 0; all weights sum to 1.

    >>> round(sum(map(started, range(100_000))), 4)
    1.0
    """
    return _FIRST if batch == 0 else (1 - _FIRST) / (batch * (batch + 1))


def log_ratios(a: Floats, of_a: Floats, b: Floats, of_b: Floats) -> Floats:
    """The log of P(a, given the margins and θ) / P(a, given the margins and 0), by pair of counts and θ."""
    low, high = np.maximum(0.0, a + b - of_b), np.minimum(of_a, a + b)
    found = np.zeros((len(a), len(LOG_ODDS)))
    width = (high - low + 1).astype(np.int64)
    order = np.argsort(width)
    start = 0
    while start < len(order):
        # Pairs with similar supports are computed together.
        end = start + 1
        while end < len(order) and (end + 1 - start) * int(width[order[end]]) * len(LOG_ODDS) <= _MOST_AT_ONCE:
            end += 1
        rows = order[start:end]
        found[rows] = _block(a[rows], of_a[rows], b[rows], of_b[rows], low[rows], high[rows])
        start = end
    return found


def _block(a: Floats, of_a: Floats, b: Floats, of_b: Floats, low: Floats, high: Floats) -> Floats:
    k = low[:, None] + np.arange(int((high - low).max()) + 1)
    inside = k <= high[:, None]
    kept = np.where(inside, k, low[:, None])
    first, second = (a + b)[:, None], (of_a + of_b - a - b)[:, None]
    logs = np.where(inside, log_hypergeometric(kept, of_a[:, None], first, second), -np.inf)
    tilted = logs[:, :, None] + LOG_ODDS * (kept - a[:, None])[:, :, None]
    top = tilted.max(axis=1, keepdims=True)
    return -np.asarray(top[:, 0] + np.log(np.exp(tilted - top).sum(axis=1)))


@dataclass(slots=True)
class Gathered:
    """The evidence of one comparison: log M(θ), what is left of the weights, and the log likelihood of θ so far."""

    log_begun: Floats = field(default_factory=lambda: np.full(len(LOG_ODDS), -np.inf))
    left: float = 1.0
    log_likelihood: Floats = field(default_factory=lambda: np.zeros(len(LOG_ODDS)))
    batches: int = 0

    def add(self, log_ratio: Floats) -> None:
        """Add a batch, given its log likelihood ratios."""
        weight = started(self.batches)
        self.log_begun = np.logaddexp(self.log_begun, np.log(weight)) + log_ratio
        self.left = max(0.0, self.left - weight)
        self.log_likelihood = self.log_likelihood + log_ratio
        self.batches += 1

    @property
    def value(self) -> float:
        """The evidence: 1 to begin with; its mean stays 1 if the rates are equal in every batch."""
        return float(np.exp(_LOG_PRIOR + self.log_begun).sum() + self.left)

    def log_odds(self, alpha: float) -> tuple[float, float]:
        """A confidence sequence of a constant log odds ratio: it always contains it with a probability of 1 - alpha.

        Ends at the end of the grid are infinite.
        """
        likelihood = self.log_likelihood
        mixed = np.logaddexp.reduce(_LOG_PRIOR + likelihood)
        inside = np.flatnonzero(mixed - likelihood < np.log(1 / alpha))
        if not len(inside):
            best = float(LOG_ODDS[int(np.argmax(likelihood))])
            return best, best
        # Outwards to the next point of the grid, so that rounding widens it.
        low, high = int(inside[0]) - 1, int(inside[-1]) + 1
        return (
            float(LOG_ODDS[low]) if low >= 0 else -np.inf,
            float(LOG_ODDS[high]) if high < len(LOG_ODDS) else np.inf,
        )


def joint(values: Floats, weights: Floats, left: float) -> Floats:
    """The evidence of each process that holds together: the smallest weighted mean over sets that contain it.

    ``left`` is the weight of processes that have not begun, each of which has an evidence of 1.

    >>> joint(np.array([60.0, 1.0, 0.5]), np.full(3, 1 / 3), 0.0).round(2).tolist()
    [20.5, 0.75, 0.5]
    """
    others = [(1.0, left)] if left > 0 else []
    every = sorted([*zip(values.tolist(), weights.tolist(), strict=True), *others])
    found = np.empty(len(values))
    for i, (own, weight) in enumerate(zip(values.tolist(), weights.tolist(), strict=True)):
        total, mass, own_is_out = own * weight, weight, True
        best = own
        for value, share in every:
            if own_is_out and (value, share) == (own, weight):
                own_is_out = False
                continue
            if value >= best:
                break
            total, mass = total + value * share, mass + share
            best = min(best, total / mass)
        found[i] = best
    return found


@dataclass(slots=True)
class Evidence:
    """The evidence of many comparisons, by their names, and what holds of all of them together."""

    processes: dict[Any, Gathered] = field(default_factory=dict)
    weights: dict[Any, float] = field(default_factory=dict)
    left: float = 1.0

    def add(self, counts: dict[Any, tuple[float, float, float, float]]) -> None:
        """Add a batch: by comparison, how many of how many cases of the group and of the reference have it.

        Comparisons that are new begin with an evidence of 1, and share a part of the weight that is left.
        """
        new = [name for name in counts if name not in self.processes]
        if new:
            share = self.left * ((1 - _LATER) if not self.processes else 0.5)
            self.left -= share
            self.processes |= {name: Gathered() for name in new}
            self.weights |= dict.fromkeys(new, share / len(new))
        a, of_a, b, of_b = (np.array(each, dtype=np.float64) for each in zip(*counts.values(), strict=True))
        for name, ratio in zip(counts, log_ratios(a, of_a, b, of_b), strict=True):
            self.processes[name].add(ratio)

    def joint(self) -> dict[Any, float]:
        """The evidence of every comparison that holds for all of them together."""
        values = np.array([process.value for process in self.processes.values()])
        weights = np.array([self.weights[name] for name in self.processes])
        return dict(zip(self.processes, joint(values, weights, self.left).tolist(), strict=True))
