"""What would follow from the counts of a group and a reference, and how scores vary by chance."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isfinite
from typing import Any

import numpy as np

from ..auditing import read_texts
from ..errors import InvalidInput, TooLarge
from ..inference import (
    MatchResult,
    NullDistribution,
    cross_prior_smooth,
    disparity,
    interval,
    match_test,
    undefined_probability,
)
from ..metrics import metric as find_metric
from ..records import plain_value
from ..wording import several
from .parsing import typed_cells

__all__ = ["what_if"]

_BARS, _ATOMS, _LISTED_UP_TO, _NEGLIGIBLE = 40, 60, 1_000, 1e-6


def what_if(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Test, interval, smoothed score, undefined cases and null distribution for counts of a group and a reference."""
    group, reference = (typed_cells(asked.get(who), f"the {who}") for who in ("group", "reference"))
    m = find_metric(str(asked.get("metric") or "tpr"))
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; choose a metric of one group")
    strength = read_texts("strength", [str(asked.get("strength") or 0)])
    test, gap = match_test(group, reference, m), disparity(group, reference, m)
    between = interval(group, m)
    smoothed = cross_prior_smooth(group, reference, strength)
    return dict(
        plain_value(
            {
                "metric": m.key,
                "name": m.name,
                "score": test.statistic,
                "reason": test.reason,
                "reference": test.reference_score,
                "gap": gap.estimate,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "pvalue": gap.pvalue,
                "percentile": test.percentile,
                "low": between.low,
                "high": between.high,
                "smoothed": float(m(smoothed)),
                "shrinkage": smoothed.shrinkage if m.base.linear is not None else None,
                "undefined": undefined_probability(m, int(group.n), reference),
                "given": _given(test),
                "null": _null(test),
            }
        )
    )


def _given(test: MatchResult) -> str:
    """What the null distribution conditions on, in words."""
    if test.denominator is None:
        return several(test.n, "case")
    part = test.metric.base.denominator
    return several(test.denominator, "actual positive") if part is None else part.format_count(test.denominator)


def _null(test: MatchResult) -> dict[str, Any] | None:
    """The distribution of the score of groups drawn like the reference: as single scores, or in bins.

    Of each it is said whether it lies at or beyond the observed score, on the side of the smaller tail.
    """
    if not isfinite(test.statistic):
        return None
    null, observed, lower = test.distribution, test.statistic, test.percentile <= 0.5
    try:
        scores, chances = _all_scores(null)
        if scores is not None and len(scores) <= _ATOMS:
            kept = (chances > _NEGLIGIBLE) | (scores == observed)
            far = scores <= observed if lower else scores >= observed
            return {"atoms": list(zip(scores[kept], chances[kept], far[kept], strict=True))}
        low, high = (float(q) for q in null.quantile([0.0005, 0.9995]))
        edges = _edges(min(low, observed), max(high, observed), observed, lower)
        if edges is None:
            return None
        if scores is None:
            chances = np.diff(np.asarray(null.cdf(edges[1:])), prepend=0.0)
        else:
            chances, _ = np.histogram(scores, edges, weights=chances)
        far = edges[1:] <= edges[_at(edges, observed)] if lower else edges[:-1] >= edges[_at(edges, observed)]
        return {"bars": list(zip(edges[:-1], edges[1:], chances, far, strict=True))}
    except TooLarge:
        return None


def _edges(low: float, high: float, observed: float, lower: bool) -> Any:
    """Edges of about 40 bins, one of them at the observed score: just above it if lower scores are farther out."""
    width = (high - low) / _BARS
    if not (isfinite(low) and isfinite(high)) or not width > 0:
        return None
    before, after = ceil((observed - low) / width - 1e-9), ceil((high - observed) / width - 1e-9)
    beside = observed + (1 if lower else -1) * 1e-6 * width
    return beside + width * np.arange(-max(before, 1), max(after, 1) + 1)


def _at(edges: Any, observed: float) -> int:
    return int(np.argmin(np.abs(edges - observed)))


def _all_scores(null: NullDistribution) -> tuple[Any, Any]:
    """All finite scores with their probabilities if they are quickly listed, else None."""
    if null.size > _LISTED_UP_TO:
        return None, None
    scores, chances = np.asarray(null.support), np.asarray(null.probabilities)
    finite = np.isfinite(scores)
    return scores[finite], chances[finite]
