"""Sample sizes: how many cases a test, an interval or a score needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..inference import Given, NullName, posterior, score_intervals, undefined_probability
from ..laws import Binomial, split_table
from ..lazy import figures
from ..metrics import Metric, OneGroup
from ..progress import ProgressLine
from ..records import Record
from .outcomes import Chance, PlannedTest, outcomes, p_undefined
from .powers import OneRate, TestName, planned_test
from .regions import FisherRegion, UnconditionalRegion, binomial_cdf, binomial_sf, over_denominators
from .truths import Floats, Plan, Side, number_between, one_group_metric

__all__ = ["SampleSize", "sample_size"]

Goal = Literal["power", "half-width", "undefined"]

_FIRST = 64
_MOST = 100_000
# The goal must hold over this share of all sizes that were looked at before it is said to stay.
_STAYS = 0.3
_MOST_POINTS = 200
# Intervals of scores made of several rates are computed for this many simulated groups.
_INTERVALS = 200
_EPS = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleSize(Record):
    """The number of cases that a goal needs.

    Attributes
    ----------
    metric : Metric
        The score.
    goal : {"power", "half-width", "undefined"}
        What the cases are for.
    target : float
        The power, the probability of an interval that is narrow enough, or the largest probability of an undefined
        score.
    n : int
        The smallest number of cases that reaches the goal, among all up to ``n_looked`` if the score depends on one
        rate. For other scores and tests it is found by bisection, and is the smallest of its neighbours.
    n_stays : int
        The number from which on every number up to ``n_looked`` reaches it. Exact power goes up and down with ``n``, so
        it can be larger than ``n``.
    n_looked : int or None
        The largest number that was looked at; None if every larger number reaches the goal for certain.
    value : float
        What ``n`` cases reach: the power or the probability.
    denominator : float or None
        The expected denominator at ``n``, such as the number of actual positives; None if that is ``n``.
    reference_n : int or None
        The reference's number of cases; None if its rates are known.
    reference_score, true_score : float
        The reference's score and the group's true score.
    difference, half_width : float or None
        The difference to be found, or the half-width of the interval.
    level : float
        The level of the test, or of the interval.
    test, null : str or None
        The test, as in `Power`; None for other goals.
    method : {"exact", "simulation"}
        Whether all outcomes were counted.
    error : float
        The standard error of ``value``, if it was simulated.
    sizes, values : tuple
        Some of the sizes that were looked at, and what they reach, for a plot.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, sample_size
    >>> s = sample_size("tpr", ConfusionMatrix(300, 100, 120, 480), difference=-0.2)
    >>> s.n, s.n_stays, round(s.value, 3)
    (133, 133, 0.801)
    """

    metric: Metric
    goal: str
    target: float
    n: int
    n_stays: int
    n_looked: int | None
    value: float
    denominator: float | None
    reference_n: int | None
    reference_score: float
    true_score: float
    difference: float | None
    half_width: float | None
    level: float | None
    test: str | None
    null: str | None
    method: str
    error: float
    sizes: tuple[int, ...]
    values: tuple[float, ...]

    def plot(self, ax: Any = None) -> Any:
        """Plot what is reached against the number of cases (extra ``plots``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, sample_size
        >>> ax = sample_size("tpr", ConfusionMatrix(300, 100, 120, 480), difference=-0.2).plot()
        """
        return figures().draw_sample_size(self, ax=ax)

    def __str__(self) -> str:
        key = self.metric.key
        reached = f"{100 * self.value:.3g} %"
        if self.goal == "power":
            head = f"{self.n:,} cases find a difference in {key} of {self.difference:+.4g} with a power of {reached}"
        elif self.goal == "half-width":
            head = (
                f"{self.n:,} cases give a {100 * (self.level or 0):g} % interval of {key} within "
                f"±{self.half_width:g} in {reached} of groups"
            )
        else:
            head = f"{self.n:,} cases leave {key} undefined with probability {reached}"
        looked = "" if self.n_looked is None else f" up to {self.n_looked:,}"
        first = "every larger number" if self.n_stays == self.n else f"every number from {self.n_stays:,}"
        stays = f"so does {first}{looked}"
        lines = [("goal", f"{'at most' if self.goal == 'undefined' else 'at least'} {self.target:g}; {stays}")]
        if self.denominator is not None:
            part = self.metric.base.denominator
            lines.append(("of them", f"about {self.denominator:,.0f} {part.name if part else 'cases'}"))
        who = "known rates" if self.reference_n is None else f"{self.reference_n:,} cases"
        lines.append(("reference", f"{who}, score {self.reference_score:.4g}"))
        if self.test:
            lines.append(("test", f"{self.test}{f', {self.null} null' if self.null else ''}, p <= {self.level:g}"))
        how = "exact" if self.method == "exact" else f"simulation, standard error {self.error:.2g}"
        lines.append(("method", how))
        return "\n".join([head, *(f"  {label:<11} {text}" for label, text in lines)])


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
    level: float = 0.05,
    interval_level: float = 0.95,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    draws: int = 1_000,
    seed: int = 0,
    most: int = _MOST,
) -> SampleSize:
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
    level : float
        The level of the test.
    interval_level : float
        The level of the interval.
    test, null, given, mid_p, draws, seed
        As for `power`.
    most : int
        The largest number of cases to look at.

    Returns
    -------
    SampleSize
        Prints as a short block.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> rest = ConfusionMatrix(300, 100, 120, 480)
    >>> print(sample_size("tpr", rest, difference=-0.2))
    133 cases find a difference in tpr of -0.2 with a power of 80.1 %
      goal        at least 0.8; so does every larger number up to 256
      of them     about 53 actual positives
      reference   1,000 cases, score 0.75
      test        fisher, p <= 0.05
      method      exact

    For an interval of ±0.1 in at least 8 of 10 groups, and for a TPR that exists in all but 1 of 1,000:

    >>> sample_size("tpr", rest, half_width=0.1).n
    198
    >>> sample_size("tpr", rest, undefined_below=0.001).n
    14
    """
    m = one_group_metric(metric, "sample_size")
    level, target = number_between(level, "level", 0, 1), number_between(power, "power", 0, 1)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(f"most must be a whole number of cases above 0; got {most!r}")
    wanted = [half_width is not None, undefined_below is not None]
    if sum(wanted) > 1 or (any(wanted) and difference is not None) or (not any(wanted) and difference is truth is None):
        raise InvalidInput("pass one goal: a difference or the group's truth, half_width, or undefined_below")
    plan = Plan.of(m, reference, 0.0 if any(wanted) and truth is None else difference, truth)
    if np.isnan(plan.true_score):
        raise InvalidInput(f"{m.key} is always undefined at any n: {m.why_undefined(plan.truth)}")
    goal: Goal = "half-width" if wanted[0] else "undefined" if wanted[1] else "power"
    name = None
    if goal == "undefined":
        target = number_between(undefined_below, "undefined_below", 0, 1)
        found = _for_definedness(plan, target, most)
    elif goal == "half-width":
        if isinstance(half_width, bool) or not isinstance(half_width, Real) or not 0 < float(half_width) < inf:
            raise InvalidInput(f"half_width must be a number above 0; got {half_width!r}")
        level = number_between(interval_level, "interval_level", 0, 1)
        found = _for_interval(plan, float(half_width), level, target, most, seed)
    else:
        if plan.true_score == plan.reference_score:
            raise InvalidInput(f"the true {m.key} is that of the reference, so there is no difference to find")
        chosen, name = planned_test(plan, reference, test, null, given, level, mid_p, draws=draws, seed=seed)
        found = _for_power(chosen, plan, target, level, most)
    keep = _thinned(found)
    return SampleSize(
        metric=m,
        goal=goal,
        target=target,
        n=found.n,
        n_stays=found.stays,
        n_looked=found.looked,
        value=min(found.value, 1.0),
        denominator=found.n * plan.margin_rate if m.denominator is not None else None,
        reference_n=None if plan.counts is None else int(plan.counts.sum()),
        reference_score=plan.reference_score,
        true_score=plan.true_score,
        difference=plan.true_score - plan.reference_score if goal == "power" else None,
        half_width=half_width,
        level=None if goal == "undefined" else level,
        test=name,
        null=None if name != "match" else "known" if plan.counts is None else null,
        method=found.method,
        error=found.error,
        sizes=tuple(int(n) for n in found.sizes[keep]),
        values=tuple(float(v) for v in found.values[keep]),
    )


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
    hopeless: Callable[[], str | None],
) -> _Found:
    """The smallest size that reaches the target, and the size from which on all do; every size is looked at."""
    reached = np.zeros(0)
    horizon = min(_FIRST, most)
    with ProgressLine() as report:
        while True:
            report(what, len(reached), horizon)
            reached = np.r_[reached, values(np.arange(len(reached) + 1, horizon + 1))]
            # A value that rounding leaves just short of the target counts.
            good = reached >= target - 1e-12
            below = int(np.flatnonzero(~good)[-1]) + 1 if not good.all() else 0
            # Up to the largest number that may be looked at, the goal must hold at the end only.
            if below <= (1 - _STAYS) * horizon or (horizon >= most and below < horizon):
                first = int(np.flatnonzero(good)[0]) + 1
                sizes = np.arange(1, horizon + 1)
                return _Found(first, below + 1, float(reached[first - 1]), sizes, reached, horizon)
            if (why := hopeless() if not good.any() else None) is not None:
                raise InvalidInput(why)
            if horizon >= most:
                raise InvalidInput(_not_reached(reached, good, target, most))
            horizon = min(2 * horizon, most)


