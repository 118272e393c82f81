"""The laws of the cells, against exact probabilities."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import dirichlet_multinomial, hypergeometric, matrices, multinomial
from pytest import approx

from evenhand import (
    ConfusionMatrix,
)
from evenhand.laws import law_of


@pytest.mark.parametrize(
    ("law", "weight"),
    [
        ("multinomial", lambda c: multinomial(c, [3, 0, 5, 2])),
        ("predictive", lambda c: dirichlet_multinomial(c, [Fraction(1, 2) + x for x in (3, 0, 5, 2)])),
        ("without_replacement", lambda c: hypergeometric(c, [3, 0, 5, 2])),
    ],
)
def test_a_law_is_the_product_of_its_splits(law: Any, weight: Any) -> None:
    listed = list(matrices(6))
    found = law_of(ConfusionMatrix(3, 0, 5, 2), 6, law).pmf(np.array(listed))
    assert found == approx([float(weight(c)) for c in listed], rel=1e-12, abs=1e-300)
    assert law_of(ConfusionMatrix(3, 0, 5, 2), 6, law).pmf([[1, 1, 1, 1]]).tolist() == [0.0]
