"""Answers to questions of planning: sentences, a picture, and the call and the command that give them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..metrics import Metric
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
from ..wording import decided, several
from .parsing import typed_cells, typed_number, typed_whole

__all__ = ["planned"]

_MOST_SIZES, _MOST_LISTED, _LONGEST_NUMBER = 1_000, 12, 40
_RATES = ("the share of actual positives", "the true positive rate", "the false positive rate")


def planned(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question of planning, as the page shows it."""
    question = str(asked.get("question"))
    if question not in _QUESTIONS:
        raise UnknownName.among("question", question, list(_QUESTIONS))
    function, names, told = _QUESTIONS[question]
    metric, reference = str(asked.get("metric") or "tpr"), _reference(asked)
    arguments = {"n" if name == "sizes" else name: _FIELDS[name](asked) for name in names}
    result = function(metric, reference=reference, **arguments)
    sentences, picture = told(result)
    return dict(
        plain_value(
            {
                "sentences": sentences,
                "picture": picture,
                "python": _python(function.__name__, metric, reference, arguments),
                "command": _command(question, metric, reference, arguments),
            }
        )
    )


def _reference(asked: Mapping[str, Any]) -> ConfusionMatrix | list[float]:
    """The reference as four counts, or four probabilities from three rates."""
    if "rates" not in asked:
        return typed_cells(asked.get("reference"), "the reference")
    given = asked["rates"]
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(_RATES):
        raise InvalidInput(f"the reference must have three rates: {', '.join(_RATES)}")
    for what, text in zip(_RATES, given, strict=True):
        if not 0 <= typed_number(text, what) <= 1 or len(str(text)) > _LONGEST_NUMBER:
            raise InvalidInput(f"{what} must be between 0 and 1; got {str(text)[:20]!r}")
    # Decimal products of what was typed, so that 0.4 of 0.75 is 0.3.
    positive, found, alarmed = (Decimal(str(text).strip()) for text in given)
    negative = 1 - positive
    return [
        float(cell) for cell in (positive * found, positive * (1 - found), negative * alarmed, negative * (1 - alarmed))
    ]


def _sizes(asked: Mapping[str, Any]) -> range:
    first, last = (typed_whole(asked.get(end), f"the {name} size") for end, name in (("from", "first"), ("to", "last")))
    if first < 1 or last < first:
        raise InvalidInput(f"the sizes must rise from 1 or more; got {first} to {last}")
    if last - first >= _MOST_SIZES:
        raise InvalidInput(f"the page looks at {_MOST_SIZES:,} sizes at most; got {last - first + 1:,}")
    return range(first, last + 1)


_FIELDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "n": lambda asked: typed_whole(asked.get("n"), "the number of cases"),
    "sizes": _sizes,
    "difference": lambda asked: typed_number(asked.get("difference"), "the difference"),
    "power": lambda asked: typed_number(asked.get("power"), "the power"),
    "alpha": lambda asked: typed_number(asked.get("alpha"), "the level"),
    "threshold": lambda asked: typed_number(asked.get("threshold"), "the threshold"),
}


def _python(function: str, metric: str, reference: Any, arguments: Mapping[str, Any]) -> str:
    """The call in Python."""
    counts = isinstance(reference, ConfusionMatrix)
    against = f"evenhand.{reference!r}" if counts else repr(reference)
    named = [f"{name}={value!r}" for name, value in arguments.items()]
    return f"evenhand.{function}({', '.join([repr(metric), f'reference={against}', *named])})"


def _command(question: str, metric: str, reference: Any, arguments: Mapping[str, Any]) -> str | None:
    """The command; None for rates that are all 0 or 1, which it would take for counts."""
    counts = isinstance(reference, ConfusionMatrix)
    if not counts and all(rate.is_integer() for rate in reference):
        return None
    cells = [str(int(cell)) for cell in reference.cells] if counts else [repr(rate) for rate in reference]
    words = ["evenhand", "plan", question, "--metric", metric, "--reference", *cells]
    for name, value in arguments.items():
        text = f"{value.start}:{value.stop - 1}" if isinstance(value, range) else repr(value)
        words += [f"--{name}", text]
    return shlex.join(words)


Told = tuple[list[str], dict[str, Any] | None]


