"""What planning assumes: the reference, and the true rates of the group.

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

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf, isnan
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import CELLS, ConfusionMatrix, require_counts
from ..distributions import Multinomial, as_probabilities
from ..errors import InvalidInput
from ..inference import count_successes
from ..metrics import OneGroupMetric, sum_cells

#: Counts, four cell probabilities, or the score of a metric of one rate.
Side = ConfusionMatrix | ArrayLike

# Log odds move at most this far. Rates stay at least 1e-14 away from 0 and 1, where some scores
# are undefined.
_MAX_MOVE, _MAX_LOG_ODDS = 80.0, 32.0


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_number(value: Any, argument: str) -> float:
    """Check that an argument is a finite number."""
    if not _is_number(value) or not np.isfinite(float(value)):
        raise InvalidInput(argument=argument, must="be a number", got=value)
    return float(value)


def check_between(value: Any, argument: str, low: float = 0.0, high: float = 1.0) -> float:
    """Check that a number lies strictly between two others."""
    if not _is_number(value) or not low < float(value) < high:
        must = f"lie between {low:g} and {high:g}"
        raise InvalidInput(argument=argument, must=must, got=value)
    return float(value)


def cell_rates(side: Side, metric: OneGroupMetric | None = None, name: str = "the group's `truth`") -> Floats:
    """The four cell probabilities of a group or reference; a single score needs the metric."""
    if isinstance(side, ConfusionMatrix):
        if side.n == 0:
            raise InvalidInput(f"{name} must have cases; got an empty matrix (n = 0)")
        return np.asarray(side.proportions, dtype=np.float64)
    if metric is None or not _is_number(side):
        return np.array(as_probabilities(side))
    if metric.curve is None:
        hint = "pass four cell probabilities or a ConfusionMatrix"
        raise InvalidInput(f"{metric.key} depends on several rates; {hint}")
    score = float(side)
    if not metric.low <= score <= metric.high:
        limits = f"{metric.low:g} to {metric.high:g}"
        raise InvalidInput(f"{name} must be a {metric.key} from {limits}; got {score:g}")
    return metric.tree.cells(1.0, 1.0, 0.0, float(metric.curve.rate(score)))


@dataclass(frozen=True)
class Scenario:
    """A metric, its reference, and the true rates of the group.

    ``reference_counts`` is None if the reference's rates are known.
    """

    metric: OneGroupMetric
    reference_counts: Floats | None
    reference_rates: Floats
    rates: Floats

    @classmethod
    def of(
        cls, metric: OneGroupMetric, reference: Side, difference: float | None = None, truth: Side | None = None
    ) -> Scenario:
        """The scenario of a difference from the reference's score, or of given true rates."""
        if isinstance(reference, ConfusionMatrix) and reference.n == 0:
            text = "the `reference` is empty (n = 0); a group cannot be compared with it"
            raise InvalidInput(text)
        has_counts = isinstance(reference, ConfusionMatrix)
        counts = require_counts(reference, "the reference") if has_counts else None
        rates = cell_rates(reference, metric, "the `reference`")
        scenario = cls(metric, counts, rates, rates)
        if isnan(scenario.reference_score):
            reason = metric.why_undefined(rates)
            raise InvalidInput(f"the reference's {metric.key} is undefined, {reason}")
        if (difference is None) == (truth is None):
            hint = "a `difference` from the reference's score, or the group's `truth`"
            raise InvalidInput(f"pass either {hint}")
        if truth is not None:
            return replace(scenario, rates=cell_rates(truth, metric))
        return scenario.at(scenario.reference_score + check_number(difference, "difference"))

    def at(self, score: float) -> Scenario:
        """The same with a group whose true score is ``score``."""
        return replace(self, rates=move_rates(self.metric, self.reference_rates, score))

    @property
    def reference_n(self) -> int | None:
        """The reference's number of cases; None if its rates are known."""
        return None if self.reference_counts is None else int(self.reference_counts.sum())

    @property
    def reference_score(self) -> float:
        """The reference's score."""
        return float(self.metric.scores(self.reference_rates))

    @property
    def true_score(self) -> float:
        """The group's true score; nan if it is undefined."""
        return float(self.metric.scores(self.rates))

    @property
    def denominator_rate(self) -> float:
        """The probability that a case of the group counts in the metric's denominator."""
        margin = self.metric.tree.margin
        return min(float(sum_cells(self.rates, margin)), 1.0) if margin else 1.0

    @property
    def rate(self) -> float:
        """The group's true rate in the last split of the metric's tree."""
        return _last_rate(self.metric, self.rates)

    @property
    def reference_rate(self) -> float:
        """The reference's rate in the same split."""
        return _last_rate(self.metric, self.reference_rates)


