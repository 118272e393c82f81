"""Size, coverage and power of tests and intervals of rates of clusters, beside other tests.

Each side has clusters whose rates vary. The bound (`evenhand.inference.cluster_bounds`) is beside Fisher's test of all
cases and, if their module is given, the design effects that audits used before. Run it with ``.venv/bin/python
benchmarks/clusters.py [size|power] [--runs 1000] [--before FILE]``, where FILE is written by ``git show
360fb1b:src/evenhand/inference/design_effect.py``; it prints Markdown tables. See docs/reference/evidence.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.inference import bound_rates, count_alike, draw_weights, equality_test, tail_pvalue
from evenhand.metrics import metric

Floats = NDArray[np.float64]
Rng = np.random.Generator
#: The sizes of clusters, and their rates given the sizes.
Sizes = Callable[[Rng], Floats]
Rates = Callable[[Rng, Floats], Floats]
DRAWS = 2_000
TPR = metric("tpr").base


class Side(NamedTuple):
    """Clusters of a side, and the share of successes among all of its cases in the long run."""

    sizes: Sizes
    rates: Rates
    mean: float

    def draw(self, rng: Rng) -> tuple[Floats, Floats]:
        """Successes and cases of clusters."""
        n = self.sizes(rng)
        return rng.binomial(n.astype(int), self.rates(rng, n)).astype(float), n


def fixed(k: int, size: int) -> Sizes:
    """So many clusters of a size."""
    return lambda rng: np.full(k, float(size))


def lognormal(k: int) -> Sizes:
    """So many clusters, a few of which are large."""
    return lambda rng: np.maximum(1.0, np.round(rng.lognormal(1, 1.2, k)))


def failing(sizes: Sizes, one_in: float, rate: float = 0.97) -> Side:
    """One in so many clusters always fails."""
    mean = rate * (1 - 1 / one_in)
    return Side(sizes, lambda rng, n: np.where(rng.random(len(n)) < 1 / one_in, 0.0, rate), mean)


def varying(sizes: Sizes, a: float, b: float) -> Side:
    """Rates of a beta distribution."""
    return Side(sizes, lambda rng, n: rng.beta(a, b, len(n)), a / (a + b))


def same(sizes: Sizes, rate: float) -> Side:
    """Independent cases."""
    return Side(sizes, lambda rng, n: np.full(len(n), rate), rate)


def large_ones_fail() -> Side:
    """One in 20 clusters has 20 cases, which all fail; the others have one."""
    rates: Rates = lambda rng, n: np.where(n > 1, 0.0, 0.97)  # noqa: E731
    sizes: Sizes = lambda rng: np.where(rng.random(30) < 0.05, 20.0, 1.0)  # noqa: E731
    return Side(sizes, rates, 0.95 * 0.97 / (0.95 + 0.05 * 20))


def pair(group: Side, clusters: int, size: int = 1) -> tuple[Side, Side]:
    """A group beside a reference of the same rate, whose clusters are alike if they have several cases."""
    sizes = fixed(clusters, size)
    return group, same(sizes, group.mean) if size == 1 else group._replace(sizes=sizes)


EQUAL: dict[str, tuple[Side, Side]] = {
    "30 × 20 v 2,000 × 1, 1 in 6 always fails": pair(failing(fixed(30, 20), 6), 2_000),
    "30 × 20 v 2,000 × 1, 1 in 20 always fails": pair(failing(fixed(30, 20), 20), 2_000),
    "30 × 20 v 2,000 × 1, 1 in 30 always fails": pair(failing(fixed(30, 20), 30), 2_000),
    "60 × 20 v 2,000 × 1, 1 in 40 always fails": pair(failing(fixed(60, 20), 40), 2_000),
    "100 × 20 v 2,000 × 1, 1 in 60 always fails": pair(failing(fixed(100, 20), 60), 2_000),
    "8 × 20 v 200 × 1, 1 in 9 always fails": pair(failing(fixed(8, 20), 9, 0.9), 200),
    "10 lognormal v 500 × 1, 1 in 6 always fails": pair(failing(lognormal(10), 6, 0.96), 500),
    "30 × 20 v 200 × 20, 1 in 20 always fails": pair(failing(fixed(30, 20), 20), 200, 20),
    "5 × 20 v 500 × 1, Beta(.9, .1)": pair(varying(fixed(5, 20), 0.9, 0.1), 500),
    "30 × 20 v 2,000 × 1, Beta(.9, .1)": pair(varying(fixed(30, 20), 0.9, 0.1), 2_000),
    "8 × 20 v 8 × 20, Beta(.45, .05)": pair(varying(fixed(8, 20), 0.45, 0.05), 8, 20),
    "30 × 20 v 2,000 × 1, independent": pair(same(fixed(30, 20), 0.9), 2_000),
    "100 × 1 v 500 × 1, independent": pair(same(fixed(100, 1), 0.9), 500),
    "30 of 1 or 20 v 2,000 × 1, large ones fail": pair(large_ones_fail(), 2_000),
}
DIFFERENT: dict[str, tuple[Side, Side]] = {
    f"{k} × 20 of Beta({a}, {b}) v 2,000 × 1 at {rate}": (varying(fixed(k, 20), a, b), same(fixed(2_000, 1), rate))
    for k, a, b, rate in (
        (30, 7.2, 1.8, 0.9), (30, 4.5, 4.5, 0.6), (60, 7.2, 1.8, 0.86), (60, 4.5, 4.5, 0.58), (60, 8.1, 0.9, 0.94),
        (100, 7.2, 1.8, 0.85), (100, 4.5, 4.5, 0.56), (100, 8.1, 0.9, 0.93),
    )
}  # fmt: skip


def interval(sides: list[tuple[Floats, Floats]], rng: Rng) -> tuple[bool, float, float]:
    """Whether the bound finds a difference, and the interval of the group's rate."""
    drawn = []
    for x, n in sides:
        kinds, times = count_alike(np.stack([x, n - x], axis=1))
        sums = kinds.T @ draw_weights(times, rng, DRAWS)
        drawn.append(bound_rates(sums, rng.standard_exponential(DRAWS) * n.max()))
    group, reference = drawn
    beyond = min((group.low <= reference.high).sum(), (group.high >= reference.low).sum())
    p, _ = tail_pvalue(np.array([beyond]), DRAWS)
    return bool(p[0] <= 0.05), float(np.quantile(group.low, 0.025)), float(np.quantile(group.high, 0.975))


