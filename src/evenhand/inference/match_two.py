"""How the MATCH test is asked, and its answer for the 2x2 matrix."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..cells import ConfusionMatrix, whole_counts
from ..errors import InvalidInput, UnknownName
from ..laws import as_prior
from ..metrics import Metric
from ..randomness import Rng, check_draws, seed_of
from .match_result import MatchResult
from .null import Given, Method, NullDistribution, NullName
from .tail_pvalues import Alternative, drawn_tail

__all__ = ["Question", "match_two"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a group and its reference, whatever the score: arguments of `match_test`, checked."""

    alternative: Alternative = "two-sided"
    null: NullName = "pooled"
    given: Given = "margin"
    mid_p: bool = False
    method: Method = "exact"
    prior: float = 0.5
    rng: Rng = 0
    draws: int = 10_000

    def __post_init__(self) -> None:
        for what, known in (("alternative", Alternative), ("null", NullName), ("given", Given), ("method", Method)):
            if getattr(self, what) not in get_args(known):
                raise UnknownName.among(what, getattr(self, what), get_args(known))
        if self.null == "predictive":
            as_prior(self.prior)
        check_draws(self.draws)
        seed_of(self.rng)

    def answer(self, **found: Any) -> MatchResult:
        """The result, with what was asked."""
        asked = {name: getattr(self, name) for name in ("alternative", "null", "given", "mid_p", "method")}
        result = asked | found
        if result["method"] == "montecarlo":
            result |= {"draws": self.draws, "rng": seed_of(self.rng)}
        return MatchResult(**result)


def match_two(cm: Any, reference: ConfusionMatrix | ArrayLike, m: Metric, asked: Question) -> MatchResult:
    """The test of a 2x2 matrix."""
    whole_counts(cm, "the group")
    counted = reference if isinstance(reference, ConfusionMatrix) else None
    null: NullName = "known" if counted is None and asked.null == "pooled" else asked.null
    rates = counted if counted is not None else np.asarray(reference, dtype=np.float64)
    reason = m.why_undefined(cm, rates) if m.comparisons else m.why_undefined(cm)
    reference_score = 0.0 if m.is_distance else float(m.base(rates))
    if null == "known" and reason is None and isnan(reference_score):
        raise InvalidInput(
            f"the reference's {m.base.key} is undefined, {m.base.why_undefined(rates)}, so there is no rate to compare "
            "with; choose another reference, or `null='pooled'`"
        )
    distribution = NullDistribution.of(null, m, cm, rates, asked.given, asked.prior)
    percentile, p, error = _tested(distribution, cm, asked) if reason is None else (nan, nan, 0.0)
    return asked.answer(
        metric=m,
        statistic=float(m(cm, rates) if m.comparisons else m(cm)),
        reference_score=reference_score,
        percentile=percentile,
        pvalue=p,
        null=null,
        n=int(cm.n),
        reference_n=int(counted.n) if counted is not None else None,
        denominator=None if distribution.margin is None else int(distribution.margin),
        p_undefined=distribution.p_undefined,
        reason=reason,
        error=error,
        _null=distribution,
    )


def _tested(null: NullDistribution, cm: ConfusionMatrix, asked: Question) -> tuple[float, float, float]:
    """Percentile, p-value and error."""
    if asked.method == "montecarlo":
        scores = null.sampled(asked.rng, asked.draws)
        return drawn_tail(scores, null.observed(cm).value, null.one_sided(asked.alternative), asked.mid_p)
    exact = asked.method == "exact"
    tails = null.observed_tails(cm) if exact else null.approximate_tails(cm, asked.method)
    # A probability that is too small for a float does not mean that the score is impossible.
    if null.name == "known" and exact and not tails.at > 0 and null.impossible(cm):
        raise InvalidInput(
            f"the group's {null.metric.key} is impossible under the reference's rates, since the reference has an "
            "empty cell; pass counts and use `null='pooled'` or `null='predictive'`"
        )
    return tails.below + tails.at, null.pvalue(tails, asked.alternative, asked.mid_p), tails.error
