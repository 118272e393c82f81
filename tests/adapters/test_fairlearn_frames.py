"""Metrics inside fairlearn's `MetricFrame`, and audits of such frames."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from engines import fm
from fairlearn_people import Counts, counts, people, share
from hypothesis import assume, given, settings, strategies as st
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


def test_the_number_of_cases_is_a_metric_of_a_frame_by_its_plain_name() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)})
    number = pickle.loads(pickle.dumps(metric_function("count")))
    metrics = {"Count": number, "tpr": metric_function("tpr"), "fpr": metric_function("fpr"), "ppr": fm.selection_rate}
    frame = fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    assert frame.by_group["Count"].tolist() == [10, 8]
    assert frame.overall["Count"] == 18
    assert number.__name__ == "count"
    assert matrices(from_metric_frame(frame, metrics="tpr"), "sensitive_feature_0") == {
        "a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}  # fmt: skip


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


def matrices(audit: Any, by: str) -> Counts:
    assert isinstance(audit, eh.Audit)
    return {row.group: row.cells for row in audit.rows if row.by == by and row.cells is not None}


FRAMES: dict[str, dict[str, Callable[..., Any]]] = {
    "counts": {"anything": confusion_counts, "acc": accuracy_score},
    "scikit-learn's matrix": {"cm": partial(confusion_matrix, labels=[0, 1])},
    "rates": {
        "count": fm.count,
        "accuracy": accuracy_score,
        "selection_rate": fm.selection_rate,
        "tpr": fm.true_positive_rate,
        "fpr": fm.false_positive_rate,
    },
    "rates with other names": {
        "support": fm.count,
        "true_negative_rate": fm.true_negative_rate,
        "false_negative_rate": fm.false_negative_rate,
        "accuracy_score": accuracy_score,
        "selection_rate": fm.selection_rate,
        "my own": lambda y_true, y_pred: 7.0,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("metrics", FRAMES.values(), ids=FRAMES)
@given(groups=counts)
@settings(max_examples=15, deadline=None)
def test_an_audit_of_a_frame_has_the_counts_of_its_groups_or_is_refused(
    metrics: dict[str, Callable[..., Any]], groups: Counts
) -> None:
    groups = {group: matrix for group, matrix in groups.items() if sum(matrix)}
    assume(len(groups) > 1)
    frame = framed(groups, metrics)
    try:
        found = from_metric_frame(frame, metrics="acc")
    except eh.errors.InvalidInput as error:
        refusal = str(error)
    else:
        assert matrices(found, "sensitive_feature_0") == groups
        return
    assert "do not follow from" in refusal
    assert not {"anything", "cm"} & set(metrics)


def test_a_group_of_one_case_is_solved_too() -> None:
    groups: Counts = {"a": (1, 0, 0, 0), "b": (3, 1, 2, 6)}
    assert matrices(from_metric_frame(framed(groups, FRAMES["rates"]), metrics="acc"), "sensitive_feature_0") == groups


@given(matrix=st.tuples(*[st.integers(1, 10**7)] * 4))
@settings(max_examples=25, deadline=None)
def test_counts_of_millions_of_cases_are_solved_exactly_or_refused(matrix: tuple[int, int, int, int]) -> None:
    rates = {key: k / n for key in ("ppr", "tpr", "fpr") for k, n in [share(key, matrix)]}
    table = pd.DataFrame([{"count": sum(matrix)} | rates] * 2, index=pd.Index(["a", "b"], name="g"))
    try:
        found = from_metric_frame(SimpleNamespace(by_group=table), metrics="tpr")
    except eh.errors.InvalidInput:
        assert rates["tpr"] == approx(rates["fpr"], rel=1e-3)
        return
    assert matrices(found, "g") == {"a": matrix, "b": matrix}


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


def test_names_that_a_frame_uses_can_be_explained() -> None:
    groups = {"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}
    metrics = {"cases": fm.count, "x": fm.selection_rate, "y": fm.true_positive_rate, "z": fm.false_positive_rate}
    frame = framed(groups, metrics)
    columns = {"cases": "count", "x": "ppr", "y": "tpr", "z": "fpr"}
    assert matrices(from_metric_frame(frame, columns=columns, metrics="tpr"), "sensitive_feature_0") == groups


@pytest.mark.parametrize(
    ("metrics", "columns", "sentence"),
    [
        (
            {"tpr": fm.true_positive_rate, "x": accuracy_score},
            None,
            "the number of cases per group is not among the metrics of the frame (tpr, x), and a MetricFrame does not "
            "keep its data; add confusion_counts to its metrics, or fairlearn's count and rates",
        ),
        (
            {"n": fm.count, "tpr": fm.true_positive_rate},
            None,
            "the counts of the group a do not follow from n and tpr; add confusion_counts to the metrics of the frame",
        ),
        (
            {"n": fm.count},
            None,
            "the counts of the group a do not follow from n and no rate; add confusion_counts to the metrics of the "
            "frame",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate, "y": fm.true_positive_rate, "z": fm.false_positive_rate},
            {"x": "acc", "y": "tpr", "z": "ppr"},
            "no whole counts of the group a have these results (x, y, z); the frame must be made without sample "
            "weights, and columns= must say what its metrics are if their names do not",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate},
            {"y": "acc"},
            "no metric of the frame is called 'y'; known: n, x",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate},
            {"x": "mcc"},
            "mcc is not a proportion of counts, so no counts follow from it; leave it out of columns",
        ),
        (
            {"cm": confusion_matrix},
            None,
            "cm of the group c must be a matrix of two classes; got the shape (1, 1), so pass labels= to "
            "confusion_matrix, or use confusion_counts",
        ),
    ],
)
def test_a_frame_that_hides_its_counts_is_refused_in_a_sentence(
    metrics: dict[str, Callable[..., Any]], columns: dict[str, str] | None, sentence: str
) -> None:
    frame = framed({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4), "c": (0, 0, 0, 3)}, metrics)
    with pytest.raises(eh.errors.InvalidInput) as refusal:
        from_metric_frame(frame, columns=columns)
    assert str(refusal.value) == sentence


def test_rates_that_no_whole_counts_have_are_refused() -> None:
    """2.6 of 4 positives and 1.1 of 6 negatives, as with sample weights."""
    rates = {"count": 10, "ppr": 3.7 / 10, "tpr": 2.6 / 4, "fpr": 1.1 / 6}
    table = pd.DataFrame([rates] * 2, index=pd.Index(["a", "b"], name="g"))
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^no whole counts of the group a have these results \(ppr, tpr, fpr\); "
    ):
        from_metric_frame(SimpleNamespace(by_group=table), metrics="tpr")


def test_what_is_not_a_frame_is_refused() -> None:
    with pytest.raises(eh.errors.InvalidInput, match=r"^frame must be a MetricFrame of fairlearn; got dict$"):
        from_metric_frame({})
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^by must be left out: the frame has the names of its group columns$"
    ):
        from_metric_frame(framed({"a": (1, 1, 1, 1)}, {"c": confusion_counts}), by="x")
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^strata must be left out: the frame has the names of its control feat"
    ):
        from_metric_frame(framed({"a": (1, 1, 1, 1)}, {"c": confusion_counts}), strata="x")
