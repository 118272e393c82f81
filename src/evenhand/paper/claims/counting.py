"""Claims about configurations, undefined cases and the spread of scores (Sections 3 and 4, Appendices A to C)."""

from __future__ import annotations

from itertools import pairwise
from math import comb, log

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from ..study import SIZES, Study
from ..tables import HOLE_ROWS, brute_force_count, pt_upper_bound
from .claim import Claim, Outcome, grade

__all__ = ["COUNTING"]

Floats = NDArray[np.float64]

_QUARTER = [0.25, 0.25, 0.25, 0.25]
_BINOMIAL = {"acc", "prev", "ppr", "inacc", "nprev", "pnr"}
_JOINT_RATIO = {"tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for"}


def configurations(study: Study) -> Outcome:
    wrong = [n for n in range(1, 41) if len(eh.enumerate_matrices(n)) != comb(n + 3, 3)]
    return grade(not wrong, f"enumerated for n = 1..40: {len(wrong)} sizes differ; n = 40 has {comb(43, 3):,} matrices")


def cubic_growth(study: Study) -> Outcome:
    ratio = eh.count_matrices(2 * 10**6) / eh.count_matrices(10**6)
    return grade(abs(ratio - 8) < 1e-4, f"doubling n from one million multiplies the number of matrices by {ratio:.5f}")


def cell_values(study: Study) -> Outcome:
    wrong = 0
    for n in range(1, 31):
        formula = [comb(n - x + 2, 2) for x in range(n + 1)]
        for cell in eh.enumerate_matrices(n).astype(int).T:
            wrong += int((np.bincount(cell, minlength=n + 1) != formula).sum())
    return grade(not wrong, f"enumerated for n = 1..30, each cell and each x: {wrong} counts differ")


def twenty_one_metrics(study: Study) -> Outcome:
    keys = {key for row in HOLE_ROWS for key in row.metrics}
    counts = len(keys & _BINOMIAL), len(keys & _JOINT_RATIO), len(keys - _BINOMIAL - _JOINT_RATIO)
    return grade(
        counts == (6, 8, 7),
        f"Table 1 covers {counts[0]} binomial metrics, {counts[1]} joint ratio metrics and {counts[2]} others, "
        f"{len(keys)} in total",
    )


def _counts_as_printed(*keys: str) -> Outcome:
    rows = [row for row in HOLE_ROWS if set(row.metrics) & set(keys)]
    wrong = [(row.name, n) for row in rows for n in range(1, 21) if brute_force_count(row, n) != row.low(n)]
    counts = ", ".join(f"{' '.join(row.metrics)} {brute_force_count(row, 20):,}" for row in rows)
    return grade(not wrong, f"brute force for n = 1..20: {len(wrong)} counts differ; at n = 20: {counts}")


def no_holes(study: Study) -> Outcome:
    return _counts_as_printed("acc", "mb", "ofi")


def joint_ratio_holes(study: Study) -> Outcome:
    return _counts_as_printed("tpr", "fpr", "ppv", "npv")


def f1_holes(study: Study) -> Outcome:
    return _counts_as_printed("f1", "f1_original")


def mcc_holes(study: Study) -> Outcome:
    return _counts_as_printed("mcc")


def pt_lower_bound(study: Study) -> Outcome:
    counts = {n: eh.count_undefined("pt", n) for n in range(3, 2001)}
    below = [n for n, count in counts.items() if count < 2 * n + 2]
    smallest = min(count / n for n, count in counts.items())
    return grade(not below, f"n = 3..2000: {len(below)} counts are below 2n + 2; none is below {smallest:g} n")


