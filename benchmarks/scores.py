"""Coverage of the intervals and size of the tests of scores, by simulation with a fixed seed.

Prints the tables in docs/how-to/scores.md. Positives are normal around `shift`, negatives around 0, so the true area is
Phi(shift / sqrt 2); probabilities for the losses come from a logistic model that is right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from evenhand.inference import ranking_gap, ranking_score

Floats = NDArray[np.float64]
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
Z = 1.959963984540054
KEYS = ("brier", "log_loss")


def placements(plus: Floats, minus: Floats) -> tuple[float, float]:
    """The area and DeLong's variance of it."""
    wins = (plus[:, None] > minus) + 0.5 * (plus[:, None] == minus)
    spread = wins.mean(axis=1).var(ddof=1) / len(plus) + wins.mean(axis=0).var(ddof=1) / len(minus)
    return float(wins.mean()), float(spread)


def delong(plus: Floats, minus: Floats) -> tuple[float, float]:
    found, variance = placements(plus, minus)
    return found - Z * variance**0.5, found + Z * variance**0.5


def logit(plus: Floats, minus: Floats) -> tuple[float, float]:
    found, variance = placements(plus, minus)
    if not 0 < found < 1:
        return found, found
    half = Z * variance**0.5 / (found * (1 - found))
    centre = np.log(found / (1 - found))
    return float(expit(centre - half)), float(expit(centre + half))


def newcombe(plus: Floats, minus: Floats) -> tuple[float, float]:
    positive = np.repeat([True, False], [len(plus), len(minus)])
    found = ranking_score("auc", positive, np.r_[plus, minus], 0.95)
    return found.low, found.high


INTERVALS: dict[str, Callable[[Floats, Floats], tuple[float, float]]] = {
    "DeLong": delong,
    "logit DeLong": logit,
    "Newcombe": newcombe,
}


def areas() -> None:
    print("| positives, negatives | spread of positives | true AUC | " + " | ".join(INTERVALS) + " |")
    print("|---|---|---|" + "---|" * len(INTERVALS))
    for m, n in ((3, 5), (5, 10), (10, 10), (5, 50), (30, 30)):
        for wide, true in ((1.0, 0.6), (1.0, 0.8), (1.0, 0.95), (2.0, 0.8)):
            shift = norm.ppf(true) * (1 + wide**2) ** 0.5
            rng = np.random.default_rng(m * n)
            hits = dict.fromkeys(INTERVALS, 0)
            for _ in range(REPEATS):
                plus, minus = wide * rng.normal(size=m) + shift, rng.normal(size=n)
                for name, interval in INTERVALS.items():
                    low, high = interval(plus, minus)
                    hits[name] += low <= true <= high
            shown = " | ".join(f"{100 * hit / REPEATS:.1f}%" for hit in hits.values())
            print(f"| {m}, {n} | {wide:g} | {true:g} | {shown} |", flush=True)


def losses() -> None:
    print("\n| cases | Brier score | log loss |\n|---|---|---|")
    rng = np.random.default_rng(1)
    p = expit(2 * rng.normal(size=1_000_000))
    brier, log = (p * (1 - p)).mean(), -(p * np.log(p) + (1 - p) * np.log1p(-p)).mean()
    true: dict[str, float] = {"brier": float(brier), "log_loss": float(log)}
    for n in (5, 15, 30, 100):
        hits = dict.fromkeys(KEYS, 0)
        for _ in range(REPEATS // 2):
            q = expit(2 * rng.normal(size=2 * n))
            y = rng.random(2 * n) < q
            for group, key in product((slice(n), slice(n, None)), KEYS):
                found = ranking_score(key, y[group], q[group], 0.95)
                hits[key] += found.low <= true[key] <= found.high
        shown = " | ".join(f"{100 * hit / (2 * (REPEATS // 2)):.1f}%" for hit in hits.values())
        print(f"| {n} | {shown} |", flush=True)


def sizes() -> None:
    print("\n| group | reference | spread of the group's scores | rejected at 0.05 |\n|---|---|---|---|")
    for (m, n), (m2, n2) in (((5, 5), (20, 20)), ((10, 30), (30, 30)), ((20, 20), (40, 40))):
        for wide in (1.0, 3.0):
            rng = np.random.default_rng(m * n2)
            shift, rejected = 1.19, 0
            group_shift = shift * ((1 + wide**2) / 2) ** 0.5
            for i in range(REPEATS // 2):
                plus, minus = wide * rng.normal(size=m) + group_shift, rng.normal(size=n)
                scores = np.r_[plus, minus, rng.normal(size=m2) + shift, rng.normal(size=n2)]
                positive = np.repeat([True, False, True, False], [m, n, m2, n2])
                member = np.arange(len(scores)) < m + n
                source = np.random.default_rng(i)
                found = ranking_gap("auc", member, positive, scores, confidence_level=0.95, draws=199, rng=source)
                rejected += found.pvalue <= 0.05
            share = 100 * rejected / (REPEATS // 2)
            print(f"| {m} + {n} | {m2} + {n2} | {wide:g} | {share:.1f}% |", flush=True)


if __name__ == "__main__":
    areas()
    losses()
    sizes()
