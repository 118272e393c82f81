"""At home in scikit-learn: names, scorers, searches and a report, each against the real libraries."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pandas as pd
import polars as pl
import pycm
import pytest
import sklearn.metrics as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ONE_GROUP
from pytest import approx
from scipy.stats import beta
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    PredefinedSplit,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from test_conformance import PYCM

import evenhand as eh
from evenhand.metrics import CATALOGUE, NOT_HERE, OTHER, SAME, OneGroup

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
REFERENCE = eh.ConfusionMatrix(20, 5, 8, 27)
binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)
SCORED = [m for m in CATALOGUE.one_group if m.better != "neither"]


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


# Names

THEIRS: dict[str, Callable[..., Any]] = {
    f.name: getattr(sm if f.library == "scikit-learn" else fm, f.name)
    for f in SAME
    if f.library in ("scikit-learn", "fairlearn") and f.name != "positive_likelihood_ratio"
}
THEIRS["positive_likelihood_ratio"] = lambda true, pred: sm.class_likelihood_ratios(true, pred, labels=[0, 1])[0]
OF_LABELS = [f for f in SAME if f.name in THEIRS and eh.metric(f.key).groups == 1]
OF_GROUPS = [f for f in SAME if f.name in THEIRS and eh.metric(f.key).groups == 2]


@given(binary)
@settings(max_examples=60)
def test_a_function_of_another_library_is_the_metric_of_its_name(pairs: list[tuple[int, int]]) -> None:
    """metric(name)(y_true, y_pred) = name(y_true, y_pred) wherever the metric is defined."""
    true, pred = columns(pairs)
    for foreign in OF_LABELS:
        m = eh.metric(foreign.name)
        assert m.key == foreign.key
        found = m(true, pred, pos_label=1)
        with quiet():
            theirs = float(THEIRS[foreign.name](true, pred))
        assert math.isnan(found) or found == approx(theirs, abs=1e-12), foreign.name


@given(binary, binary)
@settings(max_examples=12)
def test_a_disparity_of_fairlearn_is_the_metric_of_its_name_for_two_groups(
    group: list[tuple[int, int]], reference: list[tuple[int, int]]
) -> None:
    """A difference up to its sign, a ratio up to its direction, equalized odds exactly."""
    true, pred = columns(group + reference)
    who = ["a"] * len(group) + ["b"] * len(reference)
    cells = [eh.ConfusionMatrix(*cells_of(*columns(g))) for g in (group, reference)]
    for foreign in OF_GROUPS:
        found = eh.metric(foreign.name)(*cells)
        if math.isnan(found):
            continue
        with quiet():
            theirs = THEIRS[foreign.name](true, pred, sensitive_features=who)
        same = abs(found) if foreign.name.endswith("_difference") else min(found, 1 / found) if found else 0.0
        assert same == approx(theirs, abs=1e-12), foreign.name


_LABELLED = "sklearn.metrics._classification"


def test_every_function_of_labels_in_the_other_libraries_is_found_or_refused_with_a_sentence() -> None:
    labelled = [n for n in sm.__all__ if getattr(getattr(sm, n), "__module__", "") == _LABELLED]
    named = {n for n in fm.__all__ if not n.startswith(("plot_", "make_")) and n != "MetricFrame"}
    assert len(labelled) > 15 and len(named) > 30
    for name in {*labelled, *named}:
        try:
            assert eh.metric(name)
        except eh.UnknownName as refusal:
            message = str(refusal)
            assert message.startswith(f"no metric is called {name!r}: it "), name


def test_every_scorer_of_labels_in_scikit_learn_is_found_or_refused_with_a_sentence() -> None:
    """Scorers of regression, of clusters and of several labels per case are no classification metrics."""
    others = ("_error", "_deviance", "explained_variance", "r2", "_samples", "mutual_info", "rand_score", "d2_absolute",
              "completeness", "homogeneity", "v_measure", "top_k", "roc_auc_ov")  # fmt: skip
    names = [name for name in sm.get_scorer_names() if not any(other in name for other in others)]
    assert len(names) > 20
    for name in names:
        try:
            assert eh.metric(name)
        except eh.UnknownName as refusal:
            message = str(refusal)
            assert message.startswith(f"no metric is called {name!r}: it "), name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("equalized_odds_ratio", "is the smaller of two ratios in fairlearn; use 'tpr_ratio' and 'fpr_ratio', or the "
         "function of that name in evenhand.interop, which is about all groups"),
        ("fbeta_score", "needs a beta; use f_beta(beta), or a name such as 'f2'"),
        ("fowlkes_mallows_score",
         "compares two clusterings in scikit-learn; the index of a confusion matrix is 'fowlkes_mallows'"),
        ("recall_weighted",
         "is an average over classes in scikit-learn; use multiclass_score() with average='weighted'"),
        ("roc_auc", "needs scores, and a confusion matrix keeps predictions only; use auc() or audit_scores(); of "
         "predictions it is 'balanced_accuracy'"),
        ("F1_Score_Group_Min",
         "is the smallest score of all groups in fairlearn; use summaries(), or audit() for the score of each group"),
    ],
)  # fmt: skip
def test_a_name_that_means_something_else_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(eh.UnknownName) as refusal:
        eh.metric(name)
    assert str(refusal.value) == f"no metric is called {name!r}: it {sentence}"


@given(binary)
@settings(max_examples=60)
def test_what_stands_in_for_a_refused_name_is_what_it_says(pairs: list[tuple[int, int]]) -> None:
    """Of predictions, ROC AUC is balanced accuracy, the Brier score inaccuracy, the mean prediction PPR."""
    true, pred = columns(pairs)
    cm = eh.ConfusionMatrix(*cells_of(true, pred))
    with quiet():
        assert eh.metric("inacc")(cm) == approx(sm.brier_score_loss(true, pred, pos_label=1))
        assert eh.metric("ppr")(cm) == approx(fm.mean_prediction(true, pred))
        if 0 < sum(true) < len(true):
            assert eh.metric("balanced_accuracy")(cm) == approx(sm.roc_auc_score(true, pred))
            minus = sm.class_likelihood_ratios(true, pred)[1]
            assert math.isnan(found := eh.metric("lr_minus")(cm)) or found == approx(minus)


def test_a_name_with_another_meaning_elsewhere_is_noted_on_the_metric() -> None:
    for foreign in OTHER:
        assert str(foreign) in eh.metric(foreign.key).elsewhere
        assert foreign.name in NOT_HERE or eh.metric(foreign.name).key == foreign.key
    assert eh.metric("ppr").elsewhere == (
        "selection_rate in fairlearn",
        "pprev in aequitas",
        "ppr in aequitas is the group's share of the predicted positives of all groups",
        "pp in aequitas is the number of predicted positives",
    )
    counts = pycm.ConfusionMatrix(matrix={1: {1: 3, 0: 2}, 0: {1: 1, 0: 4}})
    assert (counts.P[1], counts.N[1], counts.PRE[1]) == (5, 5, 0.5)
    assert sm.fowlkes_mallows_score([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]) == 0.25
    assert eh.metric("fowlkes_mallows")([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]) == approx(2 / 3)


@pytest.mark.parametrize("cells", [(3, 0, 2, 7), (5, 0, 0, 5), (0, 4, 0, 6), (0, 0, 3, 2), (8, 2, 3, 9), (0, 5, 5, 0)])
def test_pycm_agrees_and_is_undefined_where_we_are(cells: tuple[int, int, int, int]) -> None:
    tp, fn, fp, tn = cells
    theirs = pycm.ConfusionMatrix(matrix={1: {1: tp, 0: fn}, 0: {1: fp, 0: tn}})
    for name, key in PYCM.items():
        if name in ("Kappa", "Overall_ACC", "Overall_MCC"):
            continue
        value = theirs.class_stat[name][1]
        found = eh.metric(key)(eh.ConfusionMatrix(*cells))
        if name == "DOR" and tn == 0:
            # There it is a quotient of likelihood ratios, of which one is undefined; here TP*TN / (FP*FN) has a value.
            assert value == "None" and (math.isnan(found) or found == 0)
        else:
            assert math.isnan(found) if value == "None" else found == approx(value, abs=1e-12), name


# Metrics as functions


@pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
def test_every_metric_of_one_group_is_a_function_for_make_scorer(m: OneGroup) -> None:
    made = sm.make_scorer(m, pos_label=1)
    assert m.__name__ == m.key
    assert m.key in repr(made)
    for other in (clone(made, safe=False), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other._score_func == m
    model = LogisticRegression().fit(X, Y)
    expected = ONE_GROUP[m.key](*cells_of(Y.tolist(), model.predict(X).tolist()))
    assert made(model, X, Y) == approx(float(expected))


def test_the_positive_label_has_the_names_of_both_libraries() -> None:
    true, pred = ["a", "a", "b", "b"], ["a", "b", "b", "b"]
    tpr = eh.metric("tpr")
    assert tpr(true, pred, positive="a") == tpr(true, pred, pos_label="a") == sm.recall_score(true, pred, pos_label="a")
    assert tpr(true, pred, pos_label="b") == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.metric("tpr")([1, 0], [1, 0], sample_weight=[1, 2]),
         "tpr is a score of counts, so sample_weight must be None; leave out the weights"),
        (lambda: eh.metric("tpr")([1, 0], [1, 0], positive=1, pos_label=1),
         "positive and pos_label mean the same; pass one of them"),
        (lambda: eh.metric("tpr")(eh.ConfusionMatrix(1, 2, 3, 4), pos_label=1),
         "tpr takes a positive label only together with labels and predictions"),
        (lambda: eh.scorer("mcc")(DummyClassifier().fit(X, Y), X, Y, sample_weight=np.ones(60)),
         "mcc is a score of counts, so sample_weight must be None; leave out the weights"),
        (lambda: eh.scorer("equal_opportunity"),
         "equal_opportunity compares two groups, and a scorer sees one; use audit() to compare groups"),
        (lambda: eh.scorer("ppr"),
         "ppr is neither better if higher nor if lower, so a search cannot prefer one of its scores; to say which way, "
         "pass the metric itself to sklearn.metrics.make_scorer with greater_is_better="),
        (lambda: eh.scorer("tpr", undefined=math.nan), "undefined must be 'nan', 'raise' or a finite number; got nan"),
        (lambda: eh.scorer("tpr", undefined="zero"),  # type: ignore[arg-type]
         "undefined must be 'nan', 'raise' or a finite number; got 'zero'"),
        (lambda: eh.scorer("tpr", undefined=True), "undefined must be 'nan', 'raise' or a finite number; got True"),
        (lambda: eh.small_sample_report([1, 0], [1, 0], labels="10"), "labels must be a sequence of labels; got '10'"),
        (lambda: eh.small_sample_report([1, 0], [1, 0], labels=[1, 1]),
         "labels must contain at least one label, and each once; got [1, 1]"),
        (lambda: eh.small_sample_report(["Yes", "no"], ["no", "no"], labels=["yes"]),
         "labels must be spelled as in the data ('Yes', 'no'); got 'yes'"),
        (lambda: eh.small_sample_report([1, 0], [1]), "y_true and y_pred must have the same length; got 2 and 1"),
        (lambda: eh.small_sample_report([], []), "y_true and y_pred must contain at least one label; got none"),
        (lambda: eh.small_sample_report(["a", "NA", "b"], ["a", "a", "b"]),
         "y_true contains 1 missing value; drop that row first"),
        (lambda: eh.small_sample_report(["a", "b", "b"], ["NA", "NA", "b"]),
         "y_pred contains 2 missing values; drop those rows first"),
        (lambda: eh.small_sample_report([1, 0], [1, 0], level=2), "level must lie between 0 and 1; got 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as refusal:
        call()
    assert str(refusal.value) == sentence


# Scorers


class Constant(DummyClassifier):  # type: ignore[misc]
    """Predicts what the second column of X says."""

    def predict(self, x: Any) -> Any:
        return np.asarray(x)[:, 1]


@pytest.mark.parametrize("m", SCORED, ids=lambda m: m.key)
@given(pairs=binary)
@settings(max_examples=15)
def test_a_scorer_is_the_score_or_minus_the_loss(m: OneGroup, pairs: list[tuple[int, int]]) -> None:
    """Higher is better: S, -S if lower is better, -|S| if closer to 0 is; nan where S is undefined."""
    true, pred = columns(pairs)
    x = np.column_stack([np.zeros(len(true)), pred])
    expected = ONE_GROUP[m.key](*cells_of(true, pred))
    found = eh.scorer(m, positive=1)(Constant().fit(x, true), x, true)
    if expected is None:
        assert math.isnan(found)
    else:
        sign = {"higher": float(expected), "lower": -float(expected), "closer to 0": -abs(float(expected))}
        assert found == approx(sign[m.better], abs=1e-12)


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
    found = eh.scorer(key, positive=1, prior=REFERENCE, strength=strength)(Constant().fit(x, true), x, true)
    assert abs(found) == approx(abs(expected), abs=1e-9)
    assert (found <= 0) if key == "fpr" else found == approx(expected, abs=1e-9)


SCORERS = {
    "mcc": eh.scorer("matthews_corrcoef"),
    "cps": eh.scorer("mcc", prior=REFERENCE),
    "by_split": eh.scorer("mcc", prior=REFERENCE, strength={"prev": 5, "tpr": 10, "fpr": 10}),
    "fpr": eh.scorer("fpr"),
    "benefit": eh.scorer("mb"),
    "f3": eh.scorer(eh.f_beta(3)),
    "plain": sm.make_scorer(eh.metric("tpr")),
}


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
        ours = GridSearchCV(LogisticRegression(), grid, scoring=eh.scorer("mcc")).fit(X, Y)
        with_cps = GridSearchCV(LogisticRegression(), grid, scoring=SCORERS, refit="cps").fit(X, Y)
    theirs = GridSearchCV(LogisticRegression(), grid, scoring="matthews_corrcoef").fit(X, Y)
    defined = np.isfinite(ours.cv_results_["mean_test_score"])
    assert defined.any()
    assert ours.cv_results_["mean_test_score"][defined] == approx(theirs.cv_results_["mean_test_score"][defined])
    assert np.isfinite(with_cps.cv_results_["mean_test_cps"]).all()
    assert clone(ours).scoring._score_func == ours.scoring._score_func


def test_a_threshold_is_tuned_with_a_scorer() -> None:
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=eh.scorer("balanced_accuracy")).fit(X, Y)
    theirs = TunedThresholdClassifierCV(LogisticRegression(), scoring="balanced_accuracy").fit(X, Y)
    assert tuned.best_threshold_ == theirs.best_threshold_
    assert tuned.best_score_ == approx(theirs.best_score_)


def test_one_undefined_fold_ranks_a_candidate_last_unless_a_number_or_a_prior_stands_in() -> None:
    """Precision is undefined in the folds in which nobody is predicted to be positive."""
    folds = PredefinedSplit([0] * 5 + [1] * 5)
    x, y = np.zeros((10, 1)), np.array([0, 0, 0, 1, 1] * 2)
    grid = {"strategy": ["constant"], "constant": [0, 1]}

    def search(**settings: Any) -> Any:
        given = {"error_score": settings.pop("error_score", np.nan)}
        return GridSearchCV(DummyClassifier(), grid, scoring=eh.scorer("ppv", **settings), cv=folds, **given).fit(x, y)

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
    with pytest.raises(eh.InvalidInput, match=r"^ppv is undefined: no predicted positives \(TP \+ FP = 0\)$"):
        search(undefined="raise", error_score="raise")


@pytest.mark.parametrize(
    ("no", "yes"), [(0, 1), (-1, 1), (False, True), ("no", "yes"), ("n", "Y"), ("negative", "positive")]
)
def test_a_fold_with_a_single_label_needs_no_positive_label(no: Any, yes: Any) -> None:
    model, x, y = DummyClassifier(), X[:8], np.array([yes, yes, no, yes, no, yes, yes, no])
    found = cross_val_score(model, x, y, scoring=eh.scorer("acc"), cv=LeaveOneOut())
    assert found.tolist() == cross_val_score(model, x, y, scoring="accuracy", cv=LeaveOneOut()).tolist()
    assert eh.scorer("tpr")(model.fit(x, y), x[:1], [yes]) == 1
    assert math.isnan(eh.scorer("tnr")(model, x[:1], [yes]))


def test_an_unknown_label_alone_is_refused_in_a_fold() -> None:
    with pytest.raises(eh.InvalidInput, match=r"^the positive label cannot be inferred from the label 2; "):
        eh.scorer("acc")(DummyClassifier(strategy="constant", constant=2).fit(X, Y + 1), X[:1], [2])
    for refused in ([[1, 0]], [[1], [0, 1]], [None], [math.nan], [pd.NA]):
        with pytest.raises(eh.InvalidInput):
            eh.scorer("acc")._score_func(refused, refused)
    model = DummyClassifier(strategy="constant", constant=2).fit(X, Y + 1)
    assert eh.scorer("acc", positive=2)(model, X[:1], [2]) == 1
    assert eh.scorer("tpr", positive=[2])(model, X, Y + 1) == 1


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(
        eh.MissingExtra, match=r"^a scorer needs the extra 'sklearn': pip install 'evenhand\[sklearn\]'$"
    ):
        eh.scorer("tpr")


# The report

labelled = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=20)


@given(st.one_of(binary, labelled))
@settings(max_examples=25)
def test_the_report_has_the_scores_of_scikit_learn_or_why_there_are_none(pairs: list[tuple[Any, Any]]) -> None:
    true, pred = columns(pairs)
    report = eh.small_sample_report(true, pred)
    with quiet():
        theirs = sm.classification_report(true, pred, output_dict=True, zero_division=np.nan)
    assert [c.label for c in report.classes] == sorted({*true, *pred})
    for scores in report.classes:
        expected = theirs[str(scores.label)]
        cells = cells_of(true, pred, scores.label)
        assert scores.support == expected["support"] == cells[0] + cells[1]
        assert scores.predicted == cells[0] + cells[2]
        for name, key in (("precision", "ppv"), ("recall", "tpr"), ("f1", "f1")):
            score = getattr(scores, name)
            assert score.estimate == approx(expected["f1-score" if name == "f1" else name], abs=1e-12, nan_ok=True)
            assert (name in scores.undefined) == math.isnan(score.estimate) == (ONE_GROUP[key](*cells) is None)
            assert math.isnan(score.estimate) or score.low <= score.estimate <= score.high
    assert report.accuracy.estimate == approx(sm.accuracy_score(true, pred))
    if len({*true, *pred}) > 2:
        counts = np.array([[pairs.count((t, p)) for p in "abc"] for t in "abc"])
        assert ("mcc" in report.undefined) == (min(np.count_nonzero(counts.sum(axis=i)) for i in (0, 1)) < 2)
        assert ("balanced_accuracy" in report.undefined) == (0 in counts.sum(axis=1))
        if "mcc" not in report.undefined:
            assert report.mcc.estimate == approx(sm.matthews_corrcoef(true, pred), abs=1e-12)
        if "balanced_accuracy" not in report.undefined:
            assert report.balanced_accuracy.estimate == approx(sm.balanced_accuracy_score(true, pred))
    else:
        positive = max({*true, *pred})
        expected_mcc = ONE_GROUP["mcc"](*cells_of(true, pred, positive))
        assert ("mcc" in report.undefined) == math.isnan(report.mcc.estimate) == (expected_mcc is None)
        if expected_mcc is not None:
            assert report.mcc.estimate == approx(sm.matthews_corrcoef(true, pred))
            assert report.balanced_accuracy.estimate == approx(sm.balanced_accuracy_score(true, pred))


@given(labelled, st.sampled_from([0.5, 0.9, 0.95]))
@settings(max_examples=30)
def test_the_intervals_of_the_report_are_those_of_jeffreys(pairs: list[tuple[str, str]], level: float) -> None:
    """Beta(k + 1/2, m - k + 1/2), stretched to include k/m."""
    true, pred = columns(pairs)
    report = eh.small_sample_report(true, pred, level=level)

    def ends(k: int, m: int) -> tuple[float, float]:
        low, high = (float(beta.ppf(q, k + 0.5, m - k + 0.5)) for q in ((1 - level) / 2, (1 + level) / 2))
        return min(low, k / m), max(high, k / m)

    hits = sum(t == p for t, p in pairs)
    assert (report.accuracy.low, report.accuracy.high) == approx(ends(hits, len(pairs)))
    for scores in report.classes:
        tp, fn, fp, _ = cells_of(true, pred, scores.label)
        if tp + fp:
            assert (scores.precision.low, scores.precision.high) == approx(ends(tp, tp + fp))
        if tp + fn:
            assert (scores.recall.low, scores.recall.high) == approx(ends(tp, tp + fn))
            rates = np.array(ends(tp, tp + fn + fp))
            assert (scores.f1.low, scores.f1.high) == approx((2 * rates / (1 + rates)).tolist())


def test_the_report_reads_columns_of_any_library() -> None:
    true, pred = ["a", "b", "a", "b", "b"], ["a", "b", "b", "b", "a"]
    expected = str(eh.small_sample_report(true, pred))
    for held in (np.array, pd.Series, pl.Series, tuple, lambda v: (x for x in v)):
        assert str(eh.small_sample_report(held(true), held(pred))) == expected
    mixed = eh.small_sample_report(["1", "0", "1"], [1, 0, 0])
    assert [(c.label, c.support) for c in mixed.classes] == [("0", 1), ("1", 2)]


def test_a_class_that_nobody_has_is_shown_as_undefined() -> None:
    report = eh.small_sample_report([0, 0, 0], [0, 0, 0], labels=[0, 1])
    assert str(report) == (
        "3 cases, 95 % intervals in brackets\n"
        "\n"
        "class  support  precision             recall                f1\n"
        "0            3  1.000 [0.464, 1.000]  1.000 [0.464, 1.000]  1.000 [0.634, 1.000]\n"
        "1            0  undefined             undefined             undefined\n"
        "\n"
        "accuracy           1.000 [0.464, 1.000]\n"
        "balanced accuracy  undefined\n"
        "MCC                undefined\n"
        "\n"
        "precision of 1 is undefined: no predicted positives (TP + FP = 0)\n"
        "recall of 1 is undefined: no actual positives (TP + FN = 0)\n"
        "f1 of 1 is undefined: no actual or predicted positives (TP + FN + FP = 0)\n"
        "Each class in turn is the positive one.\n"
        "\n"
        "balanced accuracy is undefined: no actual positives (TP + FN = 0), with 1 as the positive class\n"
        "MCC is undefined: no actual positives (TP + FN = 0) and no predicted positives (TP + FP = 0), with 1 as the "
        "positive class"
    )
    assert report.to_dict()["classes"][1]["undefined"]["recall"] == "no actual positives (TP + FN = 0)"
    assert report.to_dict()["classes"][1]["recall"]["estimate"] is None
    assert str(eh.small_sample_report([1], [1])).startswith("1 case, ")


def test_the_classes_shown_can_be_chosen_and_ordered() -> None:
    true, pred = ["a", "b", "c", "c"], ["a", "c", "c", "c"]
    report = eh.small_sample_report(true, np.array(pred), labels=np.array(["c", "a"]))
    assert [c.label for c in report.classes] == ["c", "a"]
    assert report.accuracy.estimate == 0.75
    assert report.mcc.estimate == approx(sm.matthews_corrcoef(true, pred))


def test_intervals_of_several_classes_come_from_the_recalls_and_from_a_posterior_of_the_cells() -> None:
    """Distances add up in squares; Dirichlet(counts + 1/9), drawn here with another generator."""
    counts = np.array([[9, 2, 1], [1, 6, 0], [2, 2, 7]])
    true = [str(t) for t in range(3) for p in range(3) for _ in range(counts[t, p])]
    pred = [str(p) for t in range(3) for p in range(3) for _ in range(counts[t, p])]
    report = eh.small_sample_report(true, pred, level=0.9)
    sums, hits = counts.sum(axis=1), counts.diagonal()
    low, high = (beta.ppf(q, hits + 0.5, sums - hits + 0.5) for q in (0.05, 0.95))
    mean = (hits / sums).mean()
    expected = (
        mean - np.sqrt(((hits / sums - low) ** 2).sum()) / 3,
        mean + np.sqrt(((high - hits / sums) ** 2).sum()) / 3,
    )
    assert (report.balanced_accuracy.low, report.balanced_accuracy.high) == approx(expected)
    drawn = np.random.default_rng(5).dirichlet(counts.ravel() + 1 / 9, 40_000).reshape(-1, 3, 3)
    labels = np.eye(3)
    scores = []
    for cells in drawn[:4_000]:
        own, theirs = cells.sum(axis=1), cells.sum(axis=0)
        covariance = sum(cells[t, p] * (labels[t] - own) @ (labels[p] - theirs) for t in range(3) for p in range(3))
        scores.append(covariance / np.sqrt((1 - own @ own) * (1 - theirs @ theirs)))
    assert (report.mcc.low, report.mcc.high) == approx(tuple(np.quantile(scores, [0.05, 0.95])), abs=0.02)
    assert report.mcc.method == "posterior, 1 case over all cells, 20,000 draws, seed 0"
    assert report == eh.small_sample_report(true, pred, level=0.9)


def test_intervals_of_several_classes_cover_about_at_the_level() -> None:
    """80 samples of 40 cases of four classes; the true recalls are 0.8, and MCC follows from the cells."""
    rng = np.random.default_rng(1)
    shares = np.array([0.4, 0.3, 0.2, 0.1])[:, None] * np.where(np.eye(4), 0.8, 0.2 / 3)
    own, theirs = shares.sum(axis=1), shares.sum(axis=0)
    mcc = (shares.trace() - own @ theirs) / np.sqrt((1 - own @ own) * (1 - theirs @ theirs))
    inside = {"mcc": 0, "balanced_accuracy": 0}
    for _ in range(80):
        counts = rng.multinomial(40, shares.ravel())
        rows = [divmod(int(i), 4) for i in np.repeat(np.arange(16), counts)]
        report = eh.small_sample_report([t for t, _ in rows], [p for _, p in rows])
        inside["mcc"] += mcc in report.mcc
        inside["balanced_accuracy"] += 0.8 in report.balanced_accuracy
    assert all(hits / 80 >= 0.86 for hits in inside.values()), inside


# The documentation

DOCS = (Path(__file__).parent.parent / "docs/how-to/scikit-learn.md").read_text("utf-8")
DEGENERATE = {
    "no actual positives": (0, 0, 3, 7),
    "no actual negatives": (6, 4, 0, 0),
    "no predicted positives": (0, 3, 0, 7),
    "only true negatives": (0, 0, 0, 10),
    "no errors": (4, 0, 0, 6),
}


def degenerate_table() -> str:
    """What both libraries return where one of them has no answer, in Markdown."""

    def shown(value: float) -> str:
        return "nan" if math.isnan(value) else f"{value:.2f}"

    lines = ["| scikit-learn | " + " | ".join(DEGENERATE) + " |", "|---|" + "---|" * len(DEGENERATE)]
    for foreign in OF_LABELS:
        if foreign.library != "scikit-learn" or foreign.key in ("acc", "inacc"):
            continue
        entries = []
        for tp, fn, fp, tn in DEGENERATE.values():
            true, pred = [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn
            ours = eh.metric(foreign.key)(eh.ConfusionMatrix(tp, fn, fp, tn))
            with quiet():
                theirs = shown(float(THEIRS[foreign.name](true, pred)))
            entries.append(theirs if shown(ours) == theirs else f"{theirs}, here {shown(ours)}")
        lines.append(f"| `{foreign.name}` | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"


def test_the_docs_show_where_the_libraries_differ() -> None:
    assert degenerate_table() in DOCS


def test_the_docs_list_every_name() -> None:
    for foreign in SAME:
        assert f"| `{foreign.name}` | {foreign.library} | `{foreign.key}` | {foreign.means or 'the same'} |\n" in DOCS
    for foreign in OTHER:
        assert f"| `{foreign.name}` | {foreign.library} | `{foreign.key}` | {foreign.means} |\n" in DOCS
    for name, instead in NOT_HERE.items():
        assert f"| `{name}` | {instead} |\n" in DOCS
