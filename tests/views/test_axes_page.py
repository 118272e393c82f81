"""The page of an audit with axes: tables, charts along thresholds, and how they behave in a browser."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shown_audits import (
    AUDITS,
    CLASSES,
    HOSTILE,
    MANY,
    MODELS,
    RANKED,
    SCORED,
    STRANGE,
    STRATA,
    THRESHOLDS,
    Rows,
    at_thresholds,
    counted,
    of_classes,
)

import evenhand as eh

WITH_AXES = {name: audit for name, audit in AUDITS.items() if audit.axes}


def body_of(audit: eh.Audit) -> str:
    """The text of a page."""
    page = audit.to_html()
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])).split())


@pytest.mark.parametrize("name", WITH_AXES)
def test_every_score_verdict_and_finding_is_in_the_page(name: str) -> None:
    audit = WITH_AXES[name]
    body = body_of(audit)
    for row in audit.rows:
        score = "undefined" if row.score is None else f"{row.score:+.3f}" if row.at.get("model") else (
            f"{row.score:.3f}")  # fmt: skip
        star = "* " if row.driver else ""
        if row.score is None or (abs(row.score) < 100 and abs(row.score) >= 0.001):
            assert (score if row.is_pooled or row.at.get("model") else f"{row.verdict.sign} {star}{score}") in body
    for finding in audit.findings:
        assert " ".join(finding.sentence.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b").split()) in body
    assert audit.to_html() == audit.to_html()
    assert eh.Audit.from_json(audit.to_json()).to_html() == audit.to_html()


def test_pooled_rows_and_changes_have_their_columns() -> None:
    body = body_of(STRATA)
    for row in STRATA.rows:
        if row.is_pooled:
            assert f"{row.strata_higher:.0f} ▲ {row.strata_lower:.0f} ▼ {row.crude_odds_ratio:.3f}" in body
    for row in MODELS.rows:
        assert row.gap is not None
        assert f" {row.gap:+.3f} " in body_of(MODELS)


def test_names_from_data_are_inert() -> None:
    page = STRANGE.to_html()
    assert "\u202e" not in page and "\x1b" not in page and "<img" not in page
    assert page.count("</script>") == 1
    assert "{{7*7}}" in page
    titled = at_thresholds(SCORED, [0.3, 0.5], metrics="tpr").to_html(title=HOSTILE)
    assert "<img" not in titled and titled.count("</script>") == 1


def test_nothing_is_fetched() -> None:
    page = THRESHOLDS.to_html()
    assert "default-src 'none'" in html.unescape(page)
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "http:" not in page.replace("http-equiv", "") and "https:" not in page


def test_the_page_says_what_was_audited(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text("race,label,score\n" + "".join(f"{g},{y},{s}\n" for g, y, s in SCORED), "utf-8")
    audit = eh.audit(path, y_true="label", y_score="score", groups="race", threshold=[0.5, 0.3], metrics="tpr")
    page = audit.to_html(tmp_path / "audit.html", title="A <title>", system="Model & 3", author="me")
    assert (tmp_path / "audit.html").read_text("utf-8") == page
    facts = page.partition('class="audited"')[2].partition("</dl>")[0]
    said = {k: html.unescape(v) for k, v in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", facts)}
    size = len(path.read_bytes())
    assert said == {
        "System": "Model & 3", "By": "me", "Made": "2023-11-14 22:13 UTC",
        "Data": f"decisions.csv, 500 rows, {size / 1000:.3g} kB",
        "Label": "label; positive: 1", "Score": "score", "Groups": "race", "Thresholds": "0.3, 0.5",
        "Compared with": "all cases outside the group", "Good for a person": "not said",
    }  # fmt: skip
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert str(tmp_path) not in page, "where files were is nobody else's business"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert page.count(digest) == 1 and digest not in facts


def test_the_reference_is_a_line_only_where_groups_share_one() -> None:
    """The rest differs from group to group; a group, a matrix or all cases do not."""
    assert '<path class="shared"' not in THRESHOLDS.to_html()
    assert "reference: group 0" in at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", reference="group 0").to_html()
    assert "reference: all cases" in at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", reference="all").to_html()
    same: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1)]
    assert '<path class="shared"' not in at_thresholds(same, [0.4, 0.6], metrics="tpr").to_html()
    tied: Rows = [
        (g, y, s) for g, scores in (("a", (0.9, 0.9, 0.1)), ("b", (0.5, 0.5, 0.5))) for y in (0, 1) for s in scores
    ]
    best = at_thresholds(tied, [0.4, 0.8], metrics="tpr", reference="best", favourable="positive")
    assert {row.at["threshold"]: row.reference for row in best.rows} == {0.4: "b", 0.8: "a"}
    assert "reference: chosen at each threshold" in best.to_html()


def test_thresholds_that_are_close_are_not_to_scale() -> None:
    close = at_thresholds(SCORED, [0.3, 0.300000000001, 1234567.25], metrics="tpr").to_html()
    assert "threshold (not to scale)" in close
    assert "not to scale" not in THRESHOLDS.to_html()


def test_constant_scores_and_one_threshold_are_drawn() -> None:
    rows: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1, 1)]
    for audit in (at_thresholds(rows, [0.4, 0.5, 0.6], metrics=["tpr", "ppv"]), at_thresholds(SCORED, [0.5])):
        page = audit.to_html()
        assert "NaN" not in page and "nan" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).split()
    body = body_of(at_thresholds(rows, [0.4, 0.6], metrics="tpr"))
    assert "Threshold 0.4: Every prediction of all 6 cases is positive" in body
    assert "Threshold 0.6: Every prediction of all 6 cases is negative" in body


def test_only_scores_along_thresholds_have_charts() -> None:
    assert RANKED.to_html().count('class="sweep') == 1
    assert CLASSES.to_html().count('class="sweep') == STRATA.to_html().count('class="sweep') == 0


# In a browser


def monitored(opened: Any) -> tuple[list[str], list[str]]:
    """What goes wrong in a page, and what it asks for, from now on."""
    errors: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    return errors, requests


def classes_of_any_name(n: int = 60) -> eh.Audit:
    names = ["x" * 120, "<script>alert(1)</script>", "a,b|c", "\x07", "日本語", "{{ view }}"]
    data = {"race": ["A", "<i>B</i>", "=1+1", "A & B"] * (n // 4), "y": names * (n // 6), "p": (names[1:] * n)[:n]}
    return of_classes(data, metrics=["tpr", "f1"])


def many_classes() -> eh.Audit:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 60, 400)
    data = {"race": rng.choice(["A", "B"], 400), "y": y, "p": np.where(rng.random(400) < 0.7, y, 0)}
    return of_classes(data, metrics=["tpr"])


SHOWN: dict[str, Any] = {
    "strange": lambda: STRANGE,
    "many": lambda: MANY,
    "strata": lambda: STRATA,
    "models": lambda: MODELS,
    "classes of any name": classes_of_any_name,
    "many classes": many_classes,
}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (375, "light"), (375, "dark")])
@pytest.mark.parametrize("name", SHOWN)
def test_no_error_no_sideways_scrolling_and_no_serious_accessibility_violation(
    browser: Any, violations: Any, tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    path = tmp_path / "audit.html"
    SHOWN[name]().to_html(path)
    # axe is put into the page by the test; the page's own policy would keep it out.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    errors, requests = monitored(opened)
    opened.goto(path.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert (errors, requests) == ([], [path.as_uri()])
    assert violations(opened) == []
    context.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A page to open files in, under the page's own policy."""
    page = browser.new_page()
    errors, _ = monitored(page)
    yield page
    assert errors == []
    page.close()


