"""Power: how likely a test is to find a difference, and the smallest difference that it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, as_size
from ..errors import InvalidInput, UnknownName
from ..inference import Given, NullName
from ..laws import Binomial, check_cost, check_draws, hole_probability, law_of
from ..lazy import figures
from ..metrics import Metric, OneGroup
from ..records import Record
from .outcomes import Chance, EqualScores, Match, PlannedTest, law_at
from .regions import FisherRegion, Region, SplitRegion, UnconditionalRegion, over_denominators, rejections
from .truths import Floats, Plan, Side, number_between, one_group_metric, reachable_scores

__all__ = [
    "DetectableDifference",
    "OneRate",
    "Power",
    "TestName",
    "check_size",
    "detectable_difference",
    "planned_test",
    "power",
]

TestName = Literal["fisher", "unconditional", "match"]

_SCORES = 65
_FEW_SCORES = 9
# Scores without an upper end are looked at up to so many times the reference's, and differences from a small part on.
_TIMES, _SMALL_PART = 1e3, 1e-4
_DRAWS = 1_000
# About how many terms the bounds of one denominator need, and the most terms of a power.
_STEPS, _MOST_STEPS = 2**7, 2**26


@dataclass(frozen=True)
class OneRate(PlannedTest):
    """A test of one rate, given its denominator."""

    metric: OneGroup
    region: Region
    _bounds: dict[bytes, tuple[Floats, Floats]] = field(default_factory=dict)

    def given_denominators(self, plan: Plan, sizes: Floats) -> Floats:
        """The probabilities of a rejection as lower, and as higher, per denominator; shape (2, sizes)."""
        key = sizes.tobytes()
        if key not in self._bounds:
            # What is rejected does not depend on the truth; a search asks for the same sizes many times.
            self._bounds.clear()
            self._bounds[key] = self.region.bounds(sizes)
        return np.stack(rejections(self.metric, sizes, self._bounds[key], plan.rate))

    def curve(self, plan: Plan, sizes: NDArray[np.int64]) -> Floats:
        """The same per number of cases, over all denominators."""
        if not self.metric.tree.margin:
            return self.given_denominators(plan, sizes.astype(np.float64))
        split = Binomial(plan.margin_rate, 1 - plan.margin_rate)
        low, high = split.window(sizes.astype(np.float64), 1e-16)
        first, last = float(low.min()), float(high.max())
        check_cost(
            last + _STEPS * (last - first + 1),
            _MOST_STEPS,
            f"the exact power of {self.metric.key} at n = {sizes.max():,} is a sum over {{}} terms",
            "take fewer cases, or give the denominator",
        )
        values = np.zeros((2, int(last) + 1))
        values[:, int(first) :] = self.given_denominators(plan, np.arange(first, last + 1))
        return over_denominators(sizes, plan.margin_rate, values)

    def chance(self, plan: Plan, n: int, margin: int | None = None) -> Chance:
        """The power, a sum of binomial tails."""
        if margin is None:
            parts = self.curve(plan, np.array([n]))[:, 0]
            undefined = hole_probability(self.metric.holes[0], law_at(plan.truth, n))
        else:
            parts = self.given_denominators(plan, np.array([float(margin)]))[:, 0]
            ends = (0.0, 1.0) if margin else (0.0,)
            cells = [self.metric.tree.cells(float(margin), float(margin), 0.0, margin * end) for end in ends]
            empty = self.metric.holes[0].at(np.array(cells))
            undefined = float(empty @ np.array([(1 - plan.rate) ** margin, plan.rate**margin][: len(ends)]))
        lower, higher = (float(p) for p in parts)
        gap = plan.true_score - plan.reference_score
        wrong_way = lower + higher if gap == 0 else lower if gap > 0 else higher
        return Chance(lower + higher, wrong_way, undefined, "exact", 0.0)


@dataclass(frozen=True)
class Redrawn(PlannedTest):
    """A test of one rate whose reference is drawn anew: its count varies, and its denominator stays."""

    tests: tuple[tuple[float, OneRate], ...]

    def chance(self, plan: Plan, n: int, margin: int | None = None) -> Chance:
        """The mean over the reference's counts."""
        each = [(weight, test.chance(plan, n, margin)) for weight, test in self.tests]
        power, wrong_way = (sum(w * getattr(c, of) for w, c in each) for of in ("power", "wrong_way"))
        left_out = max(0.0, 1 - sum(w for w, _ in each))
        return Chance(power, wrong_way, each[0][1].p_undefined, "exact", left_out)


