"""Scores of a ranking, which need a score for every case: no metrics of counts, but records like them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from .names import plain_name
from .words import Prediction

__all__ = ["RANKING", "RankingMetric", "ranking_metric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingMetric:
    """A score of a ranking.

    A gap is compared with the margin times ``margin_scale``. ``of_predictions`` is the metric of counts that it is if
    every score is 0 or 1, and ``function`` what computes it of plain arrays.
    """

    key: str
    name: str
    means: str
    better: Literal["higher", "lower"]
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    margin_scale: float = 1.0
    of_predictions: str | None = None
    function: str | None = None

    @property
    def formula(self) -> str:
        """No formula of cells."""
        return ""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible score."""
        return self.low, self.high

    def good(self, favourable: Prediction | None = None) -> str:
        """Which way is better, in words."""
        return f"{self.better.capitalize()} is better"

    @property
    def instead(self) -> str:
        """What takes it, as a sentence goes on after its name."""
        takes = [f"audit(..., metrics=[{self.key!r}], y_score=...)", self.function]
        use = " or ".join(one for one in takes if one)
        same = f"; of predictions it is {self.of_predictions!r}" if self.of_predictions else ""
        return f"needs scores, and a confusion matrix keeps predictions only; use {use}{same}"


# fmt: off
AUC = RankingMetric(
    key="auc", name="Area under the ROC curve", better="higher", synonyms=("roc_auc", "roc_auc_score"),
    means="How often an actual positive has a higher score than an actual negative; ties count half",
    of_predictions="balanced_accuracy", function="evenhand.ranking.auc")
BRIER = RankingMetric(
    key="brier", name="Brier score", better="lower", synonyms=("brier_score", "brier_score_loss"),
    means="How far scores lie from what came true: the mean of the squared distances",
    margin_scale=0.5,  # A gap of 0.05 is as large for it as one of 0.1 is for a rate.
    of_predictions="inacc")
LOG_LOSS = RankingMetric(
    key="log_loss", name="Log loss", better="lower", synonyms=("logloss",), high=inf,
    means="How unexpected what came true was: the mean of minus the logarithm of its score")
# fmt: on

RANKING = (AUC, BRIER, LOG_LOSS)
_FOUND = {plain_name(name): record for record in RANKING for name in (record.key, record.name, *record.synonyms)}


def ranking_metric(name: str) -> RankingMetric | None:
    """The score of a ranking with this key, name or synonym; None if there is none.

    >>> ranking_metric("ROC AUC").key
    'auc'
    """
    return _FOUND.get(plain_name(name))
