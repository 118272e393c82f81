"""Claims about the MATCH test and the distributions behind it (Sections 1 and 5, Appendices D and E)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, ndtr

import evenhand as eh

from ..exact import Floats, multinomial_probabilities
from ..study import Study
from .claim import Outcome, join_values, judge

CELL_RATES = [0.1, 0.2, 0.3, 0.4]


def _largest_error(key: str, rates: ArrayLike, printed: Callable[[Fraction], float]) -> float:
    """The largest error of the printed P(S ≤ s), and of the library's, over all scores of nine cases."""
    n = 9
    scores = eh.metric(key).scores(eh.enumerate_matrices(n).astype(float))
    defined = ~np.isnan(scores)
    scores, weights = scores[defined], multinomial_probabilities(n, rates)[defined]
    distribution = eh.distribution(key, n, rates)
    errors = []
    for score in np.unique(scores):
        enumerated = weights[scores <= score + 1e-12].sum()
        fraction = Fraction(float(score)).limit_denominator(n)
        errors.append(abs(enumerated - printed(fraction)))
        errors.append(abs(enumerated / weights.sum() - distribution.cdf(score)))
    return float(max(errors))


def _binomial_sum(n: int, k: int, rate: float) -> float:
    return sum(comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k + 1))


def binomial_cdf(study: Study) -> Outcome:
    rates = {"acc": 0.5, "prev": 0.3, "ppr": 0.4, "inacc": 0.5, "nprev": 0.7, "pnr": 0.6}

    def error(key: str) -> float:
        return _largest_error(key, CELL_RATES, lambda s: _binomial_sum(9, int(9 * s), rates[key]))

    largest = max(map(error, rates))
    return judge(largest < 1e-12, error=largest)


def _correct_masses(n: int, rate: float) -> Floats:
    """P(k correct) for k = 0..n, where each case is classified correctly with this probability."""
    right, wrong = rate / 2, (1 - rate) / 2
    distribution = eh.distribution("acc", n, [right, wrong, wrong, right])
    masses = np.zeros(n + 1)
    masses[np.rint(distribution.support * n).astype(int)] = distribution.probabilities
    return masses


def _standardize(n: int, rate: float) -> Floats:
    """The standard scores of k = 0..n correct cases, with a continuity correction."""
    counts = np.arange(n + 1, dtype=float)
    return (counts + 0.5 - n * rate) / sqrt(n * rate * (1 - rate))


def normal_for_shares(study: Study) -> Outcome:
    largest, factors = 0.0, [1.0]
    for n, rate in product((20, 50, 100, 500), (0.01, 0.05, 0.1, 0.25, 0.5)):
        if n * rate < 5:
            continue
        masses, z = _correct_masses(n, rate), _standardize(n, rate)
        lower = np.cumsum(masses)
        upper = np.cumsum(masses[::-1])[::-1] - masses
        largest = max(largest, np.abs(ndtr(z) - lower).max())
        for exact, normal in ((lower, ndtr(z)), (upper, ndtr(-z))):
            tail = (exact > 1e-6) & (exact < 0.01)
            factors += (normal[tail] / exact[tail]).tolist()
    return judge(
        largest < 0.05 and min(factors) > 0.5 and max(factors) < 2,
        on_condition=largest < 0.05,
        largest=largest,
        low=min(factors),
        high=max(factors),
    )


def worked_example(study: Study) -> Outcome:
    at_most = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.8)
    return judge(round(at_most, 2) == 0.90, at_most=at_most)


def higher_than(study: Study) -> Outcome:
    below = eh.distribution("acc", 100, [0.375, 0.125, 0.125, 0.375]).cdf(0.79)
    return judge(round(below, 2) == 0.90, below=below)


def berry_esseen(study: Study) -> Outcome:
    scaled = {}
    for n in (10, 100, 1000):
        errors = ndtr(_standardize(n, 0.3)) - np.cumsum(_correct_masses(n, 0.3))
        scaled[n] = np.abs(errors).max() * sqrt(n)
    holds = max(scaled.values()) < 2 * scaled[10]
    return judge(holds, scaled=join_values("{1:.3f} at n = {0}", scaled))


def benefit_symmetry(study: Study) -> Outcome:
    distribution = eh.distribution("mb", 20, [0.3, 0.15, 0.15, 0.4])
    scores = distribution.support
    gap = np.abs(distribution.pmf(scores) - distribution.pmf(-scores)).max()
    return judge(gap < 1e-14, gap=gap)


