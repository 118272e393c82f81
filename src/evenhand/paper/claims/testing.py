"""Claims about the MATCH test and the distributions behind it (Section 5, Appendices D and E)."""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtr

import evenhand as eh

from ..study import Study
from .claim import Claim, Outcome, graded

__all__ = ["TESTING"]

Floats = NDArray[np.float64]


def _listed(key: str, n: int, p: list[float]) -> tuple[list[float], list[float]]:
    """Scores and probabilities of all matrices on which the metric is defined, by listing them."""
    m = eh.metric(key)
    scores, weights = [], []
    for tp, fn, fp, tn in eh.enumerate_matrices(n).tolist():
        score = m([tp, fn, fp, tn])
        ways = comb(n, tp) * comb(n - tp, fn) * comb(n - tp - fn, fp)
        if score == score:
            scores.append(float(score))
            weights.append(ways * p[0] ** tp * p[1] ** fn * p[2] ** fp * p[3] ** tn)
    return scores, weights


def _largest_gap(key: str, p: list[float], n: int) -> float:
    scores, weights = (np.array(found) for found in _listed(key, n, p))
    exact = eh.distribution(key, n, p)
    at = np.unique(scores)
    listed = [weights[scores <= s + 1e-12].sum() / weights.sum() for s in at]
    return float(np.abs(listed - exact.cdf(at)).max())


def binomial_cdf(study: Study) -> Outcome:
    p = [0.1, 0.2, 0.3, 0.4]
    gap = max(_largest_gap(key, p, 9) for key in ("acc", "prev", "ppr"))
    return graded(gap < 1e-12, f"against listing all matrices of n = 9: largest difference {gap:.0e}")


def benefit_cdf(study: Study) -> Outcome:
    gap = max(_largest_gap("mb", p, 9) for p in ([0.1, 0.2, 0.3, 0.4], [0.4, 0.05, 0.05, 0.5]))
    return graded(gap < 1e-12, f"against listing all matrices of n = 9: largest difference {gap:.0e}")


def benefit_symmetry(study: Study) -> Outcome:
    d = eh.distribution("mb", 20, [0.3, 0.15, 0.15, 0.4])
    gap = float(np.abs(d.pmf(d.support) - d.pmf(-d.support)).max())
    return graded(gap < 1e-14, f"n = 20, p_FP = p_FN = 0.15: P(s) and P(−s) differ by at most {gap:.0e}")


def normal_for_shares(study: Study) -> Outcome:
    worst, factor = 0.0, 1.0
    for n in (20, 50, 100, 500):
        for p in (0.01, 0.05, 0.1, 0.25, 0.5):
            if n * p < 5:
                continue
            masses = _accuracies(n, p)
            upper = np.cumsum(masses[::-1])[::-1] - masses
            z = (np.arange(n + 1) + 0.5 - n * p) / sqrt(n * p * (1 - p))
            worst = max(worst, float(np.abs(ndtr(z) - np.cumsum(masses)).max()))
            tail = (upper > 1e-6) & (upper < 0.01)
            factor = min(factor, float((ndtr(-z)[tail] / upper[tail]).min(initial=1.0)))
    return graded(
        worst < 0.05 and factor > 0.5,
        f"on a grid with np ≥ 5 and nq ≥ 5 cumulative probabilities err by at most {worst:.4f}; upper tails between "
        f"1e-6 and 0.01 come out as little as {factor:.4f} of their true value, so no p-value should rest on it",
        given=worst < 0.05,
    )


def _accuracies(n: int, p: float) -> Floats:
    """P(ACC = k/n) for k = 0..n, where each case is right with probability p."""
    d = eh.distribution("acc", n, [p / 2, (1 - p) / 2, (1 - p) / 2, p / 2])
    masses = np.zeros(n + 1)
    masses[np.rint(d.support * n).astype(int)] = d.probabilities
    return masses


def worked_example(study: Study) -> Outcome:
    d = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375])
    at_most, below = d.cdf(0.8), d.cdf(0.79)
    return graded(
        round(at_most, 2) == round(below, 2) == 0.90,
        f"P(S ≤ 0.80) = {at_most:.6f}, so 0.90 is right for scores up to 0.80; the score is higher than "
        f"P(S < 0.80) = {below:.6f} of the outcomes",
        given=round(at_most, 2) == 0.90,
    )


def benefit_normal(study: Study) -> Outcome:
    n, plus, minus, k = 100, 0.2, 0.1, 10
    exact = eh.distribution("mb", n, [0.3, minus, plus, 0.4]).cdf(k / n)
    sd = sqrt(plus + minus - (plus - minus) ** 2)
    printed = ndtr((k - (plus - minus)) / sd)
    right = ndtr((k + 0.5 - n * (plus - minus)) / (sd * sqrt(n)))
    return graded(
        abs(printed - exact) < 0.01,
        f"n = 100, p_FP = 0.2, p_FN = 0.1, FP − FN = 10: exact {exact:.6f}, as printed {printed:.6f}; with the mean "
        f"and variance of the sum and +0.5 it is {right:.6f}",
    )


