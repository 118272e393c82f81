"""How often the 5 % test rejects, and how often the 95 % interval covers: exactly, over a grid of small groups.

Run it with ``.venv/bin/python benchmarks/calibration.py > docs/calibration.md``; it takes a few minutes. Nothing is
simulated: every pair of groups is listed with its probability. The percentile bootstrap is the limit of infinitely
many resamples of the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evenhand import ConfusionMatrix, distribution, enumerate_matrices, interval, match_test, metric
from evenhand.laws import BetaBinomial, Binomial, Hypergeometric, Split, law_of

Floats = NDArray[np.float64]
RATES = np.round(np.arange(0.02, 0.99, 0.02), 2)
TESTS = ("known", "predictive", "pooled", "pooled, mid-p")
COMPAS = {"Black": ConfusionMatrix(273, 170, 1043, 1692), "White": ConfusionMatrix(77, 129, 380, 1679)}


def split_of(test: str, k: int, j: int, n: int, n_ref: int) -> Split:
    """The law of a group's count under the null, when the reference shows ``j`` of ``n_ref``."""
    if test == "known":
        return Binomial(j / n_ref, 1 - j / n_ref)
    if test == "predictive":
        return BetaBinomial(j + 1.0, n_ref - j + 1.0)
    return Hypergeometric(k + j, n + n_ref - k - j)


def central(split: Split, n: int, mid: bool) -> Floats:
    """The two-sided p-value of each count."""
    p = split.pmf(np.arange(n + 1), n)
    own = p / 2 if mid else p
    low, high = np.cumsum(p) - p + own, np.cumsum(p[::-1])[::-1] - p + own
    doubled: Floats = 2 * np.minimum(low, high)
    return np.minimum(1.0, doubled)


@cache
def rejections(test: str, n: int, n_ref: int) -> NDArray[np.bool_]:
    """Whether the 5 % test rejects, for each count of the group (rows) and of the reference (columns)."""
    reject = np.zeros((n + 1, n_ref + 1), dtype=bool)
    if test.startswith("pooled"):
        for total in range(n + n_ref + 1):
            p = central(split_of(test, 0, total, n, n_ref), n, test.endswith("mid-p"))
            k = np.arange(max(0, total - n_ref), min(n, total) + 1)
            reject[k, total - k] = p[k] <= 0.05 + 1e-12
    else:
        for j in range(n_ref + 1):
            reject[:, j] = central(split_of(test, 0, j, n, n_ref), n, False) <= 0.05 + 1e-12
    return reject


def rejected(test: str, n: int, n_ref: int, p: float, p_ref: float) -> float:
    """The probability that the 5 % test rejects, when the group's rate is ``p`` and the reference's ``p_ref``."""
    group = Binomial(p, 1 - p).pmf(np.arange(n + 1), n)
    reference = Binomial(p_ref, 1 - p_ref).pmf(np.arange(n_ref + 1), n_ref)
    return float(group @ rejections(test, n, n_ref) @ reference)


def check_against_the_library() -> None:
    """The vectorised p-values are those of match_test."""
    n, n_ref = 12, 30
    for k, j in ((0, 3), (5, 9), (12, 20), (7, 2)):
        group, reference = ConfusionMatrix(k, n - k, 0, 0), ConfusionMatrix(j, n_ref - j, 0, 0)
        for test in TESTS:
            null, mid = test.split(",")[0], test.endswith("mid-p")
            expected = match_test(group, reference, "acc", null=null, mid_p=mid).pvalue  # type: ignore[arg-type]
            assert abs(central(split_of(test, k, j, n, n_ref), n, mid)[k] - expected) < 1e-10


def size_tables() -> Iterator[str]:
    yield "| n | reference | " + " | ".join(f"{t}: at 0.3 | most" for t in TESTS) + " |"
    yield "|---|---|" + "---|---|" * len(TESTS)
    for n in (5, 10, 20, 50, 100, 200):
        for n_ref in (50, 100, 200, 500, 1000):
            cells = []
            for test in TESTS:
                sizes = [rejected(test, n, n_ref, p, p) for p in RATES]
                cells += [f"{100 * rejected(test, n, n_ref, 0.3, 0.3):.1f} %", f"{100 * max(sizes):.1f} %"]
            yield f"| {n} | {n_ref} | " + " | ".join(cells) + " |"


