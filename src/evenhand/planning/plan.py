"""The answer to a question of planning: a power, a number of cases, or the smallest differences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import InvalidInput
from ..metrics import Metric
from ..records import Record, reach
from ..wording import decided, several
from .outcomes import PlannedTest
from .truths import Scenario, reachable_scores

__all__ = ["FEW_SCORES", "SCORES", "Goal", "Plan", "Question", "block", "percent"]

Question = Literal["power", "sample_size", "detectable_difference"]
Goal = Literal["power", "half-width", "undefined"]

# How many true scores are looked at, and how many if each takes a simulation.
SCORES, FEW_SCORES = 65, 9
_TESTS = {
    "fisher": "Fisher's exact test of equal rates",
    "unconditional": "Boschloo's exact test of equal rates",
    "binomial": "the exact binomial test",
    "mid-p": "the approximate test of equal scores",
    "match": "the MATCH test",
}


def block(head: str, facts: Iterable[tuple[str, str]]) -> str:
    """A result as text: a sentence, and a line for each fact with its label."""
    return "\n".join([head, *(f"  {label:<11} {text}" for label, text in facts)])


def percent(p: float) -> str:
    """A probability in per cent, with three digits."""
    return f"{100 * p:.3g} %"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Record):
    """The answer of `power`, `sample_size` or `detectable_difference`, and what it assumes.

    Attributes
    ----------
    question : {"power", "sample_size", "detectable_difference"}
        Which of them was asked. What it neither assumes nor answers is None.
    goal : {"power", "half-width", "undefined"}
        What the cases are for: to find a difference, to narrow an interval, or to make the score exist.
    target : float or None
        The power to reach, the probability of an interval that is narrow enough, or the largest probability of an
        undefined score; None if the power itself is asked for.
    metric : Metric
        The score.
    n : int
        The group's number of cases. The answer of `sample_size` is the smallest one that reaches the goal, among all
        up to ``n_looked`` if the score depends on one rate. For other scores and tests it is found by bisection, and is
        the smallest of its neighbours.
    n_stays : int or None
        Of `sample_size`: the number from which on every number up to ``n_looked`` reaches the goal. Exact power goes up
        and down with ``n``, so it can be larger than ``n``.
    n_looked : int or None
        Of `sample_size`: the largest number that was looked at; None if every larger one reaches the goal for certain.
    denominator : int or None
        The group's denominator, such as its number of actual positives, if it is given.
    reference_n : int or None
        The reference's number of cases; None if its rates are known.
    reference_score : float
        The reference's score.
    true_score : float or None
        The group's true score.
    lower, higher : float or None
        Of `detectable_difference`: the smallest differences, one negative, one positive. Larger ones have the power
        too, if not always up to the end of the range, where some scores become undefined. None if no true score of a
        grid on that side has it.
    half_width, level : float or None
        The half-width of the interval, and its level.
    alpha : float or None
        The level of the test: it rejects if its p-value is at most this.
    test : {"fisher", "unconditional", "binomial", "mid-p", "match"} or None
        The test. ``"binomial"`` is the exact test against known rates, ``"mid-p"`` the approximate test for scores
        made of several rates.
    null : str or None
        The null of MATCH; None for other tests.
    value : float
        What ``n`` cases reach: the power, the probability of an interval that is narrow enough, or that of an undefined
        score.
    wrong_way : float or None
        Of `power`: the part of it in which the difference is found in the wrong direction.
    p_undefined : float or None
        The probability that the group's score is undefined.
    method : {"exact", "simulation"}
        Whether all outcomes were counted.
    error : float
        The probability of outcomes that were left out (exact), or the standard error (simulation).
    rng : int or None
        The seed that repeats a simulation; None if nothing was simulated, or with a generator.
    sizes, values : tuple
        Of `sample_size`: some of the sizes that were looked at, and what they reach, for a plot.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, power, sample_size
    >>> rest = ConfusionMatrix(300, 100, 120, 480)
    >>> p = power("tpr", 100, rest, difference=-0.2)
    >>> round(p.power, 3), p.test, p.method
    (0.676, 'fisher', 'exact')
    >>> s = sample_size("tpr", rest, difference=-0.2)
    >>> s.n, s.n_stays, round(s.power, 3)
    (133, 133, 0.801)
    """

    question: Question
    goal: Goal = "power"
    target: float | None = None
    metric: Metric
    n: int
    n_stays: int | None = None
    n_looked: int | None = None
    denominator: int | None = None
    reference_n: int | None
    reference_score: float
    true_score: float | None = None
    lower: float | None = None
    higher: float | None = None
    half_width: float | None = None
    level: float | None = None
    alpha: float | None = None
    test: str | None = None
    null: str | None = None
    value: float
    wrong_way: float | None = None
    p_undefined: float | None = None
    method: str
    error: float
    rng: int | None
    sizes: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    _scenario: Scenario = field(compare=False)
    _test: PlannedTest | None = field(default=None, compare=False)
    _derived: ClassVar[tuple[str, ...]] = (
        "difference",
        "lower_score",
        "higher_score",
        "power",
        "expected_denominator",
    )

    @property
    def difference(self) -> float | None:
        """The difference to be found: the group's true score minus the reference's.

        Examples
        --------
        >>> from evenhand import power
        >>> round(power("acc", 40, [0.4, 0.1, 0.1, 0.4], difference=-0.2).difference, 12)
        -0.2
        """
        return None if self.true_score is None or self.goal != "power" else self.true_score - self.reference_score

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

    @property
    def power(self) -> float:
        """The probability of a rejection; an undefined score is not tested, and does not count as one.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, sample_size
        >>> round(sample_size("tpr", ConfusionMatrix(300, 100, 120, 480), difference=-0.2).power, 3)
        0.801
        """
        if self.goal != "power":
            raise InvalidInput("the plan is one of an interval or of a score that exists, so it has no power")
        return self.value

    @property
    def expected_denominator(self) -> float | None:
        """The denominator that ``n`` cases have, given or on average; None if the score is one of all cases.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, power
        >>> round(power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2).expected_denominator, 9)
        40.0
        """
        if self.metric.base.denominator is None:
            return None
        return self.n * self._scenario.margin_rate if self.denominator is None else float(self.denominator)

    def curve(self, scores: Iterable[float]) -> list[float]:
        """The power of the same test, with the same number of cases, for other true scores.

        Parameters
        ----------
        scores : iterable of float
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
        if (test := self._test) is None:
            raise InvalidInput("the plan is one of an interval or of a score that exists, so it has no power")
        scenarios = (self._scenario.at(float(score)) for score in scores)
        return [test.chance(scenario, self.n, self.denominator).power for scenario in scenarios]

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
        low, high = reachable_scores(self._scenario.metric, self._scenario.rates)
        far = [2 * (self.difference or 0.0), 1.5 * (self.lower or 0.0), 1.5 * (self.higher or 0.0), 0.1]
        away = max(map(abs, far))
        ends = max(low, self.reference_score - away), min(high, self.reference_score + away)
        scores = np.linspace(*ends, SCORES if self.method == "exact" else FEW_SCORES).tolist()
        return scores, self.curve(scores)

    def plot(self, ax: Any = None) -> Any:
        """Plot the power against the true score or, of `sample_size`, what is reached against the number of cases.

        It needs the extra ``plots``.

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
        >>> from evenhand import ConfusionMatrix, power, sample_size
        >>> ax = power("tpr", 100, ConfusionMatrix(300, 100, 120, 480), difference=-0.2).plot()
        >>> ax = sample_size("tpr", ConfusionMatrix(300, 100, 120, 480), difference=-0.2).plot()
        """
        return reach("Plan.plot")(self, ax=ax)

    @property
    def test_name(self) -> str:
        """The test in words, and its null if it is MATCH.

        Examples
        --------
        >>> from evenhand import power
        >>> power("acc", 40, [0.4, 0.1, 0.1, 0.4], difference=-0.2).test_name
        'the exact binomial test'
        """
        return _TESTS[self.test or ""] + (f", {self.null} null" if self.null else "")

    def __str__(self) -> str:
        head, *facts = {"power": _power, "sample_size": _size, "detectable_difference": _differences}[self.question](
            self
        )
        who = "known rates" if self.reference_n is None else several(self.reference_n, "case")
        facts.append(("reference", f"{who}, score {self.reference_score:.4g}"))
        if self.test:
            facts.append(("test", f"{self.test_name}, p <= {self.alpha:g}"))
        if self.wrong_way is not None and self.difference:
            facts.append(
                ("wrong way", f"{percent(self.wrong_way)} of groups differ significantly in the wrong direction")
            )
        if self.question == "power" and self.p_undefined is not None:
            facts.append(("undefined", f"{percent(self.p_undefined)} of groups have no score"))
        facts.append(("method", "exact" if self.method == "exact" else f"simulation, standard error {self.error:.2g}"))
        if self.p_undefined == 1:
            facts.append(("caution", "every possible outcome has an undefined score"))
        elif self.test and self.value == 0 and self.method == "exact":
            facts.append(("caution", f"no outcome that this truth allows reaches p <= {self.alpha:g}"))
        return block(head[1], facts)