def as_cells(x: Floats, n: Floats) -> Floats:
    """The cells of clusters of positives."""
    return np.stack([x, n - x, 0 * x, 0 * x], axis=1)


def compare(sides: tuple[Side, Side], runs: int, before: Any) -> str:
    """A row of shares in %: differences found by bound, design effects and Fisher's test; misses of the rate."""
    rng, missed = np.random.default_rng(21), 0
    found: list[bool] = []
    cells: list[list[Floats]] = []
    effective: list[list[Floats]] = []
    for _ in range(runs):
        drawn = [side.draw(rng) for side in sides]
        differs, low, high = interval(drawn, rng)
        found.append(differs)
        missed += not low <= sides[0].mean <= high
        clusters = [as_cells(*one) for one in drawn]
        cells.append([one.sum(axis=0) for one in clusters])
        if before is not None:
            effects = before.design_effects(TPR, *clusters)
            pairs = zip(cells[-1], (effects.group, effects.reference), strict=True)
            effective.append([one / effect for one, effect in pairs])
    shares: list[float] = [sum(found) / runs, np.nan]
    if before is not None:
        shares[1] = (equality_test(TPR, *np.swapaxes(effective, 0, 1), whole=False).pvalues <= 0.05).mean()
    shares += [(equality_test(TPR, *np.swapaxes(cells, 0, 1)).pvalues <= 0.05).mean(), missed / runs]
    return " | ".join("–" if np.isnan(one) else f"{100 * one:.1f}" for one in shares)


def size(runs: int, before: Any) -> Iterator[str]:
    """How often equal rates are found to differ, and the interval of the group's rate misses, in %."""
    yield from table(EQUAL, runs, before)


def power(runs: int, before: Any) -> Iterator[str]:
    """How often different rates are found to differ, in %."""
    yield from table(DIFFERENT, runs, before)


def table(settings: dict[str, tuple[Side, Side]], runs: int, before: Any) -> Iterator[str]:
    """The rows of some settings."""
    yield "| clusters × cases | bound | design effects | Fisher, all cases | misses of the rate |"
    yield "|---|---|---|---|---|"
    for name, sides in settings.items():
        yield f"| {name} | {compare(sides, runs, before)} |"


def load(path: Path) -> Any:
    """The module of earlier design effects."""
    spec = util.spec_from_file_location("evenhand.inference.before", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=["size", "power"])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--before", type=Path, help="the module of earlier design effects")
    chosen = parser.parse_args()
    earlier = chosen.before and load(chosen.before)
    for rows in (size, power):
        if chosen.table in (None, rows.__name__):
            print(f"\n{rows.__doc__} {chosen.runs:,} runs each.\n")
            for line in rows(chosen.runs, earlier):
                print(line, flush=True)
