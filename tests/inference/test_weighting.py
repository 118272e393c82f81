"""Design effects of weights, against loops over cases."""

from __future__ import annotations

from math import isclose

import numpy as np

from evenhand.inference import weighting_effects
from evenhand.metrics import metric

CELLS = ("tp", "fn", "fp", "tn")
RATES = {"acc": ("tp tn", "tp fn fp tn"), "tpr": ("tp", "tp fn"), "ppv": ("tp", "tp fp"), "fpr": ("fp", "fp tn")}


def sums(cases: list[tuple[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Sums of weights, and of squared weights, by cell."""
    return tuple(np.array([[sum(w**power for cell, w in cases if cell == name) for name in CELLS]]) for power in (1, 2))  # type: ignore[return-value]


def test_the_effect_is_the_larger_of_kish_and_of_the_linearised_variance() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 30))
        cases = list(zip(rng.choice(CELLS, n), rng.uniform(0.1, 20, n), strict=True))
        for key, (successes, denominator) in RATES.items():
            counted = [(cell in successes.split(), w) for cell, w in cases if cell in denominator.split()]
            total = sum(w for _, w in counted)
            effect = weighting_effects(metric(key).base, *sums(cases))[0]
            if not counted:
                assert effect == 1
                continue
            rate = sum(w for success, w in counted if success) / total
            kish = sum(w * w for _, w in counted) / total
            variance = sum((w * (success - rate)) ** 2 for success, w in counted) / total**2
            expected = max(kish, variance / (rate * (1 - rate)) * total) if 0 < rate < 1 else kish
            assert isclose(effect, expected, rel_tol=1e-9)


def test_equal_weights_have_the_effect_of_one_weight() -> None:
    for key in ("acc", "tpr", "f1", "mcc", "kappa"):
        for weight in (1.0, 4.0):
            cells = np.array([[9.0, 4, 3, 20]])
            effect = weighting_effects(metric(key).base, cells * weight, cells * weight**2)
            assert isclose(effect[0], weight, rel_tol=1e-6)


def test_mcc_is_moved_by_heavy_errors_more_than_kish_says() -> None:
    cells, squares = np.array([[40.0, 20, 10, 100]]), np.array([[40.0, 400, 10, 100]])
    kish = squares.sum() / cells.sum()
    assert weighting_effects(metric("mcc").base, cells, squares)[0] > 1.5 * kish
