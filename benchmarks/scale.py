"""How fast it is: everything that was slow once, beside what it is measured against, in one run.

Run it with ``.venv/bin/python benchmarks/scale.py``; it prints Markdown tables, and takes ten minutes and 100 MB in the
folder of temporary files. Name rows to run only those. Each row runs in a process of its own, so that its memory is its
own, and times are CPU seconds of all threads, the best of a few runs, so that other work on the machine matters little.
Runs differ in their data, so that nothing is remembered from the one before. Ratios within a row are what to read; the
numbers that matter are in docs/reference/speed.md.

Groups are made up from a fixed seed, with log-normal sizes like those of race by sex by schooling. Each row shows the
setting that is worst, beside the usual one where they differ much.
"""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from audit import COLUMNS, table
from experiment import exact, the_papers_way
from growth import cases, drawn, exponents, measured
from match import DRAWS, RATES, draw, group_of
from timing import Counts, made_up, seconds

import evenhand as eh
from evenhand.auditing import METRICS
from evenhand.inference import count_successes
from evenhand.metrics import metric
from reproduction.study import METRICS as PAPER_METRICS, SIZES, Study

Row = tuple[str, str, str]
# Large groups with other rates: about a billion cases in each.
HUGE = {
    "A": (231_000_007, 119_000_003, 151_000_011, 499_000_001),
    "B": (230_900_003, 119_100_001, 150_900_007, 499_100_009),
}


def floor(counts: Counts) -> None:
    """Hypergeometric tails and beta quantiles of every group and default metric."""
    from scipy.stats import beta, hypergeom

    cells = np.array(list(counts.values()), dtype=np.float64)
    rest = cells.sum(axis=0) - cells
    for key in METRICS:
        a, of_a = count_successes(metric(key).base, cells)
        b, of_b = count_successes(metric(key).base, rest)
        hypergeom.cdf(a, of_a + of_b, a + b, of_a)
        hypergeom.sf(a - 1, of_a + of_b, a + b, of_a)
        for q in (0.025, 0.975):
            beta.ppf(q, a + 0.5, of_a - a + 0.5)


def audit_of(groups: int) -> float:
    return min(seconds(partial(eh.audit_counts, made_up(groups, seed)), 1) for seed in range(3))


def above_the_floor(groups: int) -> Row:
    bare = seconds(partial(floor, made_up(groups)))
    whole = audit_of(groups)
    return f"{whole:.2f} s", f"SciPy's tails and quantiles: {bare:.3f} s", f"{whole / bare:.1f}"


def thousands() -> Row:
    small = audit_of(365)
    large = seconds(partial(eh.audit_counts, made_up(10_000, 3)), 1)
    return f"{large:.1f} s", f"365 groups: {small:.2f} s", f"{large / small:.1f}"


PARQUET = """
COPY (
    SELECT 'group ' || chr(65 + g) AS g, y,
           (random() < CASE y WHEN 1 THEN 0.60 ELSE 0.20 END + 0.02 * (g % 2))::INT AS p
    FROM (SELECT g, (random() < 0.30 + 0.02 * (g % 2))::INT AS y
          FROM (SELECT least(7, (-ln(random()) * 1.6)::INT) AS g FROM range(80_000_000)))
) TO '{}' (FORMAT parquet)
"""
COUNT = """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql("SELECT g, y, p, count(*) FROM '{}' GROUP BY ALL").fetchall()
"""
AUDIT = "import evenhand as eh; eh.audit('{}', y_true='y', y_pred='p', groups='g')"


