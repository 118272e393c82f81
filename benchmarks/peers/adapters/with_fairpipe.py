"""fairpipe: the largest gap with a simultaneous interval and a permutation test; a beta interval of a rate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from fairpipe.metrics import FairnessAnalyzer
from fairpipe.monitoring import DriftConfig, FairnessDriftAndAlertEngine
from fairpipe.stats.bayesian import beta_binomial_interval
from talk import answer, by_group, outcome, pair, seconds

COUNTS: dict[str, Callable[..., tuple[int, int]]] = {
    "acc": lambda tp, fn, fp, tn: (tp + tn, tp + fn + fp + tn),
    "tpr": lambda tp, fn, fp, tn: (tp, tp + fn),
    "ppv": lambda tp, fn, fp, tn: (tp, tp + fp),
}


def intervals(job: dict[str, Any]) -> list[Any]:
    return [pair(*beta_binomial_interval(*COUNTS[job["metric"]](*cells))) for cells in job["matrices"]]


def audits(job: dict[str, Any]) -> list[Any]:
    """Whether any group differs: selection by demographic parity, TPR by equalized odds, which also looks at FPR."""
    analyzer, found = FairnessAnalyzer(), []
    for groups in job["audits"]:
        y, p, names = by_group(groups)
        if job["metric"] == "ppr":
            result = analyzer.demographic_parity_difference(p, names)
        else:
            result = analyzer.equalized_odds_difference(y, p, names)
        found.append({"alarm": result.p_value is not None and result.p_value <= 0.05})
    return found


def gaps(job: dict[str, Any]) -> list[Any]:
    def gap(cells: Any) -> float:
        rows = by_group({"group": cells, "reference": job["reference"]})
        return float(FairnessAnalyzer(min_group_size=1).equalized_odds_difference(*rows).value)

    return [outcome(partial(gap, cells)) for cells in job["matrices"]]


def speed(job: dict[str, Any]) -> list[Any]:
    y, p, groups = (np.array(job[key]) for key in ("y_true", "y_pred", "groups"))

    def whole() -> None:
        analyzer = FairnessAnalyzer()
        analyzer.demographic_parity_difference(p, groups)
        analyzer.equalized_odds_difference(y, p, groups)

    whole()
    what = (
        "two largest gaps (selection, equalized odds): simultaneous interval, permutation test (2000); no group scores"
    )
    return [{"what": what, **seconds(whole)}]


def honest(job: dict[str, Any]) -> dict[str, Any]:
    """The group that misleads others (small against large)."""
    y, p, names = by_group({"small": job["small"], "large": job["large"]})
    result = FairnessAnalyzer().equalized_odds_difference(y, p, names)
    return {"interval": [float(end) for end in result.ci], "pvalue": float(result.p_value)}


def looks(job: dict[str, Any]) -> list[Any]:
    """The week of the first alert, in each year; its engine is given the gaps so far, without sign."""
    points = {"ref_points": 26} if "26" in job["monitor"] else {}
    found: list[Any] = []
    for year in job["years"]:
        few, size, many, others = np.array(year, dtype=float).T
        frame = pd.DataFrame(
            {"metric": "DP[group]", "group_key": "__DPD__", "value": np.abs(few / size - many / others), "n": size},
            index=pd.date_range("2026-01-05", periods=len(size), freq="7D", name="timestamp"),
        )
        weeks = (
            week
            for week in range(1, len(size) + 1)
            if FairnessDriftAndAlertEngine(DriftConfig()).analyze(frame.iloc[:week], **points)
        )
        found.append(next(weeks, None))
    return found


def units(job: dict[str, Any]) -> list[bool]:
    """It has no units; the cases that are positive, by the gap of their selection."""
    found = []
    for one in job["audits"]:
        hits = np.array(one["hits"])
        p = (np.arange(job["each"])[None, :] < hits[:, None]).astype(int).ravel()
        names = np.where(np.repeat(one["group"], job["each"]) == 1, "group", "others")
        found.append(bool(FairnessAnalyzer().demographic_parity_difference(p, names).p_value <= 0.05))
    return found


def unknown(job: dict[str, Any]) -> dict[str, Any]:
    p, names = np.array(job["y_pred"]), np.array(job["groups"], dtype=object)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said = FairnessAnalyzer().demographic_parity_difference(p, names)
    noted = bool(caught) or said.caveat is not None or said.ci_note is not None or bool(said.n_dropped_nonfinite)
    return {"groups": sorted(map(str, said.n_per_group)), "told": noted}


if __name__ == "__main__":
    answer("fairpipe", (intervals, audits, gaps, speed, honest, looks, units, unknown))
