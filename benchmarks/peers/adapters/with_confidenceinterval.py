"""confidenceinterval: Wilson for rates, its delta method for F1, and its bootstrap (BCa) for MCC, which it lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confidenceinterval as ci
import numpy as np
from confidenceinterval.bootstrap import bootstrap_ci
from confidenceinterval.classification_report import classification_report_with_ci
from talk import answer, labels, outcome, pair, seconds

RATES: dict[str, Callable[..., Any]] = {
    "acc": ci.accuracy_score,
    "tpr": ci.tpr_score,
    "ppv": ci.ppv_score,
    "f1": lambda y, p: ci.f1_score(y, p, average="binary"),
}


def mcc(y_true: Any, y_pred: Any) -> float:
    y, p = np.asarray(y_true), np.asarray(y_pred)
    positives, predicted, n = int(y.sum()), int(p.sum()), len(y)
    bottom = (positives * (n - positives) * predicted * (n - predicted)) ** 0.5
    return float((n * int(y @ p) - positives * predicted) / bottom) if bottom else 0.0


def intervals(job: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for cells in job["matrices"]:
        y, p = labels(cells)
        try:
            if job["metric"] == "mcc":
                _, ends = bootstrap_ci(y, p, mcc, n_resamples=job["rounds"], random_state=0)
            else:
                _, ends = RATES[job["metric"]](y, p)
        except (IndexError, ValueError):
            found.append(None)
        else:
            found.append(pair(*(float(end) for end in ends)))
    return found


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))

    def whole() -> None:
        for name in np.unique(groups):
            mine = groups == name
            for rate in RATES.values():
                rate(y[mine], p[mine])

    whole()
    return [
        {
            "what": "four scores of each group with intervals (Wilson; delta method for F1); no MCC, no test",
            **seconds(whole),
        }
    ]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    y, p = labels(job["fine"])
    half, usual = (classification_report_with_ci(y, p, confidence_level=level) for level in (0.5, 0.95))
    row = half["Class"] == "Class 1"
    f1, ends = ci.f1_score(*labels(job["lopsided"]), average="binary")
    return {
        "half": list(map(float, half[row]["Precision CI"].iloc[0])),
        "usual": list(map(float, usual[row]["Precision CI"].iloc[0])),
        "precision": outcome(lambda: ci.precision_score(y, p, average="binary")[0]),
        "f1": [float(f1), float(ends[0]), float(ends[1])],
        "above": [float(end) for end in ci.f1_score(*labels([3, 2, 0, 1]), average="binary")[1]],
    }


if __name__ == "__main__":
    answer("confidenceinterval", (intervals, speed, wrong))
