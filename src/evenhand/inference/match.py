"""The MATCH test: whether a group is drawn like the reference, that is, with the same cell probabilities.

For a share, and for a rate given its denominator, this is the same as testing whether the two scores are equal. For
MCC, kappa and other scores made of several rates it is not (E30); `disparity` tests whether scores are equal.
"""

from __future__ import annotations

from math import isnan, nan
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..cells import ConfusionMatrix, whole_counts
from ..errors import InvalidInput, UnknownName
from ..laws import check_draws
from ..metrics import Metric
from ..metrics import metric as find_metric
from .match_result import MatchResult
from .null import Alternative, Given, Method, NullDistribution, NullName

__all__ = ["match_test"]


def match_test(
    cm: ConfusionMatrix,
    reference: ConfusionMatrix | ArrayLike,
    metric: str | Metric,
    *,
    alternative: Alternative = "two-sided",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    method: Method = "exact",
    prior: float = 0.5,
    rng: np.random.Generator | int | None = None,
    draws: int = 100_000,
) -> MatchResult:
    """Test whether a group is drawn like the reference, with a score as the test statistic.

    Parameters
    ----------
    cm : ConfusionMatrix
        The group's counts.
    reference : ConfusionMatrix or four probabilities
        The counts or cell probabilities to compare with; probabilities are taken as known.
    metric : str or Metric
        Any metric of the catalogue. A two-group metric compares the group with the reference.
    alternative : {"two-sided", "less", "greater"}
        The two-sided p-value is twice the smaller tail, at most 1; for a distance such as equalized odds, it is the
        upper tail.
    null : {"pooled", "known", "predictive"}
        ``"pooled"``: group and reference share unknown rates. ``"known"``: the reference's rates are the truth; with
        ``given="n"`` this is the paper's test. ``"predictive"``: the reference's counts are evidence of the rates.
    given : {"margin", "n"}
        Condition on the observed denominator of the metric (for pairs of rates, the number of actual positives; for
        shares and contrasts, ``n``), or only on ``n``.
    mid_p : bool
        Count half of the probability of the observed score: less conservative, but the level is no longer guaranteed.
    method : {"exact", "normal", "beta", "montecarlo"}
        Exact sums; the paper's normal (shares, marginal benefit) or beta (ratios) approximation, corrected (E7, E10);
        or simulation.
    prior : float
        Pseudo-counts per cell added to the reference under ``null="predictive"``.
    rng : numpy.random.Generator or int, optional
        The random generator or seed for ``method="montecarlo"``.
    draws : int
        The number of simulated groups.

    Returns
    -------
    MatchResult
        Prints as a short block. If the score is undefined, the p-value is nan and ``reason`` says why.

    Examples
    --------
    The paper's example: 80 of 100 correct, against a known accuracy of 0.75.

    >>> from evenhand import ConfusionMatrix
    >>> r = match_test(ConfusionMatrix(80, 20, 0, 0), [0.75, 0.25, 0, 0], "acc")
    >>> r.percentile
    0.900469589894...

    None of 2 positives detected, against 300 of 400. This is Fisher's exact test:

    >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr", alternative="less")
    >>> round(r.pvalue, 4)
    0.0639
    """
    m = find_metric(metric)
    for what, value, known in (
        ("alternative", alternative, Alternative),
        ("null", null, NullName),
        ("given", given, Given),
        ("method", method, Method),
    ):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    whole_counts(cm, "the group")
    if method == "montecarlo":
        check_draws(draws)
    counted = reference if isinstance(reference, ConfusionMatrix) else None
    if counted is None and null == "pooled":
        null = "known"
    rates = counted if counted is not None else np.asarray(reference, dtype=np.float64)
    reason = m.why_undefined(cm, rates) if m.comparisons else m.why_undefined(cm)
    reference_score = 0.0 if m.is_distance else float(m.base(rates))
    if null == "known" and reason is None and isnan(reference_score):
        raise InvalidInput(
            f"the reference's {m.base.key} is undefined, {m.base.why_undefined(rates)}, so there is no rate to compare "
            "with; choose another reference, or null='pooled'"
        )
    distribution = NullDistribution.of(null, m, cm, reference, given, prior)
    percentile, p, error = nan, nan, 0.0
    if reason is None:
        percentile, p, error = _tested(distribution, cm, alternative, mid_p, method, rng, draws)
    return MatchResult(
        metric=m,
        statistic=float(m(cm, rates) if m.comparisons else m(cm)),
        reference_score=reference_score,
        percentile=percentile,
        pvalue=p,
        alternative=alternative,
        null=null,
        given=given,
        mid_p=mid_p,
        n=int(cm.n),
        n_reference=int(counted.n) if counted is not None else None,
        denominator=None if distribution.margin is None else int(distribution.margin),
        p_undefined=distribution.p_undefined,
        reason=reason,
        method=method,
        error=error,
        _null=distribution,
    )


def _tested(
    null: NullDistribution,
    cm: ConfusionMatrix,
    alternative: Alternative,
    mid_p: bool,
    method: Method,
    rng: Any,
    draws: int,
) -> tuple[float, float, float]:
    """Percentile, p-value and error."""
    if method == "montecarlo":
        tails = null.sampled_tails(null.observed(cm), rng, draws)
        p, error = null.sampled_pvalue(tails, alternative, mid_p, draws)
    else:
        tails = null.observed_tails(cm) if method == "exact" else null.approximate_tails(cm, method)
        p, error = null.pvalue(tails, alternative, mid_p), tails.error
    # A probability that is too small for a float does not mean that the score is impossible.
    if null.name == "known" and method == "exact" and not tails.at > 0 and null.impossible(cm):
        raise InvalidInput(
            f"the group's {null.metric.key} is impossible under the reference's rates, since the reference has an "
            "empty cell; pass counts and use null='pooled' or null='predictive'"
        )
    return tails.below + tails.at, p, error
