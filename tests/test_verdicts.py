"""The truth of what an audit says: verdicts that follow from their rows, tests of equal scores, and careful words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from math import exp, floor, log
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

import evenhand as eh
from evenhand import Settings, Verdict
from evenhand.auditing import number
from evenhand.auditing.adjust import holm
from evenhand.faces.audit_command import audit as command

CM = eh.ConfusionMatrix
Cells = tuple[int, int, int, int]
METRICS = (
    *("tpr", "ppr", "f1", "mcc", "mb", "lr_plus", "dor"),
    *("equal_opportunity", "disparate_impact", "equalized_odds", "te"),
)
RATES = ("tpr", "fpr", "ppv", "ppr", "acc")


def row(a: eh.Audit, group: str, metric: str | None = None) -> eh.Row:
    return next(r for r in a.rows if r.group == group and metric in (None, r.metric))


def verdicts(counts: Any, metric: str, **settings: Any) -> dict[str, str]:
    return {r.group: r.verdict.value for r in eh.audit_counts(counts, metrics=metric, **settings).rows}


def recomputed(r: eh.Row, s: dict[str, Any]) -> Verdict:
    """The verdict that follows from nothing but the fields of a row and the settings."""
    m = eh.metric(r.metric)
    if r.reference_kind == "group" and r.group == r.reference:
        return Verdict.REFERENCE
    if r.reason is not None:
        return Verdict.UNDEFINED
    assert r.p_adjusted is not None and r.score is not None
    if r.p_adjusted <= s["alpha"]:
        if r.difference is not None:
            up = r.difference > 0
        else:
            up = m.is_distance or r.score > (1 if m.kind == "ratio" else 0)
        return Verdict.HIGHER if up else Verdict.LOWER
    if m.kind == "ratio":
        within = r.low is not None and r.high is not None and r.low >= 0.8 and r.high <= 1.25
    elif m.kind == "difference" or m.is_distance:
        within = r.low is not None and r.high is not None and -s["margin"] <= r.low and r.high <= s["margin"]
    elif r.ratio_low is not None and r.ratio_high is not None:
        within = r.ratio_low >= 0.8 and r.ratio_high <= 1.25
    else:
        low, high = r.difference_low, r.difference_high
        within = low is not None and high is not None and -s["margin"] <= low and high <= s["margin"]
    return Verdict.ALIKE if within else Verdict.TOO_FEW


@cache
def random_audits() -> tuple[eh.Audit, ...]:
    """Groups of every size down to none, rates near 0 and 1, equal groups, and every kind of reference."""
    rng = np.random.default_rng(2025)
    made = []
    for turn in range(14):
        groups: dict[str, Cells] = {}
        rates = rng.dirichlet([0.6, 0.6, 0.6, 0.6])
        for name in "ABCDE"[: 2 + turn % 4]:
            size = int(rng.choice([0, 1, 2, 8, 40, 300, 900]))
            own = rates if rng.random() < 0.5 else rng.dirichlet([0.8, 0.8, 0.8, 0.8])
            groups[name] = tuple(int(x) for x in rng.multinomial(size, own))  # type: ignore[assignment]
        groups["Z"] = tuple(int(x) for x in rng.multinomial(400, rates))  # type: ignore[assignment]
        if turn % 5 == 0:
            groups["Y"] = groups["Z"]
        reference: Any = ("rest", "Z", "all", CM(200, 60, 40, 300))[turn % 4]
        made.append(
            eh.audit_counts(
                groups,
                metrics=METRICS,
                reference=reference,
                alpha=(0.05, 0.2)[turn % 2],
                margin=(0.1, 0.25)[turn % 3 == 0],
                adjust=("holm", "bh", "none")[turn % 3],
                level=(0.95, 0.8)[turn % 3 == 0],
            )
        )
    return tuple(made)


def every_row() -> Iterator[tuple[eh.Row, dict[str, Any]]]:
    return ((r, a.settings) for a in random_audits() for r in a.rows)


# Every verdict can be checked from its row alone.


def test_every_verdict_follows_from_its_own_row() -> None:
    for r, s in every_row():
        expected = recomputed(r, s)
        if r.reference_kind == "all" and r.differs and not eh.metric(r.metric).base.is_rate:
            assert expected.differs
        else:
            assert r.verdict is expected, (r, r.to_dict())


def test_a_verdict_against_everybody_has_the_direction_of_the_gap_shown() -> None:
    """LR+ of B is 0.818, everybody's is 0.847, and the rest's 0.392: higher than everybody else's."""
    a = eh.audit_counts({"A": (14, 144, 132, 452), "B": (175, 92, 507, 126)}, metrics="lr_plus", reference="all")
    for r in a.rows:
        assert r.verdict is recomputed(r, a.settings)


def test_the_random_audits_hold_every_verdict_for_most_metrics() -> None:
    """Or the tests above would say little."""
    seen: dict[str, set[str]] = {}
    for r, _ in every_row():
        seen.setdefault(r.metric, set()).add(r.verdict.value)
    assert set(seen) == set(METRICS)
    assert {v for some in seen.values() for v in some} == {v.value for v in Verdict}
    for metric in set(METRICS) - {"te", "equalized_odds"}:
        assert {"higher", "lower", "too few to tell", "undefined"} <= seen[metric], metric


def test_undefined_always_has_a_reason_and_only_then() -> None:
    for r, _ in every_row():
        if r.verdict is Verdict.UNDEFINED:
            assert r.reason, r
            assert r.status == f"undefined: {r.reason}"
        elif r.verdict is not Verdict.REFERENCE:
            assert r.reason is None, r
            assert r.score is not None
            assert r.p_adjusted is not None


def test_a_score_and_a_gap_lie_in_their_own_intervals() -> None:
    for r, _ in every_row():
        for value, low, high in (
            (r.score, r.low, r.high),
            (r.difference, r.difference_low, r.difference_high),
            (r.ratio, r.ratio_low, r.ratio_high),
            (r.impact_ratio, r.impact_low, r.impact_high),
        ):
            if value is not None and low is not None and high is not None:
                assert low - 1e-12 <= value <= high + 1e-12, (r, value, low, high)


def test_what_is_sure_of_a_gap_is_nothing_if_its_interval_includes_none() -> None:
    """Also where a score differs: alpha and the level of intervals are two settings."""
    unsure = 0
    for r, _ in every_row():
        if r.gap is not None:
            low, high = r.gap
            assert r.sure_gap == (0.0 if low <= 0 <= high else min(abs(low), abs(high)))
            unsure += r.differs and r.sure_gap == 0
    assert unsure > 0


