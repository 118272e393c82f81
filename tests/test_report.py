"""The report: what it says, that it is self-contained, and how it behaves in a browser."""

from __future__ import annotations

import html
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.auditing import number
from evenhand.faces import report

HOSTILE = "<img src=x onerror=alert(1)> </script> {{7*7}} \u202eabc\u200b"
AUDIT = eh.audit_counts(
    {**eh.examples.compas(), HOSTILE: (0, 0, 2, 3)}, by="race", metrics=["tpr", "fpr", "ppr", "mcc", "f2", "mb"]
)

# Every metric of one group, in groups of which some lack what a score needs.
SOME = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "none": (0, 0, 2, 3), "one": (1, 0, 0, 0), "even": (5, 5, 5, 5)}
EVERY = eh.audit_counts(SOME, metrics=[m for m in eh.list_metrics() if not m.comparisons])


def test_the_page_says_what_the_audit_says() -> None:
    page = AUDIT.to_html()
    for finding in AUDIT.findings:
        if HOSTILE not in finding.sentence:
            assert finding.sentence.replace("'", "&#39;").replace("<", "&lt;") in page
    assert "<h1>Audit of 7,219 cases</h1>" in page
    assert "the probability of that was 5.01 %" in page
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


def test_what_would_be_needed_is_what_the_row_says() -> None:
    rest = eh.ConfusionMatrix(2029, 1213, 1280, 2660)
    a = eh.audit_counts({"few": (6, 3, 6, 17), "rest of them": rest}, metrics=["tpr", "mcc", "disparate_impact"])
    page = a.to_html()
    for row in a.rows:
        if row.group == "few" and row.metric != "mcc":
            assert row.needed is not None
            gap = "a gap of 0.1" if row.metric == "tpr" else "a ratio of 0.8 or 1.25"
            name = "actual positives" if row.metric == "tpr" else "cases"
            assert f"with {row.needed:,} {name}, {gap} would be found with a probability of 80 %" in page
    assert {row.needed for row in a.rows if row.metric == "mcc"} == {None}


def test_a_group_called_all_is_a_group() -> None:
    counts = {"all": (300, 100, 120, 480), "A": (10, 20, 8, 30), "rest": (3, 1, 2, 5)}
    named = eh.audit_counts(counts, reference="all", metrics=["tpr"])
    assert {(r.reference_kind, r.reference) for r in named.rows} == {("group", "all")}
    assert "compared with the group all." in named.to_html().replace("\n", " ")
    assert {r.reference_kind for r in eh.audit_counts(counts, metrics=["tpr"], reference="rest").rows} == {"group"}


def test_the_same_name_in_two_columns_is_told_apart() -> None:
    counts = {("yes", "no"): (9, 6, 4, 21), ("no", "yes"): (30, 10, 12, 48), ("no", "no"): (20, 1, 30, 10)}
    a = eh.audit_counts(counts, by=("smoker", "veteran"), metrics=["tpr", "fpr"])
    assert any("smoker: no" in f.sentence for f in a.findings)
    assert "smoker: yes (" in a.to_html()
    assert "smoker: yes" in str(a)


def test_the_words_follow_the_settings() -> None:
    groups = eh.examples.compas()
    a = eh.audit_counts(groups, metrics=["tpr"], adjust="none", mid_p=True)
    assert "adjusted p" not in a.findings[0].sentence
    assert "mid-p" in a.to_html()
    assert "chosen per group" in eh.audit_counts(groups, metrics=["tpr"], strength="auto").to_html()
    assert 'max="250' in eh.audit_counts(groups, metrics=["tpr"], strength=250).to_html()
    alone = eh.audit_counts({"A": (3, 2, 8, 30), "B": (0, 0, 12, 48)}, metrics=["tpr"])
    assert any(
        f.sentence.startswith(
            "True positive rate of A cannot be compared: the reference's score is undefined, no actual positives"
        )
        for f in alone.findings
    )


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(report, "_template", report._template.__wrapped__)
    with pytest.raises(eh.MissingExtra, match=r"^writing an HTML report needs the extra 'report': pip install"):
        AUDIT.to_html()


