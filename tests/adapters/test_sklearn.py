"""Scorers and the report for small samples, against scikit-learn's, mid-p intervals and draws."""

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
from engines import pl
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP
from pytest import approx
from scipy.optimize import brentq
from scipy.stats import binom
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, cross_val_score, cross_validate

import evenhand as eh
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.sklearn import scorer, small_sample_report

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
REFERENCE = eh.ConfusionMatrix(tp=20, fn=5, fp=8, tn=27)
labelled = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=20)
binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)
SCORED = [m for m in ONE_GROUP_METRICS if m.better != "neither"]


def columns(pairs: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    true, pred = zip(*pairs, strict=True)
    return list(true), list(pred)


def cells_of(true: list[Any], pred: list[Any], positive: Any = 1) -> tuple[int, int, int, int]:
    """The four counts, one case at a time."""
    found = [0, 0, 0, 0]
    for t, p in zip(true, pred, strict=True):
        found[2 * (t != positive) + (p != positive)] += 1
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


def test_a_fold_with_a_single_known_label_needs_no_positive_label() -> None:
    pairs: list[Any] = [(0, 1), (-1, 1), (False, True), ("no", "yes"), ("n", "Y"), ("negative", "positive")]
    for no, yes in pairs:
        model, x, y = DummyClassifier(), X[:8], np.array([yes, yes, no, yes, no, yes, yes, no])
        found = cross_val_score(model, x, y, scoring=scorer("acc"), cv=LeaveOneOut())
        assert found.tolist() == cross_val_score(model, x, y, scoring="accuracy", cv=LeaveOneOut()).tolist()
        assert scorer("tpr")(model.fit(x, y), x[:1], [yes]) == 1
        assert math.isnan(scorer("tnr")(model, x[:1], [yes]))
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
    with pytest.raises(eh.errors.MissingExtra, match=r"^a scorer needs the extra 'sklearn': pip install "):
        scorer("tpr")


# The report


def mid_p(k: int, m: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson's ends with half of P(k): of P(more) + P(k)/2 and P(fewer) + P(k)/2, stretched to k/m."""

    def excess(rate: float, above: bool) -> float:
        beyond = binom.cdf(k, m, rate) if above else binom.sf(k - 1, m, rate)
        return float(beyond - binom.pmf(k, m, rate) / 2 - (1 - level) / 2)

    low = brentq(excess, 0, 1, args=(False,), xtol=1e-14) if k else 0.0
    high = brentq(excess, 0, 1, args=(True,), xtol=1e-14) if k < m else 1.0
    return min(low, k / m), max(high, k / m)


@given(st.one_of(binary, labelled))
@settings(max_examples=25)
def test_the_report_has_the_scores_of_scikit_learn_or_why_there_are_none(pairs: list[tuple[Any, Any]]) -> None:
    true, pred = columns(pairs)
    report = small_sample_report(true, pred)
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
        without_mcc = any(np.count_nonzero(counts.sum(axis=i)) < 2 for i in (0, 1))
        assert ("balanced_accuracy" in report.undefined) == (0 in counts.sum(axis=1))
    else:
        without_mcc = ONE_GROUP["mcc"](*cells_of(true, pred, max({*true, *pred}))) is None
    assert ("mcc" in report.undefined) == math.isnan(report.mcc.estimate) == without_mcc
    if not without_mcc:
        assert report.mcc.estimate == approx(sm.matthews_corrcoef(true, pred), abs=1e-12)
    if "balanced_accuracy" not in report.undefined:
        assert report.balanced_accuracy.estimate == approx(sm.balanced_accuracy_score(true, pred))


@pytest.mark.slow
@given(labelled, st.sampled_from([0.5, 0.9, 0.95]))
@settings(max_examples=30)
def test_the_intervals_of_the_report_are_mid_p(pairs: list[tuple[str, str]], level: float) -> None:
    true, pred = columns(pairs)
    report = small_sample_report(true, pred, confidence_level=level)

    hits = sum(t == p for t, p in pairs)
    assert (report.accuracy.low, report.accuracy.high) == approx(mid_p(hits, len(pairs), level))
    for scores in report.classes:
        tp, fn, fp, _ = cells_of(true, pred, scores.label)
        if tp + fp:
            assert (scores.precision.low, scores.precision.high) == approx(mid_p(tp, tp + fp, level))
        if tp + fn:
            assert (scores.recall.low, scores.recall.high) == approx(mid_p(tp, tp + fn, level))
            rates = np.array(mid_p(tp, tp + fn + fp, level))
            assert (scores.f1.low, scores.f1.high) == approx((2 * rates / (1 + rates)).tolist())


def test_the_report_reads_columns_of_any_library() -> None:
    true, pred = ["a", "b", "a", "b", "b"], ["a", "b", "b", "b", "a"]
    expected = str(small_sample_report(true, pred))
    for held in (np.array, pd.Series, pl.Series, tuple, lambda v: (x for x in v)):
        assert str(small_sample_report(held(true), held(pred))) == expected
    mixed = small_sample_report(["1", "0", "1"], [1, 0, 0])
    assert [(c.label, c.support) for c in mixed.classes] == [(0, 1), (1, 2)]


def test_a_class_that_nobody_has_is_shown_as_undefined() -> None:
    report = small_sample_report([0, 0, 0], [0, 0, 0], labels=[0, 1])
    text = str(report)
    for line in (
        "0            3  1.000 [0.368, 1.000]  1.000 [0.368, 1.000]  1.000 [0.538, 1.000]",
        "1            0  undefined             undefined             undefined",
        "recall of 1 is undefined: no actual positives (TP + FN = 0)",
        "balanced accuracy is undefined: no actual positives (TP + FN = 0), with 1 as the positive class",
    ):
        assert f"{line}\n" in text
    assert report.to_dict()["classes"][1]["undefined"]["recall"] == "no actual positives (TP + FN = 0)"
    assert report.to_dict()["classes"][1]["recall"]["estimate"] is None
    assert str(small_sample_report([1], [1])).startswith("1 case, ")


def test_the_classes_shown_can_be_chosen_and_ordered() -> None:
    true, pred = ["a", "b", "c", "c"], ["a", "c", "c", "c"]
    report = small_sample_report(true, np.array(pred), labels=np.array(["c", "a"]))
    assert [c.label for c in report.classes] == ["c", "a"]
    assert report.accuracy.estimate == 0.75
    assert report.mcc.estimate == approx(sm.matthews_corrcoef(true, pred))


def test_intervals_of_several_classes_come_from_the_recalls_and_from_a_posterior_of_the_cells() -> None:
    """Distances add up in squares; Dirichlet(counts + 1/9), drawn here with another generator."""
    counts = np.array([[9, 2, 1], [1, 6, 0], [2, 2, 7]])
    true = [str(t) for t in range(3) for p in range(3) for _ in range(counts[t, p])]
    pred = [str(p) for t in range(3) for p in range(3) for _ in range(counts[t, p])]
    report = small_sample_report(true, pred, confidence_level=0.9)
    sums, hits = counts.sum(axis=1), counts.diagonal()
    low, high = np.array([mid_p(k, m, 0.9) for k, m in zip(hits.tolist(), sums.tolist(), strict=True)]).T
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
    assert report.mcc.method == "posterior, 1 case over all cells, 20,000 draws, rng 0"
    assert report == small_sample_report(true, pred, confidence_level=0.9)


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
        (lambda: small_sample_report([1, 0], [1, 0], labels="10"), "labels must be a sequence of classes; got '10'"),
        (lambda: small_sample_report([1, 0], [1, 0], labels=[1, 1]),
         "labels must name each class once; got 1, 1"),
        (lambda: small_sample_report(["a", "NA", "b"], ["a", "a", "b"]),
         "y_true contains 1 missing value; drop that row first"),
        (lambda: small_sample_report(["a", "b", "b"], ["NA", "NA", "b"]),
         "y_pred contains 2 missing values; drop those rows first"),
        (lambda: small_sample_report([1, 0], [1, 0], confidence_level=2),
         "confidence_level must lie between 0 and 1; got 2"),
    ]  # fmt: skip
    for call, sentence in calls:
        with pytest.raises(eh.errors.InvalidInput) as refusal:
            call()
        assert str(refusal.value) == sentence