def test_percentile_and_verdict_never_contradict_for_rates() -> None:
    """Lower: P(S <= s) <= alpha / 2. Higher: P(S >= s) <= alpha / 2, so that P(S <= s) >= 1 - alpha / 2."""
    checked = 0
    for r, s in every_row():
        if r.metric in ("tpr", "ppr", "f1") and r.differs:
            assert r.percentile is not None
            if r.verdict is Verdict.LOWER:
                assert r.percentile <= s["alpha"] / 2
            else:
                assert r.percentile >= 1 - s["alpha"] / 2
            checked += 1
    assert checked > 20


cells = st.tuples(*[st.integers(0, 12)] * 4)


@given(a=cells, b=cells, metric=st.sampled_from(RATES))
def test_the_direction_of_a_verdict_is_that_of_the_smaller_tail(a: Cells, b: Cells, metric: str) -> None:
    """p = 2 min(P(X <= k), P(X >= k)) for k of m cases, hypergeometric given the pooled count."""
    part: dict[str, tuple[Any, Any]] = {
        "tpr": (lambda c: c[0], lambda c: c[0] + c[1]),
        "fpr": (lambda c: c[2], lambda c: c[2] + c[3]),
        "ppv": (lambda c: c[0], lambda c: c[0] + c[2]),
        "ppr": (lambda c: c[0] + c[2], sum),
        "acc": (lambda c: c[0] + c[3], sum),
    }
    count, whole = part[metric]
    found = row(eh.audit_counts({"A": a, "B": b}, metrics=metric, alpha=0.3), "A")
    if not whole(a) or not whole(b):
        assert found.verdict is Verdict.UNDEFINED and found.reason
        return
    law = hypergeom(whole(a) + whole(b), count(a) + count(b), whole(a))
    lower, upper = law.cdf(count(a)), law.sf(count(a) - 1)
    assert found.pvalue == pytest.approx(min(1, 2 * min(lower, upper)))
    assert found.percentile == pytest.approx(lower)
    if found.differs:
        assert (found.verdict is Verdict.HIGHER) == (upper < lower)


# The edges.


def test_large_groups_with_equal_rates_are_alike() -> None:
    counts = {"A": (100, 1900, 500, 1500), "B": (200, 3800, 1000, 3000), "C": (100, 1900, 500, 1500)}
    assert verdicts(counts, "tpr") == dict.fromkeys("ABC", "alike")


def test_fifty_of_a_hundred_twice_is_too_few_to_tell() -> None:
    """Equal, but the gap is only known to within 0.137."""
    found = row(eh.audit_counts({"A": (50, 50, 0, 0), "B": (50, 50, 0, 0)}, metrics="tpr"), "A")
    assert found.verdict is Verdict.TOO_FEW
    assert (found.difference_low, found.difference_high) == pytest.approx((-0.137, 0.137), abs=5e-4)
    assert verdicts({"A": (50, 50, 0, 0), "B": (50, 50, 0, 0)}, "tpr", margin=0.138) == {"A": "alike", "B": "alike"}


@pytest.mark.parametrize(("metric", "reference"), [("equalized_odds", "rest"), ("f1", "all"), ("mcc", "all")])
def test_thousands_of_cases_with_equal_rates_are_not_too_few(metric: str, reference: str) -> None:
    same = (4000, 4000, 4000, 4000)
    assert set(verdicts({"A": same, "B": same}, metric, reference=reference).values()) == {"alike"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0, 400, 0, 0), (0, 400, 0, 0), "alike"),
        ((400, 0, 0, 0), (400, 0, 0, 0), "alike"),
        ((1, 399, 0, 0), (0, 4000, 0, 0), "alike"),
        ((399, 1, 0, 0), (4000, 0, 0, 0), "alike"),
        ((0, 400, 0, 0), (400, 0, 0, 0), "lower"),
        ((0, 3, 0, 0), (0, 4000, 0, 0), "too few to tell"),
        ((2, 0, 0, 0), (2000, 0, 0, 0), "too few to tell"),
        ((500, 500, 0, 0), (1, 1, 0, 0), "too few to tell"),  # a reference smaller than the group
        ((500, 500, 0, 0), (10, 0, 0, 0), "lower"),
        ((1, 0, 0, 0), (0, 1, 0, 0), "too few to tell"),  # one case on either side
        ((1, 0, 0, 0), (1, 0, 0, 0), "too few to tell"),
        ((1, 0, 0, 0), (0, 5000, 0, 0), "higher"),
        ((3, 2, 4, 1), (3, 2, 4, 1), "too few to tell"),  # equal groups
        ((10_000, 10_000, 4, 1), (10_000, 10_000, 4, 1), "alike"),
        ((0, 0, 4, 1), (10, 10, 4, 1), "undefined"),
        ((10, 10, 4, 1), (0, 0, 4, 1), "undefined"),
        ((0, 0, 0, 0), (10, 10, 4, 1), "undefined"),
    ],
)
def test_true_positive_rates_at_the_edges(a: Cells, b: Cells, expected: str) -> None:
    assert verdicts({"A": a, "B": b}, "tpr")["A"] == expected


def test_equal_scores_of_unequal_rates_do_not_differ() -> None:
    """Both have informedness 0.4, and share no rate: MATCH would reject, a test of equal scores must not."""
    counts = {"g": (180, 20, 400, 400), "h": (400, 400, 20, 180)}
    a = eh.audit_counts(counts, metrics="informedness")
    assert [r.score for r in a.rows] == pytest.approx([0.4, 0.4])
    assert not any(r.differs for r in a.rows)
    assert eh.match_test(CM(*counts["g"]), CM(*counts["h"]), "informedness").pvalue < 1e-6


def test_unequal_scores_of_equal_rates_differ() -> None:
    """TPR and FPR are equal, MCC is not: MATCH given the margin would see nothing."""
    a = eh.audit_counts({"g": (400, 100, 1900, 7600), "h": (4000, 1000, 1000, 4000)}, metrics="mcc")
    assert row(a, "g").verdict is Verdict.LOWER
    assert row(a, "h").verdict is Verdict.HIGHER
    assert verdicts({"g": (400, 100, 1900, 7600), "h": (4000, 1000, 1000, 4000)}, "tpr")["g"] == "alike"


def test_a_group_with_one_positive_says_nothing_of_f1() -> None:
    assert verdicts({"g": (0, 1, 0, 74), "h": (300, 100, 120, 480)}, "f1") == dict.fromkeys("gh", "too few to tell")


