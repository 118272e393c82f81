"""scikit-learn: the functions of ``sklearn.metrics``, with the defaults that they have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import metrics as sk
from talk import answer, labels, outcome, seconds

METRICS: dict[str, Callable[..., Any]] = {
    "acc": sk.accuracy_score,
    "tpr": sk.recall_score,
    "tnr": partial(sk.recall_score, pos_label=0),
    "ppv": sk.precision_score,
    "npv": partial(sk.precision_score, pos_label=0),
    "f1": sk.f1_score,
    "mcc": sk.matthews_corrcoef,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "kappa": sk.cohen_kappa_score,
    "jaccard": sk.jaccard_score,
    "lr_plus": lambda y, p: sk.class_likelihood_ratios(y, p)[0],
    "lr_minus": lambda y, p: sk.class_likelihood_ratios(y, p)[1],
}


def scores(job: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [outcome(partial(METRICS[key], *labels(cells))) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in METRICS
    }


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))
    five = [METRICS[key] for key in ("tpr", "ppv", "f1", "mcc", "acc")]

    def whole() -> None:
        for name in np.unique(groups):
            mine = groups == name
            for score in five:
                score(y[mine], p[mine])

    whole()
    return [{"what": "five scores of each group; no interval, no test", **seconds(whole)}]


if __name__ == "__main__":
    answer("scikit-learn", (scores, speed))
