"""The power of tests that have no simple rejection region, from a list of all outcomes or from simulated ones.

MATCH with a score made of several rates, and the audit's test of equal scores of that kind, give every matrix its own
p-value. If there are few enough matrices, all of them are listed with their probabilities. If not, a seeded simulation
draws some, and the result says its standard error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..cells import ConfusionMatrix, count_matrices, enumerate_matrices
from ..errors import TooLarge
from ..inference import Given, NullDistribution, NullName, equal_scores, studentised
from ..laws import Multinomial, hole_probability, sample_cells, walk
from ..metrics import OneGroup
from ..progress import progress
from .truths import Floats, Scenario

__all__ = [
    "Chance",
    "EqualScores",
    "Match",
    "Outcomes",
    "PlannedTest",
    "corrected",
    "law_at",
    "outcomes",
    "p_undefined",
]

_EPS, _NEGLIGIBLE = 1e-13, 1e-13
# The most matrices that are listed, and the number that are drawn if there are more.
_MOST_LISTED, _DRAWN = 400_000, 200_000
_QUICK = 40_000
# Below this size three cells fit into one number of 63 bits.
_MOST_NUMBERED = 2**20
# The most matrices of which each has its own null.
_MOST_TESTED = 4_000
_BLOCK = 256
# The standard error of a power below which no more outcomes are tested.
_ENOUGH = 0.01
# An outcome whose normal p-value exceeds so many times alpha, and this, is not rejected; at most twice alpha was found.
_LARGE_NORMAL = 6.0, 0.1
# Known rates stand for a reference of this many cases.
_KNOWN = 1e9


@dataclass(frozen=True, slots=True)
class Chance:
    """The probability of a rejection, on either side and on the wrong one, and how it was computed."""

    power: float
    wrong_way: float
    p_undefined: float
    method: str
    error: float


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Matrices of a group with a defined score, their probabilities, and whether these are all there are."""

    cells: Floats
    weight: Floats
    listed: bool


class PlannedTest(ABC):
    """A test whose power can be computed for true rates of a group and a number of cases.

    A search for a number of cases also looks at this many ``neighbours`` on either side.
    """

    neighbours: ClassVar[int] = 8

    @abstractmethod
    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The power; given the denominator with ``margin``."""

    def quick(self, scenario: Scenario, n: int, margin: int | None = None) -> float:
        """An estimate of the power that is cheap enough for a search."""
        return self.chance(scenario, n, margin).power


class _Listed(NamedTuple):
    """All matrices of one size that have a score, their numbers of orders (logs), and their normal p-values."""

    cells: Floats
    orders: Floats
    normal: Floats

    @classmethod
    def of(cls, m: OneGroup, n: int, reference: Floats) -> _Listed:
        from scipy.special import gammaln

        cells = np.asarray(enumerate_matrices(n), dtype=np.float64)
        cells = cells[~m.holes[0].at(cells)]
        orders = gammaln(n + 1.0) - gammaln(cells + 1.0).sum(axis=1)
        return cls(cells, orders, studentised(m, cells, np.broadcast_to(reference, cells.shape)))

    def rejected(self, truth: Floats, alpha: float) -> float:
        """The probability of a normal p-value of at most alpha."""
        from scipy.special import xlogy

        small = self.normal <= alpha
        return float(np.exp(self.orders[small] + xlogy(self.cells[small], truth).sum(axis=1)).sum())


def law_at(truth: Floats, n: int) -> Multinomial:
    """The law of a group with these true rates."""
    tp, fn, fp, tn = (float(p) for p in truth)
    return Multinomial(n, (tp, fn, fp, tn))


def outcomes(
    m: OneGroup, truth: Floats, n: int, margin: int | None, rng: np.random.Generator, most: int, draws: int
) -> Outcomes:
    """Every matrix with a relevant probability or, if there are more than ``most``, some that are drawn."""
    law = law_at(truth, n)
    try:
        blocks = list(walk(m.tree, law, margin=margin, eps=_EPS, negligible=_NEGLIGIBLE, most=most))
        cells = np.concatenate([np.stack(b.columns, axis=-1) for b in blocks])
        weight, listed = np.concatenate([b.weight for b in blocks]), True
    except TooLarge:
        cells, counts = _distinct(_drawn(m, truth, n, margin, rng, draws), n)
        weight, listed = counts / draws, False
    defined = ~m.holes[0].at(cells)
    return Outcomes(cells[defined], weight[defined], listed)


def _drawn(m: OneGroup, truth: Floats, n: int, margin: int | None, rng: np.random.Generator, draws: int) -> Floats:
    drawn = sample_cells(m.tree, law_at(truth, n), rng, draws, None if margin is None else float(margin))
    return np.asarray(drawn, dtype=np.float64)


def _distinct(cells: Floats, n: int) -> tuple[Floats, Floats]:
    """The distinct matrices of ``n`` cases in ascending order, and how often each occurs."""
    if n >= _MOST_NUMBERED:
        found, counts = np.unique(cells, axis=0, return_counts=True)
        return found, counts.astype(np.float64)
    # One number per matrix sorts many times faster than four.
    tp, fn, fp, _ = cells.astype(np.int64).T
    _, first, counts = np.unique((tp * (n + 1) + fn) * (n + 1) + fp, return_index=True, return_counts=True)
    return cells[first], counts.astype(np.float64)


def p_undefined(m: OneGroup, found: Outcomes, truth: Floats, n: int, margin: int | None) -> float:
    """The probability of an undefined score."""
    if margin is None:
        return hole_probability(m.holes[0], law_at(truth, n))
    return max(0.0, 1 - float(found.weight.sum()))


def wrong(m: OneGroup, scenario: Scenario, cells: Floats) -> Floats:
    """1 for outcomes on the wrong side of the reference's score, 0 for others; 1 for all if there is no difference."""
    way = np.sign(scenario.true_score - scenario.reference_score)
    if way == 0:
        return np.ones(len(cells))
    return np.asarray(np.sign(m.scores(cells) - scenario.reference_score) * way < 0, dtype=np.float64)


