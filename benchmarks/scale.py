"""How the audit grows with the number of groups and of cases, beside SciPy's own functions for as many rows.

Run it with ``.venv/bin/python benchmarks/scale.py``; it takes a few minutes and prints a Markdown table. Groups are
made up from a fixed seed, with log-normal sizes like those of race by sex by schooling. The floor is what the bare
tests and intervals would take: SciPy's hypergeometric tails and beta quantiles of as many rows. (Those tails are many
times slower among fewer than about 100,000 cases, which shows in the smallest audit's floor.) Times depend on the
machine; ratios within a run are what to read. Memory is the largest so far in the process.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import beta, hypergeom

from evenhand import ConfusionMatrix, EvenhandError, audit_counts, list_metrics
from evenhand.auditing import METRICS
from evenhand.examples import compas
from evenhand.inference import counts_of
from evenhand.metrics import metric

Counts = dict[str, tuple[int, ...]]
# Large groups with other rates: about a billion cases in each.
HUGE = {
    "A": (231_000_007, 119_000_003, 151_000_011, 499_000_001),
    "B": (230_900_003, 119_100_001, 150_900_007, 499_100_009),
}


def made_up(groups: int) -> Counts:
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, np.exp(rng.normal(4.5, 1.6, groups))).astype(int)
    prev, tpr, fpr = rng.beta(12, 28, groups), rng.beta(24, 16, groups), rng.beta(8, 32, groups)
    rates = np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=1)
    return {f"group {i}": tuple(rng.multinomial(sizes[i], rates[i]).tolist()) for i in range(groups)}


def seconds(work: Callable[[], Any], times: int = 1) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def floor(counts: Counts) -> None:
    """Hypergeometric tails and beta quantiles of every group and default metric."""
    cells = np.array(list(counts.values()), dtype=np.float64)
    rest = cells.sum(axis=0) - cells
    for key in METRICS:
        a, of_a = counts_of(metric(key).base, cells)
        b, of_b = counts_of(metric(key).base, rest)
        hypergeom.cdf(a, of_a + of_b, a + b, of_a)
        hypergeom.sf(a - 1, of_a + of_b, a + b, of_a)
        for q in (0.025, 0.975):
            beta.ppf(q, a + 0.5, of_a - a + 0.5)


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def many_groups() -> Iterator[str]:
    for groups, times in ((365, 3), (2_000, 1), (10_000, 1)):
        counts = made_up(groups)
        bare = seconds(lambda c=counts: floor(c), times)  # type: ignore[misc]
        whole = seconds(lambda c=counts: audit_counts(c, max_groups=20_000), times)  # type: ignore[misc]
        rows = groups * len(METRICS)
        size = f"{groups:,} groups × {len(METRICS)}"
        each = f"{whole / bare:.1f} × the floor, {1e3 * whole / rows:.2f} ms per row"
        yield f"| floor of {size} | {bare:.2f} | | |"
        yield f"| audit of {size} | {whole:.2f} | {each} | {peak()} |"
        if groups == 365:
            audited = audit_counts(counts)
            page = seconds(audited.to_html, 3)
            each = f"{len(audited.to_html()) / 1e6:.1f} MB of HTML, {page / whole:.2f} × the audit"
            yield f"| report of {size} | {page:.2f} | {each} | {peak()} |"


def one_row() -> Iterator[str]:
    for name, counts in (("COMPAS", compas()), ("365 groups", made_up(365))):
        one = seconds(lambda c=counts: audit_counts(c, metrics="tpr"))  # type: ignore[misc]
        mcc = seconds(lambda c=counts: audit_counts(c, metrics="mcc"))  # type: ignore[misc]
        each = f"{1e3 * mcc / len(counts):.0f} ms per row, {mcc / one:.0f} × TPR"
        yield f"| {name}: one metric, MCC | {mcc:.2f} | {each} | {peak()} |"


def huge_counts() -> Iterator[str]:
    """Every metric of one group, for two groups of a billion cases."""
    taken: dict[str, float] = {}
    failed: dict[str, str] = {}
    for key in (m.key for m in list_metrics()):
        if metric(key).comparisons:
            continue
        try:
            taken[key] = seconds(lambda k=key: audit_counts(HUGE, metrics=k))  # type: ignore[misc]
        except EvenhandError as problem:
            failed[key] = f"{type(problem).__name__}: {problem}"
        print(key, f"{taken.get(key, np.nan):.2f} s", failed.get(key, ""), file=sys.stderr)
    slowest = sorted(taken, key=lambda k: -taken[k])[:4]
    worst = ", ".join(f"{k} {taken[k]:.2f} s" for k in slowest)
    total = sum(taken.values())
    yield f"| two groups of 10⁹, each of {len(taken)} metrics | {total:.2f} | slowest: {worst} | {peak()} |"
    for key, why in failed.items():
        yield f"| two groups of 10⁹, {key} | | fails: {why} | |"


def main() -> None:
    audit_counts({name: ConfusionMatrix(*cm.cells) for name, cm in compas().items()}, metrics=["tpr", "mcc"])
    print("| what | seconds | | peak memory |")
    print("|---|---|---|---|")
    for lines in (one_row, many_groups, huge_counts):
        for line in lines():
            print(line, flush=True)


if __name__ == "__main__":
    main()
