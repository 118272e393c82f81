"""One tidy row of an audit: a group, a metric, and everything that is said of the two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Row", "Verdict", "labels"]

Verdict = Literal[
    "differs (higher)",
    "differs (lower)",
    "undefined",
    "too small to tell",
    "no evidence of a difference",
    "reference",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What an audit says of a group and a metric; what does not exist is None, never 0 and never nan.

    Attributes
    ----------
    by, group : str
        The column that the group comes from, and its value there.
    metric : str
        The metric's key.
    n, tp, fn, fp, tn : int
        The group's cases and cells; cells are None in an audit without labels.
    numerator, denominator : int
        What the score divides, where it is a quotient of counts.
    score, low, high : float
        The score and its interval. An undefined score has an interval too: what the prior leaves open.
    status : str
        "ok", or "undefined: " and the reason.
    reference, reference_n, reference_tp, reference_fn, reference_fp, reference_tn, reference_score
        Whom the group is compared with, how many they are, their cells, and their score.
    difference, difference_low, difference_high, ratio : float
        The group's score minus the reference's, its interval, and their quotient.
    impact_ratio : float
        For the predicted positive rate: the score divided by the highest of the same column (four-fifths rule).
    percentile, pvalue, p_adjusted : float
        Of the MATCH test; adjusted over the groups that the metric was tested in.
    p_undefined : float
        How likely an undefined score was for a group of this size that is like the reference.
    smoothed, strength, shrinkage : float
        The score after Cross-Prior Smoothing, the strength, and what is left of an expected gap.
    verdict : str
        In words.
    """

    by: str
    group: str
    metric: str
    n: int
    tp: int | None
    fn: int | None
    fp: int | None
    tn: int | None
    numerator: int | None
    denominator: int | None
    score: float | None
    low: float | None
    high: float | None
    status: str
    reference: str
    reference_n: int
    reference_tp: int | None
    reference_fn: int | None
    reference_fp: int | None
    reference_tn: int | None
    reference_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    ratio: float | None
    impact_ratio: float | None
    percentile: float | None
    pvalue: float | None
    p_adjusted: float | None
    p_undefined: float | None
    smoothed: float | None
    strength: float | None
    shrinkage: float | None
    verdict: Verdict

    @property
    def differs(self) -> bool:
        """Whether the group's score was found to differ from the reference's."""
        return self.verdict.startswith("differs")


def labels(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """What to call each group, by its column and name; with its column where a name occurs in several."""
    columns: dict[str, set[str]] = {}
    for row in rows:
        columns.setdefault(row.group, set()).add(row.by)
    return {
        (by, group): f"{by}: {group}" if len(several) > 1 else group
        for group, several in columns.items()
        for by in several
    }
