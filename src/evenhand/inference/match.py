"""The MATCH test, which asks whether a group's score is consistent with the reference.

What "no difference" means is the null:

- ``pooled``: group and reference share their rates. Given the pooled counts, the group is a random part of them, so
  the test at level α rejects a true null in at most a share α of cases, at any size. Fisher's exact test is the case
  of a share or a ratio.
- ``known``: the reference's rates are the truth. The paper's test; it rejects too often unless the reference is much
  larger than the group (E13).
- ``predictive``: a new group drawn like the reference, whose rates are uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isnan, nan, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import CELLS, ConfusionMatrix, as_size
from ..drawing import bars
from ..errors import InvalidInput, TooLarge, UnknownName
from ..laws import Law, law_of
from ..laws.approximate import beta_tails, normal_tails
from ..laws.belief import to_share
from ..laws.distribution import OneGroupDistribution
from ..laws.draw import as_generator, draw_cells
from ..laws.engine import Tails, extremes, tails
from ..laws.order import Order, Threshold, order_of
from ..metrics import Comparison, Metric, OneGroup, Ratio, Share, Worst
from ..metrics import metric as find_metric
from .smoothing import Smoothed

__all__ = ["Alternative", "Given", "MatchResult", "Method", "Null", "match_test"]

Alternative = Literal["two-sided", "less", "greater"]
Null = Literal["pooled", "known", "predictive"]
Given = Literal["margin", "n"]
Method = Literal["exact", "normal", "beta", "montecarlo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """What the MATCH test found.

    Attributes
    ----------
    statistic : float
        The group's score; nan if undefined.
    percentile : float
        P(S <= statistic) under the null, the paper's output.
    pvalue : float
        The tail probability for the alternative; nan if the score is undefined.
    n, denominator : int
        The number of cases, and of those that the metric divides by if the test takes that as observed.
    p_undefined : float
        How likely an undefined score was, with only ``n`` given.
    reason : str or None
        Why the score is undefined.
    reference_score : float
        The reference's own score.
    method : str
        How it was computed; ``error`` bounds (exact) or estimates (Monte Carlo, one standard error) what it is off by,
        nan where that is not known (the paper's approximations).
    """

    metric: Metric
    statistic: float
    reference_score: float
    percentile: float
    pvalue: float
    alternative: Alternative
    null: Null
    given: Given
    mid_p: bool
    n: int
    n_reference: int | None
    denominator: int | None
    p_undefined: float
    reason: str | None
    method: Method
    error: float
    _null: OneGroupDistribution

    @property
    def expected(self) -> float:
        """The expected score under the null, given that it is defined."""
        return self._null.mean if self.p_undefined < 1 else nan

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that any outcome could have reached; above the level, the test could never reject."""
        d = self._null
        if isnan(self.pvalue):
            return nan
        if (self.n if self.denominator is None else self.denominator) > _SMALLEST_UP_TO:
            raise TooLarge(f"the smallest p-value is not sought for more than {_SMALLEST_UP_TO:,} cases")
        reached = (
            tails(d.order, d.law, t, margin=d.margin, point=True) for t in extremes(d.order, d.law, margin=d.margin)
        )
        return min(_pvalue(found, self.alternative, self.mid_p, self.metric) for found in reached)

    def detects(self, difference: float, level: float = 0.05) -> bool:
        """Whether a score this far from the reference's, on either side, would have been significant.

        A group whose true score is that far away scores beyond it about half of the time, so what is not detected here
        would be seen with a power of less than one half. Judged given the pooled counts, and given the denominator if
        the test took it as observed: 40 cases with 2 positives detect little of TPR.

        >>> from evenhand import ConfusionMatrix
        >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr")
        >>> r.detects(0.7)
        False
        """
        d, centre = self._null, self._centre
        if isnan(self.pvalue) or isnan(centre):
            return False
        size = self.n if self.denominator is None else self.denominator
        small = size <= _SMALLEST_UP_TO
        low, high = self.metric.range
        for score, side in ((centre - difference, "below"), (centre + difference, "above")):
            if not low <= score <= high:
                continue
            if not small and 2 * self._bound(score) <= level:
                return True
            found = tails(d.order, d.law, Threshold(score), margin=d.margin, relative=small)
            p = getattr(found, side) + found.at
            # A large group can score anywhere in the range, even where the probability is too small to be summed.
            if (p > 0 or not small) and (p if isinstance(self.metric, Worst) else 2 * p) <= level:
                return True
        return False

    def _bound(self, score: float) -> float:
        """No more than this is the probability beyond a score, by Hoeffding, also for draws without replacement.

        A ratio is a share of some of the cases; unless their number is given, it is hardly ever below 0.9 of the mean.
        """
        m = self.metric
        if not isinstance(m, (Share, Ratio)) or self.null == "predictive":
            return 1.0
        whole, _, part = m.tree.counts(self._null.law.rates)
        cases, rarely = float(self.n if self.denominator is None else self.denominator), 0.0
        if isinstance(m, Share):
            whole = 1.0
        elif self.denominator is None:
            cases, rarely = 0.9 * whole * self.n, exp(-2 * self.n * (0.1 * whole) ** 2)
        if not whole:
            return 1.0
        return rarely + exp(-2 * cases * (float(to_share(m, score)) - part / whole) ** 2)

    @property
    def _centre(self) -> float:
        """The score that means no difference."""
        if isinstance(self.metric, OneGroup):
            return self.reference_score
        return 1.0 if isinstance(self.metric, Comparison) and self.metric.kind == "ratio" else 0.0

    def plot(self, ax: Any = None) -> Any:
        """Draw the null distribution with the observed score and its tail shaded (extra ``plots``)."""
        if isnan(self.pvalue):
            raise InvalidInput(f"there is no score to plot: {self.metric.key} is undefined, {self.reason}")
        d, tail, what = self._null, str(self.alternative), "the shaded tail"
        if isinstance(self.metric, Worst) and tail == "two-sided":
            tail = "greater"
        elif tail == "two-sided":
            tail, what = ("greater" if self.percentile > 0.5 else "less"), "twice the shaded tail"
        return bars(
            d.support,
            d.probabilities,
            title=f"{self.metric.name} if there were no difference: p = {self.pvalue:.3g}, {what}",
            xlabel=self.metric.key,
            observed=self.statistic,
            tail=tail,
            ax=ax,
        )

    @property
    def distribution(self) -> OneGroupDistribution:
        """The distribution of the score under the null, given the denominator if the test took it as observed."""
        return self._null

    def __str__(self) -> str:
        who = f"reference of {self.n_reference:,}" if self.n_reference is not None else "reference's rates"
        head = f"MATCH test of {self.metric.name} ({self.metric.key}), group of {self.n:,} against a {who}"
        if self.reason:
            return f"{head}\n  undefined     {self.reason}\n  that was      {_percent(self.p_undefined)} likely"
        small = self.null == "known" and self.n_reference is not None and self.n_reference < 10 * self.n
        lines = [
            ("score", f"{self.statistic:.4g}{self._of()}"),
            ("reference", f"{self.reference_score:.4g}{self._expected()}"),
            ("p-value", f"{self.pvalue:.4g} ({self.alternative}{', mid-p' if self.mid_p else ''})"),
            ("percentile", f"{_percent(self.percentile)} of groups score this or lower"),
            ("smallest p", self._smallest()),
            ("null", f"{_NULLS[self.null]}, given {self._given()}"),
            ("method", f"{self.method}{self._error()}"),
        ]
        if small:
            lines.append(("careful", "a reference of less than 10 n is no known truth: it rejects too often"))
        return "\n".join([head, *(f"  {label:<13} {text}" for label, text in lines)])

    def _expected(self) -> str:
        try:
            return f"; expected {self.expected:.4g} under the null"
        except TooLarge:
            return ""

    def _smallest(self) -> str:
        try:
            return f"{self.smallest_pvalue:.4g} is the least that any outcome could have reached"
        except TooLarge:
            return f"not sought for more than {_SMALLEST_UP_TO:,} cases"

    def _of(self) -> str:
        return "" if self.denominator is None else f", of {self._observed()}"

    def _given(self) -> str:
        return "n" if self.denominator is None else f"the {self._observed()}"

    def _observed(self) -> str:
        base = self.metric.base if isinstance(self.metric, Comparison) else self.metric
        part = base.denominator if isinstance(base, OneGroup) else None
        return f"{self.denominator:,} {part.name if part else 'actual positives'}"

    def _error(self) -> str:
        if self.method == "exact":
            return ""
        if self.method == "montecarlo":
            return f", approximate: standard error {self.error:.2g}"
        return ", approximate: error not known"


# Beyond this, any level in use can be reached, and the farthest outcomes are costly to find.
_SMALLEST_UP_TO = 5_000
_NULLS = {
    "pooled": "group and reference share their rates",
    "known": "the reference's rates are the truth",
    "predictive": "a new group drawn like the reference",
}


def match_test(
    cm: ConfusionMatrix,
    reference: ConfusionMatrix | ArrayLike,
    metric: str | Metric,
    *,
    alternative: Alternative = "two-sided",
    null: Null = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    method: Method = "exact",
    prior: float = 0.5,
    rng: np.random.Generator | int | None = None,
    draws: int = 100_000,
) -> MatchResult:
    """Test whether a group's score is consistent with the reference.

    Parameters
    ----------
    cm : ConfusionMatrix
        The group's counts.
    reference : ConfusionMatrix or four probabilities
        Whom it is compared with; probabilities are taken as known.
    metric : str or Metric
        Any metric of the catalogue. Two-group metrics take the group and the reference as their two groups.
    alternative : {"two-sided", "less", "greater"}
        Two-sided is central: twice the smaller tail, at most 1. A distance such as equalized odds has one direction,
        and two-sided is its upper tail.
    null : {"pooled", "known", "predictive"}
        What "no difference" means; see the module's description. ``known`` with ``given="n"`` is the paper's test.
    given : {"margin", "n"}
        Take the metric's own denominator as observed (for pairs of rates the number of actual positives; shares, F1
        and contrasts have only ``n``), or only ``n``.
    mid_p : bool
        Count the observed score half: less conservative, but no longer guaranteed.
    method : {"exact", "normal", "beta", "montecarlo"}
        The paper's normal (shares, marginal benefit) and beta (ratios) approximations, corrected as E7 and E10 say; or
        ``draws`` random groups from ``rng``.
    prior : float
        Pseudo-counts a cell added to the reference under ``null="predictive"``.

    Returns
    -------
    MatchResult
        Prints as a short block. An undefined score is a result without a p-value, not an error.

    Examples
    --------
    The paper's example: 80 of 100 correct, against a known accuracy of 0.75.

    >>> from evenhand import ConfusionMatrix
    >>> r = match_test(ConfusionMatrix(80, 20, 0, 0), [0.75, 0.25, 0, 0], "acc")
    >>> r.percentile
    0.900469589894...

    None of 2 positives found, against 300 of 400. Fisher's exact test:

    >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr", alternative="less")
    >>> round(r.pvalue, 4)
    0.0639
    """
    m = find_metric(metric)
    for what, value, known in (
        ("alternative", alternative, Alternative),
        ("null", null, Null),
        ("given", given, Given),
        ("method", method, Method),
    ):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    counts = _whole(cm, "the group")
    if as_size(draws, "draws") == 0:
        raise InvalidInput("draws must be at least 1")
    if not isinstance(reference, ConfusionMatrix) and null == "pooled":
        null = "known"
    law, order = _under(null, m, cm, reference, prior)
    margin = float(order.tree.counts(counts)[0]) if given == "margin" and _has_denominator(m) else None
    observed = order.threshold(counts)
    rates = reference if isinstance(reference, ConfusionMatrix) else np.asarray(reference, dtype=np.float64)
    base = m.base if isinstance(m, Comparison) else m
    undrawn = OneGroupDistribution(m, order, law, margin)
    fields: dict[str, Any] = {
        "metric": m,
        "statistic": observed.value,
        "reference_score": float(base(rates)) if base.groups == 1 else 0.0,
        "alternative": alternative,
        "null": null,
        "given": given,
        "mid_p": mid_p,
        "n": int(cm.n),
        "n_reference": int(reference.n) if isinstance(reference, ConfusionMatrix) else None,
        "denominator": None if margin is None else int(margin),
        "p_undefined": undrawn.p_undefined,
        "method": method,
        "_null": undrawn,
    }
    if isnan(observed.value):
        reason = m.why_undefined(cm) if m.groups == 1 else m.why_undefined(cm, rates)
        return MatchResult(percentile=nan, pvalue=nan, reason=reason, error=0.0, **fields)
    if null == "known" and isnan(fields["reference_score"]):
        raise InvalidInput(
            f"the reference's {base.key} is undefined, {base.why_undefined(rates)}, so there is no rate to compare "
            "with; choose another reference, or null='pooled'"
        )
    if null == "known":
        _check_rates(order, law, margin, base)
    found = _tails(method, m, order, law, observed, counts, margin, null, rng, draws)
    if null == "known" and method == "exact" and not found.at > 0:
        raise InvalidInput(
            f"the group's {m.key} is impossible under the reference's rates, since the reference has an empty cell; "
            "give counts and use null='pooled' or null='predictive'"
        )
    p = _pvalue(found, alternative, mid_p, m)
    error = found.error
    if method == "montecarlo":
        kept = round(draws * found.defined)
        one_tail, factor = (p / 2, 2) if alternative == "two-sided" and not isinstance(m, Worst) else (p, 1)
        # A tail that was never drawn is not known to be empty.
        one_tail = (kept * min(one_tail, 1.0) + 1) / (kept + 1)
        p, error = min(1.0, factor * one_tail), factor * sqrt(one_tail * (1 - one_tail) / kept)
    return MatchResult(percentile=found.below + found.at, pvalue=p, reason=None, error=error, **fields)


def _under(null: Null, m: Metric, cm: ConfusionMatrix, reference: Any, prior: float) -> tuple[Law, Order]:
    """The law of the group under the null, and the order of groups by their score."""
    n = int(cm.n)
    if null == "pooled":
        if _whole(reference, "the reference").sum() == 0:
            raise InvalidInput("the reference is empty (n = 0), so there is nobody to compare the group with")
        pooled = cm + reference
        return law_of(pooled, n, "without_replacement"), order_of(m, pooled.cells, remains=True)
    if null == "known":
        law = law_of(reference, n)
        # A metric of two groups does not change with their scale, so probabilities serve as the reference's cells.
        cells = reference.cells if isinstance(reference, ConfusionMatrix) else None
        if m.groups == 2 and cells is None:
            raise InvalidInput(f"{m.key} compares two groups: give the reference as a ConfusionMatrix of counts")
        return law, order_of(m, cells)
    if not isinstance(reference, ConfusionMatrix):
        raise InvalidInput(
            "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities"
        )
    return law_of(reference, n, "predictive", prior=prior), order_of(m, reference.cells)


def _whole(cm: Any, who: str) -> NDArray[np.float64]:
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"{who} must be a ConfusionMatrix of counts; got {cm!r}")
    if isinstance(cm, Smoothed) or not cm.is_whole:
        raise InvalidInput(
            f"{who} must hold whole counts, since a test counts cases; got {cm!r}: smoothed cells are not tested"
        )
    return np.asarray(cm.cells, dtype=np.float64)


