"""How an adapter is spoken to: jobs in a JSON file, their answers in another.

An adapter runs in its peer's environment, where evenhand may be missing: it needs NumPy and the peer only. Matrices
are lists ``[tp, fn, fp, tn]``, labels are 0 and 1. Nothing is timed or judged here but what a task asks for.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["answer", "by_group", "labels", "outcome", "pair", "seconds", "tables"]

Cells = Sequence[int]
Labels = Any


def labels(cells: Cells) -> tuple[Labels, Labels]:
    """The labels and predictions of a matrix, one per person."""
    return np.repeat([1, 1, 0, 0], cells), np.repeat([1, 0, 1, 0], cells)


def by_group(groups: Mapping[str, Cells]) -> tuple[Labels, Labels, Labels]:
    """Labels, predictions and names of groups, one per person."""
    both = [labels(cells) for cells in groups.values()]
    names = np.repeat(list(groups), [sum(cells) for cells in groups.values()])
    return np.concatenate([t for t, _ in both]), np.concatenate([p for _, p in both]), names


def tables(y_true: Labels, y_pred: Labels, groups: Labels) -> dict[str, list[int]]:
    """The matrices of all groups, in one pass: for peers that take counts."""
    names, codes = np.unique(groups, return_inverse=True)
    cells = np.bincount(4 * codes + 2 * (1 - y_true) + (1 - y_pred), minlength=4 * len(names)).reshape(-1, 4)
    return dict(zip(names.tolist(), cells.tolist(), strict=True))


def outcome(work: Callable[[], Any]) -> dict[str, Any]:
    """What a call gives: a number or a string, the warnings that it shows, or the error that it raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = work()
        except Exception as error:
            return {"error": type(error).__name__, "says": str(error).splitlines()[0] if str(error) else ""}
    plain = value if value is None or isinstance(value, str) else float(value)
    return {"value": plain, "warned": sorted({w.category.__name__ for w in caught})}


def pair(low: float, high: float) -> list[float] | None:
    """An interval, or nothing where an end is not a number."""
    return None if math.isnan(low) or math.isnan(high) else [float(low), float(high)]


def seconds(work: Callable[[], Any], times: int = 3) -> dict[str, Any]:
    """CPU seconds of this process, the best of some runs, and how many they were."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return {"seconds": min(taken), "times": times}


def answer(package: str, tasks: Iterable[Callable[[Any], Any]]) -> None:
    """Do the task named on the command line for every job, as ``adapter.py task jobs.json answers.json``."""
    name, jobs, reply = sys.argv[1:]
    task = {task.__name__: task for task in tasks}[name]
    warnings.simplefilter("ignore")
    found = [task(job) for job in json.loads(Path(jobs).read_text())]
    Path(reply).write_text(json.dumps({"version": version(package), "answers": found}))