@pytest.fixture
def _no_test_can_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test, interval and law of the library raises, under whichever name a module knows it."""
    import evenhand.inference as inference
    import evenhand.inference.equality as equality
    import evenhand.inference.rates as rates
    import evenhand.laws as laws

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a report computes no test")

    names = ["match_test", "disparity", "interval", "equality_of_gaps", "gaps_of", "gap_intervals", "score_intervals"]
    tests = [getattr(inference, name) for name in [*names, "posterior", "counts_of"]]
    tests += [equality.equal_scores, rates.fisher, rates.boschloo, laws.distribution]
    patched = 0
    for module in [m for name, m in sys.modules.items() if name.startswith("evenhand")]:
        for name, value in list(vars(module).items()):
            if any(value is test for test in tests):
                monkeypatch.setattr(module, name, refused)
                patched += 1
    assert patched > len(tests)


@pytest.mark.usefixtures("_no_test_can_be_computed")
def test_a_report_computes_no_test() -> None:
    with pytest.raises(AssertionError, match="a report computes no test"):
        eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)})
    again = eh.Audit.from_json(AUDIT.to_json())
    for write in (eh.Audit.to_html, eh.Audit.to_markdown, eh.Audit.to_text, eh.Audit.to_csv, eh.Audit._repr_html_):
        assert write(again) == write(AUDIT)


def test_an_audit_from_json_gives_the_same_bytes(tmp_path: Path) -> None:
    AUDIT.to_html(tmp_path / "one.html")
    eh.Audit.from_json(AUDIT.to_json(indent=None)).to_html(tmp_path / "other.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_every_row_of_the_audit_is_in_the_page() -> None:
    """Each score, interval, gap, p-value and verdict, in the card of its group."""
    page = EVERY.to_html()
    cards = dict(re.findall(r'<h3 id="card-\d+">(\S+) .*?</h3>(.*?)</section>', page, re.DOTALL))
    assert set(cards) == {"A", "B", "none", "one", "even"}
    for row in EVERY.rows:
        head = re.escape(f'<tr><th scope="row">{row.metric}</th>')
        (found,) = re.findall(f"{head}(.*?)</tr>", cards[row.group], re.DOTALL)
        line = html.unescape(found)
        assert f"{row.verdict.sign} {row.verdict}" in line
        assert (number(row.score) if row.reason is None else row.status) in line
        spans = [(row.low, row.high)]
        spans += [(row.difference_low, row.difference_high)] if row.difference is not None else []
        spans += [(row.ratio_low, row.ratio_high)] if row.ratio is not None else []
        for low, high in spans:
            assert low is None or f"{number(low)} to {number(high)}" in line
        if row.pvalue is not None:
            assert f"{row.pvalue:.2g}, {row.p_adjusted:.2g}" in line


# In a browser


def watched(opened: Any) -> tuple[list[str], list[str]]:
    """What goes wrong in a page, and what it asks for, from now on."""
    errors: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    return errors, requests


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The report, opened from a file; no error in the console, and no request to anywhere."""
    path = tmp_path / "audit.html"
    AUDIT.to_html(path)
    opened = browser.new_page()
    errors, requests = watched(opened)
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


def kept_words(metric: str, cm: eh.ConfusionMatrix, rest: eh.ConfusionMatrix, strength: float) -> str:
    """A rate of a cases steadied by b of the reference's keeps a / (a + b) of a gap; other scores say nothing."""
    tp, fn, fp, tn = cm.cells
    r_tp, r_fn, r_fp, r_tn = rest.cells
    wholes = {
        "tpr": (tp + fn, r_tp + r_fn), "fnr": (tp + fn, r_tp + r_fn), "fpr": (fp + tn, r_fp + r_tn),
        "tnr": (fp + tn, r_fp + r_tn), "ppv": (tp + fp, r_tp + r_fp), "fdr": (tp + fp, r_tp + r_fp),
        "npv": (fn + tn, r_fn + r_tn), "for": (fn + tn, r_fn + r_tn), "jaccard": (tp + fn + fp, r_tp + r_fn + r_fp),
        **dict.fromkeys(("acc", "prev", "ppr", "inacc", "nprev", "pnr"), (cm.n, rest.n)),
    }  # fmt: skip
    if metric not in wholes:
        return ""
    own, theirs = wholes[metric]
    added = strength * theirs / rest.n
    return f", keeps {math.floor(100 * own / (own + added) + 0.5)}%" if own + added else ""


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
            words = kept_words(row.metric, cm, everybody - cm, strength)
            assert text == f"{expected:.3f} (λ {strength}{words})", (row.group, row.metric)
            checked += 1
    assert checked >= len(AUDIT.rows) - 4


