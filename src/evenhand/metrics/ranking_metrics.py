"""Metrics of scores, which confusion matrices cannot compute, as records like the others."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from .aliases import NEEDS_SCORES, normalize_name


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingMetric:
    """A metric of scores.

    Gaps between groups are compared with the margin times ``margin_scale``, since a gap that
    matters is smaller for some metrics. ``of_predictions`` is the key of the metric of counts
    that it equals if every score is 0 or 1.
    """

    key: str
    name: str
    description: str
    better: Literal["higher", "lower"]
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    margin_scale: float = 1.0
    of_predictions: str | None = None
    formula: str = ""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible score."""
        return self.low, self.high

    @property
    def needs_scores_hint(self) -> str:
        """The end of an error message, after the metric's name: why counts are not enough."""
        text = f"{NEEDS_SCORES}; use audit(..., metrics=[{self.key!r}], y_score=...)"
        if self.of_predictions is None:
            return text
        return f"{text}; for predictions of 0 and 1 it equals {self.of_predictions!r}"


AUC = RankingMetric(
    key="auc",
    name="Area under the ROC curve",
    better="higher",
    synonyms=("roc_auc", "roc_auc_score"),
    of_predictions="balanced_accuracy",
    description="How often an actual positive has a higher score than an actual negative; ties "
    "count half",
)
BRIER = RankingMetric(
    key="brier",
    name="Brier score",
    better="lower",
    synonyms=("brier_score", "brier_score_loss"),
    margin_scale=0.5,  # A gap of 0.05 is as large for it as one of 0.1 is for a rate.
    of_predictions="inacc",
    description="How far scores lie from what came true: the mean of the squared distances",
)
LOG_LOSS = RankingMetric(
    key="log_loss",
    name="Log loss",
    better="lower",
    synonyms=("logloss",),
    high=inf,
    description="How unexpected what came true was: the mean of minus the logarithm of its score",
)
RANKING_METRICS = (AUC, BRIER, LOG_LOSS)


def ranking_metric(name: str) -> RankingMetric | None:
    """The metric of scores with this key, name or synonym; None if there is none.

    Audits look up by it what confusion matrices cannot compute.

    >>> ranking_metric("ROC AUC").key
    'auc'
    """
    for record in RANKING_METRICS:
        names = (record.key, record.name, *record.synonyms)
        if normalize_name(name) in map(normalize_name, names):
            return record
    return None
