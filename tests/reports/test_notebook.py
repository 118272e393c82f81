"""Results as notebooks show them: compact, legible on light and dark, and nothing from data that acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from matrices import matrix
from shown_audits import AUDITS, COMPAS, HOLES, HOSTILE, STRANGE

import evenhand as eh

GROUP, REST = matrix(3, 1, 0, 6), matrix(116, 177, 554, 2429)


class Page(HTMLParser):
    """What a notebook would show: tags, tooltips, and the cells of tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.titles = self.text = ""
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        assert not [name for name in values if name.startswith("on") or name in ("class", "src", "href")]
        self.titles += values.get("title", "") + "\n"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_an_audit_has_every_score_once_with_its_verdict() -> None:
    page = Page(COMPAS._repr_html_())
    head, *body = page.rows
    assert head == ["group", "n", "ppr", "tpr", "fpr", "ppv", "acc"]
    assert {row[0]: row[1] for row in body} == {name: f"{int(cm.n):,}" for name, cm in eh.examples.compas().items()}
    rows = {(row.group, row.metric): row for row in COMPAS.rows}
    for name, _, *scores in body:
        for key, score in zip(head[2:], scores, strict=True):
            row = rows.pop((name, key))
            assert score.split()[0].rstrip("*") == row.verdict.sign
            assert float(re.search(r"\d\.\d{3}", score)[0]) == pytest.approx(row.score, abs=5.1e-4)  # type: ignore[index]
    assert not rows
    assert "true positive rate 0.720 (n = 1,901), higher than 0.493 in the rest; difference +0.227" in page.titles
    for sentence in re.findall(r"\d+% of [^.]+\.", page.text):
        assert page.text.count(sentence) == 1


def test_every_audit_is_escaped_and_has_no_flags_of_the_command() -> None:
    for audit in AUDITS.values():
        html = audit._repr_html_()
        page = Page(html)
        assert html.startswith('<div tabindex="0"') and "<style" not in html and "<script" not in html
        assert {row.verdict.sign for row in audit.rows} <= set(html)
        assert " --" not in page.text and len(page.rows) > 3
    html = STRANGE._repr_html_()
    assert "<img" not in html and "\u202e" not in html and "\x1b" not in html
    assert HOSTILE.split()[0].replace("<", "&lt;") in html


def test_many_groups_are_cut_and_names_are_told_apart() -> None:
    many = eh.audit_counts({f"group {i}": (i % 7, 9, i % 5, 20 + i) for i in range(60)}, metrics="tpr")._repr_html_()
    assert len(Page(many).rows) == 41 and "… and 20 more groups" in many
    a = eh.audit_counts(dict.fromkeys(["White", "White ", " White", ""], (9, 6, 4, 21)), metrics="tpr")
    assert {row[0] for row in Page(a._repr_html_()).rows[1:]} == {"White", "White␣", "␣White", "''"}


RESULTS: dict[str, tuple[Any, list[str]]] = {
    "match": (eh.match_test(GROUP, REST, "tpr"), ["p = 0.357"]),
    "undefined match": (eh.match_test(matrix(0, 0, 2, 6), REST, "tpr"), ["no actual positives"]),
    "interval": (eh.interval(GROUP, "tpr"), ["0.2423"]),
    "difference": (eh.disparity(GROUP, REST, "tpr"), ["0.354", "-0.208"]),
    "risk": (eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)), ["0.2311"]),
    "smoothed": (eh.cross_prior_smooth(GROUP, REST, 10), ["1.67705"]),
    "prior": (eh.check_prior(GROUP, REST), ["doubtful"]),
    "row": (COMPAS.rows[0], ["▲", "0.588", "3,696", "&lt; 0.001"]),
    "undefined row": (next(row for row in HOLES.rows if row.lacks_score), ["TP + "]),
    "finding": (COMPAS.findings[0], [COMPAS.findings[0].code]),
}


def test_every_result_has_a_compact_view() -> None:
    for name, (result, parts) in RESULTS.items():
        html = result._repr_html_()
        Page(html)
        assert len(html) < 8000, name
        assert all(part in html for part in parts), (name, html)
