"""Jaggedness: quantiles of all matrices, and the way back and forth."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import oracle
import pytest
from oracle import matrices
from pytest import approx

import evenhand as eh
from evenhand.errors import InvalidInput, TooLarge
from evenhand.metrics import ONE_GROUP_METRICS

LARGE = eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
ONE_GROUP = [m.key for m in ONE_GROUP_METRICS]


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
    shares = {m.key for m in ONE_GROUP_METRICS if m.shape == "share"}
    assert min(totals[key] for key in shares) > 2 * max(total for key, total in totals.items() if key not in shares)


def test_impossible_or_costly_requests_are_refused_before_the_work() -> None:
    two = "n must contain at least two sample sizes at which acc can be defined"
    for key, n, sentence in [
        ("acc", [5], two),
        ("acc", 5, two),
        ("acc", [], "n must contain at least one sample size"),
        ("acc", [10**19, 10**19 + 1], f"n must be a whole number from 0 to {10**15:,}; got {10**19}"),
        ("mcc", [10**6, 10**6 + 1], "quantiles of mcc at these sizes need about 1,458,486,094,002 "
         "matrices, more than the limit of 20,000,000; choose fewer or smaller sizes in n"),
    ]:  # fmt: skip
        with pytest.raises((InvalidInput, TooLarge)) as refusal:
            eh.jaggedness(key, LARGE, n)  # type: ignore[arg-type]
        assert str(refusal.value) == sentence
