"""Jaggedness: how a score's distribution jumps from one sample size to the next.

A small group has few possible scores, and which ones they are changes with every case. Quantiles of the score therefore
go back and forth as ``n`` grows, on top of the smooth way in which they approach the true score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

import numpy as np

from ..cells import ConfusionMatrix, as_size
from ..errors import InvalidInput
from ..inference import one_group_metric
from ..laws import LawName, Reference, distribution
from ..metrics import Metric
from ..progress import progress
from ..records import Record, reach
from .plan import block
from .truths import Floats

__all__ = ["Jaggedness", "jaggedness", "sizes_in"]

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)

# The most sample sizes of one request.
_MOST_SIZES = 10_000
# The spread at a size is averaged over sizes up to this factor away.
_NEARBY = 1.5
# A rate of decay is fitted to blocks of sizes, each from some size up to twice that size.
_FEWEST_BLOCKS, _FEWEST_STEPS = 3, 4


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

    >>> from evenhand import jaggedness
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
        >>> from evenhand import jaggedness
        >>> jaggedness("acc", [0.25, 0.25, 0.25, 0.25], n=[4, 6]).median
        (0.5, 0.5)
        """
        return tuple(row[LEVELS.index(0.5)] for row in self.quantiles)

    @property
    def jumps(self) -> tuple[float, ...]:
        """The change of the median from each size to the next.

        Examples
        --------
        >>> from evenhand import jaggedness
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
        >>> from evenhand import jaggedness
        >>> ax = jaggedness("tpr", [0.3, 0.1, 0.12, 0.48], n=range(5, 20)).plot()
        """
        return reach("Jaggedness.plot")(self, ax=ax)

    def __str__(self) -> str:
        jumps = np.abs(self.jumps)
        at = int(np.argmax(jumps))
        lines = [
            ("total", f"{100 * self.total:.3g} % of the spread back and forth per step"),
            ("movement", f"{self.movement:.4g} in all, in units of the score"),
            ("largest", f"the median jumps by {self.jumps[at]:+.4g} from n = {self.sizes[at]} to {self.sizes[at + 1]}"),
        ]
        if self.decay is not None:
            lines.append(("decay", f"about as n to the power of {-self.decay:.2g}"))
        head = f"Jaggedness of {self.metric.name} ({self.metric.key}), n = {self.sizes[0]} to {self.sizes[-1]}"
        return block(head, lines)


def sizes_in(n: Iterable[int]) -> list[int]:
    """Sample sizes in ascending order, checked."""
    if isinstance(n, (str, bytes)) or not isinstance(n, Iterable):
        raise InvalidInput(argument="n", must="be a sequence of sample sizes, such as range(5, 50)", got=n)
    chosen: set[int] = set()
    for size in n:
        chosen.add(as_size(size))
        if len(chosen) > _MOST_SIZES:
            raise InvalidInput(f"`n` must contain at most {_MOST_SIZES:,} sample sizes; choose some of them")
    return sorted(chosen)


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
      total       7.23 % of the spread back and forth per step
      movement    0.728 in all, in units of the score
      largest     the median jumps by +0.1333 from n = 5 to 6
      decay       about as n to the power of -0.41
    """
    m = one_group_metric(metric)
    rows: dict[int, tuple[float, ...]] = {}
    for size in progress(sizes_in(n), f"computing quantiles of {m.key}"):
        d = distribution(m, size, reference, law=law)
        if d.p_undefined < 1:
            rows[size] = tuple(float(q) for q in d.quantile(LEVELS))
    if len(rows) < 2:
        raise InvalidInput(f"`n` must contain at least two sample sizes at which {m.key} can be defined")
    sizes, quantiles = np.array(list(rows)), np.array(list(rows.values()))
    shares = _steps(sizes, quantiles)
    score = None
    if reference is not None:
        cells = reference if isinstance(reference, ConfusionMatrix) else np.asarray(reference, dtype=np.float64)
        score = float(m(cells))
    return Jaggedness(
        metric=m,
        reference_score=None if score is None or isnan(score) else score,
        sizes=tuple(rows),
        levels=LEVELS,
        quantiles=tuple(rows.values()),
        total=_back_and_forth(shares) / len(shares),
        movement=_back_and_forth(np.diff(quantiles, axis=0)),
        decay=_decay(sizes, shares),
    )


def _steps(sizes: Floats, quantiles: Floats) -> Floats:
    """The steps of all quantiles, shape (steps, levels), as shares of the spread."""
    widths = quantiles[:, -1] - quantiles[:, 0]
    near = np.maximum(sizes[:, None], sizes) <= _NEARBY * np.minimum(sizes[:, None], sizes)
    spread = (near @ widths) / near.sum(axis=1)
    between = (spread[1:] + spread[:-1]) / 2
    steps = np.diff(quantiles, axis=0)
    return np.where(between[:, None] > 0, steps / np.where(between > 0, between, 1.0)[:, None], 0.0)


def _back_and_forth(steps: Floats) -> float:
    """The sum of all steps without sign, less the distance between the ends; averaged over the levels."""
    if not len(steps):
        return 0.0
    excess = np.abs(steps).sum(axis=0) - np.abs(steps.sum(axis=0))
    return float(np.maximum(excess, 0.0).mean())


def _decay(sizes: Floats, steps: Floats) -> float | None:
    """The power of n with which the total falls."""
    places, totals = [], []
    start = float(max(sizes[0], 1))
    while 2 * start <= sizes[-1] + 1:
        block = (sizes[:-1] >= start) & (sizes[1:] <= 2 * start)
        moved = _back_and_forth(steps[block]) / max(int(block.sum()), 1)
        if block.sum() >= _FEWEST_STEPS and moved > 1e-12:
            places.append(np.log(1.5 * start))
            totals.append(np.log(moved))
        start *= 2
    if len(places) < _FEWEST_BLOCKS:
        return None
    return float(-np.polyfit(places, totals, 1)[0])