def _tell_size(plan: Plan) -> Told:
    exact, target = plan.method == "exact", f"{plan.target:g}"
    sentences = [f"{'' if exact else 'About '}{_finds(plan)}."]
    if exact and plan.n_stays is not None:
        upto = "" if plan.n_looked is None else f" up to {plan.n_looked:,}"
        if plan.n_stays > plan.n:
            sentences.append(
                f"The probability goes up and down with the number of cases: every number from {plan.n_stays:,}"
                f"{upto} reaches {target}, and not every number from {plan.n:,} to {plan.n_stays - 1:,} does."
            )
        else:
            sentences.append(f"Fewer do not reach {target}; every larger number{upto} does.")
    part = plan.metric.base.denominator
    if part is not None:
        shown = f"{plan.expected_denominator:,.3g}"
        name = part.name.removesuffix("s") if shown == "1" else part.name
        sentences.append(f"On average, they include {shown} {name}.")
    return [*sentences, *_tested(plan)], {
        "curve": list(zip(plan.sizes, plan.values, strict=True)),
        "goal": plan.target,
        "marks": [[plan.n, plan.value, f"{plan.n:,}"]],
        "axis": "number of cases",
        "caption": f"The probability to find it, by number of cases. The dashed line is at {target}.",
        "low": 0,
        "high": 1,
    }


def _tell_power(plan: Plan) -> Told:
    sentences = [f"{_finds(plan)}."]
    if plan.value == 0 and plan.method == "exact":
        sentences.append(f"No outcome that this truth allows reaches p ≤ {plan.alpha:g}.")
    elif plan.difference:
        sentences.append(f"In {_percent(plan.wrong_way)} of groups it would be found in the wrong direction.")
    if plan.p_undefined:
        sentences.append(f"In {_percent(plan.p_undefined)} of groups the score is undefined, and nothing is found.")
    marks = [[plan.true_score, plan.value, f"{plan.true_score:.3g}"]]
    return [*sentences, *_tested(plan)], _by_score(plan, marks)


def _finds(plan: Plan) -> str:
    """A number of cases, the difference that they find, and how likely."""
    what = f"a true difference of {_signed(plan.difference)} in {_called(plan.metric)}"
    if plan.difference == 0:
        what = f"a difference in {_called(plan.metric)} where there is none"
    verb = "finds" if plan.n == 1 else "find"
    return f"{several(plan.n, 'case')} {verb} {what} with a probability of {_percent(plan.value, plan.target)}"


def _tell_detectable(plan: Plan) -> Told:
    said, marks = [], []
    for side, difference, score in (
        ("lower", plan.lower, plan.lower_score),
        ("higher", plan.higher, plan.higher_score),
    ):
        if difference is None or score is None:
            said.append(f"no {side} score")
        else:
            said.append(f"a score that is {side} by {abs(difference):.4g} (a true score of {score:.4g})")
            marks.append([score, plan.value, f"{score:.3g}"])
    head = (
        f"The smallest differences in {_called(plan.metric)} that {several(plan.n, 'case')} "
        f"{'shows' if plan.n == 1 else 'show'} with a power of {plan.value:g}: {said[0]}, and {said[1]}."
    )
    return [head, *_tested(plan)], _by_score(plan, marks)


def _tell_jagged(result: Jaggedness) -> Told:
    moves = [step for step in zip(result.jumps, result.sizes, result.sizes[1:], strict=False) if isfinite(step[0])]
    largest = [
        f"{_signed(jump)} from n = {before} to {after}"
        for jump, before, after in sorted(moves, key=lambda step: -abs(step[0]))[:3]
        if jump
    ]
    where, name = f"From n = {result.sizes[0]} to {result.sizes[-1]}", _called(result.metric)
    sentences = [
        f"{where}, the median of {name} jumps most by {'; '.join(largest)}."
        if largest
        else f"{where}, the median of {name} does not move."
    ]
    infinite = [n for n, median in zip(result.sizes, result.median, strict=True) if not isfinite(median)]
    if infinite:
        sentences[0] = sentences[0].replace("the median", "where it is finite, the median")
        sentences.append(f"The median is infinite at n = {_some(infinite)}.")
    if result.total == 0:
        sentences.append("No quantile goes back and forth.")
    elif isfinite(result.total):
        sentences.append(
            f"Per step, quantiles go back and forth by {_percent(result.total)} of the score’s spread on average."
        )
    if result.decay is not None:
        sentences.append(f"This falls about as n to the power of {-result.decay:.2g}.")
    rows = [(n, row) for n, row in zip(result.sizes, plain_value(result.quantiles), strict=True) if None not in row]
    ends = [end for _, row in rows for end in row]
    if len(rows) < 2:
        return sentences, None
    return sentences, {
        "bands": [[[n, row[at], row[-1 - at]] for n, row in rows] for at in (0, 1)],
        "curve": [[n, row[2]] for n, row in rows],
        "goal": result.reference_score,
        "marks": [],
        "axis": "number of cases",
        "caption": "The median of the score by number of cases, with the middle 50% and 80% of groups around it"
        + ("." if result.reference_score is None else "; the dashed line is the reference’s score."),
        "low": min(ends),
        "high": max(ends),
    }


