"""Names of other libraries, and metrics as functions of labels, each against the real libraries."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sm
from engines import fm, needs, optional
from oracle import Cells, matrices, refusal
from pytest import approx
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from evenhand import metric
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.metrics.aliases import ALIASES, FALSE_FRIENDS, NOT_METRICS, Alias

DOCS = (Path(__file__).parents[2] / "docs/how-to/scikit-learn.md").read_text("utf-8")
SKLEARN, FAIRLEARN = ([a for a in ALIASES if a.library == library] for library in ("scikit-learn", "fairlearn"))


def columns(cells: Cells) -> tuple[list[int], list[int]]:
    """Labels and predictions with these counts."""
    tp, fn, fp, tn = cells
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


def their_score(alias: Alias, cells: Cells, reference: Cells = (0, 0, 0, 0)) -> float:
    """What the other library returns for a group, or for a group and a reference."""
    true, pred = (a + b for a, b in zip(columns(cells), columns(reference), strict=True))
    options: Any = {"sensitive_features": [0] * sum(cells) + [1] * sum(reference)} if sum(reference) else {}
    with warnings.catch_warnings(action="ignore"):
        if alias.name == "positive_likelihood_ratio":
            return float(sm.class_likelihood_ratios(true, pred, labels=[0, 1])[0])
        return float(getattr(sm if alias in SKLEARN else fm, alias.name)(true, pred, **options))


@pytest.mark.parametrize("aliases", [SKLEARN, FAIRLEARN])
def test_a_function_of_another_library_is_the_metric_of_its_name(aliases: list[Alias]) -> None:
    """metric(name) = name(y_true, y_pred) wherever the metric is defined."""
    for alias in aliases:
        m = metric(alias.name)
        assert m.key == alias.key
        for cells in matrices(3) if m.groups == 1 else ():
            assert math.isnan(m(cells)) or m(cells) == approx(their_score(alias, cells), abs=1e-12), (alias, cells)


def test_a_disparity_of_fairlearn_is_the_metric_of_its_name_for_two_groups() -> None:
    """A difference up to its sign, a ratio up to its direction, equalized odds exactly."""
    needs("fairlearn")
    for cells, reference in zip(list(matrices(6))[::17], list(matrices(5))[::11], strict=False):
        for alias in FAIRLEARN:
            if metric(alias.key).groups == 2 and not math.isnan(score := metric(alias.name)(cells, reference)):
                folded = abs(score) if alias.name.endswith("_difference") else min(score, 1 / score) if score else 0.0
                assert folded == approx(their_score(alias, cells, reference), abs=1e-12), alias


def test_pycm_agrees_and_is_undefined_where_we_are() -> None:
    pycm = optional("pycm")
    same = ("ACC", "F0.5", "F1", "F2", "FDR", "FNR", "FOR", "FPR", "MCC", "NPV", "PPV", "TNR", "TPR")
    names = dict(zip(same, same, strict=True)) | {
        "AUC": "balanced_accuracy", "BM": "informedness", "ERR": "inacc", "G": "fowlkes_mallows", "GM": "g_mean",
        "J": "jaccard", "MK": "markedness", "NLR": "lr_minus", "PLR": "lr_plus", "PRE": "prev"}  # fmt: skip
    for cells in ((3, 0, 2, 7), (5, 0, 0, 5), (0, 4, 0, 6), (0, 0, 3, 2), (8, 2, 3, 9), (0, 5, 5, 0)):
        tp, fn, fp, tn = cells
        theirs = pycm.ConfusionMatrix(matrix={1: {1: tp, 0: fn}, 0: {1: fp, 0: tn}})
        for name, key in names.items():
            value = str(theirs.class_stat[name][1]).replace("None", "nan")
            assert metric(key)(cells) == approx(float(value), abs=1e-12, nan_ok=True), (name, cells)
        assert (theirs.P[1], theirs.N[1]) == (tp + fn, fp + tn)


def test_names_of_other_libraries_are_found_or_refused() -> None:
    """All scorers and functions of scikit-learn and of fairlearn, and those with a sentence on what to use instead."""
    names = {*sm.get_scorer_names(), *sm.__all__, *getattr(fm, "__all__", ())}
    for name in names:
        assert refusal(metric, name).startswith(("no error: <", "UnknownName: no metric is called ")), name
    for name, instead in NOT_METRICS.items():
        assert refusal(metric, name) == f"UnknownName: no metric is called {name!r}: it {instead}"
    found = {name for name in sm.get_scorer_names() if refusal(metric, name).startswith("no error")}
    assert found == {"accuracy", "balanced_accuracy", "f1", "jaccard", "matthews_corrcoef", "positive_likelihood_ratio",
                     "precision", "recall"}  # fmt: skip


def test_a_name_that_means_something_else_is_refused() -> None:
    for name, instead in (
        ("equalized_odds_ratio", "is the smaller of two ratios in fairlearn; use 'tpr_ratio' and 'fpr_ratio', or the "
         "function of that name in evenhand.fairlearn"),
        ("fbeta_score", "needs a beta; use f_beta(beta), or a name such as 'f2'"),
        ("Fowlkes-Mallows score", "compares two clusterings in scikit-learn; use 'fowlkes_mallows'"),
        ("recall_weighted", "is an average over classes in scikit-learn; use 'recall' of a MulticlassConfusion with "
         "average='weighted'"),
        ("F1_Score_Group_Min", "is the smallest score of all groups in fairlearn; use audit()"),
        ("recall_score_group_max", "is the largest score of all groups in fairlearn; use audit()"),
    ):  # fmt: skip
        assert refusal(metric, name) == f"UnknownName: no metric is called {name!r}: it {instead}"


def test_a_name_with_another_meaning_elsewhere_is_noted_on_the_metric() -> None:
    for alias in (*ALIASES, *FALSE_FRIENDS):
        assert str(alias) in metric(alias.key).notes
        assert alias.name in NOT_METRICS or metric(alias.name).key == alias.key
    assert metric("nprev").notes == ("N in PyCM is the number of actual negatives",)
    assert metric("ppr").notes[:2] == ("selection_rate in fairlearn", "pprev in aequitas")
    assert sm.fowlkes_mallows_score([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]) == 0.25
    assert metric("fowlkes_mallows")([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]) == approx(2 / 3)


def test_every_metric_of_one_group_is_a_function_for_make_scorer() -> None:
    labels, predictions = columns((8, 2, 3, 9))
    model = DecisionTreeClassifier(random_state=0).fit(np.eye(22), predictions)
    for m in ONE_GROUP_METRICS:
        scorer = clone(sm.make_scorer(m, positive=1), safe=False)
        assert pickle.loads(pickle.dumps(scorer))._score_func is copy.deepcopy(scorer)._score_func is m
        assert m.key in repr(scorer) and scorer(model, np.eye(22), labels) == approx(m([8, 2, 3, 9])), m.key


def test_the_docs_show_where_scikit_learn_gives_another_answer() -> None:
    degenerate = {
        "no actual positives": (0, 0, 3, 7), "no actual negatives": (6, 4, 0, 0), "no predicted positives":
        (0, 3, 0, 7), "only true negatives": (0, 0, 0, 10), "no errors": (4, 0, 0, 6)}  # fmt: skip
    lines = [f"| scikit-learn | {' | '.join(degenerate)} |", "|---|" + "---|" * len(degenerate)]
    for alias in SKLEARN:
        if alias.key not in ("acc", "inacc"):
            pairs = [(f"{their_score(alias, c):.2f}", f"{metric(alias.key)(c):.2f}") for c in degenerate.values()]
            entries = [theirs if theirs == ours else f"{theirs}, here {ours}" for theirs, ours in pairs]
            lines.append(f"| `{alias.name}` | {' | '.join(entries)} |")
    assert "\n".join(lines) + "\n" in DOCS


def test_the_docs_list_every_name() -> None:
    for alias in (*ALIASES, *FALSE_FRIENDS):
        assert f"| `{alias.name}` | {alias.library} | `{alias.key}` | {alias.meaning or 'the same'} |\n" in DOCS
    for name, instead in NOT_METRICS.items():
        assert f"| `{name}` | {instead} |\n" in DOCS
