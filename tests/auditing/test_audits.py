"""From data or counts to an audit: what is counted at every place, and every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from engines import pl
from pytest import approx
from shown_audits import Rows, at_thresholds, counted, scored

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import EvenhandError, InvalidInput, UnknownName

ROWS = scored()


# Thresholds


def test_a_score_at_or_above_the_threshold_is_positive() -> None:
    """TP, FN, FP and TN at t are those of score >= t, ties included; thresholds are sorted."""
    thresholds = [0.7, -1.0, 0.3, 0.0, 0.5, 1.0, 0.3, 1.5]
    a = at_thresholds(ROWS, thresholds, metrics="tpr")
    assert any(score == 0.3 for _, _, score in ROWS), "there are ties"
    assert a.axes == {"threshold": tuple(sorted(set(thresholds)))}
    for r in a.rows:
        assert r.cells == counted(ROWS, r.group, r.at["threshold"])


def test_a_list_of_one_threshold_is_an_axis_of_one_and_the_default_is_one_half() -> None:
    plain = at_thresholds(ROWS, 0.5, metrics="tpr")
    assert plain.axes == {} and at_thresholds(ROWS, None, metrics="tpr").rows == plain.rows
    for given in ([0.5], (0.5,), np.array([0.5]), pd.Series([0.5])):
        a = at_thresholds(ROWS, given, metrics="tpr")
        assert (a.axes, a.at(threshold=0.5).rows) == ({"threshold": (0.5,)}, plain.rows)
    with pytest.raises(InvalidInput, match=r"^y_score must be between 0 and 1 for the default threshold of 0\.5; "):
        at_thresholds([(g, y, 100 * s) for g, y, s in ROWS], None, metrics="tpr")


def test_scores_at_thresholds_beyond_all_scores_are_undefined_or_constant() -> None:
    """PPV = TP/(TP+FP) at a threshold above all scores is 0/0, and never 0."""
    for r in at_thresholds(ROWS, [0.3, 2.0], metrics="ppv").rows:
        is_beyond = r.at["threshold"] == 2.0
        assert bool(np.isnan(r.score)) == (r.verdict is Verdict.UNDEFINED) == is_beyond
        assert r.reason == ("no predicted positives (TP + FP = 0)" if is_beyond else None)
    rows: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1, 1)]
    a = at_thresholds(rows, [0.4, 0.5, 0.6], metrics=["tpr", "ppv", "lr_plus"])
    assert [row(a, "a", "tpr", threshold=t).score for t in (0.4, 0.5, 0.6)] == [1.0, 1.0, 0.0]
    assert {f.at["threshold"] for f in a.findings if f.kind == "constant"} == {0.4, 0.5, 0.6}


# Classes


def test_two_classes_can_be_audited_as_classes() -> None:
    """The audit of the positive class is that of audit, up to the adjustment."""
    rng = np.random.default_rng(0)
    data = {"race": rng.choice(["A", "B", "C"], 90).tolist(), "y": rng.integers(2, size=90),
            "p": rng.integers(2, size=90)}  # fmt: skip
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "adjust": "none", "metrics": ["tpr", "mcc", "ppr"]}
    classes = eh.audit(data, classes="all", **columns)
    assert classes.axes == {"class": (0, 1)}
    for r, alone in zip(classes.at(**{"class": 1}).rows, eh.audit(data, **columns).rows, strict=True):
        # Bounds hold for all classes together.
        ends = [(one.gap, one.gap_low, one.gap_high) for one in (r, alone)]
        assert ends[0] == approx(ends[1], rel=1e-12)
        same = [(one.group, one.metric, one.verdict, one.score, one.method) for one in (r, alone)]
        assert same[0] == same[1]
        assert r.pvalue == approx(alone.pvalue, rel=1e-12)


def test_classes_are_audited_in_the_order_asked_for_and_all_may_be_one() -> None:
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": "tpr"}
    data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzz")}
    called_all = {"race": list("AABB"), "y": ["all", "b", "all", "c"], "p": ["all", "b", "b", "all"]}
    cases: list[tuple[Any, Any, tuple[str, ...]]] = [
        (data, ["z", "x"], ("z", "x")),
        (data, "all", ("x", "y", "z")),
        (called_all, ["all"], ("all",)),
        (called_all, "all", ("all", "b", "c")),
    ]
    for given, classes, expected in cases:
        found = eh.audit(given, classes=classes, **columns)
        assert found.axes == {"class": expected}
        assert found.changes(found.repeat(given)) == []


def test_rows_without_a_label_or_a_prediction_are_left_out_and_counted() -> None:
    data = {
        "race": ["A", "A", "B", "B", "A", "B"],
        "y": ["x", None, "z", "y", "", "x"],
        "p": ["x", "y", "z", "NA", None, "y"],
    }
    a = eh.audit(data, y_true="y", y_pred="p", groups="race", classes="all", metrics=["ppr", "tpr", "macro tpr"])
    assert (a.n, a.left_out) == (3, {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1})
    rates = {r.group: (r.n, r.score) for r in a.rows if r.metric == "ppr" and r.at["class"] == "y"}
    assert rates == {"A": (2, 0.5), "B": (2, 0.5)}
    assert {r.n for r in a.rows if r.metric == "macro tpr"} == {1, 2}
    assert Audit.from_json(a.to_json()) == a


def test_a_group_without_labels_has_selection_rates_only() -> None:
    data = {"race": list("AAABBBC"), "y": ["x", "y", None, "x", "y", None, None], "p": list("xyxxyyx")}
    a = eh.audit(data, y_true="y", y_pred="p", groups="race", classes="all", metrics=["ppr", "tpr", "macro tpr"])
    sizes = {r.metric: r.n for r in a.rows if r.group == "C" and "class" in r.at}
    assert sizes == {"ppr": 1, "tpr": 0}
    assert Audit.from_json(a.to_json()) == a


# Weights


def test_tests_of_weighted_cases_are_those_of_their_effective_counts(tmp_path: Path) -> None:
    """Two values of weights, each with the same outcomes: both design effects are Kish's, sum w² / sum w."""
    y, p = [1, 1, 0, 0] * 20, [1, 0, 1, 0] * 10 + [1, 0, 0, 0] * 10
    groups, weights = ["a"] * 40 + ["b"] * 40, ([1.0] * 4 + [3.0] * 4) * 10
    data = {"g": groups, "y": y, "p": p, "w": weights}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", sample_weight="w", metrics=["acc", "tpr"])
    for r in a.rows:
        whole = 40 if r.metric == "acc" else 20
        assert (r.n, r.denominators) == (40, (whole,))
        assert r.n_effective == approx(whole * 0.8) and r.method == "effective counts"
    plain = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics="acc").rows
    for scale in (2.5, 1e-6):
        scaled = eh.audit(data | {"w": [scale * w for w in weights]}, y_true="y", y_pred="p", groups="g",
                          sample_weight="w", metrics=["acc", "tpr"])  # fmt: skip
        for r, other in zip(scaled.rows, a.rows, strict=True):
            assert (r.gap_low, r.gap_high, r.pvalue) == approx((other.gap_low, other.gap_high, other.pvalue))
    assert [r.score for r in a.rows if r.metric == "acc"] == [r.score for r in plain]
    frame = pd.DataFrame({"g": list("aabb"), "p": [1, 0, 1, 1], "w": [1.0, 3.0, 1.0, 1.0]})
    selected = eh.audit(frame, y_pred="p", groups="g", sample_weight="w")
    assert {r.group: (r.n, r.score) for r in selected.rows} == {"a": (2, 0.25), "b": (2, 1.0)}
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert eh.audit(tmp_path / "d.csv", y_pred="p", groups="g", sample_weight="w").rows == selected.rows


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
    matrices = {key: eh.ConfusionMatrix.from_array(cells) for key, cells in counts.items()}
    assert eh.audit_counts(matrices, by=["race", "sex"], metrics="tpr").rows == passed.rows


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"metrics": "auc"}, InvalidInput, "auc, brier, log_loss and functions need every case; pass the data to "
         "audit()"),
        ({"metrics": max}, InvalidInput, "auc, brier, log_loss and functions need every case; pass the data to "
         "audit()"),
        ({"strata": "town"}, UnknownName, "no column of counts is called 'town'; known: race, sex"),
        ({"strata": ["race", "sex"]}, InvalidInput, "strata must leave at least one group column"),
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
                 metrics=["tpr", "auc"])  # fmt: skip
    assert a.n == 500
