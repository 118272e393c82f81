"""Claims about the MATCH test and the distributions behind it (Sections 1 and 5, Appendices D and E)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtr

import evenhand as eh

from ..study import Study
from .claim import Claim, Outcome, grade

__all__ = ["TESTING"]

Floats = NDArray[np.float64]


def _enumerate_scores(key: str, n: int, p: list[float]) -> tuple[Floats, Floats]:
    """The score and the probability of every matrix of n cases on which the metric is defined."""
    m = eh.metric(key)
    scores, weights = [], []
    for tp, fn, fp, tn in eh.enumerate_matrices(n).tolist():
        score = m([tp, fn, fp, tn])
        ways = comb(n, tp) * comb(n - tp, fn) * comb(n - tp - fn, fp)
        if score == score:
            scores.append(float(score))
            weights.append(ways * p[0] ** tp * p[1] ** fn * p[2] ** fp * p[3] ** tn)
    return np.array(scores), np.array(weights)


def _largest_error(key: str, p: list[float], n: int, printed: Callable[[Fraction], float]) -> float:
    """The largest error of the printed P(S ≤ s), and of the library's, over all scores of n cases."""
    scores, weights = _enumerate_scores(key, n, p)
    exact = eh.distribution(key, n, p)
    errors = []
    for s in np.unique(scores):
        enumerated = weights[scores <= s + 1e-12].sum()
        errors += [abs(enumerated - printed(Fraction(float(s)).limit_denominator(n)))]
        errors += [abs(enumerated / weights.sum() - exact.cdf(float(s)))]
    return float(max(errors))


def _binomial_sum(n: int, k: int, p: float) -> float:
    return sum(comb(n, f) * p**f * (1 - p) ** (n - f) for f in range(k + 1))


def binomial_cdf(study: Study) -> Outcome:
    p = [0.1, 0.2, 0.3, 0.4]
    rates = {"acc": 0.5, "prev": 0.3, "ppr": 0.4, "inacc": 0.5, "nprev": 0.7, "pnr": 0.6}

    def printed(rate: float) -> Callable[[Fraction], float]:
        return lambda s: _binomial_sum(9, int(9 * s), rate)

    error = max(_largest_error(key, p, 9, printed(rate)) for key, rate in rates.items())
    return grade(
        error < 1e-12, f"the printed sum and the library against enumeration, n = 9: largest error {error:.0e}"
    )


def normal_for_shares(study: Study) -> Outcome:
    largest, factors = 0.0, [1.0]
    for n in (20, 50, 100, 500):
        for p in (0.01, 0.05, 0.1, 0.25, 0.5):
            if n * p < 5:
                continue
            masses = _accuracy_masses(n, p)
            z = (np.arange(n + 1) + 0.5 - n * p) / sqrt(n * p * (1 - p))
            lower, upper = np.cumsum(masses), np.cumsum(masses[::-1])[::-1] - masses
            largest = max(largest, float(np.abs(ndtr(z) - lower).max()))
            for exact, normal in ((lower, ndtr(z)), (upper, ndtr(-z))):
                tail = (exact > 1e-6) & (exact < 0.01)
                factors += (normal[tail] / exact[tail]).tolist()
    return grade(
        largest < 0.05 and min(factors) > 0.5 and max(factors) < 2,
        f"on a grid with np ≥ 5 and nq ≥ 5 the largest absolute error of P(S ≤ s) is {largest:.4f}; tail probabilities "
        f"between 1e-6 and 0.01 are multiplied by factors from {min(factors):.4f} to {max(factors):.1f}, so the "
        "approximation is adequate for percentiles but not for small p-values",
        on_condition=largest < 0.05,
    )


def _accuracy_masses(n: int, p: float) -> Floats:
    """P(ACC = k/n) for k = 0..n, where each case is classified correctly with probability p."""
    d = eh.distribution("acc", n, [p / 2, (1 - p) / 2, (1 - p) / 2, p / 2])
    masses = np.zeros(n + 1)
    masses[np.rint(d.support * n).astype(int)] = d.probabilities
    return masses


