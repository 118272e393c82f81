"""What is believed of true scores: against beta distributions, random draws and adaptive quadrature."""

from __future__ import annotations

from typing import Any, cast

import mpmath
import numpy as np
import pytest
from oracle import OF_ONE_RATE, OF_THREE_RATES, drawn_scores, score_of_draws
from pytest import approx
from scipy.stats import beta

from evenhand import ConfusionMatrix, interval, metric
from evenhand.inference.intervals import posterior, true_scores
from evenhand.laws import ROW_TREE, Belief, betas_of, confidence_of, posterior_of
from evenhand.metrics import CATALOGUE

one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)
DRAWS = 400_000
LEVELS = np.array([0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995])
# Small, empty, lopsided and large; where one row is known far better than the other, paths do not overlap.
MATRICES = [
    (3, 2, 1, 9),
    (0, 0, 0, 0),
    (0, 2, 0, 30),
    (1, 0, 0, 3),
    (400, 300, 250, 5000),
    (20, 20, 5, 100_000),
    (0, 100_000, 20, 20),
    (5, 1000, 0, 1),
    (0, 300, 1000, 1),
    (100_000, 2, 100_000, 300),
    (100_000, 3, 3, 0),
]


def quantiles(belief: Belief) -> Any:
    return np.stack([belief.end(q, above=False) for q in LEVELS], axis=1)


def leaves_out(found: Any, draws: Any, tail: float) -> None:
    """As much lies beyond either end; less, if the end was moved to keep the score itself inside."""
    for end, beyond in ((found.low, np.mean(draws < found.low)), (found.high, np.mean(draws > found.high))):
        assert beyond == approx(tail, abs=0.004) or (end == found.estimate and beyond < tail)


def test_every_metric_has_draws() -> None:
    assert {m.key for m in CATALOGUE.one_group} == {*OF_ONE_RATE, *OF_THREE_RATES, "mb", "markedness"}


@one_group
def test_posteriors_are_what_random_draws_give(m: Any) -> None:
    """P(S <= q-quantile) = q: exactly for scores of one rate, within 0.004 of 400,000 draws for the rest.

    Every split of the metric's own tree has a Beta(1/2, 1/2) prior.
    """
    found = quantiles(posterior(m, np.array(MATRICES, dtype=np.float64), 0.5))
    for cells, scores in zip(MATRICES, found, strict=True):
        if m.key in OF_ONE_RATE:
            counts, score = OF_ONE_RATE[m.key]
            a, b = counts(*cells)
            # Of odds, the log.
            scale = np.log if m.unbounded else np.asarray
            assert scale(scores) == approx(scale(score(beta.ppf(LEVELS, a + 0.5, b + 0.5))), rel=1e-6, abs=1e-9)
        else:
            draws = np.sort(drawn_scores(m.key, cells, 1, DRAWS))
            assert np.searchsorted(draws, scores) / DRAWS == approx(LEVELS, abs=0.004), cells


@one_group
def test_quantile_undoes_cdf_and_both_tails_add_up(m: Any) -> None:
    belief = posterior(m, np.array([(3.0, 2, 1, 9), (0, 2, 0, 30)]), 0.5)
    scores = quantiles(belief)
    assert (np.diff(scores) > 0).all()
    assert belief.cdf(scores) == approx(np.array([LEVELS, LEVELS]), abs=2e-4)
    assert belief.cdf(scores) + belief.sf(scores) == approx(1, rel=1e-12)
    assert belief.cdf(scores[1:], [1]) == approx(belief.cdf(scores)[1:], rel=1e-12)


