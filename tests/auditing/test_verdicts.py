"""Verdicts: their order, marks and words, and that they follow from their rows."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from audit_oracle import Cells, row
from hypothesis import strategies as st
from matrices import matrix
from random_audits import METRICS, every_row

import evenhand as eh
from evenhand.auditing import Row, Verdict
from evenhand.examples import compas

# The group that well-known tools call unfair: two positives, both missed, against 300 of 400.
MISSED: Any = {"small": (0, 2, 8, 30), "rest": (300, 100, 120, 480)}


def verdicts(counts: Any, metric: str, **settings: Any) -> dict[str, str]:
    return {r.group: r.verdict.value for r in eh.audit_counts(counts, metrics=metric, **settings).rows}


# Words and marks


def test_verdicts_that_differ_come_first() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: v.rank)] == [
        *("higher", "lower", "unlike", "better", "worse", "undefined", "inconclusive", "not tested", "not worse"),
        *("equivalent", "reference"),
    ]
    found = {Verdict.HIGHER, Verdict.LOWER, Verdict.UNLIKE, Verdict.BETTER, Verdict.WORSE}
    assert {v for v in Verdict if v.differs} == found
    assert len({v.rank for v in Verdict if v.differs}) == 1
    a = eh.audit_counts(compas(), by="race")
    places = [(r.verdict.rank, -round(r.smallest_gap, 9)) for r in a.rows]
    assert places == sorted(places)


def test_meanings_are_sentences_with_the_settings_filled_in() -> None:
    for v in Verdict:
        words = v.meaning.format(alpha=0.05, margin=0.1)
        assert "{" not in words and not words.endswith(".") and words[0].islower()
        assert not any(word in words for word in ("biased", "fair", "proves", "surely"))
    assert "0.2" in Verdict.HIGHER.meaning.format(alpha=0.2, margin=0.1)
    assert "±0.3" in Verdict.EQUIVALENT.meaning.format(alpha=0.05, margin=0.3)
    assert "direction" in Verdict.UNLIKE.meaning


# Every verdict can be checked from its row alone

OF_OTHERS = {"unlike", "not tested", "better", "worse", "not worse"}


def verdict_of(r: Row, s: dict[str, Any]) -> Verdict:
    """The verdict that follows from nothing but the fields of a row and the settings."""
    if r.reference_kind == "group" and r.group == r.reference:
        return Verdict.REFERENCE
    if r.reason is not None:
        return Verdict.UNDEFINED
    if r.p_adjusted <= s["alpha"]:
        if r.question != "equal scores":
            return Verdict.UNLIKE
        # A metric of two groups is a gap itself, and a distance is never below none.
        up = r.score > (r.gap_kind == "ratio") if isnan(r.difference) else r.difference > 0
        return Verdict.HIGHER if up or r.metric == "equalized_odds" else Verdict.LOWER
    lowest, highest = (-s["margin"], s["margin"]) if r.gap_kind == "difference" else (0.8, 1.25)
    is_within = lowest <= r.gap_low and r.gap_high <= highest
    return Verdict.EQUIVALENT if is_within else Verdict.INCONCLUSIVE


@pytest.mark.slow
def test_every_verdict_follows_from_its_row() -> None:
    seen: dict[str, set[str]] = {}
    rates = 0
    for r, s in every_row():
        seen.setdefault(r.metric, set()).add(r.verdict.value)
        assert r.verdict is verdict_of(r, s), (r, r.to_dict())
        assert bool(r.reason) == (r.verdict is Verdict.UNDEFINED)
        if r.verdict not in (Verdict.UNDEFINED, Verdict.REFERENCE):
            assert not isnan(r.score) and not isnan(r.p_adjusted)
        impact = r.impact_ratio, r.impact_low, r.impact_high
        for value, low, high in ((r.score, r.low, r.high), (r.gap, r.gap_low, r.gap_high), impact):
            assert not (value < low - 1e-12 or value > high + 1e-12), (r, value, low, high)
        if r.metric in ("tpr", "ppr", "f1") and r.differs:
            # P(S <= s) is at most alpha / 2 or at least 1 - alpha / 2.
            tail = r.percentile if r.verdict is Verdict.LOWER else 1 - r.percentile
            assert tail <= s["alpha"] / 2 + 1e-12
            rates += 1
    # Or the above would say little.
    assert rates > 20 and set(seen) == set(METRICS)
    assert {v for some in seen.values() for v in some} == {v.value for v in Verdict} - OF_OTHERS
    for metric in set(METRICS) - {"te", "equalized_odds"}:
        assert {"higher", "lower", "inconclusive", "undefined"} <= seen[metric], metric


cells = st.tuples(*[st.integers(0, 12)] * 4)


# The edges


def test_two_missed_positives_are_too_few_to_tell() -> None:
    """Judged on the metric's denominator: of the 40 cases, 2 are positive and 38 negative."""
    a = eh.audit_counts(MISSED, metrics=["tpr", "fpr"], margin=0.2)
    found, negative = row(a, "small", "tpr"), row(a, "small", "fpr")
    assert (found.verdict, found.denominators, found.n) == (Verdict.INCONCLUSIVE, (2,), 40)
    assert (found.pvalue, found.percentile) == pytest.approx((0.128, 0.064), abs=5e-4)
    assert (found.high, found.difference) == pytest.approx((0.776, -0.75), abs=5e-4)
    assert (negative.verdict, negative.denominators) == (Verdict.EQUIVALENT, (38,))