def worked_example(study: Study) -> Outcome:
    at_most = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.8)
    return grade(round(at_most, 2) == 0.90, f"P(S ≤ 0.80) = {at_most:.6f}")


def higher_than(study: Study) -> Outcome:
    below = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.79)
    return grade(round(below, 2) == 0.90, f"the share of outcomes below it is P(S < 0.80) = {below:.6f}")


def berry_esseen(study: Study) -> Outcome:
    scaled = {}
    for n in (10, 100, 1000):
        masses = _accuracy_masses(n, 0.3)
        z = (np.arange(n + 1) + 0.5 - 0.3 * n) / sqrt(0.21 * n)
        scaled[n] = float(np.abs(ndtr(z) - np.cumsum(masses)).max() * sqrt(n))
    values = ", ".join(f"{value:.3f} at n = {n}" for n, value in scaled.items())
    return grade(max(scaled.values()) < 2 * scaled[10], f"accuracy, p = 0.3: the largest error times √n is {values}")


def benefit_symmetry(study: Study) -> Outcome:
    d = eh.distribution("mb", 20, [0.3, 0.15, 0.15, 0.4])
    gap = float(np.abs(d.pmf(d.support) - d.pmf(-d.support)).max())
    return grade(gap < 1e-14, f"n = 20, p_FP = p_FN = 0.15: P(s) and P(−s) differ by at most {gap:.0e}")


