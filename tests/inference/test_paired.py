"""Two models on the same cases: pairs counted by hand, and McNemar's test by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.integrate import quad
from scipy.stats import beta, binomtest

from evenhand import metric
from evenhand.errors import InvalidInput
from evenhand.inference import change_intervals, count_pairs, mcnemar_pvalues

SUCCESS: dict[str, Callable[[int, int], bool | None]] = {
    "acc": lambda y, p: y == p,
    "inacc": lambda y, p: y != p,
    "ppr": lambda y, p: p == 1,
    "tpr": lambda y, p: p == 1 if y else None,
    "fnr": lambda y, p: p == 0 if y else None,
    "fpr": lambda y, p: None if y else p == 1,
    "tnr": lambda y, p: None if y else p == 0,
}
case = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))


@given(cases=st.lists(case, max_size=12))
@settings(max_examples=25, deadline=None)
def test_pairs_are_those_of_counting_by_hand(cases: list[tuple[int, int, int]]) -> None:
    joint = np.zeros((2, 2, 2))
    for label_and_predictions in cases:
        joint[label_and_predictions] += 1
    for key, success in SUCCESS.items():
        outcomes = [(success(y, a), success(y, b)) for y, a, b in cases if success(y, a) is not None]
        pairs = count_pairs(metric(key), joint)
        kinds = [(True, True), (True, False), (False, True), (False, False)]
        assert pairs.tolist() == [outcomes.count(kind) for kind in kinds]


def test_mcnemars_test_is_a_binomial_test_of_the_disagreements() -> None:
    for pairs in ((20, 3, 9, 4), (0, 0, 5, 1), (5, 1, 1, 5), (100, 44, 61, 7), (0, 30, 2, 0)):
        expected = binomtest(pairs[1], pairs[1] + pairs[2]).pvalue
        assert mcnemar_pvalues(np.array([pairs[2]]), np.array([pairs[1]])) == approx(expected)
    assert mcnemar_pvalues(np.array([0.0]), np.array([0.0])) == 1


def test_intervals_of_changes_are_fay_and_lumbards_by_adaptive_quadrature() -> None:
    """P(T (2 W - 1) <= lower limit) is the tail, integrated over T; the upper limit mirrors it."""
    tables = [(12, 3, 40), (3, 12, 40), (0, 0, 10), (5, 0, 5), (0, 7, 9), (61, 19, 500), (30, 5, 231), (1, 1, 2)]
    wins, losses, n = np.array(tables, dtype=float).T
    for level in (0.9, 0.95, 0.999):
        low, high = change_intervals(wins, losses, n, level)
        mirrored, _ = change_intervals(losses, wins, n, level)
        assert (high == -mirrored).all() and ((low <= (wins - losses) / n) & ((wins - losses) / n <= high)).all()
        for (w, x, cases), limit in zip(tables, low, strict=True):
            if w == 0 or x == 0 or w + x == cases:
                continue
            d = w + x
            share = beta(d, cases - d + 1) if limit > 0 else beta(d + 1, cases - d)

            def reached(t: float, w: int = w, x: int = x, limit: float = limit, share: Any = share) -> float:
                return float(beta(w, x + 1).cdf((1 + limit / t) / 2) * share.pdf(t))

            assert quad(reached, 0, 1, points=[abs(limit), d / cases], limit=400)[0] == approx(
                (1 - level) / 2, rel=1e-6
            )


def test_an_interval_of_a_change_excludes_none_exactly_if_mcnemars_test_rejects() -> None:
    n = 25.0
    for w in range(16):
        for x in range(10):
            wins, losses = np.array([float(w)]), np.array([float(x)])
            low, high = change_intervals(wins, losses, np.array([n]), 0.95)
            assert bool(low > 0 or high < 0) == bool(mcnemar_pvalues(wins, losses) < 0.05), (w, x)


def test_rates_whose_cases_depend_on_the_model_are_refused() -> None:
    for key in ("ppv", "f1", "mcc", "prev", "equal_opportunity"):
        with pytest.raises(InvalidInput) as refusal:
            count_pairs(metric(key), np.ones((2, 2, 2)))
        assert str(refusal.value) == (
            f"{key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or "
            "what these leave to 1"
        )
