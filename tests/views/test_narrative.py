"""Headlines are true: what they count, what they call sure, and what they say could not be told."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit_oracle import altered, row
from hypothesis import given, settings, strategies as st
from pytest import approx

import evenhand as eh
from evenhand.auditing import Row, Verdict
from evenhand.examples import compas
from evenhand.views.narrative import Tier, compared_with, headlines, needed_text, next_steps, tier, untold
from evenhand.views.words import harmful_direction
from evenhand.wording import span_text

RATES = [
    *("acc", "inacc", "prev", "nprev", "ppr", "pnr", "tpr", "fnr", "fpr", "tnr"),
    *("ppv", "fdr", "npv", "for", "jaccard"),
]
cells = st.tuples(*[st.integers(0, 400)] * 4)
SENTENCE = re.compile(
    r"Of (the )?([\d,]+) (.+?) in (.+?), (about )?([\d,]+) (was|were) (.+?); "
    r"of (the )?([\d,]+) (.+?), (about )?([\d,]+)\."
    r"(?: At least ([\d,.]+) (more|fewer) per ([\d,]+)\.| The gap is [+-]\d.\d+ \(95% interval .+? to .+?\)\."
    r"| About ([\d.]+) (more|fewer) per ([\d,]+) \(95% interval [\d.]+ to [\d.]+\)\.)"
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
    assert r.cells is not None and r.reference_cells is not None
    return [dict(zip(("tp", "fn", "fp", "tn"), some, strict=True)) for some in (r.cells, r.reference_cells)]


def check_counts(sentence: str, r: Row) -> None:
    """The counts are those of the matrices, and "at least" is not more than the bound of the row says."""
    found = SENTENCE.fullmatch(sentence)
    assert found, sentence
    all_, of, kind, _, about, n, verb, what, all2, of2, _, about2, n2, sure, way, per, seen, seen_way, seen_per = (
        found.groups()
    )
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
    assert r.gap_low is not None and r.gap_high is not None
    if sure is not None:
        assert r.at_least is not None
        assert 0.1 <= float(sure.replace(",", "")) <= whole(per) * r.at_least
        assert (way == "more") == (r.verdict == "higher")
    elif seen is not None:
        assert r.at_least is None or whole(seen_per) * r.at_least < 0.1, "a bound that is next to nothing"
        assert r.difference is not None and abs(float(seen) - whole(seen_per) * abs(r.difference)) <= 0.051
        assert (seen_way == "more") == (r.verdict == "higher")
    else:
        assert r.at_least is None


@pytest.mark.slow
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
        assert h.harms == (harmful_direction(eh.metric(h.metric), favourable) == r.verdict)
        assert f" in {h.group}," in h.sentence


@pytest.mark.parametrize(
    ("small", "large", "metric", "sentence"),
    [
        # Fewer than 100 cases are all of them; a rate that would round to none or all is told of more people.
        ((9, 41, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 9 were predicted positive; of 100 such others, 90. "
         "At least 58 fewer per 100."),
        ((1, 49, 0, 0), (900, 100, 0, 9), "tpr",
         "Of the 50 actual positives in A, 1 was predicted positive; of 100 such others, 90. "
         "At least 79 fewer per 100."),
        ((0, 0, 40, 99_960), (5, 5, 1, 99_999), "fpr",
         "Of 100,000 actual negatives in A, 40 were predicted positive; of 100,000 such others, 1. "
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
        ("B", "of 100 such cases in B, 75."),
        ("all", "of 100 of all such cases, about 55."),
        (eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480), "of 100 in the given reference, 75."),
    ):
        a = eh.audit_counts(counts, metrics="tpr", reference=reference)
        assert f"; {words}" in headlines(a.rows, a.settings)[0].sentence


def test_headlines_are_about_many_groups_and_say_nothing_twice() -> None:
    a = eh.audit_counts(compas(), metrics=["tpr", "fnr", "fpr", "tnr", "ppr", "pnr", "prev", "nprev"])
    said = headlines(a.rows, a.settings)
    assert len(said) == 5
    assert not any(eh.metric(h.metric).is_base_rate for h in said)
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
        found = row(a, h.group, h.metric)
        if found.driver is None:
            assert "left out" not in h.sentence
        else:
            left_out = f" This depends on one group: if {found.driver} were left out of the comparison, "
            assert h.sentence.endswith(f"{left_out}the verdict on {h.group} would be: {found.driver_verdict}.")


def test_headlines_of_other_scores_are_not_more_than_sure() -> None:
    counts = {"A": (20, 180, 80, 300), "B": (300, 100, 120, 480), "C": (30, 10, 12, 48)}
    for metric in ("mcc", "lr_plus", "equal_opportunity", "disparate_impact", "equalized_odds", "f1"):
        a = eh.audit_counts(counts, metrics=metric)
        assert headlines(a.rows, a.settings)
        for h in headlines(a.rows, a.settings):
            r = row(a, h.group)
            assert h.sentence.startswith(f"{eh.metric(metric).name} of {h.group} is {r.score:.3f}")
            said_least = re.findall(r"[Aa]t least (\d+\.\d+)", h.sentence)
            if math.isnan(r.at_least):
                assert said_least == [] and f"interval {span_text(r.gap_low, r.gap_high)})" in h.sentence
            else:
                (least,) = map(float, said_least)
                assert least <= r.at_least < least + 0.001


def test_both_groups_are_named_if_they_are_compared_with_something_else() -> None:
    reference = eh.ConfusionMatrix(tp=900, fn=100, fp=200, tn=800)
    counts = {"A": (20, 180, 80, 300), "B": (100, 300, 120, 480)}
    a = eh.audit_counts(counts, metrics="tpr", reference=reference)
    assert {h.group for h in headlines(a.rows, a.settings)} == {"A", "B"}


def test_what_is_sure_is_rounded_down_however_large_it_is() -> None:
    a = eh.audit_counts({"A": (107, 2000, 2000, 107), "B": (9000, 100, 120, 9000)}, metrics="lr_minus")
    least = a.rows[0].at_least
    assert least is not None and least > 1000
    assert f"at least {math.floor(least):,}." in headlines(a.rows, a.settings)[0].sentence
    assert f"at least {math.floor(least):,};" in a.findings[0].sentence


# Groups inside each other


def nested_counts() -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Women are rarely predicted positive, in every town."""
    return {
        **{("F", town): (30, 170, 10, 190) for town in ("East", "North", "South", "West", "Far")},
        **{("M", town): (150, 50, 90, 110) for town in ("East", "North", "South", "West", "Far")},
    }


