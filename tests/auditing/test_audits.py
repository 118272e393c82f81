"""From data or counts to an audit: what is counted at every place, and every way in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from audit_oracle import effective, row
from shown_audits import Rows, at_thresholds, counted, scored

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import EvenhandError, InvalidInput, UnknownName

ROWS = scored()


# Thresholds


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.3, 0.5, 0.7, 1.0, 1.5])
def test_a_score_at_or_above_the_threshold_is_positive(threshold: float) -> None:
    """TP, FN, FP and TN at t are those of score >= t, ties included."""
    a = at_thresholds(ROWS, [0.3, threshold, 0.61], metrics="tpr")
    assert any(score == 0.3 for _, _, score in ROWS), "there are ties"
    for r in a.at(threshold=threshold).rows:
        assert r.cells == counted(ROWS, r.group, threshold)


def test_thresholds_are_sorted_and_repeated_ones_are_audited_once() -> None:
    a, b = (
        at_thresholds(ROWS, [0.7, 0.3, 0.7, 0.5, 0.3], metrics="tpr"),
        at_thresholds(ROWS, [0.3, 0.5, 0.7], metrics="tpr"),
    )
    assert a.axes == {"threshold": (0.3, 0.5, 0.7)}
    assert (a.rows, a.findings) == (b.rows, b.findings)


@pytest.mark.parametrize("given", [[0.5], (0.5,), np.array([0.5]), pd.Series([0.5])])
def test_a_list_of_one_threshold_is_an_axis_of_one(given: Any) -> None:
    a = at_thresholds(ROWS, given, metrics="tpr")
    assert a.axes == {"threshold": (0.5,)}
    assert a.at(threshold=0.5).rows == at_thresholds(ROWS, 0.5, metrics="tpr").rows
    assert at_thresholds(ROWS, 0.5, metrics="tpr").axes == {}


def test_an_undefined_score_at_a_threshold_is_never_0() -> None:
    """PPV = TP/(TP+FP) at a threshold above all scores is 0/0."""
    a = at_thresholds(ROWS, [0.3, 2.0], metrics="ppv")
    for r in a.rows:
        if r.at["threshold"] == 2.0:
            assert (r.score.value, r.verdict) == (None, Verdict.UNDEFINED)
            assert r.reason == "no predicted positives (TP + FP = 0)"
        else:
            assert r.score.value is not None and 0 < r.score.value < 1


def test_constant_scores_and_thresholds_beyond_them() -> None:
    rows: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1, 1)]
    a = at_thresholds(rows, [0.4, 0.5, 0.6], metrics=["tpr", "ppv", "lr_plus"])
    assert [row(a, "a", "tpr", threshold=t).score.value for t in (0.4, 0.5, 0.6)] == [1.0, 1.0, 0.0]
    assert {f.at["threshold"] for f in a.findings if f.kind == "constant"} == {0.4, 0.5, 0.6}


def test_the_threshold_is_one_half_of_scores_from_0_to_1() -> None:
    assert at_thresholds(ROWS, None, metrics="tpr").rows == at_thresholds(ROWS, 0.5, metrics="tpr").rows
    with pytest.raises(InvalidInput, match=r"^y_score must be between 0 and 1 for the default threshold of 0\.5; "):
        at_thresholds([(g, y, 100 * s) for g, y, s in ROWS], None, metrics="tpr")


# Classes


def test_two_classes_can_be_audited_as_classes() -> None:
    """The audit of the positive class is that of audit, up to the adjustment."""
    rng = np.random.default_rng(0)
    data = {"race": rng.choice(["A", "B", "C"], 90).tolist(), "y": rng.integers(2, size=90),
            "p": rng.integers(2, size=90)}  # fmt: skip
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "adjust": "none", "metrics": ["tpr", "mcc", "ppr"]}
    classes = eh.audit(data, classes="all", averages=(), **columns)
    assert classes.axes == {"class": (0, 1)}
    for r, alone in zip(classes.at(**{"class": 1}).rows, eh.audit(data, **columns).rows, strict=True):
        # Bounds hold for all classes together.
        assert replace(r.gap, at_least=None, at_most=None) == replace(alone.gap, at_least=None, at_most=None)
        assert (r.group, r.metric, r.verdict, r.test, r.score) == (
            alone.group, alone.metric, alone.verdict, alone.test, alone.score
        )  # fmt: skip


def test_classes_are_audited_in_the_order_asked_for() -> None:
    data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzz")}
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": "tpr", "averages": ()}
    assert eh.audit(data, classes=["z", "x"], **columns).axes == {"class": ("z", "x")}
    assert eh.audit(data, classes="all", **columns).axes == {"class": ("x", "y", "z")}


@pytest.mark.parametrize("value", [True, False])
def test_a_class_called_all_is_one_class(value: bool) -> None:
    data = {"race": list("AABB"), "y": ["all", "b", "all", "c"], "p": ["all", "b", "b", "all"]}
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": "tpr", "averages": ()}
    found = eh.audit(data, classes=["all"] if value else "all", **columns)
    assert found.axes == {"class": ("all",) if value else ("all", "b", "c")}
    assert found.changes(found.repeat(data)) == []


def test_rows_without_a_label_or_a_prediction_are_left_out_and_counted() -> None:
    data = {
        "race": ["A", "A", "B", "B", "A", "B"],
        "y": ["x", None, "z", "y", "", "x"],
        "p": ["x", "y", "z", "NA", None, "y"],
    }
    a = eh.audit(data, y_true="y", y_pred="p", groups="race", classes="all", metrics=["ppr", "tpr"], selection="all",
                 draws=9)  # fmt: skip
    assert (a.n, a.left_out) == (3, {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1})
    rates = {r.group: (r.n, r.score.value) for r in a.rows if r.metric == "ppr" and r.at["class"] == "y"}
    assert rates == {"A": (2, 0.5), "B": (2, 0.5)}
    assert {r.n for r in a.rows if r.metric == "macro tpr"} == {1, 2}
    assert Audit.from_json(a.to_json()) == a


def test_a_group_without_labels_has_selection_rates_only() -> None:
    data = {"race": list("AAABBBC"), "y": ["x", "y", None, "x", "y", None, None], "p": list("xyxxyyx")}
    a = eh.audit(data, y_true="y", y_pred="p", groups="race", classes="all", metrics=["ppr", "tpr"], selection="all",
                 draws=9)  # fmt: skip
    sizes = {r.metric: r.n for r in a.rows if r.group == "C" and "class" in r.at}
    assert sizes == {"ppr": 1, "tpr": 0}
    assert Audit.from_json(a.to_json()) == a


# Weights


def test_an_audit_of_weights_is_that_of_effective_counts() -> None:
    """Kish's size in each group, weighted shares, and an audit of those counts."""
    rng = np.random.default_rng(0)
    n = 80
    y, p, g, w = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.choice(["a", "b"], n), rng.exponential(size=n)
    a = eh.audit(y_true=y, y_pred=p, groups=g, weights=w, metrics=["acc", "tpr"])
    counts: dict[str, Any] = {}
    for group in "ab":
        inside = g == group
        size, shares = effective(w[inside].tolist(), (2 * (1 - y) + (1 - p))[inside].tolist())
        cells = row(a, group, "acc").cells
        assert cells is not None
        assert sum(cells) == row(a, group, "acc").n == round(size)
        assert np.abs(np.array(cells) - np.array(shares) * round(size)).max() < 1
        counts[group] = cells
    expected = eh.audit_counts(counts, metrics=["acc", "tpr"]).rows
    assert [(r.group, r.metric, r.score, r.gap, r.test) for r in a.rows] == [
        (r.group, r.metric, r.score, r.gap, r.test) for r in expected
    ]
    assert a.n == sum(map(sum, counts.values()))
    assert eh.audit(y_true=y, y_pred=p, groups=g, weights=1e-200 * w, metrics=["acc", "tpr"]).rows == a.rows
    plain = eh.audit(y_true=y, y_pred=p, groups=g, metrics="acc")
    assert eh.audit(y_true=y, y_pred=p, groups=g, weights=np.full(n, 2.5), metrics="acc").rows == plain.rows