@pytest.mark.parametrize(("key", "x"), [("informedness", 0.3), ("mb", -0.1), ("g_mean", 0.6)])
def test_quadrature_agrees_with_adaptive_quadrature(key: str, x: float) -> None:
    """P(S <= x) under the posterior of (3, 2, 1, 9), to 1e-4."""

    def density(a: float, b: float, t: Any) -> Any:
        return t ** (a - 1) * (1 - t) ** (b - 1) / mpmath.beta(a, b)

    def cdf(a: float, b: float, t: Any) -> Any:
        return mpmath.betainc(a, b, 0, min(max(t, 0), 1), regularized=True)

    with mpmath.workdps(20):
        if key == "mb":
            # E (2 f - 1) <= x with E ~ Beta(3.5, 12.5) and f ~ Beta(1.5, 2.5).
            expected = mpmath.quad(
                lambda e: density(3.5, 12.5, e) * cdf(1.5, 2.5, (x / e + 1) / 2) if e else 0, [0, -x, 0.3, 1]
            )
        elif key == "informedness":
            expected = mpmath.quad(lambda t: density(3.5, 2.5, t) * (1 - cdf(1.5, 9.5, t - x)), [0, x, 0.6, 1])
        else:
            expected = mpmath.quad(
                lambda t: density(3.5, 2.5, t) * (1 - cdf(1.5, 9.5, 1 - x * x / t)), [1e-9, x * x, 0.7, 1]
            )
    belief = posterior(cast("Any", metric(key)), np.array([(3.0, 2, 1, 9)]), 0.5)
    assert float(belief.cdf(np.array([[x]]))[0, 0]) == approx(float(expected), abs=1e-4)


@one_group
def test_the_prior_of_smoothing_is_a_dirichlet(m: Any) -> None:
    """With a reference and one strength, cells are Dirichlet(counts + strength * proportions)."""
    group, reference = ConfusionMatrix(3, 0, 1, 9), ConfusionMatrix(116, 177, 554, 2429)
    found = interval(group, m, level=0.9, reference=reference, strength=20)
    alpha = np.array(group.cells) + 20 * reference.proportions
    draws = score_of_draws(m.key, np.random.default_rng(3).dirichlet(alpha, DRAWS))
    leaves_out(found, draws, 0.05)


@pytest.mark.parametrize("key", ["tpr", "ppv", "acc", "f1", "mb", "mcc", "markedness", "lr_plus"])
def test_a_strength_per_split_is_a_beta_per_split(key: str) -> None:
    """Prevalence, TPR and FPR are Beta(counts + strength * the reference's rates), whatever tree the metric has."""
    group, reference = ConfusionMatrix(3, 0, 1, 9), ConfusionMatrix(100, 200, 300, 400)
    strength = {"prev": 7.0, "tpr": 20.0, "fpr": 4.0}
    found = interval(group, key, level=0.9, reference=reference, strength=strength)
    rng = np.random.default_rng(3)
    prev = rng.beta(3 + 7 * 0.3, 10 + 7 * 0.7, DRAWS)
    tpr = rng.beta(3 + 20 / 3, 0 + 40 / 3, DRAWS)
    fpr = rng.beta(1 + 4 * 3 / 7, 9 + 4 * 4 / 7, DRAWS)
    cells = [prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)]
    draws = score_of_draws(key, np.stack(cells, axis=-1))
    leaves_out(found, draws, 0.05)


def test_pseudo_counts_go_to_sides_or_to_cells() -> None:
    """A number is added on either side of each split; four numbers are added to the cells before they are split."""
    cells = np.array([[3.0, 2, 1, 9]])
    assert betas_of(ROW_TREE, cells, 0.5).tolist() == [[[5.5, 10.5], [3.5, 2.5], [1.5, 9.5]]]
    assert betas_of(ROW_TREE, cells, np.array([1.0, 2, 3, 4])).tolist() == [[[8, 17], [4, 4], [4, 13]]]
    tpr = cast("Any", metric("tpr"))
    direct = quantiles(posterior_of(tpr, betas_of(tpr.tree, cells, 0.5)))
    by_rows = quantiles(posterior_of(tpr, betas_of(ROW_TREE, cells, 0.5), ROW_TREE))
    assert by_rows == approx(direct, abs=2e-3)


