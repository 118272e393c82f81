"""Where a metric has no value: the parts of a matrix that must not be empty.

Almost all holes are of one kind: a sum of cells in a denominator is zero. A metric therefore names the parts that it
*needs*. From these follow the reason in words, the exact number of undefined matrices, their list and, under any law,
their probability. The only other kind of hole is that of the prevalence threshold as printed, for which TPR and FPR
must be *apart*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, compositions, count_matrices, enumerate_matrices
from ..errors import TooLarge
from ..wording import several
from .products import determinant, proportional_matrices, sum_of_gcds

__all__ = ["Holes", "Part", "list_pairs"]

# Products of rounded cells that differ by less than this share are equal. A wider share would take matrices for ties
# to which pseudo-counts of 1e-10 were added.
_ROUNDING = 1e-14
_MOST_LISTED = 2**22
_MOST_PAIRS = 2**24

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Part:
    """A set of cells, and the name of the cases in them."""

    cells: tuple[str, ...]
    name: str

    def of(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number of cases in the part, for cells along the last axis."""
        total: NDArray[np.float64] = columns[..., [CELLS.index(c) for c in self.cells]].sum(axis=-1)
        return total

    def counted(self, n: int) -> str:
        """So many of its cases, in words: ``1 actual positive``."""
        return several(n, self.name.removesuffix("s"))

    @property
    def formula(self) -> str:
        """The part as a sum of cells; ``n`` for all four."""
        return "n" if len(self.cells) == 4 else " + ".join(c.upper() for c in self.cells)

    def __str__(self) -> str:
        return f"no {self.name} ({self.formula} = 0)"


@dataclass(frozen=True, slots=True)
class Holes:
    """The set of matrices on which a metric is undefined."""

    needs: tuple[Part, ...]
    apart: bool = False

    def __str__(self) -> str:
        return ", or ".join([str(part) for part in self.needs] + ["TPR equals FPR"] * self.apart)

    def at(self, cells: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each matrix is a hole, without rounding errors."""
        return self.at_columns(list(np.moveaxis(cells, -1, 0)))

    def at_columns(self, columns: Sequence[Any], filled: bool = False) -> NDArray[np.bool_]:
        """The same for cells in four arrays that broadcast; with ``filled``, none of them is 0."""
        named = dict(zip(CELLS, columns, strict=True))
        hole = np.zeros(np.broadcast_shapes(*(np.shape(c) for c in columns)), dtype=bool)
        for part in () if filled else self.needs:
            # Cells are never negative, so a sum is zero only if all of its cells are.
            hole |= sum(named[c] for c in part.cells) == 0
        if self.apart:
            tp, fn, fp, tn = columns
            first = tp * tn
            close = np.abs(first - fp * fn) <= 1e-12 * first
            exact = [np.broadcast_to(c, hole.shape)[close] for c in columns]
            # Whole cells are exact. Fractions of cases, such as pseudo-counts, are rounded a few times each.
            whole = np.all([c == np.floor(c) for c in exact], axis=0)
            hole[close] |= np.abs(determinant(*exact)) <= np.where(whole, 0.0, _ROUNDING * exact[0] * exact[3])
        return hole

    def reason(self, cells: NDArray[np.float64]) -> str | None:
        """Why a matrix is a hole, in words; None if it is not."""
        if cells.sum() == 0:
            return "no cases (n = 0)"
        empty = [str(part) for part in self.needs if part.of(cells) == 0]
        if not empty and self.at(cells):
            empty = ["TPR equals FPR (TP * TN = FP * FN)"]
        return " and ".join(empty) or None

    def measure(self, weight_of_empty: Callable[[frozenset[str]], Number]) -> Number:
        """The number or probability of the matrices with an empty part, by inclusion and exclusion.

        ``weight_of_empty(z)`` is the number, or the probability, of the matrices whose cells ``z`` are all zero. The
        sum over the parts is at most ``len(needs)`` times the result, so no accuracy is lost to cancellation.
        """
        sets = [frozenset(part.cells) for part in self.needs]
        signs: dict[frozenset[str], int] = {}
        for size in range(1, len(sets) + 1):
            for chosen in combinations(sets, size):
                union = frozenset[str]().union(*chosen)
                signs[union] = signs.get(union, 0) + (-1) ** (size + 1)
        terms = [sign * weight_of_empty(union) for union, sign in signs.items() if sign]
        return sum(terms[1:], terms[0])

    def count(self, n: int) -> int:
        """The exact number of holes among the matrices of ``n`` cases."""
        empty = self.measure(lambda z: comb(n + 3 - len(z), n) if len(z) < 4 else int(n == 0))
        return empty + (sum_of_gcds(n) - 2 * n + 1 if self.apart and n else 0)

    def list(self, n: int) -> NDArray[np.int64]:
        """The holes among the matrices of ``n`` cases, one per row, in lexicographic order."""
        if self.count(n) > _MOST_LISTED:
            raise TooLarge(f"there are {self.count(n):,} undefined matrices of n = {n:,} cases, too many to list")
        holes = [proportional_matrices(n)] if self.apart else []
        for part in self.needs:
            others = [i for i, c in enumerate(CELLS) if c not in part.cells]
            ways = compositions(n, len(others))
            rows = np.zeros((len(ways), 4), dtype=np.int64)
            rows[:, others] = ways
            holes.append(rows)
        return np.unique(np.concatenate(holes), axis=0)

    @property
    def degree(self) -> int | None:
        """The power of ``n`` with which the number of empty parts grows; None if there are none for n >= 1."""
        smallest = min(len(part.cells) for part in self.needs)
        return None if smallest == 4 else 3 - smallest


def list_pairs(holes: Sequence[Holes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The pairs of matrices of these sizes of which at least one is a hole, shape (count, 2, 4)."""
    if prod(map(count_matrices, sizes)) > _MOST_PAIRS:
        raise TooLarge(f"there are too many pairs of matrices for n = {tuple(sizes)} to list; use count_undefined")
    group, reference = (enumerate_matrices(size) for size in sizes)
    first, second = (h.at(g.astype(np.float64)) for h, g in zip(holes, (group, reference), strict=True))
    i, j = np.nonzero(first[:, None] | second[None, :])
    return np.stack([group[i], reference[j]], axis=1)