def corrected(quick: float, found: float, target: float) -> float:
    """The quick power at which another test's has the target, from one at which both are known.

    Between the two tests, normal scores of the power differ by about the same amount everywhere.
    """
    from scipy.special import ndtr, ndtri

    quick, found = (min(max(power, 1e-9), 1 - 1e-9) for power in (quick, found))
    return min(float(ndtr(ndtri(quick) + ndtri(target) - ndtri(found))), 1 - 1e-6)


@dataclass(frozen=True)
class EqualScores(PlannedTest):
    """The audit's test of equal scores that are made of several rates.

    A normal test is cheap. It is computed for all outcomes, and the audit's own test only where the normal p-value is
    not large: for all such outcomes, or for at most ``draws`` that are spread evenly over the order of their p-values.
    """

    metric: OneGroup
    reference: Floats
    alpha: float
    draws: int = 1_000
    seed: int = 0
    _pvalues: dict[tuple[float, ...], float] = field(default_factory=dict)
    _normal: dict[int, _Listed] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, alpha: float, draws: int, seed: int) -> EqualScores:
        """The test against the reference of a scenario; known rates stand for a billion cases."""
        reference = scenario.counts if scenario.counts is not None else np.round(scenario.rates * _KNOWN)
        return cls(scenario.metric, reference, alpha, draws, seed)

    def _candidates(
        self, scenario: Scenario, n: int, margin: int | None, most: int = _MOST_LISTED, draws: int = _DRAWN
    ) -> tuple[Outcomes, Floats, float, Floats]:
        """The outcomes, those that may be rejected in the order of their normal p-values, and their probability."""
        rng = np.random.default_rng(self.seed)
        found = outcomes(self.metric, scenario.truth, n, margin, rng, most, draws)
        normal = np.concatenate(
            [
                studentised(self.metric, block, np.broadcast_to(self.reference, block.shape))
                for block in np.array_split(found.cells, max(1, len(found.cells) // 2**17))
            ]
        )
        chosen = np.flatnonzero(normal <= max(_LARGE_NORMAL[0] * self.alpha, _LARGE_NORMAL[1]))
        chosen = chosen[np.argsort(normal[chosen], kind="stable")]
        return found, chosen.astype(np.float64), float(found.weight[chosen].sum()), normal

    def quick(self, scenario: Scenario, n: int, margin: int | None = None) -> float:
        """The power of the normal test, which is about that of the audit's own.

        The p-values of all matrices of one size do not depend on the truth, and are computed once if there are few.
        """
        if margin is None and count_matrices(n) <= _QUICK:
            if n not in self._normal:
                self._normal[n] = _Listed.of(self.metric, n, self.reference)
            return self._normal[n].rejected(scenario.truth, self.alpha)
        found, *_, normal = self._candidates(scenario, n, margin, _QUICK, _QUICK)
        return float(found.weight[normal <= self.alpha].sum())

    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The power of the audit's test."""
        found, order, normal, _ = self._candidates(scenario, n, margin)
        chosen = order.astype(np.int64)
        undefined = p_undefined(self.metric, found, scenario.truth, n, margin)
        if not len(chosen):
            error = 0.0 if found.listed else 1 / _DRAWN
            return Chance(0.0, 0.0, undefined, "exact" if found.listed else "simulation", error)
        weight, variance = found.weight[chosen], 0.0
        every = len(chosen) <= self.draws
        if every:
            picked, share, rejected = chosen, weight, self._rejected(found.cells[chosen])
        else:
            some, rejected, variance = self._spread(found.cells[chosen], weight)
            picked, share = chosen[some], np.full(len(some), normal / len(some))
        power = float(share @ rejected)
        astray = float(share @ (rejected * wrong(self.metric, scenario, found.cells[picked])))
        if not found.listed:
            variance += max(normal * (1 - normal), 1 / _DRAWN) / _DRAWN
        exact = every and found.listed
        left_out = max(0.0, 1 - undefined - float(found.weight.sum())) if exact else sqrt(variance)
        return Chance(power, astray, undefined, "exact" if exact else "simulation", left_out)

    def _spread(self, cells: Floats, weight: Floats) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats, float]:
        """Some of the outcomes, which of them are rejected, and the variance of the power that follows from these.

        They are evenly spaced along the cumulative probability, from a seeded start: few at first, then twice as many
        until the error is small. Neighbours differ only about where p-values cross alpha, so that how often they do
        says how much depends on the start.
        """
        total, rng = float(weight.sum()), np.random.default_rng(self.seed)
        count = max(self.draws // 8, 1) * 8
        marks = (np.arange(count) + rng.random()) / count * total
        where, first = np.minimum(np.searchsorted(np.cumsum(weight), marks), len(weight) - 1), int(rng.integers(8))
        for step in (8, 4, 2, 1):
            some = where[first % step :: step]
            rejected = self._rejected(cells[some])
            changes = np.count_nonzero(np.diff(rejected)) + 1
            variance = total**2 * changes / (2 * len(some) ** 2)
            if sqrt(variance) <= _ENOUGH:
                break
        return some, rejected, variance

    def _rejected(self, cells: Floats) -> Floats:
        """1 for outcomes that the audit's test rejects; each is computed once."""
        rows = [tuple(row) for row in cells.tolist()]
        new = np.array(sorted({row for row in rows if row not in self._pvalues}))
        blocks = np.array_split(new, -(-len(new) // _BLOCK)) if len(new) else []
        for block in progress(blocks, "testing possible outcomes"):
            against = np.broadcast_to(self.reference, block.shape)
            p = equal_scores(self.metric, block, against).pvalue
            self._pvalues.update(zip(map(tuple, block.tolist()), p.tolist(), strict=True))
        return np.array([self._pvalues[row] <= self.alpha for row in rows], dtype=np.float64)


@dataclass(frozen=True)
class Match(PlannedTest):
    """The MATCH test with any metric and null."""

    metric: OneGroup
    reference: ConfusionMatrix | Floats
    null: NullName
    given: Given
    alpha: float
    mid_p: bool = False
    draws: int = 1_000
    seed: int = 0
    _pvalues: dict[tuple[float, ...], float] = field(default_factory=dict)
    neighbours: ClassVar[int] = 3

    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The power: each outcome has its own null given the pooled counts, else all with a margin share one."""
        rng = np.random.default_rng(self.seed)
        one_each = self.null == "pooled"
        draws = self.draws
        most = max(draws, _MOST_TESTED) if one_each else _MOST_LISTED
        found = outcomes(self.metric, scenario.truth, n, margin, rng, most, draws)
        p = self._one_by_one(found.cells) if one_each or not found.listed else self._together(found.cells)
        rejected = (p <= self.alpha * (1 + 1e-9)).astype(np.float64)
        power = float(found.weight @ rejected)
        astray = float(found.weight @ (rejected * wrong(self.metric, scenario, found.cells)))
        undefined = p_undefined(self.metric, found, scenario.truth, n, margin)
        if found.listed:
            return Chance(power, astray, undefined, "exact", max(0.0, 1 - undefined - float(found.weight.sum())))
        likely = (power * draws + 1) / (draws + 2)
        return Chance(power, astray, undefined, "simulation", sqrt(likely * (1 - likely) / draws))

    def _null(self, cells: Floats) -> NullDistribution:
        cm = ConfusionMatrix(*(int(c) for c in cells))
        return NullDistribution.of(self.null, self.metric, cm, self.reference, self.given)

    def _one_by_one(self, cells: Floats) -> Floats:
        rows = [tuple(row) for row in cells.tolist()]
        new = sorted({row for row in rows if row not in self._pvalues})
        for row in progress(new, "testing possible outcomes"):
            null = self._null(np.array(row))
            tails = null.tails(null.observed(ConfusionMatrix(*(int(c) for c in row))), relative=False)
            self._pvalues[row] = null.pvalue(tails, "two-sided", self.mid_p)
        return np.array([self._pvalues[row] for row in rows])

    def _together(self, cells: Floats) -> Floats:
        p = np.empty(len(cells))
        for rows in self._alike(cells):
            null = self._null(cells[rows[0]])
            scores = self.metric.scores(cells[rows])
            support, weights = null.support, null.probabilities
            near = 1e-12 * np.maximum(1.0, np.abs(scores))
            first, after = np.searchsorted(support, scores - near), np.searchsorted(support, scores + near)
            below, above = np.r_[0.0, np.cumsum(weights)], np.r_[np.cumsum(weights[::-1])[::-1], 0.0]
            at = below[after] - below[first]
            half = at / 2 if self.mid_p else at
            p[rows] = np.minimum(1.0, 2 * np.minimum(below[first] + half, above[after] + half))
        return p

    def _alike(self, cells: Floats) -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """Outcomes that share a null: all, or those with the same margin."""
        if not len(cells):
            return
        if self.given == "n" or self.metric.denominator is None:
            yield np.arange(len(cells))
            return
        margins = self.metric.tree.counts(cells)[0]
        order = np.argsort(margins, kind="stable")
        edges = np.flatnonzero(np.diff(margins[order])) + 1
        yield from np.split(order, edges)
