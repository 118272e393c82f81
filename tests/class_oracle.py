"""Scores of several classes by their definitions, case by case, and tables to try; nothing of the library is used."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isnan
from typing import Any

import mpmath
import oracle
from hypothesis import strategies as st
from pytest import approx

Table = list[list[int]]


def tables(k: int, most: int = 6) -> st.SearchStrategy[Table]:
    """Small tables of k classes, many of them with empty cells."""
    cell = st.integers(0, most) | st.just(0)
    return st.lists(st.lists(cell, min_size=k, max_size=k), min_size=k, max_size=k)


def all_tables(n: int, k: int) -> Iterator[Table]:
    """All tables of n cases and k classes."""
    for chosen in combinations_with_replacement(range(k * k), n):
        flat = [chosen.count(i) for i in range(k * k)]
        yield [flat[i * k : (i + 1) * k] for i in range(k)]


def same(found: float, expected: Any) -> bool:
    """Whether a score is the expected one, or undefined as expected."""
    return isnan(found) if expected is None else found == approx(float(expected), rel=1e-12, abs=1e-12)


def cases(table: Table) -> list[tuple[int, int]]:
    """Every case as actual and predicted class."""
    return [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def against_rest(table: Table, c: int) -> oracle.Cells:
    """The four cells of a class, counted case by case."""
    tp = fn = fp = tn = 0
    for actual, predicted in cases(table):
        tp += actual == c == predicted
        fn += actual == c != predicted
        fp += actual != c == predicted
        tn += c not in (actual, predicted)
    return tp, fn, fp, tn


def class_score(key: str, table: Table, c: int) -> Any:
    """The score of a class against the rest; None if undefined."""
    cells = against_rest(table, c)
    return oracle.ONE_GROUP[key](*cells) if sum(cells) else None


def averaged(key: str, table: Table, average: str, omit: bool = False) -> Any:
    """An average by its definition; None if undefined."""
    k = len(table)
    each = [class_score(key, table, c) for c in range(k)]
    if average == "micro":
        cells = [sum(column) for column in zip(*(against_rest(table, c) for c in range(k)), strict=True)]
        return oracle.ONE_GROUP[key](*cells) if sum(cells) else None
    weights = [1 if average == "macro" else sum(table[c]) for c in range(k)]
    used = [(w, s) for w, s in zip(weights, each, strict=True) if w and not (omit and s is None)]
    if not used or not cases(table) or any(s is None for _, s in used):
        return None
    return sum(mpmath.mpf(w) * as_mp(s) for w, s in used) / sum(w for w, _ in used)


def overall(key: str, table: Table) -> Any:
    """A score of all classes by its definition, from one-hot vectors of labels and predictions; None if undefined."""
    rows, k = cases(table), len(table)
    n = len(rows)
    if not n:
        return None
    if key in ("acc", "inacc"):
        right = Fraction(sum(a == b for a, b in rows), n)
        return right if key == "acc" else 1 - right
    if key == "balanced_accuracy":
        return averaged("tpr", table, "macro")
    x, y = ([[int(pair[side] == c) for c in range(k)] for pair in rows] for side in (0, 1))
    if key == "kappa":
        chance = sum(Fraction(sum(v[c] for v in x), n) * Fraction(sum(v[c] for v in y), n) for c in range(k))
        return None if chance == 1 else (Fraction(sum(a == b for a, b in rows), n) - chance) / (1 - chance)

    def covariance(u: list[list[int]], v: list[list[int]]) -> Fraction:
        return sum(
            (
                Fraction(sum(a[c] * b[c] for a, b in zip(u, v, strict=True)), n)
                - Fraction(sum(a[c] for a in u), n) * Fraction(sum(b[c] for b in v), n)
                for c in range(k)
            ),
            Fraction(0),
        )

    spread = covariance(x, x) * covariance(y, y)
    return None if spread == 0 else as_mp(covariance(x, y)) / mpmath.sqrt(as_mp(spread))


def as_mp(value: Any) -> Any:
    """A count or a fraction with many digits."""
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, (int, Fraction)) else value
