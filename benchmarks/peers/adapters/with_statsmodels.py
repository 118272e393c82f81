"""statsmodels: intervals of proportions, tests of two proportions, and Holm's adjustment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from statsmodels.genmod.cov_struct import Exchangeable
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_confint,
    test_proportions_2indep,
    tost_proportions_2indep,
)
from talk import answer, outcome, pair, seconds, tables

# Of a matrix: the part, and what it is a part of.
COUNTS: dict[str, Callable[..., tuple[int, int]]] = {
    "acc": lambda tp, fn, fp, tn: (tp + tn, tp + fn + fp + tn),
    "tpr": lambda tp, fn, fp, tn: (tp, tp + fn),
    "ppv": lambda tp, fn, fp, tn: (tp, tp + fp),
    "ppr": lambda tp, fn, fp, tn: (tp + fp, tp + fn + fp + tn),
}


def intervals(job: dict[str, Any]) -> list[Any]:
    found = []
    for cells in job["matrices"]:
        part, whole = COUNTS[job["metric"]](*cells)
        found.append(pair(*proportion_confint(part, whole, method=job["method"])) if whole else None)
    return found


def differing(groups: dict[str, Any], key: str) -> list[str]:
    """The groups whose proportion differs from everyone else's, after Holm."""
    counts = {name: COUNTS[key](*cells) for name, cells in groups.items()}
    a, n = (sum(column) for column in zip(*counts.values(), strict=True))
    p = {}
    for name, (part, whole) in counts.items():
        if whole:
            value = test_proportions_2indep(part, whole, a - part, n - whole).pvalue
            if not np.isnan(value):
                p[name] = value
    rejected = multipletests(list(p.values()), alpha=0.05, method="holm")[0]
    return [name for name, reject in zip(p, rejected, strict=True) if reject]


def audits(job: dict[str, Any]) -> list[Any]:
    return [{"groups": differing(groups, job["metric"])} for groups in job["audits"]]


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))

    def whole() -> None:
        counted = tables(y, p, groups)
        for key, counts in COUNTS.items():
            for cells in counted.values():
                part, of = counts(*cells)
                proportion_confint(part, of, method="wilson")
            differing(counted, key)

    whole()
    what = "counts by NumPy; Wilson intervals of four rates, normal tests against the rest, Holm; no F1, no MCC"
    return [{"what": what, **seconds(whole)}]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    return {
        "score": outcome(lambda: confint_proportions_2indep(30, 40, 0, 3, method="score")[0]),
        "never": float(test_proportions_2indep(0, 20, 300, 800).pvalue),
        "none of three": float(test_proportions_2indep(0, 3, 320, 800).pvalue),
    }


def gee(hits: Any, group: Any, each: int) -> float:
    """The p-value of a group's rate by estimating equations with people as clusters."""
    decided = (np.arange(each)[None, :] < hits[:, None]).astype(int).ravel()
    design = np.column_stack([np.ones(len(decided)), np.repeat(group, each)])
    people = np.repeat(np.arange(len(hits)), each)
    model = GEE(decided, design, groups=people, family=Binomial(), cov_struct=Exchangeable())
    return float(model.fit().pvalues[1])


def units(job: dict[str, Any]) -> list[bool]:
    found = []
    for one in job["audits"]:
        hits, group, each = np.array(one["hits"]), np.array(one["group"]), job["each"]
        if job["how"] == "gee":
            p = gee(hits, group, each)
        else:
            sums = [int(hits[group == g].sum()) for g in (1, 0)]
            sizes = [each * int((group == g).sum()) for g in (1, 0)]
            p = float(test_proportions_2indep(sums[0], sizes[0], sums[1], sizes[1]).pvalue)
        found.append(p <= 0.05)
    return found


def alike(job: dict[str, Any]) -> list[bool]:
    found = []
    for groups in job["audits"]:
        counts = [*COUNTS["tpr"](*groups["group"]), *COUNTS["tpr"](*groups["reference"])]
        p = tost_proportions_2indep(*counts, -job["margin"], job["margin"]).pvalue
        found.append(bool(p <= 0.05))
    return found


if __name__ == "__main__":
    answer("statsmodels", (intervals, audits, speed, wrong, units, alike))
