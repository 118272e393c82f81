"""What cases, outcomes and decisions are called: in the words of the audit, or in generic ones.

An outcome or a decision is what follows "were", such as "charged again", or a pair of clauses for
positive and negative cases, such as ("repaid", "did not repay").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..metrics import Direction, Metric, Prediction
from ..wording import several

Settings = Mapping[str, Any]


def to_clauses(given: str | list[str] | tuple[str, str]) -> tuple[str, str]:
    """The clauses for positive and negative cases.

    >>> to_clauses("charged again")
    ('were charged again', 'were not charged again')
    """
    if isinstance(given, str):
        return f"were {given}", f"were not {given}"
    positive, negative = given
    return positive, negative


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an audit; ``clauses`` has what each kind of cases, such as "actual positive", were or did."""

    cases: str
    pronoun: str
    clauses: Mapping[str, str]

    @classmethod
    def of(cls, settings: Settings) -> Words:
        """The words that the settings of an audit give."""
        wording = settings.get("wording") or {}
        cases, pronoun = wording.get("cases", "cases"), "who" if "cases" in wording else "that"
        for word in ("that", "which", "who"):
            if cases.endswith(f" {word}"):
                cases, pronoun = cases.removesuffix(f" {word}"), word
        clauses: dict[str, str] = {}
        for name, kind in (("outcome", "actual"), ("decision", "predicted")):
            if given := wording.get(name):
                positive, negative = to_clauses(given)
                clauses |= {f"{kind} positive": positive, f"{kind} negative": negative}
        return cls(cases, pronoun, clauses)

    def count(self, n: int) -> str:
        """A number of cases, such as "7,214 defendants"."""
        return several(n, self.cases.removesuffix("s"), self.cases)

    def clause(self, kind: str) -> str:
        """What cases of a kind, as the catalogue calls it, "were" or did; "" without words."""
        return self.clauses.get(kind.replace("actually", "actual").removesuffix("s"), "")

    def counted(self, metric: object) -> str:
        """What the counted cases of a rate have in common, with its verb; "" for other scores."""
        counted = counted_property(metric)
        return (self.clause(counted) or f"were {counted}") if counted else ""

    def denominator(self, metric: object) -> str:
        """The cases that a score is a share of, after their number: "of the 1,795 not charged again".

        With clauses it has a noun, "applicants who repaid"; "" if these are all cases.
        """
        name = _name_denominator(metric)
        kinds = ("actual positives", "predicted positives") if " or " in name else (name,)
        clauses = [self.clause(kind) for kind in kinds]
        if not all(clauses):
            return name
        noun = f"{self.cases} {self.pronoun} "
        return " or ".join(f"{noun}{clause}".removeprefix(f"{noun}were ") for clause in clauses)

    def whole(self, metric: object) -> str:
        """The same with a noun, after a number: "265 more defendants charged again"."""
        part = self.denominator(metric)
        has_noun = part == _name_denominator(metric) or part.startswith(self.cases)
        return (part if has_noun else f"{self.cases} {part}") or self.cases

    def title(self, metric: Any) -> str:
        """A short heading for a metric, such as "Called risky, of those charged again"."""
        if not self.clauses or not counted_property(metric):
            return str(metric.name)
        part = self.denominator(metric).removeprefix(f"{self.cases} ")
        title = self.counted(metric).removeprefix("were ") + (f", of those {part}" if part else "")
        return title[0].upper() + title[1:]

    def favourable(self, prediction: Prediction) -> str:
        """The favourable decision, such as "not called risky"."""
        kind = f"predicted {prediction}"
        return (self.clause(kind) or kind).removeprefix("were ")


def counted_property(metric: object) -> str | None:
    """What the counted cases of a rate have in common in the catalogue, such as "predicted positive"."""
    counted: str | None = getattr(metric, "counted", None)
    return counted


def _name_denominator(metric: object) -> str:
    """What the catalogue calls the cases of the first denominator; "" for all cases."""
    parts = metric.base.denominators if isinstance(metric, Metric) else ()
    return parts[0].name if parts and parts[0].name != "cases" else ""


def harmful_direction(metric: object, favourable: Prediction | None) -> Direction | None:
    """The direction in which a score is worse for a group's people; None where that is not said.

    It is said of selection rates, and of the error rates whose errors are unfavourable: the false
    positive rate if negative predictions are favourable, the false negative rate if positive ones are.
    """
    if favourable is None or not isinstance(metric, Metric) or metric.is_distance:
        return None
    base = metric.base
    if base.given_prediction is not None:
        return "lower" if base.given_prediction == favourable else "higher"
    is_of_outcomes = _name_denominator(base) in ("actual positives", "actual negatives")
    if base.error is None or not is_of_outcomes:
        return None
    wrong_prediction, more_errors = base.error
    return None if wrong_prediction == favourable else more_errors
