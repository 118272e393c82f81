"""The report for small samples, against scikit-learn's, mid-p intervals and draws."""

from __future__ import annotations

import math
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

import evenhand as eh
from evenhand.sklearn import small_sample_report

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)
labelled = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=20)


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
    calls: list[tuple[Callable[[], Any], str]] = [
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
