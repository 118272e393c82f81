"""Answers to questions of planning: what the library says, and a picture of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..planning import (
    ExploitableSizes,
    Jaggedness,
    Plan,
    detectable_difference,
    exploitable_sizes,
    jaggedness,
    power,
    sample_size,
)
from ..records import plain_value
from .form import read_number, read_whole

MOST_SIZES = 1_000
QUESTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "size": (sample_size, ("difference", "power", "alpha")),
    "detect": (detectable_difference, ("n", "power", "alpha")),
    "power": (power, ("n", "difference", "alpha")),
    "jagged": (jaggedness, ("sizes",)),
    "exploit": (exploitable_sizes, ("threshold", "sizes")),
}


def answer_plan(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question of planning: text, and a picture if there is one."""
    question = str(asked.get("question"))
    if question not in QUESTIONS:
        raise UnknownName.among("question", question, list(QUESTIONS))
    function, names = QUESTIONS[question]
    arguments: dict[str, Any] = {"reference": read_reference(asked)}
    for name in names:
        value = asked.get(name)
        if name == "sizes":
            arguments["n"] = read_sizes(asked)
        elif name == "n":
            arguments["n"] = read_whole(value, "the number of cases")
        else:
            arguments[name] = read_number(value, f"the {name}")
    result = function(str(asked.get("metric")), **arguments)
    return {"text": str(result), "picture": plain_value(picture(result))}


def read_reference(asked: Mapping[str, Any]) -> ConfusionMatrix | list[float]:
    """The reference: counts, or four probabilities that are known."""
    texts = asked.get("cells")
    if not isinstance(texts, list) or len(texts) != 4:
        raise InvalidInput("the reference must have four cells: TP, FN, FP and TN")
    cells = [read_number(text or 0, "a cell") for text in texts]
    is_counted = all(cell.is_integer() for cell in cells)
    return ConfusionMatrix.from_array(cells) if is_counted else cells


def read_sizes(asked: Mapping[str, Any]) -> range:
    """The sizes between two numbers."""
    first = read_whole(asked.get("from"), "the first size")
    last = read_whole(asked.get("to"), "the last size")
    if not 1 <= first <= last < first + MOST_SIZES:
        must = f"must rise from 1 or more, and be at most {MOST_SIZES:,}"
        raise InvalidInput(f"the sizes {must}; got {first} to {last}")
    return range(first, last + 1)


def picture(result: Plan | Jaggedness | ExploitableSizes) -> dict[str, Any] | None:
    """Lines over sizes, or over true scores; None where each point would take long."""
    drawn = {"goal": None, "axis": "number of cases", "caption": "Power"}
    if isinstance(result, Jaggedness):
        quantiles = list(zip(*result.quantiles, strict=True))
        drawn |= {"x": result.sizes, "lines": quantiles, "goal": result.reference_score}
        return drawn | {"caption": "10, 25, 50, 75 and 90% of groups score at most this"}
    if isinstance(result, ExploitableSizes):
        chances = {"x": result.sizes, "lines": [result.chances]}
        return drawn | chances | {"caption": "Probability to pass"}
    if result.question == "sample_size":
        return drawn | {"x": result.sizes, "lines": [result.values], "goal": result.target}
    if result.method != "exact":
        return None
    scores, powers = result.profile()
    curve = {"x": scores, "lines": [powers], "goal": result.target}
    return drawn | curve | {"axis": f"true {result.metric.key}"}
