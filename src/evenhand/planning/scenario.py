"""What planning assumes: the reference, the true rates of the group, and its size.

A reference given as counts is a sample, which planning draws anew with the rates that the counts
show. One given as four cell probabilities is known. So is one given as a single score, such as a
TPR of 0.7: then nothing is known of cases outside the denominator, and n counts the cases in it.

The power of a test depends on all rates of the group. If only a difference is given, they start at
the reference's and move until the score is the wanted one:

- A score of one rate (shares, rates, F1, Jaccard): that rate moves, and all others stay.
- Marginal benefit: the share of false positives among errors moves, and their number stays.
- A score of two rates (MCC, kappa, ...): the log odds of both move by the same amount in opposite
  directions. For markedness these are PPV and the false omission rate, for others TPR and FPR.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import CELLS, ConfusionMatrix, as_size, require_counts
from ..distributions import Multinomial, as_probabilities, undefined_probability_of
from ..errors import InvalidInput, TooLarge
from ..inference import count_successes, one_group_metric
from ..metrics import Metric, OneGroupMetric, sum_cells

#: Counts, four cell probabilities, or the score of a metric of one rate.
Side = ConfusionMatrix | ArrayLike

MAX_CASES = 10**15
# Log odds move at most this far, and rates not to 0 and 1, where some scores are undefined.
_MAX_MOVE, _LIMITS = 80.0, (1e-14, 1 - 1e-14)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_number(value: Any, argument: str, low: float = -inf, high: float = inf) -> float:
    """Check that an argument is a number strictly between two others."""
    if not _is_number(value) or not low < float(value) < high:
        limits = f"lie between {low:g} and {high:g}"
        must = "be a number" if low == -inf else limits
        raise InvalidInput(argument=argument, must=must, got=value)
    return float(value)


def cell_rates(
    side: Side, metric: OneGroupMetric | None = None, name: str = "the group's `truth`"
) -> Floats:
    """The cell probabilities of a group or reference; a single score needs the metric."""
    if isinstance(side, ConfusionMatrix):
        if side.n == 0:
            raise InvalidInput(f"{name} is empty (n = 0); it must have cases")
        return np.asarray(side.proportions, dtype=np.float64)
    if metric is None or not _is_number(side):
        return np.array(as_probabilities(side))
    if metric.curve is None:
        hint = "pass four cell probabilities or a ConfusionMatrix"
        raise InvalidInput(f"{metric.key} depends on several rates; {hint}")
    if not metric.low <= side <= metric.high:
        must = f"must be a {metric.key} from {metric.low:g} to {metric.high:g}"
        raise InvalidInput(f"{name} {must}; got {side:g}")
    return metric.tree.cells(1.0, 1.0, 0.0, float(metric.curve.rate(side)))


@dataclass(frozen=True)
class Scenario:
    """A metric, its reference, and the group's true rates and size.

    ``reference_counts`` is None if the reference's rates are known, and ``denominator`` if the
    group's is random.
    """

    metric: OneGroupMetric
    reference_counts: Floats | None
    reference_rates: Floats
    rates: Floats
    n: int = 0
    denominator: int | None = None

    @classmethod
    def of(
        cls, name: str | Metric, reference: Side, gap: float | None, truth: Side | None
    ) -> Self:
        """The scenario of a difference from the reference's score, or of given true rates."""
        metric, counts = one_group_metric(name), None
        rates = cell_rates(reference, metric, "the `reference`")
        if isinstance(reference, ConfusionMatrix):
            counts = require_counts(reference, "the reference")
        if reason := metric.why_undefined(rates):
            raise InvalidInput(f"the reference's {metric.key} is undefined, {reason}")
        if (gap is None) == (truth is None):
            goals = "a `difference` from the reference's score, or the group's `truth`"
            raise InvalidInput(f"pass either {goals}")
        scenario = cls(metric, counts, rates, rates)
        if truth is not None:
            return replace(scenario, rates=cell_rates(truth, metric))
        gap = check_number(gap, "difference")
        return scenario.at(scenario.reference_score + gap)

    def at(self, score: float) -> Self:
        """The same with a group whose true score is ``score``."""
        rates = move_rates(self.metric, self.reference_rates, score)
        return replace(self, rates=rates)

    def of_size(self, n: Any, denominator: Any = None) -> Self:
        """The same with so many cases; an error if the score can never be defined."""
        m = self.metric
        if as_size(n) > MAX_CASES:
            raise TooLarge(f"`n` must be at most {MAX_CASES:,} cases; got {n:,}")
        if denominator is not None:
            limit = n if m.denominator else 0
            if not 1 <= as_size(denominator, "denominator") <= limit:
                must = f"be from 1 to n = {n:,}, and only for scores that have one"
                raise InvalidInput(argument="denominator", must=must, got=denominator)
        scenario = replace(self, n=int(n), denominator=denominator)
        reason = m.why_undefined(self.rates)
        if reason or scenario.p_undefined >= 1:
            text = f"{m.key} is always undefined at n = {n:,}"
            raise InvalidInput(f"{text}: {reason or 'it needs more cases'}")
        return scenario

    @property
    def reference_score(self) -> float:
        """The reference's score."""
        return float(self.metric.scores(self.reference_rates))

    @property
    def true_score(self) -> float:
        """The group's true score; nan if it is undefined."""
        return float(self.metric.scores(self.rates))

    @property
    def p_undefined(self) -> float:
        """The probability that the score of ``n`` cases is undefined."""
        rates, n, tree = self.rates, self.n, self.metric.tree
        if self.denominator is not None and not tree.side:
            rates, n = rates * np.isin(CELLS, tree.margin), self.denominator
        law = Multinomial(n, tuple(rates.tolist()))
        return undefined_probability_of(self.metric.undefined_sets[0], law)

    @property
    def denominator_rate(self) -> float:
        """The probability that a case of the group counts in the metric's denominator."""
        margin = self.metric.tree.margin
        return min(float(sum_cells(self.rates, margin)), 1.0) if margin else 1.0


