"""Sample sizes against scans of all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import matrix
from pytest import approx
from scipy.stats import binom, hypergeom

import evenhand as eh
from evenhand.errors import InvalidInput, TooLarge

REST = matrix(300, 100, 120, 480)
RATES = [0.3, 0.1, 0.12, 0.48]


def test_the_sample_size_is_the_first_and_the_last_of_all_sizes() -> None:
    """n = min {k: power(k) >= p}, and n_stays = 1 + max {k: power(k) < p}."""
    for key, reference, difference, power in (
        ("ppr", RATES, -0.25, 0.8),
        ("tpr", REST, -0.35, 0.8),
        ("f1", 0.7, 0.2, 0.6),
    ):
        plan = eh.sample_size(key, reference, difference, power=power)
        assert plan.n_looked is not None and plan.n_stays is not None
        sizes = range(1, plan.n_looked + 1)
        reached = [eh.power(key, n, reference, difference=difference).power for n in sizes]
        assert plan.n == next(n for n, p in zip(sizes, reached, strict=True) if p >= power)
        assert plan.n_stays == max(n for n, p in zip(sizes, reached, strict=True) if p < power) + 1
        assert plan.n_stays <= 0.7 * plan.n_looked + 1
        assert plan.value == approx(reached[plan.n - 1], abs=1e-9)
        assert plan.values[plan.sizes.index(plan.n)] == approx(plan.value)


def test_large_sizes_are_found_without_looking_at_all_smaller_ones() -> None:
    """SciPy's power of the binomial test at every size from 1 on."""
    n = np.arange(1, 5_000)
    first: Any = binom.ppf(0.025, n, 0.3)
    low = first - (binom.cdf(first, n, 0.3) > 0.025)
    high = binom.isf(0.025, n, 0.3) + 1
    power: Any = binom.cdf(low, n, 0.265) + binom.sf(high - 1, n, 0.265)
    plan = eh.sample_size("ppr", 0.3, -0.035)
    assert plan.n == n[np.argmax(power >= 0.8)]
    assert plan.n_looked is not None
    assert plan.n_stays == 1 + n[: plan.n_looked][power[: plan.n_looked] < 0.8].max()


def test_against_a_tiny_reference_the_size_is_the_smallest_of_all() -> None:
    """Five cases: the sum over both binomials, with SciPy's Fisher test, at every size."""
    for correct, truth, power in ((5, 0.3, 0.8), (4, 0.15, 0.5)):
        rest = matrix(correct, 5 - correct, 0, 0)

        def reached(n: int, correct: int = correct, truth: float = truth) -> float:
            k, b = np.arange(n + 1)[:, None], np.arange(6)
            tails = [hypergeom.cdf(x, n + 5, k + b, n) for x in (k, k - 1)]
            p = 2 * np.minimum(tails[0], 1 - tails[1])
            weights = binom.pmf(k, n, truth) * binom.pmf(b, 5, correct / 5)
            return float(weights[p <= 0.05 * (1 + 1e-9)].sum())

        plan = eh.sample_size("acc", rest, truth - correct / 5, power=power)
        assert plan.n == next(n for n in range(1, 500) if reached(n) >= power)
        assert plan.method == "exact" and plan.value == approx(reached(plan.n), abs=1e-9)


def test_exact_power_saws_so_that_the_two_sizes_differ() -> None:
    plan = eh.sample_size("ppr", RATES, -0.2)
    assert plan.n_stays is not None and plan.n < plan.n_stays
    assert f"so does every number from {plan.n_stays} up to 128" in str(plan)
    capped = eh.sample_size("ppr", RATES, -0.2, most=plan.n_stays + 3)
    assert (capped.n, capped.n_stays, capped.n_looked) == (plan.n, plan.n_stays, plan.n_stays + 3)


def test_few_draws_do_not_make_a_simulated_size_impossible() -> None:
    """Three corrections once ended at 67 cases, which miss the power, and were refused."""
    for draws in (100, 160):
        assert 70 < eh.sample_size("informedness", REST, -0.3, draws=draws).n < 95


def test_a_simulated_size_has_the_power() -> None:
    plan = eh.sample_size("informedness", RATES, -0.3)
    assert (plan.method, plan.n_stays, plan.rng) == ("simulation", None, 0)
    again = eh.power("informedness", plan.n, RATES, difference=-0.3, rng=1)
    assert again.power == approx(0.8, abs=4 * (plan.error + again.error))


