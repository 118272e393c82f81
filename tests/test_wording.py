"""A printed number is on its side of a limit, no two names look alike, and columns are aligned."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.inference import check_prior, match_test
from evenhand.text_layout import aligned, columns, folded_text, text_table, tied, wrapped
from evenhand.wording import legible, number, numbered, pvalue


def side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


@given(alpha=st.sampled_from([0.01, 0.05, 0.1]) | st.floats(1e-6, 0.5), share=st.floats(0.9, 1.1))
def test_a_printed_p_value_is_on_its_side_of_alpha(alpha: float, share: float) -> None:
    """And of the usual levels, whatever alpha is."""
    p = alpha * share
    for limit in {alpha, 0.01, 0.05, 0.1}:
        relation, number = pvalue(p, alpha).split()
        if abs(p - limit) > 1e-11:
            assert side(float(number) * (0.999 if relation == "<" else 1.0), limit) == side(p, limit)


def test_numbers_have_three_decimals_where_they_decide() -> None:
    assert [number(value, 0.8) for value in (-0.0, 0.7996, 0.8, 0.0001)] == ["0.000", "0.7996", "0.800", "0.0001"]
    shown = {0.05: "= 0.050", 0.0494: "= 0.049", 0.0495: "= 0.0495", 0.0504: "= 0.0504", 0.04996: "= 0.04996"}
    shown |= {0.3: "= 0.300", 0.0004: "< 0.001", 0.0012: "= 0.001", 1.0: "= 1.000"}
    assert {p: pvalue(p) for p in shown} == shown


FEW, MANY = eh.ConfusionMatrix(tp=3, fn=0, fp=0, tn=7), eh.ConfusionMatrix(tp=100, fn=0, fp=0, tn=900)


def test_every_view_of_a_p_value_just_below_alpha_shows_it_below() -> None:
    """3 of 10 against 100 of 1,000: alpha is set so close to the p-value that three decimals do not decide."""
    groups = {"few": FEW, "many": MANY}
    p = eh.audit_counts(groups, metrics="ppr").rows[0].p_adjusted
    assert p is not None
    for alpha, verdicts in ((p + 1e-5, {"higher", "lower"}), (p - 1e-5, {"inconclusive"})):
        a = eh.audit_counts(groups, metrics="ppr", alpha=alpha)
        assert {row.verdict.value for row in a.rows} == verdicts
        in_text = [float(word) for word in a.to_text(None).split() if word[:1] == "." and word[1:].isdigit()]
        assert [side(one, alpha) for one in in_text] == [side(p, alpha)] * 2
        rounded = pvalue(p, alpha).removeprefix("= ")
        assert f'<td class="num">{rounded}</td>' in a.to_html()
        assert f"| {rounded} |" in a.to_markdown().replace("\\", "")
        assert all(f"p = {rounded}" in finding.sentence for finding in a.findings if finding.kind == "differs")


def test_tests_and_plans_print_the_digits_that_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    found = match_test(FEW, MANY, "ppr")
    for p in (0.049996, 0.050004):
        assert f"{p:.6g}" in str(replace(found, pvalue=p))
    monkeypatch.setattr("evenhand.inference.prior_check.homogeneity_pvalue", lambda *_: (0.0496, "exact"))
    assert any("equal rates: p = 0.0496 (exact)" in reason for reason in check_prior(FEW, MANY).reasons)
    plan = eh.sample_size("acc", eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), difference=-0.2)
    for value, text in ((0.7996, "79.96%"), (0.80004, "80.004%"), (0.8, "80%"), (0.8123, "81.2%")):
        assert f"with a power of {text}" in str(replace(plan, value=value, target=0.8))


def test_nothing_is_hidden() -> None:
    shown = {"a": "a", "a ": "a␣", " a": "␣a", "a  b": "a␣␣b", "a b": "a b", "": "''", "a\u200b\x1b": "a\\u200b\\x1b"}
    shown["x" * 500] = "x" * 200 + "…" + "x" * 200
    assert {name: legible(name) for name in shown} == shown


@given(names=st.lists(st.text(max_size=12), min_size=1, max_size=8, unique=True))
def test_no_two_names_look_alike(names: list[str]) -> None:
    shown = numbered({name: legible(name) for name in names})
    assert len({unicodedata.normalize("NFKC", name) for name in shown.values()}) == len(names)
    assert all(name.isprintable() for name in shown.values())
    assert numbered({1: "Asian", 2: "White"}) == {1: "Asian", 2: "White"}, "names that differ are left alone"
    assert list(numbered({1: "\u00e9", 2: "e\u0301"}).values()) == ["\u00e9", "e\u0301 (2)"]


# Text in columns


def across(text: str) -> int:
    """The columns that a terminal needs."""
    drawn = [c for c in text if unicodedata.category(c) not in ("Mn", "Me")]
    return len(drawn) + sum(unicodedata.east_asian_width(c) in "WF" for c in drawn)


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])), width=st.integers(2, 30))
def test_folded_text_loses_nothing_but_blanks_and_is_as_wide_as_it_is_drawn(text: str, width: int) -> None:
    assert columns(text) == across(text) == columns(f"\x1b[31m{text}\x1b[0m")
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
    left, right = (max(map(across, column)) for column in zip(*rows, strict=True))
    for line, (first, second) in zip(aligned(rows, right=[1], between=" | "), rows, strict=True):
        padded = f"{first}{' ' * (left - across(first))} | {' ' * (right - across(second))}{second}"
        assert line == padded.rstrip()


def test_a_cell_may_span_those_behind_it_and_wide_columns_to_the_left_make_room() -> None:
    rows: list[list[str | None]] = [["a", "b", "c"], ["x", "a reason that is long", None]]
    assert aligned(rows, widths={0: 2, 1: 4, 2: 8}, between=" ") == ["a  b    c", "x  a reason that", "   is long"]
    assert aligned([["one\ntwo", "3"]], right=[1]) == ["one  3", "two"]
    table = text_table(["name", "n"], [["a very long name of something", "1"], ["b", "22"]], right=[1], width=20)
    assert table.splitlines() == [
        "name               n", "a very long name   1", "of something", "b                 22",
    ]  # fmt: skip
    dates = ["2013-02-09", "two words", "2013-02-10"]
    table = text_table(["day"], [[", ".join(map(tied, dates))]], width=24, after="")
    assert table.splitlines() == ["day", "2013-02-09, two words,", "2013-02-10"], "tied texts are not broken"
