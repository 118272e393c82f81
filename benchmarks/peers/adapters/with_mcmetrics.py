"""mcmetrics: draws of a Dirichlet posterior; here only for what its names mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from mcmetrics import MCMetrics
from talk import answer


def drawn(cells: Any) -> dict[str, Any]:
    """Draws of three metrics; rows of its matrix are actual classes."""
    tp, fn, fp, tn = cells
    found = MCMetrics(model_name="model", cm=np.array([[tp, fn], [fp, tn]]))
    found.sample(n=20_000)
    names = ("sensitivity", "precision", "false positive rate")
    for name in names:
        found.calculate_metric(metric=name, averaging=None)
    return {name: np.asarray(found.retrieve_metric_samples(name)).reshape(20_000, -1)[:, 0] for name in names}


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    np.random.seed(0)  # noqa: NPY002
    fine = drawn(job["fine"])
    return {
        "same": bool(np.array_equal(fine["sensitivity"], fine["precision"])),
        "sensitivity": float(np.median(fine["sensitivity"])),
        "largest fpr": float(drawn(job["many"])["false positive rate"].max()),
    }


if __name__ == "__main__":
    answer("mcmetrics", (wrong,))
