"""What cases, outcomes and decisions are called: in the words of the audit, or in generic ones.

An outcome or a decision is what follows "were", such as "charged again", or a pair of clauses for
positive and negative cases, such as ("repaid", "did not repay").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..metrics import Direction, Metric, Prediction
from ..wording import several

Side = Literal["outcome", "decision"]
_SIDES: dict[str, tuple[Side, int]] = {
    "actual positives": ("outcome", 0),
    "actual negatives": ("outcome", 1),
    "predicted positives": ("decision", 0),
    "predicted negatives": ("decision", 1),
    "actually positive": ("outcome", 0),
    "actually negative": ("outcome", 1),
    "predicted positive": ("decision", 0),
    "predicted negative": ("decision", 1),
}


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
    """The words of an audit; outcome and decision are None where generic words are used."""

    cases: str
    pronoun: str
    outcome: tuple[str, str] | None
    decision: tuple[str, str] | None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Words:
        """The words that the settings of an audit give."""
        wording = settings.get("wording") or {}
        cases, pronoun = wording.get("cases", "cases"), "who" if "cases" in wording else "that"
        for word in ("that", "which", "who"):
            if cases.endswith(f" {word}"):
                cases, pronoun = cases.removesuffix(f" {word}"), word
        sides = [
            wording.get(name) and to_clauses(wording[name]) for name in ("outcome", "decision")
        ]
        return cls(cases, pronoun, *sides)

    def count(self, n: int) -> str:
        """A number of cases, such as "7,214 defendants"."""
        return several(n, self.cases.removesuffix("s"), self.cases)

    def clause(self, side: Side, index: int) -> str | None:
        """What positive (0) or negative (1) cases "were" or did; None without words."""
        clauses = self.outcome if side == "outcome" else self.decision
        return clauses and clauses[index]

    def counted(self, metric: Metric) -> str | None:
        """What the counted cases of a rate have in common, with its verb; None for other scores."""
        counted = counted_property(metric)
        if counted is None:
            return None
        side = _SIDES.get(counted)
        return (side and self.clause(*side)) or f"were {counted}"

    def denominator(self, metric: Any) -> str:
        """The cases that a score is a share of, after their number: "of the 1,795 not charged again".

        With clauses it has a noun, "applicants who repaid"; "" if these are all cases.
        """
        name = _name_denominator(metric)
        parts = ["actual positives", "predicted positives"] if " or " in name else [name]
        clauses = [self.clause(*_SIDES[part]) if part in _SIDES else None for part in parts]
        texts = [
            clause.removeprefix("were ")
            if clause.startswith("were ")
            else f"{self.cases} {self.pronoun} {clause}"
            for clause in clauses
            if clause is not None
        ]
        return " or ".join(texts) if len(texts) == len(parts) else name

    def whole(self, metric: Any) -> str:
        """The same with a noun, after a number: "265 more defendants charged again"."""
        part = self.denominator(metric)
        has_noun = part == _name_denominator(metric) or part.startswith(self.cases)
        return (part if has_noun else f"{self.cases} {part}") or self.cases

    def title(self, metric: Any) -> str:
        """A short heading for a metric, such as "Called risky, of those charged again"."""
        clause = (
            self.counted(metric) if isinstance(metric, Metric) and not metric.comparisons else None
        )
        if clause is None or (self.decision is None and self.outcome is None):
            return str(metric.name)
        title = clause.removeprefix("were ")
        part = self.denominator(metric)
        those = part.removeprefix(f"{self.cases} ")
        title += f", of those {those}" if part else ""
        return title[0].upper() + title[1:]

    def favourable(self, prediction: Prediction) -> str:
        """The favourable decision, such as "not called risky"."""
        clause = self.clause("decision", 0 if prediction == "positive" else 1)
        return (clause or f"predicted {prediction}").removeprefix("were ")


def counted_property(metric: Any) -> str | None:
    """What the counted cases of a rate have in common in the catalogue, such as "predicted positive"."""
    counted: str | None = getattr(metric, "counted", None)
    return counted


def _name_denominator(metric: Any) -> str:
    """What the catalogue calls the cases of the first denominator; "" for all cases."""
    parts = metric.base.denominators if isinstance(metric, Metric) else ()
    return parts[0].name if parts and parts[0].name != "cases" else ""


def harmful_direction(metric: Any, favourable: Prediction | None) -> Direction | None:
    """The direction in which a score is worse for a group's people; None where that is not said.

    It is said of selection rates, and of the error rates whose errors are unfavourable: the false
    positive rate if negative predictions are favourable, the false negative rate if positive ones are.
    """
    if favourable is None or not isinstance(metric, Metric) or metric.is_distance:
        return None
    base = metric.base
    if base.given_prediction is not None:
        return "lower" if base.given_prediction == favourable else "higher"
    is_of_outcomes = base.denominators[0].name in ("actual positives", "actual negatives")
    if base.error is None or not is_of_outcomes:
        return None
    wrong_prediction, more_errors = base.error
    return None if wrong_prediction == favourable else more_errors
