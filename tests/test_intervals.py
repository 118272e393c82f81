"""Intervals of scores and of gaps, against random draws, quadrature by other means, and each other."""

from __future__ import annotations

import re
from math import isnan
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from pytest import approx
from scipy.stats import beta

from evenhand import ConfusionMatrix, InvalidInput, UnknownName, disparity, interval, match_test, metric
from evenhand.laws.belief import Belief
from evenhand.metrics import CATALOGUE

SMALL, EMPTY, LARGE = ConfusionMatrix(3, 2, 1, 9), ConfusionMatrix(0, 2, 0, 30), ConfusionMatrix(400, 300, 250, 5000)
REFERENCE = ConfusionMatrix(116, 177, 554, 2429)
one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)


def missed(scores: Any, low: float, high: float) -> tuple[float, float]:
    scores = scores[~np.isnan(scores)]
    return float(np.mean(scores < low)), float(np.mean(scores > high))


@one_group
@pytest.mark.parametrize("cm", [SMALL, EMPTY, LARGE], ids=["small", "empty cells", "large"])
def test_the_interval_leaves_out_as_much_on_either_side(m: Any, cm: ConfusionMatrix) -> None:
    """Two tails of 5 % each of 200,000 draws from the posterior, within four standard errors.

    A score at an end of its range is kept inside, so that nothing is left out on that side.
    """
    draws = np.random.default_rng(11).dirichlet(np.array(cm.cells) + 0.5, 200_000)
    found = interval(cm, m, level=0.9)
    expected = tuple(0.0 if found.estimate == end else 0.05 for end in m.range)
    assert missed(m.scores(draws), found.low, found.high) == approx(expected, abs=4 * np.sqrt(0.0475 / 200_000))


@pytest.mark.parametrize(
    ("key", "a", "b"), [("tpr", 3.5, 2.5), ("acc", 13.0, 4.0), ("ppv", 3.5, 1.5), ("prev", 6.0, 11.0)]
)
def test_rates_have_beta_quantiles(key: str, a: float, b: float) -> None:
    found = interval(SMALL, key)
    assert (found.low, found.high) == approx((beta.ppf(0.025, a, b), beta.ppf(0.975, a, b)), rel=1e-9)


def test_f1_is_a_rate_in_disguise() -> None:
    """F1 = 2x / (1 + x) with x = TP / (TP + FP + FN)."""
    x = beta.ppf([0.025, 0.975], 3.5, 4.0)
    found = interval(SMALL, "f1")
    assert (found.low, found.high) == approx(tuple(np.asarray(2 * x / (1 + x))), rel=1e-9)


@pytest.mark.parametrize(("key", "x"), [("informedness", 0.3), ("mb", -0.1), ("g_mean", 0.6)])
def test_quadrature_agrees_with_adaptive_quadrature(key: str, x: float) -> None:
    """P(S <= x) under the posterior of (3, 2, 1, 9), to 1e-6."""

    def density(a: float, b: float, t: Any) -> Any:
        return t ** (a - 1) * (1 - t) ** (b - 1) / mpmath.beta(a, b)

    def cdf(a: float, b: float, t: Any) -> Any:
        return mpmath.betainc(a, b, 0, min(max(t, 0), 1), regularized=True)

    with mpmath.workdps(20):
        if key == "mb":
            # E (2 f - 1) <= x with E ~ Beta(4, 13) and f ~ Beta(1.5, 2.5).
            expected = mpmath.quad(
                lambda e: density(4, 13, e) * cdf(1.5, 2.5, (x / e + 1) / 2) if e else 0, [0, -x, 0.3, 1]
            )
        elif key == "informedness":
            expected = mpmath.quad(lambda t: density(3.5, 2.5, t) * (1 - cdf(1.5, 9.5, t - x)), [0, x, 0.6, 1])
        else:
            expected = mpmath.quad(
                lambda t: density(3.5, 2.5, t) * (1 - cdf(1.5, 9.5, 1 - x * x / t)), [1e-9, x * x, 0.7, 1]
            )
    alpha = (3.5, 2.5, 1.5, 9.5)
    assert float(Belief(cast("Any", metric(key)), alpha).cdf(x)) == approx(float(expected), abs=1e-6)


@one_group
def test_quantile_undoes_cdf(m: Any) -> None:
    belief = Belief(m, (3.5, 2.5, 1.5, 9.5))
    for q in (0.025, 0.3, 0.975):
        assert float(belief.cdf(float(belief.quantile(q)))) == approx(q, abs=1e-6)


def test_a_reference_steadies_the_interval() -> None:
    """With a reference and a strength, the posterior is Dirichlet(cells + strength * proportions)."""
    steady = interval(SMALL, "tpr", reference=REFERENCE, strength=20)
    share = 20 * REFERENCE.proportions
    expected = beta.ppf([0.025, 0.975], 3 + share[0], 2 + share[1])
    assert (steady.low, steady.high) == approx(tuple(np.asarray(expected)), rel=1e-9)
    assert steady.method == "CPS posterior, strength 20"


