"""E-processes: likelihood ratios by SciPy, a martingale and closed testing by enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from pytest import approx
from scipy.special import logsumexp
from scipy.stats import hypergeom, nchypergeom_fisher

from evenhand.arrays import Floats
from evenhand.inference.e_process import (
    LOG_ODDS,
    EProcess,
    EProcesses,
    joint_evalues,
    log_likelihood_ratios,
    start_weights,
)


def ratios(*counts: float) -> Floats:
    return np.asarray(log_likelihood_ratios(*(np.array([float(count)]) for count in counts))[0])


def test_ratios_are_those_of_the_noncentral_law() -> None:
    for n, m, k in [(1, 1, 1), (3, 9, 4), (7, 30, 12), (20, 5, 10), (40, 400, 80)]:
        counts = np.arange(max(0, k - m), min(n, k) + 1)
        central = hypergeom.pmf(counts, n + m, k, n)
        for i in (0, 20, 48, 60, 96):
            noncentral = nchypergeom_fisher.pmf(counts, n + m, k, n, np.exp(LOG_ODDS[i]))
            computed = [np.exp(ratios(x, n, k - x, m)[i]) for x in counts.tolist()]
            assert computed == approx((noncentral / central).tolist(), rel=1e-6)


def test_wide_supports_are_summed_as_enumerated_ones() -> None:
    """By SciPy's noncentral distribution function of all counts; strides begin at 512 likely counts."""
    counts = np.array([(300, 900, 800, 1_500), (2, 700, 640, 650), (900, 999, 1, 800), (9_000, 20_000, 8_000, 20_000)])
    for row, computed in zip(counts, log_likelihood_ratios(*counts.astype(float).T), strict=True):
        x1, n1, x2, n2 = row.tolist()
        k = np.arange(max(0, x1 + x2 - n2), min(n1, x1 + x2) + 1)
        log_pmf = hypergeom.logpmf(k, n1 + n2, x1 + x2, n1)
        means = [logsumexp(log_pmf + theta * (k - x1)) for theta in LOG_ODDS]
        assert computed == approx(-np.array(means), rel=1e-9, abs=1e-8)


def test_at_any_size_exchanging_group_and_reference_inverts_the_odds_ratio() -> None:
    for n in (10**6, 10**12):
        counts = n // 3, n, n // 4, n
        assert ratios(*counts) == approx(ratios(*counts[2:], *counts[:2])[::-1], rel=1e-12, abs=1e-3)


def test_beside_a_large_reference_the_law_is_binomial() -> None:
    """The mean of exp(θK) is (1 - p + p exp(θ))^n."""
    expected = LOG_ODDS * 1_500 - 5_000 * np.log1p(0.3 * np.expm1(LOG_ODDS))
    assert ratios(1_500, 5_000, 3 * 10**11, 10**12) == approx(expected, rel=1e-6, abs=1e-3)


def test_batches_without_information_change_nothing() -> None:
    """No cases on one side, or all counts at an end."""
    for counts in ((0, 0, 3, 9), (0, 5, 0, 9), (5, 5, 9, 9), (2, 4, 0, 0)):
        assert ratios(*counts) == approx(np.zeros(len(LOG_ODDS)), abs=1e-12)


def test_the_mean_stays_1_over_two_batches() -> None:
    """All outcomes of two batches, each with a common rate of its own."""
    mean = 0.0
    for x in range(4):
        for y in range(3):
            process = EProcess.start()
            process.add(ratios(x, 3, 5 - x, 8))
            process.add(ratios(y, 2, 4 - y, 6))
            mean += hypergeom.pmf(x, 11, 5, 3) * hypergeom.pmf(y, 8, 4, 2) * float(process.evalues)
    assert mean == approx(1.0, abs=1e-9)


def test_weights_of_starts_sum_to_1() -> None:
    """The weights of b batches leave b^(-1/2) / 2."""
    assert start_weights(np.arange(1e6)).sum() == approx(1 - 0.5 * 1e6**-0.5)


def test_joint_evalues_are_the_smallest_means_over_all_sets() -> None:
    rng = np.random.default_rng(4)
    for remaining in (0.0, 0.2) * 20:
        evalues, weights = rng.exponential(3.0, 6), rng.uniform(0.1, 1.0, 6)
        evalues[1] = evalues[0]
        members = np.array([*zip(evalues, weights, strict=True), (1.0, remaining)])
        sets = [list(s) for size in range(1, 8) for s in combinations(range(7), size)]
        for i, joint in enumerate(joint_evalues(evalues, weights, remaining)):
            means = [(members[s, 0] @ members[s, 1]) / members[s, 1].sum() for s in sets if i in s]
            assert joint == approx(min(means))


def test_the_confidence_sequence_is_where_the_mixture_is_less_than_1_over_alpha_times_as_likely() -> None:
    """One more point of the grid on either side; infinite at the ends of the grid."""
    prior = np.exp(-(LOG_ODDS**2) / 2) / np.exp(-(LOG_ODDS**2) / 2).sum()
    for counts in ((9, 12, 20, 60), (3, 3, 20, 60), (0, 9, 900, 1_000)):
        process, likelihood = EProcess.start(), np.exp(ratios(*counts))
        process.add(ratios(*counts))
        inside = np.flatnonzero((prior @ likelihood) / likelihood < 20)
        ends = [LOG_ODDS[inside[0] - 1] if inside[0] else -np.inf,
                LOG_ODDS[inside[-1] + 1] if inside[-1] < 96 else np.inf]  # fmt: skip
        assert process.log_odds_interval(0.05) == tuple(ends)


def test_a_comparison_that_appears_later_begins_at_1() -> None:
    processes, alone = EProcesses(), EProcess.start()
    processes.add({"a": (9.0, 10.0, 20.0, 60.0)})
    processes.add({"a": (9.0, 10.0, 20.0, 60.0), "b": (2.0, 6.0, 20.0, 60.0)})
    alone.add(ratios(2, 6, 20, 60))
    assert float(processes["b"].evalues) == approx(float(alone.evalues))
    assert [*processes.weights, processes.remaining] == approx([0.9, 0.05, 0.05])
