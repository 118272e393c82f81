"""Smoothed cells of two and K classes against posterior means in exact fractions."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any, cast

import numpy as np
from class_oracle import Table, tables
from hypothesis import given, strategies as st
from matrices import matrix
from oracle import down_the_tree, refusal
from pytest import approx

import evenhand as eh
from evenhand import Additive, CrossPrior, MulticlassConfusion, Raw
from evenhand.examples import compas

SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}
EVEN = matrix(1, 1, 1, 1)
counts = st.tuples(*[st.integers(0, 9)] * 4)


def posterior_means(cells: Any, reference: Any, strength: Fraction) -> list[float]:
    """n (x + λ q) / (n + λ), the posterior mean of a Dirichlet law; q if there are no cases."""
    n, total = sum(cells), sum(reference)
    shares = [Fraction(q, total) for q in reference]
    if n == 0:
        return [float(q) for q in shares]
    return [float(n * (x + strength * q) / (n + strength)) for x, q in zip(cells, shares, strict=True)]


@given(c=counts, w=counts.filter(any), strength=st.just(0) | st.integers(1, 50))
def test_smoothed_cells_are_posterior_means(c: Any, w: Any, strength: int) -> None:
    smoothed = eh.cross_prior_smooth(matrix(*c), matrix(*w), strength)
    assert smoothed.cells == approx(posterior_means(c, w, Fraction(strength)), rel=1e-14, abs=1e-15)
    assert smoothed.n == approx(sum(c) or 1) and smoothed.raw == matrix(*c)
    assert smoothed.shrinkage == approx(sum(c) / (sum(c) + strength) if sum(c) else 0)


@given(table=tables(3), other=tables(3).filter(lambda t: any(map(any, t))), strength=st.integers(0, 50))
def test_cells_of_k_classes_are_smoothed_like_four(table: Table, other: Table, strength: int) -> None:
    group, rest = (MulticlassConfusion.from_array(t) for t in (table, other))
    smoothed = eh.cross_prior_smooth(group, rest, strength)
    cells, reference = (np.array(t).ravel().tolist() for t in (table, other))
    expected = posterior_means(cells, reference, Fraction(strength))
    assert smoothed.counts.ravel() == approx(expected, rel=1e-14, abs=1e-15)
    assert smoothed.raw == group and smoothed.strength == strength and not smoothed.is_whole
    for copied in (copy.deepcopy(smoothed), pickle.loads(pickle.dumps(smoothed))):
        assert type(copied) is type(smoothed) and copied == smoothed and copied.raw == group


@given(c=counts, w=counts.filter(any), strength=st.fixed_dictionaries(dict.fromkeys(SPLIT, st.integers(0, 30))))
def test_with_a_strength_per_split_cells_follow_from_the_posterior_means_of_rates(
    c: Any, w: Any, strength: Any
) -> None:
    smoothed = eh.cross_prior_smooth(matrix(*c), matrix(*w), strength)
    assert smoothed.cells == approx([float(x) for x in down_the_tree(c, w, strength)], rel=1e-12, abs=1e-14)
    assert smoothed.strength == cast("Any", strength) and "strength=prev " in repr(smoothed)


@given(c=counts, w=st.tuples(*[st.integers(1, 9)] * 4), strength=st.integers(1, 50))
def test_one_strength_is_a_strength_per_split_in_proportion_to_the_reference(c: Any, w: Any, strength: int) -> None:
    """λ for all cells = (λ, λ * prevalence of the reference, λ * (1 - prevalence))."""
    prev = (w[0] + w[1]) / sum(w)
    split = {"prev": strength, "tpr": strength * prev, "fpr": strength * (1 - prev)}
    each, once = (eh.cross_prior_smooth(matrix(*c), matrix(*w), s) for s in (split, strength))
    assert each.cells == approx(once.cells, rel=1e-12, abs=1e-14)


def test_estimators_smooth_arrays_as_functions_smooth_matrices() -> None:
    cells, rates = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [3, 1, 0, 6]]), [0.1, 0.2, 0.3, 0.4]
    functions: tuple[tuple[Any, Any], ...] = (
        (Raw(), lambda cm: cm),
        (Additive(0.5), lambda cm: eh.additive_smooth(cm, 0.5)),
        (CrossPrior(rates, 7), lambda cm: eh.cross_prior_smooth(cm, rates, 7)),
        (CrossPrior(rates, SPLIT), lambda cm: eh.cross_prior_smooth(cm, rates, SPLIT)),
    )
    for estimator, function in functions:
        expected = np.array([function(matrix(*row)).cells for row in cells.tolist()])
        assert estimator.smooth(cells) == approx(expected, rel=1e-15)
        if estimator.pseudo_counts is not None:
            # The cells have the same proportions after pseudo-counts were added.
            added = (cells + estimator.pseudo_counts)[[0, 2]]
            scale = (expected.sum(axis=1)[[0, 2]] / added.sum(axis=1))[:, None]
            assert added * scale == approx(expected[[0, 2]], rel=1e-14)
    classes = MulticlassConfusion.from_array([[1, 2], [3, 4]], ["a", "b"])
    assert eh.additive_smooth(classes, 1) == MulticlassConfusion.from_array([[2, 3], [4, 5]], ["a", "b"])
    assert [e.label for e, _ in functions] == ["raw", "add0.5", "cps7", "cps5/2/8"]


def test_several_groups_are_each_smoothed_with_the_rest() -> None:
    groups = compas()
    together = eh.cross_prior_smooth(groups, strength=20)
    rest = sum((cm for name, cm in groups.items() if name != "Asian"), matrix(0, 0, 0, 0))
    assert list(together) == list(groups) and eh.cross_prior_smooth({}) == {}
    assert together["Asian"] == eh.cross_prior_smooth(groups["Asian"], rest, 20)


def test_a_smoothed_matrix_says_what_it_is() -> None:
    classes, rest = (MulticlassConfusion.from_array(a) for a in ([[4, 0], [0, 2]], [[1, 1], [1, 1]]))
    pairs: tuple[tuple[Any, Any], ...] = ((matrix(3, 1, 0, 2), EVEN), (classes, rest))
    smooth: Any = eh.cross_prior_smooth
    for group, reference in pairs:
        smoothed, empty = smooth(group, reference, 4), smooth(group - group, reference, "auto")
        note = f"smoothed from {group!r}, strength 4; 60% of a share's gap remains"
        assert str(smoothed).endswith(f"\n{note}") and "strength" in repr(smoothed)
        note = "the prior only: the group is empty, strength 5; 0% of a share's gap remains"
        assert str(empty).endswith(f"\n{note}") and "prior only, strength" in repr(empty)
    assert not eh.cross_prior_smooth(matrix(4, 4, 4, 4), EVEN, 4).is_whole


def test_what_cannot_be_meant_is_explained() -> None:
    strength = "InvalidInput: strength must be 0 or a number of cases from 1e-9 to 1e9, one per split, or 'auto'; got"
    epsilon = "InvalidInput: epsilon must be a number from 0 to 1e9; got"
    empty = "InvalidInput: the reference is empty (n = 0), so it has no proportions"
    classes, none = (MulticlassConfusion.from_array(a, ["a", "b"]) for a in ([[4, 0], [0, 2]], [[0, 0], [0, 0]]))
    labels = "the reference must have the same labels in the same order (['a', 'b']); got [0, 1]"
    smoothed = eh.cross_prior_smooth(matrix(10, 10, 10, 10), EVEN)
    for call, arguments, sentence in (
        (eh.cross_prior_smooth, (EVEN, EVEN, -1), f"{strength} -1"),
        (eh.cross_prior_smooth, (EVEN, EVEN, 1e-10), f"{strength} 1e-10"),
        (eh.cross_prior_smooth, (EVEN, EVEN, True), f"{strength} True"),
        (CrossPrior, (EVEN, "strong"), f"{strength} 'strong'"),
        (CrossPrior, (EVEN, SPLIT | {"fpr": -1}), f"{strength} -1"),
        (CrossPrior, (EVEN, {"prev": 3, "tpr": 4}),
         "InvalidInput: strength must name prev, tpr and fpr if it is one per split; got ['prev', 'tpr']"),
        (eh.cross_prior_smooth, (compas(), EVEN),
         "InvalidInput: reference must be left out with several groups"),
        (eh.cross_prior_smooth, (EVEN, None), "InvalidInput: pass a reference, or a mapping of several groups"),
        (eh.cross_prior_smooth, ({"A": EVEN},), empty),
        (eh.cross_prior_smooth, ({"A": EVEN, "B": matrix(0, 0, 0, 0)},), empty),
        (eh.cross_prior_smooth, (classes, none), empty),
        (eh.cross_prior_smooth, ((1, 2, 3, 4), EVEN),
         "InvalidInput: a group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
        (eh.cross_prior_smooth, (classes, [0.25] * 4),
         "InvalidInput: reference must be a MulticlassConfusion; got [0.25, 0.25, 0.25, 0.25]"),
        (eh.cross_prior_smooth, (classes, MulticlassConfusion.from_array([[1, 1], [1, 1]])), f"InvalidInput: {labels}"),
        (eh.cross_prior_smooth, (classes, classes, SPLIT),
         "InvalidInput: strength must be one number for K classes; got {'prev': 5, 'tpr': 2, 'fpr': 8}"),
        (eh.additive_smooth, (EVEN, -1), f"{epsilon} -1"),
        (Additive, (float("nan"),), f"{epsilon} nan"),
        (eh.interval, (smoothed, "tpr"), "InvalidInput: pass unsmoothed counts, with reference= and strength="),
        (eh.match_test, (smoothed, EVEN, "tpr"), "InvalidInput: the group must hold whole counts, not smoothed "
         "cells; got ConfusionMatrix(tp=10, fn=10, fp=10, tn=10, strength=10)"),
    ):  # fmt: skip
        assert refusal(cast("Any", call), *arguments) == sentence