def pt_upper(study: Study) -> Outcome:
    valid = [n for n in range(3, 3001) if eh.count_undefined("pt", n) < pt_upper_bound(n)]
    second = next(n for n in valid if n > 3)
    return grade(
        len(valid) == 2998,
        f"the bound is valid for {len(valid)} of the sizes n = 3..3000, the first two being n = {valid[0]} and "
        f"n = {second}; at n = 100 there are {eh.count_undefined('pt', 100):,} cases and the bound is "
        f"{pt_upper_bound(100):.1f}; the exact count is 2n + 1 + Σ gcd(k, n)",
    )


def pt_growth(study: Study) -> Outcome:
    sizes = (30, 2310, 30030, 510510)
    ratios = [eh.count_undefined("pt", n) / (n * log(log(n))) for n in sizes]
    values = ", ".join(f"{ratio:.1f} at n = {n:,}" for n, ratio in zip(sizes, ratios, strict=True))
    return grade(max(ratios) < 2 * ratios[0], f"count / (n ln ln n) along products of the first primes: {values}")


def te_holes(study: Study) -> Outcome:
    te = next(row for row in HOLE_ROWS if "te" in row.metrics)
    wrong = [n for n in range(1, 13) if brute_force_count(te, n) != te.low(n)]
    return grade(
        not wrong,
        f"n₁ = n₂ = 5: {brute_force_count(te, 5):,} of {eh.count_matrices(5) ** 2:,} pairs are undefined, the paper's "
        f"formula gives {te.low(5):g}; it is wrong for {len(wrong)} of the sizes n = 1..12",
    )


def slower_than_configurations(study: Study) -> Outcome:
    def holes(key: str, n: int) -> int:
        return eh.count_undefined(key, (n, n) if eh.metric(key).groups == 2 else n)

    def share(key: str, n: int) -> float:
        return holes(key, n) / int(eh.count_matrices(n) ** eh.metric(key).groups)

    keys = [key for row in HOLE_ROWS for key in row.metrics]
    growth = {key: holes(key, 1000) / max(holes(key, 500), 1) for key in keys}
    fastest = max(growth, key=growth.__getitem__)
    return grade(
        growth[fastest] < 8,
        f"doubling n from 500 multiplies the number of matrices by 8 and the undefined cases of {fastest} by "
        f"{growth[fastest]:.0f}; as a share of all matrices, or of all pairs for a metric of two groups, the undefined "
        f"cases shrink: at most {max(share(key, 10) for key in keys):.1%} at n = 10 and "
        f"{max(share(key, 1000) for key in keys):.2%} at n = 1000",
        on_condition=all(share(key, 1000) < share(key, 10) / 10 or share(key, 10) == 0 for key in keys),
    )