def test_many_cases_with_equal_scores_are_equivalent() -> None:
    same: Any = {"A": (4000,) * 4, "B": (4000,) * 4}
    for metric, reference in (("equalized_odds", "rest"), ("f1", "all"), ("mcc", "all"), ("tpr", "rest")):
        assert set(verdicts(same, metric, reference=reference).values()) == {"equivalent"}
    three = {"A": (100, 1900, 500, 1500), "B": (200, 3800, 1000, 3000), "C": (100, 1900, 500, 1500)}
    assert verdicts(three, "tpr") == dict.fromkeys("ABC", "equivalent")


def test_true_positive_rates_at_the_edges() -> None:
    edges: list[tuple[Cells, Cells, str]] = [
        ((0, 400, 0, 0), (0, 400, 0, 0), "equivalent"),
        ((400, 0, 0, 0), (400, 0, 0, 0), "equivalent"),
        ((1, 399, 0, 0), (0, 4000, 0, 0), "equivalent"),
        ((399, 1, 0, 0), (4000, 0, 0, 0), "equivalent"),
        ((0, 400, 0, 0), (400, 0, 0, 0), "lower"),
        ((0, 3, 0, 0), (0, 4000, 0, 0), "inconclusive"),
        ((2, 0, 0, 0), (2000, 0, 0, 0), "inconclusive"),
        ((500, 500, 0, 0), (1, 1, 0, 0), "inconclusive"),  # a reference smaller than the group
        ((500, 500, 0, 0), (10, 0, 0, 0), "lower"),
        ((1, 0, 0, 0), (0, 1, 0, 0), "inconclusive"),  # one case on either side
        ((1, 0, 0, 0), (1, 0, 0, 0), "inconclusive"),
        ((1, 0, 0, 0), (0, 5000, 0, 0), "higher"),
        ((3, 2, 4, 1), (3, 2, 4, 1), "inconclusive"),  # equal groups
        ((10_000, 10_000, 4, 1), (10_000, 10_000, 4, 1), "equivalent"),
        ((0, 0, 4, 1), (10, 10, 4, 1), "undefined"),
        ((10, 10, 4, 1), (0, 0, 4, 1), "undefined"),
        ((0, 0, 0, 0), (10, 10, 4, 1), "undefined"),
    ]
    for a, b, expected in edges:
        assert verdicts({"A": a, "B": b}, "tpr")["A"] == expected, (a, b)


def test_a_test_of_equal_scores_is_no_test_of_equal_rates() -> None:
    """Informedness is 0.4 in both, which share no rate; then TPR and FPR are equal and MCC is not."""
    counts = {"g": (180, 20, 400, 400), "h": (400, 400, 20, 180)}
    a = eh.audit_counts(counts, metrics="informedness")
    assert [r.score for r in a.rows] == pytest.approx([0.4, 0.4])
    assert not any(r.differs for r in a.rows)
    assert eh.match_test(matrix(*counts["g"]), matrix(*counts["h"]), "informedness").pvalue < 1e-6
    same_rates = {"g": (400, 100, 1900, 7600), "h": (4000, 1000, 1000, 4000)}
    assert verdicts(same_rates, "mcc") == {"g": "lower", "h": "higher"}
    assert verdicts(same_rates, "tpr")["g"] == "equivalent"


