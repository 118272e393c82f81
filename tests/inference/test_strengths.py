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
from scipy.special import betaln

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
        value = -0.5 * (t - np.log(8)) ** 2
        for a, m in kept:
            mean = (total[0] - a + 0.5) / (total[1] - m + 1)
            value += betaln(a + h * mean, m - a + h * (1 - mean)) - betaln(h * mean, h * (1 - mean))
        return float(value)

    ends = np.log(0.25), np.log(2000)
    highest = max(log_weight(t) for t in np.linspace(*ends, 200))
    above, below = (
        quad(lambda t, k=k: np.exp(log_weight(t) - highest - k * t), *ends, epsrel=1e-6, limit=200)[0] for k in (0, 1)
    )
    return float(above / below)


@pytest.mark.parametrize("groups", [compas(), INCOME], ids=["compas", "income"])
def test_strengths_are_learnt_from_how_much_the_other_groups_spread(groups: Any) -> None:
    """h²/(h + 3), h the harmonic posterior mean over the other groups, for each split."""
    for name in list(groups)[:2]:
        others = np.array([cm.cells for other, cm in groups.items() if other != name], dtype=float)
        tp, fn, fp, tn = others.T
        splits = {"prev": (tp + fn, tp + fn + fp + tn), "tpr": (tp, tp + fn), "fpr": (fp, fp + tn)}
        learnt = eh.learn_strengths(groups)[name]
        for split, counts in splits.items():
            h = harmonic_strength(*counts)
            assert cast("Any", learnt)[split] == approx(h * h / (h + 3), rel=2e-3)


def test_the_spread_of_all_groups_is_their_harmonic_strength() -> None:
    cells = np.array([cm.cells for cm in compas().values()], dtype=float)
    spread = spread_of(compas())
    assert spread.tpr == approx(harmonic_strength(cells[:, 0], cells[:, 0] + cells[:, 1]), rel=2e-3)
    assert spread.overall == approx(3 / (1 / spread.prev + 1 / spread.tpr + 1 / spread.fpr))
    assert spread.widest == min(("prev", "tpr", "fpr"), key=lambda split: getattr(spread, split))
    assert spread.too_much == (spread.overall < 3)


def test_a_strength_does_not_depend_on_the_groups_own_counts() -> None:
    groups = compas()
    changed = {**groups, "Asian": ConfusionMatrix(500, 0, 0, 3)}
    assert eh.learn_strengths(groups)["Asian"] == eh.learn_strengths(changed)["Asian"]
    assert eh.learn_strengths(groups)["Other"] != eh.learn_strengths(changed)["Other"]


def test_groups_that_agree_make_a_strong_prior_and_others_a_weak_one() -> None:
    alike = {str(i): ConfusionMatrix(100, 50, 60, 200) for i in range(8)}
    # Prevalence, TPR and 1 - FPR are all i/9.
    apart = {str(i): ConfusionMatrix(i * i, i * (9 - i), (9 - i) ** 2, i * (9 - i)) for i in range(1, 9)}
    for split in SPLIT:
        assert cast("Any", eh.learn_strengths(alike)["0"])[split] > 20
        assert cast("Any", eh.learn_strengths(apart)["1"])[split] < 5


def test_automatic_strength_is_learnt_from_groups_and_a_cautious_5_without_them() -> None:
    groups = compas()
    together = eh.cross_prior_smooth(groups, strength="auto")
    assert {name: s.strength for name, s in together.items()} == eh.learn_strengths(groups)
    few = dict(list(groups.items())[:4])
    assert eh.learn_strengths(few) == dict.fromkeys(few, 5.0)
    assert len(set(map(str, eh.learn_strengths(dict(list(groups.items())[:5])).values()))) > 1
    single = eh.cross_prior_smooth(groups["Asian"], groups["Other"], "auto")
    assert single.strength == 5
    assert CrossPrior(groups["Other"], "auto").strength == 5


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
