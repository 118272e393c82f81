"""What protection costs: how many verdicts stay, and how much wider intervals become, by rule.

Run it with ``.venv/bin/python benchmarks/protection.py``; it prints the table in docs/how-to/publish.md, minutes of one
core. Tables are the COMPAS scores by race, and made-up crossings of the sizes of a survey, with fixed seeds: group
sizes are log-normal, and rates differ between groups by about 0.1.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from evenhand import audit_counts
from evenhand.examples import compas

RULES: tuple[Any, ...] = ("cms", "opensafely", "ons", 5)


def survey(groups: int, median: float, seed: int) -> dict[str, tuple[int, ...]]:
    """So many groups of log-normal size, whose rates vary by about 0.1."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, np.exp(rng.normal(np.log(median), 1.2, groups))).astype(int)
    found = {}
    for i, n in enumerate(sizes.tolist()):
        prevalence, tpr, fpr = np.clip(rng.normal([0.4, 0.65, 0.25], 0.1), 0.02, 0.98)
        shares = [prevalence * tpr, prevalence * (1 - tpr), (1 - prevalence) * fpr, (1 - prevalence) * (1 - fpr)]
        found[f"g{i}"] = tuple(rng.multinomial(n, shares).tolist())
    return found


TABLES: dict[str, Any] = {
    "COMPAS, 6 groups": compas(),
    "60 groups, median size 100": survey(60, 100, 1),
    "300 groups, median size 100": survey(300, 100, 2),
    "300 groups, median size 12": survey(300, 12, 3),
}


def line(name: str, counts: Any, rule: Any) -> str:
    """What stays of one table by one rule."""
    exact, rounded = (audit_counts(counts, protect=one) for one in (None, rule))
    before = {(row.group, row.metric): row for row in exact.rows}
    found = [key for key, row in before.items() if row.differs]
    kept = [row for row in rounded.rows if row.differs]
    wrong = sum(before[row.group, row.metric].verdict != row.verdict for row in kept)
    alike = [sum(row.verdict == "equivalent" for row in audit.rows) for audit in (exact, rounded)]
    shown = len({row.group for row in rounded.rows})
    wider = [
        (row.gap_high - row.gap_low) / (was.gap_high - was.gap_low)
        for row in rounded.rows
        if (was := before[row.group, row.metric]).gap_low is not None
        and was.gap_high is not None
        and row.gap_low is not None
        and row.gap_high is not None
    ]
    width = f"{np.median(wider):.2f}" if wider else "–"
    verdicts = f"{len(kept):,} of {len(found):,}{f' ({wrong} others)' if wrong else ''}"
    return f"| {name} | {rule} | {shown} of {len(counts)} | {verdicts} | {alike[1]:,} of {alike[0]:,} | {width} |"


def main() -> None:
    print("| table | rule | groups shown | differences found | alike | width of intervals of gaps, median ratio |")
    print("|---|---|---|---|---|---|")
    for name, counts in TABLES.items():
        for rule in RULES:
            began = time.process_time()
            print(line(name, counts, rule), flush=True)
            print(f"{name} {rule}: {time.process_time() - began:.1f} s of CPU", file=sys.stderr)


if __name__ == "__main__":
    main()
