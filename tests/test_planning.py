"""Planning: power against lists of all matrices, SciPy and statsmodels; sizes by scanning; what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, isnan, log
from typing import Any

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from oracle import matrices
from pytest import approx
from scipy.stats import binom, fisher_exact, hypergeom
from statsmodels.stats.proportion import binom_test_reject_interval

import evenhand as eh
from evenhand.faces.cli import evenhand as command
from evenhand.metrics import CATALOGUE
from evenhand.planning import Wanted, cases_needed

REST = eh.ConfusionMatrix(30, 10, 12, 48)
LARGE = eh.ConfusionMatrix(300, 100, 120, 480)
ONE_GROUP = [m.key for m in CATALOGUE.one_group]
ONE_RATE = [m.key for m in CATALOGUE.one_group if m.curve is not None]
TRUTH = (0.2, 0.25, 0.15, 0.4)
# No p-value of the tests below is exactly this.
LEVEL = 0.31


def chance(cells: tuple[int, ...], rates: tuple[float, ...]) -> float:
    """The multinomial probability of a matrix."""
    left, p = sum(cells), 1.0
    for count, rate in zip(cells, rates, strict=True):
        p *= comb(left, count) * rate**count
        left -= count
    return p


def listed_power(n: int, pvalue: Any, keep: Any = lambda cells: True) -> tuple[float, float]:
    """The probability of a p-value of at most the level and of an undefined score, over all matrices that are kept."""
    rejected = undefined = total = 0.0
    for cells in matrices(n):
        if keep(cells):
            p, weight = pvalue(eh.ConfusionMatrix(*cells)), chance(cells, TRUTH)
            total += weight
            undefined += weight if isnan(p) else 0.0
            rejected += weight if p <= LEVEL else 0.0
    return rejected / total, undefined / total


# Power ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_power_of_the_audits_test_is_what_listing_every_matrix_gives(key: str) -> None:
    """P(p <= level) = Σ P(matrix) [p(matrix) <= level]."""
    n = 6 if key in ONE_RATE else 4
    found = eh.power(key, n, REST, truth=TRUTH, level=LEVEL)
    wanted, undefined = listed_power(n, lambda cm: eh.disparity(cm, REST, key, test="fisher").pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.p_undefined == approx(undefined, abs=1e-10)
    assert found.method == "exact"
    assert found.test == ("fisher" if key in ONE_RATE else "posterior")


@pytest.mark.parametrize("given", ["margin", "n"])
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_power_of_match_is_what_listing_every_matrix_gives(key: str, null: Any, given: Any) -> None:
    found = eh.power(key, 4, REST, truth=TRUTH, level=LEVEL, test="match", null=null, given=given)
    wanted, _ = listed_power(4, lambda cm: eh.match_test(cm, REST, key, null=null, given=given).pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert (found.test, found.null, found.method) == ("match", null, "exact")


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("key", ["tpr", "mcc", "mb"])
def test_half_of_the_observed_outcome_counts_in_match_too(key: str, null: Any) -> None:
    found = eh.power(key, 5, REST, truth=TRUTH, level=LEVEL, test="match", null=null, mid_p=True)
    wanted, _ = listed_power(5, lambda cm: eh.match_test(cm, REST, key, null=null, mid_p=True).pvalue)
    assert found.power == approx(wanted, abs=1e-10)


@pytest.mark.parametrize("key", ["tpr", "f1_original", "te_part", "mcc", "markedness"])
def test_a_given_denominator_is_a_condition(key: str) -> None:
    m = eh.metric(key).base
    assert m.denominator is not None
    at = [("tp", "fn", "fp", "tn").index(c) for c in m.denominator.cells]

    def kept(cells: tuple[int, ...]) -> bool:
        return sum(cells[i] for i in at) == 4

    found = eh.power(key, 7, REST, truth=TRUTH, level=LEVEL, denominator=4)
    wanted, undefined = listed_power(7, lambda cm: eh.disparity(cm, REST, key, test="fisher").pvalue, kept)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.p_undefined == approx(undefined, abs=1e-10)


@pytest.mark.parametrize("key", ["acc", "tpr"])
def test_the_power_of_the_unconditional_test_is_what_listing_every_matrix_gives(key: str) -> None:
    found = eh.power(key, 6, REST, truth=TRUTH, level=LEVEL, test="unconditional")
    wanted, _ = listed_power(6, lambda cm: eh.disparity(cm, REST, key, test="unconditional").pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.power >= eh.power(key, 6, REST, truth=TRUTH, level=LEVEL).power


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize(("n", "theirs", "of", "rate"), [(12, 9, 30, 0.6), (25, 40, 50, 0.55), (40, 3, 200, 0.1)])
def test_the_power_of_fishers_test_is_what_scipy_gives(n: int, theirs: int, of: int, rate: float, mid_p: bool) -> None:
    """Σ over a of P(a) [2 min(tails) <= level], with SciPy's tails."""
    wanted = wrong = 0.0
    for a in range(n + 1):
        table = np.array([[a, n - a], [theirs, of - theirs]])
        tails = [fisher_exact(table, alternative=side)[1] for side in ("less", "greater")]
        at = hypergeom.pmf(a, n + of, a + theirs, n)
        p = 2 * (min(tails) - (at / 2 if mid_p else 0))
        wanted += binom.pmf(a, n, rate) * (p <= 0.05)
        wrong += binom.pmf(a, n, rate) * (p <= 0.05) * ((a / n > theirs / of) != (rate > theirs / of))
    reference = eh.ConfusionMatrix(theirs, 0, 0, of - theirs)
    found = eh.power("ppr", n, reference, difference=rate - theirs / of, mid_p=mid_p)
    assert found.power == approx(wanted, abs=1e-12)
    assert found.wrong_way == approx(wrong, abs=1e-12)
    assert found.true_score == approx(rate)


