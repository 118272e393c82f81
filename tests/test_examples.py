"""The shipped examples: their sums, and the rows that count back to them."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from matrices import matrix

import evenhand as eh
from evenhand import ConfusionMatrix
from evenhand.errors import InvalidInput
from evenhand.examples import compas, compas_violent, folktables_income, rows

VIOLENT, INCOME = compas_violent(), folktables_income()


def test_the_examples_add_up() -> None:
    assert sum(compas().values(), matrix(0, 0, 0, 0)) == matrix(2035, 1216, 1282, 2681)
    assert sum(VIOLENT.values(), matrix(0, 0, 0, 0)) == matrix(389, 347, 1597, 4121)
    assert sum(INCOME.values(), matrix(0, 0, 0, 0)) == matrix(26318, 16189, 20071, 93854)
    assert eh.examples.compas()["Asian"].n == 32


def test_rows_count_back_to_the_matrices() -> None:
    table = pd.DataFrame(rows(compas()))
    for name, part in table.groupby("group"):
        assert ConfusionMatrix.from_labels(part["y_true"], part["y_pred"]) == compas()[name]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: rows({"A": matrix(1.5, 1, 1, 1)}), "groups must have whole counts, one per person; group "
         "'A' has ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
        (lambda: rows({}), "groups must contain at least one group; got none"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
