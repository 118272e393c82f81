"""The catalogue as a whole: identities between metrics, their names, and what they say."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from oracle import CLASSES_SWAPPED, ONE_GROUP, SIDES_SWAPPED, TWO_GROUPS, refusal
from pytest import approx

from evenhand import f_beta, list_metrics, metric
from evenhand.metrics import CATALOGUE, ONE_GROUP_METRICS, PAPER_METRICS, RANKING_METRICS

PAPER = ["acc", "prev", "ppr", "inacc", "nprev", "pnr", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for",
         "f1_original", "f1", "mcc", "pt", "mb", "ofi", "te"]  # fmt: skip
COMPLEMENTS = {"acc": "inacc", "prev": "nprev", "ppr": "pnr", "tpr": "fnr", "tnr": "fpr", "ppv": "fdr", "npv": "for"}
INVERTED = {"te_part": "te_part", "lr_plus": "lr_minus"}
# The second is the first with its removable gaps filled.
FILLED = {"mcc": "mcc_limit", "pt": "pt_limit", "f1_original": "f1"}


def test_the_papers_21_metrics_come_first_and_every_metric_has_an_oracle() -> None:
    assert [m.key for m in PAPER_METRICS] == [m.key for m in list_metrics()[:21]] == PAPER
    assert [m.key for m in CATALOGUE if m.in_paper] == PAPER
    assert {m.key for m in CATALOGUE} == {*ONE_GROUP, *TWO_GROUPS}
    assert tuple(m for m in CATALOGUE if m.groups == 1) == ONE_GROUP_METRICS
    # Every metric of one group is part of an identity below.
    tables = (COMPLEMENTS, CLASSES_SWAPPED, SIDES_SWAPPED, INVERTED, FILLED)
    assert {"mb"}.union(*({*table, *table.values()} for table in tables)) == {m.key for m in ONE_GROUP_METRICS}


@settings(max_examples=25)
@given(st.tuples(*[st.integers(0, 10**12)] * 4).filter(any))
def test_metrics_are_related_by_complements_and_swaps(cells: tuple[int, int, int, int]) -> None:
    """Exchange TP with TN and FN with FP (the classes), or FN with FP (truth and prediction)."""
    tp, fn, fp, tn = cells
    orders = (cells, (tn, fp, fn, tp), (tp, fp, fn, tn))
    score, classes, sides = ({m.key: m(order) for m in ONE_GROUP_METRICS} for order in orders)
    pairs = [(score[a], 1 - score[b]) for a, b in COMPLEMENTS.items()] + [(classes["mb"], -score["mb"])]
    for swapped, table in ((classes, CLASSES_SWAPPED), (sides, SIDES_SWAPPED)):
        pairs += [(swapped[a], score[b]) for pair in table.items() for a, b in (pair, pair[::-1])]
    pairs += [(classes[a], 1 / score[b]) for a, b in INVERTED.items() if 0 not in cells]
    pairs += [(score[printed], score[filled]) for printed, filled in FILLED.items() if not np.isnan(score[printed])]
    for first, second in pairs:
        assert first == approx(second, rel=1e-12, abs=1e-12, nan_ok=True)


SYNONYMS = {
    "acc": "Accuracy", "prev": "Prevalence|P", "ppr": "Predicted Positive Rate|P̂|PP", "te": "Treatment Equality",
    "inacc": "Inaccuracy|Error Rate|Misclassification Rate", "nprev": "Negative Prevalence|Complement of Prevalence|N",
    "pnr": "Predicted Negative Rate|N̂|PN", "tpr": "true-positive_rate|Sensitivity|Recall|Hit Rate", "fpr": "Fall-Out",
    "tnr": "True Negative Rate|Specificity", "fnr": "False Negative Rate|Miss Rate", "pt": "Prevalence Threshold",
    "ppv": "Positive Predictive Value|Precision", "npv": "Negative Predictive Value", "fdr": "False Discovery Rate",
    "for": "False Omission Rate|False Reassurance Rate", "f1": "F₁|F1 score|Simplified F1 Score|f1_score|F-1",
    "f1_original": "Original F1 Score|Original F₁ score|F₁ Measure|Dice-Sørensen Coefficient",
    "mcc": "Matthews Correlation Coefficient|φ|r_φ", "mb": "Marginal Benefit|B|𝓑", "ofi": "Objective Fairness Index",
    "equal_opportunity": "equal opportunity|tpr_difference|recall difference", "equalized_odds": "equalised odds",
    "predictive_parity": "predictive parity|precision-difference", "demographic_parity": "statistical parity",
    "disparate_impact": "disparate impact|ppr_ratio|selection rate ratio", "informedness": "Youden’s J|youden's j",
    "lr_plus": "LR+", "lr_minus": "LR-|LR−", "f3": "F3|f_beta 3|F-3", "f2": "F-beta 2", "f1_ratio": "F1 ratio",
    "npv_difference": "NPV difference", "f3_difference": "F-3 difference",
}  # fmt: skip


def test_every_synonym_finds_its_metric() -> None:
    for key, names in SYNONYMS.items():
        for name in (key, key.upper(), *names.split("|")):
            assert metric(name).key == key, name
    assert set(PAPER) <= set(SYNONYMS)
    for m in CATALOGUE:
        for name in (m.key, m.name, *m.synonyms, m.name.upper(), f"  {m.key.replace('_', '-')} "):
            assert metric(name) is m is metric(m), name


def test_a_name_that_is_not_known_is_explained() -> None:
    see = "list_metrics() or 'evenhand metrics' lists them all"
    for name, shown in (("zzzz", "zzzz"), ("", ""), ("`n`\x1b[2J", "`n`\\x1b[2J"), ("x" * 999, f"{'x' * 60}…")):
        assert refusal(metric, name) == f"UnknownName: no metric is called '{shown}'; {see}"
    assert refusal(metric, "recal") == "UnknownName: no metric is called 'recal'; did you mean 'recall'?"
    assert refusal(metric, 3) == "InvalidInput: metric must be a name or a Metric; got 3 of type int"
    betas: list[Any] = [0, float("inf"), float("nan"), True, "2"]
    must = "InvalidInput: beta must be a number from 0.001 to 1000; got"
    assert [refusal(f_beta, beta) for beta in betas] == [f"{must} {beta!r}" for beta in betas]
    assert refusal(metric, "f5000") == f"{must} 5000.0"


def test_f_beta_is_a_fraction_with_a_denominator_of_at_most_a_thousand() -> None:
    assert f_beta(1) is metric("f1") and f_beta(2) is metric("f2") is f_beta(Fraction(2))
    assert metric(f_beta(1 / 3).key) is f_beta(Fraction(1, 3)) and f_beta(Fraction(1, 1000)) is f_beta(0.001)
    assert f_beta(0.123)([3, 1, 2, 4]) == approx(float(Fraction(3 * 1015129, 3 * 1015129 + 15129 + 2 * 1000000)))


PARTS = {
    "cases": "tp fn fp tn", "predictions": "tp fn fp tn", "actually positive": "tp fn", "actually negative": "fp tn",
    "predicted positive": "tp fp", "predicted negative": "fn tn", "actually or predicted positive": "tp fn fp",
    "right": "tp tn", "wrong": "fn fp", "predicted correctly": "tp tn", "predicted wrongly": "fn fp", "both": "tp",
}  # fmt: skip


def test_the_description_of_a_rate_is_what_it_counts() -> None:
    """Of all shares and rates: what the counted cases have in common, and of which cases."""
    cell_of = dict(zip(("tp", "fn", "fp", "tn"), [7, 20, 33, 45], strict=True))
    assert {m.key for m in ONE_GROUP_METRICS if m.counted} == {m.key for m in ONE_GROUP_METRICS if m.is_rate}
    for m in ONE_GROUP_METRICS:
        if m.is_rate and m.counted:
            words = re.fullmatch(r"(?:Of those (?:who are )?|How many )(.+?)(?:, how many)? are (.+)", m.description)
            assert words, m.description
            whole = set(PARTS[words[1]].split())
            for part in (words[2], m.counted):
                counted = sum(cell_of[cell] for cell in whole & set(PARTS[part].split()))
                assert m([7, 20, 33, 45]) == approx(counted / sum(cell_of[cell] for cell in whole)), (m.key, part)


def test_every_metric_has_a_description_of_its_own() -> None:
    generated = [metric(name) for name in ("f3", "npv_difference", "tpr_ratio", "f1_ratio")]
    lines = [m.description for m in (*CATALOGUE, *generated)] + [m.description for m in RANKING_METRICS]
    assert len(set(lines)) == len(lines)
    for line in lines:
        assert re.fullmatch(r"([A-Z]|\w+ of the group )[^\n]+[^.\s]", line) and len(line.split()) > 4, line


def test_rates_of_a_wrong_prediction_and_of_a_prediction_are_known_by_their_cells() -> None:
    """An error rate rises, and a rate of correct cases falls, with one more error of its kind."""
    errors = {"negative": [-1, 1, 0, 0], "positive": [0, 0, 1, -1]}
    for m in ONE_GROUP_METRICS:
        if m.error:
            before = np.array([40, 20, 15, 60])
            change = m(before + errors[m.error[0]]) - m(before)
            assert (change > 0) == (m.error[1] == "higher") and change != 0, m.key
            assert m.better == ("lower" if m.error[1] == "higher" else "higher")
    assert [m.key for m in ONE_GROUP_METRICS if m.error] == ["tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for"]
    given = {m.key: m.given_prediction for m in ONE_GROUP_METRICS if m.given_prediction}
    assert given == {"ppr": "positive", "pnr": "negative"}
