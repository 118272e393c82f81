"""Tables of scores made of several rates: against means of incomplete betas, and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest import approx
from scipy.special import betainc, betaincinv

from evenhand import metric
from evenhand.inference.intervals import posterior, true_scores
from evenhand.laws import confidence_of
from evenhand.laws.score_tables import slopes_of
from evenhand.metrics import CATALOGUE

SEVERAL = [m for m in CATALOGUE.one_group if m.curve is None]
LEVELS = np.array([1e-4, 0.025, 0.2, 0.5, 0.8, 0.975, 1 - 1e-4])


def mcc_root(r: Any, p: Any, t: Any) -> Any:
    """The FPR at which MCC is r: (1 - p) p (t - f)² = r² s (1 - s) with s = p t + (1 - p) f."""
    q = 1 - p
    a, b, c = (
        p * q + (r * q) ** 2,
        -2 * p * q * t - r * r * q * (1 - 2 * p * t),
        p * q * t * t - r * r * p * t * (1 - p * t),
    )
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0))
    return (-b - np.sign(r) * root) / (2 * a)


def kappa_root(r: Any, p: Any, t: Any) -> Any:
    """The FPR at which kappa is r."""
    q = 1 - p
    return (2 * p * q * t - r * p * (1 + t * (q - p))) / (q * (2 * p + r * (q - p)))


def informedness_root(r: Any, p: Any, t: Any) -> Any:
    return t - r + 0 * p


def f2_root(r: Any, p: Any, t: Any) -> Any:
    """5 TP = r (5 TP + 4 FN + FP)."""
    return (5 * p * t * (1 - r) - 4 * r * p * (1 - t)) / (r * (1 - p))


ROOTS = {"mcc": mcc_root, "kappa": kappa_root, "informedness": informedness_root, "f2": f2_root}


def nodes(betas: list[tuple[float, float]], count: int) -> tuple[Any, Any]:
    """Rates and weights of an even mixture of betas: Gauss and Legendre's, denser at the ends."""
    t, w = np.polynomial.legendre.leggauss(count)
    t, w = (t + 1) / 2, w / 2
    u, w = t**3 * (10 - 15 * t + 6 * t * t), 30 * w * (t * (1 - t)) ** 2
    rates = np.concatenate([np.clip(betaincinv(a, b, u), 1e-15, 1 - 1e-15) for a, b in betas])
    return rates, np.tile(w, len(betas)) / len(betas)


def exact(key: str, splits: list[list[tuple[float, float]]], scores: Any) -> list[float]:
    """P(S <= r): the mean over prevalence and TPR of the probability that FPR exceeds the root."""
    (prev, wp), (tpr, wt) = (nodes(betas, 150) for betas in splits[:2])
    found = []
    for r in scores:
        root = np.clip(ROOTS[key](r, prev[:, None], tpr), 0, 1)
        found.append(float(wp @ np.mean([betainc(b, a, 1 - root) for a, b in splits[2]], axis=0) @ wt))
    return found


def middle(part: int, rest: int) -> list[tuple[float, float]]:
    return [(part, rest + 1), (part + 1, rest)]


@pytest.mark.many
@pytest.mark.parametrize("key", ROOTS)
@pytest.mark.parametrize(
    ("cells", "error"),
    [((12, 8, 5, 40), 1e-4), ((400, 300, 250, 5000), 1e-4), ((60, 5, 4, 80), 1e-4), ((30, 2, 3, 9), 5e-4)],
)
def test_a_table_is_a_mean_of_incomplete_betas(key: str, cells: tuple[int, int, int, int], error: float) -> None:
    """P(S <= r) = E P(FPR >= f(r, prevalence, TPR)), the confidence distributions of all three being mid-p."""
    tp, fn, fp, tn = cells
    belief = true_scores(metric(key).base, np.array([cells], dtype=float))
    scores = np.array([belief.end(q, above=False)[0] for q in LEVELS])
    splits = [middle(tp + fn, fp + tn), middle(tp, fn), middle(fp, tn)]
    assert exact(key, splits, scores) == approx(LEVELS, abs=error)
    assert belief.cdf(scores[None])[0] == approx(LEVELS, abs=1e-5)


@pytest.mark.parametrize("key", ROOTS)
@pytest.mark.parametrize("cells", [(1, 2, 1, 9), (0, 2, 5, 3), (0, 0, 0, 7)])
def test_a_table_of_nearly_empty_cells_is_one_too(key: str, cells: tuple[int, int, int, int]) -> None:
    """The same for the posterior with Beta(1, 1) priors, within 2e-3."""
    tp, fn, fp, tn = cells
    belief = posterior(metric(key).base, np.array([cells], dtype=float), 1.0)
    scores = np.array([belief.end(q, above=False)[0] for q in LEVELS[1:-1]])
    splits: list[Any] = [[(a + 1, b + 1)] for a, b in ((tp + fn, fp + tn), (tp, fn), (fp, tn))]
    positive = scores > 0.02
    assert np.array(exact(key, splits, scores[positive])) == approx(LEVELS[1:-1][positive], abs=2e-3)


@pytest.mark.parametrize("m", SEVERAL, ids=lambda m: m.key)
@pytest.mark.parametrize("end", ["low", "mid"])
def test_matrices_together_are_as_they_are_alone(m: Any, end: Any) -> None:
    """Whatever a matrix is computed with, its tails are the same."""
    counts = [
        (3, 2, 1, 9),
        (0, 2, 0, 30),
        (12, 8, 5, 40),
        (5, 0, 0, 5),
        (7, 9, 6, 8),
        (0, 0, 0, 1),
        (10**9, 5, 10**6, 7),
    ]
    cells = np.array(counts, dtype=float)
    scores = np.linspace(0.05, 3.0, 7) if m.unbounded else np.linspace(m.low + 0.05, 0.95, 7)
    together = confidence_of(m, cells, end)
    at = np.tile(scores, (len(cells), 1))
    below, above = together.cdf(at), together.sf(at)
    for row, one in enumerate(counts):
        alone = confidence_of(m, np.array([one], dtype=float) * 1.0, end)
        assert below[row] == approx(alone.cdf(scores[None])[0], abs=1e-12), one
        assert together.undefined[row] == alone.undefined[0]
    assert below + above + together.atoms.masses.sum(axis=1)[:, None] + together.undefined[:, None] == approx(
        1, abs=1e-4
    )


def test_slopes_say_in_which_rates_a_score_is_monotone() -> None:
    """MCC rises with TPR, falls with FPR, and does both with prevalence."""
    mcc, lr = metric("mcc").base, metric("lr_plus").base
    assert slopes_of(mcc, mcc.tree) == (0, 1, -1)
    assert slopes_of(lr, lr.tree) == (0, 1, -1)