def _printed_benefit_pmf(n: int, k: int, plus: float, minus: float) -> float:
    """Theorem D.1 as printed."""
    total = 0.0
    for m in range(max(0, -k), (n - k) // 2 + 1):
        rest = n - k - 2 * m
        ways = comb(n, m) * comb(n - m, k + m)
        total += ways * plus ** (k + m) * minus**m * (1 - plus - minus) ** rest
    return total


def benefit_cdf(study: Study) -> Outcome:
    def error(rates: list[float]) -> float:
        _, minus, plus, _ = rates
        masses = {k: _printed_benefit_pmf(9, k, plus, minus) for k in range(-9, 10)}
        return _largest_error("mb", rates, lambda s: sum(masses[k] for k in masses if k <= 9 * s))

    largest = max(map(error, (CELL_RATES, [0.4, 0.05, 0.05, 0.5])))
    return judge(largest < 1e-12, error=largest)


BENEFIT_RATES = [0.3, 0.1, 0.2, 0.4]
BENEFIT_MEAN, BENEFIT_SD = 0.1, sqrt(0.3 - 0.1**2)


def benefit_normal(study: Study) -> Outcome:
    exact = eh.distribution("mb", 100, BENEFIT_RATES).cdf(0.1)
    printed = ndtr((10 - BENEFIT_MEAN) / BENEFIT_SD)
    corrected = ndtr((10.5 - 100 * BENEFIT_MEAN) / (10 * BENEFIT_SD))
    return judge(abs(printed - exact) < 0.01, exact=exact, printed=printed, corrected=corrected)


def benefit_correction(study: Study) -> Outcome:
    exact = eh.distribution("mb", 100, BENEFIT_RATES).cdf(0.1)
    without, corrected = (ndtr((k - 100 * BENEFIT_MEAN) / (10 * BENEFIT_SD)) for k in (10, 10.5))
    holds = abs(without - exact) <= abs(corrected - exact)
    return judge(holds, exact=exact, without=without, corrected=corrected)


def benefit_berry_esseen(study: Study) -> Outcome:
    scaled = {}
    for n in (20, 100, 500):
        distribution = eh.distribution("mb", n, BENEFIT_RATES)
        k, exact = np.rint(distribution.support * n), np.cumsum(distribution.probabilities)
        printed = ndtr((k - BENEFIT_MEAN) / BENEFIT_SD)
        corrected = ndtr((k - n * BENEFIT_MEAN) / (BENEFIT_SD * sqrt(n)))
        scaled[n] = [np.abs(normal - exact).max() * sqrt(n) for normal in (printed, corrected)]
    as_printed, as_corrected = zip(*scaled.values(), strict=True)
    return judge(
        max(as_printed) < 2 * as_printed[0],
        on_condition=max(as_corrected) < 2 * as_corrected[0],
        scaled=join_values("{1[0]:.2f} and {1[1]:.2f} at n = {0}", scaled),
    )


def ratio_cdf(study: Study) -> Outcome:
    _, reference = study.groups["COMPAS/Black"]
    positive, rate = eh.metric("prev")(reference), eh.metric("tpr")(reference)

    def printed(s: Fraction) -> float:
        total = 0.0
        for k in range(1, 10):
            weight = comb(9, k) * positive**k * (1 - positive) ** (9 - k)
            total += weight * _binomial_sum(k, int(s * k), rate)
        return total

    error = _largest_error("tpr", reference.proportions, printed)
    largest = 1 - eh.undefined_probability("tpr", 5, reference)
    holds = error < 1e-12 and largest > 1 - 1e-9
    return judge(holds, on_condition=error < 1e-12, error=error, largest=largest)


def simple_joint(study: Study) -> Outcome:
    total = sum(_binomial_sum(k, k, 0.4) for k in range(1, 11))
    return judge(abs(total - 1) < 1e-9, total=total)


def beta_approximation(study: Study) -> Outcome:
    values = [betainc(i + 1, k - i + 1, i / k) for k in range(2, 201) for i in range(1, k)]
    exact = eh.distribution("tpr", 50, [0.12, 0.18, 0.3, 0.4]).cdf(12 / 15)
    printed = betainc(13, 4, 12 / 15)
    holds = abs(printed - exact) < 0.05
    return judge(holds, low=min(values), high=max(values), printed=printed, exact=exact)


def _rejected_at_5_percent(masses: Floats) -> NDArray[np.bool_]:
    """The outcomes, in ascending order, that a two-sided 5% test of this null distribution rejects."""
    lower, upper = np.cumsum(masses), np.cumsum(masses[::-1])[::-1]
    rejected: NDArray[np.bool_] = 2 * np.minimum(lower, upper) <= 0.05
    return rejected


def _false_rejections(n: int, n_reference: int, rate: float = 0.3) -> float:
    """How often the 5% test of a binomial metric rejects when group and reference both have this rate."""
    group, total = _correct_masses(n, rate), 0.0
    for k, weight in enumerate(_correct_masses(n_reference, rate)):
        if weight > 1e-12:
            null = _correct_masses(n, k / n_reference)
            total += weight * group[_rejected_at_5_percent(null)].sum()
    return total


def accounts_for_sample_size(study: Study) -> Outcome:
    sizes = ((50, 50), (100, 100), (200, 100), (50, 500), (100, 1000), (200, 2000))
    rejections = {pair: _false_rejections(*pair) for pair in sizes}
    return judge(
        max(rejections.values()) <= 0.055,
        on_condition=all(share <= 0.055 for (n, of), share in rejections.items() if of >= 10 * n),
        rejections=join_values("{1:.1%} for n = {0[0]} and a reference of {0[1]}", rejections),
    )


def genuine_differences(study: Study) -> Outcome:
    # In each pair the group has the reference's score but other cell probabilities.
    pairs = {
        "acc": ([0.2, 0.2, 0.1, 0.5], [0.5, 0.1, 0.2, 0.2]),
        "tpr": ([0.25, 0.25, 0.1, 0.4], [0.05, 0.05, 0.2, 0.7]),
        "mb": ([0.4, 0.05, 0.15, 0.4], [0.2, 0.25, 0.35, 0.2]),
    }
    rejections = {}
    for key, rates in pairs.items():
        reference, group = (eh.distribution(key, 40, p).probabilities for p in rates)
        rejections[key] = group[_rejected_at_5_percent(reference)].sum()
    conditional = [_correct_masses(k, 0.5) for k in range(1, 41)]
    given = max(masses[_rejected_at_5_percent(masses)].sum() for masses in conditional)
    return judge(
        max(rejections.values()) <= 0.05,
        on_condition=max(rejections["acc"], given) <= 0.05,
        given=given,
        **rejections,
    )
