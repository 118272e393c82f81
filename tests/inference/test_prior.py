"""The check of a prior: its reasons, its verdicts, and the test that group and reference share their rates."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracle import dirichlet_multinomial, hypergeometric, matrices
from pytest import approx

import evenhand as eh
from evenhand import ConfusionMatrix
from evenhand.errors import InvalidInput
from evenhand.inference.prior import homogeneity_pvalue


def test_the_prior_check_gives_reasons() -> None:
    fit = eh.check_prior(ConfusionMatrix(2, 3, 9, 36), ConfusionMatrix(116, 177, 554, 2429))
    assert fit.verdict == "fit"
    assert fit.hidden == approx(10 / 60)
    assert len(fit.reasons) == 5
    unfit = eh.check_prior(ConfusionMatrix(30, 10, 5, 5), ConfusionMatrix(116, 177, 554, 2429))
    assert unfit.verdict == "unfit"
    assert unfit.homogeneity < 1e-10
    small = eh.check_prior(ConfusionMatrix(2, 3, 9, 36), ConfusionMatrix(2, 3, 9, 36))
    assert small.verdict == "doubtful"
    assert small.divergence == approx(0, abs=1e-15)
    assert eh.check_prior(ConfusionMatrix(1, 1, 1, 1), ConfusionMatrix(0, 50, 50, 50)).divergence == inf


def test_the_prior_check_names_every_metric_that_gains_or_loses() -> None:
    group, reference = ConfusionMatrix(14, 10, 1, 4), ConfusionMatrix(34557, 41921, 14812, 8710)
    assert "smoothing would help ppr, prev, mb, npv and hurt acc, tpr, fpr, ppv, f1" in str(
        eh.check_prior(group, reference, 1000)
    )
    alike = eh.check_prior(ConfusionMatrix(2, 3, 9, 36), ConfusionMatrix(116, 177, 554, 2429))
    assert "smoothing would help acc, ppr, prev, mb, tpr, fpr, ppv, npv, f1 and hurt none" in str(alike)


@pytest.mark.slow
@pytest.mark.parametrize("reference", [(300, 100, 120, 480), (116, 177, 554, 2429), (20, 5, 5, 170)])
@pytest.mark.parametrize("n", [10, 20, 40])
def test_a_perfect_reference_is_hardly_ever_unfit(reference: Any, n: int) -> None:
    """At most 2 in 100 of groups drawn like the reference are told that it is unfit to be their prior."""
    drawn = np.random.default_rng(n).multinomial(n, np.array(reference) / sum(reference), 200)
    groups, counts = np.unique(drawn, axis=0, return_counts=True)
    verdicts = [eh.check_prior(ConfusionMatrix(*c), ConfusionMatrix(*reference)).verdict for c in groups.tolist()]
    assert sum(k for v, k in zip(verdicts, counts, strict=True) if v == "unfit") <= 4


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
    found = eh.check_prior(ConfusionMatrix(*c), ConfusionMatrix(*w))
    assert found.homogeneity == approx(p, rel=1e-9)
    assert found.likelihood_ratio == approx(ratio, rel=1e-9)
    assert (found.verdict == "unfit") == (p < 0.001 or ratio < 0.1)
    assert found.verdict != "fit" or (p >= 0.05 and ratio >= 1 - 1e-9 and sum(w) >= 100)


def test_a_prior_that_would_hurt_more_scores_than_it_helps_is_doubtful() -> None:
    """Nothing else speaks against it: p = .12, 126 times as likely, 100,000 cases."""
    group, reference = ConfusionMatrix(14, 10, 1, 4), ConfusionMatrix(34557, 41921, 14812, 8710)
    strong, weak = eh.check_prior(group, reference, 1000), eh.check_prior(group, reference, 10)
    assert (strong.homogeneity, strong.likelihood_ratio) == approx((0.116, 126), rel=0.01)
    assert (len(strong.gain), len(strong.lose), strong.verdict) == (4, 5, "doubtful")
    assert len(weak.gain) > len(weak.lose)
    assert weak.verdict == "fit"


def test_homogeneity_is_fishers_test_when_two_cells_are_empty() -> None:
    from scipy.stats import fisher_exact

    p, method = homogeneity_pvalue(ConfusionMatrix(1, 7, 0, 0), ConfusionMatrix(20, 11, 0, 0))
    assert p == approx(fisher_exact(np.array([[1, 7], [20, 11]])).pvalue, rel=1e-9)
    assert method == "exact"
    large = homogeneity_pvalue(ConfusionMatrix(1000, 1100, 900, 1000), ConfusionMatrix(1020, 1080, 930, 970))
    assert large[0] == approx(0.72, abs=0.02)
    assert large[1] == "chi-squared approximation"


def test_a_prior_that_rules_out_the_group_is_unfit() -> None:
    found = eh.check_prior(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(500, 500, 0, 0), "auto")
    assert found.verdict == "unfit"
    assert found.likelihood_ratio == 0
    unchanged = eh.check_prior(ConfusionMatrix(3, 1, 2, 4), ConfusionMatrix(0, 0, 500, 500))
    assert "tpr" not in unchanged.lose + unchanged.gain
    large = eh.check_prior(ConfusionMatrix(1000, 0, 0, 0), ConfusionMatrix(1000, 1, 1, 1), 10_000)
    assert large.likelihood_ratio > 1e100


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.check_prior(ConfusionMatrix(0, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1)),
         "the group must be a ConfusionMatrix of whole counts with cases; got ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)"),
        (lambda: eh.check_prior(ConfusionMatrix(1, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), 0),
         "strength must be positive; a prior of strength 0 has no effect"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
