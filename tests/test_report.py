"""The report: what it says, that it is self-contained, and how it behaves in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.auditing.needs import cases_needed

HOSTILE = "<img src=x onerror=alert(1)> </script> {{7*7}} \u202eabc\u200b"
AUDIT = eh.audit_counts(
    {**eh.examples.compas(), HOSTILE: (0, 0, 2, 3)}, by="race", metrics=["tpr", "fpr", "ppr", "mcc", "f2", "mb"]
)


def test_the_page_says_what_the_audit_says() -> None:
    page = AUDIT.to_html()
    for finding in AUDIT.findings:
        if HOSTILE not in finding.sentence:
            assert finding.sentence.replace("'", "&#39;").replace("<", "&lt;") in page
    assert "<h1>Audit of 7,219 cases</h1>" in page
    assert "that was 5 % likely" in page
    assert page == AUDIT.to_html(), "the same audit gives the same page"
    assert eh.Audit.from_json(AUDIT.to_json()).to_html() == page


def test_text_from_data_is_text() -> None:
    page = AUDIT.to_html()
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "{{7*7}}" in page


def test_nothing_is_fetched() -> None:
    page = AUDIT.to_html()
    assert "default-src 'none'" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page


def test_fifty_groups_and_eight_metrics_stay_under_a_megabyte() -> None:
    import numpy as np

    rng = np.random.default_rng(2)
    counts = {f"group number {i}": tuple(map(int, rng.integers(0, 300, 4))) for i in range(50)}
    assert len(eh.audit_counts(counts).to_html().encode()) < 1_000_000


def test_a_report_without_labels(tmp_path: Path) -> None:
    a = eh.audit(y_pred=[1, 0, 1, 0, 0, 0], groups=list("aaabbb"))
    page = a.to_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text("utf-8") == page
    assert 'id="strength"' not in page


def test_what_would_be_needed_is_about_what_detects() -> None:
    """The number of cases from which on a score that far away is significant, within a fifth."""
    row = next(r for r in AUDIT.rows if r.group == "Asian" and r.metric == "tpr")
    found = cases_needed(row, 0.1, 0.05)
    assert found is not None
    needed, what = found
    assert what == "actual positives"
    rest = eh.ConfusionMatrix(2029, 1213, 1280, 2660)

    def detects(k: int) -> bool:
        positives = round(k * 2029 / 3242)
        return eh.match_test(eh.ConfusionMatrix(positives, k - positives, 2, 21), rest, "tpr").detects(0.1)

    assert not detects(int(0.8 * needed))
    assert detects(int(1.2 * needed))


def test_a_group_called_all_is_a_group() -> None:
    counts = {"all": (300, 100, 120, 480), "A": (10, 20, 8, 30), "rest": (3, 1, 2, 5)}
    named = eh.audit_counts(counts, reference="all", metrics=["tpr"])
    assert {r.reference for r in named.rows} == {"group 'all'"}
    assert "compared with all." in named.to_html().replace("\n", " ")
    assert "everybody outside it" not in eh.audit_counts(counts, metrics=["tpr"]).to_html()


def test_the_same_name_in_two_columns_is_told_apart() -> None:
    counts = {("yes", "no"): (9, 6, 4, 21), ("no", "yes"): (30, 10, 12, 48), ("no", "no"): (20, 1, 30, 10)}
    a = eh.audit_counts(counts, by=("smoker", "veteran"), metrics=["tpr", "fpr"])
    assert any("smoker: no" in f.sentence for f in a.findings)
    assert "smoker: yes (" in a.to_html()


def test_the_words_follow_the_settings() -> None:
    groups = eh.examples.compas()
    a = eh.audit_counts(groups, metrics=["tpr"], adjust="none", mid_p=True)
    assert "adjusted p" not in a.findings[0].sentence
    assert "mid-p" in a.to_html()
    assert "chosen for each group" in eh.audit_counts(groups, metrics=["tpr"], strength="auto").to_html()
    assert 'max="250' in eh.audit_counts(groups, metrics=["tpr"], strength=250).to_html()
    alone = eh.audit_counts({"A": (3, 2, 8, 30), "B": (0, 0, 12, 48)}, metrics=["tpr"])
    assert "True positive rate of A has nothing to be compared with: the reference has no score" in {
        f.sentence for f in alone.findings
    }


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(eh.MissingExtra, match=r"^writing an HTML report needs the extra 'report': pip install"):
        AUDIT.to_html()


# In a browser


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The report, opened from a file; no error in the console, and no request to anywhere."""
    path = tmp_path / "audit.html"
    AUDIT.to_html(path)
    opened = browser.new_page()
    errors, requests = [], []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(path.as_uri())
    yield opened
    assert errors == []
    assert requests == [path.as_uri()]
    opened.close()


