"""The area under the ROC curve of one group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from ..auditing import number, pvalue
from ..cells import is_sequence
from ..errors import InvalidInput
from ..records import Record
from ..tabulate import ScoredRows, scored_rows
from .checks import check_level, check_seed
from .ranks import Alternative, area, area_interval, chance_test, check_alternative, ties_of

__all__ = ["AREA_INTERVAL", "AreaUnderCurve", "auc", "lacking", "without_missing"]

AREA_INTERVAL = "Newcombe's score interval, approximate"
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
    error : float
        Its standard error: 0 if it is exact, nan if it is not known.
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
    error: float
    reason: str | None

    def __str__(self) -> str:
        of = f"of {_counted(self.positives, 'positive')} and {_counted(self.negatives, 'negative')}"
        if self.reason:
            return f"AUC undefined: {self.reason}, {of}"
        ends = f"{100 * self.level:g} % interval {number(self.low)} to {number(self.high)}"
        error = f", standard error {self.error:.2g}" if self.error > 0 else ""
        unknown = ", error not known" if isnan(self.error) else ""
        return "\n".join(
            [
                f"AUC {number(self.estimate)}, {ends}, {of}",
                f"  p-value    {pvalue(self.pvalue)} (alternative: {_ALTERNATIVES[self.alternative]})",
                f"  method     {self.method}{error}{unknown}",
                f"  interval   {self.interval_method}",
            ]
        )


def auc(
    y_true: Iterable[object],
    y_score: Iterable[object],
    *,
    positive: object = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
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
    seed : int
        The seed, where the p-value is simulated.

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
    check_alternative(alternative)
    check_seed(seed)
    labels, scores = _sized("y_true", y_true), _sized("y_score", y_score)
    if len(labels) != len(scores):
        raise InvalidInput(f"y_true and y_score must have the same length; got {len(labels)} and {len(scores)}")
    alone = [0] * len(labels)
    rows = without_missing(scored_rows(None, y_true=labels, y_score=scores, groups=alone, positive=positive))
    ties = ties_of(rows.positive, rows.scores)
    m = int(np.count_nonzero(rows.positive))
    n = len(rows.positive) - m
    reason = lacking(m, n)
    fields: dict[str, Any] = {"estimate": nan, "low": nan, "high": nan, "pvalue": nan, "method": "none", "error": nan}
    if reason is None:
        estimate = area(ties)
        low, high = area_interval(estimate, m, n, level)
        fields = {"estimate": estimate, "low": low, "high": high} | chance_test(ties, alternative, seed)._asdict()
    return AreaUnderCurve(
        **fields,
        level=level,
        interval_method=AREA_INTERVAL,
        n=m + n,
        positives=m,
        negatives=n,
        alternative=alternative,
        reason=reason,
    )


def _sized(name: str, given: Any) -> Any:
    """The values, in a list if they have no length."""
    if not is_sequence(given):
        raise InvalidInput(f"{name} must be a sequence of values; got {given!r}")
    return given if hasattr(given, "__len__") else list(given)


def lacking(positives: int, negatives: int) -> str | None:
    """Why there is no area: which class has no cases.

    Parameters
    ----------
    positives, negatives : int
        The numbers of cases.

    Returns
    -------
    str or None
        The reason; None if both classes have cases.

    Examples
    --------
    >>> lacking(0, 7)
    'no actual positives'
    """
    missing = [name for name, cases in (("positives", positives), ("negatives", negatives)) if not cases]
    return f"no actual {' and no actual '.join(missing)}" if missing else None


def without_missing(rows: ScoredRows) -> ScoredRows:
    """Refuse rows that lack a label or a score.

    Parameters
    ----------
    rows : ScoredRows
        The rows as read.

    Returns
    -------
    ScoredRows
        The same.
    """
    for what, cases in rows.left_out.items():
        which, those = ("row has", "it") if cases == 1 else ("rows have", "them")
        raise InvalidInput(f"{cases:,} {which} no {what.replace(' and ', ' and no ')}; drop {those} first")
    return rows


def _counted(cases: int, name: str) -> str:
    return f"{cases:,} {name}{'s' * (cases != 1)}"
