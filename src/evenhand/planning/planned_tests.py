"""The tests whose power is planned with, and what a plan asks of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, as_size
from ..errors import InvalidInput, UnknownName
from ..inference import Given, NullName
from ..laws import Binomial, check_cost, hole_probability, law_of
from ..metrics import OneGroup
from ..randomness import Rng, check_draws, generator, seed_of
from .outcomes import Chance, EqualScores, Match, PlannedTest, law_at
from .regions import FisherRegion, Region, SplitRegion, UnconditionalRegion, over_denominators, rejections
from .truths import Floats, Scenario, Side, number_between

__all__ = ["DRAWS", "AskedTest", "OneRate", "TestName", "check_size", "fixed_seed"]

TestName = Literal["fisher", "unconditional", "match"]

DRAWS = 1_000
# About how many terms the bounds of one denominator need, and the most terms of a power.
_STEPS, _MOST_STEPS = 2**7, 2**26


def fixed_seed(rng: Rng) -> int:
    """A seed, so that a search can draw the same outcomes again and again."""
    seed = seed_of(rng)
    return int(generator(rng).integers(2**63)) if seed is None else seed


@dataclass(frozen=True)
class OneRate(PlannedTest):
    """A test of one rate, given its denominator."""

    metric: OneGroup
    region: Region
    _bounds: dict[bytes, tuple[Floats, Floats]] = field(default_factory=dict)

    def given_denominators(self, scenario: Scenario, sizes: Floats) -> Floats:
        """The probabilities of a rejection as lower, and as higher, per denominator; shape (2, sizes)."""
        key = sizes.tobytes()
        if key not in self._bounds:
            # What is rejected does not depend on the truth; a search asks for the same sizes many times.
            self._bounds.clear()
            self._bounds[key] = self.region.bounds(sizes)
        return np.stack(rejections(self.metric, sizes, self._bounds[key], scenario.rate))

    def curve(self, scenario: Scenario, sizes: NDArray[np.int64]) -> Floats:
        """The same per number of cases, over all denominators."""
        if not self.metric.tree.margin:
            return self.given_denominators(scenario, sizes.astype(np.float64))
        split = Binomial(scenario.margin_rate, 1 - scenario.margin_rate)
        low, high = split.window(sizes.astype(np.float64), 1e-16)
        first, last = float(low.min()), float(high.max())
        check_cost(
            last + _STEPS * (last - first + 1),
            _MOST_STEPS,
            f"the exact power of {self.metric.key} at n = {sizes.max():,} is a sum over {{}} terms",
            "take fewer cases, or give the `denominator`",
        )
        values = np.zeros((2, int(last) + 1))
        values[:, int(first) :] = self.given_denominators(scenario, np.arange(first, last + 1))
        return over_denominators(sizes, scenario.margin_rate, values)

    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The power, a sum of binomial tails."""
        if margin is None:
            parts = self.curve(scenario, np.array([n]))[:, 0]
            undefined = hole_probability(self.metric.holes[0], law_at(scenario.truth, n))
        else:
            parts = self.given_denominators(scenario, np.array([float(margin)]))[:, 0]
            ends = (0.0, 1.0) if margin else (0.0,)
            cells = [self.metric.tree.cells(float(margin), float(margin), 0.0, margin * end) for end in ends]
            empty = self.metric.holes[0].at(np.array(cells))
            undefined = float(empty @ np.array([(1 - scenario.rate) ** margin, scenario.rate**margin][: len(ends)]))
        lower, higher = (float(p) for p in parts)
        gap = scenario.true_score - scenario.reference_score
        wrong_way = lower + higher if gap == 0 else lower if gap > 0 else higher
        return Chance(lower + higher, wrong_way, undefined, "exact", 0.0)


