"""Strengths that are learnt from all groups against SciPy's beta-binomial law, and closed forms against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from matrices import matrix
from oracle import refusal
from pytest import approx
from scipy.integrate import quad
from scipy.stats import betabinom

import evenhand as eh
from evenhand import ConfusionMatrix, CrossPrior
from evenhand.examples import compas
from evenhand.inference.smoothing import estimate_strengths, harmful_split

SPLITS = ("prev", "tpr", "fpr")


def estimate_spread(groups: dict[str, ConfusionMatrix]) -> dict[str, float]:
    strengths = estimate_strengths(np.array([cm.cells for cm in groups.values()], dtype=float))
    return dict(zip(SPLITS, strengths.tolist(), strict=True))


# What each cell counts for.
WEIGHTS = {
    "acc": (1, 0, 0, 1), "prev": (1, 1, 0, 0), "ppr": (1, 0, 1, 0), "mb": (0, -1, 1, 0),
    "tp": (1, 0, 0, 0), "fn": (0, 1, 0, 0), "fp": (0, 0, 1, 0), "tn": (0, 0, 0, 1),
}  # fmt: skip


@settings(max_examples=40)
@given(
    p=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    q=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    n=st.integers(1, 60),
    strength=st.integers(1, 80),
    key=st.sampled_from(list(WEIGHTS)),
)
def test_bias_variance_and_the_best_strength_are_exact(p: Any, q: Any, n: int, strength: int, key: str) -> None:
    """Smoothing beats the raw score iff d² < v(2/λ + 1/n), and λ* = v/d² is the best strength."""
    rates, prior = ([Fraction(x, sum(w)) for x in w] for w in (p, q))
    mean, other = (sum(w * r for w, r in zip(WEIGHTS[key], one, strict=True)) for one in (rates, prior))
    v = sum(r * (w - mean) ** 2 for w, r in zip(WEIGHTS[key], rates, strict=True))
    d, total = other - mean, n + strength
    b = eh.bias_variance(key, matrix(*p), matrix(*q), n, strength)
    exact = Fraction(strength) * d / total, n * v / total**2, v / n
    assert (b.bias, b.variance, b.raw_mse) == approx(tuple(map(float, exact)), rel=1e-10, abs=1e-15)
    mse = exact[0] ** 2 + exact[1]
    assert (mse < v / n) == (d**2 < v * (Fraction(2, strength) + Fraction(1, n)))
    assert eh.optimal_strength(key, matrix(*p), matrix(*q)) == approx(float(v / d**2) if d else inf, rel=1e-9)
    spread, square = 1 - sum(r * r for r in rates), sum((s - r) ** 2 for r, s in zip(rates, prior, strict=True))
    all_cells = float(spread / square) if square else inf
    assert eh.optimal_strength(None, matrix(*p), matrix(*q)) == approx(all_cells, rel=1e-9)


def harmonic_strength(part: Any, whole: Any) -> float:
    """1 / E[1/h]; the likelihood of h is that of beta-binomials with the others' rate, its prior lognormal."""
    kept = [(x, m) for x, m in zip(part, whole, strict=True) if m]
    total = sum(x for x, _ in kept), sum(m for _, m in kept)

    def log_weight(t: float) -> float:
        h, value = np.exp(t), -0.5 * (t - np.log(12)) ** 2
        for x, m in kept:
            mean = (total[0] - x + 0.5) / (total[1] - m + 1)
            value += betabinom.logpmf(x, m, h * mean, h * (1 - mean))
        return float(value)

    ends = np.log(0.25), np.log(2000)
    highest = max(log_weight(t) for t in np.linspace(*ends, 100))
    above, below = (
        quad(lambda t, k=k: np.exp(log_weight(t) - highest - k * t), *ends, epsrel=1e-5, limit=200)[0] for k in (0, 1)
    )
    return float(above / below)


def splits_of(groups: Any) -> dict[str, tuple[Any, Any]]:
    tp, fn, fp, tn = np.array([cm.cells for cm in groups.values()], dtype=int).T
    return {"prev": (tp + fn, tp + fn + fp + tn), "tpr": (tp, tp + fn), "fpr": (fp, fp + tn)}


