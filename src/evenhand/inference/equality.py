"""Tests of equal true scores, for arrays of comparisons.

A score that depends on one rate (shares, rates, F1, Jaccard) has an exact test, since the scores are equal if and only
if the rates are. A score made of several rates has none, since different rates can have the same score. Its p-value is
that at which the mid-p interval of the gap begins to contain 0. See docs/decisions/0013 for the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..laws import End, confidence_of
from ..metrics import Kind, OneGroup
from .gaps import Gaps, PairedBeliefs
from .intervals import posterior, true_scores
from .rates import Attainable, FisherTails, boschloo_rows, fisher

__all__ = [
    "EqualityTest",
    "Test",
    "counts_of",
    "equal_scores",
    "gaps_of",
    "melded_gaps",
    "standard_errors",
    "studentised",
]

Floats = NDArray[np.float64]
Test = Literal["unconditional", "fisher"]
_LOW_HIGH: tuple[End, End] = ("low", "high")


@dataclass(frozen=True, slots=True)
class EqualityTest:
    """The tests of several comparisons.

    A p-value is nan where either score is undefined. ``higher`` says whether the group's score is the higher one,
    according to the smaller tail, ``method`` is ``"unconditional"``, ``"fisher"``, ``"mid-p"`` or ``"effective
    counts"``, and ``reachable`` where to look up P(p <= x) under the null, as (`Attainable`, row); None if it is taken
    to be x.
    """

    pvalue: Floats
    higher: NDArray[np.bool_]
    method: list[str]
    fisher: FisherTails | None
    reachable: list[tuple[Attainable, int] | None]


def counts_of(m: OneGroup, cells: Floats) -> tuple[Floats, Floats]:
    """The count and the size of the last split of a metric, for matrices along the first axis."""
    margin, _, last = m.tree.counts(cells)
    return np.asarray(last), np.asarray(m.tree.last_size(cells.sum(axis=-1), margin))


def equal_scores(
    m: OneGroup,
    groups: Floats,
    references: Floats,
    *,
    test: Test = "fisher",
    mid_p: bool = False,
    whole: bool = True,
) -> EqualityTest:
    """Test that each group's true score equals its reference's, from counts of shape (comparisons, 4).

    Counts that are not ``whole``, such as effective ones, have the p-value at which the interval of the gap begins to
    contain no gap, which for whole counts is Fisher's.
    """
    undefined = np.isnan(m.scores(groups)) | np.isnan(m.scores(references))
    if m.curve is None or not whole:
        gaps = gaps_of(m, groups, references, "ratio" if m.unbounded else "difference", mid_p=mid_p)
        below, above = gaps.tails(float(m.unbounded))
        p = np.minimum(1.0, 2 * np.minimum(below, above))
        # A difference that the counts do not show is not claimed.
        with np.errstate(invalid="ignore"):
            shown = m.scores(groups) - m.scores(references)
        p = np.where(np.sign(shown) * np.where(below < above, 1.0, -1.0) <= 0, 1.0, p)
        methods = ["mid-p" if whole else "effective counts"] * len(p)
        return EqualityTest(np.where(undefined, np.nan, p), below < above, methods, None, [None] * len(p))
    a, of_a = counts_of(m, groups)
    b, of_b = counts_of(m, references)
    tails = fisher(a, of_a, b, of_b)
    p, methods = tails.pvalue(mid_p), ["fisher"] * len(a)
    if test == "unconditional" and not mid_p:
        p, methods = boschloo_rows(a, of_a, b, of_b)
    attainable = Attainable(of_a, a + b, of_a + of_b)
    reachable = [(attainable, row) if how == "fisher" and not mid_p else None for row, how in enumerate(methods)]
    return EqualityTest(np.where(undefined, np.nan, p), tails.upper < tails.lower, methods, tails, reachable)


def gaps_of(
    m: OneGroup, groups: Floats, references: Floats, kind: Kind, *, mid_p: bool = False, prior: float | None = None
) -> Gaps:
    """What counts say of the gaps between groups and references.

    Scores that depend on one rate are melded by default, others mid-p; see `melded_gaps`. A prior gives posteriors.
    """
    if prior is None and m.curve is not None and not mid_p:
        return melded_gaps(m, groups, references, kind)
    sides = [true_scores(m, cells) if prior is None else posterior(m, cells, prior) for cells in (groups, references)]
    pair = PairedBeliefs(sides[0], sides[1], kind)
    return Gaps(pair, pair)


def melded_gaps(m: OneGroup, groups: Floats, references: Floats, kind: Kind) -> Gaps:
    """Gaps whose lower ends take the group's score low and the reference's high, and whose upper ends the opposite.

    For scores that depend on one rate, these intervals and Fisher's central test agree (Fay, Proschan and Brittain,
    2015): an interval contains 0 if and only if the test does not reject.
    """
    low, high = (
        PairedBeliefs(confidence_of(m, groups, one), confidence_of(m, references, other), kind)
        for one, other in (_LOW_HIGH, _LOW_HIGH[::-1])
    )
    return Gaps(low, high)


def studentised(m: OneGroup, groups: Floats, references: Floats) -> Floats:
    """A cheap normal approximation of the p-value: of the gap divided by its standard error.

    On a log scale if the score is unbounded.
    """
    from scipy.special import ndtr

    (s, v), (t, w) = (_estimate(m, cells) for cells in (groups, references))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(s - t) / np.sqrt(v + w)
    return np.nan_to_num(2 * ndtr(-z), nan=1.0)


def standard_errors(m: OneGroup, cells: Floats) -> tuple[Floats, Floats]:
    """Scores with 1/2 added to each cell and their standard errors by the delta method; logs of unbounded scores."""
    score, variance = _estimate(m, cells)
    return score, np.sqrt(variance)


def _estimate(m: OneGroup, cells: Floats) -> tuple[Floats, Floats]:
    """The score with 1/2 added to each cell, and its variance by the delta method."""
    n = cells.sum(axis=-1, keepdims=True)
    p = (cells + 0.5) / (n + 2)

    def score(at: Floats) -> Floats:
        values = m.score(*np.moveaxis(at, -1, 0))
        return np.asarray(np.log(values) if m.unbounded else values)

    slopes = np.empty_like(p)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-5
        slopes[:, i] = (score(p * (1 + step)) - score(p * (1 - step))) / (2e-5 * p[:, i])
    # Scores do not depend on the scale of the cells, so the mean slope is 0.
    return score(p), (p * slopes**2).sum(axis=-1) / np.maximum(n[:, 0], 1.0)