def test_scores_without_an_upper_end_are_compared_by_their_ratio() -> None:
    """Equivalent within 0.8 to 1.25, whatever the margin; their difference has no scale."""
    large, metrics = (8000, 2000, 1000, 9000), ["dor", "lr_plus", "lr_minus", "te_part"]
    for margin in (1e-6, 50.0):
        a = eh.audit_counts({"A": large, "B": large}, metrics=metrics, margin=margin)
        assert {r.verdict for r in a.rows} == {Verdict.EQUIVALENT}
    for r in eh.audit_counts({"A": (80, 20, 10, 90), "B": large}, metrics=metrics, margin=50.0).rows:
        assert (r.verdict, r.gap_kind, r.gap) == (Verdict.INCONCLUSIVE, "ratio", r.score / r.reference_score)
        assert r.gap_low < 0.8 or r.gap_high > 1.25


def test_a_reference_without_a_score_leaves_nothing_to_compare() -> None:
    a = eh.audit_counts({"A": (5, 5, 5, 5), "B": (0, 0, 2, 6)}, metrics=["tpr"])
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    assert row(a, "A", "tpr").reason == "the reference's score is undefined, no actual positives (TP + FN = 0)"
    assert isnan(row(a, "B").gap) and isnan(row(a, "B").pvalue)


def test_an_empty_cell_never_decides_alone() -> None:
    """A score of 0 is not called higher because Beta(1/2, 1/2) believes in more than 0."""
    for counts, metric in (
        ({"A": (1, 0, 1, 9), "B": (5000, 1, 500, 4500)}, "lr_minus"),
        ({"A": (0, 3, 5, 1000), "B": (50, 500, 500, 50)}, "dor"),
        ({"g0": (0, 2600, 400, 0), "g1": (0, 1, 0, 0), "g2": (0, 1, 2, 2)}, "dor"),
        ({"g": (0, 1, 0, 74), "h": (300, 100, 120, 480)}, "f1"),
    ):
        assert not any(r.differs for r in eh.audit_counts(counts, metrics=metric).rows)


def test_needs_are_those_of_the_level_that_the_family_leaves() -> None:
    """Four metrics in one family take more cases than one metric alone."""
    counts = {"A": (3, 2, 8, 30), "B": (300, 100, 120, 480), "C": (20, 10, 12, 48)}
    asked: list[dict[str, Any]] = [
        {"metrics": "tpr", "adjust": "none"},
        {"metrics": "tpr"},
        {"metrics": ["tpr", "fpr", "ppv", "npv"], "family": "audit"},
    ]
    plain, alone, together = (row(eh.audit_counts(counts, **how), "A", "tpr").required_n for how in asked)
    assert 0 < plain < alone < together
    decided = [r for r in eh.audit_counts(counts).rows if r.verdict is not Verdict.INCONCLUSIVE]
    assert decided and all(isnan(r.required_n) for r in decided)


def test_a_test_of_one_distribution_claims_no_direction() -> None:
    """A group may be drawn otherwise and have the same score; group A is decided at random, B correctly."""
    rng = np.random.default_rng(2)
    race, y, kind = np.repeat(["A", "B"], 100), rng.integers(0, 2, 200), rng.choice(["x", "y", "z"], 200)
    data: Any = {"race": race, "y": y, "kind": kind, "p": np.where(race == "A", rng.integers(0, 2, 200), y)}
    data["guess"] = np.where(race == "A", rng.choice(["x", "y", "z"], 200), kind)
    columns: Any = {"y_true": "kind", "y_pred": "guess", "classes": "all", "metrics": ["tpr", "acc", "macro f1", "mcc"]}
    functions: Any = {
        "y_true": "y",
        "y_pred": "p",
        "metrics": [("error", lambda y, p: float(abs(y - p).mean())), "acc"],
    }
    for asked, keys in ((columns, {"acc", "macro f1", "mcc"}), (functions, {"error"})):
        a = eh.audit(data, groups="race", **asked)
        drawn = [r for r in a.rows if r.question == "same distribution"]
        assert {r.metric for r in drawn} == keys
        assert Verdict.UNLIKE in {r.verdict for r in drawn} <= {Verdict.UNLIKE, Verdict.INCONCLUSIVE}
        assert all(r.verdict is verdict_of(r, a.settings) for r in drawn)
        assert not any(r.verdict is Verdict.UNLIKE for r in a.rows if r.question == "equal scores")
