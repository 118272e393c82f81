"""evenhand, used as its own documentation says."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from talk import answer, outcome, pair, seconds

from evenhand import ConfusionMatrix, Monitor, audit, audit_counts, difference, interval, match_test, metric


def intervals(job: dict[str, Any]) -> list[Any]:
    found = []
    for cells in job["matrices"]:
        i = interval(ConfusionMatrix.from_array(cells), job["metric"])
        found.append(pair(i.low, i.high))
    return found


def audits(job: dict[str, Any]) -> list[Any]:
    return [
        {"groups": [row.group for row in audit_counts(groups, metrics=[job["metric"]]).rows if row.differs]}
        for groups in job["audits"]
    ]


def scores(job: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [outcome(partial(metric(key), ConfusionMatrix.from_array(cells))) for cells in job["matrices"]]
        for key in job["metrics"]
    }


def gaps(job: dict[str, Any]) -> list[Any]:
    """The gap of TPR to the reference."""
    reference = ConfusionMatrix.from_array(job["reference"])
    gap = difference("tpr")
    return [outcome(partial(gap, ConfusionMatrix.from_array(cells), reference)) for cells in job["matrices"]]


def speed(job: dict[str, Any]) -> list[Any]:
    columns = {key: np.array(job[key]) for key in ("y_true", "y_pred", "groups")}

    def whole() -> None:
        audit(columns, y_true="y_true", y_pred="y_pred", groups="groups")

    whole()
    return [{"what": "eight metrics of each group: interval, gap to the rest, exact test, Holm", **seconds(whole, 5)}]


def monte_carlo(job: dict[str, Any]) -> list[Any]:
    """The exact test of a score, beside drawing groups of the same size from the reference's rates."""
    rates, rng, found = np.array(job["rates"]), np.random.default_rng(0), []

    def test(group: ConfusionMatrix, key: str) -> None:
        match_test(group, rates, key, null="known", given="n")

    def draw(n: int, key: str) -> None:
        metric(key)(rng.multinomial(n, rates, size=job["draws"]))

    for key in job["metrics"]:
        for n in job["sizes"]:
            cells = np.floor(rates[:3] * n).astype(int).tolist()
            group = ConfusionMatrix.from_array([*cells, n - sum(cells)])
            exact, drawn = seconds(partial(test, group, key), 5), seconds(partial(draw, n, key), 1)
            found.append({"metric": key, "n": n, "exact": exact["seconds"], "drawn": drawn["seconds"]})
    return found


def looks(job: dict[str, Any]) -> list[Any]:
    """The week of the first alarm about the group, in each year."""
    found: list[Any] = []
    for year in job["years"]:
        monitor = Monitor(metrics="ppr")
        for week, (few, size, many, others) in enumerate(year, 1):
            batch = {"group": (few, 0, 0, size - few), "others": (many, 0, 0, others - many)}
            monitor = monitor.add_counts(batch, at=week)
            if monitor.alarms:
                break
        found.append(week if monitor.alarms else None)
    return found


def units(job: dict[str, Any]) -> list[bool]:
    """Whether the TPR of the group is said to differ; people have several positive cases each."""
    found, each = [], job["each"]
    for one in job["audits"]:
        hits, group = np.array(one["hits"]), np.array(one["group"])
        rows = {
            "person": np.repeat(np.arange(len(hits)), each), "group": np.repeat(group, each),
            "y": np.ones(each * len(hits), int),
            "p": (np.arange(each)[None, :] < hits[:, None]).astype(int).ravel(),
        }  # fmt: skip
        once: dict[str, Any] = {"unit": "person"} if job["how"] == "unit" else {}
        said = audit(rows, y_true="y", y_pred="p", groups="group", positive=1, metrics=["tpr"], **once)
        found.append(any(row.differs for row in said.rows))
    return found


def unknown(job: dict[str, Any]) -> dict[str, Any]:
    said = audit(job, y_true="y_true", y_pred="y_pred", groups="groups", metrics=["ppr"])
    return {
        "groups": sorted({row.group for row in said.rows}),
        "told": any("no known" in finding.sentence for finding in said.findings),
    }


def alike(job: dict[str, Any]) -> list[bool]:
    found = []
    for groups in job["audits"]:
        said = audit_counts(groups, metrics=["tpr"], margin=job["margin"], reference="reference")
        found.append(any(row.group == "group" and row.verdict == "alike" for row in said.rows))
    return found


if __name__ == "__main__":
    answer("evenhand", (intervals, audits, scores, gaps, speed, monte_carlo, looks, units, unknown, alike))