@pytest.mark.parametrize("metric", ["dor", "lr_plus", "lr_minus", "te_part"])
def test_scores_without_an_upper_end_are_judged_by_their_ratio(metric: str) -> None:
    """Alike within 0.8 to 1.25, whatever the margin; their difference has no scale."""
    large = (8000, 2000, 1000, 9000)
    for margin in (1e-6, 0.1, 50.0):
        a = eh.audit_counts({"A": large, "B": large}, metrics=metric, margin=margin)
        assert {r.verdict for r in a.rows} == {Verdict.ALIKE}
    small = row(eh.audit_counts({"A": (80, 20, 10, 90), "B": large}, metrics=metric, margin=50.0), "A")
    assert small.verdict is Verdict.TOO_FEW
    assert small.ratio_low is not None and small.ratio_high is not None
    assert small.ratio_low < 0.8 or small.ratio_high > 1.25
    assert (small.difference_low, small.difference_high) == (None, None)


# Four fifths.


def test_four_fifths_are_of_the_highest_rate_that_enough_cases_bear() -> None:
    """Two people who are both selected are 0.2 % of the cases, not the rate that others are held against."""
    counts = {"tiny": (0, 0, 2, 0), "men": (0, 0, 400, 400), "women": (0, 0, 120, 280)}
    a = eh.audit_counts(counts, metrics="ppr")
    assert {r.impact_group for r in a.rows} == {"men"}
    assert row(a, "men").impact_ratio == 1.0
    assert (row(a, "men").impact_low, row(a, "men").impact_high) == (None, None)
    assert row(a, "tiny").impact_ratio == pytest.approx(2.0)
    assert row(a, "women").impact_ratio == pytest.approx(0.6)
    assert row(a, "women").impact_n == 800
    against_all = eh.audit_counts(counts, metrics="ppr", impact_share=0)
    assert {r.impact_group for r in against_all.rows} == {"tiny"}
    assert [f.group for f in a.findings if f.kind == "four-fifths"] == ["women"]


def test_only_a_whole_interval_below_four_fifths_is_below_four_fifths() -> None:
    def kinds(women: Cells) -> list[str]:
        a = eh.audit_counts({"men": (0, 0, 600, 400), "women": women}, metrics="ppr")
        found = row(a, "women")
        assert found.impact_high is not None and found.impact_ratio is not None
        expected = (
            ["four-fifths"]
            if found.impact_high < 0.8
            else ["may-be-below-four-fifths"]
            if found.impact_ratio < 0.8
            else []
        )
        some = [f.kind for f in a.findings if "fifths" in f.kind]
        assert some == expected
        return some

    assert kinds((0, 0, 300, 700)) == ["four-fifths"]
    assert kinds((0, 0, 9, 11)) == ["may-be-below-four-fifths"]
    assert kinds((0, 0, 500, 500)) == []


def test_the_interval_of_an_impact_ratio_is_that_of_disparity() -> None:
    counts = {"men": (0, 0, 60, 40), "women": (0, 0, 9, 11)}
    found = row(eh.audit_counts(counts, metrics="ppr"), "women")
    gap = eh.disparity(CM(*counts["women"]), CM(*counts["men"]), "ppr", "ratio")
    assert (found.impact_ratio, found.impact_low, found.impact_high) == pytest.approx((gap.estimate, gap.low, gap.high))


def test_the_interval_of_an_impact_ratio_holds_for_every_group_that_could_be_the_highest() -> None:
    """Bonferroni over the candidates other than the group itself; a small group is no candidate."""
    counts = {"men": (0, 0, 60, 40), "women": (0, 0, 45, 55), "others": (0, 0, 30, 70), "tiny": (0, 0, 1, 2)}
    a = eh.audit_counts(counts, metrics="ppr", level=0.9)
    for name, choices in (("women", 2), ("others", 2), ("tiny", 3)):
        gap = eh.disparity(CM(*counts[name]), CM(*counts["men"]), "ppr", "ratio", level=1 - 0.1 / choices)
        found = row(a, name)
        assert (found.impact_low, found.impact_high) == pytest.approx((gap.low, gap.high))


def test_equal_groups_are_rarely_said_to_be_below_four_fifths() -> None:
    """Ten groups of 60 with the same rate; with the plain 95 % interval, one in seven such audits said so."""
    draws = np.random.default_rng(1).binomial(60, 0.3, (40, 10))
    found = [
        eh.audit_counts({f"g{i}": (0, 0, int(x), 60 - int(x)) for i, x in enumerate(one)}, metrics="ppr").findings
        for one in draws
    ]
    assert sum(any(f.kind == "four-fifths" for f in findings) for findings in found) <= 2


def test_nobody_is_compared_with_a_missing_group() -> None:
    data = {
        "g": ["a"] * 100 + ["b"] * 100 + [None] * 20,
        "p": [1] * 30 + [0] * 70 + [1] * 35 + [0] * 65 + [1] * 18 + [0] * 2,
    }
    a = eh.audit(data, y_pred="p", groups="g")
    assert {r.impact_group for r in a.rows if r.impact_ratio is not None} == {"b"}
    assert [f.group for f in a.findings if f.kind == "four-fifths"] == []


def test_a_favourable_negative_turns_four_fifths_round() -> None:
    """Whom a positive prediction harms is favoured by a negative one: the group with fewer positives is best off."""
    counts = {"A": (0, 0, 300, 700), "B": (0, 0, 600, 400)}
    good, bad = (eh.audit_counts(counts, metrics="ppr", favourable=which) for which in ("positive", "negative"))
    assert (row(good, "A").impact_group, row(bad, "A").impact_group) == ("B", "A")
    assert row(good, "A").impact_ratio == pytest.approx(0.3 / 0.6)
    assert row(bad, "B").impact_ratio == pytest.approx(0.4 / 0.7)
    assert [(f.kind, f.group) for f in good.findings if "fifths" in f.kind] == [("four-fifths", "A")]
    assert [(f.kind, f.group) for f in bad.findings if "fifths" in f.kind] == [("four-fifths", "B")]
    assert any("B is spared at 0.571 times the rate of A (1,000 cases)" in f.sentence for f in bad.findings)


def test_failing_on_four_fifths_needs_the_whole_interval() -> None:
    def code(women: str, kind: str) -> int:
        text = f"sex,tp,fn,fp,tn\nmen,0,0,600,400\nwomen,{women}\n"
        words = ["--counts", "-", "--metric", "ppr", "--fail-on", kind]
        return CliRunner().invoke(command, words, input=text, catch_exceptions=False).exit_code

    assert code("0,0,300,700", "four-fifths") == 1
    assert code("0,0,9,11", "four-fifths") == 0
    assert code("0,0,9,11", "may-be-below-four-fifths") == 1
    assert code("0,0,300,700", "may-be-below-four-fifths") == 0


