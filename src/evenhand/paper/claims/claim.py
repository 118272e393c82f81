"""A claim of the paper and the check that decides at run time whether it holds.

Claims are judged as the paper words them. A claim about a metric is judged on the error averaged over the ten groups,
which is what the paper plots; a claim about every experiment is judged on every group. A claim "holds with a condition"
if it is false as it stands but true on a condition, or on one of two readings, that the check computes and reports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Literal

from ..study import Study

__all__ = ["CheckedClaim", "Claim", "Outcome", "Verdict", "grade"]

Verdict = Literal["holds", "holds with a condition", "does not hold"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of a check and the numbers it rests on."""

    verdict: Verdict
    numbers: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A paraphrased statement of the paper, its place, the check, and the erratum that discusses it, if any."""

    where: str
    statement: str
    check: Callable[[Study], Outcome]
    erratum: str = ""

    @property
    def code(self) -> str:
        """The source of the check and of the functions of its module that it calls."""
        return "\n\n\n".join(inspect.getsource(function).rstrip() for function in _with_helpers(self.check))


def _with_helpers(check: Callable[..., object]) -> list[FunctionType]:
    """The function and, recursively, the functions of its module whose names occur in its code."""
    functions: list[FunctionType] = []
    pending: list[object] = [check]
    while pending:
        function = pending.pop(0)
        if isinstance(function, FunctionType) and function.__module__ == check.__module__ and function not in functions:
            functions.append(function)
            pending += [function.__globals__.get(name) for name in _names(function.__code__)]
    return functions


def _names(code: CodeType) -> list[str]:
    nested = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return [*code.co_names, *(name for inner in nested for name in _names(inner))]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim and the outcome of its check."""

    claim: Claim
    outcome: Outcome


def grade(as_stated: bool, numbers: str, *, on_condition: bool = False) -> Outcome:
    """The outcome of a check that found the claim true ``as_stated``, true only ``on_condition``, or false."""
    verdict: Verdict = "holds" if as_stated else "holds with a condition" if on_condition else "does not hold"
    return Outcome(verdict, numbers)