@dataclass(frozen=True)
class Redrawn(PlannedTest):
    """A test of one rate whose reference is drawn anew: its count varies, and its denominator stays."""

    tests: tuple[tuple[float, OneRate], ...]

    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The mean over the reference's counts."""
        each = [(weight, test.chance(scenario, n, margin)) for weight, test in self.tests]
        power, wrong_way = (sum(w * getattr(c, of) for w, c in each) for of in ("power", "wrong_way"))
        left_out = max(0.0, 1 - sum(w for w, _ in each))
        return Chance(power, wrong_way, each[0][1].p_undefined, "exact", left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTest:
    """A test as it is asked for, checked."""

    test: TestName
    null: NullName
    given: Given
    alpha: float
    mid_p: bool
    draws: int
    rng: Rng
    redraw: bool = False

    def __post_init__(self) -> None:
        number_between(self.alpha, "alpha")
        for what, known in (("test", TestName), ("null", NullName), ("given", Given)):
            if getattr(self, what) not in get_args(known):
                raise UnknownName.among(what, getattr(self, what), get_args(known))
        check_draws(self.draws, 2)

    def of(self, scenario: Scenario, reference: Side) -> tuple[PlannedTest, str, NullName | None]:
        """The test, its name, and the null if it is MATCH."""
        m, rates_known = scenario.metric, scenario.counts is None
        if self.redraw and (rates_known or m.curve is None or self.test == "match"):
            raise InvalidInput(
                "`redraw` takes the counts of a reference, a score that depends on one rate, and `test='fisher'` or "
                "'unconditional'"
            )
        if self.test == "match":
            null: NullName = "known" if rates_known else self.null
            return self._match(scenario, reference, null), "match", null
        if m.curve is None:
            return EqualScores.of(scenario, self.alpha, self.draws, fixed_seed(self.rng)), "mid-p", None
        if rates_known:
            rate = scenario.reference_rate
            return OneRate(m, SplitRegion(Binomial(rate, 1 - rate), self.alpha, self.mid_p)), "binomial", None
        name = "unconditional" if self.test == "unconditional" and not self.mid_p else "fisher"
        return self._redrawn(scenario, name) if self.redraw else self._one(scenario, name), name, None

    def _match(self, scenario: Scenario, reference: Side, null: NullName) -> PlannedTest:
        m = scenario.metric
        if scenario.counts is None and self.null == "predictive":
            raise InvalidInput(
                "`null='predictive'` needs the reference's counts, as a ConfusionMatrix; got four probabilities"
            )
        if m.curve is None or not m.defined_by_denominator or (self.given == "n" and m.tree.margin):
            against = reference if isinstance(reference, ConfusionMatrix) else scenario.rates
            return Match(m, against, null, self.given, self.alpha, self.mid_p, self.draws, fixed_seed(self.rng))
        if null == "pooled":
            return self._one(scenario, "fisher")
        law = law_of(reference, 1, "multinomial" if null == "known" else "predictive")
        return OneRate(m, SplitRegion(law.split(m.tree.last, m.tree.last_of), self.alpha, self.mid_p))

    def _region(self, name: str, count: float, size: float) -> Region:
        if name == "unconditional":
            return UnconditionalRegion(count, size, self.alpha)
        return FisherRegion(count, size, self.alpha, self.mid_p)

    def _one(self, scenario: Scenario, name: str) -> OneRate:
        return OneRate(scenario.metric, self._region(name, *_counts(scenario)))

    def _redrawn(self, scenario: Scenario, name: str) -> Redrawn:
        count, size = _counts(scenario)
        split = Binomial(count / size, 1 - count / size)
        low, high = (float(end[0]) for end in split.window(np.array([size]), 1e-9))
        counts = np.arange(low, high + 1)
        tests = (OneRate(scenario.metric, self._region(name, b, size)) for b in counts.tolist())
        return Redrawn(tuple(zip(split.pmf(counts, size).tolist(), tests, strict=True)))


def _counts(scenario: Scenario) -> tuple[float, float]:
    """The reference's count and denominator."""
    assert scenario.counts is not None
    margin, _, last = scenario.metric.tree.counts(scenario.counts)
    return float(last), float(scenario.metric.tree.last_size(scenario.counts.sum(), margin))


def check_size(scenario: Scenario, n: Any, denominator: Any) -> tuple[int, int | None]:
    """The number of cases and the denominator, checked, such that the score can be defined."""
    m, size = scenario.metric, as_size(n)
    margin = None
    if denominator is not None:
        if m.denominator is None:
            raise InvalidInput(f"{m.key} is a score of all n cases, so it has no `denominator` to give")
        margin = as_size(denominator, "denominator")
        if margin > size:
            raise InvalidInput(f"`denominator` must be at most n = {size:,}; got {margin:,}")
        _check_possible(scenario, size, margin)
    why = None
    if margin == 0:
        why = "its denominator is 0"
    elif hole_probability(m.holes[0], law_at(scenario.truth, size)) >= 1:
        why = m.why_undefined(scenario.truth) if isnan(scenario.true_score) else "it needs more cases"
    if why:
        raise InvalidInput(f"{m.key} is always undefined at n = {size:,}: {why}")
    return size, margin


def _check_possible(scenario: Scenario, n: int, margin: int) -> None:
    """Refuse a denominator that groups with these true rates never have."""
    part = scenario.metric.denominator
    assert part is not None
    inside = [scenario.truth[CELLS.index(c)] > 0 for c in part.cells]
    outside = [scenario.truth[CELLS.index(c)] > 0 for c in CELLS if c not in part.cells]
    if (margin > 0 and not any(inside)) or (margin < n and not any(outside)):
        share = "all" if any(inside) else "none"
        raise InvalidInput(
            f"a `denominator` of {margin:,} is impossible: {share} of the n = {n:,} cases are {part.name}, according "
            "to the group's true rates"
        )
