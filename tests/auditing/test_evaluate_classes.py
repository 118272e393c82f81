"""Averages over classes: their scores by definition, their tests, and classes without a score."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
from audit_oracle import row
from class_oracle import averaged, overall
from pytest import approx
from scipy.stats import hypergeom
from shown_audits import classified, of_classes

from evenhand.auditing import Audit, Row, Verdict

NAMES = ["acc", "macro ppv", "weighted f1", "micro jaccard", "mcc", "kappa", "balanced_accuracy"]


def averages(a: Audit) -> list[Row]:
    return [r for r in a.rows if "class" not in r.at]


def tables(data: dict[str, list[Any]]) -> dict[str, list[list[int]]]:
    rows = list(zip(data["race"], data["y"], data["p"], strict=True))
    return {race: [[sum(one == (race, a, b) for one in rows) for b in "xyz"] for a in "xyz"] for race in "ABC"}


def test_averages_are_those_of_the_groups_matrices() -> None:
    """Scores by definition, and the p-value of accuracy by the hypergeometric law of correct cases."""
    data = classified()
    a = of_classes(data, metrics=NAMES)
    assert {(r.metric, r.group) for r in averages(a)} == {(name, group) for name in NAMES for group in "ABC"}
    all_ = tables(data)
    for r in averages(a):
        table = all_[r.group]
        rest = np.sum([all_[race] for race in "ABC" if race != r.group], axis=0).tolist()
        average, _, metric = r.metric.rpartition(" ")
        score, other = (averaged(metric, t, average) if average else overall(metric, t) for t in (table, rest))
        assert r.score == approx(nan if score is None else float(score), rel=1e-12, nan_ok=True)
        assert r.reference_score == approx(float(other), rel=1e-12)
        assert (r.n, r.reference_n) == (sum(map(sum, table)), sum(map(sum, rest)))
        assert (r.at, r.cells, r.question) == ({}, None, "same distribution") and isnan(r.gap_low)
        if score is None:
            assert (r.method, r.verdict) == (None, "undefined") and isnan(r.pvalue)
            assert r.reason == "undefined for 1 of 3 classes: 'z', no actual positives (TP + FN = 0)"
            continue
        assert r.gap == approx(float(score) - float(other))
        if r.metric == "acc":
            right, all_right = (sum(t[i][i] for i in range(3)) for t in (table, rest))
            law = hypergeom(r.n + r.reference_n, right + all_right, r.n)
            assert r.pvalue == approx(min(1.0, 2 * min(law.cdf(right), law.sf(right - 1))), rel=1e-9)
            assert r.method == "exact" and isnan(r.p_error)
        elif average != "micro":
            assert 0 <= r.p_error < 0.1
            drawn = r.pvalue * 10_000
            assert drawn == approx(round(drawn), abs=1.01)


def test_all_averages_of_a_group_are_tested_on_the_same_draws_in_any_order_of_rows() -> None:
    """So that a test does not depend on what else was asked."""
    data = classified(200)
    names = ["macro ppv", "mcc", "macro tpr"]
    together = of_classes(data, metrics=names)
    turned = {name: column[::-1] for name, column in data.items()}
    assert of_classes(turned, metrics=names).rows == together.rows
    for name in names:
        alone = of_classes(data, metrics=[name])
        for group in "ABC":
            found = [row(a, group, name, **{"class": None}).pvalue for a in (alone, together)]
            assert found[0] == approx(found[1], rel=0, nan_ok=True)
    assert row(together, "C", "macro tpr").verdict is Verdict.UNDEFINED
