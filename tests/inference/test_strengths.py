# mypy: disable-error-code="operator, comparison-overlap"
"""The closed forms of a strength, and strengths that are learnt from other groups."""

from __future__ import annotations

import re
from math import inf
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from oracle import golden
from pytest import approx
from scipy.integrate import quad
from scipy.stats import betabinom

import evenhand as eh
from evenhand import ConfusionMatrix, CrossPrior
from evenhand.errors import InvalidInput
from evenhand.examples import compas, compas_violent, folktables_income
from evenhand.inference import spread_of

GOLDEN = golden("smoothing")
SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}
VIOLENT, INCOME = compas_violent(), folktables_income()


def truth_and_reference(name: str) -> tuple[ConfusionMatrix, ConfusionMatrix]:
    study, group = name.split("/")
    groups = VIOLENT if study == "COMPAS" else INCOME
    return groups[group], sum(groups.values(), ConfusionMatrix(0, 0, 0, 0)) - groups[group]


@pytest.mark.parametrize("case", GOLDEN["cps_bias_var"][::7], ids=lambda c: f"{c['group']} {c['n']} {c['lambda']}")
def test_golden_bias_and_variance_of_the_cells(case: dict[str, Any]) -> None:
    truth, reference = truth_and_reference(case["group"].replace("FT", "Folktables"))
    for i, cell in enumerate(("tp", "fn", "fp", "tn")):
        b = eh.bias_variance(cell, truth, reference, case["n"], case["lambda"])
        assert b.bias == approx(float(case["bias"][i]), rel=1e-12, abs=1e-16)
        assert b.variance == approx(float(case["var"][i]), rel=1e-12)
        assert b.mse == approx(float(case["mse"][i]), rel=1e-12)


@pytest.mark.parametrize("case", GOLDEN["cps_optimal_lambda"], ids=lambda c: c["group"])
def test_golden_optimal_strengths(case: dict[str, Any]) -> None:
    truth, reference = truth_and_reference(case["group"].replace("FT", "Folktables"))
    assert eh.optimal_strength(None, truth, reference) == approx(float(case["all_cells"]), rel=1e-10)
    for cell, value in zip(("tp", "fn", "fp", "tn"), case["cells"], strict=True):
        assert eh.optimal_strength(cell, truth, reference) == approx(float(value), rel=1e-8)


def test_golden_table_2() -> None:
    """E14: the paper's table with its labels and its reference put right."""
    black, other = truth_and_reference("COMPAS/Black")
    assert black.proportions == approx([float(x) for x in GOLDEN["table2"]["black"]], rel=1e-14)
    assert other.proportions == approx([float(x) for x in GOLDEN["table2"]["all_other_races"]], rel=1e-14)
    gaps = np.abs(black.proportions - other.proportions)
    assert gaps == approx([float(x) for x in GOLDEN["table2"]["absdiff_cps"]], rel=1e-12)


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
    strength=st.floats(0.5, 80),
    key=st.sampled_from(list(WEIGHTS)),
)
def test_smoothing_helps_exactly_below_the_break_even(p: Any, q: Any, n: int, strength: float, key: str) -> None:
    """CPS beats raw iff d² < v(2/λ + 1/n), and λ* = v/d² is the best strength."""
    truth, reference = ConfusionMatrix(*p), ConfusionMatrix(*q)
    b = eh.bias_variance(key, truth, reference, n, strength)
    assume(b.mse != approx(b.raw_mse, rel=1e-9))
    weights = np.array(WEIGHTS[key])
    score = weights @ truth.proportions
    gap, variance = weights @ reference.proportions - score, truth.proportions @ (weights - score) ** 2
    assert (gap**2 < variance * (2 / strength + 1 / n)) == (b.mse < b.raw_mse)
    best = min(eh.optimal_strength(key, truth, reference), 1e9)
    least = eh.bias_variance(key, truth, reference, n, best).mse
    assert least <= b.mse * (1 + 1e-9)


def test_no_gap_has_no_best_strength() -> None:
    assert eh.optimal_strength("prev", ConfusionMatrix(1, 6, 7, 6), ConfusionMatrix(3, 4, 9, 4)) == inf
    without = eh.bias_variance("prev", [0.25] * 4, [0.3, 0.2, 0.2, 0.3], 10, 0)
    assert (without.bias, without.mse) == (0, approx(without.raw_mse))