def _printed_benefit_pmf(n: int, k: int, plus: float, minus: float) -> float:
    """Theorem D.1 as printed."""
    total = 0.0
    for m in range(max(0, -k), (n - k) // 2 + 1):
        ways = factorial(n) // (factorial(k + m) * factorial(m) * factorial(n - k - 2 * m))
        total += ways * plus ** (k + m) * minus**m * (1 - plus - minus) ** (n - k - 2 * m)
    return total


def benefit_cdf(study: Study) -> Outcome:
    def printed(p: list[float]) -> Callable[[Fraction], float]:
        return lambda s: sum(_printed_benefit_pmf(9, k, p[2], p[1]) for k in range(-9, int(9 * s) + 1))

    cases = ([0.1, 0.2, 0.3, 0.4], [0.4, 0.05, 0.05, 0.5])
    error = max(_largest_error("mb", p, 9, printed(p)) for p in cases)
    return grade(
        error < 1e-12, f"the printed sums and the library against enumeration, n = 9: largest error {error:.0e}"
    )


def benefit_normal(study: Study) -> Outcome:
    n, plus, minus, k = 100, 0.2, 0.1, 10
    exact = eh.distribution("mb", n, [0.3, minus, plus, 0.4]).cdf(k / n)
    sd = sqrt(plus + minus - (plus - minus) ** 2)
    printed = ndtr((k - (plus - minus)) / sd)
    corrected = ndtr((k + 0.5 - n * (plus - minus)) / (sd * sqrt(n)))
    return grade(
        abs(printed - exact) < 0.01,
        f"n = 100, p_FP = 0.2, p_FN = 0.1, FP − FN = 10: exact {exact:.6f}, as printed {printed:.6f}; with the mean "
        f"and variance of the sum and a continuity correction {corrected:.6f}",
    )


def benefit_correction(study: Study) -> Outcome:
    n, plus, minus, k = 100, 0.2, 0.1, 10
    exact = eh.distribution("mb", n, [0.3, minus, plus, 0.4]).cdf(k / n)
    sd = sqrt(n * (plus + minus - (plus - minus) ** 2))
    without, corrected = (ndtr((k + c - n * (plus - minus)) / sd) for c in (0.0, 0.5))
    return grade(
        abs(without - exact) <= abs(corrected - exact),
        f"with the mean and variance of the sum: exact {exact:.6f}, without correction {without:.6f}, with +0.5 on "
        f"FP − FN {corrected:.6f}; FP − FN is a single integer, so it takes one correction",
    )


def benefit_berry_esseen(study: Study) -> Outcome:
    sd, sizes = sqrt(0.3 - 0.1**2), (20, 100, 500)
    printed, corrected = [], []
    for n in sizes:
        d = eh.distribution("mb", n, [0.3, 0.1, 0.2, 0.4])
        k, exact = np.rint(d.support * n), np.cumsum(d.probabilities)
        printed.append(float(np.abs(ndtr((k - 0.1) / sd) - exact).max() * sqrt(n)))
        corrected.append(float(np.abs(ndtr((k - 0.1 * n) / (sd * sqrt(n))) - exact).max() * sqrt(n)))
    values = ", ".join(f"{a:.2f} and {b:.2f} at n = {n}" for a, b, n in zip(printed, corrected, sizes, strict=True))
    return grade(
        max(printed) < 2 * printed[0],
        "p_FP = 0.2, p_FN = 0.1: the largest error times √n, as printed and with the mean and variance of the sum, is "
        + values,
        on_condition=max(corrected) < 2 * corrected[0],
    )


def ratio_cdf(study: Study) -> Outcome:
    p = [float(rate) for rate in study.groups["COMPAS/Black"][1].proportions]
    positive = p[0] + p[1]

    def printed(s: Fraction) -> float:
        return sum(
            comb(9, k) * positive**k * (1 - positive) ** (9 - k) * _binomial_sum(k, int(s * k), p[0] / positive)
            for k in range(1, 10)
        )

    error = _largest_error("tpr", p, 9, printed)
    largest = 1 - eh.undefined_probability("tpr", 5, p)
    return grade(
        error < 1e-12 and largest > 1 - 1e-9,
        f"read as the probability that the score is defined and at most s, the sum agrees with enumeration to "
        f"{error:.0e}; as a cumulative distribution it reaches 1 − (1 − p)ⁿ instead of 1, for TPR at n = 5 with the "
        f"reference of COMPAS/Black {largest:.3f}, and must be divided by that",
        on_condition=error < 1e-12,
    )


def simple_joint(study: Study) -> Outcome:
    n = 10
    total = sum(sum(comb(k, i) * 0.4**i * 0.6 ** (k - i) for i in range(k + 1)) for k in range(1, n + 1))
    return grade(abs(total - 1) < 1e-9, f"without the weights P(c = k) the sum at S = 1 is {total:g} for n = 10")


def beta_approximation(study: Study) -> Outcome:
    printed_values = [betainc(i + 1, k - i + 1, i / k) for k in range(2, 201) for i in range(1, k)]
    exact = eh.distribution("tpr", 50, [0.12, 0.18, 0.3, 0.4]).cdf(12 / 15)
    printed = betainc(13, 4, 12 / 15)
    return grade(
        abs(printed - exact) < 0.05,
        f"the printed formula does not use the reference: it is 0 at S = 0, 1 at S = 1, and between "
        f"{min(printed_values):.3f} and {max(printed_values):.3f} for all other scores with k ≤ 200; for 12 of 15 and "
        f"a reference rate of 0.4 it gives {printed:.3f}, the exact value is {exact:.3f}",
    )


def accounts_for_sample_size(study: Study) -> Outcome:
    sizes = ((50, 50), (100, 100), (200, 100), (50, 500), (100, 1000), (200, 2000))
    rejections = {(n, n_ref): _rejections_of_a_true_null(n, n_ref, 0.3) for n, n_ref in sizes}
    values = ", ".join(f"{rate:.1%} for n = {n} and a reference of {n_ref}" for (n, n_ref), rate in rejections.items())
    return grade(
        max(rejections.values()) <= 0.055,
        f"a 5 % MATCH test that takes the reference's rates as known rejects a true null hypothesis in {values} "
        "(rate 0.3)",
        on_condition=max(rate for (n, n_ref), rate in rejections.items() if n_ref >= 10 * n) <= 0.055,
    )


def _rejections_of_a_true_null(n: int, n_ref: int, rate: float) -> float:
    """How often the 5 % test of a binomial metric rejects when group and reference both have this rate."""
    group = _accuracy_masses(n, rate)
    rejections = 0.0
    for k, weight in enumerate(_accuracy_masses(n_ref, rate)):
        if weight > 1e-12:
            rejections += float(weight * group[_rejected(_accuracy_masses(n, k / n_ref))].sum())
    return rejections


def _rejected(masses: Floats) -> NDArray[np.bool_]:
    """The outcomes, in ascending order, that a two-sided 5 % test of this null distribution rejects."""
    rejected: NDArray[np.bool_] = 2 * np.minimum(np.cumsum(masses), np.cumsum(masses[::-1])[::-1]) <= 0.05
    return rejected


def genuine_differences(study: Study) -> Outcome:
    # In each pair the group has the reference's score but other cell probabilities.
    n = 40
    pairs = {
        "acc": ([0.2, 0.2, 0.1, 0.5], [0.5, 0.1, 0.2, 0.2]),
        "tpr": ([0.25, 0.25, 0.1, 0.4], [0.05, 0.05, 0.2, 0.7]),
        "mb": ([0.4, 0.05, 0.15, 0.4], [0.2, 0.25, 0.35, 0.2]),
    }
    rejections = {}
    for key, (reference, group) in pairs.items():
        null, own = (eh.distribution(key, n, p) for p in (reference, group))
        rejections[key] = float(own.probabilities[_rejected(null.probabilities)].sum())
    given = max(
        float(masses[_rejected(masses)].sum()) for masses in (_accuracy_masses(k, 0.5) for k in range(1, n + 1))
    )
    return grade(
        max(rejections.values()) <= 0.05,
        f"groups of {n} with the reference's score but other cell probabilities are rejected at the 5 % level in "
        f"{rejections['acc']:.1%} (ACC), {rejections['tpr']:.1%} (TPR; at most {given:.1%} if the test is conditional "
        f"on the denominator) and {rejections['mb']:.1%} (marginal benefit) of cases; MATCH tests whether the group is "
        "drawn like the reference",
        on_condition=max(rejections["acc"], given) <= 0.05,
    )


TESTING = (
    Claim("Theorem 5.1", "Binomial metrics follow the binomial cumulative distribution function", binomial_cdf),
    Claim(
        "Section 5.1",
        "When np ≥ 5 and nq ≥ 5, P(S ≤ s) can be approximated by the normal distribution",
        normal_for_shares,
        "E6",
    ),
    Claim("Section 5.1", "For n = 100 and p = 0.75, P(S ≤ 0.80) is about 0.90", worked_example, "E6"),
    Claim("Section 5.1", "A score of 0.80 is therefore higher than about 90 % of outcomes", higher_than, "E6"),
    Claim("Section 5.1", "The error of the normal approximation is O(n^−1/2)", berry_esseen),
    Claim("Section 5.2", "Marginal benefit is symmetric around zero when p_FP = p_FN", benefit_symmetry),
    Claim("Theorems D.1, D.2", "The printed sums give the PMF and the CDF of marginal benefit", benefit_cdf),
    Claim("Theorem 5.2", "The printed normal approximation gives the CDF of marginal benefit", benefit_normal, "E7"),
    Claim("Theorem 5.2", "The continuity correction of marginal benefit cancels out", benefit_correction, "E7"),
    Claim(
        "Section 5.2",
        "The error of the normal approximation of marginal benefit is O(n^−1/2)",
        benefit_berry_esseen,
        "E7",
    ),
    Claim("Theorem 5.3", "The printed double sum is P(S ≤ s) of a joint ratio metric", ratio_cdf, "E8"),
    Claim(
        "Appendix E",
        "P(S ≤ s) of a joint ratio metric is the sum of the conditional probabilities P(k_i | c = k) over k",
        simple_joint,
        "E8",
    ),
    Claim(
        "Section 5.3",
        "A beta distribution with the observed counts approximates P(S ≤ s) of a joint ratio metric",
        beta_approximation,
        "E10",
    ),
    Claim(
        "Section 7",
        "MATCH accounts for the variability that different sample sizes introduce",
        accounts_for_sample_size,
        "E13",
    ),
    Claim(
        "Section 1",
        "MATCH determines whether a difference between scores is genuine or an artefact of sample size",
        genuine_differences,
        "E30",
    ),
)
