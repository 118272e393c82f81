"""How the group's true rates follow from a difference."""

from __future__ import annotations

from math import log

import pytest
from pytest import approx

import evenhand as eh
from evenhand.metrics import CATALOGUE

LARGE = eh.ConfusionMatrix(300, 100, 120, 480)
ONE_GROUP = [m.key for m in CATALOGUE.one_group]


@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_truth_has_the_score_that_is_asked_for_and_moves_as_documented(key: str) -> None:
    m = eh.metric(key).base
    score = float(m(LARGE))
    step = 0.05 if m.better != "lower" else -0.05
    found = eh.power(key, 10, LARGE, difference=step, test="match", null="known")
    truth = found._scenario.truth
    assert truth.sum() == approx(1)
    assert found.true_score == approx(score + step, abs=1e-9)
    tp, fn, fp, tn = truth
    if m.shape in ("ratio", "contrast"):
        assert sum(truth[["tp", "fn", "fp", "tn"].index(c)] for c in m.tree.margin) == approx(
            sum(float(LARGE.proportions[["tp", "fn", "fp", "tn"].index(c)]) for c in m.tree.margin)
        )
    if m.shape == "pair" and key != "markedness":
        moves = [log(a / b) - log(c / d) for a, b, c, d in ((tp, fn, 300, 100), (fp, tn, 120, 480))]
        assert moves[0] == approx(-moves[1], abs=1e-6)
        assert tp + fn == approx(0.4)
    if key == "markedness":
        assert tp + fp == approx(0.42)
