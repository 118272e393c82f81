"""Jaggedness: how a score's distribution jumps from one sample size to the next.

A small group has few possible scores, and which ones they are changes with every case. As ``n``
grows, quantiles of the score therefore move back and forth while they converge to the true score.
For the steps d_i of a quantile from one size to the next, this movement is

    sum |d_i| - |sum d_i|,

which is 0 if the quantile only rises or only falls. It is averaged over five quantiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, inf, isnan, isqrt, nan
from typing import Any, ClassVar

import numpy as np

from ..arrays import Floats
from ..distributions import LawName, Reference, distribution
from ..errors import InvalidInput, TooLarge, check_cost
from ..inference import one_group_metric, sample_sizes
from ..metrics import Metric, OneGroupMetric
from ..progress import progress
from ..records import Record, reach
from .scenario import MAX_CASES, cell_rates

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)

# The most matrices of all sizes together if rates are known, and under other laws. Each size takes
# at least the time of so many.
_MAX_KNOWN, _MAX_OTHER, _PER_SIZE = 2 * 10**7, 5 * 10**6, 2 * 10**4
FEWER = "choose fewer or smaller sizes in `n`"
# The spread at a size is averaged over sizes up to this factor away.
_NEARBY = 1.5
# A rate of decay is fitted to blocks of sizes, each from some size up to twice that size.
_MIN_BLOCKS, _MIN_STEPS = 3, 4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Jaggedness(Record):
    """How the quantiles of a score move with the sample size.

    Attributes
    ----------
    metric : Metric
        The score.
    reference_score : float or None
        The score of the rates that groups are drawn with; None if all configurations are equally likely.
    sizes : tuple of int
        The sample sizes at which the score can be defined.
    levels : tuple of float
        The levels of the quantiles: 0.1, 0.25, 0.5, 0.75 and 0.9.
    quantiles : tuple of tuples of float
        The exact quantiles at each size, given that the score is defined.
    total : float
        How far a quantile goes back and forth per step from one size to the next, as a share of the score's spread
        (the distance between its first and last decile, averaged over nearby sizes), averaged over the five levels.
        A curve that only rises or only falls counts as 0. It has no unit, so it compares metrics over the same sizes.
    movement : float
        The same in units of the score, and summed over all steps instead.
    decay : float or None
        The power of n with which the total falls, fitted to blocks of sizes that double; None if there are too few
        sizes, or if nothing moves.

    Examples
    --------
    Half of the cases are correct. The median accuracy is exactly 1/2 for even n, and below it for odd n:

    >>> j = jaggedness("acc", [0.25, 0.25, 0.25, 0.25], n=range(4, 8))
    >>> [round(median, 3) for median in j.median]
    [0.5, 0.4, 0.5, 0.429]
    >>> [round(jump, 3) for jump in j.jumps]
    [-0.1, 0.1, -0.071]
    """

    metric: Metric
    reference_score: float | None
    sizes: tuple[int, ...]
    levels: tuple[float, ...]
    quantiles: tuple[tuple[float, ...], ...]
    total: float
    movement: float
    decay: float | None
    _derived: ClassVar[tuple[str, ...]] = ("jumps",)

    @property
    def median(self) -> tuple[float, ...]:
        """The median at each size.

        Examples
        --------
        >>> jaggedness("acc", [0.25, 0.25, 0.25, 0.25], n=[4, 6]).median
        (0.5, 0.5)
        """
        return tuple(row[LEVELS.index(0.5)] for row in self.quantiles)

    @property
    def jumps(self) -> tuple[float, ...]:
        """The change of the median from each size to the next.

        Examples
        --------
        >>> [round(jump, 3) for jump in jaggedness("acc", [0.25, 0.25, 0.25, 0.25], n=[4, 5, 6]).jumps]
        [-0.1, 0.1]
        """
        return tuple(float(step) for step in np.diff(self.median))

    def plot(self, ax: Any = None) -> Any:
        """Plot the quantiles against the sample size (extra ``plots``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> ax = jaggedness("tpr", [0.3, 0.1, 0.12, 0.48], n=range(5, 20)).plot()
        """
        return reach("Jaggedness.plot")(self, ax=ax)

    def __str__(self) -> str:
        return str(reach("Jaggedness.__str__")(self))


def jaggedness(
    metric: str | Metric,
    reference: Reference = None,
    n: Iterable[int] = range(5, 51),
    *,
    law: LawName = "multinomial",
) -> Jaggedness:
    """Exact quantiles of a score for many sample sizes, and how much they go back and forth.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    reference : ConfusionMatrix, four probabilities or None
        The rates or counts that groups are drawn from. If None, all configurations of n cases are equally likely, as
        in the paper's Figure 2.
    n : iterable of int
        Sample sizes.
    law : {"multinomial", "predictive", "without_replacement"}
        How groups are drawn; see `distribution`.

    Returns
    -------
    Jaggedness
        Prints as a short block.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> print(jaggedness("ppr", compas()["Hispanic"], n=range(5, 41)))
    Jaggedness of Predicted positive rate (ppr), n = 5 to 40
      total       7.23% of the spread back and forth per step
      movement    0.728 in all, in units of the score
      largest     the median jumps by +0.1333 from n = 5 to 6
      decay       about as n to the power of -0.41
    """
    m, sizes, rows = one_group_metric(metric), check_sizes(n), {}
    has_rates = reference is not None and law == "multinomial"
    cost = sum(_PER_SIZE + count_likely(m, size, 1, has_rates) for size in sizes)
    subject = f"quantiles of {m.key} at these sizes need about {{}} matrices"
    check_cost(cost, _MAX_KNOWN if has_rates else _MAX_OTHER, subject, FEWER)
    for size in progress(sizes, f"computing quantiles of {m.key}"):
        scores = distribution(m, size, reference, law=law)
        if scores.p_undefined < 1:
            rows[size] = tuple(scores.quantile(LEVELS).tolist())
    if len(rows) < 2:
        needs = f"at least two sample sizes at which {m.key} can be defined"
        raise InvalidInput(f"`n` must contain {needs}")
    defined, quantiles = np.array([*rows]), np.array([*rows.values()])
    steps, score = np.diff(quantiles, axis=0), nan
    shares = steps / _spread_between(defined, quantiles)[:, None]
    if reference is not None:
        score = float(m.scores(cell_rates(reference, "reference")))
    return Jaggedness(
        metric=m,
        reference_score=None if isnan(score) else score,
        sizes=tuple(rows),
        levels=LEVELS,
        quantiles=tuple(rows.values()),
        total=_back_and_forth(shares) / len(steps),
        movement=_back_and_forth(steps),
        decay=_fit_decay(defined, shares),
    )


def check_sizes(n: Iterable[int]) -> list[int]:
    """Distinct sample sizes in ascending order."""
    sizes = sorted(set(sample_sizes(n)))
    if sizes[-1] > MAX_CASES:
        raise TooLarge("`n` must contain sample sizes of at most 1e15 cases")
    return sizes


def count_likely(m: OneGroupMetric, n: int, given: int, has_rates: bool) -> float:
    """About how many combinations of counts, but for ``given`` ones, are listed for ``n`` cases.

    At known rates these are counts within 9 standard deviations.
    """
    counts = len(m.tree.merged_cells) - given
    likely = (9 * isqrt(n) + 1) ** counts if has_rates else inf
    return min(comb(n + counts, counts), likely)


def _spread_between(sizes: Floats, quantiles: Floats) -> Floats:
    """The spread of the score between successive sizes; infinite if it never varies."""
    widths, ratios = quantiles[:, -1] - quantiles[:, 0], sizes[:, None] / sizes
    is_near = np.maximum(ratios, ratios.T) <= _NEARBY
    spread = (is_near @ widths) / is_near.sum(axis=1)
    between = (spread[1:] + spread[:-1]) / 2
    return np.where(between > 0, between, inf)


def _back_and_forth(steps: Floats) -> float:
    """The sum of absolute steps minus the distance between the ends, averaged over levels."""
    excess = np.abs(steps).sum(axis=0) - np.abs(steps.sum(axis=0))
    return float(np.maximum(excess, 0.0).mean())


def _fit_decay(sizes: Floats, steps: Floats) -> float | None:
    """The power of n with which the total falls."""
    points: list[tuple[float, float]] = []
    start = float(sizes[0])
    while 2 * start <= sizes[-1] + 1:
        within = steps[(sizes[:-1] >= start) & (sizes[1:] <= 2 * start)]
        total = _back_and_forth(within) / len(within) if len(within) else 0.0
        if len(within) >= _MIN_STEPS and total > 1e-12:
            points.append((np.log(start), np.log(total)))
        start *= 2
    if len(points) < _MIN_BLOCKS:
        return None
    log_sizes, log_totals = np.transpose(points)
    return float(-np.polyfit(log_sizes, log_totals, 1)[0])
