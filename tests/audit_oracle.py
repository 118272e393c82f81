"""What an audit must say, a second time: adjusted p-values and pooled strata by their definitions, row by row.

Nothing here imports the code under test, but for the types.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom

if TYPE_CHECKING:
    from evenhand.auditing import Audit, Row

Cells = tuple[int, int, int, int]
RatesOf = tuple[int, int, int, int]
"""Part and whole of a group, part and whole of its reference."""


def row(a: Audit, group: str, metric: str | None = None, by: str | None = None, **at: Any) -> Row:
    """The one row of a group and metric at a place."""
    (found,) = [
        r
        for r in a.rows
        if r.group == group
        and metric in (None, r.metric)
        and by in (None, r.by)
        and all(r.at.get(axis) == value for axis, value in at.items())
    ]
    return found


def same(one: Any, other: Any, rel: float = 1e-12) -> bool:
    """Whether two plain values are the same, but for the last digits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name], rel) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b, rel) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=rel, abs_tol=1e-15) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def plain_holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's method, step by step: the running maximum of min(1, (m - i) p_(i))."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    adjusted, worst = [0.0] * len(pvalues), 0.0
    for done, i in enumerate(order):
        worst = max(worst, min(1.0, (len(pvalues) - done) * pvalues[i]))
        adjusted[i] = worst
    return adjusted


def plain_bh(pvalues: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's: min over q >= p of m q / rank(q)."""
    m, order = len(pvalues), sorted(pvalues)
    return [min(min(1.0, m * q / (k + 1)) for k, q in enumerate(order) if q >= p) for p in pvalues]


def slow_holm(parts: Sequence[RatesOf]) -> list[float]:
    """Holm's method with the p-values that each exact test can reach, from sums of hypergeometric probabilities."""
    tests = []
    for a, of_a, b, of_b in parts:
        law = hypergeom(of_a + of_b, a + b, of_a)
        k = np.arange(max(0, a - of_b + b), min(of_a, a + b) + 1)
        p = np.minimum(1, 2 * np.minimum(law.cdf(k), law.sf(k - 1)))
        tests.append((float(p[k == a][0]), p, law.pmf(k)))
    order = sorted(range(len(tests)), key=lambda i: tests[i][0])
    adjusted, running = [0.0] * len(tests), 0.0
    for place, i in enumerate(order):
        x = tests[i][0]
        reached = sum(float(pmf[p <= x * (1 + 1e-9)].sum()) for _, p, pmf in (tests[j] for j in order[place:]))
        running = max(running, min(1.0, reached), x)
        adjusted[i] = running
    return adjusted


def pooled_pvalue(strata: Sequence[RatesOf]) -> float | None:
    """Twice the smaller tail of the group's successes over all tables of all strata; None if there is one only."""
    law: dict[int, Fraction] = {0: Fraction(1)}
    for k, n, other, m in strata:
        total = math.comb(n + m, k + other)
        here = {
            x: Fraction(math.comb(n, x) * math.comb(m, k + other - x), total)
            for x in range(n + 1)
            if 0 <= k + other - x <= m
        }
        joint: dict[int, Fraction] = {}
        for (s, p), (x, q) in product(law.items(), here.items()):
            joint[s + x] = joint.get(s + x, Fraction(0)) + p * q
        law = joint
    if len(law) == 1:
        return None
    observed = sum(k for k, *_ in strata)
    tails = [sum(p for s, p in law.items() if sign * s >= sign * observed) for sign in (1, -1)]
    return float(min(Fraction(1), 2 * min(tails)))
