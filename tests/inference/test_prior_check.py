"""The check of a prior: its reasons, its verdicts, and the test that group and reference share their rates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matrices import matrix
from oracle import dirichlet_multinomial, hypergeometric, matrices, refusal
from pytest import approx

import evenhand as eh
from evenhand import ConfusionMatrix
from evenhand.inference.prior_check import homogeneity_pvalue

COMPAS = matrix(116, 177, 554, 2429)


def test_the_prior_check_gives_a_verdict_with_reasons() -> None:
    fit = eh.check_prior(matrix(2, 3, 9, 36), COMPAS)
    assert fit.verdict == "fit" and len(fit.reasons) == 5 and fit.hidden == approx(10 / 60)
    assert "smoothing would help acc, ppr, prev, mb, tpr, fpr, ppv, npv, f1 and hurt none" in str(fit)
    unfit = eh.check_prior(matrix(30, 10, 5, 5), COMPAS)
    assert unfit.verdict == "unfit" and unfit.homogeneity < 1e-10
    # Only the likelihood ratio speaks against it.
    unlikely = eh.check_prior(matrix(1, 1, 3, 5), COMPAS)
    assert unlikely.verdict == "doubtful" and 0.6 < unlikely.likelihood_ratio < 0.7 and unlikely.homogeneity > 0.1
    small = eh.check_prior(matrix(2, 3, 9, 36), matrix(2, 3, 9, 36))
    assert small.verdict == "doubtful" and small.divergence == approx(0, abs=1e-15)


@pytest.mark.slow
@settings(max_examples=60)
@given(c=st.tuples(*[st.integers(0, 5)] * 4).filter(any), w=st.tuples(*[st.integers(1, 90)] * 4))
def test_a_reference_is_unfit_where_counts_contradict_it(c: Any, w: Any) -> None:
    """p < 0.001 (Freeman and Halton), or a likelihood ratio below 1/10, by listing every group in fractions."""
    pooled = [a + b for a, b in zip(c, w, strict=True)]
    weights = [
        hypergeometric(k, pooled) for k in matrices(sum(c)) if all(a <= b for a, b in zip(k, pooled, strict=True))
    ]
    p = float(sum(x for x in weights if x <= hypergeometric(c, pooled)))
    ours = dirichlet_multinomial(c, [Fraction(10 * x, sum(w)) for x in w])
    ratio = float(ours / dirichlet_multinomial(c, [Fraction(5, 2)] * 4))
    found = eh.check_prior(ConfusionMatrix.from_array(c), ConfusionMatrix.from_array(w))
    assert found.homogeneity == approx(p, rel=1e-9)
    assert found.likelihood_ratio == approx(ratio, rel=1e-9)
    assert (found.verdict == "unfit") == (p < 0.001 or ratio < 0.1)
    assert found.verdict != "fit" or (p >= 0.05 and ratio >= 1 - 1e-9 and sum(w) >= 100)


def test_a_prior_that_would_hurt_more_scores_than_it_helps_is_doubtful() -> None:
    """Nothing else speaks against it: p = .12, 126 times as likely, 100,000 cases."""
    group, reference = matrix(14, 10, 1, 4), matrix(34557, 41921, 14812, 8710)
    strong, weak = eh.check_prior(group, reference, 1000), eh.check_prior(group, reference, 10)
    assert (strong.homogeneity, strong.likelihood_ratio) == approx((0.116, 126), rel=0.01)
    assert (len(strong.improved), len(strong.worsened), strong.verdict) == (4, 5, "doubtful")
    assert "smoothing would help ppr, prev, mb, npv and hurt acc, tpr, fpr, ppv, f1" in str(strong)
    assert len(weak.improved) > len(weak.worsened) and weak.verdict == "fit"


def test_homogeneity_is_fishers_test_when_two_cells_are_empty() -> None:
    from scipy.stats import fisher_exact

    p, method = homogeneity_pvalue(matrix(1, 7, 0, 0), matrix(20, 11, 0, 0))
    assert p == approx(fisher_exact(np.array([[1, 7], [20, 11]])).pvalue, rel=1e-9)
    assert method == "exact"
    large = homogeneity_pvalue(matrix(1000, 1100, 900, 1000), matrix(1020, 1080, 930, 970))
    assert large[0] == approx(0.72, abs=0.02)
    assert large[1] == "chi-squared approximation"


def test_a_prior_that_rules_out_the_group_is_unfit() -> None:
    found = eh.check_prior(matrix(3, 1, 0, 6), matrix(500, 500, 0, 0), "auto")
    assert (found.verdict, found.likelihood_ratio) == ("unfit", 0)
    unchanged = eh.check_prior(matrix(3, 1, 2, 4), matrix(0, 0, 500, 500))
    assert "tpr" not in unchanged.worsened + unchanged.improved
    large = eh.check_prior(matrix(1000, 0, 0, 0), matrix(1000, 1, 1, 1), 10_000)
    assert large.likelihood_ratio > 1e100


def test_what_cannot_be_meant_is_explained() -> None:
    must = "must be a ConfusionMatrix of whole counts with cases; got"
    empty, even = matrix(0, 0, 0, 0), matrix(1, 1, 1, 1)
    assert refusal(eh.check_prior, empty, even) == f"InvalidInput: the group {must} {empty!r}"
    assert refusal(eh.check_prior, even, 3) == f"InvalidInput: the reference {must} 3"
    sentence = "InvalidInput: strength must be above 0, or the prior has no effect"
    assert refusal(eh.check_prior, even, even, 0) == sentence