def test_findings_are_read_worst_first(page: Any) -> None:
    shown = page.locator(".findings li").all_text_contents()
    assert len(shown) == len(AUDIT.findings)
    assert shown[0].startswith(AUDIT.findings[0].sentence)
    assert page.get_by_text("{{7*7}}").count() > 0


def test_choosing_a_metric_and_a_group_narrows_the_page(page: Any) -> None:
    page.select_option("#metric", "fpr")
    assert page.locator("svg.forest:visible").count() == 1
    assert page.get_by_role("heading", name="False positive rate").is_visible()
    cards = page.locator("section.card")
    page.select_option("#group", label="Asian")
    assert page.locator("section.card:visible").count() == 1
    assert "Asian" in page.locator("section.card:visible h3").inner_text()
    page.select_option("#group", "")
    assert page.locator("section.card:visible").count() == cards.count() == 7


@pytest.mark.parametrize("strength", [0, 37, 100])
def test_moving_the_strength_shows_what_the_library_computes(page: Any, strength: int) -> None:
    page.locator("#strength").fill(str(strength))
    groups = eh.examples.compas() | {HOSTILE: eh.ConfusionMatrix(0, 0, 2, 3)}
    everybody = sum(groups.values(), eh.ConfusionMatrix(0, 0, 0, 0))
    checked = 0
    for i, row in enumerate(AUDIT.rows):
        cm = groups[row.group]
        smoothed = eh.cross_prior_smooth(cm, everybody - cm, strength)
        expected = float(eh.metric(row.metric)(smoothed))
        if expected == expected:
            text = page.locator(f'[data-smoothed="{i}"]').text_content()
            assert text.startswith(f"{expected:.3f} (λ {strength}, keeps "), (row.group, row.metric)
            checked += 1
    assert checked >= len(AUDIT.rows) - 4


def test_rows_can_be_put_in_another_order(page: Any) -> None:
    def order() -> list[str]:
        places: list[Any] = page.eval_on_selector_all(
            "[data-metric=tpr] [data-row]",
            "rows => rows.map(r => [r.getAttribute('transform'), r.querySelector('text').textContent])",
        )
        return [text.split(" (")[0] for _, text in sorted(places, key=lambda p: float(p[0].split(",")[1][:-1]))]

    assert order()[0] == "African-American"
    page.select_option("#order", "size")
    assert order()[:3] == ["African-American", "Caucasian", "Hispanic"]
    page.select_option("#order", "name")
    assert order()[1] == "African-American"


def test_hovering_gives_exact_numbers(page: Any) -> None:
    titles = page.locator("[data-metric=tpr] title").all_text_contents()
    row = next(r for r in AUDIT.rows if r.group == "Asian" and r.metric == "tpr")
    assert any(f"Asian: {row.score}, interval {row.low} to {row.high}" in title for title in titles)


def test_without_javascript_everything_is_there(browser: Any, tmp_path: Path) -> None:
    AUDIT.to_html(tmp_path / "audit.html")
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((tmp_path / "audit.html").as_uri())
    assert opened.locator("svg.forest:visible").count() == 6
    assert opened.locator("section.card:visible").count() == 7
    assert not opened.locator(".controls").is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_no_serious_accessibility_violation_and_no_sideways_scrolling(
    browser: Any, violations: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    AUDIT.to_html(tmp_path / "audit.html")
    # axe is put into the page by the test; the page's own policy would keep it out.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    opened.goto((tmp_path / "audit.html").as_uri())
    assert violations(opened) == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
