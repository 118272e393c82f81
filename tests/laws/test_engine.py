"""The engine: every metric has a tree in which it is monotone, and tails against 50-digit arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import mpmath
import numpy as np
import pytest
from oracle import matrices
from pytest import approx

from evenhand import distribution, metric
from evenhand.laws import law_of, order_of, tails
from evenhand.metrics import CATALOGUE


def test_every_metric_has_a_tree_in_which_it_is_monotone() -> None:
    """Given the counts before the last, scores never fall as the last count moves in the metric's direction."""
    for m in CATALOGUE.one_group:
        order = order_of(m)
        for margin in range(8) if order.tree.margin else [0]:
            for side in range(margin + 1) if order.tree.side else [0]:
                last = np.arange(order.tree.last_size(7, margin) + 1)
                (part,), columns = order.parts, list(order.tree.cells(7.0, margin, side, last).T)
                with np.errstate(divide="ignore", invalid="ignore"):
                    scores = part.inside(columns)[~part.undefined(columns)]
                steps = np.diff(scores) * (1 if part.rises else -1)
                assert (steps >= -1e-15).all(), (m.key, margin, side)


def binomial_term(m: int, k: int, p: Any) -> Any:
    return mpmath.binomial(m, k) * p**k * (1 - p) ** (m - k)


@pytest.mark.parametrize("n", [50, 400, 3000])
def test_tails_of_a_share_keep_their_digits(n: int) -> None:
    p = mpmath.mpf(1) / 4
    d = distribution("acc", n, [0.25, 0.75, 0, 0])
    for k in (int(n * f) for f in (0.3, 0.4, 0.6, 0.8, 0.95)):
        exact = mpmath.fsum(binomial_term(n, i, p) for i in range(k + 1, n + 1))
        if exact > mpmath.mpf(10) ** -300:
            assert d.sf(k / n) == approx(float(exact), rel=1e-10, abs=0), k


@pytest.mark.parametrize(("n", "a", "k"), [(40, 9, 10), (200, 40, 41), (600, 110, 120), (600, 149, 150), (700, 3, 400)])
def test_tails_of_a_ratio_keep_their_digits(n: int, a: int, k: int) -> None:
    """P(TPR >= a/k) and P(TPR <= a/k), down to 1e-100 and less, with prevalence 1/4 and TPR 1/2, in integers."""
    high = low = 0
    row = [1]
    for m in range(1, n + 1):
        row = [1, *map(sum, pairwise(row)), 1]
        weight = comb(n, m) * 3 ** (n - m) * 2 ** (n - m)
        high += weight * sum(row[-(-a * m // k) :])
        low += weight * sum(row[: a * m // k + 1])
    defined = 8**n - 6**n
    order, law = order_of(metric("tpr")), law_of([0.125, 0.125, 0.375, 0.375], n)
    found = tails(order, law, order.threshold(np.array([a, k - a, n - k, 0.0])))
    assert found.above + found.at == approx(float(Fraction(high, defined)), rel=1e-8, abs=0)
    assert found.below + found.at == approx(float(Fraction(low, defined)), rel=1e-8, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(20, 0, 0, 20), (0, 20, 20, 0), (18, 2, 3, 17), (5, 15, 0, 20)])
def test_tails_of_mcc_keep_their_digits(cells: tuple[int, int, int, int]) -> None:
    """P(MCC >= s) and P(MCC <= s) by summing every matrix of 40 cases in 60 digits."""
    rates = [Fraction(1, 20), Fraction(7, 20), Fraction(8, 20), Fraction(4, 20)]
    n = sum(cells)
    logs = [mpmath.log(mpmath.mpf(r.numerator) / r.denominator) for r in rates]
    factorials = [mpmath.loggamma(i + 1) for i in range(n + 1)]

    def key(c: tuple[int, ...]) -> tuple[int, int]:
        tp, fn, fp, tn = c
        d = tp * tn - fp * fn
        return d * abs(d), (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)

    above, below = key(cells)
    high = low = defined = mpmath.mpf(0)
    for c in matrices(n):
        num, den = key(c)
        if den == 0:
            continue
        p = mpmath.exp(factorials[n] + sum(k * x - factorials[k] for k, x in zip(c, logs, strict=True)))
        defined += p
        high += p if num * below >= above * den else 0
        low += p if num * below <= above * den else 0
    order, law = order_of(metric("mcc")), law_of([float(r) for r in rates], n)
    found = tails(order, law, order.threshold(np.array(cells, dtype=np.float64)))
    assert found.above + found.at == approx(float(high / defined), rel=1e-8, abs=0)
    assert found.below + found.at == approx(float(low / defined), rel=1e-8, abs=0)
