"""Audits of the web app: the same as the library gives, and messages in the words of the form."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from engines import pl
from web_client import ASKED, ROWS, App, two_years

import evenhand as eh

CALL: dict[str, Any] = {
    "y_true": "two_year_recid",
    "y_pred": "score_text",
    "positive": {"label": ["1"], "prediction": ["Medium", "High"]},
    "groups": ["race", "sex"],
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file that is uploaded, under the same name."""
    monkeypatch.chdir(tmp_path)
    Path("two-years.csv").write_text(two_years(), "utf-8")
    return "two-years.csv"


def test_json_lines_are_audited_as_the_csv_file_is(shared: App, tmp_path: Path) -> None:
    lines = tmp_path / "x.jsonl"
    pl.read_csv(io.StringIO(ROWS)).write_ndjson(lines)
    asked = {"y_true": "y", "y_pred": "yhat", "groups": ["race"], "metrics": ["ppr"]}
    files = [shared.upload(lines.name, lines.read_bytes()), shared.upload("x.csv", ROWS)]
    assert shared.audit({"file": files[0], **asked}).rows == shared.audit({"file": files[1], **asked}).rows


def test_stacked_models_are_compared_or_the_field_that_compares_them_is_named(shared: App) -> None:
    lines = ["model,case_id,race,y,decision"]
    for i in range(60):
        lines += [f"{model},{i},{'AB'[i % 3 == 0]},{i % 2},{(i // by) % 2}" for model, by in (("old", 3), ("new", 5))]
    file = shared.upload("x.csv", "\n".join(lines) + "\n")
    asked: dict[str, Any] = {"file": file, "y_true": "y", "y_pred": "decision", "groups": ["race"]}
    assert shared.end(shared.post("audit", asked))["answer"] == (
        "the rows are equal in everything but the predictions and 'model', as if 2 models had decided on the same "
        "cases, which are then not independent; compare the models with “several models” and “Column that names the "
        "model”, or audit the rows of one of them"
    )
    stacked = asked | {"decided": "models", "model_column": "model", "cluster": "case_id"}
    assert shared.answer(shared.post("audit", stacked))["title"].startswith("Audit of 60 cases, 2 groups")
    nothing = shared.end(shared.post("audit", asked | {"decided": "models", "y_pred": "", "models": {}}))
    assert nothing["state"] == "failed" and "“Columns of models”" in nothing["answer"]


def test_an_audit_is_that_of_the_library(shared: App, recid: str, path: str) -> None:
    settings: dict[str, Any] = {"metrics": ["tpr", "fpr", "ppr"], "favourable": "negative"}
    groups = {"groups": ["race", "sex", "age"], "reference": {"race": "Caucasian", "sex": "Male", "age": "largest"}}
    names = {"sex": {"Male": "men", "Female": "women"}}
    asked = ASKED | groups | settings | {
        "bins": {"age": "25, 45", "sex": ""}, "group_names": names | {"race": {}},
        "alpha": "0.01", "strength": "prev=7,tpr=20,fpr=20", "intersections": "3",
        "title": "Risk & <b>rates</b>", "author": "", "cells": ["", "", "", ""],
    }  # fmt: skip
    states = shared.states(shared.post("audit", {"file": recid, **asked}))
    found = states[-1]["answer"]
    assert "auditing 47 comparisons" in {state["progress"][0] for state in states}
    settings |= {"alpha": 0.01, "strength": {"prev": 7, "tpr": 20, "fpr": 20}, "intersections": 3}
    expected = eh.audit(path, **CALL | groups | settings, bins={"age": [25, 45]}, group_names=names)
    saved = {kind: shared.report(found, kind) for kind in ("html", "json", "csv", "md")}
    again = eh.Audit.from_json(saved["json"].text)
    assert again == expected
    assert {row.reference for row in again.rows if row.by == "race & sex"} == {"Caucasian & men"}
    assert saved["csv"].text == expected.to_csv()
    assert saved["md"].text == expected.to_markdown()
    for answer in saved.values():
        assert "sandbox allow-scripts" in answer.headers["content-security-policy"]
        assert str(shared.store.folder) not in answer.text
    assert again.provenance["source"] == expected.provenance["source"]
    assert again.provenance["source"]["paths"] == ["two-years.csv"]
    assert found["title"] == "Risk & <b>rates</b>: 600 cases, 47 groups"
    assert "<h1>Risk &amp; &lt;b&gt;rates&lt;/b&gt;</h1>" in saved["html"].text


