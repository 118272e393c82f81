"""Printed formulas and their trees, against the scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st
from oracle import ONE_GROUP, evaluate, matrices
from pytest import approx

from evenhand import (
    ConfusionMatrix,
    metric,
)
from evenhand.metrics import CATALOGUE, OneGroup

one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
cells = st.tuples(*[st.integers(0, 10**12)] * 4).filter(any)


def score(key: str, c: tuple[int, ...]) -> float:
    return float(metric(key)(ConfusionMatrix(*c)))


@one_group
def test_the_printed_formula_gives_the_score(m: OneGroup) -> None:
    for tp, fn, fp, tn in matrices(9):
        if 0 in (tp, fn, fp, tn) or math.isnan(score(m.key, (tp, fn, fp, tn))):
            continue
        names = {"TP": tp, "FN": fn, "FP": fp, "TN": tn, "n": 9, "sqrt": math.sqrt}
        names |= {
            key.upper(): score(key, (tp, fn, fp, tn)) for key in ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "mcc")
        }
        assert eval(m.formula, {"__builtins__": {}}, names) == approx(score(m.key, (tp, fn, fp, tn)))


@one_group
def test_the_expression_gives_the_score(m: OneGroup) -> None:
    """Wherever the score is defined, also where cells are empty."""
    for c in matrices(7):
        expected = ONE_GROUP[m.key](*c)
        if expected is not None:
            found = evaluate(m.expression, dict(zip(("TP", "FN", "FP", "TN"), c, strict=True)))
            assert found == approx(float(expected), rel=1e-12, abs=1e-12), c
