"""How often 95% intervals hold the true score, for small groups with the rates of the paper's ten groups.

A coverage is a share of the groups whose score is defined and that were given an interval; how many were given none is
counted apart. It is exact where cases are listed, and has a standard error where they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from groups import METRICS, SIZES, Cases, Ints, drawn, listed, scored, true_score, undefined
from registry import Desk, Refused

__all__ = ["ROWS", "Coverage", "Row", "cover", "coverage_tables"]

RATES = ("tpr", "ppv", "acc")
# Intervals of listed cases are asked with all four cells up to this n.
LISTED_WHOLE = 10


@dataclass(frozen=True)
class Row:
    """A way to an interval: whose it is, of which metrics by lists and of which by draws, and with what settings.

    ``parts`` are metrics whose interval depends on what the score depends on. The other metrics are listed with all
    cells up to `LISTED_WHOLE` if ``whole``, and drawn elsewhere. ``together`` asks for all drawn metrics at once.
    """

    name: str
    peer: str
    what: str
    parts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    whole: bool = False
    draws: int = 0
    together: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


FIVE = tuple(METRICS)
ROWS = (
    Row("evenhand", "evenhand", "`interval`: mid-p for rates and F1, mid-p of each rate for MCC",
        parts=("tpr", "ppv", "f1", "acc"), others=("mcc",), whole=True, draws=60),
    Row("fairlearn", "fairlearn", "`MetricFrame(n_boot=100).by_group_ci`, percentile bootstrap of rows",
        others=FIVE, draws=8, together=True, settings={"rounds": 100}),
    Row("vfairness", "vfairness", "`get_group_metrics_with_ci`, Wilson; nothing for fewer than 30 positives",
        parts=("tpr",)),
    Row("vfairness, gate 1", "vfairness", "the same with `min_group_size=1`; beta below 30 rows",
        parts=("tpr",), settings={"gate": 1}),
    Row("fairpipe", "fairpipe", "`beta_binomial_interval`, uniform prior; counts by the user", parts=RATES),
    Row("equiboots", "equiboots", "percentile bootstrap (50 rounds of 100 rows, which is its default size)",
        others=("tpr", "ppv", "f1", "acc"), draws=3, together=True, settings={"rounds": 50}),
    Row("prob_conf_mat", "prob_conf_mat", "95 % HDI of 10,000 posterior draws, default prior (Haldane)",
        others=FIVE, whole=True, draws=20, together=True),
    Row("prob_conf_mat, prior 1/2", "prob_conf_mat", "the same with a prior of 1/2 in each cell",
        others=FIVE, whole=True, draws=20, together=True, settings={"prior": 0.5}),
    Row("confidenceinterval", "confidenceinterval",
        "Wilson for rates, its delta method for F1",
        parts=RATES, others=("f1",), whole=True, draws=200),
    Row("confidenceinterval, bootstrap", "confidenceinterval",
        "its `bootstrap_ci` (BCa, 999 resamples) of an MCC that the user computes",
        others=("mcc",), draws=8, settings={"rounds": 999}),
    Row("PyCM", "PyCM", "`CI`, normal approximation (the default)", parts=RATES),
    Row("PyCM, Wilson", "PyCM", '`CI(binom_method="wilson")`', parts=RATES, settings={"method": "wilson"}),
    Row("statsmodels", "statsmodels", "`proportion_confint`, normal approximation (the default); counts by the user",
        parts=RATES, settings={"method": "normal"}),
    Row("statsmodels, beta", "statsmodels", '`proportion_confint(method="beta")`, Clopper-Pearson',
        parts=RATES, settings={"method": "beta"}),
)  # fmt: skip


@dataclass(frozen=True)
class Coverage:
    """How often an interval holds the true score, how often there is none, and how wide it is."""

    mean: float
    smallest: float
    withheld: float
    width: float
    error: float

    @property
    def exact(self) -> bool:
        """Whether every case was listed."""
        return self.error == 0


def covered(key: str, cases: Cases, found: list[Any]) -> Coverage:
    ends = np.array([[np.nan, np.nan] if end is None else end for end in found], dtype=float).reshape(-1, 2)
    low, high = ends.T
    defined, given = ~np.isnan(scored(key, cases.matrices)), ~np.isnan(low)
    truth = true_score(key)[:, None]
    holds = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    weights = cases.weights * defined
    asked, kept = weights.sum(axis=1), (weights * given).sum(axis=1)
    if kept.sum() < 1e-6:
        return Coverage(np.nan, np.nan, 1.0, np.nan, 0.0)
    held = (weights * given * holds).sum(axis=1)
    mean = held.sum() / kept.sum()
    enough = kept > 0.01
    error = 0.0
    if cases.draws:
        # A share of 0 or 1 among few draws has an error too.
        number = cases.draws * kept.sum()
        near = (mean * number + 1) / (number + 2)
        error = float(np.sqrt(near * (1 - near) / number))
    return Coverage(
        mean=float(mean),
        smallest=float((held[enough] / kept[enough]).min()) if enough.any() else np.nan,
        withheld=float(1 - kept.sum() / asked.sum()),
        width=float((weights * given * np.nan_to_num(high - low)).sum() / kept.sum()),
        error=error,
    )


def twins(key: str, matrices: Ints) -> Ints:
    """Other matrices with the same counts of what the score depends on."""
    tp, fn, fp, tn = matrices.T
    zero = np.zeros_like(tp)
    return np.stack(
        {
            "tpr": (tp, fn, zero, fp + tn),
            "ppv": (tp, zero, fp, fn + tn),
            "f1": (tp, fn + fp, zero, tn),
            "acc": (tp + tn, fn + fp, zero, zero),
        }[key],
        axis=1,
    )


def batches(
    row: Row, sizes: Iterable[int], draws: Callable[[int], int]
) -> Iterator[tuple[tuple[str, ...], list[tuple[int, Cases]]]]:
    """What a row has to be asked: metrics, and cases by n."""
    for key in row.parts:
        yield (key,), [(n, listed(key, n)) for n in sizes]
    for keys in [row.others] if row.together else [(key,) for key in row.others]:
        if keys:
            yield (
                keys,
                [
                    (
                        n,
                        listed(keys[0], n, whole=True)
                        if row.whole and n <= LISTED_WHOLE
                        else drawn(n, draws(row.draws)),
                    )
                    for n in sizes
                ],
            )


def interval_of(
    row: Row, desk: Desk, sizes: Iterable[int], draws: Callable[[int], int]
) -> dict[tuple[str, int], Coverage]:
    """The coverage of one row, by metric and n."""
    asked = list(batches(row, list(sizes), draws))
    jobs = []
    for keys, cases in asked:
        matrices = np.concatenate([each.matrices for _, each in cases])
        metric = {"metrics": list(keys)} if row.together else {"metric": keys[0]}
        jobs.append({**metric, **row.settings, "matrices": matrices.tolist()})
    checks = [
        {"metric": key, **row.settings, "matrices": twins(key, some_of(jobs[i]["matrices"])).tolist()}
        for i, key in enumerate(row.parts)
    ]
    answers = desk.ask(row.peer, "intervals", *jobs, *checks)
    found: dict[tuple[str, int], Coverage] = {}
    for (keys, cases), answer in zip(asked, answers, strict=False):
        for key in keys:
            ends, start = answer[key] if row.together else answer, 0
            for n, each in cases:
                stop = start + len(each.matrices)
                found[key, n] = covered(key, each, ends[start:stop])
                start = stop
    for key, ends, again in zip(row.parts, answers, answers[len(jobs) :], strict=False):
        for first, second in zip(some_of(ends), again, strict=True):
            if first != second and not (first and second and np.allclose(first, second, atol=1e-9)):
                raise Refused(f"the interval of {key} depends on more than its counts: {first} and {second}")
    return found


def some_of(of_each: list[Any]) -> Any:
    """Some of the matrices, or of their intervals: those asked again with `twins`."""
    at = np.random.default_rng(0).choice(len(of_each), 25).tolist()
    found = [of_each[i] for i in at]
    return np.array(found) if len(found[0] or ()) == 4 else found


def cover(desk: Desk, sizes: tuple[int, ...] = SIZES, draws: Callable[[int], int] = lambda d: d) -> dict[str, Any]:
    """The coverages of all rows, or the reason why a row has none."""

    def one(row: Row) -> Any:
        try:
            return interval_of(row, desk, sizes, draws)
        except Refused as reason:
            return str(reason)

    slowest_first = sorted(
        ROWS, key=lambda row: row.peer not in ("fairlearn", "prob_conf_mat", "evenhand", "equiboots")
    )
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip([row.name for row in slowest_first], pool.map(one, slowest_first), strict=True))
    return {row.name: found[row.name] for row in ROWS}


# ---------------------------------------------------------------------------------------------------- the tables


def cell(coverage: Coverage | None) -> str:
    if coverage is None:
        return ""
    if coverage.withheld == 1:
        return "none"
    if coverage.exact:
        text = f"{100 * coverage.mean:.1f}"
        text += "" if np.isnan(coverage.smallest) else f" ({100 * coverage.smallest:.1f})"
    else:
        text = f"{100 * coverage.mean:.0f} ± {100 * coverage.error:.1f}"
    return text + (f"; {100 * coverage.withheld:.0f} % none" if coverage.withheld > 0.005 else "")


def coverage_tables(found: dict[str, Any], sizes: tuple[int, ...]) -> Iterator[str]:
    narrow, wide = sizes[min(1, len(sizes) - 1)], sizes[-1]
    for key, name in METRICS.items():
        yield f"### {name}\n"
        heads = [*(f"n = {n}" for n in sizes), f"width, n = {narrow}", f"n = {wide}"]
        yield "| interval | " + " | ".join(heads) + " |"
        yield "|" + "---|" * (len(heads) + 1)
        shares = [f"*{100 * undefined(key, n):.1f}%*" for n in sizes]
        yield "| *score undefined* | " + " | ".join([*shares, "", ""]) + " |"
        for row in ROWS:
            results = found[row.name]
            if isinstance(results, str):
                continue
            cells = [results.get((key, n)) for n in sizes]
            if not any(cells):
                continue
            widths = [results.get((key, n)) for n in (narrow, wide)]
            shown = [f"{w.width:.2f}" if w and w.withheld < 1 else "" for w in widths]
            yield f"| {row.name} | " + " | ".join([*map(cell, cells), *shown]) + " |"
        yield ""
