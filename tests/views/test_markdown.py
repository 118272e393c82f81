"""An audit as Markdown: tables with every row, and names from data that are only text."""

from __future__ import annotations

import re

import cmarkgfm
import pytest
from shown_audits import AUDITS, CLASSES, COMPAS, HOLES, SCORED, SIGNS, STRANGE, STRATA, THRESHOLDS, at_thresholds


def tables_of(text: str) -> dict[str, list[list[str]]]:
    """The rows of the table below each heading."""
    found: dict[str, list[list[str]]] = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        title, *lines = part.splitlines()
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
        if rows:
            found[title] = [[cell.strip() for cell in row] for row in rows]
    return found


@pytest.mark.parametrize("name", AUDITS)
def test_every_line_of_a_table_has_as_many_cells_as_its_head(name: str) -> None:
    for rows in tables_of(AUDITS[name].to_markdown()).values():
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 2


def test_all_rows_are_in_the_table() -> None:
    head, _, *rows = tables_of(COMPAS.to_markdown())["All scores"]
    assert head == ["group", "metric", "n", "rests on", "score", "its interval", "versus", "gap", "95% interval",
                    "p unadjusted", "p", "smoothed", "verdict"]  # fmt: skip
    for cells, row in zip(rows, COMPAS.rows, strict=True):
        assert row.score is not None and row.smoothed is not None
        star = r"\*" if row.driver else ""
        assert cells[:5] == [
            row.group,
            row.metric,
            f"{row.n:,}",
            " and ".join(f"{k:,}" for k in row.denominators),
            f"{row.score:.3f}",
        ]
        assert cells[-1] == f"{SIGNS[row.verdict.value]}{star} {row.verdict}"
        assert cells[-2].startswith(f"{row.smoothed:.3f} (λ prev "), "beside its raw score"


def test_findings_have_their_severity_and_code() -> None:
    text = COMPAS.to_markdown()
    assert text.count("- **alert** (EH101) ") == sum(f.kind == "differs" for f in COMPAS.findings)
    assert text.count("- **") == len(COMPAS.findings)
    placed = THRESHOLDS.to_markdown()
    for threshold in (0.3, 0.5, 0.7):
        n = sum(f.at.get("threshold") == threshold for f in THRESHOLDS.findings)
        assert len(re.findall(rf"^- \*\*\w+\*\* \(EH\d+\) Threshold {threshold}: ", placed, re.MULTILINE)) == n


def test_undefined_scores_say_why() -> None:
    assert "no actual positives (TP + FN = 0)" in HOLES.to_markdown()
    text = at_thresholds(SCORED, [0.3, 2.0], metrics="ppv").to_markdown()
    assert len(re.findall(r"\| ✕ undefined \|$", text, re.MULTILINE)) == 4
    assert "✕ no predicted positives (TP + FP = 0)." in text


def test_axes_have_tables_of_their_own() -> None:
    tables = tables_of(CLASSES.to_markdown())
    assert tables["Scores of all classes"][0][:4] == ["group", "n", "macro tpr", "macro ppv"]
    assert tables["True positive rate (tpr)"][0] == ["group", "n", "x", "y", "z"]
    pooled = tables_of(STRATA.to_markdown())["Pooled over strata"]
    assert {"odds ratio", "strata", "crude", "crude p"} <= set(pooled[0])
    assert len(pooled) == 2 + sum(row.is_pooled for row in STRATA.rows)


def test_names_from_data_are_only_text() -> None:
    text = STRANGE.to_markdown()
    assert "<img" not in text and "\u202e" not in text and "\x1b" not in text
    page = cmarkgfm.github_flavored_markdown_to_html(text)
    assert "<img" not in page and "<a " not in page
    assert not re.search(r"<(?!/?(?:h[1-6]|p|ul|li|table|thead|tbody|tr|th|td|strong)\b)", page)
