"""The law of a difference or a ratio over groups if all groups are alike.

Given how many cases each group has and how many of all cases are successes, alike groups divide the successes as a
random permutation of the cases would: the counts are multivariate hypergeometric. All tables are listed if they are
few; otherwise tables are drawn, and the observed one is counted as one more draw, which keeps the level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import TooLarge

__all__ = ["Aggregation", "Table", "permutation_pvalue"]

Floats = NDArray[np.float64]
Aggregation = Literal["worst_case", "mean"]

_MOST_TABLES = 200_000
_MOST_PAIRS = 4_000_000
# Equal statistics can differ in the last digits.
_TIE = 1e-12


@dataclass(frozen=True)
class Table:
    """The successes and the cases of each group, and the statistic of such tables.

    Attributes
    ----------
    part, whole : array
        One count per group; no group is without cases.
    statistic : callable
        The statistic of tables of successes along the first axis.
    """

    part: Floats
    whole: Floats
    statistic: Callable[[Floats], Floats]

    @property
    def observed(self) -> float:
        """The statistic of the observed table."""
        return float(self.statistic(self.part[None])[0])

    def law(self) -> tuple[Floats, Floats] | None:
        """The values of the statistic and their probabilities; None if there are too many tables."""
        from scipy.special import gammaln

        successes, cases = self.part.sum(), self.whole.sum()
        last = int(self.whole.argmax())
        ends = [
            (max(0.0, n - (cases - successes)), min(n, successes) + 1) for i, n in enumerate(self.whole) if i != last
        ]
        if np.prod([max(end - start, 0.0) for start, end in ends]) > _MOST_TABLES:
            return None
        ranges = [np.arange(start, end) for start, end in ends]
        free = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=-1)
        tables = np.insert(free, last, successes - free.sum(axis=1), axis=1)
        tables = tables[(tables[:, last] >= 0) & (tables[:, last] <= self.whole[last])]
        ways = gammaln(self.whole + 1) - gammaln(tables + 1) - gammaln(self.whole - tables + 1)
        weights = ways.sum(axis=1)
        weights = np.exp(weights - weights.max())
        return self.statistic(tables), weights / weights.sum()

    def sample(self, draws: int, rng: np.random.Generator) -> Floats:
        """The statistic of random tables."""
        if self.whole.sum() >= 10**9:
            raise TooLarge(
                "random tables are drawn from fewer than 1e9 cases; with so many, compare groups with audit_counts()"
            )
        whole = self.whole.astype(np.int64)
        tables = rng.multivariate_hypergeometric(whole, int(self.part.sum()), size=draws, method="marginals")
        return self.statistic(tables.astype(np.float64))


def permutation_pvalue(
    tables: Sequence[Table], larger: bool, agg: Aggregation, draws: int, seed: int
) -> tuple[float, str]:
    """The probability of a statistic at least as extreme, over one or two independent tables, and how it was found.

    With ``larger``, large statistics are extreme and the worst case is the largest; otherwise small ones are. An exact
    p-value of two tables needs the mean of every pair of values, unless it is about their worst case.
    """
    combined: Any = np.mean if agg == "mean" else np.max if larger else np.min
    observed = float(combined([table.observed for table in tables]))
    laws = [found for table in tables if (found := table.law()) is not None]

    def extreme(values: Floats) -> NDArray[np.bool_]:
        return values >= observed - _TIE if larger else values <= observed + _TIE

    if len(laws) == len(tables):
        if len(laws) == 1 or agg == "worst_case":
            tails = [float(weights[extreme(values)].sum()) for values, weights in laws]
            # The chance that any of the independent tables is as extreme, without cancellation.
            total = 0.0
            for tail in tails:
                total += tail * (1 - total)
            return min(1.0, total), "exact permutation"
        (first, first_weights), (second, second_weights) = (_merged(*law) for law in laws)
        if len(first) * len(second) <= _MOST_PAIRS:
            at = extreme((first[:, None] + second) / 2)
            return min(1.0, float(first_weights @ (at @ second_weights))), "exact permutation"
    rng = np.random.default_rng(seed)
    drawn = combined([table.sample(draws, rng) for table in tables], axis=0)
    as_extreme = int(extreme(drawn).sum())
    return (1 + as_extreme) / (1 + draws), f"permutation, {draws:,} draws, seed {seed}"


def _merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    distinct, where = np.unique(np.round(values, 13), return_inverse=True)
    return distinct, np.bincount(where.ravel(), weights).astype(np.float64)