# Who drives the rest.


@pytest.mark.parametrize("largest", [1, 3])
def test_the_group_that_moves_the_rest_is_named_with_the_verdict_without_it(largest: int) -> None:
    """A is at 0.8, B and C at 0.6: B and C are lower than their rests, but only because of A."""
    b = (600 * largest, 400 * largest, 0, 1000)
    a = eh.audit_counts({"A": (800, 200, 0, 1000), "B": b, "C": b}, metrics="tpr")
    assert (row(a, "A").verdict, row(a, "A").driver) == (Verdict.HIGHER, None)
    for name in ("B", "C"):
        found = row(a, name)
        assert found.verdict is Verdict.LOWER
        assert (found.driver, found.without_verdict, found.without_difference) == ("A", Verdict.ALIKE, 0.0)
        assert found.without_low is not None and found.without_high is not None
        assert -0.1 <= found.without_low < 0 < found.without_high <= 0.1
    (sentence,) = [f.sentence for f in a.findings if f.group == "B"]
    assert sentence.endswith(". Without A in the reference the verdict would be: alike (gap +0.000)")
    assert "▼*lower" in str(a)


def test_compas_caucasians_are_lower_only_beside_african_americans() -> None:
    found = row(eh.audit_counts(eh.examples.compas(), by="race", metrics="ppr"), "Caucasian")
    assert (found.verdict, found.driver, found.without_verdict) == ("lower", "African-American", "higher")
    groups = eh.examples.compas()
    others = sum((groups[name] for name in ("Hispanic", "Asian", "Native American", "Other")), CM(0, 0, 0, 0))
    gap = eh.disparity(groups["Caucasian"], others, "ppr")
    assert (found.without_difference, found.without_low, found.without_high) == pytest.approx(
        (gap.estimate, gap.low, gap.high)
    )


def test_a_driver_is_said_only_where_the_verdict_changes_side() -> None:
    for r, _ in every_row():
        if r.driver is not None:
            assert r.reference_kind == "rest" and r.driver != r.group
            assert r.without_verdict is not None and r.without_verdict is not r.verdict
            assert r.differs or r.without_verdict.differs
            assert Verdict.UNDEFINED not in (r.verdict, r.without_verdict)
        else:
            assert (r.without_verdict, r.without_difference, r.without_low, r.without_high) == (None,) * 4


def test_the_verdict_without_a_group_is_adjusted_as_the_verdict_with_it() -> None:
    """With A, ppr of D has p 0.0034, adjusted over six metrics 0.0500; without A, 0.0069, which is not more."""
    counts = {"A": (42, 27, 33, 48), "B": (18, 18, 20, 24), "C": (15, 22, 24, 19), "D": (39, 22, 57, 32)}
    metrics = [*RATES, "npv"]
    found = row(eh.audit_counts(counts, metrics=metrics, family="audit"), "D", "ppr")
    assert (found.verdict, found.driver) == (Verdict.TOO_FEW, None)
    # Over the four groups of one metric.
    others = CM(*counts["B"]) + CM(*counts["C"])
    raw = eh.disparity(CM(*counts["D"]), others, "ppr", test="fisher").pvalue
    assert 0.0065 < raw < 0.008
    within = row(eh.audit_counts(counts, metrics="ppr", alpha=0.02), "D")
    between = row(eh.audit_counts(counts, metrics="ppr", alpha=0.008), "D")
    assert (within.verdict, between.verdict) == (Verdict.HIGHER, Verdict.TOO_FEW)
    # Without B the raw p is 0.0076, below 0.02; adjusted it is above.
    assert (within.driver, within.without_verdict) == ("B", Verdict.TOO_FEW)
    assert between.driver is None, "raw p is below 0.008 without A, but adjusted it is not"


# Adjusted p-values.


def slow_holm(parts: list[tuple[int, int, int, int]]) -> list[float]:
    """Holm's method with the p-values that each exact test can reach, from sums of hypergeometric probabilities.

    Each part is a of A against b of B.
    """
    tests = []
    for a, of_a, b, of_b in parts:
        law = hypergeom(of_a + of_b, a + b, of_a)
        k = np.arange(max(0, a - of_b + b), min(of_a, a + b) + 1)
        p = np.minimum(1, 2 * np.minimum(law.cdf(k), law.sf(k - 1)))
        tests.append((float(p[k == a][0]), p, law.pmf(k)))
    order = sorted(range(len(tests)), key=lambda i: tests[i][0])
    adjusted, running = [0.0] * len(tests), 0.0
    for place, i in enumerate(order):
        x = tests[i][0]
        reached = sum(float(pmf[p <= x * (1 + 1e-9)].sum()) for _, p, pmf in (tests[j] for j in order[place:]))
        running = max(running, min(1.0, reached), x)
        adjusted[i] = running
    return adjusted


