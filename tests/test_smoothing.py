"""Smoothing, its closed forms, the exact risk, the fitness of a prior and the shipped examples."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, isnan
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import ONE_GROUP, dirichlet_multinomial, golden, hypergeometric, matrices, multinomial
from pytest import approx
from scipy.integrate import quad
from scipy.special import betaln

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, InvalidInput, Raw
from evenhand.examples import compas, compas_violent, folktables_income, rows
from evenhand.inference import spread_of
from evenhand.inference.prior import homogeneity_pvalue
from evenhand.laws import law_of
from evenhand.metrics import CATALOGUE

GOLDEN = golden("smoothing")
KEYS = {"B": "mb", "PTs": "pt_limit"}
VIOLENT, INCOME = compas_violent(), folktables_income()
SMOOTH = eh.cross_prior_smooth(ConfusionMatrix(10, 10, 10, 10), ConfusionMatrix(1, 1, 1, 1))
one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)


def truth_and_reference(name: str) -> tuple[ConfusionMatrix, ConfusionMatrix]:
    study, group = name.split("/")
    groups = VIOLENT if study == "COMPAS" else INCOME
    return groups[group], sum(groups.values(), ConfusionMatrix(0, 0, 0, 0)) - groups[group]


def estimator(method: str, reference: ConfusionMatrix) -> Any:
    simple = {"raw": Raw(), "eps": Additive(1e-10), "add1": Additive(1)}
    return simple.get(method) or CrossPrior(reference, float(method[3:]))


# Smoothing


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


SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}


def down_the_tree(c: Any, w: Any, strength: Any) -> list[Fraction]:
    """Smoothed cells: prevalence, TPR and FPR are each (count + strength * reference's rate) / (size + strength).

    ``w`` are the reference's counts; a rate that it does not have is 1/2.
    """
    tp, fn, fp, tn = (Fraction(x) for x in c)
    a, b, x, y = (Fraction(v) for v in w)

    def rate(split: str, part: Fraction, whole: Fraction, prior: Fraction) -> Fraction:
        weight = Fraction(strength[split])
        return (part + weight * prior) / (whole + weight) if whole + weight else prior

    half, n = Fraction(1, 2), tp + fn + fp + tn
    prev = rate("prev", tp + fn, n, (a + b) / (a + b + x + y))
    tpr = rate("tpr", tp, tp + fn, a / (a + b) if a + b else half)
    fpr = rate("fpr", fp, fp + tn, x / (x + y) if x + y else half)
    return [(n or 1) * part for part in (prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr))]


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


# The closed forms


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


@settings(max_examples=40)
@given(
    p=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    q=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    n=st.integers(1, 60),
    strength=st.floats(0.5, 80),
    key=st.sampled_from(["acc", "prev", "ppr", "mb", "tp", "fn", "fp", "tn"]),
)
def test_smoothing_helps_exactly_below_the_break_even(p: Any, q: Any, n: int, strength: float, key: str) -> None:
    """CPS beats raw iff d² < v(2/λ + 1/n), and λ* = v/d² is the best strength."""
    truth, reference = ConfusionMatrix(*p), ConfusionMatrix(*q)
    b = eh.bias_variance(key, truth, reference, n, strength)
    assume(b.mse != approx(b.raw_mse, rel=1e-9))
    assert eh.smoothing_helps(key, truth, reference, n, strength) == (b.mse < b.raw_mse)
    best = min(eh.optimal_strength(key, truth, reference), 1e9)
    least = eh.bias_variance(key, truth, reference, n, best).mse
    assert least <= b.mse * (1 + 1e-9)


# Risk


@pytest.mark.parametrize("name", sorted({case[0] for case in GOLDEN["exact_mse"]}))
def test_golden_risks(name: str) -> None:
    truth, reference = truth_and_reference(name.replace("FT", "Folktables"))
    for group, n, metric, method, mse, bias, p_undefined in GOLDEN["exact_mse"]:
        if group == name:
            r = eh.risk(KEYS.get(metric, metric.lower()), truth, n, estimator(method, reference))
            assert (r.mse, r.bias, r.p_undefined) == approx(
                (float(mse), float(bias), float(p_undefined)), rel=1e-12, abs=1e-13
            )


@pytest.mark.parametrize("n", [50, 149])
def test_golden_risks_of_larger_groups(n: int) -> None:
    for group, metric, method, size, mse, p_undefined in GOLDEN["exact_mse_float64"]:
        if size == n:
            truth, reference = truth_and_reference(group.replace("FT", "Folktables"))
            (r,) = eh.risk_curve(KEYS.get(metric, metric.lower()), truth, [n], estimator(method, reference))
            assert r.mse == approx(float(mse), rel=1e-10)
            assert r.p_undefined == approx(float(p_undefined), abs=1e-12)


def listed_risk(key: str, w: Any, n: int, smooth: Any) -> tuple[float, ...]:
    """P(undefined), bias, mean squared and mean absolute error by listing every matrix, in fractions but for roots."""
    true_score = float(ONE_GROUP[key](*w))
    sums = np.zeros(4)
    for c in matrices(n):
        value = ONE_GROUP[key](*smooth(c))
        if value is not None:
            error = float(value) - true_score
            sums += float(multinomial(c, w)) * np.array([1, error, error**2, abs(error)])
    defined, *errors = sums
    return (1 - defined, *(e / defined for e in errors))


ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "raw": (Raw(), lambda c: c),
    "add": (Additive(0.5), lambda c: [k + Fraction(1, 2) for k in c]),
    "cps": (
        CrossPrior(ConfusionMatrix(1, 2, 3, 2), 3),
        lambda c: [k + Fraction(3 * x, 8) for k, x in zip(c, (1, 2, 3, 2), strict=True)],
    ),
    "a strength per split": (
        CrossPrior(ConfusionMatrix(1, 2, 3, 2), SPLIT),
        lambda c: down_the_tree(c, (1, 2, 3, 2), SPLIT),
    ),
    "an empty cell": (
        CrossPrior(ConfusionMatrix(3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
        lambda c: down_the_tree(c, (3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
    ),
}


@one_group
@pytest.mark.parametrize("how", ESTIMATORS)
def test_risk_is_what_listing_every_matrix_gives(m: Any, how: str) -> None:
    w, n = [3, 1, 2, 4], 5
    estimator, smooth = ESTIMATORS[how]
    undefined, bias, mse, mae = listed_risk(m.key, w, n, smooth)
    r = eh.risk(m, ConfusionMatrix(*w), n, estimator)
    assert (r.bias, r.mse, r.mae) == approx((bias, mse, mae), rel=1e-10, abs=1e-12)
    assert r.variance == approx(mse - bias**2, abs=1e-12)
    assert r.p_undefined == approx(undefined, abs=1e-12)


def test_a_prior_with_an_empty_cell_leaves_holes() -> None:
    """LR- needs true negatives, which neither the group nor (4, 1, 2, 0) may have: undefined 27.2 %, mse 0.198."""
    w, prior = [5, 3, 5, 5], (4, 1, 2, 0)
    undefined, _, mse, _ = listed_risk(
        "lr_minus", w, 4, lambda c: [k + Fraction(10 * x, 7) for k, x in zip(c, prior, strict=True)]
    )
    r = eh.risk("lr_minus", ConfusionMatrix(*w), 4, CrossPrior(ConfusionMatrix(*prior), 10))
    assert (r.p_undefined, r.mse) == approx((undefined, mse), rel=1e-12)
    assert (r.p_undefined, r.mse) == approx((0.272, 0.198), abs=5e-4)


@one_group
def test_a_curve_is_made_of_risks(m: Any) -> None:
    curve = eh.risk_curve(m, ConfusionMatrix(3, 1, 2, 4), [4, 9], [Raw(), Additive(1)])
    assert [(r.estimator.label, r.n) for r in curve] == [("raw", 4), ("raw", 9), ("add1", 4), ("add1", 9)]
    for r in curve:
        assert r.mse == approx(eh.risk(m, ConfusionMatrix(3, 1, 2, 4), r.n, r.estimator).mse, rel=1e-11)


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("key", ["acc", "tpr", "f1", "mcc"])
def test_random_groups_agree_with_the_exact_risk(key: str, replace: bool) -> None:
    truth = ConfusionMatrix(300, 100, 200, 400) if replace else ConfusionMatrix(3, 1, 2, 4)
    how = CrossPrior(ConfusionMatrix(1, 1, 1, 1), 4)
    drawn = eh.monte_carlo_risk(key, truth, 6, how, rng=3, draws=40_000, replace=replace)
    if replace:
        expected = eh.risk(key, truth, 6, how).mse
    else:
        law = law_of(truth, 6, "without_replacement")
        cells = eh.enumerate_matrices(6)
        scores = eh.metric(key)(cells + np.ones(4))
        expected = float(law.pmf(cells) @ (scores - float(eh.metric(key)(truth))) ** 2)
    assert drawn.mse == approx(expected, abs=5 * drawn.standard_error)
    assert drawn.method == "40,000 draws"


def test_several_metrics_share_a_curve() -> None:
    """By metric, then estimator, then size; each as by itself."""
    truth, hows = ConfusionMatrix(3, 1, 2, 4), [Raw(), CrossPrior(ConfusionMatrix(1, 2, 3, 2), SPLIT)]
    together = eh.risk_curve(["tpr", "mcc", "acc"], truth, [3, 6], hows)
    apart = [r for key in ("tpr", "mcc", "acc") for r in eh.risk_curve(key, truth, [3, 6], hows)]
    assert [(r.metric.key, r.estimator, r.n) for r in together] == [(r.metric.key, r.estimator, r.n) for r in apart]
    assert [r.mse for r in together] == approx([r.mse for r in apart], rel=1e-12)
    assert all(isnan(r.mae) for r in together)


# Learning a strength, and whether to use it


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


@pytest.mark.parametrize("reference", [(300, 100, 120, 480), (116, 177, 554, 2429), (20, 5, 5, 170)])
@pytest.mark.parametrize("n", [10, 20, 40])
def test_a_perfect_reference_is_hardly_ever_unfit(reference: Any, n: int) -> None:
    """At most 2 in 100 of groups drawn like the reference are told that it is unfit to be their prior."""
    drawn = np.random.default_rng(n).multinomial(n, np.array(reference) / sum(reference), 200)
    groups, counts = np.unique(drawn, axis=0, return_counts=True)
    verdicts = [eh.check_prior(ConfusionMatrix(*c), ConfusionMatrix(*reference)).verdict for c in groups.tolist()]
    assert sum(k for v, k in zip(verdicts, counts, strict=True) if v == "unfit") <= 4


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


def test_the_stress_test_finds_what_the_errata_found() -> None:
    """E15: λ = 20 on Folktables/Other, PREV, is 2.72 times the raw error at n = 25."""
    found = eh.stress_test(INCOME, ["prev"], n=[25], strengths=[5, 20])
    worst = max(found.rows, key=lambda row: row.worst_ratio)
    assert (worst.strength, worst.worst_group, worst.worst_metric) == (20, "Other", "prev")
    assert worst.worst_ratio == approx(2.72, abs=0.005)
    assert found.best(25) in found.rows
    assert found.curve(5) == [(25, found.rows[0].mean_ratio)]
    assert "2.72 times the raw error" in str(found)


def test_the_stress_test_does_not_hide_what_smoothing_spoils() -> None:
    groups = {"a": ConfusionMatrix(50, 0, 0, 50), "b": ConfusionMatrix(40, 30, 20, 10)}
    found = eh.stress_test(groups, ["tpr", "fpr"], n=[1, 20], strengths=[40])
    assert found.rows[-1].spoiled == 2
    assert "Scores with an error only after smoothing, left out above: 4" in str(found)
    with pytest.raises(InvalidInput, match=r"^the study has no n = 7; it has \[1, 20\]$"):
        found.best(7)


def test_a_prior_that_rules_out_the_group_is_unfit() -> None:
    found = eh.check_prior(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(500, 500, 0, 0), "auto")
    assert found.verdict == "unfit"
    assert found.likelihood_ratio == 0
    unchanged = eh.check_prior(ConfusionMatrix(3, 1, 2, 4), ConfusionMatrix(0, 0, 500, 500))
    assert "tpr" not in unchanged.lose + unchanged.gain
    large = eh.check_prior(ConfusionMatrix(1000, 0, 0, 0), ConfusionMatrix(1000, 1, 1, 1), 10_000)
    assert large.likelihood_ratio > 1e100


def test_no_gap_has_no_best_strength() -> None:
    assert eh.optimal_strength("prev", ConfusionMatrix(1, 6, 7, 6), ConfusionMatrix(3, 4, 9, 4)) == inf
    assert not eh.smoothing_helps("prev", [0.25] * 4, [0.3, 0.2, 0.2, 0.3], 10, 0)


# Examples


def test_the_examples_add_up() -> None:
    assert sum(compas().values(), ConfusionMatrix(0, 0, 0, 0)) == ConfusionMatrix(2035, 1216, 1282, 2681)
    assert sum(VIOLENT.values(), ConfusionMatrix(0, 0, 0, 0)) == ConfusionMatrix(389, 347, 1597, 4121)
    assert sum(INCOME.values(), ConfusionMatrix(0, 0, 0, 0)) == ConfusionMatrix(26318, 16189, 20071, 93854)
    assert eh.examples.compas()["Asian"].n == 32


def test_rows_count_back_to_the_matrices() -> None:
    table = pd.DataFrame(rows(compas()))
    for name, part in table.groupby("group"):
        assert ConfusionMatrix.from_labels(part["y_true"], part["y_pred"]) == compas()[name]


# Refusals


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
        (lambda: eh.learn_strengths({"A": cast("Any", (1, 2, 3, 4))}),
         "a group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
        (lambda: eh.bias_variance("prev", [0.25] * 4, [0.25] * 4, 0, 5), "n must be at least 1"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, cast("Any", "raw")),
         "an estimator must be Raw(), Additive(…) or CrossPrior(…); got 'raw'"),
        (lambda: eh.risk_curve("tpr", [0.25] * 4, cast("Any", 10)),
         "n must be a sequence of sample sizes, such as range(5, 50); got 10"),
        (lambda: eh.stress_test({}), "groups, n and strengths must not be empty"),
        (lambda: eh.stress_test(compas(), n=[]), "groups, n and strengths must not be empty"),
        (lambda: eh.stress_test(compas(), strengths=[]), "groups, n and strengths must not be empty"),
        (lambda: eh.monte_carlo_risk("tpr", [0.25] * 4, 5, draws=1), "draws must be at least 2; got 1"),
        (lambda: rows({"A": ConfusionMatrix(1.5, 1, 1, 1)}), "groups must have whole counts, one per person; group "
         "'A' has ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
        (lambda: rows({}), "groups must contain at least one group; got none"),
        (lambda: eh.interval(SMOOTH, "tpr"),
         "interval() takes unsmoothed counts; pass reference= and strength= for a smoothed interval"),
        (lambda: eh.match_test(SMOOTH, ConfusionMatrix(1, 1, 1, 1), "tpr"),
         "the group must hold whole counts, since a test counts cases; got ConfusionMatrix(tp=10, fn=10, fp=10, tn=10, "
         "strength=10): smoothed cells are not tested"),
        (lambda: eh.bias_variance("mcc", [0.25] * 4, [0.25] * 4, 5, 5),
         "mcc is not linear in the cells; use risk() for its exact error"),
        (lambda: eh.risk("ofi", [0.25] * 4, 5), "ofi compares two groups; risk() takes a metric of one group"),
        (lambda: eh.risk("tpr", [0, 0, 0.5, 0.5], 5),
         "the true tpr is undefined, no actual positives (TP + FN = 0), so there is no error to compute"),
        (lambda: eh.risk("mcc", [0.25] * 4, 1),
         "mcc at n = 1 is never defined with raw; use a larger n, or smooth"),
        (lambda: eh.check_prior(ConfusionMatrix(0, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1)),
         "the group must be a ConfusionMatrix of whole counts with cases; got ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