def planned_test(
    plan: Plan,
    reference: Side,
    test: TestName,
    null: NullName,
    given: Given,
    level: float,
    mid_p: bool,
    redraw: bool = False,
    draws: int = _DRAWS,
    seed: int = 0,
) -> tuple[PlannedTest, str]:
    """The test of a plan, and its name."""
    m = plan.metric
    for what, value, known in (("test", test, TestName), ("null", null, NullName), ("given", given, Given)):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    check_draws(draws, 2)
    rates_known = plan.counts is None
    if redraw and (rates_known or m.curve is None or test == "match"):
        raise InvalidInput(
            "redraw=True takes the counts of a reference, a score that depends on one rate, and test='fisher' or "
            "'unconditional'"
        )
    if test == "match":
        if rates_known and null == "predictive":
            raise InvalidInput(
                "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities"
            )
        against_null: NullName = "known" if rates_known else null
        if m.curve is None or not m.defined_by_denominator or (given == "n" and m.tree.margin):
            against = reference if isinstance(reference, ConfusionMatrix) else plan.rates
            return Match(m, against, against_null, given, level, mid_p, draws, seed), "match"
        if against_null != "pooled":
            law = law_of(reference, 1, "multinomial" if against_null == "known" else "predictive")
            return OneRate(m, SplitRegion(law.split(m.tree.last, m.tree.last_of), level, mid_p)), "match"
        return OneRate(m, _fisher(plan, level, mid_p)), "match"
    if m.curve is None:
        return EqualScores.of(plan, level, draws, seed), "posterior"
    if rates_known:
        rate = plan.reference_rate
        return OneRate(m, SplitRegion(Binomial(rate, 1 - rate), level, mid_p)), "binomial"
    name = "unconditional" if test == "unconditional" and not mid_p else "fisher"
    if redraw:
        return _redrawn(plan, name, level, mid_p), name
    return OneRate(m, _fisher(plan, level, mid_p) if name == "fisher" else _unconditional(plan, level)), name


def _counts(plan: Plan) -> tuple[float, float]:
    """The reference's count and denominator."""
    assert plan.counts is not None
    margin, _, last = plan.metric.tree.counts(plan.counts)
    return float(last), float(plan.metric.tree.last_size(plan.counts.sum(), margin))


def _fisher(plan: Plan, level: float, mid_p: bool) -> Region:
    return FisherRegion(*_counts(plan), level, mid_p)


def _unconditional(plan: Plan, level: float) -> Region:
    return UnconditionalRegion(*_counts(plan), level)


def _redrawn(plan: Plan, name: str, level: float, mid_p: bool) -> Redrawn:
    count, size = _counts(plan)
    split = Binomial(count / size, 1 - count / size)
    low, high = (float(end[0]) for end in split.window(np.array([size]), 1e-9))
    counts = np.arange(low, high + 1)
    regions: list[Region] = [
        FisherRegion(b, size, level, mid_p) if name == "fisher" else UnconditionalRegion(b, size, level)
        for b in counts.tolist()
    ]
    weights = split.pmf(counts, size)
    return Redrawn(tuple((float(w), OneRate(plan.metric, r)) for w, r in zip(weights, regions, strict=True)))


