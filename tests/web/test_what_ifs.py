"""What would follow from counts."""

from __future__ import annotations

from typing import Any

import pytest
from page_client import Page

import evenhand as eh


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "the group must have four counts: TP, FN, FP and TN"),
        ({"group": [1, 2, 3], "reference": [1, 2, 3, 4]}, "the group must have four counts: TP, FN, FP and TN"),
        ({"group": [1, 2, 3, "1.5"], "reference": [1, 2, 3, 4]}, "a count must be a whole number; got '1.5'"),
        ({"group": [1, 2, 3, -1], "reference": [1, 2, 3, 4]}, "tn must not be negative; got -1"),
        ({"group": [1, 2, 3, 4], "reference": [0, 0, 0, 0]},
         "the reference is empty (n = 0); the group cannot be compared with it"),
        ({"group": [1, 2, 3, 4], "reference": [1, 2, 3, 4], "metric": "te"},
         "te compares two groups; choose a metric of one group"),
    ],
)  # fmt: skip
def test_what_if_refuses_what_makes_no_sense(shared: Page, body: dict[str, Any], sentence: str) -> None:
    end = shared.end(shared.post("what-if", body))
    assert (end["state"], end["error"]) == ("failed", sentence)


@pytest.mark.parametrize(
    ("metric", "group"),
    [
        ("tpr", (0, 2, 8, 30)),
        ("acc", (20, 2, 8, 300)),
        ("mcc", (3, 2, 8, 30)),
        ("f1", (30, 20, 8, 3000)),
        ("mcc", (900, 310, 399, 1490)),
        ("acc", (40_000, 13_000, 15_000, 63_000)),
    ],
)
def test_the_null_of_what_if_adds_up_to_one_and_to_the_tail(
    shared: Page, metric: str, group: tuple[int, int, int, int]
) -> None:
    """What lies at or beyond the observed score has the probability of its tail, within what is left out."""
    reference = (300, 100, 120, 480)
    found = shared.answer(shared.post("what-if", {"group": group, "reference": reference, "metric": metric}))
    test = eh.match_test(eh.ConfusionMatrix.from_array(group), eh.ConfusionMatrix.from_array(reference), metric)
    assert found["score"] == test.statistic
    assert found["percentile"] == pytest.approx(test.percentile)
    spans = found["null"].get("bars") or [[score, score, *more] for score, *more in found["null"]["atoms"]]
    assert sum(chance for _, _, chance, _ in spans) == pytest.approx(1, abs=2e-3)
    lower = test.percentile <= 0.5
    beyond = test.percentile if lower else test.pvalue / 2
    assert sum(chance for _, _, chance, far in spans if far) == pytest.approx(beyond, abs=2e-3)
    assert all(
        far == (high <= test.statistic + 1e-6 if lower else low >= test.statistic - 1e-6) for low, high, _, far in spans
    )
    assert spans[0][0] <= test.statistic <= spans[-1][1]