def test_the_spread_of_groups_is_their_harmonic_strength() -> None:
    collections: tuple[dict[str, ConfusionMatrix], ...] = (
        compas(),
        {str(i): matrix(0, 7, 3 * i, 0) for i in range(1, 7)},
        {"empty": matrix(0, 0, 0, 0), "b": matrix(3, 0, 0, 0), "c": matrix(2, 1, 2, 5)},
        {"a": matrix(3, 1, 2, 6), "b": matrix(9, 9, 1, 30)},
        {str(i): matrix(100, 50, 60, 200) for i in range(8)},
    )
    for groups in collections:
        spread = estimate_spread(groups)
        for split, counts in splits_of(groups).items():
            assert spread[split] == approx(harmonic_strength(*counts), rel=2e-3)
    # Without cases it is 1 / E[1/h] of the lognormal prior.
    assert estimate_spread({"a": matrix(0, 0, 0, 0)})["prev"] == approx(12 * np.exp(-0.5), rel=2e-3)


def test_smoothing_may_harm_if_the_harmonic_mean_of_strengths_is_below_3() -> None:
    assert harmful_split(np.array([2.9, 3.0, 3.0])) == "prev"
    assert harmful_split(np.array([9.0, 9.0, 1.2])) == "fpr"
    assert harmful_split(np.array([9.0, 1.4, 9.0])) is None


@settings(max_examples=60)
@given(cells=st.lists(st.tuples(*[st.integers(0, 40)] * 4), min_size=2, max_size=9))
def test_no_count_is_moved_further_than_allowed_and_none_is_held_back_without_need(cells: Any) -> None:
    """m|s - r| ≤ 3/4 + s.e./4, at Laplace's rate, with equality or the full strength."""
    groups = {str(i): matrix(*row) for i, row in enumerate(cells)}
    total = sum(groups.values(), matrix(0, 0, 0, 0))
    spread = estimate_spread(groups) if len(groups) >= 5 else None
    learnt = eh.learn_strengths(groups)
    for name, cm in groups.items():
        of_rest = splits_of({"rest": total - cm})
        for split, ((x,), (m,)) in splits_of({name: cm}).items():
            (reference_x,), (reference_m,) = of_rest[split]
            strength, full = learnt[name][split], spread[split] if spread else 5.0
            if not m or not reference_m:
                assert strength == full
                continue
            laplace = (x + 1) / (m + 2)
            allowed = 0.75 + 0.25 * np.sqrt(m * laplace * (1 - laplace))
            moved = m * abs((x + strength * reference_x / reference_m) / (m + strength) - x / m)
            assert moved <= allowed * (1 + 1e-9)
            assert strength == full or (strength < full and moved == approx(allowed))


def test_automatic_strength_is_learnt_from_five_groups_and_a_cautious_5_without_them() -> None:
    groups, cautious = compas(), dict.fromkeys(SPLITS, 5.0)
    together = eh.cross_prior_smooth(groups, strength="auto")
    assert {name: smoothed.strength for name, smoothed in together.items()} == eh.learn_strengths(groups)
    assert eh.learn_strengths(dict(list(groups.items())[:4]))["Hispanic"] == cautious
    assert eh.learn_strengths(dict(list(groups.items())[:5]))["Hispanic"] != cautious
    assert eh.learn_strengths({"only": groups["Asian"]}) == {"only": cautious}
    assert eh.learn_strengths({}) == {}
    assert CrossPrior(groups["Other"], "auto").strength == 5


def test_what_cannot_be_meant_is_explained() -> None:
    even = [0.25] * 4
    for sentence, message in {
        "a group must be a ConfusionMatrix; got (1, 2, 3, 4)": refusal(eh.learn_strengths, {"A": (1, 2, 3, 4)}),
        "n must be at least 1": refusal(eh.bias_variance, "prev", even, even, 0, 5),
        "mcc is not linear in the cells; use risk()":
            refusal(eh.bias_variance, "mcc", even, even, 5, 5),
    }.items():  # fmt: skip
        assert message == f"InvalidInput: {sentence}"
