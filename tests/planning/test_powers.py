"""Power against lists of all matrices, SciPy and statsmodels, and the differences that reach it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb, isnan
from typing import Any

import numpy as np
import pytest
from oracle import matrices
from pytest import approx
from scipy.stats import binom, fisher_exact, hypergeom
from statsmodels.stats.proportion import binom_test_reject_interval

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.metrics import CATALOGUE

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
    """The probability of a p-value of at most alpha and of an undefined score, over all matrices that are kept."""
    rejected = undefined = total = 0.0
    for cells in matrices(n):
        if keep(cells):
            p, weight = pvalue(eh.ConfusionMatrix(*cells)), chance(cells, TRUTH)
            total += weight
            undefined += weight if isnan(p) else 0.0
            rejected += weight if p <= LEVEL else 0.0
    return rejected / total, undefined / total


@pytest.mark.slow
@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_power_of_the_audits_test_is_what_listing_every_matrix_gives(key: str) -> None:
    """P(p <= level) = Σ P(matrix) [p(matrix) <= level]."""
    n = 6 if key in ONE_RATE else 4
    found = eh.power(key, n, REST, truth=TRUTH, alpha=LEVEL)
    wanted, undefined = listed_power(n, lambda cm: eh.disparity(cm, REST, key, test="fisher").pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.p_undefined == approx(undefined, abs=1e-10)
    assert found.method == "exact"
    assert found.test == ("fisher" if key in ONE_RATE else "mid-p")


@pytest.mark.many
@pytest.mark.parametrize("given", ["margin", "n"])
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("key", ONE_GROUP)
def test_the_power_of_match_is_what_listing_every_matrix_gives(key: str, null: Any, given: Any) -> None:
    found = eh.power(key, 4, REST, truth=TRUTH, alpha=LEVEL, test="match", null=null, given=given)
    wanted, _ = listed_power(4, lambda cm: eh.match_test(cm, REST, key, null=null, given=given).pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert (found.test, found.null, found.method) == ("match", null, "exact")


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("key", ["tpr", "mcc", "mb"])
def test_half_of_the_observed_outcome_counts_in_match_too(key: str, null: Any) -> None:
    found = eh.power(key, 5, REST, truth=TRUTH, alpha=LEVEL, test="match", null=null, mid_p=True)
    wanted, _ = listed_power(5, lambda cm: eh.match_test(cm, REST, key, null=null, mid_p=True).pvalue)
    assert found.power == approx(wanted, abs=1e-10)


@pytest.mark.parametrize("key", ["tpr", "f1_original", "te_part", "mcc", "markedness"])
def test_a_given_denominator_is_a_condition(key: str) -> None:
    m = eh.metric(key).base
    assert m.denominator is not None
    at = [("tp", "fn", "fp", "tn").index(c) for c in m.denominator.cells]

    def kept(cells: tuple[int, ...]) -> bool:
        return sum(cells[i] for i in at) == 4

    found = eh.power(key, 7, REST, truth=TRUTH, alpha=LEVEL, denominator=4)
    wanted, undefined = listed_power(7, lambda cm: eh.disparity(cm, REST, key, test="fisher").pvalue, kept)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.p_undefined == approx(undefined, abs=1e-10)


@pytest.mark.parametrize("key", ["acc", "tpr"])
def test_the_power_of_the_unconditional_test_is_what_listing_every_matrix_gives(key: str) -> None:
    found = eh.power(key, 6, REST, truth=TRUTH, alpha=LEVEL, test="unconditional")
    wanted, _ = listed_power(6, lambda cm: eh.disparity(cm, REST, key, test="unconditional").pvalue)
    assert found.power == approx(wanted, abs=1e-10)
    assert found.power >= eh.power(key, 6, REST, truth=TRUTH, alpha=LEVEL).power


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
    assert 0 < found.power <= 0.05
    assert found.power == found.wrong_way


@pytest.mark.slow
def test_a_simulated_power_is_within_its_error_of_the_exact_one() -> None:
    """The estimate lies within four standard errors of the list of all outcomes."""
    exact = eh.power("mcc", 10, LARGE, difference=-0.5, draws=5_000)
    drawn = eh.power("mcc", 10, LARGE, difference=-0.5, draws=40)
    assert (exact.method, drawn.method) == ("exact", "simulation")
    # With 40 draws; the normal test only says in which order outcomes are drawn.
    assert 0 < drawn.error < 0.08
    assert abs(drawn.power - exact.power) < 4 * drawn.error
    assert drawn.power == eh.power("mcc", 10, LARGE, difference=-0.5, draws=40).power
    pooled = [
        eh.power("informedness", n, REST, difference=-0.4, test="match", draws=100) for n in (8, 30)
    ]  # fmt: skip
    assert [p.method for p in pooled] == ["exact", "simulation"]
    assert pooled[1].error > 0.005


@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
def test_a_denominator_that_leaves_no_score_has_no_power(null: Any) -> None:
    found = eh.power("mcc", 9, LARGE, difference=-0.2, denominator=9, test="match", null=null)
    assert (found.power, found.p_undefined) == (0, 1)
    assert "every possible outcome has an undefined score" in str(found)


def test_a_score_that_known_rates_do_not_allow_counts_as_found() -> None:
    """Every error is impossible under the reference's rates: P(at least one error) = 1 - 0.6^6."""
    found = eh.power("acc", 6, [0.5, 0, 0, 0.5], truth=[0.3, 0.1, 0.3, 0.3], test="match", null="known")
    assert found.power == approx(1 - 0.6**6)


