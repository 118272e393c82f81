"""A million rows of 100 classes: counts and every one-against-rest metric, as a multiple of sorting one column.

Run it with ``.venv/bin/python benchmarks/multiclass.py``. Expect less than two seconds in all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import evenhand as eh

ROWS, CLASSES, ROUNDS = 1_000_000, 100, 3


def best(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(CLASSES, size=ROWS)
    pred = np.where(rng.random(ROWS) < 0.7, true, rng.integers(CLASSES, size=ROWS))
    names = np.array([f"class {i}" for i in range(CLASSES)])
    texts = names[true], names[pred]
    lists = texts[0].tolist(), texts[1].tolist()
    cm = eh.MulticlassConfusion.from_labels(true, pred)
    sort = best(lambda: np.sort(true))
    measured = {
        "sort one column of integers": sort,
        "count integers": best(lambda: eh.MulticlassConfusion.from_labels(true, pred)),
        "count an array of texts": best(lambda: eh.MulticlassConfusion.from_labels(*texts)),
        "count lists of texts": best(lambda: eh.MulticlassConfusion.from_labels(*lists)),
        "all metrics of all classes": best(cm.scores),
    }
    for name, seconds in measured.items():
        print(f"{name:<30} {seconds * 1000:7.0f} ms  {seconds / sort:6.1f} x sorting a column")


if __name__ == "__main__":
    main()
