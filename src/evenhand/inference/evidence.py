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

from collections.abc import Callable
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
_LARGEST_LOG = 650.0
# Up to so many steps exp(θ k) and the probabilities that matter beside it are floats.
_MOST_STEPS = 64
# Supports with more steps than this are summed near their peak, at so many points: at least 20 per standard deviation.
_POINTS_OF_WIDE = 512
_NEGLIGIBLE_LOG = -45.0


def started(batch: Any) -> Floats:
    """The weight of differences that begin with a batch, of which the first is 0; all weights sum to 1.

    They fall so slowly, by b^-3/2, that a change after a year is found nearly as soon as one after a month.

    >>> started(np.arange(4)).round(3).tolist()
    [0.5, 0.146, 0.065, 0.039]
    """
    after = np.maximum(batch, 1.0)
    return np.where(np.equal(batch, 0), _FIRST, (1 - _FIRST) * (after**-0.5 - (after + 1) ** -0.5))


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
        while end < len(order) and (end + 1 - start) * _terms(width[order[end]]) * len(LOG_ODDS) <= _MOST_AT_ONCE:
            end += 1
        rows = order[start:end]
        block = _block if width[rows[-1]] <= _POINTS_OF_WIDE else _wide_block
        found[rows] = block(a[rows], of_a[rows], b[rows], of_b[rows], low[rows], high[rows])
        start = end
    return found


def _terms(width: int) -> int:
    return min(int(width), _POINTS_OF_WIDE + 1)


def _block(a: Floats, of_a: Floats, b: Floats, of_b: Floats, low: Floats, high: Floats) -> Floats:
    steps = np.arange(int((high - low).max()) + 1.0)
    k = low[:, None] + steps
    inside = k <= high[:, None]
    first, second = (a + b)[:, None], (of_a + of_b - a - b)[:, None]
    kept = np.where(inside, k, low[:, None])
    logs = np.where(inside, log_hypergeometric(kept, of_a[:, None], first, second), -np.inf)
    if len(steps) <= _MOST_STEPS:
        mean = np.log(np.exp(logs) @ np.exp(steps[:, None] * LOG_ODDS))
    else:
        tilted = logs[:, :, None] + LOG_ODDS * steps[:, None]
        top = tilted.max(axis=1, keepdims=True)
        mean = top[:, 0] + np.log(np.exp(tilted - top).sum(axis=1))
    return np.asarray(LOG_ODDS * (a - low)[:, None] - mean)


def _wide_block(a: Floats, of_a: Floats, b: Floats, of_b: Floats, low: Floats, high: Floats) -> Floats:
    """As `_block`, at a cost that does not grow with the counts.

    Terms are log-concave, so that all beyond one that is negligible beside the largest are so together. Those between
    are summed one by one or, where they are many and thus smooth, in equal strides, whose error is far below rounding.
    """
    size, first, second, low, high = (x[:, None] for x in (of_a, a + b, of_a + of_b - a - b, low, high))

    def log_term(k: Floats) -> Floats:
        return np.asarray(log_hypergeometric(k, size, first, second) + LOG_ODDS * (k - low))

    shape = (len(a), len(LOG_ODDS))
    ends = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    odds = np.exp(LOG_ODDS)
    peak = _last(lambda k: odds * (first - k + 1) * (size - k + 1) >= k * (second - size + k), *ends)
    top = log_term(peak)
    left = -_last(lambda k: log_term(-k) >= top + _NEGLIGIBLE_LOG, -peak, -ends[0])
    right = _last(lambda k: log_term(k) >= top + _NEGLIGIBLE_LOG, peak, ends[1])
    stride = np.maximum(1.0, np.ceil((right - left) / _POINTS_OF_WIDE))
    total = np.zeros(shape)
    for step in range(_POINTS_OF_WIDE + 1):
        k = left + step * stride
        total += np.where(k <= right, np.exp(log_term(np.minimum(k, right)) - top), 0.0)
    return np.asarray(LOG_ODDS * (a[:, None] - low) - top - np.log(total * stride))


def _last(holds: Callable[[Floats], Any], low: Floats, high: Floats) -> Floats:
    """The last whole number from ``low``, where it is taken to hold, to ``high`` at which a condition holds."""
    while (low < high).any():
        middle = np.ceil((low + high) / 2)
        kept = holds(middle)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle - 1)
    return low


def _unknown() -> Floats:
    return np.full(len(LOG_ODDS), -np.inf)


def _nothing() -> Floats:
    return np.zeros(len(LOG_ODDS))