def check_size(plan: Plan, n: Any, denominator: Any) -> tuple[int, int | None]:
    """The number of cases and the denominator, checked, such that the score can be defined."""
    m, size = plan.metric, as_size(n)
    margin = None
    if denominator is not None:
        if m.denominator is None:
            raise InvalidInput(f"{m.key} is a score of all n cases, so it has no denominator to give")
        margin = as_size(denominator, "denominator")
        if margin > size:
            raise InvalidInput(f"denominator must be at most n = {size:,}; got {margin:,}")
        _check_possible(plan, size, margin)
    why = None
    if margin == 0:
        why = "its denominator is 0"
    elif hole_probability(m.holes[0], law_at(plan.truth, size)) >= 1:
        why = m.why_undefined(plan.truth) if isnan(plan.true_score) else "it needs more cases"
    if why:
        raise InvalidInput(f"{m.key} is always undefined at n = {size:,}: {why}")
    return size, margin


def _check_possible(plan: Plan, n: int, margin: int) -> None:
    """Refuse a denominator that groups with these true rates never have."""
    part = plan.metric.denominator
    assert part is not None
    inside = [plan.truth[CELLS.index(c)] > 0 for c in part.cells]
    outside = [plan.truth[CELLS.index(c)] > 0 for c in CELLS if c not in part.cells]
    if (margin > 0 and not any(inside)) or (margin < n and not any(outside)):
        share = "all" if any(inside) else "none"
        raise InvalidInput(
            f"a denominator of {margin:,} is impossible: {share} of the n = {n:,} cases are {part.name}, according to "
            "the group's true rates"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Power(Record):
    """The probability that a test finds a true difference.

    Attributes
    ----------
    metric : Metric
        The score that is compared.
    n, denominator : int
        The group's number of cases, and its denominator if that is given; None if it is random.
    reference_n : int or None
        The reference's number of cases; None if its rates are known.
    reference_score, true_score, difference : float
        The reference's score, the group's true score, and the second minus the first.
    level : float
        The level of the test: it rejects if its p-value is at most this.
    test : {"fisher", "unconditional", "binomial", "posterior", "match"}
        The test. ``"binomial"`` is the exact test against known rates, ``"posterior"`` the approximate test for scores
        made of several rates.
    null : str or None
        The null of MATCH; None for other tests.
    power : float
        The probability of a rejection. An undefined score is not tested, and does not count as one.
    wrong_way : float
        The part of it in which the difference is found in the wrong direction.
    p_undefined : float
        The probability that the group's score is undefined.
    method : {"exact", "simulation"}
        Whether all outcomes were counted.
    error : float
        The probability of outcomes that were left out (exact), or the standard error (simulation).

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, power
    >>> p = power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2)
    >>> round(p.power, 3), p.test, p.method
    (0.676, 'fisher', 'exact')
    """

    metric: Metric
    n: int
    denominator: int | None
    reference_n: int | None
    reference_score: float
    true_score: float
    difference: float
    level: float
    test: str
    null: str | None
    power: float
    wrong_way: float
    p_undefined: float
    method: str
    error: float
    _plan: Plan
    _test: PlannedTest

    def curve(self, scores: Any) -> list[float]:
        """The power of the same test, with the same number of cases, for other true scores.

        Parameters
        ----------
        scores : sequence of float
            True scores of the group.

        Returns
        -------
        list of float
            One power per score.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> p = power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2)
        >>> [round(x, 2) for x in p.curve([0.45, 0.55, 0.65])]
        [0.95, 0.68, 0.2]
        """
        plans = (self._plan.at(float(score)) for score in scores)
        return [self._test.chance(plan, self.n, self.denominator).power for plan in plans]

    def profile(self) -> tuple[list[float], list[float]]:
        """True scores around the reference's, and the power for each; fewer of them if each is a simulation.

        Returns
        -------
        (list of float, list of float)
            Scores in ascending order, and powers.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> scores, powers = power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2).profile()
        >>> round(scores[0], 3), round(powers[0], 3)
        (0.35, 0.998)
        """
        return _profile(self._plan, self._test, self.n, self.denominator, 2 * abs(self.difference), self.method)

    def plot(self, ax: Any = None) -> Any:
        """Plot the power against the true score (extra ``plots``).

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
        >>> from evenhand import ConfusionMatrix, power
        >>> ax = power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2).plot()
        """
        return figures().draw_power(self, *self.profile(), ax=ax)

    def __str__(self) -> str:
        m = self.metric
        of = "" if self.denominator is None else f", {self.denominator:,} {m.base.denominator.name}"  # type: ignore[union-attr]
        who = "known rates" if self.reference_n is None else f"{self.reference_n:,} cases"
        lines = [
            ("group", f"{self.n:,} cases{of}, true score {self.true_score:.4g}"),
            ("reference", f"{who}, score {self.reference_score:.4g}"),
            ("test", f"{_TESTS[self.test]}{f', {self.null} null' if self.null else ''}, p <= {self.level:g}"),
            ("wrong way", f"{_percent(self.wrong_way)} of groups differ significantly in the wrong direction"),
            ("undefined", f"{_percent(self.p_undefined)} of groups have no score"),
            ("method", _how(self.method, self.error)),
        ]
        if self.difference == 0:
            lines.pop(3)
        if self.p_undefined == 1:
            lines.append(("caution", "every possible outcome has an undefined score"))
        elif self.power == 0 and self.method == "exact":
            lines.append(("caution", f"no outcome that this truth allows reaches p <= {self.level:g}"))
        head = f"Power {_percent(self.power)} to find {_difference(m, self.difference)}"
        return "\n".join([head, *(f"  {label:<11} {text}" for label, text in lines)])


_TESTS = {
    "fisher": "Fisher's exact test of equal rates",
    "unconditional": "Boschloo's exact test of equal rates",
    "binomial": "exact binomial test against known rates",
    "posterior": "approximate test of equal scores",
    "match": "MATCH test",
}


def _profile(
    plan: Plan, test: PlannedTest, n: int, margin: int | None, reach: float, method: str
) -> tuple[list[float], list[float]]:
    low, high = reachable_scores(plan.metric, plan.rates)
    reach = max(reach, 0.1)
    ends = max(low, plan.reference_score - reach), min(high, plan.reference_score + reach)
    scores = np.linspace(*ends, _SCORES if method == "exact" else _FEW_SCORES).tolist()
    return scores, [test.chance(plan.at(score), n, margin).power for score in scores]


def _difference(m: Metric, difference: float) -> str:
    return f"a difference in {m.key} of {difference:+.4g}" if difference else f"a difference in {m.key} where none is"


def _how(method: str, error: float) -> str:
    return "exact" if method == "exact" else f"simulation, standard error {error:.2g}"


def _percent(p: float) -> str:
    return f"{100 * p:.3g} %"


def power(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    difference: float | None = None,
    truth: Side | None = None,
    level: float = 0.05,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    mid_p: bool = False,
    redraw: bool = False,
    draws: int = _DRAWS,
    seed: int = 0,
) -> Power:
    """The probability that a test finds a true difference between a group of ``n`` cases and a reference.

    The group is drawn with its true rates, so that its denominator, such as the number of actual positives, is random
    too. Scores that depend on one rate (shares, rates, F1, Jaccard) have a power that is a sum of binomial tails, and
    exact. Tests of other scores are evaluated on every possible matrix or, if there are too many, on a sample of them;
    ``method`` and ``error`` say so. The tests are two-sided.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    n : int
        The group's number of cases.
    reference : ConfusionMatrix or four probabilities
        Counts are what the test will see: the smaller the reference, the more cautious the test. Probabilities are
        taken as known.
    difference : float
        The group's true score minus the reference's score. The truth moves from the reference's rates: the rate that
        the score depends on moves, and other rates stay. For marginal benefit the share of false positives among
        errors moves. For scores made of two rates, the log odds of TPR and FPR (for markedness: of PPV and the false
        omission rate) move by the same amount in opposite directions.
    truth : ConfusionMatrix or four probabilities
        The group's true rates, in place of a difference.
    level : float
        The test rejects if its p-value is at most this.
    test : {"fisher", "unconditional", "match"}
        The tests of `audit` and `disparity` for equal scores, or `match_test`. For scores made of several rates the
        first two are the same approximate test; known rates then stand for a reference of a billion cases. With MATCH
        and ``null="known"``, a group's score that the reference's rates do not allow, which `match_test` refuses,
        counts as a rejection if twice the probability of the allowed scores below it, or above it, is at most the
        level. Outside of all allowed scores it always does.
    null, given
        For ``test="match"``, as in `match_test`.
    denominator : int, optional
        The group's denominator, if it is not random: for TPR, the number of actual positives among the ``n`` cases.
    mid_p : bool
        With Fisher's test and MATCH, count half of the probability of the observed outcome.
    redraw : bool
        Whether the reference is a new sample too: its denominator stays, and its count is drawn with its rate. By
        default the reference's counts are those at hand.
    draws : int
        How many outcomes are tested if there are too many to test all.
    seed : int
        The seed of the simulation.

    Returns
    -------
    Power
        Prints as a short block.

    Examples
    --------
    A group of 40, about 16 of them positive, of which the classifier finds 55 % rather than 75 %:

    >>> from evenhand import ConfusionMatrix
    >>> print(power("tpr", 40, ConfusionMatrix(300, 100, 120, 480), difference=-0.2))
    Power 31.2 % to find a difference in tpr of -0.2
      group       40 cases, true score 0.55
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      wrong way   0.00607 % of groups differ significantly in the wrong direction
      undefined   1.34e-07 % of groups have no score
      method      exact
    """
    m = one_group_metric(metric, "power")
    level = number_between(level, "level", 0, 1)
    plan = Plan.of(m, reference, difference, truth)
    size, margin = check_size(plan, n, denominator)
    chosen, name = planned_test(plan, reference, test, null, given, level, mid_p, redraw, draws, seed)
    found = chosen.chance(plan, size, margin)
    return Power(
        metric=m,
        n=size,
        denominator=margin,
        reference_n=None if plan.counts is None else int(plan.counts.sum()),
        reference_score=plan.reference_score,
        true_score=plan.true_score,
        difference=plan.true_score - plan.reference_score,
        level=level,
        test=name,
        null=_null_name(name, null, plan),
        power=min(found.power, 1.0),
        wrong_way=found.wrong_way,
        p_undefined=found.p_undefined,
        method=found.method,
        error=found.error,
        _plan=plan,
        _test=chosen,
    )


def _null_name(name: str, null: NullName, plan: Plan) -> str | None:
    return None if name != "match" else "known" if plan.counts is None else null


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DetectableDifference(Record):
    """The smallest true differences that a test finds with a given power, below and above the reference's score.

    Attributes
    ----------
    metric : Metric
        The score that is compared.
    n, denominator : int
        The group's number of cases, and its denominator if that is given.
    reference_n, reference_score
        The reference's number of cases (None if its rates are known) and its score.
    power, level : float
        The power that is reached, and the level of the test.
    test, null : str
        The test, as in `Power`.
    lower, higher : float or None
        The differences: one negative, one positive. Larger ones have the power too, if not always up to the end of the
        range, where some scores become undefined. None if no true score of a grid on that side has it.
    method : {"exact", "simulation"}
        Whether all outcomes were counted.
    error : float
        The larger standard error of the two powers if they were simulated.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, detectable_difference
    >>> d = detectable_difference("tpr", 100, ConfusionMatrix(300, 100, 120, 480))
    >>> round(d.lower, 3), round(d.higher, 3)
    (-0.231, 0.179)
    """

    metric: Metric
    n: int
    denominator: int | None
    reference_n: int | None
    reference_score: float
    power: float
    level: float
    test: str
    null: str | None
    lower: float | None
    higher: float | None
    method: str
    error: float
    _plan: Plan
    _test: PlannedTest
    _derived: ClassVar[tuple[str, ...]] = ("lower_score", "higher_score")

    @property
    def lower_score(self) -> float | None:
        """The highest true score below the reference's that is found with this power.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> round(detectable_difference("tpr", 100, ConfusionMatrix(300, 100, 120, 480)).lower_score, 3)
        0.519
        """
        return None if self.lower is None else self.reference_score + self.lower

    @property
    def higher_score(self) -> float | None:
        """The lowest true score above the reference's that is found with this power.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> round(detectable_difference("tpr", 100, ConfusionMatrix(300, 100, 120, 480)).higher_score, 3)
        0.929
        """
        return None if self.higher is None else self.reference_score + self.higher

    def profile(self) -> tuple[list[float], list[float]]:
        """True scores around the reference's, and the power for each; fewer of them if each is a simulation.

        Returns
        -------
        (list of float, list of float)
            Scores in ascending order, and powers.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> scores, powers = detectable_difference("tpr", 100, ConfusionMatrix(300, 100, 120, 480)).profile()
        >>> round(scores[0], 3), round(powers[0], 3)
        (0.403, 0.988)
        """
        reach = 1.5 * max(abs(self.lower or 0.0), abs(self.higher or 0.0))
        return _profile(self._plan, self._test, self.n, self.denominator, reach, self.method)

    def plot(self, ax: Any = None) -> Any:
        """Plot the power against the true score (extra ``plots``).

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
        >>> from evenhand import ConfusionMatrix, detectable_difference
        >>> ax = detectable_difference("tpr", 100, ConfusionMatrix(300, 100, 120, 480)).plot()
        """
        return figures().draw_power(self, *self.profile(), ax=ax)

    def __str__(self) -> str:
        who = "known rates" if self.reference_n is None else f"{self.reference_n:,} cases"
        sides = [
            ("lower", _side(self.lower, self.lower_score)),
            ("higher", _side(self.higher, self.higher_score)),
            ("reference", f"{who}, score {self.reference_score:.4g}"),
            ("test", f"{_TESTS[self.test]}{f', {self.null} null' if self.null else ''}, p <= {self.level:g}"),
            ("method", _how(self.method, self.error)),
        ]
        head = f"Smallest differences in {self.metric.key} that {self.n:,} cases show with a power of {self.power:g}"
        return "\n".join([head, *(f"  {label:<11} {text}" for label, text in sides)])


def _side(difference: float | None, score: float | None) -> str:
    return "none" if difference is None else f"{difference:+.4g}, to a true score of {score:.4g}"


def detectable_difference(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    power: float = 0.8,
    level: float = 0.05,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    mid_p: bool = False,
    draws: int = _DRAWS,
    seed: int = 0,
) -> DetectableDifference:
    """The smallest true differences, on both sides, that a test of ``n`` cases finds with a given power.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    n : int
        The group's number of cases.
    reference : ConfusionMatrix or four probabilities
        Counts that the test will see, or known rates.
    power : float
        The power to reach.
    level, test, null, given, denominator, mid_p, draws, seed
        As for `power`, which also says how the truth moves with the score.

    Returns
    -------
    DetectableDifference
        Prints as a short block.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> print(detectable_difference("tpr", 40, ConfusionMatrix(300, 100, 120, 480)))
    Smallest differences in tpr that 40 cases show with a power of 0.8
      lower       -0.3714, to a true score of 0.3786
      higher      none
      reference   1,000 cases, score 0.75
      test        Fisher's exact test of equal rates, p <= 0.05
      method      exact
    """
    m = one_group_metric(metric, "detectable_difference")
    level, target = number_between(level, "level", 0, 1), number_between(power, "power", 0, 1)
    plan = Plan.of(m, reference, 0.0)
    size, margin = check_size(plan, n, denominator)
    chosen, name = planned_test(plan, reference, test, null, given, level, mid_p, draws=draws, seed=seed)
    ends = reachable_scores(m, plan.rates)
    found = [_detected(chosen, plan, size, margin, target, end) for end in ends]
    if not any(f for f in found) and not any(
        chosen.quick(plan.at(_inside(plan, end)), size, margin) > 0 for end in ends
    ):
        raise InvalidInput(_undetectable(chosen, plan, size, level, ends))
    lower, higher = (None if f is None else f[0] for f in found)
    chances = [f[1] for f in found if f is not None]
    simulated = [c for c in chances if c.method != "exact"]
    return DetectableDifference(
        metric=m,
        n=size,
        denominator=margin,
        reference_n=None if plan.counts is None else int(plan.counts.sum()),
        reference_score=plan.reference_score,
        power=target,
        level=level,
        test=name,
        null=_null_name(name, null, plan),
        lower=lower,
        higher=higher,
        method="simulation" if simulated else "exact",
        error=max((c.error for c in simulated), default=0.0),
        _plan=plan,
        _test=chosen,
    )


def _undetectable(test: PlannedTest, plan: Plan, n: int, level: float, ends: tuple[float, float]) -> str:
    """Why no difference is found, not even rarely."""
    key = plan.metric.key
    if ends[0] == ends[1]:
        return (
            f"the true {key} cannot move away from the reference's, {plan.reference_score:.6g}: rates of exactly 0 or "
            "1 stay where they are; pass the group's truth to power()"
        )
    if isinstance(test, OneRate):
        return f"no outcome of n = {n:,} cases reaches p <= {level:g}, so no difference is detectable"
    return (
        f"no true {key} that was looked at lets n = {n:,} cases reach p <= {level:g} with a relevant probability, so "
        "no difference is detectable"
    )


def _inside(plan: Plan, end: float) -> float:
    """A score close to the end of the range, at which all outcomes still have a probability."""
    if np.isinf(plan.metric.range[1]) and end > plan.reference_score:
        end = min(end, _TIMES * max(plan.reference_score, 1.0))
    return plan.reference_score + 0.999 * (end - plan.reference_score)


def _detected(
    test: PlannedTest, plan: Plan, n: int, margin: int | None, target: float, end: float
) -> tuple[float, Chance] | None:
    """The difference closest to 0 from which the power stays at the target or above.

    It stays up to the end of the range or, if it falls again before, up to the last true score of a grid that has it.
    """
    unbounded = np.isinf(plan.metric.range[1]) and end > plan.reference_score
    far = _inside(plan, end) if unbounded or plan.metric.curve is None else end
    exact = isinstance(test, OneRate)
    aim, precision = target, 1e-12 if exact else 1e-4
    places = _SCORES if exact else _FEW_SCORES
    grid = np.r_[0.0, np.geomspace(_SMALL_PART, 1, places - 1)] if unbounded else np.linspace(0, 1, places)

    def reached(share: float) -> bool:
        return test.quick(plan.at(plan.reference_score + share * (far - plan.reference_score)), n, margin) >= aim

    for _ in range(3):
        if far == plan.reference_score:
            return None
        yes = [reached(float(share)) for share in grid]
        if not any(yes):
            return None
        first = len(yes) - 1 - yes[::-1].index(True)
        while first > 0 and yes[first - 1]:
            first -= 1
        low, high = float(grid[max(first - 1, 0)]), float(grid[first])
        while high - low > (precision * high if unbounded else precision) and first:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (low, middle) if reached(middle) else (middle, high)
        difference = high * (far - plan.reference_score)
        found = test.chance(plan.at(plan.reference_score + difference), n, margin)
        if exact or abs(found.power - target) <= max(found.error, 0.005):
            return difference, found
        # The quick estimate is that of a test that rejects a little more often.
        aim = min(aim * target / max(found.power, 1e-9), 1 - 1e-9)
    return difference, found
