"""Text in columns: nothing is lost, nothing is too wide, and columns are aligned."""

from __future__ import annotations

import unicodedata

from hypothesis import given, strategies as st

from evenhand.text_layout import aligned, columns, folded_text, text_table, tied, wrapped

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]))


def across(text: str) -> int:
    """The columns that a terminal needs."""
    drawn = [c for c in text if unicodedata.category(c) not in ("Mn", "Me")]
    return len(drawn) + sum(unicodedata.east_asian_width(c) in "WF" for c in drawn)


@given(text=TEXTS)
def test_wide_characters_take_two_columns_and_combining_ones_none(text: str) -> None:
    assert columns(text) == across(text) == columns(f"\x1b[31m{text}\x1b[0m")


@given(text=TEXTS, width=st.integers(2, 30))
def test_folded_text_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = folded_text(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(across(line) <= width for line in lines)


def test_formulas_percentages_and_p_values_stay_whole() -> None:
    sentence = "one two (TP + FN = 0) and 95% of them, adjusted p < 0.001 as well"
    for width in range(14, 70):
        lines = wrapped(sentence, width)
        assert " ".join(lines) == sentence
        for part in ("(TP + FN = 0)", "95%", "p < 0.001"):
            assert any(part in line for line in lines)


@given(rows=st.lists(st.tuples(st.text("ab ä漢", max_size=9), st.text("123", max_size=5)), min_size=1, max_size=6))
def test_columns_begin_and_end_where_they_should(rows: list[tuple[str, str]]) -> None:
    lines = aligned(rows, right=[1], between=" | ")
    left = max(across(first) for first, _ in rows)
    right = max(across(second) for _, second in rows)
    for line, (first, second) in zip(lines, rows, strict=True):
        padded = f"{first}{' ' * (left - across(first))} | {' ' * (right - across(second))}{second}"
        assert line == padded.rstrip()


def test_a_cell_may_span_those_behind_it_and_go_on_below() -> None:
    rows: list[list[str | None]] = [["a", "b", "c"], ["x", "a reason that is long", None]]
    assert aligned(rows, widths={0: 2, 1: 4, 2: 8}, between=" ") == ["a  b    c", "x  a reason that", "   is long"]
    assert aligned([["one\ntwo", "3"]], right=[1]) == ["one  3", "two"]


def test_the_widest_columns_to_the_left_make_room() -> None:
    table = text_table(["name", "n"], [["a very long name of something", "1"], ["b", "22"]], right=[1], width=20)
    assert table.splitlines() == [
        "name               n",
        "a very long name   1",
        "of something",
        "b                 22",
    ]
    assert all(len(line) <= 20 for line in table.splitlines())


def test_tied_texts_are_not_broken() -> None:
    dates = ["2013-02-09", "two words", "2013-02-10"]
    table = text_table(["day"], [[", ".join(map(tied, dates))]], width=24, after="")
    assert table.splitlines() == ["day", "2013-02-09, two words,", "2013-02-10"]
