"""Metrics that compare two groups: a difference or a ratio of any one-group metric, or the worst of several.

The first matrix is the group, the second the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from .holes import Holes, Part
from .shapes import Kind, Metric, OneGroup
from .tree import Tree
from .words import Prediction

__all__ = ["Comparison", "TwoGroups", "Worst", "comparison"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TwoGroups(Metric):
    """A metric of two confusion matrices."""

    groups: ClassVar[int] = 2
    shape: ClassVar[str] = "two groups"

    @property
    def undefined_if(self) -> str:
        """When it is undefined, in words."""
        group, reference = map(str, self.holes)
        if group == reference:
            return f"in either group: {group}"
        return f"in the group: {group}; in the reference: {reference}"

    def good(self, favourable: Prediction | None = None) -> str:
        """The score that means no gap."""
        return f"{'1' if self.kind == 'ratio' else '0'} means no gap"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(TwoGroups):
    """The difference or the ratio of a one-group metric: group minus, or over, reference."""

    compared: OneGroup
    by: Kind

    @property
    def base(self) -> OneGroup:
        """The one-group metric."""
        return self.compared

    @property
    def kind(self) -> Kind:
        """Difference or ratio."""
        return self.by

    @property
    def tree(self) -> Tree:
        """The tree of the one-group metric."""
        return self.compared.tree

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Itself."""
        return (self,)

    def centre(self, reference_score: float) -> float:
        """0 for a difference, 1 for a ratio."""
        return 0.0 if self.by == "difference" else 1.0

    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """S(group) - S(reference), or S(group) / S(reference)."""
        first, second = (self.base.scores(cells) for cells in groups)
        if self.kind == "difference":
            return first - second
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(second == 0, np.nan, first / second)

    @property
    def holes(self) -> tuple[Holes, ...]:
        """The holes of the one-group metric; a ratio also needs a reference score above 0."""
        (own,) = self.base.holes
        if self.kind == "difference":
            return own, own
        return own, Holes((*own.needs, *(self.base.vanishes or ())), own.apart)

    @property
    def formula(self) -> str:
        """The one-group formula, with subscripts."""
        sign = "-" if self.kind == "difference" else "/"
        return f"{self.base.key}_1 {sign} {self.base.key}_2, {self.base.key} = {self.base.formula}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Worst(TwoGroups):
    """The largest of several absolute differences."""

    of: tuple[Comparison, ...]

    @property
    def base(self) -> OneGroup:
        """The first of the compared metrics."""
        return self.of[0].base

    @property
    def tree(self) -> Tree:
        """Actual positives, true positives, false positives: the score depends on both rows."""
        return Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The differences of which it is the largest."""
        return self.of

    @property
    def rests_on(self) -> tuple[Part, ...]:
        """The cases that any of the compared scores rests on."""
        return tuple(dict.fromkeys(part for c in self.of for part in c.rests_on))

    @property
    def is_distance(self) -> bool:
        """True."""
        return True

    def centre(self, reference_score: float) -> float:
        """0."""
        return 0.0

    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """max |difference|; nan if any of them is undefined."""
        worst: NDArray[np.float64] = np.max(np.abs([c.scores(*groups) for c in self.of]), axis=0)
        return worst

    @property
    def holes(self) -> tuple[Holes, ...]:
        """The holes of all the differences."""
        both = Holes(tuple(part for c in self.of for part in c.base.needs))
        return both, both

    @property
    def formula(self) -> str:
        """The differences of which it is the largest."""
        return "max({})".format(", ".join(f"|{c.base.key}_1 - {c.base.key}_2|" for c in self.of))


def comparison(
    base: OneGroup,
    kind: Kind,
    *,
    key: str = "",
    name: str = "",
    synonyms: tuple[str, ...] = (),
    in_paper: bool = False,
) -> Comparison:
    """Create the difference or ratio of ``base`` between two groups, by default with a generated key and name.

    A ratio needs a metric that cannot be negative.
    """
    plain_key, plain_name = f"{base.key}_{kind}", f"{base.name} {kind}"
    if kind == "difference":
        low, high = base.low - base.high, base.high - base.low
    elif base.vanishes is None:
        raise InvalidInput(
            f"{base.key} can be negative, so a ratio of two groups is meaningless; use {base.key}_difference"
        )
    else:
        low, high = 0.0, inf
    return Comparison(
        key=key or plain_key,
        name=name or plain_name,
        means=f"The group's {base.key} {'minus' if kind == 'difference' else 'divided by'} its reference's",
        synonyms=synonyms + ((plain_key, plain_name) if key else ()),
        better="closer to 0" if kind == "difference" else "closer to 1",
        low=low,
        high=high,
        in_paper=in_paper,
        compared=base,
        by=kind,
    )
