"""What a metric is: a frozen record that scores matrices and knows where it has no score.

A one-group metric has one of four *shapes*. Each orders the matrices by an exact fraction, its `rank`, and is
monotone in the last split of a tree of cells; that is all that distributions and tests need to know of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, Cells, as_cells
from ..errors import InvalidInput
from .holes import Holes, Part
from .tree import Tree

__all__ = ["Better", "Contrast", "Metric", "OneGroup", "Pair", "Rank", "Ratio", "Share"]

Better = Literal["higher", "lower", "closer to 0", "closer to 1", "neither"]
Rank = tuple[Any, Any]
"""A fraction as numerator and denominator, for exact comparison; a denominator of 0 means infinity."""

EVERYONE = Part(CELLS, "cases")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Metric(ABC):
    """A metric of the catalogue.

    Attributes
    ----------
    key : str
        The short name that results and the command line use.
    name : str
        The full name.
    better : str
        Which way is better, if either is.
    synonyms : tuple of str
        Other names under which `metric` finds it.
    low, high : float
        The range of the score.
    in_paper : bool
        Whether it is one of the paper's 21.
    """

    key: str
    name: str
    better: Better
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    in_paper: bool = False

    shape: ClassVar[str]
    groups: ClassVar[int] = 1

    @property
    @abstractmethod
    def formula(self) -> str:
        """The formula in terms of the cells and of rates."""

    @property
    @abstractmethod
    def holes(self) -> tuple[Holes, ...]:
        """Where it is undefined, one set of holes for each group it reads."""

    @property
    @abstractmethod
    def undefined_if(self) -> str:
        """When it is undefined, in words."""

    @abstractmethod
    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of checked cells, nan where undefined."""

    def __call__(self, *groups: Cells) -> Any:
        """Score matrices: a float for a single one, an array for cells of shape (..., 4); nan where undefined.

        A two-group metric takes the group and then the reference; their shapes broadcast.
        """
        cells = [as_cells(group) for group in self._read(groups)]
        try:
            np.broadcast_shapes(*(c.shape for c in cells))
        except ValueError:
            shapes = " and ".join(str(c.shape) for c in cells)
            raise InvalidInput(f"the group's and the reference's cells do not fit together: shapes {shapes}") from None
        values = self.scores(*cells)
        return float(values) if values.ndim == 0 else values

    def why_undefined(self, *groups: Cells) -> str | None:
        """Why a single matrix (or the group and the reference) has no score, in words; None if it has one."""
        reasons = [
            holes.reason(_one_matrix(cells)) for holes, cells in zip(self.holes, self._read(groups), strict=True)
        ]
        if self.groups == 1:
            return reasons[0]
        named = zip(("group", "reference"), reasons, strict=True)
        return "; ".join(f"in the {who}: {reason}" for who, reason in named if reason) or None

    def _read(self, groups: tuple[Cells, ...]) -> tuple[Cells, ...]:
        if len(groups) != self.groups:
            wanted = "one group" if self.groups == 1 else "two groups, the group and the reference"
            raise InvalidInput(f"{self.key} reads {wanted}; got {len(groups)}")
        return groups

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return self.low, self.high

    def __str__(self) -> str:
        return f"{self.key}: {self.name} = {self.formula}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A record is found again by its key: its functions cannot be pickled, and need not be.
        from .catalogue import metric

        return metric, (self.key,)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OneGroup(Metric):
    """A metric of one confusion matrix.

    It is undefined where one of the parts it ``needs`` is empty or, if TPR and FPR must be ``apart``, where they are
    equal. Its score ``rises`` with the last count of its tree, or falls.
    """

    needs: tuple[Part, ...] = (EVERYONE,)
    apart: bool = False
    rises: bool = True

    @property
    @abstractmethod
    def tree(self) -> Tree:
        """The order of splits in which the score is monotone in the last."""

    @property
    def denominator(self) -> Part | None:
        """The part whose size a test may take as observed; None if there is only ``n``."""
        return None

    @abstractmethod
    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """A fraction that orders matrices as the score does; exact for integers."""

    def score(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The formula itself, on cells where it is defined."""
        numerator, denominator = self.rank(tp, fn, fp, tn)
        return numerator / denominator

    @property
    def vanishes(self) -> tuple[Part, ...] | None:
        """The parts whose emptiness makes the score 0; None if the score can be negative."""
        return None

    @property
    def holes(self) -> tuple[Holes, ...]:
        """Where it is undefined."""
        return (Holes(self.needs, self.apart),)

    @property
    def undefined_if(self) -> str:
        """When it is undefined, in words."""
        return str(self.holes[0])

    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of checked cells, nan at the holes."""
        (cells,) = groups
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.score(*np.moveaxis(cells, -1, 0))
        return np.where(self.holes[0].at(cells), np.nan, np.clip(values, self.low, self.high))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Share(OneGroup):
    """A part of all cases: k of n."""

    part: Part
    shape: ClassVar[str] = "share"

    @property
    def tree(self) -> Tree:
        """The part, split off from all cases."""
        return Tree(margin=(), side=(), last=self.part.cells, last_of=CELLS)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """k / n."""
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        return sum(cells[c] for c in self.part.cells), tp + fn + fp + tn

    @property
    def vanishes(self) -> tuple[Part, ...]:
        """It is 0 when the part is empty."""
        return (self.part,)

    @property
    def formula(self) -> str:
        """``(part) / n``."""
        return f"({self.part.formula}) / n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ratio(OneGroup):
    """A part of a part: a score that rises with a / (a + b), where b is the rest.

    ``curve`` says how: "share" is a / (a + b), "dice" 2a / (2a + b), "odds" a / b.
    """

    part: Part
    of: Part
    curve: Literal["share", "dice", "odds"] = "share"
    printed: str | None = None
    shape: ClassVar[str] = "ratio"

    @property
    def tree(self) -> Tree:
        """The whole, split off from all cases; then the part, from the whole."""
        return Tree(margin=self.of.cells, side=(), last=self.part.cells, last_of=self.of.cells)

    @property
    def denominator(self) -> Part | None:
        """The whole, if it is one of the sums that split the cases in two; F1 and its like have only ``n``."""
        return self.of if len(self.of.cells) == 2 else None

    @property
    def rest(self) -> tuple[str, ...]:
        """The cells of the whole that are not in the part."""
        return tuple(c for c in self.of.cells if c not in self.part.cells)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """The fraction that is the score."""
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        a = sum(cells[c] for c in self.part.cells)
        b = sum(cells[c] for c in self.rest)
        return {"share": (a, a + b), "dice": (2 * a, 2 * a + b), "odds": (a, b)}[self.curve]

    @property
    def vanishes(self) -> tuple[Part, ...]:
        """It is 0 when the part is empty."""
        return (self.part,)

    @property
    def formula(self) -> str:
        """The formula in terms of the cells."""
        if self.printed:
            return self.printed
        a, b = self.part.formula, " + ".join(c.upper() for c in self.rest)
        return {"share": f"{a} / ({a} + {b})", "dice": f"2*{a} / (2*{a} + {b})", "odds": f"{a} / {b}"}[self.curve]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Contrast(OneGroup):
    """The difference of two cells, per case."""

    plus: str
    minus: str
    shape: ClassVar[str] = "contrast"

    @property
    def tree(self) -> Tree:
        """Both cells together, split off from all cases; then the one that counts as plus."""
        both = (self.plus, self.minus)
        return Tree(margin=both, side=(), last=(self.plus,), last_of=both)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """(plus - minus) / n."""
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        return cells[self.plus] - cells[self.minus], tp + fn + fp + tn

    @property
    def formula(self) -> str:
        """``(plus - minus) / n``."""
        return f"({self.plus.upper()} - {self.minus.upper()}) / n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pair(OneGroup):
    """A score made of two rates, one of each row (or column) of the matrix.

    Given the row totals and TP, it never rises as FP grows, or (``rises=True``) never falls. With
    ``columns=True`` the tree is read by predictions: given the column totals and TP, the last cell is FN.
    """

    printed: str
    ranked: Callable[..., Rank]
    scored: Callable[..., Any] | None = None
    zero_if: tuple[Part, ...] | None = None
    rises: bool = False
    columns: bool = False
    shape: ClassVar[str] = "pair"

    @property
    def tree(self) -> Tree:
        """A row (or column) total, then TP within it, then the other row's (or column's) false cell."""
        if self.columns:
            return Tree(margin=("tp", "fp"), side=("tp",), last=("fn",), last_of=("fn", "tn"))
        return Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

    @property
    def denominator(self) -> Part:
        """The actual (or predicted) positives."""
        return Part(self.tree.margin, "predicted positives" if self.columns else "actual positives")

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """The fraction that orders matrices."""
        return self.ranked(tp, fn, fp, tn)

    def score(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The formula, arranged so that it does not overflow or cancel."""
        return (self.scored or partial(OneGroup.score, self))(tp, fn, fp, tn)

    @property
    def vanishes(self) -> tuple[Part, ...] | None:
        """The parts whose emptiness makes the score 0; None if it can be negative."""
        return self.zero_if

    @property
    def formula(self) -> str:
        """The formula in terms of the cells and rates."""
        return self.printed


def _one_matrix(cells: Cells) -> NDArray[np.float64]:
    """The cells of a single matrix, checked."""
    array = as_cells(cells)
    if array.ndim != 1:
        raise InvalidInput(f"why_undefined takes one matrix at a time; got cells of shape {array.shape}")
    return array
