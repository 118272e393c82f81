"""prob_conf_mat: a study of matrices, 10,000 draws of each posterior, and the 95 % HDI of scores and differences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from prob_conf_mat import Study
from prob_conf_mat.experiment import SamplingMethod
from prob_conf_mat.stats import summarize_posterior
from talk import answer, outcome, pair, seconds, tables

NAMES = {
    "acc": "acc", "tpr": "tpr", "fnr": "fnr", "fpr": "fpr", "tnr": "tnr", "ppv": "ppv", "npv": "npv", "fdr": "fdr",
    "for": "for", "f1": "f1", "mcc": "mcc", "balanced_accuracy": "ba", "kappa": "kappa",
    "informedness": "informedness", "markedness": "markedness", "jaccard": "jaccard", "lr_plus": "plr",
    "lr_minus": "nlr", "dor": "dor", "pt": "pt", "prev": "prevalence", "ppr": "model_bias",
}  # fmt: skip
# Metrics of all classes at once have no class label.
OVERALL = {"acc", "mcc", "balanced_accuracy", "kappa"}


def study(groups: dict[str, Any], metrics: list[str], prior: Any = None) -> Any:
    """Rows of its matrix are the true classes, 0 and 1."""
    made = Study(seed=0, num_samples=10_000, ci_probability=0.95)
    for name, (tp, fn, fp, tn) in groups.items():
        made.add_experiment(
            f"{name}/{name}", confusion_matrix=[[tn, fp], [fn, tp]], prevalence_prior=prior, confusion_prior=prior
        )
    for key in metrics:
        made.add_metric(NAMES[key])
    return made


def values(made: Any, name: str, key: str, method: Any = SamplingMethod.POSTERIOR) -> Any:
    drawn = made.get_metric_samples(metric=NAMES[key], experiment_name=f"{name}/{name}", sampling_method=method).values
    return drawn[:, 0 if key in OVERALL else 1]


def intervals(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {key: [] for key in job["metrics"]}
    for cells in job["matrices"]:
        try:
            made = study({"a": cells}, job["metrics"], job.get("prior"))
        except Exception:
            for ends in found.values():
                ends.append(None)
            continue
        for key, ends in found.items():
            try:
                ends.append(pair(*summarize_posterior(values(made, "a", key), ci_probability=0.95).hdi))
            except ValueError:
                ends.append(None)
    return found


def audits(job: dict[str, Any]) -> list[Any]:
    """Each group against the largest, which is the first; a group that the study refuses is not said to differ."""
    found, key = [], job["metric"]
    for groups in job["audits"]:
        largest = next(iter(groups))
        differ = []
        for name, cells in groups.items():
            if name == largest:
                continue
            try:
                made = study({largest: groups[largest], name: cells}, [key])
                compared = made.get_pairwise_comparison(
                    NAMES[key], 1, experiment_a=f"{name}/{name}", experiment_b=f"{largest}/{largest}"
                )
            except Exception:
                continue
            low, high = compared.diff_dist_summary.hdi
            if low > 0 or high < 0:
                differ.append(name)
        found.append({"groups": differ})
    return found


def alike(job: dict[str, Any]) -> list[bool]:
    """Whether the interval of the difference of TPR is within the margin."""
    found = []
    for groups in job["audits"]:
        made = study(groups, ["tpr"])
        compared = made.get_pairwise_comparison(
            NAMES["tpr"], 1, experiment_a="group/group", experiment_b="reference/reference"
        )
        low, high = compared.diff_dist_summary.hdi
        found.append(bool(-job["margin"] <= low and high <= job["margin"]))
    return found


def scores(job: dict[str, Any]) -> dict[str, Any]:
    """The observed values of its reports."""

    def score(key: str, cells: Any) -> float:
        return float(values(study({"a": cells}, [key]), "a", key, SamplingMethod.INPUT)[0])

    return {
        key: [outcome(partial(score, key, cells)) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in NAMES
    }


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))
    five = ["tpr", "ppv", "f1", "mcc", "acc"]

    def whole() -> None:
        counted = tables(y, p, groups)
        made = study(counted, five)
        for key in five:
            made.report_metric_summaries(NAMES[key], class_label=None if key in OVERALL else 1, table_fmt="records")
            first = next(iter(counted))
            for name in counted:
                if name != first:
                    made.get_pairwise_comparison(
                        NAMES[key], 0 if key in OVERALL else 1,
                        experiment_a=f"{name}/{name}", experiment_b=f"{first}/{first}",
                    )  # fmt: skip

    whole()
    what = "counts by NumPy; five scores, posterior intervals (10,000 draws), comparison with one group"
    return [{"what": what, **seconds(whole)}]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    made = Study(seed=0, num_samples=10_000, ci_probability=0.95)

    def add(name: str, cells: Any) -> float:
        made.add_experiment(name, confusion_matrix=cells)
        return 1.0

    first = outcome(lambda: add("a/a", [[6, 2], [0, 0]]))
    then = outcome(lambda: add("b/b", [[48, 12], [10, 30]]))
    none = summarize_posterior(values(study({"a": [0, 3, 1, 5]}, ["tpr"]), "a", "tpr"), ci_probability=0.95).hdi
    return {"first": first, "then": then, "none of three": [float(end) for end in none]}


if __name__ == "__main__":
    answer("prob_conf_mat", (intervals, audits, alike, scores, speed, wrong))
