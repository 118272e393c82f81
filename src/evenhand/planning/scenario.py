"""What planning assumes: the rates of the reference, and the true rates of the group.

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

from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import CELLS, ConfusionMatrix
from ..distributions import as_probabilities
from ..errors import InvalidInput
from ..inference import count_successes
from ..metrics import OneGroupMetric, sum_cells

#: Counts, four cell probabilities, or the score of a metric of one rate.
Side = ConfusionMatrix | ArrayLike

MAX_CASES = 10**15
# Log odds move at most this far, and rates not to 0 and 1, where some scores are undefined.
_MAX_MOVE, _LIMITS = 80.0, (1e-14, 1 - 1e-14)


def check_number(value: Any, argument: str, low: float = -inf, high: float = inf) -> float:
    """Check that an argument is a number strictly between two others."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not low < value < high:
        must = "be a number" if low == -inf else f"lie between {low:g} and {high:g}"
        raise InvalidInput(argument=argument, must=must, got=value)
    return float(value)


def check_whole(value: Any, argument: str, high: int = MAX_CASES, low: int = 1) -> int:
    """Check that an argument is a whole number from ``low`` to ``high``."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not low <= value <= high:
        must = f"be a whole number from {low} to {high:,}"
        raise InvalidInput(argument=argument, must=must, got=value)
    return int(value)


def cell_rates(side: Side, argument: str, metric: OneGroupMetric | None = None) -> Floats:
    """The cell probabilities of a group or reference; a single score needs the metric."""
    if isinstance(side, ConfusionMatrix):
        if side.n == 0:
            raise InvalidInput(argument=argument, must="have cases", got=side)
        return np.asarray(side.proportions, dtype=np.float64)
    if metric is None or np.ndim(side):
        return np.array(as_probabilities(side))
    if metric.curve is None:
        text = f"{metric.key} depends on several rates"
        raise InvalidInput(f"{text}; pass four cell probabilities or a ConfusionMatrix")
    score = check_number(side, argument)
    if not metric.low <= score <= metric.high:
        must = f"be a {metric.key} from {metric.low:g} to {metric.high:g}"
        raise InvalidInput(argument=argument, must=must, got=score)
    return metric.tree.cells(1.0, 1.0, 0.0, float(metric.curve.rate(score)))


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
        gap = f"a `difference` of {score - start:.6g} from the reference's {metric.key}"
        limits = f"{round(low, 9):g} to {round(high, 9):g}; choose a smaller difference"
        raise InvalidInput(f"{gap} of {start:.6g} gives {score:.6g}, outside its range {limits}")
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
