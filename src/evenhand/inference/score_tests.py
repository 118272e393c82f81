"""Tests that a group and its reference have equal true scores, for arrays of comparisons.

Scores of one rate (shares, rates, F1, Jaccard) are equal if and only if the rates are, and Fisher's
test of these is exact. Different rates can have the same score of several rates, such as MCC, so that
it has no exact test. Its p-value is twice the smaller tail of the distribution of the gap at no gap:
the p-value at which the mid-p interval of the gap begins to contain no gap. Such p-values are
approximate. See docs/decisions/0013 for measurements.

Two models on the same cases are compared by pairs, which are counts of the cases of a rate: successes
with both models, with the first only, with the second only, and with neither. The change of the rate
is (wins - losses) / cases: wins are successes with the second model only, losses with the first only.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from ..arrays import Bools, Floats
from ..errors import InvalidInput, UnknownName
from ..metrics import GapKind, Metric, OneGroupMetric, metric as find_metric
from .fisher import TwoRates, fisher_tails
from .gaps import count_successes, melded_gaps, score_gaps

Alternative = Literal["two-sided", "less", "greater"]
#: Fisher's test; from distributions of the gap, for several rates or for effective counts.
TestMethod = Literal["fisher", "mid-p", "melded", "effective counts"]


@dataclass(frozen=True, slots=True)
class EqualityTest:
    """Tests of equal scores.

    ``lower`` and ``upper`` are the one-sided p-values against the alternatives that the group's
    score is lower, and that it is higher; nan where either score is undefined. Exact tests have the
    ``pairs`` of counts.
    """

    lower: Floats
    upper: Floats
    method: TestMethod
    pairs: TwoRates | None = None

    @property
    def pvalues(self) -> Floats:
        """Two-sided p-values: twice the smaller tail, at most 1."""
        return np.asarray(np.minimum(1.0, 2 * np.minimum(self.lower, self.upper)))

    @property
    def is_higher(self) -> Bools:
        """Whether the group's score appears to be the higher one."""
        return self.upper < self.lower


def one_group_metric(name: str | Metric) -> OneGroupMetric:
    """The metric of one group with this name; metrics of two groups are refused."""
    m = find_metric(name)
    if m.comparisons:
        hint = f"use a metric of one group, such as {m.base.key}"
        raise InvalidInput(f"{m.key} compares two groups; {hint}")
    return m.base


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise an error if the argument with this name is not one of the choices of a literal type."""
    if value not in get_args(choices):
        raise UnknownName.among(name, value, get_args(choices))


def check_confidence_level(value: float) -> None:
    """Raise an error if a confidence level does not lie between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise InvalidInput(argument="confidence_level", must="lie between 0 and 1", got=value)


def compared_rates(metric: OneGroupMetric, groups: Floats, references: Floats) -> TwoRates:
    """The counts behind comparisons of a score of one rate."""
    return TwoRates(*count_successes(metric, groups), *count_successes(metric, references))


def equality_test(
    metric: OneGroupMetric,
    groups: Floats,
    references: Floats,
    *,
    whole: bool = True,
    melded: bool = False,
) -> EqualityTest:
    """Test that true scores are equal, for cells of shape (comparisons, 4).

    Counts that are not ``whole``, such as effective ones, have the p-value at which the interval of
    the gap begins to contain no gap. For whole counts that is Fisher's p-value. With ``melded``,
    scores of several rates have melded intervals, which are wider than mid-p ones.
    """
    scores, reference_scores = metric.scores(groups), metric.scores(references)
    is_undefined = np.isnan(scores) | np.isnan(reference_scores)
    if metric.curve is not None and whole:
        pairs = compared_rates(metric, groups, references)
        lower, upper = np.where(is_undefined, np.nan, fisher_tails(pairs))
        return EqualityTest(lower, upper, "fisher", pairs)
    kind: GapKind = "ratio" if metric.is_unbounded else "difference"
    gaps = (melded_gaps if melded else score_gaps)(metric, groups, references, kind)
    upper, lower = gaps.tails(1.0 if metric.is_unbounded else 0.0)
    # A difference in a direction that the counts do not show is not claimed.
    lower = np.where(scores < reference_scores, lower, np.maximum(lower, 0.5))
    upper = np.where(scores > reference_scores, upper, np.maximum(upper, 0.5))
    lower, upper = np.where(is_undefined, np.nan, [lower, upper])
    return EqualityTest(
        lower, upper, "melded" if melded else "mid-p" if whole else "effective counts"
    )


# Two models on the same cases


def count_pairs(metric: Metric, joint: Floats) -> Floats:
    """The pairs of a rate, from counts of shape (..., 2, 2, 2).

    Axes are the label, the first and the second prediction.
    """
    is_rate = not metric.comparisons and metric.base.is_rate
    if is_rate and metric.base.quotient:
        # By label and prediction: whether a case is a success, and whether it counts.
        cells = np.array(metric.base.quotient, dtype=np.float64)[:, ::-1]
        is_success, counts = cells.reshape(2, 2, 2)
        depends = np.any(is_success[:, 0] != is_success[:, 1])
        if depends and np.array_equal(counts[:, 0], counts[:, 1]):
            outcomes = np.stack([is_success, 1 - is_success])
            operands = joint, counts[:, 0], outcomes, outcomes
            pairs = np.einsum("...lab,l,ula,vlb->...uv", *operands)
            return np.asarray(pairs.reshape(*pairs.shape[:-2], 4))
    text = f"{metric.key} is not a rate of people whose number is the same with all models"
    raise InvalidInput(f"{text}; use acc, ppr, tpr or fpr, or what these leave to 1")