def test_weights_without_labels_and_in_a_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"g": list("aabb"), "p": [1, 0, 1, 1], "w": [1.0, 3.0, 1.0, 1.0]})
    a = eh.audit(frame, y_pred="p", groups="g", weights="w")
    assert {r.group: r.n for r in a.rows} == {"a": 2, "b": 2}
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert eh.audit(tmp_path / "d.csv", y_pred="p", groups="g", weights="w").rows == a.rows


# Every way in


def test_columns_frames_and_files_give_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame({"race": list("AABBAB") * 5, "y": [1, 0, 1, 0, 0, 1] * 5, "p": [1, 1, 0, 0, 0, 1] * 5})
    frame.to_csv(tmp_path / "d.csv", index=False)
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["tpr", "mcc"]}
    rows = eh.audit(frame, **columns).rows
    for data in (pl.from_pandas(frame), frame.to_dict("list"), tmp_path / "d.csv", str(tmp_path / "d.csv")):
        assert eh.audit(data, **columns).rows == rows
    assert eh.audit(y_true=frame.y, y_pred=frame.p, groups=frame.race, metrics=["tpr", "mcc"]).rows == rows


def test_counts_come_from_a_mapping_or_a_file(tmp_path: Path) -> None:
    counts: dict[Any, Any] = {("A", "F"): (9, 6, 4, 21), ("B", "F"): (30, 10, 12, 48), ("B", "M"): (3, 2, 4, 1)}
    lines = ["race,sex,tp,fn,fp,tn", *(",".join(map(str, (*key, *cells))) for key, cells in counts.items())]
    (tmp_path / "counts.csv").write_text("\n".join(lines) + "\n", "utf-8")
    passed = eh.audit_counts(counts, by=["race", "sex"], metrics="tpr")
    assert eh.audit_counts(tmp_path / "counts.csv", metrics="tpr").rows == passed.rows
    matrices = {key: eh.ConfusionMatrix(*cells) for key, cells in counts.items()}
    assert eh.audit_counts(matrices, by=["race", "sex"], metrics="tpr").rows == passed.rows


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"metrics": "auc"}, InvalidInput, "auc, brier, log_loss and functions need every case; pass the data to "
         "audit()"),
        ({"metrics": max}, InvalidInput, "auc, brier, log_loss and functions need every case; pass the data to "
         "audit()"),
        ({"within": "town"}, UnknownName, "no column of counts is called 'town'; known: race, sex"),
        ({"within": ["race", "sex"]}, InvalidInput, "within must leave at least one group column"),
    ],
)  # fmt: skip
def test_what_counts_cannot_tell_is_refused(settings: dict[str, Any], error: Any, sentence: str) -> None:
    counts = {("A", "F"): (9, 6, 4, 21), ("B", "M"): (30, 10, 12, 48)}
    with pytest.raises(EvenhandError) as refused:
        eh.audit_counts(counts, by=["race", "sex"], **settings)
    assert (type(refused.value), str(refused.value)) == (error, sentence)


def test_the_data_are_read_once_whatever_is_asked() -> None:
    """An iterator can be read only once."""
    columns: dict[str, Any] = {name: iter(list(values)) for name, values in zip(
        ("race", "label", "score"), zip(*ROWS, strict=True), strict=True)}  # fmt: skip
    a = eh.audit(y_true=columns["label"], y_score=columns["score"], groups=columns["race"], threshold=[0.3, 0.5],
                 metrics=["tpr", "auc"], draws=9)  # fmt: skip
    assert a.n == 500
