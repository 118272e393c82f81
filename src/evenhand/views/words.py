"""What cases, outcomes and decisions are called: in the words of who made the audit, or generic ones.

An outcome or a decision is given as what follows "were", such as "charged again", or as two clauses for positive and
negative cases, such as "repaid" and "did not repay". Metrics speak of actual and predicted positives; here they are
spelled out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..metrics import Direction, Metric, Prediction
from ..wording import several

Clauses = tuple[str, str]
_GENERIC = {
    "outcome": ("were actually positive", "were actually negative"),
    "decision": ("were predicted positive", "were predicted negative"),
}
_COUNTED = {
    "actually positive": ("outcome", 0),
    "actually negative": ("outcome", 1),
    "predicted positive": ("decision", 0),
    "predicted negative": ("decision", 1),
}
_WHOLES = {
    "actual positives": (("outcome", 0),),
    "actual negatives": (("outcome", 1),),
    "predicted positives": (("decision", 0),),
    "predicted negatives": (("decision", 1),),
    "actual or predicted positives": (("outcome", 0), ("decision", 0)),
}


def clauses(given: Any) -> Clauses | None:
    """The clauses for positive and negative cases of an outcome or a decision; None if nothing was given.

    >>> clauses("charged again")
    ('were charged again', 'were not charged again')
    >>> clauses(["repaid", "did not repay"])
    ('repaid', 'did not repay')
    """
    if given is None:
        return None
    if isinstance(given, str):
        return f"were {given}", f"were not {given}"
    positive, negative = given
    return str(positive), str(negative)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an audit."""

    cases: str
    pronoun: str
    outcome: Clauses
    decision: Clauses
    own: bool

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Words:
        """The words that the settings of an audit give."""
        given = settings.get("wording") or {}
        cases, pronoun = given.get("cases", "cases"), "who" if "cases" in given else "that"
        for word in ("that", "which", "who"):
            if cases.endswith(f" {word}"):
                cases, pronoun = cases.removesuffix(f" {word}"), word
        outcome, decision = (clauses(given.get(name)) for name in ("outcome", "decision"))
        return cls(
            cases,
            pronoun,
            outcome or _GENERIC["outcome"],
            decision or _GENERIC["decision"],
            bool(given),
        )

    def several(self, n: int) -> str:
        """A number of cases, such as "7,000 defendants"."""
        return several(n, "case") if n == 1 else f"{n:,} {self.cases}"

    def whole(self, m: Any, group: str = "", many: bool = True) -> str:
        """The cases that a score is a share of, such as "actual positives", in a group if one is named."""
        part = m.base.denominator if isinstance(m, Metric) else None
        return self.part(part.name if part else "", group, many)

    def part(self, name: str, group: str = "", many: bool = True) -> str:
        """A part of the cases, such as "actual positives", in a group if one is named."""
        if not self.own and name:
            said = name if many else name.removesuffix("s")
            return f"{said} in {group}" if group else said
        noun = self.cases if many else self.cases.removesuffix("s")
        if group.casefold().endswith(f" {self.cases.casefold()}"):
            # The name of the group says who they are.
            said = group
        else:
            said = f"{noun} in {group}" if group else noun
        each = (self._clause(*one) for one in _WHOLES.get(name, ()))
        which = " or ".join(each if many else map(_one, each))
        if not which:
            return said if name in ("", "cases", *_WHOLES) else f"{said} ({name})"
        return f"{said} {self.pronoun} {which}"

    def counted(self, m: Any, n: int = 2) -> str | None:
        """What the counted cases of a rate have in common, with its verb; None for other scores."""
        said: str | None = getattr(m, "counted", None)
        if said is None:
            return None
        clause = self._clause(*_COUNTED[said]) if said in _COUNTED else f"were {said}"
        if not self.own:
            clause = f"were {said}"
        return _one(clause) if n == 1 else clause

    def description(self, m: Any) -> str:
        """What a metric means for a person, in one line."""
        counted = self.counted(m)
        if not self.own or counted is None or not isinstance(m, Metric) or m.comparisons:
            return str(m.description)
        of = f"Of {self.whole(m)}, how many" if m.base.denominator else f"How many {self.cases}"
        return f"{of} {counted}"

    def decided(self, favourable: str) -> str:
        """The favourable decision, with its verb."""
        return self.decision[0 if favourable == "positive" else 1]

    def _clause(self, what: str, which: int) -> str:
        found: Clauses = getattr(self, what)
        return found[which]


def _one(clause: str) -> str:
    """A clause about one case."""
    return f"was {clause.removeprefix('were ')}" if clause.startswith("were ") else clause


def harmful_direction(m: Metric, favourable: Prediction | None) -> Direction | None:
    """The direction in which a group's score is worse for its people than another's; None if there is none.

    With a base rate, an error in people's favour or a score that is best in the middle there is none; nor is it known
    for rates of predictions and errors until the favourable prediction is.
    """
    base = m.base
    if m.is_distance:
        return "higher"
    if base.given_prediction is not None:
        return None if favourable is None else "lower" if base.given_prediction == favourable else "higher"
    if base.error is None:
        return {"higher": "lower", "lower": "higher"}.get(base.better)  # type: ignore[return-value]
    wrong, more = base.error
    # A predictive value also changes if more people have the other outcome.
    is_predictive_value = base.denominators[0].cells in (("tp", "fp"), ("fn", "tn"))
    return None if favourable in (None, wrong) or is_predictive_value else more


def direction_text(m: Any, favourable: Prediction | None) -> str:
    """Which direction is better, and what errors do to the person; a sentence without its full stop."""
    if isinstance(m, Metric) and m.comparisons:
        return f"{m.null_value(0.0):g} means no gap"
    base = m.base if isinstance(m, Metric) else None
    if base is not None and base.is_base_rate:
        return "A fact about the people, neither good nor bad"
    if base is not None and base.given_prediction is not None and favourable is not None:
        prefix = "" if base.given_prediction == favourable else "un"
        return f"Higher means that more people get the {prefix}favourable prediction"
    if m.better == "neither":
        own = getattr(m, "function", None) is not None
        return "Which way is better is for its author to say" if own else "Neither way is better by itself"
    if base is None or base.error is None or favourable is None:
        return f"{m.better.capitalize()} is better"
    effect = "harm" if base.error[0] != favourable else "favour"
    return f"{m.better.capitalize()} is more often right; errors {effect} the person"
