"""The result of the MATCH test, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import Any, ClassVar

from ..errors import InvalidInput, TooLarge
from ..lazy import figures
from ..metrics import Metric
from ..records import Record
from .null import SMALLEST_UP_TO, Alternative, Given, Method, NullDistribution, NullName

__all__ = ["MatchResult"]

_NULLS = {
    "pooled": "group and reference share their rates",
    "known": "the reference's rates are the truth",
    "predictive": "a new group with the reference's uncertain rates",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MatchResult(Record):
    """The result of `match_test`.

    Attributes
    ----------
    metric : Metric
        The metric that was compared.
    statistic : float
        The group's score; nan if undefined.
    reference_score : float
        The reference's score.
    percentile : float
        P(S <= statistic) under the null, the paper's output.
    pvalue : float
        The p-value for the alternative; nan if the score is undefined.
    alternative, null, given, mid_p
        The test, as passed to `match_test`; ``null`` is ``"known"`` if the reference is four probabilities.
    n, n_reference : int
        The number of cases of the group and of the reference; None for a reference without counts.
    denominator : int or None
        The observed denominator, if the test conditions on it.
    p_undefined : float
        The probability of an undefined score, given only ``n``.
    reason : str or None
        Why the score is undefined; None if it is defined.
    method : str
        How the p-value was computed.
    error : float
        A bound on the error of the p-value (exact) or its standard error (Monte Carlo); nan for the approximations.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, match_test
    >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
    >>> r.statistic, r.reference_score, round(r.pvalue, 4)
    (0.0, 0.75, 0.1278)
    """

    metric: Metric
    statistic: float
    reference_score: float
    percentile: float
    pvalue: float
    alternative: Alternative
    null: NullName
    given: Given
    mid_p: bool
    n: int
    n_reference: int | None
    denominator: int | None
    p_undefined: float
    reason: str | None
    method: Method
    error: float
    _null: NullDistribution
    _derived: ClassVar[tuple[str, ...]] = ("expected", "smallest_pvalue")

    @property
    def distribution(self) -> NullDistribution:
        """The distribution of the score under the null, given the denominator if the test conditions on it.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> r.distribution.support
        array([0. , 0.5, 1. ])
        """
        return self._null

    @property
    def expected(self) -> float:
        """The expected score under the null, given that it is defined.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> round(r.expected, 4)
        0.7463
        """
        return self._null.mean if self.p_undefined < 1 else nan

    @property
    def smallest_pvalue(self) -> float:
        """The smallest attainable p-value; if it exceeds the level, the test can never reject.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> round(r.smallest_pvalue, 4)
        0.1278
        """
        return nan if isnan(self.pvalue) else self._null.smallest_pvalue(self.alternative, self.mid_p)

    def detects(self, difference: float, level: float = 0.05) -> bool:
        """Whether a score at this distance from the reference's, on either side, would be significant.

        Parameters
        ----------
        difference : float
            The distance between the two scores.
        level : float
            The level of the test.

        Returns
        -------
        bool
            If False, the test detects a true score at this distance with a power of less than about one half.

        Examples
        --------
        40 cases with 2 positives reveal little about TPR:

        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> r.detects(0.7)
        False
        """
        return not isnan(self.pvalue) and self._null.detects(difference, self.reference_score, level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the null distribution, with the observed score and its tail shaded (extra ``plots``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> ax = r.plot()
        """
        if isnan(self.pvalue):
            raise InvalidInput(f"there is no score to plot: {self.metric.key} is undefined, {self.reason}")
        return figures().draw_match(self, ax=ax)

    def __str__(self) -> str:
        who = f"reference of {self.n_reference:,}" if self.n_reference is not None else "reference's rates"
        head = f"MATCH test of {self.metric.name} ({self.metric.key}), group of {self.n:,} against a {who}"
        if self.reason:
            return f"{head}\n  undefined     {self.reason}\n  probability   {_percent(self.p_undefined)}"
        small = self.null == "known" and self.n_reference is not None and self.n_reference < 10 * self.n
        lines = [
            ("score", f"{self.statistic:.4g}{self._of()}"),
            ("reference", f"{self.reference_score:.4g}{self._expected()}"),
            ("p-value", f"{_p(self.pvalue)} ({self.alternative}{', mid-p' if self.mid_p else ''})"),
            ("percentile", f"{_percent(self.percentile)} of groups score this or lower"),
            ("smallest p", self._smallest()),
            ("null", f"{_NULLS[self.null]}, given {self._given()}"),
            ("method", f"{self.method}{self._error()}"),
        ]
        if small:
            lines.append(("caution", "a reference of fewer than 10 n cases is not a known truth: rejects too often"))
        return "\n".join([head, *(f"  {label:<13} {text}" for label, text in lines)])

    def _expected(self) -> str:
        try:
            return f"; expected {self.expected:.4g} under the null"
        except TooLarge:
            return ""

    def _smallest(self) -> str:
        try:
            return f"{_p(self.smallest_pvalue)} is the smallest attainable p-value"
        except TooLarge:
            return f"not computed for more than {SMALLEST_UP_TO:,} cases"

    def _of(self) -> str:
        return "" if self.denominator is None else f", of {self._observed()}"

    def _given(self) -> str:
        return "n" if self.denominator is None else f"the {self._observed()}"

    def _observed(self) -> str:
        part = self.metric.base.denominator
        name = "actual positives" if self.metric.is_distance or part is None else part.name
        return f"{self.denominator:,} {name}"

    def _error(self) -> str:
        if self.method == "exact":
            return ""
        if self.method == "montecarlo":
            return f", approximate: standard error {self.error:.2g}"
        return ", approximate: error not known"


def _p(p: float) -> str:
    """A p-value as text; floats underflow to 0 somewhat below 1e-300."""
    return f"{p:.4g}" if p > 0 else "below 1e-300"


def _percent(p: float) -> str:
    return f"{100 * p:.3g} %"