def _has_denominator(m: Metric) -> bool:
    """Whether there is more to take as observed than ``n``."""
    base = m.base if isinstance(m, Comparison) else m
    return not isinstance(base, OneGroup) or base.denominator is not None


def _check_rates(order: Order, law: Law, margin: float | None, base: Metric) -> None:
    """Refuse a margin that the reference never has: it says nothing of how such cases fall."""
    tree = order.tree
    if margin is None:
        return
    for size, cells in ((margin if tree.side else 0.0, tree.margin), (tree.last_size(law.n, margin), tree.last_of)):
        if size > 0 and sum(rate for c, rate in zip(CELLS, law.rates, strict=True) if c in cells) == 0:
            what = " + ".join(c.upper() for c in cells)
            raise InvalidInput(
                f"the reference has no cases in {what}, so there is no rate to compare the group's {base.key} with; "
                "choose another reference, or null='pooled'"
            )


def _tails(
    method: Method,
    m: Metric,
    order: Order,
    law: Law,
    observed: Threshold,
    counts: NDArray[np.float64],
    margin: float | None,
    null: Null,
    rng: Any,
    draws: int,
) -> Tails:
    if method == "exact":
        return tails(order, law, observed, margin=margin)
    if method == "montecarlo":
        return _drawn(order, law, observed.value, margin, rng, draws)
    if method == "normal":
        return normal_tails(m, law, counts)
    if null != "known":
        raise InvalidInput("method='beta' takes the reference's rates as known; use null='known', or method='exact'")
    return beta_tails(m, law, counts, margin)


def _pvalue(found: Tails, alternative: Alternative, mid_p: bool, m: Metric) -> float:
    if isinstance(m, Worst) and alternative == "two-sided":
        # A distance has one direction: the larger, the more different.
        alternative = "greater"
    weight = 0.5 if mid_p else 1.0
    low, high = found.below + weight * found.at, found.above + weight * found.at
    return min(1.0, {"less": low, "greater": high, "two-sided": 2 * min(low, high)}[alternative])


def _drawn(order: Order, law: Law, observed: float, margin: float | None, rng: Any, draws: int) -> Tails:
    generator = as_generator(rng)
    scores = order.scores(draw_cells(order.tree, law, generator, draws, margin))
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        raise InvalidInput(f"none of {draws:,} random groups has a defined score; draw more, or use method='exact'")
    near = 1e-12 * max(1.0, abs(observed))
    at = float(np.mean(np.abs(scores - observed) <= near))
    below = float(np.mean(scores < observed - near))
    return Tails(below, at, 1 - below - at, len(scores) / draws, nan)


def _percent(p: float) -> str:
    return f"{100 * p:.3g} %"
