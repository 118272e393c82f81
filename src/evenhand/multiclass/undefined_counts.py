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
from typing import Literal, get_args

import numpy as np

from ..cells import as_size
from ..errors import InvalidInput, TooLarge, UnknownName
from ..metrics import Holes, Metric, OneGroup
from .summaries import OVERALL, one_group

__all__ = ["Of", "count_undefined_classes"]

Of = Literal["class", "micro", "macro", "weighted", "all"]
Cells = frozenset[str]

_MOST_TERMS = 50_000
_ROW: Cells = frozenset({"tp", "fn"})


def count_undefined_classes(metric: str | Metric, n: int, k: int, of: Of = "class") -> int:
    """The exact number of K x K matrices of ``n`` cases on which a score is undefined.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    n : int
        The number of cases.
    k : int
        The number of classes.
    of : {"class", "micro", "macro", "weighted", "all"}
        The score of one given class against the rest; an average over classes, which is undefined if a class that
        counts has no score; or the score of all classes at once (acc, inacc, balanced_accuracy, mcc or kappa).

    Returns
    -------
    int
        The number of matrices, of C(n + K² - 1, n).

    Examples
    --------
    One case and three classes: of the 9 matrices, 6 have no case of a given class. Each of them lacks cases of some
    class, and none has no cases at all:

    >>> count_undefined_classes("tpr", 1, 3)
    6
    >>> count_undefined_classes("tpr", 1, 3, "macro"), count_undefined_classes("acc", 1, 3, "all")
    (9, 0)
    """
    m, size, classes = one_group(metric), as_size(n), as_size(k, "k")
    if classes == 0:
        raise InvalidInput("k must be at least 1")
    if of not in get_args(Of):
        raise UnknownName.among("choice for of", of, get_args(Of))
    if size == 0:
        return 1
    if of == "all":
        return _of_all(m, size, classes)
    if of == "micro":
        return _micro(m, size, classes)
    if of == "class":
        return _one_class(m.holes[0], size, classes)
    if m.apart and classes <= 2:
        # A class against the only other one: both lack a score, or neither does.
        return _one_class(m.holes[0], size, classes)
    if m.apart:
        raise InvalidInput(
            f"there is no closed form for the {of} average of {m.key} over more than two classes, which is also "
            "undefined where TPR equals FPR"
        )
    return _any_class(_lacking(m.holes[0], weighted=of == "weighted"), size, classes)


def _matrices(n: int, cells: int) -> int:
    """The number of ways to distribute n > 0 cases over so many cells."""
    return comb(n + cells - 1, n) if cells else 0


def _of_all(m: OneGroup, n: int, k: int) -> int:
    if m.key in ("acc", "inacc"):
        return 0
    if m.key == "balanced_accuracy":
        return count_undefined_classes("tpr", n, k, "macro")
    if m.key == "mcc":
        # One row has all cases, or one column has; both, if one cell has.
        return 2 * k * _matrices(n, k) - k * k
    if m.key == "kappa":
        return k
    raise InvalidInput(f"only {', '.join(OVERALL)} have a definition for all classes at once; got {m.key}")


def _micro(m: OneGroup, n: int, k: int) -> int:
    """Micro averages depend only on the number of correct cases."""
    correct = np.arange(n + 1, dtype=np.float64)
    errors = n - correct
    holes = m.holes[0].at(np.stack([correct, errors, errors, (k - 2) * n + correct], axis=-1))
    # A single class leaves no cell for errors.
    return sum(
        _matrices_or_none(right, k) * _matrices_or_none(n - right, k * k - k)
        for right in np.flatnonzero(holes).tolist()
    )


def _matrices_or_none(n: int, cells: int) -> int:
    return _matrices(n, cells) if n else 1


def _sizes(k: int) -> dict[str, int]:
    """How many cells of a K x K matrix each cell of a class against the rest is the sum of."""
    return {"tp": 1, "fn": k - 1, "fp": k - 1, "tn": (k - 1) ** 2}


def _one_class(holes: Holes, n: int, k: int) -> int:
    sizes = _sizes(k)
    if not holes.apart:
        return holes.measure(lambda empty: _matrices(n, k * k - sum(sizes[c] for c in empty)))
    # Every 2x2 matrix is that of as many K x K matrices as its cells can be distributed.
    return sum(
        prod(_matrices_or_none(count, size) for count, size in zip(cells, sizes.values(), strict=True))
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