def plain_holm(p: list[float]) -> list[float]:
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, running = [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        running = max(running, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = running
    return adjusted


@given(groups=st.lists(cells, min_size=3, max_size=6), metric=st.sampled_from(["tpr", "ppv", "f1"]))
def test_discrete_holm_is_what_a_slow_sum_over_all_outcomes_gives(groups: list[Cells], metric: str) -> None:
    counts = {f"g{i}": c for i, c in enumerate(groups)}
    a = eh.audit_counts(counts, metrics=metric)
    rows = [r for name in counts for r in a.rows if r.group == name and r.pvalue is not None]
    whole = {"tpr": [0, 1], "ppv": [0, 2], "f1": [0, 1, 2]}[metric]
    total = np.sum(groups, axis=0)
    parts = []
    for r in rows:
        mine = np.array(counts[r.group])
        theirs = total - mine
        parts.append((int(mine[0]), int(mine[whole].sum()), int(theirs[0]), int(theirs[whole].sum())))
    adjusted = [r.p_adjusted for r in rows]
    assert adjusted == pytest.approx(slow_holm(parts), rel=1e-6)
    raw = [float(r.pvalue) for r in rows if r.pvalue is not None]
    for mine_, once, plain in zip(adjusted, raw, plain_holm(raw), strict=True):
        assert mine_ is not None
        assert once <= mine_ <= plain * (1 + 1e-9)


def test_adjusting_over_the_audit_is_never_less_strict_than_over_a_metric() -> None:
    for counts in (eh.examples.compas(), {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (3, 9, 20, 40)}):
        one, all_ = (eh.audit_counts(counts, family=f, metrics=[*RATES, "mcc"]) for f in ("metric", "audit"))
        pairs = [(r, row(all_, r.group, r.metric)) for r in one.rows]
        assert all((s.p_adjusted or 0) >= (r.p_adjusted or 0) for r, s in pairs)
        assert any((s.p_adjusted or 0) > (r.p_adjusted or 0) for r, s in pairs)
        # What has no exact test counts by its p-value, as in Holm's own method.
        p = [r.pvalue for r in all_.rows if r.pvalue is not None]
        plain = dict(zip([(r.group, r.metric) for r in all_.rows if r.pvalue is not None], plain_holm(p), strict=True))
        for r in all_.rows:
            if r.pvalue is not None and r.p_adjusted is not None:
                assert r.pvalue <= r.p_adjusted <= plain[r.group, r.metric] * (1 + 1e-9)


def test_two_groups_count_as_one_comparison_in_either_family() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}
    a = eh.audit_counts(counts, metrics=["tpr", "mcc"], family="audit")
    p = {m: row(a, "A", m).pvalue for m in ("tpr", "mcc")}
    assert p == {m: pytest.approx(row(a, "B", m).pvalue) for m in p}
    assert None not in p.values()
    for m, adjusted in zip(p, plain_holm([x for x in p.values() if x is not None]), strict=True):
        for group in counts:
            found = row(a, group, m).p_adjusted
            assert found is not None and found <= adjusted * (1 + 1e-9), "two comparisons, not four"


def test_the_same_adjustment_whatever_the_order() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (3, 9, 20, 40), "D": (9, 6, 4, 21)}
    forward, backward = (
        eh.audit_counts(dict(some), metrics="tpr") for some in (counts.items(), reversed(counts.items()))
    )
    for name in counts:
        assert row(forward, name).p_adjusted == pytest.approx(row(backward, name).p_adjusted)
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


# Names that could be mistaken.


@pytest.mark.parametrize("name", ["rest", "all", "reference", "undefined", "(missing)", "alike", "", "None", "nan"])
def test_a_group_may_be_called_anything(name: str) -> None:
    counts = {name: (30, 10, 12, 48), "A": (9, 6, 4, 21), "B": (20, 20, 5, 60)}
    a = eh.audit_counts(counts, metrics=["tpr"], reference=name)
    assert {r.group: r.reference_kind for r in a.rows} == dict.fromkeys(counts, "group")
    assert row(a, name).verdict is Verdict.REFERENCE
    assert row(a, "A").reference_n == 100
    assert eh.Audit.from_json(a.to_json()) == a
    other = eh.audit_counts(counts, metrics=["tpr"], reference="A")
    assert row(other, name).score == 0.75
    assert row(other, name).verdict is not Verdict.UNDEFINED
    assert "(missing)" not in {f.kind for f in other.findings}
    assert str(a) and a.to_markdown() and a.to_html()


def test_a_missing_group_and_one_called_missing_are_two() -> None:
    data = {"g": [None, None, "(missing)", "a"] * 5, "y": [1, 0, 1, 0] * 5, "p": [1, 1, 0, 0] * 5}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics="acc")
    assert {r.group: r.n for r in a.rows} == {"(missing)": 10, "'(missing)'": 5, "a": 5}
    (missing,) = [f for f in a.findings if f.kind == "missing-group"]
    assert missing.sentence.startswith("10 cases have no value for g")


# Sentences.


def _said(f: eh.Finding, a: eh.Audit) -> list[eh.Row]:
    return [next(r for r in a.rows if (r.by, r.group, r.metric) == (f.by, f.group, m)) for m in f.metrics]


DIFFERS = re.compile(
    r"(?P<name>.+) of (?P<who>.+) is (?P<score>\S+?)"
    r"(?: \((?P<level>\S+) % interval (?P<low>\S+) to (?P<high>\S+)\))?, "
    r"(?:(?P<gap>\S+) (?P<way>higher|lower) than the reference's (?P<theirs>\S+?)"
    r"|(?P<chance>more than chance explains)|(?P<verdict>higher|lower) than no gap)"
    r"(?:, surely by (?:at least (?P<least>\S+?)|less than (?P<most>\S+?)|a factor of at least (?P<factor>\S+?)))?"
    r"; (?P<adjusted>adjusted )?p (?P<p>< 0\.001|= \S+?)"
    r"(?:\. Without (?P<driver>.+) in the reference the verdict would be: (?P<without>[a-z ]+?)"
    r"(?: \(gap (?P<other>\S+)\))?)?"
)


def _check_differs(f: eh.Finding, a: eh.Audit) -> None:
    (r,), s = _said(f, a), a.settings
    found = DIFFERS.fullmatch(f.sentence)
    assert found, f.sentence
    said = found.groupdict()
    m = eh.metric(r.metric)
    assert r.differs
    assert (said["name"], said["who"], said["score"]) == (m.name, r.group, number(r.score))
    if r.low is None:
        assert said["low"] is None
    else:
        assert (said["level"], said["low"], said["high"]) == (f"{100 * s['level']:g}", number(r.low), number(r.high))
    if r.difference is not None:
        assert (said["gap"], said["way"]) == (number(abs(r.difference)), "higher" if r.difference > 0 else "lower")
        assert said["theirs"] == number(r.reference_score)
    elif m.is_distance:
        assert said["chance"] and r.verdict is Verdict.HIGHER
    else:
        assert said["verdict"] == r.verdict.value
    _check_surely(said, r, s["margin"])
    assert bool(said["adjusted"]) == (s["adjust"] != "none")
    assert r.p_adjusted is not None
    assert said["p"] == ("< 0.001" if r.p_adjusted < 0.001 else f"= {r.p_adjusted:.3f}")
    assert (said["driver"], said["without"]) == (r.driver, r.without_verdict and r.without_verdict.value)
    if r.without_difference is not None:
        assert said["other"] == f"{r.without_difference:+.3f}"


def rounded_down(value: float) -> str:
    """Three decimals that are never more than the value."""
    return number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def _check_surely(said: dict[str, str | None], r: eh.Row, margin: float) -> None:
    """What is said to be sure is what the whole interval of the gap allows."""
    on_ratio = r.ratio_low is not None or eh.metric(r.metric).kind == "ratio"
    if on_ratio:
        low, high = (r.ratio_low, r.ratio_high) if r.ratio_low is not None else (r.low, r.high)
        assert low is not None and high is not None
        low, high = log(max(low, 1e-300)), log(high)
    else:
        low, high = (r.low, r.high) if eh.metric(r.metric).comparisons else (r.difference_low, r.difference_high)
    if low is None or high is None or low <= 0 <= high:
        assert (said["least"], said["most"], said["factor"]) == (None, None, None)
        return
    nearest, farthest = sorted((abs(low), abs(high)))
    assert (low > 0) == (r.verdict is Verdict.HIGHER)
    if on_ratio:
        assert (said["least"], said["most"], said["factor"]) == (None, None, rounded_down(exp(nearest)))
    elif said["most"] is not None:
        assert farthest <= margin and said["most"] == f"{margin:g}" and said["least"] is None
    else:
        assert farthest > margin and said["least"] == rounded_down(nearest)


