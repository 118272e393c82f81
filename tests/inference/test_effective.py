"""Tests of effective counts against beta-binomial likelihoods of SciPy, and of what they guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pytest import approx
from scipy.optimize import minimize_scalar
from scipy.stats import betabinom, binom

from evenhand.inference import effects_of, equal_scores, fisher
from evenhand.inference.effective import _likelihoods, _tails
from evenhand.metrics import metric

TPR, MCC = metric("tpr").base, metric("mcc").base
units_of = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


def cells(units: list[tuple[int, int]]) -> np.ndarray:
    """Units with so many true positives and false negatives."""
    return np.array([(tp, fn, 0, 0) for tp, fn in units], dtype=np.float64)


def log_likelihood(units: list[tuple[int, int]], p: float, correlation: float) -> float:
    """Of a beta-binomial law, by SciPy, without its binomial coefficients."""
    found = 0.0
    for x, failures in units:
        n = x + failures
        if correlation == 0:
            found += binom.logpmf(x, n, p)
        else:
            spread = (1 - correlation) / correlation
            found += betabinom.logpmf(x, n, p * spread, (1 - p) * spread)
        found -= binom.logpmf(x, n, 0.5) - n * np.log(0.5)
    return found


def beta_binomial(n: int, correlation: float) -> list[tuple[int, int]]:
    """Units of five cases at a rate of 2/3."""
    rng, spread = np.random.default_rng(3), (1 - correlation) / correlation
    return [(int(x := rng.binomial(5, rng.beta(2 / 3 * spread, spread / 3))), 5 - x) for _ in range(n)]


def most_likely(units: list[tuple[int, int]]) -> float:
    """The correlation that SciPy finds to be the most likely, whatever the rate is."""

    def best(correlation: float) -> float:
        found = minimize_scalar(lambda p: -log_likelihood(units, p, correlation), bounds=(0.01, 0.99), method="bounded")
        return float(found.fun)

    return float(minimize_scalar(best, bounds=(0.001, 0.9), method="bounded").x)


@given(units=units_of, p=st.floats(0.05, 0.95))
def test_likelihoods_are_those_of_beta_binomial_laws(units: list[tuple[int, int]], p: float) -> None:
    """The sum over j of log(p(1 - ρ) + jρ) and so on is the log of the beta-binomial probability."""
    x, failures = np.array(units, dtype=np.float64).T
    if not (x + failures).any():
        return
    from evenhand.inference.effective import _CORRELATIONS

    found = _likelihoods(_tails(x, x + failures), (p, p))[0]

    for i in (0, 10, 30, 50):
        assert found[i] == approx(log_likelihood(units, p, float(_CORRELATIONS[i])), abs=1e-8)


def test_the_correlation_is_the_most_likely_one_of_a_common_rate() -> None:
    """Both sides are the same, so that neither different rates nor a correlation of its own bounds it."""
    units = beta_binomial(30, correlation=0.25)

    assert effects_of(TPR, cells(units), cells(units)).correlation == approx(most_likely(units), abs=0.02)


def test_a_side_whose_units_are_more_alike_has_its_own_correlation() -> None:
    """ρ of a side = max(ρ of both, ρ of the side)."""
    alike, independent = beta_binomial(30, correlation=0.6), beta_binomial(40, correlation=0.01)

    found = effects_of(TPR, cells(alike), cells(independent)).correlation
    other = effects_of(TPR, cells(independent), cells(alike)).correlation

    assert found == approx(most_likely(alike), abs=0.03)
    assert most_likely(independent) + 0.1 < other < found - 0.1


@given(units=units_of, others=units_of)
def test_a_group_is_worth_between_its_units_and_its_cases(
    units: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    """1 <= design effect <= mean size of the unit of a case."""
    found = effects_of(TPR, cells(units), cells(others))
    sizes = cells(units).sum(axis=1)

    assert 0 <= found.correlation <= 1
    assert 1 <= found.group <= max(1.0, (sizes**2).sum() / max(sizes.sum(), 1)) + 1e-12


@pytest.mark.parametrize("m", [TPR, MCC])
def test_units_of_one_case_change_nothing(m: object) -> None:
    single = np.eye(4)[np.arange(40) % 4]

    found = effects_of(m, single, single[:20])  # type: ignore[arg-type]

    assert (found.group, found.reference) == (1.0, 1.0)


@pytest.mark.parametrize("m", [TPR, MCC])
def test_units_whose_cases_are_all_the_same_count_once(m: object) -> None:
    """ρ = 1, so that a design effect is the size of a unit."""
    same = 5 * np.eye(4)[np.arange(40) % 4]

    found = effects_of(m, same, same)  # type: ignore[arg-type]

    assert found.group == approx(5, rel=1e-9)


def test_pairs_of_cases_have_a_correlation_of_their_own() -> None:
    """Two cases of a unit are enough to see that they are always the same."""
    pairs, independent = cells([(2, 0)] * 10 + [(0, 2)] * 10), cells(beta_binomial(40, correlation=0.01))

    assert effects_of(TPR, pairs, independent).group == approx(2, rel=1e-9)


def test_what_is_not_known_is_taken_to_be_high() -> None:
    """Nobody failed, so that nothing says how much the cases of a unit depend on each other."""
    assert effects_of(TPR, cells([(5, 0)] * 4), cells([(5, 0)] * 9)).correlation == 1.0


def test_blocks_of_large_units_change_little() -> None:
    """Neighbours j of large units share a logarithm; the correlation is that of all of them."""
    rng = np.random.default_rng(5)
    large = [(int(x := rng.binomial(2_000, rng.beta(8, 2))), 2_000 - x) for _ in range(20)]
    i = 12
    from evenhand.inference.effective import _CORRELATIONS

    x, failures = np.array(large, dtype=np.float64).T
    found = _likelihoods(_tails(x, x + failures), (0.8, 0.8))[0]

    correct = [log_likelihood(large, 0.8, float(_CORRELATIONS[k])) for k in (i, i + 4)]
    assert found[i] - found[i + 4] == approx(correct[0] - correct[1], abs=0.05)


def test_effective_counts_that_are_whole_have_the_p_value_of_fishers_test() -> None:
    group, reference = np.array([[3.0, 9.0, 0, 0]]), np.array([[60.0, 40.0, 0, 0]])

    effective = equal_scores(TPR, group, reference, whole=False)

    exact = fisher(np.array([3.0]), np.array([12.0]), np.array([60.0]), np.array([100.0])).pvalue(False)
    assert effective.pvalue == approx(exact, abs=1e-8)
    assert effective.method == ["effective counts"]


@pytest.mark.parametrize(("rate", "correlation"), [(0.5, 0.3), (0.9, 0.1), (0.9, 0.6)])
def test_equal_rates_of_few_large_units_are_seldom_found_to_differ(rate: float, correlation: float) -> None:
    """Eight units of 20 against 200 of one case, the setting in which other estimates reject up to 12 %."""
    rng, runs = np.random.default_rng(7), 400
    spread = (1 - correlation) / correlation
    groups, references = np.empty((runs, 4)), np.empty((runs, 4))
    for i in range(runs):
        few = rng.binomial(20, rng.beta(rate * spread, (1 - rate) * spread, 8))
        many = rng.binomial(1, rate, 200)
        sides = cells([(int(x), 20 - int(x)) for x in few]), cells([(int(x), 1 - int(x)) for x in many])
        effects = effects_of(TPR, *sides)
        groups[i], references[i] = sides[0].sum(axis=0) / effects.group, sides[1].sum(axis=0) / effects.reference

    rejected = equal_scores(TPR, groups, references, whole=False).pvalue <= 0.05

    assert rejected.mean() <= 0.065


def test_a_score_of_several_rates_has_at_least_the_correlation_of_each() -> None:
    """Units that miss all of their positives or none: MCC is worth no more than its true positive rate."""
    units = np.array([(5, 0, 1, 4), (0, 5, 1, 4)] * 6, dtype=np.float64)

    assert effects_of(MCC, units, units).correlation >= effects_of(TPR, units, units).correlation > 0.9
