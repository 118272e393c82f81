"""What is assumed: the reference that the test sees, and the true rates of the group.

A true score is a number, but power depends on all rates of the group. If only a difference is given, the truth starts
from the reference's rates and moves as little as possible until the score is the one that is wanted:

- A score that depends on one rate (shares, rates, F1, Jaccard): that rate moves. Everything else stays, such as the
  share of actual positives.
- Marginal benefit: the share of false positives among all errors moves, and the number of errors stays.
- A score made of two rates (MCC, kappa, informedness, likelihood ratios, …): the log odds of both move by the same
  amount in opposite directions, so that the classifier becomes better or worse at the same prevalence. For markedness
  these are PPV and the false omission rate, for all others TPR and FPR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isinf, isnan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import CELLS, ConfusionMatrix, whole_counts
from ..errors import InvalidInput
from ..laws import as_probabilities
from ..metrics import OneGroup

__all__ = ["Floats", "Scenario", "Side", "moved", "number_between", "reachable_scores", "true_rates"]

Floats = NDArray[np.float64]
Side = ConfusionMatrix | ArrayLike
"""Counts, or four probabilities."""

# Log odds move at most this far. Rates stay at least 1e-14 away from 0 and 1, where some scores do not exist.
_FARTHEST, _EDGE = 80.0, 32.0


def number_between(value: Any, argument: str, low: float = 0.0, high: float = 1.0) -> float:
    """A number strictly between two others, checked."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) < high:
        raise InvalidInput(argument=argument, must=f"lie between {low:g} and {high:g}", got=value)
    return float(value)


def true_rates(side: Side, called: str = "the group's `truth`") -> Floats:
    """The four cell probabilities of counts or of probabilities."""
    if isinstance(side, ConfusionMatrix):
        if side.n == 0:
            raise InvalidInput(f"{called} must have cases; got an empty matrix (n = 0)")
        return np.asarray(side.proportions, dtype=np.float64)
    return np.array(as_probabilities(side))


@dataclass(frozen=True)
class Scenario:
    """A metric, a reference, whose counts are None if its rates are known, and the true rates of the group."""

    metric: OneGroup
    counts: Floats | None
    rates: Floats
    truth: Floats

    @classmethod
    def of(cls, m: OneGroup, reference: Side, difference: float | None = None, truth: Side | None = None) -> Scenario:
        """The scenario of a difference from the reference's score, or of given true rates."""
        counts = whole_counts(reference, "the reference") if isinstance(reference, ConfusionMatrix) else None
        if counts is not None and counts.sum() == 0:
            raise InvalidInput("the `reference` is empty (n = 0); a group cannot be compared with it")
        rates = true_rates(reference)
        score = float(m.scores(rates))
        if isnan(score):
            raise InvalidInput(f"the reference's {m.key} is undefined, {m.why_undefined(rates)}")
        scenario = cls(m, counts, rates, rates)
        if (difference is None) == (truth is None):
            raise InvalidInput("pass either a `difference` from the reference's score, or the group's `truth`")
        if truth is not None:
            return scenario.with_truth(true_rates(truth))
        if isinstance(difference, bool) or not isinstance(difference, Real) or not np.isfinite(float(difference)):
            raise InvalidInput(argument="difference", must="be a number", got=difference)
        return scenario.at(score + float(difference))

    def at(self, score: float) -> Scenario:
        """The same with a group whose true score is ``score``."""
        return self.with_truth(moved(self.metric, self.rates, score))

    def with_truth(self, truth: Floats) -> Scenario:
        """The same with other true rates."""
        return Scenario(self.metric, self.counts, self.rates, truth)

    @property
    def reference_n(self) -> int | None:
        """The reference's number of cases; None if its rates are known."""
        return None if self.counts is None else int(self.counts.sum())

    @cached_property
    def reference_score(self) -> float:
        """The reference's score."""
        return float(self.metric.scores(self.rates))

    @cached_property
    def true_score(self) -> float:
        """The group's true score; nan if it is undefined."""
        return float(self.metric.scores(self.truth))

    @property
    def margin_rate(self) -> float:
        """The probability that a case of the group counts in the metric's denominator."""
        return _share(self.truth, self.metric.tree.margin)

    @property
    def rate(self) -> float:
        """The true rate of the last split of the metric's tree."""
        return _rate(self.truth, self.metric)

    @property
    def reference_rate(self) -> float:
        """The reference's rate of the same split."""
        return _rate(self.rates, self.metric)


