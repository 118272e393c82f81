"""Counts of 0, 1 and 10**12, probabilities below every normal float, priors and strengths at both ends of their range.

Whatever is answered is finite or said to be undefined, lies in its range, rises where it must, and adds up to 1.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import isfinite, isnan
from typing import Any

import numpy as np
import pytest
from matrices import matrix
from pytest import approx

import evenhand as eh

KEYS = [m.key for m in eh.list_metrics() if m.groups == 1]
HUGE = 10**12
TINY = 5e-324
SHARES = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 1.0],
    [1e-75, 0.0, 0.0, 1.0],
    [0.5, 1e-75, 1e-70, 0.5],
    [1e-17, 1e-75, 1e-75, 1.0],
]
COUNTS = [(0, 0, 0, HUGE), (1, 0, 0, HUGE), (HUGE, 1, 0, 0), (HUGE, HUGE, 1, HUGE), (0, HUGE, HUGE, 1), (0, 0, 0, 1)]


@pytest.mark.many(6)
@pytest.mark.parametrize("key", KEYS)
def test_a_distribution_of_vanishing_probabilities_is_a_distribution(key: str) -> None:
    """0 <= F <= 1 rises, F + (1 - F) = 1 given that the score is defined, and quantiles rise within the range."""
    m = eh.metric(key)
    low, high = m.range
    at = [-1.0, -0.5, 0.0, TINY, 0.25, 0.5, 1 - 2**-53, 1.0, 2.0]
    for shares in SHARES:
        d = eh.distribution(key, 3, shares)
        assert 0 <= d.p_undefined <= 1
        if d.p_undefined == 1:
            continue
        below, above, exactly = (np.asarray(f(at), dtype=float) for f in (d.cdf, d.sf, d.pmf))
        assert np.isfinite([below, above, exactly]).all(), shares
        assert (np.diff(below) >= -1e-15).all()
        assert ((below >= 0) & (below <= 1 + 1e-12) & (exactly >= 0)).all()
        assert below + above == approx(1.0, abs=1e-12)
        quantiles = np.asarray(d.quantile([0, 1e-300, 0.5, 1]), dtype=float)
        assert (np.diff(quantiles) >= 0).all() and (quantiles >= low).all() and (quantiles <= high).all()


@pytest.mark.parametrize("key", KEYS)
def test_intervals_of_extreme_counts_hold_the_score_and_lie_in_the_range(key: str) -> None:
    low, high = eh.metric(key).range
    for counts, (level, prior) in product(COUNTS[1:4], [(0.95, 0.5), (1 - 1e-12, 1e-3)]):
        found = eh.interval(eh.ConfusionMatrix.from_array(counts), key, level, prior=prior)
        assert low <= found.low <= found.high <= high, counts
        if not isnan(found.estimate):
            slack = 1e-9 * max(1.0, abs(found.estimate) if isfinite(found.estimate) else 1.0)
            assert found.low - slack <= found.estimate <= found.high + slack, counts


@pytest.mark.parametrize("strength", [0, 1e-9, 1.0, 1e9, {"prev": 0, "tpr": 1e-9, "fpr": 1e9}])
def test_smoothing_extreme_counts_keeps_their_total(strength: Any) -> None:
    """Cells are never negative, and add up to the number of cases."""
    for group, reference in product(COUNTS, COUNTS):
        cm = eh.ConfusionMatrix.from_array(group)
        smoothed = eh.cross_prior_smooth(cm, eh.ConfusionMatrix.from_array(reference), strength)
        assert all(cell >= 0 and isfinite(cell) for cell in smoothed.cells)
        assert smoothed.n == approx(cm.n, rel=1e-12)


@pytest.mark.parametrize("key", ["tpr", "ppv", "acc", "f1", "ppr"])
def test_one_sided_p_values_of_extreme_counts_cover_everything(key: str) -> None:
    """P(S <= s) + P(S >= s) >= 1, and each is a probability."""
    for group, reference in product([(1, 2, 0, 3), (0, 1, 1, 0), (3, 0, 0, 0)], COUNTS):
        sides = [
            eh.match_test(matrix(*group), matrix(*reference), key, alternative=side) for side in ("less", "greater")
        ]
        if sides[0].reason is None and not isnan(sides[0].pvalue):
            assert all(0 <= side.pvalue <= 1 for side in sides)
            assert sides[0].pvalue + sides[1].pvalue >= 1 - 1e-9


@pytest.mark.parametrize("key", KEYS)
def test_more_cases_are_never_more_often_without_a_denominator(key: str) -> None:
    """P(undefined) lies in [0, 1]; for a score that needs parts that are not empty, it falls as n grows."""
    m = eh.metric(key)
    for shares in SHARES:
        chances = [eh.undefined_probability(key, n, shares) for n in (0, 1, 2, 30)]
        assert all(0 <= chance <= 1 for chance in chances)
        if m.shape in ("share", "ratio"):
            assert all(more <= less + 1e-15 for less, more in pairwise(chances))


def untyped(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.distribution("tpr", 3, [TINY, 0, 0, 1]), "tp must be 0 or at least 1e-75; got 4.94066e-324"),
        (lambda: eh.interval(matrix(1, 0, 0, 7), "pt", prior=1e-16),
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 1e-16"),
        (lambda: eh.cross_prior_smooth(matrix(1, 2, 3, 4), matrix(4, 3, 2, 1), TINY),
         "strength must be 0 or a number of cases from 1e-9 to 1e9, one per split, or 'auto'; got 5e-324"),
    ],
)  # fmt: skip
def test_what_is_too_extreme_to_compute_with_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as found:
        call()
    assert str(found.value) == sentence


def test_a_margin_of_next_to_nothing_is_a_margin() -> None:
    """Its inverse is larger than any float."""
    audit = eh.audit_counts({"A": (2, 2, 3, 20), "B": (7, 3, 1, 4)}, metrics=["tpr", "dor", "lr_plus"], margin=TINY)
    assert not any(row.verdict.value == "equivalent" for row in audit.rows)
