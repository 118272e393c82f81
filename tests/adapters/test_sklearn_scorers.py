"""Metrics as scorers of scikit-learn: in folds, searches, other processes, and against its own scorers."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sm
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP
from pytest import approx
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    PredefinedSplit,
    cross_val_score,
    cross_validate,
)

import evenhand as eh
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.sklearn import scorer

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
REFERENCE = eh.ConfusionMatrix(tp=20, fn=5, fp=8, tn=27)
binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)
SCORED = [m for m in ONE_GROUP_METRICS if m.better != "neither"]


def columns(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    true, pred = zip(*pairs, strict=True)
    return list(true), list(pred)


def cells_of(true: list[Any], pred: list[Any], positive: Any = 1) -> tuple[int, int, int, int]:
    """The four counts, one case at a time."""
    found = [0, 0, 0, 0]
    for t, p in zip(true, pred, strict=True):
        found[(0 if p == positive else 1) if t == positive else (2 if p == positive else 3)] += 1
    return found[0], found[1], found[2], found[3]


@contextmanager
def quiet() -> Iterator[None]:
    """The libraries warn where a score is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Constant(DummyClassifier):  # type: ignore[misc]
    """Predicts what the second column of X says."""

    def predict(self, x: Any) -> Any:
        return np.asarray(x)[:, 1]


@given(pairs=binary)
@settings(max_examples=15, deadline=None)
def test_a_scorer_is_the_score_or_minus_the_loss(pairs: list[tuple[int, int]]) -> None:
    """Higher is better: S, -S if lower is better, -|S| if closer to 0 is; nan where S is undefined."""
    true, pred = columns(pairs)
    x = np.column_stack([np.zeros(len(true)), pred])
    for m in SCORED:
        expected = ONE_GROUP[m.key](*cells_of(true, pred))
        found = scorer(m, positive=1)(Constant().fit(x, true), x, true)
        if expected is None:
            assert math.isnan(found), m.key
        else:
            sign = {"higher": float(expected), "lower": -float(expected), "closer to 0": -abs(float(expected))}
            assert found == approx(sign[m.better], abs=1e-12), m.key


@given(binary, st.sampled_from(["mcc", "tpr", "fpr", "f1"]), st.sampled_from([0.5, 10.0, 200.0]))
@settings(max_examples=40)
def test_a_scorer_with_a_prior_scores_the_smoothed_cells(
    pairs: list[tuple[int, int]], key: str, strength: float
) -> None:
    """S((x + λp) n / (n + λ)), with p the reference's proportions; it is defined for any fold."""
    true, pred = columns(pairs)
    x = np.column_stack([np.zeros(len(true)), pred])
    cells = np.array(cells_of(true, pred)) + strength * np.array([20, 5, 8, 27]) / 60
    expected = float(eh.metric(key)(cells))
    found = scorer(key, positive=1, prior=REFERENCE, strength=strength)(Constant().fit(x, true), x, true)
    assert abs(found) == approx(abs(expected), abs=1e-9)
    assert (found <= 0) if key == "fpr" else found == approx(expected, abs=1e-9)


SCORERS = {
    "mcc": scorer("matthews_corrcoef"),
    "cps": scorer("mcc", prior=REFERENCE),
    "by_split": scorer("mcc", prior=REFERENCE, strength={"prev": 5, "tpr": 10, "fpr": 10}),
    "fpr": scorer("fpr"),
    "benefit": scorer("mb"),
    "f3": scorer(eh.f_beta(3)),
    "plain": sm.make_scorer(eh.metric("tpr")),
}


@pytest.mark.slow
def test_scorers_can_be_used_together_in_two_processes() -> None:
    model = LogisticRegression()
    here, there = (cross_validate(model, X, Y, scoring=SCORERS, cv=3, n_jobs=jobs) for jobs in (1, 2))
    for name in SCORERS:
        assert here[f"test_{name}"].tolist() == there[f"test_{name}"].tolist()
    theirs = cross_validate(model, X, Y, scoring=["matthews_corrcoef", "recall"], cv=3)
    assert here["test_mcc"] == approx(theirs["test_matthews_corrcoef"])
    assert here["test_plain"] == approx(theirs["test_recall"])
    assert repr(SCORERS["cps"]) == "make_scorer(mcc_cps10, response_method='predict')"
    assert repr(SCORERS["fpr"]).startswith("make_scorer(fpr, greater_is_better=False")


def test_a_search_finds_what_it_finds_with_the_scorer_of_scikit_learn() -> None:
    grid = {"C": [1e-4, 0.01, 1.0]}
    with quiet():
        ours = GridSearchCV(LogisticRegression(), grid, scoring=scorer("mcc")).fit(X, Y)
        with_cps = GridSearchCV(LogisticRegression(), grid, scoring=SCORERS, refit="cps").fit(X, Y)
    theirs = GridSearchCV(LogisticRegression(), grid, scoring="matthews_corrcoef").fit(X, Y)
    defined = np.isfinite(ours.cv_results_["mean_test_score"])
    assert defined.any()
    assert ours.cv_results_["mean_test_score"][defined] == approx(theirs.cv_results_["mean_test_score"][defined])
    assert np.isfinite(with_cps.cv_results_["mean_test_cps"]).all()
    assert clone(ours).scoring._score_func == ours.scoring._score_func


