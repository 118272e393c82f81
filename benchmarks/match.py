"""What an exact test costs, beside a million random groups, and how the cost grows with n.

Run it with ``.venv/bin/python benchmarks/match.py``. Each line is one metric and size: the default test (pooled, given
the denominator), the paper's (rates known, only n given), and 10**6 draws of the latter scored at once. Times are the
best of a few runs on a machine that others share, so read the ratios. Expect shares, ratios and contrasts at n = 10**6
within 50 ms, MCC and PT at n = 10**3 within 50 ms, and exact ahead of the draws everywhere up to n = 10**4, there
about three times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from evenhand import ConfusionMatrix, match_test, metric
from evenhand.errors import TooLarge

METRICS = {"acc": "share", "tpr": "ratio", "mb": "contrast", "f1": "F1", "mcc": "pair", "pt": "pair"}
SIZES = (10**2, 10**3, 10**4, 10**6)
RATES = np.array([0.15, 0.10, 0.20, 0.55])
DRAWS = 10**6


def best(call: Callable[[], object], budget: float = 1.0) -> float:
    """The shortest of as many runs as fit the budget, in milliseconds."""
    times: list[float] = []
    while not times or (sum(times) < budget and len(times) < 7):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def group_of(n: int) -> ConfusionMatrix:
    """A group a little better than the reference, two standard deviations or so."""
    tp, fn, fp = (int(c) for c in np.floor(RATES[:3] * n))
    shift = int(np.sqrt(n) * 0.4)
    return ConfusionMatrix(tp=tp + shift, fn=fn - shift, fp=fp - shift // 2, tn=n - tp - fn - fp + shift // 2)


def draw(key: str, n: int, rng: np.random.Generator) -> object:
    cells = rng.multinomial(n, RATES, size=DRAWS)
    return metric(key)(cells)


def main() -> None:
    rng = np.random.default_rng(0)
    match_test(group_of(100), ConfusionMatrix(tp=15, fn=10, fp=20, tn=55), "mcc")
    print("metric                 n    default      paper  10^6 draws  draws/default  draws/paper")
    for key, shape in METRICS.items():
        first: dict[str, float] = {}
        for n in SIZES:
            cm, reference = group_of(n), ConfusionMatrix.from_array([int(c) for c in RATES * 10 * n])
            ours = best(lambda cm=cm, ref=reference, key=key: match_test(cm, ref, key))  # type: ignore[misc]
            try:
                paper = best(lambda cm=cm, key=key: match_test(cm, RATES, key, null="known", given="n"))  # type: ignore[misc]
            except TooLarge:
                paper = float("nan")
            drawn = best(lambda n=n, key=key: draw(key, n, rng), budget=0.1)  # type: ignore[misc]
            first.setdefault("ours", ours)
            first.setdefault("paper", paper)
            print(
                f"{key + ' (' + shape + ')':<14} {n:>9,} {ours:>7.1f} ms {paper:>7.1f} ms {drawn:>8.0f} ms "
                f"{drawn / ours:>14.1f} {drawn / paper:>12.1f}",
                flush=True,
            )
        print(f"{'':<14} cost at n = 10^6 over n = 10^2: {ours / first['ours']:.1f} x (default)")


if __name__ == "__main__":
    main()
