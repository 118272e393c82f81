"""Confidence intervals of a true score.

The interval of a rate, x of n, is that of Clopper and Pearson with mid-p: it contains all rates for
which neither tail is below a = (1 - confidence level) / 2, where the observed count contributes half
of its probability to either tail. Scores of one rate follow from it. Scores of several rates have
the interval that the same confidence distributions of the three rates give, which is approximate.
With a prior, intervals are posterior ones. See `evenhand.distributions.confidence_distributions`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from ..arrays import Floats
from ..confusion import ConfusionMatrix, MulticlassConfusion, require_same_labels
from ..distributions import (
    LatticeScores,
    RateScores,
    as_prior,
    beta_parameters,
    confidence_distribution,
    has_inner_minimum,
    lowest_scores,
    posterior_distribution,
)
from ..errors import InvalidInput, printable
from ..metrics import ROW_TREE, Average, Metric, OneGroupMetric, class_average_of
from ..records import Record
from ..wording import percent
from .score_tests import check_confidence_level, one_group_metric
from .smoothing import (
    SPLITS,
    SmoothedMatrix,
    Strength,
    as_rates,
    as_strength,
    format_strength,
    require_matrix,
)


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Record):
    """An equal-tailed interval of a true score.

    Attributes
    ----------
    metric : Metric
        The metric.
    label : label or None
        The class that is scored against the rest.
    low, high : float
        The ends.
    confidence_level : float
        The confidence level.
    estimate : float
        The observed score; nan if undefined.
    method : str
        ``"mid-p"``, or the prior of a posterior interval.

    Examples
    --------
    >>> i = interval(ConfusionMatrix(tp=8, fn=2, fp=0, tn=0), "tpr")
    >>> print(i)
    tpr 0.8, 95% interval 0.4805 to 0.965
    >>> 0.5 in i
    True
    """

    metric: Metric
    low: float
    high: float
    confidence_level: float
    estimate: float
    method: str
    label: Any = None

    def __str__(self) -> str:
        score = "undefined" if isnan(self.estimate) else f"{self.estimate:.4g}"
        of = "" if self.label is None else printable(f" of {self.label!r} against the rest")
        ends = f"{percent(self.confidence_level)} interval {self.low:.4g} to {self.high:.4g}"
        return f"{self.metric.key}{of} {score}, {ends}"

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high


def interval(
    cm: ConfusionMatrix | MulticlassConfusion,
    metric: str | Metric,
    confidence_level: float = 0.95,
    *,
    average: Average | None = None,
    label: Hashable = None,
    reference: ConfusionMatrix | MulticlassConfusion | None = None,
    strength: Strength = 10.0,
    prior: float | None = None,
) -> Interval:
    """Equal-tailed confidence interval of a true score.

    Scores of one rate (shares, rates, F1) have the mid-p form of Clopper and Pearson's interval.
    Scores of several rates (MCC, kappa) have an approximate mid-p interval. With a ``prior``, or with
    a ``reference``, whose prior is that of Cross-Prior Smoothing, the interval is a posterior one.
    Results do not depend on random numbers.

    Parameters
    ----------
    cm : ConfusionMatrix or MulticlassConfusion
        The group.
    metric : str or Metric
        A metric of one group.
    confidence_level : float
        The confidence level. Coverage is above it on average, and below it for some true scores; see
        docs/reference/evidence.md.
    average, label
        What is scored of K classes, as in a call of a `Metric`. A class against the rest has the
        interval of its 2x2 matrix, and so have mcc, kappa and balanced_accuracy of two classes; acc
        and inacc have that of a share. Averages, and scores of more than two classes at once, have
        none.
    reference : ConfusionMatrix or MulticlassConfusion, optional
        The source of the prior's proportions.
    strength : float, mapping or "auto"
        How many cases the reference is worth; or one strength per split (prev, tpr, fpr).
    prior : float, optional
        Pseudo-counts added to both sides of every split, such as 0.5 for Jeffreys's prior; without a
        reference.

    Returns
    -------
    Interval
        It contains the observed score. If that is undefined, nothing or little is known, and the
        interval is wide.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> i = interval(ConfusionMatrix(tp=0, fn=2, fp=8, tn=30), "tpr")
    >>> i.low, round(i.high, 4)
    (0.0, 0.7764)
    """
    m = one_group_metric(metric)
    check_confidence_level(confidence_level)
    if isinstance(cm, SmoothedMatrix):
        raise InvalidInput("pass unsmoothed counts, with `reference=` and `strength=`")
    summary, others = class_average_of(m, [cm], average, label), reference
    if isinstance(cm, MulticlassConfusion) and summary is not None:
        if summary.rule == "accuracy" and isinstance(strength, Mapping):
            must = "be one number for K x K cells"
            raise InvalidInput(argument="strength", must=must, got=strength)
        if isinstance(others, MulticlassConfusion):
            require_same_labels(cm, others, "the reference")
            others = _binary_matrix(summary, others)
        cm, label = _binary_matrix(summary, cm), summary.label
    cells = np.asarray(require_matrix(cm), dtype=np.float64)[None]
    posterior, method = None, "mid-p"
    if others is not None:
        posterior = _smoothed_posterior(m, cells, others, strength)
        method = f"CPS prior, strength {format_strength(strength)}"
    elif prior is not None:
        betas = beta_parameters(m.tree, cells, as_prior(prior))
        posterior = posterior_distribution(m, betas)
        method = f"Beta({prior:g}, {prior:g}) prior on each split"
    ends = score_intervals(m, cells, confidence_level, posterior)
    low, high = np.ravel(ends).tolist()
    return Interval(m, low, high, confidence_level, float(m(cm)), method, label)


def score_intervals(
    metric: OneGroupMetric,
    cells: Floats,
    confidence_level: float,
    posterior: RateScores | LatticeScores | None = None,
    *,
    whole: bool = True,
) -> tuple[Floats, Floats]:
    """The intervals of several matrices, cells along the last axis; they contain the scores.

    They are mid-p intervals, unless ``posterior`` distributions are given. Those of counts that are
    not ``whole``, such as effective ones, are Clopper and Pearson's without mid-p: with few clusters,
    these just make up for what is not known of their correlation.
    """
    tail = (1 - confidence_level) / 2
    lower = upper = posterior or confidence_distribution(metric, cells, "mid" if whole else "low")
    if not (whole or posterior):
        upper = confidence_distribution(metric, cells, "high")
    if isinstance(lower, RateScores) and isinstance(upper, RateScores):
        # Upper ends of rates are lower ends of their complements, so that one search finds both.
        betas = np.concatenate([lower.parameters, upper.parameters[..., ::-1]])
        rate: Any = one_group_metric("acc").curve
        rates = RateScores(metric, rate, betas).ends(tail, above=False)
        low, high = np.split(rates, 2)
        low, high = (np.asarray(lower.curve.score(p)) for p in (low, 1 - high))
        high = np.where(high < 1e299, high, np.inf)
    else:
        low, high = lower.ends(tail, above=False), upper.ends(tail, above=True)
    scores = metric.scores(cells)
    if posterior is None and metric.curve is None and has_inner_minimum(metric):
        low = np.where(scores < 0, np.fmin(low, lowest_scores(metric, cells, tail)), low)
    low = np.maximum(np.fmin(low, scores), metric.low)
    high = np.minimum(np.fmax(high, scores), metric.high)
    # Rounding must not exchange the ends.
    return low, np.maximum(low, high)


def _binary_matrix(summary: Any, cm: Any) -> Any:
    """The 2x2 matrix whose score has the same interval; an error if there is none."""
    matrix = summary.equivalent_binary(cm)
    if matrix is None:
        text = f"there is no interval of {summary.key} over {cm.k} classes"
        raise InvalidInput(f"{text}; pass one as `label=`, or score acc")
    return matrix


def _smoothed_posterior(
    metric: OneGroupMetric, cells: Floats, reference: Any, strength: Strength
) -> RateScores | LatticeScores:
    """The posterior with the prior of Cross-Prior Smoothing."""
    weight, shares, tree = as_strength(strength), as_rates(reference), None
    if isinstance(weight, Mapping):
        # Each split has a prior of its own.
        tree, rates = ROW_TREE, beta_parameters(ROW_TREE, shares, 0.0)
        rates /= np.maximum(rates.sum(axis=2, keepdims=True), 1e-300)
        strengths = np.array([[weight[split]] for split in SPLITS])
        betas = beta_parameters(tree, cells, 0.0) + strengths * rates
        is_empty = (betas <= 0).any()
    else:
        betas = beta_parameters(metric.tree, cells, weight * shares)
        is_empty = (cells + weight * shares <= 0).any()
    if is_empty:
        text = "the `reference` must have cases in each cell that is empty in the group"
        raise InvalidInput(f"{text}, and `strength` be above 0")
    return posterior_distribution(metric, betas, tree)
