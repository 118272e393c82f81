"""Verdicts follow from their rows, and say of equal and unequal groups what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_oracle import Cells, row
from hypothesis import given, settings, strategies as st
from random_audits import METRICS, every_row
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import Audit, Row, Verdict, compare_models
from evenhand.examples import compas

CM = eh.ConfusionMatrix
# The group that well-known tools call unfair: two positives, both missed, against 300 of 400.
MISSED: Any = {"small": (0, 2, 8, 30), "rest": (300, 100, 120, 480)}


def verdicts(counts: Any, metric: str, **settings: Any) -> dict[str, str]:
    return {r.group: r.verdict.value for r in eh.audit_counts(counts, metrics=metric, **settings).rows}


def recomputed(r: Row, s: dict[str, Any]) -> Verdict:
    """The verdict that follows from nothing but the fields of a row and the settings."""
    if r.reference.kind == "group" and r.group == r.reference.name:
        return Verdict.REFERENCE
    if r.reason is not None:
        return Verdict.UNDEFINED
    if s["reference"] == "best":
        return Verdict.NOT_TESTED
    assert r.test.p_adjusted is not None and r.score.value is not None
    if r.test.p_adjusted <= s["alpha"]:
        if r.test.asks != "equal scores":
            return Verdict.UNLIKE
        # A metric of two groups is a gap itself, and a distance is never below none.
        up = r.gap.difference > 0 if r.gap.difference is not None else r.score.value > (r.gap.kind == "ratio")
        return Verdict.HIGHER if up or r.metric == "equalized_odds" else Verdict.LOWER
    inside, outside = (-s["margin"], s["margin"]) if r.gap.kind == "difference" else (0.8, 1.25)
    within = r.gap.low is not None and r.gap.high is not None and inside <= r.gap.low and r.gap.high <= outside
    return Verdict.ALIKE if within else Verdict.TOO_FEW


# Every verdict can be checked from its row alone.


def test_every_verdict_follows_from_its_own_row() -> None:
    for r, s in every_row():
        expected = recomputed(r, s)
        if r.reference.kind == "all" and r.differs and not eh.metric(r.metric).base.is_rate:
            assert expected.differs
        else:
            assert r.verdict is expected, (r, r.to_dict())


def test_the_random_audits_hold_every_verdict_for_most_metrics() -> None:
    """Or the tests above would say little."""
    seen: dict[str, set[str]] = {}
    for r, _ in every_row():
        seen.setdefault(r.metric, set()).add(r.verdict.value)
    assert set(seen) == set(METRICS)
    assert {v for some in seen.values() for v in some} == {v.value for v in Verdict} - {"unlike", "not tested"}
    for metric in set(METRICS) - {"te", "equalized_odds"}:
        assert {"higher", "lower", "too few to tell", "undefined"} <= seen[metric], metric


def test_undefined_always_has_a_reason_and_only_then() -> None:
    for r, _ in every_row():
        if r.verdict is Verdict.UNDEFINED:
            assert r.reason, r
        elif r.verdict is not Verdict.REFERENCE:
            assert r.reason is None, r
            assert r.score.value is not None
            assert r.test.p_adjusted is not None


def test_a_score_and_a_gap_lie_in_their_own_intervals() -> None:
    for r, _ in every_row():
        spans = [(r.score.value, r.score.low, r.score.high), (r.gap.value, r.gap.low, r.gap.high)]
        if r.impact is not None:
            spans.append((r.impact.ratio, r.impact.low, r.impact.high))
        for value, low, high in spans:
            if value is not None and low is not None and high is not None:
                assert low - 1e-12 <= value <= high + 1e-12, (r, value, low, high)


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


def test_a_verdict_against_everybody_has_the_direction_of_the_gap_shown() -> None:
    """LR+ of B is 0.818, everybody's is 0.847, and the rest's 0.392: higher than everybody else's."""
    a = eh.audit_counts({"A": (14, 144, 132, 452), "B": (175, 92, 507, 126)}, metrics="lr_plus", reference="all")
    for r in a.rows:
        assert r.verdict is recomputed(r, a.settings)


