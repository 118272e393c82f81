"""Findings: their codes and order, and that every sentence says what its rows say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from audit_oracle import row
from random_audits import random_audits

import evenhand as eh
from evenhand.auditing import KINDS, Audit, Verdict
from evenhand.examples import compas

CALL: Any = {"y_true": "y", "y_pred": "p", "groups": "g"}


def sentences(a: Audit, kind: str) -> list[str]:
    return [f.sentence for f in a.findings if f.kind == kind]


def test_codes_and_severities_do_not_change() -> None:
    said = [f"{code} {kind} {severity}" for kind, (code, severity) in KINDS.items()]
    assert ", ".join(sorted(said)) == (
        "EH001 constant warning, EH002 repeated-rows warning, EH003 similar-groups warning, EH101 differs alert, "
        "EH102 four-fifths warning, EH104 beyond-margin alert, EH107 worse alert, EH108 below-goal alert, "
        "EH109 goal-unproven warning, EH110 varies warning, "
        "EH201 undefined warning, EH202 inconclusive note, EH203 spread warning, EH301 left-out warning, "
        "EH302 missing-group note, EH303 absent-label note, EH304 chosen-reference note, EH305 weighted note, "
        "EH306 not-pooled note, EH307 skipped-files note, EH308 protected note, EH309 absent-group alert, "
        "EH310 clusters note"
    )


def test_findings_come_worst_first() -> None:
    a = eh.audit_counts(compas(), by="race", favourable="positive")
    about_gaps = ("differs", "beyond-margin")
    order = ["constant", "differs", "four-fifths", "undefined", "inconclusive", "varies"]
    places = [order.index("differs" if f.kind in about_gaps else f.kind) for f in a.findings]
    assert places == sorted(places)
    kinds = {"differs", "beyond-margin", "four-fifths", "inconclusive", "varies"}
    assert {f.kind for f in a.findings} == kinds
    assert all((f.code, f.severity) == KINDS[f.kind] for f in a.findings)
    assert a.findings[0].sentence == (
        "African-American: predicted positive rate 0.588 (n = 3,696), higher than 0.325 in the rest; "
        "difference +0.263, 95% CI [0.241, 0.286], adjusted p < 0.001; at least 23 points more"
    )


def test_every_row_that_says_something_has_one_finding_of_its_kind() -> None:
    """What sentences say is tested with the narrator."""
    kinds = {
        Verdict.UNDEFINED: {"undefined"},
        Verdict.INCONCLUSIVE: {"inconclusive"},
        Verdict.HIGHER: {"differs", "beyond-margin"},
        Verdict.LOWER: {"differs", "beyond-margin"},
    }
    for a in random_audits():
        of_rows = [f for f in a.findings if f.kind not in ("four-fifths", "varies")]
        found = {(f.by, f.group, m): f.kind for f in of_rows for m in f.metrics}
        expected = {(r.by, r.group, r.metric): kinds[r.verdict] for r in a.rows if r.verdict in kinds}
        assert found.keys() == expected.keys()
        assert all(found[key] in expected[key] for key in found)
        below = {r.group for r in a.rows if r.impact_at_most < 0.8 - 1e-12}
        assert {f.group for f in a.findings if f.kind == "four-fifths"} == below
        for f in a.findings:
            assert f.sentence[-1] != "." and "  " not in f.sentence
            assert not any(word in f.sentence for word in ("biased", "fair ", "unfair", "proves", "None", "nan"))


def test_one_is_told_from_many() -> None:
    one = {"g": ["a", "b", "a", "b", None], "p": [1, 1, 0, 0, 1], "y": [1, 0, 1, None, 1]}
    two = {"g": ["a", "b", None, "b", None, "a"], "p": [1, 1, 0, 0, 1, 1], "y": [1, 1, 0, None, 1, None]}
    for data, rows, case in (
        (one, "1 row without a label counts for", "1 case has no known g: it is in no group"),
        (two, "2 rows without a label count for", "2 cases have no known g: they are in no group"),
    ):
        a = eh.audit(data, **CALL, metrics="ppr")
        assert sentences(a, "left-out") == [f"{rows} selection rates only"]
        assert sentences(a, "missing-group")[0].startswith(case)
        assert not any(re.search(r"\b1 (rows|cases)\b", f.sentence) for f in a.findings)


# Findings about the data


def test_labels_or_predictions_that_are_all_the_same_are_noticed() -> None:
    data = {"g": list("aabb"), "y": [1, 0, 1, 0], "p": [1, 1, 1, 1], "s": [0.2, 0.4, 0.6, 0.9]}
    a = eh.audit(data, **CALL, positive=1)
    assert sentences(a, "constant") == [
        "Every prediction of all 4 cases is positive; if that is not so, check the column or the positive labels"
    ]
    swept = eh.audit(data, y_true="y", y_score="s", groups="g", threshold=[0.1, 0.5, 0.95])
    check = "if that is not so, check the column or the threshold"
    assert [(f.at, f.sentence) for f in swept.findings if f.kind == "constant"] == [
        ({"threshold": 0.1}, f"Every prediction of all 4 cases is positive; {check}"),
        ({"threshold": 0.95}, f"Every prediction of all 4 cases is negative; {check}"),
    ]
    unlabelled = eh.audit(data, y_pred="p", groups="g", positive=1)
    assert len(sentences(unlabelled, "constant")) == 1


def test_rows_that_are_left_out_say_what_they_lack() -> None:
    data = {"g": list("aabbabb"), "y": [1, 0, None, 1, None, 0, 1], "p": [1, 0, 1, None, None, 1, 1]}
    data["w"] = [1, 2, 1, 1, 1, None, 1]
    a = eh.audit(data, **CALL, sample_weight="w", positive=1)
    assert set(sentences(a, "left-out")) == {
        "1 row without a label counts for selection rates only",
        "1 row without a prediction was left out",
        "1 row without a label and a prediction was left out",
        "1 row without a weight was left out",
    }
    words = eh.audit({"g": list("aabb"), "y": ["yes", "no", "n/a", "no"], "p": ["yes", "no", "yes", "yes"]},
                     **CALL)  # fmt: skip
    assert sentences(words, "left-out") == [
        "1 row without a label (read as missing: 'n/a') counts for selection rates only"
    ]


def test_a_model_that_lacks_a_prediction_is_named() -> None:
    data = {"g": list("aabb"), "y": [1, 0, 1, 0], "one": [1, None, 1, 0], "two": [1, 0, 0, None]}
    a = eh.compare(data, y_true="y", models={"one and only": "one", "two": "two"}, groups="g")
    assert sentences(a, "left-out") == [
        "1 row without a prediction of one and only was left out",
        "1 row without a prediction of two was left out",
    ]
    scores = {"g": list("abab"), "y": [1, 0, 1, None], "s": [0.3, 0.6, None, None]}
    a = eh.compare(scores, y_true="y", y_score="s", threshold=[0.2, 0.5], groups="g")
    assert sentences(a, "left-out") == [
        "1 row without a score was left out",
        "1 row without a label and a score was left out",
    ]


def test_absent_labels_metrics_that_are_not_pooled_and_groups_that_spread_too_much_are_noted() -> None:
    data = {"g": list("abab"), "t": list("xxyy"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]}
    a = eh.audit(data, **CALL, positive=[1, 2])
    assert sentences(a, "absent-label") == ["2 was given as a positive label and does not occur"]
    within = eh.audit(data, **CALL, strata="t", metrics=["f1", "kappa", "equal_opportunity"])
    assert sentences(within, "not-pooled") == [
        "kappa is not pooled over strata: it does not depend on one rate only",
        "equal_opportunity is not pooled over strata: it compares two groups; pool tpr",
    ]
    successes = np.random.default_rng(0).choice([2, 48], 8)
    counts = {f"g{i}": (int(k), 50 - int(k), 10, 40) for i, k in enumerate(successes)}
    assert sentences(eh.audit_counts(counts, metrics="tpr"), "spread") == [
        "Groups of group differ so much in true positive rate that smoothed scores may be worse than raw ones"
    ]


def test_findings_say_where_on_the_axes_they_are() -> None:
    rng = np.random.default_rng(3)
    n = 200
    data = pd.DataFrame({"g": rng.choice(["a", "b"], n), "t": rng.choice(["Easy", "hard"], n),
                         "y": rng.integers(0, 2, n)})  # fmt: skip
    data["p"] = np.where(rng.random(n) < np.where(data.g == "a", 0.9, 0.1), data.y, 1 - data.y)
    a = eh.audit(data, **CALL, strata="t", metrics="acc")
    said = [f for f in a.findings if f.kind == "beyond-margin"]
    assert {f.at["stratum"] for f in said} == {"Easy", "hard", "pooled"}
    assert str(said[0]).startswith(("alert EH104: stratum ", "alert EH104: over all strata: "))
    pooled = next(f for f in said if f.at["stratum"] == "pooled" and f.group == "a")
    odds_ratio = row(a, "a", "acc", stratum="pooled").gap
    assert f"odds ratio {odds_ratio:.3g}, " in pooled.sentence
