"""Two groups' areas under the ROC curve, Brier scores or log losses compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..auditing import number, pvalue
from ..errors import InvalidInput
from ..records import Record
from ..tabulate import scored_rows
from .areas import AREA_INTERVAL, lacking, without_missing
from .checks import check_draws, check_level, check_seed
from .permutations import area_permutation, loss_permutation
from .ranks import area, area_interval, ties_of

__all__ = ["METRICS", "NAMES", "ScoreMetric", "ScoreTest", "Summary", "auc_test", "compared", "summary"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ScoreMetric = Literal["auc", "brier", "log_loss"]
METRICS: tuple[ScoreMetric, ...] = get_args(ScoreMetric)
NAMES = {"auc": "AUC", "brier": "Brier score", "log_loss": "log loss"}
_T_INTERVAL = "Student's t for the logarithm, approximate"


class Summary(NamedTuple):
    """A group's score and its interval; ``reason`` says why there is no score."""

    score: float
    low: float
    high: float
    method: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreTest(Record):
    """The comparison of two groups' areas, Brier scores or log losses.

    Attributes
    ----------
    metric : str
        ``"auc"``, ``"brier"`` or ``"log_loss"``.
    score, reference_score : float
        The scores of the group and of the reference; nan if undefined.
    n, reference_n : int
        Their numbers of cases.
    difference, difference_low, difference_high : float
        The group's score minus the reference's, and its interval, which is approximate; nan if there is none.
    level : float
        The level of the interval.
    pvalue : float
        Of the test that the two true scores are equal.
    method : str
        ``"permutation"``, or the approximation that was used instead.
    draws : int
        The number of permutations.
    error : float
        The standard error of the p-value by simulation; nan if it is not known.
    reason : str or None
        Why the scores cannot be compared.

    Examples
    --------
    >>> found = auc_test([0, 1, 0, 1], [0.2, 0.6, 0.4, 0.3], [0, 1, 0, 1, 1], [0.1, 0.9, 0.2, 0.7, 0.8])
    >>> found.score, found.reference_score, found.method
    (0.75, 1.0, 'permutation')
    """

    metric: str
    score: float
    reference_score: float
    n: int
    reference_n: int
    difference: float
    difference_low: float
    difference_high: float
    level: float
    pvalue: float
    method: str
    draws: int
    error: float
    reason: str | None

    def __str__(self) -> str:
        name = NAMES.get(self.metric, self.metric)
        head = f"{name} of a group of {self.n:,} against a reference of {self.reference_n:,}"
        if self.reason:
            return f"{head}\n  undefined   {self.reason}"
        ends = "no interval"
        if not isnan(self.difference_low):
            ends = f"{100 * self.level:g} % interval {number(self.difference_low)} to {number(self.difference_high)}"
        error = ", error not known"
        if not isnan(self.error):
            error = f", {self.draws:,} draws, standard error {self.error:.2g}"
        return "\n".join(
            [
                head,
                f"  score       {number(self.score)}",
                f"  reference   {number(self.reference_score)}",
                f"  difference  {number(self.difference)}, {ends}, approximate",
                f"  p-value     {pvalue(self.pvalue)} (two-sided)",
                f"  method      {self.method}{error}",
            ]
        )