def test_a_group_and_the_groups_inside_it_are_one_headline() -> None:
    a = eh.audit_counts(nested_counts(), by=["sex", "town"], metrics=["tpr"])
    said = headlines(a.rows, a.settings)
    women = [h for h in said if h.group == "F"]
    assert len(women) == 1
    assert re.search(
        r" In the same direction, by other amounts: F & \w+, F & \w+, F & \w+ and 2 more\.$", women[0].sentence
    )
    assert not any(h.group.startswith("F &") for h in said)


def test_a_group_inside_with_the_other_direction_is_not_said_to_be_alike() -> None:
    """What is said of the inner group is not what is said of the outer one."""
    counts = nested_counts() | {("F", "East"): (199, 1, 190, 10)}
    a = eh.audit_counts(counts, by=["sex", "town"], metrics=["tpr"])
    assert row(a, "F & East").verdict == "higher" and row(a, "F").verdict == "lower"
    (women,) = [h.sentence for h in headlines(a.rows, a.settings) if h.group == "F"]
    assert "by other amounts: F & " in women and "F & East" not in women


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
    within = eh.audit(data, y_pred="p", strata="Town", **columns)
    places = {s.split(": ")[0] for s in said_of(within)}
    assert places <= {"Stratum East", "Stratum west", "Over all strata"} and places
    classes = eh.audit(data, y_true="kind", y_pred="guess", groups="race", classes=["X"], metrics="tpr")
    assert all(s.startswith("Class X: Of ") for s in said_of(classes))


def test_rates_pooled_over_strata_are_told_by_their_odds() -> None:
    a = eh.audit(axes_data(), y_true="y", y_pred="p", groups="race", strata="Town", metrics="fpr").at(stratum="pooled")
    found = row(a, "A")
    assert found.gap_kind == "odds ratio"
    (sentence,) = said_of(a)
    assert "were" not in sentence
    if found.at_least:
        assert "Within strata, the odds are higher by a factor of at least" in sentence


