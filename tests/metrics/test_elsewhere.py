"""Names of other libraries, and metrics as functions of labels, each against the real libraries."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pycm
import pytest
import sklearn.metrics as sm
from hypothesis import given, settings, strategies as st
from oracle import ONE_GROUP
from pytest import approx
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from test_conformance import PYCM

import evenhand as eh
from evenhand.metrics import CATALOGUE, NOT_HERE, OTHER, SAME, OneGroup

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=25)


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


@pytest.mark.slow
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
        except eh.errors.UnknownName as refusal:
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
        except eh.errors.UnknownName as refusal:
            message = str(refusal)
            assert message.startswith(f"no metric is called {name!r}: it "), name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("equalized_odds_ratio", "is the smaller of two ratios in fairlearn; use 'tpr_ratio' and 'fpr_ratio', or the "
         "function of that name in evenhand.fairlearn, which is about all groups"),
        ("fbeta_score", "needs a beta; use f_beta(beta), or a name such as 'f2'"),
        ("fowlkes_mallows_score",
         "compares two clusterings in scikit-learn; the index of a confusion matrix is 'fowlkes_mallows'"),
        ("recall_weighted",
         "is an average over classes in scikit-learn; use 'recall' of a MulticlassConfusion with average='weighted'"),
        ("roc_auc", "needs scores, and a confusion matrix keeps predictions only; use audit(..., "
         "metrics=['auc'], y_score=...) or evenhand.ranking.auc; of predictions it is 'balanced_accuracy'"),
        ("F1_Score_Group_Min",
         "is the smallest score of all groups in fairlearn; use audit(), and between_groups() of what it returns"),
    ],
)  # fmt: skip
def test_a_name_that_means_something_else_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(eh.errors.UnknownName) as refusal:
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
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as refusal:
        call()
    assert str(refusal.value) == sentence


# The documentation

DOCS = (Path(__file__).parents[2] / "docs/how-to/scikit-learn.md").read_text("utf-8")
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