def test_a_saved_audit_is_repeated_and_changes_are_listed(shared: App, recid: str) -> None:
    saved = shared.audit({"file": recid, **ASKED, "metrics": ["tpr"], "alpha": "0.01"}).to_json()
    assert shared.answer(shared.post("audit", {"file": recid, "repeat": saved}))["changes"] == []
    other = shared.upload("two-years.csv", two_years().replace("Low,1", "High,1"))
    changes = shared.answer(shared.post("audit", {"file": other, "repeat": saved}))["changes"]
    assert any(change.startswith("tpr of ") for change in changes)
    end = shared.end(shared.post("audit", {"file": recid, "repeat": "{}"}))
    assert end["answer"] == "the file must be an audit written by to_json(): it has no schema"


def test_references_mean_what_they_mean_in_the_library(shared: App, recid: str, path: str) -> None:
    more: dict[str, Any] = {"metrics": ["ppr"], "favourable": "positive", "group_names": {"sex": {"Male": "men"}}}
    meant: Any
    for given, meant in (
        ({"race": "rest", "sex": "rest"}, "rest"),
        ({"race": "largest", "sex": "largest"}, "largest"),
        ({"race": "best", "sex": "all"}, {"race": "best", "sex": "all"}),
        ({"race": "Hispanic", "sex": "rest"}, {"race": "Hispanic"}),
        ({"race": "rest", "sex": "rest", "race & sex": "Hispanic & men"}, {"race & sex": "Hispanic & men"}),
        ({"race": "all", "sex": "all", "race & sex": "largest"},
         {"race": "all", "sex": "all", "race & sex": "largest"}),
    ):  # fmt: skip
        audit = shared.audit({"file": recid, **ASKED, **more, "reference": given})
        assert audit.rows == eh.audit(path, **CALL, **more, reference=meant).rows
    matrix = shared.audit({"file": recid, **ASKED, "metrics": ["tpr"], "cells": ["30", "10", "12", "48"]})
    assert {row.reference_score for row in matrix.rows} == {0.75}


def test_what_cannot_be_audited_is_refused_in_the_words_of_the_form(shared: App, recid: str) -> None:
    changed: dict[str, Any]
    for changed, sentence in (
        ({"y_pred": ""},
         "pass either “Column of predictions” (predictions) or “Column of scores” (scores); got neither"),
        ({"positive_prediction": None}, "“Column of predictions” contains 3 distinct labels ('High', 'Low', 'Medium'); "
         "pass the positive ones as “Counts as positive”, or audit each class with “Classes” 'all'"),
        ({"y_pred": "", "y_score": "decile_score", "positive_prediction": None},
         "“Column of scores” must be between 0 and 1 for the default threshold of 0.5; for other scores pass "
         "“Threshold”, at or above which they are positive"),
        ({"groups": []}, "“Columns of groups” must be the name of a column or its values; got None"),
        ({"groups": ["rase"]}, "no column is called 'rase'; did you mean 'race'?"),
        ({"strata": ["race"]}, "“Columns of strata” must not contain a group column; got 'race'"),
        ({"sample_weight": "race"}, "“Column of weights” must contain numbers; got 'African-American'"),
        ({"alpha": "2"}, "“Significance level (alpha)” must be a number between 0 and 1; got 2.0"),
        ({"alpha": "x"}, "“Significance level (alpha)” must be a number; got 'x'"),
        ({"adjust": "homl"}, "“Multiple comparisons” must be 'holm', 'bh' or 'none'; got 'homl'"),
        ({"rng": "1.5"}, "“Random seed” must be a whole number; got '1.5'"),
        ({"y_true": 5}, "“Column of labels” must be text; got 5"),
        ({"groups": [5]}, "“Columns of groups” must be text; got [5]"),
        ({"strength": "much"}, "“Strength of smoothing” must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got "
         "'much'"),
        ({"cells": ["1", "2", "x", "4"]}, "a cell must be a number; got 'x'"),
        ({"cells": ["1", "2"]}, "the reference must have four cells: TP, FN, FP and TN"),
    ):  # fmt: skip
        end = shared.end(shared.post("audit", {"file": recid, **ASKED, **changed}))
        assert (end["state"], end["answer"]) == ("failed", sentence)


