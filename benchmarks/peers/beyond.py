"""What few libraries offer: units that repeat, unknown groups, "alike" as a finding, and protection of small counts.

Peers that have no such thing are not asked. Where one gives a number, it is measured beside the truth.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from alarms import Rate
from registry import Desk, Refused

__all__ = [
    "ALIKE", "INDEX", "UNITS", "alike_table", "better_alike", "find_beyond", "index_line", "newcomer_table",
    "unit_table", "unknown_table",
]  # fmt: skip

SEED = 31
# ------------------------------------------------------------------------------------------------------------ units

PEOPLE, OTHERS, EACH, CORRELATION, TPR, GAP = 30, 120, 5, 0.3, 0.7, 0.25
UNITS = (
    ("evenhand", "unit", '`audit(unit="person")`', 100),
    ("evenhand", "cases", "`audit`, cases taken as independent", 100),
    ("statsmodels", "gee", "`GEE` with groups of cases, exchangeable, robust errors; put together by the user", 100),
    ("statsmodels", "cases", "`test_proportions_2indep` of cases", 100),
    ("fairpipe", "cases", "permutation p of the gap, cases permuted", 40),
)


def people(differ: bool, count: int) -> list[dict[str, list[int]]]:
    """Audits of people with several positive cases each, some of a group whose TPR may be lower."""
    rng = np.random.default_rng([SEED, differ])
    spread, found = (1 - CORRELATION) / CORRELATION, []
    for _ in range(count):
        mean = np.where(np.arange(PEOPLE + OTHERS) < PEOPLE, TPR - (GAP if differ else 0), TPR)
        hits = rng.binomial(EACH, rng.beta(spread * mean, spread * (1 - mean)))
        found.append({"hits": hits.tolist(), "group": (np.arange(PEOPLE + OTHERS) < PEOPLE).astype(int).tolist()})
    return found


def ask_units(desk: Desk, count: Callable[[int], int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, how, _, number in UNITS:
        jobs = [{"how": how, "each": EACH, "audits": people(differ, count(number))} for differ in (False, True)]
        try:
            said = desk.ask(name, "units", *jobs)
        except Refused as reason:
            found[f"{name}, {how}"] = str(reason)
            continue
        found[f"{name}, {how}"] = [Rate(float(np.mean(each)), len(each)) for each in said]
    return found


def unit_table(found: dict[str, Any]) -> Iterator[str]:
    yield "| peer | what it is | audits | false alarm | found |"
    yield "|---|---|---|---|---|"
    for name, how, what, _ in UNITS:
        results = found[f"{name}, {how}"]
        if isinstance(results, str):
            yield f"| {name}, {how} | {what} | not run: {results} | | |"
        else:
            yield f"| {name}, {how} | {what} | {results[0].count} | {results[0]} | {results[1]} |"


# ---------------------------------------------------------------------------------------------------- unknown groups

UNKNOWN = {"A": (50, 20, 30, 100), "B": (20, 10, 8, 22), None: (20, 2, 4, 14)}
ASKED_UNKNOWN = ("evenhand", "fairlearn", "vfairness", "fairpipe", "equiboots")


def unknown_rows() -> dict[str, list[Any]]:
    names: list[str | None] = []
    y: list[int] = []
    p: list[int] = []
    for name, (tp, fn, fp, tn) in UNKNOWN.items():
        names += [name] * (tp + fn + fp + tn)
        y += [1] * (tp + fn) + [0] * (fp + tn)
        p += [1] * tp + [0] * fn + [1] * fp + [0] * tn
    return {"y_true": y, "y_pred": p, "groups": names}


def ask_unknown(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ASKED_UNKNOWN:
        try:
            found[name] = desk.ask(name, "unknown", unknown_rows())[0]
        except Refused as reason:
            found[name] = str(reason)
    return found


def unknown_table(found: dict[str, Any]) -> Iterator[str]:
    yield "| peer | groups that it reports | says that cases have no group |"
    yield "|---|---|---|"
    for name, said in found.items():
        if isinstance(said, str):
            yield f"| {name} | not run: {said} | |"
        elif "error" in said:
            yield f"| {name} | refuses (`{said['error']}`) | yes |"
        else:
            yield f"| {name} | {', '.join(said['groups'])} | {'yes' if said['told'] else 'no'} |"


# ------------------------------------------------------------------------------------------------------------- alike

MARGIN = 0.1
ALIKE = (
    ("evenhand", '`audit_counts(margin=0.1)`: "alike"', 100),
    ("statsmodels", "`tost_proportions_2indep(low=-0.1, upp=0.1)`, p at most 0.05", 100),
    ("vfairness", 'verdict "fair" (threshold 0.1): the bootstrap interval of the gap (`n_bootstrap=500`) is within',
     20),
    ("prob_conf_mat", "95 % HDI of the difference within ±0.1, default prior; by the user", 20),
)  # fmt: skip
# Positives of the group and of the reference, and the reference's TPR; the group also has negatives, 30 at least.
SETTINGS = ((10, 500, 0.98), (300, 1_000, 0.9))
GAPS = (MARGIN, 0.0)


def pairs(setting: tuple[int, int, float], gap: float, count: int) -> list[dict[str, list[int]]]:
    few, many, rate = setting
    rng = np.random.default_rng([SEED, few, int(100 * gap)])
    a, b = rng.binomial(few, rate - gap, count), rng.binomial(many, rate, count)
    return [
        {"reference": [int(y), many - int(y), 20, 80], "group": [int(x), few - int(x), 6, 24]}
        for x, y in zip(a, b, strict=True)
    ]


def ask_alike(desk: Desk, count: Callable[[int], int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, _, number in ALIKE:
        jobs = [{"margin": MARGIN, "audits": pairs(one, gap, count(number))} for one in SETTINGS for gap in GAPS]
        try:
            said = desk.ask(name, "alike", *jobs)
        except Refused as reason:
            found[name] = str(reason)
            continue
        found[name] = [Rate(float(np.mean(each)), len(each)) for each in said]
    return found


def alike_table(found: dict[str, Any]) -> Iterator[str]:
    heads = [
        f"{few} against {many:,} positives, TPR {rate:g}: {'wrongly' if gap else 'rightly'}"
        for few, many, rate in SETTINGS for gap in GAPS
    ]  # fmt: skip
    yield "| peer | what it is | audits | " + " | ".join(heads) + " |"
    yield "|" + "---|" * (len(heads) + 3)
    for name, what, _ in ALIKE:
        results = found[name]
        if isinstance(results, str):
            yield f"| {name} | {what} | not run: {results} |" + " |" * len(heads)
        else:
            yield f"| {name} | {what} | {results[0].count} | " + " | ".join(map(str, results)) + " |"


def better_alike(found: dict[str, Any]) -> Iterator[str]:
    """Peers that say "alike" rightly more often than we do, in a setting where they keep to 5% when it is wrong."""
    ours = found["evenhand"]
    for name, *_ in ALIKE[1:]:
        results = found[name]
        for i, (few, many, rate) in enumerate([] if isinstance(results, str) else SETTINGS):
            wrongly, rightly = results[2 * i : 2 * i + 2]
            if rightly.share > ours[2 * i + 1].share and wrongly.share <= 0.05 + wrongly.error:
                yield (
                    f"- {name}, {few} against {many:,} positives, TPR {rate:g}: {rightly}, evenhand {ours[2 * i + 1]}; "
                    f"wrongly {wrongly}, evenhand {ours[2 * i]}."
                )


# --------------------------------------------------------------------------------------------------------- newcomers

INDEX = ("fairscope", "fairaudit", "safestats", "safe-stats", "safe-testing", "savvi", "confseq")


def on_index() -> dict[str, str | None]:
    """The newest version of packages that the package index has, for this Python."""
    found: dict[str, str | None] = {}
    for name in INDEX:
        command = [sys.executable, "-m", "pip", "index", "versions", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"{name} (")]
        found[name] = lines[0].split("(")[1].rstrip(")") if lines else None
    return found


def index_line(found: dict[str, str | None]) -> str:
    there = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    gone = ", ".join(name for name, version in found.items() if not version)
    return f"On the package index: {there or 'none'}. Not there: {gone or 'none'}."


def ask_newcomers(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("fairaudit", "fairscope"):
        try:
            found[name] = desk.ask(name, "newcomer", {"groups": {"A": (30, 10, 12, 48), "B": (28, 12, 13, 47)}})[0]
        except Refused as reason:
            found[name] = str(reason)
    return found


def newcomer_table(found: dict[str, Any]) -> Iterator[str]:
    yield "| peer | asked | gives | right |"
    yield "|---|---|---|---|"
    for name, lines in found.items():
        if isinstance(lines, str):
            yield f"| {name} | | not run: {lines} | |"
        else:
            yield from (f"| {name} | {asked} | {gives} | {right} |" for asked, gives, right in lines)


def find_beyond(desk: Desk, count: Callable[[int], int] = lambda c: c) -> dict[str, Any]:
    """All of it."""
    return {
        "units": ask_units(desk, count),
        "unknown": ask_unknown(desk),
        "alike": ask_alike(desk, count),
        "index": on_index(),
        "newcomers": ask_newcomers(desk),
    }
