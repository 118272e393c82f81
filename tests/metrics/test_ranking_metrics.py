"""Metrics of scores: their records, how they are found, and why no matrix has them."""

from __future__ import annotations

from math import inf

import numpy as np
from oracle import refusal
from pytest import approx
from sklearn import metrics as sk

from evenhand import metric
from evenhand.metrics import CATALOGUE, RANKING_METRICS, ranking_metric

NAMES = {
    "auc": ("auc", "AUC", "roc_auc", "roc_auc_score", "Area under the ROC curve"),
    "brier": ("brier", "brier_score", "Brier score", "brier_score_loss"),
    "log_loss": ("log_loss", "logloss", "Log-Loss"),
}
ELSE = {
    "auc": "; for predictions of 0 and 1 it equals 'balanced_accuracy'",
    "brier": "; for predictions of 0 and 1 it equals 'inacc'",
}


def test_every_name_finds_its_record_and_no_matrix_has_its_score() -> None:
    needs = "it needs scores, and a confusion matrix only holds predicted labels"
    for record, (key, names) in zip(RANKING_METRICS, NAMES.items(), strict=True):
        for name in names:
            assert ranking_metric(name) is record and record.key == key
            use = f"use audit(..., metrics=[{key!r}], y_score=...){ELSE.get(key, '')}"
            assert refusal(metric, name) == f"UnknownName: no metric is called {name!r}: {needs}; {use}"
    assert not any(ranking_metric(name) for m in CATALOGUE for name in (m.key, m.name, *m.synonyms))


def test_a_gap_is_compared_with_a_margin_on_its_own_scale() -> None:
    """A Brier gap of 0.05 is as large as a gap of 0.1 of a rate."""
    facts = [(record.better, record.range, record.margin_scale) for record in RANKING_METRICS]
    assert facts == [("higher", (0, 1), 1), ("lower", (0, 1), 0.5), ("lower", (0, inf), 1)]


def test_of_predictions_it_is_the_metric_that_it_names() -> None:
    true, pred = np.random.default_rng(3).integers(2, size=(2, 50))
    auc, brier, log_loss = (record.of_predictions for record in RANKING_METRICS)
    assert auc and metric(auc)(true, pred) == approx(sk.roc_auc_score(true, pred))
    assert brier and metric(brier)(true, pred) == approx(sk.brier_score_loss(true, pred)) and log_loss is None
