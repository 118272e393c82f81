"""Printed formulas and their trees, against the scores."""

from __future__ import annotations

import math

from oracle import ONE_GROUP, evaluate, matrices, refusal
from pytest import approx

from evenhand import metric
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.views.expressions import COMPUTED_FORMULAS, expression

RATES = ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "mcc")


def test_the_printed_formula_gives_the_score() -> None:
    for cells in matrices(9):
        if 0 not in cells and cells[0] * cells[3] != cells[1] * cells[2]:
            names = {"n": 9, "sqrt": math.sqrt} | dict(zip(("TP", "FN", "FP", "TN"), cells, strict=True))
            names |= {key.upper(): metric(key)(cells) for key in RATES}
            for m in ONE_GROUP_METRICS:
                assert eval(m.formula, {"__builtins__": {}}, names) == approx(m(cells)), m.key


def test_the_tree_gives_the_score_wherever_it_is_defined() -> None:
    for m in ONE_GROUP_METRICS:
        tree = expression(COMPUTED_FORMULAS.get(m.key, m.formula))
        for cells in matrices(7):
            expected = ONE_GROUP[m.key](*cells)
            if expected is not None:
                score = evaluate(tree, dict(zip(("TP", "FN", "FP", "TN"), cells, strict=True)))
                assert score == approx(float(expected), rel=1e-12, abs=1e-12), (m.key, cells)


def test_nothing_but_a_formula_is_parsed() -> None:
    for formula in ("__import__('os')", "TP if TP else 'x'", "f(TP)", "TP.real"):
        assert refusal(expression, formula).startswith("ValueError: a formula must not contain "), formula
