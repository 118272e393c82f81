"""Verdicts: their order, marks and words, and that they follow from their rows."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from audit_oracle import row
from matrices import matrix
from random_audits import METRICS, every_row
from scipy.stats import binom

import evenhand as eh
from evenhand.auditing import Row, Verdict
from evenhand.examples import compas

# The group that well-known tools call unfair: two positives, both missed, against 300 of 400.
MISSED: Any = {"small": (0, 2, 8, 30), "rest": (300, 100, 120, 480)}


def verdicts(counts: Any, metric: str, **settings: Any) -> dict[str, str]:
    return {r.group: r.verdict.value for r in eh.audit_counts(counts, metrics=metric, **settings).rows}


def test_verdicts_that_differ_come_first() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: v.rank)] == [
        *("higher", "lower", "unlike", "better", "worse", "misses", "undefined", "inconclusive", "not tested"),
        *("not worse", "equivalent", "meets", "reference"),
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
    higher, equivalent = (v.meaning.format(alpha=0.2, margin=0.3) for v in (Verdict.HIGHER, Verdict.EQUIVALENT))
    assert "0.2" in higher and "±0.3" in equivalent and "direction" in Verdict.UNLIKE.meaning


OF_OTHERS = {"unlike", "not tested", "better", "worse", "not worse", "meets", "misses"}


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
    lowest, highest = (-r.margin, r.margin) if r.gap_kind == "difference" else (0.8, 1.25)
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
    """Hits and misses of a group and of its reference: empty, one case, equal, or a smaller reference."""
    edges: dict[str, list[tuple[int, int, int, int]]] = {
        "equivalent": [(0, 400, 0, 400), (400, 0, 400, 0), (1, 399, 0, 4000), (399, 1, 4000, 0), (10_000,) * 4],
        "inconclusive": [(0, 3, 0, 4000), (2, 0, 2000, 0), (500, 500, 1, 1), (1, 0, 0, 1), (1, 0, 1, 0), (3, 2, 3, 2)],
        "lower": [(0, 400, 400, 0), (500, 500, 10, 0)],
        "higher": [(1, 0, 0, 5000)],
        "undefined": [(0, 0, 10, 10), (10, 10, 0, 0)],
    }
    for expected, tables in edges.items():
        for tp, fn, other, missed in tables:
            counts = {"A": (tp, fn, 4, 1), "B": (other, missed, 4, 1)}
            assert verdicts(counts, "tpr", margin=0.1)["A"] == expected, counts
    assert verdicts({"A": (0, 0, 0, 0), "B": (10, 10, 4, 1)}, "tpr")["A"] == "undefined"


def test_the_default_margin_is_half_of_the_distance_of_the_references_interval_from_0_and_1() -> None:
    """At most 0.1; other scores than rates and a given margin do not depend on the reference."""
    counts: Any = {"A": (4, 60, 300, 100), "B": (9, 400, 8, 200), "C": (30, 30, 3, 900), "D": (0, 0, 5, 5)}
    metrics = ["tpr", "fpr", "ppv", "acc", "prev", "f1", "mcc", "dor"]
    for reference in ("rest", "B"):
        a = eh.audit_counts(counts, metrics=metrics, reference=reference)
        for r in a.rows:
            if r.verdict is Verdict.REFERENCE:
                continue
            expected = 1.25 if r.metric == "dor" else 0.1
            if eh.metric(r.metric).base.is_rate and not isnan(r.reference_score):
                assert r.reference_cells is not None
                ends = eh.interval(matrix(*r.reference_cells), r.metric, confidence_level=0.95)
                expected = min(0.1, ends.low / 2, (1 - ends.high) / 2)
            assert r.margin == pytest.approx(expected, abs=1e-12), r
        given = eh.audit_counts(counts, metrics=metrics, reference=reference, margin=0.1)
        assert {round(r.margin, 12) for r in given.rows} == {0.1, 1.25}
    assert {r.margin for r in a.rows if r.metric != "dor"} != {0.1}
    # All cases are the reference, the group's included, not the rest.
    both = {"A": (20, 980, 0, 0), "B": (1, 9, 0, 0)}
    ends = eh.interval(matrix(21, 989, 0, 0), "tpr", confidence_level=0.95)
    all_cases = eh.audit_counts(both, metrics="tpr", reference="all")
    assert [r.margin for r in all_cases.rows] == pytest.approx([ends.low / 2] * 2)


def test_none_of_a_few_cases_is_not_equivalent_to_a_small_rate() -> None:
    """0 of 23 against 0.061 was within ±0.1, although the rate could be twice as large."""
    counts: Any = {"A": (0, 23, 0, 0), "B": (122, 1878, 0, 0)}
    assert verdicts(counts, "tpr", margin=0.1)["A"] == "equivalent"
    assert verdicts(counts, "tpr")["A"] == "inconclusive"
    assert verdicts({"A": (120, 1880, 0, 0), "B": (122, 1878, 0, 0)}, "tpr")["A"] == "equivalent"


@pytest.mark.slow
def test_a_rate_half_as_far_from_0_is_rarely_called_equivalent() -> None:
    """True rates r and r ± min(0.1, r / 2): P(equivalent) is at most 2.5%, over the counts of both sides."""
    for n, m, r in ((400, 400, 0.12), (1500, 300, 0.1), (900, 900, 0.04)):
        for truth in (r + min(0.1, r / 2), r - min(0.1, r / 2)):
            total = 0.0
            ks = [k for k in range(n + 1) if binom.pmf(k, n, truth) > 1e-6]
            for j in (j for j in range(m + 1) if binom.pmf(j, m, r) > 1e-4):
                counts: Any = {f"{k}": (k, n - k, 0, 0) for k in ks} | {"reference": (j, m - j, 0, 0)}
                a = eh.audit_counts(counts, metrics="tpr", reference="reference", adjust="none", strength=0)
                same = [int(x.group.removeprefix("group ")) for x in a.rows if x.verdict is Verdict.EQUIVALENT]
                total += binom.pmf(j, m, r) * np.sum(binom.pmf(same, n, truth))
            assert total <= 0.025 + 1e-3, (n, m, r, truth, total)


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
    four: Any = {"metrics": ["tpr", "fpr", "ppv", "npv"], "family": "audit"}
    asked: list[Any] = [{"metrics": "tpr", "adjust": "none"}, {"metrics": "tpr"}, four]
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
    error = ("error", lambda y, p: float(abs(y - p).mean()))
    functions: Any = {"y_true": "y", "y_pred": "p", "metrics": [error, "acc"]}
    for asked, keys in ((columns, {"acc", "macro f1", "mcc"}), (functions, {"error"})):
        a = eh.audit(data, groups="race", **asked)
        drawn = [r for r in a.rows if r.question == "same distribution"]
        assert {r.metric for r in drawn} == keys
        assert Verdict.UNLIKE in {r.verdict for r in drawn} <= {Verdict.UNLIKE, Verdict.INCONCLUSIVE}
        assert all(r.verdict is verdict_of(r, a.settings) for r in drawn)
        assert not any(r.verdict is Verdict.UNLIKE for r in a.rows if r.question == "equal scores")


def test_marginal_benefit_without_errors_is_equivalent_by_its_melded_interval() -> None:
    """A true benefit of .1 shows no error in .9**n of samples: more than 2.5% up to n = 34."""
    found = {
        n: verdicts({"A": (n, 0, 0, 0), "B": (50_000, 0, 0, 50_000)}, "mb", margin=0.1)["A"] for n in (20, 29, 34, 60)
    }
    assert found == {20: "inconclusive", 29: "inconclusive", 34: "inconclusive", 60: "equivalent"}
