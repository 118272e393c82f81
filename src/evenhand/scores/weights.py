"""Weighted cases as effective counts.

Weights change the law of the cells, so no exact test applies to weighted counts. Kish's effective size is the number of
equally weighted cases whose mean would vary as much; matrices of that size with the weighted shares can be audited
approximately.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, is_missing, read_labels
from ..errors import InvalidInput, printable
from ..records import Record
from ..tabulate import grouped_values, in_order
from .rows import MISSING

__all__ = ["EffectiveCounts", "EffectiveGroup", "effective_counts"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EffectiveGroup(Record):
    """The effective counts of one group.

    Attributes
    ----------
    group : str or tuple of str
        The group; a tuple if there are several group columns.
    n : int
        The number of cases with a weight above 0.
    weight : float
        The sum of their weights.
    effective_n : float
        Kish's effective size, the squared sum of weights over the sum of squared weights.
    design_effect : float
        How many cases are worth one: ``n / effective_n``.
    matrix : ConfusionMatrix
        The weighted shares of the cells times the effective size, rounded to whole counts. Approximate.

    Examples
    --------
    >>> found = effective_counts([1, 0, 1], [1, 0, 0], ["a", "a", "a"], [2, 1, 1])
    >>> print(found.groups[0])
    a: 3 cases with a total weight of 4, worth 2.67 (design effect 1.12), approximately tp=1, fn=1, fp=0, tn=1
    """

    group: str | tuple[str, ...]
    n: int
    weight: float
    effective_n: float
    design_effect: float
    matrix: ConfusionMatrix

    def __str__(self) -> str:
        name = self.group if isinstance(self.group, str) else ", ".join(self.group)
        cells = ", ".join(f"{cell}={int(count)}" for cell, count in zip(CELLS, self.matrix.cells, strict=True))
        return (
            f"{printable(name)}: {self.n:,} case{'s' * (self.n != 1)} with a total weight of {self.weight:.4g}, worth "
            f"{self.effective_n:.3g} (design effect {self.design_effect:.3g}), approximately {cells}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EffectiveCounts(Record):
    """Effective counts by group, for `audit_counts`.

    Attributes
    ----------
    by : tuple of str
        The names of the group columns.
    groups : tuple of EffectiveGroup
        One per group.
    method : str
        What the counts are: approximate.

    Examples
    --------
    >>> found = effective_counts([1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"], [2, 1, 1, 1])
    >>> found.counts["a"]
    ConfusionMatrix(tp=1, fn=0, fp=0, tn=1)
    """

    by: tuple[str, ...]
    groups: tuple[EffectiveGroup, ...]
    method: str
    _title: ClassVar[str] = "Effective counts"

    @property
    def counts(self) -> dict[Any, ConfusionMatrix]:
        """The matrices by group, as `audit_counts` takes them.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> found = effective_counts([1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"], [2, 1, 1, 1])
        >>> audit_counts(found.counts, metrics="tpr").rows[0].score
        1.0
        """
        return {one.group: one.matrix for one in self.groups}

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self._title} by {', '.join(map(printable, self.by))} ({self.method})",
                *(f"  {one}" for one in self.groups),
                "Tests and intervals from these counts are approximate, also where they are called exact.",
            ]
        )


def effective_counts(
    y_true: Iterable[object],
    y_pred: Iterable[object],
    groups: Any,
    weights: Iterable[float],
    *,
    positive: object = None,
) -> EffectiveCounts:
    """Turn weighted cases into whole counts of about the precision that they have.

    Survey weights change the law of the cells, so exact tests do not apply to them. Here each group counts as its
    effective number of cases (Kish), with the weighted shares of the cells. What `audit_counts` computes from such
    counts is approximate. Kish's size accounts for unequal weights only, not for strata or clusters, and treats weights
    as unrelated to what is measured.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of two classes, without missing values.
    groups : sequence, mapping of sequences or dataframe
        The values of one or more group columns; several of them give one group per combination.
    weights : sequence of float
        A weight of at least 0 per case. Their scale does not matter; a case of weight 0 is left out.
    positive : label or list of labels, optional
        The positive label; inferred if that is unambiguous.

    Returns
    -------
    EffectiveCounts
        Effective sizes, design effects and rounded matrices per group.

    Examples
    --------
    >>> found = effective_counts([1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0], list("aaaabb"), [3, 1, 1, 1, 2, 2])
    >>> print(found)
    Effective counts by group (approximate: Kish's effective size, rounded)
      a: 4 cases with a total weight of 6, worth 3 (design effect 1.33), approximately tp=2, fn=1, fp=0, tn=0
      b: 2 cases with a total weight of 4, worth 2 (design effect 1), approximately tp=1, fn=0, fp=0, tn=1
    Tests and intervals from these counts are approximate, also where they are called exact.
    """
    by, values = grouped_values(groups, y_true=y_true, y_pred=y_pred, weights=weights)
    given = _weights(values["weights"])
    actual, predicted = _labels(values, positive)
    cells = np.select([actual & predicted, actual, predicted], [0, 1, 2], default=3)
    keys = list(zip(*(column.tolist() for column in by.values()), strict=True))
    members: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(keys):
        if given[row] > 0:
            members.setdefault(key, []).append(row)
    orders = [{value: i for i, value in enumerate(in_order(dict.fromkeys(column.tolist())))} for column in by.values()]
    found = []
    for key in sorted(members, key=lambda key: [order[value] for order, value in zip(orders, key, strict=True)]):
        name = tuple(MISSING if value is None else str(value) for value in key)
        found.append(_effective(name if len(by) > 1 else name[0], cells[members[key]], given[members[key]]))
    return EffectiveCounts(by=tuple(by), groups=tuple(found), method="approximate: Kish's effective size, rounded")


def _effective(group: str | tuple[str, ...], cells: NDArray[np.int64], weights: NDArray[np.float64]) -> EffectiveGroup:
    # Relative to the largest, so that no square underflows or overflows.
    relative = weights / weights.max()
    total = float(relative.sum())
    size = total**2 / float((relative**2).sum())
    shares = np.bincount(cells, weights=relative, minlength=4) / total
    return EffectiveGroup(
        group=group,
        n=len(cells),
        weight=float(weights.sum()),
        effective_n=size,
        design_effect=len(cells) / size,
        matrix=ConfusionMatrix(*_rounded(shares, round(size))),
    )


def _rounded(shares: NDArray[np.float64], total: int) -> list[int]:
    """Whole counts that add up to the total: the largest remainders are rounded up."""
    exact = shares * total
    # A count that rounding put just below a whole number is that number.
    whole = np.floor(exact + 1e-9).astype(int)
    remainders = np.argsort(-(exact - whole), kind="stable")[: total - int(whole.sum())]
    whole[remainders] += 1
    return [int(count) for count in whole]


def _weights(given: NDArray[Any]) -> NDArray[np.float64]:
    try:
        # Dates would become the integers of their nanoseconds, and complex numbers would lose a part.
        held = given.astype("O" if given.dtype.kind not in "mM" else "U").tolist()
        weights = given.astype(np.float64) if given.dtype.kind in "biuf" else np.array([float(one) for one in held])
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("weights must contain numbers that fit into a float64") from None
    odd = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(odd):
        raise InvalidInput(f"weights must be finite and at least 0; got {odd[0]:g}")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise InvalidInput("weights must add up to a finite number; divide them by a common factor")
    if not weights.any():
        raise InvalidInput("weights must not all be 0")
    return weights


def _labels(values: dict[str, NDArray[Any]], positive: object) -> list[NDArray[np.bool_]]:
    columns = {name: [None if is_missing(v) else v for v in values[name].tolist()] for name in ("y_true", "y_pred")}
    try:
        distinct = {name: set(column) for name, column in columns.items()}
    except TypeError as error:
        raise InvalidInput(f"y_true and y_pred must contain numbers, text or booleans; {error}") from None
    reading = read_labels(distinct, positive)
    found = []
    for name, column in columns.items():
        meant = [reading.meanings[name][value] for value in column]
        if missing := meant.count(None):
            which, rows = ("value", "that row") if missing == 1 else ("values", "those rows")
            raise InvalidInput(f"{name} contains {missing} missing {which}; drop {rows} first")
        found.append(np.array(meant, dtype=bool))
    return found
