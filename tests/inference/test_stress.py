"""The down-sampling study: what the errata found, and what smoothing spoils."""

from __future__ import annotations

from itertools import product

import numpy as np
from matrices import matrix
from oracle import refusal
from pytest import approx

import evenhand as eh
from evenhand import CrossPrior, Raw
from evenhand.examples import compas, folktables_income


def test_the_stress_test_finds_what_the_errata_found() -> None:
    """E15: λ = 20 on Folktables/Other, PREV, is 2.72 times the raw error at n = 25."""
    found = eh.stress_test(folktables_income(), ["prev"], n=[25], strengths=[5, 20])
    worst = max(found.rows, key=lambda row: row.worst_ratio)
    assert (worst.strength, worst.worst_group, worst.worst_metric) == (20, "Other", "prev")
    assert worst.worst_ratio == approx(2.72, abs=0.005)
    assert found.best(25) in found.rows
    assert found.curve(5) == [(25, found.rows[0].mean_ratio)]
    assert "2.72 times the raw error" in str(found)


def test_rows_are_ratios_of_the_risks_of_all_groups_and_metrics() -> None:
    """A perfect group has no raw error, so that it has no ratio; smoothing spoils it unless the strength is 0."""
    groups = {"a": matrix(50, 0, 0, 50), "b": matrix(40, 30, 20, 10), "c": matrix(5, 9, 0, 70)}
    found = eh.stress_test(groups, ["tpr", "fpr", "f1"], n=[1, 20], strengths=[0, 40])
    for row in found.rows:
        ratios, spoiled = {}, 0
        for name, metric in product(groups, ("tpr", "fpr", "f1")):
            rest = sum((cm for other, cm in groups.items() if other != name), matrix(0, 0, 0, 0))
            raw, smoothed = (
                eh.risk(metric, groups[name], [row.n], e)[0].mse for e in (Raw(), CrossPrior(rest, row.strength))
            )
            spoiled += raw == 0 and smoothed > 0
            if raw > 0:
                ratios[name, metric] = smoothed / raw
        worst = max(ratios, key=lambda score: ratios[score])
        assert (row.mean_ratio, row.worst_ratio) == approx((np.mean(list(ratios.values())), ratios[worst]))
        assert row.strength == 0 or (row.worst_group, row.worst_metric) == worst
        assert row.spoiled == spoiled
    total = sum(row.spoiled for row in found.rows)
    assert total >= 4 and f"Scores with an error only after smoothing, left out: {total}" in str(found)
    lines = str(eh.stress_test(groups, ["tpr"], n=[20, 1, 20], strengths=[9, 2, 9])).splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["1", "20"] and lines[1].count("λ") == 2
    assert refusal(found.best, 7) == "InvalidInput: n must be one of [1, 20]; got 7"


def test_what_cannot_be_meant_is_explained() -> None:
    perfect = {"a": matrix(9, 0, 0, 9), "b": matrix(4, 0, 0, 2)}
    empty = "InvalidInput: groups and strengths must not be empty"
    assert refusal(eh.stress_test, {}) == refusal(eh.stress_test, compas(), strengths=[]) == empty
    assert refusal(eh.stress_test, compas(), n=[]) == "InvalidInput: n must contain at least one sample size"
    no_error = "no raw score has an error at n = 5; use other metrics"
    assert refusal(eh.stress_test, perfect, ["acc"], n=[5]) == f"InvalidInput: {no_error}"
