"""Tests of equal scores: Fisher's for scores of one rate, mid-p for others."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from matrices import matrix
from oracle import drawn_scores
from pytest import approx
from scipy.stats import hypergeom

from evenhand import disparity, match_test, metric
from evenhand.inference import equality_test

SMALL, REFERENCE = matrix(3, 2, 1, 9), matrix(116, 177, 554, 2429)


def test_a_score_of_one_rate_is_tested_by_that_rate() -> None:
    counts = {
        "acc": (12, 15, 2545, 3276), "ppr": (4, 15, 670, 3276), "tpr": (3, 5, 116, 293), "fpr": (1, 10, 554, 2983),
        "ppv": (3, 4, 116, 670), "npv": (9, 11, 2429, 2606), "f1": (3, 6, 116, 847), "jaccard": (3, 6, 116, 847),
        "te_part": (2, 3, 177, 731),
    }  # fmt: skip
    for key, (x1, n1, x2, n2) in counts.items():
        law = hypergeom(n1 + n2, x1 + x2, n1)
        d = disparity(SMALL, REFERENCE, key)
        assert d.pvalue == approx(min(1, 2 * min(law.cdf(x1), law.sf(x1 - 1))), rel=1e-9), key
        assert d.method == "fisher"


def test_equal_scores_with_different_rates_do_not_differ() -> None:
    """E30: informedness is 0.4 in both groups, while all rates differ."""
    g, h = matrix(180, 20, 400, 400), matrix(400, 400, 20, 180)
    d = disparity(g, h, "informedness")
    assert d.estimate == approx(0, abs=1e-12)
    assert d.pvalue > 0.5
    assert d.low < 0 < d.high
    assert d.method == "mid-p"
    assert match_test(g, h, "informedness", given="n").pvalue != approx(d.pvalue, abs=0.01)


def test_different_scores_with_equal_rates_differ() -> None:
    """MCC is 0.25 against 0.6, although TPR and FPR are equal: only prevalence differs."""
    d = disparity(matrix(400, 100, 1900, 7600), matrix(4000, 1000, 1000, 4000), "mcc")
    assert d.pvalue < 1e-6
    assert d.high < 0


def test_a_pvalue_of_several_rates_is_twice_the_smaller_tail_of_the_gap() -> None:
    """In 400,000 mid-p draws."""
    g, h = (30, 20, 10, 60), (300, 100, 120, 480)
    for key in ("informedness", "mcc"):
        first, second = (drawn_scores(key, c, i, 400_000, prior=None) for i, c in ((1, g), (2, h)))
        tail = 2 * min(np.mean(first <= second), np.mean(first >= second))
        assert disparity(matrix(*g), matrix(*h), key).pvalue == approx(tail, abs=4e-3)


def test_undefined_scores_have_no_pvalue() -> None:
    groups, references = np.array([[0.0, 0, 2, 6], [3, 1, 2, 6]]), np.array([[5.0, 5, 5, 5], [5, 5, 5, 5]])
    for key in ("tpr", "mcc"):
        test = equality_test(cast("Any", metric(key)), groups, references)
        assert np.isnan([test.lower, test.upper, test.pvalues])[:, 0].all()
        assert np.isfinite(test.pvalues[1])


def test_effective_counts_are_tested_by_the_interval_of_the_gap() -> None:
    """For whole counts that is Fisher's test."""
    rng = np.random.default_rng(2)
    groups, references = rng.integers(1, 30, (2, 40, 4)).astype(float)
    tpr: Any = metric("tpr")
    exact, effective = (equality_test(tpr, groups, references, whole=whole) for whole in (True, False))
    assert effective.method == "effective counts"
    is_low = exact.pvalues < 0.9
    assert effective.pvalues[is_low] == approx(exact.pvalues[is_low], abs=1e-8)
    assert (effective.is_higher == exact.is_higher)[is_low].all()
