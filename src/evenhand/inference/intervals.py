"""Intervals of a true score."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from math import isnan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix, MulticlassConfusion, SmoothedClasses, require_same_labels
from ..errors import InvalidInput, brief, printable
from ..laws import ROW_TREE, Belief, as_prior, betas_of, confidence_of, posterior_of
from ..metrics import Accuracy, Average, Metric, OneClass, OneGroup, Summary, metric as find_metric, summary_asked
from ..records import Record
from .smoothing import SPLITS, Smoothed, Strength, as_strength, rates_of, strength_text

__all__ = ["Interval", "check_level", "interval", "one_group", "posterior", "score_intervals", "true_scores"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Interval(Record):
    """An equal-tailed interval of a true score.

    Attributes
    ----------
    metric : Metric
        The score.
    label : label or None
        The class that is scored against the rest.
    low, high : float
        The ends.
    level : float
        How sure it is that the interval contains the true score.
    estimate : float
        The observed score; nan if undefined.
    method : str
        ``"mid-p"``, or the prior of a posterior interval.

    Examples
    --------
    >>> i = interval(ConfusionMatrix(tp=8, fn=2, fp=0, tn=0), "tpr")
    >>> print(i)
    tpr 0.8, 95 % interval 0.4805 to 0.965
    >>> 0.5 in i
    True
    """

    metric: Metric
    low: float
    high: float
    level: float
    estimate: float
    method: str
    label: Any = None

    def __str__(self) -> str:
        score = "undefined" if isnan(self.estimate) else f"{self.estimate:.4g}"
        of = "" if self.label is None else printable(f" of {self.label!r} against the rest")
        return f"{self.metric.key}{of} {score}, {100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high


def interval(
    cm: ConfusionMatrix | MulticlassConfusion,
    metric: str | Metric,
    level: float = 0.95,
    *,
    average: Average | None = None,
    label: Hashable = None,
    reference: ConfusionMatrix | MulticlassConfusion | None = None,
    strength: Strength = 10.0,
    prior: float | None = None,
) -> Interval:
    """Equal-tailed interval of the true score.

    A share, a rate or F1 has the mid-p interval of its counts, by Clopper and Pearson's method with half of the
    probability of the observed count. Scores made of several rates have the interval that the same confidence in each
    rate gives. With a ``prior``, or with a ``reference``, whose prior is that of Cross-Prior Smoothing, the interval is
    a posterior one. The result is deterministic: beta quantiles for scores that depend on one rate, quadrature for
    others, with an error of at most about 0.003 in probability.

    Parameters
    ----------
    cm : ConfusionMatrix or MulticlassConfusion
        The group.
    metric : str or Metric
        A metric of one group.
    level : float
        How sure it is that the interval contains the true score. Coverage, in docs/reference/calibration.md, is above
        the level on average, and below it for some true scores.
    average, label
        What is scored of K classes, as in a call of a `Metric`. A class against the rest has the interval of its 2x2
        matrix, and so have mcc, kappa and balanced_accuracy of two classes; acc and inacc have that of a share.
        Averages, and scores of more than two classes at once, have none.
    reference : ConfusionMatrix or MulticlassConfusion, optional
        The source of the prior's proportions.
    strength : float, mapping or "auto"
        How many cases the reference is worth; or one strength per split (prev, tpr, fpr).
    prior : float, optional
        Pseudo-counts added to both sides of every split, such as 0.5 for Jeffreys's prior; without a reference.

    Returns
    -------
    Interval
        It contains the observed score. If that is undefined, nothing or little is known, and the interval is wide.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> i = interval(ConfusionMatrix(tp=0, fn=2, fp=8, tn=30), "tpr")
    >>> i.low, round(i.high, 4)
    (0.0, 0.7764)
    """
    m = one_group(metric)
    check_level(level)
    if isinstance(cm, (Smoothed, SmoothedClasses)):
        raise InvalidInput(
            "interval() takes unsmoothed counts; pass `reference=` and `strength=` for a smoothed interval"
        )
    summary = summary_asked(m, cm, average, label)
    if isinstance(cm, MulticlassConfusion) and summary is not None:
        if isinstance(summary, Accuracy) and isinstance(strength, Mapping):
            raise InvalidInput("one `strength` per split is for 2x2 matrices; pass one number for K x K cells")
        if isinstance(reference, MulticlassConfusion):
            require_same_labels(cm, reference, "the reference")
            reference = _of_two(summary, reference)
        found = interval(_of_two(summary, cm), m, level, reference=reference, strength=strength, prior=prior)
        return replace(found, label=summary.label if isinstance(summary, OneClass) else None)
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"the group must be a ConfusionMatrix; got {brief(cm)}")
    cells = np.asarray(cm.cells, dtype=np.float64)[None]
    if reference is not None:
        belief, kind = _steadied(m, cells, reference, strength), f"CPS prior, strength {strength_text(strength)}"
    elif prior is not None:
        belief, kind = posterior(m, cells, prior), f"Beta({prior:g}, {prior:g}) prior on each split"
    else:
        belief, kind = true_scores(m, cells), "mid-p"
    low, high = score_intervals(m, cells, level, belief)
    return Interval(metric=m, low=float(low[0]), high=float(high[0]), level=level, estimate=float(m(cm)), method=kind)


def _of_two(summary: Summary, cm: MulticlassConfusion) -> ConfusionMatrix:
    """The 2x2 matrix whose score has the same interval; an error if there is none."""
    found = summary.of_two(cm)
    if found is None:
        raise InvalidInput(
            f"there is no interval of {summary.key} over {cm.k} classes, since the law of a score that is made of "
            "several classes is not known; pass one as `label=`, or score acc"
        )
    return found


def true_scores(m: OneGroup, cells: Floats) -> Belief:
    """What counts say of a metric's true scores, one per matrix: confidence distributions that give mid-p intervals."""
    return confidence_of(m, cells, "mid")