def success_rate(metric: OneGroupMetric, rates: Floats) -> float:
    """The rate in the last split of the metric's tree."""
    part, whole = count_successes(metric, rates)
    return min(float(part / whole), 1.0) if whole else 0.0


def reachable_scores(metric: OneGroupMetric, rates: Floats) -> list[float]:
    """The lowest and the highest score that `move_rates` can reach."""
    ends = (_move(metric, rates, t) for t in (-_MAX_MOVE, _MAX_MOVE))
    return sorted(float(metric.scores(end)) for end in ends)


def move_rates(metric: OneGroupMetric, rates: Floats, score: float) -> Floats:
    """The rates with a given score, moved from ``rates`` as the module describes."""
    start = float(metric.scores(rates))
    if score == start:
        return rates
    low, high = reachable_scores(metric, rates)
    target = min(max(score, low), high)
    if abs(score - target) > 1e-12 * max(1.0, abs(score)):
        raise InvalidInput(
            f"a `difference` of {score - start:.6g} from the reference's {metric.key} of "
            f"{start:.6g} gives {score:.6g}, which must be from {low:.6g} to {high:.6g}"
        )
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        return float(metric.scores(_move(metric, rates, t))) - target

    t = brentq(excess, -_MAX_MOVE, _MAX_MOVE, xtol=1e-15, rtol=1e-15)
    return _move(metric, rates, t)


def _move(metric: OneGroupMetric, rates: Floats, t: float) -> Floats:
    """Move the log odds of the last split by -t, and those of the side by t.

    Cells of which only the sum matters are merged.
    """
    from scipy.special import expit, logit

    tree, moved = metric.tree, rates.copy()
    splits = (tree.side, tree.margin, t), (tree.last, tree.last_of, -t)
    for part, whole, step in splits:
        total = float(sum_cells(rates, whole))
        if part and total:
            start = np.clip(sum_cells(rates, part) / total, *_LIMITS)
            rate = np.clip(expit(logit(start) + step), *_LIMITS)
            rest = [cell for cell in whole if cell not in part]
            moved[[CELLS.index(cell) for cell in whole]] = 0.0
            moved[CELLS.index(part[0])] = total * rate
            moved[CELLS.index(rest[0])] = total * (1 - rate)
    return moved
