"""equiboots: bootstrapped metrics of groups, and chi-square tests (Fisher's where counts are few) with Holm.

It draws as many rows of a group as `boot_sample_size` says (100 by default), however many the group has.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pandas as pd
from equiboots import EquiBoots, StatisticalTester, calculate_bootstrap_stats
from talk import answer, by_group, seconds

NAMES = {"tpr": "Recall", "ppv": "Precision", "f1": "F1 Score", "acc": "Accuracy", "ppr": "Predicted Prevalence"}
TEST = {
    "test_type": "chi_square", "alpha": 0.05, "adjust_method": "holm", "confidence_level": 0.95,
    "classification_task": "binary_classification",
}  # fmt: skip


def measured(y: Any, p: Any, groups: Any, wanted: list[str] | None = None, **more: Any) -> tuple[Any, Any]:
    """The steps of its documentation; probabilities, which it asks for, are made up from the predictions."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        frame = pd.DataFrame({"group": groups})
        boots = EquiBoots(
            y_true=y, y_pred=p, y_prob=np.where(p == 1, 0.75, 0.25), fairness_df=frame, fairness_vars=["group"], **more
        )
        boots.grouper(groupings_vars=["group"])
        return boots, boots.get_metrics(boots.slicer("group"), wanted)


def bootstrapped(groups: dict[str, Any], wanted: list[str], rounds: int, rows: int = 100) -> Any:
    _, found = measured(
        *by_group(groups), wanted, bootstrap_flag=True, num_bootstraps=rounds, seeds=list(range(rounds)),
        boot_sample_size=rows,
    )  # fmt: skip
    return found


def intervals(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {key: [] for key in job["metrics"]}
    for cells in job["matrices"]:
        measures = bootstrapped({"group": cells}, [NAMES[key] for key in found], job["rounds"])
        for key, ends in found.items():
            row = calculate_bootstrap_stats(measures, NAMES[key]).iloc[0]
            ends.append([float(row["ci_lower"]), float(row["ci_upper"])])
    return found


def audits(job: dict[str, Any]) -> list[Any]:
    name, found = NAMES[job["metric"]], []
    for groups in job["audits"]:
        try:
            boots, measures = measured(*by_group(groups))
            tests = boots.analyze_statistical_significance(measures, "group", TEST)
        except ValueError:
            found.append({"groups": [], "refused": True})
            continue
        found.append({"groups": [g for g, each in tests.items() if g != "omnibus" and each[name].is_significant]})
    return found


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))
    rounds = job["rounds"]

    def whole() -> None:
        wanted = [NAMES[key] for key in ("tpr", "ppv", "f1", "acc")]
        _, found = measured(
            y, p, groups, wanted, bootstrap_flag=True, num_bootstraps=rounds, seeds=list(range(rounds)),
            boot_sample_size=len(y),
        )  # fmt: skip
        for name in wanted:
            calculate_bootstrap_stats(found, name)

    def tests() -> None:
        boots, measures = measured(y, p, groups)
        boots.analyze_statistical_significance(measures, "group", TEST)

    return [
        {
            "what": f"four scores, bootstrap intervals (`num_bootstraps={rounds}`, all rows); no test",
            **seconds(whole, 1),
        },
        {"what": "all its metrics, chi-square tests against the largest group, Holm; no interval", **seconds(tests)},
    ]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for n in (20, 100, 1000):
        measures = bootstrapped({"group": [4 * n // 10, n // 10, n // 10, 4 * n // 10]}, ["Accuracy"], 200)
        row = calculate_bootstrap_stats(measures, "Accuracy").iloc[0]
        found[str(n)] = [float(row["ci_lower"]), float(row["ci_upper"])]
    # Of 10,000 bootstrapped differences, 300 are below 0: two-sided, p is 0.06.
    differences = np.r_[np.full(300, -1.0), np.full(9700, 1.0)]
    config = {"tail_type": "two_tailed", "alpha": 0.05, "confidence_level": 0.95}
    return {"accuracy": found, "pvalue": float(StatisticalTester().calc_p_value_bootstrap(differences, config))}


def unknown(job: dict[str, Any]) -> dict[str, Any]:
    names = np.array(job["groups"], dtype=object)
    _, measures = measured(np.array(job["y_true"]), np.array(job["y_pred"]), names)
    return {"groups": sorted(map(str, measures)), "told": False}


if __name__ == "__main__":
    answer("equiboots", (intervals, audits, speed, wrong, unknown))
