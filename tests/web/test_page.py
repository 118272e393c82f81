"""The page in a browser: the same numbers as the library gives."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from matrices import matrix
from web_client import ROWS, column, eventually, gone, two_years

import evenhand as eh


def choose(page: Any, folder: Path, name: str = "two-years.csv", text: str | None = None) -> Path:
    path = folder / name
    path.write_text(text or two_years(), "utf-8")
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#columns:visible")
    page.wait_for_selector("#y_true-values label")
    return path


def download(page: Any, link: str) -> str:
    if not page.locator("#get[open]").count():
        page.click("#get summary")
    with page.expect_download() as saved:
        page.click(link)
    return Path(saved.value.path()).read_text("utf-8")


def test_a_file_is_chosen_and_the_numbers_are_those_of_the_library(page: Any, tmp_path: Path) -> None:
    """The call of the issue: risky is Medium or High, and crossings are compared with the crossing of references."""
    path = choose(page, tmp_path)
    assert page.inner_text("#chosen") == "two-years.csv: 7 columns"
    assert (page.input_value("#y_true"), page.input_value("#y_pred")) == ("two_year_recid", "score_text")
    assert page.locator("#y_true-values input:checked").count() == 1
    page.wait_for_selector("#y_pred-values label")
    ticked = page.locator("#y_pred-values label:has(input:checked)").all_inner_texts()
    assert sorted(text.split()[0] for text in ticked) == ["High", "Medium"]
    assert "Which values are positive is a guess; correct it if it is wrong." in page.inner_text("#y_pred-values")
    for level in ("High", "Medium"):
        page.locator("#y_pred-values").get_by_label(level).uncheck()
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "tick the predictions that count as positive"
    page.locator("#y_pred-values").get_by_label("Medium").check()
    page.locator("#y_pred-values").get_by_label("High").check()
    cards = page.locator("fieldset.group")
    cards.nth(0).locator("option[value='group:Caucasian']").wait_for(state="attached")
    cards.nth(0).get_by_label("Compare each group with").select_option("Caucasian")
    cards.nth(1).locator("option[value='group:Male']").wait_for(state="attached")
    cards.nth(1).get_by_label("Compare each group with").select_option("Male")
    assert page.inner_text("#group-total") == "At most 11 groups: 3 by race, 6 by race & sex, 2 by sex."
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert not page.is_visible("#setup")
    assert page.inner_text("#found") == "Audit of 600 cases, 11 groups"
    report = page.frame_locator("#report")
    report.locator("h1").wait_for()
    frame, window = page.locator("#report").bounding_box(), page.viewport_size
    assert (frame["width"], frame["y"] + frame["height"]) == (window["width"], window["height"])
    assert frame["y"] < 60
    expected = eh.audit(
        path,
        y_true="two_year_recid",
        y_pred="score_text",
        positive={"label": "1", "prediction": ["Medium", "High"]},
        groups=["race", "sex"],
        reference={"race": "Caucasian", "sex": "Male"},
    )
    assert eh.Audit.from_json(download(page, "#get-json")) == expected
    assert download(page, "#get-csv") == expected.to_csv()
    assert download(page, "#get-md") == expected.to_markdown()
    assert download(page, "#get-html").startswith("<!doctype html>")
    page.go_back()
    assert page.is_visible("#setup") and not page.is_visible("#view")
    page.click("#reopen")
    page.wait_for_selector("#view:visible")
    saved = tmp_path / "audit.json"
    saved.write_text(expected.to_json(), "utf-8")
    page.click("#back")
    page.get_by_text("Repeat a saved audit").click()
    page.set_input_files("#saved", str(saved))
    page.wait_for_selector("#view:visible")
    assert page.inner_text("#changes-count") == "Nothing changed"


def test_errors_clear_results_and_new_files_replace_them(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    page.click("#go")
    page.wait_for_selector("#view:visible")
    page.click("#back")
    assert page.is_visible("#reopen")
    page.fill("#alpha", "7")
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "“Significance level (alpha)” must be a number between 0 and 1; got 7.0"
    assert not page.is_visible("#reopen")
    assert page.get_attribute("#report", "src") is None
    bad = tmp_path / "bad.parquet"
    bad.write_text("not parquet", "utf-8")
    page.set_input_files("#file", str(bad))
    page.wait_for_selector("#message.bad:has-text('bad.parquet')")
    assert page.inner_text("#message").startswith("bad.parquet cannot be read: ")
    assert not page.is_visible("#columns") and page.is_disabled("#go")


def test_scores_bins_names_and_metrics_are_asked_for_as_they_are_chosen(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path)
    page.check("[name=decided][value=score]")
    page.select_option("#y_score", "decile_score")
    page.wait_for_selector("#histogram rect >> nth=9", state="attached")
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "enter a threshold: scores at or above it are positive"
    page.fill("#threshold", "5")
    n = sum(int(decile) >= 5 for decile in column("decile_score"))
    page.wait_for_selector(f"text={n} of 600 scores ({n / 6:.1f}%) are at or above 5.")
    page.fill("#threshold", "5, 8")
    assert page.locator("#histogram line").count() == 2
    page.get_by_role("button", name="Remove race").click()
    page.get_by_role("button", name="Remove sex").click()
    page.fill("#groups-search", "AGE")
    page.keyboard.press("Enter")
    assert page.locator("#groups-chips [aria-pressed=true]").inner_text() == "age"
    card = page.locator("fieldset.group")
    card.get_by_label("Cut these numbers into bins at").fill("25, 45")
    page.wait_for_selector("text=25 to below 45")
    card.locator("summary").click()
    card.get_by_label("below 25").fill("young")
    card.get_by_label("Compare each group with").select_option("young")
    page.click("#metrics-choice summary")
    page.fill("#metric-search", "recall")
    assert "True positive rate (tpr)" in page.inner_text("#metrics")
    assert "Accuracy" not in page.inner_text("#metrics")
    page.fill("#metric-search", "")
    for key in ("acc", "prev", "ppr", "fpr", "ppv", "npv", "f1"):
        page.locator("#metrics label", has_text=f" ({key}) ").first.locator("input").uncheck()
    page.select_option("#adjust", "bh")
    page.get_by_text("More settings").click()
    with page.expect_request("**/audit?*") as sent:
        page.click("#go")
    asked = json.loads(sent.value.post_data)
    assert {name: value for name, value in asked.items() if name != "file"} == {
        "y_true": "two_year_recid",
        "y_score": "decile_score",
        "threshold": "5, 8",
        "strata": [],
        "sample_weight": "",
        "count": "",
        "cluster": "",
        "groups": ["age"],
        "bins": {"age": [25, 45]},
        "group_names": {"age": {"below 25": "young"}},
        "reference": {"columns": {"age": {"group": "below 25"}}},
        "metrics": ["tpr"],
        "adjust": "bh",
    }


def test_an_audit_can_be_cancelled(page: Any, running: tuple[str, Any], tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    page.wait_for_selector(".group li")
    pid = running[1].audits.pid
    os.kill(pid, signal.SIGSTOP)
    page.click("#go")
    page.wait_for_selector("#work:visible")
    page.click("#cancel")
    page.wait_for_selector("#message:has-text('Cancelled.')", timeout=10_000)
    eventually(lambda: gone(pid), 10)
    assert not page.is_visible("#work")
    page.click("#go")
    page.wait_for_selector("#view:visible")


def test_counts_can_be_pasted_and_text_from_data_is_only_text(page: Any) -> None:
    page.get_by_text("Or paste a table of counts").click()
    page.fill("#counts", "race,tp,fn,fp,tn\n<img src=x onerror=alert(1)>,9,6,4,21\nB,30,10,12,48\n")
    page.click("#use-counts")
    page.wait_for_selector(".group li")
    assert page.inner_text("#chosen") == "Table of counts: 140 cases"
    assert page.locator(".group li span").first.inner_text() == "<img src=x onerror=alert(1)>"
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert page.inner_text("#found") == "Audit of 140 cases, 2 groups"
    page.click("#back")
    page.click("#use-example")
    page.wait_for_selector("text=African-American")
    assert page.input_value("#counts").startswith("race,tp,fn,fp,tn\n")


def test_what_if_follows_what_is_typed(page: Any) -> None:
    page.click("#tab-what-if")
    page.wait_for_selector("#answer td")
    group, rest = matrix(0, 2, 8, 30), matrix(300, 100, 120, 480)
    first = eh.disparity(group, rest, "tpr")
    assert f"{first.pvalue:.4f}" in page.inner_text("#answer")
    assert page.locator("#null-picture rect").count() == 3
    assert page.locator("#null-picture rect.far").count() == 1
    assert page.locator("#null-picture text").first.text_content() == "observed 0"
    page.fill("#g0", "5")
    second = eh.disparity(matrix(5, 2, 8, 30), rest, "tpr")
    page.get_by_role("cell", name=f"{second.pvalue:.4f}".rstrip("0").rstrip("."), exact=True).first.wait_for()
    page.fill("#g0", "0")
    page.fill("#g1", "0")
    page.get_by_text("undefined: no actual positives (TP + FN = 0)").wait_for()
    assert not page.is_visible("#null-figure")
    page.select_option("#imagined-metric", "mcc")
    page.fill("#g1", "1.5")
    page.wait_for_selector("#imagined-message.bad")
    assert page.inner_text("#imagined-message") == "a count must be a whole number; got '1.5'"
    assert not page.is_visible("#answer")


def test_a_plan_follows_what_is_typed(page: Any, running: tuple[str, Any]) -> None:
    page.click("#tab-plan")
    rest = matrix(300, 100, 120, 480)
    page.wait_for_selector("#planned-answer >> text=137 cases find")
    assert page.inner_text("#planned-python") == (
        "evenhand.sample_size('tpr', reference=evenhand.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), "
        "difference=-0.2, power=0.8, alpha=0.05)"
    )
    assert page.locator("#planned-picture polyline").count() == 1
    page.fill("#planned-difference", "-0.3")
    n = eh.sample_size("tpr", rest, difference=-0.3).n
    page.wait_for_selector(f"#planned-answer >> text={n} cases find")
    page.check("[name=question][value=exploit]")
    assert not page.is_visible("#planned-difference")
    page.select_option("#planned-metric", "disparate_impact")
    page.wait_for_selector("#planned-answer >> text=Disparate impact")
    assert page.locator("#planned-picture circle").count() > 0
    page.check("[name=question][value=power]")
    assert page.input_value("#planned-metric") == "tpr"
    page.check("[name=planned-reference][value=rates]")
    page.fill("#k1", "2")
    page.wait_for_selector("#planned-message.bad")
    assert page.inner_text("#planned-message") == "the true positive rate must be between 0 and 1; got '2'"
    assert not page.is_visible("#planned-figure") and not page.is_visible("#planned-answer")
    # What is slow is overtaken by the other tab, and asked again on return.
    os.kill(running[1].what_ifs.pid, signal.SIGSTOP)
    page.fill("#k1", "0.75")
    page.wait_for_selector("#planned-message >> text=computing")
    page.click("#tab-what-if")
    page.wait_for_selector("#answer td")
    page.click("#tab-plan")
    page.wait_for_selector("#planned-answer >> text=100 cases find")
    assert page.inner_text("#planned-command").startswith("evenhand plan power --metric tpr --reference 0.3 0.1 ")


def test_several_thresholds_are_shown_and_downloaded(page: Any, tmp_path: Path) -> None:
    path = choose(page, tmp_path)
    page.check("[name=decided][value=score]")
    page.select_option("#y_score", "decile_score")
    page.fill("#threshold", "5, 8")
    page.get_by_role("button", name="Remove sex").click()
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert page.inner_text("#found") == "Audit of 600 cases, 3 groups, 2 thresholds"
    report = page.frame_locator("#report")
    report.get_by_role("img").first.wait_for()
    expected = eh.audit(path, y_true="two_year_recid", y_score="decile_score", threshold=[5, 8], groups="race")
    assert eh.Audit.from_json(download(page, "#get-json")) == expected
    assert download(page, "#get-csv") == expected.to_csv()
    assert download(page, "#get-md") == expected.to_markdown()


def test_small_counts_are_rounded_where_files_are_downloaded(page: Any, tmp_path: Path) -> None:
    path = choose(page, tmp_path)
    page.check("[name=decided][value=score]")
    page.select_option("#y_score", "decile_score")
    page.fill("#threshold", "5")
    page.get_by_role("button", name="Remove sex").click()
    page.click("#go")
    page.wait_for_selector("#view:visible")
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 800})
        page.click("#get summary")
        page.select_option("#protect", "cms" if width == 1280 else "ons")
        with page.expect_response("**/report/*.html"):
            page.click("#publish")
        rule = page.input_value("#protect")
        report = page.frame_locator("#report")
        report.get_by_text(f"to protect small groups (rule {rule})").first.wait_for()
        how: Any = {"y_true": "two_year_recid", "y_score": "decile_score", "threshold": 5, "groups": "race"}
        expected = eh.audit(path, protect=rule, **how)
        assert eh.Audit.from_json(download(page, "#get-json")) == expected
        assert download(page, "#get-csv") == expected.to_csv()
        page.keyboard.press("Escape")


def test_links_search_and_cards_work_inside_the_frame(page: Any, tmp_path: Path) -> None:
    head = "race,sex,y,yhat\n"
    rows = [
        f"r{i % 12},{'fm'[i // 12 % 2]},{i % 3 == 0:d},{(i * 7 + (i % 12) * (i % 5)) % 4 == 0:d}" for i in range(2400)
    ]
    choose(page, tmp_path, "many.csv", head + "\n".join(rows) + "\n")
    page.wait_for_selector("#crossing:visible")
    page.select_option("#crossing-reference", "group:r1 & f")
    page.click("#go")
    page.wait_for_selector("#view:visible")
    report = page.frame_locator("#report")
    report.get_by_role("link", name="Cards", exact=True).click()
    details = report.get_by_role("link", name="Card of").first
    named = details.get_attribute("aria-label").removeprefix("Card of ")
    details.click()
    assert named in report.locator(".card[open] summary").inner_text()
    report.locator("#search").fill("r5 & m")
    page.keyboard.press("Enter")
    report.locator(".card[open]", has_text="r5 & m").first.wait_for()
    assert page.is_visible("#view")
    assert page.evaluate("document.documentElement.scrollHeight") == page.viewport_size["height"]
    found = eh.Audit.from_json(download(page, "#get-json"))
    assert {row.reference for row in found.rows if row.by == "race & sex"} == {"r1 & f"}


def test_everything_works_by_keyboard(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path, "decisions.csv", ROWS)
    page.wait_for_selector(".group li")
    page.focus("#groups-search")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "chip"
    page.keyboard.press("Space")
    assert page.locator("fieldset.group").count() == 0
    page.keyboard.press("Space")
    page.wait_for_selector(".group li")
    page.focus("#tab-audit")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#batch")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#panel-what-if")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.focus("#alpha")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view:visible")
    assert page.evaluate("document.activeElement.id") == "found"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.is_visible("#get-csv")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.is_visible("#setup")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 768), ("light", 375)])
def test_no_serious_accessibility_violation_and_no_sideways_scrolling(
    browser: Any, violations: Any, running: tuple[str, Any], tmp_path: Path, scheme: str, width: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()

    def fits() -> bool:
        return bool(opened.evaluate("document.documentElement.scrollWidth") <= width)

    opened.goto(running[0])
    choose(opened, tmp_path)
    opened.wait_for_selector("#y_pred-values label")
    opened.wait_for_selector(".group li >> nth=4")
    for summary in opened.locator("#setup summary").all():
        summary.click()
    for level in ("High", "Medium"):
        opened.locator("#y_pred-values").get_by_label(level).uncheck()
    opened.click("#go")
    opened.wait_for_selector("#message.bad")
    assert violations(opened) == []
    assert fits()
    opened.check("[name=decided][value=score]")
    opened.select_option("#y_score", "decile_score")
    opened.wait_for_selector("#histogram svg")
    assert fits()
    opened.fill("#threshold", "5")
    opened.click("#go")
    opened.wait_for_selector("#view:visible")
    opened.frame_locator("#report").locator("h1").wait_for()
    opened.click("#back")
    opened.click("#tab-what-if")
    opened.wait_for_selector("#answer td")
    assert violations(opened) == []
    assert fits()
    opened.click("#tab-plan")
    opened.wait_for_selector("#planned-answer p")
    assert violations(opened) == []
    assert fits()
    context.close()


def of_classes(folder: Path) -> Path:
    path = folder / "pets.csv"
    rows = [
        ("north" if i % 3 else "south", "cdf"[i % 7 % 3], "cdf"[(i % 7 % 3 + (i % 5 == 0)) % 3]) for i in range(200)
    ]
    path.write_text("site,label,guess\n" + "".join(",".join(row) + "\n" for row in rows), "utf-8")
    return path


def test_every_class_is_audited_against_the_rest(page: Any, tmp_path: Path) -> None:
    path = of_classes(tmp_path)
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#columns:visible")
    page.select_option("#y_true", "label")
    page.select_option("#y_pred", "guess")
    page.wait_for_selector("#of-classes:visible")
    assert page.is_checked("[name=classes][value=all]")
    page.check("[name=classes][value='']")
    assert page.is_visible("#y_true-values fieldset")
    page.check("[name=classes][value=all]")
    page.get_by_role("button", name="site", exact=True).click()
    assert not page.is_visible("#y_true-values fieldset") and not page.is_visible("#y_pred-values fieldset")
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert page.inner_text("#found") == "Audit of 200 cases, 2 groups, 3 classes"
    report = page.frame_locator("#report")
    report.locator("text=Scores of all classes").first.wait_for()
    expected = eh.audit(path, y_true="label", y_pred="guess", groups=["site"], classes="all")
    saved = download(page, "#get-json")
    assert eh.Audit.from_json(saved) == expected
    assert download(page, "#get-csv") == expected.to_csv()
    assert download(page, "#get-md") == expected.to_markdown()
    page.click("#back")
    page.click("#repeating summary")
    again = tmp_path / "saved.json"
    again.write_text(saved, "utf-8")
    page.set_input_files("#saved", str(again))
    page.wait_for_selector("#view:visible")
    assert page.text_content("#changes-count") == "Nothing changed"


def test_two_values_or_scores_are_not_offered_as_classes(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path)
    page.wait_for_selector("#y_true-values fieldset")
    assert not page.is_visible("#of-classes")
    page.set_input_files("#file", str(of_classes(tmp_path)))
    page.wait_for_selector("#chosen >> text=pets.csv")
    page.select_option("#y_true", "label")
    page.select_option("#y_pred", "guess")
    page.wait_for_selector("#of-classes:visible")
    page.check("[name=decided][value=score]")
    assert not page.is_visible("#of-classes")


def test_strata_weights_averages_and_ranking_scores_are_chosen_by_their_labels(page: Any, tmp_path: Path) -> None:
    path = choose(page, tmp_path)
    page.check("[name=decided][value=score]")
    page.select_option("#y_score", "decile_score")
    page.fill("#threshold", "5")
    page.get_by_role("button", name="Remove sex").click()
    page.get_by_text("Strata, weights and counts").click()
    page.fill("#strata-search", "SE")
    page.keyboard.press("Enter")
    assert page.inner_text("#more-columns summary") == "Strata, weights and counts: sex"
    page.click("#metrics-choice summary")
    for key in ("acc", "prev", "ppr", "fpr", "ppv", "npv", "f1"):
        page.locator("#metrics label", has_text=f" ({key}) ").first.locator("input").uncheck()
    page.locator("#metrics label", has_text=" (auc) ").locator("input").check()
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert page.inner_text("#found") == "Audit of 600 cases, 3 groups, 2 strata"
    expected = eh.audit(
        path,
        y_true="two_year_recid",
        y_score="decile_score",
        threshold=5,
        groups=["race"],
        strata=["sex"],
        metrics=["tpr", "auc"],
    )
    assert eh.Audit.from_json(download(page, "#get-json")) == expected
    page.click("#back")
    page.select_option("#sample_weight", "age")
    assert page.inner_text("#more-columns summary") == "Strata, weights and counts: sex, weighted by age"
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == (
        "auc, brier, log_loss and functions take no “Column of weights”; leave them out, or ask for other metrics"
    )
    page.set_input_files("#file", str(of_classes(tmp_path)))
    page.wait_for_selector("#chosen >> text=pets.csv")
    assert page.text_content("#more-columns summary") == "Strata, weights and counts"
    page.select_option("#y_true", "label")
    page.select_option("#y_pred", "guess")
    page.check("[name=decided][value=prediction]")
    page.wait_for_selector("#of-classes:visible")
    page.check("[name=classes][value=all]")
    page.get_by_role("button", name="site", exact=True).first.click()
    page.click("#go")
    page.wait_for_selector("#view:visible")
    found = eh.Audit.from_json(download(page, "#get-json"))
    assert {row.metric for row in found.rows} == {"tpr"}


WIDTHS = pytest.mark.parametrize("width", [1280, 375])


def fits(page: Any, width: int) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth") <= width)


def of_patients(folder: Path) -> Path:
    """Three images of each patient in two sites, judged by two models."""
    lines = ["site,patient,ill,old,new"]
    for i in range(120):
        for j in range(3):
            ill = (i + j) % 2
            old, new = int(ill if (i + 2 * j) % 5 else 1 - ill), int(ill if (i + j) % 7 else 1 - ill)
            lines.append(f"{'AB'[i % 3 == 0]},p{i},{ill},{old},{new}")
    path = folder / "images.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def upload(page: Any, path: Path) -> None:
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#columns:visible")
    page.wait_for_selector("#chosen >> text=images.csv")


@WIDTHS
def test_what_is_favourable_and_what_things_are_called_is_said_in_fields(page: Any, tmp_path: Path, width: int) -> None:
    """Without them the report is silent about harm; with them it speaks in the words of the fields."""
    page.set_viewport_size({"width": width, "height": 900})
    path = choose(page, tmp_path)
    page.wait_for_selector("#y_pred-values label")
    page.locator("#y_pred-values").get_by_label("Medium").check()
    page.locator("#y_pred-values").get_by_label("High").check()
    assert page.get_by_label("Favourable for a person").input_value() == ""
    best = page.locator("option[value='kind:best']").first
    assert best.is_disabled()
    assert best.inner_text() == "the group that fares best (say first which prediction is good for a person)"
    page.click("#go")
    page.wait_for_selector("#view:visible")
    silent = page.frame_locator("#report").locator("main")
    silent.wait_for()
    assert "Worse for" not in silent.inner_text()
    assert "say which prediction is good for a person" in silent.inner_text()
    page.click("#back")
    page.get_by_label("Favourable for a person").select_option("negative")
    assert not best.is_disabled() and best.inner_text() == "the group that fares best"
    page.get_by_label("What are the cases?").fill("defendants")
    page.get_by_label("What happened: they were …").fill("charged again")
    page.get_by_label("What was decided: they were …").fill("called risky")
    assert fits(page, width)
    tops = [page.locator(f"#{name}").bounding_box()["y"] for name in ("favourable", "cases", "outcome", "decision")]
    assert width < 1000 or len(set(map(round, tops))) == 1
    page.click("#go")
    page.wait_for_selector("#view:visible")
    expected = eh.audit(
        path,
        y_true="two_year_recid",
        y_pred="score_text",
        positive={"label": "1", "prediction": ["Medium", "High"]},
        groups=["race", "sex"],
        favourable="negative",
        wording={"cases": "defendants", "outcome": "charged again", "decision": "called risky"},
    )
    assert eh.Audit.from_json(download(page, "#get-json")) == expected
    assert page.inner_text("#found").startswith("Audit of 600 defendants, ")
    report = page.frame_locator("#report")
    report.locator("h1", has_text="Audit of 600 defendants").wait_for()
    said = report.locator("main").inner_text()
    assert "were called risky" in said and "a negative prediction (were not called risky)" in said
    assert "say which prediction is good for a person" not in said


def test_a_pair_of_clauses_is_written_with_a_slash_and_nonsense_is_refused(page: Any, tmp_path: Path) -> None:
    choose(page, tmp_path)
    page.wait_for_selector("#y_pred-values label")
    page.locator("#y_pred-values").get_by_label("High").check()
    page.get_by_label("What was decided: they were …").fill("got a loan/got none/got two")
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message").startswith("“What was decided: they were …” must be what follows “were”")
    page.get_by_label("What was decided: they were …").fill("were held/were freed")
    page.click("#go")
    page.wait_for_selector("#view:visible")
    assert eh.Audit.from_json(download(page, "#get-json")).settings["decision"] == ["were held", "were freed"]


@WIDTHS
def test_units_are_chosen_by_their_column(page: Any, tmp_path: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    path = of_patients(tmp_path)
    upload(page, path)
    page.select_option("#y_true", "ill")
    page.select_option("#y_pred", "old")
    page.wait_for_selector("#y_pred-values label")
    for name in ("patient", "new"):
        if page.get_by_role("button", name=f"Remove {name}").count():
            page.get_by_role("button", name=f"Remove {name}").click()
    if not page.get_by_role("button", name="Remove site").count():
        page.locator("#groups-chips").get_by_role("button", name="site", exact=True).click()
    page.get_by_label("Column of clusters").select_option("patient")
    assert fits(page, width)
    page.click("#go")
    page.wait_for_selector("#view:visible")
    found = eh.Audit.from_json(download(page, "#get-json"))
    assert found.provenance["cluster"]["clusters"] == 120
    expected = eh.audit(path, y_true="ill", y_pred="old", positive={"label": "1", "prediction": "1"}, groups=["site"],
                        cluster="patient")  # fmt: skip
    assert found.rows == expected.rows
    text = page.frame_locator("#report").locator("header.top").inner_text()
    assert "Cases of the same patient may depend on each other" in " ".join(text.split())


@WIDTHS
def test_several_models_are_compared_on_the_same_cases(page: Any, tmp_path: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    path = of_patients(tmp_path)
    upload(page, path)
    page.select_option("#y_true", "ill")
    page.wait_for_selector("#y_true-values label")
    page.check("[name=decided][value=models]")
    chips = page.locator("#models-chips")
    chips.get_by_role("button", name="old", exact=True).click()
    for name in ("patient", "new", "old"):
        if page.get_by_role("button", name=f"Remove {name}").count():
            page.get_by_role("button", name=f"Remove {name}").click()
    if not page.get_by_role("button", name="Remove site").count():
        page.locator("#groups-chips").get_by_role("button", name="site", exact=True).click()
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "choose the columns of two or more models"
    chips.get_by_role("button", name="new", exact=True).click()
    assert fits(page, width)
    page.click("#go")
    page.wait_for_selector("#view:visible")
    found = eh.Audit.from_json(download(page, "#get-json"))
    expected = eh.compare(path, y_true="ill", models={"old": "old", "new": "new"}, groups=["site"], positive="1")
    assert found.rows == expected.rows
    assert found.axes == {"model": ("new",), "against": ("old",)}


@WIDTHS
def test_models_below_each_other_are_paired_by_unit(page: Any, tmp_path: Path, width: int) -> None:
    """The page guesses them, and asks for what it cannot guess."""
    page.set_viewport_size({"width": width, "height": 900})
    lines = of_patients(tmp_path).read_text("utf-8").splitlines()
    path = tmp_path / "images.csv"
    stacked = ["model,image_id,site,ill,prediction"]
    for i, line in enumerate(lines[1:]):
        site, _, ill, old, new = line.split(",")
        stacked += [f"{model},i{i},{site},{ill},{decision}" for model, decision in (("old", old), ("new", new))]
    path.write_text("\n".join(stacked) + "\n", "utf-8")
    upload(page, path)
    assert page.is_checked("[name=decided][value=models]")
    assert (page.input_value("#model_column"), page.input_value("#cluster")) == ("model", "image_id")
    assert page.is_hidden("#models-apart") and page.is_visible("#y_pred")
    page.select_option("#y_true", "ill")
    page.wait_for_selector("#y_true-values label")
    page.select_option("#y_pred", "prediction")
    if not page.get_by_role("button", name="Remove site").count():
        page.locator("#groups-chips").get_by_role("button", name="site", exact=True).click()
    page.select_option("#cluster", "")
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "“Column that names the model” needs “Column of clusters”; pass it"
    page.select_option("#cluster", "image_id")
    assert fits(page, width)
    page.click("#go")
    page.wait_for_selector("#view:visible")
    found = eh.Audit.from_json(download(page, "#get-json"))
    expected = eh.compare(path, y_true="ill", y_pred="prediction", model_column="model", cluster="image_id",
                                 groups=["site"], positive="1")  # fmt: skip
    assert found.rows == expected.rows


def test_without_javascript_the_page_names_the_command(browser: Any, running: tuple[str, Any]) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(running[0])
    assert "This page needs JavaScript. Without it, use the command: evenhand audit --help." in opened.inner_text(
        "body"
    )
    context.close()
