"""The sentences of an audit are true: what they count, what they call sure, and what they say a metric means."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.auditing import Row, Tier, headlines, meaning, needed_text, of_people, tier, untold, worse_way

RATES = [
    "acc",
    "inacc",
    "prev",
    "nprev",
    "ppr",
    "pnr",
    "tpr",
    "fnr",
    "fpr",
    "tnr",
    "ppv",
    "fdr",
    "npv",
    "for",
    "jaccard",
]
cells = st.tuples(*[st.integers(0, 400)] * 4)
SENTENCE = re.compile(
    r"Of (the )?([\d,]+) (.+?) in (.+?), (about )?([\d,]+) (was|were) (.+?); "
    r"of (the )?([\d,]+) (.+?), (about )?([\d,]+)\."
    r"(?: Surely at least ([\d,]+) (more|fewer) per ([\d,]+)\.)?"
    r"(?: Without .+ among the others, the verdict would be: .+\.)?"
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


def matrices(row: Row) -> tuple[dict[str, int], dict[str, int]]:
    mine = {c: getattr(row, c) for c in ("tp", "fn", "fp", "tn")}
    theirs = {c: getattr(row, f"reference_{c}") for c in ("tp", "fn", "fp", "tn")}
    return mine, theirs


def check_counts(sentence: str, row: Row) -> None:
    """The counts are those of the matrices, and what is sure is not more than the interval says."""
    found = SENTENCE.fullmatch(sentence)
    assert found, sentence
    all_, of, kind, _, about, n, verb, what, all2, of2, _, about2, n2, sure, way, per = found.groups()
    for matrix, exactly, size, hedged, counted in zip(
        matrices(row), (all_, all2), (of, of2), (about, about2), (n, n2), strict=True
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
    if sure is not None:
        assert row.difference_low is not None and row.difference_high is not None
        least = row.difference_low if way == "more" else -row.difference_high
        assert 1 <= whole(sure) <= whole(per) * least
        assert (way == "more") == (row.verdict == "higher")
    else:
        assert row.difference_low is not None and row.difference_high is not None
        assert row.difference_low <= 0 <= row.difference_high


@settings(max_examples=60)
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
    rows = {(row.group, row.metric): row for row in a.rows}
    assert len(said) <= 5
    assert bool(said) == any(row.differs for row in a.rows)
    for h in said:
        row = rows[h.group, h.metric]
        assert row.differs
        check_counts(h.sentence, row)
        assert h.harms == (worse_way(h.metric, favourable) == row.verdict)
        assert f" in {h.group}," in h.sentence


@pytest.mark.parametrize(
    ("small", "large", "metric", "sentence"),
    [
        # Fewer than 100 cases are all of them; a rate that would round to none or all is told of more people.
        ((9, 41, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 9 were predicted positive; of 100 among the others, 90. "
         "Surely at least 59 fewer per 100."),
        ((1, 49, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 1 was predicted positive; of 100 among the others, 90. "
         "Surely at least 80 fewer per 100."),
        ((0, 0, 40, 99_960), (5, 5, 1, 99_999), "fpr",
         "Of 100,000 actual negatives in A, 40 were predicted positive; of 100,000 among the others, 1. "
         "Surely at least 27 more per 100,000."),
    ],
)  # fmt: skip
def test_a_headline_in_words(small: Any, large: Any, metric: str, sentence: str) -> None:
    a = eh.audit_counts({"A": small, "B": large}, metrics=metric)
    (row,) = [r for r in a.rows if r.group == "A"]
    said = [h.sentence for h in headlines([row, *(r for r in a.rows if r.group != "A")], a.settings)]
    check_counts(sentence, row)
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
    a = eh.audit_counts(eh.examples.compas(), metrics=["tpr", "fnr", "fpr", "tnr", "ppr", "pnr", "prev", "nprev"])
    said = headlines(a.rows, a.settings)
    assert len(said) == 5
    assert not any(of_people(h.metric) for h in said)
    for h in said:
        own = [other.metric for other in said if other.group == h.group]
        assert len(own) <= 2
        assert not {"tpr", "fnr"} <= set(own) and not {"fpr", "tnr"} <= set(own) and not {"ppr", "pnr"} <= set(own)
    only = eh.audit_counts(eh.examples.compas(), metrics=["prev"])
    assert headlines(only.rows, only.settings), "if nothing but the people differ, that is told"


def test_headlines_that_depend_on_one_group_say_so_and_come_last() -> None:
    a = eh.audit_counts(eh.examples.compas(), by="race", favourable="negative")
    rows = {(row.group, row.metric): row for row in a.rows}
    said = headlines(a.rows, a.settings)
    driven = [rows[h.group, h.metric].driver is not None for h in said]
    assert driven == sorted(driven) and True in driven
    for h, depends in zip(said, driven, strict=True):
        row = rows[h.group, h.metric]
        words = f" Without {row.driver} among the others, the verdict would be: {row.without_verdict}."
        assert h.sentence.endswith(words) == depends


@pytest.mark.parametrize("metric", ["mcc", "lr_plus", "equal_opportunity", "disparate_impact", "equalized_odds", "f1"])
def test_headlines_of_other_scores_are_not_more_than_sure(metric: str) -> None:
    a = eh.audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480), "C": (30, 10, 12, 48)}, metrics=metric)
    rows = {(row.by, row.group): row for row in a.rows}
    said = headlines(a.rows, a.settings)
    assert said
    for h in said:
        row = rows[h.by, h.group]
        m = eh.metric(metric)
        assert row.score is not None
        assert h.sentence.startswith(f"{m.name} of {h.group} is {row.score:.3f}")
        (least,) = re.findall(r"at least (\d+\.\d+)", h.sentence)
        ratio = metric in ("lr_plus", "disparate_impact")
        assert (log(float(least)) if ratio else float(least)) <= row.sure_gap
        assert (log(float(least) + 0.001) if ratio else float(least) + 0.001) > row.sure_gap


@settings(max_examples=30)
@given(groups=st.lists(cells, min_size=2, max_size=4), margin=st.sampled_from([0.02, 0.1, 0.3]))
def test_tiers_follow_from_verdict_and_interval(groups: list[tuple[int, ...]], margin: float) -> None:
    a = eh.audit_counts(
        {f"g{i}": c for i, c in enumerate(groups) if sum(c)} | {"more": (9, 6, 4, 21), "all": (30, 10, 12, 48)},
        metrics=["tpr", "ppr", "lr_plus"],
        margin=margin,
    )
    for row in a.rows:
        found = tier(row, margin)
        if row.verdict == "too few to tell":
            assert found is Tier.CHANCE
        elif row.verdict in ("higher", "lower"):
            ratio = row.metric == "lr_plus"
            ends = (row.ratio_low, row.ratio_high) if ratio else (row.difference_low, row.difference_high)
            low, high = (float(e or 0.0) for e in ends)
            inside, outside = (0.8, 1.25) if ratio else (-margin, margin)
            expected = (
                Tier.LARGE if high < inside or low > outside
                else Tier.SMALL if low >= inside and high <= outside
                else Tier.UNCLEAR
            )  # fmt: skip
            assert found is expected
        else:
            assert found is None


@pytest.mark.parametrize(
    ("low", "high", "verdict", "expected"),
    [
        (0.101, 0.3, "higher", Tier.LARGE),
        (-0.3, -0.101, "lower", Tier.LARGE),
        (0.1, 0.3, "higher", Tier.UNCLEAR),
        (0.09, 0.101, "higher", Tier.UNCLEAR),
        (-0.2, -0.05, "lower", Tier.UNCLEAR),
        (0.01, 0.1, "higher", Tier.SMALL),
        (-0.1, -0.01, "lower", Tier.SMALL),
        (0.2, 0.3, "too few to tell", Tier.CHANCE),
        (-0.05, 0.05, "alike", None),
    ],
)
def test_a_tier_at_its_edges(low: float, high: float, verdict: str, expected: Tier | None) -> None:
    row = eh.audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
    values = row.to_dict() | {"difference_low": low, "difference_high": high, "verdict": verdict}
    assert tier(Row.from_dict(values), 0.1) is expected


class Needing(Row):
    """A row that says how many cases it needs."""

    __slots__ = ("needed",)


def needing(row: Row, needed: int) -> Row:
    new = object.__new__(Needing)
    for name in [*Row.columns, "sketch"]:
        object.__setattr__(new, name, getattr(row, name))
    object.__setattr__(new, "needed", needed)
    return new


def test_what_could_not_be_told_is_counted() -> None:
    counts = {"A": (6, 3, 2, 21), "B": (300, 100, 120, 480), "none": (0, 0, 2, 3), "C": (280, 110, 110, 500)}
    a = eh.audit_counts(counts, metrics=["tpr", "fpr", "ppv"])
    few = [row for row in a.rows if row.verdict == "too few to tell"]
    lacking = [row for row in a.rows if row.verdict == "undefined"]
    assert len(lacking) == 1 and len(few) > 3
    sentences = [s for s in untold(a.rows, a.settings) if "To find" not in s]
    where = len({row.group for row in few})
    assert sentences == [
        f"{len(few)} of 12 comparisons have too few cases to tell, in {where} of 4 groups.",
        "1 of 12 comparisons cannot be made because a score does not exist, in 1 of 4 groups; "
        "no actual positives (TP + FN = 0).",
    ]
    alike = eh.audit_counts({"A": (3000, 1000, 1200, 4800), "B": (3000, 1000, 1200, 4800)}, metrics="tpr")
    assert untold(alike.rows, alike.settings) == ()


def test_what_it_would_take_is_true_of_half_of_them() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (280, 110, 110, 500)}, metrics=["tpr", "fpr"])
    few = [row for row in a.rows if row.verdict == "too few to tell"]
    given_ = {row: 50 + 37 * i for i, row in enumerate(few)}
    said = untold([needing(row, needed) for row, needed in given_.items()], a.settings)[1]
    lacking = {row: needed for row, needed in given_.items() if needed > row.basis}
    most, has = map(whole, re.findall(r"([\d,]+) or", said))
    assert said.startswith("To find a true gap of 0.1 with a probability of 80 %, half of ")
    assert 2 * sum(needed >= most for needed in lacking.values()) >= len(lacking) > 1
    assert 2 * sum(row.basis <= has for row in lacking) >= len(lacking)
    one = next(row for row in few if row.group == "A" and row.metric == "tpr")
    assert needed_text(needing(one, 95), 0.1) == (
        "It takes 95 actual positives to find a true gap of 0.1 with a probability of 80 %; there are 9."
    )
    assert needed_text(needing(one, 9), 0.1) == needed_text(needing(one, 3), 0.1) == ""


def test_every_metric_has_a_meaning() -> None:
    for m in [*eh.list_metrics(), eh.metric("f3"), eh.metric("npv_difference"), eh.metric("tpr_ratio")]:
        for favourable in ("positive", "negative"):
            words = meaning(m, favourable)
            assert words.means[0].isupper() and words.good[0].isupper() | words.good[0].isdigit()
            assert not (words.means + words.good).endswith(".")


MEANT = {
    **KINDS,
    "cases": KINDS["cases"],
    "predictions": KINDS["cases"],
    "right": KINDS["predicted correctly"],
    "wrong": KINDS["predicted wrongly"],
    "actually or predicted positive": {"tp", "fn", "fp"},
}


@pytest.mark.parametrize("key", RATES)
def test_the_meaning_of_a_rate_is_what_it_counts(key: str) -> None:
    words = meaning(key).means
    found = re.fullmatch(r"Of those (?:who are )?(.+), how many are (.+)|How many (.+) are (.+)", words)
    assert found, words
    of, what, of2, what2 = found.groups()
    rng = np.random.default_rng(5)
    for draw in rng.integers(1, 50, (20, 4)).tolist():
        matrix = dict(zip(("tp", "fn", "fp", "tn"), draw, strict=True))
        expected = share(matrix, MEANT[of or of2], MEANT[what or what2])
        assert eh.metric(key)(eh.ConfusionMatrix(**matrix)) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("favourable", ["positive", "negative"])
@pytest.mark.parametrize("key", [m.key for m in eh.list_metrics() if not m.comparisons])
def test_harm_makes_a_score_worse(key: str, favourable: Any) -> None:
    """One more person who is wrongly predicted to be what is bad for them moves the score the worse way."""
    way = worse_way(key, favourable)
    before = np.array([40, 20, 15, 60])
    after = before + ([-1, 1, 0, 0] if favourable == "positive" else [0, 0, 1, -1])
    moved = eh.metric(key)(after) - eh.metric(key)(before)
    if way is not None:
        assert moved * (1 if way == "higher" else -1) > 0
    assert (way is None) <= (
        key in ("prev", "nprev", "te_part", "mb", "tpr", "fnr", "tnr", "fpr", "ppv", "fdr", "npv", "for")
    )
    if key in ("tpr", "fnr", "npv", "for", "tnr", "fpr", "ppv", "fdr"):
        wrong = "harm" if way else "favour"
        assert meaning(key, favourable).good.endswith(f"errors {wrong} the person")


def test_both_groups_are_named_if_they_are_compared_with_something_else() -> None:
    reference = eh.ConfusionMatrix(900, 100, 200, 800)
    counts = {"A": (20, 180, 80, 300), "B": (100, 300, 120, 480)}
    a = eh.audit_counts(counts, metrics="tpr", reference=reference)
    assert {h.group for h in headlines(a.rows, a.settings)} == {"A", "B"}


def test_what_is_sure_is_rounded_down_however_large_it_is() -> None:
    a = eh.audit_counts({"A": (107, 2000, 2000, 107), "B": (9000, 100, 120, 9000)}, metrics="lr_minus")
    row = a.rows[0]
    assert 1289 < math.exp(row.sure_gap) < 1290
    assert "at least 1,289" in str(headlines(a.rows, a.settings)[0])
    assert "at least 1,289" in a.findings[0].sentence


def test_a_ratio_that_cannot_be_is_not_promised() -> None:
    a = eh.audit_counts({"A": (18, 0, 0, 3), "B": (270, 0, 0, 30)}, metrics=["disparate_impact", "ppr"])
    for row in a.rows:
        assert "ratio of 1.25" not in needed_text(row, 0.1) or (row.reference_score or 0) <= 0.8


def test_a_single_known_need_names_its_row() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (280, 110, 110, 500)}, metrics=["tpr", "mcc"])
    few = [row for row in a.rows if row.verdict == "too few to tell"]
    one = [replace(row, needed=321 if row.group == "A" and row.metric == "tpr" else None) for row in few]
    assert untold(one, a.settings)[1] == (
        "To find a true gap of 0.1 with a probability of 80 %, tpr of A takes 321 actual positives; there are 9."
    )