def narrows(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    widths = {}
    for n in (5, 10, 20, 49):
        low, high = eh.distribution("ppr", n, cm).quantile([0.1, 0.9])
        widths[n] = high - low
    values = ", ".join(f"{width:.3f} at n = {n}" for n, width in widths.items())
    return grade(list(widths.values()) == sorted(widths.values(), reverse=True), f"10–90 % range: {values}")


def one_more_case(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    medians = [float(eh.distribution("ppr", n, cm).quantile(0.5)) for n in range(5, 50)]
    steps = np.abs(np.diff(medians))
    return grade(
        bool(steps[:5].max() > 0.05),
        f"from n to n + 1 the median PPR changes by up to {steps[:5].max():.3f} for n = 5..10 and by up to "
        f"{steps[-5:].max():.3f} for n = 44..49",
    )


def ppr_limit(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    rate = eh.metric("ppr")(cm)
    return grade(
        abs(rate - 1365 / 5956) < 5e-4,
        f"the matrix of the experiments gives ({cm.tp:g} + {cm.fp:g}) / {cm.n:g} = {rate:.4f}; "
        f"1365/5956 = {1365 / 5956:.4f}",
    )


def all_configurations(study: Study) -> Outcome:
    distances = {}
    for n in (5, 25, 100):
        cells = eh.enumerate_matrices(n)
        log_factorials = np.cumsum(np.r_[0.0, np.log(np.arange(1, n + 1))])
        multinomial = np.exp(log_factorials[n] - log_factorials[cells.astype(int)].sum(axis=1) - n * log(4))
        distances[n] = 0.5 * np.abs(multinomial - 1 / len(cells)).sum()
    values = ", ".join(f"{distance:.3f} at n = {n}" for n, distance in distances.items())
    return grade(
        max(distances.values()) < 1e-9,
        "total variation distance between equally likely configurations and a multinomial with probabilities 0.25: "
        + values,
    )


def limits_of_figure_2(study: Study) -> Outcome:
    limits = {"acc": 0.5, "ppr": 0.5, "tpr": 0.5, "mcc": 0.0, "mcc_limit": 0.0}
    multinomial = {n: {key: eh.distribution(key, n, _QUARTER) for key in limits} for n in (25, 100)}
    uniform = {n: {key: eh.distribution(key, n) for key in limits} for n in (25, 100)}
    centred = all(abs(multinomial[100][key].mean - limit) < 1e-6 for key, limit in limits.items())
    # The standard deviation of a mean halves when n is quadrupled.
    shrink, stay = ({key: d[100][key].std / d[25][key].std for key in limits} for d in (multinomial, uniform))
    spread = ", ".join(f"{key} {d.std:.3f}" for key, d in uniform[100].items())
    return grade(
        centred and max(shrink.values()) < 0.55 and max(stay.values()) < 0.55,
        "from n = 25 to n = 100 standard deviations are multiplied by at most "
        f"{max(shrink.values()):.2f} with four probabilities of 0.25, but by at least {min(stay.values()):.2f} with "
        f"equally likely configurations, where at n = 100 they are {spread}",
        on_condition=centred and max(shrink.values()) < 0.55,
    )


def expected_score(study: Study) -> Outcome:
    truth, _ = study.groups["COMPAS/White"]
    gaps = {
        key: [eh.distribution(key, n, truth).mean - eh.metric(key)(truth) for n in (20, 100)] for key in study.metrics
    }
    biased = {key: gap for key, gap in gaps.items() if abs(gap[0]) > 1e-9}
    values = ", ".join(f"{key} {small:+.3f} and {large:+.3f}" for key, (small, large) in biased.items())
    return grade(
        not biased,
        f"for COMPAS/White at n = 20 and given that the score is defined, the mean equals the population score for "
        f"{len(gaps) - len(biased)} of {len(gaps)} metrics; the other means differ from it by (n = 20 and n = 100) "
        f"{values}; as n grows the means converge to the population scores",
        on_condition=all(abs(large) < abs(small) / 2 for small, large in biased.values()),
    )


def most_jagged(study: Study) -> Outcome:
    binomial = {"acc", "prev", "ppr"}
    rankings = []
    for truth, _ in study.groups.values():
        jumps = {key: _jump(key, truth) for key in study.metrics}
        rankings.append(sorted(jumps, key=jumps.__getitem__, reverse=True))
    first = sum(set(ranking[:3]) == binomial for ranking in rankings)
    first_without_mb = sum(set([key for key in ranking if key != "mb"][:3]) == binomial for ranking in rankings)
    return grade(
        first == len(rankings),
        "by the largest change of P(S ≤ s) from n to n + 1, averaged over n = 5..14, the three binomial metrics of the "
        f"experiments rank first in {first} of {len(rankings)} groups, and in {first_without_mb} if marginal benefit "
        "is left out",
        on_condition=first_without_mb == len(rankings),
    )


def _jump(key: str, truth: eh.ConfusionMatrix) -> float:
    """The largest change of P(S ≤ s) from n to n + 1, averaged over n = 5..14."""
    distributions = [eh.distribution(key, n, truth) for n in range(5, 16)]
    changes = []
    for smaller, larger in pairwise(distributions):
        scores = np.union1d(smaller.support, larger.support)
        below = (_cumulative(d.support, d.probabilities, scores) for d in (smaller, larger))
        changes.append(np.abs(np.subtract(*below)).max())
    return float(np.mean(changes))


def _cumulative(support: Floats, probabilities: Floats, scores: Floats) -> Floats:
    """P(S ≤ s) for every score."""
    cumulative: Floats = np.r_[0.0, np.cumsum(probabilities)]
    return cumulative[np.searchsorted(support, scores + 1e-12, side="right")]


def sample_counts(study: Study) -> Outcome:
    points = len(SIZES) * len(study.groups)
    return grade(
        points == 1450 and SIZES[-1] == 150,
        f"n = {SIZES[0]} to {SIZES[-1]} gives {len(SIZES)} sizes × {len(study.groups)} groups × 10⁶ = "
        f"{points / 1000:.2f}·10⁹ samples; n = 5 to 150 would give {(150 - 4) * len(study.groups) / 1000:.2f}·10⁹",
        on_condition=points == 1450,
    )


COUNTING = (
    Claim("Theorem A.1", "There are C(n+3, 3) confusion matrices of n cases", configurations),
    Claim("Corollary A.1.1", "The number of confusion matrices grows as n³", cubic_growth),
    Claim("Theorem A.2", "A cell equals x in C(n−x+2, 2) of the matrices", cell_values),
    Claim(
        "Section 4, Appendix B",
        "The paper considers 21 metrics: six binomial, eight joint ratio and seven others",
        twenty_one_metrics,
    ),
    Claim("Table 1", "Binomial metrics, marginal benefit and OFI are never undefined", no_holes),
    Claim("Theorem C.1", "Each joint ratio metric is undefined on n + 1 matrices", joint_ratio_holes),
    Claim(
        "Theorems C.2, C.3",
        "The original F1 is undefined on C(n+2, 2) matrices and the simplified F1 on one",
        f1_holes,
    ),
    Claim("Theorem C.4", "MCC is undefined on 4n matrices", mcc_holes),
    Claim("Theorem C.5", "PT is undefined on at least 2n + 2 matrices (n ≥ 3)", pt_lower_bound, "E1"),
    Claim(
        "Theorem C.5",
        "PT is undefined on fewer than e^γ n ln ln n + 0.6483 n / ln ln n matrices (n ≥ 3)",
        pt_upper,
        "E1",
    ),
    Claim("Table 1", "The number of matrices on which PT is undefined is O(n log log n)", pt_growth, "E1"),
    Claim("Theorem C.6", "TE is undefined in C(n₁+2, 2) + C(n₂+2, 2) − 1 cases", te_holes, "E3"),
    Claim(
        "Section 4",
        "For all metrics the undefined cases grow more slowly than the n³ configurations",
        slower_than_configurations,
        "E3",
    ),
    Claim("Section 3", "The distribution of PPR in the Multiracial group narrows as n grows", narrows),
    Claim("Section 3", "When n is small, a single additional case can change the distribution a lot", one_more_case),
    Claim("Section 3", "PPR of the Multiracial group converges to 1365/5956 ≈ 0.23", ppr_limit, "E23"),
    Claim(
        "Section 3",
        "Figure 2 uses all configurations, so all four probabilities are 0.25",
        all_configurations,
        "E22",
    ),
    Claim(
        "Section 3",
        "In Figure 2, ACC, PPR and TPR converge to 0.5, and MCC (with or without limits) to 0",
        limits_of_figure_2,
        "E22",
    ),
    Claim(
        "Section 3",
        "The expected value of any metric is its value at the true cell probabilities",
        expected_score,
        "E23",
    ),
    Claim("Section 7", "Binomial metrics are the most jagged", most_jagged),
    Claim(
        "Section 6.2",
        "Sizes n from 5 to 150, ten groups and a million draws make 1.45 billion samples per metric",
        sample_counts,
        "E21",
    ),
)