def children() -> float:
    """CPU seconds of the processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def millions() -> Row:
    """Start of Python and imports included."""
    import duckdb

    taken: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.parquet"
        duckdb.sql("SET enable_progress_bar = false")
        duckdb.sql(PARQUET.format(path))
        for name, code in (("count", COUNT), ("audit", AUDIT)):
            for _ in range(3):
                before = children()
                done = subprocess.run(
                    [sys.executable, "-c", f"{code.format(path)}\n{PEAK}"], check=True, capture_output=True, text=True
                )
                taken[name] = min(taken.get(name, np.inf), children() - before)
    count, audit = taken["count"], taken["audit"]
    what = f"{audit:.1f} s, {int(done.stdout)} MB"
    return what, f"DuckDB's count: {count:.1f} s", f"{audit / count:.1f} (limit {2 + 1 / count:.1f})"


PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"


def billions() -> Row:
    """Every metric of one group, for two groups of a billion cases."""
    taken = {m.key: seconds(partial(eh.audit_counts, HUGE, metrics=m.key), 1) for m in eh.list_metrics() if m.base is m}
    slowest = max(taken, key=lambda key: taken[key])
    return f"{taken[slowest]:.2f} s ({slowest})", f"the mean of {len(taken)} metrics", f"{_mean_ratio(taken):.1f}"


def _mean_ratio(taken: dict[str, float]) -> float:
    return max(taken.values()) / float(np.mean(list(taken.values())))


def experiment() -> Row:
    pairs = list(Study().groups.values())
    whole = seconds(lambda: [exact(pair) for pair in pairs], 1)
    drawn = seconds(partial(the_papers_way, 75), 1) * len(PAPER_METRICS) * len(pairs) * len(SIZES) / 4
    return (
        f"{whole:.1f} s",
        f"a million draws per group, metric and n: {drawn / 3600:.1f} hours (scaled)",
        f"1 / {drawn / whole:,.0f}",
    )


def of_several_rates(key: str) -> Row:
    one, other = (
        min(seconds(partial(eh.audit_counts, made_up(100, seed), metrics=key), 1) for seed in range(3))
        for key in (key, "tpr")
    )
    return f"{10 * one:.0f} ms per group", f"TPR: {10 * other:.1f} ms per group", f"{one / other:.0f}"


def frame(library: str, apart: bool = False) -> Row:
    """A million rows, of groups whose rates are nearly equal or far apart, which needs more of the tests."""
    columns = cases(1_000_000) if apart else table()
    if library == "pandas":
        import pandas as pd

        data: Any = pd.DataFrame(columns)
        count: Callable[[], Any] = partial(lambda d: d.groupby(["g", "y", "p"], dropna=False).size(), data)
    else:
        import polars as pl

        data = pl.DataFrame(columns)
        count = partial(lambda d: d.group_by("g", "y", "p").len(), data)
    bare, whole = seconds(count, 7), seconds(partial(eh.audit, data, **COLUMNS), 7)
    limit = 3 + 0.05 / bare
    return f"{whole:.3f} s", f"a bare count: {bare:.3f} s", f"{whole / bare:.1f} (limit {limit:.1f})"


def report() -> Row:
    whole, audited = audit_of(365), eh.audit_counts(made_up(365))
    page = seconds(audited.to_html)
    size = len(audited.to_html()) / 1e6
    return f"{page:.2f} s, {size:.1f} MB of HTML", f"the audit: {whole:.2f} s", f"{page / whole:.2f}"


def planned(key: str) -> Row:
    """The slowest question of planning, in a process that has planned nothing yet."""
    large = eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    asked = {
        "power": lambda m: eh.power(m, 60, large, difference=-0.2),
        "sample_size": lambda m: eh.sample_size(m, large, -0.2),
        "detectable_difference": lambda m: eh.detectable_difference(m, 60, large),
        "half-width": lambda m: eh.sample_size(m, large, half_width=0.1),
    }
    taken = {name: seconds(partial(ask, key), 1) for name, ask in asked.items()}
    slowest = max(taken, key=lambda name: taken[name])
    other = seconds(partial(asked[slowest], "tpr"), 1)
    return f"{taken[slowest]:.1f} s ({slowest})", f"TPR: {other:.2f} s", f"{taken[slowest] / other:.0f}"


def quantiles(key: str, n: int) -> Row:
    reference = eh.ConfusionMatrix(tp=770, fn=1290, fp=3800, tn=16790)
    predicted = eh.distribution(key, n=n, reference=reference, law="predictive")
    three = seconds(partial(predicted.quantile, [0.025, 0.5, 0.975]), 1)
    one = seconds(partial(predicted.cdf, 0.37), 1)
    return f"{three:.1f} s", f"one cumulative probability: {one:.2f} s", f"{three / one:.0f}"


CSV_COUNT = """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql("SELECT g, y, p, count(*) FROM read_csv('{}', all_varchar = true) GROUP BY ALL").fetchall()
"""


def text() -> Row:
    """A CSV file with quotes around text and lines of about 90 bytes, the slowest form; start and imports included."""
    import duckdb

    taken: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.csv"
        duckdb.sql("SET enable_progress_bar = false")
        duckdb.sql(
            "COPY (SELECT 'a name, and a comma, number ' || i AS who, 'some more text of a usual length' AS note, "
            "'group ' || (i % 8) AS g, (random() < 0.3)::INT AS y, (random() < 0.4)::INT AS p "
            f"FROM range(2_000_000) t(i)) TO '{path}' (FORMAT csv, HEADER)"
        )
        for name, code in (("count", CSV_COUNT), ("audit", AUDIT)):
            for _ in range(2):
                before = children()
                subprocess.run([sys.executable, "-c", code.format(path)], check=True, capture_output=True)
                taken[name] = min(taken.get(name, np.inf), children() - before)
    count, audit = taken["count"], taken["audit"]
    return f"{audit:.1f} s", f"DuckDB's count: {count:.1f} s", f"{audit / count:.1f} (limit {1.5 + 0.3 / count:.1f})"


def tested(key: str) -> Row:
    rng = np.random.default_rng(0)
    cm = group_of(10**4)
    rates = (RATES + 1e-6 * run * np.array([1, -1, 0, 0]) for run in range(7))
    ours = min(seconds(partial(eh.match_test, cm, known, key, null="known", given="n"), 1) for known in rates)
    drawn = seconds(partial(draw, key, 10**4, rng))
    return f"{1e3 * ours:.0f} ms", f"{DRAWS:,} draws: {1e3 * drawn:.0f} ms", f"1 / {drawn / ours:.1f}"


def of_a_million() -> Row:
    """The slowest exact test given nothing but n = 10^6, of the scores made of several rates."""
    n = 10**6
    counts = eh.ConfusionMatrix.from_array([int(c) for c in RATES * 10 * n])
    cm, nulls = group_of(n), {"known": RATES, "predictive": counts}
    asked: dict[str, Any] = {
        f"{m.key}, {null}": partial(eh.match_test, cm, against, m, given="n", null=null)  # type: ignore[arg-type]
        for m in eh.list_metrics() if m.shape == "pair" for null, against in nulls.items()
    }  # fmt: skip
    taken = {name: seconds(ask, 1) for name, ask in asked.items()}
    slowest = max(taken, key=lambda name: taken[name])
    drawn = seconds(partial(draw, slowest.partition(",")[0], n, np.random.default_rng(0)), 1)
    ratio = f"{taken[slowest] / drawn:.1f}"
    return f"{taken[slowest]:.1f} s ({slowest})", f"{DRAWS:,} draws: {drawn:.2f} s", ratio


ROWS: dict[str, tuple[str, str, Callable[[], Row]]] = {
    "eight": ("audit of 8 groups × 8 default metrics, from counts", "–", partial(above_the_floor, 8)),
    "hundreds": (
        "audit of 365 groups × 8, where the floor is slow",
        "at most 40",
        partial(above_the_floor, 365),
    ),
    "three thousand": ("audit of 3,000 groups × 8", "–", partial(above_the_floor, 3_000)),
    "thousands": ("audit of 10,000 groups × 8, from counts", "at most 30, under 1 GB", thousands),
    "millions": ("80 million rows of Parquet, rates 2 points apart", "twice and 1 s, under 400 MB", millions),
    "text": ("2 million quoted lines of CSV", "1.5 times and 0.3 s", text),
    "billions": ("two groups of 10⁹ cases that differ, the slowest metric", "under 1 s", billions),
    "experiment": ("the paper's experiment, 152,250 exact errors", "2.2 s", experiment),
    "mcc": (
        "MCC: interval, gap and test, in an audit of 100 groups",
        "3 ms per group",
        partial(of_several_rates, "mcc"),
    ),
    "kappa": ("kappa, the same", "3 ms per group", partial(of_several_rates, "kappa")),
    "planning": ("planning with MCC, the slowest question", "1 s", partial(planned, "mcc")),
    "planning kappa": ("planning with kappa, the slowest question", "1 s", partial(planned, "kappa")),
    "quantiles": ("three quantiles of TPR, n = 10⁶, predicted", "1 s", partial(quantiles, "tpr", 10**6)),
    "quantiles of mcc": ("three quantiles of MCC, n = 10⁴, predicted", "1 s", partial(quantiles, "mcc", 10**4)),
    "pandas": ("10⁶ rows in pandas, 8 groups × 8 metrics", "3 times and 50 ms", partial(frame, "pandas")),
    "pandas apart": ("the same, groups far apart", "3 times and 50 ms", partial(frame, "pandas", apart=True)),
    "polars": ("10⁶ rows in Polars, 8 groups × 8 metrics", "3 times and 50 ms", partial(frame, "polars")),
    "polars apart": ("the same, groups far apart", "3 times and 50 ms", partial(frame, "polars", apart=True)),
    "report": ("report of 365 groups", "0.1", report),
    "pt": ("exact PT test at n = 10⁴, rates known, only n given", "1 / 5", partial(tested, "pt")),
    "mcc_test": ("exact MCC test at n = 10⁴, rates known, only n given", "1 / 5", partial(tested, "mcc")),
    "million": ("exact test at n = 10⁶, only n given, the slowest of 15 scores and two nulls", "1 s", of_a_million),
}


def main() -> None:
    if sys.argv[1:2] == ["--row"]:
        eh.audit_counts(eh.examples.compas(), metrics=["tpr", "mcc"])
        print(json.dumps(ROWS[sys.argv[2]][2]()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, sep="\t")
        return
    print(HEAD.format(date=date.today(), machine=_machine(), versions=_versions()))
    for name in sys.argv[1:] or ROWS:
        print(name, file=sys.stderr)
        done = subprocess.run([sys.executable, __file__, "--row", name], check=True, stdout=subprocess.PIPE, text=True)
        row, peak = done.stdout.split("\t")
        what, goal, _ = ROWS[name]
        took, beside, ratio = json.loads(row)
        print(f"| {what} | {took} | {beside} | {ratio} | {goal} | {int(peak):,} MB |", flush=True)
    if not sys.argv[1:]:
        print(GROWN)
        every = dict(measured())
        for name, series in every.items():
            first, last = next(iter(series.items())), list(series.items())[-1]
            ends = f"{first[0]:,}: {first[1]:.2g} s | {last[0]:,}: {last[1]:.2g} s"
            print(f"| {name} | {ends} | {' | '.join(f'{power:g}' for power in exponents(series))} |")
        drawn(every)


HEAD = """Measured on {date}, on {machine}, with {versions}.

| work | takes | beside | ratio | goal | peak memory |
|---|---|---|---|---|---|"""


GROWN = """
| what grows | smallest | largest | power | at the end |
|---|---|---|---|---|"""


def _machine() -> str:
    import os

    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()} ({os.cpu_count()} cores, {platform.system()})"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []


def _versions() -> str:
    packages = [f"{name} {version(name)}" for name in ("evenhand", "numpy", "scipy", "pandas", "polars", "duckdb")]
    return ", ".join([f"Python {platform.python_version()}", *packages])


if __name__ == "__main__":
    main()
