"""How many matrices of n cases and K classes leave a score undefined.

There are C(n + K² - 1, n) such matrices (stars and bars). A class has no score if one of the parts that the metric
needs is empty, and "these cells are empty" leaves a matrix of fewer cells; so the number of matrices on which at least
one class has no score follows by inclusion and exclusion. Classes are interchangeable, so sets of empty cells are told
apart only by how many classes lack which part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb, factorial, prod

import numpy as np

from ..errors import InvalidInput, TooLarge
from ..laws import check_cost
from ..metrics import Accuracy, Holes, Kappa, Macro, Mcc, Micro, OneClass, Summary, Weighted

__all__ = ["count_of_classes"]

Cells = frozenset[str]

_MOST_TERMS = 50_000
_MOST_CASES = 2**24
_ROW: Cells = frozenset({"tp", "fn"})


def count_of_classes(summary: Summary, n: int, k: int) -> int:
    """The number of K x K matrices of ``n`` cases on which a score is undefined."""
    if n == 0:
        return 1
    if isinstance(summary, Accuracy):
        return 0
    if isinstance(summary, Mcc):
        # One row has all cases, or one column has; both, if one cell has.
        return 2 * k * _matrices(n, k) - k * k
    if isinstance(summary, Kappa):
        return k
    if isinstance(summary, Micro):
        return _micro(summary, n, k)
    if isinstance(summary, OneClass):
        return _one_class(summary.metric.holes[0], n, k)
    assert isinstance(summary, (Macro, Weighted))
    (holes,) = summary.scored.holes
    if holes.apart and k <= 2:
        # A class against the only other one: both lack a score, or neither does.
        return _one_class(holes, n, k)
    if holes.apart:
        raise InvalidInput(
            f"there is no closed form for the {summary.average} average of {summary.metric.key} over more than two "
            "classes, which is also undefined where TPR equals FPR"
        )
    return _any_class(_lacking(holes, weighted=isinstance(summary, Weighted)), n, k)


def _matrices(n: int, cells: int) -> int:
    """The number of ways to distribute n cases over so many cells."""
    return comb(n + cells - 1, n) if cells else int(n == 0)


def _micro(summary: Micro, n: int, k: int) -> int:
    """Micro averages depend only on the number of correct cases."""
    check_cost(n, _MOST_CASES, "a micro average takes {} numbers of correct cases", "count those of fewer cases")
    undefined = np.isnan(summary.of_correct(np.arange(n + 1, dtype=np.float64), n, k))
    # A single class leaves no cell for errors.
    return sum(_matrices(right, k) * _matrices(n - right, k * k - k) for right in np.flatnonzero(undefined).tolist())


def _sizes(k: int) -> dict[str, int]:
    """How many cells of a K x K matrix each cell of a class against the rest is the sum of."""
    return {"tp": 1, "fn": k - 1, "fp": k - 1, "tn": (k - 1) ** 2}


def _one_class(holes: Holes, n: int, k: int) -> int:
    sizes = _sizes(k)
    if not holes.apart:
        return holes.measure(lambda empty: _matrices(n, k * k - sum(sizes[c] for c in empty)))
    # Every 2x2 matrix is that of as many K x K matrices as its cells can be distributed.
    return sum(
        prod(_matrices(count, size) for count, size in zip(cells, sizes.values(), strict=True))
        for cells in holes.list(n).tolist()
    )


def _lacking(holes: Holes, weighted: bool) -> dict[Cells, int]:
    """The indicator that a class that counts has no score, as a signed sum of indicators that cells are empty."""
    parts = [frozenset(part.cells) for part in holes.needs]
    signed: Counter[Cells] = Counter()
    for size in range(1, len(parts) + 1):
        for chosen in combinations(parts, size):
            empty = frozenset[str]().union(*chosen)
            signed[empty] += (-1) ** (size + 1)
            if weighted:
                signed[empty | _ROW] -= (-1) ** (size + 1)
    return {empty: sign for empty, sign in signed.items() if sign}


def _any_class(lacking: Mapping[Cells, int], n: int, k: int) -> int:
    """The number of matrices on which at least one class is lacking.

    1 - Π (1 - I_c) over classes c, expanded: each class is either left alone or contributes one set of empty cells.
    """
    kinds: list[Cells] = list(lacking)
    terms = comb(k + len(kinds), k)
    if terms > _MOST_TERMS:
        raise TooLarge(f"inclusion and exclusion over {k:,} classes takes {terms:,} terms, more than {_MOST_TERMS:,}")
    total = 0
    for chosen in _ways(k, len(kinds)):
        if any(chosen):
            signs = prod((-lacking[kind]) ** times for kind, times in zip(kinds, chosen, strict=True))
            same = factorial(k) // prod(map(factorial, (*chosen, k - sum(chosen))))
            total -= same * signs * _matrices(n, k * k - _emptied(kinds, chosen, k))
    return total


def _ways(most: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All numbers of classes of each kind that add up to at most so many."""
    if kinds == 0:
        yield ()
        return
    for first in range(most + 1):
        for others in _ways(most - first, kinds - 1):
            yield first, *others


def _emptied(kinds: list[Cells], chosen: tuple[int, ...], k: int) -> int:
    """How many cells of a K x K matrix are empty, if so many classes lack these cells."""
    classes = [(kind, times) for kind, times in zip(kinds, chosen, strict=True) if times]
    classes.append((frozenset(), k - sum(chosen)))
    # All cells outside its row and column are empty for each of so many classes.
    apart = sum(times for kind, times in classes if "tn" in kind)
    empty = 0
    for one, times in classes:
        if "tp" in one or apart > ("tn" in one):
            empty += times
        for other, others in classes:
            pairs = times * (others - (one is other))
            if "fn" in one or "fp" in other or apart > ("tn" in one) + ("tn" in other):
                empty += pairs
    return empty
