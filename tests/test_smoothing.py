"""Smoothing, its closed forms, the exact risk, the fitness of a prior and the shipped examples."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, isnan
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ONE_GROUP, golden, matrices, multinomial
from pytest import approx

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, InvalidInput, Raw
from evenhand.examples import compas, compas_violent, folktables_income, rows
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
    assert "50% of a gap remains" in str(s)
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
    if b.mse != approx(b.raw_mse, rel=1e-9):
        assert eh.helps(key, truth, reference, n, strength) == (b.mse < b.raw_mse)
    best = eh.optimal_strength(key, truth, reference)
    if best < inf:
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


@one_group
@pytest.mark.parametrize(
    "how", [Raw(), Additive(0.5), CrossPrior(ConfusionMatrix(1, 2, 3, 2), 3)], ids=lambda e: e.label
)
def test_risk_is_what_listing_every_matrix_gives(m: Any, how: Any) -> None:
    w, n = [3, 1, 2, 4], 5
    more = [Fraction(float(x)) for x in how.pseudo_counts]
    true_score = float(ONE_GROUP[m.key](*w))
    sums = np.zeros(4)
    for c in matrices(n):
        value = ONE_GROUP[m.key](*(k + x for k, x in zip(c, more, strict=True)))  # type: ignore[arg-type]
        if value is not None:
            error = float(value) - true_score
            sums += float(multinomial(c, w)) * np.array([1, error, error**2, abs(error)])
    defined, bias, mse, mae = sums
    r = eh.risk(m, ConfusionMatrix(*w), n, how)
    assert (r.bias, r.mse, r.mae) == approx((bias / defined, mse / defined, mae / defined), rel=1e-10, abs=1e-12)
    assert r.variance == approx(mse / defined - (bias / defined) ** 2, abs=1e-12)
    assert r.p_undefined == approx(1 - defined, abs=1e-12)


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
        scores = eh.metric(key)(cells + how.pseudo_counts)
        expected = float(law.pmf(cells) @ (scores - float(eh.metric(key)(truth))) ** 2)
    assert drawn.mse == approx(expected, abs=5 * drawn.standard_error)
    assert drawn.method == "40,000 draws"


# Choosing a strength, and whether to


def test_the_chosen_strength_follows_the_counts() -> None:
    reference = ConfusionMatrix(40, 60, 200, 700)
    near, far = (eh.choose_strength(ConfusionMatrix(*c), reference) for c in ((4, 6, 20, 70), (40, 6, 20, 34)))
    assert near.low <= near.value <= near.high
    assert far.value < 8 < near.value
    smoothed = eh.cross_prior_smooth(ConfusionMatrix(4, 6, 20, 70), reference, "auto")
    assert smoothed.choice == near
    assert smoothed.strength == near.value
    ruled_out = eh.choose_strength(ConfusionMatrix(1, 1, 1, 1), ConfusionMatrix(0, 5, 5, 5))
    assert ruled_out.value == 0


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
    assert "scores without any error got one by smoothing" in str(found)
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
    assert not eh.helps("prev", [0.25] * 4, [0.3, 0.2, 0.2, 0.3], 10, 0)


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
         "strength must be a number of cases from 0 to 1e9; got -1"),
        (lambda: eh.cross_prior_smooth(compas(), cast("Any", ConfusionMatrix(1, 1, 1, 1))),
         "several groups are each smoothed with the rest of them; leave out reference"),
        (lambda: eh.cross_prior_smooth({"A": ConfusionMatrix(1, 1, 1, 1)}),
         "'A' is the only group, so there is no rest to be its reference"),
        (lambda: eh.cross_prior_smooth(ConfusionMatrix(1, 1, 1, 1), cast("Any", None)),
         "give a reference, or a mapping of groups to smooth each with the rest"),
        (lambda: eh.additive_smooth(ConfusionMatrix(1, 1, 1, 1), -1), "epsilon must be a number from 0 to 1e9; got -1"),
        (lambda: Additive(float("nan")), "epsilon must be a number from 0 to 1e9; got nan"),
        (lambda: CrossPrior(ConfusionMatrix(1, 1, 1, 1), cast("Any", "auto")),
         "strength must be a number of cases from 0 to 1e9; got 'auto'"),
        (lambda: eh.cross_prior_smooth({"A": ConfusionMatrix(1, 1, 1, 1), "B": ConfusionMatrix(0, 0, 0, 0)}),
         "the reference is empty (n = 0), so it has no proportions to smooth with"),
        (lambda: eh.choose_strength(ConfusionMatrix(1.5, 1, 1, 1), ConfusionMatrix(1, 1, 1, 1)),
         "a strength is chosen from whole counts; got ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
        (lambda: eh.bias_variance("prev", [0.25] * 4, [0.25] * 4, 0, 5), "n must be at least 1"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, cast("Any", "raw")),
         "an estimator is Raw(), Additive(…) or CrossPrior(…); got 'raw'"),
        (lambda: eh.risk_curve("tpr", [0.25] * 4, cast("Any", 10)),
         "n must be several sample sizes, such as range(5, 50); got 10"),
        (lambda: eh.stress_test({}), "a stress test needs groups, sample sizes and strengths"),
        (lambda: eh.monte_carlo_risk("tpr", [0.25] * 4, 5, draws=1), "draws must be at least 2; got 1"),
        (lambda: rows({"A": ConfusionMatrix(1.5, 1, 1, 1)}), "groups must have whole counts, one per person; group "
         "'A' has ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
        (lambda: rows({}), "groups must contain at least one group; got none"),
        (lambda: eh.interval(SMOOTH, "tpr"),
         "an interval takes the group's own counts; reference= and strength= steady it"),
        (lambda: eh.match_test(SMOOTH, ConfusionMatrix(1, 1, 1, 1), "tpr"),
         "the group must hold whole counts, since a test counts cases; got ConfusionMatrix(tp=10, fn=10, fp=10, tn=10, "
         "strength=10): smoothed cells are not tested"),
        (lambda: eh.bias_variance("mcc", [0.25] * 4, [0.25] * 4, 5, 5),
         "mcc is not linear in the cells; risk() has its exact error"),
        (lambda: eh.risk("ofi", [0.25] * 4, 5), "ofi compares two groups; risk() takes a metric of one group"),
        (lambda: eh.risk("tpr", [0, 0, 0.5, 0.5], 5),
         "the true tpr is undefined, no actual positives (TP + FN = 0), so no error can be measured"),
        (lambda: eh.risk("mcc", [0.25] * 4, 1),
         "mcc of 1 cases is never defined with raw; take a larger n, or smooth"),
        (lambda: eh.check_prior(ConfusionMatrix(0, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1)),
         "the group must be a ConfusionMatrix of whole counts with cases; got ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
