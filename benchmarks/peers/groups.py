"""The data that every peer gets: matrices of small groups, audits, and rows. Seeds are fixed.

Small groups are drawn with the rates of the paper's ten groups, so that the true scores are known. What can be listed
is listed: a rate, a share or F1 depends on a part of the cases, and an interval that depends on the same part is asked
once for each. Elsewhere groups are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from evenhand import examples

__all__ = ["METRICS", "SIZES", "TEN", "Cases", "audits", "drawn", "listed", "rows", "true_score", "undefined"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (10, 20, 50, 100, 150)
METRICS = {"tpr": "TPR", "ppv": "PPV", "f1": "F1", "mcc": "MCC", "acc": "Accuracy"}
# Cases that no group has with more than this probability are left out of lists.
NEGLIGIBLE = 1e-8
SEED = 18


def ten_groups() -> dict[str, Floats]:
    found = {f"COMPAS, {name}": cm for name, cm in examples.compas_violent().items() if name != "Other"}
    found |= {f"Folktables, {name}": cm for name, cm in examples.folktables_income().items()}
    return {name: np.array(cm.cells, dtype=float) / cm.n for name, cm in found.items()}


TEN = ten_groups()


def scored(key: str, cells: Any) -> Floats:
    """A score by its definition, nan where it is undefined; it shares no code with the library."""
    tp, fn, fp, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            {
                "tpr": lambda: tp / (tp + fn),
                "ppv": lambda: tp / (tp + fp),
                "f1": lambda: 2 * tp / (2 * tp + fp + fn),
                "acc": lambda: (tp + tn) / (tp + fn + fp + tn),
                "mcc": lambda: (tp * tn - fp * fn) / np.sqrt((tp + fn) * (tp + fp) * (tn + fn) * (tn + fp)),
            }[key]()
        )


def true_score(key: str) -> Floats:
    """The score of each of the ten groups."""
    return scored(key, np.array(list(TEN.values())))


@dataclass(frozen=True)
class Cases:
    """Matrices, how probable each is in each of the ten groups, and from how many draws that is (0: exact)."""

    matrices: Ints
    weights: Floats
    draws: int = 0


def undefined(key: str, n: int) -> float:
    """The probability that a group of n has no such score, averaged over the ten; exact."""
    tp, fn, fp, tn = np.array(list(TEN.values())).T
    empty = {
        "tpr": lambda: (fp + tn) ** n,
        "ppv": lambda: (fn + tn) ** n,
        "f1": lambda: tn**n,
        "acc": lambda: 0 * tn,
        # One margin is empty; two are if all cases are in one cell.
        "mcc": lambda: (
            (fp + tn) ** n + (tp + fn) ** n + (fn + tn) ** n + (tp + fp) ** n - (tp**n + fn**n + fp**n + tn**n)
        ),
    }
    return float(empty[key]().mean())


def multinomial(counts: Ints, rates: Floats) -> Floats:
    """The probabilities of counts in groups with these rates: one row per group."""
    log = gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)
    return np.asarray(np.exp(log + xlogy(counts, rates[:, None, :]).sum(axis=2)))


def compositions(n: int, parts: int) -> Ints:
    """All ways to split n into so many counts."""
    if parts == 1:
        return np.array([[n]])
    blocks = [compositions(n - first, parts - 1) for first in range(n + 1)]
    return np.concatenate([np.insert(block, 0, first, axis=1) for first, block in enumerate(blocks)])


# What a score depends on: the counts, as sums of cells, and a matrix that has them.
PARTS: dict[str, tuple[Sequence[Sequence[int]], Any]] = {
    "tpr": (((0,), (1,), (2, 3)), lambda tp, fn, rest: (tp, fn, rest // 3, rest - rest // 3)),
    "ppv": (((0,), (2,), (1, 3)), lambda tp, fp, rest: (tp, rest // 3, fp, rest - rest // 3)),
    "f1": (((0,), (1, 2), (3,)), lambda tp, wrong, tn: (tp, wrong // 2, wrong - wrong // 2, tn)),
    "acc": (((0, 3), (1, 2)), lambda right, wrong: (right // 2, wrong // 2, wrong - wrong // 2, right - right // 2)),
}


@cache
def listed(key: str, n: int, whole: bool = False) -> Cases:
    """Every case of n, by what the score depends on, or (``whole``) by all four cells."""
    rates = np.array(list(TEN.values()))
    if whole:
        counts = matrices = compositions(n, 4)
    else:
        parts, matrix = PARTS[key]
        rates = np.stack([rates[:, list(part)].sum(axis=1) for part in parts], axis=1)
        counts = compositions(n, len(parts))
        matrices = np.stack(matrix(*counts.T), axis=1)
    weights = multinomial(counts, rates)
    kept = (weights > NEGLIGIBLE).any(axis=0)
    return Cases(matrices[kept], weights[:, kept] / weights[:, kept].sum(axis=1, keepdims=True))


@cache
def drawn(n: int, draws: int) -> Cases:
    """So many groups of n for each of the ten; a smaller number gives the first of them."""
    rng = np.random.default_rng([SEED, n])
    groups = [rng.multinomial(n, rates, size=5000)[:draws] for rates in TEN.values()]
    matrices, codes = np.unique(np.concatenate(groups), axis=0, return_inverse=True)
    weights = np.array([np.bincount(row, minlength=len(matrices)) for row in codes.reshape(len(groups), draws)])
    return Cases(matrices, weights / draws, draws)


# ---------------------------------------------------------------------------------------------------- audits

PREVALENCE, TPR, FPR = 0.4, 0.7, 0.2
MAJORITY = 500
# The group that differs: its TPR and FPR, by the metric that is looked at.
DIFFERENT = {"ppr": (0.95, 0.55), "tpr": (0.25, 0.2)}


def audits(key: str, groups: int, count: int, differ: bool) -> tuple[list[dict[str, list[int]]], list[str]]:
    """Audits of one large group and so many of 10 to 60 cases, and the group that differs in each, if any."""
    rng = np.random.default_rng([SEED, groups, differ, len(key), ord(key[0])])
    sizes = np.linspace(10, 60, groups).round().astype(int)
    made, who = [], []

    def rates(tpr: float, fpr: float) -> list[float]:
        return [PREVALENCE * tpr, PREVALENCE * (1 - tpr), (1 - PREVALENCE) * fpr, (1 - PREVALENCE) * (1 - fpr)]

    usual, other = rates(TPR, FPR), rates(*DIFFERENT[key])
    for _ in range(count):
        chosen = int(rng.integers(groups))
        audit = {"majority": rng.multinomial(MAJORITY, usual).tolist()}
        for i, size in enumerate(sizes):
            audit[f"group {i}"] = rng.multinomial(size, other if differ and i == chosen else usual).tolist()
        made.append(audit)
        who.append(f"group {chosen}")
    return made, who


def rows(count: int) -> dict[str, list[Any]]:
    """Rows of eight groups, one of them large."""
    rng = np.random.default_rng(SEED)
    names = rng.choice([f"group {c}" for c in "ABCDEFGH"], count, p=(0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02))
    y = (rng.random(count) < 0.3).astype(int)
    p = np.where(rng.random(count) < 0.2, 1 - y, y)
    return {"y_true": y.tolist(), "y_pred": p.tolist(), "groups": names.tolist()}