def show(audit: eh.Audit, opened: Any, folder: Path) -> None:
    audit.to_html(folder / "audit.html")
    opened.goto((folder / "audit.html").as_uri())


def visible(opened: Any, selector: str) -> list[str]:
    """The groups whose parts of that kind are visible in the first figure."""
    found: list[str] = opened.eval_on_selector_all(
        f"figure:first-of-type .line {selector}",
        "parts => parts.filter(p => getComputedStyle(p).visibility === 'visible')"
        ".map(p => p.closest('.line').dataset.group)",
    )
    return sorted(set(found))


def test_a_group_is_highlighted_by_its_button_with_the_keyboard(opened: Any, tmp_path: Path) -> None:
    show(THRESHOLDS, opened, tmp_path)
    assert visible(opened, ".whisker") == []
    button = opened.locator("figure button[data-group='2']").first
    button.focus()
    assert opened.locator("figure[data-column='0'] .line.peek").get_attribute("data-group") == "2"
    opened.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.locator("figure .line.chosen").count() == 3, "once per metric"
    opened.keyboard.press("Escape")
    assert opened.locator("figure .line.chosen").count() == 0
    assert button.get_attribute("aria-pressed") == "false"


def test_of_many_groups_one_is_chosen_from_a_list_with_the_keyboard(opened: Any, tmp_path: Path) -> None:
    show(MANY, opened, tmp_path)
    assert opened.locator("figure button").count() == 0
    select = opened.locator("figure select").first
    assert len(select.locator("option").all()) == 13
    select.focus()
    opened.keyboard.press("g")
    chosen = select.input_value()
    assert chosen != ""
    assert visible(opened, ".whisker") == [chosen]
    assert [s.input_value() for s in opened.locator("figure select").all()] == [chosen] * 2
    opened.keyboard.press("Escape")
    assert visible(opened, ".whisker") == []


def test_pointing_at_a_line_shows_its_intervals(opened: Any, tmp_path: Path) -> None:
    show(THRESHOLDS, opened, tmp_path)
    opened.locator("figure .line[data-group='1'] .mark").first.hover(force=True)
    assert len(visible(opened, ".whisker")) == 1


def test_without_javascript_everything_is_there(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    show(MANY, page, tmp_path)
    assert page.locator("svg.sweep:visible").count() == 2
    assert page.locator(".plain tbody tr:visible").count() == 24 + len(MANY.axes["threshold"])
    assert not page.locator(".choose").first.is_visible()
    context.close()


def test_marks_lie_where_the_scores_are(opened: Any, tmp_path: Path) -> None:
    """The height of a mark is linear in the score, between the ticks of 0 and 1."""
    show(THRESHOLDS, opened, tmp_path)
    ticks = opened.eval_on_selector_all(
        "figure >> nth=0 >> svg.sweep > line.grid",
        "lines => lines.map(l => [+l.getAttribute('y1'), +l.getAttribute('y2')])",
    )
    levels = sorted({a for a, b in ticks if a == b})
    top, bottom = levels[0], levels[-1]
    marks = (
        opened.locator("figure")
        .first.locator(".line > g")
        .evaluate_all(
            "marks => marks.map(m => [m.querySelector('title').textContent, m.getAttribute('transform')])",
        )
    )
    assert len(marks) == 12
    for title, place in marks:
        group, threshold = re.findall(r"^(group \d) at (\S+):", title)[0]
        tp, fn, _, _ = counted(SCORED, group, float(threshold))
        y = float(place.split(",")[1].rstrip(")"))
        assert (bottom - y) / (bottom - top) == pytest.approx(tp / (tp + fn), abs=0.001)
