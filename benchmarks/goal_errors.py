"""Goals: how often an audit says of any of 20 groups that lie exactly on the goal that it meets it.

Run it with ``.venv/bin/python benchmarks/goal_errors.py [--runs N]``, two minutes of one core. The first table is exact
for the smallest p-value: P(any of 20 groups is called *meets* at the first step of Holm's method), of the 20 groups and
of all cases. The second one simulates all steps at its worst settings, by p-values that audits give, and the third one
makes whole audits. Seeds are fixed; ± is a standard error. The worst setting is in bold.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from whole_audits import share, table

from evenhand import audit_counts
from evenhand.auditing.multiplicity import adjust_holm

Floats = NDArray[np.float64]
GROUPS, ALPHA = 20, 0.05
SIZES = (*range(5, 61, 5), 80, 100, 150, 200)
GOALS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)


@cache
def pvalues(n: int, goal: float) -> Floats:
    """What an audit gives for 0 to n successes of n, before adjustment."""
    counts = {f"{k:04}": (k, n - k, 0, 0) for k in range(n + 1)}
    a = audit_counts(counts, metrics="prev", goal={"tpr": f">={goal}"}, adjust="none")
    rows = sorted((row.group, row.pvalue) for row in a.rows if row.is_goal and row.by)
    return np.array([p for _, p in rows])


def first_step(n: int, goal: float) -> float:
    """P(any group is called "meets" at alpha / 21)."""
    k = np.arange(n + 1)
    meets = (pvalues(n, goal) <= ALPHA / (GROUPS + 1)) & (k > n * goal)
    return float(1 - (1 - binom.pmf(k, n, goal)[meets].sum()) ** GROUPS)


def simulate(n: int, goal: float, runs: int) -> Any:
    """The share of audits in which any group is called "meets", with all steps of Holm's method."""
    rng, hits = np.random.default_rng(7), []
    for k in rng.binomial(n, goal, (runs, GROUPS)):
        total = k.sum()
        cases = 2 * min(binom.cdf(total, n * GROUPS, goal), binom.sf(total - 1, n * GROUPS, goal))
        adjusted = adjust_holm(np.append(pvalues(n, goal)[k], min(1.0, cases)))
        hits.append(bool(((adjusted[:-1] <= ALPHA) & (k > n * goal)).any()))
    return share(hits)


def whole_audits(n: int, goal: float, runs: int) -> Any:
    """The same of whole audits, all cases included."""
    rng, hits = np.random.default_rng(8), []
    for draw in rng.binomial(n, goal, (runs, GROUPS)):
        counts = {f"{i}": (int(k), int(n - k), 0, 0) for i, k in enumerate(draw)}
        a = audit_counts(counts, metrics="prev", goal={"tpr": f">={goal}"})
        hits.append(any(row.verdict == "meets" for row in a.rows))
    return share(hits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1.0)
    runs = parser.parse_args().runs
    exact = {(n, goal): first_step(n, goal) for goal in GOALS for n in SIZES}
    lines = []
    for goal in GOALS:
        worst = max((exact[n, goal], n) for n in SIZES)[1]
        lines.append((f"{goal:g}", f"{worst}", f"{100 * exact[worst, goal]:.2f}"))
    print("\n".join(table(("goal", "worst n", "first step, %"), lines)))
    largest = sorted(exact, key=exact.__getitem__)[-3:]
    said = [(f"{goal:g}, n = {n}", simulate(n, goal, int(20_000 * runs))) for n, goal in largest]
    print("\n".join(table(("goal", "simulated"), said)))
    n, goal = largest[-1]
    print(f"whole audits, {goal:g}, n = {n}: {whole_audits(n, goal, int(400 * runs))}")


if __name__ == "__main__":
    main()
