"""The cases that an audit's comparisons need, against a scan of every denominator with SciPy's tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import evenhand as eh
from evenhand.planning import Wanted, cases_needed


def found_with(k: int, theirs: int, of: int, rate: float, level: float, mid_p: bool = False) -> float:
    """The probability that Fisher's test finds a group's rate in the right direction."""
    a = np.arange(k + 1)
    # SciPy sums a tail term by term, and what has no probability needs none.
    a = a[binom.pmf(a, k, rate) > 1e-15]
    lower = rate < theirs / of
    tail = hypergeom.cdf(a, k + of, a + theirs, k) if lower else hypergeom.sf(a - 1, k + of, a + theirs, k)
    if mid_p:
        tail = tail - hypergeom.pmf(a, k + of, a + theirs, k) / 2
    return float(binom.pmf(a, k, rate)[2 * tail <= level].sum())


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
            if row.verdict is not eh.results.Verdict.TOO_FEW or row.metric in ("mcc", "equalized_odds"):
                assert row.needed is None
                continue
            cells = row.reference.cells
            assert cells is not None
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
        assert f"{few.needed - min(few.rests_on):,} more for tpr" in sentence
        assert "would find a gap of 0.1 (ratios: a factor of 1.25) with a probability of 80 %" in sentence
        assert eh.Audit.from_json(a.to_json()).rows == a.rows