def test_averages_and_functions_are_told_without_a_direction() -> None:
    def error(y_true: Any, y_pred: Any) -> float:
        return float((y_true != y_pred).mean())

    data = axes_data()
    average = eh.audit(
        data, y_true="kind", y_pred="guess", groups="race", classes=["X"], metrics=["prev", "acc", "macro f1"]
    )
    function = eh.audit(data, y_true="y", y_pred="p", groups="race", metrics=error)
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
    a = eh.compare(data, y_true="y", models={"Old": "y", "NEW": "p"}, groups="race", metrics=["acc", "fpr"])
    if not placed:
        a = a.at(model="NEW", against="Old")
    where = "Model NEW, against Old: " if placed else ""
    found = row(a, "A", "acc")
    assert found.score is not None and found.score < -0.3
    assert said_of(a)
    for sentence in said_of(a):
        # A rate among actual negatives is compared with that among others like them.
        assert ("; of 100 such others, " in sentence) == ("actual negatives in" in sentence)
        assert re.fullmatch(
            where + r"Of (the )?\d+ (cases|actual negatives) in [AB], the number that were predicted "
            r"(correctly|positive) (goes from \d+ to \d+|stays at \d+); of \d+ (among the|such) others, it "
            r"(goes from \d+ to about \d+|stays at \d+)\. The observed gap goes from \+0\.000 to -0\.\d{3} "
            r"\(a change of -0\.\d{3}, at least 0\.\d{3}\): it opens\.", sentence
        ), sentence  # fmt: skip
    (finding,) = [f.sentence for f in a.findings if f.metrics == ("acc",) and f.group == "A"]
    assert finding.startswith(
        f"Accuracy of A goes from 1.000 to {found.before + found.score:.3f} ({found.score:+.3f}, "
    )
    gap = f"the observed gap goes from +0.000 to {found.gap:+.3f} (a change of {found.gap:+.3f}, at least 0."
    assert f"and that of the reference from 1.000 to 1.000; {gap}" in finding
    assert "): it opens; adjusted p" in finding


