"""From data or counts to an audit: what is counted at every place, and every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracle import refusal
from pytest import approx
from shown_audits import at_thresholds, scored

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.errors import InvalidInput

ROWS = scored()


def test_a_list_of_one_threshold_is_an_axis_of_one_and_the_default_is_one_half() -> None:
    plain = at_thresholds(ROWS, 0.5, metrics="tpr")
    assert plain.axes == {} and at_thresholds(ROWS, None, metrics="tpr").rows == plain.rows
    for given in ([0.5], (0.5,), np.array([0.5]), pd.Series([0.5])):
        a = at_thresholds(ROWS, given, metrics="tpr")
        assert (a.axes, a.at(threshold=0.5).rows) == ({"threshold": (0.5,)}, plain.rows)
    with pytest.raises(InvalidInput, match=r"^y_score must be between 0 and 1 for the default threshold of 0\.5; "):
        at_thresholds([(g, y, 100 * s) for g, y, s in ROWS], None, metrics="tpr")


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
    data = {"race": list("AABBAB"), "y": ["x", None, "z", "y", "", "x"], "p": ["x", "y", "z", "NA", None, "y"]}
    a = eh.audit(data, y_true="y", y_pred="p", groups="race", classes="all", metrics=["ppr", "tpr", "macro tpr"])
    assert (a.n, a.left_out) == (3, {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1})
    rates = {r.group: (r.n, r.score) for r in a.rows if r.metric == "ppr" and r.at["class"] == "y"}
    assert rates == {"A": (2, 0.5), "B": (2, 0.5)}
    assert {r.n for r in a.rows if r.metric == "macro tpr"} == {1, 2}
    assert Audit.from_json(a.to_json()) == a


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
        given = data | {"w": [scale * w for w in weights]}
        scaled = eh.audit(given, y_true="y", y_pred="p", groups="g", sample_weight="w", metrics=["acc", "tpr"])
        for r, other in zip(scaled.rows, a.rows, strict=True):
            assert (r.gap_low, r.gap_high, r.pvalue) == approx((other.gap_low, other.gap_high, other.pvalue))
    assert [r.score for r in a.rows if r.metric == "acc"] == [r.score for r in plain]
    frame = pd.DataFrame({"g": list("aabb"), "p": [1, 0, 1, 1], "w": [1.0, 3.0, 1.0, 1.0]})
    selected = eh.audit(frame, y_pred="p", groups="g", sample_weight="w")
    assert {r.group: (r.n, r.score) for r in selected.rows} == {"a": (2, 0.25), "b": (2, 1.0)}
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert eh.audit(tmp_path / "d.csv", y_pred="p", groups="g", sample_weight="w").rows == selected.rows


def test_what_counts_cannot_tell_is_refused() -> None:
    counts = {("A", "F"): (9, 6, 4, 21), ("B", "M"): (30, 10, 12, 48)}
    need = "auc, brier, log_loss and functions need every case; pass the data to audit()"
    refusals: list[tuple[dict[str, Any], str]] = [
        *(({"metrics": metric}, need) for metric in ("auc", max)),
        ({"strata": "town"}, "no column of counts is called 'town'; known: race, sex"),
        ({"strata": ["race", "sex"]}, "strata must leave at least one group column"),
    ]
    for settings, sentence in refusals:
        assert refusal(eh.audit_counts, counts, by=["race", "sex"], **settings).partition(": ")[2] == sentence


def test_values_of_strata_without_a_name_are_called_stratum() -> None:
    y, groups, strata = [1, 0, 1, 0] * 5, list("abab") * 5, list("xxyy") * 5
    for given, name in (
        (strata, "stratum"),
        (pd.Series(strata, name="age_group"), "age_group"),
        ({"town": strata}, "town"),
    ):
        a = eh.audit(y_true=y, y_pred=y, groups=groups, strata=given, metrics="acc")
        assert a.settings["strata"] == [name]


def test_the_data_are_read_once_whatever_is_asked() -> None:
    """An iterator can be read only once."""
    race, label, score = (iter(list(values)) for values in zip(*ROWS, strict=True))
    given: dict[str, Any] = {"y_true": label, "y_score": score, "groups": race}
    a = eh.audit(**given, threshold=[0.3, 0.5], metrics=["tpr", "auc"])
    assert a.n == 500
