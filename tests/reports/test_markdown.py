"""An audit as Markdown: every row in one table, and names from data that are only text."""

from __future__ import annotations

import re

import cmarkgfm
import pytest
from shown_audits import AUDITS, COMPAS, HOLES, STRANGE

from evenhand.reports.summary import Summary


def rows_of(text: str) -> list[list[str]]:
    """The cells of the table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert len({len(row) for row in cells}) == 1
    return cells[2:]


def test_every_row_of_every_audit_is_in_the_table() -> None:
    for audit in AUDITS.values():
        assert len(rows_of(audit.to_markdown())) == len(audit.rows)


def test_numbers_are_those_of_the_rows() -> None:
    text = COMPAS.to_markdown()
    by_key = {(row.group, row.metric): row for row in COMPAS.rows}
    for group, metric, n, *numbers, verdict in rows_of(text):
        row = by_key.pop((group, metric))
        score, interval, reference, gap, gap_interval, p = (re.sub(r"\\", "", cell) for cell in numbers)
        low, high = map(float, interval.strip("[]").split(", "))
        gap_low, gap_high = map(float, gap_interval.strip("[]").split(", "))
        shown = [int(n.replace(",", "")), float(score), low, high, float(reference), float(gap), gap_low, gap_high]
        expected = [row.support, row.score, row.low, row.high, row.reference_score, row.gap, row.gap_low, row.gap_high]
        assert shown == pytest.approx(expected, abs=5.1e-4)
        assert (p == "&lt; 0.001") == (row.p_adjusted < 0.001)
        assert verdict == f"{row.verdict.sign} {row.verdict}"
    assert not by_key
    for finding in COMPAS.findings:
        assert f" {finding.code}: " in text
    for row in Summary(COMPAS).key_rows:
        assert f"{row.verdict.sign} {100 * row.score:.0f}% of " in text


def test_undefined_scores_say_why() -> None:
    assert "no actual positives (TP + FN = 0)" in HOLES.to_markdown()


def test_names_from_data_are_only_text() -> None:
    text = STRANGE.to_markdown()
    assert "<img" not in text and "\u202e" not in text and "\x1b" not in text
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    assert "<img" not in page and "<a " not in page
    assert not re.search(r"<(?!/?(?:h[1-6]|p|ul|li|table|thead|tbody|tr|th|td|strong)\b)", page)
