"""The report as one file: nothing is fetched, only the shipped script may run, and every row can be read without it."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from shown_audits import AUDITS, COMPAS, HOLES, HOSTILE, MODELS, STRATA, decided

import evenhand as eh
from evenhand.errors import MissingExtra
from evenhand.reports import as_page
from evenhand.reports.svg_charts import choose_domain, draw_gaps
from evenhand.wording import number, pvalue

NAMES = (
    HOSTILE,
    '" onclick="alert(1)',
    "'><svg/onload=alert(1)>",
    "</style></title><b>",
    "&lt;i&gt; &amp;",
    "{% raw %}",
)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """A page of every kind of audit, and of hostile names at every place where text from data occurs."""
    rows = decided(300)
    many = eh.audit_counts(
        {f"{name} {i}": (30 + i, 10, 12, 48 + i) for i in range(4) for name in NAMES},
        by=HOSTILE,
        favourable="positive",
        wording={"cases": "<i>people</i>", "outcome": NAMES[1], "decision": NAMES[2]},
    )
    weighted = {**rows, "w": [1.0, 2.0] * 150, "person": [f"{race}{i // 5}" for i, race in enumerate(rows["race"])]}
    given: dict[str, Any] = {"y_true": "y", "y_pred": "old", "groups": "race"}
    audits = {
        "hostile": many,
        "protected": eh.audit_counts(eh.examples.compas(), by="race", protect=11, favourable="negative"),
        "clusters": eh.audit(weighted, cluster="person", **given),
        "weights": eh.audit(weighted, sample_weight="w", **given),
        "two columns": eh.audit(rows, y_true="y", y_pred="old", groups=["race", "department"]),
    }
    return {name: as_page(audit) for name, audit in (AUDITS | audits).items()}


class Page(HTMLParser):
    """The elements of a page with their attributes, and the rows of its tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def tags(self, tag: str) -> list[dict[str, Any]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_nothing_is_fetched_and_only_the_shipped_script_and_style_are_allowed(pages: dict[str, str]) -> None:
    for name, text in (*pages.items(), ("monitor", eh.Monitor().to_html())):
        (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
        digests = [
            base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
            for tag in ("style", "script")
            for found in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        ]
        assert html.unescape(policy) == (
            f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
            "base-uri 'none'; form-action 'none'"
        )
        page = Page(text)
        assert len(digests) == 2 and len(page.tags("style")) == len(page.tags("script")) == 1, name
        for tag, attributes in page.elements:
            assert not [a for a in attributes if a.startswith("on") or a in ("style", "src", "srcdoc")], (name, tag)
            assert str(attributes.get("href", "#")).startswith("#")
        assert {tag for tag, _ in page.elements}.isdisjoint({"img", "link", "iframe", "object", "form", "b2"})


def test_names_from_data_are_text(pages: dict[str, str]) -> None:
    for name in ("hostile", "strange"):
        text = pages[name]
        assert "\u202e" not in text and "\x1b" not in text and "<img" not in text and "onload=alert(1)>" not in text
        assert html.escape(HOSTILE.split(" |")[0]) in text and "{{7*7}}" in text
    title = re.findall("<title>(.*?)</title>", pages["hostile"])[0]
    assert "&lt;i&gt;people" in title


def test_the_page_has_landmarks_headings_and_headers_of_tables(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        page = Page(text)
        ids = [a["id"] for _, a in page.elements if "id" in a]
        assert [len(page.tags(tag)) for tag in ("h1", "main", "header", "nav")] == [1, 1, 1, 1], name
        assert len(set(ids)) == len(ids)
        targets = [str(a["href"]) for tag, a in page.elements if tag == "a"]
        assert targets[0] == "#main" and {target.removeprefix("#") for target in targets} <= set(ids)
        levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert all(a.get("scope") for a in page.tags("th"))
        for tag, attributes in page.elements:
            if tag == "svg":
                assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label")
        assert "nan" not in {cell.strip() for row in page.rows for cell in row}


def test_every_row_of_the_audit_is_in_the_details(pages: dict[str, str]) -> None:
    """Support, score, p-value and verdict, whatever the axes."""
    for name, audit in AUDITS.items():
        tables = Page("".join(re.findall('<table class="f">.*?</table>', pages[name], re.DOTALL)))
        shown = [" ".join(" ".join(row).split()) for row in tables.rows if "Support" not in row]
        assert len(shown) == len(audit.rows)
        for row in audit.rows:
            p = "" if isnan(row.p_adjusted) else pvalue(row.p_adjusted, audit.settings["alpha"]).removeprefix("= ")
            score = "" if row.is_gap_change or isnan(row.score) else number(row.score)
            parts = (row.metric, f"{row.support:,} ", score, p, str(row.verdict))
            assert any(all(part in line for part in parts) for line in shown), (name, row)


def test_the_page_says_what_was_compared_and_how(pages: dict[str, str]) -> None:
    for name, words in {
        "plain": ["7,214 cases by race", "6 groups, each compared with the rest", "Exact tests, Holm for discrete",
                  "Favourable for the person: predicted positive", "Impact ratios", "Worse for this group."],
        "models": ["comparison of models", "new against old", "Change against old on the same cases", "losses, "],
        "strata": ["over all strata", "odds 6.291 times those of the rest", "×6.291"],
        "thresholds": ["500 cases by race, 3 thresholds", "threshold 0.7", "within each metric and threshold"],
        "classes": ["macro average", "class z", "unlike"],
        "holes": ["undefined", "no actual positives (TP + FN = 0)", "does not mean that the groups are equal"],
        "best": ["was chosen as the reference of race", "Nothing could be tested."],
        "protected": ["about 7,", "ounded"],
        "clusters": ["assumes independent person clusters ("],
        "own function": ["agreement"],
        "two columns": ["by race and department"],
    }.items():  # fmt: skip
        said = re.sub(r"\s+", " ", html.unescape(pages[name]))
        for word in words:
            assert word in said, (name, word)
    assert "Impact ratios" not in pages["models"]


def test_a_picture_shows_differences_and_never_draws_a_ratio_as_points() -> None:
    rows = [row for row in STRATA.rows if row.metric == "tpr"]
    differences = [row for row in rows if not row.is_ratio]
    domain = choose_domain(rows, [])
    ends = [abs(end) for row in differences for end in (row.gap, row.gap_low, row.gap_high) if not isnan(end)]
    assert domain == pytest.approx(1.05 * max(ends))
    picture = draw_gaps(rows, domain, 0.1, "label", [])
    marks = [float(x) for x in re.findall(r'<use class="pt \w+" href="#\w+" x="([\d.]+)%"', picture)]
    assert marks == pytest.approx([(row.gap + domain) / (2 * domain) * 82 for row in differences], abs=0.06)
    assert picture.count("×") == len(rows) - len(differences) and picture.count('class="val"') == len(rows)


def test_an_audit_from_json_gives_the_same_page_and_titles_can_be_given(tmp_path: Path) -> None:
    for audit in (COMPAS, HOLES, MODELS):
        assert eh.Audit.from_json(audit.to_json()).to_html() == audit.to_html()
    text = COMPAS.to_html(tmp_path / "audit.html", title="<Title>")
    assert (tmp_path / "audit.html").read_text("utf-8") == text and "<h1>&lt;Title&gt;</h1>" in text


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.reports import html as module

    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    module._environment.cache_clear()
    with pytest.raises(MissingExtra, match=r"evenhand\[report\]"):
        COMPAS.to_html()
    module._environment.cache_clear()


@pytest.mark.slow
def test_pages_in_a_browser(browser: Any, violations: Any, pages: dict[str, str], tmp_path: Path) -> None:
    """No script from data runs, nothing is blocked or fetched, nothing scrolls sideways, in light and dark."""
    for name, text in (pages | {"monitor": eh.Monitor().to_html()}).items():
        path = tmp_path / "page.html"
        path.write_text(text, "utf-8")
        for width, scheme in ((1280, "light"), (768, "light"), (375, "dark")):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = context.new_page()
            said: list[str] = []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.on("dialog", lambda dialog, said=said: said.append(dialog.message))
            page.on("requestfailed", lambda request, said=said: said.append(request.url))
            page.goto(path.as_uri())
            assert said == [], (name, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            context.close()
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    for name in ("plain", "hostile", "strata"):
        path.write_text(pages[name], "utf-8")
        page.goto(path.as_uri())
        assert violations(page) == [], name
    context.close()


@pytest.mark.slow
def test_the_filter_of_many_groups_and_the_page_without_scripts(browser: Any, tmp_path: Path) -> None:
    counts = {f"group {i}": (30 + i % 9, 10, 12 + i % 5, 48) for i in range(90)}
    path = tmp_path / "many.html"
    eh.audit_counts(counts, metrics=["tpr", "fpr"]).to_html(path)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.fill("#q", "group 7")
    visible = [name.strip() for name in page.locator(".map tbody th:visible").all_inner_texts()]
    assert set(visible) == {name for name in counts if "group 7" in name}
    assert page.inner_text("#shown") == "11 groups"
    page.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("h1").inner_text() and page.locator(".overall tbody tr").count() > 50
    page.locator("details summary", has_text="All comparisons").click()
    assert page.locator(".f tbody tr").count() == 180
    context.close()
