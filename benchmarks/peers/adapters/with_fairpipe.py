"""fairpipe: the largest gap with a simultaneous interval and a permutation test; a beta interval of a rate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from fairpipe.metrics import FairnessAnalyzer
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


if __name__ == "__main__":
    answer("fairpipe", (intervals, audits, gaps, speed, honest))
