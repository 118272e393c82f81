"""Plans: what the library answers, and a picture of it."""

from __future__ import annotations

from typing import Any

import pytest
from web_client import PLAN, App

import evenhand as eh
from evenhand.errors import EvenhandError
from evenhand.web.form import FIELD_NAMES
from evenhand.web.tasks import answer_plan

KNOWN = {"cells": ["0.3", "0.1", "0.12", "0.48"]}


def plan_with_library(asked: dict[str, Any]) -> Any:
    """What the library answers, asked in its own words."""
    numbers = [float(cell) for cell in asked["cells"]]
    reference: Any = numbers if min(numbers) < 1 else eh.ConfusionMatrix.from_array(numbers)
    given = {name: float(asked[name]) for name in ("difference", "power", "alpha", "threshold")}
    m, n, sizes = asked["metric"], int(asked["n"]), range(int(asked["from"]), int(asked["to"]) + 1)
    if asked["question"] == "size":
        return eh.sample_size(m, reference, given["difference"], power=given["power"], alpha=given["alpha"])
    if asked["question"] == "detect":
        return eh.detectable_difference(m, n, reference, power=given["power"], alpha=given["alpha"])
    if asked["question"] == "power":
        return eh.power(m, n, reference, difference=given["difference"], alpha=given["alpha"])
    if asked["question"] == "jagged":
        return eh.jaggedness(m, reference, sizes)
    return eh.exploitable_sizes(m, reference, given["threshold"], sizes)


def draw_by_hand(question: str, expected: Any) -> tuple[Any, Any]:
    """The places and the lines of a picture."""
    if question in ("power", "detect"):
        scores, powers = expected.profile()
        return scores, [powers]
    if question == "jagged":
        return expected.sizes, list(zip(*expected.quantiles, strict=True))
    return expected.sizes, [expected.values if question == "size" else expected.chances]


def test_a_plan_is_that_of_the_library_with_a_picture() -> None:
    for more in (
        {"question": "size"},
        {"question": "size", "metric": "acc", "difference": "0.1", **KNOWN},
        {"question": "detect", "alpha": "0.01", "power": "0.5", "n": "200"},
        {"question": "power"},
        {"question": "power", **KNOWN},
        {"question": "jagged", "metric": "acc", "from": "4", "to": "9"},
        {"question": "exploit", "metric": "acc", "to": "30"},
        {"question": "exploit", "metric": "disparate_impact"},
    ):
        asked = PLAN | more
        found, expected = answer_plan(asked), plan_with_library(asked)
        assert found["text"] == str(expected)
        x, lines = draw_by_hand(str(asked["question"]), expected)
        assert found["picture"]["x"] == pytest.approx(list(x))
        for line, drawn in zip(found["picture"]["lines"], lines, strict=True):
            assert line == pytest.approx(list(drawn))


def test_plans_that_make_no_sense_are_refused() -> None:
    sizes = "the sizes must rise from 1 or more, at most 1,000; got"
    for more, sentence in (
        ({"difference": "much"}, "the difference must be a number; got 'much'"),
        ({"difference": ""}, "the difference must be a number; got ''"),
        ({"difference": "-0.9"}, "a difference of -0.9 from the reference's tpr of 0.75 gives -0.15, "
         "outside its range 0 to 1; choose a smaller difference"),
        ({"alpha": "2"}, "“Significance level (alpha)” must lie between 0 and 1; got 2.0"),
        ({"question": "power", "n": "1.5"}, "the number of cases must be a whole number; got '1.5'"),
        ({"question": "power", "cells": [1, 2, 3]}, "the reference must have four cells: TP, FN, FP and TN"),
        ({"question": "power", "cells": ["1e999", "0", "0", "0"]}, "a cell must be a number; got '1e999'"),
        ({"question": "power", "metric": "te"}, "te compares two groups; use a metric of one group, such as te_part"),
        ({"question": "jagged", "from": "9", "to": "5"}, f"{sizes} 9 to 5"),
        ({"question": "jagged", "to": "5000"}, f"{sizes} 5 to 5000"),
        ({"question": "exploit", "threshold": "7"}, "“Threshold” must lie in the range of tpr, 0 to 1; got 7.0"),
        ({"question": "why"}, "no question is called 'why'; known: size, detect, power, jagged, exploit"),
    ):  # fmt: skip
        with pytest.raises(EvenhandError) as refusal:
            answer_plan(PLAN | more)
        assert refusal.value.spelled(FIELD_NAMES) == sentence


def test_a_plan_runs_in_a_worker(shared: App) -> None:
    assert shared.answer(shared.post("plan", PLAN))["text"].startswith("137 cases find")
    end = shared.end(shared.post("plan", PLAN | {"n": "x", "question": "power"}))
    assert (end["state"], end["answer"]) == ("failed", "the number of cases must be a whole number; got 'x'")
