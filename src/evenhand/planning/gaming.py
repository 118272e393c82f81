"""Gaming: sizes at which a score passes a threshold more often than at neighbouring ones.

"At least 0.8" of 5 cases is 4 of 5; of 6 cases it is 5 of 6, which is more than 0.8. So a group of 5 passes more often
than one of 6 with the same true rate. Whoever may choose the number of cases, or may stop when it suits, can use that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix
from ..errors import InvalidInput, TooLarge, UnknownName
from ..laws import ROW_TREE, Threshold, order_of, tails, walk
from ..metrics import Metric, OneGroup, metric as find_metric
from ..progress import ProgressLine
from ..records import Record, reach
from .jagged import sizes_in
from .outcomes import law_at
from .plan import block, percent
from .truths import Floats, Side, moved, true_rates

__all__ = ["ExploitableSizes", "Passing", "exploitable_sizes"]

Passing = Literal["at least", "at most"]

# Optional stopping is followed exactly up to this many states, summed over all sizes.
_MOST_STATES = 2 * 10**8
_CONFIGURATIONS = 3
_MOST_LISTED = 2**21
_NEAR = 1e-12
# A difference between two sizes that is smaller than this is rounding.
_ROUNDING = 1e-9


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
    >>> from evenhand import exploitable_sizes
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
        >>> from evenhand import exploitable_sizes
        >>> e = exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 16))
        >>> round(e.stopping_gain, 3)
        0.299
        """
        return None if self.p_stopping is None else self.p_stopping - float(np.mean(self.chances))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, fit for JSON; configurations as four counts each.

        Returns
        -------
        dict
            The values by name.

        Examples
        --------
        >>> from evenhand import exploitable_sizes
        >>> exploitable_sizes("acc", [0.5, 0.1, 0.1, 0.3], 0.8, n=[5]).to_dict()["configurations"][0]
        [3, 0, 0, 2]
        """
        values = Record.to_dict(self)
        return values | {"configurations": [[int(c) for c in cm.cells] for cm in self.configurations]}

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
        >>> from evenhand import exploitable_sizes
        >>> ax = exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 40)).plot()
        """
        return reach("ExploitableSizes.plot")(self, ax=ax)

    def __str__(self) -> str:
        mean = float(np.mean(self.chances))
        at_best = max(self.chances)
        few = _some(self.exploitable)
        lines = [
            ("on average", f"{percent(mean)} pass, over n = {self.sizes[0]} to {self.sizes[-1]}"),
            (
                "best size",
                f"n = {self.best}: {percent(at_best)} pass, {100 * self.gain:.3g} points more than on average",
            ),
            ("exploitable", f"n = {few}" if few else "no size is better than both of its neighbours"),
        ]
        if self.p_stopping is not None:
            lines.append(("stopping", f"{percent(self.p_stopping)} pass at some size, if one may stop at any of them"))
        else:
            lines.append(("stopping", "not computed: too many states to follow"))
        if self.preferred:
            lines.append(("prefer", f"n = {_some(self.preferred)}"))
        head = f"{self.metric.key} of {self.passing} {self.threshold:.4g}, where the truth is {self.true_score:.4g}"
        return block(head, lines)


def _some(sizes: tuple[int, ...], most: int = 10) -> str:
    return ", ".join(map(str, sizes[:most])) + (f" and {len(sizes) - most} more" if len(sizes) > most else "")


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
    A classifier that is right in 70 % of cases must be right in 80 %:

    >>> print(exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, n=range(5, 31)))
    acc of at least 0.8, where the truth is 0.7
      on average  22.3 % pass, over n = 5 to 30
      best size   n = 5: 52.8 % pass, 30.6 points more than on average
      exploitable n = 5, 10, 15, 20, 25, 30
      stopping    62.7 % pass at some size, if one may stop at any of them
      prefer      n = 8, 13, 18, 23, 28
    """
    m = find_metric(metric)
    if m.is_distance:
        raise InvalidInput(f"{m.key} is the largest of several differences; take one of them at a time")
    if truth is not None and not m.comparisons:
        raise InvalidInput(f"{m.key} is a metric of one group, whose true rates are the reference's; leave `truth` out")
    if passing is not None and passing not in get_args(Passing):
        raise UnknownName.among("passing", passing, get_args(Passing))
    side: Passing = passing or ("at most" if m.better == "lower" else "at least")
    theirs = true_rates(reference, "the `reference`")
    rates = theirs if truth is None else true_rates(truth)
    base = m.base
    sizes = [size for size in sizes_in(n) if size > 0]
    if not sizes:
        raise InvalidInput("`n` must contain at least one sample size above 0")
    cut, true_score = _in_score(m, theirs, rates, threshold)
    if np.isnan(base.scores(rates)):
        raise InvalidInput(f"{base.key} is always undefined: {base.why_undefined(rates)}")
    known = {k: _chance(base, rates, k, cut, side) for size in sizes for k in (size - 1, size, size + 1) if k > 0}
    chances = np.array([known[size] for size in sizes])
    peaks = [
        (size, known[size] - (known.get(size - 1, 0.0) + known[size + 1]) / 2)
        for size in sizes
        if known[size] > max(known.get(size - 1, 0.0), known[size + 1]) + _ROUNDING
    ]
    best = sizes[int(np.argmax(chances))]
    return ExploitableSizes(
        metric=m,
        threshold=float(threshold),
        passing=side,
        true_score=true_score,
        sizes=tuple(sizes),
        chances=tuple(float(p) for p in chances),
        exploitable=tuple(size for size, _ in peaks),
        advantages=tuple(float(more) for _, more in peaks),
        best=best,
        gain=float(chances.max() - chances.mean()),
        p_stopping=_stopping(base, rates, sizes, cut, side),
        preferred=_preferred(base, rates, sizes, cut, side),
        configurations=_configurations(base, rates, best, cut, side),
    )


def _in_score(m: Metric, theirs: Floats, rates: Floats, threshold: float) -> tuple[float, float]:
    """The threshold in units of the group's score, and the true value of the metric."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not np.isfinite(threshold):
        raise InvalidInput(argument="threshold", must="be a number", got=threshold)
    low, high = m.range
    if not low <= threshold <= high:
        raise InvalidInput(
            argument="threshold", must=f"lie in the range of {m.key}, {low:g} to {high:g}", got=threshold
        )
    if not m.comparisons:
        return float(threshold), float(m.scores(rates))
    score, own = float(m.base.scores(theirs)), float(m.base.scores(rates))
    if np.isnan(score) or (m.kind == "ratio" and score == 0):
        raise InvalidInput(f"the reference's {m.base.key} is {score:g}, so no group can be compared with it")
    return (score + threshold, own - score) if m.kind == "difference" else (score * threshold, own / score)