def _check_four_fifths(f: eh.Finding, a: eh.Audit) -> None:
    (r,) = _said(f, a)
    assert r.impact_ratio is not None and r.impact_high is not None
    below = f.kind == "four-fifths"
    assert below == (r.impact_high < 0.8) and r.impact_ratio < 0.8
    cases = f"{r.impact_n:,} case" + ("s" if r.impact_n != 1 else "")
    assert f.sentence == (
        f"{r.group} is selected at {number(r.impact_ratio)} times the rate of {r.impact_group} ({cases}), which "
        f"{'is' if below else 'may be'} below four fifths: {100 * a.level:g} % interval {number(r.impact_low)} to "
        f"{number(r.impact_high)}"
    )


def _check_undefined(f: eh.Finding, a: eh.Audit) -> None:
    (r,) = _said(f, a)
    head, _, likely = f.sentence.partition("; the probability of that was ")
    assert head == f"{eh.metric(r.metric).name} of {r.group} cannot be compared: {r.reason}"
    own = not r.reason.startswith(("the reference's", "in the reference")) if r.reason else False
    assert bool(likely) == bool(r.p_undefined and own)
    if likely:
        assert r.p_undefined is not None
        assert likely.endswith(" %") and "e+" not in likely
        assert float(likely[:-2]) == pytest.approx(100 * r.p_undefined, rel=6e-3)


def _check_too_few(f: eh.Finding, a: eh.Audit) -> None:
    rows = _said(f, a)
    assert {r.verdict for r in rows} == {Verdict.TOO_FEW}
    every = {r.metric for r in a.rows if (r.by, r.group) == (f.by, f.group) and r.verdict is Verdict.TOO_FEW}
    assert set(f.metrics) == every
    cases = f"{rows[0].n:,} case" + ("s" if rows[0].n != 1 else "")
    of = ", ".join(f"{r.metric} ({r.basis:,})" for r in rows)
    assert f.sentence.startswith(f"Too few cases to tell for {f.group} ({cases}): {of}; ")
    ratios = any(r.metric in ("dor", "lr_plus", "disparate_impact") for r in rows)
    assert (f"±{a.settings['margin']:g} (ratios: 0.8 to 1.25)." in f.sentence) == ratios
    assert f"surely lies within ±{a.settings['margin']:g}" in f.sentence


def test_every_sentence_says_what_its_rows_say() -> None:
    checks = {
        "differs": _check_differs,
        "four-fifths": _check_four_fifths,
        "may-be-below-four-fifths": _check_four_fifths,
        "undefined": _check_undefined,
        "too-few": _check_too_few,
    }
    seen = set()
    for a in random_audits():
        for f in a.findings:
            if f.kind in checks:
                checks[f.kind](f, a)
            seen.add(f.kind)
            assert f.sentence[-1] != "." and "  " not in f.sentence
            for word in ("biased", "unfair", "proves", "None", "nan", "inf"):
                assert word not in f.sentence
        said = {
            (f.by, f.group, m) for f in a.findings if f.kind in ("differs", "undefined", "too-few") for m in f.metrics
        }
        spoken = (Verdict.HIGHER, Verdict.LOWER, Verdict.UNDEFINED, Verdict.TOO_FEW)
        assert said == {(r.by, r.group, r.metric) for r in a.rows if r.verdict in spoken}
    assert seen >= set(checks)


def test_surely_is_said_of_compas_as_the_intervals_allow() -> None:
    a = eh.audit_counts(eh.examples.compas(), by="race")
    some = [f for f in a.findings if f.kind == "differs"]
    for f in some:
        _check_differs(f, a)
    assert any("surely by at least" in f.sentence for f in some)
    assert any("surely by less than 0.1" in f.sentence for f in some)


def test_one_is_told_from_many() -> None:
    data: dict[str, list[Any]] = {"g": ["a", "b", "a", "b", None], "p": [1, 1, 0, 0, 1]}
    one = eh.audit(data | {"y": [1, 0, 1, None, 1]}, y_true="y", y_pred="p", groups="g", metrics="ppr")
    sentences = [f.sentence for f in one.findings]
    assert "1 row without a label was left out" in sentences
    assert any(s.startswith("1 case has no value for g and forms a group of its own") for s in sentences)
    assert any("for b (1 case): ppr (1);" in s for s in sentences)
    two = eh.audit(data | {"y": [1, None, 0, None, 1], "g": ["a", "b", None, "b", None]},
                   y_true="y", y_pred="p", groups="g", metrics="ppr")  # fmt: skip
    sentences = [f.sentence for f in two.findings]
    assert "2 rows without a label were left out" in sentences
    assert any(s.startswith("2 cases have no value for g and form a group of their own") for s in sentences)
    assert not any(
        re.search(r"\b1 (rows|cases)\b", s) for a in (one, two) for s in (*[f.sentence for f in a.findings], str(a))
    )


# Settings.

TWO_COLUMNS: dict[tuple[str, str], Cells] = {
    ("a", "x"): (40, 10, 12, 48),
    ("b", "x"): (20, 20, 5, 60),
    ("c", "x"): (0, 0, 3, 4),
    ("a", "y"): (35, 20, 30, 28),
    ("b", "y"): (9, 8, 2, 31),
    ("tiny", "y"): (1, 0, 1, 0),
}
CHANGES: dict[str, Any] = {
    "metrics": ["tpr"],
    "reference": "all",
    "level": 0.8,
    "alpha": 0.5,
    "adjust": "bh",
    "family": "audit",
    "margin": 0.4,
    "test": "unconditional",
    "mid_p": True,
    "null": "known",
    "strength": {"prev": 7, "tpr": 20, "fpr": 20},
    "favourable": "negative",
    "impact_share": 0.0,
    "replace_undefined_by": 0.0,
    "crossings": 1,
    "labels": {"first": {"a": "Ada"}},
    "selection": "all",
    "title": "T",
    "system": "S",
    "author": "A",
    "max_groups": 3,
}


@cache
def unchanged() -> eh.Audit:
    return eh.audit_counts(TWO_COLUMNS, by=("first", "second"), metrics=["ppr", "tpr"])


