"""fairlearn: ``MetricFrame`` with its bootstrap, its rates, and its disparities.

For coverage, thousands of intervals are needed: there the five scores are computed by `fast`, which gives what
scikit-learn's functions give (0 where undefined) in a tenth of the time, and groups are put into frames of forty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from fairlearn import metrics as fl
from sklearn import metrics as sk
from talk import answer, by_group, labels, outcome, seconds

FRAME = 40
RATES: dict[str, Callable[..., Any]] = {
    "acc": sk.accuracy_score, "ppr": fl.selection_rate, "tpr": fl.true_positive_rate, "fnr": fl.false_negative_rate,
    "fpr": fl.false_positive_rate, "tnr": fl.true_negative_rate, "ppv": sk.precision_score, "f1": sk.f1_score,
    "mcc": sk.matthews_corrcoef, "balanced_accuracy": sk.balanced_accuracy_score,
}  # fmt: skip
SKLEARN = {key: RATES[key] for key in ("ppv", "f1", "mcc", "acc")} | {"tpr": sk.recall_score}


def fast(key: str, y_true: Any, y_pred: Any) -> float:
    y, p = np.asarray(y_true), np.asarray(y_pred)
    positives, predicted, hits, n = int(y.sum()), int(p.sum()), int(y @ p), len(y)
    top, bottom = {
        "tpr": (hits, positives),
        "ppv": (hits, predicted),
        "f1": (2 * hits, positives + predicted),
        "acc": (n - positives - predicted + 2 * hits, n),
        "mcc": (n * hits - positives * predicted,
                (positives * (n - positives) * predicted * (n - predicted)) ** 0.5),
    }[key]  # fmt: skip
    return float(top / bottom) if bottom else 0.0


def check(matrices: list[Any]) -> None:
    """The scores by `fast` are those of scikit-learn."""
    for cells in matrices:
        for key, score in SKLEARN.items():
            assert abs(fast(key, *labels(cells)) - score(*labels(cells))) < 1e-9, (key, cells)


def intervals(job: dict[str, Any]) -> dict[str, Any]:
    metrics = {key: partial(fast, key) for key in job["metrics"]}
    matrices: list[Any] = job["matrices"]
    check(matrices[:10])
    found: dict[str, list[Any]] = {key: [] for key in metrics}
    for start in range(0, len(matrices), FRAME):
        some = {f"{i:05}": cells for i, cells in enumerate(matrices[start : start + FRAME])}
        y, p, names = by_group(some)
        frame = fl.MetricFrame(
            metrics=metrics, y_true=y, y_pred=p, sensitive_features=names,
            n_boot=job["rounds"], ci_quantiles=[0.025, 0.975], random_state=0,
        )  # fmt: skip
        low, high = frame.by_group_ci
        for key in metrics:
            found[key] += [[float(low.loc[name, key]), float(high.loc[name, key])] for name in some]
    return found


def scores(job: dict[str, Any]) -> dict[str, Any]:
    def by_frame(key: str, cells: Any) -> float:
        y, p = labels(cells)
        frame = fl.MetricFrame(metrics=RATES[key], y_true=y, y_pred=p, sensitive_features=["group"] * len(y))
        return float(frame.by_group["group"])

    return {
        key: [outcome(partial(by_frame, key, cells)) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in RATES
    }


def gaps(job: dict[str, Any]) -> list[Any]:
    def gap(cells: Any) -> float:
        y, p, names = by_group({"group": cells, "reference": job["reference"]})
        return float(fl.equal_opportunity_difference(y, p, sensitive_features=names))

    return [outcome(partial(gap, cells)) for cells in job["matrices"]]


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))

    def frame(**more: Any) -> Any:
        return fl.MetricFrame(metrics=SKLEARN, y_true=y, y_pred=p, sensitive_features=groups, **more)

    rounds = job["rounds"]
    return [
        {"what": "`MetricFrame` of five scores; no interval, no test", **seconds(frame)},
        {
            "what": f"`MetricFrame` of five scores, bootstrap intervals (`n_boot={rounds}`); no test",
            **seconds(lambda: frame(n_boot=rounds, ci_quantiles=[0.025, 0.975], random_state=0), 1),
        },
    ]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    y, p = labels([0, 0, 2, 6])
    small, large = job["small"], job["large"]
    yy, pp, names = by_group({"small": small, "large": large})
    frame = fl.MetricFrame(
        metrics=fl.true_positive_rate, y_true=yy, y_pred=pp, sensitive_features=names,
        n_boot=1000, ci_quantiles=[0.025, 0.975], random_state=0,
    )  # fmt: skip
    low, high = frame.by_group_ci
    gap = [float(end) for end in frame.difference_ci()]
    return {
        "tpr": float(fl.true_positive_rate(y, p)),
        "fnr": float(fl.false_negative_rate(y, p)),
        "small": [float(low["small"]), float(high["small"])],
        "gap": gap,
    }


def unknown(job: dict[str, Any]) -> dict[str, Any]:
    try:
        frame = fl.MetricFrame(
            metrics=fl.selection_rate, y_true=job["y_true"], y_pred=job["y_pred"],
            sensitive_features=np.array(job["groups"], dtype=object),
        )  # fmt: skip
    except ValueError as error:
        return {"error": type(error).__name__}
    return {"groups": sorted(map(str, frame.by_group.index)), "told": False}


if __name__ == "__main__":
    answer("fairlearn", (intervals, scores, gaps, speed, wrong, unknown))