def _chance(m: OneGroup, rates: Floats, n: int, cut: float, side: Passing) -> float:
    """The probability to pass with ``n`` cases."""
    at = tails(order_of(m), law_at(rates, n), Threshold(cut), relative=False)
    if at.defined == 0:
        return 0.0
    return min((at.at + (at.above if side == "at least" else at.below)) * at.defined, 1.0)


def _passes(m: OneGroup, cells: Floats, cut: float, side: Passing) -> NDArray[np.bool_]:
    scores = m.scores(cells)
    near = _NEAR * max(1.0, abs(cut))
    with np.errstate(invalid="ignore"):
        return np.asarray(scores >= cut - near if side == "at least" else scores <= cut + near)


def _preferred(m: OneGroup, rates: Floats, sizes: list[int], cut: float, side: Passing) -> tuple[int, ...]:
    try:
        at = moved(m, rates, cut)
    except InvalidInput:
        return ()
    wanted = sorted({k for size in sizes for k in (size - 1, size, size + 1) if k > 0})
    off = {k: abs(_chance(m, at, k, cut, side) - 0.5) for k in wanted}
    return tuple(k for k in sizes if off[k] < min(off.get(k - 1, 1.0), off[k + 1]) - _ROUNDING)


def _stopping(m: OneGroup, rates: Floats, sizes: list[int], cut: float, side: Passing) -> float | None:
    """The probability to pass at one of the sizes at least, by following all states case by case.

    A state is the number of cases in each set of cells that the metric distinguishes; the last set has the others.
    """
    sets = [names for names in m.tree.merged if names]
    chance = [float(sum(rates[CELLS.index(c)] for c in names)) for names in sets]
    axes, last = len(sets) - 1, max(sizes)
    if float(last + 1) ** (axes + 1) / (axes + 1) > _MOST_STATES:
        return None
    state = np.zeros((last + 1,) * axes)
    state[(0,) * axes] = 1.0
    passed = 0.0
    with ProgressLine() as report:
        for n in range(1, last + 1):
            report("following all ways to stop", n, last)
            seen = (slice(0, n + 1),) * axes
            old = state[seen]
            new = chance[-1] * old
            for axis in range(axes):
                to = tuple(slice(1, None) if i == axis else slice(None) for i in range(axes))
                of = tuple(slice(None, -1) if i == axis else slice(None) for i in range(axes))
                new[to] += chance[axis] * old[of]
            if n in sizes:
                where = np.nonzero(new > 0)
                cells = np.zeros((len(where[0]), 4))
                for names, count in zip(sets, (*where, n - sum(where)), strict=True):
                    cells[:, CELLS.index(names[0])] = count
                done = _passes(m, cells, cut, side)
                at = tuple(w[done] for w in where)
                passed += float(new[at].sum())
                new[at] = 0.0
            state[seen] = new
    return min(passed, 1.0)


def _configurations(m: OneGroup, rates: Floats, n: int, cut: float, side: Passing) -> tuple[ConfusionMatrix, ...]:
    """The most likely matrices that pass."""
    best: list[tuple[float, tuple[int, ...]]] = []
    try:
        for leaves in walk(ROW_TREE, law_at(rates, n), negligible=1e-15, most=_MOST_LISTED):
            cells = np.stack(leaves.columns, axis=-1)
            chosen = np.flatnonzero(_passes(m, cells, cut, side))
            top = chosen[np.argsort(-leaves.weight[chosen], kind="stable")[:_CONFIGURATIONS]]
            best += [(-float(leaves.weight[i]), tuple(int(c) for c in cells[i])) for i in top]
    except TooLarge:
        return ()
    return tuple(ConfusionMatrix(*cells) for _, cells in sorted(best)[:_CONFIGURATIONS])
