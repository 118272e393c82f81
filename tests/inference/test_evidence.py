"""Evidence over batches: a martingale by listing, closed testing by listing all sets, and alarms by simulation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pytest import approx
from scipy.stats import hypergeom, nchypergeom_fisher

from evenhand.inference import evidence
from evenhand.inference.evidence import LOG_ODDS, Evidence, Gathered, joint, log_ratios, started


def _ratios(a: int, of_a: int, b: int, of_b: int) -> Any:
    return log_ratios(*(np.array([float(value)]) for value in (a, of_a, b, of_b)))[0]


@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (3, 9, 4), (7, 30, 12), (20, 5, 10), (40, 400, 80)])
def test_ratios_are_those_of_the_noncentral_law(n: int, m: int, k: int) -> None:
    counts = np.arange(max(0, k - m), min(n, k) + 1)
    central = hypergeom.pmf(counts, n + m, k, n)
    for i in (0, 20, 48, 60, 96):
        noncentral = nchypergeom_fisher.pmf(counts, n + m, k, n, np.exp(LOG_ODDS[i]))
        found = [np.exp(_ratios(int(x), n, k - int(x), m)[i]) for x in counts]
        assert found == approx((noncentral / central).tolist(), rel=1e-6)


def test_wide_supports_are_summed_as_narrow_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [
        np.array(column, dtype=float) for column in ((300, 2, 900), (900, 700, 999), (800, 640, 1), (1_500, 650, 800))
    ]
    found = log_ratios(*counts)
    monkeypatch.setattr(evidence, "_POINTS_OF_WIDE", 10_000)
    assert found == approx(log_ratios(*counts), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("n", [10**6, 10**12])
def test_exchanging_group_and_reference_turns_the_odds_ratio_round(n: int) -> None:
    """At any size, and within the memory and the time of a small one."""
    counts = n // 3, n, n // 4, n
    assert _ratios(*counts) == approx(_ratios(*counts[2:], *counts[:2])[::-1], rel=1e-12, abs=1e-3)


def test_beside_a_large_reference_the_law_is_binomial() -> None:
    """The mean of exp(θK) is (1 - p + p exp(θ))^n."""
    expected = LOG_ODDS * 1_500 - 5_000 * np.log1p(0.3 * np.expm1(LOG_ODDS))
    assert _ratios(1_500, 5_000, 3 * 10**11, 10**12) == approx(expected, rel=1e-6, abs=1e-3)


def test_batches_in_which_nothing_can_be_learnt_change_nothing() -> None:
    """No cases on one side, or all counts at an end."""
    for counts in ((0, 0, 3, 9), (0, 5, 0, 9), (5, 5, 9, 9), (2, 4, 0, 0)):
        assert _ratios(*counts) == approx(np.zeros(len(LOG_ODDS)), abs=1e-12)
    gathered = Gathered()
    gathered.add(_ratios(0, 0, 3, 9))
    assert gathered.value == approx(1.0)


def test_the_mean_stays_1_over_two_batches() -> None:
    """All outcomes of two batches, each with a common rate of its own."""
    mean = 0.0
    for x in range(4):
        for y in range(3):
            gathered = Gathered()
            gathered.add(_ratios(x, 3, 5 - x, 8))
            gathered.add(_ratios(y, 2, 4 - y, 6))
            mean += hypergeom.pmf(x, 11, 5, 3) * hypergeom.pmf(y, 8, 4, 2) * gathered.value
    assert mean == approx(1.0, abs=1e-9)


def test_weights_of_beginnings_sum_to_1() -> None:
    """The weights up to batch b leave 1/2 (b + 1)^-1/2, which tends to 0."""
    weights = started(np.arange(1_000_000))
    assert weights.sum() == approx(1.0 - 0.5 * 1e6**-0.5)
    assert weights.min() > 0


@pytest.mark.parametrize("left", [0.0, 0.2])
def test_joint_evidence_is_the_smallest_mean_over_all_sets(left: float) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        values, weights = rng.exponential(3.0, 6), rng.uniform(0.1, 1.0, 6)
        members = [*zip(values, weights, strict=True), *([(1.0, left)] if left else [])]
        for i, found in enumerate(joint(values, weights, left)):
            others = [member for j, member in enumerate(members) if j != i]
            means = [
                sum(v * w for v, w in (members[i], *some)) / sum(w for _, w in (members[i], *some))
                for size in range(len(others) + 1)
                for some in combinations(others, size)
            ]
            assert found == approx(min(means))


def test_equal_processes_have_equal_joint_evidence() -> None:
    assert joint(np.array([5.0, 5.0, 1.0]), np.full(3, 0.3), 0.1).tolist() == approx(
        [(5 * 0.3 + 0.3 + 0.1) / 0.7] * 2 + [1.0]
    )


@pytest.mark.slow
def test_false_alarms_are_rare_however_often_one_looks() -> None:
    """12 groups over 60 looks, of sizes that follow the past, while the common rate drifts; the level is 5 %."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(40):
        evidence, sizes = Evidence(), np.full(12, 6)
        for week in range(60):
            rate = 0.5 + 0.4 * np.sin(week / 9)
            mine, theirs = rng.binomial(sizes, rate), rng.binomial(60, rate)
            evidence.add({i: (float(x), float(n), float(theirs), 60.0)
                          for i, (x, n) in enumerate(zip(mine, sizes, strict=True))})  # fmt: skip
            # A group grows after a good week.
            sizes = np.clip(sizes + np.where(mine > rate * sizes, 2, -2), 1, 30)
            if evidence.joint().max() >= 20:
                alarms += 1
                break
    assert alarms <= 4


def test_differences_are_found_soon_also_late_ones() -> None:
    rng = np.random.default_rng(2)
    for start, most in ((0, 12), (30, 22)):
        found = []
        for _ in range(20):
            gathered = Gathered()
            for week in range(start + 60):
                n = int(rng.integers(5, 31))
                a, b = rng.binomial(n, 0.5 + (0.2 if week >= start else 0.0)), rng.binomial(10 * n, 0.5)
                gathered.add(_ratios(a, n, b, 10 * n))
                if week >= start and gathered.value >= 20:
                    break
            found.append(week + 1 - start)
        assert np.median(found) <= most


def test_the_sequence_of_a_constant_odds_ratio_contains_it_at_every_look() -> None:
    rng = np.random.default_rng(8)
    left_out = 0
    for _ in range(60):
        gathered = Gathered()
        for _ in range(40):
            a, b = rng.binomial(12, 0.5), rng.binomial(60, 0.25)
            gathered.add(_ratios(a, 12, b, 60))
            low, high = gathered.log_odds(0.05)
            if not low <= np.log(3) <= high:
                left_out += 1
                break
        assert high - low < 2
    assert left_out <= 6


def test_a_comparison_that_appears_later_begins_at_1() -> None:
    evidence = Evidence()
    evidence.add({"a": (9.0, 10.0, 20.0, 60.0)})
    evidence.add({"a": (9.0, 10.0, 20.0, 60.0), "b": (2.0, 6.0, 20.0, 60.0)})
    alone = Gathered()
    alone.add(_ratios(2, 6, 20, 60))
    assert evidence["b"].value == approx(alone.value)
    assert evidence.weights.sum() + evidence.left == approx(1.0)
    assert evidence.weights.tolist() == approx([0.9, 0.05])