def test_rows_can_be_put_in_another_order(page: Any) -> None:
    def order() -> list[str]:
        places: list[Any] = page.eval_on_selector_all(
            "[data-metric=tpr] [data-row]",
            "rows => rows.map(r => [r.getAttribute('transform'), r.querySelector('text').textContent])",
        )
        return [text.split(" (")[0] for _, text in sorted(places, key=lambda p: float(p[0].split(",")[1][:-1]))]

    worst_first = [r.group for r in AUDIT.rows if r.metric == "tpr" and r.group != HOSTILE]
    assert [name for name in order() if not name.startswith("<img")] == worst_first
    page.select_option("#order", "size")
    assert order()[:3] == ["African-American", "Caucasian", "Hispanic"]
    page.select_option("#order", "name")
    assert order()[1] == "African-American"


def test_hovering_gives_the_numbers_of_the_row(page: Any) -> None:
    titles = page.locator("[data-metric=tpr] title").all_text_contents()
    row = next(r for r in AUDIT.rows if r.group == "Asian" and r.metric == "tpr")
    assert (
        f"Asian: {row.score:.3f}, interval {row.low:.3f} to {row.high:.3f}, reference {row.reference_score:.3f}, "
        f"p {row.pvalue:.2g}, adjusted {row.p_adjusted:.2g}; {row.verdict}"
    ) in titles


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
@pytest.mark.parametrize("width", [1280, 768, 375])
def test_no_serious_accessibility_violation_and_no_sideways_scrolling(
    browser: Any, violations: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    path = tmp_path / "audit.html"
    AUDIT.to_html(path)
    # axe is put into the page by the test; the page's own policy would keep it out.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    errors, requests = watched(opened)
    opened.goto(path.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert (errors, requests) == ([], [path.as_uri()])
    assert violations(opened) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_have_the_colours_that_they_say_they_have(browser: Any, tmp_path: Path, scheme: str) -> None:
    AUDIT.to_html(tmp_path / "audit.html")
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.goto((tmp_path / "audit.html").as_uri())
    for verdict in {row.verdict for row in AUDIT.rows if row.score is not None}:
        colour = verdict.dark if scheme == "dark" else verdict.colour
        rgb = f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
        mark = opened.locator(f"path.mark.{verdict.css}").first
        assert mark.evaluate("mark => getComputedStyle(mark).stroke") == rgb
        assert (mark.evaluate("mark => getComputedStyle(mark).fill") == rgb) == verdict.filled
    context.close()


def misplaced(opened: Any, strength: float, audit: eh.Audit = EVERY) -> set[str]:
    """The metrics for which the page, moved to a strength, shows another score than the library computes."""
    opened.locator("#strength").fill(str(strength))
    shown = opened.eval_on_selector_all(
        "[data-smoothed]", "cells => cells.map(c => [+c.dataset.smoothed, c.textContent])"
    )
    wrong = set()
    for i, text in shown:
        row = audit.rows[i]
        cm = eh.ConfusionMatrix(*SOME[row.group])
        rest = sum(
            (eh.ConfusionMatrix(*c) for name, c in SOME.items() if name != row.group), eh.ConfusionMatrix(0, 0, 0, 0)
        )
        expected = float(eh.metric(row.metric)(eh.cross_prior_smooth(cm, rest, strength)))
        if math.isfinite(expected):
            score, _, words = text.partition(" (")
            kept = f"λ {strength}{kept_words(row.metric, cm, rest, strength)})"
            if float(score) != pytest.approx(expected, rel=6e-3, abs=6e-4) or words != kept:
                wrong.add(row.metric)
    assert len(shown) == sum(row.smoothed is not None for row in audit.rows) > 0
    return wrong


def test_the_pages_scores_of_every_metric_are_those_of_the_library(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    EVERY.to_html(path)
    opened = browser.new_page()
    errors, _ = watched(opened)
    opened.goto(path.as_uri())
    assert sum(row.smoothed is not None for row in EVERY.rows) > 150
    for strength in (0, 1, 10, 63, 100):
        assert misplaced(opened, strength) == set()
    # Compared with everybody, a group is smoothed with the others all the same.
    everybody = eh.audit_counts(SOME, metrics=["acc", "tpr", "mcc"], reference="all")
    everybody.to_html(tmp_path / "all.html")
    opened.goto((tmp_path / "all.html").as_uri())
    assert misplaced(opened, 63, everybody) == set()
    assert errors == []
    # The check itself: a formula that is three times as large is noticed.
    text = path.read_text("utf-8")
    tree = json.dumps(eh.metric("kappa").base.expression, separators=(", ", ": "))
    broken = text.replace(f'"tree": {tree}', f'"tree": ["*", 3, {tree}]')
    assert broken != text
    path.write_text(broken, "utf-8")
    opened.goto(path.as_uri())
    assert misplaced(opened, 10) == {"kappa"}
    opened.close()
