"""Scores of a ranking: their records, how they are found, and why no matrix has them."""

from __future__ import annotations

import re
from math import inf

import numpy as np
import pytest
from pytest import approx
from sklearn import metrics as sk

import evenhand as eh
from evenhand.metrics import CATALOGUE, RANKING, ranking_metric


def test_every_name_finds_its_record() -> None:
    names = {
        "auc": ("auc", "AUC", "roc_auc", "roc_auc_score", "Area under the ROC curve"),
        "brier": ("brier", "brier_score", "Brier score", "brier_score_loss"),
        "log_loss": ("log_loss", "logloss", "Log-Loss"),
    }
    assert {record.key: record.key for record in RANKING} == {key: key for key in names}
    for key, known in names.items():
        for name in known:
            found = ranking_metric(name)
            assert found is not None and found.key == key, name
    assert ranking_metric("tpr") is None
    assert not any(ranking_metric(name) for m in CATALOGUE for name in (m.key, m.name, *m.synonyms))


def test_a_gap_is_compared_with_a_margin_on_its_own_scale() -> None:
    """A Brier gap of 0.05 is as large as a gap of 0.1 of a rate."""
    assert {r.key: (r.better, r.low, r.high, r.margin_scale) for r in RANKING} == {
        "auc": ("higher", 0, 1, 1), "brier": ("lower", 0, 1, 0.5), "log_loss": ("lower", 0, inf, 1)}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("auc", "audit(..., metrics=['auc'], y_score=...) or evenhand.ranking.auc; of predictions it is "
         "'balanced_accuracy'"),
        ("Brier score", "audit(..., metrics=['brier'], y_score=...); of predictions it is 'inacc'"),
        ("log_loss", "audit(..., metrics=['log_loss'], y_score=...)"),
    ],
)  # fmt: skip
def test_a_matrix_has_no_ranking(name: str, use: str) -> None:
    sentence = (
        f"no metric is called {name!r}: it needs scores, and a confusion matrix keeps predictions only; use {use}"
    )
    with pytest.raises(eh.errors.UnknownName, match=f"^{re.escape(sentence)}$"):
        eh.metric(name)


def test_of_predictions_it_is_the_metric_that_it_names() -> None:
    rng = np.random.default_rng(3)
    true, pred = rng.integers(2, size=(2, 50))
    functions = {"auc": sk.roc_auc_score, "brier": sk.brier_score_loss}
    for record in RANKING:
        if record.of_predictions:
            assert eh.metric(record.of_predictions)(true, pred) == approx(functions[record.key](true, pred))
