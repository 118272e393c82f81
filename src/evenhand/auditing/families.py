"""Families of comparisons, and p-values adjusted for all that are in one.

A family is one metric over groups, classes and strata, each threshold for itself, or everything in the audit. Rows that
are pooled over strata are a family of their own beside those of single strata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..inference import Attainable, Sizes
from .settings import Settings

if TYPE_CHECKING:
    from .measures import Measures

__all__ = ["Families", "Reachable", "holm"]

Floats = NDArray[np.float64]
Reachable = tuple[Attainable, int] | None
"""Where to look up P(p <= x) under the null of a comparison, a table and its row; None if it is ``x``."""


def holm(pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None) -> list[float]:
    """P-values adjusted by Holm's method, which controls the probability of any false positive.

    A test with few cases cannot attain every small p-value, so it uses less than its share of the level: with p-values
    in ascending order, the adjusted ones are the running maximum of min(1, Σ over j >= l of P(p_j <= p_l)), where
    ``reachable`` says where to look up P(p <= x) under the null of each comparison; it is x without it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    given = list(reachable) if reachable is not None else [None] * len(p)
    tables: dict[int, tuple[Attainable, list[int], list[int]]] = {}
    for i, where in enumerate(given):
        if where is not None:
            _, members, rows = tables.setdefault(id(where[0]), (where[0], [], []))
            members.append(i)
            rows.append(where[1])
    sizes = [(Sizes(table, np.array(rows)), np.array(members)) for table, members, rows in tables.values()]
    left = np.ones(len(p))
    plain = float(sum(where is None for where in given))
    adjusted, running = np.ones(len(p)), 0.0
    for i in order.tolist():
        total = plain * p[i] + sum(float((size.at(p[i]) * left[members]).sum()) for size, members in sizes)
        running = max(running, total)
        if running >= 1:
            break
        adjusted[i] = max(running, p[i])
        left[i] = 0.0
        plain -= given[i] is None
    return [float(x) for x in adjusted]


@dataclass(frozen=True, slots=True)
class Families:
    """The comparisons of several measures, by family, and each comparison's places among all of them.

    Two groups that are each other's rest are one comparison at two places.
    """

    how: Settings
    members: dict[Any, dict[Any, list[int]]]

    @classmethod
    def of(cls, measures: Sequence[Measures], how: Settings) -> Families:
        """The families of everything that was tested; places count through all measures."""
        members: dict[Any, dict[Any, list[int]]] = {}
        place = 0
        for measured in measures:
            key = measured.metric.key
            for who, p in zip(measured.comparisons, measured.pvalue.tolist(), strict=True):
                if not isnan(p):
                    at = dict(who.at)
                    family: Any = ""
                    if how.family == "metric":
                        # An average over classes may have the name of a metric of one class.
                        family = (key, measured.asks, at.get("threshold"), at.get("stratum") == "pooled")
                    whose = (key, who.at, who.by, "" if who.only_two else who.group)
                    members.setdefault(family, {}).setdefault(whose, []).append(place)
                place += 1
        return cls(how, members)

    def adjusted(self, measures: Sequence[Measures]) -> Floats:
        """The adjusted p-values at all places."""
        p = np.concatenate([measured.pvalue for measured in measures] or [np.empty(0)])
        reachable = [one for measured in measures for one in measured.reachable]
        if self.how.adjust == "none":
            return p
        found = p.copy()
        for comparisons in self.members.values():
            # Two groups that are each other's rest can have different p-values; the larger one is valid for both.
            values = [float(p[at].max()) for at in comparisons.values()]
            firsts = [reachable[at[0]] for at in comparisons.values()]
            for at, value in zip(comparisons.values(), self._one(values, firsts), strict=True):
                found[at] = value
        return found

    def _one(self, values: list[float], reachable: Sequence[Reachable]) -> list[float]:
        """The adjusted p-values of one family."""
        from scipy.stats import false_discovery_control

        if self.how.adjust == "holm":
            return holm(values, reachable)
        adjusted: list[float] = false_discovery_control(values).tolist()
        return adjusted

    def levels(self) -> dict[int, float]:
        """The level at which each place would be tested by Bonferroni's method, for planning."""
        alpha, adjusts = self.how.alpha, self.how.adjust != "none"
        return {
            place: alpha / len(comparisons) if adjusts else alpha
            for comparisons in self.members.values()
            for places in comparisons.values()
            for place in places
        }