def benefit_correction(study: Study) -> Outcome:
    n, plus, minus, k = 100, 0.2, 0.1, 10
    exact = eh.distribution("mb", n, [0.3, minus, plus, 0.4]).cdf(k / n)
    sd = sqrt(n * (plus + minus - (plus - minus) ** 2))
    plain, corrected = (ndtr((k + c - n * (plus - minus)) / sd) for c in (0.0, 0.5))
    return graded(
        abs(plain - exact) <= abs(corrected - exact),
        f"with the right mean and variance: exact {exact:.6f}, without correction {plain:.6f}, with +0.5 on FP − FN "
        f"{corrected:.6f}; the difference is one whole number, and its correction does not cancel",
    )


def ratio_cdf(study: Study) -> Outcome:
    n, p = 5, study.groups["COMPAS/Black"][1].proportions
    top = 1 - eh.undefined_probability("tpr", n, p.tolist())
    gap = _largest_gap("tpr", p.tolist(), 9)
    return graded(
        gap < 1e-12 and top > 1 - 1e-9,
        f"as a sum over defined matrices it is right, but it ends at 1 − (1 − p)ⁿ and not at 1: {top:.3f} for TPR at "
        f"n = 5 with the reference of COMPAS/Black; divided by that it agrees with listing to {gap:.0e}",
        given=gap < 1e-12,
    )


def simple_joint(study: Study) -> Outcome:
    n = 10
    total = sum(sum(comb(k, i) * 0.4**i * 0.6 ** (k - i) for i in range(k + 1)) for k in range(1, n + 1))
    return graded(abs(total - 1) < 1e-9, f"without the weights P(c = k) it gives {total:g} at S = 1 for n = 10")


def beta_approximation(study: Study) -> Outcome:
    found = [betainc(i + 1, k - i + 1, i / k) for k in range(2, 201) for i in range(1, k)]
    exact = eh.distribution("tpr", 50, [0.12, 0.18, 0.3, 0.4]).cdf(12 / 15)
    printed = betainc(13, 4, 12 / 15)
    return graded(
        abs(printed - exact) < 0.05,
        f"as printed it knows no reference: it is 0 at S = 0, 1 at S = 1, and between {min(found):.3f} and "
        f"{max(found):.3f} for every other score up to k = 200; 12 of 15 where 0.4 is expected: {printed:.3f} instead "
        f"of {exact:.3f}",
    )


def known_reference(study: Study) -> Outcome:
    sizes = {(50, 50): 0.0, (100, 100): 0.0, (200, 100): 0.0, (100, 1000): 0.0}
    for n, n_ref in sizes:
        own = _accuracies(n, 0.3)
        for k, weight in enumerate(_accuracies(n_ref, 0.3)):
            if weight > 1e-12:
                masses = _accuracies(n, k / n_ref)
                rejected = 2 * np.minimum(np.cumsum(masses), np.cumsum(masses[::-1])[::-1]) <= 0.05
                sizes[n, n_ref] += float(weight * own[rejected].sum())
    shown = ", ".join(f"{size:.1%} for n = {n} and a reference of {ref}" for (n, ref), size in sizes.items())
    return graded(
        max(size for (_, ref), size in sizes.items() if ref >= 100) <= 0.055,
        f"a 5 % test that takes the reference's rates as known rejects a true null in {shown} (rate 0.3); "
        "the pooled null keeps its level",
    )


TESTING = (
    Claim("Theorem 5.1", "binomial metrics follow the binomial cumulative distribution", binomial_cdf),
    Claim("Section 5.1", "the normal approximation serves when np ≥ 5 and nq ≥ 5", normal_for_shares, "E6"),
    Claim(
        "Section 5.1",
        "a score of 0.80 at n = 100, p = 0.75 is higher than about 90 % of outcomes",
        worked_example,
        "E6",
    ),
    Claim("Section 5.2", "marginal benefit is symmetric around zero when p_FP = p_FN", benefit_symmetry),
    Claim("Theorems D.1, D.2", "the sums for the PMF and CDF of marginal benefit", benefit_cdf),
    Claim("Theorem 5.2", "the normal approximation of marginal benefit", benefit_normal, "E7"),
    Claim("Theorem 5.2", "its continuity correction cancels out", benefit_correction, "E7"),
    Claim("Theorem 5.3", "the double sum gives P(S ≤ s) of a joint ratio metric", ratio_cdf, "E8"),
    Claim("Appendix E", "the simplest form of that sum, without weights", simple_joint, "E8"),
    Claim("Section 5.3", "a beta distribution with the observed counts approximates it", beta_approximation, "E10"),
    Claim("Section 6.5", "a reference of 100 cases or more is enough", known_reference, "E13"),
)
