"""Tests of equal scores: exact for scores that depend on one rate, mid-p for others."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from oracle import drawn_scores
from pytest import approx
from scipy.stats import hypergeom

from evenhand import ConfusionMatrix, disparity, match_test
from evenhand.inference import equal_scores, gaps_of
from evenhand.inference.rates import boschloo
from evenhand.metrics import CATALOGUE

SMALL, REFERENCE = ConfusionMatrix(3, 2, 1, 9), ConfusionMatrix(116, 177, 554, 2429)
PAIRS_AND_CONTRASTS = [m for m in CATALOGUE.one_group if m.curve is None]


@pytest.mark.parametrize("key", ["acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "jaccard", "te_part"])
def test_a_score_that_follows_from_one_rate_is_tested_by_that_rate(key: str) -> None:
    counts = {
        "acc": (12, 15, 2545, 3276), "ppr": (4, 15, 670, 3276), "tpr": (3, 5, 116, 293), "fpr": (1, 10, 554, 2983),
        "ppv": (3, 4, 116, 670), "npv": (9, 11, 2429, 2606), "f1": (3, 6, 116, 847), "jaccard": (3, 6, 116, 847),
        "te_part": (2, 3, 177, 731),
    }[key]  # fmt: skip
    d = disparity(SMALL, REFERENCE, key, test="unconditional")
    assert (d.pvalue, d.method) == boschloo(*counts)
    by_fisher = disparity(SMALL, REFERENCE, key)
    law = hypergeom(counts[1] + counts[3], counts[0] + counts[2], counts[1])
    assert by_fisher.pvalue == approx(min(1, 2 * min(law.cdf(counts[0]), law.sf(counts[0] - 1))), rel=1e-9)
    assert by_fisher.method == "fisher"


def test_scores_that_are_equal_are_not_told_apart_by_other_rates() -> None:
    """E30: informedness is 0.4 in both groups, while every rate differs."""
    g, h = ConfusionMatrix(180, 20, 400, 400), ConfusionMatrix(400, 400, 20, 180)
    d = disparity(g, h, "informedness")
    assert d.estimate == approx(0, abs=1e-12)
    assert d.pvalue > 0.5
    assert d.low < 0 < d.high
    assert d.method == "mid-p"
    assert match_test(g, h, "informedness", given="n").pvalue != approx(d.pvalue, abs=0.01)


def test_scores_that_differ_are_told_apart_where_match_cannot() -> None:
    """MCC is 0.25 against 0.6, although TPR and FPR are equal: only prevalence differs."""
    d = disparity(ConfusionMatrix(400, 100, 1900, 7600), ConfusionMatrix(4000, 1000, 1000, 4000), "mcc")
    assert d.pvalue < 1e-6
    assert d.estimate < -0.2
    assert d.high < 0


def test_one_case_is_no_evidence() -> None:
    """F1 = 0 from a single miss, against 0.73."""
    d = disparity(ConfusionMatrix(0, 1, 0, 74), ConfusionMatrix(300, 100, 120, 480), "f1", test="unconditional")
    assert d.pvalue > 0.05
    assert d.pvalue == approx(boschloo(0, 1, 300, 520)[0], rel=1e-12)


def test_a_p_value_of_several_rates_is_twice_the_smaller_tail() -> None:
    """Of the gap in a million mid-p draws."""
    g, h = (30, 20, 10, 60), (300, 100, 120, 480)
    mine, theirs = (drawn_scores("informedness", c, seed, 10**6, prior=None) for c, seed in ((g, 1), (h, 2)))
    tail = 2 * min(np.mean(mine <= theirs), np.mean(mine >= theirs))
    assert disparity(ConfusionMatrix(*g), ConfusionMatrix(*h), "informedness").pvalue == approx(tail, abs=2e-3)


counts = st.sampled_from([0, 1, 2, 5, 12, 40, 300, 5000])


@pytest.mark.slow
@settings(max_examples=12)
@given(g=st.tuples(*[counts] * 4).filter(any), h=st.tuples(*[counts] * 4).filter(any))
@example(g=(20, 1, 2, 40), h=(300, 300, 300, 300))
def test_a_score_that_is_told_apart_has_a_gap_that_excludes_none(g: Any, h: Any) -> None:
    """p <= 0.05 implies that the 95 % interval of the gap excludes 0 (or, of a ratio, 1), for pairs and contrasts."""
    group, reference = np.array([g], dtype=np.float64), np.array([h], dtype=np.float64)
    for m in PAIRS_AND_CONTRASTS:
        p = equal_scores(m, group, reference).pvalue[0]
        if not p <= 0.05:
            continue
        kind, none = ("ratio", 1.0) if m.unbounded else ("difference", 0.0)
        low, high = gaps_of(m, group, reference, cast("Any", kind)).interval(0.95)
        assert not low[0] < none < high[0], m.key


@pytest.mark.slow
def test_ratios_of_equal_rates_are_rarely_told_apart() -> None:
    """Rates near 0 and 1, group drawn like a reference of a million: at most 5 % of all groups differ."""
    rng = np.random.default_rng(5)
    for key, n, prev, tpr, fpr in (("lr_minus", 20, 0.1, 0.9999, 0.1), ("lr_plus", 108, 0.05, 0.99, 0.001)):
        p = np.array([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)])
        drawn, often = np.unique(rng.multinomial(n, p, size=400), axis=0, return_counts=True)
        reference = ConfusionMatrix(*(int(x) for x in np.round(1e6 * p)))
        pvalues = [disparity(ConfusionMatrix(*map(int, c)), reference, key).pvalue for c in drawn]
        assert often[np.array(pvalues) <= 0.05].sum() / often.sum() <= 0.05
