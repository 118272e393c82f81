"""Exact tests of equal rates: the quick decision of Fisher's test against its tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from evenhand.inference import fisher, fisher_rejects


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize("scale", [3, 30, 3_000, 300_000])
def test_a_rejection_is_decided_as_the_whole_tail_decides_it(scale: int, mid_p: bool) -> None:
    """2 P(X <= a) <= alpha, with half of P(X = a) for the mid-p version."""
    rng = np.random.default_rng(scale)
    n = 2_000 if scale < 10_000 else 200
    of_a, of_b = rng.integers(1, scale + 2, n).astype(float), rng.integers(1, 10 * scale, n).astype(float)
    p = rng.random(n)
    b = rng.binomial(of_b.astype(int), p).astype(float)
    a = np.round(of_a * b / of_b - rng.normal(1.5, 1.5, n) * np.sqrt(of_a * p * (1 - p)))
    a, alpha = np.clip(a, 0, of_a), rng.choice([0.9, 0.31, 0.05, 0.001, 1e-5], n)
    tails = fisher(a, of_a, b, of_b)
    wanted = 2 * (tails.lower - (tails.at / 2 if mid_p else 0)) <= alpha * (1 + 1e-9)
    assert 0.05 < wanted.mean() < 0.95
    assert (fisher_rejects(a, of_a, b, of_b, alpha, mid_p) == wanted).all()


def test_a_p_value_that_equals_alpha_is_a_rejection_and_no_count_is_none() -> None:
    exact = 2 * hypergeom.cdf(3, 30, 15, 12)
    tables = np.array([3.0]), np.array([12.0]), np.array([12.0]), np.array([18.0])
    assert fisher_rejects(*tables, exact).all()
    assert not fisher_rejects(*tables, exact * (1 - 1e-6)).any()
    assert not fisher_rejects(np.array([-1.0]), *tables[1:], 0.9).any()
