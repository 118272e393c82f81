"""An audit in a terminal: no line too long, no name lost, and a p-value on its side of alpha in every row."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from shown_audits import AUDITS, BEST, COMPAS, HOLES, HOSTILE, MODELS, SIGNS, THRESHOLDS

import evenhand as eh
from evenhand.reports import as_text
from evenhand.text_layout import columns

LONG = "Native Hawaiian and other Pacific Islander, among them Samoan, Chamorro and Fijian people"
NAMES = (LONG, f"{LONG} (2)", "北海道の住民とその家族全員" * 2, "e\u0301" * 30, HOSTILE, "White", "White ", "")
WIDTHS = (40, 46, 53, 60, 71, 80, 100, 140, 200)
EXAMPLE = eh.audit_counts(
    eh.examples.compas(),
    by="race",
    favourable="negative",
    wording={"cases": "defendants", "outcome": "charged again", "decision": "called risky"},
)


def table_of(text: str) -> list[str]:
    """The head and the lines of the table."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"group +metric", line))
    return lines[start : lines.index("", start)] if "" in lines[start:] else lines[start:]


@pytest.fixture(scope="module")
def hostile() -> eh.Audit:
    """Groups with names of every kind, half of which differ."""
    return eh.audit_counts(
        {name: ((90, 10, 40, 60) if i % 2 else (30, 70, 10, 90)) for i, name in enumerate(NAMES)},
        metrics=["tpr", "fpr", "ppr", "equal_opportunity"],
        favourable="positive",
    )


def test_the_example_takes_25_to_30_lines_of_80_columns() -> None:
    for is_command in (False, True):
        lines = as_text(EXAMPLE, is_command=is_command).splitlines()
        assert 25 <= len(lines) <= 30 and max(map(columns, lines)) <= 80
    assert lines[0] == "evenhand audit: 7,214 defendants, race (6 groups)"
    assert lines[3] == "16 of 30 comparisons differ, 4 equivalent, 10 inconclusive, 0 undefined"
    assert lines[-1] == "More: --all  --explain  --html report.html"
    assert "--" not in as_text(EXAMPLE)
    starts = [line[:17].strip() for line in table_of("\n".join(lines))[1:-1]]
    assert list(filter(None, starts)) == ["African-American", "Other", "Caucasian", "Hispanic", "Asian"], (
        "largest bounds first"
    )


def test_no_line_is_longer_than_the_terminal(hostile: eh.Audit) -> None:
    for audit in (EXAMPLE, hostile, *AUDITS.values()):
        for width in WIDTHS if audit is hostile else (40, 80):
            for most, explain in ((12, False), (None, width == 40)):
                text = as_text(audit, most, width=width, explain=explain)
                assert max(map(columns, text.splitlines())) <= width, (width, text)
                assert all(c.isprintable() or c == "\n" or c == "\u0301" for c in text)
                assert "\n\n\n" not in text


def test_the_p_value_and_the_verdict_of_every_row_are_in_the_table(hostile: eh.Audit) -> None:
    for audit in (EXAMPLE, hostile, THRESHOLDS, HOLES):
        for width in WIDTHS:
            head, *lines = table_of(as_text(audit, None, width=width))
            assert head.endswith(" p")
            assert len(lines) == len(audit.rows)
            shown = sorted(re.findall(r" (<?\.\d+|1|-) ([▲▼≠✕□●◆–])", "\n".join(lines)))
            p = [row.p_adjusted for row in audit.rows]
            assert sum(one[0] == "<.001" for one in shown) == sum(value < 0.001 for value in p)
            assert sorted(sign for _, sign in shown) == sorted(SIGNS[row.verdict.value] for row in audit.rows)


@settings(max_examples=40)
@given(
    names=st.lists(st.text(max_size=60), min_size=2, max_size=6, unique=True),
    ends=st.tuples(st.text(max_size=40), st.text(max_size=40)),
    width=st.integers(40, 140),
)
def test_no_two_groups_look_alike_however_they_are_called(names: list[str], ends: Any, width: int) -> None:
    start, end = ends
    a = eh.audit_counts({start + name + end: (9, 6, 4, 21) for name in names}, metrics="tpr")
    text = as_text(a, None, width=width)
    lines = table_of(text)[1:]
    shown = {re.split(r" +tpr ", line)[0] for line in lines}
    assert len(shown) == len(lines) == len(names)
    assert max(map(columns, text.splitlines())) <= width


