"""The space of all matrices of n cases, against four loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pytest
from oracle import golden, matrices

from evenhand import count_cell_value, count_matrices, enumerate_matrices
from evenhand.errors import InvalidInput, TooLarge


def refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


@pytest.mark.parametrize("n", range(13))
def test_the_space_is_what_four_loops_list(n: int) -> None:
    assert [tuple(row) for row in enumerate_matrices(n).tolist()] == list(matrices(n))
    assert count_matrices(n) == len(enumerate_matrices(n)) == comb(n + 3, 3)


@pytest.mark.parametrize("case", golden("metrics")["cell_value_counts_C(x;n)"], ids=lambda c: f"n={c['n']}")
def test_each_cell_takes_each_value_as_often_as_the_theorem_says(case: dict[str, Any]) -> None:
    """C(x; n) = C(n-x+2, 2)."""
    n = case["n"]
    assert [count_cell_value(x, n) for x in range(n + 1)] == case["counts"]
    for cell in enumerate_matrices(n).T:
        assert np.bincount(cell, minlength=n + 1).tolist() == case["counts"]


def test_a_value_above_n_never_occurs() -> None:
    assert count_cell_value(4, 3) == 0


def test_a_list_past_the_budget_is_refused_with_the_way_out() -> None:
    sentence = (
        "enumerating n = 1,000 takes 167,668,501 rows, more than the limit of 67,108,864; "
        "counts, probabilities and distributions are available without enumeration"
    )
    with pytest.raises(TooLarge, match=f"^{re.escape(sentence)}$"):
        enumerate_matrices(1000)


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (-1, "n must not be negative; got -1"),
        (2.5, "n must be a whole number of cases; got 2.5"),
        (True, "n must be a whole number of cases; got True"),
        ("3", "n must be a whole number of cases; got '3'"),
    ],
)
def test_a_bad_n_is_explained(n: Any, sentence: str) -> None:
    refused(lambda: count_matrices(n), sentence)