def auc_test(
    y_true: Iterable[object],
    y_score: Iterable[object],
    reference_true: Iterable[object],
    reference_score: Iterable[object],
    *,
    positive: object = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> ScoreTest:
    """Test that two groups' areas under the ROC curve are equal.

    Groups exchange positives with positives and negatives with negatives at random, so that base rates do not matter.
    The difference of areas is divided by its standard error (DeLong). The test is exact, but for simulation, if the
    scores of each class have the same law in both groups, and approximate if only the areas are equal. Where the draws
    would take more than a few seconds, an approximation is used instead, and ``method`` says which: DeLong's normal one
    or, if a side has fewer than 50 cases of a class, a permutation of these.

    Parameters
    ----------
    y_true, y_score : sequence
        Labels and scores of the group, without missing values.
    reference_true, reference_score : sequence
        Those of the reference, which has no case of the group.
    positive : label or list of labels, optional
        The positive label; inferred if that is unambiguous.
    level : float
        The level of the interval of the difference, which combines the two groups' own intervals (Newcombe).
    draws : int
        The number of permutations.
    seed : int
        The seed of the permutations.

    Returns
    -------
    ScoreTest
        The comparison; undefined, with the reason, if a group has no cases of one class.

    Examples
    --------
    >>> print(auc_test([1, 1], [0.2, 0.6], [0, 1, 0], [0.1, 0.9, 0.2]))
    AUC of a group of 2 against a reference of 3
      undefined   the group has no actual negatives
    """
    check_level(level)
    check_draws(draws)
    check_seed(seed)
    parts = {"y_true": y_true, "y_score": y_score, "reference_true": reference_true, "reference_score": reference_score}
    lists = {name: _listed(name, part) for name, part in parts.items()}
    for labels, scores in (("y_true", "y_score"), ("reference_true", "reference_score")):
        if len(lists[labels]) != len(lists[scores]):
            raise InvalidInput(
                f"{labels} and {scores} must have the same length; got {len(lists[labels])} and {len(lists[scores])}"
            )
        if not lists[labels]:
            raise InvalidInput(f"{labels} must contain at least one label; got none")
    rows = without_missing(
        scored_rows(
            None,
            y_true=lists["y_true"] + lists["reference_true"],
            y_score=lists["y_score"] + lists["reference_score"],
            groups=[0] * len(lists["y_true"]) + [1] * len(lists["reference_true"]),
            positive=positive,
        )
    )
    return compared("auc", rows.of == 0, rows.positive, rows.scores, level=level, draws=draws, seed=[seed])


def _listed(name: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__") or len(getattr(given, "shape", ())) > 1:
        raise InvalidInput(f"{name} must be one column of values")
    return list(given.tolist()) if hasattr(given, "tolist") else list(given)


def summary(metric: ScoreMetric, positive: Bools, scores: Floats, level: float) -> Summary:
    """The score of a group, and its interval.

    Parameters
    ----------
    metric : {"auc", "brier", "log_loss"}
        The metric.
    positive : numpy.ndarray of bool
        Whether each case is positive.
    scores : numpy.ndarray of float
        Their scores.
    level : float
        The level of the interval.

    Returns
    -------
    Summary
        The score.

    Examples
    --------
    >>> summary("brier", np.array([True, False]), np.array([0.5, 0.5]), 0.95).score
    0.25
    """
    if metric == "auc":
        m = int(np.count_nonzero(positive))
        n = len(positive) - m
        if reason := lacking(m, n):
            return Summary(nan, nan, nan, AREA_INTERVAL, reason)
        found = area(ties_of(positive, scores))
        return Summary(found, *area_interval(found, m, n, level), AREA_INTERVAL, None)
    losses = _losses(metric, positive, scores)
    if not len(losses):
        return Summary(nan, nan, nan, _T_INTERVAL, "no cases")
    if reason := _infinite(losses):
        return Summary(nan, nan, nan, _T_INTERVAL, reason)
    mean = float(losses.mean())
    low, high = _mean_interval(losses, level)
    if isnan(low):
        return Summary(mean, nan, nan, "none: fewer than two cases, or losses without spread", None)
    return Summary(mean, low, min(high, 1.0) if metric == "brier" else high, _T_INTERVAL, None)


def _losses(metric: ScoreMetric, positive: Bools, scores: Floats) -> Floats:
    """The loss of each case: the squared distance of its probability to its label, or minus its logarithm."""
    if metric == "brier":
        return (scores - positive) ** 2
    with np.errstate(divide="ignore"):
        return np.where(positive, -np.log(scores), -np.log1p(-scores))


def _infinite(losses: Floats) -> str | None:
    cases = int(np.count_nonzero(~np.isfinite(losses)))
    if not cases:
        return None
    which, they = ("case", "it is") if cases == 1 else ("cases", "they are")
    return f"infinite: {cases:,} {which} had probability 0 of being what {they}"


def _mean_interval(losses: Floats, level: float) -> tuple[float, float]:
    """The t interval of the logarithm of a mean loss, since losses are skewed; nan without any spread."""
    from scipy.special import stdtrit

    mean, cases = float(losses.mean()), len(losses)
    spread = float(losses.std(ddof=1)) if cases > 1 else 0.0
    # Losses that are all equal say nothing about their own error.
    if spread <= 1e-12 * mean:
        return nan, nan
    factor = float(np.exp(min(stdtrit(cases - 1, (1 + level) / 2) * spread / cases**0.5 / mean, 700.0)))
    return mean / factor, mean * factor


def compared(
    metric: ScoreMetric, member: Bools, positive: Bools, scores: Floats, *, level: float, draws: int, seed: list[int]
) -> ScoreTest:
    """Compare the cases of a group with all other cases that are given.

    Parameters
    ----------
    metric : {"auc", "brier", "log_loss"}
        The metric.
    member : numpy.ndarray of bool
        By case, whether it belongs to the group.
    positive, scores : numpy.ndarray
        Labels and scores.
    level, draws, seed
        As for `auc_test`.

    Returns
    -------
    ScoreTest
        The comparison.

    Examples
    --------
    >>> y, s = np.array([True, False, True, False]), np.array([0.9, 0.1, 0.6, 0.5])
    >>> round(compared("brier", np.array([1, 1, 0, 0], dtype=bool), y, s, level=0.95, draws=99, seed=[0]).difference, 3)
    -0.195
    """
    sides = [(positive[some], scores[some]) for some in (member, ~member)]
    group, reference = (summary(metric, *side, level) for side in sides)
    reason = None
    for who, found in (("group", group), ("reference", reference)):
        if found.reason and reason is None:
            verb = "'s log loss is" if found.reason.startswith("infinite") else " has"
            reason = f"the {who}{verb} {found.reason}"
    difference = low = high = p = error = nan
    method = "none"
    if reason is None:
        difference = group.score - reference.score
        # Newcombe's square-and-add of the two intervals; nan if one of them is missing.
        low = difference - float(np.hypot(group.score - group.low, reference.high - reference.score))
        high = difference + float(np.hypot(group.high - group.score, reference.score - reference.low))
        if metric == "auc":
            p, method, error = area_permutation(member, positive, scores, draws, seed)
        else:
            p, method, error = loss_permutation(member, _losses(metric, positive, scores), draws, seed)
    return ScoreTest(
        metric=metric,
        score=group.score,
        reference_score=reference.score,
        n=int(np.count_nonzero(member)),
        reference_n=int(np.count_nonzero(~member)),
        difference=difference,
        difference_low=low,
        difference_high=high,
        level=level,
        pvalue=p,
        method=method,
        draws=draws,
        error=error,
        reason=reason,
    )
