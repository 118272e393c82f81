"""The paper's down-sampling study on one's own groups, to see which strength would have served them at which size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, printable
from ..metrics import Metric, metric
from ..progress import progress
from ..records import Record
from .risk import Risk, risk_curve
from .smoothing import CrossPrior, Raw, rest_of

__all__ = ["StressRow", "StressTest", "stress_test"]

_METRICS = ("acc", "ppr", "tpr", "fpr", "ppv", "f1")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StressRow(Record):
    """One strength at one size, over all groups and metrics: squared errors relative to the raw score's.

    ``spoiled`` counts the scores that had no error at all until they were smoothed; they are in no ratio.
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
    """How strengths would have served the groups, had each been a sample of ``n``."""

    rows: tuple[StressRow, ...]
    risks: Mapping[str, tuple[Risk, ...]]

    def best(self, n: int) -> StressRow:
        """The strength with the least mean error at this size."""
        found = [row for row in self.rows if row.n == n]
        if not found:
            raise InvalidInput(f"the study has no n = {n}; it has {sorted({row.n for row in self.rows})}")
        return min(found, key=lambda row: row.mean_ratio)

    def curve(self, strength: float) -> list[tuple[int, float]]:
        """Mean error relative to raw, by size."""
        return [(row.n, row.mean_ratio) for row in self.rows if row.strength == strength]

    def __str__(self) -> str:
        sizes = sorted({row.n for row in self.rows})
        strengths = sorted({row.strength for row in self.rows})
        found = {(row.n, row.strength): row for row in self.rows}
        lines = ["Squared error relative to the raw score: mean (worst) over groups and metrics"]
        shown = {key: f"{row.mean_ratio:.2f} ({row.worst_ratio:.2f})" for key, row in found.items()}
        width = max(15, max(map(len, shown.values())) + 2)
        lines.append("    n  " + "".join(f"{'λ = ' + format(s, 'g'):>{width}}" for s in strengths))
        lines += [f"{n:>5}  " + "".join(f"{shown[n, s]:>{width}}" for s in strengths) for n in sizes]
        worst = max(self.rows, key=lambda row: row.worst_ratio)
        lines.append(
            f"Worst: λ = {worst.strength:g} at n = {worst.n}, {worst.worst_metric} of {printable(worst.worst_group)}, "
            f"{worst.worst_ratio:.2f} times the raw error"
        )
        if spoiled := sum(row.spoiled for row in self.rows):
            lines.append(f"Besides, {spoiled} scores without any error got one by smoothing")
        return "\n".join(lines)


def stress_test(
    groups: Mapping[str, ConfusionMatrix],
    metrics: Sequence[str | Metric] = _METRICS,
    n: Iterable[int] = (10, 20, 50, 100),
    strengths: Sequence[float] = (5.0, 10.0, 20.0, 40.0),
) -> StressTest:
    """Draw each group down to ``n`` cases, smooth with the rest, and measure the exact error.

    Each group's own rates are the truth, and the rest is its reference. Metrics that are undefined for a whole group
    are left out for that group, and sizes at which a raw score never exists.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        The groups.
    metrics : several names or Metric
        Metrics of one group.
    n : several int
        Sample sizes.
    strengths : several float
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
    sizes, weights, risks = list(n), list(strengths), {}
    if not groups or not sizes or not weights:
        raise InvalidInput("a stress test needs groups, sample sizes and strengths")
    for name in progress(list(groups), "stress test"):
        cm, reference = groups[name], rest_of(groups, name)
        chosen = [metric(m) for m in metrics if cm.n and not np.isnan(metric(m)(cm))]
        estimators = [Raw(), *(CrossPrior(reference, s) for s in weights)]
        risks[name] = tuple(risk_curve(chosen, cm, sizes, estimators))
    rows = [_row(risks, size, strength) for size in sizes for strength in weights]
    return StressTest(rows=tuple(rows), risks=risks)


def _row(risks: Mapping[str, tuple[Risk, ...]], n: int, strength: float) -> StressRow:
    ratios: dict[tuple[str, str], float] = {}
    spoiled = 0
    for group, found in risks.items():
        here = [r for r in found if r.n == n]
        raw = {r.metric.key: r.mse for r in here if isinstance(r.estimator, Raw)}
        for r in here:
            if isinstance(r.estimator, CrossPrior) and r.estimator.strength == strength:
                before = raw[r.metric.key]
                if before > 0:
                    ratios[group, r.metric.key] = r.mse / before
                spoiled += before == 0 < r.mse
    if not ratios:
        raise InvalidInput(f"at n = {n} no group has a raw score with an error to compare with")
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
