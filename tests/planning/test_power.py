"""Power against sums over all outcomes, with SciPy's tests; and what is refused."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest import approx
from scipy.stats import binom, fisher_exact, multinomial

import evenhand as eh
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.inference import equality_test
from evenhand.metrics import ONE_GROUP_METRICS
from evenhand.planning.planned_tests import last_true
from evenhand.planning.scenario import move_rates

REST = eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
RATES = [0.3, 0.1, 0.12, 0.48]


def fisher_pvalue(x1: int, n1: int, x2: int, n2: int) -> float:
    """Twice the smaller tail, by SciPy."""
    table = np.array([[x1, n1 - x1], [x2, n2 - x2]])
    return 2 * min(fisher_exact(table, alternative=side)[1] for side in ("less", "greater"))


def brute_force(d: int, rate: float, x2: int, n2: int, alpha: float, wrong: int) -> tuple[float, float]:
    """P(p <= alpha) over all pairs of counts, and the part in the direction ``wrong``."""
    power = wrong_way = 0.0
    for a, b in product(range(d + 1), range(n2 + 1)):
        if fisher_pvalue(a, d, b, n2) <= alpha:
            p = binom.pmf(a, d, rate) * binom.pmf(b, n2, x2 / n2)
            power += p
            wrong_way += p * (np.sign(a / d - b / n2) == wrong)
    return power, wrong_way


def test_one_case_against_one_case_never_rejects_below_one_half() -> None:
    """Of 4 cases, 2 successes: the group has both in 1 of 6 ways, so p = 1/3; P = exact fractions."""
    rest = eh.ConfusionMatrix(tp=1, fn=1, fp=0, tn=0)
    plan = eh.power("tpr", 2, rest, truth=[0.75, 0.25, 0, 0], alpha=0.34)
    # Both of the group and none of the reference, or the reverse.
    exact = Fraction(3, 4) ** 2 * Fraction(1, 4) + Fraction(1, 4) ** 2 * Fraction(1, 4)
    assert plan.power == approx(float(exact), abs=1e-9)
    assert eh.power("tpr", 2, rest, truth=[0.75, 0.25, 0, 0], alpha=0.33).power == 0


def test_the_power_of_a_rate_is_the_sum_over_both_binomials() -> None:
    """The reference's count is drawn anew, and its denominator stays."""
    for d, rate, x2, n2, alpha in ((9, 0.2, 11, 15, 0.05), (7, 0.9, 2, 12, 0.1), (14, 0.5, 6, 8, 0.2)):
        rest = eh.ConfusionMatrix(tp=x2, fn=n2 - x2, fp=5, tn=5)
        plan = eh.power("tpr", d, rest, truth=rate, alpha=alpha)
        expected = brute_force(d, rate, x2, n2, alpha, int(np.sign(x2 / n2 - rate)))
        assert (plan.power, plan.wrong_way) == approx(expected, abs=1e-9)
        assert (plan.method, plan.test) == ("exact", "fisher")
        match = eh.power("tpr", d, rest, truth=rate, alpha=alpha, test="match")
        assert match.power == approx(plan.power, abs=1e-12)


def test_random_denominators_are_averaged_over() -> None:
    """P(rejected) = Σ P(d) P(rejected | d); without any actual positive the score is undefined."""
    rest = eh.ConfusionMatrix(tp=9, fn=3, fp=4, tn=8)
    truth = [0.1, 0.3, 0.25, 0.35]
    n, plan = 10, eh.power("tpr", 10, rest, truth=truth, alpha=0.1)
    expected = sum(binom.pmf(d, n, 0.4) * brute_force(d, 0.25, 9, 12, 0.1, 1)[0] for d in range(1, n + 1))
    assert plan.power == approx(expected, abs=1e-9)
    assert plan.p_undefined == approx(0.6**n)
    given = eh.power("tpr", n, rest, truth=truth, alpha=0.1, denominator=6)
    assert given.power == approx(brute_force(6, 0.25, 9, 12, 0.1, 1)[0], abs=1e-9)


