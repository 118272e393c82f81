"""The scores of all cases together, beside which those of groups are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from ..records import Record, read_record
from ..tabulate import RoundedMatrix, Slice, Tally, ends_of, total
from ..wording import Few, number
from .comparisons import Comparison, Grouped
from .measures import Measures
from .rounded_measures import in_steps
from .rows import Estimate, Place
from .settings import ReferenceKind

__all__ = ["Overall", "overall_of", "read_overall"]

_CORRECT = {"acc": (0, 3), "inacc": (1, 2)}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overall(Record):
    """The score of all cases together, those without a known group included.

    Attributes
    ----------
    at : dict of str to object
        Where on the axes it is, as for `Row`.
    metric : str
        The key of the metric.
    n : int
        The number of cases.
    score : Estimate
        The score and its interval; of models, its change.
    constant : float or None
        For accuracy, what always predicting the commoner outcome would score.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics=["acc", "tpr"])
    >>> print(a.overall[0])
    acc 0.779; always predicting the commoner outcome: 0.613
    """

    at: Place
    metric: str
    n: int
    score: Estimate
    constant: float | None = None

    def in_few_digits(self) -> Overall:
        """The same of rounded counts, written with no more decimals than the numbers have.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (20, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="acc", protect=5).overall[0].n
        1071
        """
        value, constant = (None if one is None else Few(one) for one in (self.score.value, self.constant))
        return replace(self, score=replace(self.score, value=value), constant=constant)

    @property
    def scored(self) -> str:
        """The metric and its score or, of models, how it changes.

        Examples
        --------
        >>> Overall(at={}, metric="acc", n=8, score=Estimate(value=0.25, before=0.5)).scored
        'acc +0.250 (from 0.500 to 0.750)'
        """
        score = self.score
        if score.value is None:
            return f"{self.metric} undefined"
        if score.after is None:
            return f"{self.metric} {number(score.value)}"
        return f"{self.metric} {score.value:+.3f} (from {number(score.before)} to {number(score.after)})"

    def __str__(self) -> str:
        constant = "" if self.constant is None else f"; always predicting the commoner outcome: {number(self.constant)}"
        return f"{self.scored}{constant}"


def overall_of(tally: Tally, measured: Callable[[list[Grouped]], Sequence[Measures]]) -> tuple[Overall, ...]:
    """The scores of all cases at every place; ``measured`` gives the measures of parts of the audit."""
    parts = [Grouped(one.of, one.at, [], [_everybody(one, tally.labelled)]) for one in tally.slices]
    places = {id(part.comparisons[0]): i for i, part in enumerate(parts)}
    found = [
        (places[id(who)], _overall(some, i))
        for some in measured(parts)
        if not getattr(some.metric, "comparisons", ())
        for i, who in enumerate(some.comparisons)
    ]
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))


def _everybody(one: Slice, labelled: bool) -> Comparison:
    """All cases of a slice, compared with nobody."""
    everybody = total(one.parts.values())
    who = Comparison(one.at, "", "", everybody, ReferenceKind.GROUP, "", everybody - everybody, is_reference=True)
    return replace(who, labelled=labelled and one.of != "selections")


def _overall(measures: Measures, i: int) -> Overall:
    key, who = measures.metric.key, measures.comparisons[i]
    values = (measures.score[i], measures.low[i], measures.high[i], measures.before[i])
    score, low, high, before = (float(value) if isfinite(value) else None for value in values)
    constant = None
    if key in _CORRECT and isinstance(who.own, ConfusionMatrix) and who.labelled and who.own.n:
        positive = (who.own.tp + who.own.fn) / who.own.n
        constant = max(positive, 1 - positive) if key == "acc" else min(positive, 1 - positive)
        if isinstance(who.own, RoundedMatrix):
            fewest, most = map(sum, ends_of(who.own))
            reach = (most - fewest) / who.own.n / 2
            constant = in_steps(constant, constant - reach, constant + reach)
    return Overall(
        at=dict(who.at),
        metric=key,
        n=int(who.own.n),
        score=Estimate(value=score, low=low, high=high, before=before),
        constant=constant,
    )


def read_overall(values: Any, what: str) -> Overall:
    """What `to_dict` gave, checked; ``what`` is it in error messages."""
    found = read_record(Overall, values, what)
    if found.n < 0:
        raise InvalidInput(f"n of {what} must not be negative; got {found.n}")
    return found