def _not_reached(reached: Floats, good: NDArray[np.bool_], target: float, most: int) -> str:
    """What to say if the largest number of cases is not enough."""
    if good.any():
        first = int(np.flatnonzero(good)[0]) + 1
        return (
            f"{first:,} {_cases(first, 'reaches', 'reach')} {target:g}, but {most:,} do not; look at more than "
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


def _for_power(test: PlannedTest, plan: Plan, target: float, level: float, most: int) -> _Found:
    if not isinstance(test, OneRate):
        return _searched(test, plan, target, most)

    def power(sizes: NDArray[np.int64]) -> Floats:
        return np.asarray(test.curve(plan, sizes).sum(axis=0))

    def hopeless() -> str | None:
        region = test.region
        if not isinstance(region, (FisherRegion, UnconditionalRegion)) or target < 0.5:
            return None
        # As the group grows without bound, its rate becomes known, and the test one of the reference's count. Fisher's
        # test needs a tail of half the level, or so much of a tail with half of the observed outcome. The
        # unconditional test can do with such a tail of the whole level, if the other one holds nothing.
        count, size = np.array([region.count]), np.array([region.size])
        tails = []
        for tail, outwards in ((binomial_cdf, -1.0), (binomial_sf, 1.0)):
            whole, beyond = (float(tail(at, size, plan.rate)[0]) for at in (count, count + outwards))
            plain = isinstance(region, FisherRegion) and not region.mid_p
            tails.append(whole if plain else (whole + beyond) / 2)
        if (2 if isinstance(region, FisherRegion) else 1) * min(tails) <= level:
            return None
        return (
            f"the reference is too small: with {region.size:,.0f} cases behind its {plan.metric.key} it cannot be told "
            f"from a true score of {plan.true_score:.4g} at p <= {level:g}, however large the group; collect more "
            "reference cases"
        )

    return _scanned(power, target, most, "computing power", hopeless)


def _searched(test: PlannedTest, plan: Plan, target: float, most: int) -> _Found:
    """The same for tests whose power is costly: by doubling and bisection, and then among the neighbours."""
    known: dict[int, float] = {}
    aim = target

    def quick(n: int) -> float:
        if n not in known:
            known[n] = test.quick(plan, n)
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
            found = test.chance(plan, n)
            if found.power >= target and (turn or abs(found.power - known[n]) < 1e-9):
                break
            if abs(found.power - target) <= 0.002 and turn:
                break
            # The quick estimate is that of a test that rejects a little more often.
            aim = min(target * known[n] / max(found.power, 1e-9), 1 - 1e-6)
        while found.power < target:
            n += max(1, round(n * (target - found.power) / 2))
            found = test.chance(plan, n)
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
    sizes = np.array(sorted(known))
    values = np.array([known[size] * ratio for size in sizes.tolist()])
    if first != n:
        found = test.chance(plan, first)
        if found.power < target - 2 * found.error:
            first, found = n, test.chance(plan, n)
    stays = max([first, *(size + 1 for size in around if size > first and size not in near)])
    return _Found(first, stays, found.power, sizes, values, around[-1], found.method, found.error)


def _crossing(value: Callable[[int], float], aim: float, most: int, report: ProgressLine) -> int | None:
    """A size that reaches the aim although the one before it does not."""
    high, step = 8, 0
    while value(high) < aim:
        report("looking for a number of cases", step, 30)
        if high >= most:
            return None
        high, step = min(2 * high, most), step + 1
    low = high // 2 if high > 8 else 0
    while high - low > 1:
        report("looking for a number of cases", step, 30)
        middle, step = (low + high) // 2, step + 1
        low, high = (low, middle) if value(middle) >= aim else (middle, high)
    return high


def _for_definedness(plan: Plan, target: float, most: int) -> _Found:
    m = plan.metric

    def undefined(n: int) -> float:
        return undefined_probability(m, n, plan.truth)

    if m.apart:
        # By chance TPR equals FPR more often at some sizes than at others.
        found = _scanned(
            lambda sizes: np.array([1 - undefined(int(n)) for n in sizes]), 1 - target, min(most, 2_000),
            "computing probabilities", lambda: None,
        )  # fmt: skip
        return _Found(found.n, found.stays, undefined(found.n), found.sizes, 1 - found.values, found.looked)
    high = 1
    while undefined(high) > target:
        if high >= most:
            raise InvalidInput(
                f"no number of cases up to {most:,} leaves {m.key} undefined with a probability of at most {target:g}; "
                f"{most:,} cases still do with {undefined(most):.3g}"
            )
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if undefined(middle) <= target else (middle, high)
    sizes = np.unique(np.linspace(1, max(2 * high, 10), 60).astype(np.int64))
    sizes = np.unique(np.r_[sizes, high])
    values = np.array([undefined(int(n)) for n in sizes])
    return _Found(high, high, undefined(high), sizes, values, None)


def _for_interval(plan: Plan, width: float, level: float, target: float, most: int, seed: int) -> _Found:
    m = plan.metric
    if m.curve is None:
        return _searched(_Narrow(m, width, level, seed), plan, target, most)
    split = Binomial(plan.rate, 1 - plan.rate)
    known = np.zeros(1)

    def narrow(sizes: NDArray[np.int64]) -> Floats:
        nonlocal known
        most_cases = int(sizes.max())
        if m.tree.margin:
            _, high = Binomial(plan.margin_rate, 1 - plan.margin_rate).window(sizes.astype(np.float64), 1e-16)
            most_cases = int(high.max())
        if most_cases >= len(known):
            new = np.arange(len(known), most_cases + 1, dtype=np.float64)
            blocks = np.array_split(new, max(1, int(len(new) * np.sqrt(new[-1]) / 2**15)))
            known = np.concatenate([known, *(_chance_of_narrow(m, b, split, width, level) for b in blocks)])
        if not m.tree.margin:
            return known[sizes]
        return over_denominators(sizes, plan.margin_rate, known)

    return _scanned(narrow, target, most, "computing intervals", lambda: None)


def _chance_of_narrow(m: OneGroup, sizes: Floats, split: Binomial, width: float, level: float) -> Floats:
    """The probability of an interval of at most this half-width, and of a score, given each denominator."""
    table = split_table(split, sizes, _EPS)
    counts = np.minimum(table.start[:, None] + np.arange(table.pmf.shape[1]), sizes[:, None])
    of = np.broadcast_to(sizes[:, None], counts.shape)
    used = table.pmf > 0
    cells = m.tree.cells(of[used], of[used], 0.0, counts[used])
    low, high = score_intervals(m, cells, posterior(m, cells), level)
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

    def chance(self, plan: Plan, n: int, margin: int | None = None) -> Chance:
        """The share of groups with a narrow interval, in the place of a power."""
        found = outcomes(self.metric, plan.truth, n, margin, np.random.default_rng(self.seed), _INTERVALS, _INTERVALS)
        share = 0.0
        if len(found.cells):
            belief = posterior(self.metric, found.cells)
            low, high = score_intervals(self.metric, found.cells, belief, self.level)
            share = float(found.weight @ (high - low <= 2 * self.width * (1 + 1e-12)))
        undefined = p_undefined(self.metric, found, plan.truth, n, margin)
        likely = (share * _INTERVALS + 1) / (_INTERVALS + 2)
        error = 0.0 if found.listed else float(np.sqrt(likely * (1 - likely) / _INTERVALS))
        return Chance(share, 0.0, undefined, "exact" if found.listed else "simulation", error)
