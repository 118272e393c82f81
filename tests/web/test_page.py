"""The web app in a browser: the same numbers as the library gives."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from web_client import ROWS, eventually, gone, two_years

import evenhand as eh

CALL: dict[str, Any] = {
    "y_true": "two_year_recid",
    "y_pred": "score_text",
    "positive": {"label": ["1"], "prediction": ["High", "Medium"]},
    "groups": ["race", "sex"],
}
WIDTHS = pytest.mark.parametrize("width", [1280, 375])


def choose(page: Any, folder: Path, name: str = "two-years.csv", text: str | None = None) -> Path:
    path = folder / name
    path.write_text(text or two_years(), "utf-8")
    page.set_input_files("#file", str(path))
    page.wait_for_selector(f"#chosen:has-text('{name}')")
    page.wait_for_selector("#y_true-values label")
    return path


def run(page: Any, title: str) -> None:
    page.click("#go")
    page.wait_for_selector(f"#found:has-text('{title}')")


def refuse(page: Any, sentence: str) -> None:
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == sentence


def download(page: Any, kind: str) -> str:
    if not page.is_visible("#get"):
        page.click("[popovertarget=get]")
    with page.expect_download() as saved:
        page.click(f"[download][data-kind={kind}]")
    assert saved.value.suggested_filename.endswith(f".{kind}")
    return Path(saved.value.path()).read_text("utf-8")


def downloaded(page: Any) -> eh.Audit:
    return eh.Audit.from_json(download(page, "json"))


def fits(page: Any, width: int) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth") <= width)


def groups(page: Any, *names: str) -> None:
    """Choose these columns of groups only."""
    for label in page.locator("#groups label").all():
        label.locator("input").set_checked(label.inner_text() in names)


def test_a_file_is_chosen_and_the_numbers_are_those_of_the_library(page: Any, tmp_path: Path) -> None:
    path = choose(page, tmp_path)
    assert page.inner_text("#chosen") == "two-years.csv: 7 columns"
    assert page.input_value("#columns [name=y_true]") == "two_year_recid"
    assert page.input_value("[name=y_pred]") == "score_text"
    page.wait_for_selector("#y_pred-values label")
    ticked = page.locator("#y_pred-values label:has(input:checked) span").all_inner_texts()
    assert sorted(ticked) == ["High", "Medium"]
    assert "Which values are positive is a guess; correct it if it is wrong." in page.inner_text("#y_pred-values")
    boxes = [page.locator("#y_pred-values").get_by_label(level) for level in ticked]
    for box in boxes:
        box.uncheck()
    refuse(page, "tick the values of score_text that count as positive")
    for box in boxes:
        box.check()
    cards = page.locator(".group")
    for i, group in enumerate(("Caucasian", "Male")):
        cards.nth(i).locator(f"option[value={group}]").wait_for(state="attached")
        cards.nth(i).get_by_label("Compare each group with").select_option(group)
    run(page, "Audit of 600 cases, 11 groups")
    assert not page.is_visible("#setup")
    page.frame_locator("#report").locator("h1").wait_for()
    frame, window = page.locator("#report").bounding_box(), page.viewport_size
    assert (frame["width"], frame["y"] + frame["height"]) == (window["width"], window["height"])
    expected = eh.audit(path, **CALL, reference={"race": "Caucasian", "sex": "Male"})
    assert downloaded(page) == expected
    assert download(page, "csv") == expected.to_csv()
    assert download(page, "md") == expected.to_markdown()
    assert download(page, "html").startswith("<!doctype html>")
    page.go_back()
    page.wait_for_selector("#setup")
    assert not page.is_visible("#view")
    page.click("#reopen")
    page.click("#back")
    saved = tmp_path / "audit.json"
    saved.write_text(expected.to_json(), "utf-8")
    page.get_by_text("Repeat a saved audit").click()
    page.set_input_files("#saved", str(saved))
    page.wait_for_selector("#changed:has-text('Nothing changed')")


def test_errors_clear_results_and_new_files_replace_them(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    run(page, "Audit of 54 cases")
    page.click("#back")
    page.fill("[name=alpha] >> visible=true", "7")
    refuse(page, "“Significance level (alpha)” must be a number between 0 and 1; got 7.0")
    assert not page.is_visible("#reopen") and page.get_attribute("#report", "src") is None
    bad = tmp_path / "bad.parquet"
    bad.write_text("not parquet", "utf-8")
    page.set_input_files("#file", str(bad))
    page.wait_for_selector("#message.bad:has-text('bad.parquet cannot be read: ')")
    assert not page.is_visible("#columns") and page.is_disabled("#go")


def test_only_what_was_chosen_is_sent(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path)
    page.check("[name=decided][value=score]")
    page.select_option("[name=y_score]", "decile_score")
    page.fill("#by-score [name=threshold]", "5, 8")
    page.wait_for_selector("#score-sizes >> text=5 to below 8")
    groups(page, "age")
    card = page.locator(".group")
    card.get_by_label("Cut these numbers into bins at").fill("25, 45")
    page.wait_for_selector(".group >> text=25 to below 45")
    card.locator("summary").click()
    card.get_by_label("below 25", exact=True).fill("young")
    card.get_by_label("Compare each group with").select_option("young")
    page.click("summary:has-text('Metrics')")
    page.fill("#find-metric", "recall")
    assert "True positive rate (tpr)" in page.inner_text("#metrics") and "Accuracy" not in page.inner_text("#metrics")
    page.fill("#find-metric", "")
    for key in ("acc", "prev", "ppr", "fpr", "ppv", "npv", "f1"):
        page.uncheck(f"#metrics [value={key}]")
    page.get_by_text("Strata, weights and counts").click()
    page.locator("#strata").get_by_label("sex").check()
    with page.expect_request("**/audit?*") as sent:
        page.click("#go")
    asked = json.loads(sent.value.post_data)
    expected = {"y_score": "decile_score", "threshold": "5, 8", "groups": ["age"], "bins": {"age": "25, 45"},
                "strata": ["sex"], "metrics": ["tpr"], "group_names": {"age": {"below 25": "young"}},
                "reference": {"age": "below 25"}}  # fmt: skip
    assert {name: asked[name] for name in expected} == expected
    assert not asked.keys() & {"y_pred", "positive_prediction", "model_column", "models"}
    page.wait_for_selector("#found:has-text('600 cases, 3 groups, 2 thresholds, 2 strata')")


def test_an_audit_can_be_cancelled(page: Any, running: tuple[str, Any], tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    page.wait_for_selector(".group li")
    page.wait_for_selector("#y_pred-values label")
    pid = running[1].audits.worker[0].pid
    os.kill(pid, signal.SIGSTOP)
    page.click("#go")
    page.wait_for_selector("#work:visible")
    page.click("#cancel")
    page.wait_for_selector("#message:has-text('Cancelled.')", timeout=10_000)
    eventually(lambda: gone(pid), 10)
    assert not page.is_visible("#work")
    run(page, "Audit of 54 cases")


def test_counts_can_be_pasted_and_text_from_data_is_only_text(page: Any) -> None:
    page.get_by_text("Or paste a table of counts").click()
    page.fill("#counts", "race,tp,fn,fp,tn\n<img src=x onerror=alert(1)>,9,6,4,21\nB,30,10,12,48\n")
    page.click("#use-counts")
    page.wait_for_selector(".group li")
    assert page.inner_text("#chosen") == "Table of counts: 140 cases"
    assert page.locator(".group li span").first.inner_text() == "<img src=x onerror=alert(1)>"
    run(page, "Audit of 140 cases, 2 groups")
    page.click("#back")
    page.click("#example")
    page.wait_for_selector(".group >> text=African-American")
    run(page, "Audit of 7,214 cases, 6 groups")


def test_a_plan_follows_what_is_typed(page: Any, running: tuple[str, Any]) -> None:
    page.click("nav >> text=Plan")
    rest = eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    answer = page.locator("#planned-answer")
    answer.get_by_text("137 cases find").wait_for()
    assert answer.locator("polyline").count() == 1
    page.fill("[name=difference]", "-0.3")
    answer.get_by_text(f"{eh.sample_size('tpr', rest, difference=-0.3).n} cases find").wait_for()
    page.select_option("[name=question]", "exploit")
    assert not page.is_visible("[name=difference]")
    page.select_option("[name=metric]", "disparate_impact")
    answer.get_by_text("disparate_impact of at least 0.8").wait_for()
    page.select_option("[name=question]", "jagged")
    assert page.input_value("[name=metric]") == "tpr"
    answer.get_by_text("Jaggedness of").wait_for()
    assert answer.locator("polyline").count() == 5
    page.fill("#planned [name=cells] >> nth=0", "x")
    page.wait_for_selector("#planned-message.bad")
    assert page.inner_text("#planned-message") == "a cell must be a number; got 'x'"
    assert not answer.is_visible()
    # What is slow is overtaken.
    os.kill(running[1].plans.worker[0].pid, signal.SIGSTOP)
    page.fill("#planned [name=cells] >> nth=0", "301")
    page.wait_for_selector("#planned-message >> text=computing")
    page.fill("#planned [name=cells] >> nth=0", "300")
    answer.get_by_text("Jaggedness of").wait_for()


def test_small_counts_are_rounded_where_files_are_downloaded(page: Any, tmp_path: Path) -> None:
    path = choose(page, tmp_path)
    groups(page, "race")
    run(page, "Audit of 600 cases, 3 groups")
    page.click("[popovertarget=get]")
    page.select_option("[name=protect]", "cms")
    page.click("#publish button")
    report = page.frame_locator("#report")
    report.get_by_text("to protect small groups (rule cms)").first.wait_for()
    assert downloaded(page) == eh.audit(path, **CALL | {"groups": ["race"]}, protect="cms")


def test_an_intersection_has_a_reference_of_its_own(page: Any, tmp_path: Path) -> None:
    rows = [f"r{i % 3},{'fm'[i % 2]},{i % 5 == 0:d},{i % 7 == 0:d}\n" for i in range(600)]
    choose(page, tmp_path, "many.csv", "race,sex,y,yhat\n" + "".join(rows))
    page.locator("#crossing option[value='r1 & f']").wait_for(state="attached")
    page.locator("#crossing select").select_option("r1 & f")
    run(page, "Audit of 600 cases")
    assert {row.reference for row in downloaded(page).rows if row.by == "race & sex"} == {"r1 & f"}


def test_everything_works_by_keyboard(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    page.wait_for_selector(".group li")
    page.focus("#groups [value=race]")
    page.keyboard.press("Space")
    assert page.locator(".group").count() == 0
    page.keyboard.press("Space")
    page.wait_for_selector(".group li")
    page.focus("nav a >> text=Monitor")
    page.keyboard.press("Enter")
    page.wait_for_selector("[name=at]")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("[name=at]", state="hidden")
    page.focus("#settings [name=alpha]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view:visible")
    assert page.evaluate("document.activeElement.id") == "found"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.is_visible("[download][data-kind=csv]")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#setup")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 768), ("light", 375)])
def test_no_serious_accessibility_violation_and_no_sideways_scrolling(
    browser: Any, violations: Any, running: tuple[str, Any], tmp_path: Path, scheme: str, width: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    opened.goto(running[0])
    choose(opened, tmp_path)
    opened.wait_for_selector("#y_pred-values label")
    opened.wait_for_selector(".group li >> nth=4")
    for summary in opened.locator("#setup summary:visible").all():
        summary.click()
    opened.fill("#settings [name=alpha]", "7")
    opened.click("#go")
    opened.wait_for_selector("#message.bad")
    assert violations(opened) == [] and fits(opened, width)
    for part in ("Monitor", "Plan"):
        opened.click(f"nav >> text={part}")
        opened.wait_for_selector("[name=at]:visible, #planned-answer:visible")
        assert violations(opened) == [] and fits(opened, width)
    context.close()


def test_every_class_is_audited_against_the_rest(page: Any, tmp_path: Path) -> None:
    rows = [
        ("south" if i % 3 == 0 else "north", "cdf"[i % 7 % 3], "cdf"[(i % 7 % 3 + (i % 5 == 0)) % 3])
        for i in range(200)
    ]
    choose(page, tmp_path)
    assert not page.is_visible("#of-classes")
    path = tmp_path / "pets.csv"
    path.write_text("".join(",".join(row) + "\n" for row in [("site", "label", "guess"), *rows]), "utf-8")
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#chosen:has-text('pets.csv')")
    page.select_option("[name=y_true]", "label")
    page.select_option("[name=y_pred]", "guess")
    page.wait_for_selector("#of-classes:visible")
    assert page.is_checked("[name=classes][value=all]") and not page.is_visible("#y_true-values")
    page.check("[name=classes][value='']")
    assert page.is_visible("#y_true-values")
    page.check("[name=classes][value=all]")
    groups(page, "site")
    run(page, "Audit of 200 cases, 2 groups, 3 classes")
    assert downloaded(page) == eh.audit(path, y_true="label", y_pred="guess", groups=["site"], classes="all")


def of_patients() -> list[str]:
    """Three images of each patient in two sites, judged by two models."""
    lines = []
    for i in range(120):
        for j in range(3):
            ill = (i + j) % 2
            old, new = int(ill if (i + 2 * j) % 5 else 1 - ill), int(ill if (i + j) % 7 else 1 - ill)
            lines.append(f"{'AB'[i % 3 == 0]},p{i},{ill},{old},{new}")
    return lines


@WIDTHS
def test_clusters_words_and_models_are_chosen_in_their_fields(page: Any, tmp_path: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    path = choose(page, tmp_path, "images.csv", "\n".join(["site,patient,ill,old,new", *of_patients(), ""]))
    page.select_option("[name=y_true]", "ill")
    page.select_option("[name=y_pred]", "old")
    page.wait_for_selector("#y_pred-values label")
    groups(page, "site")
    page.select_option("[name=cluster]", "patient")
    page.get_by_label("Favourable for a person").select_option("negative")
    page.get_by_label("What are the cases?").fill("images that")
    page.get_by_label("What was decided: they were …").fill("flagged/passed/lost")
    page.click("#go")
    page.wait_for_selector("#message.bad:has-text('“What was decided: they were …” must be what follows “were”')")
    page.get_by_label("What was decided: they were …").fill("were flagged/were passed")
    assert fits(page, width)
    run(page, "Audit of 360 images")
    found = downloaded(page)
    assert found.provenance["cluster"]["clusters"] == 120
    call: dict[str, Any] = {"y_true": "ill", "groups": ["site"]}
    positive = {"label": ["1"], "prediction": ["1"]}
    assert found.rows == eh.audit(path, **call, y_pred="old", positive=positive, cluster="patient",
                                  favourable="negative").rows  # fmt: skip
    assert found.settings["wording"]["decision"] == ["were flagged", "were passed"]
    page.click("#back")
    page.check("[name=decided][value=models]")
    page.select_option("[name=cluster]", "")
    page.locator("#models").get_by_label("old").check()
    page.locator("#models").get_by_label("new").check()
    run(page, "Audit of 360 images")
    models = {"old": "old", "new": "new"}
    assert downloaded(page).rows == eh.compare(path, **call, models=models, positive=["1"], favourable="negative").rows


def test_stacked_models_are_paired_by_cluster(page: Any, tmp_path: Path) -> None:
    lines = ["model,image_id,site,ill,prediction"]
    for i, line in enumerate(of_patients()):
        site, _, ill, old, new = line.split(",")
        lines += [f"{model},i{i},{site},{ill},{decision}" for model, decision in (("old", old), ("new", new))]
    path = choose(page, tmp_path, "stacked.csv", "\n".join([*lines, ""]))
    assert page.is_checked("[name=decided][value=models]")
    assert (page.input_value("[name=model_column]"), page.input_value("[name=cluster]")) == ("model", "image_id")
    assert page.is_hidden("#models") and page.is_visible("[name=y_pred]")
    groups(page, "site")
    page.select_option("[name=cluster]", "")
    page.click("#go")
    both = "“Column of clusters” and “Column that names the model” are for rows"
    page.wait_for_selector(f"#message.bad:has-text('{both}')")
    page.select_option("[name=cluster]", "image_id")
    run(page, "Audit of 360 cases")
    expected = eh.compare(path, y_true="ill", y_pred="prediction", model_column="model", cluster="image_id",
                          groups=["site"], positive=["1"])  # fmt: skip
    assert downloaded(page).rows == expected.rows


def test_without_javascript_the_web_app_says_so(browser: Any, running: tuple[str, Any]) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(running[0])
    assert "The web app needs JavaScript." in opened.inner_text("body")
    context.close()
