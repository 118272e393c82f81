"""One and many are told apart wherever a count stands before its noun."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import evenhand as eh
from evenhand.metrics import CATALOGUE

REST = eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
SINGLE = eh.ConfusionMatrix(tp=1, fn=0, fp=1, tn=6)
PLAN = eh.sample_size("tpr", REST, difference=-0.2)
TEXTS: dict[str, Any] = {
    "match": lambda: eh.match_test(SINGLE, REST, "tpr"),
    "match of two rates": lambda: eh.match_test(SINGLE, REST, "equalized_odds"),
    "power": lambda: eh.power("tpr", 1, REST, difference=-0.2, denominator=1),
    "size": lambda: replace(PLAN, n=1),
    "undefined": lambda: eh.sample_size("ppr", REST, undefined_below=0.5),
    "differences": lambda: eh.detectable_difference("tpr", 200, eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)),
    "prior": lambda: eh.check_prior(SINGLE, eh.ConfusionMatrix(tp=1, fn=0, fp=0, tn=0)),
    "audit": lambda: repr(eh.audit_counts({"A": (1, 0, 0, 0), "B": REST}, metrics="tpr")),
    "reference": lambda: (
        eh.audit_counts({"A": (1, 0, 0, 0), "B": REST}, metrics="acc", reference="A").rows[1].reference
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_one_is_not_followed_by_a_plural(name: str) -> None:
    text = f" {TEXTS[name]()} "
    for noun in ("case", "group", "score", "row", "draw", "actual positive", "predicted positive", "actual negative"):
        assert f" 1 {noun}s" not in text, text


def test_the_plan_of_one_case_says_so() -> None:
    assert str(replace(PLAN, n=1)).startswith("1 case finds a difference")


def test_the_names_of_parts_are_plurals_made_by_an_s() -> None:
    for metric in CATALOGUE:
        for part in metric.denominators:
            assert part.format_count(2) == f"2 {part.name}"
            assert part.format_count(1) == f"1 {part.name[:-1]}"
