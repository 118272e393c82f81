"""Numbers and names as text: a printed number is on its side of a limit, and no two names look alike."""

from __future__ import annotations

from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.inference import check_prior, match_test
from evenhand.wording import legible, numbered, pvalue


def side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def printed(text: str) -> float:
    relation, number = text.split()
    return float(number) * (0.999 if relation == "<" else 1.0)


@given(level=st.sampled_from([0.01, 0.05, 0.1]), away=st.floats(-0.006, 0.006))
def test_a_printed_p_value_is_on_its_side_of_the_usual_levels(level: float, away: float) -> None:
    p = level + away
    if abs(away) > 1e-12:
        assert side(printed(pvalue(p)), level) == side(p, level)


@given(alpha=st.floats(1e-6, 0.5), share=st.floats(0.9, 1.1))
def test_a_printed_p_value_is_on_its_side_of_alpha(alpha: float, share: float) -> None:
    p = alpha * share
    if abs(p - alpha) > 1e-11:
        assert side(printed(pvalue(p, alpha)), alpha) == side(p, alpha)


def test_a_p_value_has_three_decimals_where_they_decide() -> None:
    shown = {0.05: "= 0.050", 0.0494: "= 0.049", 0.0495: "= 0.0495", 0.0504: "= 0.0504", 0.04996: "= 0.04996"}
    shown |= {0.3: "= 0.300", 0.0004: "< 0.001", 0.0012: "= 0.001", 1.0: "= 1.000"}
    assert {p: pvalue(p) for p in shown} == shown


FEW, MANY = eh.ConfusionMatrix(tp=3, fn=0, fp=0, tn=7), eh.ConfusionMatrix(tp=100, fn=0, fp=0, tn=900)
CLOSE = {"few": FEW, "many": MANY}


def test_every_view_of_a_p_value_just_below_alpha_shows_it_below() -> None:
    """3 of 10 against 100 of 1,000: alpha is set so close to the p-value that three decimals do not decide."""
    p = eh.audit_counts(CLOSE, metrics="ppr").rows[0].p_adjusted
    assert p is not None
    for alpha, verdicts in ((p + 1e-5, {"higher", "lower"}), (p - 1e-5, {"inconclusive"})):
        a = eh.audit_counts(CLOSE, metrics="ppr", alpha=alpha)
        assert {row.verdict.value for row in a.rows} == verdicts
        shown_in_text = [float(word) for word in a.to_text(None).split() if word[:1] == "." and word[1:].isdigit()]
        assert [side(one, alpha) for one in shown_in_text] == [side(p, alpha)] * 2
        rounded = pvalue(p, alpha).removeprefix("= ")
        assert f'<td class="num">{rounded}</td>' in a.to_html()
        assert f"| {rounded.replace('_', '')} |" in a.to_markdown().replace("\\", "")
        for finding in a.findings:
            if finding.kind == "differs":
                assert f"p {pvalue(p, alpha)}" in finding.sentence


def test_tests_print_the_digits_that_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    found = match_test(FEW, MANY, "ppr")
    for p in (0.049996, 0.050004):
        assert f"{p:.6g}" in str(replace(found, pvalue=p))
    monkeypatch.setattr("evenhand.inference.prior_check.homogeneity_pvalue", lambda *_: (0.0496, "exact"))
    assert any("equal rates: p = 0.0496 (exact)" in reason for reason in check_prior(FEW, MANY).reasons)


@pytest.mark.parametrize(("value", "target", "text"), [(0.7996, 0.8, "79.96%"), (0.80004, 0.8, "80.004%"),
                                                       (0.8, 0.8, "80%"), (0.8123, 0.8, "81.2%")])  # fmt: skip
def test_a_plan_shows_on_which_side_of_its_goal_it_is(value: float, target: float, text: str) -> None:
    plan = eh.sample_size("acc", eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), difference=-0.2)
    assert f"with a power of {text}" in str(replace(plan, value=value, target=target))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a", "a"),
        ("a ", "a␣"),
        (" a", "␣a"),
        ("a  b", "a␣␣b"),
        ("a b", "a b"),
        ("", "''"),
        ("a\u200b\x1b", "a\\u200b\\x1b"),
        ("x" * 500, "x" * 200 + "…" + "x" * 200),
    ],
)
def test_nothing_is_hidden(name: str, shown: str) -> None:
    assert legible(name) == shown


@given(names=st.lists(st.text(max_size=12), min_size=1, max_size=8, unique=True))
def test_no_two_names_look_alike(names: list[str]) -> None:
    shown = numbered({name: legible(name) for name in names})
    assert len({normalize("NFKC", name) for name in shown.values()}) == len(names)
    assert all(name.isprintable() for name in shown.values())


def test_names_that_differ_are_left_alone() -> None:
    assert numbered({1: "Asian", 2: "White"}) == {1: "Asian", 2: "White"}
    assert list(numbered({1: "\u00e9", 2: "e\u0301"}).values()) == ["\u00e9", "e\u0301 (2)"]