def test_scores_without_a_value_are_not_rejected() -> None:
    """The original F1 is undefined without a true positive, FN / FP without a false positive."""
    rest, n = eh.ConfusionMatrix(tp=3, fn=4, fp=2, tn=0), 8
    for key, truth, p, q in (
        ("f1_original", [0.8, 0.1, 0.1, 0], 0.8, 3 / 9),
        ("te_part", [0.2, 0.6, 0.2, 0], 0.75, 4 / 6),
    ):
        is_odds = key == "te_part"
        plan = eh.power(key, n, rest, truth=truth, alpha=0.3, denominator=n)
        cases = 6 if is_odds else 9
        defined = [
            (a, b)
            for a, b in product(range(n + 1), range(cases + 1))
            if (a < n and b < cases if is_odds else a > 0 and b > 0)
        ]
        rejected = sum(
            binom.pmf(a, n, p) * binom.pmf(b, cases, q) * (fisher_pvalue(a, n, b, cases) <= 0.3) for a, b in defined
        )
        assert plan.method == "exact" and plan.power == approx(rejected, abs=1e-9)
        assert plan.p_undefined == approx(p**n if is_odds else (1 - p) ** n)


def test_known_rates_have_a_binomial_test() -> None:
    for n, rate, truth, alpha in ((30, 0.7, 0.5, 0.05), (57, 0.1, 0.3, 0.01), (12, 0.5, 0.5, 0.1)):
        k = np.arange(n + 1)
        p = 2 * np.minimum(binom.cdf(k, n, rate), binom.sf(k - 1, n, rate))
        expected = binom.pmf(k, n, truth) @ (p <= alpha * (1 + 1e-9))
        plan = eh.power("tpr", n, rate, truth=truth, alpha=alpha)
        assert plan.power == approx(expected, abs=1e-12)
        assert (plan.test, plan.reference_n, plan.error) == ("binomial", None, 0)


def test_a_single_score_stands_for_cases_that_are_all_in_the_denominator() -> None:
    for key, score, cells in (("tpr", 0.7, [0.7, 0.3, 0, 0]), ("f1", 0.8, [4 / 6, 1 / 6, 1 / 6, 0])):
        one = eh.power(key, 50, score, difference=-0.2)
        four = eh.power(key, 50, cells, difference=-0.2)
        assert one.power == approx(four.power, abs=1e-12)
        assert one.expected_denominator == 50
        assert eh.sample_size(key, score, -0.2).n == eh.sample_size(key, cells, -0.2).n
    with pytest.raises(InvalidInput, match=r"^mcc depends on several rates; pass four cell prob"):
        eh.power("mcc", 50, 0.5, difference=-0.2)
    with pytest.raises(InvalidInput, match=r"^reference must be a tpr from 0 to 1; got 1.7$"):
        eh.power("tpr", 50, 1.7, difference=-0.2)


def test_comparisons_share_the_level() -> None:
    shared = eh.power("tpr", 60, REST, difference=-0.2, comparisons=5)
    assert shared.power == eh.power("tpr", 60, REST, difference=-0.2, alpha=0.01).power
    assert "p <= 0.05 / 5" in str(shared)
    sizes = [eh.sample_size("acc", RATES, -0.2, comparisons=c).n for c in (1, 10)]
    assert sizes[1] == eh.sample_size("acc", RATES, -0.2, alpha=0.005).n > sizes[0]
    differences = [eh.detectable_difference("acc", 60, RATES, comparisons=c).lower for c in (1, 10)]
    assert differences[1] < differences[0] < 0  # type: ignore[operator]
    with pytest.raises(InvalidInput, match=r"^comparisons must be a whole number from 1 to 1,000,000,000; got 0$"):
        eh.power("tpr", 60, REST, difference=-0.2, comparisons=0)


def listed(n: int) -> NDArray[np.float64]:
    return np.array([c for c in product(range(n + 1), repeat=4) if sum(c) == n], dtype=float)


