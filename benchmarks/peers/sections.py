"""What one run found, as Markdown tables, and where peers are better."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from alarms import JUDGES, LOOKED_AT, alarm_table
from beyond import alike_table, better_alike, index_line, newcomer_table, unit_table, unknown_table
from conformance import conformance_tables, gap_table
from covering import ROWS, Coverage, coverage_tables
from groups import METRICS
from looks import better_looks, look_table
from registry import PEERS, Desk
from speeds import RACERS, draw_table, speed_table, times
from wrong import wrong_table

__all__ = ["SECTIONS", "Results", "about"]

# A coverage counts as nearer to 95% than another from this difference on.
POINT = 0.01


@dataclass(frozen=True)
class Results:
    """What one run found."""

    speed: dict[str, Any]
    conformance: dict[str, Any]
    gaps: dict[str, Any]
    wrong: dict[str, Any]
    alarms: dict[str, Any]
    coverage: dict[str, Any]
    looks: dict[str, Any]
    beyond: dict[str, Any]
    sizes: tuple[int, ...]
    groups: tuple[int, ...]
    desk: Desk
    quick: bool


def machine() -> str:
    """The kind of machine, without its name."""
    model, info = platform.machine(), Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = " ".join(models[0].split()[:2]) if models else model
    return f"{model} ({os.cpu_count()} cores, {platform.system()})"


def nearer(results: Results) -> Iterator[str]:
    """Intervals with a better coverage than ours, by metric and n."""
    ours = results.coverage["evenhand"]
    for key, name in METRICS.items():
        for n in results.sizes:
            mine: Coverage = ours[key, n]
            if not mine.exact:
                continue
            mean, least = [], []
            for row in ROWS[1:]:
                found = results.coverage[row.name]
                theirs = None if isinstance(found, str) else found.get((key, n))
                if theirs is None or not theirs.exact or theirs.withheld > 0.5:
                    continue
                if abs(theirs.mean - 0.95) <= abs(mine.mean - 0.95) - POINT:
                    mean.append(f"{row.name} {100 * theirs.mean:.1f}")
                if theirs.smallest >= mine.smallest + POINT and theirs.width <= 1.1 * mine.width:
                    least.append(f"{row.name} {100 * theirs.smallest:.1f}")
            if mean:
                yield f"- {name}, n = {n}, mean: evenhand {100 * mine.mean:.1f}; {'; '.join(mean)}."
            if least:
                yield f"- {name}, n = {n}, smallest: evenhand {100 * mine.smallest:.1f}; {'; '.join(least)}."


def finds_more(results: Results) -> Iterator[str]:
    """Judges that find clearly more than we do while keeping to the level."""
    ours = results.alarms["evenhand"]
    for key, name in LOOKED_AT.items():
        for number in results.groups:
            for judge in JUDGES[1:]:
                found = results.alarms[judge.name]
                if isinstance(found, str):
                    continue
                false, power, mine = found[key, number, False], found[key, number, True], ours[key, number, True]
                apart = power.share - mine.share
                if apart > 2 * (power.error**2 + mine.error**2) ** 0.5 and false.share <= 0.05 + 2 * false.error:
                    yield (
                        f"- {name}, {number} groups: {judge.name} finds {100 * power.share:.0f}%, evenhand "
                        f"{100 * mine.share:.0f}%."
                    )


def faster(results: Results) -> Iterator[str]:
    ours = results.speed["evenhand"][0]["seconds"]
    for name in RACERS[1:]:
        found = results.speed[name]
        for each in [] if isinstance(found, str) else found:
            if each["seconds"] < ours:
                yield f"- {name} takes {times(each['seconds'] / ours)} times evenhand's time: {each['what']}."


def missing(results: Results) -> Iterator[str]:
    """Peers, and parts of them, that gave no answer."""
    yield from (f"- {name}: {reason}." for name, reason in results.desk.missing.items())
    parts = {
        "intervals": results.coverage, "verdicts": results.alarms, "scores": results.conformance,
        "gaps": results.gaps, "wrong numbers": results.wrong, "speed": results.speed,
    }  # fmt: skip
    for part, found in parts.items():
        for name, each in found.items():
            if isinstance(each, str) and name.split(",")[0] not in results.desk.missing:
                yield f"- {name}, {part}: {each}."


def about(results: Results) -> Iterator[str]:
    """When, where and with what it was run, and what was not."""
    versions = ", ".join(f"{name} {results.desk.versions[name]}" for name in PEERS if name in results.desk.versions)
    yield f"Run on {date.today().isoformat()}, on {machine()}, with Python {platform.python_version()}: {versions}."
    if results.quick:
        yield "\n**A quick run, to try everything out: too few draws for its numbers to mean anything.**"
    if gone := list(missing(results)):
        yield "\nNot run:\n"
        yield from gone


def coverage(results: Results) -> Iterator[str]:
    yield from (f"- {row.name}: {row.what}; {row.draws or 'none'} drawn per group and n" for row in ROWS)
    yield ""
    yield from coverage_tables(results.coverage, results.sizes)
    yield "Better:\n"
    yield from nearer(results)


def alarms(results: Results) -> Iterator[str]:
    yield from (f"- {judge.name}: {judge.what}" for judge in JUDGES)
    yield ""
    yield from alarm_table(results.alarms, results.groups)
    yield "\nFinds clearly more (two standard errors) at 5%:\n"
    yield from finds_more(results)


def looks(results: Results) -> Iterator[str]:
    yield from look_table(results.looks)
    yield "\nSooner:\n"
    yield from better_looks(results.looks)


def beyond(results: Results) -> Iterator[str]:
    found = results.beyond
    yield from unit_table(found["units"])
    yield ""
    yield from unknown_table(found["unknown"])
    yield ""
    yield from alike_table(found["alike"])
    yield "\nRightly alike more often, at most 5 % wrongly (within one standard error):\n"
    yield from better_alike(found["alike"])
    yield f"\n{index_line(found['index'])}\n"
    yield from newcomer_table(found["newcomers"])


def speed(results: Results) -> Iterator[str]:
    yield from speed_table(results.speed)
    yield ""
    yield from draw_table(results.speed)
    yield "\nFaster:\n"
    yield from faster(results)


SECTIONS: dict[str, Callable[[Results], Iterator[str]]] = {
    "coverage": coverage,
    "alarms": alarms,
    "looks": looks,
    "beyond": beyond,
    "conformance": lambda results: conformance_tables(results.conformance),
    "gaps": lambda results: gap_table(results.gaps),
    "wrong": lambda results: wrong_table(results.wrong),
    "speed": speed,
}
