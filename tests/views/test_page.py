"""The report: what it says, that it is self-contained, and how it behaves in a browser with few and many groups."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import NAUGHTY
from matrices import matrix

import evenhand as eh
from evenhand.auditing import Row
from evenhand.views import as_page
from evenhand.views.expressions import expression
from evenhand.views.narrative import headlines, untold

HOSTILE = "<img src=x onerror=alert(1)> </script> <!-- {{7*7}} \u202eabc\u200b"
AUDIT = eh.audit_counts(
    {**eh.examples.compas(), HOSTILE: (0, 0, 2, 3)}, by="race", metrics=["tpr", "fpr", "ppr", "mcc", "f2", "mb"]
)

# Every metric of one group, in groups of which some lack what a score needs.
SOME = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "none": (0, 0, 2, 3), "one": (1, 0, 0, 0), "even": (5, 5, 5, 5)}
EVERY = eh.audit_counts(SOME, metrics=[m for m in eh.list_metrics() if not m.comparisons])

RACES = (
    *("White alone", "Black or African American alone", "American Indian alone", "Alaska Native alone", "Asian alone"),
    *("American Indian and Alaska Native tribes specified", "Native Hawaiian and Other Pacific Islander alone"),
    *("Some Other Race alone", "Two or More Races"),
)


def crossed(years: int, seed: int = 7) -> eh.Audit:
    """An audit by race and sex, by years of school, and by their crossing: 18 + years + 18 * years groups."""
    rng = np.random.default_rng(seed)
    counts = {
        (f"{race}, {sex}", f"{year} years of school"): tuple(
            map(int, rng.multinomial(int(rng.lognormal(4, 1.6)) + 1, rng.dirichlet([18, 9, 6, 27])))
        )
        for race in RACES
        for sex in ("Female", "Male")
        for year in range(1, years + 1)
    }
    return eh.audit_counts(counts, by=["race and sex", "schooling"])


def shown(value: float) -> str:
    """A number as the page writes it: three decimals, or two digits if it is tiny."""
    return (f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}").replace("-", "−")


def data_of(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return dict(json.loads(found))


def test_the_page_says_what_the_audit_says() -> None:
    text = AUDIT.to_html()
    said = html.unescape(text)
    for h in headlines(AUDIT.rows, AUDIT.settings):
        assert h.sentence in said
    for sentence in untold(AUDIT.rows):
        assert sentence in said
    assert "<h1>Audit of 7,219 cases in 7 groups by race</h1>" in text
    assert text == AUDIT.to_html(), "the same audit gives the same page"
    assert eh.Audit.from_json(AUDIT.to_json()).to_html() == text


def test_text_from_data_is_text() -> None:
    text = AUDIT.to_html()
    assert "<img" not in text
    assert text.count("</script>") == 2
    assert "<!--" not in text
    assert "\u202e" not in text
    assert "\u200b" not in text
    assert "{{7*7}}" in text
    assert HOSTILE.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b") in data_of(text)["groups"]["name"]


def test_nothing_is_fetched_and_only_the_shipped_script_may_run() -> None:
    text = AUDIT.to_html()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(policy).split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    assert set(re.findall(r"https?://[^\"]+", text)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.slow
def test_hundreds_of_groups_stay_small() -> None:
    audit = crossed(20)
    text = audit.to_html()
    assert len({(row.by, row.group) for row in audit.rows}) == 398
    assert len(text.encode()) < 1_000_000
    assert "This page holds" not in text


def test_more_groups_than_the_page_holds_are_counted() -> None:
    audit = crossed(2)
    text = as_page(audit, most=10)
    said = " ".join(html.unescape(text).split())
    assert "This page holds the 10 groups with the most important scores of 56;" in said
    first = list(dict.fromkeys((row.by, row.group) for row in audit.rows))[:10]
    data = data_of(text)
    assert data["groups"]["name"] == [group for _, group in first]
    assert "56 groups by race and sex, schooling, race and sex & schooling" in said


def test_a_report_without_labels(tmp_path: Path) -> None:
    a = eh.audit(y_pred=[1, 0, 1, 0, 0, 0], groups=list("aaabbb"))
    text = a.to_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text("utf-8") == text
    assert data_of(text)["groups"]["own"] is None


def test_a_group_called_all_is_a_group() -> None:
    counts = {"all": (300, 100, 120, 480), "A": (10, 20, 8, 30), "rest": (3, 1, 2, 5)}
    named = eh.audit_counts(counts, reference="all", metrics=["tpr"])
    assert {(r.reference_kind, r.reference) for r in named.rows} == {("group", "all")}
    assert "compared with the group all; cases are taken as independent." in named.to_html().replace("\n", " ")
    assert {r.reference_kind for r in eh.audit_counts(counts, metrics=["tpr"], reference="rest").rows} == {"group"}


def test_the_words_follow_the_settings() -> None:
    groups = eh.examples.compas()
    a = eh.audit_counts(groups, metrics=["tpr"], adjust="none")
    assert data_of(a.to_html())["adjusted"] is False
    assert data_of(eh.audit_counts(groups, metrics=["tpr"], strength="auto").to_html())["strength"] is None
    assert data_of(eh.audit_counts(groups, metrics=["tpr"], strength=250).to_html())["strength"] == 250
    assert "errors harm the person" in eh.audit_counts(groups, metrics=["tpr"], favourable="positive").to_html()
    assert "errors favour the person" in eh.audit_counts(groups, metrics=["tpr"], favourable="negative").to_html()
    same = eh.audit_counts({"A": (3000, 1000, 1200, 4800), "B": (3000, 1000, 1200, 4800)}, metrics="tpr").to_html()
    assert "No score was found to differ" in same
    assert "What could not be told" not in same


def recorded(record: Any) -> eh.Audit:
    return dataclasses.replace(AUDIT, provenance=record)


def test_the_page_says_what_was_audited() -> None:
    digest = "9f" * 32
    record = {
        "made": "2026-11-16T11:02:33+00:00",
        "source": {"kind": "file", "name": "scores.csv", "size": 2_546_489, "sha256": digest, "rows": 7214, "files": 3},
        "columns": {"label": "two_year_recid", "prediction": "score_text", "score": None, "groups": ["race"]},
        "positive": {"label": ["1"], "prediction": ["Medium", "High"]},
        "threshold": None,
    }
    said = recorded(record).to_html(title="Risk scores of <Broward> County", system="COMPAS", author="A. Council")
    assert "<h1>Risk scores of &lt;Broward&gt; County</h1>" in said
    pairs = dict(re.findall(r"<div><dt>([^<]*)</dt><dd>([^<]*)</dd></div>", said))
    assert pairs["System"] == "COMPAS"
    assert pairs["Data"] == "scores.csv, 3 files, 7,214 rows, 2.55 MB"
    assert pairs["SHA-256 of the data"] == digest
    facts = said.partition('id="audited"')[2].partition("</dl>")[0]
    assert "scores.csv" in facts and digest not in facts, "a fingerprint is for who repeats the audit"
    assert pairs["Label"] == "two_year_recid; positive: 1"
    assert pairs["Prediction"] == "score_text; positive: Medium or High"
    assert pairs["Made"] == "2026-11-16 11:02 UTC"
    assert pairs["By"] == "A. Council"
    assert "Score" not in pairs
    assert (
        "Actually positive means: two_year_recid is 1. Predicted positive means: score_text is Medium or High." in said
    )
    scored = {"columns": {"score": "p"}, "threshold": 0.5, "source": {"kind": "frame", "library": "polars"}}
    pairs = dict(re.findall(r"<div><dt>([^<]*)</dt><dd>([^<]*)</dd></div>", recorded(scored).to_html()))
    assert pairs["Score"] == "p; positive: 0.5 or more"
    assert "Predicted positive means: p is 0.5 or more." in recorded(scored).to_html()
    assert "positive means:" not in AUDIT.to_html()
    assert pairs["Data"] == "a dataframe, polars"
    assert "<h1>Audit of 7,219 cases in 7 groups by race</h1>" in recorded({}).to_html()


def test_without_jinja_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "import evenhand as eh\n"
        "eh.audit_counts({'A': (9, 6, 4, 21), 'B': (30, 10, 12, 48)}, metrics='tpr').to_html()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert "MissingExtra: writing an HTML report needs the extra 'report': pip install" in last


@pytest.fixture
def _no_test_can_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test, interval and law of the library raises, under whichever name a module knows it."""
    import evenhand.distributions as distributions
    import evenhand.inference as inference

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a report computes no test")

    computing = ["match_test", "disparity", "interval", "score_gaps", "melded_gaps", "score_intervals"]
    computing += ["count_successes", "compared_rates", "change_matrix", "ranking_gap", "function_gap"]
    computing += ["equality_test", "fisher_tails", "attainable_tails", "unconditional_sizes"]
    tests = [getattr(inference, name) for name in computing] + [distributions.distribution]
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


