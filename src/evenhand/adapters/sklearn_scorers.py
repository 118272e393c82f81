"""Metrics as scorers of scikit-learn, for `cross_validate`, `GridSearchCV` and the like.

scikit-learn's searches take the mean of one number per fold and prefer the largest. What an undefined score counts as,
and which way a metric is better, therefore have to be decided before a search begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan, nan
from numbers import Real
from typing import Any, Literal

import numpy as np

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, MissingExtra
from ..inference import CrossPrior, Strength, cross_prior_smooth
from ..metrics import Metric, OneGroupMetric, metric as find_metric

__all__ = ["scorer"]

Undefined = Literal["nan", "raise"] | float

# Labels that are positive by themselves: a fold may contain nothing else. scikit-learn's positive label is 1 as well.
_POSITIVE = (1, "yes", "true", "y", "positive")


def scorer(
    metric: str | Metric,
    *,
    undefined: Undefined = "nan",
    positive: object = None,
    prior: Any = None,
    strength: Strength = 10.0,
) -> Any:
    """Turn a metric of one group into a scorer for scikit-learn.

    A scorer is better if it is greater. Metrics that are better if lower are negated, as scikit-learn does with its
    losses, and so is the distance from 0 of a metric that is better closer to 0. A metric that is neither better if
    higher nor if lower, such as prevalence, is refused.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    undefined : {"nan", "raise"} or float
        What counts as the score of a fold on which the metric is undefined. With ``"nan"``, the mean over folds is nan
        too, and `GridSearchCV` ranks such a candidate last, with a warning. With ``"raise"``, an error gives the
        reason; searches turn it into a warning and nan unless their ``error_score`` is ``"raise"``. A number stands in
        for the score; it is negated where scores are.
    positive : label or list of labels, optional
        The positive labels, as for `ConfusionMatrix.from_labels`. If it is left out, it is inferred where that is
        unambiguous; in a fold with only one label, 1, yes, true, y and positive are positive.
    prior : ConfusionMatrix or four probabilities, optional
        Score the cells after Cross-Prior Smoothing with this reference. It should come from other data than those that
        are scored. Report the raw score as well.
    strength : float, mapping or "auto"
        How many cases the prior is worth, as for `cross_prior_smooth`.

    Returns
    -------
    callable
        A scorer, as `sklearn.metrics.make_scorer` makes them.

    Raises
    ------
    MissingExtra
        If scikit-learn is not installed.

    Examples
    --------
    A classifier that predicts the majority of its training data; in the second of three folds, it predicts nobody to
    be positive, so precision is undefined.

    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import PredefinedSplit, cross_val_score
    >>> x, y = [[0]] * 6, [1, 0, 1, 1, 1, 0]
    >>> settings = {"cv": PredefinedSplit([0, 0, 1, 1, 2, 2])}
    >>> cross_val_score(DummyClassifier(), x, y, scoring=scorer("precision"), **settings)
    array([0.5, nan, 0.5])
    >>> cross_val_score(DummyClassifier(), x, y, scoring=scorer("precision", undefined=0), **settings)
    array([0.5, 0. , 0.5])
    >>> smoothed = scorer("precision", prior=[0.4, 0.2, 0.1, 0.3], strength=2)
    >>> cross_val_score(DummyClassifier(), x, y, scoring=smoothed, **settings)
    array([0.6, 0.8, 0.6])
    """
    m = find_metric(metric)
    if not isinstance(m, OneGroupMetric):
        raise InvalidInput(f"{m.key} compares two groups, and a scorer sees one; use audit() to compare groups")
    if m.better == "neither":
        raise InvalidInput(
            f"{m.key} is neither better if higher nor if lower, so a search cannot prefer one of its scores; to say "
            "which way, pass the metric itself to sklearn.metrics.make_scorer with greater_is_better="
        )
    _check_undefined(undefined)
    smoothing = None if prior is None else CrossPrior(prior, strength)
    try:
        from sklearn.metrics import make_scorer
    except ImportError:
        raise MissingExtra.named("sklearn", "a scorer") from None
    return make_scorer(_LabelScore(m, undefined, positive, smoothing), greater_is_better=m.better == "higher")


@dataclass(frozen=True, slots=True)
class _LabelScore:
    """The score of labels and predictions, as a function that survives a trip to another process."""

    metric: OneGroupMetric
    undefined: Undefined
    positive: object
    smoothing: CrossPrior | None

    def __call__(self, y_true: Any, y_pred: Any, *, sample_weight: object = None) -> float:
        if sample_weight is not None:
            raise InvalidInput(
                f"{self.metric.key} is a score of counts, so `sample_weight` must be None; leave out the weights"
            )
        cm: ConfusionMatrix = _counted(y_true, y_pred, self.positive)
        if self.smoothing is not None:
            cm = cross_prior_smooth(cm, self.smoothing.reference, self.smoothing.strength)
        score = float(self.metric(cm))
        if isnan(score):
            score = self._stand_in(cm)
        return abs(score) if self.metric.better == "closer to 0" else score

    def _stand_in(self, cm: ConfusionMatrix) -> float:
        if self.undefined == "raise":
            raise InvalidInput(f"{self.metric.key} is undefined: {self.metric.why_undefined(cm)}")
        return nan if self.undefined == "nan" else float(self.undefined)

    @property
    def __name__(self) -> str:
        return self.metric.key if self.smoothing is None else f"{self.metric.key}_{self.smoothing.label}"


def _counted(y_true: Any, y_pred: Any, positive: object) -> ConfusionMatrix:
    """The counts of a fold, in which the negative label may be missing."""
    try:
        return ConfusionMatrix.from_labels(y_true, y_pred, positive)
    except InvalidInput:
        alone = _positive_alone(y_true, y_pred) if positive is None else None
        if alone is None:
            raise
    return ConfusionMatrix.from_labels(y_true, y_pred, alone)


def _positive_alone(y_true: Any, y_pred: Any) -> Any:
    """The only label of a fold, if it is positive by itself; else None."""
    labels = [label for column in (y_true, y_pred) for label in np.asarray(column, dtype=object).ravel().tolist()]
    if not labels or not all(isinstance(label, (str, Real)) and label == labels[0] for label in labels):
        return None
    (first, *_) = labels
    return first if (first.casefold() if isinstance(first, str) else first) in _POSITIVE else None


def _check_undefined(undefined: Any) -> None:
    if isinstance(undefined, str) and undefined in ("nan", "raise"):
        return
    if isinstance(undefined, bool) or not isinstance(undefined, Real) or not isfinite(undefined):
        raise InvalidInput(argument="undefined", must="be 'nan', 'raise' or a finite number", got=undefined)