def test_a_redrawn_reference_is_averaged_over() -> None:
    """Both counts are binomial: Σ over a and b of P(a) P(b) [p <= level]."""
    n, of, mine, theirs = 15, 20, 0.75, 0.4
    wanted = 0.0
    for a, b in product(range(n + 1), range(of + 1)):
        table = np.array([[a, n - a], [b, of - b]])
        tails = [fisher_exact(table, alternative=side)[1] for side in ("less", "greater")]
        wanted += binom.pmf(a, n, mine) * binom.pmf(b, of, theirs) * (2 * min(tails) <= 0.05)
    found = eh.power("ppr", n, eh.ConfusionMatrix(8, 0, 0, 12), difference=mine - theirs, redraw=True)
    assert found.power == approx(wanted, abs=1e-8)


@pytest.mark.parametrize(("n", "null", "rate"), [(20, 0.5, 0.7), (50, 0.2, 0.35), (33, 0.9, 0.75)])
def test_against_known_rates_the_test_is_statsmodels_exact_binomial_one(n: int, null: float, rate: float) -> None:
    low, high = binom_test_reject_interval(null, n, alpha=0.05)
    wanted = binom.cdf(low, n, rate) + binom.sf(high - 1, n, rate)
    for settings in ({}, {"test": "match"}):
        found = eh.power("acc", n, [null, 1 - null, 0, 0], difference=rate - null, **settings)  # type: ignore[arg-type]
        assert found.power == approx(wanted, abs=1e-12)
        assert found.test == ("match" if settings else "binomial")


def test_with_no_difference_power_is_size() -> None:
    found = eh.power("tpr", 40, LARGE, difference=0)
    assert 0 < found.power == found.wrong_way <= 0.05


def test_a_simulated_power_is_within_its_error_of_the_exact_one() -> None:
    """The estimate lies within four standard errors of the list of all outcomes."""
    exact = eh.power("mcc", 10, LARGE, difference=-0.5, draws=5_000)
    drawn = eh.power("mcc", 10, LARGE, difference=-0.5, draws=40)
    assert (exact.method, drawn.method) == ("exact", "simulation")
    assert 0 < drawn.error < 0.05
    assert abs(drawn.power - exact.power) < 4 * drawn.error
    assert drawn.power == eh.power("mcc", 10, LARGE, difference=-0.5, draws=40).power
    pooled = [
        eh.power("informedness", n, REST, difference=-0.4, test="match", draws=100) for n in (8, 30)
    ]  # fmt: skip
    assert [p.method for p in pooled] == ["exact", "simulation"]
    assert pooled[1].error > 0.005


# Truth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_truth_has_the_score_that_is_asked_for_and_moves_as_documented(key: str) -> None:
    m = eh.metric(key).base
    score = float(m(LARGE))
    step = 0.05 if m.better != "lower" else -0.05
    found = eh.power(key, 10, LARGE, difference=step, test="match", null="known")
    truth = found._plan.truth
    assert truth.sum() == approx(1)
    assert found.true_score == approx(score + step, abs=1e-9)
    tp, fn, fp, tn = truth
    if m.shape in ("ratio", "contrast"):
        assert sum(truth[["tp", "fn", "fp", "tn"].index(c)] for c in m.tree.margin) == approx(
            sum(float(LARGE.proportions[["tp", "fn", "fp", "tn"].index(c)]) for c in m.tree.margin)
        )
    if m.shape == "pair" and key != "markedness":
        moves = [log(a / b) - log(c / d) for a, b, c, d in ((tp, fn, 300, 100), (fp, tn, 120, 480))]
        assert moves[0] == approx(-moves[1], abs=1e-6)
        assert tp + fn == approx(0.4)
    if key == "markedness":
        assert tp + fp == approx(0.42)


# Sample sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "difference", "settings"),
    [
        ("ppr", -0.25, {}),
        ("tpr", -0.35, {}),
        ("f1", 0.2, {"power": 0.6}),
        ("fpr", 0.3, {"test": "match", "null": "predictive"}),
        ("acc", 0.12, {"test": "match", "null": "known", "level": 0.1}),
    ],
)
def test_the_sample_size_is_the_first_and_the_last_of_all_sizes(key: str, difference: float, settings: Any) -> None:
    """n = min {k: power(k) >= p}, and n_stays = 1 + max {k: power(k) < p}."""
    found = eh.sample_size(key, LARGE, difference, **settings)
    goal = settings.pop("power", 0.8)
    assert found.n_looked is not None and found.n_stays <= 0.7 * found.n_looked + 1
    reached = [eh.power(key, n, LARGE, difference=difference, **settings).power for n in range(1, found.n_looked + 1)]
    assert found.n == next(n for n, p in enumerate(reached, 1) if p >= goal)
    assert found.n_stays == max(n for n, p in enumerate(reached, 1) if p < goal) + 1
    assert found.value == approx(reached[found.n - 1], abs=1e-12)
    assert found.values[found.sizes.index(found.n)] == approx(found.value)


