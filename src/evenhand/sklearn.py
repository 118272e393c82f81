"""For scikit-learn: metrics as scorers, and a classification report for small samples.

Searches such as `GridSearchCV` take the mean of one number per fold and prefer the largest. What an
undefined score counts as, and which way a metric is better, are therefore settings of a scorer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan, nan
from numbers import Real
from typing import Any, Literal

import numpy as np

from .confusion import ConfusionMatrix
from .errors import InvalidInput, MissingExtra
from .inference import CrossPrior, Strength, cross_prior_smooth
from .metrics import Metric, OneGroupMetric, metric as find_metric
from .small_samples import small_sample_report

__all__ = ["scorer", "small_sample_report"]

Undefined = Literal["nan", "raise"] | float

# Labels that are positive if a fold contains nothing else.
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
        sees = "compares two groups, and a scorer sees one"
        raise InvalidInput(f"{m.key} {sees}; use audit() to compare groups")
    if m.better == "neither":
        cannot = "is neither better if higher nor if lower, so a search has no preference"
        hint = "pass the metric itself to sklearn.metrics.make_scorer with greater_is_better="
        raise InvalidInput(f"{m.key} {cannot}; {hint}")
    is_number = isinstance(undefined, Real) and not isinstance(undefined, bool)
    if undefined not in ("nan", "raise") and not (is_number and isfinite(float(undefined))):
        must = "be 'nan', 'raise' or a finite number"
        raise InvalidInput(argument="undefined", must=must, got=undefined)
    try:
        from sklearn.metrics import make_scorer
    except ImportError:
        raise MissingExtra.named("sklearn", "a scorer") from None
    smoothing = None if prior is None else CrossPrior(prior, strength)
    score = _LabelScore(m, undefined, positive, smoothing)
    return make_scorer(score, greater_is_better=m.better == "higher")


@dataclass(frozen=True, slots=True)
class _LabelScore:
    """The score of labels and predictions, as a function that can be pickled."""

    metric: OneGroupMetric
    undefined: Undefined
    positive: object
    smoothing: CrossPrior | None

    def __call__(self, y_true: Any, y_pred: Any, *, sample_weight: object = None) -> float:
        if sample_weight is not None:
            must = "be None, since the score is computed from counts"
            raise InvalidInput(argument="sample_weight", must=must)
        cm: ConfusionMatrix = _count_fold(y_true, y_pred, self.positive)
        if (smoothing := self.smoothing) is not None:
            cm = cross_prior_smooth(cm, smoothing.reference, smoothing.strength)
        score = float(self.metric(cm))
        if not isnan(score):
            return abs(score) if self.metric.better == "closer to 0" else score
        if self.undefined == "raise":
            reason = self.metric.why_undefined(cm)
            raise InvalidInput(f"{self.metric.key} is undefined: {reason}")
        return nan if self.undefined == "nan" else float(self.undefined)

    @property
    def __name__(self) -> str:
        label = "" if self.smoothing is None else f"_{self.smoothing.label}"
        return f"{self.metric.key}{label}"


def _count_fold(y_true: Any, y_pred: Any, positive: Any) -> ConfusionMatrix:
    """The counts of a fold, which may contain nothing but positive labels."""
    try:
        return ConfusionMatrix.from_labels(y_true, y_pred, positive)
    except InvalidInput:
        columns = [np.asarray(y, dtype=object).ravel().tolist() for y in (y_true, y_pred)]
        first, *others = [label for column in columns for label in column] or [None]
        text = first.casefold() if isinstance(first, str) else first
        is_label = isinstance(first, str | Real) and positive is None and text in _POSITIVE
        if not is_label or any(type(v) is not type(first) or v != first for v in others):
            raise
    return ConfusionMatrix.from_labels(y_true, y_pred, first)
