"""aequitas: the crosstab of groups, disparities against the majority group, and their significance at 5%."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from aequitas.bias import Bias
from aequitas.group import Group
from talk import answer, by_group, outcome, seconds

NAMES = {
    "acc": "accuracy", "prev": "prev", "ppr": "pprev", "tpr": "tpr", "fnr": "fnr", "fpr": "fpr", "tnr": "tnr",
    "ppv": "precision", "npv": "npv", "fdr": "fdr", "for": "for",
}  # fmt: skip


def crosstab(groups: dict[str, Any]) -> tuple[Any, Any]:
    y, p, names = by_group(groups)
    frame = pd.DataFrame({"score": p, "label_value": y, "group": names})
    return frame, Group().get_crosstabs(frame, attr_cols=["group"])[0]


def compared(groups: dict[str, Any]) -> Any:
    """Disparities and p-values by group; the reference is the largest."""
    frame, table = crosstab(groups)
    found = Bias().get_disparity_major_group(
        table, original_df=frame, alpha=0.05, check_significance=True, mask_significance=False
    )
    return found.set_index("attribute_value")


def audits(job: dict[str, Any]) -> list[Any]:
    column = f"{NAMES[job['metric']]}_significance"
    found = []
    for groups in job["audits"]:
        p = compared(groups)[column]
        found.append({"groups": [str(name) for name in p.index[p < 0.05]]})
    return found


def scores(job: dict[str, Any]) -> dict[str, Any]:
    def score(key: str, cells: Any) -> float:
        _, table = crosstab({"group": cells, "reference": job["reference"]})
        return float(table.set_index("attribute_value").loc["group", NAMES[key]])

    return {
        key: [outcome(partial(score, key, cells)) for cells in job["matrices"]]
        for key in job["metrics"]
        if key in NAMES
    }


def speed(job: dict[str, Any]) -> list[Any]:
    frame = pd.DataFrame({"score": job["y_pred"], "label_value": job["y_true"], "group": job["groups"]})

    def whole() -> None:
        table = Group().get_crosstabs(frame, attr_cols=["group"])[0]
        Bias().get_disparity_major_group(
            table, original_df=frame, alpha=0.05, check_significance=True, mask_significance=True
        )

    whole()
    return [
        {
            "what": "twelve rates, disparities against the largest group, t-tests; no interval, no F1, no MCC",
            **seconds(whole),
        }
    ]


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    found = compared(job["groups"])
    columns = ("tpr_significance", "for_significance", "pprev_significance")
    rows = {str(name): {c: float(row[c]) for c in columns} for name, row in found.iterrows()}
    return {"rows": rows, "undefined": bool(np.isnan(found.loc["B", "tpr"]))}


if __name__ == "__main__":
    answer("aequitas", (audits, scores, speed, wrong))