def multinomial(rates: Floats, n: int) -> Multinomial:
    """The law of the cells of ``n`` cases with these rates."""
    tp, fn, fp, tn = rates.tolist()
    return Multinomial(n, (tp, fn, fp, tn))


def _last_rate(metric: OneGroupMetric, rates: Floats) -> float:
    part, whole = (float(count) for count in count_successes(metric, rates))
    return min(part / whole, 1.0) if whole else 0.0


def move_rates(metric: OneGroupMetric, rates: Floats, score: float) -> Floats:
    """The rates with a given score, moved from ``rates`` as the module describes."""
    start, (low, high) = float(metric.scores(rates)), metric.range
    rounding = 1e-12 * max(1.0, abs(score))
    if not low - rounding <= score <= high + rounding:
        raise InvalidInput(
            f"a `difference` of {score - start:.6g} from the reference's {metric.key} of "
            f"{start:.6g} gives {score:.6g}, outside its range {low:g} to {high:g}; choose a "
            "smaller `difference`"
        )
    score = min(max(score, low), high)
    tree = metric.tree
    if metric.curve is not None:
        return _with_rate(rates, tree.last, tree.last_of, float(metric.curve.rate(score)))
    low, high = reachable_scores(metric, rates)
    if not low - rounding <= score <= high + rounding:
        raise InvalidInput(
            f"{metric.key} = {score:.6g} is not reached from the reference's rates, only "
            f"{low:.6g} to {high:.6g}; choose a smaller `difference`, or pass the group's `truth`"
        )
    from scipy.optimize import brentq

    path, ends = _path(metric, rates)
    misses = [float(metric.scores(path(end))) - score for end in ends]
    if misses[0] * misses[1] >= 0:
        return path(ends[int(abs(misses[1]) < abs(misses[0]))])
    return path(brentq(lambda t: float(metric.scores(path(t))) - score, *ends, xtol=1e-15, rtol=1e-15))


def reachable_scores(metric: OneGroupMetric, rates: Floats) -> tuple[float, float]:
    """The lowest and the highest score that `move_rates` can reach."""
    if metric.curve is not None:
        return metric.range
    path, ends = _path(metric, rates)
    low, high = sorted(float(metric.scores(path(end))) for end in ends)
    return low, high


def _path(metric: OneGroupMetric, rates: Floats) -> tuple[Callable[[float], Floats], tuple[float, float]]:
    """The line along which rates move, and its ends; the score is monotone along it."""
    tree = metric.tree
    if not tree.side:
        return lambda t: _with_rate(rates, tree.last, tree.last_of, t), (0.0, 1.0)
    from scipy.special import expit, logit

    def at(t: float) -> Floats:
        moved = rates
        for part, whole, sign in ((tree.side, tree.margin, 1), (tree.last, tree.last_of, -1)):
            total = float(sum_cells(rates, whole))
            if total > 0:
                log_odds = float(logit(float(sum_cells(rates, part)) / total))
                # A rate of exactly 0 or 1 stays there.
                if not isinf(log_odds):
                    log_odds = np.clip(log_odds + sign * t, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
                moved = _with_rate(moved, part, whole, float(expit(log_odds)))
        return moved

    return at, (-_MAX_MOVE, _MAX_MOVE)


def _with_rate(rates: Floats, part: tuple[str, ...], whole: tuple[str, ...], rate: float) -> Floats:
    """Give ``part`` the share ``rate`` of ``whole``; cells on a side keep their proportions."""
    moved, total = rates.copy(), float(sum_cells(rates, whole))
    rest = tuple(cell for cell in whole if cell not in part)
    for names, amount in ((part, total * rate), (rest, total * (1 - rate))):
        cells = [CELLS.index(name) for name in names]
        held = rates[cells].sum()
        moved[cells] = amount * (rates[cells] / held if held > 0 else 1 / len(cells))
    return moved
