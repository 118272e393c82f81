"""holisticai: here only for its matrices of recall and precision."""

from __future__ import annotations

from typing import Any

from holisticai.bias.metrics import precision_matrix, recall_matrix
from talk import answer, by_group


def wrong(job: dict[str, Any]) -> dict[str, Any]:
    y, p, names = by_group({"A": job["fine"], "B": job["fine"]})
    return {
        "recall": float(recall_matrix(names, p, y).loc["A", 1]),
        "precision": float(precision_matrix(names, p, y).loc["A", 1]),
    }


if __name__ == "__main__":
    answer("holisticai", (wrong,))
