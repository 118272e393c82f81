"""The set of all confusion matrices of n cases, against four plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracle import golden, matrices, refusal

from evenhand import count_cell_value, count_matrices, enumerate_matrices
from evenhand.confusion import as_size


def test_every_matrix_is_listed_once_in_lexicographic_order() -> None:
    for n in range(13):
        expected = list(matrices(n))
        assert [tuple(row) for row in enumerate_matrices(n).tolist()] == expected
        assert count_matrices(n) == len(expected)
    assert count_matrices(10**30) == (10**30 + 3) * (10**30 + 2) * (10**30 + 1) // 6


def test_a_cell_has_each_value_as_often_as_the_theorem_says() -> None:
    """C(x; n) = C(n-x+2, 2), the same for all four cells, and 0 above n."""
    for case in golden("metrics")["cell_value_counts_C(x;n)"]:
        n = case["n"]
        assert [count_cell_value(x, n) for x in range(n + 3)] == [*case["counts"], 0, 0]
        for cell in enumerate_matrices(n).T:
            assert np.bincount(cell, minlength=n + 1).tolist() == case["counts"]


def test_a_list_that_would_not_fit_is_refused_with_an_alternative() -> None:
    assert refusal(enumerate_matrices, 1000) == (
        "TooLarge: a list of the matrices of n = 1,000 cases has 167,668,501 rows, more than the limit of 67,108,864; "
        "counts and probabilities need no list"
    )


def test_a_number_of_cases_is_a_whole_number_that_is_not_negative() -> None:
    assert as_size(np.int64(3)) == 3
    assert refusal(count_cell_value, -1, 5) == "InvalidInput: x must not be negative; got -1"
    invalid: list[Any] = [2.5, True, np.False_, "3", None]
    for n in invalid:
        assert refusal(count_matrices, n) == f"InvalidInput: n must be a whole number of cases; got {n!r}"