def test_one_undefined_fold_ranks_a_candidate_last_unless_a_number_or_a_prior_stands_in() -> None:
    """Precision is undefined in the folds in which nobody is predicted to be positive."""
    folds = PredefinedSplit([0] * 5 + [1] * 5)
    x, y = np.zeros((10, 1)), np.array([0, 0, 0, 1, 1] * 2)
    grid = {"strategy": ["constant"], "constant": [0, 1]}

    def search(**settings: Any) -> Any:
        given = {"error_score": settings.pop("error_score", np.nan)}
        return GridSearchCV(DummyClassifier(), grid, scoring=scorer("ppv", **settings), cv=folds, **given).fit(x, y)

    with pytest.warns(UserWarning, match="One or more of the test scores are non-finite"):
        found = search().cv_results_
    assert np.isnan(found["mean_test_score"][0])
    assert found["rank_test_score"].tolist() == [2, 1]
    assert search(undefined=0).cv_results_["mean_test_score"].tolist() == [0, 0.4]
    assert search(undefined=0.9).cv_results_["rank_test_score"].tolist() == [1, 2]
    smoothed = search(prior=[0.3, 0.2, 0.2, 0.3], strength=5).cv_results_["mean_test_score"]
    assert smoothed == approx([0.6, 3.5 / 7.5])
    with (
        pytest.warns(UserWarning, match=r"ppv is undefined: no predicted positives \(TP \+ FP = 0\)"),
        pytest.warns(UserWarning, match="One or more of the test scores are non-finite"),
    ):
        assert np.isnan(search(undefined="raise").cv_results_["mean_test_score"][0])
    with pytest.raises(eh.errors.InvalidInput, match=r"^ppv is undefined: no predicted positives \(TP \+ FP = 0\)$"):
        search(undefined="raise", error_score="raise")


@pytest.mark.parametrize(
    ("no", "yes"), [(0, 1), (-1, 1), (False, True), ("no", "yes"), ("n", "Y"), ("negative", "positive")]
)
def test_a_fold_with_a_single_label_needs_no_positive_label(no: Any, yes: Any) -> None:
    model, x, y = DummyClassifier(), X[:8], np.array([yes, yes, no, yes, no, yes, yes, no])
    found = cross_val_score(model, x, y, scoring=scorer("acc"), cv=LeaveOneOut())
    assert found.tolist() == cross_val_score(model, x, y, scoring="accuracy", cv=LeaveOneOut()).tolist()
    assert scorer("tpr")(model.fit(x, y), x[:1], [yes]) == 1
    assert math.isnan(scorer("tnr")(model, x[:1], [yes]))


def test_an_unknown_label_alone_is_refused_in_a_fold() -> None:
    with pytest.raises(eh.errors.InvalidInput, match=r"^the positive label cannot be inferred from 2; "):
        scorer("acc")(DummyClassifier(strategy="constant", constant=2).fit(X, Y + 1), X[:1], [2])
    for refused in ([[1, 0]], [[1], [0, 1]], [None], [math.nan], [pd.NA]):
        with pytest.raises(eh.errors.InvalidInput):
            scorer("acc")._score_func(refused, refused)
    model = DummyClassifier(strategy="constant", constant=2).fit(X, Y + 1)
    assert scorer("acc", positive=2)(model, X[:1], [2]) == 1
    assert scorer("tpr", positive=[2])(model, X, Y + 1) == 1


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(
        eh.errors.MissingExtra, match=r"^a scorer needs the extra 'sklearn': pip install 'evenhand\[sklearn\]'$"
    ):
        scorer("tpr")


def test_what_cannot_be_done_is_refused_in_one_sentence() -> None:
    number = "undefined must be 'nan', 'raise' or a finite number; got"
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: scorer("mcc")(DummyClassifier().fit(X, Y), X, Y, sample_weight=np.ones(60)),
         "sample_weight must be None, since the score is computed from counts"),
        (lambda: scorer("equal_opportunity"),
         "equal_opportunity compares two groups, and a scorer sees one; use audit() to compare groups"),
        (lambda: scorer("ppr"),
         "ppr is neither better if higher nor if lower, so a search has no preference; pass the metric itself to "
         "sklearn.metrics.make_scorer with greater_is_better="),
        (lambda: scorer("tpr", undefined=math.nan), f"{number} nan"),
        (lambda: scorer("tpr", undefined="zero"), f"{number} 'zero'"),  # type: ignore[arg-type]
        (lambda: scorer("tpr", undefined=True), f"{number} True"),
    ]  # fmt: skip
    for call, sentence in calls:
        with pytest.raises(eh.errors.InvalidInput) as refusal:
            call()
        assert str(refusal.value) == sentence
