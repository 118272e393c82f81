"""Sample sizes: how many cases a test, an interval or a score needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..inference import Given, NullName, one_group_metric, score_intervals, standard_errors, undefined_probability
from ..laws import Binomial, split_table
from ..metrics import Metric, OneGroup
from ..progress import ProgressLine
from ..randomness import Rng, seed_of
from .outcomes import Chance, PlannedTest, corrected, outcomes, p_undefined
from .plan import Goal, Plan
from .planned_tests import DRAWS, AskedTest, OneRate, TestName, fixed_seed
from .regions import over_denominators
from .search import smallest
from .truths import Floats, Scenario, Side, number_between

__all__ = ["sample_size"]

_FIRST = 64
_MOST, _MOST_TABLED = 100_000, 10**9
# The goal must hold over this share of all sizes that were looked at before it is said to stay.
_STAYS = 0.3
_MOST_POINTS = 200
# Intervals of scores made of several rates are computed for this many simulated groups.
_INTERVALS = 200
# Normal ones, for a search, are computed for this many.
_QUICK_INTERVALS = 4_000
_EPS = 1e-10


@dataclass(frozen=True, slots=True)
class _Found:
    """The sizes that reach a goal, and the values on the way."""

    n: int
    stays: int
    value: float
    sizes: NDArray[np.int64]
    values: Floats
    looked: int | None
    method: str = "exact"
    error: float = 0.0


def sample_size(
    metric: str | Metric,
    reference: Side,
    difference: float | None = None,
    *,
    power: float = 0.8,
    truth: Side | None = None,
    half_width: float | None = None,
    undefined_below: float | None = None,
    alpha: float = 0.05,
    level: float = 0.95,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    draws: int = DRAWS,
    rng: Rng = 0,
    most: int = _MOST,
) -> Plan:
    """The smallest number of cases with which a test finds a difference, or with which another goal is reached.

    Exact power goes up and down as ``n`` grows, since a small group has few possible scores. So there are two answers:
    the smallest ``n`` that reaches the goal, and the ``n`` from which on all do. For scores that depend on one rate all
    sizes are looked at. For scores made of several rates the sizes are searched by bisection, and then a few
    neighbours; a smaller number that is farther away, or that a simulation does not tell from them, may do as well.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    reference : ConfusionMatrix or four probabilities
        Counts that the test will see, or known rates. Without a difference or a truth, the group is drawn with these
        rates.
    difference : float
        The difference to be found, the group's true score minus the reference's.
    power : float
        The power to reach or, with ``half_width``, the probability that the interval is narrow enough.
    truth : ConfusionMatrix or four probabilities
        The group's true rates; in place of a difference if a difference is to be found.
    half_width : float
        In place of a difference: how far the ends of the interval of `interval` may be from its middle.
    undefined_below : float
        In place of a difference: a bound on the probability of an undefined score.
    alpha : float
        The level of the test.
    level : float
        The level of the interval.
    test, null, given, mid_p, draws, rng
        As for `power`.
    most : int
        The largest number of cases to look at.

    Returns
    -------
    Plan
        With ``n`` and ``n_stays``. Prints as a short block.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> rest = ConfusionMatrix(300, 100, 120, 480)
    >>> print(sample_size("tpr", rest, difference=-0.2))
    133 cases find a difference in tpr of -0.2 with a power of 80.1 %
      goal        at least 0.8; so does every larger number up to 256
      of them     about 53 actual positives
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      method      exact

    For an interval of ±0.1 in at least 8 of 10 groups, and for a TPR that exists in all but 1 of 1,000:

    >>> sample_size("tpr", rest, half_width=0.1).n
    201
    >>> sample_size("tpr", rest, undefined_below=0.001).n
    14
    """
    m = one_group_metric(metric)
    asked = AskedTest(test=test, null=null, given=given, alpha=alpha, mid_p=mid_p, draws=draws, rng=rng)
    target = number_between(power, "power")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(argument="most", must="be a whole number of cases above 0", got=most)
    wanted = [half_width is not None, undefined_below is not None]
    if sum(wanted) > 1 or (any(wanted) and difference is not None) or (not any(wanted) and difference is truth is None):
        raise InvalidInput("pass one goal: a `difference` or the group's `truth`, `half_width`, or `undefined_below`")
    scenario = Scenario.of(m, reference, 0.0 if any(wanted) and truth is None else difference, truth)
    if np.isnan(scenario.true_score):
        raise InvalidInput(f"{m.key} is always undefined at any n: {m.why_undefined(scenario.truth)}")
    goal: Goal
    if undefined_below is not None:
        goal, target = "undefined", number_between(undefined_below, "undefined_below")
        found = _for_definedness(scenario, target, most)
        known: dict[str, Any] = {"p_undefined": found.value}
    elif half_width is not None:
        goal, known = "half-width", {"half_width": half_width, "level": number_between(level, "level")}
        found = _for_interval(scenario, _width(half_width), level, target, most, fixed_seed(rng))
    else:
        if scenario.true_score == scenario.reference_score:
            raise InvalidInput(f"the true {m.key} is that of the reference, so there is no difference to find")
        chosen, name, against = asked.of(scenario, reference)
        goal, known = "power", {"alpha": float(alpha), "test": name, "null": against, "_test": chosen}
        found = _for_power(chosen, scenario, target, alpha, most)
    keep = _thinned(found)
    return Plan(
        question="sample_size",
        goal=goal,
        target=target,
        metric=m,
        n=found.n,
        n_stays=found.stays,
        n_looked=found.looked,
        reference_n=scenario.reference_n,
        reference_score=scenario.reference_score,
        true_score=scenario.true_score,
        method=found.method,
        error=found.error,
        rng=seed_of(rng) if found.method != "exact" else None,
        sizes=tuple(int(n) for n in found.sizes[keep]),
        values=tuple(float(v) for v in found.values[keep]),
        _scenario=scenario,
        value=min(found.value, 1.0),
        **known,
    )


def _width(half_width: Any) -> float:
    """A half-width, checked."""
    if isinstance(half_width, bool) or not isinstance(half_width, Real) or not 0 < float(half_width) < inf:
        raise InvalidInput(argument="half_width", must="be a number above 0", got=half_width)
    return float(half_width)


def _thinned(found: _Found) -> NDArray[np.int64]:
    """Places of at most a few hundred sizes, those around the answers among them."""
    near = np.flatnonzero((found.sizes >= found.n - 20) & (found.sizes <= found.n + 20))
    every = np.linspace(0, len(found.sizes) - 1, min(_MOST_POINTS, len(found.sizes))).astype(np.int64)
    return np.unique(np.concatenate([near, every]))


def _scanned(
    values: Callable[[NDArray[np.int64]], Floats],
    target: float,
    most: int,
    what: str,
    hopeless: Callable[[], str | None] = lambda: None,
) -> _Found:
    """The smallest size that reaches the target, and the size from which on all do; every size is looked at."""
    reached = np.zeros(0)

    def look(up_to: int) -> NDArray[np.bool_]:
        nonlocal reached
        report(what, len(reached), up_to)
        reached = np.r_[reached, values(np.arange(len(reached) + 1, up_to + 1))]
        # A value that rounding leaves just short of the target counts.
        return np.asarray(reached >= target - 1e-12)

    def good(_: NDArray[np.int64], sizes: Floats) -> NDArray[np.bool_]:
        found = look(int(sizes.max()))[None, len(reached) - sizes.shape[1] :]
        if not found.any() and (why := hopeless()):
            raise InvalidInput(why)
        return found

    with ProgressLine() as report:
        first = smallest(good, np.ones(1), most, _FIRST)[0]
        while True:
            missed = np.flatnonzero(reached < target - 1e-12)
            below, horizon = int(missed[-1]) + 1 if len(missed) else 0, len(reached)
            # Up to the largest number that may be looked at, the goal must hold at the end only.
            if below <= (1 - _STAYS) * horizon or (horizon >= most and below < horizon):
                value = float(reached[int(first) - 1])
                return _Found(int(first), below + 1, value, np.arange(1, horizon + 1), reached, horizon)
            if horizon >= most:
                raise InvalidInput(_not_reached(reached, first, target, most))
            look(min(2 * horizon, most))


def _not_reached(reached: Floats, first: float, target: float, most: int) -> str:
    """What to say if the largest number of cases is not enough."""
    if np.isfinite(first):
        return (
            f"{first:,.0f} {_cases(int(first), 'reaches', 'reach')} {target:g}, but {most:,} do not; look at more than "
            f"{most:,} cases to find the number from which on all do"
        )
    best = int(np.argmax(reached)) + 1
    return f"no number of cases up to {most:,} reaches {target:g}{_closest(best, float(reached[best - 1]))}"


def _closest(best: int, value: float, about: str = "") -> str:
    """The end of a sentence: which number of cases comes closest, if any comes close."""
    if value == 0:
        return ", nor anything above 0"
    return f"; {best:,} {_cases(best, 'comes', 'come')} closest, with {about}{value:.3g}"


def _cases(n: int, one: str, many: str) -> str:
    return f"case {one}" if n == 1 else f"cases {many}"


def _for_power(test: PlannedTest, scenario: Scenario, target: float, alpha: float, most: int) -> _Found:
    if not isinstance(test, OneRate):
        return _searched(test, scenario, target, most)

    def power(sizes: NDArray[np.int64]) -> Floats:
        return np.asarray(test.curve(scenario, sizes).sum(axis=0))

    def hopeless() -> str | None:
        region = test.region
        # Less than every second group may be found by chance, at some size.
        if target < 0.5 or region.smallest_pvalue(scenario.rate) <= alpha:
            return None
        return (
            f"the reference is too small: with {region.size:,.0f} cases behind its {scenario.metric.key} it cannot be "
            f"told from a true score of {scenario.true_score:.4g} at p <= {alpha:g}, however large the group; collect "
            "more reference cases"
        )

    return _scanned(power, target, most, "computing power", hopeless)


def _searched(test: PlannedTest, scenario: Scenario, target: float, most: int) -> _Found:
    """The same for tests whose power is costly: by doubling and bisection, and then among the neighbours."""
    known: dict[int, float] = {}
    aim = target

    def quick(n: int) -> float:
        if n not in known:
            known[n] = test.quick(scenario, n)
        return known[n]

    n = 0
    with ProgressLine() as report:
        for turn in range(4):
            crossing = _crossing(quick, aim, most, report)
            if crossing is None:
                best = max(known, key=lambda size: known[size])
                raise InvalidInput(
                    f"none of the numbers of cases looked at, up to {most:,}, reaches a power of {target:g}"
                    + _closest(best, known[best], "about ")
                )
            n = crossing
            report("checking the power", turn, 4)
            found = test.chance(scenario, n)
            if found.power >= target and (turn or abs(found.power - known[n]) < 1e-9):
                break
            if abs(found.power - target) <= 0.002 and turn:
                break
            # The quick estimate is that of a test that rejects about as often.
            aim = corrected(known[n], found.power, target)
        while found.power < target:
            n += max(1, round(n * (target - found.power) / 2))
            found = test.chance(scenario, n)
        around = range(max(1, n - test.neighbours), n + test.neighbours + 1)
        for done, size in enumerate(around):
            report("looking at neighbouring sizes", done, len(around))
            quick(size)
    ratio = found.power / max(known[n], 1e-9)
    near = [size for size in around if known[size] * ratio >= target - 1e-9]
    first = n
    if found.method == "exact" and abs(ratio - 1) < 1e-9:
        first = min(near)
    else:
        # Among estimates, the smallest of several that seem to be enough would be so by chance.
        while first - 1 in near:
            first -= 1
    if first != n:
        # Its own power, not its neighbours' estimates, must reach the goal.
        own = test.chance(scenario, first)
        first, found = (n, found) if own.power < target else (first, own)
    sizes = np.array(sorted(known))
    values = np.array([found.power if size == first else known[size] * ratio for size in sizes.tolist()])
    stays = max([first, *(size + 1 for size in around if size > first and size not in near)])
    return _Found(first, stays, found.power, sizes, values, around[-1], found.method, found.error)


def _crossing(value: Callable[[int], float], aim: float, most: int, report: ProgressLine) -> int | None:
    """A size that reaches the aim although the one before it does not."""
    low, high, step = 0, min(8, most), 0
    while value(high) < aim:
        report("looking for a number of cases", step, 30)
        if high >= most:
            return None
        low, high, step = high, min(2 * high, most), step + 1
    while high - low > 1:
        report("looking for a number of cases", step, 30)
        middle, step = (low + high) // 2, step + 1
        low, high = (low, middle) if value(middle) >= aim else (middle, high)
    return high


def _for_definedness(scenario: Scenario, target: float, most: int) -> _Found:
    m = scenario.metric

    def undefined(n: int) -> float:
        return undefined_probability(m, n, scenario.truth)

    if m.apart:
        # By chance TPR equals FPR more often at some sizes than at others.
        found = _scanned(
            lambda sizes: np.array([1 - undefined(int(n)) for n in sizes]), 1 - target, min(most, 2_000),
            "computing probabilities",
        )  # fmt: skip
        return _Found(found.n, found.stays, undefined(found.n), found.sizes, 1 - found.values, found.looked)
    with ProgressLine() as report:
        n = _crossing(lambda n: -undefined(n), -target, most, report)
    if n is None:
        raise InvalidInput(
            f"no number of cases up to {most:,} leaves {m.key} undefined with a probability of at most {target:g}; "
            f"{most:,} cases still do with {undefined(most):.3g}"
        )
    sizes = np.unique(np.r_[np.linspace(1, max(2 * n, 10), 60).astype(np.int64), n])
    return _Found(n, n, undefined(n), sizes, np.array([undefined(int(size)) for size in sizes]), None)


def _for_interval(scenario: Scenario, width: float, level: float, target: float, most: int, seed: int) -> _Found:
    m = scenario.metric
    if m.curve is None:
        return _searched(_Narrow(m, width, level, seed), scenario, target, most)
    split = Binomial(scenario.rate, 1 - scenario.rate)
    # Intervals narrow as cases are added: if none of the most cases is narrow enough, none of fewer is.
    if most <= _MOST_TABLED and not _chance_of_narrow(m, np.array([float(most)]), split, width, level).any():
        raise InvalidInput(_not_reached(np.zeros(1), inf, target, most))
    known = np.zeros(1)

    def narrow(sizes: NDArray[np.int64]) -> Floats:
        nonlocal known
        most_cases = int(sizes.max())
        if m.tree.margin:
            _, high = Binomial(scenario.margin_rate, 1 - scenario.margin_rate).window(sizes.astype(np.float64), 1e-16)
            most_cases = int(high.max())
        if most_cases >= len(known):
            new = np.arange(len(known), most_cases + 1, dtype=np.float64)
            blocks = np.array_split(new, max(1, int(len(new) * np.sqrt(new[-1]) / 2**15)))
            known = np.concatenate([known, *(_chance_of_narrow(m, b, split, width, level) for b in blocks)])
        if not m.tree.margin:
            return known[sizes]
        return over_denominators(sizes, scenario.margin_rate, known)

    return _scanned(narrow, target, most, "computing intervals")


def _chance_of_narrow(m: OneGroup, sizes: Floats, split: Binomial, width: float, level: float) -> Floats:
    """The probability of an interval of at most this half-width, and of a score, given each denominator."""
    table = split_table(split, sizes, _EPS)
    counts = np.minimum(table.start[:, None] + np.arange(table.pmf.shape[1]), sizes[:, None])
    of = np.broadcast_to(sizes[:, None], counts.shape)
    used = table.pmf > 0
    cells = m.tree.cells(of[used], of[used], 0.0, counts[used])
    low, high = score_intervals(m, cells, level)
    fits = (high - low <= 2 * width * (1 + 1e-12)) & ~m.holes[0].at(cells)
    chances = np.zeros(table.pmf.shape)
    chances[used] = table.pmf[used] * fits
    return np.asarray(chances.sum(axis=1))


@dataclass(frozen=True)
class _Narrow(PlannedTest):
    """Whether the interval of a score made of several rates is narrow enough, for simulated groups."""

    metric: OneGroup
    width: float
    level: float
    seed: int
    neighbours: ClassVar[int] = 2

    def quick(self, scenario: Scenario, n: int, margin: int | None = None) -> float:
        """The share of groups whose normal interval is narrow, which is about that of their own intervals."""
        from scipy.special import ndtri

        rng = np.random.default_rng(self.seed)
        found = outcomes(self.metric, scenario.truth, n, margin, rng, _QUICK_INTERVALS, _QUICK_INTERVALS)
        if not len(found.cells):
            return 0.0
        scores, errors = standard_errors(self.metric, found.cells)
        ends = (scores + sign * ndtri((1 + self.level) / 2) * errors for sign in (-1, 1))
        low, high = (np.exp(end) if self.metric.unbounded else np.clip(end, *self.metric.range) for end in ends)
        return float(found.weight @ (high - low <= 2 * self.width))

    def chance(self, scenario: Scenario, n: int, margin: int | None = None) -> Chance:
        """The share of groups with a narrow interval, in the place of a power."""
        found = outcomes(
            self.metric, scenario.truth, n, margin, np.random.default_rng(self.seed), _INTERVALS, _INTERVALS
        )
        share = 0.0
        if len(found.cells):
            low, high = score_intervals(self.metric, found.cells, self.level)
            share = float(found.weight @ (high - low <= 2 * self.width * (1 + 1e-12)))
        undefined = p_undefined(self.metric, found, scenario.truth, n, margin)
        likely = (share * _INTERVALS + 1) / (_INTERVALS + 2)
        error = 0.0 if found.listed else float(np.sqrt(likely * (1 - likely) / _INTERVALS))
        return Chance(share, 0.0, undefined, "exact" if found.listed else "simulation", error)
