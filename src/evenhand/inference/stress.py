"""The paper's down-sampling study for any groups: which strength works best at which sample size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, printable
from ..metrics import Metric, metric
from ..progress import progress
from ..records import Record
from ..text_layout import aligned
from .risk import Risk, risk, sample_sizes
from .smoothing import CrossPrior, Raw, check_groups, rest_of

__all__ = ["StressRow", "StressTest", "stress_test"]

_METRICS = ("acc", "ppr", "tpr", "fpr", "ppv", "f1")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
        return (
            f"λ = {self.strength:g} at n = {self.n}: {self.mean_ratio:.2f} on average, {self.worst_ratio:.2f} at worst"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
        of_size = [row for row in self.rows if row.n == n]
        if not of_size:
            raise InvalidInput(f"the study has no n = {n}; it has {sorted({row.n for row in self.rows})}")
        return min(of_size, key=lambda row: row.mean_ratio)

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
        sizes = sorted({row.n for row in self.rows})
        strengths = sorted({row.strength for row in self.rows})
        lines = ["Squared error relative to the raw score: mean (worst) over groups and metrics"]
        shown = {(row.n, row.strength): f"{row.mean_ratio:.2f} ({row.worst_ratio:.2f})" for row in self.rows}
        table = [["n", *(f"λ = {s:g}" for s in strengths)]]
        table += [[str(n), *(shown[n, s] for s in strengths)] for n in sizes]
        lines += aligned(table, right=range(1 + len(strengths)), between="   ")
        worst = max(self.rows, key=lambda row: row.worst_ratio)
        lines.append(
            f"Worst: λ = {worst.strength:g} at n = {worst.n}, {worst.worst_metric} of {printable(worst.worst_group)}, "
            f"{worst.worst_ratio:.2f} times the raw error"
        )
        if spoiled := sum(row.spoiled for row in self.rows):
            lines.append(f"Scores with an error only after smoothing, left out above: {spoiled}")
        return "\n".join(lines)


def stress_test(
    groups: Mapping[str, ConfusionMatrix],
    metrics: Sequence[str | Metric] = _METRICS,
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
    sizes, weights, risks = sample_sizes(n), list(strengths), {}
    check_groups(groups)
    if not groups or not sizes or not weights:
        raise InvalidInput("`groups`, `n` and `strengths` must not be empty")
    for name in progress(list(groups), "stress test"):
        cm, reference = groups[name], rest_of(groups, name)
        chosen = [metric(m) for m in metrics if cm.n and not np.isnan(metric(m)(cm))]
        estimators = [Raw(), *(CrossPrior(reference, s) for s in weights)]
        risks[name] = risk(chosen, cm, sizes, estimators).risks
    rows = [_row(risks, size, strength) for size in sizes for strength in weights]
    return StressTest(rows=tuple(rows), risks=risks)


def _row(risks: Mapping[str, tuple[Risk, ...]], n: int, strength: float) -> StressRow:
    ratios: dict[tuple[str, str], float] = {}
    spoiled = 0
    for group, of_group in risks.items():
        here = [r for r in of_group if r.n == n]
        raw = {r.metric.key: r.mse for r in here if isinstance(r.estimator, Raw)}
        for r in here:
            if isinstance(r.estimator, CrossPrior) and r.estimator.strength == strength:
                before = raw[r.metric.key]
                if before > 0:
                    ratios[group, r.metric.key] = r.mse / before
                spoiled += before == 0 < r.mse
    if not ratios:
        raise InvalidInput(f"at n = {n} no raw score has an error to compare with; choose other sizes or `metrics`")
    worst = max(ratios, key=lambda key: ratios[key])
    return StressRow(
        n=n,
        strength=strength,
        mean_ratio=float(np.mean(list(ratios.values()))),
        worst_ratio=ratios[worst],
        worst_group=worst[0],
        worst_metric=worst[1],
        spoiled=spoiled,
    )
