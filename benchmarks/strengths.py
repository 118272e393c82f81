"""How learnt strengths of smoothing fare beside fixed ones: the mean error of all groups against that of the worst.

Run it with ``.venv/bin/python benchmarks/strengths.py``; it takes a few minutes and prints the tables of
docs/explanation/smoothing.md and of decision 10. Every group of a collection has known rates. All groups are drawn from
them (seeded), each is smoothed with the rest of the drawn groups and scored by nine metrics. A cell of the comparison
is one group and metric; its number is the mean squared error divided by that of the raw score, over samples in which
the raw score is defined. Cells whose raw error is below 1e-4 are left out: there is nothing to gain in them, and ratios
explode. The mean is over all cells; the worst is the largest number of the three rates that are smoothed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from evenhand import ConfusionMatrix, CrossPrior, metric
from evenhand.examples import compas, folktables_income
from evenhand.inference import SPLITS, Strength, smoothing

Floats = NDArray[np.float64]
Groups = Mapping[str, ConfusionMatrix]

METRICS = ("prev", "tpr", "fpr", "acc", "ppr", "ppv", "npv", "f1", "mcc")
RATES = slice(0, 3)
FIXED = (2, 5, 10, 20, 40)
FEWEST, LEAST_ERROR = 30, 1e-4
# Cases and standard errors by which a count may be moved.
LIMITS = {
    "no limit": (np.inf, 0.0),
    "0.7 s.e.": (0.0, 0.7),
    "1 s.e.": (0.0, 1.0),
    "1/2 case, 1/2 s.e.": (0.5, 0.5),
    "3/4 case, 1/4 s.e.": (0.75, 0.25),
    "1 case": (1.0, 0.0),
    "1 case, 1/4 s.e.": (1.0, 0.25),
}
CHOSEN = "3/4 case, 1/4 s.e."
FRONTIER = (
    "COMPAS's six groups, 5–60 cases",
    "the paper's eight groups, 5–60 cases",
    "60 intersections, spread 6/10/10",
    "one outlier, 30 cases each",
    "one outlier, 100 cases each",
)
PRIORS = ((8, 0.7), (8, 1.0), (12, 0.7), (12, 1.0), (16, 1.0), (25, 1.0))


@dataclass(frozen=True)
class Sample:
    """One sample of all groups of a collection, and the rest of it for each group."""

    groups: Groups
    rests: list[ConfusionMatrix]

    @classmethod
    def of(cls, cells: list[list[int]]) -> Sample:
        """The sample with these cells of its groups."""
        groups = {str(i): ConfusionMatrix.from_array(one) for i, one in enumerate(cells)}
        everybody = sum(groups.values(), ConfusionMatrix(tp=0, fn=0, fp=0, tn=0))
        return cls(groups, [everybody - cm for cm in groups.values()])

    def smoothed(self, how: list[Strength]) -> Floats:
        """The smoothed cells of all groups."""
        each = zip(self.groups.values(), self.rests, how, strict=True)
        return np.array([CrossPrior(rest, s).smooth(np.array(cm.cells, dtype=np.float64)) for cm, rest, s in each])


Drawn = tuple[Floats, list[Sample]]
"""The true rates of groups, of shape (groups, 4), and samples of all of them."""
Strengthener = Callable[[Sample], list[Strength]]


def fixed(strength: float, sample: Sample) -> list[Strength]:
    """One strength for all groups."""
    return [strength] * len(sample.groups)


def learnt(limit: str, prior: tuple[float, float], sample: Sample) -> list[Strength]:
    """Learnt strengths with a limit and a prior around a centre."""
    cases, errors = LIMITS[limit]
    with patch.multiple(smoothing, _CASES=cases, _ERRORS=errors), prior_around(*prior):
        cells, rests = (np.array([cm.cells for cm in some]) for some in (sample.groups.values(), sample.rests))
        spread = smoothing.learn_split_strengths(cells)
        limited = smoothing.limit_strengths(spread, cells, rests)
        return [dict(zip(SPLITS, row, strict=True)) for row in limited.tolist()]


def before(sample: Sample) -> list[Strength]:
    """Learnt strengths as they were: h²/(h + 3), h from the other groups with a prior around 8, without a limit."""
    found: list[Strength] = []
    with prior_around(8.0, 1.0):
        for name in sample.groups:
            cells = np.array([cm.cells for other, cm in sample.groups.items() if other != name])
            each = zip(SPLITS, smoothing.estimate_strengths(cells).tolist(), strict=True)
            found.append({split: h * h / (h + 3) for split, h in each})
    return found


@contextmanager
def prior_around(centre: float, sigma: float) -> Iterator[None]:
    """Learn with another prior of the strength."""
    with patch.multiple(smoothing, _CENTRE=centre, _SIGMA=sigma):
        yield


def relative_errors(drawn: Drawn, strengthener: Strengthener) -> Floats:
    """Squared errors over the raw ones, of shape (groups, metrics)."""
    truth, samples = drawn
    raw = np.array([[cm.cells for cm in sample.groups.values()] for sample in samples], dtype=np.float64)
    smoothed = np.array([sample.smoothed(strengthener(sample)) for sample in samples])
    found = np.full((len(truth), len(METRICS)), np.nan)
    for i, key in enumerate(METRICS):
        scores = metric(key).scores
        errors = np.stack([(scores(cells) - scores(truth)) ** 2 for cells in (smoothed, raw)])
        defined = ~np.isnan(errors).any(axis=0)
        count = defined.sum(axis=0)
        mean = np.where(defined, errors, 0.0).sum(axis=1) / np.maximum(count, 1)
        usable = (count >= FEWEST) & (mean[1] >= LEAST_ERROR)
        found[usable, i] = mean[0, usable] / mean[1, usable]
    return found


def samples(truth: Floats, sizes: NDArray[np.int64], rng: np.random.Generator) -> Drawn:
    """Samples of groups with these rates; ``sizes`` has the shape (samples, groups)."""
    return truth, [Sample.of(cells) for cells in rng.multinomial(sizes, truth).tolist()]


def rates(prev: Any, tpr: Any, fpr: Any) -> Floats:
    return np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=-1)


def small(groups: Groups, rng: np.random.Generator) -> list[Drawn]:
    """All groups cut to 5 to 60 cases, evenly on the log scale."""
    truth = np.array([cm.proportions for cm in groups.values()])
    sizes = np.exp(rng.uniform(np.log(5), np.log(61), (500, len(truth)))).astype(np.int64)
    return [samples(truth, sizes, rng)]


def spreading(k: int, strength: tuple[float, float, float], rng: np.random.Generator) -> Floats:
    """Rates of groups that follow beta laws of the given strengths, from 0.05 to 0.95."""
    mean, of = np.array([0.3, 0.65, 0.25]), np.array(strength)
    return rates(*np.clip(rng.beta(of * mean, of * (1 - mean), (k, 3)), 0.05, 0.95).T)


def intersection(strength: tuple[float, float, float], rng: np.random.Generator) -> list[Drawn]:
    """Three times 60 intersections of 10,000 rows, of 8 cases to many hundreds."""
    each = [np.maximum(8, rng.dirichlet(np.full(60, 0.7)) * 10_000).astype(np.int64) for _ in range(3)]
    return [samples(spreading(60, strength, rng), np.tile(sizes, (40, 1)), rng) for sizes in each]


def made_up(k: int, strength: float, rng: np.random.Generator) -> list[Drawn]:
    """Six times ``k`` groups of 15 to 2,000 cases."""
    each = [np.exp(rng.uniform(np.log(15), np.log(2_000), k)).astype(np.int64) for _ in range(6)]
    return [samples(spreading(k, (strength,) * 3, rng), np.tile(sizes, (40, 1)), rng) for sizes in each]


def outlier(n: int, rng: np.random.Generator) -> list[Drawn]:
    """A TPR of 0.3 among eleven groups at 0.8."""
    tpr = np.array([0.3, *[0.8] * 11])
    return [samples(rates(np.full(12, 0.4), tpr, np.full(12, 0.2)), np.full((400, 12), n), rng)]


def collections() -> Iterator[tuple[str, list[Drawn]]]:
    rng = np.random.default_rng(2024)
    yield "COMPAS's six groups, 5–60 cases", small(compas(), rng)
    yield "the paper's eight groups, 5–60 cases", small(folktables_income(), rng)
    for strength in ((2, 4, 4), (6, 10, 10), (20, 40, 40)):
        yield f"60 intersections, spread {'/'.join(map(str, strength))}", intersection(strength, rng)
    for n in (30, 60, 100, 300):
        yield f"one outlier, {n} cases each", outlier(n, rng)
    for k, spread in ((6, 1), (6, 3), (6, 30), (12, 10), (12, 100)):
        yield f"{k} simulated, spread {spread}", made_up(k, spread, rng)


def main() -> None:
    ours = smoothing._CENTRE, smoothing._SIGMA
    shown: dict[str, Strengthener] = {
        **{f"fixed {s}": partial(fixed, float(s)) for s in FIXED},
        "auto before": before,
        "auto": partial(learnt, CHOSEN, ours),
    }
    varied: dict[str, Strengthener] = {
        **{limit: partial(learnt, limit, ours) for limit in LIMITS},
        **{f"around {c:g}, σ {s:g}": partial(learnt, CHOSEN, (c, s)) for c, s in PRIORS if (c, s) != ours},
    }
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for name, drawn in collections():
        print(name, file=sys.stderr)
        more = varied if name in FRONTIER else {}
        for how, strengthener in (shown | more).items():
            errors = np.concatenate([relative_errors(one, strengthener) for one in drawn])
            found = float(np.nanmean(errors)), float(np.nanmax(errors[:, RATES]))
            table.setdefault(how, {})[name] = found
    best = {name: min(table[f"fixed {s}"][name][0] for s in FIXED) for name in table["auto"]}
    print_errors(table, best)
    print_frontier({how: table[how] for how in varied}, best)


def print_errors(table: Mapping[str, Mapping[str, tuple[float, float]]], best: Mapping[str, float]) -> None:
    """The mean and the worst error of each collection."""
    shown = ("fixed 5", "fixed 10", "fixed 20", "auto before", "auto")
    print_row("collection", *shown, "best fixed", "auto v best")
    print_row(*["---"] * 8)
    for name in best:
        cells = ["{:.2f}, {:.1f}".format(*table[how][name]) for how in shown]
        print_row(name, *cells, f"{best[name]:.2f}", f"{table['auto'][name][0] / best[name] - 1:+.0%}")


def print_frontier(table: Mapping[str, Mapping[str, tuple[float, float]]], best: Mapping[str, float]) -> None:
    """The mean over that of the best fixed strength, and the worst, for each limit and prior."""
    print()
    print_row("", *FRONTIER)
    print_row(*["---"] * (len(FRONTIER) + 1))
    for how, found in table.items():
        print_row(how, *(f"{found[name][0] / best[name] - 1:+.0%}, {found[name][1]:.1f}" for name in FRONTIER))


def print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
