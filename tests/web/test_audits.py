"""Audits of the page: the same as the library gives, and messages in the words of the page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from engines import pl
from page_client import ASKED, ROWS, Page, two_years

import evenhand as eh


def test_json_lines_are_audited_as_the_csv_file_is(shared: Page, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    pl.read_csv(io.StringIO(ROWS)).write_ndjson(path)
    asked = {"y_true": "y", "y_pred": "yhat", "groups": ["race"], "metrics": ["ppr"]}
    files = [shared.upload(path.name, path.read_bytes()), shared.upload("x.csv", ROWS)]
    found = [shared.answer(shared.post("audit", {"file": file, **asked})) for file in files]
    texts = [shared.client.get(f"/token/report/{one['audit']}.csv").text for one in found]
    assert texts[0] == texts[1]


def test_models_below_each_other_are_compared_or_the_field_that_compares_them_is_named(shared: Page) -> None:
    lines = ["model,case_id,race,y,decision"]
    for i in range(60):
        lines += [f"{model},{i},{'AB'[i % 3 == 0]},{i % 2},{(i // by) % 2}" for model, by in (("old", 3), ("new", 5))]
    file = shared.upload("x.csv", "\n".join(lines) + "\n")
    asked: dict[str, Any] = {"file": file, "y_true": "y", "y_pred": "decision", "groups": ["race"]}
    refused = shared.states(shared.post("audit", asked))[-1]
    assert refused["error"] == (
        "the rows are equal in everything but the predictions and 'model', as if 2 models had decided on the same "
        "cases, which are then not independent; compare the models with “several models” and “Column that names the "
        "model”, or audit the rows of one of them"
    )
    found = shared.answer(shared.post("audit", asked | {"model_column": "model", "cluster": "case_id"}))
    assert found["extent"].startswith("60 cases, 2 groups")


def test_an_audit_is_that_of_the_library_and_its_command_repeats_it(
    shared: Page, recid: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    asked = ASKED | {
        "groups": ["race", "sex", "age"],
        "bins": {"age": [25, 45]},
        "group_names": {"sex": {"Male": "men", "Female": "women"}},
        "reference": {
            "columns": {"race": {"group": "Caucasian"}, "sex": {"group": "Male"}, "age": {"kind": "largest"}}
        },
        "metrics": ["tpr", "fpr", "ppr"],
        "alpha": 0.01,
        "strength": "prev=7,tpr=20,fpr=20",
        "intersections": "3",
        "favourable": "negative",
        "title": "Risk & <b>rates</b>",
        "author": "",
    }
    states = shared.states(shared.post("audit", {"file": recid, **asked}))
    found = states[-1]["answer"]
    assert "auditing 47 comparisons" in {state["what"] for state in states}
    monkeypatch.chdir(tmp_path)
    Path("two-years.csv").write_text(two_years(), "utf-8")
    expected = eh.audit(
        "two-years.csv",
        y_true="two_year_recid",
        y_pred="score_text",
        positive={"label": "1", "prediction": ["Medium", "High"]},
        groups=["race", "sex", "age"],
        bins={"age": [25, 45]},
        group_names={"sex": {"Male": "men", "Female": "women"}},
        reference={"race": "Caucasian", "sex": "Male", "age": "largest"},
        metrics=["tpr", "fpr", "ppr"],
        alpha=0.01,
        strength={"prev": 7, "tpr": 20, "fpr": 20},
        intersections=3,
        favourable="negative",
    )
    saved = {
        kind: shared.client.get(f"/token/report/{found['audit']}.{kind}") for kind in ("html", "json", "csv", "md")
    }
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
    assert (found["extent"], found["title"]) == ("600 cases, 47 groups", "Risk & <b>rates</b>")
    assert "<h1>Risk &amp; &lt;b&gt;rates&lt;/b&gt;</h1>" in saved["html"].text


def test_a_saved_audit_is_repeated_and_what_changed_is_said(shared: Page, recid: str) -> None:
    body = {"file": recid, **ASKED, "metrics": ["tpr"], "alpha": 0.01}
    first = shared.answer(shared.post("audit", body))
    saved = shared.client.get(f"/token/report/{first['audit']}.json").text
    again = shared.answer(shared.post("audit", {"file": recid, "repeat": saved}))
    assert again["changes"] == []
    other = shared.upload("two-years.csv", two_years().replace("Low,1", "High,1"))
    changes = shared.answer(shared.post("audit", {"file": other, "repeat": saved}))["changes"]
    assert any(change.startswith("tpr of ") for change in changes)
    end = shared.end(shared.post("audit", {"file": recid, "repeat": "{}"}))
    assert end["error"] == "the file must be an audit written by to_json(): it has no schema"


@pytest.mark.parametrize(
    ("columns", "meant"),
    [
        ({"race": {"kind": "rest"}, "sex": {"kind": "rest"}}, "rest"),
        ({"race": {"kind": "largest"}, "sex": {"kind": "largest"}}, "largest"),
        ({"race": {"kind": "best"}, "sex": {"kind": "all"}}, {"race": "best", "sex": "all"}),
        ({"race": {"group": "Hispanic"}, "sex": {"kind": "rest"}}, {"race": "Hispanic"}),
    ],
)
def test_references_per_column_mean_what_they_mean_in_the_library(
    shared: Page, recid: str, columns: dict[str, Any], meant: Any, tmp_path: Path
) -> None:
    path = tmp_path / "two-years.csv"
    path.write_text(two_years(), "utf-8")
    body = {"file": recid, **ASKED, "metrics": ["ppr"], "favourable": "positive", "reference": {"columns": columns}}
    found = shared.answer(shared.post("audit", body))
    rows = eh.Audit.from_json(shared.client.get(f"/token/report/{found['audit']}.json").text).rows
    expected = eh.audit(
        path,
        y_true="two_year_recid",
        y_pred="score_text",
        positive={"label": "1", "prediction": ["Medium", "High"]},
        groups=["race", "sex"],
        metrics="ppr",
        favourable="positive",
        reference=meant,
    )
    assert rows == expected.rows


@pytest.mark.parametrize(
    ("columns", "crossing", "meant"),
    [
        ({"kind": "rest"}, {"group": "Hispanic & men"}, {"race & sex": "Hispanic & men"}),
        ({"kind": "all"}, {"kind": "largest"}, {"race": "all", "sex": "all", "race & sex": "largest"}),
    ],
)
def test_a_crossing_can_have_a_reference_of_its_own(
    shared: Page, recid: str, columns: Any, crossing: Any, meant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = {"columns": {"race": columns, "sex": columns}, "crossing": {"name": "race & sex", **crossing}}
    body = {"file": recid, **ASKED, "metrics": ["ppr"], "group_names": {"sex": {"Male": "men"}}, "reference": reference}
    found = shared.answer(shared.post("audit", body))
    monkeypatch.chdir(tmp_path)
    Path("two-years.csv").write_text(two_years(), "utf-8")
    expected = eh.audit(
        "two-years.csv",
        y_true="two_year_recid",
        y_pred="score_text",
        positive={"label": "1", "prediction": ["Medium", "High"]},
        groups=["race", "sex"],
        metrics="ppr",
        group_names={"sex": {"Male": "men"}},
        reference=meant,
    )
    saved = shared.client.get(f"/token/report/{found['audit']}.json").text
    assert eh.Audit.from_json(saved).rows == expected.rows


def test_a_matrix_can_be_the_reference(shared: Page, recid: str) -> None:
    body = {"file": recid, **ASKED, "metrics": ["tpr"], "reference": {"cells": [30, 10, 12, 48]}}
    found = shared.answer(shared.post("audit", body))
    rows = eh.Audit.from_json(shared.client.get(f"/token/report/{found['audit']}.json").text).rows
    assert {row.reference_score for row in rows} == {0.75}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"y_pred": ""},
         "pass either “Column of predictions” (predictions) or “Column of scores” (scores); got neither"),
        ({"positive_prediction": None}, "“Column of predictions” contains 3 distinct labels ('High', 'Low', 'Medium'); "
         "pass the positive ones as “Counts as positive”, or audit each class with “Classes” 'all'"),
        ({"y_pred": "", "y_score": "decile_score", "positive_prediction": None},
         "“Column of scores” must be between 0 and 1 for the default threshold of 0.5; for other scores pass "
         "“Threshold”, at or above which they are positive"),
        ({"groups": []}, "“Columns of groups” must be the name of a group column or its values; got None"),
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
        ({"reference": {"cells": [1, 2, "x", 4]}}, "a count must be a whole number; got 'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_is_said_in_the_words_of_the_page(
    shared: Page, recid: str, changed: dict[str, Any], sentence: str
) -> None:
    end = shared.end(shared.post("audit", {"file": recid, **ASKED, **changed}))
    assert (end["state"], end["error"]) == ("failed", sentence)


def test_one_class_is_audited_if_the_positive_value_is_told(shared: Page) -> None:
    file = shared.upload("ones.csv", "g,y,p\n" + "A,1,1\nA,1,0\nB,1,1\n" * 9)
    body = {"file": file, "y_true": "y", "y_pred": "p", "groups": ["g"], "metrics": ["tpr"]}
    error = shared.end(shared.post("audit", body))["error"]
    assert error == (
        "“Column of labels” contains one class only (1); if that is right, pass the positive label as “Counts as "
        "positive”"
    )
    assert shared.answer(shared.post("audit", body | {"positive_label": ["1"]}))["extent"] == "27 cases, 2 groups"
    assert (
        shared.answer(shared.post("audit", body | {"positive_label": ["0"], "metrics": ["fpr"]}))["extent"]
        == "27 cases, 2 groups"
    )


def test_several_thresholds_give_an_audit_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.web.tasks import TASKS

    monkeypatch.chdir(tmp_path)
    Path("two-years.csv").write_text(two_years(), "utf-8")
    asked = {"y_true": "two_year_recid", "y_score": "decile_score", "threshold": [5, 8], "groups": ["race"]}
    found = TASKS["audit"](data="two-years.csv", counts=False, asked=asked, out=str(tmp_path))
    assert found["extent"] == "600 cases, 3 groups, 2 thresholds"
    expected = eh.audit(
        "two-years.csv", y_true="two_year_recid", y_score="decile_score", threshold=[5, 8], groups=["race"]
    )
    assert eh.Audit.from_json(Path("audit.json").read_text("utf-8")) == expected
    assert Path("audit.html").read_text("utf-8") == expected.to_html()


def test_counts_are_audited_as_a_file_called_counts(shared: Page) -> None:
    text = 'race,sex,tp,fn,fp,tn\nA,m,9,6,4,21\nA,f,3,4,5,6\n"B\nb",m,30,10,12,48\n'
    sent = shared.post("table", {"text": text})
    seen = shared.answer(sent)
    assert seen["cases"] == 40 + 18 + 100
    assert [(v["value"], v["n"]) for v in seen["groups"]["race"]["values"]] == [("A", 58), ("B\nb", 100)]
    body = {"file": sent.json()["file"], "reference": {"columns": {"race": {"group": "A"}, "sex": {"kind": "rest"}}}}
    found = shared.answer(shared.post("audit", body))
    counts = {("A", "m"): (9, 6, 4, 21), ("A", "f"): (3, 4, 5, 6), ("B\nb", "m"): (30, 10, 12, 48)}
    expected = eh.audit_counts(counts, by=["race", "sex"], reference={"race": "A"})
    assert eh.Audit.from_json(shared.client.get(f"/token/report/{found['audit']}.json").text).rows == expected.rows


def test_the_example_is_that_of_the_library(shared: Page) -> None:
    from evenhand.examples import compas

    seen = shared.answer(shared.post("table", {"example": True}))
    rows = csv.DictReader(io.StringIO(seen["text"]))
    found = {row.pop("race"): tuple(int(row[cell]) for cell in ("tp", "fn", "fp", "tn")) for row in rows}
    assert found == {group: cm.cells for group, cm in compas().items()}


def test_downloads_are_safe_in_a_spreadsheet() -> None:
    a = eh.audit_counts({"=cmd()": (9, 6, 4, 21), "-1+2": (3, 4, 5, 6), "B": (30, 10, 12, 48)}, metrics=["acc", "mb"])
    rows = list(csv.DictReader(io.StringIO(a.to_csv())))
    assert {row["group"] for row in rows} == {"'=cmd()", "'-1+2", "B"}
    assert all(float(row["score"]) == r.score for row, r in zip(rows, a.rows, strict=True))


@pytest.mark.parametrize(
    ("asked", "settings", "extent"),
    [
        ({"strata": ["sex"], "groups": ["race"], "metrics": ["tpr"]},
         {"strata": ["sex"], "groups": ["race"], "metrics": ["tpr"]}, "600 cases, 3 groups, 2 strata"),
        ({"sample_weight": "age", "groups": ["race"], "metrics": ["tpr"], "rng": "7"},
         {"sample_weight": "age", "groups": ["race"], "metrics": ["tpr"], "rng": 7}, None),
        ({"y_pred": "", "positive_prediction": None, "y_score": "decile_score", "threshold": [5], "groups": ["race"],
          "metrics": ["auc"]},
         {"y_pred": None, "positive": {"label": ["1"]}, "y_score": "decile_score", "threshold": 5, "groups": ["race"],
          "metrics": ["auc"]}, "600 cases, 3 groups"),
        ({"y_true": "score_text", "y_pred": "score_text", "positive_label": None, "positive_prediction": None,
          "classes": "all", "metrics": ["tpr", "macro f1"], "groups": ["race"]},
         {"y_true": "score_text", "positive": None, "classes": "all", "metrics": ["tpr", "macro f1"],
          "groups": ["race"]},
         "600 cases, 3 groups, 3 classes"),
    ],
)  # fmt: skip
def test_strata_weights_ranking_scores_and_averages_are_settings_like_others(
    shared: Page, recid: str, tmp_path: Path, asked: dict[str, Any], settings: dict[str, Any], extent: str | None
) -> None:
    found = shared.answer(shared.post("audit", {"file": recid, **ASKED, **asked}))
    path = tmp_path / "two-years.csv"
    path.write_text(two_years(), "utf-8")
    base = {"y_true": "two_year_recid", "y_pred": "score_text",
            "positive": {"label": ["1"], "prediction": ["Medium", "High"]}}  # fmt: skip
    expected = eh.audit(path, **(base | settings))
    assert eh.Audit.from_json(shared.client.get(f"/token/report/{found['audit']}.json").text) == expected
    assert extent in (None, found["extent"])
