"""Size, coverage and power of tests and intervals of dependent cases, in many settings.

Rates of clusters are beta, logit-normal or two-point distributed, with a given intra-class correlation. Run it with
``.venv/bin/python benchmarks/clusters.py [rates|scores|power] [--runs 1000]``; it prints Markdown tables.
docs/reference/evidence.md has the numbers that matter.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from evenhand.inference import design_effects, equality_test, melded_gaps, score_intervals
from evenhand.metrics import metric

Floats = NDArray[np.float64]
Sizes = Callable[[np.random.Generator], NDArray[np.int64]]


def fixed(n: int, size: int) -> Sizes:
    """So many clusters of a size."""
    return lambda rng: np.full(n, size)


def unequal(n: int) -> Sizes:
    """So many clusters of 1 to 20 cases."""
    return lambda rng: rng.integers(1, 21, n)


def mostly_single(rng: np.random.Generator) -> NDArray[np.int64]:
    """Six clusters of one case and two of 20."""
    return np.array([1] * 6 + [20] * 2)


DESIGNS: dict[str, tuple[Sizes, Sizes]] = {
    "8 x 20 v 200 x 1": (fixed(8, 20), fixed(200, 1)),
    "10 x 20 v 200 x 1": (fixed(10, 20), fixed(200, 1)),
    "8 x 20 v 200 x 2": (fixed(8, 20), fixed(200, 2)),
    "8 x 5 v 200 x 1": (fixed(8, 5), fixed(200, 1)),
    "200 x 1 v 8 x 20": (fixed(200, 1), fixed(8, 20)),
    "8 x 2 v 120 x 20": (fixed(8, 2), fixed(120, 20)),
    "8 x 10 v 8 x 10": (fixed(8, 10), fixed(8, 10)),
    "12 x 5 v 120 x 5": (fixed(12, 5), fixed(120, 5)),
    "30 x 2 v 30 x 2": (fixed(30, 2), fixed(30, 2)),
    "8 of 1 to 20 v 200 of 1 to 20": (unequal(8), unequal(200)),
    "20 of 1 to 20 v 60 of 1 to 20": (unequal(20), unequal(60)),
    "6 x 1 and 2 x 20 v 200 x 5": (mostly_single, fixed(200, 5)),
    "200 x 20 v 200 x 20": (fixed(200, 20), fixed(200, 20)),
}
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 0.9)
RATES = (0.5, 0.8, 0.9, 0.97)


def beta_rates(rng: np.random.Generator, n: int, p: float, correlation: float) -> Floats:
    """Rates of a beta law."""
    if correlation == 0:
        return np.full(n, p)
    spread = (1 - correlation) / correlation
    return np.asarray(rng.beta(p * spread, (1 - p) * spread, n))


_NORMAL = np.random.default_rng(0).normal(size=20_000)


def logit_rates(rng: np.random.Generator, n: int, p: float, correlation: float) -> Floats:
    """Rates whose logit is normal, with this mean and correlation."""
    if correlation == 0:
        return np.full(n, p)
    middle, spread = _logit(p, correlation)
    return np.asarray(expit(middle + spread * rng.normal(size=n)))


@lru_cache(maxsize=100)
def _logit(p: float, correlation: float) -> tuple[float, float]:
    """The mean and the spread of logits whose rates have this mean and correlation."""

    def middle(spread: float) -> float:
        return float(brentq(lambda m: expit(m + spread * _NORMAL).mean() - p, -60, 60))

    def excess(spread: float) -> float:
        return float(expit(middle(spread) + spread * _NORMAL).var() / (p * (1 - p)) - correlation)

    spread = float(brentq(excess, 1e-3, 30))
    return middle(spread), spread


def two_rates(rng: np.random.Generator, n: int, p: float, correlation: float) -> Floats:
    """Two rates, equally far from the mean where that is possible."""
    reach = np.sqrt(correlation * p * (1 - p))
    share = max(0.5, correlation * p / (correlation * p + 1 - p))
    high = p + reach * np.sqrt((1 - share) / share)
    low = p - reach * np.sqrt(share / (1 - share))
    return np.asarray(np.where(rng.random(n) < share, min(high, 1.0), max(low, 0.0)))


LAWS = {"beta": beta_rates, "logit-normal": logit_rates, "two values": two_rates}


def effective(name: str, sides: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Effective cells of groups and references, given the cells of their clusters."""
    m = metric(name).base
    mine, theirs = np.empty((len(sides), 4)), np.empty((len(sides), 4))
    for i, (group, reference) in enumerate(sides):
        found = design_effects(m, group, reference)
        mine[i], theirs[i] = group.sum(axis=0) / found.group, reference.sum(axis=0) / found.reference
    return mine, theirs


def drawn_rates(
    rng: np.random.Generator, design: tuple[Sizes, Sizes], law: str, p: tuple[float, float], correlation: float
) -> tuple[Floats, Floats]:
    """The cells of the clusters of a group and of its reference, of positives only."""
    sides = []
    for sizes, rate in zip(design, p, strict=True):
        n = sizes(rng)
        x = rng.binomial(n, LAWS[law](rng, len(n), rate, correlation))
        sides.append(np.column_stack([x, n - x, 0 * x, 0 * x]).astype(np.float64))
    return sides[0], sides[1]


