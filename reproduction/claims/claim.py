"""A claim of the paper, how it is checked, and the verdict.

Claims are judged as the paper words them. A claim about a metric is judged on the error averaged over the ten groups,
which is what the paper plots; a claim about every experiment is judged on every group. A claim "holds with a condition"
if it is false as it stands but true on a condition, or on one of two readings, that its values show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getsource
from typing import Any, Literal

from ..study import Study

Verdict = Literal["holds", "holds with a condition", "does not hold"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a claim and the values that it rests on."""

    verdict: Verdict
    values: Mapping[str, object]


def judge(holds: bool, *, on_condition: bool = False, **values: object) -> Outcome:
    """The verdict on a claim that is true as stated, true only on a condition, or false."""
    if holds:
        return Outcome("holds", values)
    return Outcome("holds with a condition" if on_condition else "does not hold", values)


@dataclass(frozen=True, slots=True)
class Claim:
    """A paraphrased statement, where it stands in the paper (with its erratum, if any), and how it is checked.

    ``check`` takes the study and the arguments, computes the values and applies the rule of the verdict. ``numbers``
    is the sentence that shows the values.
    """

    name: str
    where: str
    statement: str
    numbers: str
    check: Callable[..., Outcome]
    arguments: Mapping[str, Any]

    @property
    def code(self) -> str:
        """The source of the check."""
        return getsource(self.check).rstrip()


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, the verdict on it, and the sentence with the numbers."""

    claim: Claim
    verdict: Verdict
    numbers: str


def check_claim(claim: Claim, study: Study) -> CheckedClaim:
    """Check a claim and write the sentence with its numbers."""
    outcome = claim.check(study, **claim.arguments)
    counts = {"n_metrics": len(study.metrics), "n_groups": len(study.groups), "n_sizes": len(study.sizes)}
    numbers = claim.numbers.format(study=study, **counts, **outcome.values)
    return CheckedClaim(claim, outcome.verdict, numbers)


def join_values(template: str, values: Mapping[Any, object]) -> str:
    """Write values one after the other; in the template, {0} is a key and {1} its value."""
    return ", ".join(template.format(*item) for item in values.items())