def test_exact_power_saws_so_that_the_two_sizes_differ() -> None:
    found = eh.sample_size("ppr", LARGE, -0.2)
    assert found.n < found.n_stays
    assert "so does every number from 52 up to 128" in str(found)


def test_the_largest_number_to_look_at_is_no_reason_to_withhold_an_answer() -> None:
    free, capped = eh.sample_size("ppr", LARGE, -0.2), eh.sample_size("ppr", LARGE, -0.2, most=55)
    assert (capped.n, capped.n_stays, capped.n_looked) == (free.n, free.n_stays, 55)


@pytest.mark.parametrize("settings", [{"mid_p": True}, {"test": "unconditional"}])
def test_less_cautious_tests_do_with_a_smaller_reference(settings: Any) -> None:
    """0.8^10 is more than 0.1, half of the level, which Fisher's test needs; the other two need less."""
    small, tiny = eh.ConfusionMatrix(10, 0, 0, 0), eh.ConfusionMatrix(3, 0, 0, 0)
    with pytest.raises(eh.InvalidInput, match="the reference is too small"):
        eh.sample_size("tpr", small, -0.2, power=0.7, level=0.2)
    found = eh.sample_size("tpr", small, -0.2, power=0.7, level=0.2, most=120, **settings)
    assert found.value >= 0.7
    assert eh.power("tpr", found.n, small, difference=-0.2, level=0.2, **settings).power == approx(found.value)
    with pytest.raises(eh.InvalidInput, match="the reference is too small"):
        eh.sample_size("tpr", tiny, -0.2, level=0.2, **settings)


def test_the_size_for_an_interval_is_that_of_every_count() -> None:
    """P(half-width <= w) = Σ over k of P(k) [width(k) <= 2 w]."""
    found = eh.sample_size("acc", LARGE, half_width=0.12)

    def narrow(n: int) -> float:
        total = 0.0
        for k in range(n + 1):
            between = eh.interval(eh.ConfusionMatrix(k, n - k, 0, 0), "acc")
            total += binom.pmf(k, n, 0.78) * (between.high - between.low <= 0.24)
        return float(total)

    assert narrow(found.n) == approx(found.value, abs=1e-9)
    assert narrow(found.n) >= 0.8 > narrow(found.n - 1)
    mixed = eh.sample_size("tpr", LARGE, half_width=0.15)
    given = {
        k: sum(
            binom.pmf(a, k, 0.75)
            for a in range(k + 1)
            if (i := eh.interval(eh.ConfusionMatrix(a, k - a, 0, 0), "tpr")).high - i.low <= 0.3
        )
        for k in range(1, mixed.n + 1)
    }
    assert sum(binom.pmf(k, mixed.n, 0.4) * p for k, p in given.items()) == approx(mixed.value, abs=1e-8)
    rarely = eh.sample_size("f1_original", [0.01, 0.19, 0.2, 0.6], half_width=0.2, power=0.3)
    assert rarely.value <= 1 - eh.undefined_probability("f1_original", rarely.n, [0.01, 0.19, 0.2, 0.6])


@pytest.mark.parametrize("key", ["tpr", "mcc", "pt", "lr_plus"])
def test_the_size_for_a_defined_score_is_the_first_below_the_bound(key: str) -> None:
    found = eh.sample_size(key, LARGE, undefined_below=0.02)
    lacking = [eh.undefined_probability(key, n, LARGE) for n in range(1, 3 * found.n)]
    assert found.n == next(n for n, p in enumerate(lacking, 1) if p <= 0.02)
    assert found.n_stays == max(n for n, p in enumerate(lacking, 1) if p > 0.02) + 1
    assert found.value == approx(lacking[found.n - 1])


def test_the_size_for_a_score_of_several_rates_is_found_by_search() -> None:
    found = eh.sample_size("informedness", [0.3, 0.1, 0.12, 0.48], -0.45, draws=100)
    assert found.test == "posterior"
    assert found.value == approx(0.8, abs=0.03)
    fewer = eh.power("informedness", found.n - 6, [0.3, 0.1, 0.12, 0.48], difference=-0.45, draws=100)
    assert fewer.power < found.value
    assert found.n_stays >= found.n


def test_a_dip_does_not_hide_a_smaller_number_next_to_it() -> None:
    reference = eh.ConfusionMatrix(86, 127, 62, 25)
    settings: Any = {"test": "match", "null": "known"}
    found = eh.sample_size("mb", reference, -0.3, **settings)
    assert found.n_looked is not None
    reached = {
        n: eh.power("mb", n, reference, difference=-0.3, **settings).power for n in range(30, found.n_looked + 1)
    }
    assert found.n == min(n for n, p in reached.items() if p >= 0.8)
    assert found.n_stays == max(n for n, p in reached.items() if p < 0.8) + 1 > found.n + 1
    assert found.value == approx(reached[found.n])


