"""PyCM: a ``ConfusionMatrix`` from counts, its class statistics, and its intervals with the default method."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from pycm import ConfusionMatrix
from talk import answer, outcome, pair, seconds, tables

NAMES = {
    "acc": "ACC", "prev": "PRE", "ppr": "TOPR", "tpr": "TPR", "fnr": "FNR", "fpr": "FPR", "tnr": "TNR", "ppv": "PPV",
    "npv": "NPV", "fdr": "FDR", "for": "FOR", "f1": "F1", "mcc": "MCC", "balanced_accuracy": "AUC",
    "informedness": "BM", "markedness": "MK", "jaccard": "J", "lr_plus": "PLR", "lr_minus": "NLR", "dor": "DOR",
}  # fmt: skip


def matrix(cells: Any) -> Any:
    tp, fn, fp, tn = cells
    return ConfusionMatrix(matrix={1: {1: tp, 0: fn}, 0: {1: fp, 0: tn}})


def statistic(key: str, cells: Any) -> Any:
    cm = matrix(cells)
    if key == "kappa":
        return cm.Kappa
    if key == "ppr":
        return cm.TOP[1] / cm.POP[1]
    if key == "prev":
        return cm.PRE[1]
    return cm.class_stat[NAMES[key]][1]


def intervals(job: dict[str, Any]) -> list[Any]:
    method = {"binom_method": job["method"]} if "method" in job else {}
    found: list[Any] = []
    for cells in job["matrices"]:
        ends = matrix(cells).CI(NAMES[job["metric"]], **method)[1][1]
        found.append(None if any(isinstance(end, str) for end in ends) else pair(*ends))
    return found


def scores(job: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [outcome(partial(statistic, key, cells)) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in NAMES or key == "kappa"
    }


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))

    def whole() -> None:
        for cells in tables(y, p, groups).values():
            cm = matrix(cells)
            _ = cm.F1, cm.MCC
            for name in ("TPR", "PPV", "ACC"):
                cm.CI(name)

    whole()
    what = "counts by NumPy; all class statistics, `CI` of TPR, PPV and accuracy; no interval of F1 and MCC, no test"
    return [{"what": what, **seconds(whole)}]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    return {"ends": list(matrix([3, 2, 1, 6]).CI("PPV")[1][1]), "sure": list(matrix([3, 2, 0, 6]).CI("PPV")[1][1])}


if __name__ == "__main__":
    answer("pycm", (intervals, scores, speed, wrong))