cells = st.tuples(*[st.integers(0, 12)] * 4)


@given(a=cells, b=cells, metric=st.sampled_from(["tpr", "fpr", "ppv", "ppr", "acc"]))
@settings(max_examples=60)
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
    assert found.test.pvalue == pytest.approx(min(1, 2 * min(lower, upper)))
    assert found.percentile == pytest.approx(lower)
    if found.differs:
        assert (found.verdict is Verdict.HIGHER) == (upper < lower)


# The edges.


def test_two_missed_positives_are_too_few_to_tell() -> None:
    found = row(eh.audit_counts(MISSED, metrics=["tpr"]), "small", "tpr")
    assert found.verdict is Verdict.TOO_FEW
    assert found.test.pvalue == pytest.approx(0.128, abs=5e-4)
    assert found.percentile == pytest.approx(0.064, abs=5e-4)
    assert found.score.high == pytest.approx(0.776, abs=5e-4)
    assert (found.cells, found.rests_on, found.n) == ((0, 2, 8, 30), (2,), 40)
    assert found.gap.difference == pytest.approx(-0.75)


def test_the_same_rows_say_more_of_a_metric_that_rests_on_more_of_them() -> None:
    """Judged on the metric's own denominator: the 40 cases have 38 negatives."""
    a = eh.audit_counts(MISSED, metrics=["tpr", "fpr"], margin=0.2)
    assert row(a, "small", "tpr").verdict is Verdict.TOO_FEW
    assert row(a, "small", "fpr").verdict is Verdict.ALIKE
    assert (row(a, "small", "tpr").rests_on, row(a, "small", "fpr").rests_on) == ((2,), (38,))


def test_large_groups_with_equal_rates_are_alike() -> None:
    counts = {"A": (100, 1900, 500, 1500), "B": (200, 3800, 1000, 3000), "C": (100, 1900, 500, 1500)}
    assert verdicts(counts, "tpr") == dict.fromkeys("ABC", "alike")


def test_fifty_of_a_hundred_twice_is_too_few_to_tell() -> None:
    """Equal, but the gap is only known to within 0.147."""
    found = row(eh.audit_counts({"A": (50, 50, 0, 0), "B": (50, 50, 0, 0)}, metrics="tpr"), "A")
    assert found.verdict is Verdict.TOO_FEW
    assert (found.gap.low, found.gap.high) == pytest.approx((-0.147, 0.147), abs=5e-4)
    assert verdicts({"A": (50, 50, 0, 0), "B": (50, 50, 0, 0)}, "tpr", margin=0.148) == {"A": "alike", "B": "alike"}


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
    assert [r.score.value for r in a.rows] == pytest.approx([0.4, 0.4])
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
    assert (small.verdict, small.gap.kind) == (Verdict.TOO_FEW, "ratio")
    assert small.gap.low is not None and small.gap.high is not None
    assert small.gap.low < 0.8 or small.gap.high > 1.25
    assert small.gap.value == small.gap.ratio


def test_a_number_in_place_of_an_undefined_score_leaves_its_verdict() -> None:
    a = eh.audit_counts({"none": (0, 0, 2, 6), "all": (30, 10, 12, 48)}, metrics=["tpr"], replace_undefined_by=0.0)
    found = row(a, "none", "tpr")
    assert (found.score.value, found.verdict) == (0.0, "undefined")
    assert found.reason == "no actual positives (TP + FN = 0)"
    assert (found.gap.value, found.test.pvalue) == (None, None)


def test_a_reference_without_a_score_leaves_nothing_to_compare() -> None:
    a = eh.audit_counts({"A": (5, 5, 5, 5), "B": (0, 0, 2, 6)}, metrics=["tpr"])
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    assert row(a, "A", "tpr").reason == "the reference's score is undefined, no actual positives (TP + FN = 0)"


