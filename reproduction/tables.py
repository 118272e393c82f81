"""The paper's Tables 1 and 2, as printed and corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import comb, exp, log

import numpy as np
from pandas import DataFrame, concat

import evenhand as eh

from .study import Floats, Study

CELLS = ("tp", "fn", "fp", "tn")


def pt_upper_bound(n: int) -> float:
    """The paper's upper bound on the number of matrices on which PT is undefined, for n ≥ 3."""
    loglog = log(log(n))
    return exp(np.euler_gamma) * n * loglog + 0.6483 * n / loglog


@dataclass(frozen=True, slots=True)
class Table1Row:
    """Metrics, the paper's number of undefined cases, and the expressions of which one is zero in these cases.

    Where the paper gives two bounds in place of a number, ``bound`` is the upper one.
    """

    name: str
    metrics: str
    growth: str
    formula: str
    zeros: tuple[str, ...]
    count: Callable[[int], int]
    bound: Callable[[int], float] | None = None

    @property
    def keys(self) -> list[str]:
        """The keys of the metrics."""
        return self.metrics.split()

    @property
    def groups(self) -> int:
        """The number of groups that the metrics compare."""
        return eh.metric(self.keys[0]).groups

    def enumerate_undefined(self, n: int) -> int:
        """Count the undefined cases among all matrices of n cases, or among all pairs of such matrices."""
        cells = DataFrame(eh.enumerate_matrices(n), columns=CELLS)
        undefined = np.any([cells.eval(total) == 0 for total in self.zeros], axis=0)
        if self.groups == 2:
            undefined = undefined[:, None] | undefined
        return int(undefined.sum())

    def is_right(self, n: int, count: int) -> bool:
        """Whether the paper gives this count, or bounds that include it."""
        if self.bound:
            return self.count(n) <= count < self.bound(n)
        return count == self.count(n)


_ALL = ("tp + fn + fp + tn",)
_PT_GROWTH = "Ω(n), O(n log log n)"
_PT_BOUNDS = "≥ 2n + 2 and < e^γ n ln ln n + 0.6483 n / ln ln n"
_PT_ZEROS = ("tp + fn", "fp + tn", "tp * tn - fp * fn")
_MCC_ZEROS = ("tp + fp", "tp + fn", "tn + fp", "tn + fn")
_TE_FORMULA = "C(n₁+2, 2) + C(n₂+2, 2) − 1"
TABLE_1 = (
    Table1Row("Binomial metrics", "acc prev ppr inacc nprev pnr", "Θ(1)", "0", _ALL, lambda n: 0),
    Table1Row("Marginal benefit", "mb", "Θ(1)", "0", _ALL, lambda n: 0),
    Table1Row("Objective Fairness Index", "ofi", "Θ(1)", "0", _ALL, lambda n: 0),
    Table1Row("Simplified F1", "f1", "Θ(1)", "1", ("tp + fp + fn",), lambda n: 1),
    Table1Row("Joint ratio, rows", "tpr fnr", "Θ(n)", "n + 1", ("tp + fn",), lambda n: n + 1),
    Table1Row("Joint ratio, rows", "fpr tnr", "Θ(n)", "n + 1", ("fp + tn",), lambda n: n + 1),
    Table1Row("Joint ratio, columns", "ppv fdr", "Θ(n)", "n + 1", ("tp + fp",), lambda n: n + 1),
    Table1Row("Joint ratio, columns", "npv for", "Θ(n)", "n + 1", ("fn + tn",), lambda n: n + 1),
    Table1Row("Matthews correlation", "mcc", "Θ(n)", "4n", _MCC_ZEROS, lambda n: 4 * n),
    Table1Row("Prevalence threshold", "pt", _PT_GROWTH, _PT_BOUNDS, _PT_ZEROS, lambda n: 2 * n + 2, pt_upper_bound),
    Table1Row("Treatment equality", "te", "Θ(n²)", _TE_FORMULA, ("fp",), lambda n: 2 * comb(n + 2, 2) - 1),
    Table1Row("Original F1", "f1_original", "Θ(n²)", "C(n+2, 2)", ("tp",), lambda n: comb(n + 2, 2)),
)


def count_undefined(key: str, n: int) -> int:
    """The library's count for one group of n cases, or for two."""
    return eh.count_undefined(key, (n, n) if eh.metric(key).groups == 2 else n)


def compute_table_1(study: Study) -> DataFrame:
    """Undefined cases by the paper's formula, by the library's closed form and by brute force."""
    records = []
    for n, row in product((3, 4, 5, 6, 7, 8, 9, 10, 12, 20), TABLE_1):
        (count,) = {count_undefined(key, n) for key in row.keys}
        high = row.bound(n) if row.bound else row.count(n)
        record = {
            "n": n,
            "row": row.name,
            "metrics": row.metrics,
            "paper_growth": row.growth,
            "paper_formula": row.formula,
            "paper_low": row.count(n),
            "paper_high": round(high, 1),
            "evenhand": count,
            "brute_force": row.enumerate_undefined(n),
            "configurations": eh.count_matrices(n) ** row.groups,
            "paper_is_right": "yes" if row.is_right(n, count) else "no",
        }
        records.append(record)
    return DataFrame(records)


PRINTED_TABLE_2 = {
    "Black": (0.09, 0.33, 0.05, 0.53),
    "All other races": (0.06, 0.25, 0.05, 0.64),
    "prior: no prior": (0.00, 0.00, 0.00, 0.00),
    "prior: CPS": (0.06, 0.25, 0.05, 0.64),
    "prior: uniform": (0.25, 0.25, 0.25, 0.25),
    "difference: no prior": (0.09, 0.33, 0.05, 0.53),
    "difference: CPS": (0.03, 0.08, 0.00, 0.11),
    "difference: uniform": (0.16, 0.08, 0.20, 0.28),
}


def correct_table_2(study: Study) -> dict[str, Floats]:
    """The cells of Table 2, from the counts (E14)."""
    black, others = (cm.proportions for cm in study.groups["COMPAS/Black"])
    priors = {"no prior": np.zeros(4), "CPS": others, "uniform": np.full(4, 0.25)}
    rows = {"Black": black, "All other races": others}
    rows |= {f"prior: {name}": prior for name, prior in priors.items()}
    return rows | {f"difference: {name}": np.abs(black - prior) for name, prior in priors.items()}


def compute_table_2(study: Study) -> DataFrame:
    """The COMPAS priors as printed, with the printed column labels, and corrected."""
    frames = []
    for version, rows in (("printed", PRINTED_TABLE_2), ("corrected", correct_table_2(study))):
        frame = DataFrame.from_dict(rows, orient="index", columns=CELLS).rename_axis("row")
        is_difference = frame.index.str.startswith("difference")
        frame["total"] = frame.sum(axis=1).where(is_difference)
        frame.insert(0, "version", version)
        frames.append(frame.reset_index())
    return concat(frames)[["version", "row", *CELLS, "total"]]
