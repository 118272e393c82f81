"""The down-sampling study: what the errata found, and what smoothing spoils."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pytest import approx

import evenhand as eh
from evenhand import ConfusionMatrix
from evenhand.errors import InvalidInput
from evenhand.examples import compas, folktables_income


def test_the_stress_test_finds_what_the_errata_found() -> None:
    """E15: λ = 20 on Folktables/Other, PREV, is 2.72 times the raw error at n = 25."""
    found = eh.stress_test(folktables_income(), ["prev"], n=[25], strengths=[5, 20])
    worst = max(found.rows, key=lambda row: row.worst_ratio)
    assert (worst.strength, worst.worst_group, worst.worst_metric) == (20, "Other", "prev")
    assert worst.worst_ratio == approx(2.72, abs=0.005)
    assert found.best(25) in found.rows
    assert found.curve(5) == [(25, found.rows[0].mean_ratio)]
    assert "2.72 times the raw error" in str(found)


def test_the_stress_test_does_not_hide_what_smoothing_spoils() -> None:
    groups = {"a": ConfusionMatrix(50, 0, 0, 50), "b": ConfusionMatrix(40, 30, 20, 10)}
    found = eh.stress_test(groups, ["tpr", "fpr"], n=[1, 20], strengths=[40])
    assert found.rows[-1].spoiled == 2
    assert "Scores with an error only after smoothing, left out above: 4" in str(found)
    with pytest.raises(InvalidInput, match=r"^the study has no n = 7; it has \[1, 20\]$"):
        found.best(7)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.stress_test({}), "groups, n and strengths must not be empty"),
        (lambda: eh.stress_test(compas(), n=[]), "groups, n and strengths must not be empty"),
        (lambda: eh.stress_test(compas(), strengths=[]), "groups, n and strengths must not be empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()