def power_table() -> Iterator[str]:
    yield "| n | reference | " + " | ".join(TESTS) + " |"
    yield "|---|---|" + "---|" * len(TESTS)
    for n in (10, 20, 50, 100, 200):
        for n_ref in (100, 1000):
            powers = [f"{100 * rejected(test, n, n_ref, 0.5, 0.3):.0f} %" for test in TESTS]
            yield f"| {n} | {n_ref} | " + " | ".join(powers) + " |"


def coverage(key: str, truth: ConfusionMatrix, n: int) -> tuple[float, float, float]:
    """How often interval and bootstrap cover the true score, given that the group's score is defined."""
    m = metric(key)
    true_score = float(m(truth))
    cells = enumerate_matrices(n)
    weights = law_of(truth, n).pmf(cells)
    ours = bootstrap = defined = 0.0
    held: dict[tuple[float, ...], tuple[bool, bool]] = {}
    for row, weight in zip(cells.tolist(), weights, strict=True):
        cm = ConfusionMatrix(*row)
        if weight < 1e-12 or np.isnan(m(cm)):
            continue
        if m.shape == "pair":
            kind: tuple[float, ...] = cm.cells
        else:
            # Other metrics depend on fewer counts, so that many matrices share an interval.
            tree = m.tree  # type: ignore[attr-defined]
            kind = tuple(float(c) for c in tree.collapse(np.array(cm.cells)))
        if kind not in held:
            resampled = distribution(m, n, cm).quantile([0.025, 0.975])
            held[kind] = true_score in interval(cm, m), bool(resampled[0] <= true_score <= resampled[1])
        defined += weight
        ours += weight * held[kind][0]
        bootstrap += weight * held[kind][1]
    return ours / defined, bootstrap / defined, 1 - defined


def coverage_table() -> Iterator[str]:
    yield "| metric | rates of | n | undefined | our 95 % interval | percentile bootstrap |"
    yield "|---|---|---|---|---|---|"
    grid = [(key, n) for key in ("tpr", "ppv", "fpr", "acc", "f1") for n in (10, 15, 20, 30)]
    for key, n in [*grid, ("mcc", 10)]:
        for who, truth in COMPAS.items():
            ours, bootstrap, undefined = coverage(key, truth, n)
            found = (f"{100 * undefined:.0f} %", f"{100 * ours:.1f} %", f"{100 * bootstrap:.1f} %")
            yield f"| {key} | COMPAS {who} | {n} | {' | '.join(found)} |"
            print(key, n, who, file=sys.stderr)


def main() -> None:
    check_against_the_library()
    print("# Calibration: how often tests reject and intervals cover\n")
    print("Made by `benchmarks/calibration.py`, exactly: every outcome is listed with its probability.\n")
    print("## The 5 % test when nothing differs\n")
    print(
        "Group and reference share one rate; the metric is a share (a ratio given its denominator behaves the same,\n"
        "with the denominators for n). 'At 0.3' is the probability of a p-value of at most 0.05 when that rate is\n"
        "0.3, 'most' the largest over rates from 0.02 to 0.98. Given the pooled counts, the pooled p-value is that of\n"
        "an exact test, so it cannot exceed 5 %; the others can, and taking the rates as known does so by far.\n"
    )
    print("\n".join(size_tables()))
    print("\n## The 5 % test when the rates are 0.5 and 0.3\n")
    print("How often the difference is seen. The power of `known` is bought with its false alarms above.\n")
    print("\n".join(power_table()))
    print("\n## The 95 % interval\n")
    print(
        "How often the interval holds the true score of groups drawn with the rates of ProPublica's tables of violent\n"
        "recidivism, given that the group's score is defined. Ours is a Bayesian interval: near its level on average,\n"
        "not a guaranteed minimum. The bootstrap resamples rows and takes percentiles over resamples with a score.\n"
    )
    print("\n".join(coverage_table()))


if __name__ == "__main__":
    main()