def harmonic_strength(part: Any, whole: Any) -> float:
    """∫ L(h) φ(h) dlog h / ∫ L(h) φ(h)/h dlog h; L: each of the beta-binomials with the others' rate, φ: lognormal."""
    kept = [(a, m) for a, m in zip(part, whole, strict=True) if m]
    total = sum(a for a, _ in kept), sum(m for _, m in kept)

    def log_weight(t: float) -> float:
        h = np.exp(t)
        value = -0.5 * (t - np.log(12)) ** 2
        for a, m in kept:
            mean = (total[0] - a + 0.5) / (total[1] - m + 1)
            value += betabinom.logpmf(a, m, h * mean, h * (1 - mean))
        return float(value)

    ends = np.log(0.25), np.log(2000)
    highest = max(log_weight(t) for t in np.linspace(*ends, 200))
    above, below = (
        quad(lambda t, k=k: np.exp(log_weight(t) - highest - k * t), *ends, epsrel=1e-6, limit=200)[0] for k in (0, 1)
    )
    return float(above / below)


def splits_of(groups: Any) -> dict[str, tuple[Any, Any]]:
    tp, fn, fp, tn = np.array([cm.cells for cm in groups.values()], dtype=int).T
    return {"prev": (tp + fn, tp + fn + fp + tn), "tpr": (tp, tp + fn), "fpr": (fp, fp + tn)}


EDGES = {
    "none of n, all of n": {str(i): ConfusionMatrix(0, 7, 3 * i, 0) for i in range(1, 7)},
    "empty groups": {
        "a": ConfusionMatrix(0, 0, 0, 0),
        "b": ConfusionMatrix(3, 0, 0, 0),
        "c": ConfusionMatrix(2, 1, 2, 5),
    },
    "two groups": {"a": ConfusionMatrix(3, 1, 2, 6), "b": ConfusionMatrix(9, 9, 1, 30)},
}


@pytest.mark.parametrize("groups", [compas(), INCOME, *EDGES.values()], ids=["compas", "income", *EDGES])
def test_the_spread_of_groups_is_their_harmonic_strength(groups: Any) -> None:
    spread = spread_of(groups)
    for split, counts in splits_of(groups).items():
        assert getattr(spread, split) == approx(harmonic_strength(*counts), rel=2e-3)
    assert spread.overall == approx(3 / (1 / spread.prev + 1 / spread.tpr + 1 / spread.fpr))
    assert getattr(spread, spread.widest) == min(spread.prev, spread.tpr, spread.fpr)
    assert spread.too_much == (spread.overall < 3)


def test_without_any_case_the_strength_is_that_of_its_prior() -> None:
    """1 / E[1/h] of a lognormal law around 12 with σ = 1, cut at 0.25 and 2000: 12 exp(-1/2)."""
    spread = spread_of({"a": ConfusionMatrix(0, 0, 0, 0)})
    assert (spread.prev, spread.tpr, spread.fpr) == approx((12 * np.exp(-0.5),) * 3, rel=2e-3)


def test_groups_that_agree_make_a_strong_prior_and_others_a_weak_one() -> None:
    alike = {str(i): ConfusionMatrix(100, 50, 60, 200) for i in range(8)}
    # Prevalence, TPR and 1 - FPR are all i/9.
    apart = {str(i): ConfusionMatrix(i * i, i * (9 - i), (9 - i) ** 2, i * (9 - i)) for i in range(1, 9)}
    for split in SPLIT:
        assert eh.learn_strengths(alike)["0"][split] > 40
        assert eh.learn_strengths(apart)["1"][split] < 5


def allowed_cases(part: float, whole: float) -> float:
    """3/4 of a case and 1/4 of the standard error of the count, at Laplace's rate."""
    rate = (part + 1) / (whole + 2)
    return float(0.75 + 0.25 * np.sqrt(whole * rate * (1 - rate)))


