"""Results as notebooks show them: compact, legible on light and dark, and nothing from data that acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matrices import matrix
from shown_audits import AUDITS, CLASSES, COMPAS, HOLES, HOSTILE, MANY, STRANGE, STRATA, THRESHOLDS

import evenhand as eh
from evenhand.inference import learn_spread
from evenhand.views.notebook import _bars

GROUP, REST = matrix(3, 1, 0, 6), matrix(116, 177, 554, 2429)


class Page(HTMLParser):
    """What a notebook would show: tags, styles, titles, and the cells of tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.styles = self.titles = ""
        self.inside = False
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        assert not [name for name in values if name.startswith("on") or name in ("class", "src", "href")]
        self.styles += values.get("style", "") + ";"
        self.titles += values.get("title", "") + "\n"
        self.inside = self.inside or tag == "tr"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows[-1]:
            self.rows[-1][-1] += data


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_notebook_shows_an_audit_as_a_map_with_every_score() -> None:
    page = Page(COMPAS._repr_html_())
    head, *body = page.rows
    assert head == ["group", "n", "ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev"]
    assert {row[0]: row[1] for row in body} == {name: f"{int(cm.n):,}" for name, cm in eh.examples.compas().items()}
    for name, _, *scores in body:
        for key, score in zip(head[2:], scores, strict=True):
            (row,) = [r for r in COMPAS.rows if (r.group, r.metric) == (name, key)]
            assert score.split()[0].rstrip("*") == row.verdict.sign
            assert score.split()[-1] == f"{row.score:.3f}"
    assert "inconclusive; rests on 9 cases; reference 0.626" in page.titles


@pytest.mark.parametrize("result", [COMPAS, HOLES, eh.interval(GROUP, "tpr")], ids=["a", "b", "c"])
def test_marks_are_legible_on_light_and_on_dark_and_text_has_the_colour_of_the_notebook(result: Any) -> None:
    html = result._repr_html_()
    text_colours = set(re.findall(r"(?<![-\w])color:([^;\"]+)", html)) - {"inherit"}
    shapes = set(re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", html)) - {"currentColor"}
    assert text_colours | shapes
    for colour in text_colours | shapes:
        for page in ("#ffffff", "#111111", "#1e1e1e"):
            assert contrast(colour, page) >= 3, colour
    assert "<style" not in html and "class=" not in html


@pytest.mark.slow
def test_hundreds_of_groups_and_many_metrics_stay_short_in_a_notebook() -> None:
    counts = {f"group {i}": (i % 7, 9, i % 5, 20 + i) for i in range(400)}
    metrics = [m.key for m in eh.list_metrics() if m.groups == 1 and m.shape != "pair"][:14]
    a = eh.audit_counts(counts, metrics=metrics)
    html = a._repr_html_()
    page = Page(html)
    assert len(page.rows) == 41
    assert len(page.rows[0]) == 2 + 12
    assert "… and 360 more groups" in html and "Not shown: 2 more metrics." in html
    assert page.tags.count("li") <= 16


DISTRIBUTION = eh.distribution("mcc", 20, REST)
VIEWS: dict[str, tuple[Any, list[str]]] = {
    "match": (eh.match_test(GROUP, REST, "tpr"), ["<svg", "p = 0.357"]),
    "undefined match": (eh.match_test(matrix(0, 0, 2, 6), REST, "tpr"), ["no actual positives"]),
    "interval": (eh.interval(GROUP, "tpr"), ["<svg", "0.2423 to 0.9875"]),
    "interval without end": (eh.interval(matrix(5, 0, 0, 5), "dor"), ["undefined"]),
    "difference": (eh.disparity(GROUP, REST, "tpr"), ["<svg", "0.750", "0.396"]),
    "ratio": (eh.disparity(GROUP, REST, "ppr", "ratio"), ["<svg", "0.300"]),
    "risk": (eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)), ["bias", "0.75"]),
    "smoothed": (eh.cross_prior_smooth(GROUP, REST, 10), ["1.67705", "strength 10"]),
    "empty, smoothed": (eh.cross_prior_smooth(matrix(0, 0, 0, 0), matrix(1, 1, 1, 1), 4), ["the group is empty"]),
    "distribution": (DISTRIBUTION, ["<svg", "mean", f"{DISTRIBUTION.mean:.4g}"]),
    "large distribution": (eh.distribution("mcc", 100_000, REST), ["100,000 cases"]),
    "two groups": (eh.distribution("ofi", (10, 20)), ["<svg", "10 and 20 cases"]),
    "prior": (eh.check_prior(GROUP, REST), ["<li>", "doubtful"]),
    "stress": (eh.stress_test({"A": matrix(30, 10, 12, 48), "B": matrix(20, 20, 30, 30)}, ["acc"], [5, 9], [2.0, 5.0]),
               ["λ = 2", "λ = 5", "Worst: "]),
    "undefined": (eh.undefined_table(5, ["tpr"])[0], ["6 of 56"]),
    "spread": (learn_spread({"A": GROUP, "B": REST}), ["groups spread like"]),
    "row": (COMPAS.rows[0], ["▲", "higher", "0.588", "3,696 of 3,696", "&lt; 0.001"]),
    "row with a hole": (HOLES.rows[-4], ["no actual positives"]),
    "finding": (COMPAS.findings[0], ["EH106"]),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_every_result_has_a_compact_view(name: str) -> None:
    result, parts = VIEWS[name]
    html = result._repr_html_()
    Page(html)
    assert len(html) < 8000
    for part in parts:
        assert part in html
    assert ("<svg" in html) == ("<svg" in parts)


