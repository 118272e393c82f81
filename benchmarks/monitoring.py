"""What a monitor claims: few false alarms however often one looks, differences found soon, each person counted once.

Run it with ``.venv/bin/python benchmarks/monitoring.py [section ...] [--runs N]``; without a section it runs all,
about ten minutes of one core. ``--runs`` multiplies the number of simulated monitors, which have fixed seeds, with
standard errors (±). The worst setting of each table is in bold. Progress and times go to stderr.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from whole_audits import Share, matrix, share, table

from evenhand import Monitor, metric
from evenhand.auditing import METRICS
from evenhand.inference import count_successes
from evenhand.inference.e_process import EProcess, joint_evalues, log_likelihood_ratios

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LOOKS, THRESHOLD = 1_000, 20.0
ALARMS = "monitors with a false alarm"


# ------------------------------------------------------------------------------------------------ false alarms


def random_sizes(look: int, before: Ints, good: Floats, rng: np.random.Generator) -> Ints:
    return rng.integers(1, 31, before.shape)


def growing(look: int, before: Ints, good: Floats, rng: np.random.Generator) -> Ints:
    return np.full_like(before, 1 + 40 * look // LOOKS)


def alternating(look: int, before: Ints, good: Floats, rng: np.random.Generator) -> Ints:
    sizes = np.full_like(before, 1 if look % 2 else 40)
    sizes[:, ::2] = 40 if look % 2 else 1
    return sizes


def following(look: int, before: Ints, good: Floats, rng: np.random.Generator) -> Ints:
    """A group grows after a batch with many decisions in its favour."""
    return np.clip(before + np.where(good > 0.5, 2, -2), 1, 30)


SIZES: dict[str, Callable[[int, Ints, Floats, np.random.Generator], Ints]] = {
    "random, 1 to 30": random_sizes,
    "growing from 1 to 40": growing,
    "alternating, 1 and 40": alternating,
    "following outcomes": following,
}
RATES: dict[str, Callable[[int], tuple[float, float, float]]] = {
    "fixed": lambda look: (0.4, 0.7, 0.2),
    "drifting": lambda look: (
        0.4 + 0.3 * np.sin(look / 50),
        0.5 + 0.4 * np.sin(look / 31),
        0.3 + 0.25 * np.sin(look / 83),
    ),
}


@dataclass(frozen=True)
class Setting:
    """Groups and metrics without any difference; one group has a reference of ten times its size."""

    groups: int
    metrics: int
    sizes: str
    rates: str
    runs: int


def settings(times: float) -> Iterator[Setting]:
    """About equally much work for each number of comparisons."""
    for groups, metrics, runs in (
        (1, 1, 800),
        (1, 8, 130),
        (6, 1, 130),
        (6, 3, 50),
        (20, 3, 20),
        (60, 1, 20),
        (60, 8, 6),
    ):
        for sizes in SIZES:
            for rates in RATES if groups * metrics <= 8 else ["drifting"]:
                yield Setting(groups, metrics, sizes, rates, max(1, round(runs * times)))


def false_alarms(who: Setting, seed: int) -> Share:
    """The share of monitors with an alarm in any of a thousand looks; a monitor ends with its first."""
    rng = np.random.default_rng([25, seed])
    monitored = [metric(key).base for key in METRICS[: who.metrics]] if who.metrics > 1 else [metric("tpr").base]
    compared = who.groups * len(monitored)
    weights, left = np.full(compared, 0.9 / compared), 0.1
    gathered = EProcess.start(who.runs * compared)
    alive, alarmed = np.arange(who.runs), 0
    sizes, good = np.full((who.runs, who.groups), 6), np.full((who.runs, who.groups), 0.5)
    for look in range(LOOKS):
        truth = matrix(*RATES[who.rates](look))
        sizes = SIZES[who.sizes](look, sizes, good, rng)
        own = rng.multinomial(sizes, truth).astype(np.float64)
        good = (own[..., 0] + own[..., 2]) / sizes
        if who.groups > 1:
            theirs = own.sum(axis=1, keepdims=True) - own
        else:
            theirs = rng.multinomial(10 * sizes, truth).astype(np.float64)
        pairs = [np.stack([*count_successes(m, own[alive]), *count_successes(m, theirs[alive])]) for m in monitored]
        a, of_a, b, of_b = np.stack(pairs, axis=-1).reshape(4, -1)
        places = (alive[:, None] * compared + np.arange(compared)).ravel()
        gathered.add(log_likelihood_ratios(a, of_a, b, of_b), places)
        values = gathered.evalues.reshape(who.runs, compared)[alive]
        # What holds together is at most what holds alone.
        found = [bool(v.max() >= THRESHOLD and joint_evalues(v, weights, left).max() >= THRESHOLD) for v in values]
        alarmed += sum(found)
        alive = alive[~np.array(found)]
        if not len(alive):
            break
    return Share(alarmed / who.runs, who.runs)


def alarms(times: float) -> Iterator[str]:
    """Nothing differs: the share of monitors that raise an alarm in 1,000 looks."""
    lines = []
    for seed, who in enumerate(settings(times)):
        began = time.process_time()
        lines.append((who.groups, who.metrics, who.sizes, who.rates, false_alarms(who, seed)))
        print(*lines[-1], f"{time.process_time() - began:.1f} s", file=sys.stderr)
    yield from table(["groups", "metrics", "sizes of a batch", "common rates", ALARMS], lines)
    yield ""
    every = [line[-1] for line in lines]
    hits, runs = sum(round(one.value * one.runs) for one in every), sum(one.runs for one in every)
    yield f"Of all {runs:,} monitors: {Share(hits / runs, runs)}."


# ------------------------------------------------------------------------------------------------------ delays


def delay(gap: float, base: float, start: int, runs: int, weeks: int = 250) -> tuple[float, float]:
    """The median and the mean number of batches until an alarm; earlier false alarms are left out."""
    rng = np.random.default_rng([26, start])
    gathered, found = EProcess.start(runs), np.full(runs, np.nan)
    for week in range(start + weeks):
        n = rng.integers(5, 31, runs)
        a = rng.binomial(n, base + (gap if week >= start else 0.0))
        b = rng.binomial(10 * n, base)
        gathered.add(log_likelihood_ratios(*(each.astype(np.float64) for each in (a, n, b, 10 * n))))
        new = np.isnan(found) & (gathered.evalues >= THRESHOLD)
        found[new] = week + 1 - start
        if not np.isnan(found).any():
            break
    kept = np.where(np.isnan(found), weeks + 1, found)[~(found <= 0)]
    return float(np.median(kept)), float(kept.mean())


def delays(times: float) -> Iterator[str]:
    """One comparison, 5 to 30 cases a batch and ten times as many in the reference: batches until the alarm."""
    lines = []
    for start in (0, 50):
        for base, sign in ((0.5, 1), (0.3, 1), (0.8, -1)):
            for gap in (0.1, 0.2, 0.3):
                median, mean = delay(sign * gap, base, start, round(2_000 * times))
                lines.append((start or "the first", f"{base:g}", f"{sign * gap:+g}", f"{median:g}", f"{mean:.1f}"))
    yield from table(["difference from batch", "reference's rate", "gap", "median", "mean"], lines)


# ------------------------------------------------------------------------------------------------------ people


def persons(runs: int, cluster: bool) -> Share:
    """10 against 60 people who come every week for a year, with equal rates and an intra-class correlation of .3."""
    rng = np.random.default_rng(27)
    who = np.arange(70)
    found = []
    for _ in range(runs):
        # A beta law with mean .5 whose intra-class correlation is 1 / (a + b + 1).
        rate = rng.beta(7 / 6, 7 / 6, len(who))
        monitor = Monitor(metrics="tpr")
        for week in range(52):
            decided = (rng.random(len(who)) < rate).astype(int)
            batch = {"person": who, "group": np.where(who < 10, "A", "B"), "y": np.ones(len(who), int), "p": decided}
            once = "person" if cluster else None
            monitor = monitor.add(batch, at=week, y_true="y", y_pred="p", groups="group", positive=1, cluster=once)
            if monitor.alarms:
                break
        found.append(bool(monitor.alarms))
    return share(found)


def people(times: float) -> Iterator[str]:
    """Nothing differs, but the same people come every week: 10 against 60, correlation .3, 52 weeks."""
    runs = round(200 * times)
    lines = [
        ("each case taken as new", persons(runs, False)),
        ('each person once (cluster="person")', persons(runs, True)),
    ]
    yield from table(["counted", ALARMS], lines)


# -------------------------------------------------------------------------------------------------------- time


def year(times: float) -> Iterator[str]:
    """A year of weekly batches of 60 groups and 8 metrics."""
    rng = np.random.default_rng(28)
    monitor, began = Monitor(metrics=list(METRICS)), time.process_time()
    for week in range(52):
        cells = rng.multinomial(rng.integers(5, 60, 60), matrix(0.4, 0.7, 0.2)).tolist()
        monitor = monitor.add_counts({f"g{i}": tuple(row) for i, row in enumerate(cells)}, at=week)
    added, state = time.process_time(), monitor.to_json()
    again = time.process_time()
    Monitor.from_json(state)
    read = time.process_time()
    monitor.to_html()
    lines = [
        ("adding 52 batches", f"{added - began:.2f}"),
        (f"reading the state ({len(state) / 1024:,.0f} KB), as each command does", f"{read - again:.2f}"),
        ("the HTML report", f"{time.process_time() - read:.2f}"),
    ]
    yield from table(["60 groups, 8 metrics, 52 batches", "seconds of CPU"], lines)


SECTIONS = {"alarms": alarms, "delays": delays, "people": people, "year": year}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="*", choices=[*SECTIONS, []], help="by default all")
    parser.add_argument("--runs", type=float, default=1.0, help="how many times as many simulated monitors")
    asked = parser.parse_args()
    for name in asked.section or SECTIONS:
        began = time.process_time()
        print(f"## {(SECTIONS[name].__doc__ or name).splitlines()[0]}\n")
        print("\n".join(SECTIONS[name](asked.runs)), end="\n\n", flush=True)
        print(f"{name}: {time.process_time() - began:.0f} s of CPU", file=sys.stderr)


if __name__ == "__main__":
    main()