AUDITS: dict[str, Any] = {
    "hostile": lambda: AUDIT,
    "every": lambda: EVERY,
    "6": lambda: eh.audit_counts(eh.examples.compas(), by="race", favourable="negative"),
    "56": lambda: crossed(2),
    "398": lambda: crossed(20),
    "2,000 hostile": lambda: eh.audit_counts(
        {f"{i} {NAUGHTY[i % len(NAUGHTY)]}": (3 + i % 7, 2, 1, 4) for i in range(2_000)},
        metrics="tpr",
    ),
}


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An audit by its name, and the file of its report."""
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, tuple[eh.Audit, Path]] = {}

    def get(name: str) -> tuple[eh.Audit, Path]:
        if name not in made:
            made[name] = AUDITS[name](), folder / f"{name}.html"
            made[name][0].to_html(made[name][1])
        return made[name]

    return get


@pytest.fixture
def report(browser: Any, saved: Any) -> Iterator[Any]:
    """Opens reports; no error in the console, and no request to anywhere."""
    opened: list[tuple[Any, list[str], list[str], str]] = []

    def get(name: str, anchor: str = "", **how: Any) -> tuple[eh.Audit, Any]:
        audit, path = saved(name)
        new = browser.new_context(**how).new_page()
        new.set_default_timeout(10_000)
        address = path.as_uri()
        opened.append((new, *monitored(new), address))
        new.goto(address + anchor)
        return audit, new

    yield get
    for new, errors, requests, address in opened:
        assert errors == []
        assert [url.partition("#")[0] for url in requests] == [address]
        new.context.close()


def groups_of(audit: eh.Audit) -> list[tuple[str, str]]:
    """The groups in the order in which the audit mentions them."""
    return list(dict.fromkeys((row.by, row.group) for row in audit.rows))


def rows_of(audit: eh.Audit, by: str, group: str) -> dict[str, Row]:
    return {row.metric: row for row in audit.rows if (row.by, row.group) == (by, group)}


def mapped(opened: Any) -> list[str]:
    """The names of the groups that the map has drawn."""
    return list(opened.locator(".map tbody .name").all_text_contents())


def listed(opened: Any, where: str) -> list[str]:
    return list(opened.locator(f"{where} .name").all_text_contents())


DIFFER = ("higher", "lower")


def with_findings(audit: eh.Audit) -> list[str]:
    sure = {(f.by, f.group) for f in audit.findings if f.kind == "four-fifths"}
    return [
        group
        for by, group in groups_of(audit)
        if (by, group) in sure or any(r.verdict in DIFFER for r in rows_of(audit, by, group).values())
    ]


@pytest.mark.parametrize("name", ["6", "56", "398"])
def test_little_is_drawn_before_anything_is_opened(report: Any, name: str) -> None:
    audit, opened = report(name, viewport={"width": 1280, "height": 900})
    assert opened.evaluate("document.querySelectorAll('*').length") < 5_000
    names_ = [group for _, group in groups_of(audit)]
    drawn = mapped(opened)
    assert drawn == names_[: len(drawn)]
    assert len(drawn) >= min(len(names_), 10)
    assert len(drawn) <= 40
    assert opened.locator(".map").get_attribute("aria-rowcount") == str(len(names_) + 1)
    assert listed(opened, ".block") == with_findings(audit)[:8]
    assert listed(opened, ".card") == names_[:30]
    assert opened.locator(".card[open]").count() == 0
    # All of it can be reached, and the last row that is seen fades until it is.
    assert ("more" in str(opened.locator(".scroller").get_attribute("class"))) == (len(drawn) < len(names_))
    opened.locator(".scroller").evaluate("node => { node.scrollTop = node.scrollHeight; }")
    opened.wait_for_function("name => [...document.querySelectorAll('.map tbody .name')].at(-1).textContent === name",
                             arg=names_[-1])  # fmt: skip
    further = "node => { node.scrollTop = node.scrollHeight; return !node.classList.contains('more'); }"
    opened.wait_for_function(f"() => ({further})(document.querySelector('.scroller'))")
    press = "more => { while (!more.hidden) more.click(); }"
    opened.locator("#findings-here .more").evaluate(press)
    assert listed(opened, ".block") == with_findings(audit)
    opened.locator("#cards-here .more").evaluate(press)
    assert listed(opened, ".card") == names_


@pytest.mark.parametrize("name", ["6", "56", "398"])
def test_tiles_are_the_rows_of_the_audit(report: Any, name: str) -> None:
    audit, opened = report(name, viewport={"width": 1280, "height": 900})
    keys = audit.settings["metrics"]
    for gaps in (False, True):
        if gaps:
            opened.get_by_label("Gap to the reference").check()
        drawn = opened.eval_on_selector_all(
            ".map tbody tr[data-at]",
            "rows => rows.map(r => [+r.dataset.at, [...r.querySelectorAll('.tile')].map(t => [t.querySelector('b')"
            ".textContent, t.querySelector('small').textContent, t.className.split(' ')[1]])])",
        )
        assert len(drawn) >= 6
        for at, tiles in drawn:
            rows = rows_of(audit, *groups_of(audit)[at])
            for key, (value, basis, css) in zip(keys, tiles, strict=True):
                row = rows[key]
                if row.reason is not None:
                    expected = "undefined"
                elif gaps:
                    assert row.difference is not None
                    expected = ("+" if row.difference > 0 else "") + shown(row.difference)
                else:
                    assert row.score is not None
                    expected = shown(row.score)
                assert (value, basis, css) == (
                    expected,
                    " and ".join(f"{k:,}" for k in row.denominators),
                    row.verdict.css,
                )


@pytest.mark.parametrize("name", ["56", "398"])
def test_searching_narrows_everything_that_shows_groups(report: Any, name: str) -> None:
    audit, opened = report(name, viewport={"width": 1280, "height": 900})
    opened.get_by_label("Search groups").fill("asian FEMALE")
    expected = [group for _, group in groups_of(audit) if "Asian" in group and "Female" in group]
    assert 0 < len(expected) < 30
    assert sorted(mapped(opened)) == sorted(expected)
    assert sorted(listed(opened, ".card")) == sorted(expected)
    assert listed(opened, ".block") == [group for group in with_findings(audit) if group in expected][:8]
    assert opened.locator("#chosen").text_content() == f"{len(expected)} of {len(groups_of(audit))} groups"
    opened.get_by_label("Search groups").press("Enter")
    assert opened.locator(".card[open] summary .name").text_content() == expected[0]
    opened.keyboard.press("Enter")
    opened.get_by_label("Search groups").fill("no such group")
    assert mapped(opened) == listed(opened, ".block") == listed(opened, ".card") == []
    assert opened.get_by_text("No group passes the filters.").is_visible()
    opened.get_by_role("button", name="Clear").click()
    assert opened.locator("#chosen").text_content() == f"All {len(groups_of(audit))} groups"
    assert len(mapped(opened)) > 10


def test_filters_by_column_size_and_verdict(report: Any) -> None:
    audit, opened = report("56", viewport={"width": 1280, "height": 900})
    everybody = groups_of(audit)
    opened.get_by_label("Column").select_option(label="race and sex")
    people = {f"{race}, {sex}" for race in RACES for sex in ("Female", "Male")}
    assert set(mapped(opened)) == people == set(listed(opened, ".card"))
    opened.get_by_label("Column").select_option(label="all columns")
    opened.get_by_label("Fewest cases").fill("500")
    sizes = {(row.by, row.group): row.n for row in audit.rows}
    large = [group for by, group in everybody if sizes[by, group] >= 500]
    assert 0 < len(large) < len(everybody)
    assert listed(opened, ".card") == large[:30]
    opened.get_by_label("Fewest cases").fill("0")
    having = {
        verdict: [g for by, g in everybody if any(r.verdict == verdict for r in rows_of(audit, by, g).values())]
        for verdict in dict.fromkeys(row.verdict for row in audit.rows)
    }
    rarest = min(having, key=lambda verdict: len(having[verdict]))
    assert 0 < len(having[rarest]) < len(everybody)
    toggle = opened.get_by_role("button", name=rarest, exact=True)
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "true"
    drawn = mapped(opened)
    assert drawn == having[rarest][: len(drawn)] and len(drawn) >= min(len(having[rarest]), 10)
    assert listed(opened, ".card") == having[rarest][:30]
    css = opened.eval_on_selector_all(".tile", "tiles => tiles.map(t => t.className.split(' '))")
    assert all(("dim" in names_) == (rarest.css not in names_) for names_ in css)
    toggle.click()
    assert listed(opened, ".card") == [group for _, group in everybody][:30]


def test_groups_can_be_sorted(report: Any) -> None:
    audit, opened = report("398", viewport={"width": 1280, "height": 900})
    opened.get_by_label("Column").select_option(label="schooling")
    group, cases, tpr = (
        opened.get_by_role("columnheader", name=name, exact=True) for name in ("Group", "Cases", "tpr")
    )
    group.get_by_role("button").click()
    ordered = [f"{year} years of school" for year in range(1, 21)]
    assert listed(opened, ".card") == ordered, "9 comes before 10"
    assert group.get_attribute("aria-sort") == "ascending"
    group.get_by_role("button").click()
    assert listed(opened, ".card") == ordered[::-1]
    cases.get_by_role("button").click()
    sizes = {row.group: row.n for row in audit.rows if row.by == "schooling"}
    assert [sizes[name] for name in listed(opened, ".card")] == sorted(sizes.values(), reverse=True)
    assert (group.get_attribute("aria-sort"), cases.get_attribute("aria-sort")) == ("none", "descending")
    opened.get_by_label("Column").select_option(label="race and sex & schooling")
    tpr.get_by_role("button").click()
    scores = {row.group: row.score for row in audit.rows if row.metric == "tpr"}
    tpr.get_by_role("button").click()
    shown_first = [scores[name] for name in mapped(opened)]
    assert shown_first == sorted(s for s in shown_first if s is not None)
    assert shown_first[0] == min(s for s in scores.values() if s is not None)
    # Scores that do not exist come last, whichever way the others are sorted.
    opened.locator(".scroller").evaluate("node => { node.scrollTop = node.scrollHeight; }")
    crossing = [name for by, name in groups_of(audit) if by == "race and sex & schooling"]
    lacking = [name for name in crossing if scores[name] is None]
    opened.wait_for_function("name => [...document.querySelectorAll('.map tbody .name')].at(-1).textContent === name",
                             arg=lacking[-1])  # fmt: skip
    opened.get_by_role("button", name="Most important first").click()
    assert mapped(opened)[:10] == crossing[:10]


def test_pointing_at_a_tile_and_focusing_it_tell_everything(report: Any) -> None:
    audit, opened = report("hostile")
    row = rows_of(audit, "race", "Asian")["tpr"]
    at = [group for _, group in groups_of(audit)].index("Asian")
    tile = opened.locator(f'.map tr[data-at="{at}"] .tile').first
    tip = opened.locator("#tip")
    assert not tip.is_visible()
    tile.hover()
    assert row.score is not None and row.low is not None and row.high is not None
    assert row.difference is not None and row.gap_low is not None and row.gap_high is not None
    assert row.reference_score is not None and row.pvalue is not None and row.p_adjusted is not None
    assert tip.locator("b, span").all_text_contents() == [
        "Asian, True positive rate",
        f"{row.score:.3f} (6 of 9), interval {row.low:.3f} to {row.high:.3f}",
        f"Reference {row.reference_score:.3f}",
        f"Gap +{row.difference:.3f}, interval {shown(row.gap_low)} to {shown(row.gap_high)}",
        f"p {row.pvalue:.3f}, adjusted {row.p_adjusted:.3f}",
        "Verdict: inconclusive; may be chance",
        f"It takes {row.required_n} actual positives to find a true gap of 0.1 with a probability of 80%; there are 9.",
        "Rests on 9 actual positives",
    ]
    opened.mouse.move(1, 1)
    assert not tip.is_visible()
    lacking = [group for _, group in groups_of(audit)].index(HOSTILE)
    tile = opened.locator(f'.map tr[data-at="{lacking}"] .tile').first
    tile.focus()
    assert tip.is_visible()
    assert tile.get_attribute("aria-describedby") == "tip"
    assert "Undefined: no actual positives (TP + FN = 0); the probability of that was 5.01%." in (
        tip.locator("span").all_text_contents()
    )
    opened.keyboard.press("Escape")
    assert not tip.is_visible()


@pytest.mark.parametrize("name", ["6", "56", "398"])
def test_everything_can_be_done_by_keyboard(report: Any, name: str) -> None:
    audit, opened = report(name, viewport={"width": 1280, "height": 900})
    everybody = groups_of(audit)
    opened.get_by_label("Search groups").focus()
    for _ in range(40):
        opened.keyboard.press("Tab")
        if opened.evaluate("document.activeElement.matches('.map tbody th')"):
            break
    focused = "document.activeElement.closest('tr').querySelector('.name').textContent"
    assert opened.evaluate(focused) == everybody[0][1]
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp"):
        opened.keyboard.press(key)
    assert opened.evaluate(focused) == everybody[1][1]
    assert opened.evaluate("document.activeElement.dataset.metric") == "0"
    opened.keyboard.press("Control+End")
    assert opened.evaluate(focused) == everybody[-1][1]
    assert opened.evaluate("document.activeElement.dataset.metric") == str(len(audit.settings["metrics"]) - 1)
    opened.keyboard.press("Enter")
    card = opened.locator(".card[open]")
    assert card.locator("summary .name").text_content() == everybody[-1][1]
    assert opened.evaluate("document.activeElement.closest('.card').open")
    opened.keyboard.press("Enter")
    assert opened.locator(".card[open]").count() == 0
    opened.keyboard.press("Enter")
    opened.locator(".card[open] input[type=range]").wait_for()
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    before = card.locator("[data-smoothed]").all_text_contents()
    opened.keyboard.press("End")
    assert card.locator(".lambda").text_content() == "100"
    assert card.locator("[data-smoothed]").all_text_contents() != before


@pytest.mark.parametrize("name", ["6", "398"])
def test_cards_open_from_the_map_from_findings_and_from_the_address(report: Any, name: str) -> None:
    audit, opened = report(name, "#card-5", viewport={"width": 1280, "height": 900})
    everybody = groups_of(audit)
    assert opened.locator(".card[open] summary .name").text_content() == everybody[5][1]
    assert opened.locator(".card[open]").evaluate("card => card.getBoundingClientRect().top") < 900
    opened.locator('.map tr[data-at="1"] .tile').nth(2).click()
    assert opened.locator("#card-1").get_attribute("open") is not None
    opened.locator('.block[data-group="2"] button').click()
    assert opened.locator("#card-2").get_attribute("open") is not None
    last = len(everybody) - 1
    opened.evaluate(f"location.hash = '#card-{last}'")
    opened.locator(f"#card-{last}[open] .scores").wait_for()
    assert opened.locator(f"#card-{last} summary .name").text_content() == everybody[-1][1]
    assert opened.locator(".card[open]").count() == len({1, 2, 5, last})


def test_every_row_of_the_audit_is_in_its_card(report: Any) -> None:
    """Each score, interval, gap, p-value, reason and verdict."""
    audit, opened = report("every")
    for i in range(5):
        opened.locator(f"#card-{i} summary").click()
    found = dict(opened.eval_on_selector_all(
        ".card tr[data-row]",
        "rows => rows.map(r => [r.closest('.card').querySelector('.name').textContent + '/' + "
        "r.querySelector('th small').textContent, r.innerText.replaceAll('\\n', ' ').replaceAll('\\t', ' ')])",
    ))  # fmt: skip
    assert set(found) == {f"{row.group}/{row.metric}" for row in audit.rows}
    for row in audit.rows:
        line = found[f"{row.group}/{row.metric}"]
        assert f" {row.verdict}" in line
        if row.reason is None:
            assert row.score is not None
            assert (shown(row.score) if row.score < 100 else f"{row.score:.3g}") in line
        else:
            assert f"Undefined: {row.reason}" in line
        spans = [(row.low, row.high)] if row.reason is None else []
        spans += [(row.gap_low, row.gap_high)] if row.difference is not None else []
        for low, high in spans:
            if low is not None and high is not None and abs(high) < 100:
                assert f"{shown(low)} to {shown(high)}" in line
        if row.pvalue is not None and row.pvalue >= 0.001:
            assert row.p_adjusted is not None
            assert f"{row.pvalue:.3f} adjusted {row.p_adjusted:.3f}" in line


def test_findings_are_in_their_tiers(report: Any) -> None:
    audit, opened = report("6")
    block = opened.locator('.block[data-group="0"]')
    rows = rows_of(audit, "race", "African-American")
    names_ = {eh.metric(key).name: key for key in rows}
    found: dict[str, list[str]] = {}
    for tier in block.locator(".tier").all():
        whats = tier.locator(".what").evaluate_all("all => all.map(w => w.firstChild.textContent)")
        found[tier.locator("h4").text_content()] = sorted(names_[what] for what in whats)

    def tiered(large: bool, small: bool) -> list[str]:
        bounds = {
            key: (abs(row.at_least or 0), abs(row.at_most or 2))
            for key, row in rows.items()
            if key != "prev" and row.verdict in DIFFER
        }
        return sorted(key for key, (least, most) in bounds.items() if (least > 0.1) is large and (most <= 0.1) is small)

    assert found == {
        title: keys
        for title, keys in {
            "beyond the margin": tiered(True, False),
            "found, size unclear": tiered(False, False),
            "found but small": tiered(False, True),
            "about the people, whatever is predicted": ["prev"],
        }.items()
        if keys
    }
    assert "below four fifths" in block.text_content()


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


def misplaced(opened: Any, strength: float, audit: eh.Audit) -> set[str]:
    """The metrics for which the page, moved to a strength, shows another score than the library computes."""
    opened.locator(".card[open] input[type=range]").first.fill(str(strength))
    found = opened.eval_on_selector_all(
        "[data-smoothed]",
        "cells => cells.map(c => [c.closest('.card').querySelector('.name').textContent, "
        "c.closest('tr').querySelector('th small').textContent, c.textContent])",
    )
    wrong = set()
    for group, metric, text in found:
        cm = eh.ConfusionMatrix.from_array(SOME[group])
        rest = sum((matrix(*c) for name, c in SOME.items() if name != group), matrix(0, 0, 0, 0))
        expected = float(eh.metric(metric)(eh.cross_prior_smooth(cm, rest, strength)))
        if math.isfinite(expected):
            score, _, words = text.replace("−", "-").partition(" (")
            kept = f"λ {strength}{kept_words(metric, cm, rest, strength)})"
            if float(score.replace(",", "")) != pytest.approx(expected, rel=6e-3, abs=6e-4) or words != kept:
                wrong.add(metric)
    assert len(found) == sum(row.smoothed is not None for row in audit.rows) > 0
    return wrong


def test_the_pages_scores_of_every_metric_are_those_of_the_library(browser: Any, saved: Any, tmp_path: Path) -> None:
    audit, path = saved("every")
    opened = browser.new_page()
    errors, _ = monitored(opened)

    def load(text: str) -> None:
        file = tmp_path / "audit.html"
        file.write_text(text, "utf-8")
        opened.goto(file.as_uri())
        for card in opened.locator(".card").all():
            card.locator("summary").click()

    load(path.read_text("utf-8"))
    assert sum(row.smoothed is not None for row in audit.rows) > 150
    for strength in (0, 1, 10, 63, 100):
        assert misplaced(opened, strength, audit) == set()
    # Compared with everybody, a group is smoothed with the others all the same.
    everybody = eh.audit_counts(SOME, metrics=["acc", "tpr", "mcc"], reference="all")
    load(everybody.to_html())
    assert misplaced(opened, 63, everybody) == set()
    assert errors == []
    # The check itself: a formula that is three times as large is noticed.
    text = path.read_text("utf-8")
    tree = json.dumps(expression(eh.metric("kappa").formula), separators=(",", ":"))
    broken = text.replace(f'"tree":{tree}', f'"tree":["*",3,{tree}]')
    assert broken != text
    load(broken)
    assert misplaced(opened, 10, audit) == {"kappa"}
    opened.close()


def test_before_the_slider_is_moved_smoothed_scores_are_those_of_the_audit(report: Any) -> None:
    audit, opened = report("6", "#card-0")
    rows = rows_of(audit, *groups_of(audit)[0])
    for row in opened.locator("#card-0 tr[data-row]").all():
        expected = rows[row.locator("th small").text_content()]
        assert expected.smoothed is not None and isinstance(expected.smoothed.strength, dict)
        kept = "" if expected.shrinkage is None else f", keeps {expected.shrinkage:.0%}"
        strength = ", ".join(f"{split} {value:.3g}" for split, value in expected.smoothed.strength.items())
        assert row.locator("[data-smoothed]").text_content() == f"{shown(expected.smoothed)} (λ {strength}{kept})"


def test_names_that_look_like_markup_are_shown(report: Any) -> None:
    _, opened = report("hostile")
    name = HOSTILE.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b")
    assert name in mapped(opened) and name in listed(opened, ".card")
    opened.get_by_label("Search groups").fill("onerror=alert(1)")
    assert mapped(opened) == [name]
    opened.locator(".map tbody th").click()
    assert opened.locator(".card[open] figcaption").first.text_content() == name
    assert opened.locator("img").count() == 0


def test_two_thousand_hostile_names_are_text_on_the_page_and_in_print(report: Any) -> None:
    """Nothing is run, nothing is asked of anybody, and the printed page has no link and no picture of theirs."""
    audit, opened = report("2,000 hostile")
    assert len({row.group for row in audit.rows}) == 2_000
    assert opened.locator("img, iframe, object, embed, base, meta[http-equiv=refresh]").count() == 0
    assert opened.evaluate("[...document.querySelectorAll('a')].every(a => a.getAttribute('href')?.startsWith('#'))")
    handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(a => a.startsWith('on'))"
    assert opened.evaluate(handlers) == []
    opened.get_by_label("Search groups").fill("onerror=alert(1)")
    assert all("onerror=alert(1)" in name for name in mapped(opened))
    printed = opened.pdf()
    assert printed.startswith(b"%PDF")
    assert not any(word in printed for word in (b"/JavaScript", b"/URI (javascript", b"/Launch", b"/EmbeddedFile"))


def test_without_javascript_the_scores_are_there(browser: Any, saved: Any) -> None:
    for name, most in (("6", 6), ("398", 60)):
        audit, path = saved(name)
        context = browser.new_context(java_script_enabled=False)
        opened = context.new_page()
        opened.goto(path.as_uri())
        assert opened.locator(".plain tbody tr").count() == most
        first = opened.locator(".plain tbody tr").first.locator("th, td").all_text_contents()
        (by, group), *_ = groups_of(audit)
        rows = rows_of(audit, by, group)
        assert first == [group, f"{rows['tpr'].n:,}"] + [
            f"{row.verdict.sign}{'*' if row.driver else ''} {row.score:.3f}{row.low:.3f} to {row.high:.3f}"
            for row in (rows[key] for key in audit.settings["metrics"])
        ]
        said = " ".join(opened.locator("main").inner_text().split())
        assert ("… and 338 more groups, " in said) == (name == "398")
        assert not opened.locator("#filters").is_visible()
        rates = [f for f in audit.findings if f.kind == "four-fifths"]
        perhaps = any(row.impact_ratio < 0.8 and not row.is_below_four_fifths for row in audit.rows)
        assert opened.locator(".headlines li").count() == 5 + min(len(rates), 3) + perhaps
        context.close()


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [("6", "light", 1280), ("56", "dark", 768), ("398", "light", 375)],
)
def test_no_serious_accessibility_violation(
    browser: Any, saved: Any, violations: Any, name: str, scheme: str, width: int
) -> None:
    _, path = saved(name)
    # axe is put into the page by the test; the page's own policy would keep it out.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    errors, requests = monitored(opened)
    opened.goto(path.as_uri() + "#card-1")
    opened.locator("#card-1 .scores").wait_for()
    assert (errors, [url.partition("#")[0] for url in requests]) == ([], [path.as_uri()])
    assert violations(opened) == []
    context.close()


@pytest.mark.parametrize("name", ["every", "hostile", "6", "56", "398"])
def test_nothing_scrolls_sideways(report: Any, name: str) -> None:
    _, opened = report(name, "#card-1")
    for width in (1280, 768, 375):
        opened.set_viewport_size({"width": width, "height": 900})
        opened.wait_for_function("folded => document.querySelector('.map').classList.contains('folded') === folded",
                                 arg=width < 900 or name == "every")  # fmt: skip
        wide = opened.evaluate(
            "() => [document.documentElement, ...document.querySelectorAll('main *')].filter(node => "
            "node.scrollWidth > node.clientWidth + 1 && ['auto', 'scroll', 'hidden'].includes("
            "getComputedStyle(node).overflowX) && node.clientWidth > 1).map(node => node.outerHTML.slice(0, 80))"
        )
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert wide == [], width


@pytest.mark.parametrize("name", ["6", "398"])
def test_on_paper_there_is_a_page_of_summary_and_then_everything(report: Any, name: str) -> None:
    audit, opened = report(name)
    # What is left of A4 within its margins, at 96 pixels per inch.
    wide, high = 688, 998
    opened.set_viewport_size({"width": wide, "height": high})
    opened.emulate_media(media="print")
    opened.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.locator(".first").evaluate("node => node.getBoundingClientRect().bottom") < high
    assert opened.locator(".paper table tbody tr").count() == len(groups_of(audit))
    assert listed(opened, ".paper .block") == with_findings(audit)
    assert opened.evaluate("document.documentElement.scrollWidth") <= wide
    cut = "nodes => nodes.filter(n => n.getBoundingClientRect().right > innerWidth + 1).length"
    assert opened.eval_on_selector_all(".paper table, .paper .block, .first *", cut) == 0
    assert not opened.locator("#filters").is_visible()
    opened.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert opened.locator(".paper *").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_have_the_colours_that_they_say_they_have(report: Any, scheme: str) -> None:
    audit, opened = report("hostile", color_scheme=scheme)
    for verdict in {row.verdict for row in audit.rows if row.verdict != "undefined"}:
        colour = verdict.dark if scheme == "dark" else verdict.colour
        rgb = f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
        mark = opened.locator(f".map .mark.{verdict.css}").first
        assert mark.evaluate("mark => getComputedStyle(mark).stroke") == rgb
        assert (mark.evaluate("mark => getComputedStyle(mark).fill") == rgb) == verdict.filled
