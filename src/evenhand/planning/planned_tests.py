"""A planned test of a group against a reference, and how likely it is to reject.

**Tests of one rate** are exact. Given the group's denominator and the reference's count, Fisher's
test (against known rates, the binomial test) rejects if the group's count is at most one bound, or
at least another one. The bounds are found by integer bisection. Power is a sum of binomial tails
beyond them, over the reference's counts and the group's denominators. A reference given as counts
keeps its denominator, and its successes are drawn anew with its rate.

**Other tests** are simulated: groups, and the reference if it is given as counts, are drawn, and the
audit's own test is run on them. Its p-values are costly, and mostly on the same side of the level as
those of a normal test, which are cheap. So power is that of the normal test in many draws, plus the
mean difference of both tests in the first few of them; the standard error is stated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import CELLS, ConfusionMatrix, require_counts
from ..distributions import Binomial, Multinomial, binomial_cdf, sample_cells
from ..errors import InvalidInput, TooLarge, check_cost
from ..inference import (
    ROUNDING,
    Given,
    MatchSettings,
    NullName,
    TwoRates,
    check_choice,
    count_successes,
    equality_test,
    fisher_tails,
    match_test,
    one_group_metric,
    score_slopes,
    undefined_probability,
)
from ..metrics import Metric, OneGroupMetric, sum_cells
from ..progress import progress
from ..randomness import Rng, generator
from .scenario import Side, cell_rates, check_number, check_whole, move_rates, success_rate

TestName = Literal["fisher", "match"]

Mean = Callable[[float, float], Floats]

# Draws that are tested, and cases of simulated tests, at most.
DRAWS, _MAX_DRAWS, _MAX_MATCH, _MAX_SIMULATED = 160, 10_000, 2_000, 2**28
# Probability that windows of counts leave out on either side: of known rates, and of samples.
_EPS, _SAMPLE_EPS = 1e-16, 1e-11
# Tests of an exact power.
_MAX_TESTS = 2**18
# Draws of the normal test, and the cases of a reference that stands for known rates.
_NORMAL_DRAWS, _KNOWN_CASES = 20_000, 1e9
_HINT = "take fewer cases, or give the `denominator`"


class PowerEstimate(NamedTuple):
    """The probability of a rejection, and of one in the wrong direction."""

    value: float
    wrong_way: float
    p_undefined: float
    method: str
    error: float


@dataclass(frozen=True)
class PlannedTest:
    """A test at one level, with the rates of the reference, and the group's true rates and size.

    ``reference_counts`` is None if the reference's rates are known, ``denominator`` if the group's
    is random. If ``is_exact``, it is Fisher's test of one rate, or the binomial test against known
    rates.
    """

    metric: OneGroupMetric
    reference_counts: Floats | None
    reference_rates: Floats
    rates: Floats
    alpha: float
    comparisons: int
    test: str
    is_exact: bool
    settings: MatchSettings
    seed: int
    n: int = 0
    denominator: int | None = None

    def at(self, score: float) -> PlannedTest:
        """The same with a group whose true score is ``score``."""
        return replace(self, rates=move_rates(self.metric, self.reference_rates, score))

    def of_size(self, n: Any, denominator: Any = None) -> PlannedTest:
        """The same with so many cases; an error if the score can never be defined."""
        m, n = self.metric, check_whole(n, "n", low=0)
        if denominator is not None:
            if not m.denominator:
                raise InvalidInput(f"{m.key} has no denominator but `n`; leave `denominator` out")
            check_whole(denominator, "denominator", n)
        planned = replace(self, n=n, denominator=denominator)
        reason = m.why_undefined(self.rates)
        if reason or planned.p_undefined >= 1:
            reason = reason or "it needs more cases"
            raise InvalidInput(f"{m.key} is always undefined at n = {n:,}: {reason}")
        return planned

    @property
    def level(self) -> float:
        """The level of a single test."""
        return self.alpha / self.comparisons

    @property
    def null(self) -> str | None:
        """The null of MATCH; None for other tests."""
        return self.settings.null if self.test == "match" else None

    @property
    def reference_n(self) -> int | None:
        """The reference's number of cases; None if its rates are known."""
        counts = self.reference_counts
        return None if counts is None else int(counts.sum())

    @property
    def reference_score(self) -> float:
        """The reference's score."""
        return float(self.metric.scores(self.reference_rates))

    @property
    def true_score(self) -> float:
        """The group's true score; nan if it is undefined."""
        return float(self.metric.scores(self.rates))

    @property
    def gap(self) -> float:
        """The difference of the true scores."""
        return self.true_score - self.reference_score

    @property
    def p_undefined(self) -> float:
        """The probability that the score of ``n`` cases is undefined."""
        rates, n, tree = self.rates, self.n, self.metric.tree
        if self.denominator is not None and not tree.side:
            rates, n = rates * np.isin(CELLS, tree.margin), self.denominator
        return undefined_probability(self.metric, n, rates / rates.sum())

    @property
    def denominator_rate(self) -> float:
        """The probability that a case of the group counts in the metric's denominator."""
        margin = self.metric.tree.margin
        return min(float(sum_cells(self.rates, margin)), 1.0) if margin else 1.0

    def power(self) -> PowerEstimate:
        """The exact power, or a simulated one if there are too many terms."""
        n, gap = self.denominator or self.n, self.gap
        try:
            lower, higher = self.mean_over_denominators(n, n, self.p_rejected)[:, 0]
        except TooLarge:
            if self.is_exact and self.reference_n is None:
                raise
            return self._simulate()
        wrong_way = lower if gap > 0 else higher if gap < 0 else lower + higher
        power, wrong_way = np.minimum([lower + higher, wrong_way], 1.0).tolist()
        error = 0.0 if self.reference_n is None else 4 * _SAMPLE_EPS
        return PowerEstimate(power, wrong_way, self.p_undefined, "exact", error)

    def mean_over_denominators(self, first: int, last: int, given: Mean) -> Floats:
        """Means over groups of first to last cases of what is ``given`` the denominator, in rows."""
        check_cost(last - first, _MAX_TESTS, "there are {} sizes to look at", _HINT)
        rate = 1.0 if self.denominator else self.denominator_rate
        if rate == 1:
            return given(first, last)
        split = Binomial(rate, 1 - rate)
        (low, _), (_, high) = split.window(np.array([first, last], float), _EPS)
        values, means = given(low, high), []
        p = split.pmf(np.arange(low, high + 1), first)
        for _ in range(first, last + 1):
            means.append(values @ p)
            # One case more.
            p = (1 - rate) * p + rate * np.append(0.0, p[:-1])
        return np.transpose(means)

    def p_rejected(self, first: float, last: float) -> Floats:
        """P(rejected as lower) and P(rejected as higher), for denominators from first to last."""
        if not self.is_exact:
            raise TooLarge("there is no exact power of this test")
        m, counts, cases = self.metric, self.reference_counts, 0.0
        if counts is not None:
            cases = float(count_successes(m, counts)[1])
        # Some scores are undefined without a success, or without a failure.
        ends = m.tree.cells(1.0, 1.0, 0.0, np.array([0.0, 1.0]))
        ends_undefined = m.undefined_sets[0].contains(*ends.T)
        reference = success_rate(m, self.reference_rates), cases, self.null == "known"
        x, weights, *bounds = _rejection_bounds(*reference, first, last, self.level)
        if cases:
            weights = np.where(np.isin(x, np.array([0, cases])[ends_undefined]), 0.0, weights)
        p, size, tails = success_rate(m, self.rates), np.arange(first, last + 1)[:, None], []
        for bound, rate, is_undefined in zip(bounds, (p, 1 - p), ends_undefined, strict=True):
            lowest = binomial_cdf(np.minimum(bound, 0), size, rate) * is_undefined
            tails.append((binomial_cdf(bound, size, rate) - lowest) @ weights)
        # Without cases in the denominator there is no score.
        return np.where(size[:, 0] > 0, tails, 0.0)

    def normal_power(self) -> float:
        """The power of the normal test, as if cells were as expected."""
        from scipy.special import ndtr, ndtri

        sizes = [[self.n], [self.reference_n or _KNOWN_CASES]]
        cells = np.array(sizes) * [self.rates, self.reference_rates]
        (z,), limit = _normal_scores(self.metric, *cells[:, None]), ndtri(self.level / 2)
        return float(ndtr(limit + z) + ndtr(limit - z)) * (1 - self.p_undefined)

    def _simulate(self) -> PowerEstimate:
        """The simulated power: that of the normal test, and how much the test itself differs."""
        from scipy.special import ndtr

        m, draws = self.metric, self.settings.draws
        limit = _MAX_MATCH if self.test == "match" else _MAX_SIMULATED
        check_cost(self.n, limit, "simulated tests have n = {} cases", "take fewer cases")
        groups, references = self._draw()
        normal = 2 * ndtr(-_normal_scores(m, groups, references)) <= self.level
        blocks = np.array_split(np.arange(draws), 1 + draws // 32)
        parts = progress(blocks, "testing simulated groups")
        pvalues = [self._pvalues(groups[rows], references[rows]) for rows in parts]
        is_rejected = np.concatenate(pvalues) <= self.level * ROUNDING
        excess = is_rejected.astype(float) - normal[:draws]
        power = float(np.clip(normal.mean() + excess.mean(), 0.0, 1.0))
        error = sqrt(excess.var() / draws + 0.25 / len(normal) + 1 / draws**2)
        scores = m.scores(groups)
        is_wrong = ((scores - m.scores(references)) * self.gap < 0) | (self.gap == 0)
        wrong_way = min(float(np.mean(is_rejected & is_wrong[:draws])), power)
        p_undefined = float(np.isnan(scores).mean()) if self.denominator else self.p_undefined
        return PowerEstimate(power, wrong_way, p_undefined, "simulation", error)

    def _draw(self) -> tuple[Floats, Floats]:
        """Groups, and their references."""
        rng, tree = np.random.default_rng(self.seed), self.metric.tree
        counts = self.reference_counts
        law = Multinomial(self.n, tuple(self.rates))
        groups = sample_cells(tree, law, rng, _NORMAL_DRAWS, self.denominator)
        if counts is None:
            known = tree.collapse(np.round(self.reference_rates * _KNOWN_CASES))
            return groups, np.broadcast_to(known, groups.shape)
        law = Multinomial(int(counts.sum()), tuple(self.reference_rates))
        margin = float(tree.counts(counts)[0])
        return groups, sample_cells(tree, law, rng, _NORMAL_DRAWS, margin)

    def _pvalues(self, groups: Floats, references: Floats) -> Floats:
        """P-values of the test itself."""
        m, how = self.metric, self.settings
        if self.test != "match":
            return equality_test(m, groups, references).pvalues
        matrix = ConfusionMatrix.from_array
        pairs = [(matrix(g), matrix(r)) for g, r in zip(groups, references, strict=True)]
        tests = [match_test(*pair, m, null=how.null, given=how.given) for pair in pairs]
        return np.array([test.pvalue for test in tests])


def plan_test(
    name: str | Metric,
    reference: Side,
    difference: float | None,
    truth: Side | None,
    alpha: float,
    comparisons: int,
    test: str,
    null: NullName,
    given: Given,
    draws: int,
    rng: Rng,
) -> PlannedTest:
    """A test from the arguments of `power`, which are checked."""
    m, counts = one_group_metric(name), None
    settings = MatchSettings(null=null, given=given, draws=draws, rng=rng)
    reference_rates = cell_rates(reference, "reference", m)
    if isinstance(reference, ConfusionMatrix):
        counts = require_counts(reference, "the reference")
    if reason := m.why_undefined(reference_rates):
        raise InvalidInput(f"the reference's {m.key} is undefined, {reason}")
    if (difference is None) == (truth is None):
        either = "pass either a `difference` from the reference's score"
        raise InvalidInput(f"{either}, or the group's `truth`")
    check_whole(draws, "draws", _MAX_DRAWS, 2)
    check_choice("test", test, TestName)
    is_exact = m.curve is not None
    if test == "match":
        if counts is None and null == "predictive":
            must = "not be 'predictive' for known rates: it needs the reference's counts"
            raise InvalidInput(argument="null", must=must)
        settings = settings if counts is not None else replace(settings, null="known")
        is_exact &= m.defined_by_denominator and null != "predictive"
        is_exact &= given == "margin" or not m.tree.margin
    elif not is_exact:
        test = "mid-p"
    elif counts is None:
        test = "binomial"
    if truth is None:
        score = float(m.scores(reference_rates)) + check_number(difference, "difference")
        rates = move_rates(m, reference_rates, score)
    else:
        rates = cell_rates(truth, "truth", m)
    # A search draws the same groups again and again.
    seed = int(generator(rng).integers(2**63))
    level = check_number(alpha, "alpha", 0, 1), check_whole(comparisons, "comparisons", 10**9)
    return PlannedTest(m, counts, reference_rates, rates, *level, test, is_exact, settings, seed)


@lru_cache(maxsize=1)
def _rejection_bounds(
    rate: float, cases: float, is_known: bool, first: float, last: float, level: float
) -> tuple[Floats, ...]:
    """The largest numbers of successes rejected as lower, and of failures rejected as higher.

    There is a row for each denominator, and a column for each likely count of the reference. These
    counts and their probabilities come first. Without ``cases``, its rate is known; if it
    ``is_known``, the test takes that of the counts as known. What is rejected does not depend on the truth, so that a
    search over true scores computes it once.
    """
    is_known |= not cases
    total, split = cases or 1.0, Binomial(rate, 1 - rate)
    (low,), (high,) = split.window(np.array([cases]), _SAMPLE_EPS)
    # Tails of Fisher's test are sums over about so many terms.
    spread = 128.0 if is_known else sqrt(last / (1 + last / total))
    cost = (last - first + 1) * (high - low + 1) * (1 + spread / 128)
    subject = f"an exact power of up to {last:,.0f} cases needs {{}} tests"
    check_cost(cost, _MAX_TESTS, subject, _HINT)
    x = np.arange(low, high + 1) if cases else np.array([rate])
    weights = split.pmf(x, cases) if cases else np.ones(1)
    d = np.repeat(np.arange(first, last + 1), len(x))

    def largest_rejected(x: Floats) -> Floats:
        counts = np.tile(x, len(d) // len(x))
        p = counts / total

        def rejects(k: Floats, rows: Integers) -> Bools:
            if is_known:
                tails = binomial_cdf(k, d[rows], p[rows])
            else:
                tails = fisher_tails(TwoRates(k, d[rows], counts[rows], np.array(total))).lower
            return np.asarray(2 * tails <= level * ROUNDING)

        variance = d * p * (1 - p) * (1 if is_known else 1 + d / total)
        bounds = last_true(rejects, np.floor(d * p - 2 * np.sqrt(variance)), d)
        return bounds.reshape(-1, len(x))

    return x, weights, largest_rejected(x), largest_rejected(total - x)


def last_true(holds: Callable[[Floats, Integers], Bools], guess: Floats, highest: Floats) -> Floats:
    """The largest whole numbers from 0 to ``highest`` up to which ``holds``; -1 if it never does.

    ``holds`` gets numbers, and their places in the arrays. The search gallops away from a guess,
    and then bisects.

    >>> last_true(lambda k, rows: k * k <= 30, np.array([2.0]), np.array([9.0]))
    array([5.])
    """
    low, high = np.full(len(highest), -1.0), highest + 1
    k, step, rows = np.clip(guess, 0, highest), 1.0, np.arange(len(highest))
    while len(rows):
        is_true = holds(k[rows], rows)
        low[rows[is_true]] = k[rows[is_true]]
        high[rows[~is_true]] = k[rows[~is_true]]
        rows = rows[high[rows] - low[rows] > 1]
        middle = np.floor((low[rows] + high[rows]) / 2)
        k[rows] = np.clip(middle, k[rows] - step, k[rows] + step)
        step *= 2
    return low


def _normal_scores(metric: OneGroupMetric, groups: Floats, references: Floats) -> Floats:
    """Gaps in standard errors, by the delta method; 0 where a score is undefined."""
    gap, variance = np.zeros((2, len(groups)))
    for cells, sign in ((groups, 1), (references, -1)):
        score, slopes = metric.scores(cells + 0.5), score_slopes(metric, cells)
        if metric.is_unbounded:
            score, slopes = np.log(score), slopes / score[:, None]
        gap += sign * score
        variance += (slopes**2 * (cells + 0.5)).sum(axis=1)
        gap[metric.undefined_sets[0].contains(*cells.T)] = np.nan
    return np.nan_to_num(np.abs(gap) / np.sqrt(variance))


def first_place(is_enough: Callable[[int], bool], limits: Iterable[int]) -> int | None:
    """The first whole number from 1 where a condition holds, up to the first limit where it does."""
    limit = next(filter(is_enough, limits), None)
    return limit and 1 + bisect_left(range(1, limit), True, key=is_enough)


def search_power(
    at: Callable[[int], PlannedTest], limits: Iterable[int], target: float
) -> dict[int, PowerEstimate]:
    """Simulated powers of a few places, the last of which is the closest to the target.

    A place whose power is clearly below it comes last only if there is no other. The power that is
    searched is that of the normal test, and then corrected: the normal quantiles of both tests differ
    by about the same amount everywhere. Without such a place, it is empty.
    """
    from scipy.special import ndtr, ndtri

    goal, results = target, dict[int, PowerEstimate]()
    for _ in range(6):
        place = first_place(lambda place: at(place).normal_power() >= goal, limits)  # noqa: B023
        if place is None:
            return {}
        results.pop(place, None)
        results[place] = result = at(place).power()
        if abs(result.value - target) <= 2 * result.error:
            break
        powers = [at(place).normal_power(), target, result.value]
        goal = float(ndtr(ndtri(np.clip(powers, 0.01, 0.99)) @ [1, 1, -1]))

    def distance(place: int) -> tuple[bool, float]:
        gap = results[place].value - target
        return gap < -2 * results[place].error, abs(gap)

    best = min(results, key=distance)
    return results | {best: results.pop(best)}