def posterior(m: OneGroup, cells: Floats, prior: float) -> Belief:
    """The posteriors of a metric's true scores, one per matrix, with ``prior`` added to both sides of every split."""
    return posterior_of(m, betas_of(m.tree, cells, as_prior(prior)))


def score_intervals(
    m: OneGroup, cells: Floats, level: float, belief: Belief | None = None, *, whole: bool = True
) -> tuple[Floats, Floats]:
    """The ends of the intervals of several matrices, mid-p ones by default; a score always lies inside its interval.

    Those of counts that are not ``whole``, such as effective ones, are Clopper and Pearson's: with few units, half of
    the probability of the observed count is not enough to make up for what is not known of their correlation.
    """
    tail = (1 - level) / 2
    if whole:
        known = belief if belief is not None else true_scores(m, cells)
        low, high = (known.end(tail, above) for above in (False, True))
    else:
        low = confidence_of(m, cells, "low").end(tail, above=False)
        high = confidence_of(m, cells, "high").end(tail, above=True)
    scores = m.scores(cells)
    low, high = np.maximum(np.fmin(low, scores), m.low), np.minimum(np.fmax(high, scores), m.high)
    # Rounding must not exchange the ends.
    return low, np.maximum(low, high)


def _steadied(m: OneGroup, cells: Floats, reference: Any, strength: Strength) -> Belief:
    """The posterior with the prior of Cross-Prior Smoothing."""
    if not isinstance(reference, ConfusionMatrix):
        raise InvalidInput(f"the reference must be a ConfusionMatrix; got {brief(reference)}")
    weight, rates = as_strength(strength), rates_of(reference)
    if isinstance(weight, Mapping):
        added = np.array([[weight[s] * r, weight[s] * (1 - r)] for s, r in zip(SPLITS, _row_rates(rates), strict=True)])
        betas, tree = betas_of(ROW_TREE, cells, 0.0) + added, ROW_TREE
        empty = (betas <= 0).any()
    else:
        betas, tree = betas_of(m.tree, cells, weight * rates), None
        empty = bool((cells + weight * rates <= 0).any())
    if empty:
        raise InvalidInput(
            "a cell is empty in the group and in the reference, so its posterior rate would be exactly 0; "
            "choose a reference without empty cells and a `strength` above 0, or leave out the reference"
        )
    return posterior_of(m, betas, tree)


def _row_rates(rates: Floats) -> tuple[float, float, float]:
    tp, fn, fp, tn = rates
    return float(tp + fn), float(tp / (tp + fn)) if tp + fn else 0.0, float(fp / (fp + tn)) if fp + tn else 0.0


def one_group(name: str | Metric) -> OneGroup:
    """A metric of one group, checked."""
    m = find_metric(name)
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; use disparity() with the one-group metric")
    return m.base


def check_level(level: float) -> None:
    """Raise an error if a level does not lie between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise InvalidInput(argument="level", must="lie between 0 and 1", got=level)