@pytest.mark.parametrize(("key", "n"), [("tpr", 60), ("acc", 25), ("f1", 80)])
def test_a_detectable_difference_is_where_the_power_is_reached(key: str, n: int) -> None:
    found = eh.detectable_difference(key, n, LARGE)
    assert found.lower is not None and found.lower < 0
    for difference, inwards in ((found.lower, 1e-6), (found.higher, -1e-6)):
        if difference is not None:
            assert eh.power(key, n, LARGE, difference=difference).power == approx(0.8, abs=1e-6)
            assert eh.power(key, n, LARGE, difference=difference + inwards).power < 0.8
    if found.higher is None:
        high = eh.metric(key).range[1] - float(eh.metric(key)(LARGE))
        assert eh.power(key, n, LARGE, difference=high).power < 0.8


@pytest.mark.parametrize(("key", "settings"), [("f1_original", {}), ("te_part", {}), ("lr_minus", {"draws": 40})])
def test_a_far_end_without_power_does_not_hide_nearer_differences(key: str, settings: Any) -> None:
    """Where a score becomes undefined it is not tested, so power falls again towards the end of the range."""
    found = eh.detectable_difference(key, 300, LARGE, **settings)
    assert found.lower is not None and found.higher is not None
    for difference in (found.lower, found.higher):
        reached = eh.power(key, 300, LARGE, difference=difference, **settings)
        assert reached.power == approx(0.8, abs=max(1e-6, 3 * reached.error))
        assert eh.power(key, 300, LARGE, difference=1.05 * difference, **settings).power > reached.power
    if key == "f1_original":
        assert eh.power(key, 300, LARGE, difference=0.001 - found.reference_score).power < 0.8


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
def test_a_denominator_that_leaves_no_score_has_no_power(null: Any) -> None:
    found = eh.power("mcc", 9, LARGE, difference=-0.2, denominator=9, test="match", null=null)
    assert (found.power, found.p_undefined) == (0, 1)
    assert "every possible outcome has an undefined score" in str(found)


def test_a_score_that_known_rates_do_not_allow_counts_as_found() -> None:
    """Every error is impossible under the reference's rates: P(at least one error) = 1 - 0.6^6."""
    found = eh.power("acc", 6, [0.5, 0, 0, 0.5], truth=[0.3, 0.1, 0.3, 0.3], test="match", null="known")
    assert found.power == approx(1 - 0.6**6)


# The audit --------------------------------------------------------------------------------------------------------


def needed_by_scanning(theirs: int, of: int, gap: float, level: float, mid_p: bool, most: int) -> int | None:
    """The first denominator with enough rejections of either gap, from SciPy's tails of every outcome."""
    rates = [theirs / of + sign * gap for sign in (-1, 1)]
    rates = [min(max(rate, 0.0), 1.0) for rate in rates if -1e-12 <= rate <= 1 + 1e-12]
    for k in range(1, most + 1 if rates else 0):
        if all(found_with(k, theirs, of, rate, level, mid_p) >= 0.8 for rate in rates):
            return k
    return None


def test_the_cases_needed_are_the_first_with_enough_power_on_both_sides() -> None:
    rng = np.random.default_rng(3)
    tpr, most = eh.metric("tpr").base, 120
    compared = 0
    for _ in range(60):
        of = int(rng.integers(10, 400))
        theirs = int(rng.integers(0, of + 1))
        level, gap, mid_p = rng.choice([0.05, 0.01, 0.002]), rng.choice([0.15, 0.2, 0.3, 0.45]), bool(rng.integers(2))
        found = cases_needed([Wanted(tpr, np.array([theirs, of - theirs, 5.0, 5.0]), level, gap)], mid_p=mid_p)[0]
        wanted = needed_by_scanning(theirs, of, gap, level, mid_p, most)
        assert (found if found is not None and found <= most else None) == wanted, (theirs, of, level, gap, mid_p)
        compared += wanted is not None
    assert compared > 20


@pytest.mark.parametrize(
    ("theirs", "of", "level", "gap"),
    [(1958, 2746, 0.05, 0.2), (892, 2029, 0.05, 0.2), (697, 1555, 0.05, 0.2), (1368, 2646, 0.01, 0.2)],
)
def test_a_condition_that_fails_once_is_not_the_end_of_the_search(
    theirs: int, of: int, level: float, gap: float
) -> None:
    """Power goes up and down, so that a smaller denominator can be enough although one between is not."""
    found = cases_needed([Wanted(eh.metric("tpr").base, np.array([theirs, of - theirs, 0.0, 0.0]), level, gap)])
    assert found == [needed_by_scanning(theirs, of, gap, level, False, 90)]


