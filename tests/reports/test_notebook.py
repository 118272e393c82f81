"""Results as notebooks show them: compact, legible on light and dark, and nothing from data that acts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from matrices import matrix
from shown_audits import AUDITS, COMPAS, HOLES, HOSTILE, STRANGE

import evenhand as eh

GROUP, REST = matrix(3, 1, 0, 6), matrix(116, 177, 554, 2429)


def parse(html: str) -> ElementTree.Element:
    """What a notebook would show, which is valid XML, too; without anything that acts."""
    page = ElementTree.fromstring(f"<page>{html}</page>")
    acting = {"class", "src", "href"}
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on") or name in acting]
    assert not {"style", "script", "img"} & {element.tag for element in page.iter()}
    return page


def rows_of(page: ElementTree.Element) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]


def test_an_audit_has_every_score_once_with_its_verdict() -> None:
    page = parse(COMPAS._repr_html_())
    head, *body = rows_of(page)
    assert head == ["group", "n", "ppr", "tpr", "fpr", "ppv", "acc"]
    assert {row[0]: row[1] for row in body} == {name: f"{int(cm.n):,}" for name, cm in eh.examples.compas().items()}
    rows = {(row.group, row.metric): row for row in COMPAS.rows}
    for name, _, *scores in body:
        for key, score in zip(head[2:], scores, strict=True):
            row, (sign, number) = rows.pop((name, key)), score.split()
            assert sign.rstrip("*") == row.verdict.sign
            assert float(number) == pytest.approx(row.score, abs=5.1e-4)
    assert not rows
    titles = " ".join(element.get("title", "") for element in page.iter())
    assert "true positive rate 0.720 (n = 1,901), higher than 0.493 in the rest; difference +0.227" in titles
    text = "".join(page.itertext())
    assert all(text.count(sentence) == 1 for sentence in re.findall(r"\d+% of [^.]+\.", text))


def test_every_audit_is_escaped_and_has_no_flags_of_the_command() -> None:
    for audit in AUDITS.values():
        html = audit._repr_html_()
        page = parse(html)
        assert {row.verdict.sign for row in audit.rows} <= set(html)
        assert " --" not in "".join(page.itertext()) and len(rows_of(page)) > 3
    html = STRANGE._repr_html_()
    assert "\u202e" not in html and "\x1b" not in html and HOSTILE.split()[0].replace("<", "&lt;") in html


def test_many_groups_are_cut_and_names_are_told_apart() -> None:
    many = eh.audit_counts({f"group {i}": (i % 7, 9, i % 5, 20 + i) for i in range(60)}, metrics="tpr")._repr_html_()
    assert len(rows_of(parse(many))) == 41 and "… and 20 more groups" in many
    a = eh.audit_counts(dict.fromkeys(["White", "White ", " White", ""], (9, 6, 4, 21)), metrics="tpr")
    assert {row[0] for row in rows_of(parse(a._repr_html_()))[1:]} == {"White", "White␣", "␣White", "''"}


def test_every_result_has_a_compact_view() -> None:
    undefined = next(row for row in HOLES.rows if row.lacks_score)
    for result, *parts in (
        (eh.match_test(GROUP, REST, "tpr"), "p = 0.357"),
        (eh.match_test(matrix(0, 0, 2, 6), REST, "tpr"), "no actual positives"),
        (eh.interval(GROUP, "tpr"), "0.2423"),
        (eh.disparity(GROUP, REST, "tpr"), "0.354", "-0.208"),
        (eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)), "0.2311"),
        (eh.cross_prior_smooth(GROUP, REST, 10), "1.67705"),
        (eh.check_prior(GROUP, REST), "doubtful"),
        (COMPAS.rows[0], "▲", "0.588", "3,696", "&lt; 0.001"),
        (undefined, "TP + "),
        (COMPAS.findings[0], COMPAS.findings[0].code),
    ):
        html = result._repr_html_()
        parse(html)
        assert len(html) < 8000 and all(part in html for part in parts), (result, html)
