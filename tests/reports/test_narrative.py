"""Every number in a sentence follows from its row, and the choice of key sentences hides nothing."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings, strategies as st
from random_audits import every_row
from shown_audits import COMPAS, MODELS, STRATA

import evenhand as eh
from evenhand.auditing import Row, margin_of
from evenhand.examples import compas
from evenhand.reports.narrative import (
    ERROR_RATES,
    SELECTION_RATES,
    describe_row,
    harms,
    impact_text,
    key_sentence,
    percents,
    select_key_rows,
    size_text,
)
from evenhand.reports.summary import Summary
from evenhand.reports.words import Words

# The counted cells and all cells of rates, and what they are called.
RATES = {
    "ppr": ("tp fp", "tp fn fp tn", "cases", "predicted positive"),
    "pnr": ("fn tn", "tp fn fp tn", "cases", "predicted negative"),
    "tpr": ("tp", "tp fn", "actual positives", "predicted positive"),
    "fnr": ("fn", "tp fn", "actual positives", "predicted negative"),
    "fpr": ("fp", "fp tn", "actual negatives", "predicted positive"),
    "ppv": ("tp", "tp fp", "predicted positives", "actually positive"),
    "npv": ("tn", "fn tn", "predicted negatives", "actually negative"),
    "acc": ("tp tn", "tp fn fp tn", "cases", "predicted correctly"),
    "prev": ("tp fn", "tp fn fp tn", "cases", "actually positive"),
}
SENTENCE = re.compile(
    r"([\d.]+)% of (?:the )?([\d,]+) (.+?) were (.+?), against ([\d.]+)% (?:of|in|for) ([^;]+); "
    r"(?:at least [\d.]+ points? (?:more|less)|size unclear)\."
)
cells = st.tuples(*[st.integers(0, 400)] * 4)


def rate_of(matrix: tuple[float, ...] | None, metric: str) -> tuple[Fraction, int]:
    """A rate, and the number of cases that it is a share of."""
    assert matrix is not None
    counts = dict(zip(("tp", "fn", "fp", "tn"), map(int, matrix), strict=True))
    counted, of = (sum(counts[cell] for cell in names.split()) for names in RATES[metric][:2])
    return Fraction(counted, of), of


def check_percent(text: str, rate: Fraction) -> None:
    """A percentage is rounded, and none or all only if it is exact."""
    digits = len(text.partition(".")[2])
    assert abs(Fraction(text) - 100 * rate) <= Fraction(1, 2 * 10**digits) + Fraction(1, 10**9)
    assert [Fraction(text) == end for end in (0, 100)] == [100 * rate == end for end in (0, 100)]


def check_key_sentence(row: Row, words: Words) -> None:
    """Rates and numbers of cases are those of the counts; a bound is not larger than that of the row."""
    said = SENTENCE.fullmatch(key_sentence(row, words))
    assert said, key_sentence(row, words)
    score, n, part, counted, reference_score, _ = said.groups()[:6]
    rate, of = rate_of(row.cells, row.metric)
    reference_rate, _ = rate_of(row.reference_cells, row.metric)
    check_percent(score, rate)
    check_percent(reference_score, reference_rate)
    assert (Fraction(score) > Fraction(reference_score)) == (rate > reference_rate)
    assert (int(n.replace(",", "")), counted) == (of, RATES[row.metric][3])
    assert part in (RATES[row.metric][2], "case")
    check_bound(row)


@settings(max_examples=25, phases=(Phase.explicit, Phase.generate))
@given(groups=st.lists(cells, min_size=1, max_size=4), favourable=st.sampled_from(["positive", "negative"]))
@example(groups=[(1, 0, 9_999, 90_000)], favourable="positive")
def test_key_sentences_of_rates_follow_from_the_counts(groups: list[Any], favourable: Any) -> None:
    counts = {f"g{i}": group for i, group in enumerate(groups) if sum(group)}
    counts |= {"most": (40, 160, 20, 380), "few": (8, 2, 1, 9)}
    a = eh.audit_counts(counts, metrics=list(RATES), favourable=favourable)
    words = Words.of(a.settings)
    for row in a.rows:
        if row.differs:
            check_key_sentence(row, words)
    check_choice(a)


@given(rates=st.tuples(*[st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1))] * 2))
@example(rates=(1e-6, 0.0))
@example(rates=(0.9999, 0.99999))
def test_percents_tell_rates_apart_and_from_none_and_all(rates: tuple[float, float]) -> None:
    shown = [float(text.removesuffix("%")) for text in percents(*rates)]
    assert shown == pytest.approx([100 * rate for rate in rates], abs=0.5)
    (one, other), (first, second) = shown, rates
    assert abs(first - second) <= 1e-9 or (one != other and (one > other) == (first > second))
    for text, rate in zip(shown, rates, strict=True):
        assert 0 < text < 100 if 1e-9 < rate < 1 - 1e-9 else rate not in (0, 1) or text == 100 * rate


def test_descriptions_have_the_numbers_of_their_rows() -> None:
    """Gaps of every kind: the score, the gap, its interval, the p-value on its side of alpha, and the bound."""
    for row, how in every_row():
        text = describe_row(row, how)
        if row.verdict == "undefined":
            assert row.reason in text
            assert (" undefined: " in text) == isnan(row.score) != ("not compared: " in text)
            continue
        if row.verdict == "reference":
            assert text.endswith("the reference")
            continue
        (score,) = re.findall(r" (-?[\d.e+-]+) \(n = [\d,]+\)", text)
        assert float(score) == pytest.approx(row.score, rel=6e-3, abs=6e-4)
        for gap in re.findall(r"; (?:difference|ratio|odds ratio) ([+-]?[\d.e+-]+\d)", text):
            assert float(gap) == pytest.approx(row.gap, rel=6e-3, abs=6e-4)
        for low, high in re.findall(r"CI \[(\S+), (\S+)\]", text):
            for end, value in ((low, row.gap_low), (high, row.gap_high)):
                assert isnan(value) if "∞" in end else float(end) == pytest.approx(value, rel=6e-3, abs=6e-4)
        for relation, p in re.findall(r"p ([=<]) ([\d.e-]+\d)", text):
            assert (float(p) <= how["alpha"]) == (row.p_adjusted <= how["alpha"])
            assert relation == "=" or p == "0.001"
        assert row.differs == any(word in text for word in ("higher than", "lower than", "not distributed like"))
        if row.differs and not isnan(row.at_least):
            check_bound(row)


def check_bound(row: Row) -> None:
    """A size is rounded towards no difference, and said as one only if the row has it."""
    said = re.search(r"at least (a factor of )?([\d.,]+)( points?)? (more|less|higher|lower|different)", size_text(row))
    if said is None:
        assert row.smallest_gap < 0.001 and size_text(row) == "size unclear"
        return
    factor, number, point, way = said.groups()
    bound = float(number.replace(",", "")) / (100 if point else 1)
    assert bool(factor) == row.is_ratio
    step = (0.01 if bound >= 0.01 else 0.001) if point else max(1, bound / 50)
    assert 0 < bound <= row.at_least + 1e-9 < bound + step + 2e-9
    assert way in {"higher": ("more", "higher"), "lower": ("less", "lower")}.get(row.verdict.value, ("different",))
    if factor:
        assert bound > 1


def test_impact_ratios_are_on_their_side_of_four_fifths() -> None:
    seen = set()
    for row, _ in every_row():
        if row.impact_ratio < 0.8 and not isnan(row.impact_at_most):
            ratio, most = (float(text.rstrip(")")) for text in re.findall(r"\d\.\d+", impact_text(row))[:2])
            assert ratio == pytest.approx(row.impact_ratio, abs=6e-4)
            assert row.impact_at_most <= most + 1e-9 and (most < 0.8) == row.is_below_four_fifths
            seen.add(row.is_below_four_fifths)
    assert seen == {True, False}


# The choice of key sentences


def check_choice(a: eh.Audit) -> None:
    """At most five; an error rate if one differs; selection rates at most two; large bounds first; nothing twice."""
    chosen = select_key_rows(a.rows, a.settings)
    differing = [row for row in a.rows if row.differs]
    assert len(chosen) <= 5 and all(row.differs for row in chosen)
    assert bool(chosen) == bool(differing)
    assert any(row.metric in ERROR_RATES for row in chosen) == any(row.metric in ERROR_RATES for row in differing)
    assert sum(row.metric in SELECTION_RATES for row in chosen) <= 2
    is_large = {id(row): row.smallest_gap > margin_of(row) for row in chosen}
    first_rows = list({(row.by, row.group): row for row in reversed(chosen)}.values())[::-1]
    ranking = [is_large[id(row)] for row in sorted(first_rows, key=chosen.index)]
    assert ranking == sorted(ranking, reverse=True), "a group with a bound beyond the margin comes before others"
    complements = {"pnr": "ppr", "fnr": "tpr"}
    said = [(row.by, row.group, str(row.at), complements.get(row.metric, row.metric)) for row in chosen]
    assert len(set(said)) == len(said)


@pytest.fixture(scope="module")
def people() -> dict[str, np.ndarray]:
    """The defendants of COMPAS, one by one, with columns that are unrelated to decisions."""
    rng = np.random.default_rng(4)
    columns: dict[str, list[Any]] = {"race": [], "y": [], "p": []}
    for race, cm in compas().items():
        for (y, p), n in zip(((1, 1), (1, 0), (0, 1), (0, 0)), map(int, (cm.tp, cm.fn, cm.fp, cm.tn)), strict=True):
            columns["race"] += [race] * n
            columns["y"] += [y] * n
            columns["p"] += [p] * n
    data = {name: np.array(values) for name, values in columns.items()}
    shifted = (data["p"] == 1) & (rng.random(len(data["p"])) < 0.2)
    data["court"] = np.where(shifted, "north", rng.choice(["north", "south", "east"], len(shifted)))
    data["year"] = rng.choice(["2013", "2014"], len(shifted))
    return data


def test_another_group_column_removes_no_first_finding(people: dict[str, np.ndarray]) -> None:
    first: dict[str, str] = {}
    for columns in (["race"], ["court"], ["race", "court"], ["race", "court", "year"]):
        a = eh.audit(people, y_true="y", y_pred="p", groups=columns, favourable="negative", intersections=2)
        check_choice(a)
        summary = Summary(a)
        sentences = [f"{row.group}: {summary.sentence(row).partition('; at least')[0]}" for row in summary.key_rows]
        if len(columns) == 1:
            first[columns[0]] = sentences[0]
        assert {first[column] for column in columns if column in first} <= set(sentences)
    assert first["race"].startswith("African-American: 59% of 3,696 cases were predicted positive, against 32%")


def test_a_group_and_the_groups_inside_it_are_one_sentence() -> None:
    towns = ("East", "North", "South", "West", "Far")
    counts = {("F", town): (30, 170, 10, 190) for town in towns} | {("M", town): (150, 50, 90, 110) for town in towns}
    counts["F", "East"] = (199, 1, 190, 10)
    summary = Summary(eh.audit_counts(counts, by=["sex", "town"], metrics=["tpr"], intersections=2))
    women = [row for row in summary.key_rows if row.group == "F"]
    assert len(women) == 1 and not any(
        row.group.startswith("F & ") and row.verdict == "lower" for row in summary.key_rows
    )
    assert re.search(r" Also: F & \w+, F & \w+, F & \w+, 1 more\.$", summary.sentence(women[0]))
    assert "F & East" not in summary.sentence(women[0]), "it differs in the other direction"


def test_groups_that_mirror_each_other_are_said_once_by_the_one_that_is_worse_off() -> None:
    counts = {"A": (100, 0, 60, 40), "B": (500, 0, 20, 480)}
    harmed_groups: dict[Any, str] = {"positive": "B", "negative": "A"}
    for favourable, harmed in harmed_groups.items():
        a = eh.audit_counts(counts, metrics="ppr", favourable=favourable)
        assert [row.group for row in select_key_rows(a.rows, a.settings)] == [harmed]
    # Against a third group, two groups of one size do not mirror each other.
    counts = {"A": (80, 20, 0, 100), "B": (20, 180, 0, 0), "C": (90, 10, 0, 100)}
    a = eh.audit_counts(counts, metrics="ppr", reference="B")
    assert {row.group for row in select_key_rows(a.rows, a.settings)} == {"A", "C"}
    assert {"A", "C"} <= {line[:1] for line in a.to_text().splitlines()}


# Harm


def test_harm_is_said_of_selection_and_unfavourable_errors_only() -> None:
    harmful: dict[Any, set[tuple[str, str]]] = {
        "positive": {("ppr", "lower"), ("pnr", "higher"), ("fnr", "higher"), ("tpr", "lower")},
        "negative": {("ppr", "higher"), ("pnr", "lower"), ("fpr", "higher"), ("tnr", "lower")},
        None: set(),
    }
    metrics, said = [*RATES, "tnr", "f1", "mcc"], set()
    for favourable, claims in harmful.items():
        for missed in (0, 90):
            counts = {"A": (100 - missed, missed, 60, 40), "B": (500 - missed // 2, missed // 2, 20, 480)}
            a = eh.audit_counts(counts, metrics=metrics, favourable=favourable)
            for row in a.rows:
                is_harm = row.differs and (row.metric, row.verdict.value) in claims
                assert harms(row, a.settings) == is_harm, row
                said.add((favourable, is_harm))
            assert favourable or "worse" not in a.to_text(None).lower()
    assert len(said) == 5


# Singular, plural, places and other kinds of rows


def test_singular_and_plural() -> None:
    words = Words.of({"wording": {"cases": "items"}})
    assert (words.count(1), words.count(2)) == ("1 item", "2 items")
    audits = [
        eh.audit_counts({"A": (300, 700, 0, 0), "B": (n, 1000 - n, 0, 0)}, metrics="tpr") for n in range(240, 262)
    ]
    said = {size_text(row) for a in audits for row in a.rows if row.differs}
    assert {"at least 1 point more", "at least 1 point less", "at least 2 points more"} <= said
    given = eh.ConfusionMatrix(tp=30, fn=10, fp=12, tn=48)
    one = eh.audit_counts({"A": (9, 31, 12, 48)}, metrics="tpr", reference=given).to_text()
    assert "(1 group)" in one and "1 of 1 comparison differs" in one


def test_rows_of_models_strata_and_drivers_are_told_in_their_own_way() -> None:
    few = eh.compare(
        {"g": list("ab") * 80, "y": [1] * 160, "old": [0] * 160, "new": [1, 0] * 80},
        y_true="y", models={"old": "old", "new": "new"}, groups="g", metrics="tpr", positive=1, gaps=True,
    )  # fmt: skip
    for row in few.rows:
        assert row.differs or (row.group, row.is_gap_change) == ("b", False)
        said = key_sentence(row, Words.of(MODELS.settings))
        if row.is_change and row.differs:
            wins = f"{row.gained:,.0f} win"
            assert f"0 losses, {wins}" in said and re.search(r"at least \d+ points better\.$", said)
        elif row.differs:
            assert f"changed from {row.before:.3f} to {row.before + row.score:.3f}, and in the rest from " in said
            assert re.search(r"the gap moved (at least [\d.]+ (higher|lower)|(higher|lower), size unclear)\.$", said)
    for row in STRATA.rows:
        if row.differs and row.is_pooled:
            said = key_sentence(row, Words.of(STRATA.settings))
            assert f"within strata: odds {row.gap:.3f} times those of the rest; " in said
    named = [re.findall(r"\b(?:tpr|ppr|mcc)\b", text) for text in Summary(STRATA).driven]
    assert sum(map(len, named)) == sum(row.driver is not None and row.differs for row in STRATA.rows)
    assert all(len(set(metrics)) == len(metrics) for metrics in named)


def test_what_is_inconclusive_is_counted_and_more_cases_are_asked_for_where_they_are_fewest() -> None:
    assert Summary(COMPAS).inconclusive == "Native American 5 of 5, Asian 3, Hispanic 1, Other 1"
    many = eh.audit_counts({f"g{i}": (2, 1, 1, 3) for i in range(9)}, metrics="tpr")
    assert Summary(many).inconclusive.endswith(", 5 more groups")
    needs = [(row.required_n - row.support, row) for row in COMPAS.rows
             if row.verdict == "inconclusive" and row.required_n > row.support]  # fmt: skip
    n, row = min(needs, key=lambda need: need[0])
    assert Summary(COMPAS).collecting == f"{row.group} {row.metric}, {int(n):,} more predicted positives"


def test_ends_of_intervals_are_on_their_side_of_no_difference() -> None:
    """0.99998 printed as 1.000 would say that a ratio that differs may be 1."""
    ratio = eh.audit_counts({"A": (1, 0, 1752, 0), "B": (154161, 2, 621, 2)}, metrics=["lr_plus"])
    for row in ratio.rows:
        end = describe_row(row, ratio.settings).split("CI [")[1].split("]")[0].split(", ")[row.verdict == "lower"]
        assert row.differs and float(end) != 1 and (float(end) > 1) == (row.verdict == "higher")
    unequal = eh.disparity(eh.ConfusionMatrix(tp=12, fn=4, fp=0, tn=0), eh.ConfusionMatrix(tp=36, fn=1, fp=0, tn=0),
                           "tpr", kind="ratio")  # fmt: skip
    assert "to 0.99998" in str(unequal)


def test_odds_of_undefined_scores_single_cases_and_weights_are_said_as_they_are() -> None:
    lone = eh.audit_counts({"A": (0, 0, 0, 1), "B": (1, 0, 0, 1)}, metrics=["mcc"])
    row = next(row for row in lone.rows if row.group == "A")
    assert "(probability 100%)" in describe_row(row, lone.settings)
    one = eh.audit_counts({"A": (1, 0, 0, 0), "B": (2, 3000, 0, 0)}, metrics=["tpr"])
    row = next(row for row in one.rows if row.group == "A")
    assert "of the 1 actual positive was predicted positive" in key_sentence(row, Words.of({}))
    data = {"g": list("AAAABBBB") * 3, "y": [1] * 20 + [0] * 4, "p": [1, 0, 1, 1, 1, 0, 0, 1] * 3, "w": [0.5, 1.5] * 12}
    weighted = eh.audit(data, y_true="y", y_pred="p", groups="g", sample_weight="w", metrics="tpr")
    assert not any("clusters" in finding.sentence for finding in weighted.findings if finding.kind == "inconclusive")