@pytest.mark.parametrize(
    ("theirs", "of", "gap", "first"), [(844, 1662, 0.2, 50), (612, 1225, 0.1, 223), (697, 1555, 0.2, 51)]
)
def test_one_side_may_lose_its_power_where_the_other_one_first_has_it(
    theirs: int, of: int, gap: float, first: int
) -> None:
    """Where the slower side first has a power of 80 %, the other one has dipped below it."""
    assert min(found_with(first, theirs, of, theirs / of + sign * gap, 0.05) for sign in (-1, 1)) < 0.8
    reference = eh.ConfusionMatrix(theirs, 0, 0, of - theirs)
    a = eh.audit_counts({"small": (10, 0, 0, 11), "others": reference}, metrics="ppr", margin=gap)
    needed = next(row.needed for row in a.rows if row.group == "small")
    assert needed is not None and needed > first
    assert needed == needed_by_scanning(theirs, of, gap, 0.05, False, 300)


def test_half_of_the_observed_outcome_makes_a_small_reference_enough() -> None:
    """0.9^34 is more than 0.025, and half of it is not."""
    tpr, ours = eh.metric("tpr").base, np.array([34.0, 0, 5, 5])
    wanted = [Wanted(tpr, ours, 0.05, 0.1)]
    assert cases_needed(wanted) == [None]
    assert cases_needed(wanted, mid_p=True) == [needed_by_scanning(34, 34, 0.1, 0.05, True, 700)]


def test_a_reference_that_is_just_large_enough_needs_very_many_cases() -> None:
    """Far from the normal approximation the answer is still one that has the power, and one less has not."""
    (k,) = cases_needed([Wanted(eh.metric("tpr").base, np.array([40.0, 110, 0, 0]), 0.05, 0.08)])
    assert k is not None and k > 5_000
    powers = {n: [found_with(n, 40, 150, 40 / 150 + sign * 0.08, 0.05) for sign in (-1, 1)] for n in (k - 1, k)}
    assert min(powers[k]) >= 0.8 > min(powers[k - 1])


def test_no_number_is_enough_against_a_small_reference() -> None:
    tpr, mcc, f1 = (eh.metric(key).base for key in ("tpr", "mcc", "f1_original"))
    small, none = np.array([3.0, 2, 1, 4]), np.array([0.0, 0, 3, 4])
    assert cases_needed([Wanted(tpr, small, 0.05, 0.1), Wanted(mcc, small, 0.05, 0.1)]) == [None, None]
    assert cases_needed([Wanted(f1, small, 0.05, 0.1), Wanted(tpr, none, 0.05, 0.1)]) == [None, None]
    assert cases_needed([]) == []


def test_a_row_says_how_many_cases_it_needs_at_a_level_that_is_always_enough() -> None:
    counts = {"A": (6, 3, 6, 17), "B": (60, 30, 40, 170), "C": (500, 300, 300, 900), "D": (300, 100, 100, 700)}
    settings: list[tuple[Any, int]] = [("holm", 4), ("bh", 4), ("none", 1)]
    for adjust, comparisons in settings:
        a = eh.audit_counts(counts, metrics=["tpr", "disparate_impact", "mcc", "equalized_odds"], adjust=adjust)
        for row in a.rows:
            if row.verdict is not eh.Verdict.TOO_FEW or row.metric in ("mcc", "equalized_odds"):
                assert row.needed is None
                continue
            cells = [getattr(row, f"reference_{c}") for c in ("tp", "fn", "fp", "tn")]
            theirs, of = (cells[0], cells[0] + cells[1]) if row.metric == "tpr" else (cells[0] + cells[2], sum(cells))
            rates = [theirs / of - 0.1, theirs / of + 0.1]
            if row.metric != "tpr":
                rates = [theirs / of * 0.8, theirs / of * 1.25]
            assert row.needed is not None
            for rate in rates:
                assert found_with(row.needed, theirs, of, rate, 0.05 / comparisons) >= 0.8
            assert min(found_with(row.needed - 1, theirs, of, rate, 0.05 / comparisons) for rate in rates) < 0.8
        few = next(row for row in a.rows if (row.group, row.metric) == ("A", "tpr"))
        assert few.needed is not None
        sentence = next(f.sentence for f in a.findings if f.kind == "too-few" and f.group == "A")
        assert f"{few.needed - few.basis:,} more for tpr" in sentence
        assert "would find a gap of 0.1 (ratios: a factor of 1.25) with a probability of 80 %" in sentence
        assert eh.Audit.from_json(a.to_json()).rows == a.rows


def found_with(k: int, theirs: int, of: int, rate: float, level: float, mid_p: bool = False) -> float:
    """The probability that Fisher's test finds a group's rate in the right direction."""
    a = np.arange(k + 1)
    lower = rate < theirs / of
    tail = hypergeom.cdf(a, k + of, a + theirs, k) if lower else hypergeom.sf(a - 1, k + of, a + theirs, k)
    if mid_p:
        tail = tail - hypergeom.pmf(a, k + of, a + theirs, k) / 2
    return float(binom.pmf(a, k, rate)[2 * tail <= level].sum())


# Jaggedness -------------------------------------------------------------------------------------------------------


def quantile(weights: dict[Fraction, Fraction], level: Fraction) -> Fraction:
    """The smallest score s with P(S <= s) >= level."""
    total, reached = sum(weights.values()), Fraction(0)
    for score in sorted(weights):
        reached += weights[score]
        if reached >= level * total:
            return score
    raise AssertionError


