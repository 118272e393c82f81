"""Claims about the MATCH test and the distributions behind it (Section 5, Appendices D and E)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, sqrt

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


def _largest_gap(key: str, p: list[float], n: int, printed: Callable[[Fraction], float]) -> float:
    """How far the printed P(S ≤ s), and the library's, are from listing, over all scores of n cases."""
    scores, weights = (np.array(found) for found in _listed(key, n, p))
    exact = eh.distribution(key, n, p)
    gaps = []
    for s in np.unique(scores):
        listed = weights[scores <= s + 1e-12].sum()
        gaps += [abs(listed - printed(Fraction(float(s)).limit_denominator(n)))]
        gaps += [abs(listed / weights.sum() - exact.cdf(float(s)))]
    return float(max(gaps))


def _binomial_sum(n: int, k: int, p: float) -> float:
    return sum(comb(n, f) * p**f * (1 - p) ** (n - f) for f in range(k + 1))


def binomial_cdf(study: Study) -> Outcome:
    p = [0.1, 0.2, 0.3, 0.4]
    rates = {"acc": 0.5, "prev": 0.3, "ppr": 0.4, "inacc": 0.5, "nprev": 0.7, "pnr": 0.6}

    def printed(rate: float) -> Callable[[Fraction], float]:
        return lambda s: _binomial_sum(9, int(9 * s), rate)

    gap = max(_largest_gap(key, p, 9, printed(rate)) for key, rate in rates.items())
    return graded(gap < 1e-12, f"the printed sum and the library against listing, n = 9: largest difference {gap:.0e}")


def _benefit_pmf(n: int, k: int, plus: float, minus: float) -> float:
    """Theorem D.1 as printed."""
    found = 0.0
    for m in range(max(0, -k), (n - k) // 2 + 1):
        ways = factorial(n) // (factorial(k + m) * factorial(m) * factorial(n - k - 2 * m))
        found += ways * plus ** (k + m) * minus**m * (1 - plus - minus) ** (n - k - 2 * m)
    return found


def benefit_cdf(study: Study) -> Outcome:
    def printed(p: list[float]) -> Callable[[Fraction], float]:
        return lambda s: sum(_benefit_pmf(9, k, p[2], p[1]) for k in range(-9, int(9 * s) + 1))

    cases = ([0.1, 0.2, 0.3, 0.4], [0.4, 0.05, 0.05, 0.5])
    gap = max(_largest_gap("mb", p, 9, printed(p)) for p in cases)
    return graded(gap < 1e-12, f"the printed sums and the library against listing, n = 9: largest difference {gap:.0e}")


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
    at_most = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.8)
    return graded(round(at_most, 2) == 0.90, f"P(S ≤ 0.80) = {at_most:.6f}")


def higher_than(study: Study) -> Outcome:
    below = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.79)
    return graded(round(below, 2) == 0.90, f"it is higher than P(S < 0.80) = {below:.6f} of them")


def berry_esseen(study: Study) -> Outcome:
    scaled = {}
    for n in (10, 100, 1000):
        masses = _accuracies(n, 0.3)
        z = (np.arange(n + 1) + 0.5 - 0.3 * n) / sqrt(0.21 * n)
        scaled[n] = float(np.abs(ndtr(z) - np.cumsum(masses)).max() * sqrt(n))
    shown = ", ".join(f"{v:.3f} at n = {n}" for n, v in scaled.items())
    return graded(max(scaled.values()) < 2 * scaled[10], f"accuracy, p = 0.3: largest error times √n is {shown}")


def benefit_berry_esseen(study: Study) -> Outcome:
    sd, errors = sqrt(0.3 - 0.1**2), {}
    for n in (20, 100, 500):
        d = eh.distribution("mb", n, [0.3, 0.1, 0.2, 0.4])
        printed = ndtr((np.rint(d.support * n) - 0.1) / sd)
        errors[n] = float(np.abs(printed - np.cumsum(d.probabilities)).max())
    shown = ", ".join(f"{v:.3f} at n = {n}" for n, v in errors.items())
    return graded(
        errors[500] < errors[20], f"as printed, with p_FP = 0.2 and p_FN = 0.1, the error grows towards 1: {shown}"
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
    p = [float(rate) for rate in study.groups["COMPAS/Black"][1].proportions]
    positive = p[0] + p[1]

    def printed(s: Fraction) -> float:
        return sum(
            comb(9, k) * positive**k * (1 - positive) ** (9 - k) * _binomial_sum(k, int(s * k), p[0] / positive)
            for k in range(1, 10)
        )

    gap = _largest_gap("tpr", p, 9, printed)
    top = 1 - eh.undefined_probability("tpr", 5, p)
    return graded(
        gap < 1e-12 and top > 1 - 1e-9,
        f"the printed sum agrees with listing the defined matrices to {gap:.0e}, but it ends at 1 − (1 − p)ⁿ and not "
        f"at 1: {top:.3f} for TPR at n = 5 with the reference of COMPAS/Black; it has to be divided by that",
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
        f"a 5 % MATCH test that takes the reference's rates as known rejects a true null in {shown} (rate 0.3)",
    )


TESTING = (
    Claim("Theorem 5.1", "binomial metrics follow the binomial cumulative distribution", binomial_cdf),
    Claim("Section 5.1", "the normal approximation serves when np ≥ 5 and nq ≥ 5", normal_for_shares, "E6"),
    Claim("Section 5.1", "P(S ≤ 0.80) is about 0.90 for n = 100 and p = 0.75", worked_example, "E6"),
    Claim("Section 5.1", "so a score of 0.80 is higher than about 90 % of outcomes", higher_than, "E6"),
    Claim("Section 5.1", "the error of the normal approximation is O(n^−1/2)", berry_esseen),
    Claim("Section 5.2", "marginal benefit is symmetric around zero when p_FP = p_FN", benefit_symmetry),
    Claim("Theorems D.1, D.2", "the sums for the PMF and CDF of marginal benefit", benefit_cdf),
    Claim("Theorem 5.2", "the normal approximation of marginal benefit", benefit_normal, "E7"),
    Claim("Theorem 5.2", "its continuity correction cancels out", benefit_correction, "E7"),
    Claim("Section 5.2", "its error, too, is O(n^−1/2)", benefit_berry_esseen, "E7"),
    Claim("Theorem 5.3", "the double sum gives P(S ≤ s) of a joint ratio metric", ratio_cdf, "E8"),
    Claim("Appendix E", "the simplest form of that sum, without weights", simple_joint, "E8"),
    Claim("Section 5.3", "a beta distribution with the observed counts approximates it", beta_approximation, "E10"),
    Claim("Section 6.5", "a reference of 100 cases or more is enough, as for a test", known_reference, "E13"),
)
