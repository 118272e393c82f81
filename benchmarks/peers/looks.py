"""What monitors make of weekly looks: years without any difference, and years with one.

Every week a small group and a large one are decided upon, and someone looks. A monitor that watches for a *change* of
the gap cannot be expected to find one that was always there; both kinds of years are in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from alarms import Rate
from registry import Desk, Refused

__all__ = ["MONITORS", "SEED", "Monitor", "better_looks", "look", "look_table"]

SEED = 30
WEEKS, RATE, GAP, BEGINS = 52, 0.5, 0.2, 26
FEWEST, MOST, TIMES = 5, 30, 10
YEARS = {
    "nothing differs": None,
    "a gap from the first week": 0,
    f"a gap from week {BEGINS + 1} on": BEGINS,
}


@dataclass(frozen=True)
class Monitor:
    """A way to an alarm: whose it is, which of its monitors, and how many years of each kind it is asked."""

    name: str
    monitor: str
    what: str
    count: int = 100


MONITORS = (
    Monitor("evenhand", "watch", '`Monitor(metrics="ppr")`, an alarm about the group', 100),
    Monitor("vfairness", "cusum", "`cusum_drift` of the gaps so far, without sign, as its metrics give them; defaults"),
    Monitor("vfairness", "page_hinkley", "`page_hinkley` of the same; defaults"),
    Monitor("vfairness", "both", "`sequential_fairness_drift`: either of the two"),
    Monitor("vfairness", "cusum, target 0", "`cusum_drift(target=0)` of the gaps with their sign"),
    Monitor("vfairness", "monitor", "`FairnessMonitor` (sliding window of 1,000 rows, four fifths), `any_alert`", 15),
    Monitor("fairpipe", "drift", "`FairnessDriftAndAlertEngine.analyze` of the gaps so far, 12 points against 48 (the "
            "defaults): it needs 62 points", 5),
    Monitor("fairpipe", "drift, 26 points", "the same with `ref_points=26`", 20),
)  # fmt: skip


def years(start: int | None, count: int) -> list[list[list[int]]]:
    """Weeks of so many years: selected and all of the group, selected and all of the others."""
    rng = np.random.default_rng([SEED, WEEKS if start is None else start])
    found = []
    for _ in range(count):
        size = rng.integers(FEWEST, MOST + 1, WEEKS)
        rate = np.where(np.arange(WEEKS) >= (WEEKS if start is None else start), RATE - GAP, RATE)
        few, many = rng.binomial(size, rate), rng.binomial(TIMES * size, RATE)
        found.append(np.stack([few, size, many, TIMES * size], axis=1).tolist())
    return found


@dataclass(frozen=True)
class Looked:
    """The share of years with an alarm once the gap began, the median number of weeks until it, and earlier alarms."""

    alarm: Rate
    weeks: float | None
    early: Rate | None = None


def looked(start: int | None, alarms: list[int | None]) -> Looked:
    """What was found: each alarm is the week (from 1) of the first one, or none."""
    weeks = np.array([np.inf if each is None else each for each in alarms])
    if start is None:
        return Looked(Rate(float(np.isfinite(weeks).mean()), len(weeks)), None)
    early = weeks <= start
    after = weeks[~early] - start
    middle = float(np.median(after)) if len(after) else np.inf
    return Looked(
        Rate(float(np.isfinite(after).mean()) if len(after) else 0.0, max(len(after), 1)),
        middle if np.isfinite(middle) else None,
        Rate(float(early.mean()), len(weeks)) if start else None,
    )


def look(desk: Desk, count: Callable[[int], int] = lambda c: c) -> dict[str, Any]:
    """By monitor, what it found in each kind of years, or why it has none."""
    found: dict[str, Any] = {}
    for each in MONITORS:
        jobs = [{"monitor": each.monitor, "years": years(start, count(each.count))} for start in YEARS.values()]
        try:
            alarms = desk.ask(each.name, "looks", *jobs)
        except Refused as reason:
            found[f"{each.name}, {each.monitor}"] = str(reason)
            continue
        pairs = zip(YEARS.values(), alarms, strict=True)
        found[f"{each.name}, {each.monitor}"] = [looked(start, said) for start, said in pairs]
    return found


def look_table(found: dict[str, Any]) -> Iterator[str]:
    heads = [f"{kind}: {what}" for kind, start in YEARS.items()
             for what in (["false alarm"] if start is None else ["found", "median weeks"])]  # fmt: skip
    yield "| monitor | what it is | years | " + " | ".join(heads) + f" | alarm before week {BEGINS + 1} |"
    yield "|" + "---|" * (len(heads) + 4)
    for each in MONITORS:
        results = found[f"{each.name}, {each.monitor}"]
        if isinstance(results, str):
            yield f"| {each.name}, {each.monitor} | {each.what} | not run: {results} |" + " |" * (len(heads) + 1)
            continue
        none, first, later = results
        cells = [str(none.alarm)]
        for one in (first, later):
            cells += [str(one.alarm), "not within the year" if one.weeks is None else f"{one.weeks:g}"]
        yield (
            f"| {each.name}, {each.monitor} | {each.what} | {none.alarm.count} | "
            + " | ".join([*cells, str(later.early)])
            + " |"
        )


def better_looks(found: dict[str, Any]) -> Iterator[str]:
    """Monitors that find a gap sooner than ours, with the false alarms that this costs."""
    ours = found["evenhand, monitor"]
    for each in MONITORS[1:]:
        results = found[f"{each.name}, {each.monitor}"]
        if isinstance(results, str):
            continue
        for kind, mine, theirs in zip(list(YEARS)[1:], ours[1:], results[1:], strict=True):
            if theirs.weeks is not None and (mine.weeks is None or theirs.weeks < mine.weeks):
                by_us = "none of the year" if mine.weeks is None else f"week {mine.weeks:g}"
                yield (
                    f"- {each.name}, {each.monitor}: {kind} is found in week {theirs.weeks:g} of it (median), by "
                    f"evenhand in {by_us}; false alarms in {results[0].alarm} of years, evenhand {ours[0].alarm}."
                )
