"""The paper's whole experiment, exact, beside the time that the paper's way would take on this machine.

Run it with ``.venv/bin/python benchmarks/experiment.py``: 15 metrics, 10 groups, n = 5..149, raw, 1e-10, add-one and
λ = 5, 10, 20, 40, on two processes. The paper's way is timed for one metric, group and n (a million multinomial draws,
each estimator scored) and scaled to the same experiment. Expect about 3 s on 2 cores, and under 200 MB.
"""

from __future__ import annotations

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from evenhand import ConfusionMatrix, metric, risk

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.study import METRICS, SIZES, Study, estimators

DRAWS = 10**6


def exact(pair: tuple[ConfusionMatrix, ConfusionMatrix]) -> int:
    truth, reference = pair
    return len(risk(METRICS, truth, SIZES, estimators(reference)))


def the_papers_way(n: int) -> float:
    """Seconds for a million draws of one group at one n, scored by each estimator, averaged over four metrics."""
    truth, reference = Study().groups["COMPAS/Black"]
    rng = np.random.default_rng(0)
    keys = ("acc", "tpr", "mcc", "pt")
    start = time.perf_counter()
    for key in keys:
        cells = rng.multinomial(n, truth.proportions, size=DRAWS).astype(np.float64)
        for how in estimators(reference):
            np.nanmean((metric(key).scores(how.smooth(cells)) - metric(key)(truth)) ** 2)
    return (time.perf_counter() - start) / len(keys)


def main() -> None:
    pairs = list(Study().groups.values())
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        points = sum(pool.map(exact, pairs))
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    one = the_papers_way(75)
    scaled = one * len(METRICS) * len(pairs) * len(SIZES)
    print(f"exact: {points:,} errors in {seconds:.1f} s on two processes, at most {memory:.0f} MB each")
    print(f"the paper's way: {one:.2f} s for one metric, group and n; {scaled / 3600:.1f} core hours for all of them")
    print(f"ratio: {scaled / (2 * seconds):,.0f} (core seconds)")


if __name__ == "__main__":
    main()