@pytest.mark.parametrize("key", ["mcc", "kappa", "lr_plus"])
def test_simulated_power_agrees_with_a_list_of_all_groups_and_references(key: str) -> None:
    """P(p <= level), where the reference keeps its actual positives; within four standard errors."""
    truth, rest = [0.1, 0.4, 0.4, 0.1], eh.ConfusionMatrix(tp=7, fn=2, fp=2, tn=6)
    groups = listed(6)
    references = np.array([[a, 9 - a, b, 8 - b] for a, b in product(range(10), range(9))], float)
    weight = multinomial.pmf(groups, 6, truth)
    reference_weight = binom.pmf(references[:, 0], 9, 7 / 9) * binom.pmf(references[:, 2], 8, 2 / 8)
    expected = undefined = 0.0
    for p, reference in zip(reference_weight, references, strict=True):
        if p > 1e-4:
            pvalues = equality_test(eh.metric(key).base, groups, np.broadcast_to(reference, groups.shape)).pvalues
            expected += p * float(weight @ (pvalues <= 0.2))
    plan = eh.power(key, 6, rest, truth=truth, alpha=0.2, draws=400)
    assert plan.method == "simulation" and plan.error <= 0.02
    assert plan.power == approx(expected, abs=4 * plan.error)
    undefined = float(weight @ np.isnan(eh.metric(key).base.scores(groups)))
    assert plan.p_undefined == approx(undefined)


@pytest.mark.parametrize(("null", "given"), [("known", "n"), ("predictive", "margin"), ("pooled", "n")])
def test_simulated_match_agrees_with_a_list_of_all_groups(null: Any, given: Any) -> None:
    """Known rates: every matrix of 5 cases. A reference of one outcome is always drawn the same."""
    reference: Any = RATES if null == "known" else eh.ConfusionMatrix(tp=40, fn=0, fp=0, tn=60)
    truth, cells = [0.1, 0.3, 0.3, 0.3], listed(5)
    pvalues = [
        eh.match_test(
            eh.ConfusionMatrix.from_array(c.astype(int).tolist()), reference, "tpr", null=null, given=given
        ).pvalue
        for c in cells
    ]
    expected = multinomial.pmf(cells, 5, truth) @ (np.array(pvalues) <= 0.3)
    plan = eh.power("tpr", 5, reference, truth=truth, alpha=0.3, test="match", null=null, given=given)
    assert (plan.test, plan.null, plan.method) == ("match", null, "simulation")
    assert plan.power == approx(expected, abs=4 * plan.error)


def test_the_truth_has_the_score_that_is_asked_for_and_moves_as_documented() -> None:
    for m in ONE_GROUP_METRICS:
        step = 0.05 if m.better != "lower" else -0.05
        start = float(m(REST))
        rates = move_rates(m, np.array(REST.proportions), start + step)
        tp, fn, fp, tn = rates
        assert rates.sum() == approx(1)
        assert float(m.scores(rates)) == approx(start + step, abs=1e-9)
        if m.tree.side and m.key != "markedness":
            moves = [log(a / b) - log(c / d) for a, b, c, d in ((tp, fn, 300, 100), (fp, tn, 120, 480))]
            assert moves[0] == approx(-moves[1], abs=1e-6)
            assert tp + fn == approx(0.4)
        if m.key == "markedness":
            assert tp + fp == approx(0.42)


def test_the_smallest_differences_have_the_power_and_smaller_ones_do_not() -> None:
    for key, n, reference in (("tpr", 100, REST), ("f1", 80, RATES), ("ppr", 40, 0.3)):
        plan = eh.detectable_difference(key, n, reference)
        for difference in (plan.lower, plan.higher):
            assert difference is not None
            at, closer = (eh.power(key, n, reference, difference=share * difference).power for share in (1, 0.999))
            assert at == approx(0.8, abs=1e-6) and closer < 0.8
    few = eh.detectable_difference("tpr", 40, REST)
    assert few.higher is None and "higher      none" in str(few)
    assert eh.power("tpr", 40, REST, difference=0.25).power < 0.8


def test_rates_of_0_and_1_can_move() -> None:
    """TPR 1 and FPR 0 become 0.9 and 0.1, whose MCC is 0.8."""
    rates = move_rates(eh.metric("mcc").base, np.array([0.5, 0, 0, 0.5]), 0.8)
    assert rates == approx([0.45, 0.05, 0.05, 0.45], abs=1e-4)