@one_group
def test_confidence_is_what_random_draws_give(m: Any) -> None:
    """Both tails, what is undefined in each, within 0.005 of 400,000 draws of mid-p rates; atoms are drawn exactly."""
    for cells in [(3, 2, 1, 9), (0, 2, 5, 30), (3, 2, 0, 30), (5, 0, 0, 5), (1, 0, 0, 9), (40, 3, 20, 5000)]:
        belief = true_scores(m, np.array([cells], dtype=np.float64))
        drawn = drawn_scores(m.key, cells, 7, DRAWS, prior=None)
        undefined = np.isnan(drawn)
        assert belief.undefined[0] == approx(np.mean(undefined), abs=0.005), cells
        for score in np.quantile(drawn[np.isfinite(drawn)], [0.02, 0.1, 0.4, 0.8, 0.97]):
            at = np.array([score])
            near = 1e-9 * max(1.0, abs(score))
            with np.errstate(invalid="ignore"):
                tails = (
                    np.mean((drawn <= score + near) | undefined),
                    np.mean((drawn >= score - near) | undefined),
                )
            found = belief.tail(at + near, above=False)[0], belief.tail(at - near, above=True)[0]
            assert found == approx(tails, abs=0.005), (cells, score)


@pytest.mark.parametrize(("part", "of"), [(0, 7), (1, 7), (3, 7), (7, 7), (0, 1), (0, 0)])
def test_a_rate_counts_low_high_or_both(part: int, of: int) -> None:
    """Clopper and Pearson's limits, and those of the even mixture of their laws."""
    tpr = cast("Any", metric("tpr"))
    cells = np.array([(part, of - part, 0, 0)], dtype=np.float64)
    low = beta.ppf(0.025, part, of - part + 1) if part else 0.0
    high = beta.ppf(0.975, part + 1, of - part) if part < of else 1.0
    assert confidence_of(tpr, cells, "low").end(0.025, above=False)[0] == approx(low, abs=1e-12)
    assert confidence_of(tpr, cells, "high").end(0.025, above=True)[0] == approx(high, abs=1e-12)
    ends = [confidence_of(tpr, cells, "mid").end(0.025, above)[0] for above in (False, True)]
    for end, beyond in zip(ends, ("cdf", "sf"), strict=True):
        mixed = [
            getattr(beta(part, of - part + 1), beyond)(end) if part else float(beyond == "cdf" or end <= 0),
            getattr(beta(part + 1, of - part), beyond)(end) if part < of else float(beyond == "sf" or end >= 1),
        ]
        assert np.mean(mixed) == approx(0.025, abs=1e-9) or end in (0.0, 1.0)


def test_a_score_that_is_mostly_undefined_has_no_ends() -> None:
    """Nothing but true negatives: MCC is undefined in half of all that counts is possible."""
    found = interval(ConfusionMatrix(0, 0, 0, 10), "mcc")
    assert (found.low, found.high) == (-1.0, 1.0)


def test_ratios_without_false_positives_have_no_upper_end() -> None:
    found = interval(ConfusionMatrix(5, 1, 0, 10), "lr_plus")
    assert found.high == float("inf") and 1 < found.low < 20


@pytest.mark.parametrize("cells", [(0, 10, 2, 0), (0, 8, 4, 0), (0, 20, 3, 0), (0, 5, 5, 0)])
def test_kappa_of_errors_only_is_what_random_draws_give(cells: tuple[int, int, int, int]) -> None:
    """If TPR is 0 and FPR 1, kappa falls and rises with the prevalence."""
    drawn = drawn_scores("kappa", cells, 5, 400_000, None)
    belief = confidence_of(metric("kappa").base, np.array([cells], dtype=float), "mid")
    for q in (0.01, 0.025, 0.3, 0.7, 0.975):
        assert belief.tail(np.quantile(drawn, [q]), above=False)[0] == pytest.approx(q, abs=0.004)