@pytest.mark.parametrize("setting", [f.name for f in fields(Settings)])
def test_every_setting_changes_the_audit(setting: str) -> None:
    settings: dict[str, Any] = {"metrics": ["ppr", "tpr"]} | {setting: CHANGES[setting]}
    if setting in ("title", "system", "author", "selection"):
        changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
        assert changed.settings[setting] == CHANGES[setting]
        assert changed.rows == unchanged().rows
        return
    if setting == "max_groups":
        with pytest.raises(eh.TooLarge, match=r"^there are 12 groups \(.*\), more than max_groups=3; choose a coarser"):
            eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
        return
    changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
    assert (changed.rows, changed.findings) != (unchanged().rows, unchanged().findings)
    assert changed.settings[setting] != unchanged().settings[setting]


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        *(("level", "low"), ("alpha", "verdict"), ("adjust", "p_adjusted"), ("family", "p_adjusted")),
        *(("margin", "verdict"), ("test", "pvalue"), ("mid_p", "pvalue"), ("null", "percentile")),
        *(("strength", "smoothed"), ("favourable", "impact_ratio"), ("impact_share", "impact_group")),
        *(("replace_undefined_by", "score"), ("reference", "reference_score")),
    ],
)
def test_a_setting_changes_what_it_is_about_and_scores_stay(setting: str, field: str) -> None:
    settings: dict[str, Any] = {"metrics": ["ppr", "tpr"]} | {setting: CHANGES[setting]}
    changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)

    def by_row(a: eh.Audit, name: str) -> dict[tuple[str, str, str], Any]:
        return {(r.by, r.group, r.metric): getattr(r, name) for r in a.rows}

    assert by_row(changed, field) != by_row(unchanged(), field)
    for same in ("n", "tp", "basis", "reason") + (("score",) if field != "score" else ()):
        assert by_row(changed, same) == by_row(unchanged(), same)


def test_audit_and_audit_counts_have_the_settings_and_their_defaults() -> None:
    defaults = {f.name: f.default for f in fields(Settings)}
    for function in (eh.audit, eh.audit_counts):
        parameters = inspect.signature(function).parameters
        found = {name: p.default for name, p in parameters.items() if name in defaults}
        assert found == defaults
        assert [name for name in parameters if name in defaults] == list(defaults), "in the same order"
    assert set(inspect.signature(eh.audit_counts).parameters) - set(defaults) == {"counts", "by"}
    recorded = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}).settings
    assert {k: v for k, v in recorded.items() if k in defaults and k not in ("metrics", "labels")} == {
        k: v for k, v in defaults.items() if k not in ("metrics", "labels")
    }


OPTIONS: dict[str, tuple[list[str], str, Any]] = {
    "label": (["--label", "L"], "y_true", "L"),
    "prediction": (["--prediction", "P"], "y_pred", "P"),
    "score": (["--score", "S"], "y_score", "S"),
    "threshold": (["--threshold", "0.7"], "threshold", 0.7),
    "group": (["--group", "G", "--group", "H"], "groups", ["G", "H"]),
    "positive": (["--positive", "yes"], "positive", "yes"),
    "metric": (["--metric", "tpr", "--metric", "f1"], "metrics", ("tpr", "f1")),
    "reference": (["--reference", "all"], "reference", "all"),
    "level": (["--level", "0.8"], "level", 0.8),
    "alpha": (["--alpha", "0.2"], "alpha", 0.2),
    "adjust": (["--adjust", "bh"], "adjust", "bh"),
    "family": (["--family", "audit"], "family", "audit"),
    "margin": (["--margin", "0.3"], "margin", 0.3),
    "test": (["--test", "unconditional"], "test", "unconditional"),
    "strength": (["--strength", "prev=7,tpr=20,fpr=20"], "strength", {"prev": 7, "tpr": 20, "fpr": 20}),
    "favourable": (["--favourable", "negative"], "favourable", "negative"),
    "impact_share": (["--impact-share", "0.1"], "impact_share", 0.1),
    "crossings": (["--crossings", "all"], "crossings", "all"),
    "positive_label": (["--positive-label", "1"], "positive_label", "1"),
    "positive_prediction": (
        ["--positive-prediction", "M", "--positive-prediction", "H"],
        "positive_prediction",
        ["M", "H"],
    ),
    "bins": (["--bins", "age=25,45"], "bins", {"age": [25, 45]}),
    "group_name": (["--group-name", "G:1=One: a=b"], "labels", {"G": {"1": "One: a=b"}}),
    "selection": (["--selection", "all"], "selection", "all"),
    "mid_p": (["--mid-p"], "mid_p", True),
    "null": (["--null", "known"], "null", "known"),
    "replace_undefined_by": (["--replace-undefined-by", "0"], "replace_undefined_by", 0),
    "title": (["--title", "T"], "title", "T"),
    "system": (["--system", "S"], "system", "S"),
    "author": (["--author", "A"], "author", "A"),
    "max_groups": (["--max-groups", "7"], "max_groups", 7),
}
OF_CLASSES: dict[str, tuple[list[str], Any]] = {
    "classes": (["--class", "x", "--class", "y"], ["x", "y"]),
    "averages": (["--class", "all", "--average", "acc", "--average", "macro f1"], ["acc", "macro f1"]),
    "undefined": (["--class", "all", "--undefined", "omit"], "omit"),
    "draws": (["--class", "all", "--draws", "99"], 99),
    "rng": (["--class", "all", "--seed", "7"], 7),
}
OUTPUT = {"files", "repeat", "config", "counts", "example", "everything", "fail_on", "verbose", "quiet"}
OUTPUT |= {"json_file", "html_file", "markdown_file", "csv_file"}


class Reached(Exception):
    pass


def asked(words: list[str], monkeypatch: pytest.MonkeyPatch, function: str = "audit") -> dict[str, Any]:
    """What the library is called with."""
    import evenhand.auditing

    given: dict[str, Any] = {}

    def reached(*_: Any, **arguments: Any) -> None:
        given.update(arguments)
        raise Reached

    monkeypatch.setattr(evenhand.auditing, function, reached)
    with pytest.raises(Reached):
        CliRunner().invoke(command, words, catch_exceptions=False)
    return given


def test_every_option_of_the_command_is_tested_here() -> None:
    assert {p.name for p in command.params} == set(OPTIONS) | set(OF_CLASSES) | OUTPUT


