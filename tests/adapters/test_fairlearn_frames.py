"""Metrics inside fairlearn's `MetricFrame`, and audits of such frames."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from engines import fm
from fairlearn_people import Counts, people
from pytest import approx
from sklearn.metrics import accuracy_score, confusion_matrix

import evenhand as eh
from evenhand.fairlearn import confusion_counts, from_metric_frame, metric_function


def test_metrics_work_inside_a_frame_and_undefined_groups_do_not_count_as_zero() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4), "c": (0, 0, 1, 3)})
    frame = fm.MetricFrame(
        metrics={"tpr": metric_function("tpr"), "theirs": fm.true_positive_rate, "count": fm.count},
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=who,
    )
    assert frame.by_group["tpr"].tolist() == approx([0.75, 0.5, math.nan], nan_ok=True)
    assert frame.by_group["theirs"].tolist() == [0.75, 0.5, 0.0]
    assert frame.difference()["tpr"] == 0.25
    assert frame.difference()["theirs"] == 0.75
    assert frame.by_group["count"].tolist() == [10, 8, 4]


@pytest.mark.parametrize("metrics", [eh.metric("tpr"), {"recall": eh.metric("recall_score")}], ids=["one", "named"])
def test_a_metric_itself_is_a_metric_of_a_frame_if_every_group_has_both_labels(metrics: Any) -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)})
    frame = fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    assert np.ravel(frame.by_group).tolist() == [0.75, 0.5]
    assert np.ravel(frame.difference()).tolist() == [0.25]


def test_a_metric_that_cannot_infer_the_positive_label_of_a_group_is_refused_and_its_function_is_not() -> None:
    data: dict[str, Any] = {"y_true": [1, 0, 1, 1], "y_pred": [1, 0, 1, 1], "sensitive_features": list("aabb")}
    sentence = "the positive label cannot be inferred from 1; pass it as positive="
    with pytest.raises(eh.errors.InvalidInput, match=f"^{sentence}$"):
        fm.MetricFrame(metrics=eh.metric("tpr"), **data)
    assert fm.MetricFrame(metrics=metric_function("tpr"), **data).by_group.tolist() == [1.0, 1.0]
    with pytest.raises(eh.errors.InvalidInput, match=r"pass it as positive=$"):
        eh.metric("tpr")([3, 4], [3, 4])


def test_a_metric_function_is_named_after_its_metric_and_survives_pickling() -> None:
    metric = pickle.loads(pickle.dumps(metric_function("recall", positive="yes")))
    assert metric.__name__ == "tpr"
    assert metric(["yes", "yes"], ["yes", "no"]) == 0.5
    assert math.isnan(metric(["no", "no"], ["yes", "no"]))
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^equal_opportunity compares two groups, and a metric of a MetricFrame"
    ):
        metric_function("equal_opportunity")


def framed(groups: Counts, metrics: dict[str, Callable[..., Any]], **features: Any) -> fm.MetricFrame:
    y_true, y_pred, who = people(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, **({"sensitive_features": who} | features))


def matrices(audit: Any, by: str) -> dict[str, tuple[float, ...]]:
    assert isinstance(audit, eh.Audit)
    return {row.group: row.cells for row in audit.rows if row.by == by and row.cells is not None}


def test_an_audit_of_a_frame_has_the_counts_of_its_groups() -> None:
    """From our counts or from scikit-learn's matrix; one group has a single case."""
    groups: Counts = {"a": (1, 0, 0, 0), "b": (3, 1, 2, 6), "c": (10**3, 2, 3, 4)}
    frames: list[dict[str, Callable[..., Any]]] = [
        {"anything": confusion_counts, "acc": accuracy_score},
        {"cm": partial(confusion_matrix, labels=[0, 1])},
    ]
    for metrics in frames:
        found = from_metric_frame(framed(groups, metrics), metrics="acc")
        assert matrices(found, "sensitive_feature_0") == groups


def test_sensitive_features_of_a_frame_become_group_columns_and_empty_combinations_are_ignored() -> None:
    """Nobody is old and in b."""
    groups = {"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}
    _, _, who = people(groups)
    age = ["old" if group == "a" and i % 2 else "young" for i, group in enumerate(who)]
    frame = framed(groups, {"c": confusion_counts}, sensitive_features={"team": who, "age": age})
    found = from_metric_frame(frame, metrics="acc")
    assert isinstance(found, eh.Audit)
    assert {row.by for row in found.rows} == {"age", "team", "team & age"}
    assert matrices(found, "team") == groups
    assert sum(sum(m) for m in matrices(found, "team & age").values()) == 18


def test_what_has_no_counts_is_refused_in_a_sentence() -> None:
    groups: Counts = {"a": (3, 1, 1, 5), "b": (2, 2, 0, 4), "c": (0, 0, 0, 3)}
    rates = framed(groups, {"count": fm.count, "tpr": fm.true_positive_rate, "fpr": fm.false_positive_rate})
    for frame, sentence in (
        (rates, "frame must have confusion_counts among its metrics, since it does not keep its data"),
        (framed(groups, {"cm": confusion_matrix}), "array must be [[tn, fp], [fn, tp]]; got shape (1, 1)"),
        ({}, "frame must be a MetricFrame of fairlearn; got {}"),
    ):
        with pytest.raises(eh.errors.InvalidInput) as refusal:
            from_metric_frame(frame)
        assert str(refusal.value) == sentence