def test_the_reference_has_no_reference() -> None:
    a = eh.audit_counts({"A": (10, 90, 0, 900), "B": (800, 0, 100, 100)}, metrics="ppr", reference="A")
    found = row(a, "A", "ppr")
    assert (found.reference.score, found.gap.difference, found.test.pvalue) == (None, None, None)
    assert found.verdict is Verdict.REFERENCE


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
    assert not any(r.differs for r in eh.audit_counts(counts, metrics=metric).rows)


def test_the_most_important_rows_come_first() -> None:
    a = eh.audit_counts(compas(), by="race")
    places = [(r.verdict.rank, -round(r.gap.beyond, 9)) for r in a.rows]
    assert places == sorted(places)


def test_needs_are_those_of_the_level_that_the_family_leaves() -> None:
    """Four metrics in one family each take more cases than one metric alone."""
    counts = {"A": (3, 2, 8, 30), "B": (300, 100, 120, 480), "C": (20, 10, 12, 48)}
    alone = row(eh.audit_counts(counts, metrics="tpr"), "A", "tpr").needed
    together = row(eh.audit_counts(counts, metrics=["tpr", "fpr", "ppv", "npv"], family="audit"), "A", "tpr").needed
    plain = row(eh.audit_counts(counts, metrics="tpr", adjust="none"), "A", "tpr").needed
    assert alone is not None and together is not None and plain is not None
    assert plain < alone < together
    told = [r for r in eh.audit_counts(counts).rows if r.verdict is not Verdict.TOO_FEW]
    assert told and all(r.needed is None for r in told)


# Tests that claim no direction.


def unlike_data() -> dict[str, Any]:
    """Group A is decided at random, group B correctly."""
    rng = np.random.default_rng(2)
    n = 200
    race = np.repeat(["A", "B"], n // 2)
    y = rng.integers(0, 2, n)
    p = np.where(race == "A", rng.integers(0, 2, n), y)
    kind = rng.choice(["x", "y", "z"], n)
    guess = np.where(race == "A", rng.choice(["x", "y", "z"], n), kind)
    return {"race": race, "y": y, "p": p, "kind": kind, "guess": guess, "same": y}


def by_average() -> Audit:
    return eh.audit(unlike_data(), y_true="kind", y_pred="guess", groups="race", classes="all", metrics="tpr",
                    averages=["acc", "macro f1", "mcc"], draws=199)  # fmt: skip


def by_function() -> Audit:
    def error(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).mean())

    return eh.audit(unlike_data(), y_true="y", y_pred="p", groups="race", metrics=[error, "acc"], draws=199)


def by_models() -> Audit:
    return compare_models(unlike_data(), y_true="y", models={"old": "same", "new": "p"}, groups="race", draws=199)


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        (by_average, {"acc", "macro f1", "mcc"}),
        (by_function, {"error"}),
    ],
    ids=["averages", "functions"],
)
def test_where_the_only_test_is_drawn_alike_no_direction_is_claimed(made: Any, keys: set[str]) -> None:
    """A group may be drawn otherwise and have the same score, so that such a test says unlike and no more."""
    a = made()
    drawn = [r for r in a.rows if r.test.asks != "equal scores"]
    assert {r.metric for r in drawn} == keys
    assert {r.test.asks for r in drawn} == {"drawn alike"}
    assert not any(r.verdict in (Verdict.HIGHER, Verdict.LOWER) for r in drawn)
    assert any(r.verdict is Verdict.UNLIKE for r in drawn)
    for r in drawn:
        assert r.verdict is recomputed(r, a.settings)
    others = [r for r in a.rows if r.test.asks == "equal scores"]
    assert not any(r.verdict is Verdict.UNLIKE for r in others)
