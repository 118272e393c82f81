"""How long each peer takes for the nearest thing to an audit, on the same rows; and exact tests beside draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groups import rows
from registry import Desk, Refused

__all__ = ["draw_table", "race", "speed_table"]

RACERS = (
    "evenhand", "scikit-learn", "fairlearn", "statsmodels", "PyCM", "confidenceinterval", "prob_conf_mat", "vfairness",
    "fairpipe", "equiboots", "aequitas",
)  # fmt: skip
ROUNDS = {"fairlearn": 100, "equiboots": 100, "vfairness": 1000}
RATES = (0.15, 0.10, 0.20, 0.55)


def race(desk: Desk, count: int, quick: bool = False) -> dict[str, Any]:
    """One peer after the other; each in a process of its own."""
    data = rows(count)
    found: dict[str, Any] = {}
    for name in RACERS:
        rounds = ROUNDS.get(name, 0)
        try:
            found[name] = desk.ask(
                name, "speed", {**data, "rounds": max(2, rounds // 50) if quick and name != "vfairness" else rounds}
            )[0]
        except Refused as reason:
            found[name] = str(reason)
    job = {"rates": RATES, "metrics": ["tpr", "f1", "mcc"], "sizes": [50, 150], "draws": 10_000 if quick else 1_000_000}
    found["draws"] = {"number": job["draws"], "found": desk.ask("evenhand", "monte_carlo", job)[0]}
    return found


def took(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


def times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def speed_table(found: dict[str, Any]) -> Iterator[str]:
    ours = found["evenhand"][0]["seconds"]
    yield "| peer | what it did | best of | took | times evenhand |"
    yield "|---|---|---|---|---|"
    for name in RACERS:
        results = found[name]
        if isinstance(results, str):
            yield f"| {name} | not run: {results} | | | |"
            continue
        for each in results:
            ratio = times(each["seconds"] / ours)
            yield f"| {name} | {each['what']} | {each['times']} | {took(each['seconds'])} | {ratio} |"


def draw_table(found: dict[str, Any]) -> Iterator[str]:
    yield f"| score | n | exact test | {found['draws']['number']:,} draws | draws / exact |"
    yield "|---|---|---|---|---|"
    for each in found["draws"]["found"]:
        ratio = each["drawn"] / each["exact"]
        yield f"| {each['metric']} | {each['n']} | {took(each['exact'])} | {took(each['drawn'])} | {times(ratio)} |"
