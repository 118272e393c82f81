"""The probability that a metric is undefined, under a law of the cells."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..confusion import CELLS, count_matrices
from ..errors import check_cost
from ..metrics import Part, UndefinedSet, proportional_matrices
from .cell_laws import DirichletMultinomial, Law, MultivariateHypergeometric

_MAX_LISTED, _BLOCK = 2**25, 2**16


@lru_cache(maxsize=256)
def undefined_probability_of(undefined: UndefinedSet, law: Law) -> float:
    """The probability that a metric with this set is undefined on a random group.

    If all matrices are equally likely, it is the share of those that are undefined. It is cached,
    since many scores of a group ask for the same.
    """
    n = law.n
    if isinstance(law, DirichletMultinomial) and law.weights == (1.0,) * 4:
        return undefined.count(n) / count_matrices(n)
    at_equal_rates = undefined.undefined_at_equal_rates
    if not at_equal_rates and undefined.count(n) == count_matrices(n):
        # Every matrix is undefined. The sum below would miss 1 by rounding.
        return 1.0
    probability = undefined.measure_empty(law.p_empty)
    if at_equal_rates:
        # Equal rates without an empty part, so that nothing is counted twice.
        probability += _equal_rates_probability(law)
    return min(probability, 1.0)


def _equal_rates_probability(law: Law) -> float:
    """P(TPR = FPR, and no cell is empty), for the prevalence threshold, which is undefined there.

    Empty cells with TPR = FPR are already counted as empty parts.
    """
    low, high = law.split(("tp", "fn")).window(np.array([float(law.n)]), 1e-18)
    first, last = max(1, int(low[0])), min(law.n - 1, int(high[0]))
    subject = f"the probability that TPR equals FPR in n = {law.n:,} cases is a sum over {{}} terms"
    hint = "use pt_limit, which has a score there"
    check_cost(last - first + 1, _MAX_LISTED, subject, hint)
    positives = np.arange(first, last + 1)
    check_cost(float(np.gcd(positives, law.n).sum()), _MAX_LISTED, subject, hint)
    blocks = np.array_split(positives, 1 + len(positives) // _BLOCK)
    return sum(float(law.pmf(proportional_matrices(law.n, k)).sum()) for k in blocks)


def pooled_undefined_probability(
    group: UndefinedSet, rest: UndefinedSet, law: Law
) -> float:
    """P(a random subset of pooled cases is undefined by one set, or the rest by another).

    It is for permutation tests of a group against the rest. The rest lacks a part if the subset has
    all of its cases.
    """
    total_of = dict(zip(CELLS, law.weights, strict=True))
    taken = [
        Part(tuple(f"all {cell}" for cell in part.cells), "") for part in rest.needs
    ]

    def p_empty(cells: frozenset[str]) -> float:
        """P(the subset has none of some cases, and all of some others).

        ``cells`` names those of which the subset has none ("tp") or all ("all tp").
        """
        complete = {cell for cell in CELLS if f"all {cell}" in cells}
        all_of = sum(total_of[cell] for cell in complete)
        none_of = sum(total_of[cell] for cell in cells & set(CELLS))
        others = sum(law.weights) - all_of - none_of
        is_impossible = any(total_of[cell] for cell in cells & complete)
        if is_impossible or not 0 <= law.n - all_of <= others:
            return 0.0
        merged = MultivariateHypergeometric(law.n, (all_of, others, none_of, 0.0))
        return float(merged.pmf([all_of, law.n - all_of, 0, 0]))

    probability = UndefinedSet((*group.needs, *taken)).measure_empty(p_empty)
    return min(max(probability, 0.0), 1.0)
