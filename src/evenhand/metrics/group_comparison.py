"""Metrics of two groups: the difference or ratio of a metric, or the largest of several gaps.

The first matrix is the group, the second the reference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import Any, ClassVar

import numpy as np

from ..arrays import Floats
from ..errors import InvalidInput
from .record import GapKind, Metric, OneGroupMetric
from .tree import ROW_TREE
from .undefined_sets import UndefinedSet


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoGroupMetric(Metric):
    """A metric of two confusion matrices."""

    groups: ClassVar[int] = 2

    @property
    def undefined_if(self) -> str:
        """When it is undefined, in words; a ratio is also undefined if the reference scores 0."""
        group, reference = map(str, self.undefined_sets)
        if group == reference:
            return f"in either group: {group}"
        return f"in the group: {group}; in the reference: {reference}"

    def null_value(self, reference_score: float) -> float:
        """The score that means "no difference": 1 for a ratio, otherwise 0."""
        return 1.0 if self.kind == "ratio" else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GroupComparison(TwoGroupMetric):
    """The difference or the ratio of a metric of one group: group minus, or over, reference."""

    # `field` replaces the properties of `Metric`, which would be read as defaults.
    base: OneGroupMetric = field()
    kind: GapKind = field()

    @property
    def comparisons(self) -> tuple[GroupComparison, ...]:
        """Itself, the only one; a largest gap has several."""
        return (self,)

    def scores(self, *groups: Floats) -> Floats:
        """S(group) - S(reference), or S(group) / S(reference); nan where undefined.

        S is the compared metric; ``groups`` are the cells of the group and of the reference.
        """
        group, reference = map(self.base.scores, groups)
        return self.compare(group, reference)

    def compare(self, group: Floats, reference: Floats) -> Floats:
        """The difference or ratio of scores, given those of the compared metric.

        It is for lists of scores of either group, without their cells. A ratio to 0 is undefined
        (nan).
        """
        if self.kind == "difference":
            return group - reference
        with np.errstate(all="ignore"):
            return np.where(reference == 0, np.nan, group / reference)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LargestGap(TwoGroupMetric):
    """The largest of several absolute differences."""

    comparisons: tuple[GroupComparison, ...] = field()

    @property
    def base(self) -> OneGroupMetric:
        """The metric of the first comparison; all of them have its tree of cells."""
        return self.comparisons[0].base

    @property
    def is_distance(self) -> bool:
        """True, since absolute differences have no sign: tests are one-sided."""
        return True

    def scores(self, *groups: Floats) -> Floats:
        """max |difference|; nan if any of them is undefined."""
        gaps = [gap.scores(*groups) for gap in self.comparisons]
        return np.asarray(np.abs(gaps).max(axis=0))


@cache
def comparison_metric(
    base: OneGroupMetric,
    kind: GapKind,
    key: str = "",
    name: str = "",
    synonyms: tuple[str, ...] = (),
) -> GroupComparison:
    """Define the difference or ratio of a metric between a group and its reference.

    By default, key and name are those of the metric and the kind, such as tpr_difference. The
    result is cached, since metrics are compared by identity.
    """
    # Scores that can be negative have no part whose absence makes them 0.
    if kind == "ratio" and base.zero_if_empty is None:
        raise InvalidInput(
            f"{base.key} can be negative, so a ratio of two groups is meaningless; "
            f"use {base.key}_difference"
        )
    is_difference = kind == "difference"
    default_names = f"{base.key}_{kind}", f"{base.name} {kind}"
    verb, sign = ("minus", "-") if is_difference else ("divided by", "/")
    (undefined,) = base.undefined_sets
    # A ratio also needs a reference score above 0.
    nonzero = () if is_difference else base.zero_if_empty or ()
    of_reference = replace(undefined, needs=(*undefined.needs, *nonzero))
    return GroupComparison(
        key=key or default_names[0],
        name=name or default_names[1],
        description=f"{base.key} of the group {verb} that of its reference",
        formula=f"{base.key}_1 {sign} {base.key}_2, {base.key} = {base.formula}",
        shape="two groups",
        better="closer to 0" if is_difference else "closer to 1",
        synonyms=synonyms + (default_names if key else ()),
        low=base.low - base.high if is_difference else 0.0,
        high=base.high - base.low if is_difference else inf,
        tree=base.tree,
        undefined_sets=(undefined, of_reference),
        denominators=base.denominators,
        base=base,
        kind=kind,
    )


def largest_gap_metric(*gaps: GroupComparison, **facts: Any) -> LargestGap:
    """Define the largest of several absolute gaps between rates; ``facts`` are further fields.

    It is undefined where any of the differences is.
    """
    needs = [part for gap in gaps for part in gap.undefined_sets[0].needs]
    differences = ", ".join(f"|{gap.base.key}_1 - {gap.base.key}_2|" for gap in gaps)
    parts = [part for gap in gaps for part in gap.denominators]
    return LargestGap(
        formula=f"max({differences})",
        shape="two groups",
        better="closer to 0",
        tree=ROW_TREE,
        undefined_sets=(UndefinedSet(tuple(needs)),) * 2,
        denominators=tuple(dict.fromkeys(parts)),
        comparisons=gaps,
        **facts,
    )
