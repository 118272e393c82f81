"""How the cost of an audit grows: CPU seconds against rows, groups, metrics, classes, thresholds and n.

`scale.py` prints the table and draws ``docs/images/growth.svg``. Each series is fitted by a power of the size, over all
of its sizes and between the last two, where what does not grow no longer counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import made_up, seconds

import evenhand as eh

__all__ = ["GROWTH", "drawn", "exponents", "measured"]

Series = dict[int, float]
_RATES = (
    "tpr",
    "fpr",
    "ppv",
    "npv",
    "acc",
    "ppr",
    "prev",
    "tnr",
    "fnr",
    "fdr",
    "for",
    "f1",
    "inacc",
    "npr",
    "pnr",
    "mb",
)
_PICTURE = Path(__file__).parent.parent / "docs" / "images" / "growth.svg"


def cases(rows: int, classes: int = 2, groups: int = 8) -> dict[str, Any]:
    """Rows of groups whose rates differ, labels, predictions and scores."""
    rng = np.random.default_rng(rows + classes)
    group = rng.integers(0, groups, rows)
    y = rng.integers(0, classes, rows)
    right = rng.random(rows) < 0.6 + 0.03 * group
    p = np.where(right, y, rng.integers(0, classes, rows))
    return {"g": np.array([f"group {i}" for i in range(groups)])[group], "y": y, "p": p, "s": rng.random(rows)}


def of_rows(rows: int) -> Callable[[], Any]:
    import pandas as pd

    return partial(eh.audit, pd.DataFrame(cases(rows)), y_true="y", y_pred="p", groups="g")


def of_groups(groups: int) -> Callable[[], Any]:
    return partial(eh.audit_counts, made_up(groups, groups))


def of_metrics(metrics: int) -> Callable[[], Any]:
    known = {m.key for m in eh.list_metrics()}
    return partial(eh.audit_counts, made_up(50, metrics), metrics=[key for key in _RATES if key in known][:metrics])


def of_classes(classes: int) -> Callable[[], Any]:
    return partial(eh.audit, cases(20_000, classes), y_true="y", y_pred="p", groups="g", classes="all", metrics="tpr")


def of_thresholds(thresholds: int) -> Callable[[], Any]:
    at = np.linspace(0.05, 0.95, thresholds).tolist()
    return partial(eh.audit, cases(20_000), y_true="y", y_score="s", groups="g", threshold=at, metrics="tpr")


def of_n(n: int) -> Callable[[], Any]:
    rates = np.array([0.2, 0.1, 0.2, 0.5]) + 1e-9 * n
    cm = eh.ConfusionMatrix.from_array([int(c) for c in np.random.default_rng(n).multinomial(n, rates / rates.sum())])
    return partial(eh.match_test, cm, rates / rates.sum(), "mcc", null="known", given="n")


GROWTH: dict[str, tuple[tuple[int, ...], Callable[[int], Callable[[], Any]]]] = {
    "rows (8 groups, 8 metrics)": ((10_000, 100_000, 1_000_000, 3_000_000), of_rows),
    "groups (8 metrics)": ((10, 100, 1_000, 3_000), of_groups),
    "metrics (50 groups)": ((1, 4, 8, 16), of_metrics),
    "classes (8 groups, TPR)": ((3, 6, 12, 24, 48), of_classes),
    "thresholds (8 groups, TPR)": ((1, 4, 16, 64), of_thresholds),
    "n (MATCH of MCC, rates known, only n given)": ((100, 1_000, 10_000, 100_000), of_n),
}


def measured() -> Iterator[tuple[str, Series]]:
    """CPU seconds of each series, by size."""
    for name, (sizes, work) in GROWTH.items():
        print(name, file=sys.stderr)
        yield name, {size: seconds(work(size), 2) for size in sizes}


def exponents(series: Series) -> tuple[float, float]:
    """The power of the size that fits all of a series, and the one between its last two sizes.

    >>> exponents({1: 2.0, 10: 20.0, 100: 200.0})
    (1.0, 1.0)
    """
    sizes, taken = np.log(list(series)), np.log(list(series.values()))
    return (
        round(float(np.polyfit(sizes, taken, 1)[0]), 2),
        round(float((taken[-1] - taken[-2]) / (sizes[-1] - sizes[-2])), 2),
    )


def drawn(every: dict[str, Series]) -> None:
    """The picture: cost relative to the smallest size, both on logarithmic scales."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "evenhand"
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, series in every.items():
        sizes, taken = np.array(list(series)), np.array(list(series.values()))
        axes.loglog(sizes / sizes[0], taken / taken[0], marker="o", label=f"{name}: {exponents(series)[1]:g}")
    ends = np.array([1, 300])
    axes.loglog(ends, ends, color="0.6", linestyle="--", label="in proportion: 1")
    axes.set_xlabel("size, relative to the smallest")
    axes.set_ylabel("CPU time, relative to the smallest")
    axes.legend(title="growth between the last two sizes", fontsize=7, title_fontsize=7)
    figure.savefig(_PICTURE, metadata={"Date": None})
