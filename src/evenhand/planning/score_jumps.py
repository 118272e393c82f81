"""How scores jump from one sample size to the next, and how that can be exploited.

**Jaggedness.** A small group has few possible scores, and which ones they are changes with every
case. As ``n`` grows, quantiles of the score therefore move back and forth while they converge to the
true score. For the steps d_i of a quantile from one size to the next, this movement is

    sum |d_i| - |sum d_i|,

which is 0 if the quantile only rises or only falls. It is averaged over five quantiles.

**Exploitable sizes.** "At least 0.8" of 5 cases is 4 of 5; of 6 cases it is 5 of 6, which is more
than 0.8. A group of 5 therefore passes more often than one of 6 with the same true rate. A party that
may choose the number of cases, or stop when it suits, can exploit that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, inf, isnan, isqrt
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..arrays import Bools, Floats
from ..confusion import CELLS, ConfusionMatrix
from ..distributions import (
    LawName,
    Multinomial,
    Reference,
    Threshold,
    distribution,
    score_tails,
    walk,
)
from ..errors import InvalidInput, TooLarge, check_cost
from ..inference import check_choice, one_group_metric, sample_sizes
from ..metrics import ROW_TREE, Metric, OneGroupMetric, metric as find_metric, sum_cells
from ..progress import progress
from ..records import Record, reach
from .scenario import Side, cell_rates, check_number, check_whole, move_rates

Passing = Literal["at least", "at most"]

# The most states of optional stopping, times sizes, and matrices that are listed.
_MAX_STATES, _MAX_LISTED = 3 * 10**8, 2**21
# The most paths of all sizes; each size takes at least the time of so many.
_MAX_PATHS, _PATHS_PER_SIZE = 10**7, 10**4
# Scores this close to the threshold equal it; smaller differences of probabilities are rounding.
_NEAR, _ROUNDING = 1e-12, 1e-9

_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)

# The most matrices of all sizes together if rates are known, and under other laws. Each size takes
# at least the time of so many.
_MAX_KNOWN, _MAX_OTHER, _PER_SIZE = 2 * 10**7, 5 * 10**6, 2 * 10**4
_FEWER = "choose fewer or smaller sizes in `n`"
# The spread at a size is averaged over sizes up to this factor away.
_NEARBY = 1.5
# A rate of decay is fitted to blocks of sizes, each from some size up to twice that size.
_MIN_BLOCKS, _MIN_STEPS = 3, 4


@dataclass(frozen=True, slots=True, repr=False)
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
        return tuple(row[_LEVELS.index(0.5)] for row in self.quantiles)

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
    m, sizes, rows = one_group_metric(metric), _check_sizes(n), {}
    has_rates = reference is not None and law == "multinomial"
    cost = sum(_PER_SIZE + _count_likely(m, size, 1, has_rates) for size in sizes)
    subject = f"quantiles of {m.key} at these sizes need about {{}} matrices"
    check_cost(cost, _MAX_KNOWN if has_rates else _MAX_OTHER, subject, _FEWER)
    for size in progress(sizes, f"computing quantiles of {m.key}"):
        scores = distribution(m, size, reference, law=law)
        if scores.p_undefined < 1:
            rows[size] = tuple(scores.quantile(_LEVELS).tolist())
    if len(rows) < 2:
        must = f"contain at least two sample sizes at which {m.key} can be defined"
        raise InvalidInput(f"`n` must {must}")
    defined, quantiles = np.array([*rows]), np.array([*rows.values()])
    steps, score = np.diff(quantiles, axis=0), None
    shares = steps / _spread_between(defined, quantiles)[:, None]
    if reference is not None:
        scored = float(m.scores(cell_rates(reference, "reference")))
        score = None if isnan(scored) else scored
    total, movement = _back_and_forth(shares) / len(steps), _back_and_forth(steps)
    facts = _LEVELS, tuple(rows.values()), total, movement, _fit_decay(defined, shares)
    return Jaggedness(m, score, tuple(rows), *facts)


def _count_likely(m: OneGroupMetric, n: int, given: int, has_rates: bool) -> float:
    """About how many combinations of counts, but for ``given`` ones, are listed for ``n`` cases.

    At known rates these are counts within 9 standard deviations.
    """
    counts = len(m.tree.merged_cells) - given
    likely = (9 * isqrt(n) + 1) ** counts if has_rates else inf
    return min(comb(n + counts, counts), likely)


def _check_sizes(n: Iterable[int], low: int = 0) -> list[int]:
    """Distinct sample sizes in ascending order."""
    return sorted({check_whole(size, "n", low=low) for size in sample_sizes(n)})


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
    points = []
    for start in sizes[0] * 2.0 ** np.arange(int(np.log2((sizes[-1] + 1) / sizes[0]))):
        within = steps[(sizes[:-1] >= start) & (sizes[1:] <= 2 * start)]
        total = _back_and_forth(within) / max(len(within), 1)
        if len(within) >= _MIN_STEPS and total > 1e-12:
            points.append(np.log([start, total]))
    if len(points) < _MIN_BLOCKS:
        return None
    log_sizes, log_totals = np.transpose(points)
    return float(-np.polyfit(log_sizes, log_totals, 1)[0])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExploitableSizes(Record):
    """How often a score passes a threshold at each sample size, and what can be made of it.

    Attributes
    ----------
    metric : Metric
        The score, or the comparison of two.
    threshold : float
        The threshold, in units of the metric.
    passing : {"at least", "at most"}
        On which side of it a score passes; a score that equals it passes.
    true_score : float
        The metric's true value for the group.
    sizes : tuple of int
        The sample sizes.
    chances : tuple of float
        The exact probability to pass at each size. An undefined score does not pass.
    exploitable : tuple of int
        The sizes at which it is larger than with one case more and with one case less.
    advantages : tuple of float
        Per exploitable size, by how much it is larger than the mean of the two.
    best : int
        The size with the largest probability.
    gain : float
        What a party gains that may choose the size: the largest probability minus the mean over all sizes.
    p_stopping : float or None
        The probability to pass at one of the sizes at least, for a party that looks after every case and stops when it
        suits; None if there are too many states to follow.
    preferred : tuple of int
        Sizes for an auditor to prefer: a group whose true score is exactly the threshold passes with a probability that
        is closer to one half than with one case more or less. Empty if the group's rates cannot move to the threshold.
    configurations : tuple of ConfusionMatrix
        The most likely matrices that pass at the best size, most likely first.

    Examples
    --------
    >>> e = exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 16))
    >>> e.exploitable, e.best, round(e.gain, 3), round(e.p_stopping, 3)
    ((5, 10, 15), 5, 0.225, 0.603)
    """

    metric: Metric
    threshold: float
    passing: Passing
    true_score: float
    sizes: tuple[int, ...]
    chances: tuple[float, ...]
    exploitable: tuple[int, ...]
    advantages: tuple[float, ...]
    best: int
    gain: float
    p_stopping: float | None
    preferred: tuple[int, ...]
    configurations: tuple[ConfusionMatrix, ...]
    _derived: ClassVar[tuple[str, ...]] = ("stopping_gain",)

    @property
    def stopping_gain(self) -> float | None:
        """What a party gains that may stop when it suits: `p_stopping` minus the mean over all sizes.

        Examples
        --------
        >>> e = exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 16))
        >>> round(e.stopping_gain, 3)
        0.299
        """
        if self.p_stopping is None:
            return None
        return self.p_stopping - float(np.mean(self.chances))

    def plot(self, ax: Any = None) -> Any:
        """Plot the probability to pass against the sample size (extra ``plots``).

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
        >>> ax = exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 40)).plot()
        """
        return reach("ExploitableSizes.plot")(self, ax=ax)

    def __str__(self) -> str:
        return str(reach("ExploitableSizes.__str__")(self))


def exploitable_sizes(
    metric: str | Metric,
    reference: Side,
    threshold: float,
    n: Iterable[int] = range(5, 101),
    *,
    truth: Side | None = None,
    passing: Passing | None = None,
) -> ExploitableSizes:
    """Sizes at which a score passes a threshold more often than at neighbouring sizes, and what can be gained.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group; or a difference or a ratio of two, such as ``"disparate_impact"``, for the four-fifths
        rule.
    reference : ConfusionMatrix or four probabilities
        The true rates of the group; for a difference or a ratio those of the reference, which stay as they are.
    threshold : float
        The threshold, in units of the metric.
    n : iterable of int
        Sample sizes of the group.
    truth : ConfusionMatrix or four probabilities
        For a difference or a ratio: the true rates of the group. By default they are those of the reference.
    passing : {"at least", "at most"}
        Which scores pass; by default at most the threshold if lower scores are better, and at least otherwise.

    Returns
    -------
    ExploitableSizes
        Prints as a short block.

    Examples
    --------
    A classifier that is right in 70% of cases must be right in 80%:

    >>> print(exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 31)))
    acc of at least 0.8, where the truth is 0.7
      on average  22.3% pass, over n = 5 to 30
      best size   n = 5: 52.8% pass, 30.6 points more than on average
      exploitable n = 5, 10, 15, 20, 25, 30
      stopping    62.7% pass at some size, if one may stop at any of them
      prefer      n = 8, 13, 18, 23, 28
    """
    m = find_metric(metric)
    if m.is_distance:
        largest = f"{m.key} is the largest of several differences"
        raise InvalidInput(f"{largest}; take one of them at a time")
    if truth is not None and not m.comparisons:
        text = f"{m.key} is a metric of one group, whose true rates are the reference's"
        raise InvalidInput(f"{text}; leave `truth` out")
    passing = passing or ("at most" if m.better == "lower" else "at least")
    check_choice("passing", passing, Passing)
    reference_rates = cell_rates(reference, "reference")
    rates = reference_rates if truth is None else cell_rates(truth, "truth")
    sizes = _check_sizes(n, 1)
    if not m.low <= check_number(threshold, "threshold") <= m.high:
        must = f"lie in the range of {m.key}, {m.low:g} to {m.high:g}"
        raise InvalidInput(argument="threshold", must=must, got=threshold)
    sides = (rates, reference_rates)[: m.groups]
    if reason := m.why_undefined(*sides):
        raise InvalidInput(f"{m.key} is always undefined: {reason}")
    threshold = limit = float(threshold)
    if m.comparisons:
        score = float(m.base.scores(reference_rates))
        limit = score + limit if m.kind == "difference" else score * limit
    subject = f"probabilities of {m.base.key} at these sizes need about {{}} terms"
    cost = sum(_PATHS_PER_SIZE + _count_likely(m.base, size, 2, True) for size in sizes)
    check_cost(cost, _MAX_PATHS, subject, _FEWER)
    rule = _Rule(m.base, limit, 1 if passing == "at least" else -1)
    near = rule.chances(rates, sizes)
    exploitable, chances = _find_peaks(near, sizes), tuple(near[k] for k in sizes)
    best = sizes[int(np.argmax(chances))]
    gains = tuple(near[k] - (near[k - 1] + near[k + 1]) / 2 for k in exploitable)
    return ExploitableSizes(
        metric=m,
        threshold=threshold,
        passing=passing,
        true_score=float(m.scores(*sides)),
        sizes=tuple(sizes),
        chances=chances,
        exploitable=exploitable,
        advantages=gains,
        best=best,
        gain=near[best] - float(np.mean(chances)),
        p_stopping=_p_stopping(rule, rates, sizes),
        preferred=_preferred_sizes(rule, rates, sizes),
        configurations=_likely_configurations(rule, rates, best),
    )


class _Rule(NamedTuple):
    """Which scores of a group pass: those on one side of a threshold, above it if ``sign`` is 1."""

    metric: OneGroupMetric
    threshold: float
    sign: int

    def passes(self, cells: Floats) -> Bools:
        """Whether matrices pass; undefined scores do not."""
        distance = self.sign * (self.metric.scores(cells) - self.threshold)
        return np.asarray(distance >= -_NEAR * max(1.0, abs(self.threshold)))

    def chances(self, rates: Floats, sizes: list[int]) -> dict[int, float]:
        """The probability to pass at each size, and with one case less or more."""
        chances = {0: 0.0}
        for n in sorted({k + step for k in sizes for step in (-1, 0, 1)} - {0}):
            law, limit = Multinomial(n, tuple(rates)), Threshold(self.threshold)
            tails = score_tails(self.metric, law, limit, relative=False)
            beyond = tails.above if self.sign > 0 else tails.below
            chances[n] = min((tails.at + beyond) * tails.defined, 1.0) if tails.defined else 0.0
        return chances


def _find_peaks(values: dict[int, float], sizes: list[int]) -> tuple[int, ...]:
    """Sizes with larger values than with one case less and with one more."""
    return tuple(k for k in sizes if values[k] > max(values[k - 1], values[k + 1]) + _ROUNDING)


def _preferred_sizes(rule: _Rule, rates: Floats, sizes: list[int]) -> tuple[int, ...]:
    """Sizes at which a group at the threshold passes with a probability close to one half."""
    try:
        at_threshold = move_rates(rule.metric, rates, rule.threshold)
    except InvalidInput:
        return ()
    chances = rule.chances(at_threshold, sizes)
    # No cases are no size to compare with.
    closeness = {k: -abs(p - 0.5) for k, p in chances.items()} | {0: -1.0}
    return _find_peaks(closeness, sizes)


def _p_stopping(rule: _Rule, rates: Floats, sizes: list[int]) -> float | None:
    """The probability to pass at one of the sizes at least, following all states case by case.

    A state is the number of cases in each set of cells that the metric distinguishes, but for the
    last one, which has the others. These numbers are the digits of its place in an array, so that a
    case more moves all states by the same distance.
    """
    sets = [names for names in rule.metric.tree.merged_cells if names]
    base, digits = max(sizes) + 1, len(sets) - 1
    if float(base) ** (digits + 1) > _MAX_STATES:
        return None
    *chances, last_chance = (float(sum_cells(rates, names)) for names in sets)
    p_state, p_passed = np.zeros(base**digits), 0.0
    p_state[0] = 1.0
    for n in progress(range(1, base), "following all ways to stop"):
        before, p_state = p_state, last_chance * p_state
        for digit, chance in enumerate(chances):
            p_state[base**digit :] += chance * before[: -(base**digit)]
        if n in sizes:
            (states,) = np.nonzero(p_state)
            counts = [states // base**digit % base for digit in range(digits)]
            cells = np.zeros((len(states), 4))
            for names, count in zip(sets, (*counts, n - sum(counts)), strict=True):
                cells[:, CELLS.index(names[0])] = count
            passed = states[rule.passes(cells)]
            p_passed += float(p_state[passed].sum())
            p_state[passed] = 0.0
    return min(p_passed, 1.0)


def _likely_configurations(rule: _Rule, rates: Floats, n: int) -> tuple[ConfusionMatrix, ...]:
    """The most likely matrices that pass; none if there are too many to list."""
    law = Multinomial(n, tuple(rates))
    try:
        blocks = list(walk(ROW_TREE, law, negligible=1e-15, limit=_MAX_LISTED))
    except TooLarge:
        return ()
    cells, weights = map(np.concatenate, zip(*blocks, strict=True))
    weights = np.where(rule.passes(cells), weights, 0.0)
    order = [place for place in np.argsort(-weights, kind="stable")[:3] if weights[place] > 0]
    return tuple(ConfusionMatrix.from_array(c) for c in cells[order].astype(int))
