"""Rounded counts: what may be published of tables with small cells.

The finest table of which every count of an audit is a sum is rounded before anything is computed: combinations of
groups, labels and predictions. So what is published depends on the data only through the rounded cells and the values
that columns have, and no subtraction brings back a count that was rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from numbers import Integral
from typing import Any, NamedTuple

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, TooLarge, UnknownName
from .counting import CountedRows
from .ordering import Key, ordered
from .tally import Tally

__all__ = ["RULES", "TOLD", "Rounded", "RoundedMatrix", "Rule", "ends_of", "rounded_counts", "rounded_rows", "rule_of"]

_FEWEST, _MOST = 3, 1_000_000
_MOST_CELLS = 1_000_000
# What the record may say of the data: no size, no number of rows, and nothing that changes with them.
TOLD = ("kind", "name", "format", "separator", "library")


class Rounded(NamedTuple):
    """What a count is published as, and the smallest and the largest count that are published as the same."""

    value: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How counts are rounded.

    Attributes
    ----------
    name : str
        What it is called.
    least : int
        The smallest count that is not small.
    width, start : int
        Larger counts are published by the middle of blocks of this width, which begin here.
    shows_zero : bool
        Whether 0 is published as it is; otherwise it is small, and small counts are published as 0.
    source, dated, why : str
        Where the rule comes from, of when, and why what is published satisfies it.
    """

    name: str
    least: int
    width: int
    start: int
    shows_zero: bool
    source: str = ""
    dated: str = ""
    why: str = ""

    def rounded(self, count: int) -> Rounded:
        """What a count is published as.

        >>> RULES["cms"].rounded(7), RULES["cms"].rounded(25)
        (Rounded(value=5, low=1, high=10), Rounded(value=27, low=22, high=32))
        """
        if count == 0 and self.shows_zero:
            return Rounded(0, 0, 0)
        if count < self.least:
            return Rounded(self.small, int(self.shows_zero), self.least - 1)
        first = self.start + (count - self.start) // self.width * self.width
        return Rounded(first + self.width // 2, max(first, self.least), first + self.width - 1)

    @property
    def small(self) -> int:
        """What small counts are published as."""
        return self.least // 2 if self.shows_zero else 0

    @property
    def sentence(self) -> str:
        """What every output says of it."""
        small = f"{int(self.shows_zero)} to {self.least - 1} as {self.small}"
        return (
            f"Counts were rounded before anything was computed, to protect small groups (rule {self.name}): {small}, "
            f"larger ones in steps of {self.width}. Scores are those of rounded counts, and intervals and verdicts "
            "allow for the rounding. Groups whose counts are all small are not shown."
        )


_CMS = Rule(
    name="cms",
    least=11,
    width=11,
    start=11,
    shows_zero=True,
    source="Centers for Medicare & Medicaid Services, cell size suppression policy",
    dated="2017-05-08",
    why="No cell of 1 to 10 is published or can be derived, left-out cases included; 0 may be shown.",
)
_OPENSAFELY = Rule(
    name="opensafely",
    least=8,
    width=5,
    start=8,
    shows_zero=False,
    source="OpenSAFELY, statistical disclosure control",
    dated="2025-08",
    why="Counts of 7 or fewer are redacted, others are rounded to the nearest 5, and rates come from rounded counts.",
)
_ONS = Rule(
    name="ons",
    least=10,
    width=5,
    start=8,
    shows_zero=False,
    source="Office for National Statistics, the 10-5 rule of its census outputs",
    dated="2023",
    why="Counts below 10 are suppressed, and all others are rounded to the nearest 5.",
)
RULES: dict[str, Rule] = {rule.name: rule for rule in (_CMS, _OPENSAFELY, _ONS)}
"""The rules by name."""


def rule_of(protect: Any) -> Rule | None:
    """The rule that a setting names; None for none.

    >>> rule_of(11).rounded(3) == rule_of("cms").rounded(3)
    True
    """
    if protect is None:
        return None
    least = int(protect) if isinstance(protect, Integral) and not isinstance(protect, bool) else 0
    if _FEWEST <= least <= _MOST:
        return Rule(name=str(least), least=least, width=least, start=least, shows_zero=True)
    if isinstance(protect, str) and not protect.lstrip("-").isdigit():
        if protect not in RULES:
            raise UnknownName.among("rule of protection", protect, RULES)
        return RULES[protect]
    raise InvalidInput(
        argument="protect",
        must=f"be {', '.join(map(repr, RULES))} or a whole number from {_FEWEST} to {_MOST:,}, the smallest count "
        "that is not small",
        got=protect,
    )


@dataclass(frozen=True, slots=True, repr=False)
class RoundedMatrix(ConfusionMatrix):
    """A confusion matrix of rounded counts, with the smallest and the largest counts that each cell may stand for."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, cells: ConfusionMatrix, low: ConfusionMatrix, high: ConfusionMatrix) -> RoundedMatrix:
        """The matrix with these cells, between two others."""
        return cls(*cells.cells, low=low.cells, high=high.cells)

    def __add__(self, other: ConfusionMatrix) -> RoundedMatrix:
        return self._with(other, 1)

    def __sub__(self, other: ConfusionMatrix) -> RoundedMatrix:
        # Only a part of the cases is subtracted, so that ends stay those of the others.
        return self._with(other, -1)

    def _with(self, other: ConfusionMatrix, sign: int) -> RoundedMatrix:
        low, high = ends_of(other)
        pairs = ((self.cells, other.cells), (self.low, low), (self.high, high))
        (tp, fn, fp, tn), least, most = (tuple(a + sign * b for a, b in zip(*pair, strict=True)) for pair in pairs)
        return RoundedMatrix(tp, fn, fp, tn, low=least, high=most)


def ends_of(part: ConfusionMatrix) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The smallest and the largest counts that each cell may stand for."""
    return (part.low, part.high) if isinstance(part, RoundedMatrix) else (part.cells, part.cells)


def rounded_rows(rows: CountedRows, rule: Rule, tallied: Callable[[CountedRows], Tally]) -> Tally:
    """The tally of rounded rows; ``tallied`` makes a tally of rows.

    Where 0 is small, combinations that do not occur may have as many cases as those that do.
    """
    keys = list(rows.rows) if rule.shows_zero else _crossed(rows.rows)
    found = {row: rule.rounded(rows.rows.get(row, 0)) for row in ordered(keys)}
    each = [replace(rows, rows={row: one[i] for row, one in found.items()}) for i in range(3)]
    return _merged([tallied(one) for one in each], rule)


def rounded_counts(tally: Tally, rule: Rule) -> Tally:
    """The tally of confusion matrices with rounded cells."""
    (given,) = tally.slices
    keys = list(given.parts) if rule.shows_zero else _crossed(given.parts)
    nothing = ConfusionMatrix(0, 0, 0, 0)
    found = {key: [rule.rounded(int(n)) for n in given.parts.get(key, nothing).cells] for key in ordered(keys)}
    each = [{key: ConfusionMatrix(*(one[i] for one in cells)) for key, cells in found.items()} for i in range(3)]
    return _merged([replace(tally, slices=(replace(given, parts=parts),)) for parts in each], rule)


def _crossed(keys: Collection[Key]) -> list[Key]:
    """Every combination of the values that occur at each place."""
    values = [ordered({(key[i],) for key in keys}) for i in range(len(next(iter(keys))))]
    cells = prod(map(len, values))
    if cells > _MOST_CELLS:
        raise TooLarge(
            f"`protect` rounds every combination of groups, labels and predictions; there are {cells:,}, more than "
            f"{_MOST_CELLS:,}: choose fewer or coarser group columns"
        )
    return [tuple(value for (value,) in combined) for combined in product(*values)]


def _merged(tallies: Sequence[Tally], rule: Rule) -> Tally:
    """The tally of published counts, each between the smallest and the largest that it may stand for."""
    published, least, most = tallies
    if not published.n:
        raise InvalidInput(
            f"rounded by the rule {rule.name}, no count is left (all are below {rule.least}); there is nothing to "
            "publish"
        )
    slices = [
        replace(one, parts={key: _between(part, low.parts[key], high.parts[key]) for key, part in one.parts.items()})
        for one, low, high in zip(published.slices, least.slices, most.slices, strict=True)
    ]
    source = {name: value for name, value in published.source.items() if name in TOLD}
    return replace(published, slices=tuple(slices), source=source, negative={}, absent=(), words={}, rule=rule)


def _between(part: Any, low: Any, high: Any) -> Any:
    """A part with its ends; matrices of several classes have none."""
    return RoundedMatrix.of(part, low, high) if isinstance(part, ConfusionMatrix) else part