@pytest.mark.parametrize("key", ["acc", "tpr", "f1"])
@pytest.mark.parametrize("uniform", [True, False])
def test_quantiles_are_those_of_all_matrices(key: str, uniform: bool) -> None:
    rates = [Fraction(3, 10), Fraction(1, 10), Fraction(1, 5), Fraction(2, 5)]
    found = eh.jaggedness(key, None if uniform else [float(r) for r in rates], range(3, 9))
    for n, row in zip(found.sizes, found.quantiles, strict=True):
        weights: dict[Fraction, Fraction] = {}
        for cells in matrices(n):
            score = oracle.ONE_GROUP[key](*cells)
            if score is not None:
                weight = Fraction(1)
                left = n
                for count, rate in zip(cells, rates, strict=True):
                    weight *= comb(left, count) * rate**count
                    left -= count
                weights[score] = weights.get(score, Fraction(0)) + (Fraction(1) if uniform else weight)
        levels = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)]
        assert row == approx([float(quantile(weights, q)) for q in levels])


def test_the_total_is_the_way_back_and_forth() -> None:
    """Σ |steps| - |Σ steps|, over the spread, per step; 0 for a curve that only rises or falls."""
    found = eh.jaggedness("acc", [0.25] * 4, range(10, 21))
    table = np.array(found.quantiles)
    steps = np.diff(table, axis=0)
    plain = np.mean([sum(abs(s) for s in column) - abs(sum(column)) for column in steps.T])
    assert found.movement == approx(plain)
    widths = table[:, 4] - table[:, 0]
    near = [
        np.mean([w for k, w in zip(found.sizes, widths, strict=True) if n / 1.5 <= k <= 1.5 * n]) for n in found.sizes
    ]
    shares = steps / ((np.array(near[1:]) + near[:-1]) / 2)[:, None]
    total = np.mean([sum(abs(s) for s in column) - abs(sum(column)) for column in shares.T]) / len(steps)
    assert found.total == approx(total)
    assert found.jumps == approx([b - a for a, b in zip(found.median, found.median[1:], strict=False)])
    assert eh.jaggedness("acc", [0.5, 0.0, 0.0, 0.5], range(3, 9)).total == 0


def test_shares_of_all_cases_are_the_most_jagged() -> None:
    totals = {key: eh.jaggedness(key, LARGE, range(5, 26)).total for key in ONE_GROUP if key not in ("pt", "pt_limit")}
    shares = {m.key for m in CATALOGUE.one_group if m.shape == "share"}
    assert min(totals[key] for key in shares) > 2 * max(total for key, total in totals.items() if key not in shares)


# Gaming -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "cut", "side"),
    [("acc", 0.75, "at least"), ("fpr", 0.5, "at most"), ("mcc", 0.3, "at least"), ("mb", 0, "at least")],
)
def test_stopping_and_passing_are_what_listing_every_sequence_gives(key: str, cut: float, side: Any) -> None:
    """Every sequence of cases, and whether its score passes at one of the sizes."""
    sizes, m = range(3, 7), eh.metric(key)
    passed, ever = dict.fromkeys(sizes, 0.0), 0.0
    known: dict[tuple[int, ...], bool] = {}
    for cases in product(range(4), repeat=6):
        weight = float(np.prod([TRUTH[c] for c in cases]))
        good = []
        for n in sizes:
            cells = tuple(cases[:n].count(c) for c in range(4))
            if cells not in known:
                score = m(eh.ConfusionMatrix(*cells))
                known[cells] = score >= cut - 1e-12 if side == "at least" else score <= cut + 1e-12
            good.append(known[cells])
            passed[n] += weight * known[cells]
        ever += weight * any(good)
    found = eh.exploitable_sizes(key, TRUTH, cut, sizes)
    assert found.passing == side
    assert found.chances == approx(list(passed.values()))
    assert found.p_stopping == approx(ever)
    assert found.best == max(passed, key=lambda n: passed[n])
    assert found.gain == approx(max(passed.values()) - np.mean(list(passed.values())))
    for cm in found.configurations:
        assert known.get(tuple(int(c) for c in cm.cells), True)


