"""Where a metric is undefined.

Almost always because a sum of cells in a denominator is zero. A metric therefore names the
parts that it needs. From these follow the reason in words, the number of undefined matrices,
their list and, under any law, their probability. The only exception is the prevalence threshold
as printed, for which TPR and FPR must also differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import CELLS
from ..errors import TooLarge
from ..wording import several
from .tree import sum_cells

# Relative difference below which products of real cells, such as pseudo-counts, are equal.
_ROUNDING = 1e-14

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Part:
    """A set of cells, and the name of the cases in them."""

    cells: tuple[str, ...]
    name: str

    def count(self, cells: Floats) -> Floats:
        """The number of cases in the part, for cells along the last axis.

        A score that needs the part is undefined if it is 0.
        """
        return np.asarray(sum_cells(cells, self.cells))

    def format_count(self, n: int) -> str:
        """A number of its cases in words, for sentences and tables: ``1 actual positive``."""
        return several(n, self.name.removesuffix("s"))

    @property
    def formula(self) -> str:
        """The part as a sum of cells, for formulas and reasons; ``n`` for all four."""
        return "n" if len(self.cells) == 4 else " + ".join(map(str.upper, self.cells))

    def __str__(self) -> str:
        """That the part is empty, as a reason: ``no actual positives (TP + FN = 0)``."""
        return f"no {self.name} ({self.formula} = 0)"


@dataclass(frozen=True, slots=True)
class UndefinedSet:
    """The matrices on which a metric of one group is undefined.

    Those on which a part that it ``needs`` is empty and, with ``undefined_at_equal_rates``,
    those on which TPR equals FPR.
    """

    needs: tuple[Part, ...]
    undefined_at_equal_rates: bool = False

    def __str__(self) -> str:
        """When the metric is undefined, in words, for any matrix; `reason` is for one."""
        reasons = [str(part) for part in self.needs]
        if self.undefined_at_equal_rates:
            reasons.append("TPR equals FPR")
        return ", or ".join(reasons)

    def contains(self, *columns: Any) -> Bools:
        """Whether matrices are in the set, given their cells as four arrays, and score nan."""
        is_undefined = self.has_empty_part(*columns)
        if self.undefined_at_equal_rates:
            is_undefined.ravel()[find_equal_rates(*columns)] = True
        return is_undefined

    def has_empty_part(self, *columns: Any) -> Bools:
        """Whether a part that the metric needs is empty, for cells given as in `contains`."""
        cell_of = dict(zip(CELLS, columns, strict=True))
        is_empty = np.zeros(np.broadcast_shapes(*map(np.shape, columns)), dtype=bool)
        for part in self.needs:
            is_empty |= sum(cell_of[cell] for cell in part.cells) == 0
        return is_empty

    def reason(self, cells: Floats) -> str | None:
        """Why the metric is undefined on a matrix of shape (4,); None if it is defined.

        It is undefined if a part that it needs has no cases, and all such parts are named; some
        metrics also where TPR equals FPR.
        """
        if cells.sum() == 0:
            return "no cases (n = 0)"
        empty = [str(part) for part in self.needs if part.count(cells) == 0]
        if not empty and self.contains(*cells):
            return "TPR equals FPR (TP * TN = FP * FN)"
        return " and ".join(empty) or None

    def measure_empty(self, measure: Callable[[frozenset[str]], Number]) -> Number:
        """The number or probability of matrices on which a needed part is empty.

        By inclusion and exclusion. ``measure(cells)`` is the number or probability of those on
        which all these cells are zero. No term exceeds the result, so little accuracy is lost.
        `count` and the probability of an undefined score follow from it.
        """
        # Several sets of parts may have the same union; their signs are added up.
        sign_of: dict[frozenset[str], int] = {}
        for size in range(1, len(self.needs) + 1):
            for chosen in combinations(self.needs, size):
                union = frozenset(cell for part in chosen for cell in part.cells)
                sign_of[union] = sign_of.get(union, 0) - (-1) ** size
        terms = [sign * measure(union) for union, sign in sign_of.items() if sign]
        # Starting from a term, not from 0, keeps its type.
        return sum(terms[1:], terms[0])

    def count(self, n: int) -> int:
        """The number of undefined matrices of ``n`` cases, counted without a list of them."""
        # Given which cells are 0, the cases are spread over the others.
        empty = self.measure_empty(
            lambda zeros: comb(n + 3 - len(zeros), n) if len(zeros) < 4 else int(n == 0)
        )
        if not self.undefined_at_equal_rates or n == 0:
            return empty
        # Equal rates without an empty margin: gcd(k, n) - 1 matrices of k actual positives (see
        # `proportional_matrices`), summed over k = 1, ..., n - 1.
        return empty + sum_of_gcds(n) - 2 * n + 1

    @property
    def degree(self) -> int | None:
        """The power of ``n`` with which the number of matrices with an empty part grows.

        It says how soon undefined scores become rare. None if there are no such matrices for n > 0.
        """
        # If m cells are 0, the others can be filled in O(n**(3 - m)) ways.
        smallest = min(len(part.cells) for part in self.needs)
        return None if smallest == 4 else 3 - smallest


def proportional_matrices(n: int, positives: Integers) -> Integers:
    """The matrices of ``n`` cases with no empty cell and TPR = FPR, one per row.

    ``positives`` are the numbers of actual positives to list them for. With k actual positives and
    g = gcd(k, n), both rates are j/g for some j = 1, ..., g-1, since k and n - k times the rate
    must be whole. The prevalence threshold is undefined on them; their probabilities are added up.

    >>> proportional_matrices(4, np.arange(1, 4))
    array([[1, 1, 1, 1]])
    """
    g = np.gcd(positives, n)
    row = np.repeat(np.arange(len(g)), g - 1)
    # 1, ..., g-1 for each g in turn: the position, minus that of the first with the same g.
    j = np.arange(len(row)) - np.repeat(np.cumsum(g - 1) - (g - 1), g - 1) + 1
    k, g = positives[row], g[row]
    tp, fp = k // g * j, (n - k) // g * j
    return np.stack([tp, k - tp, fp, n - k - fp], axis=1)


def sum_of_gcds(n: int) -> int:
    """Pillai's function: the sum of gcd(k, n) over k = 1, ..., n.

    It counts matrices with TPR = FPR. With k actual and m predicted positives among n cases,
    the rates are equal if TP = m*k/n, which must be whole: given k, that holds for gcd(k, n) of
    the m = 1, ..., n.

    The function is multiplicative, with ``p**(a-1) * ((a+1)*p - a)`` at a prime power p**a.

    gcd(k, 6) for k = 1, ..., 6 is 1, 2, 3, 2, 1, 6:

    >>> sum_of_gcds(6)
    15
    """
    if n > 10**12:
        text = "counting equal rates needs the prime factors of n"
        raise TooLarge(f"{text}, which must be at most 1e12; got {n:,}")
    # Trial division: p runs over all candidates, and n is what is left to factor.
    total, p = 1, 2
    while n > 1:
        # Without a divisor up to its root, n is prime.
        p = p if p * p <= n else n
        exponent = 0
        while n % p == 0:
            n, exponent = n // p, exponent + 1
        if exponent:
            total *= p ** (exponent - 1) * ((exponent + 1) * p - exponent)
        p += 1
    return total


def find_equal_rates(tp: Any, fn: Any, fp: Any, tn: Any) -> Integers:
    """Flat indices of the matrices with TPR = FPR, given their cells as arrays that broadcast.

    The prevalence threshold is undefined on them. Rates are equal if tp * tn = fp * fn: exactly for
    whole cells, else within rounding. Matrices on which a rate is undefined are not found.
    """
    with np.errstate(all="ignore"):
        gap = np.asarray(tp / (tp + fn) - fp / (fp + tn))
    # The products are only compared where the rates are close, which is rare.
    close = np.flatnonzero(np.abs(gap) <= 1e-9)
    columns = [np.broadcast_to(c, gap.shape).flat[close] for c in (tp, fn, fp, tn)]
    first, second = columns[0] * columns[3], columns[1] * columns[2]
    is_equal = np.abs(first - second) <= _ROUNDING * first
    # Products of large counts are rounded, but not those of Python's integers.
    is_whole = np.all([c == np.floor(c) for c in columns], axis=0)
    whole = [c[is_whole].astype(np.int64).astype(object) for c in columns]
    is_equal[is_whole] = whole[0] * whole[3] == whole[1] * whole[2]
    return np.asarray(close[is_equal])
