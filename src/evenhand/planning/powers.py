"""Power: how likely a test is to find a difference, and the smallest difference that it finds."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInput
from ..inference import Given, NullName, one_group_metric
from ..metrics import Metric
from ..randomness import Rng, seed_of
from .outcomes import Chance, PlannedTest, corrected
from .plan import FEW_SCORES, SCORES, Plan
from .planned_tests import DRAWS, AskedTest, OneRate, TestName, check_size
from .truths import Scenario, Side, number_between, reachable_scores

__all__ = ["detectable_difference", "power"]

# Scores without an upper end are looked at up to so many times the reference's, and differences from a small part on.
_TIMES, _SMALL_PART = 1e3, 1e-4


def power(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    difference: float | None = None,
    truth: Side | None = None,
    alpha: float = 0.05,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    mid_p: bool = False,
    redraw: bool = False,
    draws: int = DRAWS,
    rng: Rng = 0,
) -> Plan:
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
    alpha : float
        The test rejects if its p-value is at most this.
    test : {"fisher", "unconditional", "match"}
        The tests of `audit` and `disparity` for equal scores, or `match_test`. For scores made of several rates the
        first two are the same approximate test; known rates then stand for a reference of a billion cases. With MATCH
        and ``null="known"``, a group's score that the reference's rates do not allow, which `match_test` refuses,
        counts as a rejection if twice the probability of the allowed scores below it, or above it, is at most
        alpha. Outside of all allowed scores it always does.
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
        How many outcomes are tested at most if there are too many to test all; fewer if the standard error of the power
        is below 1 percentage point.
    rng : int, numpy.random.Generator or None
        The seed or generator of what is simulated.

    Returns
    -------
    Plan
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
    m = one_group_metric(metric)
    asked = AskedTest(test=test, null=null, given=given, alpha=alpha, mid_p=mid_p, redraw=redraw, draws=draws, rng=rng)
    scenario = Scenario.of(m, reference, difference, truth)
    size, margin = check_size(scenario, n, denominator)
    chosen, name, against = asked.of(scenario, reference)
    found = chosen.chance(scenario, size, margin)
    return Plan(
        question="power",
        metric=m,
        n=size,
        denominator=margin,
        reference_n=scenario.reference_n,
        reference_score=scenario.reference_score,
        true_score=scenario.true_score,
        alpha=float(alpha),
        test=name,
        null=against,
        value=min(found.power, 1.0),
        wrong_way=found.wrong_way,
        p_undefined=found.p_undefined,
        method=found.method,
        error=found.error,
        rng=seed_of(rng) if found.method != "exact" else None,
        _scenario=scenario,
        _test=chosen,
    )


def detectable_difference(
    metric: str | Metric,
    n: int,
    reference: Side,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    test: TestName = "fisher",
    null: NullName = "pooled",
    given: Given = "margin",
    denominator: int | None = None,
    mid_p: bool = False,
    draws: int = DRAWS,
    rng: Rng = 0,
) -> Plan:
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
    alpha, test, null, given, denominator, mid_p, draws, rng
        As for `power`, which also says how the truth moves with the score.

    Returns
    -------
    Plan
        With ``lower`` and ``higher``. Prints as a short block.

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
    m = one_group_metric(metric)
    target = number_between(power, "power")
    asked = AskedTest(test=test, null=null, given=given, alpha=alpha, mid_p=mid_p, draws=draws, rng=rng)
    scenario = Scenario.of(m, reference, 0.0)
    size, margin = check_size(scenario, n, denominator)
    chosen, name, against = asked.of(scenario, reference)
    ends = reachable_scores(m, scenario.rates)
    found = [_detected(chosen, scenario, size, margin, target, end) for end in ends]
    if not any(found) and not any(chosen.quick(scenario.at(_inside(scenario, end)), size, margin) > 0 for end in ends):
        raise InvalidInput(_undetectable(chosen, scenario, size, alpha, ends))
    lower, higher = (None if f is None else f[0] for f in found)
    simulated = [f[1].error for f in found if f is not None and f[1].method != "exact"]
    return Plan(
        question="detectable_difference",
        target=target,
        metric=m,
        n=size,
        denominator=margin,
        reference_n=scenario.reference_n,
        reference_score=scenario.reference_score,
        lower=lower,
        higher=higher,
        alpha=float(alpha),
        test=name,
        null=against,
        value=target,
        method="simulation" if simulated else "exact",
        error=max(simulated, default=0.0),
        rng=seed_of(rng) if simulated else None,
        _scenario=scenario,
        _test=chosen,
    )


def _undetectable(test: PlannedTest, scenario: Scenario, n: int, alpha: float, ends: tuple[float, float]) -> str:
    """Why no difference is found, not even rarely."""
    key = scenario.metric.key
    if ends[0] == ends[1]:
        return (
            f"the true {key} cannot move away from the reference's, {scenario.reference_score:.6g}: rates of exactly 0 "
            "or 1 stay where they are; pass the group's `truth` to power()"
        )
    if isinstance(test, OneRate):
        return f"no outcome of n = {n:,} cases reaches p <= {alpha:g}, so no difference is detectable"
    return (
        f"no true {key} that was looked at lets n = {n:,} cases reach p <= {alpha:g} with a relevant probability, so "
        "no difference is detectable"
    )


def _inside(scenario: Scenario, end: float) -> float:
    """A score close to the end of the range, at which all outcomes still have a probability."""
    if np.isinf(scenario.metric.range[1]) and end > scenario.reference_score:
        end = min(end, _TIMES * max(scenario.reference_score, 1.0))
    return scenario.reference_score + 0.999 * (end - scenario.reference_score)


def _detected(
    test: PlannedTest, scenario: Scenario, n: int, margin: int | None, target: float, end: float
) -> tuple[float, Chance] | None:
    """The difference closest to 0 from which the power stays at the target or above.

    It stays up to the end of the range or, if it falls again before, up to the last true score of a grid that has it.
    """
    unbounded = np.isinf(scenario.metric.range[1]) and end > scenario.reference_score
    far = _inside(scenario, end) if unbounded or scenario.metric.curve is None else end
    exact = isinstance(test, OneRate)
    aim, precision = target, 1e-12 if exact else 1e-4
    places = SCORES if exact else FEW_SCORES
    grid = np.r_[0.0, np.geomspace(_SMALL_PART, 1, places - 1)] if unbounded else np.linspace(0, 1, places)

    def reached(share: float) -> bool:
        score = scenario.reference_score + share * (far - scenario.reference_score)
        return test.quick(scenario.at(score), n, margin) >= aim

    for _ in range(3):
        if far == scenario.reference_score:
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
        difference = high * (far - scenario.reference_score)
        found = test.chance(scenario.at(scenario.reference_score + difference), n, margin)
        if exact or abs(found.power - target) <= max(found.error, 0.005):
            return difference, found
        # The quick estimate is that of a test that rejects about as often.
        aim = corrected(aim, found.power, target)
    return difference, found