@settings(max_examples=60)
@given(counts=st.lists(st.tuples(*[st.integers(0, 40)] * 4), min_size=2, max_size=9))
def test_no_rate_is_moved_further_than_allowed_and_none_is_held_back_without_need(counts: Any) -> None:
    """m|s - r| ≤ 3/4 + s.e./4, with equality or the full strength."""
    groups = {str(i): ConfusionMatrix(*cells) for i, cells in enumerate(counts)}
    everybody = sum(groups.values(), ConfusionMatrix(0, 0, 0, 0))
    spread = spread_of(groups) if len(groups) >= 5 else None
    learnt = eh.learn_strengths(groups)
    for name, cm in groups.items():
        for split, (part, whole) in splits_of({name: cm}).items():
            theirs = splits_of({"rest": everybody - cm})[split]
            strength, full = learnt[name][split], getattr(spread, split) if spread else 5.0
            if not whole[0] or not theirs[1][0]:
                assert strength == full
                continue
            raw, rate = part[0] / whole[0], theirs[0][0] / theirs[1][0]
            moved = whole[0] * abs((part[0] + strength * rate) / (whole[0] + strength) - raw)
            allowed = allowed_cases(part[0], whole[0])
            assert moved <= allowed * (1 + 1e-9)
            assert strength == full or (strength < full and moved == approx(allowed))


def relative_errors(truth: Any, sizes: Any, rng: np.random.Generator, **how: Any) -> Any:
    """Mean squared errors of prevalence, TPR and FPR over the raw ones', for groups that are all drawn."""
    errors = []
    for n in sizes:
        groups = {
            str(i): ConfusionMatrix(*rng.multinomial(k, p).tolist())
            for i, (k, p) in enumerate(zip(n, truth, strict=True))
        }
        smoothed = eh.cross_prior_smooth(groups, **how)
        cells = np.array([[groups[name].cells, smoothed[name].cells] for name in groups])
        rates = np.stack([eh.metric(key).scores(cells) for key in SPLIT], axis=-1)
        errors.append(
            (rates - np.stack([eh.metric(key).scores(np.array(truth)) for key in SPLIT], axis=-1)[:, None]) ** 2
        )
    found = np.array(errors)
    found[np.isnan(found).any(axis=2, keepdims=True) & np.ones_like(found, dtype=bool)] = np.nan
    return np.nanmean(found, axis=0)[:, 1] / np.nanmean(found, axis=0)[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 120])
def test_one_group_that_differs_is_not_smoothed_away(n: int) -> None:
    """A TPR of 0.3 among eleven groups at 0.8 keeps within 1.5 times its raw error; it was 4 to 7 times."""
    rng = np.random.default_rng(2024)
    truth = [[0.4 * tpr, 0.4 * (1 - tpr), 0.12, 0.48] for tpr in (0.3, *[0.8] * 11)]
    found = relative_errors(truth, np.full((250, 12), n), rng, strength="auto")
    assert found[0, 1] == found.max() < 1.5
    assert found[1:].mean() < 0.65, "the others gain"


@pytest.mark.slow
@pytest.mark.parametrize("groups", [compas(), INCOME], ids=["compas", "income"])
def test_if_all_groups_are_small_learnt_strengths_are_close_to_the_best_fixed_one(groups: Any) -> None:
    sizes = np.random.default_rng(7).integers(5, 61, (150, len(groups)))
    truth = [cm.proportions for cm in groups.values()]
    means = {
        how: relative_errors(truth, sizes, np.random.default_rng(8), strength=how).mean()
        for how in ("auto", 5.0, 10.0, 20.0, 40.0)
    }
    best = min(value for how, value in means.items() if how != "auto")
    assert means["auto"] < 1.2 * best and means["auto"] < 0.8


def test_automatic_strength_is_learnt_from_groups_and_a_cautious_5_without_them() -> None:
    groups = compas()
    together = eh.cross_prior_smooth(groups, strength="auto")
    assert {name: s.strength for name, s in together.items()} == eh.learn_strengths(groups)
    few = dict(list(groups.items())[:4])
    assert eh.learn_strengths(few)["Hispanic"] == dict.fromkeys(SPLIT, 5.0)
    assert eh.learn_strengths(dict(list(groups.items())[:5]))["Hispanic"] != dict.fromkeys(SPLIT, 5.0)
    single = eh.cross_prior_smooth(groups["Asian"], groups["Other"], "auto")
    assert single.strength == 5
    assert CrossPrior(groups["Other"], "auto").strength == 5
    assert eh.learn_strengths({"only": groups["Asian"]}) == {"only": dict.fromkeys(SPLIT, 5.0)}
    assert eh.learn_strengths({}) == {}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.learn_strengths({"A": cast("Any", (1, 2, 3, 4))}),
         "a group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
        (lambda: eh.bias_variance("prev", [0.25] * 4, [0.25] * 4, 0, 5), "n must be at least 1"),
        (lambda: eh.bias_variance("mcc", [0.25] * 4, [0.25] * 4, 5, 5),
         "mcc is not linear in the cells; use risk() for its exact error"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
