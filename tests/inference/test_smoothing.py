"""Smoothed matrices: golden cells, a strength per split, and the estimators."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isnan
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracle import down_the_tree, golden
from pytest import approx

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, Raw
from evenhand.errors import InvalidInput
from evenhand.examples import compas

GOLDEN = golden("smoothing")
KEYS = {"B": "mb", "PTs": "pt_limit"}
SMOOTH = eh.cross_prior_smooth(ConfusionMatrix(10, 10, 10, 10), ConfusionMatrix(1, 1, 1, 1))
SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}


@pytest.mark.parametrize("case", GOLDEN["cps"], ids=lambda c: f"{c['cm']} {c['lambda']}")
def test_golden_smoothed_cells_and_scores(case: dict[str, Any]) -> None:
    cm, reference = ConfusionMatrix(*case["cm"]), ConfusionMatrix(*case["ref"])
    s = eh.cross_prior_smooth(cm, reference, float(Fraction(case["lambda"])))
    # E20: an empty group gives the prior's proportions, and says so.
    expected = case["probs"] if cm.n == 0 else case["smoothed"]
    scores = case["metrics_of_probs"] if cm.n == 0 else case["metrics_of_smoothed"]
    assert s.prior_only == (cm.n == 0)
    assert s.cells == approx([float(c) for c in expected], rel=1e-14, abs=1e-15)
    for name, value in scores.items():
        found = eh.metric(KEYS.get(name, name.lower()))(s)
        assert isnan(found) if value is None else found == approx(float(value), rel=1e-12, abs=1e-13)


def test_smoothing_keeps_n_and_tells_what_it_did() -> None:
    s = eh.cross_prior_smooth(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(116, 177, 554, 2429), 10)
    assert s.n == approx(10)
    assert s.shrinkage == 0.5
    assert s.raw == ConfusionMatrix(3, 1, 0, 6)
    assert repr(s).endswith("strength=10)")
    assert "50% of a share's gap remains" in str(s)
    empty = eh.cross_prior_smooth(ConfusionMatrix(0, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), 5)
    assert "prior only" in repr(empty)


def test_many_groups_are_each_smoothed_with_the_rest() -> None:
    groups = compas()
    together = eh.cross_prior_smooth(groups, strength=20)
    rest = sum((cm for name, cm in groups.items() if name != "Asian"), ConfusionMatrix(0, 0, 0, 0))
    assert list(together) == list(groups)
    assert together["Asian"] == eh.cross_prior_smooth(groups["Asian"], rest, 20)


def test_adding_epsilon_adds_it_to_every_cell() -> None:
    assert eh.additive_smooth(ConfusionMatrix(1, 2, 3, 4), 0.5).cells == (1.5, 2.5, 3.5, 4.5)


def test_every_split_has_its_own_strength() -> None:
    """Of 10 cases (4, 1, 2, 3): prevalence (5 + 5*.3)/15, TPR (4 + 2/3)/7, FPR (2 + 8*3/7)/13."""
    s = eh.cross_prior_smooth(ConfusionMatrix(4, 1, 2, 3), ConfusionMatrix(1, 2, 3, 4), SPLIT)
    prev, tpr, fpr = 6.5 / 15, (14 / 3) / 7, (38 / 7) / 13
    assert (eh.metric("prev")(s), eh.metric("tpr")(s), eh.metric("fpr")(s)) == approx((prev, tpr, fpr), rel=1e-14)
    assert s.n == approx(10)
    assert s.strength == SPLIT
    assert s.shrinkage == approx(10 / 15)
    assert repr(s).endswith("strength=prev 5, tpr 2, fpr 8)")


@given(
    c=st.tuples(*[st.integers(0, 9)] * 4),
    w=st.tuples(*[st.integers(0, 9)] * 4).filter(any),
    strength=st.fixed_dictionaries(dict.fromkeys(SPLIT, st.integers(0, 30))),
)
def test_smoothed_cells_follow_from_the_smoothed_rates(c: Any, w: Any, strength: Any) -> None:
    found = CrossPrior(ConfusionMatrix(*w), strength).apply(ConfusionMatrix(*c))
    assert found.cells == approx([float(x) for x in down_the_tree(c, w, strength)], rel=1e-12, abs=1e-14)


@given(c=st.tuples(*[st.integers(0, 9)] * 4), w=st.tuples(*[st.integers(1, 9)] * 4), strength=st.integers(1, 50))
def test_one_strength_is_a_strength_per_split_in_proportion_to_the_reference(c: Any, w: Any, strength: int) -> None:
    """λ for all cells = (λ, λ * prevalence of the reference, λ * (1 - prevalence))."""
    prev = (w[0] + w[1]) / sum(w)
    split = {"prev": strength, "tpr": strength * prev, "fpr": strength * (1 - prev)}
    group, reference = ConfusionMatrix(*c), ConfusionMatrix(*w)
    together = CrossPrior(reference, strength).apply(group)
    assert CrossPrior(reference, split).apply(group).cells == approx(together.cells, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    "how",
    [Raw(), Additive(0.5), CrossPrior([0.1, 0.2, 0.3, 0.4], 7), CrossPrior(ConfusionMatrix(1, 2, 3, 4), SPLIT)],
    ids=lambda e: e.label,
)
@given(c=st.tuples(*[st.integers(0, 9)] * 4))
def test_applying_an_estimator_smooths_one_matrix(how: Any, c: Any) -> None:
    """apply(cm) has the cells that smooth gives it in an array of others."""
    together = how.smooth(np.array([(1.0, 0.0, 2.0, 0.0), c]))
    assert how.apply(ConfusionMatrix(*c)).cells == approx(tuple(together[1]), rel=1e-15)
    with pytest.raises(InvalidInput, match=r"^a group must be a ConfusionMatrix; got \(1, 2, 3, 4\)$"):
        how.apply(cast("Any", (1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.cross_prior_smooth(ConfusionMatrix(1, 1, 1, 1), ConfusionMatrix(1, 1, 1, 1), -1),
         "strength must be a number of cases from 0 to 1e9, one per split, or 'auto'; got -1"),
        (lambda: eh.cross_prior_smooth(compas(), cast("Any", ConfusionMatrix(1, 1, 1, 1))),
         "several groups are each smoothed with the rest of them; leave out reference"),
        (lambda: eh.cross_prior_smooth({"A": ConfusionMatrix(1, 1, 1, 1)}),
         "'A' is the only group, so there is no rest to be its reference"),
        (lambda: eh.cross_prior_smooth(ConfusionMatrix(1, 1, 1, 1), cast("Any", None)),
         "pass a reference, or a mapping of groups to smooth each with the rest"),
        (lambda: eh.additive_smooth(ConfusionMatrix(1, 1, 1, 1), -1), "epsilon must be a number from 0 to 1e9; got -1"),
        (lambda: Additive(float("nan")), "epsilon must be a number from 0 to 1e9; got nan"),
        (lambda: CrossPrior(ConfusionMatrix(1, 1, 1, 1), cast("Any", "strong")),
         "strength must be a number of cases from 0 to 1e9, one per split, or 'auto'; got 'strong'"),
        (lambda: CrossPrior(ConfusionMatrix(1, 1, 1, 1), {"prev": 3, "tpr": 4}),
         "strength per split must name prev, tpr, fpr; got prev, tpr"),
        (lambda: CrossPrior(ConfusionMatrix(1, 1, 1, 1), {"prev": 3, "tpr": 4, "fpr": -1}),
         "strength must be a number of cases from 0 to 1e9, one per split, or 'auto'; got -1"),
        (lambda: eh.cross_prior_smooth({"A": ConfusionMatrix(1, 1, 1, 1), "B": ConfusionMatrix(0, 0, 0, 0)}),
         "the reference is empty (n = 0), so it has no proportions to smooth with"),
        (lambda: eh.interval(SMOOTH, "tpr"),
         "interval() takes unsmoothed counts; pass reference= and strength= for a smoothed interval"),
        (lambda: eh.match_test(SMOOTH, ConfusionMatrix(1, 1, 1, 1), "tpr"),
         "the group must hold whole counts, since a test counts cases; got ConfusionMatrix(tp=10, fn=10, fp=10, tn=10, "
         "strength=10): smoothed cells are not tested"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
