# mypy: disable-error-code="operator"
"""Scores that need every case: areas, losses and functions by group, against scikit-learn and listing all splits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from audit_oracle import plain_holm, row
from matrices import matrix
from numpy import isnan
from pytest import approx
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import EvenhandError

SCORES = ["auc", "brier", "log_loss"]


def table_of(n: int = 90, seed: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n)
    return {"y": y, "s": np.clip(np.round(0.4 * y + 0.6 * rng.random(n), 3), 0.001, 0.999), "g": g}


def scored(table: Any, metrics: Any = SCORES, **settings: Any) -> Audit:
    columns: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "g"}
    return eh.audit(table, metrics=metrics, **columns | settings)


def test_scores_are_scikit_learns_and_p_values_are_adjusted_by_holm() -> None:
    table = table_of()
    a = scored(table)
    theirs = {"auc": roc_auc_score, "brier": brier_score_loss, "log_loss": log_loss}
    assert {(r.metric, r.group) for r in a.rows} == {(m, g) for m in theirs for g in "abc"}
    for r in a.rows:
        inside = table["g"] == r.group
        assert r.score == approx(theirs[r.metric](table["y"][inside], table["s"][inside]), rel=1e-9)
        assert r.reference_score == approx(theirs[r.metric](table["y"][~inside], table["s"][~inside]))
        assert (r.n, r.denominators, r.reference_n) == (inside.sum(), (inside.sum(),), (~inside).sum())
        assert r.low < r.score < r.high
        assert r.gap == r.difference == approx(r.score - r.reference_score)
        assert (r.at, r.cells, r.question) == ({}, None, "equal scores")
    for metric in SCORES:
        rows = [r for r in a.rows if r.metric == metric]
        assert [r.p_adjusted for r in rows] == approx(plain_holm([r.pvalue for r in rows]))


def test_verdicts_follow_and_two_groups_are_one_comparison_seen_from_both_sides() -> None:
    table = table_of(150)
    table["s"] = np.where(table["g"] == "b", 1 - table["s"], table["s"])
    table["g"] = np.where(table["g"] == "c", "a", table["g"])
    a = scored(table)
    verdicts = {(r.metric, r.group): r.verdict.value for r in a.rows}
    for metric, b in (("auc", "lower"), ("brier", "higher"), ("log_loss", "higher")):
        first, second = row(a, "a", metric), row(a, "b", metric)
        assert {verdicts[metric, "a"], b} == {"lower", "higher"} and verdicts[metric, "b"] == b
        assert first.pvalue == second.pvalue == first.p_adjusted == second.p_adjusted
        assert first.score == second.reference_score
        assert (first.gap_low, first.gap_high) == (-second.gap_high, -second.gap_low)
        assert first.gap == approx(-second.gap)


def test_the_whole_interval_of_the_gap_decides_what_is_equivalent() -> None:
    """The margin of Brier scores is half of it."""
    y = np.tile([0, 1], 500)
    rng = np.random.default_rng(0)
    table = {"y": y, "s": np.round(0.3 * y + 0.7 * rng.random(1000), 2), "g": np.repeat(["a", "b"], 500)}
    for metric, scale in (("auc", 1.0), ("brier", 0.5)):
        found = row(scored(table, metric), "a")
        nearest, farthest = sorted((abs(found.gap_low), abs(found.gap_high)))
        verdicts = {(nearest + farthest) / 2: Verdict.INCONCLUSIVE, farthest * (1 + 1e-9): Verdict.EQUIVALENT}
        for margin, verdict in verdicts.items():
            rows = scored(table, metric, margin=margin / scale).rows
            assert [r.verdict for r in rows] == [verdict, verdict], (metric, margin)


def test_what_is_undefined_says_why() -> None:
    """A group without a class, and its mirror image; an infinite log loss; losses without spread or all equal."""
    table: Any = {"y": [1, 1, 0, 1, 0], "s": [0.5, 0.6, 0.2, 0.7, 0.1], "g": list("aabbb")}
    a = scored(table, "roc_auc")
    first, second = row(a, "a", "auc"), row(a, "b", "auc")
    assert (first.verdict, first.reason) == ("undefined", "the group has no actual negatives")
    assert (second.verdict, second.reason) == ("undefined", "the reference has no actual negatives")
    assert isnan([first.score, first.pvalue]).all() and second.score == 1
    assert first.lacks_score and not second.lacks_score
    certain = row(scored(table | {"y": [1, 0, 0, 1, 0], "s": [0.0, 0.6, 0.2, 0.7, 0.1]}, "log_loss"), "a")
    assert certain.reason == "the group's log loss is infinite: 1 case had probability 0 of being what it is"
    constant = {"y": [1, 0, 0, 1, 0, 1], "s": [0.5, 0.5, 0.5, 0.7, 0.1, 0.9], "g": list("aaabbb")}
    found = row(scored(constant, "brier"), "a")
    assert (found.score, found.verdict) == (0.25, "inconclusive")
    assert isnan([found.low, found.high, found.gap_low, found.gap_high]).all()
    equal = {"y": [1, 0] * 10, "s": [0.7, 0.3] * 10, "g": ["a"] * 6 + ["b"] * 14}
    rows = scored(equal, ["brier", "log_loss"]).rows
    assert [(r.pvalue, r.verdict.value) for r in rows] == [(1.0, "inconclusive")] * 4


def test_ranking_scores_have_no_threshold_and_stand_beside_counts() -> None:
    table = table_of()
    a = scored(table, ["tpr", "auc"], threshold=[0.3, 0.6])
    assert {(r.metric, r.at.get("threshold")) for r in a.rows} == {("tpr", 0.3), ("tpr", 0.6), ("auc", None)}
    both = eh.audit(table | {"p": (table["s"] > 0.4).astype(int)}, y_true="y", y_pred="p", y_score="s", groups="g",
                    metrics=["acc", "auc"])  # fmt: skip
    for other in (a, both):
        for r in scored(table, "auc").rows:
            same = row(other, r.group, "auc")
            assert (same.score, same.pvalue, same.gap_low) == (r.score, r.pvalue, r.gap_low)
    assert len(scored(table | {"s": np.arange(90.0)}, "auc").rows) == 3


def distance(y_true: Any, y_pred: Any) -> float:
    return float(np.abs(y_true - y_pred).mean())


def evaluated(function: Any, y: Any, p: Any, g: Any, **settings: Any) -> Audit:
    return eh.audit(y_true=y, y_pred=p, groups=g, metrics=[function], **settings)


def test_a_function_gets_the_p_value_of_all_splits() -> None:
    """p is within 5 standard errors of the share of all C(9, 4) splits with so large a gap."""
    y, p, g = [1, 0, 1, 0, 1, 1, 0, 0, 1], [0.1, 0.7, 0.4, 0.8, 0.9, 0.8, 0.3, 0.35, 0.7], list("aaaabbbbb")
    a = evaluated(distance, y, p, g)
    far = np.abs(np.array(y) - p)
    gaps = [abs(far[list(some)].mean() - np.delete(far, some).mean()) for some in combinations(range(9), 4)]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    found, mirror = row(a, "a"), row(a, "b")
    assert (found.metric, found.method, found.question) == ("distance", "permutation", "same distribution")
    assert found.score == approx(far[:4].mean()) and found.verdict is Verdict.UNLIKE
    assert abs(found.pvalue - exact) < 5 * found.p_error
    assert found.pvalue * 2000 == approx(round(found.pvalue * 2000), abs=1e-6)
    assert found.pvalue == found.p_adjusted == mirror.pvalue
    assert a == evaluated(distance, y, p, g)


def test_a_function_takes_scores_if_there_are_no_predictions_or_if_it_says_so() -> None:
    table = table_of() | {"p": np.zeros(90, dtype=int)}

    def named(y_true: Any, y_score: Any) -> float:
        return float(y_score.mean())

    def unnamed(labels: Any, numbers: Any) -> float:
        return float(numbers.mean())

    mean = approx(table["s"][table["g"] == "a"].mean())
    for columns, other in (({}, mean), ({"y_pred": "p"}, 0.0)):
        a = scored(table, [named, unnamed], **columns)
        assert {r.metric: r.score for r in a.rows if r.group == "a"} == {"named": mean, "unnamed": other}


def test_a_function_without_a_value_is_undefined_with_the_reason() -> None:
    def fails(y_true: Any, y_pred: Any) -> Any:
        if "bad" in y_true:
            raise ValueError("no such label\nsecond line")
        return {2: float("nan"), 3: [1, 2], 4: "0.5", 5: float("-inf")}.get(len(y_true), 1.0)

    labels = ["bad", *["x"] * 14]
    a = evaluated(fails, labels, labels, list("abbcccddddeeeee"))
    raised, other = "raised ValueError: no such label", "returned a value of type {}, not a number"
    reasons = [raised, "returned nan", other.format("list"), other.format("str"), "returned -inf"]
    said = {r.group: r.reason for r in a.rows}
    assert said == {
        name: f"the group has no value: the function {why}" for name, why in zip("abcde", reasons, strict=True)
    }
    assert all(r.verdict is Verdict.UNDEFINED and isnan([r.score, r.pvalue]).all() for r in a.rows)
    others = evaluated(fails, labels[:9], labels[:9], list("aaaaaabbb"))
    assert row(others, "a").reason == f"the group has no value: the function {raised}"
    named = evaluated(fails, labels[:9], labels[:9], list("aaabbbbbb"), reference="a")
    assert row(named, "a").verdict is Verdict.REFERENCE
    assert row(named, "b").reason == f"the reference has no value: the function {raised}"


def test_what_has_no_score_is_refused_in_a_sentence() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"y_score": None, "y_pred": "p"}, "auc, brier and log_loss need the score of every case; pass it as y_score="),
        ({"y_true": None}, "auc, brier, log_loss and functions need labels; pass them as y_true="),
        ({"sample_weight": "s"}, "auc, brier, log_loss and functions take no sample_weight; leave it out, or ask for "
         "other metrics"),
        ({"reference": {"grupo": "a"}}, "no group column is called 'grupo'; known: g"),
        ({"reference": "d"}, "no group of 'g' is called 'd'; groups: a, b, c"),
        ({"groups": np.repeat("a", 90)}, "'group' has only one group with cases ('a'), so there is nothing to compare "
         "it with"),
        ({"reference": matrix(1, 2, 3, 4)}, "reference must be 'rest', 'all', 'largest', 'best' or the name of a "
         "group; a ConfusionMatrix is of two classes and has no rows"),
        ({"y_score": "far", "metrics": "brier"}, "y_score must contain probabilities from 0 to 1 for brier and "
         "log_loss; got 18: use metrics='auc' for other scores"),
    ]  # fmt: skip
    table = table_of() | {"p": [0, 1] * 45, "far": np.arange(90.0)}
    for change, sentence in cases:
        with pytest.raises(EvenhandError) as refused:
            scored(table, **{"metrics": "auc", **change})
        assert str(refused.value) == sentence
