"""Stress tests of smoothing: which strength works best at which sample size.

As in the paper's down-sampling study, the rates of each group are the truth, the other groups are
its reference, and samples of ``n`` of its cases are smoothed. The mean squared errors of smoothed
scores are exact (see `risk`) and divided by those of raw scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, printable
from ..metrics import metric
from ..progress import progress
from ..records import Record
from ..text_layout import aligned
from .risk import MetricLike, Risk, risk, sample_sizes
from .smoothing import CrossPrior, Raw, rests_of

_METRICS = ("acc", "ppr", "tpr", "fpr", "ppv", "f1")


@dataclass(frozen=True, slots=True, repr=False)
class StressRow(Record):
    """One strength at one size: squared errors relative to those of the raw scores, over all groups and metrics.

    Attributes
    ----------
    n : int
        The sample size.
    strength : float
        The strength.
    mean_ratio, worst_ratio : float
        The mean and the largest ratio of the smoothed to the raw mean squared error.
    worst_group, worst_metric : str
        Where the largest ratio occurs.
    spoiled : int
        How many scores have an error only after smoothing; they have no ratio.
    """

    n: int
    strength: float
    mean_ratio: float
    worst_ratio: float
    worst_group: str
    worst_metric: str
    spoiled: int

    def __str__(self) -> str:
        ratios = f"{self.mean_ratio:.2f} on average, {self.worst_ratio:.2f} at worst"
        return f"λ = {self.strength:g} at n = {self.n}: {ratios}"


@dataclass(frozen=True, slots=True, repr=False)
class StressTest(Record):
    """The result of `stress_test`: the error of each strength at each sample size.

    Attributes
    ----------
    rows : tuple of StressRow
        One row per size and strength.
    risks : dict of str to tuple of Risk
        All exact errors, by group.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20])
    >>> print(test.rows[0])
    λ = 5 at n = 10: 0.61 on average, 0.91 at worst
    """

    rows: tuple[StressRow, ...]
    risks: Mapping[str, tuple[Risk, ...]]

    def best(self, n: int) -> StressRow:
        """The row with the smallest mean error at a sample size.

        Parameters
        ----------
        n : int
            One of the sample sizes.

        Returns
        -------
        StressRow
            The row.

        Examples
        --------
        >>> from evenhand.examples import compas
        >>> stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20]).best(10).strength
        5
        """
        rows = [row for row in self.rows if row.n == n]
        if not rows:
            sizes = sorted({row.n for row in self.rows})
            raise InvalidInput(argument="n", must=f"be one of {sizes}", got=n)
        return min(rows, key=lambda row: row.mean_ratio)

    def curve(self, strength: float) -> list[tuple[int, float]]:
        """Mean error relative to raw scores, by sample size.

        Parameters
        ----------
        strength : float
            One of the strengths.

        Returns
        -------
        list of (int, float)
            Sample sizes and mean ratios.

        Examples
        --------
        >>> from evenhand.examples import compas
        >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10, 100], strengths=[20])
        >>> [(n, round(ratio, 2)) for n, ratio in test.curve(20)]
        [(10, 0.77), (100, 1.11)]
        """
        return [(row.n, row.mean_ratio) for row in self.rows if row.strength == strength]

    def __str__(self) -> str:
        strengths = sorted({row.strength for row in self.rows})
        table = [["n", *(f"λ = {strength:g}" for strength in strengths)]]
        for n in sorted({row.n for row in self.rows}):
            rows = {row.strength: row for row in self.rows if row.n == n}
            cells = [f"{rows[s].mean_ratio:.2f} ({rows[s].worst_ratio:.2f})" for s in strengths]
            table.append([str(n), *cells])
        worst = max(self.rows, key=lambda row: row.worst_ratio)
        score = f"{worst.worst_metric} of {printable(worst.worst_group)}"
        head = "Squared error relative to the raw score: mean (worst)"
        lines = [f"{head} over groups and metrics"]
        lines += aligned(table, right=range(len(table[0])), between="   ")
        where = f"λ = {worst.strength:g} at n = {worst.n}, {score}"
        lines += [f"Worst: {where}, {worst.worst_ratio:.2f} times the raw error"]
        if spoiled := sum(row.spoiled for row in self.rows):
            lines += [f"Scores with an error only after smoothing, left out: {spoiled}"]
        return "\n".join(lines)


def stress_test(
    groups: Mapping[str, ConfusionMatrix],
    metrics: Sequence[MetricLike] = _METRICS,
    n: Iterable[int] = (10, 20, 50, 100),
    strengths: Sequence[float] = (5.0, 10.0, 20.0, 40.0),
) -> StressTest:
    """Compute the exact error of smoothing samples of ``n`` cases of each group.

    The rates of the whole group are the truth, and the rest of the groups is its reference. A metric is left out for
    groups for which it is undefined, and for sizes at which the raw score is never defined.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        The groups.
    metrics : sequence of str or Metric
        Metrics of one group.
    n : iterable of int
        Sample sizes.
    strengths : sequence of float
        Strengths to compare.

    Returns
    -------
    StressTest
        Prints as a table.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20])
    >>> [(row.strength, round(row.mean_ratio, 2)) for row in test.rows]
    [(5, 0.61), (20, 0.77)]
    """
    references, sizes = rests_of(groups), sample_sizes(n)
    if not groups or not strengths:
        raise InvalidInput("`groups` and `strengths` must not be empty")
    risks, scores = {}, []
    for name in progress(list(groups), "stress test"):
        cm, prior = groups[name], references[name]
        defined = [m for m in map(metric, metrics) if cm.n and not np.isnan(m(cm))]
        estimators = [Raw(), *(CrossPrior(prior, strength) for strength in strengths)]
        risks[name] = risk(defined, cm, sizes, estimators).risks
        scores += [(name, m.key) for m in defined]
    mse = np.array([r.mse for of_group in risks.values() for r in of_group])
    mse = mse.reshape(len(scores), 1 + len(strengths), len(sizes))
    rows = []
    for size, (raw, *smoothed) in zip(sizes, mse.transpose(2, 1, 0), strict=True):
        has_error = np.flatnonzero(raw > 0)
        if not len(has_error):
            raise InvalidInput(f"no raw score has an error at n = {size}; use other `metrics`")
        for strength, errors in zip(strengths, smoothed, strict=True):
            ratios = errors[has_error] / raw[has_error]
            group, key = scores[has_error[ratios.argmax()]]
            spoiled = int(((raw == 0) & (errors > 0)).sum())
            mean, highest = float(ratios.mean()), float(ratios.max())
            rows.append(StressRow(size, strength, mean, highest, group, key, spoiled))
    return StressTest(tuple(rows), risks)
