"""Metrics inside fairlearn's `MetricFrame`, audits of such frames, and gaps under its names."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from math import nan
from typing import Any

import numpy as np
import pytest
from engines import fm
from hypothesis import assume, given, settings, strategies as st
from pytest import approx
from sklearn.metrics import accuracy_score, confusion_matrix

import evenhand as eh
from evenhand import fairlearn
from evenhand.fairlearn import confusion_counts, from_metric_frame, metric_function

Counts = dict[str, tuple[int, int, int, int]]

cells = st.tuples(*[st.integers(0, 6)] * 4)
counts = st.lists(cells, min_size=2, max_size=4).map(lambda rows: dict(zip("abcd", rows, strict=False)))


def people(groups: Counts) -> tuple[list[int], list[int], list[str]]:
    """Labels, predictions and groups with these counts."""
    rows = [
        (label, prediction, group)
        for group, matrix in groups.items()
        for n, (label, prediction) in zip(matrix, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True)
        for _ in range(n)
    ]
    y_true, y_pred, who = zip(*rows, strict=True)
    return list(y_true), list(y_pred), list(who)


def share(key: str, matrix: tuple[int, int, int, int]) -> tuple[int, int]:
    """Successes and cases of a rate."""
    tp, fn, fp, tn = matrix
    return {
        "ppr": (tp + fp, tp + fn + fp + tn),
        "tpr": (tp, tp + fn),
        "fpr": (fp, fp + tn),
        "acc": (tp + tn, tp + fn + fp + tn),
    }[key]


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


# Gaps under fairlearn's names

METRICS = {"demographic_parity": ["ppr"], "equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"]}
NAMES = [f"{what}_{kind}" for what in METRICS for kind in ("difference", "ratio")]


def gap(name: str, groups: Counts) -> float:
    y_true, y_pred, group = people(groups)
    result: float = getattr(fairlearn, name)(y_true, y_pred, sensitive_features=group, positive=1)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(groups=counts)
@settings(max_examples=20, deadline=None)
def test_gaps_are_fairlearns_where_every_group_is_defined(name: str, groups: Counts) -> None:
    what, _, kind = name.rpartition("_")
    parts = {key: [share(key, m) for m in groups.values()] for key in METRICS[what]}
    assume(all(n for rows in parts.values() for _, n in rows))
    assume(kind == "difference" or all(any(k for k, _ in rows) for rows in parts.values()))
    y_true, y_pred, group = people(groups)
    expected = getattr(fm, name)(y_true, y_pred, sensitive_features=group)
    assert gap(name, groups) == approx(expected, abs=1e-12)


def test_gaps_are_the_largest_difference_and_the_smallest_ratio() -> None:
    groups: Counts = {"a": (9, 3, 2, 6), "b": (4, 4, 5, 3), "c": (2, 7, 1, 8)}
    rates = {
        "demographic_parity": [[11 / 20, 9 / 16, 3 / 18]],
        "equal_opportunity": [[9 / 12, 4 / 8, 2 / 9]],
        "equalized_odds": [[9 / 12, 4 / 8, 2 / 9], [2 / 8, 5 / 8, 1 / 9]],
    }
    for what, scores in rates.items():
        difference = max(max(s) - min(s) for s in scores)
        ratio = min(min(s) / max(s) for s in scores)
        assert gap(f"{what}_difference", groups) == approx(difference)
        assert gap(f"{what}_ratio", groups) == approx(ratio)


def test_functions_have_names_docstrings_and_can_be_pickled() -> None:
    for name in NAMES:
        function = getattr(fairlearn, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__name__ == name and "Returns" in function.__doc__
        with pytest.raises(TypeError, match="sample_weight"):
            function([1], [1], sensitive_features=["a"], sample_weight=[1])


def test_groups_that_look_alike_are_kept_apart() -> None:
    y_pred = [1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0]
    for group in (["(missing)"] * 4 + ["missing"] * 4 + ["x"] * 4, [1] * 4 + ["1"] * 4 + ["x"] * 4):
        assert fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=group) == 0.25


def test_an_undefined_group_is_left_out_with_a_warning() -> None:
    """fairlearn reports 1.0 for this perfect classifier, without a warning."""
    groups: Counts = {"a": (5, 0, 0, 5), "b": (8, 0, 0, 4), "c": (0, 0, 0, 6)}
    with pytest.warns(UserWarning, match=r"^tpr of c is undefined: no actual positives \(TP \+ FN = 0\)$"):
        assert gap("equalized_odds_difference", groups) == 0


def test_a_gap_without_two_defined_groups_is_nan_with_a_warning() -> None:
    lone: Counts = {"a": (3, 1, 2, 2), "b": (0, 0, 0, 4)}
    nobody: Counts = {"a": (0, 2, 1, 1), "b": (0, 2, 2, 1)}
    alone, zero = "tpr is defined in 1 group; a gap needs two", "tpr is 0 in every group, and has no ratio"
    for name, groups, expected, message in (
        ("equal_opportunity_ratio", lone, nan, alone),
        ("equalized_odds_difference", lone, 0.5, alone),
        ("equal_opportunity_ratio", nobody, nan, zero),
        ("equalized_odds_ratio", nobody, 3 / 4, zero),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert gap(name, groups) == approx(expected, nan_ok=True)
        assert message in [str(warning.message) for warning in caught]
        assert all(warning.filename == __file__ for warning in caught)


def test_rows_without_a_prediction_are_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="^1 row without y_pred left out$"):
        result = fairlearn.demographic_parity_difference(None, [1, 0, None, 1], sensitive_features=list("aabb"))
    assert result == 0.5


def test_groups_of_several_features_are_their_combinations() -> None:
    features = {"sex": list("ffmmffmm"), "age": [1, 1, 1, 1, 2, 2, 2, 2]}
    y_pred = [1, 1, 0, 1, 0, 0, 1, 0]
    assert fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=features) == 1.0
    with pytest.raises(eh.errors.InvalidInput):
        fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=["a"])