def test_a_level_that_no_outcome_reaches_is_said() -> None:
    found = eh.power("tpr", 2, LARGE, difference=-0.5)
    assert found.power == 0
    assert "no outcome that this truth allows reaches p <= 0.05" in str(found)


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


@pytest.mark.slow
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
        lambda: eh.detectable_difference("mcc", 2, LARGE, alpha=1e-4),
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
        "disparate_impact compares two groups; use a metric of one group, such as ppr",
    )
    yield lambda: eh.power("tpr", 5, LARGE, difference=0.1, alpha=0), "alpha must lie between 0 and 1; got 0"
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
        "redraw takes the counts of a reference, a score that depends on one rate, and test='fisher' or "
        "'unconditional'",
    )
    yield (
        lambda: eh.power("acc", 5, [0.5, 0.2, 0.1, 0.2], difference=0.1, test="match", null="predictive"),
        "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities",
    )
    yield (
        lambda: eh.power("tpr", 5, LARGE, difference=0.1, draws=1),
        "draws must be a whole number of at least 2; got 1",
    )
    yield (
        lambda: eh.detectable_difference("tpr", 3, LARGE, alpha=1e-4),
        "no outcome of n = 3 cases reaches p <= 0.0001, so no difference is detectable",
    )


@pytest.mark.parametrize(("refused", "sentence"), list(refusals()))
def test_an_impossible_request_gets_one_sentence(refused: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        refused()
    assert str(problem.value) == sentence


def test_a_simulation_repeats_with_its_seed_and_goes_on_with_a_generator() -> None:
    settings: Any = {"difference": -0.4, "test": "match", "draws": 40}
    drawn = [eh.power("informedness", 40, REST, **settings, rng=rng) for rng in (5, 5, 6)]
    assert [p.rng for p in drawn] == [5, 5, 6]
    assert drawn[0].power == drawn[1].power
    stream = np.random.default_rng(1)
    first, second = (eh.power("informedness", 40, REST, **settings, rng=stream) for _ in range(2))
    assert first.rng is second.rng is None
    assert len({p.power for p in (*drawn, first, second)}) > 2
    assert eh.power("tpr", 40, REST, difference=-0.2, rng=5).rng is None


def test_a_plan_says_which_question_it_answers_and_leaves_out_the_rest() -> None:
    power = eh.power("tpr", 40, LARGE, difference=-0.2)
    size = eh.sample_size("tpr", LARGE, -0.2)
    detectable = eh.detectable_difference("tpr", 40, LARGE)
    assert [p.question for p in (power, size, detectable)] == ["power", "sample_size", "detectable_difference"]
    assert (power.target, power.n_stays, power.lower, power.level) == (None, None, None, None)
    assert (size.wrong_way, size.p_undefined, size.value) == (None, None, size.power)
    assert (detectable.difference, detectable.true_score, detectable.power) == (None, None, 0.8)
    assert power.expected_denominator == approx(16)
    assert eh.power("tpr", 40, LARGE, difference=-0.2, denominator=9).expected_denominator == 9
    assert eh.power("acc", 40, LARGE, difference=-0.2).expected_denominator is None
    # Each of them knows the power at other true scores.
    curves = [p.curve([0.55])[0] for p in (power, size, detectable)]
    assert curves == approx([power.power, size.power, power.power])
    narrow = eh.sample_size("tpr", LARGE, half_width=0.2)
    assert (narrow.test, narrow.alpha, narrow.level, narrow.to_dict()["power"]) == (None, None, 0.95, None)
    with pytest.raises(InvalidInput, match=r"^the plan is one of an interval or of a score that exists, so it has no"):
        _ = narrow.power
    with pytest.raises(InvalidInput, match=r"^the plan is one of an interval or of a score that exists, so it has no"):
        narrow.curve([0.5])


def test_equal_powers_are_equal() -> None:
    first, again, other = (
        eh.power("tpr", n, eh.ConfusionMatrix(30, 20, 10, 40), difference=-0.2) for n in (40, 40, 50)
    )
    assert first == again
    assert first != other
