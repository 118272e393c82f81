"""Metrics that compare two groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from oracle import TWO_GROUPS, golden, matrices
from pytest import approx

from evenhand import (
    ConfusionMatrix,
    difference,
    metric,
    ratio,
)
from evenhand.metrics import CATALOGUE, TwoGroups

two_groups = pytest.mark.parametrize("m", [m for m in CATALOGUE if isinstance(m, TwoGroups)], ids=lambda m: m.key)


@two_groups
def test_scores_of_two_groups_are_those_of_the_definition(m: TwoGroups) -> None:
    listed = list(matrices(3))
    scores = m(np.array(listed)[:, None], np.array(listed)[None])
    for i, g in enumerate(listed):
        for j, r in enumerate(listed):
            expected = TWO_GROUPS[m.key](g, r)
            assert math.isnan(scores[i, j]) == (expected is None), (g, r)
            assert expected is None or scores[i, j] == approx(float(expected), abs=1e-14), (g, r)


@pytest.mark.parametrize("case", golden("metrics")["pairs"], ids=lambda c: str(c["g1"]))
def test_golden_pairs(case: dict[str, Any]) -> None:
    g1, g2 = ConfusionMatrix(*case["g1"]), ConfusionMatrix(*case["g2"])
    for name in ("OFI", "TE"):
        assert metric(name)(g1, g2) == approx(float(case[name]), rel=1e-14)


def test_a_reason_says_in_which_of_two_groups() -> None:
    empty, full = ConfusionMatrix(0, 0, 0, 5), ConfusionMatrix(1, 1, 1, 1)
    equal_opportunity = difference("tpr")

    assert equal_opportunity.why_undefined(full, full) is None
    assert equal_opportunity.why_undefined(full, empty) == "in the reference: no actual positives (TP + FN = 0)"
    assert equal_opportunity.why_undefined(empty, empty) == (
        "in the group: no actual positives (TP + FN = 0); in the reference: no actual positives (TP + FN = 0)"
    )
    assert ratio("ppr").why_undefined(full, empty) == "in the reference: no predicted positives (TP + FP = 0)"