def test_sizes_at_which_the_threshold_is_a_whole_number_can_be_exploited() -> None:
    found = eh.exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, range(5, 41))
    assert found.exploitable == tuple(range(5, 41, 5))
    for n, more in zip(found.exploitable, found.advantages, strict=True):
        at = [binom.sf(-(-4 * k // 5) - 1, k, 0.7) for k in (n - 1, n, n + 1)]
        assert more == approx(at[1] - (at[0] + at[2]) / 2)
    at_threshold = {k: abs(binom.sf(-(-4 * k // 5) - 1, k, 0.8) - 0.5) for k in range(4, 42)}
    assert found.preferred == tuple(
        k for k in range(5, 41) if at_threshold[k] < min(at_threshold[k - 1], at_threshold[k + 1]) - 1e-9
    )


def test_the_four_fifths_rule_is_a_threshold_on_the_groups_rate() -> None:
    """P(k / n >= 0.8 * 0.42) for a group that is selected at 0.3."""
    found = eh.exploitable_sizes("disparate_impact", LARGE, 0.8, range(5, 30), truth=[0.2, 0.1, 0.1, 0.6])
    cut = Fraction(8, 10) * Fraction(42, 100)
    wanted = [sum(binom.pmf(k, n, 0.3) for k in range(n + 1) if Fraction(k, n) >= cut) for n in range(5, 30)]
    assert found.chances == approx(wanted)
    assert found.true_score == approx(0.3 / 0.42)
    assert eh.exploitable_sizes("acc", LARGE, 0.8, [150]).p_stopping is not None
    assert eh.exploitable_sizes("mcc", LARGE, 0.5, [300]).p_stopping is None


# What is refused --------------------------------------------------------------------------------------------------


def refusals() -> Iterator[tuple[Any, str]]:
    yield (
        lambda: eh.power("tpr", 40, LARGE, difference=0.3),
        "a difference of 0.3 from the reference's tpr of 0.75 gives 1.05, outside its range 0 to 1; choose a smaller "
        "difference",
    )
    yield (
        lambda: eh.power("mb", 40, LARGE, difference=0.5),
        "mb = 0.52 is not reached from the reference's rates, only -0.22 to 0.22; choose a smaller difference, or "
        "pass the group's truth",
    )
    yield (
        lambda: eh.power("tpr", 40, LARGE, truth=[0, 0, 0.5, 0.5]),
        "tpr is always undefined at n = 40: no actual positives (TP + FN = 0)",
    )
    yield lambda: eh.power("mcc", 1, LARGE, difference=0.1), "mcc is always undefined at n = 1: it needs more cases"
    yield (
        lambda: eh.power("tpr", 0, LARGE, difference=0.1),
        "tpr is always undefined at n = 0: it needs more cases",
    )
    yield (
        lambda: eh.power("tpr", 5, LARGE, difference=0.1, denominator=0),
        "tpr is always undefined at n = 5: its denominator is 0",
    )
    yield lambda: eh.power("tpr", 5, LARGE, difference=0.1, denominator=6), "denominator must be at most n = 5; got 6"
    yield (
        lambda: eh.power("tpr", 20, LARGE, truth=[0.5, 0.5, 0, 0], denominator=5),
        "a denominator of 5 is impossible: all of the n = 20 cases are actual positives, according to the group's "
        "true rates",
    )
    yield (
        lambda: eh.power("mcc", 20, LARGE, truth=[0, 0, 0.5, 0.5], denominator=5),
        "a denominator of 5 is impossible: none of the n = 20 cases are actual positives, according to the group's "
        "true rates",
    )
    yield (
        lambda: eh.detectable_difference("mcc", 30, eh.ConfusionMatrix(30, 0, 0, 70)),
        "the true mcc cannot move away from the reference's, 1: rates of exactly 0 or 1 stay where they are; pass the "
        "group's truth to power()",
    )
    yield (
        lambda: eh.detectable_difference("mcc", 2, LARGE, level=1e-4),
        "no true mcc that was looked at lets n = 2 cases reach p <= 0.0001 with a relevant probability, so no "
        "difference is detectable",
    )
    yield (
        lambda: eh.power("acc", 5, LARGE, difference=0.1, denominator=5),
        "acc is a score of all n cases, so it has no denominator to give",
    )
    yield (
        lambda: eh.power("tpr", 5, LARGE),
        "pass either a difference from the reference's score, or the group's truth",
    )
    yield (
        lambda: eh.power("disparate_impact", 5, LARGE, difference=0.1),
        "disparate_impact compares two groups; power() takes the one-group metric ppr",
    )
    yield lambda: eh.power("tpr", 5, LARGE, difference=0.1, level=0), "level must lie between 0 and 1; got 0"
    yield (
        lambda: eh.power("tpr", 5, eh.ConfusionMatrix(0, 0, 0, 0), difference=0.1),
        "the reference is empty (n = 0); a group cannot be compared with it",
    )
    yield (
        lambda: eh.power("tpr", 5, eh.ConfusionMatrix(0, 0, 1, 2), difference=0.1),
        "the reference's tpr is undefined, no actual positives (TP + FN = 0)",
    )
    yield (
        lambda: eh.power("mcc", 5, LARGE, difference=0.1, redraw=True),
        "redraw=True takes the counts of a reference, a score that depends on one rate, and test='fisher' or "
        "'unconditional'",
    )
    yield (
        lambda: eh.power("acc", 5, [0.5, 0.2, 0.1, 0.2], difference=0.1, test="match", null="predictive"),
        "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities",
    )
    yield lambda: eh.power("tpr", 5, LARGE, difference=0.1, draws=1), "draws must be at least 2; got 1"
    yield (
        lambda: eh.detectable_difference("tpr", 3, LARGE, level=1e-4),
        "no outcome of n = 3 cases reaches p <= 0.0001, so no difference is detectable",
    )
    yield (
        lambda: eh.sample_size("tpr", eh.ConfusionMatrix(30, 10, 12, 48), -0.05),
        "the reference is too small: with 40 cases behind its tpr it cannot be told from a true score of 0.7 at "
        "p <= 0.05, however large the group; collect more reference cases",
    )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.1, most=50),
        "no number of cases up to 50 reaches 0.8; 49 cases come closest, with 0.256",
    )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.2, most=51),
        "46 cases reach 0.8, but 51 do not; look at more than 51 cases to find the number from which on all do",
    )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.2, most=1),
        "no number of cases up to 1 reaches 0.8, nor anything above 0",
    )
    yield (
        lambda: eh.sample_size("ppr", [0.1, 0, 0, 0.9], 0.5, most=1, level=0.5),
        "no number of cases up to 1 reaches 0.8; 1 case comes closest, with 0.6",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, 0.1, half_width=0.1),
        "pass one goal: a difference or the group's truth, half_width, or undefined_below",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE),
        "pass one goal: a difference or the group's truth, half_width, or undefined_below",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, 0),
        "the true tpr is that of the reference, so there is no difference to find",
    )
    yield lambda: eh.sample_size("tpr", LARGE, half_width=-1), "half_width must be a number above 0; got -1"
    yield (
        lambda: eh.sample_size("tpr", [0.001, 0, 0, 0.999], undefined_below=0.01, most=100),
        "no number of cases up to 100 leaves tpr undefined with a probability of at most 0.01; 100 cases still do with "
        "0.905",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, truth=[0, 0, 0.5, 0.5]),
        "tpr is always undefined at any n: no actual positives (TP + FN = 0)",
    )
    yield (
        lambda: eh.jaggedness("acc", LARGE, [5]),
        "n must contain at least two sample sizes at which acc can be defined",
    )
    yield (
        lambda: eh.jaggedness("acc", LARGE, 5),  # type: ignore[arg-type]
        "n must be a sequence of sample sizes, such as range(5, 50); got 5",
    )
    yield (
        lambda: eh.exploitable_sizes("acc", LARGE, 1.2),
        "threshold must lie in the range of acc, 0 to 1; got 1.2",
    )
    yield (
        lambda: eh.exploitable_sizes("acc", LARGE, 0.8, truth=LARGE),
        "acc is a metric of one group, whose true rates are the reference's; leave truth out",
    )
    yield (
        lambda: eh.exploitable_sizes("equalized_odds", LARGE, 0.1),
        "equalized_odds is the largest of several differences; take one of them at a time",
    )
    yield (
        lambda: eh.exploitable_sizes("tpr", [0, 0, 0.5, 0.5], 0.8),
        "tpr is always undefined: no actual positives (TP + FN = 0)",
    )


