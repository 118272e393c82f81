"""The paper's Tables 1 and 2, as printed and corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, exp, log

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from .study import Study
from .table import Table, Value

__all__ = [
    "HOLE_ROWS",
    "PRINTED_PRIORS",
    "HoleRow",
    "brute_force_count",
    "distances",
    "priors",
    "pt_upper_bound",
    "undefined_cases",
]

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


def pt_upper_bound(n: int) -> float:
    """The paper's upper bound on the number of matrices on which PT is undefined, for n ≥ 3."""
    return exp(np.euler_gamma) * n * log(log(n)) + 0.6483 * n / log(log(n))


@dataclass(frozen=True, slots=True)
class HoleRow:
    """A row of Table 1: the paper's count, or its bounds, and the condition on which the metric is undefined.

    ``undefined`` takes arrays of integer counts, so no floating-point rounding is involved.
    """

    name: str
    metrics: tuple[str, ...]
    formula: str
    growth: str
    low: Callable[[int], float]
    high: Callable[[int], float]
    undefined: Callable[[Counts, Counts, Counts, Counts], Flags]
    groups: int = 1


def _row(
    name: str,
    metrics: str,
    formula: str,
    growth: str,
    count: Callable[[int], float],
    undefined: Callable[[Counts, Counts, Counts, Counts], Flags],
    groups: int = 1,
) -> HoleRow:
    return HoleRow(name, tuple(metrics.split()), formula, growth, count, count, undefined, groups)


HOLE_ROWS = (
    _row(
        "Binomial metrics",
        "acc prev ppr inacc nprev pnr",
        "0",
        "Θ(1)",
        lambda n: 0,
        lambda tp, fn, fp, tn: tp + fn + fp + tn == 0,
    ),
    _row("Marginal benefit", "mb", "0", "Θ(1)", lambda n: 0, lambda tp, fn, fp, tn: tp + fn + fp + tn == 0),
    _row(
        "Objective Fairness Index",
        "ofi",
        "0",
        "Θ(1)",
        lambda n: 0,
        lambda tp, fn, fp, tn: tp + fn + fp + tn == 0,
        groups=2,
    ),
    _row("Simplified F1", "f1", "1", "Θ(1)", lambda n: 1, lambda tp, fn, fp, tn: 2 * tp + fp + fn == 0),
    _row("Joint ratio, rows", "tpr fnr", "n + 1", "Θ(n)", lambda n: n + 1, lambda tp, fn, fp, tn: tp + fn == 0),
    _row("Joint ratio, rows", "fpr tnr", "n + 1", "Θ(n)", lambda n: n + 1, lambda tp, fn, fp, tn: fp + tn == 0),
    _row("Joint ratio, columns", "ppv fdr", "n + 1", "Θ(n)", lambda n: n + 1, lambda tp, fn, fp, tn: tp + fp == 0),
    _row("Joint ratio, columns", "npv for", "n + 1", "Θ(n)", lambda n: n + 1, lambda tp, fn, fp, tn: fn + tn == 0),
    _row(
        "Matthews correlation",
        "mcc",
        "4n",
        "Θ(n)",
        lambda n: 4 * n,
        lambda tp, fn, fp, tn: (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn) == 0,
    ),
    HoleRow(
        "Prevalence threshold",
        ("pt",),
        "≥ 2n + 2 and < e^γ n ln ln n + 0.6483 n / ln ln n",
        "Ω(n), O(n log log n)",
        lambda n: 2 * n + 2,
        pt_upper_bound,
        lambda tp, fn, fp, tn: (tp + fn == 0) | (fp + tn == 0) | (tp * tn == fp * fn),
    ),
    _row(
        "Treatment equality",
        "te",
        "C(n₁+2, 2) + C(n₂+2, 2) − 1",
        "Θ(n²)",
        lambda n: 2 * comb(n + 2, 2) - 1,
        lambda tp, fn, fp, tn: fp == 0,
        groups=2,
    ),
    _row("Original F1", "f1_original", "C(n+2, 2)", "Θ(n²)", lambda n: comb(n + 2, 2), lambda tp, fn, fp, tn: tp == 0),
)


def brute_force_count(row: HoleRow, n: int) -> int:
    """Count the undefined cases among all matrices of n cases, or among all pairs of such matrices."""
    holes = row.undefined(*eh.enumerate_matrices(n).T.astype(np.int64))
    return int(holes.sum() if row.groups == 1 else (holes[:, None] | holes[None, :]).sum())


def undefined_cases(study: Study) -> Table:
    """Table 1: undefined cases by the paper's formula, by the library's closed form and by brute force."""
    rows = []
    for n in (3, 4, 5, 6, 7, 8, 9, 10, 12, 20):
        for row in HOLE_ROWS:
            (count,) = {eh.count_undefined(key, (n, n) if row.groups == 2 else n) for key in row.metrics}
            right = row.low(n) == count if row.low is row.high else row.low(n) <= count < row.high(n)
            total = eh.count_matrices(n) ** row.groups
            bounds = [round(row.low(n), 1), round(row.high(n), 1)]
            keys, verdict = " ".join(row.metrics), "yes" if right else "no"
            brute_force = brute_force_count(row, n)
            rows.append((n, row.name, keys, row.growth, row.formula, *bounds, count, brute_force, total, verdict))
    columns = (
        "n",
        "row",
        "metrics",
        "paper_growth",
        "paper_formula",
        "paper_low",
        "paper_high",
        "evenhand",
        "brute_force",
    )
    return Table((*columns, "configurations", "paper_is_right"), rows)


PRINTED_PRIORS = {
    "Black": (0.09, 0.33, 0.05, 0.53),
    "All other races": (0.06, 0.25, 0.05, 0.64),
    "prior: no prior": (0.00, 0.00, 0.00, 0.00),
    "prior: CPS": (0.06, 0.25, 0.05, 0.64),
    "prior: uniform": (0.25, 0.25, 0.25, 0.25),
    "difference: no prior": (0.09, 0.33, 0.05, 0.53),
    "difference: CPS": (0.03, 0.08, 0.00, 0.11),
    "difference: uniform": (0.16, 0.08, 0.20, 0.28),
}


def distances(study: Study) -> dict[str, NDArray[np.float64]]:
    """Absolute differences per cell between the Black group and each prior: none, the other races (CPS), uniform."""
    black, others = (cm.proportions for cm in study.groups["COMPAS/Black"])
    guesses = {"no prior": np.zeros(4), "CPS": others, "uniform": np.full(4, 0.25)}
    return {name: np.abs(black - guess) for name, guess in guesses.items()}


def priors(study: Study) -> Table:
    """Table 2: the COMPAS priors as printed, with the printed column labels, and corrected (E14)."""
    black, others = (cm.proportions for cm in study.groups["COMPAS/Black"])
    corrected = {"Black": black, "All other races": others, "prior: no prior": np.zeros(4), "prior: CPS": others}
    corrected["prior: uniform"] = np.full(4, 0.25)
    corrected |= {f"difference: {name}": gap for name, gap in distances(study).items()}
    rows: list[tuple[Value, ...]] = [
        ("printed", name, *cells, _total(name, cells)) for name, cells in PRINTED_PRIORS.items()
    ]
    rows += [("corrected", name, *map(float, cells), _total(name, cells)) for name, cells in corrected.items()]
    return Table(("version", "row", "tp", "fn", "fp", "tn", "total"), rows)


def _total(name: str, cells: NDArray[np.float64] | tuple[float, ...]) -> float | None:
    return float(np.sum(cells)) if name.startswith("difference") else None
