"""Families of comparisons, and p-values adjusted for all that are in one.

A family is one metric over groups, classes and strata, each threshold for itself, or everything in the audit. Rows that
are pooled over strata are a family of their own beside those of single strata.

Within a family, Holm's method is sharpened by the p-values that exact tests can attain. Given the pooled count, the
bound is proven for groups that are each compared with their own rest if nobody differs, and measured where somebody
does; with a shared reference, the bound is over all common rates, and is proven. See docs/reference/calibration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inference import Attainable, LargestSizes, Sizes
from .settings import Settings

if TYPE_CHECKING:
    from .measures import Measures

__all__ = ["Families", "Reach", "Reachable", "benjamini_hochberg", "holm"]

Floats = NDArray[np.float64]


class Reach(NamedTuple):
    """Where to look up P(p <= x) under the null of a comparison: a table and its row.

    And its stratum, and whether it shares its reference with other comparisons.
    """

    table: Attainable
    row: int
    stratum: Any = None
    named: bool = False


Reachable = Reach | None
"""None if P(p <= x) is x."""


def benjamini_hochberg(pvalues: Sequence[float]) -> list[float]:
    """P-values adjusted by the method of Benjamini and Hochberg, which controls the false discovery rate.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p)[::-1]
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    found: list[float] = np.clip(adjusted, 0.0, 1.0).tolist()
    return found


def holm(
    pvalues: Sequence[float], reachable: Sequence[Reachable] | None = None, *, given_pooled: bool = False
) -> list[float]:
    """P-values adjusted by Holm's method, which controls the probability of any false positive.

    A test with few cases cannot attain every small p-value, so it uses less than its share of the level: with p-values
    in ascending order, the adjusted ones are the running maximum of min(1, Σ over j >= l of P(p_j <= p_l)), where
    ``reachable`` says where to look up P(p <= x) under the null of each comparison; it is x without it. That is given
    the pooled count of each comparison if ``given_pooled``, or if all of them share one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    given = list(reachable) if reachable is not None else [None] * len(p)
    sizes = _sizes(given, given_pooled)
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


def _sizes(given: Sequence[Reachable], given_pooled: bool) -> list[tuple[Sizes | LargestSizes, NDArray[np.int64]]]:
    """The sizes of tests and which comparisons they belong to.

    Comparisons that share all cases, each group with its own rest, are bounded given the pooled count; others, which
    share a reference or differ in who is counted, for every common rate.
    """
    tables: dict[int, tuple[Attainable, list[int], list[int]]] = {}
    for i, where in enumerate(given):
        if where is not None:
            _, members, rows = tables.setdefault(id(where.table), (where.table, [], []))
            members.append(i)
            rows.append(where.row)
    margins: dict[Any, set[tuple[float, ...]]] = {}
    for where in given:
        if where is not None:
            margins.setdefault(where.stratum, set()).add(tuple(where.table.margins[where.row]))
    named = len(given) > 1 and any(where and where.named for where in given)
    apart = named or any(len(found) > 1 for found in margins.values())
    how = LargestSizes if apart and not given_pooled else Sizes
    return [(how(table, np.array(rows)), np.array(members)) for table, members, rows in tables.values()]


@dataclass(frozen=True, slots=True)
class Families:
    """The comparisons of several measures, by family and block, and each comparison's places among all of them.

    Two groups that are each other's rest are one comparison at two places. Within a block, one metric of one class at
    one threshold, p-values are adjusted together; no bound is known over several, so that each block has a share of the
    family's level.
    """

    how: Settings
    members: dict[Any, dict[Any, dict[Any, list[int]]]]

    @classmethod
    def of(cls, measures: Sequence[Measures], how: Settings) -> Families:
        """The families of everything that was tested; places count through all measures."""
        members: dict[Any, dict[Any, dict[Any, list[int]]]] = {}
        place = 0
        for measured in measures:
            key = measured.metric.key
            for i, (who, p) in enumerate(zip(measured.comparisons, measured.pvalue.tolist(), strict=True)):
                if not isnan(p):
                    at = dict(who.at)
                    pooled = at.get("stratum") == "pooled"
                    family: Any = ""
                    if how.family == "metric":
                        # An average over classes may have the name of a metric of one class.
                        family = (key, measured.asks, at.get("threshold"), pooled)
                    sharpens = how.adjust == "holm" and measured.reachable[i] is not None
                    elsewhere = tuple((axis, value) for axis, value in who.at if axis != "stratum")
                    block = (key, elsewhere, pooled) if sharpens else ""
                    whose = (key, who.at, who.by, "" if who.only_two else who.group)
                    members.setdefault(family, {}).setdefault(block, {}).setdefault(whose, []).append(place)
                place += 1
        return cls(how, members)

    def adjusted(self, measures: Sequence[Measures], *, given_pooled: bool = False) -> Floats:
        """The adjusted p-values at all places; what is ``given_pooled``, see `holm`."""
        p = np.concatenate([measured.pvalue for measured in measures] or [np.empty(0)])
        reachable = [
            where if where is None else Reach(*where, dict(who.at).get("stratum"), who.kind.is_named)
            for measured in measures
            for who, where in zip(measured.comparisons, measured.reachable, strict=True)
        ]
        found = p.copy()
        for blocks in self.members.values() if self.how.adjust != "none" else ():
            family = sum(map(len, blocks.values()))
            for comparisons in blocks.values():
                # Two groups that are each other's rest can have different p-values; the larger one is valid for both.
                values = [float(p[at].max()) for at in comparisons.values()]
                firsts = [reachable[at[0]] for at in comparisons.values()]
                for at, value in zip(comparisons.values(), self._one(values, firsts, given_pooled), strict=True):
                    found[at] = min(1.0, value * family / len(comparisons))
        return found

    def _one(self, values: list[float], reachable: Sequence[Reachable], given_pooled: bool) -> list[float]:
        """The adjusted p-values of one block."""
        if self.how.adjust == "holm":
            return holm(values, reachable, given_pooled=given_pooled)
        return benjamini_hochberg(values)

    def levels(self) -> dict[int, float]:
        """The level at which each place would be tested by Bonferroni's method, for planning."""
        alpha, adjusts = self.how.alpha, self.how.adjust != "none"
        return {
            place: alpha / sum(map(len, blocks.values())) if adjusts else alpha
            for blocks in self.members.values()
            for comparisons in blocks.values()
            for places in comparisons.values()
            for place in places
        }