@dataclass(slots=True)
class Gathered:
    """The evidence of a comparison: log M(θ), what is left of the weights, and the log likelihood of θ so far.

    Several comparisons lie along the first axis.
    """

    log_begun: Floats = field(default_factory=_unknown)
    left: Floats = field(default_factory=lambda: np.ones(()))
    log_likelihood: Floats = field(default_factory=_nothing)
    batches: Floats = field(default_factory=lambda: np.zeros(()))

    @classmethod
    def several(cls, comparisons: int) -> Gathered:
        """So many comparisons of which nothing is known yet."""
        begun, known = (np.tile(one, (comparisons, 1)) for one in (_unknown(), _nothing()))
        return cls(begun, np.ones(comparisons), known, np.zeros(comparisons))

    def __getitem__(self, at: int) -> Gathered:
        return Gathered(self.log_begun[at], self.left[at], self.log_likelihood[at], self.batches[at])

    def joined(self, other: Gathered) -> Gathered:
        """The comparisons of both."""
        return Gathered(
            np.concatenate([self.log_begun, other.log_begun]),
            np.concatenate([self.left, other.left]),
            np.concatenate([self.log_likelihood, other.log_likelihood]),
            np.concatenate([self.batches, other.batches]),
        )

    def add(self, log_ratio: Floats, at: Any = ...) -> None:
        """Add a batch of the comparisons at some places, given its log likelihood ratios."""
        weight = started(self.batches[at])
        self.log_begun[at] = np.logaddexp(self.log_begun[at], np.log(weight)[..., None]) + log_ratio
        self.left[at] = np.maximum(0.0, self.left[at] - weight)
        self.log_likelihood[at] += log_ratio
        self.batches[at] += 1

    @property
    def values(self) -> Floats:
        """The evidence: 1 to begin with; its mean stays 1 if the rates are equal in every batch."""
        # Beyond that, no more evidence is told apart.
        return np.asarray(np.exp(np.minimum(_LOG_PRIOR + self.log_begun, _LARGEST_LOG)).sum(axis=-1) + self.left)

    @property
    def value(self) -> float:
        """The evidence of a single comparison."""
        return float(self.values)

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

    ``left`` is the weight of processes that have not begun, each of which has an evidence of 1. Of all sets of one
    size, the one with the smallest others has the smallest mean, and those above a process do not lower its mean.

    >>> joint(np.array([60.0, 1.0, 0.5]), np.full(3, 1 / 3), 0.0).round(2).tolist()
    [20.5, 0.75, 0.5]
    """
    every, shares = (np.append(values, 1.0), np.append(weights, left)) if left > 0 else (values, weights)
    order = np.argsort(every, kind="stable")
    totals = np.concatenate([[0.0], np.cumsum((every * shares)[order])])
    masses = np.concatenate([[0.0], np.cumsum(shares[order])])
    place = np.empty(len(every), dtype=np.int64)
    place[order] = np.arange(len(every))
    found = np.empty(len(values))
    most = max(1, _MOST_AT_ONCE // len(totals))
    for start in range(0, len(values), most):
        some = slice(start, start + most)
        own, weight, before = values[some, None], weights[some, None], place[: len(values)][some, None]
        means = (own * weight + totals) / (weight + masses)
        found[some] = np.where(np.arange(len(totals)) <= before, means, np.inf).min(axis=1)
    return np.minimum(found, values)


@dataclass(slots=True)
class Evidence:
    """The evidence of many comparisons, by their names, and what holds of all of them together."""

    places: dict[Any, int] = field(default_factory=dict)
    gathered: Gathered = field(default_factory=lambda: Gathered.several(0))
    weights: Floats = field(default_factory=lambda: np.empty(0))
    left: float = 1.0

    def add(self, counts: dict[Any, tuple[float, float, float, float]]) -> None:
        """Add a batch: by comparison, how many of how many cases of the group and of the reference have it.

        Comparisons that are new begin with an evidence of 1, and share a part of the weight that is left.
        """
        new = [name for name in counts if name not in self.places]
        if new:
            share = self.left * ((1 - _LATER) if not self.places else 0.5)
            self.left -= share
            self.places |= {name: i for i, name in enumerate(new, start=len(self.places))}
            self.gathered = self.gathered.joined(Gathered.several(len(new)))
            self.weights = np.append(self.weights, np.full(len(new), share / len(new)))
        a, of_a, b, of_b = np.array(list(counts.values()), dtype=np.float64).T
        self.gathered.add(log_ratios(a, of_a, b, of_b), np.array([self.places[name] for name in counts]))

    def __getitem__(self, name: Any) -> Gathered:
        return self.gathered[self.places[name]]

    def joint(self) -> Floats:
        """The evidence of every comparison, in the order of its place, that holds for all of them together."""
        return joint(self.gathered.values, self.weights, self.left)