@pytest.mark.parametrize(("refused", "sentence"), list(refusals()))
def test_an_impossible_request_gets_one_sentence(refused: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as problem:
        refused()
    assert str(problem.value) == sentence


def test_a_level_that_no_outcome_reaches_is_said() -> None:
    found = eh.power("tpr", 2, LARGE, difference=-0.5)
    assert found.power == 0
    assert "no outcome that this truth allows reaches p <= 0.05" in str(found)


# The command ------------------------------------------------------------------------------------------------------

REFERENCE = ["--reference", "300", "100", "120", "480"]


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["power", "--metric", "tpr", "--n", "40", "--difference", "-0.2"], "power"),
        (["size", "--metric", "ppr", "--difference", "-0.2"], "n_stays"),
        (["detect", "--metric", "acc", "--n", "60"], "lower"),
        (["jagged", "--metric", "acc", "--n", "5:20"], "total"),
        (["exploit", "--metric", "acc", "--threshold", "0.8", "--n", "5:30"], "exploitable"),
    ],
)
def test_every_plan_prints_a_block_with_a_chart_or_json(words: list[str], field: str) -> None:
    text = CliRunner().invoke(command, ["plan", *words, *REFERENCE])
    assert text.exit_code == 0, text.output
    assert "█" in text.output
    assert max(map(len, text.output.splitlines())) <= 100
    found = CliRunner().invoke(command, ["plan", *words, *REFERENCE, "--json"])
    assert field in json.loads(found.output)


def test_exploit_says_which_metrics_it_takes() -> None:
    text = " ".join(CliRunner().invoke(command, ["plan", "exploit", "--help"]).output.split())
    assert "A metric of one group, or a difference or a ratio of two." in text


def test_a_plan_that_is_refused_speaks_of_options() -> None:
    for words, sentence in (
        (["size", "--metric", "tpr"], "pass one goal: a difference or --truth, --half-width, or --undefined-below"),
        (["power", "--metric", "tpr", "--n", "5"], "pass either a difference from the reference's score, or --truth"),
        (
            ["exploit", "--metric", "acc", "--threshold", "2"],
            "--threshold must lie in the range of acc, 0 to 1; got 2.0",
        ),
    ):
        refused = CliRunner().invoke(command, ["plan", *words, *REFERENCE])
        assert refused.exit_code == 2
        assert refused.output == f"Error: {sentence}\n"
    odd = CliRunner().invoke(command, ["plan", "jagged", "--metric", "acc", "--n", "5:x"])
    assert odd.exit_code == 2
    assert "'5:x' is not a size such as 40 or a range such as 5:50" in odd.output
