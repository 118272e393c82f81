"""The result of the MATCH test, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import Any, ClassVar

from ..errors import InvalidInput, TooLarge, printable
from ..metrics import Average, Metric
from ..records import Record, reach
from ..wording import LEVELS, decided, several
from .null import SMALLEST_UP_TO, Given, Method, NullDistribution, NullName
from .tail_pvalues import Alternative

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
    average, label
        The average over classes, or the class against the rest; None if there is none.
    statistic : float
        The group's score; nan if undefined.
    reference_score : float
        The reference's score.
    percentile : float
        P(S <= statistic) under the null, the paper's output.
    pvalue : float
        The p-value for the alternative; nan if the score is undefined or could not be tested.
    alternative, null, given, mid_p
        The test, as passed to `match_test`; ``null`` is ``"known"`` if the reference is four probabilities.
    n, reference_n : int
        The number of cases of the group and of the reference; None for a reference without counts.
    denominator : int or None
        The observed denominator, if the test conditions on it.
    p_undefined : float
        The probability of an undefined score, given only ``n``; simulated if an average over classes is.
    reason : str or None
        Why the score is undefined, or why it could not be tested; None if there is a p-value.
    method : {"exact", "normal", "beta", "montecarlo"}
        How the p-value was computed.
    error : float
        A bound on the error of the p-value (exact) or its standard error (Monte Carlo); nan for the approximations.
    draws, rng : int or None
        The number of simulated groups, and the number that repeats them; None if nothing was simulated. ``rng`` is also
        None if it was a generator or None.

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
    reference_n: int | None
    denominator: int | None
    p_undefined: float
    reason: str | None
    method: Method
    error: float
    average: Average | None = None
    label: Any = None
    draws: int | None = None
    rng: int | None = None
    _null: NullDistribution | None = None
    _derived: ClassVar[tuple[str, ...]] = ("expected", "smallest_pvalue")

    @property
    def name(self) -> str:
        """What was tested: the key of the metric, with the average or the class.

        Examples
        --------
        >>> from evenhand import MulticlassConfusion, match_test
        >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
        >>> match_test(cm, cm, "f1", average="micro").name, match_test(cm, cm, "tpr", label=1).name
        ('micro f1', 'tpr of 1 against the rest')
        """
        if self.label is not None:
            return f"{self.metric.key} of {self.label!r} against the rest"
        return f"{self.average} {self.metric.key}" if self.average else self.metric.key

    @property
    def distribution(self) -> NullDistribution:
        """The distribution of the score under the null, given the denominator if the test conditions on it.

        Scores of several classes at once have none.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> r.distribution.support
        array([0. , 0.5, 1. ])
        """
        if self._null is None:
            raise InvalidInput(
                f"the distribution of {self.name} is not known; pass a class as `label=` for that of one"
            )
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
        return self._null.mean if self._null is not None and self.p_undefined < 1 else nan

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
        if self._null is None or isnan(self.pvalue):
            return nan
        return self._null.smallest_pvalue(self.alternative, self.mid_p)

    def detects(self, difference: float, alpha: float = 0.05) -> bool:
        """Whether a score at this distance from the reference's, on either side, would be significant.

        Parameters
        ----------
        difference : float
            The distance between the two scores.
        alpha : float
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
        return not isnan(self.pvalue) and self.distribution.detects(difference, self.reference_score, alpha)

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
            raise InvalidInput(f"there is no score to plot: {self.name} is undefined, {self.reason}")
        return reach("MatchResult.plot")(self, ax=ax)

    def __str__(self) -> str:
        who = f"reference of {self.reference_n:,}" if self.reference_n is not None else "reference's rates"
        head = f"MATCH test of {self.metric.name} ({printable(self.name)}), group of {self.n:,} against a {who}"
        if self.reason and isnan(self.statistic):
            return _block(head, ("undefined", printable(self.reason)), ("probability", _percent(self.p_undefined)))
        if self.reason:
            return _block(head, ("score", f"{self.statistic:.4g}"), ("p-value", f"none: {printable(self.reason)}"))
        small = self.null == "known" and self.reference_n is not None and self.reference_n < 10 * self.n
        lines = [
            ("score", f"{self.statistic:.4g}{self._of()}"),
            ("reference", f"{_score(self.reference_score)}{self._expected()}"),
            ("p-value", f"{_p(self.pvalue)} ({self.alternative}{', mid-p' if self.mid_p else ''})"),
            ("percentile", f"{_percent(self.percentile)} of groups score this or lower"),
            *([] if self._null is None else [("smallest p", self._smallest())]),
            ("null", f"{_NULLS[self.null]}, given {self._given()}"),
            ("method", f"{self.method}{self._error()}"),
        ]
        if small:
            lines.append(("caution", "a reference of fewer than 10 n cases is not a known truth: rejects too often"))
        return _block(head, *lines)

    def _expected(self) -> str:
        if self._null is None:
            return ""
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
        if self.metric.is_distance or part is None:
            return several(self.denominator or 0, "actual positive")
        return part.counted(self.denominator or 0)

    def _error(self) -> str:
        if self.method == "exact":
            return ""
        if self.method == "montecarlo":
            repeats = "" if self.rng is None else f" (rng {self.rng})"
            return f", approximate: {self.draws:,} draws{repeats}, standard error {self.error:.2g}"
        return ", approximate: error not known"


def _block(head: str, *lines: tuple[str, str]) -> str:
    return "\n".join([head, *(f"  {label:<13} {text}" for label, text in lines)])


def _score(score: float) -> str:
    return "undefined" if isnan(score) else f"{score:.4g}"


def _p(p: float) -> str:
    """A p-value as text; floats underflow to 0 somewhat below 1e-300."""
    return decided(p, LEVELS, lambda more: f"{p:.{4 + more}g}") if p > 0 else "below 1e-300"


def _percent(p: float) -> str:
    return f"{100 * p:.3g} %"