def _tell_exploitable(result: ExploitableSizes) -> Told:
    mean, chances = sum(result.chances) / len(result.chances), dict(zip(result.sizes, result.chances, strict=True))
    who = "the reference’s rates" if result.metric.comparisons else f"a true score of {result.true_score:.4g}"
    sentences = [
        f"A group with {who} passes “{_called(result.metric)} {result.passing} {result.threshold:.4g}” with a "
        f"probability of {_percent(mean)} on average over n = {result.sizes[0]} to {result.sizes[-1]}, and of "
        f"{_percent(chances[result.best])} at n = {result.best}.",
        f"Sizes at which it passes more often than with one case more or less: n = {_some(result.exploitable)}."
        if result.exploitable
        else "No size is better than both of its neighbours.",
    ]
    if result.p_stopping is not None:
        sentences.append(
            "Somebody who may look at the score after every case, and stop when it suits, passes with a probability of "
            f"{_percent(result.p_stopping)}."
        )
    if result.preferred:
        sentences.append(f"Sizes for an auditor to prefer: n = {_some(result.preferred)}.")
    return sentences, {
        "curve": list(chances.items()),
        "goal": None,
        "marks": [[n, chances[n], ""] for n in result.exploitable],
        "axis": "number of cases",
        "caption": "The probability to pass, by number of cases. Dots are better than both of their neighbours.",
        "low": 0,
        "high": 1,
    }


def _by_score(plan: Plan, marks: list[Any]) -> dict[str, Any] | None:
    """The power by true score; none if every point would take long."""
    if plan.test == "mid-p":
        return None
    goal = "" if plan.target is None else f" The dashed line is at {plan.target:g}."
    return {
        "curve": list(zip(*plan.profile(), strict=True)),
        "goal": plan.target,
        "marks": marks,
        "axis": f"true {plan.metric.key}",
        "caption": "The probability to find a difference, by the group’s true score. The reference’s score is "
        f"{plan.reference_score:.3g}.{goal}",
        "low": 0,
        "high": 1,
    }


def _tested(plan: Plan) -> list[str]:
    """How it was tested, and whether it was simulated."""
    who = "known rates" if plan.reference_n is None else f"a reference of {several(plan.reference_n, 'case')}"
    test = plan.test_name.replace("'", "’")
    tested = f"Tested by {test} at the level {plan.alpha:g}, against {who} with a score of {plan.reference_score:.4g}."
    if plan.method == "exact":
        return [tested]
    return [
        tested,
        f"The probability comes from a simulation, with a standard error of {100 * plan.error:.2g} points.",
    ]


def _called(m: Metric) -> str:
    return f"{m.name} ({m.key})"


def _signed(value: float | None) -> str:
    return f"{value:+.4g}"


def _percent(p: float | None, target: float | None = None) -> str:
    """A percentage that says 0 and 100 only of what is, and on which side of a target it is."""
    p = p or 0.0
    if 0 < p < 1e-5:
        return "less than 0.001%"
    if 0.9995 <= p < 1:
        return "more than 99.9%"
    shown = decided(100 * p, [] if target is None else [100 * target], lambda more: f"{100 * p:.{3 + more}g}")
    return f"{shown}%"


def _some(sizes: Sequence[int]) -> str:
    more = len(sizes) - _MOST_LISTED
    return ", ".join(map(str, sizes[:_MOST_LISTED])) + (f" and {more} more" if more > 0 else "")


_QUESTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...], Callable[[Any], Told]]] = {
    "size": (sample_size, ("difference", "power", "alpha"), _tell_size),
    "detect": (detectable_difference, ("n", "power", "alpha"), _tell_detectable),
    "power": (power, ("n", "difference", "alpha"), _tell_power),
    "jagged": (jaggedness, ("sizes",), _tell_jagged),
    "exploit": (exploitable_sizes, ("threshold", "sizes"), _tell_exploitable),
}
