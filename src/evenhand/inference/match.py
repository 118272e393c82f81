"""The MATCH test, which asks whether a group is drawn like the reference.

For a share, and for a rate given its denominator, that is the same as asking whether the two scores are equal. For
MCC, kappa and other scores made of several rates it is not (E30): `disparity` tests equal scores.
"""

from __future__ import annotations

from math import isnan, nan
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..cells import ConfusionMatrix, as_size, whole_counts
from ..errors import InvalidInput, UnknownName
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
    """Test whether a group is drawn like the reference, judged by a score.

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
        What "drawn like" means: group and reference share their rates; the reference's rates are the truth; or a new
        group drawn from rates that are uncertain. ``known`` with ``given="n"`` is the paper's test.
    given : {"margin", "n"}
        Take the metric's own denominator as observed (for pairs of rates the number of actual positives; shares and
        contrasts have only ``n``), or only ``n``.
    mid_p : bool
        Count the observed score half: less conservative, but no longer guaranteed.
    method : {"exact", "normal", "beta", "montecarlo"}
        The paper's normal (shares, marginal benefit) and beta (ratios) approximations, corrected as E7 and E10 say; or
        ``draws`` random groups from ``rng``.
    prior : float
        Pseudo-counts per cell added to the reference under ``null="predictive"``.
    rng : numpy.random.Generator or int, optional
        Where random groups come from.
    draws : int
        How many of them.

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
        ("null", null, NullName),
        ("given", given, Given),
        ("method", method, Method),
    ):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    whole_counts(cm, "the group")
    if method == "montecarlo" and as_size(draws, "draws") == 0:
        raise InvalidInput("draws must be at least 1")
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
    # A score whose probability is too small for a float is not impossible.
    if null.name == "known" and method == "exact" and not tails.at > 0 and null.impossible(cm):
        raise InvalidInput(
            f"the group's {null.metric.key} is impossible under the reference's rates, since the reference has an "
            "empty cell; give counts and use null='pooled' or null='predictive'"
        )
    return tails.below + tails.at, p, error