def drawn_scores(rng: np.random.Generator, design: tuple[Sizes, Sizes], correlation: float) -> tuple[Floats, Floats]:
    """The same of positives and negatives: a cluster's label is the same for all of its cases, its errors vary."""
    sides = []
    for sizes in design:
        n = sizes(rng)
        positive = rng.random(len(n)) < 0.5
        wrong = rng.binomial(n, beta_rates(rng, len(n), 0.2, correlation))
        right = n - wrong
        zero = 0 * n
        sides.append(
            np.where(positive[:, None], np.column_stack([right, wrong, zero, zero]),
                     np.column_stack([zero, zero, wrong, right])).astype(np.float64)
        )  # fmt: skip
    return sides[0], sides[1]


def rates(runs: int) -> Iterator[str]:
    """How often equal rates are found to differ, and intervals miss, in %: the largest over all rates."""
    m = metric("tpr").base
    yield "| clusters | law | " + " | ".join(f"ρ = {one:g}" for one in CORRELATIONS) + " | misses of gap | of score |"
    yield "|---|---|" + "---|" * (len(CORRELATIONS) + 2)
    for (name, design), law in product(DESIGNS.items(), LAWS):
        if law != "beta" and name not in list(DESIGNS)[:8:3]:
            continue
        rng = np.random.default_rng(1)
        worst, gaps, scores = [], 0.0, 0.0
        for correlation in CORRELATIONS:
            size = 0.0
            for p in RATES:
                sides = [drawn_rates(rng, design, law, (p, p), correlation) for _ in range(runs)]
                groups, references = effective("tpr", sides)
                found = equality_test(m, groups, references, whole=False).pvalues
                size = max(size, float((found <= 0.05).mean()))
                low, high = melded_gaps(m, groups, references, "difference").interval(0.95)
                gaps = max(gaps, float(((low > 0) | (high < 0)).mean()))
                low, high = score_intervals(m, groups, 0.95, whole=False)
                scores = max(scores, float(((low > p) | (high < p)).mean()))
            worst.append(size)
        yield f"| {name} | {law} | " + " | ".join(f"{100 * one:.1f}" for one in (*worst, gaps, scores)) + " |"


def scores(runs: int) -> Iterator[str]:
    """The same of scores made of several rates."""
    yield "| clusters | score | " + " | ".join(f"ρ = {one:g}" for one in CORRELATIONS) + " | misses of gap |"
    yield "|---|---|" + "---|" * (len(CORRELATIONS) + 1)
    for name, key in product(list(DESIGNS)[2:12:3], ("mcc", "informedness")):
        m, rng = metric(key).base, np.random.default_rng(1)
        worst, gaps = [], 0.0
        for correlation in CORRELATIONS:
            sides = [drawn_scores(rng, DESIGNS[name], correlation) for _ in range(runs)]
            groups, references = effective(key, sides)
            p = equality_test(m, groups, references, whole=False).pvalues
            worst.append(float(np.nanmean(np.where(np.isnan(p), 1.0, p) <= 0.05)))
            low, high = melded_gaps(m, groups, references, "difference").interval(0.95)
            gaps = max(gaps, float(((low > 0) | (high < 0)).mean()))
        yield f"| {name} | {key} | " + " | ".join(f"{100 * one:.1f}" for one in (*worst, gaps)) + " |"


def power(runs: int) -> Iterator[str]:
    """How often a gap of 0.2 is found with independent cases, beside Fisher's test that knows they are."""
    m = metric("tpr").base
    yield "| clusters | " + " | ".join(f"{max(p - 0.2, 0.3):g} v {p:g}" for p in RATES) + " |"
    yield "|---|" + "---|" * len(RATES)
    for name, design in DESIGNS.items():
        rng, cells = np.random.default_rng(1), []
        for p in RATES:
            sides = [drawn_rates(rng, design, "beta", (max(p - 0.2, 0.3), p), 0.0) for _ in range(runs)]
            whole = [np.array([side[i].sum(axis=0) for side in sides]) for i in (0, 1)]
            naive = equality_test(m, whole[0], whole[1]).pvalues <= 0.05
            found = equality_test(m, *effective("tpr", sides), whole=False).pvalues <= 0.05
            cells.append(f"{100 * found.mean():.0f} of {100 * naive.mean():.0f}")
        yield f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=["rates", "scores", "power"])
    parser.add_argument("--runs", type=int, default=1_000)
    chosen = parser.parse_args()
    for table in (rates, scores, power):
        if chosen.table in (None, table.__name__):
            runs = chosen.runs if table is not scores else max(chosen.runs // 5, 20)
            print(f"\n{table.__doc__} {runs:,} runs each.\n")
            for line in table(runs):
                print(line, flush=True)
