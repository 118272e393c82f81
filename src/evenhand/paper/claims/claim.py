"""A claim of the paper, and the check that says at run time whether it holds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..study import Study

__all__ = ["Claim", "Outcome", "Verdict", "graded"]

Verdict = Literal["holds", "holds with a condition", "does not hold"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found: the verdict, and the numbers it rests on."""

    verdict: Verdict
    numbers: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says and where, in our words, and the function that checks it; `erratum` if we list one."""

    where: str
    says: str
    check: Callable[[Study], Outcome]
    erratum: str = ""

    @property
    def code(self) -> str:
        """The source of the check."""
        return inspect.getsource(self.check).rstrip()


def graded(always: bool, numbers: str, *, given: bool = False) -> Outcome:
    """``always`` it holds; or ``given`` the condition that the numbers name; or it does not."""
    return Outcome("holds" if always else "holds with a condition" if given else "does not hold", numbers)
