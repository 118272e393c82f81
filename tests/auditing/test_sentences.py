"""Headlines are true: what they count, what they call sure, and what they say could not be told."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit_oracle import row
from hypothesis import given, settings, strategies as st

import evenhand as eh
from evenhand.auditing import Row, Tier, Verdict, compared_with, headlines, needed_text, tier, untold
from evenhand.examples import compas
from evenhand.wording import span_text

RATES = [
    *("acc", "inacc", "prev", "nprev", "ppr", "pnr", "tpr", "fnr", "fpr", "tnr"),
    *("ppv", "fdr", "npv", "for", "jaccard"),
]
cells = st.tuples(*[st.integers(0, 400)] * 4)
SENTENCE = re.compile(
    r"Of (the )?([\d,]+) (.+?) in (.+?), (about )?([\d,]+) (was|were) (.+?); "
    r"of (the )?([\d,]+) (.+?), (about )?([\d,]+)\."
    r"(?: At least ([\d,]+) (more|fewer) per ([\d,]+)\.| The gap is [+-]\d.\d+ \(95 % interval .+? to .+?\)\.)"
    r"(?: This depends on one group: if .+ were left out of the comparison, the verdict on .+ would be: .+\.)?"
)
KINDS = {
    "cases": {"tp", "fn", "fp", "tn"},
    "actual positives": {"tp", "fn"},
    "actual negatives": {"fp", "tn"},
    "predicted positives": {"tp", "fp"},
    "predicted negatives": {"fn", "tn"},
    "actual or predicted positives": {"tp", "fn", "fp"},
    "actually positive": {"tp", "fn"},
    "actually negative": {"fp", "tn"},
    "predicted positive": {"tp", "fp"},
    "predicted negative": {"fn", "tn"},
    "predicted correctly": {"tp", "tn"},
    "predicted wrongly": {"fn", "fp"},
    "both": {"tp"},
}


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def share(matrix: dict[str, int], of: set[str], what: set[str]) -> Fraction:
    return Fraction(sum(matrix[c] for c in of & what), sum(matrix[c] for c in of))


def matrices(r: Row) -> list[dict[str, int]]:
    assert r.cells is not None and r.reference.cells is not None
    return [dict(zip(("tp", "fn", "fp", "tn"), some, strict=True)) for some in (r.cells, r.reference.cells)]


def check_counts(sentence: str, r: Row) -> None:
    """The counts are those of the matrices, and "at least" is not more than the bound of the row says."""
    found = SENTENCE.fullmatch(sentence)
    assert found, sentence
    all_, of, kind, _, about, n, verb, what, all2, of2, _, about2, n2, sure, way, per = found.groups()
    for matrix, exactly, size, hedged, counted in zip(
        matrices(r), (all_, all2), (of, of2), (about, about2), (n, n2), strict=True
    ):
        members = KINDS[kind if kind in KINDS else kind + "s"]
        rate = share(matrix, members, KINDS[what])
        if exactly:
            assert whole(size) == sum(matrix[c] for c in members)
        else:
            assert whole(size) <= sum(matrix[c] for c in members)
        assert abs(whole(counted) - rate * whole(size)) <= Fraction(1, 2)
        assert bool(hedged) == (whole(counted) != rate * whole(size))
        assert (whole(counted) == 0) <= (rate == 0)
        assert (whole(counted) == whole(size)) <= (rate == 1)
    assert (verb == "was") == (whole(n) == 1)
    assert r.gap.low is not None and r.gap.high is not None
    if sure is not None:
        assert r.gap.at_least is not None
        assert 1 <= whole(sure) <= whole(per) * r.gap.at_least
        assert (way == "more") == (r.verdict == "higher")
    else:
        assert r.gap.at_least is None


@settings(max_examples=20)
@given(
    groups=st.lists(cells, min_size=2, max_size=5),
    metrics=st.lists(st.sampled_from(RATES), min_size=1, max_size=3, unique=True),
    favourable=st.sampled_from(["positive", "negative"]),
)
def test_headlines_count_what_is_in_the_matrices(
    groups: list[tuple[int, ...]], metrics: list[str], favourable: Any
) -> None:
    a = eh.audit_counts(
        {f"g{i}": (tp + 1, fn + 1, fp + 1, tn + 1) for i, (tp, fn, fp, tn) in enumerate(groups)},
        metrics=metrics,
        favourable=favourable,
    )
    said = headlines(a.rows, a.settings)
    assert len(said) <= 5
    assert bool(said) == any(r.differs for r in a.rows)
    for h in said:
        r = row(a, h.group, h.metric)
        assert r.differs
        check_counts(h.sentence, r)
        assert h.harms == (eh.metric(h.metric).worse(favourable) == r.verdict)
        assert f" in {h.group}," in h.sentence


@pytest.mark.parametrize(
    ("small", "large", "metric", "sentence"),
    [
        # Fewer than 100 cases are all of them; a rate that would round to none or all is told of more people.
        ((9, 41, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 9 were predicted positive; of 100 among the others, 90. "
         "At least 58 fewer per 100."),
        ((1, 49, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 1 was predicted positive; of 100 among the others, 90. "
         "At least 79 fewer per 100."),
        ((0, 0, 40, 99_960), (5, 5, 1, 99_999), "fpr",
         "Of 100,000 actual negatives in A, 40 were predicted positive; of 100,000 among the others, 1. "
         "At least 26 more per 100,000."),
    ],
)  # fmt: skip
def test_a_headline_in_words(small: Any, large: Any, metric: str, sentence: str) -> None:
    a = eh.audit_counts({"A": small, "B": large}, metrics=metric)
    (found,) = [r for r in a.rows if r.group == "A"]
    said = [h.sentence for h in headlines([found, *(r for r in a.rows if r.group != "A")], a.settings)]
    check_counts(sentence, found)
    # The two groups are each other's reference: one sentence is enough.
    assert said == [sentence]


def test_headlines_name_their_reference() -> None:
    counts = {"A": (20, 180, 80, 300), "B": (300, 100, 120, 480), "C": (30, 10, 12, 48)}
    for reference, words in (
        ("B", "of 100 in B, 75."),
        ("all", "of 100 among all cases, about 55."),
        (eh.ConfusionMatrix(300, 100, 120, 480), "of 100 in the given reference, 75."),
    ):
        a = eh.audit_counts(counts, metrics="tpr", reference=reference)
        assert f"; {words}" in headlines(a.rows, a.settings)[0].sentence


def test_headlines_are_about_many_groups_and_say_nothing_twice() -> None:
    a = eh.audit_counts(compas(), metrics=["tpr", "fnr", "fpr", "tnr", "ppr", "pnr", "prev", "nprev"])
    said = headlines(a.rows, a.settings)
    assert len(said) == 5
    assert not any(eh.metric(h.metric).of_people for h in said)
    for h in said:
        own = [other.metric for other in said if other.group == h.group]
        assert len(own) <= 2
        assert not {"tpr", "fnr"} <= set(own) and not {"fpr", "tnr"} <= set(own) and not {"ppr", "pnr"} <= set(own)
    only = eh.audit_counts(compas(), metrics=["prev"])
    assert headlines(only.rows, only.settings), "if nothing but the people differ, that is told"


def test_headlines_that_depend_on_one_group_say_so_and_come_last() -> None:
    a = eh.audit_counts(compas(), by="race", favourable="negative")
    said = headlines(a.rows, a.settings)
    driven = [row(a, h.group, h.metric).driver is not None for h in said]
    assert driven == sorted(driven) and True in driven
    for h in said:
        driver = row(a, h.group, h.metric).driver
        if driver is None:
            assert "left out" not in h.sentence
        else:
            left_out = f" This depends on one group: if {driver.group} were left out of the comparison, "
            assert h.sentence.endswith(f"{left_out}the verdict on {h.group} would be: {driver.verdict}.")


@pytest.mark.parametrize("metric", ["mcc", "lr_plus", "equal_opportunity", "disparate_impact", "equalized_odds", "f1"])
def test_headlines_of_other_scores_are_not_more_than_sure(metric: str) -> None:
    a = eh.audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480), "C": (30, 10, 12, 48)}, metrics=metric)
    said = headlines(a.rows, a.settings)
    assert said
    for h in said:
        r = row(a, h.group)
        assert r.score.value is not None
        assert h.sentence.startswith(f"{eh.metric(metric).name} of {h.group} is {r.score.value:.3f}")
        said_least = re.findall(r"[Aa]t least (\d+\.\d+)", h.sentence)
        if r.gap.at_least is None:
            assert said_least == [] and f"interval {span_text(r.gap.low, r.gap.high)})" in h.sentence
        else:
            (least,) = said_least
            assert float(least) <= r.gap.at_least < float(least) + 0.001


def test_both_groups_are_named_if_they_are_compared_with_something_else() -> None:
    reference = eh.ConfusionMatrix(900, 100, 200, 800)
    counts = {"A": (20, 180, 80, 300), "B": (100, 300, 120, 480)}
    a = eh.audit_counts(counts, metrics="tpr", reference=reference)
    assert {h.group for h in headlines(a.rows, a.settings)} == {"A", "B"}


def test_what_is_sure_is_rounded_down_however_large_it_is() -> None:
    a = eh.audit_counts({"A": (107, 2000, 2000, 107), "B": (9000, 100, 120, 9000)}, metrics="lr_minus")
    least = a.rows[0].gap.at_least
    assert least is not None and least > 1000
    assert f"at least {math.floor(least):,}." in headlines(a.rows, a.settings)[0].sentence
    assert f"at least {math.floor(least):,};" in a.findings[0].sentence


# Headlines of axes


def axes_data() -> dict[str, Any]:
    """Group A is decided at random, group B correctly."""
    rng = np.random.default_rng(2)
    n = 300
    race = np.repeat(["A", "B"], n // 2)
    y = rng.integers(0, 2, n)
    p = np.where(race == "A", rng.integers(0, 2, n), y)
    kind = rng.choice(["X", "y", "z"], n)
    return {
        "race": race,
        "Town": rng.choice(["East", "west"], n),
        "y": y,
        "p": p,
        "s": np.where(p == 1, 0.75, 0.25),
        "kind": kind,
        "guess": np.where(race == "A", rng.choice(["X", "y", "z"], n), kind),
    }


def said_of(a: Any) -> list[str]:
    return [h.sentence for h in headlines(a.rows, a.settings)]


def test_headlines_begin_with_their_place_as_it_is_written() -> None:
    data = axes_data()
    columns: dict[str, Any] = {"y_true": "y", "groups": "race", "metrics": "acc"}
    swept = eh.audit(data, y_score="s", threshold=[0.5, 0.6], **columns)
    assert all(s.startswith(("Threshold 0.5: Of ", "Threshold 0.6: Of ")) for s in said_of(swept))
    within = eh.audit(data, y_pred="p", within="Town", **columns)
    places = {s.split(": ")[0] for s in said_of(within)}
    assert places <= {"Stratum East", "Stratum west", "Stratum pooled"} and places
    classes = eh.audit(data, y_true="kind", y_pred="guess", groups="race", classes=["X"], metrics="tpr", averages=())
    assert all(s.startswith("Class X: Of ") for s in said_of(classes))


def test_rates_pooled_over_strata_are_told_by_their_odds() -> None:
    a = eh.audit(axes_data(), y_true="y", y_pred="p", groups="race", within="Town", metrics="fpr").at(stratum="pooled")
    found = row(a, "A")
    assert found.gap.kind == "odds ratio"
    (sentence,) = said_of(a)
    assert "were" not in sentence
    if found.gap.at_least:
        assert "Within strata, the odds are higher by a factor of at least" in sentence


def test_averages_and_functions_are_told_without_a_direction() -> None:
    def error(y_true: Any, y_pred: Any) -> float:
        return float((y_true != y_pred).mean())

    data = axes_data()
    average = eh.audit(data, y_true="kind", y_pred="guess", groups="race", classes=["X"], metrics="prev", draws=99,
                       averages=["acc", "macro f1"])  # fmt: skip
    function = eh.audit(data, y_true="y", y_pred="p", groups="race", metrics=error, draws=99)
    for a in (average, function):
        told = [s for s in said_of(a) if not s.startswith("Class")]
        assert told
        for sentence in told:
            assert sentence.endswith(" The group is not drawn like the reference.")
            assert not any(word in sentence for word in ("urely", "higher", "lower", "more", "fewer"))


@pytest.mark.parametrize("placed", [True, False])
def test_models_are_told_by_how_scores_change(placed: bool) -> None:
    """Also if only one pair of models is looked at."""
    data = axes_data()
    a = eh.compare_models(data, y_true="y", models={"Old": "y", "NEW": "p"}, groups="race", metrics=["acc", "fpr"])
    if not placed:
        a = a.at(model="NEW", against="Old")
    where = "Model NEW, against Old: " if placed else ""
    found = row(a, "A", "acc")
    assert found.score.value is not None and found.score.value < -0.3
    assert said_of(a)
    for sentence in said_of(a):
        assert re.fullmatch(
            where + r"(Accuracy|False positive rate) of [AB] changes by [+-]0\.\d{3}; among the others, by "
            r"[+-]0\.\d{3}\. At least 0\.\d{3} (higher|lower)\.", sentence
        ), sentence  # fmt: skip
    (finding,) = [f.sentence for f in a.findings if f.metrics == ("acc",) and f.group == "A"]
    assert finding.startswith(f"Accuracy of A changes by {found.score.value:+.3f} (95 % interval -")
    assert "and that of the reference by +0.000: the gap becomes lower, by at least 0." in finding


# Tiers


@settings(max_examples=10)
@given(groups=st.lists(cells, min_size=1, max_size=3), margin=st.sampled_from([0.02, 0.1, 0.3]))
def test_tiers_follow_from_verdict_and_interval(groups: list[tuple[int, ...]], margin: float) -> None:
    a = eh.audit_counts(
        {f"g{i}": c for i, c in enumerate(groups) if sum(c)} | {"more": (9, 6, 4, 21), "all": (30, 10, 12, 48)},
        metrics=["tpr", "ppr", "lr_plus"],
        margin=margin,
    )
    for r in a.rows:
        found = tier(r, margin)
        if r.verdict == "too few to tell":
            assert found is Tier.CHANCE
        elif r.verdict in ("higher", "lower"):
            limit = 1.25 if r.metric == "lr_plus" else margin
            least, most = r.gap.at_least, r.gap.at_most
            large, small = least is not None and least > limit, most is not None and most <= limit
            assert found is (Tier.LARGE if large else Tier.SMALL if small else Tier.UNCLEAR)
        else:
            assert found is None


@pytest.mark.parametrize(
    ("least", "most", "verdict", "expected"),
    [
        (0.101, 0.3, "higher", Tier.LARGE),
        (0.101, 0.3, "lower", Tier.LARGE),
        (0.1, 0.3, "higher", Tier.UNCLEAR),
        (0.09, 0.101, "higher", Tier.UNCLEAR),
        (None, 0.2, "lower", Tier.UNCLEAR),
        (0.01, 0.1, "higher", Tier.SMALL),
        (None, 0.1, "lower", Tier.SMALL),
        (0.2, 0.3, "too few to tell", Tier.CHANCE),
        (None, None, "alike", None),
        (None, None, "unlike", Tier.UNCLEAR),
    ],
)
def test_a_tier_at_its_edges(least: float | None, most: float | None, verdict: str, expected: Tier | None) -> None:
    found = eh.audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
    gap = replace(found.gap, at_least=least, at_most=most)
    assert tier(replace(found, gap=gap, verdict=Verdict(verdict)), 0.1) is expected  # type: ignore[call-arg]


def test_the_margin_of_a_brier_score_is_half_of_the_margin() -> None:
    """A Brier score of no skill is 1/4, an accuracy 1/2."""
    y = [0, 1] * 20
    data = {"g": ["a", "a", "b", "b"] * 10, "y": y, "s": [0.5 + 0.2 * (v - 0.5) for v in y]}
    found = eh.audit(data, y_true="y", y_score="s", groups="g", metrics="brier", draws=9).rows[0]
    large = replace(found, verdict=Verdict.HIGHER, gap=replace(found.gap, at_least=0.06, at_most=0.2))
    assert tier(large, 0.1) is Tier.LARGE
    assert tier(replace(large, metric="auc"), 0.1) is Tier.UNCLEAR


# What could not be told


def test_what_could_not_be_told_is_counted() -> None:
    counts = {"A": (6, 3, 2, 21), "B": (300, 100, 120, 480), "none": (0, 0, 2, 3), "C": (280, 110, 110, 500)}
    a = eh.audit_counts(counts, metrics=["tpr", "fpr", "ppv"])
    few = [r for r in a.rows if r.verdict == "too few to tell"]
    lacking = [r for r in a.rows if r.verdict == "undefined"]
    assert len(lacking) == 1 and len(few) > 3
    sentences = [s for s in untold(a.rows, a.settings) if "To find" not in s]
    where = len({r.group for r in few})
    assert sentences == [
        f"{len(few)} of 12 comparisons have too few cases to tell, in {where} of 4 groups.",
        "1 of 12 comparisons cannot be made because a score does not exist, in 1 of 4 groups; "
        "no actual positives (TP + FN = 0).",
    ]
    alike = eh.audit_counts({"A": (3000, 1000, 1200, 4800), "B": (3000, 1000, 1200, 4800)}, metrics="tpr")
    assert untold(alike.rows, alike.settings) == ()


def test_what_it_would_take_is_true_of_half_of_them() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (280, 110, 110, 500)}, metrics=["tpr", "fpr"])
    few = [r for r in a.rows if r.verdict == "too few to tell"]
    needing = [replace(r, needed=50 + 37 * i) for i, r in enumerate(few)]
    said = untold(needing, a.settings)[1]
    lacking = [r for r in needing if r.needed is not None and r.needed > min(r.rests_on)]
    most, has = map(whole, re.findall(r"([\d,]+) or", said))
    assert said.startswith("To find a true gap of 0.1 with a probability of 80 %, half of ")
    assert 2 * sum((r.needed or 0) >= most for r in lacking) >= len(lacking) > 1
    assert 2 * sum(min(r.rests_on) <= has for r in lacking) >= len(lacking)
    one = next(r for r in few if r.group == "A" and r.metric == "tpr")
    assert needed_text(replace(one, needed=95), 0.1) == (
        "It takes 95 actual positives to find a true gap of 0.1 with a probability of 80 %; there are 9."
    )
    assert needed_text(replace(one, needed=9), 0.1) == needed_text(replace(one, needed=3), 0.1) == ""


@pytest.mark.parametrize(("rests_on", "are"), [(9, "there are 9"), (1, "there is 1")])
def test_a_single_known_need_names_its_row(rests_on: int, are: str) -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (280, 110, 110, 500)}, metrics=["tpr", "mcc"])
    few = [r for r in a.rows if r.verdict == "too few to tell"]
    one = [
        replace(r, needed=321, rests_on=(rests_on,)) if (r.group, r.metric) == ("A", "tpr") else replace(r, needed=None)
        for r in few
    ]
    assert untold(one, a.settings)[1] == (
        f"To find a true gap of 0.1 with a probability of 80 %, tpr of A takes 321 actual positives; {are}."
    )


def test_a_ratio_that_cannot_be_is_not_promised() -> None:
    a = eh.audit_counts({"A": (18, 0, 0, 3), "B": (270, 0, 0, 30)}, metrics=["disparate_impact", "ppr"])
    for r in a.rows:
        assert "ratio of 1.25" not in needed_text(r, 0.1) or (r.reference.score or 0) <= 0.8


def test_what_groups_are_compared_with_is_said_in_words() -> None:
    counts = {("A", "F"): (3, 2, 8, 30), ("B", "M"): (30, 10, 12, 48)}
    words = {
        "rest": "all cases outside it",
        "all": "all cases, or all cases outside it if a score is not a rate",
        "10,2,3,40": "the counts that were given as reference",
    }
    for reference, expected in words.items():
        a = eh.audit_counts(counts, by=["race", "sex"], reference=reference, metrics=["tpr", "mcc"])
        assert compared_with(a.rows) == expected
    rates = eh.audit_counts(counts, by=["race", "sex"], reference="all", metrics="tpr")
    assert compared_with(rates.rows) == "all cases"
