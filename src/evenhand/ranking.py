"""The area under the ROC curve of one group, and a test that two groups' areas are equal.

For many groups at once, and for the Brier score and the log loss, use `evenhand.audit`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan
from typing import Any, get_args

import numpy as np

from .cells import is_sequence
from .errors import InvalidInput, UnknownName
from .inference import (
    AREA_INTERVAL,
    Alternative,
    PValue,
    chance_test,
    check_level,
    ranking_gap,
    ranking_score,
    ties_of,
)
from .randomness import Rng, check_draws, generator, seed_of
from .records import Record
from .tabulate import Answers, Rows, RowTable, tabulated
from .wording import number, percent, pvalue, several

__all__ = ["AreaTest", "AreaUnderCurve", "auc", "auc_test"]

_ALTERNATIVES = {
    "two-sided": "different from chance",
    "greater": "better than chance",
    "less": "worse than chance",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AreaUnderCurve(Record):
    """The area under the ROC curve of a group, with an interval and a test of chance.

    Attributes
    ----------
    estimate : float
        The share of pairs of a positive and a negative case in which the positive has the higher score; ties count
        half. nan if a class has no cases.
    low, high : float
        The interval.
    level : float
        Its level.
    interval_method : str
        How the interval was computed.
    n, positives, negatives : int
        The numbers of cases.
    pvalue : float
        Of the test that labels have nothing to do with scores.
    alternative : str
        The alternative of the test.
    method : str
        How the p-value was computed: exact, by permutation, or by a normal approximation.
    error : float or None
        Its standard error, if it is simulated.
    rng : int or None
        The source of the simulation, if it is an int.
    reason : str or None
        Why the area is undefined.

    Examples
    --------
    >>> print(auc([0, 0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.7]))
    AUC 1.000, 95 % interval 0.439 to 1.000, of 2 positives and 3 negatives
      p-value    = 0.200 (alternative: different from chance)
      method     exact
      interval   Newcombe's score interval, approximate
    """

    estimate: float
    low: float
    high: float
    level: float
    interval_method: str
    n: int
    positives: int
    negatives: int
    pvalue: float
    alternative: Alternative
    method: str
    error: float | None
    rng: int | None
    reason: str | None

    def __str__(self) -> str:
        of = f"of {several(self.positives, 'positive')} and {several(self.negatives, 'negative')}"
        if self.reason:
            return f"AUC undefined: {self.reason}, {of}"
        ends = f"{percent(self.level)} interval {number(self.low)} to {number(self.high)}"
        error = "" if self.error is None else f", standard error {self.error:.2g}"
        return "\n".join(
            [
                f"AUC {number(self.estimate)}, {ends}, {of}",
                f"  p-value    {pvalue(self.pvalue)} (alternative: {_ALTERNATIVES[self.alternative]})",
                f"  method     {self.method}{error}",
                f"  interval   {self.interval_method}",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AreaTest(Record):
    """The comparison of two groups' areas under the ROC curve.

    Attributes
    ----------
    score, reference_score : float
        The areas of the group and of the reference; nan if undefined.
    n, n_reference : int
        Their numbers of cases.
    difference, low, high : float
        The group's area minus the reference's, and its interval, which is approximate; nan if there is none.
    level : float
        The level of the interval.
    pvalue : float
        Of the test that the two true areas are equal.
    method : str
        ``"permutation"``, or the approximation that was used instead.
    draws : int
        The number of permutations.
    rng : int or None
        The source of the permutations, if it is an int.
    error : float or None
        The standard error of the p-value, if it is simulated.
    reason : str or None
        Why the areas cannot be compared.

    Examples
    --------
    >>> found = auc_test([0, 1, 0, 1], [0.2, 0.6, 0.4, 0.3], [0, 1, 0, 1, 1], [0.1, 0.9, 0.2, 0.7, 0.8])
    >>> found.score, found.reference_score, found.method
    (0.75, 1.0, 'permutation')
    """

    score: float
    reference_score: float
    n: int
    n_reference: int
    difference: float
    low: float
    high: float
    level: float
    pvalue: float
    method: str
    draws: int
    rng: int | None
    error: float | None
    reason: str | None

    def __str__(self) -> str:
        head = f"AUC of a group of {self.n:,} against a reference of {self.n_reference:,}"
        if self.reason:
            return f"{head}\n  undefined   {self.reason}"
        ends = f"{percent(self.level)} interval {number(self.low)} to {number(self.high)}"
        error = "" if self.error is None else f", {several(self.draws, 'draw')}, standard error {self.error:.2g}"
        return "\n".join(
            [
                head,
                f"  score       {number(self.score)}",
                f"  reference   {number(self.reference_score)}",
                f"  difference  {number(self.difference)}, {ends}, approximate",
                f"  p-value     {pvalue(self.pvalue)} (two-sided)",
                f"  method      {self.method}{error}",
            ]
        )


def auc(
    y_true: Iterable[object],
    y_score: Iterable[object],
    *,
    positive: object = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    rng: Rng = 0,
) -> AreaUnderCurve:
    """The area under the ROC curve, with an interval and an exact test of chance.

    The test is the rank-sum test (Mann and Whitney) given the ties, by counting all choices of positives. Where that
    would take more than about a second, it is simulated if one class has fewer than 50 cases, and otherwise a normal
    approximation; ``method`` says which. With two distinct scores it is always exact.

    Parameters
    ----------
    y_true : sequence
        Labels of two classes, without missing values.
    y_score : sequence
        Numbers that are higher for cases that are rather positive, such as probabilities.
    positive : label or list of labels, optional
        The positive label; inferred if that is unambiguous.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"`` asks whether the scores are better than chance.
    level : float
        The level of the interval. Its coverage is approximate; ``docs/how-to/scores.md`` shows what was measured.
    rng : int, numpy.random.Generator or None
        Where random numbers come from, if the p-value is simulated.

    Returns
    -------
    AreaUnderCurve
        The area; undefined, with the reason, if there are no cases of one class.

    Examples
    --------
    >>> found = auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], alternative="greater")
    >>> found.estimate, round(found.pvalue, 4), found.method
    (0.75, 0.3333, 'exact')
    >>> print(auc(["yes", "yes"], [0.1, 0.4], positive="yes"))
    AUC undefined: no actual negatives, of 2 positives and 0 negatives
    """
    check_level(level)
    if alternative not in get_args(Alternative):
        raise UnknownName.among("alternative", alternative, get_args(Alternative))
    source = generator(rng)
    labels, scores = _sized("y_true", y_true), _sized("y_score", y_score)
    _check_lengths("y_true", labels, "y_score", scores)
    rows = _read(labels, scores, [0] * len(labels), positive)
    found = ranking_score("auc", rows.columns["positive"], rows.columns["y_score"], level)
    tested = PValue(nan, "none", None)
    if found.reason is None:
        tested = chance_test(ties_of(rows.columns["positive"], rows.columns["y_score"]), alternative, source)
    positives = int(np.count_nonzero(rows.columns["positive"]))
    return AreaUnderCurve(
        estimate=found.score,
        low=found.low,
        high=found.high,
        level=level,
        interval_method=AREA_INTERVAL,
        n=len(rows.columns["positive"]),
        positives=positives,
        negatives=len(rows.columns["positive"]) - positives,
        alternative=alternative,
        rng=None if tested.error is None else seed_of(rng),
        reason=found.reason,
        **tested._asdict(),
    )


def auc_test(
    y_true: Iterable[object],
    y_score: Iterable[object],
    reference_true: Iterable[object],
    reference_score: Iterable[object],
    *,
    positive: object = None,
    level: float = 0.95,
    draws: int = 9_999,
    rng: Rng = 0,
) -> AreaTest:
    """Test that two groups' areas under the ROC curve are equal.

    Groups exchange positives with positives and negatives with negatives at random, so that base rates do not matter.
    The difference of areas is divided by its standard error (DeLong). The test is exact, but for simulation, if the
    scores of each class have the same law in both groups, and approximate if only the areas are equal. Where the draws
    would take more than a few seconds, an approximation is used instead, and ``method`` says which: DeLong's normal one
    or, if a side has fewer than 50 cases of a class, a permutation of these.

    Parameters
    ----------
    y_true, y_score : sequence
        Labels and scores of the group, without missing values.
    reference_true, reference_score : sequence
        Those of the reference, which has no case of the group.
    positive : label or list of labels, optional
        The positive label; inferred if that is unambiguous.
    level : float
        The level of the interval of the difference, which combines the two groups' own intervals (Newcombe).
    draws : int
        The number of permutations.
    rng : int, numpy.random.Generator or None
        Where random numbers come from; the same int gives the same result.

    Returns
    -------
    AreaTest
        The comparison; undefined, with the reason, if a group has no cases of one class.

    Examples
    --------
    >>> print(auc_test([1, 1], [0.2, 0.6], [0, 1, 0], [0.1, 0.9, 0.2]))
    AUC of a group of 2 against a reference of 3
      undefined   the group has no actual negatives
    """
    check_level(level)
    draws, source = check_draws(draws), generator(rng)
    own, own_scores = _side(y_true=y_true, y_score=y_score)
    others, other_scores = _side(reference_true=reference_true, reference_score=reference_score)
    rows = _read(own + others, own_scores + other_scores, [0] * len(own) + [1] * len(others), positive)
    found = ranking_gap(
        "auc", rows.of == 0, rows.columns["positive"], rows.columns["y_score"], level=level, draws=draws, rng=source
    )
    return AreaTest(
        score=found.group.score,
        reference_score=found.reference.score,
        n=len(own),
        n_reference=len(others),
        difference=found.gap,
        low=found.low,
        high=found.high,
        level=level,
        pvalue=found.pvalue,
        method=found.method,
        draws=draws,
        rng=seed_of(rng),
        error=found.error,
        reason=found.reason,
    )


def _sized(name: str, given: Any) -> Any:
    """The values, in a list if they have no length."""
    if not is_sequence(given):
        raise InvalidInput(argument=name, must="be a sequence of values", got=given)
    given = given if hasattr(given, "__iter__") else np.asarray(given)
    return given if hasattr(given, "__len__") else list(given)


def _side(**given: Any) -> list[list[Any]]:
    """The labels and the scores of a group, as lists."""
    columns: dict[str, list[Any]] = {}
    for name, column in given.items():
        values = np.asarray(column) if hasattr(column, "__array__") and not hasattr(column, "__iter__") else column
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") or len(getattr(values, "shape", ())) > 1:
            raise InvalidInput(argument=name, must="be one column of values")
        columns[name] = list(values.tolist()) if hasattr(values, "tolist") else list(values)
    (labels, one), (scores, other) = columns.items()
    _check_lengths(labels, one, scores, other)
    if not one:
        raise InvalidInput(argument=labels, must="contain at least one label; got none")
    return [one, other]


def _check_lengths(first: str, one: Any, second: str, other: Any) -> None:
    if len(one) != len(other):
        raise InvalidInput(f"`{first}` and `{second}` must have the same length; got {len(one)} and {len(other)}")


def _read(labels: Any, scores: Any, groups: list[int], positive: object) -> RowTable:
    """The cases; none may lack a label or a score."""
    answers = Answers(y_true=labels, y_score=scores, positive={"positive": positive})
    tally = tabulated(None, groups, answers, {"ranking"})
    for what, cases in tally.left_out.items():
        which, those = ("row has", "it") if cases == 1 else ("rows have", "them")
        raise InvalidInput(f"{cases:,} {which} no {what.replace(' and ', ' and no ')}; drop {those} first")
    first: Rows = next(iter(tally.slices[0].parts.values()))
    return first.table
