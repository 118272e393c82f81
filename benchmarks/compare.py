"""What became slower or faster between two versions: a few times, each as a multiple of a loop in the same run.

    python benchmarks/compare.py > benchmarks/history/0.1.0.json         # with each release; some minutes
    python benchmarks/compare.py benchmarks/history/0.1.0.json new.json  # what changed by more than the noise

Each round times every row once, right after the loop that it is divided by, so that a slower machine, or other work on
it, slows both. Rounds differ in their data, so that nothing is remembered from the one before. A file keeps, for each
row, the median of the rounds and their quartiles. What changed is where the quartiles of the two files do not meet, and
the medians differ by more than a tenth. In two runs of the same code on a busy machine, the quartiles of 1 row in 12
did not meet, and medians differed by up to 15%; no row did both. So a row that changed a little is worth a second run.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from import_time import STATEMENTS, best
from match import RATES, group_of
from timing import made_up

import evenhand as eh

ROUNDS = 9
SMALLEST = 1.1
Work = Callable[[], object]


def loop() -> None:
    """What every time is divided by: Python's own arithmetic and NumPy's, neither of which this project can change."""
    total = 0
    for i in range(300_000):
        total += i * i % 7
    values = np.random.default_rng(0).random(200_000)
    for _ in range(4):
        np.cumsum(np.sort(values))


def text_of(groups: int, seed: int) -> str:
    """A table of decisions as CSV, of a few ten thousand rows."""
    counts = {name: eh.ConfusionMatrix.from_array(cells) for name, cells in made_up(groups, seed).items()}
    columns = eh.examples.rows(counts)
    rows = zip(*(columns[name].tolist() for name in ("group", "y_true", "y_pred")), strict=True)
    return "g,y,p\n" + "".join(f"{g},{y},{p}\n" for g, y, p in rows)


def works(seed: int, folder: Path) -> dict[str, Work]:
    """The rows of one round; what they need is made beforehand."""
    group, rates = group_of(1_000 + seed), RATES + 1e-6 * seed * np.array([1, -1, 0, 0])
    reference = eh.ConfusionMatrix(tp=1_500 + seed, fn=1_000, fp=2_000, tn=5_500)
    counts, path = made_up(100, seed), folder / f"{seed}.csv"
    path.write_text(text_of(50, seed), "utf-8")
    audited = eh.audit_counts(made_up(50, 100 + seed))
    return {
        "audit of 100 groups, from counts": partial(eh.audit_counts, counts),
        "audit of MCC, 20 groups": partial(eh.audit_counts, made_up(20, seed), metrics="mcc"),
        "audit of a CSV file": partial(eh.audit, path, y_true="y", y_pred="p", groups="g"),
        "report of 50 groups": audited.to_html,
        "text of 50 groups": audited.to_text,
        "MATCH of TPR, 1,000 cases": partial(_tenfold, partial(eh.match_test, group, reference, "tpr")),
        "MATCH of MCC, only n given": partial(eh.match_test, group, rates, "mcc", null="known", given="n"),
        "gap of TPR": partial(_tenfold, partial(eh.disparity, group, reference, "tpr")),
        "gap of MCC": partial(eh.disparity, group, reference, "mcc"),
        "distribution of F1, 300 cases": partial(_tenfold, partial(_median, 300 + seed, reference)),
        "power of a test of TPR": partial(_tenfold, partial(eh.power, "tpr", 60 + seed, reference, difference=0.2)),
    }


def _median(n: int, reference: eh.ConfusionMatrix) -> float:
    return float(eh.distribution("f1", n, reference).quantile(0.5))


def _tenfold(work: Work) -> None:
    for _ in range(10):
        work()


def seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measured() -> dict[str, Any]:
    """The quartiles of every row, in loops, with what was run."""
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for work in works(ROUNDS, Path(folder)).values():
            work()
        for seed in range(ROUNDS):
            print(f"round {seed + 1} of {ROUNDS}", file=sys.stderr)
            for name, work in works(seed, Path(folder)).items():
                beside = seconds(loop)
                ratios.setdefault(name, []).append(seconds(work) / beside)
            numpy, ours = (best(STATEMENTS[name], 3) for name in ("numpy", "evenhand, first score"))
            ratios.setdefault("import and first score, beside import numpy", []).append(ours / numpy)
    quartiles = {name: np.quantile(values, [0.25, 0.5, 0.75]).round(4).tolist() for name, values in ratios.items()}
    packages = {name: version(name) for name in ("numpy", "scipy", "narwhals", "duckdb")}
    about = {"evenhand": eh.__version__, "python": platform.python_version(), **packages}
    return {"versions": about, "rounds": ROUNDS, "quartiles": quartiles}


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for each row that changed by more than the noise, or that only one of the two has."""
    found = []
    for name in old["quartiles"] | new["quartiles"]:
        if name not in old["quartiles"] or name not in new["quartiles"]:
            found.append(f"{name}: only in the {'new' if name in new['quartiles'] else 'old'} one")
            continue
        (low, was, high), (lowest, now, highest) = old["quartiles"][name], new["quartiles"][name]
        apart = lowest > high or highest < low
        if apart and max(now / was, was / now) > SMALLEST:
            word = f"{now / was:.2f} times as long" if now > was else f"{was / now:.2f} times as fast"
            found.append(f"{name}: {word} ({was:.3g} to {now:.3g} loops)")
    return found


def main() -> None:
    if len(sys.argv) == 1:
        print(json.dumps(measured(), indent=1))
        return
    old, new = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:3])
    for name in old["versions"]:
        if old["versions"][name] != new["versions"].get(name):
            print(f"{name} {old['versions'][name]} is now {new['versions'].get(name)}")
    print("\n".join(changes(old, new)) or "nothing changed by more than the noise")


if __name__ == "__main__":
    main()