def halves(before: dict[str, float], after: dict[str, float], n: int = 200) -> dict[str, list[Any]]:
    """Decisions of two models on groups of n people, half of whom are positive, with these rates of selection."""
    columns: dict[str, list[Any]] = {"who": [], "y": [], "old": [], "new": []}
    for who in before:
        columns["who"] += [who] * n
        columns["y"] += [0, 1] * (n // 2)
        for model, rates in (("old", before), ("new", after)):
            columns[model] += [int(i < round(rates[who] * n)) for i in range(n)]
    return columns


def test_what_becomes_of_a_gap_is_told_from_both_gaps() -> None:
    """The rest stays at 0.25; the change is what is tested."""
    cases = [
        (0.5, 0.3, "from +0.250 to +0.050 (a change of -0.200", "it narrows"),
        (0.2, 0.3, "from -0.050 to +0.050 (a change of +0.100", "it changes sign"),
        (0.4, 0.2, "from +0.150 to -0.050 (a change of -0.200", "it narrows and changes sign"),
        (0.2, 0.6, "from -0.050 to +0.350 (a change of +0.400", "it widens and changes sign"),
        (0.3, 0.7, "from +0.050 to +0.450 (a change of +0.400", "it widens"),
        (0.25, 0.7, "from +0.000 to +0.450 (a change of +0.450", "it opens"),
        (0.7, 0.25, "from +0.450 to +0.000 (a change of -0.450", "it closes"),
    ]
    for before, after, gap, movement in cases:
        data = halves({"A": before, "B": 0.25}, {"A": after, "B": 0.25})
        a = eh.compare(data, y_true="y", models={"old": "old", "new": "new"}, groups="who", metrics="ppr")
        found = row(a, "A")
        assert (found.before, found.before + found.score) == approx((before, after))
        assert found.gap_before == approx(before - 0.25) and found.differs
        (finding,) = [f.sentence for f in a.findings if f.group == "A"]
        assert f"the observed gap goes {gap}, " in finding and f"): {movement}; adjusted p" in finding


def test_changes_are_told_in_the_words_of_who_asks_and_whom_they_harm() -> None:
    data = halves({"A": 0.7, "B": 0.25}, {"A": 0.25, "B": 0.25})
    models: dict[str, Any] = {"y_true": "y", "models": {"old": "old", "new": "new"}, "groups": "who", "metrics": "ppr"}
    words: dict[str, Any] = {
        "wording": {"cases": "people", "outcome": "in need", "decision": "helped"},
    }
    told, untold_ = (said_of(eh.compare(data, **models, **words, favourable=good)) for good in ("positive", None))
    least = re.search(r"at least (0\.\d{3})", told[0])
    assert least is not None
    said = (
        "Model new, against old: Of 100 people in A, the number who were helped goes from 70 to 25; of 100 among the "
        "others, it stays at 25. The observed gap goes from +0.450 to +0.000 (a change of -0.450, at least "
        f"{least[1]}): it closes."
    )
    assert told == [f"{said} Relative to the others, this group is worse off than before."]
    assert len(untold_) == 1 and "worse" not in untold_[0]


# Tiers


@pytest.mark.slow
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
        if r.verdict == "inconclusive":
            assert found is Tier.CHANCE
        elif r.verdict in ("higher", "lower"):
            limit = 1.25 if r.metric == "lr_plus" else margin
            least, most = r.at_least, r.at_most
            large, small = least > limit, most <= limit
            assert found is (Tier.LARGE if large else Tier.SMALL if small else Tier.UNCLEAR)
        else:
            assert found is None


def test_a_tier_at_its_edges() -> None:
    found = eh.audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
    edges: list[tuple[float | None, float | None, Verdict, Tier | None]] = [
        (0.101, 0.3, Verdict.HIGHER, Tier.LARGE),
        (0.101, 0.3, Verdict.LOWER, Tier.LARGE),
        (0.1, 0.3, Verdict.HIGHER, Tier.UNCLEAR),
        (0.09, 0.101, Verdict.HIGHER, Tier.UNCLEAR),
        (math.nan, 0.2, Verdict.LOWER, Tier.UNCLEAR),
        (0.01, 0.1, Verdict.HIGHER, Tier.SMALL),
        (math.nan, 0.1, Verdict.LOWER, Tier.SMALL),
        (0.2, 0.3, Verdict.INCONCLUSIVE, Tier.CHANCE),
        (math.nan, math.nan, Verdict.EQUIVALENT, None),
        (math.nan, math.nan, Verdict.UNLIKE, Tier.UNCLEAR),
    ]
    for least, most, verdict, expected in edges:
        assert tier(altered(found, at_least=least, at_most=most, verdict=verdict), 0.1) is expected


def test_the_margin_of_a_brier_score_is_half_of_the_margin() -> None:
    """A Brier score of no skill is 1/4, an accuracy 1/2."""
    y = [0, 1] * 20
    data = {"g": ["a", "a", "b", "b"] * 10, "y": y, "s": [0.5 + 0.2 * (v - 0.5) for v in y]}
    found = eh.audit(data, y_true="y", y_score="s", groups="g", metrics="brier").rows[0]
    large = altered(found, verdict=Verdict.HIGHER, at_least=0.06, at_most=0.2)
    assert tier(large, 0.1) is Tier.LARGE
    assert tier(altered(large, metric="auc"), 0.1) is Tier.UNCLEAR


# What could not be told


def test_what_could_not_be_told_is_counted() -> None:
    counts = {"A": (6, 3, 2, 21), "B": (300, 100, 120, 480), "none": (0, 0, 2, 3), "C": (280, 110, 110, 500)}
    a = eh.audit_counts(counts, metrics=["tpr", "fpr", "ppv"])
    few = [r for r in a.rows if r.verdict == "inconclusive"]
    lacking = [r for r in a.rows if r.verdict == "undefined"]
    assert len(lacking) == 1 and len(few) > 3
    where = len({r.group for r in few})
    concerned = f"{where} of 4" if where < 4 else "all 4"
    assert untold(a.rows) == (
        f"{len(few)} of 12 comparisons have too few cases to tell; they concern {concerned} groups.",
        "1 of 12 comparisons cannot be made because a score does not exist; it concerns 1 of 4 groups; "
        "no actual positives (TP + FN = 0).",
    )
    alike = eh.audit_counts({"A": (3000, 1000, 1200, 4800), "B": (3000, 1000, 1200, 4800)}, metrics="tpr")
    assert untold(alike.rows) == ()
    assert next_steps(alike.rows, alike.settings) == ()


# What to do next

EXPLAIN = (
    "A difference is no explanation: confirm it on new cases, and compare groups within a feature that may explain it "
    "(--strata, in Python strata=)."
)
COLLECT = re.compile(r"for (\w+) of (\w+), collect about ([\d,]+) more ([\w ]+) \(there (?:is|are) ([\d,]+)\)")
FIND = "To find a true gap of 0.1 with a probability of about 80%, if the reference's score is the one observed: "
LARGE = {"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (2800, 1100, 1100, 5000)}


def test_what_to_collect_is_what_each_group_lacks_least_of() -> None:
    """For each group the metric that lacks fewest cases; the nearest three groups first."""
    a = eh.audit_counts(LARGE, metrics=["tpr", "fpr"])
    few = [r for r in a.rows if r.verdict == "inconclusive"]
    needing = [altered(r, required_n=50 + 37 * i) for i, r in enumerate(few)]
    (step,) = next_steps(needing, a.settings)
    said = COLLECT.findall(step.removeprefix(FIND))
    assert step.startswith(FIND)
    told = [r for r in needing if r.group != "C" and (r.required_n or 0) > min(r.denominators)]
    assert len(said) == len({r.group for r in told})
    lacks = []
    for metric, group, more, kind, has in said:
        own = {r.metric: (r.required_n or 0) - min(r.denominators) for r in told if r.group == group}
        assert own[metric] == min(own.values()) == whole(more)
        assert whole(has) == next(min(r.denominators) for r in told if (r.group, r.metric) == (group, metric))
        assert kind == {"tpr": "actual positives", "fpr": "actual negatives"}[metric]
        lacks.append(whole(more))
    assert lacks == sorted(lacks)


def test_nothing_is_to_be_collected_beside_a_reference_that_is_as_uncertain() -> None:
    """Power beside 100 cases never reaches 80%, whatever the reference's observed rate suggests."""
    a = eh.audit_counts({"A": (5, 5, 8, 30), "B": (30, 10, 12, 48)}, metrics="acc")
    assert next_steps(a.rows, a.settings) == ()


def test_a_need_is_told_in_a_sentence() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "B": (3, 2, 2, 8), "C": (280, 110, 110, 500)}, metrics=["tpr", "fpr"])
    one = next(r for r in a.rows if r.group == "A" and r.metric == "tpr")
    assert needed_text(altered(one, required_n=95), a.settings) == (
        "It takes 95 actual positives to find a true gap of 0.1 with a probability of 80%; there are 9."
    )
    for enough in (9, 3):
        assert needed_text(altered(one, required_n=enough), a.settings) == ""