def test_an_undefined_score_still_has_an_interval() -> None:
    found = interval(ConfusionMatrix(0, 0, 2, 6), "tpr")
    assert isnan(found.estimate)
    assert (found.low, found.high) == approx((beta.ppf(0.025, 0.5, 0.5), beta.ppf(0.975, 0.5, 0.5)), rel=1e-9)
    assert str(found) == "tpr undefined, 95 % interval 0.001541 to 0.9985"


def test_intervals_know_what_they_hold() -> None:
    assert 0.6 in interval(SMALL, "tpr")
    assert 0.01 not in interval(SMALL, "tpr")


# Gaps


@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize("key", ["tpr", "ppr", "f1", "mb", "mcc", "te_part", "lr_plus", "dor", "f0.5"])
def test_the_interval_of_a_gap_leaves_out_as_much_on_either_side(key: str, kind: Any) -> None:
    if kind == "ratio" and key in ("mb", "mcc"):
        return
    rng = np.random.default_rng(5)
    m = cast("Any", metric(key))
    group, reference = (m.scores(rng.dirichlet(np.array(cm.cells) + 0.5, 200_000)) for cm in (SMALL, REFERENCE))
    gaps = group - reference if kind == "difference" else group / reference
    d = disparity(SMALL, REFERENCE, key, kind, level=0.9)
    assert missed(gaps, d.low, d.high) == approx((0.05, 0.05), abs=4 * np.sqrt(0.0475 / 200_000))


@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize("key", ["dor", "lr_plus", "lr_minus", "te_part", "f2"])
@pytest.mark.parametrize(
    "groups", [((0, 2, 8, 30), (300, 100, 120, 480)), ((1, 0, 0, 3), (5, 5, 5, 5)), ((20, 0, 30, 0), (0, 10, 10, 0))]
)
def test_gaps_over_many_orders_of_magnitude_are_found(groups: Any, key: str, kind: Any) -> None:
    rng = np.random.default_rng(5)
    m = cast("Any", metric(key))
    draws = [m.scores(rng.dirichlet(np.array(c) + 0.5, 200_000)) for c in groups]
    gaps = draws[0] - draws[1] if kind == "difference" else draws[0] / draws[1]
    d = disparity(ConfusionMatrix(*groups[0]), ConfusionMatrix(*groups[1]), key, kind, level=0.9)
    assert missed(gaps, d.low, d.high) == approx((0.05, 0.05), abs=0.004)


def test_small_gaps_keep_their_digits() -> None:
    d = disparity(
        ConfusionMatrix(150_001, 99_999, 200_000, 550_000), ConfusionMatrix(1_500_000, 1_000_000, 2, 5), "tpr"
    )
    assert str(d).startswith("TPR is 4e-06 higher (95 % interval -0.002")


def test_a_gap_is_one_sentence() -> None:
    d = disparity(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
    assert str(d) == "TPR is 0.75 lower (95 % interval -0.77 to -0.08, p = 0.13)"
    assert d.pvalue == match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr").pvalue
    assert d.four_fifths is None


def test_disparate_impact_comes_with_the_four_fifths_rule() -> None:
    d = disparity(ConfusionMatrix(10, 5, 2, 33), ConfusionMatrix(100, 50, 60, 90), "ppr", "ratio")
    assert d.estimate == approx((12 / 50) / (160 / 300))
    assert d.four_fifths is False
    assert str(d) == (
        "PPR is 0.45 times the reference's (95 % interval 0.27 to 0.71, p = 0.00017, four-fifths rule not kept)"
    )


def test_an_undefined_gap_says_so() -> None:
    d = disparity(ConfusionMatrix(0, 0, 2, 6), REFERENCE, "tpr")
    assert isnan(d.estimate)
    assert d.reason == "in the group: no actual positives (TP + FN = 0)"
    assert str(d).startswith("TPR: the difference is undefined, in the group: no actual positives (TP + FN = 0)")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: interval(SMALL, "tpr", level=95), InvalidInput, "level must lie between 0 and 1; got 95"),
        (lambda: interval(SMALL, "tpr", prior=0), InvalidInput,
         "prior must be a positive number of pseudo-counts per cell, at most 1e9; got 0"),
        (lambda: interval(SMALL, "ofi"), InvalidInput,
         "ofi compares two groups; disparity() gives its interval from the one-group metric"),
        (lambda: interval(EMPTY, "tpr", reference=ConfusionMatrix(0, 1, 1, 1)), InvalidInput,
         "a cell is empty in the group and in the reference, so its rate would be believed to be exactly 0; choose a "
         "reference without empty cells, or leave it out"),
        (lambda: interval(SMALL, "tpr", reference=REFERENCE, strength=-1), InvalidInput,
         "strength must be a positive number of cases; got -1"),
        (lambda: interval(SMALL, "tpr", cast("Any", "a")), InvalidInput, "level must lie between 0 and 1; got 'a'"),
        (lambda: interval(cast("Any", (1, 2, 3, 4)), "tpr"), InvalidInput,
         "the group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
        (lambda: disparity(SMALL, REFERENCE, "mcc", "ratio"), InvalidInput,
         "mcc can be negative, so a ratio of two groups is meaningless; use mcc_difference"),
        (lambda: disparity(SMALL, REFERENCE, "tpr", cast("Any", "gap")), UnknownName,
         "no kind is called 'gap'; known: difference, ratio"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_explained(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()