@pytest.mark.slow
def test_a_simulated_difference_has_the_power() -> None:
    plan = eh.detectable_difference("informedness", 100, RATES)
    assert plan.method == "simulation" and plan.lower is not None
    again = eh.power("informedness", 100, RATES, difference=plan.lower, rng=1)
    assert again.power == approx(0.8, abs=4 * (plan.error + again.error))


def test_last_true_is_what_a_scan_finds() -> None:
    rng = np.random.default_rng(0)
    highest = rng.integers(0, 200, 500).astype(float)
    last = np.floor(rng.uniform(-1, highest + 1))
    found = last_true(lambda k, rows: k <= last[rows], rng.uniform(-50, 250, 500).round(), highest)
    assert (found == np.minimum(last, highest)).all()


def test_a_plan_has_a_curve() -> None:
    plan = eh.power("tpr", 100, REST, difference=-0.2)
    scores, powers = plan.profile()
    lowest = scores[powers.index(min(powers))]
    assert lowest == approx(0.75, abs=0.05) and min(powers[0], powers[-1]) > 0.99
    assert plan.curve([0.55])[0] == approx(plan.power, abs=1e-12)
    with pytest.raises(InvalidInput, match="so it has no power"):
        eh.sample_size("tpr", REST, undefined_below=0.1).curve([0.5])


def test_what_cannot_be_planned_is_refused() -> None:
    def power(key: str = "tpr", n: Any = 9, reference: Any = REST, **settings: Any) -> Any:
        return eh.power(key, n, reference, **({"difference": -0.1} | settings))

    empty = eh.ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)
    no_positive = eh.ConfusionMatrix(tp=0, fn=0, fp=3, tn=4)
    for call, sentence in (
        (lambda: power(difference=None), "pass either a difference from the reference's score"),
        (lambda: power(difference="x"), "difference must be a number; got 'x'"),
        (lambda: power(difference=-0.9), "a difference of -0.9 from the reference's tpr of 0.75 gives -0.15"),
        (lambda: power(reference=empty), "reference must have cases; got ConfusionMatrix(tp=0"),
        (lambda: power(reference=no_positive), "the reference's tpr is undefined, no actual positives"),
        (lambda: power(test="t"), "no test is called 't'"),
        (lambda: power(alpha=1), "alpha must lie between 0 and 1"),
        (lambda: power(n=-1), "n must be a whole number from 0 to 1,000,000,000,000,000; got -1"),
        (lambda: power(n=0), "tpr is always undefined at n = 0"),
        (lambda: power("acc", denominator=3), "acc has no denominator but n; leave denominator out"),
        (lambda: power(denominator=10), "denominator must be a whole number from 1 to 9; got 10"),
        (lambda: power(draws=10**6), "draws must be a whole number from 2 to 10,000; got 1000000"),
        (lambda: power("mcc", difference=-1.6), "a difference of -1.6 from"),
        (lambda: eh.detectable_difference("tpr", 3, REST, alpha=0.001), "no likely outcome of n = 3 cases reaches p"),
        (lambda: power(truth=[0, 0, 0.5, 0.5], difference=None), "tpr is always undefined at n = 9: no actual"),
    ):
        with pytest.raises(InvalidInput) as refusal:
            call()
        assert str(refusal.value).startswith(sentence), refusal.value


@pytest.mark.slow
def test_huge_sizes_are_answered_or_refused_at_once() -> None:
    huge = eh.ConfusionMatrix(tp=3 * 10**13, fn=10**13, fp=10**13, tn=4 * 10**13)
    references: list[Any] = [REST, RATES, 0.7, huge]
    functions: tuple[Any, ...] = (eh.power, eh.detectable_difference)
    start = time.process_time()
    for key, n, reference in product(("acc", "tpr"), (10**4, 10**7, 10**10, 10**15, 10**19), references):
        for function in functions:
            moved = {"difference": -0.01} if function is eh.power else {}
            try:
                str(function(key, n, reference, **moved))
            except EvenhandError:
                continue
    assert time.process_time() - start < 60