Fact = tuple[str, str]


def _power(plan: Plan) -> list[Fact]:
    """The first line of a power, and the facts that no other plan has."""
    m = plan.metric
    what = f"of {plan.difference:+.4g}" if plan.difference else "where none is"
    of = "" if plan.denominator is None else f", {m.base.denominator.counted(plan.denominator)}"  # type: ignore[union-attr]
    return [
        ("", f"Power {percent(plan.value)} to find a difference in {m.key} {what}"),
        ("group", f"{several(plan.n, 'case')}{of}, true score {plan.true_score:.4g}"),
    ]


def _size(plan: Plan) -> list[Fact]:
    """The same of a number of cases."""
    key, reached = plan.metric.key, _reached(plan.value, plan.target or 0.0)
    s = "s" if plan.n == 1 else ""
    head = {
        "power": f"find{s} a difference in {key} of {plan.difference or 0:+.4g} with a power of {reached}",
        "half-width": f"give{s} a {100 * (plan.level or 0):g} % interval of {key} within ±{plan.half_width or 0:g} in "
        f"{reached} of groups",
        "undefined": f"leave{s} {key} undefined with probability {reached}",
    }[plan.goal]
    looked = "" if plan.n_looked is None else f" up to {plan.n_looked:,}"
    first = "every larger number" if plan.n_stays == plan.n else f"every number from {plan.n_stays:,}"
    bound = "at most" if plan.goal == "undefined" else "at least"
    facts = [("", f"{several(plan.n, 'case')} {head}"), ("goal", f"{bound} {plan.target:g}; so does {first}{looked}")]
    part = plan.metric.base.denominator
    return [*facts, ("of them", f"about {part.counted(round(plan.expected_denominator or 0))}")] if part else facts


def _reached(value: float, target: float) -> str:
    """What is reached, in per cent, with the digits that show on which side of the target it is."""
    return decided(100 * value, [100 * target], lambda more: f"{100 * value:.{3 + more}g}") + " %"


def _differences(plan: Plan) -> list[Fact]:
    """The same of the smallest differences."""
    sides = (("lower", plan.lower, plan.lower_score), ("higher", plan.higher, plan.higher_score))
    return [
        (
            "",
            f"Smallest differences in {plan.metric.key} that {several(plan.n, 'case')} "
            f"{'shows' if plan.n == 1 else 'show'} with a power of {plan.value:g}",
        ),
        *((side, "none" if by is None else f"{by:+.4g}, to a true score of {at:.4g}") for side, by, at in sides),
    ]
