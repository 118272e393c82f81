"""The whole audit (8 groups, 8 metrics, intervals and tests) beside the bare count, and beside fairlearn.

Run it with ``.venv/bin/python benchmarks/audit.py [folder]``; it writes a Parquet file of 100 million rows to the
folder (a temporary one by default). fairlearn, if installed, is timed with two bootstrap rounds and scaled to the 100
that it would take for an interval: a full run takes about an hour. Expect the audit within three times the bare count.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh

ROWS = 1_000_000
SHARES = (0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02)
ROUNDS = 2
COLUMNS: Any = {"y_true": "y", "y_pred": "p", "groups": "g"}


def table() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.3).astype(int)
    return {
        "g": rng.choice([f"group {c}" for c in "ABCDEFGH"], ROWS, p=SHARES),
        "y": y,
        "p": np.where(rng.random(ROWS) < 0.2, 1 - y, y),
    }


def best(work: Callable[[], Any], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def in_memory() -> float:
    import pandas as pd
    import polars as pl

    columns = table()
    frame, polars = pd.DataFrame(columns), pl.DataFrame(columns)
    counts = {
        "pandas": (frame, lambda: frame.groupby(["g", "y", "p"], dropna=False).size()),
        "polars": (polars, lambda: polars.group_by("g", "y", "p").len()),
    }
    for name, (data, count) in counts.items():
        bare, whole = best(count), best(lambda data=data: eh.audit(data, **COLUMNS))  # type: ignore[misc]
        print(
            f"{name}, {ROWS:,} rows: bare count {bare:.2f} s, audit {whole:.2f} s, {whole / bare:.1f} times the count"
        )
    return whole


def beside_fairlearn(audit_seconds: float) -> None:
    try:
        from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
    except ModuleNotFoundError:
        print("fairlearn is not installed: pip install fairlearn")
        return
    from sklearn.metrics import accuracy_score, f1_score, precision_score

    columns = table()
    metrics = {
        "ppr": selection_rate,
        "tpr": true_positive_rate,
        "fpr": false_positive_rate,
        "ppv": precision_score,
        "acc": accuracy_score,
        "f1": f1_score,
    }

    def frame(**more: Any) -> Any:
        return MetricFrame(
            metrics=metrics, y_true=columns["y"], y_pred=columns["p"], sensitive_features=columns["g"], **more
        )

    plain = best(frame, 1)
    rounds = best(lambda: frame(n_boot=ROUNDS, ci_quantiles=[0.025, 0.975], random_state=0), 1)
    full = plain + 100 * (rounds - plain) / ROUNDS
    print(
        f"fairlearn, six metrics: {plain:.1f} s without intervals, {full:,.0f} s with 100 bootstrap rounds (scaled "
        f"from {ROUNDS}); the audit is {full / audit_seconds:,.0f} times faster"
    )


PARQUET = """
COPY (SELECT 'group ' || chr(65 + least(7, (-ln(random()) * 1.6)::INT)) AS g, (random() < 0.3)::INT AS y,
      (random() < 0.35)::INT AS p FROM range(100_000_000)) TO '{}' (FORMAT parquet)
"""
COUNT = "import duckdb; duckdb.sql(\"SELECT g, y, p, count(*) FROM '{}' GROUP BY ALL\").fetchall()"
AUDIT = "import evenhand as eh; eh.audit('{}', y_true='y', y_pred='p', groups='g')"


def in_parquet(folder: Path) -> None:
    import duckdb

    path = folder / "decisions.parquet"
    if not path.exists():
        duckdb.sql(PARQUET.format(path))
    found = {}
    for name, code in (("bare count", COUNT), ("audit", AUDIT)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", f"{code.format(path)}\nimport resource\n"
                   "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"]  # fmt: skip
        start = time.perf_counter()
        peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[name] = time.perf_counter() - start
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime
        print(f"100 million rows in Parquet, {name}: {found[name]:.1f} s ({cpu:.1f} CPU s), peak {int(peak)} MB")
    print(f"  {found['audit'] / found['bare count']:.1f} times the bare count, start of Python and imports included")


def main() -> None:
    eh.audit_counts(eh.examples.compas())
    seconds = in_memory()
    with tempfile.TemporaryDirectory() as folder:
        in_parquet(Path(sys.argv[1] if len(sys.argv) > 1 else folder))
    beside_fairlearn(seconds)


if __name__ == "__main__":
    main()
