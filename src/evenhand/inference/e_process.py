"""E-processes: evidence that two rates differ, batch by batch, valid at every look.

Given the margins of a batch and equal rates, the group's successes are hypergeometric; with a log
odds ratio θ they are noncentral hypergeometric. The likelihood ratio has mean 1 under equal rates,
whatever the common rate is in that batch. Its product over batches is therefore a test martingale:
the probability that it ever reaches 1/alpha is at most alpha (Ville). It is mixed over θ, and over
the batch at which the difference begins, so that late changes are detected, too:

    M(θ) <- (M(θ) + w) LR(θ),   R <- R - w,   E = Σ π(θ) M(θ) + R,

with weights w, fixed in advance, that sum to 1. The size of a batch may depend on earlier batches,
but not on its own outcomes.

Several e-processes are adjusted by closed testing with weighted means (Vovk and Wang, 2021): for
each, the smallest weighted mean over all sets that contain it. Weights are fixed by the order in
which processes begin. What is left for those that have not begun has an e-value of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Integers
from .fisher import TwoRates, attainable_counts, likely_counts

#: The log odds ratios over which likelihood ratios are mixed, with a normal prior.
LOG_ODDS: Floats = np.linspace(-4.5, 4.5, 97)
_LOG_PRIOR: Floats = -(LOG_ODDS**2) / 2
_LOG_PRIOR -= np.log(np.exp(_LOG_PRIOR).sum())
# The weight of differences that begin with the first batch, and of processes that begin later than
# the first ones.
_FIRST_BATCH, _LATER_PROCESSES = 0.5, 0.1
# How many comparisons, and how many means, are computed at once.
_BLOCK, _MAX_MEANS = 1_000, 2_000_000
# Larger e-values are not told apart.
_MAX_LOG = 650.0
# With up to so many counts, exp(θ k) and the probabilities that matter beside it are floats. Wider
# supports are summed near their mode at up to so many points: at least 6 per standard deviation.
_NARROW, _POINTS = 64, 512


def start_weights(batch: Floats) -> Floats:
    """The weight of differences that begin with a batch, of which the first is 0.

    All weights sum to 1. They fall slowly, by b**(-3/2), so that a change after a year is detected
    nearly as soon as one after a month.

    >>> start_weights(np.arange(4.0)).round(3).tolist()
    [0.5, 0.146, 0.065, 0.039]
    """
    b = np.maximum(batch, 1.0)
    later = (1 - _FIRST_BATCH) * (b**-0.5 - (b + 1) ** -0.5)
    return np.where(np.equal(batch, 0), _FIRST_BATCH, later)


def log_likelihood_ratios(x1: Floats, n1: Floats, x2: Floats, n2: Floats) -> Floats:
    """log P(x1; θ) / P(x1; 0) given the margins, of shape (comparisons, log odds ratios)."""
    pairs = TwoRates(x1, n1, x2, n2)
    low, high = attainable_counts(pairs)
    ratios = LOG_ODDS * (x1 - low)[:, None]
    is_narrow = high - low < _NARROW
    for log_mean, rows in ((_narrow_log_mean, is_narrow), (_wide_log_mean, ~is_narrow)):
        places = np.flatnonzero(rows)
        for block in np.array_split(places, 1 + len(places) // _BLOCK):
            ratios[block] -= log_mean(pairs.take((block, None)), low[block, None])
    return ratios


def _narrow_log_mean(pairs: TwoRates, low: Floats) -> Floats:
    """log E exp(θ(K - low)) of hypergeometric counts K, summed over the whole support."""
    steps = np.arange(_NARROW)
    probabilities = np.exp(pairs.log_probability(low + steps))
    return np.asarray(np.log(probabilities @ np.exp(steps[:, None] * LOG_ODDS)))


def _wide_log_mean(pairs: TwoRates, low: Floats) -> Floats:
    """The same at a cost that does not grow with the counts.

    Likely counts are summed one by one or, where they are many and their probabilities thus smooth,
    in equal strides, whose error is far below rounding.
    """

    def log_term(k: Floats) -> Floats:
        return pairs.log_probability(k) + LOG_ODDS * (k - low)

    mode, first, last = likely_counts(LOG_ODDS, pairs)
    stride = np.maximum(1.0, np.ceil((last - first) / _POINTS))
    top, total = log_term(mode), np.zeros_like(mode)
    for step in range(int(((last - first) / stride).max(initial=0)) + 1):
        k = first + step * stride
        terms = np.exp(log_term(np.minimum(k, last)) - top)
        total += np.where(k <= last, terms, 0.0)
    return np.asarray(top + np.log(total * stride))


class EProcess(NamedTuple):
    """E-processes of comparisons, which lie along the first axis of arrays that `add` changes.

    ``log_started`` is log M(θ), ``remaining`` the weight R of differences that have not begun, and
    ``log_likelihood`` that of a constant θ, relative to 0.
    """

    log_started: Floats
    remaining: Floats
    log_likelihood: Floats
    batches: Floats

    @classmethod
    def start(cls, *shape: int) -> EProcess:
        """Comparisons without any batch; one of them without arguments."""
        grid = (*shape, len(LOG_ODDS))
        return cls(np.full(grid, -np.inf), np.ones(shape), np.zeros(grid), np.zeros(shape))

    def add(self, log_ratios: Floats, rows: Integers | Any = ...) -> None:
        """Add a batch of some comparisons, given its log likelihood ratios."""
        weight = start_weights(self.batches[rows])
        started = np.logaddexp(self.log_started[rows], np.log(weight)[..., None])
        self.log_started[rows] = started + log_ratios
        self.remaining[rows] = np.maximum(0.0, self.remaining[rows] - weight)
        self.log_likelihood[rows] += log_ratios
        self.batches[rows] += 1

    @property
    def evalues(self) -> Floats:
        """The e-values: 1 at the start; their mean stays 1 if rates are equal in every batch."""
        terms = np.exp(np.minimum(_LOG_PRIOR + self.log_started, _MAX_LOG))
        return np.asarray(terms.sum(axis=-1) + self.remaining)

    def log_odds_interval(self, alpha: float) -> tuple[float, float]:
        """A confidence sequence: with probability 1 - alpha it always has a constant θ.

        Ends at the end of the grid are infinite.
        """
        mixture = np.logaddexp.reduce(_LOG_PRIOR + self.log_likelihood)
        # The mixture is at most as likely as the most likely θ, which is therefore inside.
        inside = np.flatnonzero(mixture - self.log_likelihood < np.log(1 / alpha))
        # Outwards to the next point of the grid, so that rounding widens it.
        ends = np.concatenate([[-np.inf], LOG_ODDS, [np.inf]])
        return float(ends[inside[0]]), float(ends[inside[-1] + 2])


def joint_evalues(evalues: Floats, weights: Floats, remaining: float) -> Floats:
    """E-values that hold together: the smallest weighted mean over sets that contain a process.

    ``remaining`` is the weight of processes that have not begun, whose e-value is 1. Of all sets of
    one size, the one with the smallest others has the smallest mean, and processes with larger
    e-values do not lower it.

    >>> joint_evalues(np.array([60.0, 1.0, 0.5]), np.full(3, 1 / 3), 0.0).round(2).tolist()
    [20.5, 0.75, 0.5]
    """
    members, shares = np.append(evalues, 1.0), np.append(weights, remaining)
    order = np.argsort(members, kind="stable")
    # The sums of the smallest 0, 1, ... members.
    sums = np.append(0.0, np.cumsum((members * shares)[order]))
    masses = np.append(0.0, np.cumsum(shares[order]))
    rank, smallest = np.argsort(order), evalues.copy()
    blocks = 1 + len(sums) ** 2 // _MAX_MEANS
    for rows in np.array_split(np.arange(len(evalues)), blocks):
        weight, evalue = weights[rows, None], evalues[rows, None]
        means = (evalue * weight + sums) / (weight + masses)
        means[np.arange(len(sums)) > rank[rows, None]] = np.inf
        smallest[rows] = np.minimum(evalues[rows], means.min(axis=1))
    return smallest


@dataclass(slots=True)
class EProcesses:
    """The e-processes of many comparisons by name, and what holds for all of them together."""

    rows: dict[Any, int] = field(default_factory=dict)
    processes: EProcess = field(default_factory=lambda: EProcess.start(0))
    weights: Floats = field(default_factory=lambda: np.empty(0))
    remaining: float = 1.0

    def add(self, counts: Mapping[Any, tuple[float, float, float, float]]) -> None:
        """Add a batch: successes and cases of the group and of the reference, by comparison.

        New comparisons begin with an e-value of 1, and share a part of the remaining weight.
        """
        new = [name for name in counts if name not in self.rows]
        if new:
            share = self.remaining * (0.5 if self.rows else 1 - _LATER_PROCESSES)
            self.remaining -= share
            self.rows |= {name: i for i, name in enumerate(new, start=len(self.rows))}
            pairs = zip(self.processes, EProcess.start(len(new)), strict=True)
            self.processes = EProcess(*map(np.concatenate, pairs))
            self.weights = np.append(self.weights, np.full(len(new), share / len(new)))
        ratios = log_likelihood_ratios(*np.array(list(counts.values()), dtype=np.float64).T)
        self.processes.add(ratios, np.array([self.rows[name] for name in counts]))

    def __getitem__(self, name: Any) -> EProcess:
        return EProcess(*(values[self.rows[name]] for values in self.processes))

    def joint_evalues(self) -> Floats:
        """The e-value of each comparison, in the order of rows, valid for all together."""
        return joint_evalues(self.processes.evalues, self.weights, self.remaining)