@pytest.mark.parametrize("name", AUDITS)
def test_every_audit_shows_its_title_and_its_verdicts(name: str) -> None:
    html = AUDITS[name]._repr_html_()
    page = Page(html)
    assert html.startswith('<div tabindex="0"')
    assert {f"{row.verdict.sign}" for row in AUDITS[name].rows} <= set(html)
    assert len(page.rows) > 3
    assert "<style" not in html and "class=" not in html


def test_the_names_of_groups_can_be_told_apart() -> None:
    a = eh.audit_counts(dict.fromkeys(["White", "White ", " White", ""], (9, 6, 4, 21)), metrics="tpr")
    assert {row[0] for row in Page(a._repr_html_()).rows[1:]} == {"White", "White␣", "␣White", "''"}


def test_an_audit_with_axes_counts_verdicts_at_each_place() -> None:
    rows = Page(THRESHOLDS._repr_html_()).rows
    for threshold in (0.3, 0.5, 0.7):
        verdicts = [row.verdict.value for row in THRESHOLDS.rows if row.at["threshold"] == threshold]
        (shown,) = [row for row in rows if row[0] == f"threshold {threshold}"]
        assert shown[1:] == [
            str(verdicts.count(v))
            for v in ("higher", "lower", "inconclusive", "equivalent")
        ]  # fmt: skip
    assert ["group", "n", "0.3", "0.5", "0.7"] in rows
    assert ["group", "n", "art", "law", "maths"] in Page(STRATA._repr_html_()).rows
    assert "Scores of all classes" in CLASSES._repr_html_()


def test_long_tables_of_an_audit_with_axes_are_cut_and_say_so() -> None:
    large = MANY._repr_html_()
    assert "more group" not in large
    columns = {"a": [*"ABCDE"] * 40, "b": [*"vwxyz"] * 20 + [*"zyxwv"] * 20}
    answers = {"y": [0, 1] * 100, "s": [0.1, 0.6, 0.8] * 66 + [0.2] * 2}
    crossed = eh.audit(
        columns | answers, y_true="y", y_score="s", groups=["a", "b"], threshold=[0.3, 0.7], metrics="tpr"
    )._repr_html_()
    assert "more group" in crossed


def test_markup_in_names_is_shown_as_text() -> None:
    html = STRANGE._repr_html_()
    assert "<img" not in html and "\u202e" not in html and "\x1b" not in html
    assert HOSTILE.split()[0].replace("<", "&lt;") in html


def test_a_line_stands_at_the_observed_score() -> None:
    """Of 60 bars that are 4 wide and begin at 8, the one in which 0.5 lies between -1 and 1 is the 46th."""
    picture = _bars(np.array([-1.0, 0.0, 1.0]), np.array([0.2, 0.5, 0.3]), observed=0.5)
    (line,) = re.findall(r'<line x1="([\d.]+)" y1="0" x2="([\d.]+)"', picture)
    assert [float(x) for x in line] == [8 + 4 * 45 + 1.7] * 2
    assert re.findall(r'<rect x="(\d+)"', picture) == ["8", str(8 + 4 * 30), str(8 + 4 * 59)]
