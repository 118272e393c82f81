"""The scores of all cases together, beside which those of groups are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..records import Record, read_record
from ..wording import Few, number
from .comparisons import Comparisons, compare_everybody
from .results_table import ResultsTable
from .rows import Estimate, Place

_ACCURACIES = {"acc": max, "inacc": min}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overall(Record):
    """The score of all cases together, those without a known group included.

    Attributes
    ----------
    at : dict of str to object
        Where on the axes it is, as for `Row`.
    metric : str
        The key of the metric.
    n : int
        The number of cases.
    score : Estimate
        The score and its interval; of models, its change.
    constant : float or None
        For accuracy, what always predicting the commoner outcome would score.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics=["acc", "tpr"])
    >>> print(a.overall[0])
    acc 0.779; always predicting the commoner outcome: 0.613
    """

    at: Place
    metric: str
    n: int
    score: Estimate
    constant: float | None = None

    def in_few_digits(self) -> Overall:
        """The same of rounded counts, written with no more decimals than the numbers have.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (20, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="acc", protect=5).overall[0].n
        1071
        """
        value, constant = (None if one is None else Few(one) for one in (self.score.value, self.constant))
        return replace(self, score=replace(self.score, value=value), constant=constant)

    @property
    def scored(self) -> str:
        """The metric and its score or, of models, how it changes.

        Examples
        --------
        >>> Overall(at={}, metric="acc", n=8, score=Estimate(value=0.25, before=0.5)).scored
        'acc +0.250 (from 0.500 to 0.750)'
        """
        score = self.score
        if score.value is None:
            return f"{self.metric} undefined"
        if score.after is None:
            return f"{self.metric} {number(score.value)}"
        return f"{self.metric} {score.value:+.3f} (from {number(score.before)} to {number(score.after)})"

    def __str__(self) -> str:
        constant = "" if self.constant is None else f"; always predicting the commoner outcome: {number(self.constant)}"
        return f"{self.scored}{constant}"


def evaluate_overall(
    comparisons: Sequence[Comparisons], evaluate: Callable[[Sequence[Comparisons]], ResultsTable]
) -> ResultsTable:
    """The table of all cases at each place, those of unknown group included."""
    table = evaluate([compare_everybody(part) for part in comparisons if not part.is_pooled])
    baseline, is_kept = np.full(len(table), nan), np.ones(len(table), dtype=bool)
    for block in table.blocks:
        is_kept[block.rows] = not getattr(block.metric, "comparisons", ())
        if block.metric.key in _ACCURACIES:
            for row in range(block.rows.start, block.rows.stop):
                cells = table.rows[row].cells
                if cells is not None and any(cells):
                    share = (cells[0] + cells[1]) / float(np.sum(cells))
                    baseline[row] = _ACCURACIES[block.metric.key](share, 1 - share)
    return table.with_columns(baseline=baseline).take(np.flatnonzero(is_kept))


def read_overall(values: Any, what: str) -> Overall:
    """What `to_dict` gave, checked; ``what`` is it in error messages."""
    found = read_record(Overall, values, what)
    if found.n < 0:
        raise InvalidInput(f"n of {what} must not be negative; got {found.n}")
    return found