def test_one_case_is_told_from_many_and_no_more_than_three_groups() -> None:
    a = eh.audit_counts(LARGE, metrics=["tpr", "mcc"])
    few = [r for r in a.rows if r.verdict == "inconclusive"]
    for rests_on, step in (
        (9, "collect about 312 more actual positives (there are 9)."),
        (1, "collect about 320 more actual positives (there is 1)."),
        (320, "collect about 1 more actual positive (there are 320)."),
    ):
        is_it = [(r.group, r.metric) == ("A", "tpr") for r in few]
        one = [
            altered(r, required_n=321 if it else math.nan, support=rests_on if it else r.support)
            for r, it in zip(few, is_it, strict=True)
        ]
        assert next_steps(one, a.settings) == (f"{FIND}for tpr of A, {step}",)
    for groups, last in ((4, "; 1 other group needs more."), (6, "; 3 other groups need more.")):
        counts = {f"g{i}": (6, 3, 2, 21) for i in range(groups)} | {"C": (2800, 1100, 1100, 5000)}
        many = eh.audit_counts(counts, metrics="tpr", reference="C")
        (said,) = next_steps(many.rows, many.settings)
        assert len(COLLECT.findall(said)) == 3 and said.endswith(last)


def test_a_difference_is_to_be_confirmed_and_explained() -> None:
    counts = {("A", "x"): (20, 180, 80, 300), ("B", "x"): (300, 100, 120, 480), ("A", "y"): (20, 180, 80, 300),
              ("B", "y"): (300, 100, 120, 480)}  # fmt: skip
    plain = eh.audit_counts(counts, by=["race", "town"], metrics="tpr", intersections=1)
    assert next_steps(plain.rows, plain.settings)[0] == EXPLAIN
    within = eh.audit_counts(counts, by=["race", "town"], strata="town", metrics="tpr")
    assert next_steps(within.rows, within.settings) == ("A difference is no explanation: confirm it on new cases.",)


def test_a_verdict_that_depends_on_one_group_asks_for_a_named_reference() -> None:
    a = eh.audit_counts(compas(), by="race", metrics="ppr")
    depends = "Where a verdict depends on one group, compare with a named group (--reference, reference=)."
    assert any(r.driver for r in a.rows)
    assert next_steps(a.rows, a.settings)[:2] == (EXPLAIN, depends)
    named = eh.audit_counts(compas(), by="race", metrics="ppr", reference="Caucasian")
    assert depends not in next_steps(named.rows, named.settings)


def test_a_ratio_is_not_planned_for_and_none_is_promised_that_cannot_be() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "C": (280, 110, 110, 500)}, metrics="disparate_impact")
    assert next_steps([altered(r, required_n=999) for r in a.rows], a.settings) == ()
    a = eh.audit_counts({"A": (18, 0, 0, 3), "B": (270, 0, 0, 30)}, metrics=["disparate_impact", "ppr"])
    for r in a.rows:
        assert "ratio of 1.25" not in needed_text(r, a.settings) or not r.reference_score > 0.8


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