def test_one_class_is_audited_if_its_positive_value_is_given(shared: App) -> None:
    file = shared.upload("ones.csv", "g,y,p\n" + "A,1,1\nA,1,0\nB,1,1\n" * 9)
    body = {"file": file, "y_true": "y", "y_pred": "p", "groups": ["g"], "metrics": ["tpr"]}
    assert shared.end(shared.post("audit", body))["answer"] == (
        "“Column of labels” contains one class only (1); if that is right, pass the positive label as “Counts as "
        "positive”"
    )
    assert shared.audit(body | {"positive_label": ["1"]}).n == 27
    assert shared.audit(body | {"positive_label": ["0"], "metrics": ["fpr"]}).n == 27


def test_counts_are_audited_as_a_file_called_counts(shared: App) -> None:
    text = 'race,sex,tp,fn,fp,tn\nA,m,9,6,4,21\nA,f,3,4,5,6\n"B\nb",m,30,10,12,48\n'
    sent = shared.post("table", {"text": text})
    seen = shared.answer(sent)
    assert seen["cases"] == 40 + 18 + 100
    assert [(v["value"], v["n"]) for v in seen["groups"]["race"]["values"]] == [("A", 58), ("B\nb", 100)]
    audit = shared.audit({"file": sent.json()["file"], "reference": {"race": "A", "sex": "rest"}})
    counts = {("A", "m"): (9, 6, 4, 21), ("A", "f"): (3, 4, 5, 6), ("B\nb", "m"): (30, 10, 12, 48)}
    assert audit.rows == eh.audit_counts(counts, by=["race", "sex"], reference={"race": "A"}).rows


def test_strata_weights_thresholds_scores_and_classes_are_fields_like_others(
    shared: App, recid: str, path: str
) -> None:
    asked: dict[str, Any]
    call: dict[str, Any]
    for asked, call, title in (
        ({"strata": ["sex"], "groups": ["race"]}, {"strata": ["sex"], "groups": ["race"]},
         "600 cases, 3 groups, 2 strata"),
        ({"sample_weight": "age", "rng": "7"}, {"sample_weight": "age", "rng": 7}, ""),
        ({"y_pred": "", "positive_prediction": None, "y_score": "decile_score", "threshold": "5, 8"},
         {"y_pred": None, "positive": {"label": ["1"]}, "y_score": "decile_score", "threshold": [5, 8]},
         "600 cases, 11 groups, 2 thresholds"),
        ({"y_pred": "", "positive_prediction": None, "y_score": "decile_score", "threshold": "5", "metrics": ["auc"]},
         {"y_pred": None, "positive": {"label": ["1"]}, "y_score": "decile_score", "threshold": 5, "metrics": ["auc"]},
         "600 cases, 11 groups"),
        ({"y_true": "score_text", "positive_label": None, "positive_prediction": None, "classes": "all",
          "metrics": ["tpr", "macro f1"]},
         {"y_true": "score_text", "positive": None, "classes": "all", "metrics": ["tpr", "macro f1"]},
         "600 cases, 11 groups, 3 classes"),
    ):  # fmt: skip
        found = shared.answer(shared.post("audit", {"file": recid, **ASKED, "metrics": ["tpr"], **asked}))
        expected = eh.audit(path, **CALL | {"metrics": ["tpr"]} | call)
        assert eh.Audit.from_json(shared.report(found, "json").text) == expected
        assert title in found["title"]
