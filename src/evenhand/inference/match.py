"""The MATCH test: whether a group is drawn like the reference, that is, with the same cell probabilities.

For a share, and for a rate given its denominator, this is the same as testing whether the two scores are equal. For
MCC, kappa and other scores made of several rates it is not (E30); `disparity` tests whether scores are equal.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..cells import ConfusionMatrix, MulticlassConfusion
from ..metrics import Average, Metric, Undefined, metric as find_metric, summary_asked
from ..randomness import Rng
from .class_match import match_each
from .match_result import MatchResult
from .match_two import Question, match_two
from .null import Given, Method, NullName
from .tail_pvalues import Alternative

__all__ = ["match_test"]


def match_test(
    cm: ConfusionMatrix | MulticlassConfusion,
    reference: Any,
    metric: str | Metric,
    *,
    average: Average | None = None,
    label: Hashable = None,
    undefined: Undefined = "propagate",
    alternative: Alternative = "two-sided",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    method: Method = "exact",
    prior: float = 0.5,
    rng: Rng = 0,
    draws: int = 10_000,
) -> MatchResult:
    """Test whether a group is drawn like the reference, with a score as the test statistic.

    Parameters
    ----------
    cm : ConfusionMatrix or MulticlassConfusion
        The group's counts.
    reference : ConfusionMatrix, MulticlassConfusion or four probabilities
        The counts or cell probabilities to compare with; probabilities are taken as known. Matrices of K classes must
        have the same labels.
    metric : str or Metric
        Any metric of the catalogue. A two-group metric compares the group with the reference.
    average, label, undefined
        What is scored of K classes, as in a call of a `Metric`.
    alternative : {"two-sided", "less", "greater"}
        The two-sided p-value is twice the smaller tail, at most 1; for a distance such as equalized odds, it is the
        upper tail.
    null : {"pooled", "known", "predictive"}
        ``"pooled"``: group and reference share unknown rates. ``"known"``: the reference's rates are the truth; with
        ``given="n"`` this is the paper's test. ``"predictive"``: the reference's counts are evidence of the rates.
    given : {"margin", "n"}
        Condition on the observed denominator of the metric (for pairs of rates, the number of actual positives; for
        shares, contrasts and scores of more than two classes at once, ``n``), or only on ``n``.
    mid_p : bool
        Count half of the probability of the observed score: less conservative, but the level is no longer guaranteed.
    method : {"exact", "normal", "beta", "montecarlo"}
        Exact sums; the paper's normal (shares, marginal benefit) or beta (ratios) approximation, corrected (E7, E10);
        or simulation. Averages over classes, and mcc and kappa of more than two, are simulated if they have no exact
        test; the result says so.
    prior : float
        Pseudo-counts per cell added to the reference under ``null="predictive"``.
    rng : int, numpy.random.Generator or None
        The source of randomness of what is simulated.
    draws : int
        The number of simulated groups. A simulated p-value is (r + 1) / (B + 1), doubled if two-sided, for r of B
        groups with a defined score that is at least as extreme, so it is never 0.

    Returns
    -------
    MatchResult
        Prints as a short block. If the score is undefined, the p-value is nan and ``reason`` says why.

    Examples
    --------
    The paper's example: 80 of 100 correct, against a known accuracy of 0.75.

    >>> from evenhand import ConfusionMatrix, MulticlassConfusion
    >>> r = match_test(ConfusionMatrix(80, 20, 0, 0), [0.75, 0.25, 0, 0], "acc")
    >>> r.percentile
    0.900469589894...

    None of 2 positives detected, against 300 of 400. This is Fisher's exact test:

    >>> r = match_test(ConfusionMatrix(0, 2, 8, 30), ConfusionMatrix(300, 100, 120, 480), "tpr", alternative="less")
    >>> round(r.pvalue, 4)
    0.0639

    Three classes:

    >>> group, rest = ([[1, 3, 0], [2, 2, 1], [0, 1, 1]], [[40, 5, 5], [4, 40, 6], [5, 5, 40]])
    >>> group, rest = map(MulticlassConfusion.from_array, (group, rest))
    >>> match_test(group, rest, "acc").method, match_test(group, rest, "f1", average="macro").method
    ('exact', 'montecarlo')
    """
    m = find_metric(metric)
    asked = Question(
        alternative=alternative,
        null=null,
        given=given,
        mid_p=mid_p,
        method=method,
        prior=prior,
        rng=rng,
        draws=draws,
    )
    summary = summary_asked(m, cm, average, label, undefined)
    if summary is not None:
        return match_each(cm, reference, [summary], asked)[0]
    return match_two(cm, reference, m, asked)