def _share(rates: Floats, cells: tuple[str, ...]) -> float:
    return float(sum(rates[CELLS.index(c)] for c in cells))


def _rate(rates: Floats, m: OneGroup) -> float:
    whole = _share(rates, m.tree.last_of)
    return _share(rates, m.tree.last) / whole if whole else 0.0


def moved(m: OneGroup, rates: Floats, score: float) -> Floats:
    """The rates with a given score, moved from ``rates`` as the module describes."""
    own = float(m.scores(rates))
    low, high = m.range
    near = 1e-12 * max(1.0, abs(score))
    if not low - near <= score <= high + near:
        raise InvalidInput(
            f"a `difference` of {score - own:.6g} from the reference's {m.key} of {own:.6g} gives {score:.6g}, outside "
            f"its range {low:g} to {high:g}; choose a smaller `difference`"
        )
    score = min(max(score, low), high)
    if m.curve is not None:
        return _with_rate(rates, m, float(m.curve.rate(score)))
    path, ends = _path(m, rates)
    least, most = sorted(float(m.scores(path(t))) for t in ends)
    if not least - near <= score <= most + near:
        raise InvalidInput(
            f"{m.key} = {score:.6g} is not reached from the reference's rates, only {least:.6g} to {most:.6g}; "
            "choose a smaller `difference`, or pass the group's `truth`"
        )
    return _reached(lambda t: float(m.scores(path(t))), path, ends, score)


def reachable_scores(m: OneGroup, rates: Floats) -> tuple[float, float]:
    """The lowest and the highest score that `moved` can reach."""
    if m.curve is not None:
        return m.range
    path, ends = _path(m, rates)
    low, high = sorted(float(m.scores(path(t))) for t in ends)
    return low, high


def _path(m: OneGroup, rates: Floats) -> tuple[Callable[[float], Floats], tuple[float, float]]:
    """The line along which rates move, and its ends."""
    tree = m.tree
    if not tree.side:
        return lambda t: _with_rate(rates, m, t), (0.0, 1.0)
    from scipy.special import expit, logit

    sides = [(tree.side, tree.margin, 1.0), (tree.last, tree.last_of, -1.0)]

    def at(t: float) -> Floats:
        result = rates.copy()
        for part, whole, sign in sides:
            total = _share(rates, whole)
            if total > 0:
                odds = float(logit(_share(rates, part) / total))
                # A rate of exactly 0 or 1 stays there.
                rate = float(expit(odds if isinf(odds) else min(max(odds + sign * t, -_EDGE), _EDGE)))
                _divide(result, part, whole, total, rate)
        return result

    return at, (-_FARTHEST, _FARTHEST)


def _reached(score_at: Callable[[float], float], path: Any, ends: tuple[float, float], score: float) -> Floats:
    """The rates on a path whose score is ``score``; the score is monotone along the path."""
    from scipy.optimize import brentq

    beyond = [score_at(end) - score for end in ends]
    if beyond[0] * beyond[1] >= 0:
        return np.asarray(path(ends[int(abs(beyond[1]) < abs(beyond[0]))]))
    return np.asarray(path(brentq(lambda t: score_at(t) - score, *ends, xtol=1e-15, rtol=1e-15)))


def _with_rate(rates: Floats, m: OneGroup, rate: float) -> Floats:
    result = rates.copy()
    _divide(result, m.tree.last, m.tree.last_of, _share(rates, m.tree.last_of), rate)
    return result


def _divide(rates: Floats, part: tuple[str, ...], whole: tuple[str, ...], total: float, rate: float) -> None:
    """Give ``part`` the share ``rate`` of ``whole``; cells on the same side keep their proportions."""
    rest = tuple(c for c in whole if c not in part)
    for names, amount in ((part, total * rate), (rest, total * (1 - rate))):
        at = [CELLS.index(c) for c in names]
        held = rates[at].sum()
        rates[at] = amount * (rates[at] / held if held > 0 else 1 / len(at))
