"""Quantiles of distributions with too many scores to list."""

from __future__ import annotations

from math import ceil, nan
from typing import Any

import numpy as np
import pytest
from pytest import approx

from evenhand import ConfusionMatrix, distribution
from evenhand.laws.engine import scores_between
from evenhand.laws.quantiles import Bracket, brackets
from evenhand.metrics import CATALOGUE

LEVELS = np.array([0.001, 0.025, 0.3, 0.5, 0.77, 0.975, 0.9999])
REFERENCE = ConfusionMatrix(30, 10, 12, 48)


@pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
def test_a_search_finds_what_a_list_shows(m: Any) -> None:
    """The smallest s with P(S <= s) >= q, by looking at cumulative probabilities and in the sorted list of scores."""
    d = distribution(m, n=23, reference=REFERENCE)
    assert d._search(LEVELS) == approx(d.quantile(LEVELS), rel=2e-12, abs=2e-12)
    assert d._search(np.zeros(1))[0] == approx(d.support[0], abs=2e-12)


@pytest.mark.slow
def test_a_search_serves_two_groups_one_case_and_prediction() -> None:
    for d in (
        distribution("mcc", n=9, reference=REFERENCE, law="predictive"),
        distribution("ofi", n=(9, 14)),
        distribution("tpr", n=1),
        distribution("tpr", n=8, reference=[0, 1, 0, 0]),
    ):
        assert d._search(LEVELS) == approx(d.quantile(LEVELS), rel=2e-12, abs=2e-12)


@pytest.mark.parametrize(("key", "n"), [("tpr", 10**5), ("mcc", 1_000)])
def test_a_quantile_is_the_smallest_score_that_reaches_its_level(key: str, n: int) -> None:
    """P(S <= s) >= q > P(S <= s - 2e-12), where not all scores can be listed."""
    d = distribution(key, n=n, reference=REFERENCE)
    for q, s in zip((0.025, 0.9), d.quantile([0.025, 0.9]), strict=True):
        assert d.cdf(s + 1e-12) >= q > d.cdf(s - 2e-12)


@pytest.mark.parametrize("key", ["tpr", "f1", "mcc", "pt", "mb", "lr_plus", "kappa"])
def test_scores_between_two_are_a_part_of_all(key: str) -> None:
    """The scores s with a < s <= b and the sum of their probabilities, from the list of all scores."""
    d: Any = distribution(key, n=17, reference=REFERENCE)
    a, b = d.quantile([0.2, 0.6])
    scores, weights = scores_between(d.order, d.law, a, b)
    inside = (d.support > a + 1e-12) & (d.support <= b + 1e-12)
    assert np.unique(scores.round(11)) == approx(np.unique(d.support[inside].round(11)))
    assert weights.sum() == approx(d.probabilities[inside].sum() * (1 - d.p_undefined))


@pytest.mark.parametrize("stairs", [3, 1_000, 10**7])
def test_brackets_close_on_the_step_that_reaches_the_level(stairs: int) -> None:
    """P(S <= s) = floor(s k) / k, so the quantile is ceil(q k) / k, found in a few dozen looks."""

    def cdf(score: float) -> float:
        return float(np.floor(score * stairs + 1e-9) / stairs)

    *_, last = found = list(brackets(cdf, 0.3217, Bracket(0.0, 1.0, nan, nan), 0.9, 0.001))
    assert last.high == approx(ceil(0.3217 * stairs) / stairs, abs=1e-9)
    assert all(one.low < one.high for one in found) and len(found) < 70
