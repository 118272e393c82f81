"""vfairness: rates of groups with intervals, and the analyzer's three-state verdict, which is about the whole audit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import vfairness as vf
from talk import answer, by_group, labels, outcome, pair, seconds
from vfairness.evaluation.vfairness_metrics.classification import get_group_metrics
from vfairness.operations.monitoring import FairnessMonitor
from vfairness.operations.monitoring.sequential import cusum_drift, page_hinkley, sequential_fairness_drift

NAMES = {
    "acc": "accuracy", "ppr": "positive_rate", "prev": "base_rate", "tpr": "tpr", "fpr": "fpr", "ppv": "precision",
}  # fmt: skip
VERDICTS = {"ppr": "demographic_parity_difference", "tpr": "equal_opportunity_difference"}
SOME = 100


def intervals(job: dict[str, Any]) -> list[Any]:
    gate = {"min_group_size": job["gate"]} if "gate" in job else {}
    found: list[Any] = []
    for start in range(0, len(job["matrices"]), SOME):
        some = {f"{i:05}": cells for i, cells in enumerate(job["matrices"][start : start + SOME])}
        rates = vf.get_group_metrics_with_ci(*by_group(some), **gate)
        for name in some:
            rate = rates.get(name, {}).get(NAMES[job["metric"]])
            found.append(None if rate is None else pair(rate.lower_bound, rate.upper_bound))
    return found


def verdict(groups: dict[str, Any], key: str, rounds: int) -> str:
    analyzer = vf.FairnessAnalyzer(*by_group(groups))
    return str(getattr(analyzer, VERDICTS[key])(include_ci=True, n_bootstrap=rounds, random_state=0).verdict)


def audits(job: dict[str, Any]) -> list[Any]:
    return [{"alarm": verdict(groups, job["metric"], job["rounds"]) == "unfair"} for groups in job["audits"]]


def scores(job: dict[str, Any]) -> dict[str, Any]:
    def score(key: str, cells: Any) -> float:
        y, p = labels(cells)
        return float(get_group_metrics(y, p, ["group"] * len(y), min_group_size=1)["group"][NAMES[key]])

    return {
        key: [outcome(partial(score, key, cells)) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in NAMES
    }


def gaps(job: dict[str, Any]) -> list[Any]:
    def gap(cells: Any) -> float:
        rows = by_group({"group": cells, "reference": job["reference"]})
        return float(vf.equal_opportunity_difference(*rows, min_group_size=1))

    return [outcome(partial(gap, cells)) for cells in job["matrices"]]


def speed(job: dict[str, Any]) -> list[Any]:
    rows = [np.array(job[key]) for key in ("y_true", "y_pred", "groups")]

    def rates() -> None:
        vf.get_group_metrics_with_ci(*rows)

    def analysis() -> None:
        vf.FairnessAnalyzer(*rows).compute_all_metrics(include_ci=True, n_bootstrap=job["rounds"], random_state=0)

    rates()
    return [
        {"what": "`get_group_metrics_with_ci`: three rates with intervals; no test", **seconds(rates)},
        {
            "what": f"`compute_all_metrics`: five largest gaps, bootstrap intervals (`n_bootstrap={job['rounds']}`; "
            "its default is 5000), verdicts",
            **seconds(analysis, 1),
        },
    ]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    analyzer = vf.FairnessAnalyzer(*by_group({"small": job["small"], "large": job["large"]}))
    found = analyzer.equal_opportunity_difference(include_ci=True, random_state=0)
    return {"gap": [float(end) for end in found.confidence_interval], "verdict": found.verdict}


DETECTORS: dict[str, Callable[[Any], bool]] = {
    "cusum": lambda gaps: cusum_drift(np.abs(gaps))["has_drift"] is True,
    "page_hinkley": lambda gaps: page_hinkley(np.abs(gaps))["has_drift"] is True,
    "both": lambda gaps: sequential_fairness_drift(np.abs(gaps))["classification"].endswith("drift"),
    "cusum, target 0": lambda gaps: cusum_drift(gaps, target=0.0)["has_drift"] is True,
}


def monitored(year: Any) -> int | None:
    """The week of the first alert of its monitor, which is given rows."""
    monitor = FairnessMonitor()
    for week, (few, size, many, others) in enumerate(year, 1):
        rows = pd.DataFrame(
            {
                "prediction": np.repeat([1, 0, 1, 0], [few, size - few, many, others - many]),
                "group_of": np.repeat(["group", "others"], [size, others]),
            }
        )
        if monitor.update_and_check(rows).any_alert:
            return week
    return None


def looks(job: dict[str, Any]) -> list[Any]:
    """The week of the first alarm, in each year; from the third week on, each week the series so far is looked at."""
    if job["monitor"] == "monitor":
        return [monitored(year) for year in job["years"]]
    detect, found = DETECTORS[job["monitor"]], []
    for year in job["years"]:
        few, size, many, others = np.array(year, dtype=float).T
        gaps = few / size - many / others
        weeks = (week for week in range(3, len(gaps) + 1) if detect(gaps[:week]))
        found.append(next(weeks, None))
    return found


def unknown(job: dict[str, Any]) -> dict[str, Any]:
    rows = [np.array(job["y_true"]), np.array(job["y_pred"]), np.array(job["groups"], dtype=object)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = vf.get_group_metrics_with_ci(*rows)
    return {"groups": sorted(map(str, found)), "told": any("excluded" in str(w.message) for w in caught)}


def alike(job: dict[str, Any]) -> list[bool]:
    return [verdict(groups, "tpr", 500) == "fair" for groups in job["audits"]]


if __name__ == "__main__":
    answer("vfairness", (intervals, audits, scores, gaps, speed, wrong, looks, unknown, alike))