def test_an_interval_is_narrow_with_the_probability() -> None:
    """P(half-width <= w) over all counts of the first size, and of the one before."""
    for key, rate, width in (("ppr", 0.42, 0.1), ("f1", 0.42, 0.12), ("fdr", 0.05, 0.08)):
        m = eh.metric(key).base
        assert m.curve is not None
        plan = eh.sample_size(key, float(m.curve.score(rate)), half_width=width)
        for n, is_enough in ((plan.n, True), (plan.n - 1, False)):
            cells = m.tree.cells(float(n), float(n), 0.0, np.arange(n + 1.0)).astype(int).tolist()
            intervals = [eh.interval(eh.ConfusionMatrix.from_array(c), key) for c in cells]
            is_narrow = np.array([i.high - i.low <= 2 * width + 1e-12 for i in intervals])
            reached = float(binom.pmf(np.arange(n + 1), n, rate) @ is_narrow)
            assert (reached >= 0.8) == is_enough
            if is_enough:
                assert plan.value == approx(reached, abs=1e-9)


def test_a_score_of_several_rates_has_a_narrow_interval_about_as_often_as_asked() -> None:
    plan = eh.sample_size("mcc", RATES, half_width=0.2)
    assert plan.method == "simulation" and plan.value == approx(0.8, abs=4 * plan.error)


def test_a_score_exists_with_the_probability() -> None:
    """TPR is undefined with probability 0.6^n; at 10 cases that is 0.6%."""
    plan = eh.sample_size("tpr", REST, undefined_below=0.01)
    assert plan.n == next(n for n in range(1, 99) if 0.6**n <= 0.01) and plan.value == approx(0.6**plan.n)
    both = eh.sample_size("mcc", REST, undefined_below=0.05)
    assert eh.undefined_probability("mcc", both.n, REST.proportions) <= 0.05
    assert eh.undefined_probability("mcc", both.n - 1, REST.proportions) > 0.05
    jumps = eh.sample_size("pt", REST, undefined_below=0.1)
    values = [eh.undefined_probability("pt", n, REST.proportions) for n in range(1, (jumps.n_looked or 0) + 1)]
    assert jumps.n == next(n for n, p in enumerate(values, 1) if p <= 0.1)
    assert jumps.n_stays == max(n for n, p in enumerate(values, 1) if p > 0.1) + 1


def test_tiny_differences_are_refused_before_the_work() -> None:
    """They take 10^12 cases; looking at so many sizes one by one would take terabytes."""
    with pytest.raises(TooLarge, match=r"^an exact power .* needs .* tests, more than the limit"):
        eh.sample_size("tpr", RATES, -1e-6, most=10**15)


def test_what_cannot_be_reached_is_refused_with_what_can() -> None:
    def size(reference: Any = REST, difference: Any = -0.2, **settings: Any) -> Any:
        return eh.sample_size("tpr", reference, difference, **settings)

    cases: list[tuple[Any, str]] = [
        (lambda: size(difference=None), "pass one goal: a difference or the group's truth, half_width"),
        (lambda: size(half_width=0.1), "pass one goal"),
        (lambda: size(difference=0), "the true tpr is that of the reference, so there is no difference"),
        (lambda: size(most=0), "most must be a whole number from 1 to 1,000,000,000,000,000; got 0"),
        (lambda: size(power=1), "power must lie between 0 and 1"),
        (lambda: size(most=20), "no number of cases up to 20 reaches 0.8 and stays there; 20 cases can reach"),
        (lambda: size(matrix(4, 1, 2, 3)), "no number of cases up to 100,000 reaches 0.8 and stays there; "),
        (
            lambda: size(difference=None, half_width=1e-4),
            "no number of cases up to 100,000 reaches 0.8 and stays there; 100,000 cases can reach 0;",
        ),
        (lambda: size(difference=None, half_width=-1), "half_width must lie between 0 and inf; got -1"),
        (lambda: size(difference=None, undefined_below=1e-9, most=9), "no number of cases up to 9 leaves tpr"),
        (lambda: size(difference=None, truth=[0, 0, 0.5, 0.5]), "tpr is always undefined at any n: no actual"),
    ]
    for call, sentence in cases:
        with pytest.raises(InvalidInput) as refusal:
            call()
        assert str(refusal.value).startswith(sentence), refusal.value