def test_groups_that_mirror_each_other_have_one_row_unless_all_are_shown() -> None:
    a = eh.audit_counts({"A": (100, 0, 60, 40), "B": (500, 0, 20, 480)}, favourable="positive")
    short, long = table_of(as_text(a)), table_of(as_text(a, None))
    differing = [row for row in a.rows if row.differs]
    assert len(short) - 1 == len(differing) / 2 and len(long) - 1 == len(a.rows)
    assert not any(line.startswith("…") for line in short)
    assert "worse" in "".join(short), "the group that is worse off is the one that is shown"
    # Ratios mirror each other, too; groups of one size that are compared with a third do not.
    ratio = eh.audit_counts({"A": (100, 0, 60, 40), "B": (500, 0, 20, 480)}, metrics="lr_plus")
    assert len(table_of(as_text(ratio))) == 2
    counts = {"A": (80, 20, 0, 0), "B": (20, 80, 0, 0), "C": (80, 20, 0, 0)}
    third = eh.audit_counts(counts, metrics="tpr", reference="B")
    assert [line[0] for line in table_of(as_text(third))[1:]] == ["A", "C"]


def test_scores_and_gaps_are_those_of_the_rows() -> None:
    rows, name = {(row.group, row.metric): row for row in COMPAS.rows}, ""
    for line in table_of(as_text(COMPAS, None, width=120))[1:]:
        found = re.match(r"(\S[\w -]*?)? +(ppr|tpr|fpr|ppv|acc) +([\d,]+) ([\d.]+) ([\d.]+) ([+-][\d.]+)", line)
        assert found
        name = found[1] or name
        row = rows.pop((name, found[2]))
        shown = [float(found[i].replace(",", "")) for i in (3, 4, 5, 6)]
        assert shown == pytest.approx([row.support, row.score, row.reference_score, row.gap], abs=5.1e-4)
    assert not rows


def test_the_head_says_who_is_compared_with_whom() -> None:
    given = eh.ConfusionMatrix(tp=3, fn=4, fp=5, tn=6)
    references: dict[Any, str] = {"rest": "the rest", "all": "all cases", "Other": "Other", given: "the given matrix"}
    for reference, words in references.items():
        a = eh.audit_counts(eh.examples.compas(), metrics="tpr", reference=reference)
        assert as_text(a).splitlines()[1] == f"Each group against {words}; assumes independent cases"
    counts = {("a", "x"): (9, 6, 4, 21), ("b", "x"): (30, 10, 12, 48), ("a", "y"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=["one", "two"], metrics="tpr", reference={"one": "a"})
    assert "Each group against a (one), the rest (one & two), the rest (two); " in " ".join(as_text(a).split())
    assert "new against old" in as_text(MODELS).splitlines()[0]


def test_nothing_is_called_equal_and_what_was_not_tested_is_said() -> None:
    same = eh.audit_counts({"A": (100, 50, 50, 100), "B": (101, 49, 50, 100)}, metrics="tpr")
    assert "No difference was found. This does not mean that the groups are equal." in as_text(same)
    assert "Nothing could be tested." in as_text(BEST) and "No difference" not in as_text(BEST)


def test_colours_change_nothing_else() -> None:
    for explain in (False, True):
        painted = as_text(COMPAS, colour=True, explain=explain)
        assert "\x1b[33m▲" in painted and "\x1b[34m▼" in painted
        assert re.sub(r"\x1b\[\d+m", "", painted) == as_text(COMPAS, explain=explain)


def test_lines_below_the_table() -> None:
    text = " ".join(as_text(EXAMPLE).split())
    for words in (
        "Impact ratio (favourable: not called risky; highest rate: Other)",
        "African-American 0.521 (at most 0.592), below 0.80",
        "Inconclusive: Native American 5 of 5, Asian 3",
        "80% power at a gap of 0.1: Hispanic ppv, 134 more defendants called risky",
        "* Driven by one group: Caucasian ppr, fpr and tpr ▼ is ▲ without African-American; 4 more",
        "A difference is not an explanation.",
    ):
        assert words in text
    constant: dict[str, Any] = {"y": [1, 0, 1, 0], "p": [1, 1, 1, 1], "g": list("aabb")}
    warned = as_text(eh.audit(constant, y_true="y", y_pred="p", groups="g"))
    assert warned.split("\n\n")[1].startswith("Warning: Every prediction of all 4 cases is positive")
