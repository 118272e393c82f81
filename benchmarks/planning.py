"""What planning costs beside simulation and within an audit, and how jagged each metric is.

Run it with ``.venv/bin/python benchmarks/planning.py``; it takes about two minutes and prints Markdown. The simulation
draws 10**5 groups and tests each distinct outcome once, with the same Fisher test; a simulation that tests every draw
is slower. Times depend on the machine, so read the ratios. Expect the exact power of a rate ahead up to n = 10**3. With
``jaggedness`` as an argument only the table in docs/how-to/planning.md is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from evenhand import ConfusionMatrix, audit_counts, jaggedness, list_metrics, metric, power, sample_size
from evenhand.examples import compas
from evenhand.inference import compared_rates, fisher_tails
from evenhand.planning import Jaggedness

REST = ConfusionMatrix(tp=3000, fn=1000, fp=1200, tn=4800)
DRAWS = 10**5
SIZES = (10, 100, 300, 1_000, 10_000)


def best(call: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The shortest of some runs, in milliseconds, and the result."""
    taken, result = [], None
    for _ in range(times):
        start = time.perf_counter()
        result = call()
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken), result


def simulated(key: str, n: int, rates: Any) -> float:
    """The share of simulated groups and references that Fisher's test rejects at 5%."""
    m, rng = metric(key).base, np.random.default_rng(0)
    groups = rng.multinomial(n, rates, size=DRAWS).astype(np.float64)
    references = rng.multinomial(int(REST.n), REST.proportions, size=DRAWS).astype(np.float64)
    pairs = compared_rates(m, groups, references)
    return float(((fisher_tails(pairs).pvalues <= 0.05) & (pairs.n1 > 0)).mean())


def beside_simulation() -> Iterator[str]:
    yield "| score | n | exact: power | ms | 10⁵ draws: power | ms | ratio |"
    yield "|---|---|---|---|---|---|---|"
    for key in ("acc", "tpr", "f1"):
        for n in SIZES:
            ours, found = best(lambda k=key, n=n: power(k, n, REST, difference=-0.1))  # type: ignore[misc]
            rates = found._planned.rates
            theirs, share = best(lambda k=key, n=n, r=rates: simulated(k, n, r), 1)  # type: ignore[misc]
            powers = f"{found.power:.4f} | {ours:.1f} | {share:.4f} | {theirs:.1f}"
            yield f"| {key} | {n:,} | {powers} | {theirs / ours:.1f} |"


def sizes() -> Iterator[str]:
    yield "| number of cases for a power of 80% | n | from which on | seconds |"
    yield "|---|---|---|---|"
    for key, difference in (("tpr", -0.05), ("fpr", 0.05), ("acc", -0.05), ("f1", -0.1), ("mcc", -0.2), ("mcc", -0.1)):
        taken, found = best(lambda k=key, d=difference: sample_size(k, REST, d), 1)  # type: ignore[misc]
        yield f"| {key}, difference {difference:+g} | {found.n:,} | {found.n_stays:,} | {taken / 1000:.2f} |"


def in_the_audit() -> Iterator[str]:
    """How much of an audit of 365 groups the numbers of cases needed take."""
    sys.path.insert(0, __file__.rpartition("/")[0])
    from timing import made_up

    judge: Any = import_module("evenhand.auditing.judge")
    spent = [0.0]
    plain = judge._needed

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = plain(*arguments)
        spent[0] = time.perf_counter() - start
        return result

    judge._needed = timed
    counts = made_up(365)
    whole, audit = best(lambda: audit_counts(counts), 3)
    few = sum(row.required_n is not None for row in audit.rows)
    yield f"Audit of 365 groups: {whole / 1000:.2f} s, of which {spent[0]:.2f} s for the cases that {few:,} rows need."


def how_jagged() -> Iterator[str]:
    """The table in docs/how-to/planning.md."""
    hispanic = compas()["Hispanic"]
    rows = []
    for m in list_metrics():
        if m.groups == 1:
            drawn, every = jaggedness(m, hispanic, range(5, 81)), jaggedness(m, None, range(5, 51))
            rows.append((drawn.total, m, drawn, every))
    yield "| metric | shape | per step | largest jump of the median | dies out as | per step, all configurations |"
    yield "|---|---|---|---|---|---|"
    lines: dict[str, list[str]] = {}
    for _, m, drawn, every in sorted(rows, key=lambda row: (-round(row[0], 9), row[1].key)):
        jump = max(abs(step) for step in drawn.jumps)
        decay = "-" if drawn.decay is None else f"n^-{drawn.decay:.1f}" if drawn.decay > 0 else "does not"
        figures = f"{m.shape} | {_percent(drawn)} | {jump:.3f} | {decay} | {_percent(every)} |"
        lines.setdefault(figures, []).append(m.key)
    # Metrics with the same figures, such as a rate and its complement, share a line.
    for figures, keys in lines.items():
        yield f"| {' '.join(keys)} | {figures}"


def _percent(found: Jaggedness) -> str:
    return f"{100 * found.total:.2f}%"


def main() -> None:
    parts = [how_jagged] if "jaggedness" in sys.argv[1:] else [beside_simulation, sizes, in_the_audit, how_jagged]
    for part in parts:
        for line in part():
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