@pytest.mark.parametrize("option", OF_CLASSES)
def test_every_option_of_classes_reaches_the_library(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, value = OF_CLASSES[option]
    columns = ["data.csv", "--group", "G", "--label", "L", "--prediction", "P", "--alpha", "0.2"]
    given = asked([*columns, *words], monkeypatch, "audit_classes")
    assert given[option] == value
    assert (given["groups"], given["y_true"], given["y_pred"], given["alpha"]) == (["G"], "L", "P", 0.2)
    if option != "classes":
        assert given["classes"] == "all"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["d.csv", "--draws", "9"], "--draws needs --class, such as --class all"),
        (["d.csv", "--average", "acc"], "--average needs --class, such as --class all"),
        (["--example", "compas", "--class", "all"],
         "--class audits a FILE; a table of counts and the examples are of two classes"),
        *((["d.csv", "--class", "all", option, "1"], f"{option} is for two classes and cannot be combined with --class")
          for option in ("--score", "--threshold", "--positive", "--positive-label", "--positive-prediction")),
    ],
)  # fmt: skip
def test_options_of_two_and_of_several_classes_exclude_each_other(words: list[str], sentence: str) -> None:
    done = CliRunner().invoke(command, [*words, "--group", "g"])
    assert (done.exit_code, done.stderr) == (2, f"Error: {sentence}\n")


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_of_the_command_reaches_the_library(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, argument, value = OPTIONS[option]
    more = [] if option == "group" else ["--group", "G"]
    assert asked(["data.csv", *more, *words], monkeypatch)[argument] == value
    # The example has another column of groups.
    if argument in {f.name for f in fields(Settings)} and option != "group_name":
        assert asked(["--example", "compas", *words], monkeypatch, "audit_counts")[argument] == value


def test_without_options_the_command_asks_for_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    given = asked(["data.csv", "--group", "G"], monkeypatch)
    defaults = {f.name: f.default for f in fields(Settings)}
    assert {k: v for k, v in given.items() if k in defaults} == {k: v for k, v in defaults.items() if k in given}
    missing = set(defaults) - set(given)
    assert not missing, "every setting has an option"


# What an adversary found


def by_group(counts: Any, **settings: Any) -> dict[str, eh.Row]:
    return {r.group: r for r in eh.audit_counts(counts, **settings).rows}


@pytest.mark.parametrize(
    ("counts", "metric"),
    [
        ({"A": (1, 0, 1, 9), "B": (5000, 1, 500, 4500)}, "lr_minus"),
        ({"A": (0, 3, 5, 1000), "B": (50, 500, 500, 50)}, "dor"),
        ({"g0": (0, 2600, 400, 0), "g1": (0, 1, 0, 0), "g2": (0, 1, 2, 2)}, "dor"),
    ],
)
def test_the_prior_of_an_empty_cell_never_decides_alone(counts: Any, metric: str) -> None:
    """A score of 0 is not called higher because Beta(1/2, 1/2) believes in more than 0."""
    assert not any(r.differs for r in by_group(counts, metrics=metric).values())


def test_ratios_of_equal_rates_are_rarely_told_apart() -> None:
    """Rates near 0 and 1, group drawn like a reference of a million: at most 5 % of all groups differ."""
    rng = np.random.default_rng(5)
    for metric, n, prev, tpr, fpr in (("lr_minus", 20, 0.1, 0.9999, 0.1), ("lr_plus", 108, 0.05, 0.99, 0.001)):
        p = np.array([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)])
        drawn, often = np.unique(rng.multinomial(n, p, size=400), axis=0, return_counts=True)
        reference = eh.ConfusionMatrix(*(int(x) for x in np.round(1e6 * p)))
        pvalues = [eh.disparity(eh.ConfusionMatrix(*map(int, c)), reference, metric).pvalue for c in drawn]
        assert often[np.array(pvalues) <= 0.05].sum() / often.sum() <= 0.05


def test_the_probability_of_no_score_is_that_of_the_group_that_has_none() -> None:
    a = eh.audit_counts({"A": (3, 0, 0, 997), "B": (0, 0, 0, 8)}, metrics="tpr")
    said = {f.group: f.sentence for f in a.findings if f.kind == "undefined"}

    assert "probability" not in said["A"]
    assert said["B"].endswith("; the probability of that was 97.6 %")


def test_smoothing_keeps_of_a_rates_gap_what_its_own_cases_weigh() -> None:
    """5 actual positives smoothed with 10 cases, half of them positive: 5 / (5 + 5) of the gap is left."""
    row = by_group({"A": (5, 0, 20, 75), "B": (200, 300, 100, 400)}, metrics="tpr")["A"]

    assert row.shrinkage == pytest.approx(0.5)
    assert row.smoothed is not None and row.reference_score is not None and row.difference is not None
    assert row.smoothed - row.reference_score == pytest.approx(0.5 * row.difference)


def test_the_null_of_match_changes_no_p_value() -> None:
    counts = {"A": (30, 20, 20, 30), "B": (20, 30, 20, 30)}
    for metric in ("equalized_odds", "tpr", "mcc"):
        rows = [by_group(counts, metrics=metric, null=null)["A"] for null in ("pooled", "known", "predictive")]
        assert len({r.pvalue for r in rows}) == 1
        assert len({r.percentile for r in rows}) == 3


def test_exactly_four_fifths_is_not_below_four_fifths() -> None:
    for k in range(1, 60):
        counts = {"A": (4 * k, 0, 0, 6 * k), "B": (5 * k, 0, 0, 5 * k)}
        kinds = {f.kind for f in eh.audit_counts(counts, metrics="ppr").findings}
        assert not kinds & {"four-fifths", "may-be-below-four-fifths"}


def test_every_number_of_a_row_follows_from_its_own_reference() -> None:
    counts = {"A": (50, 0, 20, 30), "B": (20, 30, 10, 40), "C": (26, 20, 42, 12)}
    for r in eh.audit_counts(counts, metrics=["ppr", "disparate_impact", "lr_plus", "f1"], reference="all").rows:
        cells = [getattr(r, f"reference_{c}") for c in ("tp", "fn", "fp", "tn")]
        own, theirs = eh.ConfusionMatrix(*counts[r.group]), eh.ConfusionMatrix(*cells)
        m = eh.metric(r.metric)
        if m.kind:
            assert r.score == pytest.approx(m(own, theirs))
        else:
            assert r.reference_score == pytest.approx(m(theirs))
        assert r.reference_n == theirs.n and r.reference == ("all" if r.metric == "ppr" else "rest")


def test_a_group_without_cases_makes_no_third_comparison() -> None:
    row = by_group({"a": (0, 0, 0, 0), "b": (5, 1, 3, 4), "c": (1, 6, 1, 9)}, metrics="ppr")["b"]
    assert row.p_adjusted == row.pvalue
